"""Repairs that write names alike, against all edits of small texts up to the cost that is to be the least."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

import pytest

import tokamata as tk
from tests.support.repairs import check_repair
from tokamata.automata import EPSILON, Acceptor, concatenate, star, union

pytest.importorskip("scipy", reason="scipy comes with the extra repair")

LETTERS = "ab,"
NAMES = rb"[ab]+"


def random_language(draw: random.Random, size: int) -> tuple[str, Acceptor]:
    """A regular expression, and an acceptor that is made without it."""
    if size <= 1:
        letter = draw.choice(LETTERS)
        return letter, Acceptor.from_strings([letter])
    left, one = random_language(draw, size // 2)
    right, other = random_language(draw, size - size // 2)
    kind = draw.randrange(4)
    if kind == 0:
        return f"(?:{left}|{right})", union(one, other)
    if kind == 1:
        return f"(?:{left})*{right}", concatenate(star(one), other)
    return left + right, concatenate(one, other)


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


def spelling(text: bytes, pieces: list[Written], begin: int, end: int, follows: bool) -> bytes:
    """What became of ``text[begin:end]``, by the definition."""
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
    return bytes(written)


def is_alike(text: bytes, pieces: list[Written], pattern: bytes = NAMES) -> bool:
    """Whether all names that are equal in the text are written alike."""
    became: dict[bytes, set[bytes]] = {}
    last = -1
    for match in re.finditer(pattern, text):
        found = spelling(text, pieces, *match.span(), follows=match.start() == last)
        became.setdefault(match[0], set()).add(found)
        last = match.end()
    return all(len(one - {b""}) <= 1 for one in became.values())


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
        pattern, acceptor = random_language(draw, draw.randint(4, 9))
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
    enumerated, coupled, branched = judged(range(150), 4)
    print(enumerated, coupled, branched)
