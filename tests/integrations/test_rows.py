"""Rows find their matchers again, and no call costs more than the ids that are new."""

from __future__ import annotations

import random
import re
from collections import Counter
from typing import Any

import pytest
import torch

import tokamata as tk
from tests.support.masks import bits
from tokamata.integrations.rows import Row
from tokamata.integrations.transformers import ConstraintLogitsProcessor

PROMPT = [7, 8, 9]
PATTERN = r"([a-e]{1,4}[.!])*"


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often the engine was called for what costs time."""
    counts: Counter[str] = Counter()

    def counted(name: str) -> None:
        original = getattr(tk.Matcher, name)

        def wrapper(self: Any, *args: Any) -> Any:
            counts[name] += 1
            return original(self, *args)

        monkeypatch.setattr(tk.Matcher, name, wrapper)

    for name in ("advance", "rollback", "fork"):
        counted(name)
    return counts


class Host:
    """Draws tokens from the masked scores at random, and checks each mask against a new matcher."""

    def __init__(self, vocabulary: tk.Vocabulary, seed: int, **settings: Any) -> None:
        self.compiled = tk.regex(PATTERN).compile(vocabulary)
        self.processor = ConstraintLogitsProcessor(self.compiled, **settings)
        self.width = vocabulary.width
        self.random = random.Random(seed)

    def draw(self, rows: list[list[int]], check: bool = True) -> list[int]:
        """The next token of each row."""
        ids = torch.tensor([PROMPT + row for row in rows])
        masked = self.processor(ids, torch.zeros(len(rows), self.width))
        allowed = [row.isfinite().nonzero().flatten().tolist() for row in masked]
        for row, tokens in zip(rows, allowed, strict=True):
            if check:
                matcher = self.compiled.matcher()
                assert all(map(matcher.advance, row))
                assert set(tokens) == bits(matcher.mask)
        stop = set(self.compiled.vocabulary.stop)
        return [self.random.choice([token for token in tokens if token not in stop]) for tokens in allowed]


@pytest.mark.parametrize("count", [10, 100, 1000])
@pytest.mark.parametrize("rows", [1, 16])
def test_plain_generation_advances_once_per_token(
    byte_vocabulary: tk.Vocabulary, calls: Counter[str], rows: int, count: int
) -> None:
    host = Host(byte_vocabulary, 0)
    texts: list[list[int]] = [[] for _ in range(rows)]
    for _ in range(count + 1):
        for text, token in zip(texts, host.draw(texts, check=False), strict=True):
            text.append(token)
    assert calls["advance"] == rows * count
    assert calls["rollback"] == 0
    assert calls["fork"] == rows - 1  # at the start, for prompts that are the same


@pytest.mark.parametrize("length", [{}, {"prompt_length": len(PROMPT)}])
def test_assisted_decoding_costs_as_many_steps_as_were_drafted(
    byte_vocabulary: tk.Vocabulary, calls: Counter[str], length: dict[str, int]
) -> None:
    """Each round: an assistant drafts five, the model reads them, and some are kept with one of its own."""
    drafted = 5
    per_round: list[float] = []
    for count in (50, 500):
        host = Host(byte_vocabulary, 1, **length)
        calls.clear()
        text: list[int] = []
        rounds = 0
        while len(text) < count:
            draft = list(text)
            for _ in range(drafted):
                draft += host.draw([draft], check=False)
            kept = host.random.randrange(drafted + 1)
            for read in range(drafted + 1):
                last = host.draw([draft[: len(text) + read]], check=False)
                if read == kept:
                    own = last
            text = draft[: len(text) + kept] + own
            rounds += 1
        assert re.match(PATTERN, bytes_of(host, text).decode())
        # A round: five of the draft, one kept by the model before it, five again when the model reads.
        assert calls["advance"] <= rounds * (2 * drafted + 1)
        assert calls["rollback"] <= 2 * rounds
        assert calls["fork"] == 0
        per_round.append(calls["advance"] / rounds)
    assert per_round[1] == pytest.approx(per_round[0], rel=0.2)  # no walk from the start


def bytes_of(host: Host, text: list[int]) -> bytes:
    return b"".join(host.compiled.vocabulary[token] or b"" for token in text)


def test_beams_fork_what_is_copied_and_nothing_else(
    byte_vocabulary: tk.Vocabulary, calls: Counter[str]
) -> None:
    host = Host(byte_vocabulary, 2)
    beams: list[list[int]] = [[] for _ in range(4)]
    copies = 3  # at the start
    for _ in range(60):
        drawn = host.draw(beams, check=False)
        parents = [host.random.randrange(4) for _ in beams]
        before = [tuple(beam) for beam in beams]
        beams = [[*beams[parent], drawn[parent]] for parent in parents]
        # Beams with the same ids are one parent to a processor that knows ids alone.
        copies += 4 - len({before[parent] for parent in parents})
    assert calls["fork"] <= copies
    assert calls["advance"] == 4 * 59


@pytest.mark.parametrize("seed", range(6))
def test_any_movement_of_rows_gives_the_masks_of_new_matchers(
    byte_vocabulary: tk.Vocabulary, seed: int
) -> None:
    host = Host(byte_vocabulary, seed, prompt_length=len(PROMPT))
    rows: list[list[int]] = [[] for _ in range(3)]
    for _ in range(60):
        drawn = host.draw(rows)
        movement = host.random.choice(["on", "beams", "back", "other"])
        if movement == "beams":
            order = [host.random.randrange(3) for _ in rows]
            rows, drawn = [rows[i] for i in order], [drawn[i] for i in order]
        rows = [[*row, token] for row, token in zip(rows, drawn, strict=True)]
        if movement == "back":
            length = host.random.randrange(len(rows[0]) + 1)
            rows = [row[:length] for row in rows]
        if movement == "other":  # another generation of as many rows
            rows = [[] for _ in range(3)]


def test_a_row_counts_what_it_refuses(byte_vocabulary: tk.Vocabulary) -> None:
    stop = byte_vocabulary.stop[0]
    row = Row(tk.regex("ab").compile(byte_vocabulary).matcher())
    for token in b"axb":
        row.advance(token)
    assert (row.length, row.is_refused, row.has_stopped) == (3, True, False)
    row.go_back(2)
    assert row.is_refused
    row.go_back(1)
    assert not row.is_refused
    fork = row.fork()
    for token in (ord("b"), stop, 0, stop, byte_vocabulary.width + 5):
        fork.advance(token)
    assert (fork.length, fork.is_refused, fork.has_stopped) == (6, False, True)
    fork.go_back(3)
    assert fork.has_stopped
    fork.go_back(2)
    assert not fork.has_stopped
    assert row.matcher is not None
    assert row.matcher.text == b"a"
    for token in (-1, byte_vocabulary.width):
        row.advance(token)
        assert row.is_refused
        row.go_back(1)


def test_a_free_row_takes_everything() -> None:
    row = Row(None)
    for token in (5, -1, 10**9):
        row.advance(token)
    assert (row.length, row.is_refused) == (3, False)
    assert row.fork().length == 3
    row.go_back(1)
    assert row.length == 1
