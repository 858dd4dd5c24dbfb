"""Canonical tokenization: how long masks take and how right they are, beside genlm-control's filter.

    python benchmarks/canonical.py --make-environments    # the first time: genlm-control needs one of its own
    python benchmarks/canonical.py --quick                # few steps, to see that it works

See README.md beside it for what each figure means.  Nothing is asserted about time.
"""

from __future__ import annotations

import argparse
import gc
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import environment
from canonical_accuracy import accuracy
from canonical_figures import (
    PAPER_GROUP,
    SCHEMA_GROUP,
    CanonicalFigures,
    GroupFigures,
    SizeFigures,
    VocabularyFigures,
    reduce_times,
    reduce_walk,
)
from canonical_genlm import ENVIRONMENT, NAME, Genlm, NoGenlmError, make_environment
from canonical_report import all_tables
from canonical_tables import ANYTHING, measure_tables, own_cache
from canonical_walks import KINDS, TOKENIZATIONS, Make, Walk, walk
from cases import PAPER
from child import ChildError
from running import Progress, add_output_options, draw, publish, say, use_one_thread
from schema_patterns import FILE, SchemaPattern, collect, sample
from timing import clock_cost_ns
from tokenizer import KNOWN, NoTokenizerError, Tokenizer, add_folder_option, load_known

import tokamata as tk
from tokamata.tokenization.canonical import tokenization_of

VOCABULARIES = "llama-3.1,gemma-3"
_CONSTRAINTS = 20
"""How often a pattern that is walked for long is compiled anew."""
Patterns = Sequence[tuple[str, Make]]


def main() -> int:
    """The program; returns its exit status: 1 where a mask is wrong, 2 where it cannot run."""
    options = _options()
    use_one_thread()
    try:
        if options.make_environments:
            make_environment(options.genlm_environment, options.genlm_python, say)
        figures = _measure(options)
    except (NoTokenizerError, ChildError, OSError, subprocess.CalledProcessError) as error:
        print(error, file=sys.stderr)
        return 2
    publish(all_tables(figures), figures.facts, figures.as_json(), options)
    draw("canonical_plot", "draw", figures, options.plot)
    for line in figures.wrong:
        print(f"wrong: {line}", file=sys.stderr)
    return int(bool(figures.wrong))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add = parser.add_argument
    add("--quick", action="store_true", help="few steps and one small vocabulary, to see that it works")
    add("--steps", type=int, metavar="N", help="in (?s:.*) (default 20,000, quick 1,000)")
    add("--paper-steps", type=int, metavar="N", help="in each regex of paper 002 (default 2,000, quick 100)")
    add("--schema-steps", type=int, metavar="N", help="in each regex of schemas (default 50, quick 10)")
    add("--count", type=int, metavar="N", help="regexes of schemas (default 200, quick 20)")
    add("--growth-steps", type=int, metavar="N", help="of each vocabulary (default 2,000, quick 200)")
    add("--runs", type=int, metavar="N", help="of building tables (default 3, quick 1)")
    add("--paragraphs", type=int, metavar="N", help="of 60 (default 60, quick 10)")
    add("--genlm-masks", type=int, metavar="N", help="of genlm-control, a walk (default 200, quick 10)")
    add("--seed", type=int, default=0, metavar="N", help="of walks, and of the sample of regexes")
    add("--vocabularies", metavar="NAMES", help=f"to walk in (default {VOCABULARIES}, quick the first)")
    add("--growth", metavar="NAMES", help="for growth (default all, quick llama-2)")
    add("--schemas", type=Path, default=FILE, metavar="FILE", help=f".jsonl or .jsonl.xz (default: {FILE})")
    add_folder_option(parser)
    add("--make-environments", action="store_true", help=f"make the environment of {NAME} first")
    add(
        "--genlm-environment", type=Path, default=ENVIRONMENT, metavar="FOLDER",
        help="where it is (default: build/environments/genlm)",
    )  # fmt: skip
    add(
        "--genlm-python", default=sys.executable, metavar="FILE",
        help="the Python to make it with, 3.11 or newer (default: this one)",
    )  # fmt: skip
    add("--without-genlm", action="store_true", help=f"leave {NAME} out")
    add_output_options(parser)
    add("--plot", type=Path, metavar="FILE", help="draw how costs grow (.svg, .png)")
    options = parser.parse_args()
    _set_defaults(options)
    return options


