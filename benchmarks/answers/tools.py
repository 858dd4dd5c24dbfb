"""Questions about tools: a request, and the call that fulfils it."""

from __future__ import annotations

import random
from typing import Any

from benchmarks.answers.families import Family, closed, one_of
from benchmarks.answers.writing import Number

__all__ = ["FAMILIES"]

_STRING = {"type": "string"}
_BOOLEAN = {"type": "boolean"}
_CLOCK = {"type": "string", "pattern": "^[0-2][0-9]:[0-5][0-9]$"}
_DATE = {"type": "string", "format": "date"}


def _call(name: str, **arguments: Any) -> dict[str, Any]:
    return {"name": name, "arguments": arguments}


def _schema(name: str, required: dict[str, Any], optional: dict[str, Any] | None = None) -> dict[str, Any]:
    return closed({"name": {"const": name}, "arguments": closed(required, optional)})


_LABELS = (
    "wake up",
    "take the pills",
    "call mum",
    "bake the bread",
    "water the plants",
    "leave for work",
    "yoga",
)


def _alarm(draw: random.Random) -> tuple[str, dict[str, Any]]:
    clock, label = f"{draw.randrange(5, 24):02}:{draw.choice(('00', '15', '30', '45'))}", draw.choice(_LABELS)
    is_daily = draw.random() < 0.5
    when = "every day" if is_daily else "once"
    text = draw.choice(
        (
            f"Set an alarm at {clock} {when} to {label}.",
            f"Remind me {when} at {clock} to {label}.",
            f"I must {label}; ring {when} at {clock}.",
        )
    )
    return text, _call("set_alarm", time=clock, label=label, daily=is_daily)


_PEOPLE = ("Anna", "Tom", "Zoë", "José", "Lucy", "Omar", "Sofia", "Peter", "Nina", "Eva", "Søren", "Max")
_TEXTS = (
    "I'm late", "dinner is ready", "see you at the café", "the train is cancelled", "happy birthday",
    'bring "the" book',
    "thanks for yesterday", "where are you?", "the door is open", "call me back",
)  # fmt: skip


def _message(draw: random.Random) -> tuple[str, dict[str, Any]]:
    people = draw.sample(_PEOPLE, draw.choice((1, 2, 3)))
    said = draw.choice(_TEXTS)
    to = " and ".join(people) if len(people) < 3 else f"{people[0]}, {people[1]} and {people[2]}"
    text = draw.choice((f"Tell {to}: {said}", f"Write to {to}: {said}", f"Message for {to}: {said}"))
    return text, _call("send_message", to=people, text=said)


_CITIES = ("Zürich", "Lisbon", "Oslo", "Málaga", "Kraków", "Dublin", "Athens", "Porto", "Vienna", "Riga")


def _flights(draw: random.Random) -> tuple[str, dict[str, Any]]:
    start, end = draw.sample(_CITIES, 2)
    day = f"{draw.randrange(2024, 2028)}-{draw.randrange(1, 13):02}-{draw.randrange(1, 29):02}"
    count, is_direct = draw.randrange(1, 7), draw.random() < 0.5
    kept = "direct flights only" if is_direct else "with or without stops"
    people = f"{count} passenger{'s' if count > 1 else ''}"
    text = draw.choice(
        (
            f"Find flights from {start} to {end} on {day} for {people}, {kept}.",
            f"{people}, {start} to {end}, {day}, {kept}",
            f"We need to get from {start} to {end} on {day}: {people}, {kept}.",
        )
    )
    answer = _call(
        "search_flights", origin=start, destination=end, date=day, passengers=count, direct=is_direct
    )
    return text, answer


_UNITS = {
    "km": "kilometres",
    "mi": "miles",
    "kg": "kilograms",
    "lb": "pounds",
    "l": "litres",
    "gal": "gallons",
}


def _convert(draw: random.Random) -> tuple[str, dict[str, Any]]:
    start, end = draw.choice(
        (("km", "mi"), ("mi", "km"), ("kg", "lb"), ("lb", "kg"), ("l", "gal"), ("gal", "l"))
    )
    amount = Number(
        draw.choice(
            (f"{draw.randrange(1, 90)}.{draw.choice(('5', '25', '50', '00'))}", f"0.{draw.randrange(10, 99)}",
             f"{draw.randrange(1, 9)}.{draw.randrange(10)}")
        )
    )  # fmt: skip
    text = draw.choice(
        (
            f"Convert {amount} {_UNITS[start]} to {_UNITS[end]}.",
            f"How many {_UNITS[end]} are {amount} {_UNITS[start]}?",
            f"{amount} {_UNITS[start]} in {_UNITS[end]}, please.",
        )
    )
    return text, {"name": "convert", "arguments": {"amount": amount, "from": start, "to": end}}


_EVENTS = (
    "lunch",
    "interview",
    "project review",
    "piano lesson",
    "team breakfast",
    "budget talk",
    "guided tour",
)
_ROOMS = ("room 12", "the garden", "Café Central", "the cellar", "room B4")


