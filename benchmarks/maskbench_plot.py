"""A picture of ``maskbench.py``: how long masks and schemas take, by percentile."""

from __future__ import annotations

import operator
from pathlib import Path

from maskbench_figures import OURS, EngineRun, MaskBenchFigures

_COLOURS = ("#c0392b", "#e67e22", "#8e44ad", "#2980b9")
_GREYS = ("0.15", "0.4", "0.55", "0.7")
_STYLES = ("-", "--", "-.", ":")


def draw(figures: MaskBenchFigures, path: Path) -> None:
    """Writes the picture; its form is that of the file's name (svg, png, pdf).

    Raises:
        ImportError: matplotlib is not installed.
    """
    import matplotlib as mpl

    mpl.use("Agg")
    mpl.rcParams["svg.hashsalt"] = "tokamata"  # the same figures give the same file
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(1, 2, figsize=(11, 4.5), layout="constrained")
    panels = (
        ("token to mask (TBM)", _masks),
        ("schema to first mask (TTFM)", _first_masks),
    )
    for axis, (title, samples) in zip(axes, panels, strict=True):
        peers = 0
        for place, (name, run) in enumerate(figures.engines.items()):
            times = sorted(samples(run))
            if not times:
                continue
            # Percentiles by how many are slower: one in two, in ten, in a hundred, ...
            count = len(times)
            kept = sorted({0, count - 1, *(round(count * (1 - 10 ** (-step / 20))) for step in range(140))})
            kept = [index for index in kept if index < count]
            x = [count / (count - index) for index in kept]
            y = [times[index] / 1e3 for index in kept]
            is_ours = name in OURS
            colour = _COLOURS[OURS.index(name)] if is_ours else _GREYS[peers % len(_GREYS)]
            style = "-" if is_ours else _STYLES[peers % len(_STYLES)]
            peers += not is_ours
            axis.plot(
                x, y, style, color=colour, label=name, linewidth=2 if is_ours else 1.2, zorder=9 - place
            )
        axis.set_xscale("log")
        axis.set_yscale("log")
        ticks = [(2, "50 %"), (10, "90 %"), (100, "99 %"), (1000, "99.9 %"), (10_000, "99.99 %")]
        limit = axis.get_xlim()[1]
        shown = [(at, name) for at, name in ticks if at < limit]
        axis.set_xticks([at for at, _ in shown], [name for _, name in shown])
        axis.minorticks_off()
        axis.set_xlabel("so many are faster")
        axis.set_ylabel("µs")
        axis.set_title(title, fontsize=10, loc="left")
        axis.spines[["top", "right"]].set_visible(False)
    axes[1].legend(fontsize=8, frameon=False)  # where every engine has figures
    where = f"{figures.facts['processor']}, {figures.facts['date']}"
    caption = f"MaskBench, {len(figures.cases)} schemas, Llama 3.1. {where}"
    figure.supxlabel(caption, fontsize=7)
    figure.savefig(path, dpi=150, metadata={"Date": None} if path.suffix == ".svg" else None)


def _masks(run: EngineRun) -> list[int]:
    return [time for one in run.replayed if one for time in map(operator.add, one.advance, one.fill)]


def _first_masks(run: EngineRun) -> list[int]:
    return [
        one.compiling + one.mask
        for one in run.compiled
        if one is not None and one.compiling is not None and one.mask is not None
    ]
