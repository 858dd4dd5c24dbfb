"""Grammars at random, and the texts of a grammar by brute force, without the engine and the lowering."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from itertools import product

import tokamata._core as _core
from tokamata.automata import Acceptor
from tokamata.patterns.grammars.rules.rule_trees import (
    Choice,
    Grammar,
    Node,
    Reference,
    Repeat,
    Sequence,
    Terminal,
)

A = Terminal('"a"', _core.literal(b"a"), ("a",))
B = Terminal('"b"', _core.literal(b"b"), ("b",))


def short_texts(grammar: Grammar, longest: int) -> set[str]:
    """The texts of at most ``longest`` characters: the least fixed point of the rules over sets of texts."""
    found: dict[str, set[str]] = {rule: set() for rule in grammar.rules}
    while True:
        again = {rule: _texts(body, found, longest) for rule, body in grammar.rules.items()}
        if again == found:
            return found[grammar.start]
        found = again


def _texts(node: Node, rules: dict[str, set[str]], longest: int) -> set[str]:
    if isinstance(node, Terminal):
        assert node.texts
        return {text for text in node.texts if len(text) <= longest}
    if isinstance(node, Reference):
        return rules[node.rule]
    if isinstance(node, Choice):
        return set().union(*(_texts(child, rules, longest) for child in node.children))
    if isinstance(node, Sequence):
        texts = {""}
        for child in node.children:
            texts = _joined(texts, _texts(child, rules, longest), longest)
        return texts
    body = _texts(node.body, rules, longest)
    texts = {""}
    for _ in range(node.minimum):
        texts = _joined(texts, body, longest)
    found = set(texts)
    rounds = node.minimum
    while node.maximum is None or rounds < node.maximum:
        texts = _joined(texts, body, longest)
        if texts <= found:
            break
        found |= texts
        rounds += 1
    return found


def is_text_of_rules(grammar: Grammar, text: str) -> bool:
    """Whether a grammar has a text: where each rule may end, from each position, as a least fixed point.

    Sets of characters are read by Python's ``re``, whose syntax of sets is that of GBNF.
    """
    ends: dict[tuple[str, int], set[int]] = {
        (rule, at): set() for rule in grammar.rules for at in range(len(text) + 1)
    }

    def after(node: Node, at: int) -> set[int]:
        if isinstance(node, Reference):
            return ends[node.rule, at]
        if isinstance(node, Terminal):
            if node.texts:
                return {at + len(one) for one in node.texts if text.startswith(one, at)}
            return {at + 1} if at < len(text) and re.fullmatch(node.name, text[at], re.DOTALL) else set()
        if isinstance(node, Choice):
            return set().union(*(after(child, at) for child in node.children))
        if isinstance(node, Sequence):
            found = {at}
            for child in node.children:
                found = set().union(*(after(child, end) for end in found))
            return found
        found, rounds = {at}, 0
        while rounds < node.minimum:
            found, rounds = set().union(*(after(node.body, end) for end in found)), rounds + 1
        newest = found
        while newest and (node.maximum is None or rounds < node.maximum):
            newest = set().union(*(after(node.body, end) for end in newest)) - found
            found, rounds = found | newest, rounds + 1
        return found

    changed = True
    while changed:
        changed = False
        for rule, body in grammar.rules.items():
            for at in range(len(text), -1, -1):
                found = after(body, at)
                changed = changed or found != ends[rule, at]
                ends[rule, at] = found
    return len(text) in ends[grammar.start, 0]


def has_text_in(grammar: Grammar, acceptor: Acceptor) -> bool:
    """Whether some text of a grammar, of any length, is a string of an acceptor of bytes without epsilon.

    Where each rule may end, from each state, as a least fixed point (Bar-Hillel, Perles and Shamir 1961).
    """
    ends: dict[tuple[str, int], set[int]] = {
        (rule, state): set() for rule in grammar.rules for state in range(acceptor.states)
    }

    def after(node: Node, begins: set[int]) -> set[int]:
        if isinstance(node, Reference):
            return set().union(*(ends[node.rule, state] for state in begins))
        if isinstance(node, Terminal):
            found = set()
            for text in node.texts:
                states = begins
                for byte in text.encode():
                    states = {to for state in states for symbol, to in acceptor.rows[state] if symbol == byte}
                found |= states
            return found
        if isinstance(node, Choice):
            return set().union(*(after(child, begins) for child in node.children))
        assert isinstance(node, Sequence), node
        for child in node.children:
            begins = after(child, begins)
        return begins

    changed = True
    while changed:
        changed = False
        for (rule, state), known in ends.items():
            found = after(grammar.rules[rule], {state})
            changed = changed or found != known
            ends[rule, state] = found
    return not ends[grammar.start, acceptor.start].isdisjoint(acceptor.accepting)


def random_small_grammar(draw: random.Random, size: int, rules: int) -> Grammar:
    """One of :func:`small_grammars`, which are too many to list."""
    symbols: list[Node] = [A, B, *(Reference(str(rule)) for rule in range(rules))]
    bodies = [
        Choice(tuple(Sequence(tuple(draw.choices(symbols, k=length))) for length in lengths))
        for lengths in draw.choice(list(_shapes(size, rules)))
    ]
    return Grammar({str(rule): body for rule, body in enumerate(bodies)}, "0")


def _joined(before: set[str], after: set[str], longest: int) -> set[str]:
    return {a + b for a, b in product(before, after) if len(a) + len(b) <= longest}


def random_grammar(draw: random.Random) -> Grammar:
    """One to three rules over two letters."""
    names = ["s", "t", "u"][: draw.randint(1, 3)]
    return Grammar({name: _random_node(draw, draw.randint(2, 3), names) for name in names}, "s")


def _random_node(draw: random.Random, depth: int, names: list[str]) -> Node:
    choice = draw.random()
    if depth == 0 or choice < 0.3:
        return draw.choice([A, B]) if draw.random() < 0.5 else Reference(draw.choice(names))
    if choice < 0.6:
        count = draw.choice([0, 2, 2, 2, 3])
        return Sequence(tuple(_random_node(draw, depth - 1, names) for _ in range(count)))
    if choice < 0.85:
        count = draw.choice([1, 2, 2, 3])
        return Choice(tuple(_random_node(draw, depth - 1, names) for _ in range(count)))
    low = draw.choice([0, 0, 1, 2])
    high = draw.choice([None, None, low, low + 1, low + 2])
    return Repeat(_random_node(draw, depth - 1, names), low, high)


def small_grammars(size: int, rules: int) -> Iterator[Grammar]:
    """All grammars of so many rules with ``size`` symbols, each rule a choice of one or two sequences."""
    symbols: list[Node] = [A, B, *(Reference(str(rule)) for rule in range(rules))]
    for shape in _shapes(size, rules):
        for chosen in product(symbols, repeat=size):
            rest = iter(chosen)
            bodies = [
                Choice(tuple(Sequence(tuple(next(rest) for _ in range(length))) for length in lengths))
                for lengths in shape
            ]
            yield Grammar({str(rule): body for rule, body in enumerate(bodies)}, "0")


def _shapes(size: int, rules: int) -> Iterator[list[tuple[int, ...]]]:
    """The lengths of the alternatives of each rule, the longest first."""
    if rules == 0:
        if size == 0:
            yield []
        return
    for total in range(size + 1):
        for rest in _shapes(size - total, rules - 1):
            yield [(total,), *rest]
            for second in range(total // 2 + 1):
                yield [(total - second, second), *rest]


def show(grammar: Grammar) -> dict[str, str]:
    """A grammar for a message."""
    return {name: _shown(body) for name, body in grammar.rules.items()}


def _shown(node: Node) -> str:
    if isinstance(node, Terminal):
        return node.name
    if isinstance(node, Reference):
        return node.rule
    if isinstance(node, Sequence):
        return f"({' '.join(map(_shown, node.children))})"
    if isinstance(node, Choice):
        return f"[{' | '.join(map(_shown, node.children))}]"
    return f"{_shown(node.body)}{{{node.minimum},{node.maximum}}}"
