"""Prepared constraints have the masks that they have without, and preparing them is bounded."""

from __future__ import annotations

import random
import threading
from typing import Any

import numpy as np
import pytest

import tokamata as tk
from tests.support.masks import bits
from tests.support.models.fakes import byte_level
from tests.support.vocabularies import bytes_and

_SCHEMAS: list[Any] = [
    {
        "type": "object",
        "properties": {
            "name": {"type": "string", "maxLength": 5},
            "count": {"type": "integer", "minimum": -3},
            "kind": {"enum": ["ab", "b", 12, None]},
            "when": {"type": "string", "format": "date"},
            "more": {"type": "array", "items": {"type": "number"}, "uniqueItems": True},
        },
        "required": ["name"],
    },
    {"type": "object", "patternProperties": {"^[ab]+$": {"type": "boolean"}}, "additionalProperties": False},
    True,
]
_PIECES = ["ab", '":', '",', '{"', "}}", "]}", "na", "me", "co", "unt", "00", ", ", '"a', "true", 'Ġ"']


@pytest.fixture(scope="module")
def vocabulary() -> tk.Vocabulary:
    """All bytes, and some pieces that go over the borders of what JSON is made of."""
    return bytes_and(*(piece.replace("Ġ", " ").encode() for piece in _PIECES))


def _constraints() -> list[tk.Constraint[Any]]:
    schemas = [
        tk.json_schema(schema, property_order=order) for schema in _SCHEMAS for order in ("schema", "any")
    ]
    regexes = [tk.regex(pattern) for pattern in (r"[a-z]+@([a-z]{1,9}\.)+(com|org)", r"(?!ab)[a-c]{2,9}")]
    return [*schemas, *regexes, tk.type(list[int])]


def _compare(prepared: tk.CompiledConstraint, plain: tk.CompiledConstraint, seed: int) -> None:
    draw = random.Random(seed)
    ours, theirs = prepared.matcher(), plain.matcher()
    for _ in range(40):
        mask = ours.mask
        np.testing.assert_array_equal(mask, theirs.mask)
        tokens = sorted(bits(mask))
        if ours.is_finished or not tokens:
            return
        token = draw.choice(tokens)
        assert ours.advance(token)
        assert theirs.advance(token)


@pytest.mark.parametrize("number", range(len(_constraints())))
def test_masks_are_the_same(number: int, vocabulary: tk.Vocabulary) -> None:
    constraint = _constraints()[number]
    prepared = constraint.compile(vocabulary)
    report = prepared.prepare()
    assert report.finished
    assert 1 < report.masks <= 512
    plain = constraint.compile(vocabulary)
    for seed in range(15):
        _compare(prepared, plain, seed)


@pytest.mark.parametrize("number", range(len(_constraints())))
def test_canonical_masks_are_the_same(number: int) -> None:
    vocabulary = tk.Vocabulary.load(
        byte_level(["a b", '" :', '" ,', '{ "', "n a", "0 0", 'Ġ "', "} }"]), stop=0
    )
    constraint = _constraints()[number]
    prepared = constraint.compile(vocabulary, tokenization="canonical")
    assert prepared.prepare().finished
    plain = constraint.compile(vocabulary, tokenization="canonical")
    for seed in range(6):
        _compare(prepared, plain, seed)


def test_what_is_prepared_is_known(vocabulary: tk.Vocabulary) -> None:
    compiled = tk.json_schema(_SCHEMAS[0]).compile(vocabulary)
    compiled.prepare()
    states, held = compiled.states, compiled.memory_bytes
    matcher = compiled.matcher()
    for byte in b'{"name":':
        assert matcher.advance(byte)
        assert len(matcher.mask)
    assert (compiled.states, compiled.memory_bytes) == (states, held)
    assert compiled.prepare().masks == compiled.prepare().masks
    assert (compiled.states, compiled.memory_bytes) == (states, held)


def test_the_work_is_the_same_each_time(vocabulary: tk.Vocabulary) -> None:
    for constraint in _constraints():
        constraint.compile(vocabulary).prepare()  # makes what the vocabulary keeps
        first, second = constraint.compile(vocabulary), constraint.compile(vocabulary)
        assert first.prepare().masks == second.prepare().masks
        assert (first.states, first.memory_bytes) == (second.states, second.memory_bytes)


def test_without_time_nothing_is_done(vocabulary: tk.Vocabulary) -> None:
    compiled = tk.json_schema(_SCHEMAS[0]).compile(vocabulary)
    states = compiled.states
    report = compiled.prepare(seconds=0)
    assert (report.masks, report.finished, compiled.states) == (0, False, states)


def test_time_ends_it(vocabulary: tk.Vocabulary) -> None:
    compiled = tk.json_schema(True).compile(vocabulary)
    report = compiled.prepare(seconds=0.0002)
    assert not report.finished
    assert report.masks < compiled.prepare().masks


@pytest.mark.parametrize("when", ["call", "compile"])
def test_cancelled(when: str, vocabulary: tk.Vocabulary) -> None:
    cancel = tk.CancelToken()
    constraint = tk.json_schema(_SCHEMAS[0])
    compiled = constraint.compile(vocabulary, cancel=cancel if when == "compile" else None)
    cancel.cancel()
    with pytest.raises(tk.Cancelled):
        compiled.prepare(cancel=cancel if when == "call" else None)
    if when == "call":
        _compare(compiled, constraint.compile(vocabulary), 3)


def _prepare_again_and_again(compiled: tk.CompiledConstraint, cancel: tk.CancelToken) -> None:
    while True:
        compiled.prepare(cancel=cancel)


def test_a_cancel_token_stops_it_from_another_thread(vocabulary: tk.Vocabulary) -> None:
    compiled = tk.json_schema(True).compile(vocabulary)
    cancel = tk.CancelToken()
    timer = threading.Timer(0.001, cancel.cancel)
    timer.start()
    with pytest.raises(tk.Cancelled):
        _prepare_again_and_again(compiled, cancel)
    timer.join()
    _compare(compiled, tk.json_schema(True).compile(vocabulary), 4)


@pytest.mark.parametrize("number", range(len(_constraints())))
@pytest.mark.parametrize("limits", [{"memory_bytes": 400_000}, {"states": 300}])
def test_it_keeps_within_the_limits(number: int, limits: dict[str, int], vocabulary: tk.Vocabulary) -> None:
    constraint = _constraints()[number]
    tight = tk.Limits(**limits)  # type: ignore[arg-type]
    try:
        compiled = constraint.compile(vocabulary, limits=tight)
    except tk.LimitExceeded:
        pytest.skip("it does not fit by itself")
    matcher = compiled.matcher()
    before = matcher.mask.copy()
    compiled.prepare()
    assert compiled.memory_bytes <= tight.memory_bytes
    assert compiled.states <= tight.states
    np.testing.assert_array_equal(matcher.mask, before)


def test_beside_running_matchers(vocabulary: tk.Vocabulary) -> None:
    for constraint in _constraints():
        compiled, plain = constraint.compile(vocabulary), constraint.compile(vocabulary)
        errors: list[BaseException] = []

        def work(task: Any, errors: list[BaseException] = errors) -> None:
            try:
                task()
            except BaseException as error:  # shown below
                errors.append(error)

        threads = [threading.Thread(target=work, args=(compiled.prepare,)) for _ in range(2)]
        threads += [
            threading.Thread(target=work, args=(lambda seed=seed: _compare(compiled, plain, seed),))  # noqa: B023
            for seed in range(2)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not errors
