"""From the rules of a grammar to the listed rules of the engine (``core/expression/expression_rules.hpp``).

The engine wants rules of which none accepts the empty text and none begins with itself.  So:

1. Each rule becomes the rule of its texts that are not empty.  A reference to it becomes optional if it also
   accepts the empty text.
2. Rules that begin with themselves are rewritten by :mod:`.left_recursion`.
3. A rule that refers to no other, after small rules have replaced the references to them, is part of a terminal:
   the engine keeps what such a part does to a vocabulary for all grammars.

Worked example.  ``list: item*`` and ``item: "a" | list "b"``: only ``list`` accepts the empty text.
Each begins with the other, so both are rewritten together.

Each terminal is its regular language, and between two of them there may be ignored texts (``lexer="characters"``).
"""

from __future__ import annotations

from collections.abc import Sequence as Items

import tokamata._core as _core
from tokamata.limits import Watch
from tokamata.patterns.grammars.left_recursion import components
from tokamata.patterns.grammars.syntax import (
    Choice,
    Grammar,
    Node,
    Reference,
    Repeat,
    Sequence,
    Terminal,
    children_first,
)

__all__ = ["lower_grammar"]

_MOST_INLINED = 200  # nodes of a rule that replaces the references to it


def lower_grammar(grammar: Grammar, watch: Watch) -> _core.Expression:
    """The texts of a grammar.

    Raises:
        LimitExceeded, Cancelled: the work was stopped.
    """
    return _Lowering(grammar, watch).lowered()


