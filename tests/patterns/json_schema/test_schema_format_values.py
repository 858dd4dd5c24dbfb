"""Dates, times, addresses and names in ASCII, against the standard library and against counting."""

from __future__ import annotations

import ipaddress
import random
import re
import uuid
from datetime import date, datetime, timedelta

import pytest

from tests.support.patterns.engine import Engine
from tokamata.patterns.json_schema.formats import format_language


def engine_of(name: str) -> Engine:
    expression = format_language(name)
    assert expression is not None
    return Engine(expression)


def edited(generator: random.Random, text: str, letters: str) -> str:
    for _ in range(generator.choice([0, 0, 1, 1, 2])):
        place = generator.randrange(len(text) + 1)
        text = text[:place] + generator.choice([*letters, ""]) + text[place + generator.randrange(2) :]
    return text


# ---- dates and times --------------------------------------------------------------------------


def test_every_day_of_some_years() -> None:
    engine = engine_of("date")
    for year in (1, 4, 100, 400, 1900, 1999, 2000, 2023, 2024, 2100, 9996, 9999):
        for month in range(14):
            for day in range(33):
                try:
                    date(year, month, day)
                    exists = True
                except ValueError:
                    exists = False
                assert engine.accepts(f"{year:04}-{month:02}-{day:02}") == exists
    assert engine.accepts("0000-02-29")  # no year of datetime, but one of RFC 3339


def test_every_minute_of_a_day() -> None:
    engine = engine_of("time")
    for hour in range(25):
        for minute in (0, 9, 10, 59, 60):
            for second in ("00", "59", "61"):
                expected = hour < 24 and minute < 60 and second != "61"
                assert engine.accepts(f"{hour:02}:{minute:02}:{second}.001-07:30") == expected


def test_leap_seconds() -> None:
    generator = random.Random("leap seconds")
    time, date_time = engine_of("time"), engine_of("date-time")
    days = ["06-30", "12-31", "07-01", "01-01", "06-29", "02-28"]
    right = 0
    for _ in range(1500):
        sign, hours, minutes = generator.choice("+-"), generator.randrange(24), generator.randrange(60)
        minutes = generator.choice([0, minutes])
        offset = timedelta(hours=hours, minutes=minutes) * (1 if sign == "+" else -1)
        here = datetime(1998, 12, 31, 23, 59) + offset
        if generator.random() < 0.5:
            here += generator.choice([1, -1]) * timedelta(minutes=generator.choice([1, 60, 720]))
        local = f"{here:%H:%M}:60{generator.choice(['', '.5'])}{sign}{hours:02}:{minutes:02}"
        in_utc = here - offset
        assert time.accepts(local) == (f"{in_utc:%H:%M}" == "23:59"), local
        day = generator.choice(days)
        utc = datetime.fromisoformat(f"2017-{day}T{here:%H:%M}") - offset
        expected = f"{utc:%m-%d %H:%M}" in ("06-30 23:59", "12-31 23:59")
        assert date_time.accepts(f"2017-{day}T{local}") == expected, f"{day} {local}"
        right += expected
    assert right > 50
    assert time.accepts("23:59:60Z")
    assert date_time.accepts("1990-12-31T23:59:60Z")
    assert not date_time.accepts("1990-12-30T23:59:60Z")


def test_date_times_as_the_library_reads_them() -> None:
    generator = random.Random("date-times")
    engine = engine_of("date-time")
    form = re.compile(
        r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{3})?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)", re.ASCII
    )
    for _ in range(2000):
        moment = datetime(generator.randrange(1, 9999), 1, 1) + timedelta(
            seconds=generator.randrange(31_000_000)
        )
        text = (
            f"{moment:%m-%dT%H:%M:%S}"
            + generator.choice([".123", ""])
            + generator.choice(["Z", "+05:30", "-23:59"])
        )
        text = edited(generator, f"{moment.year:04}-{text}", "0123456789:-+TZ.")
        if form.fullmatch(text):
            try:
                datetime.fromisoformat(text.replace("Z", "+00:00"))
                expected = True
            except ValueError:
                expected = False
        elif not re.fullmatch(r"[^.]*\.\d*[^.]*", text, re.ASCII) and text[17:19] != "60":
            expected = False
        else:
            continue  # fractions of any length, which the library of old does not read
        assert engine.accepts(text) == expected, text


