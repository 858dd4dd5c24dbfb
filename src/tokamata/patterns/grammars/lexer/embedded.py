"""Texts of other constraints between the terminals of a lexer.

Problem.  No lexer reads an embedded text, but the terminal before it may look into it: after a name, no
letter may follow, also if an embedded text follows the name.
How.  What the lexer's configuration demands of the text that follows is an automaton over characters.  The
embedded texts are cut by it: for each of its states, the texts that lead there, and the configuration that
they leave.  A control token is no character; before it, the text has ended for the lexer.

Worked example.  ``NAME @item``, where items are ``a`` and ``(a)``: after a name, no letter follows.  ``a``
begins with a letter, so that only ``(a)`` is left, which leaves nothing.

Cost.  States of the conditions, mostly two; mostly the first character decides, and nothing is cut.
"""

from __future__ import annotations

from collections.abc import Mapping

import tokamata._core as _core
from tokamata.patterns.grammars.lexer.conditions import ALWAYS, NEVER, Condition, any_of, atoms
from tokamata.patterns.grammars.lexer.lexer_configurations import Configuration
from tokamata.patterns.grammars.lexer.lexers import Lexer
from tokamata.patterns.grammars.lexer.threads import Past
from tokamata.patterns.grammars.rules.elimination import eliminated
from tokamata.patterns.grammars.rules.rule_trees import Embedded, shortest
from tokamata.resources.limits import Watch

__all__ = ["EmbeddedTexts"]


class EmbeddedTexts:
    """What embedded texts lead to.

    Args:
        lexer: the one between whose terminals they stand.
        watch: stops the work.
    """

    def __init__(self, lexer: Lexer, watch: Watch) -> None:
        self._lexer = lexer
        self._places = lexer.places
        self._watch = watch
        self._known: dict[tuple[int, Configuration], Mapping[Configuration, _core.Expression]] = {}
        self._first: dict[tuple[int, int], bool] = {}

    def after(self, node: Embedded, configuration: Configuration) -> Mapping[Configuration, _core.Expression]:
        """The configurations that texts of a node lead to, and these texts."""
        key = (id(node), configuration)
        if key not in self._known:
            self._known[key] = self._after(node, configuration)
        return self._known[key]

    def _after(self, node: Embedded, configuration: Configuration) -> dict[Configuration, _core.Expression]:
        start = self._lexer.start
        condition = self._undecided(node, configuration.condition)
        if condition == ALWAYS and not self._places.sees_past:
            return {start: node.expression}
        states = {(condition, configuration.past): 0}
        order = list(states)
        edges: list[dict[int, _core.Expression]] = []
        while len(edges) < len(order):
            self._watch.check()
            leaving: dict[int, list[_core.Expression]] = {}
            for target, texts in self._steps(node, *order[len(edges)]).items():
                if target not in states:
                    states[target] = len(order)
                    order.append(target)
                leaving.setdefault(states[target], []).extend(texts)
            edges.append({target: _core.union(texts) for target, texts in leaving.items()})
        found: dict[Configuration, _core.Expression] = {}
        for (left, past), number in states.items():
            cut = _core.intersect([node.expression, eliminated(edges, {number}, self._watch)])
            if node.expression.control_tokens or shortest(cut, self._watch) is not None:
                found[start._replace(condition=left, past=past)] = cut
        return found

    def _steps(
        self, node: Embedded, condition: Condition, past: Past
    ) -> dict[tuple[Condition, Past], list[_core.Expression]]:
        """What a character or a control token leads to."""
        found: dict[tuple[Condition, Past], int] = {}
        for symbols in self._places.classes(atoms(condition), past):
            symbol = symbols.bit_length() - 1
            new_past = self._places.past_after(past, symbol)
            left = self._places.condition_after(condition, symbol, new_past)
            if left != NEVER:
                found[left, new_past] = found.get((left, new_past), 0) | symbols
        ranges = self._places.alphabet.ranges
        steps = {target: [_core.code_points(ranges(symbols))] for target, symbols in found.items()}
        if self._places.holds_at_end(condition):
            controls = [_core.control_token(key) for key in node.expression.control_tokens]
            steps.setdefault((ALWAYS, self._lexer.start.past), []).extend(controls)
        return {target: texts for target, texts in steps.items() if texts}

    def _undecided(self, node: Embedded, condition: Condition) -> Condition:
        """A condition without what the first characters of the texts decide."""
        clauses = []
        for clause in condition:
            left = frozenset(literal for literal in clause if self._matters(node, abs(literal)))
            if all(place in left for place in clause if place > 0):
                clauses.append(left)
        return any_of([frozenset(clauses)])

    def _matters(self, node: Embedded, place: int) -> bool:
        return self._places.is_composite(place) or self._may_begin(node, place)

    def _may_begin(self, node: Embedded, place: int) -> bool:
        """Whether a text of the node begins with a character of a place."""
        key = (id(node), place)
        if key not in self._first:
            ranges = self._places.alphabet.ranges(self._places.mask(place))
            self._first[key] = node.may_begin(ranges, self._watch)
        return self._first[key]
