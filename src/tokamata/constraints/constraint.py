"""Constraints: sets of texts, before any vocabulary, and their algebra."""

from __future__ import annotations

import operator
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from types import NoneType
from typing import TYPE_CHECKING, Any, Literal, NoReturn, TypeVar, overload

import tokamata._core as _core
from tokamata.calls.arguments import (
    advice_on_constraint,
    checked_bounds,
    checked_flag,
    checked_instance,
    checked_name,
    checked_whole,
    clipped,
    no_attribute,
)
from tokamata.calls.keywords import checked_call
from tokamata.calls.recipes import Call
from tokamata.display.html import lines, panel, span
from tokamata.errors import (
    AlgebraError,
    ArgumentError,
    EmptyConstraintError,
    shown_argument,
)
from tokamata.matching.compositions import Tokenization
from tokamata.matching.matchers import CompiledConstraint
from tokamata.repair.costs import MOST_COST, EditCosts
from tokamata.repair.couplings import coupled_repairs
from tokamata.repair.default_costs import DEFAULT_COSTS, costs_without_finders
from tokamata.repair.distinct import NearestValues, margin_of
from tokamata.repair.repair_bounds import RepairBounds
from tokamata.repair.results import Margin, Repair
from tokamata.repair.rewards import Reward
from tokamata.repair.searching import LEAST_SECONDS, Search, checked_broken, hundredths_of, within_deadline
from tokamata.repair.streams import RepairStream
from tokamata.resources.limits import CancelToken, Limits, checked_cancel, checked_limits, core_limits
from tokamata.values.denotation import JOINS, Denotation, repeated
from tokamata.values.forms import (
    Alternatives,
    Captured,
    Option,
    Plain,
    Read,
    Repeated,
    is_json,
)
from tokamata.values.parts import Parts
from tokamata.values.variadic import TypeVarTuple, Unpack

if TYPE_CHECKING:
    from tokamata.vocabulary import Vocabulary

_COMPILE = "compile the constraint: constraint.compile(vocabulary)"
_ELSEWHERE = {  # what a compiled constraint has, and its matcher
    **{name: f"{_COMPILE}.{name}(…)" for name in ("matcher", "save", "prepare", "process_rewards")},
    "allocate_mask": f"{_COMPILE}.allocate_mask()",
    **{
        name: f"{_COMPILE}.matcher().{name}"
        for name in ("mask", "fill_mask", "advance", "explain", "validate", "forced_text")
    },
    "generate": "call tokamata.generate(model, tokenizer, prompt, constraint)",
    "fullmatch": "call accepts(text), or parse(text) for the value",
    "match": "call accepts(text), or parse(text) for the value",
}
_T = TypeVar("_T")
_U = TypeVar("_U")
_V = TypeVar("_V")
_W = TypeVar("_W")
_X = TypeVar("_X")
_T_co = TypeVar("_T_co", covariant=True)
_Ts = TypeVarTuple("_Ts")
_Us = TypeVarTuple("_Us")


_WEIGHT = 3.0  # of the search for repairs


@dataclass(frozen=True)
class Answer:
    """The answer to a question about two constraints; as a ``bool``, it is true for yes.

    Attributes:
        witness: a shortest text that shows why not; ``None`` if the answer is yes.
    """

    witness: str | None

    def __bool__(self) -> bool:
        return self.witness is None


