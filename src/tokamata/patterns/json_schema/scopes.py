"""Scopes: in which resource a schema is read, and what dynamic references mean there."""

from __future__ import annotations

from typing import Any

from tokamata.patterns.json_schema.dialect import Dialect

__all__ = ["Resource", "Scope"]


class Resource:
    """A schema with a URI of its own.

    Attributes:
        uri: absolute, or ``""`` where nothing says it.
        root: the schema.
        dialect: its draft.
        anchors: the schemas in it that have a name; filled when the document is indexed.
        dynamic: those of them whose name is a dynamic anchor; ``""`` is that of ``$recursiveAnchor``.
    """

    __slots__ = ("anchors", "dialect", "dynamic", "root", "uri")

    def __init__(self, uri: str, root: Any, dialect: Dialect) -> None:
        self.uri = uri
        self.root = root
        self.dialect = dialect
        self.anchors: dict[str, Any] = {}
        self.dynamic: dict[str, Any] = {}


class Scope:
    """A resource, and where dynamic references lead in it.

    Attributes:
        dynamic: for each dynamic anchor its schema, and the resource of that.
        memos: the nodes of the schemas that were read in this scope, by identity: those for a value that
            should be in them, and those for one that should not.
        targets: where the references of this scope lead.
    """

    __slots__ = ("dialect", "dynamic", "handlers", "id_keyword", "memos", "resource", "targets")

    def __init__(self, resource: Resource, dynamic: dict[str, tuple[Any, Resource]]) -> None:
        self.resource = resource
        self.dynamic = dynamic
        self.dialect = resource.dialect
        self.handlers = resource.dialect.handlers
        self.id_keyword = resource.dialect.id_keyword
        self.memos: tuple[dict[int, int], dict[int, int]] = ({}, {})
        self.targets: dict[tuple[str, str], tuple[Any, Scope]] = {}
