"""Writes texts with a transformers model, each under a constraint.

At each step: the model's logits for the next token, the constraint's mask over them, a draw, and the
constraint moves on.  A text ends where the constraint says that nothing can follow, without asking the model
again, or where a stop token is drawn, which the mask admits in accepting states alone.

    for step in tk.stream(model, tokenizer, "A date: ", tk.regex(r"\\d{4}-\\d{2}-\\d{2}")):
        print(step.text, end="", flush=True)

No text is cut off: every mask is computed for the number of tokens that are left, and so admits only what can
still be finished.  The stop token does not need room in the budget, since an accepted text that has used it
up is complete without one.
"""

# transformers has no usable types for models and tokenizers, hence `Any` for the two.

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Generic, TypedDict, TypeVar, overload

from tokamata.constraint import Constraint
from tokamata.decoding.loop import write
from tokamata.decoding.model import CachedModel
from tokamata.decoding.prompts import Chat, Prompt, several_prompts
from tokamata.decoding.results import Generation, Step, Timing
from tokamata.decoding.row import Row, Task
from tokamata.decoding.sampling import Sampler, Sampling
from tokamata.decoding.start import Options, constraint_list, tasks_of
from tokamata.errors import ArgumentError, shown_argument
from tokamata.matching import CompiledConstraint, OnNoncanonical, Tokenization

if TYPE_CHECKING:
    from typing_extensions import Unpack


__all__ = ["Settings", "Stream", "generate", "stream"]

_T = TypeVar("_T")
_SEEDS = 1 << 64


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


class Stream(Iterator[Step], Generic[_T]):
    """Iterates over the tokens of a text while it is written; made by :func:`stream`.

    After an error the iteration has ended.
    """

    def __init__(self, model: CachedModel, row: Row[_T], timing: Timing, constraint: object) -> None:
        self._row = row
        self._steps = write(model, [row], timing)
        self._is_constrained = constraint is not None

    @property
    def generation(self) -> Generation[_T] | None:
        """What was written, once the iteration has ended; ``None`` before."""
        return self._row.generation

    @property
    def tokens_left(self) -> int:
        """How many more tokens may be drawn."""
        return self._row.tokens_left

    @property
    def tokens_needed(self) -> int:
        """The least number of tokens that lead to an accepted text; 0 without a constraint.

        Raises:
            LimitExceeded: the constraint passed its limits.
        """
        return 0 if self._row.matcher is None else len(self._row.matcher.shortest_completion())

    @property
    def is_constrained(self) -> bool:
        """Whether there is a constraint."""
        return self._is_constrained

    def __next__(self) -> Step:
        """Write one more token.

        Raises:
            GenerationError: the model's logits leave no allowed token.
            MaskError: the model's logits are narrower than the vocabulary.
            LimitExceeded: the constraint passed its limits.
        """
        return next(self._steps)[1]


def stream(
    model: Any,
    tokenizer: Any,
    prompt: Prompt,
    constraint: Constraint[_T] | CompiledConstraint[_T] | None,
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
) -> Stream[_T]:
    """Write text under a constraint, token by token.

    Args:
        model: a transformers causal language model, or anything that is called alike.
        tokenizer: its tokenizer.
        prompt: a text (``str``), which ``tokenizer`` encodes with its special tokens; or a list of token ids,
            taken as they are; or a chat, a list of messages ``{"role": …, "content": …}``, which becomes text
            by the tokenizer's chat template, up to where the model's answer begins.
        constraint: compiled here for this model's vocabulary, or compiled before.  ``None`` lets
            the model write what it likes, for comparison.
        max_new_tokens: the most tokens to write after the prompt, at least 1, a stop token that is drawn
            included.  Each step allows only tokens after which the text can be finished within
            what is left, so that it is always accepted in the end.
        tokenization: ``"canonical"`` admits only tokens that are the tokenizer's own for prompt and text
            together; see :meth:`tokamata.Constraint.compile`.  A constraint that is compiled brings
            its own.
        on_noncanonical: what a prompt that is not canonical itself means then: an error, or (``"fresh"``)
            that the text is canonical by itself, whatever the prompt is.
        jump: write what is certain without asking the model, in the tokens that the tokenizer writes;
            see :mod:`tokamata.decoding.jump`.
        heal: take back the last token of the prompt where a longer one begins with its text, and let the
            model write that again; see :mod:`tokamata.decoding.heal`.  The text returned leaves it out.
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
        GenerationError: the prompt has no tokens; it is a chat, and the tokenizer has no chat template, or
            one that refuses it.
        AlgebraError: ``heal`` with a constraint that is compiled.
        ArgumentError: a setting of another type, or out of its range; several prompts, which only
            :func:`generate` takes.
        ContextError: the prompt is not canonical.
        UnspellableError, EmptyConstraintError, NoncanonicalError, UnsupportedTokenizerError, LimitExceeded:
            from compiling.
    """
    sampling = Sampling(temperature, top_k, top_p, greedy, seed)
    options = Options(max_new_tokens, tokenization, on_noncanonical, jump, heal)
    if several_prompts(prompt) is not None:
        hint = "call tokamata.generate for several"
        raise ArgumentError("prompt", "a list of prompts", "a single prompt", hint)
    timing = Timing()
    tasks = tasks_of(model, tokenizer, [prompt], constraint_list(constraint, None), options, timing)
    cached = CachedModel(model)
    [row] = _rows(tasks, tokenizer, sampling, cached, timing)
    return Stream(cached, row, timing, constraint)


