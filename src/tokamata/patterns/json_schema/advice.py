"""What to write in place of what a schema must not have, where that can be told from the value.

{"type": "str"}                      write "string"
{"required": "name"}                 write ["name"]
{"properties": {"a": "integer"}}     write {"type": "integer"}
"""

from __future__ import annotations

import enum
import re
from difflib import get_close_matches
from typing import Any

from tokamata.patterns.json_schema.text import shown

__all__ = ["advice_on_no_schema", "advice_on_value"]

_TYPES = ("string", "integer", "number", "object", "array", "boolean", "null")
_OTHER_TYPES = {  # of Python and other languages
    "str": "string",
    "text": "string",
    "int": "integer",
    "long": "integer",
    "float": "number",
    "double": "number",
    "decimal": "number",
    "dict": "object",
    "map": "object",
    "list": "array",
    "tuple": "array",
    "set": "array",
    "bool": "boolean",
    "none": "null",
    "nonetype": "null",
    "nil": "null",
}
_NUMBER = re.compile(r"-?[0-9]{1,20}(?:\.[0-9]{1,20})?")  # short enough to be quoted
_OF_HOSTS = {  # formats of interfaces that hold a schema
    "json_schema": "it is a response format: use tokamata.response_format",
    "json_object": "it is a response format: use tokamata.response_format",
    "structural_tag": "use tokamata.structural_tag",
    "function": "it is a tool: use tokamata.tool_calls",
    "any": "leave the keyword out: then every type is accepted",
}


def advice_on_value(keyword: str, value: Any) -> str:
    """How to correct the value of a keyword, as the end of a sentence; ``""`` if that is not known."""
    advice = ""
    if keyword == "type":
        advice = _advice_on_type(value)
    elif keyword in ("required", "enum") and isinstance(value, str):
        advice = f"write [{shown(value)}]"
    elif isinstance(value, enum.EnumMeta):
        advice = f"tokamata.type({value.__name__}) takes an Enum"
    elif isinstance(value, (set, frozenset)):
        advice = "write a list"
    elif isinstance(value, str) and keyword.startswith(("min", "max", "exclusiveM", "multiple")):
        advice = f"write {value}" if _NUMBER.fullmatch(value) else ""
    elif hasattr(value, "dtype") and hasattr(value, "item"):  # of numpy
        advice = "convert it: value.item()"
    return advice and f"; {advice}"


def advice_on_no_schema(value: Any, pointer: str) -> str:
    """What to write where a schema should stand, as the end of a sentence; ``""`` if that is not known."""
    if pointer.endswith("/properties/required"):
        return "; 'required' stands beside 'properties', not within it"
    name = _type_named(value)
    return f'; write {{"type": "{name}"}}' if name else ""


def _advice_on_type(value: Any) -> str:
    if isinstance(value, str) and value.lower() in _OF_HOSTS:
        return _OF_HOSTS[value.lower()]
    name = _type_named(value)
    return f'write "{name}"' if name else ""


def _type_named(value: Any) -> str:
    """The type of JSON Schema that a name or a class of Python means; ``""`` if there is none."""
    if isinstance(value, type):
        value = value.__name__
    if not isinstance(value, str):
        return ""
    name = value.lower()
    near = get_close_matches(name, _TYPES, 1, 0.75)
    return _OTHER_TYPES.get(name, near[0] if near else "")
