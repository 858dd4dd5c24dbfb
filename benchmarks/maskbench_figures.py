"""What ``maskbench.py`` measures, its targets and its tables."""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from maskbench_cases import SchemaCase
from maskbench_worker import Compiled, Replayed
from report import Table, us
from schema_engines import ANY_ORDER, CANONICAL, CANONICAL_ANY_ORDER, TOKAMATA
from targets import Target, as_json, target_table
from timing import Summary, summarize

OURS = (TOKAMATA, ANY_ORDER, CANONICAL, CANONICAL_ANY_ORDER)
# Ratios in one run, over the schemas that every engine of the run compiles.
OF_PEERS = (
    ("TBM", "mean", "glrmask", 1.5),
    ("TBM", "p99", "glrmask", 2.5),
    ("TBM", "p99.9", "llguidance", 0.15),
    ("TBM", "largest", "llguidance", 1.0),
    ("TTFM", "p50", "llguidance", 0.4),
    ("TTFM", "p99", "llguidance", 0.2),
)
# The same after ``compiled.prepare``.
OF_PEERS_PREPARED = (("TBM", "mean", "glrmask", 1.0), ("TBM", "p99", "glrmask", 1.0))
PREPARED_LARGEST_US, PREPARED_CANONICAL_P99_US = 1_000.0, 100.0
PREPARE_US = {"p50": 10_000.0, "p99": 150_000.0}
OF_ANY_TOKENS = (("TBM", "mean", 4.0), ("TBM", "p99", 5.0), ("TTFM", "p99", 4.0))
PEAK_OF_LLGUIDANCE = 1.0
COMPILED, ALL_RIGHT, FALSE_REJECTS = 99.0, 98.5, 0.1  # percent
_MOST_NOTED = 6
_RANKS = ("mean", "p50", "p90", "p99", "p99.9", "largest")


@dataclass
class EngineRun:
    """One engine with all schemas.

    Attributes:
        clock_ns: what reading the clock costs in its process.
        compiled, replayed: one for each schema; ``None`` where there was none.
        failures: why there was none, by number: out of time, or the process died.
        refused_order: valid instances, by schema and instance, that are refused in the order of the schema
            and accepted in any.
    """

    clock_ns: float = 0.0
    compiled: list[Compiled | None] = field(default_factory=list)
    replayed: list[Replayed | None] = field(default_factory=list)
    failures: dict[int, str] = field(default_factory=dict)
    refused_order: set[tuple[int, int]] = field(default_factory=set)

    def compiles(self, number: int) -> bool:
        """Whether it took a schema, within the time."""
        compiled = self.compiled[number]
        return compiled is not None and compiled.refused is None

    def masks(self, among: Collection[int]) -> Summary | None:
        """From a token to the mask after it: taking the token and the mask."""
        return self._steps(lambda one: map(operator.add, one.advance, one.fill), among)

    def fills(self, among: Collection[int]) -> Summary | None:
        """Masks between tokens, alone."""
        return self._steps(lambda one: one.fill, among)

    def advances(self, among: Collection[int]) -> Summary | None:
        """Tokens."""
        return self._steps(lambda one: one.advance, among)

    def first_masks(self, among: Collection[int]) -> Summary | None:
        """From the text of a schema to the first mask."""
        times = [
            one.compiling + one.mask
            for number in among
            if (one := self.compiled[number]) is not None
            and one.compiling is not None
            and one.mask is not None
        ]
        return summarize(times, self.clock_ns)

    def preparations(self, among: Collection[int]) -> Summary | None:
        """``compiled.prepare``, where it was called."""
        found = [self.compiled[number] for number in among]
        times = [one.preparing for one in found if one is not None and one.preparing is not None]
        return summarize(times, self.clock_ns)

    def _steps(self, part: Callable[[Replayed], Iterable[int]], among: Collection[int]) -> Summary | None:
        found = [self.replayed[number] for number in among]
        return summarize([time for one in found if one for time in part(one)], self.clock_ns)

    def outcomes(self, cases: Sequence[SchemaCase], excused: set[tuple[int, int]]) -> Counter[str]:
        """How many schemas have which outcome; ``excused``: instances in another order."""
        counts: Counter[str] = Counter()
        for number, case in enumerate(cases):
            compiled, replayed = self.compiled[number], self.replayed[number]
            if number in self.failures:
                counts["timeouts" if "no answer" in self.failures[number] else "died"] += 1
                continue
            if compiled is None or compiled.refused is not None or replayed is None:
                counts["compile errors"] += 1
                continue
            wrong = {
                (valid, accepted)
                for index, (valid, accepted) in enumerate(zip(case.valid, replayed.accepted, strict=True))
                if valid != accepted and (number, index) not in excused
            }
            counts["false rejects"] += (True, False) in wrong
            counts["false accepts"] += (False, True) in wrong
            counts["errors"] += replayed.problem is not None
            counts["all right"] += not wrong and replayed.problem is None
        return counts

    def peak_mb(self) -> float:
        """The most memory that its processes have occupied."""
        return max((one.peak_mb for one in (*self.compiled, *self.replayed) if one is not None), default=0.0)


