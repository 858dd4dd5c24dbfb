"""What a constraint denotes: a set of texts, each of which stands for a value.

Every constraint denotes a set of valid UTF-8 texts (in which a control token may stand, where a pattern
names one) and sees only its own text: in ``regex(r"foo\\b") + regex("bar")`` the ``\\b`` sees an end of
text, so that ``foobar`` is accepted.

:class:`tokamata.Constraint` adds the algebra, questions and compiling.  What is below those, such as compiled
constraints, refers to this class.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from tokamata import _core
from tokamata.arguments import checked_instance, clipped
from tokamata.errors import ParseError
from tokamata.limits import CancelToken, Limits, checked_cancel, checked_limits
from tokamata.values.forms import (
    Alternatives,
    Captured,
    Concatenated,
    Form,
    Option,
    Read,
    Reading,
    accepted,
)

if TYPE_CHECKING:
    from tokamata.patterns.json_schema import ReportEntry

__all__ = ["JOINS", "Denotation", "checked_utf8"]

_T_co = TypeVar("_T_co", covariant=True)


class Denotation(Generic[_T_co]):
    """A set of valid UTF-8 texts, each of which stands for a value; immutable.

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
        """``is_pattern``: places in the expression are offsets into ``pattern``.

        ``made_by`` and ``operands`` say what the constraint was combined from, so that a long chain of one
        operator stays flat.  Such chains have no expression until it is needed.

        ``form``: how its texts are read; made when it is first needed, from those of the operands, where
        it is ``None``.  ``names``: of captured parts in it.
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
        """The value that a text of this constraint stands for; :mod:`tokamata.values.forms` has a table.

        An instance for :func:`tokamata.type`, what ``json.loads`` gives for JSON, a tuple for a sequence,
        the text itself for most others.  Control tokens are not in the text.

        Args:
            text: the text, as a ``str`` or in UTF-8.
            limits: what finding its parts may cost; ``Limits()`` by default.
            cancel: stops the work, from another thread.

        Raises:
            ParseError: it is none of its texts; the error says where it stops to be.
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
        """What became of each keyword of the JSON Schemas in it: enforced, an annotation, or relaxed, and
        why.

        Where there are several operands, pointers begin with the number or the captured name of the one that
        has the schema: ``/1/properties/age``.  Empty where there is no schema in it.
        """
        entries: list[ReportEntry] = []
        pending: list[tuple[str, Denotation[Any]]] = [("", self)]
        while pending:
            place, constraint = pending.pop()
            for entry in constraint._own_report():
                entries.append(entry._replace(pointer=place + entry.pointer))
            operands = constraint._operands
            is_numbered = len(operands) > 1 and constraint._operator != "separated_by"
            for number in reversed(range(len(operands))):
                operand = operands[number]
                form = operand._kept_form
                key = form.name if isinstance(form, Captured) else number
                pending.append((f"{place}/{key}" if is_numbered else place, operand))
        return entries

    def __repr__(self) -> str:
        return f"tokamata.regex({self.pattern!r})" if self._is_pattern else self.pattern

    def _check(self, text: bytes, reading: Reading) -> None:
        """Raises ParseError where it is none of its texts.

        What a function reads is left to that: it takes white space, say, that people or other programs wrote.
        """
        if not self._operator and isinstance(self._kept_form, Read):
            return
        reached = accepted(self._expression, text, reading)
        if reached is not None:
            shown = clipped(repr(self))
            if reached == len(text):
                raise ParseError(f"byte {reached}", f"the text ends, and {shown} is not complete")
            found = text[reached : reached + 20]
            raise ParseError(f"byte {reached}", f"there is {found!r}; no text of {shown} goes on with it")

    def _own_report(self) -> list[ReportEntry]:
        """The report of its own schema."""
        return []

    @property
    def _form(self) -> Form:
        """How its texts are read; made when it is first needed, as chains are."""
        if self._kept_form is None:
            if self._operator in ("&", "-"):
                self._kept_form = self._operands[0]._form
            else:
                make = Concatenated if self._operator == "+" else Alternatives
                self._kept_form = make([operand._option for operand in self._operands])
        return self._kept_form

    @property
    def _option(self) -> Option:
        """As a part of others."""
        return Option(self._expression, self._form)

    @property
    def _seen_names(self) -> frozenset[str]:
        """The names that a sequence around it has for captured parts in it."""
        return self._names if self._operator in _TRANSPARENT else frozenset()

    @property
    def _expression(self) -> _core.Expression:
        """What the engine takes.

        That of a chain is made when it is first needed: a chain that grows in a loop, operand by operand,
        then costs no expression for each of its beginnings.
        """
        if self._made is None:
            self._made = JOINS[self._operator]([operand._expression for operand in self._operands])
        return self._made

    def _needs(self) -> str:
        """What in it is about tokens, so that it has no texts by itself; ``""`` if nothing is."""
        if names := self._expression.control_tokens:
            kind, _, name = names[0].partition(":")
            return "IMAGE" if kind == "image" else f"the control token {clipped(name, 80)}"
        return "TEXT_TOKEN or PARAGRAPH_TOKEN" if self._expression.sees_edges else ""

    def _error_pattern(self) -> tuple[str, bool]:
        return self.pattern, self._is_pattern

    def _as_operand(self) -> str:
        name = clipped(repr(self))
        return f"({name})" if self._operator in JOINS or self._operator == "~" else name


# What is made of constraints by these has the value of one of them, with its captured names.
_TRANSPARENT = frozenset({"|", "&", "-", "optional", "choice", "captured"})


def checked_utf8(text: Any) -> bytes:
    """A text to be parsed, in UTF-8."""
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
        raise ParseError(f"byte {error.start}", "no UTF-8") from None
    return data


def _concatenation(items: list[_core.Expression]) -> _core.Expression:
    return _core.concat([_core.scope(item) for item in items])


def _difference(items: list[_core.Expression]) -> _core.Expression:
    """What is in the first, and in no other."""
    others = _core.union([_core.scope(item) for item in items[1:]])
    return _core.intersect([items[0], _core.complement(others)])


JOINS: dict[str, Callable[[list[_core.Expression]], _core.Expression]] = {
    "+": _concatenation,
    "|": _core.union,
    "&": _core.intersect,
    "-": _difference,
}
