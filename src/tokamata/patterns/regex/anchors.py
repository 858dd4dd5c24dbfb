"""Which anchors and word boundaries hold, decided from what can stand before and after them.

Problem: a constraint matches the whole text, so ``^abc$`` needs no anchors; ``a^b`` matches nothing; for
``a?^b`` it depends.  An anchor that always holds is dropped, one that never holds makes its
alternative match nothing; only the others become lookarounds, which cost more.

Example: in ``(^a|b)c$`` nothing stands before ``^`` and nothing after ``$``: both hold.  In ``x(^a|b)``
something always stands before ``^``: that alternative is empty.  In ``\\w+\\b[ab-]`` a word character
always stands before ``\\b``, so that only what follows is left to be examined.

Method: for what anchors can tell, a text is of one of few kinds.  Seen from its end, going back from an
anchor: empty, or by its last code point; seen from its start: empty, exactly one line end, or by its
first code point.  Code points are of four sorts: line ends, ASCII word characters, other word
characters, all others.  A set of kinds is a bit mask; the kinds of each node come from those of its
children, the kinds of what is around it from its parent.  The masks are upper bounds, so
"always" and "never" are sure; where they say "both", the anchor may still be decidable, and becomes
a lookaround nevertheless.  Assertions themselves count as empty texts.

Cost: linear in the tree; skipped for patterns without anchors, or with none but those around the whole.
"""

from __future__ import annotations

from bisect import bisect_right
from functools import cache

from tokamata.patterns.regex import syntax
from tokamata.patterns.regex.classes import Ranges, complement, named_class, normalize

__all__ = ["resolve_anchors"]

# Sorts of code points.  As a kind of text: one that ends with such a code point, seen from its end; one
# that begins with it, seen from its start (a line end with something behind it).
LINE, WORD, LETTER, OTHER = 2, 4, 8, 16
EMPTY, LINE_ALONE = 1, 32
ANYTHING = EMPTY | LINE | WORD | LETTER | OTHER

Kinds = tuple[int, int]  # masks: seen from the end, seen from the start
NOTHING: Kinds = (EMPTY, EMPTY)
ANY_TEXT: Kinds = (ANYTHING, ANYTHING | LINE_ALONE)

# In which surroundings an anchor holds: the kinds before it, or the kinds after it.
_BEFORE = {syntax.TEXT_START: EMPTY, syntax.LINE_START: EMPTY | LINE}
_AFTER = {
    syntax.TEXT_END: EMPTY,
    syntax.LAST_LINE_END: EMPTY | LINE_ALONE,
    syntax.LINE_END: EMPTY | LINE | LINE_ALONE,
}

# Which kinds are surely those of a word character, and which surely not, by the name of the class.
_NO_WORD = EMPTY | LINE | LINE_ALONE | OTHER
_WORDS = {"w": (WORD | LETTER, _NO_WORD), "aw": (WORD, _NO_WORD | LETTER), "fw": (WORD, _NO_WORD)}

Place = tuple[int, int]  # masks: what may stand before a node, what may stand after it


def resolve_anchors(tree: syntax.Tree, inner: list[syntax.Inner], alone: bool) -> None:
    """Set ``holds`` of every anchor and word boundary of the tree.

    Args:
        tree: after its edges were opened.
        inner: its inner nodes, children first.
        alone: whether nothing stands around the tree; otherwise anything may.
    """
    if alone and _only_outermost(tree):
        return
    kinds_of = _KindsOfLeaves(tree)
    for node in inner:
        kinds_of.known[node] = _kinds(node, kinds_of)
    surroundings = NOTHING if alone else ANY_TEXT
    around: dict[syntax.Node, Place] = {tree.root: surroundings}
    _decide(tree.root, surroundings)
    for node in reversed(inner):
        for child, place in _surroundings(node, around[node], kinds_of):
            if type(child) is syntax.Anchor or type(child) is syntax.WordBoundary:
                _decide(child, place)
            else:
                around[child] = place


