"""Types whose values are written as strings: dates, times, UUIDs, addresses, paths.

Problem: a string that a format of JSON Schema admits need not be a value of the type.  RFC 3339 has leap
seconds, years 0000 and small letters; ``datetime`` has none of these, takes a time without an offset, and
counts microseconds.  Here each type has the language of the strings that both it and pydantic read, and that
``isoformat()``, ``str()`` or pydantic write.

Example: ``datetime`` reads ``2024-02-29T12:00:00.5+01:00`` and ``2024-02-29T12:00:00``, never
``2024-06-30T23:59:60Z``.

Languages are patterns of ECMA-262, or names of formats where the type reads exactly what the format admits.
"""

from __future__ import annotations

import datetime
import ipaddress
import pathlib
import re
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tokamata.errors import ParseError

__all__ = [
    "DATE",
    "DATE_TIME",
    "DECIMAL",
    "DURATION",
    "DURATION_UNITS",
    "TEXT_TYPES",
    "TIME",
    "TextType",
    "decimal_pattern",
    "text_type",
]

# The years 0001 to 9999, and those of them with a leap day.
_YEAR = "(?:[0-9]{3}[1-9]|[0-9]{2}[1-9]0|[0-9][1-9]00|[1-9]000)"
_LEAP_YEAR = "(?:[0-9]{2}(?:0[48]|[2468][048]|[13579][26])|(?:0[48]|[2468][048]|[13579][26])00)"
_DAY = (
    "(?:(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])"
    "|(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)"
    "|02-(?:0[1-9]|1[0-9]|2[0-8]))"
)
_CLOCK = r"(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\.[0-9]{1,6})?"
OFFSET = "(?:Z|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])"

DATE = f"(?:{_YEAR}-{_DAY}|{_LEAP_YEAR}-02-29)"
TIME = f"{_CLOCK}{OFFSET}?"
NAIVE_DATE_TIME = f"{DATE}T{_CLOCK}"
DATE_TIME = f"{NAIVE_DATE_TIME}{OFFSET}?"

_SECONDS = r"[0-9]{1,5}(?:\.[0-9]{1,6})?S"
_HOURS = f"(?:[0-9]{{1,5}}H(?:[0-9]{{1,5}}M)?(?:{_SECONDS})?|[0-9]{{1,5}}M(?:{_SECONDS})?|{_SECONDS})"
_DAYS = "(?:[0-9]{1,5}Y(?:[0-9]{1,8}D)?|[0-9]{1,8}D)"
DURATION = f"-?P(?:{_DAYS}(?:T{_HOURS})?|T{_HOURS})"
_DURATION_PARTS = re.compile(
    r"(-?)P(?:(\d+)Y)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)(?:\.(\d{1,6}))?S)?)?"
)

DECIMAL = r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[Ee][+-]?[0-9]{1,4})?"

# As timedelta is called, in Python.
DURATION_UNITS = ("days", "hours", "minutes", "seconds", "microseconds")

_OCTET = "(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])"


@dataclass(frozen=True)
class TextType:
    """A type that is written as a string.

    Attributes:
        name: what errors call it, and what constructs it in Python syntax.
        pattern: the language, to be anchored; ``""`` where there is a format, or any string will do.
        format: a format of JSON Schema that says the same, or ``""``.
        read: makes a value of a text; raises ``ValueError`` where it is none.
    """

    name: str
    pattern: str
    format: str
    read: Callable[[str], Any]

    def schema(self, asserts_formats: bool) -> dict[str, Any]:
        """The strings as a JSON Schema; all strings where formats are mere annotations."""
        if self.format:
            return {"type": "string", "format": self.format}
        return {
            "type": "string",
            **({"pattern": f"^(?:{self.pattern})$"} if self.pattern and asserts_formats else {}),
        }


