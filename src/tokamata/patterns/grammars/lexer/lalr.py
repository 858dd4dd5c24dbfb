"""A grammar as lark's LALR parser reads it, so that a contextual lexer knows what the parser expects.

Problem.  A contextual lexer looks for the terminals that the parser's state has actions for.  The state
depends on what was read, and a grammar's rules do not have it.
How.  A rule is read from some state, and its symbols lead from that state to others.  So there is a rule for
each pair of a state and a rule that is expected there, and each terminal says which ones the state after it
has actions for: its context.  Most pairs turn out to be alike (:mod:`.lexed`, :mod:`.merging`).

Worked example.  ``start: "a" x "b" | "c" x "d"`` and ``x: NAME`` has states 0 to 8.  The context of ``"a"``
is ``NAME``, and the one of ``NAME`` in both pairs ``(2, x)`` and ``(4, x)`` is ``"b"`` and ``"d"``, as LALR
merges the states after it.  So both pairs are one rule.

Conflicts.  Where a state may shift a terminal or reduce a rule, lark shifts without a word, and so parses
less than the rules say.  There a :class:`.Lookahead` stands at the end of the rule: the terminals before
which lark reduces it.

Source.  The table is lark's own: DeRemer and Pennello, Efficient computation of LALR(1) look-ahead sets,
1982.  Cost: pairs times the length of their rules; Java has 3,500 pairs.
Rejected: a table of our own.  The contexts are what lark's table has actions for, its merged states included.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias

from tokamata.patterns.grammars.lexer.lexer_configurations import END_OF_TEXT
from tokamata.patterns.grammars.rules import rule_trees as trees
from tokamata.resources.limits import Watch

if TYPE_CHECKING:
    from lark.grammar import Rule
    from lark.parsers.lalr_analysis import IntParseTable

__all__ = ["with_contexts"]

_Pair: TypeAlias = tuple[int, str]  # a state, and a rule that is expected there


@dataclass(frozen=True)
class _Expansion:
    """A way to read a rule from a state.

    Attributes:
        items: terminals with their contexts, and the pairs of rules.
        before: the terminals before which the parser reduces the rule.
    """

    items: tuple[trees.Terminal | _Pair, ...]
    before: frozenset[str]


def with_contexts(
    table: IntParseTable,
    rules: Mapping[Rule, Sequence[trees.Node]],
    start: str,
    ignored: tuple[trees.Terminal, ...],
    terminals: tuple[trees.Terminal, ...],
    watch: Watch,
) -> trees.Grammar:
    """The grammar that a parser reads by its table, with the contexts of its terminals.

    Args:
        table: of lark's LALR parser.
        rules: their symbols.
        start: the name of the rule that a text is of.
        ignored, terminals: of the grammar.
        watch: stops the work.

    Raises:
        LimitExceeded, Cancelled: the work was stopped.
    """
    reader = _Reader(table, rules, watch)
    first = (table.start_states[start], start)
    reader.read(first)
    reader.find_follow(first)
    bodies: dict[str, trees.Node] = {}
    for pair, ways in reader.expansions.items():
        bodies[_name(pair)] = trees.Choice(tuple(reader.node(pair, way) for way in ways))
    return trees.Grammar(bodies, _name(first), ignored, terminals, reader.context(first[0]))


class _Reader:
    def __init__(
        self, table: IntParseTable, rules: Mapping[Rule, Sequence[trees.Node]], watch: Watch
    ) -> None:
        self._states: Mapping[int, Mapping[str, tuple[Any, Any]]] = table.states
        self._watch = watch
        self._rules: dict[str, list[tuple[Rule, Sequence[trees.Node]]]] = {}
        for rule, symbols in rules.items():
            self._rules.setdefault(rule.origin.name, []).append((rule, symbols))
        names = {name for state in self._states.values() for name in state}
        self._symbols = frozenset(names - self._rules.keys())  # terminals, and the end
        self._contexts: dict[int, frozenset[str]] = {}
        self._reduced: dict[int, dict[Rule, frozenset[str]]] = {}
        self._terminals: dict[tuple[str, int], trees.Terminal] = {}
        self._follow: dict[_Pair, set[str]] = {}
        self._nullable: set[str] = set()
        self._first: dict[str, set[str]] = {}
        self.expansions: dict[_Pair, list[_Expansion]] = {}

    def context(self, state: int) -> frozenset[str]:
        """The terminals that a state has actions for."""
        if state not in self._contexts:
            self._contexts[state] = frozenset(
                name for name in self._states[state] if name not in self._rules and name != END_OF_TEXT
            )
        return self._contexts[state]

    def read(self, first: _Pair) -> None:
        """Finds all pairs that a pair leads to."""
        waiting = [first]
        while waiting:
            pair = waiting.pop()
            if pair in self.expansions:
                continue
            self._watch.check()
            ways = [self._expansion(rule, symbols, pair[0]) for rule, symbols in self._rules[pair[1]]]
            self.expansions[pair] = ways
            waiting += [item for way in ways for item in way.items if not isinstance(item, trees.Terminal)]

    def _expansion(self, rule: Rule, symbols: Sequence[trees.Node], state: int) -> _Expansion:
        items: list[trees.Terminal | _Pair] = []
        for symbol in symbols:
            if isinstance(symbol, trees.Reference):
                items.append((state, symbol.rule))
                state = self._states[state][symbol.rule][1]
            else:
                assert isinstance(symbol, trees.Terminal), symbol
                state = self._states[state][symbol.name][1]
                items.append(self._terminal(symbol, state))
        return _Expansion(tuple(items), self._reduced_before(state).get(rule, frozenset()))

    def _reduced_before(self, state: int) -> Mapping[Rule, frozenset[str]]:
        """For each rule that the parser reduces in a state, the terminals before which it does."""
        if state not in self._reduced:
            found: dict[Rule, set[str]] = {}
            for name, (_, to) in self._states[state].items():
                if not isinstance(to, int):  # a state to go to
                    found.setdefault(to, set()).add(name)
            self._reduced[state] = {rule: frozenset(names) for rule, names in found.items()}
        return self._reduced[state]

    def _terminal(self, terminal: trees.Terminal, after: int) -> trees.Terminal:
        key = (terminal.name, after)
        if key not in self._terminals:
            self._terminals[key] = replace(terminal, context=self.context(after))
        return self._terminals[key]

    # ---- what may follow ----

    def find_follow(self, first: _Pair) -> None:
        """Finds the terminals that may follow each pair; more than the parser lets follow it."""
        self._find_first()
        self._follow = {pair: set() for pair in self.expansions}
        self._follow[first].add(END_OF_TEXT)
        waiting = dict.fromkeys(self.expansions)
        while waiting:
            self._watch.check()
            pair = next(iter(waiting))
            del waiting[pair]
            for way in self.expansions[pair]:
                after = self._follow[pair]
                for item in reversed(way.items):
                    if isinstance(item, trees.Terminal):
                        after = {item.name}
                        continue
                    if not after <= self._follow[item]:
                        self._follow[item] |= after
                        waiting[item] = None
                    first_of = self._first[item[1]]
                    after = after | first_of if item[1] in self._nullable else first_of

    def _find_first(self) -> None:
        self._first = {rule: set() for rule in self._rules}
        is_growing = True
        while is_growing:
            self._watch.check()
            is_growing = False
            for rule, ways in self._rules.items():
                for _, symbols in ways:
                    is_growing |= self._note_first(rule, symbols)

    def _note_first(self, rule: str, symbols: Sequence[trees.Node]) -> bool:
        first = self._first[rule]
        size = len(first)
        for symbol in symbols:
            if isinstance(symbol, trees.Terminal):
                first.add(symbol.name)
                break
            assert isinstance(symbol, trees.Reference), symbol
            first |= self._first[symbol.rule]
            if symbol.rule not in self._nullable:
                break
        else:
            if rule not in self._nullable:
                self._nullable.add(rule)
                return True
        return len(first) > size

    def node(self, pair: _Pair, way: _Expansion) -> trees.Node:
        """The texts that are read in a way."""
        items: list[trees.Node] = [
            item if isinstance(item, trees.Terminal) else trees.Reference(_name(item)) for item in way.items
        ]
        excluded = self._follow[pair] - way.before
        if excluded:  # what cannot follow is named besides, so that few lookaheads differ
            items.append(trees.Lookahead(self._symbols - excluded))
        return items[0] if len(items) == 1 else trees.Sequence(tuple(items))


def _name(pair: _Pair) -> str:
    return f"{pair[1]} {pair[0]}"
