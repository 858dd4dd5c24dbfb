"""The calls of a recipe (:mod:`tokamata.calls.recipes`) as JSON, for a file that strangers may have written.

Problem.  A pickle names any function that there is, so whoever writes one decides what runs where it is read.
A constraint is made by few functions, of texts, numbers, lists and dicts.

How.  The steps of :func:`tokamata.calls.recipes.steps_of` are written as JSON.  The functions have names of a
closed table, and nothing else can be called.  Lists and dicts are steps already, so JSON nests no deeper than
a tuple in a call.  Limits and cancel tokens belong to the caller: they are not written, and the reader gives
its own.

Example.  ``(tk.literal("a") | tk.json()).repeat(2)``::

    ["call", "literal", ["a"], {}]
    ["call", "json", [], {"whitespace": "natural", "spelling": "natural"}]
    ["call", "joined", ["|", ["step", 0], ["step", 1]], {}]
    ["call", "repeat", [["step", 2], 2, null], {}]

What shares a step is made once, but may be copied: ``b = a & a``, ``c = b & b`` and so on double a table each
time.  So the size that steps would have without sharing is bounded.

Not taken.  Functions by module and name, as in pickles: a closed table is what makes a file safe.  Python's
classes and functions, of ``tk.type`` and tools: their names lead into modules of the caller.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Mapping
from functools import reduce
from typing import Any, NoReturn

from tokamata.calls.recipes import Made, made_by_steps
from tokamata.errors import LimitExceeded, shown_argument
from tokamata.patterns.grammars.files.grammar_files import GrammarFile, LeadsOut
from tokamata.resources.limits import CancelToken, Limits, Watch

__all__ = ["Unreadable", "Unwritable", "made_of", "written"]

# What a file may name, and what it is.
_NAMED = {
    "joined": "tokamata.constraints.constraint:_joined",
    "invert": "_operator:invert",
    "repeat": "tokamata.constraints.constraint:Constraint.repeat",
    "optional": "tokamata.constraints.constraint:Constraint.optional",
    "captured": "tokamata.constraints.constraint:Constraint.captured",
    "separated_by": "tokamata.constraints.constraint:Constraint.separated_by",
    "regex": "tokamata.constraints.text_constraints:regex",
    "literal": "tokamata.constraints.text_constraints:literal",
    "choice": "tokamata.constraints.text_constraints:choice",
    "quoted_text": "tokamata.constraints.extension_constraints:quoted_text",
    "unquoted_text": "tokamata.constraints.extension_constraints:unquoted_text",
    "control_token": "tokamata.constraints.extension_constraints:control_token",
    "image": "tokamata.constraints.extension_constraints:image",
    "text_token": "tokamata.constraints.extension_constraints:text_token",
    "paragraph_token": "tokamata.constraints.extension_constraints:paragraph_token",
    "text_until": "tokamata.constraints.extension_constraints:text_until",
    "substring_of": "tokamata.constraints.extension_constraints:substring_of",
    "delimited_subsequence_of": "tokamata.constraints.extension_constraints:delimited_subsequence_of",
    "json": "tokamata.constraints.json_constraints:json",
    "json_schema": "tokamata.constraints.json_constraints:json_schema",
    "json_folded": "tokamata.constraints.json_constraints:_folded",
    "documents": "tokamata.patterns.json_schema.documents:Documents",
    "grammar": "tokamata.constraints.grammar_constraints:grammar",
    "rule": "tokamata.constraints.grammar_rules:Rule",
    "rule_defined": "tokamata.constraints.grammar_rules:Rule.define",
    "phrase": "tokamata.constraints.grammar_rules:_phrase",
    "phrases": "tokamata.constraints.grammar_rules:_chained",
    "phrase_repeat": "tokamata.constraints.grammar_rules:Phrase.repeat",
    "phrase_captured": "tokamata.constraints.grammar_rules:Phrase.captured",
    "phrase_optional": "tokamata.constraints.grammar_rules:Phrase.optional",
    "sequence_kind": "tokamata.patterns.grammars.rules.rule_trees:Sequence",
    "choice_kind": "tokamata.patterns.grammars.rules.rule_trees:Choice",
    "tag": "tokamata.constraints.trigger_constraints:tag",
    "triggered": "tokamata.constraints.trigger_constraints:triggered",
    "text_without": "tokamata.constraints.trigger_constraints:text_without",
    "structural_tag": "tokamata.constraints.structural_tags:structural_tag",
    "tool_call": "tokamata.constraints.tool_constraints:tool_call",
    "tool_calls": "tokamata.constraints.tool_calls:tool_calls",
    "think_first": "tokamata.constraints.reasoning:think_first",
}
_NAMES = {where: name for name, where in _NAMED.items()}
_BYTES_OF_PART = 64  # of memory, by an estimate, for each part and each character of a recipe without sharing


class Unwritable(Exception):
    """A value that no recipe of JSON has; the message names it."""


class Unreadable(Exception):
    """Steps that make no constraint; the message says why."""


# ---- writing ----------------------------------------------------------------------------------


def written(steps: list[Any]) -> list[Any]:
    """Steps as a value of JSON.

    Raises:
        Unwritable: a class, a function or another object of the caller is among them.
    """
    return [_written_step(step) for step in steps]


def _written_step(step: Any) -> list[Any]:
    if type(step) is dict:
        return ["dict", [[_written(key), _written(value)] for key, value in step.items()]]
    if type(step) is list:
        return ["list", [_written(value) for value in step]]
    make, arguments, *options = step
    given: Mapping[str, Any] = options[0] if options else {}
    return [
        "call",
        _name_of(make),
        [_written(value) for value in arguments],
        {name: _written(value) for name, value in given.items() if name != "limits"},
    ]


def _name_of(make: Any) -> str:
    where = f"{getattr(make, '__module__', '')}:{getattr(make, '__qualname__', '')}"
    if where not in _NAMES:
        package, _, name = where.partition(":")
        shown = f"tokamata.{name}" if package.startswith("tokamata.") else f"{package}.{name}"
        raise Unwritable(f"what {shown} makes of classes or functions")
    return _NAMES[where]


def _written(value: Any) -> Any:
    kind = type(value)
    if value is None or kind in (bool, int, float, str):
        return value
    if kind is Made:
        return ["step", value.number]
    if kind is tuple:
        return ["tuple", [_written(one) for one in value]]
    if kind is bytes:
        return ["bytes", value.hex()]
    if kind is GrammarFile:
        path, text, imports = value.__reduce__()[1]
        return ["file", path, text, [*imports.items()]]
    if kind is type:
        return ["named", _name_of(value)]
    raise Unwritable(shown_argument(value))


# ---- reading ----------------------------------------------------------------------------------


def made_of(value: Any, limits: Limits | None, cancel: CancelToken | None) -> Any:
    """What written steps make.

    Args:
        value: of JSON, from anybody.
        limits, cancel: those of the caller, for each call; ``limits.seconds`` is for all of them together,
            and may be passed by the time of one call.

    Raises:
        Unreadable: they are not steps, or make nothing.
        LimitExceeded, Cancelled: the work was stopped.
    """
    watch = Watch(limits, cancel)
    given = {"limits": limits, "cancel": cancel}
    steps: list[Any] = []
    sizes: list[int] = []
    for step in _checked(value, list):
        watch.check()
        read = _StepReader(sizes)
        steps.append(read.step(step, given, watch))
        if read.size * _BYTES_OF_PART > watch.limits.memory_bytes:
            raise LimitExceeded("memory_bytes", watch.limits.memory_bytes)
        sizes.append(read.size)
    if not steps:
        raise Unreadable("it has no steps")
    for number in (one.number for step in steps for one in _made_in(step)):
        if not 0 <= number < len(steps):
            raise Unreadable(f"step {number} is missing")
    return made_by_steps(steps)


def _made_in(step: Any) -> list[Made]:
    values = step.values() if type(step) is dict else step
    if type(step) is tuple:
        values = [*step[1], *step[2].values()]
    return [value for value in values if type(value) is Made]


class _StepReader:
    """Reads one step.

    Attributes:
        size: how many parts and characters it has, and what it refers to, without sharing.
    """

    def __init__(self, sizes: list[int]) -> None:
        self.size = 1
        self._sizes = sizes  # of the steps before

    def step(self, step: Any, given: Mapping[str, Any], watch: Watch) -> Any:
        kind, *parts = _checked(step, list) or [None]
        if kind == "dict" and len(parts) == 1:
            pairs = [_checked(pair, list) for pair in _checked(parts[0], list)]
            return {self._key(key): self._value(one) for key, one in map(_pair, pairs)}
        if kind == "list" and len(parts) == 1:
            return [self._value(one) for one in _checked(parts[0], list)]
        if kind != "call" or len(parts) != 3:
            raise Unreadable("a step is neither a call nor a list nor a dict")
        make = _named(parts[0])
        accepted = getattr(inspect.unwrap(make), "__kwdefaults__", None) or {}
        arguments = tuple(self._value(one) for one in _checked(parts[1], list))
        options = {name: self._value(one) for name, one in _checked(parts[2], dict).items()}
        if not options.keys() <= accepted.keys():
            raise Unreadable("a call has an option that does not exist")
        own = {name: one for name, one in given.items() if one is not None and name in accepted}
        return _watched(make, watch), arguments, {**options, **own}

    def _key(self, value: Any) -> Any:
        key = self._value(value)
        if type(key) not in (str, int, float, bool, type(None)):
            raise Unreadable("the key of a dict is neither a text nor a number")
        return key

    def _value(self, value: Any) -> Any:
        self.size += 1
        if type(value) is str:
            self.size += len(value)
        if type(value) is not list:
            return value if type(value) is not dict else _refuse()
        match value:
            case ["step", int(number)]:
                self.size += self._sizes[number] if 0 <= number < len(self._sizes) else 0
                return Made(number)
            case ["tuple", list(values)]:
                return tuple(self._value(one) for one in values)
            case ["bytes", str(digits)]:
                self.size += len(digits)
                return bytes.fromhex(digits)
            case ["named", str(name)]:
                return _named(name)
            case ["file", str(path), str(text), list(imports)]:
                known = dict(map(_texts, imports))
                self.size += sum(map(len, [text, *known.values()]))
                return _WholeFile(path, text, known)
        return _refuse()


class _WholeFile(GrammarFile):
    """The file of a grammar that reads no other file."""

    def imported(self, base: str, name: str) -> tuple[str, str]:
        """As for :class:`GrammarFile`; all imports are known, or the path leads out."""
        import os

        joined = os.path.join(base, name)
        if joined not in self.__reduce__()[1][2]:
            raise LeadsOut(name)
        return super().imported(base, name)


def _watched(make: Callable[..., Any], watch: Watch) -> Callable[..., Any]:
    """A function that is not called when time is up."""

    def call(*arguments: Any, **options: Any) -> Any:
        watch.check()
        return make(*arguments, **options)

    return call


def _named(name: Any) -> Any:
    if type(name) is not str or name not in _NAMED:
        raise Unreadable(f"{name!r:.80} is none of the functions that make constraints")
    module, _, path = _NAMED[name].partition(":")
    return reduce(getattr, path.split("."), importlib.import_module(module))


def _pair(pair: list[Any]) -> list[Any]:
    return pair if len(pair) == 2 else _refuse()


def _texts(pair: Any) -> tuple[str, str]:
    match pair:
        case [str(path), str(text)]:
            return path, text
    return _refuse()


def _checked(value: Any, kind: type) -> Any:
    return value if type(value) is kind else _refuse()


def _refuse() -> NoReturn:
    raise Unreadable("a part of a step has another form")
