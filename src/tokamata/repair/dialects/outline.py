"""What a broken text consists of, by its brackets: values at its root, prose between them, and members.

Problem.  Some mistakes are of whole members or values: a name that an object has twice, a draft before
the answer, a member that no schema knows.  Byte by byte they are dear, and no pattern finds where they
end.
Example.  ``Draft: {"a": 1} Final: {"a": 2, "a": 3}`` has two values and two pieces of prose at its
root, and the second value two members of one name.  The rewrites drop the first value, either piece of
prose, or the member ``"a": 2,``.
How.  One pass over strings, brackets, commas and colons, with a stack.  A bracket that closes nothing
is passed over; what is open at the end ends there.
Cost.  Linear in the text.
Not taken.  To decide here which value is the one that was meant: the search knows which fits the
constraint.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from tokamata.repair.costs import FoundRewrite
from tokamata.repair.dialects.modes import INVENTED, TEXT
from tokamata.repair.words import Words

__all__ = ["outline"]

_TOKENS = (
    rb'"(?:[^"\\]|\\.)%(any)b"(?=\s*[,:}\]])|"[^"\\\n]{1,500}(?=,\s*"[\w $.-]{1,60}"\s*:)'
    rb'|"(?:[^"\\\n]|\\.)%(any)b"|"[^"\n]*\Z'
    rb"|'(?:[^'\\\n]|\\.)%(any)b'(?=\s*[,:}\])])|[\[\]{}(),:]|(?<!:)//[^\n]*|/\*"
    rb"|<(?:think|thinking|reasoning|reflection|scratchpad|thought|analysis)>|[\w$.+-]+|[^\s`;]"
)
_TOKEN = re.compile(_TOKENS % {b"any": b"*"})
# Of escaped quotes alone, each is read to the end of the text.  With so many of them, strings are bounded.
_MOST_ESCAPED = 3000
_BOUNDED_TOKEN = re.compile(_TOKENS % {b"any": b"{0,500}"})
_TUPLE = re.compile(rb"\((?:[^\n]*\)\s*(?:\n|\Z)|\s*\n)")
_AFTERWORD = re.compile(rb"\s*(?:```\s*|\n\s*)(?:[^\W\d][^\"{}\[\]:]*)?")
_MEMBERS = re.compile(
    rb"\A[\s,}\]]*(?:\"[^\"\n]*\"|'[^'\n]*')\s*[:\"']"
    rb"|\A[\s,}\]]*[A-Za-z_$][\w$]*:[ \t]*[^\s*`]|[\"'][\w $.-]+[\"']\s*:\s*\Z"
)
_FENCE_END = re.compile(rb"\n\s*```\s*(?:[^\W\d][^\"{}\[\]]*)?\Z")
_BULLETS = re.compile(rb"(?m)^[ \t]*(?:[-*]|\d{1,3}[.)])[ \t]+\S")
_MARK = re.compile(rb",|(?:(?s:.*)\n)?\s*(?:[-*]|\d{1,3}[.)])")
_COMMENT = re.compile(rb"/\*(?s:.{0,2000}?)\*/|(?<!:)//[^\n]*")
_THOUGHT_END = re.compile(rb"\A(?s:.*)</(?:think|thinking|reasoning|reflection|scratchpad|thought|analysis)>")
_NAME = re.compile(rb"[\"']?[\w $.-]{1,60}[\"']?\s*:")
_UNFINISHED_MEMBER = re.compile(rb"[\"']?[^\"'\n:]*[\"']?\s*:?\s*")
# In prose, such as ``[see above]``; and in a list of numbers only, which may be an answer.
_ASIDE = re.compile(
    rb"[\[{(](?:[^\"':\[\]{}]|(?<=\d):(?=\d)|[\[{][^\"':\[\]{}]{0,100}[\]}]){1,200}[\]})]"
)
_NUMBERS = re.compile(rb"\[(?:[\d\s.,eE+-]|true|false|null)*\]")
_CLOSING = {b"{": b"}", b"[": b"]", b"(": b")"}
_MOST_ITEMS = 20_000
_MOST_QUOTED = 4000

_REPEATED = 30  # a member whose name comes again
_MEMBER, _ELEMENT, _BY_BYTE = 3000, 3400, 12  # one that is whole, and more for each byte
_BROKEN, _BY_BROKEN_BYTE = 6500, 60  # one that is not
_ALL, _ALL_BROKEN = 2000, 15_000  # more for all that there is
_DIGITS = 400
_UNFINISHED, _UNFINISHED_VALUE, _UNFINISHED_BRACKET = 20, 35, 150  # what the end of the text has cut off
_VALUE, _SHORT_VALUE, _IN_PROSE = 900, 300, 500  # a value at the root
_LATER, _MUCH_LATER, _LATER_SHORT = 1200, 300, 600  # more for any but the first, and for each before it
_CUT_OFF = 850  # the last one of several, if the end of the text has cut it off within a text or after a colon
_SHORT = 6  # bytes of what is hardly a value, such as ``[1]`` in prose
_PROSE, _BULLETS_IN_PROSE, _MEMBERS_IN_PROSE, _THOUGHT = 250, 1000, 4000, 20
_LISTED, _LISTED_LINES, _LISTED_BY_COMMAS = 2000, 700, 300  # values at the root that become a list
_MADE_UP = 1200
_AS_TEXT = 4600
_SINGLE = 700  # of a value that becomes the only element of a list
_NULL = 30  # rather than any value that is written byte by byte


@dataclass
class _Item:
    begin: int
    end: int = -1
    comma: int = -1  # after it
    name: bytes | None = None
    values: int = 0  # tokens and brackets at its level, after the colon
    is_broken: bool = False

    def seems_whole(self, is_member: bool) -> bool:
        return not self.is_broken and self.values == 1 and (self.name is not None or not is_member)


@dataclass
class _Open:
    bracket: bytes
    begin: int
    items: list[_Item] = field(default_factory=list)
    item: _Item | None = None

    def at(self, position: int) -> _Item:
        if self.item is None:
            self.item = _Item(position)
        return self.item


def outline(text: bytes, words: Words | None) -> Iterator[FoundRewrite]:
    """The rewrites of whole values, members and pieces of prose."""
    stack: list[_Open] = []
    roots: list[tuple[int, int]] = []
    begin = 0
    thought = _THOUGHT_END.match(text)
    if thought is not None:
        yield _dropped("drop a thought", 0, thought.end(), _THOUGHT)
        begin = thought.end()
    last, last_begin, last_end, unmatched = b"", begin, begin, 0
    end_before = begin
    has_schema = words is not None and not words.is_empty
    names = words.few_names if words is not None else ()
    for match, is_thought in _tokens(text, begin):
        token, kind = match[0], match[0][:1]
        top = stack[-1] if stack else None
        if is_thought:
            end = text.index(b"</" + token[1:], match.end()) + len(token) + 1
            yield _dropped("drop a thought", match.start(), end, _THOUGHT)
            continue
        if token in _CLOSING:
            if top is not None:
                top.at(match.start()).values += 1
            if top is not None or kind != b"(" or _is_tuple(text, match.start()):
                stack.append(_Open(token, match.start()))
        elif token in (b"}", b"]", b")"):
            if top is None:
                unmatched = match.end()
            elif _CLOSING[top.bracket] == token:
                if token == b"}" and names:
                    yield from _made_up(match.start(), top, names)
                    if words is not None and words.has_null:
                        yield _null(match.start())
                yield from _closed(stack.pop(), last_end)
                is_object = top.bracket == b"{"
                if stack and not all(item.seems_whole(is_object) for item in top.items):
                    stack[-1].at(top.begin).is_broken = True
                if not stack:
                    roots.append((top.begin, match.end()))
                elif has_schema and match.end() - top.begin <= _MOST_QUOTED:
                    yield FoundRewrite("single value as a list", top.begin, top.begin, b"[", _SINGLE, (TEXT,))
                    yield FoundRewrite("single value as a list", match.end(), match.end(), b"]", 5, (TEXT,))
                    yield _as_text(text, top.begin, match.end(), _AS_TEXT)
        elif top is None or token[:2] == b"//":
            continue
        elif token == b",":
            if top.item is not None:
                top.item.end, top.item.comma = last_end, match.start()
                top.items.append(top.item)
                top.item = None
        elif token == b":":
            item = top.at(match.start())
            if top.bracket == b"{" and item.name is not None and item.values == 2 and text[last_begin] in b"\"'":
                item.values, item.end = 1, end_before  # a comma is lost
                top.items.append(item)
                item = top.item = _Item(last_begin)
            if top.bracket == b"{" and item.name is None:
                item.name, item.values = last, 0
        else:
            item = top.at(match.start())
            item.values += 1
            item.is_broken |= not (kind in b"\"'" and len(token) > 1) and not (
                kind.isalnum() or kind in b"_$-+."
            )
            last, last_begin, end_before = token.strip(b"\"'"), match.start(), last_end
        last_end = match.end()
    is_cut_off = False
    if stack:
        is_cut_off = text.rstrip().endswith((b":", b",")) or text[last_begin:].count(b'"') == 1
        roots.append((stack[0].begin, len(text)))
        yield from _cut_off(text, stack)
        tail = max(text.rfind(b"}"), text.rfind(b"]")) + 1
        fence = _FENCE_END.search(text, tail)
        if fence is not None:
            yield _dropped("drop prose", fence.start(), len(text), _PROSE)
        elif _AFTERWORD.fullmatch(text, tail):
            yield _dropped("drop prose", tail, len(text), _PROSE)
    is_last = unmatched > max((end for _, end in roots), default=0) and not stack
    if is_last and text[unmatched:].strip():
        yield _dropped("drop prose", unmatched, len(text), _prose(text[unmatched:]))
    yield from _root(text, begin, roots, is_cut_off)
    if words is None or words.has_null:
        yield FoundRewrite("null for a missing value", len(text), len(text), b"null", _NULL, (TEXT,))


def _tokens(text: bytes, begin: int) -> Iterator[tuple[re.Match[bytes], bool]]:
    """Each token, and whether it opens a thought; what stands in thoughts and comments is left out."""
    position = begin
    endless = set[bytes]()  # what closes nothing from here on
    escaped = text.count(rb"\"") + text.count(rb"\'")
    token_pattern = _TOKEN if escaped < _MOST_ESCAPED else _BOUNDED_TOKEN
    for match in token_pattern.finditer(text, begin):
        if match.start() < position:
            continue
        token = match[0]
        is_thought = token[:1] == b"<" and len(token) > 1
        if is_thought or token == b"/*":
            closing = b"</" + token[1:] if is_thought else b"*/"
            end = -1 if closing in endless else text.find(closing, match.end())
            if end < 0:
                endless.add(closing)
                continue
            position = end + len(closing)
            if not is_thought:
                continue
        yield match, is_thought


def _is_tuple(text: bytes, position: int) -> bool:
    """Whether parentheses fill a line."""
    before = text[text.rfind(b"\n", max(position - 200, 0), position) + 1 : position]
    return not before.strip() and _TUPLE.match(text, position) is not None


def _closed(one: _Open, end: int) -> Iterator[FoundRewrite]:
    """Members that may be dropped."""
    if one.item is not None:
        one.item.end = end
        one.items.append(one.item)
    if len(one.items) > _MOST_ITEMS:
        return
    is_object = one.bracket == b"{"
    last = {item.name: number for number, item in enumerate(one.items)}
    for number, item in enumerate(one.items):
        name, length = "drop a member" if is_object else "drop an element", min(item.end - item.begin, 500)
        if item.name is not None and item.seems_whole(is_object) and last[item.name] != number:
            name, cost = "drop a repeated member", _REPEATED
        elif item.seems_whole(is_object):
            cost = (_MEMBER if is_object else _ELEMENT) + _BY_BYTE * length
        else:
            cost = _BROKEN + _BY_BROKEN_BYTE * length
        if len(one.items) == 1:
            cost += _ALL if item.seems_whole(is_object) else _ALL_BROKEN
        if item.comma >= 0:
            yield _dropped(name, item.begin, item.comma + 1, cost)
        elif number < len(one.items) - 1:
            yield _dropped(name, item.begin, one.items[number + 1].begin, cost)
        if number == len(one.items) - 1:
            begin = one.items[number - 1].comma if number > 0 else -1
            yield _dropped(name, begin if begin >= 0 else item.begin, item.end, cost)


def _cut_off(text: bytes, stack: list[_Open]) -> Iterator[FoundRewrite]:
    """What the end of the text has left unfinished: a name without a value, a bracket with nothing in it."""
    end = len(text)
    if not text.rstrip().endswith((b"}", b"]")):
        yield from _unfinished(text, stack)
    for one in stack:
        yield from _closed(one, end)


def _unfinished(text: bytes, stack: list[_Open]) -> Iterator[FoundRewrite]:
    top, end = stack[-1], len(text)
    if top.item is not None and top.bracket == b"{" and _UNFINISHED_MEMBER.fullmatch(text, top.item.begin):
        begin = top.items[-1].comma if top.items else top.item.begin
        cost = _UNFINISHED_VALUE if top.item.name is not None else _UNFINISHED
        if top.item.name is None and text[top.item.begin : top.item.begin + 1].isdigit():
            cost = _DIGITS  # rather of the number before it
        yield _dropped("drop an unfinished member", begin, end, cost)
    if top.item is None and not top.items and len(stack) > 1:
        outer = stack[-2]
        if outer.items and outer.item is not None:
            yield _dropped("drop an unfinished value", outer.items[-1].comma, end, _UNFINISHED_BRACKET)


def _root(text: bytes, begin: int, roots: list[tuple[int, int]], is_cut_off: bool) -> Iterator[FoundRewrite]:
    """Values at the root and what stands between them."""
    if not roots:
        return
    position = begin
    are_alone = True
    for number, (first, end) in enumerate(roots):
        between = _COMMENT.sub(b"", text[position:first]).strip()
        if between:
            yield _dropped("drop prose", position, first, _prose(between))
            are_alone = are_alone and _MARK.fullmatch(between) is not None
        if len(roots) > 1:
            yield _dropped("drop a value", first, end, _of_value(text, first, end, number))
            if is_cut_off and number == len(roots) - 1 and not between:
                yield _dropped("drop a value", first, end, _CUT_OFF)
        position = end
    if text[position:].strip():
        yield _dropped("drop prose", position, len(text), _prose(text[position:]))
        are_alone = are_alone and text[position:].strip() in (b"]", b",")
    if len(roots) > 1:
        yield from _listed(text, roots, are_alone)


def _of_value(text: bytes, begin: int, end: int, number: int) -> int:
    """What it costs to drop the value at the root that so many precede."""
    if _ASIDE.fullmatch(text, begin, end) and not _NUMBERS.fullmatch(text, begin, end):
        return _IN_PROSE + number
    if end - begin <= _SHORT:
        return _SHORT_VALUE + _LATER_SHORT * min(number, 3)
    return _VALUE + _LATER * min(number, 1) + _MUCH_LATER * min(number, 3)


def _prose(text: bytes) -> int:
    if len(_BULLETS.findall(text)) > 1:
        return _BULLETS_IN_PROSE
    return _MEMBERS_IN_PROSE if _MEMBERS.search(text) else _PROSE


def _listed(text: bytes, roots: list[tuple[int, int]], are_alone: bool) -> Iterator[FoundRewrite]:
    """Several values as a list."""
    is_by_line = all(b"\n" in text[one[1] : other[0]] for one, other in itertools.pairwise(roots))
    is_by_comma = all(
        b"," in _COMMENT.sub(b"", text[one[1] : other[0]]) for one, other in itertools.pairwise(roots)
    )
    cost = (
        _LISTED
        if not are_alone
        else _LISTED_BY_COMMAS
        if is_by_comma
        else _LISTED_LINES
        if is_by_line
        else _LISTED
    )
    yield FoundRewrite("values as a list", roots[0][0], roots[0][0], b"[", cost, (TEXT,))
    for one, other in itertools.pairwise(roots):
        yield FoundRewrite("values as a list", one[1], other[0], b",", 5, (TEXT,))
    yield FoundRewrite("values as a list", roots[-1][1], roots[-1][1], b"]", 5, (TEXT,))


def _as_text(text: bytes, begin: int, end: int, cost: int) -> FoundRewrite:
    quoted = json.dumps(text[begin:end].decode("utf-8", "replace"), ensure_ascii=False).encode()
    return FoundRewrite("value as a text", begin, end, quoted, cost, (TEXT,))


def _dropped(name: str, begin: int, end: int, cost: int) -> FoundRewrite:
    return FoundRewrite(name, begin, end, b"", cost, (TEXT,))


def _null(position: int) -> FoundRewrite:
    """As the value of a member that a repair makes up."""
    name = "null for a missing value"
    return FoundRewrite(name, position, position, b"null", _NULL, (INVENTED,), INVENTED)


def _made_up(position: int, one: _Open, names: Sequence[bytes]) -> Iterator[FoundRewrite]:
    """Before a closing brace a repair may make up members that the constraint knows and the object lacks."""
    has_members = one.item is not None or bool(one.items)
    present = {item.name for item in (*one.items, one.item) if item is not None}
    for name in names:
        if name in present:
            continue
        member = b'"%b":' % name
        in_text = b"," + member if has_members else member
        yield FoundRewrite("make up a member", position, position, in_text, _MADE_UP, (TEXT,), INVENTED)
        yield FoundRewrite(
            "make up a member", position, position, b"," + member, _MADE_UP, (INVENTED,), INVENTED
        )
