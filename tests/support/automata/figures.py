"""Automata over tokens that several tests look at: the figures of paper 002, and random ones."""

from __future__ import annotations

import random
from typing import Any

from tests.support.automata.token_products import (
    from_product,
    product_rows,
    random_bytes_acceptor,
    random_vocabulary,
)
from tokamata.automata import Acceptor, TokenAutomaton

# Figures 4 and 5 of 002: a vocabulary, and the pattern (foo)+d.
FIGURE_4: list[bytes | None] = [b"f", b"foo", b"food", b"d", b"o", b"oo"]
F, LETTER_O, D = b"fod"
FOO_D = Acceptor.from_transitions([(0, F, 1), (1, LETTER_O, 2), (2, LETTER_O, 3), (3, F, 1), (3, D, 4)], [4])
STOP = (6, 8)


def foo_d(**keywords: Any) -> TokenAutomaton:
    """(foo)+d of 002, figure 5; ids 6 and 8 are stop tokens, 7 is padding."""
    return from_product(*product_rows(FOO_D, [*FIGURE_4, None, None, None]), 9, stop_tokens=STOP, **keywords)


def random_automata(seed: int, count: int) -> list[tuple[Acceptor, list[bytes | None], TokenAutomaton]]:
    draw = random.Random(seed)
    made = []
    for _ in range(count):
        vocabulary = [*random_vocabulary(draw, draw.randint(1, 70)), None, None]
        stop = (len(vocabulary) - 1, len(vocabulary) - 2)[: draw.randint(0, 2)]
        acceptor = random_bytes_acceptor(draw)
        rows, accepting = product_rows(acceptor, vocabulary)
        made.append((acceptor, vocabulary, from_product(rows, accepting, len(vocabulary), draw, stop)))
    return made
