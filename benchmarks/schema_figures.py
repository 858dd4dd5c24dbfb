"""What ``schema_regexes.py`` measures, its targets and its tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from engine_worker import Answer
from report import Table, us
from schema_texts import Reference
from targets import Target, as_json, target_table
from timing import Summary, summarize

TBM_US = {"p50": 1.0, "p99": 15.0, "p99.9": 200.0}
TTFM_P50_US = 150.0
_MOST_NOTED = 8
_MOST_SLOW = 3
_STATISTICS = ("p50", "p90", "p99", "p99.9", "largest", "samples")


@dataclass
class EngineRun:
    """One engine with all regexes.

    Attributes:
        clock_ns: what reading the clock costs in its process.
        answers: one for each regex; ``None`` where there was none.
        failures: why there was none, by number of the regex: out of time, or the process died.
    """

    clock_ns: float
    answers: list[Answer | None] = field(default_factory=list)
    failures: dict[int, str] = field(default_factory=dict)

    def taken(self) -> set[int]:
        """Numbers of the regexes that it compiled, and all of whose texts it accepted."""
        return {
            number
            for number, answer in enumerate(self.answers)
            if answer is not None and answer.refused is None and not answer.wrong
        }

    def summary(self, what: str, numbers: set[int]) -> Summary | None:
        """Of ``ttfm``, ``again``, ``compile``, ``tbm``, ``fill`` or ``advance``, over some of the regexes."""
        samples: list[float] = []
        for number in sorted(numbers):
            answer = self.answers[number]
            if answer is None or answer.compiling is None or answer.mask is None:
                continue
            ttfm = answer.compiling + answer.mask
            one: dict[str, list[float]] = {
                "ttfm": [ttfm - self.clock_ns],
                "again": [ttfm if answer.again is None else answer.again],
                "compile": [answer.compiling],
                "fill": list(answer.fill),
                "advance": list(answer.advance),
                "tbm": [
                    advance + fill - self.clock_ns
                    for advance, fill in zip(answer.advance, answer.fill, strict=True)
                ],
            }
            samples += one[what]
        return summarize(samples, self.clock_ns)


@dataclass
class VocabularyRun:
    """All engines with one vocabulary."""

    title: str
    width: int
    references: list[Reference]
    engines: dict[str, EngineRun] = field(default_factory=dict)

    def common(self) -> set[int]:
        """Numbers of the regexes that every engine took, with all their texts."""
        return set.intersection(*(run.taken() for run in self.engines.values()))

    def same_first_masks(self, engine: str) -> tuple[int, int]:
        """Of how many regexes the first mask is tokamata's, and of how many both have one."""
        pairs = [
            (ours.first_mask, theirs.first_mask)
            for ours, theirs in zip(
                self.engines["tokamata"].answers, self.engines[engine].answers, strict=True
            )
            if ours is not None and theirs is not None and ours.first_mask and theirs.first_mask
        ]
        return sum(ours == theirs for ours, theirs in pairs), len(pairs)


@dataclass
class SchemaFigures:
    """What a run has measured."""

    facts: dict[str, str]
    vocabularies: list[VocabularyRun] = field(default_factory=list)

    def targets(self) -> list[Target]:
        """Everything that was asked for, over the regexes that tokamata took."""
        found = []
        for run in self.vocabularies:
            ours = run.engines["tokamata"]
            tbm, ttfm = ours.summary("tbm", ours.taken()), ours.summary("ttfm", ours.taken())
            values = _percentiles(tbm)
            for name, limit in TBM_US.items():
                found.append(Target(f"{run.title}: TBM {name}", values.get(name), limit, "µs"))
            found.append(Target(f"{run.title}: TTFM p50", _percentiles(ttfm).get("p50"), TTFM_P50_US, "µs"))
        return found

    def tables(self) -> list[Table]:
        """Every table, in the order of reading."""
        tables = []
        for run in self.vocabularies:
            tables += [_times(run), _agreement(run)]
        return [*tables, target_table(self.targets())]

    def as_json(self) -> dict[str, object]:
        """Everything in plain types: each regex with what every engine made of it."""
        return {
            "facts": self.facts,
            "targets": as_json(self.targets()),
            "vocabularies": [_run_as_json(run) for run in self.vocabularies],
        }


def _run_as_json(run: VocabularyRun) -> dict[str, object]:
    regexes: list[dict[str, Any]] = []
    for number, reference in enumerate(run.references):
        by_engine = {
            name: vars(answer) if (answer := one.answers[number]) else {"failed": one.failures[number]}
            for name, one in run.engines.items()
        }
        regexes.append({**vars(reference), "engines": by_engine})
    return {"title": run.title, "width": run.width, "regexes": regexes}


def _percentiles(summary: Summary | None) -> dict[str, float]:
    if summary is None:
        return {}
    return {
        "p50": summary.median_us,
        "p90": summary.p90_us,
        "p99": summary.p99_us,
        "p99.9": summary.p999_us,
        "largest": summary.largest_us,
    }


