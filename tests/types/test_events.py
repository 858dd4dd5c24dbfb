"""Which values have closed: against ``json.loads``, however the text is cut, taken back or forked."""

from __future__ import annotations

import json
import random
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

import tokamata as tk
from tests.support.matchers import write
from tests.support.types.type_walks import every_byte
from tokamata import Limits
from tokamata.values.events import EventReader, TextEvents
from tokamata.values.forms import Json, Reading

plain = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=6),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=4),
    max_leaves=12,
)


def json_reader() -> EventReader:
    return EventReader(Json(json.loads), Reading("", Limits(), None))


def json_events() -> TextEvents:
    return TextEvents(Json(json.loads), Reading("", Limits(), None))


def expected(value: Any, pointer: str = "") -> list[tuple[str, Any]]:
    """All values of a value in the order in which they close."""
    found: list[tuple[str, Any]] = []
    if isinstance(value, list):
        for index, inner in enumerate(value):
            found += expected(inner, f"{pointer}/{index}")
    if isinstance(value, dict):
        for name, inner in value.items():
            found += expected(inner, f"{pointer}/{name.replace('~', '~0').replace('/', '~1')}")
    return [*found, (pointer, value)]


def told(events: list[tk.Event]) -> list[tuple[str, Any]]:
    return [(event.pointer, event.value) for event in events]


def pieces(data: bytes, seed: int) -> list[bytes]:
    source, cut = random.Random(seed), []
    while data:
        size = source.choice([1, 1, 2, 3, 10])
        cut.append(data[:size])
        data = data[size:]
    return cut


@given(plain, st.booleans(), st.sampled_from([None, 2]), st.integers(0, 99))
def test_values_are_told_as_they_close(value: Any, ascii_only: bool, indent: int | None, seed: int) -> None:
    data = json.dumps(value, ensure_ascii=ascii_only, indent=indent).encode("utf-8", "surrogatepass")
    reader = json_reader()
    events = [event for piece in pieces(data, seed) for event in reader.feed(piece)] + reader.end()
    assert told(events) == expected(json.loads(data))
    for event in events:
        assert json.loads(data[event.start : event.end]) == event.value


def test_when_values_close() -> None:
    reader = json_reader()
    steps = {}
    text = b'{"a": [10, true, "x\\"", null], "b": {}} '
    for offset in range(len(text)):
        for event in reader.feed(text[offset : offset + 1]):
            steps[event.pointer] = text[: offset + 1].decode()
    assert steps["/a/0"].endswith("[10,")
    assert steps["/a/1"].endswith("true")
    assert steps["/a/2"].endswith('"x\\""')
    assert steps["/a/3"].endswith("null")
    assert steps["/a"].endswith("]")
    assert steps["/b"].endswith("{}")
    assert steps[""].endswith("}}")


def test_a_number_that_is_the_whole_closes_at_the_end() -> None:
    reader = json_reader()
    assert reader.feed(b"12") == reader.feed(b"34") == []
    assert told(reader.end()) == [("", 1234)]
    text = json_events()
    assert text.moved(b"1", False) == []
    assert told(text.moved(b"12", True)) == [("", 12)]
    assert text.moved(b"12", True) == []
    assert text.moved(b"1", False) == []
    assert told(text.moved(b"1", True)) == [("", 1)]


def test_numbers_of_more_digits_than_python_takes() -> None:
    reader = json_reader()
    (event, _) = reader.feed(b"[" + b"9" * 5000 + b"]")
    assert str(event.value) == "9" * 5000


def test_deep_nesting_takes_no_stack() -> None:
    depth = 50_000
    reader = json_reader()
    events = reader.feed(b"[" * depth) + reader.feed(b"]" * depth)
    assert len(events) == depth
    assert events[-1].pointer == ""
    assert events[0].pointer == "/0" * (depth - 1)


def closes_by(event: tk.Event, at: int, ended: bool) -> bool:
    """Numbers close with what follows them."""
    is_number = isinstance(event.value, (int, float)) and not isinstance(event.value, bool)
    return event.end < at + (ended or not is_number)


