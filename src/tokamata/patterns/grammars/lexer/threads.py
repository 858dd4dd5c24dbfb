r"""Regular expressions as threads in order, to find which of several matches ``re.match`` prefers.

Problem.  Of all texts of ``/\*.*?\*/`` that begin at a position, a lexer takes the first that ``re.match``
would try.  The language of the expression does not say which that is; its quantifiers do, and the order of
its alternatives.

How.  Expressions are compiled to one program (:mod:`tokamata.patterns.regex.program`); a *place* is the
number of an instruction.  A *thread* is a place that waits for a character, and the condition that
lookarounds have left (:mod:`.conditions`).  All threads of an expression are kept in the order in which
``re`` would try them.

Worked example.  ``a|ab`` after ``a``: the thread of the first alternative has ended, and the one that waits
for ``b`` comes after it, so it is given up.  ``a(?!c)|ab`` after ``a``: the first has ended on the condition
that no ``c`` follows; the second goes on, for the case that one does.

Lookbehinds, anchors and word boundaries depend on the text before, also on that of other terminals.  A
:class:`Past` is what they need to know of it.

Threads are followed by the symbols of an :class:`.Alphabet`, which the sets of all expressions make.

What an identifier begins with, ``(?!(?:if|for|while)\b)[a-z]+``, is a clause of many atoms, and its negation
would have a clause for each of them; two of these would have as many as pairs.  There an atom stands for the
whole condition: a *composite*.

Cost.  That of the program, where repetitions are expanded.  A condition costs, for each symbol, the atoms
that read the symbol.
Not taken.  The executors of the core: they read a text that is there.  Here it is still to be written.
Whether ``a(?!c)`` has matched after ``a`` is a condition on it, which decides what may be written.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Iterator
from typing import NamedTuple, cast

from tokamata.errors import UnsupportedPatternError
from tokamata.patterns.grammars.lexer.alphabet import Alphabet
from tokamata.patterns.grammars.lexer.conditions import (
    ALWAYS,
    NEVER,
    Condition,
    all_of,
    any_of,
    atom,
    atoms,
    negated,
)
from tokamata.patterns.grammars.rules.rule_trees import Automaton
from tokamata.patterns.regex import syntax
from tokamata.patterns.regex.parser import parse
from tokamata.patterns.regex.program import BOUNDARIES, Compiler, Instruction, Item, Program, threads_at
from tokamata.patterns.unicode import Ranges
from tokamata.resources.limits import Watch

__all__ = ["END", "Begun", "Past", "Places", "Thread"]

_MOST_INSTRUCTIONS = 300_000  # of all expressions; an automaton of 20,000 states takes three for each edge
_FIRST_COMPOSITE = 1_000_000  # atoms from here on are no places
MOST_NEGATED = 16  # clauses of a negation that are written out
END = 0  # the place where a match has ended


class Past(NamedTuple):
    """What assertions need to know of the text before a position.

    Attributes:
        at_start: whether there is none, if any assertion depends on that.
        sets: by the number of a set that an assertion names, whether the last character is in it.
        behind: by the number of a lookbehind, the places of its expression that what was read leads to.
    """

    at_start: bool
    sets: tuple[bool, ...]
    behind: tuple[frozenset[int], ...]


_NO_PAST = Past(False, (), ())


class Thread(NamedTuple):
    """A place that is reached, if a condition on what follows holds."""

    place: int
    condition: Condition


class Begun(NamedTuple):
    """Where an expression begins.

    Attributes:
        place: the place.
        sees_around: whether it has assertions, which may see more than its text.
        is_lazy: whether it has a lazy quantifier.
    """

    place: int
    sees_around: bool
    is_lazy: bool


class Places:
    """The places of all expressions of a grammar.

    Args:
        watch: stops the work.
        apart: sets of characters that must be distinguished besides those of the expressions.
    """

    def __init__(self, watch: Watch, apart: Iterable[Ranges] = ()) -> None:
        self._watch = watch
        self._apart = list(apart)
        self._alphabet: Alphabet | None = None  # made when all expressions are known
        self._program = Program(_MOST_INSTRUCTIONS)
        self._program.label(END)
        self._program.accept()
        self._by_number: list[Ranges] = []  # the sets of the program
        self._sets: list[Ranges] = []  # those that assertions about the text before name
        self._behind: list[int] = []  # by number, where what a lookbehind reads begins
        self._number_behind: dict[int, int] = {}
        self._words: dict[Ranges, int] = {}  # by set, the place of a word character, which ends there
        self._sees_start = False
        self._reached: dict[tuple[int, Past], tuple[Thread, ...]] = {}
        self._conditions: dict[tuple[int, Past], Condition] = {}
        self._masks: list[int] = []  # by place, the symbols that a thread waits for
        self._last: dict[int, bool] = {}
        self._waiting: dict[int, frozenset[int]] = {}  # by symbol, the atoms that read it and their negations
        self._composites: dict[Condition, int] = {}  # the atoms that stand for conditions
        self._composed: dict[int, Condition] = {}  # the same, by atom
        self._literals_of_composites: set[int] = set()  # these atoms and their negations
        self._after_literals: dict[tuple[int, int, Past], Condition] = {}
        self._after_conditions: dict[tuple[Condition, int, Past], Condition] = {}
        self._after_pasts: dict[tuple[Past, int], Past] = {}

    def add(self, regex: str, flags: int) -> Begun:
        """The place where an expression begins, and what is to be known of it.

        Raises:
            PatternError: it is no regular expression, or it has a lookaround within a lookbehind.
            LimitExceeded: it has too many places.
        """
        tree = parse(regex, flags, keeps_groups=True, watch=self._watch)
        repeats = [node for node in syntax.children_first(tree.root) if isinstance(node, syntax.Repeat)]
        begin = len(self._program.code)
        _Compiler(self._program, regex, self._watch).write(tree.root)
        self._program.jump(END)
        self._note_assertions(begin)
        return Begun(
            begin,
            sees_around=bool(tree.looks or tree.anchors),
            is_lazy=any(node.lazy for node in repeats),
        )

    def add_automaton(self, automaton: Automaton) -> Begun:
        """The same for an automaton; of its texts a match prefers the longest."""
        program = self._program
        states = [program.new_label() for _ in automaton.edges]
        begin = len(program.code)
        for state, edges in enumerate(automaton.edges):
            self._watch.check()
            program.label(states[state])
            options: list[tuple[Hashable, Ranges | None]] = [
                (states[target], ranges) for target, ranges in edges.items()
            ]
            if state in automaton.accepting:
                options.append((END, None))
            for last, (after, ranges) in enumerate(options, 1 - len(options)):
                other = program.new_label()
                if last < 0:
                    program.fork(other)
                if ranges is not None:
                    program.read(ranges)
                program.jump(after)
                program.label(other)
            if not options:
                program.read(())  # no character
                program.jump(END)
        return Begun(begin, sees_around=False, is_lazy=False)

    def _note_assertions(self, begin: int) -> None:
        """What the assertions need to know of the text before, of the instructions from one on."""
        program = self._program
        for place in range(begin, len(program.code)):
            one = program.code[place]
            if one.operation in (syntax.TEXT_START, syntax.LINE_START):
                self._sees_start = True
            elif one.operation == "look" and "behind" in one.flags:
                self._number_behind[place] = len(self._behind)
                self._behind.append(place + 1)
            if one.operation in (syntax.LINE_START, *BOUNDARIES):
                ranges = self._ranges(one)
                if ranges not in self._sets:
                    self._sets.append(ranges)
                if one.operation != syntax.LINE_START and ranges not in self._words:
                    self._words[ranges] = len(program.code)
                    program.read(ranges)
                    program.jump(END)

    def _ranges(self, one: Instruction) -> Ranges:
        """The set that an instruction names."""
        if len(self._by_number) < len(self._program.sets):
            self._by_number = cast("list[Ranges]", list(self._program.sets))
        return self._by_number[one.number]

    @property
    def start(self) -> Past:
        """What is known at the start of a text."""
        behind = tuple(frozenset([begin]) for begin in self._behind)
        return Past(self._sees_start, (False,) * len(self._sets), behind)

    @property
    def sees_past(self) -> bool:
        """Whether an assertion depends on the text before."""
        return self._sees_start or bool(self._sets or self._behind)

    @property
    def alphabet(self) -> Alphabet:
        """The symbols that the expressions distinguish; no expression is added after this."""
        if self._alphabet is None:
            code = self._program.code
            sets = [self._ranges(one) for one in code if one.operation == "read"]
            self._alphabet = Alphabet([*sets, *self._sets, *self._apart], self._watch)
            self._masks = [
                self._alphabet.mask(self._ranges(one)) if one.operation == "read" else 0 for one in code
            ]
        return self._alphabet

    def mask(self, place: int) -> int:
        """The symbols that a thread waits for; none for :data:`END`."""
        everything = self.alphabet.everything
        return everything if place in self._composed else self._masks[place]

    def first(self, begin: int) -> int:
        """The symbols that a match from a place may begin with, whatever assertions say."""
        found = 0
        for place in self._without_reading(begin):
            if self._program.code[place].operation == "read":
                found |= self.mask(place)
        return found

    def may_be_last(self, place: int) -> bool:
        """Whether a match may end after the character of a place, whatever follows."""
        if place in self._composed:
            return False
        if place not in self._last:
            code = self._program.code
            self._last[place] = code[place].operation == "read" and any(
                code[after].operation == "accept" for after in self._without_reading(place + 1)
            )
        return self._last[place]

    def _without_reading(self, begin: int) -> set[int]:
        """The places that are reached from one before anything is read, whatever assertions say."""
        seen, open_places = {begin}, [begin]
        while open_places:
            place = open_places.pop()
            one = self._program.code[place]
            if one.operation in ("fork", "again"):
                after = {place + 1, one.target}
            elif one.operation in ("jump", "look"):
                after = {one.target}
            else:
                after = set() if one.operation in ("read", "accept") else {place + 1}
            open_places += after - seen
            seen |= after
        return seen

    def reached(self, place: int, past: Past) -> tuple[Thread, ...]:
        """The threads that a place stands for, in order.  Those that wait for nothing have ended."""
        while self._program.code[place].operation == "jump":
            place = self._program.code[place].target
        key = (place, past)
        if key not in self._reached:
            self._reached[key] = tuple(self._reach(place, past))
        return self._reached[key]

    def after(self, place: int, symbol: int, past: Past) -> tuple[Thread, ...]:
        """The threads after a symbol that a thread at ``place`` reads; ``past`` includes it."""
        return self.reached(place + 1, past) if self.mask(place) >> symbol & 1 else ()

    def begins(self, place: int, past: Past) -> Condition:
        """What follows begins with a match from this place."""
        key = (place, past)
        if key not in self._conditions:
            self._conditions[key] = any_of(
                thread.condition if thread.place == END else all_of([thread.condition, atom(thread.place)])
                for thread in self.reached(place, past)
            )
        return self._conditions[key]

    def condition_after(self, condition: Condition, symbol: int, past: Past) -> Condition:
        """What a condition says after a symbol; ``past`` includes it."""
        if condition in (ALWAYS, NEVER):
            return condition
        key = (condition, symbol, past)
        if key not in self._after_conditions:
            waiting = self._waiting_for(symbol)
            found = []
            for clause in condition:
                left = clause & waiting  # of the others, no match goes on
                if composites := clause & self._literals_of_composites:
                    left |= composites
                if max(clause - left, default=-1) < 0:
                    found.append(all_of(self._literal_after(literal, symbol, past) for literal in left))
            self._after_conditions[key] = any_of(found)
        return self._after_conditions[key]

    def _waiting_for(self, symbol: int) -> frozenset[int]:
        if symbol not in self._waiting:
            bit = 1 << symbol
            assert self.alphabet is not None
            places = [place for place, mask in enumerate(self._masks) if mask & bit]
            self._waiting[symbol] = frozenset([*places, *(-place for place in places)])
        return self._waiting[symbol]

    def _literal_after(self, literal: int, symbol: int, past: Past) -> Condition:
        """What a literal says after a symbol that its place reads."""
        atom_of = abs(literal)
        is_composite = atom_of in self._composed
        key = (literal, symbol if is_composite else -1, past)  # after a character of a place all are alike
        if key not in self._after_literals:
            if is_composite:
                holds = self.condition_after(self._composed[atom_of], symbol, past)
            else:
                holds = self.begins(atom_of + 1, past)
            self._after_literals[key] = holds if literal > 0 else self.negated(holds)
        return self._after_literals[key]

    def negated(self, condition: Condition) -> Condition:
        """It does not hold."""
        if math.prod(map(len, condition)) <= MOST_NEGATED or all(len(clause) == 1 for clause in condition):
            return negated(condition)
        if condition not in self._composites:
            composite = _FIRST_COMPOSITE + len(self._composites)
            self._composites[condition] = composite
            self._composed[composite] = condition
            self._literals_of_composites |= {composite, -composite}
        return frozenset([frozenset([-self._composites[condition]])])

    def is_composite(self, place: int) -> bool:
        """Whether an atom stands for a condition, and may so hold whatever follows."""
        return place in self._composed

    def holds_at_end(self, condition: Condition) -> bool:
        """Whether a condition holds where the text ends."""
        return any(all(map(self._literal_at_end, clause)) for clause in condition)

    def _literal_at_end(self, literal: int) -> bool:
        composed = self._composed.get(abs(literal))
        return (literal > 0) == (composed is not None and self.holds_at_end(composed))

    def past_after(self, past: Past, symbol: int) -> Past:
        """What is known after one more symbol."""
        if not self.sees_past:
            return past
        key = (past, symbol)
        if key not in self._after_pasts:
            behind = []
            for number, places in enumerate(past.behind):
                found = {self._behind[number]}
                for place in places:
                    for waiting in self.reached(place, _NO_PAST):
                        if self.mask(waiting.place) >> symbol & 1:
                            found.add(waiting.place + 1)
                behind.append(frozenset(found))
            sets = tuple(self.alphabet.mask(ranges) >> symbol & 1 == 1 for ranges in self._sets)
            self._after_pasts[key] = Past(False, sets, tuple(behind))
        return self._after_pasts[key]

    def classes(self, places: Iterable[int], past: Past, apart: Iterable[int] = ()) -> list[int]:
        """All symbols, those together after which threads at these places, and the past, are alike.

        Symbols of which a set of ``apart`` has one and not the other are not together.
        """
        alphabet = self.alphabet
        masks = {self._masks[place] for place in self._without_composites(places)}
        masks.update(map(alphabet.mask, self._sets))
        for reached in past.behind:
            masks.update(
                self._masks[waiting.place] for place in reached for waiting in self.reached(place, _NO_PAST)
            )
        return alphabet.classes([*masks, *apart])

    def _without_composites(self, places: Iterable[int]) -> set[int]:
        """Places, and those that composites are about."""
        found = set(places)
        open_atoms = list(found & self._composed.keys())
        while open_atoms:
            composite = open_atoms.pop()
            inside = atoms(self._composed[composite]) - found
            found |= inside
            open_atoms += inside & self._composed.keys()
        return found - self._composed.keys()

    # ---- threads ----

    def _reach(self, place: int, past: Past) -> Iterator[Thread]:
        code = self._program.code

        def assertion(at: int, condition: Condition) -> Condition | None:
            left = all_of([condition, self._asserted(at, past)])
            return None if left == NEVER else left

        for at, condition in threads_at(code, [place], ALWAYS, assertion):
            yield Thread(END if code[at].operation == "accept" else at, condition)

    def _asserted(self, place: int, past: Past) -> Condition:
        """The condition that an assertion leaves."""
        one = self._program.code[place]
        if one.operation == syntax.TEXT_START:
            return ALWAYS if past.at_start else NEVER
        if one.operation == syntax.LINE_START:
            return ALWAYS if past.at_start or past.sets[self._sets.index(self._ranges(one))] else NEVER
        if one.operation == "look":
            is_negated = "negated" in one.flags
            if "behind" not in one.flags:
                holds = self.begins(place + 1, past)
                return self.negated(holds) if is_negated else holds
            is_behind = any(
                thread.place == END
                for before in past.behind[self._number_behind[place]]
                for thread in self.reached(before, _NO_PAST)
            )
            return ALWAYS if is_behind != is_negated else NEVER
        words = self._ranges(one)
        follows = self.begins(self._words[words], past)
        differs = self.negated(follows) if past.sets[self._sets.index(words)] else follows
        return self.negated(differs) if one.operation == "not_boundary" else differs


class _Compiler(Compiler):
    """Compiles an expression for threads.  What follows is a condition: so ends of lines are lookaheads."""

    def __init__(self, program: Program, regex: str, watch: Watch) -> None:
        super().__init__(program, watch=watch)
        self._regex = regex
        self._is_behind = False

    def look(self, node: syntax.Look) -> list[Item]:
        """A lookaround; what a lookbehind reads is followed beside the text, and has none of its own."""
        self._refuse_behind(node)
        items = self.looking([node.body], node.behind, node.negated)
        return [self._enter_behind, *items, self._leave_behind] if node.behind else items

    def assertion(self, node: syntax.Anchor | syntax.WordBoundary) -> list[Item]:
        """An assertion about the text before, or a lookahead."""
        self._refuse_behind(node)
        if isinstance(node, syntax.WordBoundary) or node.kind in (syntax.TEXT_START, syntax.LINE_START):
            return super().assertion(node)
        return self.as_looks(node)

    def _refuse_behind(self, node: syntax.Look | syntax.Anchor | syntax.WordBoundary) -> None:
        if self._is_behind:
            reason = "an assertion within a lookbehind of a terminal"
            raise UnsupportedPatternError(self._regex, node.position, reason)

    def _enter_behind(self) -> None:
        self._is_behind = True

    def _leave_behind(self) -> None:
        self._is_behind = False
