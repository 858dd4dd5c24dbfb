r"""Line breaks in two parts: up to the last line feed, and the margin of the line that follows.

Problem.  ``_NEWLINE: /(\r?\n[\t ]*)+/`` reads the blanks of the next line, and how many there may be
depends on the block of what comes next, which the rules know only there.
How.  The automaton of the terminal is cut at its line feeds.  A *line break* is the state after the last one:
what leads there is written at once, and what leads from there to an end, without a line feed, is the margin.
Its width is the number of its blanks, with eight for a tab, whatever else it has: this is how lark counts.

Worked example.  ``a _NEWLINE b`` in a block of width 2: after ``a``, line feeds with blanks between them, the
line break; then two blanks, the margin; then ``b``.

Cost.  The states of the terminal, for each line break; and an expression for each width.
"""

from __future__ import annotations

import tokamata._core as _core
from tokamata.patterns.grammars.lexer.lexer_configurations import Configuration, Line, TerminalAutomaton
from tokamata.patterns.grammars.lexer.lexers import Lexer
from tokamata.patterns.grammars.rules import expressions
from tokamata.patterns.grammars.rules.elimination import eliminated
from tokamata.patterns.grammars.rules.rule_trees import Margin, Terminal, shortest
from tokamata.patterns.regex.classes import normalize
from tokamata.patterns.unicode import Ranges
from tokamata.resources.limits import Watch

__all__ = ["LineBreaks"]

_FEED = 0x0A
_NO_BLANKS: Ranges = ((0, 0x08), (0x0B, 0x1F), (0x21, 0x10FFFF))  # and no line feed


