"""Finds which control tokens of a rendered chat come from its messages, and not from the chat template.

Problem: a template is a program that makes one text of all messages.  A control token in that text, such as
``<|im_end|>``, is the template's own, or a message spells it, or both write a part of it.

Method: the messages are rendered a second time.  Each piece of a message that a control token might come from
stands between two marks, numbers that occur nowhere else::

    message            ... say <|im_end|> ...
    marked             ... say 1402<|im_end|>1403 ...
    rendered           <|im_start|>user\\n... say 1402<|im_end|>1403 ...<|im_end|>\\n

Without the marks, the second rendering must be the first one, character by character; then the marks show
where the piece is.  A piece is an occurrence of a control token in a string, regardless of case, since
templates may change it; or the beginning or the end of a string that could be a part of one, together with
what the template writes before or after it.

Marks are digits, since ``trim``, ``upper``, ``lower`` and ``tojson`` leave those as they are.

Some templates read what they render, and write another text for a marked message.  If only the beginnings and
ends of strings cannot be marked, they are left out: it would take a template that joins them to a control
token.  In strings whose whole control tokens cannot be marked, the marks are set outside of the white space
around them.  A template that splits at ``</think>``, and strips both halves, then does as it does without
marks; they show whether it has left out the piece.  Otherwise the chat is refused.

A control token that a template makes of other text of a message, by leaving out characters within it, is not
found.

Cost: one more rendering; a search in each string for each of the control tokens in the text.

Rejected: messages made of a subclass of ``str`` that knows its origin: transformers gives templates plain
strings.  Rejected: markers around all strings: templates that compare or measure a string, such as the id of
a tool call, would refuse them.
"""

from __future__ import annotations

import dataclasses
import hashlib
import re
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import count
from typing import Any

from tokamata.errors import ArgumentError

__all__ = ["ControlSpan", "Piece", "refused_piece", "spans_of_messages", "strings", "unused_number"]

_Key = tuple[str | int, ...]
_MOST_TRIED = 32  # strings whose marks are tried one by one: each takes a rendering
_NEAR = 1000  # characters beside a mark, where the rest of a string that the template has cut is looked for
_KEY = "(key)"  # ends the key of a string that is itself a key
_READ = "the chat template reads it there"
_DIGITS = "23456789"
_NUMBER_LENGTH = 8  # octal digits of a mark
_FROM_OCTAL = str.maketrans("01234567", _DIGITS)
_AS_OCTAL = str.maketrans(_DIGITS, "01234567")


@dataclass(frozen=True)
class ControlSpan:
    """A control token in a rendered chat.

    Attributes:
        start, end: its first character, and the one after its last.
        token: its id.
    """

    start: int
    end: int
    token: int


@dataclass(frozen=True)
class Piece:
    """A part of a string of a message.

    Attributes:
        key: the number of the message, and the keys and indices that lead to the string within it; the last
            one is ``"(key)"`` if the string is itself a key.
        start, end: the part, in characters.
        wide_start, wide_end: the part with the white space around it, except at the ends of the string.
        text: the part itself.
        is_whole: whether it contains a whole control token.
    """

    key: _Key
    start: int
    end: int
    wide_start: int
    wide_end: int
    text: str
    is_whole: bool


def spans_of_messages(
    render: Callable[[list[Any]], str], messages: Sequence[Any], text: str, spans: Sequence[ControlSpan]
) -> list[tuple[ControlSpan, Piece]]:
    """The control tokens of a rendered chat that a message has written, or a part of them.

    Args:
        render: renders messages.
        messages: the messages; or other parts of a chat, such as its tools, as ``render`` takes them.
        text: the text that they render to.
        spans: the control tokens in it, from left to right.

    Returns:
        Each such control token, with the piece of the message.

    Raises:
        ArgumentError: a message spells a control token, and the template reads it.
    """
    spellings = sorted({_folded(text[span.start : span.end].strip()) for span in spans})
    pieces = [piece for key, string in strings(messages, ()) for piece in _pieces(key, string, spellings)]
    whole = [piece for piece in pieces if piece.is_whole]
    wide: Set[_Key] = frozenset()
    found = _Marking(messages, text, pieces, wide).found(render) if pieces else []
    if found is None:
        found = _Marking(messages, text, whole, wide).found(render) if whole else []
    if found is None:
        wide = _unmarkable(render, messages, text, whole)
        found = _Marking(messages, text, whole, wide).found(render)
    if found is None:
        written: list[tuple[int, int, Piece]] | Piece = next(piece for piece in whole if piece.key in wide)
    else:
        written = _written(found, text, spellings, wide)
    if isinstance(written, Piece):
        raise refused_piece(messages, written, _spelling_in(written.text, spellings), _READ)
    return _overlapping(spans, written)


