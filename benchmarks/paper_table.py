"""Table 2 of paper 002 (Koo, Liu & He), tokamata, its peers, and outlines 0.0.34.

    python benchmarks/paper_table.py --make-environments    # the first time: outlines needs one of its own
    python benchmarks/paper_table.py --quick                # fewer runs, to see that it works

See README.md beside it for what each figure means.  Nothing is asserted about time.
"""

from __future__ import annotations

import argparse
import gc
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import alone
import environment
import numpy as np
from agreement import Bits, bits_of
from cases import PAPER, TABLE_2, Case
from child import ChildError
from engines import PEERS, Engine, start_engines
from figures import reduce
from outlines_baseline import (
    ENVIRONMENT,
    TRIVIAL,
    NoEnvironmentError,
    Outlines,
    OutlinesFigures,
    make_environment,
)
from paper_figures import PaperFigures, Row, VocabularyFigures
from running import Progress, add_output_options, publish, say, use_one_thread
from schema_engines import with_schemas
from timing import Summary, clock, clock_cost_ns, quiet, summarize
from tokenizer import NoTokenizerError, Tokenizer, add_folder_option, load_known
from trials import Budget, run_case

import tokamata as tk

VOCABULARIES = ("gemma-3", "llama-3.1")
# tokamata alone, on the regex that the others get, beside the extension.
BY_THE_REGEX = replace(PAPER[3], name="quoted text, the regex")
_STEP_CALLS = 500


def main() -> int:
    """The program; returns its exit status: 1 where tokamata refused what matches, 2 where it cannot run."""
    options = _options()
    use_one_thread()
    try:
        if options.make_environments:
            make_environment(options.outlines_environment, options.outlines_python, say)
        figures = _measure(options)
    except (NoTokenizerError, NoEnvironmentError, ChildError, subprocess.CalledProcessError) as error:
        print(error, file=sys.stderr)
        return 2
    publish(figures.tables(), figures.facts, figures.as_json(), options)
    rows = [row for vocabulary in figures.vocabularies for row in vocabulary.rows.values()]
    return int(any(row.engines["tokamata"].wrong for row in rows))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add = parser.add_argument
    peers = ", ".join(kind.name for kind in PEERS)
    add("--quick", action="store_true", help="few runs, to see that it works")
    add("--runs", type=int, metavar="N", help="trials of each engine and pattern (default 30, quick 5)")
    add("--outlines-runs", type=int, metavar="N", help="of outlines 0.0.34 (default 10, quick 2)")
    add("--budget", type=float, default=60.0, metavar="S", help="seconds for a peer and a pattern (60)")
    add("--peers", metavar="NAMES", help=f"which, with commas; all that are installed by default: {peers}")
    add(
        "--vocabularies",
        metavar="NAMES",
        default=",".join(VOCABULARIES),
        help=f"which, with commas (default {','.join(VOCABULARIES)})",
    )
    add_folder_option(parser)
    add("--make-environments", action="store_true", help="make the environment of outlines 0.0.34 first")
    add(
        "--outlines-environment",
        type=Path,
        default=ENVIRONMENT,
        metavar="FOLDER",
        help="where it is (default: build/environments/outlines-0.0.34)",
    )
    add(
        "--outlines-python",
        default=sys.executable,
        metavar="FILE",
        help="the Python to make it with, 3.10 to 3.12 (default: this one)",
    )
    add("--without-outlines", action="store_true", help="leave outlines 0.0.34 out")
    add_output_options(parser)
    options = parser.parse_args()
    options.runs = options.runs or (5 if options.quick else 30)
    options.outlines_runs = options.outlines_runs or (2 if options.quick else 10)
    if options.runs < 3 or options.outlines_runs < 1:
        parser.error("--runs must be at least 3, --outlines-runs at least 1")
    return options


def _measure(options: argparse.Namespace) -> PaperFigures:
    facts = environment.describe()
    facts["runs"] = (
        f"{options.runs} per engine and pattern, engines in turns, after one that warms up; "
        f"{options.outlines_runs} of outlines 0.0.34"
    )
    figures = PaperFigures(facts)
    clock_ns = clock_cost_ns()
    with tempfile.TemporaryDirectory(prefix="tokamata-benchmark-") as work:
        for name in options.vocabularies.split(","):
            tokenizer = load_known(name.strip(), options.tokenizers, Path(work))
            facts[f"vocabulary, {tokenizer.title}"] = f"{tokenizer.vocabulary!r}, from {tokenizer.origin}"
            figures.vocabularies.append(_vocabulary(tokenizer, options, clock_ns, facts))
            gc.unfreeze()
    say("")
    return figures


def _vocabulary(
    tokenizer: Tokenizer, options: argparse.Namespace, clock_ns: float, facts: dict[str, str]
) -> VocabularyFigures:
    """Everything with one vocabulary, constraint by constraint."""
    found = VocabularyFigures(tokenizer.title, tokenizer.vocabulary.width)
    outlines = None
    if not options.without_outlines:
        outlines = Outlines(options.outlines_environment, tokenizer, say)
        facts["outlines 0.0.34"] = outlines.versions
    try:
        peers = None if options.peers is None else [name.strip() for name in options.peers.split(",")]
        tokenizer.vocabulary.core  # noqa: B018  # made here, so that no trial pays for it
        engines = start_engines(tokenizer, peers, say)
        tokenizer.encode("a")
        gc.collect()
        gc.freeze()  # what is loaded now stays, and need not be looked at again
        found.trivial = _trivial(engines, tokenizer, options, clock_ns)
        found.copy = alone.seen_masks(tokenizer.vocabulary, 4 * options.runs)[alone.COPY]
        for case in TABLE_2:
            found.rows[case.name] = _row(case, engines, tokenizer, options, clock_ns, found)
        found.rows[BY_THE_REGEX.name] = _row(BY_THE_REGEX, engines[:1], tokenizer, options, clock_ns, found)
        if outlines is not None:
            _outlines(outlines, tokenizer, options, found)
    finally:
        if outlines is not None:
            outlines.close()
    return found


