"""A plain loop that writes text with a transformers model under a constraint.

At each step: the model's logits for the next token, the constraint's mask over them, a draw, and
the constraint moves on.  The text ends where the constraint says that nothing can follow, without
asking the model again, or where a stop token is drawn, which the mask admits in accepting states
alone.

    for step in tk.stream(model, tokenizer, "A date: ", tk.regex(r"\\d{4}-\\d{2}-\\d{2}")):
        print(step.text, end="", flush=True)

No text is cut off: every mask is asked for with the number of tokens that are left, and so admits only
what can still be finished.  The stop token needs no place of its own in the budget, since an accepted
text that has used it up is complete without one.
"""

# transformers has no usable types for models and tokenizers, hence `Any` for the two.

from __future__ import annotations

import codecs
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypedDict

from tokamata.arguments import checked_choice, checked_flag, checked_instance, checked_whole
from tokamata.compiled import CompiledConstraint, OnNoncanonical, Tokenization
from tokamata.constraint import Constraint, literal, regex
from tokamata.decoding.heal import text_to_heal
from tokamata.decoding.hosts import vocabulary_of
from tokamata.decoding.jump import certain_tokens
from tokamata.decoding.model import CachedModel, prompt_tokens
from tokamata.decoding.results import Clock, FinishReason, Generation, Step, Timing
from tokamata.decoding.sampling import Sampler, Sampling
from tokamata.errors import (
    AlgebraError,
    ArgumentError,
    BudgetError,
    GenerationError,
    NoStopTokenError,
    shown_argument,
)
from tokamata.limits import Limits
from tokamata.masks import allocate_mask, apply_mask
from tokamata.values.events import EventReader
from tokamata.values.forms import Reading
from tokamata.vocabulary import Vocabulary

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from tokamata.matcher import Matcher


__all__ = ["Settings", "Stream", "generate", "stream"]


class Settings(TypedDict, total=False):
    """The settings of :func:`stream`, which explains them, for functions that pass them on."""

    max_new_tokens: int
    tokenization: Tokenization
    on_noncanonical: OnNoncanonical
    jump: bool
    heal: bool | None
    temperature: float
    top_k: int | None
    top_p: float
    greedy: bool
    seed: int | None


