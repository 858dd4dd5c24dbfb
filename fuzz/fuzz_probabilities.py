"""Probabilities of values and beam searches of random models, against the enumeration of token sequences.

    python -m fuzz.fuzz_probabilities --seconds 3600 --seed 1

Tokenizers have random merges, models are random Llamas with random sharpness, languages are sets of short
texts.  A search that has read everything must give the sums over all token sequences; wherever it is ended,
its intervals must contain them; and what a beam search says of missing texts must hold.
"""

from __future__ import annotations

import math
import random
from dataclasses import dataclass
from typing import Any

import tokamata as tk
from fuzz import timed
from tests.support.models.fakes import byte_level
from tests.support.models.path_judge import PathJudge
from tests.support.models.small_models import small_model
from tokamata.decoding.hosts import vocabulary_of

LETTERS = "abc"
PROMPT = "x: "
SLACK = 1e-4  # of float32


@dataclass
class Tally(timed.Tally):
    """What was done: languages, ends of searches, and beam searches with a certain best text."""

    tried: int = 0
    ended: int = 0
    certain: int = 0


class Setting:
    """A tokenizer, a model, and their judge."""

    def __init__(self, draw: random.Random) -> None:
        pieces = list(LETTERS)
        merges = []
        for _ in range(draw.randint(0, 6)):
            left, right = draw.choice(pieces), draw.choice(pieces)
            if left + right not in pieces and len(left + right) < 5:
                pieces.append(left + right)
                merges.append(f"{left} {right}")
        self.tokenizer = byte_level(merges)
        self.model = small_model(len(self.tokenizer), seed=draw.randrange(10**6), eos=0)
        for weight in self.model.get_output_embeddings().parameters():
            weight.data *= draw.choice([0.1, 0.4, 1.0])
        vocabulary = vocabulary_of(self.model, self.tokenizer)
        tokens = [vocabulary[token] for token in range(vocabulary.width)]
        prompt = self.tokenizer(PROMPT)["input_ids"]
        self.judge = PathJudge(self.model, prompt, tokens, vocabulary.stop)

    def masses(self, texts: list[str], needs_stop: bool, is_canonical: bool) -> dict[str, float]:
        """The probability of each text."""
        spelled = {
            text: [tuple(self.tokenizer(text)["input_ids"])]
            if is_canonical
            else self.judge.spellings(text.encode())
            for text in texts
        }
        return self.judge.masses(spelled, needs_stop)


def check_values(setting: Setting, texts: list[str], draw: random.Random, tally: Tally) -> None:
    """Probabilities of values: everything, and as far as a bound or a number of calls goes."""
    end, is_canonical = draw.choice(["complete", "stop"]), draw.random() < 0.3
    expected = setting.masses(texts, end == "stop", is_canonical)
    total = math.fsum(expected.values())
    options: dict[str, Any] = {"end": end, "tokenization": "canonical" if is_canonical else "any"}
    ends = [{"bound": 0}, {"bound": draw.choice([0.3, 0.1, 0.01])}]
    ends.append({"bound": 0, "max_forward_passes": draw.randint(1, 9)})
    for one in ends:
        options["batch_size"] = draw.choice([1, 2, 3, 16])
        found = tk.probabilities(setting.model, setting.tokenizer, PROMPT, tk.choice(texts), **options, **one)
        assert set(found) == set(texts)
        for text, mass in expected.items():
            share = mass / total
            assert found[text].lower - SLACK <= share <= found[text].upper + SLACK, (one, text)
            if len(one) == 1 and one["bound"] == 0:
                assert abs(found[text].estimate - share) <= SLACK, text
        assert found.legal_mass.lower * (1 - SLACK) <= total <= found.legal_mass.upper * (1 + SLACK)
        assert found.is_within_bound or "max_forward_passes" in one
        tally.ended += 1


def check_beams(setting: Setting, texts: list[str], draw: random.Random, tally: Tally) -> None:
    """A beam search of few beams, and what it says of the texts that it has not found."""
    expected = setting.masses(texts, False, False)
    beams = draw.randint(1, 4)
    found = tk.beam_search(
        setting.model,
        setting.tokenizer,
        PROMPT,
        tk.choice(texts),
        beams=beams,
        candidates=draw.choice([1, 2, 64, None]),
    )
    lost = math.exp(found.unexplored_log_probability)
    for beam in found:
        mass = math.exp(beam.model_log_probability)
        assert mass * (1 - SLACK) <= expected[beam.text] <= (mass + lost) * (1 + SLACK), beam.text
    least = math.exp(found[-1].model_log_probability) if len(found) == beams else 0.0
    for text in set(texts) - {beam.text for beam in found}:
        assert expected[text] <= (least + lost) * (1 + SLACK), text
    if found.is_best_certain:
        tally.certain += 1
        assert expected[found[0].text] >= max(expected.values()) * (1 - SLACK)


def run(seconds: float, seed: int) -> Tally:
    """Fuzzes for so long; returns what was done."""
    tally = Tally()
    for turn in timed.turns(seconds):
        draw = random.Random(f"{seed}.{turn}")
        setting = Setting(draw)
        texts = sorted(
            {"".join(draw.choices(LETTERS, k=draw.randint(0, 6))) for _ in range(draw.randint(1, 8))}
        )
        tally.tried = turn
        with timed.naming(f"seed {seed}, turn {turn}", texts):
            check_values(setting, texts, draw, tally)
            check_beams(setting, texts, draw, tally)
    return tally


if __name__ == "__main__":
    timed.main(__doc__ or "", run)
