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
from collections.abc import Iterable
from dataclasses import replace
from os import PathLike
from typing import IO, Any, Literal, NamedTuple, NoReturn, overload

from tokamata.arguments import checked_choice, checked_flag, checked_instance, checked_whole
from tokamata.compat.actions import action, actions
from tokamata.compat.made_up import MadeUp, Path, made_up, shown_path
from tokamata.compat.schema_values import filled_in, missing, proposed, schema_at, strings_for_containers
from tokamata.errors import ArgumentError, LimitExceeded, ParseError, shown_argument
from tokamata.json_constraints import JsonConstraint, json_schema
from tokamata.limits import CancelToken, Limits, Watch, checked_limits
from tokamata.repair.costs import EditCosts, Rewrite
from tokamata.repair.default_costs import DEFAULT_COSTS
from tokamata.repair.results import Edit, Repair
from tokamata.values.forms import Reading

__all__ = ["JSONReturnType", "from_file", "load", "loads", "repair_json"]

JSONReturnType = dict[str, Any] | list[Any] | str | float | int | bool | None
"""A value of JSON."""

SchemaRepairMode = Literal["standard", "salvage"]
Log = list[dict[str, str]]
Logged = tuple[JSONReturnType, Log]

# Weights of the search, and how long each has to prove its answer.  The first is the fastest where a proof is
# near.  Where many edits are needed, it expands a million nodes before it has an answer, and the second has
# one after some thousand.  The third, which goes straight on, is for texts that have no answer by then.
_WEIGHTS = ((2.0, 0.25), (5.0, 1.75))
_LAST_WEIGHT = 30.0
_MOST_LENGTH = 1 << 62
_ORDER_MARK = "\ufeff".encode()
_CONTAINERS = {"type": ["object", "array"]}
# With a schema, a member without a value may have one of any type, and words and numbers stand for booleans.
_ENDS = rb"(?=\s*(?:[,}]|\Z))"
_OF_SCHEMAS = (
    *(
        Rewrite("write a missing value", b":" + _ENDS, b":" + value, 1300)
        for value in (b'""', b"0", b"false", b"[]", b"{}")
    ),
    Rewrite("a word as true", rb'"(?i:true|yes|y|on|1)"', b"true", 2500),
    Rewrite("a word as false", rb'"(?i:false|no|n|off|0)"', b"false", 2500),
    Rewrite("a number as true", rb"(?<=[:\[,\s])1(?:\.0+)?(?=\s*[,}\]])", b"true", 2500),
    Rewrite("a number as false", rb"(?<=[:\[,\s])0(?:\.0+)?(?=\s*[,}\]])", b"false", 2500),
)
_COSTS = replace(DEFAULT_COSTS, rewrites=(*DEFAULT_COSTS.rewrites, *_OF_SCHEMAS))
# To drop an element is cheaper than to write another one, and dearer than any edit that keeps what it says.
_ELEMENT = rb'(?:\{[^{}\[\]]*\}|"(?:[^"\\]|\\.)*"|[^\s\[\]{},:"]+)'
_SALVAGE_COSTS = replace(
    _COSTS,
    rewrites=(
        *_COSTS.rewrites,
        Rewrite("drop an element", rb",\s*" + _ELEMENT + rb"(?=\s*[,\]])", b"", 5500),
        Rewrite("drop an element", rb"(?<=\[)\s*" + _ELEMENT + rb"(?:\s*,|(?=\s*\]))", b"", 5500),
    ),
)
# For the first part of a text without mistakes: nothing but its end is edited.
_CLOSING_COSTS = EditCosts(
    other=1_000_000,
    append=DEFAULT_COSTS.append,
    resume=DEFAULT_COSTS.resume,
    rewrites=[
        one for one in DEFAULT_COSTS.rewrites if one.name in ("drop a last comma", "drop half an escape")
    ],
)
_NONE: Any = object()
# What may be an object or an array: a bracket, a tuple, or members that lack the first bracket.
_CONTAINER = re.compile(rb'[\[{]|\([^()]*,|\A\s*"[^"]*"\s*:[^}\]]*[}\]]')
_MISSING = (b":", b"{", b"[")  # what strict mode does not insert
_STRUCTURE = re.compile(rb'[\[\]{}"]')
_CONTENT = re.compile(rb"[0-9A-Za-z\x80-\xff]")
_PROSE = re.compile(r"prose|comment|fence|ellipsis|escape")  # names of edits that may drop words or marks


class _Options(NamedTuple):
    """The arguments of a call, checked."""

    skips_json_loads: bool
    is_stream: bool
    is_strict: bool
    schema: Any  # None, a bool or a dict
    is_salvage: bool
    limits: Limits
    cancel: CancelToken | None


