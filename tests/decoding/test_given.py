"""A class, another type or a schema in place of a constraint: ``tk.type``, or ``tk.json_schema``, of it."""

from __future__ import annotations

import collections
import enum
import inspect
import pickle
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Literal, NamedTuple, NewType, TypedDict

import pydantic
import pytest
from typing_extensions import TypeAliasType

import tokamata as tk
from tests.support.vocabularies import BYTE_VOCABULARY
from tokamata import _core
from tokamata.constraints import given
from tokamata.constraints.given import constraint_of
from tokamata.integrations.trl import text_reward
from tokamata.matching import compositions


@dataclass
class Point:
    kind: Literal["point"]
    on: bool


class Model(pydantic.BaseModel):
    on: bool


class Member(TypedDict):
    on: bool


class Pair(NamedTuple):
    on: bool
    off: bool


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


Switch = NewType("Switch", bool)
Maybe = TypeAliasType("Maybe", bool | None)
SCHEMA = {"enum": [[1], {"a": None}]}
GIVEN: dict[str, tuple[Any, tk.Constraint[Any]]] = {
    "dataclass": (Point, tk.type(Point)),
    "model": (Model, tk.type(Model)),
    "TypedDict": (Member, tk.type(Member)),
    "NamedTuple": (Pair, tk.type(Pair)),
    "Enum": (Colour, tk.type(Colour)),
    "Literal": (Literal["a", 1], tk.type(Literal["a", 1])),
    "union": (bool | None, tk.type(bool | None)),
    "bool": (bool, tk.type(bool)),
    "tuple": (tuple[bool, bool], tk.type(tuple[bool, bool])),
    "Annotated": (
        Annotated[int, pydantic.Field(ge=3, le=5)],
        tk.type(Annotated[int, pydantic.Field(ge=3, le=5)]),
    ),
    "NewType": (Switch, tk.type(Switch)),
    "alias": (Maybe, tk.type(bool | None)),
    "schema": (SCHEMA, tk.json_schema(SCHEMA)),
}


@pytest.mark.parametrize("name", GIVEN)
def test_what_is_meant(name: str, model: Any, tokenizer: Any) -> None:
    value, meant = GIVEN[name]
    settings = {"seed": 5, "max_new_tokens": 80}
    wanted = tk.generate(model, tokenizer, "x", meant, **settings)
    written = tk.generate(model, tokenizer, "x", value, **settings)
    assert (written.text, written.tokens) == (wanted.text, wanted.tokens)
    assert written.parse() == wanted.parse()
    assert type(written.parse()) is type(wanted.parse())
    steps = tk.stream(model, tokenizer, "x", value, **settings)
    assert "".join(step.text for step in steps) == wanted.text
    assert steps.is_constrained


def test_any_json() -> None:
    assert constraint_of("x", Any).accepts('{"a": [1]}')
    assert constraint_of("x", object).accepts('{"a": [1]}')


def test_several_prompts_have_one_for_all_or_one_each(model: Any, tokenizer: Any) -> None:
    prompts = ["x", "y", "z"]
    each = tk.generate(model, tokenizer, prompts, [Colour, SCHEMA, None], seed=1, max_new_tokens=20)
    assert isinstance(each[0].parse(), Colour)
    assert each[1].parse() in SCHEMA["enum"]
    assert each[2].constraint is None
    both = tk.generate(model, tokenizer, prompts, Colour, seed=1)
    assert all(isinstance(one.parse(), Colour) for one in both)
    assert isinstance(tk.generate(model, tokenizer, prompts, (bool, bool, bool), seed=1)[2].parse(), bool)
    in_schema = tk.generate(model, tokenizer, prompts, SCHEMA, seed=1)
    assert all(one.parse() in SCHEMA["enum"] for one in in_schema)


def test_other_calls_take_them(model: Any, tokenizer: Any) -> None:
    beams = tk.beam_search(model, tokenizer, "x", Colour, beams=2)
    assert {type(beam.parse()) for beam in beams} == {Colour}
    found = tk.probabilities(model, tokenizer, "x", Literal["a", "b"], tokenization="canonical", heal=False)
    assert set(found) == {"a", "b"}
    samples = tk.sample(model, tokenizer, "x", SCHEMA, 2, method="local", seed=1)
    assert all(one.parse() in SCHEMA["enum"] for one in samples)


def reads(constraint: tk.Constraint[Any], text: str, value: Any) -> bool:
    return bool(constraint.parse(text) == value)


