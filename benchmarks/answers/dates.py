"""Questions about dates, times of day and years."""

from __future__ import annotations

import random
from datetime import date, timedelta
from typing import Any

from benchmarks.answers.families import Family, closed, one_of

__all__ = ["FAMILIES"]

_STRING = {"type": "string"}
_DATE = {"type": "string", "format": "date"}
_DATE_TIME = {"type": "string", "format": "date-time"}
_CLOCK = {"type": "string", "pattern": "^[0-2][0-9]:[0-5][0-9]$"}
_YEAR = {"type": "integer", "minimum": 1000, "maximum": 2030}

_MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October",
    "November",
    "December",
)  # fmt: skip


def _day(draw: random.Random) -> date:
    return date(2015, 1, 1) + timedelta(days=draw.randrange(4300))


def _said(draw: random.Random, day: date) -> str:
    """A date as people write it."""
    month = _MONTHS[day.month - 1]
    return draw.choice(
        (
            day.isoformat(),
            f"{day.day} {month} {day.year}",
            f"{month} {day.day}, {day.year}",
            f"{day.day} {month[:3]} {day.year}",
        )
    )


_EVENTS = (
    "team meeting", "parents' evening", "flea market", "chess tournament", "fire drill", "general assembly",
    "concert of the choir", "book club", "dentist", "open day", "harvest festival", "job interview",
    "board meeting",
    "school play",
)  # fmt: skip
_PEOPLE = (
    "Anna Keller", "Tom Fischer", "Maria Rossi", "Jan Novak", "Lucy Green", "Omar Haddad", "Sofia Lind",
    "Peter Blum", "Nina Costa", "Eva Moreau", "Karl Vogt", "Ines Duarte", "Ivan Petrov", "Rosa Klein",
    "Hugo Brandt",
)  # fmt: skip


def _meeting(draw: random.Random) -> tuple[str, dict[str, Any]]:
    event, day = draw.choice(_EVENTS), _day(draw)
    said = _said(draw, day)
    text = draw.choice(
        (
            f"The {event} is on {said}.",
            f"{said}: {event}",
            f"Don't forget the {event} on {said}!",
            f"We have moved the {event} to {said}.",
        )
    )
    return text, {"event": event, "date": day.isoformat()}


def _flight(draw: random.Random) -> tuple[str, dict[str, Any]]:
    flight = f"{draw.choice(('LX', 'BA', 'AF', 'SK', 'TP', 'KL'))} {draw.randrange(100, 2000)}"
    day, clock = _day(draw), f"{draw.randrange(24):02}:{draw.choice(('00', '05', '15', '30', '45', '55'))}"
    said = _said(draw, day)
    text = draw.choice(
        (
            f"{flight} departs at {clock} UTC on {said}.",
            f"Departure of {flight}: {said}, {clock} UTC",
            f"On {said}, flight {flight} leaves at {clock} (UTC).",
        )
    )
    return text, {"flight": flight, "departure": f"{day.isoformat()}T{clock}:00Z"}


_WORK = (
    "painter",
    "composer",
    "botanist",
    "poet",
    "architect",
    "astronomer",
    "sculptor",
    "explorer",
    "printer",
)


def _life(draw: random.Random) -> tuple[str, dict[str, Any]]:
    name, work, born = draw.choice(_PEOPLE), draw.choice(_WORK), draw.randrange(1450, 1990)
    died = born + draw.randrange(25, 90) if born < 1900 else None
    if died is None:
        text = draw.choice((f"{name}, {work}, born in {born}.", f"The {work} {name} was born in {born}."))
    else:
        text = draw.choice(
            (
                f"{name} ({born}-{died}) was a {work}.",
                f"The {work} {name} was born in {born} and died in {died}.",
                f"{name}, {work}, lived from {born} to {died}.",
            )
        )
    return text, {"name": name, "profession": work, "born": born, "died": died}


_MESSAGES = (
    "disk is full", "connection lost", "user logged in", "backup finished", "cache cleared",
    "retrying in 5 s",
    "certificate expires soon", "job 17 started", "queue is empty", "permission denied",
)  # fmt: skip


def _log(draw: random.Random) -> tuple[str, dict[str, Any]]:
    day, level, message = _day(draw), draw.choice(("ERROR", "WARNING", "INFO")), draw.choice(_MESSAGES)
    clock = f"{draw.randrange(24):02}:{draw.randrange(60):02}:{draw.randrange(60):02}"
    zone = draw.choice(("Z", "Z", "+01:00", "-05:00", "+05:30"))
    fraction = draw.choice(("", "", f".{draw.randrange(1000):03}"))
    moment = f"{day.isoformat()}T{clock}{fraction}{zone}"
    text = draw.choice(
        (f"{moment} {level} {message}", f"[{level}] {moment} {message}", f"{moment} | {level} | {message}")
    )
    return text, {"time": moment, "level": level, "message": message}


_HOUSES = (
    "town library", "swimming pool", "post office", "museum of clocks", "bakery", "toy shop",
    "botanical garden",
    "climbing hall", "cheese dairy", "tourist office", "repair café", "planetarium",
)  # fmt: skip


