"""Whether the parts of a template may be encoded one by one.

Problem.  A prompt is put together of texts that somebody else writes and of the template's own.  Are its
tokens those of the parts, whatever the texts are?  If they are, a prefix can be cached, a text can be
encoded before its place is known, and no text changes tokens that are not its own.

Example.  Llama 3.1, ``<|start_header_id|>user<|end_header_id|>\\n\\n``, a text, ``<|eot_id|>``: the text
``"\\n"`` is a witness, since ``"\\n\\n\\n"`` is one token.  For texts that begin with no white space it is
proved.

Which encode: control tokens come from the template's own literals, as ids; in a slot their names are
ordinary text.  No token is added at the ends.  The text between two control tokens is a *stretch*, and
stretches do not concern each other.

How.  Two readings of a stretch are compared, of the whole and of the parts one by one
(``core/canonical/seam_search.hpp``).  They have the same tokens if they have the same pre-tokens and the
normalizer leaves the whole as it is.  If a pre-token goes on over a seam, two more questions decide:
whether a token crosses the seam (``edge_search.hpp``), and, where a whole pre-token may become a token that
merges do not make, whether that happens; the latter is not settled here.  What is found is a candidate,
whose tokens are compared.  A model of words has a simpler question (:mod:`tokamata.guard.word_seams`).

Cost: some tens to hundreds of milliseconds for a stretch; nothing where a slot is alone between control
tokens.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import tokamata._core as _core
from tokamata.constraints.constraint import Constraint
from tokamata.errors import ArgumentError, LimitExceeded, shown_argument
from tokamata.guard.byte_languages import ByteLanguage
from tokamata.guard.edge_machines import apart, joined
from tokamata.guard.token_edges import TokenEdges, not_settled
from tokamata.guard.verdicts import Outcome, Verdict, Witness, worst
from tokamata.guard.word_seams import WordSeams
from tokamata.resources.limits import CancelToken, Limits, core_limits

__all__ = ["Seams", "Stretch", "joined_literals", "seams", "stretch_verdict"]

_CLAIM = "the tokens of the whole are those of its parts"
_MOST_TEXTS = 16  # candidates that are compared


@dataclass(frozen=True)
class Stretch:
    """What stands between two control tokens.

    Attributes:
        parts: its parts: literal texts, and the languages of slots as they are shown.
        slots: the numbers of its slots, by their order in the template.
        verdict: whether its tokens are those of its parts, for all texts of the slots.
    """

    parts: tuple[str, ...]
    slots: tuple[int, ...]
    verdict: Verdict


@dataclass(frozen=True)
class Seams:
    """What is known of all stretches that have a slot.

    Attributes:
        stretches: in the order of the template.
    """

    stretches: tuple[Stretch, ...]

    @property
    def outcome(self) -> Outcome:
        """The outcome of all stretches together."""
        return worst(stretch.verdict for stretch in self.stretches)

    def of_slot(self, slot: int) -> Stretch:
        """The stretch of a slot."""
        return next(stretch for stretch in self.stretches if slot in stretch.slots)


def seams(
    tokenizer: object,
    template: Sequence[str | Constraint[Any]],
    *,
    limits: Limits | None = None,
    cancel: CancelToken | None = None,
) -> Seams:
    """Whether the parts of a template may be encoded one by one, for all texts of its slots.

    ::

        any_text = tk.regex("(?s:.*)")
        guard.seams(tokenizer, ["<|im_start|>user\\n", any_text, "<|im_end|>\\n"])

    Args:
        tokenizer: any source that ``Vocabulary.load`` takes.
        template: literal texts, in which names of control tokens stand for these tokens, and the constraints
            of the slots.
        limits: bounds on each search; a stretch whose search meets one is not settled.
        cancel: stops the work.

    Raises:
        ArgumentError: a part is neither a text nor a constraint.
        UnsupportedTokenizerError: the tokenizer has a part that canonical tokenization does not support.
        TokenizerMismatchError: a live tokenizer writes other tokens than its definition says.
        AlgebraError, NotRegularError: a constraint is not regular.
        LimitExceeded: the states of a slot exceed a limit.
        Cancelled: ``cancel`` was cancelled.
    """
    if isinstance(template, str) or not isinstance(template, Sequence):
        raise ArgumentError("template", shown_argument(template), "a list of texts and constraints")
    edges = TokenEdges.of(tokenizer, "text")
    found, slot = [], 0
    for after_control, parts in _stretches(edges, template):
        slots = [part for part in parts if not isinstance(part, str)]
        if slots:
            before = _core.Before.CONTROL_TOKEN if after_control else _core.Before.NOTHING
            judged = _Judge(edges, parts, before, limits, cancel)
            numbers = tuple(range(slot, slot + len(slots)))
            found.append(Stretch(judged.shown, numbers, judged.verdict()))
        slot += len(slots)
    return Seams(tuple(found))


def stretch_verdict(
    edges: TokenEdges,
    parts: Sequence[str | ByteLanguage],
    before: _core.Before,
    limits: Limits | None,
    cancel: CancelToken | None,
) -> tuple[Verdict, tuple[bytes, ...]]:
    """Whether the tokens of a stretch are those of its parts, and for a witness the texts of its parts.

    Raises:
        Cancelled: ``cancel`` was cancelled.
    """
    judge = _Judge(edges, list(parts), before, limits, cancel)
    return judge.verdict(), judge.witness_parts


def joined_literals(template: Iterable[Any]) -> list[Any]:
    """The same parts, neighbouring literal texts as one; the others are of any type."""
    parts: list[Any] = []
    for part in template:
        if isinstance(part, str) and parts and isinstance(parts[-1], str):
            parts[-1] += part
        else:
            parts.append(part)
    return parts


def _stretches(
    edges: TokenEdges, template: Iterable[str | Constraint[Any]]
) -> Iterator[tuple[bool, list[str | Constraint[Any]]]]:
    """The parts between control tokens, and whether one stands before them."""
    parts: list[str | Constraint[Any]] = []
    after_control = False
    for part in joined_literals(template):
        if not isinstance(part, str):
            parts.append(part)
            continue
        for text, is_control in edges.split_controls(part):
            if is_control:
                yield after_control, parts
                parts, after_control = [], True
            else:
                parts.append(text)
    yield after_control, parts


class _Judge:
    """The seams of one stretch."""

    def __init__(
        self,
        edges: TokenEdges,
        parts: Sequence[str | Constraint[Any] | ByteLanguage],
        before: _core.Before,
        limits: Limits | None,
        cancel: CancelToken | None,
    ) -> None:
        self.witness_parts: tuple[bytes, ...] = ()
        self._edges, self._limits, self._cancel = edges, limits or Limits(), cancel
        self._before = before
        self._languages = [
            ByteLanguage.of_bytes(part.encode())
            if isinstance(part, str)
            else part
            if isinstance(part, ByteLanguage)
            else ByteLanguage.of("template", part, limits)
            for part in parts
        ]
        self.shown = tuple(
            part if isinstance(part, str) else language.shown
            for part, language in zip(parts, self._languages, strict=True)
        )

    def verdict(self) -> Verdict:
        try:
            return self._judged()
        except LimitExceeded as error:
            return not_settled(_CLAIM, error)

    def _judged(self) -> Verdict:
        languages = self._languages
        if self._edges.letters is not None:
            words = WordSeams(
                self._edges, self._edges.letters, languages, self._before, self._limits, self._cancel
            )
            verdict, self.witness_parts = words.verdict(_CLAIM)
            return verdict
        if self._edges.hides_space:
            if len(languages) > 1:
                return self._hidden_space()
            if self._before == _core.Before.NOTHING:
                return Verdict(_CLAIM, "proved", reason="it is one part")
            # After a control token the tokenizer puts a space, too: both readings have it.
            languages = [languages[0].after(b" ")]
        if self._before != _core.Before.NOTHING:
            languages = [
                ByteLanguage.of_bytes(b""),
                *languages,
            ]  # the first seam is that after the control token
        if len(languages) == 1:
            return Verdict(_CLAIM, "proved", reason="it is one part")
        different, over, unstable = _core.seam_texts(
            self._edges.tokenization,
            apart(languages).automaton(),
            self._before,
            _MOST_TEXTS,
            core_limits(self._limits),
            self._cancel,
            "".join(self.shown),
        )
        candidates = [each for each in (unstable, *different, over) if each is not None]
        witness = self._first_witness(candidates)
        if witness is None and over is not None:
            crossed = self._crossed(languages)
            witness = self._first_witness(crossed)
            candidates += crossed
        if witness is not None:
            return Verdict(_CLAIM, "witness", witness)
        if not candidates:
            return Verdict(_CLAIM, "proved", reason="pre-tokens are the same")
        if candidates == [over] and self._edges.is_decided_by_neighbours:
            if name := self._edges.merged_control:
                reason = f"merges make the control token {name!r:.60}, and no text was found in which they do"
                return Verdict(_CLAIM, "not settled", reason=reason)
            return Verdict(_CLAIM, "proved", reason="no token crosses a seam, and pre-tokens are the same")
        reason = f"pre-tokens differ, as in {candidates[0][0]!r:.80}, and no tokens were found that do"
        return Verdict(_CLAIM, "not settled", reason=reason)

    def _first_witness(self, candidates: Iterable[tuple[bytes, Sequence[int]]]) -> Witness | None:
        found = (self._compared(text, offsets) for text, offsets in candidates)
        return next((witness for witness in found if witness is not None), None)

    def _crossed(self, languages: list[ByteLanguage]) -> list[tuple[bytes, list[int]]]:
        """A text in which a token crosses a seam, for each seam where there is one."""
        found = []
        for seam in range(1, len(languages)):
            text = self._edges.shortest(
                joined(languages, seam), self._limits, self._cancel, "".join(self.shown), self._before
            )
            if text is not None:
                found.append((text, _offsets(languages, text)))
        return found

    def _hidden_space(self) -> Verdict:
        """Each part alone is encoded with a space before it, and the whole is not."""
        texts = [language.shortest() for language in self._languages]
        text, offsets = b"".join(texts), [0]
        for each in texts[:-1]:
            offsets.append(offsets[-1] + len(each))
        witness = self._compared(text, offsets[1:])
        if witness is None:
            return Verdict(_CLAIM, "not settled", reason="the tokenizer puts a space before each part")
        return Verdict(_CLAIM, "witness", witness)

    def _compared(self, text: bytes, offsets: Sequence[int]) -> Witness | None:
        """The witness that a text is, if its tokens are not those of its parts."""
        whole = self._tokens_of(text, self._before)
        parts, begin = [], 0
        for number, end in enumerate([*offsets, len(text)]):
            before = self._before if number == 0 else _core.Before.NOTHING
            tokens = self._tokens_of(text[begin:end], before) if end > begin else []
            if tokens is None:
                return None
            parts += tokens
            begin = end
        if whole == parts:
            return None
        ends = [*offsets, len(text)][-len(self._languages) :]  # without the seam after a control token
        self.witness_parts = tuple(text[begin:end] for begin, end in zip([0, *ends], ends, strict=False))
        if whole is None:
            return self._unstable(text, parts, offsets)
        pieces = self._edges.pieces_of(whole, self._before == _core.Before.NOTHING)
        position, at = 0, 0
        for one, other, piece in zip(whole, [*parts, -1], pieces, strict=False):
            if one != other:
                position = at
                break
            at += len(piece)
        says = f"the parts are encoded as {parts[:12]}, the whole as {whole[:12]}"
        replayed = self._replayed(text, whole, offsets, parts)
        if replayed is False:
            return None
        return Witness(text, tuple(whole), pieces, position, says, replayed)

    def _unstable(self, text: bytes, parts: list[int], offsets: Sequence[int]) -> Witness | None:
        running = self._edges.running
        whole = None if running is None else running.encode_text(text.decode())
        if whole is None or whole == parts:
            return None
        says = f"the parts are encoded as {parts[:12]}, the whole, which is another text, as {whole[:12]}"
        pieces = self._edges.pieces_of(whole, self._before == _core.Before.NOTHING)
        return Witness(text, tuple(whole), pieces, offsets[-1] if offsets else 0, says, True)

    def _replayed(
        self, text: bytes, whole: list[int], offsets: Sequence[int], parts: list[int]
    ) -> bool | None:
        """Whether the tokenizer's own program says so."""
        running = self._edges.running
        if running is None:
            return None
        ids = running.encode_text(text.decode())
        if ids is None:
            return None
        if self._before != _core.Before.NOTHING and self._edges.hides_space:
            # A space before the text is hidden at the start of a text alone.
            if any(True for _, is_control in self._edges.split_controls(text.decode()) if is_control):
                return None
            control = min(self._edges.control_names, key=len)
            ids = running.encode(control + text.decode())[1:]
        begin, theirs = 0, []
        for end in [*offsets, len(text)]:
            if end > begin:
                theirs += running.encode_text(text[begin:end].decode()) or []
            begin = end
        return ids == whole and theirs == parts

    def _tokens_of(self, text: bytes, before: _core.Before) -> list[int] | None:
        return self._edges.tokens_of(text, self._limits, self._cancel, before)


def _offsets(languages: list[ByteLanguage], text: bytes) -> list[int]:
    """Where the seams of a text may be: one way to cut it into words of the languages."""
    ends: list[dict[int, int]] = []  # for each language, by end the begin
    starts = {0}
    for language in languages:
        found: dict[int, int] = {}
        for start in sorted(starts):
            for end in language.ends(text, start):
                found.setdefault(end, start)
        ends.append(found)
        starts = set(found)
    offsets, at = [], len(text)
    for found in reversed(ends[1:]):
        at = found[at]
        offsets.append(at)
    return offsets[::-1]
