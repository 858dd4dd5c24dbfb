"""Numbers as people and other languages write them, and what a schema may want of them."""

from __future__ import annotations

import re
from decimal import ROUND_HALF_EVEN, Decimal, InvalidOperation
from fractions import Fraction
from math import prod

from tokamata.repair.costs import Rewrite
from tokamata.repair.dialects.modes import TEXT

__all__ = ["NUMBERS"]

_BEFORE = rb"(?<=[:\[,\s({])"
_AFTER = rb"(?=\s*(?:[,}\])\n]|\xef\xbc[\x8c\x9b\x9d\xbd]|\Z))"
_TEXT = (TEXT,)
_WIDE_DIGITS = {ord("０") + digit: str(digit) for digit in range(10)} | {
    ord("－"): "-",
    ord("−"): "-",
    ord("．"): ".",
}
_MOST_DIGITS = 300  # of a number that is written out
_EXACT = 28  # bytes of numbers that the decimals of Python calculate with, without rounding


def _whole(text: bytes) -> bytes | None:
    """The nearest whole number, of a half the even one."""
    try:
        number = Decimal(text.decode())
        if not number.is_finite() or number.adjusted() > _MOST_DIGITS:
            return None
        whole = str(int(number.to_integral_value(ROUND_HALF_EVEN))).encode()
        return None if whole == text else whole
    except (InvalidOperation, ValueError):
        return None


def _rounded(match: re.Match[bytes]) -> bytes | None:
    return _whole(match[1])


def _based(match: re.Match[bytes]) -> bytes | None:
    if len(match[1]) > _MOST_DIGITS:
        return None
    return str(int(match[1].decode().rstrip("_").replace("__", "_"), 0)).encode()


def _narrow(match: re.Match[bytes]) -> bytes | None:
    try:
        return match[0].decode().translate(_WIDE_DIGITS).encode()
    except UnicodeDecodeError:
        return None


def _without_groups(match: re.Match[bytes]) -> bytes:
    digits = match[1].translate(None, b", '_ \xc2\xa0\xe2\x80\x89\x99\xaf")
    return digits.replace(b".", b"") if digits.count(b".") > 1 else digits


def _pointed(match: re.Match[bytes]) -> bytes:
    """With a digit before the point."""
    return match[1] + (b"0" if match[2].startswith(b".") else b"") + match[2]


def _continental(match: re.Match[bytes]) -> bytes:
    return match[1].translate(None, b". ").replace(b",", b".")


def _quotient(match: re.Match[bytes]) -> bytes | None:
    """A quotient, or a whole number and one."""
    if len(match[0]) > _MOST_DIGITS:
        return None
    try:
        return repr(float(int(match[1] or 0) + Fraction(int(match[2]), int(match[3])))).encode()
    except (ZeroDivisionError, OverflowError):
        return None


def _percent(match: re.Match[bytes]) -> bytes | None:
    try:
        return format((Decimal(match[1].decode()) / 100).normalize(), "f").encode()
    except InvalidOperation:
        return None


_TIMES = {b"k": 3, b"thousand": 3, b"m": 6, b"mln": 6, b"million": 6, b"bn": 9, b"billion": 9}


def _times(match: re.Match[bytes]) -> bytes | None:
    """A number of thousands, millions or billions."""
    if len(match[0]) > _EXACT:
        return None
    number = Decimal(match[1].translate(None, b",").decode()).scaleb(_TIMES[(match[2] or match[3]).lower()])
    return format(number, "f").encode() if number == number.to_integral_value() else None


def _result(match: re.Match[bytes]) -> bytes | None:
    """The value of sums of products."""
    if len(match[0]) > _EXACT:
        return None
    total = Decimal(0)
    for product in match[1].decode().split("+"):
        total += prod(map(Decimal, product.split("*")), start=Decimal(1))
    return format(total.normalize(), "f").encode()


