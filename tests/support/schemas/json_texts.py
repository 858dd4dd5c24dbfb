"""What a JSON text says, read strictly, and whether it is written in a style: judges that know no engine."""

from __future__ import annotations

import json
import re
from decimal import Decimal
from typing import Any

import tokamata as tk

_PARTS = re.compile(
    r'("(?:[^"\\]|\\.)*")|(-?[0-9][-+.0-9eE]*)|(true|false|null)|([\[\]{}:,])|([ \t\n\r]+)', re.S
)
_OPENING, _CLOSING = ("[", "{"), ("]", "}")
_UNITS = ["\t", *(" " * width for width in range(1, 9))]


def read(text: str) -> Any:
    """The value of a text; numbers with a point or an exponent are exact.

    Raises:
        AssertionError: it is not JSON, or an object has a name twice.
    """

    def distinct(members: list[tuple[str, Any]]) -> dict[str, Any]:
        assert len({name for name, _ in members}) == len(members), f"a name twice: {text!r}"
        return dict(members)

    try:
        return json.loads(text, object_pairs_hook=distinct, parse_float=_exact, parse_constant=_refuse)
    except ValueError as error:
        raise AssertionError(f"not JSON: {error}: {text!r}") from None


def _exact(text: str) -> int | Decimal:
    value = Decimal(text)
    # What is whole is an integer to every judge, however it is written, unless it is too long to be one.
    return int(value) if abs(value.adjusted()) < 20_000 and value == value.to_integral_value() else value


def _refuse(text: str) -> Any:
    raise ValueError(text)


def check_style(text: str, style: tk.constraints.json_constraints.Style) -> None:
    """Raises ``AssertionError`` where white space or spelling is not of the style."""
    places = _places(text)
    if style.whitespace != "any":
        _check_gaps(places, style.whitespace == "natural", text)
    if style.spelling == "plain":
        for part, _, _ in places:
            if part.startswith('"'):
                assert json.dumps(json.loads(part), ensure_ascii=False) == part, (
                    f"not plain: {part} in {text!r}"
                )


def _places(text: str) -> list[tuple[str, str, int]]:
    """Each part with what white space stands before it, and how deep it lies; at last an empty part."""
    found, gap, depth, at = [], "", 0, 0
    for match in _PARTS.finditer(text):
        assert match.start() == at, f"no JSON: {text!r}"
        at = match.end()
        part = match[0]
        if match[5]:
            gap = part
            continue
        depth -= part in _CLOSING
        found.append((part, gap, depth))
        depth += part in _OPENING
        gap = ""
    assert at == len(text), f"no JSON: {text!r}"
    return [*found, ("", gap, 0)]


def _check_gaps(places: list[tuple[str, str, int]], natural: bool, text: str) -> None:
    """No white space; or at most a space, or a line break and as many indents as the line is deep."""
    unit = ""
    before = ""
    for part, gap, depth in places:
        if gap:
            where = f"white space {gap!r} before {part!r} in {text!r}"
            empty = before in _OPENING and part in _CLOSING
            line = before == "," or before in _OPENING or part in _CLOSING
            assert natural, where
            assert before, where
            assert part, where
            assert line or before == ":", where
            if empty and gap != " ":  # as deep as what is around it, or what could have been in it
                assert gap.startswith("\n"), where
                units = [unit] if unit else _UNITS
                assert any(gap[1:] == width * deep for width in units for deep in (depth, depth + 1)), where
            elif gap != " ":
                assert line, where
                assert gap.startswith("\n"), where
                unit = unit or gap[1:][: len(gap[1:]) // max(1, depth)]
                assert gap[1:] == unit * depth, where
                assert not unit or unit in _UNITS, where
        before = part


def check_order(schema: Any, value: Any) -> None:
    """Names that a plain schema declares come first, and in its order, where that is simple to see."""
    simple = isinstance(schema, dict) and not _ELSEWHERE & schema.keys()
    if not simple or not isinstance(value, dict) or "properties" not in schema:
        return
    declared = list(schema["properties"])
    for name in schema.get("required", []):
        if name not in declared:
            return  # whether these count as declared is not said here
    places = [declared.index(name) if name in declared else len(declared) for name in value]
    assert places == sorted(places), f"{list(value)}, but declared are {declared}"
    for name, inner in schema["properties"].items():
        if name in value:
            check_order(inner, value[name])


_ELSEWHERE = {
    "$ref", "$dynamicRef", "$recursiveRef", "allOf", "anyOf", "oneOf", "not", "if", "then", "else",
    "dependencies", "dependentSchemas", "dependentRequired", "patternProperties", "additionalProperties",
    "propertyNames", "unevaluatedProperties", "enum", "const",
}  # fmt: skip
