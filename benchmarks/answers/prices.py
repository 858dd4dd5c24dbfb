"""Questions about numbers: prices, small and large amounts, in the spelling of the text."""

from __future__ import annotations

import random
from typing import Any

from benchmarks.answers.families import Family, closed, one_of
from benchmarks.answers.writing import Number

__all__ = ["FAMILIES"]

_NUMBER = {"type": "number"}
_AMOUNT = {"type": "number", "minimum": 0}
_MONEY = {"type": "number", "minimum": 0, "multipleOf": 0.01}
_STRING = {"type": "string"}

_COLOURS = ("blue", "red", "green", "white", "black", "yellow", "grey", "striped")
_GOODS = (
    "kettle", "lamp", "chair", "umbrella", "scarf", "backpack", "teapot", "mirror", "blanket", "bicycle bell",
    "notebook", "garden hose", "frying pan", "alarm clock", "picture frame", "doormat",
)  # fmt: skip
_SHOPS = (
    "Baker Lindt", "Corner Books", "Hotel Miramar", "the station kiosk", "Garage Huber", "Café Central",
    "the fish market", "Pharmacy Rossi", "Green Grocer", "Studio Nord", "the flower stall", "Hardware Olsen",
)  # fmt: skip
_CURRENCIES = {"EUR": "euros", "USD": "dollars", "GBP": "pounds", "CHF": "francs"}
_CENTS = ("00", "50", "90", "99", "25", "10", "95", "75", "40", "05")


def _price(draw: random.Random, most: int) -> Number:
    return Number(f"{draw.randrange(1, most)}.{draw.choice(_CENTS)}")


def _offer(draw: random.Random) -> tuple[str, dict[str, Any]]:
    item = f"{draw.choice(_COLOURS)} {draw.choice(_GOODS)}"
    code = draw.choice(list(_CURRENCIES))
    price, name = _price(draw, 120), _CURRENCIES[code]
    text = draw.choice(
        (
            f"The {item} costs {price} {name}.",
            f"For {price} {name} you get a {item}.",
            f"On sale today: one {item}, only {price} {name}!",
            f"I paid {price} {name} for the {item}.",
            f"{item.capitalize()}, {code} {price}, as good as new.",
        )
    )
    return text, {"item": item, "price": price, "currency": code}


def _receipt(draw: random.Random) -> tuple[str, dict[str, Any]]:
    shop, total = draw.choice(_SHOPS), _price(draw, 300)
    tax = Number(f"{draw.randrange(0, 20)}.{draw.choice(_CENTS)}")
    text = draw.choice(
        (
            f"Paid {total} at {shop}, of which {tax} is tax.",
            f"Receipt of {shop}: total {total}, tax included {tax}.",
            f"{shop} charged {total}; the tax was {tax}.",
            f"Tax {tax}, total {total}. Thank you for your visit to {shop}!",
        )
    )
    return text, {"shop": shop, "total": total, "tax": tax}


def _invoice(draw: random.Random) -> tuple[str, dict[str, Any]]:
    number = draw.randrange(1000, 99_999)
    net, gross = draw.randrange(1000, 60_000), draw.randrange(1000, 90_000)
    cents = draw.choice(_CENTS), draw.choice(_CENTS)
    shown = f"{net:,}.{cents[0]}", f"{gross:,}.{cents[1]}"
    text = draw.choice(
        (
            f"Invoice {number}: net {shown[0]}, gross {shown[1]}.",
            f"The gross amount of invoice no. {number} is {shown[1]}, the net amount {shown[0]}.",
            f"Please settle invoice {number}. Net: {shown[0]} / gross: {shown[1]}",
            f"No. {number}, {shown[0]} net, {shown[1]} gross",
        )
    )
    values = Number(f"{net}.{cents[0]}"), Number(f"{gross}.{cents[1]}")
    return text, {"number": number, "net": values[0], "gross": values[1]}


_SUBSTANCES = (
    "copper", "zinc", "iodine", "caffeine", "table salt", "nickel", "silver nitrate", "sugar", "lead",
    "chalk",
    "magnesium", "iron oxide",
)  # fmt: skip


def _sample(draw: random.Random) -> tuple[str, dict[str, Any]]:
    substance, digits = draw.choice(_SUBSTANCES), draw.randrange(1, 100)
    spelling = draw.choice(
        (
            f"0.0000{digits}",
            f"0.00{digits}",
            f"0.{digits}0",
            f"{draw.randrange(1, 10)}.{digits}e-{draw.randrange(3, 9)}",
            f"{draw.randrange(1, 10)}e{draw.randrange(2, 6)}",
            f"{digits}.000",
        )
    )
    where = draw.choice("ABCDEF") + str(draw.randrange(1, 40))
    text = draw.choice(
        (
            f"Sample {where} holds {spelling} g of {substance}.",
            f"We found {spelling} g {substance} in {where}.",
            f"{where}: {substance}, {spelling} g",
            f"The {substance} in tube {where} weighs {spelling} g.",
        )
    )
    return text, {"sample": where, "substance": substance, "grams": Number(spelling)}


_BANKS = ("Savings Bank", "Credit Union", "Alpine Bank", "Harbour Bank", "Farmers Trust", "City Lending")
_THINGS = ("mortgage", "savings", "car loan", "student loan", "overdraft", "deposit")


