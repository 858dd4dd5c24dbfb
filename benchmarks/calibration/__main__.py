"""Are the probabilities of values what they say?  A small classification whose true answers are known.

    python -m benchmarks.calibration --plot docs/calibration.svg
    python -m benchmarks.calibration --quick

A small model is trained on texts with the labels happy, unhappy and unsure (:mod:`.world`).  Then it labels
texts that are happy or unhappy, and only these two labels are admitted.  Three numbers for the probability
of unhappy are compared:

- ``tk.probabilities``: the model's own probability of the label, given that it writes one of the two; once
  for the tokenizer's own tokens, and once for all spellings;
- under masks: the probability with which ``tk.generate`` writes it, renormalized at each token.  Here this
  is also the softmax over the tokens in which the labels first differ.

*ECE* is the expected calibration error: answers are sorted by their probability into ten bins, and the
distances between mean probability and frequency of being right are averaged, weighted by the sizes of the
bins.  That of the true probability, from which the label was drawn, is the noise of so many texts.  *Off* is
the mean distance to the true probability.
"""

from __future__ import annotations

import math
from argparse import Namespace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

import tokamata as tk
from benchmarks.calibration.world import LABELS, Text, World, tokenizer, trained
from benchmarks.common import environment, plots
from benchmarks.common.program import parser_for, progress, run
from benchmarks.common.report import Report, Target

_ADMITTED = LABELS[:2]
_ASKED = f" {LABELS[1]}"
_BINS = 10


class Answer(NamedTuple):
    """What one method says of one text.

    Attributes:
        method: the name of the method.
        probability: of the label unhappy.
        truth: the probability with which the label was drawn, given that it is admitted.
        is_right: whether the text has the label.
    """

    method: str
    probability: float
    truth: float
    is_right: bool


def main() -> int:
    """The program."""
    return run(measure, parser_for(__doc__).parse_args())


def measure(options: Namespace, work: Path) -> Report:
    """The table, and the bins."""
    import torch

    torch.set_num_threads(1)
    world, words = World(options.seed), tokenizer()
    model = trained(world, words, options.seed, *([200] if options.quick else []))
    count = options.count or (50 if options.quick else 2000)
    asking = _Asking(model, words)
    answers: list[Answer] = []
    with progress("texts", count) as step:
        while count:
            text = world.text()
            if text.label in _ADMITTED:
                answers += asking.answers(text)
                count -= 1
                step(text.words)
    frame = pd.DataFrame(answers)
    report = Report(environment.describe())
    rows = [_row(method, part) for method, part in frame.groupby("method", sort=False)]
    report.add("The label unhappy, %", rows, [f"{len(frame) // len(rows):,} answers of each method"])
    report.keep("answers", frame)
    report.targets.append(Target("ECE of tk.probabilities", rows[0]["ECE"], 3.0, "%"))
    report.picture = partial(_draw, frame)
    return report


class _Asking:
    """The methods."""

    def __init__(self, model: Any, words: Any) -> None:
        self._model, self._tokenizer = model, words
        self._choice = tk.choice([f" {label}" for label in _ADMITTED])

    def answers(self, text: Text) -> list[Answer]:
        """What each method says of a text."""
        settings: dict[str, Any] = {"tokenization": "canonical", "heal": False}
        own = tk.probabilities(self._model, self._tokenizer, text.prompt, self._choice, **settings)
        every = tk.probabilities(self._model, self._tokenizer, text.prompt, self._choice)
        beams = tk.beam_search(self._model, self._tokenizer, text.prompt, self._choice, beams=9, **settings)
        masked = {beam.text: math.exp(beam.log_probability) for beam in beams}
        truth = text.probabilities[1] / sum(text.probabilities[: len(_ADMITTED)])
        said = {
            "tk.probabilities, canonical": own[_ASKED].estimate,
            "tk.probabilities, any": every[_ASKED].estimate,
            "under masks": masked[_ASKED],
            "the true probability": truth,
        }
        is_right = text.label == LABELS[1]
        return [Answer(method, share, truth, is_right) for method, share in said.items()]


def _bins(part: pd.DataFrame) -> pd.DataFrame:
    """Of each bin: its size, the mean probability, and the frequency of being right."""
    number = np.minimum((part["probability"] * _BINS).astype(int), _BINS - 1)
    grouped = part.groupby(number)
    return pd.DataFrame(
        {
            "size": grouped.size(),
            "said": grouped["probability"].mean(),
            "right": grouped["is_right"].mean(),
        }
    )


def _row(method: str, part: pd.DataFrame) -> dict[str, Any]:
    bins = _bins(part)
    error = float((bins["size"] * (bins["said"] - bins["right"]).abs()).sum() / len(part))
    distance = float((part["probability"] - part["truth"]).abs().mean())
    brier = float(((part["probability"] - part["is_right"]) ** 2).mean())
    return {"": method, "ECE": 100 * error, "off": 100 * distance, "Brier score": 100 * brier}


def _draw(frame: pd.DataFrame, path: Path) -> None:
    """The reliability diagram."""
    figure, axes = plots.subplots(1, 1, (4.6, 4.2))
    axis = axes[0, 0]
    axis.plot([0, 1], [0, 1], color=plots.INK, linewidth=0.8, linestyle=":")
    for number, (method, part) in enumerate(frame.groupby("method", sort=False)):
        bins = _bins(part)
        plots.line(axis, number, bins["said"], bins["right"], str(method))
    axis.set(xlabel="probability of unhappy", ylabel="share of unhappy texts", aspect="equal")
    axis.legend(fontsize=7.5, frameon=False, loc="upper left")
    plots.save(figure, path, "Ten bins; dotted: what is said is what happens.")


if __name__ == "__main__":
    raise SystemExit(main())
