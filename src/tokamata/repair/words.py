"""Words that a constraint knows: names of members and strings that a schema lists.

Problem.  Under a schema that requires ``name``, the text ``{"nmae": "x"}`` has a mistyped name.  Byte by byte
its repair costs two edits.  Where any name is allowed, one edit makes a known name an unknown one, so that a
wrong value after it passes: ``{"age,": "3"}``.
Example.  Without one character, ``nmae`` is ``mae``, ``nae``, ``nme`` or ``nma``, and ``name`` is ``ame``,
``nme``, ``nae`` or ``nam``.  They share ``nae`` and ``nme``, and differ by two characters that are exchanged.
How.  A string of the text that is near a known word may become that word at the cost of one edit.  Two words
are near if, apart from case, accents, blanks, hyphens and underscores, they are equal, or one character is
lost, added, changed, or exchanged with its neighbour.  Near words share a variant, which has at most one
character less, so an index of variants finds them.  A string that *is* a known word is firm: each edit within
it costs more.  A longer string that has a known value among its words, such as ``"Positive (high
confidence)"``, may become that value, at a higher cost; one that has several may become each of them.

A *label* is what a schema calls a constant: ``{"const": 3, "title": "urgent"}``.  Where a text has the label,
or what is near it, the constant may stand.

Source.  Damerau 1964; deletion variants: Bocek, Hunt and Stiller 2007.
Cost.  Linear in the characters of the words, once; for a string of the text linear in its length.
Not taken.  Two mistakes in one word: too many words are near then.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any
from unicodedata import combining, normalize

from tokamata.repair.bounded_patterns import BoundedPatterns
from tokamata.resources.locks import kept_property

__all__ = ["Words", "labels_of"]

_QUOTED = re.compile(rb"(\\\"|[\"'])(?=([^\"'\\\n]{2,80})\1(\s*:)?)")
_CUT_OFF = re.compile(rb"\"([^\"'\\\n]{2,80})\Z")
_BARE = re.compile(rb"(?<![\w\"'.$-])(?=([A-Za-z_][\w-]{1,60})\s*(?:(:)|[,}\]\n]|\Z))")
_WORD = re.compile(r"[^\W_]+")
_SHORTEST = 4  # characters of a word that is recognized by its neighbours, which may have one less
_MOST_WORDS = 20_000  # of a constraint, with which words of the text are compared
_MOST_MADE_UP = 100  # names that each object may lack
_LONGEST_PHRASE = 5  # words of a known word that is looked for within a longer string
_MISTYPED = 1  # rather than written in another case
_IN_LONGER_STRING = 700  # a known word within a longer string is so much dearer than one that is mistyped
_AMONG_OTHERS = 300  # and more if there are others
_MOST_WITHIN = 8  # known words in one string
_LONGEST_LABEL = 80  # characters
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
        labels: texts that stand for constants, and these, as JSON texts.

    Of more than 20,000 words of a kind, none is recognized by its neighbours.
    """

    def __init__(
        self,
        names: Iterable[str],
        values: Iterable[str],
        names_null: bool = False,
        labels: Mapping[str, Iterable[bytes]] | None = None,
    ) -> None:
        self._known = frozenset(names), frozenset(values)
        self._names_null = names_null
        self._labels = {label: tuple(sorted(constants)) for label, constants in (labels or {}).items()}

    def __reduce__(self) -> tuple[type[Words], tuple[Any, ...]]:
        return Words, (sorted(self._known[0]), sorted(self._known[1]), self._names_null, self._labels)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Words):
            return NotImplemented
        return self.__reduce__() == other.__reduce__()

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

    @property
    def all(self) -> frozenset[str]:
        """Names and values that are firm where a text has them."""
        return self._known[0] | self._known[1]

    @kept_property
    def _meaning(self) -> frozenset[str]:
        """Values and labels."""
        return self._known[1].union(self._labels)

    def _written(self, value: str) -> tuple[bytes, ...]:
        """What a value or a label stands for, as JSON texts."""
        written = self._labels.get(value, ())
        return (_json(value), *written) if value in self._known[1] else written

    @kept_property
    def _near(self) -> tuple[Index, Index]:
        return _index(self._known[0]), _index(self._meaning)

    @kept_property
    def _phrases(self) -> dict[tuple[str, ...], list[str]]:
        """The values and labels by the words that they consist of."""
        found: dict[tuple[str, ...], list[str]] = {}
        if len(self._meaning) <= _MOST_WORDS:
            for value in sorted(self._meaning):
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
        if self.is_empty and not self._labels:
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
                if kind == 0 or word not in self._labels:
                    continue
            spans += [(begin, end, written, more) for written, more in self._meant(word, kind)]
        for match in bounds.matches(_BARE, text):
            word = match[1].decode()
            kind = 0 if match[2] is not None else 1
            if word not in self._known[kind]:
                spans += [(*match.span(1), *written) for written in self._neighbours(word, kind)]
        cut = _CUT_OFF.search(text, max(len(text) - 82, 0))
        if cut is not None:
            begun = _plain(cut[1].decode("utf-8", "replace"))
            meant = [one for one in self._meaning if _plain(one).startswith(begun)]
            if len(meant) == 1 and not meant[0].startswith(cut[1].decode("utf-8", "replace")):
                spans += [(*cut.span(), written, 0) for written in self._written(meant[0])]
        return spans, firm

    def near_names(self, name: str) -> list[str]:
        """The names of members that are near a name, other than that itself."""
        return [] if name in self._known[0] else [known for known, _ in self._close_to(name, 0)]

    def near_values(self, text: str) -> list[bytes]:
        """The values that a text may mean, as JSON texts: near ones, or those that it has among its words."""
        return [] if text in self._known[1] else [written for written, _ in self._meant(text, 1)]

    def only_value_in(self, text: str) -> tuple[bytes, ...]:
        """The value that stands in a text as words of it, or that more often than any other, as a JSON text.

        Empty: there is none, or several.  A label of several constants stands for each of them.
        """
        within = self._within(text)
        if len(within) > 1 and within[0][1] == within[1][1]:
            return ()
        return self._written(within[0][0]) if within else ()

    def first_value_of(self, text: str) -> tuple[bytes, ...]:
        """The longest value whose words a text begins with, as a JSON text; empty: there is none."""
        words = _phrase(text)
        for length in range(min(_LONGEST_PHRASE, len(words)), 0, -1):
            values = self._phrases.get(words[:length], ())
            if len(values) == 1:
                return self._written(values[0])
        return ()

    def _within(self, text: str) -> list[tuple[str, int]]:
        """The values whose words stand in a text, and how often each does; the most frequent ones first."""
        words = _phrase(text)
        counts: dict[str, int] = {}
        for begin in range(len(words)):
            for length in range(1, min(_LONGEST_PHRASE, len(words) - begin) + 1):
                for value in self._phrases.get(words[begin : begin + length], ()):
                    counts[value] = counts.get(value, 0) + 1
        if len(counts) > _MOST_WITHIN:
            return []
        longest = [
            one for one in counts if not any(one != other and _is_part(one, other) for other in counts)
        ]
        return sorted(((one, counts[one]) for one in longest), key=lambda one: -one[1])

    def _meant(self, word: str, kind: int) -> list[tuple[bytes, int]]:
        near = self._neighbours(word, kind)
        if near or kind == 0:
            return near
        within = self._within(word)
        more = _IN_LONGER_STRING if len(within) == 1 else _IN_LONGER_STRING + _AMONG_OTHERS
        return [
            (written, more + _MISTYPED * place)
            for place, (value, _) in enumerate(within)
            for written in self._written(value)
        ]

    def _neighbours(self, word: str, kind: int) -> list[tuple[bytes, int]]:
        """What the words near one stand for, as JSON texts, and what they cost more."""
        return [
            (written, more)
            for known, more in self._close_to(word, kind)
            for written in (self._written(known) if kind == 1 else (_json(known),))
        ]

    def _close_to(self, word: str, kind: int) -> list[tuple[str, int]]:
        """The words near one, and what they cost more where another one differs in case alone."""
        index = self._near[kind]
        plain = _plain(word)
        if not index or len(plain) < _SHORTEST - 1:
            return [(known, 0) for known in index.get(plain, ()) if _plain(known) == plain]
        found = {known for variant in _variants(plain) for known in index.get(variant, ())}
        close = [(known, _plain(known)) for known in sorted(found)]
        more = _MISTYPED if any(one == plain for _, one in close) else 0
        return [(known, 0 if one == plain else more) for known, one in close if _is_near(plain, one)]


