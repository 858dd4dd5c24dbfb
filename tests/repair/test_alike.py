"""Repairs that write names alike, against all edits of small texts up to the cost that is to be the least."""

from __future__ import annotations

import dataclasses
import itertools
import pickle
import random
import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import pytest

import tokamata as tk
from tests.support.repair.languages import random_language
from tests.support.repairs import check_repair
from tokamata.automata import EPSILON, Acceptor
from tokamata.repair import couplings, unfolding

pytest.importorskip("scipy", reason="scipy comes with the extra repair")

LETTERS = "ab,"
NAMES = rb"[ab]+"


def random_costs(draw: random.Random) -> tk.EditCosts:
    """Prices from 1 to 3, some rewrites within names, of whole names, and across their borders."""
    insert, remove = ({letter: draw.randint(1, 3) for letter in LETTERS} for _ in range(2))
    rewrites = [
        tk.Rewrite("swap", b"ab", b"ba", 1),
        tk.Rewrite("grow", b"a", b"ab", 1),
        tk.Rewrite("all", b"[ab]+", b"b", 2),
        tk.Rewrite("from the comma on", b",a", b",b", 1),
        tk.Rewrite("to the comma", b"a,", b"bb,", 1),
        tk.Rewrite("with both commas", b",ab?,", b",ba,", 2),
        tk.Rewrite("split", b"b,", b",a", 1),
        tk.Rewrite("up to the comma", b",[ab]+", b",", 2),
        tk.Rewrite("between commas", b",ab?,", b",,", 2),
        tk.Rewrite("drop", b",[ab]+", b"", 2),
    ]
    return tk.EditCosts(
        other=3, insert=insert, remove=remove, replace=draw.choice([None, 1, 2]),
        rewrites=draw.sample(rewrites, draw.randrange(3)),
        doubts=draw.sample([tk.Doubt("b?", b"b", 1)], draw.randrange(2)),
    )  # fmt: skip


class Written(NamedTuple):
    """What an edit, or a byte that is kept, has written instead of ``text[begin:end]``."""

    begin: int
    end: int
    bytes: bytes


def spelling(
    text: bytes, pieces: list[Written], begin: int, end: int, follows: bool, limits: tuple[int, int]
) -> bytes | None:
    """What became of ``text[begin:end]``, by the definition; ``None``: letters are joined to it.

    ``limits``: where the name before ends, and the one after begins.
    """
    written = bytearray()
    letters: list[tuple[int, int]] = []  # each byte written, and where it belongs: before, within, after
    for piece in pieces:
        if piece.begin == piece.end:
            where = {begin: -1, end: 1}.get(piece.begin, 0) if begin <= piece.begin <= end else 2
        elif begin <= piece.begin and piece.end <= end:
            where = 0
        elif piece.end <= begin or end <= piece.begin:
            where = 2
        else:
            head, tail = text[piece.begin : begin], text[end : piece.end]
            is_whole = piece.begin <= begin and end <= piece.end
            if not is_whole or not re.fullmatch(
                re.escape(head) + b"(.*)" + re.escape(tail), piece.bytes, re.S
            ):
                return b""
            letters += [(byte, 0) for byte in piece.bytes[len(head) : len(piece.bytes) - len(tail)]]
            continue
        letters += [(byte, where) for byte in piece.bytes]
    before = bytes(byte for byte, where in letters if where == -1)
    within = bytes(byte for byte, where in letters if where == 0)
    after = bytes(byte for byte, where in letters if where == 1)
    written += b"" if follows else re.search(rb"\w*\Z", before)[0]  # type: ignore[index]
    written += within
    written += re.match(rb"\w*", after)[0]  # type: ignore[index]
    if not written:
        return b""
    gap = [piece for piece in pieces if limits[0] < piece.begin and piece.end <= begin]
    before_name = [piece for piece in gap if not piece.begin == piece.end == begin]
    spanned = any(piece.begin < begin < piece.end for piece in pieces)
    if not follows and not spanned and not re.search(rb"\W", before) and is_joined(before_name[::-1], -1):
        return None
    gap = [piece for piece in pieces if end <= piece.begin and piece.end < limits[1]]
    after_name = [piece for piece in gap if not piece.begin == piece.end == end]
    spanned = any(piece.begin < end < piece.end for piece in pieces)
    if limits[1] > end and not spanned and not re.search(rb"\W", after) and is_joined(after_name, 0):
        return None
    return bytes(written)


def is_joined(pieces: list[Written], side: int) -> bool:
    """Whether removed bytes stand between a name and letters that are inserted."""
    for piece in pieces:
        if piece.bytes:
            return piece.begin == piece.end and re.match(rb"\w", piece.bytes[side:][:1]) is not None
    return False


