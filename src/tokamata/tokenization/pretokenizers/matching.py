r"""Leftmost-first matching as a deterministic automaton, which reports where matches end.

Problem: the ordered threads of a program (:mod:`tokamata.patterns.regex.program`) run from one position of a
text.  Where does the match that begins there end?  This depends on the text that follows, so the automaton
reports it step by step: a transition has a *mark* if a match of the best thread so far ended *before* the
symbol that it reads.  The match ends at the last mark; threads of lower priority are dropped there.

Example: ``\s+(?!\S)|\s+`` over the classes s (whitespace), x (the rest) and the end of text $::

    (0) ─s──▶ (1)          (1): threads  \s+(?!\S)  and  \s+
    (1) ─s/!▶ (2)          a match of the first thread ended before this s; (2): only that thread
    (1) ─x/!▶ dead         the first thread fails its lookahead, the second has matched
    (2) ─s/!▶ (2)          the first thread matches longer
    (2) ─x──▶ dead         it fails its lookahead; the second was dropped at the first mark

So in ``"  a"`` the only mark is before the second space, and the match is one space.  The second thread would
have matched both.

A state is the ordered list of positions in the program at which threads continue *after* the last symbol.
Lookaheads for one code point are decided when the next symbol is known, so states need not remember them.
All symbols are followed at once, each a bit.

Source: the forward automata of RE2 and of regex-automata (leftmost-first determinization, with a match
delayed by one symbol).  Cost: a handful of states for all known regexes; bounded for others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tokamata.errors import UnsupportedTokenizerError
from tokamata.patterns.regex.program import Program, threads_at
from tokamata.patterns.regex.syntax import LINE_END

_MOST_STATES = 5_000  # of one regex; that of o200k has 46

DEAD = -1


@dataclass(frozen=True)
class Matching:
    """The automaton of one regex.

    Symbols are the numbers of classes of code points, 0 to ``classes - 1``, and ``classes`` for the end
    of the text.  State 0 is the beginning of a match.

    Attributes:
        targets: for each state and symbol the next state, or ``DEAD`` if no remaining thread can match.
        marks: for each state and symbol whether a match ended before that symbol.
    """

    targets: tuple[tuple[int, ...], ...]
    marks: tuple[tuple[bool, ...], ...]

    @property
    def never_matches(self) -> bool:
        """Whether no text has a match."""
        return not any(map(any, self.marks))


def matching(program: Program, members: Mapping[str, Sequence[bool]], classes: int) -> Matching:
    """The automaton of a program.

    Args:
        program: the program of the regex.
        members: for each class of the program, which of the symbols 0 to ``classes - 1`` are in it.
        classes: the number of symbols, without the end of the text.

    Raises:
        UnsupportedTokenizerError: the regex matches the empty text, or has too many states.
    """
    sets = [
        sum(1 << symbol for symbol, is_in in enumerate(members[str(name)]) if is_in) for name in program.sets
    ]
    numbers: dict[tuple[int, ...], int] = {(0,): 0}
    order: list[tuple[int, ...]] = [(0,)]
    targets: list[list[int]] = []
    marks: list[list[bool]] = []
    for threads in order:  # grows as states are found
        after, marked = _after(program, threads, sets, classes)
        row = []
        for places in map(tuple, after):
            if not places:
                row.append(DEAD)
                continue
            if places not in numbers:
                if len(order) == _MOST_STATES:
                    raise UnsupportedTokenizerError("pre-tokenizer", "its regex has too many states")
                numbers[places] = len(order)
                order.append(places)
            row.append(numbers[places])
        targets.append(row)
        marks.append([marked >> symbol & 1 == 1 for symbol in range(classes + 1)])
    if any(marks[0]):
        raise UnsupportedTokenizerError("pre-tokenizer", "its regex matches the empty text")
    return _trimmed(targets, marks)


def _after(
    program: Program, threads: tuple[int, ...], sets: Sequence[int], end: int
) -> tuple[list[dict[int, None]], int]:
    """For each symbol the positions of the threads after it; and the symbols before which one has matched.

    All symbols are followed at once.  The state of a thread are those that its lookaheads allow, as bits.

    Args:
        program, threads: the program, and the positions of its threads before the symbol.
        sets: the symbols of each set of the program.
        end: the number of the end of the text, which is in no set.
    """
    code = program.code
    everything = (1 << (end + 1)) - 1

    def assertion(place: int, symbols: int) -> int | None:
        one = code[place]
        if one.operation == "look":  # for one code point
            follows = sets[code[place + 1].number]
            return symbols & (~follows if "negated" in one.flags else follows) or None
        return symbols & (1 << end | (sets[one.number] if one.operation == LINE_END else 0)) or None

    after: list[dict[int, None]] = [{} for _ in range(end + 1)]
    matched = 0  # threads after a match are given up
    for place, symbols in threads_at(code, threads, everything, assertion):
        left = symbols & ~matched
        if code[place].operation == "accept":
            matched |= left
            if matched == everything:
                break
            continue
        left &= sets[code[place].number]
        while left:
            after[(left & -left).bit_length() - 1][place + 1] = None
            left &= left - 1
    return after, matched


def _trimmed(targets: list[list[int]], marks: list[list[bool]]) -> Matching:
    """The same automaton, without transitions to states from which no mark can follow."""
    live = {state for state, row in enumerate(marks) if any(row)}
    while True:
        more = {
            state
            for state, row in enumerate(targets)
            if state not in live and any(target in live for target in row)
        }
        if not more:
            break
        live |= more
    return Matching(
        tuple(tuple(t if t in live else DEAD for t in row) for row in targets),
        tuple(map(tuple, marks)),
    )
