"""Drafts, runs, forks and stop tokens of a matcher: small cases that can be read.

``fuzz/fuzz_drafts.py`` holds all of it against fork and advance at random.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tokamata as tk
from tests.support.masks import allowed, bits
from tests.support.vocabularies import BYTES, bytes_and

VOCABULARY = bytes_and(b"12")
STOP = 257
NUMBER = tk.regex("[0-9]{2}").compile(VOCABULARY)
DIGITS = set(b"0123456789")


def rows_of(matcher: tk.Matcher, count: int) -> np.ndarray:
    return np.full((count, len(matcher.mask)), -1, dtype=np.int32)


def test_rows_after_a_token_that_is_not_legal_allow_nothing() -> None:
    """xgrammar#613: rows of rejected drafts were left open."""
    matcher = NUMBER.matcher()
    mask = rows_of(matcher, 5)
    assert matcher.fill_draft_masks(mask, b"1x2").tolist() == [True, False, False]
    assert [bits(row) for row in mask[:4]] == [DIGITS | {256}, DIGITS, set(), set()]
    assert (mask[4] == -1).all()
    assert matcher.tokens == []


def test_a_tree_of_drafts() -> None:
    matcher = NUMBER.matcher()
    mask = rows_of(matcher, 6)
    legal = matcher.fill_draft_masks(mask, [*b"12", 256, STOP, ord("3")], parents=[-1, 0, -1, 2, 1])
    assert legal.tolist() == [True, True, True, True, False]
    assert [bits(row) for row in mask] == [DIGITS | {256}, DIGITS, {STOP}, {STOP}, {STOP}, set()]


def test_stop_tokens_within_a_draft() -> None:
    matcher = NUMBER.matcher()
    assert matcher.validate([STOP]) == 0
    assert matcher.validate([256, STOP, STOP]) == 3
    assert matcher.validate([256, STOP, *b"1"]) == 2


@pytest.mark.parametrize("token", [-1, 258, 10**6, 1 << 40, -(1 << 70)])
def test_ids_that_do_not_exist_end_a_draft(token: int) -> None:
    """vllm#52461: placeholders of -1 stand among the tokens."""
    matcher = NUMBER.matcher()
    assert matcher.validate([*b"1", token, *b"2"]) == 1
    mask = rows_of(matcher, 4)
    assert matcher.fill_draft_masks(mask, [*b"1", token, *b"2"]).tolist() == [True, False, False]
    assert bits(mask[2]) == bits(mask[3]) == set()


def test_budgets_of_rows() -> None:
    matcher = tk.regex("[0-9]{2}(12)*").compile(VOCABULARY).matcher()
    mask = rows_of(matcher, 3)
    assert matcher.fill_draft_masks(mask, b"12", budget=2).tolist() == [True, True]
    assert [bits(row) for row in mask] == [DIGITS | {256}, DIGITS, {STOP}]
    assert matcher.fill_draft_masks(mask, b"12", budget=1).tolist() == [False, False]
    assert [bits(row) for row in mask] == [{256}, set(), set()]
    assert matcher.fill_draft_masks(mask, b"12", budget=2, count_stop=True).tolist() == [False, False]
    with pytest.raises(tk.BudgetError):
        matcher.fill_draft_masks(mask, b"12", budget=0)


def test_a_run_is_taken_whole_or_not_at_all() -> None:
    """xgrammar#164: what was refused left half of itself behind."""
    matcher = NUMBER.matcher()
    assert not matcher.advance_all(b"1x")
    assert matcher.tokens == []
    assert allowed(matcher) == DIGITS | {256}
    assert matcher.advance_all([])
    assert matcher.advance_all([256, STOP])
    assert not matcher.advance_all([STOP, *b"1"])
    assert matcher.tokens == [256, STOP]
    with pytest.raises(tk.TokenIdError):
        matcher.advance_all([STOP, 300])
    matcher.rollback(2)
    assert allowed(matcher) == DIGITS | {256}


