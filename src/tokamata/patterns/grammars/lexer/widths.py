"""Rules with blocks, written out for each width that a block may have.

Problem.  The lines of a block begin with one margin, and a block within it with any wider one.
How.  Each rule that has lines is copied for each width.  A margin becomes the texts of that width; a block
becomes the rules of all greater widths::

    suite: margin call+ Block(suite)?      suite 2: "  " call+ (suite 3 | suite 4 | … )?

A text with a block that is indented by more than :data:`WIDEST` columns is not written, and refused.

Cost.  Rules with lines, times widths: Python has 180 such rules for each.
Rejected: rules for pairs of a width and the width of what comes after, which are a hundred times as many.  A
line break whose margin is decided by what follows needs one width alone.
"""

from __future__ import annotations

from collections.abc import Container, Mapping

from tokamata.patterns.grammars.lexer.ignoring import as_node
from tokamata.patterns.grammars.lexer.line_breaks import LineBreaks
from tokamata.patterns.grammars.rules import rule_trees as trees
from tokamata.resources.limits import Watch

__all__ = ["WIDEST", "with_widths"]

WIDEST = 80  # columns: twenty blocks of four, ten of tabs


def with_widths(
    rules: Mapping[str, trees.Node], start: str, line_breaks: LineBreaks, watch: Watch
) -> tuple[dict[str, trees.Node], str]:
    """The rules without :class:`.Block` and :class:`.Margin`, and the one that a text is of.

    Args:
        rules: the body of each rule.
        start: the rule that a text is of; its lines begin in column 0.
        line_breaks: makes margins.
        watch: stops the work.

    Raises:
        LimitExceeded, Cancelled: the work was stopped.
    """
    with_lines = _rules_with_lines(rules)
    made = {rule: body for rule, body in rules.items() if rule not in with_lines}
    open_rules: list[tuple[str, int, bool]] = []  # a rule, a width, and whether greater ones are meant
    references: dict[tuple[str, int, bool], trees.Reference] = {}
    margins: dict[tuple[trees.Margin, int], trees.Node] = {}
    changing: dict[str, list[trees.Node]] = {}  # by rule, the nodes that differ by width

    def reference(rule: str, width: int, is_wider: bool) -> trees.Reference:
        key = (rule, width, is_wider)
        if key not in references:
            references[key] = trees.Reference(f"{rule} beyond {width}" if is_wider else f"{rule} at {width}")
            open_rules.append(key)
        return references[key]

    def margin(node: trees.Margin, width: int) -> trees.Node:
        if (node, width) not in margins:
            margins[node, width] = as_node(line_breaks.margin(node, width))
        return margins[node, width]

    def at_width(body: trees.Node, nodes: list[trees.Node], width: int) -> trees.Node:
        instead: dict[int, trees.Node] = {}
        for node in nodes:
            if isinstance(node, trees.Margin):
                instead[id(node)] = margin(node, width)
            elif isinstance(node, trees.Block):
                instead[id(node)] = reference(node.rule, width, True)
            elif isinstance(node, trees.Reference):
                instead[id(node)] = reference(node.rule, width, False)
            else:
                children = tuple([instead.get(id(child), child) for child in node.children])
                instead[id(node)] = trees.with_children(node, children)
        return instead.get(id(body), body)

    reference(start, 0, False)
    while open_rules:
        watch.check()
        key = rule, width, is_wider = open_rules.pop()
        name = references[key].rule
        if is_wider:
            widths = range(width + 1, WIDEST + 1)
            made[name] = trees.Choice(tuple(reference(rule, wider, False) for wider in widths))
        else:
            if rule not in changing:
                changing[rule] = _with_width(rules[rule], with_lines)
            made[name] = at_width(rules[rule], changing[rule], width)
    return made, references[start, 0, False].rule


def _with_width(body: trees.Node, with_lines: Container[str]) -> list[trees.Node]:
    """The nodes of a body that a width is part of, each after its children."""
    found: list[trees.Node] = []
    inside: set[int] = set()
    for node in trees.children_first([body]):
        is_own = isinstance(node, (trees.Block, trees.Margin)) or (
            isinstance(node, trees.Reference) and node.rule in with_lines
        )
        if is_own or any(id(child) in inside for child in node.children):
            inside.add(id(node))
            found.append(node)
    return found


def _rules_with_lines(rules: Mapping[str, trees.Node]) -> set[str]:
    """Those that a margin or a block is part of."""
    users: dict[str, list[str]] = {}
    found: list[str] = []
    for rule, body in rules.items():
        for node in trees.children_first([body]):
            if isinstance(node, trees.Reference):
                users.setdefault(node.rule, []).append(rule)
            if isinstance(node, (trees.Block, trees.Margin)) and (not found or found[-1] != rule):
                found.append(rule)
    seen = set(found)
    while found:
        for user in users.get(found.pop(), ()):
            if user not in seen:
                seen.add(user)
                found.append(user)
    return seen
