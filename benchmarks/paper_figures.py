"""What ``paper_table.py`` measures, its targets and its tables."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field

from agreement import Difference
from figures import EngineFigures
from report import STATISTICS, Table, cells, us
from targets import Target, as_json, target_table
from timing import Summary

# Table 2 of Koo, Liu & He: how many times as fast as outlines, compiling and per step.
PAPER_SPEEDUPS = {
    "multiple choice": (7970.0, 29.5),
    "ISO date-time": (7110.0, 24.3),
    "IP address": (6850.0, 26.1),
    "quoted text": (13400.0, 6.5),
    "JSON object": (7240.0, 33.6),
}
FIRST_MASK_US = 100.0
COMPILE_SPEEDUP = 13_000.0
VIEW_SPEEDUP = 40.0
ROW_SPEEDUP = 12.0

READINGS = {
    "float": "float vector",
    "own": "as it generates",
    "bool": "bool vector",
}


@dataclass
class Row:
    """One constraint with one vocabulary; all in microseconds.

    Attributes:
        engines: tokamata and the peers, compile plus first mask; see ``figures.EngineFigures``.
        steps: of the same, one step from the start state, into a row; by engine.
        ours: tokamata's steps in loops: with a row, and with the view.
        fresh: tokamata, compile plus first mask, on a vocabulary that has seen the trivial regex alone.
        outlines: outlines, less its trivial regex; ``None`` where it was not measured.
        outlines_whole: the same, nothing subtracted.
        outlines_trivial: the trivial regex.
        outlines_steps: one step of outlines, by reading.
        differing: how many tokens of outlines' and of tokamata's first mask are not of the other.
    """

    engines: dict[str, EngineFigures]
    steps: dict[str, Summary] = field(default_factory=dict)
    ours_row: Summary | None = None
    ours_view: Summary | None = None
    fresh: Summary | None = None
    outlines: Summary | None = None
    outlines_whole: Summary | None = None
    outlines_trivial: Summary | None = None
    outlines_steps: dict[str, Summary] = field(default_factory=dict)
    differing: tuple[int, int] | None = None

    @property
    def ours(self) -> float | None:
        """Median of tokamata, compile plus first mask."""
        return _median(self.engines["tokamata"].compile_and_mask)

    @property
    def step(self) -> Summary | None:
        """The step of outlines that is compared: the reading ``float``."""
        return self.outlines_steps.get("float")


@dataclass
class VocabularyFigures:
    """All constraints with one vocabulary.

    Attributes:
        title: of the tokenizer.
        width: of the vocabulary.
        rows: by constraint.
        copy: a bare copy of a row of this width (``np.copyto``).
        trivial: tokamata's own trivial regex, compile plus first mask.
        differences: where peers' first masks differ from tokamata's.
    """

    title: str
    width: int
    rows: dict[str, Row] = field(default_factory=dict)
    copy: Summary | None = None
    trivial: Summary | None = None
    differences: list[Difference] = field(default_factory=list)


@dataclass
class PaperFigures:
    """What a run has measured."""

    facts: dict[str, str]
    vocabularies: list[VocabularyFigures] = field(default_factory=list)

    def as_json(self) -> dict[str, object]:
        """Everything in plain types; ids of differing tokens by their number."""
        content = asdict(self)
        for vocabulary in content["vocabularies"]:
            for found in vocabulary["differences"]:
                for key in ("only_ours", "only_theirs"):
                    found[key] = len(found[key])
        return {**content, "targets": as_json(self.targets())}

    def targets(self) -> list[Target]:
        """Everything that was asked for."""
        found = []
        for vocabulary in self.vocabularies:
            for name in PAPER_SPEEDUPS:
                row, where = vocabulary.rows[name], f"{vocabulary.title}, {name}"
                step, view, filled = (_median(one) for one in (row.step, row.ours_view, row.ours_row))
                outlines = _median(row.outlines)
                found += [
                    Target(f"{where}: compile + first mask", row.ours, FIRST_MASK_US, "µs"),
                    _speedup(f"{where}: faster than outlines", outlines, row.ours, COMPILE_SPEEDUP),
                    _speedup(f"{where}: step, view of the mask", step, view, VIEW_SPEEDUP),
                    _speedup(f"{where}: step, filled row", step, filled, ROW_SPEEDUP),
                ]
        return found

    def tables(self) -> list[Table]:
        """Every table, in the order of reading."""
        tables = [_paper_table(vocabulary) for vocabulary in self.vocabularies]
        for vocabulary in self.vocabularies:
            tables += [_compiling(vocabulary), _steps(vocabulary)]
        return [*tables, target_table(self.targets())]


def _speedup(name: str, theirs: float | None, ours: float | None, limit: float) -> Target:
    return Target(name, theirs / ours if theirs is not None and ours else None, limit, "times", at_least=True)


def _median(summary: Summary | None) -> float | None:
    return None if summary is None else summary.median_us


def _times(theirs: float | None, ours: float | None) -> str:
    if theirs is None or ours is None or ours <= 0:
        return "–"
    value = theirs / ours
    return f"{value:,.0f}×" if value >= 100 else f"{value:.1f}×"


def _paper_table(vocabulary: VocabularyFigures) -> Table:
    table = Table(
        f"Paper 002, table 2, with {vocabulary.title} ({vocabulary.width:,} tokens): medians, µs",
        (
            "constraint", "outlines 0.0.34", "tokamata", "speedup", "both less trivial", "paper",
            "outlines, step", "view", "speedup", "row", "speedup", "paper",
        ),
        left=1,
    )  # fmt: skip
    trivial, copy = _median(vocabulary.trivial), _median(vocabulary.copy)
    for name, (compile_speedup, step_speedup) in PAPER_SPEEDUPS.items():
        row = vocabulary.rows[name]
        outlines, ours = _median(row.outlines), row.ours
        step, view, filled = (_median(one) for one in (row.step, row.ours_view, row.ours_row))
        less = None if ours is None or trivial is None else ours - trivial
        table.rows.append(
            (
                name, us(outlines), us(ours), _times(outlines, ours), _times(outlines, less),
                f"{compile_speedup:,.0f}×", us(step), us(view), _times(step, view), us(filled),
                _times(step, filled), f"{step_speedup}×",
            )
        )  # fmt: skip
    table.notes = [
        "Left: text of the pattern to first mask. outlines is less its trivial regex, as in the paper; "
        f"tokamata is not, but in 'both less trivial', where {us(trivial)} µs are taken off.",
        "Right: one step from the start state as in appendix C.3, for outlines with a vector of floats; "
        f"'row' has the mask in the caller's row, of which a bare copy (np.copyto) is {us(copy)} µs.",
        "'paper' is what Koo, Liu & He report for their own system, on their machine.",
    ]
    return table


def _compiling(vocabulary: VocabularyFigures) -> Table:
    table = Table(
        f"{vocabulary.title}: pattern text to matcher, plus first mask (µs)",
        ("constraint", "engine", *STATISTICS, "compile", "mask", "after others"),
        notes=[
            "'fresh vocabulary': nothing of the vocabulary has been used before but by the trivial regex. "
            "tokamata keeps with a vocabulary what stays inside a class of code points, for all constraints.",
            "JSON object: the schema's text; outlines 0.0.34 and outlines-core make a regex of it, in which "
            "members come in the order of the schema, and no others beside them.",
            "For quoted text tokamata has the extension, which is another language than the regex of the "
            "others: any escape, and spaces anywhere, but no line feed.",
            "'after others': right after another engine's turn, when the caches hold what that left there.",
        ],
    )
    for name, row in vocabulary.rows.items():
        group = [
            (
                name, engine, *cells(one.compile_and_mask),
                *(us(_median(part)) for part in (one.compile, one.first_mask, one.after_others)),
            )
            for engine, one in row.engines.items()
        ]  # fmt: skip
        rest = ("–", "–", "–")
        group.insert(1, (name, "tokamata, fresh vocabulary", *cells(row.fresh), *rest))
        if row.outlines is not None:
            group.append((name, "outlines 0.0.34, less trivial", *cells(row.outlines), *rest))
            group.append((name, "outlines 0.0.34, whole", *cells(row.outlines_whole), *rest))
            group.append((name, "outlines 0.0.34, trivial", *cells(row.outlines_trivial), *rest))
        table.groups([group])
    table.groups([[("trivial (x)", "tokamata", *cells(vocabulary.trivial), "–", "–", "–")]])
    table.notes += _agreement(vocabulary)
    return table


def _agreement(vocabulary: VocabularyFigures) -> list[str]:
    notes = [found.note for found in vocabulary.differences]
    for name, row in vocabulary.rows.items():
        for engine, one in row.engines.items():
            if one.refused:
                notes.append(f"{engine}, {name}: refuses the pattern: {one.refused}")
            if one.wrong:
                notes.append(f"{engine}, {name}: WRONG: {one.wrong}")
        if row.differing is not None and any(row.differing):
            ours, theirs = row.differing
            notes.append(
                f"outlines 0.0.34, {name}, the same regex: {ours:,} tokens of the first mask only with "
                f"tokamata, {theirs:,} only with outlines (it knows no token that is part of a code point)"
            )
    return notes or ["All first masks agree, stop tokens left out."]


def _steps(vocabulary: VocabularyFigures) -> Table:
    table = Table(
        f"{vocabulary.title}: one step from the start state, mask and first token allowed (µs)",
        ("constraint", "engine", *STATISTICS),
        notes=[
            "tokamata with 'in a loop', and outlines, are timed in loops of 500, the others call by call. "
            "Peers write into a row of bits.",
            "outlines, 'float vector' is compared above: -inf and 0, to be added to logits. 'as it "
            "generates' copies logits, by its own functions; 'bool vector' is the least that one could do.",
        ],
    )
    for name, row in vocabulary.rows.items():
        group = [
            (name, "tokamata, view, in a loop", *cells(row.ours_view)),
            (name, "tokamata, row, in a loop", *cells(row.ours_row)),
            *((name, f"{engine}, row", *cells(one)) for engine, one in row.steps.items()),
            *(
                (name, f"outlines 0.0.34, {READINGS[reading]}", *cells(one))
                for reading, one in row.outlines_steps.items()
            ),
        ]
        table.groups([group])
    return table
