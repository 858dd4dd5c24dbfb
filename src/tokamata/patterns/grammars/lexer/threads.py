r"""Regular expressions as threads in order, to find which of several matches ``re.match`` prefers.

Problem.  Of all texts of ``/\*.*?\*/`` that begin at a position, a lexer takes the first that ``re.match``
would try.  The language of the expression does not say which that is; its quantifiers do, and the order of
its alternatives.

How.  An expression becomes *places*: a character to be read, a choice in order, an assertion, the end.  A
*thread* is a place that waits for a character, and the condition that lookarounds have left
(:mod:`.conditions`).  All threads of an expression are kept in the order in which ``re`` would try them.

Worked example.  ``a|ab`` after ``a``: the thread of the first alternative has ended, and the one that waits
for ``b`` comes after it, so it is given up.  ``a(?!c)|ab`` after ``a``: the first has ended on the condition
that no ``c`` follows; the second goes on, for the case that one does.

Lookbehinds, anchors and word boundaries depend on the text before, also on that of other terminals.  A
:class:`Past` is what they need to know of it.

Threads are followed by the symbols of an :class:`.Alphabet`, which the sets of all expressions make.

What an identifier begins with, ``(?!(?:if|for|while)\b)[a-z]+``, is a clause of many atoms, and its negation
would have a clause for each of them; two of these would have as many as pairs.  There an atom stands for the
whole condition: a *composite*.

Source.  R. Cox, Regular expression matching: the virtual machine approach, 2009 (threads in order).
Cost.  A place for each character of the expression, times its repetitions; :data:`MOST_PLACES` bounds them.
A condition costs, for each symbol, the atoms that read the symbol.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import NamedTuple

from tokamata.errors import LimitExceeded, UnsupportedPatternError
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
from tokamata.patterns.regex.classes import named_class
from tokamata.patterns.regex.parser import parse
from tokamata.patterns.regex.syntax import (
    LAST_LINE_END,
    LINE_END,
    LINE_START,
    TEXT_START,
    Anchor,
    CodePoints,
    Concat,
    Group,
    Literal,
    Look,
    Node,
    Repeat,
    Union,
    WordBoundary,
    children_first,
)
from tokamata.patterns.unicode import Ranges
from tokamata.resources.limits import Watch

__all__ = ["END", "Begun", "Past", "Places", "Thread"]

MOST_PLACES = 100_000
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


class _Character(NamedTuple):
    ranges: Ranges
    after: int


class _Choice(NamedTuple):
    options: tuple[int, ...]  # in order


class _Back(NamedTuple):
    """The end of a round of a repetition: another round, or what follows if this one read nothing."""

    again: int
    after: int


class _Ahead(NamedTuple):
    body: int
    is_negated: bool
    after: int


class _Behind(NamedTuple):
    number: int
    is_negated: bool
    after: int


class _Boundary(NamedTuple):
    word: int  # the place of a word character, which ends there
    number: int  # of the set of word characters
    is_negated: bool
    after: int


class _LineStart(NamedTuple):
    number: int | None  # of the set of characters that end a line; None: the start of the text alone
    after: int


class _End(NamedTuple):
    pass


_Place = _Character | _Choice | _Back | _Ahead | _Behind | _Boundary | _LineStart | _End


class Places:
    """The places of all expressions of a grammar.

    Args:
        watch: stops the work.
        apart: sets of characters that are to be told apart besides those of the expressions.
    """

    def __init__(self, watch: Watch, apart: Iterable[Ranges] = ()) -> None:
        self._watch = watch
        self._apart = list(apart)
        self._alphabet: Alphabet | None = None  # made when all expressions are known
        self._places: list[_Place] = [_End()]
        self._sets: list[Ranges] = []
        self._behind: list[int] = []  # by number, where the expression begins
        self._sees_start = False
        self._any = self._new(_Character(named_class("any"), END))
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
        repeats = [node for node in children_first(tree.root) if isinstance(node, Repeat)]
        return Begun(
            self._compiled(tree.root, END, regex),
            sees_around=bool(tree.looks or tree.anchors),
            is_lazy=any(node.lazy for node in repeats),
        )

    def add_automaton(self, automaton: Automaton) -> Begun:
        """The same for an automaton; of its texts a match prefers the longest."""
        states = [self._new(_End()) for _ in automaton.edges]
        for state, edges in enumerate(automaton.edges):
            self._watch.check()
            options = [self._new(_Character(ranges, states[target])) for target, ranges in edges.items()]
            self._places[states[state]] = _Choice(
                (*options, *([END] if state in automaton.accepting else []))
            )
        return Begun(states[0], sees_around=False, is_lazy=False)

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
            sets = [at.ranges for at in self._places if isinstance(at, _Character)]
            self._alphabet = Alphabet([*sets, *self._sets, *self._apart], self._watch)
            self._masks = [
                self._alphabet.mask(at.ranges) if isinstance(at, _Character) else 0 for at in self._places
            ]
        return self._alphabet

    def mask(self, place: int) -> int:
        """The symbols that a thread waits for; none for :data:`END`."""
        everything = self.alphabet.everything
        return everything if place in self._composed else self._masks[place]

    def first(self, begin: int) -> int:
        """The symbols that a match from a place may begin with, whatever assertions say."""
        found = 0
        seen, open_places = {begin}, [begin]
        while open_places:
            place = open_places.pop()
            at = self._places[place]
            if isinstance(at, _Character):
                found |= self.mask(place)
            elif not isinstance(at, _End):
                after = at.options if isinstance(at, _Choice) else (at.after,)
                open_places += set(after) - seen
                seen.update(after)
        return found

    def may_be_last(self, place: int) -> bool:
        """Whether a match may end after the character of a place, whatever follows."""
        if place in self._composed:
            return False
        if place not in self._last:
            found = False
            at = self._places[place]
            open_places = [at.after] if isinstance(at, _Character) else []
            seen = set(open_places)
            while open_places and not found:
                at = self._places[open_places.pop()]
                found = isinstance(at, _End)
                inside = at.options if isinstance(at, _Choice) else ()
                after = (at.again, at.after) if isinstance(at, _Back) else inside
                open_places += set(after) - seen
                seen.update(after)
            self._last[place] = found
        return self._last[place]

    def reached(self, place: int, past: Past) -> tuple[Thread, ...]:
        """The threads that a place stands for, in order.  Those that wait for nothing have ended."""
        key = (place, past)
        if key not in self._reached:
            self._reached[key] = tuple(self._reach(place, past))
        return self._reached[key]

    def after(self, place: int, symbol: int, past: Past) -> tuple[Thread, ...]:
        """The threads after a symbol that a thread at ``place`` reads; ``past`` includes it."""
        found = self._places[place]
        if isinstance(found, _Character) and self.mask(place) >> symbol & 1:
            return self.reached(found.after, past)
        return ()

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
                found = self._places[atom_of]
                assert isinstance(found, _Character)
                holds = self.begins(found.after, past)
            self._after_literals[key] = holds if literal > 0 else self.negated(holds)
        return self._after_literals[key]

    def negated(self, condition: Condition) -> Condition:
        """It does not hold."""
        if math.prod(map(len, condition)) <= MOST_NEGATED or all(len(clause) == 1 for clause in condition):
            return negated(condition)
        if condition not in self._composites:
            composite = MOST_PLACES + len(self._composites) + 1
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
                        at = self._places[waiting.place]
                        if isinstance(at, _Character) and self.mask(waiting.place) >> symbol & 1:
                            found.add(at.after)
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

    # ---- from an expression to places ----

    def _new(self, place: _Place) -> int:
        if len(self._places) >= MOST_PLACES:
            raise LimitExceeded("states", MOST_PLACES, is_fixed=True)
        self._places.append(place)
        return len(self._places) - 1

    def _compiled(self, root: Node, after: int, regex: str, is_behind: bool = False) -> int:
        """The place where a tree begins.  A list of trees to come takes the place of recursion."""
        first = self._new(_End())  # filled in below
        pending: list[tuple[Node, int, int]] = [(root, first, after)]
        while pending:
            self._watch.check()
            node, place, after = pending.pop()
            if isinstance(node, Literal):
                for character in reversed(node.text[1:]):
                    after = self._new(_Character(((ord(character), ord(character)),), after))
                self._places[place] = _Character(((ord(node.text[0]), ord(node.text[0])),), after)
            elif isinstance(node, CodePoints):
                self._places[place] = _Character((node.twin or node).ranges, after)
            elif isinstance(node, Group):
                pending.append((node.body, place, after))
            elif isinstance(node, Concat):
                for item in reversed(node.items[1:]):
                    begin = self._new(_End())
                    pending.append((item, begin, after))
                    after = begin
                if node.items:
                    pending.append((node.items[0], place, after))
                else:
                    self._places[place] = _Choice((after,))
            elif isinstance(node, Union):
                begins = tuple(self._new(_End()) for _ in node.options)
                self._places[place] = _Choice(begins)
                pending += [
                    (option, begin, after) for option, begin in zip(node.options, begins, strict=True)
                ]
            elif isinstance(node, Repeat):
                self._repeat(node, place, after, pending)
            elif is_behind:
                reason = "an assertion within a lookbehind of a terminal"
                raise UnsupportedPatternError(regex, node.position, reason)
            else:
                self._places[place] = self._assertion(node, after, regex)
        return first

    def _repeat(self, node: Repeat, place: int, after: int, pending: list[tuple[Node, int, int]]) -> None:
        def choice(body: int, exit_place: int) -> _Choice:
            return _Choice((exit_place, body) if node.lazy else (body, exit_place))

        required = node.minimum
        if node.maximum is None:
            body, loop = self._new(_End()), self._new(_End())
            self._places[loop] = choice(body, after)
            pending.append((node.body, body, self._new(_Back(loop, after))))
            # The last round that is required may be the first of the loop: so it has no places of its own.
            begin = body if required else loop
            required = max(required - 1, 0)
        else:
            begin = after
            for _ in range(node.maximum - node.minimum):
                body = self._new(_End())
                pending.append((node.body, body, begin))
                begin = self._new(choice(body, after))
        for _ in range(required):
            body = self._new(_End())
            pending.append((node.body, body, begin))
            begin = body
        self._places[place] = _Choice((begin,))

    def _assertion(self, node: Node, after: int, regex: str) -> _Place:
        if isinstance(node, WordBoundary):
            words = named_class(node.words)
            return _Boundary(self._new(_Character(words, END)), self._set(words), node.negated, after)
        if isinstance(node, Look):
            if not node.behind:
                return _Ahead(self._compiled(node.body, END, regex), node.negated, after)
            self._behind.append(self._compiled(node.body, END, regex, is_behind=True))
            return _Behind(len(self._behind) - 1, node.negated, after)
        assert isinstance(node, Anchor), node
        if node.kind in (TEXT_START, LINE_START):
            self._sees_start = True
            return _LineStart(self._set(node.line_ends) if node.kind == LINE_START else None, after)
        # The end of a text is where no character follows.
        at_end = self._new(_Ahead(self._any, True, END))
        if node.kind == LAST_LINE_END:
            at_end = self._new(_Choice((at_end, self._new(_Character(node.line_ends, at_end)))))
        elif node.kind == LINE_END:
            at_end = self._new(_Choice((at_end, self._new(_Character(node.line_ends, END)))))
        return _Ahead(at_end, False, after)

    def _set(self, ranges: Ranges) -> int:
        if ranges not in self._sets:
            self._sets.append(ranges)
        return self._sets.index(ranges)

    # ---- threads ----

    def _reach(self, place: int, past: Past) -> list[Thread]:
        found: list[Thread] = []
        pending: list[tuple[int, Condition, frozenset[int]]] = [(place, ALWAYS, frozenset())]
        seen: set[tuple[int, Condition]] = set()
        while pending:
            place, condition, loops = pending.pop()
            if condition == NEVER or (place, ALWAYS) in seen or (place, condition) in seen:
                continue
            at = self._places[place]
            if not isinstance(at, _Back):
                seen.add((place, condition))
            if isinstance(at, (_Character, _End)):
                found.append(Thread(place, condition))
            elif isinstance(at, _Choice):
                # The places of a repetition that are met again have read nothing since.
                inside = loops | {place}
                pending += [(option, condition, inside) for option in reversed(at.options)]
            elif isinstance(at, _Back):
                pending.append((at.after if at.again in loops else at.again, condition, loops))
            else:
                pending.append((at.after, all_of([condition, self._asserted(at, past)]), loops))
        return found

    def _asserted(self, at: _Ahead | _Behind | _Boundary | _LineStart, past: Past) -> Condition:
        if isinstance(at, _Ahead):
            holds = self.begins(at.body, past)
            return self.negated(holds) if at.is_negated else holds
        if isinstance(at, _LineStart):
            is_start = past.at_start or (at.number is not None and past.sets[at.number])
            return ALWAYS if is_start else NEVER
        if isinstance(at, _Behind):
            is_behind = any(
                thread.place == END
                for place in past.behind[at.number]
                for thread in self.reached(place, _NO_PAST)
            )
            return ALWAYS if is_behind != at.is_negated else NEVER
        follows = self.begins(at.word, past)
        differs = self.negated(follows) if past.sets[at.number] else follows
        return self.negated(differs) if at.is_negated else differs
