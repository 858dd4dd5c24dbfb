"""The tables of a run, from its figures."""

from __future__ import annotations

from collections.abc import Sequence

from cases import LARGE_BOUND
from figures import EngineFigures, Figures, best_peer
from report import STATISTICS, Table, cells, median, ratio, us
from targets import target_table
from timing import Summary

_RATIO_NOTE = "× is the engine's median over tokamata's in the same row group."


def all_tables(figures: Figures) -> list[Table]:
    """Every table for which there are figures, in the order of reading."""
    tables = []
    if figures.paper:
        tables += [_summary(figures), _compiling(figures), *_steps(figures)]
    if figures.wide:
        tables.append(_wide(figures))
    if figures.seen:
        tables.append(_seen(figures))
    if figures.bounds:
        tables.append(_bounds(figures))
    if figures.loading is not None:
        tables.append(_loading(figures))
    tables.append(target_table(figures.targets()))
    return tables


def _summary(figures: Figures) -> Table:
    """Medians of the four regexes: ours, the best peer, the ratio."""
    kinds = (
        ("compile + first mask", "compile_and_mask"),
        ("compile + a whole text", "whole"),
        ("step, states not seen before", "cold_step"),
        ("step, states seen before", "warm_step"),
    )
    table = Table(
        "tokamata and the best peer (medians, µs)",
        ("figure", "pattern", "best peer", "tokamata", "peer", "ratio"),
        notes=[
            "A step is the mask into the caller's row, and one token taken. The ratio is peer / tokamata.",
            "Some engines do at compiling what others do at the first step: 'a whole text' counts both.",
        ],
        left=3,
    )
    for title, kind in kinds:
        group = []
        for case, by_engine in figures.paper.items():
            ours, best = getattr(by_engine["tokamata"], kind), best_peer(by_engine, kind)
            if ours is not None and best is not None:
                name, theirs = best
                group.append(
                    (title, case, name, us(ours.median_us), us(theirs.median_us), ratio(ours, theirs))
                )
        table.groups([group])
    return table


def _compiling(figures: Figures) -> Table:
    table = Table(
        "1. Pattern text to matcher, plus first mask (µs)",
        ("pattern", "engine", *STATISTICS, "×", "compile", "mask", "after others", "first call"),
        notes=[
            _RATIO_NOTE,
            "'compile' and 'mask' are the medians of the two parts. 'after others' is the median right after "
            "another engine's turn, when the processor's caches hold what that left there.",
            "'first call' is the first time in the process; the topmost is the first of all.",
        ],
    )
    return _with_notes(table.groups(_compile_groups(figures.paper)), figures, figures.paper)


def _wide(figures: Figures) -> Table:
    table = Table(
        "4. A wide state seen for the first time: compile plus first mask, on a fresh constraint (µs)",
        ("pattern", "engine", *STATISTICS, "×", "compile", "mask", "after others", "first call"),
        notes=[_RATIO_NOTE],
    )
    return _with_notes(table.groups(_compile_groups(figures.wide)), figures, figures.wide)


def _compile_groups(cases: dict[str, dict[str, EngineFigures]]) -> list[list[Sequence[str]]]:
    groups: list[list[Sequence[str]]] = []
    for case, by_engine in cases.items():
        ours = by_engine["tokamata"].compile_and_mask
        groups.append(
            [
                (
                    case,
                    engine,
                    *cells(one.compile_and_mask),
                    ratio(ours, one.compile_and_mask),
                    median(one.compile),
                    median(one.first_mask),
                    median(one.after_others),
                    us(one.first_call_us),
                )
                for engine, one in by_engine.items()
            ]
        )
    return groups


def _with_notes(table: Table, figures: Figures, cases: dict[str, dict[str, EngineFigures]]) -> Table:
    """Adds what the checks have found about these patterns."""
    differing = [found.note for found in figures.differences if found.case in cases]
    table.notes.append(
        "First masks were compared, stop tokens left out: "
        + ("they differ from tokamata's as follows, and agree elsewhere." if differing else "all agree.")
    )
    table.notes += differing
    for case, by_engine in cases.items():
        for engine, one in by_engine.items():
            if one.refused:
                table.notes.append(f"{engine}, {case}: refuses the pattern: {one.refused}")
            if one.wrong:
                table.notes.append(f"{engine}, {case}: WRONG: {one.wrong}")
    return table


