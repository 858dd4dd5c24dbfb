r"""The pre-tokenizer as an automaton that reads a text and guesses where pre-tokens end.

Problem: whether a pre-token ends at a position can depend on the text after it: ``\s+(?!\S)`` gives back
a space only if a word follows, ``\s*[\r\n]+`` takes spaces only if a line ends after them.  An automaton that
reads from left to right must guess, and check every guess later.

A *hypothesis* is the state of all guesses so far.  For a split by one regex it consists of

- ``open``: the state of the automaton (``matching.py``) in the current piece, or ``GAP`` if the piece is
  between matches;
- ``must``: the state of a piece that was ended here by a guess.  The next symbol must have a mark: a match
  ends here;
- ``pending``: the states of earlier pieces whose better threads are still running.  None of them may ever
  mark again, since the match would then have ended later.  In a gap, a thread that starts at each position
  is pending too: no match begins there.

Example: ``\s+(?!\S)|\s+`` on ``"  a"``, with states numbered as in ``matching.py``, and an end guessed after
each space::

    " "     open 1; guess: must 1, open 0       the first space is a piece
    "  "    must met, pending 2; open 1         the second space had a mark
            guess: must 1, pending 2, a gap     the second space is a piece
    "  a"   must met; pending 2 is dead         the a had a mark, only for the second piece

Without a guess between the spaces, the piece is in state 2 after both, and may not end there: the ``a`` has
no mark.  For any text, exactly one sequence of guesses is right.

In a chain of splits, each cuts the pieces of the one before it.  A hypothesis is then a list, and an end that
is guessed for one split is the end of the text for those after it.

``hypotheses`` returns all reachable ones, as one automaton over classes of code points, and keeps those from
which some text leads to an end.

Source: own; the bookkeeping is that of simultaneous leftmost matching.  Cost: 41 hypotheses for Llama 3.1, 77
for o200k.  Rejected: determinizing over whole sets of guesses, which multiplies states and saves nothing,
since tokens decide where to guess.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Generic, TypeVar

from tokamata.errors import UnsupportedTokenizerError
from tokamata.tokenization.pretokenizers.matching import DEAD, Matching

_MOST_STATES = 20_000  # o200k has 182, DeepSeek with its three splits 108

GAP = -2

State = TypeVar("State")


@dataclass(frozen=True)
class Cut:
    """One split: a regex, and the treatment of the text between its matches.

    Attributes:
        matching: the automaton of the regex.
        keeps_gaps: whether the text between matches is a piece of its own.  If it is removed, no token
            writes it, and a text with a gap is not canonical.
        keeps_matches: whether matches are pieces.  If they are removed, a text with one is not canonical, and
            others are one gap.
        shows_gaps: whether text that is removed is a piece nevertheless; ``Hypotheses.in_gap`` says which.
    """

    matching: Matching
    keeps_gaps: bool = True
    keeps_matches: bool = True

    @property
    def has_matches(self) -> bool:
        """Whether a match may be a piece."""
        return self.keeps_matches and not self.matching.never_matches

    shows_gaps: bool = field(default=False, kw_only=True)


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
        starts: the states at the start of a text.
        targets: for each state and class the next state, or ``DEAD``.
        ends: for each state, those that guess the end of a pre-token at this position.
        may_end: for each state, whether the text may end here.  If added tokens differ in where they may
            stand, these are bits for them, and the first is the end of the text (``lone_words.py``).
        in_gap: for each state, whether it is in text that is removed.
    """

    starts: tuple[int, ...]
    targets: tuple[tuple[int, ...], ...]
    ends: tuple[tuple[int, ...], ...]
    may_end: tuple[int, ...]
    in_gap: tuple[bool, ...] = ()


