"""The rules of a Lark file as lark's parsers have them: sequences of symbols.

Problem.  lark distributes the groups of a sequence, so ``("a"|"b")`` written 24 times becomes 2^24 sequences;
so are optional items, repetitions and placeholders.
How.  Groups are distributed while a rule stays small.  Beyond that, a group becomes a rule of its own.  Its
name begins with ``__``, as those of lark's repetitions, so that trees do not show it::

    start: ("a"|"b") ("a"|"b") …   ──▶   start: __start_group_0 __start_group_0 …
                                         __start_group_0: "a" | "b"

The size that a group would have is known before it is distributed (:class:`_Size`).  Small rules are exactly
those of lark.

Cost.  Linear in the grammar with its templates written out, times ``most_symbols``.
Rejected: to count what lark would make and refuse more, which refuses grammars that are small as rules.
"""

# lark's loader has no types.
# mypy: disable-error-code="no-untyped-call"

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from copy import copy
from typing import Any, NamedTuple

from lark import Tree
from lark.exceptions import GrammarError
from lark.grammar import NonTerminal, Rule, RuleOptions, Symbol, Terminal
from lark.load_grammar import (
    _EMPTY,
    REPEAT_BREAK_THRESHOLD,
    SMALL_FACTOR_THRESHOLD,
    ApplyTemplates,
    EBNF_to_BNF,
    Grammar,
    PrepareAnonTerminals,
    PrepareLiterals,
    RuleTreeToText,
    SimplifyRule_Visitor,
    ValidateSymbols,
)
from lark.tree import SlottedTree
from lark.visitors import Transformer_NonRecursive

from tokamata.patterns.grammars.files.lark_definitions import subtrees
from tokamata.patterns.grammars.files.lark_steps import Stepping, Symbols
from tokamata.resources.bounded_steps import BYTES_OF_ITEM, step

__all__ = ["Rules"]

_MOST_GROUPS = 50  # in one sequence, of one alternative each


class Rules:
    """The rules of a grammar.

    Args:
        grammar: its definitions.
        terminals: those that have names; to these, others are added.
        start: the names of the rules that texts are of.
        most_symbols: of the sequences that the groups of one sequence are distributed to.

    Attributes:
        used: one rule for each sequence of symbols, without rules that no other rule uses.
        grouped: the first rule of which a group became a rule, or ``""``.
    """

    def __init__(self, grammar: Grammar, terminals: list[Any], start: list[str], most_symbols: int) -> None:
        trees, self.grouped = _trees(grammar, terminals, most_symbols)
        if len({name for name, _, _ in trees}) < len(trees):
            raise GrammarError("two rules have the same name")
        self.used = _used(_unique([rule for tree in trees for rule in _sequences(*tree)]), start)


def _trees(
    grammar: Grammar, terminals: list[Any], most_symbols: int
) -> tuple[list[tuple[str, Any, Any]], str]:
    """The name, the alternatives and the options of each rule; the first rule of which a group became one."""
    copied = _Copy(False)
    rule_defs = [
        (name, parameters, copied.transform(tree), options)
        for name, parameters, tree, options in grammar.rule_defs
    ]
    anonymous = _Anonymous(terminals)
    symbols = _Literals() * _Values() * anonymous * _Templates(rule_defs)  # the last adds to rule_defs
    repetitions = _Repetitions(most_symbols)
    trees = []
    for name, parameters, tree, options in rule_defs:
        if parameters:
            continue
        keeps_all = options and options.keep_all_tokens
        own = RuleOptions(keep_all_tokens=True) if keeps_all else None
        repetitions.rule_options = anonymous.rule_options = own
        repetitions.prefix = name
        trees.append((name, repetitions.transform(symbols.transform(tree)), options))
    return trees + repetitions.new_rules, repetitions.grouped


class _Size(NamedTuple):
    """What lark would distribute a tree to.

    Attributes:
        sequences: how many.
        symbols: in all of them together, and one more for each.
        shown: the most symbols of one of them that a tree shows; so many placeholders stand for them.
    """

    sequences: int
    symbols: int
    shown: int


