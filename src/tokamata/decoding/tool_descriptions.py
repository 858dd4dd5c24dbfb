"""What a chat template says to the model about tools.

    def weather(city: str) -> str: ...      # with the docstring "The weather in a city."

    {"type": "function", "function": {"name": "weather", "description": "The weather in a city.",
                                      "parameters": {"type": "object", …}}}

Chat templates read tools in this form, which OpenAI's interface has.  What is taken as a tool is what
:func:`tokamata.tool_calls` takes, so that the same list makes the constraint and the prompt; the schema of a
function is the one that its arguments are written by.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Mapping
from typing import Any

from tokamata.constraints.json_options import JsonOptions
from tokamata.constraints.tool_constraints import Tool, read_tools, tool_list

__all__ = ["tool_descriptions"]


def tool_descriptions(tools: Any) -> list[Mapping[str, Any]]:
    """The descriptions of tools, in their order.

    Args:
        tools: as for :func:`tokamata.tool_calls`.

    Raises:
        TokamataError: those of :func:`tokamata.tool_calls` about tools.
    """
    given = tool_list(tools)
    known = read_tools(given, JsonOptions())
    return [_described(one, tool) for one, tool in zip(given, known.values(), strict=True)]


def _described(given: Any, tool: Tool) -> Mapping[str, Any]:
    if isinstance(given, Mapping) and "function" in given:
        return given
    said = given.get("description") if isinstance(given, Mapping) else inspect.getdoc(given)
    function = {"name": tool.name, "description": said or "", "parameters": _unfolded(tool.schema)}
    return {"type": "function", "function": function}


def _unfolded(schema: Any) -> Any:
    """A schema with its properties at the root, where a reference leads to them: models read that better."""
    if not isinstance(schema, Mapping) or schema.keys() != {"$ref", "$defs"}:
        return schema
    name = schema["$ref"].removeprefix("#/$defs/")
    others = {key: value for key, value in schema["$defs"].items() if key != name}
    whole = {**schema["$defs"][name], **({"$defs": others} if others else {})}
    is_recursive = json.dumps(schema["$ref"]) in json.dumps(whole)
    return schema if is_recursive else whole
