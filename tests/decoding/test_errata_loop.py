"""The counterexamples of docs/errata.md to section 5 and listings 1 and 4 of Xu, *OIP-CAD*."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
import torch

import tokamata as tk
from tests.support.models.fakes import byte_level, token_id
from tokamata.decoding.shadow import detour

WORDS = byte_level(["t h", "th e", "o n", "on e"])


def distance(logits: list[float], bias: list[float], temperature: float) -> float:
    """The total variation between the distributions with and without a bias."""
    before = torch.softmax(torch.tensor(logits, dtype=torch.float64) / temperature, 0)
    after = torch.softmax(
        torch.tensor([z + b for z, b in zip(logits, bias, strict=True)]).double() / temperature, 0
    )
    return float((before - after).abs().sum()) / 2


def test_004_proposition_5_the_constant_is_not_1() -> None:
    """A bias of 0.1 on one of two tokens moves 0.231 at T = 0.1."""
    assert distance([0.0, 0.0], [0.1, 0.0], 0.1) == pytest.approx(0.2311, abs=1e-4)
    assert distance([0.0, 0.0], [0.1, 0.0], 0.25) == pytest.approx(0.0987, abs=1e-4)


def test_004_proposition_5_the_constant_is_a_quarter_of_the_spread_over_the_temperature() -> None:
    """TV <= (max b - min b) / 4T, so 1 / 2T in the supremum norm; nearly attained by small biases."""
    random = torch.Generator().manual_seed(1)
    for _ in range(2000):
        width = int(torch.randint(2, 6, (1,), generator=random))
        logits = (3 * torch.randn(width, generator=random)).tolist()
        bias = torch.randn(width, generator=random).tolist()
        temperature = float(torch.rand(1, generator=random)) * 2 + 0.05
        spread = max(bias) - min(bias)
        moved = distance(logits, bias, temperature)
        assert moved <= spread / (4 * temperature) + 1e-9
        assert moved <= max(map(abs, bias)) / (2 * temperature) + 1e-9
    assert distance([0.0, 0.0], [0.001, -0.001], 0.1) == pytest.approx(0.002 / 0.4, rel=1e-3)


def test_004_listing_1_a_byte_that_no_token_writes_is_not_written() -> None:
    """The paper moves the state by a byte and leaves the tokens as they are; then text and state part.

    Here the only tokens are ``ab`` and ``c``.  No token is the byte ``a``, so ``ab`` stands for it.
    """
    vocabulary = tk.Vocabulary.load([b"ab", b"c", None], stop=2)
    matcher = tk.regex("abc").compile(vocabulary).matcher()
    found = detour(matcher, vocabulary, torch.zeros(3), 10, 8, None, lambda here, left: here)
    assert found is not None
    assert (found.tokens, found.data) == ([0], b"ab")
    assert found.back is not None
    assert found.back.text == found.data


def test_004_listing_1_two_legal_tokens_are_never_left_where_the_constraint_leaves_one() -> None:
    """With ``resync=2`` a text that is forced goes on by bytes to its end; with 1 it comes back at once."""
    vocabulary = tk.Vocabulary.load([b"a", b"b", b"c", None], stop=3)
    matcher = tk.regex("abc").compile(vocabulary).matcher()

    def with_tokens(least: int) -> Any:
        def resumed(here: tk.Matcher, left: int) -> tk.Matcher | None:
            return here if bin(int(here.mask[0])).count("1") >= least else None

        return detour(matcher, vocabulary, torch.zeros(4), 10, 8, None, resumed)

    assert with_tokens(1).data == b"a"
    assert with_tokens(2).data == b"abc"  # accepted: an end, as the listing has none
    assert with_tokens(2).back is None


def test_004_listing_4_a_text_without_tokens_drops_no_other() -> None:
    """The paper's loop breaks at the first beam without tokens, and loses all others."""
    random = torch.Generator().manual_seed(0)

    class Failing:
        """Every third call says nothing of the second text."""

        config = SimpleNamespace(vocab_size=len(WORDS))
        calls = 0

        def __call__(self, input_ids: Any, **options: Any) -> Any:
            logits = torch.randn(*input_ids.shape, len(WORDS), generator=random)
            if self.calls % 3 == 1:
                logits[1:2] = float("nan")
            self.calls += 1
            return SimpleNamespace(logits=logits)

    constraint = tk.regex("[a-z]{9}")
    results = tk.generate(Failing(), WORDS, ["a", "b", "c"], constraint, policy=tk.Policy(), seed=2)
    assert all(isinstance(one, tk.Generation) and constraint.accepts(one.text) for one in results)
    assert [bool(one.switches) for one in results] == [False, True, False]


def test_004_listing_4_a_beam_without_tokens_drops_no_other() -> None:
    """Of the beams ``one``, ``the`` and ``a`` the first has no token at one step; all three have a text."""
    one, the, a, exclamation = (token_id(WORDS, piece) for piece in ("one", "the", "a", "!"))

    class Failing:
        """After ``one`` it says nothing."""

        config = SimpleNamespace(vocab_size=len(WORDS))

        def __call__(self, input_ids: Any, **options: Any) -> Any:
            logits = torch.full((*input_ids.shape, len(WORDS)), -20.0)
            logits[..., [one, the, a, exclamation]] = torch.tensor([3.0, 2.0, 1.0, 0.0])
            logits[input_ids[:, -1] == one] = float("nan")
            return SimpleNamespace(logits=logits)

    constraint = tk.regex("(one|the|a)!")
    found = tk.beam_search(Failing(), WORDS, "x", constraint, beams=3, candidates=3, policy=tk.Policy())
    assert isinstance(found, tk.Beams)
    assert {beam.text: bool(beam.switches) for beam in found} == {"one!": True, "the!": False, "a!": False}
