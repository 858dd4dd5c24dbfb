"""Masks laid over logits, against a loop over the definition."""

from __future__ import annotations

import subprocess
import sys
import weakref

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.utils._python_dispatch import TorchDispatchMode

from tokamata.errors import MaskError
from tokamata.matching import masks
from tokamata.matching.masks import _apply_on_device, allocate_mask, allowed_tokens, apply_mask

TORCH_DTYPES = [torch.float16, torch.bfloat16, torch.float32, torch.float64]


def naive(logits: np.ndarray, mask: np.ndarray) -> np.ndarray:
    """Apply a mask by its definition: bit ``t % 32`` of word ``t // 32``."""
    result = logits.copy()
    for index in np.ndindex(logits.shape):
        *row, token = index
        word = token // 32
        if word >= mask.shape[-1] or not (int(mask[(*row, word)]) >> (token % 32)) & 1:
            result[index] = -np.inf
    return result


@st.composite
def cases(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray]:
    batch = draw(st.sampled_from([(), (1,), (3,), (0,), (2, 2)]))
    words = draw(st.integers(1, 4))
    width = draw(st.integers(32 * (words - 1) + 1, 32 * words + 40))
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    mask = random.integers(-(2**31), 2**31, size=(*batch, words), dtype=np.int64).astype(np.int32)
    logits = random.normal(size=(*batch, width)).astype(np.float32)
    return logits, mask


@given(cases(), st.sampled_from([np.float16, np.float32, np.float64]))
@settings(deadline=None)
def test_numpy_is_as_defined(case: tuple[np.ndarray, np.ndarray], dtype: type) -> None:
    logits, mask = case[0].astype(case[0].dtype), case[1]
    logits = logits.astype(dtype)
    expected = naive(logits, mask)
    apply_mask(logits, mask)
    np.testing.assert_array_equal(logits, expected)


@given(cases(), st.sampled_from(TORCH_DTYPES), st.booleans())
@settings(deadline=None)
def test_torch_is_as_defined(
    case: tuple[np.ndarray, np.ndarray], dtype: torch.dtype, mask_is_torch: bool
) -> None:
    logits, mask = torch.from_numpy(case[0]).to(dtype), case[1]
    expected = naive(logits.double().numpy(), mask)
    apply_mask(logits, torch.from_numpy(mask) if mask_is_torch else mask)
    np.testing.assert_array_equal(logits.double().numpy(), expected)


@given(cases(), st.sampled_from(TORCH_DTYPES), st.booleans(), st.sampled_from([1 << 24, 100, 1]))
@settings(deadline=None)
def test_what_accelerators_do_gives_the_same_bits(
    case: tuple[np.ndarray, np.ndarray], dtype: torch.dtype, is_strided: bool, most: int
) -> None:
    """Also if a mask is spread out in small parts, and for logits that are not contiguous."""
    mask = case[1]
    values = torch.from_numpy(case[0]).to(dtype)
    logits = torch.full((*values.shape, 2), 5.0, dtype=dtype)[..., 0] if is_strided else values.clone()
    logits.copy_(values)
    apply_mask(values, mask)  # by numpy
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(masks, "_SPREAD_BYTES", most)
        _apply_on_device(logits, torch.from_numpy(mask))
    as_bits = {2: torch.int16, 4: torch.int32, 8: torch.int64}[dtype.itemsize]
    assert torch.equal(logits.contiguous().view(as_bits), values.view(as_bits))


class Allocations(TorchDispatchMode):
    """Follows the bytes of the tensors that operations make: the largest, and the peak of all together."""

    def __init__(self) -> None:
        super().__init__()
        self.made: list[tuple[weakref.ref[torch.Tensor], int]] = []
        self.largest = self.peak = 0

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):  # type: ignore[no-untyped-def]
        result = function(*args, **(kwargs or {}))
        returns = function._schema.returns
        if returns and returns[0].alias_info is None:  # neither a view nor in place
            self.made.append((weakref.ref(result), result.untyped_storage().nbytes()))
            self.largest = max(self.largest, self.made[-1][1])
            self.peak = max(self.peak, sum(size for made, size in self.made if made() is not None))
        return result


