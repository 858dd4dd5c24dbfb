"""The value of a text while it grows: what no later byte changes, as instances, and in linear work."""

from __future__ import annotations

import datetime
import json
import pickle
import random
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Literal

import pytest

import tokamata as tk
from tokamata.values import growing_values
from tokamata.values.growing_values import GrowingValue

pydantic = pytest.importorskip("pydantic")


class Style(pydantic.BaseModel):
    name: str
    since: int = 1900


class Painter(pydantic.BaseModel):
    name: str = pydantic.Field(min_length=3)
    born: int = pydantic.Field(ge=1000, alias="bornIn")
    is_alive: bool = False
    weights: list[float] | None = None
    styles: list[Style]
    teacher: Painter | None = None
    notes: dict[str, Style] | None = None
    tags: dict[str, list[str]] | None = None
    more: Any = None


class Kinds(pydantic.BaseModel):
    kind: Literal["a", "ab"]
    on: datetime.date
    either: Style | Painter | None = None
    text: str | int = ""


WHOLE: dict[str, Any] = {
    "name": 'Paul "K" é\n😀',
    "bornIn": 1879,
    "is_alive": False,
    "weights": [1.5, -20, 3e2],
    "styles": [{"name": "cubism"}, {"name": "expressionism", "since": 1905}, {"name": ""}],
    "teacher": {"name": "Franz", "bornIn": 1863, "styles": [{"name": "x", "since": 12}], "teacher": None},
    "notes": {"a": {"name": "one", "since": 1}, "b": {"name": "two"}},
    "tags": {"x": ["a", "bc"], "y": []},
    "more": [1, {"a": ["b", None, True]}, "c"],
}
TEXTS = [json.dumps(WHOLE), json.dumps(WHOLE, ensure_ascii=False, indent=1)]


def closed(prefix: str) -> str:
    """A beginning of a text without a number that may go on; an oracle that reads from the start."""
    in_string = is_escaped = False
    for letter in prefix:
        if is_escaped:
            is_escaped = False
        elif letter == "\\":
            is_escaped = in_string
        elif letter == '"':
            in_string = not in_string
    return prefix if in_string else prefix.rstrip("-+.0123456789")


def expected(given: Any, data: bytes) -> Any:
    value = tk.partial_value(closed(data.decode(errors="ignore")))
    if value is None or given is None:
        return value
    return tk.partial(given).model_validate(value)


@pytest.mark.parametrize("text", TEXTS, ids=["ascii", "indented"])
@pytest.mark.parametrize("given", [None, Painter], ids=["json", "model"])
def test_every_beginning(text: str, given: Any) -> None:
    data = text.encode()
    growing = GrowingValue(True, given)
    for end in range(len(data)):
        growing.add(data[end : end + 1])
        assert growing.at(end + 1) == expected(given, data[: end + 1]), data[: end + 1]
    if given is not None:
        assert type(growing.at(len(data))) is tk.partial(Painter)
        assert type(growing.at(len(data)).styles[0]) is type(growing.at(len(data) - 1).styles[0])


@pytest.mark.parametrize("given", [None, Painter], ids=["json", "model"])
def test_cuts_and_orders_of_reading(given: Any) -> None:
    """A value depends on the number of bytes alone: not on cuts, and not on what was read before."""
    draw = random.Random(1)
    data = TEXTS[0].encode()
    values = [expected(given, data[:end]) for end in range(len(data) + 1)]
    for _ in range(20):
        growing, ends = GrowingValue(True, given), [0]
        while ends[-1] < len(data):
            size = draw.randint(1, 12)
            growing.add(data[ends[-1] : ends[-1] + size])
            ends.append(min(ends[-1] + size, len(data)))
            if draw.random() < 0.3:
                assert growing.at(ends[-1]) == values[ends[-1]]
        draw.shuffle(ends)
        for end in ends:
            assert growing.at(end) == values[end]


def test_a_value_that_was_read_does_not_change() -> None:
    data = TEXTS[0].encode()
    growing = GrowingValue(True, Painter)
    growing.add(data)
    kept = [(end, growing.at(end)) for end in range(len(data) + 1)]
    shown = [(end, repr(value)) for end, value in kept]
    growing.at(len(data))
    assert [(end, repr(value)) for end, value in kept] == shown


def test_threads_read_one_after_another(monkeypatch: pytest.MonkeyPatch) -> None:
    """Steps look like plain data: a program may read an old one in a thread while another reads the next."""
    active: list[int] = []
    most = 0

    class Slow(growing_values.JsonTracker):
        def feed(self, *arguments: Any) -> None:
            nonlocal most
            active.append(1)
            most = max(most, len(active))
            time.sleep(0.01)
            super().feed(*arguments)
            active.pop()

    monkeypatch.setattr(growing_values, "JsonTracker", Slow)
    growing, data = GrowingValue(True, Painter), TEXTS[0].encode()
    growing.add(data)
    ends = [100, len(data), 50, 200]
    with ThreadPoolExecutor(4) as threads:
        values = list(threads.map(growing.at, ends))
    assert values == [expected(Painter, data[:end]) for end in ends]
    assert most == 1


