r"""Values of objects whose members stand between tags, and their events.

Problem: ``<parameter=city>\n5\n</parameter>`` is the member ``{"city": "5"}`` or ``{"city": 5}``.  In most
styles only the schema tells which, and in a schema with conditions it depends on the members before.

Example, with a string ``city`` and a whole number ``days``:

==============================================  =========================  ===============  ===========
text                                            as JSON                    event            value
==============================================  =========================  ===============  ===========
``<parameter=city>5</parameter>``               ``{"city": "5"``           ``/city``        ``"5"``
``<parameter=days>5</parameter>``               ``, "days": 5``            ``/days``        ``5``
the end                                         ``}``                      (the whole)
==============================================  =========================  ===============  ===========

Method: a pushdown automaton over bytes translates the text into JSON, which the reader of JSON then reads.
Most members are declared with the type ``"string"``, or with types that do not include it.  Other keywords
only narrow that, so it decides.  Otherwise, a text that may be JSON is tried as JSON: a splitter follows the
JSON texts of the schema up to this value, and a second one tries the value.  If some text of the schema
begins so, it is that value, and otherwise a string.  Nothing is followed before the first such text.

A value is certain when its closing is; inner values of JSON have their events then.

Cost: linear in the text, however it is cut.  A value is read by at most two splitters.

Rejected: the types that the member's own schema names in all cases, which is what the parsers of servers use;
with references, conditions and combinations of schemas they are wrong.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import tokamata._core as _core
from tokamata.errors import ParseError
from tokamata.patterns.json_schema.text import escaped
from tokamata.patterns.tagged import TYPES, TagStyle
from tokamata.values.forms import Alternatives, Form, Option, Plain, Reading, Value
from tokamata.values.json_events import Event, JsonTracker, Path, in_order

__all__ = ["Tagged", "TaggedTracker"]

# Modes: what comes next, or is being read.
_MEMBER, _NAME, _GAP, _VALUE, _LEAF, _BROKEN = range(6)

_NO_BLANK = re.compile(rb"[^ \t\n\r]")
_BLANKS = b" \t\n\r"
_MAY_BE_JSON = re.compile(rb"[ \t\n\r]*[-0-9tfn\[{]")
_BRACKETS_AND_STRINGS = re.compile(rb'"(?:[^"\\]|\\.)*"|["\[\]{}]', re.DOTALL)


class Tagged(Form):
    """Texts of tagged objects.

    Attributes:
        style: how they are written.
        reader: makes the value of the JSON text of an object.
        judges: the JSON texts of the objects, each in a form that tells whether one begins so.
        are_strings: by name, whether a member is always a string, or never; others depend on more.
    """

    __slots__ = ("are_strings", "judges", "reader", "style")

    def __init__(
        self,
        style: TagStyle,
        reader: Callable[[str], Any],
        texts: Sequence[_core.Expression],
        schema: Any = None,
    ) -> None:
        """``texts``: JSON in any white space and spelling, first in the order in which members are written.

        ``schema``: that of the objects, or ``None``.
        """
        self.style = style
        self.reader = reader
        self.are_strings = _are_strings(schema)
        self.judges = [_judge(one) for one in texts]

    def read(self, text: bytes, reading: Reading) -> Value:
        """What the reader makes of the object as JSON."""
        for number in range(len(self.judges)):
            tracker = TaggedTracker(self, reading, 0, None, number)
            whole = tracker.as_json(text)
            if number + 1 == len(self.judges) or tracker.is_possible():
                break
        return Value(self.reader(whole.decode()), {})


def _are_strings(schema: Any) -> dict[str, bool]:
    """The members of an object that are strings, or are not, whatever else its schema says."""
    schema = _target(schema)
    properties = schema.get("properties") if isinstance(schema, dict) and "$ref" not in schema else None
    found: dict[str, bool] = {}
    for name, one in properties.items() if isinstance(properties, dict) else ():
        types = one.get("type") if isinstance(one, dict) and "$ref" not in one else None  # drafts 4 to 7
        if types == "string":
            found[name] = True
        elif isinstance(types, (str, list)) and "string" not in types:
            found[name] = False
    return found


def _target(schema: Any) -> Any:
    """The definition that a schema refers to, if it says nothing else; so is the schema of a function."""
    if isinstance(schema, dict) and schema.keys() <= {"$ref", "$defs"} and "$ref" in schema:
        name = str(schema["$ref"]).removeprefix("#/$defs/")
        definitions = schema.get("$defs")
        return definitions.get(name) if isinstance(definitions, dict) else None
    return schema


def _judge(texts: _core.Expression) -> Alternatives:
    """What follows JSON texts: as long as one begins as what was read, the second option is not certain."""
    return Alternatives([Option(texts, Plain()), Option(_core.text(), Plain())])


class _Tags(NamedTuple):
    """The tags of a style, as they are written in one reading, compiled.

    Attributes:
        style: the style.
        opening: begins a member, and is not followed by a slash.
        element: begins an element of an array; ``None`` if elements are members of a fixed name.
        element_name: that name, or ``None``.
        ends_name: for a member and for an element, what ends its name, with a group for each type of value.
        gap: what follows blanks after the name; ``None`` for nothing.
        closing: ends a value, up to the name if that is in it.
        after_name: what follows the name in it; ``None`` if it is not in it.
        longest: of an opening or a closing, in bytes.
        longest_end: of what ends a name.
    """

    style: TagStyle
    opening: re.Pattern[bytes]
    element: re.Pattern[bytes] | None
    element_name: bytes | None
    ends_name: tuple[re.Pattern[bytes], re.Pattern[bytes]]
    gap: re.Pattern[bytes] | None
    closing: re.Pattern[bytes]
    after_name: bytes | None
    longest: int
    longest_end: int


def _tags(style: TagStyle, reading: Reading) -> _Tags:
    opening, longest = reading.tag_pattern(style.opening)
    before, _, after = style.closing.partition("{name}")
    closing, longest_closing = reading.tag_pattern(before)
    element, element_name = None, None
    if style.items is not None:
        if style.items.opening.startswith(style.opening):
            element_name = style.items.opening.removeprefix(style.opening).encode()
        else:
            pattern, length = reading.tag_pattern(style.items.opening)
            element, longest = re.compile(pattern), max(longest, length)
    elements = style.attributes if style.items is None else style.items.attributes
    (ends, longest_end), (element_ends, longest_of_element) = (
        _ends_name(attributes, reading) for attributes in (style.attributes, elements)
    )
    gap = style.attributes["string"].partition("{blanks}")[2]
    return _Tags(
        style,
        re.compile(opening + b"(?=[^/])"),
        element,
        element_name,
        (ends, element_ends),
        re.compile(reading.tag_pattern(gap)[0]) if gap else None,
        re.compile(closing),
        after.encode() or None,
        max(longest + 1, longest_closing),
        max(longest_end, longest_of_element, reading.tag_pattern(gap)[1]),
    )


def _ends_name(attributes: Any, reading: Reading) -> tuple[re.Pattern[bytes], int]:
    """What ends a name; the group of a type has matched if its attributes were written."""
    by_text: dict[str, str] = {}
    for kind in TYPES:
        by_text.setdefault(attributes[kind].partition("{blanks}")[0], kind)
    patterns, longest = [], 0
    for text, kind in by_text.items():
        pattern, length = reading.tag_pattern(text)
        patterns.append(b"(?P<%b>%b)" % (kind.encode(), pattern))
        longest = max(longest, length)
    return re.compile(b"|".join(patterns)), longest


class _Container(NamedTuple):
    """An object or an array that is open.

    Attributes:
        outer: its container.
        path: its path.
        start: the offset of its first byte.
        name: its own name, as it is written.
        is_object: whether it is an object; ``None`` before its first member says so.
        size: the number of its values so far.
        members: the values so far, last first, with their names.
    """

    outer: _Container | None
    path: Path
    start: int
    name: bytes
    is_object: bool | None
    size: int = 0
    members: tuple[Any, ...] | None = None

    def value(self) -> Any:
        """The object or array."""
        names, values = in_order(self.members)
        if self.is_object is False:
            return values
        made = dict(zip(names, values, strict=True))
        if len(made) < len(names):
            twice = next(name for name in made if names.count(name) > 1)
            raise ParseError(_pointer((self.path, twice)), "the member is written twice")
        return made


class TaggedTracker:
    """Translates a tagged object into JSON, and reports the values that close.

    Attributes; forks share all but ``_judge``:
        _mode: what comes next.
        _at: the number of bytes read; in names and values, up to where nothing can end them.
        _start: the offset of the name or value that is being read.
        _told: the offset up to which deltas have the string that is being read.
        _container: the innermost that is open.
        _name: the name of the member that is being read, as it is written.
        _kind: the type that its attributes name.
        _written: the JSON so far, as a linked list, last first.
        _unread: the part of it that the judge has not read yet, as such a list.
        _judge: follows the JSON texts; ``None`` before it was needed.
    """

    __slots__ = (
        "_at", "_container", "_form", "_judge", "_kind", "_mode", "_name", "_number", "_path", "_reading",
        "_start", "_tags", "_told", "_unread", "_written",
    )  # fmt: skip

    def __init__(self, form: Tagged, reading: Reading, start: int, path: Path, number: int = 0) -> None:
        """``number``: which of the JSON texts of the form judge."""
        self._form = form
        self._reading = reading
        self._number = number
        self._path = path
        self._tags = _tags(form.style, reading)
        self._mode = _MEMBER
        self._at = self._start = self._told = start
        self._container = _Container(None, path, start, b"", True)
        self._name = b""
        self._kind: str | None = None
        self._written: tuple[Any, ...] | None = None
        self._unread: tuple[Any, ...] | None = None
        self._judge: _core.Split | None = None
        self._write(b"{")

    def fork(self) -> TaggedTracker:
        """A second one at the same position."""
        copy = TaggedTracker.__new__(TaggedTracker)
        for name in TaggedTracker.__slots__:
            setattr(copy, name, getattr(self, name))
        copy._judge = None if self._judge is None else self._judge.fork()
        return copy

    def feed(self, text: bytes | bytearray, until: int, events: list[Event]) -> None:
        """Reads more of the text, up to ``until``; appends the events of values that close."""
        while _STEPS[self._mode](self, text, until, events):
            pass

    def end(self, text: bytes | bytearray, end: int, events: list[Event]) -> Value:
        """Ends the text; returns the object."""
        self._finish(text, end, events)
        value = self._container.value()
        events.append(Event(self._path, value, self._container.start, end))
        return Value(value, {})

    def as_json(self, text: bytes) -> bytes:
        """The object of a whole text, as JSON."""
        self._finish(text, len(text), None)
        self._container.value()  # refuses a name twice
        self._write(b"}")
        return b"".join(_listed(self._written))

    def is_possible(self) -> bool:
        """Whether some JSON text begins as what was written."""
        return self._judge is None or self._goes_on(b"")

    def _finish(self, text: bytes | bytearray, end: int, events: list[Event] | None) -> None:
        self.feed(text, end, events)  # type: ignore[arg-type]
        if (
            self._mode != _MEMBER
            or self._container.outer is not None
            or _NO_BLANK.search(text, self._at, end)
        ):
            where = f"byte {self._at - self._container.start}" if self._container.outer is None else ""
            raise ParseError(where or _pointer(self._container.path), "the tags of a member are not complete")

    # ---- modes: each reads on, and returns whether it went on to another one ------------------

    def _member(self, text: bytes | bytearray, until: int, events: list[Event] | None) -> bool:
        """Between members: blanks, then the beginning of one, or the end of the container."""
        found = _NO_BLANK.search(text, self._at, until)
        self._at = until if found is None else found.start()
        if found is None:
            return False
        tags, container = self._tags, self._container
        end = self._at
        if container.outer is not None and self._closes(text, container.name, until):
            self._close_container(end, events)
            return True
        if container.is_object is False and tags.element is not None:
            opened = tags.element.match(text, self._at, until)
        else:
            opened = tags.opening.match(text, self._at, until)
        if opened is None:
            if until - self._at > tags.longest + len(container.name) + 1:
                self._mode = _BROKEN
            return False
        self._at = self._start = opened.end()
        self._mode = _NAME
        return True

    def _read_name(self, text: bytes | bytearray, until: int, events: list[Event] | None) -> bool:
        """A name, up to what ends it."""
        is_element = self._container.is_object is False and self._tags.element is not None
        ends = self._tags.ends_name[is_element]
        found = ends.search(text, self._at, until)
        if found is None:
            self._at = max(self._start, until - self._tags.longest_end + 1)
            return False
        self._name = bytes(text[self._start : found.start()])
        self._kind = found.lastgroup if len(ends.groupindex) > 1 else None
        self._at = self._start = found.end()
        self._mode = _VALUE if self._tags.gap is None else _GAP
        self._begin_member()
        return True

    def _read_gap(self, text: bytes | bytearray, until: int, events: list[Event] | None) -> bool:
        """Blanks between the tags of a name and of its value."""
        found = _NO_BLANK.search(text, self._at, until)
        self._at = until if found is None else found.start()
        assert self._tags.gap is not None, "the style has two tags before a value"
        opened = self._tags.gap.match(text, self._at, until)
        if opened is None:
            if until - self._at >= self._tags.longest_end:
                self._mode = _BROKEN
            return False
        self._at = self._start = opened.end()
        self._mode = _VALUE
        return True

    def _begin_value(self, text: bytes | bytearray, until: int, events: list[Event] | None) -> bool:
        """What comes first in a value: tags of an array or object, or a text."""
        items = self._tags.style.items
        if items is not None and self._kind is None:
            found = _NO_BLANK.search(text, self._at, until)
            at = until if found is None else found.start()
            if self._tags.opening.match(text, at, until):
                return self._open_container(None)
            if until - at < self._tags.longest and not self._tags.closing.match(text, at, until):
                return False  # it may become the one or the other
        elif items is not None and self._kind in ("array", "object"):
            return self._open_container(self._kind == "object")
        self._mode = _LEAF
        self._told = self._start
        return True

    def _read_leaf(self, text: bytes | bytearray, until: int, events: list[Event] | None) -> bool:
        """A text, up to its closing."""
        while True:
            found = self._tags.closing.search(text, self._at, until)
            if found is None:
                self._at = max(self._start, self._at, until - self._tags.longest + 1)
                self._tell(text, events)
                return False
            end, self._at = found.start(), found.start()
            if self._closes(text, self._name, until):
                break
            if until - found.end() <= len(self._name) + 1:
                self._tell(text, events)
                return False
            self._at = found.start() + 1
        self._close_leaf(text, self._start, end, events)
        self._mode = _MEMBER
        return True

    def _tell(self, text: bytes | bytearray, events: list[Event] | None) -> None:
        """The delta of a value that is open, if it can only be a string: up to where its end may begin."""
        if events is None or not self._reading.has_deltas or not self._is_surely_string(text):
            return
        self._told += self._told == self._start and self._drops_first(text, self._at)
        end = self._at
        if self._tags.style.drops_line_feeds and text[max(self._told, end - 1) : end] == b"\n":
            end -= 1
        new, length = codecs.utf_8_decode(bytes(text[self._told : end]), "replace", False)
        self._append_delta(new, self._told + length, events)

    def _is_surely_string(self, text: bytes | bytearray) -> bool:
        """Whether the value that is open is a string, whatever follows."""
        if self._kind is not None:
            return self._kind == "string"
        is_string = self._container.outer is None and self._form.are_strings.get(self._plain_name())
        # Blanks alone may still be no string.
        return bool(is_string) and bool(_NO_BLANK.search(text, self._start, self._at))

    def _drops_first(self, text: bytes | bytearray, end: int) -> bool:
        """Whether a value begins with a line feed that is not part of it."""
        return self._tags.style.drops_line_feeds and text[self._start : min(self._start + 1, end)] == b"\n"

    def _append_delta(self, new: str, end: int, events: list[Event]) -> None:
        if new:
            events.append(Event(self._member_path(), new, self._told, end, is_delta=True))
            self._told = end

    def _stop(self, text: bytes | bytearray, until: int, events: list[Event] | None) -> bool:
        return False

    # ---- members and values ---------------------------------------------------------------------

    def _closes(self, text: bytes | bytearray, name: bytes, until: int) -> bool:
        """Whether a closing is at the current position; then moves behind it."""
        found = self._tags.closing.match(text, self._at, until)
        if found is None:
            return False
        end = found.end()
        if self._tags.after_name is not None:
            rest = name + self._tags.after_name
            if text[end : min(end + len(rest), until)] != rest:
                return False
            end += len(rest)
        self._at = end
        return True

    def _begin_member(self) -> None:
        """Writes what comes before a value in JSON; the first element says that a container is an array."""
        container = self._container
        if container.is_object is None:
            is_array = self._name == self._tags.element_name and self._goes_on(b"[")
            self._container = container = container._replace(is_object=not is_array)
            self._write(b"[" if is_array else b"{")
        comma = b", " if container.size else b""
        if container.is_object:
            self._write(comma + _quoted(self._plain_name()) + b": ")
        elif comma:
            self._write(comma)

    def _plain_name(self) -> str:
        """The name of the member, without escapes."""
        name = self._name.decode()
        escapes = self._tags.style.escapes
        if not escapes or "&" not in name:
            return name
        plain = {written: character for character, written in escapes.items()}
        return re.sub("|".join(map(re.escape, plain)), lambda found: plain[found[0]], name)

    def _member_path(self) -> Path:
        container = self._container
        return container.path, self._plain_name() if container.is_object else container.size

    def _open_container(self, is_object: bool | None) -> bool:
        self._container = _Container(self._container, self._member_path(), self._start, self._name, is_object)
        if is_object is not None:
            self._write(b"{" if is_object else b"[")
        self._mode = _MEMBER
        return True

    def _close_container(self, end: int, events: list[Event] | None) -> None:
        container = self._container
        self._write(b"]" if container.is_object is False else b"}")
        assert container.outer is not None, "the whole is closed by its end"
        self._container = container.outer
        self._name = container.name
        self._add(container.value(), container.start, end, events)

    def _close_leaf(self, text: bytes | bytearray, start: int, end: int, events: list[Event] | None) -> None:
        if self._tags.style.drops_line_feeds:
            start += self._drops_first(text, end)
            end -= text[max(start, end - 1) : end] == b"\n"
        raw = bytes(text[start:end])
        if not self._is_json(raw):
            value = raw.decode()
            self._write(_quoted(value))
            if events is not None and self._reading.has_deltas:
                self._told = max(self._told, start)
                self._append_delta(bytes(text[self._told : end]).decode(), end, events)
            self._add(value, start, end, events)
            return
        written = raw.strip(_BLANKS)
        if not written and self._kind is None:  # an array if one may stand there
            is_array = self._goes_on(b"[]")
            self._write(b"[]" if is_array else b"{}")
            self._add([] if is_array else {}, start, end, events)
            return
        self._write(written)
        begin = start + len(raw) - len(raw.lstrip(_BLANKS))
        if events is None:
            self._added(None)
            return
        tracker = JsonTracker(begin, self._member_path(), has_deltas=self._reading.has_deltas)
        value = tracker.end(text, begin + len(written), events).value
        self._added(value)

    def _is_json(self, raw: bytes) -> bool:
        """Whether a text is JSON rather than a string."""
        if self._kind is not None:
            return self._kind != "string"
        if self._container.outer is None and raw.strip(_BLANKS):
            is_string = self._form.are_strings.get(self._plain_name())
            if is_string is not None:
                return not is_string
        if self._tags.style.items is not None and not raw.strip(_BLANKS):
            return not self._goes_on(b'"') and (self._goes_on(b"[]") or self._goes_on(b"{}"))
        return bool(_MAY_BE_JSON.match(raw)) and _is_closed(raw) and self._goes_on(raw.strip(_BLANKS) + b" ")

    def _add(self, value: Any, start: int, end: int, events: list[Event] | None) -> None:
        if events is not None:
            events.append(Event(self._member_path(), value, start, end))
        self._added(value)

    def _added(self, value: Any) -> None:
        container = self._container
        members = (container.members, self._plain_name() if container.is_object else "", value)
        self._container = container._replace(size=container.size + 1, members=members)

    # ---- JSON -------------------------------------------------------------------------------------

    def _write(self, data: bytes) -> None:
        self._written = self._written, data
        self._unread = self._unread, data

    def _goes_on(self, data: bytes) -> bool:
        """Whether some JSON text begins as what was written, and goes on with ``data``."""
        if self._judge is None:
            self._judge = self._reading.splitter(self._form.judges[self._number]).begin()
        if self._unread is not None:
            self._judge.feed(b"".join(_listed(self._unread)))
            self._unread = None
        trial = self._judge.fork()
        trial.feed(data)
        return not trial.certain(0)


_STEPS = {
    _MEMBER: TaggedTracker._member,
    _NAME: TaggedTracker._read_name,
    _GAP: TaggedTracker._read_gap,
    _VALUE: TaggedTracker._begin_value,
    _LEAF: TaggedTracker._read_leaf,
    _BROKEN: TaggedTracker._stop,
}


def _listed(pieces: tuple[Any, ...] | None) -> list[bytes]:
    """A linked list as a list, in the order in which it was made."""
    found: list[bytes] = []
    while pieces is not None:
        pieces, piece = pieces
        found.append(piece)
    return found[::-1]


def _is_closed(data: bytes) -> bool:
    """Whether no bracket or string is open at the end of what begins as JSON."""
    depth = 0
    for found in _BRACKETS_AND_STRINGS.finditer(data):
        first = found[0][:1]
        if first in b"[{":
            depth += 1
        elif first in b"]}":
            depth -= 1
        elif found[0] == b'"':
            return False
    return depth == 0


def _quoted(text: str) -> bytes:
    return json.dumps(text, ensure_ascii=False).encode()


def _pointer(path: Path) -> str:
    parts: list[str] = []
    while path is not None:
        path, key = path
        parts.append("/" + escaped(str(key)))
    return "".join(reversed(parts))
