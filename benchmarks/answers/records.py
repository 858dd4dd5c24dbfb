"""Questions about records: enumerations, flags, lists, nested objects, optional members, open objects."""

from __future__ import annotations

import random
from typing import Any

from benchmarks.answers.families import Family, closed, one_of
from benchmarks.answers.writing import Number

__all__ = ["FAMILIES"]

_STRING = {"type": "string"}
_BOOLEAN = {"type": "boolean"}
_COUNT = {"type": "integer", "minimum": 0}

_PETS = ("Rex", "Mimi", "Luna", "Balu", "Coco", "Simba", "Nala", "Felix", "Bella", "Oskar", "Kira", "Max")
_SPECIES = ("dog", "cat", "rabbit", "parrot", "tortoise")


def _animal(draw: random.Random) -> tuple[str, dict[str, Any]]:
    answer: dict[str, Any] = {
        "name": draw.choice(_PETS),
        "species": draw.choice(_SPECIES),
        "age": draw.randrange(1, 16),
        "vaccinated": draw.random() < 0.5,
    }
    parts = [
        draw.choice(
            (
                "{name} is a {species} of {age} years",
                "The {species} {name} is {age} years old",
                "{name}, {species}, {age} years",
            )
        ).format(**answer),
        "vaccinated" if answer["vaccinated"] else "not vaccinated",
    ]
    if draw.random() < 0.5:
        answer["chip"] = f"{draw.choice('ABCDEF')}{draw.randrange(1000, 9999)}"
        parts.append(f"chip {answer['chip']}")
    return ", ".join(parts) + ".", answer


_JOBS = (
    "nurse",
    "baker",
    "data analyst",
    "gardener",
    "teacher",
    "carpenter",
    "cook",
    "pilot",
    "librarian",
    "welder",
)
_TOWNS = (
    "Bern",
    "Lyon",
    "Graz",
    "Ghent",
    "Leeds",
    "Turin",
    "Porto",
    "Cork",
    "Basel",
    "Bilbao",
    "Malmö",
    "Łódź",
)
_LEVELS = ("junior", "senior", "lead")


def _job(draw: random.Random) -> tuple[str, dict[str, Any]]:
    answer: dict[str, Any] = {
        "title": draw.choice(_JOBS),
        "level": draw.choice(_LEVELS),
        "city": draw.choice(_TOWNS),
        "remote": draw.random() < 0.4,
    }
    text = draw.choice(
        (
            "We are looking for a {level} {title} in {city}.",
            "{city}: {level} {title} wanted.",
            "Open position in {city}, {title} ({level}).",
        )
    ).format(**answer)
    text += draw.choice((" You can work from home.", " Remote work is possible.") if answer["remote"] else (
        " You work at our office.", " No remote work."))  # fmt: skip
    if draw.random() < 0.5:
        answer["salary"] = draw.randrange(30, 120) * 1000
        text += f" Salary: {answer['salary']}."
    return text, answer


_GARMENTS = (
    "scarf",
    "curtain",
    "flag",
    "tablecloth",
    "towel",
    "rug",
    "pillowcase",
    "tapestry",
    "napkin",
    "sail",
)
_COLOURS = ("red", "blue", "green", "white", "black", "yellow")


def _cloth(draw: random.Random) -> tuple[str, dict[str, Any]]:
    colours = draw.sample(_COLOURS, draw.choice((1, 2, 2, 3)))
    width, height = draw.randrange(10, 300), draw.randrange(10, 300)
    what = draw.choice(_GARMENTS)
    listed = " and ".join(colours) if len(colours) < 3 else f"{colours[0]}, {colours[1]} and {colours[2]}"
    text = draw.choice(
        (
            f"A {what} of {width} by {height} cm in {listed}.",
            f"{what.capitalize()}: {listed}, {width} x {height} cm",
            f"This {what} is {width} cm wide and {height} cm high; its colours are {listed}.",
        )
    )
    return text, {"item": what, "size": {"width": width, "height": height}, "colours": colours}


_HUTS = (
    "Monte Rosa",
    "Blue Lake",
    "Eagle Rock",
    "Old Mill",
    "Fox Hill",
    "Stone Bridge",
    "Pine Ridge",
    "Snow Gap",
)
_REMARKS = ("closed in winter", "new roof", "bring your own food", "dogs are welcome", "no water in August")


