"""Words that a constraint knows: names of members and strings that a schema lists.

Problem.  Under a schema that requires ``name``, the text ``{"nmae": "x"}`` has a mistyped name.  Byte by byte
its repair costs two edits.  Where any name is allowed, one edit makes a known name an unknown one, so that a
wrong value after it passes: ``{"age,": "3"}``.
Example.  Without one character, ``nmae`` is ``mae``, ``nae``, ``nme`` or ``nma``, and ``name`` is ``ame``,
``nme``, ``nae`` or ``nam``.  They share ``nae`` and ``nme``, and differ by two characters that are exchanged.
How.  A string of the text that is near a known word may become that word at the cost of one edit.  Two words
are near if one character is lost, added, changed, or exchanged with its neighbour, or if they differ in case,
blanks, hyphens and underscores alone.  Near words share a variant, which has at most one character less, so
an index of variants finds them.  A string that *is* a known word is firm: each edit within it costs more.
A longer string that has one known value among its words, such as ``"Positive (high confidence)"``, may become
that value, at a higher cost.

Source.  Damerau 1964; deletion variants: Bocek, Hunt and Stiller 2007.
Cost.  Linear in the characters of the words, once; for a string of the text linear in its length.
Not taken.  Two mistakes in one word: too many words are near then.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from unicodedata import normalize

from tokamata.locks import kept_property
from tokamata.repair.bounded_patterns import BoundedPatterns

__all__ = ["Words"]

_QUOTED = re.compile(rb"(\\\"|[\"'])(?=([^\"'\\\n]{2,80})\1(\s*:)?)")
_CUT_OFF = re.compile(rb"\"([^\"'\\\n]{2,80})\Z")
_BARE = re.compile(rb"(?<![\w\"'.$-])(?=([A-Za-z_][\w-]{1,60})\s*(?:(:)|[,}\]\n]|\Z))")
_WORD = re.compile(r"[^\W_]+")
_SHORTEST = 4  # characters of a word that is recognized by its neighbours
_MOST_WORDS = 20_000
_MOST_MADE_UP = 100
_LONGEST_PHRASE = 5  # words of a known word that is looked for within a longer string
_WITHIN = 700  # a known word within a longer string is so much dearer than one that is mistyped
_SEPARATORS: dict[int, str | None] = {
    **dict.fromkeys(map(ord, "_- ")),
    **{ord(umlaut): letters for umlaut, letters in zip("äöüøå", ("ae", "oe", "ue", "oe", "aa"), strict=True)},
}

Index = dict[str, list[str]]


class Words:
    """The words of a constraint.

    Args:
        names: of members of objects.
        values: strings that stand as values.
        names_null: whether null is named as a type or as a constant.

    Of more than 20,000 words of a kind, none is recognized by its neighbours.
    """

    def __init__(self, names: Iterable[str], values: Iterable[str], names_null: bool = False) -> None:
        self._known = frozenset(names), frozenset(values)
        self._names_null = names_null

    def __reduce__(self) -> tuple[type[Words], tuple[list[str], list[str], bool]]:
        return Words, (sorted(self._known[0]), sorted(self._known[1]), self._names_null)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Words):
            return NotImplemented
        return self._known == other._known and self._names_null == other._names_null

    @kept_property
    def few_names(self) -> tuple[bytes, ...]:
        """The names as JSON has them within quotes; none if there are more than a hundred."""
        names = self._known[0]
        if len(names) > _MOST_MADE_UP:
            return ()
        return tuple(json.dumps(name, ensure_ascii=False).encode()[1:-1] for name in sorted(names))

    @property
    def is_empty(self) -> bool:
        """Whether there are none, as where any JSON is accepted."""
        return not (self._known[0] or self._known[1])

    @property
    def has_null(self) -> bool:
        """Whether null may stand for a value that is missing: it is named, or nothing is."""
        return self._names_null or self.is_empty

    def __hash__(self) -> int:
        return hash(self._known)

    @kept_property
    def _near(self) -> tuple[Index, Index]:
        names, values = self._known
        return _index(names), _index(values)

    @kept_property
    def _phrases(self) -> dict[tuple[str, ...], list[str]]:
        """The values by the words that they consist of."""
        found: dict[tuple[str, ...], list[str]] = {}
        if len(self._known[1]) <= _MOST_WORDS:
            for value in sorted(self._known[1]):
                phrase = _phrase(value)
                if 0 < len(phrase) <= _LONGEST_PHRASE:
                    found.setdefault(phrase, []).append(value)
        return found

    def found(
        self, text: bytes, bounds: BoundedPatterns
    ) -> tuple[list[tuple[int, int, bytes, int]], list[int]]:
        """What a text has of these words.

        Returns:
            the spans of strings that are nearly words, each with the word in quotes, and what it costs more
            than a typo; and the positions within strings that are words, closing quotes included.

        Raises:
            LimitExceeded, Cancelled: the search was stopped.
        """
        spans: list[tuple[int, int, bytes, int]] = []
        firm: list[int] = []
        if not any(self._known):
            return spans, firm
        for match in bounds.matches(_QUOTED, text):
            try:
                word = match[2].decode()
            except UnicodeDecodeError:
                continue
            kind = 0 if match[3] is not None else 1
            begin, end = match.start(), match.end(2) + len(match[1])
            if match[1] == b'"' and word in self._known[kind]:
                firm += range(begin + 1, end)
                continue
            spans += [(begin, end, _json(known), more) for known, more in self._meant(word, kind)]
        for match in bounds.matches(_BARE, text):
            word = match[1].decode()
            kind = 0 if match[2] is not None else 1
            if word not in self._known[kind]:
                spans += [(*match.span(1), _json(known), 0) for known in self._neighbours(word, kind)]
        cut = _CUT_OFF.search(text, max(len(text) - 82, 0))
        if cut is not None:
            begun = _plain(cut[1].decode("utf-8", "replace"))
            meant = [one for one in self._known[1] if _plain(one).startswith(begun)]
            if len(meant) == 1 and not meant[0].startswith(cut[1].decode("utf-8", "replace")):
                spans.append((*cut.span(), _json(meant[0]), 0))
        return spans, firm

    @property
    def has_names(self) -> bool:
        """Whether it knows any name of a member."""
        return bool(self._known[0])

    def near_names(self, name: str) -> list[str]:
        """The names of members that are near a name, other than that itself."""
        return [] if name in self._known[0] else self._neighbours(name, 0)

    def near_values(self, text: str) -> list[str]:
        """The values that a text may mean: near ones, or the only one that it has among its words."""
        return [] if text in self._known[1] else [value for value, _ in self._meant(text, 1)]

    def only_value_in(self, text: str) -> str | None:
        """The one value that stands in a text as words of it; ``None``: there is none, or several."""
        words = _phrase(text)
        found = {
            value
            for begin in range(len(words))
            for length in range(1, _LONGEST_PHRASE + 1)
            for value in self._phrases.get(words[begin : begin + length], ())
        }
        longest = [one for one in found if not any(one != other and _is_part(one, other) for other in found)]
        return longest[0] if len(longest) == 1 else None

    def first_value_of(self, text: str) -> str | None:
        """The longest value whose words a text begins with."""
        words = _phrase(text)
        for length in range(min(_LONGEST_PHRASE, len(words)), 0, -1):
            values = self._phrases.get(words[:length], ())
            if len(values) == 1:
                return values[0]
        return None

    def _meant(self, word: str, kind: int) -> list[tuple[str, int]]:
        near = self._neighbours(word, kind)
        if near or kind == 0:
            return [(known, 0) for known in near]
        within = self.only_value_in(word)
        return [(within, _WITHIN)] if within is not None else []

    def _neighbours(self, word: str, kind: int) -> list[str]:
        if not self._known[kind]:
            return []
        index = self._near[kind]
        if len(word) < _SHORTEST:
            return sorted(index.get("\x00" + _plain(word), ()))
        found = {known for variant in _variants(word) for known in index.get(variant, ())}
        return sorted(known for known in found if _is_near(word, known))


def _json(word: str) -> bytes:
    return json.dumps(word, ensure_ascii=False).encode()


def _phrase(text: str) -> tuple[str, ...]:
    return tuple(_WORD.findall(text.casefold()))


def _is_part(one: str, other: str) -> bool:
    return f" {' '.join(_phrase(one))} " in f" {' '.join(_phrase(other))} "


def _index(words: frozenset[str]) -> Index:
    index: Index = {}
    if len(words) <= _MOST_WORDS:
        for word in sorted(words):
            variants = _variants(word) if len(word) >= _SHORTEST else ["\x00" + _plain(word)]
            for variant in variants:
                index.setdefault(variant, []).append(word)
    return index


def _variants(word: str) -> Iterator[str]:
    """The word, the word without each of its characters, and the word without case and separators."""
    yield word
    yield "\x00" + _plain(word)
    yield from {word[:place] + word[place + 1 :] for place in range(len(word))}


def _plain(word: str) -> str:
    folded = word.casefold().translate(_SEPARATORS)
    return folded if folded.isascii() else "".join(filter(str.isascii, normalize("NFKD", folded))) or folded


def _is_near(one: str, other: str) -> bool:
    if _plain(one) == _plain(other):
        return True
    if abs(len(one) - len(other)) > 1:
        return False
    pairs = enumerate(zip(one, other, strict=False))
    place = next((i for i, (a, b) in pairs if a != b), min(len(one), len(other)))
    rest, other_rest = one[place:], other[place:]
    if len(one) != len(other):
        return rest[1:] == other_rest or rest == other_rest[1:]
    return rest[1:] == other_rest[1:] or (rest[:2] == other_rest[:2][::-1] and rest[2:] == other_rest[2:])
