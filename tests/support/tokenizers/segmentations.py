"""All segmentations of a small text by a Unigram model, by definition: the judge of lattices.

It takes every piece at every position, one after the other, and sums as the hosts do, but shares no code with
the lattice.
"""

from __future__ import annotations

import functools
import random
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from tests.support.tokenizers.unigram_models import (
    Judged,
    random_hugging_face,
    random_sentence_piece,
    random_text,
)
from tokamata.tokenization.lattice import Host, UnigramModel


class Piece(NamedTuple):
    start: int
    end: int
    token: int
    score: float


Way = tuple[Piece, ...]


def pieces_at(model: UnigramModel, text: str, start: int) -> Iterator[Piece]:
    """The pieces that begin at a position, unknown characters too."""
    is_known = False
    for end in range(start + 1, len(text) + 1):
        token = model.ids.get(text[start:end])
        if token is not None:
            is_known |= end == start + 1
            yield Piece(start, end, token, float(model.scores[token]))
    if not is_known:
        yield Piece(start, start + 1, model.unknown, model.unknown_score)


def all_ways(model: UnigramModel, text: str) -> list[Way]:
    """Every segmentation of a text."""
    ways: list[list[Way]] = [[] for _ in range(len(text) + 1)]
    ways[0].append(())
    for start in range(len(text)):
        for piece in pieces_at(model, text, start):
            ways[piece.end] += [(*way, piece) for way in ways[start]]
    return ways[-1]


def host_sum(model: UnigramModel, way: Sequence[Piece]) -> float:
    """The host's sum of a way whose sums stay small."""
    if model.host is Host.HUGGING_FACE:
        return sum((piece.score for piece in way), 0.0)
    total = np.float32(0)
    for piece in way:
        total = np.float32(total + np.float32(piece.score))
    return float(total)


def in_host_order(model: UnigramModel, ways: list[Way]) -> list[Way]:
    """By the host's sum, then the longer last piece, and so on to the left."""

    def compared(first: Way, second: Way) -> int:
        for last in range(len(first)):
            mine, theirs = first[: len(first) - last], second[: len(second) - last]
            sums = host_sum(model, mine), host_sum(model, theirs)
            if sums[0] != sums[1]:
                return 1 if sums[0] < sums[1] else -1
            if mine[-1].start != theirs[-1].start:
                return mine[-1].start - theirs[-1].start
        return 0

    return sorted(ways, key=functools.cmp_to_key(compared))


def lexicographic(ways: list[Way]) -> list[Way]:
    """By the exact sum, then by the sequence of tokens."""
    return sorted(
        ways,
        key=lambda way: (-sum(Fraction(piece.score) for piece in way), [(p.token, p.end) for p in way]),
    )


def probabilities(ways: list[Way], alpha: float) -> np.ndarray:
    """``float64[ways]``: proportional to exp(alpha · score)."""
    logs = np.array([alpha * float(sum(Fraction(piece.score) for piece in way)) for way in ways])
    weights = np.exp(logs - logs.max())
    return weights / weights.sum()


def cases(count: int, seed: int, longest: int = 11) -> Iterator[tuple[Judged, str, list[Way]]]:
    """Random models of both hosts, with small texts and all their segmentations, at least three each."""
    draw = random.Random(seed)
    found = 0
    while found < count:
        judged = (random_hugging_face, random_sentence_piece)[found % 2](draw)
        for _ in range(3):
            text = random_text(draw, judged, longest)
            ways = all_ways(judged.model, text)
            if 3 <= len(ways) <= 200 and max(abs(piece.score) for way in ways for piece in way) < 10_000:
                found += 1
                yield judged, text, ways
