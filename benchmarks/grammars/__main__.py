"""Grammars of JSON, C and Java over Llama 3.1: first mask, masks and tokens, beside the peers.

python -m benchmarks.grammars
python -m benchmarks.grammars --engines 'tokamata;llguidance'

The grammars are those of tests/data/grammars/syncode, under lark's dynamic lexer.  Peers read lazy comments
greedily, so theirs are written without a lazy quantifier.
"""

from __future__ import annotations

import sys
from argparse import Namespace
from pathlib import Path
from typing import Any

from benchmarks.common import environment
from benchmarks.common.engines import TOKAMATA
from benchmarks.common.program import parser_for, run
from benchmarks.common.replaying import Case, EngineRun, run_engines
from benchmarks.common.report import Report, Target, ranks
from benchmarks.common.tokenizers import load_known

GRAMMARS = Path(__file__).parents[2] / "tests" / "data" / "grammars" / "syncode"
TEXTS = Path(__file__).parent / "texts"
NAMES = ("json", "c", "java")
_ENGINES = f"{TOKAMATA};llguidance;glrmask;xgrammar"
_RANKS = ("p50", "p90", "p99", "largest")
_COMMENT = r"/\/\*([^*]|\*+[^*\/])*\*+\//"
_LAZY = (r"/\/\*(.|\n)*?\*\//", r"/\/\*[\s\S]*?\*\//")
# The most that ours may take of what llguidance does.
_TARGETS = {
    "json": {"p50": 0.1, "p99": 0.1},
    "c": {"p50": 0.01, "p99": 0.03},
    "java": {"p50": 0.01, "p99": 0.03},
}


def main() -> int:
    """The program; its exit status is 1 if tokamata refuses a text."""
    parser = parser_for(__doc__ or "")
    add = parser.add_argument
    add("--engines", default=_ENGINES, metavar="NAMES", help=f"with semicolons (default {_ENGINES})")
    add("--timeout", type=float, default=30.0, metavar="S", help="seconds for a grammar (30)")
    add("--replay-timeout", type=float, default=300.0, metavar="S", help="seconds for its text (300)")
    add("--memory", type=float, default=16.0, metavar="GB", help="of an engine (16)")
    add("--prepare", type=float, metavar="S", help="compiled.prepare(seconds=S) after the first mask")
    options = parser.parse_args()
    options.engines = [name.strip() for name in options.engines.split(";")]
    return run(measure, options)


def measure(options: Namespace, work: Path) -> Report:
    """All grammars in all engines."""
    tokenizer = load_known("llama-3.1", options.tokenizers, work)
    report = Report(environment.describe())
    report.facts["vocabulary"] = f"{tokenizer.vocabulary!r}, from {tokenizer.origin}"
    cases = [_case(name, tokenizer) for name in NAMES]
    runs = run_engines(options.engines, cases, "llama-3.1", tokenizer, options)
    rows = [
        _row(name, number, engine, found)
        for number, name in enumerate(NAMES)
        for engine, found in runs.items()
    ]
    report.add("Grammars over Llama 3.1, µs", rows, _notes(cases, runs))
    ours = runs[TOKAMATA]
    report.is_wrong |= not all(ours.accepts(number) for number in range(len(NAMES)))
    if "llguidance" in runs:
        for number, name in enumerate(NAMES):
            for rank, target in _TARGETS[name].items():
                mine, theirs = (_fills(runs[one], number, [rank])[rank] for one in (TOKAMATA, "llguidance"))
                what = f"{name}: mask {rank}, relative to llguidance"
                report.targets.append(Target(what, mine / theirs, target, "times"))
    return report


def _case(name: str, tokenizer: Any) -> Case:
    grammar = (GRAMMARS / f"{name}.lark").read_text(encoding="utf-8")
    greedy = grammar
    for lazy in _LAZY:
        greedy = greedy.replace(lazy, _COMMENT)
    tokens = tokenizer.encode((TEXTS / f"{name}.txt").read_text(encoding="utf-8").rstrip())
    return Case(
        name, "grammar", lambda engine: grammar if engine == TOKAMATA else greedy, lambda engine: [tokens]
    )


def _fills(found: EngineRun, number: int, names: Any) -> dict[str, float]:
    replayed = found.replayed[number]
    return ranks(replayed.fill if replayed else [], names, found.clock_ns)


def _row(name: str, number: int, engine: str, found: EngineRun) -> dict[str, Any]:
    compiled, replayed = found.compiled[number], found.replayed[number]
    again = compiled and (
        compiled.again if compiled.again is not None else compiled.compiling + compiled.mask
    )
    return {
        "grammar": name,
        "engine": engine,
        "first mask, ms": compiled and (compiled.compiling + compiled.mask) / 1e6,
        "again, ms": again and again / 1e6,
        **{f"mask {rank}": value for rank, value in _fills(found, number, _RANKS).items()},
        **{
            f"advance {rank}": value
            for rank, value in ranks(
                replayed.advance if replayed else [], ("p50", "p99"), found.clock_ns
            ).items()
        },
        "peak MB": replayed and replayed.peak_mb,
        "accepts": found.accepts(number),
    }


def _notes(cases: list[Case], runs: dict[str, EngineRun]) -> list[str]:
    notes = [
        "first mask: from the grammar's text, lark's loading included; again: once more, where ours has "
        "kept the grammar that lark loaded. Masks are those after each token of the text, all new.",
        "; ".join(f"{case.name}: {len(case.texts('')[0]):,} tokens" for case in cases),
    ]
    for engine, found in runs.items():
        for number, case in enumerate(cases):
            compiled, replayed = found.compiled[number], found.replayed[number]
            said = (
                found.failures.get(number)
                or (compiled and compiled.refused)
                or (replayed and replayed.problem)
            )
            if said:
                notes.append(f"{engine}, {case.name}: {said:.200}")
    return notes


if __name__ == "__main__":
    sys.exit(main())
