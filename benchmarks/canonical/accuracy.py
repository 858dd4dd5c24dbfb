"""What each filter forbids wrongly on canonical encodings, and what it lets through.

The judge is the tokenizer's own program.  A token is right behind some others if a text exists whose
encoding begins so, which is looked for among short continuations.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

import tokamata as tk
from benchmarks.canonical.genlm import NAME, Genlm
from benchmarks.canonical.walks import TOKENIZATIONS, UNIFORM, Draw
from benchmarks.common.tokenizers import Tokenizer

PARAGRAPHS: list[str] = json.loads(Path(__file__).with_name("paragraphs.json").read_text("utf-8"))
"""Sixty paragraphs: English, code, and other languages, whose canonical tokens every filter must allow."""
_DRAWS = 8  # of the other filter's, of which the first that is text counts
_CONTINUATIONS = (
    "", " ", "a", "s", " the", "the", "ing", "A", "1", "0", ".", ",", "!", "'", "'s", '"', "(", ")", "=",
    "/", "_", "-", ":", ";", "<", "\n", "\n\n", "\r\n", "\t", "  ", "  a", " 1", "é", "ы", "ا", "ा", "的",
    "が", "의", "\u0301", "\u200b", "🙂",
)  # fmt: skip


@dataclass
class Accuracy:
    """One filter on one tokenizer.

    Attributes:
        asked: how many canonical next tokens were looked up in its masks.
        forbidden: how many of them it forbids.
        drawn: random tokens that it allows.
        wrong: how many of them no continuation keeps.
        forbidden_examples, wrong_examples: some of either kind.
    """

    asked: int = 0
    forbidden: int = 0
    drawn: int = 0
    wrong: int = 0
    forbidden_examples: list[str] = field(default_factory=list)
    wrong_examples: list[str] = field(default_factory=list)


@dataclass
class Place:
    """A place in a canonical encoding.

    Attributes:
        before: the tokens before it, of which there are some.
        following: the canonical next token.
        matchers: matchers there, by tokenization; ``None`` for one that has refused a token before.
    """

    before: list[int]
    following: int
    matchers: dict[str, tk.Matcher | None]


class Judge:
    """The tokenizer's own program."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        from tokenizers import Tokenizer as Own

        assert tokenizer.json_text is not None
        self._own = Own.from_str(tokenizer.json_text)
        self._own.no_padding()
        self._own.no_truncation()
        self._vocabulary = tokenizer.vocabulary

    def encode(self, text: str) -> list[int]:
        """The canonical tokens of a text, no control tokens added."""
        tokens: list[int] = self._own.encode(text, add_special_tokens=False).ids
        return tokens

    def text(self, tokens: Sequence[int]) -> bytes:
        """What tokens spell."""
        return b"".join(self._vocabulary[token] or b"" for token in tokens)

    def shown(self, place: Place, token: int) -> str:
        """A token at a place, for people."""
        before = " ".join(f"{self.text([one])!r}" for one in place.before[-3:])
        return f"{self.text([token])!r} after {before}"

    def is_beginning(self, tokens: list[int], more: bytes | None = None) -> bool:
        """Whether a canonical encoding is found that begins so; ``more`` is one more continuation to try."""
        data = self.text(tokens)
        rests: Iterator[bytes] = _rests(data)
        for rest in rests if more is None else itertools.chain((more,), rests):
            try:
                again = self.encode((data + rest).decode())
            except UnicodeDecodeError:
                continue
            if again[: len(tokens)] == tokens and self.text(again) == data + rest:
                return True
        return False


def _rests(data: bytes) -> Iterator[bytes]:
    """Continuations; where a code point is unfinished, first of all what may finish it."""
    try:
        data.decode()
    except UnicodeDecodeError as error:
        if error.reason != "unexpected end of data":
            return
        lead, read = data[error.start], len(data) - error.start
        missing = (2 if lead < 0xE0 else 3 if lead < 0xF0 else 4) - read
        values = range(0x80, 0xC0), range(0x80, 0xC0, 16), (0x80, 0xA5)
        for ending in itertools.product(*values[:missing]):
            yield bytes(ending)
            yield bytes(ending) + b"a"
        return
    for continuation in _CONTINUATIONS:
        yield continuation.encode()