def is_alike(text: bytes, pieces: list[Written], pattern: bytes = NAMES) -> bool:
    """Whether all names that are equal in the text are written alike."""
    became: dict[bytes, set[bytes | None]] = {}
    last = -1
    matches = list(re.finditer(pattern, text))
    often = [one for one in matches if sum(other[0] == one[0] for other in matches) > 1]
    for match in matches:
        limits = (
            max((one.end() for one in often if one.end() <= match.start()), default=-1),
            min((one.start() for one in often if one.start() >= match.end()), default=len(text) + 1),
        )
        if match in often:
            found = spelling(text, pieces, *match.span(), match.start() == last, limits)
            became.setdefault(match[0], set()).add(found)
        last = match.end()
    return all(None not in one and len(one - {b""}) <= 1 for one in became.values())


def pieces_of(repair: tk.Repair[object]) -> list[Written]:
    """The bytes that are kept and the edits, in their order."""
    broken, found, position = repair.certificate.broken, [], 0
    for edit in repair.edits:
        found += [Written(at, at + 1, broken[at : at + 1]) for at in range(position, edit.begin)]
        found.append(Written(edit.begin, edit.end, edit.written))
        position = edit.end
    return found + [Written(at, at + 1, broken[at : at + 1]) for at in range(position, len(broken))]


def all_repairs(
    acceptor: Acceptor, text: bytes, costs: tk.EditCosts, most: int, at_most: Mapping[str, int]
) -> Iterator[tuple[int, list[Written]]]:
    """All sequences of edits that cost no more than ``most``, and what they write."""
    prepend, insert, append, remove, replace, _ = costs.tables(text).tables[0]
    doubtful = {at: doubt.cost for at, doubt, _ in costs.doubtful(text)}
    spans = costs.spans(text)
    rows = acceptor.rows

    def closed(states: frozenset[int]) -> frozenset[int]:
        found, open_ = set(states), list(states)
        while open_:
            for symbol, target in rows[open_.pop()]:
                if symbol == EPSILON and target not in found:
                    found.add(target)
                    open_.append(target)
        return frozenset(found)

    def after(states: frozenset[int], written: bytes) -> frozenset[int]:
        for byte in written:
            states = closed(frozenset(to for state in states for symbol, to in rows[state] if symbol == byte))
        return states

    def follow(
        position: int, states: frozenset[int], left: int, pieces: list[Written], made: dict[str, int]
    ) -> Iterator[tuple[int, list[Written]]]:
        if position == len(text) and not states.isdisjoint(acceptor.accepting):
            yield most - left, pieces
        table = append if position == len(text) else prepend if position == 0 else insert
        steps = [("insert", position, bytes([byte]), table[byte]) for byte in LETTERS.encode()]
        if position < len(text):
            byte = text[position]
            kept = "b?" if position in doubtful else "keep"
            steps.append((kept, position + 1, bytes([byte]), doubtful.get(position, 0)))
            steps.append(("remove", position + 1, b"", remove[byte]))
            if costs.replace is not None:
                steps += [
                    ("replace", position + 1, bytes([other]), replace[other]) for other in LETTERS.encode()
                ]
            steps += [
                (span.name, span.end, span.written, span.cost) for span in spans if span.begin == position
            ]
        for name, end, written, cost in steps:
            following = after(states, written)
            if cost > left or not following or made.get(name, 0) >= at_most.get(name, 99):
                continue
            count = {**made, name: made.get(name, 0) + 1}
            yield from follow(end, following, left - cost, [*pieces, Written(position, end, written)], count)

    yield from follow(0, closed(frozenset({acceptor.start})), most, [], {})


def cases(seeds: range) -> Iterator[tuple[random.Random, str, Acceptor, bytes, tk.EditCosts]]:
    """Languages, texts in which names stand twice or more, and costs."""
    for seed in seeds:
        draw = random.Random(seed)
        pattern, acceptor = random_language(draw, draw.randint(4, 9), LETTERS)
        words = ["".join(draw.choices("ab", k=draw.randint(1, 2))) for _ in range(2)]
        text = ",".join(draw.choices(words, [3, 1], k=draw.randint(2, 3)))
        yield draw, pattern, acceptor, text.encode(), random_costs(draw)


