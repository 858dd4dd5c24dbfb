"""The functions of json_repair 0.64, over :meth:`tokamata.Constraint.repair`.

    from tokamata.compat import json_repair

    json_repair.loads('{"names": ["Ada",], "ok": tru')     # {'names': ['Ada'], 'ok': True}

Names, arguments and kinds of results are those of json_repair; values are those of the nearest JSON text.
Where a text has several mistakes or an unusual one, the two libraries may take it differently.
``docs/repair.md`` has the differences.

Valid JSON is what ``json.loads`` makes of it, unless ``skip_json_loads`` is set: of names that stand twice
the last one counts, and ``NaN`` and ``1e999`` are floats.  Any other text becomes an object or an array.  A
text without brackets has neither; its value is ``""``.

What a text lacks is made up as json_repair does it.  A member without a value gets ``""``; with a schema, it
gets the default that the schema names, or an empty value of its type.  A required member that is missing
altogether is an error; ``schema_repair_mode="salvage"`` makes it up if the schema names a value.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from os import PathLike
from typing import IO, Any, Literal, overload

from tokamata.calls.arguments import checked_flag, checked_instance
from tokamata.compat.actions import action, actions
from tokamata.compat.json_spans import shown_path
from tokamata.compat.made_up import MadeUp, rewritten
from tokamata.compat.options import Answer, Options, SchemaRepairMode, checked_options, checked_text, read
from tokamata.compat.searches import (
    CLOSING_COSTS,
    PLAIN_COSTS,
    bytes_of,
    found_repair,
    json_grammar,
    made_up_in,
    parsed_json,
    value_of,
)
from tokamata.compat.strict import refuse_if_strict
from tokamata.compat.under_schema import answer_under_schema
from tokamata.repair.results import Repair
from tokamata.resources.limits import CancelToken, Limits
from tokamata.values.forms import Reading

__all__ = ["JSONReturnType", "from_file", "load", "loads", "repair_json"]

JSONReturnType = dict[str, Any] | list[Any] | str | float | int | bool | None
"""A value of JSON."""

Log = list[dict[str, str]]
Logged = tuple[JSONReturnType, Log]
"""A value, and what was done."""

# What may be an object or an array: a bracket, a tuple, or members that lack the first bracket.
_CONTAINER = re.compile(rb'[\[{]|\([^()]*,|\A\s*"[^"]*"\s*:[^}\]]*[}\]]')


def loads(
    json_str: str | bytes,
    skip_json_loads: bool = False,
    logging: bool = False,
    stream_stable: bool = False,
    strict: bool = False,
    schema: Any | None = None,
    schema_repair_mode: SchemaRepairMode = "standard",
    *,
    limits: Limits | None = None,
    cancel: CancelToken | None = None,
) -> JSONReturnType | Logged:
    """The value of a text that may be broken JSON.

        json_repair.loads("{'a': 1")                 # {'a': 1}
        json_repair.loads("[1", logging=True)        # ([1], [{'text': "inserted ']'", 'context': '[1'}])

    The same as :func:`repair_json` with ``return_objects=True``, which has the arguments and the errors.

    Raises:
        ArgumentError: an argument has another type or value, or the text is refused.
        SchemaError, EmptyConstraintError: as there.
        LimitExceeded, Cancelled: the work was stopped before there was an answer.
    """
    options = checked_options(
        skip_json_loads, logging, stream_stable, strict, schema, schema_repair_mode, limits, cancel
    )
    return _result(_answer(checked_text("json_str", json_str), options), logging)


def load(
    fd: IO[str] | IO[bytes],
    skip_json_loads: bool = False,
    logging: bool = False,
    chunk_length: int = 0,
    strict: bool = False,
    schema: Any | None = None,
    schema_repair_mode: SchemaRepairMode = "standard",
    *,
    limits: Limits | None = None,
    cancel: CancelToken | None = None,
) -> JSONReturnType | Logged:
    """The value of what a file has from its position on.

    Args:
        fd: a file, opened as text or as bytes.
        chunk_length: has no effect: a file is read at once.
        skip_json_loads, logging, strict, schema, schema_repair_mode, limits, cancel: see :func:`repair_json`.

    Raises:
        OSError: the file cannot be read.
        ArgumentError: an argument has another type or value, or the text is refused.
        SchemaError, EmptyConstraintError: as for :func:`repair_json`.
        LimitExceeded, Cancelled: the work was stopped before there was an answer.
    """
    options = checked_options(
        skip_json_loads, logging, False, strict, schema, schema_repair_mode, limits, cancel, chunk_length
    )
    return _result(_answer(read("fd", fd), options), logging)


def from_file(
    filename: str | PathLike[str],
    skip_json_loads: bool = False,
    logging: bool = False,
    chunk_length: int = 0,
    strict: bool = False,
    schema: Any | None = None,
    schema_repair_mode: SchemaRepairMode = "standard",
    *,
    limits: Limits | None = None,
    cancel: CancelToken | None = None,
) -> JSONReturnType | Logged:
    """The value of a file; :func:`load` has the arguments and the errors.

    Raises:
        OSError: the file cannot be read.
        ArgumentError: an argument has another type or value, or the text is refused.
        SchemaError, EmptyConstraintError: as for :func:`repair_json`.
        LimitExceeded, Cancelled: the work was stopped before there was an answer.
    """
    checked_instance("filename", filename, (str, PathLike), "a path")
    with open(filename, "rb") as file:
        return load(
            file,
            skip_json_loads,
            logging,
            chunk_length,
            strict,
            schema,
            schema_repair_mode,
            limits=limits,
            cancel=cancel,
        )


@overload
def repair_json(
    json_str: str | bytes = "",
    return_objects: Literal[False] = False,
    skip_json_loads: bool = False,
    logging: Literal[False] = False,
    json_fd: IO[str] | IO[bytes] | None = None,
    chunk_length: int = 0,
    stream_stable: bool = False,
    strict: bool = False,
    schema: Any | None = None,
    schema_repair_mode: SchemaRepairMode = "standard",
    *,
    limits: Limits | None = None,
    cancel: CancelToken | None = None,
    **json_dumps_args: Any,
) -> str: ...
@overload
def repair_json(
    json_str: str | bytes = "",
    return_objects: bool = False,
    skip_json_loads: bool = False,
    *,
    logging: Literal[True],
    json_fd: IO[str] | IO[bytes] | None = None,
    chunk_length: int = 0,
    stream_stable: bool = False,
    strict: bool = False,
    schema: Any | None = None,
    schema_repair_mode: SchemaRepairMode = "standard",
    limits: Limits | None = None,
    cancel: CancelToken | None = None,
    **json_dumps_args: Any,
) -> Logged: ...
@overload
def repair_json(
    json_str: str | bytes = "",
    *,
    return_objects: Literal[True],
    skip_json_loads: bool = False,
    logging: Literal[False] = False,
    json_fd: IO[str] | IO[bytes] | None = None,
    chunk_length: int = 0,
    stream_stable: bool = False,
    strict: bool = False,
    schema: Any | None = None,
    schema_repair_mode: SchemaRepairMode = "standard",
    limits: Limits | None = None,
    cancel: CancelToken | None = None,
    **json_dumps_args: Any,
) -> JSONReturnType: ...
@overload
def repair_json(
    json_str: str | bytes = "",
    return_objects: bool = False,
    skip_json_loads: bool = False,
    logging: bool = False,
    json_fd: IO[str] | IO[bytes] | None = None,
    chunk_length: int = 0,
    stream_stable: bool = False,
    strict: bool = False,
    schema: Any | None = None,
    schema_repair_mode: SchemaRepairMode = "standard",
    *,
    limits: Limits | None = None,
    cancel: CancelToken | None = None,
    **json_dumps_args: Any,
) -> JSONReturnType | Logged: ...
def repair_json(
    json_str: str | bytes = "",
    return_objects: bool = False,
    skip_json_loads: bool = False,
    logging: bool = False,
    json_fd: IO[str] | IO[bytes] | None = None,
    chunk_length: int = 0,
    stream_stable: bool = False,
    strict: bool = False,
    schema: Any | None = None,
    schema_repair_mode: SchemaRepairMode = "standard",
    *,
    limits: Limits | None = None,
    cancel: CancelToken | None = None,
    **json_dumps_args: Any,
) -> JSONReturnType | Logged:
    """A text that may be broken JSON, as JSON.

        json_repair.repair_json("{'a': 'é'")                              # '{"a": "\\u00e9"}'
        json_repair.repair_json("{'a': 'é'", ensure_ascii=False)          # '{"a": "é"}'
        json_repair.repair_json("[1, 2,, 3", return_objects=True)         # [1, 2, 3]

    Args:
        json_str: the text; bytes that are not UTF-8 are repaired too.
        return_objects: whether to return the value.  Otherwise it is written by ``json.dumps``; ``""`` where
            the text has no value.
        skip_json_loads: whether a text that is valid JSON is searched like any other.  Texts that
            ``json.loads`` alone accepts, such as ``NaN``, are then repaired.
        logging: whether to return a tuple: the value, and a list of what was done.  Each entry has a
            ``"text"``, and as ``"context"`` the part of ``json_str`` around it.
        json_fd: a file to read in place of ``json_str``.
        chunk_length: has no effect: a file is read at once.
        stream_stable: whether the text is the first part of one that is still being written.  A member
            appears when its value begins, and what follows only adds to the last value.  This holds for
            texts without mistakes; a mistake may be taken differently once more of the text is known.
        strict: whether to refuse texts that lack a name, a value or a colon, that repeat a name, or that
            have more than one value.  Dialects, commas, comments and missing closing brackets are repaired.
        schema: a JSON Schema, or a model of pydantic 2; ``format`` is an annotation.  The value is valid.
            Values are those of JSON, also for a model.
        schema_repair_mode: what becomes of a required member that is missing: ``"standard"`` refuses the
            text; ``"salvage"`` takes a default, a constant, the first of an ``enum``, or an empty container.
            Both make the same edits elsewhere.
        limits: bounds on the search; after two seconds it ends with the best answer, if there is one.
        cancel: stops the search, from another thread.
        json_dumps_args: for ``json.dumps``.

    Raises:
        ArgumentError: an argument has another type or value; ``strict`` refuses the text; or it lacks a
            required member.
        OSError: the file cannot be read.
        SchemaError: the schema is not one.
        EmptyConstraintError: it accepts no value.
        LimitExceeded, Cancelled: the work was stopped before there was an answer.
    """
    checked_flag("return_objects", return_objects)
    options = checked_options(
        skip_json_loads,
        logging,
        stream_stable,
        strict,
        schema,
        schema_repair_mode,
        limits,
        cancel,
        chunk_length,
    )
    text = checked_text("json_str", json_str) if json_fd is None else read("json_fd", json_fd)
    answer = _answer(text, options)
    if logging or return_objects:
        return _result(answer, logging)
    return json.dumps(answer.value, **json_dumps_args) if answer.has_value else ""


def _result(answer: Answer, logging: bool) -> JSONReturnType | Logged:
    return (answer.value, answer.log) if logging else answer.value


def _answer(text: str | bytes, options: Options) -> Answer:
    parsed = None if options.skips_json_loads else parsed_json(text)
    if options.schema is not None:
        return answer_under_schema(text, parsed, options)
    if parsed is not None:
        return Answer(parsed[0], [])
    broken = bytes_of(text)
    found = _repaired(broken, options) if _CONTAINER.search(broken) else None
    lacking = made_up_in(found) if found is not None else []
    if found is None or any(not one.path for one in lacking):
        return Answer("", [], has_value=False)
    if options.is_strict:
        refuse_if_strict(found, lacking)
    log = actions(broken, found.edits) if options.is_logged else []
    return Answer(_without_made_up(found, lacking, options, log), log)


def _repaired(broken: bytes, options: Options) -> Repair[Any]:
    """The repair of a text; of the first part of a text without mistakes, its end alone is edited."""
    constraint, costs = json_grammar(options), PLAIN_COSTS
    if options.is_stream:
        reading = Reading(constraint.pattern, *options.watch.within(options.watch.limits))
        if constraint._refused_at("read", broken, reading) == len(broken):
            costs = CLOSING_COSTS
    return found_repair(constraint, broken, options, costs)


def _without_made_up(found: Repair[Any], lacking: Sequence[MadeUp], options: Options, log: Log) -> Any:
    """The value with ``""`` in place of what was made up; without it, where nobody has named it.

    The text is changed and not its value: of a name that stands twice, the value has one member.
    """
    if not lacking:
        return value_of(found.text)
    values: list[tuple[MadeUp, bytes | None]] = []
    for one in lacking:
        is_dropped = not one.has_name or (options.is_stream and one.is_last)
        values.append((one, None if is_dropped else b'""'))
        if options.is_logged:
            what = "dropped it" if is_dropped else "wrote ''"
            log.append(action(f"no value of {shown_path(one.path)}: {what}"))
    return value_of(rewritten(found.text.encode(), values).decode())
