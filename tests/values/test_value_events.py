"""Which parts have closed, however a text is cut, taken back or forked; against all continuations."""

from __future__ import annotations

import gc
import itertools
import json
import random
import tracemalloc
from collections.abc import Iterable
from typing import Any

import pytest

import tokamata as tk
from tests.support.matchers import write
from tests.support.texts import all_texts
from tests.support.values.composed import ALPHABET, Composed, drawn, reading
from tokamata.values.events import EventReader, TextEvents

LONGEST = 5
ALL = all_texts(ALPHABET, LONGEST)


def told(events: Iterable[tk.Event]) -> list[tuple[str, Any, int, int]]:
    return [(event.pointer, event.value, event.start, event.end) for event in events]


def at_once(constraint: tk.Constraint[Any], text: str) -> list[tk.Event]:
    """All events of a whole text."""
    reader = EventReader(constraint._form, reading())
    return reader.feed(text.encode()) + reader.end()


def so_far(constraint: tk.Constraint[Any], text: str) -> list[tk.Event]:
    """The events of a text that has not ended."""
    return EventReader(constraint._form, reading()).feed(text.encode())


def compositions(seed: int, count: int) -> list[tuple[Composed, list[str]]]:
    """Random constraints, each with all its short texts."""
    draw = random.Random(seed)
    found = []
    while len(found) < count:
        composed = drawn(draw, draw.randint(1, 3))
        accepted = [text for text in ALL if composed.accepts(text)]
        if accepted:
            found.append((composed, accepted))
    return found


@pytest.mark.parametrize("seed", range(4))
def test_no_event_is_withdrawn(seed: int) -> None:
    """What was told after a beginning of a text is what is told first of every text that goes on from it."""
    draw = random.Random(seed)
    told_early = 0
    for composed, accepted in compositions(seed, 25):
        chosen = draw.sample(accepted, min(40, len(accepted)))
        events = {text: told(at_once(composed.constraint, text)) for text in chosen}
        early: dict[str, list[tuple[str, Any, int, int]]] = {}
        for text in chosen:
            for size in range(len(text) + 1):
                begun = text[:size]
                if begun not in early:
                    early[begun] = told(so_far(composed.constraint, begun))
                assert events[text][: len(early[begun])] == early[begun], (composed.constraint, text, begun)
                told_early += len(early[begun])
    assert told_early > 300


@pytest.mark.parametrize("seed", range(4))
def test_all_events_of_a_text(seed: int) -> None:
    """The last is the whole, as parsing gives it; each is a piece of it, which is parsed to its value."""
    draw = random.Random(10 + seed)
    for composed, accepted in compositions(seed, 40):
        for text in draw.sample(accepted, min(10, len(accepted))):
            events = at_once(composed.constraint, text)
            whole = events[-1]
            assert (whole.pointer, whole.start, whole.end) == ("", 0, len(text))
            assert whole.value == composed.constraint.parse(text)
            assert all(earlier.end <= later.end for earlier, later in itertools.pairwise(events))
            if composed.kind in ("+", "repeat", "separated_by"):
                pieces = composed.pieces(text)
                parts = [event for event in events[:-1] if event.pointer.count("/") == 1]
                assert [text[event.start : event.end] for event in parts] == [piece for _, piece in pieces]
                for event, (number, piece) in zip(parts, pieces, strict=True):
                    assert event.value == composed.parts[number].constraint.parse(piece)


@pytest.mark.parametrize("seed", range(6))
def test_pieces_steps_back_and_forks(seed: int) -> None:
    """However a text came, what was told of it in all is what a fresh reader tells."""
    draw = random.Random(20 + seed)
    for composed, accepted in compositions(seed, 40):
        constraint = composed.constraint
        target = draw.choice(accepted)
        fresh = told(at_once(constraint, target))
        reader, at, events = EventReader(constraint._form, reading()), 0, []
        while at < len(target):
            size = draw.randint(1, 2)
            events += reader.feed(target[at : at + size].encode())
            at += size
        assert told(events + reader.end()) == fresh
        follower = TextEvents(constraint._form, reading())
        known: dict[tuple[str, int], tuple[str, Any, int, int]] = {}
        for _ in range(12):
            other = draw.choice(accepted)
            text = other[: draw.randint(0, len(other))]
            if draw.random() < 0.3:
                follower = follower.fork()
            follower.moved(text.encode(), is_ended=draw.random() < 0.5 and text in accepted)
        follower.moved(b"", is_ended=False)
        for size in range(len(target)):
            for event in told(follower.moved(target[:size].encode(), is_ended=False)):
                assert (event[0], event[2]) not in known
                known[(event[0], event[2])] = event
        for event in told(follower.moved(target.encode(), is_ended=True)):
            known[(event[0], event[2])] = event
        assert sorted(map(repr, fresh)) == sorted(map(repr, known.values()))
        assert follower.moved(target.encode(), is_ended=True) == []


