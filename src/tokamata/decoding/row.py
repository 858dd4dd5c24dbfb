"""One text while it is written: its tokens, its matcher, its budget.

Invariant: the matcher stands after exactly ``tokens``, and ``unread`` are the last tokens of prompt and text,
which the model has not read.
"""

# transformers has no usable types for tokenizers, and torch is the caller's, hence `Any`.

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar

from tokamata.decoding.contents import Contents
from tokamata.decoding.drafts import Draft, Drafter
from tokamata.decoding.field_probabilities.recording import Record
from tokamata.decoding.jump import certain_tokens
from tokamata.decoding.recovery import MOST_DETOURS
from tokamata.decoding.results import (
    REASONS,
    Abstention,
    Cause,
    Clock,
    FinishReason,
    Generation,
    Refusal,
    Step,
    Switch,
    Timing,
)
from tokamata.decoding.sampling import NoChoice
from tokamata.decoding.spelling import Spelling
from tokamata.decoding.wanted import legal_mass_and_wanted
from tokamata.decoding.written_text import WrittenText
from tokamata.errors import BudgetError, GenerationError, LimitExceeded, NoTokenError
from tokamata.matching.masks import allocate_mask
from tokamata.resources.logs import LOG
from tokamata.vocabulary.misfits import check_logits

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import torch

    from tokamata.constraints.constraint import Constraint
    from tokamata.decoding.deadlines import Pace
    from tokamata.decoding.recovery import Recovery
    from tokamata.decoding.sampling import Sampler
    from tokamata.matching.matchers import CompiledConstraint, Matcher
    from tokamata.values.events import EventReader
    from tokamata.values.growing_thoughts import Growing
    from tokamata.vocabulary import Vocabulary

__all__ = ["Row", "Task"]

_T = TypeVar("_T")
_NO_DRAFT = Draft([], None)


@dataclass(frozen=True)
class Task(Generic[_T]):
    """The task of a row.

    Attributes:
        vocabulary: the vocabulary of model and matcher.
        spelling: the bytes of the text's tokens.
        prompt: the ids of the model's input.
        healed: the text of the token that was taken back from the prompt, or ``""``.
        constraint: the caller's constraint.
        matcher: at the start of the text; ``None`` if the text is free.
        is_matched_throughout: whether the matcher is needed after the healed text, too.
        max_new_tokens: the budget.
        jump: whether to write certain tokens without the model.
        events: reports the values that close, or ``None``.
        value: the value of the text as it grows.
        stop: the stop texts.
        recovery: what to do where the text cannot go on.
        records: whether to keep the choices, for the probabilities of fields.
    """

    vocabulary: Vocabulary
    spelling: Spelling
    prompt: list[int]
    healed: str
    constraint: Constraint[_T] | CompiledConstraint[_T] | None
    matcher: Matcher | None
    is_matched_throughout: bool
    max_new_tokens: int
    jump: bool
    events: EventReader | None
    value: Growing
    stop: tuple[str, ...]
    recovery: Recovery[_T]
    records: bool = False

    @property
    def budget(self) -> int:
        """How many tokens may be written, including the one that was taken back and is written again."""
        return self.max_new_tokens + bool(self.healed)


@dataclass
class _Part:
    """A part of a text that the model does not draw, while it is written.

    Attributes:
        state, cause: as in :class:`Switch`.
        pieces: for each token the byte of the text at which it begins, its bytes there, and what it adds to
            the log-probability.
    """

    state: Literal["shadow", "closing"]
    cause: Cause
    pieces: list[tuple[int, bytes, float]] = field(default_factory=list)

    @property
    def has_text(self) -> bool:
        """Whether it has bytes of the text; those of the healed end of the prompt are none."""
        return any(data for _, data, _ in self.pieces)

    def switch(self, end: int) -> Switch:
        """The part up to a byte of the text, the end of what is shown; perhaps nothing is left of it."""
        where = min(self.pieces[0][0], end)
        data = b"".join(data for _, data, _ in self.pieces)[: end - where]
        share = sum((share for begin, _, share in self.pieces if begin < end), 0.0)
        return Switch(self.state, self.cause, where, data, share)


