"""Numbers as people and other languages write them, and what a schema may want of them."""

from __future__ import annotations

import re
from decimal import ROUND_HALF_EVEN, Decimal, InvalidOperation
from fractions import Fraction

from tokamata.repair.costs import Rewrite
from tokamata.repair.dialects.modes import TEXT

__all__ = ["NUMBERS"]

_BEFORE = rb"(?<=[:\[,\s({])"
_AFTER = rb"(?=\s*(?:[,}\])\n]|\Z))"
_TEXT = (TEXT,)
_WIDE_DIGITS = {ord("０") + digit: str(digit) for digit in range(10)} | {
    ord("－"): "-",
    ord("−"): "-",
    ord("．"): ".",
}
_MOST_DIGITS = 300


def _whole(text: bytes) -> bytes | None:
    """The nearest whole number, of a half the even one."""
    try:
        number = Decimal(text.decode())
        if not number.is_finite() or number.adjusted() > _MOST_DIGITS:
            return None
        return str(int(number.to_integral_value(ROUND_HALF_EVEN))).encode()
    except (InvalidOperation, ValueError):
        return None


def _rounded(match: re.Match[bytes]) -> bytes | None:
    return _whole(match[1])


def _based(match: re.Match[bytes]) -> bytes:
    return str(int(match[0].decode(), 0)).encode()


def _narrow(match: re.Match[bytes]) -> bytes | None:
    try:
        return match[0].decode().translate(_WIDE_DIGITS).encode()
    except UnicodeDecodeError:
        return None


def _without_groups(match: re.Match[bytes]) -> bytes:
    return match[1].translate(None, b", '_ ")


def _continental(match: re.Match[bytes]) -> bytes:
    return match[1].replace(b".", b"").replace(b",", b".")


def _quotient(match: re.Match[bytes]) -> bytes | None:
    try:
        return repr(float(Fraction(int(match[1]), int(match[2])))).encode()
    except (ZeroDivisionError, OverflowError):
        return None


_QUOTED = rb"\"\s*%b\s*\""
_GROUPED = rb"(-?\d{1,3}(?:,\d{3})+(?:\.\d+)?)"
_CONTINENTAL = rb"(-?\d{1,3}(?:\.\d{3})+,\d+|-?\d+,\d{1,2})"

NUMBERS = (
    Rewrite(
        "full-width number",
        rb"(?:\xef\xbc[\x8d-\x99]|\xe2\x88\x92|[\d.])*(?:\xef\xbc[\x8d-\x99]|\xe2\x88\x92)(?:\xef\xbc[\x8d-\x99]|[\d.])*",
        _narrow,
        20,
        _TEXT,
    ),
    Rewrite("drop a plus sign", _BEFORE + rb"\+(?=[\d.])", b"", 20, _TEXT),
    Rewrite("drop leading zeros", _BEFORE + rb"(-?)0+(?=\d)", rb"\1", 60, _TEXT),
    Rewrite(
        "number in another base",
        _BEFORE + rb"-?0(?:[xX][0-9a-fA-F]+|[oO][0-7]+|[bB][01]+)(?![\w.])",
        _based,
        20,
        _TEXT,
    ),
    Rewrite("separator of digits", rb"_(?<=\d_)(?=\d)", b"", 20, _TEXT),
    Rewrite(
        "separators of digits",
        _BEFORE + _GROUPED + rb"(?=\s*(?:,\s*[\"'\w\n]|[}\]\n]|\Z))",
        _without_groups,
        250,
        _TEXT,
    ),
    Rewrite(
        "comma as a decimal point",
        _BEFORE + _CONTINENTAL + rb"(?=\s*(?:,\s*[\"'\w\n]|[}\]\n]|\Z))",
        _continental,
        240,
        _TEXT,
    ),
    Rewrite("digit after a point", rb"\.(?<=\d\.)" + rb"(?=\s*(?:[,}\])]|\Z))", b".0", 30, _TEXT),
    Rewrite("digit after a point", rb"\.(?<=\d\.)(?=[eE])", b".0", 30, _TEXT),
    Rewrite("digit before a point", rb"\.(?<![\w.]\.)(?=\d)", b"0.", 20, _TEXT),
    Rewrite("digits of an exponent", rb"[eE](?<=\d[eE])[+-]?(?=\s*(?:[,}\]]|\Z))", rb"\g<0>0", 500, _TEXT),
    Rewrite("round a number", _BEFORE + rb"(-?\d+\.\d*(?:[eE][+-]?\d+)?)" + _AFTER, _rounded, 1000, _TEXT),
    Rewrite("number as a string", _BEFORE + rb"[-+]?[\d.][\w.+/:%-]*" + _AFTER, rb'"\g<0>"', 1000, _TEXT),
    Rewrite(
        "quote a number with marks",
        _BEFORE + rb"[$\xe2\x82\xac]{0,3}[-+]?\d[\d.,]*[\w/:%.-][\w/:%.,-]*[\w%]" + _AFTER,
        rb'"\g<0>"',
        400,
        _TEXT,
    ),
    Rewrite(
        "number as a string",
        _BEFORE + rb"(?:0\d+|\d+[/:-]\d[\d/:.-]*|\d+(?:\.\d+){2,})" + _AFTER,
        rb'"\g<0>"',
        120,
        _TEXT,
    ),
    Rewrite("quotient", _BEFORE + rb"(\d+)/(\d+)" + _AFTER, _quotient, 700, _TEXT),
    Rewrite("drop a unit", _BEFORE + rb"(?:[$]|\xe2\x82\xac|\xc2\xa3)\s?(?=[\d.])", b"", 500, _TEXT),
    Rewrite("drop a unit", rb"(?<=\d)\s?(?:%|[$]|\xe2\x82\xac|[A-Za-z]{1,12})" + _AFTER, b"", 700, _TEXT),
    Rewrite("string as a number", rb'"(-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)"', rb"\1", 700, _TEXT),
    Rewrite("string as a number", rb'"\s*\+?(\d+(?:\.\d+)?)\s*"', rb"\1", 720, _TEXT),
    Rewrite("string as a number", _QUOTED % _GROUPED, _without_groups, 800, _TEXT),
    Rewrite("string as a number", _QUOTED % _CONTINENTAL, _continental, 810, _TEXT),
    Rewrite(
        "string as a number",
        rb'"\s*(?:[$]|\xe2\x82\xac|\xc2\xa3)?\s*(-?[\d,]*\d(?:\.\d+)?)\s*(?:%|[A-Za-z\xc2-\xe2][\w /\x80-\xbf]{0,20})?"',
        _without_groups,
        1000,
        _TEXT,
    ),
    Rewrite("round a number", rb'"(-?\d+\.\d+)"', _rounded, 1700, _TEXT),
)
