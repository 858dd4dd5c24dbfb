"""Names of symbols, and short lists of them.

The symbols 48 to 57 and 97 to 122 of a machine over bytes become ``0–9, a–z``.  Symbols become a range
only if their names are consecutive too: a thousand consecutive token ids mean nothing to a reader, and
are listed as far as there is room.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

EPSILON_NAME = "ε"
_SPACE = "␣"
_AMBIGUOUS = frozenset(["", ",", "–", ":", EPSILON_NAME])  # in a list of names, ranges and pairs
_ESCAPES = {"\\t": 9, "\\n": 10, "\\r": 13, _SPACE: 32}
_LONGEST_NAME = 40  # characters of a name that are shown


def show(name: bytes | str) -> str:
    r"""A name on one line, in visible characters: ``" a\n"`` becomes ``␣a\n``.

    Bytes that are not UTF-8 become ``\xff``.
    """
    if isinstance(name, bytes):
        name = name.decode("utf-8", "backslashreplace")
    shown = "".join(
        _SPACE if c == " " else c if c.isprintable() else c.encode("unicode_escape").decode() for c in name
    )
    return f"“{shown}”" if shown in _AMBIGUOUS else shown


class _ByteNames(Mapping[int, str]):
    """The names of all bytes; immutable, and pickled by name."""

    def __init__(self) -> None:
        self._names = {value: show(bytes([value])) for value in range(256)}

    def __getitem__(self, value: int) -> str:
        return self._names[value]

    def __iter__(self) -> Iterator[int]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __reduce__(self) -> str:
        return "BYTE_NAMES"


BYTE_NAMES: Mapping[int, str] = _ByteNames()


def name_of(symbol: int, names: Mapping[int, str] | None) -> str:
    """The name of one symbol; its number if it has none."""
    if symbol < 0:
        return EPSILON_NAME
    return str(symbol) if names is None else names.get(symbol, str(symbol))


def summarize(symbols: Sequence[int], names: Mapping[int, str] | None, width: int = 28) -> str:
    """A set of symbols in about ``width`` characters, with readable ranges.

    Args:
        symbols: in order, without repetitions; ``EPSILON`` may be among them.
        names: the names of the symbols.
        width: the number of characters, as in :func:`enumerate_names`.
    """
    return enumerate_names(_ranges(symbols, names), len(symbols), width)


def name_of_string(symbols: Sequence[int], names: Mapping[int, str] | None) -> str:
    """The names of a string's symbols: side by side if each is one character, else with blanks between."""
    shown = [name_of(symbol, names) for symbol in symbols]
    return ("" if all(len(name) == 1 for name in shown) else " ").join(shown) or EPSILON_NAME


def summarize_pairs(
    pairs: Sequence[tuple[int, tuple[int, ...]]],
    input_names: Mapping[int, str] | None,
    output_names: Mapping[int, str] | None,
    width: int = 28,
) -> str:
    """Symbols with what is written for them, those with one output together: ``a–c:x``.

    Three or more symbols that are copied are one set of symbols, without outputs.

    Args:
        pairs: a symbol and the string that is written, in order, without repetitions.
        input_names: the names of symbols that are read.
        output_names: the names of symbols that are written.
        width: the number of characters, as in :func:`enumerate_names`.
    """
    inputs: dict[tuple[int, ...], list[int]] = {}
    for read, written in pairs:
        inputs.setdefault(written, []).append(read)
    same = [reads[0] for written, reads in inputs.items() if len(written) == 1 and tuple(reads) == written]
    are_merged = len(same) > 2 and input_names == output_names
    texts = [summarize(same, input_names, width)] if are_merged else []
    for written, reads in inputs.items():
        if not (are_merged and len(written) == 1 and tuple(reads) == written):
            texts.append(f"{summarize(reads, input_names, width)}:{name_of_string(written, output_names)}")
    return enumerate_names(texts, len(pairs), width)


def enumerate_names(parts: Iterable[str], total: int, width: int = 28) -> str:
    """List names as far as they fit, with their number: ``the, of, and, … (1,203)``.

    At least one is listed; names longer than 40 characters are shortened in the middle.
    """
    shown: list[str] = []
    length = 0
    for part in parts:
        if len(part) > _LONGEST_NAME:
            part = part[: _LONGEST_NAME // 2] + "…" + part[-(_LONGEST_NAME // 2) :]
        if shown and length + len(part) > width:
            return f"{', '.join(shown)}, … ({total:,})"
        shown.append(part)
        length += len(part) + 2
    return ", ".join(shown)


def printable(text: str) -> str:
    """``text``, with a replacement for each character that cannot be shown (controls, surrogates)."""
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)


def _ranges(symbols: Sequence[int], names: Mapping[int, str] | None) -> Iterable[str]:
    """The names of ``symbols``, with runs of three or more as ranges."""
    begin = 0
    while begin < len(symbols):
        end = begin + 1
        while end < len(symbols) and _follows(symbols[end - 1], symbols[end], names):
            end += 1
        if end - begin > 2:
            yield f"{name_of(symbols[begin], names)}–{name_of(symbols[end - 1], names)}"
        else:
            yield from (name_of(symbol, names) for symbol in symbols[begin:end])
        begin = end


def _follows(symbol: int, after: int, names: Mapping[int, str] | None) -> bool:
    """Whether ``after`` is the next symbol, and has the next name."""
    if symbol < 0 or after != symbol + 1:
        return False
    if names is None:
        return True
    value, next_value = _value(name_of(symbol, names)), _value(name_of(after, names))
    return value is not None and next_value == value + 1


def _value(name: str) -> int | None:
    r"""The code point or byte that a name shows (``a``, ``\x9f``, ``“,”``); ``None`` for longer names."""
    if name in _ESCAPES:
        return _ESCAPES[name]
    if len(name) == 3 and name[0] == "“" and name[2] == "”":
        return ord(name[1])
    if re.fullmatch(r"\\x[0-9a-f]{2}", name):
        return int(name[2:], 16)
    return ord(name) if len(name) == 1 else None
