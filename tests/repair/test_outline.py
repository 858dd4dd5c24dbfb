"""The outline of broken texts: against a plain reader of brackets, in pieces, and within limits."""

from __future__ import annotations

import itertools
import random
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from types import FrameType

import pytest

import tokamata as tk
from tests.support.repair.kinds import cases_of
from tokamata.repair.dialects.outline import Outline, outline
from tokamata.repair.words import Words

WORDS = [None, Words([], []), Words(["name", "a", "b"], ["x", "null"])]
PARTS = [
    *("{", "}", "[", "]", "(", ")", '"', "'", ",", ":", "\n", " ", "  ", "\\", '\\"', ";", "`", "```", "é"),
    *("/*", "*/", "//", "x:y", "http://x", "<think>", "</think>", "</a", "<", "(\n", ")\n", "\\\n"),
    *("“", "it's", "a", "b", "1", "-", "- x", "3)", "text", '"a"', '"b": ', '"x, '),
    *('"a, "b": ', "a: 1,", "[see b]"),
]


def found(text: bytes, words: Words | None) -> list[tk.FoundRewrite]:
    return [one for one in outline(text, words) if one is not None]


def random_text(draw: random.Random) -> bytes:
    return "".join(draw.choices(PARTS, k=draw.randrange(30))).encode()


# ---- in pieces -------------------------------------------------------------------------------------


def found_in_pieces(text: bytes, words: Words | None, pieces: Iterator[int]) -> list[tk.FoundRewrite]:
    """What is found until the end, without what the end of a thought makes void."""
    outline_of_stream, read = Outline(words), bytearray()
    rewrites: list[tk.FoundRewrite] = []
    begin = 0
    while len(read) < len(text):
        read += text[len(read) : len(read) + next(pieces)]
        more = [one for one in outline_of_stream.feed(read, 0) if one is not None]
        if outline_of_stream.begin != begin:
            rewrites, begin = [], outline_of_stream.begin
        rewrites += more
    return rewrites + [one for one in outline_of_stream.end(read) if one is not None]


def sizes(draw: random.Random) -> Iterator[int]:
    choices = draw.choice([[1], [1, 3, 20], [7, 100]])
    while True:
        yield draw.choice(choices)


def test_the_rewrites_of_a_stream_are_those_of_the_whole() -> None:
    """However a text is cut: of random texts, and of each kind of mistake."""
    draw = random.Random(8)
    by_kind = {case.kind: case.input for case in draw.sample(cases_of("kinds"), k=400)}
    texts = [*(text.encode() for text in by_kind.values()), *(random_text(draw) for _ in range(1500))]
    assert len(by_kind) > 50
    for text in texts:
        words = draw.choice(WORDS)
        assert Counter(found_in_pieces(text, words, sizes(draw))) == Counter(found(text, words)), text


# ---- against a plain reader ------------------------------------------------------------------------

TOKEN = re.compile(
    rb'"(?:[^"\\]|\\.)*"(?=\s*[,:}\]])|"[^"\\\n]{1,500}(?=,\s*"[\w $.-]{1,60}"\s*:)|"(?:[^"\\\n]|\\.)*"'
    rb"|\"[^\"\n]*\Z|'(?:[^'\\\n]|\\.)*'(?=\s*[,:}\])])|[\[\]{},:]|(?<!:)//[^\n]*|/\*(?:(?s:.*?)\*/)?"
    rb"|[\w$.+-]+|[^\s`;]"
)
CLOSING = {b"{": b"}", b"[": b"]"}


@dataclass
class Item:
    begin: int
    end: int = -1
    comma: int = -1
    name: bytes | None = None
    values: list[bytes] = field(default_factory=list)
    is_broken: bool = False


