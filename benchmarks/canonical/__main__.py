"""Canonical tokenization: how long masks take and how right they are, beside genlm-control's filter.

python -m benchmarks.canonical --make-environments    # the first time: genlm-control needs one of its own
python -m benchmarks.canonical --quick
"""

from __future__ import annotations

import gc
import sys
from argparse import Namespace
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import tokamata as tk
from benchmarks.canonical.accuracy import Accuracy, accuracy
from benchmarks.canonical.genlm import NAME, Genlm, make_environment
from benchmarks.canonical.tables import ANYTHING, measure_tables, own_cache
from benchmarks.canonical.walks import KINDS, TOKENIZATIONS, Make, Walk, walk
from benchmarks.common import environment, plots
from benchmarks.common.child import ChildError
from benchmarks.common.patterns import PAPER
from benchmarks.common.program import parser_for, progress, run, say
from benchmarks.common.report import Report, Target, ranks
from benchmarks.common.timing import clock_cost_ns
from benchmarks.common.tokenizers import KNOWN, Tokenizer, load_known
from benchmarks.schema_regexes.patterns import SchemaPattern, collect, sample
from tokamata.tokenization.canonical import tokenization_of

_CONSTRAINTS = 20  # how often a pattern that is walked for long is compiled again
_RANKS = ("p50", "p90", "p99", "p99.9", "largest")
_EXAMPLES = 4
_MASK_US, _MASK_P99_US, _ADVANCE_US = 5.0, 60.0, 1.5
_TABLES_S, _TABLES_MB, _TARGET_WIDTH = 2.0, 100.0, 262_145
_STEPS = {ANYTHING: (20_000, 1_000), "paper": (2_000, 100), "schemas": (50, 10), "growth": (2_000, 200)}

_Patterns = Sequence[tuple[str, Make]]


def main() -> int:
    """The program; its exit status is 1 if a mask is wrong."""
    parser = parser_for(__doc__)
    add = parser.add_argument
    add("--vocabularies", default="llama-3.1,gemma-3", metavar="NAMES", help="to walk in, with commas")
    add("--growth", default=",".join(KNOWN), metavar="NAMES", help="for growth, with commas (default: all)")
    add("--make-environments", action="store_true", help=f"make the environment of {NAME} first")
    add("--genlm-python", default=sys.executable, metavar="FILE", help="Python 3.11 or newer for it")
    add("--without-genlm", action="store_true", help=f"leave {NAME} out")
    options = parser.parse_args()
    if options.make_environments:
        make_environment(options.genlm_python)
    return run(measure, options)


def measure(options: Namespace, work: Path) -> Report:
    """Walks, accuracy, and growth with the vocabulary."""
    found = collect(options.schemas)
    chosen = sample(found, options.count or (20 if options.quick else 200), options.seed)
    report = Report(environment.describe())
    report.facts["regexes of schemas"] = f"{len(chosen)} of {len(found):,}, seed {options.seed}"
    walked, grown = (
        [name.strip() for name in names.split(",")] for names in (options.vocabularies, options.growth)
    )
    if options.quick:
        walked, grown = walked[:1], ["llama-2"]
    names = [name for name in KNOWN if name in {*walked, *grown}]
    canonical = _Canonical(options, report, chosen)
    total = len(names) + len(walked) * (len(KINDS) * (_CONSTRAINTS * (1 + len(PAPER)) + len(chosen)) + 1)
    with own_cache(), progress("canonical", total) as step:
        load_known(names[0], options.tokenizers, work)  # first of all what may be missing
        gc.collect()
        gc.freeze()  # what is loaded now stays, and need not be examined again
        measure_tables(names[0], options.tokenizers, work, 1)  # imports what is needed
        for name in names:
            tokenizer = canonical.size(name, work)
            step(f"{KNOWN[name].title}, tables")
            if name in walked and tokenizer is not None:
                canonical.vocabulary(tokenizer, step)
    canonical.finish()
    return report


