"""What functions are called with: keyword arguments that they pass on, and arguments that do not fit.

    @checked_call
    @takes_settings_of(stream)
    def generate(model, *, on_text=None, **settings): ...

    inspect.signature(generate)       # has the settings of stream by their names, with their defaults
    generate(model, max_tokens=3)     # ArgumentError: …; did you mean max_new_tokens?
    generate(model)                   # ArgumentError: the argument tokenizer of generate() must be given, …

Each name has its default in one place, the signature of the function that uses it.
"""

from __future__ import annotations

import difflib
import functools
import inspect
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

from tokamata.errors import ArgumentError

__all__ = ["checked_call", "checked_fields", "takes_settings_of"]

_P = ParamSpec("_P")
_R = TypeVar("_R")
_C = TypeVar("_C")
_F = TypeVar("_F", bound=Callable[..., Any])
_OTHER_NAMES = {  # of other libraries
    "max_tokens": "max_new_tokens",
    "max_length": "max_new_tokens",
    "max_completion_tokens": "max_new_tokens",
    "min_tokens": "min_new_tokens",
    "min_length": "min_new_tokens",
    "do_sample": "greedy",
    "random_seed": "seed",
    "random_state": "seed",
    "temp": "temperature",
    "stop_strings": "stop",
    "stop_sequences": "stop",
    "bad_words": "banned_tokens",
    "timeout": "deadline_seconds",
    "max_time": "deadline_seconds",
    "max_retries": "retries",
    "num_beams": "beams",
    "num_samples": "n",
    "num_return_sequences": "n",
    "logprobs": "probabilities",
    "top_logprobs": "probabilities",
    "messages": "prompt",
    "schema": "constraint",
    "json_schema": "constraint",
    "regex": "constraint",
    "choices": "constraint",
    "grammar": "constraint",
    "response_model": "constraint",
    "response_format": "constraint",
    "output_type": "constraint",
    "delete": "remove",
}
# The same word is another argument of the functions that make constraints.
_OF_MAKERS = {
    ("regex", "regex"): "pattern",
    ("grammar", "grammar"): "source",
    ("choice", "choices"): "options",
    ("think_first", "max_tokens"): "most_tokens",
    ("think_first", "max_new_tokens"): "most_tokens",
    ("think_first", "max_characters"): "most_characters",
    ("Vocabulary.load", "eos_token_id"): "stop",
    ("Vocabulary.load", "eos_token"): "stop",
    ("Vocabulary.load", "vocab_size"): "width",
    ("CompiledConstraint.matcher", "prompt"): "context",
}

# What a function cannot have, and what to do instead.
_COMPILE = "compile the constraint with it: constraint.compile(vocabulary, limits=…)"
_LOGITS = "model.generate of transformers has it, with tokamata's ConstraintLogitsProcessor"
_VOCABULARY = "compile the constraint for Vocabulary.load(tokenizer, stop=…)"
_NO_FILTER = "its samples follow the distribution of the model; leave it out"
_WRITING = {
    "n": "call tokamata.sample, or repeat the prompt in a list",
    "best_of": "call tokamata.sample, or tokamata.beam_search",
    "beams": "call tokamata.beam_search",
    "stream": "call tokamata.stream in place of it",
    "streamer": "call tokamata.stream, or pass a function as on_text",
    "system": "pass a list of messages as the prompt",
    "eos_token_id": _VOCABULARY,
    "stop_token_ids": _VOCABULARY,
    "limits": _COMPILE,
    "cancel": _COMPILE,
    "thinking": "wrap the constraint: tokamata.think_first(constraint)",
    "sampling": "pass its settings one by one, such as temperature=0.7",
    "device": "move the model: model.to(…)",
    "batch_size": "pass a list of prompts",
    "generation_config": "pass its settings one by one, such as temperature=0.7",
    "skip_special_tokens": "the text has no special tokens",
    **dict.fromkeys(("logits_processor", "repetition_penalty", "frequency_penalty", "min_p"), _LOGITS),
    **dict.fromkeys(("presence_penalty", "length_penalty", "stopping_criteria"), _LOGITS),
}
_NEVER = {("generate", name): why for name, why in _WRITING.items()}
_NEVER |= {("stream", name): why for name, why in _WRITING.items()}
_NEVER |= {
    ("stream", "stream"): "it streams already",
    ("stream", "retries"): "its steps have shown a text before it can be refused; call tokamata.generate",
    ("stream", "on_text"): "read the text of each step; or call tokamata.generate, which has it",
}
_NEVER |= {("astream", name): why for (function, name), why in _NEVER.items() if function == "stream"}
_NEVER |= {
    **{("sample", name): _NO_FILTER for name in ("top_p", "top_k", "greedy")},
    ("json", "schema"): "call tokamata.json_schema, which takes a schema",
    ("json_schema", "indent"): 'whitespace="any" admits indented JSON',
    ("type", "indent"): 'whitespace="any" admits indented JSON',
    ("regex", "ignore_case"): "pass flags=re.IGNORECASE",
    ("grammar", "parser"): "every context-free grammar is accepted; leave it out",
    ("CompiledConstraint.matcher", "max_new_tokens"): "pass the budget to fill_mask(row, budget)",
    ("CompiledConstraint.matcher", "budget"): "pass it to fill_mask(row, budget)",
    (
        "Constraint.repair",
        "max_edits",
    ): "at_most={'insert': 3} bounds the edits of one name",
    ("Constraint.repairs", "count"): "pass n=3 with distinct=True, or take as many as you need",
    ("CompiledConstraint.prepare", "threads"): "call it in a thread of your own",
    ("Policy", "retries"): "it is an argument of tokamata.generate",
}

