"""Throws compositions at their values and events; judged by an oracle that tries every split.

    python -m fuzz.fuzz_values --seconds 3600 --seed 1

Constraints and the oracle are those of the tests (``tests/support/values/composed.py``).  Texts are short,
over three letters: those that are accepted must parse to the oracle's value, others must be refused; what
was told of a text that came in pieces must be what is told of it at once, and be told first of every other
text that begins with the same pieces.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

import tokamata as tk
from fuzz import timed
from tests.support.texts import all_texts
from tests.support.values.composed import ALPHABET, Composed, drawn, reading, same
from tokamata.values.events import EventReader

TEXTS = all_texts(ALPHABET, 5)


@dataclass
class Tally(timed.Tally):
    """What was done: constraints tried, values compared, texts refused, events compared."""

    tried: int = 0
    values: int = 0
    refused: int = 0
    events: int = 0


def check_value(composed: Composed, text: str, tally: Tally) -> None:
    """A text is parsed as the oracle says, or refused."""
    try:
        found = composed.constraint.parse(text)
    except tk.ParseError:
        assert not composed.accepts(text), text
        tally.refused += 1
        return
    assert composed.accepts(text), text
    assert same(found, composed.value(text)[0]), (text, found)
    tally.values += 1


def check_events(composed: Composed, accepted: list[str], draw: random.Random, tally: Tally) -> None:
    """Of a text in pieces, and of another that begins as it does."""
    text = draw.choice(accepted)
    form = composed.constraint._form
    reader, events, at = EventReader(form, reading()), [], 0
    whole = EventReader(form, reading())
    expected = whole.feed(text.encode())
    expected += whole.end()
    while at < len(text):
        size = draw.randint(1, 3)
        events += reader.feed(text[at : at + size].encode())
        at += size
        assert events == expected[: len(events)], (text, text[:at])
        other = next((one for one in accepted if one != text and one.startswith(text[:at])), None)
        if other is not None:
            whole = EventReader(form, reading())
            alike = whole.feed(other.encode())
            alike += whole.end()
            assert events == alike[: len(events)], (text[:at], other)
    events += reader.end()
    assert events == expected, text
    assert events[-1].value == composed.constraint.parse(text)
    tally.events += len(events)


def try_one(draw: random.Random, tally: Tally) -> None:
    """One constraint, in every way."""
    tally.tried += 1
    composed = drawn(draw, draw.randint(1, 4))
    with timed.naming(f"constraint {tally.tried}", composed.constraint):
        for text in draw.sample(TEXTS, 20):
            check_value(composed, text, tally)
        accepted = [text for text in draw.sample(TEXTS, 60) if composed.accepts(text)]
        if accepted:
            check_events(composed, accepted, draw, tally)


def run(seconds: float, seed: int) -> Tally:
    """Fuzzes for so long; returns what was done."""
    draw = random.Random(seed)
    tally = Tally()
    for _ in timed.turns(seconds):
        try_one(draw, tally)
    return tally


if __name__ == "__main__":
    timed.main(__doc__, run)