def _trivial(
    engines: Sequence[Engine], tokenizer: Tokenizer, options: argparse.Namespace, clock_ns: float
) -> Summary | None:
    """tokamata's own trivial regex."""
    case = Case("trivial", TRIVIAL, (TRIVIAL,))
    budget = Budget(options.budget, 0.0)
    results, _ = run_case(case, engines[:1], tokenizer, options.runs, budget, say)
    return reduce(results["tokamata"], clock_ns).compile_and_mask


def _row(
    case: Case,
    engines: Sequence[Engine],
    tokenizer: Tokenizer,
    options: argparse.Namespace,
    clock_ns: float,
    found: VocabularyFigures,
) -> Row:
    budget = Budget(options.budget, 0.0)
    if case.is_schema:
        engines = [with_schemas(engine) for engine in engines]
    results, differences = run_case(case, engines, tokenizer, options.runs, budget, say)
    found.differences += differences
    row = Row({name: reduce(result, clock_ns) for name, result in results.items()})
    for engine in engines:
        if not row.engines[engine.name].refused:
            say(f"{case.name}: steps of {engine.name}")
            steps = _start_steps(engine, case, tokenizer, 100 * options.runs, clock_ns)
            if steps is not None:
                row.steps[engine.name] = steps
    compiled = _constraint(case).compile(tokenizer.vocabulary)
    first = int(np.flatnonzero(_start_mask(compiled, tokenizer))[0])
    loops = alone.time_steps(compiled, [[first]], _STEP_CALLS, 4 * options.runs)
    row.ours_row, row.ours_view = loops[alone.FILL_STEP], loops[alone.VIEW_STEP]
    row.fresh = _on_fresh_vocabularies(case, tokenizer, min(options.runs, 10), clock_ns)
    return row


def _constraint(case: Case, pattern: str | None = None) -> tk.Constraint:
    """tokamata's; of another pattern than its own, where one is given."""
    text = case.pattern_for("tokamata") if pattern is None else pattern
    return tk.json_schema(text) if case.is_schema else tk.regex(text)


def _start_mask(compiled: tk.CompiledConstraint, tokenizer: Tokenizer) -> Bits:
    return bits_of(compiled.matcher().mask, tokenizer)


def _start_steps(
    engine: Engine, case: Case, tokenizer: Tokenizer, runs: int, clock_ns: float
) -> Summary | None:
    """Appendix C.3 for an engine: the mask of the start state, and its first token, a call at a time."""
    session = engine.compile(case.pattern_for(engine.name))
    session.fill()
    allowed = np.flatnonzero(bits_of(engine.row, tokenizer))
    if not allowed.size:
        return None
    first, samples = int(allowed[0]), []
    with quiet():
        for _ in range(runs):
            session.restart()
            start = clock()
            session.fill()
            session.advance(first)
            samples.append(clock() - start)
    return summarize(samples, clock_ns)


def _on_fresh_vocabularies(case: Case, tokenizer: Tokenizer, runs: int, clock_ns: float) -> Summary | None:
    """tokamata with vocabularies that have seen the trivial regex alone, as a warm-up (appendix C.2)."""
    samples = []
    for run in range(runs):
        vocabulary = tk.Vocabulary.load(
            list(tokenizer.vocabulary.tokens), tokenizer.vocabulary.stop, tokenizer.vocabulary.width
        )
        tk.regex(TRIVIAL).compile(vocabulary).matcher().mask  # noqa: B018  # the warm-up
        row = np.zeros((vocabulary.width + 31) // 32, dtype=np.int32)
        with quiet():
            start = clock()
            _constraint(case).compile(vocabulary).matcher().fill_mask(row)
            samples.append(clock() - start)
        say(f"fresh vocabularies: round {run + 1} of {runs}")
    return summarize(samples, clock_ns)


def _outlines(
    outlines: Outlines, tokenizer: Tokenizer, options: argparse.Namespace, found: VocabularyFigures
) -> None:
    with Progress(f"{outlines.name}, {tokenizer.title}", len(TABLE_2) * options.outlines_runs) as progress:
        for case in TABLE_2:
            measured = outlines.measure(case, options.outlines_runs, progress.step)
            _take(measured, found.rows[case.name], case, tokenizer)


def _take(measured: OutlinesFigures, row: Row, case: Case, tokenizer: Tokenizer) -> None:
    row.outlines, row.outlines_whole = measured.compile, summarize(measured.compiling)
    row.outlines_trivial = summarize(measured.trivial)
    row.outlines_steps = {
        reading: summary for reading, times in measured.steps.items() if (summary := summarize(times))
    }
    compiled = _constraint(case, case.pattern).compile(tokenizer.vocabulary)
    ours = set(np.flatnonzero(_start_mask(compiled, tokenizer)).tolist())
    theirs = set(measured.allowed) - set(tokenizer.vocabulary.stop)
    row.differing = len(ours - theirs), len(theirs - ours)


if __name__ == "__main__":
    sys.exit(main())
