"""The figures that ``canonical.py`` reports, and tokamata's targets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field

from canonical_accuracy import Accuracy
from canonical_tables import TableTimes
from canonical_walks import TOKENIZATIONS, Times, Walk
from targets import Target, as_json
from timing import Summary, summarize

MASK_US, MASK_P99_US, ADVANCE_US = 5.0, 60.0, 1.5
TABLES_S, TABLES_MB = 2.0, 100.0
TARGET_WIDTH = 262_145
PAPER_GROUP, SCHEMA_GROUP = "the four regexes of paper 002", "regexes of schemas"


@dataclass
class TimesFigures:
    """Of one tokenization, in microseconds; see ``canonical_walks.Times``."""

    compiling: Summary | None
    first: Summary | None
    masks: Summary | None
    advances: Summary | None


def reduce_times(parts: Sequence[Times], clock_ns: float) -> TimesFigures:
    """Summaries of all the times in several walks together."""
    names = ("compiling", "first", "masks", "advances")
    pooled = {name: [value for part in parts for value in getattr(part, name)] for name in names}
    return TimesFigures(**{name: summarize(values, clock_ns) for name, values in pooled.items()})


@dataclass
class WalkFigures:
    """One pattern, or many, walked in one way; see ``canonical_walks.Walk``.

    Attributes:
        pattern, kind, constraints, texts, refused, wrong: as there.
        times: by tokenization.
        genlm: of genlm-control's mask, at some of the same places.
    """

    pattern: str
    kind: str
    constraints: int
    texts: int
    refused: dict[str, str]
    wrong: list[str]
    times: dict[str, TimesFigures]
    genlm: Summary | None = None


def reduce_walk(walk: Walk, clock_ns: float, genlm: Sequence[float] = ()) -> WalkFigures:
    """The figures of a walk."""
    times = {name: reduce_times([walk.times[name]], clock_ns) for name in TOKENIZATIONS}
    return WalkFigures(
        walk.pattern, walk.kind, walk.constraints, walk.texts, walk.refused, walk.wrong, times,
        summarize(genlm, clock_ns),
    )  # fmt: skip


@dataclass
class GroupFigures:
    """Patterns that targets are about, walked in all ways together; canonical masks alone."""

    name: str
    times: TimesFigures


@dataclass
class VocabularyFigures:
    """One tokenizer.

    Attributes:
        title: what tables call it.
        walks: one for each pattern and way of drawing.
        groups: the same, all ways together, by what targets are about.
        firsts: first masks by pattern and tokenization, all ways together.
        accuracy: by filter.
        left_out: paragraphs that the tokenizer does not give back, and which were not looked at.
        genlm: why genlm-control is left out, or how long its filter took to make.
        memory_bytes: of the tokenizer's tables after all of it.
    """

    title: str
    walks: list[WalkFigures] = field(default_factory=list)
    groups: list[GroupFigures] = field(default_factory=list)
    firsts: dict[str, dict[str, TimesFigures]] = field(default_factory=dict)
    accuracy: dict[str, Accuracy] = field(default_factory=dict)
    left_out: int = 0
    genlm: str = ""
    memory_bytes: int = 0


@dataclass
class SizeFigures:
    """One tokenizer among others: its tables, and masks of ``(?s:.*)``.

    Attributes:
        title, width: the tokenizer, and its tokens.
        built, kept, first_mask, file_bytes, memory_bytes: see ``canonical_tables.TableTimes``.
        walked_bytes: of the tables, with what is remembered in them after the walks.
        walks: by the way of drawing.
        refused: what was said where the tokenizer is not taken.
    """

    title: str
    width: int
    built: Summary | None = None
    kept: Summary | None = None
    first_mask: Summary | None = None
    file_bytes: int = 0
    memory_bytes: int = 0
    walked_bytes: int = 0
    walks: dict[str, WalkFigures] = field(default_factory=dict)
    refused: str | None = None

    def take(self, times: TableTimes) -> None:
        """Takes over what was measured of the tables."""
        self.built, self.kept = summarize(times.built), summarize(times.kept)
        self.first_mask = summarize(times.first_masks)
        self.file_bytes, self.memory_bytes = times.file_bytes, times.memory_bytes


@dataclass
class CanonicalFigures:
    """What a run has measured, and where."""

    facts: dict[str, str]
    vocabularies: list[VocabularyFigures] = field(default_factory=list)
    sizes: list[SizeFigures] = field(default_factory=list)

    def as_json(self) -> dict[str, object]:
        """Everything in plain types."""
        return asdict(self) | {"targets": as_json(self.targets())}

    @property
    def wrong(self) -> list[str]:
        """What must not be: canonical tokens that tokamata forbids, dead ends, masks that were not kept."""
        found = [line for one in self.vocabularies for walk in one.walks for line in walk.wrong]
        found += [line for size in self.sizes for walk in size.walks.values() for line in walk.wrong]
        for one in self.vocabularies:
            ours = one.accuracy.get("tokamata, canonical")
            found += [] if ours is None else ours.forbidden_examples
        return found

    def targets(self) -> list[Target]:
        """Each target and the value that was measured."""
        found = []
        for one in self.vocabularies:
            for group in one.groups:
                masks, name = group.times.masks, f"{one.title}, {group.name}"
                found += [
                    Target(f"canonical mask, p50: {name}", masks and masks.median_us, MASK_US, "µs"),
                    Target(f"canonical mask, p99: {name}", masks and masks.p99_us, MASK_P99_US, "µs"),
                    Target(f"advance, p50: {name}", median_of(group.times.advances), ADVANCE_US, "µs"),
                ]
        for size in self.sizes:
            if size.width == TARGET_WIDTH and size.built is not None:
                later = [one.memory_bytes for one in self.vocabularies if one.title == size.title]
                held = max(size.memory_bytes, size.walked_bytes, *later) / 1e6
                found += [
                    Target(f"building the tables: {size.title}", size.built.median_us / 1e6, TABLES_S, "s"),
                    Target(f"memory of the tables: {size.title}", held, TABLES_MB, "MB"),
                ]
        return found


def median_of(summary: Summary | None) -> float | None:
    return None if summary is None else summary.median_us
