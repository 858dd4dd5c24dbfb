"""Whether the texts of the slots of a rendering can be encoded apart.

A rendering is cut at the control tokens that its literal texts name, and at other added tokens that no text
around them can hide, such as DeepSeek's ``<｜User｜>``.  Each *stretch* between two of them is a
question about seams (:mod:`tokamata.guard.seams`).  Settled answers are kept as long as the tokenizer is,
since templates have few kinds of stretches: ``user\\n`` and any text, after ``<|im_start|>``.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Any
from weakref import WeakKeyDictionary

import tokamata._core as _core
from tokamata.errors import LimitExceeded
from tokamata.guard.byte_languages import ByteLanguage
from tokamata.guard.seams import stretch_verdict
from tokamata.guard.slot_texts import concatenated, texts_of
from tokamata.guard.templates.pieces import Condition, Piece, Slot, sources_of
from tokamata.guard.templates.unknowns import is_gap
from tokamata.guard.token_edges import TokenEdges, not_settled
from tokamata.guard.verdicts import Verdict
from tokamata.resources.limits import CancelToken, Limits
from tokamata.resources.locks import Lock

__all__ = ["RenderingStretch", "SlotSeams"]

_MOST_KEPT = 1000
_lock = Lock()
_kept: WeakKeyDictionary[TokenEdges, dict[Any, tuple[Verdict, tuple[bytes, ...]]]] = WeakKeyDictionary()


class RenderingStretch:
    """The pieces between two control tokens.

    Attributes:
        pieces: literal texts and slots.
        before: what stands before them.
    """

    def __init__(self, pieces: Sequence[Piece], before: _core.Before) -> None:
        self.pieces = tuple(pieces)
        self.before = before

    @property
    def slots(self) -> tuple[Slot, ...]:
        """Its slots."""
        return tuple(piece for piece in self.pieces if isinstance(piece, Slot))


class SlotSeams:
    """Answers about the stretches of renderings, by one tokenizer.

    Args:
        edges: the tokenizer, which reads names of control tokens as text.
        limits, cancel: of each search.
    """

    def __init__(self, edges: TokenEdges, limits: Limits | None, cancel: CancelToken | None) -> None:
        self._edges, self._limits, self._cancel = edges, limits, cancel
        self._unsettled: dict[Any, tuple[Verdict, tuple[bytes, ...]]] = {}
        # Added tokens that the tokenizer reads in a slot, too.
        self._texts = sorted(set(edges.added_names) - set(edges.control_names), key=len, reverse=True)
        self._added = re.compile("|".join(map(re.escape, self._texts))) if self._texts else None
        self._sure: dict[str, bool] = {}
        with _lock:
            self._settled = _kept.setdefault(edges, {})

    def stretches(self, pieces: Iterable[Piece]) -> Iterator[RenderingStretch]:
        """The stretches of a rendering, those without a slot as well."""
        own: list[Piece] = []
        before = _core.Before.NOTHING
        for piece in pieces:
            if isinstance(piece, Slot):
                own.append(piece)
                continue
            for text, following in self._split(piece):
                if following is None:
                    own.append(text)
                else:
                    yield RenderingStretch(own, before)
                    own, before = [], following
        yield RenderingStretch(own, before)

    def _split(self, literal: str) -> Iterator[tuple[str, _core.Before | None]]:
        """The texts of a literal, and those of tokens in it with what they are for the text after them."""
        for text, is_control in self._edges.split_controls(literal):
            if is_control:
                yield text, _core.Before.CONTROL_TOKEN
                continue
            end = 0
            for match in self._added.finditer(text) if self._added else ():
                if match.start() > end:
                    yield text[end : match.start()], None
                yield match.group(), _core.Before.ADDED_TOKEN if self._is_sure(match.group()) else None
                end = match.end()
            if end < len(text):
                yield text[end:], None

    def _is_sure(self, name: str) -> bool:
        """Whether the name of an added token that is text is read as this token, whatever stands around it.

        No other name may end or begin within it, or have it within.
        """
        if name not in self._sure:
            self._sure[name] = not self._edges.hides_space and not any(
                (other != name and name in other)
                or any(other.endswith(name[:size]) for size in range(1, len(name)))
                for other in self._texts
            )
        return self._sure[name]

    def verdict(
        self, stretch: RenderingStretch, conditions: Sequence[Condition]
    ) -> tuple[Verdict, tuple[bytes, ...]]:
        """Whether its tokens are those of its parts; the texts of the parts of a witness.

        Raises:
            Cancelled: ``cancel`` was cancelled.
        """
        try:
            parts = [
                piece if isinstance(piece, str) else texts_of(piece, conditions) for piece in stretch.pieces
            ]
        except LimitExceeded as error:
            return not_settled("", error), ()
        return self.of_parts(parts, stretch.before)

    def begins_with_token(self, text: str) -> bool:
        """Whether a literal text begins with a token that nothing before it can change."""
        return any(before is not None for _, before in itertools.islice(self._split(text), 1))

    def why_not_between(
        self,
        stretch: RenderingStretch,
        own: Collection[Slot],
        conditions: Sequence[Condition],
        is_cut: Callable[[], bool],
    ) -> str:
        """Why it is not proved that a slot can be encoded apart, whatever unknown slots have; or ``""``.

        The text of an unknown slot may have control tokens; then the stretch has only a part of it, which is
        a text as well.

        Args:
            stretch: the stretch.
            own: the slots of the text.
            conditions: of the rendering.
            is_cut: says whether what other messages write begins with a token, or is empty.
        """
        why = "no control token stands between the text and those of other turns"
        at = [number for number, piece in enumerate(stretch.pieces) if piece in own]
        if len(at) != 1:
            return why
        left, right = stretch.pieces[: at[0]], stretch.pieces[at[0] + 1 :]
        gap = next((number for number, piece in enumerate(right) if _is_gap(piece)), None)
        rights = [right]
        if gap is not None and is_cut():
            rights = [right[:gap], tuple(piece for piece in right if not _is_gap(piece))]
        has_unknown = any(isinstance(piece, Slot) and _is_unknown(piece) for piece in left)
        for each in rights:
            sides = (left, (stretch.pieces[at[0]],), each)
            try:
                parts = [concatenated(pieces, conditions) for pieces in sides if pieces]
            except LimitExceeded as error:
                return f"the limit {error.limit} was met"
            # An unknown slot may end with a control token.
            for before in {stretch.before, *([_core.Before.CONTROL_TOKEN] if has_unknown else [])}:
                if not self.of_parts(parts, before)[0]:
                    return why
        return ""

    def of_parts(
        self, parts: Sequence[str | ByteLanguage], before: _core.Before
    ) -> tuple[Verdict, tuple[bytes, ...]]:
        """The same for texts and languages."""
        key = before, tuple(part if isinstance(part, str) else _key_of(part) for part in parts)
        found = self._settled.get(key) or self._unsettled.get(key)
        if found is None:
            found = stretch_verdict(self._edges, parts, before, self._limits, self._cancel)
            kept = self._unsettled if found[0].outcome == "not settled" else self._settled
            if len(kept) >= _MOST_KEPT:
                kept.clear()
            kept[key] = found
        return found


def _is_gap(piece: Piece) -> bool:
    return isinstance(piece, Slot) and is_gap(piece)


def _is_unknown(slot: Slot) -> bool:
    return any(source.origin == "unknown" for source in sources_of((slot,)))


def _key_of(language: ByteLanguage) -> Any:
    """Equal for equal languages alone: what a constraint shows is cut off."""
    rows = tuple(tuple(sorted(row.items())) for row in language.rows)
    return language.classes, rows, language.accepting
