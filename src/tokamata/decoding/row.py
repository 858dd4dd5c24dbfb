"""One text while it is written: its tokens, its matcher, its budget.

Invariant: the matcher has advanced by exactly ``tokens``, and ``unread`` are the last tokens of prompt and
text, which the model has not read.
"""

# transformers has no usable types for tokenizers, hence `Any`.

from __future__ import annotations

import codecs
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from tokamata.decoding.drafts import Draft, Drafter
from tokamata.decoding.field_probabilities.recording import Record
from tokamata.decoding.jump import certain_tokens
from tokamata.decoding.results import Clock, FinishReason, Generation, Step, Timing
from tokamata.errors import GenerationError
from tokamata.matching.masks import allocate_mask
from tokamata.vocabulary.misfits import check_logits

if TYPE_CHECKING:
    import torch

    from tokamata.constraints.constraint import Constraint
    from tokamata.decoding.sampling import Sampler
    from tokamata.matching.matchers import CompiledConstraint, Matcher
    from tokamata.values.events import Event, EventReader
    from tokamata.vocabulary import Vocabulary

__all__ = ["Row", "Task"]

_T = TypeVar("_T")
_NO_DRAFT = Draft([], None)


@dataclass(frozen=True)
class Task(Generic[_T]):
    """The task of a row.

    Attributes:
        vocabulary: the vocabulary of model and matcher.
        prompt: the ids of the model's input.
        healed: the text of the token that was taken back from the prompt, or ``""``.
        constraint: the caller's constraint.
        matcher: at the start of the text; ``None`` if the text is free.
        is_matched_throughout: whether the matcher is needed after the healed text, too.
        max_new_tokens: the budget.
        jump: whether to write certain tokens without the model.
        events: reports the values that close, or ``None``.
        records: whether to keep the choices, for the probabilities of fields.
    """

    vocabulary: Vocabulary
    prompt: list[int]
    healed: str
    constraint: Constraint[_T] | CompiledConstraint[_T] | None
    matcher: Matcher | None
    is_matched_throughout: bool
    max_new_tokens: int
    jump: bool
    events: EventReader | None
    records: bool = False

    @property
    def budget(self) -> int:
        """How many tokens may be written, including the one that was taken back and is written again."""
        return self.max_new_tokens + bool(self.healed)


