"""From a syntax tree to an expression of the engine.

Problem: the engine knows texts, sets of code points, concatenation, union and repetition; a tree
says the same in more ways than are needed.  Texts that stand side by side become one, and
alternatives of one code point each become one set: ``(.|\\n)`` is the set of all code points.

Example: ``a\\.(b|[0-9])`` becomes ``concat([literal(b"a."), code_points([(48, 57), (98, 98)])])``.

Cost: linear in the tree.  The expressions of classes that recur (``\\d``, ``.``, ``[\\w-]``) are made once
in a process.
"""

from __future__ import annotations

from tokamata import _core
from tokamata.patterns.regex.anchors import resolve_anchors
from tokamata.patterns.regex.classes import Ranges, normalize
from tokamata.patterns.regex.syntax import Anchor, CodePoints, Concat, Literal, Node, Repeat, Tree, Union

__all__ = ["lower_tree"]

MAX_KEPT = 256

_kept: dict[str, _core.Expression] = {}  # by CodePoints.key


def lower_tree(tree: Tree) -> _core.Expression:
    """The expression of the tree's language.

    Raises:
        UnsupportedPatternError: an anchor that cannot be decided.
    """
    if tree.anchors:
        resolve_anchors(tree)
    for node in tree.inner:  # children first
        if type(node) is Concat:
            node.lowered = _concat(node.items)
        elif type(node) is Union:
            node.lowered = _union(node.options)
        elif type(node) is Repeat:
            node.lowered = _repeat(node)
    return _lowered(tree.root)


def _lowered(node: Node) -> _core.Expression:
    """The expression of a node whose children are lowered."""
    if type(node) is CodePoints:
        return _code_points(node)
    if type(node) is Literal:
        return _core.literal(node.text.encode())
    if type(node) is Anchor:
        return _core.epsilon() if node.holds else _core.empty()
    expression: _core.Expression = node.lowered  # type: ignore[union-attr]  # mypy forgets what it is not
    return expression


def _code_points(node: CodePoints) -> _core.Expression:
    if node.key is None:
        return _core.code_points(node.ranges) if node.ranges else _core.empty()
    kept = _kept.get(node.key)
    if kept is None:
        if len(_kept) >= MAX_KEPT:
            _kept.clear()
        kept = _kept[node.key] = _core.code_points(node.ranges) if node.ranges else _core.empty()
    return kept


def _concat(items: list[Node]) -> _core.Expression:
    parts: list[_core.Expression] = []
    texts: list[str] = []
    for item in items:
        if type(item) is Literal:
            texts.append(item.text)
            continue
        if type(item) is Anchor and item.holds:
            continue
        if texts:
            parts.append(_core.literal("".join(texts).encode()))
            texts = []
        parts.append(_lowered(item))
    if texts:
        parts.append(_core.literal("".join(texts).encode()))
    return _core.concat(parts) if len(parts) > 1 else parts[0] if parts else _core.epsilon()


def _union(options: list[Node]) -> _core.Expression:
    singles: list[Node] = []
    others: list[Node] = []
    for option in options:
        single = type(option) is CodePoints or (type(option) is Literal and len(option.text) == 1)
        (singles if single else others).append(option)
    parts = [_lowered(option) for option in others]
    if len(singles) == 1:
        parts.append(_lowered(singles[0]))
    elif singles:
        parts.append(_core.code_points(normalize([pair for node in singles for pair in _ranges(node)])))
    return _core.union(parts) if len(parts) > 1 else parts[0]


def _ranges(node: Node) -> Ranges:
    """The set of a node that matches one code point."""
    if isinstance(node, CodePoints):
        return node.ranges
    assert isinstance(node, Literal)
    return ((ord(node.text), ord(node.text)),)


def _repeat(node: Repeat) -> _core.Expression:
    if node.maximum == 0:
        return _core.epsilon()
    body = _lowered(node.body)
    if node.minimum == node.maximum == 1:
        return body
    return _core.repeat(body, node.minimum, node.maximum, node.position)
