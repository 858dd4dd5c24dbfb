"""What ``server.py`` measures, its targets and its tables."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field

from report import Table, us
from server_worker import Served, Started
from targets import Target, as_json, target_table
from timing import summarize

FIRST, SECOND, WARM = "first process", "second process", "warm process"
_HUNDRED = 100
_PEAK_MB = 330.0
_AS_FAST = 1.5  # times what a warm process takes, for one that has just started


@dataclass(frozen=True)
class Hundred:
    """A hundred schemas of the run: where it ends, their times to the first mask, the memory at its end."""

    end: int
    median_us: float
    p90_us: float
    largest_us: float
    memory_mb: float


@dataclass
class ServerFigures:
    """What a run has measured.

    Attributes:
        facts: machine, versions, schemas.
        started: how a process began, by kind: those of every probe.
        probes: the same schemas in each kind of process, in the same order.
        served: all schemas one after another in one process.
        kept_mb: what they have left on disk.
    """

    facts: dict[str, str]
    started: dict[str, list[Started]] = field(default_factory=dict)
    probes: dict[str, list[Served]] = field(default_factory=dict)
    served: list[Served] = field(default_factory=list)
    kept_mb: float = 0.0

    def as_json(self) -> dict[str, object]:
        """Everything in plain types."""
        return asdict(self) | {"targets": as_json(self.targets())}

    def hundreds(self) -> list[Hundred]:
        """The run in hundreds, of the schemas that were taken."""
        taken = [one for one in self.served if one.first_mask is not None]
        found = []
        for start in range(0, len(taken), _HUNDRED):
            part = taken[start : start + _HUNDRED]
            summary = summarize([one.first_mask or 0 for one in part])
            assert summary is not None
            memory = part[-1].memory_mb
            found.append(
                Hundred(start + len(part), summary.median_us, summary.p90_us, summary.largest_us, memory)
            )
        return found

    def targets(self) -> list[Target]:
        """Everything that was asked for."""
        found = [Target("memory of a process after all schemas", self.served[-1].memory_mb, _PEAK_MB, "MB")]
        parts = self.hundreds()
        if len(parts) > 1:
            ratio = parts[-1].median_us / parts[0].median_us
            found.append(Target("TTFM of the last hundred, times that of the first", ratio, 1.0, ""))
        for title, what in (("TTFM", _first_mask), ("masks of an instance", _all_masks)):
            second, warm = (_middle(self.probes.get(kind, ()), what) for kind in (SECOND, WARM))
            ratio = second / warm if second is not None and warm else None
            found.append(Target(f"{title}: second process, times a warm one", ratio, _AS_FAST, ""))
        return found

    def tables(self) -> list[Table]:
        """Every table, in the order of reading."""
        return [_run_table(self), _process_table(self), target_table(self.targets())]


def _first_mask(one: Served) -> float:
    return one.first_mask or 0


def _all_masks(one: Served) -> float:
    return one.all_masks


def _slowest(one: Served) -> float:
    return one.slowest


def _middle(served: Sequence[Served], what: Callable[[Served], float]) -> float | None:
    return statistics.median(map(what, served)) / 1e3 if served else None


def _run_table(figures: ServerFigures) -> Table:
    refused = sum(one.first_mask is None for one in figures.served)
    table = Table(
        f"{len(figures.served):,} different schemas, one after another in one process",
        ("schemas", "TTFM, median µs", "p90", "largest", "memory, MB"),
        left=0,
        notes=[
            "Each is compiled, one short instance of it is replayed, and then all of it is given up. "
            f"{refused} were refused and are not counted. They leave {figures.kept_mb:.1f} MB on disk.",
        ],
    )
    for part in figures.hundreds():
        times = (part.median_us, part.p90_us, part.largest_us)
        table.rows.append((f"{part.end:,}", *map(us, times), f"{part.memory_mb:,.0f}"))
    return table


def _process_table(figures: ServerFigures) -> Table:
    kinds = [kind for kind in (FIRST, SECOND, WARM) if kind in figures.probes]
    count = len(figures.probes[kinds[0]]) if kinds else 0
    table = Table(
        f"The first schema of a process: {count} schemas, each in a process of its own",
        ("µs", *kinds),
        left=1,
        notes=[
            "First process: nothing is kept on disk. Second: what a process of before has left there. Warm: "
            "the same schemas at the end of the long run. TTFM of a new process has in it code that runs "
            "for the first time.",
        ],
    )

    def loading(title: str, what: Callable[[Started], int]) -> tuple[str, ...]:
        began = [figures.started.get(kind) for kind in kinds]
        return (title, *(us(statistics.median(map(what, one)) / 1e3 if one else None) for one in began))

    def serving(title: str, what: Callable[[Served], float]) -> list[tuple[str, ...]]:
        rows = []
        summaries = [summarize([what(one) for one in figures.probes[kind]]) for kind in kinds]
        for rank, name in (("median_us", "median"), ("p90_us", "p90"), ("largest_us", "largest")):
            rows.append((f"{title}, {name}", *(us(getattr(one, rank) if one else None) for one in summaries)))
        return rows

    return table.groups(
        [
            [
                loading("load the vocabulary", lambda one: one.load),
                loading("make its trie", lambda one: one.trie),
            ],
            serving("TTFM", _first_mask),
            serving("masks of an instance, together", _all_masks),
            serving("the slowest of them", _slowest),
        ]
    )
