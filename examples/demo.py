"""The program of ``make demo``: a small model, loaded once, writes texts under five constraints.

    python examples/demo.py

A sixth text is written without a constraint and repaired.  Each text is then checked by code that is
independent of tokamata's engine: ``json``, ``re``, SQLite, the model's own tokenizer.  The exit code is 1 if
a check fails.
"""

from __future__ import annotations

import json
import re
import sqlite3
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from painter import Painter
from rich.text import Text

import tokamata as tk
from tokamata.cli.console import Screen
from tokamata.cli.differences import show_edits, verdict_of
from tokamata.cli.generate import Job, compare, result_of, show_value
from tokamata.cli.loading import load_all
from tokamata.constraints.constraint import Constraint

PERSON = json.loads((Path(__file__).parent / "person.json").read_text("utf-8"))
QUERY = Path(__file__).parent / "query.lark"
PAINTING = (
    r' "born": [12][0-9]{3}, "country": "(Switzerland|Germany|France)", "style": "(cubism|expressionism)"\}'
)
RECORD = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "born": {"type": "integer", "minimum": 1400, "maximum": 2026},
        "style": {"enum": ["cubism", "expressionism", "impressionism"]},
    },
    "required": ["name", "born", "style"],
    "additionalProperties": False,
}
# An example in JavaScript's notation, which the model takes over.
RECORDS = (
    'Pablo Picasso (born 1881, cubism) as JSON: {name: "Pablo Picasso", born: "1881", style: "cubism"}\n'
    "Paul Klee (born 1879, expressionism) as JSON:"
)
WAVES = r"(?=.*\bwaves\b)(?!.*\bsea\b)[A-Z][a-z, ]*\."

FREE, HELD, CANONICAL = "without the constraint", "with the constraint", "with the tokenizer's own tokens"


@dataclass(frozen=True)
class Case:
    """One constraint, and the texts that are written.

    Attributes:
        title: the heading.
        prompt: the prompt of the model.
        constraint: the constraint.
        sides: the texts: any of ``FREE``, ``HELD`` and ``CANONICAL``.
        budget: the largest number of tokens of each text.
        check: decides whether a text is right.
        judge: the name of the check.
        has_value: whether the Python value of the text is shown.
    """

    title: str
    prompt: str
    constraint: Constraint
    sides: tuple[str, ...]
    budget: int
    check: Callable[[str], bool]
    judge: str
    has_value: bool = False


def is_person(text: str) -> bool:
    """Whether ``person.json`` accepts the text, written again in Python."""
    person = json.loads(text)
    languages = person["languages"]
    return (
        list(person) == ["name", "born", "languages"]
        and re.fullmatch("[A-Z][a-z]+( [A-Z][a-z]+)+", person["name"]) is not None
        and 1400 <= person["born"] <= 2026
        and 1 <= len(languages) == len(set(languages)) <= 3
        and set(languages) <= {"English", "French", "German", "Italian", "Spanish"}
    )


def is_painter(text: str) -> bool:
    """Whether the text has the members of a ``Painter``, and its value is one."""
    return set(json.loads(text)) == {"name", "born", "style", "died"} and isinstance(
        tk.type(Painter).parse(text), Painter
    )


def is_record(text: str) -> bool:
    """Whether the schema ``RECORD`` accepts the text, written again in Python."""
    record = json.loads(text)
    return (
        set(record) == {"name", "born", "style"}
        and isinstance(record["name"], str)
        and 1400 <= record["born"] <= 2026
        and record["style"] in ("cubism", "expressionism", "impressionism")
    )


def is_query(text: str) -> bool:
    """Whether SQLite can run the text."""
    with sqlite3.connect(":memory:") as database:
        database.execute("CREATE TABLE painters (name TEXT, born INTEGER, country TEXT)")
        try:
            database.execute(text)
        except sqlite3.Error:
            return False
    return True


CASES = (
    Case(
        title="JSON of a schema (examples/person.json)",
        prompt="A painter as JSON: ",
        constraint=tk.json_schema(PERSON),
        sides=(FREE, HELD),
        budget=40,
        check=is_person,
        judge="json, re",
    ),
    Case(
        title="Canonical tokenization: a regex in any tokens, then in the tokenizer's own",
        prompt='A painter as JSON: {"name": "Paul Klee",',
        constraint=tk.regex(PAINTING),
        sides=(HELD, CANONICAL),
        budget=28,
        check=lambda text: re.fullmatch(PAINTING, text) is not None,
        judge="re, the tokenizer",
    ),
    Case(
        title="JSON of a Python type (examples/painter.py)",
        prompt="Paul Klee, the painter, as JSON: ",
        constraint=tk.type(Painter),
        sides=(HELD,),
        budget=40,
        check=is_painter,
        judge="json, Painter",
        has_value=True,
    ),
    Case(
        title="A query of a grammar (examples/query.lark)",
        prompt="The names of all painters who were born after 1900, in SQL: ",
        constraint=tk.grammar(QUERY),
        sides=(HELD,),
        budget=24,
        check=is_query,
        judge="sqlite3",
    ),
    Case(
        title="A regex with lookarounds: one sentence that has waves in it, and no sea",
        prompt="The sea, described in one sentence: ",
        constraint=tk.regex(WAVES),
        sides=(FREE, HELD),
        budget=24,
        check=lambda text: re.fullmatch(WAVES, text) is not None,
        judge="re",
    ),
)