class _Answer(NamedTuple):
    """A value, and what was done; ``has_value``: whether the text has one."""

    value: Any
    log: Log
    has_value: bool = True


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
    options = _options(
        skip_json_loads, logging, stream_stable, strict, schema, schema_repair_mode, limits, cancel
    )
    return _result(_answer(_checked_text("json_str", json_str), options), logging)


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
    checked_whole("chunk_length", chunk_length, 0, _MOST_LENGTH)
    options = _options(skip_json_loads, logging, False, strict, schema, schema_repair_mode, limits, cancel)
    return _result(_answer(_read("fd", fd), options), logging)


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
    checked_whole("chunk_length", chunk_length, 0, _MOST_LENGTH)
    options = _options(
        skip_json_loads, logging, stream_stable, strict, schema, schema_repair_mode, limits, cancel
    )
    text = _checked_text("json_str", json_str) if json_fd is None else _read("json_fd", json_fd)
    answer = _answer(text, options)
    if logging or return_objects:
        return _result(answer, logging)
    return json.dumps(answer.value, **json_dumps_args) if answer.has_value else ""


def _result(answer: _Answer, logging: bool) -> JSONReturnType | Logged:
    return (answer.value, answer.log) if logging else answer.value


# ---- arguments ----


def _options(
    skip_json_loads: bool,
    logging: bool,
    stream_stable: bool,
    strict: bool,
    schema: Any,
    schema_repair_mode: str,
    limits: Limits | None,
    cancel: CancelToken | None,
) -> _Options:
    flags = {
        "skip_json_loads": skip_json_loads,
        "logging": logging,
        "stream_stable": stream_stable,
        "strict": strict,
    }
    for name, flag in flags.items():
        checked_flag(name, flag)
    checked_choice("schema_repair_mode", schema_repair_mode, ("standard", "salvage"))
    is_salvage = schema_repair_mode == "salvage"
    if schema is None and is_salvage:
        raise ArgumentError("schema_repair_mode", "'salvage'", "'standard' without a schema", "pass schema=")
    if schema is not None and strict:
        hint = "leave out strict: with a schema, a text without a required member is refused anyway"
        raise ArgumentError("strict", "True", "False with a schema", hint)
    return _Options(
        skip_json_loads,
        stream_stable,
        strict,
        _checked_schema(schema),
        is_salvage,
        checked_limits(limits),
        cancel,
    )


def _checked_schema(schema: Any) -> Any:
    if schema is None or isinstance(schema, (bool, dict)):
        return schema
    if isinstance(schema, type) and hasattr(schema, "model_json_schema"):
        return schema.model_json_schema()
    hint = "for other types, use tokamata.type(…).repair(text).value"
    raise ArgumentError("schema", shown_argument(schema), "a JSON Schema, or a model of pydantic 2", hint)


def _checked_text(argument: str, text: Any) -> str | bytes:
    checked_instance(argument, text, (str, bytes, bytearray, memoryview), "a str, or bytes")
    return text if isinstance(text, str) else bytes(text)


def _read(argument: str, file: Any) -> str | bytes:
    if not hasattr(file, "read"):
        raise ArgumentError(argument, shown_argument(file), "a file that can be read")
    return _checked_text(f"{argument}.read()", file.read())


# ---- the answer ----


def _answer(text: str | bytes, options: _Options) -> _Answer:
    parsed = None if options.skips_json_loads else _parsed(text)
    if options.schema is not None:
        return _under_schema(text, parsed, options)
    if parsed is not None:
        return _Answer(parsed[0], [])
    broken = _bytes_of(text)
    found = _repaired(broken, options) if _CONTAINER.search(broken) else None
    lacking = _made_up(found) if found is not None else []
    if found is None or any(not one.path for one in lacking):
        return _Answer("", [], has_value=False)
    if options.is_strict:
        _refuse_if_strict(found, lacking)
    log = actions(broken, found.edits)
    return _Answer(_without_made_up(found.value, lacking, options.is_stream, log), log)


def _repaired(broken: bytes, options: _Options) -> Repair[Any]:
    """The repair of a text without a schema; of the first part of a text, its end alone if that suffices."""
    constraint, costs = _constraint(_CONTAINERS, options), DEFAULT_COSTS
    if options.is_stream:
        reading = Reading(constraint.pattern, options.limits, options.cancel)
        if constraint._refused_at("read", broken, reading) == len(broken):
            costs = _CLOSING_COSTS
    return _found(constraint, broken, options, costs)


def _parsed(text: str | bytes) -> tuple[Any] | None:
    """What ``json.loads`` makes of a text; ``None`` if it refuses it."""
    try:
        return (json.loads(text),)
    except (ValueError, RecursionError):
        return None