def test_a_finished_matcher_has_a_mask() -> None:
    """sglang#15050: a request for the mask of a finished matcher ended the server."""
    matcher = NUMBER.matcher()
    assert matcher.advance_all([256, STOP])
    assert matcher.is_finished
    assert allowed(matcher) == {STOP}
    row = matcher.compiled.allocate_mask()[0]
    matcher.fill_mask(row, budget=1)
    assert bits(row) == {STOP}
    matcher.rollback(1)
    assert allowed(matcher) == {STOP}
    matcher.rollback(1)
    assert allowed(matcher) == DIGITS | {256}


def test_batches_of_drafts() -> None:
    compiled = [NUMBER, tk.regex("a*").compile(VOCABULARY)]
    matchers = [compiled[i % 2].matcher() for i in range(9)]
    drafts = [b"12" if i % 2 == 0 else b"aab"[: i % 4] for i in range(9)]
    parents = [[-1, -1] if i == 4 else None for i in range(9)]
    mask = rows_of(matchers[0], sum(len(draft) + 1 for draft in drafts) + 1)
    legal = tk.fill_draft_masks(matchers, mask, drafts, parents, threads=3)
    at = 0
    for matcher, draft, tree, found in zip(matchers, drafts, parents, legal, strict=True):
        own = rows_of(matcher, len(draft) + 1)
        assert matcher.fill_draft_masks(own, draft, tree).tolist() == found.tolist()
        assert (mask[at : at + len(own)] == own).all()
        at += len(own)
    assert (mask[at:] == -1).all()
    assert tk.fill_draft_masks([], mask, []) == []


def test_one_matcher_of_a_batch_that_fails_spoils_no_other() -> None:
    slow = tk.regex("(?:.*a.{14}){2}").compile(VOCABULARY, limits=tk.Limits(states=3))
    mask = rows_of(NUMBER.matcher(), 4)
    with pytest.raises(tk.LimitExceeded):
        tk.fill_draft_masks([slow.matcher(), NUMBER.matcher()], mask, [b"a", b"1"], threads=2)
    assert (mask[:2] == -1).all()
    assert [bits(row) for row in mask[2:]] == [DIGITS | {256}, DIGITS]


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"tokens": "12"}, tk.ArgumentError),
        ({"tokens": 5}, tk.ArgumentError),
        ({"tokens": [1.5]}, tk.ArgumentError),
        ({"tokens": b"12", "parents": [-1]}, tk.ArgumentError),
        ({"tokens": b"12", "parents": [-1, 1]}, tk.ArgumentError),
        ({"tokens": b"12", "parents": [-2, 0]}, tk.ArgumentError),
        ({"tokens": b"12", "budget": "x"}, tk.ArgumentError),
        ({"tokens": b"12", "count_stop": 1}, tk.ArgumentError),
        ({"tokens": b"123456"}, tk.MaskError),
    ],
)
def test_arguments_that_do_not_fit(arguments: dict[str, Any], error: type[tk.TokamataError]) -> None:
    matcher = NUMBER.matcher()
    mask = rows_of(matcher, 3)
    with pytest.raises(error):
        matcher.fill_draft_masks(mask, **arguments)
    assert (mask == -1).all()


# ---- stop tokens of one matcher ------------------------------------------------------------------

CONTROLS = {"<end>": 256, "<stop>": 257, "<call>": 258}
NAMED = tk.Vocabulary.load([*BYTES, None, None, None], stop="<end>", control_tokens=CONTROLS)


def test_stop_tokens_of_one_matcher() -> None:
    compiled = tk.regex("ab?").compile(NAMED)
    plain, own, none = compiled.matcher(), compiled.matcher(stop=[257]), compiled.matcher(stop=[])
    for matcher in (plain, own, none):
        assert matcher.advance(ord("a"))
    assert allowed(plain) == {ord("b"), 256}
    assert allowed(own) == {ord("b"), 257}
    assert allowed(none) == {ord("b")}
    assert not own.advance(256)
    assert own.explain(257).allowed
    assert own.fork().advance(257)
    assert none.advance(ord("b"))
    assert allowed(none) == set()
    assert none.is_finished
    mask = rows_of(own, 3)
    assert own.fill_draft_masks(mask, [257, 257]).tolist() == [True, True]
    assert [bits(row) for row in mask] == [{ord("b"), 257}, {257}, {257}]
    own.fill_mask(mask[0], budget=1)
    assert bits(mask[0]) == {ord("b"), 257}


