"""The plot of the study: how often the tokens are not the tokenizer's own, what that costs, what comes of it.

White is painted behind it, so that it reads the same on light and dark pages.  The two colours (vermilion and
blue, of Okabe and Ito's set) can be told apart by people who see colours otherwise, and their marks differ.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from canonical_study_figures import (
    ANY,
    HEALED,
    CaseFigures,
    Estimate,
    StudyFigures,
    estimate,
    gains,
    left,
    preferences,
)

INK = "#333333"
COLOURS = {ANY: "#d55e00", HEALED: "#0072b2"}
_MARKERS = {ANY: "o", HEALED: "D"}
_SHIFT = {ANY: -0.17, HEALED: 0.17}
_NAMES = {ANY: "any tokens", HEALED: "any tokens, prompt healed"}


def draw(figures: StudyFigures, path: Path) -> None:
    """Writes the picture; its form is that of the file's name (svg, png, pdf).

    Raises:
        ImportError: matplotlib is not installed.
    """
    pyplot = prepared()
    cases = sorted(
        figures.cases, key=lambda case: [-left(case.of(way, greedy=False))[0] for way in (ANY, HEALED)]
    )
    picture, axes = pyplot.subplots(
        1, 3, figsize=(11, 0.33 * len(cases) + 1.9), sharey=True, layout="constrained"
    )
    for way in (ANY, HEALED):
        places = [place + _SHIFT[way] for place in range(len(cases))]
        shares = [100 * part / of for part, of in (left(case.of(way, greedy=False)) for case in cases)]
        axes[0].barh(places, shares, height=0.34, color=COLOURS[way], label=_NAMES[way])
        _dots(axes[1], places, [estimate(gains(case.of(way, greedy=False))) for case in cases], way)
        _dots(axes[2], places, [_preference(case, way) for case in cases], way)
    titles = (
        ("sampled texts that are not\nin the tokenizer's own tokens", "%"),
        (
            "log p(tokens written) −\nlog p(the tokenizer's own)",
            "nats a text (left: its own more probable)",
        ),
        (
            "log p(text written canonically) −\nlog p(text written in any tokens)",
            "nats a text (right: canonical more probable)",
        ),
    )
    for axis, (title, unit) in zip(axes, titles, strict=True):
        axis.set_title(title, fontsize=10, loc="left")
        axis.set_xlabel(unit)
        axis.grid(axis="x", color=INK, alpha=0.15, linewidth=0.6)
        axis.set_axisbelow(True)
        axis.spines[["top", "right", "left"]].set_visible(False)
        axis.tick_params(axis="y", length=0)
    for axis in axes[1:]:
        axis.axvline(0, color=INK, linewidth=0.8)
    axes[0].set_xlim(0, 100)
    axes[0].set_yticks(range(len(cases)), [case.name for case in cases])
    axes[0].set_ylim(len(cases) - 0.4, -0.6)
    picture.legend(*axes[0].get_legend_handles_labels(), loc="outside upper left", ncols=2, frameon=False)
    count = sum(left(case.of(HEALED, greedy=False))[1] for case in cases)
    caption = (
        f"Gemma 3 270M, {count:,} samples in each way at temperature 1; bars of 95 % by resampling. "
        f"{figures.facts['date']}"
    )
    picture.supxlabel(caption, fontsize=7)
    save(picture, path)


def prepared() -> Any:
    """pyplot, set up for pictures that are the same when the figures are."""
    import matplotlib as mpl

    mpl.use("Agg")
    mpl.rcParams.update(
        {
            "svg.hashsalt": "tokamata",
            "text.color": INK,
            "axes.labelcolor": INK,
            "axes.edgecolor": INK,
            "xtick.color": INK,
            "ytick.color": INK,
            "figure.facecolor": "white",
            "axes.facecolor": "white",
            "savefig.facecolor": "white",
            "font.size": 9,
        }
    )
    from matplotlib import pyplot

    return pyplot


def save(picture: Any, path: Path) -> None:
    """Writes a picture, without the date of doing so."""
    path.parent.mkdir(parents=True, exist_ok=True)
    picture.savefig(path, dpi=150, metadata={"Date": None} if path.suffix == ".svg" else None)


def _preference(case: CaseFigures, way: str) -> Estimate:
    return estimate(preferences(case, way, greedy=False))


def _dots(axis: Any, places: list[float], values: list[Estimate], way: str) -> None:
    means = [value.mean for value in values]
    below = [value.mean - value.low for value in values]
    above = [value.high - value.mean for value in values]
    axis.errorbar(
        means,
        places,
        xerr=(below, above),
        fmt=_MARKERS[way],
        markersize=4.5,
        color=COLOURS[way],
        linewidth=1.2,
    )