def _hut(draw: random.Random) -> tuple[str, dict[str, Any]]:
    """Of an open object: the examples have members that the schema does not declare."""
    answer: dict[str, Any] = {
        "hut": draw.choice(_HUTS),
        "altitude": draw.randrange(400, 3500),
        "beds": draw.randrange(4, 120),
    }
    text = draw.choice(
        (
            "{hut} hut lies at {altitude} m and has {beds} beds",
            "{hut}, {altitude} m, {beds} beds",
            "With {beds} beds, the {hut} hut stands at {altitude} metres",
        )
    ).format(**answer)
    answer["remark"] = draw.choice(_REMARKS)
    text += f"; {answer['remark']}"
    if draw.random() < 0.5:
        answer["phone"] = f"0{draw.randrange(20, 99)} {draw.randrange(100, 999)} {draw.randrange(10, 99)}"
        text += f"; phone {answer['phone']}"
    return text + ".", answer


_PEOPLE = (
    ("Anna Keller", "anna"), ("Tom Fischer", "tom"), ("Maria Rossi", "m.rossi"), ("Jan Novak", "novak"),
    ("Lucy Green", "lucy.g"), ("Omar Haddad", "omar"), ("Sofia Lind", "sofia"), ("Peter Blum", "blum"),
    ("Nina Costa", "nina"), ("Eva Moreau", "e.moreau"),
)  # fmt: skip
_HOSTS = ("example.org", "mail.example.com", "post.example", "school.example.net")


def _contact(draw: random.Random) -> tuple[str, dict[str, Any]]:
    name, user = draw.choice(_PEOPLE)
    answer: dict[str, Any] = {"name": name}
    parts = []
    if draw.random() < 0.7:
        answer["phone"] = (
            f"+{draw.choice(('41', '49', '33', '44'))} {draw.randrange(20, 99)} {draw.randrange(1000, 9999)}"
        )
        parts.append(draw.choice((f"phone {answer['phone']}", f"call {answer['phone']}")))
    if draw.random() < 0.7 or not parts:
        answer["email"] = f"{user}@{draw.choice(_HOSTS)}"
        parts.append(draw.choice((f"e-mail {answer['email']}", f"write to {answer['email']}")))
    answer["role"] = draw.choice(("member", "guest", "owner"))
    return f"{name} ({answer['role']}): {', '.join(parts)}", answer


_DISHES = (
    "pancakes",
    "fish soup",
    "walnut bread",
    "risotto",
    "fruit salad",
    "quiche",
    "ramen",
    "tofu curry",
    "lasagne",
)
_ALLERGENS = ("milk", "eggs", "nuts", "fish", "wheat", "soy")


def _dish(draw: random.Random) -> tuple[str, dict[str, Any]]:
    dish, minutes = draw.choice(_DISHES), draw.randrange(5, 120, 5)
    allergens = draw.sample(_ALLERGENS, draw.choice((0, 1, 2, 3)))
    is_vegan = not allergens and draw.random() < 0.7
    held = f"contains {', '.join(allergens)}" if allergens else "no allergens"
    kept = "vegan" if is_vegan else "not vegan"
    text = draw.choice(
        (
            f"{dish.capitalize()}: {held}; {kept}; ready in {minutes} minutes.",
            f"{minutes} minutes for {dish}; {kept}; {held}.",
            f"Our {dish} ({kept}) takes {minutes} minutes; {held}.",
        )
    )
    return text, {"dish": dish, "minutes": minutes, "vegan": is_vegan, "allergens": allergens}


_TITLES = (
    "Deep Water",
    "The Paper Garden",
    "Night Trains",
    "A Short Summer",
    "Iron and Salt",
    "The Ninth Wave",
)
_GENRES = ("novel", "crime", "poetry", "history", "travel", "fantasy")