def labels_of(schema: Any) -> dict[str, set[bytes]]:
    """The labels of constants in a JSON Schema, and the constants as JSON texts.

    A label is the ``title`` or the ``description`` of a schema with one constant, or stands in
    ``x-enumNames``, ``x-enum-varnames`` or ``enumNames`` at the place of the constant.
    """
    found: dict[str, set[bytes]] = {}
    open_ = [schema]
    while open_:
        one = open_.pop()
        if isinstance(one, list):
            open_ += one
        elif isinstance(one, dict):
            open_ += [value for value in one.values() if isinstance(value, (dict, list))]
            for label, constant in _labelled(one):
                if isinstance(label, str) and label != constant and 1 < len(label) <= _LONGEST_LABEL:
                    found.setdefault(label, set()).add(json.dumps(constant, ensure_ascii=False).encode())
    return found


def _labelled(schema: dict[str, Any]) -> Iterator[tuple[Any, Any]]:
    constants = schema.get("enum")
    if "const" in schema:
        constants = [schema["const"]]
    if not isinstance(constants, list):
        return
    if len(constants) == 1:
        yield from ((schema.get(keyword), constants[0]) for keyword in ("title", "description"))
    for keyword in ("x-enumNames", "x-enum-varnames", "enumNames"):
        names = schema.get(keyword)
        if isinstance(names, list) and len(names) == len(constants):
            yield from zip(names, constants, strict=True)


