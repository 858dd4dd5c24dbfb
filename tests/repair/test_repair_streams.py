"""Repairs of texts that arrive in pieces: the end is the repair of the whole, and what is final stays."""

from __future__ import annotations

import json
import pickle
import random
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

import tokamata as tk
import tokamata._core as _core
from tests.support.repair.byte_patterns import patterns_of, places
from tests.support.repairs import random_costs
from tokamata.repair.bounded_patterns import BoundedPatterns
from tokamata.repair.stream_words import StreamedWords
from tokamata.repair.streams import RepairStream
from tokamata.repair.words import Words
from tokamata.resources.limits import core_limits
from tokamata.values.events import EventReader
from tokamata.values.forms import Reading


@dataclass
class Painter:
    name: str
    born: int


SCHEMA = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "n": {"type": "integer"}, "items": {"type": "array"}, "o": {}},
    "required": ["name", "n"],
    "additionalProperties": False,
}
JSON, OBJECT = tk.json(), tk.json_schema(SCHEMA)
CASES: list[tuple[tk.Constraint[Any], str | bytes]] = [
    (JSON, "{'a': 1, 'é': [True, 2,], // x\n 'c': \"d\ne\"}"),
    (JSON, 'Here: ```json\n{"a": [1, 2, {"b": "c”}]\n``` ok?'),
    (JSON, b'{"a": "\xff\xc3", "b": "\xc3\xa9'),
    (JSON, "[1, 2]"),
    (JSON, ""),
    (OBJECT, '<think>{"a"} no</think>{"nmae": "x", "n": "3", "o": /* y */ None'),
    (OBJECT, '{"name": "a", "name": "b", "n": 1, "z": {}} and {"name": "c", "n": 2.0}'),
    (tk.type(Painter), "{'name': 'Paul', 'born': '1879'"),
    (tk.regex(r"(?P<year>\d{4})-\d\d"), "187-9 2"),
    (tk.grammar('start: "a" b+\nb: "b" | "(" start ")"'), "ab(abb"),
    (tk.text_until("END").captured("head") + tk.json(), "no JSON END [1, 2"),
]
CONSTRAINTS = [
    *("json", "fenced", "bytes", "valid", "empty", "schema"),
    *("values", "type", "regex", "grammar", "sequence"),
]


def cuts_of(text: bytes, draw: random.Random) -> Iterator[list[bytes]]:
    """The text cut at every byte in turn, and some times at random."""
    for at in range(len(text) + 1):
        yield [text[:at], text[at:]]
    for _ in range(3):
        borders = sorted(draw.choices(range(len(text) + 1), k=draw.randrange(12)))
        yield [text[a:b] for a, b in zip([0, *borders], [*borders, len(text)], strict=True)]


def as_bytes(text: str | bytes) -> bytes:
    return text.encode() if isinstance(text, str) else text


def key(event: tk.Event) -> tuple[str, str]:
    return event.pointer, repr(event.value)


def events_of(constraint: tk.Constraint[Any], text: str) -> list[tk.Event]:
    """The events of a whole text."""
    reader = EventReader(constraint._form, Reading("the constraint", tk.Limits(), None))
    return reader.feed(text.encode()) + reader.end()


@pytest.mark.parametrize(("constraint", "text"), CASES, ids=CONSTRAINTS)
def test_the_end_is_the_repair_of_the_whole(constraint: tk.Constraint[Any], text: str | bytes) -> None:
    """However a text is cut: the same text, edits and bound; and its events, each of them once."""
    whole = constraint.repair(text)
    known = Counter(map(key, events_of(constraint, whole.text)))
    for pieces in cuts_of(as_bytes(text), random.Random(1)):
        stream = constraint.repair_stream()
        reported = []
        for piece in pieces:
            stream.feed(piece)
            reported += stream.events()
        repair = stream.finish()
        assert (repair.text, repair.edits, repair.cost) == (whole.text, whole.edits, whole.cost)
        assert (repair.lower_bound, repair.value) == (whole.lower_bound, whole.value)
        reported += stream.events()
        taken_back = Counter(map(key, stream.retracted))
        assert Counter(map(key, reported)) == known + taken_back, pieces
        assert repair is stream.finish()
        assert stream.events() == []
        assert stream.text == whole.text


