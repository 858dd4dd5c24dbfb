"""The engine's constructors of expressions, as grammars use them; a journal can note what they make.

Problem.  The rules of a large grammar take seconds to find and a tenth of that to make.  The engine's
expressions do not tell how they were made, so the next process could not make them again.
How.  While a journal is open, each constructor notes its result and its arguments.  The steps that lead to
one expression are its *program*: lists of plain values, in which an earlier step is named by its number::

    given: /[a-z]+/     program: [["literal", "("], ["concat", [1, 0]], …]     0 is /[a-z]+/, 1 is "("

Cost.  A dictionary entry for each step, while a journal is open.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeAlias

import tokamata._core as _core
from tokamata.resources.limits import Watch

__all__ = [
    "Journal", "Program", "anything", "code_points", "complement", "concat", "empty", "epsilon", "intersect",
    "journal_of", "made_by", "reference", "repeat", "rules", "strings",
    "terminal", "union",
]  # fmt: skip

Program: TypeAlias = list[Any]  # lists: the name of a constructor, and its arguments

_journal: ContextVar[Journal | None] = ContextVar("journal", default=None)


class Journal:
    """What was made while it was open.

    Args:
        given: expressions that programs may begin with.
    """

    def __init__(self, given: Sequence[_core.Expression]) -> None:
        self._given = {id(expression): number for number, expression in enumerate(given)}
        self._steps: dict[int, tuple[str, Sequence[_core.Expression], tuple[Any, ...]]] = {}
        self._made: list[object] = list(given)  # keeps the ids in use

    def note(
        self, made: _core.Expression, name: str, parts: Sequence[_core.Expression], values: tuple[Any, ...]
    ) -> None:
        """Notes what a constructor made."""
        if id(made) not in self._given:
            self._steps[id(made)] = (name, parts, values)
            self._made.append(made)

    def program(self, result: _core.Expression) -> Program | None:
        """The steps to an expression, the last one of which makes it; ``None`` if some were not noted."""
        numbers = dict(self._given)
        program: Program = []
        stack = [result]
        while stack:
            expression = stack[-1]
            if id(expression) in numbers:
                stack.pop()
                continue
            if id(expression) not in self._steps:
                return None
            name, parts, values = self._steps[id(expression)]
            if missing := [part for part in parts if id(part) not in numbers]:
                stack += missing
                continue
            numbers[id(expression)] = len(self._given) + len(program)
            program.append([name, [numbers[id(part)] for part in parts], *values])
            stack.pop()
        return program or None


@contextmanager
def journal_of(given: Sequence[_core.Expression]) -> Iterator[Journal]:
    """Opens a journal for this thread."""
    journal = Journal(given)
    token = _journal.set(journal)
    try:
        yield journal
    finally:
        _journal.reset(token)


def made_by(program: Program, given: Sequence[_core.Expression], watch: Watch) -> _core.Expression:
    """The expression of a program.

    Raises:
        ValueError, LookupError, TypeError: it is no program, or one for other expressions.
        LimitExceeded, Cancelled: the work was stopped.
    """
    if not isinstance(program, list) or not program:
        raise ValueError("a program has steps")
    made = list(given)
    for name, parts, *values in program:
        if len(made) % 256 == 0:
            watch.check()
        made.append(_CONSTRUCTORS[name]([made[part] for part in parts], *values))
    return made[-1]


def _noted(name: str, parts: Sequence[_core.Expression], *values: Any) -> _core.Expression:
    made: _core.Expression = _CONSTRUCTORS[name](parts, *values)
    journal = _journal.get()
    if journal is not None:
        journal.note(made, name, parts, values)
    return made


# By name: from parts, which are expressions, and plain values.
_CONSTRUCTORS: dict[str, Any] = {
    "anything": lambda _: _core.anything(),
    "code_points": lambda _, ranges: _core.code_points([(low, high) for low, high in ranges]),
    "complement": lambda parts: _core.complement(*parts),
    "concat": _core.concat,
    "empty": lambda _: _core.empty(),
    "epsilon": lambda _: _core.epsilon(),
    "intersect": _core.intersect,
    "reference": lambda _, rule: _core.reference(rule),
    "repeat": lambda parts, minimum, maximum: _core.repeat(parts[0], minimum, maximum),
    "rules": lambda parts: _core.rules(parts[:-1], parts[-1]),
    "strings": lambda _, texts: _core.strings(texts),
    "terminal": lambda parts: _core.terminal(*parts),
    "union": _core.union,
}


def anything() -> _core.Expression:
    """Every sequence of bytes and control tokens."""
    return _noted("anything", ())


def code_points(ranges: Sequence[tuple[int, int]]) -> _core.Expression:
    """One code point of the inclusive ranges."""
    return _noted("code_points", (), ranges)


def complement(body: _core.Expression) -> _core.Expression:
    """Everything that is not in ``body``."""
    return _noted("complement", (body,))


def concat(items: Sequence[_core.Expression]) -> _core.Expression:
    """The items in sequence."""
    return _noted("concat", items)


def empty() -> _core.Expression:
    """No text at all."""
    return _noted("empty", ())


def epsilon() -> _core.Expression:
    """The empty text."""
    return _noted("epsilon", ())


def intersect(items: Sequence[_core.Expression]) -> _core.Expression:
    """The texts of all of them."""
    return _noted("intersect", items)


def reference(rule: int) -> _core.Expression:
    """A text of a rule, by its number."""
    return _noted("reference", (), rule)


def repeat(body: _core.Expression, minimum: int, maximum: int | None) -> _core.Expression:
    """``body``, ``minimum`` to ``maximum`` times; ``None`` means no bound."""
    return _noted("repeat", (body,), minimum, maximum)


def rules(bodies: Sequence[_core.Expression], start: _core.Expression) -> _core.Expression:
    """The texts of ``start``, where reference number i is a text of ``bodies[i]``."""
    return _noted("rules", [*bodies, start])


def strings(texts: list[str]) -> _core.Expression:
    """One of these strings."""
    return _noted("strings", (), texts)


def terminal(body: _core.Expression) -> _core.Expression:
    """A regular set of texts that is one unit in rules."""
    return _noted("terminal", (body,))


def union(items: Sequence[_core.Expression]) -> _core.Expression:
    """Any one of them."""
    return _noted("union", items)
