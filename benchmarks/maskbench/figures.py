"""What MaskBench measures: tables, targets, and the picture."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.common import plots
from benchmarks.common.engines import ANY_ORDER, CANONICAL, CANONICAL_ANY_ORDER, OURS, TOKAMATA
from benchmarks.common.replaying import EngineRun, common
from benchmarks.common.report import Report, Target, ranks
from benchmarks.common.schemas import SchemaCase

# Ratios within one run, over the schemas that every engine compiles: (figure, rank, peer, target).
_OF_PEERS = (
    ("TBM", "mean", "glrmask", 1.5),
    ("TBM", "p99", "glrmask", 2.5),
    ("TBM", "p99.9", "llguidance", 0.15),
    ("TBM", "largest", "llguidance", 1.0),
    ("TTFM", "p50", "llguidance", 0.4),
    ("TTFM", "p99", "llguidance", 0.2),
)
_OF_PEERS_PREPARED = (("TBM", "mean", "glrmask", 1.0), ("TBM", "p99", "glrmask", 1.0))
_PREPARED_US = (("TBM", "largest", 1_000.0), ("prepare", "p50", 10_000.0), ("prepare", "p99", 150_000.0))
_CANONICAL_OF_ANY = (("TBM", "mean", 4.0), ("TBM", "p99", 5.0), ("TTFM", "p99", 4.0))
_CANONICAL_PREPARED_P99_US = 100.0
_COMPILED, _ALL_RIGHT, _FALSE_REJECTS = 99.0, 98.5, 0.1  # percent
_ROWS = (
    ("TBM", ("mean", "p50", "p90", "p99", "p99.9", "largest")),
    ("fill", ("mean", "p50", "p99")),
    ("commit", ("mean", "p50", "p99")),
    ("TTFM", ("p50", "p90", "p99", "largest")),
    ("prepare", ("p50", "p99", "largest")),
)
_OUTCOMES = ("compile errors", "timeouts", "died", "errors", "false rejects", "false accepts", "all right")
_NOTES = (
    "TBM: from a token to the mask after it: commit (the token) and fill (the mask). TTFM: from the schema's "
    "text to the first mask. Times are over the schemas that every engine compiles, as far as an engine "
    "follows their instances.",
    "False rejects and accepts are schemas with at least one such instance; 'all right' are those that "
    "compile and judge every instance as the data do.",
)


@dataclass
class Figures:
    """A run.

    Attributes:
        schemas: the cases.
        runs: by engine.
        refused_order: valid instances, by schema and instance, that an engine refuses for their order alone.
        is_prepared: whether tokamata prepared before the instances were replayed.
    """

    facts: dict[str, str]
    schemas: list[SchemaCase]
    runs: dict[str, EngineRun]
    refused_order: dict[str, set[tuple[int, int]]]
    is_prepared: bool

    def report(self) -> Report:
        """Tables and targets."""
        report = Report(self.facts)
        outcomes = {name: self._outcomes(name) for name in self.runs}
        among = common(self.runs, EngineRun.compiles)
        rows: list[dict[str, Any]] = []
        for what, names in _ROWS:
            found = {name: ranks(run.samples(what, among), names) for name, run in self.runs.items()}
            if any(not np.isnan(one[names[0]]) for one in found.values()):
                rows += [
                    {"": f"{what} {rank}", **{name: one[rank] for name, one in found.items()}}
                    for rank in names
                ]
        rows += [
            {"": kind, **{name: counts[kind] for name, counts in outcomes.items()}} for kind in _OUTCOMES
        ]
        rows.append(
            {
                "": "valid instances in another order",
                **{n: len(found) for n, found in self.refused_order.items()},
            }
        )
        rows.append(
            {
                "": "masks",
                **{n: len(run.samples("fill", range(len(self.schemas)))) for n, run in self.runs.items()},
            }
        )
        rows.append({"": "peak MB", **{name: round(run.peak_mb()) for name, run in self.runs.items()}})
        frame = pd.DataFrame(rows, dtype=object)
        compiled = f"{len(among)} schemas are compiled by every engine."
        report.add(
            f"MaskBench: {len(self.schemas)} schemas (µs)", frame, [*_NOTES, compiled, *self._slowest()]
        )
        report.add(
            "What was refused, and what went wrong", list(self._problems()), list(self._problems_of_peers())
        )
        report.targets = list(self._targets(outcomes, among))
        report.is_wrong = any(outcomes[name]["false accepts"] for name in OURS if name in outcomes)
        report.picture = partial(_draw, self.runs, self.facts)
        return report

    def _outcomes(self, name: str) -> Counter[str]:
        """How many schemas have which outcome."""
        run, counts = self.runs[name], Counter[str]()
        for number in range(len(self.schemas)):
            compiled, replayed = run.compiled[number], run.replayed[number]
            if number in run.failures:
                counts["timeouts" if "no answer" in run.failures[number] else "died"] += 1
            elif compiled is None or compiled.refused is not None or replayed is None:
                counts["compile errors"] += 1
            else:
                wrong = {valid for _, valid in self._wrong(name, number)}
                counts["false rejects"] += True in wrong
                counts["false accepts"] += False in wrong
                counts["errors"] += replayed.problem is not None
                counts["all right"] += not wrong and replayed.problem is None
        return counts

    def _wrong(self, name: str, number: int) -> Iterator[tuple[int, bool]]:
        """The instances that are judged otherwise than the data do, and whether they are valid."""
        replayed = self.runs[name].replayed[number]
        excused = self.refused_order.get(name, set())
        for index, accepted in enumerate(replayed.accepted if replayed else ()):
            valid = self.schemas[number].valid[index]
            if valid != accepted and (number, index) not in excused:
                yield index, valid

    def _slowest(self) -> Iterator[str]:
        for name, run in self.runs.items():
            if name in OURS:
                by_time = sorted(
                    ((max(one.fill, default=0), number) for number, one in enumerate(run.replayed) if one),
                    reverse=True,
                )
                shown = ", ".join(
                    f"{self.schemas[number].name} {time / 1e3:,.0f}" for time, number in by_time[:3]
                )
                yield f"{name}: slowest masks: {shown}"

    def _said(self, name: str) -> Iterator[tuple[str, str]]:
        """Schemas with what an engine says against them, or does wrong."""
        run = self.runs[name]
        for number, schema in enumerate(self.schemas):
            compiled, replayed = run.compiled[number], run.replayed[number]
            said = run.failures.get(number) or (compiled.refused if compiled else None)
            if not said:
                wrong = [
                    f"instance {index} {'rejected' if valid else 'accepted'} falsely"
                    for index, valid in self._wrong(name, number)
                ]
                said = "; ".join([*wrong, *([replayed.problem] if replayed and replayed.problem else [])])
            if said:
                yield schema.name, said[:120]

    def _problems(self) -> Iterator[dict[str, str]]:
        for name in self.runs:
            if name in OURS:
                yield from (
                    {"engine": name, "schema": schema, "what": said} for schema, said in self._said(name)
                )

    def _problems_of_peers(self) -> Iterator[str]:
        for name in self.runs:
            said = [said[:40] for _, said in self._said(name)]
            if name not in OURS and said:
                shown = "; ".join(f"{text} ({count})" for text, count in Counter(said).most_common(6))
                yield f"{name}: {len(said)} schemas: {shown}"

    def _targets(self, outcomes: dict[str, Counter[str]], among: list[int]) -> Iterator[Target]:
        def measured(name: str, what: str, rank: str) -> float:
            return ranks(self.runs[name].samples(what, among), [rank])[rank]

        def ratio(name: str, peer: str, what: str, rank: str, target: float) -> Target:
            value = measured(name, what, rank) / measured(peer, what, rank)
            return Target(f"{name}: {what} {rank}, relative to {peer}", value, target, "times")

        count = len(self.schemas)
        for name in (TOKAMATA, ANY_ORDER):
            if name not in self.runs:
                continue
            for what, rank, peer, target in _OF_PEERS_PREPARED if self.is_prepared else _OF_PEERS:
                if peer in self.runs:
                    yield ratio(name, peer, what, rank, target)
            for what, rank, target in _PREPARED_US if self.is_prepared else ():
                yield Target(f"{name}: {what} {rank}, prepared", measured(name, what, rank), target, "µs")
            if "llguidance" in self.runs:
                peak = self.runs[name].peak_mb() / self.runs["llguidance"].peak_mb()
                yield Target(f"{name}: peak memory, relative to llguidance", peak, 1.0, "times")
            found = outcomes[name]
            taken = count - found["compile errors"] - found["timeouts"] - found["died"]
            yield Target(f"{name}: compiles", 100 * taken / count, _COMPILED, "%", at_least=True)
            yield Target(
                f"{name}: all right", 100 * found["all right"] / count, _ALL_RIGHT, "%", at_least=True
            )
            yield Target(f"{name}: false accepts", float(found["false accepts"]), 0.0, "schemas")
            yield Target(f"{name}: false rejects", 100 * found["false rejects"] / count, _FALSE_REJECTS, "%")
        for name, own in ((CANONICAL, TOKAMATA), (CANONICAL_ANY_ORDER, ANY_ORDER)):
            if name in self.runs and own in self.runs:
                yield from (ratio(name, own, what, rank, target) for what, rank, target in _CANONICAL_OF_ANY)
            if name in self.runs and self.is_prepared:
                yield Target(
                    f"{name}: TBM p99, prepared",
                    measured(name, "TBM", "p99"),
                    _CANONICAL_PREPARED_P99_US,
                    "µs",
                )


def _draw(runs: dict[str, EngineRun], facts: dict[str, str], path: Path) -> None:
    """Times by percentile, between masks and to the first mask."""
    figure, axes = plots.subplots(1, 2, (11, 4.5))
    panels = (("token to mask (TBM)", "TBM"), ("schema to first mask (TTFM)", "TTFM"))
    for axis, (title, what) in zip(axes.flat, panels, strict=True):
        for name, run in runs.items():
            times = np.sort(run.samples(what, range(len(run.compiled)))) / 1e3
            if not times.size:
                continue
            # Percentiles by how many are slower: one in two, in ten, in a hundred, ...
            kept = np.unique(
                (times.size * (1 - 10 ** (-np.arange(140) / 20))).astype(int).clip(max=times.size - 1)
            )
            is_ours = name in OURS
            peers = [peer for peer in runs if peer not in OURS]
            colour = plots.OURS[OURS.index(name)] if is_ours else plots.PEERS[peers.index(name)]
            style = "-" if is_ours else ("-", "--", "-.", ":")[peers.index(name)]
            axis.plot(
                times.size / (times.size - kept),
                times[kept],
                style,
                color=colour,
                label=name,
                linewidth=2 if is_ours else 1.2,
            )
        ticks = {2: "50 %", 10: "90 %", 100: "99 %", 1000: "99.9 %", 10_000: "99.99 %"}
        axis.set(xscale="log", yscale="log", xlabel="share that is faster", ylabel="µs")
        most = axis.get_xlim()[1]
        axis.set_xticks(
            [at for at in ticks if at < most], [label for at, label in ticks.items() if at < most]
        )
        axis.minorticks_off()
        axis.set_title(title, fontsize=10, loc="left")
    axes.flat[1].legend(fontsize=8, frameon=False)
    plots.save(
        figure, path, f"MaskBench, Llama 3.1. {facts['schemas']}. {facts['processor']}, {facts['date']}"
    )
