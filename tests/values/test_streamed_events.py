"""However a text is cut, its events are the same, if the deltas of each value are put together."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Sequence
from typing import Any

import pytest

import tokamata as tk
from tests.support.texts import all_texts
from tests.support.values.composed import ALPHABET, drawn
from tokamata.values.events import EventReader, TextEvents
from tokamata.values.forms import Reading


def weather(city: str, days: int = 1) -> str:
    """The weather in a city."""
    return f"{city}: {days}"


def weather_of_all(note: str) -> str:
    """A tool whose name begins like the other one's."""
    return note


TURN = [{"city": 'B"ern\n', "days": 3}, {"note": "é 😀 </parameter> x"}]


def reading() -> Reading:
    return Reading("", tk.Limits(), None, has_deltas=True)


def cuts(draw: random.Random, text: bytes, mean: int) -> list[bytes]:
    """The text in random pieces, which may end within a code point."""
    pieces = []
    while text:
        size = draw.randint(1, 2 * mean)
        pieces.append(text[:size])
        text = text[size:]
    return pieces


def events_of(constraint: tk.Constraint[Any], pieces: Iterable[bytes]) -> list[tk.Event]:
    reader = EventReader(constraint._form, reading())
    return [*(event for piece in pieces for event in reader.feed(piece)), *reader.end()]


def merged(events: Sequence[tk.Event]) -> list[tuple[str, Any, int, int, bool]]:
    """The events, in which deltas that follow each other are one."""
    found: list[tuple[str, Any, int, int, bool]] = []
    for event in events:
        if event.is_delta and found and found[-1][4] and found[-1][0] == event.pointer:
            pointer, value, start, _, _ = found.pop()
            found.append((pointer, value + event.value, start, event.end, True))
        else:
            found.append((event.pointer, event.value, event.start, event.end, event.is_delta))
    return found


def hermes(calls: Sequence[tuple[str, Any]]) -> str:
    written = [json.dumps({"name": name, "arguments": given}, ensure_ascii=False) for name, given in calls]
    return "".join(f"<tool_call>\n{one}\n</tool_call>" for one in written)


def coder(name: str, arguments: dict[str, Any]) -> str:
    members = "".join(f"<parameter={key}>\n{value}\n</parameter>\n" for key, value in arguments.items())
    return f"<tool_call>\n<function={name}>\n{members}</function>\n</tool_call>"


TOOLS = [weather, weather_of_all]
CASES = {
    "json": (
        tk.json(),
        '{"a": "x\\u00e9\\ud83d\\ude00\\n", "b": ["", "é😀", 1.5, {"c": "\\\\ud83d"}], "d": "\\u00e9"}',
    ),
    "string": (tk.json(), '"\\\\\\"\\u0041b"'),
    "lone": (tk.json(), '["\\ud83d\\u0041", "\\udc00\\ud83dx", "\\ud83d\\n"]'),
    "thought": (
        tk.think_first(tk.type(list[str])),
        'Hm <thin </thin 😀 é </think>\n\n["a", "bc"]',
    ),
    "parts": (tk.text_until("\n").captured("head") + tk.regex("[a-zé]*") + tk.json(), 'é 😀\nabcé[1, "x"]'),
    "calls": (
        tk.tool_calls(TOOLS),
        "Let me <tool see. " + hermes([("weather", TURN[0]), ("weather_of_all", TURN[1])]) + " Done.",
    ),
    "required": (
        tk.tool_calls(TOOLS, tool_choice="required"),
        "\n".join(hermes([one]) for one in [("weather_of_all", TURN[1]), ("weather", TURN[0])]),
    ),
    "tagged": (
        tk.tool_calls(TOOLS, format="qwen3_coder"),
        "Hm.\n" + coder("weather", {"city": "\nBern\n\n", "days": 3}),
    ),
    "tagged strings": (
        tk.tool_calls(TOOLS, format="qwen3_coder"),
        coder("weather_of_all", {"note": "12 < 13 </param x\n é 😀"}),
    ),
}  # fmt: skip


def test_the_texts_are_those_of_their_constraints() -> None:
    for name, (constraint, text) in CASES.items():
        if name != "lone":  # no model writes half of a pair
            constraint.parse(text)


@pytest.mark.parametrize("name", CASES)
def test_cuts(name: str) -> None:
    constraint, text = CASES[name]
    data = text.encode()
    whole = merged(events_of(constraint, [data]))
    draw = random.Random(1)
    assert merged(events_of(constraint, [data[i : i + 1] for i in range(len(data))])) == whole
    for mean in (1, 2, 3, 5, 8, 20):
        for _ in range(25):
            assert merged(events_of(constraint, cuts(draw, data, mean))) == whole


@pytest.mark.parametrize("name", CASES)
def test_without_deltas_the_events_are_the_values_that_close(name: str) -> None:
    constraint, text = CASES[name]
    plain = EventReader(constraint._form, Reading("", tk.Limits(), None))
    closed = [*plain.feed(text.encode()), *plain.end()]
    events = events_of(constraint, cuts(random.Random(2), text.encode(), 2))
    assert [event for event in events if not event.is_delta] == closed
    assert not any(event.is_delta for event in closed)


