r"""Words as an automaton: which texts are words with single spaces between them, each with tokens.

Problem.  A tokenizer of words loses what stands between them: the decoder puts one space there, and no
token brings anything else back.  So a canonical text is words with a space between each two, and each is
such that the pre-tokenizer leaves it whole and the model finds tokens for it.  BERT makes of ``the cat!``
the tokens ``the``, ``cat``, ``!``, which come back as ``the cat !``; that text is the canonical one.

How.  A word goes on only with code points of one kind (``WordPieces.kinds``), and has a bounded number of
them.  So a state is the kind of the word and how many code points of it were read::

    border ─space─▶ space ─letter─▶ letter 1 ─letter─▶ letter 2 ─ ... ─▶ letter 100
                      └────mark───▶ alone

The end of a word is a place where the next one may be guessed to begin (``ends``), with its space.  The
first word of a text has none, but its token is read as if it had.

The mark.  The model looks a word's beginning up as it is written.  So a word ``##ing``, where such a word can
be, is the token of that name, which comes back as ``ing``, joined to the word before.  It is canonical as
the first token of a text alone, where the decoder leaves it as it is; that token is read as ``ing``, and is
told from the others by having no space.  Elsewhere a word that begins with the mark may not go on behind it.

Cost: the longest word times the kinds, 104 states for BERT.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tokamata.tokenization.pretokenizer_machine import Hypotheses
from tokamata.tokenization.pretokenizer_matching import DEAD


@dataclass(frozen=True)
class Symbol:
    """A class of code points, as words see it.

    Attributes:
        kind: see ``WordPieces``; 0 for the space.
        alone, begins, continues: see ``WordPieces``.
        place: where in the mark the code point first is, counted from 1; 0 where it is not in it.
    """

    kind: int
    alone: bool
    begins: bool
    continues: bool
    place: int


_START, _BORDER, _SPACE, _ALONE = ("start",), ("border",), ("space",), ("alone",)

_State = tuple[str] | tuple[str, int, int]


def word_hypotheses(symbols: Sequence[Symbol], most: int, mark: Sequence[int], mark_kind: int) -> Hypotheses:
    """The automaton of words.

    Args:
        symbols: the classes of code points, of which one of kind 0 is the space.
        most: the most code points of a word.
        mark: the mark of continuations, each code point by its ``place``; empty where no word can have it.
        mark_kind: the kind of its code points.

    Returns:
        The automaton, with two starts: of a text, and behind a token that was added.
    """
    order: list[_State] = [_START, _BORDER]
    numbers = {state: number for number, state in enumerate(order)}
    targets, ends, may_end = [], [], []
    for state in order:  # grows as states are found
        row = []
        for symbol in symbols:
            after = _read(state, symbol, most, mark, mark_kind)
            if after is not None and after not in numbers:
                numbers[after] = len(order)
                order.append(after)
            row.append(DEAD if after is None else numbers[after])
        is_word = state not in (_START, _BORDER, _SPACE)
        targets.append(tuple(row))
        ends.append((1,) if is_word else ())
        may_end.append(state != _SPACE)
    return Hypotheses((0, 1), tuple(targets), tuple(ends), tuple(may_end))


def _read(state: _State, symbol: Symbol, most: int, mark: Sequence[int], mark_kind: int) -> _State | None:
    if state == _ALONE:
        return None
    if state in (_START, _BORDER):
        if symbol.kind == 0:
            return _SPACE
        # The rest of a token whose mark was left standing.
        size = len(mark) + 1
        fits = state == _START and mark and symbol.continues and symbol.kind == mark_kind and size <= most
        return ("word", mark_kind, size) if fits else None
    if state == _SPACE:
        if not symbol.begins or most == 0:
            return None
        if symbol.alone:
            return _ALONE
        return ("mark", symbol.kind, 1) if mark and symbol.place == mark[0] else ("word", symbol.kind, 1)
    name, kind, size = state  # type: ignore[misc]  # the others have three parts
    if symbol.kind != kind or not symbol.continues or size == most or (name == "mark" and size == len(mark)):
        return None
    is_mark = name == "mark" and symbol.place == mark[size]
    return ("mark" if is_mark else "word", kind, size + 1)
