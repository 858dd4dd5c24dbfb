"""Repairs random texts under random constraints and costs: edits, costs, bounds and certificates must fit.

    python -m fuzz.fuzz_repair --seconds 3600 --seed 1

Constraints are patterns with their judges, acceptors that Wagner's table corrects, brackets as a grammar, and
JSON Schemas.  Costs are the default ones, or few prices with free edits, rewrites and doubts among them.
Texts are accepted ones that were changed, signs of JSON, and any bytes.  Some searches have limits that are
too small.  Every answer on the way is checked (``tests/support/repairs.py``): its edits give its text, their
costs add up, the constraint accepts it, the certificate holds, and the bound is below every later cost.

All of it happens in a process of its own, whose memory and time are bounded.
"""

from __future__ import annotations

import json
import random
import traceback
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import tokamata as tk
from fuzz import timed
from tests.support.automata.machines import random_acceptor
from tests.support.guarded import Died, Guarded
from tests.support.paths import MASKBENCH
from tests.support.patterns.judged import NoVerdict, accepts, random_judged
from tests.support.repairs import LETTERS, as_bytes, check_repair, random_costs, regex_of, uniform_costs
from tests.support.schemas.schema_judges import Judges, asked
from tests.support.schemas.schema_sources import Schemas
from tokamata.automata.correction import Prices, correction
from tokamata.repair.default_costs import DEFAULT_COSTS

HUNG_S = 60.0  # of one text; its limits are a few seconds
MEMORY_BYTES = 2 << 30
LIMITS = tk.Limits(states=20_000, memory_bytes=1 << 25, seconds=1.0, depth=200)
SIGNS = [*'{}[]":,01.-e ', "true", "null", "'", "\n", "\\", "//", "/*", "*/", "#", "“", "”", "```", "a", "\0"]
BRACKETS = 'start: pair*\npair: "(" start ")" | "[" start "]"\n'

Judge = Callable[[str], bool | None]  # None: no verdict


@dataclass
class Tally(timed.Tally):
    """What was done.

    Attributes:
        tried, skipped: texts, and those whose constraint is none.
        answers, optimal: answers, and searches that proved the last one.
        judged, exact: answers that another program accepts, and optima whose cost an oracle knows.
        limited: searches that met a limit before their first answer.
    """

    tried: int = 0
    skipped: int = 0
    answers: int = 0
    optimal: int = 0
    judged: int = 0
    exact: int = 0
    limited: int = 0


@dataclass
class Trial:
    """A text to be repaired.

    Attributes:
        constraint, costs: as for ``repair``.
        text: the text.
        judge: whether a text is accepted, by another program.
        cost: the cost of the optimum, where an oracle knows it.
    """

    constraint: tk.Constraint
    costs: tk.EditCosts
    text: str | bytes
    judge: Judge
    cost: int | None = None


def random_text(draw: random.Random) -> str | bytes:
    """Signs of JSON, letters, or any bytes."""
    kind, length = draw.random(), draw.choice([0, 1, 2, 5, 12, 30, 200])
    if kind < 0.6:
        return "".join(draw.choices(SIGNS, k=length))
    if kind < 0.8:
        return "".join(draw.choices("abcx()[]é😀\ud800", k=length))
    return draw.randbytes(length)


def changed(text: str, draw: random.Random) -> bytes:
    """A text with up to three bytes removed, written or swapped."""
    data = bytearray(as_bytes(text))
    for _ in range(draw.randrange(4)):
        at = draw.randrange(len(data) + 1)
        sign = as_bytes(draw.choice(SIGNS))
        data[at : at + draw.randrange(3)] = draw.choice([b"", sign])
    return bytes(data)


def of_pattern(draw: random.Random) -> Trial:
    """A composition of patterns, with its judge."""
    found = random_judged(draw, draw.choice([0, 0, 1, 2]))

    def judge(text: str) -> bool | None:
        try:
            return found.judge(text) if len(text) <= 10 else accepts(found.constraint, text)
        except (NoVerdict, RecursionError):
            return None

    costs = draw.choice([tk.EditCosts(), random_costs(draw)])
    return Trial(found.constraint, costs, random_text(draw), judge)


def of_acceptor(draw: random.Random) -> Trial | None:
    """A regular expression of an acceptor, whose distances an oracle knows."""
    acceptor = random_acceptor(draw, 6)
    pattern = regex_of(acceptor)
    text = "".join(draw.choices(LETTERS, k=draw.randrange(9)))
    prices = Prices(*draw.choices([0, 1, 2, 3, 7], k=3))
    cost = correction(acceptor, [LETTERS.index(letter) for letter in text], prices)
    if pattern is None or cost is None:
        return None

    def judge(other: str) -> bool:
        free = correction(acceptor, [LETTERS.index(letter) for letter in other], Prices(1, 1, 1))
        return free == 0

    return Trial(tk.regex(pattern), uniform_costs(prices), text, judge, cost)


def of_grammar(draw: random.Random) -> Trial:
    """Brackets, judged by erasing pairs."""

    def judge(text: str) -> bool:
        for _ in range(len(text)):
            text = text.replace("()", "").replace("[]", "")
        return not text

    costs = draw.choice([tk.EditCosts(other=1), random_costs(draw)])
    text = "".join(draw.choices("()[]", k=draw.randrange(14)))
    return Trial(tk.grammar(BRACKETS), costs, draw.choice([text, random_text(draw)]), judge)


