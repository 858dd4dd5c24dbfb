"""The legal mass that ``apply_mask`` returns, against decimal arithmetic."""

from __future__ import annotations

import math
from decimal import Decimal, localcontext

import numpy as np
import pytest
import torch

from tokamata.errors import ArgumentError, MaskError
from tokamata.matching.masks import apply_mask

DTYPES = [np.float16, np.float32, np.float64]


def exact(row: np.ndarray, mask: np.ndarray) -> float:
    """``log(sum of the allowed / sum of all)`` with 60 digits; exponents of decimals do not overflow."""
    with localcontext() as context:
        context.prec = 60
        terms = [Decimal(float(x)).exp() for x in row]
        allowed = [
            term
            for token, term in enumerate(terms)
            if token < 32 * len(mask) and (int(mask[token // 32]) >> (token % 32)) & 1
        ]
        part, total = sum(allowed, Decimal(0)), sum(terms, Decimal(0))
        return float((part / total).ln()) if part else -math.inf


def random_case(dtype: type, scale: float) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(7)
    logits = (random.normal(size=(2, 3, 75)) * scale).astype(dtype)  # 11 columns beyond the mask
    logits[0, 0, ::5] = -np.inf
    mask = random.integers(-(2**31), 2**31, size=(2, 3, 2), dtype=np.int64).astype(np.int32)
    mask[0, 1] = 0
    mask[0, 2] = 0
    mask[0, 2, 1] = 1 << 4  # a single token
    return logits, mask


@pytest.mark.parametrize("scale", [1.0, 100.0, 10_000.0])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("is_tensor", [False, True])
def test_the_mass_is_exact_up_to_rounding(dtype: type, scale: float, is_tensor: bool) -> None:
    logits, mask = random_case(dtype, scale)
    expected = np.array(
        [[exact(r, m) for r, m in zip(*pair, strict=True)] for pair in zip(logits, mask, strict=True)]
    )
    plain = logits.copy()
    assert apply_mask(plain, mask) is None
    if is_tensor:
        tensor = torch.from_numpy(logits)
        result = apply_mask(tensor, mask, log_mass=True)
        assert result.dtype == (torch.float64 if dtype is np.float64 else torch.float32)
        mass = result.numpy()
    else:
        mass = apply_mask(logits, mask, log_mass=True)
        assert mass.dtype == (np.float64 if dtype is np.float64 else np.float32)
    assert mass.shape == (2, 3)
    assert mass[0, 1] == -np.inf
    np.testing.assert_allclose(mass, expected, rtol=1e-6, atol=1e-6)
    np.testing.assert_array_equal(logits, plain)  # the logits are masked as without it


def test_bfloat16_is_summed_in_float32() -> None:
    logits, mask = random_case(np.float32, 3.0)
    tensor = torch.from_numpy(logits).to(torch.bfloat16)
    expected = apply_mask(tensor.float(), mask, log_mass=True)
    mass = apply_mask(tensor, mask, log_mass=True)
    assert mass.dtype == torch.float32
    torch.testing.assert_close(mass, expected)


@pytest.mark.parametrize("make", [np.array, torch.tensor])
@pytest.mark.parametrize(
    ("row", "bits", "expected"),
    [
        ([1e6, 1e6], 0b01, math.log(0.5)),  # exp would overflow, and peak + log(sum) round
        ([-1e6, -1e6], 0b01, math.log(0.5)),
        ([0.0, 1000.0], 0b01, -1000.0),  # exp of the difference underflows
        ([0.0, 1.0], 0b11, 0.0),
        ([-math.inf, 0.0], 0b01, -math.inf),
        ([-math.inf, -math.inf], 0b11, -math.inf),
        ([0.0, 0.0], 0b00, -math.inf),
        ([math.nan, 0.0], 0b10, math.nan),
        ([math.inf, 0.0], 0b10, math.nan),
        ([math.inf, 0.0], 0b01, math.nan),
        ([math.nan, 0.0], 0b00, math.nan),
    ],
)
def test_extreme_rows(make, row: list[float], bits: int, expected: float) -> None:
    mask = np.array([bits], np.int32)
    for dtype in ("float32", "float64"):
        logits = np.array(row, dtype)
        given = logits if make is np.array else torch.from_numpy(logits)
        mass = apply_mask(given, mask, log_mass=True)
        assert tuple(mass.shape) == ()
        np.testing.assert_allclose(float(mass), expected, rtol=1e-6)


def test_gradients_flow_through_the_mass() -> None:
    logits = torch.tensor([[0.5, 1.0, -2.0]], dtype=torch.float64, requires_grad=True)
    mass = apply_mask(logits.clone(), np.array([[0b101]], np.int32), log_mass=True)
    mass.sum().backward()
    again = logits.detach().clone().requires_grad_()
    (again[:, [0, 2]].logsumexp(-1) - again.logsumexp(-1)).sum().backward()
    torch.testing.assert_close(logits.grad, again.grad)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no CUDA device here")
def test_cuda_gives_the_same_mass() -> None:
    logits, mask = random_case(np.float32, 5.0)
    on_device = torch.from_numpy(logits).cuda()
    mass = apply_mask(on_device, mask, log_mass=True)
    assert mass.device == on_device.device
    torch.testing.assert_close(mass.cpu(), torch.from_numpy(apply_mask(logits, mask, log_mass=True)))


def test_no_rows_have_no_masses() -> None:
    assert apply_mask(np.zeros((0, 40), np.float32), np.zeros((0, 2), np.int32), log_mass=True).shape == (0,)


def test_bad_input_writes_nothing() -> None:
    logits = np.zeros((1, 40), np.float32)
    with pytest.raises(ArgumentError):
        apply_mask(logits, np.zeros((1, 2), np.int32), log_mass="yes")  # type: ignore[call-overload]
    with pytest.raises(MaskError):
        apply_mask(logits, np.zeros((1, 3), np.int32), log_mass=True)
    assert (logits == 0).all()
