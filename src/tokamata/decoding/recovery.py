"""How one text goes on where the model cannot write it: detours, closings, repairs.

A text has a matcher for its own tokenization, and, once it is needed, one for any tokenization, over the same
vocabulary less the banned tokens.  That one is exact: what it allows leads to an accepted text without banned
tokens.  With canonical tokenization the first one does not know of bans, so its mask may have banned tokens
alone.
"""

# torch is the caller's, hence `Any` for tensors.

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

from tokamata.constraints.extension_constraints import control_token
from tokamata.constraints.given import constraint_and_limits
from tokamata.constraints.text_constraints import literal
from tokamata.decoding.results import REASONS, Abstention, Cause, Clock, Generation, Refusal, Switch, Timing
from tokamata.decoding.shadow import Detour, detour
from tokamata.decoding.spelling import Spelling
from tokamata.errors import (
    AlgebraError,
    BudgetError,
    Cancelled,
    ContextError,
    EmptyConstraintError,
    LengthError,
    LimitExceeded,
    NoncanonicalError,
    RefusedError,
    RollbackError,
    UnspellableError,
)
from tokamata.matching.masks import allocate_mask, allowed_tokens
from tokamata.matching.matchers import CompiledConstraint, Matcher
from tokamata.resources.locks import kept_property
from tokamata.validators.validator import Validator, first_refusal, said_by

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from tokamata.constraints.constraint import Constraint
    from tokamata.decoding.policy import OnDeadline, Policy
    from tokamata.decoding.written_text import WrittenText
    from tokamata.vocabulary import Vocabulary

__all__ = ["MOST_DETOURS", "Closing", "Recovery"]

_T = TypeVar("_T")
MOST_DETOURS = 8  # of a text, one after another without a token of the model between them
_LEAST_SECONDS = 0.001  # for a closing at a deadline that is over
_LONGEST_REASON = 2000  # characters; pydantic lists all errors, and the reason goes into a prompt
_LATE_SECONDS = 0.1  # for a closing that was not found in time: a text that is late is better than none


@dataclass(frozen=True)
class Closing:
    """The end of a text that is closed without the model: the matcher at its beginning, and its tokens."""

    start: Matcher
    tokens: list[int]