class Constraint(Denotation[_T_co]):
    """A set of valid UTF-8 texts with their values, independent of any vocabulary; immutable.

    :meth:`parse` of a ``Constraint[T]`` returns a ``T``.

    Made by :func:`tokamata.regex`, :func:`tokamata.literal`, :func:`tokamata.choice` and the
    functions of :mod:`tokamata.patterns.extensions`; combined by

    ======================  ==========================================================
    ``a + b``               a text of ``a``, then one of ``b``
    ``a | b``               texts of either
    ``a & b``               texts of both
    ``a - b``               texts of ``a`` that are not of ``b``
    ``~a``                  all other valid texts
    ``a.repeat(2, 5)``      two to five texts of ``a``, one after another
    ``a.optional()``        a text of ``a``, or the empty text
    ``a.separated_by(b)``   texts of ``a`` with one of ``b`` between each two
    ``a.captured("name")``  the same texts; their value has a name in a sequence
    ======================  ==========================================================

    :meth:`compile` makes masks of it.  :mod:`tokamata.values.forms` lists the values of texts.

    Attributes:
        pattern: the text that the constraint was made from, or a description of how it was made.
    """

    __slots__ = ()

    def _repr_html_(self) -> str:
        """For notebooks: how it was made."""
        return panel(type(self).__name__, lines([span(clipped(repr(self)))]))

    # ---- algebra ------------------------------------------------------------------------------

    @overload
    def __add__(self, other: Concatenation[Unpack[_Us]]) -> Concatenation[_T_co, Unpack[_Us]]: ...
    @overload
    def __add__(self, other: Constraint[_U]) -> Concatenation[_T_co, _U]: ...
    def __add__(self, other: Any) -> Any:
        """A text of this constraint, then one of the other; a chain of ``+`` is one sequence.

        Raises:
            ArgumentError: two parts were captured under one name.
        """
        return self._join("+", other)

    def __or__(self, other: Constraint[_U]) -> Constraint[_T_co | _U]:
        """The texts of either; a text has the value of the first that accepts it."""
        return self._join("|", other)

    def __and__(self, other: Constraint[Any]) -> Constraint[_T_co]:
        """The texts of both, with the values of this constraint."""
        return self._join("&", other)

    def __sub__(self, other: Constraint[Any]) -> Constraint[_T_co]:
        """The texts of this constraint that are not texts of the other.

        Raises:
            AlgebraError: whether ``other`` accepts a text depends on how it is cut into tokens.
        """
        if isinstance(other, Constraint):
            other._refuse_edges()
        return self._join("-", other)

    if not TYPE_CHECKING:  # to a type checker, such an operation is an error

        def __radd__(self, other: object) -> Any:
            """Refuses a text, a class or a schema, and says how to make a constraint of it.

            Raises:
                ArgumentError: ``other`` is one.
            """
            return self._refuse_left("+", other)

        def __ror__(self, other: object) -> Any:
            """As :meth:`__radd__`."""
            return self._refuse_left("|", other)

        def __rand__(self, other: object) -> Any:
            """As :meth:`__radd__`."""
            return self._refuse_left("&", other)

        def __rsub__(self, other: object) -> Any:
            """As :meth:`__radd__`."""
            return self._refuse_left("-", other)

        def __mul__(self, count: object) -> NoReturn:
            """Refuses a number, and says how to repeat a constraint.

            Raises:
                ArgumentError: always.
            """
            shown = count if isinstance(count, int) else "…"
            hint = f"write constraint.repeat({shown}, {shown})"
            raise ArgumentError("the operator", "*", "one of +, |, &, - and ~", hint)

        def __getattr__(self, name: str) -> NoReturn:
            """Says which object has the attribute: a compiled constraint, or a matcher."""
            raise no_attribute(self, name, _ELSEWHERE)

    def __invert__(self) -> Constraint[Any]:
        """All valid texts that are not texts of this constraint.

        Raises:
            AlgebraError: whether this constraint accepts a text depends on how it is cut into tokens.
        """
        self._refuse_edges()
        others = _core.complement(_core.scope(self._expression))
        name = f"~{self._as_operand()}"
        expression = _core.intersect([_core.text(), others])
        made: Constraint[Any] = Constraint(expression, name, made_by="~", operands=(self,), form=Plain())
        return made._made_by(operator.invert, self)

    def captured(self, name: str) -> Constraint[_T_co]:
        """The same texts; their value gets a name in the sequence around them.

            thought = tk.text_until("</think>").captured("thought")
            (thought + tk.json()).parse("Hm.</think>[1]").thought     # "Hm.</think>"

        A sequence within another one, or in a repetition, has its own names.

        Raises:
            ArgumentError: the name is not an identifier, begins with ``_``, is a member of :class:`Parts`, or
                is captured in this constraint already.
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
        )._made_by(Constraint.captured, self, name)

    def repeat(self, minimum: int = 0, maximum: int | None = None) -> Constraint[list[_T_co]]:
        """``minimum`` to ``maximum`` texts of this constraint, one after another; ``None`` means no bound.

        Raises:
            ArgumentError: the bounds are not whole numbers with ``0 <= minimum <= maximum``.
        """
        low, high = checked_bounds(minimum, maximum)
        bounds = f"{low}" if high is None else f"{low}, {high}"
        name = f"{self._as_operand()}.repeat({bounds})"
        whole = repeated(self._option, None, low, high)
        made: Constraint[list[_T_co]] = Constraint(
            whole.expression, name, made_by="repeat", operands=(self,), form=whole.form
        )
        return made._made_by(Constraint.repeat, self, low, high)

    def optional(self) -> Constraint[_T_co | None]:
        """A text of this constraint, or the empty text, whose value is ``None`` unless this accepts it."""
        expression = _core.union([_core.epsilon(), self._expression])
        form = Alternatives([self._option, Option(_core.epsilon(), Read(_nothing))])
        name = f"{self._as_operand()}.optional()"
        made: Constraint[_T_co | None] = Constraint(
            expression, name, made_by="optional", operands=(self,), form=form, names=self._seen_names
        )
        return made._made_by(Constraint.optional, self)

    def separated_by(
        self, separator: Constraint[Any], minimum: int = 1, maximum: int | None = None
    ) -> Constraint[list[_T_co]]:
        """``minimum`` to ``maximum`` texts of this constraint, with one of ``separator`` between each two.

        Raises:
            ArgumentError: the separator is not a constraint, or the bounds are not whole numbers with
                ``0 <= minimum <= maximum``.
        """
        checked_instance("separator", separator, Constraint)
        low, high = checked_bounds(minimum, maximum)
        name = f"{self._as_operand()}.separated_by({clipped(repr(separator))}, {low}, {high})"
        made: Constraint[list[_T_co]]
        if high == 0:
            nothing = Repeated(self._option, low, high, separator._expression)
            made = Constraint(_core.epsilon(), name, form=nothing)
        else:
            whole = repeated(self._option, separator._expression, low, high)
            operands = (self, separator)
            made = Constraint(
                whole.expression, name, made_by="separated_by", operands=operands, form=whole.form
            )
        return made._made_by(Constraint.separated_by, self, separator, low, high)

    # ---- questions ----------------------------------------------------------------------------

    def shortest_text(self, *, limits: Limits | None = None, cancel: CancelToken | None = None) -> str | None:
        """A text of this constraint with the fewest bytes; ``None`` if no text is accepted.

        Method: breadth-first search over the states of the byte automaton.

        Args:
            limits: bounds on the search; ``Limits()`` by default.
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
        """Whether ``other`` accepts every text of this constraint; the witness is one that it refuses.

        Raises as :meth:`shortest_text` does.
        """
        self._refuse_tokens("is_subset_of", other)
        return Answer((self - other).shortest_text(limits=limits, cancel=cancel))

    def is_equivalent_to(
        self, other: Constraint[Any], *, limits: Limits | None = None, cancel: CancelToken | None = None
    ) -> Answer:
        """Whether both accept the same texts; the witness is one that only one of them accepts.

        Raises as :meth:`shortest_text` does.
        """
        self._refuse_tokens("is_equivalent_to", other)
        return Answer(((self - other) | (other - self)).shortest_text(limits=limits, cancel=cancel))

    # ---- repair --------------------------------------------------------------------------------

    @checked_call
    def repair(
        self,
        text: str | bytes,
        *,
        costs: EditCosts = DEFAULT_COSTS,
        at_most: Mapping[str, int] | None = None,
        alike: bytes | None = None,
        strict: RepairBounds | None = None,
        deadline_seconds: float | None = None,
        weight: float = _WEIGHT,
        limits: Limits | None = None,
        cancel: CancelToken | None = None,
    ) -> Repair[_T_co]:
        """The accepted text that is cheapest to reach from a text, the edits, and a proof of how near it is.

            tk.json().repair("[1, 2,").text        # "[1, 2]"

        The last of :meth:`repairs`: the optimum, or the best within the deadline and the limits.  The first
        answer removes everything and writes another text, so that there is one at almost any deadline.

        JSON is repaired into any white space and spelling, in the order of properties that the constraint
        has; JSON whose values the constraint accepts is not changed, whatever its order.

        With ``at_most`` or ``alike``, :attr:`.Repair.program` says how the edits were chosen, and the
        certificate is a :class:`.CoupledCertificate`: it proves the edits, their number and cost, and the
        part of the lower bound that multipliers prove; the rest is the word of the solver (HiGHS).

            tk.regex("(ab)*").repair("aab", at_most={"remove": 0}).text      # "abab"
            calls = tk.regex("in (count|mount); out (mount|font)")
            costs = tk.EditCosts(other=1, replace=1)
            text = "in cuont; out cuont"
            calls.repair(text, costs=costs).text                          # "in count; out font"
            calls.repair(text, costs=costs, alike=rb"[a-z]{4,}").text     # "in mount; out mount"

        Args:
            text: the text; bytes that are not UTF-8 are repaired too.
            costs: what each edit costs.
            at_most: how many edits of a name there may be: ``{"remove": 0, "typo": 2}``; the
                names are those of :attr:`.Edit.name`.  Of repairs of equal cost any may be the answer.
            alike: a pattern of bytes for :mod:`re`; what it matches is a name.  All occurrences of a name
                that are spelled alike in the text are spelled alike in the repaired one, except those that
                are removed; :mod:`tokamata.repair.names` has the exact rule.
            strict: how much content the repair may lose, invent and change; ``None``: any amount.  It does
                not change which repair is found, but refuses one that passes these bounds.
            deadline_seconds: when to stop with what was found; ``None``: when ``limits.seconds`` are over.
            weight: how much the search prefers to follow its best attempt until it has an answer; 1 proves
                the optimum directly.
            limits: bounds on states, memory and time; ``Limits()`` by default.  ``memory_bytes`` bounds the
                rewrites that the text admits, the search, and the edits of an answer, each by itself.
            cancel: stops the search, from another thread.

        Raises:
            EmptyConstraintError: no text is accepted.
            AlgebraError: a text of this constraint needs tokens (control tokens, token edges).
            ArgumentError: an argument has another type or value.
            NoRepairError: no accepted text can be reached with ``at_most`` (and ``alike``).
            RepairRefusedError: the repair loses or invents more than ``strict`` admits; the error has it.
            MissingExtraError: ``at_most`` and ``alike`` need the package ``scipy``.
            LimitExceeded: a limit was passed before any accepted text was found.
            Cancelled: the search was cancelled; the solver is not interrupted, and ends with its deadline.
        """
        search = self._search(text, costs, deadline_seconds, weight, limits, cancel)
        hint = "write strict=tokamata.RepairBounds(): nothing is lost or made up"
        checked_instance("strict", strict, (RepairBounds, NoneType), "a RepairBounds, or None", hint)
        with self._explaining_emptiness(search.limits, search.cancel):
            if at_most is None and alike is None:
                found = search.repair()
            else:
                *_, found = coupled_repairs(search, at_most, alike)
        if strict is not None:
            strict.check(found)
        return found

    @overload
    def repairs(
        self,
        text: str | bytes,
        *,
        costs: EditCosts = ...,
        at_most: Mapping[str, int] | None = None,
        alike: bytes | None = None,
        distinct: Literal[False] = False,
        n: None = None,
        deadline_seconds: float | None = None,
        weight: float = ...,
        limits: Limits | None = None,
        cancel: CancelToken | None = None,
    ) -> Iterator[Repair[_T_co]]: ...
    @overload
    def repairs(
        self,
        text: str | bytes,
        *,
        distinct: Literal[True],
        n: int | None = None,
        costs: EditCosts = ...,
        deadline_seconds: float | None = None,
        weight: float = ...,
        limits: Limits | None = None,
        cancel: CancelToken | None = None,
    ) -> NearestValues[_T_co]: ...
    @checked_call
    def repairs(
        self,
        text: str | bytes,
        *,
        costs: EditCosts = DEFAULT_COSTS,
        at_most: Mapping[str, int] | None = None,
        alike: bytes | None = None,
        distinct: bool = False,
        n: int | None = None,
        deadline_seconds: float | None = None,
        weight: float = _WEIGHT,
        limits: Limits | None = None,
        cancel: CancelToken | None = None,
    ) -> Iterator[Repair[_T_co]]:
        """Each better answer of :meth:`repair` as it is found; at the end the last one with its final bound.

        With ``distinct`` the nearest different *values* instead, the nearest first:

            [found.value for found in tk.json().repairs("[1 2]", distinct=True, n=3)]
            # [[1, 2], [12], ["1 2"]]

        Such a search ends with the deadline or a limit, as :attr:`.NearestValues.stopped` says.

        The other arguments and errors are those of :meth:`repair`; those of the search are raised while
        iterating.  An iterator that is given up frees what the search holds.

        Args:
            text, costs, at_most, alike, deadline_seconds, weight, limits, cancel: as there; neither
                ``at_most`` nor ``alike`` with ``distinct``.
            distinct: whether to find different values; :class:`.NearestValues` says which count.
            n: how many values, with ``distinct``; ``None`` for all.
        """
        search = self._search(text, costs, deadline_seconds, weight, limits, cancel)
        checked_flag("distinct", distinct)
        if n is not None:
            checked_whole("n", n, 1)
        if distinct:
            for name, value in (("at_most", at_most), ("alike", alike)):
                if value is not None:
                    raise ArgumentError(name, f"{name} together with distinct=True", "one of both alone")
            return NearestValues(search, n, self._explaining_emptiness(search.limits, search.cancel))
        if n is not None:
            raise ArgumentError("n", shown_argument(n), "None without distinct=True")
        is_free = at_most is None and alike is None
        found = search.repairs() if is_free else coupled_repairs(search, at_most, alike)
        return self._explained(found, search)

    def repair_stream(
        self,
        *,
        costs: EditCosts = DEFAULT_COSTS,
        slack: int = 400,
        weight: float = 3.0,
        limits: Limits | None = None,
        cancel: CancelToken | None = None,
    ) -> RepairStream[_T_co]:
        """A repair of a text that arrives in pieces: values as soon as they are final.

            stream = tk.json().repair_stream()
            for piece in ["{'na", "me': 'Ann', 'born"]:
                stream.feed(piece)
                stream.events()                        # [], then [Event("/name", "Ann", …)]
            stream.finish().value                      # {"name": "Ann"}

        :class:`.RepairStream` defines what is final.

        Args:
            costs: what each edit costs.
            slack: a value is final when all repairs have it that cost at most this much more than the
                cheapest one so far, and still more where a mistake is near.  More slack lets fewer values be
                final, and takes more time.
            weight: as for :meth:`repair`, of the repair at the end.
            limits: those of the stream: ``states``, ``memory_bytes`` and ``seconds`` bound what follows the
                text, all pieces together, and then the repair at the end.  A limit that is passed before
                the end is no error; the rest of the events come at the end.  ``memory_bytes`` bounds the
                text as well.
            cancel: stops the work, from another thread.

        Raises:
            EmptyConstraintError: no text is accepted; :meth:`.RepairStream.finish` says so where it is
            found later.
            AlgebraError: a text of this constraint needs tokens (control tokens, token edges).
            ArgumentError: an argument has another type or value.
            LimitExceeded, Cancelled: the work was stopped.
        """
        search = self._search(b"", costs, None, weight, limits, cancel)
        slack = checked_whole("slack", slack, 0, MOST_COST + 1)

        def repair(text: bytes) -> Repair[_T_co]:
            with self._explaining_emptiness(search.limits, search.cancel):
                return replace(search, broken=text).repair()

        with self._explaining_emptiness(search.limits, search.cancel):
            return RepairStream(
                search.automata,
                search.pattern,
                self._form,
                search.costs,
                slack,
                search.limits,
                search.cancel,
                repair,
            )

    def reward(
        self,
        text: str | bytes,
        *,
        costs: EditCosts = DEFAULT_COSTS,
        deadline_seconds: float | None = None,
        weight: float = _WEIGHT,
        limits: Limits | None = None,
        cancel: CancelToken | None = None,
    ) -> Reward[_T_co]:
        """How near a text is to being accepted, from 0 to 1: a ``float`` with its repair.

            tk.json().reward("[1, 2")        # 0.998

        It is 1 minus the cost of the cheapest repair, divided by the cost of removing the whole text and
        writing a shortest accepted one.  :class:`.Reward` and :mod:`tokamata.repair.rewards` define both.

        The arguments and errors are those of :meth:`repair`.
        """
        search = self._search(text, costs, deadline_seconds, weight, limits, cancel)
        with self._explaining_emptiness(search.limits, search.cancel):
            return search.reward()

    # ---- compiling ----------------------------------------------------------------------------

    @checked_call
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

        Cheap: states and masks are computed when they are first needed.  Compiling an equal constraint again,
        for the same ``Vocabulary`` object with the same options, finds the states and masks of before, within
        512 MiB of those used last.  Limits and cancel tokens stay apart: :class:`Limits` says how.

        Args:
            vocabulary: the tokens that texts are written in.
            limits: bounds on compiling, and on the work of each matcher; ``Limits()`` by default.
            cancel: stops any work under way, from another thread.
            start_of_text: the text is the first that the tokenizer decodes, so its decoder's rule for
                the start applies (Llama 2 drops a space there).
            tokenization: ``"any"`` admits every token sequence that spells a text; ``"canonical"`` only
                the one that the tokenizer produces.  Then the tokenizer decides where a text starts,
                and ``start_of_text`` has no effect.

        Raises:
            EmptyConstraintError: no text matches.
            UnspellableError: the vocabulary cannot spell any text that matches.
            UnknownTokenError: the vocabulary lacks a control token that the constraint names.
            NoncanonicalError: the tokenizer changes every text that matches.
            ArgumentError: an argument has another type or value.
            UnsupportedTokenizerError: ``"canonical"`` does not support a part of the tokenizer.
            LimitExceeded, Cancelled: compiling was stopped.
        """
        limits, cancel = checked_limits(limits), checked_cancel(cancel)
        end = time.monotonic() + limits.seconds
        try:
            return CompiledConstraint(
                *self._error_pattern(),
                vocabulary,
                limits,
                cancel,
                start_of_text,
                tokenization,
                self,
            )
        except EmptyConstraintError as error:
            raise self._explained_emptiness(error, end, limits, cancel) from None

    # ---- inner --------------------------------------------------------------------------------

    @contextmanager
    def _explaining_emptiness(self, limits: Limits, cancel: CancelToken | None) -> Iterator[None]:
        """An error that says that no text matches also says why, as far as the time of the limits allows."""
        end = time.monotonic() + limits.seconds
        try:
            yield
        except EmptyConstraintError as error:
            raise self._explained_emptiness(error, end, limits, cancel) from None

    def _explained_emptiness(
        self, error: EmptyConstraintError, end: float, limits: Limits, cancel: CancelToken | None
    ) -> EmptyConstraintError:
        limits = replace(limits, seconds=max(end - time.monotonic(), LEAST_SECONDS))
        blamed, pointers = self._why_empty(limits, cancel)
        return EmptyConstraintError(f"{error}\n{blamed}", pointers) if blamed else error

    def _why_empty(self, limits: Limits, cancel: CancelToken | None) -> tuple[str, tuple[str, ...]]:
        """Why no text matches, in words, and pointers to the parts of a schema that are to blame."""
        from tokamata.constraints.blame import why_empty

        return why_empty(self, limits, cancel), ()

    def _explained(self, repairs: Iterator[Repair[_T_co]], search: Search[_T_co]) -> Iterator[Repair[_T_co]]:
        with self._explaining_emptiness(search.limits, search.cancel):
            yield from repairs

    def _search(
        self,
        text: str | bytes,
        costs: EditCosts,
        deadline_seconds: float | None,
        weight: float,
        limits: Limits | None,
        cancel: CancelToken | None,
    ) -> Search[_T_co]:
        """A search for repairs, its arguments checked."""
        self._refuse_tokens("repair")
        automata = self._automata("read").automata
        assert automata is not None, "texts that take tokens were refused"
        broken = checked_broken(text)
        checked_instance("costs", costs, EditCosts)
        return Search(
            texts=self._texts_read,
            automata=automata,
            pattern=self.pattern,
            parse=self.parse,
            broken=broken,
            costs=self._repair_costs(costs),
            limits=within_deadline(checked_limits(limits), deadline_seconds),
            cancel=checked_cancel(cancel),
            weight=hundredths_of(weight),
            is_json=is_json(self._form),
            margin=self._margin,
        )

    def _margin(self, repair: Repair[Any], limits: Limits | None, cancel: CancelToken | None) -> Margin:
        """The margin of a repair that this constraint has made."""
        broken, costs = repair.certificate.broken, repair.certificate.costs
        search = self._search(broken, costs, None, _WEIGHT, limits, cancel)
        return margin_of(search, repair.text.encode(), repair.cost)

    def _texts_read(self) -> _core.Expression:
        """The texts that need no repair, which are those that repairs lead to."""
        return self._automata("read").expression

    def _repair_costs(self, costs: EditCosts) -> EditCosts:
        """The costs, with what only the constraint knows."""
        return costs if is_json(self._form) else costs_without_finders(costs)

    def _join(self, operator: str, other: Constraint[Any]) -> Constraint[Any]:
        """Joins two constraints by an operator; chains of one operator stay flat."""
        self._refuse_operand(f"the right-hand side of {operator}", other)
        if not isinstance(other, Constraint):
            return NotImplemented
        # a - (b - c) is not a chain: its right-hand side is one operand.
        operands = self._chain(operator) + other._chain(operator if operator != "-" else None)
        mine = self._names if self._operator == operator else self._seen_names
        theirs = other._names if other._operator == operator else other._seen_names
        if operator in ("&", "-"):
            theirs = frozenset()
        if operator == "+" and not mine.isdisjoint(theirs):
            raise ArgumentError("name", repr(min(mine & theirs)), "one that no other part is captured under")
        # Of the two, not of all operands: a chain of n parts that is made part by part looks at n, not at n².
        return _chained(operator, operands, mine | theirs, self._is_spelled or other._is_spelled)

    def _call(self) -> Call:
        """The call that makes it; a chain keeps none, since its operands say it all."""
        if self._operator in JOINS and not hasattr(self, "_kept_call"):
            return Call(_joined, (self._operator, *self._operands))
        return super()._call()

    def _refuse_operand(self, side: str, other: Any) -> None:
        """Refuses what is easily taken for a constraint; Python's own error would not say how to make one."""
        if not isinstance(other, Constraint) and advice_on_constraint(other):
            checked_instance(side, other, Constraint)

    def _chain(self, operator: str | None) -> tuple[Denotation[Any], ...]:
        """The operands of a chain of this operator, or the constraint itself."""
        if self._operator == operator:
            return self._operands
        _ = self._expression, self._form  # made now, so that making them never recurses deeply
        return (self,)

    def _refuse_left(self, operator: str, other: Any) -> Any:
        if operator == "+" and isinstance(other, int) and other == 0:  # sum() begins with it
            hint = "join constraints one by one: functools.reduce(operator.add, constraints)"
            raise ArgumentError("the left-hand side of +", "0, as sum() has it", "a Constraint", hint)
        self._refuse_operand(f"the left-hand side of {operator}", other)
        return NotImplemented

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
                    f"{question} is about texts, but {clipped(repr(constraint))} contains {need}; compile "
                    "it and use the matcher"
                )


