"""A grammar as productions, in which each alternative of a rule is a sequence of symbols.

Questions about derivations need this plain form.  ``list: "[" (NAME ",")* "]"`` becomes::

    list    →  "["  list.1  "]"
    list.1  →  cell  |  ε
    cell    →  list.2  |  cell  list.2       (if repetitions are written to the left)
    list.2  →  NAME  ","

Groups, optional parts and repetitions are nonterminals of their own, with a :class:`Label` that says what
they are, so that each derivation of the grammar is one of its productions.  Alternatives of a rule that are
the same symbols are one.  Rules that accept no text, and those that the start rule does not lead to, are left
out.

A symbol is a number: a terminal from 0 on, or ``~n`` for the nonterminal ``n``.  The start is nonterminal 0.

Source.  Shortest texts: Knuth, *A generalization of Dijkstra's algorithm*, 1977.  The other analyses are
textbook fixed points (Aho, Lam, Sethi and Ullman, *Compilers*, section 4.4), with sets as bits of numbers.
Cost.  Linear in the symbols, times the rounds of the fixed points.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from tokamata.errors import LimitExceeded
from tokamata.patterns.grammars.rules import rule_trees as trees
from tokamata.resources.limits import CancelToken, Limits, Watch, checked_limits

__all__ = ["Builder", "Label", "Productions", "Symbols", "WorkAccount", "reduced"]

Symbols = tuple[int, ...]

_BYTES_OF_ITEM = 100  # of Python's numbers, tuples and dictionaries, without sets of terminals


class WorkAccount:
    """What a diagnosis has used of its limits.

    Raises:
        LimitExceeded, Cancelled: from all members, when it has used too much.
    """

    def __init__(self, limits: Limits | None, cancel: CancelToken | None) -> None:
        self.watch = Watch(limits, cancel)
        self._limits = checked_limits(limits)
        self._states = 0
        self._bytes = 0
        self._bytes_of_item = _BYTES_OF_ITEM

    def expect_sets(self, terminals: int) -> None:
        """Notes that from now on items have sets of terminals."""
        self._bytes_of_item = _BYTES_OF_ITEM + terminals // 8

    def spend(self, states: int, items: int) -> None:
        """Notes new states, and the items that they hold together."""
        self.watch.check()
        self._states += states
        self._bytes += items * self._bytes_of_item
        if self._states > self._limits.states:
            raise LimitExceeded("states", self._limits.states)
        if self._bytes > self._limits.memory_bytes:
            raise LimitExceeded("memory_bytes", self._limits.memory_bytes)


class Label(NamedTuple):
    """What a nonterminal is.

    Attributes:
        kind: a rule of the grammar; a part of a rule; a terminal that is spelled out; or a helper, which
            belongs to the nonterminal that uses it.
        name: of the rule; that of the rule and a number for a part of it; or of the terminal.
    """

    kind: Literal["rule", "group", "terminal", "helper"]
    name: str


@dataclass
class Productions:
    """A grammar in plain form, reduced: each nonterminal is in some derivation of a text.

    Attributes:
        labels: of each nonterminal.
        alternatives: of each nonterminal.
        terminals: how many there are; their numbers follow each other.
        shortest: by nonterminal, the fewest terminals of its texts.
        shortest_by: by nonterminal, the alternative that has them.
        account: what the analyses may use.
        nullable: the nonterminals that derive the empty text.
        first: by nonterminal, the terminals that its texts begin with, as bits.
    """

    labels: list[Label]
    alternatives: list[list[Symbols]]
    terminals: int
    shortest: list[int]
    shortest_by: list[int]
    account: WorkAccount
    nullable: set[int] = field(init=False)
    first: list[int] = field(init=False)

    def __post_init__(self) -> None:
        self.account.expect_sets(self.terminals)
        self.account.spend(0, 2 * len(self.labels))  # first, follow
        self.nullable = {number for number, length in enumerate(self.shortest) if length == 0}
        self.first = self._fixed_point(self._own_firsts())

    def length(self, symbols: Sequence[int]) -> int:
        """The fewest terminals of a text of some symbols."""
        return sum(1 if symbol >= 0 else self.shortest[~symbol] for symbol in symbols)

    def is_nullable(self, symbol: int) -> bool:
        """Whether a symbol derives the empty text."""
        return symbol < 0 and ~symbol in self.nullable

    def first_of(self, symbol: int) -> int:
        """The terminals that the texts of a symbol begin with, as bits."""
        return 1 << symbol if symbol >= 0 else self.first[~symbol]

    def rests(self, symbols: Symbols) -> list[tuple[int, bool]]:
        """For each position, what the symbols from there on begin with, and whether they may be empty."""
        found = [(0, True)]
        for symbol in reversed(symbols):
            first, is_nullable = found[-1]
            if self.is_nullable(symbol):
                found.append((self.first_of(symbol) | first, is_nullable))
            else:
                found.append((self.first_of(symbol), False))
        return found[::-1]

    def follow(self) -> list[int]:
        """By nonterminal, the terminals that may come after it, as bits; the last bit is the text's end."""
        own = [0] * len(self.alternatives)
        own[0] = 1 << self.terminals
        users: list[list[int]] = [[] for _ in self.alternatives]  # whose follow includes that of this one
        for number, alternatives in enumerate(self.alternatives):
            for symbols in alternatives:
                rests = self.rests(symbols)
                for symbol, (first, is_nullable) in zip(symbols, rests[1:], strict=True):
                    if symbol < 0:
                        own[~symbol] |= first
                        if is_nullable:
                            users[number].append(~symbol)
        return _spread(own, users, self.account)

    def _own_firsts(self) -> list[list[int]]:
        """By nonterminal, the symbols that an alternative may begin with."""
        found: list[list[int]] = []
        for alternatives in self.alternatives:
            heads: dict[int, None] = {}
            for symbols in alternatives:
                for symbol in symbols:
                    heads[symbol] = None
                    if not self.is_nullable(symbol):
                        break
            found.append(list(heads))
        return found

    def _fixed_point(self, heads: list[list[int]]) -> list[int]:
        users: list[list[int]] = [[] for _ in heads]
        own = [0] * len(heads)
        for number, symbols in enumerate(heads):
            for symbol in symbols:
                if symbol >= 0:
                    own[number] |= 1 << symbol
                else:
                    users[~symbol].append(number)
        return _spread(own, users, self.account)


