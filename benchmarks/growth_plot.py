"""Plots of how costs grow: all of them for this folder, and a summary for the README.

Nothing is painted behind them, and greys and colours are of middle lightness, so that they can be read on
light and on dark pages.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from growth_figures import GrowthFigures
from growth_measure import Point, Series

INK = "#7a7a7a"
COLOURS = ("#3a7ebf", "#b8631a", "#3f9142", "#a0529a", "#9a7d0a", "#c0504d")
_MARKERS = "osD^vP"
_LONG_NAME = 18  # code points, of which three columns do not fit


def draw(figures: GrowthFigures, path: Path) -> None:
    """All plots: the first mask and a step for each of what grows, and batches.

    Raises:
        ImportError: matplotlib is not installed.
    """
    pyplot = _prepared()
    picture, axes = pyplot.subplots(4, 2, figsize=(11, 15), layout="constrained")
    rows = (
        (figures.vocabulary, "tokens in the vocabulary"),
        (figures.pattern, "n, the size of the pattern"),
        (figures.bound, "n, the bound"),
    )
    for (left, right), (series, label) in zip(axes, rows, strict=False):
        _lines(left, series, _first, label, "compile + first mask, µs")
        _lines(right, series, _step, label, "one step in new states, µs")
    _batches(axes[3][0], figures, "new", "all masks, µs, new states")
    _batches(axes[3][1], figures, "seen", "all masks, µs, states seen before")
    _save(picture, figures, path)


def draw_summary(figures: GrowthFigures, path: Path) -> None:
    """Four plots for the README."""
    pyplot = _prepared()
    picture, axes = pyplot.subplots(2, 2, figsize=(10, 6.8), layout="constrained")
    first = "compile + first mask, µs"
    _lines(axes[0][0], figures.vocabulary, _first, "tokens in the vocabulary", first)
    _lines(axes[0][1], figures.pattern, _first, "n, the size of the pattern", first)
    _lines(axes[1][0], figures.bound, _first, "n, the bound", first)
    _batches(axes[1][1], figures, "new", "all masks, µs, new states")
    _save(picture, figures, path)


def _prepared() -> Any:
    import matplotlib as mpl

    mpl.use("Agg")
    mpl.rcParams.update(
        {
            "svg.hashsalt": "tokamata",  # the same figures give the same file
            "text.color": INK,
            "axes.labelcolor": INK,
            "axes.edgecolor": INK,
            "xtick.color": INK,
            "ytick.color": INK,
            "axes.spines.top": False,
            "axes.spines.right": False,
            "figure.facecolor": "none",
            "axes.facecolor": "none",
            "savefig.facecolor": "none",
            "font.size": 9,
        }
    )
    from matplotlib import pyplot

    return pyplot


def _first(point: Point) -> float:
    return point.first.median_us if point.first else float("nan")


def _step(point: Point) -> float:
    return point.step.median_us if point.step else float("nan")


def _lines(
    axis: Any, series: Sequence[Series], value: Callable[[Point], float], across: str, up: str
) -> None:
    for i, one in enumerate(series):
        sizes = [point.size for point in one.points]
        _line(axis, i, sizes, [value(point) for point in one.points], one.name)
    _finish(axis, across, up)


def _batches(axis: Any, figures: GrowthFigures, which: str, up: str) -> None:
    for i, threads in enumerate(sorted({point.threads for point in figures.batches})):
        points = [point for point in figures.batches if point.threads == threads]
        values = [
            summary.median_us if (summary := getattr(point, which)) else float("nan") for point in points
        ]
        name = "1 thread" if threads == 1 else f"{threads} threads"
        _line(axis, i, [point.size for point in points], values, name)
    _finish(axis, "matchers, each of its own constraint", up)


def _line(axis: Any, i: int, sizes: Sequence[int], values: Sequence[float], name: str) -> None:
    colour = COLOURS[i % len(COLOURS)]
    axis.plot(
        sizes,
        values,
        marker=_MARKERS[i % len(_MARKERS)],
        markersize=4,
        linewidth=1.5,
        color=colour,
        label=name,
    )


def _finish(axis: Any, across: str, up: str) -> None:
    from matplotlib.ticker import FuncFormatter, NullFormatter

    axis.set_xscale("log")
    axis.set_yscale("log")
    axis.set_ylim(*_decades(*axis.get_ylim()))
    for side in (axis.xaxis, axis.yaxis):
        side.set_major_formatter(FuncFormatter(_plain))
        side.set_minor_formatter(NullFormatter())
    low, high = axis.get_xlim()
    if high / low < 100:  # a decade has one tick or none
        axis.set_xticks([1e3 * (1 << i) for i in range(20) if low <= 1e3 * (1 << i) <= high])
        axis.xaxis.set_minor_locator(_no_ticks())
    axis.set_xlabel(across)
    axis.set_ylabel(up)
    axis.grid(which="major", color=INK, alpha=0.25, linewidth=0.5)
    _, names = axis.get_legend_handles_labels()
    columns = 3 if max(map(len, names)) < _LONG_NAME else 2
    axis.legend(fontsize=7.5, frameon=False, ncols=columns, loc="lower left", bbox_to_anchor=(0.0, 1.0))


def _no_ticks() -> Any:
    from matplotlib.ticker import NullLocator

    return NullLocator()


def _plain(value: float, place: int) -> str:
    """A tick's number as people write it."""
    del place
    return f"{value:,.0f}" if value >= 1 else f"{value:g}"


def _decades(low: float, high: float) -> tuple[float, float]:
    """Whole decades, at least two, so that what is flat looks flat."""
    bottom, top = math.floor(math.log10(low)), math.ceil(math.log10(high))
    return 10.0**bottom, 10.0 ** max(top, bottom + 2)


def _save(picture: Any, figures: GrowthFigures, path: Path) -> None:
    picture.supxlabel(
        f"Medians; {figures.title} but for the first plots. {figures.facts['processor']}, "
        f"{figures.facts['date']}",
        fontsize=7,
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    picture.savefig(path, dpi=150, metadata={"Date": None} if path.suffix == ".svg" else None)