def _rate(draw: random.Random) -> tuple[str, dict[str, Any]]:
    hundredths = draw.sample(range(10, 900, 5), 2)
    before, after = (Number(f"{each // 100}.{each % 100:02}") for each in hundredths)
    who, what = draw.choice(_BANKS), draw.choice(_THINGS)
    is_rising = after > before
    verb = draw.choice(("raises", "lifts")) if is_rising else draw.choice(("cuts", "lowers"))
    gone = "up" if is_rising else "down"
    text = draw.choice(
        (
            f"{who} {verb} its {what} rate from {before}% to {after}%.",
            f"{what.capitalize()} rate at {who}: {gone} to {after}% from {before}%.",
            f"From {before} percent, {who}'s {what} rate goes {gone} to {after} percent.",
        )
    )
    return text, {"before": before, "after": after, "rising": is_rising}


_PLACES = (
    "Bergen", "Lisbon", "Kraków", "Oslo", "Zürich", "Malmö", "Porto", "Ghent", "Turin", "Riga", "Cork",
    "Graz",
    "Reykjavík", "Split",
)  # fmt: skip


def _weather(draw: random.Random) -> tuple[str, dict[str, Any]]:
    place, wind = draw.choice(_PLACES), draw.randrange(0, 90)
    degrees = Number(f"{draw.choice(('-', '', ''))}{draw.randrange(1, 35)}.{draw.randrange(10)}")
    text = draw.choice(
        (
            f"{place} has {degrees} degrees and wind of {wind} km/h.",
            f"It is {degrees} degrees in {place}, with winds at {wind} km/h.",
            f"Weather in {place}: {degrees} °C, wind {wind} km/h.",
            f"Wind {wind} km/h, temperature {degrees} °C, says the station of {place}.",
        )
    )
    return text, {"place": place, "temperature": degrees, "wind": wind}


def _trip(draw: random.Random) -> tuple[str, dict[str, Any]]:
    start, end = draw.sample(_PLACES, 2)
    distance, cost = Number(f"{draw.randrange(20, 900)}.{draw.randrange(10)}"), _price(draw, 150)
    answer = {"from": start, "to": end, "distance": distance, "cost": cost}
    toll = ""
    if draw.random() < 0.4:
        answer["toll"] = _price(draw, 40)
        toll = f", plus {answer['toll']} of toll"
    text = draw.choice(
        (
            f"From {start} to {end} it is {distance} km; the trip costs {cost}{toll}.",
            f"{start} to {end}: {distance} km, fuel for {cost}{toll}.",
            f"The drive of {distance} km from {start} to {end} costs {cost}{toll}.",
        )
    )
    return text, answer


_FOOD = ("coffee", "tea", "cake", "soup", "salad", "juice", "bread", "cheese plate", "ice cream", "omelette")


def _menu(draw: random.Random) -> tuple[str, dict[str, Any]]:
    foods = draw.sample(_FOOD, draw.choice((2, 3)))
    costs = [Number(f"{draw.randrange(1, 15)}.{draw.choice(_CENTS)}") for _ in foods]
    total = Number(f"{sum(costs):.2f}")
    listed = [f"{food} {cost}" for food, cost in zip(foods, costs, strict=True)]
    text = draw.choice(
        (
            f"{', '.join(listed)}. Total: {total}.",
            f"We had {' and '.join(listed)}, which makes {total}.",
            f"Bill of table {draw.randrange(1, 30)}: {'; '.join(listed)}; sum {total}",
        )
    )
    return text, {"prices": costs, "total": total}


FAMILIES = (
    Family(
        "offer",
        "Read the offer and write its data as JSON.",
        closed({"item": _STRING, "price": _AMOUNT, "currency": one_of(*_CURRENCIES)}),
        _offer,
    ),
    Family(
        "receipt",
        "Extract the shop, the total and the tax.",
        closed({"shop": _STRING, "total": _MONEY, "tax": _MONEY}),
        _receipt,
    ),
    Family(
        "invoice",
        "Invoices as JSON, amounts as numbers.",
        closed({"number": {"type": "integer", "minimum": 1}, "net": _MONEY, "gross": _MONEY}),
        _invoice,
    ),
    Family(
        "sample",
        "Turn the notes of the laboratory into JSON.",
        closed({"sample": _STRING, "substance": _STRING, "grams": {"type": "number", "exclusiveMinimum": 0}}),
        _sample,
    ),
    Family(
        "rate",
        "Write the interest rates as JSON.",
        closed({"before": _NUMBER, "after": _NUMBER, "rising": {"type": "boolean"}}),
        _rate,
    ),
    Family(
        "weather",
        "Weather reports, and the same as JSON.",
        closed(
            {
                "place": _STRING,
                "temperature": {"type": "number", "minimum": -60, "maximum": 60},
                "wind": {"type": "integer", "minimum": 0},
            }
        ),
        _weather,
    ),
    Family(
        "trip",
        "Extract what is known of the trip.",
        closed({"from": _STRING, "to": _STRING, "distance": _AMOUNT, "cost": _AMOUNT}, {"toll": _AMOUNT}),
        _trip,
    ),
    Family(
        "menu",
        "List the prices and the total.",
        closed({"prices": {"type": "array", "items": _NUMBER, "minItems": 1}, "total": _NUMBER}),
        _menu,
    ),
)
