"""Grammars of JSON, C and Java over Llama 3.1: first mask, masks and tokens, beside the peers.

python -m benchmarks.grammars --engines 'tokamata;llguidance'

The grammars are those of tests/data/grammars/syncode, under lark's dynamic lexer.  Peers read lazy comments
greedily, so theirs are written without a lazy quantifier.  Each grammar has a text of a kilobyte here, over
which what is made once weighs most; --texts adds others.
"""

from __future__ import annotations

import sys
from argparse import Namespace
from pathlib import Path
from typing import Any

from benchmarks.common import environment
from benchmarks.common.engines import CANONICAL, TOKAMATA
from benchmarks.common.program import parser_for, run
from benchmarks.common.replaying import Case, EngineRun, run_engines
from benchmarks.common.report import RANKS, Report, Target, ranks
from benchmarks.common.tokenizers import Tokenizer, load_known

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
    parser.add_argument(
        "--engines", default=f"{TOKAMATA};{CANONICAL};llguidance;glrmask;xgrammar", metavar="NAMES"
    )
    parser.add_argument("--prepare", type=float, metavar="S")
    parser.add_argument("--texts", type=Path, metavar="FOLDER", help="more texts, in folders by grammar")
    parser.set_defaults(timeout=30.0, replay_timeout=300.0, memory=16.0)
    return run(measure, parser.parse_args())


def measure(options: Namespace, work: Path) -> Report:
    """All grammars in all engines."""
    tokenizer = load_known("llama-3.1", options.tokenizers, work)
    report = Report(environment.describe())
    runs = run_engines(
        options.engines.split(";"),
        [_case(name, tokenizer, options.texts) for name in _TARGETS],
        "llama-3.1",
        tokenizer,
        options,
    )
    rows: list[dict[str, Any]] = []
    report.is_wrong |= not all(runs[TOKAMATA].accepts(number) for number in range(len(_TARGETS)))
    for number, (name, targets) in enumerate(_TARGETS.items()):
        rows += [_row(name, number, engine, found) for engine, found in runs.items()]
        for engine in [one for one in _OURS if one in runs] if "llguidance" in runs else ():
            for rank, target in zip(("p50", "p99"), targets, strict=True):
                mine, theirs = (
                    ranks(runs[one].samples("fill", [number]), [rank])[rank] for one in (engine, "llguidance")
                )
                what = f"{name}: mask {rank} of {engine}, relative to llguidance"
                report.targets.append(Target(what, mine / theirs, _OURS[engine] * target, "times"))
    report.add("Grammars over Llama 3.1, µs", rows, _NOTES)
    return report


def _case(name: str, tokenizer: Tokenizer, folder: Path | None) -> Case:
    grammar = (GRAMMARS / f"{name}.lark").read_text(encoding="utf-8")
    greedy = grammar.replace(_LAZY[0], _GREEDY).replace(_LAZY[1], _GREEDY)
    files = [Path(__file__).parent / "texts" / f"{name}.txt"]
    if folder is not None:
        files += sorted((folder / name).glob("*"))
    written = [file.read_text(encoding="utf-8").rstrip() for file in files]
    texts = {
        TOKAMATA: [tokenizer.encode(text) for text in written],
        CANONICAL: [tokenizer.encode_as_model(text) for text in written],
    }
    return Case(
        name,
        "grammar",
        lambda engine: grammar if engine in _OURS else greedy,
        lambda engine: texts.get(engine, texts[TOKAMATA]),
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
        "accepts": found.accepts(number),
    }


if __name__ == "__main__":
    sys.exit(main())
