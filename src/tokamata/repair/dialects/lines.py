"""Lists and members that are written line by line, as in YAML, Markdown and XML, without brackets.

Problem.  ``- a⏎- b`` is a list of two, and ``x: hello⏎y: 3`` two members.  Nothing in them is JSON.
How.  Only where a text has no brackets.  Each line is a bullet, a name with a value, or the rest of the value
before it.  Indentation says what is within what.  The rewrites write the brackets, commas and quoted names; each
value may stay as it is, or be quoted, as the constraint wants it.
Example.  ``x: hello⏎y: 3`` has the rewrites ``{"x":`` for ``x:``, ``,"y":`` for the line break and ``y:``, ``}`` at the
end, and ``"hello"`` and ``"3"`` for the values.
Cost.  Linear in the text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import NamedTuple

from tokamata.repair.costs import FoundRewrite
from tokamata.repair.dialects.modes import TEXT

__all__ = ["lines"]

_LINE = re.compile(rb"[^\n]*\n?")
_BULLET = re.compile(rb"(?:[-*+]|\xe2\x80\xa2|\d{1,3}[.)])[ \t]+")
_NAME = re.compile(
    rb"(?:\*\*|__|`|\")?([A-Za-z_\x80-\xff][\w\x80-\xff .()/-]{0,60}?)(?:\*\*|__|`|\")?[ \t]*[:=](?:\*\*)?(?:[ \t]+|(?=\r?\n|\Z))"
)
_TAG = re.compile(rb"<([A-Za-z_][\w-]*)>([^<>]*)</\1>")
_LITERAL = re.compile(rb"-?\d+(?:\.\d+)?\Z|true\Z|false\Z|null\Z|\".*\"\Z|\[.*\]\Z|\{.*\}\Z")
_BASE = 900  # of reading a text in this way at all
_MOST_BYTES = 1 << 20


class _Line(NamedTuple):
    begin: int  # of what its bullet or its name begins with
    indent: int
    is_item: bool
    name: bytes | None
    value: tuple[int, int]


def lines(text: bytes) -> Iterator[FoundRewrite]:
    """The rewrites that make JSON of bullets, of names with values, and of tags."""
    if len(text) > _MOST_BYTES or re.search(rb"^\s*[{\[]|[{\[]\s*(?:\n|[\"'{\[])", text):
        return
    yield from _tags(text)
    yield from _listed(text)
    found = list(_lines(text))
    if not found:
        return
    yield from _nested(text, found)


def _lines(text: bytes) -> Iterator[_Line]:
    for match in _LINE.finditer(text):
        line = match[0].rstrip()
        content = line.lstrip()
        if not content:
            continue
        begin = match.start() + len(line) - len(content)
        indent = begin - match.start()
        at = begin
        bullet = _BULLET.match(text, at, match.start() + len(line))
        if bullet is not None:
            at = bullet.end()
        name = _NAME.match(text, at, match.start() + len(line))
        if name is not None:
            at = name.end()
        if bullet is None and name is None:
            continue
        yield _Line(
            begin, indent, bullet is not None, name[1] if name else None, (at, match.start() + len(line))
        )


def _nested(text: bytes, found: list[_Line]) -> Iterator[FoundRewrite]:
    """Brackets by indentation."""
    stack: list[tuple[int, bytes]] = []  # indents and closing brackets
    end_of_last = 0
    for number, line in enumerate(found):
        written = b""
        while stack and line.indent < stack[-1][0]:
            written += stack.pop()[1]
        kind = b"]" if line.is_item else b"}"
        is_deeper = not stack or line.indent > stack[-1][0] or (stack[-1][1] == b"}" and line.is_item)
        if is_deeper and (not stack or not line.is_item or stack[-1] != (line.indent, b"]")):
            written += b"[" if line.is_item else b"{"
            stack.append((line.indent, kind))
        else:
            if stack[-1][1] != kind and len(stack) > 1:
                written += stack.pop()[1]
            written += b","
        if line.is_item and line.name is not None:
            written += b"{"
            stack.append((line.indent + 2, b"}"))
        if line.name is not None:
            written += json.dumps(line.name.decode("utf-8", "replace"), ensure_ascii=False).encode() + b":"
        yield FoundRewrite(
            "line as a member" if line.name else "line as an element",
            end_of_last,
            line.value[0],
            written,
            _BASE if number == 0 else 5,
            (TEXT,),
        )
        yield from _value(text, *line.value)
        end_of_last = line.value[1]
    closing = b"".join(bracket for _, bracket in reversed(stack))
    yield FoundRewrite("end of lines", end_of_last, len(text), closing, 5, (TEXT,))


def _value(text: bytes, begin: int, end: int) -> Iterator[FoundRewrite]:
    """A value as a string; what may be a literal may stay one."""
    value = text[begin:end]
    if not value:
        return
    plain = value.strip()
    if plain[:1] == plain[-1:] and plain[:1] in (b'"', b"'", b"`") and len(plain) > 1:
        plain = plain[1:-1]
    quoted = json.dumps(plain.decode("utf-8", "replace"), ensure_ascii=False).encode()
    yield FoundRewrite("quote a line", begin, end, quoted, 400 if _LITERAL.match(value) else 5, (TEXT,))


def _tags(text: bytes) -> Iterator[FoundRewrite]:
    """``<x>hello</x><y>3</y>`` as members."""
    found = list(_TAG.finditer(text))
    position = 0
    for number, match in enumerate(found):
        written = (b"{" if number == 0 else b",") + json.dumps(match[1].decode()).encode() + b":"
        yield FoundRewrite(
            "tag as a member", position, match.start(2), written, _BASE if number == 0 else 5, (TEXT,)
        )
        yield from _value(text, *match.span(2))
        position = match.end(2)
    if found:
        yield FoundRewrite("end of tags", position, len(text), b"}", 5, (TEXT,))


def _listed(text: bytes) -> Iterator[FoundRewrite]:
    """``a, b, c``, and lines without bullets, as a list."""
    for separator in (rb",", rb"\n"):
        parts = [match for match in re.finditer(rb"[^%b]+" % separator, text.rstrip()) if match[0].strip()]
        if len(parts) < 2 or len(parts) > 10_000:
            continue
        end = 0
        for number, match in enumerate(parts):
            begin = match.start() + len(match[0]) - len(match[0].lstrip())
            stop = match.start() + len(match[0].rstrip())
            yield (
                FoundRewrite(
                    "list without brackets",
                    end,
                    begin,
                    b"[" if number == 0 else b",",
                    _BASE + 300 if number == 0 else 5,
                    (TEXT,),
                )
                if begin > end or number == 0
                else FoundRewrite("list without brackets", end, begin, b",", 5, (TEXT,))
            )
            yield from _value(text, begin, stop)
            end = stop
        yield FoundRewrite("end of a list", end, len(text), b"]", 5, (TEXT,))
