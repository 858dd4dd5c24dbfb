"""The texts that the named groups of a regular expression matched.

Problem: the language of a pattern does not determine them.  ``(?P<a>x|xy)(?P<b>y?)`` matches ``"xy"`` in two
ways; ``re`` prefers the first alternative, as many iterations of ``*`` as possible, as few of ``*?``.  Its
backtracking takes exponential time on some patterns, and patterns may come from strangers.

Example: ``(?P<year>\\d+)-`` becomes the program

    mark 0    part \\d+    mark 1    part "-"    accept

whose threads are kept in the order in which ``re`` would try them (``core/splitting``).  The first to accept
is the match that ``re`` finds, in time linear in the text.

Method: the tree of the pattern, with its groups, is translated into a program.  A class of code points under
a quantifier is one part, the longest or (lazy) the shortest.  Any other quantifier is a repetition, so counts
are not expanded.  Lookarounds are separate programs, run at one position.

Empty iterations of a repetition follow ``re`` (``(?P<x>a*)*`` has ``x=""`` in ``"aa"``) or ECMA-262, which
skips them, and resets the groups at the start of each iteration.

Not supported: groups within lookarounds are ``None``, although ``re`` keeps those of a successful lookahead.

Cost: linear in the pattern, and in the text times the alternatives that are open at once.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import tokamata._core as _core
from tokamata.patterns.extensions import EXTENSIONS
from tokamata.patterns.regex import DIALECTS, MAX_DEPTH
from tokamata.patterns.regex.classes import named_class
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
    Extension,
    Group,
    Literal,
    Look,
    Node,
    Repeat,
    Union,
    WordBoundary,
)
from tokamata.patterns.unicode import Ranges
from tokamata.resources.limits import CancelToken, Limits, Watch, core_limits
from tokamata.values.program import Program

__all__ = ["groups_of"]

_ALL: Ranges = ((0, 0x10FFFF),)


def groups_of(
    pattern: str, flags: int, dialect: str, text: bytes, limits: Limits, cancel: CancelToken | None
) -> dict[str, str | None]:
    """The texts of the named groups, in the order of the pattern; ``None`` for one that took no part.

    Args:
        pattern, flags, dialect: the regular expression.
        text: a text that it accepts, in UTF-8.
        limits: bounds on the work.
        cancel: stops the work, from another thread.

    Raises:
        LimitExceeded, Cancelled: the work was stopped.
    """
    writer = _Writer(pattern, flags, dialect, Watch(limits, cancel))
    if not writer.names:
        return {}
    splitter = _core.Splitter(writer.leaves, writer.program.code(), core_limits(limits), cancel, pattern)
    borders, _ = splitter.split(text)
    found: dict[str, str | None] = dict.fromkeys(writer.names)
    begun: dict[int, int] = {}
    for mark, position in borders or ():
        group, is_end = divmod(mark, 2)
        if group >= len(writer.names):  # an iteration begins, and resets the groups of the repetition
            found.update(dict.fromkeys(writer.reset_groups[group - len(writer.names)]))
        elif is_end:
            found[writer.names[group]] = text[begun[group] : position].decode()
        else:
            begun[group] = position
    return found


class _Writer:
    """Writes the program of a pattern.

    Attributes:
        program: the program.
        leaves: the expressions that its parts read.
        names: the names of the groups; group n has marks 2n and 2n + 1.
        reset_groups: for each repetition of ECMA-262, the groups that each iteration resets.
    """

    def __init__(self, pattern: str, flags: int, dialect: str, watch: Watch) -> None:
        tree = parse(pattern, flags, MAX_DEPTH, dialect, EXTENSIONS, watch=watch, keeps_groups=True)
        self.program = Program()
        self.leaves: list[_core.Expression] = []
        self.names = tree.group_names
        self.reset_groups: list[list[str]] = []
        self._number = {name: number for number, name in enumerate(self.names)}
        self._line_ends = tree.line_ends
        self._forgets = DIALECTS[dialect].forgets_groups
        self._leaf_of: dict[object, int] = {}
        self._labels = 0
        self._looks: list[tuple[str, Callable[[], list[_Item]]]] = []
        self._open: list[list[str]] = []  # the groups of each open repetition
        searches = DIALECTS[dialect].searches
        if searches:
            self.program.part(self._leaf("text", _core.text), lazy=True)
        self._write([tree.root], watch)
        if searches:
            self.program.part(self._leaf("text", _core.text))
        self.program.accept()
        while self._looks:
            label, body = self._looks.pop()
            self.program.label(label)
            self._write(body(), watch)
            self.program.accept()

    def _write(self, items: list[_Item], watch: Watch) -> None:
        """Writes the nodes and runs the callbacks among them, in order."""
        pending = items[::-1]
        while pending:
            watch.check()
            item = pending.pop()
            if callable(item):
                item()
            else:
                pending += reversed(self._written(item))

    def _written(self, node: Node) -> list[_Item]:
        """Writes a node; returns the items to write next."""
        if isinstance(node, Concat):
            return list(node.items)
        if isinstance(node, Union):
            return self._alternatives([[option] for option in node.options])
        if isinstance(node, Repeat):
            return self._repetition(node)
        if isinstance(node, Group):
            number = self._number[node.name]
            for groups in self._open:
                groups.append(node.name)
            mark = self.program.mark
            return [partial(mark, 2 * number), node.body, partial(mark, 2 * number + 1)]
        if isinstance(node, Look):
            self._look(lambda: [node.body], node.behind, node.negated)
        elif isinstance(node, Anchor):
            self._anchor(node)
        elif isinstance(node, WordBoundary):
            return self._boundary(node)
        else:
            self.program.part(self._leaf_of_node(node))
        return []

    def _alternatives(self, options: list[list[_Item]]) -> list[_Item]:
        end = self._label()
        items: list[_Item] = []
        for option in options[:-1]:
            label = self._label()
            items += [partial(self.program.fork, label), *option, partial(self.program.jump, end)]
            items.append(partial(self.program.label, label))
        return [*items, *options[-1], partial(self.program.label, end)]

    def _repetition(self, node: Repeat) -> list[_Item]:
        if isinstance(node.body, CodePoints):  # each iteration reads one code point: more make a longer text
            one = self._leaf_of_node(node.body)
            key = (one, node.minimum, node.maximum)
            body = self.leaves[one]
            leaf = self._leaf(key, lambda: _core.repeat(body, node.minimum, node.maximum))
            self.program.part(leaf, node.lazy)
            return []
        name = self.program.begin_repetition(node.minimum, node.maximum, node.lazy)
        after: list[_Item] = [partial(self.program.end_repetition, name, drops_empty=self._forgets)]
        if self._forgets:
            self._open.append([])
            self.reset_groups.append(self._open[-1])
            self.program.mark(2 * (len(self.names) + len(self.reset_groups) - 1))
            after.append(self._close)
        return [node.body, *after]

    def _close(self) -> None:
        self._open.pop()

    def _look(self, body: Callable[[], list[_Item]], behind: bool, negated: bool) -> None:
        label = self._label()
        self.program.look(label, behind, negated)
        self._looks.append((label, body))

    def _not_beside(self, ranges: Ranges, behind: bool) -> None:
        """Requires that no code point of a set is next to the position."""
        leaf = self._code_points(ranges)
        self._look(lambda: [partial(self.program.part, leaf)], behind, negated=True)

    def _anchor(self, node: Anchor) -> None:
        if node.kind == TEXT_START:
            self._not_beside(_ALL, behind=True)
        elif node.kind == TEXT_END:
            self._not_beside(_ALL, behind=False)
        elif node.kind in (LINE_START, LINE_END):
            self._not_beside(_others(node.line_ends), behind=node.kind == LINE_START)
        else:
            assert node.kind == LAST_LINE_END
            newline = ((10, 10),)
            self._not_beside(_others(newline), behind=False)
            part = self.program.part
            two = [partial(part, self._code_points(one)) for one in (newline, _ALL)]
            self._look(lambda: list(two), behind=False, negated=True)

    def _boundary(self, node: WordBoundary) -> list[_Item]:
        """``(?<=w)(?!w)|(?<!w)(?=w)``, or its negation; some dialects have no ``\\B`` in an empty text."""
        leaf = self._code_points(named_class(node.words))
        some = self._code_points(_ALL)

        def beside(one: int, behind: bool, negated: bool) -> _Item:
            return lambda: self._look(lambda: [partial(self.program.part, one)], behind, negated)

        words = [beside(leaf, True, False), beside(leaf, False, not node.negated)]
        others = [beside(leaf, True, True), beside(leaf, False, node.negated)]
        if not node.negated or node.empty:
            return self._alternatives([words, others])
        return self._alternatives(
            [words, [*others, beside(some, True, False)], [*others, beside(some, False, False)]]
        )

    def _leaf_of_node(self, node: Node) -> int:
        if isinstance(node, Literal):
            text = node.text
            return self._leaf(text.encode(), lambda: _core.literal(text.encode()))
        if isinstance(node, CodePoints):
            return self._code_points((node.twin or node).ranges)
        assert isinstance(node, Extension)
        extension = node.expression
        return self._leaf(id(node), lambda: extension)

    def _code_points(self, ranges: Ranges) -> int:
        return self._leaf(ranges, lambda: _core.code_points(ranges) if ranges else _core.empty())

    def _leaf(self, key: object, make: Callable[[], _core.Expression]) -> int:
        number = self._leaf_of.get(key)
        if number is None:
            number = self._leaf_of[key] = len(self.leaves)
            self.leaves.append(make())
        return number

    def _label(self) -> str:
        self._labels += 1
        return f"label {self._labels}"


_Item = Node | Callable[[], None]


def _others(ranges: Ranges) -> Ranges:
    """All code points except those of a set."""
    others: list[tuple[int, int]] = []
    low = 0
    for first, last in ranges:
        if low < first:
            others.append((low, first - 1))
        low = last + 1
    return (*others, (low, 0x10FFFF))
