"""What generation tells: one token as it is written, the whole text, and where the time went."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Generic, Literal, TypeVar

from tokamata.errors import NoValuesError

if TYPE_CHECKING:
    from tokamata.constraint import Constraint
    from tokamata.matching import CompiledConstraint
    from tokamata.values.events import Event

__all__ = ["Clock", "FinishReason", "Generation", "Step", "Timing"]

FinishReason = Literal["complete", "stop", "length"]
_T = TypeVar("_T")


@dataclass
class Timing:
    """Where the time went, in seconds.

    Attributes:
        compile_seconds: loading the vocabulary and compiling, where the call did these.
        prompt_seconds: the model reading the prompt, up to the first logits.
        model_seconds: the model's other steps.
        sampling_seconds: drawing tokens.
        constraint_seconds: masks, laying them over the logits, jumps, and moving on.
    """

    compile_seconds: float = 0.0
    prompt_seconds: float = 0.0
    model_seconds: float = 0.0
    sampling_seconds: float = 0.0
    constraint_seconds: float = 0.0


class Clock:
    """Adds the time spent in its block to one field of a :class:`Timing`."""

    def __init__(self, timing: Timing, name: str) -> None:
        self._timing, self._name = timing, name

    def __enter__(self) -> None:
        self._start = time.perf_counter()

    def __exit__(self, *_: object) -> None:
        spent = time.perf_counter() - self._start
        setattr(self._timing, self._name, getattr(self._timing, self._name) + spent)


@dataclass(frozen=True)
class Step:
    """One token, as it is written.

    Attributes:
        token: its id.
        data: the bytes that it adds to the text, which may begin or end inside a code point.
        text: what became certain with it: whole code points only, so perhaps ``""``.
        log_probability: as in :class:`Generation`, of this token alone.
        jumped: whether it was certain, so that the model was not asked.
        events: the values that closed with it; see :meth:`tokamata.Matcher.events`.  Those that close only
            when the model chooses to stop are in no step: a number that is the whole text, say.
    """

    token: int
    data: bytes
    text: str
    log_probability: float
    jumped: bool = False
    events: tuple[Event, ...] = ()


@dataclass(frozen=True)
class Generation(Generic[_T]):
    """What was written; ``T`` is the type of the value that its constraint's texts stand for.

    Attributes:
        text: the text, without prompt and stop token.  Control tokens that a pattern names are not
            in it.  Where a text without a constraint is cut off, a code point of which only a part
            was written is left out.
        tokens: the ids that were written after ``prompt_tokens``, without the stop token.
        stop_token: the stop token that was drawn, or ``None``.
        log_probability: natural logarithm of the probability of ``tokens``, and of
            ``stop_token`` where there is one, given ``prompt_tokens``, under the model constrained
            step by step: at each step the softmax over the tokens that constraint and budget allow,
            at temperature 1, before top-k and top-p.  Tokens that were jumped count as certain.
        finish_reason: ``"complete"`` when the text is accepted and nothing can follow; ``"stop"``
            when the model chose to stop at an accepted text; ``"length"`` when ``max_new_tokens``
            were drawn before either.  With a constraint the text is accepted then too, and could
            have gone on; without one it is cut off.
        prompt_tokens: the ids that the model was given.
        healed: the end of the prompt that was taken back and written anew, or ``""``.  The bytes of
            ``tokens`` are those of ``healed`` and then of ``text``.
        jumped: how many of ``tokens`` were certain, so that the model was not asked.
        timing: where the time went.  The texts of one call share it.
        constraint: what the text was held to; ``None`` where it was free.
    """

    text: str
    tokens: list[int]
    stop_token: int | None
    log_probability: float
    finish_reason: FinishReason
    prompt_tokens: list[int]
    healed: str
    jumped: int
    timing: Timing = field(repr=False)
    constraint: Constraint[_T] | CompiledConstraint[_T] | None = field(
        default=None, repr=False, compare=False
    )

    def parse(self) -> _T:
        """The value that the text stands for, such as an instance of the type that the constraint is of.

        Raises:
            NoValuesError: there is no constraint.
            ParseError: the text is none of the constraint's.
        """
        if self.constraint is None:
            raise NoValuesError()
        return self.constraint.parse(self.text)
