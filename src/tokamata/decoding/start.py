"""Turns the arguments of a call into tasks: ids, compiled constraints, matchers, budgets.

All invalid arguments are refused here, before the model runs.
"""

# transformers has no usable types for models and tokenizers, hence `Any` for the two.

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from tokamata.calls.arguments import (
    advice_on_constraint,
    checked_choice,
    checked_flag,
    checked_instance,
    checked_list,
    checked_number,
    checked_text,
    checked_whole,
)
from tokamata.calls.recipes import Call
from tokamata.constraints.constraint import Constraint
from tokamata.constraints.given import constraint_and_limits, constraint_or_compiled
from tokamata.constraints.reasoning import think_first
from tokamata.constraints.text_constraints import literal, regex
from tokamata.constraints.type_constraints import type as type_constraint
from tokamata.decoding.bias import Bias
from tokamata.decoding.chats import ChatEncoder, MixedText
from tokamata.decoding.deadlines import Pace
from tokamata.decoding.drafters import check_draft
from tokamata.decoding.heal import text_to_heal
from tokamata.decoding.hosts import check_host, forget_vocabulary, logits_width, vocabulary_of
from tokamata.decoding.policy import Policy
from tokamata.decoding.prompts import is_chat, prompt_ids
from tokamata.decoding.recovery import Recovery
from tokamata.decoding.results import Clock, Timing
from tokamata.decoding.row import Task
from tokamata.decoding.spelling import Spelling
from tokamata.decoding.tool_descriptions import tool_descriptions
from tokamata.errors import (
    AlgebraError,
    ArgumentError,
    BudgetError,
    ContextError,
    NoStopTokenError,
    TokenizerMismatchError,
    about,
    shown_argument,
)
from tokamata.matching.compositions import Tokenization
from tokamata.matching.masks import allocate_mask
from tokamata.matching.matchers import CompiledConstraint, OnNoncanonical
from tokamata.resources.limits import Limits
from tokamata.validators.validator import checked_validators
from tokamata.values.events import EventReader
from tokamata.values.forms import Reading, is_json
from tokamata.values.growing_thoughts import Growing, GrowingThought
from tokamata.values.growing_values import GrowingValue
from tokamata.vocabulary import Vocabulary
from tokamata.vocabulary.misfits import check_logits

__all__ = ["Options", "chat_encoder", "check_budget", "constraint_list", "tasks_of"]

_EXPECTED = "a constraint, compiled or not, a type, a schema, or None"
_LARGEST_BIAS = 1e30  # logits are float32
_MOST_SECONDS = 1e9
_MOST_STOPS, _LONGEST_STOP = 1000, 1000

_Given: TypeAlias = "Constraint[Any] | CompiledConstraint[Any] | None"