@pytest.mark.parametrize("begin", [None, "<think>"])
@pytest.mark.parametrize("name", [None, "turn"])
def test_reasoning_and_answer_have_the_pointers_of_their_values(begin: str | None, name: str | None) -> None:
    """Tags and line feeds have no events, whether the text begins with a tag or not."""
    thought = tk.think_first(tk.think_first(tk.type(list[str])), begin=begin)
    constraint = thought if name is None else tk.literal("-") + thought.captured(name)
    text = ("" if name is None else "-") + (begin or "") + 'a</think>\nb</think>\n\n["c"]'
    value = constraint.parse(text)
    own = f"/{name}" if name else ""
    closed = {
        event.pointer.removeprefix(own): event.value
        for event in events_of(constraint, [text.encode()])
        if not event.is_delta and event.pointer.startswith(own)
    }
    whole = value.turn if name else value
    assert closed.pop("") == (value if name is None else whole)
    assert closed == {
        "/reasoning": "a",
        "/answer/reasoning": "b",
        "/answer/answer/0": "c",
        "/answer/answer": ["c"],
        "/answer": whole.answer,
    }


@pytest.mark.parametrize("name", CASES)
def test_deltas_of_a_value_are_its_text(name: str) -> None:
    """Deltas come before the value, and nothing of the value is missing."""
    constraint, text = CASES[name]
    parts: dict[str, str] = {}
    strings = 0
    for event in events_of(constraint, cuts(random.Random(3), text.encode(), 2)):
        if event.is_delta:
            assert event.value
            parts[event.pointer] = parts.get(event.pointer, "") + event.value
        elif event.pointer in parts:
            assert parts.pop(event.pointer) == event.value
            strings += 1
    assert not parts
    assert strings > 0


@pytest.mark.parametrize("seed", range(4))
def test_random_constraints(seed: int) -> None:
    draw = random.Random(seed)
    count = 0
    while count < 60:
        composed = drawn(draw, draw.randint(1, 3))
        accepted = [text for text in all_texts(ALPHABET, 5) if composed.accepts(text)]
        if not accepted:
            continue
        text = draw.choice(accepted).encode()
        whole = merged(events_of(composed.constraint, [text]))
        for _ in range(4):
            assert merged(events_of(composed.constraint, cuts(draw, text, 1))) == whole
        count += 1


@pytest.mark.parametrize("name", CASES)
def test_what_is_taken_back_is_told_again(name: str) -> None:
    """After rollbacks anywhere, what was told from the common prefix on is told once more."""
    constraint, text = CASES[name]
    data, draw = text.encode(), random.Random(4)
    follower = TextEvents(constraint._form, reading())
    for _ in range(30):
        follower.moved(data[: draw.randint(0, len(data))], is_ended=False)
    follower.moved(b"", is_ended=False)
    events = []
    for size in range(1, len(data) + 1):
        events += follower.moved(data[:size], is_ended=size == len(data))
    assert merged(events) == merged(events_of(constraint, [data]))


# ---- calls of tools ------------------------------------------------------------------------------


def test_a_name_comes_as_soon_as_no_other_tool_can_be_meant() -> None:
    constraint = tk.tool_calls(TOOLS)
    reader = EventReader(constraint._form, reading())
    told: list[tuple[str, Any, str]] = []
    text = "Hm. " + hermes([("weather", {"city": "Bern"})])
    for end, letter in enumerate(text):
        for event in reader.feed(letter.encode()):
            told.append((event.pointer, event.value, text[: end + 1]))
    names = [(value, seen) for pointer, value, seen in told if pointer.endswith("/name")]
    assert names == [("weather", 'Hm. <tool_call>\n{"name": "weather"')]
    pointers = [pointer for pointer, _, _ in told if pointer.startswith("/tags/0/tag/")]
    assert pointers[0].endswith("/name")
    cities = [value for pointer, value, _ in told if pointer.endswith("/arguments/city")]
    assert cities == ["B", "e", "r", "n", "Bern"]
    # The frame of a call, text around its name and its arguments, has no events.
    assert {pointer.rsplit("/", 1)[1] for pointer in pointers} <= {"name", "city", "arguments"}


def test_the_only_tool_is_named_at_once() -> None:
    reader = EventReader(tk.tool_calls([weather], tool_choice="required")._form, reading())
    [event] = reader.feed(b"<")
    assert (event.value, event.is_delta) == ("weather", False)
    assert event.pointer.endswith("/name")


def test_strings_between_tags_come_before_their_end() -> None:
    reader = EventReader(tk.tool_calls([weather_of_all], format="qwen3_coder")._form, reading())
    text = coder("weather_of_all", {"note": "long " * 20})
    events = reader.feed(text[: len(text) // 2].encode())
    told = "".join(event.value for event in events if event.is_delta and event.pointer.endswith("/note"))
    assert "long " * 5 in told