def test_durations() -> None:
    engine = engine_of("duration")
    for date_part in ("", "1Y", "1M", "1D", "1Y1M", "1Y1D", "1M1D", "1Y1M1D", "1W", "1D1Y"):
        for time_part in ("", "1H", "1M", "1S", "1H1M", "1H1S", "1M1S", "1H1M1S", "1S1H"):
            text = f"P{date_part}" + (f"T{time_part}" if time_part else "")
            contiguous = date_part not in ("1Y1D", "1D1Y") and time_part not in ("1H1S", "1S1H")
            expected = contiguous and bool(date_part or time_part) and not (date_part == "1W" and time_part)
            assert engine.accepts(text) == expected, text
    assert not engine.accepts("p1d")  # left out


# ---- addresses --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["ipv4", "ipv6"])
def test_addresses(name: str) -> None:
    generator = random.Random(name)
    engine = engine_of(name)
    read = ipaddress.IPv4Address if name == "ipv4" else ipaddress.IPv6Address
    accepted = 0
    for _ in range(3000):
        if name == "ipv4":
            text = ".".join(
                str(generator.choice([0, 1, 9, 10, 99, 100, 199, 249, 250, 255, 256])) for _ in range(4)
            )
        else:
            groups = [
                f"{generator.randrange(1 << generator.choice([4, 8, 16])):x}"
                for _ in range(generator.randrange(9))
            ]
            text = ":".join(groups)
            if generator.random() < 0.6:
                place = generator.randrange(len(groups) + 1)
                text = ":".join(groups[:place]) + "::" + ":".join(groups[place:])
            if generator.random() < 0.3:
                text += generator.choice(["", ":"]) + "192.0.2.1"
        text = edited(generator, text, "0123456789abcF:.g%")
        try:
            read(text)
            expected = "%" not in text
        except ValueError:
            expected = False
        assert engine.accepts(text) == expected, text
        accepted += expected
    assert accepted > 300


def test_uuids() -> None:
    generator = random.Random("uuids")
    engine = engine_of("uuid")
    for _ in range(500):
        text = str(uuid.UUID(int=generator.getrandbits(128)))
        text = edited(generator, generator.choice([text, text.upper()]), "0aF-gG{")
        try:
            expected = text.lower() == str(uuid.UUID(text))
        except ValueError:
            expected = False
        assert engine.accepts(text) == expected, text


# ---- names ------------------------------------------------------------------------------------


def is_name(text: str) -> bool:
    labels = text.split(".")
    return len(text) <= 253 and all(
        re.fullmatch("[A-Za-z0-9-]{1,63}", label)
        and label[0] != "-" != label[-1]
        and label[:4].lower() != "xn--"
        for label in labels
    )


def test_names() -> None:
    generator = random.Random("names")
    engine = engine_of("hostname")
    accepted = 0
    for _ in range(3000):
        text = "".join(generator.choice("xXnN-a0.") for _ in range(generator.randrange(1, 9)))
        assert engine.accepts(text) == is_name(text), text
        accepted += is_name(text)
    assert accepted > 300


@pytest.mark.parametrize("label", ["a", "x", "xn", "xn-", "x-", "xa", "xn-a", "xna", "XN-a"])
def test_lengths_of_labels(label: str) -> None:
    engine = engine_of("hostname")
    for length in (62, 63, 64):
        assert engine.accepts(label.ljust(length, "a")) == (length < 64)


@pytest.mark.parametrize(("last", "expected"), [(61, True), (62, False)])
def test_length_of_names(last: int, expected: bool) -> None:
    assert engine_of("hostname").accepts(".".join(["a" * 63] * 3 + ["a" * last])) == expected


# ---- pointers ---------------------------------------------------------------------------------


def test_pointers() -> None:
    generator = random.Random("pointers")
    pointer, relative = engine_of("json-pointer"), engine_of("relative-json-pointer")
    for _ in range(1500):
        text = "".join(generator.choice("/~01#a\n漢") for _ in range(generator.randrange(6)))
        expected = not text or (text[0] == "/" and not re.search("~(?![01])", text))
        assert pointer.accepts(text) == expected, text
        found = re.fullmatch(r"(0|[1-9][0-9]*)(#|(?s:.*))", text)
        rest = found[2] if found else ""
        right = bool(found) and (rest in ("", "#") or (rest[0] == "/" and not re.search("~(?![01])", rest)))
        assert relative.accepts(text) == right, text
    assert not relative.accepts("1+2/foo")  # left out: valid in 2020-12 alone