class Concatenation(Constraint[Parts[Unpack[_Ts]]]):
    """Constraints in sequence, made by ``a + b + …``; a text's value is a tuple, :class:`Parts`."""

    __slots__ = ()

    # A type can hold only one type tuple of any length: of a second sequence, up to four parts are typed.
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
        """A text of this sequence, then one of the other constraint: a longer sequence."""
        return super().__add__(other)


def _nothing(_: str) -> None:
    """The value of an optional part that was left out."""


def _chained(
    operator: str,
    operands: tuple[Denotation[Any], ...],
    names: frozenset[str],
    is_spelled: bool | None = None,
) -> Constraint[Any]:
    """A chain of one operator, whose expression is made when it is first needed."""
    make = Concatenation if operator == "+" else Constraint
    shown = _described(f" {operator} ", operands)
    return make(None, shown, made_by=operator, operands=operands, names=names, is_spelled=is_spelled)


def _joined(operator: str, *operands: Constraint[Any]) -> Constraint[Any]:
    """A chain of one operator, at once: to join the operands one by one would take quadratic time."""
    for operand in operands:
        operand._chain(None)
    seen = operands[:1] if operator in ("&", "-") else operands
    return _chained(operator, operands, frozenset().union(*(operand._seen_names for operand in seen)))


def _described(joint: str, operands: tuple[Denotation[Any], ...]) -> str:
    shown = joint.join(operand._as_operand() for operand in operands[:8])
    return clipped(shown + (joint + "…" if len(operands) > 8 else ""))
