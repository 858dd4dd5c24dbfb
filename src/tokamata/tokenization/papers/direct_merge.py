"""DirectMerge: applies a merge only to the states between its two parts.

A merge ``a b → ab`` changes only those states of a trim, deterministic machine that some a leads to and that
read b.  Such a state is split in three: one entered by other symbols, one entered by a and left by other
symbols, and one entered by a and left by b, which becomes the new transition (001, section 2.2, algorithm
1)::

    Sa ─a─▶ S ─b─▶ Sb      becomes     Sa ─ab─▶ Sb
    Sx ─x─▶ S ─y─▶ Sy                  Sa ─a─▶ S' ─y─▶ Sy        no S' if S does not accept and reads only b
                                       Sx ─x─▶ S ─b─▶ Sb, S ─y─▶ Sy    no S if only a enters it

If ``a = b``, the number of a before a state matters: after an even number the next two are joined, after an
odd number the first of them is already part of a pair (section 3, algorithm 2).  States between a and a are
split by that parity first, and those of odd parity are processed as above::

    (0) ─a─▶ (1) ⟲ a      (0) ─a─▶ (1') ─a─▶ (1) ─a─▶ (1')      (0) ─aa─▶ (1) ⟲ aa   (0), (1) ─a─▶ (1')

Algorithm 2 splits every such state and drops unreachable ones at the end; here only parities that occur are
made (section 5.2).  As printed, its loop also redirects transitions of new states, and its result depends on
the order of states (``docs/errata.md``).

A machine that starts from characters never reads ``ab`` before a merge makes it, even if two merges make one
token: a stretch of text between two borders is encoded as if it were alone, so one of the merges always makes
the token, and the other never does.

The result is trim and deterministic, but need not be minimal.

Cost: for each merge, the transitions of the states between its parts; two look-ups if there are none.  The
result can have as many states as there are tokens, each with as many transitions.  For patterns that loop
over many characters, use :mod:`.shared_rows`.
"""

from __future__ import annotations

from collections.abc import Sequence

from tokamata.automata import Acceptor, minimize
from tokamata.automata.account import Account
from tokamata.resources.limits import Limits
from tokamata.tokenization.papers.mergeable import Mergeable
from tokamata.tokenization.papers.merges import Merge


def direct_merge(
    pattern: Acceptor, merges: Sequence[Merge], limits: Limits | Account | None = None
) -> Acceptor:
    """The encodings, with all merges in order, of the texts that ``pattern`` accepts.

    Args:
        pattern: over the ids of characters; :func:`.characters.in_tokens` makes it of one over bytes.
        merges: in order.
        limits: bounds on the result.

    Returns:
        A deterministic, trim acceptor over tokens.

    Raises:
        MachineError: a merge makes a token that is one of the pattern's characters.
        LimitExceeded: too many states or transitions.
    """
    account = Account(limits)
    machine = Mergeable(minimize(pattern, account), account)
    for merge in merges:
        account.work()
        states = machine.between(merge.left, merge.right)
        if not states:
            continue
        if merge.left == merge.right:
            states = _split_by_parity(machine, merge.left, states)
        for state in states:
            _process(machine, state, merge)
    return machine.to_acceptor()


def _process(machine: Mergeable, state: int, merge: Merge) -> None:
    """001, algorithm 1, ProcessState: join the two parts over ``state``."""
    left, right, token = merge
    after = machine.rows[state][right]
    before = sorted(machine.sources[state][left])
    for source in before:
        machine.add(source, token, after)
    is_entered = state == machine.start or any(symbol != left for symbol in machine.sources[state])
    is_left = state in machine.accepting or any(symbol != right for symbol in machine.rows[state])
    if is_entered and is_left:
        copy = machine.new_state()
        for source in before:
            machine.redirect(source, left, copy)
        for symbol, target in list(machine.rows[state].items()):
            if symbol != right:
                machine.add(copy, symbol, target)
        if state in machine.accepting:
            machine.accepting.add(copy)
    elif is_entered:
        for source in before:
            machine.remove(source, left)
    elif is_left:
        machine.remove(state, right)
    else:
        machine.remove_state(state)


def _split_by_parity(machine: Mergeable, symbol: int, states: list[int]) -> list[int]:
    """001, algorithm 2, lines 3 to 17: split the states by the parity of the run of ``symbol`` before them.

    Returns:
        The states of odd parity.
    """
    even, odd = _parities(machine, symbol, states)
    sources = {state: sorted(machine.sources[state][symbol]) for state in states}
    copies = {state: machine.new_state() if state in even else state for state in sorted(odd)}
    for state, copy in copies.items():
        if copy == state:
            continue
        for read, target in machine.rows[state].items():
            machine.add(copy, read, target)
        if state in machine.accepting:
            machine.accepting.add(copy)
    split = set(states)
    for state in states:
        for source in sources[state]:
            if source not in split or source in even:
                machine.redirect(source, symbol, copies[state])
            if source in copies:
                machine.redirect(copies[source], symbol, state)
    return list(copies.values())


def _parities(machine: Mergeable, symbol: int, states: list[int]) -> tuple[set[int], set[int]]:
    """The ``states`` that an even number of ``symbol`` leads to, and those that an odd number leads to."""
    split = set(states)
    even = {
        state
        for state in states
        if state == machine.start or any(other != symbol for other in machine.sources[state])
    }
    odd = {state for state in states if machine.sources[state][symbol] - split}
    pending = [(state, False) for state in even] + [(state, True) for state in odd]
    while pending:
        state, is_odd = pending.pop()
        target = machine.rows[state][symbol]
        found = even if is_odd else odd
        if target in split and target not in found:
            found.add(target)
            pending.append((target, not is_odd))
    return even, odd
