"""Pairs of JSON Schema keywords that are expensive together, though each of them is cheap alone.

A group is a cause, and each of its cases one way to meet it: a schema, a value that is valid, and how the
value is written.  Most values hold elements or names that begin alike, because a mask must then decide late
which of them the text can still become.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

Schema = dict[str, Any]
STEPS = 400_000  # about 20 ms


@dataclass(frozen=True)
class Pair:
    """One case.

    Attributes:
        group: the cause, as a short name.
        what: what the case has that the others of its group lack.
        schema, value: the value is valid.
        budget: whether each mask has a budget of exactly the tokens that are left.
        tokenization: of ``compile``.
        style: for ``tk.json_schema``, in addition to ``property_order="any"``.
        steps: the most that a call may take; a call of more than ``STEPS`` is over 20 ms, and a comment says
            by how much and why.  ``None``: some mask takes seconds, so it is not waited for.
        memory_bytes: the most that the constraint may hold.
    """

    group: str
    what: str
    schema: Schema
    value: Any
    budget: bool = False
    tokenization: str = "any"
    style: dict[str, str] = field(default_factory=dict)
    steps: int | None = STEPS
    memory_bytes: int = 100_000_000

    @property
    def text(self) -> str:
        """The value, as ``json.dumps`` writes it."""
        return json.dumps(self.value, ensure_ascii=False)

    def __str__(self) -> str:
        return f"{self.group}: {self.what}"


def distinct(items: Schema) -> Schema:
    """Arrays of elements that differ."""
    return {"type": "array", "uniqueItems": True, "items": items}


def closed(inner: Schema) -> Schema:
    """Objects with a text and a member that is bound further."""
    return {
        "type": "object",
        "properties": {"n": {"type": "string"}, "x": inner},
        "additionalProperties": False,
    }


def string(**keywords: Any) -> Schema:
    """Strings that these keywords bind."""
    return {"type": "string", **keywords}


def holding(*values: Any) -> list[Schema]:
    """Schemas of arrays, each of which has one of these values as an element."""
    return [{"contains": {"const": value}} for value in values]


def members(*values: Any, n: str = "k") -> list[Any]:
    """Objects of ``closed`` with these values."""
    return [{"n": n, "x": value} for value in values]


ANY: dict[str, str] = {"spelling": "any"}
LETTER_AND_DIGIT = r"^(?=.*[A-Z])(?=.*[0-9]).{8,40}$"
DAY = "2024-01-02T03:04:"


def _distinct_beginnings() -> Iterator[Pair]:
    """Elements that differ and begin alike: is there another text that begins so, besides those written?"""
    date_time = string(format="date-time")
    group = "distinct"
    yield Pair(
        group,
        "arrays of date-time",
        distinct({"type": "array", "items": date_time}),
        [[f"{DAY}06Z"], [f"{DAY}07Z"]],
    )
    yield Pair(
        group,
        "contains date-time",
        distinct({"contains": date_time}),
        [[f"{DAY}06Z", 1], [f"{DAY}06Z", 2]],
    )
    # 126 ms in few steps: the expression of the format is written once more.
    yield Pair(group, "regex", distinct(closed(string(format="regex"))), members("ab", "ac"))
    for most in (100, 200, 400, 1000):
        yield Pair(group, f"up to {most}", distinct(closed(string(maxLength=most))), members("ab", "ac"))
    yield Pair(group, "3 to 20", distinct(closed(string(pattern="^.{3,20}$"))), members("abb", "abc"))
    hundred = distinct(closed(string(maxLength=100)))
    yield Pair(group, "90 characters", hundred, members("ab" * 44 + "ac", "ab" * 45))
    yield Pair(group, "20 elements", hundred, members(*(f"ab{number}" for number in range(20))))
    ahead = distinct(closed(string(pattern=LETTER_AND_DIGIT)))
    for count in (2, 6):
        names = [f"Abcdefgh{number}" for number in range(1, count + 1)]
        yield Pair(group, f"lookaheads, {count} elements", ahead, members(*names))
    yield Pair(group, "letters", distinct(closed(string(pattern=r"^\p{L}+$"))), members("ab", "ac"))
    yield Pair(
        group,
        "first element an email",
        distinct({"type": "array", "prefixItems": [string(format="email")]}),
        [["ann@example.com", 1], ["ann@example.com", 2]],
    )
    inner: dict[str, tuple[Schema, list[Any]]] = {
        "oneOf": ({"oneOf": [string(format="email"), string(maxLength=8)]}, ["ab", "ac"]),
        "not enum": ({"not": {"enum": ["nope", "none"]}}, ["nopf", "nopg"]),
        "if": ({"if": string(), "then": {"maxLength": 100}, "else": {"type": "integer"}}, ["ab", "ac"]),
        "uri": (string(format="uri"), ["http://a.b/c", "http://a.b/d"]),
        "hostname": (string(format="hostname"), ["a.example", "b.example"]),
    }
    for name, (schema, values) in inner.items():
        yield Pair(
            group,
            f"open objects with {name}",
            distinct({"type": "object", "properties": {"x": schema, "y": string()}}),
            [{"x": value, "y": "k"} for value in values],
        )
    reference = {
        "type": "object",
        "properties": {"x": {"type": "integer"}, "y": string(format="uri-reference")},
    }
    yield Pair(group, "uri-reference", distinct(reference), [{"x": 1, "y": "/a/b"}, {"x": 1, "y": "/a/c"}])


def _counted_elements() -> Iterator[Pair]:
    """Elements that differ, some of which must be given: how many others are left for the other positions?"""
    group = "supply"
    twelve = {"type": "array", "uniqueItems": True, "contains": {"const": 12}, "items": {"type": "integer"}}
    yield Pair(group, "two integers", twelve, [1, 12])
    yield Pair(group, "eight integers", twelve, [1, 2, 3, 4, 5, 6, 7, 12])
    either = holding(12, "alpha")
    kinds = {"type": ["integer", "string"]}
    yield Pair(
        group,
        "unevaluated elements of two types",
        {"type": "array", "uniqueItems": True, "anyOf": either, "unevaluatedItems": kinds},
        ["x", "alpha"],
    )
    yield Pair(
        group,
        "two that may be held",
        distinct({"type": "array", "anyOf": either}),
        [["alpha", 1], ["alpha", 2]],
        style=ANY,
    )
    yield Pair(
        group,
        "one of two, after elements of types",
        {
            "type": "array",
            "uniqueItems": True,
            "prefixItems": [{"type": "integer"}, {"type": "string"}],
            "oneOf": either,
        },
        [12, "x", "b"],
    )


def _repeated_within_a_budget() -> Iterator[Pair]:
    """Some elements are equal, in as many tokens as are left: which text ends soonest?"""
    group = "equal elements"
    repeated = {"type": "array", "not": {"uniqueItems": True}}
    value = ["a@example.com", 13, 13]
    never: dict[str, Any] = {"budget": True, "steps": None}  # no mask in 30 s after the first quote
    yield Pair(group, "canonical", repeated, value, tokenization="canonical", **never)
    after = {**repeated, "prefixItems": [{"format": "email", "type": "string"}]}
    yield Pair(group, "after an email", after, value, **never)
    yield Pair(
        group, "at most 5,000", {**repeated, "maxItems": 5000}, value, tokenization="canonical", **never
    )


def _enumerated_objects() -> Iterator[Pair]:
    """Objects of an enumeration are counted: each member that is written leaves fewer of them."""
    group = "enumerated objects"
    for count in (40, 80, 160, 320):
        values: list[Any] = [{"a": number} for number in range(count)]
        schema = {"type": "array", "contains": {"enum": values}, "minContains": 5, "maxContains": 25}
        yield Pair(group, f"{count}", schema, values[:5])
    values = [{"a": number, "b": number % 7} for number in range(250)]
    schema = {"type": "array", "contains": {"enum": values}, "minContains": 50, "maxContains": 250}
    # 30 ms in few steps: sets of 250 values are intersected at the first bracket.
    yield Pair(group, "250 of two members", schema, values[:50])
    values = [{"a": number, "y": f"/{number}"} for number in range(40)]
    counted = {"allOf": [{"enum": values}, {"properties": {"y": {"format": "uri-reference"}}}]}
    schema = {"type": "array", "contains": counted, "minContains": 5, "maxContains": 25}
    yield Pair(group, "uri-reference", schema, values[:5])


def _listed_values() -> Iterator[Pair]:
    """Values that enumerations list, and elements that differ: how many of each combination are there?"""
    group = "listed values"
    few: dict[str, Any] = {
        "steps": 150_000
    }  # where kinds of values are met with and without each other: millions
    mixed = {"enum": ["alpha", "alphabet", 12, 123, None, ["a"], {"a": 1}, *range(8)]}
    many = {"enum": ["alpha", "alphabet", 12, 123, None, ["a"], {"a": 1}, *range(320)]}
    lists = {"type": "array", "prefixItems": [{}, mixed], "items": mixed}
    yield Pair(group, "in distinct arrays", distinct(lists), [[1, 4, 5], [1, "alpha", 12]], style=ANY, **few)
    first = {"type": "array", "prefixItems": [{"type": "integer"}, mixed], "items": mixed}
    two = {"allOf": [first, {"anyOf": [first, {"const": [1]}]}]}
    contained = {"type": "array", "contains": two, "minContains": 2, "uniqueItems": True}
    yield Pair(
        group, "in arrays of two conditions", contained, [[1, 5, 6], [1, None, ["a"]]], style=ANY, **few
    )
    member = {"type": "object", "properties": {"x": many, "y": string()}}
    yield Pair(
        group,
        "in distinct objects",
        distinct(member),
        [{"x": 317, "y": "a"}, {"x": 317, "y": "b"}],
        style=ANY,
    )
    dependent = {
        "type": "object",
        "dependentSchemas": {"a": {"properties": {"b": many}, "required": ["b"]}},
        "unevaluatedProperties": {"type": "integer"},
    }
    yield Pair(
        group, "or any integer", distinct(dependent), [{"a": 1, "b": "alpha"}, {"b": 400}], style=ANY, **few
    )
    objects = {"enum": [{"a": number, "b": "x"} for number in range(50)]}
    pairs = {"type": "object", "properties": {"n": string(), "x": {"prefixItems": [{}, objects]}}}
    one = [1, {"a": 32, "b": "x"}]
    yield Pair(group, "objects of two members", distinct(pairs), [{"n": "k", "x": one}, {"x": one}], **few)


def _multiples() -> Iterator[Pair]:
    """Multiples in elements that differ: there are more than any array holds."""
    group = "multiples"
    few: dict[str, Any] = {"steps": 100_000}
    sevens = {"type": "integer", "multipleOf": 7, "maximum": 1000}
    either = {"oneOf": [sevens, {"type": "integer", "exclusiveMinimum": -5}]}
    lists = {
        "type": "array",
        "prefixItems": [{"type": "number", "multipleOf": 7, "minimum": 10}],
        "items": either,
    }
    yield Pair(group, "or integers", distinct(lists), [[224, -14], [231, -7, 1]], **few)
    long = {"type": "integer", "minimum": -(1 << 63), "maximum": (1 << 63) - 1}
    yield Pair(
        group,
        "of one, in distinct arrays",
        distinct({"type": "array", "prefixItems": [{"type": "boolean"}], "items": distinct(long)}),
        [[True, [12349, 12350]], [True, [12353]]],
        **few,
    )
    yield Pair(
        group,
        "denied twice",
        distinct({"not": {"not": {"type": "number", "multipleOf": 7, "minimum": 10}}}),
        [224, 231],
        style=ANY,
        **few,
    )


def _equal_elements() -> Iterator[Pair]:
    """Some elements are equal, of at most 5,000: no array of different ones is looked for."""
    group = "equal among many"
    few: dict[str, Any] = {"steps": 100_000}  # a way to different ones through all lengths takes 1.4 million
    repeated = {"type": "array", "not": {"uniqueItems": True}, "maxItems": 5000}
    strings = {**repeated, "items": string(maxLength=400)}
    yield Pair(group, "strings", strings, ["abr", "abs", "abt", "abt"], **few)
    within = {"type": "object", "properties": {"y": {**repeated, "items": string()}}}
    yield Pair(
        group,
        "in distinct objects",
        distinct(within),
        [{"y": ["qc", "qc"]}, {"y": ["qs", "qt", "qt"]}],
        **few,
    )


def _names_of_two_kinds() -> Iterator[Pair]:
    """Names that a format and several patterns bind: which combinations of them have another name?"""
    group = "classes of names"
    patterns = {"-one$": {"minimum": 0}, "^i": {"type": "string"}}
    email = {"format": "email"}
    yield Pair(
        group,
        "email and two patterns",
        {"type": "object", "propertyNames": email, "patternProperties": patterns},
        {"a@b.c": 1},
        steps=120_000_000,  # 0.8 to 4 s: addresses that end in a pattern, once for a vocabulary
        memory_bytes=400_000_000,
    )
    yield Pair(
        group,
        "email or any",
        {"type": "object", "propertyNames": {"anyOf": [email, {}]}, "patternProperties": patterns},
        {"at": 1},
        steps=240_000_000,  # 2 to 8 s, for the same reason
        memory_bytes=400_000_000,
    )
    four = {"^(?!x-)[a-z]+$": string(), "e$": string(), "^.{1,20}$": string(), ".*m.*": string()}
    yield Pair(
        group,
        "four patterns",
        {"type": "object", "patternProperties": four},
        {"at": "x"},
        steps=5_000_000,  # 250 ms, at the first name: each combination of the patterns has a text of its own
    )


def _names_with_escapes() -> Iterator[Pair]:
    """Names that are bound and may be spelled with every escape of JSON."""
    group = "escaped names"
    but_three = {"propertyNames": {"not": {"enum": ["nope", "none", "namex"]}}}
    person = {"id": 7, "name": "Ann Lee"}
    yield Pair(group, "not of an enumeration", {"type": "object", **but_three}, person, style=ANY)
    by_letter = {
        "patternProperties": {"^x": {"type": "integer"}, "^y": string()},
        "additionalProperties": False,
    }
    yield Pair(group, "two patterns", by_letter, {"x1": 1, "x": 2}, style=ANY)
    yield Pair(
        group, "email", {"propertyNames": {"format": "email"}}, {"ann@b.org": 1, "ann@b.com": 2}, style=ANY
    )
    coded = {"patternProperties": {"^ab": {"pattern": "^[a-z]+-[0-9]+$"}}}
    yield Pair(group, "in distinct objects", distinct(coded), [{"abx": "ab-1"}, {"abx": "ab-2"}], style=ANY)
    either = {"oneOf": [string(format="duration"), string(format="regex")]}
    yield Pair(
        group,
        "distinct durations or expressions",
        distinct(either),
        ["^[a-z]+b$", "^[a-z]+c$"],
        style=ANY,
        steps=700_000,  # 45 ms, in the first string: the texts of format regex, with every escape
    )
    yield Pair(
        group,
        "in unevaluated elements",
        {"type": "array", "unevaluatedItems": but_three},
        [person],
        style=ANY,
    )
    yield Pair(group, "two members at least", {**but_three, "minProperties": 2}, person, style=ANY)
    yield Pair(
        group, "in some element", {"contains": {"type": "object", **but_three}}, [1, person], style=ANY
    )


def _canonical_names() -> Iterator[Pair]:
    """Names and values under overlapping patterns, in the tokens that the tokenizer itself chooses."""
    group = "canonical names"
    email = {"not": {"not": {"format": "email"}}}
    yield Pair(
        group,
        "two patterns",
        {"patternProperties": {"^ab": email, "bc$": email}},
        {"abx": "a@b.org"},
        tokenization="canonical",
        steps=4_000_000,  # 340 ms, at the quote of the address: its canonical tokens are tried one by one
    )
    covered = {"^[a-m]": string(), "^[n-z]": string(), "^.{0,20}$": {}}
    names = {"oneOf": [string(pattern="^n"), string(pattern="e{2}$"), string(maxLength=2)]}
    yield Pair(
        group,
        "one of three, under covering patterns",
        {"propertyNames": names, "patternProperties": covered},
        {"name": "x"},
        tokenization="canonical",
        steps=1_000_000,  # 30 ms, at the first name, for the same reason
    )


def _strings() -> Iterator[Pair]:
    """Strings with many alternatives, each in a constraint of its own."""
    group = "strings"
    email = string(format="email")
    cases: dict[str, tuple[Schema, str]] = {
        "regex": (string(format="regex"), "^[a-z]+(foo|b{1,2})$"),
        "up to 24": (string(maxLength=24), "Ann Lee"),
        "idn-hostname": (string(format="idn-hostname"), "bücher.example"),
        "idn-email": (string(format="idn-email"), "jürgen@bücher.example"),
        "email or ipv6": ({"anyOf": [email, string(format="ipv6")]}, "ann@example.com"),
        "one of email and uri": ({"oneOf": [email, string(format="uri")]}, "ann@example.com"),
        "iri": (string(format="iri"), "http://exämple.org/ä"),
        "iri-reference": (string(format="iri-reference"), "/ä/b"),
        "up to 400 and not one": (string(pattern="^.{0,400}$", **{"not": {"const": "Ann"}}), "Anne"),
        "email and uri-template": ({"allOf": [email, {"format": "uri-template"}]}, "ann@example.com"),
    }
    more = {
        "idn-email": 600_000,  # 30 ms, in the domain: the classes of code points of idn-hostname
        "email and uri-template": 12_000_000,  # 0.4 s, at the quote, once for a vocabulary
    }
    for name, (schema, value) in cases.items():
        yield Pair(group, name, schema, value, steps=more.get(name, STEPS))


def _many_distinct() -> Iterator[Pair]:
    """Hundreds of distinct elements: each one that is written is one more to differ from."""
    group = "many distinct"
    yield Pair(
        group, "200 integers", distinct({"type": "integer"}), [12340 + 7 * number for number in range(200)]
    )
    yield Pair(group, "400 strings", distinct(string()), [f"ab{number}" for number in range(400)])
    positive = {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1000}
    yield Pair(group, "100 numbers", distinct(positive), [100 + number / 4 + 0.125 for number in range(100)])


def _objects_within_a_budget() -> Iterator[Pair]:
    """Objects in as many tokens as are left, in the tokens that the tokenizer itself chooses."""
    group = "objects within a budget"
    # 36 ms and 16 to 28 ms: groups of tokens that one text completes are made at each name.
    any_object: Schema = {"type": "object"}
    value = {"n": "abc", "x": 5}
    yield Pair(group, "any", any_object, value, True, "canonical", steps=650_000)
    yield Pair(group, "closed", closed({"type": "integer"}), value, True, "canonical", steps=600_000)
    names = {"type": "object", "propertyNames": {"minLength": 2, "maxLength": 13}}
    yield Pair(
        group,
        "names of 2 to 13",
        names,
        {"x-one": "one", "x-two": "two"},
        True,
        "canonical",
        steps=None,  # 0.9 s and 190 MB: groups of tokens are made for each length that a name may still have
    )


def _conditions_on_integers() -> Iterator[Pair]:
    """A condition on large integers, which some element must meet."""
    sixty_four_bits = {"minimum": -(1 << 63), "maximum": (1 << 63) - 1}
    condition = {"if": {"type": "integer"}, "then": sixty_four_bits, "else": {"not": {"type": "object"}}}
    yield Pair(
        "conditions",
        "in some element",
        {"type": "array", "contains": condition},
        [{"o": 1}, 9223372036854765808],
        tokenization="canonical",
        style=ANY,
        steps=5_000_000,  # 0.5 s, in the large integer: each digit's canonical tokens, for every way to go on
    )


def _canonical_terminals() -> Iterator[Pair]:
    """Terminals of which the canonical tokens depend on the vocabulary alone, and not on what was written."""
    group = "canonical terminals"
    bounded = closed({"anyOf": [string(minLength=2, maxLength=100), string(minLength=2, maxLength=400)]})
    strings = [{"n": "k", "x": f"ab{letter}"} for letter in "def"]
    yield Pair(group, "strings with bounds that differ", distinct(bounded), strings, tokenization="canonical")
    fractions = {"oneOf": [{"type": "number", "minimum": 0}, {"type": "integer", "exclusiveMinimum": -5}]}
    numbers = [{"n": "k", "x": value} for value in (14.5, 14.75, 15.25)]
    yield Pair(
        group, "numbers without integers", distinct(closed(fractions)), numbers, tokenization="canonical"
    )
    yield Pair(
        group,
        "within a budget",
        distinct(string(maxLength=50)),
        ["ab", "ac"],
        True,
        "canonical",
        steps=3_000_000,  # 250 ms: a search after each token whose closing text is not canonical
    )


PAIRS: tuple[Pair, ...] = tuple(
    pair
    for group in (
        _distinct_beginnings,
        _counted_elements,
        _repeated_within_a_budget,
        _enumerated_objects,
        _listed_values,
        _multiples,
        _equal_elements,
        _names_of_two_kinds,
        _names_with_escapes,
        _canonical_names,
        _canonical_terminals,
        _strings,
        _many_distinct,
        _objects_within_a_budget,
        _conditions_on_integers,
    )
    for pair in group()
)
