"""Drafts of random tokens, after random calls: each primitive of a matcher against fork and advance.

    python -m fuzz.fuzz_drafts --seconds 3600 --seed 1

A matcher takes tokens that its mask allows and others, alone and in runs, goes back over stop tokens and
control tokens, and is forked.  At each place drafts are made: chains and trees, of tokens that may follow,
others, stop tokens and ids that do not exist.  ``validate``, ``advance_all`` and ``fill_draft_masks`` must
say what a fork says that advances by one token after another, and must change nothing.  A twin with stop
tokens of its own must have the same masks but for these.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

import tokamata as tk
from fuzz import timed
from tests.support.masks import allowed, bits
from tests.support.tokenizers.random_tokenizers import with_every_byte
from tests.support.vocabularies import BYTES

CONTROLS = {"<end>": 0, "<stop>": 1, "<call>": 2}
PIECES: list[bytes | None] = [None, None, None, b'": ', b"ab", b"aab", b'{"', b"[[", b"1,", b"\xc3\xa9"]
STEPS = 30


@dataclass
class Tally(timed.Tally):
    """What was done: walks, drafts, and the nodes of drafts that were legal and that were not."""

    tried: int = 0
    drafts: int = 0
    legal: int = 0
    refused: int = 0
    within: int = 0


def vocabulary() -> tk.Vocabulary:
    """Control tokens, some longer tokens, every byte; two stop tokens; some ids that are padding."""
    tokens = [*PIECES, *BYTES]
    return tk.Vocabulary.load(
        tokens, stop=["<end>", "<stop>"], control_tokens=CONTROLS, width=len(tokens) + 5
    )


def constraints() -> list[tk.Constraint]:
    """Of each kind that the engine treats in its own way."""
    call = tk.control_token("<call>")
    schema = {
        "type": "object",
        "properties": {"a": {"type": "integer"}, "ab": {"uniqueItems": True}},
        "required": ["a"],
    }
    return [
        tk.regex("(?:ab|a)*"),
        tk.regex("[0-9]{2,5}(?!0)|aab?"),
        tk.regex("(?:a+b)*(?<=aab)"),
        tk.json(),
        tk.json_schema(schema, property_order="any", whitespace="any"),
        tk.json_schema({"type": "array", "items": {"enum": [1, 11, "a"]}, "maxItems": 3}),
        tk.grammar('start: "[" start* "]" | /a+/', lexer="characters"),
        call + tk.regex("[ab]{1,3}") + (call | tk.regex("1,")).repeat(0, 2),
        tk.literal("aab"),
    ]


def compiled_ones() -> list[tk.CompiledConstraint]:
    """All constraints; some of them in the tokens that a tokenizer writes."""
    tokenizer, plain = with_every_byte(random.Random(7))
    known = vocabulary()
    canonical = tk.Vocabulary.load(tokenizer, stop=(), width=plain.width + 3)
    texts = (tk.regex("(?:ab|a)*b?"), tk.json(), tk.regex("a{2,9}b|[^a]+"))
    return [
        *(one.compile(known) for one in constraints()),
        *(one.compile(canonical, tokenization="canonical") for one in texts),
    ]


class Walk:
    """One text, and the drafts that are made at its places."""

    def __init__(self, compiled: tk.CompiledConstraint, draw: random.Random, tally: Tally) -> None:
        self.compiled, self.draw, self.tally = compiled, draw, tally
        self.matcher = compiled.matcher()
        stop, width = compiled.vocabulary.stop, compiled.vocabulary.width
        self.own = list(draw.choice((stop, stop[:1], (), (*stop[:1], width - 1))))
        self.twin = compiled.matcher(stop=self.own)

    def run(self, steps: int) -> None:
        """So many random steps."""
        for _ in range(steps):
            self.draw.choice(
                (
                    self.take,
                    self.take,
                    self.take_run,
                    self.go_back,
                    self.fork,
                    self.ask,
                    self.ask,
                    self.compare,
                )
            )()

    def tokens(self, matcher: tk.Matcher, count: int) -> list[int]:
        """Tokens of which most follow each other."""
        fork, made = matcher.fork(), []
        for _ in range(count):
            live = sorted(allowed(fork))
            odd = self.draw.choice(
                (
                    -1,
                    0,
                    1,
                    self.compiled.vocabulary.width,
                    self.draw.randrange(self.compiled.vocabulary.width),
                )
            )
            token = self.draw.choice(live) if live and self.draw.random() < 0.85 else odd
            made.append(token)
            if 0 <= token < self.compiled.vocabulary.width:
                fork.advance(token)
        return made

    def take(self) -> None:
        """A token, by both."""
        token = self.tokens(self.matcher, 1)[0]
        stops = {*self.compiled.vocabulary.stop, *self.own}
        if 0 <= token < self.compiled.vocabulary.width and token not in stops:
            assert self.matcher.advance(token) == self.twin.advance(token)

    def take_run(self) -> None:
        """All of a run, or nothing."""
        width = self.compiled.vocabulary.width
        run = [token for token in self.tokens(self.matcher, self.draw.randrange(5)) if 0 <= token < width]
        before, tokens = allowed(self.matcher), self.matcher.tokens
        legal = prefix(self.matcher, run)
        assert self.matcher.validate(run) == legal
        assert self.matcher.advance_all(run) == (legal == len(run))
        if legal < len(run):
            assert (allowed(self.matcher), self.matcher.tokens) == (before, tokens)
        else:  # the twin has other stop tokens; both go on from here
            self.matcher.rollback(len(run))
            assert (allowed(self.matcher), self.matcher.tokens) == (before, tokens)

    def go_back(self) -> None:
        """Some tokens, over stop tokens too."""
        stop = next(
            (token for token in self.compiled.vocabulary.stop if token in allowed(self.matcher)), None
        )
        if stop is not None:
            before = allowed(self.matcher)
            assert self.matcher.advance_all([stop, stop])
            assert allowed(self.matcher) == set(self.compiled.vocabulary.stop)
            assert self.matcher.is_finished
            self.matcher.rollback(2)
            assert allowed(self.matcher) == before
        count = min(self.draw.randrange(4), len(self.matcher.tokens))
        for one in (self.matcher, self.twin):
            one.rollback(count)

    def fork(self) -> None:
        """Goes on with a fork; what happens to the other one changes nothing."""
        other, tokens = self.matcher, self.matcher.tokens
        self.matcher = other.fork()
        other.rollback(min(len(tokens), self.draw.randrange(3)))
        other.advance_all(
            [token for token in self.tokens(other, 2) if 0 <= token < self.compiled.vocabulary.width]
        )
        assert self.matcher.tokens == tokens

    def ask(self) -> None:
        """The masks of a chain or a tree, with or without a budget."""
        matcher, draw = self.matcher, self.draw
        parents: list[int] | None = None
        if draw.random() < 0.5:
            draft = self.tokens(matcher, draw.randrange(6))
        else:
            draft, parents = self.tree()
        budget = draw.choice((None, None, draw.randrange(1, 8)))
        counts = draw.random() < 0.3
        before = matcher.tokens
        mask = np.full((len(draft) + 2, len(matcher.mask)), -1, dtype=np.int32)
        legal = matcher.fill_draft_masks(mask, draft, parents, budget, count_stop=counts)
        rows, expected = expected_rows(matcher, draft, parents, budget, counts)
        assert legal.tolist() == expected, (draft, parents, budget, legal, expected)
        assert [bits(row) for row in mask[:-1]] == rows, (draft, parents, budget)
        assert (mask[-1] == -1).all()
        assert matcher.tokens == before
        if parents is None and budget is None:
            assert matcher.validate(draft) == (expected.index(False) if False in expected else len(draft))
        self.tally.drafts += 1
        self.tally.legal += sum(expected)
        self.tally.refused += len(expected) - sum(expected)
        self.tally.within += budget is not None

    def tree(self) -> tuple[list[int], list[int]]:
        """Tokens and their parents."""
        places: list[tuple[int, list[int]]] = [(-1, [])]
        draft, parents = [], []
        for node in range(self.draw.randrange(1, 9)):
            parent, path = self.draw.choice(places)
            fork = self.matcher.fork()
            token = self.tokens(fork, 1)[0] if fork.advance_all(path) else self.draw.randrange(300)
            draft.append(token)
            parents.append(parent)
            if 0 <= token < self.compiled.vocabulary.width:
                places.append((node, [*path, token]))
        return draft, parents

    def compare(self) -> None:
        """With the twin: the same tokens, and its own stop tokens where the text may end."""
        vocabulary = self.compiled.vocabulary
        if any(token in vocabulary.stop for token in self.matcher.tokens):
            return
        assert self.matcher.tokens == self.twin.tokens
        text = allowed(self.matcher) - set(vocabulary.stop)
        accepts = self.matcher.is_accepting
        assert allowed(self.twin) == text | (set(self.own) if accepts else set())
        assert self.twin.is_accepting == accepts
        assert self.twin.is_finished == self.matcher.is_finished
        fork = self.twin.fork()
        for token in {*vocabulary.stop, *self.own}:
            is_stop = accepts and token in self.own
            assert fork.validate([token]) == is_stop
            if fork.advance(token):
                assert is_stop
                assert fork.is_finished
                assert allowed(fork) == set(self.own)
                fork.rollback(1)


def prefix(matcher: tk.Matcher, tokens: Sequence[int]) -> int:
    """How many of the tokens a fork takes."""
    fork, width = matcher.fork(), matcher.compiled.vocabulary.width
    for count, token in enumerate(tokens):
        if not 0 <= token < width or not fork.advance(token):
            return count
    return len(tokens)


def expected_rows(
    matcher: tk.Matcher, draft: Sequence[int], parents: Sequence[int] | None, budget: int | None, counts: bool
) -> tuple[list[set[int]], list[bool]]:
    """The rows of a draft, and which nodes are legal: by forks that advance by one token after another."""

    def row_of(fork: tk.Matcher, depth: int) -> set[int]:
        if budget is None:
            return allowed(fork)
        if fork.tokens[-1:] and fork.tokens[-1] in matcher.compiled.vocabulary.stop:
            return allowed(fork)
        left = budget - depth
        if left < counts:
            return set()
        if left == 0:
            return set(matcher.compiled.vocabulary.stop) if fork.is_accepting else set()
        mask = np.zeros(len(fork.mask), dtype=np.int32)
        try:
            fork.fill_mask(mask, budget=left, count_stop=counts)
        except tk.BudgetError:
            return set()
        return bits(mask)

    forks: list[tuple[tk.Matcher, int] | None] = [(matcher.fork(), 0)]
    rows, legal = [row_of(matcher.fork(), 0)], []
    for node, token in enumerate(draft):
        parent = node if parents is None else parents[node] + 1
        before = forks[parent]
        is_legal = before is not None and token in rows[parent]
        if is_legal:
            fork = before[0].fork()
            assert fork.advance(token)
            forks.append((fork, before[1] + 1))
            rows.append(row_of(fork, before[1] + 1))
        else:
            forks.append(None)
            rows.append(set())
        legal.append(is_legal)
    return rows, legal


def run(seconds: float, seed: int) -> Tally:
    """Fuzzes for so long; returns what was done."""
    tally = Tally()
    compiled = compiled_ones()
    for turn in timed.turns(seconds):
        draw = random.Random(f"{seed}.{turn}")
        one = draw.choice(compiled)
        tally.tried = turn
        with timed.naming(f"seed {seed}, turn {turn}", one):
            Walk(one, draw, tally).run(STEPS)
    return tally


if __name__ == "__main__":
    timed.main(__doc__ or "", run)