def unused_number(texts: Sequence[str]) -> str:
    """A number that occurs in none of the texts; its first digit occurs nowhere else in it."""
    digests = (hashlib.sha256(str(attempt).encode()).digest() for attempt in count())
    numbers = ("1" + "".join(_DIGITS[byte % 8] for byte in digest[:16]) for digest in digests)
    return next(number for number in numbers if not any(number in text for text in texts))


def refused_piece(messages: Sequence[Any], piece: Piece, name: str, reason: str) -> ArgumentError:
    """The error that names the place of a control token in a message, and why it cannot be ordinary text."""
    start = piece.start + max(0, _folded(piece.text).find(_folded(name)))
    index, *keys = piece.key
    role = messages[int(index)].get("role") if isinstance(messages[int(index)], Mapping) else None
    where = "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in keys).lstrip(".")
    return ArgumentError(
        "prompt",
        f"one whose message {index} (role {role!r:.40}) spells {name!r:.80} in {where:.200}, at character "
        f"{start}: {reason}",
        "a chat whose messages spell no control token",
        f"change the message, or, if you trust it, pass placeholders=[{name!r:.80}]",
    )


def strings(value: Any, key: _Key) -> Iterator[tuple[_Key, str]]:
    """All strings of messages, keys of mappings included, with the keys that lead to them."""
    if isinstance(value, str):
        yield key, value
    elif isinstance(value, Mapping):
        for name, item in value.items():
            if isinstance(name, str):
                yield (*key, name, _KEY), name
            yield from strings(item, (*key, name))
    elif isinstance(value, (list, tuple)):
        for index, item in enumerate(value):
            yield from strings(item, (*key, index))
    elif (fields := _fields(value)) is not None:
        yield from strings(fields, key)


def _changed(value: Any, key: _Key, change: Callable[[_Key, str], str]) -> Any:
    """A copy of messages whose strings are changed."""
    if isinstance(value, str):
        return change(key, value)
    if isinstance(value, Mapping):
        return {
            change((*key, name, _KEY), name) if isinstance(name, str) else name: _changed(
                item, (*key, name), change
            )
            for name, item in value.items()
        }
    if isinstance(value, (list, tuple)):
        return [_changed(item, (*key, index), change) for index, item in enumerate(value)]
    fields = _fields(value)
    return value if fields is None else _changed(fields, key, change)


def _fields(value: Any) -> Any:
    """The fields of a pydantic model or a dataclass, as clients of servers return them."""
    if callable(getattr(value, "model_dump", None)):
        return value.model_dump()
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    return None


def _pieces(key: _Key, string: str, spellings: Sequence[str]) -> Iterator[Piece]:
    """The parts of a string that a control token might come from, apart from each other."""
    folded = _folded(string)
    found = [part for spelling in spellings for part in _occurrences(folded, spelling)]
    # Keys, roles and types are words of the template's own, which may make a control token of them:
    # "<|user|>".  So only whole control tokens count there.
    if key[-1] not in (_KEY, "role", "type"):
        found += [part for spelling in spellings for part in _ends(folded, spelling)]
    united: list[tuple[int, int, bool]] = []
    for start, end, is_whole in sorted(found):
        if united and start < united[-1][1]:
            first, last, others = united.pop()
            start, end, is_whole = first, max(last, end), others or is_whole
        united.append((start, end, is_whole))
    for start, end, is_whole in united:
        yield Piece(key, start, end, *_with_blanks(string, start, end), string[start:end], is_whole)


def _occurrences(string: str, spelling: str) -> Iterator[tuple[int, int, bool]]:
    start = string.find(spelling)
    while start >= 0:
        yield start, start + len(spelling), True
        start = string.find(spelling, start + 1)


def _ends(string: str, spelling: str) -> Iterator[tuple[int, int, bool]]:
    """The ends of a string that may be a part of a control token, with the template's text beside it."""
    core = string.strip()
    first = string.find(core)
    last = first + len(core)
    lengths = range(min(len(core), len(spelling) - 1), 0, -1)
    for length in lengths:
        if core.startswith(spelling[-length:]):
            yield first, first + length, False
            break
    for length in lengths:
        if core.endswith(spelling[:length]):
            yield last - length, last, False
            break
    if core and core in spelling and core != spelling:
        yield first, last, False


def _with_blanks(string: str, start: int, end: int) -> tuple[int, int]:
    """The part with the white space around it, except at the ends of the string."""
    first, last = start, end
    while first > 0 and string[first - 1].isspace():
        first -= 1
    while last < len(string) and string[last].isspace():
        last += 1
    return (start if first == 0 else first), (end if last == len(string) else last)


