"""Schemas as text, and values within schemas: what JSON allows, and nothing beside it.

Python's ``json`` takes more than JSON: ``NaN``, and a key twice, the last of which wins without a word.  Both
are errors here.  Numbers with a fraction or an exponent become :class:`decimal.Decimal`, so that 0.1 is
0.1.  A schema given as a ``dict`` may hold what no JSON has; its values are checked where they are read.

Source: RFC 8259; section 4 leaves open what a key that stands twice means.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping
from decimal import Decimal, InvalidOperation
from itertools import islice
from typing import Any, NoReturn

from tokamata.errors import LimitExceeded, ParseError, SchemaError

__all__ = [
    "MOST_BITS",
    "beginning",
    "escaped",
    "is_text",
    "parse_schema",
    "read_json",
    "shown",
    "why_no_value",
]

# The name of a file: with one of these ends, or with a folder and without blanks.
_PATH = re.compile(r'(?![\s\[{"]).{1,300}\.(?:json[c5l]?|ya?ml|schema|txt)\s*|[\w.~:-]*[/\\][\w./\\-]{1,300}')
_MOST_VALUES = 10_000_000  # at one level; lists that hold the same list many times make as many as they like
MOST_BITS = 14_000  # of a whole number; Python writes none of more than 4,300 digits


def parse_schema(text: str | bytes | bytearray, depth: int) -> Any:
    """The value of a text in JSON.

    Args:
        text: UTF-8 where it is bytes.
        depth: how deep it may nest; named in the error where it nests deeper than can be read.

    Raises:
        SchemaError: it is no JSON, or an object has a key twice.
        LimitExceeded: it nests too deep.
    """
    try:
        return _parsed(text, _members)
    except _DoubledKeyError:
        place, key = _first_double(_parsed(text, _Members))
        expected = "each key of an object once"
        raise SchemaError(place, "", f"the key {shown(key)} twice", expected) from None
    except json.JSONDecodeError as error:
        found = f"no JSON at line {error.lineno}, column {error.colno} ({error.msg})"
        raise SchemaError("", "", found, "a JSON document" + _advice_on_document(text)) from None
    except RecursionError:
        raise LimitExceeded("depth", depth) from None
    except InvalidOperation:
        found = "a number with an exponent of more digits than can be read"
        raise SchemaError("", "", found, "a JSON document") from None
    except (UnicodeDecodeError, ValueError) as error:
        raise SchemaError("", "", f"no JSON ({str(error)[:80]})", "a JSON document") from None


def read_json(text: str, parse_float: Callable[[str], Any] | None = None) -> Any:
    """The value of a text, as ``json.loads`` has it.

    Raises:
        ParseError: it is no JSON, or nests deeper than can be read.
    """
    try:
        return json.loads(text, parse_float=parse_float, parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        advice = "; repair(text) reads JSON within a fence" if "```" in text else ""
        place = f"line {error.lineno}, column {error.colno}"
        raise ParseError(place, f"no JSON: {error.msg}{advice}") from None
    except RecursionError:
        raise ParseError("", "the value nests deeper than Python's stack") from None
    except ValueError as error:
        raise ParseError("", f"no JSON: {str(error)[:200]}") from None


def shown(value: Any) -> str:
    """How messages show a value: whole if it is short."""
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, (list, tuple)):
        return "an array" if value else "an empty array"
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, str):
        return json.dumps(value if len(value) <= 80 else value[:79] + "…", ensure_ascii=False)
    if isinstance(value, int):
        return str(value) if value.bit_length() < 256 else "a very large number"
    if isinstance(value, (float, Decimal)):
        return f"{value!s:.80}"
    return f"a Python {type(value).__name__}"


def beginning(value: Any, most: int) -> str:
    """How Python begins to write a value, in about so many code points; of any value, however large.

    What a schema has in many places is written in each, so that all of it may be exponentially long.
    """
    written: list[str] = []
    size = 0
    stack: list[tuple[bool, Any]] = [(False, value)]  # whether it is text already
    while stack and size < most:
        is_text_already, one = stack.pop()
        if is_text_already:
            written.append(one)
            size += len(one)
        elif isinstance(one, Mapping):
            inside: list[tuple[bool, Any]] = [(True, "{")]
            for key, inner in islice(one.items(), most):
                inside += [(False, key), (True, ": "), (False, inner), (True, ", ")]
            stack += reversed([*(inside[:-1] if one else inside), (True, "}")])
        elif isinstance(one, (list, tuple)):
            inside = [(True, "[")]
            for inner in islice(one, most):
                inside += [(False, inner), (True, ", ")]
            stack += reversed([*(inside[:-1] if one else inside), (True, "]")])
        elif isinstance(one, (str, bytes, bytearray)):
            stack.append((True, repr(one[:most])))
        else:
            stack.append((True, repr(one) if one is None or isinstance(one, (bool, float)) else shown(one)))
    return "".join(written)[:most]


def escaped(part: str) -> str:
    """A key as a JSON Pointer has it (RFC 6901, section 3)."""
    return part.replace("~", "~0").replace("/", "~1")


def is_text(value: str) -> bool:
    """Whether it is valid Unicode; a lone surrogate is not, and no text that a model writes has one."""
    return value.isascii() or not any("\ud800" <= character <= "\udfff" for character in value)


def why_no_value(value: Any, depth: int) -> str:
    """Why no JSON text has this value, or ``""``; a value with a lone surrogate is one.

    Raises:
        LimitExceeded: it nests deeper than ``depth``.
    """
    level, values = 0, [value]
    while values:
        if level > depth or len(values) > _MOST_VALUES:
            raise LimitExceeded("depth", depth)
        level += 1
        inner: list[Any] = []
        for one in values:
            kind = type(one)
            if kind is list:
                inner.extend(one)
            elif kind is dict:
                for key in one:
                    if type(key) is not str:
                        return f"a key that is {shown(key)}"
                inner.extend(one.values())
            elif kind is int:
                if one.bit_length() > MOST_BITS:
                    return "a very large number"
            elif kind is float:
                if not math.isfinite(one):
                    return str(one)
            elif kind is Decimal:
                if not one.is_finite():
                    return str(one)
            elif kind is not str and kind is not bool and one is not None:
                return shown(one)
        values = inner
    return ""


def _advice_on_document(text: str | bytes | bytearray) -> str:
    """What to do about a text that is no JSON, as the end of a sentence; ``""`` if that is not known."""
    start = bytes(text[:200], "utf-8", "replace") if isinstance(text, str) else bytes(text[:200])
    start = start.strip()
    if start.startswith((b"https://", b"http://")):
        return "; nothing is fetched: pass the text at this address"
    if isinstance(text, str) and _PATH.fullmatch(text):
        return f"; {text!r:.80} looks like a path: pass Path(…).read_text()"
    if start.startswith((b"{'", b"{ '")):
        return "; it is written as Python writes a dict: pass the dict itself, or json.dumps of it"
    if not start:
        return ", not an empty text"
    return "; check that the text is whole" if start.startswith(b"{") else ""


class _DoubledKeyError(Exception):
    """A key stands twice in an object."""


class _Members(dict[str, Any]):
    """An object, and which key of it stands twice, if any does."""

    def __init__(self, pairs: list[tuple[str, Any]]) -> None:
        super().__init__()
        self.doubled: str | None = None
        for key, value in pairs:
            if key in self:
                self.doubled = key
            self[key] = value


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise _DoubledKeyError
    return members


def _parsed(text: str | bytes | bytearray, members: Any) -> Any:
    return json.loads(text, object_pairs_hook=members, parse_float=Decimal, parse_constant=_no_constant)


def _no_constant(name: str) -> NoReturn:
    raise ParseError("", f"{name} is no number of JSON")


def _first_double(document: Any) -> tuple[str, str]:
    stack = [("", document)]
    while stack:
        place, value = stack.pop()
        if isinstance(value, _Members):
            if value.doubled is not None:
                return place, value.doubled
            stack.extend((f"{place}/{escaped(key)}", inner) for key, inner in reversed(value.items()))
        elif isinstance(value, list):
            stack.extend((f"{place}/{index}", value[index]) for index in reversed(range(len(value))))
    raise AssertionError("no key stands twice")
