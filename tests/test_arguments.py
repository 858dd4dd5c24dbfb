"""Every public function, given arguments of the wrong type: a typed error that names what is wrong.

The table has a line for each argument of each public function and method; a test holds it against the
signatures, so that an argument that is added must be added here.
"""

from __future__ import annotations

import ast
import builtins
import inspect
import pathlib
import sys
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import pydantic
import pytest

import tokamata as tk
from tests.support.vocabularies import BYTES

A = tk.regex("ab*")
VOCABULARY = tk.Vocabulary.load([*BYTES, None, None], stop=[257])
COMPILED = A.compile(VOCABULARY)
MATCHER = COMPILED.matcher()


class Strange:
    """No argument of anything; its ``repr`` must not end up in an error."""

    def __repr__(self) -> str:
        return "strange " * 10_000


STRANGE = Strange()


class PydanticModel(pydantic.BaseModel):
    """A model without fields."""


HUGE = 10**1000
TEXTS: tuple[Any, ...] = (5, None, b"ab", ["a"], STRANGE, 1.5, str)
NUMBERS: tuple[Any, ...] = ("5", None, 1.5, [1], STRANGE, -1, HUGE, float("nan"))
LISTS: tuple[Any, ...] = (5, None, "abc", STRANGE, 1.5)
FLAGS: tuple[Any, ...] = ("no", 5, None, STRANGE)
WORDS: tuple[Any, ...] = ("foo", 5, None, ["any"], STRANGE)
LIMITS: tuple[Any, ...] = (5, "1", {"states": 5}, STRANGE, 0, "", tk.Limits)
CANCELS: tuple[Any, ...] = (5, "now", STRANGE, 0, "", tk.CancelToken)
BOUNDS: tuple[Any, ...] = ("5", 1.5, STRANGE, -1, 1 << 70)
CONSTRAINTS: tuple[Any, ...] = (5, None, "ab", STRANGE, COMPILED, [A])
STYLES: dict[str, tuple[Any, ...]] = {"whitespace": WORDS, "spelling": WORDS}
SECONDS: tuple[Any, ...] = ("5", [1], STRANGE, -1, float("nan"), True)
STOPS: dict[str, tuple[Any, ...]] = {"limits": LIMITS, "cancel": CANCELS}
# What Constraint.repair, repairs and reward take; and repair and repairs besides.
REPAIR: dict[str, tuple[Any, ...]] = {
    "text": (5, None, 1.5, STRANGE, ["a"]),
    "costs": (5, None, {}, STRANGE),
    "deadline_seconds": (*SECONDS, 10**400),
    "weight": ("5", None, [1], STRANGE, 0.5, HUGE, float("nan"), True),
    **STOPS,
}
BOUNDS: dict[str, tuple[Any, ...]] = {
    "at_most": (
        5,
        STRANGE,
        "insert",
        ["insert"],
        {"no edit": 1},
        {5: 1},
        {"insert": -1},
        {"insert": HUGE},
    ),
    "alike": (5, "x", STRANGE, [b"x"], b"(", b"*"),
}
TYPE_OPTIONS = {
    "property_order": WORDS,
    "formats": WORDS,
    "strict": FLAGS,
    **STYLES,
    **STOPS,
}
SCHEMA_OPTIONS = {**TYPE_OPTIONS, "unknown": WORDS}

FINITE = tk.choice(["a", "b"]).compile(VOCABULARY)
# What functions take that let a model write, and refuse before it is called.
WRITING: dict[str, Any] = {
    "model": SimpleNamespace(config=SimpleNamespace(vocab_size=VOCABULARY.width)),
    "tokenizer": None,
    "prompt": [97],
    "constraint": FINITE,
}
TEXT_SETTINGS: dict[str, tuple[Any, ...]] = {
    "model": (),
    "tokenizer": (),
    "prompt": (5, None, [1.5], ["a"], b"ab", STRANGE, []),
    "constraint": (5, None, "ab", STRANGE, [A]),
    "tokenization": WORDS,
    "on_noncanonical": WORDS,
    "heal": ("no", 5, STRANGE),
    "placeholders": (5, "a", [5], STRANGE),
    "cancel": CANCELS,
}

