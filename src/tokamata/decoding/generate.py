"""Writes texts with a transformers model, each under a constraint.

At each step, the model computes logits, the constraint's mask is applied to them, a token is drawn, and the
matcher advances.  A text ends when nothing can follow, without another call of the model, or when a stop
token is drawn, which the mask allows only in accepting states.

    for step in tk.stream(model, tokenizer, "A date: ", tk.regex(r"\\d{4}-\\d{2}-\\d{2}")):
        print(step.text, end="", flush=True)

No text is cut off: every mask is computed for the remaining budget, and allows only tokens after which the
text can still be finished.  The budget needs no room for a stop token, since an accepted text that has used
it up is complete without one.
"""

# transformers has no usable types for models and tokenizers, hence `Any` for the two.

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias, TypedDict, TypeVar, overload

from tokamata.calls.arguments import checked_whole
from tokamata.calls.keywords import checked_call, takes_settings_of
from tokamata.constraints.given import Given, Untyped
from tokamata.decoding.bias import Bias
from tokamata.decoding.chats import Chat
from tokamata.decoding.drafters import drafter_of
from tokamata.decoding.loop import write
from tokamata.decoding.model import CachedModel
from tokamata.decoding.prompts import Prompt, check_single, several_prompts
from tokamata.decoding.results import Abstention, Generation, Refusal, Timing
from tokamata.decoding.retries import check_can_be_retried, prompt_after
from tokamata.decoding.row import Row, Task
from tokamata.decoding.sampling import Sampler, Sampling
from tokamata.decoding.start import Options, chat_encoder, constraint_list, tasks_of
from tokamata.decoding.streams import Stream
from tokamata.display.progress import late_bar
from tokamata.errors import ArgumentError, about, shown_argument
from tokamata.matching.compositions import Tokenization
from tokamata.matching.matchers import OnNoncanonical

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from tokamata.decoding.deadlines import Pace
    from tokamata.decoding.policy import Policy
    from tokamata.validators.validator import Validator

    _AnyValue: TypeAlias = Untyped | Sequence[Given[Any] | Untyped | None] | None

__all__ = ["Settings", "generate", "stream"]

_T = TypeVar("_T")
_MOST_RETRIES = 100
_SEEDS = 1 << 64  # a seed has 64 bits


class Settings(TypedDict, total=False):
    """The settings of :func:`stream`, which explains them, for functions that pass them on."""

    max_new_tokens: int
    min_new_tokens: int
    tokenization: Tokenization
    on_noncanonical: OnNoncanonical
    jump: bool
    heal: bool | None
    temperature: float
    top_k: int | None
    top_p: float
    greedy: bool
    seed: int | None
    draft: Any
    draft_tokens: int
    placeholders: Sequence[str]
    tools: Any
    logit_bias: Mapping[int, float] | None
    banned_tokens: Sequence[int]
    stop: str | Sequence[str]
    validators: Sequence[Validator | Callable[[Any], object]]
    deadline_seconds: float | None
    step_seconds: float | None
    probabilities: bool


