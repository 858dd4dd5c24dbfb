"""A picture of ``server.py``: times to the first mask, memory, and what a new process takes."""

from __future__ import annotations

from pathlib import Path

from growth_plot import COLOURS, INK
from server_figures import FIRST, SECOND, WARM, ServerFigures


def draw(figures: ServerFigures, path: Path) -> None:
    """Writes the picture; its form is that of the file's name (svg, png, pdf).

    Raises:
        ImportError: matplotlib is not installed.
    """
    import matplotlib as mpl

    mpl.use("Agg")
    mpl.rcParams["svg.hashsalt"] = "tokamata"  # the same figures give the same file
    from matplotlib import pyplot

    picture, (left, middle, right) = pyplot.subplots(1, 3, figsize=(12, 3.8), layout="constrained")
    parts = figures.hundreds()
    ends = [part.end for part in parts]
    times = (("median", [part.median_us for part in parts]), ("p90", [part.p90_us for part in parts]))
    for (name, values), colour in zip(times, COLOURS, strict=False):
        left.plot(ends, values, "o-", color=colour, label=name, markersize=3)
    left.set(title="schema to first mask, of each hundred", xlabel="schemas so far", ylabel="µs")
    left.set_ylim(bottom=0)
    left.legend(frameon=False, fontsize=8)
    middle.plot(ends, [part.memory_mb for part in parts], "o-", color=COLOURS[2], markersize=3)
    middle.set(title="memory of the process", xlabel="schemas so far", ylabel="MB")
    middle.set_ylim(bottom=0)
    kinds = [kind for kind in (FIRST, SECOND, WARM) if kind in figures.probes]
    for kind, colour in zip(kinds, COLOURS, strict=False):
        values = sorted(((one.first_mask or 0) + one.all_masks) / 1e3 for one in figures.probes[kind])
        right.plot(range(1, len(values) + 1), values, "o-", color=colour, label=kind, markersize=3)
    right.set(title="first schema: all masks of an instance", xlabel="schemas, sorted", ylabel="µs")
    right.set_yscale("log")
    right.legend(frameon=False, fontsize=8)
    for axis in (left, middle, right):
        axis.title.set_fontsize(10)
        axis.spines[["top", "right"]].set_visible(False)
        axis.tick_params(colors=INK)
    caption = f"Llama 3.1. {figures.facts['processor']}, {figures.facts['date']}"
    picture.supxlabel(caption, fontsize=7, color=INK)
    metadata = {"Date": None} if path.suffix == ".svg" else None
    picture.savefig(path, dpi=150, transparent=True, metadata=metadata)
