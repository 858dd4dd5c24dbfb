"""Constraints whose texts stand for values of a Python type: :func:`type`.

    @dataclass
    class Point:
        x: int
        y: int

    tk.type(Point).parse('{"x": 1, "y": 2}')            # Point(x=1, y=2)
    tk.type(Point, syntax="python").parse("Point(x=1, y=2)")

Source: *Automata-based constraints for language model decoding* (2024), section 5.2.
"""

from __future__ import annotations

import builtins
import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal, TypeVar, overload

from tokamata.calls.arguments import checked_choice, clipped
from tokamata.calls.keywords import checked_call
from tokamata.constraints.constraint import Constraint
from tokamata.constraints.json_constraints import JsonConstraint, json_schema
from tokamata.constraints.json_options import (
    Formats,
    JsonKeywords,
    JsonOptions,
    PropertyOrder,
    Spelling,
    Whitespace,
)
from tokamata.errors import ArgumentError
from tokamata.patterns.json_schema import ReportEntry
from tokamata.values.forms import Checked

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from tokamata.resources.limits import CancelToken, Limits

__all__ = ["type"]

_T = TypeVar("_T")


# A class is a callable too, and the first overload is meant for it.
@overload
def type(  # type: ignore[overload-overlap]
    given: builtins.type[_T],
    *,
    syntax: Literal["json"] = "json",
    **options: Unpack[JsonKeywords],
) -> JsonConstraint[_T]: ...
@overload
def type(
    given: Callable[..., Any],
    *,
    syntax: Literal["json"] = "json",
    **options: Unpack[JsonKeywords],
) -> JsonConstraint[dict[str, Any]]: ...
@overload
def type(
    given: Any,
    *,
    syntax: Literal["json"] = "json",
    **options: Unpack[JsonKeywords],
) -> JsonConstraint[Any]: ...
@overload
def type(
    given: builtins.type[_T],
    *,
    syntax: Literal["python"],
    strict: bool = True,
    limits: Limits | None = None,
    cancel: CancelToken | None = None,
) -> Constraint[_T]: ...
@overload
def type(
    given: Any,
    *,
    syntax: Literal["python"],
    strict: bool = True,
    limits: Limits | None = None,
    cancel: CancelToken | None = None,
) -> Constraint[Any]: ...
@checked_call
def type(
    given: Any,
    *,
    syntax: Literal["json", "python"] = "json",
    property_order: PropertyOrder = "schema",
    whitespace: Whitespace = "natural",
    spelling: Spelling = "natural",
    formats: Formats = "assert",
    strict: bool = True,
    limits: Limits | None = None,
    cancel: CancelToken | None = None,
) -> Constraint[Any]:
    """The texts that stand for the values of a Python type; :meth:`Constraint.parse` gives them back.

    Dataclasses, ``TypedDict``, ``NamedTuple``, enums, ``Literal``, unions, containers, ``Annotated`` bounds,
    dates, UUIDs, paths, decimals, generics and recursive types need nothing but the standard library;
    pydantic's models, dataclasses and types need pydantic.  A function stands for its arguments: an object,
    which is parsed into a ``dict`` of keyword arguments.

    Objects are closed: names that a type does not declare are not written, unless it keeps them
    (``extra="allow"``).  Fields with defaults may be left out.  Validators in Python cannot be enforced; they
    run when a text is parsed.

    Args:
        given: the type, or a function.
        syntax: ``"json"``, or ``"python"``: constructor calls such as ``Point(x=1, y=2)``, with fields by
            keyword and in their order, one space after each comma, and strings in single or double quotes.
        property_order, whitespace, spelling: how JSON is written; see :func:`json_schema`.
        formats: ``"annotate"`` lets any string stand for dates, UUIDs and the like, in JSON.
        strict: whether a part that cannot be enforced exactly is an error; otherwise it is left out.
        limits: ``depth`` bounds how deep the type nests, ``seconds`` how long reading it takes.
        cancel: stops the reading, from another thread.

    Raises:
        UnsupportedTypeError: its values cannot be written in this syntax.
        MissingExtraError: the type needs pydantic, or a package that pydantic needs, and it is not installed.
        UnsupportedSchemaError, SchemaError: a bound, or a schema of pydantic, cannot be enforced.
        LimitExceeded, Cancelled: it nests too deep, or the reading was stopped.
        ArgumentError: an option does not exist, or does not belong to this syntax.
    """
    from tokamata.patterns.python_types.names import shown
    from tokamata.patterns.python_types.reading import TypeReader

    checked_choice("syntax", syntax, ("json", "python"))
    options = JsonOptions(property_order, whitespace, spelling, formats, strict, limits, cancel)
    name = f"type({clipped(shown(given))})"
    if syntax == "python":
        from tokamata.patterns.python_types.python_syntax import expression_of_shape
        from tokamata.patterns.python_types.python_values import value_of_source

        if options != JsonOptions(strict=strict, limits=limits, cancel=cancel):
            expected = 'left out with syntax="python"'
            raise ArgumentError("styles and formats", "given: they are those of JSON", expected)
        shape = TypeReader(strict, opens_models=True).read(given)
        reader = functools.partial(value_of_source, shape)
        name = f'{name[:-1]}, syntax="python")'
        texts: Constraint[Any] = Constraint(expression_of_shape(shape), name, form=Checked(reader))
        return texts._made_by(type, given, syntax=syntax, **options.given())
    from tokamata.patterns.python_types.schema import schema_of_shape
    from tokamata.patterns.python_types.values import value_of_text

    types = TypeReader(strict)
    shape = types.read(given)
    schema = schema_of_shape(shape, asserts_formats=formats == "assert")
    # A class may have changed since it was read last, so it is read each time; an equal schema is not.
    values = json_schema(schema, **options.given(), cancel=cancel)
    reader = functools.partial(value_of_text, shape)
    relaxed = [ReportEntry(place, "Annotated", "relaxed", reason) for place, reason in types.relaxed]
    return values._read_by(reader, name, relaxed)._made_by(type, given, **options.given())
