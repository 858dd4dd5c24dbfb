"""A plain loop that writes text with a transformers model under a constraint.

At each step: the model's logits for the next token, the constraint's mask over them, a draw, and
the constraint moves on.  The text ends where the constraint says that nothing can follow, without
asking the model again, or where a stop token is drawn, which the mask admits in accepting states
alone.

    for step in tk.stream(model, tokenizer, "A date: ", tk.regex(r"\\d{4}-\\d{2}-\\d{2}")):
        print(step.text, end="", flush=True)
"""

# transformers has no usable types for models and tokenizers, hence `Any` for the two.

from __future__ import annotations

import codecs
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from tokamata.compiled import CompiledConstraint
from tokamata.decoding.hosts import vocabulary_of
from tokamata.decoding.model import CachedModel, prompt_tokens
from tokamata.decoding.sampling import Sampler, Sampling
from tokamata.errors import GenerationError, NoStopTokenError
from tokamata.masks import apply_mask

if TYPE_CHECKING:
    from tokamata.constraint import Constraint
    from tokamata.matcher import Matcher

__all__ = ["Generation", "Step", "Stream", "Timing", "generate", "stream"]

FinishReason = Literal["complete", "stop", "length"]


@dataclass
class Timing:
    """Where the time went, in seconds.

    Attributes:
        compile_seconds: loading the vocabulary and compiling, where the call did these.
        prompt_seconds: the model reading the prompt, up to the first logits.
        model_seconds: the model's other steps.
        sampling_seconds: drawing tokens.
        constraint_seconds: masks, laying them over the logits, and moving on.
    """

    compile_seconds: float = 0.0
    prompt_seconds: float = 0.0
    model_seconds: float = 0.0
    sampling_seconds: float = 0.0
    constraint_seconds: float = 0.0


@dataclass(frozen=True)
class Step:
    """One token, as it is written.

    Attributes:
        token: its id.
        data: its bytes, which may begin or end inside a code point.
        text: what became certain with it: whole code points only, so perhaps ``""``.
        log_probability: as in :class:`Generation`, of this token alone.
    """

    token: int
    data: bytes
    text: str
    log_probability: float


@dataclass(frozen=True)
class Generation:
    """What was written.

    Attributes:
        text: the text, without prompt and stop token.  Where ``finish_reason`` is ``"length"``, a
            code point of which only a part was written is left out.
        tokens: the ids of the text, without the stop token.
        stop_token: the stop token that was drawn, or ``None``.
        log_probability: natural logarithm of the probability of ``tokens``, and of
            ``stop_token`` where there is one, given the prompt, under the model constrained step
            by step: at each step the softmax over the allowed tokens, at temperature 1, before
            top-k and top-p.
        finish_reason: ``"complete"`` when the text is accepted and nothing can follow; ``"stop"``
            when the model chose to stop at an accepted text; ``"length"`` when
            ``max_new_tokens`` were drawn before either, so that the text is cut off.
        prompt_tokens: the ids that the model was given.
        timing: where the time went.
    """

    text: str
    tokens: list[int]
    stop_token: int | None
    log_probability: float
    finish_reason: FinishReason
    prompt_tokens: list[int]
    timing: Timing = field(repr=False)


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
    ) -> None:
        if max_new_tokens < 1:
            raise ValueError(f"max_new_tokens must be at least 1, not {max_new_tokens!r}")
        self.generation: Generation | None = None
        self._timing = Timing()
        with _Clock(self._timing, "compile_seconds"):
            if isinstance(constraint, CompiledConstraint):
                self._vocabulary = constraint.vocabulary
                self._matcher: Matcher | None = constraint.matcher()
            else:
                self._vocabulary = vocabulary_of(model, tokenizer)
                compiled = None if constraint is None else constraint.compile(self._vocabulary)
                self._matcher = None if compiled is None else compiled.matcher()
        if not self._vocabulary.stop:
            raise NoStopTokenError(
                "the vocabulary names no stop token, so a text could not end; "
                "load it with Vocabulary.load(..., stop=[...])"
            )
        self._prompt = prompt_tokens(tokenizer, prompt)
        self._model = CachedModel(model)
        self._sampler = Sampler(sampling, self._model.device)
        self._max_new_tokens = max_new_tokens
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        self._tokens: list[int] = []
        self._texts: list[str] = []
        self._log_probability = 0.0

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
        if len(self._tokens) >= self._max_new_tokens:
            return self._finish("length")
        token, log_probability = self._next_token()
        self._log_probability += log_probability
        if token in self._vocabulary.stop:
            return self._finish("stop", token)
        data = self._vocabulary[token] or b""
        step = Step(token, data, self._decoder.decode(data), log_probability)
        self._tokens.append(token)
        self._texts.append(step.text)
        return step

    def _next_token(self) -> tuple[int, float]:
        """Draw a token, and let the constraint move over it."""
        first = not self._tokens
        with _Clock(self._timing, "prompt_seconds" if first else "model_seconds"):
            logits = self._model.next_logits(self._prompt if first else self._tokens[-1:])
        with _Clock(self._timing, "constraint_seconds"):
            if self._matcher is not None:
                apply_mask(logits, self._matcher.mask)
        with _Clock(self._timing, "sampling_seconds"):
            token, log_probability = self._sampler.choose(logits)
        with _Clock(self._timing, "constraint_seconds"):
            if self._matcher is not None and not self._matcher.advance(token):
                raise GenerationError(f"token {token} was drawn though the mask does not allow it")
        return token, log_probability

    def _finish(self, reason: FinishReason, stop_token: int | None = None) -> Step:
        self.generation = Generation(
            "".join(self._texts),
            self._tokens,
            stop_token,
            self._log_probability,
            reason,
            self._prompt,
            self._timing,
        )
        raise StopIteration