def _book(draw: random.Random) -> tuple[str, dict[str, Any]]:
    answer: dict[str, Any] = {"title": draw.choice(_TITLES), "year": draw.randrange(1950, 2025)}
    genre = draw.choice(_GENRES)
    text = draw.choice(
        (
            "{title} appeared in {year}, {genre}",
            "{title} ({year}), {genre}",
            "In {year} came {title}, {genre}",
        )
    ).format(genre=genre, **answer)
    if draw.random() < 0.5:
        answer["pages"] = draw.randrange(60, 900)
        text += f", {answer['pages']} pages"
    answer["genre"] = genre
    if draw.random() < 0.5:
        answer["rating"] = Number(f"{draw.randrange(1, 5)}.{draw.choice('05')}")
        text += f", rated {answer['rating']}"
    return text + ".", answer


_ROOMS = ("Aurora", "Cedar", "Delta", "Everest", "Fjord", "Garnet", "Harbour", "Iris", "Juniper")
_THINGS = ("projectors", "boards", "windows", "microphones", "screens", "lamps")


def _room(draw: random.Random) -> tuple[str, dict[str, Any]]:
    """Of an open object whose further members are numbers."""
    answer: dict[str, Any] = {"room": draw.choice(_ROOMS), "seats": draw.randrange(4, 200)}
    things = {name: draw.randrange(2, 9) for name in draw.sample(_THINGS, draw.choice((1, 2, 3)))}
    listed = ", ".join(f"{count} {name}" for name, count in things.items())
    text = draw.choice(
        (
            "Room {room} has {seats} seats, {listed}.",
            "{room}: {seats} seats, {listed}",
            "{room} seats {seats}; {listed}.",
        )
    ).format(listed=listed, **answer)
    return text, answer | things


FAMILIES = (
    Family(
        "animal",
        "The animal shelter keeps records as JSON.",
        closed(
            {"name": _STRING, "species": one_of(*_SPECIES), "age": _COUNT, "vaccinated": _BOOLEAN},
            {"chip": {"type": "string", "pattern": "^[A-F][0-9]{4}$"}},
        ),
        _animal,
    ),
    Family(
        "job",
        "Turn the advertisement into JSON.",
        closed(
            {"title": _STRING, "level": one_of(*_LEVELS), "city": _STRING, "remote": _BOOLEAN},
            {"salary": _COUNT},
        ),
        _job,
    ),
    Family(
        "cloth",
        "Describe the item as JSON, with its size in centimetres.",
        closed(
            {
                "item": _STRING,
                "size": closed({"width": _COUNT, "height": _COUNT}),
                "colours": {"type": "array", "items": one_of(*_COLOURS), "minItems": 1},
            }
        ),
        _cloth,
    ),
    Family(
        "hut",
        "Write all that is said about the hut as JSON.",
        {
            "type": "object",
            "properties": {"hut": _STRING, "altitude": {"type": "integer"}, "beds": _COUNT},
            "required": ["hut", "altitude", "beds"],
        },
        _hut,
    ),
    Family(
        "contact",
        "Contacts as JSON.",
        {
            "type": "object",
            "properties": {
                "name": _STRING,
                "phone": _STRING,
                "email": {"type": "string", "format": "email"},
                "role": one_of("member", "guest", "owner"),
            },
            "required": ["name", "role"],
            "additionalProperties": False,
        },
        _contact,
    ),
    Family(
        "dish",
        "The menu as JSON.",
        closed(
            {
                "dish": _STRING,
                "minutes": {"type": "integer", "minimum": 1},
                "vegan": _BOOLEAN,
                "allergens": {"type": "array", "items": one_of(*_ALLERGENS), "uniqueItems": True},
            }
        ),
        _dish,
    ),
    Family(
        "book",
        "Catalogue the book as JSON.",
        {
            "type": "object",
            "properties": {
                "title": _STRING,
                "year": {"type": "integer"},
                "pages": _COUNT,
                "genre": one_of(*_GENRES),
                "rating": {"type": "number", "minimum": 0, "maximum": 5},
            },
            "required": ["title", "genre"],
        },
        _book,
    ),
    Family(
        "room",
        "Rooms and what they hold, as JSON.",
        {
            "type": "object",
            "properties": {"room": _STRING, "seats": _COUNT},
            "required": ["room", "seats"],
            "additionalProperties": _COUNT,
        },
        _room,
    ),
)
