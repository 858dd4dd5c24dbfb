r"""Words with a space beside each, as an automaton over decoded texts: marks at the ends of words.

Problem.  Some models of byte-pair encoding mark the last character of a word (CLIP's ``the</w>``) or all but
the first (``th ##e``).  Their pre-tokenizers leave out the white space between words, and their decoders
write a space for it: after a token with ``</w>``, or before one without ``##``.  So a canonical text consists
of words, which are pre-tokens, with one space between each two; and the space is in the text of the token
beside it.

Example.  GPT-1 writes ``the cat!`` as ``the</w>``, ``cat</w>``, ``!</w>``, which is decoded to ``the cat !``.
That text is the canonical one.  The decoder drops what the last token has for a space.  Here the text of each
token has it, as everywhere in tokamata: ``the cat ! `` with a space at the end.

How.  The automaton of pre-tokens (``machine.py``) is made with the text that is left out as pieces of its
own, gaps.  For spaces *after* words, states are those of words, and what is reached by a single space in a
gap::

    word ─letter─▶ word ─space─▶ closed      ends: of a closed state, the words that begin there

so that a word and its space are one pre-token of the engine, which ends with a token that is marked: no other
has a space.  For spaces *before* words, the space is read from the border after a word::

    word ─letter─▶ word      border ─space─▶ begun ─letter─▶ word      ends: of a word, the border after it

and the first word of a text is read as if it had one.  What a space in a gap leads to may be several states
of the pre-tokenizer, so that states are sets.

The letter beside the space is the one that is marked, or the only one that is not: it may be one that others
may not be, if the vocabulary lacks a token for it.  So states also say whether the last letter may stand
there.

A pre-tokenizer whose matches have spaces, or that distinguishes the end of a text from a space, is refused.

Cost: about twice the states of the pre-tokenizer.  Rejected: marks in the engine's pieces, where every search
would have to ask how a pre-token may end; by its space the text itself says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

from tokamata.errors import UnsupportedTokenizerError
from tokamata.tokenization.pretokenizers.machine import Hypotheses, Numbering, live_part
from tokamata.tokenization.pretokenizers.matching import DEAD

__all__ = ["spaced_words"]

_MOST_STATES = 20_000
_MOST_STEPS = 20_000_000  # of the pre-tokenizer's states by symbols; CLIP takes 360


@dataclass(frozen=True)
class _Letters:
    """What the symbols of a text may be.

    Attributes:
        spaces: the symbols of the space.
        outer, inner: whether a symbol may stand beside the space of a word, and elsewhere in a word.
    """

    spaces: frozenset[int]
    outer: Sequence[bool]
    inner: Sequence[bool]


class _State(NamedTuple):
    """A state.

    Attributes:
        kind: ``start`` of a text; after an ``added`` token; ``word``; ``begun``, after the space of a word;
            ``closed``, after the space that ends one; ``border``, where the space of a word follows.
        inside: the states of the pre-tokenizer in a word.
        gap: those after the single space of a gap.
        goes_on, closes: whether another letter may follow, and whether a space may.
    """

    kind: Literal["start", "added", "word", "begun", "closed", "border"]
    inside: frozenset[int] = frozenset()
    gap: frozenset[int] = frozenset()
    goes_on: bool = True
    closes: bool = False


def spaced_words(
    base: Hypotheses,
    side: Literal["before", "after"],
    spaces: Iterable[int],
    outer: Sequence[bool],
    inner: Sequence[bool],
) -> Hypotheses:
    """The automaton of words with a space on one side; its starts: of a text, and after an added token.

    Args:
        base: that of the pre-tokenizer, with the text that it leaves out as pieces (``in_gap``).
        side: where the space of a word is.
        spaces: the symbols of the space.
        outer, inner: for each symbol whether it may stand beside the space of a word, and elsewhere in one.

    Raises:
        UnsupportedTokenizerError: a word may have a space, no space is left out, the end of a text is
            distinguished from a space, or there are too many states.
    """
    words = _Words(base, _Letters(frozenset(spaces), outer, inner))
    return words.with_spaces_after() if side == "after" else words.with_spaces_before()


class _Words:
    def __init__(self, base: Hypotheses, letters: _Letters) -> None:
        self._base, self._letters = base, letters
        self._steps = 0
        self._starts = frozenset(start for start in base.starts if not base.in_gap[start])
        gaps = frozenset(start for start in base.starts if base.in_gap[start])
        self._gap_at_start = self._read_space(gaps)

    # ---- spaces after words ----------------------------------------------------------------------

    def with_spaces_after(self) -> Hypotheses:
        """See the module's text: ``word``, ``closed``."""

        def read(state: _State, symbol: int) -> _State | None:
            if state.kind == "closed":
                return None
            if symbol in self._letters.spaces:
                gap = self._gap_after(state.inside)
                self._check_space(state.inside, symbol)
                return _State("closed", state.inside, gap) if state.closes and gap else None
            inside = self._read(state.inside, symbol) if state.goes_on else frozenset()
            if not inside:
                return None
            flags = bool(self._letters.inner[symbol]), bool(self._letters.outer[symbol])
            return _State("word", inside, frozenset(), *flags) if any(flags) else None

        def ends(state: _State) -> list[_State]:
            begun = self._words_after(state.gap) if state.kind == "closed" else frozenset()
            return [_State("word", begun)] if begun else []

        def may_end(state: _State) -> bool:
            if state.kind == "word" and state.closes:
                self._check_end(state.inside, self._gap_after(state.inside))
            return state.kind == "start" or self._may_end(state.gap)

        start = _State("start", self._starts)
        found = self._automaton([start], read, ends, may_end)
        return replace(found, starts=2 * found.starts)

    # ---- spaces before words ---------------------------------------------------------------------

    def with_spaces_before(self) -> Hypotheses:
        """See the module's text: ``border``, ``begun``, ``word``."""

        def read(state: _State, symbol: int) -> _State | None:
            if state.kind in ("start", "added", "border"):
                if symbol not in self._letters.spaces:
                    return None
                begun = self._starts if state.kind == "start" else self._words_after(state.gap)
                return _State("begun", begun) if begun else None
            if symbol in self._letters.spaces:
                self._check_space(state.inside, symbol)
                return None
            allowed = self._letters.outer if state.kind == "begun" else self._letters.inner
            inside = self._read(state.inside, symbol) if allowed[symbol] else frozenset()
            return _State("word", inside) if inside else None

        def ends(state: _State) -> list[_State]:
            gap = self._gap_after(state.inside) if state.kind == "word" else frozenset()
            return [_State("border", gap=gap)] if gap else []

        def may_end(state: _State) -> bool:
            if state.kind == "word":
                self._check_end(state.inside, self._gap_after(state.inside))
                return self._may_end(state.inside)
            if state.kind == "added" and state.gap and not self._may_end(state.gap):
                raise UnsupportedTokenizerError("pre-tokenizer", "a space may not stand alone")
            return state.kind in ("start", "added")

        start = _State("start", self._starts)
        added = _State("added", gap=self._gap_at_start)
        return self._automaton([start, added], read, ends, may_end)

    # ---- steps of the pre-tokenizer --------------------------------------------------------------

    def _read(self, states: frozenset[int], symbol: int) -> frozenset[int]:
        """The states in a word after a symbol."""
        self._steps += len(states)
        if self._steps > _MOST_STEPS:
            raise UnsupportedTokenizerError("pre-tokenizer", "words with spaces take too many states")
        return frozenset(
            target
            for state in states
            if (target := self._base.targets[state][symbol]) != DEAD and not self._base.in_gap[target]
        )

    def _read_space(self, gaps: frozenset[int]) -> frozenset[int]:
        """The states in a gap after its only space."""
        return frozenset(
            target
            for state in gaps
            for space in self._letters.spaces
            if (target := self._base.targets[state][space]) != DEAD and self._base.in_gap[target]
        )

    def _gap_after(self, states: frozenset[int]) -> frozenset[int]:
        ends = (end for state in states for end in self._base.ends[state] if self._base.in_gap[end])
        return self._read_space(frozenset(ends))

    def _words_after(self, gap: frozenset[int]) -> frozenset[int]:
        return frozenset(end for state in gap for end in self._base.ends[state] if not self._base.in_gap[end])

    def _may_end(self, states: frozenset[int]) -> bool:
        return any(self._base.may_end[state] for state in states)

    # ---- requirements ----------------------------------------------------------------------------

    def _check_space(self, states: frozenset[int], space: int) -> None:
        if self._read(states, space):
            raise UnsupportedTokenizerError("pre-tokenizer", "a word may have a space, which its tokens mark")

    def _check_end(self, word: frozenset[int], gap: frozenset[int]) -> None:
        """The decoder may drop the space at the end of a text, but not one before an added token."""
        if self._may_end(word) != self._may_end(gap):
            what = "it cuts a word at the end of a text otherwise than before a space"
            raise UnsupportedTokenizerError("pre-tokenizer", what)

    # ---- the automaton ---------------------------------------------------------------------------

    def _automaton(
        self,
        starts: Sequence[_State],
        read: Callable[[_State, int], _State | None],
        ends_of: Callable[[_State], list[_State]],
        may_end_of: Callable[[_State], bool],
    ) -> Hypotheses:
        if not any(self._base.in_gap):
            raise UnsupportedTokenizerError("pre-tokenizer", "it leaves out no space between words")
        number = Numbering[_State]("pre-tokenizer", "words with spaces have", _MOST_STATES)
        first = [number(state) for state in starts]
        symbols = range(len(self._letters.outer))
        targets, ends, may_end = [], [], []
        for state in number.order:  # grows as states are found
            read_here = (read(state, symbol) for symbol in symbols)
            targets.append([DEAD if after is None else number(after) for after in read_here])
            ends.append([number(end) for end in ends_of(state)])
            may_end.append(may_end_of(state))
        return live_part(first, targets, ends, may_end)
