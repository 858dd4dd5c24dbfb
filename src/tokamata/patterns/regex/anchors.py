"""Which anchors hold, decided from what can stand before and after them.

Problem: a constraint matches the whole text, so ``^abc$`` needs no anchors; ``a^b`` matches nothing; for
``a?^b`` it depends.  An anchor that always holds is dropped, one that never holds makes its
alternative match nothing, any other is refused.

Example: in ``(^a|b)c$`` nothing stands before ``^`` and nothing after ``$``: both hold.  In ``x(^a|b)``
something always stands before ``^``: that alternative is empty.

Method: for what anchors can tell, a text is of one of few kinds.  Seen from its end, going back from an
anchor: empty, ending in a newline, other.  Seen from its start: empty, exactly a newline, beginning
with a newline, other.  A set of kinds is a bit mask; the kinds of each node come from those of its
children, the kinds of what is around it from its parent.  The masks are upper bounds, so
"always" and "never" are sure; where they say "both", the anchor may still be decidable, and is
refused nevertheless.  Anchors themselves count as empty texts.

Cost: linear in the tree; skipped for patterns without anchors.
"""

from __future__ import annotations

from tokamata.errors import UnsupportedPatternError
from tokamata.patterns.regex.syntax import (
    LAST_LINE_END,
    LINE_END,
    LINE_START,
    TEXT_END,
    TEXT_START,
    Anchor,
    CodePoints,
    Inner,
    Literal,
    Node,
    Repeat,
    Tree,
    Union,
)

__all__ = ["resolve_anchors"]

EMPTY, NEWLINE_LAST, OTHER_LAST = 1, 2, 4  # kinds of text, seen from the end
NEWLINE, NEWLINE_FIRST, OTHER_FIRST = 2, 4, 8  # kinds of text, seen from the start: "\n", "\n…", others

Kinds = tuple[int, int]  # masks: seen from the end, seen from the start
NOTHING: Kinds = (EMPTY, EMPTY)

# In which surroundings an anchor holds: the kinds before it, or the kinds after it.
_BEFORE = {TEXT_START: EMPTY, LINE_START: EMPTY | NEWLINE_LAST}
_AFTER = {TEXT_END: EMPTY, LAST_LINE_END: EMPTY | NEWLINE, LINE_END: EMPTY | NEWLINE | NEWLINE_FIRST}


def resolve_anchors(tree: Tree) -> None:
    """Set ``holds`` of every anchor of the tree.

    Raises:
        UnsupportedPatternError: one that holds in some of its surroundings and not in others.
    """
    kinds: dict[Inner, Kinds] = {}
    for node in tree.inner:
        kinds[node] = _kinds(node, kinds)
    around: dict[Node, tuple[int, int]] = {tree.root: NOTHING}  # what is before a node, what is after it
    if isinstance(tree.root, Anchor):
        _decide(tree.pattern, tree.root, NOTHING)
    for node in reversed(tree.inner):
        for child, place in _surroundings(node, around[node], kinds):
            if isinstance(child, Anchor):
                _decide(tree.pattern, child, place)
            else:
                around[child] = place


def _decide(pattern: str, anchor: Anchor, place: tuple[int, int]) -> None:
    before, after = place
    seen, holding = (before, _BEFORE[anchor.kind]) if anchor.kind in _BEFORE else (after, _AFTER[anchor.kind])
    if seen & holding and seen & ~holding:
        length = 2 if pattern[anchor.position] == "\\" else 1
        name = pattern[anchor.position : anchor.position + length]
        reason = f"anchor {name} that holds only sometimes: tokamata does not do this yet"
        side = "before" if anchor.kind in _BEFORE else "after"
        hint = f"what stands {side} it may be empty or not; write the two cases as alternatives, or remove it"
        raise UnsupportedPatternError(pattern, anchor.position, reason, hint)
    anchor.holds = not seen & ~holding


def _surroundings(
    node: Inner, place: tuple[int, int], kinds: dict[Inner, Kinds]
) -> list[tuple[Node, tuple[int, int]]]:
    """What stands before and after each child."""
    before, after = place
    if isinstance(node, Union):
        return [(option, place) for option in node.options]
    if isinstance(node, Repeat):
        most = None if node.maximum is None else max(node.maximum - 1, 0)
        last, first = _power(_of(node.body, kinds), 0, most)
        return [(node.body, (_before(before, last), _after(first, after)))]
    afters = [after]
    for item in reversed(node.items[1:]):
        afters.append(_after(_of(item, kinds)[1], afters[-1]))
    result: list[tuple[Node, tuple[int, int]]] = []
    for item in node.items:
        following = afters.pop()
        result.append((item, (before, following)))
        before = _before(before, _of(item, kinds)[0])
    return result


def _of(node: Node, kinds: dict[Inner, Kinds]) -> Kinds:
    """The kinds of text that a node matches."""
    if isinstance(node, Literal):
        last = NEWLINE_LAST if node.text[-1] == "\n" else OTHER_LAST
        first = OTHER_FIRST if node.text[0] != "\n" else NEWLINE if len(node.text) == 1 else NEWLINE_FIRST
        return last, first
    if isinstance(node, CodePoints):
        newline = any(low <= 10 <= high for low, high in node.ranges[:2])
        other = bool(node.ranges) and node.ranges != ((10, 10),)
        return (
            NEWLINE_LAST * newline | OTHER_LAST * other,
            NEWLINE * newline | OTHER_FIRST * other,
        )
    return NOTHING if isinstance(node, Anchor) else kinds[node]


def _kinds(node: Inner, kinds: dict[Inner, Kinds]) -> Kinds:
    """The kinds of text that an inner node matches."""
    last, first = 0, 0
    if isinstance(node, Union):
        for option in node.options:
            one = _of(option, kinds)
            last, first = last | one[0], first | one[1]
        return last, first
    if isinstance(node, Repeat):
        return _power(_of(node.body, kinds), node.minimum, node.maximum)
    last, first = NOTHING
    for item in node.items:
        one = _of(item, kinds)
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
    kinds = (following if text & EMPTY else 0) | (text & (NEWLINE_FIRST | OTHER_FIRST))
    if text & NEWLINE:
        kinds |= (NEWLINE if following & EMPTY else 0) | (NEWLINE_FIRST if following & ~EMPTY else 0)
    return kinds
