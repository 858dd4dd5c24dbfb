"""Repairs with ``at_most`` against two judges: counters in the states, and all edits of small texts."""

from __future__ import annotations

import dataclasses
import heapq
import itertools
import json
import random
import re
import struct
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

import pytest

import tokamata as tk
from tests.support.repair.languages import random_language
from tokamata.automata import EPSILON, Acceptor
from tokamata.errors import shown_argument
from tokamata.repair import couplings
from tokamata.repair.programs import CoupledGraph, solved

pytest.importorskip("scipy", reason="scipy comes with the extra repair")

LETTERS = "abc"
NAMES = ("insert", "remove", "replace")


def random_costs(draw: random.Random) -> tk.EditCosts:
    """Prices of each letter, some rewrites and a doubt."""

    some = draw.choice([[0, 1, 1, 2, 3, 5], [70, 110, 130, 170, 290, 510]])

    def prices() -> dict[str, int]:
        return {letter: draw.choice(some) for letter in LETTERS}

    rewrites = [
        tk.Rewrite("swap", b"ab", b"ba", some[1]),
        tk.Rewrite("drop", b"c+", b"", some[2]),
        tk.Rewrite("grow", b"a", b"abc", some[3]),
    ]
    return tk.EditCosts(
        other=900, insert=prices(), prepend=prices(), append=prices(), remove=prices(),
        replace=draw.choice([None, some[2], some[3]]),
        rewrites=draw.sample(rewrites, draw.randrange(3)),
        doubts=draw.sample([tk.Doubt("b?", b"b", some[3])], draw.randrange(2)),
    )  # fmt: skip


def random_bounds(draw: random.Random, costs: tk.EditCosts) -> dict[str, int]:
    names = [*NAMES, *(one.name for one in costs.rewrites), *(one.name for one in costs.doubts)]
    return {name: draw.randrange(3) for name in draw.sample(names, draw.randint(1, 3))}


# A step from a position and a state: the name of its edit, its cost, where it leads.
Step = tuple[str | None, int, int, int]


def steps(acceptor: Acceptor, text: bytes, costs: tk.EditCosts) -> dict[tuple[int, int], list[Step]]:
    """Every edge of the product, each byte by itself."""
    prepend, insert, append, remove, replace, _ = costs.tables(text).tables[0]
    doubts = {at: one for at, one, _ in sorted(costs.doubtful(text), key=lambda found: found[1].cost)}
    spans = costs.spans(text)
    rows = acceptor.rows

    def after(states: set[int], written: bytes) -> set[int]:
        for byte in written:
            states = {target for state in closed(states) for symbol, target in rows[state] if symbol == byte}
        return states

    def closed(states: set[int]) -> set[int]:
        found, open_ = set(states), list(states)
        while open_:
            for symbol, target in rows[open_.pop()]:
                if symbol == EPSILON and target not in found:
                    found.add(target)
                    open_.append(target)
        return found

    edges: dict[tuple[int, int], list[Step]] = {}
    for position, state in itertools.product(range(len(text) + 1), range(acceptor.states)):
        here = edges[position, state] = []
        table = append if position == len(text) else prepend if position == 0 else insert
        for symbol, target in rows[state]:
            if symbol == EPSILON:
                here.append((None, 0, position, target))
                continue
            here.append(("insert", table[symbol], position, target))
            if position == len(text):
                continue
            if symbol == text[position]:
                doubt = doubts.get(position)
                kept = (None, 0) if doubt is None else (doubt.name, doubt.cost)
                here.append((*kept, position + 1, target))
            if costs.replace is not None:
                here.append(("replace", replace[symbol], position + 1, target))
        if position < len(text):
            here.append(("remove", remove[text[position]], position + 1, state))
        for span in spans:
            if span.begin == position:
                for target in after({state}, span.written):
                    here.append((span.name, span.cost, span.end, target))
    return edges


def by_counters(
    acceptor: Acceptor, text: bytes, costs: tk.EditCosts, at_most: Mapping[str, int]
) -> int | None:
    """The least cost of a repair, by Dijkstra over position, state and the numbers of edits made."""
    edges, names = steps(acceptor, text, costs), tuple(at_most)
    start = (0, acceptor.start, (0,) * len(names))
    open_, done = [(0, start)], set()
    while open_:
        cost, place = heapq.heappop(open_)
        if place in done:
            continue
        done.add(place)
        position, state, made = place
        if position == len(text) and state in acceptor.accepting:
            return cost
        for name, paid, to, target in edges[position, state]:
            counts = tuple(count + (name == one) for count, one in zip(made, names, strict=True))
            if all(count <= at_most[one] for count, one in zip(counts, names, strict=True)):
                heapq.heappush(open_, (cost + paid, (to, target, counts)))
    return None