class Builder:
    """Makes the productions of a grammar.

    Args:
        grammar: the grammar.
        leaf: the symbol of a terminal; it may make nonterminals by :meth:`add`.
        direction: how repetitions without a bound are written: to the ``"left"``, ``cell: round | cell
            round``, so that a reader from the left need not know where the repetition ends; or to the
            ``"right"``, ``cell: round cell | ε``, which has no left recursion.
        account: what the work may use.
    """

    def __init__(
        self,
        grammar: trees.Grammar,
        leaf: Callable[[Builder, trees.Terminal], int],
        direction: Literal["left", "right"],
        account: WorkAccount,
    ) -> None:
        self._leaf = leaf
        self._direction = direction
        self._account = account
        self._labels: list[Label] = []
        self._alternatives: list[list[Symbols]] = []
        names = [grammar.start, *(name for name in grammar.rules if name != grammar.start)]
        self._numbers = {name: self.add(Label("rule", name)) for name in names}
        self._groups: dict[int, int] = {}
        self._counts: dict[str, int] = {}  # of groups, by rule
        self._open: list[tuple[int, trees.Node, str]] = []
        for name in names:
            self._open.append((self._numbers[name], grammar.rules[name], name))

    def productions(self, terminals: int) -> Productions | None:
        """The reduced productions; ``None`` if there is no text.

        Args:
            terminals: how many there are.
        """
        while self._open:
            self._account.spend(0, 1)
            number, node, rule = self._open.pop()
            self._fill(number, node, rule)
        return reduced(self._labels, self._alternatives, terminals, self._account)

    def add(self, label: Label, alternatives: Sequence[Symbols] = ()) -> int:
        """A new nonterminal, by its number."""
        self._labels.append(label)
        self._alternatives.append(list(alternatives))
        return len(self._labels) - 1

    def define(self, number: int, alternatives: Sequence[Symbols]) -> None:
        """What a nonterminal derives."""
        self._account.spend(0, sum(map(len, alternatives)) + len(alternatives))
        self._alternatives[number] = list(dict.fromkeys(alternatives))

    def _fill(self, number: int, node: trees.Node, rule: str) -> None:
        if isinstance(node, trees.Repeat):
            self._fill_repeat(number, node, rule)
            return
        found: list[Symbols] = []
        options: list[trees.Node] = [node]
        while options:
            option = options.pop()
            if isinstance(option, trees.Choice):
                options += reversed(option.children)
            else:
                found.append(self._symbols(option, rule))
        self.define(number, found)

    def _symbols(self, node: trees.Node, rule: str) -> Symbols:
        found: list[int] = []
        parts = [node]
        while parts:
            part = parts.pop()
            if isinstance(part, trees.Sequence):
                parts += reversed(part.children)
            elif isinstance(part, trees.Terminal):
                found.append(self._leaf(self, part))
            elif isinstance(part, trees.Reference):
                found.append(~self._numbers[part.rule])
            else:
                found.append(~self._group(part, rule))
        return tuple(found)

    def _group(self, node: trees.Node, rule: str) -> int:
        if id(node) not in self._groups:
            self._counts[rule] = self._counts.get(rule, 0) + 1
            self._groups[id(node)] = self.add(Label("group", f"{rule}.{self._counts[rule]}"))
            self._open.append((self._groups[id(node)], node, rule))
        return self._groups[id(node)]

    def _fill_repeat(self, number: int, node: trees.Repeat, rule: str) -> None:
        once = self._symbols(node.body, rule)
        item = once[0] if len(once) == 1 else ~self._group(node.body, rule)
        needed = (item,) * node.minimum
        if node.maximum is not None:
            more = self._at_most(item, node.maximum - node.minimum, self._labels[number])
            self.define(number, [needed + more])
            return
        cell = self.add(self._labels[number]._replace(kind="helper"))
        if self._direction == "right":
            self.define(cell, [(item, ~cell), ()])
            self.define(number, [(*needed, ~cell)])
        else:
            self.define(cell, [(item,), (~cell, item)])
            self.define(number, [(*needed[1:], ~cell)] + [()] * (node.minimum == 0))

    def _at_most(self, item: int, count: int, label: Label) -> Symbols:
        more: Symbols = ()
        for _ in range(count):
            cell = self.add(label._replace(kind="helper"))
            self.define(cell, [(item, *more), ()])
            more = (~cell,)
        return more