@dataclass(frozen=True)
class Options:
    """The settings of a call except those of sampling; :func:`tokamata.stream` explains them."""

    max_new_tokens: int = 256
    min_new_tokens: int = 0
    tokenization: Tokenization = "any"
    on_noncanonical: OnNoncanonical = "error"
    jump: bool = False
    heal: bool | None = None
    draft: Any = None
    draft_tokens: int = 8
    placeholders: Sequence[str] = ()
    tools: Any = None
    logit_bias: Mapping[int, float] | None = None
    banned_tokens: Sequence[int] = ()
    stop: str | Sequence[str] = ()
    validators: Sequence[Any] = ()
    policy: Policy | None = None
    deadline_seconds: float | None = None
    step_seconds: float | None = None
    probabilities: bool = False
    retries: int = 0

    @property
    def drafted_tokens(self) -> int:
        """How many tokens a text may draft for a call of the model."""
        return 0 if self.draft is None else self.draft_tokens

    @property
    def stop_texts(self) -> tuple[str, ...]:
        """The texts before which a text ends."""
        if isinstance(self.stop, str):
            return (self.stop,)
        return tuple(checked_list("stop", self.stop, "a text, or a list of texts"))

    def bias(self, vocabulary: Vocabulary) -> Bias:
        """What is added to the logits, with banned tokens at minus infinity.

        Raises:
            TokenIdError: an id is outside of the vocabulary.
        """
        given = (self.logit_bias or {}).items()
        banned = checked_list("banned_tokens", self.banned_tokens, "a list of token ids")
        by_token = {vocabulary._checked_id(token): _checked_bias(token, value) for token, value in given}
        return Bias(by_token | {vocabulary._checked_id(token): -math.inf for token in banned})

    def pace(self) -> Pace:
        """The clock of the call, from now on."""
        paces = self.policy is None or self.policy.on_deadline == "finish"
        return Pace(self._seconds("deadline_seconds"), self._seconds("step_seconds"), paces=paces)

    def _seconds(self, name: str) -> float | None:
        given = getattr(self, name)
        return None if given is None else checked_number(name, given, 0.0, _MOST_SECONDS)

    def __post_init__(self) -> None:
        if checked_whole("max_new_tokens", self.max_new_tokens) < 1:
            raise BudgetError(self.max_new_tokens)
        checked_whole("min_new_tokens", self.min_new_tokens, 0, 1 << 30)
        checked_choice("tokenization", self.tokenization, ("any", "canonical"))
        checked_choice("on_noncanonical", self.on_noncanonical, ("error", "fresh"))
        checked_flag("jump", self.jump)
        checked_flag("probabilities", self.probabilities)
        checked_instance("heal", self.heal, (bool, type(None)), "True, False or None")
        check_draft(self.draft)
        checked_whole("draft_tokens", self.draft_tokens, 1, 1024)
        expected = "a list of the names of control tokens"
        checked_instance("placeholders", self.placeholders, (list, tuple, set, frozenset), expected)
        for each in self.placeholders:
            checked_instance("placeholders", each, str, expected)
        expected = "a mapping from token ids to numbers"
        checked_instance("logit_bias", self.logit_bias, (Mapping, type(None)), expected)
        for token, value in (self.logit_bias or {}).items():
            _checked_bias(token, value)
        if len(self.stop_texts) > _MOST_STOPS:
            raise ArgumentError("stop", f"{len(self.stop_texts):,} texts", f"at most {_MOST_STOPS:,}")
        for each in self.stop_texts:
            if not 0 < len(checked_text(each, "stop")) <= _LONGEST_STOP:
                raise ArgumentError("stop", shown_argument(each), f"texts of 1 to {_LONGEST_STOP:,} bytes")
        checked_instance("policy", self.policy, (Policy, type(None)), "a Policy, or None")
        for name in ("deadline_seconds", "step_seconds"):
            self._seconds(name)
        if self.jump and self.draft is not None:
            # A jump writes tokens that the model does not choose: the text would depend on the draft.
            raise ArgumentError("jump", "True", "False with a draft")


def _checked_bias(token: Any, value: Any) -> float:
    """What is added to the logit of a token; minus infinity bans it."""
    name = f"logit_bias[{shown_argument(token)}]"
    bias = checked_number(name, value, -math.inf, _LARGEST_BIAS)
    return bias if bias == -math.inf else checked_number(name, bias, -_LARGEST_BIAS, _LARGEST_BIAS)