class LineBreaks:
    """The line breaks of a grammar.

    Args:
        lexer: reads its terminals.
        tab: how many columns a tab counts.
        watch: stops the work.
    """

    def __init__(self, lexer: Lexer, tab: int, watch: Watch) -> None:
        self._lexer = lexer
        self._tab = tab
        self._watch = watch
        self._numbers: dict[tuple[int, int], int] = {}
        self._seen: dict[object, int] = {}  # the number of the line breaks after which all is alike
        self._states: list[tuple[TerminalAutomaton, int]] = []  # by number of the line break
        self._rests: dict[Margin, _core.Expression] = {}
        self._columns: list[_core.Expression] = []  # the texts of each width
        self._margins: dict[tuple[Margin, int], tuple[_core.Expression | None, bool]] = {}

    def begun(self, terminal: Terminal, before: Configuration) -> frozenset[Configuration]:
        """The configurations in which a line break has been read, and its margin has not."""
        found = set()
        for automaton in self._lexer.automata(terminal, before):
            for state in _after_feeds(automaton):
                if self._reached(automaton, state) & automaton.ends.keys():
                    line = Line("break", self._number(automaton, state))
                    found.add(self._lexer.start._replace(context=terminal.context, line=line))
        return frozenset(found)

    def _number(self, automaton: TerminalAutomaton, state: int) -> int:
        key = (id(automaton), state)
        if key not in self._numbers:
            number = self._seen.setdefault(self._shape(automaton, state), len(self._states))
            if number == len(self._states):
                self._states.append((automaton, state))
            self._numbers[key] = number
        return self._numbers[key]

    def _shape(self, automaton: TerminalAutomaton, first: int) -> object:
        """The least automaton of what may follow a state without a line feed."""
        states = sorted(self._reached(automaton, first))
        edges = {
            state: [
                (pair, target)
                for target, ranges in automaton.edges[state].items()
                for pair in _without_feed(ranges)
            ]
            for state in states
        }
        classes: dict[int, int] = dict.fromkeys(states, 0)
        for size in range(len(states)):  # Moore: split until nothing splits
            numbers: dict[object, int] = {}
            classes = {
                state: numbers.setdefault(
                    (classes[state], automaton.ends.get(state), _seen_edges(edges[state], classes)),
                    len(numbers),
                )
                for state in states
            }
            if len(numbers) <= size:
                break
        order = {classes[first]: 0}
        shape: list[object] = []
        open_states = [first]
        for state in open_states:
            seen = _seen_edges(edges[state], classes)
            for target in (target for _, target in edges[state]):
                if classes[target] not in order:
                    order[classes[target]] = len(order)
                    open_states.append(target)
            by_order = tuple(sorted((order[target], ranges) for target, ranges in seen))
            shape.append((automaton.ends.get(state), by_order))
        return tuple(shape)

    def texts(
        self, terminal: Terminal, before: Configuration, wanted: frozenset[Configuration]
    ) -> _core.Expression:
        """What a terminal reads up to one of some line breaks."""
        numbers = {after.line.line_break for after in wanted}
        options = []
        for automaton in self._lexer.automata(terminal, before):
            edges = [_expressions(targets, with_feed=True) for targets in automaton.edges]
            edges.append({})
            feed = expressions.code_points([(_FEED, _FEED)])
            for state in range(len(automaton.edges)):
                for target, ranges in automaton.edges[state].items():
                    if _has_feed(ranges) and self._numbers.get((id(automaton), target)) in numbers:
                        known = edges[state].get(len(edges) - 1)
                        edges[state][len(edges) - 1] = (
                            feed if known is None else expressions.union([known, feed])
                        )
            options.append(eliminated(edges, {len(edges) - 1}, self._watch))
        return expressions.union(options)

    def ends(self, before: Configuration) -> frozenset[Configuration]:
        """Those that margins lead to, of any width."""
        automaton, state = self._states[before.line.line_break]
        return frozenset(
            self._lexer.start._replace(
                condition=automaton.ends[end][0],
                past=automaton.ends[end][1],
                context=before.context,
                expected=before.expected,
            )
            for end in self._reached(automaton, state) & automaton.ends.keys()
        )

    def margin(self, margin: Margin, width: int) -> tuple[_core.Expression | None, bool]:
        """The texts of a margin of some width that are not empty, and whether the empty one is one too."""
        key = (margin, width)
        if key not in self._margins:
            texts = expressions.intersect([self._rest(margin), self._of_width(width)])
            automaton, state = self._states[margin.line_break]
            may_be_empty = width == 0 and automaton.ends.get(state) in margin.ends
            if width == 0:
                not_empty = expressions.concat(
                    [expressions.code_points([(0, 0x10FFFF)]), expressions.anything()]
                )
                texts = expressions.intersect([texts, not_empty])
            found = shortest(texts, self._watch) is not None
            self._margins[key] = (expressions.terminal(texts) if found else None, may_be_empty)
        return self._margins[key]

    def _rest(self, margin: Margin) -> _core.Expression:
        """The texts of a margin of any width."""
        if margin not in self._rests:
            automaton, first = self._states[margin.line_break]
            order = sorted(self._reached(automaton, first), key=lambda state: (state != first, state))
            numbers = {state: number for number, state in enumerate(order)}
            edges = []
            for state in order:
                targets = _expressions(automaton.edges[state], with_feed=False)
                edges.append({numbers[target]: texts for target, texts in targets.items()})
            ends = {numbers[state] for state in order if automaton.ends.get(state) in margin.ends}
            self._rests[margin] = eliminated(edges, ends, self._watch)
        return self._rests[margin]

    def _of_width(self, width: int) -> _core.Expression:
        """All texts without a line feed that have some width."""
        others = expressions.repeat(expressions.code_points(_NO_BLANKS), 0, None)
        while len(self._columns) <= width:
            column = len(self._columns)
            options = (
                [expressions.concat([expressions.code_points([(0x20, 0x20)]), *self._columns[-1:]])]
                if column
                else []
            )
            if column >= self._tab:
                options.append(
                    expressions.concat(
                        [expressions.code_points([(0x09, 0x09)]), self._columns[column - self._tab]]
                    )
                )
            self._columns.append(
                expressions.concat([others, expressions.union(options)]) if column else others
            )
        return self._columns[width]

    def _reached(self, automaton: TerminalAutomaton, state: int) -> set[int]:
        """The states that lead from a state without a line feed, itself among them."""
        found, open_states = {state}, [state]
        while open_states:
            for target, ranges in automaton.edges[open_states.pop()].items():
                if target not in found and _without_feed(ranges):
                    found.add(target)
                    open_states.append(target)
        return found


def _after_feeds(automaton: TerminalAutomaton) -> list[int]:
    found = {
        target: None for targets in automaton.edges for target, ranges in targets.items() if _has_feed(ranges)
    }
    return list(found)


def _seen_edges(
    edges: list[tuple[tuple[int, int], int]], classes: dict[int, int]
) -> frozenset[tuple[int, Ranges]]:
    """The characters that lead to each class of states."""
    found: dict[int, list[tuple[int, int]]] = {}
    for pair, target in edges:
        found.setdefault(classes[target], []).append(pair)
    return frozenset((target, normalize(pairs)) for target, pairs in found.items())


def _has_feed(ranges: list[tuple[int, int]]) -> bool:
    return any(low <= _FEED <= high for low, high in ranges)


def _without_feed(ranges: list[tuple[int, int]]) -> list[tuple[int, int]]:
    pairs = [
        pair for low, high in ranges for pair in ((low, min(high, _FEED - 1)), (max(low, _FEED + 1), high))
    ]
    return [(low, high) for low, high in pairs if low <= high]


def _expressions(targets: dict[int, list[tuple[int, int]]], with_feed: bool) -> dict[int, _core.Expression]:
    cut = {target: ranges if with_feed else _without_feed(ranges) for target, ranges in targets.items()}
    return {target: expressions.code_points(ranges) for target, ranges in cut.items() if ranges}
