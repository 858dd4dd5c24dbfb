"""Generation under constraints whose texts have values: events at each step, and parsing in the end."""

from __future__ import annotations

import pickle
from dataclasses import dataclass
from typing import Any, Literal

import pytest

import tokamata as tk


@dataclass
class Point:
    kind: Literal["point"]
    on: tuple[bool, bool]


def test_steps_tell_what_closed(model: Any, tokenizer: Any) -> None:
    constraint = tk.type(Point)
    for given in (constraint, constraint.compile(tk.Vocabulary.load(tokenizer))):
        steps = tk.stream(model, tokenizer, "x", given, seed=3)
        events = [event for step in steps for event in step.events if not event.is_delta]
        assert [event.pointer for event in events] == ["/kind", "/on/0", "/on/1", "/on", ""]
        assert steps.generation is not None
        point = steps.generation.parse()
        assert point == Point("point", tuple(events[3].value))
        assert point == constraint.parse(steps.generation.text)


def test_healed_prompts_leave_events_alone(model: Any, tokenizer: Any) -> None:
    steps = tk.stream(model, tokenizer, "a: th", tk.json_schema({"const": "the"}), heal=True, seed=1)
    events = [event for step in steps for event in step.events if not event.is_delta]
    assert [(event.pointer, event.value, event.start) for event in events] == [("", "the", 0)]


def test_texts_without_values(model: Any, tokenizer: Any) -> None:
    assert tk.generate(model, tokenizer, "x", tk.regex("a"), seed=0).parse() == "a"
    free = tk.generate(model, tokenizer, "x", None, seed=0, max_new_tokens=2)
    with pytest.raises(tk.NoValuesError, match="without a constraint"):
        free.parse()


def test_events_of_a_sequence_are_complete_where_nothing_can_follow(model: Any, tokenizer: Any) -> None:
    constraint = tk.regex("[a-c]{2,5};").captured("letters") + tk.json_schema({"enum": [[1], [2]]})
    steps = tk.stream(model, tokenizer, "x", constraint, seed=3, max_new_tokens=30)
    told = [(event.pointer, event.value) for step in steps for event in step.events if not event.is_delta]
    assert steps.generation is not None
    value = steps.generation.parse()
    assert told == [("/letters", value.letters), ("/1/0", value[1][0]), ("/1", value[1]), ("", value)]
    assert steps.generation.finish_reason == "complete"


def test_generations_travel_and_streams_do_not(model: Any, tokenizer: Any) -> None:
    stop = tk.control_token("<end_of_turn>")
    constraint = tk.regex("[a-c]{2}").captured("first") + stop + tk.regex("[a-c]{2}").captured("second")
    vocabulary = tk.Vocabulary.load(tokenizer)
    compiled = tk.json_schema({"enum": [1, 2]}).compile(vocabulary)
    for given in (constraint.compile(vocabulary), compiled, compiled.constraint):
        steps = tk.stream(model, tokenizer, "x", given, seed=1)
        written = [*steps]
        generation = steps.generation
        assert generation is not None
        twin = pickle.loads(pickle.dumps(generation))
        assert twin == generation
        assert twin.parse() == generation.parse()
        assert pickle.loads(pickle.dumps(written)) == written
        with pytest.raises(tk.PicklingError, match="iterate to its end"):
            pickle.dumps(steps)
    assert len(pickle.dumps(generation)) < 1500
