"""The meaning of a constraint: a set of texts, each with a value.

Every constraint denotes a set of valid UTF-8 texts, in which control tokens may stand where a pattern names
them.  It sees only its own text: in ``regex(r"foo\\b") + regex("bar")`` the ``\\b`` sees an end of text, so
``foobar`` is accepted.

In the text of a tag, a control token of the vocabulary may stand for its name.  Which names a text contains
is known when the constraint is compiled, and it is then made a second time (:func:`remade`).  Questions about
texts, and repairs, take such texts as they are spelled.

:class:`tokamata.Constraint` adds the algebra, questions and compiling.  Modules below it, such as compiled
constraints, refer to this class.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Generic, Literal, NamedTuple, TypeVar

import tokamata._core as _core
from tokamata.calls.arguments import advice_on_constraint, checked_instance, clipped
from tokamata.calls.recipes import Remade
from tokamata.errors import ArgumentError, ParseError, shown_argument
from tokamata.patterns.extensions import delimited_subsequence_of
from tokamata.resources.limits import CancelToken, Limits, Watch, checked_cancel, checked_limits, core_limits
from tokamata.values.forms import (
    Alternatives,
    Captured,
    Checked,
    Concatenated,
    Converted,
    Form,
    Option,
    Reading,
    Repeated,
    Subsequence,
    accepted,
)

if TYPE_CHECKING:
    from tokamata.patterns.extensions import Tokens
    from tokamata.patterns.json_schema import ReportEntry

__all__ = ["JOINS", "Denotation", "Refusal", "Thought", "checked_utf8", "remade", "repeated", "subsequence"]

_T_co = TypeVar("_T_co", covariant=True)


class _Texts(NamedTuple):
    """Texts of a constraint.

    Attributes:
        expression: which ones.
        automata: what calls before have learned of them; ``None`` for texts that take tokens.
    """

    expression: _core.Expression
    automata: _core.KeptAutomata | None


class Thought(NamedTuple):
    """A thought with which each text of a constraint begins.

    :mod:`tokamata.matching.thoughts` explains its bounds.

    Attributes:
        parts: one after another, all that is written up to the end of its end tag.
        end: the end tag as it is spelled; ``""`` if it is a control token alone.
        most_tokens: how many tokens may be written up to there, or ``None``.
        answer_tokens: how many tokens of a budget are kept for what follows, or ``None``.
        typical: a typical text of what follows, or ``""``.
    """

    parts: tuple[Denotation[Any], ...]
    end: str
    most_tokens: int | None
    answer_tokens: int | None
    typical: str


class Refusal(NamedTuple):
    """Where a text is refused.

    Attributes:
        text: up to the first byte that cannot come there.
        rest: what was to follow it.
        awaited: strings that the constraint requires at this place before all others.
    """

    text: bytes
    rest: bytes
    awaited: tuple[str, ...]


class Denotation(Remade, Generic[_T_co]):
    """A set of valid UTF-8 texts with their values; immutable.

    Attributes:
        pattern: the text that the constraint was made from, or a description of how it was made.
    """

    __slots__ = (
        "_is_pattern",
        "_is_spelled",
        "_kept_automata",
        "_kept_form",
        "_made",
        "_names",
        "_operands",
        "_operator",
        "pattern",
    )
    _kept_automata: dict[str, _Texts]
    _thought: Thought | None = None
    _has_key = True

    def __init__(
        self,
        expression: _core.Expression | None,
        pattern: str = "",
        *,
        is_pattern: bool = False,
        made_by: str = "",
        operands: tuple[Denotation[Any], ...] = (),
        form: Form | None = None,
        names: frozenset[str] = frozenset(),
        is_spelled: bool | None = None,
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
            is_spelled: control tokens may stand in its texts for their names; ``None``: if they may in those
                of an operand.
        """
        if expression is not None and not isinstance(expression, _core.Expression):  # called by a user
            makers = "made by tokamata.regex, tokamata.type and the like"
            hint = advice_on_constraint(expression)
            raise ArgumentError("a Constraint", f"of {shown_argument(expression)}", makers, hint)
        self._made = expression
        self.pattern = pattern
        self._is_pattern = is_pattern
        self._operator = made_by
        self._operands = operands
        self._kept_form = form
        self._names = names
        self._is_spelled: bool = (
            any(operand._is_spelled for operand in operands) if is_spelled is None else is_spelled
        )
        self._kept_automata = {}

    def accepts(
        self, text: str | bytes, *, limits: Limits | None = None, cancel: CancelToken | None = None
    ) -> bool:
        """Whether a text is one of this constraint's.

            tk.regex("[a-z]+").accepts("abc")        # True

        JSON is judged as it is written: its white space, its spelling and the order of its names have to be
        those of the constraint.  :meth:`parse` takes JSON in any style.

        Args:
            text: the text, without control tokens, as a ``str`` or in UTF-8; bytes that are not UTF-8 are no
                text.
            limits: bounds on the work; ``Limits()`` by default.
            cancel: stops the work, from another thread.

        Raises:
            ArgumentError: ``text`` is neither a ``str`` nor bytes.
            LimitExceeded, Cancelled: the work was stopped.
        """
        limits, cancel = checked_limits(limits), checked_cancel(cancel)
        try:
            data = checked_utf8(text)
        except ParseError:
            return False
        return self._refused_at("written", data, Reading(self.pattern, limits, cancel)) is None

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
            ParseError: the constraint does not accept the text, JSON in no style; the error has the position.
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
        """Raises ParseError if no value is to be read from the text."""
        if not self._operator and isinstance(self._kept_form, Checked):
            return
        reached = self._refused_at("read", text, reading)
        if reached is None:
            return
        shown = clipped(repr(self))
        if reached == len(text):
            raise ParseError(f"byte {reached}", f"the text ends, and {shown} is not complete")
        found = text[reached : reached + 20]
        raise ParseError(f"byte {reached}", f"found {found!r}; no text of {shown} continues with it")

    def _refused_at(self, role: Literal["written", "read"], text: bytes, reading: Reading) -> int | None:
        """``None`` if the text is accepted; otherwise how many bytes some accepted text may begin with."""
        texts = self._automata(role)
        if texts.automata is None:
            return accepted(texts.expression, text, reading)
        return texts.automata.refused_at(text, core_limits(reading.limits), reading.cancel, self.pattern)

    def _automata(self, role: Literal["written", "read"]) -> _Texts:
        """The texts that the constraint writes, or those that it reads, with what was learned of them."""
        kept = self._kept_automata.get(role)
        if kept is None:
            expression = self._expression if role == "written" else self._read_texts()
            if role == "read" and expression is self._expression:
                return self._automata("written")
            # What takes tokens is read by a splitter, which knows that control tokens have no bytes.
            takes_tokens = expression.sees_edges or bool(expression.control_tokens)
            kept = _Texts(expression, None if takes_tokens else _core.KeptAutomata(expression))
            self._kept_automata[role] = kept
        return kept

    def _read_texts(self) -> _core.Expression:
        """The texts that have a value, and that need no repair: all that are written, and maybe more."""
        return self._expression

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

    def _with_tokens(self, tokens: Tokens) -> Option | None:
        """Its texts with other tokens, if it is not made of operands; ``None`` if they cannot be made."""
        return None if tokens.are_marks and self._expression.control_tokens else self._option

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

    def _typical_text(self) -> str:
        """A text that is about as long as those that models write; ``""`` if nothing is known of them."""
        return ""

    def _hint_on_refusal(self, refusal: Refusal, limits: Limits) -> str:
        """Why a text is refused, or which option would allow it; ``""`` if nothing is known."""
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


