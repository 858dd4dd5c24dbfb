"""Forms: how a text of a constraint is read into its value.

Problem: a constraint may be made of others, in sequence, as alternatives, as a repetition; its value is
made of theirs. Which piece of the text belongs to which of them has to be found, and where several splits
are possible, one of them is meant.

The value of a text, by how the constraint was made:

==========================================  ===========================================================
``literal``, ``text_until``, ``~a``, …      the text, a ``str``
``regex``                                   the text, a :class:`.Match`, with its named groups
``json``, ``json_schema``                   what ``json.loads`` gives
``type``, ``tool_call``                     an instance of the type, a ``ToolCall``
``a + b + c``                               a tuple (:class:`.Parts`) of the values of a, b and c
``a | b``, ``choice``                       the value of the first that accepts the text
``a.repeat(…)``, ``a.separated_by(b, …)``   a list of the values of a
``a.optional()``                            the value of a, where a accepts the text; ``None`` otherwise
``a & b``, ``a - b``                        the value of a
==========================================  ===========================================================

Splits are the leftmost and longest: the first part is as long as the rest allows, then the second; a
separator is a part too.  A list ends with empty items only where its minimum requires them; an optional part
is ``None`` only where the part itself does not accept.  Control tokens are not in a text, and no piece begins
or ends within a code point.

A part's value depends on its own piece of the text alone, so ``(a + b).parse(text)`` is
``(a.parse(one), b.parse(two))``.

Method: each level of a constraint is a program for the splitter of the core (``core/splitting``), whose
parts are whole constraints.

Cost: linear in the text for each level that it passes through, where few splits are possible at a time.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

from tokamata import _core
from tokamata.control_tokens import valid_utf8
from tokamata.errors import ParseError
from tokamata.limits import CancelToken, Limits, core_limits
from tokamata.values.groups import groups_of
from tokamata.values.parts import Match, Parts
from tokamata.values.program import Program

__all__ = [
    "Alternatives",
    "Captured",
    "Concatenated",
    "Form",
    "Json",
    "Option",
    "Pattern",
    "Plain",
    "Read",
    "Reading",
    "Repeated",
    "Split",
    "Subsequence",
    "Value",
    "accepted",
]


class Value(NamedTuple):
    """The value of a text.

    Attributes:
        value: the value.
        captures: those of captured parts in it, for the sequence around it, by name.
    """

    value: Any
    captures: dict[str, Any]


class Reading:
    """One reading of a text: what it may cost, and the splitters that it has made.

    Attributes:
        pattern: what errors show.
    """

    def __init__(self, pattern: str, limits: Limits, cancel: CancelToken | None) -> None:
        self.pattern = pattern
        self._limits = limits
        self._cancel = cancel
        self._splitters: dict[Split, _core.Splitter] = {}

    def splitter(self, form: Split) -> _core.Splitter:
        """The splitter of a form."""
        splitter = self._splitters.get(form)
        if splitter is None:
            splitter = _core.Splitter(
                form.leaves, form.code, core_limits(self._limits), self._cancel, self.pattern
            )
            self._splitters[form] = splitter
        return splitter

    def groups(self, form: Pattern, text: bytes) -> Callable[[], dict[str, str | None]]:
        """What finds the named groups of a pattern in a text of it; it does not keep the splitters alive."""
        return partial(groups_of, form.pattern, form.flags, form.dialect, text, self._limits, self._cancel)


class Form(ABC):
    """How the texts of a constraint are read.

    Attributes:
        names: of captured parts, for the sequence around it.
    """

    __slots__ = ()
    names: tuple[str, ...] = ()

    @abstractmethod
    def read(self, text: bytes, reading: Reading) -> Value:
        """The value of a text that the constraint accepts."""


class Plain(Form):
    """Texts that stand for themselves."""

    __slots__ = ()

    def read(self, text: bytes, reading: Reading) -> Value:
        """The text."""
        return Value(text.decode(), {})


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
        """What the reader makes of it."""
        return Value(self.reader(text.decode()), {})


class Json(Read):
    """Texts in JSON, whose values close one by one."""

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
        """The value of the form, under its name too."""
        return self.capture(self.form.read(text, reading))

    def capture(self, found: Value) -> Value:
        """A value of the form, with its name."""
        return Value(found.value, {self.name: found.value, **found.captures})


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
        leaves: what the program's parts read; those of ``parts`` come first.
        code: the program, as ``core/splitting/split_program.hpp`` has it.  Mark 2n begins a piece of part n,
            and mark 2n + 1 ends it.
        parts: how the pieces are read.
        is_transparent: whether its value is that of its only piece.
    """

    __slots__ = ("code", "leaves", "parts")
    is_transparent = False

    def __init__(
        self, parts: Sequence[Option], program: Program, others: Sequence[_core.Expression] = ()
    ) -> None:
        """``others``: leaves whose pieces are not read."""
        program.accept()
        self.parts = [part.form for part in parts]
        leaves = (*(part.expression for part in parts), *others)
        self.leaves = [_core.scope(valid_utf8(leaf)) for leaf in leaves]  # pieces are of whole code points
        self.code = program.code()

    def read(self, text: bytes, reading: Reading) -> Value:
        """The value made of those of the pieces."""
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
        """The borders that a splitter found in a text which the constraint accepts.

        Raises:
            ParseError: there are none: parts that take single tokens may meet within a code point.
        """
        if borders is None:
            raise ParseError("", "every split of it cuts a code point, half of which is no text")
        return borders

    @abstractmethod
    def assemble(self, found: list[tuple[int, Value]]) -> Value:
        """The value of a text, of those of its pieces, each with the number of its part."""

    def key(self, part: int, index: int) -> str | int:
        """Under which name or number an event has the ``index``-th piece, which is one of ``part``."""
        return part


