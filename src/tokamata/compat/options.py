"""The arguments that the functions of json_repair share, checked, and what they return."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

from tokamata.calls.arguments import checked_choice, checked_flag, checked_instance, checked_whole
from tokamata.errors import ArgumentError, shown_argument
from tokamata.resources.limits import CancelToken, Limits, Watch

__all__ = [
    "Answer",
    "Options",
    "SchemaRepairMode",
    "checked_options",
    "checked_text",
    "read",
]

SchemaRepairMode = Literal["standard", "salvage"]
_MODES = ("standard", "salvage")
_MOST_LENGTH = 1 << 62  # any; the argument has no effect


class Options(NamedTuple):
    """The arguments of a call.

    Attributes:
        skips_json_loads, is_logged, is_stream, is_strict: flags.
        schema: a ``bool`` or a ``dict``; ``None``: there is none.
        is_salvage: whether a required member may be made up, and an element dropped.
        watch: the limits of the call as a whole, from now on.
    """

    skips_json_loads: bool
    is_logged: bool
    is_stream: bool
    is_strict: bool
    schema: Any
    is_salvage: bool
    watch: Watch


class Answer(NamedTuple):
    """A value, what was done, and whether the text has a value."""

    value: Any
    log: list[dict[str, str]]
    has_value: bool = True


def checked_options(
    skip_json_loads: bool,
    logging: bool,
    stream_stable: bool,
    strict: bool,
    schema: Any,
    schema_repair_mode: str,
    limits: Limits | None,
    cancel: CancelToken | None,
    chunk_length: int = 0,
) -> Options:
    """The options, or an :class:`.ArgumentError`."""
    flags = {
        "skip_json_loads": skip_json_loads,
        "logging": logging,
        "stream_stable": stream_stable,
        "strict": strict,
    }
    for name, flag in flags.items():
        checked_flag(name, flag)
    checked_whole("chunk_length", chunk_length, 0, _MOST_LENGTH)
    checked_choice("schema_repair_mode", schema_repair_mode, _MODES)
    is_salvage = schema_repair_mode == "salvage"
    if schema is None and is_salvage:
        raise ArgumentError("schema_repair_mode", "'salvage'", "'standard' without a schema", "pass schema=")
    if schema is not None and strict:
        hint = "leave out strict: with a schema, a text without a required member is refused anyway"
        raise ArgumentError("strict", "True", "False with a schema", hint)
    return Options(
        skip_json_loads,
        logging,
        stream_stable,
        strict,
        _checked_schema(schema),
        is_salvage,
        Watch(limits, cancel),
    )


def _checked_schema(schema: Any) -> Any:
    if schema is None or isinstance(schema, (bool, dict)):
        return schema
    if isinstance(schema, type) and hasattr(schema, "model_json_schema"):
        return schema.model_json_schema()
    hint = "for other types, use tokamata.type(…).repair(text).value"
    raise ArgumentError("schema", shown_argument(schema), "a JSON Schema, or a model of pydantic 2", hint)


def checked_text(argument: str, text: Any) -> str | bytes:
    """A text, or an :class:`.ArgumentError`."""
    checked_instance(argument, text, (str, bytes, bytearray, memoryview), "a str, or bytes")
    return text if isinstance(text, str) else bytes(text)


def read(argument: str, file: Any) -> str | bytes:
    """What a file has from its position on."""
    if not hasattr(file, "read"):
        raise ArgumentError(argument, shown_argument(file), "a file that can be read")
    return checked_text(f"{argument}.read()", file.read())