class Numbering(Generic[State]):
    """The numbers of the states of an automaton, in the order in which they are found.

    Args:
        part: the part of the tokenizer that has too many states, if there are more than ``most``.
        subject: the beginning of the reason.
        most: how many states there may be.

    Attributes:
        order: the states; it grows while it is walked.
    """

    def __init__(self, part: str, subject: str, most: int) -> None:
        self.order: list[State] = []
        self._numbers: dict[State, int] = {}
        self._part, self._subject, self._most = part, subject, most

    def __call__(self, state: State) -> int:
        """The number of a state, a new one if it was not met before."""
        known = self._numbers.get(state)
        if known is None:
            known = len(self.order)
            if known == self._most:
                reason = f"{self._subject} more than {self._most:,} states"
                raise UnsupportedTokenizerError(self._part, reason)
            self._numbers[state] = known
            self.order.append(state)
        return known


def hypotheses(cuts: Sequence[Cut], classes: int) -> Hypotheses:
    """All hypotheses about a chain of splits.

    Args:
        cuts: the splits, in order.
        classes: the number of classes of code points, the symbols of ``cut.matching`` without the end.

    Raises:
        UnsupportedTokenizerError: there are too many.
    """
    number = Numbering[_Chain]("pre-tokenizer", "it has", _MOST_STATES)
    starts = [number(chain) for chain in _fresh(cuts)]
    targets, ends, may_end = [], [], []
    for chain in number.order:  # grows as hypotheses are found
        row = []
        for symbol in range(classes):
            after = _read(cuts, chain, symbol)
            row.append(DEAD if after is None else number(after))
        targets.append(row)
        ends.append([number(after) for after in _ended(cuts, chain, classes)])
        may_end.append(all(map(_finishes, cuts, chain, [classes] * len(cuts))))
    in_gap = [_is_removed(cuts, chain) for chain in number.order]
    # The text may end at its start, where nothing was read.  It may not end after a guessed border, since the
    # hypothesis without the guess covers that.
    for index, start in enumerate(starts):
        starts[index] = len(targets)
        targets.append(targets[start])
        ends.append([])
        may_end.append(True)
        in_gap.append(in_gap[start])
    return live_part(starts, targets, ends, may_end, in_gap)


def without_end(found: Hypotheses, symbols: Sequence[bool]) -> Hypotheses:
    """The hypotheses about texts that do not end with one of some symbols.

    Each has a second state, where such a symbol was read last.
    """
    size = len(found.targets)
    targets = [
        [DEAD if target == DEAD else target + size * symbols[number] for number, target in enumerate(row)]
        for row in found.targets
    ]
    ends = [*(list(row) for row in found.ends), *([end + size for end in row] for row in found.ends)]
    return live_part(list(found.starts), targets * 2, ends, [*found.may_end, *[False] * size])


def without_matches(
    found: Hypotheses,
    starts: Mapping[str, Sequence[int]],
    hidden: frozenset[int],
    absent: Sequence[Matching],
    classes: int,
) -> tuple[Hypotheses, dict[str, list[int]]]:
    """The hypotheses about texts in which nothing matches.

    Args:
        found: the hypotheses.
        starts: where texts begin, by what stands before them.
        hidden: the starts whose first symbol is not a part of the text.
        absent: what may not match; it follows the text by itself, whatever is guessed.
        classes: the number of symbols.

    Returns:
        The automaton, and where texts begin there.
    """
    none = tuple(frozenset[int]() for _ in absent)
    # A state, what may still match, and whether the next symbol is hidden.
    number = Numbering[tuple[int, tuple[frozenset[int], ...], bool]]("normalizer", "it has", _MOST_STATES)
    begun = {name: [number((s, none, s in hidden)) for s in some] for name, some in starts.items()}
    targets, ends, may_end = [], [], []
    for state, pending, is_hidden in number.order:  # grows as states are found
        row = []
        for symbol, target in enumerate(found.targets[state]):
            after = pending if is_hidden else _read_absent(absent, pending, symbol)
            row.append(DEAD if target == DEAD or after is None else number((target, after, False)))
        targets.append(row)
        ends.append([number((end, pending, is_hidden)) for end in found.ends[state]])
        ended = any(
            one.marks[s][classes] for one, states in zip(absent, pending, strict=True) for s in states
        )
        may_end.append(found.may_end[state] and not ended)
    made, begun_there = live_with_starts(list(begun.values()), targets, ends, may_end)
    return made, dict(zip(begun, begun_there, strict=True))


