"""The detectors Det_L of 004: a boundary is rejected if some string of at most L tokens shows a violation.

Det_L "rejects a boundary b if there exists a violating sequence of merges contained in any window of ≤ L
tokens" (section 3.1), and the paper claims that L = 3 suffices, or 4 with ties.  The violation is that a
token of some greedy schedule crosses a border of an occurrence of b.  For the one merge (x,a)::

    b = abc    x a b c     xa b c      spelled by 3 tokens: Det_3 rejects b
    b = abcd   x a b c d   xa b c d    spelled by 4: Det_3 accepts b, and Det_4 rejects it

So no L suffices for all boundaries.  For one boundary, the horizon 1 + (the tokens of b alone) does, by the
theorem of :mod:`.two_neighbours`, which also decides it without windows.  The detectors are here because the
paper compares with them: they have false negatives, and false positives if the tokenizer breaks ties by
position.

Cost: one look at each string of a :class:`.merge_graph.MergeGraph`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from time import perf_counter

from tokamata.errors import MachineError
from tokamata.tokenization.papers.merge_graph import Characters, MergeGraph


@dataclass(frozen=True)
class Detection:
    """The answer of Det_3, Det_4, … about one boundary.

    Attributes:
        boundary: the ids of its characters.
        horizon: the largest L that was examined.
        min_safe_L: the least L whose detector rejects the boundary; ``None`` if none does.
        window: the string that shows it.
        limit: the limit that the graph met: strings are missing, so that no detector accepts for certain.
        milliseconds: how long it took.
    """

    boundary: Characters
    horizon: int
    min_safe_L: int | None  # the name in listing 2
    window: Characters | None
    limit: str | None
    milliseconds: float

    def rejects(self, horizon: int) -> bool:
        """Whether Det_L rejects the boundary, among the strings that were examined.

        Raises:
            MachineError: that horizon was not examined.
        """
        if horizon > self.horizon:
            raise MachineError(
                f"Det_{horizon} was not examined; build the graph with a horizon of {horizon} or more"
            )
        return self.min_safe_L is not None and self.min_safe_L <= horizon


def detect_crossing(graph: MergeGraph, boundary: Sequence[int]) -> Detection:
    """What the detectors say of a boundary.

    Args:
        graph: the strings; if it was built around a text, that must be the boundary.
        boundary: the ids of its characters.

    Raises:
        MachineError: the graph was built around another text, or the boundary is empty.
    """
    if not boundary or graph.around not in (None, tuple(boundary)):
        raise MachineError(
            f"this graph has no strings around the characters {list(boundary)}; build it around "
            "them, or with around=None; a boundary has at least one character"
        )
    began = perf_counter()
    inside = tuple(boundary)
    least: int | None = None
    window: Characters | None = None
    for string, kept in graph.strings.items():
        if (least is None or kept.tokens < least) and _violated(string, kept.crossed, inside):
            least, window = kept.tokens, string
    return Detection(inside, graph.horizon, least, window, graph.limit, 1000 * (perf_counter() - began))


def _violated(string: Characters, crossed: int, inside: Characters) -> bool:
    return any(
        crossed >> start & 1 or crossed >> (start + len(inside)) & 1 for start in _starts(string, inside)
    )


def _starts(string: Characters, inside: Characters) -> Iterator[int]:
    size = len(inside)
    return (start for start in range(len(string) - size + 1) if string[start : start + size] == inside)
