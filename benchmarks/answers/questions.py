"""The questions: a text, examples of how its data are written as JSON, and the known answer.

A family (``families.py``) is a task with a schema, whose texts and answers are drawn from hand-made words by
a seed.  A question is a text of a family after two or three examples of the same family, all in one spelling,
which the question decides too::

    Read the offer and write its data as JSON.

    Text: The blue kettle costs 24.90 euros.
    JSON:
    { "item": "blue kettle", "price": 24.90, "currency": "EUR" }

    Text: For 7.50 pounds you get a paper lamp.
    JSON:

The questions were fixed before any program had answered them: :data:`DIGEST` is that of all of them, and
every run checks it.
"""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from decimal import Decimal
from functools import cache
from typing import Any

from benchmarks.answers import dates, labels, names, prices, records, tools
from benchmarks.answers.families import Family
from benchmarks.answers.writing import Style, write

__all__ = ["DIGEST", "KINDS", "PER_KIND", "Question", "all_questions", "digest"]

DIGEST = "4f8b9949553c7979"
"""Of the questions that the results are about; :func:`digest` computes it."""

KINDS: dict[str, tuple[Family, ...]] = {
    "prices": prices.FAMILIES,
    "dates": dates.FAMILIES,
    "names": names.FAMILIES,
    "records": records.FAMILIES,
    "labels": labels.FAMILIES,
    "tools": tools.FAMILIES,
}
"""The families of each kind of question."""

PER_KIND = 200
_SEED = 45
_FIRST_NAMED = 0.85  # the share of questions whose examples follow the order of the schema
_LAYOUTS = {"spaced": 50, "compact": 15, "braces": 12, "indented": 18, "tabs": 5}


@dataclass(frozen=True)
class Question:
    """A question, as all engines get it.

    Attributes:
        id: kind, family and number.
        kind: a name in :data:`KINDS`.
        prompt: the task, the examples, the text.
        schema: as JSON.
        answer: as JSON, in the spelling of the examples.
        style: the name of this spelling.
    """

    id: str
    kind: str
    prompt: str
    schema: str
    answer: str
    style: str

    @property
    def value(self) -> Any:
        """The answer; numbers with a fraction or an exponent are exact."""
        return json.loads(self.answer, parse_float=Decimal)


@cache
def all_questions() -> tuple[Question, ...]:
    """All of them, kind by kind; in each kind, its families take turns."""
    questions: list[Question] = []
    for kind, families in KINDS.items():
        columns = [_questions_of(kind, family) for family in families]
        questions += [columns[i % len(columns)][i // len(columns)] for i in range(PER_KIND)]
    return tuple(questions)


def digest(questions: Sequence[Question]) -> str:
    """A hash of the prompts, schemas and known answers."""
    text = json.dumps([asdict(question) for question in questions], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _questions_of(kind: str, family: Family) -> list[Question]:
    """The questions of a family; no text is asked twice, and none is an example of its own question."""
    draw = random.Random(f"{_SEED}:{kind}:{family.name}")
    asked: set[str] = set()
    questions = []
    for number in range(-(-PER_KIND // len(KINDS[kind]))):
        while True:
            drawn = dict(family.draw(draw) for _ in range(draw.choice((3, 4))))
            *examples, (text, answer) = drawn.items()
            if len(drawn) > 2 and text not in asked:
                break
        asked.add(text)
        style = _style(draw, family, answer)
        parts = [family.task, *(f"Text: {seen}\nJSON:\n{write(value, style)}" for seen, value in examples)]
        questions.append(
            Question(
                id=f"{kind}/{family.name}/{number:02}",
                kind=kind,
                prompt="\n\n".join([*parts, f"Text: {text}\nJSON:\n"]),
                schema=json.dumps(family.schema, ensure_ascii=False),
                answer=write(answer, style),
                style=style.name,
            )
        )
    return questions


def _style(draw: random.Random, family: Family, answer: Any) -> Style:
    layout = draw.choices(list(_LAYOUTS), list(_LAYOUTS.values()))[0]
    is_escaped, order = draw.random() < family.escaped, draw.random()
    names = list(answer) if isinstance(answer, dict) else []
    if order < _FIRST_NAMED or len(names) < 2:
        return Style(layout, is_escaped)
    moved = names[:]
    while moved == names:
        draw.shuffle(moved)
    return Style(layout, is_escaped, tuple(moved))
