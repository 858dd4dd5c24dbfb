"""Measures tokamata and its peers in one run: compile, first mask, steps, wide states, loading.

    python benchmarks/regex_spine.py                    # all of it, tables to the terminal
    python benchmarks/regex_spine.py --quick            # fewer runs, to see that it works
    python benchmarks/regex_spine.py --json figures.json --plot figures.svg

See README.md beside it for what each figure means.  Nothing is asserted about time.
"""

from __future__ import annotations

import argparse
import gc
import sys
import tempfile
from pathlib import Path

import alone
import environment
import tables
from cases import LIKE_FOR_LIKE, PAPER, WIDE, Case
from engines import PEERS, Engine, start_engines
from figures import EngineFigures, Figures, reduce
from gemma import find_gemma
from running import add_output_options, draw, publish, say, use_one_thread
from timing import clock_cost_ns, summarize
from tokenizer import NoTokenizerError, Tokenizer
from trials import Budget, run_case


def main() -> int:
    """The program; returns its exit status: 1 where an engine did not accept what matches."""
    options = _options()
    use_one_thread()
    with tempfile.TemporaryDirectory(prefix="tokamata-benchmark-") as work:
        try:
            tokenizer = find_gemma(options.tokenizer, Path(work))
        except NoTokenizerError as error:
            print(error, file=sys.stderr)
            return 2
        figures = _measure(tokenizer, options)
    publish(tables.all_tables(figures), figures.facts, figures.as_json(), options)
    draw("plot", "draw", figures, options.plot)
    return _status(figures)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add = parser.add_argument
    peers = ", ".join(kind.name for kind in PEERS)
    add("--quick", action="store_true", help="few runs, to see that it works")
    add("--runs", type=int, metavar="N", help="trials of each engine and pattern (default 30, quick 5)")
    add(
        "--budget",
        type=float,
        metavar="S",
        help="seconds for an engine and a pattern (default 600, quick 10)",
    )
    add("--walking", type=float, metavar="S", help="of which for walking texts (default 30, quick 5)")
    add("--peers", metavar="NAMES", help=f"which, with commas; all that are installed by default: {peers}")
    add("--tokenizer", type=Path, metavar="FILE", help="a tokenizer.json (.gz) or GGUF file of Gemma 3")
    add_output_options(parser)
    add("--plot", type=Path, metavar="FILE", help="draw the main figures (.svg, .png)")
    options = parser.parse_args()
    options.runs = options.runs or (5 if options.quick else 30)
    seconds = options.budget or (10.0 if options.quick else 600.0)
    options.budget = Budget(seconds, options.walking or (5.0 if options.quick else 30.0))
    if options.runs < 3:
        parser.error("--runs must be at least 3")
    return options


def _measure(tokenizer: Tokenizer, options: argparse.Namespace) -> Figures:
    facts = environment.describe()
    facts["vocabulary"] = f"{tokenizer.vocabulary!r}, from {tokenizer.origin}"
    facts["runs"] = f"{options.runs} per engine and pattern, engines in turns, after one that warms up"
    figures = Figures(facts, clock_cost_ns(), tokenizer.json_text is not None)
    peers = None if options.peers is None else [name.strip() for name in options.peers.split(",")]
    tokenizer.vocabulary.core  # noqa: B018  # made here, so that no trial pays for it
    engines = start_engines(tokenizer, peers, say)
    tokenizer.encode("a")
    gc.collect()
    gc.freeze()  # what is loaded now stays, and need not be looked at again
    figures.paper = _cases(PAPER + LIKE_FOR_LIKE, engines, tokenizer, options, figures)
    figures.wide = _cases(WIDE, engines, tokenizer, options, figures)
    _measure_alone(tokenizer, options, figures)
    say("")
    return figures


def _cases(
    cases: tuple[Case, ...],
    engines: list[Engine],
    tokenizer: Tokenizer,
    options: argparse.Namespace,
    figures: Figures,
) -> dict[str, dict[str, EngineFigures]]:
    found = {}
    for case in cases:
        results, differences = run_case(case, engines, tokenizer, options.runs, options.budget, say)
        found[case.name] = {name: reduce(result, figures.clock_ns) for name, result in results.items()}
        figures.differences += differences
    return found


def _measure_alone(tokenizer: Tokenizer, options: argparse.Namespace, figures: Figures) -> None:
    for vocabulary in (alone.narrow_vocabulary(tokenizer), tokenizer.vocabulary):
        say(f"masks of states seen before, {vocabulary.width:,} tokens")
        figures.seen[vocabulary.width] = alone.seen_masks(vocabulary, 4 * options.runs)
    for case in PAPER:
        say(f"steps in states seen before: {case.name}")
        figures.steps[case.name] = alone.seen_steps(case, tokenizer, 4 * options.runs)
    say("large bounds")
    results, walk = alone.bounds(tokenizer, options.runs)
    figures.bounds = {pattern: reduce(result, figures.clock_ns) for pattern, result in results.items()}
    figures.bound_fill = summarize(walk.fill, figures.clock_ns)
    figures.bound_step = summarize(walk.step, 2 * figures.clock_ns)
    figures.loading = alone.loading(tokenizer, min(options.runs, 20), say)
    say("importing, in fresh processes")
    figures.importing = alone.importing(min(options.runs, 20))


def _status(figures: Figures) -> int:
    return int(any(one.wrong for by_engine in figures.paper.values() for one in by_engine.values()))


if __name__ == "__main__":
    sys.exit(main())