class PlainReader:
    """Reads a text without parentheses and thoughts as the header of ``bracket_outline.hpp`` describes it.

    It recurs into brackets, and looks at all items of a bracket when that has ended.
    """

    def __init__(self, text: bytes) -> None:
        self.text = text
        self.tokens = [one for one in TOKEN.finditer(text) if one[0][:2] not in (b"//", b"/*")]
        self.at = 0
        self.last: re.Match[bytes] | None = None  # string, word or other byte
        self.closed = 0  # the end of the last bracket
        self.dropped: set[tuple[str, int, int, int]] = set()
        while self.at < len(self.tokens):
            if self.next() in CLOSING:
                self.bracket(self.tokens[self.at - 1])

    def next(self) -> bytes:
        self.at += 1
        return self.tokens[self.at - 1][0]

    def bracket(self, opening: re.Match[bytes]) -> bool:
        """Whether all items are whole, or the end of the text leaves the bracket open."""
        items: list[Item] = []
        item: Item | None = None
        is_object = opening[0] == b"{"
        end = len(self.text)
        is_closed = False
        while self.at < len(self.tokens) and not is_closed:
            before, match = self.tokens[self.at - 1].end(), self.tokens[self.at]
            token = self.next()
            if token == CLOSING[opening[0]]:
                is_closed, end, self.closed = True, before, match.end()
            elif token == b",":
                if item is not None:
                    item.end, item.comma = before, match.start()
                item = None
            elif token not in (b"]", b"}"):
                if item is None:
                    item = Item(match.start())
                    items.append(item)
                if token in CLOSING:
                    item.values.append(token)
                    item.is_broken |= not self.bracket(match)
                elif token == b":":
                    item = self.named(items, item) if is_object else item
                else:
                    item.values.append(token)
                    is_string = token[:1] in (b'"', b"'") and len(token) > 1
                    item.is_broken |= not is_string and re.match(rb"[\w$.+-]", token) is None
                    self.last = match
        if item is not None:
            item.end = end
        self.drop(items, is_object)
        return not is_closed or all(self.is_whole(one, is_object) for one in items)

    def named(self, items: list[Item], item: Item) -> Item:
        """A colon follows: the last token is a name, of this member or of the next one."""
        own = self.last is not None and self.last.start() >= max(item.begin, self.closed)
        if item.name is not None and len(item.values) == 2 and own and self.last[0][:1] in (b'"', b"'"):
            del item.values[1]
            item.end = self.tokens[self.tokens.index(self.last) - 1].end()
            item = Item(self.last.start())
            items.append(item)
        if item.name is None:
            item.name = self.last[0].strip(b"\"'") if own else b"?%d" % item.begin  # a name of no other
            item.values.clear()
        return item

    def is_whole(self, item: Item, is_object: bool) -> bool:
        return not item.is_broken and len(item.values) == 1 and (item.name is not None or not is_object)

    def drop(self, items: list[Item], is_object: bool) -> None:
        for number, item in enumerate(items):
            length, is_last = min(item.end - item.begin, 500), item is items[-1]
            is_whole = self.is_whole(item, is_object)
            cost = (3000 if is_object else 3400) + 12 * length if is_whole else 6500 + 60 * length
            if len(items) == 1:
                cost += 2000 if is_whole else 15_000
            name = "drop a member" if is_object else "drop an element"
            until = item.comma + 1 if item.comma >= 0 else -1 if is_last else items[number + 1].begin
            if until >= 0:
                self.dropped.add((name, item.begin, until, cost))
            if is_last:
                comma = items[number - 1].comma if number > 0 else -1
                self.dropped.add((name, comma if comma >= 0 else item.begin, item.end, cost))
            later = {one.name for one in items[number + 1 :]}
            if is_object and is_whole and item.name in later:
                self.dropped.add(("drop a repeated member", item.begin, until, 30))


def test_items_are_those_of_a_plain_reader() -> None:
    draw = random.Random(9)
    parts = [one for one in PARTS if not set(one) & set("()<")]
    for _ in range(3000):
        drawn = draw.choices([*parts, "{", "[", "}", "]", ",", '"a": 1'], k=draw.randrange(25))
        text = "".join(drawn).encode()
        names = ("drop a member", "drop an element", "drop a repeated member")
        dropped = {(one.name, one.begin, one.end, one.cost) for one in found(text, None) if one.name in names}
        assert dropped == PlainReader(text).dropped, text


def test_rewrites_of_the_example() -> None:
    text = b'Draft: {"a": 1} Final: {"a": 2, "a": 3}'
    by_name: dict[str, set[bytes]] = {}
    for one in found(text, None):
        by_name.setdefault(one.name, set()).add(text[one.begin : one.end])
    assert by_name["drop a value"] == {b'{"a": 1}', b'{"a": 2, "a": 3}'}
    assert by_name["drop prose"] == {b"Draft: ", b" Final: "}
    assert by_name["drop a repeated member"] == {b'"a": 2,'}
    assert by_name["drop a member"] == {b'"a": 1', b'"a": 2,', b', "a": 3'}


@pytest.mark.parametrize(
    ("text", "dropped", "cost"),
    [
        ('{"a": 1, "b":', ', "b":', 35),
        ('{"a": 1, "b', ', "b', 20),
        ('{"a": 1, 2', ", 2", 400),
        ('{"a": 1 "b":', '"b":', 35),  # without its comma
        ('{"a": 1, "b": {', ', "b": {', 150),
        ('{"a": 1 "b": {', '"b": {', 150),
        ('[1] and {"a": 1}', "[1]", 300),
        ('see [above] and {"a": 1}', "[above]", 500),
        ('{"a": 1} {"b": "x', '{"b": "x', 850),
    ],
)
def test_costs_of_what_is_dropped(text: str, dropped: str, cost: int) -> None:
    assert (dropped, cost) in [(text[one.begin : one.end], one.cost) for one in found(text.encode(), None)]


