"""Masks and steps of tokamata in states seen before, timed in loops of hundreds of calls."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import repeat

import numpy as np

import tokamata as tk
from benchmarks.common.patterns import PAPER
from benchmarks.common.timing import time_loops

_CALLS = 500
COPY, FILL, VIEW = "np.copyto(row, source)", "m.fill_mask(row)", "m.mask"
FILL_STEP, VIEW_STEP = "m.fill_mask(row) + m.advance", "m.mask + m.advance"


def seen_masks(vocabulary: tk.Vocabulary, runs: int) -> dict[str, list[float]]:
    """A bare copy of a row, ``fill_mask`` and ``m.mask`` in a state seen before; per call.

    What is called is looked up outside of the loop, except ``m.mask``, which is a property.
    """
    compiled = tk.regex(PAPER[1].pattern).compile(vocabulary)
    matcher = compiled.matcher()
    mask = compiled.allocate_mask()
    row, source = mask[0], np.array(matcher.mask)
    copyto, fill = np.copyto, matcher.fill_mask

    def copy() -> None:
        for _ in repeat(None, _CALLS):
            copyto(row, source)

    def assign() -> None:
        for _ in repeat(None, _CALLS):
            row[:] = source

    def fill_mask() -> None:
        for _ in repeat(None, _CALLS):
            fill(row)

    def view() -> None:
        for _ in repeat(None, _CALLS):
            matcher.mask  # noqa: B018  # reading it is what is measured

    def empty() -> None:
        for _ in repeat(None, _CALLS):
            pass

    loops: dict[str, Callable[[], None]] = {
        COPY: copy,
        "row[:] = source": assign,
        FILL: fill_mask,
        VIEW: view,
    }
    return time_loops(loops, empty, _CALLS, runs)


def time_steps(
    compiled: tk.CompiledConstraint[object], texts: Sequence[Sequence[int]], passes: int, runs: int
) -> dict[str, list[float]]:
    """Walks of texts, ``passes`` times each in a run; per step, without making the matchers.

    Returns:
        By what is called, ``m.fill_mask(row) + m.advance`` and ``m.mask + m.advance``.
    """
    row = compiled.allocate_mask()[0]
    walks: list[tuple[tk.Matcher, Sequence[int]]] = []

    def prepare() -> None:
        walks[:] = [(compiled.matcher(), tokens) for _ in range(passes) for tokens in texts]

    def fill_and_advance() -> None:
        for matcher, tokens in walks:
            fill, advance = matcher.fill_mask, matcher.advance
            for token in tokens:
                fill(row)
                advance(token)

    def view_and_advance() -> None:
        for matcher, tokens in walks:
            advance = matcher.advance
            for token in tokens:
                matcher.mask  # noqa: B018  # reading it is what is measured
                advance(token)

    def empty() -> None:
        for matcher, tokens in walks:
            advance = matcher.advance  # noqa: F841  # as in the others
            for _ in tokens:
                pass

    steps = passes * sum(map(len, texts))
    loops: dict[str, Callable[[], None]] = {FILL_STEP: fill_and_advance, VIEW_STEP: view_and_advance}
    return time_loops(loops, empty, steps, runs, prepare)
