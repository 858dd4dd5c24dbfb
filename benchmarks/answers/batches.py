"""Writes the answers of one arm: greedy, many texts at once, with the same loop for all arms.

Prompts are padded on the left.  At each step the model reads the last token of every text, each matcher
fills its row of a bitmask, and the most probable allowed token is taken.  Finished texts are dropped from
the batch as soon as a fifth of it has finished, as the cache of keys and values has to be copied then.

The model's own probabilities are kept too: what a mask forbids of them is *lost*, in nats; and a *turn* is
a step where the mask forbids the token that the model would have taken.
"""

# transformers and torch have no usable types for models, hence `Any`.

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch

import tokamata as tk
from benchmarks.answers.arms import Masks, Matcher, Refusal
from benchmarks.answers.ends import End

__all__ = ["Job", "Written", "accepts", "write_all"]

_DROPPED = 0.8  # the live share of a batch under which the others are dropped


@dataclass(frozen=True)
class Job:
    """A text to write.

    Attributes:
        id: of the question.
        prompt: its tokens.
        schema: as JSON.
        budget: the largest number of tokens.
        known: the tokens of the known answer, in the spelling of the examples.
    """

    id: str
    prompt: list[int]
    schema: str
    budget: int
    known: list[int]


@dataclass
class Written:
    """A text.

    Attributes:
        id: of the question.
        text: up to the end of its value.
        end: ``"complete"``; ``"budget"`` and ``"stop"``: cut off; otherwise the error of the engine.
        tokens: how many there are.
        lost: the sum of ``-log`` of the probability that the masks left, over all steps.
        turns: the tokens that the masks forbade and those that were taken instead.
    """

    id: str
    text: str = ""
    end: str = "budget"
    tokens: int = 0
    lost: float = 0.0
    turns: list[tuple[str, str]] = field(default_factory=list)


class _Text:
    """A text while it is written."""

    def __init__(self, job: Job, masks: Masks | None) -> None:
        self.written = Written(job.id)
        self.job, self.is_live = job, True
        self.matcher: Matcher | None = None
        self._bytes, self._end = b"", End()
        try:
            self.matcher = masks and masks(job.schema, job.prompt)
        except Refusal as error:
            self.finish(f"refused: {error}")

    def finish(self, end: str) -> None:
        self.written.end, self.is_live = end, False
        self.written.text = self._bytes[: self._end.size].decode(errors="replace")

    def fill(self, row: np.ndarray[Any, Any]) -> None:
        assert self.matcher is not None
        try:
            self.matcher.fill(row, self.job.budget - self.written.tokens)
        except Refusal as error:
            self.finish(f"mask: {error}")

    def take(self, token: int, wanted: int, lost: float, vocabulary: tk.Vocabulary) -> None:
        """Takes a token, and whatever ends the text with it."""
        written = self.written
        written.tokens += 1
        written.lost += lost
        piece = vocabulary[token] or b""
        if token != wanted:
            written.turns.append((_shown(wanted, vocabulary), _shown(token, vocabulary)))
        self._bytes += piece
        if token in vocabulary.stop:
            self.finish("stop")
        elif self._end.feed(piece):
            self.finish("complete")
        elif written.tokens == self.job.budget:
            self.finish("budget")
        elif self.matcher is not None:
            try:
                self.matcher.advance(token)
            except Refusal as error:
                self.finish(f"advance: {error}")


def _shown(token: int, vocabulary: tk.Vocabulary) -> str:
    value = vocabulary[token]
    return f"<{token}>" if value is None else value.decode(errors="replace")


def accepts(job: Job, masks: Masks, row: np.ndarray[Any, Any]) -> bool:
    """Whether the masks allow the known answer, token by token, within the budget; ``row`` is overwritten."""
    try:
        matcher = masks(job.schema, job.prompt)
        for written, token in enumerate(job.known):
            matcher.fill(row, job.budget - written)
            if not row[token >> 5] >> (token & 31) & 1:
                return False
            matcher.advance(token)
    except Refusal:
        return False
    return True


