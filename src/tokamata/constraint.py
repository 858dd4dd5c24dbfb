"""Constraints: sets of texts, before any vocabulary, and their algebra.

Every constraint denotes a set of valid UTF-8 texts (in which a control token may stand, where a
pattern names one) and sees only its own text: in ``regex(r"foo\\b") + regex("bar")`` the ``\\b`` sees an
end of text, so that ``foobar`` is accepted.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

from tokamata import _core
from tokamata.arguments import (
    checked_bounds,
    checked_instance,
    checked_name,
    clipped,
)
from tokamata.blame import why_empty
from tokamata.compiled import CompiledConstraint, Tokenization
from tokamata.errors import (
    AlgebraError,
    ArgumentError,
    EmptyConstraintError,
    ParseError,
)
from tokamata.limits import CancelToken, Limits, checked_cancel, checked_limits, core_limits
from tokamata.values.forms import (
    Alternatives,
    Captured,
    Concatenated,
    Form,
    Option,
    Plain,
    Read,
    Reading,
    Repeated,
    accepted,
)
from tokamata.values.parts import Parts
from tokamata.values.variadic import TypeVarTuple, Unpack

if TYPE_CHECKING:
    from tokamata.patterns.json_schema import ReportEntry
    from tokamata.vocabulary import Vocabulary

_T = TypeVar("_T")
_U = TypeVar("_U")
_V = TypeVar("_V")
_W = TypeVar("_W")
_X = TypeVar("_X")
_T_co = TypeVar("_T_co", covariant=True)
_Ts = TypeVarTuple("_Ts")
_Us = TypeVarTuple("_Us")


@dataclass(frozen=True)
class Answer:
    """The answer to a question about two constraints; true where it is yes.

    Attributes:
        witness: a shortest text that shows why not; ``None`` where the answer is yes.
    """

    witness: str | None

    def __bool__(self) -> bool:
        return self.witness is None


class Constraint(Generic[_T_co]):
    """A set of valid UTF-8 texts, independent of any vocabulary, each of which stands for a value; immutable.

    ``Constraint[T]`` is one whose texts :meth:`parse` to a ``T``.

    Made by :func:`tokamata.regex`, :func:`tokamata.literal`, :func:`tokamata.choice` and the
    functions of :mod:`tokamata.patterns.extensions`; combined by

    ======================  ==========================================================
    ``a + b``               a text of ``a`` and then one of ``b``
    ``a | b``               texts of either
    ``a & b``               texts of both
    ``a - b``               texts of ``a`` that are not of ``b``
    ``~a``                  all other valid texts
    ``a.repeat(2, 5)``      two to five texts of ``a``, one after another
    ``a.optional()``        a text of ``a``, or the empty text
    ``a.separated_by(b)``   texts of ``a`` with one of ``b`` between each two
    ``a.captured("name")``  the same texts; their value has a name in a sequence
    ======================  ==========================================================

    Turned into masks by :meth:`compile`; :mod:`tokamata.values.forms` says which value a text has.

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
        operands: tuple[Constraint[Any], ...] = (),
        form: Form | None = None,
        names: frozenset[str] = frozenset(),
    ) -> None:
        """``is_pattern``: places in the expression are offsets into ``pattern``.

        ``made_by`` and ``operands`` say what the constraint was combined from, so that a long chain of one
        operator stays flat.  Such chains have no expression until it is asked for.

        ``form``: how its texts are read; made when it is first asked for, of those of the operands, where
        it is ``None``.  ``names``: of captured parts in it.
        """
        self._made = expression
        self.pattern = pattern
        self._is_pattern = is_pattern
        self._operator = made_by
        self._operands = operands
        self._kept_form = form
        self._names = names

    # ---- algebra ------------------------------------------------------------------------------

    @overload
    def __add__(self, other: Concatenation[Unpack[_Us]]) -> Concatenation[_T_co, Unpack[_Us]]: ...
    @overload
    def __add__(self, other: Constraint[_U]) -> Concatenation[_T_co, _U]: ...
    def __add__(self, other: Any) -> Any:
        """A text of this constraint, and then one of the other; a chain of ``+`` is one sequence.

        Raises:
            ArgumentError: two parts were captured under one name.
        """
        return self._join("+", other)

    def __or__(self, other: Constraint[_U]) -> Constraint[_T_co | _U]:
        """The texts of either; their value is that of the first that accepts."""
        return self._join("|", other)

    def __and__(self, other: Constraint[Any]) -> Constraint[_T_co]:
        """The texts of both; their values are those of this constraint."""
        return self._join("&", other)

    def __sub__(self, other: Constraint[Any]) -> Constraint[_T_co]:
        """The texts of this constraint that are not texts of the other.

        Raises:
            AlgebraError: whether a text is of ``other`` depends on how it is cut into tokens.
        """
        if isinstance(other, Constraint):
            other._refuse_edges()
        return self._join("-", other)

    def __invert__(self) -> Constraint[Any]:
        """All valid texts that are not texts of this constraint.

        Raises:
            AlgebraError: whether a text is of this constraint depends on how it is cut into tokens.
        """
        self._refuse_edges()
        others = _core.complement(_core.scope(self._expression))
        name = f"~{self._as_operand()}"
        expression = _core.intersect([_core.text(), others])
        return Constraint(expression, name, made_by="~", operands=(self,), form=Plain())

    def captured(self, name: str) -> Constraint[_T_co]:
        """The same texts, whose value has a name in the sequence that this is a part of.

            thought = tk.text_until("</think>").captured("thought")
            (thought + tk.json()).parse("Hm.</think>[1]").thought     # "Hm.</think>"

        A sequence within another one, or in a repetition, has names of its own.

        Raises:
            ArgumentError: the name is no identifier, begins with ``_``, or is a member of :class:`Parts`.
        """
        checked_name("name", name, dir(Parts))
        names = self._seen_names
        if name in names:
            raise ArgumentError("name", repr(name), "one that is not captured within it already")
        return Constraint(
            self._expression,
            f"{self._as_operand()}.captured({name!r})",
            made_by="captured",
            operands=(self,),
            form=Captured(name, self._form),
            names=names | {name},
        )

    def repeat(self, minimum: int = 0, maximum: int | None = None) -> Constraint[list[_T_co]]:
        """``minimum`` to ``maximum`` texts of this constraint, one after another; ``None`` is without bound.

        Raises:
            ArgumentError: the bounds are not whole numbers with ``0 <= minimum <= maximum``.
        """
        low, high = checked_bounds(minimum, maximum)
        bounds = f"{low}" if high is None else f"{low}, {high}"
        expression = _core.repeat(_core.scope(self._expression), low, high)
        name = f"{self._as_operand()}.repeat({bounds})"
        form = Repeated(self._option, low, high)
        return Constraint(expression, name, made_by="repeat", operands=(self,), form=form)

    def optional(self) -> Constraint[_T_co | None]:
        """A text of this constraint, or the empty text; ``None`` where only the latter accepts."""
        expression = _core.union([_core.epsilon(), self._expression])
        form = Alternatives([self._option, Option(_core.epsilon(), Read(_nothing))])
        name = f"{self._as_operand()}.optional()"
        return Constraint(
            expression, name, made_by="optional", operands=(self,), form=form, names=self._seen_names
        )

    def separated_by(
        self, separator: Constraint[Any], minimum: int = 1, maximum: int | None = None
    ) -> Constraint[list[_T_co]]:
        """``minimum`` to ``maximum`` texts of this constraint, with one of ``separator`` between each two.

        Raises:
            ArgumentError: the separator is no constraint, or the bounds are not whole numbers with
                ``0 <= minimum <= maximum``.
        """
        checked_instance("separator", separator, Constraint)
        low, high = checked_bounds(minimum, maximum)
        name = f"{self._as_operand()}.separated_by({clipped(repr(separator))}, {low}, {high})"
        form = Repeated(self._option, low, high, separator._expression)
        if high == 0:
            return Constraint(_core.epsilon(), name, form=form)
        item = _core.scope(self._expression)
        more = _core.concat([_core.scope(separator._expression), item])
        rest = _core.repeat(more, max(low - 1, 0), None if high is None else high - 1)
        expression = _core.concat([item, rest])
        if low == 0:
            expression = _core.union([_core.epsilon(), expression])
        return Constraint(expression, name, made_by="separated_by", operands=(self, separator), form=form)

    # ---- questions ----------------------------------------------------------------------------

    def shortest_text(self, *, limits: Limits | None = None, cancel: CancelToken | None = None) -> str | None:
        """A shortest text of this constraint, in bytes; ``None`` where no text is accepted.

        Method: breadth first over the states of the byte automaton, each once.

        Args:
            limits: what the search may cost; ``Limits()`` by default.
            cancel: stops the search, from another thread.

        Raises:
            AlgebraError: a text of this constraint needs tokens (control tokens, token edges).
            LimitExceeded, Cancelled: the search was stopped.
        """
        self._refuse_tokens("shortest_text")
        found = _core.shortest_text(
            self._expression,
            core_limits(checked_limits(limits)),
            checked_cancel(cancel),
            *self._error_pattern(),
        )
        return None if found is None else found.decode()

    def is_empty(self, *, limits: Limits | None = None, cancel: CancelToken | None = None) -> bool:
        """Whether no text is accepted; raises as :meth:`shortest_text` does."""
        return self.shortest_text(limits=limits, cancel=cancel) is None

    def is_subset_of(
        self, other: Constraint[Any], *, limits: Limits | None = None, cancel: CancelToken | None = None
    ) -> Answer:
        """Whether every text of this constraint is one of ``other``; the witness is one that is not.

        Raises as :meth:`shortest_text` does.
        """
        self._refuse_tokens("is_subset_of", other)
        return Answer((self - other).shortest_text(limits=limits, cancel=cancel))

    def is_equivalent_to(
        self, other: Constraint[Any], *, limits: Limits | None = None, cancel: CancelToken | None = None
    ) -> Answer:
        """Whether both accept the same texts; the witness is one that only one of them does.

        Raises as :meth:`shortest_text` does.
        """
        self._refuse_tokens("is_equivalent_to", other)
        return Answer(((self - other) | (other - self)).shortest_text(limits=limits, cancel=cancel))

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
        pending: list[tuple[str, Constraint[Any]]] = [("", self)]
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

    # ---- compiling ----------------------------------------------------------------------------

    def compile(
        self,
        vocabulary: Vocabulary,
        *,
        limits: Limits | None = None,
        cancel: CancelToken | None = None,
        start_of_text: bool = False,
        tokenization: Tokenization = "any",
    ) -> CompiledConstraint[_T_co]:
        """Composes the constraint with a vocabulary.

        Cheap: states and masks are made when they are asked for.

        Args:
            vocabulary: the tokens that a text is to be written in.
            limits: what compiling, and the work of each matcher, may cost; ``Limits()`` by default.
            cancel: stops any work under way, from another thread.
            start_of_text: the text is the first thing that the tokenizer decodes, so that its
                decoder's rule for the start holds (Llama 2 drops a space there).
            tokenization: ``"any"`` admits every sequence of tokens that spells a text; ``"canonical"`` only
                those that are the tokenizer's own for it.  The start of a text is then where the
                tokenizer has it.

        Raises:
            EmptyConstraintError: no text matches.
            UnspellableError: no text that matches can be spelled by the vocabulary.
            UnknownTokenError: the vocabulary lacks a control token that the constraint names.
            NoncanonicalError: the tokenizer changes every text that matches.
            AlgebraError: the constraint asks where tokens begin and end, and is to be canonical.
            ArgumentError: an argument of another type.
            UnsupportedTokenizerError: the tokenizer cannot be followed; the error says which part of it.
            LimitExceeded, Cancelled: compiling was stopped.
        """
        limits, cancel = checked_limits(limits), checked_cancel(cancel)
        try:
            return CompiledConstraint(
                self._expression,
                *self._error_pattern(),
                vocabulary,
                limits,
                cancel,
                start_of_text,
                tokenization,
                self,
            )
        except EmptyConstraintError as error:
            blamed, pointers = self._why_empty(vocabulary, limits, cancel)
            raise EmptyConstraintError(f"{error}\n{blamed}", pointers) if blamed else error from None

    def __repr__(self) -> str:
        return f"tokamata.regex({self.pattern!r})" if self._is_pattern else self.pattern

    # ---- inner --------------------------------------------------------------------------------

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
        """How its texts are read; made when it is first asked for, as chains are."""
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

    def _why_empty(
        self, vocabulary: Vocabulary, limits: Limits, cancel: CancelToken | None
    ) -> tuple[str, tuple[str, ...]]:
        """Why no text matches, in words, and the places in a schema that are to blame."""
        return why_empty(self, limits, cancel), ()

    @property
    def _expression(self) -> _core.Expression:
        """What the engine takes.

        That of a chain is made when it is first asked for: a chain that grows in a loop, operand by operand,
        then costs no expression for each of its beginnings.
        """
        if self._made is None:
            self._made = _JOINS[self._operator]([operand._expression for operand in self._operands])
        return self._made

    def _join(self, operator: str, other: Constraint[Any]) -> Constraint[Any]:
        """Joins two constraints by an operator; chains of one operator stay flat."""
        if isinstance(other, str):  # a slip that Python's own error would not help with
            checked_instance(f"the right-hand side of {operator}", other, Constraint)
        if not isinstance(other, Constraint):
            return NotImplemented
        # a - (b - c) is no chain: there the right-hand side is one operand.
        operands = self._chain(operator) + other._chain(operator if operator != "-" else None)
        mine = self._names if self._operator == operator else self._seen_names
        theirs = other._names if other._operator == operator else other._seen_names
        if operator in ("&", "-"):
            theirs = frozenset()
        if operator == "+" and not mine.isdisjoint(theirs):
            raise ArgumentError("name", repr(min(mine & theirs)), "one that no other part is captured under")
        make = Concatenation if operator == "+" else Constraint
        shown = _described(f" {operator} ", operands)
        return make(None, shown, made_by=operator, operands=operands, names=mine | theirs)

    def _chain(self, operator: str | None) -> tuple[Constraint[Any], ...]:
        """The operands of a chain of this operator, or the constraint itself."""
        if self._operator == operator:
            return self._operands
        _ = self._expression, self._form  # made now, so that making one never goes down more than one level
        return (self,)

    def _needs(self) -> str:
        """What in it is about tokens, so that it has no texts by itself; ``""`` if nothing is."""
        if names := self._expression.control_tokens:
            kind, _, name = names[0].partition(":")
            return "IMAGE" if kind == "image" else f"the control token {clipped(name, 80)}"
        return "TEXT_TOKEN or PARAGRAPH_TOKEN" if self._expression.sees_edges else ""

    def _refuse_edges(self) -> None:
        if self._expression.sees_edges:
            raise AlgebraError(
                f"{clipped(repr(self))} cannot be complemented: whether a text is one of its texts depends "
                "on how it is cut into tokens; complement the parts around TEXT_TOKEN and PARAGRAPH_TOKEN "
                "instead"
            )

    def _refuse_tokens(self, question: str, *others: Constraint[Any]) -> None:
        for constraint in (self, *others):
            checked_instance("other", constraint, Constraint)
            if need := constraint._needs():
                raise AlgebraError(
                    f"{question} is about texts, and {clipped(repr(constraint))} has {need} in it; compile "
                    "it and ask the matcher"
                )

    def _error_pattern(self) -> tuple[str, bool]:
        return self.pattern, self._is_pattern

    def _as_operand(self) -> str:
        name = clipped(repr(self))
        return f"({name})" if self._operator in _JOINS or self._operator == "~" else name


