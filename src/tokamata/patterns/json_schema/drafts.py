"""The drafts: which keywords each has, what they mean there, and where subschemas sit.

A dialect is a table.  The reader looks a keyword up in its ``handlers``; what is not there is an annotation.

Sources: the drafts 4, 6, 7 (core, validation), 2019-09 and 2020-12 (core 8 to 11, validation 6 and 7),
each at https://json-schema.org/specification-links.  A metaschema of one's own may leave out vocabularies
(2019-09 and 2020-12, core 8.1.2); what they hold is then annotation.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from tokamata.patterns.json_schema.dialect import (
    LIST,
    MAPPING,
    MAPPING_OR_NAMES,
    ONE,
    ONE_OR_LIST,
    Dialect,
)
from tokamata.patterns.json_schema.keyword_reader import Handler
from tokamata.patterns.json_schema.keywords import applicators, arrays, numbers, objects, strings, values

__all__ = ["DRAFTS", "KNOWN_VOCABULARIES", "LATEST", "draft_named", "with_vocabularies"]

_REFERENCE: dict[str, Handler] = {"$ref": applicators.reference}
_LOGIC: dict[str, Handler] = {
    "allOf": applicators.all_of,
    "anyOf": applicators.any_of,
    "oneOf": applicators.one_of,
    "not": applicators.negation,
}
_VALUES: dict[str, Handler] = {"type": values.type_, "enum": values.enum}
_CONST: dict[str, Handler] = {"const": values.const}
_NUMBERS = numbers.handlers("minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum", "multipleOf")
_STRINGS: dict[str, Handler] = {
    **strings.lengths("minLength", "maxLength"),
    "pattern": strings.pattern,
    "format": strings.format_,
}
_LENGTHS: dict[str, Handler] = {
    **arrays.lengths("minItems", "maxItems"),
    "uniqueItems": arrays.unique,
}
_OBJECTS: dict[str, Handler] = {
    "properties": objects.properties,
    "patternProperties": objects.pattern_properties,
    "additionalProperties": objects.additional_properties,
    "required": objects.required,
    **objects.counts("minProperties", "maxProperties"),
}
_NAMES: dict[str, Handler] = {"propertyNames": objects.property_names}
_CONDITION: dict[str, Handler] = {"if": applicators.condition}

_PLACES_4 = {
    "definitions": MAPPING,
    "$defs": MAPPING,  # of later drafts; taken everywhere, so that what references lead to is known
    "properties": MAPPING,
    "patternProperties": MAPPING,
    "additionalProperties": ONE,
    "items": ONE_OR_LIST,
    "additionalItems": ONE,
    "dependencies": MAPPING_OR_NAMES,
    "allOf": LIST,
    "anyOf": LIST,
    "oneOf": LIST,
    "not": ONE,
}
_PLACES_6 = {**_PLACES_4, "contains": ONE, "propertyNames": ONE}
_PLACES_7 = {**_PLACES_6, "if": ONE, "then": ONE, "else": ONE}
_PLACES_2019 = {
    **{keyword: place for keyword, place in _PLACES_7.items() if keyword != "dependencies"},
    "dependentSchemas": MAPPING,
    "unevaluatedItems": ONE,
    "unevaluatedProperties": ONE,
    "contentSchema": ONE,
}
_PLACES_2020 = {
    **{keyword: place for keyword, place in _PLACES_2019.items() if keyword != "additionalItems"},
    "prefixItems": LIST,
    "items": ONE,
}
_IN_PLACE = frozenset(
    ("allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependencies", "dependentSchemas")
)

DRAFT_4 = Dialect(
    name="draft 4",
    handlers={
        **_REFERENCE,
        **_LOGIC,
        **_VALUES,
        **numbers.handlers_of_draft_4(),
        **_STRINGS,
        **arrays.items_or_list("items", "additionalItems"),
        **_LENGTHS,
        **_OBJECTS,
        "dependencies": objects.dependencies,
    },
    places=_PLACES_4,
    in_place=_IN_PLACE,
    id_keyword="id",
    legacy_ids=True,
    lone_references=True,
)
DRAFT_6 = Dialect(
    name="draft 6",
    handlers={
        **DRAFT_4.handlers,
        **_NUMBERS,
        **_CONST,
        "contains": arrays.contains_some,
        **_NAMES,
    },
    places=_PLACES_6,
    in_place=_IN_PLACE,
    legacy_ids=True,
    lone_references=True,
)
DRAFT_7 = Dialect(
    name="draft 7",
    handlers={**DRAFT_6.handlers, **_CONDITION},
    places=_PLACES_7,
    in_place=_IN_PLACE,
    legacy_ids=True,
    lone_references=True,
)
_SINCE_2019: dict[str, Handler] = {
    **_REFERENCE,
    **_LOGIC,
    **_CONDITION,
    **_VALUES,
    **_CONST,
    **_NUMBERS,
    **_STRINGS,
    **_LENGTHS,
    **arrays.contains("contains", "minContains", "maxContains"),
    **_OBJECTS,
    **_NAMES,
    "dependentRequired": objects.dependent_required,
    "dependentSchemas": objects.dependent_schemas,
    "unevaluatedProperties": applicators.later,
    "unevaluatedItems": applicators.later,
}
DRAFT_2019_09 = Dialect(
    name="draft 2019-09",
    handlers={
        **_SINCE_2019,
        "$recursiveRef": applicators.recursive_reference,
        **arrays.items_or_list("items", "additionalItems"),
    },
    places=_PLACES_2019,
    in_place=_IN_PLACE,
)
DRAFT_2020_12 = Dialect(
    name="draft 2020-12",
    handlers={
        **_SINCE_2019,
        "$dynamicRef": applicators.dynamic_reference,
        **arrays.prefix_and_rest("prefixItems", "items"),
    },
    places=_PLACES_2020,
    in_place=_IN_PLACE,
    sees_contains=True,
    prefix_keyword="prefixItems",
    rest_keyword="items",
)
LATEST = DRAFT_2020_12

DRAFTS: dict[str, Dialect] = {
    "http://json-schema.org/draft-04/schema": DRAFT_4,
    "http://json-schema.org/draft-06/schema": DRAFT_6,
    "http://json-schema.org/draft-07/schema": DRAFT_7,
    "https://json-schema.org/draft/2019-09/schema": DRAFT_2019_09,
    "https://json-schema.org/draft/2020-12/schema": DRAFT_2020_12,
}

_VOCABULARIES: dict[str, set[str]] = {
    "applicator": {
        *_LOGIC,
        *("if", "prefixItems", "items", "additionalItems", "contains", "properties", "patternProperties"),
        *("additionalProperties", "propertyNames", "dependentSchemas"),
    },
    "unevaluated": {"unevaluatedItems", "unevaluatedProperties"},
    "validation": {
        *_VALUES,
        *_NUMBERS,
        *_LENGTHS,
        *("const", "minLength", "maxLength", "pattern", "minContains", "maxContains"),
        *("minProperties", "maxProperties", "required", "dependentRequired"),
    },
}
KNOWN_VOCABULARIES = {
    *_VOCABULARIES,
    *("core", "meta-data", "content", "format", "format-annotation", "format-assertion"),
}


def draft_named(uri: str) -> Dialect | None:
    """The draft that a ``$schema`` names; ``http`` and ``https`` are taken for each other, as schemas do."""
    uri = uri.rstrip("#")
    found = DRAFTS.get(uri)
    if found is None and uri.startswith("http"):
        rest = uri.partition("://")[2]
        found = DRAFTS.get("http://" + rest) or DRAFTS.get("https://" + rest)
    return found


def with_vocabularies(draft: Dialect, uses: Mapping[str, bool]) -> Dialect:
    """A draft, with what these vocabularies hold alone; core is always there."""
    names = {uri.rsplit("/", 1)[-1] for uri in uses}
    dropped = {keyword for name, held in _VOCABULARIES.items() if name not in names for keyword in held}
    if "applicator" in names and draft.rest_keyword == "additionalItems":
        dropped -= _VOCABULARIES["unevaluated"]  # which 2019-09 has among the applicators
    kept = {keyword: handler for keyword, handler in draft.handlers.items() if keyword not in dropped}
    return replace(draft, handlers=kept, asserts_formats="format-assertion" in names)