_WORDS = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen"
_WORDS += " sixteen seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred"
_NUMBER_OF = {word: value for value, word in enumerate(_WORDS.split()[:20])}
_NUMBER_OF |= {word: 10 * (value + 2) for value, word in enumerate(_WORDS.split()[20:])}
_ONES, _TENS = (
    "|".join(word for word, value in _NUMBER_OF.items() if value in values)
    for values in (range(1, 10), range(20, 100, 10))
)
# Of German, French, Spanish, Italian, Dutch, Swedish, Polish and Portuguese, from one to twelve.
_OF_LANGUAGES = """
eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf
un deux trois quatre cinq six sept huit neuf dix onze douze
uno dos tres cuatro cinco seis siete ocho nueve diez once doce
uno due tre quattro cinque sei sette otto nove dieci undici dodici
een twee drie vier vijf zes zeven acht negen tien elf twaalf
ett två tre fyra fem sex sju åtta nio tio elva tolv
jeden dwa trzy cztery pięć sześć siedem osiem dziewięć dziesięć jedenaście dwanaście
um dois três quatro cinco seis sete oito nove dez onze doze
"""
_NUMBER_OF |= {
    word: value for line in _OF_LANGUAGES.splitlines() for value, word in enumerate(line.split(), 1)
}
_NUMBER_WORD = f"((?i:(?:{_TENS})[- ](?:{_ONES})|{'|'.join(sorted(_NUMBER_OF, reverse=True))}))".encode()


def _worded(match: re.Match[bytes]) -> bytes:
    words = match[1].decode().lower().replace(" ", "-").split("-")
    return str(sum(_NUMBER_OF[word] for word in words)).encode()


_NUMBER = rb"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?"
_DIGITS = rb"\d+(?:\.\d+)?"
_NOT_WHOLE = rb"-?\d+(?:\.\d*(?:[eE][+-]?\d+)?|[eE][+-]?\d+)|-?0\d+|-0"
_START = rb"(?:(?<=[:\[,\s({$\xac\xa3\xa5])|(?<![\s\S]))"
_QUOTE = rb"(?:[\"']|\xe2\x80[\x9c-\x9f])"
_QUOTED = _QUOTE + rb"\s*%b\s*" + _QUOTE
_GROUPED = rb"(-?\d{1,3}(?:(?:(?:[,'\x20]|\xc2\xa0|\xe2\x80[\x89\x99\xaf])\d{3})+(?:\.\d+)?|(?:\.\d{3}){2,}))"
_CONTINENTAL = rb"(-?\d{1,3}(?:[.\x20]\d{3})+,\d+|-?\d+,\d{1,2})"
_UNIT = rb"(?:[$]|\xe2\x82\xac|\xc2[\xa3\xa5]|USD|EUR|CHF|GBP|~)"
_MINUS = rb"(?:\xe2\x88\x92|\xe2\x80[\x90-\x95]|\xef\xbc\x8d)"

