"""Questions about strings that need care: accents, other scripts, quotes, backslashes, signs."""

from __future__ import annotations

import random
from typing import Any

from benchmarks.answers.families import Family, closed, one_of

__all__ = ["FAMILIES"]

_STRING = {"type": "string", "minLength": 1}

_FIRST = (
    "Zoë", "José", "Åse", "Jürgen", "François", "Łukasz", "Søren", "Renée", "Ángel", "Björn", "Chloé",
    "Dvořák",
    "Ilgın", "Noémie", "Óscar", "Siân", "Tomáš", "Vigdís", "Agnès", "Iñaki", "Ömer", "Žana", "André", "Márta",
)  # fmt: skip
_LAST = (
    "Müller", "García", "Ødegård", "Lefèvre", "Nowák", "Ibáñez", "Håkansson", "Çelik", "Strauß", "Peña",
    "Kovács",
    "Brontë", "O'Brien", "D'Angelo", "Björk", "Sæther", "Núñez", "Weiß", "Côté", "Şahin", "Łęcki",
    "Gómez-Ruiz",
)  # fmt: skip
_CITIES = (
    "Zürich", "Málaga", "São Paulo", "Kraków", "Ålesund", "Besançon", "Malmö", "Łódź", "Córdoba", "Genève",
    "Reykjavík", "Düsseldorf", "Šibenik", "Orléans", "Cádiz", "Tromsø", "Győr", "Plzeň", "Niš", "Coruña",
)  # fmt: skip


def _person(draw: random.Random) -> str:
    return f"{draw.choice(_FIRST)} {draw.choice(_LAST)}"


def _home(draw: random.Random) -> tuple[str, dict[str, Any]]:
    name, city = _person(draw), draw.choice(_CITIES)
    text = draw.choice(
        (
            f"{name} lives in {city}.",
            f"My friend {name} has moved to {city}.",
            f"{name} was born in {city}.",
            f"In {city} I met {name}.",
        )
    )
    return text, {"name": name, "city": city}


_ADJECTIVES = (
    "Silent",
    "Golden",
    "Last",
    "Broken",
    "Northern",
    "Hollow",
    "Second",
    "Burning",
    "Little",
    "Grey",
)
_NOUNS = (
    "River",
    "Clockmaker",
    "Orchard",
    "Lighthouse",
    "Letter",
    "Sparrow",
    "Winter",
    "Door",
    "Island",
    "Violin",
)


def _title(draw: random.Random) -> tuple[str, dict[str, Any]]:
    adjective, noun, name = draw.choice(_ADJECTIVES), draw.choice(_NOUNS), _person(draw)
    title = draw.choice(
        (f'The "{adjective}" {noun}', f'"{adjective}" and other words', f'My {adjective} "{noun}"')
    )
    text = draw.choice(
        (
            f"The book «{title}» was written by {name}.",
            f"«{title}», a film of {name}",
            f"{name} sings «{title}».",
        )
    )
    return text, {"title": title, "by": name}


_FILES = (
    "notes.txt",
    "résumé.pdf",
    "budget.xlsx",
    "naïve.py",
    "photo 1.jpg",
    "übersicht.md",
    "todo",
    "thesis.tex",
)
_FOLDERS = ("Documents", "Desktop", "work\\2024", "Téléchargements", "Bilder", "temp", "new\\n2", "back\\up")


def _path(draw: random.Random) -> tuple[str, dict[str, Any]]:
    user, file = draw.choice(_FIRST), draw.choice(_FILES)
    path = f"C:\\Users\\{user}\\{draw.choice(_FOLDERS)}\\{file}"
    text = draw.choice(
        (
            f"The file of {user} is at {path}",
            f"{user} saved it as {path}",
            f"Please open {path} ({user})",
        )
    )
    return text, {"user": user, "path": path}


_PLACES = (
    ("Tokyo", "東京"), ("Moscow", "Москва"), ("Athens", "Αθήνα"), ("Cairo", "القاهرة"), ("Seoul", "서울"),
    ("Beijing", "北京"), ("Kyiv", "Київ"), ("Delhi", "दिल्ली"), ("Bangkok", "กรุงเทพ"), ("Tbilisi", "თბილისი"),
    ("Yerevan", "Երևան"), ("Jerusalem", "ירושלים"), ("Osaka", "大阪"), ("Sofia", "София"),
    ("Hanoi", "Hà Nội"),
    ("Thessaloniki", "Θεσσαλονίκη"), ("Busan", "부산"), ("Shanghai", "上海"), ("Belgrade", "Београд"),
    ("Mumbai", "मुंबई"), ("Kyoto", "京都"), ("Minsk", "Мінск"), ("Patras", "Πάτρα"), ("Incheon", "인천"),
)  # fmt: skip


def _place(draw: random.Random) -> tuple[str, dict[str, Any]]:
    english, local = draw.choice(_PLACES)
    people = draw.randrange(2, 90) * 100_000
    text = draw.choice(
        (
            f"{english} ({local}) has about {people} people.",
            f"{local}, in English {english}: population {people}",
            f"About {people} people live in {english}, which they call {local}.",
        )
    )
    return text, {"english": english, "local": local, "population": people}


_FIRMS = (
    "O'Neill & Søn", "Müller/Weiß", "R&D <Lab>", "C++ Werkstatt", "Pâtisserie L'Étoile", "Brot & Butter",
    "A/B Tests",
    "Café `Noir`", "Rock'n'Roll Hotel", "1 + 1 Möbel", "Smith & Sons / London", "Bäckerei Groß",
    "<Fenster> GmbH",
    "D'Amico & Figli", "Œuvres & Cie", "Tea+Time",
)  # fmt: skip