class Concatenated(Split):
    """One part after another: a tuple."""

    __slots__ = ("_fields",)

    def __init__(self, parts: Sequence[Option]) -> None:
        program = Program()
        for number in range(len(parts)):
            program.piece(number)
        super().__init__(parts, program)
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
    """The first of some options that accepts the text."""

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
        super().__init__(options, program)
        self.names = tuple(dict.fromkeys(name for option in options for name in option.form.names))

    def assemble(self, found: list[tuple[int, Value]]) -> Value:
        """The value of the option."""
        return found[0][1]


class Repeated(Split):
    """The same part again and again, maybe with a separator between each two: a list."""

    __slots__ = ()

    def __init__(
        self, part: Option, minimum: int, maximum: int | None, separator: _core.Expression | None = None
    ) -> None:
        program = Program()
        if separator is None:
            name = program.begin_repetition(minimum, maximum)
            program.piece(0)
            program.end_repetition(name, drops_empty=True)
            super().__init__([part], program)
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
        super().__init__([part], program, [separator])

    def assemble(self, found: list[tuple[int, Value]]) -> Value:
        """A list of the values."""
        return Value([one.value for _, one in found], {})

    def key(self, part: int, index: int) -> str | int:
        """Its number in the list."""
        return index


class Subsequence(Split):
    """Some of the parts in their order, each at most once, with a delimiter between each two.

    The value is a list with an entry for each part: its value, or ``None`` where it was left out.
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
        super().__init__(parts, program, [delimiter])

    def assemble(self, found: list[tuple[int, Value]]) -> Value:
        """A list with an entry for each part."""
        values: list[Any] = [None] * len(self.parts)
        for part, one in found:
            values[part] = one.value
        return Value(values, {})


def accepted(expression: _core.Expression, text: bytes, reading: Reading) -> int | None:
    """``None`` where a text is one of an expression; otherwise how many bytes some text of it begins with."""
    is_accepted, reached = reading.splitter(Alternatives([Option(expression, Plain())])).split(text)
    return reached if is_accepted is None else None
