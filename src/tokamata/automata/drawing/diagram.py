"""A drawing as data: states, and one edge for all transitions between two of them.

It has the number of transitions before they are merged, so that a drawing can show it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

__all__ = ["Diagram", "Edge", "edge", "merged_edges"]

_SHORT = 28  # characters of a label
_LONG = 400  # characters of the tooltip of an edge

_Label = TypeVar("_Label")


@dataclass(frozen=True)
class Edge:
    """All transitions from one state to another.

    Attributes:
        source: the state that they leave.
        target: the state that they lead to.
        label: a short list of their symbols.
        title: a longer list of them.
    """

    source: int
    target: int
    label: str
    title: str


@dataclass(frozen=True)
class Diagram:
    """A machine as states and edges.

    Attributes:
        kind: the type of machine, such as ``"Acceptor"``.
        states: the number of states.
        start: the start state.
        accepting: the accepting states.
        edges: in order of source and target.
        transitions: the number of transitions that the edges represent.
        notes: what is written below a state.
    """

    kind: str
    states: int
    start: int
    accepting: frozenset[int]
    edges: tuple[Edge, ...]
    transitions: int
    notes: Mapping[int, str] = field(default_factory=dict)


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