@dataclass
class MaskBenchFigures:
    """What a run has measured."""

    facts: dict[str, str]
    cases: list[SchemaCase] = field(default_factory=list)
    engines: dict[str, EngineRun] = field(default_factory=dict)

    def as_json(self) -> dict[str, object]:
        """Everything in plain types, without the schemas."""
        return {
            "facts": self.facts,
            "schemas": [case.name for case in self.cases],
            "engines": {
                name: asdict(run) | {"refused_order": sorted(run.refused_order)}
                for name, run in self.engines.items()
            },
            "targets": as_json(self.targets()),
        }

    def common(self) -> list[int]:
        """The schemas that every engine compiled."""
        runs = self.engines.values()
        return [number for number in range(len(self.cases)) if all(run.compiles(number) for run in runs)]

    def targets(self) -> list[Target]:
        """Every target, beside what was measured."""
        found = []
        count = max(1, len(self.cases))
        for name in (TOKAMATA, ANY_ORDER):
            if name not in self.engines:
                continue
            run = self.engines[name]
            found += self._peer_targets(name)
            outcomes = run.outcomes(self.cases, run.refused_order)
            taken = count - sum(outcomes[kind] for kind in ("compile errors", "timeouts", "died"))
            found += [
                Target(f"{name}: compiles", 100 * taken / count, COMPILED, "%", at_least=True),
                Target(
                    f"{name}: all right", 100 * outcomes["all right"] / count, ALL_RIGHT, "%", at_least=True
                ),
                Target(f"{name}: false accepts", float(outcomes["false accepts"]), 0.0, "schemas"),
                Target(f"{name}: false rejects", 100 * outcomes["false rejects"] / count, FALSE_REJECTS, "%"),
            ]
        for name, own in ((CANONICAL, TOKAMATA), (CANONICAL_ANY_ORDER, ANY_ORDER)):
            if name in self.engines and own in self.engines:
                found += [self._ratio(what, rank, name, own, limit) for what, rank, limit in OF_ANY_TOKENS]
            if name in self.engines and self.is_prepared():
                p99 = self.measured(name, "TBM", "p99")
                found.append(Target(f"{name}: TBM p99, prepared", p99, PREPARED_CANONICAL_P99_US, "µs"))
        return found

    def _peer_targets(self, name: str) -> list[Target]:
        ratios = OF_PEERS_PREPARED if self.is_prepared() else OF_PEERS
        found = [
            self._ratio(what, rank, name, peer, limit)
            for what, rank, peer, limit in ratios
            if peer in self.engines
        ]
        if self.is_prepared():
            largest = self.measured(name, "TBM", "largest")
            found.append(Target(f"{name}: TBM largest, prepared", largest, PREPARED_LARGEST_US, "µs"))
            for rank, limit in PREPARE_US.items():
                taken = self.measured(name, "prepare", rank)
                found.append(Target(f"{name}: prepare {rank}", taken, limit, "µs"))
        if "llguidance" in self.engines:
            peak = self.engines[name].peak_mb() / max(1.0, self.engines["llguidance"].peak_mb())
            found.append(Target(f"{name}: peak, of llguidance's", peak, PEAK_OF_LLGUIDANCE, "times"))
        return found

    def is_prepared(self) -> bool:
        """Whether tokamata has prepared before the instances were replayed."""
        return "prepared" in self.facts

    def measured(self, name: str, what: str, rank: str) -> float | None:
        """A figure of an engine over the schemas that all have compiled."""
        run = self.engines[name]
        of = {"TBM": run.masks, "TTFM": run.first_masks, "prepare": run.preparations}[what]
        return _ranks(of(self.common()))[rank]

    def _ratio(self, what: str, rank: str, name: str, other: str, limit: float) -> Target:
        ours, theirs = self.measured(name, what, rank), self.measured(other, what, rank)
        ratio = ours / theirs if ours is not None and theirs else None
        return Target(f"{name}: {what} {rank}, of that of {other}", ratio, limit, "times")

    def tables(self) -> list[Table]:
        """Every table, in the order of reading."""
        return [_main_table(self), _refusals(self), target_table(self.targets())]