def _steps(figures: Figures) -> list[Table]:
    """Two tables: states not seen before, and states seen before."""
    tables = []
    for title, fill, step, note in (
        (
            "2a. One step along a text, states not seen before (µs)",
            "cold_fill",
            "cold_step",
            "Each walk is on a freshly compiled constraint, whose first mask is left out here.",
        ),
        (
            "2b. One step along a text, states seen before (µs)",
            "warm_fill",
            "warm_step",
            "The same walks again, on the same constraint.",
        ),
    ):
        table = Table(
            title, ("pattern", "engine", "what", *STATISTICS, "×"), notes=[note, _RATIO_NOTE], left=3
        )
        for case, by_engine in figures.paper.items():
            for what, name in (("fill", fill), ("fill + advance", step)):
                ours = getattr(by_engine["tokamata"], name)
                rows = [
                    (case, engine, what, *cells(getattr(one, name)), ratio(ours, getattr(one, name)))
                    for engine, one in by_engine.items()
                ]
                table.groups([rows])
        tables.append(table)
    tables[-1].notes.append(
        f"Every call was timed by itself, less {figures.clock_ns:.0f} ns for reading the clock; table 3 has "
        "the finer figures."
    )
    wrong = [one.wrong for by_engine in figures.paper.values() for one in by_engine.values() if one.wrong]
    if not wrong:
        tables[-1].notes.append("Every engine accepted every token of every text, and each text at its end.")
    return tables


def _seen(figures: Figures) -> Table:
    table = Table(
        "3. tokamata, states seen before (µs per call)",
        ("where", "what", *STATISTICS),
        notes=[
            "Timed in loops of hundreds of calls, less the median of the same loop around nothing.",
            "A sample is the average of one such loop.",
        ],
    )
    table.groups(
        [(f"{width:,} tokens", what, *cells(one)) for what, one in by_call.items()]
        for width, by_call in figures.seen.items()
    )
    table.groups(
        [(case, what, *cells(one)) for what, one in by_call.items()]
        for case, by_call in figures.steps.items()
    )
    return table


def _bounds(figures: Figures) -> Table:
    table = Table("5. Large bounds (µs)", ("pattern", "what", *STATISTICS))
    for pattern, one in figures.bounds.items():
        table.groups(
            [
                [
                    (pattern, "compile", *cells(one.compile)),
                    (pattern, "first mask", *cells(one.first_mask)),
                    (pattern, "compile + first mask", *cells(one.compile_and_mask)),
                ]
            ]
        )
    table.groups(
        [
            [
                (LARGE_BOUND, "200 steps: fill", *cells(figures.bound_fill)),
                (LARGE_BOUND, "200 steps: fill + advance", *cells(figures.bound_step)),
            ]
        ]
    )
    return table


def _loading(figures: Figures) -> Table:
    loading = figures.loading
    assert loading is not None
    source = "tokenizer.json" if figures.is_json else "GGUF file"
    table = Table("6. Loading (ms)", ("what", *STATISTICS), left=1)
    rows = {
        f"Vocabulary.load of the {source}, and the trie": loading.whole,
        "of which Vocabulary.load": loading.reading,
        "the trie alone": loading.trie,
        **{f"{program}, fresh process": one for program, one in figures.importing.items()},
    }
    table.groups([[(what, *_milliseconds(one)) for what, one in rows.items()]])
    table.notes = [
        f"The trie has {loading.trie_nodes:,} nodes in {loading.trie_bytes / 1e6:.1f} MB.",
        "Imports are less the median of a process that imports nothing.",
    ]
    return table


def _milliseconds(summary: Summary | None) -> list[str]:
    if summary is None:
        return cells(None)
    figures = (summary.median_us, summary.p90_us, summary.p99_us, summary.largest_us)
    return [*(us(value / 1e3) for value in figures), f"{summary.runs:,}"]
