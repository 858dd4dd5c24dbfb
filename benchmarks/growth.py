"""How tokamata's costs grow: with the vocabulary, the pattern, the bound of a repetition, the batch.

    python benchmarks/growth.py --plot growth.svg
    python benchmarks/growth.py --quick                     # fewer runs, to see that it works

See README.md beside it for what each figure means.  Nothing is asserted about time.
"""

from __future__ import annotations

import argparse
import gc
import os
import sys
import tempfile
from pathlib import Path

import environment
from cases import PAPER, Case
from growth_cases import BOUNDS, PATTERN_SIZES, Family
from growth_figures import GrowthFigures
from growth_measure import batch, by_vocabulary, family
from running import Progress, add_output_options, draw, publish, say, use_one_thread
from timing import clock_cost_ns
from tokenizer import KNOWN, NoTokenizerError, Tokenizer, add_folder_option, load_known

BATCHES = (1, 4, 16, 64, 256, 1024)
WIDE = (Case(r"(.|\n)*", r"(.|\n)*"), Case(r"\w+( \w+)*", r"\w+( \w+)*\.", ("The quick brown fox.",)))


def main() -> int:
    """The program; returns its exit status: 2 without tokenizers."""
    options = _options()
    use_one_thread()
    with tempfile.TemporaryDirectory(prefix="tokamata-benchmark-") as work:
        try:
            tokenizers = [load_known(name, options.tokenizers, Path(work)) for name in _names(options)]
            figures = _measure(tokenizers, options)
        except NoTokenizerError as error:
            print(error, file=sys.stderr)
            return 2
    publish(figures.tables(), figures.facts, figures.as_json(), options)
    draw("growth_plot", "draw", figures, options.plot)
    draw("growth_plot", "draw_summary", figures, options.summary_plot)
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add = parser.add_argument
    add("--quick", action="store_true", help="few runs and sizes, to see that it works")
    add("--runs", type=int, metavar="N", help="of each point (default 20, quick 3)")
    add("--budget", type=float, default=20.0, metavar="S", help="seconds for a point, after three runs (20)")
    add("--vocabularies", metavar="NAMES", help=f"which, with commas (default {','.join(KNOWN)})")
    add("--vocabulary", default="gemma-3", metavar="NAME", help="for all but the first part (gemma-3)")
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    add("--threads", type=int, default=cores, metavar="N", help=f"most for batches (default {cores})")
    add_folder_option(parser)
    add_output_options(parser)
    add("--plot", type=Path, metavar="FILE", help="draw all plots (.svg, .png)")
    add("--summary-plot", type=Path, metavar="FILE", help="draw the four for the README")
    options = parser.parse_args()
    options.runs = options.runs or (3 if options.quick else 20)
    if options.runs < 1 or options.threads < 1:
        parser.error("--runs and --threads must be at least 1")
    return options


def _names(options: argparse.Namespace) -> list[str]:
    """The vocabularies, the one for all other parts among them."""
    names = (
        [name.strip() for name in options.vocabularies.split(",")] if options.vocabularies else list(KNOWN)
    )
    return names if options.vocabulary in names else [*names, options.vocabulary]


def _measure(tokenizers: list[Tokenizer], options: argparse.Namespace) -> GrowthFigures:
    facts = environment.describe("one thread is used, but for batches")
    for tokenizer in tokenizers:
        tokenizer.vocabulary.core  # noqa: B018  # made here, so that no point pays for it
        facts[f"vocabulary, {tokenizer.title}"] = f"{tokenizer.vocabulary!r}, from {tokenizer.origin}"
    facts["runs"] = f"{options.runs} for each point, after one that warms up"
    tokenizers = sorted(tokenizers, key=lambda tokenizer: tokenizer.vocabulary.width)
    title = KNOWN[options.vocabulary].title
    main_one = next(tokenizer for tokenizer in tokenizers if tokenizer.title == title)
    figures = GrowthFigures(facts, title)
    patterns, bounds = _families(PATTERN_SIZES, options), _families(BOUNDS, options)
    cases, sizes = (*PAPER, *WIDE), BATCHES[:4] if options.quick else BATCHES
    threads = sorted({1 << i for i in range(options.threads.bit_length())} | {options.threads})
    total = len(cases) * len(tokenizers) + sum(len(one.sizes) for one in patterns + bounds) + len(sizes)
    clock_ns = clock_cost_ns()
    gc.collect()
    gc.freeze()  # what is loaded now stays, and need not be looked at again
    with Progress("growth", total) as progress:
        figures.vocabulary = [
            by_vocabulary(case, tokenizers, options.runs, clock_ns, progress.step) for case in cases
        ]
        for families, series in ((patterns, figures.pattern), (bounds, figures.bound)):
            for one in families:
                series.append(family(one, main_one, options.runs, options.budget, clock_ns, progress.step))
        for size in sizes:
            figures.batches += batch(
                size,
                [count for count in threads if count <= options.threads],
                main_one,
                options.runs,
                clock_ns,
            )
            progress.step(f"{size} matchers")
    say("")
    return figures


def _families(families: tuple[Family, ...], options: argparse.Namespace) -> list[Family]:
    """All, or in a quick run with every second size."""
    if not options.quick:
        return list(families)
    return [Family(one.name, one.prepare, one.text, one.sizes[::2]) for one in families]


if __name__ == "__main__":
    sys.exit(main())
