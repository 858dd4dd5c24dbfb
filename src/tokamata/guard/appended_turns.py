"""Whether a turn that is appended changes tokens of the turns before it.

The template is run without the last turn of a conversation and with it, with the same answers about the same
texts.  Two things have to hold:

1. the first rendering is a prefix of the second, pieces and slots alike;
2. no token crosses the place where the first one ends: the tokens of the stretch around that place are those
   of its two sides, whatever the slots on both sides are, and no name of an added token begins before the
   place and ends after it.

Then the tokens of all turns but the last are a prefix of the tokens of all turns, and by induction, of those
of each longer conversation.

There are two proofs.  The first is about the last message of a conversation of any length
(:meth:`Template.appended`): what other iterations write is the same slot in both renderings where they read
the same.  It is enough where each message begins with a control token, so that nothing has to be known of
what stands before it.  The second runs the conversations that suffice for all lengths.

Example.  ``{{ m.role }}: {{ m.content }}\\n``, with a text and ``\\nuser: `` after it: ``\\n\\n`` may be one
token.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from typing import Any

import tokamata._core as _core
from tokamata.errors import LimitExceeded
from tokamata.guard.seams import joined_literals
from tokamata.guard.slot_seams import RenderingStretch, SlotSeams
from tokamata.guard.slot_texts import concatenated, is_possible
from tokamata.guard.templates.pieces import Piece, Rendering, Slot, Source
from tokamata.guard.templates.reading import Template
from tokamata.guard.templates.shapes import Shape, Turn
from tokamata.guard.templates.unknowns import is_gap
from tokamata.guard.token_edges import TokenEdges
from tokamata.guard.tried_conversations import Tried
from tokamata.guard.verdicts import Witness
from tokamata.resources.limits import CancelToken, Limits

__all__ = ["AppendedTurns"]

_ANYTHING = Slot(Source("unknown", 0, "", ""))


class AppendedTurns:
    """The claim about appended turns, for one template and tokenizer.

    Args:
        template: the template, or a widened one.
        edges: the tokenizer.
        seams: answers about stretches.
        tried: renders conversations of the template itself.
        limits, cancel: of each search.
    """

    def __init__(
        self,
        template: Template,
        edges: TokenEdges,
        seams: SlotSeams,
        tried: Tried,
        limits: Limits,
        cancel: CancelToken | None,
    ) -> None:
        self._template, self._edges, self._seams, self._tried = template, edges, seams, tried
        self._limits, self._cancel = limits, cancel
        self._cuts: dict[str, frozenset[str]] = {}

    def why_not_last(self, turns: Sequence[Turn], begins: Sequence[Piece | None]) -> str:
        """Why the claim is not proved by the last message of any conversation; ``""`` if it is.

        Args:
            turns: the kinds of messages.
            begins: the first pieces that may be written for a message that is not the first; ``""`` for none,
                ``None`` if that is not known.
        """
        for turn in turns:
            pairs, is_same = self._template.appended(turn, limits=self._limits, cancel=self._cancel)
            for before, after in pairs:
                if before.refused or after.refused or not is_possible(after.conditions):
                    continue
                unsettled = before.unsettled or after.unsettled
                if unsettled is not None:
                    return str(unsettled)
                if not is_same:
                    return "a message is read by an index from the end"
                why = self._gap_after(before, after, begins)
                if why:
                    return why
        return ""

    def _gap_after(self, before: Rendering, after: Rendering, begins: Sequence[Piece | None]) -> str:
        """Why another message may change tokens before it."""
        first, second = _characters(before.pieces), _characters(after.pieces)
        if second[: len(first)] != first:
            return "another turn changes what was written before it"
        rest = joined_literals(second[len(first) :])
        left = self._side(first, -1)
        gaps = [at for at, piece in enumerate(rest) if isinstance(piece, Slot) and is_gap(piece)]
        if gaps != [0] or any(isinstance(piece, Slot) for piece in rest[1:]):
            return "it is not known what a message is written after"
        for begin in begins:
            if begin is None:
                return "a message is written outside of the loop over the messages"
            start = (begin or "".join(rest[1:])) if isinstance(begin, str) else ""
            if not start and isinstance(begin, str):
                continue  # nothing is written
            if self._may_have_name_across(first, start, after):
                return "the name of an added token may be written across the end of a turn"
            if left is None or self._seams.begins_with_token(start):
                continue
            if not self._is_kept_before(left, [*([start] if start else []), _ANYTHING]):
                return "a message does not begin with a control token"
        return ""

    def _is_kept_before(self, left: RenderingStretch, right: Sequence[Piece]) -> bool:
        """Whether no token crosses the end of a stretch, whatever the slots on both sides are.

        A slot may have the name of a control token.  Then the stretch begins or ends within the slot, with
        any text, even if the whole text of the slot satisfies conditions.
        """
        slots = [at for at, piece in enumerate(left.pieces) if isinstance(piece, Slot)]
        before = [_ANYTHING, *left.pieces[slots[-1] + 1 :]] if slots else left.pieces
        start = list(itertools.takewhile(lambda piece: isinstance(piece, str), right))
        after = start if len(start) == len(right) else [*start, _ANYTHING]
        try:
            parts = [concatenated(before, ()), concatenated(after, ())]
        except LimitExceeded:
            return False
        befores = {left.before, _core.Before.CONTROL_TOKEN} if slots else {left.before}
        return all(self._seams.of_parts(parts, each)[0] for each in befores)

    def why_not(self, shapes: Sequence[Shape]) -> str | Witness:
        """Why the claim is not proved by conversations that suffice, or a witness; ``""`` if it is."""
        for shape in shapes:
            if len(shape.turns) < 2:
                continue
            for before, after in self._template.pairs(shape, limits=self._limits, cancel=self._cancel):
                if before.refused or after.refused or not is_possible(after.conditions):
                    continue
                unsettled = before.unsettled or after.unsettled
                found = str(unsettled) if unsettled is not None else self._changed(shape, before, after)
                if found:
                    return found
        return ""

    def _changed(self, shape: Shape, before: Rendering, after: Rendering) -> str | Witness:
        """Why it is not proved for one pair of renderings."""
        first, second = _characters(before.pieces), _characters(after.pieces)
        if second[: len(first)] != first:
            return "another turn changes what was written before it"
        rest = second[len(first) :]
        following = joined_literals(rest)[:1]
        start = following[0] if following and isinstance(following[0], str) else ""
        if rest and self._may_have_name_across(first, start, after):
            return "the name of an added token may be written across the end of a turn"
        left, right = self._side(first, -1), self._side(rest, 0)
        if left is None or right is None:
            return ""
        has_slots = bool(left.slots or right.slots)
        # With any texts in the slots, which is asked first since few such questions differ.
        if has_slots and self._is_kept_before(left, right.pieces):
            return ""
        try:
            parts = [concatenated(side.pieces, after.conditions) for side in (left, right)]
        except LimitExceeded as error:
            return f"the limit {error.limit} was met"
        verdict, texts = self._seams.of_parts(parts, left.before)
        if verdict.witness is None:
            if verdict and has_slots:
                return "a text with a control token may end a turn, or begin one"
            return "" if verdict else verdict.reason
        witness = self._realized(shape, left, right, texts)
        return witness or f"no conversation was found with the text {verdict.witness.text!r:.80}"

    def _may_have_name_across(self, first: list[Any], start: str, rendering: Rendering) -> bool:
        """Whether the name of an added token may begin before a place, and end after it.

        It is asked of texts as they are written, whatever control tokens are in them.

        Args:
            first: what stands before the place, one character at a time.
            start: a literal text that follows; after it any text may stand.
            rendering: where the slots of ``first`` are.
        """
        cuts = self._cuts_before(start)
        if not cuts:
            return False
        try:
            before = concatenated(_last(first, max(map(len, cuts))), rendering.conditions)
        except LimitExceeded:
            return True
        return any(before.may_end_with(cut.encode()) for cut in sorted(cuts))

    def _cuts_before(self, start: str) -> frozenset[str]:
        """The beginnings of added names that a literal text, with any text after it, may go on with."""
        if start not in self._cuts:  # Gemma 3 has 6,000 names, and few texts follow
            self._cuts[start] = frozenset(
                name[:at]
                for name in self._edges.added_names
                for at in range(1, len(name))
                if start.startswith(name[at:]) or name.startswith(start, at)
            )
        return self._cuts[start]

    def _side(self, items: list[Any], end: int) -> RenderingStretch | None:
        """The part of a stretch at one end of some pieces; ``None`` if a control token stands there."""
        stretch = list(self._seams.stretches(joined_literals(items)))[end]
        return stretch if stretch.pieces else None

    def _realized(
        self, shape: Shape, left: RenderingStretch, right: RenderingStretch, texts: tuple[bytes, ...]
    ) -> Witness | None:
        """A conversation in which the texts of a witness stand around the end of a turn."""
        chosen: dict[int, str] = {}
        for stretch, text in zip((left, right), texts, strict=True):
            slots = stretch.slots
            if len(slots) > 1:
                return None
            if slots:
                (slot,) = slots
                if not isinstance(slot.source, Source) or slot.source.origin != "message":
                    return None
                at = stretch.pieces.index(slot)
                ends = ["".join(map(str, part)) for part in (stretch.pieces[:at], stretch.pieces[at + 1 :])]
                content = text.decode()
                chosen[slot.source.index] = content[len(ends[0]) : len(content) - len(ends[1])]
        values = tuple(chosen.get(index, "a") for index in range(len(shape.turns)))
        one = self._tried.text(shape.first(len(shape.turns) - 1), values[:-1])
        other = self._tried.text(shape, values)
        return None if one is None or other is None else self._tried.rewritten(one, other)


def _last(items: list[Any], length: int) -> list[Piece]:
    """The last of some characters and slots, at least so many characters after each slot that is left out.

    A slot may have the empty text, so that what stands before it counts.
    """
    at, together = len(items), 0
    while at and together < length:
        at -= 1
        together = together + 1 if isinstance(items[at], str) else 0
    return joined_literals(items[at:])


def _characters(pieces: Iterable[Piece]) -> list[Any]:
    """Literal texts one character at a time, so that renderings can be compared."""
    return [item for piece in pieces for item in (piece if isinstance(piece, str) else [piece])]