# How to give an argument that was left out: by its name, by the function, or by both.
_ORDER = "the order is model, tokenizer, prompt, constraint"
_MISSING = {
    "model": _ORDER,
    "tokenizer": _ORDER,
    "prompt": _ORDER,
    "constraint": "pass a class, a schema or a constraint; None leaves the text free",
    "vocabulary": "make one with tokamata.Vocabulary.load(tokenizer)",
    "n": "it is the number of samples",
    "delimiter": 'write tokamata.literal(", ") for a comma',
    "end": "it is the text that ends the tag, such as '</a>'",
    "answer": "it is what follows the thought: a class, a schema or a constraint",
    "CompiledConstraint": "call constraint.compile(vocabulary) in place of it",
    ("load", "vocabulary"): "tokamata.load reads a file of compiled.save; Vocabulary.load reads a tokenizer",
}
_RECEIVERS = {"self", "cls"}
# What to write in place of several arguments.
_TOO_MANY = {
    "choice": "pass a list: choice(['red', 'green'])",
    "literal": "tokamata.choice(['red', 'green']) is one of several texts",
    "type": "write A | B for one of several types",
    "json": "tokamata.json() is any JSON; tokamata.json_schema takes a schema, tokamata.type a class",
    "tool_calls": "pass the tools in a list",
    "tool_call": "pass the tools in a list",
}


def takes_settings_of(other: Callable[..., Any]) -> Callable[[_F], _F]:
    """The signature of a function has, in place of its ``**settings``, the keyword arguments of another."""

    def with_settings(function: _F) -> _F:
        mine = [
            one for one in inspect.signature(function).parameters.values() if one.kind is not one.VAR_KEYWORD
        ]
        known = {one.name for one in mine}
        theirs = [
            one
            for one in inspect.signature(other).parameters.values()
            if one.kind is one.KEYWORD_ONLY and one.name not in known
        ]
        signature = inspect.signature(function).replace(parameters=[*mine, *theirs])
        function.__signature__ = signature  # type: ignore[attr-defined]
        return function

    return with_settings


def checked_call(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """The function; arguments that it does not have, and those that are missing, are errors with advice.

    Raises:
        ArgumentError: in a call, for a keyword argument that it does not have, which names the one that is
            near; for too many arguments by position; and for one that was left out.
    """
    parameters = inspect.signature(function).parameters
    known = frozenset(parameters)
    by_position = [one for one in parameters.values() if one.kind is one.POSITIONAL_OR_KEYWORD]
    needed = [one.name for one in by_position if one.default is one.empty]
    most = len(by_position)

    @functools.wraps(function)
    def checked(*arguments: _P.args, **settings: _P.kwargs) -> _R:
        if not known.issuperset(settings):
            _refuse(_name_of(function), next(name for name in settings if name not in known), known)
        if len(arguments) > most:
            _refuse_many(
                _name_of(function), len(arguments), most, has_self=not _RECEIVERS.isdisjoint(needed[:1])
            )
        for name in needed[len(arguments) :]:
            if name not in settings:
                _refuse_missing(_name_of(function), name)
        return function(*arguments, **settings)

    return checked


def checked_fields(kind: type[_C]) -> type[_C]:
    """The class; a call of it is checked as :func:`checked_call` does."""
    kind.__init__ = checked_call(kind.__init__)  # type: ignore[method-assign]
    return kind


def _name_of(function: Callable[..., Any]) -> str:
    """How messages name a function: that of a class for its ``__init__``."""
    return function.__qualname__.removesuffix(".__init__")


def _refuse(function: str, name: str, known: frozenset[str]) -> None:
    meant = _OF_MAKERS.get((function, name), _OTHER_NAMES.get(name))
    near = [meant] if meant in known else []
    if meant is None:  # what such a name means is not what is spelled like it
        near = difflib.get_close_matches(name, sorted(known - _RECEIVERS), 1, 0.7)
    never = _NEVER.get((function, name)) or _NEVER.get((function, meant or name), "")
    hint = f"did you mean {near[0]}?" if near and not _NEVER.get((function, name)) else never
    expected = "one that it has" if hint else f"one of {', '.join(sorted(known - _RECEIVERS))}"
    raise ArgumentError(f"an argument of {function}()", f"{name!r:.80}", expected, hint)


def _refuse_many(function: str, found: int, most: int, has_self: bool) -> None:
    shown = "none" if most == has_self else f"at most {most - has_self}"
    hint = _TOO_MANY.get(function, "give the others by name")
    raise ArgumentError(f"the arguments of {function}() by position", str(found - has_self), shown, hint)


def _refuse_missing(function: str, name: str) -> None:
    advice = _MISSING.get((function, name)) or _MISSING.get(function) or _MISSING.get(name, "")
    raise ArgumentError(f"the argument {name} of {function}()", "left out", "given", advice)