def _event(draw: random.Random) -> tuple[str, dict[str, Any]]:
    title, people = draw.choice(_EVENTS), draw.sample(_PEOPLE, 2)
    day = f"{draw.randrange(2024, 2028)}-{draw.randrange(1, 13):02}-{draw.randrange(1, 29):02}"
    clock = f"{draw.randrange(7, 20):02}:{draw.choice(('00', '30'))}"
    answer = _call("create_event", title=title, start=f"{day}T{clock}:00Z", attendees=people)
    where = ""
    if draw.random() < 0.5:
        answer["arguments"]["location"] = draw.choice(_ROOMS)
        where = f" in {answer['arguments']['location']}"
    text = draw.choice(
        (
            f"Plan {title} with {people[0]} and {people[1]}{where} on {day} at {clock}.",
            f"{title.capitalize()}{where}, {day}, {clock}, with {people[0]} and {people[1]}",
            f"On {day} at {clock} I have {title} with {people[0]} and {people[1]}{where}.",
        )
    )
    return text, answer


_SONGS = (
    "Blue Moon",
    "Café del Mar",
    "Paper Boats",
    "Ça plane",
    "Night Drive",
    "Für Elise",
    "Rainy Monday",
    'The "A" Train',
)


def _music(draw: random.Random) -> tuple[str, dict[str, Any]]:
    song, volume = draw.choice(_SONGS), draw.randrange(0, 101, 5)
    arguments: dict[str, Any] = {"title": song, "volume": volume}
    more = ""
    if draw.random() < 0.4:
        arguments["shuffle"] = draw.random() < 0.5
        more = ", shuffle on" if arguments["shuffle"] else ", shuffle off"
    text = draw.choice(
        (
            f"Play {song} at volume {volume}{more}.",
            f"Volume {volume}, song {song}{more}",
            f"I want to hear {song}, volume {volume}{more}.",
        )
    )
    return text, _call("play_music", **arguments)


_PLACES = ("kitchen", "bedroom", "living room", "bathroom", "office", "hall")


def _house(draw: random.Random) -> tuple[str, dict[str, Any]]:
    """One of two tools."""
    room = draw.choice(_PLACES)
    if draw.random() < 0.5:
        is_on, device = draw.random() < 0.5, draw.choice(("lamp", "radio", "fan", "heater"))
        text = draw.choice(
            (
                f"Turn the {device} in the {room} {'on' if is_on else 'off'}.",
                f"Switch {'on' if is_on else 'off'} the {device}, {room}.",
            )
        )
        return text, _call("switch", room=room, device=device, on=is_on)
    degrees = Number(f"{draw.randrange(15, 25)}.{draw.choice('05')}")
    text = draw.choice(
        (f"Make it {degrees} degrees in the {room}.", f"{room.capitalize()} to {degrees} °C, please.")
    )
    return text, _call("set_temperature", room=room, degrees=degrees)


_FOOD = (
    "pizza margherita",
    "green salad",
    "crème brûlée",
    "fish & chips",
    "lentil soup",
    "lemonade",
    "pho",
    "falafel",
)


def _order(draw: random.Random) -> tuple[str, dict[str, Any]]:
    items = [
        {"item": item, "quantity": draw.randrange(1, 6)}
        for item in draw.sample(_FOOD, draw.choice((1, 2, 2)))
    ]
    listed = " and ".join(f"{each['quantity']} {each['item']}" for each in items)
    is_home = draw.random() < 0.5
    text = draw.choice(
        (
            f"Order {listed}, {'delivered to my home' if is_home else 'I will fetch it'}.",
            f"I would like {listed}; {'please deliver' if is_home else 'no delivery'}.",
        )
    )
    return text, _call("order_food", items=items, delivery=is_home)


FAMILIES = (
    Family(
        "alarm",
        "Call set_alarm.",
        _schema("set_alarm", {"time": _CLOCK, "label": _STRING, "daily": _BOOLEAN}),
        _alarm,
    ),
    Family(
        "message",
        "Call send_message.",
        _schema("send_message", {"to": {"type": "array", "items": _STRING, "minItems": 1}, "text": _STRING}),
        _message,
    ),
    Family(
        "flights",
        "Call search_flights.",
        _schema(
            "search_flights",
            {
                "origin": _STRING,
                "destination": _STRING,
                "date": _DATE,
                "passengers": {"type": "integer", "minimum": 1, "maximum": 9},
                "direct": _BOOLEAN,
            },
        ),
        _flights,
    ),
    Family(
        "convert",
        f"Call convert. Units: {', '.join(_UNITS)}.",
        _schema("convert", {"amount": {"type": "number"}, "from": one_of(*_UNITS), "to": one_of(*_UNITS)}),
        _convert,
    ),
    Family(
        "event",
        "Call create_event; times are in UTC.",
        _schema(
            "create_event",
            {
                "title": _STRING,
                "start": {"type": "string", "format": "date-time"},
                "attendees": {"type": "array", "items": _STRING},
            },
            {"location": _STRING},
        ),
        _event,
    ),
    Family(
        "music",
        "Call play_music.",
        _schema(
            "play_music",
            {"title": _STRING, "volume": {"type": "integer", "minimum": 0, "maximum": 100}},
            {"shuffle": _BOOLEAN},
        ),
        _music,
    ),
    Family(
        "house",
        "Call switch or set_temperature.",
        {
            "anyOf": [
                _schema("switch", {"room": _STRING, "device": _STRING, "on": _BOOLEAN}),
                _schema(
                    "set_temperature",
                    {"room": _STRING, "degrees": {"type": "number", "minimum": 5, "maximum": 30}},
                ),
            ]
        },
        _house,
    ),
    Family(
        "order",
        "Call order_food.",
        _schema(
            "order_food",
            {
                "items": {
                    "type": "array",
                    "items": closed({"item": _STRING, "quantity": {"type": "integer", "minimum": 1}}),
                    "minItems": 1,
                },
                "delivery": _BOOLEAN,
            },
        ),
        _order,
    ),
)