class _Templates(Stepping, ApplyTemplates):
    def _call_userfunc(self, tree: Any, *arguments: Any) -> Any:
        if tree.data == "template_usage":
            step(sum(len(part.name) for part in tree.children) // BYTES_OF_ITEM)
        return super()._call_userfunc(tree, *arguments)


class _Literals(Stepping, PrepareLiterals):
    pass


class _Values(Stepping, ValidateSymbols):
    pass


class _Anonymous(Stepping, PrepareAnonTerminals):
    pass


class _Simplified(Stepping, SimplifyRule_Visitor):
    pass


class _Copy(Stepping, Transformer_NonRecursive[Any, Any]):
    """Copies trees and symbols: what a rule shows of its terminals is noted in its symbols."""

    items = 5

    def __default__(self, data: Any, children: list[Any], meta: Any) -> Any:
        copied = [child.renamed(str) if isinstance(child, Symbol) else child for child in children]
        return super().__default__(data, copied, meta)


class _Repetitions(Stepping, EBNF_to_BNF):
    """Repetitions, options and placeholders as alternatives and rules; large groups become rules too.

    Attributes:
        grouped: the first rule of which a group became a rule, or ``""``.
    """

    def __init__(self, most_symbols: int) -> None:
        super().__init__()
        self.grouped = ""
        self._most_symbols = most_symbols
        self._sizes: dict[int, tuple[_Size, Any]] = {}  # by tree, which stays alive and keeps its number
        self._seen: set[int] = set()  # its keys
        self._shown: dict[str, int] = {}  # of the rules that groups became

    def _call_userfunc(self, tree: Any, *arguments: Any) -> Any:
        if tree.data == "expansion":
            if len(tree.children) > _MOST_GROUPS:  # lark nests a call for each
                tree.children = [_without_brackets(child) for child in tree.children]
            self._reduce(tree, len(tree.children), lambda sizes: _in_sequence(sizes).symbols)
        elif tree.data == "expr" and tree.children[1] == "~":
            bounds = list(map(int, tree.children[2:]))
            self._reduce(tree, 1, lambda sizes: _repeated(sizes[0], bounds[0], bounds[-1]))
        elif tree.data == "maybe":
            return self._with_placeholders(tree.children[0])
        return super()._call_userfunc(tree, *arguments)

    def _reduce(self, tree: Any, count: int, whole: Callable[[list[_Size]], int]) -> None:
        """Makes rules of the groups in a tree if they would be distributed to too many symbols.

        Args:
            count: the first children are these items.
            whole: the symbols, by the sizes of the items.
        """
        sizes = [self._size(item) for item in tree.children[:count]]
        if whole(sizes) > max(self._most_symbols, 4 * sum(size.symbols for size in sizes)):
            for index, size in enumerate(sizes):
                if size.sequences > 1:
                    tree.children[index] = self._rule_of(tree.children[index])
                    sizes[index] = self._size(tree.children[index])
        step(whole(sizes) // 4)

    def _rule_of(self, group: Any) -> Any:
        self.grouped = self.grouped or str(self.prefix)
        key = ("group", self._keeps_all, group)
        if key not in self.rules_cache:
            name = self._name_rule("group")
            self._shown[name] = self._size(group).shown
            tree = SlottedTree("expansions", [SlottedTree("expansion", [group])])
            self._add_rule(key, name, tree)
        return self.rules_cache[key]

    def _with_placeholders(self, item: Any) -> Any:
        shown = self._size(item).shown
        step(shown)
        return SlottedTree("expansions", [item, SlottedTree("expansion", [_EMPTY] * shown)])

    @property
    def _keeps_all(self) -> bool:
        return bool(self.rule_options and self.rule_options.keep_all_tokens)

    def _size(self, item: Any) -> _Size:
        if not isinstance(item, Tree):
            return _Size(1, 1, self._shown_of(item))
        for tree in subtrees(item, self._seen):
            children = tree.children[:1] if tree.data == "alias" else tree.children
            sizes = [
                self._sizes[id(child)][0] if isinstance(child, Tree) else _Size(1, 1, self._shown_of(child))
                for child in children
            ]
            size = _in_sequence(sizes) if tree.data == "expansion" else _in_choice(sizes)
            self._sizes[id(tree)] = (size, tree)
        return self._sizes[id(item)][0]

    def _shown_of(self, symbol: Any) -> int:
        """How many children of a tree a symbol becomes."""
        if isinstance(symbol, NonTerminal):
            return self._shown.get(symbol.name, int(not symbol.name.startswith("_")))
        if isinstance(symbol, Terminal):
            return int(self._keeps_all or not symbol.filter_out)
        return 0


def _without_brackets(item: Any) -> Any:
    """What a group with one alternative contains."""
    while isinstance(item, Tree) and item.data in ("expansions", "expansion") and len(item.children) == 1:
        item = item.children[0]
    return item


def _in_sequence(sizes: list[_Size]) -> _Size:
    sequences = math.prod(size.sequences for size in sizes)
    symbols = sequences + sum(size.symbols * (sequences // (size.sequences or 1)) for size in sizes)
    return _Size(sequences, symbols, sum(size.shown for size in sizes))


def _in_choice(sizes: list[_Size]) -> _Size:
    return _Size(
        sum(size.sequences for size in sizes),
        sum(size.symbols for size in sizes),
        max((size.shown for size in sizes), default=0),
    )


def _repeated(body: _Size, least: int, most: int) -> int:
    """The symbols of repetitions; of many, lark makes rules that have at most five each."""
    if most >= REPEAT_BREAK_THRESHOLD:
        least, most = 1, SMALL_FACTOR_THRESHOLD
    counts = range(max(least, 0), most + 1)
    return sum(_in_sequence([body] * count).symbols for count in counts)


def _sequences(name: str, tree: Any, options: Any) -> Iterator[Any]:
    """The rules of lark's parsers: one for each sequence of symbols."""
    _Simplified().visit(tree)
    for order, (found, alias) in enumerate(RuleTreeToText().transform(tree)):
        step(5 + len(found) // 4)
        if alias and name.startswith("_"):
            reason = "is marked for expansion (it starts with an underscore) and may not have aliases"
            raise GrammarError(f"Rule {name} {reason} (alias={alias})")
        own = options
        is_empty = tuple(symbol is _EMPTY for symbol in found)
        if any(is_empty):
            own = copy(options) or RuleOptions()
            own.empty_indices = is_empty
        symbols = Symbols(symbol for symbol in found if symbol is not _EMPTY)
        if own and own.keep_all_tokens:
            for symbol in symbols:
                if symbol.is_term:
                    symbol.filter_out = False
        yield Rule(NonTerminal(name), symbols, order, alias, own)


def _unique(rules: list[Any]) -> list[Any]:
    """Without the second of two empty rules; two others that are the same are an error."""
    found: dict[Any, Any] = {}
    for rule in rules:
        step()
        if found.setdefault(rule, rule) is not rule and rule.expansion:
            both = f"\n  * {found[rule]}\n  * {rule}"
            hint = "(Might happen due to colliding expansion of optionals: [] or ?)"
            raise GrammarError(f"Rules defined twice: {both}\n\n{hint}")
    return list(found)


def _used(rules: list[Any], start: list[str]) -> list[Any]:
    """Without rules that no other rule uses, and again without those that only these used."""
    users: dict[str, int] = {}  # how often other rules use each
    by_name: dict[str, list[Any]] = {}
    for rule in rules:
        by_name.setdefault(rule.origin.name, []).append(rule)
        for name in _uses(rule):
            users[name] = users.get(name, 0) + 1
    waiting = [name for name in by_name if name not in users and name not in start]
    unused = set(waiting)
    while waiting:
        for rule in by_name[waiting.pop()]:
            for name in _uses(rule):
                users[name] -= 1
                if not users[name] and name not in start and name in by_name:
                    unused.add(name)
                    waiting.append(name)
    return [rule for rule in rules if rule.origin.name not in unused]


def _uses(rule: Any) -> list[str]:
    own = rule.origin.name
    return [symbol.name for symbol in rule.expansion if not symbol.is_term and symbol.name != own]