def test_functions_that_make_constraints_take_them() -> None:
    assert reads(tk.choice(["none", Colour, {"const": 5}]), '"red"', Colour.RED)
    assert reads(tk.choice(["none", Colour, {"const": 5}]), "none", "none")
    assert reads(tk.choice([Colour, {"const": 5}]), "5", 5)
    assert tk.think_first(Point).parse('Hm.</think>{"kind": "point", "on": true}').answer == Point(
        "point", True
    )
    assert tk.tag("<a>", bool, "</a>").parse("<a>true</a>").content is True
    assert tk.tag("<a>", SCHEMA, "</a>").parse("<a>[1]</a>").content == [1]
    assert reads(tk.delimited_list(Colour, tk.literal(", ")), '"red", "blue"', [Colour.RED, Colour.BLUE])
    assert reads(tk.delimited_subsequence_of([bool, SCHEMA], tk.literal(";")), "true", [True, None])
    lark = tk.grammar('start: "x" @flag', constraints={"flag": bool})
    assert lark.accepts("xtrue")
    assert not lark.accepts("xred")
    assert text_reward(bool)(completions=["true"]) == [1.0]


MADE: dict[str, Callable[[], tk.Constraint[Any]]] = {
    "choice": lambda: tk.choice(["none", Colour, {"const": 5}]),
    "think_first": lambda: tk.think_first(Colour),
    "tag": lambda: tk.tag("<a>", Colour, "</a>"),
    "subsequence": lambda: tk.delimited_subsequence_of([Colour], tk.literal(";")),
    "grammar": lambda: tk.grammar("start: @colour", constraints={"colour": Colour}),
}


@pytest.mark.parametrize("name", MADE)
def test_what_was_made_of_them_travels(name: str) -> None:
    made = MADE[name]()
    again = pickle.loads(pickle.dumps(made))
    assert again.pattern == made.pattern
    text = made.shortest_text()
    assert text is not None
    assert again.accepts(text)


@pytest.fixture
def counts(monkeypatch: pytest.MonkeyPatch) -> collections.Counter[str]:
    """How often a schema is read, and a constraint compiled."""
    counted: collections.Counter[str] = collections.Counter()

    def counting(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def called(*arguments: Any, **options: Any) -> Any:
            counted[name] += 1
            return function(*arguments, **options)

        return called

    from tokamata.constraints import json_constraints

    monkeypatch.setattr(
        json_constraints, "constraint_of_schema", counting("read", json_constraints.constraint_of_schema)
    )
    shared = compositions._core.SharedConstraint
    monkeypatch.setattr(compositions, "_core", _Engine(_core, counting("compiled", shared)))
    return counted


class _Engine:
    """The engine, with one function replaced."""

    def __init__(self, core: Any, shared: Any) -> None:
        self._core, self.SharedConstraint = core, shared

    def __getattr__(self, name: str) -> Any:
        return getattr(self._core, name)


@pytest.mark.shared_states
@pytest.mark.parametrize("value", [Point, Model, SCHEMA], ids=["dataclass", "model", "schema"])
def test_a_thousand_calls_read_and_compile_once(value: Any, counts: collections.Counter[str]) -> None:
    tk.forget_constraints()
    for _ in range(1000):
        equal = dict(value) if isinstance(value, dict) else value
        constraint_of("constraint", equal).compile(BYTE_VOCABULARY)
    assert counts == {"read": 1, "compiled": 1}
    tk.type(value).compile(BYTE_VOCABULARY) if value is not SCHEMA else tk.json_schema(SCHEMA)
    assert counts == {"read": 1, "compiled": 1}
    tk.forget_constraints()
    constraint_of("constraint", value).compile(BYTE_VOCABULARY)
    assert counts == {"read": 2, "compiled": 2}


def test_signatures_have_the_names_of_all_arguments() -> None:
    stream, generate = inspect.signature(tk.stream), inspect.signature(tk.generate)
    assert set(generate.parameters) - set(stream.parameters) == {"on_text", "retries"}
    assert set(stream.parameters) - set(generate.parameters) == set()
    for name, one in stream.parameters.items():
        assert one.kind is generate.parameters[name].kind
        assert one.default == generate.parameters[name].default
    assert generate.parameters["max_new_tokens"].default == 256
    for function in (tk.generate, tk.stream, tk.astream, tk.sample, tk.beam_search, tk.probabilities):
        kinds = {one.kind for one in inspect.signature(function).parameters.values()}
        assert kinds == {inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY}
    assert set(generate.parameters) >= set(tk.decoding.Settings.__annotations__)


def test_what_may_be_given_is_one_function() -> None:
    for value, _ in GIVEN.values():
        assert given.means_constraint(value)
    for other in ("a", 5, None, [Point], Point("point", True), Colour.RED, len):
        assert not given.means_constraint(other)
        with pytest.raises(tk.ArgumentError, match="constraint must be a constraint, a type or a schema"):
            constraint_of("constraint", other)