def test_a_part_is_told_as_soon_as_no_continuation_changes_it() -> None:
    """Against all texts, of sequences of regular expressions with texts of at most three letters."""
    draw = random.Random(30)
    leaves = ["a", "ab", "ab?", "a|ab", "[ab]", "b{1,2}", "a?", "(?:ab|c)", "[abc]{1,2}", "bc?", "ba|b|c"]
    for _ in range(120):
        patterns = [draw.choice(leaves) for _ in range(draw.randint(2, 3))]
        parts = [Composed(tk.regex(pattern), "regex", pattern=pattern) for pattern in patterns]
        whole = parts[0].constraint
        for part in parts[1:]:
            whole = whole + part.constraint
        composed = Composed(whole, "+", parts)
        accepted = [text for text in all_texts(ALPHABET, 6) if composed.accepts(text)]
        events = {text: told(at_once(whole, text)) for text in accepted}
        for begun in {text[:size] for text in accepted for size in range(len(text) + 1)}:
            following = [events[text][:-1] for text in accepted if text.startswith(begun)]
            shared = itertools.takewhile(lambda alike: len(set(alike)) == 1, zip(*following, strict=False))
            certain = [alike[0] for alike in shared if alike[0][3] <= len(begun)]
            assert told(so_far(whole, begun)) == certain, (patterns, begun)


def test_parts_that_end_by_themselves_close_at_their_last_byte() -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}}
    constraint = (
        tk.text_until("</think>").captured("thought")
        + tk.json_schema(schema).captured("answer")
        + tk.literal("\n")
        + tk.type(list[int]).separated_by(tk.literal(";"))
    )
    text = 'Hm.</think>{"n": 1}\n[2];[3, 4]'
    seen: dict[str, str] = {}
    reader = EventReader(constraint._form, reading())
    for size, letter in enumerate(text):
        for event in reader.feed(letter.encode()):
            seen[event.pointer] = text[: size + 1]
            assert event.end <= size + 1
    assert seen["/thought"] == "Hm.</think>"
    assert seen["/answer/n"] == seen["/answer"] == 'Hm.</think>{"n": 1}'
    assert seen["/2"].endswith("\n")
    assert seen["/3/0/0"].endswith("\n[2]")
    assert seen["/3/0"].endswith("\n[2]")
    assert seen["/3/1/0"].endswith("[3,")
    assert [event.pointer for event in reader.end()] == ["/3", ""]


def test_alternatives_tell_from_where_they_part() -> None:
    one = {
        "type": "object",
        "properties": {"a": {"const": 1}},
        "required": ["a"],
        "additionalProperties": False,
    }
    two = {
        "type": "object",
        "properties": {"b": {"type": "array"}},
        "required": ["b"],
        "additionalProperties": False,
    }
    reader = EventReader((tk.json_schema(one) | tk.json_schema(two))._form, reading())
    assert reader.feed(b'{"') == []
    assert told(reader.feed(b'b": [1, ')) == [("/b/0", 1, 7, 8)]
    assert told(reader.feed(b"2]}")) == [
        ("/b/1", 2, 10, 11),
        ("/b", [1, 2], 6, 12),
        ("", {"b": [1, 2]}, 0, 13),
    ]
    assert reader.end() == []


# ---- matchers -------------------------------------------------------------------------------------


def test_matchers(byte_vocabulary: tk.Vocabulary) -> None:
    stop = byte_vocabulary.stop[0]
    constraint = (
        tk.text_until(":").captured("key") + tk.regex("[0-9]+").captured("number") + tk.regex("[a-z0-9]*")
    )
    matcher = constraint.compile(byte_vocabulary).matcher()
    write(matcher, "age")
    assert matcher.events() == []
    write(matcher, ":4")
    assert told(matcher.events()) == [("/key", "age:", 0, 4)]
    fork = matcher.fork()
    write(matcher, "2x")
    assert told(matcher.events()) == [("/number", "42", 4, 6)]
    matcher.rollback(1)
    assert matcher.events() == []
    write(matcher, "3")
    assert matcher.advance(stop)
    assert told(matcher.events())[:2] == [("/number", "423", 4, 7), ("/2", "", 7, 7)]
    assert fork.advance(stop)
    last = fork.events()[-1]
    assert (last.pointer, last.value) == ("", ("age:", "4", ""))
    assert last.value.number == "4"