def write_all(
    model: Any, vocabulary: tk.Vocabulary, jobs: Sequence[Job], masks: Masks | None, batch: int
) -> Iterator[Written]:
    """Writes the texts, those of similar length together; yields them as their batches finish."""
    by_length = sorted(jobs, key=lambda job: len(job.prompt))
    for start in range(0, len(by_length), batch):
        texts = [_Text(job, masks) for job in by_length[start : start + batch]]
        with torch.inference_mode():
            _write(model, vocabulary, [text for text in texts if text.is_live])
        yield from (text.written for text in texts)


def _write(model: Any, vocabulary: tk.Vocabulary, texts: list[_Text]) -> None:
    """Writes the texts of one batch."""
    if not texts:
        return
    device = model.device
    longest = max(len(text.job.prompt) for text in texts)
    ids = torch.zeros((len(texts), longest), dtype=torch.long)
    seen = torch.zeros_like(ids)
    for row, text in enumerate(texts):
        ids[row, longest - len(text.job.prompt) :] = torch.tensor(text.job.prompt)
        seen[row, longest - len(text.job.prompt) :] = 1
    ids, seen = ids.to(device), seen.to(device)
    positions = (seen.cumsum(1) - 1).clamp(min=0)
    bits = np.zeros((len(texts), (vocabulary.width + 31) // 32), dtype=np.int32)
    cache = None
    while True:
        output = model(
            input_ids=ids,
            attention_mask=seen,
            position_ids=positions,
            past_key_values=cache,
            use_cache=True,
            logits_to_keep=1,
        )
        cache = output.past_key_values
        tokens = _choose(output.logits[:, -1].float(), texts, bits, vocabulary)
        live = [row for row, text in enumerate(texts) if text.is_live]
        if not live:
            return
        positions = positions[:, -1:] + 1
        if len(live) < _DROPPED * len(texts):
            texts, tokens = [texts[row] for row in live], tokens[live]
            rows = torch.tensor(live, device=device)
            cache.batch_select_indices(rows)
            seen, positions = seen[rows], positions[rows]
        ids = torch.from_numpy(tokens[:, None]).to(device)
        seen = torch.cat([seen, torch.ones_like(ids)], dim=1)


def _choose(
    logits: torch.Tensor, texts: list[_Text], bits: np.ndarray[Any, Any], vocabulary: tk.Vocabulary
) -> np.ndarray[Any, Any]:
    """The next token of each text that is live; the texts take them."""
    wanted = logits.argmax(-1)
    tokens, lost = wanted, torch.zeros_like(wanted, dtype=torch.float)
    if texts[0].matcher is not None:
        for row, text in enumerate(texts):
            if text.is_live:
                text.fill(bits[row])
        forbidden = _forbidden(bits[: len(texts)], logits)
        before = logits.logsumexp(-1)
        logits.masked_fill_(forbidden, -torch.inf)
        lost = (before - logits.logsumexp(-1)).clamp(min=0.0)
        tokens = logits.argmax(-1)
    chosen: np.ndarray[Any, Any] = tokens.cpu().numpy()
    rows = zip(texts, chosen.tolist(), wanted.tolist(), lost.tolist(), strict=True)
    for text, token, want, loss in rows:
        if text.is_live:
            if loss == np.inf:
                text.finish("mask: it is empty")
            else:
                text.take(token, want, loss, vocabulary)
    return chosen


def _forbidden(bits: np.ndarray[Any, Any], logits: torch.Tensor) -> torch.Tensor:
    """The tokens whose bits are clear, and the logits beyond the mask."""
    packed = torch.from_numpy(bits.view(np.uint8)).to(logits.device)
    places = torch.arange(8, dtype=torch.uint8, device=logits.device)
    clear = ((packed.unsqueeze(-1) >> places) & 1).eq(0).flatten(1)
    beyond = logits.shape[1] - clear.shape[1]
    if beyond > 0:
        clear = torch.nn.functional.pad(clear, (0, beyond), value=True)
    return clear[:, : logits.shape[1]]