@given(plain, st.integers(0, 1000))
def test_texts_that_are_taken_back(value: Any, seed: int) -> None:
    """What was told, less what the part taken back told, plus what is told anew, is always what there is."""
    data = json.dumps(value, ensure_ascii=False, indent=1).encode("utf-8", "surrogatepass")
    source = random.Random(seed)
    text, known, at = json_events(), {}, 0
    for _ in range(25):
        at = min(len(data), at + source.randrange(4)) if source.random() < 0.7 else source.randrange(at + 1)
        ended = at == len(data)
        known = {place: event for place, event in known.items() if closes_by(event, at, ended)}
        for event in text.moved(data[:at], ended):
            known[(event.pointer, event.start)] = event
        fresh = json_events().moved(data[:at], ended)
        assert {(event.pointer, event.start) for event in fresh} <= set(known)
        assert all(known[(event.pointer, event.start)] == event for event in fresh)


def test_another_way_on_after_taking_back() -> None:
    text = json_events()
    assert told(text.moved(b'{"a": [1, 2', False)) == [("/a/0", 1)]
    assert told(text.moved(b'{"a": [1, 33], "b"', False)) == [("/a/1", 33), ("/a", [1, 33])]
    assert told(text.moved(b'{"a": [1, 33], "c": 5}', True)) == [("/c", 5), ("", {"a": [1, 33], "c": 5})]
    assert told(text.moved(b'{"a": "', False)) == []
    assert told(text.moved(b'{"a": "x"', False)) == [("/a", "x")]


# ---- matchers -------------------------------------------------------------------------------------

AGES = {"type": "array", "items": {"type": "integer"}}
SCHEMA = {"type": "object", "properties": {"name": {"type": "string"}, "ages": AGES}}


def test_matchers_tell_what_closed() -> None:
    matcher = tk.json_schema(SCHEMA).compile(every_byte()).matcher()
    assert matcher.events() == []
    write(matcher, '{"name": "é')
    assert matcher.events() == []
    write(matcher, '", "ages": [3, 4')
    assert told(matcher.events()) == [("/name", "é"), ("/ages/0", 3)]
    fork = matcher.fork()
    write(matcher, "]}")
    assert told(matcher.events()) == [("/ages/1", 4), ("/ages", [3, 4]), ("", {"name": "é", "ages": [3, 4]})]
    assert matcher.events() == []
    write(fork, "5]")
    assert told(fork.events()) == [("/ages/1", 45), ("/ages", [3, 45])]
    fork.rollback(2)
    assert fork.events() == []
    write(fork, ", 6]}")
    assert told(fork.events())[:2] == [("/ages/1", 4), ("/ages/2", 6)]


def test_a_number_at_the_top_closes_with_the_stop_token() -> None:
    vocabulary = every_byte()
    matcher = tk.json_schema({"type": "integer"}).compile(vocabulary).matcher()
    write(matcher, "12")
    assert matcher.events() == []
    assert matcher.advance(vocabulary.stop[0])
    assert told(matcher.events()) == [("", 12)]
    matcher.rollback(1)
    assert matcher.events() == []
    write(matcher, "3")
    assert matcher.advance(vocabulary.stop[0])
    assert told(matcher.events()) == [("", 123)]


def test_any_spelling_and_white_space() -> None:
    constraint = tk.json(whitespace="any", spelling="any")
    matcher = constraint.compile(every_byte()).matcher()
    write(matcher, '\n{ "\\u0061\\/" :\t[ 1e2 ,\r"\\ud83d\\ude00" ] }')
    assert told(matcher.events())[:2] == [("/a~1/0", 100.0), ("/a~1/1", "😀")]


def test_other_constraints_close_as_a_whole() -> None:
    vocabulary = every_byte()
    for constraint, value in ((tk.regex("[0-9]+"), "12"), (tk.type(int, syntax="python"), 12)):
        matcher = constraint.compile(vocabulary).matcher()
        write(matcher, str(value))
        assert matcher.events() == []
        assert matcher.advance(vocabulary.stop[0])
        assert told(matcher.events()) == [("", value)]


def test_events_are_compared_and_shown() -> None:
    (one,) = json_reader().feed(b'"a"')
    (two,) = json_reader().feed(b'"a"')
    assert one == two
    assert one != "a"
    assert repr(one) == "Event('', 'a', 0, 3)"
