"""The texts that the named groups of a regular expression matched.

Problem: the language of a pattern does not determine them.  ``(?P<a>x|xy)(?P<b>y?)`` matches ``"xy"`` in two
ways; ``re`` prefers the first alternative, as many iterations of ``*`` as possible, as few of ``*?``.  Its
backtracking takes exponential time on some patterns, and patterns may come from strangers.

Example: ``(?P<year>\\d+)-`` becomes the program

    mark 0    part \\d+    mark 1    part "-"    accept

whose threads are kept in the order in which ``re`` would try them (``core/programs/splitter``).  The first to
accept is the match that ``re`` finds, in time linear in the text.

Method: the tree of the pattern, with its groups, is compiled (:mod:`tokamata.patterns.regex.program`).  A
class of code points under a quantifier is one part, the longest or (lazy) the shortest.  Any other quantifier
is a repetition that counts, and is not expanded.  Anchors become lookarounds, which are run at one position.

Empty iterations of a repetition follow ``re`` (``(?P<x>a*)*`` has ``x=""`` in ``"aa"``) or ECMA-262, which
skips them, and resets the groups at the start of each iteration.

Not supported: groups within lookarounds are ``None``, although ``re`` keeps those of a successful lookahead.

Cost: linear in the pattern, once for all texts under the same limits, and again for each call with a cancel
token; and in the text times the alternatives that are open at once.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import tokamata._core as _core
from tokamata.patterns.extensions import EXTENSIONS
from tokamata.patterns.regex import DIALECTS, MAX_DEPTH, syntax
from tokamata.patterns.regex.parser import parse
from tokamata.patterns.regex.program import Compiler, Item, Program
from tokamata.resources.limits import CancelToken, Limits, Watch, core_limits
from tokamata.resources.memo import Memo

__all__ = ["groups_of"]

_MOST_BYTES = 16 << 20  # of all splitters that are kept
_BYTES_OF_AN_INSTRUCTION = 200  # an estimate, with its leaf


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
    if cancel is not None:  # the splitter would keep it
        return _Groups(pattern, flags, dialect, limits, cancel).of(text)
    key = (pattern, flags, dialect, limits)
    groups = _KEPT.take(key) or _Groups(pattern, flags, dialect, limits, None)
    found = groups.of(text)
    _KEPT.keep(key, groups)  # not where it was stopped
    return found


class _Groups:
    """The named groups of a pattern, in its texts."""

    def __init__(
        self, pattern: str, flags: int, dialect: str, limits: Limits, cancel: CancelToken | None
    ) -> None:
        compiler = _Compiler(pattern, flags, dialect, Watch(limits, cancel))
        code = compiler.program.code
        self._names = compiler.names
        self._reset_groups = compiler.reset_groups
        self._own_bytes = _BYTES_OF_AN_INSTRUCTION * (1 + len(code))
        self._splitter: _core.Splitter | None = None
        if compiler.names:
            self._splitter = _core.Splitter(compiler.leaves, code, core_limits(limits), cancel, pattern)

    @property
    def memory_bytes(self) -> int:
        """How much memory is held."""
        return self._own_bytes + (0 if self._splitter is None else self._splitter.memory_bytes)

    def of(self, text: bytes) -> dict[str, str | None]:
        """The groups in a text of the pattern."""
        names, reset_groups = self._names, self._reset_groups
        found: dict[str, str | None] = dict.fromkeys(names)
        borders = None if self._splitter is None else self._splitter.split(text)[0]
        begun: dict[int, int] = {}
        for mark, position in borders or ():
            group, is_end = divmod(mark, 2)
            if group >= len(names):  # an iteration begins, and resets the groups of the repetition
                found.update(dict.fromkeys(reset_groups[group - len(names)]))
            elif is_end:
                found[names[group]] = text[begun[group] : position].decode()
            else:
                begun[group] = position
        return found


_KEPT: Memo[_Groups] = Memo(_MOST_BYTES, lambda groups: groups.memory_bytes)


class _Compiler(Compiler):
    """Compiles a pattern for a splitter: its leaves are languages, its groups are marks.

    Attributes:
        leaves: the expressions that the parts read.
        names: the names of the groups; group n has marks 2n and 2n + 1.
        reset_groups: for each repetition of ECMA-262, the groups that each iteration resets.
    """

    def __init__(self, pattern: str, flags: int, dialect: str, watch: Watch) -> None:
        tree = parse(pattern, flags, MAX_DEPTH, dialect, EXTENSIONS, watch=watch, keeps_groups=True)
        table = DIALECTS[dialect]
        super().__init__(Program(), counts_turns=True, drops_empty=table.forgets_groups, watch=watch)
        self.leaves: list[_core.Expression] = []
        self.names = tree.group_names
        self.reset_groups: list[list[str]] = []
        self._number = {name: number for number, name in enumerate(self.names)}
        self._leaf_of: dict[object, int] = {}
        self._open: list[list[str]] = []  # the groups of each open repetition
        if not self.names:
            return
        if table.searches:
            self.program.part(self._leaf("text", _core.text), lazy=True)
        self.write(tree.root)
        if table.searches:
            self.program.part(self._leaf("text", _core.text))
        self.program.accept()

    def literal(self, node: syntax.Literal) -> None:
        """Reads the whole text as one part."""
        text = node.text.encode()
        self.program.part(self._leaf(text, lambda: _core.literal(text)))

    def code_points(self, node: syntax.CodePoints) -> None:
        """Reads one code point as a part."""
        self.program.part(self._leaf_of_set(node))

    def run(self, node: syntax.Repeat, one: syntax.CodePoints) -> bool:
        """Each iteration reads one code point: more make a longer text."""
        leaf = self._leaf_of_set(one)
        body = self.leaves[leaf]
        key = (leaf, node.minimum, node.maximum)
        self.program.part(self._leaf(key, lambda: _core.repeat(body, node.minimum, node.maximum)), node.lazy)
        return True

    def other(self, node: syntax.Node) -> None:
        """An extension: its expression is a part."""
        assert isinstance(node, syntax.Extension)
        expression = node.expression
        self.program.part(self._leaf(id(node), lambda: expression))

    def group(self, node: syntax.Group) -> list[Item]:
        """Marks where the group begins and ends."""
        number = self._number[node.name]
        for groups in self._open:
            groups.append(node.name)
        mark = self.program.mark
        return [partial(mark, 2 * number), node.body, partial(mark, 2 * number + 1)]

    def turn(self, node: syntax.Repeat) -> list[Item]:
        """An iteration; in ECMA-262, with a mark that resets its groups."""
        if not self._drops_empty:
            return [node.body]
        self._open.append([])
        self.reset_groups.append(self._open[-1])
        self.program.mark(2 * (len(self.names) + len(self.reset_groups) - 1))
        return [node.body, self._close]

    def _close(self) -> None:
        self._open.pop()

    def assertion(self, node: syntax.Anchor | syntax.WordBoundary) -> list[Item]:
        """The splitter knows no other assertions than lookarounds."""
        return self.as_looks(node)

    def _leaf_of_set(self, node: syntax.CodePoints) -> int:
        ranges = (node.twin or node).ranges
        return self._leaf(ranges, lambda: _core.code_points(ranges) if ranges else _core.empty())

    def _leaf(self, key: object, make: Callable[[], _core.Expression]) -> int:
        number = self._leaf_of.get(key)
        if number is None:
            number = self._leaf_of[key] = len(self.leaves)
            self.leaves.append(make())
        return number
