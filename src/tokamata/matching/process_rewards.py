"""What each token of a sequence is worth: whether the text stays viable, and how far it is from an end.

Problem.  A process reward judges each token, not the text as a whole.  Two facts follow exactly from a
constraint: which token is the first that no accepted text continues, and how many tokens are still needed
before and after each other token.

Example.  ``[0-9]{2}`` with a token for each character, and the texts ``4x7`` and ``42`` with a stop token and
padding::

    ids           4  x  7  .      4  2  stop pad      (. is padding, -100)
    judged        1  1  1  0      1  1  1    0
    viable        1  0  0  0      1  1  1    0
    needed        1 -1 -1 -1      1  0  0   -1
    first_refused 1               -1

How.  ``core/matching/progress.hpp`` reads the rows; here they are taken from lists and arrays, without
their padding.

numpy is imported by the functions, as in :mod:`.masks`.
"""

from __future__ import annotations

import operator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import tokamata._core as _core
from tokamata.calls.arguments import checked_list
from tokamata.errors import ArgumentError, TokenIdError, shown_argument

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

__all__ = ["ProcessRewards", "measured"]

_PADDING = -100  # what torch's cross entropy ignores
_REFUSED, _STOPPED = -1, -2  # of the engine
_IDS = "token ids: a list, a list of lists, or an integer array of one or two dimensions"


@dataclass(frozen=True, eq=False)
class ProcessRewards:
    """What :meth:`.CompiledConstraint.process_rewards` says of each token.

    ``...`` is nothing for one sequence, and ``batch`` for a batch.

    - A *stop token* is viable where the text is accepted, and refused elsewhere.  What follows an accepted
      stop token is not judged, whatever it is: trainers pad with stop tokens.
    - A *control token* is refused, unless the constraint names it there.
    - *Padding* is not judged and does not belong to the text, wherever it is.

    Attributes:
        judged: ``bool[..., length]``: the token belongs to the text; not padding, and not after a stop token.
        viable: ``bool[..., length]``: some accepted text begins with the tokens up to and including this one,
            and the vocabulary can spell the rest of it; ``False`` where a token is not judged.
        needed: ``int32[..., length]``: how many more tokens lead from here to an accepted text, a stop token
            not counted; 0 if the text is accepted here, -1 where ``viable`` is ``False``.  For regular
            constraints it is the least number.  For JSON and grammars it is that of a short closing text,
            or of any one token and the closing text after it: ``Matcher.shortest_completion`` may find fewer.
        first_refused: ``int64[...]``: the index of the first token that is judged and not viable; -1 if there
            is none.
        needed_at_start: how many tokens lead from the empty text to an accepted one.
    """

    judged: npt.NDArray[np.bool_]
    viable: npt.NDArray[np.bool_]
    needed: npt.NDArray[np.int32]
    first_refused: npt.NDArray[np.int64]
    needed_at_start: int


def measured(constraint: _core.Constraint, width: int, ids: Any, mask: Any) -> ProcessRewards:
    """The process rewards of one sequence or of a batch; arguments and errors are those of the method.

    Args:
        constraint: what judges.
        width: of its vocabulary.
        ids, mask: as given by the caller.
    """
    import numpy as np

    rows, is_one = _rows("ids", ids, np.int64)
    judged = rows != _PADDING
    for row, length in zip(judged, _lengths(ids, rows), strict=True):
        row[length:] = False
    if mask is not None:
        judged &= _mask_rows(mask, ids, rows.shape, is_one)
    tokens = rows[judged]
    outside = tokens[(tokens < 0) | (tokens >= width)]
    if outside.size:
        raise TokenIdError(
            f"token id {outside[0]} is outside the vocabulary, which has ids 0 to {width - 1}; "
            f"padding is {_PADDING}, or 0 in the mask"
        )
    at_start, found = constraint.progress(tokens, np.cumsum(judged.sum(axis=1)).tolist())
    needed = np.full(rows.shape, _STOPPED, np.int64)
    needed[judged] = found
    judged = needed != _STOPPED
    refused = judged & (needed == _REFUSED)
    first = (
        np.where(refused.any(axis=1), refused.argmax(axis=1), -1) if rows.shape[1] else np.full(len(rows), -1)
    )
    pick = 0 if is_one else slice(None)
    return ProcessRewards(
        judged[pick],
        (needed >= 0)[pick],
        np.maximum(needed, _REFUSED).astype(np.int32)[pick],
        np.asarray(first[pick], np.int64),
        at_start,
    )


def _rows(argument: str, given: Any, dtype: Any) -> tuple[npt.NDArray[Any], bool]:
    """``dtype[batch, length]``, and whether one sequence was given; lists are filled with zeros."""
    import numpy as np

    if hasattr(given, "detach"):  # a tensor of torch
        given = given.detach().cpu().numpy()
    if isinstance(given, np.ndarray):
        if given.ndim not in (1, 2) or given.dtype.kind not in "iub":
            raise ArgumentError(argument, f"{given.dtype}{list(given.shape)}", _IDS)
        return np.atleast_2d(given).astype(dtype), given.ndim == 1
    items = checked_list(argument, given, _IDS)
    is_one = not any(hasattr(item, "__len__") for item in items)
    listed = [items] if is_one else [checked_list(argument, item, _IDS) for item in items]
    rows = np.zeros((len(listed), max(map(len, listed), default=0)), dtype)
    for row, values in zip(rows, listed, strict=True):
        try:
            row[: len(values)] = [operator.index(value) for value in values]
        except (TypeError, OverflowError):
            raise ArgumentError(argument, shown_argument(values), _IDS) from None
    return rows, is_one


def _lengths(given: Any, rows: npt.NDArray[Any]) -> list[int]:
    """How many entries of each row were given."""
    if isinstance(given, (list, tuple)) and any(hasattr(item, "__len__") for item in given):
        return [len(item) for item in given]
    return [rows.shape[1]] * len(rows)


def _mask_rows(mask: Any, ids: Any, shape: tuple[int, ...], is_one: bool) -> npt.NDArray[Any]:
    rows, mask_is_one = _rows("mask", mask, bool)
    if rows.shape != shape or mask_is_one != is_one:
        found = f"one of shape {list(rows.shape)} for ids of shape {list(shape)}"
        raise ArgumentError("mask", found, "of the shape of ids")
    return rows
