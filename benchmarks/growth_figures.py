"""What ``growth.py`` measures, and its tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field

from growth_measure import BatchPoint, Point, Series
from report import Table, cells, median, us
from timing import Summary


@dataclass
class GrowthFigures:
    """What a run has measured.

    Attributes:
        facts: date, machine, versions, vocabularies.
        title: of the vocabulary of all but the first.
        vocabulary: patterns, by the width of the vocabulary.
        pattern: families, by the size of the pattern.
        bound: families, by the bound of a repetition.
        batches: ``tk.fill_masks``, by the number of matchers and of threads.
    """

    facts: dict[str, str]
    title: str
    vocabulary: list[Series] = field(default_factory=list)
    pattern: list[Series] = field(default_factory=list)
    bound: list[Series] = field(default_factory=list)
    batches: list[BatchPoint] = field(default_factory=list)

    def as_json(self) -> dict[str, object]:
        """Everything in plain types."""
        return asdict(self)

    def tables(self) -> list[Table]:
        """Every table, in the order of reading."""
        return [
            _series_table("1. With the vocabulary (µs)", "tokens", self.vocabulary),
            _series_table(f"2. With the pattern's size, {self.title} (µs)", "n", self.pattern),
            _series_table(f"3. With the bound of a repetition, {self.title} (µs)", "n", self.bound),
            self._batch_table(),
        ]

    def _batch_table(self) -> Table:
        table = Table(
            f"4. With the number of matchers, {self.title}: tk.fill_masks (µs for all, medians)",
            ("matchers", "threads", "new states", "for one", "speedup", "seen before", "for one", "speedup"),
            left=0,
            notes=[
                "Each matcher has a constraint of its own. The speedup is over one thread.",
                "'seen before' is a copy of each mask: memory bounds it.",
            ],
        )
        by_size: dict[int, list[BatchPoint]] = {}
        for point in self.batches:
            by_size.setdefault(point.size, []).append(point)
        for points in by_size.values():
            table.groups([[_batch_row(points[0], point) for point in points]])
        return table


def _batch_row(one: BatchPoint, point: BatchPoint) -> Sequence[str]:
    """``one`` is the same batch on one thread."""
    row = [f"{point.size:,}", str(point.threads)]
    for base, summary in ((one.new, point.new), (one.seen, point.seen)):
        row += [median(summary), _share(summary, point.size), _speedup(base, summary)]
    return row


def _share(summary: Summary | None, size: int) -> str:
    return us(None if summary is None else summary.median_us / size)


def _speedup(one: Summary | None, more: Summary | None) -> str:
    if one is None or more is None or not more.median_us:
        return "–"
    return f"{one.median_us / more.median_us:.2f}×"


def _series_table(title: str, size: str, found: Sequence[Series]) -> Table:
    table = Table(
        title,
        (
            "what", size, "compile + first mask", "p90", "largest", "runs", "step, new states", "p90", "p99",
            "largest", "held, MB",
        ),
        left=1,
    )  # fmt: skip
    for series in found:
        table.groups([[_point_row(series.name, point) for point in series.points]])
        table.notes += [
            f"{series.name}, n = {point.size:,}: {point.refused}" for point in series.points if point.refused
        ]
    table.notes.append(
        "A step is a token and the mask after it. States were not seen before on this constraint."
    )
    return table


def _point_row(name: str, point: Point) -> Sequence[str]:
    first = ["–", "–", "–", "0"]
    if point.first is not None:
        figures = (point.first.median_us, point.first.p90_us, point.first.largest_us)
        first = [*map(us, figures), str(point.first.runs)]
    step = cells(point.step)[:-1]
    held = "–" if point.memory_bytes is None else f"{point.memory_bytes / 1e6:.2f}"
    return name, f"{point.size:,}", *first, *step, held