def _ranks(summary: Summary | None) -> dict[str, float | None]:
    if summary is None:
        return dict.fromkeys(_RANKS)
    values = (
        summary.mean_us,
        summary.median_us,
        summary.p90_us,
        summary.p99_us,
        summary.p999_us,
        summary.largest_us,
    )
    return dict(zip(_RANKS, values, strict=True))


def _main_table(figures: MaskBenchFigures) -> Table:
    engines, common = figures.engines, figures.common()
    table = Table(
        f"MaskBench: {len(figures.cases)} schemas (µs)",
        ("", *engines),
        left=1,
        notes=[
            "TBM: from a token to the mask after it, which is commit (taking the token) and fill (the mask). "
            f"TTFM: from the schema's text to the first mask. Times: of the {len(common)} schemas that every "
            "engine compiles, over all instances, as far as an engine follows them.",
            "False rejects and accepts are schemas with at least one instance of that kind; 'all right' are "
            "those that compile and say of every instance what the data say.",
        ],
    )

    def row(title: str, cell: Callable[[EngineRun], str]) -> tuple[str, ...]:
        return (title, *(cell(run) for run in engines.values()))

    def ranks(
        title: str, what: Callable[[EngineRun, Collection[int]], Summary | None], names: Sequence[str]
    ) -> list[Any]:
        found = [_ranks(what(run, common)) for run in engines.values()]
        return [(f"{title} {name}", *(us(one[name]) for one in found)) for name in names]

    counts = {name: run.outcomes(figures.cases, run.refused_order) for name, run in engines.items()}
    kinds = (
        "compile errors", "timeouts", "died", "errors", "false rejects", "false accepts", "all right",
    )  # fmt: skip
    table.groups(
        [
            ranks("TBM", EngineRun.masks, _RANKS),
            ranks("fill", EngineRun.fills, ("mean", "p50", "p99")),
            ranks("commit", EngineRun.advances, ("mean", "p50", "p99")),
            ranks("TTFM", EngineRun.first_masks, ("p50", "p90", "p99", "largest")),
            ranks("prepare", EngineRun.preparations, ("p50", "p99", "largest"))
            if figures.is_prepared()
            else [],
            [(kind, *(f"{counts[name][kind]:,}" for name in engines)) for kind in kinds],
            [
                (
                    "valid instances not in the order of the schema",
                    *(
                        str(len(run.refused_order)) if name in (TOKAMATA, CANONICAL) else "–"
                        for name, run in engines.items()
                    ),
                ),
                row("masks", lambda run: f"{sum(len(one.fill) for one in run.replayed if one):,}"),
                row("peak MB", lambda run: f"{run.peak_mb():,.0f}"),
            ],
        ]
    )
    for name, run in engines.items():
        slow = sorted(
            ((max(one.fill, default=0), number) for number, one in enumerate(run.replayed) if one),
            reverse=True,
        )
        if name in OURS and slow:
            shown = ", ".join(f"{figures.cases[number].name} {time / 1e3:,.0f}" for time, number in slow[:3])
            table.notes.append(f"{name}: slowest masks: {shown}")
    return table


def _refusals(figures: MaskBenchFigures) -> Table:
    """What tokamata has against schemas and instances, one by one, and how often peers say what."""
    table = Table("What was refused, and what went wrong", ("engine", "schema", "what"), left=3)
    for name, run in figures.engines.items():
        excused = run.refused_order
        rows = []
        for number, case in enumerate(figures.cases):
            said = run.failures.get(number)
            compiled, replayed = run.compiled[number], run.replayed[number]
            if said is None and compiled is not None:
                said = compiled.refused
            if said is None and replayed is not None:
                wrong = [
                    f"instance {index} {'rejected' if valid else 'accepted'} falsely"
                    for index, (valid, accepted) in enumerate(zip(case.valid, replayed.accepted, strict=True))
                    if valid != accepted and (number, index) not in excused
                ]
                said = "; ".join([*wrong, *([replayed.problem] if replayed.problem else [])]) or None
            if said is not None:
                rows.append((name, case.name, said[:120]))
        if name in OURS:
            table.groups([rows])
        elif rows:
            kinds = Counter(said[:40] for _, _, said in rows)
            shown = "; ".join(f"{said} ({count})" for said, count in kinds.most_common(_MOST_NOTED))
            table.notes.append(f"{name}: {len(rows)} schemas: {shown}")
    return table
