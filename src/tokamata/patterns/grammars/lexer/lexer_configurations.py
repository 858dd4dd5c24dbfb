"""What a lexer knows between two terminals, and how the texts of a terminal lead from there.

Worked example.  After the name ``a`` in ``a.b``: that no letter follows, or the name would have read on; for
a contextual lexer, that ``.`` and ``(`` are looked for; and that no bracket is open.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from tokamata.patterns.grammars.lexer.conditions import Condition
from tokamata.patterns.grammars.lexer.threads import Past

__all__ = ["END_OF_TEXT", "Configuration", "Line", "TerminalAutomaton"]

END_OF_TEXT = "$END"  # among terminals that are expected; lark's name for it


class Line(NamedTuple):
    """Where a text is in its lines, if the grammar tells blocks by indentation.

    Attributes:
        kind: ``"outside"`` of brackets, where line breaks count; within ``"brackets"``; after a line
            ``"break"``, before the margin; ``"dedent"``: the same, and no block can begin; at the ``"end"``.
        line_break: of ``"break"`` and ``"dedent"``, its number (:mod:`.line_breaks`).
    """

    kind: str = "outside"
    line_break: int = 0

    @property
    def is_broken(self) -> bool:
        """Whether a margin comes next."""
        return self.kind in ("break", "dedent")


class Configuration(NamedTuple):
    """What a lexer knows between two terminals, and how the texts of a terminal lead from there.

    Attributes:
        condition: what earlier terminals demand of the text that follows.
        past: the text before.
        context: the names of the terminals that a contextual lexer looks for; ``None``: of all.
        expected: those that the parser takes; ``None``: any.
        line: where the text is in its lines.
    """

    condition: Condition
    past: Past
    context: frozenset[str] | None = None
    expected: frozenset[str] | None = None
    line: Line = Line()


@dataclass
class TerminalAutomaton:
    """The texts of a terminal from a configuration; state 0 is the first.

    Attributes:
        edges: by state, the characters that lead to each other state.
        ends: by state, the condition and the past that a text leads to which ends there.
        is_whole: whether all texts of the terminal end somewhere.
    """

    edges: list[dict[int, list[tuple[int, int]]]] = field(default_factory=list)
    ends: dict[int, tuple[Condition, Past]] = field(default_factory=dict)
    is_whole: bool = True
