"""Token masks: how they are laid out, and how they are laid over logits.

A mask is ``int32[..., words]``.  Token ``t`` is allowed where bit ``t % 32`` of word ``t // 32``
is set, so a row of ``words`` words speaks of the ids 0 to ``32 * words - 1``.  A vocabulary of
``width`` ids has ``words == ceil(width / 32)``; the bits past its width are clear.

torch is never imported here: a tensor can only be handed in by someone who already did.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import numpy.typing as npt

from tokamata.errors import MaskError

if TYPE_CHECKING:
    import torch

__all__ = ["allocate_mask", "apply_mask"]

_BITS = 32


def allocate_mask(batch: int, width: int) -> npt.NDArray[np.int32]:
    """Return masks that allow nothing: ``int32[batch, ceil(width / 32)]``, all zero.

    Args:
        batch: the number of rows, at least 1.
        width: the number of token ids, at least 1.

    Raises:
        MaskError: ``batch`` or ``width`` is below 1.
    """
    if batch < 1 or width < 1:
        raise MaskError(f"a mask needs a batch and a width of at least 1, not {batch} and {width}")
    return np.zeros((batch, -(-width // _BITS)), dtype=np.int32)


def apply_mask(
    logits: npt.NDArray[np.floating[Any]] | torch.Tensor, mask: npt.NDArray[np.int32] | torch.Tensor
) -> None:
    """Set the logits of all tokens that ``mask`` does not allow to minus infinity, in place.

    Args:
        logits: ``[..., width]``, a numpy array (float16, float32, float64) or a torch tensor
            (these and bfloat16) on any device, of any strides that can be written to.
        mask: ``int32[..., words]`` with the same leading dimensions, numpy or torch, on any device.

    ``width`` may exceed ``32 * words``, as where a model's logits are padded: whatever lies beyond
    the mask becomes minus infinity.

    Raises:
        MaskError: the mask is not int32; the logits are not floating point, or cannot be written
            to; the leading dimensions differ; the logits are so narrow that they end before the
            last word of the mask begins (``width <= 32 * (words - 1)``).  Nothing is written then.
    """
    torch = sys.modules.get("torch")
    if isinstance(logits, np.ndarray):
        mask = _mask_as_numpy(mask)
        if logits.dtype.kind != "f":
            raise MaskError(f"logits must be floating point, not {logits.dtype}")
        _check_shapes(logits.shape, mask.shape)
        if not logits.flags.writeable:
            raise MaskError("the logits are read-only, and a mask is applied in place; pass a copy")
        _apply_to_numpy(logits, mask)
    elif torch is not None and isinstance(logits, torch.Tensor):
        _apply_to_torch(cast("torch.Tensor", logits), mask)
    else:
        raise MaskError(f"logits must be a numpy array or a torch tensor, not {type(logits).__name__}")


def _mask_as_numpy(mask: Any) -> npt.NDArray[np.int32]:
    """Return ``mask`` as a numpy array, without a copy where it lies in this machine's memory."""
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(mask, torch.Tensor):
        mask = mask.detach().cpu().numpy()
    if not isinstance(mask, np.ndarray):
        raise MaskError(f"a mask must be a numpy array or a torch tensor, not {type(mask).__name__}")
    if mask.dtype != np.int32:
        raise MaskError(f"a mask must be int32, not {mask.dtype}")
    return mask


def _check_shapes(logits: tuple[int, ...], mask: tuple[int, ...]) -> None:
    if not logits or len(logits) != len(mask) or logits[:-1] != mask[:-1]:
        raise MaskError(
            f"logits of shape {list(logits)} do not go with a mask of shape {list(mask)}: "
            "their dimensions must be the same but for the last, as in [batch, width] and [batch, words]"
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


def _disallowed(mask: npt.NDArray[np.int32]) -> npt.NDArray[np.bool_]:
    """Spread a mask's bits: ``bool[..., 32 * words]``, true where a token is not allowed."""
    words = np.ascontiguousarray(np.invert(mask), dtype="<i4")
    return np.unpackbits(words.view(np.uint8), axis=-1, bitorder="little").view(np.bool_)


def _apply_to_numpy(logits: npt.NDArray[np.floating[Any]], mask: npt.NDArray[np.int32]) -> None:
    covered = min(logits.shape[-1], _BITS * mask.shape[-1])
    np.copyto(logits[..., :covered], -np.inf, where=_disallowed(mask)[..., :covered], casting="unsafe")
    logits[..., covered:] = -np.inf


def _apply_to_torch(logits: torch.Tensor, mask: Any) -> None:
    torch = sys.modules["torch"]
    if not logits.is_floating_point():
        raise MaskError(f"logits must be floating point, not {logits.dtype}")
    if isinstance(mask, torch.Tensor) and mask.dtype != torch.int32:
        raise MaskError(f"a mask must be int32, not {mask.dtype}")
    if not isinstance(mask, torch.Tensor):
        mask = _mask_as_numpy(mask)
    _check_shapes(tuple(logits.shape), tuple(mask.shape))
    if logits.requires_grad and logits.is_leaf and torch.is_grad_enabled():
        raise MaskError("the logits are a leaf that requires a gradient and cannot be changed; pass a clone")
    shares = any(stride == 0 and size > 1 for stride, size in zip(logits.stride(), logits.shape, strict=True))
    if shares and logits.numel() > 0:
        raise MaskError("the logits are an expanded tensor, whose entries share memory; pass a contiguous copy")
    with torch.inference_mode(logits.is_inference() or torch.is_inference_mode_enabled()):
        covered = min(logits.shape[-1], _BITS * mask.shape[-1])
        disallowed = _disallowed_on(mask, logits.device)
        logits[..., :covered].masked_fill_(disallowed[..., :covered], float("-inf"))
        logits[..., covered:].fill_(float("-inf"))


def _disallowed_on(mask: Any, device: Any) -> torch.Tensor:
    """Spread a mask's bits on ``device``: bool ``[..., 32 * words]``, true where not allowed.

    Towards an accelerator it is the packed words that travel; they are an eighth of the bits.
    """
    torch = sys.modules["torch"]
    if device.type == "cpu":
        return cast("torch.Tensor", torch.from_numpy(_disallowed(_mask_as_numpy(mask))))
    words = mask if isinstance(mask, torch.Tensor) else torch.from_numpy(np.array(mask))
    return _disallowed_by_shifts(words.to(device))


def _disallowed_by_shifts(words: torch.Tensor) -> torch.Tensor:
    """Spread ``int32[..., words]`` on the device it lies on: bool ``[..., 32 * words]``."""
    torch = sys.modules["torch"]
    shifts = torch.arange(_BITS, dtype=torch.int32, device=words.device)
    bits = (words.unsqueeze(-1) >> shifts) & 1
    return cast("torch.Tensor", (bits == 0).flatten(-2))
