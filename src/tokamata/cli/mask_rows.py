"""What ``tokamata mask`` knows of each position in a text."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tokamata.matching.mask_reports import MaskReport
from tokamata.matching.masks import allowed_tokens
from tokamata.matching.matchers import Matcher

__all__ = ["Row", "row_of"]


@dataclass
class Row:
    """One position in the text: the token before it, and what may follow.

    Attributes:
        token: the token just read; ``None`` at the start.
        accepting: whether the text so far is accepted.
        allowed: the ids that may come next, ascending.
        forced: what every continuation begins with.
        report: how the mask came about.
    """

    token: int | None
    accepting: bool
    allowed: npt.NDArray[np.intp]
    forced: bytes
    report: MaskReport


def row_of(token: int | None, matcher: Matcher) -> Row:
    """The position at which a matcher stands.

    Args:
        token: the token that it has read last; ``None`` at the start.
        matcher: the matcher.
    """
    report = matcher.mask_report()
    allowed = allowed_tokens(matcher.mask)
    return Row(token, matcher.is_accepting, allowed, matcher.forced_text(), report)
