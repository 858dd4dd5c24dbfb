"""Random constraints, compiled for random small vocabularies, with the graph of all tokens as their judge."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import tokamata as tk
from tests.support.automata.explicit import TokenGraph, random_language
from tokamata.vocabulary.token_table import TokenTable

# Whole code points, halves, and what straddles their edges.
TEXTS = [b"a", b"b", b"ab", b"aa", b"bab", b"abab", b"\xc3", b"\xa9", b"aaaa", b"\xa9\xc3"]
TEXTS += ["é".encode(), "bé".encode()]


class Drawn(NamedTuple):
    """A compiled constraint, its judge, and the stop tokens."""

    compiled: tk.CompiledConstraint[Any]
    graph: TokenGraph
    stop: list[int]


def without_first_a(texts: Sequence[bytes | None]) -> list[bytes | None]:
    """A rule for the start of a text, of the kind that drops one space there (SentencePiece)."""
    return [None if text is None else text.removeprefix(b"a") for text in texts]


def vocabulary_of(
    texts: Sequence[bytes | None],
    stop: Sequence[int],
    start_rule: Callable[[Sequence[bytes | None]], list[bytes | None]] | None = None,
) -> tk.Vocabulary:
    rule = None if start_rule is None else lambda: start_rule(texts)
    return tk.Vocabulary(TokenTable(list(texts), {}, tuple(stop), rule))


def drawn_graphs(draw: random.Random, count: int) -> Iterator[Drawn]:
    """So many cases: bytes that lack, start rules, control tokens, no stop tokens."""
    while count > 0:
        texts: list[bytes | None] = [text for text in TEXTS if draw.random() < 0.7] + [None, None]
        controls = [len(texts) - 2] if draw.random() < 0.5 else []
        stop = [len(texts) - 1] if draw.random() < 0.8 else []
        start_rule = without_first_a if draw.random() < 0.3 else None
        language = random_language(draw, draw.choice([1, 2, 3]), controls)
        vocabulary = vocabulary_of(texts, stop, start_rule)
        start_texts = vocabulary.start_tokens() if start_rule else None
        graph = TokenGraph(language.acceptor, texts, controls, start_texts)
        try:
            compiled = language.constraint.compile(vocabulary, start_of_text=start_rule is not None)
        except (tk.EmptyConstraintError, tk.UnspellableError):
            assert graph.distance[graph.start] is None
            continue
        count -= 1
        yield Drawn(compiled, graph, stop)