def _read_absent(
    absent: Sequence[Matching], pending: tuple[frozenset[int], ...], symbol: int
) -> tuple[frozenset[int], ...] | None:
    """What may still match after a symbol, at any beginning; ``None`` if something has matched."""
    result = []
    for one, states in zip(absent, pending, strict=True):
        if any(one.marks[state][symbol] for state in states):
            return None
        result.append(frozenset(one.targets[state][symbol] for state in (0, *states)) - {DEAD})
    return tuple(result)


def _fresh(cuts: Sequence[Cut]) -> list[_Chain]:
    """The hypotheses at the start of a text: each split may begin with a match or with a gap."""
    chains: list[_Chain] = [()]
    for cut in cuts:
        chains = [(*chain, guess) for chain in chains for guess in _begun(cut, frozenset())]
    return chains


def _begun(cut: Cut, pending: frozenset[int], must: int | None = None) -> list[_Guess]:
    guesses = [_Guess(0, False, must, pending)] if cut.has_matches else []
    if cut.keeps_gaps or cut.shows_gaps:
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
    """The hypotheses that end a pre-token here: one split ends its piece, and so do all after it."""
    result = []
    for level, (cut, guess) in enumerate(zip(cuts, chain, strict=True)):
        if not guess.begun:
            continue
        if not all(map(_finishes, cuts[level + 1 :], chain[level + 1 :], [end] * len(cuts))):
            continue
        if guess.open == GAP:  # a gap cannot follow a gap
            heads = [_Guess(0, False, None, guess.pending)] if cut.has_matches else []
        else:
            heads = _begun(cut, guess.pending, guess.open)
        result += [(*chain[:level], head, *rest) for head in heads for rest in _fresh(cuts[level + 1 :])]
    return result


def _finishes(cut: Cut, guess: _Guess, end: int) -> bool:
    """Whether the current piece may end with the text."""
    marks = cut.matching.marks
    if not guess.begun or any(marks[state][end] for state in guess.pending):
        return False
    return guess.open == GAP or marks[guess.open][end]


def _is_removed(cuts: Sequence[Cut], chain: _Chain) -> bool:
    return any(guess.open == GAP and not cut.keeps_gaps for cut, guess in zip(cuts, chain, strict=True))


def live_part(
    starts: list[int],
    targets: list[list[int]],
    ends: list[list[int]],
    may_end: Sequence[int],
    in_gap: Sequence[bool] = (),
) -> Hypotheses:
    """The states from which some text leads to an end, renumbered; arguments as in :class:`Hypotheses`."""
    made, [own] = live_with_starts([starts], targets, ends, may_end, in_gap)
    return replace(made, starts=tuple(own))


def live_with_starts(
    starts: Sequence[Sequence[int]],
    targets: Sequence[Sequence[int]],
    ends: Sequence[Sequence[int]],
    may_end: Sequence[int],
    in_gap: Sequence[bool] = (),
) -> tuple[Hypotheses, list[list[int]]]:
    """The same for several lists of starts: the automaton without any, and the lists, renumbered."""
    kept = _live_states(targets, ends, may_end)
    renumbered = {state: new for new, state in enumerate(kept)}
    made = Hypotheses(
        (),
        tuple(tuple(renumbered.get(target, DEAD) for target in targets[state]) for state in kept),
        tuple(tuple(renumbered[t] for t in ends[state] if t in renumbered) for state in kept),
        tuple(may_end[state] for state in kept),
        tuple(in_gap[state] for state in kept) if in_gap else (),
    )
    return made, [[renumbered[state] for state in some if state in renumbered] for some in starts]


def _live_states(
    targets: Sequence[Sequence[int]], ends: Sequence[Sequence[int]], may_end: Sequence[int]
) -> list[int]:
    sources: list[list[int]] = [[] for _ in targets]
    for state, row in enumerate(targets):
        for target in {*row, *ends[state]} - {DEAD}:
            sources[target].append(state)
    live = {state for state, ok in enumerate(may_end) if ok}
    pending = list(live)
    while pending:
        for state in sources[pending.pop()]:
            if state not in live:
                live.add(state)
                pending.append(state)
    return sorted(live)
