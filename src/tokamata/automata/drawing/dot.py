"""Text for Graphviz, for ``dot -Tsvg`` and other tools."""

from __future__ import annotations

from tokamata.automata.drawing.diagram import Diagram
from tokamata.automata.symbols import printable


def to_dot(diagram: Diagram) -> str:
    """The diagram in the DOT language: start state bold, accepting states doubled."""
    lines = ["digraph {", "  rankdir=LR", "  node [shape=circle]"]
    for state in range(diagram.states):
        shape = ", shape=doublecircle" if state in diagram.accepting else ""
        weight = ", style=bold" if state == diagram.start else ""
        label = _quoted(f"{state} {diagram.notes.get(state, '')}".rstrip())
        lines.append(f"  {state} [label={label}{shape}{weight}]")
    lines += [f"  {e.source} -> {e.target} [label={_quoted(e.label)}]" for e in diagram.edges]
    return "\n".join([*lines, "}", ""])


def _quoted(text: str) -> str:
    """A string of the DOT language, in which a backslash begins an escape."""
    return '"' + printable(text).replace("\\", "\\\\").replace('"', '\\"') + '"'
