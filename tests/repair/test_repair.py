"""Repairs against slow judges: costs are least, edits lead to the text, certificates prove the bounds."""

from __future__ import annotations

import dataclasses
import json
import random
import struct
import threading
import time
from collections.abc import Iterator

import pytest

import tokamata as tk
from tests.support.automata.machines import random_acceptor
from tests.support.repairs import LETTERS, regex_of
from tokamata.automata import Acceptor, is_empty, product
from tokamata.automata.correction import Prices, correction, grammar_correction, within_distance
from tokamata.repair.costs import Doubt, EditCosts, Rewrite, Span
from tokamata.repair.results import Repair

PRICES = [
    Prices(1, 1, 1),
    Prices(2, 1, 3),
    Prices(1, 3, 2),
    Prices(0, 1, 1),
    Prices(1, 0, 1),
    Prices(0, 0, 0),
]


def costs_of(prices: Prices, rewrites: tuple[Rewrite, ...] = ()) -> EditCosts:
    every = "".join(map(chr, range(128)))
    return EditCosts(
        other=prices.remove, insert={every: prices.insert}, remove={every: prices.remove},
        replace=prices.replace,
        rewrites=rewrites,
    )  # fmt: skip


def applied(repair: Repair[object]) -> str:
    """The broken text after the edits."""
    broken, text, position = repair.certificate.broken, b"", 0
    for edit in repair.edits:
        assert broken[edit.begin : edit.end] == edit.removed
        text += broken[position : edit.begin] + edit.written
        position = edit.end
    return (text + broken[position:]).decode()


def check(repair: Repair[object], cost: int) -> None:
    assert repair.optimal
    assert repair.cost == repair.lower_bound == cost == sum(edit.cost for edit in repair.edits)
    assert applied(repair) == repair.text
    assert repair.certificate.flaw() is None
    assert repair.certificate.verify()


def cases(count: int, seed: int) -> Iterator[tuple[random.Random, Acceptor, str]]:
    for number in range(count):
        draw = random.Random(seed + number)
        acceptor = random_acceptor(draw, 5)
        yield draw, acceptor, "".join(draw.choices(LETTERS, k=draw.randrange(7)))


def test_costs_are_those_of_wagner() -> None:
    judged = 0
    for draw, acceptor, text in cases(600, 1):
        pattern = regex_of(acceptor)
        prices = draw.choice(PRICES)
        expected = correction(acceptor, [LETTERS.index(letter) for letter in text], prices)
        if pattern is None or expected is None:
            continue
        constraint = tk.regex(pattern)
        repair = constraint.repair(text, costs=costs_of(prices), weight=draw.choice([1, 1.5, 3]))
        check(repair, expected)
        assert constraint.parse(repair.text) == repair.value == repair.text
        judged += 1
    assert judged > 150


def test_costs_are_those_of_levenshtein_automata() -> None:
    judged = 0
    for _, acceptor, text in cases(250, 5_000):
        pattern = regex_of(acceptor)
        if pattern is None or is_empty(acceptor):
            continue
        symbols = [LETTERS.index(letter) for letter in text]
        cost = tk.regex(pattern).repair(text, costs=costs_of(Prices())).cost
        for distance, is_far in ((cost, False), (cost - 1, True)):
            if 0 <= distance <= 4:
                near = within_distance(symbols, distance, range(len(LETTERS)))
                assert is_empty(product(near, acceptor)) is is_far
                judged += 1
    assert judged > 100


GRAMMARS: list[dict[str, list[list[str | int]]]] = [
    {"s": [[97, "s", 98], [97, 98]]},
    {"s": [["t"], ["t", 43, "s"]], "t": [[97], [40, "s", 41]]},
    {"s": [[97, "s", 97], [98, "s", 98], [99]]},
    {"s": [["s", "t"], ["t"]], "t": [[97, "t", 98], [99]]},
]


