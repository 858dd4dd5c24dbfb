"""Which texts of a terminal a lexer takes, and on what condition on the text after it.

A lexer sees more than a terminal's language: it takes the longest text, or the one that ``re.match`` prefers,
and it may prefer another terminal.  All of that depends on the text before and after.  A *configuration* is
what a lexer knows of the text before a position: the condition that earlier terminals have left on what
follows, and the :class:`.Past`.  From a configuration, a terminal leads to others:

    NAME: /[a-z]+/    from nothing, by any of its texts, to: no letter follows
    PLUS: "+"         the same, to nothing, since a lexer could not have read on

``lexer`` says how terminals compete (docs/grammars.md defines it):

* ``"dynamic"``: a terminal takes the text that ``re.match`` prefers, whichever terminals there are besides.
* ``"basic"``: the first terminal, in lark's order, that ``re.match`` finds at all, with the text it prefers.
  Texts of the grammar that a regular expression matches whole are distinguished afterwards.
* ``"contextual"``: as ``"basic"``, among the terminals that a parser expects at that position.
* ``"longest"``: the longest text that any terminal has; of several terminals, the first in order.  A
  terminal with lazy quantifiers has the text that ``re.match`` prefers.

Method.  The threads of a terminal (:mod:`.threads`) are run over classes of characters, together with the
condition of the configuration.  That gives a finite automaton, and where it may end, the condition is
computed that the lexer ends there.  Conditions that say the same are one (:mod:`.condition_forms`).  Where
the automaton has all texts of the terminal, its expression is used as it is; elsewhere states are eliminated
(:mod:`.elimination`).  :mod:`.competition` says which terminals compete.

Threads of terminals that compete are run together, once for all of them (:class:`_Joint`): a hundred
terminals that begin alike share one automaton, from which each takes the states where it is still read.

Cost.  States times classes of characters, mostly few; ``Limits.seconds`` bounds it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import tokamata._core as _core
from tokamata.patterns.grammars.lexer.alphabet import symbols_of
from tokamata.patterns.grammars.lexer.competition import (
    Competitions,
    LexerName,
    TerminalReading,
    in_order,
    meet,
    meets,
    pattern_of,
)
from tokamata.patterns.grammars.lexer.condition_forms import ConditionForms
from tokamata.patterns.grammars.lexer.conditions import (
    ALWAYS,
    NEVER,
    Condition,
    all_of,
    any_of,
    atom,
    atoms,
)
from tokamata.patterns.grammars.lexer.lexer_configurations import (
    END_OF_TEXT,
    Configuration,
    Line,
    TerminalAutomaton,
)
from tokamata.patterns.grammars.lexer.threads import END, Past, Places, Thread
from tokamata.patterns.grammars.rules import expressions
from tokamata.patterns.grammars.rules.elimination import eliminated
from tokamata.patterns.grammars.rules.rule_trees import Embedded, Indentation, Terminal
from tokamata.patterns.regex.classes import letter_cases
from tokamata.patterns.regex.parser import parse
from tokamata.patterns.regex.syntax import CodePoints, Literal, Repeat
from tokamata.patterns.unicode import Ranges
from tokamata.resources.limits import Watch

__all__ = ["Lexer"]


_Threads = tuple[tuple[int, Thread], ...]  # in order, by number of the terminal


@dataclass(eq=False)
class _Step:
    """What a symbol leads to, for all terminals that compete.

    Attributes:
        threads: with those that have ended.
        ended: the indexes of the threads that end with this symbol.
        condition: what is left of that before the terminal.
        joint: what is left to be read.
        is_whole: whether no thread was given up.
        ends: by terminal, the condition that it ends here, as far as it is known.
    """

    threads: _Threads
    ended: list[int]
    condition: Condition
    joint: _Joint
    is_whole: bool
    ends: dict[int, Condition] = field(default_factory=dict)


@dataclass(eq=False)
class _Joint:
    """The threads of all terminals that compete; equal ones are one object.

    Attributes:
        threads: those that have not ended for certain.
        condition: what the configuration before the terminal has left.
        past: the text before.
        open: the terminals that may read on.
        classes: the symbols after which all is alike, when they are known.
        steps: by symbol, those that are known.
    """

    threads: _Threads
    condition: Condition
    past: Past
    open: frozenset[int]
    classes: list[int] | None = None
    steps: dict[int, _Step | None] = field(default_factory=dict)


class _State(NamedTuple):
    """Within a terminal."""

    joint: _Joint
    text: str | None  # what was read, where only one text is wanted
    end: Condition  # that the terminal ends here; NEVER: it does not


class Lexer:
    """How the terminals of a grammar are distinguished.

    Args:
        name: the lexer.
        terminals: all that it may read, in the order of the grammar.
        ignored: those among them that may stand anywhere.
        leaves: what the rules read: terminals and embedded texts.
        indentation: names the terminal of line breaks, which a contextual lexer looks for everywhere.
        watch: stops the work.

    Attributes:
        places: of their expressions.
        start: the configuration at the start of a text; a contextual lexer has a context besides.
    """

    def __init__(
        self,
        name: LexerName,
        terminals: Sequence[Terminal],
        ignored: Sequence[Terminal],
        leaves: Sequence[Terminal | Embedded],
        indentation: Indentation | None,
        watch: Watch,
    ) -> None:
        self._name = name
        self._watch = watch
        self._indent = indentation and indentation.indent
        self._terminals = in_order(name, terminals)
        self.places = Places(watch, self._all_letters())
        self._numbers = {terminal.name: number for number, terminal in enumerate(self._terminals)}
        blocks = [] if indentation is None else [indentation.indent, indentation.dedent]
        self._symbols = frozenset([*self._numbers, *blocks, END_OF_TEXT])
        self._begun = [
            self.places.add(pattern.regex, pattern.flags)
            if pattern.automaton is None
            else self.places.add_automaton(pattern.automaton)
            for pattern in map(pattern_of, self._terminals)
        ]
        self.start = Configuration(ALWAYS, self.places.start)
        self._first = [self.places.first(begun.place) for begun in self._begun]
        self._first_of: dict[frozenset[str], int] = {}
        self._forms = ConditionForms(self.places, watch)
        self._ignored = {self._numbers[terminal.name] for terminal in ignored}
        everywhere = set(self._ignored)
        if indentation is not None:
            everywhere.add(self._numbers[indentation.newline])
        self._competitions = Competitions(
            name, self._terminals, self._first, self._ignored, everywhere, watch
        )
        embedded = [leaf for leaf in leaves if isinstance(leaf, Embedded)]
        only_ignored = {terminal.name: terminal for terminal in ignored}
        for leaf in leaves:
            only_ignored.pop(leaf.name, None)
        self._runs = {name for name, one in only_ignored.items() if self._is_run(one, embedded)}
        self._automata: dict[tuple[int, int, tuple[int, ...], _State], TerminalAutomaton] = {}
        self._ends: dict[
            tuple[str, frozenset[str] | None, bool, Configuration, bool], frozenset[Configuration]
        ] = {}
        self._languages: dict[object, _core.Expression] = {}
        self._by_letters: dict[str, list[int]] = {}  # terminals, by their letters whatever the case
        self._rivals: dict[int, list[int]] = {}
        self._reduced: dict[tuple[Configuration, frozenset[str]], Configuration] = {}
        self._joints: dict[tuple[_Threads, Condition, Past], _Joint] = {}

    def ends(
        self, terminal: Terminal, configuration: Configuration, is_ignored: bool = False
    ) -> frozenset[Configuration]:
        """The configurations that the texts of a terminal lead to, where it is ignored or where it is not."""
        key = (terminal.name, terminal.context, terminal.is_bracketed, configuration, is_ignored)
        if key not in self._ends:
            after = configuration
            if not is_ignored:
                line = Line("brackets" if terminal.is_bracketed else "outside")
                after = after._replace(context=terminal.context, expected=None, line=line)
            self._ends[key] = frozenset(
                after._replace(condition=condition, past=past)
                for automaton in self.automata(terminal, configuration, is_ignored)
                for condition, past in automaton.ends.values()
            )
        return self._ends[key]

    def automata(
        self, terminal: Terminal, configuration: Configuration, is_ignored: bool = False
    ) -> list[TerminalAutomaton]:
        """The texts of a terminal from a configuration, in each way in which it is read."""
        _, _, context, expected, _ = configuration
        if not is_ignored and expected is not None and terminal.name not in expected:
            return []
        readings = self._competitions.readings(self._numbers[terminal.name], context, is_ignored)
        return [self._automaton(reading, configuration) for reading in readings]

    def language(
        self,
        terminal: Terminal,
        configuration: Configuration,
        ends: frozenset[Configuration],
        is_ignored: bool = False,
    ) -> _core.Expression:
        """The texts of a terminal that lead to one of some configurations."""
        number = self._numbers[terminal.name]
        wanted = frozenset((end.condition, end.past) for end in ends)
        key = (number, configuration._replace(expected=None), wanted, is_ignored)
        if key not in self._languages:
            self._languages[key] = expressions.union(
                [
                    self._texts(self._automaton(reading, configuration), reading, wanted)
                    for reading in self._competitions.readings(number, configuration.context, is_ignored)
                ]
            )
        return self._languages[key]

    def united_contexts(self, contexts: set[frozenset[str]]) -> dict[frozenset[str], frozenset[str]]:
        """For each of all contexts one that stands for it; fewer, where what follows is read alike."""
        return self._competitions.unite(contexts)

    def reads(self, terminals: frozenset[str]) -> bool:
        """Whether all of some terminals have texts, as the begin and the end of a block have not."""
        return terminals <= self._numbers.keys()

    def may_end(self, configuration: Configuration) -> bool:
        """Whether the text may end there."""
        is_expected = configuration.expected is None or END_OF_TEXT in configuration.expected
        return is_expected and self.places.holds_at_end(configuration.condition)

    def reduced(self, configuration: Configuration, terminals: frozenset[str]) -> Configuration:
        """What matters of a configuration if one of some terminals follows."""
        if configuration.line.kind == "break" and self._indent not in terminals:
            configuration = configuration._replace(line=configuration.line._replace(kind="dedent"))
        if configuration.line.kind == "end":
            return configuration
        key = (configuration, terminals)
        if key not in self._reduced:
            expected = configuration.expected
            if expected is not None:  # what does not follow is expected as well, so that few sets differ
                excluded = terminals - expected
                expected = self._symbols - excluded if excluded else None
            if not self.reads(terminals):  # the end of the text may come next
                self._reduced[key] = configuration._replace(expected=expected)
                return self._reduced[key]
            text = configuration
            if not configuration.line.is_broken:
                text = self.reduced_text(configuration, terminals)
            self._reduced[key] = text._replace(
                context=self._competitions.alike(configuration.context, terminals), expected=expected
            )
        return self._reduced[key]

    def reduced_text(self, configuration: Configuration, terminals: frozenset[str]) -> Configuration:
        """What matters of a configuration's text if one of some terminals follows."""
        condition, past, *_ = configuration
        first = self._first_symbols(terminals)
        condition = self._forms.same(self._without_what_is_decided(condition, first), past, first)
        at_start = self.start.past
        if past != at_start:
            numbers = [self._numbers[name] for name in terminals]
            if not any(self._sees(number, condition, past) for number in numbers):
                past = at_start
        return configuration._replace(condition=condition, past=past)

    def _without_what_is_decided(self, condition: Condition, first: int) -> Condition:
        """A condition without the atoms that none of the first symbols begins."""
        clauses = []
        for clause in condition:
            left = frozenset(literal for literal in clause if self.places.mask(abs(literal)) & first)
            if max(clause - left, default=-1) < 0:
                clauses.append(left)
        return any_of([frozenset(clauses)])

    def _first_symbols(self, terminals: frozenset[str]) -> int:
        """The symbols that some terminals begin with."""
        if terminals not in self._first_of:
            found = 0
            for name in terminals:
                found |= self._first[self._numbers[name]]
            self._first_of[terminals] = found
        return self._first_of[terminals]

    def _sees(self, terminal: int, condition: Condition, past: Past) -> bool:
        """Whether the text before a terminal matters to it, or to what is left of a condition."""
        places, at_start = self.places, self.start.past
        for other in self._competitions.meeting(terminal):
            begin = self._begun[other].place
            if places.reached(begin, past) != places.reached(begin, at_start):
                return True
        for symbols in places.classes(atoms(condition), past):
            if begins := self._first[terminal] & symbols:
                symbol = begins.bit_length() - 1
                if places.past_after(past, symbol) != places.past_after(at_start, symbol):
                    return True
        return False

    # ---- terminals that compete ----

    def _is_run(self, terminal: Terminal, embedded: Iterable[Embedded]) -> bool:
        """Whether an ignored terminal has any number of some characters that nothing else begins with.

        What it leaves may then be ignored as one more of it, so no condition is needed on what follows.  The
        terminal is one that no rule reads.
        """
        if pattern_of(terminal).automaton is not None:
            return False
        root = parse(pattern_of(terminal).regex, pattern_of(terminal).flags, watch=self._watch).root
        if not isinstance(root, Repeat) or (root.minimum, root.maximum) != (1, None):
            return False
        if not isinstance(root.body, CodePoints | Literal) or len(getattr(root.body, "text", "1")) != 1:
            return False
        number = self._numbers[terminal.name]
        others = [first for other, first in enumerate(self._first) if other != number]
        own = self._first[number]
        if any(own & first for first in others):
            return False
        ranges = self.places.alphabet.ranges(own)
        return not any(texts.may_begin(ranges, self._watch) for texts in embedded)

    # ---- the automaton of a terminal ----

    def _automaton(self, reading: TerminalReading, configuration: Configuration) -> TerminalAutomaton:
        start = self._first_state(reading, configuration)
        key = (reading.reader, reading.terminal, reading.retyped if reading.is_renamed else (), start)
        if key not in self._automata:
            self._automata[key] = self._explored(reading, start)
        return self._automata[key]

    def _explored(self, reading: TerminalReading, start: _State) -> TerminalAutomaton:
        is_plain = not reading.is_renamed and start.joint.condition == ALWAYS
        if is_plain and (alone := self._text_alone(reading.terminal, start)) is not None:
            return alone
        result = TerminalAutomaton(is_whole=is_plain and not self._begun[reading.reader].sees_around)
        numbers = {start: 0}
        open_states = [start]
        edges: list[dict[int, int]] = [{}]  # by state, the symbols that lead to each other state
        while open_states:
            self._watch.check()
            state = open_states.pop()
            leaving = edges[numbers[state]]
            for symbols in self._classes_of(state, reading.terminal):
                reached, is_whole = self._next(state, symbols, reading)
                result.is_whole = result.is_whole and is_whole
                if reached is None:
                    continue
                if reached not in numbers:
                    numbers[reached] = len(numbers)
                    edges.append({})
                    open_states.append(reached)
                    past = reached.joint.past
                    end = self._forms.same(reached.end, past)
                    if end != NEVER:
                        result.ends[numbers[reached]] = (end, past)
                    elif reached.end != NEVER:
                        result.is_whole = False
                target = numbers[reached]
                leaving[target] = leaving.get(target, 0) | symbols
        ranges = self.places.alphabet.ranges
        result.edges = [
            {target: list(ranges(symbols)) for target, symbols in leaving.items()} for leaving in edges
        ]
        return result

    def _text_alone(self, terminal: int, start: _State) -> TerminalAutomaton | None:
        """The automaton of a text with which nothing competes, as of each of thousands of keywords."""
        pattern = pattern_of(self._terminals[terminal])
        if pattern.text is None or pattern.flags or self.places.sees_past:
            return None
        if any(number != terminal for number, _ in start.joint.threads):
            return None
        edges = [{at + 1: [(ord(letter), ord(letter))]} for at, letter in enumerate(pattern.text)]
        return TerminalAutomaton([*edges, {}], {len(edges): (ALWAYS, start.joint.past)})

    def _first_state(self, reading: TerminalReading, configuration: Configuration) -> _State:
        condition, past, context, *_ = configuration
        reader = reading.reader
        competing = self._competitions.within(context).competing[reader]
        if self._name in ("basic", "contextual"):
            earlier = [other for other in competing if other < reader]
            places = self.places
            others = any_of(places.begins(self._begun[other].place, past) for other in earlier)
            condition = all_of([condition, places.negated(others)])
            competing = [reader]
        threads = tuple(
            (number, thread)
            for number in competing
            for thread in self.places.reached(self._begun[number].place, past)
            if thread.place != END
        )
        joint = self._joint(threads, condition, past)
        return _State(joint, "" if reading.is_renamed else None, NEVER)

    def _joint(self, threads: _Threads, condition: Condition, past: Past) -> _Joint:
        key = (threads, condition, past)
        if key not in self._joints:
            reading_on = frozenset(number for number, thread in threads if thread.place != END)
            self._joints[key] = _Joint(threads, condition, past, reading_on)
        return self._joints[key]

    def _classes_of(self, state: _State, terminal: int) -> list[int]:
        joint = state.joint
        if joint.classes is None:
            places = {thread.place for _, thread in joint.threads} | atoms(joint.condition)
            for _, thread in joint.threads:
                if thread.condition != ALWAYS:
                    places |= atoms(thread.condition)
            joint.classes = self.places.classes(places, joint.past)
        if state.text is None:
            return joint.classes
        letters = [1 << symbol for symbol in self._symbols_of_letter(terminal, len(state.text))]
        return self.places.alphabet.classes([*joint.classes, *letters])

    def _symbols_of_letter(self, terminal: int, index: int) -> list[int]:
        """Each case of a letter is a symbol of its own."""
        of_letter = self._letter(terminal, index)
        return [self.places.alphabet.symbol(code) for low, high in of_letter for code in range(low, high + 1)]

    def _all_letters(self) -> list[Ranges]:
        """Each letter of each terminal that is a text, in each case, as a set of its own."""
        found: dict[tuple[str, int], None] = {}
        for terminal in self._terminals:
            pattern = pattern_of(terminal)
            found.update(((letter, pattern.flags & re.I), None) for letter in pattern.text or "")
        codes = {
            code
            for letter, is_in_any_case in found
            for low, high in _cases(letter, is_in_any_case)
            for code in range(low, high + 1)
        }
        return [((code, code),) for code in sorted(codes)]

    def _letter(self, terminal: int, index: int) -> Ranges:
        """A letter of the text of a terminal, in any case if it is read so."""
        pattern = pattern_of(self._terminals[terminal])
        assert pattern.text is not None, terminal
        if index >= len(pattern.text):
            return ()
        return _cases(pattern.text[index], pattern.flags & re.I)

    def _next(self, state: _State, symbols: int, reading: TerminalReading) -> tuple[_State | None, bool]:
        """The state after a symbol, ``None`` if no text goes on; and whether no match was given up."""
        reader = reading.reader
        symbol = next(symbols_of(symbols))
        text = None
        if state.text is not None:
            text = self._read_on(state.text, symbols, reading)
            if text is None:
                return None, True
        if symbol not in state.joint.steps:
            state.joint.steps[symbol] = self._step(state.joint, symbol)
        step = state.joint.steps[symbol]
        if step is None:
            return None, False
        end = self._end(step, reader)
        is_whole = step.is_whole
        if self._name == "longest":
            is_whole = is_whole and (
                end != NEVER or not any(step.threads[i][0] == reader for i in step.ended)
            )
        if text is not None and end != NEVER and self._renamed(text, reading) != reading.terminal:
            end = NEVER
        if self._terminals[reader].name in self._runs and end != NEVER:
            end = step.condition
        joint = step.joint
        if reader not in joint.open:
            if end == NEVER:
                return None, is_whole
            joint = self._joint((), joint.condition, joint.past)
        return _State(joint, text, end), is_whole

    def _step(self, joint: _Joint, symbol: int) -> _Step | None:
        """What a symbol leads to; ``None`` if what was before forbids it."""
        places = self.places
        past = places.past_after(joint.past, symbol)
        condition = places.condition_after(joint.condition, symbol, past)
        if condition == NEVER:
            return None
        threads: list[tuple[int, Thread]] = []
        ended: list[int] = []
        seen: set[tuple[int, int, Condition]] = set()
        is_whole = condition == ALWAYS
        cut: set[int] = set()  # terminals whose later threads are given up
        for number, (place, given) in joint.threads:
            if place != END and not places.mask(place) >> symbol & 1:
                continue
            holds = places.condition_after(given, symbol, past)
            if holds == NEVER:
                continue
            reached: Iterable[Thread] = (
                (Thread(END, ALWAYS),) if place == END else places.after(place, symbol, past)
            )
            for then in reached:
                if number in cut:
                    is_whole = False
                    break
                thread = Thread(then.place, all_of([holds, then.condition]))
                if thread.condition == NEVER:
                    continue
                key = (number, thread.place, thread.condition)
                if key in seen or (number, thread.place, ALWAYS) in seen:
                    continue
                seen.add(key)
                if thread.place == END and place != END:
                    ended.append(len(threads))
                threads.append((number, thread))
                if thread == Thread(END, ALWAYS) and (self._name != "longest" or self._begun[number].is_lazy):
                    cut.add(number)
        left = threads
        if self._name == "longest":
            left = [(number, thread) for number, thread in threads if thread.place != END]
        size = len(left)
        while size and left[size - 1][1] == Thread(END, ALWAYS):
            size -= 1
        after = self._joint(tuple(left[:size]), condition, past)
        return _Step(tuple(threads), ended, condition, after, is_whole)

    def _read_on(self, text: str, symbols: int, reading: TerminalReading) -> str | None:
        """What was read of a terminal's text; its case is kept only where another has the same letters."""
        terminal = reading.terminal
        character = self.places.alphabet.ranges(symbols)[0][0]
        if not meets(self._letter(terminal, len(text)), character, character):
            return None
        wanted = pattern_of(self._terminals[terminal]).text or ""
        has_rival = any(other in reading.retyped for other in self._with_letters_of(terminal))
        return text + (chr(character) if has_rival else wanted[len(text)])

    def _with_letters_of(self, terminal: int) -> list[int]:
        """The other terminals that are texts and have a text in common with a terminal that is one."""
        if not self._by_letters:
            for number, other in enumerate(self._terminals):
                self._by_letters.setdefault(_letters_of(other), []).append(number)
        if terminal not in self._rivals:
            alike = self._by_letters[_letters_of(self._terminals[terminal])]
            self._rivals[terminal] = [
                other for other in alike if other != terminal and self._has_letters(other, terminal)
            ]
        return self._rivals[terminal]

    def _has_letters(self, terminal: int, other: int) -> bool:
        """Whether two terminals that are texts have a text in common."""
        size, size_of_other = (
            len(pattern_of(self._terminals[number]).text or "") for number in (terminal, other)
        )
        return size == size_of_other and all(
            meet(self._letter(terminal, index), self._letter(other, index)) for index in range(size)
        )

    def _renamed(self, text: str, reading: TerminalReading) -> int | None:
        """The terminal that a text of an expression is given to, which has the letters of the terminal."""
        candidates = {reading.terminal, *self._with_letters_of(reading.terminal)}
        for terminal in filter(candidates.__contains__, reading.retyped):
            pattern = pattern_of(self._terminals[terminal])
            if re.fullmatch(pattern.regex, text, pattern.flags):
                return terminal
        return None

    def _end(self, step: _Step, reader: int) -> Condition:
        """The condition on what follows that the terminal ends here."""
        if reader not in step.ends:
            of_name = self._end_of_longest if self._name == "longest" else self._end_of_preferred
            step.ends[reader] = of_name(step, reader)
        return step.ends[reader]

    def _end_of_preferred(self, step: _Step, reader: int) -> Condition:
        """That no thread before the one that has ended goes on; one terminal is read by itself."""
        found = []
        before: list[Condition] = []
        for index, (_, thread) in enumerate(step.threads):
            if index in step.ended:
                none_before = self.places.negated(any_of(before))
                found.append(all_of([step.condition, thread.condition, none_before]))
            before.append(_begun(thread))
        return any_of(found)

    def _end_of_longest(self, step: _Step, reader: int) -> Condition:
        ended = [step.threads[index] for index in step.ended]
        own = any_of(thread.condition for number, thread in ended if number == reader)
        if own == NEVER:
            return NEVER
        earlier = any_of(thread.condition for number, thread in ended if number < reader)
        longer = any_of(_begun(thread) for _, thread in step.threads if thread.place != END)
        negated = self.places.negated
        return all_of([step.condition, own, negated(earlier), negated(longer)])

    # ---- languages ----

    def _texts(
        self, automaton: TerminalAutomaton, reading: TerminalReading, ends: frozenset[tuple[Condition, Past]]
    ) -> _core.Expression:
        wanted = {state for state, end in automaton.ends.items() if end in ends}
        if automaton.is_whole and len(wanted) == len(automaton.ends):
            texts = self._terminals[reading.terminal].expression
        else:
            edges = [
                {target: expressions.code_points(ranges) for target, ranges in edges.items()}
                for edges in automaton.edges
            ]
            texts = eliminated(edges, wanted, self._watch)
        if reading.retyped and not reading.is_renamed:
            others = expressions.union([self._terminals[other].expression for other in reading.retyped])
            texts = expressions.intersect([texts, expressions.complement(others)])
        return texts


def _begun(thread: Thread) -> Condition:
    return thread.condition if thread.place == END else all_of([thread.condition, atom(thread.place)])


def _cases(letter: str, is_in_any_case: int) -> Ranges:
    """A letter, or all that it equals whatever the case."""
    code = ord(letter)
    return letter_cases(code, ascii_only=False) if is_in_any_case else ((code, code),)


def _letters_of(terminal: Terminal) -> str:
    """The text of a terminal, with one letter for all that differ in case alone; none if it is no text."""
    letters = pattern_of(terminal).text or ""
    return "".join(chr(min(letter_cases(ord(letter), ascii_only=False))[0]) for letter in letters)
