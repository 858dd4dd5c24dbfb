"""From the rules of a grammar to the listed rules of the engine (``core/expression/expression_rules.hpp``).

The engine wants rules of which none accepts the empty text and none begins with itself.  So:

1. Alternatives are factored (:mod:`.factoring`).
2. Each rule becomes the rule of its texts that are not empty.  A reference to it becomes optional if it also
   accepts the empty text.
3. Rules that begin with themselves are rewritten by :mod:`.left_recursion`.
4. Small rules that are regular replace the references to them.  Then the largest regular parts that contain
   repetitions, such as strings and numbers, become terminals of the engine, which keeps what a terminal does
   to a vocabulary for all grammars.

Worked example.  ``list: item*`` and ``item: "a" | list "b"``: only ``list`` accepts the empty text.
Each begins with the other, so both are rewritten together.

Each terminal is its regular language, and ignored texts may stand between any two of them.

Rules that contain JSON or control tokens are no rules of the engine (:mod:`.joined_rules`).
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from typing import NamedTuple

import tokamata._core as _core
from tokamata.patterns.grammars.rules import expressions
from tokamata.patterns.grammars.rules import rule_trees as trees
from tokamata.patterns.grammars.rules.factoring import LARGEST_INLINED, factored
from tokamata.patterns.grammars.rules.joined_rules import JoinedRules, joined_names
from tokamata.patterns.grammars.rules.left_recursion import components
from tokamata.resources.limits import Watch

__all__ = ["lower_grammar"]


def lower_grammar(grammar: trees.Grammar, watch: Watch) -> _core.Expression:
    """The texts of a grammar.

    Raises:
        GrammarError: a rule that refers to itself contains what no rule of the engine can contain.
        LimitExceeded, Cancelled: there are too many such rules, or the work was stopped.
    """
    return _Lowering(grammar, watch).lowered()


class _Texts(NamedTuple):
    """The texts of a node, and those of them that are not empty."""

    all: _core.Expression
    some: _core.Expression


class _Lowering:
    def __init__(self, grammar: trees.Grammar, watch: Watch) -> None:
        self._watch = watch
        self._start = grammar.start
        self._nodes = _reachable(grammar.start, grammar.rules)  # of each rule, children first
        if not grammar.is_factored:
            rules = {name: nodes[-1] for name, nodes in self._nodes.items()}
            self._nodes = _reachable(grammar.start, factored(rules, watch))
        self._nullable_rules: set[str] = set()
        self._nullable: dict[int, bool] = {}
        self._noted: list[trees.Node] = []  # keeps the ids in use
        self._find_nullable()
        for name, nodes in self._nodes.items():
            if any(isinstance(node, trees.Repeat) for node in nodes):
                self._nodes[name] = trees.children_first([self._with_short_rounds(nodes)])
        self._rules = {name: nodes[-1] for name, nodes in self._nodes.items()}
        self._ignored = expressions.epsilon()
        if grammar.ignored:
            some = expressions.repeat(
                expressions.union([terminal.expression for terminal in grammar.ignored]), 1, None
            )
            self._ignored = expressions.union([expressions.terminal(some), expressions.epsilon()])
        self._text = grammar.text
        self._because = joined_names(self._rules)
        self._outer = {name: self._rules.pop(name) for name in self._because}  # no rules of the engine
        self._numbers = {name: number for number, name in enumerate(self._rules)}
        self._inlined = _small_regular_rules({name: self._nodes[name] for name in self._rules})
        self._regular: dict[int, _Texts] = {}  # of nodes that refer to no rules but those inlined
        self._has_loops: dict[int, bool] = {}  # likewise
        self._made: dict[int, _Texts] = {}  # of all nodes, where regular parts are terminals

    def lowered(self) -> _core.Expression:
        for name in self._inlined:  # those that a rule refers to come before it
            self._add_all(self._nodes[name])
        for name in self._rules:
            self._add_all(self._nodes[name])
        if self._start in self._inlined:
            return expressions.concat([self._ignored, self._regular[id(self._rules[self._start])].all])
        if self._outer:
            return expressions.concat([self._ignored, self._whole()])
        start = expressions.concat([self._ignored, self._reference(self._start).all])
        return expressions.rules(self._bodies(), start)

    def _bodies(self) -> list[_core.Expression]:
        """The rules of the engine, by number."""
        bodies = {name: self._made[id(body)].some for name, body in self._rules.items()}
        for component in components(self._beginnings()):
            bodies.update(self._without_left_recursion(component))
        return [bodies[name] for name in sorted(bodies, key=self._numbers.__getitem__)]

    def _whole(self) -> _core.Expression:
        """The start rule, if it is no rule of the engine."""
        bodies = self._bodies()

        def others(node: trees.Node) -> _core.Expression:
            texts = self._made[id(self._add(node))].all
            return texts if id(node) in self._regular else expressions.rules(bodies, texts)

        joined = JoinedRules(self._outer, self._because, others, self._ignored, self._text, self._watch)
        return joined.texts(self._start)

    # ---- the empty text ----

    def _find_nullable(self) -> None:
        """Which rules and nodes accept the empty text: the least fixed point, in time linear in the edges."""
        waiting: dict[str, list[str]] = {}
        nodes = self._nodes
        for name, inside in nodes.items():
            for node in inside:
                if isinstance(node, trees.Reference):
                    waiting.setdefault(node.rule, []).append(name)
        open_rules = list(nodes)
        changed: set[str] = set()  # rules that accept the empty text, of which a part turned out to do so
        while open_rules:
            name = open_rules.pop()
            if name in self._nullable_rules:
                changed.add(name)
                continue
            self._watch.check()
            if self._note_all(nodes[name]):
                self._nullable_rules.add(name)
                open_rules += waiting.get(name, ())
        for name in changed:
            self._note_all(nodes[name])

    def _is_nullable(self, root: trees.Node) -> bool:
        return self._note_all(trees.children_first([root]))

    def _note_all(self, nodes: list[trees.Node]) -> bool:
        """Of the last node, whose parts come before it."""
        for node in nodes:
            self._note_nullable(node)
        return self._nullable[id(nodes[-1])]

    def _note_nullable(self, node: trees.Node) -> None:
        """Its children are noted."""
        if isinstance(node, (trees.Terminal, trees.Embedded)):
            found = False
        elif isinstance(node, trees.Reference):
            found = node.rule in self._nullable_rules
        elif isinstance(node, trees.Sequence):
            found = all(self._nullable[id(child)] for child in node.children)
        elif isinstance(node, trees.Choice):
            found = any(self._nullable[id(child)] for child in node.children)
        else:
            assert isinstance(node, trees.Repeat), node  # others were for the lexer
            found = node.minimum == 0 or self._nullable[id(node.body)]
        self._nullable[id(node)] = found
        self._noted.append(node)

    def _with_short_rounds(self, nodes: list[trees.Node]) -> trees.Node:
        """A tree with simpler rounds of repetitions without a bound, so that fewer texts are ambiguous.

        ``(A B)*`` becomes ``(A | B)*`` if both may be empty, and ``(A | A A)*`` becomes ``A*``.  The root is
        the last of the nodes.
        """
        made: dict[int, trees.Node] = {}
        for node in nodes:
            children = tuple(made[id(child)] for child in node.children)
            result: trees.Node = node
            if isinstance(node, trees.Repeat) and node.maximum is None:
                least = 0 if self._nullable[id(node.body)] else node.minimum
                result = trees.Repeat(trees.Choice(self._rounds(children[0])), least, None)
            elif isinstance(node, trees.Repeat) and children != node.children:
                result = trees.Repeat(children[0], node.minimum, node.maximum)
            elif isinstance(node, (trees.Sequence, trees.Choice)) and children != node.children:
                result = type(node)(children)
            if result is not node:
                for part in result.children:
                    self._note_nullable(part)
                self._note_nullable(result)
            made[id(node)] = result
        return made[id(nodes[-1])]

    def _rounds(self, body: trees.Node) -> tuple[trees.Node, ...]:
        """The parts of a body that is repeated without a bound; each round may as well read one of them."""
        parts: list[trees.Node] = []
        open_nodes = [body]
        while open_nodes:
            part = open_nodes.pop()
            is_optional = self._nullable[id(part)]
            if isinstance(part, trees.Choice) or (isinstance(part, trees.Sequence) and is_optional):
                open_nodes += part.children
            elif (
                isinstance(part, trees.Repeat)
                and part.maximum != 0
                and (part.minimum <= 1 or self._nullable[id(part.body)])
            ):
                open_nodes.append(part.body)
            else:
                parts.append(part)
        symbols = {
            _symbol(part): part for part in parts if isinstance(part, (trees.Terminal, trees.Reference))
        }
        others = [part for part in parts if not isinstance(part, (trees.Terminal, trees.Reference))]
        return *symbols.values(), *(part for part in others if not _is_sequence_of(part, symbols))

    # ---- nodes ----

    def _add(self, root: trees.Node) -> trees.Node:
        """Makes what is missing of a tree."""
        self._add_all(trees.children_first([root]))
        return root

    def _add_all(self, nodes: list[trees.Node]) -> None:
        """Makes what is missing of some nodes, each after its children."""
        for node in nodes:
            if id(node) not in self._made:
                self._watch.check()
                self._note_nullable(node)
                self._make(node)

    def _make(self, node: trees.Node) -> None:
        """The children are made."""
        key = id(node)
        if isinstance(node, trees.Reference) and node.rule not in self._inlined:
            self._made[key] = self._reference(node.rule)
            return
        inside = (self._rules[node.rule],) if isinstance(node, trees.Reference) else node.children
        is_regular = not isinstance(node, trees.Embedded) or node.is_regular
        if is_regular and all(id(child) in self._regular for child in inside):
            self._regular[key] = self._texts(node, self._regular)
            self._has_loops[key] = any(self._has_loops[id(child)] for child in inside) or (
                node.maximum != 1 if isinstance(node, trees.Repeat) else _is_regex(node)
            )
            self._made[key] = self._as_terminal(key) if self._has_loops[key] else self._regular[key]
        else:
            self._made[key] = self._texts(node, self._made)

    def _as_terminal(self, key: int) -> _Texts:
        some = expressions.terminal(self._regular[key].some)
        return _Texts(expressions.union([some, expressions.epsilon()]) if self._nullable[key] else some, some)

    def _reference(self, rule: str) -> _Texts:
        some = expressions.reference(self._numbers[rule])
        return _Texts(
            expressions.union([some, expressions.epsilon()]) if rule in self._nullable_rules else some, some
        )

    def _texts(self, node: trees.Node, made: Mapping[int, _Texts]) -> _Texts:
        """The texts of a node, by those of its children."""
        if isinstance(node, trees.Reference):
            return made[id(self._rules[node.rule])]
        if isinstance(node, (trees.Terminal, trees.Embedded)):
            all_texts = expressions.concat([node.expression, self._ignored])
            return _Texts(all_texts, all_texts)
        if isinstance(node, trees.Sequence):
            return self._sequence(node, made)
        if isinstance(node, trees.Choice):
            return self._choice(node, made)
        assert isinstance(node, trees.Repeat), node  # others were for the lexer
        return self._repeat(node, made)

    def _sequence(self, node: trees.Sequence, made: Mapping[int, _Texts]) -> _Texts:
        """Flat, except where a child may be empty: a sequence of thousands is not deep."""
        rest: list[_core.Expression] = []  # what follows, from its end
        some: _core.Expression | None = expressions.empty()  # the texts that are not empty; ``None``: all
        for child in reversed(node.children):
            texts = made[id(child)]
            if self._nullable[id(child)]:
                after = expressions.concat(rest[::-1])
                others = after if some is None else some
                some = expressions.union([expressions.concat([texts.some, after]), others])
                rest = [after]
            else:
                some = None
            rest.append(texts.all)
        whole = expressions.concat(rest[::-1])
        return _Texts(whole, whole if some is None else some)

    def _choice(self, node: trees.Choice, made: Mapping[int, _Texts]) -> _Texts:
        """Listed texts become one automaton: there may be a hundred thousand of them."""
        texts = [text for child in node.children if isinstance(child, trees.Terminal) for text in child.texts]
        others = [
            child for child in node.children if not isinstance(child, trees.Terminal) or not child.texts
        ]
        together = [expressions.concat([expressions.strings(texts), self._ignored])] if texts else []
        return _Texts(
            expressions.union(together + [made[id(child)].all for child in others]),
            expressions.union(together + [made[id(child)].some for child in others]),
        )

    def _repeat(self, node: trees.Repeat, made: Mapping[int, _Texts]) -> _Texts:
        some, maximum = made[id(node.body)].some, node.maximum
        if maximum == 0:
            return _Texts(expressions.epsilon(), expressions.empty())
        # A round that may be empty may be skipped instead: no round reads the empty text.
        least = 0 if self._nullable[id(node.body)] else node.minimum
        more = expressions.repeat(some, max(least - 1, 0), None if maximum is None else maximum - 1)
        return _Texts(expressions.repeat(some, least, maximum), expressions.concat([some, more]))

    # ---- left recursion ----

    def _beginnings(self) -> dict[str, set[str]]:
        """For each rule, the rules that one of its texts may begin with."""
        found: dict[str, set[str]] = {}
        for name, body in self._rules.items():
            heads: set[str] = set()
            stack, seen = [body], {id(body)}
            while stack:
                node = stack.pop()
                if isinstance(node, trees.Reference):
                    heads.add(node.rule)
                for child in self._first_children(node):
                    if id(child) not in seen:
                        seen.add(id(child))
                        stack.append(child)
            found[name] = heads
        return found

    def _first_children(self, node: trees.Node) -> Sequence[trees.Node]:
        if isinstance(node, trees.Repeat) and node.maximum == 0:
            return ()
        if not isinstance(node, trees.Sequence):
            return node.children
        for index, child in enumerate(node.children):
            if not self._nullable[id(child)]:
                return node.children[: index + 1]
        return node.children

    def _without_left_recursion(self, component: list[str]) -> dict[str, _core.Expression]:
        inside = set(component)
        entries: dict[str, list[_core.Expression]] = {rule: [] for rule in component}
        edges: dict[str, list[tuple[trees.Node, str]]] = {
            rule: [] for rule in component
        }  # (rest, larger rule), by head
        for rule in component:
            for head, rest in self._corners(self._rules[rule]):
                if isinstance(head, trees.Reference) and head.rule in inside:
                    edges[head.rule].append((rest, rule))
                else:
                    entries[rule].append(
                        expressions.concat([self._made[id(head)].some, self._made[id(rest)].all])
                    )
        if len(component) == 1:
            rule = component[0]
            rounds = trees.Repeat(trees.Choice(tuple(rest for rest, _ in edges[rule])), 0, None)
            self._is_nullable(rounds)
            tail = self._add(self._with_short_rounds(trees.children_first([rounds])))
            return {rule: expressions.concat([expressions.union(entries[rule]), self._made[id(tail)].all])}
        return self._with_tails(component, entries, edges)

    def _with_tails(
        self,
        component: list[str],
        entries: dict[str, list[_core.Expression]],
        edges: dict[str, list[tuple[trees.Node, str]]],
    ) -> dict[str, _core.Expression]:
        """The rules of a component, and their tails without the empty text."""
        completes = {rule: self._completed(rule, edges) for rule in component}  # at the same end
        bodies: dict[str, _core.Expression] = {}
        for goal in component:
            tails = {rule: expressions.reference(self._new_rule(f"tail {goal} {rule}")) for rule in component}
            optional = {
                rule: expressions.union([tails[rule], expressions.epsilon()])
                if goal in completes[rule]
                else tails[rule]
                for rule in component
            }
            bodies[goal] = expressions.union(
                [expressions.concat([begun, optional[rule]]) for rule in component for begun in entries[rule]]
            )
            for rule in component:
                self._watch.check()
                bodies[f"tail {goal} {rule}"] = expressions.union(
                    [
                        expressions.concat([self._made[id(rest)].some, optional[larger]])
                        for completed in sorted(completes[rule])
                        for rest, larger in edges[completed]
                    ]
                )
        return bodies

    def _new_rule(self, name: str) -> int:
        """The number of a new rule; no rule of a grammar has a blank in its name."""
        self._numbers[name] = len(self._numbers)
        return self._numbers[name]

    def _completed(self, rule: str, edges: dict[str, list[tuple[trees.Node, str]]]) -> set[str]:
        """The rules that may be complete where a text of ``rule`` is, and begin where it does."""
        found, open_rules = {rule}, [rule]
        while open_rules:
            for rest, larger in edges[open_rules.pop()]:
                if self._nullable[id(rest)] and larger not in found:
                    found.add(larger)
                    open_rules.append(larger)
        return found

    def _corners(
        self, body: trees.Node
    ) -> list[tuple[trees.Terminal | trees.Embedded | trees.Reference, trees.Node]]:
        """With what the texts of a body may begin, except for the empty text, and what follows that."""
        found: list[tuple[trees.Terminal | trees.Embedded | trees.Reference, trees.Node]] = []
        stack: list[tuple[trees.Node, trees.Node]] = [
            (body, self._add(trees.Sequence(())))
        ]  # a node, and what follows it
        while stack:
            self._watch.check()
            node, rest = stack.pop()
            if isinstance(node, (trees.Terminal, trees.Embedded, trees.Reference)):
                found.append((node, rest))
            elif isinstance(node, trees.Choice):
                stack.extend((child, rest) for child in node.children)
            elif isinstance(node, trees.Repeat):
                if node.maximum == 0:
                    continue
                more = self._add(
                    trees.Repeat(
                        node.body,
                        max(node.minimum - 1, 0),
                        None if node.maximum is None else node.maximum - 1,
                    )
                )
                stack.append((node.body, self._add(_followed(more, rest))))
            else:
                first = self._first_children(node)
                after = [rest]
                for child in reversed(node.children[1:]):
                    after.append(self._add(_followed(child, after[-1])))
                stack.extend(zip(first, reversed(after), strict=False))
        return found


def _reachable(start: str, rules: Mapping[str, trees.Node]) -> dict[str, list[trees.Node]]:
    """The rules that the start rule leads to, the start rule first: their nodes, children first."""
    found = {start: trees.children_first([rules[start]])}
    open_rules = [start]
    while open_rules:
        for node in found[open_rules.pop()]:
            if isinstance(node, trees.Reference) and node.rule not in found:
                found[node.rule] = trees.children_first([rules[node.rule]])
                open_rules.append(node.rule)
    return found


def _followed(node: trees.Node, rest: trees.Node) -> trees.Node:
    return trees.Sequence((node, rest)) if rest.children or not isinstance(rest, trees.Sequence) else node


def _is_regex(node: trees.Node) -> bool:
    return isinstance(node, trees.Embedded) or (
        isinstance(node, trees.Terminal) and node.pattern is not None and not node.texts
    )


def _symbol(node: trees.Terminal | trees.Reference) -> tuple[str, int]:
    return (node.rule, 0) if isinstance(node, trees.Reference) else ("", id(node))


def _is_sequence_of(node: trees.Node, symbols: Container[tuple[str, int]]) -> bool:
    """Whether a node is a sequence, or a sequence of sequences, of these symbols alone."""
    open_nodes = [node]
    while open_nodes:
        part = open_nodes.pop()
        if isinstance(part, trees.Sequence):
            open_nodes += part.children
        elif not isinstance(part, (trees.Terminal, trees.Reference)) or _symbol(part) not in symbols:
            return False
    return True


def _small_regular_rules(nodes: Mapping[str, list[trees.Node]]) -> list[str]:
    """Rules that are to replace the references to them, those that a rule refers to before it."""
    waits_for = {
        name: {node.rule for node in found if isinstance(node, trees.Reference)}
        for name, found in nodes.items()
    }
    for name, found in nodes.items():
        if any(isinstance(node, trees.Embedded) and not node.is_regular for node in found):
            waits_for[name].add(name)  # it is not regular
    users: dict[str, list[str]] = {name: [] for name in nodes}
    for name, names in waits_for.items():
        for used in names:
            users[used].append(name)
    sizes: dict[str, int] = {}
    open_rules = [name for name, names in waits_for.items() if not names]
    while open_rules:
        name = open_rules.pop()
        size = trees.tree_size(nodes[name][-1], sizes)
        if size > LARGEST_INLINED:
            continue
        sizes[name] = size
        for user in users[name]:
            waits_for[user].discard(name)
            if not waits_for[user]:
                open_rules.append(user)
    return list(sizes)
