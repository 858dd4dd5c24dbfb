"""One style for all pictures; the same figures give the same file, and a small one."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from benchmarks.common.small_svg import make_small

OURS = ("#c0392b", "#e67e22", "#8e44ad", "#2980b9")
PEERS = ("0.15", "0.4", "0.55", "0.7")
COLOURS = ("#3a7ebf", "#b8631a", "#3f9142", "#a0529a", "#9a7d0a", "#c0504d")
INK = "#7a7a7a"  # of middle lightness, so that it can be read on light and on dark pages


def subplots(rows: int, columns: int, size: tuple[float, float]) -> tuple[Any, Any]:
    """A figure with panels, by matplotlib without a screen."""
    import matplotlib as mpl

    mpl.use("Agg")
    mpl.rcParams.update({"svg.hashsalt": "tokamata", "svg.fonttype": "none", "font.size": 9})
    mpl.rcParams.update({"figure.facecolor": "none", "axes.facecolor": "none"})
    mpl.rcParams.update({"axes.titlesize": 10, "axes.edgecolor": INK})
    mpl.rcParams.update(dict.fromkeys(("text.color", "axes.labelcolor", "xtick.color", "ytick.color"), INK))
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(rows, columns, figsize=size, layout="constrained", squeeze=False)
    for axis in axes.flat:
        axis.spines[["top", "right"]].set_visible(False)
    return figure, axes


def save(figure: Any, path: Path, caption: str) -> None:
    """Writes the picture; the file's name says its format."""
    figure.supxlabel(caption, fontsize=7)
    metadata = {"Date": None} if path.suffix == ".svg" else None
    figure.savefig(path, dpi=150, transparent=True, metadata=metadata)
    if path.suffix == ".svg":
        make_small(path)


def line(axis: Any, i: int, x: Any, y: Any, name: str) -> None:
    """The line of a number, with its own colour and marker."""
    colour = COLOURS[i % len(COLOURS)]
    axis.plot(x, y, marker="osD^vP"[i % 6], markersize=4, linewidth=1.5, color=colour, label=name)


def log_axes(axis: Any, across: str, up: str) -> None:
    """Logarithmic axes with plain numbers, whole decades, a grid and a legend above."""
    from matplotlib.ticker import FuncFormatter, NullFormatter

    axis.set(xscale="log", yscale="log", xlabel=across, ylabel=up)
    low, high = (math.log10(limit) for limit in axis.get_ylim())
    # Whole decades, at least two, so that what is flat looks flat.
    axis.set_ylim(10.0 ** math.floor(low), 10.0 ** max(math.ceil(high), math.floor(low) + 2))
    for side in (axis.xaxis, axis.yaxis):
        side.set_major_formatter(
            FuncFormatter(lambda value, _: f"{value:,.0f}" if value >= 1 else f"{value:g}")
        )
        side.set_minor_formatter(NullFormatter())
    axis.grid(which="major", color=INK, alpha=0.25, linewidth=0.5)
    axis.legend(fontsize=7.5, frameon=False, ncols=2, loc="lower left", bbox_to_anchor=(0.0, 1.0))