def remade(whole: Denotation[Any], tokens: Tokens, watch: Watch) -> Option | None:
    """A constraint, made a second time with tokens that are written in another manner.

    Parts are made before their wholes, without recursion: constraints nest deeper than Python's stack.

    Returns:
        ``None`` if it cannot be made with marks, because a regular expression, a grammar or a complement in
        it contains a control token.

    Raises:
        LimitExceeded, Cancelled: the work was stopped.
    """
    made: dict[int, Option | None] = {}
    waiting = [whole]
    while waiting:
        watch.check()
        one = waiting[-1]
        if id(one) in made:
            waiting.pop()
            continue
        concerned = one._is_spelled or (tokens.are_marks and one._expression.control_tokens)
        if not (concerned and one._operands) or one._operator == "~":  # a complement has texts alone
            made[id(one)] = one._with_tokens(tokens)
            continue
        rest = [operand for operand in one._operands if id(operand) not in made]
        if rest:
            waiting += reversed(rest)
            continue
        options = [option for operand in one._operands if (option := made[id(operand)]) is not None]
        if len(options) < len(one._operands):
            made[id(one)] = None
        elif all(map(_is_unchanged, one._operands, options)):
            made[id(one)] = one._option
        else:
            made[id(one)] = rebuilt(one._operator, options, one._form)
    return made[id(whole)]


def _is_unchanged(operand: Denotation[Any], option: Option) -> bool:
    return option.expression is operand._expression


def rebuilt(operator: str, options: list[Option], form: Form) -> Option | None:
    """A constraint, made again by its operator from operands that were changed; ``None`` if it cannot be."""
    if isinstance(form, Converted):
        inner = rebuilt(operator, options, form.form)
        return None if inner is None else Option(inner.expression, form.around(inner.form))
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
    if operator == "subsequence":
        *items, delimiter = options
        return subsequence(items, delimiter.expression)
    if operator in ("repeat", "separated_by") and isinstance(form, Repeated):
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


def subsequence(items: list[Option], delimiter: _core.Expression) -> Option:
    """One or more of the items, in their order, with a text of the delimiter between each two."""
    scoped = [_core.scope(item.expression) for item in items]
    expression = delimited_subsequence_of(scoped, _core.scope(delimiter))
    return Option(expression, Subsequence(items, delimiter))


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
