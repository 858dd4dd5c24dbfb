"""Programs for ``core/repair/byte_patterns``, which finds all patterns of costs in one pass.

Problem.  Patterns are those of Python's :mod:`re`, over bytes.  The core runs programs.
Example.  ``"(?<=[{,])[a-z]+(?=:)"`` becomes::

    Behind 3, 1 back    Byte {,    Match    Run a-z, 1 or more    Ahead 7    Byte :    Match    Match

and the facts that a match begins with one of ``a-z``, and that ``{`` or ``,`` stands before it.
How.  The parser of :mod:`tokamata.patterns.regex` reads the pattern as text of Latin-1, one code point for
each byte, with the classes of ASCII, as those of bytes are.  Groups leave nothing: who needs them matches the
pattern with ``re`` where it was found.

Not supported, and searched by ``re``: backreferences, conditions, atomic groups, flags that only bytes have;
what may match nothing, as a whole or under a quantifier; and programs of more than 2,000 instructions.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import tokamata._core as _core
from tokamata.errors import TokamataError
from tokamata.patterns.regex import MAX_DEPTH
from tokamata.patterns.regex.parser import parse
from tokamata.patterns.regex.syntax import (
    LAST_LINE_END,
    LINE_END,
    LINE_START,
    TEXT_END,
    TEXT_START,
    Anchor,
    CodePoints,
    Concat,
    Group,
    Literal,
    Look,
    Node,
    Repeat,
    Union,
    WordBoundary,
)

__all__ = ["BytePatterns", "Meaning", "Template"]

_MOST_INSTRUCTIONS = 2000
_ENDLESS = (1 << 32) - 1
_ALL = (1 << 256) - 1
_OPS = (
    "match byte run fork lazy_fork jump ahead not_ahead behind not_behind "
    "text_start text_end last_line_end line_start line_end boundary not_boundary"
)
_OP = {name: number for number, name in enumerate(_OPS.split())}
_ANCHORS = {
    TEXT_START: "text_start",
    TEXT_END: "text_end",
    LAST_LINE_END: "last_line_end",
    LINE_START: "line_start",
    LINE_END: "line_end",
}

Template = tuple[bytes, bool, bytes, int]
Meaning = Template | int | None
_Instruction = tuple[int, int, int, int]


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
        writer = _Writer()
        programs = [writer.program(pattern) for pattern in patterns]
        self.others = [
            (number, re.compile(patterns[number])) for number, one in enumerate(programs) if one is None
        ]
        self.engine = _core.BytePatterns(
            [(i, *one, *modes[i], meanings[i]) for i, one in enumerate(programs) if one is not None],
            [one.to_bytes(32, "little") for one in writer.sets],
        )


class _Unsupported(Exception):
    """A pattern that has no program."""


class _Writer:
    """Writes programs; ``sets`` are those of all, as numbers of 256 bits."""

    def __init__(self) -> None:
        self.sets: list[int] = []
        self._number_of: dict[int, int] = {}
        self._code: list[_Instruction] = []

    def program(self, pattern: bytes) -> tuple[list[_Instruction], bytes, bytes, bool] | None:
        """The program, the bytes that a match begins with, those before it, whether there may be none."""
        try:
            root = parse(pattern.decode("latin-1"), re.ASCII, MAX_DEPTH, keeps_groups=True).root
            if _widths(root)[0] == 0:
                return None
            self._code = []
            self._write(root)
            self._add("match")
            first, _ = _first(root)
            before, begins_text = _before(root)
        except (TokamataError, RecursionError, _Unsupported):
            return None
        return self._code, first.to_bytes(32, "little"), before.to_bytes(32, "little"), begins_text

    def _add(self, name: str, a: int = 0, b: int = 0, c: int = 0) -> int:
        if len(self._code) == _MOST_INSTRUCTIONS:
            raise _Unsupported
        self._code.append((_OP[name], a, b, c))
        return len(self._code) - 1

    def _goes_here(self, place: int) -> None:
        op, _, b, c = self._code[place]
        self._code[place] = (op, len(self._code), b, c)

    def _set(self, bytes_: int) -> int:
        number = self._number_of.setdefault(bytes_, len(self.sets))
        if number == len(self.sets):
            self.sets.append(bytes_)
        return number

    def _write(self, node: Node) -> None:
        if isinstance(node, Literal):
            for letter in node.text:
                self._add("byte", self._set(1 << ord(letter)))
        elif isinstance(node, CodePoints):
            self._add("byte", self._set(_bytes_of(node)))
        elif isinstance(node, Concat):
            for item in node.items:
                self._write(item)
        elif isinstance(node, Group):
            self._write(node.body)
        elif isinstance(node, Union):
            self._union(node)
        elif isinstance(node, Repeat):
            self._repeat(node)
        elif isinstance(node, Look):
            self._look(node)
        elif isinstance(node, WordBoundary):
            self._add("not_boundary" if node.negated else "boundary")
        elif isinstance(node, Anchor):
            self._add(_ANCHORS[node.kind])
        else:
            raise _Unsupported

    def _union(self, node: Union) -> None:
        ends = []
        for option in node.options[:-1]:
            fork = self._add("fork")
            self._write(option)
            ends.append(self._add("jump"))
            self._goes_here(fork)
        self._write(node.options[-1])
        for end in ends:
            self._goes_here(end)

    def _repeat(self, node: Repeat) -> None:
        body, fork = node.body, "lazy_fork" if node.lazy else "fork"
        if isinstance(body, CodePoints) and not node.lazy:
            most = _ENDLESS if node.maximum is None else node.maximum
            self._add("run", self._set(_bytes_of(body)), node.minimum, most)
            return
        if _widths(body)[0] == 0:
            raise _Unsupported
        for _ in range(node.minimum):
            self._write(body)
        if node.maximum is None:
            # Greedy: fork to the end, body, back.  Lazy: a lazy fork goes on at its target first.
            begin = self._add(fork)
            self._write(body)
            self._add("jump", begin)
            self._goes_here(begin)
            return
        forks = []
        for _ in range(node.maximum - node.minimum):
            forks.append(self._add(fork))
            self._write(body)
        for place in forks:
            self._goes_here(place)

    def _look(self, node: Look) -> None:
        width = 0
        if node.behind:
            width, most = _widths(node.body)
            if width != most:
                raise _Unsupported
        name = ("not_" if node.negated else "") + ("behind" if node.behind else "ahead")
        look = self._add(name, 0, 0, width)
        self._write(node.body)
        self._add("match")
        self._goes_here(look)


def _bytes_of(node: CodePoints) -> int:
    found = 0
    for low, high in (node.twin or node).ranges:
        if low <= 0xFF:
            found |= (1 << (min(high, 0xFF) + 1)) - (1 << low)
    return found


def _widths(node: Node) -> tuple[int, float]:
    """How many bytes a node reads, at least and at most."""
    if isinstance(node, Literal):
        return len(node.text), len(node.text)
    if isinstance(node, CodePoints):
        return 1, 1
    if isinstance(node, Concat):
        widths = [_widths(item) for item in node.items]
        return sum(least for least, _ in widths), sum(most for _, most in widths)
    if isinstance(node, Group):
        return _widths(node.body)
    if isinstance(node, Union):
        widths = [_widths(option) for option in node.options]
        return min(least for least, _ in widths), max(most for _, most in widths)
    if isinstance(node, Repeat):
        least, most = _widths(node.body)
        bound = float("inf") if node.maximum is None else node.maximum
        return least * node.minimum, most * bound if most and bound else 0
    return 0, 0


def _first(node: Node) -> tuple[int, bool]:
    """The bytes that a node may begin with, and whether it may read none."""
    if isinstance(node, Literal):
        return 1 << ord(node.text[0]), False
    if isinstance(node, CodePoints):
        return _bytes_of(node), False
    if isinstance(node, Group):
        return _first(node.body)
    if isinstance(node, Repeat):
        first, reads_none = _first(node.body)
        return first if node.maximum != 0 else 0, reads_none or node.minimum == 0
    if isinstance(node, Union):
        firsts = [_first(option) for option in node.options]
        found = 0
        for first, _ in firsts:
            found |= first
        return found, any(reads_none for _, reads_none in firsts)
    found = 0
    if isinstance(node, Concat):
        for item in node.items:
            first, reads_none = _first(item)
            found |= first
            if not reads_none:
                return found, False
    return found, True


def _before(root: Node) -> tuple[int, bool]:
    """The bytes that may stand before a match, and whether none may: what its first items say of it."""
    found, begins_text = _ALL, True
    for item in root.items if isinstance(root, Concat) else [root]:
        if isinstance(item, Look) and item.behind and _widths(item.body) == (1, 1):
            if isinstance(item.body, (CodePoints, Literal)):
                one, _ = _first(item.body)
                found &= _ALL ^ one if item.negated else one
                begins_text = begins_text and item.negated
        elif isinstance(item, Anchor) and item.kind == TEXT_START:
            found = 0
        elif not isinstance(item, (Look, Anchor, WordBoundary)):
            break
    return found, begins_text