class _Marking:
    """Pieces of messages between marks: numbers that neither the messages nor the text contain.

    Args:
        wide: the strings in which the marks stand outside of the white space around a piece.
    """

    def __init__(self, messages: Sequence[Any], text: str, pieces: Sequence[Piece], wide: Set[_Key]) -> None:
        self._messages, self._text, self._pieces, self._wide = messages, text, pieces, wide
        self._stem = unused_number([text, *(string for _, string in strings(messages, ()))])

    def found(self, render: Callable[[list[Any]], str]) -> list[tuple[Piece, list[tuple[int, bool]]]] | None:
        """Where the marks of each piece are in the text: their positions, and whether they open it.

        ``None`` if the template writes another text for marked messages.
        """
        by_key: dict[_Key, list[tuple[int, Piece]]] = {}
        for number, piece in enumerate(self._pieces):
            by_key.setdefault(piece.key, []).append((number, piece))

        def marked(key: _Key, string: str) -> str:
            parts, end = [], 0
            for number, piece in by_key.get(key, ()):
                start, last = piece.start, piece.end
                if key in self._wide:
                    start, last = max(end, piece.wide_start), piece.wide_end
                parts += [string[end:start], self._mark(2 * number)]
                parts += [string[start:last], self._mark(2 * number + 1)]
                end = last
            return "".join(parts) + string[end:]

        try:
            rendered = render(_changed(list(self._messages), (), marked))
        except Exception:  # templates are programs and may raise anything
            return None
        plain, marks = [], []
        end = length = 0
        for match in re.finditer(f"{self._stem}([{_DIGITS}]{{{_NUMBER_LENGTH}}})", rendered):
            plain.append(rendered[end : match.start()])
            length += match.start() - end
            end = match.end()
            marks.append((length, int(match[1].translate(_AS_OCTAL), 8)))
        if "".join(plain) + rendered[end:] != self._text:
            return None
        found: list[tuple[Piece, list[tuple[int, bool]]]] = [(piece, []) for piece in self._pieces]
        for position, number in marks:
            found[number // 2][1].append((position, number % 2 == 0))
        return found

    def _mark(self, number: int) -> str:
        return self._stem + f"{number:0{_NUMBER_LENGTH}o}".translate(_FROM_OCTAL)


def _spelling_in(text: str, spellings: Sequence[str]) -> str:
    """The first control token in a text, as the text spells it."""
    folded = _folded(text)
    start, _, length = min((folded.find(each), -len(each), len(each)) for each in spellings if each in folded)
    return text[start : start + length]


def _unmarkable(
    render: Callable[[list[Any]], str], messages: Sequence[Any], text: str, pieces: Sequence[Piece]
) -> set[_Key]:
    """The strings whose marks change the text; all strings, if these are many, or change it together."""
    of_string: dict[_Key, list[Piece]] = {}
    for piece in pieces:
        of_string.setdefault(piece.key, []).append(piece)
    if len(of_string) > _MOST_TRIED:
        return set(of_string)
    changing = {
        key
        for key, own in of_string.items()
        if _Marking(messages, text, own, frozenset()).found(render) is None
    }
    return changing or set(of_string)


def _written(
    found: Sequence[tuple[Piece, Sequence[tuple[int, bool]]]],
    text: str,
    spellings: Sequence[str],
    wide: Set[_Key],
) -> list[tuple[int, int, Piece]] | Piece:
    """Where the pieces are in the text, from left to right.

    A piece may be absent.  If one is neither absent nor as in the message, the template may have read the
    control token there, and written another one: that piece is returned alone.
    """
    folded = _folded(text)
    written: list[tuple[int, int, Piece]] = []
    for piece, marks in found:
        own = _folded(piece.text)
        index = 0
        while index < len(marks):
            start, opens = marks[index]
            is_pair = opens and index + 1 < len(marks) and not marks[index + 1][1]
            index += 1 + is_pair
            if is_pair:
                end = marks[index - 1][0]
                if folded[start:end] == own and piece.key not in wide:
                    written.append((start, end, piece))
                    continue
                is_there = any(spelling in folded[start:end] for spelling in spellings)
            else:  # the template has cut the string at the piece
                after = folded[start : start + _NEAR].lstrip()
                before = folded[max(0, start - _NEAR) : start].rstrip()
                is_there = own not in spellings or (after.startswith(own) if opens else before.endswith(own))
            if is_there and piece.is_whole:
                return piece
    return sorted(written, key=lambda item: item[:2])


def _overlapping(
    spans: Sequence[ControlSpan], written: Sequence[tuple[int, int, Piece]]
) -> list[tuple[ControlSpan, Piece]]:
    """The control tokens with a character of a piece."""
    starts = [start for start, _, _ in written]
    found = []
    for span in spans:
        # Pieces do not overlap, so the last one that begins before the end is the only one to examine.
        index = bisect_left(starts, span.end) - 1
        if index >= 0 and written[index][1] > span.start:
            found.append((span, written[index][2]))
    return found


def _folded(text: str) -> str:
    """The text in lower case, of the same length."""
    lower = text.lower()
    if len(lower) == len(text):
        return lower
    return "".join(small if len(small := char.lower()) == 1 else char for char in text)
