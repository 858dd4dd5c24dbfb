"""The texts of slots, as automata over bytes, which are kept: most templates have the same kinds of slots."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from tokamata.constraints.constraint import Constraint
from tokamata.constraints.text_constraints import literal
from tokamata.errors import TokamataError
from tokamata.guard.byte_languages import ByteLanguage
from tokamata.guard.templates.languages import slot_language
from tokamata.guard.templates.pieces import Condition, Piece, Slot, Source, sources_of
from tokamata.resources.limits import Limits

__all__ = ["concatenated", "is_possible", "texts_of"]

_MOST_KEPT = 2000
_LIMITS = Limits(states=20_000, seconds=5.0)


def texts_of(slot: Slot, conditions: Sequence[Condition]) -> ByteLanguage:
    """The texts that may stand in a slot of a rendering; a superset.

    Raises:
        LimitExceeded: the language has too many states.
    """
    return _language(*_numbered((slot,), conditions))


def is_possible(conditions: Sequence[Condition]) -> bool:
    """Whether texts may have the conditions of a rendering, each source by itself; if unsure, they may."""
    subjects = {source for condition in conditions for source in sources_of(condition.subject)}
    return all(
        _has_texts(*_numbered((Slot(source),), conditions)) for source in subjects if source.kind == "text"
    )


def concatenated(pieces: Sequence[Piece], conditions: Sequence[Condition]) -> ByteLanguage:
    """The texts of some pieces, one after the other; a superset.

    Raises:
        LimitExceeded: the language has too many states.
    """
    return _whole(*_numbered(tuple(pieces), conditions))


@functools.lru_cache(_MOST_KEPT)
def _whole(pieces: tuple[Piece, ...], conditions: tuple[Condition, ...]) -> ByteLanguage:
    whole: Constraint[Any] = literal("")
    for piece in pieces:
        whole = whole + (literal(piece) if isinstance(piece, str) else slot_language(piece, conditions).texts)
    return ByteLanguage.of("template", whole, _LIMITS)


@functools.lru_cache(_MOST_KEPT)
def _language(slots: tuple[Slot], conditions: tuple[Condition, ...]) -> ByteLanguage:
    (slot,) = slots
    return ByteLanguage.of("template", slot_language(slot, conditions).texts, _LIMITS)


@functools.lru_cache(_MOST_KEPT)
def _has_texts(slots: tuple[Slot], conditions: tuple[Condition, ...]) -> bool:
    (slot,) = slots
    try:
        return not slot_language(slot, conditions).texts.is_empty()
    except TokamataError:
        return True


def _numbered(pieces: Sequence[Piece], conditions: Sequence[Condition]) -> tuple[Any, tuple[Condition, ...]]:
    """Pieces and the conditions about their sources, with sources named by their order alone."""
    own = set(sources_of(tuple(pieces)))
    about = [each for each in conditions if not own.isdisjoint(_sources_in(each))]
    names: dict[Source, Source] = {}

    def named(piece: Piece) -> Piece:
        if not isinstance(piece, Slot):
            return piece
        if isinstance(piece.source, Source):
            source = names.setdefault(
                piece.source, Source("message", len(names), "", "content", piece.source.kind)
            )
            return Slot(source, piece.steps)
        return Slot(tuple(map(named, piece.source)), piece.steps)

    return tuple(map(named, pieces)), tuple(
        replace(
            each,
            subject=tuple(map(named, each.subject)),
            argument=tuple(map(named, each.argument)) if _has_pieces(each) else each.argument,
        )
        for each in about
    )


def _has_pieces(condition: Condition) -> bool:
    return condition.kind == "equals" and isinstance(condition.argument, tuple)


def _sources_in(condition: Condition) -> set[Source]:
    found = set(sources_of(condition.subject))
    return found | set(sources_of(condition.argument)) if _has_pieces(condition) else found
