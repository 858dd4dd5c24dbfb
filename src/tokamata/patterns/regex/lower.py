"""From a syntax tree to an expression of the engine.

Problem: the engine knows texts, sets of code points, concatenation, union, repetition, and
lookarounds that say what all of the text before or after them is; a tree says the same in more ways
than are needed.  Texts that stand side by side become one, and anchors that surely hold are gone.

Example: ``a\\.(b|[0-9])`` becomes ``concat([literal(b"a."), code_points([(48, 57), (98, 98)])])``, and
``(?!ab)`` becomes ``look_ahead(complement(concat([literal(b"ab"), anything()])))``.

Cost: linear in the tree.  The expressions of classes and anchors that recur (``\\d``, ``[\\w-]``, ``\\b``)
are made once in a process.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import tokamata._core as _core
from tokamata.errors import UnsupportedPatternError
from tokamata.patterns.regex import syntax
from tokamata.patterns.regex.anchors import resolve_anchors
from tokamata.patterns.regex.classes import named_class
from tokamata.patterns.regex.edges import open_edges

if TYPE_CHECKING:
    from tokamata.resources.limits import Watch

__all__ = ["lower_tree"]

MAX_KEPT = 256  # sets of code points whose expressions are kept for other patterns

_kept: dict[object, _core.Expression] = {}  # by CodePoints.key, or by what says which anchor it is


def lower_tree(
    tree: syntax.Tree, searches: bool = False, part_at: int | None = None, watch: Watch | None = None
) -> _core.Expression:
    """The expression of the tree's language; changes the tree.

    Args:
        tree: a parsed pattern.
        searches: whether anything may stand before and after what the pattern matches.
        part_at: where it stands in the pattern that it is part of; ``None``: it is the whole.
        watch: stops the work.

    Raises:
        UnsupportedPatternError: a lookaround has a part that sees how a text is cut into tokens.
    """
    if searches or tree.looks:
        open_edges(tree, searches)
    inner = syntax.children_first(tree.root)
    if tree.anchors:
        resolve_anchors(tree, inner, alone=part_at is None)
    if part_at is not None:
        for node in inner:
            node.position += part_at  # the engine names it when it stops
    for node in inner:
        if watch is not None:
            watch.check()
        if type(node) is syntax.Concat:
            node.lowered = _concat(node.items)
        elif type(node) is syntax.Union:
            node.lowered = _core.union([_lowered(option) for option in node.options])
        elif type(node) is syntax.Repeat:
            node.lowered = _repeat(node)
        elif type(node) is syntax.Look:
            _refuse_edges(node, tree.pattern, node.position - (part_at or 0))
            node.lowered = _look(node)
    return _lowered(tree.root)


def _lowered(node: syntax.Node) -> _core.Expression:
    """The expression of a node whose children are lowered."""
    if type(node) is syntax.CodePoints:
        return _code_points(node)
    if type(node) is syntax.Literal:
        return _core.literal(node.text.encode())
    if (
        type(node) is syntax.Repeat
        or type(node) is syntax.Concat
        or type(node) is syntax.Union
        or type(node) is syntax.Look
    ):
        expression: _core.Expression = node.lowered
        return expression
    if isinstance(node, syntax.ANCHORS):
        if node.holds is None:
            return _assertion(node)
        return _core.epsilon() if node.holds else _core.empty()
    if isinstance(node, syntax.Extension):
        return node.expression
    assert isinstance(node, syntax.Anything)
    return _core.text() if node.texts else _core.anything()


def _code_points(node: syntax.CodePoints) -> _core.Expression:
    """The expression of a set: made once for a pattern if it is large, kept for others if it has a key."""
    node = node.twin or node
    if node.lowered is None:
        kept = None if node.key is None else _kept.get(node.key)
        if kept is None:
            kept = _core.code_points(node.ranges) if node.ranges else _core.empty()
            if node.key is not None:
                _keep(node.key, kept)
        node.lowered = kept
    expression: _core.Expression = node.lowered
    return expression


def _concat(items: list[syntax.Node]) -> _core.Expression:
    parts: list[_core.Expression] = []
    texts: list[str] = []
    for item in items:
        if type(item) is syntax.Literal:
            texts.append(item.text)
            continue
        if (type(item) is syntax.Anchor or type(item) is syntax.WordBoundary) and item.holds:
            continue
        if texts:
            parts.append(_core.literal("".join(texts).encode()))
            texts = []
        parts.append(_lowered(item))
    if texts:
        parts.append(_core.literal("".join(texts).encode()))
    return _core.concat(parts) if len(parts) > 1 else parts[0] if parts else _core.epsilon()


def _repeat(node: syntax.Repeat) -> _core.Expression:
    if node.maximum == 0:
        return _core.epsilon()
    body = _lowered(node.body)
    if node.minimum == node.maximum == 1:
        return body
    return _core.repeat(body, node.minimum, node.maximum, node.position)


def _look(node: syntax.Look) -> _core.Expression:
    """A lookaround, whose body stands for all that follows or was read."""
    body = _lowered(node.body)
    if node.negated:
        body = _core.complement(body)
    return _core.look_behind(body) if node.behind else _core.look_ahead(body)


def _refuse_edges(look: syntax.Look, pattern: str, position: int) -> None:
    if _lowered(look.body).sees_edges:
        raise UnsupportedPatternError(
            pattern,
            position,
            "a lookaround is about texts, not about how they are cut into tokens",
            "put TEXT_TOKEN and PARAGRAPH_TOKEN beside the lookaround",
        )


def _assertion(node: syntax.Anchor | syntax.WordBoundary) -> _core.Expression:
    """The lookaround of an anchor that holds only sometimes."""
    key: object
    if isinstance(node, syntax.Anchor):
        key = (node.kind, node.line_ends)
    else:
        strict = node.negated and not node.empty and not node.within
        key = ("word", node.negated, node.words, node.before, node.after, strict)
    expression = _kept.get(key)
    if expression is None:
        expression = _anchor(node) if isinstance(node, syntax.Anchor) else _boundary(node)
        _keep(key, expression)
    return expression


def _anchor(node: syntax.Anchor) -> _core.Expression:
    nothing = _core.epsilon()
    if node.kind == syntax.TEXT_START:
        return _core.look_behind(nothing)
    if node.kind == syntax.TEXT_END:
        return _core.look_ahead(nothing)
    if node.kind == syntax.LAST_LINE_END:
        return _core.look_ahead(_core.union([nothing, _core.literal(b"\n")]))
    line_end = _core.code_points(node.line_ends)
    if node.kind == syntax.LINE_START:
        return _core.look_behind(_core.union([nothing, _core.concat([_core.anything(), line_end])]))
    assert node.kind == syntax.LINE_END
    return _core.look_ahead(_core.union([nothing, _core.concat([line_end, _core.anything()])]))


def _boundary(node: syntax.WordBoundary) -> _core.Expression:
    """``\\b`` or ``\\B`` as ``(?<=\\w)(?!\\w)|(?<!\\w)(?=\\w)`` and its like, less what is known to hold.

    Where ``\\B`` does not hold in an empty text, ``(?<!\\w)(?!\\w)`` gets two forms: something is before
    it, or after it.
    """
    word = _core.code_points(named_class(node.words))
    behind, ahead = _core.concat([_core.anything(), word]), _core.concat([word, _core.anything()])
    nothing = _core.epsilon()
    cases: list[_core.Expression] = []
    for before in (True, False) if node.before is None else (node.before,):
        for after in (True, False) if node.after is None else (node.after,):
            if (before != after) == node.negated:
                continue
            one = [] if node.before is not None else [behind if before else _core.complement(behind)]
            other = [] if node.after is not None else [ahead if after else _core.complement(ahead)]
            if node.negated and not node.empty and not node.within and not before:
                some = _core.complement(nothing)
                cases.append(_both([*one, some], other))
                cases.append(_both(one, [*other, some]))
            else:
                cases.append(_both(one, other))
    return _core.union(cases) if len(cases) > 1 else cases[0]


def _both(before: list[_core.Expression], after: list[_core.Expression]) -> _core.Expression:
    """An assertion about what was read, which is in all of ``before``, and what follows."""
    parts: list[_core.Expression] = []
    if before:
        parts.append(_core.look_behind(_core.intersect(before) if len(before) > 1 else before[0]))
    if after:
        parts.append(_core.look_ahead(_core.intersect(after) if len(after) > 1 else after[0]))
    return _core.concat(parts) if len(parts) > 1 else parts[0]


def _keep(key: object, expression: _core.Expression) -> None:
    if len(_kept) >= MAX_KEPT:
        _kept.clear()
    _kept[key] = expression