@pytest.mark.parametrize("number", range(len(GRAMMARS)))
def test_costs_are_those_of_aho_and_peterson(number: int) -> None:
    rules = GRAMMARS[number]

    def shown(body: list[str | int]) -> str:
        return " ".join(part if isinstance(part, str) else json.dumps(chr(part)) for part in body)

    source = "".join(f"{name}: {' | '.join(map(shown, bodies))}\n" for name, bodies in rules.items())
    constraint = tk.grammar(source, start="s")
    draw = random.Random(number)
    letters = sorted(
        {chr(part) for bodies in rules.values() for body in bodies for part in body if isinstance(part, int)}
    )
    for _ in range(25):
        text = "".join(draw.choices(letters, k=draw.randrange(7)))
        prices = draw.choice(PRICES[:3])
        expected = grammar_correction(rules, "s", text, prices)
        assert expected is not None
        check(constraint.repair(text, costs=costs_of(prices)), expected)


def test_rewrites_are_edges_of_the_same_search() -> None:
    """The judge tries every set of rewrites that do not overlap, and edits what is left."""
    rewrites = (
        Rewrite("swap", b"ab", b"ba", 1),
        Rewrite("drop", b"cc*", b"", 2),
        Rewrite("grow", b"a", b"abc", 1),
    )
    acceptor = Acceptor.from_strings(["", "bac", "abcabc", "cab", "bbbaaa"])
    constraint = tk.choice(["", "bac", "abcabc", "cab", "bbbaaa"])
    prices = Prices(3, 3, 4)
    costs = costs_of(prices, rewrites)
    for draw, _, text in cases(150, 9_000):
        best = _least_with(acceptor, text, costs.spans(text.encode()), prices, 0, [], 0)
        check(constraint.repair(text, costs=costs, weight=draw.choice([1, 3])), best)


def _least_with(
    acceptor: Acceptor,
    text: str,
    spans: list[Span],
    prices: Prices,
    position: int,
    pieces: list[tuple[bytes, bool]],
    paid: int,
) -> int:
    """The least cost over all choices of rewrites; pieces are bytes, and whether a rewrite wrote them."""
    if position == len(text):
        return paid + _with_fixed(acceptor, pieces, prices)
    kept = [*pieces, (text[position].encode(), False)]
    best = _least_with(acceptor, text, spans, prices, position + 1, kept, paid)
    for span in spans:
        if span.begin == position:
            taken = [*pieces, (span.written, True)]
            best = min(best, _least_with(acceptor, text, spans, prices, span.end, taken, paid + span.cost))
    return best


def _with_fixed(acceptor: Acceptor, pieces: list[tuple[bytes, bool]], prices: Prices) -> int:
    """Wagner's correction, where what a rewrite has written is not edited."""
    least: dict[int, float] = {acceptor.start: 0}
    rows = [dict(row) for row in acceptor.rows]

    def inserted(reached: dict[int, float]) -> dict[int, float]:
        open_ = list(reached)
        while open_:
            state = open_.pop()
            for target in rows[state].values():
                if reached[state] + prices.insert < reached.get(target, 1e9):
                    reached[target] = reached[state] + prices.insert
                    open_.append(target)
        return reached

    for written, is_fixed in pieces:
        least = inserted(least)
        further: dict[int, float] = {}
        for state, cost in least.items():
            if is_fixed:
                at: int | None = state
                for byte in written:
                    at = None if at is None else rows[at].get(byte)
                if at is not None:
                    further[at] = min(cost, further.get(at, 1e9))
                continue
            further[state] = min(cost + prices.remove, further.get(state, 1e9))
            for byte, target in rows[state].items():
                paid = cost + (0 if byte == written[0] else prices.replace)
                further[target] = min(paid, further.get(target, 1e9))
        least = further
    least = inserted(least)
    return int(min((cost for state, cost in least.items() if state in acceptor.accepting), default=1e9))


def test_bytes_in_doubt_cost_something_to_keep() -> None:
    costs = EditCosts(other=3, doubts=[Doubt("b?", b"b", 2), Doubt("less", b"b|x", 1)])
    found = tk.regex("ab*c?").repair("abbx", costs=costs)
    check(found, 7)
    assert [(edit.name, edit.removed, edit.written) for edit in found.edits] == [
        ("b?", b"b", b"b"),
        ("b?", b"b", b"b"),
        ("remove", b"x", b""),
    ]
    unpaid = dataclasses.replace(found.certificate, edits=found.edits[1:], cost=5, lower_bound=5)
    assert unpaid.flaw() == "the byte at 1 is kept for nothing"
    accepted = tk.regex("ab*").repair("abb", costs=costs)
    assert accepted.edits == ()
    assert accepted.certificate.verify()


