"""What the handler of a keyword sees of the reading of a schema.

The reader (:mod:`.reader`) calls handlers (:mod:`.keywords`, :mod:`.unevaluated`), and they call it back for
the schemas within theirs.  This protocol is what they may rely on.  They do not import the reader.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from typing import Any, Protocol

from tokamata.patterns.json_schema.scopes import Scope
from tokamata.patterns.json_schema.table import Table
from tokamata.resources.limits import Watch

__all__ = ["Handler", "KeywordReader"]


class KeywordReader(Protocol):
    """A reading of a schema.

    Attributes:
        table: where nodes are made.
        scope: the scope of the schema that is read now.
        handlers: what the dialect of that scope does with keywords.
        asserts_formats: whether ``format`` is an assertion.
        depth: how deep values may nest.
        watch: stops the reading.
        polar: whether schemas are read once for each sign.
        negated: whether some schema is negated; set by handlers.
        anything, nothing: nodes that all schemas share.
        type_nodes: memo of :mod:`.keywords.values`: nodes of types, by name.
        masks: memo of :mod:`.apart`: types of schemas, by the identities of scope and schema.
    """

    table: Table
    scope: Scope
    handlers: Mapping[str, Callable[..., None]]
    asserts_formats: bool
    depth: int
    watch: Watch
    polar: bool
    negated: bool
    anything: int
    nothing: int
    type_nodes: dict[str, int]
    masks: dict[tuple[int, int], int]

    def read(self, schema: Any) -> int:
        """The node of a schema, in the present scope."""

    def read_reference(self, schema: dict[str, Any], keyword: str) -> int:
        """The node of the schema that a reference leads to."""

    def read_negated(self, schema: Any) -> int:
        """The node of a schema that stands under a negation."""

    def within(self, scope: Scope) -> AbstractContextManager[None]:
        """Reads in another scope."""

    def inside(self, schema: dict[str, Any]) -> AbstractContextManager[None]:
        """Reads in the scope of a schema, which may have an id."""

    def effective(self, schema: dict[str, Any]) -> list[str]:
        """The keywords of a schema that say something in the present dialect."""

    def target(self, schema: dict[str, Any], keyword: str) -> tuple[Any, Scope]:
        """The schema that a reference leads to, and its scope."""

    def integral(self) -> int:
        """The node of all integers."""

    def all_of(self, nodes: list[int]) -> int:
        """All of at least one node."""

    def any_of(self, nodes: list[int]) -> int:
        """Any of at least one node."""

    def refuse(self, schema: dict[str, Any], keyword: str, reason: str) -> int:
        """The node that stands for a keyword that cannot be enforced, where it may be left out.

        Raises:
            UnsupportedSchemaError: it may not be left out.
        """

    def note(self, schema: dict[str, Any], keyword: str) -> None:
        """Remembers a keyword that may be a slip, to be judged when all is read."""

    def pointer(self, schema: Any) -> str:
        """JSON Pointer to a schema."""


Handler = Callable[[KeywordReader, dict[str, Any], Any, list[int]], None]
"""Adds to the operands what a keyword says: (reader, schema, value of the keyword, operands)."""