def test_only_what_is_final_is_there() -> None:
    growing = GrowingValue(True, Kinds)
    text = '{"kind": "ab", "on": "2026-01-02", "either": {"name": "K", "bornIn": 1879}, "text": "ab"}'
    growing.add(text.encode())

    def after(beginning: str) -> Any:
        return growing.at(text.index(beginning) + len(beginning))

    assert after('"kind": "a').kind is None
    assert after('"kind": "ab').kind is None
    assert after('"kind": "ab"').kind == "ab"
    assert after("2026-01-02").on is None
    assert after('2026-01-02"').on == datetime.date(2026, 1, 2)
    assert after('"K", ').either is None  # Style or Painter
    assert type(after("1879}").either).__name__ == "PartialPainter"
    assert after('"text": "a').text == "a"
    assert growing.at(len(text)).text == "ab"


class Say(pydantic.BaseModel):
    act: Literal["say"]
    text: str


class Find(pydantic.BaseModel):
    act: Literal["find", "seek"]
    words: list[str]
    how: Say | None = None


class Plan(pydantic.BaseModel):
    first: Say | Find
    rest: list[Say | Find | str] | None = None


def test_one_of_several_models_is_there_once_a_literal_says_which() -> None:
    text = (
        '{"first": {"act": "seek", "words": ["a", "bc"]}, "rest": [{"act": "say", "text": "hel"}, "x", '
        '{"text": "abc", "act": "say"}]}'
    )
    growing = GrowingValue(True, Plan)
    growing.add(text.encode())

    def after(beginning: str) -> Any:
        return growing.at(text.index(beginning) + len(beginning))

    assert after('"seek').first is None
    assert type(after('"seek"').first).__name__ == "PartialFind"
    assert after('["a", "b').first.words == ["a", "b"]
    assert after('"hel').rest[0].text == "hel"
    assert after('"x"').rest[1] == "x"
    assert len(after('"abc"').rest) == 2
    assert after('"abc", "act": "say"').rest[2].text == "abc"
    whole = tk.partial(Plan).model_validate(json.loads(text))
    assert growing.at(len(text)) == whole
    for end in range(len(text)):
        value = growing.at(end)
        for one, other in zip((value and value.rest) or [], whole.rest, strict=False):
            assert type(one) is type(other)


def test_lists_of_models_and_other_types() -> None:
    growing = GrowingValue(True, list[Style])
    growing.add(b'[{"name": "a"}, {"name": "b')
    assert growing.at(3) == [tk.partial(Style)()] == [tk.partial(Style)(name=None)]
    assert growing.at(27) == [tk.partial(Style)(name="a"), tk.partial(Style)(name="b")]
    plain = GrowingValue(True, list[int])
    plain.add(b"[1, 23")
    assert (plain.at(0), plain.at(1), plain.at(6)) == (None, [], [1])
    text = GrowingValue(False)
    text.add("aé".encode())
    assert (text.at(2), text.at(3)) == ("a", "aé")
    assert pickle.loads(pickle.dumps(plain)).at(6) == [1]


def test_a_class_whose_fields_have_several_names() -> None:
    class Either(pydantic.BaseModel):
        name: str = pydantic.Field(validation_alias=pydantic.AliasChoices("name", "title"))

    growing = GrowingValue(True, Either)
    growing.add(b'{"title": "a"}')
    assert growing.at(12) is None
    assert growing.at(14).name == "a"


def text_of(kind: str, count: int) -> list[bytes]:
    """A text of some ``count`` tokens."""
    if kind == "string":
        return [b'{"name": "', *[b"word "] * count, b'"}']
    if kind == "list":
        return [b'{"weights": [', *[b"1, "] * count, b"2]}"]
    return [b'{"styles": [', *[b'{"name": "a"}, '] * count, b'{"name": "b"}]}']


def calls_of(kind: str, count: int) -> int:
    """How many functions are called, in Python and in C, if the value is read after each token."""
    growing, calls, end = GrowingValue(True, Painter), 0, 0
    growing.add(b"{")
    growing.at(1)  # makes what the type needs, once

    def count_call(frame: Any, event: str, argument: Any) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    growing = GrowingValue(True, Painter)
    sys.setprofile(count_call)
    try:
        for piece in text_of(kind, count):
            growing.add(piece)
            end += len(piece)
            growing.at(end)
    finally:
        sys.setprofile(None)
    return calls


@pytest.mark.parametrize("kind", ["string", "list", "models"])
def test_work_is_linear_in_the_tokens(kind: str) -> None:
    few, some, many = (calls_of(kind, count) for count in (100, 1_000, 10_000))
    assert some < 11 * few
    assert many < 11 * some


def test_bytes_are_decoded_once(monkeypatch: pytest.MonkeyPatch) -> None:
    decoded_bytes = 0

    def counted(text: Any, begin: int, end: int) -> tuple[str, int]:
        nonlocal decoded_bytes
        decoded_bytes += end - begin
        return real(text, begin, end)

    real = growing_values.decoded
    monkeypatch.setattr(growing_values, "decoded", counted)
    calls_of("string", 10_000)
    assert 50_000 <= decoded_bytes < 50_100