# By function: arguments that it takes, and for some of them what it does not take.
TABLE: dict[Callable[..., Any], tuple[dict[str, Any], dict[str, tuple[Any, ...]]]] = {
    tk.regex: (
        {"pattern": "ab"},
        {"pattern": TEXTS, "flags": ("i", None, 1.5, STRANGE, 1 << 20), "dialect": WORDS, **STOPS},
    ),
    tk.literal: ({"text": "ab"}, {"text": (*TEXTS, "\ud800")}),
    tk.choice: ({"options": ["ab"]}, {"options": (*LISTS, [], [5], [b"a"], ["\ud800"])}),
    tk.grammar: (
        {"source": 'root ::= "a"', "syntax": "gbnf"},
        {
            "source": (*TEXTS, "\ud800"),
            "syntax": WORDS,
            "start": (*(text for text in TEXTS if text is not None), "\ud800", "none"),
            "lexer": (*(word for word in WORDS if word is not None), "basic"),
            "constraints": (5, "a", ["a"], {"a": "a"}, {5: 5}),
            **STOPS,
        },
    ),
    tk.rule: ({"name": "a"}, {"name": (*TEXTS, "\ud800")}),
    tk.json: ({}, {"max_depth": BOUNDS, "max_items": BOUNDS, **STYLES}),
    tk.json_schema: (
        {"schema": {}},
        {"schema": (5, None, ["a"], STRANGE), "registry": (5, "a", STRANGE), **SCHEMA_OPTIONS},
    ),
    tk.type: ({"given": int}, {"given": (5, STRANGE, "no such name"), "syntax": WORDS, **TYPE_OPTIONS}),
    tk.response_format: (
        {"given": {"type": "json_object"}},
        {
            "given": (5, None, "json", {"type": 5}, {"type": "json_schema", "json_schema": 5}),
            **SCHEMA_OPTIONS,
        },
    ),
    tk.tool_call: (
        {"tools": [{"name": "a"}]},
        {"tools": (*LISTS, [], [5], [None], [{"name": 5}], [{"name": "a"}] * 2), **SCHEMA_OPTIONS},
    ),
    tk.tool_calls: (
        {"tools": [{"name": "a"}]},
        {
            "tools": (*LISTS, [], [5], [None], [{"name": 5}], [{"name": "a"}] * 2),
            "tool_choice": (*TEXTS, "none", {"type": "function"}, {"type": "function", "name": "b"}),
            "parallel": FLAGS,
            "format": (*TEXTS, "foo", tk.ToolFormat("a", "b", "a", ""), tk.ToolFormat("{name}", "", "", "")),
            **SCHEMA_OPTIONS,
        },
    ),
    tk.structural_tag: (
        {"given": {"format": {"type": "any_text"}}},
        {"given": (5, None, [1], STRANGE, "{", "[]", {}, {"format": 5}, {"type": "json"}), **SCHEMA_OPTIONS},
    ),
    tk.tag: (
        {"begin": "a", "content": A, "end": "b"},
        {
            "begin": (*TEXTS, "\ud800", A),
            "content": tuple(value for value in CONSTRAINTS if value is not None),
            "end": (5, None, b"ab", STRANGE, "\ud800", A, [5], []),
            **STOPS,
        },
    ),
    tk.triggered: (
        {"tags": [tk.tag("a", A, "b")]},
        {
            "tags": (*LISTS, [5], [A]),
            "triggers": (5, "abc", STRANGE, [""], [5], ["b"]),
            "at_least_one": FLAGS,
            "stop_after_first": FLAGS,
            "excludes": (*LISTS, [""], [5], ["a"]),
            **STOPS,
        },
    ),
    tk.text_without: (
        {"phrases": ["a"]},
        {
            "phrases": (*LISTS, [""], [5], ["\ud800"]),
            "most_characters": ("5", 1.5, STRANGE, -1, HUGE),
            **STOPS,
        },
    ),
    tk.think_first: (
        {"answer": A},
        {
            "answer": CONSTRAINTS,
            "begin": (5, b"ab", STRANGE, "", "\ud800", A),
            "end": (*TEXTS, "", "\ud800", A),
            "most_characters": ("5", 1.5, STRANGE, -1, HUGE),
            "most_tokens": ("5", 1.5, STRANGE, 0, HUGE),
            "answer_tokens": ("5", 1.5, STRANGE, 0, HUGE),
        },
    ),
    tk.control_token: ({"token": 5}, {"token": (None, 1.5, b"a", STRANGE, -1, HUGE, "\ud800")}),
    tk.quoted_text: ({}, {}),
    tk.unquoted_text: ({}, {}),
    tk.image: ({}, {}),
    tk.text_token: ({}, {}),
    tk.paragraph_token: ({}, {}),
    tk.text_until: ({"phrase": "a"}, {"phrase": (*TEXTS, "", "\ud800")}),
    tk.substring_of: ({"text": "a"}, {"text": (*TEXTS, "\ud800"), **STOPS}),
    tk.delimited_list: (
        {"item": A, "delimiter": A},
        {"item": CONSTRAINTS, "delimiter": CONSTRAINTS, "minimum": (*BOUNDS, None), "maximum": BOUNDS},
    ),
    tk.delimited_subsequence_of: (
        {"items": [A], "delimiter": A},
        {"items": (*LISTS, [], [5], ["a"], [A] * 1001), "delimiter": CONSTRAINTS},
    ),
    tk.fill_masks: (
        {"matchers": [MATCHER], "mask": COMPILED.allocate_mask()},
        {
            "matchers": (5, None, "ab", STRANGE, [5], [None], [COMPILED]),
            "mask": (5, None, "ab", STRANGE, [[1]]),
            "threads": ("5", 1.5, STRANGE, 0, -1, HUGE),
            "budgets": (5, "a", STRANGE, [], [0], ["1"], [1, 2]),
            "deadline_seconds": SECONDS,
            "on_deadline": (5, None, "all", STRANGE, b"some"),
        },
    ),
    tk.fill_draft_masks: (
        {"matchers": [MATCHER], "mask": COMPILED.allocate_mask(2), "drafts": [[97]]},
        {
            "matchers": (5, None, "ab", STRANGE, [5], [None], [COMPILED]),
            "mask": (5, None, "ab", STRANGE, [[1]], COMPILED.allocate_mask()),
            "drafts": (5, None, "a", STRANGE, [], [5], ["a"], [[1.5]], [[None]], [[97], [97]]),
            "parents": (5, "a", STRANGE, [], [5], [["a"]], [[0]], [[-2]], [[HUGE]], [[-1, -1]]),
            "threads": ("5", 1.5, STRANGE, 0, -1, HUGE),
            "budgets": (5, "a", STRANGE, [], [0], ["1"], [1, 2]),
            "count_stop": FLAGS,
            "deadline_seconds": SECONDS,
            "on_deadline": (5, None, "all", STRANGE, b"some"),
        },
    ),
    tk.apply_mask: (
        {"logits": COMPILED.allocate_mask().astype("float32"), "mask": COMPILED.allocate_mask()},
        {
            "logits": (5, None, "ab", STRANGE, [1.0]),
            "mask": (5, None, "ab", STRANGE, [1]),
            "log_mass": FLAGS,
        },
    ),
    tk.Limits: (
        {},
        {
            **dict.fromkeys(("states", "memory_bytes", "depth"), (*NUMBERS, 0, True)),
            "seconds": ("5", None, [1], STRANGE, 0, -1, float("nan"), True),
        },
    ),
    tk.Sampling: (
        {},
        {
            "temperature": ("5", None, [1], STRANGE, -1, float("inf"), float("nan")),
            "top_k": ("5", 1.5, [1], STRANGE, 0),
            "top_p": ("5", None, STRANGE, 0, 2, float("nan")),
            "greedy": FLAGS,
            "seed": ("5", 1.5, STRANGE, HUGE),
        },
    ),
    tk.Vocabulary.load: (
        {"source": [b"a"]},
        {
            "source": (5, None, STRANGE, 1.5, ["a"], [1], [], "no such file", "a\0b"),
            "stop": (1.5, STRANGE, [None], [1.5], "none", [HUGE], True),
            "width": ("5", 1.5, STRANGE, 0, HUGE),
            "control_tokens": ("5", 1.5, STRANGE, [1], {1: 1}, {"a": "b"}, {"a": 0}, {"a": HUGE}),
        },
    ),
    VOCABULARY.__getitem__: ({"token": 0}, {"token": NUMBERS}),
    VOCABULARY.name: ({"token": 0}, {"token": NUMBERS}),
    VOCABULARY.control_token: ({"name": "<no>"}, {"name": TEXTS}),
    VOCABULARY.start_tokens: ({}, {}),
    VOCABULARY.without: ({"tokens": [5]}, {"tokens": (*LISTS, ["a"], [1.5], [None], [HUGE], [-1])}),
    VOCABULARY.types: ({"types": {"a": A}}, {"types": (5, None, [A], {"a": "a"}, {5: A}, STRANGE)}),
    A.repeat: ({}, {"minimum": (*BOUNDS, None), "maximum": BOUNDS}),
    A.optional: ({}, {}),
    A.separated_by: (
        {"separator": A},
        {"separator": CONSTRAINTS, "minimum": (*BOUNDS, None), "maximum": BOUNDS},
    ),
    A.shortest_text: ({}, STOPS),
    A.is_empty: ({}, STOPS),
    A.is_subset_of: ({"other": A}, {"other": CONSTRAINTS, **STOPS}),
    A.is_equivalent_to: ({"other": A}, {"other": CONSTRAINTS, **STOPS}),
    A.accepts: ({"text": "a"}, {"text": (5, None, 1.5, STRANGE, [1]), **STOPS}),
    tk.json().parse: (
        {"text": "1"},
        {"text": (5, None, 1.5, STRANGE, [1], b"\xff", "x", "\ud800"), **STOPS},
    ),
    A.repair: ({"text": "a"}, {**REPAIR, **BOUNDS, "strict": (5, True, "lost", {"lost": 0}, STRANGE)}),
    A.repairs: ({"text": "a"}, {**REPAIR, **BOUNDS, "distinct": FLAGS, "n": ("5", 1.5, STRANGE, 0, 3)}),
    A.repair("b").margin: ({}, STOPS),
    tk.RepairBounds: (
        {},
        dict.fromkeys(("lost", "invented", "changed", "prose"), ("5", 1.5, STRANGE, -1, True)),
    ),
    A.reward: ({"text": "a"}, REPAIR),
    A.repair_stream: (
        {},
        {
            "costs": REPAIR["costs"],
            "slack": NUMBERS,
            "weight": REPAIR["weight"],
            **STOPS,
        },
    ),
    tk.partial_value: ({"text": "[1"}, {"text": (5, None, 1.5, STRANGE, ["a"])}),
    tk.partial: ({"model": PydanticModel}, {"model": (5, None, "ab", STRANGE, int, list[int])}),
    A.captured: (
        {"name": "name"},
        {"name": (5, None, STRANGE, "", "1a", "a b", "_a", "count", "asdict", "\ud800")},
    ),
    A.compile: (
        {"vocabulary": VOCABULARY},
        {
            "vocabulary": (5, None, "tokenizer.json", STRANGE),
            "start_of_text": FLAGS,
            "tokenization": WORDS,
            **STOPS,
        },
    ),
    COMPILED.matcher: (
        {},
        {
            "context": (*LISTS, ["a"], [1.5], [None], [HUGE], [-1]),
            "on_noncanonical": WORDS,
            "written": (*LISTS, ["a"], [1.5], [None], [HUGE], [-1], [0]),
            "canonical": (5, "abc", STRANGE, 1.5, ["a"], [1.5], [HUGE], [-1], [97]),
            "stop": (5, "a", STRANGE, ["a"], [1.5], [None], [HUGE], [-1], [97]),
            "min_tokens": ("5", None, 1.5, STRANGE, -1, HUGE),
        },
    ),
    tk.json().compile(VOCABULARY).parse: ({"text": "1"}, {"text": (5, None, STRANGE)}),
    COMPILED.allocate_mask: ({}, {"batch": ("5", None, 1.5, STRANGE, 0, -1)}),
    COMPILED.prepare: ({}, {"seconds": SECONDS, "cancel": CANCELS}),
    COMPILED.save: ({"path": "unused"}, {"path": (5, None, 1.5, STRANGE, ["a"], "a\0"), "cancel": CANCELS}),
    tk.load: (
        {"path": "unused", "vocabulary": VOCABULARY},
        {"path": (5, None, 1.5, STRANGE, ["a"], "a\0"), "vocabulary": (5, None, "ab", STRANGE, A), **STOPS},
    ),
    COMPILED.process_rewards: (
        {"ids": [97]},
        {
            "ids": (5, None, "abc", 1.5, STRANGE, ["a"], [1.5], [[97], 5], [HUGE]),
            "mask": (5, "a", STRANGE, [1, 1], [[1]], [1.5]),
        },
    ),
    COMPILED.token_automaton: ({}, {}),
    MATCHER.advance: ({"token": 97}, {"token": NUMBERS}),
    MATCHER.rollback: ({"count": 0}, {"count": NUMBERS}),
    MATCHER.advance_all: ({"tokens": []}, {"tokens": (5, None, "a", STRANGE, ["a"], [1.5], [-1], [HUGE])}),
    MATCHER.validate: ({"tokens": [97]}, {"tokens": (5, None, "a", STRANGE, ["a"], [1.5])}),
    MATCHER.fill_draft_masks: (
        {"mask": COMPILED.allocate_mask(2), "tokens": [97]},
        {
            "mask": (5, None, "ab", STRANGE, [[1]], COMPILED.allocate_mask()),
            "tokens": (5, None, "a", STRANGE, ["a"], [1.5], [97, 97]),
            "parents": (5, "a", STRANGE, [], ["a"], [0], [-2], [HUGE], [-1, -1]),
            "budget": ("5", 1.5, [1], STRANGE, 0, -1, -HUGE),
            "count_stop": FLAGS,
            "deadline_seconds": SECONDS,
            "on_deadline": (5, None, "all", STRANGE, b"some"),
        },
    ),
    MATCHER.explain: ({"token": 0}, {"token": NUMBERS}),
    MATCHER.fill_mask: (
        {"row": COMPILED.allocate_mask()[0]},
        {
            "row": (5, None, "ab", STRANGE, [1], b"abcd", COMPILED.allocate_mask(), memoryview(b"abcd")),
            "budget": ("5", 1.5, [1], STRANGE, 0, -1, -HUGE),
            "count_stop": FLAGS,
            "deadline_seconds": SECONDS,
            "on_deadline": (5, None, "all", STRANGE, b"some"),
        },
    ),
    MATCHER.fork: ({}, {}),
    MATCHER.mask_report: ({}, {"deadline_seconds": SECONDS}),
    MATCHER.forced_text: ({}, {}),
    MATCHER.forced_tokens: ({}, {}),
    MATCHER.shortest_completion: ({}, {"deadline_seconds": SECONDS}),
    tk.json().compile(VOCABULARY).matcher().events: ({}, {}),
    tk.json().report: ({}, {}),
    tk.CancelToken().cancel: ({}, {}),
    tk.probabilities: (
        WRITING,
        {
            "bound": ("5", STRANGE, -1, 2, float("nan")),
            "max_forward_passes": ("5", None, 1.5, STRANGE, 0, HUGE),
            "end": WORDS,
            "batch_size": ("5", None, 1.5, STRANGE, 0, HUGE),
            "max_texts": ("5", None, 1.5, STRANGE, 0, 1, HUGE),
            **TEXT_SETTINGS,
        },
    ),
    tk.beam_search: (
        WRITING,
        {
            "beams": ("5", None, 1.5, STRANGE, 0, HUGE),
            "candidates": ("5", 1.5, STRANGE, 0, HUGE),
            "max_new_tokens": ("5", None, 1.5, STRANGE, 0),
            "min_new_tokens": ("5", None, 1.5, STRANGE, -1, HUGE),
            "banned_tokens": (*LISTS, ["a"], [1.5], [HUGE], [-1]),
            "policy": (5, "repair", STRANGE),
            **TEXT_SETTINGS,
        },
    ),
    tk.generate: ({}, {}),  # below: they need a model
    tk.stream: ({}, {}),
    tk.astream: ({}, {}),  # those of stream
    tk.sample: ({}, {}),  # in tests/decoding/test_unbiased_sampling.py
}

