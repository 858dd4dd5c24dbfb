"""Forms: how the value of a text is found.

Problem: a constraint may consist of others, as a sequence, alternatives or a repetition, and its value
consists of theirs.  The text must be split into their pieces, and if several splits are possible, one must be
chosen.

The value of a text, by how the constraint was made:

==========================================  ===========================================================
``literal``, ``text_until``, ``~a``, …      the text, a ``str``
``regex``                                   the text, a :class:`.Match`, with its named groups
``json``, ``json_schema``                   the result of ``json.loads``
``type``, ``tool_call``                     an instance of the type, a ``ToolCall``
``grammar``                                 captured values, a ``lark.Tree``, or the text
``a + b + c``                               a tuple (:class:`.Parts`) of the values of a, b and c
``a | b``, ``choice``                       the value of the first that accepts the text
``a.repeat(…)``, ``a.separated_by(b, …)``   a list of the values of a
``a.optional()``                            the value of a, if a accepts the text; ``None`` otherwise
``a & b``, ``a - b``                        the value of a
==========================================  ===========================================================

Splits are leftmost-longest: the first part is as long as the rest allows, then the second; a separator is a
part too.  A list ends with empty items only if its minimum requires them; an optional part is ``None`` only
if the part itself does not accept its piece.  Control tokens are not in a text, and no piece begins or ends
within a code point.

A part's value depends only on its own piece of the text, so ``(a + b).parse(text)`` is
``(a.parse(one), b.parse(two))``.

Method: each level of a constraint is a program for the splitter (``core/programs/splitter``), whose parts are
whole constraints.

Cost: linear in the text for each level of nesting, if few splits are possible at a time.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import Any, NamedTuple

import tokamata._core as _core
from tokamata.errors import ParseError
from tokamata.patterns.regex.program import Instruction, Program
from tokamata.resources.limits import CancelToken, Limits, core_limits
from tokamata.values.control_tokens import valid_utf8
from tokamata.values.groups import groups_of
from tokamata.values.markers import Markers
from tokamata.values.parts import Match, Parts

__all__ = [
    "Alternatives",
    "Called",
    "Captured",
    "Checked",
    "Concatenated",
    "Converted",
    "Form",
    "Framed",
    "Json",
    "Option",
    "Pattern",
    "Plain",
    "Read",
    "Reading",
    "Repeated",
    "Spelled",
    "Split",
    "Subsequence",
    "Value",
    "accepted",
    "is_json",
]


class Value(NamedTuple):
    """The value of a text.

    Attributes:
        value: the value.
        captures: the values of captured parts in it, by name, for the sequence around it.
    """

    value: Any
    captures: dict[str, Any]


class Reading:
    """One reading of a text: its limits, and the splitters that it has made.

    Attributes:
        pattern: the pattern that errors show.
        limits, cancel: of the reading.
        has_deltas: whether events have the parts of texts that are still open.
    """

    def __init__(
        self,
        pattern: str,
        limits: Limits,
        cancel: CancelToken | None,
        markers: Markers | None = None,
        *,
        has_deltas: bool = False,
    ) -> None:
        self.pattern = pattern
        self.has_deltas = has_deltas
        self._markers = markers
        self.limits = limits
        self.cancel = cancel
        self._splitters: dict[Split, _core.Splitter] = {}

    def plain(self, text: bytes) -> str:
        """A piece of the text as a string, without markers of control tokens."""
        return (text if self._markers is None else self._markers.plain(text)).decode()

    def spelled_out(self, text: bytes) -> str:
        """A piece of the text as a string, with the names of control tokens in place of markers."""
        return (text if self._markers is None else self._markers.spelled_out(text)).decode()

    def whole_length(self, text: bytes) -> int:
        """How many bytes of a piece of the text come before a marker that is not complete."""
        is_whole = self._markers is None or text.count(b"\xff") % 2 == 0
        return len(text) if is_whole else text.rindex(b"\xff")

    def tag_pattern(self, text: str) -> tuple[bytes, int]:
        """A regular expression of the spellings of a text of a tag, and the length of the longest."""
        if self._markers is None:
            return re.escape(text.encode()), len(text.encode())
        return self._markers.pattern(text)

    def splitter(self, form: Split) -> _core.Splitter:
        """The splitter of a form."""
        splitter = self._splitters.get(form)
        if splitter is None:
            splitter = _core.Splitter(
                form.leaves(), form.code, core_limits(self.limits), self.cancel, self.pattern
            )
            self._splitters[form] = splitter
        return splitter

    def groups(self, form: Pattern, text: bytes) -> Callable[[], dict[str, str | None]]:
        """A function that finds the named groups in a text of a pattern; it keeps no splitters alive."""
        return partial(groups_of, form.pattern, form.flags, form.dialect, text, self.limits, self.cancel)


class Form(ABC):
    """How the texts of a constraint are read.

    Attributes:
        names: the names of captured parts, for the sequence around it.
    """

    __slots__ = ()
    names: tuple[str, ...] = ()

    @abstractmethod
    def read(self, text: bytes, reading: Reading) -> Value:
        """The value of a text that the constraint accepts."""


class Plain(Form):
    """Texts whose value is the text itself."""

    __slots__ = ()

    def read(self, text: bytes, reading: Reading) -> Value:
        """The text."""
        return Value(reading.plain(text), {})


class Spelled(Form):
    """Texts whose value is the text itself, with the names of control tokens that stand in it."""

    __slots__ = ()

    def read(self, text: bytes, reading: Reading) -> Value:
        """The text, as it would be spelled."""
        return Value(reading.spelled_out(text), {})


class Pattern(Form):
    """Texts of a regular expression.

    Attributes:
        pattern, flags, dialect: as :func:`tokamata.regex` has them.
    """

    __slots__ = ("dialect", "flags", "pattern")

    def __init__(self, pattern: str, flags: int, dialect: str) -> None:
        self.pattern = pattern
        self.flags = flags
        self.dialect = dialect

    def read(self, text: bytes, reading: Reading) -> Value:
        """The text, with the groups in it."""
        return Value(Match(text.decode(), reading.groups(self, text)), {})


class Read(Form):
    """Texts that a function reads.

    Attributes:
        reader: makes the value of a text.
    """

    __slots__ = ("reader",)

    def __init__(self, reader: Callable[[str], Any]) -> None:
        self.reader = reader

    def read(self, text: bytes, reading: Reading) -> Value:
        """The result of the reader."""
        return Value(self.reader(text.decode()), {})


class Checked(Read):
    """Texts that a function reads and judges: it names the place of a fault, and may know other layouts."""

    __slots__ = ()


class Json(Read):
    """JSON texts, whose inner values have events of their own."""

    __slots__ = ()


class Captured(Form):
    """A form whose value has a name in the sequence around it.

    Attributes:
        name: the name.
        form: the form.
    """

    __slots__ = ("form", "name", "names")

    def __init__(self, name: str, form: Form) -> None:
        self.name = name
        self.form = form
        self.names = (name, *form.names)

    def read(self, text: bytes, reading: Reading) -> Value:
        """The value of the form, with its name."""
        return self.capture(self.form.read(text, reading))

    def capture(self, found: Value) -> Value:
        """Adds the name to a value of the form."""
        return Value(found.value, {self.name: found.value, **found.captures})


class Converted(Form):
    """A form whose value a function converts; captured names within it are seen by the function alone.

    Attributes:
        form: the form.
        convert: makes the value.
    """

    __slots__ = ("convert", "form")

    def __init__(self, form: Form, convert: Callable[[Any], Any]) -> None:
        self.form = form
        self.convert = convert

    def read(self, text: bytes, reading: Reading) -> Value:
        """The converted value."""
        return Value(self.convert(self.form.read(text, reading).value), {})

    def around(self, form: Form) -> Converted:
        """The same conversion of another form."""
        return Converted(form, self.convert)


class Framed(Converted):
    """Captured parts and a frame around them: only these parts have events, as parts of the whole.

    A sequence without a name belongs to the frame, and the captured parts in it belong to the whole.
    """

    __slots__ = ()

    def around(self, form: Form) -> Framed:
        """The same conversion of another form."""
        return Framed(form, self.convert)


class Called(Framed):
    """A call of a tool: its name has an event as soon as no other tool can be meant.

    Attributes:
        name: of the tool.
    """

    __slots__ = ("name",)

    def __init__(self, form: Form, convert: Callable[[Any], Any], name: str) -> None:
        super().__init__(form, convert)
        self.name = name

    def around(self, form: Form) -> Called:
        """A call of the same tool in another form."""
        return Called(form, self.convert, self.name)


class Option(NamedTuple):
    """A part of a form, or one of its alternatives.

    Attributes:
        expression: its texts.
        form: how they are read.
    """

    expression: _core.Expression
    form: Form


class Split(Form):
    """Texts that are split into the pieces of several parts.

    Attributes:
        code: the program; ``core/programs/program.hpp`` defines it.  Mark 2n begins a piece of part n,
            and mark 2n + 1 ends it.
        parts: how the pieces are read.
        is_transparent: whether its value is that of its only piece.
    """

    __slots__ = ("_leaves", "code", "parts")
    is_transparent = False

    def __init__(
        self, parts: Sequence[Option], code: list[Instruction], others: Sequence[_core.Expression] = ()
    ) -> None:
        """``others``: leaves whose pieces have no value, such as separators."""
        self.parts = [part.form for part in parts]
        self._leaves = (*(part.expression for part in parts), *others)
        self.code = code

    def leaves(self) -> list[_core.Expression]:
        """The expressions that the program's parts read; those of ``parts`` come first.

        Pieces are of whole code points.  Made for each reading: constraints of thousands of tags keep none.
        """
        return [_core.scope(valid_utf8(leaf)) for leaf in self._leaves]

    def read(self, text: bytes, reading: Reading) -> Value:
        """The value that is assembled from those of the pieces."""
        borders = self.found(reading.splitter(self).split(text)[0])
        pieces = zip(borders[::2], borders[1::2], strict=True)
        return self.assemble(
            [
                (mark // 2, self.parts[mark // 2].read(text[start:end], reading))
                for (mark, start), (_, end) in pieces
            ]
        )

    @staticmethod
    def found(borders: list[tuple[int, int]] | None) -> list[tuple[int, int]]:
        """The borders that a splitter found in a text that the constraint accepts.

        Raises:
            ParseError: there is no split: parts that take single tokens may meet within a code point.
        """
        if borders is None:
            raise ParseError("", "every split of the text cuts a code point")
        return borders

    @abstractmethod
    def assemble(self, found: list[tuple[int, Value]]) -> Value:
        """The value of a text from those of its pieces, each with the number of its part."""

    def key(self, part: int, index: int) -> str | int:
        """The name or number that events use for the ``index``-th piece, which is one of ``part``."""
        return part


class Concatenated(Split):
    """One part after another: a tuple."""

    __slots__ = ("_fields",)

    def __init__(self, parts: Sequence[Option]) -> None:
        super().__init__(parts, _one_after_another(len(parts)))
        self._fields = tuple(name for part in parts for name in part.form.names)

    def assemble(self, found: list[tuple[int, Value]]) -> Value:
        """A tuple of the values, some of which have names."""
        fields: dict[str, Any] = dict.fromkeys(self._fields)
        for _, one in found:
            fields.update(one.captures)
        return Value(Parts((one.value for _, one in found), fields), {})

    def key(self, part: int, index: int) -> str | int:
        """The name of the part, or its number."""
        form = self.parts[part]
        return form.name if isinstance(form, Captured) else part


class Alternatives(Split):
    """Several options; the first that accepts the text is taken."""

    __slots__ = ("names",)
    is_transparent = True

    def __init__(self, options: Sequence[Option]) -> None:
        program = Program()
        for number in range(len(options)):
            if number + 1 < len(options):
                program.fork(f"option {number + 1}")
            program.piece(number)
            program.jump("end")
            program.label(f"option {number + 1}")
        program.label("end")
        super().__init__(options, program.ended())
        self.names = tuple(dict.fromkeys(name for option in options for name in option.form.names))

    def assemble(self, found: list[tuple[int, Value]]) -> Value:
        """The value of the option."""
        return found[0][1]


class Repeated(Split):
    """A repetition of one part, with or without a separator between each two: a list.

    Attributes:
        minimum, maximum: the bounds on the number of parts.
    """

    __slots__ = ("maximum", "minimum")

    def __init__(
        self, part: Option, minimum: int, maximum: int | None, separator: _core.Expression | None = None
    ) -> None:
        self.minimum, self.maximum = minimum, maximum
        program = Program()
        if separator is None:
            name = program.begin_repetition(minimum, maximum)
            program.piece(0)
            program.end_repetition(name, drops_empty=True)
            super().__init__([part], program.ended())
            return
        if minimum == 0:
            program.fork("end")
        if maximum != 0:
            program.piece(0)
            name = program.begin_repetition(max(minimum - 1, 0), None if maximum is None else maximum - 1)
            program.part(1)
            program.piece(0)
            program.end_repetition(name, drops_empty=True)
        program.label("end")
        super().__init__([part], program.ended(), [separator])

    def assemble(self, found: list[tuple[int, Value]]) -> Value:
        """A list of the values."""
        return Value([one.value for _, one in found], {})

    def key(self, part: int, index: int) -> str | int:
        """Its number in the list."""
        return index


class Subsequence(Split):
    """Some of the parts in their order, each at most once, with a delimiter between each two.

    The value is a list with an entry for each part: its value, or ``None`` if it was left out.
    """

    __slots__ = ()

    def __init__(self, parts: Sequence[Option], delimiter: _core.Expression) -> None:
        program = Program()
        for number in range(len(parts)):
            is_last = number + 1 == len(parts)
            program.label(f"first {number}")  # nothing was taken yet
            if not is_last:
                program.fork(f"first {number + 1}")
            program.jump(f"take {number}")
            program.label(f"more {number}")
            program.fork("end" if is_last else f"more {number + 1}")
            program.part(len(parts))
            program.label(f"take {number}")
            program.piece(number)
            program.jump("end" if is_last else f"more {number + 1}")
        program.label("end")
        super().__init__(parts, program.ended(), [delimiter])

    def assemble(self, found: list[tuple[int, Value]]) -> Value:
        """A list with an entry for each part."""
        values: list[Any] = [None] * len(self.parts)
        for part, one in found:
            values[part] = one.value
        return Value(values, {})


@cache
def _one_after_another(count: int) -> list[Instruction]:
    """The program of so many parts in sequence; thousands of tags share it."""
    program = Program()
    for number in range(count):
        program.piece(number)
    return program.ended()


def accepted(expression: _core.Expression, text: bytes, reading: Reading) -> int | None:
    """``None`` if the expression accepts the text; else the length of the longest prefix it can continue."""
    is_accepted, reached = reading.splitter(Alternatives([Option(expression, Plain())])).split(text)
    return reached if is_accepted is None else None


def is_json(form: Form) -> bool:
    """Whether all texts of a form are JSON."""
    if isinstance(form, (Captured, Converted)):
        return is_json(form.form)
    if isinstance(form, Alternatives):
        return all(map(is_json, form.parts))
    return isinstance(form, Json)