@overload
def stream(
    model: Any,
    tokenizer: Any,
    prompt: Prompt,
    constraint: Given[_T],
    *,
    policy: Policy | None = None,
    **settings: Unpack[Settings],
) -> Stream[_T]: ...
@overload
def stream(
    model: Any,
    tokenizer: Any,
    prompt: Prompt,
    constraint: Untyped | None,
    *,
    policy: Policy | None = None,
    **settings: Unpack[Settings],
) -> Stream[Any]: ...
@checked_call
def stream(
    model: Any,
    tokenizer: Any,
    prompt: Prompt,
    constraint: Given[Any] | Untyped | None,
    *,
    max_new_tokens: int = 256,
    min_new_tokens: int = 0,
    tokenization: Tokenization = "any",
    on_noncanonical: OnNoncanonical = "error",
    jump: bool = False,
    heal: bool | None = None,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float = 1.0,
    greedy: bool = False,
    seed: int | None = None,
    draft: Any = None,
    draft_tokens: int = 8,
    placeholders: Sequence[str] = (),
    tools: Any = None,
    logit_bias: Mapping[int, float] | None = None,
    banned_tokens: Sequence[int] = (),
    stop: str | Sequence[str] = (),
    validators: Sequence[Validator | Callable[[Any], object]] = (),
    policy: Policy | None = None,
    deadline_seconds: float | None = None,
    step_seconds: float | None = None,
    probabilities: bool = False,
) -> Stream[Any]:
    """Write text under a constraint, token by token.

    Args:
        model: a transformers causal language model, or an object with the same interface.
        tokenizer: its tokenizer.
        prompt: a text (``str``), which ``tokenizer`` encodes with its special tokens; or a list of token ids,
            unchanged; or a chat, a list of messages ``{"role": …, "content": …}``, which the tokenizer's chat
            template renders up to the beginning of the model's answer.  Only the template writes control
            tokens: what looks like one in a message is ordinary text.
        constraint: a constraint, which is compiled for this model's vocabulary, or a compiled one.  A class
            or another type, such as ``Literal["a", "b"]`` or ``int | None``, means :func:`tokamata.type` of
            it; a dict means :func:`tokamata.json_schema` of it.  ``None`` leaves the text free, for
            comparison.
        max_new_tokens: the largest number of tokens after the prompt, at least 1, including a stop token.
            Each step allows only tokens after which the text can be finished within the rest, so the
            text is always accepted in the end.
        min_new_tokens: the least number of tokens before the text may end, as for
            :meth:`tokamata.CompiledConstraint.matcher`; not with ``tokenization="canonical"``.  A text
            without a constraint then has no control tokens.
        tokenization: ``"canonical"`` admits only tokens that the tokenizer produces for prompt and text
            together; see :meth:`tokamata.Constraint.compile`.  A compiled constraint keeps its own setting.
        on_noncanonical: the treatment of a prompt that is not canonical itself: ``"error"`` raises
            ContextError, ``"fresh"`` ignores the prompt, so the text is canonical by itself.
        jump: write forced text without calling the model, in the tokens that the tokenizer writes;
            see :mod:`tokamata.decoding.jump`.
        heal: take back the last token of the prompt if a longer one begins with its text, and let the
            model write that text again; see :mod:`tokamata.decoding.heal`.  The returned text omits it, and
            the budget grows by the one token.  ``None``: only with ``tokenization="canonical"``, where the
            border determines what can follow.
        temperature, top_k, top_p, greedy, seed: see :class:`Sampling`.  The mask is applied before all
            of them.
        draft: what proposes tokens, of which the model reads several in one call; see
            :mod:`tokamata.decoding.drafts`.  ``"constraint"``: forced text; ``"prompt"``: what followed the
            last tokens where they stood before; a smaller model with the same tokens; or any model and its
            tokenizer, as a pair, which draft text.  No draft changes the distribution of texts.  Except with
            a smaller model with the same tokens, the text itself is the one without a draft.
        draft_tokens: the largest number of tokens that are proposed for a call, at least 1.
        placeholders: control tokens that the messages of a chat may write, such as ``["<image>"]``.
        tools: the tools of a chat, which its template describes to the model, as for
            :func:`tokamata.tool_calls`; what the model may write is still the constraint's matter.
        logit_bias: what is added to the logits of tokens, before the mask; minus infinity bans a token.
            ``log_probability`` is that with the bias.
        banned_tokens: tokens that no text may have.  Masks count with them, so no text gets stuck where only
            they would follow.  With ``tokenization="canonical"`` it may: the tokenizer writes them there.
        stop: texts before which a text ends, if the constraint accepts what stands before them; elsewhere, as
            within a string of JSON, they are ordinary text.  They are not part of the text.
        validators: judges of the finished text; see :mod:`tokamata.validators`.
        policy: what to do where the text cannot go on, or a validator refuses it; ``None`` raises an error.
        deadline_seconds: the time for the whole call.  As it runs out, masks get the budget of tokens that
            fits into the rest, at the speed of this call; what is missing at the end is written without the
            model.  So a text is whole, and late by one call of the model at most.
        step_seconds: the time for one step, that is one call of the model and its masks; the first call,
            which reads the prompt, may take longer.  A longer step ends the texts as the deadline does.
        probabilities: keep the probabilities of the choices, for
            :meth:`tokamata.Generation.parse_with_probabilities`; some 3 KB for each token.  Steps then say
            what the model wanted (:attr:`Step.legal_mass`, :attr:`Step.wanted`).

    Returns:
        An iterator over :class:`Step`; its ``generation`` has the whole result afterwards.

    Raises:
        BudgetError: no accepted text fits into ``max_new_tokens``, or it is below 1; the model was not
            called.
        LengthError: no text with ``min_new_tokens`` tokens was found.
        NoStopTokenError: the vocabulary names no stop token.
        TokenIdError: an id in ``logit_bias`` or ``banned_tokens`` is outside the vocabulary.
        GenerationError: the prompt has no tokens; or it is a chat, and the tokenizer has no chat template or
            its template refuses the messages.
        AlgebraError: ``heal`` with a compiled constraint.
        ArgumentError: a setting has another type or is out of range; or there are several prompts, which only
            :func:`generate` supports; or a message of a chat has no role, or no content, or spells a
            control token, which this template or tokenizer cannot keep as ordinary text; or the model or the
            tokenizer is none of transformers.
        ContextError: the prompt is not canonical.
        TokenizerMismatchError: canonical tokens were requested, and the tokenizer fails its self-test.
        MissingExtraError: torch is not installed.
        UnspellableError, EmptyConstraintError, NoncanonicalError, UnsupportedTokenizerError, LimitExceeded:
            from compiling.
    """
    sampling = Sampling(temperature, top_k, top_p, greedy, seed)
    options = Options(
        max_new_tokens=max_new_tokens,
        min_new_tokens=min_new_tokens,
        tokenization=tokenization,
        on_noncanonical=on_noncanonical,
        jump=jump,
        heal=heal,
        draft=draft,
        draft_tokens=draft_tokens,
        placeholders=placeholders,
        tools=tools,
        logit_bias=logit_bias,
        banned_tokens=banned_tokens,
        stop=stop,
        validators=validators,
        policy=policy,
        deadline_seconds=deadline_seconds,
        step_seconds=step_seconds,
        probabilities=probabilities,
    )
    pace = options.pace()
    check_single(prompt, "call tokamata.generate for several")
    timing = Timing()
    tasks = tasks_of(model, tokenizer, [prompt], constraint_list(constraint, None), options, timing)
    cached = CachedModel(model)
    [row] = _rows(tasks, [_sampler(sampling, 0, cached)], tokenizer, timing, options, pace)
    bias = options.bias(row.vocabulary)
    return Stream(row, write(cached, [row], timing, pace, bias, options.drafted_tokens), constraint)


