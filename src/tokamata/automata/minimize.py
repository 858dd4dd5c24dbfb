"""Minimizing: the deterministic acceptor with the fewest states, numbered in one way only.

Two states are equal where the same strings lead on from them to acceptance.  Hopcroft's partition
refinement (*An n log n Algorithm for Minimizing States in a Finite Automaton*, 1971) begins with
"accepting" and "not", and splits a block as long as some symbol leads from a part of it, and not
from the rest, into another block.  For ``ab|cb``::

    (0) ─a─▶ (1) ─b─▶ ((2))       {0 1 3} {2 4}     b leads into {2 4} from 1 and 3 only
      └─c──▶ (3) ─b─▶ ((4))       {0} {1 3} {2 4}   nothing splits {1 3} or {2 4}: three states

After a split only the smaller part need be looked at again, so each transition is looked at log n
times.  Brzozowski's way (reverse, determinize, twice) is shorter, but its middle step can be
exponentially large where the result is small; Moore's way looks at all transitions in each of up to
n rounds.

The acceptor is partial.  A missing transition leads to a state that accepts nothing, which would be
a block of its own from the beginning; one block may be left out there, and that is the one.  Since
the acceptor is trimmed, no other state belongs to it.

States of the result are numbered breadth first from the start, by least symbol.  Two acceptors of
the same strings therefore minimize to equal values, and ``minimize`` changes nothing the second time.

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
    """The smallest deterministic acceptor of the same strings, without a state that accepts nothing.

    What accepts no string at all becomes one state without transitions.

    Raises:
        LimitExceeded: too many states or transitions on the way.
    """
    account = Account(limits)
    if not acceptor.is_deterministic:
        acceptor = determinize(acceptor, account)
    acceptor = trim(acceptor)
    return _quotient(acceptor, _partition(acceptor, account))


def _partition(acceptor: Acceptor, account: Account) -> list[int]:
    """For each state of a trim, deterministic acceptor the number of its block."""
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
    """Part ``states`` from the others of their blocks; return the new blocks, the smaller halves.

    A block that is still to be looked at stays so, and its new half has to be too; one that was
    looked at needs one half looked at again, and the smaller costs less.  Either way: the new one.
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