def by_all_edits(
    pattern: str, text: bytes, costs: tk.EditCosts, at_most: Mapping[str, int], longest: int
) -> int | None:
    """The least cost over all sequences of edits with some insertions at most, whose text ``re`` accepts."""
    prepend, insert, append, remove, replace, _ = costs.tables(text).tables[0]
    doubts = {at: one for at, one, _ in sorted(costs.doubtful(text), key=lambda found: found[1].cost)}
    spans = costs.spans(text)
    best: list[int] = []

    def follow(position: int, written: bytes, cost: int, made: Counter[str]) -> None:
        if made["insert"] > longest or any(made[name] > most for name, most in at_most.items()):
            return
        if position == len(text) and re.fullmatch(pattern, written.decode()):
            best.append(cost)
        table = append if position == len(text) else prepend if position == 0 else insert
        for byte in LETTERS.encode():
            follow(position, written + bytes([byte]), cost + table[byte], made + Counter(["insert"]))
        if position == len(text):
            return
        byte = text[position]
        if position in doubts:
            doubt = doubts[position]
            follow(position + 1, written + bytes([byte]), cost + doubt.cost, made + Counter([doubt.name]))
        else:
            follow(position + 1, written + bytes([byte]), cost, made)
        follow(position + 1, written, cost + remove[byte], made + Counter(["remove"]))
        if costs.replace is not None:
            for byte in LETTERS.encode():
                follow(
                    position + 1, written + bytes([byte]), cost + replace[byte], made + Counter(["replace"])
                )
        for span in spans:
            if span.begin == position:
                follow(span.end, written + span.written, cost + span.cost, made + Counter([span.name]))

    follow(0, b"", 0, Counter())
    return min(best, default=None)


def check(repair: tk.Repair[object], at_most: Mapping[str, int]) -> None:
    """What holds of each answer: edits, their number, text, bounds, certificate, report."""
    certificate = repair.certificate
    text, position = bytearray(), 0
    for edit in repair.edits:
        assert certificate.broken[edit.begin : edit.end] == edit.removed
        text += certificate.broken[position : edit.begin] + edit.written
        position = edit.end
    assert (text + certificate.broken[position:]).decode() == repair.text
    assert repair.cost == sum(edit.cost for edit in repair.edits)
    made = Counter(edit.name for edit in repair.edits)
    assert all(made[name] <= most for name, most in at_most.items())
    assert 0 <= certificate.lower_bound <= repair.lower_bound <= repair.cost
    assert repair.optimal == (repair.lower_bound == repair.cost)
    assert certificate.flaw() is None
    program = repair.program
    assert program is not None
    assert program.at_most == at_most
    assert (program.gap == 0) == repair.optimal
    assert program.programs > 0 or program.rows == program.columns == program.branch_nodes == 0
    if program.unimodular == "totally unimodular":
        assert program.branch_nodes == 0


def cases(count: int, seed: int) -> Iterator[tuple[random.Random, str, Acceptor, str, tk.EditCosts]]:
    for number in range(count):
        draw = random.Random(seed + number)
        pattern, acceptor = random_language(draw, draw.randint(1, 7), LETTERS)
        yield draw, pattern, acceptor, "".join(draw.choices(LETTERS, k=draw.randrange(7))), random_costs(draw)


@pytest.mark.slow
def test_costs_are_those_of_counters() -> None:
    """Each repair is the optimum, or there is none; programs, not only multipliers, have to prove some."""
    found = impossible = 0
    reports: list[tk.Program] = []
    for draw, pattern, acceptor, text, costs in cases(500, 1):
        at_most = random_bounds(draw, costs)
        constraint = tk.regex(pattern)
        if not re.fullmatch(pattern, text):
            expected = by_counters(acceptor, text.encode(), costs, at_most)
        else:
            expected = 0
        if expected is None:
            with pytest.raises(tk.NoRepairError) as raised:
                constraint.repair(text, costs=costs, at_most=at_most)
            assert raised.value.at_most == at_most
            impossible += 1
            continue
        repair = constraint.repair(text, costs=costs, at_most=at_most, weight=draw.choice([1, 3]))
        check(repair, at_most)
        assert repair.optimal
        assert repair.cost == expected, (pattern, text, costs, at_most)
        assert repair.program is not None
        reports.append(repair.program)
        found += 1
    assert found > 200
    assert impossible > 40
    solved_ones = [report for report in reports if report.programs]
    assert Counter(report.unimodular for report in solved_ones)["not totally unimodular"] > 3
    assert sum(report.branch_nodes for report in solved_ones) > 0
    assert sum(report.unimodular == "network matrix" for report in reports) > 50


