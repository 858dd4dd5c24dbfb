"""Constraints on plain texts: a regular expression, one text, a choice of many."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable
from typing import Any, Literal, TypeVar, get_origin, overload

import tokamata._core as _core
from tokamata.calls.arguments import checked_list, checked_text, clipped
from tokamata.calls.equal_calls import read_once
from tokamata.calls.keywords import checked_call
from tokamata.calls.recipes import plain_text
from tokamata.constraints.constraint import Constraint
from tokamata.constraints.given import Untyped, constraint_of
from tokamata.errors import ArgumentError, about, shown_argument
from tokamata.patterns.extensions import EXTENSIONS
from tokamata.patterns.regex import to_expression
from tokamata.resources.limits import CancelToken, Limits, Watch
from tokamata.values.forms import Alternatives, Pattern, Plain
from tokamata.values.parts import Match

__all__ = ["choice", "literal", "regex"]

_T = TypeVar("_T")


@checked_call
@read_once
def regex(
    pattern: str,
    flags: re.RegexFlag | int = 0,
    *,
    dialect: Literal["python", "ecma"] = "python",
    limits: Limits | None = None,
    cancel: CancelToken | None = None,
) -> Constraint[Match]:
    r"""The texts that a regular expression matches.

    ``dialect="python"``: the syntax of Python's ``re``, extended by ``\p{…}`` for Unicode properties and by
    lookbehinds of any length; the texts that ``re.fullmatch`` accepts.

    ``dialect="ecma"``: the syntax of ECMA-262 with the ``u`` flag; as in JSON Schema the pattern may
    match anywhere in the text, unless it is anchored.

    In both, the extensions of :mod:`tokamata.patterns.extensions` are written as groups,
    ``(?P<QUOTED_TEXT>)``; other named groups are in the value of a text, a :class:`Match`.  Unicode classes
    and case always have the version ``tokamata.patterns.unicode.UNICODE_VERSION``, independent of the version
    of Python.

    Args:
        pattern: the regular expression.
        flags: ``re.IGNORECASE``, ``re.MULTILINE``, ``re.DOTALL``, ``re.VERBOSE``, ``re.ASCII``, or 0.
        dialect: the syntax and meaning of the pattern.
        limits: ``seconds`` bounds the time for reading it; ``Limits()`` by default.
        cancel: stops the reading, from another thread.

    Raises:
        ArgumentError: the pattern is not a ``str``, or another argument has a wrong type or value.
        PatternSyntaxError: it does not parse.
        NotRegularError: it uses a construct that is not regular (backreferences, conditionals).
        UnsupportedPatternError: it uses a construct that tokamata does not support.
        LimitExceeded, Cancelled: it nests too deep, or the reading was stopped.
    """
    if isinstance(pattern, str) and dialect == "python":
        _warn_of_posix_classes(pattern)
    watch = Watch(limits, cancel)
    expression = to_expression(pattern, flags, dialect=dialect, extensions=EXTENSIONS, watch=watch)
    form = Pattern(pattern, int(flags), dialect)
    made: Constraint[Match] = Constraint(expression, pattern, is_pattern=True, form=form)
    dialects = {} if dialect == "python" else {"dialect": dialect}
    return made._made_by(regex, pattern, int(flags), limits=limits, **dialects)


def _warn_of_posix_classes(pattern: str) -> None:
    """Warn of ``[[:alpha:]]``, which is no class of letters in Python, as ``re.compile`` does."""
    found = re.search(r"\[\[:[a-z]+:\]", pattern)
    if found is not None:
        reason = f"{found.group()!r} is a set of single characters in Python, and no class of letters"
        warnings.warn(f"{reason}; write \\p{{L}}, or a range", FutureWarning, stacklevel=5)


@checked_call
def literal(text: str) -> Constraint[str]:
    """Exactly this text.

    Raises:
        ArgumentError: it is not a ``str``, or contains a surrogate.
    """
    if isinstance(text, (list, tuple, set)):
        raise ArgumentError("text", shown_argument(text), "a str", "tokamata.choice takes several texts")
    expression = _core.literal(checked_text(text))
    made: Constraint[str] = Constraint(expression, f"literal({clipped(repr(text))})", form=Plain())
    return made._made_by(literal, text)


@overload
def choice(options: Iterable[str]) -> Constraint[str]: ...
@overload
def choice(options: Iterable[Constraint[_T]]) -> Constraint[_T]: ...
@overload
def choice(options: Iterable[str | Constraint[_T]]) -> Constraint[str | _T]: ...
@overload  # mypy finds no _T for a list display of several kinds
def choice(options: Iterable[str | Constraint[Any] | type | Untyped]) -> Constraint[Any]: ...
@checked_call
@read_once
def choice(options: Iterable[Any]) -> Constraint[Any]:
    """Any one of the options: literal texts, or constraints, or types and schemas that mean one.

    The value of a text is that of the first option that accepts it.

    Hundreds of thousands of texts are fine; they become one automaton.

    Raises:
        ArgumentError: ``options`` is empty or one text; an option is neither a ``str`` nor a constraint, or
            contains a surrogate.
    """
    hint = f"use literal({options!r:.40})" if isinstance(options, str) else ""
    if isinstance(options, dict) or get_origin(options) is not None:
        hint = "use tokamata.type(…)"
        if isinstance(options, dict):
            hint = "list(…) of it has its keys; tokamata.json_schema takes a schema"
        raise ArgumentError("options", shown_argument(options), "a list of texts and constraints", hint)
    if isinstance(options, type):
        hint = f"use tokamata.type({options.__name__})"
        raise ArgumentError("options", shown_argument(options), "a list of texts and constraints", hint)
    given = [*map(plain_text, checked_list("options", options, "a list of texts and constraints", hint))]
    runs: list[list[str] | Constraint[Any]] = []  # adjacent texts become one automaton
    for index, option in enumerate(given):
        if not isinstance(option, str):
            with about(f"option {index}" if len(given) > 1 else ""):
                option = constraint_of("an option", option, "a text, a constraint, a type or a schema")
            given[index] = option
            runs.append(option)
        elif runs and isinstance(runs[-1], list):
            runs[-1].append(option)
        else:
            runs.append([option])
    if not runs:
        raise ArgumentError("options", "an empty one", "a list of at least one option")
    parts = [run if isinstance(run, Constraint) else _any_text(run) for run in runs]
    texts = [option for option in given[:4] if isinstance(option, str)]
    shown = ", ".join(repr(text)[:40] for text in texts)
    is_short = len(given) == len(texts)
    name = f"choice([{shown}])" if is_short else f"choice of {len(given):,} ({shown}, …)"
    if len(parts) == 1 and not isinstance(runs[0], Constraint):
        return Constraint(parts[0]._expression, clipped(name), form=Plain())._made_by(choice, given)
    expression = _core.union([part._expression for part in parts])
    form = Alternatives([part._option for part in parts])
    names = frozenset(name for part in parts for name in part._seen_names)
    return Constraint(
        expression, clipped(name), made_by="choice", operands=tuple(parts), form=form, names=names
    )._made_by(choice, given)


def _any_text(texts: list[str]) -> Constraint[str]:
    """Any one of the texts, as one option among constraints."""
    try:
        expression = _core.strings(texts)
    except UnicodeEncodeError:
        checked_text(next(text for text in texts if not _is_valid(text)))
        raise
    return Constraint(expression, f"choice of {len(texts):,}", form=Plain())


def _is_valid(text: str) -> bool:
    return not any("\ud800" <= character <= "\udfff" for character in text)
