"""A grammar as productions over symbols that do not overlap: its characters, or its terminals.

Under the lexers ``basic``, ``contextual`` and ``longest``, each text is one sequence of terminals, so symbols
are terminals, without those that are ignored.  Elsewhere terminals may overlap, and symbols are classes of
characters: each terminal is spelled out (:mod:`.spelled_terminals`), together with what is ignored after it.
Under ``dynamic``, what the lexer knows becomes part of the rules first (:mod:`.lexed`), so a rule may be
there several times.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import ClassVar, Literal, cast

import tokamata._core as _core
from tokamata.errors import EmptyConstraintError
from tokamata.patterns.grammars.diagnosis.ambiguous_texts import Tree, shortest_tree
from tokamata.patterns.grammars.diagnosis.named_derivations import Naming
from tokamata.patterns.grammars.diagnosis.spelled_terminals import SpelledTerminals
from tokamata.patterns.grammars.lexer.competition import LexerName
from tokamata.patterns.grammars.lexer.lexed import without_lexer
from tokamata.patterns.grammars.rules import rule_trees as trees
from tokamata.patterns.grammars.rules.productions import Builder, Productions, WorkAccount
from tokamata.resources.limits import CancelToken, Limits, checked_limits

__all__ = ["Characters", "Terminals", "View", "with_ignored"]

Direction = Literal["left", "right"]  # see Builder


@dataclass(eq=False)
class View(ABC):
    """A grammar over some symbols.

    Attributes:
        grammar: the grammar.
        lexer: how its terminals are distinguished.
        limits, cancel: bound each automaton of a terminal.
        account: what the work may use.
    """

    grammar: trees.Grammar
    lexer: str
    limits: Limits | None
    cancel: CancelToken | None
    account: WorkAccount
    symbols: ClassVar[Literal["characters", "terminals"]]

    @abstractmethod
    def productions(self, direction: Direction) -> Productions:
        """Those of the grammar, with its repetitions to the left or to the right.

        Raises:
            EmptyConstraintError: the grammar has no text.
            LimitExceeded, Cancelled: the work was stopped.
        """

    @abstractmethod
    def texts(self, symbols: Iterable[int]) -> list[str] | None:
        """A text of each symbol, which are in that order a text of the grammar; ``None``: there is none."""

    @abstractmethod
    def shown(self, prefix: Iterable[int]) -> str:
        """The symbols that a text begins with."""

    @abstractmethod
    def naming(self, productions: Productions) -> Naming:
        """The names of its nonterminals and symbols."""

    def _directed(self, direction: Direction) -> trees.Grammar:
        return _with_lists_to_the_right(self.grammar) if direction == "right" else self.grammar

    def _spelled(self, grammar: trees.Grammar) -> SpelledTerminals:
        return SpelledTerminals(grammar, checked_limits(self.limits), self.cancel, self.account)


@dataclass(eq=False)
class Characters(View):
    """A grammar over classes of characters; its lexer is ``"characters"`` or ``"dynamic"``."""

    symbols = "characters"
    _characters: list[str] = field(default_factory=list, init=False)

    @property
    def _is_product(self) -> bool:
        return self.lexer == "dynamic"

    def productions(self, direction: Direction) -> Productions:
        """As in :class:`View`."""
        grammar = self._directed(direction)
        if self._is_product:
            grammar = without_lexer(grammar, "dynamic", self.account.watch, keeps_rules_apart=True)
        else:
            grammar = with_ignored(grammar)
        spelling = self._spelled(_with_terminals_alone(grammar))
        self._characters = spelling.characters
        return _not_empty(spelling.productions(direction))

    def texts(self, symbols: Iterable[int]) -> list[str] | None:
        """As in :class:`View`."""
        return [self._characters[symbol] for symbol in symbols]

    def shown(self, prefix: Iterable[int]) -> str:
        """As in :class:`View`."""
        return "".join(self._characters[symbol] for symbol in prefix)

    def naming(self, productions: Productions) -> Naming:
        """As in :class:`View`."""
        is_framed = self._is_product or bool(self.grammar.ignored)
        return Naming(productions, (), _literals(self.grammar), self._is_product, is_framed)


@dataclass(eq=False)
class Terminals(View):
    """A grammar over its terminals; its lexer is ``"basic"``, ``"contextual"`` or ``"longest"``."""

    symbols = "terminals"
    _numbers: dict[str, int] = field(default_factory=dict, init=False)
    _nodes: list[trees.Terminal] = field(default_factory=list, init=False)

    def productions(self, direction: Direction) -> Productions:
        """As in :class:`View`."""
        grammar = self._directed(direction)
        builder = Builder(grammar, self._leaf, direction, self.account)
        declared = 2 if grammar.indentation is not None else 0  # they are no terminals of the lexer
        return _not_empty(builder.productions(len(grammar.terminals) + declared))

    def texts(self, symbols: Iterable[int]) -> list[str] | None:
        """As in :class:`View`; what is ignored belongs to the terminal before it."""
        items = tuple(self._nodes[symbol] for symbol in symbols)
        given = self.grammar
        grammar = trees.Grammar({"text": trees.Sequence(items)}, "text", given.ignored, given.terminals)
        # What basic reads as terminals that the parser expects, contextual reads in the same way.
        lexer = cast(LexerName, "basic" if self.lexer == "contextual" else self.lexer)
        grammar = without_lexer(grammar, lexer, self.account.watch)
        spelling = self._spelled(grammar)
        productions = spelling.productions("left")
        if productions is None:
            return None
        root = Tree(~0)
        shortest_tree(productions, root)
        texts = [spelling.characters[symbol] for symbol in root.leaves()]
        found = [terminal.text for terminal in Naming(productions, (), (), True, True).terminals(root, texts)]
        while len(found) > len(items):  # what is ignored at the start
            found[:2] = ["".join(found[:2])]
        return found

    def shown(self, prefix: Iterable[int]) -> str:
        """As in :class:`View`: the names of the terminals, or what they are."""
        words = self.grammar.words
        return " ".join(self._nodes[symbol].shown(words) for symbol in prefix)

    def naming(self, productions: Productions) -> Naming:
        """As in :class:`View`."""
        terminals = [node.name for node in self._nodes]
        return Naming(productions, terminals, _literals(self.grammar), False, False)

    def _leaf(self, _: Builder, terminal: trees.Terminal) -> int:
        if terminal.name not in self._numbers:
            self._numbers[terminal.name] = len(self._nodes)
            self._nodes.append(terminal)
        return self._numbers[terminal.name]


def _not_empty(productions: Productions | None) -> Productions:
    if productions is None:
        raise EmptyConstraintError("no text matches: the start rule needs a text of a rule that has none")
    return productions


def _literals(grammar: trees.Grammar) -> set[str]:
    """The names of terminals that are written as texts."""
    nodes = trees.children_first(grammar.rules.values())
    return {node.name for node in nodes if isinstance(node, trees.Terminal) and node.texts}


def with_ignored(grammar: trees.Grammar) -> trees.Grammar:
    """With ignored texts at the start and after each terminal, as part of it."""
    if not grammar.ignored:
        return grammar
    some = _core.repeat(_core.union([one.expression for one in grammar.ignored]), 1, None)
    after = _core.union([some, _core.epsilon()])

    def leaf(node: trees.Node) -> trees.Node:
        if isinstance(node, trees.Terminal | trees.Embedded):
            return trees.Terminal(node.name, _core.concat([node.expression, after]), own=node.expression)
        return node

    begin = trees.Choice((trees.Terminal("ignored", some), trees.Sequence(())))
    start: trees.Node = trees.Sequence((begin, trees.Reference(grammar.start)))
    return trees.Grammar({**_rewritten_rules(grammar, leaf), "": start}, "")


def _with_terminals_alone(grammar: trees.Grammar) -> trees.Grammar:
    """With regular constraints in rules as terminals."""

    def leaf(node: trees.Node) -> trees.Node:
        return trees.Terminal(node.name, node.expression) if isinstance(node, trees.Embedded) else node

    return replace(grammar, rules=_rewritten_rules(grammar, leaf))


def _rewritten_rules(
    grammar: trees.Grammar, leaf: Callable[[trees.Node], trees.Node]
) -> dict[str, trees.Node]:
    """Its rules with other leaves, one for each leaf."""
    made: dict[int, trees.Node] = {}

    def once(node: trees.Node) -> trees.Node:
        if id(node) not in made:
            made[id(node)] = leaf(node)
        return made[id(node)]

    return {name: trees.rewritten(body, once) for name, body in grammar.rules.items()}


def _with_lists_to_the_right(grammar: trees.Grammar) -> trees.Grammar:
    """``__x: item | __x item``, as lark's loader writes a repetition, becomes ``__x: item more``."""
    rules: dict[str, trees.Node] = {}
    for name, body in grammar.rules.items():
        rounds = _rounds(name, body) if name.startswith("__") else None
        if rounds is None:
            rules[name] = body
        else:
            more = f"{name} more"
            rules[name] = trees.Sequence((trees.Choice(rounds), trees.Reference(more)))
            rules[more] = trees.Choice((trees.Reference(name), trees.Sequence(())))
    return replace(grammar, rules=rules)


def _rounds(name: str, body: trees.Node) -> tuple[trees.Node, ...] | None:
    """What a rule repeats, if it is a repetition."""
    once: dict[tuple[str, ...], trees.Node] = {}
    more: set[tuple[str, ...]] = set()
    for option in body.children if isinstance(body, trees.Choice) else (body,):
        items = option.children if isinstance(option, trees.Sequence) else (option,)
        if any(isinstance(item, (trees.Choice, trees.Repeat, trees.Sequence)) for item in items):
            return None
        names = tuple(
            item.rule
            if isinstance(item, trees.Reference)
            else f" {cast(trees.Terminal | trees.Embedded, item).name}"
            for item in items
        )
        if names[:1] == (name,):
            more.add(names[1:])
        else:
            once[names] = option
    return tuple(once.values()) if more == set(once) else None
