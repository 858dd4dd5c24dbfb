"""tokamata and its peers with regular expressions: compile, first mask, steps, wide states, loading.

python -m benchmarks.regex_spine                    # all of it, tables to the terminal
python -m benchmarks.regex_spine --quick
"""

from __future__ import annotations

import gc
import subprocess
import sys
from argparse import Namespace
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import tokamata as tk
from benchmarks.common import environment, plots
from benchmarks.common.engines import ENGINES, TOKAMATA, Engine
from benchmarks.common.patterns import PAPER, Case
from benchmarks.common.program import is_installed, parser_for, progress, run
from benchmarks.common.report import RANKS, Report, Target, ranks, shown
from benchmarks.common.timing import clock, clock_cost_ns, quiet
from benchmarks.common.tokenizers import KNOWN, Tokenizer, load_known
from benchmarks.regex_spine.loops import COPY, FILL, FILL_STEP, VIEW, VIEW_STEP, seen_masks, time_steps
from benchmarks.regex_spine.trials import Budget, Result, run_case
from tokamata import _core

_PEERS = "llguidance,xgrammar,outlines-core,glrmask,glrmask-trie"
_NARROW_WIDTH = 128_256  # Llama 3.1's; here the first tokens of Gemma 3
_PASSES = 20  # of a text, in one loop

# Two of the paper's patterns again, with digits that mean the same to every engine; not all read \d alike.
_LIKE_FOR_LIKE = tuple(
    Case(f"{case.name}, [0-9]", case.pattern.replace(r"\d", "[0-9]"), case.texts) for case in PAPER[1:3]
)
# States in which most of a vocabulary is allowed, or a class of many code points.
_WIDE = tuple(Case(pattern, pattern) for pattern in (r"(.|\n)*", r'[^"]*', r"[a-z]*", r"\w*", r".{2,}"))
_SMALL_BOUND, _LARGE_BOUND = r"[a-z]{0,4}", r"[a-z]{0,100000}"

# Targets; times in microseconds.
_FIRST_MASK, _WIDE_FIRST_MASK = 200.0, {r"(.|\n)*": 300.0, r'[^"]*': 300.0}
_FILL_OVER_COPY, _MASK_VIEW, _FILL_STEP, _VIEW_STEP = 0.3, 0.3, 2.2, 0.6
_BOUND_RATIO = 1.25  # within what two runs of the same thing differ by
_LOAD_S, _TRIE_MS, _TRIE_MB, _IMPORT_MS = 1.5, 150.0, 64.0, 150.0

_ALL_RIGHT = (
    "Every engine took every pattern, and accepted every token of every text, and each text at its end."
)

_Results = dict[str, dict[str, Result]]  # by pattern and engine


def main() -> int:
    """The program; its exit status is 1 if an engine did not accept what matches."""
    parser = parser_for(__doc__)
    add = parser.add_argument
    add("--runs", type=int, metavar="N", help="trials of each engine and pattern (default 30, quick 5)")
    add("--budget", type=float, default=600.0, metavar="S", help="seconds for an engine and a pattern (600)")
    add("--walking", type=float, default=30.0, metavar="S", help="of which for walking texts (30)")
    add("--peers", default=_PEERS, metavar="NAMES", help=f"with commas (default {_PEERS})")
    options = parser.parse_args()
    options.runs = options.runs or (5 if options.quick else 30)
    if options.quick:
        options.budget, options.walking = 10.0, 5.0
    return run(measure, options)


