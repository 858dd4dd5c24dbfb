"""What a broken text consists of, by its brackets: values at its root, prose between them, and members.

Problem.  Some mistakes are of whole members or values: a name that an object has twice, a draft before the
answer, a member that no schema knows.  Byte by byte they are dear, and no pattern finds where they end.
Example.  ``Draft: {"a": 1} Final: {"a": 2, "a": 3}`` has two values and two pieces of prose at its root, and the
second value two members of one name.  The rewrites drop the first value, either piece of prose, or the member
``"a": 2,``.
How.  One pass over strings, brackets, commas and colons, with a stack.  A bracket that closes nothing is passed
over; what is open at the end ends there.
Cost.  Linear in the text.
Not taken.  To decide here which value is the one that was meant: the search knows which fits the constraint.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from tokamata.repair.costs import FoundRewrite
from tokamata.repair.dialects.modes import INVENTED, TEXT

__all__ = ["outline"]

_TOKEN = re.compile(
    rb'"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'(?=\s*[,:}\])])|[\[\]{}(),:]|//[^\n]*|/\*(?s:.*?)\*/'
    rb"|<(think|thinking|reasoning|reflection|scratchpad)>(?s:.*?)</\1>|[\w$.-]+"
)
_THOUGHT_END = re.compile(rb"\A(?s:.*)</(?:think|thinking|reasoning|reflection|scratchpad)>")
_CLOSING = {b"{": b"}", b"[": b"]", b"(": b")"}
_MOST_MEMBERS = 20_000

# Of the name that comes again; of the earlier of several values; of a piece of prose.
_REPEATED, _MEMBER, _ELEMENT, _VALUE, _PROSE, _THOUGHT, _MADE_UP = 30, 2300, 2900, 900, 250, 20, 2500
_LATER = 60  # a later value is dearer to drop than an earlier one


@dataclass
class _Item:
    begin: int
    end: int = -1
    comma: int = -1  # after it
    name: bytes | None = None


@dataclass
class _Open:
    bracket: bytes
    begin: int
    items: list[_Item] = field(default_factory=list)
    item: _Item | None = None


def outline(text: bytes) -> Iterator[FoundRewrite]:
    """The rewrites of whole values, members and pieces of prose."""
    stack: list[_Open] = []
    roots: list[tuple[int, int]] = []
    begin = 0
    thought = _THOUGHT_END.match(text)
    if thought is not None:
        yield _dropped("drop a thought", 0, thought.end(), _THOUGHT)
        begin = thought.end()
    last, last_end = b"", begin
    for match in _TOKEN.finditer(text, begin):
        token = match[0]
        top = stack[-1] if stack else None
        if match[1] is not None:
            yield _dropped("drop a thought", *match.span(), _THOUGHT)
            continue
        if token in _CLOSING:
            if top is not None and top.item is None:
                top.item = _Item(match.start())
            stack.append(_Open(token, match.start()))
        elif token in (b"}", b"]", b")"):
            if top is not None and _CLOSING[top.bracket] == token:
                if token == b"}":
                    yield _made_up(match.start(), bool(top.item or top.items))
                yield from _closed(text, stack.pop(), last_end)
                if not stack:
                    roots.append((top.begin, match.end()))
        elif top is None:
            pass
        elif token == b",":
            if top.item is not None:
                top.item.end, top.item.comma = last_end, match.start()
                top.items.append(top.item)
                top.item = None
        elif token == b":":
            if top.item is not None and top.bracket == b"{" and top.item.name is None:
                top.item.name = last
        elif token[:2] not in (b"//", b"/*"):
            if top.item is None:
                top.item = _Item(match.start())
            last = token.strip(b"\"'")
        last_end = match.end()
    if stack:
        roots.append((stack[0].begin, len(text)))
        while stack:
            yield from _closed(text, stack.pop(), last_end)
    yield from _root(text, begin, roots)


def _closed(text: bytes, one: _Open, end: int) -> Iterator[FoundRewrite]:
    """Members that may be dropped."""
    if one.item is not None:
        one.item.end = end
        one.items.append(one.item)
    if len(one.items) > _MOST_MEMBERS:
        return
    last = {item.name: number for number, item in enumerate(one.items)}
    for number, item in enumerate(one.items):
        is_repeated = item.name is not None and last[item.name] != number
        is_member = one.bracket == b"{"
        name = (
            "drop a repeated member" if is_repeated else "drop a member" if is_member else "drop an element"
        )
        cost = _REPEATED if is_repeated else _MEMBER if is_member else _ELEMENT
        if item.comma >= 0:
            yield _dropped(name, item.begin, item.comma + 1, cost)
        elif number > 0:
            yield _dropped(name, one.items[number - 1].comma, item.end, cost)
        else:
            yield _dropped(name, item.begin, item.end, cost)


def _root(text: bytes, begin: int, roots: list[tuple[int, int]]) -> Iterator[FoundRewrite]:
    """Values at the root and what stands between them."""
    if not roots:
        return
    position = begin
    for number, (first, end) in enumerate(roots):
        if text[position:first].strip():
            yield _dropped("drop prose", position, first, _PROSE)
        if len(roots) > 1:
            yield _dropped("drop a value", first, end, _VALUE + _LATER * min(number, 10))
        position = end
    if text[position:].strip():
        yield _dropped("drop prose", position, len(text), _PROSE)


def _dropped(name: str, begin: int, end: int, cost: int) -> FoundRewrite:
    return FoundRewrite(name, begin, end, b"", cost, (TEXT,))


def _made_up(position: int, has_members: bool) -> FoundRewrite:
    """A repair may make up members before a closing brace."""
    return FoundRewrite(
        "make up members", position, position, b"," if has_members else b"", _MADE_UP, (TEXT,), INVENTED
    )
