"""What ``maskbench.py`` measures, its targets and its tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from maskbench_cases import SchemaCase
from maskbench_worker import Compiled, Replayed
from report import Table, us
from schema_engines import ANY_ORDER, CANONICAL, TOKAMATA
from targets import Target, as_json, target_table
from timing import Summary, summarize

OURS = (TOKAMATA, ANY_ORDER, CANONICAL)
# In the order of the schema; half as much again is allowed in any order.
TBM_US = {"p50": 1.0, "p99": 9.0, "p99.9": 100.0, "largest": 3_000.0}
COMMIT_US = {"p50": 1.0}
TTFM_US = {"p50": 430.0, "p99": 7_500.0}
PEAK_MB = 330.0
CANONICAL_TBM_US = {"p50": 5.0, "p99": 60.0}
ANY_ORDER_FACTOR = 1.5
COMPILED, ALL_RIGHT, FALSE_REJECTS = 99.0, 98.5, 0.1  # percent
_MOST_NOTED = 6


@dataclass
class EngineRun:
    """One engine with all schemas.

    Attributes:
        clock_ns: what reading the clock costs in its process.
        compiled, replayed: one for each schema; ``None`` where there was none.
        failures: why there was none, by number: out of time, or the process died.
        refused_order: how many valid instances are refused in the order of the schema, and accepted in any.
    """

    clock_ns: float = 0.0
    compiled: list[Compiled | None] = field(default_factory=list)
    replayed: list[Replayed | None] = field(default_factory=list)
    failures: dict[int, str] = field(default_factory=dict)
    refused_order: int = 0

    def fills(self) -> Summary | None:
        """Masks between tokens."""
        return self._steps(lambda one: one.fill)

    def advances(self) -> Summary | None:
        """Tokens."""
        return self._steps(lambda one: one.advance)

    def first_masks(self) -> Summary | None:
        """From the text of a schema to the first mask."""
        times = [
            one.compiling + one.mask
            for one in self.compiled
            if one is not None and one.compiling is not None and one.mask is not None
        ]
        return summarize(times, self.clock_ns)

    def _steps(self, part: Callable[[Replayed], list[int]]) -> Summary | None:
        return summarize([time for one in self.replayed if one for time in part(one)], self.clock_ns)

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
            "engines": {name: asdict(run) for name, run in self.engines.items()},
            "targets": as_json(self.targets()),
        }

    def excused(self, engine: str) -> set[tuple[int, int]]:
        """Valid instances that an engine bound to an order refuses, and tokamata takes in any order.

        Known for tokamata alone; the data are in the order of a peer.
        """
        free = self.engines.get(ANY_ORDER)
        if engine not in (TOKAMATA, CANONICAL) or free is None:
            return set()
        found = set()
        for number, case in enumerate(self.cases):
            ours, any_order = self.engines[engine].replayed[number], free.replayed[number]
            if ours is not None and any_order is not None and ours.problem is None:
                for index, valid in enumerate(case.valid):
                    if valid and any_order.accepted[index] and not ours.accepted[index]:
                        found.add((number, index))
        return found

    def targets(self) -> list[Target]:
        """Everything that was asked for."""
        found = []
        count = max(1, len(self.cases))
        for name in (TOKAMATA, ANY_ORDER):
            if name not in self.engines:
                continue
            run = self.engines[name]
            factor = ANY_ORDER_FACTOR if name == ANY_ORDER else 1.0
            for what, summary, limits in (
                ("TBM", run.fills(), TBM_US),
                ("commit", run.advances(), COMMIT_US),
                ("TTFM", run.first_masks(), TTFM_US),
            ):
                found += _time_targets(f"{name}: {what}", summary, limits, factor)
            found.append(Target(f"{name}: peak", run.peak_mb(), PEAK_MB, "MB"))
            outcomes = run.outcomes(self.cases, self.excused(name))
            taken = count - sum(outcomes[kind] for kind in ("compile errors", "timeouts", "died"))
            found += [
                Target(f"{name}: compiles", 100 * taken / count, COMPILED, "%", at_least=True),
                Target(
                    f"{name}: all right", 100 * outcomes["all right"] / count, ALL_RIGHT, "%", at_least=True
                ),
                Target(f"{name}: false accepts", float(outcomes["false accepts"]), 0.0, "schemas"),
                Target(f"{name}: false rejects", 100 * outcomes["false rejects"] / count, FALSE_REJECTS, "%"),
            ]
        if CANONICAL in self.engines:
            fills = self.engines[CANONICAL].fills()
            found += _time_targets(f"{CANONICAL}: TBM", fills, CANONICAL_TBM_US, 1.0)
        return found

    def tables(self) -> list[Table]:
        """Every table, in the order of reading."""
        return [_main_table(self), _refusals(self), target_table(self.targets())]


def _time_targets(
    what: str, summary: Summary | None, limits: dict[str, float], factor: float
) -> list[Target]:
    measured = _ranks(summary)
    return [Target(f"{what} {rank}", measured[rank], factor * limit, "µs") for rank, limit in limits.items()]


def _ranks(summary: Summary | None) -> dict[str, float | None]:
    names = ("p50", "p90", "p99", "p99.9", "largest")
    if summary is None:
        return dict.fromkeys(names)
    values = (summary.median_us, summary.p90_us, summary.p99_us, summary.p999_us, summary.largest_us)
    return dict(zip(names, values, strict=True))


def _main_table(figures: MaskBenchFigures) -> Table:
    engines = figures.engines
    table = Table(
        f"MaskBench: {len(figures.cases)} schemas (µs)",
        ("", *engines),
        left=1,
        notes=[
            "TBM: the mask after a token, alone. Commit: taking the token. TTFM: from the schema's text to "
            "the first mask. Over all instances, as far as an engine follows them.",
            "False rejects and accepts are schemas with at least one instance of that kind; 'all right' are "
            "those that compile and say of every instance what the data say.",
        ],
    )

    def row(title: str, cell: Callable[[EngineRun], str]) -> tuple[str, ...]:
        return (title, *(cell(run) for run in engines.values()))

    def ranks(title: str, what: Callable[[EngineRun], Summary | None], names: Sequence[str]) -> list[Any]:
        found = [_ranks(what(run)) for run in engines.values()]
        return [(f"{title} {name}", *(us(one[name]) for one in found)) for name in names]

    counts = {name: run.outcomes(figures.cases, figures.excused(name)) for name, run in engines.items()}
    kinds = (
        "compile errors", "timeouts", "died", "errors", "false rejects", "false accepts", "all right",
    )  # fmt: skip
    table.groups(
        [
            ranks("TBM", EngineRun.fills, ("p50", "p90", "p99", "p99.9", "largest")),
            ranks("commit", EngineRun.advances, ("p50", "p99")),
            ranks("TTFM", EngineRun.first_masks, ("p50", "p90", "p99", "largest")),
            [(kind, *(f"{counts[name][kind]:,}" for name in engines)) for kind in kinds],
            [
                (
                    "valid instances not in the order of the schema",
                    *(
                        str(len(figures.excused(name))) if name in (TOKAMATA, CANONICAL) else "–"
                        for name in engines
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
        excused = figures.excused(name)
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
