"""Walks along texts, and the digest of all that a matcher says on its way."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

import tokamata as tk

__all__ = ["Walk", "digest"]

_MOST_TOKENS = 400  # of a text
_BUDGETS = (0, 1, 7)  # beyond the shortest completion
_DRAFT = 6
_LIMITS = tk.Limits(seconds=600.0)  # so that no answer depends on the machine


@dataclass(frozen=True)
class Walk:
    """How a text is walked along.

    Attributes:
        tokenization: of the masks.
        every: at each of so many steps all else than the mask is asked as well; 0: nowhere.
    """

    tokenization: Literal["any", "canonical"] = "any"
    every: int = 25


def digest(
    make: Callable[[], tk.Constraint[Any]], texts: list[list[int]], walk: Walk, vocabulary: tk.Vocabulary
) -> str:
    """The digest of all answers along some texts, as 16 hexadecimal digits."""
    all_of_it = hashlib.sha256()
    try:
        compiled = make().compile(vocabulary, tokenization=walk.tokenization, limits=_LIMITS)
    except tk.TokamataError as error:
        return hashlib.sha256(_error(error)).hexdigest()[:16]
    for tokens in texts:
        for part in _answers(compiled, tokens[:_MOST_TOKENS], walk):
            all_of_it.update(part)
    return all_of_it.hexdigest()[:16]


def _error(error: tk.TokamataError) -> bytes:
    return f"{type(error).__name__}: {error}".encode()


def _answers(compiled: tk.CompiledConstraint[Any], tokens: list[int], walk: Walk) -> Iterator[bytes]:
    matcher = compiled.matcher()
    for step in range(len(tokens) + 1):
        try:
            yield matcher.mask.tobytes()
            yield bytes([matcher.is_accepting, matcher.is_finished])
            if walk.every and step % walk.every == 0:
                yield from _all_answers(matcher, tokens[step : step + _DRAFT])
            if step == len(tokens) or not matcher.advance(tokens[step]):
                return
        except tk.TokamataError as error:
            yield _error(error)
            return


def _all_answers(matcher: tk.Matcher, draft: list[int]) -> Iterator[bytes]:
    shortest = matcher.shortest_completion()
    yield repr(shortest).encode() + matcher.forced_text() + repr(matcher.forced_tokens()).encode()
    row = matcher.compiled.allocate_mask()[0]
    for more in _BUDGETS:
        if budget := len(shortest) + more:
            matcher.fill_mask(row, budget)
            yield row.tobytes()
    rows = matcher.compiled.allocate_mask(len(draft) + 1)
    yield matcher.fill_draft_masks(rows, draft).tobytes() + rows.tobytes()
    draft_budget = len(shortest) + 3
    yield matcher.fill_draft_masks(rows, draft, budget=draft_budget).tobytes() + rows.tobytes()
    refused = np.flatnonzero(np.unpackbits(~row.view(np.uint8), bitorder="little"))
    for token in refused[:: max(1, len(refused) // 5)]:
        if token < matcher.compiled.vocabulary.width:
            yield repr(matcher.explain(int(token))).encode()