# To a type checker a text is also a sequence of texts: the overloads of a single prompt come first.
# With a policy a call may abstain.  What has no type of values is written alike for one prompt and several:
# mypy has no result where a ``dict[str, Any]`` decides between two overloads.
@overload
def generate(
    model: Any,
    tokenizer: Any,
    prompt: Prompt,
    constraint: Given[_T],
    *,
    on_text: Callable[[str], object] | None = None,
    policy: None = None,
    retries: int = 0,
    **settings: Unpack[Settings],
) -> Generation[_T]: ...
@overload
def generate(
    model: Any,
    tokenizer: Any,
    prompt: Prompt,
    constraint: Given[_T],
    *,
    on_text: Callable[[str], object] | None = None,
    policy: Policy | None,
    retries: int = 0,
    **settings: Unpack[Settings],
) -> Generation[_T] | Abstention: ...
@overload
def generate(
    model: Any,
    tokenizer: Any,
    prompt: Prompt,
    constraint: _AnyValue,
    *,
    on_text: Callable[[str], object] | None = None,
    policy: None = None,
    retries: int = 0,
    **settings: Unpack[Settings],
) -> Generation[Any]: ...
@overload
def generate(
    model: Any,
    tokenizer: Any,
    prompt: Prompt,
    constraint: _AnyValue,
    *,
    on_text: Callable[[str], object] | None = None,
    policy: Policy | None,
    retries: int = 0,
    **settings: Unpack[Settings],
) -> Generation[Any] | Abstention: ...
@overload
def generate(
    model: Any,
    tokenizer: Any,
    prompt: Sequence[str] | Sequence[Sequence[int]] | Sequence[Chat] | Sequence[Prompt],
    constraint: Given[_T] | Sequence[Given[_T]],
    *,
    policy: None = None,
    retries: int = 0,
    **settings: Unpack[Settings],
) -> list[Generation[_T]]: ...
@overload
def generate(
    model: Any,
    tokenizer: Any,
    prompt: Sequence[str] | Sequence[Sequence[int]] | Sequence[Chat] | Sequence[Prompt],
    constraint: Given[_T] | Sequence[Given[_T]],
    *,
    policy: Policy | None,
    retries: int = 0,
    **settings: Unpack[Settings],
) -> list[Generation[_T] | Abstention]: ...
@overload
def generate(
    model: Any,
    tokenizer: Any,
    prompt: Sequence[str] | Sequence[Sequence[int]] | Sequence[Chat] | Sequence[Prompt],
    constraint: _AnyValue,
    *,
    policy: None = None,
    retries: int = 0,
    **settings: Unpack[Settings],
) -> list[Generation[Any]]: ...
@overload
def generate(
    model: Any,
    tokenizer: Any,
    prompt: Sequence[str] | Sequence[Sequence[int]] | Sequence[Chat] | Sequence[Prompt],
    constraint: _AnyValue,
    *,
    policy: Policy | None,
    retries: int = 0,
    **settings: Unpack[Settings],
) -> list[Generation[Any] | Abstention]: ...
@checked_call
@takes_settings_of(stream)
def generate(
    model: Any,
    tokenizer: Any,
    prompt: Prompt | Sequence[Prompt],
    constraint: Given[Any] | Untyped | Sequence[Given[Any] | Untyped | None] | None,
    *,
    on_text: Callable[[str], object] | None = None,
    policy: Policy | None = None,
    retries: int = 0,
    **settings: Unpack[Settings],
) -> Generation[Any] | Abstention | list[Any]:
    """Write texts under constraints, and return the whole texts.

        klee = tk.generate(model, tokenizer, prompt, Painter).parse()      # an instance of the class Painter

    The arguments that are not listed here are those of :func:`stream`, which explains them.

    Args:
        model: a transformers causal language model, or an object with the same interface.
        tokenizer: its tokenizer.
        prompt: a single prompt, as in :func:`stream`: a text, a list of token ids, or a list of chat
            messages.  Or several prompts: a list of any of these.  The model reads them together.
        constraint: as in :func:`stream`.  With several prompts: one for all of them, or a list with one for
            each, where ``None`` leaves a text free.
        on_text: called with each piece of the text as it is written: whole code points, never ``""``.
            Only for a single prompt, without ``retries``.
        policy: as in :func:`stream`.  With a policy, a result may be an :class:`Abstention`.
        retries: how often a text that is refused is written again, with the refused text and the reason in
            the prompt, as :mod:`tokamata.decoding.retries` says; 100 at most.  A text is refused by one of
            ``validators``, or where its value cannot be made, such as by a validator of pydantic.  Only what
            is refused after the last try is the policy's matter, such as a repair.  All tries share
            ``deadline_seconds``: there is none after it.

    Returns:
        The generation; a list for several prompts, in their order.  Each text is the same as in a call with
        its prompt alone: ``max_new_tokens``, ``jump`` and ``heal`` apply to each text, and with a ``seed``
        text ``i`` is drawn with ``seed + i``, so equal prompts get different texts.  Only rounding differs:
        a model may compute slightly different logits for several texts at once.

    Raises:
        TokamataError: those of :func:`stream`.
        ArgumentError: also, the numbers of constraints and prompts differ, constraints have several
            vocabularies, or ``on_text`` is used with several prompts or ``retries``; or a prompt of token ids
            with ``retries``.
        GenerationError: also, the prompts have different lengths and the model accepts no
            ``attention_mask``.
    """
    if on_text is not None and not callable(on_text):
        raise ArgumentError("on_text", shown_argument(on_text), "a function, or None")
    retries = checked_whole("retries", retries, 0, _MOST_RETRIES + 1)
    prompts = several_prompts(prompt)
    if prompts is None and not retries:
        single: Any = prompt
        means: Any = constraint
        steps: Stream[Any] = stream(model, tokenizer, single, means, policy=policy, **settings)
        for step in steps:
            if on_text is not None and step.text:
                on_text(step.text)
        result = steps.generation or steps.abstention
        assert result is not None  # set when the iteration ends
        return result
    if on_text is not None:
        why = "several prompts" if prompts is not None else "retries: it would have shown a refused text"
        raise ArgumentError("on_text", shown_argument(on_text), f"None for {why}")
    sampling, options = _sampling_and_options({**settings, "policy": policy, "retries": retries})
    constraints = constraint_list(constraint, None if prompts is None else len(prompts))
    results = _results(
        model, tokenizer, [prompt] if prompts is None else prompts, constraints, sampling, options
    )
    return results[0] if prompts is None else results


