"""Where things stand in the documents of a reading, as JSON Pointers (RFC 6901).

A table of all objects by identity, made when an error or a report asks for the first pointer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tokamata.patterns.json_schema.dialect import subschemas
from tokamata.patterns.json_schema.text import escaped, shown

if TYPE_CHECKING:
    from tokamata.patterns.json_schema.scopes import Scope

__all__ = ["Places"]


class Places:
    """Pointers to the objects of some documents.

    Attributes:
        count: how many documents there are.
        deepest: how deep they nest: the most objects and arrays that one is within.
    """

    def __init__(self, documents: dict[str, Any]) -> None:
        self.count = len(documents)
        self.deepest = 0
        self._parents: dict[int, tuple[int, str]] = {}  # what holds an object, and under which key
        self._roots: dict[int, str] = {}
        self._objects: list[dict[str, Any]] = []
        for index, (uri, root) in enumerate(documents.items()):
            if isinstance(root, (dict, list)) and id(root) not in self._parents:
                self._roots[id(root)] = uri if index else ""
                self._note(root)

    def pointer(self, value: Any) -> str:
        """The pointer to an object; with the URI of its document, if that is not the first."""
        parts: list[str] = []
        key = id(value)
        while key not in self._roots and key in self._parents:
            key, part = self._parents[key]
            parts.append(part)
        uri = self._roots.get(key, "")
        path = "".join(f"/{escaped(part)}" for part in reversed(parts))
        return f"{uri}#{path}" if uri else path

    def pointer_to_value(self, value: Any, scopes: list[Scope]) -> tuple[str, str]:
        """Where something stands that is no schema, though one should; and what it is."""
        for scope in scopes:
            for schema in self._objects:
                if not any(id(schema) in memo for memo in scope.memos):
                    continue
                for path, inner in subschemas(schema, scope.dialect):
                    if inner is value:
                        pointer = self.pointer(schema) + "".join(f"/{escaped(part)}" for part in path)
                        return pointer, shown(value)
        return "", shown(value)

    def _note(self, root: Any) -> None:
        self._parents[id(root)] = (0, "")
        stack: list[tuple[Any, int]] = [(root, 0)]
        while stack:
            value, nesting = stack.pop()
            self.deepest = max(self.deepest, nesting)
            if type(value) is dict:
                self._objects.append(value)
            inside = []
            for key, inner in value.items() if type(value) is dict else enumerate(value):
                if (type(inner) is dict or type(inner) is list) and id(inner) not in self._parents:
                    self._parents[id(inner)] = (id(value), str(key))
                    inside.append((inner, nesting + 1))
            stack.extend(reversed(inside))

    def objects(self) -> list[dict[str, Any]]:
        """All objects, in the order of the documents."""
        return self._objects