def reduced(
    labels: list[Label], alternatives: list[list[Symbols]], terminals: int, account: WorkAccount
) -> Productions | None:
    """Without what is in no derivation of a text; ``None`` if that is everything."""
    shortest = _shortest(alternatives, account)
    if 0 not in shortest:
        return None
    kept = {0: 0}
    order = [0]
    found: list[list[Symbols]] = []
    for number in order:
        account.watch.check()
        productive = [
            symbols
            for symbols in alternatives[number]
            if all(symbol >= 0 or ~symbol in shortest for symbol in symbols)
        ]
        for symbols in productive:
            for symbol in symbols:
                if symbol < 0 and ~symbol not in kept:
                    kept[~symbol] = len(order)
                    order.append(~symbol)
        found.append(productive)
    plain = [
        [tuple(symbol if symbol >= 0 else ~kept[~symbol] for symbol in symbols) for symbols in options]
        for options in found
    ]
    lengths = [shortest[old][0] for old in order]
    chosen = [found[new].index(shortest[old][1]) for new, old in enumerate(order)]
    return Productions([labels[old] for old in order], plain, terminals, lengths, chosen, account)


def _shortest(alternatives: list[list[Symbols]], account: WorkAccount) -> dict[int, tuple[int, Symbols]]:
    """The fewest terminals of a text of each nonterminal that has one, and the alternative that has them."""
    options = [(number, symbols) for number, found in enumerate(alternatives) for symbols in found]
    users: dict[int, list[int]] = {}  # by nonterminal, the options that use it
    missing: list[int] = []  # by option, how many of its nonterminals have no text yet
    lengths: list[int] = []
    ready: list[tuple[int, int]] = []  # length, option
    for option, (_, symbols) in enumerate(options):
        account.watch.check()
        inner = [~symbol for symbol in symbols if symbol < 0]
        missing.append(len(inner))
        lengths.append(len(symbols) - len(inner))
        for used in inner:
            users.setdefault(used, []).append(option)
        if not inner:
            ready.append((len(symbols), option))
    heapq.heapify(ready)
    shortest: dict[int, tuple[int, Symbols]] = {}
    while ready:
        account.watch.check()
        length, option = heapq.heappop(ready)
        number, symbols = options[option]
        if number in shortest:
            continue
        shortest[number] = (length, symbols)
        for user in users.get(number, ()):
            missing[user] -= 1
            lengths[user] += length
            if not missing[user]:
                heapq.heappush(ready, (lengths[user], user))
    return shortest


def _spread(own: list[int], users: list[list[int]], account: WorkAccount) -> list[int]:
    """The least sets that contain their own bits and those of each set that they are users of."""
    found = list(own)
    waiting = list(range(len(own)))
    is_waiting = [True] * len(own)
    while waiting:
        account.watch.check()
        number = waiting.pop()
        is_waiting[number] = False
        for user in users[number]:
            if found[number] & ~found[user]:
                found[user] |= found[number]
                if not is_waiting[user]:
                    is_waiting[user] = True
                    waiting.append(user)
    return found
