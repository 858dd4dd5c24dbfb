"""Random regexes of the kind found in schemas: time to first mask and between masks, beside the peers.

python -m benchmarks.schema_regexes                              # 500 regexes, Gemma 3 and Llama 3.1
python -m benchmarks.schema_regexes --count 40 --seed 2          # fewer, others
"""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.common import environment
from benchmarks.common.engines import ECMA, ENGINES
from benchmarks.common.program import add_engines, parser_for, run, say
from benchmarks.common.replaying import Case, EngineRun, common, run_engines
from benchmarks.common.report import Report, Target, ranks
from benchmarks.common.tokenizers import Tokenizer, load_known
from benchmarks.schema_regexes.patterns import SchemaPattern, collect, sample
from benchmarks.schema_regexes.texts import Reference, references

_ENGINES = f"{ECMA};llguidance;xgrammar"
_RANKS = ("p50", "p90", "p99", "p99.9", "largest")
_TARGETS_US = (("TBM", "p50", 1.0), ("TBM", "p99", 15.0), ("TBM", "p99.9", 200.0), ("TTFM", "p50", 150.0))
_TBM_P99_OF_LLGUIDANCE = 0.03
_NOTES = (
    "TTFM: pattern text to first mask, each regex seen for the first time. TBM: from a token to the mask "
    "after it; fill is the mask alone. TTFM again: once more right after.",
    "'all it took': the regexes that this engine took with their texts. 'all took': those that every engine "
    "did, which are the ones to compare engines by.",
)


def main() -> int:
    """The program; its exit status is 1 if tokamata refuses a text."""
    parser = parser_for(__doc__)
    add = parser.add_argument
    add_engines(parser, ENGINES, _ENGINES)
    add("--vocabularies", default="gemma-3,llama-3.1", metavar="NAMES", help="with commas")
    add("--timeout", type=float, default=10.0, metavar="S", help="seconds for a regex (10)")
    add("--memory", type=float, default=12.0, metavar="GB", help="of an engine (12)")
    options = parser.parse_args()
    options.replay_timeout, options.prepare = options.timeout, None
    return run(measure, options)


def measure(options: Namespace, work: Path) -> Report:
    """All regexes in all engines, with each vocabulary."""
    found = collect(options.schemas)
    chosen = sample(found, options.count or (40 if options.quick else 500), options.seed)
    report = Report(environment.describe())
    facts = report.facts
    facts["regexes"] = f"{len(chosen)} of {len(found):,} in {options.schemas.name}, seed {options.seed}"
    facts["limits"] = f"{options.timeout:g} s for a regex, {options.memory:g} GB for an engine"
    for name in options.vocabularies.split(","):
        tokenizer = load_known(name.strip(), options.tokenizers, work)
        facts[f"vocabulary, {tokenizer.title}"] = f"{tokenizer.vocabulary!r}, from {tokenizer.origin}"
        _measure(name.strip(), tokenizer, chosen, options, report)
    return report


def _measure(
    name: str, tokenizer: Tokenizer, chosen: list[SchemaPattern], options: Namespace, report: Report
) -> None:
    say(f"{tokenizer.title}: making texts for {len(chosen)} regexes")
    made = references(chosen, tokenizer, options.seed)
    runs = run_engines(options.engines, [_case(one, tokenizer) for one in made], name, tokenizer, options)
    took = {engine: [n for n in range(len(made)) if found.accepts(n)] for engine, found in runs.items()}
    all_took = common(runs, EngineRun.accepts)
    title = f"{len(made)} regexes of schemas, {tokenizer.title} ({tokenizer.vocabulary.width:,} tokens), µs"
    rows: list[dict[str, Any]] = []
    for over, among in (
        ("all it took", took),
        (f"{len(all_took)} that all took", dict.fromkeys(runs, all_took)),
    ):
        for what in ("TTFM", "again", "TBM", "fill"):
            for engine, found in runs.items():
                samples = found.samples(what, among[engine])
                rows.append(
                    {
                        "over": over,
                        "figure": what,
                        "engine": engine,
                        **ranks(samples, _RANKS),
                        "samples": len(samples),
                    }
                )
    report.add(title, rows, _NOTES)
    report.add(
        f"{tokenizer.title}: what became of the regexes",
        list(_outcomes(runs, made)),
        list(_notes(runs, made)),
    )
    ours = runs[ECMA]
    report.is_wrong |= any(one is not None and not all(one.accepted) for one in ours.replayed)
    for what, rank, target in _TARGETS_US:
        value = ranks(ours.samples(what, took[ECMA]), [rank])[rank]
        report.targets.append(Target(f"{tokenizer.title}: {what} {rank}", value, target, "µs"))
    if "llguidance" in runs:
        p99 = {
            engine: ranks(runs[engine].samples("TBM", all_took), ["p99"])["p99"]
            for engine in (ECMA, "llguidance")
        }
        what = f"{tokenizer.title}: TBM p99, relative to llguidance"
        report.targets.append(Target(what, p99[ECMA] / p99["llguidance"], _TBM_P99_OF_LLGUIDANCE, "times"))


def _case(reference: Reference, tokenizer: Tokenizer) -> Case:
    texts = [tokenizer.encode_as_model(text) for text in reference.texts]
    return Case(reference.pattern, "regex", reference.pattern_for, lambda engine: texts)


def _outcomes(runs: dict[str, EngineRun], made: list[Reference]) -> Iterator[dict[str, Any]]:
    for engine, found in runs.items():
        pairs = [
            (mine.first_mask, theirs.first_mask)
            for mine, theirs in zip(runs[ECMA].compiled, found.compiled, strict=True)
            if mine and theirs and mine.first_mask and theirs.first_mask
        ]
        yield {
            "engine": engine,
            "took": sum(found.accepts(number) for number in range(len(made))),
            "refused": sum(one is not None and one.refused is not None for one in found.compiled),
            "refused a text": sum(one is not None and not all(one.accepted) for one in found.replayed),
            "out of time, or died": len(found.failures),
            "of": len(made),
            "same first mask": sum(mine == theirs for mine, theirs in pairs),
            "of both": len(pairs),
        }


def _notes(runs: dict[str, EngineRun], made: list[Reference]) -> Iterator[str]:
    texts, generated = sum(len(one.texts) for one in made), sum(one.is_generated for one in made)
    yield (
        f"{texts:,} texts: strings of valid instances in which Python's re finds the pattern, at most 3 for "
        f"each regex; for {generated} regexes without any, one that tokamata made."
    )
    yield r"Engines read \d, \w and \s differently, which shows in first masks."
    for engine, found in runs.items():
        refused = [
            f"{reference.pattern:.80}: {said:.100}"
            for number, reference in enumerate(made)
            if (said := found.failures.get(number) or ((one := found.compiled[number]) and one.refused))
        ]
        if refused:
            yield f"{engine}: {len(refused)} refused or failed, the first: " + "; ".join(refused[:3])
    slow = sorted(
        ((one.compiling + one.mask, n) for n, one in enumerate(runs[ECMA].compiled) if one), reverse=True
    )
    yield "slowest of tokamata: " + "; ".join(
        f"{made[n].pattern:.80} {time / 1e3:,.0f} µs" for time, n in slow[:3]
    )


if __name__ == "__main__":
    sys.exit(main())
