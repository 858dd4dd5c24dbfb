"""Masks in bounded time: how long calls take at a deadline, and what the deadline does to the texts.

python -m benchmarks.bounded                      # all schemas of MaskBench, grammars, hostile patterns
python -m benchmarks.bounded --quick
python -m benchmarks.bounded --groups hostile --deadline 1e-3

Each constraint is compiled anew, so that every mask is made under the deadline.  A walk follows a text that
is given; where a row lacks its next token, and now and then anyway, it takes any token of the row.  After
some tokens it ends with the shortest completion, under the same deadline.  Every text is judged by
``constraint.accepts``.  Beside it, a second matcher without a deadline has the whole masks, with which rows
that are not whole are compared.

Processor time is that of the thread, with a reading of the clock in it.  Wall time includes what else the
machine does.
"""

from __future__ import annotations

import math
import os
import random
import sys
import time
from argparse import Namespace
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

import tokamata as tk
from benchmarks.bounded.cases import GROUPS, Case, cases
from benchmarks.common import environment
from benchmarks.common.program import parser_for, run, say
from benchmarks.common.report import Report, Target
from benchmarks.common.timing import quiet
from benchmarks.common.tokenizers import Tokenizer, load_known

_TOKENS, _MORE = 40, 24  # of a walk; the budget beyond them where there is one
_ASTRAY = 0.05  # how often a walk leaves its text
_P999_US, _LARGEST_MS = 300.0, 2.0
_NOTES = (
    "partial: rows that are not whole; late: calls that raised LimitExceeded, since nothing was known in "
    "time; they are made again, without a deadline; both of all rows.",
    "lost: of partial rows, the logarithm of the share of the mask's tokens that the row has, negated (the "
    "log-probability lost under a uniform model); missed: rows without the next token of the text that is "
    "followed, of all rows.",
    "wrong: tokens of a row that are neither in the mask nor accepted (masks with a least number of tokens "
    "may lack some), and texts that are not accepted.",
)


def main() -> int:
    """The program; its exit status is 1 if a row or a text is wrong."""
    parser = parser_for(__doc__ or "")
    parser.add_argument("--deadline", type=float, default=200e-6, metavar="S", help="of a call (200e-6)")
    parser.add_argument("--groups", nargs="*", default=list(GROUPS), metavar="NAME", choices=GROUPS)
    parser.add_argument("--tokenizer", default="llama-3.1", metavar="NAME")
    return run(measure, parser.parse_args())


def measure(options: Namespace, work: Path) -> Report:
    """All groups."""
    os.environ["TOKAMATA_CACHE"] = str(work / "cache")
    if options.quick:
        options.count = options.count or 20
    # What judges has a vocabulary of its own: nothing that it makes is found by what is measured.
    folders = [work / name for name in ("measured", "judge")]
    for folder in folders:
        folder.mkdir()
    tokenizer, apart = (load_known(options.tokenizer, options.tokenizers, folder) for folder in folders)
    tokenizer.vocabulary.core  # noqa: B018  (made here, so that no case pays for it)
    found: dict[str, _Found] = defaultdict(_Found)
    with quiet():
        for group in options.groups:
            for number, case in enumerate(cases(group, options, tokenizer)):
                if number % 200 == 0:
                    say(f"{group}: {number}, {case.name}")
                try:
                    _walks(case, tokenizer, apart, options, found[case.group])
                except tk.TokamataError as error:
                    found[case.group].refused += 1
                    if options.quick:
                        say(f"{case.name}: {type(error).__name__}: {error}"[:200])
    facts = environment.describe()
    facts["vocabulary"] = f"{tokenizer.vocabulary!r}, from {tokenizer.origin}"
    facts["deadline"] = f"{options.deadline * 1e6:g} µs"
    report = Report(facts)
    report.add("Calls at a deadline: processor and wall time in µs", [_times(*one) for one in found.items()])
    report.add("Rows and texts", [_texts(*one) for one in found.items()], _NOTES)
    slow = sorted((one for group in found.values() for one in group.slowest), reverse=True)[:12]
    report.add("The longest calls, processor time in µs", [{"µs": us, "call": what} for us, what in slow])
    every = np.concatenate([np.array(one.cpu_us) for one in found.values()])
    report.targets += [
        Target("a call, processor time, p99.9", float(np.quantile(every, 0.999)), _P999_US, "µs"),
        Target("a call, processor time, largest", float(every.max()) / 1e3, _LARGEST_MS, "ms"),
        Target("wrong rows and texts", float(sum(len(one.faults) for one in found.values())), 0, ""),
    ]
    report.add("Faults", [{"": one} for group in found.values() for one in group.faults])
    report.is_wrong = any(one.faults for one in found.values())
    return report