def test_random_walks_of_matchers(byte_vocabulary: tk.Vocabulary) -> None:
    draw = random.Random(40)
    for composed, accepted in compositions(41, 30):
        try:
            compiled = composed.constraint.compile(byte_vocabulary)
        except tk.EmptyConstraintError:
            continue
        text = draw.choice(accepted)
        matcher = compiled.matcher()
        events = []
        for byte in text.encode():
            assert matcher.advance(byte)
            if draw.random() < 0.3:
                matcher = matcher.fork()
            if draw.random() < 0.5:
                events += matcher.events()
        assert matcher.advance(byte_vocabulary.stop[0])
        events += matcher.events()
        assert told(events) == told(at_once(composed.constraint, text))


# ---- limits, time and memory ----------------------------------------------------------------------


def test_a_call_that_is_stopped_can_be_made_again(byte_vocabulary: tk.Vocabulary) -> None:
    constraint = tk.regex("[a-z]*") + tk.regex("[a-z0-9]*")
    cancel = tk.CancelToken()
    follower = TextEvents(constraint._form, tk_reading(tk.Limits(), cancel))
    assert follower.moved(b"ab", is_ended=False) == []
    cancel.cancel()
    with pytest.raises(tk.Cancelled):
        follower.moved(b"ab" + b"c1" * 5000, is_ended=False)
    fresh = TextEvents(constraint._form, reading())
    fresh.moved(b"ab", is_ended=False)
    assert told(fresh.moved(b"abc1", is_ended=False)) == [("/0", "abc", 0, 3)]


def tk_reading(limits: tk.Limits, cancel: tk.CancelToken | None) -> Any:
    from tokamata.values.forms import Reading

    return Reading("", limits, cancel)


def list_of(count: int) -> tuple[tk.Constraint[Any], list[bytes]]:
    items = json.dumps(list(range(count))).encode()
    return tk.text_until("\n") + tk.json() + tk.literal("!"), [
        b"x\n",
        *(items[i : i + 4] for i in range(0, len(items), 4)),
        b"!",
    ]


@pytest.mark.parametrize(
    ("constraint", "piece"),
    [
        (tk.text_until("\n") + tk.json(), b"ab"),
        (tk.regex("[0-9]+").separated_by(tk.literal(",")), b"12,"),
        ((tk.regex("[ab]*c") | tk.regex("[ab]")).repeat(), b"ab"),  # the first item may go on to the end
        (tk.regex("[ab]*") + tk.regex("[ab]*"), b"ab"),
    ],
    ids=["text", "list", "uncertain", "two"],
)
def test_memory_is_linear_in_the_calls(constraint: tk.Constraint[Any], piece: bytes) -> None:
    """And the time too: 20,000 calls whose work grew with the text would take minutes."""

    def held(calls: int) -> int:
        gc.collect()
        tracemalloc.start()
        read = reading()
        follower, text = TextEvents(constraint._form, read), b""
        for _ in range(calls):
            text += piece
            follower.moved(text, is_ended=False)
        held = tracemalloc.get_traced_memory()[0] + sum(one.memory_bytes for one in read._splitters.values())
        tracemalloc.stop()
        return held

    assert held(4_000) < 6 * held(1_000)


def test_long_texts() -> None:
    constraint, pieces = list_of(10_000)
    follower, text, count = TextEvents(constraint._form, reading()), b"", 0
    for piece in pieces:
        text += piece
        count += len(follower.moved(text, is_ended=False))
    count += len(follower.moved(text, is_ended=True))
    assert count == 1 + 10_000 + 1 + 1 + 1
    assert len(follower._trackers) < 40  # of some 17,000 calls; more would slow each collection of garbage
    for back in (1, 5, 100, 50_000):
        follower.moved(text[:-back], is_ended=False)
        follower.moved(text, is_ended=False)
    assert told(follower.moved(text, is_ended=True))[-1][0] == ""


def test_the_alphabet_is_the_oracles() -> None:
    assert set("".join(ALL)) == set(ALPHABET)