def _json(word: str) -> bytes:
    return json.dumps(word, ensure_ascii=False).encode()


def _phrase(text: str) -> tuple[str, ...]:
    return tuple(_WORD.findall(_without_accents(text.casefold())))


def _without_accents(text: str) -> str:
    if text.isascii():
        return text
    return "".join(one for one in normalize("NFKD", text) if not combining(one))


def _is_part(one: str, other: str) -> bool:
    return f" {' '.join(_phrase(one))} " in f" {' '.join(_phrase(other))} "


def _index(words: frozenset[str]) -> Index:
    index: Index = {}
    if len(words) <= _MOST_WORDS:
        for word in sorted(words):
            plain = _plain(word)
            for variant in _variants(plain) if len(plain) >= _SHORTEST else [plain]:
                index.setdefault(variant, []).append(word)
    return index


def _variants(word: str) -> Iterator[str]:
    """The word, and the word without each of its characters."""
    yield word
    yield from {word[:place] + word[place + 1 :] for place in range(len(word))}


def _plain(word: str) -> str:
    folded = word.casefold().translate(_SEPARATORS)
    return _without_accents(folded)


def _is_near(one: str, other: str) -> bool:
    if one == other:
        return True
    if max(len(one), len(other)) < _SHORTEST or abs(len(one) - len(other)) > 1:
        return False
    pairs = enumerate(zip(one, other, strict=False))
    place = next((i for i, (a, b) in pairs if a != b), min(len(one), len(other)))
    rest, other_rest = one[place:], other[place:]
    if len(one) != len(other):
        return rest[1:] == other_rest or rest == other_rest[1:]
    return rest[1:] == other_rest[1:] or (rest[:2] == other_rest[:2][::-1] and rest[2:] == other_rest[2:])