CASES = [
    (function, taken, argument, wrong)
    for function, (taken, refused) in TABLE.items()
    for argument, values in refused.items()
    for wrong in values
]


def described(value: Any) -> str:
    name = getattr(value, "__name__", None)
    return name if isinstance(name, str) else repr(value).partition(" at 0x")[0][:20]  # addresses differ


@pytest.mark.parametrize(("function", "taken", "argument", "wrong"), CASES, ids=described)
def test_arguments_of_the_wrong_type(
    function: Callable[..., Any], taken: dict[str, Any], argument: str, wrong: Any
) -> None:
    with pytest.raises(tk.TokamataError) as caught:
        function(**{**taken, argument: wrong})
    message = str(caught.value)
    assert 0 < len(message) < 3000
    if isinstance(caught.value, tk.ArgumentError):
        assert isinstance(caught.value, (TypeError, ValueError))
        assert caught.value.expected in message
        assert len(caught.value.found) <= 200


def test_the_table_names_every_argument() -> None:
    def known(function: Callable[..., Any]) -> Iterator[str]:
        return (argument for argument in TABLE[function][1])

    for function in TABLE:
        try:
            parameters = inspect.signature(function).parameters
        except ValueError:
            continue  # the engine's own, which has no signature
        if set(parameters) == {"args", "kwargs"}:
            continue  # the same, from Python 3.13 on
        if function not in (tk.generate, tk.stream, tk.astream, tk.sample):
            assert set(parameters) == set(known(function)), function


