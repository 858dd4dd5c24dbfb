"""Building a syntax tree while a pattern is read from left to right; groups get their numbers and names.

The parser of each dialect says what it reads (a text, a set, an anchor, a quantifier, the
beginning and the end of a group); the builder keeps what is open and makes the nodes.

Example, for ``(a|b)*``::

    builder.open(0, flags=0)
    builder.literal("a", 1)
    builder.bar(2)
    builder.literal("b", 3)
    builder.close(4)
    builder.repeat(0, None, 5)
    builder.finish().root        # Repeat(0, CodePoints(1, ((97, 98),)), 0, None)

Alternatives of one code point each become one set: ``(.|\\n)`` is the set of all code points.

Cost: constant for each call, besides what a sequence costs that becomes part of the one around it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tokamata.errors import LimitExceeded, PatternSyntaxError, UnsupportedPatternError
from tokamata.patterns.regex.classes import Ranges, normalize
from tokamata.patterns.regex.dialect import Dialect
from tokamata.patterns.regex.extension import Extensions, refuse_unknown_extension
from tokamata.patterns.regex.syntax import (
    Anchor,
    CodePoints,
    Concat,
    Extension,
    Group,
    Literal,
    Look,
    Node,
    Repeat,
    Tree,
    Union,
    WordBoundary,
)

if TYPE_CHECKING:
    from tokamata.resources.limits import Watch

__all__ = ["MAX_BOUND", "MAX_DEPTH", "MAX_RANGES", "Builder"]

MAX_DEPTH = 500  # of open groups, by default
MAX_BOUND = 1_000_000  # of a repetition
MAX_RANGES = 500_000  # of all different classes of a pattern together

# Sets of so many ranges at most are not counted: they cost little more than their text.
_SMALL_SET = 16
_SHORT_SEQUENCE = 12  # the longest sequence to be copied into the one around its group, in items


class _LargeSets(dict["str | Ranges", CodePoints]):
    """The first node of each large set, by key or by the set itself; how many ranges they all have.

    ``merged`` counts the ranges of large sets that were put together because they are alternatives.
    """

    ranges = 0
    merged = 0


class Builder:
    """The state of one parse: the group being read, and those around it.

    ``items`` is the alternative being read, ``options`` those before it in the same group, ``stack``
    has the same of the groups around it, with the flags outside, the number, the position and
    the assertion (``"="``, ``"!"``, ``"<="``, ``"<!"`` or ``""``) of the group that began there.

    Attributes:
        pattern: the whole, for errors.
        flags: those that hold where the parser is.
        dialect: the dialect of the pattern.
        depth: how many groups may be open at once.
        extensions: the callbacks of specially named groups.
        outer: how many groups are open around the pattern, where it is part of an extension.
        nested: in how many extensions it is.
        large_sets: the large sets of the whole pattern.
        watch: stops the reading; ``None`` where nothing does.
        keeps_groups: whether the tree is to say which text a group matched.
        names: the named groups so far, with their numbers.
        group_count: how many groups that capture have begun.
        unrepeatable: the item just read, if a quantifier may not follow it.
    """

    __slots__ = (
        "_anchors", "_boundaries", "_closed", "_closed_position", "_looks", "_name_of", "classes", "depth",
        "dialect", "extensions", "flags", "group_count", "items", "keeps_groups", "large_sets", "names",
        "nested", "options", "outer", "pattern", "stack", "unrepeatable", "watch",
    )  # fmt: skip

    def __init__(
        self,
        pattern: str,
        flags: int,
        dialect: Dialect,
        depth: int = MAX_DEPTH,
        extensions: Extensions | None = None,
        parent: Builder | None = None,
        watch: Watch | None = None,
        keeps_groups: bool = False,
    ) -> None:
        self.pattern = pattern
        self.flags = flags
        self.keeps_groups = keeps_groups
        self.depth = depth
        self.outer: int = parent.outer + len(parent.stack) + 1 if parent else 0
        self.nested: int = parent.nested + 1 if parent else 0
        self.large_sets: _LargeSets = parent.large_sets if parent else _LargeSets()
        self.watch: Watch | None = parent.watch if parent else watch
        self.dialect = dialect
        self.extensions = extensions
        self.items: list[Node] = []
        self.options: list[Node] = []
        self.stack: list[tuple[list[Node], list[Node], int, int, int, str]] = []
        self.group_count = 0
        self.names: dict[str, int] = {}
        self._name_of: dict[int, str] = {}
        self.classes: dict[str, Ranges] = {}  # what was read already, by text and flags
        self.unrepeatable: Node | None = None
        self._anchors = 0
        self._boundaries = 0
        self._looks: list[Look] = []
        self._closed: Node | None = None  # what the last group to be closed became, and where that began
        self._closed_position = 0

    # Leaves.

    def literal(self, text: str, position: int) -> None:
        """Characters that stand for themselves, in any case if the flags ignore it."""
        if not self.flags & self.dialect.ignore_case:
            self.items.append(Literal(position, text))
            return
        for i, letter in enumerate(text):
            ranges = self.dialect.letter_cases(ord(letter), self.flags)
            item = CodePoints(position + i, ranges) if len(ranges) > 1 else Literal(position + i, letter)
            self.items.append(item)

    def code_point(self, point: int, position: int) -> None:
        """One code point that was escaped; no text contains a surrogate."""
        if 0xD800 <= point <= 0xDFFF:
            self.items.append(CodePoints(position, ()))
        else:
            self.literal(chr(point), position)

    def code_points(self, ranges: Ranges, position: int, key: str | None = None) -> None:
        """One code point of a set; ``key`` as in :class:`.CodePoints`.

        Raises:
            UnsupportedPatternError: all different sets together have too many ranges.
        """
        node = CodePoints(position, ranges, key)
        if len(ranges) > _SMALL_SET:
            self._count(node)
        self.items.append(node)

    def _count(self, node: CodePoints) -> None:
        """Makes a large set the twin of an earlier one, or counts it."""
        first = self.large_sets.setdefault(node.ranges if node.key is None else node.key, node)
        if first is not node:
            node.twin, node.ranges = first, first.ranges
            return
        self.large_sets.ranges += len(node.ranges)
        if self.large_sets.ranges > MAX_RANGES:
            reason = f"classes of more than {MAX_RANGES:,} ranges of code points altogether"
            hint = "classes with sets such as \\w in them are large; use fewer different ones"
            raise UnsupportedPatternError(self.pattern, node.position, reason, hint)

    def anchor(self, kind: str, position: int) -> None:
        """An anchor, which a quantifier may not follow."""
        self._anchors += 1
        self.unrepeatable = anchor = Anchor(position, kind, self.dialect.line_ends)
        self.items.append(anchor)

    def word_boundary(self, negated: bool, words: str, position: int) -> None:
        """``\\b`` or ``\\B``, which a quantifier may not follow."""
        self._anchors += 1
        self._boundaries += 1
        boundary = WordBoundary(position, negated, words, self.dialect.non_boundary_in_empty_text)
        self.unrepeatable = boundary
        self.items.append(boundary)

    def extension(self, node: Extension) -> None:
        """A specially named group."""
        self.items.append(node)

    # Quantifiers.

    def repeat(self, token: str, bounds: tuple[int, int | None], position: int) -> None:
        """A quantifier, for the item before it.

        Raises:
            PatternSyntaxError: there is none, or none that it may follow.
            UnsupportedPatternError: a bound is too large.
        """
        items = self.items
        if not items:
            hint = f"write \\{token[0]} for the character itself"
            raise PatternSyntaxError(self.pattern, position, "nothing to repeat", hint)
        body = items[-1]
        if body is self.unrepeatable:
            reason = "multiple repeat" if type(body) is Repeat else "nothing to repeat"
            hint = "put what is to be repeated into a group (?:…)"
            raise PatternSyntaxError(self.pattern, position, reason, hint)
        minimum, maximum = bounds
        if minimum > MAX_BOUND or (maximum or 0) > MAX_BOUND:
            reason = f"repetition bound above {MAX_BOUND:,}"
            raise UnsupportedPatternError(self.pattern, position, reason, "leave out the upper bound: {m,}")
        place = self._closed_position if body is self._closed else body.position
        items[-1] = self.unrepeatable = Repeat(
            place, body, minimum, maximum, lazy=len(token) > 1 and token[-1] == "?"
        )

    # Groups.

    def open(self, position: int, flags: int, number: int = 0, assertion: str = "") -> None:
        """The beginning of a group in which ``flags`` hold.

        Raises:
            LimitExceeded: too many are open.
        """
        if len(self.stack) + self.outer >= self.depth:
            raise LimitExceeded("depth", self.depth, self.pattern, position, is_fixed=True)
        self.stack.append((self.items, self.options, self.flags, number, position, assertion))
        self.items, self.options, self.flags = [], [], flags

    def open_named(self, name: str, position: int, place: int) -> None:
        """The beginning of a group with a name, which stands at ``place``."""
        self.group_count += 1
        known = self.names.setdefault(name, self.group_count)
        if known != self.group_count:
            again = f"as group {self.group_count}; was group {known}"
            raise PatternSyntaxError(self.pattern, place, f"redefinition of group name {name[:40]!r} {again}")
        self._name_of[known] = name
        self.open(position, self.flags, self.group_count)

    def refuse_unknown_extension(self, token: str, name: str, position: int) -> None:
        """Raises if the group that begins with ``token`` looks like an extension that does not exist."""
        if self.extensions is not None and self.pattern.startswith(")", position + len(token)):
            refuse_unknown_extension(self.pattern, position, name, self.extensions)

    def open_groups(self) -> set[int]:
        """The numbers of the groups that are not closed yet."""
        return {number for *_, number, _, _ in self.stack}

    def bar(self, position: int) -> None:
        """The end of an alternative."""
        self.options.append(self._sequence(position))
        self.items = []

    def close(self, position: int) -> str:
        """The end of a group; returns the assertion that it was, or ``""``."""
        if not self.stack:
            hint = "write \\) for the character itself"
            raise PatternSyntaxError(self.pattern, position, "unbalanced parenthesis", hint)
        node = self._group(position)
        self.items, self.options, self.flags, number, opened, assertion = self.stack.pop()
        if self.keeps_groups:
            name = self._name_of.get(number)
            node = node if name is None else Group(opened, name, node)
        if assertion:
            node = Look(opened, node, behind=assertion[0] == "<", negated=assertion[-1] == "!")
            self._looks.append(node)
        self._closed, self._closed_position = node, opened
        self.items.append(node)
        self.unrepeatable = None
        return assertion

    def finish(self) -> Tree:
        """The tree of the whole pattern."""
        if self.stack:
            hint = "close it with ), or write \\( for the character itself"
            place = self.stack[-1][4]
            raise PatternSyntaxError(self.pattern, place, "missing ), unterminated subpattern", hint)
        tree = Tree(self.pattern, self._group(0), self._looks, self.dialect.line_ends)
        tree.anchors, tree.boundaries = self._anchors, self._boundaries
        tree.group_names = list(self.names)
        return tree

    def _group(self, position: int) -> Node:
        """The node of the group that ends at ``position``."""
        if not self.options:
            return self._sequence(position)
        self.options.append(self._sequence(position))
        return self._union(self.options)

    def _union(self, options: list[Node]) -> Node:
        """Any of several alternatives."""
        place = options[0].position
        if self.keeps_groups:  # in their order
            return Union(place, options)
        sets: dict[int, Ranges] = {}  # by identity: what is read again is the same object
        others: list[Node] = []
        for option in options:
            if type(option) is CodePoints:
                sets[id(option.ranges)] = option.ranges
            elif type(option) is Literal and len(option.text) == 1:
                sets[-ord(option.text)] = ((ord(option.text), ord(option.text)),)
            else:
                others.append(option)
        if len(options) - len(others) > 1:
            pairs = [pair for ranges in sets.values() for pair in ranges]
            self.large_sets.merged += len(pairs) if len(pairs) > len(options) + _SMALL_SET else 0
            if self.large_sets.merged <= MAX_RANGES:  # past it, the engine gets them one by one
                together = CodePoints(place, normalize(pairs))
                if len(together.ranges) > _SMALL_SET:
                    self._count(together)
                options = [*others, together]
        return Union(place, options) if len(options) > 1 else options[0]

    def _sequence(self, position: int) -> Node:
        """The node of the items read since the group or the last bar began, which end at ``position``."""
        items = self.items
        if len(items) == 1:
            return items[0]
        if self._closed is None or not items:
            return Concat(items[0].position if items else position, items)
        flat: list[Node] = []
        for item in items:
            if type(item) is Concat and len(item.items) <= _SHORT_SEQUENCE:
                flat += item.items
            else:
                flat.append(item)
        return Concat(items[0].position, flat)
