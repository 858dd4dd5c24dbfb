"""What a drawing shows: states, and one edge for all transitions between two of them.

Transitions are counted before they are merged, so that a drawing can say how much it stands for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, TypeVar

__all__ = ["Diagram", "Edge", "edge", "merged_edges"]

_SHORT = 28  # characters of a label
_LONG = 400  # characters of the text that is shown when a pointer rests on an edge

_Label = TypeVar("_Label")


@dataclass(frozen=True)
class Edge:
    """All transitions from one state to another.

    Attributes:
        source: the state that they leave.
        target: the state that they lead to.
        label: their symbols, in few words.
        title: the same in more words.
    """

    source: int
    target: int
    label: str
    title: str


@dataclass(frozen=True)
class Diagram:
    """A machine as a drawing shows it.

    Attributes:
        kind: what it is, such as ``"Acceptor"``.
        states: the number of states.
        start: the start state.
        accepting: the accepting states.
        edges: in order of source and target.
        transitions: how many transitions the edges stand for.
    """

    kind: str
    states: int
    start: int
    accepting: frozenset[int]
    edges: tuple[Edge, ...]
    transitions: int


_Shown = Callable[[Any, int], str]  # labels in at most so many characters


def edge(source: int, target: int, labels: Any, shown: _Shown) -> Edge:
    """The edge of all transitions between two states."""
    return Edge(source, target, shown(labels, _SHORT), shown(labels, _LONG))


def merged_edges(transitions: Iterable[tuple[int, _Label, int]], shown: _Shown) -> tuple[Edge, ...]:
    """One edge for all transitions ``(source, label, target)`` between two states, in order."""
    between: dict[tuple[int, int], list[_Label]] = {}
    for source, label, target in transitions:
        between.setdefault((source, target), []).append(label)
    return tuple(edge(*ends, labels, shown) for ends, labels in sorted(between.items()))
