"""Whether a token can cross the borders of a text inside a longer one, by looking at two neighbours only.

Let ``b`` be a text inside a pre-token ``u·b·v``.  A token crosses the left border of ``b`` if it has
characters of ``u`` and of ``b``, and the right border if it has characters of ``b`` and of ``v``::

    (x,a)      x a b c   →   xa b c        xa crosses the left border of abc

004 claims that three consecutive tokens show each such crossing (lemma 1).  They do not: with a ``b`` of k
letters, the shortest text in which ``xa`` crosses has k tokens.  What holds is simpler.

A *token* here is one that is the encoding of its own text; no encoding by merges has others.

**Theorem.**  Let ``c₁ … cₘ`` be the tokens of ``b`` alone.  Some text has a token across a border of ``b`` if
and only if some token ``t`` cannot stand before ``c₁`` (the text of ``t c₁`` is not encoded as ``t c₁``), or
cannot stand after ``cₘ``.  Then the text of ``t·b``, or of ``b·t``, is such a text.  Otherwise, the tokens of
``b`` are ``c₁ … cₘ`` in every text.

*Proof.*  Encoding joins one pair at a time, of the lowest rank, the leftmost of several.  Call a part of the
text *closed* at some time if no pair across one of its two borders has been joined before.  A closed part has
developed as it does alone: the same pairs were there, in the same order of preference.

(1) A sequence of tokens is an encoding if and only if each two neighbours are.  Let each two neighbours be an
encoding, and consider the first joined pair across a border, between ``tᵢ`` and ``tᵢ₊₁``.  Both have
developed as they do in the text of ``tᵢ tᵢ₊₁``, so that pair is joined there too, which contradicts that
``tᵢ tᵢ₊₁`` is an encoding.  The same argument proves the reverse.

(2) Consider a text in which a pair across a border of ``b`` is joined, and the first such pair, say
``(x, y)`` across the left border.  ``x`` and ``b`` were closed, so both have developed as they do in the text
``x·b``, and there ``(x, y)`` is joined as well.  So ``x c₁ … cₘ`` is no encoding.  By (1), two neighbours of
it are none.  Those are ``x`` and ``c₁``, since ``c₁ … cₘ`` is an encoding.

(3) If ``t c₁`` is no encoding, then by (1) ``t c₁ … cₘ`` is none.  If no token crossed in ``t·b``, both parts
would be closed for ever, and its encoding would be ``t c₁ … cₘ``.  So a token crosses.  ∎

The proof uses no order of the list, so it holds for lists that are not proper.  A proper list is needed only
to decide ``t c₁`` by the rule of :mod:`.pair_rule` instead of by encoding.  If ties may be broken in every
order, (2) holds as well: some schedule of a text crosses only if some schedule of the text of a ``t·b`` or
``b·t`` does.

**One border alone.**  It may depend on what is on the other side, at any distance.  With ``(c,d) (cd,e)
(b,cd) (b,c) (a,b)`` and ``b = bc``, a token crosses the left border in ``abcde``, which is ``ab cde``, but
neither in ``abc`` (``a bc``) nor in ``abcd`` (``a bcd``).  But the tokens that overlap ``b`` in an encoding
are an encoding themselves, by (1).  So a token crosses the left border in some text if and only if a sequence
of tokens covers ``b``, of which each two neighbours are an encoding, and whose first token begins before
``b``.  It is found by breadth-first search over the positions in ``b``.

**ignore_merges.**  A pre-token that is an entry of the vocabulary becomes that entry.  So each entry with
``b`` inside is a counterexample as well.  If ``b`` is an entry, it is one token where it is the whole
pre-token, and ``c₁ … cₘ`` elsewhere.

Cost: the theorem needs an encoding of each token with one neighbour; what is known of two neighbours is kept.
The search needs the length of ``b`` times the tokens that overlap it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

from tokamata.errors import VocabularyError
from tokamata.tokenization.papers.merges import Merge, spellings
from tokamata.tokenization.papers.schedules import Schedules

Border = Literal["left", "right"]
Characters = tuple[int, ...]


class Crossing(NamedTuple):
    """A pre-token in which the tokens of a boundary are not its own.

    Attributes:
        characters: the text, as ids of its characters.
        tokens: its encoding.
        start: the index of the boundary's first character.
    """

    characters: Characters
    tokens: tuple[int, ...]
    start: int


class TwoNeighbours:
    """What byte-pair encoding does at the borders of any text, inside a pre-token.

    Args:
        characters: the ids of all characters.
        merges: in order of priority; any list.
        entries: for ``ignore_merges``, the characters of each entry of the vocabulary, by id.

    Raises:
        VocabularyError: two merges make the same token from different texts.
    """

    def __init__(
        self,
        characters: Iterable[int],
        merges: Sequence[Merge],
        entries: Mapping[int, Characters] | None = None,
    ) -> None:
        self._characters = frozenset(characters)
        self._schedules = Schedules(merges)
        self._ids = {text: token for token, text in (entries or {}).items()}
        spelled = spellings(merges, self._characters)
        # Tokens that the merges make of their own text; no encoding by merges has others.
        self.texts: dict[int, Characters] = {
            token: text for token, text in spelled.items() if self._schedules.leftmost(text) == [token]
        }
        self._pairs: dict[tuple[int, int], bool] = {}

    def encode(self, characters: Sequence[int]) -> list[int]:
        """The tokens of a pre-token."""
        entry = self._ids.get(tuple(characters))
        return self._schedules.leftmost(characters) if entry is None else [entry]

    def allows(self, first: int, second: int) -> bool:
        """Whether ``second`` may follow ``first`` in an encoding by merges."""
        pair = first, second
        if pair not in self._pairs:
            text = self.texts[first] + self.texts[second]
            self._pairs[pair] = self._schedules.leftmost(text) == [first, second]
        return self._pairs[pair]

    def crossed(self, boundary: Sequence[int]) -> Crossing | None:
        """A pre-token in which a token crosses a border of ``boundary``; ``None`` if there is none.

        By the theorem: the text of one token and the boundary, or an entry.

        Args:
            boundary: the ids of its characters.

        Raises:
            VocabularyError: the boundary is empty, or not of these characters.
        """
        inside = self._checked(boundary)
        own = self._schedules.leftmost(inside)
        for token, text in self.texts.items():
            if not self.allows(token, own[0]):
                return self._made(text + inside, len(text))
            if not self.allows(own[-1], token):
                return self._made(inside + text, 0)
        return next((one for one in self._entries_around(inside) if one.characters != inside), None)

    def crossed_at(self, boundary: Sequence[int], border: Border) -> Crossing | None:
        """A pre-token in which a token crosses that border; ``None`` if there is none.

        Raises:
            VocabularyError: the boundary is empty, or not of these characters.
        """
        inside = self._checked(boundary)
        for one in self._entries_around(inside):
            if one.start if border == "left" else one.start + len(inside) < len(one.characters):
                return one
        return self._covered(inside, border)

    def several(self, boundary: Sequence[int]) -> Crossing | None:
        """A pre-token in which the boundary is not one whole token; ``None`` if there is none.

        Raises:
            VocabularyError: the boundary is empty, or not of these characters.
        """
        inside = self._checked(boundary)
        entries = (one for one in self._entries_around(inside) if one.characters != inside)
        found = next(entries, None) or self._covered(inside, None)
        if found is None or self.encode(found.characters) == list(found.tokens):
            return found
        # The boundary alone is an entry.  Beside any token it is not alone; either it keeps its own tokens
        # there, or another token crosses it, or both together are an entry.
        text = next(iter(self.texts.values()))
        return self._made(text + inside, len(text))

    def _checked(self, boundary: Sequence[int]) -> Characters:
        if not boundary or not self._characters.issuperset(boundary):
            raise VocabularyError(
                f"{list(boundary)} is not a text of one or more characters of this tokenizer; pass the ids "
                "of its characters, before any merge"
            )
        return tuple(boundary)

    def _made(self, characters: Characters, start: int) -> Crossing:
        return Crossing(characters, tuple(self.encode(characters)), start)

    def _entries_around(self, inside: Characters) -> Iterator[Crossing]:
        for text, token in self._ids.items():
            for start in range(len(text) - len(inside) + 1):
                if text[start : start + len(inside)] == inside:
                    yield Crossing(text, (token,), start)

    def _covered(self, inside: Characters, border: Border | None) -> Crossing | None:
        """Tokens that cover the boundary, each two neighbours an encoding, with a crossed border.

        With no border: of which none is the boundary itself.
        """
        size = len(inside)
        queue: deque[tuple[tuple[int, ...], int, int]] = deque()  # tokens, characters before, position
        seen: set[tuple[int, int]] = set()
        for token, text in self.texts.items():
            for start in range(len(text)):
                if border == "left" and not start:
                    continue
                common = min(size, len(text) - start)
                if text[start : start + common] == inside[:common]:
                    queue.append(((token,), start, common))
        while queue:
            tokens, start, at = queue.popleft()
            if at == size:
                characters = sum((self.texts[token] for token in tokens), ())
                crosses = start + size < len(characters)
                if border == "right" and not crosses:
                    continue
                if border is None and len(characters) == size and len(tokens) == 1:
                    continue
                return Crossing(characters, tokens, start)
            if (tokens[-1], at) in seen:
                continue
            seen.add((tokens[-1], at))
            for token, text in self.texts.items():
                common = min(size - at, len(text))
                if text[:common] == inside[at : at + common] and self.allows(tokens[-1], token):
                    queue.append(((*tokens, token), start, at + common))
        return None
