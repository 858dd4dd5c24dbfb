"""The onward form of a subsequential transducer: every output is written as early as it is certain.

Let P(q) be the longest string with which all outputs from state q on begin, up to the final output.  The
onward form writes P(q) before q is reached::

    transition  p ─a:y─▶ q    writes  P(p)⁻¹ · y · P(q)
    state q at the end        writes  P(q)⁻¹ · ψ(q)
    before the input          writes  ι · P(start)

so that P is empty everywhere.  In the example of :mod:`tokamata.automata.subsequential`, the point is held
back in state 3, whose outputs are ``.0`` at an end and ``.0``, ``.1``, … before a digit.  They all begin with
a point, so P(3) is ``.``: the transition to state 3 writes it, and the final output of state 3 is ``0``.

How.  P is the greatest solution of: P(q) is the longest common prefix of ψ(q), if q accepts, and of y · P(r)
for each transition q ─a:y─▶ r.  Let s(q) be a shortest output from q on.  P(q) is a beginning of s(q), so a
length is enough to know it.  The lengths start as those of s, and are lowered until the equations hold.  The
strings s are linked lists that share their ends: s(q) is y and then s(r) for one transition of q.

Source.  Mohri, *Minimization algorithms for sequential transducers*, 2000, whose quasi-determinization has
these equations; Béal and Carton, *Computing the prefix of an automaton*, 2000.
Cost.  A comparison of two outputs costs the length of what they have in common; each transition is compared
again when the length of its target falls.
Rejected: Béal and Carton's algorithm, which moves one symbol of all states at once.  Its number of rounds is
the longest P, so a chain of n transitions that write one symbol each costs n².
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Iterable

from tokamata.automata.account import Account
from tokamata.automata.subsequential import Output, SubsequentialTransducer
from tokamata.automata.trim import trim
from tokamata.resources.limits import Limits

_Link = tuple[int, "_Link"] | None  # a string: a symbol and the string after it; None is the empty string


def onward(
    transducer: SubsequentialTransducer, limits: Limits | Account | None = None
) -> SubsequentialTransducer:
    """The same function, with every output as early as possible, and without useless states.

    The remaining states keep their order.

    Raises:
        LimitExceeded: the outputs become too long, or it takes too long.
    """
    account = Account(limits)
    transducer = trim(transducer)
    if not transducer.accepting:
        return transducer
    account.add_states(transducer.states)
    account.add_transitions(transducer.size)
    prefixes = _Prefixes(transducer, account)
    rows = tuple(
        tuple(((symbol, prefixes.moved(state, output, target)), target) for (symbol, output), target in row)
        for state, row in enumerate(transducer.rows)
    )
    ends = {state: prefixes.moved(state, transducer.final_outputs[state]) for state in transducer.accepting}
    initial = prefixes.moved(None, transducer.initial_output, transducer.start)
    return transducer.like(rows, ends, transducer.start, initial)


class _Prefixes:
    """P(q) for each state of a trim transducer: the first ``_lengths[q]`` symbols of ``_outputs[q]``."""

    def __init__(self, transducer: SubsequentialTransducer, account: Account) -> None:
        self._transducer = transducer
        self._account = account
        self._incoming: list[list[tuple[int, Output]]] = [[] for _ in transducer.rows]
        for source, _, output, target in transducer.transitions:
            self._incoming[target].append((source, output))
        self._outputs: list[_Link] = [None] * transducer.states
        self._lengths = [-1] * transducer.states
        self._lower(self._shortest_outputs())

    def moved(self, state: int | None, output: Output, target: int | None = None) -> Output:
        """P(state)⁻¹ · output · P(target); P of ``None`` is empty."""
        dropped = 0 if state is None else self._lengths[state]
        added = 0 if target is None else self._lengths[target]
        if dropped == len(output) + added:
            return ()
        symbols = list(output[dropped:])
        link = None if target is None else self._outputs[target]
        for position in range(len(output), len(output) + added):
            assert link is not None
            if position >= dropped:
                symbols.append(link[0])
            link = link[1]
        self._account.add_states(0, members=len(symbols))
        self._account.work(added)
        return tuple(symbols)

    def _shortest_outputs(self) -> list[int]:
        """Set s(q) and its length by Dijkstra's algorithm, backwards; return the states, shortest first."""
        finals = self._transducer.final_outputs
        heap = [(len(finals[state]), state, finals[state], -1) for state in self._transducer.accepting]
        heapq.heapify(heap)
        order = []
        while heap:
            length, state, output, target = heapq.heappop(heap)
            if self._lengths[state] >= 0:
                continue
            order.append(state)
            self._lengths[state] = length
            link = None if target < 0 else self._outputs[target]
            for symbol in reversed(output):
                link = symbol, link
            self._outputs[state] = link
            self._account.add_states(0, members=len(output))
            for source, written in self._incoming[state]:
                self._account.work()
                if self._lengths[source] < 0:
                    heapq.heappush(heap, (length + len(written), source, written, state))
        return order

    def _lower(self, order: Iterable[int]) -> None:
        """Lower the lengths until each is that of the longest common prefix."""
        finals, lengths = self._transducer.final_outputs, self._lengths
        pending = deque(order)
        is_pending = [True] * len(lengths)
        while pending:
            state = pending.popleft()
            is_pending[state] = False
            length = lengths[state]
            if state in self._transducer.accepting:
                length = self._common(state, length, finals[state])
            for (_, output), target in self._transducer.rows[state]:
                length = self._common(state, length, output, target)
            if length < lengths[state]:
                lengths[state] = length
                for source, _ in self._incoming[state]:
                    if not is_pending[source]:
                        is_pending[source] = True
                        pending.append(source)

    def _common(self, state: int, most: int, output: Output, target: int | None = None) -> int:
        """How many symbols, at most ``most``, P(state) and output · P(target) have in common."""
        most = min(most, len(output) + (0 if target is None else self._lengths[target]))
        link = self._outputs[state]
        for position, symbol in enumerate(output[:most]):
            assert link is not None
            if link[0] != symbol:
                return position
            link = link[1]
        other = None if target is None else self._outputs[target]
        position = min(len(output), most)
        self._account.work(1 + position)
        while position < most:
            if link is other:  # s(state) continues with s(target)
                return most
            assert link is not None
            assert other is not None
            if link[0] != other[0]:
                break
            link, other, position = link[1], other[1], position + 1
            self._account.work()
        return position
