"""Constraints from the shapes that applications already use: response formats, and tools to call.

    tk.response_format({"type": "json_schema", "json_schema": {"name": "point", "schema": {...}}})
    tk.tool_call([{"type": "function", "function": {"name": "weather", "parameters": {...}}}, forecast])

Both read the schemas within them as :func:`tokamata.json_schema` does.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import tokamata._core as _core
from tokamata.calls.arguments import clipped
from tokamata.calls.equal_calls import read_once
from tokamata.calls.keywords import checked_call
from tokamata.calls.recipes import copied
from tokamata.calls.schema_places import within
from tokamata.constraints.constraint import Constraint
from tokamata.constraints.form_members import found, object_of
from tokamata.constraints.json_constraints import JsonConstraint, constraint_of_schema
from tokamata.constraints.json_options import (
    Formats,
    JsonOptions,
    PropertyOrder,
    Spelling,
    Unknown,
    Whitespace,
)
from tokamata.constraints.tagged_constraints import TaggedConstraint
from tokamata.constraints.text_constraints import regex
from tokamata.errors import ArgumentError, ParseError, SchemaError, shown_argument
from tokamata.patterns.json_schema.table import OBJECT
from tokamata.patterns.json_schema.text import read_json, shown
from tokamata.patterns.python_types.reading import TypeReader
from tokamata.patterns.python_types.schema import schema_of_shape
from tokamata.patterns.python_types.shapes import Record
from tokamata.patterns.python_types.values import value_of_member, value_of_text
from tokamata.patterns.tagged import STYLES

if TYPE_CHECKING:
    from tokamata.resources.limits import CancelToken, Limits

__all__ = ["Tool", "ToolCall", "arguments_of", "read_tools", "response_format", "tool_call", "tool_list"]

_SCHEMA_KEYWORDS = ("parameters", "inputSchema", "input_schema")  # of OpenAI, MCP, Anthropic


class ToolCall(NamedTuple):
    """A call of a tool: the value of a text of :func:`tool_call`.

    Attributes:
        name: which tool.
        arguments: by name; converted to the types of a Python function, and as ``json.loads`` gives them for
            a tool that is described by a schema.
    """

    name: str
    arguments: dict[str, Any]


class Tool(NamedTuple):
    """A tool, however it was given.

    Attributes:
        name: how it is called.
        place: JSON Pointer to the schema of its arguments.
        schema: that schema.
        shape: its arguments, where it is a Python function.
    """

    name: str
    place: str
    schema: Any
    shape: Record | None


@checked_call
@read_once
def response_format(
    given: Mapping[str, Any],
    *,
    property_order: PropertyOrder = "schema",
    whitespace: Whitespace = "natural",
    spelling: Spelling = "natural",
    formats: Formats = "assert",
    strict: bool = True,
    unknown: Unknown = "warn",
    limits: Limits | None = None,
    cancel: CancelToken | None = None,
) -> Constraint[Any]:
    """The texts that a ``response_format`` of OpenAI's interface describes.

    ======================================================  =====================================
    ``{"type": "json_schema", "json_schema": {"schema"…}}``  what :func:`json_schema` makes of it
    ``{"type": "json_object"}``                             any JSON object
    ``{"type": "text"}``                                    any text
    ======================================================  =====================================

    The flat form of its newer interface, with ``"schema"`` beside ``"type"``, is read too.  ``"name"``,
    ``"description"`` and ``"strict"`` change nothing: every schema is enforced in full.

    Args:
        given: the response format.
        property_order, whitespace, spelling, formats, strict, unknown, limits, cancel: as for
            :func:`json_schema`.

    Raises:
        SchemaError: it is not a response format, or its schema is not one; the pointer starts at its root.
        UnsupportedSchemaError, LimitExceeded, Cancelled: as for :func:`json_schema`.
    """
    options = JsonOptions(property_order, whitespace, spelling, formats, strict, limits, cancel, unknown)
    given = copied(given)
    kind = object_of(given, "", "a response format: an object").get("type")
    if kind == "text":
        return regex("(?s:.*)")
    if kind == "json_object":
        return constraint_of_schema({"type": "object"}, options)
    if kind != "json_schema":
        expected = '"json_schema", "json_object" or "text"'
        raise SchemaError("", "type", found(given, "type"), expected)
    place, inner = "", given
    if "schema" not in given:
        place, inner = "/json_schema", object_of(given.get("json_schema"), "/json_schema", "an object")
    if "schema" not in inner:
        raise SchemaError(place, "schema", "missing", "a JSON Schema")
    with within(f"{place}/schema"):
        return constraint_of_schema(inner["schema"], options)


@checked_call
@read_once
def tool_call(
    tools: Mapping[str, Any] | Callable[..., Any] | Sequence[Mapping[str, Any] | Callable[..., Any]],
    *,
    property_order: PropertyOrder = "schema",
    whitespace: Whitespace = "natural",
    spelling: Spelling = "natural",
    formats: Formats = "assert",
    strict: bool = True,
    unknown: Unknown = "warn",
    limits: Limits | None = None,
    cancel: CancelToken | None = None,
) -> JsonConstraint[ToolCall]:
    """A call of one of some tools, as JSON: ``{"name": "weather", "arguments": {"city": "Bern"}}``.

    :meth:`JsonConstraint.parse` makes a :class:`ToolCall` of it.

    Args:
        tools: one, or a list; each as OpenAI's interface has it, ``{"type": "function", "function":
            {"name": …, "parameters": …}}``; its inner object alone; as MCP has it, with ``"inputSchema"``; or
            a Python function with annotations.  A tool without a schema takes no arguments.
        property_order, whitespace, spelling, formats, strict, unknown, limits, cancel: as for
            :func:`json_schema`.

    Raises:
        SchemaError: one of them is not a tool, or its schema is not one; the pointer starts at the list.
        UnsupportedTypeError: a function has arguments of types that JSON cannot write.
        UnsupportedSchemaError, LimitExceeded, Cancelled: as for :func:`json_schema`.
        ArgumentError: there is no tool, two have one name, or an option does not exist.
    """
    options = JsonOptions(property_order, whitespace, spelling, formats, strict, limits, cancel, unknown)
    given = tool_list(tools)
    by_name = read_tools(given, options)
    table = _core.ValueTable()
    calls = []
    for tool in by_name.values():
        with within(tool.place):
            reading = options.read(tool.schema, table)
        arguments = table.all_of([table.types(OBJECT), reading.root])
        parts = [table.types(OBJECT), table.property("name", table.constant(tool.name)), table.has("name")]
        parts += [table.property("arguments", arguments), table.has("arguments")]
        parts.append(table.others(["name", "arguments"], [], table.no_value()))
        calls.append(table.all_of(parts))
    root = calls[0] if len(calls) == 1 else table.any_of(calls)

    def read(text: str) -> ToolCall:
        return _call_of(text, by_name)

    made: JsonConstraint[ToolCall] = JsonConstraint(
        table, root, options.style, clipped(f"tool_call([{', '.join(by_name)}])"), reader=read
    )
    return made._made_by(tool_call, given, **options.given())


def tool_list(tools: Any) -> list[Any]:
    """A list of tools that the caller cannot change, of what :func:`tool_call` takes."""
    if isinstance(tools, Mapping) or callable(tools):
        tools = [tools]
    if isinstance(tools, (str, bytes)) or not isinstance(tools, Sequence):
        raise ArgumentError("tools", shown_argument(tools), "a tool, or a list of tools")
    copies: list[Any] = copied([*tools])
    return copies


def read_tools(tools: list[Any], options: JsonOptions) -> dict[str, Tool]:
    """Tools by name, of a :func:`tool_list`; raises as :func:`tool_call` does."""
    known = [_tool(tool, index, options) for index, tool in enumerate(tools)]
    if not known:
        raise ArgumentError("tools", "an empty one", "a list of at least one tool")
    by_name = {tool.name: tool for tool in known}
    if len(by_name) < len(known):
        names = [tool.name for tool in known]
        twice = next(name for name in names if names.count(name) > 1)
        raise ArgumentError("tools", f"two with the name {twice!r:.80}", "tools of different names")
    return by_name


def arguments_of(tool: Tool, options: JsonOptions, style: str = "json") -> Constraint[Any]:
    """The arguments of a tool, converted to the types of a Python function.

    Args:
        tool: the tool.
        options: how its schema is read, and how values are written.
        style: ``"json"``, or the name of a style of tags.
    """
    reader = read_json if tool.shape is None else functools.partial(value_of_text, tool.shape)
    table = _core.ValueTable()
    reading = options.read(tool.schema, table)
    root = table.all_of([table.types(OBJECT), reading.root])
    name = clipped(f"arguments of {tool.name}")
    if style == "json":
        return JsonConstraint(table, root, options.style, name, reading, reader)
    return TaggedConstraint(table, root, STYLES[style], options, name, reading, reader)


def _call_of(text: str, tools: dict[str, Tool]) -> ToolCall:
    """The call that a text stands for."""
    call = read_json(text)
    if not isinstance(call, dict) or call.keys() != {"name", "arguments"}:
        raise ParseError("", f"there is {shown(call)}; expected an object of name and arguments")
    tool = tools.get(call["name"]) if isinstance(call["name"], str) else None
    if tool is None:
        raise ParseError("/name", f"there is {shown(call['name'])}; expected the name of a tool")
    if tool.shape is None:
        return ToolCall(tool.name, call["arguments"])
    return ToolCall(tool.name, value_of_member(tool.shape, text, "arguments"))


def _tool(given: Any, index: int, options: JsonOptions) -> Tool:
    """A tool in any of its forms."""
    place = f"/{index}"
    if callable(given) and not isinstance(given, Mapping):
        shape = TypeReader(options.strict).read(given)
        if not isinstance(shape, Record):
            raise SchemaError(place, "", shape.described, "a function, or an object that describes a tool")
        return Tool(
            shape.name, place, schema_of_shape(shape, asserts_formats=options.formats == "assert"), shape
        )
    tool = object_of(given, place, "a tool: an object, or a function")
    if "function" in tool:
        place += "/function"
        tool = object_of(tool["function"], place, "an object")
    name = tool.get("name")
    if not isinstance(name, str) or not name:
        raise SchemaError(place, "name", found(tool, "name"), "the name of the tool")
    for keyword in _SCHEMA_KEYWORDS:
        if tool.get(keyword) is not None:
            return Tool(name, f"{place}/{keyword}", tool[keyword], None)
    return Tool(name, place, {"type": "object", "additionalProperties": False}, None)
