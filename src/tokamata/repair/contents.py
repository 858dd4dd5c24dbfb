"""The content of a text: its words and numbers, without the marks that say how they belong together.

Problem.  ``{'a': 0x1F}`` and ``{"a": 31}`` say the same.  Of ``Here it is: {"a": 1}`` and ``{"a": 1}`` the
first says more.  What a repair has lost can be told only if what is content is defined.
How.  A *unit* of content is one of

- a word: letters, digits, marks and underscores, of which the first is no digit;
- a number, whose key is its value: ``0x1F``, ``31``, ``+31``, ``3.1e1`` and ``31.0`` are one number;
- a symbol: ``$``, ``%``, a character outside of ASCII that is a symbol of Unicode (``€``, an emoji), and a
  byte that is no UTF-8.

Everything else is structure: quotes, brackets, commas, colons, other punctuation, whitespace, fences.
Escapes are read: of ``caf\\u00e9`` the unit is ``café``, and ``a\\nb`` are two words.
Example.  The units of ``"born": -1_879, // in Bern`` are born, -1879, in and Bern.

Of JSON, each string, name, number and literal is a *token*, which has a place in the value.
Cost.  Linear in the text.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator
from itertools import accumulate
from typing import NamedTuple

__all__ = [
    "Place",
    "Token",
    "Unit",
    "canonical_json",
    "is_number",
    "json_tokens",
    "literal_of",
    "number_readings",
    "units",
]

_NUMBER = (
    r"(?:(?<![\w.)\]])[+\-\u2212])?"
    r"(?:0[xX][0-9a-fA-F_]+|0[oO][0-7_]+|0[bB][01_]+"
    r"|(?:\d[\d_]*(?:\.\d[\d_]*)?|(?<!\w)\.\d[\d_]*)(?:[eE][+\-\u2212]?(?:\d+|(?!\w)))?)"
)
_UNIT = re.compile(r"(?P<word>[^\W\d]\w*)|(?P<number>" + _NUMBER + r")|(?P<symbol>[$%]|[^\x00-\x7f\w\s])")
# Backslashes, and what the last of them may escape.
_ESCAPE = re.compile(
    r"(\\+)(u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|[^\\]|\Z)"
)
_BLANKS = frozenset("nrtbfv\n")
_SYMBOLS = frozenset(("S", "M"))
_TOKEN = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*|true|false|null|[{}\[\]:,]', re.DOTALL)
_LITERALS = {
    **dict.fromkeys(("true", "True", "TRUE"), "true"),
    **dict.fromkeys(("false", "False", "FALSE"), "false"),
    **dict.fromkeys(("null", "Null", "NULL", "None", "nil", "undefined"), "null"),
}
_APART = "['\u2019\u00a0\u2009\u202f]"  # a plain blank parts two numbers
_LONGEST_NUMBER = 300  # digits of other bases, which take quadratic time
_LONGEST_EXPONENT = 18  # digits of an exponent that is compared as a number
_DEEPEST = 100  # names and indexes of a path that are shown


class Unit(NamedTuple):
    """A unit of content.

    Attributes:
        begin, end: offsets into the text, in bytes.
        key: equal for units with the same content; that of a number begins with ``#``.
    """

    begin: int
    end: int
    key: str


def is_number(unit: Unit) -> bool:
    """Whether it is a number."""
    return unit.key[0] == "#"


def literal_of(unit: Unit) -> str | None:
    """The literal of JSON that a word stands for in some dialect."""
    return _LITERALS.get(unit.key)


def units(text: bytes, is_escaped: Callable[[int, bool], bool] | None = None) -> list[Unit]:
    """The units of a text, in their order.

    Args:
        text: UTF-8; each byte that is none is a symbol.
        is_escaped: of the offset of a byte after backslashes and whether their number is odd, whether the
            last of them escapes it; ``None``: it does if their number is odd.
    """
    characters = text.decode("utf-8", "surrogateescape")
    offsets: Callable[[int], int] | None = None
    if not characters.isascii():
        offsets = list(accumulate(map(_width, characters), initial=0)).__getitem__
    if "\\" in characters:
        characters, begins, ends = _unescaped(characters, offsets or _same, is_escaped)
    elif offsets is None:
        begins = ends = _same
    else:
        begins = ends = offsets
    found = []
    for match in _UNIT.finditer(characters):
        kind, piece = match.lastgroup, match.group()
        if kind == "number":
            key = "#" + _number(piece)
        elif piece.isascii():
            key = piece
        else:
            key = unicodedata.normalize("NFKC", piece)
            if kind == "symbol" and not _is_symbol(piece, key):
                continue
        found.append(Unit(begins(match.start()), ends(match.end()), key))
    return found


def _same(index: int) -> int:
    return index


def _width(character: str) -> int:
    code = ord(character)
    return 1 if code < 0x80 or 0xDC80 <= code <= 0xDCFF else 2 if code < 0x800 else 3 if code < 0x10000 else 4


def _is_symbol(piece: str, key: str) -> bool:
    if 0xD800 <= ord(piece) <= 0xDFFF:
        return True
    plain = key.isascii() and key not in ("$", "%")  # ＝ is written for =
    return not plain and piece != "\u2212" and unicodedata.category(piece)[0] in _SYMBOLS


def _unescaped(
    characters: str, offsets: Callable[[int], int], is_escaped: Callable[[int, bool], bool] | None
) -> tuple[str, Callable[[int], int], Callable[[int], int]]:
    """The characters that are meant, where each begins, and where the one before an index ends, in bytes."""
    meant: list[str] = []
    begins: list[int] = []
    ends: list[int] = [0]
    at = 0

    def add(one: str, begin: int, end: int) -> None:
        meant.append(one)
        begins.append(offsets(begin))
        ends.append(offsets(end))

    for match in _ESCAPE.finditer(characters):
        for index in range(at, match.start()):
            add(characters[index], index, index + 1)
        slashes, begin, escaped, at = match.start(), match.start(2), match.group(2), match.end()
        is_odd = (begin - slashes) % 2 == 1
        if is_escaped is not None and escaped:
            is_odd = is_escaped(offsets(begin), is_odd)
        last = begin - 1 if is_odd else begin
        if slashes < last:
            add("\\", slashes, last)
        if not is_odd:
            at = begin  # what follows is read as it stands
        elif escaped:
            add(_meant(escaped), last, at)
    for index in range(at, len(characters)):
        add(characters[index], index, index + 1)
    return "".join(meant), begins.__getitem__, ends.__getitem__


def _meant(escaped: str) -> str:
    if len(escaped) == 1:
        return " " if escaped in _BLANKS else escaped
    if len(escaped) > 5:  # the two halves of a character
        return chr(0x10000 + ((int(escaped[1:5], 16) - 0xD800) << 10) + int(escaped[7:], 16) - 0xDC00)
    return chr(int(escaped[1:], 16))


def _number(text: str) -> str:
    """The value of a number, in one spelling."""
    plain = unicodedata.normalize("NFKC", text).replace("_", "").replace("\u2212", "-").lower()
    sign = "-" if plain.startswith("-") else ""
    plain = plain.lstrip("+-")
    if plain[:2] in ("0x", "0o", "0b"):
        if not 2 < len(plain) < _LONGEST_NUMBER:
            return sign + plain
        plain = str(int(plain, 0))
    mantissa, _, exponent = plain.partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = (whole + fraction).lstrip("0")
    if not digits:
        return "0"
    if len(exponent) > _LONGEST_EXPONENT:
        return sign + plain
    power = (int(exponent) if exponent.strip("+-") else 0) - len(fraction)
    shortest = digits.rstrip("0")
    return f"{sign}{shortest}e{power + len(digits) - len(shortest)}"


def number_readings(text: str) -> set[str]:
    """The keys of the numbers that a text may stand for, where marks of thousands and commas are read."""
    plain = text.strip().rstrip("nL")
    found = {plain}
    for thousands, point in (("[,]", "."), ("[.]", ","), (_APART, "."), (_APART, ",")):
        grouped = rf"([+\-\u2212]?\d{{1,3}}(?:{thousands}\d{{3}})+|[+\-\u2212]?\d+)(?:[{point}](\d+))?"
        match = re.fullmatch(grouped, plain)
        if match is not None:
            found.add(re.sub(thousands, "", match[1]) + "." + (match[2] or "0"))
    return {"#" + _number(one) for one in found if re.fullmatch(_NUMBER, one)}


# ---- JSON -------------------------------------------------------------------------------------


class Place(NamedTuple):
    """Where a value stands: the place of what it is in, and its name (its token, in bytes) or its index."""

    around: Place | None
    step: bytes | int

    def path(self) -> tuple[str | int, ...]:
        """The names and indexes that lead here; of more than 100 the last ones."""
        steps: list[str | int] = []
        place: Place | None = self
        while place is not None and len(steps) < _DEEPEST:
            step = place.step
            steps.append(step if isinstance(step, int) else _string(step))
            place = place.around
        return tuple(reversed(steps))


class Token(NamedTuple):
    """A token of JSON: a name, a string, a number, a literal, a bracket, a comma or a colon.

    Attributes:
        begin, end: offsets, in bytes.
        kind: ``"name"``, ``"text"``, ``"number"``, ``"literal"``, or the mark itself.
        place: of a value and of a name, where the value stands; of a mark, that of the object or array around
            it; ``None``: it is, or is in, no other value.
    """

    begin: int
    end: int
    kind: str
    place: Place | None


def json_tokens(text: bytes) -> Iterator[Token]:
    """The tokens of a JSON text, in their order; ``place`` of brackets is that of their own value."""
    around: list[Place | None] = []  # of each open bracket, its own place
    steps: list[
        bytes | int | None
    ] = []  # of each, the name or index of its present value; None: a name is due
    for match in _TOKEN.finditer(text):
        first = match.group()[:1]
        here = around[-1] if around else None
        step = steps[-1] if steps else None
        inside = Place(here, step) if step is not None else None
        if first in b"]}":
            if around:
                around.pop()
                steps.pop()
            yield Token(match.start(), match.end(), first.decode(), here)
        elif first in b"[{":
            around.append(inside)
            steps.append(0 if first == b"[" else None)
            yield Token(match.start(), match.end(), first.decode(), inside)
        elif first == b"," or first == b":":
            if first == b"," and steps:
                steps[-1] = step + 1 if isinstance(step, int) else None
            yield Token(match.start(), match.end(), first.decode(), here)
        elif steps and step is None:
            steps[-1] = match.group()
            yield Token(match.start(), match.end(), "name", Place(here, match.group()))
        else:
            kind = "text" if first == b'"' else "literal" if first in b"tfn" else "number"
            yield Token(match.start(), match.end(), kind, inside)


def canonical_json(text: bytes) -> str:
    """A spelling of the value of a JSON text: the same for equal values, another one for others.

    1 and 1.0 are equal, 1 and true are not, and the order of members does not matter.
    """
    around: list[list[str]] = [[]]
    for token in json_tokens(text):
        if token.kind in ("{", "["):
            around.append([])
        elif token.kind in ("}", "]"):
            inner = around.pop()
            if token.kind == "}":
                pairs = sorted(zip(inner[::2], inner[1::2], strict=True))
                inner = [f"{name}:{value}" for name, value in pairs]
            around[-1].append(f"{token.kind}{','.join(inner)}{token.kind}")
        elif token.kind in ("name", "text"):
            string = _string(text[token.begin : token.end])
            around[-1].append(f"{len(string)}'{string}")
        elif token.kind == "number":
            around[-1].append("#" + _number(text[token.begin : token.end].decode()))
        elif token.kind == "literal":
            around[-1].append(text[token.begin : token.end].decode())
    return ",".join(around[0])


def _string(token: bytes) -> str:
    characters = token[1:-1].decode("utf-8", "surrogateescape")
    if "\\" not in characters:
        return characters
    meant: list[str] = []
    at = 0
    for match in _ESCAPE.finditer(characters):
        slashes, escaped = len(match.group(1)), match.group(2)
        meant += characters[at : match.start()], "\\" * (slashes // 2)
        meant.append(_CONTROLS.get(escaped) or _meant(escaped) if slashes % 2 else escaped)
        at = match.end()
    return "".join([*meant, characters[at:]])


_CONTROLS = {"n": "\n", "r": "\r", "t": "\t", "b": "\b", "f": "\f"}