def test_str_and_bytes_are_the_same_text() -> None:
    one, other = JSON.repair_stream(), JSON.repair_stream()
    for letter in "{'é': '€\ud800'":
        one.feed(letter)
    for byte in "{'é': '€\ud800'".encode("utf-8", "surrogatepass"):
        other.feed(bytearray([byte]))
    assert one.finish().text == other.finish().text


def test_values_are_final_while_the_text_goes_on() -> None:
    stream = JSON.repair_stream()
    assert (stream.value, stream.text, stream.cost) == (None, "", None)
    for piece, final, value in [
        ("{'a': 1, 'b': tru", {"/a": 1}, {"a": 1, "b": True}),
        ("e, 'c': 'it", {"/a": 1, "/b": True}, {"a": 1, "b": True, "c": "it"}),
        ("s', 'd': {", {"/a": 1, "/b": True, "/c": "its"}, {"a": 1, "b": True, "c": "its", "d": {}}),
    ]:
        stream.feed(piece)
        assert (stream.final, stream.value) == (final, value)
    assert [event.pointer for event in stream.events()] == ["/a", "/b", "/c"]
    assert stream.cost is not None
    assert stream.holds_until is not None
    assert stream.holds_until >= stream.cost + 400
    assert stream.text.startswith('{"a": 1, "b": true, "c": "its", ')
    assert stream.finish().text == '{"a": 1, "b": true, "c": "its", "d": {}}'
    assert stream.value == stream.final[""] == {"a": 1, "b": True, "c": "its", "d": {}}


def test_what_a_later_byte_gives_up_is_retracted() -> None:
    for text, retracted in [
        ('{"a": 1, "b": 2, "a": 3}', {("/a", 1)}),
        ('{"k": "one"}\n{"k": "two", "n": [1]}', {("/k", "one")}),
    ]:
        stream = JSON.repair_stream()
        seen = []
        for letter in text:
            stream.feed(letter)
            seen += [(event.pointer, event.value) for event in stream.events()]
        value = stream.finish().value
        assert {key(event) for event in stream.retracted} <= {(pointer, repr(one)) for pointer, one in seen}
        assert {(pointer, repr(one)) for pointer, one in retracted} <= set(map(key, stream.retracted))
        assert stream.final[""] == value


def broken_text(draw: random.Random) -> str:
    """JSON, or Python's spelling of it, with mistakes."""

    def value(depth: int) -> Any:
        kind = draw.randrange(9 if depth < 3 else 5)
        if kind == 0:
            return draw.choice([True, False, None])
        if kind == 1:
            return draw.choice([draw.randrange(1000), -3, 2.5])
        if kind < 5:
            return "".join(draw.choices("ab c'd:,{}\"[é\n", k=draw.randrange(8)))
        if kind < 7:
            return [value(depth + 1) for _ in range(draw.randrange(4))]
        return {"".join(draw.choices("abcn_", k=3)): value(depth + 1) for _ in range(draw.randrange(4))}

    given = {"name": "x", "n": draw.randrange(99), "items": [value(1) for _ in range(3)], "o": value(1)}
    text = draw.choice([json.dumps(given), json.dumps(given, indent=1), repr(given)])
    for _ in range(draw.randrange(4)):
        at = draw.randrange(len(text) + 1)
        kind = draw.randrange(4)
        if kind == 0:
            text = text[:at] + text[at + 1 :]
        elif kind == 1:
            marks = [*"{}[],:\"'`/*#\\ \n-1a“’", "//", "/* ", "<think>", "</think>", "```", "...", "True"]
            text = text[:at] + draw.choice(marks) + text[at:]
        elif kind == 2:
            text = text[:at]
        else:
            before = draw.choice(["Here: ", "```json\n", "<think>a {b}</think>", ""])
            text = before + text + draw.choice(["", "\n```", " ok?", "}"])
    return text