def test_rewrites_may_be_functions() -> None:
    costs = EditCosts(rewrites=[Rewrite("louder", b"[a-z]+", lambda match: match.group().upper(), 5)])
    found = tk.literal("say HELLO").repair("say hello", costs=costs)
    check(found, 5)
    assert found.edits[0] == ("louder", 4, 9, b"hello", b"HELLO", 5)


@pytest.mark.parametrize(
    ("broken", "meant"),
    [
        ('{"a": [1, 2, "b": 3}', '{"a": [1, 2], "b": 3}'),
        ('{"a": [1, 2]]}', '{"a": [1, 2]}'),
        ('{"a": ["x" "y"]}', '{"a": ["x" ,"y"]}'),
        ('{"a" 1}', '{"a" :1}'),
        ('{"a: "x", "b": 1}', '{"a": "x", "b": 1}'),
        ('{"names": ["Jane", "Alice]}', '{"names": ["Jane", "Alice"]}'),
        ('{"a": 1, "b": [2,],}', '{"a": 1, "b": [2]}'),
        ('{"a": "say "hi" to all"}', r'{"a": "say \"hi\" to all"}'),
        ("{'a': 'b', 'c': 'd'}", '{"a": "b", "c": "d"}'),
        ("{'it': 'is Bob's', 'say': '\"x\"'}", r'{"it": "is Bob\'s", "say": "\"x\""}'.replace("\\'", "'")),
        ("{“a”: “b”}", '{"a": "b"}'),
        ("{a: True, b_c: None}", '{"a": true, "b_c": null}'),
        ('{"a": "http://x.y/z", "b": [1}', '{"a": "http://x.y/z", "b": [1]}'),
        ('{"a": 1, // first\n"b": 2}', '{"a": 1, "b": 2}'),
        ('Sure:\n```json\n{"a": 1}\n```\nBye!', '{"a": 1}'),
        ('{"a": "x\ny"}', '{"a": "x\\ny"}'),
        ('{"a": [{"b": "text that is cut', '{"a": [{"b": "text that is cut"}]}'),
        ('{"a": , "b": 1}', '{"a":null , "b": 1}'),
        ("[1, 2, ...]", "[1, 2]"),
        ('["it\\\'s"]', '["it\'s"]'),
        ('["a" + "b"]', '["ab"]'),
        ("[1_000, .5, 2.]", "[1000, 0.5, 2.0]"),
        ("[TRUE, NULL]", "[true, null]"),
        ('["a\\u00', '["a"]'),
    ],
)
def test_mistakes_in_json_are_undone(broken: str, meant: str) -> None:
    found = tk.json(whitespace="any", spelling="any").repair(broken)
    assert json.loads(found.text) == json.loads(meant), found
    assert found.optimal
    assert applied(found) == found.text
    assert found.certificate.flaw() is None


SCHEMA = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "minLength": 1},
        "age": {"type": "integer", "minimum": 0},
        "tags": {"type": "array", "items": {"enum": ["a", "b", "c"]}, "uniqueItems": True},
    },
    "required": ["name"],
}
BROKEN = [
    '{"name": "x", "age": 3',
    '{"name: "x", "age": 3}',
    '{"name": "x" "age": 3}',
    '{"name": "x", "age": 3}}',
    '{"name": "x", "tags": ["a", "a"]}',
    '{"name": "x", "other": 1, "other": 2}',
    '{"age": 3}',
    "{'name': 'x', tags: ['a',],}",
    'Here you are: {"name": "x"} - done',
    "",
    "[[[[[[",
    '{"name": "say "hi" now"}',
]


@pytest.mark.parametrize("order", ["schema", "any"])
@pytest.mark.parametrize("broken", BROKEN)
def test_json_under_a_schema(broken: str, order: str) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    constraint = tk.json_schema(SCHEMA, property_order=order)  # type: ignore[arg-type]
    repair = constraint.repair(broken, limits=tk.Limits(memory_bytes=1 << 26, seconds=10))
    assert 0 < repair.lower_bound <= repair.cost
    assert applied(repair) == repair.text
    assert repair.certificate.flaw() is None
    assert (
        repair.optimal or order == "any"
    )  # where names may come in any order, a missing one is found, but not proven
    assert repair.value == json.loads(repair.text)
    jsonschema.validate(repair.value, SCHEMA)


