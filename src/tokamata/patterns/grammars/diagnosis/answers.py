"""What is found out about a grammar: derivations of its texts, and whether a parser knows what comes next."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from tokamata.patterns.grammars.rules.rule_trees import quoted

__all__ = ["Derivation", "Determinism"]


@dataclass(frozen=True, eq=False, repr=False)
class Derivation:
    """How a grammar derives a text: a tree of its rules.

    ``str()`` writes it on one line: ``sum(sum(NUMBER("1")) "+" NUMBER("2"))``.  Trees may nest deeper than
    Python's stack.

    Attributes:
        name: of the rule or the terminal; for a part of a rule that is optional, repeated or a choice, that
            of the rule with a number, such as ``sum.1``, or what lark's loader calls it, ``sum_star_0``;
            ``""`` for a terminal that the grammar writes as a text.
        text: what it derives, with ignored texts after it; of a grammar that is judged over its terminals,
            an example.
        children: of a rule, the rules and terminals that it consists of; of a terminal, ``None``.
    """

    name: str
    text: str
    children: tuple[Derivation, ...] | None

    def __reduce__(self) -> tuple[Callable[..., Derivation], tuple[list[tuple[str, str, int | None]]]]:
        """For pickling and copying, which would recurse as deep as the tree."""
        nodes: list[tuple[str, str, int | None]] = []
        waiting = [self]
        while waiting:
            node = waiting.pop()
            nodes.append((node.name, node.text, None if node.children is None else len(node.children)))
            waiting += node.children or ()
        return _derivation_of, (nodes,)

    def __str__(self) -> str:
        parts: list[str] = []
        waiting: list[Derivation | str] = [self]
        while waiting:
            node = waiting.pop()
            if isinstance(node, str):
                parts.append(node)
            elif node.children is None:
                parts.append(f"{node.name}({quoted(node.text)})" if node.name else quoted(node.text))
            else:
                parts.append(f"{node.name}(")
                waiting.append(")")
                for index, child in enumerate(reversed(node.children)):
                    waiting += [" ", child] if index else [child]
        return "".join(parts)

    def __repr__(self) -> str:
        return f"<Derivation {self}>"


def _derivation_of(nodes: list[tuple[str, str, int | None]]) -> Derivation:
    """The tree of its nodes with the numbers of their children: each before its children, the last first."""
    made: list[Derivation] = []
    for name, text, count in reversed(nodes):
        if count is None:
            made.append(Derivation(name, text, None))
        else:
            children = tuple(made[len(made) - count :])
            del made[len(made) - count :]
            made.append(Derivation(name, text, children))
    return made[0]


@dataclass(frozen=True)
class Determinism:
    """Whether a parser of a grammar always knows what comes next.

    ``str()`` says it in a sentence.

    Attributes:
        kind: ``"top-down"``: the next symbol decides which rule comes next; ``"LR(1)"``: the symbols so far
            and the next one decide which rules end; ``"conflict"``: the grammar is not LR(1), and no
            ambiguous text was found; ``"ambiguous"``: a text has two derivations; ``"unknown"``: a limit was
            reached before an answer.  A grammar that is deterministic from the top down is LR(1) too.
        symbols: what a symbol is: ``"characters"``, or ``"terminals"`` if the lexer reads each text as one
            sequence of terminals.
        prefix: of a conflict, a shortest beginning of a text after which the next symbol does not decide; of
            terminals, their names.
        actions: of a conflict, the two actions that are possible there.
        texts: of a conflict, two texts that begin with the prefix and the same next symbol, one for each
            action; empty if the lexer reads no text as these terminals.  If the grammar is ambiguous, a
            shortest text with two derivations.
        derivations: the two derivations of an ambiguous text.
        reason: why the answer is unknown.
    """

    kind: Literal["top-down", "LR(1)", "conflict", "ambiguous", "unknown"]
    symbols: Literal["characters", "terminals"]
    prefix: str = ""
    actions: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()
    derivations: tuple[Derivation, ...] = ()
    reason: str = ""

    def __str__(self) -> str:
        symbol = self.symbols[:-1]
        if self.kind == "top-down":
            return f"deterministic from the top down: the next {symbol} decides which rule comes next"
        if self.kind == "LR(1)":
            return f"LR(1): the {self.symbols} so far and the next one decide which rules end"
        if self.kind == "ambiguous":
            first, second = self.derivations
            return f"ambiguous: {self.texts[0]!r} has the derivations {first} and {second}"
        if self.kind == "conflict":
            shown = [f", as in {text!r}" for text in self.texts] or ["", ""]
            first_action, second_action = (
                action + text for action, text in zip(self.actions, shown, strict=True)
            )
            return f"not LR(1): after {self.prefix!r}, {first_action}, or {second_action}"
        return f"unknown: {self.reason}"