def of_schema(draw: random.Random, schemas: Schemas) -> Trial:
    """A JSON Schema, judged by the definition of its keywords."""
    schema = draw.choice([True, schemas(draw)])
    constraint = tk.json_schema(schema, property_order=draw.choice(["schema", "any"]))
    judges = Judges(schema, formats=False)
    unsaid: Counter[str] = Counter()

    def judge(text: str) -> bool | None:
        return asked(judges.by_table, json.loads(text), unsaid)

    text = random_text(draw)
    if draw.random() < 0.6:
        made = constraint.repair(random_text(draw), limits=LIMITS).text
        text = changed(made, draw)
    return Trial(constraint, draw.choice([DEFAULT_COSTS, random_costs(draw)]), text, judge)


def trial(draw: random.Random, schemas: Schemas) -> Trial | None:
    """One text to be repaired; ``None`` where its constraint is none."""
    kind = draw.randrange(4)
    try:
        if kind == 0:
            return of_pattern(draw)
        if kind == 1:
            return of_acceptor(draw)
        return of_grammar(draw) if kind == 2 else of_schema(draw, schemas)
    except tk.TokamataError:
        return None


def check(one: Trial, draw: random.Random) -> Counter[str]:
    """Every answer to a text, and its reward; what was found, by the fields of the tally."""
    found: Counter[str] = Counter()
    limits = LIMITS
    if draw.random() < 0.3:
        limits = tk.Limits(
            states=draw.choice([3, 30, 300]),
            memory_bytes=draw.choice([1 << 18, 1 << 21]),
            seconds=1.0,
            depth=200,
        )
    options = {"costs": one.costs, "weight": draw.choice([1, 1.3, 3, 100]), "limits": limits}
    answers: list[tk.Repair[object]] = []
    try:
        for answer in one.constraint.repairs(one.text, **options):
            check_answer(one, answer, found)
            assert not answers or answer.cost <= answers[-1].cost
            answers.append(answer)
            if draw.random() < 0.05:
                return found  # given up midway
    except tk.LimitExceeded:
        found["limited"] += 1
        return found
    except (tk.EmptyConstraintError, tk.AlgebraError):  # no text at all, or only tokens
        found["skipped"] += 1
        return found
    last = answers[-1]
    assert all(answer.lower_bound <= last.cost for answer in answers)
    found["optimal"] += last.optimal
    if one.cost is not None:
        assert last.lower_bound <= one.cost <= last.cost, one.cost
        found["exact"] += last.optimal
    check_reward(one, last, options)
    return found


def check_answer(one: Trial, answer: tk.Repair[object], found: Counter[str]) -> None:
    """What holds of every answer, and the judge's verdict on its text."""
    found["answers"] += 1
    check_repair(answer, one.text)
    verdict = one.judge(answer.text)
    assert verdict is not False, f"a repaired text that is not accepted: {answer.text!r}"
    found["judged"] += verdict is not None


def check_reward(one: Trial, last: tk.Repair[object], options: dict[str, Any]) -> None:
    """The reward is between 0 and 1, and 1 if and only if nothing is to be paid."""
    try:
        reward = one.constraint.reward(one.text, **options)
    except tk.LimitExceeded:  # the time of this second search may be over earlier
        return
    assert 0 <= reward.lower_bound <= reward.upper_bound <= 1
    assert (reward == 1) == (reward.repair.cost == 0)
    if last.optimal and reward.repair.optimal:
        assert (reward.repair.text, reward.repair.cost) == (last.text, last.cost)
    if reward.price is not None:
        assert reward.repair.cost <= reward.price


class Trials:
    """What the process does: a text from its number.

    Args:
        seed: of all texts.
        schemas: where schemas come from.
    """

    def __init__(self, seed: int, schemas: Schemas) -> None:
        self._seed, self._schemas = seed, schemas

    def __call__(self, number: int) -> tuple[str, Counter[str]]:
        """What is wrong, or nothing; and what was found."""
        draw = random.Random(f"{self._seed} {number}")
        one = trial(draw, self._schemas)
        if one is None:
            return "", Counter(skipped=1)
        try:
            return "", check(one, draw)
        except Exception as error:  # what is not an error of limits should not come
            return f"{one!r}\n{''.join(traceback.format_exception(error))}", Counter()


def run(seconds: float, seed: int, real: bool = True) -> Tally:
    """Fuzzes for so long; returns what was done.

    Args:
        seconds: for how long.
        seed: of everything.
        real: schemas of MaskBench are used too, where they are on the machine.
    """
    tally = Tally()
    trials = Trials(seed, Schemas(MASKBENCH if real else None))
    with Guarded(trials, HUNG_S, MEMORY_BYTES) as guarded:
        for turn in timed.turns(seconds):
            tally.tried = turn
            try:
                wrong, found = guarded(turn)
            except Died as error:
                wrong, found = str(error), Counter()
            assert not wrong, f"seed {seed}, text {turn}: {wrong}"
            for name, count in found.items():
                setattr(tally, name, getattr(tally, name) + count)
    return tally


if __name__ == "__main__":
    timed.main(__doc__, run)