_FOUND_LATE = re.compile("drop (a|an|pro)|make up|line|list|tag")


def check_what_was_decided(
    constraint: tk.Constraint[Any], text: bytes, draw: random.Random, **given: Any
) -> str:
    """The claim of core/repair/stream_search.hpp, after each piece; which condition failed, if any."""
    stream = constraint.repair_stream(**given)
    given.pop("slack", None)
    repair = constraint.repair(text, deadline_seconds=5, **given)
    whole = repair.text.encode()
    position = 0
    verdict = "holds"
    while position < len(text) and stream._followed is not None:
        piece = text[position : position + draw.choice([1, 1, 2, 5, 20])]
        stream.feed(piece)
        position += len(piece)
        decided, followed = bytes(stream._decided), stream._followed
        assert stream.text.startswith(decided.decode("utf-8", "ignore"))
        if followed is None or whole.startswith(decided):
            continue
        until, bound = followed._engine.decided_until, stream.holds_until
        assert bound is not None
        came_late = any(
            edit.begin < until and (edit.end > position or _FOUND_LATE.match(edit.name))
            for edit in repair.edits
        )
        assert not repair.optimal or repair.cost > bound or came_late, (text, decided, whole, repair.edits)
        return "late" if came_late else "dear"
    return verdict if stream._decided else "nothing"


@pytest.mark.parametrize("seed", range(4))
def test_what_is_decided_stays(seed: int) -> None:
    """Unless the repair costs more than was said, or a finder finds an edit later."""
    draw = random.Random(seed)
    verdicts = Counter(
        check_what_was_decided(
            draw.choice([JSON, OBJECT]), broken_text(draw).encode(), draw, slack=draw.choice([0, 300, 1000])
        )
        for _ in range(25)
    )
    assert verdicts["holds"] > 12


def test_what_is_decided_stays_at_random_costs() -> None:
    """Costs with ties, rewrites and doubts, of any constraint."""
    draw = random.Random(3)
    constraints = [tk.regex("(ab|c{2})*"), tk.regex("[ab]+c?"), tk.json(), tk.regex(r'\[1(,1)*\]|"a*"')]
    verdicts: Counter[str] = Counter()
    for _ in range(150):
        text = "".join(draw.choices('aabbc[1]," é', k=draw.randrange(14))).encode()
        constraint = draw.choice(constraints)
        costs = random_costs(draw)
        verdict = check_unless_tied(constraint, text, draw, costs, draw.choice([0, 1, 2, 1000]))
        verdicts[verdict] += 1
    assert verdicts["holds"] > 15


def check_unless_tied(
    constraint: tk.Constraint[Any], text: bytes, draw: random.Random, costs: tk.EditCosts, slack: int
) -> str:
    """The same where many repairs have one cost: the decided text begins one of the cheapest."""
    stream = constraint.repair_stream(costs=costs, slack=slack)
    whole = constraint.repair(text, costs=costs, deadline_seconds=0.1)
    if not whole.optimal:
        return "not optimal"
    position = 0
    while position < len(text) and whole.text.encode().startswith(stream._decided):
        piece = text[position : position + draw.choice([1, 2, 5])]
        stream.feed(piece)
        position += len(piece)
    decided, bound = bytes(stream._decided), stream.holds_until
    if not decided:
        return "nothing"
    if whole.text.encode().startswith(decided):
        return "holds"
    assert bound is not None
    if whole.cost > bound:
        return "dear"
    # Another text of the same cost begins so.
    beginning = tk.regex(re.escape(decided.decode("utf-8", "ignore")) + r"(?s:.*)")
    tied = (beginning & constraint).repair(text, costs=costs, deadline_seconds=1)
    assert tied.cost == whole.cost, (text, costs, decided, whole.text, tied.text)
    return "tied"


