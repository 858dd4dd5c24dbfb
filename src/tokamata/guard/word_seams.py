"""Whether the parts of a template may be encoded one by one, for a model of words.

Problem.  A model of words cuts a text into words, and writes each of them by itself.  The tokens of the whole
are those of its parts if no word goes on over a seam, whatever the texts are.

Example, BERT, with a slot after ``Question:``.  The text ``x`` begins a new word, since nothing goes on after
a colon.  After ``Question`` it does not: ``Questionx`` is one word.

How.  A seam is *safe* if the text before it always ends with a sign that is in no word with a neighbour, or
with white space, or if the text after it always begins with one.  Then the normalizer, which changes code
points one by one, and the pre-tokenizer, which looks at pairs of neighbours, do the same with the whole as
with its parts.  No added token may lie across the seam.  This holds for *all* texts, also for those that the
tokenizer does not reproduce, such as those with two spaces.

For other seams, texts are tried of which two letters of one word meet there.  The tokenizer's own program
encodes them, so what is found is a witness.

Rejected: the search for other models (``core/canonical/seam_search.hpp``), which knows only texts that are
reproduced: a part that begins with a space, or ends with one, is not.

Cost: the states of the parts times the signs that are in no word; a few milliseconds.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

import tokamata._core as _core
from tokamata.guard.byte_languages import ByteLanguage
from tokamata.guard.token_edges import TokenEdges
from tokamata.guard.verdicts import Verdict, Witness
from tokamata.resources.limits import CancelToken, Limits
from tokamata.tokenization.canonical import WordLetters

__all__ = ["WordSeams"]

_MOST_LETTERS = 96  # of each kind that are tried
_MOST_STEPS = 2_000_000
_ODD = ("", "\x0b", "\x00", "\u0301")  # many normalizers remove these


class WordSeams:
    """The seams of one stretch.

    Args:
        edges: the tokenizer, whose model is one of words, and which reads names of control tokens as text.
        letters: its letters.
        languages: the parts.
        before: what stands before the first part.
        limits, cancel: of each search.
    """

    def __init__(
        self,
        edges: TokenEdges,
        letters: WordLetters,
        languages: Sequence[ByteLanguage],
        before: _core.Before,
        limits: Limits,
        cancel: CancelToken | None,
    ) -> None:
        self._edges, self._letters, self._languages, self._before = edges, letters, languages, before
        self._limits, self._cancel = limits, cancel
        self._not_spelled: set[tuple[int, bytes]] = set()

    def verdict(self, claim: str) -> tuple[Verdict, tuple[bytes, ...]]:
        """Whether the tokens of the whole are those of the parts; for a witness, the texts of the parts.

        Raises:
            LimitExceeded, Cancelled: before an answer was found.
        """
        unsafe = [seam for seam in self._seams() if not self._is_safe(*seam)]
        for seam in unsafe:
            for parts in self._candidates(*seam):
                witness = self._compared(parts, seam[1])
                if witness is not None:
                    return Verdict(claim, "witness", witness), parts
        if unsafe:
            left, right = (self._languages[number].shown for number in unsafe[0])
            reason = (
                f"a word may go on from {left:.60} to {right:.60}, and no text was found in which one does"
            )
            return Verdict(claim, "not settled", reason=reason), ()
        return Verdict(claim, "proved", reason="no word goes on over a seam"), ()

    def _seams(self) -> Iterator[tuple[int, int]]:
        """The parts whose texts may meet: those between them have the empty text."""
        for left, language in enumerate(self._languages):
            if not language.rows[0]:
                continue  # the empty text alone
            for right in range(left + 1, len(self._languages)):
                if self._languages[right].rows[0]:
                    yield left, right
                if not self._languages[right].accepting[0]:
                    break

    def _is_safe(self, left: int, right: int) -> bool:
        apart = self._letters.apart
        is_cut = self._languages[left].has_only(apart, at_start=False) or self._languages[right].has_only(
            apart, at_start=True
        )
        if not is_cut or self._are_too_many(left):
            return False
        return not any(True for _ in self._names_from(left))

    def _are_too_many(self, left: int) -> bool:
        """Whether it takes too long to try each added token at the end of a part."""
        return sum(map(len, self._edges.cut_names)) * len(self._languages[left].rows) > _MOST_STEPS

    def _names_from(self, left: int) -> Iterator[dict[int, bytes]]:
        """Texts of parts in which an added token may begin in this one and end in a later one."""
        for name in self._edges.cut_names:
            text = name.encode()
            for start in range(1, len(text)):
                if not self._languages[left].may_end_with(text[:start]):
                    continue
                rest = self._spelled_from(left + 1, text[start:])
                before = self._languages[left].shortest_with([text[:start]], at_start=False)
                if rest is not None:
                    yield {left: before or b"", **rest}

    def _spelled_from(self, number: int, text: bytes) -> dict[int, bytes] | None:
        """Texts of the parts from one on that begin with a text; ``None`` if there are none."""
        if number == len(self._languages) or (number, text) in self._not_spelled:
            return None
        language = self._languages[number]
        if (own := language.shortest_with([text], at_start=True)) is not None:
            return {number: own}
        for end in language.ends(text, 0):
            rest = self._spelled_from(number + 1, text[end:])
            if rest is not None:
                return {number: text[:end], **rest}
        self._not_spelled.add((number, text))
        return None

    def _candidates(self, left: int, right: int) -> Iterator[tuple[bytes, ...]]:
        """Texts of the parts in which a word may go on over a seam, or an added token lies across it."""
        first, second = self._languages[left], self._languages[right]
        most = min(_MOST_LETTERS, max(4, _MOST_STEPS // (10 * len(first.rows))))
        for kind, odd in itertools.product(self._letters.kinds, _ODD):
            letters = [chr(letter) for letter in kind[:most]]
            for ends, begins in ((odd, ""), ("", odd)) if odd else (("", ""),):
                before = first.shortest_with((f"{a}{ends}".encode() for a in letters), at_start=False)
                after = second.shortest_with((f"{begins}{b}".encode() for b in letters), at_start=True)
                if before is not None and after is not None:
                    yield self._parts({left: before, right: after})
        for chosen in () if self._are_too_many(left) else itertools.islice(self._names_from(left), 16):
            yield self._parts(chosen)
        yield self._parts({left: first.shortest(), right: second.shortest()})

    def _parts(self, chosen: dict[int, bytes]) -> tuple[bytes, ...]:
        """Texts of all parts: empty ones, where they may be."""
        return tuple(
            chosen.get(number, b"" if language.accepting[0] else language.shortest())
            for number, language in enumerate(self._languages)
        )

    def _compared(self, parts: tuple[bytes, ...], seam: int) -> Witness | None:
        """The witness that some texts are, if their tokens are not those of the whole."""
        text = b"".join(parts)
        whole, each = self._tokens_of(text), [self._tokens_of(part) for part in parts if part]
        if whole is None or None in each:
            return None
        apart = [token for tokens in each for token in tokens or ()]
        if whole == apart:
            return None
        says = f"the parts are encoded as {apart[:12]}, the whole as {whole[:12]}"
        pieces = self._edges.pieces_of(whole, self._before == _core.Before.NOTHING)
        position = sum(map(len, parts[:seam]))
        return Witness(text, tuple(whole), pieces, position, says, self._is_run or None)

    @property
    def _is_run(self) -> bool:
        """Whether the tokenizer's own program encodes the candidates."""
        running = self._edges.running
        return running is not None and running.encode_text("") is not None

    def _tokens_of(self, text: bytes) -> list[int] | None:
        """What the program writes; what the tables say if there is none.

        A control token before the text changes nothing: what is between two of them is normalized and cut
        by itself.
        """
        try:
            shown = text.decode()
        except UnicodeDecodeError:
            return None
        running = self._edges.running
        if running is None or not self._is_run:
            return self._edges.tokens_of(text, self._limits, self._cancel)
        return running.encode_text(shown)
