"""Errors while a model writes."""

from __future__ import annotations

from typing import Any

from tokamata.errors.base import TokamataError


class GenerationError(TokamataError, RuntimeError):
    """A model whose logits leave no allowed token to choose."""


class NoTokenError(GenerationError):
    """No token is left that the model may write, and the call has no policy.

    Attributes:
        cause: ``"banned"`` or ``"logits"``; see :class:`tokamata.Abstention`.
        reason: the same as a sentence.
        where: the byte of the text at which it could not go on.
        partial: the text so far.
    """

    def __init__(self, cause: str, reason: str, where: int, partial: str) -> None:
        super().__init__(cause, reason, where, partial)
        self.cause, self.reason, self.where, self.partial = cause, reason, where, partial

    def _message(self) -> str:
        return (
            f"after {self.partial[-40:]!r}, at byte {self.where} of the text, {self.reason}; pass "
            "policy=tokamata.Policy() to go on by bytes, to repair or to abstain"
        )


class RefusedError(GenerationError):
    """A validator refuses the finished text, the call has no policy, and no other try is left.

    Attributes:
        reason: what the validator says.
        generation: the :class:`tokamata.Generation` that it refuses.
        refusals: the :class:`tokamata.Refusal` of each try, this one last.
    """

    def __init__(self, reason: str, generation: Any, refusals: tuple[Any, ...] = ()) -> None:
        super().__init__(reason, generation, refusals)
        self.reason, self.generation, self.refusals = reason, generation, refusals

    def _message(self) -> str:
        tries = len(self.refusals)
        last = f", the last of {tries} tries" if tries > 1 else ""
        again = (
            "more retries"
            if tries > 1
            else "retries=2 to let the model try again with the reason in the prompt"
        )
        return (
            f"a validator refuses the text {self.generation.text[:80]!r}{last}: {self.reason}\n"
            f"pass policy=tokamata.Policy() to repair it or to abstain, or {again}"
        )


class SamplingStopped(TokamataError, RuntimeError):
    """:func:`tokamata.sample` ended before it had all samples; those that it has are kept.

    Where another error ended it, that is the ``__cause__``.

    Attributes:
        reason: why, in words.
        advice: what to do.
        samples: the :class:`tokamata.Samples` so far.  A bound on forward passes ends long texts more often
            than short ones, so a short list of samples has too many short texts; of ``method="smc"`` these
            are the texts that had ended by then, which are short ones.
    """

    def __init__(self, reason: str, advice: str, samples: Any) -> None:
        super().__init__(reason, advice, samples)
        self.reason = reason
        self.advice = advice
        self.samples = samples

    def _message(self) -> str:
        return f"{self.reason} after {len(self.samples)} samples, which are in .samples; {self.advice}"
