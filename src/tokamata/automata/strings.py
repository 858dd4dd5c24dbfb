"""The strings of an acceptor: whether there are any, a shortest one, all up to a length.

Both searches go forward from the start, only through states from which acceptance is near enough.  So
they never begin a string that cannot be finished.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

from tokamata.automata.acceptor import Acceptor
from tokamata.automata.account import Account
from tokamata.automata.determinize import determinize
from tokamata.automata.machine import EPSILON
from tokamata.automata.trim import reachable, trim
from tokamata.errors import MachineError
from tokamata.resources.limits import Limits


def is_empty(acceptor: Acceptor) -> bool:
    """Whether no string is accepted.  Cost: linear."""
    targets = [[target for _, target in row] for row in acceptor.rows]
    return acceptor.accepting.isdisjoint(reachable(targets, [acceptor.start]))


def shortest(acceptor: Acceptor) -> tuple[int, ...] | None:
    """The shortest accepted string, of several the first in order of symbols; ``None`` if there is none.

    Distances to acceptance are found backwards, where epsilon costs nothing (breadth first with a
    double-ended queue).  Then the string is read forwards with the least symbol at each step, through
    all states that are near enough at once.  Cost: at worst its length times the transitions.
    """
    distances = _distances(acceptor)
    states = {s for s in acceptor.closure([acceptor.start]) if s in distances}
    if not states:
        return None
    left = min(distances[state] for state in states)
    string: list[int] = []
    while left:
        left -= 1
        nearer = [
            (symbol, target)
            for state in states
            for symbol, target in acceptor.rows[state]
            if symbol != EPSILON and distances.get(target) == left
        ]
        least = min(symbol for symbol, _ in nearer)
        string.append(least)
        states = set(acceptor.closure(target for symbol, target in nearer if symbol == least))
    return tuple(string)


def strings(
    acceptor: Acceptor, longest: int, limits: Limits | Account | None = None
) -> Iterator[tuple[int, ...]]:
    """Every accepted string of at most ``longest`` symbols, once; shorter ones first, then by symbols.

    They are computed one at a time, during the iteration.

    Raises:
        LimitExceeded: determinizing made too many states or transitions.
        MachineError: ``longest`` is below 0.
    """
    if longest < 0:
        raise MachineError(f"strings have 0 symbols or more, not at most {longest}")
    account = Account(limits)
    return _strings(trim(determinize(acceptor, account)), longest, account)


def _strings(acceptor: Acceptor, longest: int, account: Account) -> Iterator[tuple[int, ...]]:
    """``finishing[n]`` are the states from which some string of n symbols is accepted."""
    finishing = [set(acceptor.accepting)]
    for length in range(longest + 1):
        if length:
            account.add_states(0, members=acceptor.states)
            before = finishing[-1]
            finishing.append({s for s, row in enumerate(acceptor.rows) if any(t in before for _, t in row)})
        if not finishing[-1]:
            return  # no longer string is accepted either
        if acceptor.start in finishing[length]:
            yield from _of_length(acceptor, finishing, length)


def _of_length(acceptor: Acceptor, finishing: list[set[int]], length: int) -> Iterator[tuple[int, ...]]:
    """Depth first through the states that can finish; ``rows[n]``: those untried after n symbols."""
    string: list[int] = []
    rows = [iter(acceptor.rows[acceptor.start])]
    if length == 0:
        yield ()
        return
    while rows:
        left = length - len(string) - 1
        for symbol, target in rows[-1]:
            if target in finishing[left]:
                string.append(symbol)
                break
        else:
            rows.pop()
            if string:
                string.pop()
            continue
        if left == 0:
            yield tuple(string)
            string.pop()
        else:
            rows.append(iter(acceptor.rows[target]))


def _distances(acceptor: Acceptor) -> dict[int, int]:
    """For each live state, the fewest symbols to acceptance."""
    sources: list[list[tuple[int, int]]] = [[] for _ in acceptor.rows]
    for source, symbol, target in acceptor.transitions:
        sources[target].append((source, 0 if symbol == EPSILON else 1))
    distances = dict.fromkeys(acceptor.accepting, 0)
    pending = deque((state, 0) for state in acceptor.accepting)
    while pending:
        state, distance = pending.popleft()
        if distance > distances[state]:
            continue  # a shorter path was found meanwhile
        for source, step in sources[state]:
            if distance + step < distances.get(source, distance + step + 1):
                distances[source] = distance + step
                if step:
                    pending.append((source, distance + step))
                else:
                    pending.appendleft((source, distance))
    return distances
