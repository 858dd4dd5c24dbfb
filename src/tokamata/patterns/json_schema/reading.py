"""Reads a JSON Schema into a table: checks what the caller gave, and reads as often as signs need it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from tokamata.arguments import checked_choice, checked_flag
from tokamata.errors import ArgumentError, shown_argument
from tokamata.limits import CancelToken, Limits, Watch, checked_limits
from tokamata.patterns.json_schema.reader import Options, Reader
from tokamata.patterns.json_schema.report import Reading
from tokamata.patterns.json_schema.table import RecordingTable, Table
from tokamata.patterns.json_schema.text import parse_schema

if TYPE_CHECKING:
    import referencing

__all__ = ["read_schema"]


def read_schema(
    schema: dict[str, Any] | bool | str | bytes,
    *,
    table: Table,
    formats: Literal["assert", "annotate"] = "assert",
    strict: bool = True,
    registry: referencing.Registry[Any] | None = None,
    limits: Limits | None = None,
    cancel: CancelToken | None = None,
) -> Reading:
    """Writes a JSON Schema into a table.

    Args:
        schema: a schema of draft 4, 6, 7, 2019-09 or 2020-12, which ``$schema`` says (2020-12 where there is
            none); as text, or as what ``json.loads`` makes of one, which nobody changes.
        table: where the nodes are made.
        formats: whether ``format`` says what strings look like, or is an annotation.
        strict: whether what cannot be enforced is an error; otherwise it is left out, which widens what the
            schema means, and the report says so.
        registry: documents that references may lead to; nothing is ever fetched but by it.
        limits: ``depth`` bounds how deep the JSON of a schema nests, ``seconds`` how long reading it takes.
        cancel: stops the reading, from another thread.

    Raises:
        SchemaError: it is not a schema, or a reference in it leads nowhere.
        UnsupportedSchemaError: it says what cannot be enforced, and ``strict`` is set.
        MissingExtraError: it refers to a draft's metaschema, which the extra ``json-schema`` installs.
        LimitExceeded, Cancelled: it nests too deep, or the reading was stopped.
        ArgumentError: an argument is of the wrong type, or says what is not known.
    """
    checked_choice("formats", formats, ("assert", "annotate"))
    checked_flag("strict", strict)
    depth = checked_limits(limits).depth
    watch = Watch(limits, cancel)
    watch.check()
    if isinstance(schema, (str, bytes, bytearray)):
        schema = parse_schema(schema, depth)
    elif not isinstance(schema, (dict, bool)):
        raise ArgumentError("a schema", shown_argument(schema), "a dict, a bool, or its JSON text")
    if registry is not None and not hasattr(registry, "get_or_retrieve"):
        raise ArgumentError("registry", shown_argument(registry), "a referencing.Registry")
    options = Options(formats == "assert", strict, registry, depth, watch)
    return _read(schema, table, options)


def _read(schema: Any, table: Table, options: Options) -> Reading:
    """Reads once, and once more for each sign where that matters."""
    reader = Reader(schema, table, options)
    root = reader.whole()
    if reader.negated and reader.depends_on_sign:
        if reader.strict:
            Reader(schema, RecordingTable(), options, polar=True).whole()  # finds what may not be negated
        else:
            reader = Reader(schema, table, options, polar=True)
            root = reader.whole()
    return Reading(root, reader)
