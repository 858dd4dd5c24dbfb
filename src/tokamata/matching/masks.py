"""Token masks: their layout, and how they are applied to logits.

A mask is ``int32[..., words]``.  Token ``t`` is allowed if bit ``t % 32`` of word ``t // 32`` is
set, so a row of ``words`` words covers the ids 0 to ``32 * words - 1``.  A vocabulary of
``width`` ids has ``words == ceil(width / 32)``; the bits past its width are clear.

torch is never imported here: a caller with a tensor has imported it already.  numpy is imported
by the functions, since it takes longer to import than all of tokamata.
"""

from __future__ import annotations

import sys
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, cast, overload

from tokamata.calls.arguments import checked_flag, checked_whole
from tokamata.errors import MaskError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import torch

__all__ = ["allocate_mask", "allowed_tokens", "apply_mask"]

_BITS = 32
_SPREAD_BYTES = 1 << 24  # how much of a mask is expanded to one byte per token at a time, on a device

# Sign and exponent bits set, the rest clear; by size in bytes, as signed numbers.
_MINUS_INFINITY = {2: 0xFC00 - (1 << 16), 4: 0xFF800000 - (1 << 32), 8: 0xFFF0000000000000 - (1 << 64)}
_BFLOAT16_MINUS_INFINITY = 0xFF80 - (1 << 16)


