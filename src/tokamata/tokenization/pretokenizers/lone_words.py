r"""Texts that are found only where no word character stands beside them, as an automaton over a text.

Problem.  Added tokens with ``single_word`` (``pipelines/lone_tokens.py``) are cut out of a text if neither
neighbour is a word character.  So ordinary tokens may spell such a text only beside a word character, and the
token may stand only between other neighbours.

Method.  Beside the state of the pre-tokenizer, a state has what is known of neighbours:

- what stands *before*: a word character, white space, or anything else;
- which occurrences have *begun* and are not preceded by a word character;
- whether one is *complete*: a word character has to follow;
- what is *barred* after a token that was cut out: a word character.

Example, ``<m>``::

    "-<m>"     complete: a letter may follow, and the text may not end
    "a<m>"     an occurrence that begins after a letter is not followed at all
    "-", <m>   barred: no letter may follow

Added tokens differ in what they are to their neighbours.  ``Side`` says that for one side of a token.  The
text before a token may end in one state and not in another, so ``may_end`` has a bit for each different left
side; the first bit is the end of the text.

Source: Aho and Corasick, 1975, for the occurrences.  Cost: the states of the pre-tokenizer, times the length
of the texts.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from tokamata.errors import UnsupportedTokenizerError
from tokamata.tokenization.pretokenizers.machine import Hypotheses, Numbering, live_with_starts
from tokamata.tokenization.pretokenizers.matching import DEAD

__all__ = ["OTHER", "TEXT_END", "WHITE", "WORD", "LoneText", "Side", "Start", "with_lone_words"]

# What a character is to a token beside it.
OTHER, WORD, WHITE = 0, 1, 2

_MOST_STATES = 20_000
_MOST_TARGETS = 3_000_000  # states by symbols; o200k with two such tokens has 7,000


class Side(NamedTuple):
    """One side of an added token.

    Attributes:
        seen: the class of its character there, as it is to tokens that are found early, and late.
        is_late: whether it is found late itself.
        bars: the classes that may not stand beside it; none if it is found wherever it stands.
    """

    seen: tuple[int, int]
    is_late: bool
    bars: frozenset[int]


TEXT_END = Side((OTHER, OTHER), False, frozenset())


@dataclass(frozen=True)
class LoneText:
    """A text that is found only where no word character stands beside it.

    Attributes:
        letters: its characters, by number from 1.
        is_late: whether it is found late.
    """

    letters: tuple[int, ...]
    is_late: bool


@dataclass(frozen=True)
class Start:
    """Where texts begin.

    Attributes:
        states: the states of the pre-tokenizer.
        after: the side of what stands before.
        is_hidden: whether the first symbol is no part of the text.
    """

    states: tuple[int, ...]
    after: Side
    is_hidden: bool


class _Context(NamedTuple):
    """What is known of neighbours; see the module's text.

    Attributes:
        before: the class of the last character, to tokens that are found early, and late.
        bars: the classes that may not follow, and whether the token that bars them is late.
        begun: texts by number, and how many of their characters have been read.
        complete: for texts that are found early, and late, whether one has been read.
    """

    before: tuple[int, int]
    bars: tuple[frozenset[int], bool]
    begun: frozenset[tuple[int, int]]
    complete: tuple[bool, bool]


def with_lone_words(
    found: Hypotheses,
    starts: Sequence[Start],
    texts: Sequence[LoneText],
    symbols: Sequence[tuple[int, int]],
    sides: Sequence[Side],
) -> tuple[Hypotheses, list[list[int]]]:
    """The hypotheses about texts in which nothing is found, and where each start is there.

    Args:
        found: the hypotheses of the pre-tokenizer.
        starts: where texts begin.
        texts: what may not be found.
        symbols: for each symbol the class of its characters, and its number as a character of the texts, or
            0.
        sides: what may stand after a text, at most eight; ``TEXT_END`` comes first.  ``may_end`` has a bit
            for each.

    Raises:
        UnsupportedTokenizerError: there are too many states.
    """
    contexts = _Contexts(texts, symbols)
    number = Numbering[tuple[int, int, bool]]("added tokens", "single_word, which has", _MOST_STATES)
    begun = [
        [number((state, contexts.after(start.after), start.is_hidden)) for state in start.states]
        for start in starts
    ]
    targets, ends, may_end = [], [], []
    for state, context, is_hidden in number.order:  # grows as states are found
        if len(number.order) * len(symbols) > _MOST_TARGETS:
            raise UnsupportedTokenizerError("added tokens", "single_word takes too many states")
        row = []
        read = [context] * len(symbols) if is_hidden else contexts.row(context)
        for target, after in zip(found.targets[state], read, strict=True):
            row.append(DEAD if DEAD in (target, after) else number((target, after, False)))
        targets.append(row)
        ends.append([number((end, context, is_hidden)) for end in found.ends[state]])
        bits = sum(1 << bit for bit, side in enumerate(sides) if contexts.may_precede(context, side))
        may_end.append(bits if found.may_end[state] else 0)
    return live_with_starts(begun, targets, ends, may_end)


class _Contexts:
    """The contexts, by number, and what a symbol does to each."""

    def __init__(self, texts: Sequence[LoneText], symbols: Sequence[tuple[int, int]]) -> None:
        self._texts, self._symbols = texts, symbols
        self._number = Numbering[_Context]("added tokens", "single_word, which has", _MOST_STATES)
        self._rows: dict[int, list[int]] = {}

    def after(self, side: Side) -> int:
        """The context after a token."""
        bars = (side.bars, side.is_late) if side.bars else (frozenset[int](), False)
        return self._number(_Context(side.seen, bars, frozenset(), (False, False)))

    def row(self, number: int) -> list[int]:
        """The context after each symbol, or ``DEAD``."""
        if number not in self._rows:
            context = self._number.order[number]
            # What is under way, and what may begin here, by the letter that leads on.
            awaited: dict[int, list[tuple[int, int]]] = {}
            for index, size in [*context.begun, *self._beginning(context)]:
                awaited.setdefault(self._texts[index].letters[size], []).append((index, size + 1))
            read = [
                self._read(context, kind, awaited.get(letter, ()) if letter else ())
                for kind, letter in self._symbols
            ]
            self._rows[number] = [DEAD if after is None else self._number(after) for after in read]
        return self._rows[number]

    def may_precede(self, number: int, side: Side) -> bool:
        """Whether a token with this side may stand here, or the text may end."""
        context = self._number.order[number]
        bars, is_late = context.bars
        if side.seen[is_late] in bars or context.before[side.is_late] in side.bars:
            return False
        return all(side.seen[late] == WORD for late in (False, True) if context.complete[late])

    def _beginning(self, context: _Context) -> list[tuple[int, int]]:
        """The texts that are not found after a word character, where none stands before."""
        return [(index, 0) for index, text in enumerate(self._texts) if context.before[text.is_late] != WORD]

    def _read(self, context: _Context, kind: int, read: Iterable[tuple[int, int]]) -> _Context | None:
        """The context after a symbol of a class, which leads texts on."""
        if kind in context.bars[0] or (any(context.complete) and kind != WORD):
            return None
        begun, complete = [], [False, False]
        for index, size in read:
            text = self._texts[index]
            if size == len(text.letters):
                complete[text.is_late] = True
            else:
                begun.append((index, size))
        none = (frozenset[int](), False)
        return _Context((kind, kind), none, frozenset(begun), (complete[False], complete[True]))