def test_costs_are_those_of_all_edits() -> None:
    judged = 0
    for draw, pattern, acceptor, text, costs in cases(150, 40_000):
        at_most = {**random_bounds(draw, costs), "insert": draw.randrange(3)}
        if len(text) > 3 or re.fullmatch(pattern, text):
            continue
        expected = by_all_edits(pattern, text.encode(), costs, at_most, at_most["insert"])
        assert expected == by_counters(acceptor, text.encode(), costs, at_most)
        if expected is None:
            with pytest.raises(tk.NoRepairError):
                tk.regex(pattern).repair(text, costs=costs, at_most=at_most)
        else:
            assert tk.regex(pattern).repair(text, costs=costs, at_most=at_most).cost == expected
        judged += 1
    assert judged > 50


def test_answers_get_better_and_bounds_hold() -> None:
    for draw, pattern, acceptor, text, costs in cases(150, 90_000):
        at_most = random_bounds(draw, costs)
        optimum = by_counters(acceptor, text.encode(), costs, at_most)
        if optimum is None or re.fullmatch(pattern, text):
            continue
        answers = list(tk.regex(pattern).repairs(text, costs=costs, at_most=at_most))
        for answer in answers:
            check(answer, at_most)
            assert answer.lower_bound <= optimum <= answer.cost
        assert [answer.cost for answer in answers] == sorted((a.cost for a in answers), reverse=True)
        assert answers[-1].cost == optimum


BROKEN = [
    ('[1 2 3 {"a": 4 "b" 5]', {"insert": 2}),
    ('[1 2 3 {"a": 4 "b" 5]', {"insert": 2, "remove": 1}),
    ("{'a': 'b', 'c': 'd',}", {"single quotes": 2}),
    ("{'a': 'b', 'c': 'd',}", {"single quotes": 3, "drop a trailing comma": 0}),
    ('{"a": "say "hi" to "all""}', {"escape an inner quote": 3}),
    ("[[[[[[", {"insert": 1}),
]


@pytest.mark.parametrize(("broken", "at_most"), BROKEN)
def test_json(broken: str, at_most: dict[str, int]) -> None:
    constraint = tk.json(whitespace="any", spelling="any")
    free, repair = constraint.repair(broken), constraint.repair(broken, at_most=at_most)
    check(repair, at_most)
    assert repair.optimal
    assert repair.cost >= free.cost
    assert repair.value == json.loads(repair.text)
    wide = dict.fromkeys(at_most, 1000)
    unbound = constraint.repair(broken, at_most=wide)
    assert unbound.cost == free.cost
    assert unbound.program == tk.Program(wide, 0, 0, 0, 0, 0.0, "network matrix")


UNIQUE = {
    "type": "array",
    "items": {"enum": ["aa", "ab", "ba", "bb"]},
    "uniqueItems": True,
}


@pytest.mark.parametrize(
    "at_most", [{"replace": 1}, {"replace": 0}, {"replace": 1, "remove": 0}, {"insert": 0}]
)
def test_what_the_over_approximation_accepts_is_refused(at_most: dict[str, int]) -> None:
    """Elements that must differ are part of the state, and each of their bytes an edge."""
    texts = [
        json.dumps(list(chosen), separators=(",", ":"))
        for count in range(5)
        for chosen in itertools.permutations(UNIQUE["items"]["enum"], count)  # type: ignore[index]
    ]
    costs = tk.EditCosts(other=10, insert={'"': 4, ",": 4}, replace=3)
    judged = 0
    for broken in ('["aa","aa"]', '["aa","ab","aa"]', '["aa","aa","aa"]'):
        constraint = tk.json_schema(UNIQUE)
        expected = by_counters(Acceptor.from_strings(texts), broken.encode(), costs, at_most)
        if expected is None:
            continue
        repair = constraint.repair(broken, costs=costs, at_most=at_most)
        check(repair, at_most)
        assert repair.optimal
        assert repair.cost == expected
        assert repair.text in texts
        judged += 1
    assert judged > 1


