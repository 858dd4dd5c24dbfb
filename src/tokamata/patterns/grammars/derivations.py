"""Derivations of texts, as trees with the names of the grammar."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from dataclasses import dataclass

from tokamata.patterns.grammars.ambiguity import Tree
from tokamata.patterns.grammars.productions import Productions
from tokamata.patterns.grammars.syntax import quoted

__all__ = ["Derivation", "Naming"]


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


def _quoted(text: str) -> str:
    escaped = "".join(
        character if character.isprintable() and character not in '"\\' else repr(character)[1:-1]
        for character in text
    )
    return '"' + escaped.replace('"', '\\"') + '"'


class Naming:
    """The names of nonterminals and symbols, as the grammar has them.

    Args:
        productions: the nonterminals.
        terminals: the names of the symbols, if they are terminals.
        literals: the names of terminals that the grammar writes as texts.
        is_product: the nonterminals are those of :mod:`.lexed`, which has added groups, and numbers to the
            names of rules.
        is_framed: the start is a rule that was added, for what is ignored before the grammar's own.
    """

    def __init__(
        self,
        productions: Productions,
        terminals: Sequence[str],
        literals: Container[str],
        is_product: bool,
        is_framed: bool,
    ) -> None:
        self._labels = productions.labels
        self._terminals = terminals
        self._literals = literals
        self._is_product = is_product
        self._is_framed = is_framed

    def named(self, root: Tree, texts: Iterable[str]) -> Derivation:
        """A tree of the productions, with the text of each leaf, as a tree of the rules."""
        found = self._nodes(root, texts)[0]
        return found.children[-1] if self._is_framed and found.children else found

    def terminals(self, root: Tree, texts: Iterable[str]) -> Iterator[Derivation]:
        """The terminals of a tree over characters."""
        waiting = list(self._nodes(root, texts))[::-1]
        while waiting:
            node = waiting.pop()
            if node.children is None:
                yield node
            else:
                waiting += reversed(node.children)

    def part(self, nonterminal: int) -> str:
        """What a nonterminal is, in words."""
        kind, name = self._labels[nonterminal]
        if kind == "terminal":
            return f"the terminal {name}"
        return self._shown(name)

    def _nodes(self, root: Tree, texts: Iterable[str]) -> list[Derivation]:
        rest = iter(texts)
        found: list[list[Derivation]] = [[]]  # by open node of the tree, its children
        spelled: list[list[str]] = [[]]
        waiting: list[tuple[Tree, bool]] = [(root, False)]
        while waiting:
            node, is_done = waiting.pop()
            if node.symbol >= 0:
                spelled[-1].append(next(rest))
                if self._terminals:
                    found[-1].append(self._leaf(self._terminals[node.symbol], spelled[-1][-1]))
            elif not is_done:
                found.append([])
                spelled.append([])
                waiting.append((node, True))
                waiting += [(child, False) for child in reversed(node.children)]
            else:
                children, text = found.pop(), "".join(spelled.pop())
                spelled[-1].append(text)
                found[-1] += self._node(~node.symbol, text, children)
        return found[0]

    def _node(self, number: int, text: str, children: list[Derivation]) -> list[Derivation]:
        kind, name = self._labels[number]
        if kind == "terminal":
            return [self._leaf(name, text)]
        if kind == "helper" or (kind == "group" and self._is_product):
            return children
        return [Derivation(self._shown(name), text, tuple(children))]

    def _leaf(self, name: str, text: str) -> Derivation:
        return Derivation("" if name in self._literals else name, text, None)

    def _shown(self, name: str) -> str:
        """A name as the grammar has it; lark's loader calls the repetitions of a rule ``__rule_star_0``."""
        return (name.rpartition(" ")[0] if self._is_product else name).removeprefix("__")
