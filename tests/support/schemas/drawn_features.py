"""Features of JSON Schema, each with values that are nearly equal, and places where two of them meet.

A feature is a keyword, or a few that belong together.  One of strings or numbers has no parts; one of
arrays, objects or logic has a part, which is another feature.  Values of a feature begin alike and differ
near the end, so that masks decide late.  Most of them are valid; a judge says which.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import jsonschema_rs

Schema = dict[str, Any]
COUNT = 20  # values of a feature without parts, at most
FEW = 4  # values
ARRAYS = 5  # values of a feature of arrays or objects
LETTERS = "abcdefghijklmnopqrst"


@dataclass
class Drawn:
    """A schema, and values of it.

    Attributes:
        schema: without what it refers to.
        values: nearly equal; most of them are valid.
        definitions: what the schema refers to, by the name in ``$defs``.
    """

    schema: Schema
    values: list[Any]
    definitions: dict[str, Schema] = field(default_factory=dict)

    @property
    def texts(self) -> list[str]:
        """The values that are strings."""
        return [value for value in self.values if isinstance(value, str)]

    def mostly_valid(self) -> Drawn:
        """With what is valid, and one value that is not where there are many; unchanged where nothing is."""
        try:
            judge = jsonschema_rs.Draft202012Validator(self.whole())
        except (jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError, ValueError):
            return self
        valid = [value for value in self.values if judge.is_valid(value)]
        others = [value for value in self.values if not judge.is_valid(value)]
        kept = [*valid, *others[: len(valid) > FEW]]
        return Drawn(self.schema, kept, self.definitions) if valid else self

    def whole(self) -> Schema:
        """The schema with what it refers to."""
        return {**self.schema, "$defs": self.definitions} if self.definitions else self.schema


Leaf = Callable[[random.Random], Drawn]
Container = Callable[[random.Random, Drawn], Drawn]


def _texts(before: str, after: str = "") -> list[str]:
    return [f"{before}{letter}{after}" for letter in LETTERS]


def _numbered(before: str, after: str = "", first: int = 10) -> list[str]:
    return [f"{before}{number}{after}" for number in range(first, first + COUNT)]


FORMATS: dict[str, list[str]] = {
    "date-time": _numbered("2024-01-02T03:04:", "Z"),
    "date": [f"2024-01-{day:02}" for day in range(1, 21)],
    "time": _numbered("03:04:", "Z"),
    "duration": _numbered("P1DT", "S"),
    "email": _texts("ann@example.or"),
    "idn-email": _texts("jürgen@bücher.e"),
    "hostname": _texts("www.example.or"),
    "idn-hostname": _texts("bücher.e"),
    "ipv4": _numbered("192.168.0."),
    "ipv6": _numbered("fe80::"),
    "uri": _texts("http://a.example/p"),
    "uri-reference": _texts("/a/b"),
    "iri": _texts("http://ä.example/ü"),
    "iri-reference": _texts("/ä/b"),
    "uri-template": _texts("/a/{id}/"),
    "json-pointer": _texts("/a/b"),
    "relative-json-pointer": _texts("1/a"),
    "regex": _texts("^[a-z]+", "$"),
    "uuid": _numbered("2eb8aa08-aa98-11ea-b4aa-73b441d163"),
}
PATTERNS: dict[str, list[str]] = {
    "^.{3,20}$": _texts("abc"),
    "^[a-z]+$": _texts("ab"),
    "^[a-z]+-[0-9]+$": _numbered("ab-1"),
    r"^\p{L}+$": _texts("Zoé"),
    "^(?=.*[A-Z])(?=.*[0-9]).{8,40}$": _numbered("Abcdefgh"),
    "^(?!x-)[a-z]+$": _texts("ab"),
    "(?<!a)b$": _texts("c", "b"),
    r"^\S+@\S+$": _texts("a@b."),
    "^[A-Z]{2}[0-9]{4,10}$": _numbered("CH12345"),
    ".*m.*": _texts("am"),
    "^x-": _texts("x-a"),
    "^(foo|bar|baz)[0-9]*$": _numbered("foo1"),
    "[^\\u0000-\\u001f]{2}": _texts('a"\\'),
}


def _plain_strings(draw: random.Random) -> Drawn:
    stem = draw.choice(["ab", "Ann L", 'q"é', "a/b", ""])
    return Drawn({"type": "string"}, list(_texts(stem)))


def _bounded_strings(draw: random.Random) -> Drawn:
    most = draw.choice([5, 24, 100, 400, 1000])
    low = draw.choice([{}, {}, {"minLength": 2}])
    stem = "ab" * draw.choice([1, 1, min(45, (most - 1) // 2)])
    return Drawn({"type": "string", **low, "maxLength": most}, list(_texts(stem)))


def _patterns(draw: random.Random) -> Drawn:
    pattern, texts = draw.choice(list(PATTERNS.items()))
    return Drawn({"type": "string", "pattern": pattern}, list(texts))


def _formats(draw: random.Random) -> Drawn:
    name, texts = draw.choice(list(FORMATS.items()))
    typed = draw.choice([{"type": "string"}, {"type": "string"}, {}])
    return Drawn({**typed, "format": name}, list(texts))


def _enumerations(draw: random.Random) -> Drawn:
    count = draw.choice([3, 8, 50, 320])
    kind = draw.randrange(4)
    if kind == 0:
        values: list[Any] = [f"name {number}" for number in range(count)]
    elif kind == 1:
        values = [1000 + number for number in range(count)]
    elif kind == 2:
        values = [{"a": number, "b": "x"} for number in range(count)]
    else:
        values = ["alpha", "alphabet", 12, 123, None, ["a"], {"a": 1}, *range(count)]
    return Drawn({"enum": values}, values[-COUNT:])


def _constants(draw: random.Random) -> Drawn:
    some: list[list[Any]] = [[12, 1, 121], ["alpha", "alph", "alphas"], [{"a": 1}, {"a": 12}], [[1], [12]]]
    values = draw.choice(some)
    return Drawn({"const": values[0]}, values)


def _integers(draw: random.Random) -> Drawn:
    bounds: Schema = draw.choice(
        [
            {},
            {},
            {"minimum": 0, "maximum": 65535},
            {"exclusiveMinimum": -5},
            {"minimum": -(1 << 63), "maximum": (1 << 63) - 1},
        ]
    )
    first = draw.choice([0, 12340, 1000])
    return Drawn({"type": "integer", **bounds}, [first + number for number in range(COUNT)])


def _numbers(draw: random.Random) -> Drawn:
    bounds: Schema = draw.choice(
        [
            {},
            {"minimum": 0},
            {"exclusiveMinimum": 0, "exclusiveMaximum": 1000},
            {"minimum": -1.5, "maximum": 99.75},
        ]
    )
    return Drawn({"type": "number", **bounds}, [12 + number / 4 for number in range(COUNT)])


def _multiples(draw: random.Random) -> Drawn:
    step: Any = draw.choice([2, 7, 100, 0.5, 0.01])
    bounds: Schema = draw.choice([{}, {"minimum": 10}, {"maximum": 1000}])
    values = [round(step * number, 2) for number in range(20, 20 + COUNT)]
    return Drawn({"type": draw.choice(["integer", "number"]), "multipleOf": step, **bounds}, values)


def _types(draw: random.Random) -> Drawn:
    kinds = draw.sample(["string", "integer", "boolean", "null", "array", "object"], draw.choice([1, 2, 3]))
    some = {"string": "ab", "integer": 12, "boolean": True, "null": None, "array": [1, 2], "object": {"a": 1}}
    return Drawn({"type": kinds}, [some[kind] for kind in kinds] + ["ac", 123])


LEAVES: dict[str, Leaf] = {
    "strings": _plain_strings,
    "lengths": _bounded_strings,
    "pattern": _patterns,
    "format": _formats,
    "enum": _enumerations,
    "const": _constants,
    "integers": _integers,
    "numbers": _numbers,
    "multipleOf": _multiples,
    "types": _types,
}


def _some(draw: random.Random, values: list[Any], most: int = COUNT) -> list[Any]:
    """Some of the values, in their order: two or three as a rule, and sometimes many."""
    count = min(len(values), most, draw.choice([1, 2, 2, 2, 2, 2, 3, 3, 3, 5, 20]))
    start = draw.randint(0, len(values) - count) if values else 0
    return values[start : start + count]


def _arrays(draw: random.Random, inner: Drawn, *others: Any) -> list[Any]:
    """Arrays of its values, some with others at a random position, and one with an element twice."""
    found: list[Any] = []
    for _ in range(ARRAYS):
        elements = list(_some(draw, inner.values))
        if others and draw.random() < 0.6:
            elements.insert(draw.randint(0, len(elements)), draw.choice(others))
        found.append(elements)
    return [*found, [*found[0], *found[0][-1:]]]


def _objects(draw: random.Random, names: Iterable[str], inner: Drawn) -> list[Any]:
    """Objects of these names and values of ``inner``."""
    known = list(names)
    found = []
    for _ in range(ARRAYS):
        used = _some(draw, known, 4)
        found.append({name: draw.choice(inner.values) for name in used} if inner.values else {})
    return found


def _unique(draw: random.Random, inner: Drawn) -> Drawn:
    key = draw.choice(["items", "items", "items", "unevaluatedItems"])
    return Drawn({"type": "array", "uniqueItems": True, key: inner.schema}, _arrays(draw, inner))


def _not_unique(draw: random.Random, inner: Drawn) -> Drawn:
    arrays = [[*one, *one[-1:]] for one in _arrays(draw, inner)]
    bound: Schema = draw.choice([{}, {}, {"maxItems": 5000}])
    return Drawn({"type": "array", "not": {"uniqueItems": True}, "items": inner.schema, **bound}, arrays)


def _contains(draw: random.Random, inner: Drawn) -> Drawn:
    schema: Schema = {"type": "array", "contains": inner.schema}
    least, most = draw.choice([(1, None), (1, None), (0, 3), (2, None), (2, 5), (5, 25)])
    if least != 1:
        schema["minContains"] = least
    if most is not None:
        schema["maxContains"] = most
    if draw.random() < 0.3:
        schema["uniqueItems"] = True
    return Drawn(schema, _arrays(draw, inner, 1, "x", 12, None))


def _items(draw: random.Random, inner: Drawn) -> Drawn:
    bounds: Schema = draw.choice([{}, {"minItems": 1}, {"maxItems": 3}, {"minItems": 2, "maxItems": 20}])
    return Drawn({"type": "array", "items": inner.schema, **bounds}, _arrays(draw, inner))


def _prefix(draw: random.Random, inner: Drawn) -> Drawn:
    first: Schema = draw.choice([inner.schema, {"type": "integer"}, {}])
    rest: Schema = draw.choice(
        [{}, {"items": {"type": "integer"}}, {"items": inner.schema}, {"unevaluatedItems": False}]
    )
    arrays = [[1, *one] if first is not inner.schema else [*one[:1], 7] for one in _arrays(draw, inner)]
    return Drawn({"type": "array", "prefixItems": [first, inner.schema], **rest}, arrays)


def _unevaluated_items(draw: random.Random, inner: Drawn) -> Drawn:
    evaluated: Schema = draw.choice(
        [
            {"prefixItems": [{"type": "integer"}]},
            {"contains": {"const": 1}},
            {"anyOf": [{"contains": {"const": 1}}, {"contains": {"const": "alpha"}}]},
        ]
    )
    arrays = [[1, *one] for one in _arrays(draw, inner, "alpha")]
    return Drawn({"type": "array", **evaluated, "unevaluatedItems": inner.schema}, arrays)


def _members(draw: random.Random, inner: Drawn) -> Drawn:
    schema: Schema = {"type": "object", "properties": {"n": {"type": "string"}, "x": inner.schema}}
    if draw.random() < 0.5:
        schema["additionalProperties"] = False
    if draw.random() < 0.5:
        schema["required"] = draw.choice([["x"], ["n", "x"]])
    return Drawn(
        schema,
        [{"n": "k", "x": value} for value in inner.values] + [{"x": value} for value in inner.values[:2]],
    )


def _many_members(draw: random.Random, inner: Drawn) -> Drawn:
    names = [f"name{number}" for number in range(draw.choice([5, 12, 40]))]
    schema: Schema = {"type": "object", "properties": dict.fromkeys(names, inner.schema)}
    schema["required"] = draw.sample(names, 2)
    if draw.random() < 0.5:
        schema["additionalProperties"] = False
    values = [
        {**dict.fromkeys(schema["required"], inner.values[0]), **one} for one in _objects(draw, names, inner)
    ]
    return Drawn(schema, values if inner.values else [])


def _additional(draw: random.Random, inner: Drawn) -> Drawn:
    key = draw.choice(["additionalProperties", "additionalProperties", "unevaluatedProperties"])
    declared: Schema = draw.choice(
        [{}, {"properties": {"name": {"type": "string"}}}, {"patternProperties": {"^x-": {}}}]
    )
    return Drawn({"type": "object", **declared, key: inner.schema}, _objects(draw, _texts("nam"), inner))


def _pattern_properties(draw: random.Random, inner: Drawn) -> Drawn:
    found = draw.sample(
        sorted({"^x", "^ab", "bc$", "e$", "^(?!x-)[a-z]+$", "^.{1,20}$", ".*m.*", "-one$", "^i"}),
        draw.choice([1, 2, 2, 3]),
    )
    patterns = {pattern: draw.choice([inner.schema, inner.schema, {}]) for pattern in found}
    closing: Schema = draw.choice([{}, {}, {"additionalProperties": False}, {"unevaluatedProperties": False}])
    names = [*_texts("ab", "bc"), *_texts("x"), *_texts("name"), *_texts("i", "-one")]
    return Drawn(
        {"type": "object", "patternProperties": patterns, **closing},
        _objects(draw, draw.sample(names, 12), inner),
    )


def _names(draw: random.Random, inner: Drawn) -> Drawn:
    other = Drawn({}, [1, "x"])
    if inner.texts:
        return Drawn({"type": "object", "propertyNames": inner.schema}, _objects(draw, inner.texts, other))
    names = draw.choice(
        [
            {"minLength": 2, "maxLength": 13},
            {"not": {"enum": ["nope", "none", "namex"]}},
            {"format": "email"},
            {"pattern": "^[a-z]"},
        ]
    )
    known = [*_texts("nam"), *_texts("a@example.or")]
    return Drawn(
        {"type": "object", "propertyNames": names, "additionalProperties": inner.schema},
        _objects(draw, draw.sample(known, 12), inner),
    )


def _member_counts(draw: random.Random, inner: Drawn) -> Drawn:
    bounds: Schema = draw.choice(
        [{"minProperties": 2}, {"maxProperties": 3}, {"minProperties": 1, "maxProperties": 4}]
    )
    return Drawn(
        {"type": "object", **bounds, "additionalProperties": inner.schema},
        _objects(draw, _texts("nam"), inner),
    )


def _dependent_required(draw: random.Random, inner: Drawn) -> Drawn:
    schema: Schema = {
        "type": "object",
        "properties": {"a": inner.schema, "b": inner.schema, "c": {"type": "integer"}},
    }
    schema["dependentRequired"] = {"a": ["b"], "b": ["c"]}
    values = [{**one, "c": 1} for one in _objects(draw, ["a", "b"], inner)]
    return Drawn(schema, values)


def _dependent_schemas(draw: random.Random, inner: Drawn) -> Drawn:
    schema: Schema = {
        "type": "object",
        "dependentSchemas": {"a": {"properties": {"b": inner.schema}, "required": ["b"]}},
    }
    if draw.random() < 0.4:
        schema["unevaluatedProperties"] = {"type": "integer"}
    return Drawn(schema, [{"a": 1, **one} for one in _objects(draw, ["b", "ba"], inner)])


def _twice_not(draw: random.Random, inner: Drawn) -> Drawn:
    return Drawn({"not": {"not": inner.schema}}, inner.values)


def _but_some(draw: random.Random, inner: Drawn) -> Drawn:
    return Drawn({**inner.schema, "allOf": [{"not": {"enum": inner.values[1:4] or [1]}}]}, inner.values)


def _simple(draw: random.Random) -> Schema:
    """A schema without parts, of any kind."""
    return draw.choice(list(LEAVES.values()))(draw).schema


def _one_of(draw: random.Random, inner: Drawn) -> Drawn:
    others = [_simple(draw) for _ in range(draw.choice([1, 1, 2]))]
    return Drawn({"oneOf": [inner.schema, *others]}, inner.values)


def _any_of(draw: random.Random, inner: Drawn) -> Drawn:
    return Drawn({"anyOf": [inner.schema, _simple(draw)]}, inner.values)


def _all_of(draw: random.Random, inner: Drawn) -> Drawn:
    return Drawn({"allOf": [inner.schema, {"anyOf": [inner.schema, _simple(draw)]}]}, inner.values)


def _tagged(draw: random.Random, inner: Drawn) -> Drawn:
    """Objects of several kinds, which a member tells; it is required, or not."""
    count = draw.choice([2, 5, 20])
    needed: Schema = draw.choice([{"required": ["kind"]}, {}])
    kinds = [
        {
            "type": "object",
            "properties": {"kind": {"const": f"kind{number}"}, f"x{number}": inner.schema},
            **needed,
        }
        for number in range(count)
    ]
    values = [{"kind": "kind1", "x1": value} for value in inner.values]
    return Drawn({draw.choice(["oneOf", "anyOf"]): kinds}, values)


def _conditions(draw: random.Random, inner: Drawn) -> Drawn:
    kind = draw.choice([{"type": "string"}, {"type": "integer"}, {"type": "object"}, {"maxLength": 5}])
    otherwise: Schema = draw.choice(
        [{}, {"else": {"type": ["integer", "null"]}}, {"else": {"not": {"type": "object"}}}]
    )
    if draw.random() < 0.5:
        return Drawn({"if": kind, "then": inner.schema, **otherwise}, [*inner.values, 1])
    return Drawn({"if": inner.schema, "then": _simple(draw), **otherwise}, [*inner.values, 1])


def _references(draw: random.Random, inner: Drawn) -> Drawn:
    name = f"part{draw.randrange(1000)}"  # parts nest
    return Drawn({"$ref": f"#/$defs/{name}"}, inner.values, {name: inner.schema})


def _trees(draw: random.Random, inner: Drawn) -> Drawn:
    name = f"node{draw.randrange(1000)}"
    distinct: Schema = draw.choice([{}, {"uniqueItems": True}])
    children = {"type": "array", "items": {"$ref": f"#/$defs/{name}"}, **distinct}
    node: Schema = {"type": "object", "properties": {"v": inner.schema, "c": children}}
    node.update(draw.choice([{}, {"required": ["v"]}, {"additionalProperties": False}]))
    leaves = [{"v": value} for value in inner.values]
    values = [{"v": value, "c": _some(draw, leaves, 4)} for value in inner.values[:ARRAYS]]
    return Drawn({"$ref": f"#/$defs/{name}"}, [*values, *leaves[:2]], {name: node})


def _dynamic(draw: random.Random, inner: Drawn) -> Drawn:
    name = f"dynamic{draw.randrange(1000)}"
    node: Schema = {
        "$dynamicAnchor": name,
        "type": "object",
        "properties": {"v": inner.schema, "c": {"$dynamicRef": f"#{name}"}},
        **draw.choice([{}, {"unevaluatedProperties": False}]),
    }
    values = [{"v": value, "c": {"v": value}} for value in inner.values]
    return Drawn({"$ref": f"#/$defs/{name}"}, values, {name: node})


CONTAINERS: dict[str, Container] = {
    "uniqueItems": _unique,
    "not uniqueItems": _not_unique,
    "contains": _contains,
    "items": _items,
    "prefixItems": _prefix,
    "unevaluatedItems": _unevaluated_items,
    "properties": _members,
    "many properties": _many_members,
    "additionalProperties": _additional,
    "patternProperties": _pattern_properties,
    "propertyNames": _names,
    "numbers of properties": _member_counts,
    "dependentRequired": _dependent_required,
    "dependentSchemas": _dependent_schemas,
    "not not": _twice_not,
    "not enum": _but_some,
    "oneOf": _one_of,
    "anyOf": _any_of,
    "allOf": _all_of,
    "tagged": _tagged,
    "if": _conditions,
    "$ref": _references,
    "trees": _trees,
    "$dynamicRef": _dynamic,
}
FEATURES = (*LEAVES, *CONTAINERS)


def feature(name: str, draw: random.Random, inner: Drawn | None = None) -> Drawn:
    """One feature; where it has a part, that is ``inner``, or one without parts."""
    if name in LEAVES:
        return LEAVES[name](draw).mostly_valid()
    inner = (inner or feature(draw.choice(list(LEAVES)), draw)).mostly_valid()
    made = CONTAINERS[name](draw, inner)
    return Drawn(made.schema, made.values, {**inner.definitions, **made.definitions}).mostly_valid()


def _together(draw: random.Random, one: Drawn, other: Drawn) -> Drawn:
    """Both at once: their keywords side by side where they differ, else under ``allOf``.

    Where their values are of different types, no value can be both, and it may be either.
    """
    either = {type(value) for value in one.values}.isdisjoint(type(value) for value in other.values)
    merged: Schema = {"anyOf" if either else "allOf": [one.schema, other.schema]}
    if not either and all(other.schema.get(key, value) == value for key, value in one.schema.items()):
        merged = {**one.schema, **other.schema}
    return Drawn(merged, [*one.values, *other.values], {**one.definitions, **other.definitions})


def _beside(draw: random.Random, one: Drawn, other: Drawn) -> Drawn:
    """Each in a member, or an element, of its own."""
    definitions = {**one.definitions, **other.definitions}
    pairs = [(first, draw.choice(other.values)) for first in one.values if other.values]
    if draw.random() < 0.5:
        schema: Schema = {"type": "array", "prefixItems": [one.schema], "items": other.schema}
        return Drawn(schema, [[first, second] for first, second in pairs], definitions)
    schema = {"type": "object", "properties": {"x": one.schema, "y": other.schema}}
    schema.update(draw.choice([{}, {"required": ["x"]}, {"additionalProperties": False}]))
    return Drawn(schema, [{"x": first, "y": second} for first, second in pairs], definitions)


def _as_names(draw: random.Random, one: Drawn, other: Drawn) -> Drawn:
    """One binds names, the other their values; where neither has strings, they stand side by side."""
    if not one.texts:
        one, other = other, one
    if not one.texts:
        return _beside(draw, one, other)
    schema = {"type": "object", "propertyNames": one.schema, "additionalProperties": other.schema}
    values = _objects(draw, one.texts, other)
    return Drawn(schema, values, {**one.definitions, **other.definitions})


def _inside(draw: random.Random, one: str, other: str) -> Drawn:
    """One is a part of the other; where neither has parts, both stand side by side."""
    if one in LEAVES:
        one, other = other, one
    if one in LEAVES:
        return _beside(draw, feature(one, draw), feature(other, draw))
    return feature(one, draw, feature(other, draw))


def _two(draw: random.Random, one: str, other: str) -> Drawn:
    """Both in one schema, one way or another."""
    if draw.random() < 0.6:
        return _inside(draw, one, other)
    return draw.choice([_together, _beside])(draw, feature(one, draw), feature(other, draw))


Place = Callable[[random.Random, str, str], Drawn]
PLACES: dict[str, Place] = {
    "inside": _inside,
    "together": lambda draw, one, other: _together(draw, feature(one, draw), feature(other, draw)),
    "beside": lambda draw, one, other: _beside(draw, feature(one, draw), feature(other, draw)),
    "names": lambda draw, one, other: _as_names(draw, feature(one, draw), feature(other, draw)),
    "distinct": lambda draw, one, other: feature("uniqueItems", draw, _two(draw, one, other)),
    "distinct members": lambda draw, one, other: feature(
        "uniqueItems", draw, feature("properties", draw, _two(draw, one, other))
    ),
    "contained": lambda draw, one, other: feature("contains", draw, _two(draw, one, other)),
    "member": lambda draw, one, other: feature("properties", draw, _two(draw, one, other)),
    "additional": lambda draw, one, other: feature("additionalProperties", draw, _two(draw, one, other)),
    "tree": lambda draw, one, other: feature("trees", draw, _two(draw, one, other)),
}
