"""What a caller gives as a constraint: a constraint, compiled or not, or a type or a schema that means one.

    Painter, list[int], Literal["a", "b"], int | None      tk.type(Painter), …
    {"type": "string"}                                     tk.json_schema({"type": "string"})

Whatever takes a constraint as an argument takes these.  Operators and methods of constraints do not: Python
gives a meaning of its own to ``Painter | None``.  A text, a compiled regular expression or a list of texts
means nothing by itself, and the error says how to write what was meant.
"""

from __future__ import annotations

import builtins
import typing
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from tokamata.calls.arguments import advice_on_constraint
from tokamata.constraints.constraint import Constraint
from tokamata.constraints.json_constraints import json_schema
from tokamata.constraints.type_constraints import type as type_constraint
from tokamata.errors import ArgumentError, shown_argument
from tokamata.matching.matchers import CompiledConstraint
from tokamata.resources.limits import Limits

if TYPE_CHECKING:
    from typing_extensions import TypeVar

    _T = TypeVar("_T")
    ValueT = TypeVar("ValueT", default=Any)  # of what may be given as a schema
    # A schema, ``int | None``, ``Literal["a"]``, ``Annotated[…]``.  Type checkers do not know their values.
    # Before PEP 747 some have no narrower type for the last two.
    Untyped: TypeAlias = object
else:
    from typing import TypeVar

    _T = TypeVar("_T")
    ValueT = TypeVar("ValueT")
    Untyped: TypeAlias = Any

__all__ = [
    "Given",
    "Untyped",
    "ValueT",
    "constraint_and_limits",
    "constraint_of",
    "constraint_or_compiled",
    "means_constraint",
]

# What the interfaces of hosts have beside JSON Schemas, by its "type", and what makes a constraint of it.
_NO_SCHEMAS = {
    "json_schema": "response_format(…)",
    "json_object": "response_format(…)",
    "structural_tag": "structural_tag(…)",
    "function": "tool_calls([…])",
}

Given: TypeAlias = Constraint[_T] | CompiledConstraint[_T] | builtins.type[_T]


def means_constraint(value: Any) -> bool:
    """Whether it is a constraint, or a type or a schema, which mean one."""
    return isinstance(value, (Constraint, dict)) or _is_type(value)


def constraint_of(argument: str, value: Any, expected: str = "a constraint, a type or a schema") -> Any:
    """The constraint that a value is, or means.

    Args:
        argument: the name of the argument, for errors.
        value: what the caller gave.
        expected: how errors describe what may be given.

    Raises:
        ArgumentError: it means none; the error says how to make one of it.
        UnsupportedTypeError, SchemaError, UnsupportedSchemaError, MissingExtraError, LimitExceeded: as for
            :func:`tokamata.type` and :func:`tokamata.json_schema`.
    """
    if isinstance(value, Constraint):
        return value
    if isinstance(value, dict):
        kind = value.get("type")
        maker = _NO_SCHEMAS.get(kind) if isinstance(kind, str) else None
        if maker is not None:
            found = f"a dict of the type {kind!r}, which is no JSON Schema"
            raise ArgumentError(argument, found, expected, f"write tokamata.{maker}")
        return json_schema(value)
    if _is_type(value):
        return type_constraint(value)
    raise ArgumentError(argument, shown_argument(value), expected, advice_on_constraint(value))


def constraint_or_compiled(argument: str, value: Any, expected: str = "") -> Any:
    """As :func:`constraint_of`; a compiled constraint is itself."""
    if isinstance(value, CompiledConstraint):
        return value
    return constraint_of(argument, value, expected or "a constraint, compiled or not, a type or a schema")


def constraint_and_limits(given: Constraint[_T] | CompiledConstraint[_T]) -> tuple[Constraint[_T], Limits]:
    """The constraint itself, and its limits; ``Limits()`` where it is not compiled."""
    if isinstance(given, CompiledConstraint):
        return cast("Constraint[_T]", given.constraint), given.limits
    return given, Limits()


def _is_type(value: Any) -> bool:
    """Whether it is a class, or what annotations have in place of one."""
    if isinstance(value, builtins.type) or value is Any:
        return True
    is_named = hasattr(value, "__supertype__") or builtins.type(value).__name__ == "TypeAliasType"
    return is_named or typing.get_origin(value) is not None
