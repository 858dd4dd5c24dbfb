"""Minimizing: the deterministic acceptor with the fewest states, with canonical numbers.

Two states are equal if the same strings lead from them to acceptance.  Hopcroft's partition refinement
(*An n log n Algorithm for Minimizing States in a Finite Automaton*, 1971) begins with the blocks
"accepting" and "not".  It splits a block as long as some symbol leads from a part of it into another
block, but not from the rest.  For ``ab|cb``::

    (0) ─a─▶ (1) ─b─▶ ((2))       {0 1 3} {2 4}     b leads into {2 4} from 1 and 3 only
      └─c──▶ (3) ─b─▶ ((4))       {0} {1 3} {2 4}   nothing splits {1 3} or {2 4}: three states

After a split only the smaller part need be examined again, so each transition is examined log n times.
Rejected: Brzozowski's algorithm (reverse, determinize, twice), which is shorter, but whose middle step
can be exponentially larger than the result; Moore's, which examines all transitions in each of up to n
rounds.

The acceptor is partial.  Missing transitions lead to a dead state, which would be a block of its own.
Hopcroft's algorithm may begin without one of its blocks, and that one is left out.  Since the acceptor
is trimmed, no other state belongs to it.

States of the result are numbered breadth first from the start, by least symbol.  So two acceptors of
the same strings minimize to equal values, and ``minimize`` is idempotent.

Cost: determinizing, and then transitions times log(states).
"""

from __future__ import annotations

from collections.abc import Sequence

from tokamata.automata.acceptor import Acceptor
from tokamata.automata.account import Account
from tokamata.automata.determinize import determinize
from tokamata.automata.trim import trim
from tokamata.limits import Limits


def minimize(acceptor: Acceptor, limits: Limits | Account | None = None) -> Acceptor:
    """The smallest deterministic acceptor of the same strings, without dead states.

    An acceptor without strings becomes one state without transitions.

    Raises:
        LimitExceeded: too many states or transitions, of the result or of an intermediate one.
    """
    account = Account(limits)
    if not acceptor.is_deterministic:
        acceptor = determinize(acceptor, account)
    acceptor = trim(acceptor)
    return _quotient(acceptor, _partition(acceptor, account))


def _partition(acceptor: Acceptor, account: Account) -> list[int]:
    """The number of the block of each state of a trim, deterministic acceptor."""
    sources: list[list[tuple[int, int]]] = [[] for _ in acceptor.rows]
    for source, symbol, target in acceptor.transitions:
        sources[target].append((symbol, source))
    whole = set(range(acceptor.states))
    blocks = [block for block in (set(acceptor.accepting), whole - acceptor.accepting) if block]
    block_of = [0] * acceptor.states
    for number, block in enumerate(blocks):
        for state in block:
            block_of[state] = number
    pending = set(range(len(blocks)))
    while pending:
        leading_in: dict[int, list[int]] = {}
        for state in blocks[pending.pop()]:
            account.work(1 + len(sources[state]))
            for symbol, source in sources[state]:
                leading_in.setdefault(symbol, []).append(source)
        for states in leading_in.values():
            for split in _split(blocks, block_of, states):
                pending.add(split)
    return block_of


def _split(blocks: list[set[int]], block_of: list[int], states: Sequence[int]) -> list[int]:
    """Split ``states`` off from the others of their blocks; return the new blocks, the smaller halves.

    The new block must be examined in either case.  If the old block is still pending, it stays so.  If it
    was examined already, one half must be examined again, and the smaller one costs less.
    """
    touched: dict[int, list[int]] = {}
    for state in states:
        touched.setdefault(block_of[state], []).append(state)
    new = []
    for number, part in touched.items():
        block = blocks[number]
        if len(part) == len(block):
            continue
        smaller = set(part)
        if 2 * len(part) > len(block):
            smaller = block - smaller
        block -= smaller
        for state in smaller:
            block_of[state] = len(blocks)
        new.append(len(blocks))
        blocks.append(smaller)
    return new


def _quotient(acceptor: Acceptor, block_of: Sequence[int]) -> Acceptor:
    """One state for each block, breadth first from that of the start."""
    numbers = {block_of[acceptor.start]: 0}
    order = [acceptor.start]  # one state of each block
    rows: list[list[tuple[int, int]]] = []
    for state in order:
        row = []
        for symbol, target in acceptor.rows[state]:
            if block_of[target] not in numbers:
                numbers[block_of[target]] = len(order)
                order.append(target)
            row.append((symbol, numbers[block_of[target]]))
        rows.append(row)
    return acceptor.like(rows, [n for n, state in enumerate(order) if state in acceptor.accepting])
