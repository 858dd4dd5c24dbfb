"""Terminals with operators: ``&`` for both, ``~`` for not, ``-`` for without; as trees.

    NAME: /[a-z]+/ - KEYWORD        a name that is no keyword
    LINES: /[a-z\\n]+/ & ~DOUBLE     lines without what DOUBLE is

``~`` binds tighter than ``*``, and a sequence tighter than ``&`` and ``-``, which group from the left; ``|``
binds least.  What is not an operator stays as it is: lark reads it.

Trees are read without recursion, since they may nest deeper than Python's stack.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

import tokamata._core as _core
from tokamata.errors import GrammarError
from tokamata.patterns.grammars.files.lark_dialect_tokens import DialectToken, number_in
from tokamata.resources.limits import Watch

__all__ = ["Formula", "bounds_of", "expression_of", "formula_of", "postorder"]

_BOUNDS = {"*": (0, None), "+": (1, None), "?": (0, 1)}
_CLOSED = {"(": ")", "[": "]"}
_MOST_ROUNDS = 1_000_000  # of a repetition, as in regular expressions
_MOST_NESTED = 200  # chunks of a substring


@dataclass(frozen=True, eq=False)
class Formula:
    """A set of texts.

    Attributes:
        operator: how the children are joined; ``"leaf"`` has none, and lark reads its source;
            ``"substring"`` has none either, and stands for any run of its chunks.
        children: the formulas that it is made of.
        source: of a leaf: a text, an expression, a range or a name.
        chunks: of a substring.
        bounds: of a repetition.
    """

    operator: Literal["leaf", "substring", "sequence", "choice", "repeat", "and", "without", "not"]
    children: tuple[Formula, ...] = ()
    source: str = ""
    chunks: tuple[str, ...] = ()
    bounds: tuple[int, int | None] = (1, 1)


@dataclass
class _Group:
    """A group as far as it is read."""

    opening: DialectToken | None
    alternatives: list[Formula] = field(default_factory=list)
    operands: list[tuple[str, Formula]] = field(default_factory=list)
    operator: str = ""
    items: list[Formula] = field(default_factory=list)
    is_negated: bool = False

    def add(self, formula: Formula) -> None:
        """An item, which may be negated."""
        self.items.append(Formula("not", (formula,)) if self.is_negated else formula)
        self.is_negated = False

    def end_operand(self, operator: str) -> None:
        """What was read since the last operator is its operand; ``operator`` follows."""
        item = self.items[0] if len(self.items) == 1 else Formula("sequence", tuple(self.items))
        self.operands.append((self.operator, item))
        self.items, self.operator = [], operator

    def end_alternative(self) -> None:
        """What was read since the last ``|`` is an alternative."""
        self.end_operand("")
        (_, whole), *others = self.operands
        for operator, operand in others:
            whole = Formula("and" if operator == "&" else "without", (whole, operand))
        self.alternatives.append(whole)
        self.operands = []

    def whole(self) -> Formula:
        """All of it."""
        self.end_alternative()
        found = self.alternatives
        return found[0] if len(found) == 1 else Formula("choice", tuple(found))


def formula_of(
    tokens: list[DialectToken], fault: Callable[[DialectToken, str, str], GrammarError]
) -> Formula:
    """The tree of the body of a terminal.

    Args:
        tokens: those of the body, without blanks.
        fault: makes an error of a token, a reason and a hint.

    Raises:
        GrammarError: it is no such body.
    """
    groups = [_Group(None)]
    at = 0
    while at < len(tokens):
        token, group = tokens[at], groups[-1]
        if token.text in ("(", "["):
            groups.append(_Group(token))
            at += 1
        elif token.text in (")", "]"):
            if group.opening is None or _CLOSED[group.opening.text] != token.text:
                raise fault(token, f"no group is open that this {token.text!r} could close", "")
            groups.pop()
            whole = group.whole()
            groups[-1].add(whole if token.text == ")" else Formula("repeat", (whole,), bounds=(0, 1)))
            at += 1
        elif token.text == "|":
            group.end_alternative()
            at += 1
        elif token.text in ("&", "-"):
            if not group.items:
                raise fault(token, f"nothing stands before {token.text}", "")
            group.end_operand(token.text)
            at += 1
        else:
            at += _item(tokens[at : at + 4], group, fault)
    if (opening := groups[-1].opening) is not None:
        raise fault(opening, "this group is never closed", "")
    if tokens and tokens[-1].kind == "sign" and tokens[-1].text in ("~", "&", "-"):
        raise fault(tokens[-1], f"nothing stands after {tokens[-1].text}", "")
    return groups[0].whole()


def _item(
    tokens: list[DialectToken], group: _Group, fault: Callable[[DialectToken, str, str], GrammarError]
) -> int:
    """Reads a part of a group at the first of some tokens; returns how many belong to it."""
    token = tokens[0]
    following = tokens[1].text if len(tokens) > 1 else ""
    if token.kind in ("text", "regex", "name"):
        is_range = following == ".." and len(tokens) > 2
        source = f"{token.text}..{tokens[2].text}" if is_range else token.text
        group.add(Formula("sequence") if source == '""' else Formula("leaf", source=source))
        return 3 if is_range else 1
    if token.text == "%regex":
        group.add(Formula("substring", chunks=_chunks(tokens[1], fault)))
        return 2
    is_counted = token.text == "~" and len(tokens) > 1 and tokens[1].kind == "number"
    if token.kind == "count" or token.text in _BOUNDS or is_counted:
        if not group.items or group.is_negated:
            raise fault(token, f"nothing stands before {token.text} to be repeated", "")
        bounds, used = _rounds_of(tokens, fault) if is_counted else (bounds_of(token, fault), 1)
        group.items.append(Formula("repeat", (group.items.pop(),), bounds=bounds))
        return used
    if token.text == "~":
        group.is_negated = not group.is_negated
        return 1
    raise fault(token, f"{token.text} cannot stand in a terminal", "use it in a rule")


def _rounds_of(
    tokens: list[DialectToken], fault: Callable[[DialectToken, str, str], GrammarError]
) -> tuple[tuple[int, int | None], int]:
    """The bounds that ``~2`` or ``~2..3`` names, and of how many tokens it consists."""
    low = high = number_in(tokens[1].text)
    used = 2
    if len(tokens) > 3 and tokens[2].text == ".." and tokens[3].kind == "number":
        high, used = number_in(tokens[3].text), 4
    return _checked_bounds(tokens[0], low, high, fault), used


def bounds_of(
    token: DialectToken, fault: Callable[[DialectToken, str, str], GrammarError]
) -> tuple[int, int | None]:
    """How often the item before ``*``, ``+``, ``?`` or ``{m,n}`` appears."""
    if token.text in _BOUNDS:
        return _BOUNDS[token.text]
    low, comma, high = (part.strip() for part in token.text[1:-1].partition(","))
    most = number_in(high) if high else None if comma else number_in(low)
    return _checked_bounds(token, number_in(low or "0"), most, fault)


def _checked_bounds(
    token: DialectToken,
    low: int,
    high: int | None,
    fault: Callable[[DialectToken, str, str], GrammarError],
) -> tuple[int, int | None]:
    if high is not None and high < low:
        raise fault(token, f"the lower bound {low} is above the upper bound {high}", "")
    if max(low, high or 0) > _MOST_ROUNDS:
        raise fault(token, f"bounds may be at most {_MOST_ROUNDS:,}", "")
    return low, high


def _chunks(token: DialectToken, fault: Callable[[DialectToken, str, str], GrammarError]) -> tuple[str, ...]:
    """The chunks of ``%regex {"substring_…": …}``."""
    given = token.value
    hint = 'write %regex {"substring_words": "some text"}'
    if not isinstance(given, dict) or len(given) != 1:
        raise fault(token, "%regex takes an object with one member", hint)
    ((name, value),) = given.items()
    if name == "substring_chunks":
        if not isinstance(value, list) or not all(isinstance(chunk, str) for chunk in value):
            raise fault(token, "substring_chunks takes a list of texts", hint)
        return tuple(value)
    if name not in ("substring_words", "substring_chars"):
        raise fault(token, f"%regex does not know {name!r:.40}", hint)
    if not isinstance(value, str):
        raise fault(token, f"{name} takes a text", hint)
    return tuple(value) if name == "substring_chars" else _words(value)


def _words(text: str) -> tuple[str, ...]:
    """A text cut into runs of word characters, and all other characters one by one.

    >>> _words("foo bar.")
    ('foo', ' ', 'bar', '.')
    """
    return tuple(re.findall(r"\w+|\W", text))


def postorder(root: Formula) -> list[Formula]:
    """All formulas of a tree once, each after its children."""
    order: list[Formula] = []
    seen: set[int] = set()
    stack = [(root, False)]
    while stack:
        formula, is_done = stack.pop()
        if is_done:
            order.append(formula)
        elif id(formula) not in seen:
            seen.add(id(formula))
            stack.append((formula, True))
            stack += [(child, False) for child in formula.children]
    return order


def expression_of(
    root: Formula, leaves: Mapping[str, _core.Expression], limits: _core.Limits, watch: Watch
) -> _core.Expression:
    """The texts of a formula, by those of its leaves."""
    made: dict[int, _core.Expression] = {}
    for formula in postorder(root):
        watch.check()
        inner = [made[id(child)] for child in formula.children]
        operator = formula.operator
        if operator == "leaf":
            result = leaves[formula.source]
        elif operator == "substring":
            result = _substring(formula.chunks, limits)
        elif operator == "sequence":
            result = _core.concat(inner)
        elif operator == "choice":
            result = _core.union(inner)
        elif operator == "repeat":
            result = _core.repeat(inner[0], *formula.bounds)
        elif operator == "and":
            result = _core.intersect(inner)
        elif operator == "without":
            result = _core.intersect([inner[0], _core.complement(inner[1])])
        else:
            result = _core.intersect([_core.text(), _core.complement(inner[0])])
        made[id(formula)] = result
    return made[id(root)]


def _substring(chunks: tuple[str, ...], limits: _core.Limits) -> _core.Expression:
    """Any run of chunks: of ``a``, ``b``, ``c`` the texts of ``(a(b(c)?)?)?``, ``(b(c)?)?`` and ``(c)?``.

    Chunks of one character each are the substrings of a text, which the engine knows.  Many chunks would nest
    too deep: they are rules, ``r0: a r1?``, ``r1: b r2?`` and so on.
    """
    if all(len(chunk) == 1 for chunk in chunks):
        return _core.substrings("".join(chunks), limits, None)
    if len(chunks) > _MOST_NESTED:
        return _as_rules([chunk.encode() for chunk in chunks if chunk])
    runs = [_core.epsilon()]
    for chunk in reversed(chunks):
        further = _core.concat([_core.literal(chunk.encode()), runs[-1]])
        runs.append(_core.union([further, _core.epsilon()]))
    return _core.union(runs)


def _as_rules(chunks: list[bytes]) -> _core.Expression:
    bodies = []
    for number, chunk in enumerate(chunks):
        more = [_core.reference(number + 1)] if number + 1 < len(chunks) else []
        bodies.append(_core.concat([_core.literal(chunk), _core.union([_core.epsilon(), *more])]))
    begins = [_core.reference(number) for number in range(len(chunks))]
    return _core.rules(bodies, _core.union([_core.epsilon(), *begins]))
