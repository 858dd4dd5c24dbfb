"""The meaning of a constraint: a set of texts, each with a value.

Every constraint denotes a set of valid UTF-8 texts, in which control tokens may stand where a pattern names
them.  It sees only its own text: in ``regex(r"foo\\b") + regex("bar")`` the ``\\b`` sees an end of text, so
``foobar`` is accepted.

:class:`tokamata.Constraint` adds the algebra, questions and compiling.  Modules below it, such as compiled
constraints, refer to this class.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import tokamata._core as _core
from tokamata.arguments import checked_instance, clipped
from tokamata.errors import ParseError
from tokamata.limits import CancelToken, Limits, checked_cancel, checked_limits
from tokamata.values.forms import (
    Alternatives,
    Captured,
    Concatenated,
    Converted,
    Form,
    Option,
    Read,
    Reading,
    Repeated,
    accepted,
)

if TYPE_CHECKING:
    from tokamata.patterns.json_schema import ReportEntry
    from tokamata.values.markers import Markers

__all__ = ["JOINS", "Denotation", "checked_utf8", "repeated"]

_T_co = TypeVar("_T_co", covariant=True)


class Denotation(Generic[_T_co]):
    """A set of valid UTF-8 texts with their values; immutable.

    Attributes:
        pattern: the text that the constraint was made from, or a description of how it was made.
    """

    __slots__ = ("_is_pattern", "_kept_form", "_made", "_names", "_operands", "_operator", "pattern")

    def __init__(
        self,
        expression: _core.Expression | None,
        pattern: str,
        *,
        is_pattern: bool = False,
        made_by: str = "",
        operands: tuple[Denotation[Any], ...] = (),
        form: Form | None = None,
        names: frozenset[str] = frozenset(),
    ) -> None:
        """Creates a constraint from an expression, or from an operator and its operands.

        Args:
            expression: ``None`` for a chain, whose expression is made when it is first needed.
            pattern: as above.
            is_pattern: positions in the expression are offsets into ``pattern``.
            made_by: the operator or method that combined the operands, so that a long chain of one operator
                stays flat.
            operands: the operands.
            form: how its texts are read; ``None``: made of those of the operands when it is first needed.
            names: the names of its captured parts.
        """
        self._made = expression
        self.pattern = pattern
        self._is_pattern = is_pattern
        self._operator = made_by
        self._operands = operands
        self._kept_form = form
        self._names = names

    def parse(
        self, text: str | bytes, *, limits: Limits | None = None, cancel: CancelToken | None = None
    ) -> _T_co:
        """The value of a text; :mod:`tokamata.values.forms` has a table.

        An instance for :func:`tokamata.type`, the result of ``json.loads`` for JSON, a tuple for a
        sequence, the text itself for most others.  Control tokens are not in the text.

        Args:
            text: the text, as a ``str`` or in UTF-8.
            limits: bounds on the search for its parts; ``Limits()`` by default.
            cancel: stops the work, from another thread.

        Raises:
            ParseError: the constraint does not accept the text; the error has the position.
            LimitExceeded, Cancelled: the work was stopped.
        """
        data = checked_utf8(text)
        reading = Reading(self.pattern, checked_limits(limits), checked_cancel(cancel))
        try:
            self._check(data, reading)
            value: _T_co = self._form.read(data, reading).value
        except RecursionError:
            raise ParseError("", "the value nests deeper than Python's stack") from None
        return value

    def report(self) -> list[ReportEntry]:
        """How each keyword of the JSON Schemas in this constraint is treated, and why.

        A keyword is enforced, an annotation, or relaxed.  If there are several operands, pointers begin with
        the number or the captured name of the operand that has the schema: ``/1/properties/age``.  The list
        is empty if there is no schema.
        """
        entries: list[ReportEntry] = []
        pending: list[tuple[str, Denotation[Any]]] = [("", self)]
        while pending:
            prefix, constraint = pending.pop()
            for entry in constraint._own_report():
                entries.append(entry._replace(pointer=prefix + entry.pointer))
            operands = constraint._operands
            is_numbered = len(operands) > 1 and constraint._operator != "separated_by"
            for number in reversed(range(len(operands))):
                operand = operands[number]
                form = operand._kept_form
                key = form.name if isinstance(form, Captured) else number
                pending.append((f"{prefix}/{key}" if is_numbered else prefix, operand))
        return entries

    def __repr__(self) -> str:
        return f"tokamata.regex({self.pattern!r})" if self._is_pattern else self.pattern

    def _check(self, text: bytes, reading: Reading) -> None:
        """Raises ParseError if the constraint does not accept the text.

        A constraint whose texts are read by a function leaves the check to it: the JSON reader, for example,
        accepts whitespace that people or other programs wrote.
        """
        if not self._operator and isinstance(self._kept_form, Read):
            return
        reached = accepted(self._expression, text, reading)
        if reached is not None:
            shown = clipped(repr(self))
            if reached == len(text):
                raise ParseError(f"byte {reached}", f"the text ends, and {shown} is not complete")
            found = text[reached : reached + 20]
            raise ParseError(f"byte {reached}", f"found {found!r}; no text of {shown} continues with it")

    def _own_report(self) -> list[ReportEntry]:
        """The report of this constraint's own schema, without those of its operands."""
        return []

    @property
    def _form(self) -> Form:
        """How its texts are read; made when it is first needed."""
        if self._kept_form is None:
            if self._operator in ("&", "-"):
                self._kept_form = self._operands[0]._form
            else:
                make = Concatenated if self._operator == "+" else Alternatives
                self._kept_form = make([operand._option for operand in self._operands])
        return self._kept_form

    @property
    def _option(self) -> Option:
        """This constraint as a part of a form."""
        return Option(self._expression, self._form)

    def _marked(self, markers: Markers) -> Option | None:
        """The same texts with markers in place of control tokens; ``None`` if they cannot be made."""
        if not self._expression.control_tokens:
            return self._option
        options = []
        for operand in self._operands:
            option = operand._marked(markers)
            if option is None:
                return None
            options.append(option)
        return rebuilt(self._operator, options, self._form)

    @property
    def _seen_names(self) -> frozenset[str]:
        """The captured names that a sequence around this constraint sees."""
        return self._names if self._operator in _TRANSPARENT else frozenset()

    @property
    def _expression(self) -> _core.Expression:
        """The expression of the engine.

        A chain makes it when it is first needed: a chain that grows in a loop, operand by operand, then
        makes no expression for each of its prefixes.
        """
        if self._made is None:
            self._made = JOINS[self._operator]([operand._expression for operand in self._operands])
        return self._made

    def _hint_on_refusal(self, text: bytes, limits: Limits) -> str:
        """Which option would allow the last byte of a text, which is refused; ``""`` if none is known to."""
        return ""

    def _needs(self) -> str:
        """A part that depends on tokens, for messages; ``""`` if the constraint depends on texts alone."""
        if names := self._expression.control_tokens:
            scheme, _, name = names[0].partition(":")
            if scheme == "not":
                return "a set of tokens"
            return "IMAGE" if scheme == "image" else f"the control token {clipped(name, 80)}"
        return "TEXT_TOKEN or PARAGRAPH_TOKEN" if self._expression.sees_edges else ""

    def _error_pattern(self) -> tuple[str, bool]:
        return self.pattern, self._is_pattern

    def _as_operand(self) -> str:
        name = clipped(repr(self))
        return f"({name})" if self._operator in JOINS or self._operator == "~" else name


