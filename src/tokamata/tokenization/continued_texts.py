"""Texts that go on after an added token: user-defined pieces, where SentencePiece adds or removes spaces.

Problem.  SentencePiece puts a space before a text, and removes spaces at its ends and after other spaces.  A
user-defined piece is cut out of the whole text afterwards.  So no space is put before what follows a piece, a
piece's own spaces count as those of the text, and a piece that begins with a space may take the one that was
put before the text.

Example, with both: ``a`` ``<u>`` ``b`` is canonical without any space; ``<u>`` alone is written ``▁``,
``<u>``; and if ``▁x`` is such a piece, the text ``x`` becomes this token.

How.  No pre-tokenizer cuts the text, so it is enough to know what was read last::

    START ─space that was put─▶ DUMMY ─letter─▶ OTHER ─space─▶ SPACE ─letter─▶ OTHER

A piece may stand in some of these states, which depends on whether it begins with a space, and leads to one
of them.  ``may_end`` has a bit for the end of a text and for both kinds of pieces (``added_kinds.py``).

If spaces are removed, ``DUMMY`` and ``SPACE`` are alike: neither a space nor the end may follow.  If they are
not, nothing is special after a space, and the two differ; then a piece that is a single space is refused,
since it could lead to either.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tokamata.tokenization.added_kinds import hypotheses_tables, lists_tables
from tokamata.tokenization.kept_tables import Tables
from tokamata.tokenization.pipelines.pipeline import AddedToken
from tokamata.tokenization.pretokenizers.machine import Hypotheses
from tokamata.tokenization.pretokenizers.matching import DEAD

__all__ = ["continued_texts_tables"]

_START, _DUMMY, _SPACE, _OTHER = range(4)
# What may follow where a text may end: nothing, a piece that begins with a letter, or one with a space.
_END, _LETTER_PIECE, _SPACE_PIECE = 1, 2, 4
_ANY = _END | _LETTER_PIECE | _SPACE_PIECE


def continued_texts_tables(
    added: Sequence[AddedToken], is_space: Sequence[bool], puts_space: bool, removes_spaces: bool
) -> Tables:
    """The tables of texts that go on after added tokens; those without a text are control tokens.

    Args:
        added: the added tokens.
        is_space: for each symbol whether it is the space.
        puts_space: whether a space is put before a text, which the decoder removes.
        removes_spaces: whether spaces are removed at the ends of a text and after spaces.
    """
    after_space = _SPACE if removes_spaces else _OTHER
    no_space = DEAD if removes_spaces else _OTHER
    rows = {
        _START: (_DUMMY, DEAD) if puts_space else (no_space, _OTHER),
        _DUMMY: (no_space, _OTHER),
        _SPACE: (no_space, _OTHER),
        _OTHER: (after_space, _OTHER),
    }
    letter, space = (0 if puts_space else _LETTER_PIECE), (0 if removes_spaces else _SPACE_PIECE)
    may_end = {
        # A piece may take the space that is put before the text.
        _START: _END | letter | (_SPACE_PIECE if puts_space else space),
        # The space alone is decoded to the empty text.
        _DUMMY: _LETTER_PIECE | space,
        _SPACE: _LETTER_PIECE if removes_spaces else _ANY,
        _OTHER: _ANY,
    }
    found = Hypotheses(
        (),
        tuple(tuple(row[0] if flag else row[1] for flag in is_space) for row in rows.values()),
        ((), (), (), ()),
        tuple(may_end.values()),
    )
    kinds = [_kind(one.text) for one in added]
    ends = (_LETTER_PIECE, _SPACE_PIECE) * 2
    after = [_OTHER, _OTHER, after_space, after_space]
    return {
        **hypotheses_tables(found),
        "text_starts": np.array([_START], dtype=np.uint16),
        "added_starts": np.array([_OTHER], dtype=np.uint16),
        "control_starts": np.array([_START], dtype=np.uint16),
        "added_kinds": np.array(kinds, dtype=np.uint8),
        "kind_ends": np.array(ends, dtype=np.uint8),
        **lists_tables("kind_text", [[state] for state in after]),
        **lists_tables("kind_control", [[_START]] * len(after)),
    }


def _kind(text: bytes) -> int:
    """0 for a control token; else 1, and more for a space at the beginning and at the end."""
    return 0 if not text else 1 + text.startswith(b" ") + 2 * text.endswith(b" ")
