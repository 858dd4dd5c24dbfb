"""Families of patterns that grow: by their size, by the bound of a repetition."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import tokamata as tk

SEED = 0
_LETTERS = "abcdefghijklmnopqrstuvwxyz"


@dataclass(frozen=True)
class Family:
    """Patterns with one number in them.

    Attributes:
        name: what tables and plots call it.
        prepare: for a number, what makes the constraint; its text is made before, so that it is not timed.
        text: a beginning of an accepted text for a number, which is followed.
        sizes: the numbers.
    """

    name: str
    prepare: Callable[[int], Callable[[], tk.Constraint]]
    text: Callable[[int], str]
    sizes: tuple[int, ...]


def words(count: int) -> list[str]:
    """Different random words of 4 to 12 letters, the same for the same count."""
    rng = random.Random(SEED)
    found: dict[str, None] = {}
    while len(found) < count:
        found["".join(rng.choices(_LETTERS, k=rng.randint(4, 12)))] = None
    return list(found)


def _fields(count: int) -> str:
    """Parts that are all different, one after another."""
    return ";".join(f"{word}=[0-9]{{1,{2 + i % 7}}}" for i, word in enumerate(words(count)))


def _fields_text(count: int) -> str:
    return ";".join(f"{word}=42" for word in words(min(count, 20)))


def _letters(count: int) -> str:
    return ("thequickbrownfoxjumpsoverthelazydog" * 6)[:count]


def _a_and_b(count: int) -> str:
    return ("aab" * 60)[:count]


_TO_10_000 = (1, 10, 100, 1_000, 10_000)
_BOUNDS = (4, 16, 64, 256, 1_024, 4_096, 16_384, 65_536, 262_144)


def _regex(pattern: str) -> Callable[[], tk.Constraint]:
    return partial(tk.regex, pattern)


PATTERN_SIZES = (
    Family(
        "alternation of n words", lambda n: _regex("|".join(words(n))), lambda n: words(n)[-1], _TO_10_000
    ),
    Family(
        "choice of n strings",
        lambda n: partial(tk.choice, words(n)),
        lambda n: words(n)[-1],
        (*_TO_10_000, 100_000),
    ),
    Family("n different fields in a row", lambda n: _regex(_fields(n)), _fields_text, _TO_10_000),
)

BOUNDS = (
    Family("[a-z]{0,n}", lambda n: _regex(f"[a-z]{{0,{n}}}"), _letters, _BOUNDS),
    Family("[a-z]{n}", lambda n: _regex(f"[a-z]{{{n}}}"), _letters, _BOUNDS),
    Family("(a{0,n}b?){0,n}", lambda n: _regex(f"(a{{0,{n}}}b?){{0,{n}}}"), _a_and_b, _BOUNDS),
    Family(".*a.{n}", lambda n: _regex(f".*a.{{{n}}}"), lambda n: "the cat sat on a mat " * 6, _BOUNDS),
)


def unlike(number: int) -> tk.Constraint:
    """Constraints of which no two share a state: for batches of matchers."""
    return tk.regex(rf'\{{"id": {number}, "name": "[^"]{{1,{20 + number}}}", "tag": "[a-z_]+{number}"\}}')


UNLIKE_PREFIX = '{{"id": {number}, "name": "ab'
"""How a text of :func:`unlike` begins, up to a state in which most tokens are allowed."""