def test_the_table_names_every_public_function() -> None:
    listed = {getattr(function, "__qualname__", "").rpartition(".")[2] for function in TABLE}
    public = [name for name in (*tk.__all__, "json", "type") if inspect.isfunction(getattr(tk, name))]
    for cls in (tk.Constraint, tk.JsonConstraint, tk.CompiledConstraint, tk.Matcher, tk.Vocabulary):
        public += [
            name for name in dir(cls) if not name.startswith("_") and callable(getattr(cls, name, None))
        ]
    assert set(public) - listed == {"forget_constraints"}  # which takes none


@pytest.mark.parametrize(
    ("settings", "wrong"),
    [
        *[({"max_new_tokens": value}, value) for value in ("5", None, 1.5, STRANGE, 0)],
        *[({"constraint": value}, value) for value in ("ab", 5, STRANGE)],
        *[({"min_new_tokens": value}, value) for value in ("5", None, 1.5, STRANGE, -1, HUGE)],
        *[({"tokenization": value}, value) for value in WORDS],
        *[({"on_noncanonical": value}, value) for value in WORDS],
        *[({"jump": value}, value) for value in FLAGS],
        *[({"heal": value}, value) for value in ("no", 5, STRANGE)],
        *[({"draft": value}, value) for value in ("no", 5, STRANGE)],
        *[({"draft_tokens": value}, value) for value in ("5", 1.5, STRANGE, 0, -1, HUGE)],
        *[({"prompt": value}, value) for value in (5, None, [1.5], ["a"], b"ab", STRANGE)],
        *[({"on_text": value}, value) for value in ("print", 5, STRANGE)],
        *[({"temperature": value}, value) for value in ("hot", STRANGE, -1)],
        *[
            ({"logit_bias": value}, value)
            for value in (5, "a", [1], {0: "a"}, {0: None}, {"a": 1.0}, STRANGE)
        ],
        *[({"banned_tokens": value}, value) for value in (*LISTS, ["a"], [1.5], [HUGE], [-1])],
        *[({"stop": value}, value) for value in (5, None, [5], b"a", STRANGE)],
        *[({"validators": value}, value) for value in (*LISTS, ["a"], [int])],
        *[({"policy": value}, value) for value in (5, "repair", STRANGE)],
        *[({"retries": value}, value) for value in ("5", None, 1.5, STRANGE, -1, HUGE)],
        *[({"tools": value}, value) for value in (5, "weather", [], [5], STRANGE)],
        *[({"deadline_seconds": value}, value) for value in SECONDS],
        *[({"step_seconds": value}, value) for value in SECONDS],
        *[({"tokenizer": value}, value) for value in (5, None, "gpt2", STRANGE)],
    ],
    ids=described,
)
def test_arguments_of_generate(settings: dict[str, Any], wrong: object) -> None:
    asked: list[object] = []
    model = SimpleNamespace(config=SimpleNamespace(vocab_size=5), __call__=asked.append)
    given = {"model": model, "tokenizer": None, "prompt": [0], "constraint": COMPILED, **settings}
    if "tokenizer" in settings:
        given["constraint"] = A
    with pytest.raises(tk.TokamataError):
        tk.generate(**given)
    assert not asked


