"""Rules that end with themselves, as repetitions.

Problem.  BNF has no repetition, so people write ``chars: "" | char chars``.  For the engine that is a stack
with a rule on it: each character has states of its own, and a token of twenty letters is followed letter by
letter. As ``char*`` it is a terminal, whose effect on a vocabulary is computed once for all grammars.

Worked example.  ``chars: '"' | plain chars | "\\\\" escaped chars``.  A text of ``chars`` is some rounds,
each ``plain`` or ``"\\\\" escaped``, and then ``'"'``::

    chars: (plain | "\\\\" escaped)* '"'

How.  The rules' right-hand sides are equations between languages.  A rule that ends with itself is ``X = P
(A X | B)``: *P* is what all alternatives begin with, *A* are *rounds* that go on with the rule, *B* are the
ends.  The least solution is ``X = P (A P)* B``; *A*, *P* and *B* may hold the rule as well, elsewhere than
at the end.  Rules that end with each other are solved one after the other (Gauss): each is put in place of
the references to it at the ends of those not yet solved.  Rules are taken in the order in which they depend
on each other.

What is left as it is:

- A rule that also begins with itself: :mod:`.left_recursion` has it.
- A rule whose rounds and ends begin alike, such as ``X: a "," X | a`` if they were not factored.  The engine
  would read their beginning twice.  Where all is regular it does not, since it makes one automaton.
- Several rules that end with each other and are not regular: statements that end with statements.  It would
  copy them into one another.

Source.  Arden's lemma, *Delayed-logic and finite-state machines*, 1961; that the least solution of a system
stays the same, where one equation is solved for its own variable alone, is Bekić's theorem.
Cost.  Linear in the rules; the solved rules of a cycle have no more than a bound of nodes together.
Rejected: recognizing the most frequent shapes.  There are many, with empty alternatives and without.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from graphlib import TopologicalSorter
from typing import NamedTuple, TypeAlias

from tokamata.patterns.grammars.rules import rule_trees as trees
from tokamata.patterns.grammars.rules.left_recursion import components
from tokamata.resources.limits import Watch

__all__ = ["without_right_recursion"]

_LARGEST = 200  # nodes of rules that end with each other, once they are solved

_Symbols: TypeAlias = tuple[trees.Node, ...]


class _End(NamedTuple):
    """One way through a rule: what is read, and the rule that it goes on with, if it does."""

    symbols: _Symbols
    rule: str | None


def without_right_recursion(rules: Mapping[str, trees.Node], watch: Watch) -> dict[str, trees.Node]:
    """The rules that end with themselves or with each other, written as repetitions.

    Equal parts of ``rules`` are one object, and alternatives are factored.
    """
    return _Solver(rules, watch).solved()


class _Solver:
    def __init__(self, rules: Mapping[str, trees.Node], watch: Watch) -> None:
        self._watch = watch
        self._rules = dict(rules)
        self._solved: dict[str, trees.Node] = {}
        self._regular: set[str] = set()  # of the rules that were examined

    def solved(self) -> dict[str, trees.Node]:
        uses = {name: _references(body) & self._rules.keys() for name, body in self._rules.items()}
        cycles = components(uses)
        cycle_of = {name: number for number, names in enumerate(cycles) for name in names}
        after: dict[str | int, set[str | int]] = {}
        for name, used in uses.items():
            group: str | int = cycle_of.get(name, name)
            after.setdefault(group, set()).update(cycle_of.get(other, other) for other in used)
        for group, others in after.items():
            others.discard(group)
        for group in TopologicalSorter(after).static_order():
            self._watch.check()
            if isinstance(group, int):
                self._solve_cycle(cycles[group])
            elif self._is_regular(group, ()):
                self._regular.add(group)
        return self._solved

    def _solve_cycle(self, names: list[str]) -> None:
        ends = {
            name: {end.rule for end in self._ends(self._rules[name], names) if end.rule} for name in names
        }
        for component in components(ends):
            if len(component) == 1:
                self._solve_one(component[0])
            elif all(self._is_regular(name, component) for name in component):
                self._solve_several(component)
        left = {name: _references(self._rules[name]) & set(names) for name in names}
        if not components(left) and all(self._is_regular(name, names) for name in names):
            self._regular.update(names)

    def _is_regular(self, name: str, inside: Collection[str]) -> bool:
        """Whether a rule is made of regular parts and rules, and of some others."""
        return all(
            node.rule in self._regular or node.rule in inside
            if isinstance(node, trees.Reference)
            else node.is_regular
            if isinstance(node, trees.Embedded)
            else isinstance(node, (trees.Terminal, trees.Sequence, trees.Choice, trees.Repeat))
            for node in trees.children_first([self._rules[name]])
        )

    def _replace(self, name: str, body: trees.Node) -> None:
        self._rules[name] = self._solved[name] = body

    def _solve_one(self, name: str) -> None:
        body = self._rules[name]
        begin: _Symbols = ()
        if isinstance(body, trees.Sequence):
            *all_begin, body = body.children
            begin = tuple(all_begin)
        found = self._ends(body, [name])
        rounds = dict.fromkeys(end.symbols for end in found if end.rule)
        others = dict.fromkeys(end.symbols for end in found if not end.rule)
        if not others or any(_begins_with(symbols, name) for symbols in [begin, *rounds, *others]):
            return
        beginnings = {id(symbols[0]) for symbols in rounds if symbols}
        if any(symbols and id(symbols[0]) in beginnings for symbols in others) and not (
            self._is_regular(name, [name]) and _only_ends_with([*rounds, *others, begin], [name])
        ):
            return
        self._replace(name, _repeated(begin, list(rounds), list(others)))

    def _solve_several(self, names: list[str]) -> None:
        """Each rule is put into those after it, as far as it ends them."""
        inside = set(names)
        ways = {name: self._ends(self._rules[name], inside) for name in names}
        if any(not _only_ends_with([end.symbols for end in found], inside) for found in ways.values()):
            return
        made: dict[str, trees.Node] = {}
        for number, name in enumerate(names):
            for earlier in names[:number]:
                ways[name] = [
                    _End(way.symbols + end.symbols, end.rule) if way.rule == earlier else way
                    for way in ways[name]
                    for end in (ways[earlier] if way.rule == earlier else [way])
                ]
            rounds = list(dict.fromkeys(way.symbols for way in ways[name] if way.rule == name))
            others = [way for way in ways[name] if way.rule != name]
            if not others:
                return
            if rounds := [symbols for symbols in rounds if symbols]:
                again = trees.Repeat(_choice(rounds), 0, None)
                others = [_End((again, *way.symbols), way.rule) for way in others]
            ways[name] = others
            made[name] = _choice(
                [(*way.symbols, trees.Reference(way.rule)) if way.rule else way.symbols for way in others]
            )
            if sum(trees.tree_size(body, {}) for body in made.values()) > _LARGEST:
                return
        for name, body in made.items():
            self._replace(name, body)

    def _ends(self, body: trees.Node, rules: Collection[str]) -> list[_End]:
        """The alternatives of a body, distinguished as far as they continue with one of some rules."""
        holds: set[int] = set()
        for node in trees.children_first([body]):
            if any(id(child) in holds for child in node.children) or (
                isinstance(node, trees.Reference) and node.rule in rules
            ):
                holds.add(id(node))
        found: list[_End] = []
        open_nodes: list[tuple[_Symbols, trees.Node]] = [((), body)]
        while open_nodes:
            self._watch.check()
            before, node = open_nodes.pop()
            if id(node) not in holds:
                found.append(_End((*before, *_symbols(node)), None))
            elif isinstance(node, trees.Reference):
                found.append(_End(before, node.rule))
            elif isinstance(node, trees.Choice):
                open_nodes += [(before, child) for child in reversed(node.children)]
            elif isinstance(node, trees.Sequence):
                open_nodes.append(((*before, *node.children[:-1]), node.children[-1]))
            elif isinstance(node, trees.Repeat) and (node.minimum, node.maximum) == (0, 1):
                open_nodes += [(before, trees.Sequence(())), (before, node.body)]
            else:
                found.append(_End((*before, node), None))
        return found


def _repeated(begin: _Symbols, rounds: list[_Symbols], others: list[_Symbols]) -> trees.Node:
    """``begin (rounds begin)* others``."""
    complete = [symbols + begin for symbols in rounds if symbols or begin]
    repeated: _Symbols = begin
    if begin and rounds == [()]:
        repeated = (trees.Repeat(_joined(begin), 1, None),)
    elif complete:
        repeated = (*begin, trees.Repeat(_choice(complete), 0, None))
    return _joined(repeated + _symbols(_choice(others)))


def _choice(options: list[_Symbols]) -> trees.Node:
    nodes = tuple(map(_joined, options))
    return nodes[0] if len(nodes) == 1 else trees.Choice(nodes)


def _joined(symbols: _Symbols) -> trees.Node:
    return symbols[0] if len(symbols) == 1 else trees.Sequence(symbols)


def _symbols(node: trees.Node) -> _Symbols:
    return node.children if isinstance(node, trees.Sequence) else (node,)


def _references(root: trees.Node) -> set[str]:
    return {node.rule for node in trees.children_first([root]) if isinstance(node, trees.Reference)}


def _begins_with(symbols: _Symbols, name: str) -> bool:
    """Whether the first of some symbols is a text of a rule, or begins with one where no part is empty."""
    open_nodes = list(symbols[:1])
    while open_nodes:
        node = open_nodes.pop()
        if isinstance(node, trees.Reference) and node.rule == name:
            return True
        open_nodes += node.children[:1] if isinstance(node, trees.Sequence) else node.children
    return False


def _only_ends_with(ways: list[_Symbols], rules: Collection[str]) -> bool:
    """Whether none of some rules is within what is read before the end."""
    return not any(_references(node) & set(rules) for symbols in ways for node in symbols)
