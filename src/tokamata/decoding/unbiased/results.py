"""The results of sampling: one text with its weight, and all of them with what they cost."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar, overload

from tokamata.decoding.results import Timing, state_without_vocabulary
from tokamata.matching.matchers import CompiledConstraint

if TYPE_CHECKING:
    from tokamata.constraints.constraint import Constraint

__all__ = ["Method", "Sample", "Samples"]

Method = Literal["local", "exact", "asap", "smc"]
_T = TypeVar("_T")


@dataclass(frozen=True)
class Sample(Generic[_T]):
    """A text that was sampled; ``T`` is the type of its value under its constraint.

    Attributes:
        text: the text, without prompt and stop token, and without control tokens that a pattern names.
        tokens: the ids that were written after the prompt, without the stop token.
        stop_token: the stop token that was drawn, or ``None`` where nothing could follow the text.
        log_probability: natural logarithm of the probability that the model itself, at this temperature and
            without a constraint, writes ``tokens`` and ``stop_token``.
        log_weight: natural logarithm of the importance weight.  Averages over samples that use these weights
            tend to those of the target law; with ``method="exact"`` all are 0.
        log_masses: for each of ``tokens``, and for ``stop_token``, the natural logarithm of the legal mass
            before it: the probability that the model gave to all allowed tokens together.
        constraint: the constraint of the text.
    """

    text: str
    tokens: list[int]
    stop_token: int | None
    log_probability: float
    log_weight: float
    log_masses: list[float]
    constraint: Constraint[_T] | CompiledConstraint[_T] = field(repr=False, compare=False)
    _matched: CompiledConstraint[_T] | None = field(default=None, repr=False, compare=False)

    def __getstate__(self) -> dict[str, Any]:
        return state_without_vocabulary(self.__dict__)

    @property
    def finish_reason(self) -> Literal["complete", "stop"]:
        """``"complete"``: nothing could follow; ``"stop"``: the model drew a stop token."""
        return "complete" if self.stop_token is None else "stop"

    def parse(self) -> _T:
        """The value of the text, for example an instance of the constraint's type.

        Raises:
            ParseError: the constraint does not accept the text.
        """
        if self._matched is not None:  # its control tokens say where parts end
            return self._matched._parse_tokens(self.text.encode(), self.tokens)
        return self.constraint.parse(self.text)


@dataclass(frozen=True)
class Samples(Sequence[Sample[_T]], Generic[_T]):
    """What :func:`tokamata.sample` returns: a sequence of samples, and what they cost.

    Attributes:
        samples: the samples, in the order in which they were drawn; those of ``"smc"`` are a population.
        method: the method.
        forward_passes: how often the model was called.
        tokens_read: how many tokens the model has read in these calls.
        attempts: how many texts were begun: with those that were rejected, and those that could not go on
            since no legal token had a probability.
        effective_size: the effective sample size of the weights, at most the number of samples.
        log_evidence: natural logarithm of an estimate of the probability that the model without a constraint
            writes an accepted text within the budget.  The estimate itself is unbiased with ``"local"``,
            ``"asap"`` and ``"smc"``; with ``"exact"`` it tends to the truth with the number of samples.
            NaN where the call was stopped before there was an estimate.
        timing: the times of the call.
    """

    samples: tuple[Sample[_T], ...]
    method: Method
    forward_passes: int
    tokens_read: int
    attempts: int
    effective_size: float
    log_evidence: float
    timing: Timing = field(repr=False, compare=False)

    @property
    def acceptance(self) -> float:
        """The share of the texts begun that became samples; 0 where none was begun."""
        return len(self.samples) / self.attempts if self.attempts else 0.0

    @overload
    def __getitem__(self, index: int) -> Sample[_T]: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Sample[_T], ...]: ...
    def __getitem__(self, index: int | slice) -> Sample[_T] | tuple[Sample[_T], ...]:
        """One of the samples, or some."""
        return self.samples[index]

    def __len__(self) -> int:
        return len(self.samples)

    def __iter__(self) -> Iterator[Sample[_T]]:
        return iter(self.samples)