def test_errors_name_the_argument_what_was_given_and_what_is_expected() -> None:
    for call, message in (
        (lambda: tk.regex("a", limits=5), "limits must be tokamata.Limits(…), or None, not 5"),
        (lambda: tk.regex("a", flags="i"), "flags must be flags of re, or 0, not 'i'"),
        (lambda: A.compile(VOCABULARY, cancel=5), "cancel must be a tokamata.CancelToken, or None, not 5"),
        (lambda: MATCHER.advance("a"), "token must be a token id, a whole number, not 'a'"),
        (
            lambda: A + "b",
            "the right-hand side of + must be a Constraint, not 'b'; write tokamata.literal(…)",
        ),
        (lambda: A.separated_by(","), "separator must be a Constraint, not ','; write tokamata.literal(…)"),
        (lambda: COMPILED.matcher("ab"), "context must be a list of token ids, not 'ab'; encode a text"),
        (lambda: tk.regex(b"a"), "pattern must be a str, not b'a'; a constraint is a set of texts"),
    ):
        with pytest.raises(tk.ArgumentError) as caught:
            call()  # type: ignore[no-untyped-call]
        assert str(caught.value).startswith(message)


def test_classes_that_are_made_by_others_say_by_whom() -> None:
    for made, hint in ((tk.Matcher, "call compiled.matcher()"), (tk.Vocabulary, "call Vocabulary.load(…)")):
        for wrong in (5, None, "ab", A, [b"a"]):
            with pytest.raises(tk.ArgumentError) as caught:
                made(wrong)  # type: ignore[arg-type]
            assert caught.value.hint == hint


