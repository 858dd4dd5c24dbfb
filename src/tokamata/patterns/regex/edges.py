"""Open edges: what may stand before or after a pattern that need not match all of a text.

Problem: a search for ``P`` accepts the texts ``any P any``, and a lookahead ``(?=P)`` holds where what
follows is ``P any``.  Written like that, ``^[a-z]+$`` is a search for something that two assertions
then cut down to ``[a-z]+``.

Example: with both edges open, ``^a|b$`` is ``(?:a any|any b)``, without an assertion left; ``(^a|b)c`` is
``(?:a|any b)c any``; ``(?=.*x$)`` looks for ``.*x\\n?`` up to the end of the text, as ``$`` means in Python.

Method: an anchor at an open edge says what the rest of the text is, so it takes the place of ``any``::

    \\Z any = nothing        $ any = \\n?        $ any, under flag m = (?:\\n any)?

Which anchors stand at the edge is seen from each alternative on its own: ``(A|B) any`` is ``A any|B any``.
Beside ``any``, what may be empty can be left out (``.* any = any``), and a repetition need not go on
(``a+ any = a any``).  All of it also from the other side.  Assertions at one place may change places.

Cost: linear in the tree.

Rejected: leaving all of this to the engine, which gets it right as well, with a search and lookarounds
for what is plain text in most patterns of JSON schemas.
"""

from __future__ import annotations

from collections.abc import Iterable

from tokamata.patterns.regex import syntax

__all__ = ["open_edges"]

_STARTS = (syntax.TEXT_START, syntax.LINE_START)  # those that say most first
_ENDS = (syntax.TEXT_END, syntax.LAST_LINE_END, syntax.LINE_END)


def open_edges(tree: syntax.Tree, searches: bool) -> None:
    """Lets anything stand past lookarounds, and around the whole if it ``searches``; changes the tree."""
    for look in tree.looks:
        kinds = _STARTS if look.behind else _ENDS
        look.body = _opened(look.body, kinds, syntax.Anything(look.position, texts=False))
    if searches:
        anything = syntax.Anything(tree.root.position, texts=True)
        tree.root = _opened(tree.root, _STARTS, anything)
        tree.root = _opened(tree.root, _ENDS, anything)


def _opened(root: syntax.Node, kinds: tuple[str, ...], anything: syntax.Anything) -> syntax.Node:
    """``any root`` or ``root any``, depending on the kinds of anchors that stand at that edge."""
    if isinstance(root, syntax.Concat) and root.items:
        outermost = 0 if kinds is _STARTS else -1
        edge = root.items[outermost]
        if isinstance(edge, syntax.Anchor) and edge.kind == kinds[0]:  # as in most patterns
            del root.items[outermost]
            return root
    whole = syntax.Concat(root.position, [root])
    anchored, nullable = _facts(root, kinds)
    pending = [whole]
    while pending:
        items = pending.pop().items
        if kinds is _STARTS:
            items.reverse()
        rest = _anchored_rest(items, kinds, anything)
        while rest is None and items and (items[-1] in nullable or type(items[-1]) is syntax.Anything):
            items.pop()
            rest = _anchored_rest(items, kinds, anything)
        if rest is None:
            last = items[-1] if items else None
            if isinstance(last, syntax.Concat):
                pending.append(last)
            elif isinstance(last, syntax.Union) and last in anchored:
                pending += _as_sequences(last)
            else:
                if isinstance(last, syntax.Repeat):
                    last.maximum = last.minimum
                rest = [anything]
        items += rest or []
        if kinds is _STARTS:
            items.reverse()
    return whole.items[0] if len(whole.items) == 1 else whole


def _anchored_rest(
    items: list[syntax.Node], kinds: tuple[str, ...], anything: syntax.Anything
) -> list[syntax.Node] | None:
    """Takes the strongest anchor at the end of ``items`` away; what may follow instead, if there is one."""
    index, best = len(items), len(kinds)
    for i in range(len(items) - 1, -1, -1):
        item = items[i]
        if isinstance(item, syntax.Anchor) and item.kind in kinds[:best]:
            index, best = i, kinds.index(item.kind)
        elif not isinstance(item, syntax.ASSERTIONS):
            break
    if index == len(items):
        return None
    anchor = items.pop(index)
    assert isinstance(anchor, syntax.Anchor)
    place = anchor.position
    if kinds[best] in (syntax.TEXT_START, syntax.TEXT_END):
        return []
    if kinds[best] == syntax.LAST_LINE_END:
        return [syntax.Repeat(place, syntax.Literal(place, "\n"), 0, 1)]
    line_end = syntax.CodePoints(place, anchor.line_ends)
    line: list[syntax.Node] = [line_end, anything] if kinds is _ENDS else [anything, line_end]
    return [syntax.Repeat(place, syntax.Concat(place, line), 0, 1)]


def _as_sequences(union: syntax.Union) -> list[syntax.Concat]:
    """The options of a union, each made a sequence that can be added to."""
    union.options = [
        option if type(option) is syntax.Concat else syntax.Concat(option.position, [option])
        for option in union.options
    ]
    return union.options  # type: ignore[return-value]  # all of them are sequences now


def _facts(
    root: syntax.Node, kinds: tuple[str, ...]
) -> tuple[set[syntax.Node | None], set[syntax.Node | None]]:
    """The nodes that have an alternative with an anchor at the edge, and those that match the empty text.

    The latter only if they do so wherever they stand.
    """
    anchored: set[syntax.Node | None] = set()
    nullable: set[syntax.Node | None] = set()
    for node in syntax.children_first(root, into_looks=False):
        if isinstance(node, syntax.Concat):
            if all(item in nullable for item in node.items):
                nullable.add(node)
            if _has_anchor(node.items if kinds is _STARTS else reversed(node.items), kinds, anchored):
                anchored.add(node)
        elif isinstance(node, syntax.Union):
            if any(option in nullable for option in node.options):
                nullable.add(node)
            if any(option in anchored or _has_anchor([option], kinds, anchored) for option in node.options):
                anchored.add(node)
        elif isinstance(node, syntax.Repeat) and (node.minimum == 0 or node.body in nullable):
            nullable.add(node)
    return anchored, nullable


def _has_anchor(
    items: Iterable[syntax.Node], kinds: tuple[str, ...], anchored: set[syntax.Node | None]
) -> bool:
    """Whether an anchor stands before anything else in ``items``."""
    for i, item in enumerate(items):
        if isinstance(item, syntax.Anchor) and item.kind in kinds:
            return True
        if not isinstance(item, syntax.ASSERTIONS):
            return i == 0 and item in anchored
    return False
