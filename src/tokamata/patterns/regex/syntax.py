"""The syntax tree of a regular expression.

The parser makes these nodes and the lowering reads them; nothing else does.  A tree is small (a run of
ordinary characters is one node), every node knows its place in the pattern, and the inner nodes
are also listed children first, so that no pass over a tree needs recursion or a stack: patterns come
from strangers and may nest deeper than Python's own stack.

Example: ``(ab|[0-9])?c`` is::

    Concat(0, [Repeat(0, Union(1, [Literal(1, "ab"), CodePoints(4, ((48, 57),))]), 0, 1), Literal(12, "c")])

Groups leave no node: for the language it does not matter whether a group captures.  Lazy
quantifiers are those that they are the lazy form of.
"""

from __future__ import annotations

from typing import Any

from tokamata.patterns.unicode import Ranges

__all__ = ["Anchor", "CodePoints", "Concat", "Literal", "Node", "Repeat", "Tree", "Union"]

# What an anchor asserts about the text before it, or after it.
TEXT_START = "start of text"
LINE_START = "start of a line"
TEXT_END = "end of text"
LAST_LINE_END = "end of text, or its last newline"
LINE_END = "end of a line"


class Literal:
    """A text that stands for itself; at least one code point, no surrogates."""

    __slots__ = ("position", "text")

    def __init__(self, position: int, text: str) -> None:
        self.position = position
        self.text = text


class CodePoints:
    """One code point of a set.

    ``key`` is a name under which the set recurs in other patterns (``\\d``), or ``None``: its
    lowered form is kept.
    """

    __slots__ = ("key", "position", "ranges")

    def __init__(self, position: int, ranges: Ranges, key: str | None = None) -> None:
        self.position = position
        self.ranges = ranges
        self.key = key


class Anchor:
    """An assertion about the text before or after; ``holds`` is decided by :mod:`.anchors`."""

    __slots__ = ("holds", "kind", "position")

    def __init__(self, position: int, kind: str) -> None:
        self.position = position
        self.kind = kind
        self.holds = True


class Concat:
    """Its items, one after another; none: the empty text."""

    __slots__ = ("items", "lowered", "position")

    lowered: Any

    def __init__(self, position: int, items: list[Node]) -> None:
        self.position = position
        self.items = items


class Union:
    """Any of its options; at least two."""

    __slots__ = ("lowered", "options", "position")

    lowered: Any

    def __init__(self, position: int, options: list[Node]) -> None:
        self.position = position
        self.options = options


class Repeat:
    """Its body ``minimum`` to ``maximum`` times; ``None``: without bound."""

    __slots__ = ("body", "lowered", "maximum", "minimum", "position")

    lowered: Any

    def __init__(self, position: int, body: Node, minimum: int, maximum: int | None) -> None:
        self.position = position
        self.body = body
        self.minimum = minimum
        self.maximum = maximum


Inner = Concat | Union | Repeat
Node = Literal | CodePoints | Anchor | Concat | Union | Repeat


class Tree:
    """A parsed pattern.

    Attributes:
        pattern: the text that was parsed.
        root: the whole.
        inner: every :class:`Concat`, :class:`Union` and :class:`Repeat` of it, children before parents.
        anchors: how many anchors it contains.
    """

    __slots__ = ("anchors", "inner", "pattern", "root")

    def __init__(self, pattern: str, root: Node, inner: list[Inner], anchors: int) -> None:
        self.pattern = pattern
        self.root = root
        self.inner = inner
        self.anchors = anchors
