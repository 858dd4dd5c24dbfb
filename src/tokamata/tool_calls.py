"""Calls of tools, in the formats in which models write them, with text around them or without.

    calls = tk.tool_calls([weather], format="function")
    calls.parse('Let me see. <function=weather>{"city": "Bern"}</function>')
    # ["Let me see. ", ToolCall("weather", {"city": "Bern"})]

A format is data: the text before the arguments, which contains the name, and the text after them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from tokamata.arguments import checked_flag, checked_instance, clipped
from tokamata.constraint import Constraint
from tokamata.equal_calls import read_once
from tokamata.errors import ArgumentError, shown_argument
from tokamata.extension_constraints import spelled_text
from tokamata.json_options import Formats, JsonOptions, PropertyOrder, Spelling, Unknown, Whitespace
from tokamata.limits import Watch
from tokamata.recipes import copied
from tokamata.schema_places import within
from tokamata.text_constraints import choice
from tokamata.tool_constraints import ToolCall, arguments_of, read_tools, tool_list
from tokamata.trigger_constraints import dispatched, in_order
from tokamata.values.forms import Converted

if TYPE_CHECKING:
    from tokamata.limits import CancelToken, Limits

__all__ = ["TOOL_FORMATS", "ToolFormat", "tool_calls"]


class ToolFormat(NamedTuple):
    """How a model writes calls of tools.

    In each of these texts, a control token of the vocabulary may stand for its name.

    Attributes:
        begin: the text before the arguments; ``{name}`` stands for the name of the tool, in quotes as JSON
            writes it if it stands between quotes.
        end: the text after them.
        trigger: the text that opens a call within free text; ``begin`` begins with it.
        separator: the text between two calls that follow each other without free text.
    """

    begin: str
    end: str
    trigger: str
    separator: str


# The texts are those of the models' chat templates.
TOOL_FORMATS: Mapping[str, ToolFormat] = {
    "hermes": ToolFormat(
        '<tool_call>\n{"name": "{name}", "arguments": ', "}\n</tool_call>", "<tool_call>", "\n"
    ),
    "llama": ToolFormat('{"name": "{name}", "parameters": ', "}", '{"name": ', "\n"),
    "function": ToolFormat("<function={name}>", "</function>", "<function=", "\n"),
}


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
        format: ``"hermes"``, ``"llama"``, ``"function"``, or a :class:`ToolFormat`.
        property_order, whitespace, spelling, formats, strict, unknown, limits, cancel: as for
            :func:`json_schema`;
            they hold for the arguments.  What is around them is written exactly as the format has it.

    Raises:
        SchemaError: one of them is not a tool, or its schema is not one; the pointer starts at the list.
        UnsupportedTypeError: a function has arguments of types that JSON cannot write.
        UnsupportedSchemaError, LimitExceeded, Cancelled: as for :func:`json_schema`.
        ArgumentError: there is no tool, two have one name, ``tool_choice`` names none of them, the format
            does not begin with its trigger, or an option does not exist.
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
            arguments = arguments_of(tool, options)
        calls.append(_call(tool.name, arguments, style))
    shown = clipped(f"tool_calls([{', '.join(tool.name for tool in chosen)}])")
    made: Constraint[list[Any]]
    if wanted == "auto":
        made = dispatched(
            [(style.trigger, call) for call in calls],
            [style.trigger],
            [],
            at_least_one=False,
            stop_after_first=not parallel,
            name=shown,
            watch=watch,
        )
    else:
        made = choice(calls).separated_by(spelled_text(style.separator), 1, None if parallel else 1)
    return made._made_by(
        tool_calls, given, tool_choice=wanted, parallel=parallel, format=format, **options.given()
    )


def _call(name: str, arguments: Constraint[Any], style: ToolFormat) -> Constraint[ToolCall]:
    before, after = style.begin.split("{name}")
    written = json.dumps(name, ensure_ascii=False)[1:-1] if before.endswith('"') else name
    whole = in_order(
        [spelled_text(before + written + after), arguments.captured("arguments"), spelled_text(style.end)],
        clipped(f"a call of {name}"),
    )
    form = Converted(whole._form, lambda parts: ToolCall(name, parts[1]))
    return Constraint(
        whole._expression, whole.pattern, made_by="in order", operands=whole._operands, form=form
    )


def _format_of(given: str | ToolFormat) -> ToolFormat:
    if isinstance(given, str):
        if given not in TOOL_FORMATS:
            expected = " or ".join(f'"{name}"' for name in TOOL_FORMATS) + ", or a ToolFormat"
            raise ArgumentError("format", shown_argument(given), expected)
        return TOOL_FORMATS[given]
    checked_instance("format", given, ToolFormat, "the name of a format, or a ToolFormat")
    before = given.begin.split("{name}")
    if len(before) != 2 or not given.trigger or not before[0].startswith(given.trigger):
        expected = "one whose begin has {name} once, and begins with its trigger before that"
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
    raise ArgumentError("tool_choice", shown_argument(choice), expected)
