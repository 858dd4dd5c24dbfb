r"""Leftmost-first matching as a deterministic automaton, which says where matches end.

Problem.  Run the ordered threads of a program (``regex.py``) from one place of a text on:
where does the match that begins there end?  The answer is a function of the text to come, so the
automaton gives it bit by bit: each step says whether a match of the best thread so far ended *before* the
symbol it reads.  The match ends at the last place so marked; threads of lower order are dropped there.

Example.  ``\s+(?!\S)|\s+`` over the classes s (white space), x (the rest) and the end of text $::

    (0) ─s──▶ (1)          (1): threads  \s+(?!\S)  and  \s+
    (1) ─s/!▶ (2)          a match of the first thread ended before this s; (2): that thread alone, going on
    (1) ─x/!▶ dead         the first thread fails its lookahead, the second has matched
    (2) ─s/!▶ (2)          the first thread would match longer
    (2) ─x──▶ dead         it fails its lookahead, and the second was cut off at the first mark

so in ``"  a"`` the only mark stands before the second space: the match is one space, and a match of the
worse thread, which would have taken both, is not found.

A state is the ordered list of places in the program from which threads go on *after* the symbol just
read.  Lookaheads for one code point are decided when the next symbol is known, so no state needs to
remember them.

Source: the forward automata of RE2 and of regex-automata (leftmost-first determinization, with a match
delayed by one symbol).  Cost: a handful of states for the regexes known, bounded all the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tokamata.errors import UnsupportedTokenizerError
from tokamata.tokenization.pretokenizers.regex import End, Look, Match, Program, Read, Split

_MOST_STATES = 5_000

DEAD = -1


@dataclass(frozen=True)
class Matching:
    """The automaton of one regex.

    Symbols are the numbers of classes of code points, 0 to ``classes - 1``, and ``classes`` for the end
    of the text.  State 0 is the place where a match begins.

    Attributes:
        targets: for each state and symbol the next state, or ``DEAD`` where no thread goes on that can
            still match.
        marks: for each state and symbol whether a match ended before that symbol.
    """

    targets: tuple[tuple[int, ...], ...]
    marks: tuple[tuple[bool, ...], ...]

    @property
    def never_matches(self) -> bool:
        """Whether no text at all has a match."""
        return not any(map(any, self.marks))


def matching(program: Program, members: Mapping[str, Sequence[bool]], classes: int) -> Matching:
    """The automaton of a program.

    Args:
        program: what to run.
        members: for each class that the program asks about, which of the symbols 0 to ``classes - 1``
            are of it.
        classes: how many symbols there are, the end of the text not counted.

    Raises:
        UnsupportedTokenizerError: the regex matches the empty text, or has too many states.
    """
    numbers: dict[tuple[int, ...], int] = {(0,): 0}
    order: list[tuple[int, ...]] = [(0,)]
    targets: list[list[int]] = []
    marks: list[list[bool]] = []
    for threads in order:  # grows as states are found
        row, marked = [], []
        for symbol in range(classes + 1):
            after, mark = _step(program, threads, symbol, members, classes)
            marked.append(mark)
            if not after:
                row.append(DEAD)
                continue
            if after not in numbers:
                if len(order) == _MOST_STATES:
                    raise UnsupportedTokenizerError("pre-tokenizer", "its regex has too many states")
                numbers[after] = len(order)
                order.append(after)
            row.append(numbers[after])
        targets.append(row)
        marks.append(marked)
    if any(marks[0]):
        raise UnsupportedTokenizerError("pre-tokenizer", "its regex matches the empty text")
    return _without_hopeless(targets, marks)


def _step(
    program: Program,
    threads: tuple[int, ...],
    symbol: int,
    members: Mapping[str, Sequence[bool]],
    classes: int,
) -> tuple[tuple[int, ...], bool]:
    """Where the threads go on after a symbol, and whether one of them matched before it."""
    at_end = symbol == classes
    after: dict[int, None] = {}
    seen: set[int] = set()
    pending = list(reversed(threads))
    while pending:
        place = pending.pop()
        if place in seen:
            continue
        seen.add(place)
        part = program[place]
        if isinstance(part, Match):
            return tuple(after), True
        if isinstance(part, Read):
            if not at_end and members[part.cls][symbol]:
                after[place + 1] = None
        elif isinstance(part, Split):
            pending.extend(reversed(part.targets))
        elif isinstance(part, End):
            if at_end:
                pending.append(place + 1)
        elif isinstance(part, Look) and (not at_end and members[part.cls][symbol]) == part.wanted:
            pending.append(place + 1)
    return tuple(after), False


def _without_hopeless(targets: list[list[int]], marks: list[list[bool]]) -> Matching:
    """The same automaton, dead where no mark can follow."""
    hopeful = {state for state, row in enumerate(marks) if any(row)}
    while True:
        more = {
            state
            for state, row in enumerate(targets)
            if state not in hopeful and any(target in hopeful for target in row)
        }
        if not more:
            break
        hopeful |= more
    return Matching(
        tuple(tuple(t if t in hopeful else DEAD for t in row) for row in targets),
        tuple(map(tuple, marks)),
    )