def measure(options: Namespace, work: Path) -> Report:
    """Everything, with the vocabulary of Gemma 3."""
    tokenizer = load_known("gemma-3", options.tokenizers, work)
    report = Report(environment.describe())
    report.facts["vocabulary"] = f"{tokenizer.vocabulary!r}, from {tokenizer.origin}"
    report.facts["runs"] = f"{options.runs} per engine and pattern, engines in turns, after one that warms up"
    tokenizer.vocabulary.core  # noqa: B018  # made here, so that no trial pays for it
    tokenizer.encode("a")
    names = [TOKAMATA, *(name.strip() for name in options.peers.split(",") if name.strip())]
    engines = {name: ENGINES[name][1](tokenizer) for name in names if is_installed(name, ENGINES[name][0])}
    gc.collect()
    gc.freeze()  # what is loaded now stays, and need not be examined again
    clock_ns = clock_cost_ns()
    cases = (*PAPER, *_LIKE_FOR_LIKE)
    with progress("regex spine", (len(cases) + len(_WIDE)) * (options.runs + 1)) as step:
        paper, paper_notes = _cases(cases, engines, tokenizer, options, step)
        wide, wide_notes = _cases(_WIDE, engines, tokenizer, options, step)
    _first_masks(report, "1. Pattern text to matcher, plus first mask (µs)", paper, clock_ns, paper_notes)
    for title, states in (("2a. {} not seen before", "new"), ("2b. {} seen before", "seen")):
        head = title.format("One step along a text, states")
        report.add(f"{head} (µs)", list(_steps(paper, states, clock_ns)))
    _first_masks(
        report,
        "4. A wide state seen for the first time, on a fresh constraint (µs)",
        wide,
        clock_ns,
        wide_notes,
    )
    _alone(report, tokenizer, options.runs, clock_ns)
    report.targets = [*_first_mask_targets(paper, wide, clock_ns), *report.targets]
    report.is_wrong = any(one.wrong for by_engine in paper.values() for one in by_engine.values())
    report.picture = partial(_draw, paper, clock_ns, report.facts)
    return report


# ---- with peers -------------------------------------------------------------------------------


def _cases(
    cases: Sequence[Case], engines: Mapping[str, Engine], tokenizer: Tokenizer, options: Namespace, step: Any
) -> tuple[_Results, list[str]]:
    budget = Budget(options.budget, options.walking)
    found: _Results = {}
    notes: list[str] = []
    for case in cases:
        found[case.name], differences = run_case(case, engines, tokenizer, options.runs, budget, step)
        notes += differences
    return found, notes


def _first_masks(report: Report, title: str, results: _Results, clock_ns: float, notes: list[str]) -> None:
    rows = []
    for case, by_engine in results.items():
        ours = by_engine[TOKAMATA].ranks("first mask", ["p50"], clock_ns)["p50"]
        for engine, one in by_engine.items():
            first = one.ranks("first mask", RANKS, clock_ns)
            others = {
                what: one.ranks(what, ["p50"], clock_ns)["p50"]
                for what in ("compile", "mask", "after others", "whole", "first call")
            }
            rows.append({"pattern": case, "engine": engine, **first, "×": first["p50"] / ours, **others})
    wrong = [
        f"{engine}, {case}: {f'WRONG: {one.wrong}' if one.wrong else f'refuses it: {one.refused}'}"
        for case, by_engine in results.items()
        for engine, one in by_engine.items()
        if one.wrong or one.refused
    ]
    head = "× is the engine's median over tokamata's. The columns after it are medians."
    report.add(
        title,
        rows,
        [head, *(notes or ["First masks agree, stop tokens left out."]), *(wrong or [_ALL_RIGHT])],
    )


def _steps(results: _Results, states: str, clock_ns: float) -> Iterator[dict[str, Any]]:
    for case, by_engine in results.items():
        for what, name in (("fill", f"{states} fill"), ("fill + advance", f"{states} step")):
            ours = by_engine[TOKAMATA].ranks(name, ["p50"], clock_ns)["p50"]
            for engine, one in by_engine.items():
                found = one.ranks(name, RANKS, clock_ns)
                yield {"pattern": case, "engine": engine, "what": what, **found, "×": found["p50"] / ours}


def _first_mask_targets(paper: _Results, wide: _Results, clock_ns: float) -> Iterator[Target]:
    for case in PAPER:
        value = paper[case.name][TOKAMATA].ranks("first mask", ["p50"], clock_ns)["p50"]
        yield Target(f"first mask: {case.name}", value, _FIRST_MASK, "µs")
    for pattern, target in _WIDE_FIRST_MASK.items():
        value = wide[pattern][TOKAMATA].ranks("first mask", ["p50"], clock_ns)["p50"]
        yield Target(f"first mask, wide state: {pattern}", value, target, "µs")


