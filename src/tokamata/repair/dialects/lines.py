"""Lists and members that are written line by line, as in YAML, Markdown and XML, without brackets.

Problem.  ``- a⏎- b`` is a list of two, and ``x: hello⏎y: 3`` two members.  Nothing in them is JSON.
How.  Only where a text has no brackets of JSON.  Each line is a bullet, a name with a value, or both,
and indentation says what is within what.  The rewrites write the brackets, commas and quoted names;
each value may stay as it is, or be quoted, as the constraint wants it.  A text may be read in several
such ways, all of which are offered: with bullets as elements or as marks before names, as a list of
words, as a text.
Example.  ``x: hello⏎y: 3`` has the rewrites ``{"x":`` for ``x:``, ``,"y":`` for the line break and
``y:``, ``}`` at the end, and ``"hello"`` and ``"3"`` for the values.
Cost.  Linear in the text, and in its square for tags within tags; so the clock is read between steps.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Generator, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from tokamata.repair.costs import FoundRewrite
from tokamata.repair.dialects.modes import TEXT
from tokamata.repair.words import Words

__all__ = ["lines"]

_JSON = re.compile(
    rb"(?m)\{\s*[A-Za-z_$][\w$]*\s*:|^[^\S\n]*(?:[{\[]|\((?!\d+\)))|[{\[]\s*\\?(?:\n|[\"'{\[])|[\"']\s*:"
    rb"|\w ?\([{\[\"']|\w\([A-Za-z_]\w*=|[\w\"'][}\]]\s*\Z"
)
_LINE = re.compile(rb"[^\n]*\n?")
_BULLET = re.compile(rb"(?:[-*+]|\xe2\x80[\xa2\x93\x94]|#\d{1,3}|\d{1,3}[.)]|\(\d{1,3}\))[ \t]+")
_NAME = re.compile(
    rb"(?:\*\*|__|`|\")?([A-Za-z_\x80-\xff][\w\x80-\xff .()/-]{0,60}?)(?:\*\*|__|`|\")?"
    rb"[ \t]*[:=](?:\*\*)?(?:[ \t]+|(?=\r?\n|\Z))"
)
_TAG = re.compile(rb"<(/?)([A-Za-z_][\w-]*)(?:(?:=|\s+name=)[\"']?([\w.-]+)[\"']?)?>")
_ATTRIBUTE = re.compile(rb"(?<![\w-])[\d-]*([A-Za-z_][\w-]*)\s*=\s*(?:\"([^\"<>]*)\"|'([^'<>]*)')")
_ROW = re.compile(rb"(?m)^[ \t]*\|(.*)\|[ \t]*$")
_LITERAL = re.compile(rb"-?\d+(?:\.\d+)?\Z|true\Z|false\Z|null\Z|\".*\"\Z|\[.*\]\Z|\{.*\}\Z")
_ALONE = re.compile(rb"(?<![\w.\"'-])(?:-?\d+(?:\.\d+)?|true|false|null|True|False|None)(?![\w\"'-]|\.\d)")
_BASE = 900  # of reading a text in one of these ways
_AS_LIST, _AS_TEXT, _ONE_VALUE, _ONE_WORD, _SEVERAL_WORDS = 1200, 2500, 2600, 900, 1500
_AS_TEXT_OF_JSON, _BY_BYTE = 8000, 10  # and for each byte
_IN_QUOTES = 900  # of all of a text that stands in quotes
_ONE_LINE = 2600  # of one name with a value, which may be prose
_LONGEST_TEXT = 1 << 20  # bytes that are read line by line
_MOST_PARTS = 10_000  # of a list without brackets
_MOST_PROSE = 1 << 18  # where a word is looked for; the clock is not read meanwhile
_STEPS_OF_A_CHECK = 1000  # between two readings of the clock


class _Line(NamedTuple):
    begin: int  # of what its bullet or its name begins with
    indent: int
    is_item: bool
    name: bytes | None
    value: tuple[int, int]


def lines(text: bytes, words: Words | None) -> Iterator[FoundRewrite | None]:
    """The rewrites that make JSON of bullets, of names with values, of tags, tables and lists of words."""
    if len(text) > _LONGEST_TEXT or not text.strip():
        return
    if text.lstrip().startswith(b"<"):
        yield from _tags(text, words)
    if _JSON.search(text):
        cost = _AS_TEXT_OF_JSON + _BY_BYTE * len(text)
        yield FoundRewrite("text as a string", 0, len(text), _quoted(text), cost, (TEXT,))
        return
    yield FoundRewrite("text as a string", 0, len(text), _quoted(text), _AS_TEXT, (TEXT,))
    plain = text.strip()
    if plain.endswith(b'"') and len(plain) > 1:
        is_quoted = plain.startswith(b'"')
        content = plain[1 if is_quoted else 0 : -1].replace(b'\\"', b'"')
        cost = _IN_QUOTES if is_quoted else _AS_TEXT - 100
        yield FoundRewrite("text as a string", 0, len(text), _quoted(content), cost, (TEXT,))
    if not text.lstrip().startswith(b"<"):
        yield from _tags(text, words)
    yield from _table(text, words)
    yield from _listed(text)
    yield from _alone(text, words)
    found = yield from _lines(text)
    for reading in _readings(found):
        yield from _nested(text, reading, words)


def _lines(text: bytes) -> Generator[None, None, list[_Line]]:
    found = []
    for number, match in enumerate(_LINE.finditer(text), 1):
        if number % _STEPS_OF_A_CHECK == 0:
            yield None
        line = match[0].rstrip()
        content = line.lstrip()
        if not content:
            continue
        begin = match.start() + len(line) - len(content)
        at, end = begin, match.start() + len(line)
        bullet = _BULLET.match(text, at, end)
        if bullet is not None:
            at = bullet.end()
        name = _NAME.match(text, at, end)
        if name is not None:
            at = name.end()
            if text[end - 1 : end] == b"," and _LITERAL.match(text[at : end - 1]):
                end -= 1  # as in an object that has lost its brackets
        if bullet is not None or name is not None:
            is_item, written = bullet is not None, name[1] if name else None
            found.append(_Line(begin, begin - match.start(), is_item, written, (at, end)))
    return found


def _readings(found: list[_Line]) -> Iterator[list[_Line]]:
    """The lines; bullets alone, as elements; lines with names alone, without their bullets."""
    if not found:
        return
    yield found
    items = [line for line in found if line.is_item]
    names = [line for line in found if line.name is not None]
    if items and names:
        yield [_element(line) for line in items]
    if any(line.is_item or line.value[0] == line.value[1] for line in names):
        # Bullets are marks, and a title has no value.
        named = [line for line in names if line.value[0] < line.value[1]]
        if named and len({line.name for line in named}) == len(named):
            yield [line._replace(is_item=False, indent=0) for line in named]


def _element(line: _Line) -> _Line:
    """What follows the bullet, whole."""
    return line._replace(name=None, value=(line.begin + 2, line.value[1])) if line.name is not None else line


def _nested(text: bytes, found: list[_Line], words: Words | None) -> Iterator[FoundRewrite]:
    """Brackets by indentation."""
    stack: list[tuple[int, bytes]] = []  # indents and closing brackets
    end_of_last = 0
    for number, line in enumerate(found):
        written = b""
        while stack and line.indent < stack[-1][0]:
            written += stack.pop()[1]
        kind = b"]" if line.is_item else b"}"
        is_deeper = not stack or line.indent > stack[-1][0] or (stack[-1][1] == b"}" and line.is_item)
        if is_deeper:
            written += b"[" if line.is_item else b"{"
            stack.append((line.indent, kind))
        else:
            if stack[-1][1] != kind and len(stack) > 1:
                written += stack.pop()[1]
            written += b","
        if line.is_item and line.name is not None:
            written += b"{"
            stack.append((line.indent + 2, b"}"))
        name = "line as a member" if line.name else "line as an element"
        for words_of_name, dearer in _names(line.name, words):
            cost = (_ONE_LINE if len(found) == 1 and line.name else _BASE if number == 0 else 5) + dearer
            yield FoundRewrite(name, end_of_last, line.value[0], written + words_of_name, cost, (TEXT,))
        yield from _value(text, *line.value, words)
        end_of_last = line.value[1]
    closing = b"".join(bracket for _, bracket in reversed(stack))
    yield FoundRewrite("end of lines", end_of_last, len(text), closing, 5, (TEXT,))


def _names(name: bytes | None, words: Words | None) -> Iterator[tuple[bytes, int]]:
    """A name as JSON has it; and the names of the constraint that are near."""
    if name is None:
        yield b"", 0
        return
    plain = name.decode("utf-8", "replace").strip()
    yield json.dumps(plain, ensure_ascii=False).encode() + b":", 0
    for known in words.near_names(plain) if words is not None else ():
        yield json.dumps(known, ensure_ascii=False).encode() + b":", 10


def _quoted(text: bytes) -> bytes:
    return json.dumps(text.decode("utf-8", "replace"), ensure_ascii=False).encode()


def _value(text: bytes, begin: int, end: int, words: Words | None = None) -> Iterator[FoundRewrite]:
    """A value as a string; what may be a literal may stay one."""
    value = text[begin:end]
    if not value:
        return
    plain = value.strip()
    for mark in (b"**", b"`", b'"', b"'"):
        if len(plain) > 2 * len(mark) and plain.startswith(mark) and plain.endswith(mark):
            plain = plain[len(mark) : -len(mark)]
            break
    yield FoundRewrite(
        "quote a line", begin, end, _quoted(plain), 400 if _LITERAL.match(value) else 5, (TEXT,)
    )
    for known in words.near_values(plain.decode("utf-8", "replace")) if words is not None else ():
        yield FoundRewrite("word of the constraint", begin, end, known, 100, (TEXT,))
    if b"," in plain and not _LITERAL.match(value):
        listed = b"[" + b",".join(_quoted(part.strip()) for part in plain.split(b",")) + b"]"
        yield FoundRewrite("list without brackets", begin, end, listed, 300, (TEXT,))
    if plain != value and _LITERAL.match(plain):
        yield FoundRewrite("drop marks", begin, end, plain, 5, (TEXT,))


def _tags(text: bytes, words: Words | None) -> Iterator[FoundRewrite | None]:
    """``<x>hello</x><y>3</y>`` as members, and ``<person x="hello" y="3"/>``."""
    if b"<" not in text:
        return
    root: _Tag | None = yield from _tree(text)
    is_tree = False
    while root is not None and root.children:
        is_tree = True
        yield from _element_tree(text, root, 0, words, _BASE)
        inner = [child for child in root.children if child.children]
        root = inner[0] if len(inner) == 1 else None
    if is_tree:
        return
    found = list(_ATTRIBUTE.finditer(text))
    position = 0
    for number, match in enumerate(found):
        place = 2 if match[2] is not None else 3
        for name, dearer in _names(match[1], words):
            written = (b"{" if number == 0 else b",") + name
            cost = (_BASE if number == 0 else 5) + dearer
            yield FoundRewrite("tag as a member", position, match.start(place), written, cost, (TEXT,))
        yield from _value(text, *match.span(place), words)
        position = match.end(place)
    if found:
        yield FoundRewrite("end of tags", position, len(text), b"}", 5, (TEXT,))


@dataclass
class _Tag:
    name: bytes
    kind: bytes  # what closes it
    begin: int  # of its content
    end: int = -1
    children: list[_Tag] = field(default_factory=list)


def _tree(text: bytes) -> Generator[None, None, _Tag]:
    """The elements that are closed."""
    open_ = [_Tag(b"", b"", 0)]
    steps = 0
    for match in itertools.chain(_TAG.finditer(text), [None]):  # at the end all elements are left
        steps += 1
        if steps > _STEPS_OF_A_CHECK:
            yield None
            steps = 0
        if match is not None and not match[1]:
            open_.append(_Tag(match[3] or match[2], match[2], match.end()))
        while len(open_) > 1 and (match is None or match[1]):
            tag = open_.pop()
            if match is not None and tag.kind == match[2]:
                tag.end = match.start()
                open_[-1].children.append(tag)
                break
            open_[-1].children += tag.children
            steps += len(tag.children) + 1
            if steps > _STEPS_OF_A_CHECK:
                yield None
                steps = 0
    return open_[0]


def _element_tree(
    text: bytes, root: _Tag, position: int, words: Words | None, base: int
) -> Iterator[FoundRewrite | None]:
    """An element with others in it, from a position to the end of the text or of its parent."""
    stack = [(root, iter(root.children), True)]
    names = [child.name for child in root.children]
    is_list = len(set(names)) < len(names)
    brackets = [b"]" if is_list else b"}"]
    pending = b"[" if is_list else b"{"
    steps = 0
    while stack:
        steps += 1
        if steps % _STEPS_OF_A_CHECK == 0:
            yield None
        tag, children, is_first = stack[-1]
        child = next(children, None)
        if child is None:
            stack.pop()
            pending += brackets.pop()
            continue
        stack[-1] = (tag, children, False)
        inner = [one.name for one in child.children]
        opening = b"" if not inner else b"[" if len(set(inner)) < len(inner) else b"{"
        before = pending if is_first else pending + b","
        is_member = brackets[-1] == b"}"
        for name, dearer in _names(child.name if is_member else None, words):
            cost = (base if position == 0 else 5) + dearer
            if not inner:
                yield FoundRewrite("tag as a member", position, child.begin, before + name, cost, (TEXT,))
        if inner:
            name = next(_names(child.name if is_member else None, words))[0]
            pending = before + name + opening
            brackets.append(b"]" if opening == b"[" else b"}")
            stack.append((child, iter(child.children), True))
            continue
        yield from _value(text, child.begin, child.end, words)
        position, pending = child.end, b""
    yield FoundRewrite("end of tags", position, len(text), pending, 5, (TEXT,))


def _table(text: bytes, words: Words | None) -> Iterator[FoundRewrite]:
    """Rows of a table of Markdown as objects: the first row has the names."""
    rows = [match for match in _ROW.finditer(text) if not re.fullmatch(rb"[\s|:-]*", match[1])]
    if len(rows) < 2:
        return
    names = [cell[0].strip() for cell in re.finditer(rb"[^|]+", rows[0][1])]
    if len(names) == 2:
        yield from _table_of_members(text, rows[1:], words)
    position = 0
    for number, row in enumerate(rows[1:]):
        cells = list(re.finditer(rb"[^|]+", row[1]))
        if len(cells) != len(names):
            return
        for column, (cell, name) in enumerate(zip(cells, names, strict=True)):
            content = cell[0]
            begin = row.start(1) + cell.start() + len(content) - len(content.lstrip())
            end = row.start(1) + cell.start() + len(content.rstrip())
            for written, dearer in _names(name, words):
                if column > 0:
                    yield FoundRewrite(
                        "cell as a member", position, begin, b"," + written, 5 + dearer, (TEXT,)
                    )
                elif number > 0:
                    yield FoundRewrite(
                        "row as an object", position, begin, b"},{" + written, 5 + dearer, (TEXT,)
                    )
                else:
                    for bracket in (b"[{", b"{"):
                        cost = _BASE + dearer
                        yield FoundRewrite("row as an object", 0, begin, bracket + written, cost, (TEXT,))
            yield from _value(text, begin, end, words)
            position = end
    for closing in (b"}]", b"}"):
        yield FoundRewrite("end of a table", position, len(text), closing, 5, (TEXT,))


def _table_of_members(
    text: bytes, rows: list[re.Match[bytes]], words: Words | None
) -> Iterator[FoundRewrite]:
    """Rows of names and values."""
    position = 0
    for number, row in enumerate(rows):
        cells = list(re.finditer(rb"[^|]+", row[1]))
        if len(cells) != 2:
            return
        content = cells[1][0]
        begin = row.start(1) + cells[1].start() + len(content) - len(content.lstrip())
        for written, dearer in _names(cells[0][0].strip(), words):
            opening = b"{" if number == 0 else b","
            cost = (_BASE if number == 0 else 5) + dearer
            yield FoundRewrite("row as a member", position, begin, opening + written, cost, (TEXT,))
        position = row.start(1) + cells[1].start() + len(content.rstrip())
        yield from _value(text, begin, position, words)
    yield FoundRewrite("end of a table", position, len(text), b"}", 5, (TEXT,))


def _listed(text: bytes) -> Iterator[FoundRewrite]:
    """``a, b, c``, and lines without bullets, as a list."""
    for separator in (rb",", rb"\n"):
        found = (match for match in re.finditer(rb"[^%b]+" % separator, text.rstrip()) if match[0].strip())
        parts = list(itertools.islice(found, _MOST_PARTS + 1))
        if len(parts) < 2 or len(parts) > _MOST_PARTS:
            continue
        end = 0
        for number, match in enumerate(parts):
            begin = match.start() + len(match[0]) - len(match[0].lstrip())
            written, cost = (b"[", _AS_LIST) if number == 0 else (b",", 5)
            yield FoundRewrite("list without brackets", end, begin, written, cost, (TEXT,))
            end = match.start() + len(match[0].rstrip().rstrip(b",").rstrip())
            yield from _value(text, begin, end)
        yield FoundRewrite("end of a list", end, len(text), b"]", 5, (TEXT,))


def _alone(text: bytes, words: Words | None) -> Iterator[FoundRewrite]:
    """The last number or literal of some prose, and the one word of the constraint that it has."""
    found = list(_ALONE.finditer(text))
    if found:
        value = found[0 if found[0].start() == 0 else -1][0]
        written = {b"True": b"true", b"False": b"false", b"None": b"null"}.get(value, value)
        yield FoundRewrite("value within prose", 0, len(text), written, _ONE_VALUE, (TEXT,))
    if words is None or words.is_empty or len(text) > _MOST_PROSE:
        return
    prose = text.decode("utf-8", "replace")
    only = words.only_value_in(prose)
    for word in only or words.first_value_of(prose):
        cost = _ONE_WORD if only else _SEVERAL_WORDS
        yield FoundRewrite("word within prose", 0, len(text), word, cost, (TEXT,))
