"""Validators of JSON texts: pydantic, JSON Schema, marshmallow."""

# The packages are extras, hence `Any` for their objects.

from __future__ import annotations

import json
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from tokamata.calls.arguments import checked_instance
from tokamata.errors import ArgumentError, MissingExtraError, shown_argument
from tokamata.validators.validator import Validator

__all__ = ["json_schema", "marshmallow", "pydantic"]


def pydantic(type_: Any) -> Validator:
    """Validates JSON texts as pydantic does, with all validators of the type.

    Args:
        type_: a class of pydantic, or any type that ``pydantic.TypeAdapter`` takes.

    Raises:
        MissingExtraError: pydantic is not installed.
        ArgumentError: pydantic does not take the type.
    """
    try:
        from pydantic import PydanticUserError, TypeAdapter
        from pydantic_core import SchemaError
    except ImportError as error:
        raise MissingExtraError("pydantic", "pydantic", "validating with pydantic") from error
    try:
        return _Pydantic(TypeAdapter(type_))
    except (PydanticUserError, SchemaError) as error:
        name = type(type_).__name__
        is_object = hasattr(type(type_), "model_fields")
        hint = f"pass the class {name}" if is_object else str(error).partition("\n")[0]
        if isinstance(type_, dict):
            hint = "validators.json_schema takes a schema"
        raise ArgumentError("type_", shown_argument(type_), "a type for pydantic", hint) from error


class _Pydantic(Validator):
    def __init__(self, adapter: Any) -> None:
        self._adapter = adapter

    def refusal(self, text: str, value: Any) -> str | None:
        try:
            self._adapter.validate_json(text)
        except ValueError as error:  # ValidationError is one
            return str(error)
        return None


def json_schema(schema: Mapping[str, Any] | bool, *, formats: bool = True) -> Validator:
    """Validates JSON texts by a JSON Schema, with all its keywords, as the package jsonschema-rs does.

    References to other documents are not fetched.

    Args:
        schema: the schema.
        formats: whether ``format`` is asserted.

    Raises:
        MissingExtraError: jsonschema-rs is not installed.
        ArgumentError: it does not take the schema.
    """
    checked_instance("schema", schema, (Mapping, bool), "a JSON Schema, a dict")
    try:
        import jsonschema_rs
    except ImportError as error:
        raise MissingExtraError("jsonschema-rs", "validators", "validating with a JSON Schema") from error
    library: Any = jsonschema_rs
    given = schema if isinstance(schema, bool) else dict(schema)
    try:
        kind = library.validator_cls_for(given)
        return _JsonSchema(kind(given, validate_formats=formats, offline=True))
    except (ValueError, library.ReferencingError) as error:
        raise ArgumentError(
            "schema", "one that jsonschema-rs refuses", "a JSON Schema", str(error)
        ) from error


class _JsonSchema(Validator):
    def __init__(self, validator: Any) -> None:
        self._validator = validator

    def refusal(self, text: str, value: Any) -> str | None:
        try:
            for error in self._validator.iter_errors(_read(text)):
                return f"{error.message}, at /{'/'.join(map(str, error.instance_path))}"
        except (ValueError, RecursionError) as error:  # no JSON, or a pattern that takes too long
            return str(error)
        return None


def marshmallow(schema: Any) -> Validator:
    """Validates JSON texts by a schema of marshmallow.

    Args:
        schema: an instance of ``marshmallow.Schema``.

    Raises:
        MissingExtraError: marshmallow is not installed.
        ArgumentError: it is no such instance.
    """
    try:
        from marshmallow import Schema
    except ImportError as error:
        raise MissingExtraError("marshmallow", "validators", "validating with marshmallow") from error
    hint = "make an instance of the class" if isinstance(schema, type) else ""
    if not isinstance(schema, Schema):
        raise ArgumentError("schema", shown_argument(schema), "an instance of marshmallow.Schema", hint)
    return _Marshmallow(schema)


class _Marshmallow(Validator):
    def __init__(self, schema: Any) -> None:
        self._schema = schema

    def refusal(self, text: str, value: Any) -> str | None:
        try:
            errors = self._schema.validate(json.loads(text))
        except (ValueError, RecursionError) as error:
            return str(error)
        return f"marshmallow: {errors}" if errors else None


def _read(text: str) -> Any:
    """The value of a JSON text, with numbers as they are written: a float has no 1e999."""
    return json.loads(text, parse_float=Decimal, parse_constant=_refused)


def _refused(constant: str) -> None:
    raise json.JSONDecodeError(f"{constant} is no JSON", constant, 0)
