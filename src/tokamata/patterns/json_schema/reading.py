"""Reads a JSON Schema into a table: checks what the caller gave, and reads as often as signs need it."""

from __future__ import annotations

from dataclasses import is_dataclass
from itertools import islice
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, Literal, get_origin

from tokamata.calls.arguments import checked_choice, checked_flag
from tokamata.errors import ArgumentError, SchemaError, SchemaWarning, shown_argument
from tokamata.patterns.json_schema.reader import Options, Reader
from tokamata.patterns.json_schema.report import ReadSchema
from tokamata.patterns.json_schema.slips import Noted, Slip, slip_of, slip_of_root
from tokamata.patterns.json_schema.table import RecordingTable, Table
from tokamata.patterns.json_schema.text import parse_schema
from tokamata.resources.limits import CancelToken, Limits, Watch, checked_limits

if TYPE_CHECKING:
    import referencing

__all__ = ["read_schema"]

Unknown = Literal["warn", "error", "ignore"]
_MOST_JUDGED = 5_000  # keywords that may be slips; a name that is new takes up to 30 µs


def read_schema(
    schema: dict[str, Any] | bool | str | bytes,
    *,
    table: Table,
    formats: Literal["assert", "annotate"] = "assert",
    strict: bool = True,
    registry: referencing.Registry[Any] | None = None,
    unknown: Unknown = "warn",
    limits: Limits | None = None,
    cancel: CancelToken | None = None,
) -> ReadSchema:
    """Writes a JSON Schema into a table.

    Args:
        schema: a schema of draft 4, 6, 7, 2019-09 or 2020-12, which ``$schema`` says (2020-12 where there is
            none); as text, or as what ``json.loads`` makes of one, which nobody changes.
        table: where the nodes are made.
        formats: whether ``format`` says what strings look like, or is an annotation.
        strict: whether what cannot be enforced is an error; otherwise it is left out, which widens what the
            schema means, and the report says so.
        registry: documents that references may lead to; nothing is ever fetched but by it.
        unknown: what becomes of keywords and formats that are not known: :attr:`.ReadSchema.slips` has those
            that are slips (:mod:`.slips`); all of them are errors; or they are ignored.
        limits: ``depth`` bounds how deep the JSON of a schema nests, ``seconds`` how long reading it takes.
        cancel: stops the reading, from another thread.

    Raises:
        SchemaError: it is not a schema, or a reference in it leads nowhere; or ``unknown="error"``, and a
            keyword or a format is not known.
        UnsupportedSchemaError: it says what cannot be enforced, and ``strict`` is set.
        MissingExtraError: it refers to a draft's metaschema, which the extra ``json-schema`` installs.
        LimitExceeded, Cancelled: it nests too deep, or the reading was stopped.
        ArgumentError: an argument is of the wrong type, or says what is not known.
    """
    checked_choice("formats", formats, ("assert", "annotate"))
    checked_choice("unknown", unknown, ("warn", "error", "ignore"))
    checked_flag("strict", strict)
    depth = checked_limits(limits).depth
    watch = Watch(limits, cancel)
    watch.check()
    if isinstance(schema, (str, bytes, bytearray)):
        schema = parse_schema(schema, depth)
    elif not isinstance(schema, (dict, bool)):
        expected = "a dict, a bool, or its JSON text"
        raise ArgumentError("a schema", shown_argument(schema), expected, _advice_on_source(schema))
    if registry is not None and not hasattr(registry, "get_or_retrieve"):
        raise ArgumentError("registry", shown_argument(registry), "a referencing.Registry")
    options = Options(formats == "assert", strict, registry, depth, watch)
    read = _read(schema, table, options, unknown)
    watch.retire()
    return read


def _read(schema: Any, table: Table, options: Options, unknown: Unknown) -> ReadSchema:
    """Reads once, and once more for each sign where that matters."""
    reader = Reader(schema, table, options)
    root = reader.whole()
    slips = _slips(reader, unknown == "error", schema) if reader.noted and unknown != "ignore" else []
    if reader.negated and reader.depends_on_sign:
        if reader.strict:
            Reader(schema, RecordingTable(), options, polar=True).whole()  # finds what may not be negated
        else:
            reader = Reader(schema, table, options, polar=True)
            root = reader.whole()
    return ReadSchema(root, reader, slips)


def _advice_on_source(value: Any) -> str:
    """How to give what is no schema, or ``""``."""
    if isinstance(value, type) or get_origin(value) is not None:
        name = value.__name__ if isinstance(value, type) else "…"
        return f"use tokamata.type({name}) for a Python type"
    if hasattr(type(value), "model_fields") or is_dataclass(value):
        return f"use tokamata.type({type(value).__name__}), with the class and not an object of it"
    if isinstance(value, PurePath):
        return "pass its .read_text()"
    if hasattr(value, "read"):
        return "pass its .read()"
    if callable(value):
        return "call it, and pass the schema that it returns"
    return "a schema for lists is {'type': 'array', 'items': …}" if isinstance(value, list) else ""


def _slips(reader: Reader, refuses: bool, root: Any) -> list[SchemaWarning]:
    """The slips among what the reader noted, each once.

    Raises:
        SchemaError: the first of them, if they are refused.
    """
    found: dict[tuple[str, str], tuple[Noted, Slip, int]] = {}
    for noted in islice(reader.noted, None if refuses else _MOST_JUDGED):
        reader.watch.check()
        slip = slip_of(noted, any_unknown=refuses)
        if slip is None:
            continue
        if refuses:
            raise SchemaError(reader.pointer(noted.schema), noted.keyword, slip.found, slip.expected)
        key = noted.keyword, slip.reason
        first = found.get(key, (noted, slip, 0))
        found[key] = (*first[:2], first[2] + 1)
    whole = slip_of_root(root) if not found else None
    if whole is not None:
        noted = Noted(root, next(iter(root)), reader.noted[0].dialect)
        found = {("", ""): (noted, whole, 1)}
    return [
        SchemaWarning(reader.pointer(noted.schema), noted.keyword, slip.near, slip.reason, count)
        for noted, slip, count in found.values()
    ]