def test_patterns_are_certain_when_nothing_that_follows_changes_them() -> None:
    """Against the patterns of the whole text, and of other texts that begin alike."""
    draw = random.Random(4)
    sources = [
        rb"a+", rb"ab?", rb"a(?=\s*b)", rb"a(?!b)", rb"(?<=a)b", rb"\ba\b", rb"a\Z", rb"a$", rb"(?m:a$)",
        rb"/\*.*?\*/", rb"\Ab+", rb"a{2,3}", rb"(?:ab|a)(?:c|bcd)", rb"[^b]{2}",
    ]  # fmt: skip
    patterns = patterns_of(sources)
    prices = [1] * len(sources)
    machine, automata = tk.EditCosts()._machine(b"").engine, JSON._automata("read").automata
    assert patterns.others == []
    assert automata is not None
    for _ in range(150):
        text = "".join(draw.choices("aabbc \n/*d", k=draw.randrange(40))).encode()
        stream = _core.StreamSearch(
            automata, machine, patterns.engine, prices, 0, core_limits(tk.Limits()), None, ""
        )
        found: set[tuple[int, int, int]] = set()
        position = 0
        while position < len(text):
            piece = text[position : position + draw.choice([1, 2, 7])]
            position += len(piece)
            more = set(stream.feed(piece))
            assert not found & more
            found |= more
            for rest in (text[position:], b"", b"ab*/", b"b", b"\n", b" c", b"a"):
                assert found <= set(places(patterns, text[:position] + rest)), (text[:position], rest)
        stream.feed(b"\n\nxxxx*/\n\nxx")
        early = {one for one in places(patterns, text + b"\n\nxxxx*/\n\nxx") if one[2] < len(text)}
        assert early <= found | set(stream.feed(b"")) or early - found <= set(places(patterns, text))


def test_words_of_a_stream_are_those_of_the_whole() -> None:
    words, draw = Words(["name", "born on"], ["impressionism", "cubism", "na"]), random.Random(6)
    for _ in range(100):
        parts = [
            '"name"',
            '"nmae"',
            ' : "cubsm"',
            '"na',
            '" ',
            "\n",
            '"cubism" ,',
            '"born_on":',
            "x" * 50,
            "\\",
            '"',
        ]
        text = "".join(draw.choices(parts, k=draw.randrange(12))).encode()
        streamed, read = StreamedWords(words), bytearray()
        typos: list[tuple[int, int, bytes, int]] = []
        firm: list[int] = []
        settled = 0
        while len(read) < len(text):
            read += text[len(read) : len(read) + draw.choice([1, 3, 20])]
            found = streamed.feed(read, BoundedPatterns(tk.Limits(), None))
            assert all(position >= settled for position in found.firm), "a byte was settled that is firm"
            typos, firm, settled = typos + found.typos, firm + found.firm, found.settled
        read += b"\n" + b"x" * 100
        found = streamed.feed(read, BoundedPatterns(tk.Limits(), None))
        whole = words.found(bytes(read), BoundedPatterns(tk.Limits(), None))
        assert (sorted(typos + found.typos), sorted(set(firm + found.firm))) == (
            sorted(whole[0]),
            sorted(set(whole[1])),
        )