def _bytes_of(text: str | bytes) -> bytes:
    """A text as UTF-8, without a byte order mark; half of a surrogate pair is U+FFFD."""
    if isinstance(text, bytes):
        return text.removeprefix(_ORDER_MARK)
    try:
        return text.encode().removeprefix(_ORDER_MARK)
    except UnicodeEncodeError:
        pairs = text.encode("utf-16-le", "surrogatepass")
        return pairs.decode("utf-16-le", "replace").encode().removeprefix(_ORDER_MARK)


def _constraint(schema: Any, options: _Options) -> JsonConstraint[Any]:
    """Of equal schemas it is the same one, with the automaton of the repairs before."""
    return json_schema(
        schema,
        property_order="any",
        whitespace="any",
        spelling="any",
        formats="annotate",
        strict=False,
        unknown="ignore",
        limits=options.limits,
        cancel=options.cancel,
    )


def _found(
    constraint: JsonConstraint[Any], broken: bytes, options: _Options, costs: EditCosts = DEFAULT_COSTS
) -> Repair[Any]:
    """The cheapest repair; where that takes longer than two seconds, the best or the first one."""
    limits, cancel, best = options.limits, options.cancel, None
    for weight, seconds in _WEIGHTS:
        found = constraint.repair(
            broken, costs=costs, weight=weight, deadline_seconds=seconds, limits=limits, cancel=cancel
        )
        if best is None or found.cost < best.cost or found.optimal:
            best = found
        if found.optimal:
            break
    assert best is not None
    if _gave_up(best):
        best = next(
            constraint.repairs(broken, costs=costs, weight=_LAST_WEIGHT, limits=limits, cancel=cancel)
        )
        if _gave_up(best):
            raise LimitExceeded("seconds", limits.seconds)
    return best


def _gave_up(found: Repair[Any]) -> bool:
    """Whether the answer is the one that removes the whole text because the time was over."""
    return found.first_feasible_us is None and not found.optimal


def _made_up(found: Repair[Any]) -> list[MadeUp]:
    return made_up(found.text.encode(), found.edits) if found.edits else []