def _results(
    model: Any,
    tokenizer: Any,
    prompts: list[Any],
    constraints: list[Any],
    sampling: Sampling,
    options: Options,
) -> list[Generation[Any] | Abstention]:
    """The result of each prompt; those that are refused are written again, without the others."""
    timing, pace = Timing(), options.pace()
    if options.retries:
        for index, each in enumerate(prompts):
            with about(f"prompt {index}" if len(prompts) > 1 else ""):
                check_can_be_retried(each)
        chats = chat_encoder(tokenizer, options)  # of the prompts with refusals
    results: dict[int, Generation[Any] | Abstention] = {}
    refusals: dict[int, tuple[Refusal, ...]] = {}
    going, current = list(range(len(prompts))), list(prompts)
    # Each text draws on where its last try has ended: the same seed might draw the same text again.
    samplers: list[Sampler] = []
    for left in range(options.retries, -1, -1):
        given = [current[index] for index in going], [constraints[index] for index in going]
        tasks = tasks_of(model, tokenizer, *given, options, timing)
        tasks = [replace(task, events=None) for task in tasks]  # the steps are not returned
        cached = CachedModel(model)
        samplers = samplers or [_sampler(sampling, index, cached) for index in going]
        rows = _rows(tasks, [samplers[index] for index in going], tokenizer, timing, options, pace)
        bias = options.bias(rows[0].vocabulary) if rows else Bias({})
        with late_bar("generating", len(rows), partial(_ended, rows)):
            for _ in write(cached, rows, timing, pace, bias, options.drafted_tokens):
                pass
        pace.begin_try()
        again = []
        for index, row in zip(going, rows, strict=True):
            if isinstance(row.result, Refusal):
                refusals[index] = (*refusals.get(index, ()), row.result)
                if left > 0 and not pace.is_over:
                    told = prompt_after(prompts[index], current[index], row.result, tokenizer, chats)
                    if told is not None:
                        again.append(index)
                        current[index] = told
                        continue
                with about(f"prompt {index}" if len(prompts) > 1 else ""):
                    row.settle(refusals[index])
            assert row.result is not None
            assert not isinstance(row.result, Refusal)
            known = row.result.refusals or refusals.get(index, ())
            results[index] = replace(row.result, refusals=known) if known else row.result
        going = again
        if not going:
            break
    return [results[index] for index in range(len(prompts))]