def _cells(summary: Summary | None) -> Sequence[str]:
    if summary is None:
        return (*["–"] * (len(_STATISTICS) - 1), "0")
    return (*map(us, _percentiles(summary).values()), f"{summary.runs:,}")


def _times(run: VocabularyRun) -> Table:
    table = Table(
        f"{len(run.references)} regexes of schemas, {run.title} ({run.width:,} tokens), µs",
        ("over", "figure", "engine", *_STATISTICS),
        left=3,
        notes=[
            "TTFM: pattern text to first mask, each regex seen for the first time. TBM: from a token to the "
            "mask after it, advance and fill; 'fill' is the mask alone. 'TTFM again': once more right after.",
            "'all it took': the regexes that this engine took with their texts. 'all took': those that every "
            "engine did, which are the ones to compare engines by.",
        ],
    )
    common = run.common()
    figures = (("TTFM", "ttfm"), ("TTFM again", "again"), ("TBM", "tbm"), ("fill", "fill"))
    for title, what in figures:
        rows = [("all it took", title, name, *_cells(one.summary(what, one.taken())))
                for name, one in run.engines.items()]  # fmt: skip
        table.groups([rows])
    for title, what in figures:
        rows = [(f"{len(common)} that all took", title, name, *_cells(one.summary(what, common)))
                for name, one in run.engines.items()]  # fmt: skip
        table.groups([rows])
    return table


def _agreement(run: VocabularyRun) -> Table:
    table = Table(
        f"{run.title}: what became of the regexes",
        (
            "engine", "took", "refused", "refused a text", "out of time, or died", "of", "same first mask",
            "of",
        ),
        left=1,
    )  # fmt: skip
    for name, one in run.engines.items():
        refused = sum(answer is not None and answer.refused is not None for answer in one.answers)
        wrong = sum(answer is not None and bool(answer.wrong) for answer in one.answers)
        same, both = run.same_first_masks(name)
        counts = (len(one.taken()), refused, wrong, len(one.failures), len(run.references), same, both)
        table.rows.append((name, *map(str, counts)))
    generated = sum(reference.is_generated for reference in run.references)
    texts = sum(len(reference.texts) for reference in run.references)
    table.notes = [
        f"{texts:,} texts: strings of valid instances in which Python's re finds the pattern, at most 3 for "
        f"each regex; for {generated} regexes without any, one that tokamata made.",
        "Engines read \\d, \\w and \\s differently, which shows in first masks.",
    ]
    for name, one in run.engines.items():
        table.notes += _noted(name, one, run)
    table.notes += _slowest(run)
    return table


def _slowest(run: VocabularyRun) -> list[str]:
    """The regexes that tokamata takes longest for: to the first mask, and between two."""
    answers = run.engines["tokamata"].answers
    firsts: list[tuple[int, int]] = []
    steps: list[tuple[int, int]] = []
    for number, answer in enumerate(answers):
        if answer is not None and answer.compiling is not None and answer.mask is not None:
            firsts.append((answer.compiling + answer.mask, number))
            largest = max(map(sum, zip(answer.advance, answer.fill, strict=True)), default=0)
            steps.append((largest, number))
    notes = []
    for what, found in (("to its first mask", firsts), ("between two masks", steps)):
        for taken, number in sorted(found, reverse=True)[:_MOST_SLOW]:
            pattern = run.references[number].pattern[:80]
            notes.append(f"tokamata takes longest {what}: {us(taken / 1e3)} µs, {_code(pattern)}")
    return notes


def _noted(name: str, one: EngineRun, run: VocabularyRun) -> list[str]:
    notes = []
    reasons = Counter(_reason(answer.refused) for answer in one.answers if answer and answer.refused)
    if reasons:
        said = "; ".join(f"{count} × {reason}" for reason, count in reasons.most_common(_MOST_NOTED))
        notes.append(f"{name} refuses: {said}")
    wrong = [(number, answer) for number, answer in enumerate(one.answers) if answer and answer.wrong]
    for number, answer in wrong[:_MOST_NOTED]:
        reference = run.references[number]
        text = reference.texts[answer.wrong[0]]
        source = "made by tokamata" if reference.is_generated else "of an instance"
        notes.append(f"{name}: {_code(reference.pattern[:80])} does not accept {_code(text[:60])}, {source}")
    if len(wrong) > _MOST_NOTED:
        notes.append(f"{name}: and texts of {len(wrong) - _MOST_NOTED} more regexes (--json has them)")
    for number, failure in list(one.failures.items())[:_MOST_NOTED]:
        notes.append(f"{name}: {_code(run.references[number].pattern[:80])}: {failure[:160]}")
    return notes


def _code(text: str) -> str:
    """A text as code of Markdown, which would read the brackets and stars of a pattern as marks."""
    return f"`` {text!r} ``"


def _reason(message: str | None) -> str:
    """A message without what is only of this pattern, so that like ones can be counted."""
    words = (message or "").split()
    kept = [word for word in words if not any(mark in word for mark in "[](){}\\^$|*/'\"0123456789")]
    return " ".join(kept)[:90]