def _only_outermost(tree: syntax.Tree) -> bool:
    """Whether all anchors stand first or last in the pattern, as in ``^…$``; sets that these hold."""
    items = tree.root.items if isinstance(tree.root, syntax.Concat) else []
    found = 0
    for kinds, side in ((_BEFORE, items), (_AFTER, reversed(items))):
        for item in side:
            if type(item) is not syntax.Anchor or item.kind not in kinds:
                break
            item.holds = True
            found += 1
    return found == tree.anchors


def _decide(node: syntax.Node, place: Place) -> None:
    before, after = place
    if isinstance(node, syntax.Anchor):
        seen, holding = (before, _BEFORE[node.kind]) if node.kind in _BEFORE else (after, _AFTER[node.kind])
        node.holds = False if not seen & holding else True if not seen & ~holding else None
    elif isinstance(node, syntax.WordBoundary):
        node.before, node.after = _is_word(before, node.words), _is_word(after, node.words)
        node.within = not (before & EMPTY and after & EMPTY)
        if node.before is None or node.after is None:
            node.holds = None
        elif node.negated and not node.before and not node.after and not node.empty:
            node.holds = True if node.within else False if before == after == EMPTY else None
        else:
            node.holds = (node.before != node.after) != node.negated


def _is_word(kinds: int, words: str) -> bool | None:
    """Whether texts of these kinds have a word character there; ``None``: some have."""
    yes, no = _WORDS[words]
    return True if not kinds & ~yes else False if not kinds & ~no else None


def _surroundings(
    node: syntax.Inner, place: Place, kinds_of: _KindsOfLeaves
) -> list[tuple[syntax.Node, Place]]:
    """What stands before and after each child."""
    before, after = place
    if isinstance(node, syntax.Union):
        return [(option, place) for option in node.options]
    if isinstance(node, syntax.Look):
        return [(node.body, (EMPTY, after) if node.behind else (before, EMPTY))]
    if isinstance(node, syntax.Repeat):
        most = None if node.maximum is None else max(node.maximum - 1, 0)
        last, first = _power(kinds_of(node.body), 0, most)
        return [(node.body, (_before(before, last), _after(first, after)))]
    afters = [after]
    for item in reversed(node.items[1:]):
        afters.append(_after(kinds_of(item)[1], afters[-1]))
    result: list[tuple[syntax.Node, Place]] = []
    for item in node.items:
        following = afters.pop()
        result.append((item, (before, following)))
        before = _before(before, kinds_of(item)[0])
    return result


class _KindsOfLeaves:
    """The kinds of text that a node matches; those of inner nodes are put into ``known``."""

    __slots__ = ("known", "line_ends", "line_points", "sets", "words")

    def __init__(self, tree: syntax.Tree) -> None:
        self.known: dict[syntax.Node, Kinds] = {}
        self.line_ends = tree.line_ends
        self.line_points = {point for low, high in tree.line_ends for point in range(low, high + 1)}
        self.words = tree.boundaries > 0  # otherwise it does not matter which are word characters
        self.sets: dict[Ranges, int] = {}

    def __call__(self, node: syntax.Node) -> Kinds:
        kinds = self.known.get(node)
        if kinds is None:
            kinds = self.known[node] = self._of_leaf(node)
        return kinds

    def _of_leaf(self, node: syntax.Node) -> Kinds:
        if isinstance(node, syntax.Literal):
            first = self._sort(node.text[0])
            if len(node.text) == 1:
                return first, LINE_ALONE if first == LINE else first
            return self._sort(node.text[-1]), first
        if isinstance(node, syntax.CodePoints):
            sorts = self._sorts(node.ranges)
            return sorts, sorts ^ (LINE | LINE_ALONE) if sorts & LINE else sorts
        if isinstance(node, syntax.ANCHORS):
            return NOTHING
        return ANY_TEXT  # anything, or an extension

    def _sort(self, letter: str) -> int:
        """The sort of one code point."""
        point = ord(letter)
        if point in self.line_points:
            return LINE
        if not self.words:
            return OTHER
        if point < 0x80:
            return WORD if _within((point, point), named_class("aw")) else OTHER
        return LETTER if _within((point, point), named_class("w")) else OTHER

    def _sorts(self, ranges: Ranges) -> int:
        """The sorts of the code points of a set."""
        if not self.words:
            line = LINE if _overlap(ranges, self.line_ends) else 0
            return line | OTHER if any(not _within(pair, self.line_ends) for pair in ranges) else line
        if len(ranges) == 1 and ranges[0][0] == ranges[0][1]:
            return self._sort(chr(ranges[0][0]))
        sorts = self.sets.get(ranges)
        if sorts is None:
            words, letters, others = _sorted_code_points(self.line_ends)
            sorts = LINE if _overlap(ranges, self.line_ends) else 0
            for sort, members in ((WORD, words), (LETTER, letters), (OTHER, others)):
                sorts |= sort if _overlap(ranges, members) else 0
            self.sets[ranges] = sorts
        return sorts