# A result of these has the value of one of its operands, with its captured names.
_TRANSPARENT = frozenset({"|", "&", "-", "optional", "choice", "captured"})


def rebuilt(operator: str, options: list[Option], form: Form) -> Option | None:
    """A constraint, made again by its operator from operands that were changed; ``None`` if it cannot be."""
    if isinstance(form, Converted):
        inner = rebuilt(operator, options, form.form)
        return None if inner is None else Option(inner.expression, Converted(inner.form, form.convert))
    expressions = [option.expression for option in options]
    if not options:
        return None
    if operator in ("+", "in order"):
        return Option(_concatenation(expressions), Concatenated(options))
    if operator in ("|", "choice"):
        return Option(_core.union(expressions), Alternatives(options))
    if operator in ("&", "-"):
        return Option(JOINS[operator](expressions), options[0].form)
    if operator == "captured" and isinstance(form, Captured):
        return Option(expressions[0], Captured(form.name, options[0].form))
    if operator == "optional" and isinstance(form, Alternatives):
        return Option(
            _core.union([_core.epsilon(), expressions[0]]),
            Alternatives([options[0], Option(_core.epsilon(), form.parts[1])]),
        )
    if operator in ("repeat", "separated_by") and isinstance(form, Repeated) and form.maximum != 0:
        separator = expressions[1] if len(expressions) > 1 else None
        return repeated(options[0], separator, form.minimum, form.maximum)
    return None


def repeated(item: Option, separator: _core.Expression | None, low: int, high: int | None) -> Option:
    """A part, repeated, with a text of the separator, if any, between each two; ``high`` is not 0 then."""
    form = Repeated(item, low, high, separator)
    one = _core.scope(item.expression)
    if separator is None:
        return Option(_core.repeat(one, low, high), form)
    more = _core.concat([_core.scope(separator), one])
    rest = _core.repeat(more, max(low - 1, 0), None if high is None else high - 1)
    expression = _core.concat([one, rest])
    if low == 0:
        expression = _core.union([_core.epsilon(), expression])
    return Option(expression, form)


def checked_utf8(text: Any) -> bytes:
    """A text to be parsed, in UTF-8; raises ParseError if it is not valid."""
    if isinstance(text, str):
        try:
            return text.encode()
        except UnicodeEncodeError as error:
            raise ParseError(f"character {error.start}", "a surrogate, which no valid text has") from None
    checked_instance("text", text, (bytes, bytearray, memoryview), "a str, or bytes of UTF-8")
    data = bytes(text)
    try:
        data.decode()
    except UnicodeDecodeError as error:
        raise ParseError(f"byte {error.start}", "not UTF-8") from None
    return data


def _concatenation(items: list[_core.Expression]) -> _core.Expression:
    return _core.concat([_core.scope(item) for item in items])


def _difference(items: list[_core.Expression]) -> _core.Expression:
    """The texts of the first that no other accepts."""
    others = _core.union([_core.scope(item) for item in items[1:]])
    return _core.intersect([items[0], _core.complement(others)])


JOINS: dict[str, Callable[[list[_core.Expression]], _core.Expression]] = {
    "+": _concatenation,
    "|": _core.union,
    "&": _core.intersect,
    "-": _difference,
}