NUMBERS = (
    Rewrite(
        "full-width number",
        rb"(?:\xef\xbc[\x8e-\x99]|[\d.])*\xef\xbc[\x90-\x99](?:\xef\xbc[\x8e-\x99]|[\d.])*",
        _narrow,
        20,
        _TEXT,
    ),
    *(
        Rewrite("fraction", _START + sign.encode() + _AFTER, value, 40, _TEXT)
        for sign, value in (("½", b"0.5"), ("¼", b"0.25"), ("¾", b"0.75"), ("⅓", b"0.333"), ("⅔", b"0.667"))
    ),
    Rewrite("another decimal point", "(?<=[0-9])(?:。|．|·)(?=[0-9])".encode(), b".", 20, _TEXT),
    Rewrite("another minus sign", _MINUS + rb"(?=\d|\.\d|\xef\xbc)", b"-", 20, _TEXT),
    Rewrite("drop a plus sign", _START + rb"\+(?=[\d.])", b"", 20, _TEXT),
    Rewrite("drop leading zeros", _START + rb"(-?)0+(?=\d)", rb"\1", 60, _TEXT),
    Rewrite(
        "number in another base",
        _START + rb"([-+]?0(?:[xX][0-9a-fA-F_]+|[oO][0-7_]+|[bB][01_]+))(?![\w.])",
        _based,
        20,
        _TEXT,
    ),
    Rewrite("separator of digits", rb"_(?<=\d_)(?=\d)", b"", 20, _TEXT),
    Rewrite(
        "separators of digits",
        _START + _GROUPED + rb"(?=\s*(?:,\s*[\"'\w\n]|[}\]\n]|\Z))",
        _without_groups,
        250,
        _TEXT,
    ),
    Rewrite(
        "comma as a decimal point",
        _START
        + _CONTINENTAL
        + rb"(?=\s?(?:(?:[A-Za-z]|[\xc3-\xc5][\x80-\xbf]){1,12}|[%$]|\xe2\x82\xac)?"
        + rb"\s*(?:,\s*[\"'\w\n]|[}\]\n]|\Z))",
        _continental,
        240,
        _TEXT,
    ),
    # In a list whose elements semicolons separate.
    Rewrite("comma as a decimal point", rb"(?<=[\[\s])(-?\d+),(\d+)\s*;(?=\s)", rb"\1.\2,", 50, _TEXT),
    Rewrite("result of a sum", _START + rb"[\d(][\d\s.+*/()-]{0,60}=\s*(?=-?\d)", b"", 300, _TEXT),
    Rewrite(
        "result of a sum",
        _START + rb"(%b(?:\s*[+*]\s*%b){1,5})" % (_DIGITS, _DIGITS) + _AFTER,
        _result,
        350,
        _TEXT,
    ),
    Rewrite("digit after a point", rb"\.(?<=\d\.)(?=\s*(?:[,}\])]|\Z)|[eE])", b".0", 30, _TEXT),
    Rewrite("digit before a point", rb"\.(?<![\w.]\.)(?=\d)", b"0.", 20, _TEXT),
    Rewrite("digits of an exponent", rb"[eE](?<=\d[eE])[+-]?(?=\s*(?:[,}\]]|\Z))", rb"\g<0>0", 60, _TEXT),
    Rewrite("round a number", _START + rb"(%b)" % _NOT_WHOLE + _AFTER, _rounded, 800, _TEXT),
    Rewrite("round a number", _START + rb"(-?\d+\.\d+)\Z", _rounded, 60, _TEXT),
    Rewrite(
        "number as a string",
        _START + rb"[-+]?[\d.][\w.+/:%-]*(?:" + _AFTER + rb"|(?=[ \t]+-?\d[\d.]*[\s,\]]))",
        rb'"\g<0>"',
        500,
        _TEXT,
    ),
    Rewrite(
        "malformed number as a string",
        _START + rb"(?!%b%b)(?=[-+.A-Za-z_/:%%]*\d)[-+]?[\d.][\w.+/:%%-]*" % (_NUMBER, _AFTER) + _AFTER,
        rb'"\g<0>"',
        120,
        _TEXT,
    ),
    Rewrite(
        "quotient",
        _START + rb"(?:(\d+) )?(\d+)/(\d+)(?=\s?[A-Za-z]{0,12}\s*(?:[,}\])\n]|\Z))",
        _quotient,
        300,
        _TEXT,
    ),
    Rewrite("drop a unit", _START + _UNIT + rb"\s?(?=[\d.-])", b"", 300, _TEXT),
    Rewrite(
        "drop a unit",
        rb"(?:(?<=\d)|(?<=\xef\xbc[\x90-\x99]))\s?(?:[A-Za-z%$/]|\xc2[\xa0-\xbf]|[\xc3-\xc5][\x80-\xbf]|\xe2\x82\xac|\xce\xbc){1,14}"
        + _AFTER,
        b"",
        500,
        _TEXT,
    ),
    Rewrite("percentage as a share", _START + rb"(-?\d+(?:\.\d+)?)\s?%" + _AFTER, _percent, 900, _TEXT),
    Rewrite("number word", _START + _NUMBER_WORD + _AFTER, _worded, 400, _TEXT),
    Rewrite(
        "string as a number",
        _QUOTED % rb"\+?(-?)(\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|\.\d+)\.?",
        _pointed,
        700,
        _TEXT,
    ),
    Rewrite(
        "number in another base",
        _QUOTED % rb"([-+]?0(?:[xX][0-9a-fA-F]+|[oO][0-7]+|[bB][01]+))",
        _based,
        760,
        _TEXT,
    ),
    # A unit of one letter without a blank: 300 K is a temperature.
    Rewrite(
        "thousands",
        rb"(?:"
        + _START
        + rb"|"
        + _QUOTE
        + rb")"
        + _UNIT
        + rb"?(-?\d[\d,]*(?:\.\d+)?)(?:([kKM])|\s?(mln|bn|thousand|million|billion))"
        rb"(?:" + _QUOTE + rb"|" + _AFTER + rb")",
        _times,
        300,
        _TEXT,
    ),
    # What is said about it follows; or the most that there is, as in a score.
    Rewrite(
        "string as a number",
        rb"\"(-?\d+(?:\.\d+)?)(?:\s+(?:[-=]|\xe2\x80[\x93\x94])\s|[:.)]\s|\s?\()[^\"\\\n]{0,80}\"",
        rb"\1",
        1300,
        _TEXT,
    ),
    Rewrite("string as a number", rb"\"(\d+)\s?/\s?(?:5|10|100)\"", rb"\1", 1300, _TEXT),
    Rewrite(
        "string as a number",
        _QUOTED % (_UNIT + rb"?\s*\+?" + _GROUPED + rb"\s*(?:%|[A-Za-z\xc2-\xe2][\w /.\x80-\xc5]{0,20})?"),
        _without_groups,
        800,
        _TEXT,
    ),
    Rewrite(
        "string as a number",
        _QUOTED
        % (_UNIT + rb"?\s*" + _CONTINENTAL + rb"\s*(?:[A-Za-z%$/]|\xc2[\xa0-\xbf]|\xe2\x82\xac){0,14}"),
        _continental,
        810,
        _TEXT,
    ),
    Rewrite(
        "string as a number",
        _QUOTED
        % (
            _UNIT + rb"?\s*\+?(?!-?[\d.]+[\"'])(-?[\d,]*\d(?:\.\d+)?)\s*"
            rb"(?:%|[A-Za-z\xc2-\xe2][\w /.\x80-\xc5]{0,20})?"
        ),
        _without_groups,
        1000,
        _TEXT,
    ),
    Rewrite(
        "string as a number",
        rb"\"[A-Za-z ,.:~$#\xc2-\xe2\x80-\xbf]{0,40}[ ,.:~$#\x80-\xbf](-?[\d,]*\d(?:\.\d+)?)"
        rb"[A-Za-z ,.%$!()\xc2-\xe2\x80-\xbf]{0,40}\"",
        _without_groups,
        1500,
        _TEXT,
    ),
    Rewrite("quotient", _QUOTED % rb"(?:(\d+) )?(\d+)/(\d+)", _quotient, 900, _TEXT),
    Rewrite("string as a number", _QUOTED % (_MINUS + rb"(\d+(?:\.\d+)?)"), rb"-\1", 760, _TEXT),
    Rewrite("percentage as a share", _QUOTED % rb"(-?\d+(?:\.\d+)?)\s?%", _percent, 1400, _TEXT),
    Rewrite("number word", rb"[\"']" + _NUMBER_WORD + rb"[\"']", _worded, 800, _TEXT),
    Rewrite("round a number", _QUOTED % rb"(-?\d+\.\d+)", _rounded, 1700, _TEXT),
)
