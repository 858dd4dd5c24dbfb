"""The tokenizer as the judge of what was written, and the model of what it would have been to it.

For each text the tokenizer's own program says how it writes prompt and text together.  Where these are other
tokens than those that were written, the model reads them too, without a constraint:

    written    … | : |  "  | Do | ris |  "      log p = −19.0
    own        … | : |  "  | Doris    |  "      log p = −14.2      written − own = −4.8 nats

Both sequences begin where the prompt begins, so that it does not matter where they part: what they share
cancels.
"""

# transformers has no usable types for models and tokenizers, hence `Any` for the two.

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from canonical_study_writing import Output

import tokamata as tk

_ROWS = 8
"""Sequences that the model reads at once: their logits take a megabyte a token."""


@dataclass(frozen=True)
class Judged:
    """One text, beside what the tokenizer makes of it.

    Attributes:
        output: what was written.
        own: the tokenizer's ids of prompt and text together.
        foreign: the places in ``output.tokens`` of those that ``own`` lacks at the same place of the text.
        parts_at_border: whether the two part before the text begins, at the end of the prompt.
        written_log_probability: of all that was written after the healed prompt, in nats, by the model alone.
        own_log_probability: of what ``own`` has in its place.  Where the two are the same, so are these.
    """

    output: Output
    own: list[int]
    foreign: tuple[int, ...]
    parts_at_border: bool
    written_log_probability: float
    own_log_probability: float

    @property
    def is_canonical(self) -> bool:
        """Whether the tokens written are the tokenizer's own."""
        return self.own == self.output.prompt + self.output.tokens

    @property
    def gain(self) -> float:
        """How much more probable the tokens written are than the tokenizer's own, in nats."""
        return self.written_log_probability - self.own_log_probability


def judge(
    model: Any, tokenizer: Any, vocabulary: tk.Vocabulary, prompt: str, outputs: Sequence[Output]
) -> list[Judged]:
    """Judges the outputs behind one prompt."""
    owns = [tokenizer(prompt + output.text)["input_ids"] for output in outputs]
    written = [output.prompt + output.tokens for output in outputs]
    asked = sorted({tuple(own) for own, tokens in zip(owns, written, strict=True) if own != tokens})
    shared, *scores = log_probabilities(model, [outputs[0].prompt, *asked])
    by_own = dict(zip(asked, scores, strict=True))
    found = []
    for output, own, tokens in zip(outputs, owns, written, strict=True):
        mine = sum(output.log_probabilities)
        theirs = mine if own == tokens else by_own[tuple(own)] - shared
        foreign, border = parting(vocabulary, own, tokens, len(prompt.encode()))
        places = tuple(place - len(output.prompt) for place in foreign if place >= len(output.prompt))
        found.append(Judged(output, own, places, border, mine, theirs))
    return found


def parting(
    vocabulary: tk.Vocabulary, own: Sequence[int], written: Sequence[int], border: int
) -> tuple[tuple[int, ...], bool]:
    """The places in ``written`` of tokens that ``own`` lacks, and whether the first begins before a border.

    Args:
        border: a place in the text, in bytes.
    """
    theirs = set(zip(_starts(vocabulary, own), own, strict=True))
    starts = _starts(vocabulary, written)
    foreign = tuple(place for place, token in enumerate(written) if (starts[place], token) not in theirs)
    return foreign, bool(foreign) and starts[foreign[0]] < border


def _starts(vocabulary: tk.Vocabulary, tokens: Sequence[int]) -> list[int]:
    """Where each token begins, in bytes; control tokens have none."""
    starts, at = [], 0
    for token in tokens:
        starts.append(at)
        at += len(vocabulary[token] or b"")
    return starts


def log_probabilities(model: Any, sequences: Sequence[Sequence[int]]) -> list[float]:
    """The log-probability of each sequence, given its first token, by the model alone, in nats."""
    return [math.fsum(each) for each in token_log_probabilities(model, sequences)]


def token_log_probabilities(model: Any, sequences: Sequence[Sequence[int]]) -> list[list[float]]:
    """That of every token but the first, given all before it."""
    found: dict[int, list[float]] = {}
    order = sorted(range(len(sequences)), key=lambda place: len(sequences[place]))
    for at in range(0, len(order), _ROWS):
        places = order[at : at + _ROWS]
        longest = len(sequences[places[-1]])
        # What is read behind the end of a sequence changes nothing before it.
        ids = torch.tensor(
            [[*sequences[place], *[0] * (longest - len(sequences[place]))] for place in places]
        )
        with torch.inference_mode():
            logits = model(input_ids=ids).logits[:, :-1].float()
        each = logits.gather(2, ids[:, 1:, None])[..., 0] - logits.logsumexp(dim=-1)
        for row, place in enumerate(places):
            found[place] = each[row, : len(sequences[place]) - 1].tolist()
    return [found[place] for place in range(len(sequences))]
