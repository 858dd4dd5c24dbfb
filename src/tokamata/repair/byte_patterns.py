"""Programs for ``core/programs/byte_patterns``, which finds all patterns of costs in one pass.

Problem.  Patterns are those of Python's :mod:`re`, over bytes.  The core runs programs.
Example.  ``"(?<=[{,])[a-z]+(?=:)"`` becomes::

    look behind, 1 back    read {,    accept    run a-z, 1 or more    look    read :    accept    accept

How.  The parser of :mod:`tokamata.patterns.regex` reads the pattern as text of Latin-1, one code point for
each byte, with the classes of ASCII, as those of bytes are; its compiler writes the program
(:mod:`tokamata.patterns.regex.program`).  Groups leave nothing: who needs them matches the pattern with
``re`` where it was found.

Not supported, and searched by ``re``: backreferences, conditions, atomic groups, flags that only bytes have;
what may match nothing, as a whole or under a quantifier; and programs of more than 2,000 instructions.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import cast

import tokamata._core as _core
from tokamata.errors import TokamataError
from tokamata.patterns.regex import MAX_DEPTH, syntax
from tokamata.patterns.regex.parser import parse
from tokamata.patterns.regex.program import BOUNDARIES, Compiler, Instruction, Item, Program, Sets
from tokamata.patterns.unicode import Ranges

__all__ = ["BytePatterns", "Meaning", "Template"]

_MOST_INSTRUCTIONS = 2000  # of one pattern of bytes

Template = tuple[bytes, bool, bytes, int]
Meaning = Template | int | None


class BytePatterns:
    """Some patterns: a program for each that has one.

    Args:
        patterns: each for :mod:`re`.
        modes: of each, the modes where its matches count, as bits, and the mode that they lead to.
        meanings: of each, what the engine makes of a match.  A rewrite that needs no groups: two texts,
            whether what was found stands between them, and the cost.  A doubt about the first byte: its cost.
            ``None``: nothing.

    Attributes:
        engine: finds those with a program.
        others: the rest, with their numbers.
    """

    def __init__(
        self, patterns: Sequence[bytes], modes: Sequence[tuple[int, int]], meanings: Sequence[Meaning]
    ) -> None:
        sets = Sets()
        programs = [_program(pattern, sets) for pattern in patterns]
        self.others = [
            (number, re.compile(patterns[number])) for number, one in enumerate(programs) if one is None
        ]
        self.engine = _core.BytePatterns(
            [(i, one, *modes[i], meanings[i]) for i, one in enumerate(programs) if one is not None],
            [_set_of_bytes(cast(Ranges, one)) for one in sets],
        )


def _program(pattern: bytes, sets: Sets) -> list[Instruction] | None:
    """The program of a pattern, if it has one; ``sets`` are those of all programs."""
    program = Program(_MOST_INSTRUCTIONS, sets)
    try:
        root = parse(pattern.decode("latin-1"), re.ASCII, MAX_DEPTH, keeps_groups=True).root
        if _widths(root)[0] == 0:
            return None
        _Compiler(program).write(root)
        return program.ended()
    except (TokamataError, RecursionError, _Unsupported):
        return None


class _Unsupported(Exception):
    """A pattern that has no program."""


class _Compiler(Compiler):
    """Compiles a pattern for a backtracker: what is repeated reads something, lookbehinds have one width."""

    def run(self, node: syntax.Repeat, one: syntax.CodePoints) -> bool:
        """As many bytes as possible are one instruction."""
        if node.lazy:
            return False
        self.program.run((one.twin or one).ranges, node.minimum, node.maximum)
        return True

    def turn(self, node: syntax.Repeat) -> list[Item]:
        """Implementations of backtracking differ where a repetition reads nothing."""
        if _widths(node.body)[0] == 0:
            raise _Unsupported
        return [node.body]

    def look(self, node: syntax.Look) -> list[Item]:
        """A lookbehind begins as many bytes before as it reads."""
        width = 0
        if node.behind:
            width, most = _widths(node.body)
            if width != most:
                raise _Unsupported
        return self.looking([node.body], node.behind, node.negated, width)

    def assertion(self, node: syntax.Anchor | syntax.WordBoundary) -> list[Item]:
        """Line ends and word characters are those of bytes."""
        self.program.assertion(node.kind if isinstance(node, syntax.Anchor) else BOUNDARIES[node.negated])
        return []

    def other(self, node: syntax.Node) -> None:
        """No other node has a meaning for bytes."""
        raise _Unsupported


def _set_of_bytes(ranges: Ranges) -> bytes:
    """The bytes of a set of code points, as 256 bits."""
    found = 0
    for low, high in ranges:
        if low <= 0xFF:
            found |= (1 << (min(high, 0xFF) + 1)) - (1 << low)
    return found.to_bytes(32, "little")


def _widths(node: syntax.Node) -> tuple[int, float]:
    """How many bytes a node reads, at least and at most."""
    if isinstance(node, syntax.Literal):
        return len(node.text), len(node.text)
    if isinstance(node, syntax.CodePoints):
        return 1, 1
    if isinstance(node, syntax.Concat):
        widths = [_widths(item) for item in node.items]
        return sum(least for least, _ in widths), sum(most for _, most in widths)
    if isinstance(node, syntax.Group):
        return _widths(node.body)
    if isinstance(node, syntax.Union):
        widths = [_widths(option) for option in node.options]
        return min(least for least, _ in widths), max(most for _, most in widths)
    if isinstance(node, syntax.Repeat):
        least, most = _widths(node.body)
        bound = float("inf") if node.maximum is None else node.maximum
        return least * node.minimum, most * bound if most and bound else 0
    return 0, 0
