"""Every way to spell a string that JSON allows, listed without the engine."""

from __future__ import annotations

import itertools

_SHORT = {'"': '"', "\\": "\\", "/": "/", "\b": "b", "\f": "f", "\n": "n", "\r": "r", "\t": "t"}


def _unit(number: int) -> list[str]:
    """The spellings of a unit of UTF-16."""
    digits = [sorted({digit, digit.upper()}) for digit in f"{number:04x}"]
    return ["\\u" + "".join(chosen) for chosen in itertools.product(*digits)]


def spellings(character: str) -> list[str]:
    """Every way to spell a character within a string."""
    found = [character] if character >= " " and character not in '"\\' else []
    if character in _SHORT:
        found.append("\\" + _SHORT[character])
    code = ord(character)
    if code < 0x10000:
        return found + _unit(code)
    high, low = 0xD800 + (code - 0x10000 >> 10), 0xDC00 + (code - 0x10000 & 0x3FF)
    return found + ["".join(pair) for pair in itertools.product(_unit(high), _unit(low))]


def string_texts(text: str) -> list[str]:
    """Every text of a string, with its quotes."""
    return [f'"{"".join(spelled)}"' for spelled in itertools.product(*map(spellings, text))]
