"""What tests of tokenization share: small tokenizers, patterns, judges, and failures by definition."""

from __future__ import annotations

import itertools
import os
import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import pytest

from tests.support.texts import all_texts
from tokamata.automata import EPSILON, Acceptor, Transducer, minimize, strings
from tokamata.tokenization import (
    CartesianMerge,
    FailureTransducer,
    Merge,
    direct_merge,
    merge_list,
    merge_shared,
    promote,
    promote_bpe,
    tokenizer_automaton,
)

EVERYTHING = bool(os.environ.get("TOKAMATA_EXHAUSTIVE"))  # all cases, not a share of them
END = None


@dataclass(frozen=True)
class Bpe:
    """A small tokenizer in letters: ids by text, single letters first."""

    vocabulary: tuple[bytes, ...]
    merges: tuple[Merge, ...]

    @classmethod
    def of(cls, letters: str, *pairs: str) -> Bpe:
        """From letters, and merges written ``"a b"``."""
        parts = [tuple(part.encode() for part in pair.split()) for pair in pairs]
        texts = [letter.encode() for letter in letters]
        texts += [text for left, right in parts for text in (left, right, left + right)]
        vocabulary = tuple(dict.fromkeys(texts))
        return cls(vocabulary, tuple(merge_list(((left, right) for left, right in parts), vocabulary)))

    @property
    def letters(self) -> list[int]:
        return [token for token, text in enumerate(self.vocabulary) if len(text) == 1]

    def ids(self, written: str) -> list[int]:
        """``"ab c"`` in ids."""
        return [self.vocabulary.index(text.encode()) for text in written.split()]

    def show(self, tokens: Iterable[int]) -> str:
        """The reverse."""
        return " ".join(self.vocabulary[token].decode() for token in tokens)

    def text(self, text: str) -> list[int]:
        """A text in its letters."""
        return self.ids(" ".join(text))

    def pattern(self, *texts: str) -> Acceptor:
        """These texts, in letters."""
        return Acceptor.from_strings([self.text(text) for text in texts])


def languages(bpe: Bpe, pattern: Acceptor) -> dict[str, Acceptor]:
    """The encodings of a pattern's texts by every construction, minimal; ``pattern`` is over letters."""
    return {
        "gadgets": promote_bpe(pattern, bpe.merges),
        "direct": minimize(direct_merge(pattern, bpe.merges)),
        "shared": minimize(merge_shared(pattern, bpe.merges).to_acceptor()),
        "cartesian": minimize(cartesian(bpe, pattern).to_acceptor()),
    }


def cartesian(bpe: Bpe, pattern: Acceptor) -> CartesianMerge:
    """With every spelling made by the lexicon, in which a letter's id is its byte."""
    ids = {bpe.vocabulary[token][0]: token for token in bpe.letters}
    texts = [bytes(ids[byte] for byte in text) for text in bpe.vocabulary]
    return CartesianMerge(promote(pattern, texts), tokenizer_automaton(bpe.letters, bpe.merges))


def encodings(bpe: Bpe, pattern: Acceptor, longest: int) -> set[tuple[int, ...]]:
    """By brute force: those of the pattern's texts of at most that many letters."""
    return {encoded(bpe, text) for text in strings(pattern, longest)}


def encoded(bpe: Bpe, text: Sequence[int]) -> tuple[int, ...]:
    """A text with each merge in its order, wherever it applies from left to right."""
    tokens = list(text)
    for left, right, whole in bpe.merges:
        at = 0
        while at + 1 < len(tokens):
            if tokens[at : at + 2] == [left, right]:
                tokens[at : at + 2] = [whole]
            at += 1
    return tuple(tokens)


def up_to(bpe: Bpe, tokens: Acceptor, longest: int) -> set[tuple[int, ...]]:
    """The accepted token sequences that spell at most that many letters."""
    return {
        string
        for string in strings(tokens, longest)
        if sum(len(bpe.vocabulary[token]) for token in string) <= longest
    }


