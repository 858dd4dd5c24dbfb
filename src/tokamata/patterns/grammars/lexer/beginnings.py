"""The terminals that rules, and rests of sequences, may begin with; and those that may follow a rule.

Worked example.  With ``list: item*`` and ``item: NAME | "(" list ")"``, a ``list`` begins with ``NAME`` or
``"("``, or is empty; then what follows it decides.  An ``item`` is followed by another one, by ``")"``, or by
the end of the text.

Cost: the size of the grammar for each rule that is reached from another by beginnings, or by ends.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from tokamata.patterns.grammars.lexer.lexer_configurations import END_OF_TEXT
from tokamata.patterns.grammars.rules import rule_trees as trees
from tokamata.resources.limits import Watch

__all__ = ["Beginnings", "followers"]


class Beginnings:
    """What the texts of some rules begin with.

    Args:
        rules: their bodies, without :class:`.Repeat`.
    """

    def __init__(self, rules: Mapping[str, trees.Node]) -> None:
        self._nullable = _nullable_rules(rules)
        self._with_embedded: set[str] = set()  # rules that may begin with an embedded text
        self._first: dict[str, frozenset[str]] = {}
        self._find_first(rules)

    def of_rule(self, rule: str) -> tuple[frozenset[str], bool]:
        """The terminals that a rule may begin with, and whether it may begin with another.

        It may if it may be empty, or begin with an embedded text.
        """
        return self._first[rule], rule in self._nullable or rule in self._with_embedded

    def of_rest(self, items: tuple[trees.Node, ...], begin: int) -> tuple[frozenset[str], bool]:
        """The same of the rest of a sequence."""
        found: frozenset[str] = frozenset()
        for node in items[begin:]:
            if isinstance(node, trees.Embedded):
                return found, True
            if isinstance(node, (trees.Block, trees.Reference)):
                found |= self._first[node.rule]
                if node.rule in self._with_embedded:
                    return found, True
            elif isinstance(node, trees.Terminal):
                found |= {node.name}
            if not self._is_nullable(node):
                return found, False
        return found, True

    def leads_to_embedded(self, items: tuple[trees.Node, ...], begin: int) -> bool:
        """Whether the rest of a sequence may begin with an embedded text."""
        for node in items[begin:]:
            if isinstance(node, trees.Embedded):
                return True
            if isinstance(node, (trees.Block, trees.Reference)) and node.rule in self._with_embedded:
                return True
            if not self._is_nullable(node):
                return False
        return False

    def _find_first(self, rules: Mapping[str, trees.Node]) -> None:
        begins: dict[str, set[str]] = {}  # rules, by rule
        own: dict[str, set[str]] = {}
        for rule, body in rules.items():
            begins[rule], own[rule] = set(), set()
            for node in self._heads(body):
                if isinstance(node, trees.Terminal):
                    own[rule].add(node.name)
                elif isinstance(node, (trees.Block, trees.Reference)):
                    begins[rule].add(node.rule)
                elif isinstance(node, trees.Embedded):
                    self._with_embedded.add(rule)
        with_embedded = frozenset(self._with_embedded)
        for rule in rules:
            found, open_rules, seen = set(own[rule]), list(begins[rule]), {rule}
            while open_rules:
                other = open_rules.pop()
                if other not in seen:
                    seen.add(other)
                    found |= own[other]
                    open_rules += begins[other]
            if not seen.isdisjoint(with_embedded):
                self._with_embedded.add(rule)
            self._first[rule] = frozenset(found)

    def _heads(self, body: trees.Node) -> Iterable[trees.Node]:
        open_nodes = [body]
        while open_nodes:
            node = open_nodes.pop()
            yield node
            if isinstance(node, trees.Choice):
                open_nodes += node.children
            elif isinstance(node, trees.Sequence):
                for child in node.children:
                    open_nodes.append(child)
                    if not self._is_nullable(child):
                        break

    def _is_nullable(self, node: trees.Node) -> bool:
        if isinstance(node, (trees.Block, trees.Reference)):
            return node.rule in self._nullable
        if isinstance(node, trees.Lookahead):
            return True
        return isinstance(node, trees.Sequence) and all(self._is_nullable(child) for child in node.children)


def followers(
    rules: Mapping[str, trees.Node], start: str, beginnings: Beginnings, watch: Watch
) -> dict[str, frozenset[str] | None]:
    """The terminals that may follow each rule, with the end of the text; ``None`` if an embedded text may.

    Args:
        rules: their bodies.
        start: the rule that a text is of.
        beginnings: of the rules.
        watch: stops the work.
    """
    found: dict[str, set[str]] = {rule: set() for rule in rules}
    found[start].add(END_OF_TEXT)
    inside: dict[str, set[str]] = {rule: set() for rule in rules}  # rules that it ends with
    before_embedded: list[str] = []
    for rule, body in rules.items():
        watch.check()
        for option in body.children if isinstance(body, trees.Choice) else (body,):
            items = option.children if isinstance(option, trees.Sequence) else (option,)
            for index, item in enumerate(items):
                if isinstance(item, (trees.Block, trees.Reference)):
                    first, is_open = beginnings.of_rest(items, index + 1)
                    found[item.rule] |= first
                    if is_open:
                        inside[rule].add(item.rule)
                        if beginnings.leads_to_embedded(items, index + 1):
                            before_embedded.append(item.rule)
    waiting = dict.fromkeys(rules)
    while waiting:
        watch.check()
        rule = next(iter(waiting))
        del waiting[rule]
        for last in inside[rule]:
            if not found[rule] <= found[last]:
                found[last] |= found[rule]
                waiting[last] = None
    unknown: set[str] = set()
    while before_embedded:
        rule = before_embedded.pop()
        if rule not in unknown:
            unknown.add(rule)
            before_embedded += inside[rule]
    return {rule: None if rule in unknown else frozenset(names) for rule, names in found.items()}


def _nullable_rules(rules: Mapping[str, trees.Node]) -> set[str]:
    """The rules that accept the empty text."""
    found: set[str] = set()

    def is_nullable(node: trees.Node) -> bool:
        if isinstance(node, trees.Choice):
            return any(is_nullable(child) for child in node.children)
        if isinstance(node, trees.Sequence):
            return all(is_nullable(child) for child in node.children)
        return isinstance(node, trees.Lookahead) or (
            isinstance(node, (trees.Block, trees.Reference)) and node.rule in found
        )

    waiting: dict[str, set[str]] = {}
    for rule, body in rules.items():
        for node in trees.children_first([body]):
            if isinstance(node, (trees.Block, trees.Reference)):
                waiting.setdefault(node.rule, set()).add(rule)
    open_rules = list(rules)
    while open_rules:
        rule = open_rules.pop()
        if rule not in found and is_nullable(rules[rule]):
            found.add(rule)
            open_rules += waiting.get(rule, ())
    return found