@pytest.mark.parametrize("width", [128_256, 262_145])
@pytest.mark.parametrize("rows", [1, 16, 256])
def test_temporaries_on_an_accelerator_are_small(rows: int, width: int) -> None:
    """On a device without memory, where only shapes are followed: 256 rows of Gemma 3 took 512 MiB."""
    logits = torch.empty(rows, width, device="meta")
    words = rows * -(-width // 32)
    mask = torch.empty(rows, words // rows, dtype=torch.int32, device="meta")
    with Allocations() as allocations:
        apply_mask(logits, mask)
    part = min(32 * words, 1 << 24)
    assert part <= 2 * allocations.largest  # the count sees what is made
    assert allocations.largest <= part
    assert allocations.peak <= part * 9 / 8 + 8  # and a part of the mask, inverted
    with Allocations() as allocations:
        apply_mask(logits, allocate_mask(rows, width))  # a mask of numpy travels packed
    # In the host's memory, and on the device.
    assert allocations.peak <= part * 9 / 8 + 8 + 2 * 4 * words


@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no CUDA device here")
@pytest.mark.parametrize("dtype", TORCH_DTYPES)
def test_cuda_gives_the_same_bits(dtype: torch.dtype) -> None:
    random = np.random.default_rng(0)
    mask = random.integers(-(2**31), 2**31, (300, 4_009), dtype=np.int64).astype(np.int32)
    values = torch.randn(300, 128_256 + 60, dtype=dtype)
    expected = values.clone()
    apply_mask(expected, mask)
    for same in (mask, torch.from_numpy(mask), torch.from_numpy(mask).cuda()):
        logits = values.cuda()
        apply_mask(logits, same)
        assert torch.equal(logits.cpu(), expected)


def test_strided_logits_and_masks_are_written_in_place() -> None:
    base = np.zeros((4, 80), dtype=np.float32)
    mask = np.full((2, 4), 0b101, dtype=np.int32)[:, ::2]
    expected = base.copy()
    expected[::2, ::2] = naive(base[::2, ::2], mask)
    apply_mask(base[::2, ::2], mask)
    np.testing.assert_array_equal(base, expected)

    tensor = torch.zeros(4, 80)
    apply_mask(tensor[::2, ::2], mask)
    np.testing.assert_array_equal(tensor.numpy(), expected)


@given(cases())
@settings(deadline=None)
def test_allowed_tokens_are_those_of_the_definition(case: tuple[np.ndarray, np.ndarray]) -> None:
    for mask in case[1].reshape(-1, case[1].shape[-1]):
        expected = np.flatnonzero(np.isfinite(naive(np.zeros(32 * len(mask)), mask))).tolist()
        assert allowed_tokens(mask).tolist() == expected
        assert allowed_tokens(mask.astype(">i4")).tolist() == expected  # as a big-endian machine has it


def test_a_read_only_mask_serves() -> None:
    mask = allocate_mask(1, 40)[0]
    mask[0] = 1
    mask.flags.writeable = False
    logits, tensor = np.zeros(40), torch.zeros(40)
    apply_mask(logits, mask)
    apply_mask(tensor, mask)
    assert np.flatnonzero(np.isfinite(logits)).tolist() == [0]
    assert torch.isfinite(tensor).nonzero().flatten().tolist() == [0]


def test_logits_made_in_inference_mode() -> None:
    with torch.inference_mode():
        logits = torch.zeros(1, 40)
    apply_mask(logits, np.ones((1, 2), np.int32))
    assert torch.isfinite(logits).sum() == 2


def test_what_is_allowed_keeps_its_bits() -> None:
    for value in (np.nan, np.inf, -np.inf, -0.0):
        logits = np.full(64, value, np.float32)
        apply_mask(logits, np.array([1, 0], np.int32))
        assert logits[:1].tobytes() == np.float32(value).tobytes()
        assert np.isneginf(logits[1:]).all()


def test_big_endian_logits_are_refused_or_right() -> None:
    logits = np.zeros(32, ">f4")
    with pytest.raises(MaskError, match="floating point"):
        apply_mask(logits, np.ones(1, np.int32))


def test_gradients_flow_through_the_allowed() -> None:
    weights = torch.ones(40, requires_grad=True)
    logits = weights * 2
    apply_mask(logits, np.ones(2, np.int32))
    torch.logsumexp(logits, dim=-1).backward()
    assert weights.grad is not None
    assert weights.grad.nonzero().flatten().tolist() == [0, 32]


@pytest.mark.parametrize("make", [np.zeros, torch.zeros])
def test_narrow_logits_are_refused_with_the_numbers(make) -> None:
    for width in (33, 64):
        apply_mask(make(width), np.zeros(2, np.int32))
    with pytest.raises(
        MaskError, match="32 entries, and a mask of 2 words belongs to a vocabulary of 33 to 64"
    ):
        apply_mask(make(32), np.zeros(2, np.int32))


@pytest.mark.parametrize(
    ("logits", "mask", "what"),
    [
        (np.zeros(32), np.zeros(1, np.int64), "int32, not int64"),
        (np.zeros(32), torch.zeros(1, dtype=torch.int64), "int32, not"),
        (torch.zeros(32), torch.zeros(1, dtype=torch.uint8), "int32, not"),
        (torch.zeros(32), np.zeros(1, np.uint32), "int32, not uint32"),
        (np.zeros(32, np.int64), np.zeros(1, np.int32), "floating point of 16 to 64 bits, not int64"),
        (torch.zeros(32, dtype=torch.int32), np.zeros(1, np.int32), "floating point"),
        (np.zeros((2, 32)), np.zeros((1, 1), np.int32), r"\[2, 32\].*\[1, 1\]"),
        (np.zeros((2, 32)), np.zeros(1, np.int32), "dimensions"),
        (torch.zeros(2, 32), np.zeros((3, 1), np.int32), "dimensions"),
        (np.zeros(()), np.zeros((), np.int32), "dimensions"),
        (np.zeros(32), np.zeros(0, np.int32), "no words"),
        (np.broadcast_to(np.zeros(32), (2, 32)), np.zeros((2, 1), np.int32), "read-only"),
        (torch.zeros(32).expand(2, 32), np.zeros((2, 1), np.int32), "expanded"),
        (torch.zeros(32, requires_grad=True), np.zeros(1, np.int32), "gradient"),
        ([0.0] * 32, np.zeros(1, np.int32), "not list"),
        (np.zeros(32), [0], "not list"),
    ],
)
def test_bad_input_is_refused_and_nothing_is_written(logits, mask, what: str) -> None:
    with pytest.raises(MaskError, match=what):
        apply_mask(logits, mask)
    if not isinstance(logits, list):
        assert not np.isneginf(np.asarray(logits.detach() if hasattr(logits, "detach") else logits)).any()


def test_allocate() -> None:
    assert allocate_mask(2, 32).shape == (2, 1)
    assert allocate_mask(2, 33).shape == (2, 2)
    assert allocate_mask(1, 1).dtype == np.int32
    assert not allocate_mask(3, 100).any()
    for batch, width in ((0, 5), (5, 0), (-1, 5)):
        with pytest.raises(MaskError, match="at least 1"):
            allocate_mask(batch, width)


def test_torch_is_not_imported() -> None:
    code = (
        "import sys, importlib.util as u, numpy as np, types\n"
        "import tokamata.matching.masks as m\n"
        "m.apply_mask(np.zeros(32), np.zeros(1, np.int32))\n"
        "assert 'torch' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