@cache
def small_patterns() -> tuple[Acceptor, ...]:
    """Every language over the letters 0 and 1 that has a deterministic acceptor of two states."""
    found: dict[Acceptor, None] = {}
    targets = (None, 0, 1)
    for row in itertools.product(targets, repeat=4):
        arcs = [(i // 2, i % 2, target) for i, target in enumerate(row) if target is not None]
        for accepting in ([0], [1], [0, 1]):
            found[minimize(Acceptor.from_transitions(arcs, accepting, 0, 2))] = None
    return tuple(found)


def small_lists(longest: int) -> Iterator[tuple[str, ...]]:
    """Every list of at most ``longest`` merges over a and b that make tokens of at most three letters.

    In every order, also before the merges that make their parts, and with repetitions.
    """
    texts = all_texts("ab", 2, shortest=1)
    pairs = [f"{left} {right}" for left in texts for right in texts if len(left + right) <= 3]
    for count in range(longest + 1):
        yield from itertools.product(pairs, repeat=count)


def random_bpe(draw: random.Random, letters: str, most: int, longest: int = 6, shuffled: float = 0.0) -> Bpe:
    """Merges of parts that exist, in that order but for a share of the lists, where in any order."""
    texts, pairs = list(letters), []
    for _ in range(draw.randint(0, most)):
        left, right = draw.choice(texts), draw.choice(texts)
        if len(left + right) <= longest:
            pairs.append(f"{left} {right}")
            texts.append(left + right)
    if draw.random() < shuffled:
        draw.shuffle(pairs)
    return Bpe.of(letters, *pairs)


def random_pattern(draw: random.Random, letters: int, most: int = 5) -> Acceptor:
    """A minimal acceptor over ``0 .. letters - 1`` that accepts something."""
    while True:
        states = draw.randint(1, most)
        arcs = [
            (draw.randrange(states), draw.randrange(letters), draw.randrange(states))
            for _ in range(draw.randint(1, 3 * states))
        ]
        accepting = [state for state in range(states) if draw.random() < 0.4]
        pattern = minimize(Acceptor.from_transitions(arcs, accepting, 0, states))
        if pattern.accepting:
            return pattern


def walk(machine: FailureTransducer, text: Sequence[int]) -> set[tuple[int, ...]]:
    """What a machine writes for a text, by the definition of failure transitions, a symbol at a time."""
    written = {(machine.transducer.start, ())}
    for symbol in (*text, END):
        written = {
            (state, before + after)
            for here, before in written
            for state, after in _read(machine, here, symbol, ())
        }
    return {string for state, string in written if state in machine.transducer.accepting}


def _read(
    machine: FailureTransducer, state: int, symbol: int | None, so_far: tuple[int, ...]
) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Where a symbol leads, through failures as long as it cannot be read; the end leads to acceptance."""
    if symbol is END:
        if state in machine.transducer.accepting:
            yield state, so_far
            return
    else:
        row = [(w, t) for (read, w), t in machine.transducer.rows[state] if read == symbol]
        for written, target in row:
            yield target, so_far if written == EPSILON else (*so_far, written)
        if row:
            return
    if state in machine.failures:
        written, target = machine.failures[state]
        yield from _read(machine, target, symbol, so_far if written == EPSILON else (*so_far, written))


def without_failures(machine: FailureTransducer, alphabet: Iterable[int]) -> Transducer:
    """The same relation with a transition for each symbol of the alphabet in the place of failures.

    The end of the text is a state of its own, reached by epsilon, from which nothing can be read.
    """
    arcs: list[tuple[int, int, int, int]] = []
    states = machine.transducer.states
    end, states = states, states + 1
    for state in range(machine.transducer.states):
        for symbol in (*sorted(alphabet), END):
            for target, written in _read(machine, state, symbol, ()):
                steps = [EPSILON if symbol is END else symbol, *[EPSILON] * (len(written) - 1)]
                goal, here = (end if symbol is END else target), state
                for place, read in enumerate(steps):
                    is_last = place == len(steps) - 1
                    there = goal if is_last else states
                    states += not is_last
                    arcs.append((here, read, written[place] if written else EPSILON, there))
                    here = there
    return Transducer.from_transitions(arcs, [end], machine.transducer.start, states)


def tokenizers() -> Any:
    """Hugging Face's package, or a skip that says why."""
    return pytest.importorskip(
        "tokenizers", reason="tokenizers, a judge of these tests, comes with the group test"
    )


def hugging_face_bpe(bpe: Bpe) -> Any:
    """The same tokenizer there; each text has the id that it has here."""
    module = tokenizers()
    vocabulary = {text.decode(): token for token, text in enumerate(bpe.vocabulary)}
    pairs = [(bpe.vocabulary[left].decode(), bpe.vocabulary[right].decode()) for left, right, _ in bpe.merges]
    return module.Tokenizer(module.models.BPE(vocab=vocabulary, merges=pairs))


def hugging_face_encode(tokenizer: Any, texts: Sequence[str]) -> list[list[int]]:
    """Each text in its ids."""
    return [encoding.ids for encoding in tokenizer.encode_batch(texts, add_special_tokens=False)]