def judged(seeds: range, most: int) -> tuple[int, int, int]:
    """How many repairs were judged, whose names cost more alike, and were branched for."""
    coupled = branched = enumerated = 0
    for draw, pattern, acceptor, text, costs in cases(seeds):
        if re.fullmatch(pattern, text.decode()):
            continue
        constraint = tk.regex(pattern)
        free = constraint.repair(text, costs=costs)
        at_most = {"insert": draw.randrange(3)} if draw.random() < 0.2 else {}
        try:
            limits = tk.Limits(memory_bytes=1 << 23)
            found = constraint.repair(text, costs=costs, alike=NAMES, at_most=at_most, limits=limits)
        except (tk.NoRepairError, tk.LimitExceeded):
            assert at_most  # otherwise all names can be removed
            continue
        check_repair(found, text)
        assert is_alike(text, pieces_of(found))
        assert found.program is not None
        assert (found.program.gap == 0) == found.optimal
        coupled += found.cost > free.cost and not at_most
        branched += found.program.branch_nodes > 0
        if free.cost < found.cost:
            enumerated += 1
            for cost, pieces in all_repairs(acceptor, text, costs, min(found.cost - 1, most), at_most):
                assert cost >= found.lower_bound or not is_alike(text, pieces), (
                    pattern,
                    text,
                    costs,
                    at_most,
                )
                assert not found.optimal or not is_alike(text, pieces), (pattern, text, costs, at_most)
    return enumerated, coupled, branched


def test_no_sequence_of_edits_that_writes_names_alike_costs_less() -> None:
    enumerated, coupled, branched = judged(range(40), 4)
    assert enumerated > 5
    assert coupled > 5
    assert branched > 1


# Letters cost the same in each place.
PLAIN = tk.EditCosts(other=10, replace=10)
CALLS = tk.regex("in (count|mount); out (mount|font)")


def test_a_name_that_is_misspelled_alike_is_repaired_alike() -> None:
    text = "in cuont; out cuont"
    free = CALLS.repair(text, costs=PLAIN)
    assert free.text == "in count; out font"
    found = CALLS.repair(text, costs=PLAIN, alike=rb"[a-z]{4,}")
    check_repair(found, text)
    assert found.text == "in mount; out mount"
    assert found.optimal
    assert found.cost > free.cost
    assert found.program is not None
    assert found.program.alike == (b"cuont",)
    assert pickle.loads(pickle.dumps(found)).text == found.text
    *_, last = CALLS.repairs(text, costs=PLAIN, alike=rb"[a-z]{4,}")
    assert last.text == found.text


def test_letters_are_not_joined_to_a_name_across_removed_bytes() -> None:
    # Where blanks cost next to nothing, "co" before a blank that is removed would leave "unt" of each name.
    costs = dataclasses.replace(PLAIN, remove={" ": 1})
    found = CALLS.repair("in cuont; out cuont", costs=costs, alike=rb"[a-z]{4,}")
    assert found.text == "in mount; out mount"
    assert (found.cost, found.optimal) == (60, True)


def test_names_that_the_cheapest_repair_writes_alike_need_no_program() -> None:
    found = tk.regex("in count; out count").repair("in cuont; out cuont", alike=rb"[a-z]{4,}")
    assert found.text == "in count; out count"
    assert found.program is not None
    assert (found.program.programs, found.program.alike) == (0, ())


def test_a_certificate_compares_spellings() -> None:
    text = "in cuont; out cuont"
    free = CALLS.repair(text, at_most={"insert": 99})
    assert isinstance(free.certificate, tk.CoupledCertificate)
    assert free.certificate.flaw() is None
    forged = dataclasses.replace(free.certificate, alike=rb"[a-z]{4,}")
    assert forged.flaw() == "the name b'cuont' is written in two ways"
    found = CALLS.repair(text, alike=rb"[a-z]{4,}").certificate
    assert found.flaw() is None
    assert dataclasses.replace(found, lower_bound=found.cost + 1).flaw() is not None


def test_together_with_at_most() -> None:
    pattern = tk.regex("a[bc];(a[cd]|d)")
    text = "ax;ax"
    assert pattern.repair(text, costs=PLAIN, alike=rb"a\w").text == "ac;ac"
    found = pattern.repair(text, costs=PLAIN, alike=rb"a\w", at_most={"replace": 1})
    check_repair(found, text)
    assert found.optimal
    assert sum(edit.name == "replace" for edit in found.edits) <= 1
    assert is_alike(text.encode(), pieces_of(found), rb"a\w")
    with pytest.raises(tk.NoRepairError):
        pattern.repair(text, costs=PLAIN, alike=rb"a\w", at_most={"replace": 0, "insert": 0, "remove": 0})


