"""Constraints: sets of texts, before any vocabulary, and their algebra.

Every constraint denotes a set of valid UTF-8 texts (in which a control token may stand, where a
pattern names one) and sees only its own text: in ``regex(r"foo\\b") + regex("bar")`` the ``\\b`` sees an
end of text, so that ``foobar`` is accepted.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from tokamata import _core
from tokamata.arguments import checked_bounds, checked_instance, checked_list, checked_text, clipped
from tokamata.blame import why_empty
from tokamata.compiled import CompiledConstraint, Tokenization
from tokamata.errors import (
    AlgebraError,
    ArgumentError,
    EmptyConstraintError,
    NoValuesError,
    ParseError,
    shown_argument,
)
from tokamata.limits import CancelToken, Limits, Watch, checked_cancel, checked_limits, core_limits
from tokamata.patterns.extensions import EXTENSIONS
from tokamata.patterns.regex import to_expression

if TYPE_CHECKING:
    from tokamata.vocabulary import Vocabulary


@dataclass(frozen=True)
class Answer:
    """The answer to a question about two constraints; true where it is yes.

    Attributes:
        witness: a shortest text that shows why not; ``None`` where the answer is yes.
    """

    witness: str | None

    def __bool__(self) -> bool:
        return self.witness is None


class Constraint:
    """A set of valid UTF-8 texts, independent of any vocabulary; immutable.

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
    ======================  ==========================================================

    Turned into masks by :meth:`compile`.

    Attributes:
        pattern: the text that the constraint was made from, or a description of how it was made.
    """

    __slots__ = ("_is_pattern", "_made", "_operands", "_operator", "_reader", "pattern")

    def __init__(
        self,
        expression: _core.Expression | None,
        pattern: str,
        *,
        is_pattern: bool = False,
        made_by: str = "",
        operands: tuple[Constraint, ...] = (),
        reader: Callable[[str], Any] | None = None,
    ) -> None:
        """``is_pattern``: places in the expression are offsets into ``pattern``.

        ``reader``: makes values of texts, for :meth:`parse`.

        ``made_by`` and ``operands`` say what the constraint was combined from, so that a long chain of one
        operator stays flat.  Such chains have no expression until it is asked for.
        """
        self._made = expression
        self.pattern = pattern
        self._is_pattern = is_pattern
        self._operator = made_by
        self._operands = operands
        self._reader = reader

    # ---- algebra ------------------------------------------------------------------------------

    def __add__(self, other: Constraint) -> Constraint:
        """A text of this constraint, and then one of the other."""
        return self._join("+", other)

    def __or__(self, other: Constraint) -> Constraint:
        """The texts of either."""
        return self._join("|", other)

    def __and__(self, other: Constraint) -> Constraint:
        """The texts of both."""
        return self._join("&", other)

    def __sub__(self, other: Constraint) -> Constraint:
        """The texts of this constraint that are not texts of the other.

        Raises:
            AlgebraError: whether a text is of ``other`` depends on how it is cut into tokens.
        """
        if isinstance(other, Constraint):
            other._refuse_edges()
        return self._join("-", other)

    def __invert__(self) -> Constraint:
        """All valid texts that are not texts of this constraint.

        Raises:
            AlgebraError: whether a text is of this constraint depends on how it is cut into tokens.
        """
        self._refuse_edges()
        others = _core.complement(_core.scope(self._expression))
        name = f"~{self._as_operand()}"
        return Constraint(_core.intersect([_core.text(), others]), name, made_by="~", operands=(self,))

    def repeat(self, minimum: int = 0, maximum: int | None = None) -> Constraint:
        """``minimum`` to ``maximum`` texts of this constraint, one after another; ``None`` is without bound.

        Raises:
            ArgumentError: the bounds are not whole numbers with ``0 <= minimum <= maximum``.
        """
        low, high = checked_bounds(minimum, maximum)
        bounds = f"{low}" if high is None else f"{low}, {high}"
        expression = _core.repeat(_core.scope(self._expression), low, high)
        name = f"{self._as_operand()}.repeat({bounds})"
        return Constraint(expression, name, made_by="repeat", operands=(self,))

    def optional(self) -> Constraint:
        """A text of this constraint, or the empty text."""
        expression = _core.union([_core.epsilon(), self._expression])
        return Constraint(expression, f"{self._as_operand()}.optional()")

    def separated_by(self, separator: Constraint, minimum: int = 1, maximum: int | None = None) -> Constraint:
        """``minimum`` to ``maximum`` texts of this constraint, with one of ``separator`` between each two.

        Raises:
            ArgumentError: the separator is no constraint, or the bounds are not whole numbers with
                ``0 <= minimum <= maximum``.
        """
        checked_instance("separator", separator, Constraint)
        low, high = checked_bounds(minimum, maximum)
        name = f"{self._as_operand()}.separated_by({clipped(repr(separator))}, {low}, {high})"
        if high == 0:
            return Constraint(_core.epsilon(), name)
        item = _core.scope(self._expression)
        more = _core.concat([_core.scope(separator._expression), item])
        rest = _core.repeat(more, max(low - 1, 0), None if high is None else high - 1)
        expression = _core.concat([item, rest])
        if low == 0:
            expression = _core.union([_core.epsilon(), expression])
        operands = (self, separator) if low > 1 else (self,)  # those that every text has one of
        return Constraint(expression, name, made_by="separated_by", operands=operands)

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
        self, other: Constraint, *, limits: Limits | None = None, cancel: CancelToken | None = None
    ) -> Answer:
        """Whether every text of this constraint is one of ``other``; the witness is one that is not.

        Raises as :meth:`shortest_text` does.
        """
        self._refuse_tokens("is_subset_of", other)
        return Answer((self - other).shortest_text(limits=limits, cancel=cancel))

    def is_equivalent_to(
        self, other: Constraint, *, limits: Limits | None = None, cancel: CancelToken | None = None
    ) -> Answer:
        """Whether both accept the same texts; the witness is one that only one of them does.

        Raises as :meth:`shortest_text` does.
        """
        self._refuse_tokens("is_equivalent_to", other)
        return Answer(((self - other) | (other - self)).shortest_text(limits=limits, cancel=cancel))

    def parse(self, text: str | bytes) -> Any:
        """The value that a text of this constraint stands for.

        An instance for :func:`tokamata.type`, what ``json.loads`` gives for JSON.  What the constraint
        has enforced already is not checked again; types are.

        Raises:
            NoValuesError: the texts stand for nothing but themselves, as those of a regular expression do.
            ParseError: it is none of its texts.
        """
        if self._reader is None:
            raise NoValuesError(repr(self), "parse")
        if not isinstance(text, str):
            checked_instance("text", text, (bytes, bytearray, memoryview), "a str, or bytes of UTF-8")
            try:
                text = bytes(text).decode()
            except UnicodeDecodeError as error:
                raise ParseError(f"byte {error.start}", "no UTF-8") from None
        return self._reader(text)

    # ---- compiling ----------------------------------------------------------------------------

    def compile(
        self,
        vocabulary: Vocabulary,
        *,
        limits: Limits | None = None,
        cancel: CancelToken | None = None,
        start_of_text: bool = False,
        tokenization: Tokenization = "any",
    ) -> CompiledConstraint:
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

    def _join(self, operator: str, other: Constraint) -> Constraint:
        """Joins two constraints by an operator; chains of one operator stay flat."""
        if isinstance(other, str):  # a slip that Python's own error would not help with
            checked_instance(f"the right-hand side of {operator}", other, Constraint)
        if not isinstance(other, Constraint):
            return NotImplemented
        # a - (b - c) is no chain: there the right-hand side is one operand.
        operands = self._chain(operator) + other._chain(operator if operator != "-" else None)
        return Constraint(None, _described(f" {operator} ", operands), made_by=operator, operands=operands)

    def _chain(self, operator: str | None) -> tuple[Constraint, ...]:
        """The operands of a chain of this operator, or the constraint itself."""
        if self._operator == operator:
            return self._operands
        _ = self._expression  # made now, so that making one never goes down more than one level
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

    def _refuse_tokens(self, question: str, *others: Constraint) -> None:
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


def regex(
    pattern: str,
    flags: re.RegexFlag | int = 0,
    *,
    dialect: Literal["python", "ecma"] = "python",
    limits: Limits | None = None,
    cancel: CancelToken | None = None,
) -> Constraint:
    r"""The texts that a regular expression matches.

    ``dialect="python"``: the syntax of Python's ``re``, with ``\p{…}`` for Unicode properties and
    lookbehinds of any length besides; the language is that of ``re.fullmatch``.

    ``dialect="ecma"``: the syntax of ECMA-262 with the ``u`` flag; as in JSON Schema the pattern may
    match anywhere in the text, unless it is anchored.

    In both, the extensions of :mod:`tokamata.patterns.extensions` are written as groups,
    ``(?P<QUOTED_TEXT>)``.  Unicode classes and case come from one version of the
    tables, ``tokamata.patterns.unicode.UNICODE_VERSION``, whatever Python runs it.

    Args:
        pattern: the regular expression.
        flags: ``re.IGNORECASE``, ``re.MULTILINE``, ``re.DOTALL``, ``re.VERBOSE``, ``re.ASCII``, or 0.
        dialect: whose syntax it is.
        limits: the ``seconds`` that reading it may take; ``Limits()`` by default.
        cancel: stops the reading, from another thread.

    Raises:
        ArgumentError: it is no ``str``, or flags, dialect, limits or cancel are none.
        PatternSyntaxError: it does not parse.
        NotRegularError: it uses what no regular language can say (backreferences, conditionals).
        UnsupportedPatternError: it uses what tokamata cannot express.
        LimitExceeded, Cancelled: it nests too deep, or the reading was stopped.
    """
    watch = Watch(limits, cancel)
    expression = to_expression(pattern, flags, dialect=dialect, extensions=EXTENSIONS, watch=watch)
    return Constraint(expression, pattern, is_pattern=True)


def literal(text: str) -> Constraint:
    """Exactly this text.

    Raises:
        ArgumentError: it is not a ``str``, or holds a surrogate, which no valid text does.
    """
    return Constraint(_core.literal(checked_text(text)), f"literal({clipped(repr(text))})")


def choice(options: Iterable[str | Constraint]) -> Constraint:
    """Any one of the options: texts that stand for themselves, or constraints.

    Hundreds of thousands of texts are fine; they become one automaton.

    Raises:
        ArgumentError: there is no option, one is neither a ``str`` nor a :class:`Constraint` or holds a
            surrogate, or ``options`` is one text.
    """
    hint = f"use literal({options!r:.40})" if isinstance(options, str) else ""
    texts: list[str] = []
    others: list[_core.Expression] = []
    for option in checked_list("options", options, "a list of texts and constraints", hint):
        if isinstance(option, str):
            texts.append(option)
        elif isinstance(option, Constraint):
            others.append(option._expression)
        else:
            raise ArgumentError("an option", shown_argument(option), "a str or a Constraint")
    if not texts and not others:
        raise ArgumentError("options", "an empty one", "a list of at least one option")
    if texts:
        try:
            others.append(_core.strings(texts))
        except UnicodeEncodeError:
            checked_text(next(text for text in texts if not _is_valid(text)))
            raise
    shown = ", ".join(repr(text)[:40] for text in texts[:4])
    count = len(texts) + len(others) - bool(texts)
    name = f"choice([{shown}])" if count == len(texts) <= 4 else f"choice of {count:,} ({shown}, …)"
    return Constraint(_core.union(others) if len(others) > 1 else others[0], clipped(name))


def _is_valid(text: str) -> bool:
    return not any("\ud800" <= character <= "\udfff" for character in text)


def _described(joint: str, operands: tuple[Constraint, ...]) -> str:
    shown = joint.join(operand._as_operand() for operand in operands[:8])
    return clipped(shown + (joint + "…" if len(operands) > 8 else ""))