def accuracy(
    tokenizer: Tokenizer, genlm: Genlm | None, count: int, seed: int
) -> tuple[dict[str, Accuracy], int]:
    """All filters, by name, at every place of the first ``count`` paragraphs but the first of each.

    Returns also how many paragraphs were left out, since the tokenizer does not give their text back.
    """
    judge = Judge(tokenizer)
    places, left_out = _places(tokenizer, judge, count)
    found = {
        f"tokamata, {tokenization}": _ours(places, tokenization, tokenizer, judge, seed)
        for tokenization in TOKENIZATIONS
    }
    if genlm is not None:
        found[NAME] = _theirs(places, tokenizer, judge, genlm, seed)
    return found, left_out


def _places(tokenizer: Tokenizer, judge: Judge, count: int) -> tuple[list[Place], int]:
    constraint = tk.regex("(?s:.*)")
    compiled = {name: constraint.compile(tokenizer.vocabulary, tokenization=name) for name in TOKENIZATIONS}
    places, left_out = [], 0
    for text in PARAGRAPHS[:: max(1, len(PARAGRAPHS) // count)]:
        tokens = judge.encode(text)
        if judge.text(tokens) != text.encode():
            left_out += 1
            continue
        matchers: dict[str, tk.Matcher | None] = {name: one.matcher() for name, one in compiled.items()}
        for number, token in enumerate(tokens):
            if number:
                forks = {name: None if one is None else one.fork() for name, one in matchers.items()}
                places.append(Place(tokens[:number], token, forks))
            for name, matcher in matchers.items():
                if matcher is not None and not matcher.advance(token):
                    matchers[name] = None
    return places, left_out


def _ours(places: list[Place], name: str, tokenizer: Tokenizer, judge: Judge, seed: int) -> Accuracy:
    found = Accuracy()
    draw = Draw(UNIFORM, tokenizer.vocabulary, f"{seed}:accuracy:{name}")
    for place in places:
        matcher, token = place.matchers[name], place.following
        mask = np.zeros(1 + (token >> 5), dtype=np.int32) if matcher is None else matcher.mask
        is_allowed = bool(mask[token >> 5] >> (token & 31) & 1)
        _count(found, place, is_allowed, None if matcher is None else draw(mask), judge)
    return found


def _theirs(places: list[Place], tokenizer: Tokenizer, judge: Judge, genlm: Genlm, seed: int) -> Accuracy:
    """Its drawn tokens that are no text (control tokens) do not count."""
    found = Accuracy()
    lasts, nexts = [place.before[-1] for place in places], [place.following for place in places]
    allowed, drawn = genlm.look(lasts, nexts, _DRAWS, seed)
    stop = frozenset(tokenizer.vocabulary.stop)
    for place, is_allowed, tokens in zip(places, allowed, drawn, strict=True):
        text = (token for token in tokens if tokenizer.vocabulary[token] and token not in stop)
        _count(found, place, is_allowed, next(text, None), judge)
    return found


def _count(found: Accuracy, place: Place, is_allowed: bool, token: int | None, judge: Judge) -> None:
    found.asked += 1
    found.forbidden += not is_allowed
    if not is_allowed:
        found.forbidden_examples.append(judge.shown(place, place.following))
    if token is None:
        return
    found.drawn += 1
    if not judge.is_beginning([*place.before, token]) and not _completes(place, token, judge):
        found.wrong += 1
        found.wrong_examples.append(judge.shown(place, token))


def _completes(place: Place, token: int, judge: Judge) -> bool:
    """Whether the way to an end that tokamata knows keeps the token, by the tokenizer's own program."""
    there = place.matchers["canonical"]
    matcher = None if there is None else there.fork()
    if matcher is None or not matcher.advance(token):
        return False
    tokens = [*place.before, token]
    return judge.is_beginning(tokens, judge.text(matcher.shortest_completion()))