def test_a_text_that_is_cut_off_after_a_bracket_goes_on() -> None:
    """Two more are open: what is missing is written, and nothing moves to another object."""
    row = {"type": "object", "required": ["place", "data"], "properties": {"data": {"required": ["value"]}}}
    schema = {"type": "object", "properties": {"rows": {"type": "array", "items": row}}}
    broken = '{"rows": [{"place": {"x": 1}, "data": {"value": "a"}}, {"place": {"x": 3, "y": 4}'
    value = tk.json_schema(schema, property_order="any", whitespace="any").repair(broken).value
    assert list(value) == ["rows"]
    assert value["rows"][1]["place"] == {"x": 3, "y": 4}


def test_answers_get_better_and_bounds_hold() -> None:
    constraint = tk.json()
    for broken in BROKEN:
        answers = list(constraint.repairs(broken, weight=8))
        optimum = answers[-1]
        if broken != BROKEN[4]:
            assert optimum.optimal
        costs = [answer.cost for answer in answers]
        assert costs == sorted(costs, reverse=True)
        for answer in answers:
            assert answer.lower_bound <= optimum.cost <= answer.cost
            assert applied(answer) == answer.text
            assert answer.certificate.flaw() is None
            json.loads(answer.text)
        assert [(a.text, a.cost, a.edits) for a in constraint.repairs(broken, weight=8)] == [
            (a.text, a.cost, a.edits) for a in answers
        ]


def test_the_weight_does_not_change_the_optimum() -> None:
    for broken in BROKEN:
        assert len({tk.json().repair(broken, weight=weight).cost for weight in (1, 1.2, 2, 10)}) == 1


@pytest.mark.parametrize(
    "text", ['{ "b" : 1.50, "a":[ ] }', "[1e3]", '"\\u0041"', "null", '{"a": {"b": [1, 2]}}']
)
def test_valid_json_is_not_changed(text: str) -> None:
    for constraint in (tk.json(), tk.json_schema(True), tk.json_schema({"properties": {"a": {}, "b": {}}})):
        repair = constraint.repair(text)
        assert (repair.text, repair.edits, repair.cost, repair.optimal) == (text, (), 0, True)
        assert repair.certificate.verify()


def test_python_types_are_repaired_to_values() -> None:
    @dataclasses.dataclass
    class Person:
        name: str
        age: int = 0

    assert tk.type(Person).repair('{"name": "Ann", "age": 3').value == Person("Ann", 3)
    python = tk.type(Person, syntax="python").repair('Person(name="Ann", age=3')
    assert python.value == Person("Ann", 3)
    check(python, 40)


def test_ties_keep_more_and_then_write_less() -> None:
    """At one price for all: what is kept decides, then the length."""
    costs = EditCosts(other=1, replace=1)
    assert tk.choice(["ab", "b"]).repair("a", costs=costs).text == "ab"  # a replacement would keep nothing
    assert tk.choice(["xyz", "y"]).repair("", costs=EditCosts(other=0)).text == "y"


def test_a_text_that_the_over_approximation_accepts_is_refused() -> None:
    """The cheapest text without memory of names is no text of the constraint."""
    costs = EditCosts(other=10, insert={",": 1}, replace=5)
    repair = tk.json().repair('{"a":1 "a":2}', costs=costs)
    value = json.loads(repair.text)
    assert len(value) == 2
    check(repair, 2)


