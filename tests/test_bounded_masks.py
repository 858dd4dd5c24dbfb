"""Masks in bounded time: what is known when time is up is a mask already.

Such a row is part of the whole mask, which a constraint of its own has made; it is not empty; any of its
tokens leads on; and the same call ends with the whole mask.  How far a call comes in its time is left to
chance, so that each property holds for whatever came out.  Without any time, no row is whole that was not
known.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

import tokamata as tk
from tests.support.masks import bits
from tests.support.tokenizers.exhaustive_cases import at, cases
from tests.support.vocabularies import BYTES

_DRAW = random.Random(51)
_WORDS = sorted({"".join(_DRAW.choices("abcdefgh", k=_DRAW.randint(2, 9))).encode() for _ in range(2_500)})
_PIECES = [
    b'"a',
    b'":',
    b'{"',
    b'"}',
    b"}}",
    b'","',
    b", ",
    b"[[",
    b"]]",
    b"\n  ",
    b"12",
    b"true",
    b"</think>",
]
TOKENS: list[bytes | None] = [*BYTES, *_WORDS, *_PIECES, None, None, None]
STOPS = [len(TOKENS) - 2, len(TOKENS) - 1]
DEADLINES = (0.0, 3e-5, 1.5e-4)

NESTED = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "maxLength": 20},
        "tags": {"type": "array", "items": {"enum": ["ab", "abc", "b"]}, "uniqueItems": True, "maxItems": 3},
        "inner": {"$ref": "#"},
    },
    "required": ["name"],
    "additionalProperties": False,
}


@dataclass(frozen=True)
class Subject:
    """A constraint, and how its texts are followed."""

    name: str
    make: Callable[[], tk.Constraint[Any]]
    matcher: dict[str, Any] = field(default_factory=dict)
    budget: int | None = None


SUBJECTS = [
    Subject("loops", lambda: tk.regex(r"[a-z]+( [a-z]+)*\.")),
    Subject("classes", lambda: tk.regex(r"([a-h]{4}|[a-d]{3}x)*")),
    Subject("classes, budget", lambda: tk.regex(r"([a-h]{4}|[a-d]{3}x){5,}"), budget=9),
    Subject("lookaround", lambda: tk.regex(r"(?=.*[0-9])(?!.*bad)[a-h0-9]{6,30}")),
    Subject("lookaround, budget", lambda: tk.regex(r"(?=.*[0-9])(?!.*bad)[a-h0-9]{6,30}"), budget=8),
    Subject("choice", lambda: tk.choice([word.decode() for word in _WORDS[:400]])),
    Subject("json", lambda: tk.json_schema(NESTED)),
    Subject("json, budget", lambda: tk.json_schema(NESTED), budget=30),
    Subject("json, least", lambda: tk.json_schema(NESTED), {"min_tokens": 12}),
    Subject("json, least, budget", lambda: tk.json_schema(NESTED), {"min_tokens": 12}, budget=30),
    Subject(
        "json, own stops", lambda: tk.json_schema(NESTED), {"stop": [len(TOKENS) - 3, STOPS[0]]}, budget=25
    ),
    Subject("any json", lambda: tk.json_schema({"type": ["object", "array"]})),
    Subject("grammar", lambda: tk.grammar('root ::= "(" root ")" root | [a-h]+ | ""', syntax="gbnf")),
    Subject("grammar, least", lambda: tk.regex(r"[a-h]{0,40}"), {"min_tokens": 9}),
    Subject("thought", lambda: tk.think_first(tk.json_schema(NESTED)), budget=60),
    Subject("bounded thought", lambda: tk.think_first(tk.regex("[a-h]{3}"), most_tokens=12)),
]


def vocabulary() -> tk.Vocabulary:
    """A new one for each constraint, so that none finds what another has made."""
    return tk.Vocabulary.load(TOKENS, stop=STOPS)


@pytest.mark.parametrize("seconds", DEADLINES)
@pytest.mark.parametrize("subject", SUBJECTS, ids=lambda subject: subject.name)
def test_texts_by_rows_of_what_is_known(subject: Subject, seconds: float) -> None:
    compiled, judge = (subject.make().compile(vocabulary()) for _ in range(2))
    draw = random.Random(f"{subject.name} {seconds}")
    for _ in range(2):
        walk(compiled.matcher(**subject.matcher), judge.matcher(**subject.matcher), subject, seconds, draw)


def walk(
    matcher: tk.Matcher, judge: tk.Matcher, subject: Subject, seconds: float, draw: random.Random
) -> None:
    """A random text."""
    row, full = (one.compiled.allocate_mask()[0] for one in (matcher, judge))
    stops = set(subject.matcher.get("stop", STOPS))
    for place in range(subject.budget or 25):
        left = None if subject.budget is None else subject.budget - place
        judge.fill_mask(full, left)
        before = matcher.tokens
        is_whole = filled(matcher, row, left, seconds)
        if is_whole is None:
            assert matcher.tokens == before
            matcher.fill_mask(row, left)
            is_whole = True
        assert bits(row), subject
        if is_whole:
            assert bits(row) == bits(full), (subject, place)
        else:
            assert bits(row) <= bits(full), (subject, place)
            whole = completed(matcher, row, left)
            assert bits(whole) == bits(full), (subject, place)
        for token in draw.sample(sorted(bits(full)), min(3, len(bits(full)))):
            assert matcher.fork().advance(token), (subject, place, token)
        token = draw.choice(sorted(bits(row)))
        assert matcher.advance(token)
        assert judge.advance(token)
        if token in stops:
            return
    if subject.budget is not None:
        assert matcher.is_accepting
        return
    rest = matcher.shortest_completion(60)
    assert matcher.advance_all(rest)
    assert matcher.is_accepting


def no_time(error: tk.LimitExceeded) -> None:
    assert error.limit == "deadline_seconds"


def filled(matcher: tk.Matcher, row: Any, budget: int | None, seconds: float) -> bool | None:
    """Whether the row is whole; ``None``: nothing was known in time, and the row is as it was."""
    row[:] = -7
    try:
        return matcher.fill_mask(row, budget, deadline_seconds=seconds, on_deadline="some")
    except tk.LimitExceeded as error:
        no_time(error)
        assert set(row.tolist()) == {-7}
        return None


def completed(matcher: tk.Matcher, row: Any, budget: int | None) -> Any:
    """The row of the same call, made again and again until it is whole, with some more time now and then."""
    again = np.array(row)
    for attempt in itertools.count():
        if filled(matcher, again, budget, 2e-4 * 2 ** (attempt // 50)):
            return again
    return again


@pytest.mark.parametrize("seed", range(6))
def test_canonical_tokens(seed: int) -> None:
    """Against the list of all canonical sequences."""
    draw = random.Random(seed)
    for case in cases(seed):
        if not case.sequences:
            continue
        compiled = case.constraint.compile(case.vocabulary, tokenization="canonical")
        row, stops = compiled.allocate_mask()[0], set(case.vocabulary.stop)
        places = sorted({sequence[:size] for sequence in case.sequences for size in range(len(sequence) + 1)})
        for place in draw.sample(places, min(len(places), 12)):
            rests = [one[len(place) :] for one in case.sequences if one[: len(place)] == place]
            budget = draw.choice([None, 2, 4])
            fits = {rest[0] for rest in rests if rest and len(rest) <= (budget or len(rest))}
            try:
                is_whole = at(compiled.matcher(), place).fill_mask(
                    row, budget, deadline_seconds=draw.choice(DEADLINES), on_deadline="some"
                )
            except (tk.LimitExceeded, tk.BudgetError):
                continue
            assert bits(row) or not fits
            assert bits(row) - stops <= fits, (place, budget)
            assert not is_whole or bits(row) - stops == fits, (place, budget)


def test_no_time_at_all() -> None:
    """A row that is not known is never whole; what is known already is."""
    matcher = tk.regex(r"([a-h]{4}|[a-d]{3}x){2,}").compile(vocabulary()).matcher()
    row = matcher.compiled.allocate_mask()[0]
    assert filled(matcher, row, None, 0) is not True
    # Only on_deadline="some" gives a row that is not whole, and such a row is not cached.
    with pytest.raises(tk.LimitExceeded):
        matcher.fill_mask(row, deadline_seconds=0)
    assert matcher.fill_mask(row) is True
    full = bits(row)
    assert filled(matcher, row, None, 0) is True
    assert bits(row) == full


def test_a_budget_that_is_too_small_is_an_error_still() -> None:
    matcher = tk.regex("[a-h]{30}-").compile(vocabulary()).matcher()
    row = matcher.compiled.allocate_mask()[0]
    with pytest.raises(tk.BudgetError):
        matcher.fill_mask(row, 2, deadline_seconds=60, on_deadline="some")


def test_batches() -> None:
    """Each row is told of; the rows of what was known are whole without any time."""
    known = tk.json_schema(NESTED).compile(vocabulary())
    other = tk.regex(r"([a-h]{4}|[a-d]{3}x){2,}").compile(known.vocabulary)
    rows = known.allocate_mask(3)
    full = bits(known.matcher().mask)
    matchers = [known.matcher(), other.matcher(), known.matcher()]
    try:
        whole = tk.fill_masks(matchers, rows, 1, deadline_seconds=0, on_deadline="some")
    except tk.LimitExceeded as error:
        no_time(error)
    else:
        assert whole.tolist() == [True, False, True]
        assert bits(rows[1]) < set(range(other.vocabulary.width))
    assert bits(rows[0]) == full
    whole = tk.fill_masks(matchers, rows, budgets=[None, 9, 30], deadline_seconds=60, on_deadline="some")
    assert whole.dtype == np.bool_
    assert whole.all()
    assert bits(rows[1]) == set(bits(row_within(other.matcher(), 9)))


def row_within(matcher: tk.Matcher, budget: int) -> Any:
    row = matcher.compiled.allocate_mask()[0]
    matcher.fill_mask(row, budget)
    return row


@pytest.mark.parametrize("seconds", [0.0, 5e-5, 60.0])
def test_drafts(seconds: float) -> None:
    """What is legal is; what was not judged in time is not, and its rows are empty."""
    compiled, judge = (tk.json_schema(NESTED).compile(vocabulary()) for _ in range(2))
    draft = [*b'{"name": "ab"}', STOPS[0], 5]
    rows, full = compiled.allocate_mask(len(draft) + 1), judge.allocate_mask(len(draft) + 1)
    expected = judge.matcher().fill_draft_masks(full, draft)
    matcher = compiled.matcher()
    try:
        legal, whole = matcher.fill_draft_masks(rows, draft, deadline_seconds=seconds, on_deadline="some")
    except tk.LimitExceeded as error:
        no_time(error)
        return
    assert not (legal & ~expected).any()
    for row, judged, is_whole in zip(rows, full, whole, strict=True):
        assert bits(row) == bits(judged) if is_whole else bits(row) <= bits(judged)
    for node, is_legal in enumerate(legal):
        assert bool(bits(rows[node + 1])) == is_legal
    if seconds == 60.0:
        assert whole.all()
        assert legal.tolist() == expected.tolist()
    lists, all_whole = tk.fill_draft_masks([matcher], rows, [draft], deadline_seconds=60, on_deadline="some")
    assert lists[0].tolist() == expected.tolist()
    assert all_whole.all()


@pytest.mark.parametrize("seconds", [0.0, 1e-4, 60.0])
@pytest.mark.parametrize("subject", SUBJECTS, ids=lambda subject: subject.name)
def test_completions_in_time(subject: Subject, seconds: float) -> None:
    matcher = subject.make().compile(vocabulary()).matcher(**subject.matcher)
    for token in b"ab":
        matcher.advance(token)
    try:
        found = matcher.shortest_completion(deadline_seconds=seconds)
    except tk.LimitExceeded as error:
        no_time(error)
        return
    assert matcher.fork().advance_all(found)
    best = len(matcher.shortest_completion())
    assert len(found) >= best
    if seconds == 60.0:
        assert len(found) == best
    assert matcher.advance_all(found)
    assert matcher.is_accepting


def test_what_may_be_passed() -> None:
    matcher = tk.regex("a").compile(vocabulary()).matcher()
    row = matcher.compiled.allocate_mask()
    for given in ("all", None, 1):
        with pytest.raises(tk.ArgumentError, match="on_deadline"):
            matcher.fill_mask(row[0], on_deadline=given)  # type: ignore[arg-type]
        with pytest.raises(tk.ArgumentError, match="on_deadline"):
            tk.fill_masks([matcher], row, on_deadline=given)  # type: ignore[arg-type]
        with pytest.raises(tk.ArgumentError, match="on_deadline"):
            matcher.fill_draft_masks(row, [], on_deadline=given)  # type: ignore[call-overload]