class _Canonical:
    """A run: adds to the report as it goes."""

    def __init__(self, options: Namespace, report: Report, chosen: list[SchemaPattern]) -> None:
        self._options, self._report, self._chosen = options, report, chosen
        self._clock_ns = clock_cost_ns()
        self._sizes: list[dict[str, Any]] = []
        self._by_size: list[dict[str, Any]] = []
        self._accuracies: list[dict[str, Any]] = []
        self._notes: list[str] = []

    def _steps(self, what: str) -> int:
        return _STEPS[what][self._options.quick]

    def _ranks(self, times: Sequence[float], names: Sequence[str] = _RANKS) -> dict[str, float]:
        return ranks(times, names, self._clock_ns)

    # ---- growth -------------------------------------------------------------------------------

    def size(self, name: str, work: Path) -> Tokenizer | None:
        """One vocabulary among others: its tables, and masks of ``(?s:.*)``."""
        options = self._options
        try:
            tokenizer, times = measure_tables(name, options.tokenizers, work, 1 if options.quick else 3)
        except tk.TokamataError as error:
            self._notes.append(f"{KNOWN[name].title}: {error!s:.300}")
            return None
        title, width = tokenizer.title, tokenizer.vocabulary.width
        self._report.facts[f"vocabulary, {title}"] = f"{tokenizer.vocabulary!r}, from {tokenizer.origin}"
        for kind in KINDS:
            patterns = [(ANYTHING, partial(tk.regex, ANYTHING))]
            found = walk(
                ANYTHING, kind, patterns, self._steps("growth"), tokenizer.vocabulary, options.seed + 1
            )
            self._check(found)
            for tokenization in TOKENIZATIONS:
                masks = found.times[tokenization].masks
                row = {"tokenizer": title, "tokens": width, "tokens drawn": kind, "mask of": tokenization}
                self._by_size.append({**row, **self._ranks(masks, ("p50", "p99")), "masks": len(masks)})
        built, kept = ranks(times.built, ("p50", "largest")), ranks(times.kept, ["p50"])["p50"]
        self._sizes.append(
            {
                "tokenizer": title,
                "tokens": width,
                "built, s": built["p50"] / 1e6,
                "largest": built["largest"] / 1e6,
                "from disk, s": kept / 1e6,
                "on disk, MB": times.file_bytes / 1e6,
                "in memory, MB": times.memory_bytes / 1e6,
                "after the walks, MB": tokenization_of(tokenizer.vocabulary).memory_bytes / 1e6,
                "first mask, ms": ranks(times.first_masks, ["p50"])["p50"] / 1e3,
            }
        )
        return tokenizer

    # ---- one vocabulary -----------------------------------------------------------------------

    def vocabulary(self, tokenizer: Tokenizer, step: Callable[[str], None]) -> None:
        """All walks, in turns with genlm-control, and what is right."""
        title, options = tokenizer.title, self._options
        genlm = self._genlm(tokenizer)
        masks: list[dict[str, Any]] = []
        firsts: list[dict[str, Any]] = []
        constraints = 0
        for group, parts in self._groups():
            pooled: list[Walk] = []
            for name, patterns, steps in parts:
                made = [
                    walk(name, kind, patterns, steps, tokenizer.vocabulary, options.seed, step)
                    for kind in KINDS
                ]
                for one in made:
                    self._check(one)
                    masks += self._mask_rows(one, genlm)
                firsts += self._first_rows(name, made)
                pooled += made
            constraints += sum(one.constraints for one in pooled)
            self._targets(f"{title}, {group}", pooled)
        notes = [
            "The mask alone, into the caller's row, at each new position of a walk; first masks are in the "
            "next table. Both tokenizations are led along the same tokens.",
            f"{constraints:,} constraints were compiled for these walks.",
            f"{NAME}'s filter reads the previous token alone, and no pattern; it was measured at some of the "
            f"positions. {f'It took {genlm.build_s:.1f} s to make.' if genlm else 'It is left out here.'}",
        ]
        self._report.add(f"{title}: masks along random walks (µs)", masks, notes)
        self._report.add(f"{title}: compiling, and the first mask of a new constraint (µs)", firsts)
        found, left_out = accuracy(tokenizer, genlm, 10 if options.quick else 60, options.seed)
        for name, one in found.items():
            if not one.asked:  # the first token of a text has a space that the text does not have
                continue
            self._accuracies.append(_accuracy_row(title, name, one))
            self._notes += _examples(f"{title}: {name}", one) if name != "tokamata, any" else ()
        self._report.is_wrong |= bool(found["tokamata, canonical"].forbidden)
        if left_out:
            self._notes.append(f"{title}: {left_out} paragraphs left out, whose text it changes")
        held = tokenization_of(tokenizer.vocabulary).memory_bytes / 1e6
        self._notes.append(f"{title}: {held:.1f} MB of tables after all the walks and paragraphs")
        step(f"{title}, paragraphs")
        if genlm is not None:
            genlm.close()

    def _groups(self) -> list[tuple[str, list[tuple[str, _Patterns, int]]]]:
        """Patterns by what targets are about, with the steps of each time one is compiled."""

        def often(pattern: str, steps: int) -> tuple[_Patterns, int]:
            return [(pattern, partial(tk.regex, pattern))] * _CONSTRAINTS, -(-steps // _CONSTRAINTS)

        schemas = [(one.pattern, partial(tk.regex, one.pattern, dialect="ecma")) for one in self._chosen]
        name = f"{len(schemas)} regexes of schemas"
        return [
            (ANYTHING, [(ANYTHING, *often(ANYTHING, self._steps(ANYTHING)))]),
            (
                "the four regexes of paper 002",
                [(case.name, *often(case.pattern, self._steps("paper"))) for case in PAPER],
            ),
            (name, [(name, schemas, self._steps("schemas"))]),
        ]

    def _genlm(self, tokenizer: Tokenizer) -> Genlm | None:
        if self._options.without_genlm:
            return None
        try:
            genlm = Genlm(tokenizer)
        except ChildError as error:
            self._notes.append(f"{NAME} is left out for {tokenizer.title}: {error!s:.300}")
            say(self._notes[-1])
            return None
        self._report.facts[NAME] = genlm.versions
        return genlm

    def _mask_rows(self, one: Walk, genlm: Genlm | None) -> Iterator[dict[str, Any]]:
        head = {"pattern": one.pattern, "tokens drawn": one.kind}
        for name, times in one.times.items():
            advance = {
                f"advance, {rank}": value
                for rank, value in self._ranks(times.advances, ("p50", "p99")).items()
            }
            yield {**head, "mask of": name, **self._ranks(times.masks), "masks": len(times.masks), **advance}
        if genlm is not None:
            count = 10 if self._options.quick else 200
            theirs = genlm.time(one.lasts[:: max(1, len(one.lasts) // count)][:count])
            yield {**head, "mask of": NAME, **self._ranks(theirs), "masks": len(theirs)}
        self._notes += [f"not taken: {what}: {said}" for what, said in one.refused.items()]

    def _first_rows(self, name: str, made: Sequence[Walk]) -> Iterator[dict[str, Any]]:
        for tokenization in TOKENIZATIONS:
            compiling, first = (
                [time for one in made for time in getattr(one.times[tokenization], part)]
                for part in ("compiling", "first")
            )
            compile_ = {
                f"compile, {rank}": value
                for rank, value in self._ranks(compiling, ("p50", "largest")).items()
            }
            yield {
                "pattern": name,
                "mask of": tokenization,
                "constraints": len(first),
                **compile_,
                **self._ranks(first),
            }

    def _targets(self, what: str, walks: Sequence[Walk]) -> None:
        masks, advances = (
            [time for one in walks for time in getattr(one.times["canonical"], part)]
            for part in ("masks", "advances")
        )
        found, advance = self._ranks(masks, ("p50", "p99")), self._ranks(advances, ["p50"])
        self._report.targets += [
            Target(f"canonical mask, p50: {what}", found["p50"], _MASK_US, "µs"),
            Target(f"canonical mask, p99: {what}", found["p99"], _MASK_P99_US, "µs"),
            Target(f"advance, p50: {what}", advance["p50"], _ADVANCE_US, "µs"),
        ]

    def _check(self, one: Walk) -> None:
        """A token of a mask that was refused, or a dead end, is wrong."""
        self._report.is_wrong |= bool(one.wrong)
        self._notes += [f"WRONG: {line}" for line in one.wrong]

    # ---- in the end ---------------------------------------------------------------------------

    def finish(self) -> None:
        """Adds what is about all vocabularies."""
        report = self._report
        report.add(
            "Right and wrong, on canonical encodings of paragraphs",
            self._accuracies,
            [
                "By the tokenizer's own program. A random allowed token, drawn uniformly at each position, "
                "is canonical if an encoding with a short continuation begins with it in its place.",
                *self._notes,
            ],
        )
        sizes, masks = (pd.DataFrame(rows).sort_values("tokens") for rows in (self._sizes, self._by_size))
        report.add(
            "A tokenizer's tables",
            sizes,
            [
                'The first compile(…, tokenization="canonical") for a vocabulary: with an empty cache '
                "folder, and with what that left there. First mask: memos are empty. After the walks: full."
            ],
        )
        report.add(f"Masks of {ANYTHING} by the vocabulary (µs)", masks)
        for size in self._sizes:
            if size["tokens"] == _TARGET_WIDTH:
                held = max(size["in memory, MB"], size["after the walks, MB"])
                report.targets += [
                    Target(f"building the tables: {size['tokenizer']}", size["built, s"], _TABLES_S, "s"),
                    Target(f"memory of the tables: {size['tokenizer']}", held, _TABLES_MB, "MB"),
                ]
        report.picture = partial(_draw, sizes, masks, report.facts)


def _accuracy_row(title: str, name: str, found: Accuracy) -> dict[str, Any]:
    return {
        "tokenizer": title,
        "filter": name,
        "canonical next tokens": found.asked,
        "forbidden": found.forbidden,
        "forbidden, share": f"{found.forbidden / found.asked:.2%}",
        "random allowed tokens": found.drawn,
        "not canonical": found.wrong,
        "not canonical, share": f"{found.wrong / found.drawn:.2%}" if found.drawn else None,
    }


def _examples(who: str, found: Accuracy) -> Iterator[str]:
    """A few, from all over."""
    for verb, examples in (("forbids", found.forbidden_examples), ("allows", found.wrong_examples)):
        if examples:
            yield f"{who} {verb} {'; '.join(examples[:: -(-len(examples) // _EXAMPLES)])}"


def _draw(sizes: pd.DataFrame, masks: pd.DataFrame, facts: dict[str, str], path: Path) -> None:
    """Masks, their p99, and the time and the memory of the tables, by the vocabulary."""
    figure, axes = plots.subplots(2, 2, (10, 6.8))
    across = "tokens in the vocabulary"
    for axis, rank in zip(axes[0], ("p50", "p99"), strict=True):
        for i, ((name, kind), part) in enumerate(masks.groupby(["mask of", "tokens drawn"], sort=False)):
            plots.line(axis, i, part["tokens"], part[rank], f"{name}, {kind}")
        plots.log_axes(axis, across, f"one mask of {ANYTHING}, {rank}, µs")
    columns = {"built, s": "a tokenizer's tables, s", "in memory, MB": "a tokenizer's tables, MB"}
    parts = (("built, s", "from disk, s"), ("in memory, MB", "after the walks, MB", "on disk, MB"))
    for axis, names in zip(axes[1], parts, strict=True):
        for i, name in enumerate(names):
            plots.line(axis, i, sizes["tokens"], sizes[name].replace(0, np.nan), name.rpartition(",")[0])
        plots.log_axes(axis, across, columns[names[0]])
    plots.save(figure, path, f"{facts['processor']}, {facts['date']}")


if __name__ == "__main__":
    sys.exit(main())