def decimal_pattern(max_digits: int | None, decimal_places: int | None) -> str:
    """Decimals of so many digits, of which so many are behind the point; zeros in front do not count."""
    if max_digits is None:
        if decimal_places is None:
            return DECIMAL
        return "-?(?:0|[1-9][0-9]*)" + (rf"(?:\.[0-9]{{1,{decimal_places}}})?" if decimal_places else "")
    most_places = max_digits if decimal_places is None else min(decimal_places, max_digits)
    ways = []
    for places in range(most_places + 1):
        whole = max_digits - (places if decimal_places is None else decimal_places)
        digits = f"(?:0|[1-9][0-9]{{0,{whole - 1}}})" if whole > 0 else "0"
        ways.append(digits + (rf"\.[0-9]{{{places}}}" if places else ""))
    return f"-?(?:{'|'.join(ways)})"


def read_time_text(text: str) -> str:
    """What every version of Python reads: six digits or none behind the point, and an offset in digits."""
    text = text[:-1] + "+00:00" if text.endswith(("Z", "z")) else text
    return re.sub(r"\.(\d{1,6})\d*", lambda found: "." + found.group(1).ljust(6, "0"), text)


def read_duration(text: str) -> datetime.timedelta:
    """A duration as ISO 8601 writes it; a year is 365 days, as pydantic has it."""
    found = _DURATION_PARTS.fullmatch(text)
    if not found or text.endswith(("P", "T")):
        raise ParseError("", f"{text!r:.80} is no duration")
    sign, years, days, hours, minutes, seconds, fraction = found.groups()
    try:
        value = datetime.timedelta(
            days=int(days or 0) + 365 * int(years or 0),
            hours=int(hours or 0),
            minutes=int(minutes or 0),
            seconds=int(seconds or 0),
            microseconds=int((fraction or "").ljust(6, "0")),
        )
    except OverflowError as error:
        raise ParseError("", str(error)) from None
    return -value if sign else value


def _ipv4_network() -> str:
    """Networks without bits beyond their prefix."""
    ways = []
    for prefix in range(33):
        whole, bits = divmod(prefix, 8)
        parts = [_OCTET] * whole
        if bits:
            step = 1 << (8 - bits)
            parts.append("(?:" + "|".join(str(value) for value in range(0, 256, step)) + ")")
        parts += ["0"] * (4 - len(parts))
        ways.append(r"\.".join(parts) + f"/{prefix}")
    return "|".join(ways)


_IPV4 = rf"{_OCTET}(?:\.{_OCTET}){{3}}"

TEXT_TYPES: dict[type, TextType] = {
    datetime.date: TextType("date", DATE, "", datetime.date.fromisoformat),
    datetime.datetime: TextType(
        "datetime", DATE_TIME, "", lambda text: datetime.datetime.fromisoformat(read_time_text(text))
    ),
    datetime.time: TextType("time", TIME, "", lambda text: datetime.time.fromisoformat(read_time_text(text))),
    datetime.timedelta: TextType("timedelta", DURATION, "", read_duration),
    uuid.UUID: TextType("UUID", "", "uuid", uuid.UUID),
    bytes: TextType("bytes", "", "", str.encode),
    ipaddress.IPv4Address: TextType("IPv4Address", "", "ipv4", ipaddress.IPv4Address),
    ipaddress.IPv6Address: TextType("IPv6Address", "", "ipv6", ipaddress.IPv6Address),
    ipaddress.IPv4Network: TextType("IPv4Network", _ipv4_network(), "", ipaddress.IPv4Network),
    ipaddress.IPv4Interface: TextType(
        "IPv4Interface", rf"{_IPV4}(?:/(?:3[0-2]|[12]?[0-9]))?", "", ipaddress.IPv4Interface
    ),
}


def text_type(cls: type) -> TextType | None:
    """The strings of a class; ``None`` where it is not written as one."""
    found = TEXT_TYPES.get(cls)
    if found is None and issubclass(cls, pathlib.PurePath):
        return TextType(cls.__name__, "", "", cls)
    return found
