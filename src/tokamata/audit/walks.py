"""What an audit does with one engine, in the process of that engine: reads texts, and lets them be written.

Every call begins at the start of a text, so a process that was started again needs nothing but the schema.

**Writing.** The engine's masks are asked as a model would; no other engine is.  First come some steps that
explore: the first byte of the next token is drawn among those that the mask has, then a token with it, short
ones more often, so that a quotation mark is as probable as the thousands of tokens that are words.  Then the
text is led to its end: outside of strings, tokens that close brackets come first, then values of one token,
commas last; inside, quotation marks, then plain characters.  One step in eight explores, so that a loop is
left.  An engine that knows a completion of its own (``completion``) finishes the text by it instead.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from tokamata.audit.engines import Row, Session
from tokamata.vocabulary import Vocabulary

__all__ = ["Followed", "Walker", "Writing", "Written", "spelling_tokens"]

_LEFT_ANYWHERE = 0.125
_CLOSING_WHILE_EXPLORING = 0.3
_SHORT_BYTES = 4  # of a token that is written while a text is closed


@dataclass(frozen=True)
class Followed:
    """How an engine read a text.

    Attributes:
        taken: how many of its tokens.
        may_end: whether the text may end after these.
        problem: ``"contradiction"`` where the mask allows the next token and ``advance`` refuses it;
            ``"dead end"`` where nothing is allowed, and the text may not end; else ``""``.
        masks: ``int32[taken + 1, words]``, the mask before each token that was taken and after the last, with
            the bits of tokens that have bytes alone; ``None`` unless they were wanted.
        ends: whether the text may end at each of these.
    """

    taken: int
    may_end: bool
    problem: str = ""
    masks: npt.NDArray[np.int32] | None = None
    ends: tuple[bool, ...] = ()


@dataclass(frozen=True)
class Written:
    """What an engine let be written.

    Attributes:
        tokens: all of the text.
        outcome: whether the text has come to an end, or to a place where nothing is allowed; the engine
            refused the text that was to be continued, or a token of its own mask; or there was no end yet.
    """

    tokens: list[int]
    outcome: Literal["ended", "dead end", "refused", "contradiction", "unfinished"]


@dataclass(frozen=True)
class Writing:
    """How a text is continued.

    Attributes:
        seed: of all that is drawn.
        explored: tokens before the text is led to its end.
        most: tokens in all, at most.
        ends_early: whether exploring stops where the text may end, once in four times.
    """

    seed: int
    explored: int
    most: int = 160
    ends_early: bool = True


def spelling_tokens(vocabulary: Vocabulary) -> npt.NDArray[np.bool_]:
    """Which tokens have bytes and are no stop tokens: ``bool[width]``.  Bits of others are not compared."""
    found = np.zeros(-(-vocabulary.width // 32) * 32, dtype=bool)
    for token, value in enumerate(vocabulary.tokens):
        found[token] = bool(value)
    found[list(vocabulary.stop)] = False
    return found


class Walker:
    """An engine, and the schema that it has compiled.

    Args:
        make: makes the engine of the vocabulary.
        vocabulary: the tokens.
    """

    def __init__(self, make: Any, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        self._engine = make(vocabulary)
        self._session: Session | None = None
        self._spelling = spelling_tokens(vocabulary)
        packed = np.packbits(self._spelling, bitorder="little")
        self._spelling_words: Row = packed.view("<i4").astype(np.int32)
        tokens = np.flatnonzero(self._spelling)
        values = [vocabulary[int(token)] or b"" for token in tokens]
        firsts = np.array([value[0] for value in values])
        by_first = np.argsort(firsts, kind="stable")
        self._by_first = tokens[by_first]
        self._first_starts = np.unique(firsts[by_first], return_index=True)[1]
        self._is_short = np.zeros(len(self._spelling), dtype=bool)
        self._is_short[tokens] = [len(value) <= _SHORT_BYTES for value in values]
        self._outside = _ranked(tokens, values, _rank_outside)
        self._inside = _ranked(tokens, values, _rank_inside)

    def compile(self, schema: str) -> str:
        """Compile a schema; why the engine does not take it, or ``""``."""
        self._session = None
        try:
            self._session = self._engine.compile(schema)
            self._session.restart()
            self._session.mask()  # some engines find out here
        except Exception as error:  # each has its own types of errors
            self._session = None
            return (" ".join(str(error).split()) or type(error).__name__)[:300]
        return ""

    def follow(self, tokens: Sequence[int], with_masks: bool) -> Followed:
        """Read a text, as far as the engine takes it."""
        session = self._compiled()
        session.restart()
        masks: list[Row] = []
        ends: list[bool] = []
        taken, problem = 0, ""
        while True:
            row = session.mask() & self._spelling_words
            ends.append(session.may_end())
            if with_masks:
                masks.append(row)
            if not ends[-1] and not row.any():
                problem = "dead end"
                break
            if taken == len(tokens) or not int(row[tokens[taken] >> 5]) >> (tokens[taken] & 31) & 1:
                break
            if not session.advance(tokens[taken]):
                problem = "contradiction"
                break
            taken += 1
        stacked = np.stack(masks) if with_masks else None
        return Followed(taken, ends[-1], problem, stacked, tuple(ends))

    def read(self, texts: Sequence[Sequence[int]]) -> list[int]:
        """How many tokens of each text are taken, ``-1`` for a whole text; up to the first such."""
        found = []
        for tokens in texts:
            followed = self.follow(tokens, False)
            is_whole = followed.taken == len(tokens) and followed.may_end
            found.append(-1 if is_whole else followed.taken)
            if is_whole:
                break
        return found

    def write(self, texts: Sequence[tuple[Sequence[int], Writing]]) -> list[Written]:
        """Let texts be written, each from a beginning."""
        return [self._write(prefix, how) for prefix, how in texts]

    def _write(self, prefix: Sequence[int], how: Writing) -> Written:
        session = self._compiled()
        session.restart()
        tokens: list[int] = []
        for token in prefix:
            row = session.mask()
            if not int(row[token >> 5]) >> (token & 31) & 1:
                return Written(tokens, "refused")
            if not session.advance(token):
                return Written([*tokens, token], "contradiction")
            tokens.append(token)
        return self._continued(session, tokens, how)

    def _continued(self, session: Session, tokens: list[int], how: Writing) -> Written:
        rng = random.Random(how.seed)
        state = _outside_of_strings
        for token in tokens:
            state = _after(state, self._vocabulary[token] or b"")
        explored = 0
        while True:
            row = session.mask() & self._spelling_words
            is_exploring = explored < how.explored
            may_end = session.may_end()
            if may_end and (not is_exploring or (how.ends_early and rng.random() < 0.25)):
                return Written(tokens, "ended")
            if not row.any():
                return Written(tokens, "ended" if may_end else "dead end")
            if len(tokens) >= how.most:
                return Written(tokens, "unfinished")
            if not is_exploring and hasattr(session, "completion"):
                return Written([*tokens, *self._spelled(session.completion())], "ended")
            allowed = np.unpackbits(row.astype("<i4").view(np.uint8), bitorder="little").view(bool)
            ranked = self._outside if state == _outside_of_strings else self._inside
            if is_exploring and rng.random() >= _CLOSING_WHILE_EXPLORING:
                token = self._explored(allowed, rng)
            else:
                token = self._closing(allowed, ranked, rng)
            explored += 1
            tokens.append(token)
            state = _after(state, self._vocabulary[token] or b"")
            if not session.advance(token):
                return Written(tokens, "contradiction")

    def _spelled(self, tokens: Sequence[int]) -> list[int]:
        """Without stop tokens."""
        return [token for token in tokens if self._spelling[token]]

    def _explored(self, allowed: npt.NDArray[np.bool_], rng: random.Random) -> int:
        present = np.logical_or.reduceat(allowed[self._by_first], self._first_starts)
        number = rng.choice(np.flatnonzero(present).tolist())
        ends = [*self._first_starts[1:].tolist(), len(self._by_first)]
        group = self._by_first[self._first_starts[number] : ends[number]]
        group = group[allowed[group]]
        short = group[self._is_short[group]]
        return int(rng.choice(short if len(short) and rng.random() < 0.7 else group))

    def _closing(
        self, allowed: npt.NDArray[np.bool_], ranked: list[npt.NDArray[np.intp]], rng: random.Random
    ) -> int:
        if rng.random() < _LEFT_ANYWHERE:
            return self._explored(allowed, rng)
        for tokens in ranked:
            found = tokens[allowed[tokens]]
            if len(found):
                return int(rng.choice(found))
        return int(rng.choice(np.flatnonzero(allowed)))

    def _compiled(self) -> Session:
        assert self._session is not None, "a schema is compiled before texts are read"
        return self._session


# Where a text is, as far as strings go.
_outside_of_strings, _in_string, _after_backslash = 0, 1, 2


def _after(state: int, value: bytes) -> int:
    for byte in value:
        if state == _after_backslash:
            state = _in_string
        elif byte == 0x22:
            state = _outside_of_strings if state == _in_string else _in_string
        elif byte == 0x5C and state == _in_string:
            state = _after_backslash
    return state


def _ranked(
    tokens: npt.NDArray[np.intp], values: list[bytes], rank: Callable[[bytes], int]
) -> list[npt.NDArray[np.intp]]:
    """The tokens of each rank; those of the last are left out."""
    ranks = np.array([rank(value) for value in values])
    return [tokens[ranks == number] for number in range(_LAST_RANK)]


_LAST_RANK = 6
_VALUES = {b"true", b"false", b"null", b"{}", b"[]", b'""', *(b"%d" % digit for digit in range(10))}


def _rank_outside(value: bytes) -> int:
    """How soon a token leads to the end of a JSON text, outside of strings; the lowest first."""
    if value and all(byte in b"}]" for byte in value):
        return 0
    if value in (b":", b'":'):
        return 1
    if value in _VALUES:
        return 2
    if value in (b'"', b"{", b"["):
        return 3
    if len(value) == 1 and (value.isalnum() or value in b"-.+"):
        return 4
    return 5 if value in (b",", b" ", b"\n") else _LAST_RANK


def _rank_inside(value: bytes) -> int:
    """The same inside of strings."""
    if value[:1] == b'"' and all(byte in b'"}]' for byte in value) and value.count(b'"') == 1:
        return 0
    if value == b'":':
        return 1
    if len(value) == 1 and value.isalnum():
        return 2
    if len(value) == 1 and value in b"-.:/@_":
        return 3
    return 4 if value.isascii() and value.isalnum() else _LAST_RANK
