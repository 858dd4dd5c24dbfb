"""Rules that contain control tokens or the like, as one expression.

Problem.  The engine's listed rules are texts over regular parts, JSON and other rules.  What else a grammar
contains can be joined by sequences, choices and repetitions only, as constraints are.
How.  Rules that lead to such parts are replaced by their bodies, those that a rule refers to first.  Rules
that refer to each other at the end of their alternatives alone, or at the beginning alone, are an automaton,
whose edges are the rest of the alternatives; its states are eliminated.  lark writes ``*`` and ``+`` so.  Any
other rule that refers to itself is refused.  What else these rules refer to is rules of the engine.

Worked example.  ``calls: call | calls call`` with ``call: <call> @json``.  At their beginning, ``calls``
refers to itself: from the start, ``call`` leads to ``calls``, and from there ``call`` to ``calls`` again, so
the texts are ``call call*``.

Source: :mod:`.elimination`.
Cost.  Rules are written out where they are referred to; :data:`LARGEST` bounds that.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from graphlib import TopologicalSorter
from typing import TypeAlias

import tokamata._core as _core
from tokamata.errors import GrammarError, LimitExceeded
from tokamata.patterns.grammars.rules import expressions
from tokamata.patterns.grammars.rules import rule_trees as trees
from tokamata.patterns.grammars.rules.elimination import eliminated
from tokamata.patterns.grammars.rules.left_recursion import components
from tokamata.resources.limits import Watch

__all__ = ["LARGEST", "JoinedRules", "joined_names"]

LARGEST = 100_000  # nodes, with those of the rules that they refer to

# What a node is, to the rules of a component: before each of them (or after it) a set of texts; ``None``: the
# texts that refer to none of them.
_Linear: TypeAlias = dict[str | None, _core.Expression]


def joined_names(rules: Mapping[str, trees.Node]) -> dict[str, trees.Embedded]:
    """The rules that lead to what no rule of the engine contains, and an example of it."""
    users: dict[str, list[str]] = {name: [] for name in rules}
    because: dict[str, trees.Embedded] = {}
    for name, body in rules.items():
        for node in trees.children_first([body]):
            if isinstance(node, trees.Reference):
                users[node.rule].append(name)
            elif isinstance(node, trees.Embedded) and not node.is_of_rules:
                because[name] = node
    open_rules = list(because)
    while open_rules:
        name = open_rules.pop()
        for user in users[name]:
            if user not in because:
                because[user] = because[name]
                open_rules.append(user)
    return because


class JoinedRules:
    """The texts of such rules.

    Args:
        rules: all of them, by name.
        because: for each, what no rule of the engine contains.
        others: the texts of a node that leads to nothing of that.
        ignored: what may stand after each terminal.
        text: the file, for errors.
        watch: stops the work.
    """

    def __init__(
        self,
        rules: Mapping[str, trees.Node],
        because: Mapping[str, trees.Embedded],
        others: Callable[[trees.Node], _core.Expression],
        ignored: _core.Expression,
        text: str,
        watch: Watch,
    ) -> None:
        self._rules = rules
        self._because = because
        self._others = others
        self._ignored = ignored
        self._text = text
        self._watch = watch
        self._texts: dict[str, _core.Expression] = {}
        self._sizes: dict[str, int] = {}

    def texts(self, start: str) -> _core.Expression:
        """The texts of a rule.

        Raises:
            GrammarError: a rule refers to itself neither at the end nor at the beginning alone.
            LimitExceeded, Cancelled: rules are too large, or the work was stopped.
        """
        names = {name: self._names(body) for name, body in self._rules.items()}
        group_of: dict[str, tuple[str, ...]] = {name: (name,) for name in self._rules}
        for component in components(names):
            group_of.update(dict.fromkeys(component, tuple(component)))
        graph: dict[tuple[str, ...], set[tuple[str, ...]]] = {}
        for name, used in names.items():
            graph.setdefault(group_of[name], set()).update(
                group_of[other] for other in used if group_of[other] != group_of[name]
            )
        for group in TopologicalSorter(graph).static_order():
            self._measure(group, names)
            self._join(group)
        return self._texts[start]

    def _names(self, body: trees.Node) -> set[str]:
        """The rules of this kind that a body refers to."""
        return {
            node.rule
            for node in trees.children_first([body])
            if isinstance(node, trees.Reference) and node.rule in self._rules
        }

    def _measure(self, group: Sequence[str], names: Mapping[str, set[str]]) -> None:
        for name in group:
            self._sizes[name] = trees.tree_size(self._rules[name], self._sizes)
            if self._sizes[name] > LARGEST:
                raise LimitExceeded("states", LARGEST, is_fixed=True)

    def _join(self, group: Sequence[str]) -> None:
        inside = set(group)
        for is_reversed in (False, True):
            found = {name: self._linear(self._rules[name], inside, is_reversed) for name in group}
            if all(linear is not None for linear in found.values()):
                break
        else:
            rule, embedded = group[0], self._because[group[0]]
            shown = rule.split(" ")[0]
            reason = f"{embedded.name} cannot stand in {shown}, which refers to itself within a text"
            hint = "it can only be repeated, as by * and +"
            raise GrammarError(self._text, embedded.position, reason, hint)
        numbers = {name: number + 1 for number, name in enumerate(group)}
        # Forwards a rule leads to those that it refers to, and to the end; backwards the start leads to it.
        for name in group:
            edges: list[dict[int, _core.Expression]] = [{} for _ in range(len(group) + 2)]
            end = len(group) + 1
            for rule, linear in found.items():
                for other, texts in (linear or {}).items():
                    if is_reversed:
                        edges[0 if other is None else numbers[other]][numbers[rule]] = texts
                    else:
                        edges[numbers[rule]][end if other is None else numbers[other]] = texts
            if is_reversed:
                self._texts[name] = eliminated(edges, {numbers[name]}, self._watch)
            else:
                edges[0] = {numbers[name]: expressions.epsilon()}
                self._texts[name] = eliminated(edges, {end}, self._watch)

    def _linear(self, root: trees.Node, inside: set[str], is_reversed: bool) -> _Linear | None:
        """The texts of a body before each rule of a component; ``None`` if something follows the rule.

        ``is_reversed``: after each rule, and nothing precedes it.
        """
        made: dict[int, _Linear] = {}
        joined = self._joined_nodes(root)
        for node in joined:
            self._watch.check()
            if isinstance(node, trees.Reference):
                is_here = node.rule in inside
                made[id(node)] = (
                    {node.rule: expressions.epsilon()} if is_here else {None: self._texts[node.rule]}
                )
            elif isinstance(node, trees.Embedded):
                made[id(node)] = {None: expressions.concat([node.expression, self._ignored])}
            else:
                parts = [made.get(id(child)) or {None: self._others(child)} for child in node.children]
                found = self._combined(node, parts, is_reversed)
                if found is None:
                    return None
                made[id(node)] = found
        return made[id(root)] if joined else {None: self._others(root)}

    def _combined(self, node: trees.Node, parts: list[_Linear], is_reversed: bool) -> _Linear | None:
        if isinstance(node, trees.Choice):
            options: dict[str | None, list[_core.Expression]] = {}
            for part in parts:
                for rule, texts in part.items():
                    options.setdefault(rule, []).append(texts)
            return {rule: expressions.union(texts) for rule, texts in options.items()}
        if isinstance(node, trees.Repeat):
            if parts[0].keys() - {None}:
                if (node.minimum, node.maximum) != (0, 1):
                    return None
                return parts[0] | {
                    None: expressions.union([parts[0].get(None, expressions.empty()), expressions.epsilon()])
                }
            return {None: expressions.repeat(parts[0][None], node.minimum, node.maximum)}
        assert isinstance(node, trees.Sequence), node
        if is_reversed:
            parts = parts[::-1]
        if any(part.keys() - {None} for part in parts[:-1]):
            return None
        before = [part[None] for part in parts[:-1]]
        return {
            rule: expressions.concat([texts, *reversed(before)] if is_reversed else [*before, texts])
            for rule, texts in parts[-1].items()
        }

    def _joined_nodes(self, root: trees.Node) -> list[trees.Node]:
        """The nodes of a body that lead to what no rule of the engine contains, each after its children."""
        found: list[trees.Node] = []
        inside: set[int] = set()
        for node in trees.children_first([root]):
            is_own = (isinstance(node, trees.Embedded) and not node.is_of_rules) or (
                isinstance(node, trees.Reference) and node.rule in self._rules
            )
            if is_own or any(id(child) in inside for child in node.children):
                inside.add(id(node))
                found.append(node)
        return found
