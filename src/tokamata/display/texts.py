"""Texts and bytes for people: control characters as pictures, bytes that are no text as ``<F0>``.

What a model writes could otherwise steer a terminal.
"""

from __future__ import annotations

__all__ = ["clipped_middle", "decoded", "in_one_line", "shown_bytes", "shown_text"]


def shown_text(text: str) -> str:
    """``text`` with its control characters as pictures, line ends and tabs aside."""
    return "".join(c if c in "\n\t" or c.isprintable() else _picture(c) for c in text)


def in_one_line(text: str) -> str:
    """The same, with line ends and tabs as pictures, too."""
    return shown_text(text).replace("\n", "␊").replace("\t", "␉")


def shown_bytes(data: bytes) -> str:
    """Bytes in one line: text as it is, a space as ``␣``, other bytes as ``<F0>``."""
    return "".join(
        "␣" if c == " " else c if c.isprintable() else _picture(c)
        for c in data.decode("utf-8", "surrogateescape")
    )


def decoded(data: bytes) -> str:
    """Bytes as text, those that are no UTF-8 as ``<F0>``."""
    text = data.decode("utf-8", "surrogateescape")
    return "".join(_picture(c) if 0xDC80 <= ord(c) <= 0xDCFF else c for c in text)


def clipped_middle(text: str, longest: int) -> str:
    """A text without its middle, if it is longer than so many characters."""
    half = longest // 2
    return text if len(text) <= longest else text[:half] + "…" + text[-half:]


def _picture(c: str) -> str:
    code = ord(c)
    if 0xDC80 <= code <= 0xDCFF:  # a byte that is no UTF-8
        return f"<{code - 0xDC00:02X}>"
    if code < 0x20:
        return chr(0x2400 + code)
    return "␡" if code == 0x7F else f"<U+{code:04X}>"