# ---- tokamata alone ---------------------------------------------------------------------------


def _alone(report: Report, tokenizer: Tokenizer, runs: int, clock_ns: float) -> None:
    whole = tokenizer.vocabulary
    rows: list[dict[str, Any]] = []

    def add(where: str, times: dict[str, list[float]]) -> dict[str, float]:
        rows.extend({"where": where, "what": what, **ranks(found)} for what, found in times.items())
        return {what: ranks(found, ["p50"])["p50"] for what, found in times.items()}

    narrow = tk.Vocabulary.load(list(whole.tokens[:_NARROW_WIDTH]), stop=whole.stop)
    for vocabulary in (narrow, whole):
        title = f"{vocabulary.width:,} tokens"
        medians = add(title, seen_masks(vocabulary, 4 * runs))
        over = medians[FILL] - medians[COPY]
        report.targets.append(Target(f"fill_mask beyond np.copyto, {title}", over, _FILL_OVER_COPY, "µs"))
        report.targets.append(Target(f"m.mask, {title}", medians[VIEW], _MASK_VIEW, "µs"))
    for case in PAPER:
        compiled = tk.regex(case.pattern).compile(whole)
        medians = add(
            case.name,
            time_steps(compiled, [tokenizer.encode(text) for text in case.texts], _PASSES, 4 * runs),
        )
        report.targets.append(
            Target(f"fill_mask + advance: {case.name}", medians[FILL_STEP], _FILL_STEP, "µs")
        )
        report.targets.append(Target(f"m.mask + advance: {case.name}", medians[VIEW_STEP], _VIEW_STEP, "µs"))
    report.add(
        "3. tokamata, states seen before (µs per call)",
        rows,
        ["Timed in loops of hundreds of calls, less the median of the same loop around nothing."],
    )
    _bounds(report, tokenizer, runs, clock_ns)
    _loading(report, tokenizer, min(runs, 20))


def _bounds(report: Report, tokenizer: Tokenizer, runs: int, clock_ns: float) -> None:
    """The small and the large bound in turns, and 200 steps in the large one."""
    engine = ENGINES[TOKAMATA][1](tokenizer)
    words = tokenizer.encode("thequickbrownfoxjumpsoverthelazydogand" * 40)[:200]
    times: dict[tuple[str, str], list[int]] = {}
    with quiet():
        for count in range(runs + 1):
            for pattern in (_SMALL_BOUND, _LARGE_BOUND):
                start = clock()
                session = engine.regex(pattern)
                compiled = clock()
                session.fill()
                parts = {"compile": compiled - start, "first mask": clock() - compiled}
                for what, taken in parts.items() if count else ():
                    times.setdefault((pattern, what), []).append(taken)
            for token in words:  # in the large bound, which came last
                start = clock()
                session.fill()
                filled = clock()
                taken = session.advance(token)
                step = {"200 steps: fill": filled - start, "200 steps: fill + advance": clock() - start}
                if taken is not True:
                    raise AssertionError(f"{_LARGE_BOUND} refuses {tokenizer.vocabulary[token]!r}")
                for what, taken_ns in step.items():
                    times.setdefault((_LARGE_BOUND, what), []).append(taken_ns)
    rows = [
        {"pattern": pattern, "what": what, **ranks(found, cost_ns=clock_ns)}
        for (pattern, what), found in times.items()
    ]
    report.add("5. Large bounds (µs)", rows)
    small, large = (
        ranks(times[pattern, "compile"], ["p50"])["p50"] for pattern in (_SMALL_BOUND, _LARGE_BOUND)
    )
    report.targets.append(
        Target(f"compile {_LARGE_BOUND} / compile {_SMALL_BOUND}", large / small, _BOUND_RATIO, "times")
    )


