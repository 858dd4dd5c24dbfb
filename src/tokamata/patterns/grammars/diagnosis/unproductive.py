"""Rules without texts: mostly since each needs a text of another of them.

Worked example.  ``start: "a" item`` and ``item: "(" item ")"``: an ``item`` contains an ``item``, so it never
ends, and neither does a ``start``.  ``item: "(" item? ")"`` has the text ``()``.

Cost: the size of the grammar, once for each time that a rule turns out to have a text.
"""

from __future__ import annotations

from tokamata.patterns.grammars.rules import rule_trees as trees

__all__ = ["rules_without_texts"]


def rules_without_texts(grammar: trees.Grammar) -> list[str]:
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


def _rules_in(body: trees.Node) -> set[str]:
    return {
        node.rule for node in trees.children_first([body]) if isinstance(node, (trees.Block, trees.Reference))
    }


def _has_text(body: trees.Node, productive: set[str]) -> bool:
    found: dict[int, bool] = {}
    for node in trees.children_first([body]):
        children = [found[id(child)] for child in node.children]
        if isinstance(node, (trees.Block, trees.Reference)):
            found[id(node)] = node.rule in productive
        elif isinstance(node, trees.Choice):
            found[id(node)] = any(children)
        elif isinstance(node, trees.Repeat):
            found[id(node)] = node.minimum == 0 or children[0]
        else:
            found[id(node)] = all(children) if isinstance(node, trees.Sequence) else True
    return found[id(body)]
