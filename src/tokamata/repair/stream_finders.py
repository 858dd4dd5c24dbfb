"""What finders find in a text that still arrives.

Problem.  A :class:`.Finder` reads a whole text.  While a text arrives it would be read again with each piece.
How.  The outline of the default costs goes on where it stopped (:class:`StreamedOutline`).  Any other finder reads the
text again when it has grown by half, so that all its calls together cost three times the last one.

What finders find has no bounded reach: an object that has a name again gives up the earlier member, a second
value at the root the first one, the end of a thought all that stands before it.  So a rewrite may be found
long after its beginning was decided.  :class:`.RepairStream` says so, and what was decided is taken back at the end.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable
from typing import Protocol

from tokamata.repair.costs import Finder, FoundRewrite
from tokamata.repair.dialects.outline import (
    _CLOSING,
    _ELEMENT,
    _LATER,
    _MEMBER,
    _PROSE,
    _REPEATED,
    _THOUGHT,
    _TOKEN,
    _VALUE,
    _dropped,
    _Item,
    _made_up,
    _Open,
    outline,
)

__all__ = ["StreamedFinder", "streamed"]

_TAGS = rb"think|thinking|reasoning|reflection|scratchpad"
_THOUGHT_END = re.compile(rb"</(?:%b)>" % _TAGS)
_THOUGHT_BEGIN = re.compile(rb"<(?:%b)>" % _TAGS)
_LONGEST_TAG = 16
_MAY_BEGIN_A_TOKEN = re.compile(rb"[\"'/<]")
_STRING = {
    quote: re.compile(rb"%b(?:[^%b\\\n]|\\.)*" % (quote, quote), re.DOTALL) for quote in (b'"', b"'")
}
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


def streamed(finder: Finder) -> StreamedFinder:
    """A finder for a text that still arrives."""
    return StreamedOutline() if finder.find is outline else Reread(finder)


class Reread:
    """A finder that reads all of the text again when it has grown by half.

    What it finds may be gone when more is there.  So its rewrites are not taken before the end, and nothing that comes
    after the first of them is decided.
    """

    def __init__(self, finder: Finder) -> None:
        self._finder = finder
        self._next = 1
        self.withheld = NOWHERE
        self.open: list[FoundRewrite] = []

    def feed(self, text: bytearray, decided: int) -> Iterable[FoundRewrite]:
        """None; the place of the first one counts."""
        if len(text) >= self._next:
            self._next = len(text) + max(len(text) // 2, _SHORT)
            self.withheld = min((one.begin for one in self._finder.find(bytes(text))), default=NOWHERE)
        return []


class StreamedOutline:
    """:func:`.outline`, token by token.

    A token is read when nothing that follows can change where it ends.  Rewrites of members are known at the comma or the
    bracket after them, and of the earlier of two members with one name when the name comes again.
    """

    def __init__(self) -> None:
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
        while len(text) >= self._waits_for and self._read(text, found):
            pass
        self.withheld = self._withheld(text)
        self._find_open(decided)
        return found

    def _find_open(self, decided: int) -> None:
        """What the end of the text, or of what is open, may give up as a whole."""
        self.open = []
        number = len(self._roots)
        if not self._stack:
            if number > 0:
                self.open.append(_dropped("drop prose", self._root_end, self._root_end, _PROSE))
            return
        if number > 0:
            begin = self._stack[0].begin
            cost = _VALUE + _LATER * min(number, 10)
            self.open.append(_dropped("drop a value", begin, begin, cost))
        for one in self._stack[bisect_left(self._stack, decided, key=_begin_of) :]:
            item = one.item
            if item is None:
                continue
            if len(self.open) > _MOST_OPEN:  # what is nested that deep is decided when its end is there
                self.withheld = min(self.withheld, one.begin)
                return
            cost = _MEMBER if one.bracket == b"{" else _ELEMENT
            for begin in {item.begin, one.items[-1].comma if one.items else item.begin}:
                self.open.append(_dropped("drop a member", begin, begin, cost))

    def _withheld(self, text: bytearray) -> int:
        """Nothing is decided of a thought that is open, or of prose that may stand before a value."""
        if self._stack or self._roots:
            thought = _THOUGHT_BEGIN.search(text, self._at, self._at + _LONGEST_TAG)
            return NOWHERE if thought is None else thought.start()
        return self._root_end

    def _read(self, text: bytearray, found: list[FoundRewrite]) -> bool:
        """Reads a token; returns whether there was one."""
        match = _TOKEN.search(text, self._at)
        until = len(text) if match is None else match.start()
        for one in _MAY_BEGIN_A_TOKEN.finditer(text, self._at, until):
            if _is_open(text, one.start()):
                return self._wait(text, one.start())
        if match is None:
            self._at = until
            return False
        if match.end() == len(text) and match[0] not in (b"{", b"}", b"[", b"]", b"(", b")", b",", b":"):
            return self._wait(text, match.start())
        self._take(text, match, found)
        self._at = self._last_end = match.end()
        return True

    def _wait(self, text: bytearray, position: int) -> bool:
        self._at = position
        length = len(text) - position
        self._waits_for = len(text) + (length // 4 + 1)
        return False

    def _take(self, text: bytearray, match: re.Match[bytes], found: list[FoundRewrite]) -> None:
        token = match[0]
        top = self._stack[-1] if self._stack else None
        if match[1] is not None:
            found.append(_dropped("drop a thought", *match.span(), _THOUGHT))
        elif token in _CLOSING:
            if top is None:
                self._open_root(text, match.start(), found)
            elif top.item is None:
                top.item = _Item(match.start())
            self._stack.append(_Open(token, match.start()))
            self._names.append({})
        elif token in (b"}", b"]", b")"):
            if top is not None and _CLOSING[top.bracket] == token:
                self._close(match, top, found)
        elif top is None:
            pass
        elif token == b",":
            if top.item is not None:
                top.item.end, top.item.comma = self._last_end, match.start()
                self._end_item(top, found)
        elif token == b":":
            if top.item is not None and top.bracket == b"{" and top.item.name is None:
                top.item.name = self._last
                self._name(top.item, found)
        elif token[:2] not in (b"//", b"/*"):
            if top.item is None:
                top.item = _Item(match.start())
            self._last = token.strip(b"\"'")

    def _open_root(self, text: bytearray, begin: int, found: list[FoundRewrite]) -> None:
        """A value at the root: what stood before it is prose, and the earlier values may be dropped."""
        if text[self._root_end : begin].strip():
            found.append(_dropped("drop prose", self._root_end, begin, _PROSE))
        if len(self._roots) == 1:
            found.append(_dropped("drop a value", *self._roots[0], _VALUE))

    def _close(self, match: re.Match[bytes], top: _Open, found: list[FoundRewrite]) -> None:
        if match[0] == b"}":
            found.append(_made_up(match.start(), bool(top.item or top.items)))
        if top.item is not None:
            top.item.end = self._last_end
            self._end_item(top, found)
        self._stack.pop()
        self._names.pop()
        if not self._stack:
            number = len(self._roots)
            self._roots.append((top.begin, match.end()))
            self._root_end = match.end()
            if number > 0:
                cost = _VALUE + _LATER * min(number, 10)
                found.append(_dropped("drop a value", top.begin, match.end(), cost))

    def _end_item(self, top: _Open, found: list[FoundRewrite]) -> None:
        """A member or an element that may be dropped."""
        item = top.item
        assert item is not None
        top.item = None
        is_member = top.bracket == b"{"
        name, cost = ("drop a member", _MEMBER) if is_member else ("drop an element", _ELEMENT)
        begin, end = item.begin, item.comma + 1
        if item.comma < 0:
            begin, end = (top.items[-1].comma if top.items else begin), item.end
        found.append(_dropped(name, begin, end, cost))
        top.items[:] = [item]  # the last one

    def _name(self, item: _Item, found: list[FoundRewrite]) -> None:
        """The earlier member of one name may be dropped at little cost."""
        earlier = self._names[-1].get(item.name)
        if earlier is not None and earlier.comma >= 0:
            found.append(_dropped("drop a repeated member", earlier.begin, earlier.comma + 1, _REPEATED))
        self._names[-1][item.name] = item


def _begin_of(one: _Open) -> int:
    return one.item.begin if one.item is not None else one.begin


def _is_open(text: bytearray, position: int) -> bool:
    """Whether more of the text may make a token begin where none begins now."""
    first = text[position : position + 1]
    if first == b"/":
        return position + 1 == len(text) or text[position + 1 : position + 2] == b"*"
    if first == b"<":
        tag = bytes(text[position : position + _LONGEST_TAG])
        return _THOUGHT_BEGIN.match(tag) is not None or (
            len(tag) < _LONGEST_TAG and re.fullmatch(rb"<[a-z]*", tag) is not None
        )
    string = _STRING[bytes(first)].match(text, position)
    assert string is not None
    end = string.end()
    if end >= len(text) - 1:
        return True
    # A closing quote that is none yet: what follows it decides.
    return text[end : end + 1] == first and not text[end + 1 :].strip()