@cache
def _sorted_code_points(line_ends: Ranges) -> tuple[Ranges, Ranges, Ranges]:
    """The code points of the sorts ``WORD``, ``LETTER`` and ``OTHER``."""
    words, letters = named_class("aw"), tuple(pair for pair in named_class("w") if pair[0] >= 0x80)
    return words, letters, complement(normalize((*words, *letters, *line_ends)))


def _within(pair: tuple[int, int], ranges: Ranges) -> bool:
    """Whether one range lies within one of others."""
    index = bisect_right(ranges, (pair[0], 0x110000)) - 1
    return index >= 0 and ranges[index][0] <= pair[0] and pair[1] <= ranges[index][1]


def _overlap(some: Ranges, others: Ranges) -> bool:
    """Whether two sets have a member in common."""
    i = j = 0
    while i < len(some) and j < len(others):
        if some[i][1] < others[j][0]:
            i += 1
        elif others[j][1] < some[i][0]:
            j += 1
        else:
            return True
    return False


def _kinds(node: syntax.Inner, kinds_of: _KindsOfLeaves) -> Kinds:
    """The kinds of text that an inner node matches."""
    last, first = 0, 0
    if isinstance(node, syntax.Union):
        for option in node.options:
            one = kinds_of(option)
            last, first = last | one[0], first | one[1]
        return last, first
    if isinstance(node, syntax.Repeat):
        return _power(kinds_of(node.body), node.minimum, node.maximum)
    last, first = NOTHING
    if isinstance(node, syntax.Look):
        return NOTHING
    for item in node.items:
        one = kinds_of(item)
        last, first = _before(last, one[0]), _after(first, one[1])
    return last, first


def _power(body: Kinds, minimum: int, maximum: int | None) -> Kinds:
    """The kinds of ``minimum`` to ``maximum`` texts of the kinds of ``body``, one after another.

    From the second power on the kinds of a power no longer change, so that three are enough.
    """
    least = min(minimum, 3)
    most = 3 if maximum is None else min(maximum, 3)
    last, first = 0, 0
    power = NOTHING
    for count in range(most + 1):
        if count >= least:
            last, first = last | power[0], first | power[1]
        power = _before(power[0], body[0]), _after(power[1], body[1])
    return last, first


def _before(text: int, following: int) -> int:
    """Kinds, seen from the end, of a text and what follows it."""
    if not text or not following:
        return 0
    return (text if following & EMPTY else 0) | (following & ~EMPTY)


def _after(text: int, following: int) -> int:
    """Kinds, seen from the start, of a text and what follows it."""
    if not text or not following:
        return 0
    kinds = (following if text & EMPTY else 0) | (text & ~(EMPTY | LINE_ALONE))
    if text & LINE_ALONE:
        kinds |= (LINE_ALONE if following & EMPTY else 0) | (LINE if following & ~EMPTY else 0)
    return kinds