def constraint_list(constraint: Any, prompts: int | None) -> list[_Given]:
    """A constraint for each prompt.

    Args:
        constraint: one for all prompts; or, with several prompts, a list with one for each.  A type or a
            schema stands for the constraint that it means.
        prompts: the number of prompts; ``None`` for a single one that is not in a list.

    Raises:
        TokamataError: of :func:`.constraint_of`; with several, it says which.
    """
    if prompts is None or not isinstance(constraint, (list, tuple)):
        expected = _EXPECTED
        if prompts is not None:
            expected += f", or a list with one for each of the {prompts} prompts"
        return [_given("constraint", constraint, expected)] * (1 if prompts is None else prompts)
    expected = f"a list with one for each of the {prompts} prompts"
    if constraint and all(isinstance(each, str) for each in constraint):
        raise ArgumentError("constraint", "a list of texts", expected, advice_on_constraint(constraint))
    if len(constraint) != prompts:
        raise ArgumentError("constraint", f"a list of {len(constraint)}", expected)
    constraints = []
    for index, each in enumerate(constraint):
        with about(f"constraint {index}"):
            constraints.append(_given("constraint", each, _EXPECTED))
    return constraints


def _given(argument: str, value: Any, expected: str) -> _Given:
    given: _Given = None if value is None else constraint_or_compiled(argument, value, expected)
    return given


def tasks_of(
    model: Any,
    tokenizer: Any,
    prompts: list[Any],
    constraints: list[_Given],
    options: Options,
    timing: Timing,
) -> list[Task[Any]]:
    """The task of each prompt.

    Raises:
        TokamataError: the errors of :func:`tokamata.stream`.
    """
    tasks: list[Task[Any]] = []
    with Clock(timing, "compile_seconds"):
        compiler = _Compiler(model, tokenizer, constraints, options)
        chats = chat_encoder(tokenizer, options)
        for index, (prompt, constraint) in enumerate(zip(prompts, constraints, strict=True)):
            with about(f"prompt {index}" if len(prompts) > 1 else ""):
                if options.tools is not None and not is_chat(prompt):
                    hint = "the chat template shows them to the model: pass a list of messages"
                    raise ArgumentError("tools", "a list", "None for a prompt that is no chat", hint)
                ids = prompt_ids(tokenizer, prompt, chats)
            with about(_name_of(index, constraints)):
                tasks.append(compiler.task(ids, constraint, prompt))
    with Clock(timing, "constraint_seconds"):
        for index, task in enumerate(tasks):
            with about(_name_of(index, constraints)):
                check_budget(task)
    return tasks


def chat_encoder(tokenizer: Any, options: Options) -> ChatEncoder:
    """The encoder of the prompts of a call.

    Raises:
        TokamataError: the errors of :func:`tokamata.tool_calls` about the tools.
    """
    tools = None if options.tools is None else tool_descriptions(options.tools)
    return ChatEncoder(tokenizer, options.placeholders, tools)