@dataclass(frozen=True)
class Recovery(Generic[_T]):
    """How a text goes on where the model cannot write it.

    Attributes:
        constraint: the caller's constraint.
        context: the tokens that the text's matcher began after.
        spelling: the bytes of the text's tokens.
        least: the least number of tokens of a text.
        vocabulary: the vocabulary less the banned tokens.
        banned: the banned tokens.
        policy: what the call does; ``None``: it raises.
        validators: the judges of the finished text.
        is_tried_again: whether a refused text leads to another try; then its value is judged, too.
    """

    constraint: Constraint[_T] | CompiledConstraint[_T] | None
    context: Sequence[int]
    spelling: Spelling
    least: int
    vocabulary: Vocabulary
    banned: frozenset[int]
    policy: Policy | None
    validators: tuple[Validator, ...]
    is_tried_again: bool = False

    @property
    def on_deadline(self) -> OnDeadline:
        """What the call does when the time is over."""
        return "finish" if self.policy is None else self.policy.on_deadline

    def room(self, matcher: Matcher) -> int:
        """How many tokens of the budget are kept for a detour: canonical masks do not count with bans."""
        if self.policy is None or not self.banned or matcher.compiled.tokenization == "any":
            return 0
        return self.policy.shadow_bytes

    def has_banned(self, row: npt.NDArray[np.int32]) -> bool:
        """Whether a mask allows a banned token."""
        return bool((row & self._banned_row).any())

    def allowed(self, mask: npt.NDArray[np.int32]) -> npt.NDArray[np.int32]:
        """Masks less the banned tokens."""
        return mask & ~self._banned_row

    def cause(self, matcher: Matcher | None, budget: int, seconds_left: float | None) -> Cause:
        """Why no token was left, where ``budget`` more may be written."""
        if matcher is None:
            return "banned" if len(self.banned) >= self.vocabulary.width else "logits"
        row = allocate_mask(1, self.vocabulary.width)[0]
        try:
            matcher.fill_mask(row, budget, deadline_seconds=seconds_left, on_deadline="some")
        except LimitExceeded as error:
            if error.limit != "deadline_seconds":
                raise
            return "deadline"
        return "logits" if self._count(row) > 0 else "banned"

    def detour(
        self,
        matcher: Matcher,
        tokens: Sequence[int],
        logits: Any,
        budget: int,
        seconds_left: Callable[[], float | None] = lambda: None,
    ) -> Detour | None:
        """The way by bytes to where tokens follow again; ``None``: there is none, or none was found in time.

        Args:
            matcher: that of the text.
            tokens: the text so far.
            logits: of the model there, ``[width]``, without a mask.
            budget: how many tokens may still be written.
            seconds_left: the time that is left, 0 at least; ``None``: any.
        """
        policy = self.policy
        if policy is None or policy.shadow_bytes == 0:
            return None
        try:
            start = self._relaxed(matcher, tokens)
            if start is None:
                return None
            return detour(
                start,
                matcher.compiled.vocabulary,
                logits,
                budget,
                policy.shadow_bytes,
                policy.candidates,
                lambda here, left: self._resumed(
                    matcher.compiled,
                    here,
                    [*tokens, *here.tokens[len(start.tokens) :]],
                    left,
                    seconds_left(),
                ),
                seconds_left,
                is_start=not tokens and self.spelling.has_start_rule,
            )
        except (EmptyConstraintError, UnspellableError, LengthError, LimitExceeded):
            return None

    def closing(self, matcher: Matcher, tokens: Sequence[int], seconds_left: float | None) -> Closing | None:
        """The shortest completion without banned tokens; ``None``: none was found.

        Args:
            matcher: that of the text.
            tokens: the text so far.
            seconds_left: the time that is left; ``None``: any.  Then a longer completion may be the answer.
        """
        seconds = None if seconds_left is None else max(seconds_left, _LEAST_SECONDS)
        try:
            start = self._relaxed(matcher, tokens) if self.banned else matcher.fork()
            if start is None:
                return None
            try:
                closing = start.shortest_completion(deadline_seconds=seconds)
            except LimitExceeded as error:
                if error.limit != "deadline_seconds" or self.on_deadline != "finish":
                    raise
                closing = start.shortest_completion(deadline_seconds=_LATE_SECONDS)
            # A bound on a thought may be shorter than its shortest completion.
            return Closing(start, closing) if start.fork().advance_all(closing) else None
        except (EmptyConstraintError, UnspellableError, LengthError, LimitExceeded):
            return None

    def may_end(self, data: bytes, matcher: Matcher | None, kept: int, more: int, *, is_whole: bool) -> bool:
        """Whether a text may end in front of a stop text.

        Args:
            data: the text before it.
            matcher: at the end of what is written; ``None``: the text is free.
            kept: how many tokens are within ``data``, or within the healed end of the prompt.
            more: how many tokens come after them.
            is_whole: whether ``data`` ends where they do, and not within the next token.
        """
        if self.constraint is None or matcher is None:
            return kept + more >= self.least
        if is_whole:
            at = matcher.fork()
            with suppress(RollbackError):  # it begins after these tokens
                at.rollback(more)
                return at.is_accepting
        # Otherwise the text alone is judged, which says nothing where control tokens are named.
        if matcher.has_marks or kept < self.least:
            return False
        constraint, limits = constraint_and_limits(self.constraint)
        return constraint.accepts(data, limits=limits)

    def judged(
        self, generation: Generation[_T], seconds_left: float | None
    ) -> Generation[_T] | Abstention | Refusal:
        """A finished text; if it is refused, its refusal where there may be another try, or its settlement.

        Args:
            generation: the text.
            seconds_left: the time that is left; ``None``: any.

        Raises:
            RefusedError: a validator refuses it, there is no other try, and no policy.
        """
        is_judged = bool(self.validators) or self.is_tried_again
        reason = self._refusal(generation.text, generation.parse) if is_judged else None
        if reason is None:
            return generation
        refusal = Refusal(reason, generation)
        return refusal if self.is_tried_again else self.settled((refusal,), seconds_left)

    def settled(
        self, refusals: tuple[Refusal, ...], seconds_left: float | None
    ) -> Generation[_T] | Abstention:
        """What becomes of a refused text that is not tried again: a repair, or an abstention.

        Args:
            refusals: of all tries; the last one has the text.
            seconds_left: the time that is left; ``None``: any.

        Raises:
            RefusedError: there is no policy.
        """
        reason, generation = refusals[-1].reason, refusals[-1].generation
        if self.policy is None:
            raise RefusedError(reason, generation, refusals)
        if not self.is_tried_again:
            refusals = ()
        if self.policy.repair:
            repaired = self._repaired(generation, seconds_left)
            if repaired is not None:
                return replace(repaired, refusals=refusals)
        return Abstention(
            "validator",
            f"{REASONS['validator']}: {reason}",
            len(generation.text.encode()),
            generation.text,
            generation.tokens,
            "",
            generation.prompt_tokens,
            generation.switches,
            generation.timing,
            refusals,
        )

    def abstention(
        self,
        cause: Cause,
        matcher: Matcher | None,
        text: WrittenText,
        tokens: list[int],
        prompt: list[int],
        switches: Sequence[Switch],
        timing: Timing,
        seconds_left: float | None,
    ) -> Abstention:
        """What a call returns for a text that it gives up.

        Args:
            cause: why.
            matcher: at the end of the text; ``None``: the text is free.
            text: the text so far; nothing of it is held back.
            tokens: its ids.
            prompt: the ids of the model's input.
            switches: the parts that the model did not draw.
            timing: the times of the call.
            seconds_left: the time that is left for a completion; ``None``: any.
        """
        completion = None
        if matcher is not None:
            with Clock(timing, "repair_seconds"):
                closing = self.closing(matcher, tokens, seconds_left)
            if closing is not None:
                data = b"".join(self.spelling.each([*tokens, *closing.tokens])[len(tokens) :])
                completion = (text.pending + data[text.to_skip :]).decode(errors="replace")
        return Abstention(
            cause,
            REASONS[cause],
            len(text.data),
            text.text,
            tokens,
            completion,
            prompt,
            tuple(switches),
            timing,
        )

    def _repaired(self, generation: Generation[_T], seconds_left: float | None) -> Generation[_T] | None:
        """The nearest text of the constraint that the validators accept; ``None``: none was found in time."""
        assert self.policy is not None
        seconds = (
            self.policy.repair_seconds
            if seconds_left is None
            else min(self.policy.repair_seconds, seconds_left)
        )
        given = generation.constraint
        if given is None or seconds <= 0:
            return None
        constraint, limits = constraint_and_limits(given)
        try:
            for found in constraint.repairs(
                generation.text, distinct=True, deadline_seconds=seconds, limits=limits
            ):
                if self._refusal(found.text, lambda: found.value) is None:  # noqa: B023 (called at once)
                    data = found.text.encode()
                    switches = (*generation.switches, Switch("repair", "validator", 0, data))
                    return replace(
                        generation, text=found.text, finish_reason="policy", switches=switches, repair=found
                    )
        except (AlgebraError, LimitExceeded):  # its texts need tokens, or nothing was found in time
            return None
        return None

    def _refusal(self, text: str, parse: Any) -> str | None:
        """What a validator says against a text; also where the type of the value refuses it."""
        value: Any = text
        if self.constraint is not None:
            try:
                value = parse()
            except (Cancelled, LimitExceeded):
                raise
            except Exception as error:  # also of somebody else's function, as for validators
                return said_by(error)[:_LONGEST_REASON]
        return first_refusal(self.validators, text, value)

    def _relaxed(self, matcher: Matcher, tokens: Sequence[int]) -> Matcher | None:
        """A matcher for any tokenization at the end of the text; ``None``: bans leave no text there."""
        compiled = matcher.compiled
        if compiled.tokenization == "any":
            return matcher.fork()
        is_start = self.spelling.has_start_rule
        # A first token of which the decoder leaves nothing is no token of the pattern.
        silent = int(is_start and bool(tokens) and self.spelling.is_silent(tokens[0]))
        constraint = cast("Constraint[Any]", compiled.constraint)
        relaxed = constraint.compile(
            self.vocabulary, limits=compiled.limits, start_of_text=is_start and not silent
        )
        start = relaxed.matcher(min_tokens=max(self.least - silent, 0))
        return start if start.advance_all(tokens[silent:]) else None

    def _resumed(
        self,
        compiled: CompiledConstraint[Any],
        here: Matcher,
        tokens: list[int],
        budget: int,
        seconds: float | None,
    ) -> Matcher | None:
        """The matcher with which a text goes on, if enough tokens are left; ``None`` otherwise.

        Canonical tokenization begins afresh: after the tokens that the tokenizer writes for the text so far.

        Args:
            compiled: the constraint of the text.
            here: a matcher for any tokenization.
            tokens: those of the text up to there.
            budget: how many more may be written.
            seconds: the time that is left; ``None``: any.
        """
        assert self.policy is not None
        resumed = here
        if compiled.tokenization == "canonical":
            try:
                own = self._canonical(compiled, tokens)
                resumed = compiled.matcher(self.context, written=tokens, canonical=own, min_tokens=self.least)
            except (UnicodeDecodeError, NoncanonicalError, ContextError, LengthError, UnspellableError):
                return None
        row = allocate_mask(1, self.vocabulary.width)[0]
        try:
            resumed.fill_mask(row, budget, deadline_seconds=seconds)
        except BudgetError:
            return None
        return resumed if self._count(row) >= self.policy.resync else None

    def _canonical(self, compiled: CompiledConstraint[Any], tokens: list[int]) -> list[int]:
        """The tokens that the tokenizer writes for the text so far, with its control tokens.

        Raises:
            UnicodeDecodeError: the text ends within a code point, or a control token is within one.
            NoncanonicalError, ContextError, UnspellableError: the tokenizer does not write it there.
        """
        whole: Constraint[Any] = literal("")
        text = b""
        for token, data in zip(tokens, self.spelling.each(tokens), strict=True):
            text += data
            if compiled.vocabulary[token] is None:
                whole, text = whole + literal(text.decode()) + control_token(token), b""
        whole += literal(text.decode())
        matcher = whole.compile(compiled.vocabulary, tokenization="canonical").matcher(self.context)
        return matcher.shortest_completion()

    def _count(self, row: npt.NDArray[np.int32]) -> int:
        """How many tokens of a mask are not banned."""
        return len(allowed_tokens(self.allowed(row)))

    @kept_property
    def _banned_row(self) -> npt.NDArray[np.int32]:
        """The banned tokens as a mask; there may be as many as tokens, and each step asks."""
        import numpy as np

        row: npt.NDArray[np.int32] = allocate_mask(1, self.vocabulary.width)[0]
        bits = np.zeros(32 * len(row), dtype=np.uint8)
        bits[list(self.banned)] = 1
        row.view(np.uint8)[:] = np.packbits(bits, bitorder="little")
        return row
