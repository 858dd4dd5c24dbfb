"""Derivations with the names of the grammar."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence

from tokamata.patterns.grammars.diagnosis.ambiguous_texts import Tree
from tokamata.patterns.grammars.diagnosis.answers import Derivation
from tokamata.patterns.grammars.rules.productions import Productions

__all__ = ["Naming"]


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