def _hours(draw: random.Random) -> tuple[str, dict[str, Any]]:
    place, opens, closes = draw.choice(_HOUSES), draw.randrange(6, 12), draw.randrange(13, 23)
    minutes = draw.choice(("00", "15", "30", "45")), draw.choice(("00", "15", "30", "45"))
    shown = f"{opens}:{minutes[0]}", f"{closes}:{minutes[1]}"
    text = draw.choice(
        (
            f"The {place} is open from {shown[0]} to {shown[1]}.",
            f"{place.capitalize()}: {shown[0]} - {shown[1]}",
            f"You can visit the {place} between {shown[0]} and {shown[1]}.",
            f"The {place} closes at {shown[1]} and opens at {shown[0]}.",
        )
    )
    return text, {"place": place, "opens": f"{opens:02}:{minutes[0]}", "closes": f"{closes}:{minutes[1]}"}


_MAGAZINES = (
    "Garden Life",
    "Old Trains",
    "The Chess Player",
    "Modern Knitting",
    "Sailing Today",
    "Bees & Honey",
)


def _issue(draw: random.Random) -> tuple[str, dict[str, Any]]:
    magazine, year, month = draw.choice(_MAGAZINES), draw.randrange(1950, 2025), draw.randrange(1, 13)
    number, named = draw.randrange(1, 400), _MONTHS[month - 1]
    text = draw.choice(
        (
            f"{magazine}, issue {number}, {named} {year}",
            f"Issue {number} of {magazine} came out in {named} {year}.",
            f"{magazine} no. {number} ({named} {year})",
        )
    )
    return text, {"magazine": magazine, "number": number, "month": f"{year}-{month:02}"}


def _booking(draw: random.Random) -> tuple[str, dict[str, Any]]:
    guest, day, nights = draw.choice(_PEOPLE), _day(draw), draw.randrange(1, 10)
    leaving = day + timedelta(days=nights)
    said = day.isoformat(), leaving.isoformat()
    if draw.random() < 0.5:
        said = tuple(f"{one.day} {_MONTHS[one.month - 1]} {one.year}" for one in (day, leaving))  # type: ignore[assignment]
    stay = f"{nights} night{'s' if nights > 1 else ''}"
    text = draw.choice(
        (
            f"{guest} arrives on {said[0]} and leaves on {said[1]}, {stay}.",
            f"Booking for {guest}: {said[0]} to {said[1]} ({stay})",
            f"{stay} for {guest}, from {said[0]} until {said[1]}.",
        )
    )
    return text, {
        "guest": guest,
        "arrival": day.isoformat(),
        "departure": leaving.isoformat(),
        "nights": nights,
    }


_TASKS = (
    "tax return",
    "essay",
    "grant proposal",
    "newsletter",
    "translation",
    "quarterly report",
    "shopping list",
)


def _deadline(draw: random.Random) -> tuple[str, dict[str, Any]]:
    task, day = draw.choice(_TASKS), _day(draw)
    said = _said(draw, day)
    due: dict[str, Any] = {"date": day.isoformat()}
    at = ""
    if draw.random() < 0.6:
        due["time"] = f"{draw.randrange(8, 24):02}:{draw.choice(('00', '30', '59'))}"
        at = f" at {due['time']}"
    who = draw.choice(_PEOPLE)
    text = draw.choice(
        (
            f"{who} must hand in the {task} on {said}{at}.",
            f"The {task} is due {said}{at}; {who} does it.",
            f"{task.capitalize()} ({who}): {said}{at}",
        )
    )
    return text, {"task": task, "person": who, "due": due}


FAMILIES = (
    Family(
        "meeting",
        "When is it? Answer with JSON.",
        closed({"event": _STRING, "date": _DATE}),
        _meeting,
    ),
    Family(
        "flight",
        "Flights as JSON, with the departure in UTC.",
        closed({"flight": _STRING, "departure": _DATE_TIME}),
        _flight,
    ),
    Family(
        "life",
        "Write what the text says of the person as JSON.",
        closed(
            {
                "name": _STRING,
                "profession": _STRING,
                "born": _YEAR,
                "died": {"type": ["integer", "null"], "minimum": 1000, "maximum": 2030},
            }
        ),
        _life,
    ),
    Family(
        "log",
        "Parse the line of the log.",
        closed({"time": _DATE_TIME, "level": one_of("ERROR", "WARNING", "INFO"), "message": _STRING}),
        _log,
    ),
    Family(
        "hours",
        "Opening hours as JSON.",
        closed({"place": _STRING, "opens": _CLOCK, "closes": _CLOCK}),
        _hours,
    ),
    Family(
        "issue",
        "Catalogue the magazine.",
        closed(
            {
                "magazine": _STRING,
                "number": {"type": "integer", "minimum": 1},
                "month": {"type": "string", "pattern": "^[0-9]{4}-(0[1-9]|1[0-2])$"},
            }
        ),
        _issue,
    ),
    Family(
        "booking",
        "Write the booking as JSON.",
        closed(
            {
                "guest": _STRING,
                "arrival": _DATE,
                "departure": _DATE,
                "nights": {"type": "integer", "minimum": 1, "maximum": 60},
            }
        ),
        _booking,
    ),
    Family(
        "deadline",
        "Who has to do what, and by when?",
        closed({"task": _STRING, "person": _STRING, "due": closed({"date": _DATE}, {"time": _CLOCK})}),
        _deadline,
    ),
)
