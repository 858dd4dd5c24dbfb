"""Byte automata that repairs by one constraint share: they change nothing but the time."""

from __future__ import annotations

import gc
import random
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

import tokamata as tk
import tokamata._core as _core

SCHEMA = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "age": {"type": "integer"}, "tags": {"uniqueItems": True}},
    "required": ["name", "age"],
}
MAKERS = {
    "json": tk.json,
    "schema": lambda: tk.json_schema(SCHEMA, property_order="any"),
    "regex": lambda: tk.regex(r"(?:[a-z]+(?<!ab),)*[0-9]{2,5}"),
    "grammar": lambda: tk.grammar('start: "(" start ")" | NAME\nNAME: /[a-z]+/', lexer="characters"),
}
TEXTS = {
    "json": ['{"a": [1, 2,, {"b": tru}', "[1 2 3", "{'a': 1}", '["a"", 2]', ""],
    "schema": ['{"nmae": "x", age: 3', '{"name": "x" "tags": [1, 1], "age": 3}', '{"age": "3", "name": 1}'],
    "regex": ["abc,ab,12", ",,,", "x1", "abab,123456"],
    "grammar": ["((a)", "a)b(", "", "(((", "1"],
}


def found(constraint: tk.Constraint[Any], text: str) -> tuple[object, ...]:
    repair = constraint.repair(text)
    assert repair.certificate.verify()
    return repair.text, repair.edits, repair.cost, repair.lower_bound


@pytest.mark.parametrize("kind", MAKERS)
def test_a_repair_does_not_depend_on_those_before(kind: str) -> None:
    shared = MAKERS[kind]()
    expected = {text: found(MAKERS[kind](), text) for text in TEXTS[kind]}
    draw = random.Random(kind)
    for text in draw.choices(TEXTS[kind], k=12):
        assert found(shared, text) == expected[text]


def test_threads_repair_by_one_constraint() -> None:
    shared = MAKERS["schema"]()
    texts = 8 * TEXTS["schema"]
    with ThreadPoolExecutor(8) as threads:
        together = list(threads.map(lambda text: found(shared, text), texts))
    assert together == [found(MAKERS["schema"](), text) for text in TEXTS["schema"]] * 8


def test_automata_go_with_their_constraint() -> None:
    gc.collect()
    before = _core.KeptAutomata.idle_bytes()
    constraint = MAKERS["json"]()
    constraint.repair("[1, 2")
    assert _core.KeptAutomata.idle_bytes() > before
    del constraint
    tk.forget_constraints()  # which keeps it for equal calls
    gc.collect()
    assert _core.KeptAutomata.idle_bytes() == before


def test_idle_automata_of_many_constraints_are_bounded() -> None:
    most = 128 << 20
    program = "(" * 3000 + "x" + ")" * 2999
    constraints = [tk.grammar(f'start: "(" start ")" | "x{n}" | "x"', lexer="characters") for n in range(120)]
    for constraint in constraints:  # each makes a megabyte or two of states
        constraint.repair(program)
        assert _core.KeptAutomata.idle_bytes() <= most
    assert _core.KeptAutomata.idle_bytes() > most // 2


def test_where_the_optimum_is_far_an_answer_comes_soon() -> None:
    """Elements that must differ, and a member that is missing: the optimum is far, an answer is not."""
    schema = {**SCHEMA, "additionalProperties": False}
    text = '{"name": "x" "tags": [1, 1]}'
    repair = tk.json_schema(schema, property_order="any").repair(text, limits=tk.Limits(states=200_000))
    assert repair.value["name"] == "x"


def test_a_search_that_was_stopped_leaves_the_constraint_usable() -> None:
    constraint = MAKERS["json"]()
    for states in (40, 80, 200):
        try:
            constraint.repair('{"a": [1, 2,, {"b": tru}', limits=tk.Limits(states=states))
        except tk.LimitExceeded:
            continue
    cancel = tk.CancelToken()
    cancel.cancel()
    with pytest.raises(tk.Cancelled):
        constraint.repair('{"a": [1, 2,, {"b": tru}' * 100, cancel=cancel)
    assert found(constraint, '{"a": [1') == found(MAKERS["json"](), '{"a": [1')
