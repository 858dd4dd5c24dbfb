"""Random patterns full of lookaround, each with its meaning: a judge that follows the definition.

``re`` refuses a lookbehind of varying length, and ``regex`` has its own idea of some character classes.
Here each pattern carries its meaning: the set of positions at which it can end if it begins at ``i``.  A
lookbehind holds at ``i`` if its part can begin somewhere and end at ``i``.

    (?<=b*a)b+   on "ab", from 1:  {2}, since "a" lies before 1

Each set costs at most the square of the text's length, so texts are short.  Rejected: a backtracking judge,
which takes exponential time on nested repetitions.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from functools import cache

ALPHABETS = ["ab", "ab", "abc", "a \n", "aé漢", "a-é"]
ZERO_WIDTH = ["^", "$", r"\A", r"\Z", r"\b", r"\B", "(?m:^)", "(?m:$)"]
COUNTS: list[tuple[int, int | None, str]] = [
    (0, None, "*"), (1, None, "+"), (0, 1, "?"), (2, 2, "{2}"), (1, 3, "{1,3}"), (0, 2, "{0,2}"),
    (2, None, "{2,}"), (0, 40, "{0,40}"),
]  # fmt: skip
DEPTH = 4

Ends = Callable[[str, int], frozenset[int]]


class Pattern:
    """A pattern and its meaning.

    Attributes:
        written: the regular expression.
        ends: where a part that begins at a position of a text can end.
    """

    def __init__(self, written: str, ends: Ends) -> None:
        self.written = written
        self.ends = cache(ends)

    def matches(self, text: str) -> bool:
        """Whether all of the text is one of the pattern's."""
        return len(text) in self.ends(text, 0)


def random_lookaround(chooser: random.Random) -> tuple[Pattern, str]:
    """A pattern with at least one lookaround, and the characters that it is about."""
    alphabet = chooser.choice(ALPHABETS)
    while True:
        found = _part(chooser, alphabet, DEPTH)
        if any(sign in found.written for sign in ("(?=", "(?!", "(?<")):
            return found, alphabet


def _part(chooser: random.Random, alphabet: str, depth: int) -> Pattern:
    if depth == 0 or chooser.random() < 0.1:
        return _leaf(chooser, alphabet)
    kind = chooser.random()
    a = _part(chooser, alphabet, depth - 1)
    if kind < 0.2:
        return _repeated(a, *chooser.choice(COUNTS))
    if kind < 0.55:
        return chooser.choice([_ahead, _behind])(a, chooser.random() < 0.4)
    b = _part(chooser, alphabet, depth - 1)
    return _joined(a, b) if kind < 0.85 else _either(a, b)


def _leaf(chooser: random.Random, alphabet: str) -> Pattern:
    """A character, a class, or what matches at a position."""
    kind = chooser.random()
    if kind < 0.15:
        return _at_position(chooser.choice(ZERO_WIDTH))
    if kind < 0.6:
        one = chooser.choice(alphabet)
        return _character(re.escape(one), lambda c: c == one)
    if kind < 0.7:
        return _character(".", lambda c: c != "\n")
    if kind < 0.75:
        return _character("(?s:.)", lambda c: True)
    some = "".join(chooser.sample(alphabet, chooser.randint(1, len(alphabet))))
    listed = "".join(map(re.escape, some))
    if kind < 0.85:
        return _character(f"[^{listed}]", lambda c: c not in some)
    return _character(f"[{listed}]", lambda c: c in some)


def _character(written: str, taken: Callable[[str], bool]) -> Pattern:
    return Pattern(written, lambda t, i: frozenset({i + 1} if i < len(t) and taken(t[i]) else ()))


def _at_position(written: str) -> Pattern:
    def holds(t: str, i: int) -> bool:
        at_edge = (i > 0 and t[i - 1].isalnum()) != (i < len(t) and t[i].isalnum())
        return {
            "^": i == 0,
            "$": t[i:] in ("", "\n"),
            r"\A": i == 0,
            r"\Z": i == len(t),
            r"\b": at_edge,
            r"\B": bool(t) and not at_edge,  # not in an empty text, as in Python up to 3.13
            "(?m:^)": i == 0 or t[i - 1] == "\n",
            "(?m:$)": i == len(t) or t[i] == "\n",
        }[written]

    return Pattern(written, lambda t, i: frozenset({i} if holds(t, i) else ()))


def _repeated(part: Pattern, low: int, high: int | None, sign: str) -> Pattern:
    def ends(t: str, i: int) -> frozenset[int]:
        reached, found = frozenset({i}), set() if low else {i}
        # Beyond `low` times, each further one adds a position or changes nothing.
        for count in range(1, low + len(t) + 2 if high is None else high + 1):
            reached = frozenset(k for j in reached for k in part.ends(t, j))
            if count >= low:
                found |= reached
        return frozenset(found)

    return Pattern(f"(?:{part.written}){sign}", ends)


def _ahead(part: Pattern, negated: bool) -> Pattern:
    def ends(t: str, i: int) -> frozenset[int]:
        return frozenset({i} if bool(part.ends(t, i)) != negated else ())

    return Pattern(f"(?{'!' if negated else '='}{part.written})", ends)


def _behind(part: Pattern, negated: bool) -> Pattern:
    def ends(t: str, i: int) -> frozenset[int]:
        stands = any(i in part.ends(t, start) for start in range(i + 1))
        return frozenset({i} if stands != negated else ())

    return Pattern(f"(?<{'!' if negated else '='}{part.written})", ends)


def _joined(a: Pattern, b: Pattern) -> Pattern:
    def ends(t: str, i: int) -> frozenset[int]:
        return frozenset(k for j in a.ends(t, i) for k in b.ends(t, j))

    return Pattern(a.written + b.written, ends)


def _either(a: Pattern, b: Pattern) -> Pattern:
    return Pattern(f"(?:{a.written}|{b.written})", lambda t, i: a.ends(t, i) | b.ends(t, i))