def _set_defaults(options: argparse.Namespace) -> None:
    """What depends on ``--quick``."""
    defaults = {
        "steps": (20_000, 1_000),
        "paper_steps": (2_000, 100),
        "schema_steps": (50, 10),
        "count": (200, 20),
        "growth_steps": (2_000, 200),
        "runs": (3, 1),
        "paragraphs": (60, 10),
        "genlm_masks": (200, 10),
        "vocabularies": (VOCABULARIES, VOCABULARIES.split(",")[0]),
        "growth": (",".join(KNOWN), "llama-2"),
    }
    for name, values in defaults.items():
        setattr(options, name, getattr(options, name) or values[options.quick])
    for name in ("vocabularies", "growth"):
        setattr(options, name, [one.strip() for one in getattr(options, name).split(",")])


def _measure(options: argparse.Namespace) -> CanonicalFigures:
    if not options.schemas.exists():
        raise FileNotFoundError(f"{options.schemas}: no such file; pass --schemas with MaskBench's schemas")
    found = collect(options.schemas)
    chosen = sample(found, options.count, options.seed)
    figures = CanonicalFigures(environment.describe())
    figures.facts["regexes of schemas"] = f"{len(chosen)} of {len(found):,}, seed {options.seed}"
    clock_ns = clock_cost_ns()
    asked = {*options.growth, *options.vocabularies}
    names = sorted(asked - set(KNOWN)) + [name for name in KNOWN if name in asked]
    kinds = len(KINDS) * (_CONSTRAINTS * (1 + len(PAPER)) + len(chosen))
    total = len(names) + len(options.vocabularies) * (kinds + 1)
    with (
        tempfile.TemporaryDirectory(prefix="tokamata-benchmark-") as work,
        own_cache(),
        Progress("canonical", total) as progress,
    ):
        load_known(names[0], options.tokenizers, Path(work))  # first of all what may be missing
        gc.collect()
        gc.freeze()  # what is loaded now stays, and need not be looked at again
        for number, name in enumerate(names):
            size, tokenizer = _size(name, Path(work), options, clock_ns, number == 0)
            progress.step(f"{size.title}, tables")
            figures.facts[f"vocabulary, {size.title}"] = f"{tokenizer.vocabulary!r}, from {tokenizer.origin}"
            if name in options.growth:
                figures.sizes.append(size)
            if name in options.vocabularies and size.refused is None:
                figures.vocabularies.append(
                    _vocabulary(tokenizer, chosen, options, clock_ns, figures.facts, progress)
                )
    say("")
    figures.sizes.sort(key=lambda size: size.width)
    return figures


def _size(
    name: str, work: Path, options: argparse.Namespace, clock_ns: float, is_first: bool
) -> tuple[SizeFigures, Tokenizer]:
    """One vocabulary among others; the first of all is measured once more, to import what is needed."""
    try:
        if is_first:
            measure_tables(name, options.tokenizers, work, 1)
        tokenizer, times = measure_tables(name, options.tokenizers, work, options.runs)
    except tk.TokamataError as error:
        tokenizer = load_known(name, options.tokenizers, work)
        refused = " ".join(str(error).split())[:300]
        return SizeFigures(tokenizer.title, tokenizer.vocabulary.width, refused=refused), tokenizer
    size = SizeFigures(tokenizer.title, tokenizer.vocabulary.width)
    size.take(times)
    patterns = [(ANYTHING, partial(tk.regex, ANYTHING))]
    for kind in KINDS:
        walked = walk(ANYTHING, kind, patterns, options.growth_steps, tokenizer.vocabulary, options.seed + 1)
        size.walks[kind] = reduce_walk(walked, clock_ns)
    size.walked_bytes = tokenization_of(tokenizer.vocabulary).memory_bytes
    return size, tokenizer


