"""What a broken text consists of, by its brackets: values at its root, prose between them, and members.

Problem.  Some mistakes are of whole members or values: a name that an object has twice, a draft before
the answer, a member that no schema knows.  Byte by byte they are dear, and no pattern finds where they
end.
Example.  ``Draft: {"a": 1} Final: {"a": 2, "a": 3}`` has two values and two pieces of prose at its
root, and the second value two members of one name.  The rewrites drop the first value, either piece of
prose, or the member ``"a": 2,``.
How.  The core reads brackets and the items in them (``core/json/bracket_outline.hpp``).  What the items
mean, and what it costs to drop them, is decided here: of an item when the next one begins or its bracket is
closed, of a value at the root when it ends, and of the rest at the end of the text.  So the same rewrites are
found in a text as a whole and in one that arrives in pieces.  What stands before the last end of a thought
is not read; when a thought ends in a text that arrives, what was found until then holds no longer.
Cost.  Linear in the text, however it is cut.
Not taken.  To decide here which value is the one that was meant: the search knows which fits the
constraint.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import tokamata._core as _core
from tokamata.repair.costs import NOWHERE, FoundRewrite
from tokamata.repair.dialects.modes import INVENTED, TEXT
from tokamata.repair.words import Words

__all__ = ["Outline", "outline"]

_THOUGHTS = ["think", "thinking", "reasoning", "reflection", "scratchpad", "thought", "analysis"]
_THOUGHT_END = re.compile(rb"</(?:%b)>" % "|".join(_THOUGHTS).encode())
_THOUGHT_BEGIN = re.compile(rb"<(?:%b)>" % "|".join(_THOUGHTS).encode())
_LONGEST_TAG = 16  # bytes of the end of a thought
_MEMBERS_FIRST = re.compile(
    rb"[\s,}\]]*(?:\"[^\"\n]*\"|'[^'\n]*')\s*[:\"']|[\s,}\]]*[A-Za-z_$][\w$]*:[ \t]*[^\s*`]"
)
_NAME_LAST = re.compile(rb"[\"'][\w $.-]+[\"']\s*:\s*\Z")
_BULLET = re.compile(rb"(?m)^[ \t]*(?:[-*]|\d{1,3}[.)])[ \t]+\S")
_MARK = re.compile(rb"[-*]|\d{1,3}[.)]")
_COMMENT = re.compile(rb"/\*|(?<!:)//[^\n]*")
_FENCE = re.compile(rb"(?<!\s)(\s*)```\s*(?=[A-Za-z_]|\Z)")
_UNFINISHED_MEMBER = re.compile(rb"[\"']?[^\"'\n:]*(?:(?:[\"']|(?=[\n:]))\s*(?::\s*)?)?")
# In prose, such as ``[see above]``; and a list of numbers only, which may be an answer.
_ASIDE = re.compile(rb"[\[{(](?:[^\"':\[\]{}]|(?<=\d):(?=\d)|[\[{][^\"':\[\]{}]{0,100}[\]}]){1,200}[\]})]")
_NUMBERS = re.compile(rb"\[(?:[\d\s.,eE+-]|true|false|null)*\]")
_STEP_BYTES = 1 << 14  # after which the clock is read
_LONGEST_PROSE = 1 << 16  # where bullets and comments are looked for
_LONGEST_LAST_NAME = 200  # bytes at the end of prose, where a name is looked for
_LONGEST_OPEN_MEMBER = 1000  # bytes of one that the end of the text may have cut off
_MOST_ITEMS = 20_000  # of a bracket that may be dropped
_MOST_QUOTED, _HIGHEST_QUOTED = 4000, 16
_MOST_OPEN = 64  # brackets that a stream may still drop; what is in deeper ones is decided at their end

_REPEATED = 30  # a member whose name comes again
_MEMBER, _ELEMENT, _BY_BYTE = 3000, 3400, 12  # one that is whole, and more for each byte
_BROKEN, _BY_BROKEN_BYTE, _MOST_BYTES = 6500, 60, 500  # one that is not
_ALL, _ALL_BROKEN = 2000, 15_000  # more for all that there is
_UNFINISHED_DIGITS = 400  # of a member that begins with a digit: it may be the rest of the number before it
_UNFINISHED, _UNFINISHED_VALUE, _UNFINISHED_BRACKET = 20, 35, 150  # what the end of the text has cut off
_VALUE, _SHORT_VALUE, _IN_PROSE = 900, 300, 500  # a value at the root
_LATER, _MUCH_LATER, _LATER_SHORT = 1200, 300, 600  # more for any but the first, and for each before it
_CUT_OFF = 850  # the last one of several, cut off within a string or after a colon by the end of the text
_SHORT = 6  # bytes of what is hardly a value, such as ``[1]`` in prose
_PROSE, _BULLETS_IN_PROSE, _MEMBERS_IN_PROSE, _THOUGHT = 250, 1000, 4000, 20
_LISTED, _LISTED_LINES, _LISTED_BY_COMMAS = 2000, 700, 300  # values at the root that become a list
_MADE_UP = 1200  # a member that the constraint knows and the object lacks
_AS_TEXT = 4600  # a value in quotes
_SINGLE = 700  # of a value that becomes the only element of a list
_NULL = 30  # rather than any value that is written byte by byte

_IN_TEXT, _IN_INVENTED, _IN_BOTH = (TEXT,), (INVENTED,), (TEXT, INVENTED)
_MAKE_UP = "make up a member"  # before a closing brace: one that the constraint knows and the object lacks
_ROOT = _core.OutlineEvent.ROOT.value
_ITEM = _core.OutlineEvent.ITEM.value
_REPEATED_MEMBER = _core.OutlineEvent.REPEATED.value

_JSON = json.JSONEncoder(ensure_ascii=False)

# A third of the time that ``FoundRewrite(…)`` takes.
_made: Callable[[tuple[str, int, int, bytes, int, tuple[str, ...], str]], FoundRewrite]
_made = partial(tuple.__new__, FoundRewrite)


def outline(text: bytes, words: Words | None) -> Iterator[FoundRewrite | None]:
    """The rewrites of whole values, members and pieces of prose."""
    return Outline(words).end(text)


class Outline:
    """The outline of a text that arrives in pieces.

    Attributes:
        begin: what stands before it is a thought; when it has changed, what was found until then is void.
        withheld: nothing from this position on is to be decided yet.
        open: rewrites that there may be: where they begin, and the least that they cost.
    """

    def __init__(self, words: Words | None) -> None:
        names = words.few_names if words is not None else ()
        self._members = [(name, b'"%b":' % name, b',"%b":' % name) for name in names]
        self._has_schema = words is not None and not words.is_empty
        self._may_be_null = words is None or words.has_null
        self._searched = 0  # for ends of thoughts
        self.withheld = 0
        self.open: Sequence[FoundRewrite] = ()
        self._begin_at(0)

    def _begin_at(self, position: int) -> None:
        self.begin = position
        self._brackets = _core.BracketOutline(
            position, _THOUGHTS, _MOST_ITEMS, self._has_schema or bool(self._members), bool(self._members)
        )
        self._roots = 0
        self._first_root = (position, position)
        self._root_end = position  # of the last one
        self._is_preceded = False  # the last one, by prose
        self._are_alone = True  # the values at the root: except for marks of lists and commas
        self._are_by_line = True
        self._are_by_comma = True

    def feed(self, text: bytearray, decided: int) -> Iterator[FoundRewrite | None]:
        """The rewrites that a text has made known, which begins with that of the last call.

        The attributes hold when all of them have been taken.  Of what is open, that before ``decided`` may be
        left out.
        """
        yield from self._read(text, is_end=False)
        self.withheld = self._first_withheld(text)
        self.open = list(self._open(text, decided))

    def end(self, text: bytes | bytearray) -> Iterator[FoundRewrite | None]:
        """The rewrites that the end of the text makes known; of a text that was not fed, all."""
        yield from self._read(text, is_end=True)
        outline = self._brackets
        if outline.depth > 0:
            yield from self._cut_off(text)
        elif outline.unmatched > (self._root_end if self._roots else 0) and text[outline.unmatched :].strip():
            yield _dropped("drop prose", outline.unmatched, len(text), _prose(text[outline.unmatched :]))
        yield from self._last_root(text)
        if self._may_be_null:
            yield FoundRewrite("null for a missing value", len(text), len(text), b"null", _NULL, _IN_TEXT)

    def _read(self, text: bytes | bytearray, is_end: bool) -> Iterator[FoundRewrite | None]:
        thought = self._last_thought(text)
        if thought > 0:
            self._begin_at(thought)
            yield _dropped("drop a thought", 0, thought, _THOUGHT)
        goes_on = True
        while goes_on:
            events, goes_on = self._brackets.read(text, is_end, _STEP_BYTES)
            if events:
                yield from self._rewrites(text, events)
            if goes_on:
                yield None

    def _last_thought(self, text: bytes | bytearray) -> int:
        """Where the last thought ends; 0: none does in what has arrived."""
        begin = text.find(b"</", max(self._searched - _LONGEST_TAG, self.begin))
        self._searched = len(text)
        end = 0
        for tag in _THOUGHT_END.finditer(text, begin) if begin >= 0 else ():
            end = tag.end()
        return end

    def _rewrites(self, text: bytes | bytearray, events: list[tuple[Any, ...]]) -> list[FoundRewrite]:
        found: list[FoundRewrite] = []
        for event in events:
            kind = event[0]
            if kind == _ITEM:
                _drop_item(event, found)
            elif kind == _REPEATED_MEMBER:
                found.append(_dropped("drop a repeated member", event[1], event[2], _REPEATED))
            elif kind == _ROOT:
                self._begin_root(text, event[1], found)
            else:
                self._close(text, event, found)
        return found

    def _begin_root(self, text: bytes | bytearray, begin: int, found: list[FoundRewrite]) -> None:
        """A value at the root: what stood before it is prose, and several values may be a list."""
        end = self._root_end
        skipped = bytes(text[end:begin])
        between = _without_comments(skipped).strip()
        self._is_preceded = bool(between)
        if between:
            found.append(_dropped("drop prose", end, begin, _prose(between)))
            last_line = between[between.rfind(b"\n") + 1 :].strip()
            self._are_alone &= between == b"," or _MARK.fullmatch(last_line) is not None
        if self._roots > 0:
            self._are_by_line &= b"\n" in skipped
            self._are_by_comma &= b"," in between
            found.append(FoundRewrite("values as a list", end, begin, b",", 5, _IN_TEXT))
        if self._roots == 1:
            first, end = self._first_root
            found.append(_dropped("drop a value", first, end, _of_value(text, first, end, 0)))

    def _close(self, text: bytes | bytearray, event: tuple[Any, ...], found: list[FoundRewrite]) -> None:
        _, is_root, is_object, has_items, begin, end, height, present = event
        if is_object and self._members:
            at = end - 1
            for name, alone, member in self._members:
                if name in present:
                    continue
                if has_items:
                    found.append(_made((_MAKE_UP, at, at, member, _MADE_UP, _IN_BOTH, INVENTED)))
                else:
                    found.append(_made((_MAKE_UP, at, at, alone, _MADE_UP, _IN_TEXT, INVENTED)))
                    found.append(_made((_MAKE_UP, at, at, member, _MADE_UP, _IN_INVENTED, INVENTED)))
            if self._may_be_null:
                found.append(_null(end - 1))
        if is_root:
            self._end_root(text, begin, end, found)
        elif self._has_schema and end - begin <= _MOST_QUOTED:
            found.append(_made(("single value as a list", begin, begin, b"[", _SINGLE, _IN_TEXT, "")))
            found.append(_made(("single value as a list", end, end, b"]", 5, _IN_TEXT, "")))
            if height <= _HIGHEST_QUOTED:
                found.append(_as_text(bytes(text[begin:end]), begin, end))

    def _end_root(self, text: bytes | bytearray, begin: int, end: int, found: list[FoundRewrite]) -> None:
        if self._roots == 0:
            self._first_root = (begin, end)
        else:
            found.append(_dropped("drop a value", begin, end, _of_value(text, begin, end, self._roots)))
        self._roots += 1
        self._root_end = end

    def _cut_off(self, text: bytes | bytearray) -> Iterator[FoundRewrite]:
        """What the end of the text has left unfinished: a name without a value, a bracket without items."""
        end = len(text)
        begin = self._brackets.open(0)[2]
        found: list[FoundRewrite] = []
        written = text.rstrip()
        if not written.endswith((b"}", b"]")):
            found += self._unfinished(text)
        found += self._rewrites(text, self._brackets.finish(end))
        tail = max(text.rfind(b"}"), text.rfind(b"]")) + 1
        prose = _prose_after(text, tail)
        if prose is not None:
            found.append(_dropped("drop prose", prose, end, _PROSE))
        is_cut_off = written.endswith((b":", b",")) or text.count(b'"', self._brackets.last_begin) == 1
        if is_cut_off and self._roots > 0 and not self._is_preceded:
            found.append(_dropped("drop a value", begin, end, _CUT_OFF))
        self._end_root(text, begin, end, found)
        yield from found

    def _unfinished(self, text: bytes | bytearray) -> Iterator[FoundRewrite]:
        outline, end = self._brackets, len(text)
        is_object, has_name, _, item, ended, _, before = outline.open(outline.depth - 1)
        if item >= 0 and is_object and _UNFINISHED_MEMBER.fullmatch(text, item):
            cost = _UNFINISHED_VALUE if has_name else _UNFINISHED
            if not has_name and text[item : item + 1].isdigit():
                cost = _UNFINISHED_DIGITS  # rather of the number before it
            yield _dropped("drop an unfinished member", before if before >= 0 else item, end, cost)
        if item < 0 and ended < 0 and outline.depth > 1:
            before = outline.open(outline.depth - 2)[6]
            if before >= 0:
                yield _dropped("drop an unfinished value", before, end, _UNFINISHED_BRACKET)

    def _last_root(self, text: bytes | bytearray) -> Iterator[FoundRewrite]:
        """What stands after all values at the root, and these as a list."""
        if self._roots == 0:
            return
        after = text[self._root_end :]
        words = after.strip()
        if words:
            yield _dropped("drop prose", self._root_end, len(text), _prose(after))
        if self._roots < 2:
            return
        cost = _LISTED
        if self._are_alone and words in (b"", b"]", b","):
            cost = (
                _LISTED_BY_COMMAS if self._are_by_comma else _LISTED_LINES if self._are_by_line else _LISTED
            )
        begin = self._first_root[0]
        yield FoundRewrite("values as a list", begin, begin, b"[", cost, _IN_TEXT)
        yield FoundRewrite("values as a list", self._root_end, self._root_end, b"]", 5, _IN_TEXT)

    # ---- while the text arrives ---------------------------------------------------------------------

    def _first_withheld(self, text: bytearray) -> int:
        """Nothing is decided of a thought that is open, or of prose that may stand before a value."""
        position = self._brackets.position
        if self._brackets.depth > 0 or self._roots > 0:
            is_thought = text.startswith(b"<", position) and _THOUGHT_BEGIN.match(text, position)
            return position if is_thought else NOWHERE
        return self._root_end

    def _open(self, text: bytearray, decided: int) -> Iterator[FoundRewrite]:
        """What the end of the text, or of what is open, may give up as a whole."""
        outline = self._brackets
        depth = outline.depth
        if depth == 0:
            if self._roots > 0:
                yield _dropped("drop prose", self._root_end, self._root_end, _PROSE)
            return
        if self._roots > 0:
            begin = outline.open(0)[2]
            yield _dropped("drop a value", begin, begin, _SHORT_VALUE)
        is_object, _, _, item, ended, _, before = outline.open(depth - 1)
        begin = item if item >= 0 else outline.position
        is_short = len(text) - begin <= _LONGEST_OPEN_MEMBER
        if is_object and is_short and _UNFINISHED_MEMBER.fullmatch(text, begin):
            begin = before if before >= 0 else begin
            yield _dropped("drop an unfinished member", begin, begin, _UNFINISHED)
        if item < 0 and ended < 0 and depth > 1:
            before = outline.open(depth - 2)[6]
            if before >= 0:
                yield _dropped("drop an unfinished value", before, before, _UNFINISHED_BRACKET)
        first = outline.first_open_from(decided)
        for index in range(first, min(first + _MOST_OPEN, depth)):
            is_object, _, begin, item, ended, before_ended, before = outline.open(index)
            cost = _MEMBER if is_object else _ELEMENT
            for at in {item, before} if item >= 0 else {ended, before_ended}:
                if at >= 0:
                    yield _dropped("drop a member", at, at, cost)
            if self._has_schema and index > 0:
                yield _dropped("single value as a list", begin, begin, _SINGLE)
        if depth - first > _MOST_OPEN:  # what is nested that deep is decided when its end is there
            self.withheld = min(self.withheld, outline.open(first + _MOST_OPEN)[2])


def _drop_item(event: tuple[Any, ...], found: list[FoundRewrite]) -> None:
    """A member or an element may be dropped, with the comma after it; the last one with the comma before."""
    _, is_member, is_whole, is_only, begin, end, after, before = event
    length = end - begin
    if length > _MOST_BYTES:
        length = _MOST_BYTES
    if is_whole:
        cost = (_MEMBER if is_member else _ELEMENT) + _BY_BYTE * length
    else:
        cost = _BROKEN + _BY_BROKEN_BYTE * length
    if is_only:
        cost += _ALL if is_whole else _ALL_BROKEN
    name = "drop a member" if is_member else "drop an element"
    if after >= 0:
        found.append(_made((name, begin, after, b"", cost, _IN_TEXT, "")))
    if before >= 0:
        found.append(_made((name, before, end, b"", cost, _IN_TEXT, "")))


def _of_value(text: bytes | bytearray, begin: int, end: int, number: int) -> int:
    """What it costs to drop the value at the root that so many precede."""
    if _ASIDE.fullmatch(text, begin, end) and not _NUMBERS.fullmatch(text, begin, end):
        return _IN_PROSE + number
    if end - begin <= _SHORT:
        return _SHORT_VALUE + _LATER_SHORT * min(number, 3)
    return _VALUE + _LATER * min(number, 1) + _MUCH_LATER * min(number, 3)


def _prose_after(text: bytes | bytearray, tail: int) -> int | None:
    """Where prose begins after the last bracket of a text that is cut off: a fence, or a line of words."""
    last_mark = max(tail, *(text.rfind(mark, tail) + 1 for mark in (b'"', b"{", b"[")))
    for fence in _FENCE.finditer(text, tail):
        line_break = text.find(b"\n", *fence.span(1))
        if line_break >= 0 and fence.end() >= last_mark:
            return line_break
    words = len(text) - len(text[tail:].lstrip())
    if text.startswith(b"```", words):
        words = len(text) - len(text[words + 3 :].lstrip())
    elif b"\n" not in text[tail:words]:
        return None
    is_word = words == len(text) or text[words : words + 1].isalpha() or text.startswith(b"_", words)
    return tail if is_word and last_mark <= words and b":" not in text[words:] else None


def _without_comments(text: bytes) -> bytes:
    if b"/" not in text or len(text) > _LONGEST_PROSE:
        return text
    pieces = []
    position = 0
    has_end = True
    for match in _COMMENT.finditer(text):
        if match.start() < position:
            continue
        end = match.end()
        if match[0] == b"/*":
            end = text.find(b"*/", end) + 2 if has_end else 1
            if end == 1:
                has_end = False
                continue
        pieces.append(text[position : match.start()])
        position = end
    return b"".join((*pieces, text[position:]))


def _prose(text: bytes | bytearray) -> int:
    bullets = _BULLET.finditer(text, 0, _LONGEST_PROSE)
    if next(bullets, None) is not None and next(bullets, None) is not None:
        return _BULLETS_IN_PROSE
    end = text.rstrip()[-_LONGEST_LAST_NAME:]
    return _MEMBERS_IN_PROSE if _MEMBERS_FIRST.match(text) or _NAME_LAST.search(end) else _PROSE


def _as_text(text: bytes, begin: int, end: int) -> FoundRewrite:
    quoted = _JSON.encode(text.decode("utf-8", "replace")).encode()
    return _made(("value as a text", begin, end, quoted, _AS_TEXT, _IN_TEXT, ""))


def _dropped(name: str, begin: int, end: int, cost: int) -> FoundRewrite:
    return _made((name, begin, end, b"", cost, _IN_TEXT, ""))


def _null(position: int) -> FoundRewrite:
    """As the value of a member that a repair makes up."""
    name = "null for a missing value"
    return _made((name, position, position, b"null", _NULL, _IN_INVENTED, INVENTED))
