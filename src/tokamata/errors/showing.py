"""How messages show values, counts and places in a text."""

from __future__ import annotations


def shown_argument(value: object) -> str:
    """How a message shows the value of an argument: short values themselves, others by their type."""
    if value is None or isinstance(value, (bool, float, str, bytes)):
        return f"{value!r:.80}"
    if isinstance(value, int):
        return str(value) if abs(value) < 10**30 else f"an int of {value.bit_length():,} bits"
    if isinstance(value, type):
        return f"the class {value.__name__}"
    return type(value).__name__


def shown_count(count: int) -> str:
    """How a message shows a number that may be astronomical."""
    return f"{count:,}" if count < 10**15 else f"about 2^{count.bit_length() - 1}"


def caret(text: str, position: int, width: int = 72) -> str:
    """Two lines: the part of ``text`` around ``position``, and a caret under that position.

    Control characters are shown as one-column pictures, so that the caret is in the right column.
    """
    start = max(0, min(position - width // 2, len(text) - width))
    shown = text[start : start + width]
    before = "…" if start else ""
    after = "…" if start + width < len(text) else ""
    line = "".join(chr(0x2400 + ord(c)) if ord(c) < 0x20 else c if c.isprintable() else "?" for c in shown)
    return f"    {before}{line}{after}\n    {' ' * (len(before) + position - start)}^"
