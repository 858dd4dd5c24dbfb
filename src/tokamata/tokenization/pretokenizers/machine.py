r"""The pre-tokenizer as an automaton that reads a text and guesses where pre-tokens end.

Problem.  Whether a pre-token ends at a place can depend on the text behind it: ``\s+(?!\S)`` gives back
a space only if a word follows, ``\s*[\r\n]+`` takes spaces only if a line ends after them.  A reader who
goes from left to right must guess, and hold every guess to account.

A *hypothesis* says what was guessed so far.  For a split by one regex it is

- ``open``: the state of the automaton (``matching.py``) of the piece under way, or ``GAP``
  where it lies between matches;
- ``must``: the state of a piece that was ended here by a guess.  Before the next symbol there must be a
  mark: a match does end here;
- ``pending``: the states of earlier pieces whose better threads are still running.  None of them may ever
  mark again, since the match would then have ended later.  In a gap, a thread that starts at each place
  is pending too: no match begins there.

Example.  ``\s+(?!\S)|\s+`` on ``"  a"``, its states numbered as in ``matching.py``, with an end
guessed after each space::

    " "     open 1; guess: must 1, open 0       the first space is a piece
    "  "    must met, pending 2; open 1         a mark stood before the second space
            guess: must 1, pending 2, a gap     the second space is a piece
    "  a"   must met; pending 2 is dead         a mark stood before the a for the second piece alone

Without a guess between the spaces the piece is in state 2 behind both, and may not end there: no mark stands
before the ``a``.  Exactly one way of guessing is right for any text.

A chain of splits cuts the pieces of one by the next.  A hypothesis is then a list, and an end guessed for
one split is the end of the text for those behind it.

``hypotheses`` makes all of them that can be reached, as one automaton over classes of code points, and
keeps those from which some text leads to an end.

Source: the study in the design notes; the bookkeeping is that of simultaneous leftmost matching.
Cost: 41 hypotheses for Llama 3.1, 77 for o200k.  Not taken: determinizing over whole sets of guesses, which
multiplies states and saves nothing, since tokens decide where to guess.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tokamata.errors import UnsupportedTokenizerError
from tokamata.tokenization.pretokenizers.matching import DEAD, Matching

_MOST = 20_000

GAP = -2


@dataclass(frozen=True)
class Cut:
    """One split: a regex, and what becomes of the text between its matches.

    Attributes:
        matching: the automaton of the regex.
        keeps_gaps: whether what lies between matches is a piece of its own.  Where it is removed, no
            token can bring it back, and a text that has it is not canonical.
    """

    matching: Matching
    keeps_gaps: bool = True


@dataclass(frozen=True)
class _Guess:
    """The hypothesis about one split."""

    open: int
    begun: bool
    must: int | None
    pending: frozenset[int]


_Chain = tuple[_Guess, ...]


@dataclass(frozen=True)
class Hypotheses:
    """The automaton of all hypotheses.

    Attributes:
        starts: the states at the start of a text, where nothing was read.
        targets: for each state and class the next state, or ``DEAD``.
        ends: for each state, those that guess the end of a pre-token at this place.
        may_end: for each state, whether the text may end here.
    """

    starts: tuple[int, ...]
    targets: tuple[tuple[int, ...], ...]
    ends: tuple[tuple[int, ...], ...]
    may_end: tuple[bool, ...]


def hypotheses(cuts: Sequence[Cut], classes: int) -> Hypotheses:
    """All hypotheses about a chain of splits.

    Args:
        cuts: the splits, the first one first.
        classes: the number of classes of code points, the symbols of ``cut.matching`` but the end.

    Raises:
        UnsupportedTokenizerError: there are too many.
    """
    order: list[_Chain] = []
    numbers: dict[_Chain, int] = {}

    def number(chain: _Chain) -> int:
        if chain not in numbers:
            if len(order) == _MOST:
                raise UnsupportedTokenizerError("pre-tokenizer", f"it has more than {_MOST:,} states")
            numbers[chain] = len(order)
            order.append(chain)
        return numbers[chain]

    starts = [number(chain) for chain in _fresh(cuts)]
    targets, ends, may_end = [], [], []
    for chain in order:  # grows as hypotheses are found
        row = []
        for symbol in range(classes):
            after = _read(cuts, chain, symbol)
            row.append(DEAD if after is None else number(after))
        targets.append(row)
        ends.append([number(after) for after in _ended(cuts, chain, classes)])
        may_end.append(all(map(_finishes, cuts, chain, [classes] * len(cuts))))
    # At the start of a text nothing was read, and the text may end; behind a border that was guessed it may
    # not, since the hypothesis without the guess says the same.
    for place, start in enumerate(starts):
        starts[place] = len(targets)
        targets.append(targets[start])
        ends.append([])
        may_end.append(True)
    return _trimmed(starts, targets, ends, may_end)


def _fresh(cuts: Sequence[Cut]) -> list[_Chain]:
    """Where a text begins: each split may begin with a match or with a gap."""
    chains: list[_Chain] = [()]
    for cut in cuts:
        chains = [(*chain, guess) for chain in chains for guess in _begun(cut, frozenset())]
    return chains


def _begun(cut: Cut, pending: frozenset[int], must: int | None = None) -> list[_Guess]:
    guesses = [] if cut.matching.never_matches else [_Guess(0, False, must, pending)]
    if cut.keeps_gaps:
        guesses.append(_Guess(GAP, False, must, pending))
    return guesses


def _read(cuts: Sequence[Cut], chain: _Chain, symbol: int) -> _Chain | None:
    after = []
    for cut, guess in zip(cuts, chain, strict=True):
        step = _read_one(cut.matching, guess, symbol)
        if step is None:
            return None
        after.append(step)
    return tuple(after)


def _read_one(matching: Matching, guess: _Guess, symbol: int) -> _Guess | None:
    pending = set()
    if guess.must is not None:
        if not matching.marks[guess.must][symbol]:
            return None
        pending.add(matching.targets[guess.must][symbol])
    for state in guess.pending:
        if matching.marks[state][symbol]:
            return None
        pending.add(matching.targets[state][symbol])
    if guess.open == GAP:
        pending.add(matching.targets[0][symbol])
        reached = GAP
    else:
        reached = matching.targets[guess.open][symbol]
        if reached == DEAD:
            return None
    pending.discard(DEAD)
    return _Guess(reached, True, None, frozenset(pending))


def _ended(cuts: Sequence[Cut], chain: _Chain, end: int) -> list[_Chain]:
    """The hypotheses that end a pre-token here: one split ends its piece, and so do all behind it."""
    result = []
    for level, (cut, guess) in enumerate(zip(cuts, chain, strict=True)):
        if not guess.begun:
            continue
        if not all(map(_finishes, cuts[level + 1 :], chain[level + 1 :], [end] * len(cuts))):
            continue
        if guess.open == GAP:  # two gaps are one
            heads = [] if cut.matching.never_matches else [_Guess(0, False, None, guess.pending)]
        else:
            heads = _begun(cut, guess.pending, guess.open)
        result += [(*chain[:level], head, *rest) for head in heads for rest in _fresh(cuts[level + 1 :])]
    return result


def _finishes(cut: Cut, guess: _Guess, end: int) -> bool:
    """Whether the piece under way may end with the text."""
    marks = cut.matching.marks
    if not guess.begun or any(marks[state][end] for state in guess.pending):
        return False
    return guess.open == GAP or marks[guess.open][end]


def _trimmed(
    starts: list[int], targets: list[list[int]], ends: list[list[int]], may_end: list[bool]
) -> Hypotheses:
    """Those from which some text leads to an end, numbered anew."""
    sources: list[list[int]] = [[] for _ in targets]
    for state, row in enumerate(targets):
        for target in {*row, *ends[state]} - {DEAD}:
            sources[target].append(state)
    alive = {state for state, ok in enumerate(may_end) if ok}
    pending = list(alive)
    while pending:
        for state in sources[pending.pop()]:
            if state not in alive:
                alive.add(state)
                pending.append(state)
    kept = sorted(alive)
    renumbered = {state: new for new, state in enumerate(kept)}
    return Hypotheses(
        tuple(renumbered[state] for state in starts if state in alive),
        tuple(tuple(renumbered.get(target, DEAD) for target in targets[state]) for state in kept),
        tuple(tuple(renumbered[t] for t in ends[state] if t in alive) for state in kept),
        tuple(may_end[state] for state in kept),
    )
