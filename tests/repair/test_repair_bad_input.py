"""Bad input: an answer with its bound, or a typed error, within the time and the memory given."""

from __future__ import annotations

import gc
import json
import random
import threading
from typing import Any

import pytest

import tokamata as tk
from tests.support.guarded import Guarded
from tests.support.repairs import check_repair
from tokamata.repair.bounded_patterns import BoundedPatterns
from tokamata.repair.default_costs import DEFAULT_COSTS
from tokamata.resources import limits

NESTED = {
    "$ref": "#/$defs/node",
    "$defs": {
        "node": {
            "properties": {
                "a": {"$ref": "#/$defs/node"},
                "b": {"items": {"$ref": "#/$defs/node"}, "type": "array"},
            },
            "required": ["b"],
            "type": "object",
        }
    },
}
CONSTRAINTS: dict[str, tk.Constraint] = {
    "json": tk.json(),
    "schema": tk.json_schema(NESTED),
    "any order": tk.json_schema(NESTED, property_order="any"),
    "grammar": tk.grammar('start: pair*\npair: "(" start ")" | "[" start "]"\n'),
    "pattern": tk.regex(r"(?=.{1,255}$)(?:[a-z.]{1,63}\.)+[a-z]+"),
}
UNITS = [
    "[", '{"a":', '"', "\0", "\\", "'", " #", ",", "a", ",„", ":'\\'", "[/*", "ä", b"\xff", b"\xed\xa0\x80",
]  # fmt: skip
HUNG_S = 120.0  # of work that takes some seconds on an idle machine


