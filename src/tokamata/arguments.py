"""What callers give to the functions that make constraints: checked, and described in few words."""

from __future__ import annotations

import operator

__all__ = ["checked_bounds", "checked_text", "clipped"]

_LONGEST_DESCRIPTION = 400


def checked_text(text: str) -> bytes:
    """The UTF-8 of a text that a caller gave; raises ``TypeError`` and ``ValueError`` where it has none."""
    if not isinstance(text, str):
        raise TypeError(f"a text must be a str, not {type(text).__name__}")
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise ValueError(
            f"the text has a surrogate, U+{ord(text[error.start]):04X}, at position {error.start}; no valid "
            "text has one, remove it"
        ) from None


def checked_bounds(minimum: int, maximum: int | None) -> tuple[int, int | None]:
    """Bounds of a repetition that a caller gave; raises ``ValueError`` where they are none."""
    try:
        low = operator.index(minimum)
        high = None if maximum is None else operator.index(maximum)
    except TypeError:
        raise ValueError(f"bounds must be whole numbers, not {minimum!r:.80} and {maximum!r:.80}") from None
    if not 0 <= low < 1 << 62 or (high is not None and not low <= high < 1 << 62):
        shown = f"{low:.6g} and {high:.6g}" if high is not None else f"{low:.6g}"
        raise ValueError(f"bounds must be 0 <= minimum <= maximum < 2^62, not {shown}")
    return low, high


def clipped(text: str, longest: int = _LONGEST_DESCRIPTION) -> str:
    """A description, shortened where it is long."""
    return text if len(text) <= longest else text[: longest - 1] + "…"
