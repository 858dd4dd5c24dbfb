"""Protected texts in tokens of single bytes, whose borders are borders of tokens whatever a tokenizer does.

Problem.  Where nothing is known of a tokenizer's merges, a protected text such as ``<|im_end|>`` or ``"`` may
be crossed by a token: ``x"`` ends a string and has begun before it.

Example, with the protected text ``::=``.  After ``a``, the tokens ``b`` and ``:`` may follow.  ``::=`` may
not, nor may ``b:``, since its end may begin a ``::=``.  After ``a:``, the token ``:=`` may not follow, since
it completes one; ``:b`` may.

How.  A token of several bytes is refused if an occurrence of a protected text would overlap it, or might: if
one ends within it, or if a beginning of one stands at its end.  So each occurrence is made of tokens of one
byte.  The question depends on the longest beginning of a protected text at the end of the text so far, and
the answer is kept for each, as a mask.

*A prompt*: :meth:`GuardedSpans.encode` cuts out the occurrences, spells them in single bytes, and leaves what
is between to the tokenizer's own program.  *A text that is written*: :class:`GuardedMatcher` intersects the
masks of a matcher with those above.  Each refused token can be spelled in single bytes, which the matcher
allows too, so no mask becomes empty.  That is not so with canonical tokenization, with patterns of whole
tokens (``TEXT_TOKEN``), and under a budget of tokens: the first two are refused, and :class:`GuardedMatcher`
has no budgets.

Cost: 0.2 s for a vocabulary of 262,145 when it is made, 0.02 s for each new beginning, one AND of a mask
after that.

Rejected: masks of single bytes throughout, which would write the whole text in bytes; and a constraint for
each, since a protected text may occur anywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from tokamata.calls.arguments import checked_list, checked_text
from tokamata.errors import ArgumentError, UnspellableError
from tokamata.matching.matchers import Matcher
from tokamata.vocabulary import Vocabulary

__all__ = ["GuardedMatcher", "GuardedSpans", "checked_protected"]

_Mask = npt.NDArray[np.int32]
_MOST_BYTES = 1 << 12  # of the protected texts together


def checked_protected(protected: object) -> list[bytes]:
    """Protected texts, in UTF-8.

    Raises:
        ArgumentError: they are no list of texts, one is empty, or they have more than 4,096 bytes.
    """
    expected = "a list of at least one text, none of them empty"
    texts = [
        checked_text(text, "a protected text") for text in checked_list("protected", protected, expected)
    ]
    if not texts or b"" in texts:
        raise ArgumentError("protected", "an empty list, or one with an empty text", expected)
    if sum(map(len, texts)) > _MOST_BYTES:
        raise ArgumentError("protected", "a longer list", f"texts of {_MOST_BYTES:,} bytes together at most")
    return texts


class GuardedSpans:
    """Spells protected texts in tokens of single bytes.

    Args:
        vocabulary: the tokens.
        protected: the texts, at least one, none of them empty.

    Raises:
        ArgumentError: ``protected`` is no such list, or its texts have more than 4,096 bytes.
        UnspellableError: a byte that occurs in a token or in a protected text has no token of its own.
    """

    def __init__(self, vocabulary: Vocabulary, protected: Sequence[str]) -> None:
        self._protected = checked_protected(protected)
        self.vocabulary = vocabulary
        self._single: dict[int, int] = {}
        for token, value in enumerate(vocabulary.tokens):
            if value is not None and len(value) == 1:
                self._single.setdefault(value[0], token)
        written = set(b"".join(filter(None, vocabulary.tokens)))
        if missing := sorted(written.union(*self._protected) - set(self._single)):
            raise UnspellableError(
                f"the vocabulary has no token for the byte {bytes(missing[:1])!r} alone, nor for "
                f"{len(missing) - 1} others, so guarded spans cannot be written in single bytes"
            )
        self._beginnings = {text[:size] for text in self._protected for size in range(1, len(text))}
        self._longest = max(map(len, self._protected))
        self._masks: dict[bytes, _Mask] = {}
        several = [
            (token, value) for token, value in enumerate(vocabulary.tokens) if value and len(value) > 1
        ]
        ends = tuple(self._beginnings)
        # These are refused after any text: an occurrence is in them, or may begin at their end.
        self._refused = [
            token
            for token, value in several
            if value.endswith(ends) or any(text in value for text in self._protected)
        ]
        refused = set(self._refused)
        self._several = [(token, value) for token, value in several if token not in refused]

    def single_bytes(self, text: str) -> list[int]:
        """The tokens of single bytes that spell a text in the midst of another."""
        return [self._single[byte] for byte in self._known(checked_text(text))]

    def encode(self, text: str, encode_rest: Callable[[str], Sequence[int]]) -> list[int]:
        """The tokens of a prompt in which protected texts are spelled in single bytes.

        Args:
            text: the prompt.
            encode_rest: encodes what is between protected texts, such as ``RunningTokenizer(…).encode``.

        Raises:
            UnspellableError: the tokens would not spell the text: ``encode_rest`` changes a part of it, or
                adds a space before each part.
        """
        data, ids, end = checked_text(text), [], 0
        for begin, stop in self._occurrences(data):
            ids += self._rest(data[end:begin], encode_rest)
            ids += [self._single[byte] for byte in data[begin:stop]]
            end = stop
        ids += self._rest(data[end:], encode_rest)
        if self._spelled(ids) != data:
            raise UnspellableError(
                f"the parts of {text[:80]!r} between protected texts cannot be encoded apart: the tokens "
                "would spell another text, since the tokenizer changes a part or adds a space before it"
            )
        return ids

    def allowed(self, written: bytes) -> _Mask:
        """The tokens that may follow a text as far as protected texts are concerned.

        Args:
            written: the text so far, in which protected texts are spelled in single bytes.

        Returns:
            A mask, ``int32[ceil(width / 32)]``, read-only.
        """
        tail = self._tail(written)
        if tail not in self._masks:
            self._masks[tail] = self._mask_after(tail)
        return self._masks[tail]

    def _tail(self, written: bytes) -> bytes:
        """The longest beginning of a protected text at the end of a text."""
        tail = written[max(0, len(written) - self._longest + 1) :]
        while tail and tail not in self._beginnings:
            tail = tail[1:]
        return tail

    def _mask_after(self, tail: bytes) -> _Mask:
        """The mask after the longest beginning of a protected text."""
        width = self.vocabulary.width
        flags = np.ones(-(-width // 32) * 32, dtype=np.uint8)
        flags[width:] = 0
        begun = [tail[begin:] for begin in range(len(tail)) if tail[begin:] in self._beginnings]
        rests = {
            text[len(start) :]
            for start in begun
            for text in self._protected
            if len(text) > len(start) and text.startswith(start)
        }
        completing, continuing = tuple(rests), {rest[:size] for rest in rests for size in range(1, len(rest))}
        for token, value in self._several:
            if value in continuing or value.startswith(completing):
                flags[token] = 0
        flags[self._refused] = 0
        mask = np.packbits(flags, bitorder="little").view(np.int32)
        mask.flags.writeable = False
        return mask

    def _occurrences(self, data: bytes) -> list[tuple[int, int]]:
        """The parts of a text that are protected, in order; overlapping ones are one part."""
        found = []
        for text in self._protected:
            begin = data.find(text)
            while begin >= 0:
                found.append((begin, begin + len(text)))
                begin = data.find(text, begin + 1)
        parts: list[tuple[int, int]] = []
        for begin, stop in sorted(found):
            if parts and begin < parts[-1][1]:
                parts[-1] = parts[-1][0], max(stop, parts[-1][1])
            else:
                parts.append((begin, stop))
        return parts

    def _rest(self, data: bytes, encode_rest: Callable[[str], Sequence[int]]) -> list[int]:
        # A protected text is whole code points, so what is between is, too.
        return [*encode_rest(data.decode())] if data else []

    def _known(self, data: bytes) -> bytes:
        if missing := set(data) - set(self._single):
            raise UnspellableError(
                f"the vocabulary has no token for the byte {bytes(sorted(missing)[:1])!r} alone"
            )
        return data

    def _spelled(self, ids: Sequence[int]) -> bytes | None:
        first = self.vocabulary.start_tokens() or self.vocabulary.tokens
        values = [(self.vocabulary.tokens if place else first)[token] for place, token in enumerate(ids)]
        return None if None in values else b"".join(values)  # type: ignore[arg-type]  # just checked


class GuardedMatcher:
    """A matcher that writes protected texts in tokens of single bytes.

    Args:
        matcher: at the start of a text, of a constraint compiled with ``tokenization="any"``; it is used up.
        spans: the protected texts, of the same vocabulary.

    Raises:
        ArgumentError: the matcher has canonical tokens, other tokens, or has begun; or its pattern is about
            whole tokens.
    """

    def __init__(self, matcher: Matcher, spans: GuardedSpans) -> None:
        compiled: Any = matcher.compiled
        if compiled.tokenization == "canonical" or compiled.constraint._expression.sees_edges:
            expected = 'one of a constraint compiled with tokenization="any", without TEXT_TOKEN'
            raise ArgumentError("matcher", "one of canonical or of whole tokens", expected)
        if compiled.vocabulary is not spans.vocabulary or matcher.tokens:
            raise ArgumentError(
                "matcher", "one of other tokens, or one that has begun", "a new one of these tokens"
            )
        self._matcher, self._spans = matcher, spans
        self._written = b""  # what matters of it

    @property
    def mask(self) -> _Mask:
        """The tokens that may come next: ``int32[ceil(width / 32)]``, stop tokens included."""
        mask: _Mask = self._matcher.mask & self._spans.allowed(self._written)
        return mask

    @property
    def is_accepting(self) -> bool:
        """Whether the text may end here."""
        return self._matcher.is_accepting

    def advance(self, token: int) -> bool:
        """Reads a token; ``False``, and nothing changes, if it may not come next."""
        index = self._spans.vocabulary._checked_id(token)
        if not self._spans.allowed(self._written)[index >> 5] >> (index & 31) & 1:
            return False
        if not self._matcher.advance(index):
            return False
        value = self._spans.vocabulary[index]
        self._written = b"" if value is None else self._spans._tail(self._written + value)
        return True