@pytest.mark.parametrize(
    ("pattern", "text", "alike", "expected"),
    [
        # Names in UTF-8, with characters of other lengths in their places.
        ("é(né|na)e;ü(na|no)e", "éxe;üxe", b"x", "énae;ünae"),
        # One name after another, without a byte between them.
        ("(ab|cd)(cd|ef)", "xyxy", b"xy", "cdcd"),
        # A name that can only be removed in one place need not be spelled there.
        ("a[bc];;", "ax;ax;", rb"a\w", "ab;;"),
        # The empty match and the lookahead match nothing of the text.
        ("a[bc];a[cd]", "ax;ax", b"(?=(ax))", "ab;ac"),
        ("a[bc];a[cd]", "ax;ax", b"Q+", "ab;ac"),
        ("a[bc];a[cd]", "ax;ax", b"", "ab;ac"),
        # Names that stand once.
        ("a[bc];b[cd]", "ax;bx", rb"\w+", "ab;bc"),
        # The text is accepted as it is.
        ("a[bc];a[cd]", "ac;ac", rb"a\w", "ac;ac"),
    ],
)
def test_names_of_all_kinds(pattern: str, text: str, alike: bytes, expected: str) -> None:
    found = tk.regex(pattern).repair(text, costs=PLAIN, alike=alike)
    check_repair(found, text)
    assert found.optimal
    assert found.text == expected


def test_a_rewrite_that_writes_what_surrounds_a_name_counts() -> None:
    def repaired(written: bytes) -> tk.Repair[str]:
        costs = tk.EditCosts(other=10, rewrites=[tk.Rewrite("quoted", rb"'x'", written, 1)])
        return tk.regex("('y'|\"z\");[yw]").repair("'x';x", costs=costs, alike=rb"x")

    # It writes y between the quotes, so the other occurrence is y too.
    assert repaired(b"'y'").text == "'y';y"
    # Other quotes give the occurrence up, and the other one is free.
    assert repaired(b'"z"').text == '"z";w'


def test_arguments() -> None:
    for alike in ("x", 3, b"(", [b"x"]):
        with pytest.raises(tk.ArgumentError, match="alike") as caught:
            CALLS.repair("in", alike=alike)  # type: ignore[arg-type]
        assert caught.value.argument == "alike"
    with pytest.raises(tk.ArgumentError, match="distinct"):
        CALLS.repairs("in", alike=b"x", distinct=True)  # type: ignore[call-overload]


MANY = tk.regex("((in (count|mount)[0-9]+|out (mount|font)[0-9]+); )*")


def many_names(count: int) -> str:
    return "".join(f"in cuont{number}; out cuont{number}; " for number in range(count))


def test_limits_end_the_search_and_say_what_is_proven() -> None:
    text, alike = many_names(200), rb"[a-z]{4,}\d+"
    for limits in (tk.Limits(seconds=0.3), tk.Limits(memory_bytes=10_000_000)):
        found = MANY.repair(text, alike=alike, limits=limits)
        check_repair(found, text)
        assert not found.optimal
        assert 0 < found.lower_bound < found.cost
        assert isinstance(found.certificate, tk.CoupledCertificate)
        assert found.certificate.alike == alike


def test_what_is_unfolded_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[int] = []
    hold = unfolding.Unfolding.hold

    def noted(self: unfolding.Unfolding, size: int = 600) -> None:
        sizes.append(size)
        if sum(sizes) > 500_000:
            raise tk.LimitExceeded("memory_bytes", 500_000)
        hold(self, size)

    monkeypatch.setattr(unfolding.Unfolding, "hold", noted)
    text = "in cuont; out cuont; " * 20
    found = tk.regex("((in (count|mount)|out (mount|font)); )*").repair(text, alike=rb"[a-z]{4,}")
    check_repair(found, text)
    assert sum(sizes) > 500_000
    assert found.lower_bound < found.cost


def test_cancelling_stops_the_unfolding(monkeypatch: pytest.MonkeyPatch) -> None:
    token, graphs = tk.CancelToken(), itertools.count(1)
    given = couplings.repair_graph

    def last(*arguments: Any) -> Any:
        found = given(*arguments)
        if next(graphs) == 2:  # the first one that is unfolded
            token.cancel()
        return found

    monkeypatch.setattr(couplings, "repair_graph", last)
    monkeypatch.setattr(unfolding, "_STEPS_OF_A_CHECK", 1)
    with pytest.raises(tk.Cancelled):
        CALLS.repair("in cuont; out cuont", alike=rb"[a-z]{4,}", cancel=token)
    assert next(graphs) == 3


def test_a_long_name_takes_room_in_proportion() -> None:
    body = "o" * 2000
    pattern = tk.regex(f"in (c{body}t|m{body}t); out (m{body}t|f{body}t)")
    text = f"in x{body}t; out x{body}t"
    found = pattern.repair(text, costs=PLAIN, alike=rb"\w{9,}", limits=tk.Limits(memory_bytes=64_000_000))
    assert found.text == f"in m{body}t; out m{body}t"
    assert found.optimal
