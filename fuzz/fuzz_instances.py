"""Writes values of JSON Schemas, as they are and changed: accepted if and only if they are valid.

    python -m fuzz.fuzz_instances --seconds 3600 --seed 1

`hypothesis-jsonschema` draws the values, and half of the schemas (hypothesis_values.py); the others are our
random ones and MaskBench's.  Each value is also changed in one place, some times over, so that some are
valid and some are not: the judges say which (schema_judges.py).  It is written in a layout and a spelling
of the style, cut into tokens at random, and led through a matcher.
"""

from __future__ import annotations

import copy
import json
import random
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import tokamata as tk
from fuzz import timed
from fuzz.fuzz_schemas import LIMITS, vocabularies
from tests.support.guarded import Died, Guarded
from tests.support.matchers import takes
from tests.support.paths import MASKBENCH
from tests.support.schemas import hypothesis_values, json_texts
from tests.support.schemas.schema_judges import Judges, asked
from tests.support.schemas.schema_sources import Schemas
from tests.support.vocabularies import cut

VALUES = 8  # of each schema
CHANGED = 5  # of each value
HUNG_S = 5.0  # in drawing: that package looks for patterns that merge
SLOW_S = 10.0  # of one schema, after which its other values are left out
MEMORY_BYTES = 3 << 30  # of the process that draws
SOME: list[Any] = [
    None, True, False, 0, 1, -1, 2, 0.5, 1e16, 10**20, "", "a", "b", "é", "\n", [], [0], {}, {"a": 1},
]  # fmt: skip
LAYOUTS: dict[str, list[dict[str, Any]]] = {
    "compact": [{"separators": (",", ":")}],
    "natural": [{"separators": (",", ":")}, {}, {"indent": 2}, {"indent": 4}, {"indent": "\t"}],
    "any": [{}, {"indent": " \t"}, {"separators": (" ,\n", "\r:\t ")}],
}


@dataclass
class Tally(timed.Tally):
    """What was done.

    Attributes:
        tried, refused, undrawn, limited: schemas; those that were not taken, of which no value was drawn, or
            that came to a limit or took too long.
        valid, invalid: values on which the engine was right.
        unsaid: values on which there was no verdict, by the reason.
    """

    tried: int = 0
    refused: int = 0
    undrawn: int = 0
    limited: int = 0
    valid: int = 0
    invalid: int = 0
    unsaid: Counter[str] = field(default_factory=Counter)


def drawn(argument: tuple[Any, int]) -> list[Any]:
    """Values of a schema, or schemas where it is ``None``; nothing where that package has none."""
    schema, number = argument
    try:
        if schema is None:
            return hypothesis_values.schemas(number, VALUES)
        return hypothesis_values.values_of(schema, number, VALUES)
    except Exception:  # of its own, of Hypothesis, jsonschema, and re; an empty list is counted as undrawn
        return []


def drawn_within(guarded: Guarded, schema: Any, number: int) -> list[Any]:
    """The same in a process of its own; nothing if it takes too long."""
    try:
        return list(guarded((schema, number)))
    except Died:
        return []


