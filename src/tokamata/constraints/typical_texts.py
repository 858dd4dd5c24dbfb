"""A typical JSON text of a schema: how long answers are, before there is one.

Problem.  A budget has to leave room for an answer, but the schema says only how short and how long one may
be.  ``{"name": "", "born": 1}`` is the shortest answer, and no name is as short.

Example.  ``{"properties": {"name": {"type": "string"}, "born": {"type": "integer", "minimum": 1000}}}`` has
the typical text ``{"name": "the quick brown fox jumps over", "born": 1000}``.

How.  Names and punctuation are those of the schema.  A value is the longest of its ``const``, ``enum`` and
``examples``; without these, one of its type: a string of six words, a number of four digits, three elements;
each within its bounds.  A ``default`` counts if it is longer.  Strings of a format are as long as an example
of it.  Of several branches, the longest counts.  All declared properties are written.  The text need not be
one that the schema accepts: only its length counts.

Cost.  Linear in the text, which has at most some ``MOST_CHARACTERS`` and ``MOST_DEPTH`` levels; of branches,
at most ``MOST_SCHEMAS`` subschemas are read in all.

Not taken.  The mean of what the schema accepts: strings and arrays without a bound have none.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

__all__ = ["typical_text"]

MOST_CHARACTERS = 4000  # of a typical text
MOST_DEPTH = 8  # of brackets in it
MOST_SCHEMAS = 2000  # that are read for one

_WORDS = "the quick brown fox jumps over the lazy dog and runs on "
_FEW = len("the quick brown fox jumps over")
_ELEMENTS = 3
_FORMATS = {
    "date": "2024-11-26",
    "time": "16:35:16Z",
    "date-time": "2024-11-26T16:35:16Z",
    "duration": "P3DT4H30M",
    "email": "paul.klee@example.org",
    "idn-email": "paul.klee@example.org",
    "hostname": "www.example.org",
    "idn-hostname": "www.example.org",
    "ipv4": "192.168.100.100",
    "ipv6": "2001:db8:85a3::8a2e:370:7334",
    "uri": "https://www.example.org/paintings/1922",
    "uri-reference": "/paintings/1922",
    "iri": "https://www.example.org/paintings/1922",
    "iri-reference": "/paintings/1922",
    "uri-template": "/paintings/{year}",
    "uuid": "123e4567-e89b-12d3-a456-426614174000",
    "json-pointer": "/paintings/0/year",
    "relative-json-pointer": "1/year",
    "regex": "^[a-z]+$",
}


def typical_text(schema: Any) -> str:
    """A JSON text that is about as long as values of a schema are.

    Args:
        schema: a JSON Schema of any draft, as ``json.loads`` makes it, or its text.
    """
    if isinstance(schema, (str, bytes)):
        schema = json.loads(schema)
    return _Writer(schema).text(schema, 0)


class _Writer:
    """Writes the text of one document.

    Attributes:
        left: how many more characters it may have.
    """

    def __init__(self, document: Any) -> None:
        self._document = document
        self._unread = MOST_SCHEMAS
        self.left = MOST_CHARACTERS

    def text(self, schema: Any, depth: int) -> str:
        """The text of a subschema."""
        self._unread -= 1
        if self.left <= 0 or self._unread < 0 or depth > MOST_DEPTH:
            return "null"
        if not isinstance(schema, Mapping):
            return self._paid(_shown(_words({})))
        if given := _given(schema):
            return self._paid(max(given, key=len))
        if "$ref" in schema:
            return self.text(self._target(schema["$ref"]), depth + 1)
        for key in ("anyOf", "oneOf", "allOf"):
            branches = schema.get(key)
            if isinstance(branches, Sequence) and branches and not isinstance(branches, str):
                return self._longest([{**_rest(schema, key), **_mapping(one)} for one in branches], depth)
        text = self._of_type(schema, depth)
        default = _shown(schema["default"]) if "default" in schema else ""
        return text if len(default) <= len(text) else self._paid(default)

    def _longest(self, branches: Sequence[Any], depth: int) -> str:
        before, texts, costs = self.left, [], []
        for branch in branches:
            self.left = before
            texts.append(self.text(branch, depth + 1))
            costs.append(before - self.left)
        self.left = before - max(costs)
        return max(texts, key=len)

    def _of_type(self, schema: Mapping[str, Any], depth: int) -> str:
        kind = schema.get("type")
        if isinstance(kind, (list, tuple)) and kind:
            return self._longest([{**schema, "type": one} for one in kind], depth)
        if kind == "object" or (kind is None and ("properties" in schema or "required" in schema)):
            return self._object(schema, depth)
        if kind == "array" or (kind is None and ("items" in schema or "prefixItems" in schema)):
            return self._array(schema, depth)
        if kind == "integer" or kind == "number":
            return self._paid(_number(schema, kind))
        if kind == "boolean" or kind == "null":
            return self._paid("false" if kind == "boolean" else "null")
        return self._paid(_shown(_words(schema)))

    def _object(self, schema: Mapping[str, Any], depth: int) -> str:
        members = dict(_mapping(schema.get("properties")))
        for name in schema.get("required") or ():
            members.setdefault(name, {})
        least = schema.get("minProperties")
        count = least if isinstance(least, int) else 0 if members or _is_closed(schema) else 2
        for number in range(len(members), min(count, MOST_CHARACTERS)):
            members[f"name {number}"] = schema.get("additionalProperties")
        written = []
        for name, inner in members.items():
            if self.left <= 0:
                break
            if inner is not False:
                written.append(f"{self._paid(_shown(name))}: {self.text(inner, depth + 1)}")
        return "{" + ", ".join(written) + "}"

    def _array(self, schema: Mapping[str, Any], depth: int) -> str:
        first, inner = schema.get("prefixItems", ()), schema.get("items", {})
        if isinstance(inner, (list, tuple)):  # before 2020-12
            first, inner = inner, schema.get("additionalItems", {})
        elements = list(first) if isinstance(first, (list, tuple)) else []
        least, most = schema.get("minItems"), schema.get("maxItems")
        count = max(_ELEMENTS, least if isinstance(least, int) else 0)
        count = min(count, most if isinstance(most, int) else count, MOST_CHARACTERS)
        if inner is not False:
            elements += [inner] * (count - len(elements))
        written = []
        for element in elements:
            if self.left <= 0:
                break
            written.append(self.text(element, depth + 1))
        return "[" + ", ".join(written) + "]"

    def _paid(self, text: str) -> str:
        self.left -= len(text) + 2
        return text

    def _target(self, reference: Any) -> Any:
        """What a reference within the document leads to; any value where it leads elsewhere."""
        if not isinstance(reference, str) or not reference.startswith("#"):
            return {}
        found = self._document
        for step in reference[1:].split("/")[1:]:
            step = step.replace("~1", "/").replace("~0", "~")
            if isinstance(found, Mapping):
                found = found.get(step, {})
            elif isinstance(found, (list, tuple)) and step.isdecimal() and int(step) < len(found):
                found = found[int(step)]
            else:
                return {}
        return found


def _given(schema: Mapping[str, Any]) -> list[str]:
    """The texts of values that a schema names."""
    if "const" in schema:
        return [_shown(schema["const"])]
    for key in ("enum", "examples"):
        values = schema.get(key)
        if isinstance(values, (list, tuple)) and values:
            return [_shown(value) for value in values[:1000]]
    return []


def _words(schema: Mapping[str, Any]) -> str:
    """A string of a schema."""
    least, most = schema.get("minLength"), schema.get("maxLength")
    example = _FORMATS.get(schema["format"]) if isinstance(schema.get("format"), str) else None
    length = max(least if isinstance(least, int) else 0, _FEW)
    length = min(length, most if isinstance(most, int) else length, MOST_CHARACTERS)
    return example or (_WORDS * (length // len(_WORDS) + 1))[:length]


def _number(schema: Mapping[str, Any], kind: str) -> str:
    """The longest bound, or four digits."""
    keys = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")
    bounds = [schema[key] for key in keys if _is_number(schema.get(key))]
    texts = [_shown(bound)[:20] for bound in bounds] or ["1234"]
    return max(texts, key=len) + (".25" if kind == "number" else "")


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _is_closed(schema: Mapping[str, Any]) -> bool:
    return schema.get("additionalProperties") is False and not schema.get("patternProperties")


def _rest(schema: Mapping[str, Any], key: str) -> dict[str, Any]:
    return {name: value for name, value in schema.items() if name != key}


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _shown(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)
