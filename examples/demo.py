"""The program of ``make demo``: a small model, loaded once, writes texts under five constraints.

    python examples/demo.py

Each text under a constraint is then checked by code that is independent of tokamata's engine: ``json``,
``re``, SQLite, the model's own tokenizer.  The exit code is 1 if a check fails.
"""

from __future__ import annotations

import json
import re
import sqlite3
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from painter import Painter

import tokamata as tk
from tokamata.cli.console import Screen
from tokamata.cli.generate import Job, compare, result_of, show_value
from tokamata.cli.loading import load_all
from tokamata.constraint import Constraint

PERSON = json.loads((Path(__file__).parent / "person.json").read_text("utf-8"))
QUERY = Path(__file__).parent / "query.lark"
PAINTING = (
    r' "born": [12][0-9]{3}, "country": "(Switzerland|Germany|France)", "style": "(cubism|expressionism)"\}'
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


def show(
    screen: Screen, case: Case, model: Any, tokenizer: Any, vocabulary: tk.Vocabulary
) -> tuple[bool, int]:
    """Write the texts of one case and check them; returns whether all are right, and the tokens written."""
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
    results = {side: result_of(steps) for side, steps in sides.items()}
    held = [result for side, result in results.items() if side != FREE]
    good = all(_is_right(case, result) for result in held)
    if CANONICAL in results:
        good = good and _is_canonical(tokenizer, results[CANONICAL])
    if case.has_value and good:
        show_value(screen, held[0])
    screen.out.print(screen.mark(good), f" checked by {case.judge}", sep="")
    return good, sum(len(result.tokens) + (result.stop_token is not None) for result in results.values())


def _is_right(case: Case, result: tk.Generation) -> bool:
    try:
        return case.check(result.text)
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
    right, tokens = sum(good for good, _ in outcomes), sum(count for _, count in outcomes)
    screen.out.print()
    screen.out.print(
        screen.mark(right == len(CASES)),
        f" {right} of {len(CASES)} right; {tokens} tokens written in {time.monotonic() - start:.0f} s",
        sep="",
    )
    return int(right != len(CASES))


if __name__ == "__main__":
    raise SystemExit(main())