def _ended(rows: list[Row[Any]]) -> int:
    """How many texts have ended."""
    return sum(row.result is not None for row in rows)


def _sampling_and_options(settings: Mapping[str, Any]) -> tuple[Sampling, Options]:
    drawing = {one.name for one in fields(Sampling)}
    sampling = Sampling(**{name: value for name, value in settings.items() if name in drawing})
    return sampling, Options(**{name: value for name, value in settings.items() if name not in drawing})


def _rows(
    tasks: list[Task[Any]],
    samplers: list[Sampler],
    tokenizer: Any,
    timing: Timing,
    options: Options,
    pace: Pace,
) -> list[Row[Any]]:
    """The rows of a call; each has its own sampler, and its own drafter."""
    rows = []
    for task, sampler in zip(tasks, samplers, strict=True):
        drafter = drafter_of(options.draft, tokenizer, sampler, task.vocabulary, task.matcher)
        rows.append(Row(task, tokenizer, sampler, timing, pace, drafter))
    return rows


def _sampler(sampling: Sampling, index: int, model: CachedModel) -> Sampler:
    """The sampler of the ``index``-th text of a call, with a random generator of its own."""
    seed = None if sampling.seed is None else sampling.seed + index
    if seed is not None and seed >= _SEEDS:
        seed -= _SEEDS
    return Sampler(replace(sampling, seed=seed), model.device)
