"""``minLength``, ``maxLength``, ``pattern`` and ``format`` (validation 6.3 and 7).

A pattern is searched for, in the syntax of ECMA-262 under flag ``u``.  A format that nobody has defined is an
annotation.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any

import tokamata._core as _core
from tokamata.errors import PatternError, caret
from tokamata.patterns.json_schema.faults import Fault
from tokamata.patterns.json_schema.keywords.numbers import led_by, whole_number
from tokamata.patterns.regex import to_expression

if TYPE_CHECKING:
    from tokamata.patterns.json_schema.keyword_reader import KeywordReader
    from tokamata.resources.limits import Watch

__all__ = [
    "any_string",
    "format_",
    "format_expression",
    "length_bounds",
    "lengths",
    "pattern",
    "pattern_expression",
    "why_no_key",
]

_MOST_KEPT = 1024  # patterns, and formats, whose languages are kept for other schemas

_patterns: dict[str, _core.Expression | str] = {}  # by pattern; a str says why it cannot be enforced
_formats: dict[str, _core.Expression | None] = {}
_format_language: list[Callable[[str], _core.Expression | None]] = []
_any_string: list[_core.Expression] = []


def any_string() -> _core.Expression:
    """Every text."""
    if not _any_string:
        _any_string.append(_core.text())
    return _any_string[0]


def pattern_expression(text: str, watch: Watch | None = None) -> _core.Expression | str:
    """The texts in which a pattern is found; or why they cannot be enforced.  Kept for the next schema."""
    found = _patterns.get(text)
    if found is None:
        try:
            found = _core.scope(to_expression(text, dialect="ecma", watch=watch))
        except PatternError as error:
            shown = f"{error.reason} at position {error.position} of the pattern\n"
            found = f"{shown}{caret(text, error.position)}\n{error.hint}".rstrip("\n")
        except UnicodeEncodeError:
            found = "the pattern has a lone surrogate in it, which no text has"
        if len(_patterns) >= _MOST_KEPT:
            _patterns.clear()
        _patterns[text] = found
    return found


def why_no_key(reason: str, pattern: str) -> str:
    """Why a pattern of keys cannot be enforced: the reason, with the pattern in its first line."""
    first, line_break, rest = reason.partition("\n")
    return f"{first} {pattern!r:.100}{line_break}{rest}"


def format_expression(name: str) -> _core.Expression | None:
    """The texts of a format; ``None`` where it is not known, so that it is an annotation."""
    if name not in _formats:
        if not _format_language:
            _format_language.append(_find_formats())
        if len(_formats) >= _MOST_KEPT:
            _formats.clear()
        _formats[name] = _format_language[0](name)
    return _formats[name]


def lengths(*keywords: str) -> dict[str, Any]:
    """Both of them together."""
    return led_by(_length, *keywords)


def length_bounds(schema: dict[str, Any]) -> tuple[int, int | None]:
    """How many code points a string has."""
    return whole_number(schema, "minLength", 0) or 0, whole_number(schema, "maxLength", None)


def pattern(reader: KeywordReader, schema: dict[str, Any], value: Any, operands: list[int]) -> None:
    """Strings in which the pattern is found."""
    if type(value) is not str:
        raise Fault(schema, "pattern", value, "a regular expression, as a string")
    if "[:" in value:
        reader.note(schema, "pattern")
    found = pattern_expression(value, reader.watch)
    if type(found) is str:
        operands.append(reader.refuse(schema, "pattern", found))
    else:
        operands.append(reader.table.string(found))  # type: ignore[arg-type]


def format_(reader: KeywordReader, schema: dict[str, Any], value: Any, operands: list[int]) -> None:
    """Strings of a format, where formats are assertions."""
    if type(value) is not str:
        raise Fault(schema, "format", value, "the name of a format, as a string")
    if reader.asserts_formats or reader.scope.dialect.asserts_formats:
        language = format_expression(value)
        if language is not None:
            operands.append(reader.table.string(language))
        else:
            reader.note(schema, "format")


def _length(reader: KeywordReader, schema: dict[str, Any], value: Any, operands: list[int]) -> None:
    operands.append(reader.table.string_length(*length_bounds(schema)))


def _find_formats() -> Callable[[str], _core.Expression | None]:
    try:
        module = import_module("tokamata.patterns.json_schema.formats")
    except ModuleNotFoundError as error:
        if error.name != "tokamata.patterns.json_schema.formats":
            raise
        return lambda name: None
    language: Callable[[str], _core.Expression | None] = module.format_language
    return language
