"""The results of generation: one token as it is written, the whole text, and the times."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, Literal, NoReturn, TypeAlias, TypeVar

from tokamata.calls.arguments import no_attribute
from tokamata.constraints.given import constraint_and_limits
from tokamata.decoding.token_spans import token_spans
from tokamata.decoding.wanted import Wanted
from tokamata.display.html import BAD, DIM, Markup, lines, panel, span
from tokamata.errors import AlgebraError, GenerationError, NoValuesError
from tokamata.matching.matchers import CompiledConstraint

if TYPE_CHECKING:
    from tokamata.constraints.constraint import Constraint
    from tokamata.decoding.field_probabilities.fields import FieldProbabilities
    from tokamata.decoding.field_probabilities.recording import Record
    from tokamata.repair.results import Repair
    from tokamata.resources.limits import CancelToken
    from tokamata.values.events import Event
    from tokamata.values.growing_thoughts import Growing

__all__ = [
    "REASONS",
    "Abstention",
    "Cause",
    "Clock",
    "FinishReason",
    "Generation",
    "Refusal",
    "Step",
    "Switch",
    "Timing",
    "state_without_vocabulary",
]

FinishReason: TypeAlias = Literal["complete", "stop", "length", "deadline", "policy"]
# Why a text could not go on; REASONS has the sentences.
Cause: TypeAlias = Literal["banned", "logits", "limits", "validator", "deadline"]
REASONS: dict[Cause, str] = {
    "banned": "every token that the constraint allows is banned",
    "logits": "the model's logits leave no token to choose: all allowed ones are NaN or minus infinity",
    "limits": "the constraint exceeded a limit",
    "validator": "a validator refuses the text",
    "deadline": "the time was over",
}

_T = TypeVar("_T")


def state_without_vocabulary(state: dict[str, Any]) -> dict[str, Any]:
    """What pickles and copies of a text have: a compiled constraint becomes its constraint.

    That leaves the vocabulary.  Where control tokens say how the text is parsed, both are needed.

    Args:
        state: the attributes, ``constraint`` and ``_matched`` among them.
    """
    constraint = state["constraint"]
    if state["_matched"] is None and isinstance(constraint, CompiledConstraint):
        return {**state, "constraint": constraint.constraint}
    return dict(state)


@dataclass
class Timing:
    """The times of a call, in seconds.

    Attributes:
        compile_seconds: loading the vocabulary and compiling, if the call did these.
        prompt_seconds: the model's first call, which reads the prompt.
        model_seconds: the model's other calls.
        sampling_seconds: drawing tokens.
        draft_seconds: proposing tokens, with their masks.
        constraint_seconds: computing masks, applying them to the logits, jumps, and advancing matchers.
        backoff_seconds: finding detours by bytes.
        repair_seconds: validators, repairs, and completions at a deadline.
    """

    compile_seconds: float = 0.0
    prompt_seconds: float = 0.0
    model_seconds: float = 0.0
    sampling_seconds: float = 0.0
    constraint_seconds: float = 0.0
    draft_seconds: float = 0.0
    backoff_seconds: float = 0.0
    repair_seconds: float = 0.0


class Clock:
    """Adds the time spent in its block to one field of a :class:`Timing`.

    Args:
        timing: the times.
        name: the field.
    """

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

    Where a stop text was awaited, a last step may have no data: it shows what was held back, with the token
    that ended the text.

    Attributes:
        token: its id.
        data: the bytes that it adds to the text, which may begin or end inside a code point.
        text: the code points that it completes; perhaps ``""``.
        log_probability: as in :class:`Generation`, of this token.
        jumped: whether it was certain, and written without the model.
        events: the values that closed with it, as :meth:`tokamata.Matcher.events` has them, and the parts of
            texts that are still open (:attr:`Event.is_delta`).  However the text is cut into tokens, these
            events are the same, if the deltas of a value are put together.  Values that close only when the
            model chooses to stop, such as a number that is the whole text, are in no step.
        legal_mass: the probability that the model gives to all tokens that the constraint and the budget
            allow, together.  ``None`` without ``probabilities=True``, and where the model did not choose.
        wanted: the token that the model found most probable, and may not write; ``None`` where it may, and
            where ``legal_mass`` is ``None``.
    """

    token: int
    data: bytes
    text: str
    log_probability: float
    jumped: bool = False
    events: tuple[Event, ...] = ()
    legal_mass: float | None = None
    wanted: Wanted | None = None
    # The values of the text, and which of them was the last one.
    _text: tuple[Growing, int] | None = field(default=None, repr=False, compare=False)

    @property
    def value(self) -> Any:
        """The value of the text up to this token: what no later token changes.

        Of a constraint on JSON, strings are there as far as they go, numbers once they have ended, objects
        and arrays with what is in them; ``None``: nothing is there yet.  Under a class of pydantic's
        ``BaseModel``, or a list of such ones, objects are instances of :func:`tokamata.partial` of it; what
        is missing in them is ``None``.  Under :func:`tokamata.think_first` it is a pair of the reasoning and
        the answer, which is ``None`` until it begins.  Of other constraints, the text.

        It is made where it is read.  All steps together read each byte of the text once, if they are read in
        their order.  Steps share parts of their values: do not change them.
        """
        if self._text is None:
            return None
        values, place = self._text
        return values.at(place)