def _firm(draw: random.Random) -> tuple[str, dict[str, Any]]:
    firm, city, staff = draw.choice(_FIRMS), draw.choice(_CITIES), draw.randrange(2, 900)
    text = draw.choice(
        (
            f"{firm} of {city} employs {staff} people.",
            f"{firm}, {city}, {staff} employees",
            f"In {city}, {staff} people work for {firm}.",
        )
    )
    return text, {"firm": firm, "city": city, "staff": staff}


_NOTES = (
    "Merci beaucoup ☕", "¡Hasta mañana!", "50 % → 60 %", "See you at 8 😀", "Grüße aus Köln", "C'est fini…",
    "Price: 12 €", "It's -5 °C here", "Bon appétit 🍕", "½ litre of milk", "Ça va?", "naïve — but nice",
    "Ðank you", "100 ¥ left", "Tack så mycket", "1 < 2 & 3 > 2", "“Quoted” words", "ok 👍🏽",
    "Übung macht den Meister",
    "¿Qué tal?",
)  # fmt: skip


def _note(draw: random.Random) -> tuple[str, dict[str, Any]]:
    sender, receiver = draw.sample(_FIRST, 2)
    note = draw.choice(_NOTES)
    text = draw.choice(
        (
            f"{sender} to {receiver}: {note}",
            f"Message from {sender} for {receiver}: {note}",
            f"To {receiver}, from {sender}: {note}",
        )
    )
    return text, {"from": sender, "to": receiver, "message": note}


_NICKNAMES = ("Pepe", "The Rock", "Kiki", "El Niño", "Bär", "Zizou", "Lulu", "Mäuschen", "Smiley", "Le Roi")


def _nickname(draw: random.Random) -> tuple[str, dict[str, Any]]:
    first, last, nick = draw.choice(_FIRST), draw.choice(_LAST), draw.choice(_NICKNAMES)
    name, sport = f'{first} "{nick}" {last}', draw.choice(("boxing", "tennis", "football", "judo", "cycling"))
    text = draw.choice(
        (
            f"{name} has won in {sport}.",
            f"In {sport}, everybody knows {name}.",
            f"{sport.capitalize()}: {name}",
        )
    )
    return text, {"name": name, "sport": sport}


_LANGUAGES = {
    "French": (
        ("à bientôt", "see you soon"),
        ("bonne journée", "have a good day"),
        ("où est la gare", "where is the station"),
        ("s'il vous plaît", "please"),
    ),
    "German": (
        ("schöne Grüße", "kind regards"),
        ("für dich", "for you"),
        ("ich weiß nicht", "I don't know"),
        ("viel Glück", "good luck"),
    ),
    "Spanish": (
        ("buenos días", "good morning"),
        ("¿cómo estás?", "how are you?"),
        ("mañana por la mañana", "tomorrow morning"),
        ("lo siento", "I'm sorry"),
    ),
    "Polish": (
        ("dzień dobry", "good day"),
        ("dziękuję", "thank you"),
        ("proszę", "please"),
        ("do widzenia", "goodbye"),
    ),
    "Swedish": (
        ("god natt", "good night"),
        ("på återseende", "goodbye"),
        ("jag älskar dig", "I love you"),
        ("förlåt", "sorry"),
    ),
}


def _phrase(draw: random.Random) -> tuple[str, dict[str, Any]]:
    language = draw.choice(list(_LANGUAGES))
    phrase, meaning = draw.choice(_LANGUAGES[language])
    day = draw.choice(("Lesson", "Unit", "Chapter")) + f" {draw.randrange(1, 30)}"
    text = draw.choice(
        (
            f"{day}: in {language}, «{phrase}» means «{meaning}».",
            f"{day}. «{phrase}» ({language}): {meaning}",
            f"{day}: {language} people say «{phrase}» for «{meaning}».",
        )
    )
    return text, {"language": language, "phrase": phrase, "meaning": meaning}


_ESCAPED = 0.3  # of the questions: json.dumps writes accents so

FAMILIES = (
    Family("home", "Write name and city as JSON.", closed({"name": _STRING, "city": _STRING}), _home,
        _ESCAPED),
    Family("title", "What is its title, and whose is it?", closed({"title": _STRING, "by": _STRING}), _title,
        _ESCAPED),
    Family("path", "Extract the user and the path.", closed({"user": _STRING, "path": _STRING}), _path,
        _ESCAPED),
    Family(
        "place",
        "Cities as JSON.",
        closed({"english": _STRING, "local": _STRING, "population": {"type": "integer", "minimum": 0}}),
        _place,
        _ESCAPED,
    ),
    Family(
        "firm",
        "Write the data of the firm as JSON.",
        closed({"firm": {"type": "string", "maxLength": 40}, "city": _STRING, "staff": {"type": "integer"}}),
        _firm,
        _ESCAPED,
    ),
    Family(
        "note",
        "Messages as JSON.",
        closed({"from": _STRING, "to": _STRING, "message": {"type": "string", "maxLength": 60}}),
        _note,
        _ESCAPED,
    ),
    Family("nickname", "Who, and in which sport?", closed({"name": _STRING, "sport": _STRING}), _nickname,
        _ESCAPED),
    Family(
        "phrase",
        "Make cards of the phrases.",
        closed({"language": one_of(*_LANGUAGES), "phrase": _STRING, "meaning": _STRING}),
        _phrase,
        _ESCAPED,
    ),
)  # fmt: skip