def allocate_mask(batch: int, width: int) -> npt.NDArray[np.int32]:
    """Return masks that allow nothing: ``int32[batch, ceil(width / 32)]``, all zero.

    Args:
        batch: the number of rows, at least 1.
        width: the number of token ids, at least 1.

    Raises:
        MaskError: ``batch`` or ``width`` is below 1.
    """
    import numpy as np

    batch = checked_whole("batch", batch)
    if batch < 1 or width < 1:
        raise MaskError(f"a mask needs a batch and a width of at least 1, not {batch} and {width}")
    return np.zeros((batch, -(-width // _BITS)), dtype=np.int32)


def allowed_tokens(mask: npt.NDArray[np.int32]) -> npt.NDArray[np.intp]:
    """The tokens of one mask, ``int32[words]``, in ascending order."""
    import numpy as np

    little = mask.astype("<i4", copy=False)  # bytes in the order of the bits, on every machine
    return np.flatnonzero(np.unpackbits(little.view(np.uint8), bitorder="little"))


@overload
def apply_mask(
    logits: npt.NDArray[np.floating[Any]] | torch.Tensor,
    mask: npt.NDArray[np.int32] | torch.Tensor,
    *,
    log_mass: Literal[False] = False,
) -> None: ...
@overload
def apply_mask(
    logits: npt.NDArray[np.floating[Any]],
    mask: npt.NDArray[np.int32] | torch.Tensor,
    *,
    log_mass: Literal[True],
) -> npt.NDArray[np.floating[Any]]: ...
@overload
def apply_mask(
    logits: torch.Tensor, mask: npt.NDArray[np.int32] | torch.Tensor, *, log_mass: Literal[True]
) -> torch.Tensor: ...
def apply_mask(
    logits: npt.NDArray[np.floating[Any]] | torch.Tensor,
    mask: npt.NDArray[np.int32] | torch.Tensor,
    *,
    log_mass: bool = False,
) -> npt.NDArray[np.floating[Any]] | torch.Tensor | None:
    """Set the logits of all tokens that ``mask`` does not allow to minus infinity, in place.

    Args:
        logits: ``[..., width]``, a numpy array (float16, float32, float64) or a torch tensor
            (these and bfloat16) on any device, of any strides that can be written to.
        mask: ``int32[..., words]`` with the same leading dimensions, numpy or torch, on any device.
        log_mass: whether to return the legal mass.

    Returns:
        ``None``; with ``log_mass`` the natural logarithm of the legal mass of each row, the probability that
        the model gives to all allowed tokens together: ``logsumexp(masked) - logsumexp(logits)``, at most 0.
        Its shape is that of the leading dimensions ``[...]``.  It is float64 for logits of float64 and
        float32 for all others, numpy or torch as the logits, on their device.  It is minus infinity where
        no allowed token has a finite logit, and NaN where a logit of the row is NaN or plus infinity.

    Cost: with ``log_mass``, also a copy of the logits in the dtype of the result.

    ``width`` may exceed ``32 * words``, for example if a model pads its logits: the logits beyond
    the mask become minus infinity.

    Raises:
        ArgumentError: ``log_mass`` is not ``True`` or ``False``.
        MaskError: the mask is not int32; the logits are not floating point, or cannot be written
            to; the leading dimensions differ; the logits are so narrow that they end before the
            last word of the mask begins (``width <= 32 * (words - 1)``).  Nothing is written then.
    """
    import numpy as np

    checked_flag("log_mass", log_mass)
    host: Any = sys.modules.get("torch")
    if isinstance(logits, np.ndarray):
        mask = _mask_as_numpy(mask)
        if logits.dtype not in (np.float16, np.float32, np.float64):
            raise MaskError(f"logits must be floating point of 16 to 64 bits, not {logits.dtype}")
        _check_shapes(logits.shape, mask.shape)
        if not logits.flags.writeable:
            raise MaskError("the logits are read-only, and a mask is applied in place; pass a copy")
        before = _peak_and_mass(logits) if log_mass else None
        _apply_to_numpy(logits, mask, _MINUS_INFINITY[logits.itemsize])
        return None if before is None else _log_ratio(_peak_and_mass(logits), before)
    if host is not None and isinstance(logits, host.Tensor):
        tensor = cast("torch.Tensor", logits)
        _check_torch(tensor, mask)
        total = _peak_and_mass_of_tensor(tensor) if log_mass else None
        _apply_to_torch(tensor, mask)
        return None if total is None else _log_ratio_of_tensors(_peak_and_mass_of_tensor(tensor), total)
    raise MaskError(f"logits must be a numpy array or a torch tensor, not {type(logits).__name__}")


# Logarithms of masses.  A sum of exponentials is kept as its greatest logit, the peak, and the logarithm of
# the sum relative to it.  Peaks are subtracted from each other first: at logits near 1e6, a float32 of
# `peak + log(sum)` would have lost all of `log(sum)`.


def _peak_and_mass(logits: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Return the peak ``[...]`` and ``log(sum(exp(logits - peak)))``; both minus infinity for no mass."""
    import numpy as np

    values: npt.NDArray[Any] = logits.astype(np.float64 if logits.itemsize == 8 else np.float32)
    peak = values.max(axis=-1)
    with np.errstate(invalid="ignore", divide="ignore", over="ignore", under="ignore"):
        values -= np.where(np.isneginf(peak), 0, peak)[..., np.newaxis]
        return peak, np.log(np.exp(values, out=values).sum(axis=-1))


def _log_ratio(
    part: tuple[npt.NDArray[Any], npt.NDArray[Any]], total: tuple[npt.NDArray[Any], npt.NDArray[Any]]
) -> npt.NDArray[Any]:
    import numpy as np

    with np.errstate(invalid="ignore", over="ignore"):
        ratio = np.minimum((part[0] - total[0]) + (part[1] - total[1]), 0)  # rounding may exceed 0
    # The sum of a row with NaN or plus infinity is NaN; that of its allowed part may not be.
    return np.asarray(np.where(np.isneginf(part[0]) & ~np.isnan(total[1]), -np.inf, ratio), part[0].dtype)


def _peak_and_mass_of_tensor(logits: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Do the same as `_peak_and_mass`, on the device of the logits; gradients flow."""
    host: Any = sys.modules["torch"]
    values = logits.to(host.float64 if logits.dtype == host.float64 else host.float32)
    peak = values.detach().amax(-1)
    return peak, (values - peak.masked_fill(host.isneginf(peak), 0).unsqueeze(-1)).exp().sum(-1).log()


def _log_ratio_of_tensors(
    part: tuple[torch.Tensor, torch.Tensor], total: tuple[torch.Tensor, torch.Tensor]
) -> torch.Tensor:
    host: Any = sys.modules["torch"]
    ratio = ((part[0] - total[0]) + (part[1] - total[1])).clamp(max=0)
    is_empty = host.isneginf(part[0]) & ~host.isnan(total[1])
    return ratio.masked_fill(is_empty, float("-inf"))


def _mask_as_numpy(mask: Any) -> npt.NDArray[np.int32]:
    """Return ``mask`` as a numpy array, without a copy if it is in the CPU's memory."""
    import numpy as np

    host: Any = sys.modules.get("torch")
    if host is not None and isinstance(mask, host.Tensor):
        mask = mask.detach().cpu().numpy()
    if not isinstance(mask, np.ndarray):
        raise MaskError(f"a mask must be a numpy array or a torch tensor, not {type(mask).__name__}")
    if mask.dtype != np.int32:
        raise MaskError(f"a mask must be int32, not {mask.dtype}")
    return mask


def _check_shapes(logits: tuple[int, ...], mask: tuple[int, ...]) -> None:
    if not logits or len(logits) != len(mask) or logits[:-1] != mask[:-1]:
        raise MaskError(
            f"logits of shape {list(logits)} do not fit a mask of shape {list(mask)}: their dimensions "
            "must be the same except for the last, as in [batch, width] and [batch, words]"
        )
    width, words = logits[-1], mask[-1]
    if words == 0:
        raise MaskError("the mask has no words; allocate it with allocate_mask")
    if width <= _BITS * (words - 1):
        raise MaskError(
            f"the logits are narrower than the vocabulary: they have {width} entries, and a mask of {words} "
            f"words belongs to a vocabulary of {_BITS * (words - 1) + 1} to {_BITS * words} ids; "
            "compile with the vocabulary of this model"
        )


def _apply_to_numpy(logits: npt.NDArray[Any], mask: npt.NDArray[np.int32], minus_infinity: int) -> None:
    """Write bits, not numbers: ``bits = bits & keep | minus_infinity & ~keep``.

    Without a branch per token this costs the same for every mask; ``np.copyto(..., where=)`` takes
    ten times as long where a mask is irregular.

    Args:
        logits: ``[..., width]`` of any dtype of 2, 4 or 8 bytes.
        mask: ``int32[..., words]``.
        minus_infinity: its bits in the format of ``logits``, as a signed integer of the same size.
    """
    import numpy as np

    bits = logits.view(f"i{logits.itemsize}")
    covered = min(logits.shape[-1], _BITS * mask.shape[-1])
    mask_bytes = np.ascontiguousarray(mask, dtype="<i4").view(np.uint8)
    keep = _spread_bytes(logits.itemsize).take(mask_bytes, axis=0)
    keep = keep.reshape(*mask.shape[:-1], _BITS * mask.shape[-1])[..., :covered]
    bits[..., :covered] &= keep
    np.invert(keep, out=keep)
    keep &= minus_infinity
    bits[..., :covered] |= keep
    bits[..., covered:] = minus_infinity


@cache
def _spread_bytes(itemsize: int) -> npt.NDArray[Any]:
    """Return ``int[256, 8]`` of ``itemsize`` bytes: -1 where a byte's bit is set, 0 where it is clear."""
    import numpy as np

    values = np.arange(256)[:, np.newaxis] >> np.arange(8) & 1
    return (-values).astype(f"i{itemsize}")


def _check_torch(logits: torch.Tensor, mask: Any) -> None:
    host: Any = sys.modules["torch"]
    if logits.dtype not in (host.float16, host.bfloat16, host.float32, host.float64):
        raise MaskError(f"logits must be floating point of 16 to 64 bits, not {logits.dtype}")
    if isinstance(mask, host.Tensor) and mask.dtype != host.int32:
        raise MaskError(f"a mask must be int32, not {mask.dtype}")
    if not isinstance(mask, host.Tensor):
        mask = _mask_as_numpy(mask)  # raises for what is no mask
    _check_shapes(tuple(logits.shape), tuple(mask.shape))
    if logits.requires_grad and logits.is_leaf and host.is_grad_enabled():
        raise MaskError("the logits are a leaf that requires a gradient and cannot be changed; pass a clone")
    shares = any(stride == 0 and size > 1 for stride, size in zip(logits.stride(), logits.shape, strict=True))
    if shares and logits.numel() > 0:
        raise MaskError(
            "the logits are an expanded tensor, whose entries share memory; pass a contiguous copy"
        )


def _apply_to_torch(logits: torch.Tensor, mask: Any) -> None:
    host: Any = sys.modules["torch"]
    if logits.device.type == "cpu" and not logits.requires_grad:
        _apply_to_cpu_tensor(logits, _mask_as_numpy(mask))
        return
    with host.inference_mode(logits.is_inference() or host.is_inference_mode_enabled()):
        _apply_on_device(logits, _words_on(logits.device, mask))


def _apply_to_cpu_tensor(logits: torch.Tensor, mask: npt.NDArray[np.int32]) -> None:
    """Write through numpy: faster than torch's masked_fill_, and without waiting for its threads."""
    host: Any = sys.modules["torch"]
    logits = logits.detach()
    if logits.dtype == host.bfloat16:  # numpy has no such dtype
        _apply_to_numpy(logits.view(host.int16).numpy(), mask, _BFLOAT16_MINUS_INFINITY)
    else:
        values = logits.numpy()
        _apply_to_numpy(values, mask, _MINUS_INFINITY[values.itemsize])


def _words_on(device: torch.device, mask: Any) -> torch.Tensor:
    """Return ``int32[..., words]`` on ``device``, contiguous."""
    import numpy as np

    host: Any = sys.modules["torch"]
    if isinstance(mask, host.Tensor) and mask.device == device:
        return cast("torch.Tensor", mask.contiguous())
    mask = _mask_as_numpy(mask)
    # From pinned memory, the copy does not wait for pending work of the device.
    is_pinned = device.type == "cuda"
    packed = host.empty(mask.shape, dtype=host.int32, pin_memory=is_pinned)
    np.copyto(packed.numpy(), mask)
    return cast("torch.Tensor", packed.to(device, non_blocking=is_pinned))


def _apply_on_device(logits: torch.Tensor, words: torch.Tensor) -> None:
    """Write minus infinity where the bit of a token is clear, on the device of both.

    Each byte of the inverted mask is shifted by 0 to 7, which expands it to eight bytes of 0 or 1.  These
    are read as booleans:

        words  ~0b...00000101   bytes  250   shifted  250 125 62 31 15 7 3 1   & 1  0 1 0 1 1 1 1 1

    Cost: one byte per token and row, at most `_SPREAD_BYTES` at a time; four kernels for each part.
    Rejected: shifting whole words, which makes an int32 per token, 270 MB for 256 rows of 262,145 tokens; one
    strided `masked_fill_` for each bit of a word, which needs no memory but starts 96 kernels.
    """
    host: Any = sys.modules["torch"]
    covered = min(logits.shape[-1], _BITS * words.shape[-1])
    shifts = host.arange(8, dtype=host.uint8, device=words.device)
    if logits.dim() == 1:
        logits, words = logits.unsqueeze(0), words.unsqueeze(0)
    # `words` has the same leading dimensions; parts are cut along the first.
    step = max(1, len(words) * _SPREAD_BYTES // max(1, words.numel() * _BITS))
    for start in range(0, len(words), step):
        _fill_cleared(logits[start : start + step, ..., :covered], words[start : start + step], shifts)
    logits[..., covered:].fill_(float("-inf"))


def _fill_cleared(logits: torch.Tensor, words: torch.Tensor, shifts: torch.Tensor) -> None:
    """Do so for a part; a function, so that its memory is free for the next part."""
    host: Any = sys.modules["torch"]
    # The lowest byte of a word comes first on every device that torch supports.
    cleared = (~words).view(host.uint8).unsqueeze(-1) >> shifts
    cleared &= 1
    disallowed = cleared.view(host.bool).flatten(-2)[..., : logits.shape[-1]]
    logits.masked_fill_(disallowed, float("-inf"))
