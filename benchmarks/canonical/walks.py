"""Random walks through canonical masks: how long each mask and each token takes.

A token is drawn from each canonical mask, and the matcher that admits all tokenizations is led along the
same tokens, so that both are timed at the same places.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

import tokamata as tk
from benchmarks.common.timing import clock, quiet

UNIFORM, BY_FREQUENCY = "uniform", "by frequency"
KINDS = (UNIFORM, BY_FREQUENCY)
TOKENIZATIONS = ("canonical", "any")
LONGEST = 100
"""Tokens of a text, after which another begins."""
_TRIES = 32
_COMMON = 1000.0

Row = npt.NDArray[np.int32]
Make = Callable[[], tk.Constraint]


@dataclass
class Times:
    """Nanoseconds, as the clock gave them.

    Attributes:
        compiling: of ``compile``, with the tokenizer's tables at hand.
        first: from there to the first mask: ``matcher()`` and ``fill_mask``.
        masks: of ``fill_mask`` at all further places.
        advances: of ``advance``.
    """

    compiling: list[float] = field(default_factory=list)
    first: list[float] = field(default_factory=list)
    masks: list[float] = field(default_factory=list)
    advances: list[float] = field(default_factory=list)


@dataclass
class Walk:
    """Walks of one kind through one pattern, or through many.

    Attributes:
        pattern: what tables call it.
        kind: how tokens are drawn.
        times: by tokenization.
        lasts: the tokens that masks stood behind.
        constraints: how many were compiled; each had a first mask.
        texts: how many were begun.
        refused: what was said of patterns that are not taken, by pattern.
        wrong: tokens of a mask that were refused, and masks without any token.
    """

    pattern: str
    kind: str
    times: dict[str, Times] = field(default_factory=lambda: {name: Times() for name in TOKENIZATIONS})
    lasts: list[int] = field(default_factory=list)
    constraints: int = 0
    texts: int = 0
    refused: dict[str, str] = field(default_factory=dict)
    wrong: list[str] = field(default_factory=list)


class Draw:
    """Draws tokens of masks, stop tokens left out.

    By frequency is to prefer low ids: token ``t`` has the weight ``1 / (t + 1000)``, for in tokenizers of
    merges the ids follow the order in which pairs were found to be frequent.
    """

    def __init__(self, kind: str, vocabulary: tk.Vocabulary, seed: str) -> None:
        self._width = vocabulary.width
        self._stop = frozenset(vocabulary.stop)
        self._is_uniform = kind == UNIFORM
        self._rng = random.Random(seed)

    def __call__(self, row: Row) -> int | None:
        """A token of the mask; ``None`` where it has stop tokens alone, or none."""
        for _ in range(_TRIES):
            token = self._any()
            if row[token >> 5] >> (token & 31) & 1 and token not in self._stop:
                return token
        allowed = np.flatnonzero(np.unpackbits(row.view(np.uint8), bitorder="little"))
        allowed = allowed[~np.isin(allowed, list(self._stop))]
        if not allowed.size:
            return None
        if self._is_uniform:
            return int(allowed[self._rng.randrange(allowed.size)])
        reached = np.cumsum(1.0 / (allowed + _COMMON))
        place = np.searchsorted(reached, self._rng.random() * reached[-1])
        return int(allowed[min(place, allowed.size - 1)])

    def _any(self) -> int:
        """A token of the vocabulary."""
        if self._is_uniform:
            return self._rng.randrange(self._width)
        ratio = (self._width + _COMMON) / _COMMON
        return min(int(_COMMON * ratio ** self._rng.random() - _COMMON), self._width - 1)


def walk(
    name: str,
    kind: str,
    patterns: Sequence[tuple[str, Make]],
    steps: int,
    vocabulary: tk.Vocabulary,
    seed: int,
    step: Callable[[str], None] = lambda what: None,
) -> Walk:
    """Walks through each pattern in turn, on a constraint compiled for it, for so many steps.

    Args:
        name: what tables call the patterns.
        kind: how tokens are drawn; one of :data:`KINDS`.
        patterns: their texts, and what makes the constraint.
        steps: of each pattern, its first mask not counted.
        vocabulary: the vocabulary; its tables are made.
        seed: of what is drawn.
        step: told of each pattern that is done.
    """
    found = Walk(name, kind)
    draw = Draw(kind, vocabulary, f"{seed}:{name}:{kind}")
    rows = {
        tokenization: np.zeros((vocabulary.width + 31) // 32, dtype=np.int32)
        for tokenization in TOKENIZATIONS
    }
    with quiet():
        for pattern, make in patterns:
            try:
                _through(make(), steps, draw, rows, vocabulary, found)
            except tk.TokamataError as error:
                found.refused[pattern] = " ".join(str(error).split())[:300]
            step(f"{name}, {kind}")
    return found


def _through(
    constraint: tk.Constraint,
    steps: int,
    draw: Draw,
    rows: dict[str, Row],
    vocabulary: tk.Vocabulary,
    found: Walk,
) -> None:
    """One constraint: its first mask, and the steps after it, in texts of at most :data:`LONGEST` tokens."""
    compiled = {}
    matchers = {}
    for name in TOKENIZATIONS[:: 1 - 2 * (found.constraints % 2)]:
        start = clock()
        is_any = name == "any"  # texts begin where the tokenizer's do
        compiled[name] = constraint.compile(vocabulary, tokenization=name, start_of_text=is_any)  # type: ignore[arg-type]
        middle = clock()
        matchers[name] = compiled[name].matcher()
        matchers[name].fill_mask(rows[name])
        found.times[name].first.append(clock() - middle)
        found.times[name].compiling.append(middle - start)
    inner = constraint.compile(vocabulary)
    unseen = {token for token, text in enumerate(vocabulary.start_tokens() or ()) if text == b""}
    found.constraints += 1
    found.texts += 1
    length = 0
    for number in range(steps):
        token = draw(rows["canonical"]) if length < LONGEST else None
        order = TOKENIZATIONS if number % 2 else TOKENIZATIONS[::-1]
        if token is None:
            if not rows["canonical"].any():
                found.wrong.append(f"a dead end: {matchers['canonical']!r}")
            matchers = {name: compiled[name].matcher() for name in TOKENIZATIONS}
            found.texts += 1
            length = 0
        else:
            length += 1
            found.lasts.append(token)
            _advance(matchers, order, token, unseen, found)
            if length == 1 and not matchers["any"].tokens and token in unseen:
                # The decoder drops all of it.  What follows stands in mid-text.
                matchers["any"] = inner.matcher()
        for name in order:
            fill, row, times = matchers[name].fill_mask, rows[name], found.times[name].masks
            start = clock()
            fill(row)
            times.append(float(clock() - start))


def _advance(
    matchers: dict[str, tk.Matcher], order: Sequence[str], token: int, unseen: set[int], found: Walk
) -> None:
    for name in order:
        advance, times = matchers[name].advance, found.times[name].advances
        start = clock()
        taken = advance(token)
        times.append(float(clock() - start))
        if taken is not True and (name == "canonical" or matchers[name].tokens or token not in unseen):
            found.wrong.append(f"in the mask, and refused by {name!r}: {token} after {matchers[name].tokens}")