def test_stop_tokens_that_are_text_or_named_are_refused() -> None:
    compiled = (tk.regex("a") + tk.control_token("<call>")).compile(NAMED)
    for stop, what in (([ord("a")], "'a'"), ([258], "<call>"), ([999], "999"), ("<end>", "'<end>'")):
        with pytest.raises((tk.ArgumentError, tk.TokenIdError), match=what):
            compiled.matcher(stop=stop)


def test_masks_of_own_stops_are_not_those_of_another() -> None:
    """The views of masks are kept by number; a mask with own stop tokens has none."""
    compiled = tk.regex("a*").compile(NAMED)
    own, plain, other = compiled.matcher(stop=[257]), compiled.matcher(), compiled.matcher(stop=[257, 258])
    for _ in range(3):
        assert allowed(own) == {ord("a"), 257}
        assert allowed(plain) == {ord("a"), 256}
        assert allowed(other) == {ord("a"), 257, 258}


# ---- forks -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("length", [1, 31, 32, 33, 64, 1000])
def test_forks_share_nothing_that_can_be_seen(length: int) -> None:
    matcher = tk.regex("[ab]*").compile(VOCABULARY).matcher()
    assert matcher.advance_all(b"a" * length)
    forks = [matcher.fork() for _ in range(3)]
    assert matcher.advance_all(b"b" * 40)
    forks[0].rollback(length)
    assert forks[0].advance_all(b"bb")
    forks[1].rollback(length // 2)
    grown = forks[1].fork()
    assert grown.advance_all(b"ba")
    assert matcher.text == b"a" * length + b"b" * 40
    assert [fork.text for fork in forks] == [b"bb", b"a" * (length - length // 2), b"a" * length]
    assert grown.text == b"a" * (length - length // 2) + b"ba"


def resident_bytes() -> int:
    """The memory of this process now."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except OSError:
        pytest.skip("this system has no /proc")
    return pages * os.sysconf("SC_PAGE_SIZE")


def test_forks_take_memory_once() -> None:
    """A copy of the tokens for each fork would take 1.6 GB."""
    matcher = tk.regex("a*").compile(VOCABULARY).matcher()
    assert matcher.advance_all(b"a" * 20_000)
    before = resident_bytes()
    forks = [matcher.fork() for _ in range(10_000)]
    assert all(fork.advance(ord("a")) for fork in forks)
    assert resident_bytes() - before < 200_000_000


def test_a_long_text_goes_away() -> None:
    """One block of steps after another: the destructors of a text of a million tokens do not nest."""
    matcher = tk.regex("a*").compile(VOCABULARY).matcher()
    for _ in range(20):
        assert matcher.advance_all(b"a" * 100_000)
    other = matcher.fork()
    del matcher
    assert other.advance(ord("a"))
    del other


def test_states_of_forks_survive_a_collection() -> None:
    """A collection renumbers the states of all texts, those that forks share once."""
    compiled = tk.regex("(?:[ab]{3}c)*(?:[ab]*a[ab]{6})?").compile(VOCABULARY, limits=tk.Limits(states=60))
    matcher = compiled.matcher()
    assert matcher.advance_all(b"abac")
    forks = [matcher.fork() for _ in range(4)]
    before = allowed(matcher)
    for number in range(64):  # more states than there may be: they are freed in between
        one = matcher.fork()
        one.advance_all(format(number, "06b").replace("0", "a").replace("1", "b").encode())
    assert all(allowed(fork) == before for fork in forks)
    assert all(fork.advance_all(b"bbbc") and fork.text == b"abacbbbc" for fork in forks)


def test_threads_that_fork_and_end() -> None:
    compiled = tk.json().compile(VOCABULARY)
    matcher = compiled.matcher()
    assert matcher.advance_all(b'{"a": [1, 2')

    def grow(number: int) -> bytes:
        fork = matcher.fork()
        for _ in range(50):
            fork = fork.fork()
            assert fork.advance_all(b", " + str(number % 10).encode())
        return fork.text

    with ThreadPoolExecutor(8) as threads:
        texts = list(threads.map(grow, range(40)))
    assert texts == [b'{"a": [1, 2' + (b", " + str(n % 10).encode()) * 50 for n in range(40)]
    assert matcher.text == b'{"a": [1, 2'
