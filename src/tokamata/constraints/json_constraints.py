"""Constraints whose texts are JSON: any JSON, or the values of a JSON Schema.

They denote sets of *values*; a style (:class:`.json_options.Style`) says how values are written.
Intersection, difference and complement of constraints of one style work on values: ``~a`` is all JSON that is
not in ``a``, and ``tk.json_schema({"type": "string"}) & tk.json_schema({"minLength": 3})`` equals the
constraint of one schema with both keywords.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, TypeVar, overload

import tokamata._core as _core
from tokamata.calls.arguments import checked_whole, clipped
from tokamata.calls.equal_calls import key_of, read_once
from tokamata.calls.keywords import checked_call
from tokamata.calls.recipes import chain_of, copied
from tokamata.constraints.constraint import Constraint
from tokamata.constraints.json_options import (
    Formats,
    JsonOptions,
    PropertyOrder,
    Spelling,
    Style,
    Unknown,
    Whitespace,
)
from tokamata.errors import AlgebraError, EmptyConstraintError, ParseError
from tokamata.patterns.free_text import free_text, without_phrases
from tokamata.patterns.json_schema import ReadSchema, ReportEntry
from tokamata.patterns.json_schema.contradictions import Blamed
from tokamata.patterns.json_schema.contradictions import blamed as find_blamed
from tokamata.patterns.json_schema.documents import Documents
from tokamata.patterns.json_schema.late_names import refused_name
from tokamata.patterns.json_schema.text import beginning, read_json
from tokamata.repair.costs import EditCosts
from tokamata.repair.words import Words, labels_of
from tokamata.resources.limits import Watch
from tokamata.values import forms
from tokamata.values.denotation import Refusal
from tokamata.vocabulary.single_bytes import single_bytes

if TYPE_CHECKING:
    import referencing

    from tokamata.resources.limits import CancelToken, Limits

__all__ = ["JsonConstraint", "constraint_of_schema", "json", "json_schema"]

_MOST_SECONDS = 2.0  # spent on finding keywords that contradict each other
_MOST_SHOWN = 8  # schemas
_NO_TEXT_HAS = 1 << 62  # levels, or elements

_T_co = TypeVar("_T_co", covariant=True)


class JsonConstraint(Constraint[_T_co]):
    """A set of JSON values, in one style of writing them; made by :func:`json` and :func:`json_schema`.

    :meth:`parse` reads a text in any style whose value the constraint has; :meth:`accepts` tells whether a
    text is written in this style too.

    Attributes:
        style: how values are written.
    """

    __slots__ = ("_declares", "_priced", "_reader", "_reading", "_relaxed", "_root", "_table", "style")

    def __init__(
        self,
        table: _core.ValueTable,
        root: int,
        style: Style,
        name: str,
        reading: ReadSchema | None = None,
        reader: Callable[[str], Any] | None = None,
        relaxed: Sequence[ReportEntry] = (),
        declares: bool = True,
        texts: _core.Expression | None = None,
    ) -> None:
        """``reader`` makes values of texts, if they differ from those of ``json.loads``.

        ``relaxed``: what was left out before there was a schema.  ``declares``: whether it names properties;
        if not, both orders of properties are the same.  ``texts``: those of the root, if they are made.
        """
        self._table = table
        self._root = root
        self._reading = reading
        self._relaxed = relaxed
        self._declares = declares
        self._priced: tuple[EditCosts, EditCosts] | None = None  # of the last repair, without and with words
        self.style = style
        self._reader = reader or read_json
        super().__init__(texts or _texts(table, root, style), name, form=forms.Json(self._reader))

    def _read_by(
        self, reader: Callable[[str], Any], name: str, relaxed: Sequence[ReportEntry]
    ) -> JsonConstraint[Any]:
        """The same texts, of which ``reader`` makes the values; they share states and masks."""
        made: JsonConstraint[Any] = JsonConstraint(
            self._table,
            self._root,
            self.style,
            name,
            self._reading,
            reader,
            relaxed,
            texts=self._expression,
        )
        made._kept_key = key_of(self)
        return made

    def _own_report(self) -> list[ReportEntry]:
        """Empty if the constraint was made from others."""
        return [*self._relaxed, *(self._reading.report() if self._reading is not None else [])]

    @overload
    def __and__(self, other: JsonConstraint[Any]) -> JsonConstraint[_T_co]: ...
    @overload
    def __and__(self, other: Constraint[Any]) -> Constraint[_T_co]: ...
    def __and__(self, other: Constraint[Any]) -> Constraint[Any]:
        """The values in both constraints; the texts in both, if the other is not JSON.

        Raises:
            AlgebraError: both are JSON, in different styles.
        """
        return self._combined("&", other) if isinstance(other, JsonConstraint) else super().__and__(other)

    @overload
    def __sub__(self, other: JsonConstraint[Any]) -> JsonConstraint[_T_co]: ...
    @overload
    def __sub__(self, other: Constraint[Any]) -> Constraint[_T_co]: ...
    def __sub__(self, other: Constraint[Any]) -> Constraint[Any]:
        """The values of this constraint that are not in the other; texts, if the other is not JSON.

        Raises:
            AlgebraError: both are JSON, in different styles; or whether a text is of ``other`` depends on
                how it is cut into tokens.
        """
        return self._combined("-", other) if isinstance(other, JsonConstraint) else super().__sub__(other)

    def __invert__(self) -> JsonConstraint[Any]:
        """All JSON values that are not of this constraint."""
        table = _core.ValueTable()
        root = table.negate(table.include(self._table, self._root))
        name = f"~{self._as_operand()}"
        made: JsonConstraint[Any] = JsonConstraint(table, root, self.style, name, declares=self._declares)
        return made._made_by(operator.invert, self)

    def _why_empty(self, limits: Limits, cancel: CancelToken | None) -> tuple[str, tuple[str, ...]]:
        """Which keywords of the schema contradict each other."""
        if self._reading is None:
            return super()._why_empty(limits, cancel)
        limits = replace(limits, seconds=min(limits.seconds, _MOST_SECONDS))

        def is_empty(table: _core.ValueTable, root: int) -> bool:
            texts: Constraint[Any] = Constraint(_texts(table, root, self.style), "")
            try:
                texts.compile(single_bytes(), limits=limits, cancel=cancel)
            except EmptyConstraintError:
                return True
            return False

        options = self._reading.options._replace(watch=Watch(limits, cancel))
        blamed = find_blamed(self._reading.schema, options, is_empty)
        shown = "; ".join(_shown(one) for one in blamed[:_MOST_SHOWN]) + "; …" * (len(blamed) > _MOST_SHOWN)
        reason = f"of the schema, these keywords leave no value together: {shown}" if blamed else ""
        return reason, tuple(one.pointer for one in blamed)

    def _hint_on_refusal(self, refusal: Refusal, limits: Limits) -> str:
        """Whether a name was written before, or another order of names would allow it."""
        name = refused_name(refusal.text, refusal.rest)
        if name is None or (repeated := name.why_repeated()):
            return repeated if name else ""
        if self.style.property_order == "any" or not self._declares or not refusal.awaited:
            return ""
        style = self.style._replace(property_order="any")
        in_any_order: Constraint[Any] = Constraint(_texts(self._table, self._root, style), "")
        matcher = in_any_order.compile(single_bytes(), limits=limits).matcher()
        return name.why_late(refusal.awaited[0]) if all(map(matcher.advance, refusal.text)) else ""

    def _typical_text(self) -> str:
        """That of the schema; of any JSON, if the constraint was made from others."""
        from tokamata.constraints.typical_texts import typical_text

        return typical_text({} if self._reading is None else self._reading.schema)

    def _read_texts(self) -> _core.Expression:
        """In any style: a text of others is read, and needs no repair, however it is written."""
        return self._table.texts(self._root, "any", "any", "any")

    def _check(self, text: bytes, reading: forms.Reading) -> None:
        """What the reader says of a text that is refused names the line, or the member."""
        try:
            super()._check(text, reading)
        except ParseError as refused:
            try:
                self._form.read(text, reading)
            except ParseError as error:
                raise error from None
            except ValueError as error:  # of pydantic
                raise ParseError(refused.place, str(error)) from error
            raise

    def _repair_costs(self, costs: EditCosts) -> EditCosts:
        """With the words of the schema."""
        if costs.words is not None:
            return costs
        priced = self._priced
        if priced is None or priced[0] is not costs:
            words = self._words() if priced is None else priced[1].words
            self._priced = priced = costs, replace(costs, words=words)
        return priced[1]

    def _words(self) -> Words:
        """Names and strings of the table, and labels, if the constraint was made of one schema."""
        labels = labels_of(self._reading.schema) if self._reading is not None else None
        return Words(*self._table.words(), labels)

    def _combined(self, sign: Literal["&", "-"], other: JsonConstraint[Any]) -> JsonConstraint[Any]:
        style, other_style = self.style, other.style
        if not self._declares:
            style = style._replace(property_order=other_style.property_order)
        elif not other._declares:
            other_style = other_style._replace(property_order=style.property_order)
        if style != other_style:
            raise AlgebraError(
                f"{clipped(repr(self))} and {clipped(repr(other))} write their values in different styles, "
                f"{self.style} and {other.style}; make both in one"
            )
        table = _core.ValueTable()
        mine = table.include(self._table, self._root)
        theirs = table.include(other._table, other._root)
        root = table.all_of([mine, theirs if sign == "&" else table.negate(theirs)])
        name = f"{self._as_operand()} {sign} {other._as_operand()}"
        reader = self._reader
        if sign == "&" and reader is read_json:
            reader = other._reader  # values of both are values of either
        declares = self._declares or other._declares
        made: JsonConstraint[Any] = JsonConstraint(
            table, root, style, clipped(name), reader=reader, declares=declares
        )
        return made._made_by(_folded, sign, *chain_of(self, _folded, sign), other)


_OPERATORS = {"&": operator.and_, "-": operator.sub}


def _folded(sign: Literal["&", "-"], *operands: JsonConstraint[Any]) -> JsonConstraint[Any]:
    """A chain of one operator, from the left."""
    return functools.reduce(_OPERATORS[sign], operands)


def _texts(table: _core.ValueTable, root: int, style: Style) -> _core.Expression:
    """The texts of a node of a table."""
    order, whitespace, spelling, most_blanks, excludes = style
    within = free_text(without_phrases(excludes)) if excludes else None
    return table.texts(root, order, whitespace, spelling, most_blanks, within)


def _shown(blamed: Blamed) -> str:
    """A schema and its keywords, for messages."""
    keywords = " and ".join(repr(keyword) for keyword in blamed.keywords) or "false"
    return f"{keywords} at {clipped(blamed.pointer, 120) or 'its root'}"


@checked_call
@read_once
def json_schema(
    schema: dict[str, Any] | bool | str | bytes,
    *,
    property_order: PropertyOrder = "schema",
    whitespace: Whitespace = "natural",
    spelling: Spelling = "natural",
    formats: Formats = "assert",
    strict: bool = True,
    unknown: Unknown = "warn",
    registry: referencing.Registry[Any] | None = None,
    limits: Limits | None = None,
    cancel: CancelToken | None = None,
) -> JsonConstraint[Any]:
    """The JSON texts whose values a JSON Schema accepts.

    All of drafts 4, 6, 7, 2019-09 and 2020-12 is enforced; names are distinct in every object.

    Args:
        schema: the schema, as text or as what ``json.loads`` makes of it; ``$schema`` names its draft; the
            default is 2020-12.
        property_order, whitespace, spelling: how values are written; see :class:`Style`.
        formats: whether ``format`` is asserted, or an annotation.
        strict: whether a keyword that cannot be enforced exactly is an error.  Otherwise it is left out; this
            widens the constraint, and :meth:`Constraint.report` lists it.
        unknown: what becomes of a keyword or a format that is not known, which says nothing: ``"warn"`` warns
            (:class:`SchemaWarning`) where it is near a known one (``minLenght``, ``emial``) or is one of
            another draft or of OpenAPI (``nullable``), and where a whole schema has no keyword; ``"error"``
            refuses all but known annotations and ``x-…``; ``"ignore"`` accepts all.
        registry: documents that references may lead to; nothing else is fetched.
        limits: ``depth`` bounds how deep the schema nests, ``seconds`` how long reading it takes.
        cancel: stops the reading, from another thread.

    Raises:
        SchemaError: it is not a schema, or a reference in it leads nowhere; or ``unknown="error"``, and a
            keyword or a format is not known.
        MissingExtraError: it refers to the metaschema of a draft, which comes with the extra ``json-schema``.
        UnsupportedSchemaError: a keyword cannot be enforced, and ``strict`` is set.
        LimitExceeded, Cancelled: it nests too deep, or the reading was stopped.
    """
    options = JsonOptions(property_order, whitespace, spelling, formats, strict, limits, cancel, unknown)
    return constraint_of_schema(copied(schema), options, registry)


def constraint_of_schema(
    schema: dict[str, Any] | bool | str | bytes,
    options: JsonOptions,
    registry: referencing.Registry[Any] | None = None,
) -> JsonConstraint[Any]:
    """The constraint of a schema that nobody changes; :func:`json_schema` without its checks of options."""
    table = _core.ValueTable()
    documents: Any = registry  # None, or what is refused below
    if hasattr(registry, "get_or_retrieve"):
        documents = registry if isinstance(registry, Documents) else Documents(registry, {})
    reading = options.read(schema, table, documents)
    shown = schema[:400] if isinstance(schema, str) else beginning(schema, 400)
    name = " ".join(shown.split())
    made: JsonConstraint[Any] = JsonConstraint(
        table, reading.root, options.style, f"json_schema({clipped(name)})", reading
    )
    return made._made_by(json_schema, schema, registry=documents, **options.given())


@checked_call
@read_once
def json(
    *,
    max_depth: int | None = None,
    max_items: int | None = None,
    whitespace: Whitespace = "natural",
    spelling: Spelling = "natural",
) -> JsonConstraint[Any]:
    """Any JSON value.

    Args:
        max_depth: how deep arrays and objects may nest; 0 allows none, ``None`` any depth.
            Section 5.1 of "Automata-based constraints for language model decoding" (2024) has this form.
        max_items: how many elements or members each may have.
        whitespace, spelling: how values are written; see :class:`Style`.

    Raises:
        ArgumentError: a bound is no whole number, or negative.
    """
    style = JsonOptions("any", whitespace, spelling).style
    for name, bound in (("max_depth", max_depth), ("max_items", max_items)):
        if bound is not None:
            checked_whole(name, bound, 0, 1 << 62)
    table = _core.ValueTable()

    most = None if max_items is None else min(max_items, _NO_TEXT_HAS)
    if max_depth is not None:
        root = table.nested(min(max_depth, _NO_TEXT_HAS), most)
    elif most is None:
        root = table.any_value()
    else:
        root = table.reserve()
        inside = [table.items([], root), table.others([], [], root)]
        counts = [table.array_length(0, most), table.property_count(0, most)]
        table.define(root, table.all_of(inside + counts))
    bounds = (("max_depth", max_depth), ("max_items", max_items))
    given = [f"{name}={bound}" for name, bound in bounds if bound is not None]
    made: JsonConstraint[Any] = JsonConstraint(
        table, root, style, f"json({', '.join(given)})", declares=False
    )
    return made._made_by(
        json, max_depth=max_depth, max_items=max_items, whitespace=whitespace, spelling=spelling
    )
