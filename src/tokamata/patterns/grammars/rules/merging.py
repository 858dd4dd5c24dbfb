"""Rules that have the same texts for the same reason are made one.

Problem.  States of a parser and configurations of a lexer multiply rules, and most of the copies differ in
nothing that a text shows.  For the engine each copy is a stack of its own.
How.  Rules are put into classes by their bodies, in which a reference counts as the class of its rule.  At
first all references are alike; classes are split until no more split.

Worked example.  ``a: "x" b | "y"``, ``b: "x" a | "y"`` and ``c: "x" a | "z"``: a and b are one, c is not.
Who asks for derivations keeps a and b apart, since they are different rules of the grammar.

Source.  Moore, Gedanken-experiments on sequential machines, 1956, for rules in the place of states.  Cost.
The size of the grammar for each round; rounds are few, at most as many as classes.
Rejected: Hopcroft's order of splitting, which needs the users of each rule and would save milliseconds.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TypeAlias

from tokamata.patterns.grammars.rules import rule_trees as trees
from tokamata.resources.limits import Watch

__all__ = ["kind_of", "merge_alike"]

# An alternative: what it is without references, and the rules that these name.
_Alternative: TypeAlias = tuple[int, tuple[str, ...]]


def merge_alike(
    rules: Mapping[str, trees.Node], start: str, watch: Watch, kind: Callable[[str], str] = lambda _: ""
) -> tuple[dict[str, trees.Node], str]:
    """The same grammar with one rule for all that are alike; and the rule that it starts with.

    Args:
        rules: the body of each rule.
        start: the rule that a text is of.
        watch: stops the work.
        kind: of a rule by its name; rules of different kinds are never made one.

    Raises:
        LimitExceeded, Cancelled: the work was stopped.
    """
    shapes: dict[object, int] = {}
    alternatives = {rule: _alternatives(body, shapes) for rule, body in rules.items()}
    kinds: dict[str, int] = {}
    classes = {rule: kinds.setdefault(kind(rule), len(kinds)) for rule in rules}
    sizes = Counter(classes.values())
    size = 0
    while len(sizes) > size:
        watch.check()
        size = len(sizes)
        numbers: dict[object, int] = {}
        classes = {
            rule: numbers.setdefault(  # one that is alike to no other stays so
                (classes[rule], frozenset(_seen(ways, classes)) if sizes[classes[rule]] > 1 else None),
                len(numbers),
            )
            for rule, ways in alternatives.items()
        }
        sizes = Counter(classes.values())
    names: dict[int, str] = {}
    for rule in rules:
        names.setdefault(classes[rule], rule)
    renamed = {rule: names[classes[rule]] for rule in rules}
    made = {
        rule: _renamed(body, alternatives[rule], classes, renamed)
        for rule, body in rules.items()
        if renamed[rule] == rule
    }
    return made, renamed[start]


def _seen(ways: list[_Alternative], classes: Mapping[str, int]) -> list[object]:
    return [(shape, tuple(classes[rule] for rule in used)) for shape, used in ways]


def _alternatives(body: trees.Node, shapes: dict[object, int]) -> list[_Alternative]:
    """The alternatives of a body; ``shapes`` numbers what they are without references."""
    found = []
    for node in body.children if isinstance(body, trees.Choice) else (body,):
        shape: list[object] = []
        used: list[str] = []
        open_nodes = [node]
        while open_nodes:
            current = open_nodes.pop()
            shape.append(kind_of(current))
            if isinstance(current, (trees.Block, trees.Reference)):
                used.append(current.rule)
            open_nodes += reversed(current.children)
        found.append((shapes.setdefault(tuple(shape), len(shapes)), tuple(used)))
    return found


def kind_of(node: trees.Node) -> object:
    """What a node is, besides its children."""
    if isinstance(node, trees.Terminal):
        return node.name, node.context, node.is_bracketed, node.expression
    if isinstance(node, trees.Lookahead):
        return node.terminals
    if isinstance(node, trees.Margin):
        return node
    if isinstance(node, trees.Repeat):
        return trees.Repeat, node.minimum, node.maximum
    if isinstance(node, trees.Embedded):
        return node.name, node.expression
    return type(node), len(node.children)


def _renamed(
    body: trees.Node, ways: list[_Alternative], classes: Mapping[str, int], renamed: Mapping[str, str]
) -> trees.Node:
    """A body with the names of the rules that are left, and without alternatives that have become alike."""
    if isinstance(body, trees.Choice):
        different = dict(zip(reversed(_seen(ways, classes)), reversed(body.children), strict=True))
        body = trees.Choice(tuple(reversed(different.values())))
    return trees.rewritten(
        body,
        lambda node: (
            replace(node, rule=renamed[node.rule])
            if isinstance(node, (trees.Block, trees.Reference))
            else node
        ),
    )