class Stream(Iterator[Step]):
    """Iterates over the tokens of a text while it is written; made by :func:`stream`.

    Attributes:
        generation: what was written, once the iteration has ended; ``None`` before.
    """

    def __init__(
        self,
        model: Any,
        tokenizer: Any,
        prompt: str | Sequence[int],
        constraint: Constraint | CompiledConstraint | None,
        max_new_tokens: int,
        sampling: Sampling,
        tokenization: Tokenization,
        on_noncanonical: OnNoncanonical,
        jump: bool,
        heal: bool | None,
    ) -> None:
        if checked_whole("max_new_tokens", max_new_tokens) < 1:
            raise BudgetError(max_new_tokens)
        _check_settings(constraint, tokenization, on_noncanonical, jump, heal)
        self.generation: Generation | None = None
        self._timing = Timing()
        with Clock(self._timing, "compile_seconds"):
            self._vocabulary = _vocabulary(model, tokenizer, constraint)
            self._prompt = prompt_tokens(tokenizer, prompt)
            self._healed = ""
            self._is_free = constraint is None
            self._asked = constraint
            self._events = _event_reader(constraint)
            if isinstance(constraint, CompiledConstraint):
                tokenization = constraint.tokenization
            is_canonical = tokenization == "canonical"
            # Nothing can be put before what is compiled; where nobody asked for healing, it goes without.
            if heal or (heal is None and is_canonical and not isinstance(constraint, CompiledConstraint)):
                constraint = self._heal(constraint)
            if is_canonical and constraint is None:
                constraint = regex("(?s:.*)")
            self._keeps_matcher = is_canonical
            compiled = _compiled(constraint, self._vocabulary, tokenization)
            self._matcher: Matcher | None = None
            if compiled is not None:
                self._matcher = compiled.matcher(self._prompt, on_noncanonical=on_noncanonical)
        self._tokenizer = tokenizer
        self._budget = max_new_tokens + bool(self._healed)
        self._row = allocate_mask(1, self._vocabulary.width)[0]
        self._check_budget(max_new_tokens)
        self._model = CachedModel(model)
        self._sampler = Sampler(sampling, self._model.device)
        self._jump = jump
        self._certain: list[int] | None = None  # tokens to jump; None where that is to be found out
        self._unread = list(self._prompt)
        self._to_skip = len(self._healed.encode())
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        self._tokens: list[int] = []
        self._texts: list[str] = []
        self._jumped = 0
        self._log_probability = 0.0

    @property
    def tokens_left(self) -> int:
        """How many more tokens may be drawn."""
        ended = self.generation is not None and self.generation.stop_token is not None
        return self._budget - len(self._tokens) - ended

    @property
    def tokens_needed(self) -> int:
        """The least number of tokens that lead to an accepted text; 0 without a constraint.

        Raises:
            LimitExceeded: the constraint passed its limits.
        """
        return 0 if self._matcher is None else len(self._matcher.shortest_completion())

    @property
    def is_constrained(self) -> bool:
        """Whether there is a constraint."""
        return not self._is_free

    def __next__(self) -> Step:
        """Write one more token.

        Raises:
            GenerationError: the model's logits leave no allowed token.
            MaskError: the model's logits are narrower than the vocabulary.
            LimitExceeded: the constraint passed its limits.
        """
        if self.generation is not None:
            raise StopIteration
        if self._matcher is not None and self._matcher.is_finished:
            return self._finish("complete")
        if self.tokens_left == 0:
            return self._finish("length")
        jumped = self._next_certain()
        token, log_probability = self._draw() if jumped is None else (jumped, 0.0)
        with Clock(self._timing, "constraint_seconds"):
            if self._matcher is not None and not self._matcher.advance(token):
                raise GenerationError(f"token {token} was drawn though the mask does not allow it")
        self._log_probability += log_probability
        if token in self._vocabulary.stop:
            return self._finish("stop", token)
        return self._write(token, log_probability, jumped is not None)

    def _check_budget(self, max_new_tokens: int) -> None:
        """Refuse a budget that no text fits."""
        if self._matcher is None:
            return
        try:
            with Clock(self._timing, "constraint_seconds"):
                self._matcher.fill_mask(self._row, self._budget)
        except BudgetError as error:
            # The token that was taken back is not the caller's concern.
            needed = None if error.needed is None else error.needed - bool(self._healed)
            raise BudgetError(max_new_tokens, needed) from None

    def _next_certain(self) -> int | None:
        """Return the next token to jump; ``None`` where the model is to choose."""
        if not self._jump or self._matcher is None:
            return None
        with Clock(self._timing, "constraint_seconds"):
            if self._certain is None:
                self._certain = certain_tokens(self._matcher, self._tokenizer)
            if self._certain:
                token = self._certain.pop(0)
                self._matcher.fill_mask(self._row, self.tokens_left)
                if self._row[token // 32] >> token % 32 & 1:
                    return token
                self._certain = []  # a text that fits the budget is cut otherwise: the model chooses
        return None

    def _draw(self) -> tuple[int, float]:
        """Let the model choose a token; returns it and its log-probability."""
        prompt_is_read = self._model.has_read
        with Clock(self._timing, "model_seconds" if prompt_is_read else "prompt_seconds"):
            logits = self._model.next_logits(self._unread)
        self._unread = []
        with Clock(self._timing, "constraint_seconds"):
            if self._matcher is not None:
                self._matcher.fill_mask(self._row, self.tokens_left)
                apply_mask(logits, self._row)
        self._certain = None
        with Clock(self._timing, "sampling_seconds"):
            return self._sampler.choose(logits)

    def _write(self, token: int, log_probability: float, jumped: bool) -> Step:
        """Add a token to the text; what it writes of the healed end of the prompt is left out."""
        data = self._vocabulary[token] or b""
        new = data[self._to_skip :]
        self._to_skip = max(0, self._to_skip - len(data))
        if self._is_free and not self._keeps_matcher and self._to_skip == 0:
            self._matcher = None
        events = () if self._events is None else tuple(self._events.feed(new))
        step = Step(token, new, self._decoder.decode(new), log_probability, jumped, events)
        self._tokens.append(token)
        self._unread.append(token)
        self._texts.append(step.text)
        self._jumped += jumped
        return step

    def _heal(self, constraint: Constraint | CompiledConstraint | None) -> Constraint | None:
        """Take back the end of the prompt, and return a constraint that begins with it."""
        if isinstance(constraint, CompiledConstraint):
            raise AlgebraError(
                "heal=True puts the end of the prompt before the constraint, and nothing can be put "
                "before one that is compiled; pass the constraint itself"
            )
        self._healed = text_to_heal(self._prompt, self._vocabulary)
        if not self._healed:
            return constraint
        self._prompt.pop()
        return literal(self._healed) + (regex("(?s:.*)") if constraint is None else constraint)

    def _finish(self, reason: FinishReason, stop_token: int | None = None) -> Step:
        self.generation = Generation(
            "".join(self._texts),
            self._tokens,
            stop_token,
            self._log_probability,
            reason,
            self._prompt,
            self._healed,
            self._jumped,
            self._timing,
            self._asked,
        )
        raise StopIteration


def _check_settings(constraint: Any, tokenization: Any, on_noncanonical: Any, jump: Any, heal: Any) -> None:
    kinds = (Constraint, CompiledConstraint, type(None))
    checked_instance("constraint", constraint, kinds, "a constraint, compiled or not, or None")
    checked_choice("tokenization", tokenization, ("any", "canonical"))
    checked_choice("on_noncanonical", on_noncanonical, ("error", "fresh"))
    checked_flag("jump", jump)
    checked_instance("heal", heal, (bool, type(None)), "True, False or None")


def _vocabulary(model: Any, tokenizer: Any, constraint: Constraint | CompiledConstraint | None) -> Vocabulary:
    if isinstance(constraint, CompiledConstraint):
        vocabulary = constraint.vocabulary
    else:
        vocabulary = vocabulary_of(model, tokenizer)
    if not vocabulary.stop:
        raise NoStopTokenError(
            "the vocabulary names no stop token, so a text could not end; "
            "load it with Vocabulary.load(..., stop=[...])"
        )
    return vocabulary


def _event_reader(constraint: Constraint[Any] | CompiledConstraint[Any] | None) -> EventReader | None:
    """What tells the values that close."""
    if constraint is None:
        return None
    limits = constraint.limits if isinstance(constraint, CompiledConstraint) else Limits()
    asked = constraint.constraint if isinstance(constraint, CompiledConstraint) else constraint
    return EventReader(asked._form, Reading(asked.pattern, limits, None))


def _compiled(
    constraint: Constraint | CompiledConstraint | None, vocabulary: Vocabulary, tokenization: Tokenization
) -> CompiledConstraint | None:
    if constraint is None or isinstance(constraint, CompiledConstraint):
        return constraint
    return constraint.compile(vocabulary, tokenization=tokenization)


def stream(
    model: Any,
    tokenizer: Any,
    prompt: str | Sequence[int],
    constraint: Constraint | CompiledConstraint | None,
    *,
    max_new_tokens: int = 256,
    tokenization: Tokenization = "any",
    on_noncanonical: OnNoncanonical = "error",
    jump: bool = False,
    heal: bool | None = None,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float = 1.0,
    greedy: bool = False,
    seed: int | None = None,
) -> Stream:
    """Write text under a constraint, token by token.

    Args:
        model: a transformers causal language model, or anything that is called alike.
        tokenizer: its tokenizer.
        prompt: a text, encoded by ``tokenizer`` with its special tokens; or token ids, taken as
            they are (such as ``tokenizer.apply_chat_template`` gives).
        constraint: compiled here for this model's vocabulary, or compiled before.  ``None`` lets
            the model write what it likes, for comparison.
        max_new_tokens: the most tokens to write after the prompt, at least 1, a stop token that is drawn
            included.  At each step only such tokens are allowed as let the text be finished within
            what is left, so that it is always accepted in the end.
        tokenization: ``"canonical"`` admits only tokens that are the tokenizer's own for prompt and text
            together; see :meth:`tokamata.Constraint.compile`.  A constraint that is compiled brings
            its own.
        on_noncanonical: what a prompt that is not canonical itself means then: an error, or (``"fresh"``)
            that the text is canonical by itself, whatever the prompt is.
        jump: write what is certain without asking the model, in the tokens that the tokenizer writes;
            see :mod:`tokamata.decoding.jump`.
        heal: take back the last token of the prompt where a longer one begins with its text, and let the
            model write that anew; see :mod:`tokamata.decoding.heal`.  The text returned leaves it out.
            One more token may be written then, for the one that was taken back.  ``None``: only with
            ``tokenization="canonical"``, where the border decides what can follow at all.
        temperature, top_k, top_p, greedy, seed: see :class:`Sampling`.  The mask comes before all
            of them.

    Returns:
        An iterator over :class:`Step`; its ``generation`` holds the whole afterwards.

    Raises:
        BudgetError: no accepted text fits into ``max_new_tokens``, or it is below 1; the model has not
            been asked.
        NoStopTokenError: the vocabulary names no stop token.
        GenerationError: the prompt has no tokens.
        AlgebraError: ``heal`` with a constraint that is compiled.
        ArgumentError: a setting of another type, or out of its range.
        ContextError: the prompt is not canonical.
        UnspellableError, EmptyConstraintError, NoncanonicalError, UnsupportedTokenizerError, LimitExceeded:
            from compiling.
    """
    sampling = Sampling(temperature, top_k, top_p, greedy, seed)
    return Stream(
        model,
        tokenizer,
        prompt,
        constraint,
        max_new_tokens,
        sampling,
        tokenization,
        on_noncanonical,
        jump,
        heal,
    )


def generate(
    model: Any,
    tokenizer: Any,
    prompt: str | Sequence[int],
    constraint: Constraint | CompiledConstraint | None,
    *,
    on_text: Callable[[str], object] | None = None,
    **settings: Unpack[Settings],
) -> Generation:
    """Write text under a constraint, and return it whole.

    Args:
        on_text: called with each piece of the text as it becomes certain: whole code points,
            never ``""``.

    The other arguments, and what is raised, are those of :func:`stream`: ``max_new_tokens``,
    ``tokenization``, ``on_noncanonical``, ``jump``, ``heal``, ``temperature``, ``top_k``, ``top_p``,
    ``greedy``, ``seed``.
    """
    if on_text is not None and not callable(on_text):
        raise ArgumentError("on_text", shown_argument(on_text), "a function, or None")
    steps = stream(model, tokenizer, prompt, constraint, **settings)
    for step in steps:
        if on_text is not None and step.text:
            on_text(step.text)
    assert steps.generation is not None  # set when the iteration ends
    return steps.generation