class Row(Generic[_T]):
    """A text, token by token.

    Attributes:
        generation: the result, once the text has ended; ``None`` before.
        unread: the tokens that the model has not read yet.
        matcher: at the end of the text so far; ``None`` if the text is free.
        drafter: proposes tokens, or ``None``.
        drafted, accepted: how many tokens were proposed, and how many of these were written.
    """

    def __init__(
        self, task: Task[_T], tokenizer: Any, sampler: Sampler, timing: Timing, drafter: Drafter | None = None
    ) -> None:
        self._task, self._vocabulary, self._tokenizer = task, task.vocabulary, tokenizer
        self._sampler, self._timing = sampler, timing
        self.generation: Generation[_T] | None = None
        self.unread = list(task.prompt)
        self.matcher = task.matcher
        self._mask = allocate_mask(1, task.vocabulary.width)[0]
        self._certain: list[int] | None = None  # tokens to jump; None if not known yet
        self._to_skip = len(task.healed.encode())
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        self._tokens: list[int] = []
        self._texts: list[str] = []
        self._jumped = 0
        self.drafter = drafter
        self.drafted = self.accepted = 0
        self._log_probability = 0.0
        self._record = Record() if task.records else None

    @property
    def tokens_left(self) -> int:
        """How many more tokens may be written."""
        has_stopped = self.generation is not None and self.generation.stop_token is not None
        return self._task.budget - len(self._tokens) - has_stopped

    def propose(self, most: int) -> Draft:
        """A draft of at most ``most`` tokens; an empty one where nothing can be proposed."""
        most = min(most, self.tokens_left - 1)
        # Behind a healed prompt the text is free: what the matcher allows there does not count.
        is_leaving = self.matcher is not None and not self._task.is_matched_throughout
        if self.drafter is None or most < 1 or is_leaving:
            return _NO_DRAFT
        with Clock(self._timing, "draft_seconds"):
            return self.drafter.draft(self._task.prompt + self._tokens, self.matcher, most, self.tokens_left)

    def check_width(self, logits: int) -> None:
        """Compare the vocabulary with the number of logits; there is one vocabulary for all rows.

        Raises:
            MaskError: the vocabulary is wider.
        """
        check_logits(len(self._vocabulary), self._vocabulary.width, logits)

    def read_draft(self, logits: torch.Tensor, draft: Draft) -> Iterator[Step]:
        """Let the model choose tokens, as long as they are those of a draft, and one more.

        Args:
            logits: ``[len(draft.tokens) + 1, width]``, masked: before each token of the draft, and after the
                last.
            draft: the draft.

        Raises:
            GenerationError: the logits leave no allowed token.
        """
        self.drafted += len(draft.tokens)
        for place, scores in enumerate(logits):
            accepted = self.accepted
            step = self.draw(scores, draft, place)
            if step is None:
                return
            yield step
            if self.accepted == accepted or self._ends():
                return

    def write_certain(self) -> Iterator[Step]:
        """Write all that needs no model: certain tokens, and the end of the text."""
        while not self._ends():
            token = self._next_certain()
            if token is None:
                return
            yield self._write(token, 0.0, jumped=True)

    def draw(self, logits: torch.Tensor, draft: Draft, place: int) -> Step | None:
        """Let the model choose a token.

        Args:
            logits: ``[width]``, minus infinity for tokens that the mask does not allow.
            draft: what was proposed; the token is counted as accepted where it is that of the draft.
            place: of the token in the draft, or the length of the draft.

        Returns:
            The token; ``None`` if it is a stop token, which ends the text.

        Raises:
            GenerationError: the logits leave no allowed token.
        """
        self._certain = None
        if self._record is not None:
            self._record.see(logits, self._vocabulary)
        with Clock(self._timing, "sampling_seconds"):
            if place < len(draft.probabilities):
                token, log_probability = self._sampler.choose_or_accept(
                    logits, draft.tokens[place], draft.probabilities[place]
                )
            else:
                token, log_probability = self._sampler.choose(logits)
        self.accepted += place < len(draft.tokens) and token == draft.tokens[place]
        if token not in self._vocabulary.stop:
            return self._write(token, log_probability, jumped=False)
        self._advance(token)
        self._log_probability += log_probability
        if self._record is not None:
            self._record.write(token, b"", log_probability)
        self._finish("stop", token)
        return None

    def _ends(self) -> bool:
        """End the text if nothing can follow or the budget is used up; returns whether it has ended."""
        if self.generation is None and self.matcher is not None and self.matcher.is_finished:
            self._finish("complete")
        elif self.generation is None and self.tokens_left == 0:
            self._finish("length")
        return self.generation is not None

    def _next_certain(self) -> int | None:
        """Return the next token to jump; ``None`` if the model must choose."""
        if not self._task.jump or self.matcher is None:
            return None
        with Clock(self._timing, "constraint_seconds"):
            if self._certain is None:
                self._certain = certain_tokens(self.matcher, self._tokenizer)
            if self._certain:
                token = self._certain.pop(0)
                self.matcher.fill_mask(self._mask, self.tokens_left)
                if self._mask[token // 32] >> token % 32 & 1:
                    return token
                self._certain = []  # within the budget, only other tokens fit: the model chooses
        return None

    def _advance(self, token: int) -> None:
        with Clock(self._timing, "constraint_seconds"):
            if self.matcher is not None and not self.matcher.advance(token):
                raise GenerationError(f"token {token} was drawn although the mask does not allow it")

    def _write(self, token: int, log_probability: float, *, jumped: bool) -> Step:
        """Add a token to the text, without its bytes that repeat the healed end of the prompt."""
        self._advance(token)
        data = self._vocabulary[token] or b""
        new = data[self._to_skip :]
        self._to_skip = max(0, self._to_skip - len(data))
        if self._to_skip == 0 and not self._task.is_matched_throughout:
            self.matcher = None
        events = self._closed(new)
        step = Step(token, new, self._decoder.decode(new), log_probability, jumped, events)
        self._log_probability += log_probability
        if self._record is not None:
            self._record.write(token, data, log_probability)
        self._tokens.append(token)
        self.unread.append(token)
        self._texts.append(step.text)
        self._jumped += jumped
        return step

    def _closed(self, new: bytes) -> tuple[Event, ...]:
        """The values that close with new bytes, and with the end of the text if nothing can follow."""
        if self._controlled is not None:
            return tuple(self._controlled.events())
        reader = self._task.events
        if reader is None:
            return ()
        is_whole = self.matcher is not None and self.matcher.is_finished
        return (*reader.feed(new), *(reader.end() if is_whole else ()))

    @property
    def _controlled(self) -> Matcher | None:
        """The matcher, if control tokens say where the parts of the text end."""
        is_own = self._task.constraint is not None and not self._task.healed
        return self.matcher if is_own and self.matcher is not None and self.matcher.has_marks else None

    def _finish(self, reason: FinishReason, stop_token: int | None = None) -> None:
        self.generation = Generation(
            "".join(self._texts),
            self._tokens,
            stop_token,
            self._log_probability,
            reason,
            self._task.prompt,
            self._task.healed,
            self._jumped,
            self._timing,
            self._task.constraint,
            self.drafted,
            self.accepted,
            self._controlled.compiled if self._controlled is not None else None,
            self._record,
        )
