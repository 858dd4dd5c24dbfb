"""JSON as programs and people write it: small schemas, a value of each, and usual texts of the value."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

__all__ = ["Case", "drawn", "number_texts", "reordered", "says", "written"]

_FREE = [
    "",
    "zoë",
    "a/b",
    'say "x"',
    "\\u",
    "line\nbreak\t",
    "😀 ok",
    "<b>&'`+",
    "\x7f",
    "19.90",
    "plain words",
]
_WORDS = ["red", "green", "blue", "dark red", "é", "a/b", "n/a"]
_NAMES = ["id", "name", "price", "é", "a/b", "x-1"]


@dataclass(frozen=True)
class Case:
    """A schema, one of its values, and whether any character of its strings may be escaped by someone."""

    schema: Any
    value: Any


# ---- schemas and values -------------------------------------------------------------------------


def drawn(chooser: random.Random, depth: int = 3) -> Case:
    """A schema with a value, which is valid by the way it is made."""
    kinds: list[Callable[[random.Random], Case]] = [_string, _number, _number, _word, _integer, _simple]
    if depth > 0 and chooser.random() < 0.6:
        return chooser.choice([_array, _object, _object, _choice])(chooser, depth - 1)
    return chooser.choice(kinds)(chooser)


def _simple(chooser: random.Random) -> Case:
    return Case(
        *chooser.choice([({"type": "boolean"}, True), ({"type": ["null", "number"]}, None), (True, False)])
    )


def _string(chooser: random.Random) -> Case:
    value = chooser.choice(_FREE)
    return chooser.choice(
        [
            Case({"type": "string"}, value),
            Case({"type": "string", "maxLength": len(value) + chooser.randint(0, 3)}, value),
            Case({"type": "string", "pattern": "[a-z]|^$" if re.search("[a-z]|^$", value) else "."}, value),
            Case({"type": "string", "format": "date"}, "2024-02-29"),
            Case({"type": "string", "format": "date-time"}, "2024-02-29T10:00:00+01:00"),
            Case({"type": "string", "format": "uri"}, "https://example.org/a?b=c&d"),
            Case({"type": "string", "pattern": "^[A-Z]{2}-[0-9]+$"}, "AB-190"),
            Case({"not": {"const": "red"}}, value),
        ]
    )


def _word(chooser: random.Random) -> Case:
    words = chooser.sample(_WORDS, 3)
    return Case({"enum": words}, chooser.choice(words))


def _number(chooser: random.Random) -> Case:
    value = chooser.choice(
        [
            19.9,
            5.0,
            0.1,
            0.00003,
            12.5,
            1e-7,
            1e21,
            1e5,
            0.0,
            100.0,
            -0.25,
            7.0,
            1.5e300,
            Decimal("10.00"),
            3.14159,
            -3.0,
        ]
    )
    low, high = float(value) - chooser.choice([0, 0.5, 40]), float(value) + chooser.choice([0, 0.5, 40])
    return chooser.choice(
        [
            Case({"type": "number"}, value),
            Case({"type": "number", "minimum": low, "maximum": high}, value),
            Case({"type": "number", "minimum": min(0, low)}, value),
            Case({"enum": [value, 1, 19.95]}, value),
            Case({"const": value}, value),
            Case({"type": "number", "multipleOf": 0.01}, chooser.choice([19.9, 5.0, 0.05, 1200.0])),
            Case({"type": ["number", "string"]}, value),
        ]
    )


def _integer(chooser: random.Random) -> Case:
    value = chooser.choice([0, 1, 12, 100, -5, 1000, 120, 10**16])
    low = value - chooser.choice([0, 3, 200])
    return chooser.choice(
        [
            Case({"type": "integer"}, value),
            Case({"type": "integer", "minimum": low, "maximum": value + chooser.choice([0, 5])}, value),
            Case({"enum": [value, value + 1]}, value),
            Case({"type": "integer", "multipleOf": 1 if value % 5 else 5}, value),
        ]
    )


def _array(chooser: random.Random, depth: int) -> Case:
    items = drawn(chooser, depth)
    value = [items.value] * chooser.choice([0, 0, 1, 2])
    if chooser.random() < 0.3:
        other = drawn(chooser, depth)
        return Case({"prefixItems": [other.schema], "items": items.schema}, [other.value, *value])
    return Case({"type": "array", "items": items.schema}, value)


def _object(chooser: random.Random, depth: int) -> Case:
    names = chooser.sample(_NAMES, chooser.randint(0, 3))
    members = {name: drawn(chooser, depth) for name in names}
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {name: member.schema for name, member in members.items()},
    }
    required = [name for name in names if chooser.random() < 0.5]
    if required:
        schema["required"] = required
    # In the order of the schema.
    value = {name: members[name].value for name in names if name in required or chooser.random() < 0.6}
    if chooser.random() < 0.5:
        schema["additionalProperties"] = False
    elif chooser.random() < 0.5:
        value["others/é"] = chooser.choice([1.50, "x", [], {}])
    return Case(schema, value)


def _choice(chooser: random.Random, depth: int) -> Case:
    # Not of two objects: their names would come in the order of both.
    one, other = drawn(chooser, depth), drawn(chooser, 0)
    return Case({"anyOf": chooser.sample([one.schema, other.schema], 2)}, one.value)


def says(read: Any, value: Any) -> bool:
    """Whether a text says the value: the judge of those that write them."""
    if isinstance(value, dict):
        return list(read) == list(value) and all(says(read[name], each) for name, each in value.items())
    if isinstance(value, list):
        return len(read) == len(value) and all(map(says, read, value))
    if isinstance(value, float):
        value = Decimal(repr(value))
    return (
        type(read) is type(value) and read == value
        if isinstance(value, bool | str | None)
        else bool(read == value)
    )


def reordered(chooser: random.Random, value: Any) -> Any:
    """The value with its names in another order."""
    if isinstance(value, dict):
        names = chooser.sample(list(value), len(value))
        return {name: reordered(chooser, value[name]) for name in names}
    return [reordered(chooser, each) for each in value] if isinstance(value, list) else value


# ---- texts --------------------------------------------------------------------------------------


def written(chooser: random.Random, value: Any) -> str:
    """A text of the value, as some program or person writes it."""
    layout = chooser.choice(["dumps", "compact", "indented", "blanks"])
    if layout == "indented":
        writer = _Writer(chooser, ",\n", ": ", chooser.choice([" ", "  ", "    ", "\t"]))
    elif layout == "blanks":
        writer = _Writer(chooser, ", ", ": ", None, " ")
    else:
        writer = _Writer(chooser, *((", ", ": ") if layout == "dumps" else (",", ":")), None)
    return writer.text(value, 0)


class _Writer:
    def __init__(
        self, chooser: random.Random, comma: str, colon: str, indent: str | None, inside: str = ""
    ) -> None:
        self._chooser = chooser
        self._comma, self._colon, self._indent, self._inside = comma, colon, indent, inside
        self._string = chooser.choice(
            [_ascii, _direct, _for_html, _for_php, _upper_case, _now_and_then(chooser)]
        )

    def text(self, value: Any, depth: int) -> str:
        if isinstance(value, str):
            return self._string(value)
        if value is None or isinstance(value, bool):
            return json.dumps(value)
        if isinstance(value, dict):
            members = [
                self._string(name) + self._colon + self.text(each, depth + 1) for name, each in value.items()
            ]
            return self._within("{", members, "}", depth)
        if isinstance(value, list):
            return self._within("[", [self.text(each, depth + 1) for each in value], "]", depth)
        return self._chooser.choice(number_texts(value))

    def _within(self, opening: str, parts: list[str], closing: str, depth: int) -> str:
        if not parts:
            lines = ["\n" + (self._indent or "") * (depth + more) for more in (0, 1)]
            return (
                opening
                + self._chooser.choice(["", " ", self._inside, *(lines if self._indent else [])])
                + closing
            )
        if self._indent is None:
            return opening + self._inside + self._comma.join(parts) + self._inside + closing
        line = "\n" + self._indent * (depth + 1)
        return opening + line + ("," + line).join(parts) + "\n" + self._indent * depth + closing


def number_texts(value: float | Decimal) -> list[str]:
    """Usual texts: Python's, JavaScript's, with more zeros, with exponents; of integers digits alone."""
    plain = str(value)
    exact = Decimal(plain)
    if isinstance(value, int):
        return [plain]
    fixed = format(exact, "f")
    sign, digits, _ = exact.normalize().as_tuple()
    lead = exact.adjusted() if exact else 0
    first, rest = digits[0], "".join(map(str, digits[1:]))
    mantissa = f"{'-' * sign}{first}{'.' + rest if rest else ''}"
    found = [plain.replace("E", "e"), fixed if len(fixed) < 30 else plain]
    if 1e-6 <= abs(value) < 1e21 and "e" not in fixed:  # as JavaScript has it
        found.append(fixed.removesuffix(".0"))
    else:
        found.append(f"{mantissa}e{lead:+d}")
    if len(fixed) < 30:
        found.append(fixed + ("00" if "." in fixed else ".00"))
    found += [f"{mantissa}e{lead}", f"{mantissa}E{lead:+03d}", f"{mantissa}{'' if rest else '.'}0e{lead}"]
    return [text for text in found if Decimal(text) == exact]


def _direct(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _ascii(text: str) -> str:
    return json.dumps(text)


def _for_html(text: str) -> str:
    return re.sub("[<>&'`+]", lambda found: f"\\u{ord(found[0]):04x}", _ascii(text))


def _for_php(text: str) -> str:
    return _ascii(text).replace("/", "\\/")


def _upper_case(text: str) -> str:
    return re.sub(r"\\u([0-9a-f]{4})", lambda found: "\\u" + found[1].upper(), _for_html(text))


def _now_and_then(chooser: random.Random) -> Callable[[str], str]:
    """Escapes some characters of what is not plain words."""

    def spelled(text: str) -> str:
        if _direct(text)[1:-1] == text and text.isascii() and not re.search("[/<>&'`+\x7f]", text):
            return _direct(text)
        units = [json.dumps(letter)[1:-1] if chooser.random() < 0.6 else _digits(letter) for letter in text]
        return '"' + "".join(units) + '"'

    return spelled


def _digits(letter: str) -> str:
    code = letter.encode("utf-16-be")
    return "".join(f"\\u{code[at]:02x}{code[at + 1]:02X}" for at in range(0, len(code), 2))
