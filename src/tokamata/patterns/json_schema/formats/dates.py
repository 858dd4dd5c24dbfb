"""Dates, times and durations.

Source: RFC 3339, section 5.6 (dates and times), section 5.7 and appendix C (days of months, leap years),
appendix A (durations).

Example: ``2024-02-29T23:59:59.5+01:00``; ``2023-02-29`` is no date.

A leap second stands where it is 23:59:60 in UTC, and nowhere else; for a date and time, on the last day of
June or December there, the only ones that have ever had one (section 5.6 knows no others).  Which
years have one is known half a year ahead and not to be found here: every year may.
"""

from __future__ import annotations

import tokamata._core as _core
from tokamata.patterns.regex import to_expression

__all__ = ["date", "date_time", "duration", "time"]

_MONTHS = (
    "(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])"
    "|(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)"
    "|02-(?:0[1-9]|1[0-9]|2[0-8])"
)
_LEAP_YEAR = "(?:[0-9]{2}(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)"
_DATE = f"(?:[0-9]{{4}}-(?:{_MONTHS})|{_LEAP_YEAR}-02-29)"

_HOUR_MINUTE = "(?:[01][0-9]|2[0-3]):[0-5][0-9]"
_FRACTION = r"(?:\.[0-9]+)?"
_OFFSET = f"(?:[Zz]|[+-]{_HOUR_MINUTE})"
_TIME = f"{_HOUR_MINUTE}:[0-5][0-9]{_FRACTION}{_OFFSET}"


def date() -> _core.Expression:
    """``full-date``: a day of the years 0000 to 9999 in the calendar of today, also before it was made."""
    return to_expression(_DATE)


def time() -> _core.Expression:
    """``full-time``: a time of the day with its offset from UTC."""
    return _core.union([to_expression(_TIME), _leap_second_here(), _leap_second_east()])


def date_time() -> _core.Expression:
    """``date-time``: a date and a time, with ``T`` or ``t`` between them."""
    here, east = to_expression("[0-9]{4}-(?:06-30|12-31)[Tt]"), to_expression("[0-9]{4}-(?:07-01|01-01)[Tt]")
    return _core.union(
        [
            to_expression(f"{_DATE}[Tt]{_TIME}"),
            _core.concat([here, _leap_second_here()]),
            _core.concat([east, _leap_second_east()]),
        ]
    )


def duration() -> _core.Expression:
    """``duration``: ``P3Y6M4DT12H30M5S``, ``P2W``.

    Letters are capitals, as ISO 8601 has them; the grammar of the RFC, which is not normative, would by
    the rules of its notation match small ones too.
    """
    number = "[0-9]+"
    days = f"{number}D"
    months = f"{number}M(?:{days})?"
    years = f"{number}Y(?:{months})?"
    seconds = f"{number}S"
    minutes = f"{number}M(?:{seconds})?"
    hours = f"{number}H(?:{minutes})?"
    clock = f"T(?:{hours}|{minutes}|{seconds})"
    return to_expression(f"P(?:(?:{days}|{months}|{years})(?:{clock})?|{clock}|{number}W)")


# ---- leap seconds -----------------------------------------------------------------------------
#
# hh:mm:60 with an offset of HH:MM is 23:59:60 in UTC if hh:mm less the offset is 23:59.  Hours are checked
# in one language, minutes in another, and what is in both is it: 24 + 60 alternatives, not 1,440.


_NUMBER = "#"  # in forms, where the numbers of a pair stand
_HOURS = "#:[0-5][0-9]:60" + _FRACTION + r"[SIGN]#:[0-5][0-9]"
_MINUTES = "(?:[01][0-9]|2[0-3]):#:60" + _FRACTION + r"[SIGN](?:[01][0-9]|2[0-3]):#"
_WHOLE_HOURS = "#:59:60" + _FRACTION + r"\+#:00"


def _leap_second_here() -> _core.Expression:
    """Where the offset is zero or negative, so that the day is that of UTC: 23 - HH and 59 - MM."""
    hours = _paired(_HOURS.replace("SIGN", "-"), [(23 - hour, hour) for hour in range(24)])
    minutes = _paired(_MINUTES.replace("SIGN", "-"), [(59 - minute, minute) for minute in range(60)])
    utc = to_expression(rf"23:59:60{_FRACTION}(?:[Zz]|\+00:00)")
    return _core.union([utc, _core.intersect([hours, minutes])])


def _leap_second_east() -> _core.Expression:
    """Where it is positive, so that the next day has begun: HH and MM - 1, or HH - 1 and 59."""
    hours = _paired(_HOURS.replace("SIGN", "+"), [(hour, hour) for hour in range(24)])
    minutes = _paired(_MINUTES.replace("SIGN", "+"), [(minute - 1, minute) for minute in range(1, 60)])
    whole = _paired(_WHOLE_HOURS, [(hour - 1, hour) for hour in range(1, 24)])
    return _core.union([whole, _core.intersect([hours, minutes])])


def _paired(form: str, pairs: list[tuple[int, int]]) -> _core.Expression:
    """Any of the pairs of numbers, the one of the time and that of the offset, where the form has them."""
    before, between, behind = (to_expression(part) for part in form.split(_NUMBER))
    return _core.union(
        [
            _core.concat([before, _two_digits(of_time), between, _two_digits(of_offset), behind])
            for of_time, of_offset in pairs
        ]
    )


def _two_digits(number: int) -> _core.Expression:
    return _core.literal(b"%02d" % number)
