"""What became of each keyword of a schema.

The report is made when it is requested, from what reading left behind: which schemas were read, and what was
left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Literal, NamedTuple

from tokamata.errors import SchemaWarning
from tokamata.patterns.json_schema.keywords.strings import format_expression
from tokamata.patterns.json_schema.reader import Options, Reader
from tokamata.patterns.json_schema.scopes import Scope

__all__ = ["ReadSchema", "ReportEntry"]

_STRUCTURE = {
    "$schema": "names the draft",
    "$id": "names the schema",
    "id": "names the schema",
    "$anchor": "names the schema",
    "$dynamicAnchor": "names the schema",
    "$recursiveAnchor": "names the schema",
    "$defs": "holds schemas for references",
    "definitions": "holds schemas for references",
    "$vocabulary": "is about metaschemas",
    "$comment": "is a comment",
}
_INSTEAD = {  # keywords of other drafts
    "dependencies": "; there are dependentRequired and dependentSchemas",
    "additionalItems": "; there are prefixItems and items",
    "$recursiveRef": "; there is $dynamicRef",
}
_WITHOUT = {
    "then": ("if",),
    "else": ("if",),
    "minContains": ("contains",),
    "maxContains": ("contains",),
    "additionalItems": ("items",),
}


class ReportEntry(NamedTuple):
    """What became of a keyword.

    Attributes:
        pointer: JSON Pointer to the schema that has it; for :func:`tokamata.type`, and what its schema was
            made without, the names of the class and the field.
        keyword: the keyword.
        status: whether every value is held to it, or it says nothing about values, or it could not be
            enforced and was left out.
        reason: why it is not enforced; ``""`` where it is.
    """

    pointer: str
    keyword: str
    status: Literal["enforced", "annotation", "relaxed"]
    reason: str


class ReadSchema:
    """A schema that was read into a table.

    Attributes:
        root: the number of its node.
        slips: the keywords that say nothing where something was meant.
    """

    def __init__(self, root: int, reader: Reader, slips: Sequence[SchemaWarning] = ()) -> None:
        self.root = root
        self.slips = slips
        self._reader = reader

    @property
    def is_exact(self) -> bool:
        """Whether nothing was left out."""
        return not self._reader.relaxed

    @property
    def schema(self) -> Any:
        """The schema at the root."""
        return self._reader.root

    @property
    def options(self) -> Options:
        """What the caller chose."""
        return self._reader.options

    def report(self) -> list[ReportEntry]:
        """What became of each keyword of each schema that the root leads to, in the order of the document."""
        reader = self._reader
        found: dict[tuple[str, str], ReportEntry] = {}
        for schema, scope in self._schemas():
            pointer = reader.pointer(schema)
            for keyword in map(str, schema):
                entry = self._entry(pointer, schema, keyword, scope)
                known = found.get((pointer, keyword))
                if known is None or known.status != "relaxed":
                    found[(pointer, keyword)] = entry
        return list(found.values())

    def relaxed(self) -> list[ReportEntry]:
        """What was left out."""
        return [entry for entry in self.report() if entry.status == "relaxed"] if self._reader.relaxed else []

    def _schemas(self) -> Iterator[tuple[dict[str, Any], Scope]]:
        """All schemas that were read, by document, each with the scopes in which it was."""
        scopes = self._reader.references.scopes
        for schema in self._reader.places.objects():
            for scope in scopes:
                if any(id(schema) in memo for memo in scope.memos):
                    yield schema, scope

    def _entry(self, pointer: str, schema: dict[str, Any], keyword: str, scope: Scope) -> ReportEntry:
        reason = self._reader.relaxed.get((id(schema), keyword))
        if reason is not None:
            return ReportEntry(pointer, keyword, "relaxed", reason)
        reason = self._why_annotation(schema, keyword, scope)
        return ReportEntry(pointer, keyword, "annotation" if reason else "enforced", reason)

    def _why_annotation(self, schema: dict[str, Any], keyword: str, scope: Scope) -> str:
        dialect = scope.dialect
        if dialect.lone_references and "$ref" in schema and keyword != "$ref":
            return f"{dialect.name} ignores what stands beside $ref"
        if keyword in _STRUCTURE and keyword not in dialect.handlers:
            return _STRUCTURE[keyword]
        if any(needed not in schema for needed in _WITHOUT.get(keyword, ())):
            return f"means nothing without {_WITHOUT[keyword][0]!r}"
        if keyword in ("then", "else") and "if" in dialect.handlers:
            return ""
        if keyword not in dialect.handlers:
            instead = _INSTEAD.get(keyword, "")
            return f"asserts nothing in {dialect.name}{instead}"
        if keyword == "additionalItems" and not isinstance(schema["items"], list):
            return "means nothing unless 'items' is an array"
        if keyword == "format":
            if not (self._reader.asserts_formats or dialect.asserts_formats):
                return "formats are annotations here"
            if format_expression(schema["format"]) is None:
                return "no format of this name is known"
        return ""
