"""Minimizing: the deterministic machine with the fewest states, with canonical numbers.

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

A subsequential transducer is brought into its onward form, in which no output depends on where it could be
written.  Then two states are equal if they are so in an acceptor: its symbols are pairs of a symbol and an
output, and each accepting state reads its final output as one symbol more, to the only state that accepts
(Mohri, *Minimization algorithms for sequential transducers*, 2000).  So two subsequential transducers of one
function minimize to equal values (Choffrut, *Minimizing subsequential transducers: a survey*, 2003).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import overload

from tokamata.automata.acceptor import Acceptor
from tokamata.automata.account import Account
from tokamata.automata.determinize import determinize
from tokamata.automata.onward import onward
from tokamata.automata.subsequential import SubsequentialTransducer
from tokamata.automata.trim import trim
from tokamata.resources.limits import Limits


@overload
def minimize(machine: Acceptor, limits: Limits | Account | None = None) -> Acceptor: ...
@overload
def minimize(
    machine: SubsequentialTransducer, limits: Limits | Account | None = None
) -> SubsequentialTransducer: ...
def minimize(
    machine: Acceptor | SubsequentialTransducer, limits: Limits | Account | None = None
) -> Acceptor | SubsequentialTransducer:
    """The smallest deterministic acceptor of the same strings, without dead states.

    For a subsequential transducer, the smallest one of the same function, which is onward.  A machine without
    strings becomes one state without transitions.

    Raises:
        LimitExceeded: too many states or transitions, of the result or of an intermediate one.
    """
    account = Account(limits)
    if isinstance(machine, SubsequentialTransducer):
        return _smallest_function(onward(machine, account), account)
    if not machine.is_deterministic:
        machine = determinize(machine, account)
    machine = trim(machine)
    return _quotient(machine, _partition(machine, account))


def _smallest_function(transducer: SubsequentialTransducer, account: Account) -> SubsequentialTransducer:
    """The quotient of an onward transducer, by way of an acceptor of its labels."""
    labels = sorted({label for row in transducer.rows for label, _ in row})
    finals = sorted({transducer.final_outputs[state] for state in transducer.accepting})
    code = {label: number for number, label in enumerate(labels)}
    end_code = {output: len(labels) + number for number, output in enumerate(finals)}
    end = transducer.states
    account.add_states(transducer.states + 1)
    account.add_transitions(transducer.size + len(transducer.accepting))
    rows = [[(code[label], target) for label, target in row] for row in transducer.rows]
    for state in transducer.accepting:
        rows[state].append((end_code[transducer.final_outputs[state]], end))
    coded = minimize(Acceptor((*map(tuple, rows), ()), frozenset([end]), transducer.start), account)
    kept = [state for state in range(coded.states) if state not in coded.accepting]
    numbers = {state: number for number, state in enumerate(kept)}
    ends = {
        numbers[state]: finals[symbol - len(labels)]
        for state in kept
        for symbol, _ in coded.rows[state]
        if symbol >= len(labels)
    }
    result = tuple(
        tuple((labels[symbol], numbers[to]) for symbol, to in coded.rows[state] if symbol < len(labels))
        for state in kept
    )
    return transducer.like(result, ends, 0, transducer.initial_output)


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
