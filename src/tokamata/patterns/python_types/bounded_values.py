"""Whether a value that was read from Python source is within the bounds of its shape.

:mod:`.python_syntax` writes texts of values within bounds, in one layout.  :mod:`.python_values` reads any
layout, and asks here about each value.  Numbers and strings are judged by the languages that their texts are
made from, so both modules agree on every value.  Lengths of collections are compared.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import tokamata._core as _core
from tokamata.patterns.python_types import shapes
from tokamata.patterns.python_types.python_syntax import language_of_values
from tokamata.resources.limits import Limits, core_limits

__all__ = ["is_within_bounds"]

_MOST_KEPT = 1024  # shapes


def is_within_bounds(shape: shapes.Shape, value: Any) -> bool:
    """Whether a value of the shape's type is one that the shape's bounds admit.

    Args:
        shape: any shape.
        value: a number, a string, or what has a length.

    Raises:
        LimitExceeded: a pattern takes longer than the default :class:`tokamata.Limits` allow.
    """
    if isinstance(shape, (shapes.Collection, shapes.Mapping, shapes.Row)) or (
        isinstance(shape, shapes.Text) and shape.cls is bytes
    ):
        low, high = shape.bounds.min_length or 0, shape.bounds.max_length
        return low <= len(value) and (high is None or len(value) <= high)
    known = _automata(shape)
    if known is None:
        return True
    text = value if isinstance(value, str) else repr(value)
    return known.refused_at(text.encode("utf-8", "surrogatepass"), core_limits(Limits()), None, "") is None


@lru_cache(maxsize=_MOST_KEPT)
def _automata(shape: shapes.Shape) -> _core.KeptAutomata | None:
    language = language_of_values(shape)
    return None if language is None else _core.KeptAutomata(language)