class _Compiler:
    """Compiles each constraint once for all prompts that have it."""

    def __init__(self, model: Any, tokenizer: Any, constraints: list[_Given], options: Options) -> None:
        self._vocabulary = _vocabulary(model, tokenizer, constraints)
        self._options = options
        self._validators = checked_validators(options.validators)
        if _has_canonical(constraints, options):
            self._vocabulary = _tested_vocabulary(self._vocabulary, model, tokenizer, constraints)
        self._banned = options.bias(self._vocabulary).banned
        self._usable = self._vocabulary.without(self._banned)
        # Values hold the constraint itself, so that no other object can get its id.
        self._compiled: dict[tuple[int, str], tuple[_Given, CompiledConstraint[Any]]] = {}

    def task(self, prompt: list[int], given: _Given, of: Any) -> Task[Any]:
        """The task of one prompt, with the ids of what the caller gave or a refusal has made of it."""
        try:
            return self._task(prompt, given, is_chat(of), is_fresh=False)
        except ContextError:
            # A control token that others have spelled is ordinary text, but no canonical one.
            if self._options.on_noncanonical == "error" and not isinstance(of, MixedText):
                raise
            return self._task(prompt, given, is_chat(of), is_fresh=True)

    def _task(self, prompt: list[int], given: _Given, is_chat: bool, *, is_fresh: bool) -> Task[Any]:
        """The task of one prompt; where it is fresh, the text does not continue the prompt.

        Raises:
            ContextError: the prompt is not canonical, and the text continues it.
        """
        options = self._options
        is_compiled = isinstance(given, CompiledConstraint)
        is_canonical = _tokenization(given, options) == "canonical"
        healed = ""
        # Nothing can be put before a compiled constraint, so it is not healed by default.
        if options.heal or (options.heal is None and is_canonical and not is_compiled):
            if is_compiled:
                raise AlgebraError(
                    "heal=True puts the end of the prompt before the constraint, which is impossible for a "
                    "compiled one; pass the constraint itself"
                )
            is_start = is_canonical and (is_fresh or self._ends_text(prompt[:-1]))
            healed = text_to_heal(prompt, self._vocabulary, is_start=is_start)
        if healed:
            prompt = prompt[:-1]
        matcher = None
        context = [] if is_fresh else self._last_text(prompt) if is_chat else prompt
        least = options.min_new_tokens + bool(healed) if options.min_new_tokens else 0
        is_matched_throughout = given is not None or is_canonical or options.min_new_tokens > 0
        is_start = is_canonical and self._ends_text(context)
        if is_matched_throughout or healed:
            compiled = self._compile(given, healed)
            matcher = compiled.matcher(context, min_tokens=least)
            is_start = is_start or (not is_canonical and compiled._start_of_text)
        spelling = Spelling(self._vocabulary, is_start)
        recovery = Recovery(
            constraint=given,
            context=context,
            spelling=spelling,
            least=least,
            vocabulary=self._usable,
            banned=self._banned,
            policy=options.policy,
            validators=self._validators,
            is_tried_again=options.retries > 0,
        )
        return Task(
            vocabulary=self._vocabulary,
            spelling=spelling,
            prompt=prompt,
            healed=healed,
            constraint=given,
            matcher=matcher,
            is_matched_throughout=is_matched_throughout,
            max_new_tokens=options.max_new_tokens,
            jump=options.jump,
            events=_event_reader(given),
            value=_growing_value(given),
            stop=options.stop_texts,
            recovery=recovery,
            records=options.probabilities,
        )

    def _ends_text(self, tokens: list[int]) -> bool:
        """Whether what follows some tokens is a text of its own to the decoder."""
        return not tokens or self._vocabulary[tokens[-1]] is None

    def _last_text(self, prompt: list[int]) -> list[int]:
        """The tokens from the last control token on, which begins a text of its own.

        What a message of a chat spells is ordinary text, but no canonical one.
        """
        start = len(prompt) - 1
        while start > 0 and self._vocabulary[prompt[start]] is not None:
            start -= 1
        return prompt[start:]

    def _compile(self, given: _Given, healed: str) -> CompiledConstraint[Any]:
        tokenization, limits = _tokenization(given, self._options), Limits()
        if isinstance(given, CompiledConstraint) and (tokenization == "canonical" or not self._banned):
            return given
        is_start = isinstance(given, CompiledConstraint) and given._start_of_text
        constraint: Constraint[Any] = regex("(?s:.*)")
        if given is not None:
            constraint, limits = constraint_and_limits(given)
        key = id(given), healed
        if key not in self._compiled:
            if healed:
                constraint = literal(healed) + constraint
            # Canonical masks do not count with banned tokens; the bias alone keeps the model from them.
            vocabulary = self._usable if tokenization == "any" else self._vocabulary
            compiled = constraint.compile(
                vocabulary, tokenization=tokenization, limits=limits, start_of_text=is_start
            )
            self._compiled[key] = given, compiled
        return self._compiled[key][1]


