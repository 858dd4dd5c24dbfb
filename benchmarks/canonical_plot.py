"""Plots of how canonical masks and a tokenizer's tables grow with the vocabulary."""

from __future__ import annotations

from pathlib import Path

from canonical_figures import CanonicalFigures, SizeFigures
from canonical_tables import ANYTHING
from canonical_walks import BY_FREQUENCY, KINDS, TOKENIZATIONS, UNIFORM
from growth_plot import _finish, _line, _prepared
from timing import Summary

_ACROSS = "tokens in the vocabulary"
_SHORT = {UNIFORM: "uniform", BY_FREQUENCY: "frequent"}
_NAN = float("nan")


def draw(figures: CanonicalFigures, path: Path) -> None:
    """Masks, their p99, and the time and the memory of the tables; the file's name gives the form.

    Raises:
        ImportError: matplotlib is not installed.
    """
    sizes = sorted((one for one in figures.sizes if one.walks), key=lambda one: one.width)
    pyplot = _prepared()
    picture, axes = pyplot.subplots(2, 2, figsize=(10, 6.8), layout="constrained")
    widths = [one.width for one in sizes]
    for axis, figure, up in ((axes[0][0], "median_us", "p50"), (axes[0][1], "p99_us", "p99")):
        for i, (name, kind) in enumerate((name, kind) for name in TOKENIZATIONS for kind in KINDS):
            values = [_of(one.walks[kind].times[name].masks, figure) for one in sizes]
            _line(axis, i, widths, values, f"{name}, {_SHORT[kind]}")
        _finish(axis, _ACROSS, f"one mask of {ANYTHING}, {up}, µs")
    _line(axes[1][0], 0, widths, [_of(one.built, "median_us") / 1e6 for one in sizes], "built")
    if any(one.kept for one in sizes):
        _line(axes[1][0], 1, widths, [_of(one.kept, "median_us") / 1e6 for one in sizes], "from disk")
    _finish(axes[1][0], _ACROSS, "a tokenizer's tables, s")
    _memory(axes[1][1], sizes)
    picture.supxlabel(f"{figures.facts['processor']}, {figures.facts['date']}", fontsize=7)
    path.parent.mkdir(parents=True, exist_ok=True)
    picture.savefig(path, dpi=150, metadata={"Date": None} if path.suffix == ".svg" else None)


def _memory(axis: object, sizes: list[SizeFigures]) -> None:
    widths = [one.width for one in sizes]
    _line(axis, 0, widths, [one.memory_bytes / 1e6 for one in sizes], "after a mask")
    _line(axis, 1, widths, [one.walked_bytes / 1e6 for one in sizes], "after the walks")
    if any(one.file_bytes for one in sizes):
        _line(axis, 2, widths, [one.file_bytes / 1e6 or _NAN for one in sizes], "on disk")
    _finish(axis, _ACROSS, "a tokenizer's tables, MB")


def _of(summary: Summary | None, figure: str) -> float:
    return _NAN if summary is None else float(getattr(summary, figure))
