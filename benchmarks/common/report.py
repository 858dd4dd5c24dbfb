"""Reports: tables of pandas with a title and notes, targets, and the facts that the figures depend on."""

from __future__ import annotations

import json
import sys
from argparse import Namespace
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

RANKS = ("p50", "p90", "p99", "largest")
"""The statistics that most tables show."""


def ranks(
    samples_ns: Iterable[float], names: Sequence[str] = RANKS, cost_ns: float = 0.0
) -> dict[str, float]:
    """Statistics of times in nanoseconds, in microseconds; NaN without samples.

    Percentiles are by nearest rank: of 20 samples, p99 is the largest.

    Args:
        samples_ns: the times.
        names: ``mean``, ``largest``, or percentiles such as ``p99.9``.
        cost_ns: what measuring itself cost, subtracted from each.
    """
    samples = np.maximum(np.fromiter(samples_ns, dtype=float) - cost_ns, 0.0) / 1e3
    if samples.size == 0:
        return dict.fromkeys(names, np.nan)
    return {name: float(_statistic(samples, name)) for name in names}


def _statistic(samples: np.ndarray[Any, Any], name: str) -> Any:
    if name == "mean":
        return samples.mean()
    if name == "largest":
        return samples.max()
    return np.percentile(samples, float(name[1:]), method="inverted_cdf")


def shown(value: object) -> str:
    """A cell: numbers to three digits or so, ``–`` for NaN and ``None``, Markdown's bars escaped."""
    if isinstance(value, (bool, np.bool_)):
        return "yes" if value else "no"
    if isinstance(value, (int, np.integer)):
        return f"{value:,}"
    if value is None or (isinstance(value, float) and np.isnan(value)):
        return "–"
    if isinstance(value, float):
        size = abs(value)
        return f"{value:,.0f}" if size >= 100 else f"{value:.1f}" if size >= 10 else f"{value:.2f}"
    return str(value).replace("|", r"\|")


@dataclass(frozen=True)
class Target:
    """A value that the project wants to reach.

    Attributes:
        what: what is measured.
        measured: the figure; NaN if this run did not measure it.
        target: an upper bound, or a lower one with ``at_least``.
        unit: of both.
        at_least: whether more is better.
    """

    what: str
    measured: float
    target: float
    unit: str
    at_least: bool = False

    @property
    def verdict(self) -> str:
        """``met``, ``MISSED`` or ``not measured``."""
        if np.isnan(self.measured):
            return "not measured"
        is_met = self.measured >= self.target if self.at_least else self.measured <= self.target
        return "met" if is_met else "MISSED"


@dataclass
class Report:
    """What a program has measured.

    Attributes:
        facts: the machine, versions, limits: what the figures depend on.
        targets: with what was measured.
        is_wrong: whether an engine of ours gave a wrong answer; the program's exit status.
        picture: draws the main figures into a file.
    """

    facts: dict[str, str]
    targets: list[Target] = field(default_factory=list)
    is_wrong: bool = False
    picture: Callable[[Path], None] | None = None
    _sections: list[tuple[str, pd.DataFrame, list[str]]] = field(default_factory=list)
    _raw: dict[str, pd.DataFrame] = field(default_factory=dict)

    def add(
        self, title: str, rows: Sequence[Mapping[str, Any]] | pd.DataFrame, notes: Sequence[str] = ()
    ) -> None:
        """Adds a table; numbers are in the unit that the title names."""
        self._sections.append((title, pd.DataFrame(rows), list(notes)))

    def keep(self, name: str, frame: pd.DataFrame) -> None:
        """Keeps what a table was made from, for ``--json``."""
        self._raw[name] = frame

    def markdown(self) -> str:
        """Everything, as Markdown."""
        parts = ["\n".join(f"- {key}: {value}" for key, value in self.facts.items())]
        sections = list(self._sections)
        if self.targets:
            rows = [
                {
                    "": target.what,
                    "measured": target.measured,
                    "target": f"at {'least' if target.at_least else 'most'} {target.target:,g}",
                    "unit": target.unit,
                    "verdict": target.verdict,
                }
                for target in self.targets
            ]
            sections.append(("Targets", pd.DataFrame(rows), []))
        for title, frame, notes in sections:
            table = _markdown_table(frame)
            parts.append(
                "\n\n".join(
                    [f"### {title}", table, *(["\n".join(f"- {one}" for one in notes)] if notes else [])]
                )
            )
        return "\n\n".join(parts) + "\n"

    def publish(self, options: Namespace) -> None:
        """Shows everything, and stores it where the options say."""
        text = self.markdown()
        _show(text)
        for path in (options.json, options.markdown):
            if path is not None:
                path.parent.mkdir(parents=True, exist_ok=True)
        if options.markdown is not None:
            options.markdown.write_text(text, encoding="utf-8")
        if options.json is not None:
            content = {
                "facts": self.facts,
                "targets": [vars(target) | {"verdict": target.verdict} for target in self.targets],
                "tables": {title: frame.to_dict("records") for title, frame, _ in self._sections},
                "raw": {name: frame.to_dict("list") for name, frame in self._raw.items()},
            }
            options.json.write_text(json.dumps(content, ensure_ascii=False, default=str) + "\n", "utf-8")
        if options.plot is not None and self.picture is not None:
            self.picture(options.plot)


def _markdown_table(frame: pd.DataFrame) -> str:
    if frame.empty:
        return "(none)"
    numeric = [pd.api.types.is_numeric_dtype(frame[column]) for column in frame.columns]
    cells = frame.map(shown)
    cells.columns = [shown(column) for column in frame.columns]
    align = ["right" if is_number or i > 1 else "left" for i, is_number in enumerate(numeric)]
    return str(cells.to_markdown(index=False, disable_numparse=True, colalign=align))


def _show(text: str) -> None:
    """In colours where a person reads."""
    if not sys.stdout.isatty():
        print(text)
        return
    from rich.console import Console
    from rich.markdown import Markdown

    Console().print(Markdown(text))