def _vocabulary(
    tokenizer: Tokenizer,
    chosen: list[SchemaPattern],
    options: argparse.Namespace,
    clock_ns: float,
    facts: dict[str, str],
    progress: Progress,
) -> VocabularyFigures:
    """All walks, in turns with genlm-control, and what is right."""
    found = VocabularyFigures(tokenizer.title)
    genlm = _genlm(tokenizer, options, found, facts)
    try:
        for group, parts in _groups(chosen, options):
            walks = []
            for name, patterns, steps in parts:
                made = [_walked(name, patterns, steps, kind, tokenizer, options, progress) for kind in KINDS]
                for one in made:
                    places = one.lasts[:: max(1, len(one.lasts) // options.genlm_masks)]
                    theirs = genlm.time(places[: options.genlm_masks]) if genlm is not None else ()
                    found.walks.append(reduce_walk(one, clock_ns, theirs))
                found.firsts[name] = {
                    by: reduce_times([one.times[by] for one in made], clock_ns) for by in TOKENIZATIONS
                }
                walks += made
            times = reduce_times([one.times["canonical"] for one in walks], clock_ns)
            found.groups.append(GroupFigures(group, times))
        found.accuracy, found.left_out = accuracy(tokenizer, genlm, options.paragraphs, options.seed)
        found.memory_bytes = tokenization_of(tokenizer.vocabulary).memory_bytes
        progress.step(f"{tokenizer.title}, paragraphs")
    finally:
        if genlm is not None:
            genlm.close()
    return found


def _groups(
    chosen: list[SchemaPattern], options: argparse.Namespace
) -> list[tuple[str, list[tuple[str, Patterns, int]]]]:
    """What targets are about: patterns by the name in tables, and steps of each time it is compiled."""

    def often(pattern: str, steps: int) -> tuple[Patterns, int]:
        return [(pattern, partial(tk.regex, pattern))] * _CONSTRAINTS, -(-steps // _CONSTRAINTS)

    schemas = [(one.pattern, partial(tk.regex, one.pattern, dialect="ecma")) for one in chosen]
    return [
        (ANYTHING, [(ANYTHING, *often(ANYTHING, options.steps))]),
        (PAPER_GROUP, [(case.name, *often(case.pattern, options.paper_steps)) for case in PAPER]),
        (
            f"{len(schemas)} {SCHEMA_GROUP}",
            [(f"{len(schemas)} {SCHEMA_GROUP}", schemas, options.schema_steps)],
        ),
    ]


def _walked(
    name: str,
    patterns: Patterns,
    steps: int,
    kind: str,
    tokenizer: Tokenizer,
    options: argparse.Namespace,
    progress: Progress,
) -> Walk:
    return walk(name, kind, patterns, steps, tokenizer.vocabulary, options.seed, progress.step)


def _genlm(
    tokenizer: Tokenizer, options: argparse.Namespace, found: VocabularyFigures, facts: dict[str, str]
) -> Genlm | None:
    """genlm-control, or why not."""
    if options.without_genlm:
        found.genlm = "left out, as asked"
        return None
    try:
        genlm = Genlm(options.genlm_environment, tokenizer, say)
    except (NoGenlmError, ChildError) as error:
        found.genlm = f"left out: {str(error).removeprefix(f'{NAME}: ')}"
        say(f"{NAME}: {found.genlm}")
        return None
    facts[NAME] = genlm.versions
    found.genlm = f"its filter took {genlm.build_s:.1f} s to make"
    return genlm


if __name__ == "__main__":
    sys.exit(main())
