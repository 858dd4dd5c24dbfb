"""What errors say to somebody who made a common mistake: each names what to do instead."""

from __future__ import annotations

import dataclasses
import enum
import operator
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, Optional

import pytest

import tokamata as tk
from tests.support.vocabularies import BYTES


class Style(enum.Enum):
    CUBISM = "cubism"


@dataclasses.dataclass
class Painter:
    name: str


@dataclasses.dataclass(frozen=True)
class Point:
    x: int


given: Any = tk  # mistakes are mistakes to a type checker as well
R: Any = tk.regex("a")
SCHEMA: Any = {"type": "string"}
DEFINED = {"$defs": {"N": {"enum": ["a"]}}}
UNSATISFIABLE = {"properties": {"a": {"type": "string", "minLength": 5, "maxLength": 2}}, "required": ["a"]}
BOTH = ("'type' and 'minLength' and 'maxLength' at /properties/a",)
VOCABULARY = tk.Vocabulary.load([*BYTES, None], stop=[256])


def unsatisfiable() -> tk.JsonConstraint[Any]:
    return tk.json_schema({"type": "object", **UNSATISFIABLE})


def generate(constraint: Any, **settings: Any) -> Any:
    return given.generate(None, None, "x", constraint, **settings)


def several(constraint: Any, **settings: Any) -> Any:
    return given.generate(None, None, ["x", "y"], constraint, **settings)


def given_processor(constraint: Any) -> Any:
    from tokamata.integrations.transformers import ConstraintLogitsProcessor

    return ConstraintLogitsProcessor(constraint)


