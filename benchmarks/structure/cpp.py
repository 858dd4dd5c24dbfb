"""C++ as trees of tree-sitter."""

from __future__ import annotations

from collections.abc import Iterator

import tree_sitter_cpp
from tree_sitter import Language, Node, Parser

__all__ = ["leaves", "parsed"]

_PARSER = Parser(Language(tree_sitter_cpp.language()))
_WHOLE = ("comment", "raw_string_literal")


def parsed(source: bytes) -> Node:
    """The root of a file's tree; what the grammar does not know is a node ``ERROR``, and the rest goes on."""
    return _PARSER.parse(source).root_node


def leaves(node: Node) -> Iterator[Node]:
    """The tokens, in their order; comments and raw strings are one each."""
    if node.type in _WHOLE or not node.children:
        yield node
        return
    for child in node.children:
        yield from leaves(child)