def long_text(unit: str | bytes, length: int) -> bytes:
    data = unit if isinstance(unit, bytes) else unit.encode()
    return (data * (length // len(data) + 1))[:length]


def outcome(argument: tuple[str, bytes, float, int]) -> str:
    """What became of a text: an answer that was checked, or the name of an error."""
    name, text, deadline, memory = argument
    try:
        repair = CONSTRAINTS[name].repair(
            text, deadline_seconds=deadline, limits=tk.Limits(memory_bytes=memory)
        )
    except tk.LimitExceeded as error:
        given = {"seconds": max(deadline, 0.001), "memory_bytes": memory}
        return "LimitExceeded" if error.bound == given[error.limit] else str(error)
    if len(repair.edits) < 20_000:
        check_repair(repair, text)
    return "optimal" if repair.optimal else "stopped"


@pytest.mark.slow
@pytest.mark.parametrize("name", CONSTRAINTS)
def test_long_texts_end_with_an_answer_or_a_limit(name: str) -> None:
    """10 kB of each unit; a process that hangs or takes over 2 GiB ends the test."""
    with Guarded(outcome, HUNG_S, 2 << 30) as guarded:
        found = {guarded((name, long_text(unit, 10_000), 0.1, 1 << 28)) for unit in UNITS}
    assert found <= {"optimal", "stopped", "LimitExceeded"}


def test_a_megabyte() -> None:
    """The deadline ends the patterns of the costs, too, which took nine seconds for quotes."""
    with Guarded(outcome, HUNG_S, 2 << 30) as guarded:
        for unit in ("[", '{"a":', '"', "\0", "\\"):
            assert guarded(("json", long_text(unit, 1_000_000), 0.2, 1 << 28)) in ("stopped", "LimitExceeded")


def test_memory_bounds_what_patterns_find_and_what_edits_take() -> None:
    with Guarded(outcome, HUNG_S, 1 << 30) as guarded:
        for unit in ('"', "[", "'"):
            assert guarded(("json", long_text(unit, 500_000), 60.0, 1 << 24)) == "LimitExceeded"
    plain = tk.EditCosts()
    with pytest.raises(tk.LimitExceeded, match="memory_bytes"):
        tk.regex("x").repair("\0" * 100_000, costs=plain, limits=tk.Limits(memory_bytes=1 << 24))
    assert tk.regex("x").repair("\0" * 1000, costs=plain, limits=tk.Limits(memory_bytes=1 << 24)).optimal


# ---- patterns of costs -------------------------------------------------------------------------


def searched(text: bytes) -> int:
    """How many rewrites and doubts the default costs find."""
    bounds = BoundedPatterns(tk.Limits(seconds=1e9, memory_bytes=1 << 40), None)
    return len(DEFAULT_COSTS.spans(text, bounds)) + len(DEFAULT_COSTS.doubtful(text, bounds))


def test_default_patterns_take_linear_time() -> None:
    """Ten times the length at which a quadratic pattern took four seconds: it would take six minutes."""
    draw = random.Random(1)
    atoms = [
        "{",
        "[",
        "]",
        ",",
        ":",
        '"',
        "'",
        "\\",
        "\n",
        " ",
        "a",
        "1",
        "“",
        "”",
        "„",
        "/*",
        "*/",
        "//",
        "#",
        "-",
    ]
    units = [*UNITS, *("".join(draw.choices(atoms, k=draw.randint(2, 5))) for _ in range(10))]
    with Guarded(searched, HUNG_S) as guarded:
        for unit in units:
            assert guarded(long_text(unit, 100_000)) >= 0


@pytest.mark.parametrize(
    "number",
    [
        "0x" + "f" * 5000,
        '"0x' + "f" * 5000 + '"',
        "9" * 5000 + "/3",
        '"9 1/' + "9" * 5000 + '"',
        "9" * 5000 + "k",
        "9" * 5000 + " * 9",
        "+".join(["1"] * 5000),
        '"' + "9" * 5000 + '%"',
        f"datetime.date({'9' * 5000}, 1, 1)",
    ],
    ids=lambda number: number[:4] + number[-4:],
)
def test_numbers_of_thousands_of_digits(number: str) -> None:
    """Python converts no more than 4300 digits."""
    for schema in ({"type": "array"}, {"type": "array", "items": {"type": "number"}}):
        repair = tk.json_schema(schema).repair(f"[{number}, 1]", limits=tk.Limits(states=300))
        assert json.loads(repair.text, parse_int=str) is not None


@pytest.mark.parametrize(
    ("text", "name", "count"),
    [
        ("[1, // a\n2, # b\n3]", "drop a comment", 2),
        ("[1, /* a */ 2, /**/ 3]", "drop a comment", 2),
        ("[1, /* a 2]", "drop a comment", 1),  # to the end of the text
        ("[1, /* a * 2]", "drop a comment", 0),
        ("[1, // " + "a" * 3000 + "\n2]", "drop a comment", 0),
        ("[1, /* " + "a" * 3000 + "*/2]", "drop a comment", 0),
        ("[1] // a", "drop a last comment", 1),
        ("[1] // " + "a" * 3000, "drop a last comment", 0),
        ("{'a': 'b'}", "single quotes", 10),  # where one opens, where one closes, and where it might
    ],
)
def test_default_patterns_still_find(text: str, name: str, count: int) -> None:
    assert [span.name for span in DEFAULT_COSTS.spans(text.encode())].count(name) == count


def test_patterns_read_the_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """By a clock that goes on by a second each time that it is read."""
    seconds = iter(range(10_000_000))
    monkeypatch.setattr(limits.time, "monotonic", lambda: next(seconds))
    bounds = BoundedPatterns(tk.Limits(seconds=5), None)
    many = bounds.matches(b"a", b"a" * 1_000_000)
    assert len([next(many) for _ in range(3000)]) == 3000
    with pytest.raises(tk.LimitExceeded, match="seconds=5"):
        next(match for number, match in enumerate(many) if number > 3000)
    patterns = iter([b"b"] * 10)  # without any match
    bounds = BoundedPatterns(tk.Limits(seconds=5), None)
    with pytest.raises(tk.LimitExceeded, match="seconds=5"):
        sum(len(list(bounds.matches(pattern, b"a" * 10_000))) for pattern in patterns)
    assert len(list(patterns)) > 3


def test_patterns_are_cancelled() -> None:
    token = tk.CancelToken()
    rewrites = [tk.Rewrite("each", b"a", lambda match: token.cancel() or b"b", 1)]  # type: ignore[func-returns-value]
    with pytest.raises(tk.Cancelled):
        tk.regex("b*").repair("a" * 5000, costs=tk.EditCosts(rewrites=rewrites), cancel=token)
    other = tk.CancelToken()
    repair = tk.json().repair('"' * 3000 + "]", deadline_seconds=0.5)
    other.cancel()
    with pytest.raises(tk.Cancelled):
        repair.certificate.verify(cancel=other)


def test_functions_of_rewrites() -> None:
    costs = tk.EditCosts(
        other=9, rewrites=[tk.Rewrite("pair", b"aa|a", lambda m: b"b" if len(m[0]) == 2 else None, 1)]
    )
    repair = tk.regex("b*").repair("aaa", costs=costs)
    assert [edit.name for edit in repair.edits] == ["pair", "remove"]
    check_repair(repair, "aaa")
    for wrong in ("b", 5, [b"b"]):
        bad = tk.EditCosts(rewrites=[tk.Rewrite("bad", b"a", lambda match, wrong=wrong: wrong, 1)])  # type: ignore[misc]
        with pytest.raises(tk.ArgumentError, match="'bad'"):
            tk.regex("b*").repair("a", costs=bad)
    for replacement in ("a", 5, None):
        with pytest.raises(tk.ArgumentError):
            tk.EditCosts(rewrites=[tk.Rewrite("bad", b"a", replacement, 1)])  # type: ignore[arg-type]


# ---- costs ------------------------------------------------------------------------------------


CYCLES = [
    tk.EditCosts(other=0),
    tk.EditCosts(other=0, replace=0),
    tk.EditCosts(other=1, insert={"".join(map(chr, range(128))): 0}),
    tk.EditCosts(other=0, replace=0, rewrites=[tk.Rewrite("grow", rb"[^b]", rb"\g<0>\g<0>", 0)]),
    tk.EditCosts(other=0, rewrites=[tk.Rewrite("all", b"(?s:.+)", b"", 0)], doubts=[tk.Doubt("all", b"", 0)]),
    tk.EditCosts(other=1_000_000_000, replace=1_000_000_000),
]


@pytest.mark.parametrize("costs", CYCLES)
@pytest.mark.parametrize("name", ["json", "grammar"])
def test_free_edits_and_their_cycles(costs: tk.EditCosts, name: str) -> None:
    """Among answers that cost nothing, the search goes on to the one that keeps most, or to its deadline."""
    for text, weight in (("[[(", 1), ("a" * 300, 3), (b"\xff\x00", 1)):
        repair = CONSTRAINTS[name].repair(text, costs=costs, weight=weight, deadline_seconds=0.2)
        check_repair(repair, text)
        assert repair.optimal or repair.cost > 0


def test_costs_below_zero_are_refused() -> None:
    for make in (
        lambda: tk.EditCosts(other=-1),
        lambda: tk.EditCosts(replace=-1),
        lambda: tk.EditCosts(append={"a": -1}),
        lambda: tk.EditCosts(rewrites=[tk.Rewrite("x", b"a", b"", -1)]),
        lambda: tk.EditCosts(doubts=[tk.Doubt("x", b"a", -1)]),
    ):
        with pytest.raises(tk.ArgumentError):
            make()


# ---- what is accepted -------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text", ['["a // b"]', '["“a”, # b"]', '[" /* a */"]', '["a\\n\', b"]', '["\\frac"]']
)
def test_what_is_accepted_is_not_doubted(text: str) -> None:
    """The certificate of a text that needs no repair did not hold if its bytes were in doubt."""
    repair = tk.json().repair(text)
    assert (repair.text, repair.edits, repair.cost) == (text, (), 0)
    check_repair(repair, text)


@pytest.mark.parametrize(
    "constraint",
    [tk.regex("a") & tk.regex("b"), tk.json_schema(False), tk.regex("a(?!a)a"), tk.json_schema({"enum": []})],
)
def test_a_constraint_that_accepts_nothing(constraint: tk.Constraint) -> None:
    for text in ("", "a", "[" * 5000, b"\xff"):
        with pytest.raises(tk.EmptyConstraintError):
            constraint.repair(text)


@pytest.mark.parametrize("name", CONSTRAINTS)
def test_a_deadline_of_zero(name: str) -> None:
    """The first answer, where it takes no time to speak of; never a text that is not accepted."""
    for text in ("", "x", "[1", b"\xff" * 50, "[" * 3000, "[" * 100_000):
        data = text.encode() if isinstance(text, str) else text
        assert outcome((name, data, 0, 1 << 28)) in ("optimal", "stopped", "LimitExceeded")


# ---- given up ---------------------------------------------------------------------------------


HARD = "".join(random.Random(1).choices('[]{}":,a1 ', k=3000))


@pytest.mark.parametrize("name", ["json", "schema", "grammar"])
def test_cancelling_in_the_midst(name: str) -> None:
    token = tk.CancelToken()
    timer = threading.Timer(0.1, token.cancel)
    timer.start()
    answers: list[tk.Repair[Any]] = []

    def repair_until_cancelled() -> None:
        while True:  # however fast the machine is
            answers.extend(CONSTRAINTS[name].repairs(HARD, weight=100, cancel=token))

    with pytest.raises(tk.Cancelled):
        repair_until_cancelled()
    timer.join()
    for answer in answers[:3]:  # what was given before stays what it was
        check_repair(answer, HARD)


def given_up(count: int) -> int:
    """Searches that are left after their first answer, each of which holds some 30 MB."""
    begun = 0
    for _ in range(count):
        search = tk.json().repairs(
            HARD * 3, weight=100, deadline_seconds=2, limits=tk.Limits(memory_bytes=1 << 25)
        )
        next(search)
        begun += 1
        if begun % 2:
            search.close()  # type: ignore[attr-defined]
        del search
    gc.collect()
    return begun


def test_a_search_that_is_given_up_frees_what_it_holds() -> None:
    with Guarded(given_up, HUNG_S, 400 << 20) as guarded:
        assert guarded(40) == 40