class Row(Generic[_T]):
    """A text, token by token.

    Attributes:
        result: the result, once the text has ended; ``None`` before.
        unread: the tokens that the model has not read yet.
        matcher: at the end of the text so far; ``None`` if the text is free.
        drafter: proposes tokens, or ``None``.
        drafted, accepted: how many tokens were proposed, and how many of these were written.
    """

    def __init__(
        self,
        task: Task[_T],
        tokenizer: Any,
        sampler: Sampler,
        timing: Timing,
        pace: Pace,
        drafter: Drafter | None = None,
    ) -> None:
        self._task, self._vocabulary, self._tokenizer = task, task.vocabulary, tokenizer
        self._sampler, self._timing, self._pace = sampler, timing, pace
        self.result: Generation[_T] | Abstention | Refusal | None = None
        self.unread = list(task.prompt)
        self.matcher = task.matcher
        self._mask = allocate_mask(1, task.vocabulary.width)[0]
        self._certain: list[int] | None = None  # tokens to jump; None if not known yet
        self._text = WrittenText(len(task.healed.encode()), task.stop, self._may_end)
        self._contents = Contents(task.events, task.value, self._text)
        self._tokens: list[int] = []
        self._pieces: list[tuple[bytes, float]] = []
        self._borders: list[int] = []  # the ends of tokens, in bytes of the healed text and this one
        self._parts: list[_Part] = []
        self._detours = 0  # since the last token of the model
        self._held = ""  # text that no step has shown, although the text has ended
        self._meets_bans = False  # whether a mask has allowed banned tokens
        self._jumped = 0
        self.drafter = drafter
        self.drafted = self.accepted = 0
        self._log_probability = 0.0
        self._record = Record() if task.records else None

    @property
    def vocabulary(self) -> Vocabulary:
        """The vocabulary of the model."""
        return self._vocabulary

    @property
    def tokens_left(self) -> int:
        """How many more tokens may be written."""
        has_stopped = isinstance(self.result, Generation) and self.result.stop_token is not None
        return self._task.budget - len(self._tokens) - has_stopped

    @property
    def mask_budget(self) -> int:
        """The budget of masks: what is left, and what fits into the time."""
        paced = self._pace.tokens
        return self.tokens_left if paced is None else min(self.tokens_left, paced)

    @property
    def has_policy(self) -> bool:
        """Whether something is done where the text cannot go on."""
        return self._task.recovery.policy is not None

    @property
    def reads_unmasked(self) -> bool:
        """Whether it needs the logits without masks: for detours, or to say what the model wanted."""
        return self.has_policy or self._record is not None

    @property
    def is_careful(self) -> bool:
        """Whether a mask that cannot be made is no error."""
        return self.has_policy or self._pace.has_deadline

    @property
    def is_apart(self) -> bool:
        """Whether its masks are made by :meth:`fill_mask` alone: by a deadline, or with room for a detour."""
        return self._pace.has_deadline or self._meets_bans

    def propose(self, most: int) -> Draft:
        """A draft of at most ``most`` tokens; an empty one where nothing can be proposed."""
        budget = self.mask_budget
        most = min(most, budget - 1)
        # After the healed text this text is free: the matcher's masks do not concern it.
        is_leaving = self.matcher is not None and not self._task.is_matched_throughout
        if self.drafter is None or most < 1 or is_leaving:
            return _NO_DRAFT
        with Clock(self._timing, "draft_seconds"):
            try:
                return self.drafter.draft(self._task.prompt + self._tokens, self.matcher, most, budget)
            except (BudgetError, LimitExceeded):
                if not self.is_careful:
                    raise
                return _NO_DRAFT  # the mask without a draft meets the cause, and handles it

    def safely(self, steps: Iterator[Step]) -> Iterator[Step]:
        """The steps; with a policy, the text is given up where the constraint exceeds a limit.

        A last step shows what was held back for a stop text that did not come.
        """
        try:
            yield from steps
        except LimitExceeded:
            if not self.has_policy:
                raise
            self._abstain("limits")
        if self._held:
            last = self._tokens[-1] if self._tokens else self._task.prompt[-1]
            if isinstance(self.result, Generation) and self.result.stop_token is not None:
                last = self.result.stop_token
            held, self._held = self._held, ""
            events, value = self._contents.after(self._controlled)
            yield Step(last, b"", held, 0.0, events=events, _text=value)

    def settle(self, refusals: tuple[Refusal, ...]) -> None:
        """End a text that was refused, and is not tried again; ``refusals``: of all tries, its own last.

        Raises:
            RefusedError: there is no policy.
        """
        with Clock(self._timing, "repair_seconds"):
            left = self._pace.seconds_left()
            self.result = self._task.recovery.settled(refusals, left)
        _log_switches([part for part in self.result.switches if part.state == "repair"])

    def check_width(self, logits: int) -> None:
        """Compare the vocabulary with the number of logits; there is one vocabulary for all rows.

        Raises:
            MaskError: the vocabulary is wider.
        """
        check_logits(len(self._vocabulary), self._vocabulary.width, logits)

    def fill_mask(self, row: npt.NDArray[np.int32]) -> Cause | None:
        """Write the mask.

        Returns:
            Why there is none; ``None`` where it was written.
        """
        assert self.matcher is not None
        paced, left = self.mask_budget, self.tokens_left
        room = self._task.recovery.room(self.matcher) if self._meets_bans else 0
        # The tightest budget that leaves a token: with room for a detour, in time, or at all.
        tighter = [budget for budget in (paced - room, paced) if 0 < budget < left]
        try:
            for budget in tighter:
                with suppress(BudgetError):
                    self._fill(row, budget)
                    if self._task.recovery.allowed(row).any():
                        return None
            self._fill(row, left)
        except LimitExceeded as error:
            if error.limit == "deadline_seconds":
                return "deadline"
            if not self.has_policy:
                raise
            return "limits"
        return None

    def note_bans(self, row: npt.NDArray[np.int32]) -> None:
        """Keeps room for a detour from now on, if a mask allows banned tokens."""
        recovery = self._task.recovery
        if not self._meets_bans and self.matcher is not None and recovery.room(self.matcher) > 0:
            self._meets_bans = recovery.has_banned(row)

    def _fill(self, row: npt.NDArray[np.int32], budget: int) -> None:
        assert self.matcher is not None
        seconds = self._pace.seconds_of_step()
        self.matcher.fill_mask(row, budget, deadline_seconds=seconds, on_deadline="some")
        self.note_bans(row)

    def read_draft(self, logits: torch.Tensor, draft: Draft, unmasked: torch.Tensor | None) -> Iterator[Step]:
        """Let the model choose tokens, as long as they are those of a draft, and one more.

        Args:
            logits: ``[len(draft.tokens) + 1, width]``, masked: before each token of the draft, and after the
                last.
            draft: the draft.
            unmasked: the same without masks, where a text of the call needs them.

        Raises:
            NoTokenError: the logits leave no allowed token, and there is no policy.
        """
        self.drafted += len(draft.tokens)
        for place, scores in enumerate(logits):
            accepted = self.accepted
            try:
                step = self.draw(scores, draft, place, None if unmasked is None else unmasked[place])
            except NoChoice as error:
                yield from self._recover(None if unmasked is None else unmasked[place], str(error))
                return
            if step is not None:
                yield step
            if step is None or self.accepted == accepted or self._ends():
                return

    def write_certain(self) -> Iterator[Step]:
        """Write all that needs no model: certain tokens, and the end of the text."""
        while not self._ends():
            token = self._next_certain()
            if token is None:
                return
            yield self._write(token, 0.0, jumped=True)

    def draw(
        self, logits: torch.Tensor, draft: Draft, place: int, unmasked: torch.Tensor | None = None
    ) -> Step | None:
        """Let the model choose a token.

        Args:
            logits: ``[width]``, minus infinity for tokens that the mask does not allow.
            draft: what was proposed; the token is counted as accepted where it is that of the draft.
            place: of the token in the draft, or the length of the draft.
            unmasked: ``[width]``, before the mask, if they are at hand.

        Returns:
            The token; ``None`` if it is a stop token, which ends the text.

        Raises:
            NoChoice: the logits leave no allowed token.
        """
        self._certain = None
        mass, wanted = None, None
        if self._record is not None:
            spelling, is_first = self._task.spelling, not self._tokens
            self._record.see(logits, lambda token: spelling.of(token, is_first=is_first))
            if unmasked is not None:
                mass, wanted = legal_mass_and_wanted(unmasked, logits, spelling, is_first)
        with Clock(self._timing, "sampling_seconds"):
            if place < len(draft.probabilities):
                token, log_probability = self._sampler.choose_or_accept(
                    logits, draft.tokens[place], draft.probabilities[place]
                )
            else:
                token, log_probability = self._sampler.choose(logits)
        self._detours = 0
        self.accepted += place < len(draft.tokens) and token == draft.tokens[place]
        if token not in self._vocabulary.stop:
            step = self._write(token, log_probability)
            return step if mass is None else replace(step, legal_mass=mass, wanted=wanted)
        self._advance(token)
        self._log_probability += log_probability
        if self._record is not None:
            self._record.write(token, b"", log_probability)
        self._finish("stop", token)
        return None

    def end_at_deadline(self) -> Iterator[Step]:
        """End the text, since the time is over."""
        how = self._task.recovery.on_deadline
        if how == "abstain":
            self._abstain("deadline")
        elif how == "partial" or self.matcher is None:
            self._finish("deadline", is_whole=how != "partial")
        else:
            yield from self._close("deadline")

    def end(self, cause: Cause) -> Iterator[Step]:
        """End the text where no mask could be made."""
        if cause == "deadline":
            yield from self.end_at_deadline()
        else:
            self._abstain(cause)

    def _recover(self, logits: torch.Tensor | None, reason: str) -> Iterator[Step]:
        """Go on where the model may write no token.

        Args:
            logits: ``[width]``, without a mask; ``None`` without a policy.
            reason: what is the matter with the logits.

        Raises:
            NoTokenError: there is no policy.
        """
        recovery = self._task.recovery
        cause = recovery.cause(self.matcher, self.tokens_left, self._pace.seconds_of_step())
        if cause == "deadline":
            yield from self.end_at_deadline()
            return
        if cause == "banned" and self.matcher is not None and self.matcher.is_accepting:
            self._finish("length")  # only a stop token could follow, and it is banned
            return
        if recovery.policy is None or logits is None:
            raise self._no_token(cause, reason if cause == "logits" else REASONS[cause])
        self._detours += 1
        found = None
        if self.matcher is not None and self._detours <= MOST_DETOURS:
            with Clock(self._timing, "backoff_seconds"):
                found = recovery.detour(
                    self.matcher, self._tokens, logits, self.tokens_left, self._pace.seconds_of_step
                )
        if found is None:
            if self._pace.seconds_of_step() == 0:
                yield from self.end_at_deadline()
            elif recovery.policy.repair and self.matcher is not None:
                yield from self._close(cause)
            else:
                self._abstain(cause)
            return
        self._follow(found.start)
        yield from self._write_part("shadow", cause, found.tokens, found.log_probabilities)
        if self.result is not None:  # at a stop text
            return
        if found.back is None:
            self._finish("policy")
        else:
            self._follow(found.back)

    def _write_part(
        self, state: Literal["shadow", "closing"], cause: Cause, tokens: list[int], shares: list[float]
    ) -> Iterator[Step]:
        """Write tokens that the model does not draw, up to a stop text."""
        part = _Part(state, cause)
        self._parts.append(part)
        for token, share in zip(tokens, shares, strict=True):
            yield self._write(token, share, part=part)
            if self.result is not None:
                return

    def _follow(self, matcher: Matcher) -> None:
        """Go on with another matcher at the same place; the events so far are those of the one before."""
        self.matcher = matcher
        if self._controlled is not None:
            self._controlled._events_with_deltas()

    def _close(self, cause: Cause) -> Iterator[Step]:
        """Write the shortest completion, which needs no model."""
        assert self.matcher is not None
        with Clock(self._timing, "repair_seconds"):
            recovery = self._task.recovery
            closing = recovery.closing(self.matcher, self._tokens, self._pace.seconds_left())
            if closing is not None and len(closing.tokens) > self.tokens_left:
                # What was found in time does not fit; a longer search may find what does.
                closing = recovery.closing(self.matcher, self._tokens, None)
        if closing is None or len(closing.tokens) > self.tokens_left:
            self._abstain(cause)
            return
        self._follow(closing.start)
        yield from self._write_part("closing", cause, closing.tokens, [0.0] * len(closing.tokens))
        if self.result is None:  # otherwise at a stop text
            self._finish("deadline" if cause == "deadline" else "policy")

    def _ends(self) -> bool:
        """End the text if nothing can follow or the budget is used up; returns whether it has ended."""
        if self.result is None and self.matcher is not None and self.matcher.is_finished:
            self._finish("complete")
        elif self.result is None and self.tokens_left == 0:
            self._finish("length")
        return self.result is not None

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
                if self._mask[token // 32] >> token % 32 & 1 and token not in self._task.recovery.banned:
                    return token
                self._certain = []  # within the budget, only other tokens fit: the model chooses
        return None

    def _advance(self, token: int) -> None:
        with Clock(self._timing, "constraint_seconds"):
            if self.matcher is not None and not self.matcher.advance(token):
                raise GenerationError(f"token {token} was drawn although the mask does not allow it")

    def _write(
        self, token: int, log_probability: float, *, jumped: bool = False, part: _Part | None = None
    ) -> Step:
        """Follow a token, and add it to the text, without its bytes that repeat the healed end of the prompt.

        Args:
            token: the token.
            log_probability: of it.
            jumped: whether it is certain.
            part: the part that the model does not draw, if it is of one.
        """
        self._advance(token)
        data = self._task.spelling.of(token, is_first=not self._tokens)
        new = self._text.skipped(data)
        if part is not None:
            part.pieces.append((len(self._text.data), new, log_probability))
        if self._text.to_skip == 0 and not self._task.is_matched_throughout:
            self.matcher = None
        if self._record is not None:
            self._record.write(token, data, log_probability)
        self._borders.append((self._borders[-1] if self._borders else 0) + len(data))
        self._tokens.append(token)
        self._pieces.append((new, log_probability))
        self.unread.append(token)
        self._jumped += jumped
        self._log_probability += log_probability
        text = self._text.add(new)
        is_whole = self.matcher is not None and self.matcher.is_finished
        if self._text.stop_text is not None:
            self._finish("stop")
        elif self.tokens_left == 0 or is_whole:
            text += self._text.end()
        self._contents.add(new)
        is_end = is_whole and self._text.stop_text is None
        events, value = self._contents.after(self._controlled, is_end=is_end)
        return Step(token, new, text, log_probability, jumped, events, _text=value)

    def _may_end(self, data: bytes) -> bool:
        """Whether the text may end with these bytes, before a stop text."""
        end = len(self._task.healed.encode()) + len(data)
        kept = bisect_right(self._borders, end)
        more, is_whole = len(self._borders) - kept, end in (0, *self._borders[:kept][-1:])
        return self._task.recovery.may_end(data, self.matcher, kept, more, is_whole=is_whole)

    @property
    def _controlled(self) -> Matcher | None:
        """The matcher, if control tokens say where the parts of the text end."""
        is_own = self._task.constraint is not None and not self._task.healed
        return self.matcher if is_own and self.matcher is not None and self.matcher.has_marks else None

    def _finish(self, reason: FinishReason, stop_token: int | None = None, *, is_whole: bool = True) -> None:
        """End the text; one that is whole is judged by the validators."""
        self._held = self._text.end()
        controlled = self._controlled
        generation = Generation(
            text=self._text.text,
            tokens=self._tokens,
            stop_token=stop_token,
            log_probability=self._log_probability,
            finish_reason=reason,
            prompt_tokens=self._task.prompt,
            healed=self._task.healed,
            jumped=self._jumped,
            timing=self._timing,
            constraint=self._task.constraint,
            drafted=self.drafted,
            accepted=self.accepted,
            stop_text=self._text.stop_text,
            switches=self._switches(),
            _matched=None if controlled is None else controlled.compiled,
            _record=self._record,
            _pieces=tuple(self._pieces),
        )
        self.result = generation
        if is_whole:
            with Clock(self._timing, "repair_seconds"):
                self.result = self._task.recovery.judged(generation, self._pace.seconds_left())
        LOG.debug(
            "wrote %d tokens: %s; the masks of the call took %.3f s",
            len(self._tokens), reason, self._timing.constraint_seconds,
        )  # fmt: skip
        if isinstance(self.result, Refusal):
            LOG.info("the text is refused: %s", self.result.reason)
            _log_switches(generation.switches)
        else:
            _log_switches(self.result.switches)

    def _switches(self) -> tuple[Switch, ...]:
        """The parts that the model did not draw, of the text as it is shown."""
        end = len(self._text.text.encode())
        return tuple(part.switch(end) for part in self._parts if part.has_text)

    def _no_token(self, cause: Cause, reason: str) -> NoTokenError:
        self._text.end()
        return NoTokenError(cause, reason, len(self._text.data), self._text.text)

    def _abstain(self, cause: Cause) -> None:
        if self._task.recovery.policy is None:
            raise self._no_token(cause, REASONS[cause])
        self._held = self._text.end()
        self.result = self._task.recovery.abstention(
            cause,
            self.matcher,
            self._text,
            self._tokens,
            self._task.prompt,
            self._switches(),
            self._timing,
            self._pace.seconds_left(),
        )
        LOG.info("abstained after %d tokens, since %s", len(self._tokens), REASONS[cause])


def _log_switches(switches: Sequence[Switch]) -> None:
    for part in switches:
        LOG.info("%s from byte %d on, since %s", part.state, part.where, REASONS[part.cause])