def test_tampered_certificates_fail() -> None:
    repair = tk.json().repair('{"a": [1, 2}')
    certificate = repair.certificate
    assert certificate.verify()
    records = list(struct.iter_unpack("=IIQ", certificate.nodes))

    def packed(changed: list[tuple[int, ...]]) -> bytes:
        return b"".join(struct.pack("=IIQ", *record) for record in changed)

    assert certificate.nodes == packed(records)
    bad = [
        dataclasses.replace(certificate, cost=certificate.cost - 1),
        dataclasses.replace(certificate, cost=certificate.cost - 1, lower_bound=certificate.cost - 1),
        dataclasses.replace(certificate, text=b'{"a": [1]}'),
        dataclasses.replace(certificate, edits=()),
        dataclasses.replace(certificate, lower_bound=certificate.cost + 1),
        dataclasses.replace(certificate, nodes=b""),
        dataclasses.replace(certificate, edits=tuple(e._replace(cost=0) for e in certificate.edits), cost=0),
    ]
    for number in range(len(records)):  # each node is needed, at its cost; a cost above it proves nothing
        bad.append(
            dataclasses.replace(
                certificate,
                nodes=packed([(f, s, c + 10**9 * (n == number)) for n, (f, s, c) in enumerate(records)]),
            )
        )
    for one in bad:
        assert not one.verify()
        assert one.flaw()
    # A bound that is too high, with the nodes of a search that knew no better.
    loose = dataclasses.replace(certificate, edits=(), text=b"0")
    assert loose.flaw() is not None


@pytest.mark.parametrize(
    "given", [b"\xff\xfe[1]", b"[1\x00]", "[1\ud800]", b"\xe2\x82", b"", "\x00", b"\xf0\x9f\x98[]"]
)
def test_bytes_that_are_no_text(given: str | bytes) -> None:
    repair = tk.json().repair(given)
    check(repair, repair.cost)
    json.loads(repair.text)


def test_bad_input_ends_in_time() -> None:
    began = time.monotonic()
    for text in ("[" * 1_000_000, '{"a":' * 100_000, "\x00" * 100_000, "/*" * 100_000):
        try:
            repair = tk.json().repair(text, deadline_seconds=0.2)
        except tk.LimitExceeded:
            continue
        assert repair.lower_bound <= repair.cost
    quick = tk.regex("ab*c").repair("abb", deadline_seconds=0)
    assert quick.lower_bound <= quick.cost
    assert quick.certificate.verify()
    assert time.monotonic() - began < 30
    with pytest.raises(tk.EmptyConstraintError):
        (tk.regex("a") & tk.regex("b")).repair("a")
    with pytest.raises(tk.EmptyConstraintError):
        tk.json_schema(False).repair("[1]")
    with pytest.raises(tk.AlgebraError):
        tk.control_token("<x>").repair("a")


def test_a_limit_leaves_an_answer_with_its_bound() -> None:
    text = json.dumps([{"a": i, "b": [i, str(i)]} for i in range(50)]).replace(",", "", 3).replace("]", "", 2)
    whole = tk.json().repair(text)
    assert whole.optimal
    for memory in (1 << 19, 1 << 20, 1 << 21):
        try:
            part = tk.json().repair(text, limits=tk.Limits(memory_bytes=memory))
        except tk.LimitExceeded:
            continue
        assert part.lower_bound <= whole.cost <= part.cost
        assert part.certificate.verify()


def test_cancelling() -> None:
    token = tk.CancelToken()
    threading.Timer(0.2, token.cancel).start()
    hard = "".join(random.Random(1).choices('[]{}":,a1 ', k=3000))
    with pytest.raises(tk.Cancelled):
        tk.json_schema(SCHEMA).repair(hard, cancel=token)


@pytest.mark.parametrize(
    "make",
    [
        lambda: EditCosts(other=-1),
        lambda: EditCosts(insert={"a": -5}),
        lambda: EditCosts(insert={"a": 1.5}),  # type: ignore[dict-item]
        lambda: EditCosts(remove=5),  # type: ignore[arg-type]
        lambda: EditCosts(rewrites=[("a",)]),  # type: ignore[list-item]
        lambda: EditCosts(rewrites=[Rewrite("x", b"(", b"", 1)]),
        lambda: EditCosts(rewrites=[Rewrite("x", b"a", b"\\9", 1)]),
        lambda: tk.json().repair(5),  # type: ignore[arg-type]
        lambda: tk.json().repair("1", costs={}),  # type: ignore[arg-type]
        lambda: tk.json().repair("1", deadline_seconds=-1),
        lambda: tk.json().repair("1", deadline_seconds=float("nan")),
        lambda: tk.json().repair("1", weight=0.5),
    ],
)
def test_bad_arguments_are_named(make: object) -> None:
    with pytest.raises(tk.ArgumentError):
        make()  # type: ignore[operator]
