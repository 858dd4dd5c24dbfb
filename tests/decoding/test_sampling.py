"""Choosing a token: the order of mask, temperature, top-k and top-p, and what is refused."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import numpy as np
import pytest
import torch

from tests.support.models.margins import margins
from tokamata.decoding.sampling import Sampler, Sampling
from tokamata.errors import GenerationError

CPU = torch.device("cpu")
LOGITS = torch.tensor([0.1, 0.2, 0.3, 0.4]).log()


def draws(sampling: Sampling, logits: torch.Tensor = LOGITS, count: int = 2000) -> Counter[int]:
    sampler = Sampler(sampling, CPU)
    return Counter(sampler.choose(logits)[0] for _ in range(count))


def test_margins() -> None:
    """What :mod:`tests.support.models.margins` collects, against the definition."""
    tokens = LOGITS.clone()
    tokens[3] = -math.inf  # the mask forbids it
    with margins() as found:
        Sampler(Sampling(greedy=True), CPU).choose(tokens)
        Sampler(Sampling(greedy=True), CPU).choose(torch.tensor([2.0, -math.inf]))
    assert found == [pytest.approx(math.log(0.3 / 0.2)), math.inf]
    Sampler(Sampling(greedy=True), CPU).choose(tokens)
    assert len(found) == 2


def test_draws_follow_the_probabilities() -> None:
    counts = draws(Sampling(seed=0))
    for token, share in enumerate((0.1, 0.2, 0.3, 0.4)):
        assert abs(counts[token] / 2000 - share) < 0.05


@pytest.mark.parametrize(
    "sampling", [Sampling(greedy=True), Sampling(temperature=0), Sampling(top_k=1), Sampling(top_p=1e-6)]
)
def test_the_most_probable(sampling: Sampling) -> None:
    assert draws(sampling, count=50) == {3: 50}


def test_temperature() -> None:
    assert draws(Sampling(temperature=1e-30, seed=0), count=50) == {3: 50}
    assert draws(Sampling(temperature=1e-45, seed=0), count=50) == {3: 50}
    assert min(draws(Sampling(temperature=100, seed=0)).values()) > 400


def test_top_k_and_top_p() -> None:
    assert set(draws(Sampling(top_k=2, seed=0))) == {2, 3}
    assert set(draws(Sampling(top_k=99, seed=0))) == {0, 1, 2, 3}
    assert set(draws(Sampling(top_p=0.7, seed=0))) == {2, 3}
    assert set(draws(Sampling(top_p=0.71, seed=0))) == {1, 2, 3}
    # Among the two that top-k leaves, the first alone has more than half.
    assert set(draws(Sampling(top_k=2, top_p=0.5, seed=0))) == {3}


def test_masked_tokens_are_never_drawn() -> None:
    logits = torch.tensor([5.0, -math.inf, 1.0, math.nan])
    for sampling in (
        Sampling(seed=0),
        Sampling(top_k=4, seed=0),
        Sampling(temperature=1e9, top_p=0.999, seed=0),
    ):
        assert set(draws(sampling, logits)) == {0, 2}


def test_the_log_probability_is_that_of_temperature_one() -> None:
    for sampling in (Sampling(greedy=True), Sampling(temperature=0.01), Sampling(top_k=1)):
        token, log_probability = Sampler(sampling, CPU).choose(LOGITS + 7)
        assert token == 3
        assert log_probability == pytest.approx(math.log(0.4), abs=1e-6)


def test_seeds() -> None:
    assert draws(Sampling(seed=5), count=40) == draws(Sampling(seed=5), count=40)
    logits = torch.zeros(1000)
    first = [Sampler(Sampling(seed=seed), CPU).choose(logits)[0] for seed in range(5)]
    assert len(set(first)) > 1


@pytest.mark.parametrize("logits", [[math.nan] * 3, [-math.inf] * 3, [math.nan, -math.inf, -math.inf]])
def test_nothing_to_choose(logits: list[float]) -> None:
    with pytest.raises(GenerationError, match="no token to choose"):
        Sampler(Sampling(), CPU).choose(torch.tensor(logits))


def test_plus_infinity() -> None:
    with pytest.raises(GenerationError, match="plus infinity"):
        Sampler(Sampling(), CPU).choose(torch.tensor([0.0, math.inf]))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64])
def test_dtypes(dtype: torch.dtype) -> None:
    assert Sampler(Sampling(greedy=True), CPU).choose(LOGITS.to(dtype))[0] == 3


@pytest.mark.parametrize(
    "settings",
    [
        {"temperature": -1.0},
        {"temperature": math.nan},
        {"temperature": math.inf},
        {"top_k": 0},
        {"top_p": 0.0},
        {"top_p": 1.5},
        {"top_p": math.nan},
    ],
)
def test_settings_out_of_range(settings: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=next(iter(settings))):
        Sampling(**settings)  # type: ignore[arg-type]


@pytest.mark.parametrize("number", [np.float32, np.float64, torch.tensor], ids=lambda one: one.__name__)
def test_numbers_of_numpy_and_torch(number: Any) -> None:
    plain = draws(Sampling(temperature=0.5, top_p=0.75, seed=1), count=40)
    assert draws(Sampling(temperature=number(0.5), top_p=number(0.75), seed=1), count=40) == plain
