"""The masks of many matchers at once, on several threads of the engine."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, overload

import tokamata._core as _core
from tokamata.calls.arguments import checked_flag, checked_list, checked_threads
from tokamata.errors import ArgumentError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from tokamata.matching.matchers import Matcher

__all__ = ["fill_draft_masks", "fill_masks"]


def fill_masks(
    matchers: Sequence[Matcher],
    mask: Any,
    threads: int | None = None,
    budgets: Sequence[int | None] | None = None,
    *,
    deadline_seconds: float | None = None,
    on_deadline: Literal["error", "some"] = "error",
) -> npt.NDArray[np.bool_]:
    """Write the masks of many matchers at once, without the interpreter's lock.

    Row ``i`` becomes the mask of ``matchers[i]``, identical to that of its own ``fill_mask``; further rows
    are unchanged.  The matchers may have different constraints, compiled for the same vocabulary.

    Args:
        matchers: the matchers.
        mask: ``int32[batch, words]`` with a row for each, contiguous and writable; numpy, or torch on the
            CPU.
        threads: the largest number of threads; ``None``: one for each processor that this process may use.
        budgets: the ``budget`` of each matcher's ``fill_mask``, or ``None`` for a matcher without one.
        deadline_seconds: the time for all of them together, as for ``fill_mask``.
        on_deadline: as for ``fill_mask``.  With ``"some"`` each row that is begun after the deadline takes
            up to 50 µs more, for the token of a closing text.

    Returns:
        ``bool[batch]``: whether each row is the whole mask; all are, except with ``on_deadline="some"``.

    Raises:
        MaskError: the mask does not fit, or the matchers have different vocabularies.  Nothing is written.
        ArgumentError: ``threads`` is not a whole number of at least 1; ``matchers`` contains something else;
            the numbers of budgets and matchers differ.
        BudgetError, LimitExceeded, Cancelled: the mask of a matcher could not be computed.  The rows of such
            matchers are unchanged, all others are written; the error is that of the first of them.  A budget
            of 0 or less is refused before anything is written.
    """
    import numpy as np

    whole = _core.fill_masks(matchers, mask, checked_threads(threads), budgets, deadline_seconds, on_deadline)
    return whole.view(np.bool_)


@overload
def fill_draft_masks(
    matchers: Sequence[Matcher],
    mask: Any,
    drafts: Sequence[Sequence[int]],
    parents: Sequence[Sequence[int] | None] | None = None,
    threads: int | None = None,
    budgets: Sequence[int | None] | None = None,
    *,
    count_stop: bool = False,
    deadline_seconds: float | None = None,
    on_deadline: Literal["error"] = "error",
) -> list[npt.NDArray[np.bool_]]: ...


@overload
def fill_draft_masks(
    matchers: Sequence[Matcher],
    mask: Any,
    drafts: Sequence[Sequence[int]],
    parents: Sequence[Sequence[int] | None] | None = None,
    threads: int | None = None,
    budgets: Sequence[int | None] | None = None,
    *,
    count_stop: bool = False,
    deadline_seconds: float | None = None,
    on_deadline: Literal["some"],
) -> tuple[list[npt.NDArray[np.bool_]], npt.NDArray[np.bool_]]: ...


def fill_draft_masks(
    matchers: Sequence[Matcher],
    mask: Any,
    drafts: Sequence[Sequence[int]],
    parents: Sequence[Sequence[int] | None] | None = None,
    threads: int | None = None,
    budgets: Sequence[int | None] | None = None,
    *,
    count_stop: bool = False,
    deadline_seconds: float | None = None,
    on_deadline: Literal["error", "some"] = "error",
) -> list[npt.NDArray[np.bool_]] | tuple[list[npt.NDArray[np.bool_]], npt.NDArray[np.bool_]]:
    """Writes the masks of the drafts of many matchers at once, without the interpreter's lock.

    The rows of a matcher follow those of the one before: ``len(drafts[0]) + 1`` rows of the first, then those
    of the second.  Each is as :meth:`Matcher.fill_draft_masks` writes it.

    Args:
        matchers: the matchers; their constraints were compiled for one vocabulary.
        mask: ``int32[rows, words]``, as there.
        drafts: the tokens of each matcher's draft, of any number.
        parents: the parents of each draft, or ``None`` for a chain.
        threads: the largest number of threads; ``None``: one for each processor that this process may use.
        budgets: the budget of each matcher, or ``None`` for a matcher without one.
        count_stop: whether budgets include the stop tokens.
        deadline_seconds: the time for all of them together, as for ``fill_mask``.
        on_deadline: as for ``fill_mask``.  With ``"some"``, tokens that were not judged by then are not
            legal.

    Returns:
        For each matcher, whether each of its tokens is legal.  With ``on_deadline="some"`` a pair: that, and
        whether each row is whole, ``bool[rows]``.

    Raises:
        ArgumentError, BudgetError: an argument has another type or length; nothing is written.
        MaskError: the mask does not fit, or the matchers have different vocabularies; nothing is written.
        LimitExceeded, Cancelled: the masks of a matcher could not be computed.  The rows of such matchers are
            unchanged, all others are written; the error is that of the first of them.
    """
    import numpy as np

    matchers = checked_list("matchers", matchers, "a sequence of Matchers")
    given = checked_list("drafts", drafts, "a list of token ids for each matcher")
    trees = (
        [None] * len(given)
        if parents is None
        else checked_list("parents", parents, "a list, or None, for each matcher")
    )
    checked_flag("count_stop", count_stop)
    if len(given) != len(matchers) or len(trees) != len(given):
        found = f"{len(matchers)} matchers, {len(given)} drafts and {len(trees)} lists of parents"
        raise ArgumentError("drafts", found, "as many drafts as matchers")
    judged, whole = _core.fill_draft_masks(
        matchers,
        mask,
        given,
        trees,
        checked_threads(threads),
        budgets,
        count_stop,
        deadline_seconds,
        on_deadline,
    )
    legal = [one.view(np.bool_) for one in judged]
    return legal if on_deadline == "error" else (legal, whole.view(np.bool_))
