"""Keywords, formats and patterns that a schema has by a slip: they say nothing, where something was meant.

Problem: JSON Schema takes every unknown keyword for an annotation, so ``{"minLenght": 3}`` allows all texts
without a word.  An annotation must not be reported, though: real schemas are full of them.

Example::

    {"type": "string", "minLenght": 3}       'minLength' is one swap away, and 3 is what it may have: a slip
    {"type": "string", "note": "a text"}     'not' is one letter away, but its value would be a schema: none
    {"if": …} in draft 6                     a keyword of draft 7: a slip

A keyword is a slip if it is one of another draft or of OpenAPI; or if it is *near* one that says something
about values, and its value is of the kind that the other one has.  Near is a distance of 1 by Damerau and
Levenshtein (insert, remove, replace, swap two neighbours), 2 for names of at least eight letters, without
regard to case, ``_`` and ``-`` (``min_length``).  Names that begin with another character than a letter or
``$`` are none: ``_format`` is how people switch a keyword off.  A format is a slip if it is near one that is
known.

Cost: the reader notes the keywords that no draft has and asks here once, at its end.  A distance is computed
only for names that differ in few letters, and each name is judged once in a process.

Rejected: names near annotations (``titel``), which change no text; and any name that is not known, which
would report ``x-order`` and ``markdownDescription``: ``unknown="error"`` is for those who want that.

Source of the distance: Damerau 1964, restricted to edits that do not overlap (optimal string alignment).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from decimal import Decimal
from functools import lru_cache
from typing import Any, NamedTuple

from tokamata.patterns.json_schema.dialect import Dialect
from tokamata.patterns.json_schema.drafts import DRAFTS
from tokamata.patterns.json_schema.formats import FORMATS
from tokamata.patterns.json_schema.text import shown

__all__ = ["ANNOTATIONS", "Noted", "Slip", "slip_of", "slip_of_root"]

_TYPES = ("null", "boolean", "object", "array", "number", "string", "integer")
_LONG_NAME = 8  # letters, from which on two edits are still a slip
_MOST_LETTERS = 40  # no keyword is near a longer name

# What no draft asserts, and what is no slip: annotations of the drafts and of hyper-schemas, and what
# OpenAPI, pydantic, Zod and editors write.
_QUIET_KEYWORDS = """
$schema $anchor $dynamicAnchor $recursiveAnchor $vocabulary $comment $defs definitions
title description default examples deprecated readOnly writeOnly
contentEncoding contentMediaType contentSchema
links base media binaryEncoding fragmentResolution pathStart targetSchema
discriminator xml externalDocs example propertyOrdering ~standard
enumNames enumDescriptions markdownDescription markdownEnumDescriptions errorMessage deprecationMessage
enumDeprecationMessages defaultSnippets doNotSuggest suggestSortText allowComments allowTrailingCommas
tsType javaType existingJavaType options ui:order ui:widget
"""
ANNOTATIONS = frozenset(_QUIET_KEYWORDS.split())
_KNOWN = ANNOTATIONS | {"id", "nullable"}
# Formats with a meaning elsewhere: OpenAPI's registry, pydantic's types, ajv's and draft 3's names.
_QUIET_FORMATS = """
int8 int16 int32 int64 uint8 uint16 uint32 uint64 single-int double-int float double decimal decimal128
binary byte base64 base64url password char html commonmark media-range http-date
sf-binary sf-boolean sf-decimal sf-integer sf-string sf-token
json-string file-path directory-path path multi-host-uri name-email
ipvanyaddress ipvanyinterface ipvanynetwork ipv4network ipv6network ipv4interface ipv6interface
uuid1 uuid3 uuid4 uuid5 uuid6 uuid7 uuid8 cuid cuid2 ulid ksuid xid nanoid emoji jwt cidrv4 cidrv6 e164
color style phone utc-millisec iso-time iso-date-time data
markdown textarea text string table tabs grid checkbox select radio
"""
_OTHER_FORMATS = frozenset(_QUIET_FORMATS.split())
# Formats that go by another name elsewhere.
_OTHER_FORMAT_NAMES = {"url": "uri", "guid": "uuid", "ip-address": "ipv4", "host-name": "hostname"}
# Keywords whose meaning another has: of draft 3, or of none.
_OTHER_NAMES = {
    "divisibleBy": "multipleOf",
    "disallow": "not",
    "extends": "allOf",
    "inclusiveMinimum": "minimum",
    "inclusiveMaximum": "maximum",
    "regex": "pattern",
    "min": "minimum",
    "max": "maximum",
    "choices": "enum",
    "values": "enum",
}
_INSTEAD = {  # of keywords that a later draft gave up
    "dependencies": "dependentRequired and dependentSchemas",
    "additionalItems": "items beside prefixItems",
    "$recursiveRef": "$dynamicRef",
}
_POSIX_INSTEAD = {
    "alnum": "[A-Za-z0-9]",
    "alpha": "[A-Za-z]",
    "blank": r"[ \t]",
    "digit": "[0-9]",
    "lower": "[a-z]",
    "space": r"\s",
    "upper": "[A-Z]",
    "word": r"\w",
    "xdigit": "[0-9A-Fa-f]",
}
_POSIX_CLASS = re.compile(
    r"\[:\^?(alnum|alpha|ascii|blank|cntrl|digit|graph|lower|print|punct|space|upper|word|xdigit):\]"
)


class Noted(NamedTuple):
    """What the reader did not know, or doubts.

    Attributes:
        schema: the schema.
        keyword: the keyword; with ``"format"`` and the keywords of patterns, the value is in doubt.
        dialect: the draft of the schema.
    """

    schema: dict[str, Any]
    keyword: str
    dialect: Dialect


class Slip(NamedTuple):
    """What is wrong with a keyword.

    Attributes:
        near: what was probably meant: a keyword or a format; ``""`` if that is not known.
        found: what is there, as errors say it.
        expected: what should be there.
        reason: the same as a sentence about the keyword, for warnings.
    """

    near: str
    found: str
    expected: str
    reason: str


def slip_of(noted: Noted, any_unknown: bool) -> Slip | None:
    """Why a keyword is a slip; ``None`` where it is none.

    Args:
        noted: what the reader noted.
        any_unknown: whether all that is not known counts as one.
    """
    schema, keyword, dialect = noted
    if type(keyword) is not str:
        return None
    value = schema[keyword]
    if keyword == "format":
        return _slip_of_format(value, any_unknown)
    if keyword in ("pattern", "patternProperties"):
        return _slip_of_pattern(value)
    if keyword == "nullable":
        return _slip_of_nullable(schema) if value is True else None
    if keyword in ("id", "$id"):
        return _slip_of_id(keyword, value, dialect)
    if keyword in ANNOTATIONS or keyword.startswith(("x-", "X-")):
        return None
    drafts = _drafts_with(keyword)
    if dialect.name in drafts:
        return None  # left out by a metaschema of the schema's own
    if drafts:
        return _slip_of_draft(schema, keyword, dialect, drafts)
    if schema.get("type") == "object" and "properties" not in schema and _is_typed(value):
        return _slip(keyword, dialect, "properties", f'write "properties": {{"{keyword:.80}": …}}')
    if keyword == "optional" and isinstance(value, bool):
        advice = "a property is optional unless 'required' of its object names it"
        return _slip(keyword, dialect, "required", advice)
    for near in _near(keyword):
        if _may_have(near, value):
            return _slip(keyword, dialect, near, f"did you mean {near!r}?")
    return _slip(keyword, dialect, "", "leave it out, or begin it with x-") if any_unknown else None


def slip_of_root(schema: Any) -> Slip | None:
    """Why a whole schema is a slip that has names, and no keyword: it accepts every value.

    Only of the root: schemas within others may well have annotations of their own alone.
    """
    if not isinstance(schema, dict) or not schema or any(map(_is_known, schema)):
        return None
    if isinstance(schema.get("schema"), dict):
        advice = 'pass its "schema"'
    elif isinstance(schema.get("parameters"), dict):
        advice = "tokamata.tool_calls takes a tool"
    elif any(isinstance(value, type) for value in schema.values()):
        advice = "for types of Python, pass a class, such as a TypedDict, to tokamata.type"
    else:
        advice = 'write {"type": "object", "properties": {…}}'
    name = next(iter(schema))
    reason = f"{name!r:.80} is no keyword, nor is another name there, so every value is accepted; {advice}"
    return Slip("properties", "not known", "a keyword", reason)


def _is_known(name: Any) -> bool:
    """Whether a name is a keyword, an annotation, or switched off by its first letter."""
    is_text = isinstance(name, str)
    return (
        not is_text or name in _KNOWN or name.startswith(("_", "$", "x-", "X-")) or bool(_drafts_with(name))
    )


def _slip(keyword: str, dialect: Dialect, near: str, advice: str) -> Slip:
    expected = f"a keyword of {dialect.name}" + (f", such as {near!r}" if near else "")
    reason = f"the keyword {keyword!r:.80} says nothing in {dialect.name}; {advice}"
    return Slip(near, "not known", expected, reason)


def _slip_of_draft(
    schema: dict[str, Any], keyword: str, dialect: Dialect, drafts: tuple[str, ...]
) -> Slip | None:
    """About a keyword that only other drafts have."""
    if keyword == "additionalItems" and "prefixItems" not in schema:
        return None  # without a list of schemas it says nothing in any draft
    if not _may_have(keyword, schema[keyword]):
        return None
    names = [draft.name for draft in DRAFTS.values()]
    earlier = [name for name in drafts if names.index(name) < names.index(dialect.name)]
    home = earlier[-1] if earlier else drafts[0]
    advice = f"it is of {home}"
    if keyword in _INSTEAD:
        advice += f", and here {_INSTEAD[keyword]} stand for it"
    uri = next(uri for uri, draft in DRAFTS.items() if draft.name == home)
    slip = _slip(
        keyword, dialect, _INSTEAD.get(keyword, ""), f'{advice}; "$schema": "{uri}" names that draft'
    )
    return slip._replace(expected=f'a keyword of {dialect.name}, or "$schema": "{uri}"')


def _slip_of_nullable(schema: dict[str, Any]) -> Slip:
    kind = schema.get("type")
    instead = f'"type": ["{kind}", "null"]' if kind in _TYPES else '"anyOf": [{…}, {"type": "null"}]'
    return Slip(
        "type",
        "one of OpenAPI 3.0, which JSON Schema does not have",
        instead,
        "the keyword 'nullable' is of OpenAPI 3.0 and says nothing here, so null is refused; "
        f"write {instead}",
    )


def _slip_of_id(keyword: str, value: Any, dialect: Dialect) -> Slip | None:
    """About the identifier of another draft, where it looks like a URI; Zod writes names as ``id``."""
    wanted = dialect.id_keyword
    if keyword == wanted or type(value) is not str or not re.match(r"#|[a-z][a-z0-9+.-]*:|.*/", value):
        return None
    return _slip(keyword, dialect, wanted, f"a schema is identified by {wanted!r} there")


def _slip_of_format(value: str, any_unknown: bool) -> Slip | None:
    if value in _OTHER_FORMATS:
        return None
    near = next(iter(_near_formats(value)), "")
    if not near and not any_unknown:
        return None
    meant = f"; did you mean {near!r}?" if near else ""
    expected = f'"{near}"' if near else "a format of JSON Schema"
    return Slip(
        near, shown(value), expected, f"the format {value!r:.80} is not known, so it says nothing{meant}"
    )


def _slip_of_pattern(value: Any) -> Slip | None:
    for pattern in value if isinstance(value, dict) else [value]:
        found = _POSIX_CLASS.search(pattern)
        if found is not None:
            name = found.group()
            reason = (
                f"{name} is no class of letters in the pattern {pattern!r:.80}: within [ ] it is the "
                f"characters [ : and those of the name; write \\p{{…}} or a range, such as "
                f"{_POSIX_INSTEAD.get(found.group(1), '[A-Za-z]')}"
            )
            expected = f"a pattern without {name}, which is no class of letters in ECMA-262"
            return Slip(_POSIX_INSTEAD.get(found.group(1), ""), shown(pattern), expected, reason)
    return None


def _schema(value: Any) -> bool:
    return isinstance(value, (dict, bool))


def _schemas(value: Any) -> bool:
    return isinstance(value, list) and all(_schema(one) for one in value)


def _is_typed(value: Any) -> bool:
    return isinstance(value, dict) and _types(value.get("type"))


def _names(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(one, str) for one in value)


def _types(value: Any) -> bool:
    return value in _TYPES if isinstance(value, str) else _names(value) and set(value) <= set(_TYPES)


def _number(value: Any) -> bool:
    return isinstance(value, (int, float, Decimal)) and not isinstance(value, bool)


def _mapping(value: Any) -> bool:
    return isinstance(value, dict) and all(isinstance(one, (dict, list, bool)) for one in value.values())


def _text(value: Any) -> bool:
    return isinstance(value, str)


def _reference(value: Any) -> bool:
    return isinstance(value, str) and ("#" in value or "/" in value)


# For each keyword that says something about values: what its value looks like.
_VALUES: dict[str, Callable[[Any], bool]] = {
    **dict.fromkeys(("$ref", "$dynamicRef", "$recursiveRef"), _reference),
    **dict.fromkeys(("allOf", "anyOf", "oneOf", "prefixItems"), _schemas),
    **dict.fromkeys(("not", "if", "then", "else", "contains", "propertyNames"), _schema),
    **dict.fromkeys(("additionalProperties", "additionalItems"), _schema),
    **dict.fromkeys(("unevaluatedProperties", "unevaluatedItems"), _schema),
    "items": lambda value: _schema(value) or _schemas(value),
    "type": _types,
    "enum": lambda value: isinstance(value, list),
    "const": lambda value: True,
    **dict.fromkeys(("minimum", "maximum", "multipleOf", "minLength", "maxLength"), _number),
    **dict.fromkeys(("exclusiveMinimum", "exclusiveMaximum"), lambda value: _number(value) or value is True),
    **dict.fromkeys(("minItems", "maxItems", "minContains", "maxContains"), _number),
    **dict.fromkeys(("minProperties", "maxProperties"), _number),
    "uniqueItems": lambda value: isinstance(value, bool),
    "required": _names,
    **dict.fromkeys(("properties", "patternProperties", "dependentSchemas"), _mapping),
    **dict.fromkeys(("dependentRequired", "dependencies"), _mapping),
    **dict.fromkeys(("pattern", "format"), _text),
}


def _may_have(keyword: str, value: Any) -> bool:
    return _VALUES.get(keyword, lambda _: True)(value)


@lru_cache(maxsize=4096)
def _drafts_with(keyword: str) -> tuple[str, ...]:
    """The drafts in which a keyword says something, oldest first."""
    home = {"then": "if", "else": "if"}.get(keyword, keyword)
    return tuple(draft.name for draft in DRAFTS.values() if home in draft.handlers)


@lru_cache(maxsize=4096)
def _near(keyword: str) -> tuple[str, ...]:
    """The keywords that a name is near, nearest first."""
    if keyword in _OTHER_NAMES:
        return (_OTHER_NAMES[keyword],)
    if not (keyword[:1].isalpha() or keyword.startswith("$")):
        return ()
    return _nearest(keyword, _KEYWORDS)


@lru_cache(maxsize=4096)
def _near_formats(name: str) -> tuple[str, ...]:
    """The formats that a name is near, nearest first."""
    if name in _OTHER_FORMAT_NAMES:
        return (_OTHER_FORMAT_NAMES[name],)
    return _nearest(name, _FORMATS)


def _folded(name: str) -> str:
    return name.casefold().replace("_", "").replace("-", "").replace(" ", "")


def _letters(name: str) -> int:
    """The set of letters of a name, as bits."""
    bits = 0
    for letter in name:
        bits |= 1 << (ord(letter) & 31)
    return bits


def _index(names: Iterable[str]) -> list[tuple[str, str, int]]:
    return [(name, _folded(name), _letters(_folded(name))) for name in names]


_KEYWORDS = _index(_VALUES)
_FORMATS = _index(FORMATS)


def _nearest(name: str, known: list[tuple[str, str, int]]) -> tuple[str, ...]:
    if len(name) > _MOST_LETTERS:
        return ()
    folded = _folded(name)
    letters = _letters(folded)
    found = []
    for candidate, spelled, bits in known:
        most = 2 if min(len(spelled), len(folded)) >= _LONG_NAME else 1
        if len(spelled) < 3 and spelled != folded:
            continue  # any two letters are near "if"
        # An edit puts at most one letter into the set and takes one out.
        if abs(len(spelled) - len(folded)) > most or (letters ^ bits).bit_count() > 2 * most:
            continue
        distance = edit_distance(folded, spelled)
        if distance <= most:
            found.append((distance, candidate))
    return tuple(candidate for _, candidate in sorted(found))


def edit_distance(one: str, other: str) -> int:
    """The least number of letters to insert, remove, replace, or swap with their neighbour."""
    before: list[int] = []
    row = list(range(len(other) + 1))
    for i, a in enumerate(one, 1):
        older, before, row = before, row, [i]
        for j, b in enumerate(other, 1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (a != b))
            if i > 1 and j > 1 and a == other[j - 2] and one[i - 2] == b:
                cost = min(cost, older[j - 2] + 1)
            row.append(cost)
    return row[-1]