@pytest.mark.parametrize("length", [500, 4000])
def test_work_and_memory_do_not_grow_with_the_text(length: int) -> None:
    """However long it is: nodes for each byte, and what is held after each piece."""
    rows = [{"id": number, "name": "row 'x'", "tags": ["a", "b"]} for number in range(length // 40)]
    for text in (json.dumps(rows), repr(rows), "Here:\n```json\n" + repr(rows)[:-3]):
        stream = JSON.repair_stream()
        most = 0
        for at in range(0, len(text), 20):
            stream.feed(text[at : at + 20])
            assert stream._followed is not None
            assert stream._followed.follows
            most = max(most, stream._followed._engine.memory_bytes)
        assert stream._followed._engine.expansions < 2 * len(text) + 500
        assert most < 1 << 23
        assert len(stream.events()) > length // 20


def test_prose_is_cheap() -> None:
    """Prose without a value, and what no cheap edit makes one, have an end and no events."""
    for text in ("Sure, I can do that. " * 300, "(((" * 2000, "{" * 3000, '"' * 3000, "[1 2 3 " * 800):
        stream = OBJECT.repair_stream()
        for at in range(0, len(text), 20):
            stream.feed(text[at : at + 20])
        if stream._followed is not None:
            assert stream._followed._engine.expansions < 100 * len(text) + 5000
        stream.events()


def test_limits_end_the_following_and_not_the_stream() -> None:
    text = "[" + "'a', " * 400
    whole = JSON.repair(text)
    for limits in (tk.Limits(seconds=1e-6), tk.Limits(states=3), tk.Limits(memory_bytes=len(text))):
        try:
            stream = JSON.repair_stream(limits=limits)
            for at in range(0, len(text), 7):
                stream.feed(text[at : at + 7])
            assert stream.value is None or isinstance(stream.value, list)
            repair = stream.finish()
        except tk.LimitExceeded:
            continue
        assert isinstance(repair.text, str)
    stream = JSON.repair_stream(limits=tk.Limits(memory_bytes=1 << 22))
    with pytest.raises(tk.LimitExceeded, match="memory_bytes"):
        stream.feed("x" * (1 << 22) + "x")
    stream.feed(text)
    assert stream.finish().text == whole.text


def test_a_cancelled_piece_was_not_taken() -> None:
    token = tk.CancelToken()
    stream = JSON.repair_stream(cancel=token)
    stream.feed("[1, ")
    token.cancel()
    with pytest.raises(tk.Cancelled):
        stream.feed("'a'" * 3000)
    assert bytes(stream._text) == b"[1, "
    stream.feed("2]")
    assert stream.finish().text == "[1, 2]"


def test_wrong_arguments_are_refused() -> None:
    with pytest.raises(tk.ArgumentError, match="slack"):
        JSON.repair_stream(slack=-1)
    stream = JSON.repair_stream()
    with pytest.raises(tk.ArgumentError, match="chunk"):
        stream.feed(3)  # type: ignore[arg-type]
    stream.finish()
    with pytest.raises(tk.ArgumentError, match="finished"):
        stream.feed("x")
    with pytest.raises(tk.PicklingError):
        pickle.dumps(stream)
    with pytest.raises(tk.EmptyConstraintError):
        (tk.regex("a") & tk.regex("b")).repair_stream().finish()
    with pytest.raises(tk.AlgebraError):
        tk.control_token("<x>").repair_stream()
    assert isinstance(stream, RepairStream)
    assert "after 0 bytes" in repr(stream)


def test_patterns_that_only_re_searches_have_their_events_at_the_end() -> None:
    costs = tk.EditCosts(rewrites=[tk.Rewrite("doubled", rb"(\d)\1", rb"\1", 1)])
    stream = JSON.repair_stream(costs=costs)
    stream.feed("[1, 2, ")
    assert (stream.events(), stream.text, stream.cost) == ([], "", None)
    stream.feed("3]")
    assert stream.finish().text == "[1, 2, 3]"
    assert [event.pointer for event in stream.events()] == ["/0", "/1", "/2", ""]


def test_a_function_of_a_rewrite_must_return_bytes() -> None:
    costs = tk.EditCosts(rewrites=[tk.Rewrite("x", rb"x", lambda match: 3, 1)])  # type: ignore[arg-type,return-value]
    stream = JSON.repair_stream(costs=costs)
    with pytest.raises(tk.ArgumentError, match="returns bytes"):
        stream.feed("xy")
    stream.feed("1")
    assert bytes(stream._text) == b"1"
