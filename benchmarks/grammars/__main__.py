"""Grammars of JSON, C and Java over Llama 3.1: first mask, masks and tokens, beside the peers.

python -m benchmarks.grammars --engines 'tokamata;llguidance'

The grammars are those of tests/data/grammars/syncode, under lark's dynamic lexer.  Peers read lazy comments
greedily, so theirs are written without a lazy quantifier.  Each grammar is compiled for a text of a kilobyte,
over which what is made once weighs most; and for the files of :mod:`.files`, one after another.  These are
what the targets are about.
"""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import tokamata as tk
from benchmarks.common import environment
from benchmarks.common.engines import CANONICAL, ENGINES, TOKAMATA
from benchmarks.common.program import add_engines, parser_for, run
from benchmarks.common.replaying import Case, EngineRun, run_engines
from benchmarks.common.report import RANKS, Report, Target, ranks
from benchmarks.common.tokenizers import Tokenizer, load_known
from benchmarks.grammars.files import texts

GRAMMARS = Path(__file__).parents[2] / "tests" / "data" / "grammars" / "syncode"
_LAZY = (r"/\/\*(.|\n)*?\*\//", r"/\/\*[\s\S]*?\*\//")
_GREEDY = r"/\/\*([^*]|\*+[^*\/])*\*+\//"
# By grammar, the most that p50 and p99 of ours may be of llguidance's; and how many times that if canonical.
_TARGETS = {"json": (0.1, 0.1), "c": (0.01, 0.03), "java": (0.01, 0.03)}
_OURS = {TOKAMATA: 1, CANONICAL: 10}
_NOTES = (
    "first mask: from the grammar's text, lark's loading included; again: once more, where ours has kept the "
    "grammar that lark loaded and both took less than 50 ms. Masks are those after each token of a text.",
)


def main() -> int:
    """The program; its exit status is 1 if tokamata refuses a text."""
    parser = parser_for(__doc__ or "")
    add_engines(parser, ENGINES, f"{TOKAMATA};{CANONICAL};llguidance;glrmask")
    parser.add_argument("--prepare", type=float, metavar="S")
    parser.set_defaults(timeout=30.0, replay_timeout=900.0, memory=16.0)
    return run(measure, parser.parse_args())


def measure(options: Namespace, work: Path) -> Report:
    """All grammars in all engines."""
    tokenizer = load_known("llama-3.1", options.tokenizers, work)
    report = Report(environment.describe())
    names = list(_TARGETS)
    short = [
        [(Path(__file__).parent / "texts" / f"{name}.txt").read_text(encoding="utf-8")] for name in names
    ]
    long = [_readable(name, texts(name, options.schemas, options.seed)) for name in names]
    if options.quick:
        long = [written[:3] for written in long]
    cases = [_case(name, tokenizer, texts) for name, texts in zip(names * 2, short + long, strict=True)]
    runs = run_engines(options.engines, cases, "llama-3.1", tokenizer, options)
    report.is_wrong |= not all(runs[TOKAMATA].accepts(number) for number in range(len(cases)))
    for title, numbers in (("a text of a kilobyte", range(3)), ("files", range(3, 6))):
        rows = [_row(cases[at].name, at, engine, run) for at in numbers for engine, run in runs.items()]
        report.add(f"Grammars over Llama 3.1, {title}, µs", rows, _NOTES)
    if "llguidance" in runs:
        for number, (name, targets) in enumerate(_TARGETS.items(), len(names)):
            _add_targets(report, runs, name, number, targets)
    return report


def _add_targets(
    report: Report, runs: Mapping[str, EngineRun], name: str, number: int, targets: tuple[float, float]
) -> None:
    for engine in [one for one in _OURS if one in runs]:
        for rank, target in zip(("p50", "p99"), targets, strict=True):
            mine, theirs = (
                ranks(runs[one].samples("fill", [number]), [rank])[rank] for one in (engine, "llguidance")
            )
            what = f"{name}: mask {rank} of {engine}, relative to llguidance"
            report.targets.append(Target(what, mine / theirs, _OURS[engine] * target, "times"))


def _readable(name: str, written: list[str]) -> list[str]:
    """The texts that the grammar has."""
    bytes_alone = tk.Vocabulary.load([bytes([byte]) for byte in range(256)], stop=[])
    compiled = tk.grammar(GRAMMARS / f"{name}.lark").compile(bytes_alone)

    def is_text(text: str) -> bool:
        matcher = compiled.matcher()
        return matcher.advance_all(list(text.encode())) and matcher.is_accepting

    return [text for text in written if is_text(text)]


def _case(name: str, tokenizer: Tokenizer, written: list[str]) -> Case:
    grammar = (GRAMMARS / f"{name}.lark").read_text(encoding="utf-8")
    greedy = grammar.replace(_LAZY[0], _GREEDY).replace(_LAZY[1], _GREEDY)
    tokens = {
        TOKAMATA: [tokenizer.encode(text.rstrip()) for text in written],
        CANONICAL: [tokenizer.encode_as_model(text.rstrip()) for text in written],
    }
    return Case(
        name,
        "grammar",
        lambda engine: grammar if engine in _OURS else greedy,
        lambda engine: tokens.get(engine, tokens[TOKAMATA]),
    )


def _row(name: str, number: int, engine: str, found: EngineRun) -> dict[str, Any]:
    replayed = found.replayed[number]
    return {
        "grammar": name,
        "engine": engine,
        "first mask": ranks(found.samples("TTFM", [number]), ["largest"])["largest"],
        "again": ranks(found.samples("again", [number]), ["largest"])["largest"],
        **{f"mask {rank}": us for rank, us in ranks(found.samples("fill", [number]), RANKS).items()},
        **{
            f"advance {rank}": us
            for rank, us in ranks(found.samples("commit", [number]), ["p50", "p99"]).items()
        },
        "peak MB": replayed and replayed.peak_mb,
        "masks": replayed and len(replayed.fill),
        "accepts": found.accepts(number),
    }


if __name__ == "__main__":
    sys.exit(main())