def changed(value: Any, chooser: random.Random, names: list[str]) -> Any:
    """The value with something else in one place; ``names`` are those that an object may get."""
    root = [copy.deepcopy(value)]
    holder, key = chooser.choice(list(_places(root)))
    old = holder[key]
    kind = chooser.random()
    if kind < 0.2 and holder is not root:
        del holder[key]
    elif kind < 0.4:
        holder[key] = copy.deepcopy(chooser.choice(SOME))
    elif isinstance(old, dict):
        old[chooser.choice(names)] = copy.deepcopy(chooser.choice(SOME))
    elif isinstance(old, list):
        old.insert(chooser.randint(0, len(old)), copy.deepcopy(chooser.choice(old or SOME)))
    elif isinstance(old, str):
        cut = chooser.randint(0, len(old))
        rest = old[cut + chooser.randint(0, 1) :]
        holder[key] = old[:cut] + chooser.choice(["", "a", "é", "\r", "0"]) + rest
    elif isinstance(old, (int, float)):
        holder[key] = chooser.choice([old + 1, old - 1, -old, old // 2, str(old)])
    return root[0]


def _places(holder: Any) -> Iterator[tuple[Any, Any]]:
    """Where all parts are that something holds: the list or object, and the index or name."""
    for key, inner in list(holder.items() if isinstance(holder, dict) else enumerate(holder)):
        yield holder, key
        if isinstance(inner, (dict, list)):
            yield from _places(inner)


def names_in(schema: Any) -> list[str]:
    """All names in a schema, of properties and of keywords."""
    found = {"a", "b"}
    for holder, key in _places([schema]):
        found.update([key] if isinstance(holder, dict) else [])
    return sorted(found)


def written(value: Any, style: tk.constraints.json_constraints.Style, chooser: random.Random) -> str:
    """The value as text, in a layout and a spelling of the style."""
    if style.spelling == "plain":
        value = with_integers(value)
    escaped = style.spelling == "any" and chooser.random() < 0.5
    return json.dumps(value, ensure_ascii=escaped, **chooser.choice(LAYOUTS[style.whitespace]))


def with_integers(value: Any) -> Any:
    """The same value; numbers that are whole are integers, which ``json.dumps`` writes as digits alone."""
    if isinstance(value, list):
        return [with_integers(one) for one in value]
    if isinstance(value, dict):
        return {name: with_integers(one) for name, one in value.items()}
    return int(value) if isinstance(value, float) and value.is_integer() else value


def trial(
    schema: Any, values: list[Any], chooser: random.Random, tally: Tally, loaded: list[tk.Vocabulary]
) -> None:
    """One schema in one style and vocabulary: these values, and changed ones."""
    spelling, whitespace = chooser.choice(["plain", "any"]), chooser.choice(list(LAYOUTS))
    constraint = tk.json_schema(
        schema, property_order="any", formats="annotate", whitespace=whitespace, spelling=spelling
    )
    try:
        compiled = constraint.compile(chooser.choice(loaded), limits=LIMITS)
    except tk.EmptyConstraintError:
        compiled = None
    judges, names, style = Judges(schema, formats=False), names_in(schema), constraint.style
    more = [changed(value, chooser, names) for value in values for _ in range(CHANGED)]
    end = time.monotonic() + SLOW_S
    for value in [*values, *more]:
        if time.monotonic() > end:
            tally.limited += 1
            return
        text = written(value, style, chooser)
        exact = json_texts.read(text)
        verdict = asked(judges.by_validators, exact, tally.unsaid)
        if verdict is None:
            continue
        accepted = compiled is not None and takes(
            compiled.matcher(), cut(compiled.vocabulary, text.encode(), chooser)
        )
        by_table = asked(judges.by_table, exact, Counter())
        assert accepted == verdict, f"{accepted}, but {verdict} ({by_table} to the table): {text!r}, {style}"
        tally.valid += verdict
        tally.invalid += not verdict


def run(seconds: float, seed: int, source: Schemas | None = None) -> Tally:
    """Fuzzes for so long; returns what was done.

    Args:
        seconds: for how long.
        seed: of everything.
        source: of half of the schemas; by default random ones, and MaskBench's where they are.
    """
    source, loaded = source or Schemas(MASKBENCH), vocabularies()[:2]
    hypothesis_values.prepare()  # once, and not in every process
    tally = Tally()
    with Guarded(drawn, HUNG_S, MEMORY_BYTES) as guarded:
        for turn in timed.turns(seconds):
            chooser = random.Random(f"{seed} {turn}")
            number = chooser.randrange(1 << 32)
            ours = turn % 2 == 1
            batch = [source(chooser) for _ in range(VALUES)] if ours else drawn_within(guarded, None, number)
            for schema in batch:
                tally.tried += 1
                values = drawn_within(guarded, schema, number)
                tally.undrawn += not values
                values += [copy.deepcopy(one) for one in chooser.sample(SOME, 3)]
                with timed.naming(f"seed {seed}, schema {tally.tried}", schema):
                    try:
                        trial(schema, values, chooser, tally, loaded)
                    except tk.LimitExceeded:
                        tally.limited += 1
                    except tk.TokamataError:
                        tally.refused += 1
    return tally


if __name__ == "__main__":
    timed.main(__doc__, run)
