"""Languages of texts that keywords about keys ask for.

``additionalProperties`` is about the keys that nothing else speaks of: the complement of some names and
patterns. ``propertyNames`` is about all keys, which must be strings of a schema: the schema itself becomes
a language, by the algebra of languages, since all that it can say of a string is regular.

Example: ``{"not": {"pattern": "^x"}, "maxLength": 3}`` becomes ``(text − "^x") ∩ .{0,3}``.

Cost: linear in the schema, except for ``oneOf``, which is quadratic.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING, Any

import tokamata._core as _core
from tokamata.patterns.json_schema.keywords.strings import (
    any_string,
    format_expression,
    length_bounds,
    pattern_expression,
    why_no_key,
)
from tokamata.patterns.json_schema.text import is_text

if TYPE_CHECKING:
    from tokamata.patterns.json_schema.keyword_reader import KeywordReader

__all__ = ["language_of_strings", "only_name", "other_keys"]

_ONE_NAME = re.compile(r"\^((?:[A-Za-z0-9_ /-]|\\[.$/|*+?^()\[\]{}\\])+)\$")

_MOST_NESTING = 40  # of schemas of keys: references may lead back
_LONGEST_KEY = 1_000_000_000  # code points: what the engine counts in a repetition
_EVERY_CODE_POINT = [(0, 0x10FFFF)]


def only_name(pattern: str) -> str | None:
    """The name of a pattern that has but one, such as ``^user\\.name$``, which is as good as declared."""
    found = _ONE_NAME.fullmatch(pattern)
    return re.sub(r"\\(.)", r"\1", found[1]) if found else None


def other_keys(
    reader: KeywordReader, names: Collection[str], patterns: Collection[str], node: int
) -> int | str:
    """The node for: all other keys have values in ``node``; or why that cannot be said."""
    others: list[_core.Expression] = []
    declared = [name for name in names if is_text(name)]
    for pattern in patterns:
        if (name := only_name(pattern)) is not None:
            declared.append(name)
            continue
        language = pattern_expression(pattern, reader.watch)
        if isinstance(language, str):
            return why_no_key(language, pattern)
        others.append(language)
    return reader.table.others(declared, others, node)


def language_of_strings(reader: KeywordReader, schema: Any) -> _core.Expression | str:
    """The strings that are in a schema, which was read before; or why that cannot be said."""
    try:
        return _Strings(reader).language(schema)
    except _NoLanguage as error:
        return str(error)


class _NoLanguage(Exception):
    """Why a schema's strings cannot be said."""


class _Strings:
    """One descent through a schema and all that is about the same value."""

    def __init__(self, reader: KeywordReader) -> None:
        self._reader = reader
        self._nesting = 0
        self._known: dict[tuple[int, int], _core.Expression] = {}  # by schema and scope

    def language(self, schema: Any) -> _core.Expression:
        if type(schema) is not dict:
            return any_string() if schema else _core.empty()
        self._nesting += 1
        if self._nesting > _MOST_NESTING:
            raise _NoLanguage("it nests too deep, or without end")
        reader = self._reader
        with reader.inside(schema):
            key = (id(schema), id(reader.scope))
            if key not in self._known:
                parts = [
                    part for keyword in reader.effective(schema) for part in self._parts(schema, keyword)
                ]
                whole = parts[0] if len(parts) == 1 else _core.intersect(parts) if parts else any_string()
                self._known[key] = whole
        self._nesting -= 1
        return self._known[key]

    def _parts(self, schema: dict[str, Any], keyword: str) -> Iterator[_core.Expression]:
        value = schema[keyword]
        if keyword == "type":
            if "string" not in ([value] if type(value) is str else value):
                yield _core.empty()
        elif keyword == "enum" or keyword == "const":
            texts = [
                one for one in (value if keyword == "enum" else [value]) if type(one) is str and is_text(one)
            ]
            yield _core.strings(texts) if texts else _core.empty()
        elif keyword == "minLength" or (keyword == "maxLength" and "minLength" not in schema):
            yield _length(*length_bounds(schema))
        elif keyword == "pattern":
            language = pattern_expression(value, self._reader.watch)
            if isinstance(language, str):
                raise _NoLanguage(language)
            yield language
        elif keyword == "format":
            asserted = self._reader.asserts_formats or self._reader.scope.dialect.asserts_formats
            known = format_expression(value) if asserted else None
            if known is not None:
                yield known
        elif keyword in ("$ref", "$dynamicRef", "$recursiveRef"):
            target, scope = self._reader.target(schema, keyword)
            with self._reader.within(scope):
                yield self.language(target)
        elif keyword == "if":
            yield self._condition(schema)
        elif keyword == "not":
            yield _others(self.language(value))
        elif keyword in ("allOf", "anyOf", "oneOf"):
            languages = [self.language(one) for one in value]
            if keyword == "allOf":
                yield from languages
            else:
                yield _core.union(languages) if keyword == "anyOf" else _exactly_one(languages)

    def _condition(self, schema: dict[str, Any]) -> _core.Expression:
        condition = self.language(schema["if"])
        then, otherwise = (self.language(schema.get(keyword, True)) for keyword in ("then", "else"))
        return _core.union(
            [_core.intersect([condition, then]), _core.intersect([_others(condition), otherwise])]
        )


def _length(minimum: int, maximum: int | None) -> _core.Expression:
    if maximum is not None and minimum > maximum:
        return _core.empty()
    if minimum > _LONGEST_KEY:
        raise _NoLanguage(f"lengths above {_LONGEST_KEY:,} are not distinguished in names of properties")
    maximum = None if maximum is not None and maximum > _LONGEST_KEY else maximum
    return _core.repeat(_core.code_points(_EVERY_CODE_POINT), minimum, maximum)


def _others(language: _core.Expression) -> _core.Expression:
    return _core.intersect([any_string(), _core.complement(language)])


def _exactly_one(languages: list[_core.Expression]) -> _core.Expression:
    if len(languages) == 1:
        return languages[0]
    cases = []
    for index, language in enumerate(languages):
        rest = languages[:index] + languages[index + 1 :]
        cases.append(_core.intersect([language, _others(_core.union(rest))]))
    return _core.union(cases)
