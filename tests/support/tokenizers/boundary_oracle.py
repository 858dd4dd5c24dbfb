"""The exact answer about a boundary, for small tokenizers, in plain Python.

A boundary is a text ``b``, or a set of texts.  In an encoded text, an occurrence of it has two borders, and a
token *crosses* a border if it has bytes on both sides of it.  Three questions are answered for all texts at
once: whether a token crosses the left border in any text, whether one crosses the right border, and whether
each occurrence is one whole token.  With the merge ``(x, a)`` and ``b = ab``::

    text x a b   tokens xa b    xa crosses the left border; none crosses the right one

The sequences that a tokenizer writes are a regular language.  The engine lists it as an explicit automaton
over tokens, and the detokenizing transducer turns tokens into bytes.  Their composition is walked here byte
by byte, breadth first, beside a small machine that guesses where an occurrence begins.  A configuration is

    (state of the token automaton, bytes of the current token, position in b, what was seen)

and the first one in which a text may end, after an occurrence of the wanted form, yields a shortest text.

Only the *borders* are judged here: that the token automaton itself is right is what ``tests/canonical``
tests, and ``tests/guard/test_boundary_oracle.py`` encodes all short texts with the tokenizer's own program.

A text counts if the tokenizer writes it with tokens that decode to it.  So texts that a normalizer changes,
and texts with a control token, do not count.

Cost: the states of the token automaton times its transitions, times the length of b.  Only for tokenizers
with some hundred tokens; tokenizers with NFC need ``within`` to bound their characters.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from functools import cache
from typing import Literal, NamedTuple

import tokamata as tk
from tokamata.automata import Acceptor, minimize

Question = Literal["left", "right", "one token"]
Boundary = str | bytes | Acceptor


class Counterexample(NamedTuple):
    """A shortest text with an occurrence of the wanted form, and its tokens."""

    text: bytes
    tokens: tuple[int, ...]


def crossed_left(
    vocabulary: tk.Vocabulary, boundary: Boundary, within: tk.Constraint | None = None
) -> Counterexample | None:
    """A shortest text in which a token crosses the left border of an occurrence; ``None`` if there is none.

    Args:
        vocabulary: that of a tokenizer which canonical tokenization supports.
        boundary: a text, or an acceptor of bytes for a set of texts; not the empty text.
        within: the texts that are asked about; by default all.

    Raises:
        ValueError: the empty text is a boundary.
        LimitExceeded: the token automaton is too large; pass ``within``.
    """
    return _search(vocabulary, boundary, within, "left")


def crossed_right(
    vocabulary: tk.Vocabulary, boundary: Boundary, within: tk.Constraint | None = None
) -> Counterexample | None:
    """The same for the right border."""
    return _search(vocabulary, boundary, within, "right")


def always_one_token(
    vocabulary: tk.Vocabulary, boundary: Boundary, within: tk.Constraint | None = None
) -> Counterexample | None:
    """A shortest text with an occurrence that is not one whole token; ``None`` if there is none."""
    return _search(vocabulary, boundary, within, "one token")


class _Trie:
    """The tokens that may come next, by their bytes: ``rows[node][byte]`` is a list of steps.

    A step is a node, or the token that ends there and the state of the token automaton after it.
    """

    def __init__(self, tokens: Iterator[tuple[int, bytes, int]]) -> None:
        self.rows: list[dict[int, list[int | tuple[int, int]]]] = [{}]
        children: dict[tuple[int, int], int] = {}
        for token, text, target in tokens:
            node = 0
            for byte in text[:-1]:
                if (node, byte) not in children:
                    children[node, byte] = len(self.rows)
                    self.rows[node].setdefault(byte, []).append(len(self.rows))
                    self.rows.append({})
                node = children[node, byte]
            self.rows[node].setdefault(text[-1], []).append((token, target))


class _Written:
    """All texts that a tokenizer writes, as an automaton over tokens and the tries of its states."""

    def __init__(self, vocabulary: tk.Vocabulary, within: tk.Constraint) -> None:
        automaton = within.compile(vocabulary, tokenization="canonical").token_automaton()
        self._rows = automaton.to_acceptor().rows
        self.accepting = automaton.accepting.tolist()
        self._texts = vocabulary.tokens
        self._first_texts = vocabulary.start_tokens() or vocabulary.tokens
        self.start = automaton.start
        self._tries: dict[tuple[int, bool], _Trie] = {}

    def trie(self, state: int, first: bool) -> _Trie:
        """The tokens after a state, with the bytes that they have there."""
        if (state, first) not in self._tries:
            texts = self._first_texts if first else self._texts
            spelled = ((token, texts[token] or b"", target) for token, target in self._rows[state])
            self._tries[state, first] = _Trie(one for one in spelled if one[1])
        return self._tries[state, first]

    def without_bytes(self) -> Iterator[tuple[int, int]]:
        """The tokens that have no bytes at the start of a text, such as the space that Llama 2 adds."""
        return ((t, target) for t, target in self._rows[self.start] if self._first_texts[t] == b"")


@cache
def _written(vocabulary: tk.Vocabulary, within: tk.Constraint | None) -> _Written:
    return _Written(vocabulary, tk.regex("(?s:.*)") if within is None else within)


# What is known of the occurrence: it comes later, it is over, or a position in b and whether the occurrence
# already has the wanted form.
_BEFORE, _AFTER = (-1, False), (-2, True)

_Where = tuple[int, bool, int]  # a state, whether no token has ended, and a node of the trie there
_Phase = tuple[int, bool]


def _search(
    vocabulary: tk.Vocabulary, boundary: Boundary, within: tk.Constraint | None, question: Question
) -> Counterexample | None:
    machine = minimize(boundary if isinstance(boundary, Acceptor) else Acceptor.from_strings([boundary]))
    if machine.start in machine.accepting:
        raise ValueError("the empty text has no borders that a token could cross; use a boundary with bytes")
    written = _written(vocabulary, within)
    before: dict[tuple[_Where, _Phase], tuple[tuple[_Where, _Phase] | None, int | None, int | None]] = {}
    start = ((written.start, True, 0), _BEFORE)
    before[start] = (None, None, None)
    queue = deque([start])
    for token, target in written.without_bytes():
        after = ((target, False, 0), _BEFORE)
        if after not in before:
            before[after] = (start, None, token)
            queue.append(after)
    while queue:
        here = queue.popleft()
        (state, first, node), phase = here
        if phase == _AFTER and not node and written.accepting[state]:
            return _spelled(before, here)
        for byte, steps in written.trie(state, first).rows[node].items():
            for step in steps:
                token = None if isinstance(step, int) else step[0]
                where = (state, first, step) if isinstance(step, int) else (step[1], False, 0)
                for later in _phases(machine, question, phase, node != 0, byte, where[2] != 0):
                    after = (where, later)
                    if after not in before:
                        before[after] = (here, byte, token)
                        queue.append(after)
    return None


def _phases(
    machine: Acceptor, question: Question, phase: _Phase, inside: bool, byte: int, inside_after: bool
) -> Iterator[_Phase]:
    """The phases after a byte.

    Args:
        machine: the boundary.
        question: what is searched.
        phase: before the byte.
        inside: whether the byte is not the first of a token.
        byte: the byte.
        inside_after: whether it is not the last of a token.
    """
    if phase == _AFTER:
        yield _AFTER
        return
    position, found = phase
    if phase == _BEFORE:
        yield _BEFORE
        if question == "left" and not inside:
            return  # an occurrence that begins here is not crossed
        position, found = machine.start, inside and question != "right"
    elif question == "one token":
        found = found or not inside  # the occurrence has several tokens
    for symbol, target in machine.rows[position]:
        if symbol == byte:
            yield target, found
            if target in machine.accepting and (found or inside_after):
                yield _AFTER


def _spelled(before: dict, here: tuple[_Where, _Phase]) -> Counterexample:  # type: ignore[type-arg]
    text, tokens = [], []
    while True:
        previous, byte, token = before[here]
        if byte is not None:
            text.append(byte)
        if token is not None:
            tokens.append(token)
        if previous is None:
            return Counterexample(bytes(reversed(text)), tuple(reversed(tokens)))
        here = previous