# To a type checker a text is also a sequence of texts: the overloads of a single prompt come first.
@overload
def generate(
    model: Any,
    tokenizer: Any,
    prompt: Prompt,
    constraint: Constraint[_T] | CompiledConstraint[_T],
    *,
    on_text: Callable[[str], object] | None = None,
    **settings: Unpack[Settings],
) -> Generation[_T]: ...
@overload
def generate(
    model: Any,
    tokenizer: Any,
    prompt: Prompt,
    constraint: None,
    *,
    on_text: Callable[[str], object] | None = None,
    **settings: Unpack[Settings],
) -> Generation[Any]: ...
@overload
def generate(
    model: Any,
    tokenizer: Any,
    prompt: Sequence[str] | Sequence[Sequence[int]] | Sequence[Chat] | Sequence[Prompt],
    constraint: Constraint[_T] | CompiledConstraint[_T] | Sequence[Constraint[_T] | CompiledConstraint[_T]],
    **settings: Unpack[Settings],
) -> list[Generation[_T]]: ...
@overload
def generate(
    model: Any,
    tokenizer: Any,
    prompt: Sequence[str] | Sequence[Sequence[int]] | Sequence[Chat] | Sequence[Prompt],
    constraint: Sequence[Constraint[Any] | CompiledConstraint[Any] | None] | None,
    **settings: Unpack[Settings],
) -> list[Generation[Any]]: ...
def generate(
    model: Any,
    tokenizer: Any,
    prompt: Any,
    constraint: Any,
    *,
    on_text: Callable[[str], object] | None = None,
    **settings: Unpack[Settings],
) -> Generation[Any] | list[Generation[Any]]:
    """Write texts under constraints, and return them whole.

    Args:
        prompt: a single prompt, as in :func:`stream`: a text, a list of token ids, or a list of chat
            messages.  Or several prompts: a list of any of these.  The model reads them together.
        constraint: as in :func:`stream`.  With several prompts: one for all of them, or a list with one for
            each, where ``None`` leaves a text free.
        on_text: called with each piece of the text as it becomes certain: whole code points,
            never ``""``.  For a single prompt.

    The other arguments, and what is raised, are those of :func:`stream`: ``max_new_tokens``,
    ``tokenization``, ``on_noncanonical``, ``jump``, ``heal``, ``temperature``, ``top_k``, ``top_p``,
    ``greedy``, ``seed``.

    Returns:
        What was written; a list for several prompts, in their order.  Each text is what a call with its
        prompt alone would write: ``max_new_tokens``, ``jump`` and ``heal`` hold for each by itself, and with
        a ``seed`` text ``i`` is drawn with ``seed + i``, so that equal prompts get different texts.  Only
        rounding differs: a model may compute slightly different logits for several texts at once.

    Raises:
        ArgumentError: also, not as many constraints as prompts, constraints of several vocabularies, or
            ``on_text`` with several prompts.
        GenerationError: also, prompts of different lengths and a model that takes no ``attention_mask``.
    """
    if on_text is not None and not callable(on_text):
        raise ArgumentError("on_text", shown_argument(on_text), "a function, or None")
    prompts = several_prompts(prompt)
    if prompts is None:
        steps: Stream[Any] = stream(model, tokenizer, prompt, constraint, **settings)
        for step in steps:
            if on_text is not None and step.text:
                on_text(step.text)
        assert steps.generation is not None  # set when the iteration ends
        return steps.generation
    if on_text is not None:
        raise ArgumentError("on_text", shown_argument(on_text), "None for several prompts")
    return _generate_several(model, tokenizer, prompts, constraint, **settings)


def _generate_several(
    model: Any,
    tokenizer: Any,
    prompts: list[Any],
    constraint: Any,
    *,
    max_new_tokens: int = 256,
    tokenization: Tokenization = "any",
    on_noncanonical: OnNoncanonical = "error",
    jump: bool = False,
    heal: bool | None = None,
    **drawing: Any,
) -> list[Generation[Any]]:
    sampling = Sampling(**drawing)
    options = Options(max_new_tokens, tokenization, on_noncanonical, jump, heal)
    timing = Timing()
    constraints = constraint_list(constraint, len(prompts))
    tasks = tasks_of(model, tokenizer, prompts, constraints, options, timing)
    tasks = [replace(task, events=None) for task in tasks]  # nobody sees the steps
    cached = CachedModel(model)
    rows = _rows(tasks, tokenizer, sampling, cached, timing)
    for _ in write(cached, rows, timing):
        pass
    return [row.generation for row in rows if row.generation is not None]  # all of them


def _rows(
    tasks: list[Task[Any]], tokenizer: Any, sampling: Sampling, model: CachedModel, timing: Timing
) -> list[Row[Any]]:
    """The rows of a call; each draws from a random generator of its own."""
    rows = []
    for index, task in enumerate(tasks):
        seed = None if sampling.seed is None else sampling.seed + index
        if seed is not None and seed >= _SEEDS:
            seed -= _SEEDS
        sampler = Sampler(replace(sampling, seed=seed), model.device)
        rows.append(Row(task, tokenizer, sampler, timing))
    return rows
