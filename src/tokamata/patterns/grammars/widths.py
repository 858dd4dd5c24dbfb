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

from collections.abc import Mapping

from tokamata.limits import Watch
from tokamata.patterns.grammars.ignoring import as_node
from tokamata.patterns.grammars.line_breaks import LineBreaks
from tokamata.patterns.grammars.syntax import (
    Block,
    Choice,
    Margin,
    Node,
    Reference,
    children_first,
    rewritten,
)

__all__ = ["WIDEST", "with_widths"]

WIDEST = 100  # columns: 25 blocks of four


def with_widths(
    rules: Mapping[str, Node], start: str, line_breaks: LineBreaks, watch: Watch
) -> tuple[dict[str, Node], str]:
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
    seen: set[tuple[str, int, bool]] = set()

    def reference(rule: str, width: int, is_wider: bool) -> Reference:
        if rule not in with_lines and not is_wider:
            return Reference(rule)
        if (rule, width, is_wider) not in seen:
            seen.add((rule, width, is_wider))
            open_rules.append((rule, width, is_wider))
        return Reference(_name(rule, width, is_wider))

    first = reference(start, 0, False)
    while open_rules:
        watch.check()
        rule, width, is_wider = open_rules.pop()
        if is_wider:
            widths = range(width + 1, WIDEST + 1)
            made[_name(rule, width, True)] = Choice(tuple(reference(rule, wider, False) for wider in widths))
            continue

        def leaf(node: Node, width: int = width) -> Node:
            if isinstance(node, Margin):
                return as_node(line_breaks.margin(node, width))
            if isinstance(node, (Block, Reference)):
                return reference(node.rule, width, isinstance(node, Block))
            return node

        made[_name(rule, width, False)] = rewritten(rules[rule], leaf)
    return made, first.rule


def _name(rule: str, width: int, is_wider: bool) -> str:
    return f"{rule} beyond {width}" if is_wider else f"{rule} at {width}"


def _rules_with_lines(rules: Mapping[str, Node]) -> set[str]:
    """Those that a margin or a block is part of."""
    users: dict[str, list[str]] = {}
    found: list[str] = []
    for rule, body in rules.items():
        for node in children_first([body]):
            if isinstance(node, Reference):
                users.setdefault(node.rule, []).append(rule)
            if isinstance(node, (Block, Margin)) and (not found or found[-1] != rule):
                found.append(rule)
    seen = set(found)
    while found:
        for user in users.get(found.pop(), ()):
            if user not in seen:
                seen.add(user)
                found.append(user)
    return seen
