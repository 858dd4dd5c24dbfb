"""Whether the texts of the slots of a rendering can be encoded apart.

A rendering is cut at the control tokens that its literal texts name.  Each *stretch* between two of them is a
question about seams (:mod:`tokamata.guard.seams`).  Settled answers are kept as long as the tokenizer is, since
templates have few kinds of stretches: ``user\\n`` and any text, after ``<|im_start|>``.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any
from weakref import WeakKeyDictionary

from tokamata.errors import LimitExceeded
from tokamata.guard.byte_languages import ByteLanguage
from tokamata.guard.seams import stretch_verdict
from tokamata.guard.slot_texts import concatenated, texts_of
from tokamata.guard.templates.pieces import Condition, Piece, Slot
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
        after_control: whether a control token stands before them.
    """

    def __init__(self, pieces: Sequence[Piece], after_control: bool) -> None:
        self.pieces = tuple(pieces)
        self.after_control = after_control

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
        with _lock:
            self._settled = _kept.setdefault(edges, {})

    def stretches(self, pieces: Iterable[Piece]) -> Iterator[RenderingStretch]:
        """The stretches of a rendering, those without a slot as well."""
        own: list[Piece] = []
        after_control = False
        for piece in pieces:
            if isinstance(piece, Slot):
                own.append(piece)
                continue
            for text, is_control in self._edges.split_controls(piece):
                if is_control:
                    yield RenderingStretch(own, after_control)
                    own, after_control = [], True
                else:
                    own.append(text)
        yield RenderingStretch(own, after_control)

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
        return self.of_parts(parts, stretch.after_control)

    def why_not_between(
        self, stretch: RenderingStretch, own: Collection[Slot], conditions: Sequence[Condition]
    ) -> str:
        """Why it is not proved that one slot can be encoded apart, with any text in unknown slots; ``""`` if it is.

        The text of an unknown slot may have control tokens; then the stretch has only a part of it, which is a
        text as well.
        """
        at = [number for number, piece in enumerate(stretch.pieces) if piece in own]
        if len(at) != 1:
            return "no control token stands between the text and those of other turns"
        sides = (stretch.pieces[: at[0]], stretch.pieces[at[0] : at[0] + 1], stretch.pieces[at[0] + 1 :])
        try:
            parts = [concatenated(pieces, conditions) for pieces in sides if pieces]
        except LimitExceeded as error:
            return f"the limit {error.limit} was met"
        for after_control in (True, False):
            verdict, _ = self.of_parts(parts, after_control)
            if not verdict:
                return "no control token stands between the text and those of other turns"
        return ""

    def of_parts(
        self, parts: Sequence[str | ByteLanguage], after_control: bool
    ) -> tuple[Verdict, tuple[bytes, ...]]:
        """The same for texts and languages."""
        key = after_control, tuple(part if isinstance(part, str) else _key_of(part) for part in parts)
        found = self._settled.get(key) or self._unsettled.get(key)
        if found is None:
            found = stretch_verdict(self._edges, parts, after_control, self._limits, self._cancel)
            kept = self._unsettled if found[0].outcome == "not settled" else self._settled
            if len(kept) >= _MOST_KEPT:
                kept.clear()
            kept[key] = found
        return found


def _key_of(language: ByteLanguage) -> Any:
    """Equal for equal languages alone: what a constraint shows is cut off."""
    rows = tuple(tuple(sorted(row.items())) for row in language.rows)
    return language.classes, rows, language.accepting