# ---- work ------------------------------------------------------------------------------------------


def calls_of(work: Callable[[], object]) -> int:
    """How many functions are called, those of the core included."""
    count = 0

    def counted(frame: FrameType, event: str, argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(counted)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.parametrize(
    "text", ['{"a": 1}, ', '"a": 1, ', '{"a": ', "[", '"', "'", "/*", "<think>", "</think>", "[1] x "]
)
def test_work_is_linear(text: str) -> None:
    """Of the text as a whole, and of one that arrives in pieces."""
    words = Words(["name"], ["x"])

    def whole(count: int) -> None:
        found(b"[{" + text.encode() * count, words)

    def fed(count: int) -> None:  # of open brackets, 64 are looked at with each piece
        found_in_pieces(b"[{" + text.encode() * count, words, itertools.repeat(7))

    for work, counts in ((whole, (10, 100, 1000, 10_000)), (fed, (60, 600))):
        calls = [calls_of(partial(work, count)) for count in counts]
        # Ten times the text: in its square, the work would be a hundred times as much.
        assert all(later <= 25 * earlier for earlier, later in itertools.pairwise(calls)), calls


HOSTILE = {
    "brackets": b"[" * 1_000_000,
    "members": b'{"a":' * 200_000,
    "quotes": b'"' * 1_000_000,
    "apostrophes": b"'" * 1_000_000,
    "line breaks": b"\n" * 1_000_000 + b"x",
    "letters": b"<" + b"a" * 1_000_000,
    "tags": b"<a>" * 100_000 + b"<x></x>" * 100_000,
    "blanks": b"{a" + b" " * 1_000_000 + b'"b" c',
    "values": b"[1] " * 250_000,
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_long_texts_end_within_limits(text: bytes) -> None:
    """Without them, some would take hours."""
    costs = tk.EditCosts(other=1, finders=tk.DEFAULT_COSTS.finders, modes=tk.DEFAULT_COSTS.modes)
    token = tk.CancelToken()
    token.cancel()
    with pytest.raises(tk.Cancelled):
        tk.json().repair(text, costs=costs, cancel=token)
    with pytest.raises(tk.LimitExceeded) as caught:
        tk.json().repair(text, costs=costs, limits=tk.Limits(seconds=0.02))
    assert caught.value.limit in ("seconds", "memory_bytes")


def test_finders_of_callers_are_stopped() -> None:
    """Between their rewrites, and where they return none."""
    token = tk.CancelToken()
    calls = []

    def endless(text: bytes, words: Words | None) -> Iterator[tk.FoundRewrite | None]:
        while True:
            calls.append(text)
            if len(calls) == 10:
                token.cancel()
            yield None

    costs = tk.EditCosts(other=1, finders=(tk.RewriteFinder("endless", endless),))
    with pytest.raises(tk.Cancelled):
        tk.json().repair("[", costs=costs, cancel=token)
    assert len(calls) == 10
    with pytest.raises(tk.LimitExceeded, match="seconds"):
        tk.json().repair("[", costs=costs, limits=tk.Limits(seconds=0.01))

    def many(text: bytes, words: Words | None) -> Iterator[tk.FoundRewrite]:
        while True:
            yield tk.FoundRewrite("x", 0, 1, b"y" * 1000, 1)

    costs = tk.EditCosts(other=1, finders=[tk.RewriteFinder("many", many)])
    with pytest.raises(tk.LimitExceeded, match="memory_bytes"):
        tk.json().repair("[", costs=costs, limits=tk.Limits(memory_bytes=10_000_000))


@pytest.mark.parametrize(
    "rewrite",
    [
        ("x", -1, 0, b"", 1, (), ""),
        ("x", 0, 2, b"", 1, (), ""),
        ("x", 1, 0, b"", 1, (), ""),
        ("x", 0, 1, "", 1, (), ""),
        ("x", 0, 1, b"", -1, (), ""),
        ("x", 0, 1, b"", 1, ("no mode",), ""),
        ("x", 0, 1, b"", 1, (), "no mode"),
        ("x", 0, 1, b"", 1, [[]], ""),
        ("x", 0),
        17,
    ],
)
@pytest.mark.parametrize("is_stream", [False, True])
def test_wrong_rewrites_are_refused(rewrite: object, is_stream: bool) -> None:
    finder = tk.RewriteFinder("wrong", lambda text, words: [rewrite])  # type: ignore[list-item]
    costs = tk.EditCosts(other=1, finders=(finder,))
    repair = (
        tk.json().repair_stream(costs=costs).feed if is_stream else partial(tk.json().repair, costs=costs)
    )
    with pytest.raises(tk.ArgumentError, match=r"EditCosts\.finders.*'wrong'"):
        repair("[")
