"""Mistakes that models make in JSON, made on purpose.

A JSON text is taken apart into lexemes.  Each kind of mistake writes some of them wrongly, at places that
are drawn and have no mistake yet.  Some change what is meant: an unescaped quote needs a string with quotes.
"""

from __future__ import annotations

import itertools
import json
import random
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

__all__ = ["KINDS", "LEXEME", "SCHEMA_KINDS", "STRUCTURE", "TRUNCATED", "Corruption", "corrupted"]

LEXEME = re.compile(r'"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*|true|false|null|[\[\]{},:]|\s+')
_PLAIN_NAME = re.compile(r'"[A-Za-z_$][A-Za-z0-9_$]*"')
_PLAIN_WORD = re.compile(r'"[A-Za-z_]{4,}"')
_NUMBER_IN_QUOTES = re.compile(r'"-?(0|[1-9]\d*)(\.\d+)?"')
_WORD_IN_TEXT = re.compile(r"(?<![^ ])[A-Za-z]+(?![^ .,])")


class Corruption(NamedTuple):
    """A text, and what became of it.

    Attributes:
        kind: of :data:`KINDS` or :data:`SCHEMA_KINDS`; several are joined by `` + ``.
        meant: the JSON text.
        broken: the text with the mistakes.
    """

    kind: str
    meant: str
    broken: str


@dataclass
class _Lexeme:
    meant: str
    written: str
    is_name: bool = False  # of a member

    @property
    def is_string(self) -> bool:
        return self.meant[:1] == '"'

    @property
    def is_untouched(self) -> bool:
        return self.written == self.meant


_Lexemes = list[_Lexeme]
_Mistake = Callable[[_Lexemes, random.Random], bool]  # false where there is no place for it


def corrupted(value: Any, kinds: tuple[str, ...], draw: random.Random) -> Corruption | None:
    """A value with some mistakes; ``None`` if there is no place for one of them, or nothing is wrong then."""
    lexemes = _lexemes(json.dumps(value, ensure_ascii=False, indent=draw.choice([None, None, 2])))
    last = (TRUNCATED,) if TRUNCATED in kinds else ()
    for kind in (*(kind for kind in kinds if kind != TRUNCATED), *last):
        if not (KINDS | SCHEMA_KINDS)[kind](lexemes, draw):
            return None
    meant = "".join(lexeme.meant for lexeme in lexemes)
    broken = "".join(lexeme.written for lexeme in lexemes)
    return None if _reads_as(broken, json.loads(meant)) else Corruption(" + ".join(kinds), meant, broken)


def _lexemes(text: str) -> _Lexemes:
    found = [match.group() for match in LEXEME.finditer(text)]
    assert "".join(found) == text
    pairs = zip(found, [*found[1:], ""], strict=True)
    return [_Lexeme(lexeme, lexeme, lexeme[0] == '"' and after == ":") for lexeme, after in pairs]


def _reads_as(text: str, value: Any) -> bool:
    try:
        return bool(json.loads(text) == value)
    except ValueError:
        return False


# ---- kinds of mistakes ----


def _one(chosen: Callable[[_Lexeme], bool], write: Callable[[str, random.Random], str]) -> _Mistake:
    """One lexeme of some is written wrongly."""

    def make(lexemes: _Lexemes, draw: random.Random) -> bool:
        places = [lexeme for lexeme in lexemes if lexeme.is_untouched and chosen(lexeme)]
        if places:
            place = draw.choice(places)
            place.written = write(place.meant, draw)
        return bool(places)

    return make


def _all(chosen: Callable[[_Lexeme], bool], write: Callable[[str], str]) -> _Mistake:
    """All lexemes of some are."""

    def make(lexemes: _Lexemes, draw: random.Random) -> bool:
        places = [lexeme for lexeme in lexemes if lexeme.is_untouched and chosen(lexeme)]
        for place in places:
            place.written = write(place.meant)
        return bool(places)

    return make


def _trailing_comma(lexemes: _Lexemes, draw: random.Random) -> bool:
    solid = [lexeme for lexeme in lexemes if not lexeme.meant.isspace()]
    places = [
        before
        for before, after in itertools.pairwise(solid)
        if after.meant in "]}" and before.meant not in "[{" and before.is_untouched
    ]
    if places:
        draw.choice(places).written += ","
    return bool(places)


def _quote_unescaped(lexemes: _Lexemes, draw: random.Random) -> bool:
    """A word of a string is in quotes, which are not escaped."""
    places = [
        lexeme
        for lexeme in lexemes
        if lexeme.is_untouched and lexeme.is_string and not lexeme.is_name and "\\" not in lexeme.meant
        if len(_WORD_IN_TEXT.findall(lexeme.meant[1:-1])) > 1
    ]
    if not places:
        return False
    place = draw.choice(places)
    inner = place.meant[1:-1]
    word = draw.choice(list(_WORD_IN_TEXT.finditer(inner)))
    before, after = inner[: word.start()], inner[word.end() :]
    place.meant, place.written = (f'"{before}{quote}{word.group()}{quote}{after}"' for quote in ('\\"', '"'))
    return True


