"""Classes, and how many methods and fields each has of its own.

Python: the functions of a class's body by their names, so that an overload or a setter is not counted again.
C++: the member functions that a class's body declares, without those that it defaults or deletes, and the
fields that are not static.  Inherited members and those of inner classes do not count.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from tree_sitter import Node

from benchmarks.structure.cpp import parsed
from benchmarks.structure.state import CPP

__all__ = ["Class", "classes"]


@dataclass(frozen=True)
class Class:
    """A class with what it declares itself; its name includes those of the classes around it."""

    name: str
    path: str
    methods: int
    fields: int


def classes(path: str, source: bytes) -> Iterator[Class]:
    """The classes that a file defines, in their order."""
    if path.endswith(CPP):
        yield from _cpp(parsed(source), path, "")
    else:
        yield from _python(ast.parse(source), path, "")


def _python(tree: ast.AST, path: str, around: str) -> Iterator[Class]:
    for node in ast.iter_child_nodes(tree):
        name = around
        if isinstance(node, ast.ClassDef):
            name = f"{around}{node.name}"
            functions = (ast.FunctionDef, ast.AsyncFunctionDef)
            methods = {one.name for one in node.body if isinstance(one, functions)}
            yield Class(name, path, len(methods), len(_python_fields(node)))
            name += "."
        yield from _python(node, path, name)


def _python_fields(node: ast.ClassDef) -> set[str]:
    """Annotated in its body, or assigned to ``self``."""
    fields = {
        one.target.id
        for one in node.body
        if isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name)
    }
    for one in ast.walk(node):
        is_stored = isinstance(one, ast.Attribute) and isinstance(one.ctx, ast.Store)
        if is_stored and isinstance(one.value, ast.Name) and one.value.id == "self":
            fields.add(one.attr)
    return fields


_CLASSES = ("class_specifier", "struct_specifier", "union_specifier")
_MEMBERS = ("field_declaration", "declaration", "function_definition")
_GIVEN_UP = ("default_method_clause", "delete_method_clause")


def _cpp(node: Node, path: str, around: str) -> Iterator[Class]:
    for child in node.children:
        name = around
        body = child.child_by_field_name("body")
        if child.type in _CLASSES and body is not None:
            name = f"{around}{_text(child.child_by_field_name('name')) or '(unnamed)'}"
            methods = fields = 0
            for member in _members(body):
                kinds = [_is_function(one) for one in member.children_by_field_name("declarator")]
                methods += sum(kinds)
                fields += 0 if _is_static(member) else len(kinds) - sum(kinds)
            yield Class(name, path, methods, fields)
            name += "::"
        yield from _cpp(child, path, name)


def _members(body: Node) -> Iterator[Node]:
    for child in body.children:
        if child.type == "template_declaration":
            yield from _members(child)
        elif child.type in _MEMBERS and not any(one.type in _GIVEN_UP for one in child.children):
            yield child


def _is_function(declarator: Node | None) -> bool:
    """Of a pointer to a function, which is a field, the function's own declarator is in parentheses."""
    while declarator is not None:
        if declarator.type in ("function_declarator", "operator_cast"):
            inner = declarator.child_by_field_name("declarator")
            return inner is None or inner.type != "parenthesized_declarator"
        inner = declarator.child_by_field_name("declarator")
        if (
            inner is None and declarator.type == "reference_declarator"
        ):  # whose inner one has no name in the grammar
            inner = declarator.children[-1]
        declarator = inner
    return False


def _is_static(member: Node) -> bool:
    return any(one.type == "storage_class_specifier" and _text(one) == "static" for one in member.children)


def _text(node: Node | None) -> str:
    return node.text.decode() if node is not None and node.text is not None else ""