class _Clock:
    """Adds the time spent in its block to one field of a :class:`Timing`."""

    def __init__(self, timing: Timing, name: str) -> None:
        self._timing, self._name = timing, name

    def __enter__(self) -> None:
        self._start = time.perf_counter()

    def __exit__(self, *_: object) -> None:
        spent = time.perf_counter() - self._start
        setattr(self._timing, self._name, getattr(self._timing, self._name) + spent)


def stream(
    model: Any,
    tokenizer: Any,
    prompt: str | Sequence[int],
    constraint: Constraint | CompiledConstraint | None,
    *,
    max_new_tokens: int = 256,
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
        max_new_tokens: the most tokens to draw, at least 1, a stop token included.
        temperature, top_k, top_p, greedy, seed: see :class:`Sampling`.  The mask comes before all
            of them.

    Returns:
        An iterator over :class:`Step`; its ``generation`` holds the whole afterwards.

    Raises:
        NoStopTokenError: the vocabulary names no stop token.
        GenerationError: the prompt has no tokens.
        ValueError: a setting out of its range.
        UnspellableError, EmptyConstraintError, LimitExceeded: from compiling.
    """
    sampling = Sampling(temperature, top_k, top_p, greedy, seed)
    return Stream(model, tokenizer, prompt, constraint, max_new_tokens, sampling)


def generate(
    model: Any,
    tokenizer: Any,
    prompt: str | Sequence[int],
    constraint: Constraint | CompiledConstraint | None,
    *,
    max_new_tokens: int = 256,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float = 1.0,
    greedy: bool = False,
    seed: int | None = None,
    on_text: Callable[[str], object] | None = None,
) -> Generation:
    """Write text under a constraint, and return it whole.

    Args:
        on_text: called with each piece of the text as it becomes certain: whole code points,
            never ``""``.

    The other arguments, and what is raised, are those of :func:`stream`.
    """
    steps = stream(
        model,
        tokenizer,
        prompt,
        constraint,
        max_new_tokens=max_new_tokens,
        temperature=temperature,
        top_k=top_k,
        top_p=top_p,
        greedy=greedy,
        seed=seed,
    )
    for step in steps:
        if on_text is not None and step.text:
            on_text(step.text)
    assert steps.generation is not None  # set when the iteration ends
    return steps.generation
