"""Which texts a charsmap leaves alone, as an automaton over code points.

Problem: a tokenizer writes no token sequence for a text that its charsmap changes.  Such a text has a code
point that is changed by itself, or a key of several code points: a *pair* here, such as ``e`` U+0301.  For
SentencePiece that is all, since it finds each key.  Hugging Face's program finds one only where a grapheme
cluster begins with it and has fewer than six bytes (``charsmaps.py``).  So of the texts

    e U+0301                  3 bytes, changed
    e U+0301 U+0301           5 bytes, changed
    e U+0301 U+0301 U+0301    7 bytes, left alone
    U+0600 e U+0301           left alone: U+0600 joins what follows it, and the cluster begins with it
    U+0600 U+000A e U+0301    would be changed, if line feeds were left alone

two are in the fixed set, and more marks after the third do not matter.

States of the automaton: nothing has begun; the first code point of a cluster was read, with which some pairs
begin; a pair was read and the cluster *owes* one to three bytes more, so that the text may not end and only
marks may follow; what was read joins what follows (U+0600); and, where U+200D is left alone, an emoji was
read, or an emoji and U+200D, which joins another emoji (``↔`` U+0338 is a pair, but not there).

Which code points join others is found by running the normalizer itself, on pairs and what may stand around
them, since its version of Unicode may differ from Python's.  A charsmap for which the states above do not
suffice is
refused: with a pair that does not begin its cluster in some other context, or a key of three code points
whose first two are none.

Cost: 0.2 s; 40 states and 200 columns for ``nmt_nfkc``.  Rejected: the pairs alone (every text with one is
refused): ``e`` and three marks is then a text that the program writes and the tables do not.  Also the states
as part of the pre-tokenizer's hypotheses, of which each has masks of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from tokamata.errors import UnsupportedTokenizerError
from tokamata.tokenization.pipelines.charsmaps import LONG_CLUSTER
from tokamata.tokenization.pipelines.normal_forms import differing, results_apart
from tokamata.tokenization.pretokenizers.classes import CODE_POINTS, sample_points, spread

if TYPE_CHECKING:
    from tokamata.tokenization.pretokenizers.classes import Flags

__all__ = ["DEAD", "OWES", "FormAutomaton", "cluster_form", "pair_form"]

DEAD = 0xFFFF
ORDINARY, SPECIAL, OWES = 0, 1, 2
_MOST_TRANSITIONS = 1 << 22  # nmt_nfkc has 10,000 in all
_JOINER = "\u200d"
_EMOJI = "\u00a9"  # the one with the fewest bytes
# Texts that may join what follows them to their cluster, in the rules of UAX 29 that are not about marks:
# Hangul, flags, and conjuncts of Indic scripts.
_JOINING = ("\u1100", "\uac00", "\U0001f1e6", "\u0915\u094d")

_Change = Callable[[str], str]
_S = TypeVar("_S", bound=Hashable)
_C = TypeVar("_C")


@dataclass(frozen=True)
class FormAutomaton:
    """An automaton over code points.

    Attributes:
        columns: ``uint16[0x110000]``: the column of each code point.
        targets: ``uint16[states, columns]``: the next state, or ``DEAD``.  Texts begin in state 0.
        kinds: ``uint8[states]``: ``SPECIAL`` where code points lead elsewhere than from ordinary states;
            ``OWES`` where besides the text may not end.
    """

    columns: npt.NDArray[np.uint16]
    targets: npt.NDArray[np.uint16]
    kinds: npt.NDArray[np.uint8]


def pair_form(pairs: Iterable[str]) -> FormAutomaton | None:
    """The form of texts in which none of these pairs stands; ``None`` if there are none."""
    seconds: dict[str, set[str]] = {}
    for pair in pairs:
        seconds.setdefault(pair[0], set()).add(pair[1])
    if not seconds:
        return None
    is_second = set().union(*seconds.values())
    none: frozenset[str] = frozenset()
    letters = {letter: frozenset(seconds.get(letter, none)) for letter in {*seconds, *is_second}}

    def follow(state: frozenset[str], column: tuple[str, frozenset[str]]) -> frozenset[str] | None:
        letter, row = column
        return None if letter in state else row

    columns = {letter: (letter if letter in is_second else "", row) for letter, row in letters.items()}
    flags = np.zeros(CODE_POINTS, dtype=np.uint16)
    kinds = sorted({("", none), *columns.values()}, key=lambda column: (column[0], sorted(column[1])))
    for letter, column in columns.items():
        flags[ord(letter)] = kinds.index(column)
    return _automaton(none, flags, kinds, follow, lambda state: ORDINARY)


class _Column(NamedTuple):
    """What a code point is to clusters.

    Attributes:
        second: itself, if it is the second of a pair; or ``""``.
        row: the seconds of the pairs that it begins.
        size: its bytes, of those with a row and of marks; otherwise 0.
        is_mark: it joins what is before it.
        is_joiner: it is U+200D.
        extends_emoji: it may stand between an emoji and U+200D.
        is_emoji: U+200D joins it to an emoji.
        joins_next: it joins what follows it.
    """

    second: str = ""
    row: frozenset[str] = frozenset()
    size: int = 0
    is_mark: bool = False
    is_joiner: bool = False
    extends_emoji: bool = False
    is_emoji: bool = False
    joins_next: bool = False


class _State(NamedTuple):
    """What matters of the cluster that is open.

    Attributes:
        row, size: the pairs that it begins, and its bytes, if one code point was read with which some begin.
        owes: the bytes that it needs, or 0.
        emoji: 1 after an emoji and marks that extend it; 2 after U+200D that follows these.
        joins_next: what follows is part of it.
    """

    row: frozenset[str] = frozenset()
    size: int = 0
    owes: int = 0
    emoji: int = 0
    joins_next: bool = False


def _follow(state: _State, column: _Column) -> _State | None:
    if column.is_mark:
        emoji = 0 if state.emoji != 1 else 2 if column.is_joiner else int(column.extends_emoji)
        if column.second in state.row:
            return _State(owes=max(0, LONG_CLUSTER - state.size - column.size), emoji=emoji)
        return _State(owes=max(0, state.owes - column.size), emoji=emoji)
    if state.owes:
        return None
    is_joined = state.joins_next or (state.emoji == 2 and column.is_emoji)
    has_row = bool(column.row) and not is_joined
    return _State(
        column.row if has_row else frozenset(),
        column.size if has_row else 0,
        emoji=int(column.is_emoji),
        joins_next=column.joins_next,
    )


def _kind(state: _State) -> int:
    return OWES if state.owes else SPECIAL if state.joins_next or state.emoji == 2 else ORDINARY


def cluster_form(change: _Change, keys: Iterable[str], live: Flags) -> FormAutomaton | None:
    """The form of texts that Hugging Face's ``Precompiled`` leaves alone; ``None`` if code points say all.

    Args:
        change: its normalizer.
        keys: the keys that fit into a short cluster, whose code points are live, and that change.
        live: the code points that texts may have, each of which is left alone by itself: ``bool[0x110000]``.

    Raises:
        UnsupportedTokenizerError: the charsmap has other keys than pairs, see above.
    """
    short = sorted(keys)
    results = results_apart(change, short)
    changed = [key for key, result in zip(short, results, strict=True) if result != key]
    pairs = {key for key in changed if len(key) == 2}
    if longer := next((key for key in changed if key[:2] not in pairs), None):
        raise _refusal(f"it replaces {longer!r}, and nothing that is shorter in it")
    if not pairs:
        return None
    columns = _Neighbours(change, sorted(pairs), live).columns()
    kinds = sorted(set(columns.values()) | {_Column()}, key=lambda one: (*one[:1], sorted(one.row), *one[2:]))
    numbers = {column: number for number, column in enumerate(kinds)}
    flags = np.full(CODE_POINTS, numbers[_Column()], dtype=np.uint16)
    for letter, column in columns.items():
        flags[ord(letter)] = numbers[column]
    return _automaton(_State(), spread(flags), kinds, _follow, _kind)


class _Neighbours:
    """Finds by running the normalizer what code points are to clusters."""

    def __init__(self, change: _Change, pairs: Sequence[str], live: Flags) -> None:
        self._change, self._pairs = change, pairs
        self._live = [chr(point) for point in sample_points().tolist() if live[point]]
        # The pair with which code points are tried, and what becomes of it.
        self._pair = min(pairs, key=lambda pair: len(pair.encode()))
        (self._result,) = results_apart(change, [self._pair])
        self._has_joiner = bool(live[ord(_JOINER)])

    def columns(self) -> dict[str, _Column]:
        """The columns of all code points that matter."""
        tried = self._pair
        # A mark becomes a part of the pair's cluster, which is replaced as a whole or becomes too long.
        marks = set(self._where([tried + letter for letter in self._live], self._result, after=True))
        others = [letter for letter in self._live if letter not in marks]
        joining = set(self._where([letter + tried for letter in others], self._result, after=False))
        rows: dict[str, set[str]] = {}
        for pair in self._pairs:
            first, second = pair[0], pair[1]
            rows.setdefault(first, set()).add(second)
            if second not in marks:
                raise _refusal(f"{first!r} joins {second!r}, which is no mark")
            if first in marks or first in joining:
                raise _refusal(f"{first!r} begins a key and may be within a cluster")
        emoji, extending = self._emoji(others, marks - {_JOINER})
        seconds = {pair[1] for pair in self._pairs}
        found: dict[str, _Column] = {}
        for letter in {*marks, *joining, *rows, *emoji}:
            found[letter] = _Column(
                letter if letter in seconds else "",
                frozenset(rows.get(letter, ())),
                len(letter.encode()) if letter in marks or letter in rows else 0,
                letter in marks,
                letter == _JOINER,
                letter in extending,
                letter in emoji,
                letter in joining,
            )
        return found

    def _emoji(self, others: Iterable[str], marks: Iterable[str]) -> tuple[set[str], set[str]]:
        """The emoji, and the marks that may follow one before U+200D, if an emoji begins a pair.

        Refuses other contexts in which a pair begins no cluster.
        """
        by_first = {pair[0]: pair for pair in reversed(self._pairs)}
        tried = list(by_first.values())
        results = results_apart(self._change, tried)
        for context in _JOINING:
            (own,) = results_apart(self._change, [context])
            after = results_apart(self._change, [context + pair for pair in tried])
            for pair, result, text in zip(tried, results, after, strict=True):
                if text != own + result:
                    raise _refusal(f"{pair!r} is another text after {context!r}")
        if not self._has_joiner:
            return set(), set()
        begun = _EMOJI + _JOINER
        after = results_apart(self._change, [begun + pair for pair in tried])
        pair = next((pair for pair, text in zip(tried, after, strict=True) if text == begun + pair), "")
        if not pair:
            return set(), set()
        (own,) = results_apart(self._change, [pair])

        def joined(befores: Iterable[str]) -> set[str]:
            begun = [before + _JOINER for before in befores]
            expected = [text + own for text in begun]
            found = differing(self._change, [text + pair for text in begun], expected)
            return {begun[number][-2] for number, _ in found}

        return joined(others), joined(_EMOJI + mark for mark in marks)

    def _where(self, texts: Sequence[str], result: str, after: bool) -> list[str]:
        """The code points that stand beside the pair in these texts and change what becomes of it."""
        letters = [text[-1] if after else text[0] for text in texts]
        expected = [result + letter if after else letter + result for letter in letters]
        return [letters[number] for number, _ in differing(self._change, texts, expected)]


def _automaton(
    start: _S,
    flags: npt.NDArray[np.uint16],
    columns: Sequence[_C],
    follow: Callable[[_S, _C], _S | None],
    kind: Callable[[_S], int],
) -> FormAutomaton:
    """All states that are reached from the start, without those that are alike."""
    order = [start]
    numbers = {start: 0}
    targets: list[list[int]] = []
    for state in order:  # grows as states are found
        row = []
        for column in columns:
            after = follow(state, column)
            if after is not None and after not in numbers:
                if len(order) * len(columns) > _MOST_TRANSITIONS:
                    raise _refusal("it has too many pairs")
                numbers[after] = len(order)
                order.append(after)
            row.append(DEAD if after is None else numbers[after])
        targets.append(row)
    table = np.array(targets, dtype=np.int64)
    kinds = np.array([kind(state) for state in order], dtype=np.uint8)
    groups = kinds.astype(np.int64)
    while True:
        behind = np.where(table == DEAD, DEAD, groups[np.where(table == DEAD, 0, table)])
        _, firsts, again = np.unique(
            np.concatenate([groups[:, None], behind], axis=1), axis=0, return_index=True, return_inverse=True
        )
        again = again.reshape(-1)
        if len(firsts) == len(np.unique(groups)):
            break
        groups = again
    # State 0 stays the first.
    first_of = np.full(groups.max() + 1, -1, dtype=np.int64)
    for number in range(len(groups) - 1, -1, -1):
        first_of[groups[number]] = number
    kept = np.sort(first_of[first_of >= 0])
    number_of = np.zeros(groups.max() + 1, dtype=np.int64)
    number_of[groups[kept]] = np.arange(len(kept))
    reduced = table[kept]
    alive = reduced != DEAD
    reduced = np.where(alive, number_of[groups[np.where(alive, reduced, 0)]], DEAD)
    return FormAutomaton(flags, reduced.astype(np.uint16), kinds[kept])


def _refusal(what: str) -> UnsupportedTokenizerError:
    return UnsupportedTokenizerError("normalizer", f"its charsmap: {what}")
