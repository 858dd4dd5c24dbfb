"""What finders find in a text that still arrives.

Problem.  A :class:`.RewriteFinder` reads a whole text.  While a text arrives it would be read again with each
piece.
How.  The outline of the default costs goes on where it stopped (:class:`StreamedOutline`).  Any other
finder reads the text again when it has grown by half, so that all its calls together cost three times the
last one (:class:`Reread`).

What finders find has no bounded reach: an object that has a name again gives up the earlier member, a second
value at the root the first one, the end of a thought all that stands before it.  So a rewrite may be found
long after its beginning was decided.  :class:`.RepairStream` says so, and what was decided is taken back at
the end.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from typing import Protocol

from tokamata.repair.costs import FoundRewrite, RewriteFinder
from tokamata.repair.dialects.modes import TEXT
from tokamata.repair.dialects.outline import (
    _ALL,
    _ALL_BROKEN,
    _BROKEN,
    _BY_BROKEN_BYTE,
    _BY_BYTE,
    _CLOSING,
    _ELEMENT,
    _MEMBER,
    _PROSE,
    _REPEATED,
    _SHORT_VALUE,
    _SINGLE,
    _THOUGHT,
    _TOKEN,
    _UNFINISHED,
    _UNFINISHED_BRACKET,
    _UNFINISHED_MEMBER,
    _dropped,
    _Item,
    _made_up,
    _null,
    _Open,
    _prose,
    outline,
)
from tokamata.repair.words import Words

__all__ = ["NOWHERE", "StreamedFinder", "StreamedOutline", "streamed"]

_TAGS = rb"think|thinking|reasoning|reflection|scratchpad|thought|analysis"
_THOUGHT_END = re.compile(rb"</(?:%b)>" % _TAGS)
_THOUGHT_BEGIN = re.compile(rb"<(?:%b)>" % _TAGS)
_LONGEST_TAG = 16
_STRING = {
    b'"': re.compile(rb'"(?:[^"\\]|\\.)*', re.DOTALL),
    b"'": re.compile(rb"'(?:[^'\\\n]|\\.)*", re.DOTALL),
}
_MORE = re.compile(rb"\s*\S")
_SHORT = 8
_MOST_OPEN = 64
NOWHERE = 1 << 62


class StreamedFinder(Protocol):
    """A finder that is fed.

    Attributes:
        withheld: nothing from this position on is to be decided yet.
        open: rewrites that may turn out to begin somewhere, by what they are by now.
    """

    withheld: int
    open: list[FoundRewrite]

    def feed(self, text: bytearray, decided: int) -> Iterable[FoundRewrite]:
        """The rewrites that a text has made known, which begins with that of the last call.

        What begins before ``decided`` comes too late, and may be left out.
        """


def streamed(finder: RewriteFinder, words: Words | None) -> StreamedFinder:
    """A finder for a text that still arrives."""
    return StreamedOutline(words) if finder.find is outline else Reread(finder, words)


class Reread:
    """A finder that reads all of the text again when it has grown by half.

    What it finds may be gone, or other, when more is there.  So its rewrites stay open.
    """

    def __init__(self, finder: RewriteFinder, words: Words | None) -> None:
        self._finder = finder
        self._words = words
        self._next = 1
        self.withheld = NOWHERE
        self.open: list[FoundRewrite] = []

    def feed(self, text: bytearray, decided: int) -> Iterable[FoundRewrite]:
        """None: they are open."""
        if len(text) >= self._next:
            self._next = len(text) + len(text) // 2 + _SHORT
            self.open = list(self._finder.find(bytes(text), self._words))
        return []


class StreamedOutline:
    """:func:`.outline`, token by token.

    A token is read when nothing that follows can change where it ends.  Rewrites of members are known at
    the comma or the bracket after them, and of the earlier of two members with one name when the name comes
    again.  What the end of the text alone can show, such as that a member is not finished, is open.
    """

    def __init__(self, words: Words | None) -> None:
        self._known = words.few_names if words is not None else ()
        self._has_schema = words is not None and not words.is_empty
        self._may_be_null = words is not None and words.has_null
        self._tags_read = 0
        self._waits_for = 0  # the length of the text at which the next token is tried again
        self.withheld = 0
        self.open: list[FoundRewrite] = []
        self._begin_at(0)

    def _begin_at(self, position: int) -> None:
        self._at = self._last_end = self._root_end = position
        self._last = b""
        self._stack: list[_Open] = []
        self._names: list[dict[bytes | None, _Item]] = []
        self._are_whole: list[bool] = []  # the items of each open bracket that have ended
        self._counts: list[int] = []  # how many they are
        self._roots: list[tuple[int, int]] = []

    def feed(self, text: bytearray, decided: int) -> Iterable[FoundRewrite]:
        """The rewrites that have become known."""
        found: list[FoundRewrite] = []
        for tag in _THOUGHT_END.finditer(text, max(self._tags_read - _LONGEST_TAG, self._at)):
            if tag.start() >= self._at:
                found.append(_dropped("drop a thought", 0, tag.end(), _THOUGHT))
                self._begin_at(tag.end())
                self._waits_for = 0
        self._tags_read = len(text)
        while len(text) >= self._waits_for:
            match = _TOKEN.search(text, self._at)
            if match is None:
                self._at = len(text)
                break
            self._at = match.start()
            end = _end_of(text, match)
            if end is None:
                length = len(text) - self._at
                self._waits_for = len(text) + length // 4 + 1
                break
            if end == match.end():
                self._take(text, match, found)
            elif match[0] != b"/*":
                found.append(_dropped("drop a thought", match.start(), end, _THOUGHT))
            self._at = end
        self.withheld = self._withheld(text)
        self.open = list(self._open(text, decided))
        return found

    def _withheld(self, text: bytearray) -> int:
        """Nothing is decided of a thought that is open, or of prose that may stand before a value."""
        if self._stack or self._roots:
            thought = _THOUGHT_BEGIN.match(text, self._at)
            return NOWHERE if thought is None else thought.start()
        return self._root_end

    def _open(self, text: bytearray, decided: int) -> Iterator[FoundRewrite]:
        """What the end of the text, or of what is open, may give up as a whole."""
        if not self._stack:
            if self._roots:
                yield _dropped("drop prose", self._root_end, self._root_end, _PROSE)
            return
        if self._roots:
            yield _dropped("drop a value", self._stack[0].begin, self._stack[0].begin, _SHORT_VALUE)
        top = self._stack[-1]
        begin = top.item.begin if top.item is not None else self._at
        if top.bracket == b"{" and _UNFINISHED_MEMBER.fullmatch(text, begin):
            begin = top.items[-1].comma if top.items else begin
            yield _dropped("drop an unfinished member", begin, begin, _UNFINISHED)
        if top.item is None and not top.items and len(self._stack) > 1 and self._stack[-2].items:
            begin = self._stack[-2].items[-1].comma
            yield _dropped("drop an unfinished value", begin, begin, _UNFINISHED_BRACKET)
        undecided = self._stack[bisect_left(self._stack, decided, key=_begin_of) :]
        for one in undecided[:_MOST_OPEN]:
            if one.item is not None:
                cost = _MEMBER if one.bracket == b"{" else _ELEMENT
                for begin in {one.item.begin, one.items[-1].comma if one.items else one.item.begin}:
                    yield _dropped("drop a member", begin, begin, cost)
            if self._has_schema and one is not self._stack[0]:
                yield _dropped("single value as a list", one.begin, one.begin, _SINGLE)
        if len(undecided) > _MOST_OPEN:  # what is nested that deep is decided when its end is there
            self.withheld = min(self.withheld, undecided[_MOST_OPEN].begin)

    def _take(self, text: bytearray, match: re.Match[bytes], found: list[FoundRewrite]) -> None:
        token, kind = match[0], match[0][:1]
        top = self._stack[-1] if self._stack else None
        if token in _CLOSING:
            if top is not None:
                top.at(match.start()).values += 1
            if top is not None or kind != b"(":
                if top is None:
                    self._open_root(text, match.start(), found)
                self._stack.append(_Open(token, match.start()))
                self._names.append({})
                self._are_whole.append(True)
                self._counts.append(0)
        elif token in (b"}", b"]", b")"):
            if top is not None and _CLOSING[top.bracket] == token:
                self._close(match, top, found)
        elif top is None or token[:2] == b"//":
            return
        elif token == b",":
            if top.item is not None:
                top.item.end, top.item.comma = self._last_end, match.start()
                self._end_item(top, found)
        elif token == b":":
            item = top.at(match.start())
            if top.bracket == b"{" and item.name is None:
                item.name, item.values = self._last, 0
                self._name(item, found)
        else:
            item = top.at(match.start())
            item.values += 1
            is_string = kind in b"\"'" and len(token) > 1
            item.is_broken |= not is_string and not (kind.isalnum() or kind in b"_$-+.")
            self._last = token.strip(b"\"'")
        self._last_end = match.end()

    def _open_root(self, text: bytearray, begin: int, found: list[FoundRewrite]) -> None:
        """A value at the root: what stood before it is prose, and an earlier value may be dropped."""
        between = bytes(text[self._root_end : begin])
        if between.strip():
            found.append(_dropped("drop prose", self._root_end, begin, _prose(between)))
        if len(self._roots) == 1:
            found.append(_dropped("drop a value", *self._roots[0], _SHORT_VALUE))

    def _close(self, match: re.Match[bytes], top: _Open, found: list[FoundRewrite]) -> None:
        lacking = [name for name in self._known if name not in self._names[-1]]
        if match[0] == b"}" and self._known:
            found += _made_up(match.start(), top, lacking)
            if self._may_be_null:
                found.append(_null(match.start()))
        if top.item is not None:
            top.item.end = self._last_end
            self._end_item(top, found)
        self._stack.pop()
        self._names.pop()
        self._counts.pop()
        are_whole = self._are_whole.pop()
        if self._stack:
            if self._has_schema:
                begin, end = top.begin, match.end()
                found.append(FoundRewrite("single value as a list", begin, begin, b"[", _SINGLE, (TEXT,)))
                found.append(FoundRewrite("single value as a list", end, end, b"]", 5, (TEXT,)))
            if not are_whole:
                self._stack[-1].at(top.begin).is_broken = True
            return
        self._roots.append((top.begin, match.end()))
        self._root_end = match.end()
        if len(self._roots) > 1:
            found.append(_dropped("drop a value", top.begin, match.end(), _SHORT_VALUE))

    def _end_item(self, top: _Open, found: list[FoundRewrite]) -> None:
        """A member or an element that may be dropped."""
        item = top.item
        assert item is not None
        top.item = None
        is_object = top.bracket == b"{"
        length = min(item.end - item.begin, 500)
        cost = (_MEMBER if is_object else _ELEMENT) + _BY_BYTE * length
        if not item.seems_whole(is_object):
            self._are_whole[-1] = False
            cost = _BROKEN + _BY_BROKEN_BYTE * length
        name = "drop a member" if is_object else "drop an element"
        self._counts[-1] += 1
        if item.comma < 0 and self._counts[-1] == 1:
            cost += _ALL if item.seems_whole(is_object) else _ALL_BROKEN
        if item.comma >= 0:
            found.append(_dropped(name, item.begin, item.comma + 1, cost))
        # Of the last item, after which there may be a comma.
        begin = top.items[-1].comma if top.items else item.begin
        found.append(_dropped(name, begin, item.end, cost))
        top.items[:] = [item]  # the last one

    def _name(self, item: _Item, found: list[FoundRewrite]) -> None:
        """The earlier member of one name may be dropped at little cost."""
        earlier = self._names[-1].get(item.name)
        if earlier is not None and earlier.comma >= 0:
            found.append(_dropped("drop a repeated member", earlier.begin, earlier.comma + 1, _REPEATED))
        self._names[-1][item.name] = item


def _begin_of(one: _Open) -> int:
    return one.item.begin if one.item is not None else one.begin


def _end_of(text: bytearray, match: re.Match[bytes]) -> int | None:
    """Where a token ends, with what it opens if that is a comment or a thought; ``None``: it may go on."""
    token = match[0]
    if token == b"/*" or (token[:1] == b"<" and len(token) > 1):
        closing = b"*/" if token == b"/*" else b"</" + token[1:]
        end = text.find(closing, match.end())
        return None if end < 0 else end + len(closing)
    return match.end() if _is_certain(text, match) else None


def _is_certain(text: bytearray, match: re.Match[bytes]) -> bool:
    """Whether no continuation of the text changes a token."""
    begin, first = match.start(), match[0][:1]
    if first in (b'"', b"'"):
        string = _STRING[first].match(text, begin)
        assert string is not None
        end = string.end()
        if text[end : end + 1] != first:
            return first == b"'" and text[end : end + 1] == b"\n"
        is_token = first == b'"' and b"\n" not in string[0]
        return is_token or _MORE.match(text, end + 1) is not None
    if first == b"/":
        if begin + 1 == len(text):
            return False
        return text[begin + 1] != 0x2F or match.end() < len(text)
    if first == b"<":
        tag = bytes(text[begin : begin + _LONGEST_TAG])
        is_short = len(tag) < _LONGEST_TAG and re.fullmatch(rb"<[a-z]*", tag) is not None
        return not is_short and _THOUGHT_BEGIN.match(tag) is None
    is_word = first.isalnum() or first in b"_$.+-"
    return not is_word or match.end() < len(text)
