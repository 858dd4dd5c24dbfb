r"""The engine's tables of texts, and of what added tokens are to the texts beside them.

Problem.  Where an added token may stand depends on the text around it if some of them have ``single_word``
(``pipelines/lone_tokens.py``): such a token needs neighbours that are no word characters, and others are
neighbours of it themselves.

Example.  If ``<m>`` has ``single_word``, and ``the`` and ``-`` are added tokens too, then ``-<m>`` is two
tokens, and ``<m>`` is not cut out of ``the<m>``.  So the three are of three kinds.

How.  Added tokens of one *kind* may stand beside the same texts.  A kind has a bit of ``may_end``, which the
text before needs, and states in which the text after begins.  Without ``single_word`` there is one kind, and
one more for tokens after which a text begins anew.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tokamata.errors import UnsupportedTokenizerError
from tokamata.tokenization.kept_tables import Tables
from tokamata.tokenization.pipelines.lone_tokens import word_characters
from tokamata.tokenization.pipelines.pipeline import AddedToken
from tokamata.tokenization.pipelines.stripping_tokens import WHITE_SPACE
from tokamata.tokenization.pretokenizers.classes import CODE_POINTS
from tokamata.tokenization.pretokenizers.lone_words import (
    OTHER,
    TEXT_END,
    WHITE,
    WORD,
    LoneText,
    Side,
    Start,
    with_lone_words,
)
from tokamata.tokenization.pretokenizers.machine import Hypotheses
from tokamata.tokenization.pretokenizers.matching import DEAD

__all__ = ["DEAD_GUESS", "Texts", "hypotheses_tables", "lists_tables", "seen_by_lone", "texts_tables"]

DEAD_GUESS = 0xFFFF
_STARTS = ("text_starts", "added_starts", "control_starts")


@dataclass(frozen=True)
class Texts:
    """The hypotheses about texts, and where texts begin.

    Attributes:
        found: the hypotheses.
        starts: where texts begin, by what stands before: nothing (``text_starts``), an added token that is
            text (``added_starts``), a control token (``control_starts``).
        hidden: the starts whose first symbol is no part of the text.
    """

    found: Hypotheses
    starts: dict[str, list[int]]
    hidden: frozenset[int] = frozenset()


class _Kind(NamedTuple):
    """Added tokens of one kind may stand beside the same texts.

    Attributes:
        left, right: their sides.
        begins: whether a text begins anew after them.
    """

    left: Side
    right: Side
    begins: bool


_PLAIN = _Kind(TEXT_END, TEXT_END, False)
_MOST_SIDES, _MOST_KINDS = 8, 255


def texts_tables(
    texts: Texts, added: Sequence[AddedToken], columns: npt.NDArray[Any] | None = None
) -> Tables:
    """The tables of texts, and of what added tokens are to them.

    Args:
        texts: the hypotheses about texts.
        added: the added tokens.
        columns: if some of them are lone, what :func:`seen_by_lone` says of each symbol.
    """
    has_lone = any(one.is_lone for one in added)
    kinds = [_kind(one) if has_lone else _Kind(TEXT_END, TEXT_END, one.begins) for one in added]
    others = sorted({*kinds} - {_PLAIN}, key=repr)
    sides = [TEXT_END, *sorted({kind.left for kind in others} - {TEXT_END}, key=repr)]
    if len(sides) > _MOST_SIDES:
        what = f"single_word: the others begin in more than {_MOST_SIDES} ways"
        raise UnsupportedTokenizerError("added tokens", what)
    starts = [(texts.starts[name], TEXT_END, True) for name in _STARTS]
    for kind in others:
        own = "control_starts" if kind.begins else "added_starts"
        starts.append((texts.starts[own], kind.right, not kind.begins))
        starts.append((texts.starts["control_starts"], kind.right, True))
    if len(others) > _MOST_KINDS:
        raise UnsupportedTokenizerError("added tokens", f"single_word: over {_MOST_KINDS} kinds of others")
    found, states = texts.found, [some for some, _, _ in starts]
    if has_lone and columns is not None:
        begun = [
            Start(tuple(some), side, may_hide and not texts.hidden.isdisjoint(some))
            for some, side, may_hide in starts
        ]
        symbols = [(int(kind), int(letter)) for kind, letter in columns]
        found, states = with_lone_words(found, begun, _lone_texts(added), symbols, sides)
    numbers = {_PLAIN: 0, **{kind: 1 + number for number, kind in enumerate(others)}}
    text_lists, control_lists = states[len(_STARTS) :: 2], states[len(_STARTS) + 1 :: 2]
    return {
        **hypotheses_tables(found),
        **{name: np.array(some, dtype=np.uint16) for name, some in zip(_STARTS, states, strict=False)},
        "added_kinds": np.array([numbers[kind] for kind in kinds], dtype=np.uint8),
        "kind_ends": np.array([1 << sides.index(kind.left) for kind in others], dtype=np.uint8),
        **lists_tables("kind_text", text_lists),
        **lists_tables("kind_control", control_lists),
    }


def lists_tables(name: str, lists: list[list[int]]) -> Tables:
    """Lists one after the other, with where each begins."""
    return {
        f"{name}_offsets": np.cumsum([0, *map(len, lists)]).astype(np.uint32),
        f"{name}_starts": np.array([state for some in lists for state in some], dtype=np.uint16),
    }


def _kind(added: AddedToken) -> _Kind:
    """What an added token is to its neighbours."""
    text = added.text.decode()
    first, last = _seen_as(text[0]), _seen_as(text[-1])
    # Tokens that are found late do not see the others, and none swallows white space that was cut out before.
    first_seen = (first, first if added.is_late else OTHER)
    last_seen = (
        OTHER if last == WHITE and not added.is_late else last,
        last if last == WORD and added.is_late else OTHER,
    )
    if not added.is_lone:
        return _Kind(Side(first_seen, False, frozenset()), Side(last_seen, False, frozenset()), added.begins)
    before, after = (frozenset({WORD, WHITE} if white else {WORD}) for white in added.bars_white)
    left, right = Side(first_seen, added.is_late, before), Side(last_seen, added.is_late, after)
    return _Kind(left, right, added.begins)


def _seen_as(letter: str) -> int:
    return WHITE if letter in WHITE_SPACE else WORD if word_characters()[ord(letter)] else OTHER


def seen_by_lone(added: Sequence[AddedToken]) -> list[npt.NDArray[Any]]:
    """What each code point is beside an added token, and its number among those of the texts of lone ones."""
    seen = np.where(word_characters(), WORD, OTHER).astype(np.uint8)
    if any(any(one.bars_white) for one in added):
        seen[[ord(letter) for letter in WHITE_SPACE]] = WHITE
    numbers = np.zeros(CODE_POINTS, dtype=np.uint16)
    letters = _letters_of_lone(added)
    numbers[[ord(letter) for letter in letters]] = np.arange(1, len(letters) + 1)
    return [seen, numbers]


def _lone_texts(added: Sequence[AddedToken]) -> list[LoneText]:
    letters = _letters_of_lone(added)
    lone = [one for one in added if one.is_lone]
    numbered = [tuple(1 + letters.index(each) for each in one.text.decode()) for one in lone]
    return [LoneText(each, one.is_late) for each, one in zip(numbered, lone, strict=True)]


def _letters_of_lone(added: Sequence[AddedToken]) -> list[str]:
    return sorted({letter for one in added if one.is_lone for letter in one.text.decode()})


def hypotheses_tables(found: Hypotheses) -> Tables:
    """The arrays of an automaton."""
    table = np.array(found.targets, dtype=np.int64).reshape(-1)
    return {
        "targets": np.where(table == DEAD, DEAD_GUESS, table).astype(np.uint16),
        "end_offsets": np.cumsum([0, *map(len, found.ends)]).astype(np.uint32),
        "ends": np.array([end for row in found.ends for end in row], dtype=np.uint16),
        "may_end": np.array(found.may_end, dtype=np.uint8),
    }
