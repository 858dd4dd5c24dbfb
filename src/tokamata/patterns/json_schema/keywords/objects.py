"""Keywords about objects (core 10.3.2 and 10.2.2.4, validation 6.5; drafts 4 to 7: 5.4 or 6.5,
``dependencies``).

A key that has a lone surrogate is in no text: nothing is said about it, and an object that must have it is
none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tokamata.patterns.json_schema.faults import Fault, NotASchema
from tokamata.patterns.json_schema.key_languages import language_of_strings, only_name, other_keys
from tokamata.patterns.json_schema.keywords.numbers import led_by, whole_number
from tokamata.patterns.json_schema.keywords.strings import pattern_expression, why_no_key
from tokamata.patterns.json_schema.table import ALL_TYPES, OBJECT
from tokamata.patterns.json_schema.text import is_text

if TYPE_CHECKING:
    from tokamata.patterns.json_schema.keyword_reader import KeywordReader

__all__ = [
    "additional_properties",
    "counts",
    "dependencies",
    "dependent_required",
    "dependent_schemas",
    "pattern_properties",
    "properties",
    "property_names",
    "required",
]

_NAMES = "an array of strings, which are names of properties"


def properties(reader: KeywordReader, schema: dict[str, Any], value: Any, operands: list[int]) -> None:
    """What the values of these keys are in, where they are present."""
    if type(value) is not dict:
        raise Fault(schema, "properties", value, "an object, which has a schema for each name")
    read, make = reader.read, reader.table.property
    for name, subschema in value.items():
        if type(name) is not str:
            raise Fault(schema, "properties", name, "names that are strings")
        node = read(subschema)
        if name.isascii() or is_text(name):
            operands.append(make(name, node))


def pattern_properties(
    reader: KeywordReader, schema: dict[str, Any], value: Any, operands: list[int]
) -> None:
    """What the values of keys are in that a pattern is found in."""
    if type(value) is not dict:
        raise Fault(schema, "patternProperties", value, "an object, which has a schema for each pattern")
    for pattern, subschema in value.items():
        if type(pattern) is not str:
            raise Fault(schema, "patternProperties", pattern, "regular expressions, as strings")
        node = reader.read(subschema)
        if (name := only_name(pattern)) is not None:
            operands.append(reader.table.property(name, node))
            continue
        if "[:" in pattern:
            reader.note(schema, "patternProperties")
        language = pattern_expression(pattern, reader.watch)
        if isinstance(language, str):
            if node != reader.anything:
                operands.append(reader.refuse(schema, "patternProperties", why_no_key(language, pattern)))
        elif node != reader.anything:
            operands.append(reader.table.matching(language, node))


def additional_properties(
    reader: KeywordReader, schema: dict[str, Any], value: Any, operands: list[int]
) -> None:
    """What the values of all other keys are in: those that no name and no pattern beside it speaks of."""
    node = reader.read(value)
    if node == reader.anything:
        return
    names = schema.get("properties", ()) if "properties" in reader.handlers else ()
    patterns = schema.get("patternProperties", ()) if "patternProperties" in reader.handlers else ()
    others = other_keys(reader, names, patterns, node)
    if isinstance(others, str):
        others = reader.refuse(schema, "additionalProperties", others)
    operands.append(others)


def property_names(reader: KeywordReader, schema: dict[str, Any], value: Any, operands: list[int]) -> None:
    """Every key is a string of the schema: no key of another text has any value."""
    if reader.read(value) == reader.anything:
        return
    language = language_of_strings(reader, value)
    if isinstance(language, str):
        operands.append(reader.refuse(schema, "propertyNames", language))
    else:
        operands.append(reader.table.others([], [language], reader.nothing))


def required(reader: KeywordReader, schema: dict[str, Any], value: Any, operands: list[int]) -> None:
    """These keys are present."""
    if type(value) is not list:
        advice = "; in the object's schema, not in the property's" if type(value) is bool else ""
        raise Fault(schema, "required", value, _NAMES + advice)
    _require(reader, schema, "required", value, operands)


def counts(*keywords: str) -> dict[str, Any]:
    """Both of them together."""
    return led_by(_count, *keywords)


def dependent_required(
    reader: KeywordReader, schema: dict[str, Any], value: Any, operands: list[int]
) -> None:
    """If a key is present, these are too."""
    if type(value) is not dict:
        raise Fault(schema, "dependentRequired", value, f"an object, which has for each name {_NAMES}")
    for name, names in value.items():
        _check_name(schema, "dependentRequired", name)
        if type(names) is not list:
            raise Fault(schema, "dependentRequired", names, f"an object, which has for each name {_NAMES}")
        needed: list[int] = []
        _require(reader, schema, "dependentRequired", names, needed)
        if needed:
            _depend(reader, name, reader.all_of(needed), operands, about_objects=True)


def dependent_schemas(reader: KeywordReader, schema: dict[str, Any], value: Any, operands: list[int]) -> None:
    """If a key is present, the object is in a schema."""
    if type(value) is not dict:
        raise Fault(schema, "dependentSchemas", value, "an object, which has a schema for each name")
    for name, subschema in value.items():
        _check_name(schema, "dependentSchemas", name)
        _depend(reader, name, reader.read(subschema), operands)


def dependencies(reader: KeywordReader, schema: dict[str, Any], value: Any, operands: list[int]) -> None:
    """Both of these in one, up to draft 7."""
    if type(value) is not dict:
        expected = "an object, which has a schema, or an array of names, for each name"
        raise Fault(schema, "dependencies", value, expected)
    for name, inner in value.items():
        _check_name(schema, "dependencies", name)
        if type(inner) is list:
            needed: list[int] = []
            _require(reader, schema, "dependencies", inner, needed)
            if needed:
                _depend(reader, name, reader.all_of(needed), operands, about_objects=True)
        else:
            try:
                node = reader.read(inner)
            except NotASchema:
                if isinstance(inner, (dict, bool)):
                    raise
                raise Fault(
                    schema, "dependencies", inner, "a schema, or an array of names, for each name"
                ) from None
            _depend(reader, name, node, operands)


def _check_name(schema: dict[str, Any], keyword: str, name: Any) -> None:
    """A key of what no text was: a ``dict`` of Python's may have any."""
    if type(name) is not str:
        raise Fault(schema, keyword, name, "names that are strings")


def _require(
    reader: KeywordReader, schema: dict[str, Any], keyword: str, names: list[Any], operands: list[int]
) -> None:
    has = reader.table.has
    for name in names:
        if type(name) is not str:
            raise Fault(schema, keyword, name, _NAMES)
        if name.isascii() or is_text(name):
            operands.append(has(name))
        else:
            operands.append(reader.table.types(ALL_TYPES & ~OBJECT))


def _depend(
    reader: KeywordReader, name: str, node: int, operands: list[int], about_objects: bool = False
) -> None:
    """If the key is present, the node; which may hold of everything that is no object."""
    if node != reader.anything and is_text(name):
        absent = reader.table.negate(reader.table.has(name))
        others = [] if about_objects else [reader.table.types(ALL_TYPES & ~OBJECT)]
        operands.append(reader.table.any_of([absent, *others, node]))


def _count(reader: KeywordReader, schema: dict[str, Any], value: Any, operands: list[int]) -> None:
    minimum, maximum = whole_number(schema, "minProperties", 0), whole_number(schema, "maxProperties", None)
    operands.append(reader.table.property_count(minimum or 0, maximum))