def test_integers_of_numpy_are_whole_numbers() -> None:
    import numpy as np

    matcher = COMPILED.matcher(np.array([97, 98]))
    assert matcher.advance(np.int64(97))
    assert matcher.explain(np.uint8(98)).allowed
    matcher.rollback(np.int32(1))
    assert VOCABULARY[np.uint16(98)] == b"b"
    row = COMPILED.allocate_mask(np.int8(1))[0]
    matcher.fill_mask(row, np.int64(3), True)
    assert A.repeat(np.int32(2), np.int32(3)).is_subset_of(tk.regex("[ab]*"))


def test_errors_of_a_caller_s_own_code_pass_through() -> None:
    def broken(first: Any) -> Iterator[Any]:
        yield first
        raise KeyError("mine")

    for call in (
        lambda: tk.choice(broken("a")),
        lambda: COMPILED.matcher(broken(0)),
        lambda: tk.fill_masks(broken(MATCHER), COMPILED.allocate_mask()),
    ):
        with pytest.raises(KeyError, match="mine"):
            call()


# ---- all errors are typed ----------------------------------------------------------------------

SOURCES = pathlib.Path(tk.__file__).parent
BUILTIN_ERRORS = {
    name
    for name, value in vars(builtins).items()
    if isinstance(value, type) and issubclass(value, BaseException)
}
# What raises a built-in, and why: a protocol of Python's own asks for it, or the same file catches it.
ALLOWED = {
    ("automata/__init__.py", "AttributeError"): "the protocol of modules",
    ("decoding/value_probabilities/results.py", "KeyError"): "the protocol of mappings",
    ("decoding/async_streams.py", "StopAsyncIteration"): "the protocol of asynchronous iterators",
    ("values/parts.py", "AttributeError"): "the protocol of attributes",
    ("values/parts.py", "IndexError"): "as re.Match has it",
    ("matching/kept_compiled.py", "FileNotFoundError"): "as the system has it, for a folder",
    ("cli/main.py", "SystemExit"): "the end of a command",
    ("vocabulary/kept_tokens.py", "ValueError"): "a kept file that is damaged is one that is not there",
    ("vocabulary/packed_tokens.py", "ValueError"): "a kept file that is damaged is one that is not there",
    ("vocabulary/kept_tokens.py", "TypeError"): "a kept file that is damaged is one that is not there",
    ("tokenization/kept_tables.py", "ValueError"): "a kept file that is damaged is one that is not there",
    ("tokenization/kept_tables.py", "TypeError"): "a kept file that is damaged is one that is not there",
    ("patterns/grammars/files/lark_files.py", "FileNotFoundError"): "lark's protocol of readers of files",
    ("patterns/grammars/rules/expressions.py", "ValueError"): "a kept file that is damaged is absent",
    ("patterns/grammars/files/lark_definitions.py", "FileNotFoundError"): "lark's protocol of readers",
    ("patterns/grammars/files/lark_definitions.py", "RecursionError"): "as lark's loader has it",
    ("patterns/grammars/files/lark_definitions.py", "ValueError"): "as lark's loader has it",
    ("patterns/json_schema/text.py", "AssertionError"): "what was refused for a doubled key has one",
    ("audit/engines.py", "RuntimeError"): "what a peer reports in its own process, which is a finding",
    ("audit/styles.py", "RecursionError"): "a text that nests too deep has no tree",
    ("audit/judging.py", "OverflowError"): "a number that the judge does not read makes its verdict unclear",
}