@dataclass(frozen=True)
class Switch:
    """A part of a text that the model did not draw.

    Attributes:
        state: ``"shadow"``: written by bytes; ``"closing"``: the shortest completion, written without the
            model; ``"repair"``: the repaired text.
        cause: why.
        where: the byte of the text at which it begins.
        data: the bytes of the text that were written so; of a repair the whole text.  There are none where
            the part only completes a stop text, which is not in the text, or begins a code point that the
            text does not complete.
        log_probability: natural logarithm of what the model gives to these bytes (shadow); 0 otherwise.
    """

    state: Literal["shadow", "repair", "closing"]
    cause: Cause
    where: int
    data: bytes
    log_probability: float = 0.0


@dataclass(frozen=True)
class Refusal:
    """A finished text that was refused: by a validator, or by the type of its value.

    Attributes:
        reason: what it says against the text.
        generation: the text.
    """

    reason: str
    generation: Generation[Any]


_PARSE = "call parse(), which makes the value of the text"
_ELSEWHERE = {
    **dict.fromkeys(("value", "parsed", "answer", "json", "object", "data"), _PARSE),
    **dict.fromkeys(("content", "output", "message", "choices", "generated_text"), "read its text"),
    **dict.fromkeys(("steps", "events"), "call tokamata.stream, whose steps have them"),
}


