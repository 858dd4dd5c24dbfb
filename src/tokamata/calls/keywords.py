"""Keyword arguments: those that a function passes on, and those that it does not have.

    @refuses_unknown
    @takes_settings_of(stream)
    def generate(model, *, on_text=None, **settings): ...

    inspect.signature(generate)       # has the settings of stream by their names, with their defaults
    generate(model, max_tokens=3)     # ArgumentError: …; did you mean max_new_tokens?

Each name has its default in one place, the signature of the function that uses it.
"""

from __future__ import annotations

import difflib
import functools
import inspect
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

from tokamata.errors import ArgumentError

__all__ = ["refuses_unknown", "takes_settings_of"]

_P = ParamSpec("_P")
_R = TypeVar("_R")
_F = TypeVar("_F", bound=Callable[..., Any])
_OTHER_NAMES = {  # of other libraries
    "max_tokens": "max_new_tokens",
    "max_length": "max_new_tokens",
    "max_completion_tokens": "max_new_tokens",
    "min_tokens": "min_new_tokens",
    "min_length": "min_new_tokens",
    "do_sample": "greedy",
    "random_seed": "seed",
    "temp": "temperature",
    "stop_strings": "stop",
    "bad_words": "banned_tokens",
    "timeout": "deadline_seconds",
    "max_time": "deadline_seconds",
    "max_retries": "retries",
    "num_beams": "beams",
    "num_samples": "n",
    "num_return_sequences": "n",
    "schema": "constraint",
    "grammar": "constraint",
    "response_model": "constraint",
    "response_format": "constraint",
    "output_type": "constraint",
}

_NEVER = {  # what a function cannot have, and why
    ("stream", "retries"): "its steps have shown a text before it can be refused; call tokamata.generate",
}
_NEVER |= {("astream", name): why for (_, name), why in _NEVER.items()}


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


def refuses_unknown(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """The function; a keyword argument that it does not have is an error that names the one that is near.

    Raises:
        ArgumentError: in a call, for such an argument.
    """
    known = frozenset(inspect.signature(function).parameters)

    @functools.wraps(function)
    def checked(*arguments: _P.args, **settings: _P.kwargs) -> _R:
        if not known.issuperset(settings):
            _refuse(function.__name__, next(name for name in settings if name not in known), known)
        return function(*arguments, **settings)

    return checked


def _refuse(function: str, name: str, known: frozenset[str]) -> None:
    near = [one for one in (_OTHER_NAMES.get(name),) if one in known]
    if name not in _OTHER_NAMES:  # what such a name means is not what is spelled like it
        near = difflib.get_close_matches(name, sorted(known), 1)
    hint = f"did you mean {near[0]}?" if near else _NEVER.get((function, _OTHER_NAMES.get(name, name)), "")
    expected = f"one of {', '.join(sorted(known))}"
    raise ArgumentError(f"an argument of {function}()", repr(name), expected, hint)
