"""Options of all functions that make JSON constraints: how JSON is written, and how schemas are read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypedDict

from tokamata.calls.arguments import checked_choice, checked_flag
from tokamata.calls.schema_places import warn_of
from tokamata.patterns.json_schema import ReadSchema, Table, read_schema
from tokamata.resources.limits import CancelToken, Limits, checked_cancel, checked_limits

if TYPE_CHECKING:
    import referencing

__all__ = [
    "Formats",
    "JsonKeywords",
    "JsonOptions",
    "PropertyOrder",
    "Spelling",
    "Style",
    "Unknown",
    "Whitespace",
]

PropertyOrder = Literal["schema", "any"]
Whitespace = Literal["compact", "natural", "any"]
Spelling = Literal["plain", "natural", "any"]
Formats = Literal["assert", "annotate"]
Unknown = Literal["warn", "error", "ignore"]

_NOT_GIVEN = ("cancel", "most_blanks", "excludes")  # by callers, as keyword arguments
_CHOICES = {
    "property_order": ("schema", "any"),
    "whitespace": ("compact", "natural", "any"),
    "spelling": ("plain", "natural", "any"),
    "formats": ("assert", "annotate"),
    "unknown": ("warn", "error", "ignore"),
}


class Style(NamedTuple):
    """How values are written.

    Attributes:
        property_order: ``"schema"``: required names come in the order of the schema, by first appearance in a
            depth-first reading (names under ``properties`` before names that are required alone).  Optional
            names may come before the required ones that follow them in the schema, or at any later time;
            undeclared names come after all required ones.  Where a name that may come begins as another one
            does, the other may come too.  ``"any"``: every order.  A pattern of keys that has one name, such
            as ``^id$``, declares it.
        whitespace: ``"compact"``: none; ``"natural"``: as people and ``json.dumps`` write it: at most one
            space, or a line break and an indent whose width is the same throughout, within empty brackets
            too; ``"any"``: all that JSON allows.
        spelling: ``"natural"``: as people and programs write it: ``19.90``, ``1e-7``, every escape in strings
            where someone escapes one of their characters; asserted integers as digits alone; ``"plain"``:
            what ``json.dumps(ensure_ascii=False)`` writes; ``"any"``: all that JSON allows.
        most_blanks: how many blanks may follow one another, line breaks included; ``None``: no bound.  Only
            structural tags set it, and ``excludes``.
        excludes: texts that neither a string nor a name may contain, as they are written.
    """

    property_order: PropertyOrder
    whitespace: Whitespace
    spelling: Spelling
    most_blanks: int | None = None
    excludes: tuple[str, ...] = ()


@dataclass(frozen=True)
class JsonOptions:
    """The options of :func:`tokamata.json_schema`, :func:`tokamata.type` and the like, checked.

    Attributes:
        property_order, whitespace, spelling: how values are written; see :class:`Style`.
        formats: whether ``format`` is asserted, or an annotation.
        strict: whether a keyword that cannot be enforced exactly is an error; otherwise it is left out.
        limits: bounds on reading a schema; ``Limits()`` for ``None``.
        cancel: stops the reading, from another thread.
        unknown: whether keywords and formats that are not known are warned of where they are slips, are
            errors, or are ignored.
        most_blanks, excludes: of structural tags; see :class:`Style`.

    Raises:
        ArgumentError: one of them has a value that does not exist.
    """

    property_order: PropertyOrder = "schema"
    whitespace: Whitespace = "natural"
    spelling: Spelling = "natural"
    formats: Formats = "assert"
    strict: bool = True
    limits: Limits | None = None
    cancel: CancelToken | None = None
    unknown: Unknown = "warn"
    most_blanks: int | None = None
    excludes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name, choices in _CHOICES.items():
            checked_choice(name, getattr(self, name), choices)
        checked_flag("strict", self.strict)
        checked_limits(self.limits)
        checked_cancel(self.cancel)

    @property
    def style(self) -> Style:
        """How values are written."""
        return Style(self.property_order, self.whitespace, self.spelling, self.most_blanks, self.excludes)

    def of_format(self, any_order: bool, most_blanks: int | None, excludes: Sequence[str]) -> JsonOptions:
        """The same, with what a format of a structural tag says."""
        order = "any" if any_order else self.property_order
        return replace(self, property_order=order, most_blanks=most_blanks, excludes=tuple(excludes))

    def given(self) -> dict[str, Any]:
        """The options that differ from the default, as keyword arguments; a cancel token is of one call."""
        known = ((one.name, getattr(self, one.name), one.default) for one in fields(self))
        return {name: value for name, value, default in known if value != default and name not in _NOT_GIVEN}

    def read(
        self,
        schema: dict[str, Any] | bool | str | bytes,
        table: Table,
        registry: referencing.Registry[Any] | None = None,
    ) -> ReadSchema:
        """Reads a schema into a table, and warns of slips; raises as :func:`.read_schema` does."""
        reading = read_schema(
            schema,
            table=table,
            formats=self.formats,
            strict=self.strict,
            registry=registry,
            unknown=self.unknown,
            limits=self.limits,
            cancel=self.cancel,
        )
        warn_of(reading.slips)
        return reading


class JsonKeywords(TypedDict, total=False):
    """The same as keyword arguments, for signatures that only type checkers read."""

    property_order: PropertyOrder
    whitespace: Whitespace
    spelling: Spelling
    formats: Formats
    strict: bool
    limits: Limits | None
    cancel: CancelToken | None