# The logit of each token of this text is at least 1.25 above the second best, so that the text is the same on
# every machine.
BROKEN = Case(
    title="Repair: what the model writes by itself, and the nearest JSON of a schema",
    prompt=RECORDS,
    constraint=tk.json_schema(RECORD),
    sides=(FREE,),
    budget=20,
    check=is_record,
    judge="json, the certificate",
)
REPAIR_SECONDS = 5.0


def show(
    screen: Screen, case: Case, model: Any, tokenizer: Any, vocabulary: tk.Vocabulary
) -> tuple[bool, int]:
    """Write the texts of one case and check them; returns whether all are right, and the tokens written."""
    results = _written(screen, case, model, tokenizer, vocabulary)
    held = [result for side, result in results.items() if side != FREE]
    good = all(_is_right(case, result.text) for result in held)
    if CANONICAL in results:
        good = good and _is_canonical(tokenizer, results[CANONICAL])
    if case.has_value and good:
        show_value(screen, held[0])
    screen.out.print(screen.mark(good), f" checked by {case.judge}", sep="")
    return good, _count(results.values())


def show_repair(
    screen: Screen, case: Case, model: Any, tokenizer: Any, vocabulary: tk.Vocabulary
) -> tuple[bool, int]:
    """Write a text without the constraint, repair it and check that; returns the same as :func:`show`."""
    results = _written(screen, case, model, tokenizer, vocabulary)
    repair = case.constraint.repair(results[FREE].text, deadline_seconds=REPAIR_SECONDS)
    good = _is_right(case, repair.text) and repair.certificate.verify()
    show_edits(screen.out, repair)
    screen.out.print(Text(repair.text, style="bold"))
    verdict = f" {verdict_of(repair)}; checked by {case.judge}"
    screen.out.print(screen.mark(good), verdict, sep="")
    return good, _count(results.values())


def _written(
    screen: Screen, case: Case, model: Any, tokenizer: Any, vocabulary: tk.Vocabulary
) -> dict[str, tk.Generation]:
    """Write the texts of one case, and show them."""
    screen.out.print()
    screen.out.rule(f"[bold]{case.title}", align="left")
    screen.out.print(case.prompt, style="dim", markup=False)
    jobs = {
        side: Job(
            model,
            tokenizer,
            case.prompt,
            vocabulary,
            {
                "max_new_tokens": case.budget,
                "greedy": True,
                "tokenization": "canonical" if side == CANONICAL else "any",
            },
        )
        for side in case.sides
    }
    sides = {side: job.start(None if side == FREE else case.constraint) for side, job in jobs.items()}
    compare(screen, jobs[case.sides[0]], case.constraint, sides)
    return {side: result_of(steps) for side, steps in sides.items()}


def _count(results: Iterable[tk.Generation]) -> int:
    """How many tokens were written, stop tokens included."""
    return sum(len(result.tokens) + (result.stop_token is not None) for result in results)


def _is_right(case: Case, text: str) -> bool:
    try:
        return case.check(text)
    except (ValueError, LookupError, TypeError):  # json and parse refuse the text
        return False


def _is_canonical(tokenizer: Any, result: tk.Generation) -> bool:
    """Whether the tokenizer itself produces these tokens for prompt and text."""
    written = [*result.prompt_tokens, *result.tokens]
    text = tokenizer.decode(written, skip_special_tokens=False, clean_up_tokenization_spaces=False)
    return bool(tokenizer(text, add_special_tokens=False)["input_ids"] == written)


def main() -> int:
    """Load the model and show all cases; returns 1 if a check failed."""
    screen, start = Screen(), time.monotonic()
    with screen.progress() as progress:
        model, tokenizer, vocabulary = load_all(None, progress)
    outcomes = [show(screen, case, model, tokenizer, vocabulary) for case in CASES]
    outcomes.append(show_repair(screen, BROKEN, model, tokenizer, vocabulary))
    right, tokens = sum(good for good, _ in outcomes), sum(count for _, count in outcomes)
    screen.out.print()
    screen.out.print(
        screen.mark(right == len(outcomes)),
        f" {right} of {len(outcomes)} right; {tokens} tokens written in {time.monotonic() - start:.0f} s",
        sep="",
    )
    return int(right != len(outcomes))


if __name__ == "__main__":
    raise SystemExit(main())
