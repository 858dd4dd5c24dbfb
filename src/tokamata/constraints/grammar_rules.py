"""Grammars written in Python: rules that refer to each other.

    value = tk.rule("value")
    value.define(tk.regex("[0-9]+") | "[" + value + ("," + value).repeat() + "]")
    nested = tk.grammar(value)

The operators are those of constraints.  Texts and constraints take part where they stand beside a rule.
Control tokens cannot stand in a rule that refers to itself within a text.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any

import tokamata._core as _core
from tokamata.calls.arguments import checked_bounds, checked_instance, checked_text
from tokamata.calls.recipes import Call, Remade, chain_of
from tokamata.constraints.constraint import Constraint
from tokamata.errors import ArgumentError, shown_argument
from tokamata.patterns.grammars.files.lark_constructs import embedded
from tokamata.patterns.grammars.rules import rule_trees as trees
from tokamata.resources.limits import Watch
from tokamata.values.derivations import Capture

__all__ = ["Phrase", "Rule", "grammar_of", "rule"]

_NUMBERS = itertools.count(1)  # of captured parts, until a grammar names them


class Phrase(Remade):
    """A part of a grammar: a rule, or rules, texts and constraints with operators between them; immutable.

    ======================  ==========================================================
    ``a + b``               a text of ``a``, then one of ``b``
    ``a | b``               texts of either
    ``a.repeat(2, 5)``      two to five texts of ``a``, one after another
    ``a.optional()``        a text of ``a``, or the empty text
    ======================  ==========================================================
    """

    __slots__ = ("_node", "_rules")

    def __init__(self, node: trees.Node, rules: Mapping[str, Rule]) -> None:
        """``rules``: those that the node refers to, by name."""
        self._node = node
        self._rules = dict(rules)

    def __add__(self, other: Phrase | Constraint[Any] | str) -> Phrase:
        """A text of this, then one of the other."""
        return _combined(trees.Sequence, self, other)

    def __radd__(self, other: Constraint[Any] | str) -> Phrase:
        """A text of the other, then one of this."""
        return _combined(trees.Sequence, other, self)

    def __or__(self, other: Phrase | Constraint[Any] | str) -> Phrase:
        """The texts of either."""
        return _combined(trees.Choice, self, other)

    def __ror__(self, other: Constraint[Any] | str) -> Phrase:
        """The texts of either."""
        return _combined(trees.Choice, other, self)

    def repeat(self, minimum: int = 0, maximum: int | None = None) -> Phrase:
        """``minimum`` to ``maximum`` texts of this, one after another; ``None`` means no bound.

        Raises:
            ArgumentError: the bounds are no whole numbers from 0 on, or the minimum is above the maximum.
        """
        minimum, maximum = checked_bounds(minimum, maximum)
        made = Phrase(trees.Repeat(self._node, minimum, maximum), self._rules)
        return made._made_by(Phrase.repeat, self, minimum, maximum)

    def captured(self, name: str) -> Phrase:
        """The same texts; ``parse`` has each of them under a name.

            item = tk.rule("item")
            item.define(tk.regex("[a-z]+").captured("word") | "(" + item + ")" + item.optional())
            tk.grammar(item).parse("(a)b")["word"]     # ["a", "b"]

        The value of a constraint is its own, as in :meth:`Constraint.captured`; that of rules is the text.

        Raises:
            ArgumentError: the name is no text, or empty.
        """
        checked_text(name, "name")
        if not name:
            raise ArgumentError("name", "''", "a name")
        return _captured(Capture((name,)), self)._made_by(Phrase.captured, self, name)

    def optional(self) -> Phrase:
        """A text of this, or the empty text."""
        return Phrase(trees.Repeat(self._node, 0, 1), self._rules)._made_by(Phrase.optional, self)


class Rule(Phrase):
    """A rule of a grammar; :func:`tokamata.rule` makes it, and :meth:`define` says what it is.

    Attributes:
        name: its name.
    """

    __slots__ = ("_body", "name")

    def __init__(self, name: str) -> None:
        self.name = name
        self._body: Phrase | None = None
        super().__init__(trees.Reference(name), {name: self})
        self._made_by(Rule, name)

    def _last_call(self) -> Call | None:
        return None if self._body is None else Call(Rule.define, (self, self._body))

    def define(self, body: Phrase | Constraint[Any] | str) -> Rule:
        """Says which texts the rule has; returns the rule.

        Raises:
            ArgumentError: it is defined already, or the body is of another type.
        """
        if self._body is not None:
            raise ArgumentError(
                "body", shown_argument(body), f"no second definition of the rule {self.name!r}"
            )
        self._body = _phrase("body", body)
        return self

    def __repr__(self) -> str:
        return f"tokamata.rule({self.name!r})"


class _Capturing(Rule):
    """A rule around a part that is captured; :func:`grammar_of` names it."""

    __slots__ = ("capture",)

    def __init__(self, capture: Capture, body: Phrase) -> None:
        super().__init__(f" {next(_NUMBERS)}")
        self.capture = capture
        self._body = body


def rule(name: str) -> Rule:
    """A rule of a grammar, to be defined by :meth:`Rule.define`, so that rules can refer to each other.

        expression = tk.rule("expression")
        expression.define(tk.regex("[0-9]+") | expression + "+" + expression | "(" + expression + ")")
        arithmetic = tk.grammar(expression)

    Raises:
        ArgumentError: the name is no text.
    """
    checked_text(name, "name")
    return Rule(name)


def grammar_of(start: Rule) -> tuple[trees.Grammar, dict[str, Capture]]:
    """The rules that a rule leads to, and what they capture.

    Raises:
        ArgumentError: one of them is not defined, or two have the same name.
    """
    found: dict[str, Rule] = {}
    open_rules = [start]
    while open_rules:
        current = open_rules.pop()
        if (known := found.setdefault(current.name, current)) is not current:
            raise ArgumentError("source", f"two rules named {current.name!r}", "rules with different names")
        if current._body is None:
            raise ArgumentError("source", f"the rule {current.name!r}", "defined: call its define(…)")
        if known is current:
            open_rules += [rule for rule in current._body._rules.values() if found.get(rule.name) is not rule]
    names: dict[str, str] = {}  # of rules, by those under which they refer to each other
    captures: dict[str, Capture] = {}
    for key, rule in found.items():
        names[key] = key
        if isinstance(rule, _Capturing):
            names[key] = f"captured-{len(captures) + 1}"
            while names[key] in found:
                names[key] += "-"
            captures[names[key]] = rule.capture

    def renamed(node: trees.Node) -> trees.Node:
        return trees.Reference(names[node.rule]) if isinstance(node, trees.Reference) else node

    rules = {
        names[key]: trees.rewritten(rule._body._node, renamed) for key, rule in found.items() if rule._body
    }
    return trees.Grammar(rules, start.name), captures


def _phrase(argument: str, value: Any) -> Phrase:
    if isinstance(value, Phrase):
        return value
    return _phrase_of(argument, value)._made_by(_phrase, argument, value)


def _phrase_of(argument: str, value: Any) -> Phrase:
    """A text or a constraint as a phrase."""
    if isinstance(value, str):
        checked_text(value, argument)
        return Phrase(
            trees.Terminal(repr(value), _core.literal(value.encode()), (value,))
            if value
            else trees.Sequence(()),
            {},
        )
    checked_instance(argument, value, Constraint, "a rule, a text or a constraint")
    if value._operator == "+" and value._names:  # its parts have the names
        whole = Phrase(trees.Sequence(()), {})
        for operand in value._operands:
            whole = _combined(trees.Sequence, whole, operand)
        return whole
    phrase = Phrase(embedded(value.pattern, _core.scope(value._expression), 0, Watch()), {})
    if value._seen_names:
        return _captured(Capture(tuple(sorted(value._seen_names)), value._form), phrase)
    return phrase


def _captured(capture: Capture, body: Phrase) -> Phrase:
    rule = _Capturing(capture, body)
    return Phrase(rule._node, rule._rules)


def _combined(kind: type[trees.Sequence] | type[trees.Choice], first: Any, second: Any) -> Phrase:
    left, right = _phrase("other", first), _phrase("other", second)
    nodes = [node for part in (left, right) for node in _items(kind, part._node)]
    for name, rule in right._rules.items():
        if left._rules.get(name, rule) is not rule:
            raise ArgumentError("other", f"another rule named {name!r}", "rules with different names")
    made = Phrase(kind(tuple(nodes)), {**left._rules, **right._rules})
    return made._made_by(_chained, kind, *chain_of(left, _chained, kind), *chain_of(right, _chained, kind))


def _chained(kind: type[trees.Sequence] | type[trees.Choice], *operands: Phrase) -> Phrase:
    """Phrases after each other, or alternatives, that were combined in another process."""
    nodes = [node for operand in operands for node in _items(kind, operand._node)]
    rules = {name: rule for operand in operands for name, rule in operand._rules.items()}
    return Phrase(kind(tuple(nodes)), rules)._made_by(_chained, kind, *operands)


def _items(kind: type[trees.Sequence] | type[trees.Choice], node: trees.Node) -> tuple[trees.Node, ...]:
    """``a + b + c`` is one sequence."""
    return node.children if isinstance(node, kind) and node.children else (node,)