def _vocabulary(model: Any, tokenizer: Any, constraints: list[_Given]) -> Vocabulary:
    """The vocabulary of the compiled constraints; if there are none, that of model and tokenizer."""
    compiled = [each.vocabulary for each in constraints if isinstance(each, CompiledConstraint)]
    if any(vocabulary is not compiled[0] for vocabulary in compiled):
        expected = "compiled for one Vocabulary object, that of the model"
        raise ArgumentError("constraint", "a list of constraints for several", expected)
    if compiled:
        check_host(model, tokenizer)
        vocabulary, width = compiled[0], logits_width(model)
        if width is not None:
            check_logits(len(vocabulary), vocabulary.width, width)
    else:
        vocabulary = vocabulary_of(model, tokenizer)
    if not vocabulary.stop:
        raise NoStopTokenError(
            "the vocabulary names no stop token, so a text could not end; "
            "load it with Vocabulary.load(..., stop=[...])"
        )
    return vocabulary


def _tokenization(given: _Given, options: Options) -> Tokenization:
    """The tokenization of a text: a compiled constraint keeps its own."""
    return given.tokenization if isinstance(given, CompiledConstraint) else options.tokenization


def _has_canonical(constraints: list[_Given], options: Options) -> bool:
    """Whether one of the texts is to have canonical tokens."""
    return any(_tokenization(given, options) == "canonical" for given in constraints)


def _tested_vocabulary(
    vocabulary: Vocabulary, model: Any, tokenizer: Any, constraints: list[_Given]
) -> Vocabulary:
    """The vocabulary, whose tables pass the self-test with this tokenizer.

    If the tokenizer was changed and only the test has noticed, the vocabulary is loaded again.

    Raises:
        TokenizerMismatchError: they do not pass.
    """
    from tokamata.tokenization.self_test import check_running  # late: it needs numpy

    try:
        check_running(vocabulary, tokenizer)
    except TokenizerMismatchError:
        if any(isinstance(each, CompiledConstraint) for each in constraints):
            raise
        forget_vocabulary(tokenizer)
        vocabulary = _vocabulary(model, tokenizer, constraints)
        check_running(vocabulary, tokenizer)
    return vocabulary


def check_budget(task: Task[Any], *, count_stop: bool = False) -> None:
    """Refuse a budget into which no text fits.

    Args:
        task: the task; of one without a constraint every budget suffices.
        count_stop: whether each text needs room for a stop token, too.

    Raises:
        BudgetError: names the caller's budget, and the tokens that are needed.
    """
    if task.matcher is None:
        return
    row = allocate_mask(1, task.vocabulary.width)[0]
    try:
        task.matcher.fill_mask(row, task.budget, count_stop=count_stop)
    except BudgetError as error:
        # The caller's budget does not include the token that was taken back.
        needed = None if error.needed is None else error.needed - bool(task.healed)
        raise BudgetError(task.max_new_tokens, needed) from None


def _event_reader(given: _Given) -> EventReader | None:
    """The reader of a constraint's events, or ``None``."""
    if given is None:
        return None
    constraint, limits = constraint_and_limits(given)
    return EventReader(constraint._form, Reading(constraint.pattern, limits, None, has_deltas=True))


def _growing_value(given: _Given) -> Growing:
    """The value of a text that grows, as the type that the constraint was made of has it."""
    if given is None:
        return GrowingValue(is_json=False)
    constraint, _ = constraint_and_limits(given)
    thought = _made_of(constraint, think_first)
    answer = constraint if thought is None else thought
    value = GrowingValue(is_json(answer._form), _made_of(answer, type_constraint))
    return value if thought is None else GrowingThought(value)


def _made_of(constraint: Constraint[Any], make: Callable[..., Any]) -> Any:
    """What ``make`` has made a constraint of, its first argument; ``None``: something else has made it."""
    call: Call | None = getattr(constraint, "_kept_call", None)
    return call.arguments[0] if call is not None and call.make is make else None


def _name_of(index: int, constraints: list[_Given]) -> str:
    """How errors name one of several texts: by its constraint, or by its prompt where all share one."""
    if len(constraints) < 2:
        return ""
    is_shared = all(one is constraints[0] for one in constraints)
    return f"prompt {index}" if is_shared else f"constraint {index}"