def _refuse_if_strict(found: Repair[Any], lacking: list[MadeUp]) -> None:
    if lacking:
        _refuse(f"one that lacks the value of {shown_path(lacking[0].path)}")
    for edit in found.edits:
        if edit.name == "insert" and edit.written in _MISSING:
            _refuse(f"one that lacks {edit.written.decode()!r} at byte {edit.begin}")
        if not _PROSE.search(edit.name) and _loses(edit):
            _refuse(
                f"one with {edit.removed.decode('utf-8', 'replace')[:40]!r} at byte {edit.begin}, in excess"
            )

    def checked(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        names = dict(pairs)
        if len(names) < len(pairs):
            _refuse("one with a repeated name")
        if "" in names:
            _refuse("one with an empty name")
        return names

    json.loads(found.text, object_pairs_hook=checked)


def _loses(edit: Edit) -> bool:
    """Whether an edit drops content, or a mark of structure."""
    if edit.name == "remove":
        return bool(_STRUCTURE.search(edit.removed) or _CONTENT.search(edit.removed))
    return len(_STRUCTURE.findall(edit.removed)) > len(_STRUCTURE.findall(edit.written))


def _refuse(what: str) -> NoReturn:
    hint = "pass strict=False, or decide by the edits of tokamata.json().repair(text)"
    raise ArgumentError("json_str", what, "a text that strict=True admits", hint)


# ---- what was made up ----


def _without_made_up(value: Any, lacking: list[MadeUp], is_stream: bool, log: Log) -> Any:
    """The value with ``""`` in place of what was made up; without it, where nobody has named it."""
    for one in reversed(lacking):  # so that indices before stay
        *outer, last = one.path
        container = _at(value, outer)
        if not one.has_name or (is_stream and one.is_last):
            del container[last]
            log.append(action(f"dropped {shown_path(one.path)}, which has no value"))
        else:
            container[last] = ""
            log.append(action(f"wrote '' as the value of {shown_path(one.path)}, which has none"))
    return value


# ---- with a schema ----


def _under_schema(text: str | bytes, parsed: tuple[Any] | None, options: _Options) -> _Answer:
    """The value of a text under a schema.

    The cheapest JSON text is also the cheapest that the schema accepts, if it accepts it.  Otherwise the
    search is made again with the schema.
    """
    constraint = _constraint(options.schema, options)
    costs = _SALVAGE_COSTS if options.is_salvage else _COSTS
    log: Log = []
    if parsed is None:
        broken = _bytes_of(text)
        plain = _found(_constraint(True, options), broken, options)
        log += actions(broken, plain.edits)
        if not _made_up(plain):
            value = _unwrapped(plain.value, options, log)
            if _accepts(constraint, value, options):
                return _with_defaults(constraint, value, options, log)
        try:
            found = _found(constraint, broken, options, costs)
            log.clear()
        except LimitExceeded:
            parsed = (plain.value,)  # its members, at least, are known
    if parsed is not None:
        # The last of names that stand twice counts, as for json.loads.
        value = _with_required(_unwrapped(parsed[0], options, log), options, log)
        broken = json.dumps(value).encode()
        found = _found(constraint, broken, options, costs)
        if not found.edits and not log:
            return _Answer(value, [])
    log += actions(broken, found.edits)
    value = found.value
    for one in _made_up(found):
        if one.lost:
            _refuse_value(one)
        is_missing = not one.has_name and not (one.path and isinstance(one.path[-1], int))
        if is_missing and not (one.path and options.is_salvage):
            _refuse_missing(one.path, options.is_salvage)
        if not _proposal_taken(constraint, value, one.path, is_missing, options, log) and is_missing:
            _refuse_missing(one.path, options.is_salvage)
    return _with_defaults(constraint, value, options, log)


def _unwrapped(value: Any, options: _Options, log: Log) -> Any:
    """A value in which JSON within a string is itself, where the schema wants an object or an array."""
    for path in strings_for_containers(options.schema, value):
        inner = _at(value, path)
        parsed = _parsed(inner)
        if parsed is None and options.is_salvage and _CONTAINER.match(inner.encode("utf-8", "replace")):
            parsed = (_answer(inner, options._replace(schema=None)).value,)
        if parsed is None or not isinstance(parsed[0], (dict, list)):
            continue
        log.append(action(f"read the JSON in the string at {shown_path(path)}"))
        if not path:
            return parsed[0]
        *outer, last = path
        _at(value, outer)[last] = parsed[0]
    return value


def _with_required(value: Any, options: _Options, log: Log) -> Any:
    """A value with the required members that it lacks, where no name in it can be meant.

    The search would make them up as well.  To write a member where the text has none is dear, so that all
    cheaper edits would be searched before.
    """
    for path in missing(options.schema, value):
        proposals = proposed(options.schema, schema_at(options.schema, path), is_safe=True)
        proposal = next(proposals, _NONE) if options.is_salvage else _NONE
        if proposal is _NONE:
            _refuse_missing(path, options.is_salvage)
        *outer, last = path
        _at(value, outer)[last] = proposal
        log.append(action(f"wrote {proposal!r:.60} as the value of {shown_path(path)}"))
    return value


def _proposal_taken(
    constraint: JsonConstraint[Any], value: Any, path: Path, is_safe: bool, options: _Options, log: Log
) -> bool:
    """Whether the schema proposes another value for one that was made up, and accepts it there."""
    if not path:
        return False
    *outer, last = path
    container, repaired = _at(value, outer), _at(value, path)
    for container[last] in proposed(options.schema, schema_at(options.schema, path), is_safe=is_safe):
        if _accepts(constraint, value, options):
            log.append(action(f"wrote {container[last]!r:.60} as the value of {shown_path(path)}"))
            return True
    container[last] = repaired
    return False


def _with_defaults(constraint: JsonConstraint[Any], value: Any, options: _Options, log: Log) -> _Answer:
    added = filled_in(options.schema, value, Watch(options.limits, options.cancel))
    if added and not _accepts(constraint, value, options):
        for *outer, last in reversed(added):
            _at(value, outer).pop(last, None)
        added = []
    log += [action(f"filled in the default of {shown_path(path)}") for path in added]
    return _Answer(value, log)


def _refuse_value(one: MadeUp) -> NoReturn:
    lost = one.lost.decode("utf-8", "replace")[:40]
    hint = "use tokamata.json_schema(schema).repair(text), which replaces it and shows that in its edits"
    found = f"one with {lost!r} at {shown_path(one.path)}"
    raise ArgumentError("json_str", found, "a text whose values fit the schema", hint)


def _refuse_missing(path: Path, is_salvage: bool) -> NoReturn:
    hint = "use tokamata.json_schema(schema).repair(text), which makes it up and shows that in its edits"
    if path and not is_salvage:
        hint = f'pass schema_repair_mode="salvage" if the schema names a value, or {hint}'
    found = f"one without {shown_path(path)}" if path else "one without a value"
    raise ArgumentError("json_str", found, "a text with all required members", hint)


def _accepts(constraint: JsonConstraint[Any], value: Any, options: _Options) -> bool:
    try:
        constraint.parse(json.dumps(value), limits=options.limits, cancel=options.cancel)
    except ParseError:
        return False
    return True


def _at(value: Any, path: Iterable[str | int]) -> Any:
    for step in path:
        value = value[step]
    return value
