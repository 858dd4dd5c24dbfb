"""Calls that are given a time: they end with an error, lose nothing, and go on when they are called again."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import tokamata as tk
from tests.support.masks import bits
from tests.support.vocabularies import BYTES

PATTERN = r"(?:[ab]*a[ab]{900})|x"
STOP = len(BYTES)


@pytest.fixture(scope="module")
def vocabulary() -> tk.Vocabulary:
    return tk.Vocabulary.load([*BYTES, None], stop=[STOP])


def row_of(compiled: tk.CompiledConstraint[object]) -> np.ndarray:
    row: np.ndarray = compiled.allocate_mask()[0]
    row[:] = -7
    return row


@pytest.mark.parametrize("budget", [None, 1000])
def test_no_time_left(vocabulary: tk.Vocabulary, budget: int | None) -> None:
    compiled = tk.regex(PATTERN).compile(vocabulary)
    matcher, row = compiled.matcher(), row_of(compiled)
    with pytest.raises(tk.LimitExceeded, match="call it again") as caught:
        matcher.fill_mask(row, budget=budget, deadline_seconds=0)
    assert caught.value.limit == "deadline_seconds"
    assert caught.value.bound == 0
    assert set(row.tolist()) == {-7}
    matcher.fill_mask(row, budget=budget, deadline_seconds=60)
    assert bits(row) == {*b"abx"}
    assert matcher.advance(ord("a"))


def test_a_known_mask_always_comes(vocabulary: tk.Vocabulary) -> None:
    compiled = tk.regex(PATTERN).compile(vocabulary)
    matcher, row = compiled.matcher(), row_of(compiled)
    matcher.fill_mask(row)
    row[:] = -7
    matcher.fill_mask(row, deadline_seconds=0)
    assert bits(row) == {*b"abx"}
    tk.fill_masks([matcher], row[None], deadline_seconds=0)


def test_batches_and_drafts(vocabulary: tk.Vocabulary) -> None:
    """Rows of what was not made in time are unchanged."""
    known, unknown = (tk.regex(PATTERN).compile(vocabulary) for _ in range(2))
    known.matcher().fill_mask(row_of(known))
    rows = known.allocate_mask(2)
    rows[:] = -7
    with pytest.raises(tk.LimitExceeded):
        tk.fill_masks([known.matcher(), unknown.matcher()], rows, deadline_seconds=0)
    assert bits(rows[0]) == {*b"abx"}
    assert set(rows[1].tolist()) == {-7}
    matcher = unknown.matcher()
    with pytest.raises(tk.LimitExceeded):
        matcher.fill_draft_masks(rows, [ord("x")], deadline_seconds=0)
    assert set(rows[1].tolist()) == {-7}
    assert matcher.fill_draft_masks(rows, [ord("x")], deadline_seconds=60).tolist() == [True]
    assert [bits(row) for row in rows] == [{*b"abx"}, {STOP}]


def test_while_another_thread_works(vocabulary: tk.Vocabulary) -> None:
    """The deadline holds for a call that waits for the constraint."""
    cancel = tk.CancelToken()

    compiled = tk.regex(PATTERN).compile(
        vocabulary, cancel=cancel, limits=tk.Limits(states=1 << 40, seconds=600)
    )
    matcher = compiled.matcher()
    begun = threading.Event()

    def work() -> None:
        begun.set()
        with pytest.raises((tk.Cancelled, tk.LimitExceeded)):
            compiled.token_automaton()  # 2 ** 900 states

    def ask() -> None:
        while thread.is_alive():  # at first the thread may not hold the lock yet
            matcher.fill_mask(row_of(compiled), deadline_seconds=0.01)

    thread = threading.Thread(target=work)
    thread.start()
    begun.wait()
    try:
        with pytest.raises(tk.LimitExceeded, match="deadline_seconds"):
            ask()
    finally:
        cancel.cancel()
        thread.join()


@pytest.mark.parametrize("wrong", ["1", -1, float("nan"), True])
def test_arguments(vocabulary: tk.Vocabulary, wrong: object) -> None:
    compiled = tk.regex(PATTERN).compile(vocabulary)
    matcher, rows = compiled.matcher(), compiled.allocate_mask(2)
    with pytest.raises(tk.ArgumentError, match="deadline_seconds"):
        matcher.fill_mask(rows[0], deadline_seconds=wrong)  # type: ignore[arg-type]
    with pytest.raises(tk.ArgumentError, match="deadline_seconds"):
        tk.fill_masks([matcher], rows, deadline_seconds=wrong)  # type: ignore[arg-type]
    with pytest.raises(tk.ArgumentError, match="deadline_seconds"):
        matcher.fill_draft_masks(rows, [1], deadline_seconds=wrong)  # type: ignore[arg-type]
    matcher.fill_mask(rows[0], deadline_seconds=float("inf"))
    matcher.fill_mask(rows[0], deadline_seconds=1e300)
