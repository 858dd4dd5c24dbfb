r"""Regular expressions as programs: lists of instructions whose alternatives have an order.

Problem.  The language of an expression does not say which of its matches ``re`` prefers: ``(?:x|xy)(?:y?)``
matches ``"xy"`` in two ways.  Its quantifiers say so, and the order of its alternatives.  Named groups,
lexers, the patterns of repairs and pre-tokenizers all need that, each for another kind of input.

How.  A :class:`Compiler` writes the tree of an expression as a :class:`Program`.  What the leaves of the tree
become is decided by who needs the program: a set of code points or of bytes, a class that only a tokenizer
knows, a whole language.

Worked example.  ``(?:ab|c)*(?=d)`` over characters::

    0  fork 7       a turn of the repetition; if that fails, on at 7
    1  fork 5       the first alternative; if that fails, the second
    2  read a
    3  read b
    4  jump 6
    5  read c
    6  again 0      on at 7 if the turn read nothing
    7  look 10      what follows must match 8 to 9; then on at 10
    8  read d
    9  accept
    10 accept

The instructions; ``core/programs/program.hpp`` is their table in the core:

====================  ==================================================================================
``accept``            the end of the program, or of what a ``look`` reads
``read``              one symbol of the set ``number``
``run``               ``low`` to ``high`` symbols of the set, as many as possible
``part``              a text of the leaf ``number``, the longest that the rest allows; ``lazy``: the shortest
``fork``              the next instruction or, if that fails, ``target``; ``lazy``: ``target`` first
``jump``              ``target``
``mark``              notes the position under ``number``
``enter``, ``leave``  begin and end a repetition whose turns are counted
``loop``              a turn, if fewer than ``high`` are done; ``target``, if ``low`` are; ``lazy``: first
``again``             the end of a turn: back to ``target``, where the repetition began.  A turn that read
                      nothing ends the repetition or, if it ``drops_empty``, is not taken; but it counts
                      while fewer than ``low`` are done.
``look``              what comes next up to an ``accept`` matches here (``behind``: what was read matches
                      it; ``negated``: it does not), and ``target`` follows.  ``low``: how far back it
                      begins, if what runs the program needs it
``text_start``, …     the assertions of :mod:`.syntax`; ``boundary`` and ``not_boundary``.  ``number`` is the
                      set of line ends, or of word characters
====================  ==================================================================================

Who runs them.  In the core ``core/programs/splitter`` follows all threads at once, in linear time, with marks
and over languages: named groups, and the values of constraints.  ``core/programs/backtracker`` tries one
thread after the other, for the short matches of repairs.  In Python, :func:`threads_at` is the order of
threads at a position, from which automata are made: of lexers, whose text is still to be written
(:mod:`tokamata.patterns.grammars.lexer.threads`), and of pre-tokenizers, over classes that only they know
(:mod:`tokamata.tokenization.pretokenizers.matching`).

Source.  K. Thompson, *Regular expression search algorithm*, 1968; R. Cox, *Regular expression matching: the
virtual machine approach*, 2009.
Cost.  Linear in the expression; where turns are not counted, in its expanded repetitions.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple, TypeVar

from tokamata.errors import LimitExceeded
from tokamata.patterns.regex import syntax
from tokamata.patterns.regex.classes import named_class
from tokamata.patterns.unicode import Ranges
from tokamata.resources.limits import Watch

__all__ = ["BOUNDARIES", "Compiler", "Instruction", "Item", "Program", "Sets", "threads_at"]

BOUNDARIES = ("boundary", "not_boundary")  # by whether they are negated
_ALL: Ranges = ((0, 0x10FFFF),)
_NEWLINE: Ranges = ((10, 10),)


class Instruction(NamedTuple):
    """One instruction; the table above says what its members mean."""

    operation: str
    number: int = 0
    target: int = 0
    low: int = 0
    high: int | None = 0  # ``None``: without bound
    flags: str = ""


class Sets(dict[Hashable, int]):
    """Sets of symbols, in the order of their numbers: each gets one when it is looked up."""

    def __missing__(self, symbols: Hashable) -> int:
        number = self[symbols] = len(self)
        return number


class Program:
    """A program under construction.

    Places in it have labels: anything hashable, placed once, before or after it is used.

    Args:
        most: how many instructions it may have.
        sets: what ``read`` and ``run`` read, if several programs share it.

    Attributes:
        code: the instructions; targets are filled in when their labels are placed.
        sets: what ``read`` and ``run`` read.
    """

    def __init__(self, most: float = math.inf, sets: Sets | None = None) -> None:
        self.code: list[Instruction] = []
        self.sets = Sets() if sets is None else sets
        self._most = most
        self._placed: dict[Hashable, int] = {}
        self._waiting: dict[Hashable, list[int]] = {}
        self._labels = 0

    def new_label(self) -> Hashable:
        """A label that is used nowhere else."""
        self._labels += 1
        return self._labels

    def label(self, name: Hashable) -> None:
        """Names the next instruction."""
        self._placed[name] = here = len(self.code)
        for position in self._waiting.pop(name, ()):
            operation, number, _, low, high, flags = self.code[position]
            self.code[position] = _new(Instruction, (operation, number, here, low, high, flags))

    def read(self, symbols: Hashable) -> None:
        """Reads one symbol of a set."""
        if len(self.code) >= self._most:
            self.has_room(1)
        # Written out, since half of all instructions are reads.
        self.code.append(_new(Instruction, ("read", self.sets[symbols], 0, 0, 0, "")))

    def run(self, symbols: Hashable, low: int, high: int | None) -> None:
        """Reads ``low`` to ``high`` symbols of a set, as many as possible."""
        self._emit("run", self.sets[symbols], low=low, high=high)

    def part(self, leaf: int, lazy: bool = False) -> None:
        """Reads a text of a leaf: the longest that the rest allows, or the shortest if ``lazy``."""
        self._emit("part", leaf, flags="lazy" if lazy else "")

    def mark(self, number: int) -> None:
        """Notes the position."""
        self._emit("mark", number)

    def piece(self, number: int) -> None:
        """Reads a text of leaf ``number``, and marks where it begins and ends."""
        self.mark(2 * number)
        self.part(number)
        self.mark(2 * number + 1)

    def fork(self, label: Hashable, lazy: bool = False) -> None:
        """Continues with the next instruction or, if that fails, at the label; ``lazy``: in reverse order."""
        self._emit("fork", target=label, flags="lazy" if lazy else "")

    def jump(self, label: Hashable) -> None:
        """Continues at the label."""
        self._emit("jump", target=label)

    def again(self, label: Hashable, drops_empty: bool = False) -> None:
        """Ends a turn of the repetition that begins at the label."""
        self._emit("again", target=label, flags="drops_empty" if drops_empty else "")

    def begin_repetition(self, low: int, high: int | None, lazy: bool = False) -> Hashable:
        """Repeats the instructions up to :meth:`end_repetition` ``low`` to ``high`` times; returns a name."""
        name = self.new_label()
        self._emit("enter")
        self.label(name)
        self._emit("loop", target=("end", name), low=low, high=high, flags="lazy" if lazy else "")
        return name

    def end_repetition(self, name: Hashable, drops_empty: bool = False) -> None:
        """The end of the repetition of this name.

        ``drops_empty``: past the minimum, an empty turn is not taken; otherwise it is the last.
        """
        self.again(name, drops_empty)
        self.label(("end", name))
        self._emit("leave")

    def look(self, end: Hashable, behind: bool, negated: bool, width: int = 0) -> None:
        """Continues at a label if the instructions up to :meth:`end_look` match what follows.

        Args:
            end: the label.
            behind: what was read, in place of what follows.
            negated: if they do not match.
            width: how much they read, where ``behind`` and what runs the program needs it.
        """
        self._emit("look", target=end, low=width, flags="behind" * behind + " negated" * negated)

    def end_look(self, end: Hashable) -> None:
        """The end of what the ``look`` with this label reads."""
        self.accept()
        self.label(end)

    def assertion(self, operation: str, symbols: Hashable = None) -> None:
        """An assertion, and the line ends or the word characters that it is about."""
        self._emit(operation, 0 if symbols is None else self.sets[symbols])

    def accept(self) -> None:
        """The end of the program, or of what a ``look`` reads."""
        self._emit("accept")

    def ended(self) -> list[Instruction]:
        """The instructions, with the end of the program."""
        self.accept()
        return self.code

    def has_room(self, count: int) -> None:
        """Raises :class:`.LimitExceeded` if there is no room for so many more instructions."""
        if len(self.code) + count > self._most:
            raise LimitExceeded("states", self._most, is_fixed=True)

    def _emit(
        self,
        operation: str,
        number: int = 0,
        target: Hashable = None,
        low: int = 0,
        high: int | None = 0,
        flags: str = "",
    ) -> None:
        code = self.code
        if len(code) >= self._most:
            self.has_room(1)
        place = 0
        if target is not None:
            place = self._placed.get(target, -1)
            if place < 0:
                self._waiting.setdefault(target, []).append(len(code))
        code.append(_new(Instruction, (operation, number, place, low, high, flags)))


_new = tuple.__new__  # takes half the time of a call of the class


_State = TypeVar("_State", bound=Hashable)


def threads_at(
    code: Sequence[Instruction],
    places: Iterable[int],
    free: _State,
    assertion: Callable[[int, _State], _State | None],
) -> Iterator[tuple[int, _State]]:
    """The threads at a position of a text that wait for a symbol or have ended, the preferred ones first.

    Args:
        code: a program without runs, parts, marks and counted turns.
        places: where the threads go on, in order.
        free: the state of a thread that has met no assertion.
        assertion: the state of a thread after the assertion at a place; ``None``: it fails.

    Yields:
        The place of a ``read`` or an ``accept``, and a state.  Each pair once, and none after a free thread
        at the same place: what it would match, that one matches.
    """
    pending: list[tuple[int, _State, frozenset[int]]] = [(place, free, frozenset()) for place in places]
    pending.reverse()
    seen: set[tuple[int, _State]] = set()
    while pending:
        place, state, loops = pending.pop()
        if (place, free) in seen or (place, state) in seen:
            continue
        operation, _, target, _, _, flags = code[place]
        if operation == "again":  # a repetition whose beginning was passed has read nothing since
            pending.append((place + 1 if target in loops else target, state, loops))
            continue
        seen.add((place, state))
        if operation in ("read", "accept"):
            yield place, state
        elif operation == "fork":
            inside = loops | {place}
            options = (place + 1, target) if flags else (target, place + 1)
            pending += [(option, state, inside) for option in options]
        elif operation == "jump":
            pending.append((target, state, loops))
        else:
            after = assertion(place, state)
            if after is not None:
                pending.append((target if operation == "look" else place + 1, after, loops))


Item = syntax.Node | Callable[[], None]  # a function that writes something itself


class Compiler:
    """Writes the trees of regular expressions.

    This one reads code points and expands repetitions.  For other input, methods are replaced: ``literal``,
    ``code_points``, ``run``, ``group``, ``look``, ``assertion``, ``other``, ``turn``.  Each writes a node, or
    returns what is to be written in its place: a list replaces recursion, since patterns may nest deep.

    Args:
        program: where to.
        counts_turns: whether a repetition counts its turns, and is not expanded.
        drops_empty: of a repetition that counts: whether an empty turn past the minimum is not taken.
        watch: stops the work.
    """

    def __init__(
        self,
        program: Program,
        counts_turns: bool = False,
        drops_empty: bool = False,
        watch: Watch | None = None,
    ) -> None:
        self.program = program
        self._counts_turns = counts_turns
        self._drops_empty = drops_empty
        self._watch = watch
        self._writers: dict[type, Callable[[Any], list[Item] | None]] = {
            syntax.Literal: self.literal,
            syntax.CodePoints: self.code_points,
            syntax.Concat: lambda node: node.items or self._nothing(),
            syntax.Union: lambda node: self.alternatives([[option] for option in node.options]),
            syntax.Repeat: self._repetition,
            syntax.Group: self.group,
            syntax.Look: self.look,
            syntax.Anchor: self.assertion,
            syntax.WordBoundary: self.assertion,
        }

    def write(self, *items: Item) -> None:
        """Writes nodes, and runs the functions among them, in order.

        Raises:
            LimitExceeded, Cancelled: the program is too long, or the work was stopped.
        """
        pending = [*items[::-1]]
        writer_of, called, watch = self._writers.get, self._called, self._watch
        while pending:
            if watch is not None:
                watch.check()
            item = pending.pop()
            within = writer_of(type(item), called)(item)
            if within:
                pending += reversed(within)

    def _called(self, item: Item) -> None:
        if callable(item):
            item()
        else:
            self.other(item)

    # ---- what the leaves become ----

    def literal(self, node: syntax.Literal) -> None:
        """Reads one code point after the other."""
        for point in map(ord, node.text):
            self.program.read(((point, point),))

    def code_points(self, node: syntax.CodePoints) -> None:
        """Reads one code point."""
        self.program.read((node.twin or node).ranges)

    def run(self, node: syntax.Repeat, one: syntax.CodePoints) -> bool:
        """Writes a repetition of one code point, if there is an instruction for it."""
        return False

    def group(self, node: syntax.Group) -> list[Item]:
        """A group with a name; the name means nothing here."""
        return [node.body]

    def look(self, node: syntax.Look) -> list[Item]:
        """A lookaround."""
        return self.looking([node.body], node.behind, node.negated)

    def assertion(self, node: syntax.Anchor | syntax.WordBoundary) -> list[Item]:
        """An anchor, or a word boundary."""
        if isinstance(node, syntax.Anchor):
            self.program.assertion(node.kind, node.line_ends)
        else:
            self.program.assertion(BOUNDARIES[node.negated], named_class(node.words))
        return []

    def other(self, node: syntax.Node) -> None:
        """A node that only some compilers know, such as an extension."""
        assert type(node) in self._writers, node

    def turn(self, node: syntax.Repeat) -> list[Item]:
        """One turn of a repetition."""
        return [node.body]

    # ---- what all share ----

    def alternatives(self, options: list[list[Item]]) -> list[Item]:
        """One of several rows of items, in their order."""
        program, end = self.program, self.program.new_label()
        items: list[Item] = []
        for option in options[:-1]:
            other = program.new_label()
            items += [partial(program.fork, other), *option, partial(program.jump, end)]
            items.append(partial(program.label, other))
        return [*items, *options[-1], partial(program.label, end)]

    def looking(self, body: list[Item], behind: bool, negated: bool, width: int = 0) -> list[Item]:
        """A lookaround for a row of items; see :meth:`Program.look`."""
        program, end = self.program, self.program.new_label()
        return [partial(program.look, end, behind, negated, width), *body, partial(program.end_look, end)]

    def _repetition(self, node: syntax.Repeat) -> list[Item]:
        program = self.program
        if isinstance(node.body, syntax.CodePoints) and self.run(node, node.body):
            return []
        if self._counts_turns:
            name = program.begin_repetition(node.minimum, node.maximum, node.lazy)
            return [*self.turn(node), partial(program.end_repetition, name, self._drops_empty)]
        end = program.new_label()
        if node.maximum == 0:
            return self._nothing()
        if node.maximum is not None:
            optional = node.maximum - node.minimum
            program.has_room(node.maximum)
            taken: list[Item] = [partial(program.fork, end, node.lazy), *self.turn(node)]
            return [*self.turn(node) * node.minimum, *taken * optional, partial(program.label, end)]
        # The last turn that is required is the first one of the loop, and has no instructions of its own.
        program.has_room(node.minimum)
        loop, first = program.new_label(), program.new_label()
        enter: list[Item] = [partial(program.jump, first)] if node.minimum else []
        return [
            *self.turn(node) * (node.minimum - 1),
            *enter,
            partial(program.label, loop),
            partial(program.fork, end, node.lazy),
            partial(program.label, first),
            *self.turn(node),
            partial(program.again, loop),
            partial(program.label, end),
        ]

    def _nothing(self) -> list[Item]:
        """An instruction that does nothing, so that repetitions of nothing are bounded too."""
        if not self._counts_turns:
            after = self.program.new_label()
            self.program.jump(after)
            self.program.label(after)
        return []

    # ---- assertions as lookarounds ----

    def as_looks(self, node: syntax.Anchor | syntax.WordBoundary) -> list[Item]:
        """An assertion as lookarounds for one or two code points."""
        if isinstance(node, syntax.WordBoundary):
            return self._boundary_as_looks(node)
        if node.kind in (syntax.TEXT_START, syntax.TEXT_END):
            return self._beside(_ALL, node.kind == syntax.TEXT_START, negated=True)
        if node.kind != syntax.LAST_LINE_END:
            return self._beside(_others(node.line_ends), node.kind == syntax.LINE_START, negated=True)
        two: list[Item] = [syntax.CodePoints(node.position, ranges) for ranges in (_NEWLINE, _ALL)]
        return [
            *self._beside(_others(_NEWLINE), False, negated=True),
            *self.looking(two, False, negated=True),
        ]

    def _boundary_as_looks(self, node: syntax.WordBoundary) -> list[Item]:
        """``(?<=w)(?!w)|(?<!w)(?=w)``, or its negation; some dialects have no ``\\B`` in an empty text."""
        word = named_class(node.words)
        words = [*self._beside(word, True, False), *self._beside(word, False, not node.negated)]
        others = [*self._beside(word, True, True), *self._beside(word, False, node.negated)]
        if not node.negated or node.empty:
            return self.alternatives([words, others])
        again = [*self._beside(word, True, True), *self._beside(word, False, node.negated)]
        before, after = self._beside(_ALL, True, False), self._beside(_ALL, False, False)
        return self.alternatives([words, [*others, *before], [*again, *after]])

    def _beside(self, ranges: Ranges, behind: bool, negated: bool) -> list[Item]:
        """Requires that a code point of a set is next to the position; ``negated``: that none is."""
        return self.looking([syntax.CodePoints(0, ranges)], behind, negated)


def _others(ranges: Ranges) -> Ranges:
    """All code points except those of a set."""
    others: list[tuple[int, int]] = []
    low = 0
    for first, last in ranges:
        if low < first:
            others.append((low, first - 1))
        low = last + 1
    return (*others, (low, 0x10FFFF))