MISTAKES: dict[str, tuple[Callable[[], Any], type[Exception], tuple[str, ...]]] = {
    # An object in place of its class, and what is no type at all.
    "type(object)": (lambda: given.type(Painter("a")), tk.UnsupportedTypeError, ("pass the class Painter",)),
    "type(frozen)": (lambda: given.type(Point(1)), tk.UnsupportedTypeError, ("pass the class Point",)),
    "type(member)": (lambda: given.type(Style.CUBISM), tk.UnsupportedTypeError, ("pass the class Style",)),
    "type(int)": (lambda: given.type(5), tk.UnsupportedTypeError, ("pass the class int",)),
    "type(inner)": (lambda: given.type(list[Painter("a")]), tk.UnsupportedTypeError, ("the class Painter",)),
    "type(list)": (lambda: given.type([int]), tk.UnsupportedTypeError, ("list[int]", "tokamata.choice")),
    "type(dict)": (
        lambda: given.type({"type": "object"}),
        tk.UnsupportedTypeError,
        ("tokamata.json_schema",),
    ),
    # What means no constraint by itself.
    "generate(object)": (lambda: generate(Painter("a")), tk.ArgumentError, ("tokamata.type(Painter)",)),
    "generate(member)": (lambda: generate(Style.CUBISM), tk.ArgumentError, ("tokamata.type(Style)",)),
    "generate(bool)": (lambda: generate(True), tk.ArgumentError, ("tokamata.json_schema",)),
    "generate(str)": (lambda: generate("a+"), tk.ArgumentError, ("tokamata.regex", "tokamata.literal")),
    "generate(re)": (lambda: generate(re.compile("a")), tk.ArgumentError, ("tokamata.regex",)),
    "generate(path)": (lambda: generate(Path("a.lark")), tk.ArgumentError, ("tokamata.grammar(path)",)),
    "generate(function)": (lambda: generate(print), tk.ArgumentError, ("tokamata.type(…)",)),
    "generate(list)": (lambda: generate(["a", "b"]), tk.ArgumentError, ("tokamata.choice(…)",)),
    "generate(response format)": (
        lambda: generate({"type": "json_schema", "json_schema": {"name": "x", "schema": SCHEMA}}),
        tk.ArgumentError,
        ("tokamata.response_format(…)",),
    ),
    "generate(tool)": (
        lambda: generate({"type": "function", "function": {"name": "f"}}),
        tk.ArgumentError,
        ("tokamata.tool_calls([…])",),
    ),
    "generate(tools)": (
        lambda: generate([{"type": "function", "function": {"name": "f"}}]),
        tk.ArgumentError,
        ("tokamata.tool_calls(…)",),
    ),
    "generate(set)": (lambda: generate({"a", "b"}), tk.ArgumentError, ("tokamata.choice(…)",)),
    "generate(tuple)": (lambda: generate(("a", "b")), tk.ArgumentError, ("tokamata.choice(…)",)),
    "generate(several, list)": (
        lambda: several(["a", "b"]),
        tk.ArgumentError,
        ("one for each of the 2 prompts", "tokamata.choice(…)"),
    ),
    "generate(several, set)": (
        lambda: several({"a", "b"}),
        tk.ArgumentError,
        ("one for each of the 2 prompts", "tokamata.choice(…)"),
    ),
    "generate(several, str)": (lambda: several("a"), tk.ArgumentError, ("tokamata.literal",)),
    "generate(several, one bad)": (lambda: several([R, "a"]), tk.ArgumentError, ("constraint 1: ",)),
    "generate(several, bad type)": (
        lambda: several([R, dict[str, bytes | re.Pattern[str]]]),
        tk.UnsupportedTypeError,
        ("constraint 1: ",),
    ),
    "generate(several, bad schema)": (
        lambda: several([{"type": "strnig"}, R]),
        tk.SchemaError,
        ("constraint 0: ",),
    ),
    "generate(several, too few)": (
        lambda: several([R]),
        tk.ArgumentError,
        ("one for each of the 2 prompts", "a list of 1"),
    ),
    "sample(str)": (lambda: given.sample(None, None, "x", "a", 2), tk.ArgumentError, ("tokamata.literal",)),
    "beam_search(str)": (
        lambda: given.beam_search(None, None, "x", "a"),
        tk.ArgumentError,
        ("tokamata.literal",),
    ),
    "probabilities(list)": (
        lambda: given.probabilities(None, None, "x", ["a"]),
        tk.ArgumentError,
        ("tokamata.choice",),
    ),
    "think_first(str)": (lambda: given.think_first("a"), tk.ArgumentError, ("tokamata.literal",)),
    "tag(str)": (lambda: given.tag("<a>", "x", "</a>"), tk.ArgumentError, ("tokamata.literal",)),
    "grammar(constraints)": (
        lambda: given.grammar("start: @a", constraints={"a": "x"}),
        tk.ArgumentError,
        ("constraints['a']", "tokamata.literal"),
    ),
    "ConstraintLogitsProcessor(class)": (
        lambda: given_processor(Style),
        tk.ArgumentError,
        ("tokamata.type(Style), and compile it",),
    ),
    "ConstraintLogitsProcessor(dict)": (
        lambda: given_processor(SCHEMA),
        tk.ArgumentError,
        ("tokamata.json_schema(…)", "compile it"),
    ),
    # Grammars in the other syntax, and paths.
    "grammar(GBNF)": (
        lambda: given.grammar('root ::= "a" b\nb ::= [a-z]'),
        tk.GrammarError,
        ("this is GBNF", "syntax='gbnf'"),
    ),
    "grammar(Lark)": (
        lambda: given.grammar('start: "a" b\nb: /x/', syntax="gbnf"),
        tk.GrammarError,
        ("this is a Lark file", "leave out syntax='gbnf'"),
    ),
    "grammar(path)": (
        lambda: given.grammar("examples/query.lark"),
        tk.GrammarError,
        ("looks like the path", "pathlib.Path('examples/query.lark')"),
    ),
    "json_schema(class)": (lambda: given.json_schema(Painter), tk.ArgumentError, ("tokamata.type(Painter)",)),
    "json_schema(alias)": (lambda: given.json_schema(list[int]), tk.ArgumentError, ("tokamata.type",)),
    "json_schema(path)": (lambda: given.json_schema("schema.json"), tk.SchemaError, ("looks like a path",)),
    "json_schema(folder)": (lambda: given.json_schema("a/b"), tk.SchemaError, ("looks like a path",)),
    "json_schema(yaml)": (lambda: given.json_schema(r"C:\my files\a.yaml"), tk.SchemaError, ("like a path",)),
    "choice(enum)": (lambda: given.choice(Style), tk.ArgumentError, ("tokamata.type(Style)",)),
    "choice(members)": (
        lambda: given.choice(["a", Style.CUBISM]),
        tk.ArgumentError,
        ("option 1", "type(Style)"),
    ),
    "choice(objects)": (
        lambda: given.choice(["a", Painter("b")]),
        tk.ArgumentError,
        ("option 1", "tokamata.type(Painter), with the class"),
    ),
    # Operators, from both sides.
    "str +": (lambda: "b" + R, tk.ArgumentError, ("left-hand side of +", "tokamata.literal")),
    "str |": (lambda: "b" | R, tk.ArgumentError, ("left-hand side of |", "tokamata.literal")),
    "str &": (lambda: "b" & R, tk.ArgumentError, ("left-hand side of &", "tokamata.literal")),
    "str -": (lambda: "b" - R, tk.ArgumentError, ("left-hand side of -", "tokamata.literal")),
    "+ str": (lambda: R + "b", tk.ArgumentError, ("right-hand side of +", "tokamata.literal")),
    "class |": (lambda: Painter | R, tk.ArgumentError, ("left-hand side of |", "tokamata.type(Painter)")),
    "| class": (lambda: R | Painter, tk.ArgumentError, ("right-hand side of |", "tokamata.type(Painter)")),
    "dict |": (lambda: SCHEMA | R, tk.ArgumentError, ("tokamata.json_schema",)),
    "- dict": (lambda: R - SCHEMA, tk.ArgumentError, ("tokamata.json_schema",)),
    "list +": (lambda: operator.add(["a"], R), tk.ArgumentError, ("tokamata.choice",)),
    "separated_by(str)": (lambda: R.separated_by(","), tk.ArgumentError, ("tokamata.literal",)),
    # Settings of other libraries, and misspelt ones.
    "max_tokens": (lambda: generate(R, max_tokens=3), tk.ArgumentError, ("generate()", "max_new_tokens?")),
    "max_length": (lambda: generate(R, max_length=3), tk.ArgumentError, ("generate()", "max_new_tokens?")),
    "temprature": (lambda: generate(R, temprature=1.0), tk.ArgumentError, ("generate()", "temperature?")),
    "topk": (lambda: generate(R, topk=3), tk.ArgumentError, ("did you mean top_k?",)),
    "max_tokens, several": (lambda: several(R, max_tokens=3), tk.ArgumentError, ("max_new_tokens?",)),
    "max_tokens, stream": (
        lambda: given.stream(None, None, "x", R, max_tokens=3),
        tk.ArgumentError,
        ("stream()", "max_new_tokens?"),
    ),
    "max_tokens, sample": (
        lambda: given.sample(None, None, "x", R, 2, max_tokens=3),
        tk.ArgumentError,
        ("sample()", "max_new_tokens?"),
    ),
    "num_beams": (
        lambda: given.beam_search(None, None, "x", R, num_beams=3),
        tk.ArgumentError,
        ("beam_search()", "did you mean beams?"),
    ),
    "max_pases": (
        lambda: given.probabilities(None, None, "x", R, max_forward_pases=3),
        tk.ArgumentError,
        ("probabilities()", "max_forward_passes?"),
    ),
    "response_model": (
        lambda: given.generate(None, None, "x", response_model=Painter),
        tk.ArgumentError,
        ("generate()", "did you mean constraint?"),
    ),
    # Which keywords leave no value, wherever that is found.
    "empty, compile": (lambda: unsatisfiable().compile(VOCABULARY), tk.EmptyConstraintError, BOTH),
    "empty, repair": (lambda: unsatisfiable().repair("x"), tk.EmptyConstraintError, BOTH),
    "empty, repairs": (lambda: list(unsatisfiable().repairs("x")), tk.EmptyConstraintError, BOTH),
    "empty, reward": (lambda: unsatisfiable().reward("x"), tk.EmptyConstraintError, BOTH),
    "empty, at_most": (
        lambda: unsatisfiable().repair("x", at_most={"remove": 0}),
        tk.EmptyConstraintError,
        BOTH,
    ),
    "empty, distinct": (
        lambda: list(unsatisfiable().repairs("x", distinct=True)),
        tk.EmptyConstraintError,
        BOTH,
    ),
    # What a refused repair has lost, where, and where to read it.
    "strict": (
        lambda: tk.json().repair("[1 /* one */ ]", strict=tk.RepairBounds()),
        tk.RepairRefusedError,
        ("lost 1 (at most 0)", "b'one'", "at byte 6", ".repair of this error", "tk.RepairBounds"),
    ),
    "empty, operands": (
        lambda: (R & tk.regex("b")).repair("x"),
        tk.EmptyConstraintError,
        ("tokamata.regex('a') and tokamata.regex('b')",),
    ),
    # Patterns in schemas show where they are wrong.
    "pattern": (
        lambda: given.json_schema({"pattern": r"^(?P<y>\d{4})$"}),
        tk.UnsupportedSchemaError,
        ("position 1 of the pattern\n    ^(?P<y>\\d{4})$\n     ^\n", "(?<name>…)"),
    ),
    "patternProperties": (
        lambda: given.json_schema({"patternProperties": {r"^(?P<y>\d)$": {"type": "null"}}}),
        tk.UnsupportedSchemaError,
        ("\n    ^(?P<y>\\d)$\n     ^\n", "(?<name>…)"),
    ),
    # References without the "#", or into another document's folder.
    "$ref, no #": (
        lambda: given.json_schema({"$ref": "/$defs/N", **DEFINED}),
        tk.SchemaError,
        ("#/$defs/N",),
    ),
    "$ref, no #/": (
        lambda: given.json_schema({"$ref": "$defs/N", **DEFINED}),
        tk.SchemaError,
        ("#/$defs/N",),
    ),
    "$ref, name": (lambda: given.json_schema({"$ref": "N", **DEFINED}), tk.SchemaError, ("write #/$defs/N",)),
    "$ref, OpenAPI": (
        lambda: given.json_schema({"$ref": "#/components/schemas/N", **DEFINED}),
        tk.SchemaError,
        ("write #/$defs/N",),
    ),
    "$ref, definitions": (
        lambda: given.json_schema({"$ref": "#/definitions/N", **DEFINED}),
        tk.SchemaError,
        ("write #/$defs/N",),
    ),
    # Keywords of earlier drafts.
    "exclusiveMinimum": (
        lambda: given.json_schema({"minimum": 0, "exclusiveMinimum": True}),
        tk.SchemaError,
        ("draft 4", '"$schema": "http://json-schema.org/draft-04/schema#"'),
    ),
    "required": (
        lambda: given.json_schema({"properties": {"a": {"required": True}}}),
        tk.SchemaError,
        ("/properties/a", "in the object's schema"),
    ),
    "items": (lambda: given.json_schema({"items": [{}]}), tk.SchemaError, ("prefixItems",)),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_what_is_said(mistake: str) -> None:
    call, kind, wanted = MISTAKES[mistake]
    with pytest.raises(kind) as caught:
        call()
    assert isinstance(caught.value, tk.TokamataError)
    for words in wanted:
        assert words in str(caught.value)


def test_an_argument_that_has_no_counterpart_gets_no_advice() -> None:
    for call in (
        lambda: given.probabilities(None, None, "x", R, max_tokens=3),
        lambda: given.generate(None, None, "x", R, wibble=3),
        lambda: generate(Optional),
    ):
        with pytest.raises(tk.ArgumentError) as caught:
            call()
        assert caught.value.hint == ""


def test_a_reference_without_a_near_definition_gets_no_advice() -> None:
    for reference in ("https://example.org/N", "M", "#/$defs/M", "other.json#/$defs/N"):
        with pytest.raises(tk.SchemaError) as caught:
            tk.json_schema({"$ref": reference, **DEFINED})
        assert "write #" not in str(caught.value)


def test_a_field_of_pydantic_that_no_schema_describes() -> None:
    pydantic = pytest.importorskip("pydantic", reason="pydantic is an extra")
    text = pydantic.Json[list[int]]
    inner = pydantic.create_model("Inner", j=(text, ...))
    plain = pydantic.create_model("Plain", a=(int, ...), j=(text, ...))
    outer = pydantic.create_model("Outer", a=(int, ...), inner=(list[inner], ...))
    assert place_of(plain) == "Plain.j"
    assert place_of(outer).endswith("Inner.j")
    assert (
        place_of(pydantic.dataclasses.dataclass(dataclasses.make_dataclass("Data", [("k", text)])))
        == "Data.k"
    )


def place_of(given: Any) -> str:
    with pytest.raises(tk.UnsupportedTypeError) as caught:
        tk.type(given)
    assert caught.value.place in str(caught.value)
    return caught.value.place


def refusal(constraint: tk.Constraint[Any], text: str) -> tk.Explanation:
    """Why the first byte of a text that is refused is refused."""
    matcher = constraint.compile(VOCABULARY).matcher()
    for byte in text.encode():
        if not matcher.advance(byte):
            return matcher.explain(byte)
    raise AssertionError("the text is accepted")


WEATHER = {
    "properties": {"outlook": {"type": "string"}, "temp": {"type": "number"}, "tag": {"type": "null"}},
    "required": ["outlook", "temp"],
}
LATE = (
    '"outlook" is required and stands before names that begin with "t": write it first; property_order="any"'
)
CLOSED = {**WEATHER, "additionalProperties": False}
TWICE = '"outlook" was written before'


@pytest.mark.parametrize(
    ("schema", "text", "hint"),
    [
        (WEATHER, '{"temp": 1.5, "outlook": "x"}', LATE),
        (WEATHER, '{"x": 1}', LATE.replace('"t"', '"x"')),
        (WEATHER, '{"outlook": "x", "x": 1}', LATE.replace('"t"', '"x"').replace("outlook", "temp")),
        (WEATHER, '{"outlook": "x", "tag": null}', LATE.replace('"t"', '"ta"').replace("outlook", "temp")),
        (WEATHER, '{"out": 1}', LATE.replace('names that begin with "t"', '"out"')),
        ({"items": WEATHER}, '[{"outlook": "", "temp": 1}, {"temp": 1.5}]', LATE),
        ({"properties": {"w": WEATHER}}, '{"w": {"temp": 1}}', LATE),
        (WEATHER, '{"outlook": 1}', ""),
        (WEATHER, '{"outlook": "x", "outlook": 1}', TWICE),
        (CLOSED, '{"outlook": "x", "outlook": 1}', TWICE),
        (CLOSED, '{"outlook": "x", "temp": 1, "outlook": 1}', TWICE),
        (CLOSED, '{"outlook": "x", "temp": 1, "q": 1}', ""),
        (CLOSED, '{"outlook" 1', ""),
    ],
)
def test_names_that_are_refused(schema: dict[str, Any], text: str, hint: str) -> None:
    for order in ("schema", "any"):
        constraint = tk.json_schema({"type": ["object", "array"], **schema}, property_order=order)
        try:
            found = refusal(constraint, text)
        except AssertionError:
            assert order == "any"
            continue
        assert found.hint.startswith(hint if order == "schema" or hint == TWICE else "")
        assert bool(found.hint) == bool(hint and (order == "schema" or hint == TWICE))
        assert found.hint in str(found)