class Concatenation(Constraint[Parts[Unpack[_Ts]]]):
    """One constraint after another; their values are a tuple, :class:`Parts`.  Made by ``a + b + …``."""

    __slots__ = ()

    # A type holds the parts of one sequence of any length: of a second one, up to four are known by number.
    @overload  # type: ignore[override]
    def __add__(self, other: Concatenation[_U, _V]) -> Concatenation[Unpack[_Ts], _U, _V]: ...
    @overload
    def __add__(self, other: Concatenation[_U, _V, _W]) -> Concatenation[Unpack[_Ts], _U, _V, _W]: ...
    @overload
    def __add__(self, other: Concatenation[_U, _V, _W, _X]) -> Concatenation[Unpack[_Ts], _U, _V, _W, _X]: ...
    @overload
    def __add__(self, other: Concatenation[Unpack[_Us]]) -> Concatenation[Unpack[tuple[Any, ...]]]: ...
    @overload
    def __add__(self, other: Constraint[_U]) -> Concatenation[Unpack[_Ts], _U]: ...
    def __add__(self, other: Any) -> Any:
        """A text of this sequence, and then one of the other constraint: a longer sequence."""
        return super().__add__(other)


# What is made of constraints by these has the value of one of them, with its captured names.
_TRANSPARENT = frozenset({"|", "&", "-", "optional", "choice", "captured"})


def _nothing(_: str) -> None:
    """The value of the empty text where something optional was left out."""


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


_JOINS: dict[str, Callable[[list[_core.Expression]], _core.Expression]] = {
    "+": _concatenation,
    "|": _core.union,
    "&": _core.intersect,
    "-": _difference,
}


def _described(joint: str, operands: tuple[Constraint[Any], ...]) -> str:
    shown = joint.join(operand._as_operand() for operand in operands[:8])
    return clipped(shown + (joint + "…" if len(operands) > 8 else ""))