def _loading(report: Report, tokenizer: Tokenizer, runs: int) -> None:
    """The vocabulary, from a file that the system has in its cache, and imports in fresh processes."""
    whole, reading, trie = [], [], []
    for _ in range(runs):
        with quiet():
            start = clock()
            vocabulary = tk.Vocabulary.load(tokenizer.path, stop=KNOWN["gemma-3"].stop)
            loaded = clock()
            vocabulary.core  # noqa: B018  # made when it is first used
            whole.append(clock() - start)
            reading.append(loaded - start)
        tokens, stop = list(vocabulary.tokens), list(vocabulary.stop)
        with quiet():
            start = clock()
            core = _core.Vocabulary(tokens, stop, vocabulary.width)
            trie.append(clock() - start)
    times = {
        "Vocabulary.load, and the trie": whole,
        "of which Vocabulary.load": reading,
        "the trie alone": trie,
    }
    times |= _imports(runs)
    rows = [{"what": what, **ranks(np.array(found) / 1e3)} for what, found in times.items()]
    size = f"The trie has {core.trie_nodes:,} nodes in {core.trie_bytes / 1e6:.1f} MB."
    report.add(
        "6. Loading (ms)", rows, [size, "Imports are less the median of a process that imports nothing."]
    )
    if tokenizer.json_text is not None:
        report.targets.append(
            Target("load tokenizer.json, trie included", rows[0]["p50"] / 1e3, _LOAD_S, "s")
        )
    report.targets.append(Target("of which the trie", rows[2]["p50"], _TRIE_MS, "ms"))
    report.targets.append(Target("size of the trie", core.trie_bytes / 1e6, _TRIE_MB, "MB"))
    report.targets.append(Target("import tokamata", rows[-1]["p50"], _IMPORT_MS, "ms"))


def _imports(runs: int) -> dict[str, list[float]]:
    programs = {"nothing": "pass", "import numpy": "import numpy", "import tokamata": "import tokamata"}
    samples: dict[str, list[float]] = {name: [] for name in programs}
    for _ in range(runs + 1):
        for name, program in programs.items():
            start = clock()
            subprocess.run([sys.executable, "-c", program], check=True)
            samples[name].append(clock() - start)
    bare = float(np.median(samples.pop("nothing")[1:]))
    return {f"{name}, fresh process": [time - bare for time in found[1:]] for name, found in samples.items()}


def _draw(paper: _Results, clock_ns: float, facts: dict[str, str], path: Path) -> None:
    """Bars on a logarithmic scale; shorter is better."""
    panels = (
        ("pattern text to first mask", "first mask"),
        ("pattern text to the end of the first text, a mask at each step", "whole"),
        ("one step (mask and token), states seen before", "seen step"),
    )
    figure, axes = plots.subplots(len(panels), 1, (9, 4 * len(panels)))
    engines = list(next(iter(paper.values())))
    height = 0.8 / len(engines)
    for axis, (title, what) in zip(axes.flat, panels, strict=True):
        for i, engine in enumerate(engines):
            medians = [
                by_engine[engine].ranks(what, ["p50"], clock_ns)["p50"] for by_engine in paper.values()
            ]
            colour = plots.OURS[0] if engine == TOKAMATA else str(0.25 + 0.55 * i / len(engines))
            at = np.arange(len(paper)) + i * height
            bars = axis.barh(at, medians, height * 0.92, label=engine, color=colour)
            axis.bar_label(bars, [shown(value) for value in medians], padding=2, fontsize=7)
        axis.set_yticks(np.arange(len(paper)) + height * (len(engines) - 1) / 2, list(paper))
        axis.invert_yaxis()
        axis.set(xscale="log")
        axis.margins(x=0.1)
        axis.set_title(f"{title}, µs (median, logarithmic)", loc="left")
    axes.flat[0].legend(fontsize=8, frameon=False, loc="center left", bbox_to_anchor=(1, 0.5))
    plots.save(figure, path, f"Gemma 3, 262,145 tokens. {facts['processor']}, {facts['date']}")


if __name__ == "__main__":
    sys.exit(main())
