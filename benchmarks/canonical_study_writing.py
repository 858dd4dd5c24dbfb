"""A model that writes many texts at once, under one constraint and behind one prompt, in three ways.

    any            any tokens that spell the text, as ``tokamata.generate`` has it by default
    any, healed    the same, with the last token of the prompt taken back and written anew
    canonical      the tokenizer's own tokens alone, which heals the prompt by default

Every row of the batch does at each step what ``tokamata.generate`` does: a mask with the tokens that are
left, a draw, and the matcher moves on.  That the texts are those of ``generate`` is a test.

All rows read the healed prompt.  Where it is not healed, a row writes its last token first, without a choice:

    healed prompt      A | list          rows      any           :    [ | " | …
    last token             :                       any, healed   :[   " | …
                                                   canonical     :[   " | …

so that rows have equal lengths and need no padding, and all log-probabilities are given the same tokens.
"""

# transformers has no usable types for models and tokenizers, hence `Any` for the two.

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import Any

import torch
from canonical_study_cases import StudyCase

import tokamata as tk
from tokamata.decoding.heal import text_to_heal
from tokamata.decoding.results import FinishReason
from tokamata.decoding.sampling import Sampler, Sampling

ANY, HEALED, CANONICAL = WAYS = ("any", "any, healed", "canonical")
_LIMITS = tk.Limits(seconds=300)
"""All texts of a constraint share its account of time."""


@dataclass
class Output:
    """One text that was written.

    Attributes:
        way: one of ``WAYS``.
        draw: 0 for the greedy text, else the number of the sample.
        prompt: the ids of the healed prompt.
        start: the place in ``tokens`` where the text begins: 1 behind a prompt that is not healed, else 0.
        tokens: the ids that follow ``prompt``, the stop token left out.
        log_probabilities: of ``tokens``, each given all before it, by the model alone, in nats.
        text: what follows the prompt as it was given.
        finish_reason: see ``tokamata.Generation``.
    """

    way: str
    draw: int
    prompt: list[int]
    start: int
    tokens: list[int] = field(default_factory=list)
    log_probabilities: list[float] = field(default_factory=list)
    text: str = ""
    finish_reason: FinishReason = "length"


class _Row:
    """One text while it is written."""

    def __init__(self, output: Output, matcher: tk.Matcher, sampler: Sampler, given: list[int], budget: int):
        self.output, self.matcher, self._sampler = output, matcher, sampler
        self._given = given  # tokens of the prompt that this row still has to read
        self._budget = budget
        self._mask = matcher.compiled.allocate_mask()[0]

    @property
    def has_ended(self) -> bool:
        """Whether the text is whole before the model is asked again; says why."""
        if self._given:
            return False
        if self.matcher.is_finished:
            self.output.finish_reason = "complete"
            return True
        return self._budget == 0

    def choose(self, logits: torch.Tensor) -> int:
        """The next token, by the logits ``[width]``, which are changed."""
        if self._given:
            self._sampler.choose(logits)  # as the rows that write it anew: the random numbers stay the same
            return self._given.pop()
        self.matcher.fill_mask(self._mask, self._budget)
        tk.apply_mask(logits, self._mask)
        token, _ = self._sampler.choose(logits)
        self._budget -= 1
        assert self.matcher.advance(token)
        return token


def write(
    model: Any, tokenizer: Any, vocabulary: tk.Vocabulary, case: StudyCase, prompt: str, draws: int, seed: int
) -> list[Output]:
    """Every way, one greedy text and ``draws`` samples each, in the order of ``WAYS``.

    The same draw has the same random numbers in every way.
    """
    given = tokenizer(prompt)["input_ids"]
    healed = text_to_heal(given, vocabulary)
    shared = given[:-1] if healed else given
    constraint = tk.regex(case.pattern)
    rows = []
    for way in WAYS:
        is_healed = bool(healed) and way != ANY
        whole = tk.literal(healed) + constraint if is_healed else constraint
        compiled = whole.compile(
            vocabulary, limits=_LIMITS, tokenization="canonical" if way == CANONICAL else "any"
        )
        for draw in range(draws + 1):
            sampling = Sampling(greedy=draw == 0, seed=seed_of(seed, case.name, prompt, draw))
            rows.append(
                _Row(
                    Output(way, draw, shared, int(bool(healed) and not is_healed)),
                    compiled.matcher(shared),
                    Sampler(sampling, model.device),
                    given[-1:] if healed and not is_healed else [],
                    case.budget + is_healed,
                )
            )
    _run(model, vocabulary, rows, shared)
    for row in rows:
        data = b"".join(vocabulary[token] or b"" for token in row.output.tokens)
        row.output.text = data.decode().removeprefix(healed)
    return [row.output for row in rows]


def seed_of(*parts: object) -> int:
    """A seed that the parts decide, the same on every machine."""
    return int.from_bytes(hashlib.sha256(repr(parts).encode()).digest()[:6], "little")


def _run(model: Any, vocabulary: tk.Vocabulary, rows: list[_Row], prompt: list[int]) -> None:
    """Writes all rows to their ends."""
    with torch.inference_mode():
        read = model(input_ids=torch.tensor([prompt]), use_cache=True, logits_to_keep=1)
        cache = read.past_key_values
        cache.batch_repeat_interleave(len(rows))
        logits = read.logits[:, -1].expand(len(rows), -1)
        live = list(rows)
        while live:
            kept = [
                place
                for place, row in enumerate(live)
                if not row.has_ended and _step(row, logits[place], vocabulary)
            ]
            if len(kept) < len(live):
                cache.batch_select_indices(torch.tensor(kept, dtype=torch.long))
                live = [live[place] for place in kept]
            if live:
                tokens = torch.tensor([[row.output.tokens[-1]] for row in live])
                read = model(input_ids=tokens, past_key_values=cache, use_cache=True)
                logits = read.logits[:, -1]


def _step(row: _Row, logits: torch.Tensor, vocabulary: tk.Vocabulary) -> bool:
    """One token more; returns whether the text goes on."""
    free = torch.log_softmax(logits.float(), dim=-1)
    token = row.choose(logits.clone())
    if token in vocabulary.stop:
        row.output.finish_reason = "stop"
        return False
    row.output.tokens.append(token)
    row.output.log_probabilities.append(float(free[token]))
    return True
