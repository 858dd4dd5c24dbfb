"""Constraints made twice: by the public algebra for the engine, and as explicit machines that judge it.

The machines are those of ``tokamata.automata``, plain Python that shares nothing with the engine.  Bytes
are the symbols 0 to 255; the control token of id t is the symbol ``256 + t``.  A :class:`TokenGraph`
says what every token does in every state and how far acceptance is, by brute force.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

import tokamata as tk
from tokamata.automata import Acceptor, concatenate, difference, minimize, product, star, union


@dataclass(frozen=True)
class Twice:
    """One language: a constraint, and its smallest acceptor over bytes and control tokens."""

    constraint: tk.Constraint
    acceptor: Acceptor

    def __add__(self, other: Twice) -> Twice:
        return Twice(self.constraint + other.constraint, joined(self.acceptor, other.acceptor))

    def __or__(self, other: Twice) -> Twice:
        return Twice(self.constraint | other.constraint, minimize(union(self.acceptor, other.acceptor)))

    def __and__(self, other: Twice) -> Twice:
        return Twice(self.constraint & other.constraint, minimize(product(self.acceptor, other.acceptor)))

    def __sub__(self, other: Twice) -> Twice:
        return Twice(self.constraint - other.constraint, minimize(difference(self.acceptor, other.acceptor)))

    def complement_in(self, other: Twice) -> Twice:
        """What is in the other and not in this one, by ``~``."""
        return Twice(~self.constraint & other.constraint, minimize(difference(other.acceptor, self.acceptor)))

    def repeat(self, low: int, high: int | None) -> Twice:
        return Twice(self.constraint.repeat(low, high), repeated(self.acceptor, low, high))


def words(*texts: str) -> Acceptor:
    return minimize(Acceptor.from_strings(texts))


def joined(*machines: Acceptor) -> Acceptor:
    return minimize(concatenate(*machines))


def any_number(machine: Acceptor) -> Acceptor:
    return minimize(star(machine))


def maybe(machine: Acceptor) -> Acceptor:
    return minimize(union(words(""), machine))


def repeated(machine: Acceptor, low: int, high: int | None) -> Acceptor:
    """By definition: so many in a row, and then as many more as may come."""
    if high is None:
        rest = any_number(machine)
    else:
        rest = words("")
        for _ in range(high - low):
            rest = maybe(joined(machine, rest))
    return joined(*[machine] * low, rest)


def literal(text: str) -> Twice:
    return Twice(tk.literal(text), words(text))


def choice(*texts: str) -> Twice:
    return Twice(tk.choice(texts), words(*texts))


def substrings(text: str) -> Twice:
    parts = {text[i:j] for i in range(len(text) + 1) for j in range(i, len(text) + 1)}
    return Twice(tk.substring_of(text), words(*parts))


def control(token: int) -> Twice:
    return Twice(tk.control_token(token), Acceptor.from_transitions([(0, 256 + token, 1)], [1]))


A, B, AB, ABE = words("a"), words("b"), words("a", "b"), words("a", "b", "é")
SHORT = Twice(tk.regex("[abé]{0,4}"), repeated(ABE, 0, 4))

# Lookaround and boundaries, and the same languages without.
LOOKAROUNDS = [
    Twice(tk.regex(pattern), machine)
    for pattern, machine in (
        (r"(?:a(?!a)|b)*", joined(maybe(A), any_number(joined(B, maybe(A))))),  # no a after an a
        (r"(?:b|a(?<=ba))*", any_number(joined(B, maybe(A)))),  # every a after a b
        (r"(?:a|b)*(?=b)(?:a|b)+", joined(any_number(AB), B, any_number(AB))),
        (r"\bab\b|a+", minimize(union(words("ab"), repeated(A, 1, None)))),
        (r"(?!ab)[ab]{2,3}", joined(words("aa", "ba", "bb"), maybe(AB))),
        (r"[abé]*(?<!é)", maybe(joined(any_number(ABE), AB))),
    )
]


def random_language(draw: random.Random, depth: int, controls: Sequence[int] = ()) -> Twice:
    """Whatever the algebra makes of literals, choices, substrings, lookarounds and control tokens."""
    kind = draw.random()
    if depth == 0 or kind < 0.2:
        if controls and draw.random() < 0.2:
            return control(draw.choice(list(controls)))
        texts = ["a", "b", "ab", "é", "aab"]
        if draw.random() < 0.2:
            return choice(*draw.sample([*texts, "aba", "abéb", ""], 3))
        if draw.random() < 0.1:
            return substrings(draw.choice(["aab", "abaéb"]))
        return literal(draw.choice(texts))
    first = random_language(draw, depth - 1, controls)
    if kind < 0.4:
        return first + random_language(draw, depth - 1, controls)
    if kind < 0.55:
        return first | random_language(draw, depth - 1, controls)
    if kind < 0.7:
        bounds = [(0, None), (1, None), (2, 3), (3, None), (0, 2), (5, 9)]
        return first.repeat(*draw.choice(bounds if first.acceptor.states < 20 else bounds[:5]))
    if kind < 0.76:
        return first & random_language(draw, depth - 1, controls)
    if kind < 0.82:
        return first - random_language(draw, depth - 1, controls)
    if kind < 0.88:
        return first.complement_in(SHORT)
    return draw.choice(LOOKAROUNDS) + first


class TokenGraph:
    """What every token does in every state of a language, by running its symbols through the acceptor.

    ``rows[s]`` maps the tokens that lead from state s on some way to acceptance to where they lead;
    ``distance[s]`` is the fewest tokens from s to acceptance.  Both are ``None`` or lacking where there is
    no way.  With ``start_texts`` the start is a state of its own, in which tokens have other bytes.
    """

    def __init__(
        self,
        acceptor: Acceptor,
        texts: Sequence[bytes | None],
        controls: Sequence[int] = (),
        start_texts: Sequence[bytes | None] | None = None,
    ) -> None:
        table = [dict(row) for row in acceptor.rows]
        self.start = acceptor.start
        self.accepting = set(acceptor.accepting)
        all_rows = [self._row(table, state, texts, controls) for state in range(acceptor.states)]
        if start_texts is not None:
            all_rows.append(self._row(table, acceptor.start, start_texts, controls))
            self.start = acceptor.states
            if acceptor.start in self.accepting:
                self.accepting.add(self.start)
        self.distance = self._distances(all_rows)
        self.rows = [{t: s for t, s in row.items() if self.distance[s] is not None} for row in all_rows]

    @staticmethod
    def _row(
        table: list[dict[int, int]], state: int, texts: Sequence[bytes | None], controls: Sequence[int]
    ) -> dict[int, int]:
        row = {}
        for token, text in enumerate(texts):
            symbols = [256 + token] if token in controls else list(text or b"")
            target: int | None = state if symbols else None
            for symbol in symbols:
                target = None if target is None else table[target].get(symbol)
            if target is not None:
                row[token] = target
        return row

    def _distances(self, rows: list[dict[int, int]]) -> list[int | None]:
        distance: list[int | None] = [0 if s in self.accepting else None for s in range(len(rows))]
        changed = True
        while changed:  # Bellman and Ford: slow, and plain to see
            changed = False
            for state, row in enumerate(rows):
                for target in set(row.values()):
                    through = distance[target]
                    if through is not None and (distance[state] is None or through + 1 < distance[state]):  # type: ignore[operator]
                        distance[state] = through + 1
                        changed = True
        return distance

    def lengths(self, most: int) -> list[set[int]]:
        """For each state, how many tokens its completions have, up to ``most``."""
        found: list[set[int]] = [{0} if s in self.accepting else set() for s in range(len(self.rows))]
        reached = set(self.accepting)
        for length in range(1, most + 1):
            reached = {s for s, row in enumerate(self.rows) if not reached.isdisjoint(row.values())}
            for state in reached:
                found[state].add(length)
        return found

    def within(self, state: int, tokens: int) -> set[int]:
        """The tokens after which at most ``tokens - 1`` more lead to acceptance."""
        return {
            token
            for token, target in self.rows[state].items()
            if (needed := self.distance[target]) is not None and needed <= tokens - 1
        }
