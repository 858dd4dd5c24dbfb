"""Rules without texts: mostly since each needs a text of another of them.

Worked example.  ``start: "a" item`` and ``item: "(" item ")"``: an ``item`` contains an ``item``, so it never
ends, and neither does a ``start``.  ``item: "(" item? ")"`` has the text ``()``.

Cost: the size of the grammar, once for each time that a rule turns out to have a text.
"""

from __future__ import annotations

from tokamata.patterns.grammars.rules.rule_trees import (
    Block,
    Choice,
    Grammar,
    Node,
    Reference,
    Repeat,
    Sequence,
    children_first,
)

__all__ = ["rules_without_texts"]


def rules_without_texts(grammar: Grammar) -> list[str]:
    """The rules without texts that the start rule needs, itself first; none if it has a text."""
    productive: set[str] = set()
    users: dict[str, list[str]] = {}
    for rule, body in grammar.rules.items():
        for used in _rules_in(body):
            users.setdefault(used, []).append(rule)
    open_rules = list(grammar.rules)
    while open_rules:
        rule = open_rules.pop()
        if rule not in productive and _has_text(grammar.rules[rule], productive):
            productive.add(rule)
            open_rules += users.get(rule, ())
    if grammar.start in productive:
        return []
    needed = {grammar.start: None}
    waiting = [grammar.start]
    while waiting:
        for used in sorted(_rules_in(grammar.rules[waiting.pop()]) - productive - needed.keys()):
            needed[used] = None
            waiting.append(used)
    return list(needed)


def _rules_in(body: Node) -> set[str]:
    return {node.rule for node in children_first([body]) if isinstance(node, (Block, Reference))}


def _has_text(body: Node, productive: set[str]) -> bool:
    found: dict[int, bool] = {}
    for node in children_first([body]):
        children = [found[id(child)] for child in node.children]
        if isinstance(node, (Block, Reference)):
            found[id(node)] = node.rule in productive
        elif isinstance(node, Choice):
            found[id(node)] = any(children)
        elif isinstance(node, Repeat):
            found[id(node)] = node.minimum == 0 or children[0]
        else:
            found[id(node)] = all(children) if isinstance(node, Sequence) else True
    return found[id(body)]
