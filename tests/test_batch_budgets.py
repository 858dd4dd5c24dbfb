"""Masks of a batch within budgets are those that each matcher writes by itself."""

from __future__ import annotations

import numpy as np
import pytest

import tokamata as tk
from tests.support.masks import bits

PATTERNS = ["[a-c]*x", "a{3}|b+", "(?:ab|ba)*ab", "[a-z]{5,50}"]
BUDGETS = [None, 1, 2, 3, 7, 100, 1 << 70]


def test_rows_are_the_masks_of_each(byte_vocabulary: tk.Vocabulary) -> None:
    def made() -> list[tuple[tk.Matcher, int | None]]:
        """Newly compiled, so that no mask is known."""
        compiled = [tk.regex(pattern).compile(byte_vocabulary) for pattern in PATTERNS]
        needed = [len(each.matcher().shortest_completion()) for each in compiled]
        return [
            (each.matcher(), budget)
            for each, least in zip(compiled, needed, strict=True)
            for budget in BUDGETS
            if budget is None or budget >= least
        ]

    for threads in (1, 4):
        matchers, budgets = zip(*made(), strict=True)
        mask = matchers[0].compiled.allocate_mask(len(matchers))
        tk.fill_masks(matchers, mask, threads, budgets)
        again = mask.copy()
        tk.fill_masks(matchers, again, threads, budgets)  # all known now
        np.testing.assert_array_equal(mask, again)
        for row, (matcher, budget) in zip(mask, made(), strict=True):
            expected = matcher.compiled.allocate_mask()[0]
            matcher.fill_mask(expected, budget)
            assert bits(row) == bits(expected)


def test_a_budget_that_is_too_small_leaves_its_row_and_no_other(byte_vocabulary: tk.Vocabulary) -> None:
    compiled = tk.regex("[0-9]{5}").compile(byte_vocabulary)
    matchers = [compiled.matcher() for _ in range(4)]
    mask = np.full_like(compiled.allocate_mask(4), 7)
    with pytest.raises(tk.BudgetError) as caught:
        tk.fill_masks(matchers, mask, 2, [2, 1, None, 9])
    assert (caught.value.budget, caught.value.needed) == (1, 2)
    assert (mask[1] == 7).all()
    for row, budget in ((0, 2), (2, None), (3, 9)):
        expected = compiled.allocate_mask()[0]
        matchers[row].fill_mask(expected, budget)
        assert bits(mask[row]) == bits(expected)


def test_wrong_budgets_are_refused_and_nothing_is_written(byte_vocabulary: tk.Vocabulary) -> None:
    compiled = tk.regex("[ab]+").compile(byte_vocabulary)
    mask = compiled.allocate_mask(2)
    matchers = [compiled.matcher(), compiled.matcher()]
    for budgets, error in (
        ([1], tk.ArgumentError),
        ([1, 2, 3], tk.ArgumentError),
        (5, tk.ArgumentError),
        ([1, "2"], tk.ArgumentError),
        ([1, 0], tk.BudgetError),
        ([None, -1], tk.BudgetError),
    ):
        with pytest.raises(error):
            tk.fill_masks(matchers, mask, budgets=budgets)  # type: ignore[arg-type]
        assert not mask.any()
