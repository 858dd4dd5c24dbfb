"""What rules begin with, and what may follow them, judged by texts that show where rules end."""

from __future__ import annotations

import itertools
import random

import pytest

import tokamata as tk
import tokamata._core as _core
from tokamata.patterns.grammars.lexer.beginnings import Beginnings, followers
from tokamata.patterns.grammars.rules.rule_trees import Choice, Embedded, Node, Reference, Sequence, Terminal
from tokamata.resources.limits import Watch

TERMINALS = {name: Terminal(name, _core.literal(name.encode())) for name in "abc"}
END = "$END"


def rules_of(written: dict[str, list[str]]) -> dict[str, Node]:
    """Rules from alternatives; capitals are rules, ``@`` is an embedded text."""

    def node(symbol: str) -> Node:
        if symbol == "@":
            return Embedded("@", _core.literal(b"@"), True, True, 0)
        return TERMINALS[symbol] if symbol in TERMINALS else Reference(symbol)

    return {
        rule: Choice(tuple(Sequence(tuple(map(node, way))) for way in ways)) for rule, ways in written.items()
    }


def found(written: dict[str, list[str]]) -> dict[str, frozenset[str] | None]:
    rules = rules_of(written)
    return followers(rules, "S", Beginnings(rules), Watch(tk.Limits()))


def seen(written: dict[str, list[str]], depth: int) -> dict[str, set[str]]:
    """The terminals that follow each rule in some short texts."""
    result: dict[str, set[str]] = {rule: set() for rule in written}

    def texts(symbol: str, depth: int) -> set[tuple[str, ...]]:
        """Terminals, and ``/R`` where a text of R ends."""
        if symbol in TERMINALS:
            return {(symbol,)}
        if depth == 0:
            return set()
        made = {
            (*itertools.chain.from_iterable(parts), f"/{symbol}")
            for way in written[symbol]
            for parts in itertools.product(*(sorted(texts(one, depth - 1))[:6] for one in way))
        }
        return set(sorted(made)[:60])

    for text in texts("S", depth):
        following = END
        for item in reversed(text):
            if item.startswith("/"):
                result[item[1:]].add(following)
            else:
                following = item
    return result


def test_the_worked_example() -> None:
    written = {"S": ["L"], "L": ["", "LI"], "I": ["a", "bLc"]}
    assert found(written) == {"S": {END}, "L": {END, "a", "b", "c"}, "I": {END, "a", "b", "c"}}


def test_an_embedded_text_may_begin_with_anything() -> None:
    written = {"S": ["A@", "Bb"], "A": ["Ca"], "B": ["bC"], "C": ["c", "cA"]}
    assert found(written) == {"S": {END}, "A": None, "B": {"b"}, "C": {"a", "b"}}


@pytest.mark.parametrize("seed", range(20))
def test_what_follows_in_a_text_is_among_what_may_follow(seed: int) -> None:
    draw = random.Random(seed)
    written = {
        rule: ["".join(draw.choice("aabbccSAB") for _ in range(draw.randint(0, 3))) for _ in range(3)] + ["a"]
        for rule in "SAB"
    }
    may_follow = found(written)
    for rule, names in seen(written, 4).items():
        assert names <= (may_follow[rule] or set()), (written, rule)
