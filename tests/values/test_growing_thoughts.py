"""Partial values of reasoning with an answer: at every byte, however the text is cut, in any order."""

from __future__ import annotations

import pickle
import random
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest

import tokamata as tk
from tests.support.models.scripted import Scripted
from tests.values.test_streamed_events import merged
from tokamata.values.events import EventReader
from tokamata.values.forms import Reading
from tokamata.values.growing_thoughts import GrowingThought
from tokamata.values.growing_values import GrowingValue

pydantic = pytest.importorskip("pydantic")

END = "</think>"


class Painter(pydantic.BaseModel):
    name: str
    born: int


class Reader:
    """Reads a text as a stream does: piece by piece, with a place after each."""

    def __init__(self, constraint: tk.Constraint[Any], given: Any = Painter) -> None:
        self.events = EventReader(constraint._form, Reading("", tk.Limits(), None, has_deltas=True))
        self.value = GrowingThought(GrowingValue(given is Painter, given))
        self.read = 0

    def place(self, data: bytes) -> int:
        self.value.add(data)
        self.read += len(data)
        return self.value.place(self.read, self.events.feed(data), self.events.start_of)


def of_json(answer: str) -> Any:
    if not answer.strip():  # line feeds before the answer belong to neither
        return None
    value = GrowingValue(True, Painter)
    value.add(answer.encode())
    return value.at(len(answer.encode()))


def of_text(answer: str) -> Any:
    return answer or None


CASES: list[tuple[tk.Constraint[Any], str, str, Callable[[str], Any]]] = [
    (tk.think_first(Painter), "", 'é </thi n 😀</think>\n\n{"name": "Klé", "born": 1879}', of_json),
    (tk.think_first(Painter, begin="<think>"), "<think>", '<think>a</think>{"name": "", "born": 1}', of_json),
    (tk.think_first(Painter, most_characters=9), "", '1 < 2</think>\n{"name": "K", "born": 1}', of_json),
    (tk.think_first(tk.regex("[a-z]{2,5}")), "", "</</think>\nabc", of_text),
]


NAMES = ["JSON", "begin", "bound", "regex"]


def expected(prefix: bytes, begin: str, of_answer: Callable[[str], Any]) -> tuple[str, Any]:
    """From the start of the text: the reasoning is what no later byte makes a part of a tag."""
    text = prefix.decode(errors="ignore")
    if len(text) < len(begin):
        return "", None
    reasoning, tag, answer = text[len(begin) :].partition(END)
    if tag:
        return reasoning, of_answer(answer.lstrip("\n"))
    length = next(n for n in range(len(END), -1, -1) if reasoning.endswith(END[:n]))
    return reasoning[: len(reasoning) - length], None


@pytest.mark.parametrize(("constraint", "begin", "text", "of_answer"), CASES, ids=NAMES)
def test_every_beginning_and_cut(
    constraint: tk.Constraint[Any], begin: str, text: str, of_answer: Callable[[str], Any]
) -> None:
    """A value depends on the number of bytes alone: not on cuts, nor on what was read before."""
    data = text.encode()
    values = [expected(data[:end], begin, of_answer) for end in range(len(data) + 1)]
    draw = random.Random(1)
    for number in range(30):
        count = len(data) - 1 if number == 0 else draw.randrange(7)
        ends = [0, *sorted(draw.sample(range(1, len(data)), count)), len(data)]
        reader = Reader(constraint, Painter if of_answer is of_json else None)
        places = {}
        for begun, end in pairwise(ends):
            places[end] = reader.place(data[begun:end])
            if number % 2 == 0:
                assert reader.value.at(places[end]) == values[end], data[:end]
        draw.shuffle(ends)
        again = pickle.loads(pickle.dumps(reader.value))
        for end in ends:
            if end:
                assert reader.value.at(places[end]) == again.at(places[end]) == values[end]
    whole = reader.value.at(places[len(data)])
    assert (whole.reasoning, whole.answer) == values[-1]
    if of_answer is of_text:
        assert whole == constraint.parse(text)


def test_the_answer_of_a_stream_is_an_instance(tokenizer: Any) -> None:
    text = 'Born 1879.</think>{"name": "Klee", "born": 1879}'
    model = Scripted(tokenizer, lambda prompt: text, "A: ")
    with tk.stream(model, tokenizer, "A: ", tk.think_first(Painter)) as steps:
        values = [step.value for step in steps]
    assert values[0].answer is None
    assert "Born 1879.".startswith(values[0].reasoning)
    assert type(values[-1].answer) is tk.partial(Painter)
    assert steps.generation is not None
    assert Painter(**values[-1].answer.model_dump()) == steps.generation.parse().answer


@pytest.mark.parametrize("begin", [None, "<think>"])
def test_only_reasoning_and_answer_have_events(begin: str | None) -> None:
    constraint = tk.think_first(Painter, begin=begin)
    text = (begin or "") + 'hm</think>\n{"name": "K", "born": 1}'
    reader = Reader(constraint).events
    events = merged([*reader.feed(text.encode()), *reader.end()])
    names = [(event[0], event[1]) for event in events if not event[4]]
    whole = {"name": "K", "born": 1}
    inner = [("/answer/name", "K"), ("/answer/born", 1), ("/answer", whole)]
    assert names == [("/reasoning", "hm"), *inner, ("", ("hm", whole))]