@dataclass(frozen=True)
class Generation(Generic[_T]):
    """A generated text; ``T`` is the type of its value under its constraint.

    Attributes:
        text: the text, without prompt and stop token, and without control tokens that a pattern
            names.  If a text without a constraint is cut off within a code point, that code point
            is omitted.
        tokens: the ids that were written after ``prompt_tokens``, without the stop token.
        stop_token: the stop token that was drawn, or ``None``.
        log_probability: natural logarithm of the probability of ``tokens``, and of
            ``stop_token`` if there is one, given ``prompt_tokens``.  At each step, it is that of
            the softmax over the tokens that constraint and budget allow, at temperature 1, before
            top-k and top-p.  Jumped tokens, and those of a closing, count as certain; those of a detour count
            with the probability of their bytes.
        finish_reason: ``"complete"``: the text is accepted and nothing can follow; ``"stop"``:
            the model chose to stop at an accepted text, or wrote a stop text; ``"length"``:
            ``max_new_tokens`` were written before either.  In the last case, a text with a constraint is
            accepted too, but could have continued; one without a constraint is cut off.
            ``"deadline"``: the time was over; ``"policy"``: the policy has ended or repaired the text.
        prompt_tokens: the ids of the model's input.
        healed: the end of the prompt that was taken back and written again, or ``""``.  The bytes
            of ``tokens`` are those of ``healed`` followed by those of ``text``; where a deadline cuts the
            text off, perhaps only a part of them.
        jumped: how many of ``tokens`` were certain, and written without the model.
        timing: the times of the call, which its texts share.
        constraint: the constraint of the text; ``None`` if it was free.
        drafted, accepted: how many tokens were drafted, and how many of these were written.
        stop_text: the stop text before which the text ends, or ``None``.  ``tokens`` spell it too.
        switches: the parts of the text that the model did not draw.
        repair: the repair that the text comes from, with its certificate, or ``None``; ``tokens`` are those
            of the text before it.
        refusals: the tries before this one, with ``retries``; ``prompt_tokens`` and ``timing`` include them.
    """

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> NoReturn:
            """Says how to get the value or the text, which other libraries have under other names."""
            raise no_attribute(self, name, _ELSEWHERE)

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
    drafted: int = field(default=0, repr=False, compare=False)
    accepted: int = field(default=0, repr=False, compare=False)
    stop_text: str | None = field(default=None, repr=False)
    switches: tuple[Switch, ...] = field(default=(), repr=False)
    repair: Repair[_T] | None = field(default=None, repr=False, compare=False)
    refusals: tuple[Refusal, ...] = field(default=(), repr=False, compare=False)
    _matched: CompiledConstraint[_T] | None = field(default=None, repr=False, compare=False)
    _record: Record | None = field(default=None, repr=False, compare=False)
    # Of each token the bytes that it adds to the text, and its log-probability: what notebooks show.
    _pieces: tuple[tuple[bytes, float], ...] = field(default=(), repr=False, compare=False)

    def __getstate__(self) -> dict[str, Any]:
        return state_without_vocabulary(self.__dict__)

    def _repr_html_(self) -> str:
        """For notebooks: the tokens by their probability, what the model did not draw, and a repair."""
        count = len(self.tokens)
        parts = [f"{count:,} token{'s' * (count != 1)}", self.finish_reason]
        parts.append(f"log-probability {self.log_probability:.2f}")
        if self.jumped:
            parts.append(f"{self.jumped:,} jumped")
        marks = [
            (one.where, one.where + len(one.data), f"{one.state}: {REASONS[one.cause]}")
            for one in self.switches
            if one.state != "repair"
        ]
        if self.repair is None:
            return panel(" · ".join(parts), lines(token_spans(self.text, self._pieces, marks)))
        before = self.repair.certificate.broken.decode(errors="replace")
        shown = lines(token_spans(before, self._pieces, marks))
        return panel(" · ".join(parts), shown, Markup(self.repair._repr_html_()))

    def parse(self) -> _T:
        """The value of the text, for example an instance of the constraint's type.

        Raises:
            NoValuesError: there is no constraint.
            ParseError: the constraint does not accept the text.
        """
        if self.constraint is None:
            raise NoValuesError()
        if self._matched is not None:  # its control tokens say where parts end
            return self._matched._parse_tokens(self.text.encode(), self.tokens)
        return self.constraint.parse(self.text)

    def parse_with_probabilities(self, *, cancel: CancelToken | None = None) -> FieldProbabilities[_T]:
        """The value, and the probability of each of its fields as it was written.

            result = tk.generate(model, tokenizer, prompt, tk.type(Ticket), probabilities=True)
            found = result.parse_with_probabilities()
            found["/urgent"].probability                   # 0.93: its tokens, given the text before them
            found["/urgent"].alternatives                  # [(True, 0.93), (False, 0.07)], as intervals

        :mod:`tokamata.decoding.field_probabilities.fields` defines the numbers.  No model is called.

        Args:
            cancel: stops the work, from another thread.

        Raises:
            GenerationError: the text was generated without ``probabilities=True``; or a policy or a deadline
                has written parts of it.
            NoValuesError: there is no constraint.
            AlgebraError: control tokens say where the parts of the text end.
            ParseError: the constraint does not accept the text.
            LimitExceeded, Cancelled: finding the alternatives was stopped.
        """
        from tokamata.decoding.field_probabilities.fields import FieldProbabilities, fields_of
        from tokamata.resources.limits import Watch, checked_cancel

        value = self.parse()
        if self._record is None:
            raise GenerationError(
                "the probabilities of this text were not recorded; generate it with probabilities=True"
            )
        if self.switches:
            raise GenerationError(
                "parts of this text were not drawn by the model, as its switches say, so its fields have no "
                "probabilities"
            )
        if self._matched is not None:
            raise AlgebraError(
                "control tokens say where the parts of this text end, and the probabilities of such parts "
                "are not supported; use step.log_probability of stream()"
            )
        assert self.constraint is not None, "parse() refuses a free text"
        constraint, limits = constraint_and_limits(self.constraint)
        watch = Watch(limits, checked_cancel(cancel))
        data, healed = self.text.encode(), len(self.healed.encode())
        return FieldProbabilities(value, fields_of(constraint, data, healed, self._record, watch))


@dataclass(frozen=True)
class Abstention:
    """No text: what :func:`tokamata.generate` returns in place of a generation, with a :class:`Policy`.

    :func:`tokamata.beam_search` returns one in place of its list.

    Attributes:
        code: the cause.
        reason: the same as a sentence.
        where: the byte of the text at which it could not go on: the length of ``partial``, and of a code
            point that was begun.
        partial: the text so far; whole code points, without the healed end of the prompt.
        tokens: its ids.
        shortest_completion: text that would complete it: the constraint accepts it after ``partial``.
            ``""`` where the text is complete, and refused; ``None`` where no completion was found.
        prompt_tokens: the ids of the model's input.
        switches: the parts of ``partial`` that the model did not draw.
        timing: the times of the call, which its texts share.
        refusals: all tries, with ``retries``.
    """

    code: Cause
    reason: str
    where: int
    partial: str
    tokens: list[int]
    shortest_completion: str | None
    prompt_tokens: list[int]
    switches: tuple[Switch, ...]
    timing: Timing = field(repr=False)
    refusals: tuple[Refusal, ...] = field(default=(), repr=False, compare=False)

    def _repr_html_(self) -> str:
        """For notebooks: the text so far, what would complete it, and why it could not go on."""
        count = len(self.tokens)
        shown = [span(self.partial)]
        if self.shortest_completion:
            shown.append(
                span(self.shortest_completion, DIM, "the shortest completion, which was not written")
            )
        title = f"no text: {self.code} · {count:,} token{'s' * (count != 1)}"
        return panel(title, lines(shown), lines([span("✗ ", BAD), span(self.reason)]))