class _Lowering:
    def __init__(self, grammar: Grammar, watch: Watch) -> None:
        self._watch = watch
        self._start = grammar.start
        self._rules = _reachable(grammar)
        self._nodes = children_first(self._rules.values())
        self._ignored = _core.epsilon()
        if grammar.ignored:
            some = _core.repeat(_core.union([terminal.expression for terminal in grammar.ignored]), 1, None)
            self._ignored = _core.union([_core.terminal(some), _core.epsilon()])
        self._nullable_rules: set[str] = set()
        self._nullable: dict[int, bool] = {}
        self._noted: list[Node] = []  # keeps the ids in use
        self._find_nullable()
        self._rules = {name: self._with_short_rounds(body) for name, body in self._rules.items()}
        self._nodes = children_first(self._rules.values())
        self._numbers = {name: number for number, name in enumerate(self._rules)}
        self._made: dict[int, _core.Expression] = {}
        self._nonempty: dict[int, _core.Expression] = {}

    def lowered(self) -> _core.Expression:
        for node in self._nodes:
            self._make(node)
        bodies = {name: self._nonempty[id(body)] for name, body in self._rules.items()}
        for component in components(self._beginnings()):
            bodies.update(self._without_left_recursion(component))
        start = _core.concat([self._ignored, self._made_reference(self._start)])
        in_order = sorted(bodies, key=self._numbers.__getitem__)
        return _core.rules([bodies[name] for name in in_order], start)

    # ---- the empty text ----

    def _find_nullable(self) -> None:
        """Which rules and nodes accept the empty text: the least fixed point, in time linear in the edges."""
        waiting: dict[str, list[str]] = {}
        for name, body in self._rules.items():
            for node in children_first([body]):
                if isinstance(node, Reference):
                    waiting.setdefault(node.rule, []).append(name)
        open_rules = list(self._rules)
        while open_rules:
            name = open_rules.pop()
            if name in self._nullable_rules:
                continue
            self._watch.check()
            if self._is_nullable(self._rules[name]):
                self._nullable_rules.add(name)
                open_rules += waiting.get(name, ())
        for body in self._rules.values():
            self._is_nullable(body)

    def _is_nullable(self, root: Node) -> bool:
        for node in children_first([root]):
            self._note_nullable(node)
        return self._nullable[id(root)]

    def _note_nullable(self, node: Node) -> None:
        """Its children are noted."""
        if isinstance(node, Terminal):
            found = False
        elif isinstance(node, Reference):
            found = node.rule in self._nullable_rules
        elif isinstance(node, Sequence):
            found = all(self._nullable[id(child)] for child in node.children)
        elif isinstance(node, Choice):
            found = any(self._nullable[id(child)] for child in node.children)
        else:
            found = node.minimum == 0 or self._nullable[id(node.body)]
        self._nullable[id(node)] = found
        self._noted.append(node)

    def _with_short_rounds(self, root: Node) -> Node:
        """The same, with ``(A | B)*`` for ``(A B)*`` if both accept the empty text, so that fewer texts are ambiguous."""
        made: dict[int, Node] = {}
        for node in children_first([root]):
            children = tuple(made[id(child)] for child in node.children)
            result: Node = node
            if isinstance(node, Repeat) and node.maximum is None and self._nullable[id(node.body)]:
                result = Repeat(Choice(self._rounds(children[0])), 0, None)
            elif isinstance(node, Repeat) and children != node.children:
                result = Repeat(children[0], node.minimum, node.maximum)
            elif isinstance(node, (Sequence, Choice)) and children != node.children:
                result = type(node)(children)
            if result is not node:
                for part in result.children:
                    self._note_nullable(part)
                self._note_nullable(result)
            made[id(node)] = result
        return made[id(root)]

    def _rounds(self, body: Node) -> tuple[Node, ...]:
        """The parts of which a body is made that is repeated without a bound, and that accepts the empty text."""
        parts, open_nodes = [], [body]
        while open_nodes:
            part = open_nodes.pop()
            is_optional = self._nullable[id(part)]
            if isinstance(part, Choice) or (isinstance(part, Sequence) and is_optional):
                open_nodes += part.children
            elif isinstance(part, Repeat) and part.maximum != 0 and (part.minimum <= 1 or self._nullable[id(part.body)]):
                open_nodes.append(part.body)
            else:
                parts.append(part)
        return tuple(parts)

    # ---- nodes ----

    def _made_reference(self, rule: str) -> _core.Expression:
        reference = _core.reference(self._numbers[rule])
        return _core.union([reference, _core.epsilon()]) if rule in self._nullable_rules else reference

    def _make(self, node: Node) -> None:
        """All texts of a node, and those that are not empty; its children are made."""
        key = id(node)
        if isinstance(node, Terminal):
            self._made[key] = self._nonempty[key] = _core.concat([_whole(node), self._ignored])
        elif isinstance(node, Reference):
            self._made[key] = self._made_reference(node.rule)
            self._nonempty[key] = _core.reference(self._numbers[node.rule])
        elif isinstance(node, Sequence):
            self._make_sequence(node)
        elif isinstance(node, Choice):
            self._made[key] = _united(node.children, self._made)
            self._nonempty[key] = _united(node.children, self._nonempty)
        else:
            self._make_repeat(node)

    def _make_sequence(self, node: Sequence) -> None:
        rest, nonempty = _core.epsilon(), _core.empty()
        for child in reversed(node.children):
            begins_here = _core.concat([self._nonempty[id(child)], rest])
            nonempty = _core.union([begins_here, nonempty]) if self._nullable[id(child)] else begins_here
            rest = _core.concat([self._made[id(child)], rest])
        self._made[id(node)], self._nonempty[id(node)] = rest, nonempty

    def _make_repeat(self, node: Repeat) -> None:
        body, some = self._made[id(node.body)], self._nonempty[id(node.body)]
        maximum = node.maximum
        if maximum == 0:
            self._made[id(node)], self._nonempty[id(node)] = _core.epsilon(), _core.empty()
            return
        # A round may be skipped if it may be empty, and then it is skipped: no round reads the empty text.
        least = 0 if self._nullable[id(node.body)] else node.minimum
        self._made[id(node)] = _core.repeat(some, least, maximum)
        more = _core.repeat(some, max(least - 1, 0), None if maximum is None else maximum - 1)
        self._nonempty[id(node)] = _core.concat([some, more])

    # ---- left recursion ----

    def _beginnings(self) -> dict[str, set[str]]:
        """For each rule, the rules that one of its texts may begin with."""
        found: dict[str, set[str]] = {}
        for name, body in self._rules.items():
            heads: set[str] = set()
            stack, seen = [body], {id(body)}
            while stack:
                node = stack.pop()
                if isinstance(node, Reference):
                    heads.add(node.rule)
                for child in self._first_children(node):
                    if id(child) not in seen:
                        seen.add(id(child))
                        stack.append(child)
            found[name] = heads
        return found

    def _first_children(self, node: Node) -> Items[Node]:
        if isinstance(node, Repeat) and node.maximum == 0:
            return ()
        if not isinstance(node, Sequence):
            return node.children
        for index, child in enumerate(node.children):
            if not self._nullable[id(child)]:
                return node.children[: index + 1]
        return node.children

    def _without_left_recursion(self, component: list[str]) -> dict[str, _core.Expression]:
        inside = set(component)
        entries: dict[str, list[_core.Expression]] = {rule: [] for rule in component}
        edges: dict[str, list[tuple[Node, str]]] = {rule: [] for rule in component}  # (rest, larger rule), by head
        for rule in component:
            for head, rest in self._corners(self._rules[rule]):
                if isinstance(head, Reference) and head.rule in inside:
                    edges[head.rule].append((rest, rule))
                else:
                    entries[rule].append(_core.concat([self._nonempty[id(head)], self._made[id(rest)]]))
        if len(component) == 1:
            rule = component[0]
            rounds = Repeat(Choice(tuple(rest for rest, _ in edges[rule])), 0, None)
            tail = self._add(self._with_short_rounds(self._noted_node(rounds)))
            return {rule: _core.concat([_core.union(entries[rule]), self._made[id(tail)]])}
        return self._with_tails(component, entries, edges)

    def _with_tails(
        self,
        component: list[str],
        entries: dict[str, list[_core.Expression]],
        edges: dict[str, list[tuple[Node, str]]],
    ) -> dict[str, _core.Expression]:
        """The rules of a component, and their tails without the empty text."""
        completes = {rule: self._completed(rule, edges) for rule in component}  # at the same end
        bodies: dict[str, _core.Expression] = {}
        for goal in component:
            tails = {rule: _core.reference(self._new_rule(f"tail {goal} {rule}")) for rule in component}
            optional = {
                rule: _core.union([tails[rule], _core.epsilon()]) if goal in completes[rule] else tails[rule]
                for rule in component
            }
            bodies[goal] = _core.union(
                [_core.concat([begun, optional[rule]]) for rule in component for begun in entries[rule]]
            )
            for rule in component:
                self._watch.check()
                bodies[f"tail {goal} {rule}"] = _core.union(
                    [
                        _core.concat([self._nonempty[id(rest)], optional[larger]])
                        for completed in sorted(completes[rule])
                        for rest, larger in edges[completed]
                    ]
                )
        return bodies

    def _new_rule(self, name: str) -> int:
        """The number of a new rule; no rule of a grammar has a blank in its name."""
        self._numbers[name] = len(self._numbers)
        return self._numbers[name]

    def _completed(self, rule: str, edges: dict[str, list[tuple[Node, str]]]) -> set[str]:
        """The rules that may be complete where a text of ``rule`` is, and begin where it does."""
        found, open_rules = {rule}, [rule]
        while open_rules:
            for rest, larger in edges[open_rules.pop()]:
                if self._nullable[id(rest)] and larger not in found:
                    found.add(larger)
                    open_rules.append(larger)
        return found

    def _corners(self, body: Node) -> list[tuple[Terminal | Reference, Node]]:
        """With what the texts of a body may begin, except for the empty text, and what follows that."""
        found: list[tuple[Terminal | Reference, Node]] = []
        stack: list[tuple[Node, Node]] = [(body, self._add(Sequence(())))]  # a node, and what follows it
        while stack:
            self._watch.check()
            node, rest = stack.pop()
            if isinstance(node, (Terminal, Reference)):
                found.append((node, rest))
            elif isinstance(node, Choice):
                stack.extend((child, rest) for child in node.children)
            elif isinstance(node, Repeat):
                if node.maximum == 0:
                    continue
                more = self._add(
                    Repeat(node.body, max(node.minimum - 1, 0), None if node.maximum is None else node.maximum - 1)
                )
                stack.append((node.body, self._add(Sequence((more, rest)))))
            else:
                first = self._first_children(node)
                after = [rest]
                for child in reversed(node.children[1:]):
                    after.append(self._add(Sequence((child, after[-1]))))
                stack.extend(zip(first, reversed(after)))
        return found

    def _noted_node(self, node: Node) -> Node:
        self._is_nullable(node)
        return node

    def _add(self, node: Node) -> Node:
        """A new node, with what is computed of nodes."""
        for part in children_first([node]):
            if id(part) not in self._made:
                self._note_nullable(part)
                self._make(part)
        return node


def _reachable(grammar: Grammar) -> dict[str, Node]:
    """The rules that the start rule leads to, the start rule first."""
    found = {grammar.start: grammar.rules[grammar.start]}
    open_rules = [grammar.start]
    while open_rules:
        for node in children_first([found[open_rules.pop()]]):
            if isinstance(node, Reference) and node.rule not in found:
                found[node.rule] = grammar.rules[node.rule]
                open_rules.append(node.rule)
    return found


def _whole(terminal: Terminal) -> _core.Expression:
    """A terminal as the engine should keep it: a single text needs no segment."""
    return terminal.expression if terminal.literal is not None else _core.terminal(terminal.expression)


def _united(nodes: Items[Node], made: dict[int, _core.Expression]) -> _core.Expression:
    """Any one of the nodes; texts become one automaton."""
    return _core.union([made[id(node)] for node in nodes])