def raised_builtins(path: pathlib.Path) -> Iterator[tuple[str, int]]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Raise) and node.exc is not None:
            raised = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
            if isinstance(raised, ast.Name) and raised.id in BUILTIN_ERRORS:
                yield raised.id, node.lineno


def test_all_errors_derive_from_ours() -> None:
    found = {
        (path.relative_to(SOURCES).as_posix(), name, line)
        for path in SOURCES.rglob("*.py")
        for name, line in raised_builtins(path)
    }
    assert {one for one in found if one[:2] not in ALLOWED} == set()
    assert {one[:2] for one in found} == set(ALLOWED)
    for name, value in vars(tk.errors).items():
        if isinstance(value, type) and issubclass(value, BaseException):
            assert issubclass(value, tk.TokamataError), name


# ---- names -------------------------------------------------------------------------------------


def test_importing_everything_hides_nothing() -> None:
    names: dict[str, Any] = {}
    exec("from tokamata import *", names)
    imported = set(names) - {"__builtins__"}
    assert imported == set(tk.__all__)
    assert not imported & (set(dir(builtins)) | sys.stdlib_module_names)
    assert callable(tk.type)
    assert callable(tk.json)


def test_the_functions_that_are_left_out_are_still_described() -> None:
    assert tk.type.__doc__
    assert tk.json.__doc__