@dataclass
class _Found:
    """Of a group."""

    cpu_us: list[float] = field(default_factory=list)
    wall_us: list[float] = field(default_factory=list)
    slowest: list[tuple[float, str]] = field(default_factory=list)
    lost: list[float] = field(default_factory=list)
    rows: int = 0
    missed: int = 0
    late: int = 0
    faults: list[str] = field(default_factory=list)
    texts: int = 0
    refused: int = 0

    def fault(self, case: Case, matcher: tk.Matcher, what: str) -> None:
        self.faults.append(f"{case.group}, {case.name}, after {bytes(matcher.text)!r}: {what}")

    def note(self, cpu_ns: int, wall_ns: int, what: str) -> None:
        self.cpu_us.append(cpu_ns / 1e3)
        self.wall_us.append(wall_ns / 1e3)
        if cpu_ns > 400_000:
            self.slowest.append((round(cpu_ns / 1e3), what))


def _walks(case: Case, tokenizer: Tokenizer, apart: Tokenizer, options: Namespace, found: _Found) -> None:
    constraint = case.make()
    tokenization = {"tokenization": "canonical"} if case.canonical else {}
    compiled, judge = (constraint.compile(one.vocabulary, **tokenization) for one in (tokenizer, apart))
    rng = random.Random(f"{options.seed} {case.name}")
    for text in case.texts or [[]]:
        _walk(case, compiled, judge, text, rng, options.deadline, found)


def _walk(
    case: Case,
    compiled: tk.CompiledConstraint[Any],
    judge: tk.CompiledConstraint[Any],
    text: list[int],
    rng: random.Random,
    deadline: float,
    found: _Found,
) -> None:
    least = {"min_tokens": case.least} if case.least else {}
    matcher, whole = compiled.matcher(**least), judge.matcher(**least)
    row, full = compiled.allocate_mask()[0], judge.allocate_mask()[0]
    follows = True
    for place in range(_TOKENS):
        budget = _TOKENS + _MORE - place if case.budget else None
        wall, cpu = time.perf_counter_ns(), time.thread_time_ns()
        try:
            is_whole = matcher.fill_mask(row, budget, deadline_seconds=deadline, on_deadline="some")
        except tk.LimitExceeded as error:
            is_whole = None
            if error.limit != "deadline_seconds":
                raise
        except tk.BudgetError:
            return
        cpu, wall = time.thread_time_ns() - cpu, time.perf_counter_ns() - wall
        found.note(cpu, wall, f"{case.group}, {case.name}, token {place}")
        found.rows += 1
        if is_whole is None:
            found.late += 1
            matcher.fill_mask(row, budget)
        elif not is_whole:
            whole.fill_mask(full, budget)
            besides = [one for one in _tokens(row & ~full) if not whole.fork().advance(one)]
            if besides or not row.any():
                found.fault(case, matcher, f"the row has {besides[:5]} besides")
            row_of_both = row & full
            found.lost.append(math.log(_count(full) / max(1, _count(row_of_both))))
        token = text[place] if follows and place < len(text) else None
        if token is not None and not row[token // 32] >> token % 32 & 1:
            found.missed += is_whole is not True
            token = None
        if token is None or rng.random() < _ASTRAY:
            allowed = _tokens(row)
            stops = set(compiled.vocabulary.stop)
            open_tokens = [one for one in allowed if one not in stops]
            if not open_tokens or (follows and place >= len(text) and len(open_tokens) < len(allowed)):
                break
            token, follows = rng.choice(open_tokens), False
        if not matcher.advance(token) or not whole.advance(token):
            found.fault(case, matcher, f"{token} is refused")
            return
    wall, cpu = time.perf_counter_ns(), time.thread_time_ns()
    try:
        rest = matcher.shortest_completion(deadline_seconds=deadline)
    except tk.LimitExceeded:
        found.late += 1
        rest = matcher.shortest_completion()
    cpu, wall = time.thread_time_ns() - cpu, time.perf_counter_ns() - wall
    if not matcher.advance_all(rest) or not matcher.is_accepting:
        found.fault(case, matcher, f"{rest} completes nothing")
    elif not compiled.constraint.accepts(bytes(matcher.text)):
        found.fault(case, matcher, "the text is not accepted")
    found.texts += 1


def _count(row: Any) -> int:
    return int(np.bitwise_count(row.view(np.uint32)).sum())


def _tokens(row: Any) -> list[int]:
    found: list[int] = np.flatnonzero(np.unpackbits(row.view(np.uint8), bitorder="little")).tolist()
    return found


def _times(group: str, found: _Found) -> dict[str, Any]:
    line: dict[str, Any] = {"": group, "calls": len(found.cpu_us)}
    for name, times in (("cpu", found.cpu_us), ("wall", found.wall_us)):
        for q in (0.5, 0.99, 0.999):
            line[f"{name} p{q * 100:g}"] = float(np.quantile(times, q)) if times else math.nan
        line[f"{name} largest"] = max(times, default=math.nan)
    return line


def _texts(group: str, found: _Found) -> dict[str, Any]:
    rows = max(found.rows, 1)
    return {
        "": group,
        "rows": found.rows,
        "partial, %": 100 * len(found.lost) / rows,
        "late, %": 100 * found.late / rows,
        "lost, median": float(np.median(found.lost)) if found.lost else math.nan,
        "lost, mean of all rows": sum(found.lost) / rows,
        "missed, %": 100 * found.missed / rows,
        "texts": found.texts,
        "wrong": len(found.faults),
        "refused": found.refused,
    }


if __name__ == "__main__":
    sys.exit(main())
