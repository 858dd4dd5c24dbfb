"""A picture of the main figures: bars on a logarithmic scale, the shorter the better."""

from __future__ import annotations

from pathlib import Path

from figures import Figures
from report import us

_PANELS = (
    ("pattern text to first mask", "compile_and_mask"),
    ("pattern text to the end of the first text, a mask at each step", "whole"),
    ("one step (mask and token), states seen before", "warm_step"),
)


def draw(figures: Figures, path: Path) -> None:
    """Writes the picture; its form is that of the file's name (svg, png, pdf).

    Raises:
        ImportError: matplotlib is not installed.
    """
    import matplotlib as mpl

    mpl.use("Agg")
    mpl.rcParams["svg.hashsalt"] = "tokamata"  # the same figures give the same file
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(len(_PANELS), 1, figsize=(9, 4 * len(_PANELS)), layout="constrained")
    cases = list(figures.paper)
    engines = list(next(iter(figures.paper.values())))
    height = 0.8 / len(engines)
    for axis, (title, field) in zip(axes, _PANELS, strict=True):
        for i, engine in enumerate(engines):
            found = [getattr(figures.paper[case][engine], field) for case in cases]
            medians = [summary.median_us if summary else float("nan") for summary in found]
            places = [j + i * height for j in range(len(cases))]
            colour = "#c0392b" if engine == "tokamata" else str(0.25 + 0.55 * i / len(engines))
            bars = axis.barh(places, medians, height * 0.92, label=engine, color=colour)
            axis.bar_label(bars, [us(value) for value in medians], padding=2, fontsize=7)
        axis.set_yticks([j + height * (len(engines) - 1) / 2 for j in range(len(cases))], cases)
        axis.invert_yaxis()
        axis.set_xscale("log")
        axis.margins(x=0.1)
        axis.set_title(f"{title}, µs (median, logarithmic)", fontsize=10, loc="left")
        axis.spines[["top", "right"]].set_visible(False)
    axes[0].legend(fontsize=8, frameon=False, loc="center left", bbox_to_anchor=(1, 0.5))
    caption = f"Gemma 3, {max(figures.seen):,} tokens. {figures.facts['processor']}, {figures.facts['date']}"
    figure.supxlabel(caption, fontsize=7)
    figure.savefig(path, dpi=150, metadata={"Date": None} if path.suffix == ".svg" else None)
