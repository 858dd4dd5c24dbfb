"""Questions of classification: one label of several."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from typing import Any

from benchmarks.answers.families import Draw, Family, closed, one_of

__all__ = ["FAMILIES"]


def _labelled(texts: Mapping[str, Callable[[random.Random], str]], name: str | None) -> Draw:
    """Draws a label, and a text of it; the answer is the label, or an object with it."""

    def draw_one(draw: random.Random) -> tuple[str, Any]:
        label = draw.choice(list(texts))
        return texts[label](draw), label if name is None else {name: label}

    return draw_one


def _of(*templates: str, **words: tuple[str, ...]) -> Callable[[random.Random], str]:
    """Draws a template, and a word for each of its names."""

    def draw_one(draw: random.Random) -> str:
        return draw.choice(templates).format(
            **{name: draw.choice(choices) for name, choices in words.items()}
        )

    return draw_one


_GOODS = (
    "kettle",
    "film",
    "hotel",
    "book",
    "soup",
    "phone",
    "concert",
    "chair",
    "museum",
    "tent",
    "camera",
    "bread",
)

_SENTIMENT = {
    "positive": _of(
        "I love this {it}, it is {good}!",
        "The {it} was {good}. We will come back.",
        "What a {good} {it}!",
        "A {good} {it}, worth every cent.",
        it=_GOODS,
        good=("wonderful", "excellent", "great", "fantastic", "lovely", "perfect"),
    ),
    "negative": _of(
        "I hate this {it}, it is {bad}.",
        "The {it} was {bad}. Never again.",
        "What a {bad} {it}!",
        "A {bad} {it}, I want my money back.",
        it=_GOODS,
        bad=("terrible", "awful", "horrible", "disappointing", "useless", "disgusting"),
    ),
    "neutral": _of(
        "The {it} is {so}, neither good nor bad.",
        "It is a {it}. It does what it says.",
        "An {so} {it}, I suppose.",
        "The {it} arrived on {day}.",
        it=_GOODS,
        so=("average", "ordinary", "unremarkable"),
        day=("Monday", "Tuesday", "Friday"),
    ),
}

_TEAMS = ("Basel", "Porto", "Leeds", "Turin", "Ghent", "Malmö", "Split", "Graz")

_TOPIC = {
    "sports": _of(
        "{a} beat {b} {n}-1 after extra time",
        "Striker of {a} out injured for {n} weeks",
        "{a} wins the cup final",
        "Marathon of {b}: record broken by {n} seconds",
        a=_TEAMS,
        b=_TEAMS,
        n=("2", "3", "4", "5"),
    ),
    "politics": _of(
        "Parliament votes on the {law} law",
        "Minister resigns over {law} affair",
        "Mayor of {a} wins the election",
        "Government of {a} agrees on {law} reform",
        a=_TEAMS,
        law=("pension", "tax", "housing", "energy", "school"),
    ),
    "science": _of(
        "Researchers of {a} discover a new {thing}",
        "Telescope finds {thing} near a distant star",
        "Study: {thing} older than thought",
        a=_TEAMS,
        thing=("planet", "fossil", "species of beetle", "virus", "comet"),
    ),
    "business": _of(
        "{firm} shares fall by {n} percent",
        "{firm} buys its rival for {n} billion",
        "Profits of {firm} rise again",
        "{firm} cuts {n} hundred jobs",
        firm=("Carmaker", "Airline", "Bank", "Retailer", "Brewery"),
        n=("3", "5", "7", "9"),
    ),
    "weather": _of(
        "Heavy {it} expected in {a}",
        "{a} braces for {it} this weekend",
        "Warning of {it} along the coast of {a}",
        a=_TEAMS,
        it=("snow", "rain", "storms", "frost", "fog"),
    ),
}

_LANGUAGE = {
    "English": _of(
        "The {a} is on the table.",
        "I saw a {a} today.",
        "Where did you put my {a}?",
        a=("book", "cat", "key", "hat", "apple"),
    ),
    "French": _of(
        "Le {a} est sur la table.",
        "J'ai vu un {a} aujourd'hui.",
        "Où as-tu mis mon {a}?",
        a=("livre", "chat", "chapeau", "gâteau", "vélo"),
    ),
    "German": _of(
        "Der {a} liegt auf dem Tisch.",
        "Ich habe heute einen {a} gesehen.",
        "Wo ist mein {a}?",
        a=("Hut", "Schlüssel", "Löffel", "Ball", "Apfel"),
    ),
    "Spanish": _of(
        "El {a} está en la mesa.",
        "Hoy he visto un {a}.",
        "¿Dónde está mi {a}?",
        a=("libro", "gato", "sombrero", "pan", "balón"),
    ),
    "Italian": _of(
        "Il {a} è sul tavolo.",
        "Oggi ho visto un {a}.",
        "Dove hai messo il mio {a}?",
        a=("libro", "gatto", "cappello", "pane", "coltello"),
    ),
}

_INTENT = {
    "cancel_order": _of(
        "Please cancel my order of the {it}.",
        "I no longer want the {it}, stop the delivery.",
        "Cancel order {n}, please.",
        "I ordered the {it} by mistake, can you undo it?",
        it=_GOODS,
        n=("4711", "1203", "88", "5150", "902"),
    ),
    "track_parcel": _of(
        "Where is my {it}?",
        "When will the {it} arrive?",
        "Can you tell me where parcel {n} is?",
        "My {it} was sent a week ago, where is it now?",
        it=_GOODS,
        n=("4711", "1203", "88", "5150", "902"),
    ),
    "return_item": _of(
        "The {it} does not fit, I want to send it back.",
        "How can I return the {it}?",
        "I would like to give the {it} back and get a refund.",
        it=_GOODS,
    ),
    "change_address": _of(
        "I have moved to {a}, please update my address.",
        "My new address is Main Street {n}, {a}.",
        "Please send everything to {a} from now on.",
        a=_TEAMS,
        n=("1", "12", "30", "47"),
    ),
}

_URGENCY = {
    "low": _of(
        "Some day, could you repaint the {it}?",
        "The {it} squeaks a little, no hurry.",
        "It would be nice to have a new {it} next year.",
        it=("door", "fence", "lift", "window", "gate", "bench"),
    ),
    "medium": _of(
        "The {it} is broken, please fix it this week.",
        "Please repair the {it} in the next days.",
        "The {it} sticks and should be looked at soon.",
        it=("door", "fence", "lift", "window", "gate", "lamp"),
    ),
    "high": _of(
        "Fire in the {it}! Come at once!",
        "Water is pouring out of the {it}, we need help now!",
        "Somebody is trapped in the {it}, hurry!",
        it=("kitchen", "cellar", "lift", "garage", "attic", "boiler room"),
    ),
}

_OPINION = {
    "très bon": _of(
        "Le {a} était délicieux, bravo !",
        "Un {a} excellent, je reviendrai.",
        "J'ai adoré le {a} !",
        a=("repas", "gâteau", "vin", "café", "pain", "potage"),
    ),
    "moyen": _of(
        "Le {a} était correct, sans plus.",
        "Un {a} ordinaire.",
        "Le {a} : ni bon ni mauvais.",
        a=("repas", "gâteau", "vin", "café", "pain", "potage"),
    ),
    "mauvais": _of(
        "Le {a} était froid et sans goût.",
        "Un {a} horrible, à éviter.",
        "J'ai détesté le {a}.",
        a=("repas", "gâteau", "vin", "café", "pain", "potage"),
    ),
}

_ANIMALS = {
    "mammal": ("whale", "bat", "horse", "hedgehog", "otter", "cow", "squirrel", "wolf"),
    "bird": ("penguin", "owl", "sparrow", "eagle", "duck", "parrot", "stork", "robin"),
    "fish": ("salmon", "shark", "trout", "carp", "tuna", "herring", "pike", "cod"),
    "reptile": ("crocodile", "lizard", "snake", "tortoise", "gecko", "iguana", "viper", "chameleon"),
    "insect": ("ant", "bee", "beetle", "butterfly", "mosquito", "wasp", "moth", "cricket"),
}
_CLASS = {
    label: _of("This is a {a}.", "We saw a {a} in the zoo.", "The {a} is asleep.", a=animals)
    for label, animals in _ANIMALS.items()
}

_SPAM = {
    "spam": _of(
        "You have won {n} dollars, click here!",
        "Cheap {it}, only today, buy now!!!",
        "Dear winner, send us your bank details for the {it}.",
        "Lose {n} kilos in a week with our {it}!",
        n=("1000", "50", "999", "20"),
        it=("pills", "watches", "loans", "phones"),
    ),
    "not spam": _of(
        "Can we meet on {day} at {n}?",
        "Here are the minutes of {day}'s meeting.",
        "Mum asks whether you come on {day}.",
        "Your parcel with the {it} lies at the post office.",
        day=("Monday", "Tuesday", "Friday", "Sunday"),
        n=("9", "10", "14", "16"),
        it=("books", "shoes", "lamps"),
    ),
}


def _family(
    name: str, task: str, texts: Mapping[str, Callable[[random.Random], str]], member: str | None
) -> Family:
    labels = one_of(*texts)
    line = f"{task} Labels: {', '.join(texts)}."
    return Family(
        name, line, labels if member is None else closed({member: labels}), _labelled(texts, member)
    )


FAMILIES = (
    _family("sentiment", "Is the review positive, negative or neutral?", _SENTIMENT, "sentiment"),
    _family("topic", "What is the headline about?", _TOPIC, None),
    _family("language", "Which language is it?", _LANGUAGE, "language"),
    _family("intent", "What does the customer want?", _INTENT, None),
    _family("urgency", "How urgent is the report to the caretaker?", _URGENCY, "urgency"),
    _family("opinion", "Classez les avis.", _OPINION, "avis"),
    _family("class", "Which class of animals?", _CLASS, "class"),
    _family("spam", "Is the message spam?", _SPAM, None),
)
