"""Objects as members between tags, as chat templates write them, and a reader by definition.

Both follow the descriptions of the styles with string operations alone.  The reader tries every member as
JSON and as a string, and asks a validator of JSON Schema.
"""

from __future__ import annotations

import json
import random
import re
from typing import Any

import jsonschema

from tokamata.patterns.tagged import STYLES, TagStyle

M3 = "]<]minimax[>["


def kind_of(value: Any) -> str:
    """The type of a value, as JSON Schema names it; all numbers are ``number``."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, (int, float)):
        return "number"
    return {str: "string", list: "array", dict: "object"}[type(value)]


def types_of(schema: Any) -> set[str]:
    """The types that a schema of the tests allows."""
    everything = {"string", "null", "boolean", "number", "array", "object"}
    if schema is True or schema == {}:
        return everything
    found: set[str] = set()
    if "type" in schema:
        given = schema["type"]
        found |= set([given] if isinstance(given, str) else given)
        found = {"number" if one == "integer" else one for one in found}
    for one in [*schema.get("enum", []), *([schema["const"]] if "const" in schema else [])]:
        found |= {kind_of(one)}
    for inner in [*schema.get("anyOf", []), *schema.get("oneOf", [])]:
        found |= types_of(inner)
    return found or everything


def is_writable(text: str, others: set[str], style: TagStyle, *, within_json: bool = False) -> bool:
    """Whether a string can be written where values of other types may stand in its place."""
    if any(re.search(one, text) for one in style.ends):
        return False
    if within_json:
        return True
    closing = style.closing.partition("{name}")[0]
    if (text + ("\n" if style.drops_line_feeds else "") + closing).find(closing) < len(text):
        return False
    kinds = {"string", *others}
    return not any(re.fullmatch(one, text) for kind, one in style.misread.items() if kind in kinds)


def is_value_writable(value: Any, schema: Any, style: TagStyle) -> bool:
    """Whether a value of a member can be written."""
    if isinstance(value, str):
        return is_writable(value, types_of(schema) - {"string"}, style)
    if style.items is None:  # JSON: a text that ends a value is escaped, which this writer does not
        return not any(re.search(one, json.dumps(value, ensure_ascii=False)) for one in style.ends)
    if isinstance(value, (list, dict)) and not value and not style.is_marked and "string" in types_of(schema):
        return False  # it is the empty string
    if isinstance(value, list):
        return all(is_value_writable(one, schema.get("items", True), style) for one in value)
    if isinstance(value, dict):
        properties = schema.get("properties", {})
        return all(is_value_writable(one, properties.get(name, True), style) for name, one in value.items())
    return True


def written(value: dict[str, Any], style_name: str, rng: random.Random) -> str:
    """The members of an object; what a style leaves open is drawn."""
    style = STYLES[style_name]

    def blank() -> str:
        return rng.choice(["", "\n"]) if style.between else ""

    def escaped(name: str) -> str:
        return "".join(style.escapes.get(character, character) for character in name)

    def member(name: str, one: Any) -> str:
        attributes = style.attributes[kind_of(one)].replace("{blanks}", blank())
        closing = style.closing.replace("{name}", name)
        return style.opening + escaped(name) + attributes + body(one) + closing

    def element(one: Any) -> str:
        assert style.items is not None
        return style.items.opening + style.items.attributes[kind_of(one)] + body(one) + style.items.closing

    def body(one: Any) -> str:
        if isinstance(one, str):
            if not style.drops_line_feeds:
                return one
            before = "\n" if one.startswith("\n") else rng.choice(["", "\n"])
            after = "\n" if one.endswith("\n") else rng.choice(["", "\n"])
            return before + one + after
        if style.items is not None and isinstance(one, (list, dict)):
            inner = [element(x) for x in one] if isinstance(one, list) else [member(*x) for x in one.items()]
            return "".join(blank() + x for x in inner) + (blank() if inner else "")
        around = rng.choice(["", "\n"]) if style.around else ""
        return around + json.dumps(one, ensure_ascii=rng.random() < 0.3) + around

    return "".join(blank() + member(*one) for one in value.items()) + blank()


def read(text: str, style_name: str, schema: Any) -> dict[str, Any]:
    """The object of a text, in a style without tags in values; its first member decides first.

    Raises ``ValueError`` if no object of the schema is written so.
    """
    style = STYLES[style_name]
    assert style.items is None
    attributes = {text: kind for kind, text in style.attributes.items()}
    ends = "|".join(re.escape(one).replace(re.escape("{blanks}"), r"\s*") for one in attributes)
    one_member = re.compile(
        rf"\s*{re.escape(style.opening)}(?P<name>.*?)(?P<end>{ends})(?P<value>.*?){re.escape(style.closing)}",
        re.DOTALL,
    )
    options: list[list[tuple[str, Any]]] = []
    at = 0
    while found := one_member.match(text, at):
        at = found.end()
        name = found["name"].replace("&quot;", '"').replace("&lt;", "<").replace("&gt;", ">")
        name = name.replace("&amp;", "&")
        raw = found["value"]
        if style.drops_line_feeds:
            raw = raw.removeprefix("\n")
            raw = raw.removesuffix("\n")
        tried: list[tuple[str, Any]] = []
        if not style.is_marked or attributes[found["end"]] != "string":
            try:
                value = json.loads(raw, parse_constant=str)  # NaN is a string then
                tried += [] if isinstance(value, str) else [(name, value)]
            except ValueError:
                pass
        if not style.is_marked or attributes[found["end"]] == "string":
            tried.append((name, raw))
        options.append(tried)
    if text[at:].strip():
        raise ValueError(f"no member at {text[at : at + 40]!r}")
    validator = jsonschema.Draft202012Validator(schema)
    pending: list[dict[str, Any]] = [{}]
    for tried in options:
        pending = [{**one, name: value} for one in pending for name, value in tried if name not in one]
    for one in pending:
        if validator.is_valid(one):
            return one
    raise ValueError("no object of the schema")


STRINGS = [
    *("", "Bern", "x" * 40, "a b", "é✓🙂", "a\tb", "a\r\nb", "\u00a0x", "a: b", "[draft] x", "{x", "}", "]"),
    *(
        "5",
        " 5 ",
        "-7",
        "5.5",
        "1e5",
        "+5",
        "1_000",
        "٥",
        "۱۲",
        "0x10",
        "1.",
        ".5",
        "NaN",
        "Infinity",
        "infinity",
    ),
    *("null", "Null", " null", "None", "nil", "true", "True", " true ", "yes", "false", "0", "1"),
    *("[]", "[1, 2]", '{"a": 1}', '"quoted"', "'q'", '"', "\\", "\\n", "2024-05-01", "12:30"),
    *("\n", "\n\n", " ", "\nx\n", "x\n", " x ", "line one\nline two", "def f():\n    return 1\n"),
    *("a < b", "a<b>c", "<b>bold</b>", "<", "</", "<|", "]<]", "｜", "</param", "</parameter", "<parameter"),
    *("</arg_value", "</function", "<tool_call", "&amp;", "&", "%20", "http://a.b/?c=d&e=f"),
]

NUMBER = {"type": "number", "minimum": -1e30, "maximum": 1e30}  # no host reads 1e999 as a number
SCHEMAS: list[dict[str, Any]] = [
    {
        "type": "object",
        "properties": {
            "city": {"type": "string"},
            "days": {"type": "integer"},
            "kind": {"enum": ["a", "b", 3]},
            "short": {"type": "string", "maxLength": 20},
            "flags": {"type": "array", "items": {"type": "boolean"}},
        },
        "required": ["city", "days"],
        "additionalProperties": False,
    },
    {
        "type": "object",
        "properties": {
            "either": {"type": ["string", "integer", "null"]},
            "ratio": {"anyOf": [NUMBER, {"type": "string", "pattern": "^[a-z<]*$"}]},
            "ready": {"type": "boolean"},
            "note": {"type": ["string", "null"]},
            "date": {"type": "string", "format": "date"},
        },
        "required": ["either"],
        "additionalProperties": False,
    },
    {
        "type": "object",
        "properties": {
            "point": {
                "type": "object",
                "properties": {
                    "x": NUMBER,
                    "label": {"type": "string"},
                    "tags": {"type": "array", "items": {"type": "string"}},
                },
                "required": ["x"],
                "additionalProperties": False,
            },
            "names": {"type": "array", "items": {"type": "string"}, "maxItems": 3},
            "mixed": {"type": ["string", "array"], "items": {"type": "integer"}},
            "level": {"const": "high"},
            "none": {"type": "null"},
        },
        "required": ["point"],
        "additionalProperties": False,
    },
    {
        "type": "object",
        "properties": {
            "first name": {"type": "string", "minLength": 2},
            "größe_1": NUMBER,
            "a-b.c": {"type": ["boolean", "string"]},
            "code": {"type": "string", "enum": ["<", "</x>", "a\nb", "x y"]},
        },
        "required": ["first name"],
        "additionalProperties": False,
    },
]


def drawn(schema: Any, rng: random.Random) -> Any:
    """A random value of a schema of the tests."""
    validator = jsonschema.Draft202012Validator(schema, format_checker=jsonschema.FormatChecker())
    for _ in range(1000):
        value = _candidate(schema, rng)
        if validator.is_valid(value):
            return value
    raise AssertionError(f"no value of {schema}")


def _candidate(schema: Any, rng: random.Random) -> Any:
    if "enum" in schema:
        return rng.choice(schema["enum"])
    if "const" in schema:
        return schema["const"]
    if "anyOf" in schema:
        return _candidate(rng.choice(schema["anyOf"]), rng)
    kind = schema.get("type", "string")
    kind = kind if isinstance(kind, str) else rng.choice(kind)
    if kind == "object":
        names = [
            name for name in schema["properties"] if name in schema.get("required", ()) or rng.random() < 0.7
        ]
        return {name: drawn(schema["properties"][name], rng) for name in names}
    if kind == "array":
        return [drawn(schema["items"], rng) for _ in range(rng.randrange(4))]
    if kind == "string":
        if rng.random() < 0.2:
            return "".join(rng.choice("ab <>/\n5") for _ in range(rng.randrange(8)))
        return rng.choice(STRINGS)
    if kind == "integer":
        return rng.choice([0, 1, 5, -7, 12345678901234567890, 10])
    if kind == "number":
        return rng.choice([0, 1, 5, -7, 0.5, -1.25e-7, 1e22, 3.0])
    return {"boolean": rng.random() < 0.5, "null": None}[kind]
