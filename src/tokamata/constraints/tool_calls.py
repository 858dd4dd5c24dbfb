"""Calls of tools, in the formats in which models write them, with text around them or without.

    calls = tk.tool_calls([weather], format="function")
    calls.parse('Let me see. <function=weather>{"city": "Bern"}</function>')
    # ["Let me see. ", ToolCall("weather", {"city": "Bern"})]

:mod:`tokamata.constraints.tool_formats` has the formats.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from tokamata.calls.arguments import checked_flag, checked_instance, checked_text, clipped
from tokamata.calls.equal_calls import read_once
from tokamata.calls.keywords import checked_call
from tokamata.calls.recipes import copied
from tokamata.calls.schema_places import within
from tokamata.constraints.constraint import Constraint
from tokamata.constraints.extension_constraints import spelled_text
from tokamata.constraints.json_options import (
    Formats,
    JsonOptions,
    PropertyOrder,
    Spelling,
    Unknown,
    Whitespace,
)
from tokamata.constraints.text_constraints import choice, regex
from tokamata.constraints.tool_constraints import Tool, ToolCall, arguments_of, read_tools, tool_list
from tokamata.constraints.tool_formats import TOOL_FORMATS, ToolFormat
from tokamata.constraints.trigger_constraints import dispatched, in_order
from tokamata.errors import ArgumentError, shown_argument
from tokamata.patterns.tagged import STYLES
from tokamata.resources.limits import Watch
from tokamata.values.forms import Called, Converted, Form

if TYPE_CHECKING:
    from tokamata.resources.limits import CancelToken, Limits

__all__ = ["tool_calls"]

_SLOT = re.compile(r"\{(name|index)\}")


@checked_call
@read_once
def tool_calls(
    tools: Mapping[str, Any] | Callable[..., Any] | Sequence[Mapping[str, Any] | Callable[..., Any]],
    *,
    tool_choice: str | Mapping[str, Any] = "auto",
    parallel: bool = True,
    format: str | ToolFormat = "hermes",
    property_order: PropertyOrder = "schema",
    whitespace: Whitespace = "natural",
    spelling: Spelling = "natural",
    formats: Formats = "assert",
    strict: bool = True,
    unknown: Unknown = "warn",
    limits: Limits | None = None,
    cancel: CancelToken | None = None,
) -> Constraint[list[Any]]:
    """Calls of tools; every call is of a tool in the list, with arguments that its schema accepts.

    The value is a list of :class:`tokamata.ToolCall`; with ``"auto"``, the text around the calls is in it
    too, as ``str``, in order.

    ==================================================  =================================================
    ``tool_choice``                                     texts
    ==================================================  =================================================
    ``"auto"``                                          free text in which calls may appear
    ``"required"``                                      one or more calls, and nothing else
    ``{"type": "function", "function": {"name": …}}``   the same, of this tool
    ==================================================  =================================================

    In free text, the trigger of the format opens a call: once it is written, a call must follow.

    Args:
        tools: as for :func:`tool_call`.
        tool_choice: as OpenAI's interface has it.
        parallel: whether there may be several calls.  Otherwise nothing follows the first one.
        format: the name of a family of models, as vLLM and SGLang have it, or a :class:`ToolFormat`.
        property_order, whitespace, spelling, formats, strict, unknown, limits, cancel: as for
            :func:`json_schema`;
            they hold for the arguments.  What is around them is written exactly as the format has it.

    Raises:
        SchemaError: one of them is not a tool, or its schema is not one; the pointer starts at the list.
        UnsupportedTypeError: a function has arguments of types that JSON cannot write.
        UnsupportedSchemaError, LimitExceeded, Cancelled: as for :func:`json_schema`.
        ArgumentError: there is no tool, two have one name, ``tool_choice`` names none of them, the format
            cannot write the name of one, does not begin with its trigger, or does not exist; or an option
            does not.
    """
    options = JsonOptions(property_order, whitespace, spelling, formats, strict, limits, cancel, unknown)
    watch = Watch(limits, cancel)
    given, wanted = tool_list(tools), copied(tool_choice)
    known = read_tools(given, options)
    style = _format_of(format)
    checked_flag("parallel", parallel)
    name = _named(wanted, list(known))
    chosen = [known[name]] if name is not None else list(known.values())
    calls: list[Constraint[ToolCall]] = []
    for tool in chosen:
        watch.check()
        with within(tool.place):
            arguments = arguments_of(tool, options, style.style)
        calls.append(_call(tool, arguments, style))
    shown = clipped(f"tool_calls([{', '.join(tool.name for tool in chosen)}])")
    row = choice(calls).separated_by(spelled_text(style.separator), 1, None if parallel else 1)
    made: Constraint[list[Any]]
    if wanted != "auto":
        made = _block(row, style) if style.opening else row
    else:
        made = dispatched(
            [(style.trigger, one) for one in ([_block(row, style)] if style.opening else calls)],
            [style.trigger],
            [],
            at_least_one=False,
            stop_after_first=not parallel,
            name=shown,
            watch=watch,
        )
        if style.opening:
            made = _converted(made, _flat)
    return made._made_by(
        tool_calls, given, tool_choice=wanted, parallel=parallel, format=format, **options.given()
    )


def _call(tool: Tool, arguments: Constraint[Any], style: ToolFormat) -> Constraint[ToolCall]:
    """A call of a tool."""
    parts: list[Constraint[Any]] = []
    text = ""
    for number, piece in enumerate(_SLOT.split(style.begin)):
        if number % 2 == 0:
            text += piece
        elif piece == "name":
            text += _written_name(tool.name, text, style)
        else:
            parts += [spelled_text(text), regex("0|[1-9][0-9]{0,8}")]
            text = ""
    parts += [spelled_text(text), arguments.captured("arguments"), spelled_text(style.end)]
    whole = in_order(parts, clipped(f"a call of {tool.name}"))
    form = Called(whole._form, lambda found: ToolCall(tool.name, found.arguments), tool.name)
    return _read_as(form, whole)


def _written_name(name: str, before: str, style: ToolFormat) -> str:
    """The name of a tool after the text before it."""
    if style.style == "json":
        return json.dumps(name, ensure_ascii=False)[1:-1] if before.endswith('"') else name
    tags = STYLES[style.style]
    if not re.fullmatch(tags.names, name):
        found = f"one with the name {name!r:.80}"
        raise ArgumentError("tools", found, f"tools whose names the style {style.style} can write")
    return "".join(tags.escapes.get(character, character) for character in name)


def _block(row: Constraint[list[ToolCall]], style: ToolFormat) -> Constraint[list[ToolCall]]:
    """Calls between the texts before the first and after the last of them."""
    whole = in_order([spelled_text(style.opening), row, spelled_text(style.closing)], "a block of calls")
    return _converted(whole, lambda found: found[1])


def _converted(whole: Constraint[Any], convert: Callable[[Any], Any]) -> Constraint[Any]:
    return _read_as(Converted(whole._form, convert), whole)


def _read_as(form: Form, whole: Constraint[Any]) -> Constraint[Any]:
    return Constraint(
        whole._expression, whole.pattern, made_by=whole._operator, operands=whole._operands, form=form
    )


def _flat(found: list[Any]) -> list[Any]:
    """Free text, and the calls of all blocks."""
    return [one for piece in found for one in ([piece] if isinstance(piece, str) else piece)]


def _format_of(given: str | ToolFormat) -> ToolFormat:
    if isinstance(given, str):
        if given not in TOOL_FORMATS:
            expected = " or ".join(f'"{name}"' for name in TOOL_FORMATS) + ", or a ToolFormat"
            near = get_close_matches(given, TOOL_FORMATS, 1, 0.7)
            hint = f'did you mean "{near[0]}"?' if near else "take that of your model"
            raise ArgumentError("format", shown_argument(given), expected, hint)
        return TOOL_FORMATS[given]
    checked_instance("format", given, ToolFormat, "the name of a format, or a ToolFormat")
    for field, text in zip(given._fields, given, strict=True):
        checked_text(text, f"format.{field}")
    slots = _SLOT.findall(given.begin)
    if slots.count("name") != 1 or slots.count("index") > 1:
        raise ArgumentError("format", shown_argument(given), "one whose begin has {name} once")
    first = given.opening or _SLOT.split(given.begin)[0]
    if not given.trigger or not first.startswith(given.trigger):
        where = "opening begins" if given.opening else "begin has {name} once, and begins"
        raise ArgumentError("format", shown_argument(given), f"one whose {where} with its trigger")
    if given.style != "json" and given.style not in STYLES:
        expected = "one whose style is " + " or ".join(f'"{name}"' for name in ("json", *STYLES))
        raise ArgumentError("format", shown_argument(given), expected)
    return given


def _named(choice: Any, names: Sequence[str]) -> str | None:
    """The name of the only tool that may be called; ``None`` for all."""
    if choice in ("auto", "required"):
        return None
    expected = '"auto", "required", or {"type": "function", "function": {"name": …}} with the name of a tool'
    if isinstance(choice, Mapping) and choice.get("type") == "function":
        function = choice.get("function")
        name = function.get("name") if isinstance(function, Mapping) else choice.get("name")
        if name in names:
            return str(name)
    hint = f"the tools are: {', '.join(names[:8])}"
    if isinstance(choice, str) and choice in names:
        hint = f'write {{"type": "function", "function": {{"name": "{choice}"}}}}'
    elif choice in ("none", None):
        hint = "for text without calls, leave out the tools"
    elif choice == "any":
        hint = 'write "required"'
    raise ArgumentError("tool_choice", shown_argument(choice), expected, hint)