def test_what_cannot_be_decided_ends_within_limits() -> None:
    """No insertions make three elements differ, which would have to be tried without end."""
    costs = tk.EditCosts(other=10, insert={'"': 4, ",": 4}, replace=3)
    limits = tk.Limits(memory_bytes=1 << 23, seconds=3)
    with pytest.raises((tk.LimitExceeded, tk.NoRepairError)):
        tk.json_schema(UNIQUE).repair(
            '["aa","aa","aa"]', costs=costs, at_most={"replace": 1, "remove": 0}, limits=limits
        )


def test_names_in_any_order() -> None:
    """States that keep what was read: undeclared names must differ."""
    constraint = tk.json_schema(
        {"type": "object", "additionalProperties": {"type": "integer"}}, property_order="any"
    )
    costs = tk.EditCosts(other=10, insert={",": 1}, replace=5)
    broken = '{"a":1 "a":2}'
    repair = constraint.repair(broken, costs=costs, at_most={"remove": 3, "insert": 1})
    check(repair, {"remove": 3, "insert": 1})
    assert repair.optimal
    assert len(json.loads(repair.text)) == len(re.findall(":", repair.text))


def test_grammars() -> None:
    grammar = tk.grammar('start: (pair)*\npair: "(" start ")" | "[" start "]"\n')
    one = tk.EditCosts(other=1, replace=1)
    assert grammar.repair("((((", costs=one).cost == 2
    for most, cost in ((2, 2), (1, 3), (0, 4)):
        repair = grammar.repair("((((", costs=one, at_most={"replace": most})
        check(repair, {"replace": most})
        assert (repair.cost, repair.optimal) == (cost, True)
    assert grammar.repair("((((", costs=one, at_most={"replace": 0, "insert": 0}).text == ""
    with pytest.raises(tk.NoRepairError, match="at_most="):
        grammar.repair("((((", costs=one, at_most={"replace": 0, "insert": 0, "remove": 3})


def test_accepted_texts_are_not_changed() -> None:
    repair = tk.json().repair('{ "b" : 1.50 }', at_most={"insert": 0})
    assert (repair.text, repair.edits, repair.cost, repair.optimal) == ('{ "b" : 1.50 }', (), 0, True)
    assert repair.certificate.verify()
    assert repair.program == tk.Program({"insert": 0}, 0, 0, 0, 0, 0.0, "network matrix")


def gap_case() -> tk.Repair[object]:
    """Half of each of two paths, each of which breaks a bound, costs less than any repair."""
    costs = tk.EditCosts(
        other=900,
        rewrites=[
            tk.Rewrite(name, b"a", name.encode(), cost) for name, cost in (("b", 1), ("c", 1), ("d", 5))
        ],
    )
    return tk.choice(["bb", "cc", "dd"]).repair("aa", costs=costs, at_most={"b": 1, "c": 1})


def test_certificates_prove_what_multipliers_prove() -> None:
    """The part of the bound that the program adds is not in the certificate, and a higher bound fails."""
    repair = gap_case()
    certificate = repair.certificate
    check(repair, {"b": 1, "c": 1})
    assert (repair.text, repair.cost, repair.lower_bound, certificate.lower_bound) == ("dd", 10, 10, 2)
    assert not dataclasses.replace(certificate, lower_bound=3).verify()
    assert repair.program is not None
    assert repair.program.programs > 0
    assert repair.program.unimodular == "not totally unimodular"


def test_tampered_certificates_fail() -> None:
    costs = tk.EditCosts(other=10, insert={",": 3})
    repair = tk.json().repair("[1 2 3]", costs=costs, at_most={"insert": 1})
    certificate = repair.certificate
    assert isinstance(certificate, tk.CoupledCertificate)
    assert certificate.verify()
    assert certificate.multipliers["insert"] > 0
    records = list(struct.iter_unpack("=IIQ", certificate.nodes))
    changed = b"".join(struct.pack("=IIQ", one, step, cost + 10**6) for one, step, cost in records)
    bad = [
        dataclasses.replace(certificate, lower_bound=certificate.cost + 1),
        dataclasses.replace(certificate, at_most={"insert": 0}),
        dataclasses.replace(certificate, at_most={}),
        dataclasses.replace(certificate, multipliers={"insert": -1}),
        dataclasses.replace(certificate, multipliers={"insert": 1 << 32}),
        dataclasses.replace(certificate, multipliers={}),
        dataclasses.replace(certificate, multipliers={"remove": 5}),
        dataclasses.replace(certificate, scale=0),
        dataclasses.replace(certificate, edits=certificate.edits[:-1]),
        dataclasses.replace(certificate, text=b"[1]"),
        dataclasses.replace(certificate, nodes=changed),
        dataclasses.replace(certificate, nodes=b""),
    ]
    for one in bad:
        assert one.flaw(), one


