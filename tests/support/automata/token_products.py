"""Token automata made the obvious way: run every token from every state of a byte automaton."""

from __future__ import annotations

import random
from collections.abc import Sequence

from tokamata.automata import EPSILON, Acceptor, TokenAutomaton

Rows = list[dict[int, int]]


def random_vocabulary(draw: random.Random, tokens: int, letters: bytes = b"abc") -> list[bytes | None]:
    """Short strings over few letters, some of them twice, some empty, some control tokens."""
    vocabulary: list[bytes | None] = [bytes([letter]) for letter in letters if draw.random() < 0.9]
    while len(vocabulary) < tokens:
        text = bytes(draw.choice(letters) for _ in range(draw.choice([0, 1, 2, 2, 3, 4, 6])))
        vocabulary.append(None if draw.random() < 0.05 else text)
    draw.shuffle(vocabulary)
    return vocabulary


def random_bytes_acceptor(draw: random.Random, most: int = 7, letters: bytes = b"abc") -> Acceptor:
    """Not deterministic, over a few letters."""
    states = draw.randint(1, most)
    arcs = [
        (draw.randrange(states), draw.choice([-1, *letters, *letters]), draw.randrange(states))
        for _ in range(draw.randint(states, 3 * states))
    ]
    return Acceptor.from_transitions(arcs, [s for s in range(states) if draw.random() < 0.4], 0, states)


def subsets(acceptor: Acceptor) -> tuple[Rows, set[int]]:
    """The deterministic acceptor by the textbook: each of its states is a set of states."""

    def closed(states: set[int]) -> frozenset[int]:
        while True:
            more = {t for s, symbol, t in acceptor.transitions if s in states and symbol == EPSILON} - states
            if not more:
                return frozenset(states)
            states = states | more

    found = [closed({acceptor.start})]
    rows: Rows = []
    for states in found:  # which grows meanwhile
        targets: dict[int, set[int]] = {}
        for source, symbol, target in acceptor.transitions:
            if source in states and symbol != EPSILON:
                targets.setdefault(symbol, set()).add(target)
        row = {symbol: closed(reached) for symbol, reached in targets.items()}
        found += [to for to in dict.fromkeys(row.values()) if to not in found]
        rows.append({symbol: found.index(to) for symbol, to in row.items()})
    return rows, {number for number, states in enumerate(found) if states & set(acceptor.accepting)}


def product_rows(acceptor: Acceptor, vocabulary: Sequence[bytes | None]) -> tuple[Rows, set[int]]:
    """For each state of the deterministic byte automaton its tokens and where they lead; not trimmed."""
    by_byte, accepting = subsets(acceptor)
    rows: Rows = []
    for state in range(len(by_byte)):
        row = {}
        for token, text in enumerate(vocabulary):
            target: int | None = state if text else None
            for byte in text or b"":
                target = None if target is None else by_byte[target].get(byte)
            if target is not None:
                row[token] = target
        rows.append(row)
    return rows, accepting


def from_product(
    rows: Rows,
    accepting: set[int],
    width: int,
    draw: random.Random | None = None,
    stop_tokens: Sequence[int] = (),
    names: Sequence[bytes | None] | None = None,
) -> TokenAutomaton:
    """Each token a class of its own; with ``draw``, states and classes are shuffled and padded."""
    states = len(rows)
    order, classes = list(range(states)), list(range(width))
    if draw is not None:
        states += draw.randint(0, 3)
        order = draw.sample(range(states), len(rows))
        classes = draw.sample(range(2 * width), width)
    table: Rows = [{} for _ in range(states)]
    for state, row in enumerate(rows):
        table[order[state]] = {classes[token]: order[target] for token, target in row.items()}
    if draw is not None:  # states that cannot be reached, and a class that no token has
        for state in range(states):
            if state not in order:
                table[state] = {class_: draw.randrange(states) for class_ in classes}
            table[state][2 * width] = draw.randrange(states)
    ends = {order[state] for state in accepting}
    items = [list(row.items()) for row in table]
    if draw is not None:
        for row_items in items:
            draw.shuffle(row_items)
    offsets = [0]
    for row_items in items:
        offsets.append(offsets[-1] + len(row_items))
    return TokenAutomaton.from_rows(
        width,
        order[0],
        [state in ends for state in range(states)],
        [-1 if token in stop_tokens else classes[token] for token in range(width)],
        offsets,
        [class_ for row_items in items for class_, _ in row_items],
        [target for row_items in items for _, target in row_items],
        tuple(stop_tokens),
        names,
    )