def _line_break(lexemes: _Lexemes, draw: random.Random) -> bool:
    """A blank of a string is a line break, as it is."""
    places = [
        lexeme for lexeme in lexemes if lexeme.is_untouched and lexeme.is_string and " " in lexeme.meant
    ]
    if not places:
        return False
    place = draw.choice(places)
    spot = draw.choice([i for i, character in enumerate(place.meant) if character == " "])
    before, after = place.meant[:spot], place.meant[spot + 1 :]
    place.meant, place.written = f"{before}\\n{after}", f"{before}\n{after}"
    return True


_BEFORE = (
    "",
    "Here is the JSON:\n",
    "Sure! Here's the object you asked for:\n\n",
    "The answer is ",
    "Output:\n",
    "I filled in the form. ",
)
_AFTER = ("", "\n\nLet me know if you need anything else!", "\nThis follows the schema.", " That is all.")


def _prose(lexemes: _Lexemes, draw: random.Random) -> bool:
    before, after = draw.choice(_BEFORE), draw.choice(_AFTER)
    if not before + after or draw.random() < 0.6:
        before, after = before + draw.choice(["```json\n", "```\n"]), "\n```" + after
    lexemes[0].written = before + lexemes[0].written
    lexemes[-1].written += after
    return True


def _truncated(lexemes: _Lexemes, draw: random.Random) -> bool:
    written = "".join(lexeme.written for lexeme in lexemes)
    if len(written) < 2:
        return False
    left = draw.randint(1, len(written) - 1)
    for lexeme in lexemes:
        lexeme.written = lexeme.written[:left]
        left -= len(lexeme.written)
    return True


def _comment(lexemes: _Lexemes, draw: random.Random) -> bool:
    comment = draw.choice(["// the next one\n", "/* see above */", " # note\n", "// TODO: check\n"])
    return _one(_is("[", "{", ","), lambda text, draw: text + comment)(lexemes, draw)


def _mistyped(word: str, draw: random.Random) -> str:
    """A letter is left out or written twice, or two are exchanged."""
    inner = word[1:-1]
    place = draw.randrange(1, len(inner))
    before, letter, after = inner[:place], inner[place], inner[place + 1 :]
    wrong = draw.choice(
        [before + after, before + letter + letter + after, before[:-1] + letter + before[-1] + after]
    )
    return f'"{wrong}"'


def _lost_quote(text: str, draw: random.Random) -> str:
    return text[1:] if draw.random() < 0.5 else text[:-1]


def _is(*texts: str) -> Callable[[_Lexeme], bool]:
    return lambda lexeme: lexeme.meant in texts


def _fits(pattern: re.Pattern[str], is_name: bool) -> Callable[[_Lexeme], bool]:
    return lambda lexeme: lexeme.is_name == is_name and pattern.fullmatch(lexeme.meant) is not None


def _is_number(lexeme: _Lexeme) -> bool:
    return lexeme.meant[0] in "-0123456789"


def _quoted(left: str, right: str) -> Callable[[str], str]:
    return lambda text: left + text[1:-1].replace('\\"', '"') + right


_BRACKET = _is("[", "]", "{", "}")
_PYTHON = {"true": "True", "false": "False", "null": "None"}
STRUCTURE: dict[str, _Mistake] = {
    "bracket lost": _one(_BRACKET, lambda text, draw: ""),
    "bracket doubled": _one(_BRACKET, lambda text, draw: text + text),
    "comma lost": _one(_is(","), lambda text, draw: ""),
    "colon lost": _one(_is(":"), lambda text, draw: ""),
    "quote lost": _one(lambda lexeme: lexeme.is_string, _lost_quote),
    "trailing comma": _trailing_comma,
    "quote unescaped": _quote_unescaped,
    "prose": _prose,
    "names unquoted": _all(_fits(_PLAIN_NAME, True), lambda text: text[1:-1]),
    "single quotes": _all(lambda lexeme: lexeme.is_string and "'" not in lexeme.meant, _quoted("'", "'")),
}
TRUNCATED = "truncated"
KINDS: dict[str, _Mistake] = {
    **STRUCTURE,
    "comma doubled": _one(_is(","), lambda text, draw: ",,"),
    "line break in a string": _line_break,
    "Python's literals": _all(_is(*_PYTHON), _PYTHON.__getitem__),
    "comment": _comment,
    "typographic quotes": _all(lambda lexeme: lexeme.is_string, _quoted("“", "”")),
    TRUNCATED: _truncated,
}
# Mistakes that only a schema shows.
SCHEMA_KINDS: dict[str, _Mistake] = {
    "name mistyped": _one(_fits(_PLAIN_WORD, True), _mistyped),
    "word mistyped": _one(_fits(_PLAIN_WORD, False), _mistyped),
    "number as a string": _one(_is_number, lambda text, draw: f'"{text}"'),
    "string as a number": _one(_fits(_NUMBER_IN_QUOTES, False), lambda text, draw: text[1:-1]),
}
