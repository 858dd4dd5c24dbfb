"""Alternatives with a common beginning or end are written once, and repetitions as repetitions.

Problem.  lark writes ``[a] [b] c`` as four alternatives, and ``x*`` as a rule of its own beside the
alternatives without it.  For the engine each alternative is a reading of its own: they are followed one by
one, and a state after one of them is another state than after the other, though the same texts follow.

Worked example.  ``object: "{" [pair ("," pair)*] "}"`` comes as::

    object: "{" "}" | "{" pair "}" | "{" pair more "}"
    more: "," pair | more "," pair

All alternatives have ``"{"`` and ``"}"``; of the rest, two begin with ``pair``; and ``more`` is
``("," pair)+``.  So ``object: "{" (pair ("," pair)*)? "}"``.

How.  Equal parts are made one object first.  Of some alternatives, in this order:

1. What all of them begin with, and what all of them end with, is written once.
2. Where those that begin with ``a`` are the others with an ``a`` before them, ``a`` is optional.
3. The empty one makes the others optional.
4. Those that begin alike are factored by themselves; then those that end alike.

A rule whose alternatives are some parts, and each of them after a text of the rule itself, is one or more of
these parts; rules that end with themselves are solved by :mod:`.right_recursion`.  Such a rule replaces the
references to it.

Source.  Left factoring (Aho, Lam, Sethi and Ullman, *Compilers*, section 4.3.4).
Cost.  A look at each symbol of the alternatives for each level of nesting that they get.
Rejected: least expressions for all alternatives; to find them is hard, and these are what people write.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from graphlib import TopologicalSorter
from typing import TypeAlias

from tokamata.patterns.grammars.rules import rule_trees as trees
from tokamata.patterns.grammars.rules.left_recursion import components
from tokamata.patterns.grammars.rules.merging import kind_of
from tokamata.patterns.grammars.rules.right_recursion import without_right_recursion
from tokamata.resources.limits import Watch

__all__ = ["LARGEST_INLINED", "factored"]

LARGEST_INLINED = 200  # nodes of a rule that replaces the references to it, with those of the rules within
_DEEPEST = 32  # levels of factoring one within another; alternatives below are left as they are

_Symbols: TypeAlias = tuple[trees.Node, ...]
_Options: TypeAlias = dict[_Symbols, None]  # different ones, in their order


def factored(rules: Mapping[str, trees.Node], watch: Watch) -> dict[str, trees.Node]:
    """The same rules; equal parts are one object.

    Raises:
        LimitExceeded, Cancelled: the work was stopped.
    """
    parts = _Parts(watch)
    repeated = {
        name: repeat for name, body in rules.items() if (repeat := parts.repetition(name, body)) is not None
    }
    uses = {name: _references([body]) & repeated.keys() for name, body in repeated.items()}
    for component in components(uses):
        for name in component:
            del repeated[name]
    bodies = {name: parts.of(repeated.get(name, body), {}) for name, body in rules.items()}
    solved = without_right_recursion(bodies, watch)
    bodies.update(solved)
    repeated.update(solved)
    uses = {name: _references([body]) & repeated.keys() for name, body in repeated.items()}
    recursive = {name for component in components(uses) for name in component}
    made: dict[str, trees.Node] = {}
    inlined: dict[str, trees.Node] = {}
    others = {name: uses[name] - recursive for name in repeated if name not in recursive}
    for name in TopologicalSorter(others).static_order():
        made[name] = parts.of(bodies[name], inlined)
        if trees.tree_size(made[name], {}) <= LARGEST_INLINED:
            inlined[name] = made[name]
    return {name: made.get(name) or parts.of(body, inlined) for name, body in bodies.items()}


class _Parts:
    """Nodes, of which no two are equal."""

    def __init__(self, watch: Watch) -> None:
        self._watch = watch
        self._known: dict[Hashable, trees.Node] = {}

    def of(self, root: trees.Node, instead: Mapping[str, trees.Node]) -> trees.Node:
        """A tree, factored, with other nodes for some rules."""
        made: dict[int, trees.Node] = {}
        for node in trees.children_first([root]):
            self._watch.check()
            children = tuple(made[id(child)] for child in node.children)
            if isinstance(node, trees.Reference) and node.rule in instead:
                made[id(node)] = instead[node.rule]
            elif isinstance(node, trees.Choice):
                made[id(node)] = self._choice(children)
            elif isinstance(node, trees.Sequence):
                made[id(node)] = self._sequence(children)
            elif isinstance(node, trees.Repeat):
                made[id(node)] = self._repeat(children[0], node.minimum, node.maximum)
            else:
                rule = node.rule if isinstance(node, (trees.Block, trees.Reference)) else None
                made[id(node)] = self._one((kind_of(node), rule), node)
        return made[id(root)]

    def repetition(self, rule: str, body: trees.Node) -> trees.Node | None:
        """What a rule is that begins with itself and only repeats; ``None`` if it is another one."""
        alternatives = [_symbols(self.of(child, {})) for child in _options(body)]
        once: set[_Symbols] = set()
        again: set[_Symbols] = set()
        for symbols in alternatives:
            if symbols and isinstance(symbols[0], trees.Reference) and symbols[0].rule == rule:
                again.add(symbols[1:])
            else:
                once.add(symbols)
        if not again or once != again or rule in _references(node for symbols in once for node in symbols):
            return None
        rounds = [self._sequence(symbols) for symbols in dict.fromkeys(alternatives) if symbols in once]
        return self._repeat(self._choice(tuple(rounds)), 1, None)

    def _one(self, key: Hashable, node: trees.Node) -> trees.Node:
        return self._known.setdefault(key, node)

    def _sequence(self, symbols: _Symbols) -> trees.Node:
        if len(symbols) == 1:
            return symbols[0]
        return self._one((trees.Sequence, *map(id, symbols)), trees.Sequence(symbols))

    def _repeat(self, body: trees.Node, minimum: int, maximum: int | None) -> trees.Node:
        if (minimum, maximum) == (1, 1):
            return body
        if (minimum, maximum) == (0, 1) and isinstance(body, trees.Repeat) and body.minimum <= 1:
            return self._repeat(body.body, 0, body.maximum)
        return self._one((trees.Repeat, id(body), minimum, maximum), trees.Repeat(body, minimum, maximum))

    def _choice(self, options: _Symbols) -> trees.Node:
        return self._sequence(self._factored(dict.fromkeys(map(_symbols, options)), 0))

    def _factored(self, options: _Options, depth: int) -> _Symbols:
        """Alternatives as one sequence."""
        self._watch.check()
        if len(options) == 1:
            return next(iter(options))
        if not options or depth == _DEEPEST:
            return (self._union(options),)
        begin, end = _common(options)
        if begin or end:
            first = next(iter(options))
            inside = dict.fromkeys(symbols[begin : len(symbols) - end] for symbols in options)
            return first[:begin] + self._factored(inside, depth + 1) + first[len(first) - end :]
        groups: dict[trees.Node, _Options] = {}
        for symbols in filter(None, options):
            groups.setdefault(symbols[0], {})[symbols[1:]] = None
        for symbol, rests in groups.items():
            is_half = 2 * len(rests) == len(options)
            if is_half and all(rest in options and rest[:1] != (symbol,) for rest in rests):
                return (self._repeat(symbol, 0, 1), *self._factored(rests, depth + 1))
        if () in options:
            others = dict.fromkeys(filter(None, options))
            return (self._repeat(self._sequence(self._factored(others, depth + 1)), 0, 1),)
        begun = [(symbol, *self._factored(rests, depth + 1)) for symbol, rests in groups.items()]
        groups = {}
        for symbols in begun:
            groups.setdefault(symbols[-1], {})[symbols[:-1]] = None
        return (self._union((*self._factored(rests, depth + 1), symbol) for symbol, rests in groups.items()),)

    def _union(self, options: Iterable[_Symbols]) -> trees.Node:
        nodes = tuple(dict.fromkeys(map(self._sequence, options)))
        return (
            nodes[0] if len(nodes) == 1 else self._one((trees.Choice, *map(id, nodes)), trees.Choice(nodes))
        )


def _references(nodes: Iterable[trees.Node]) -> set[str]:
    """The rules that some nodes refer to."""
    return {node.rule for node in trees.children_first(nodes) if isinstance(node, trees.Reference)}


def _common(options: _Options) -> tuple[int, int]:
    """How many symbols all alternatives begin with, and end with besides."""
    first = next(iter(options))
    shortest = min(map(len, options))
    begin = next((at for at in range(shortest) if any(one[at] is not first[at] for one in options)), shortest)
    left = shortest - begin
    end = next((at for at in range(left) if any(one[-1 - at] is not first[-1 - at] for one in options)), left)
    return begin, end


def _options(node: trees.Node) -> _Symbols:
    return node.children if isinstance(node, trees.Choice) else (node,)


def _symbols(node: trees.Node) -> _Symbols:
    return node.children if isinstance(node, trees.Sequence) else (node,)