def test_what_is_there_when_time_is_over() -> None:
    text = json.dumps([{"a": i, "b": [i, str(i)]} for i in range(40)]).replace(",", "", 9).replace("]", "", 2)
    free = tk.json().repair(text)
    for seconds in (0, 0.001, 0.02, 0.1, 0.5):
        try:
            repair = tk.json().repair(text, at_most={"insert": 3}, deadline_seconds=seconds)
        except tk.LimitExceeded:
            continue
        check(repair, {"insert": 3})
        assert repair.cost >= free.cost
    for memory in (1 << 17, 1 << 20, 1 << 22):
        try:
            repair = tk.json().repair(text, at_most={"insert": 3}, limits=tk.Limits(memory_bytes=memory))
        except tk.LimitExceeded:
            continue
        check(repair, {"insert": 3})


def test_a_program_that_has_no_time_leaves_its_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(couplings, "solved", lambda graph, most, seconds: solved(graph, most, 0.0))
    stopped = gap_case()
    check(stopped, {"b": 1, "c": 1})
    assert not stopped.optimal
    assert 2 <= stopped.lower_bound <= 10 < stopped.cost
    assert stopped.program is not None
    assert stopped.program.gap > 0


def test_scipy_is_an_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "scipy.optimize", None)
    with pytest.raises(tk.MissingExtraError, match=r"tokamata\[repair\]"):
        tk.regex("a").repair("b", at_most={"insert": 1})
    assert tk.regex("a").repair("b", at_most={}).program is None
    assert tk.regex("a").repair("b").program is None


def test_cancelling() -> None:
    token = tk.CancelToken()
    token.cancel()
    with pytest.raises(tk.Cancelled):
        tk.json().repair("[1 2", at_most={"insert": 1}, cancel=token)


@pytest.mark.parametrize(
    "at_most",
    [
        {"inserts": 1},
        {"insert": -1},
        {"insert": 1.5},
        {"insert": True},
        {5: 1},
        ["insert"],
        [],
        {"insert": 1 << 31},
    ],
)
def test_bad_arguments_are_named(at_most: object) -> None:
    with pytest.raises(tk.ArgumentError, match="at_most") as raised:
        tk.json().repair("[1 2", at_most=at_most)  # type: ignore[arg-type]
    shown = at_most if not isinstance(at_most, dict) else next(iter(at_most.items()))[0]
    assert shown_argument(shown) in str(raised.value) or "whole number" in str(raised.value)


def graph_of(nodes: int, arcs: Sequence[tuple[int, int, int, int]]) -> CoupledGraph:
    import numpy as np

    source, target, cost, coupled = (np.array(column, dtype=np.int64) for column in zip(*arcs, strict=True))
    return CoupledGraph(nodes, np.array([nodes - 1]), source, target, cost, coupled)


def test_circles_are_no_part_of_a_path() -> None:
    """A free circle beside the path changes nothing, and one that uses up the bound cannot be needed."""
    arcs = [(0, 1, 1, -1), (1, 2, 0, -1), (2, 1, 0, -1), (1, 3, 1, 0), (2, 3, 3, -1)]
    assert solved(graph_of(4, arcs), [1], 10.0).path == [0, 3]
    without = solved(graph_of(4, arcs), [0], 10.0)
    assert (without.path, without.bound) == ([0, 1, 4], 4)


def test_branching_is_counted() -> None:
    """Each of two bounds excludes one of two cheap paths, and half of each is the relaxation's optimum."""
    arcs = [
        (0, 1, 0, 0), (1, 4, 0, 0), (0, 2, 0, 1), (2, 4, 0, 1), (0, 3, 5, -1), (3, 4, 5, -1),
    ]  # fmt: skip
    found = solved(graph_of(5, arcs), [1, 1], 10.0)
    assert (found.path, found.bound, found.is_optimal) == ([4, 5], 10, True)
    assert found.unimodular == "not totally unimodular"
    assert solved(graph_of(5, arcs[:4]), [1, 1], 10.0).bound is None
