"""From shapes to JSON Schema.

Example: the record ``Node`` of :mod:`.shapes` becomes

    {"$ref": "#/$defs/Node", "$defs": {"Node": {"type": "object", "properties": {"value": {"type": "integer"},
     "next": {"anyOf": [{"$ref": "#/$defs/Node"}, {"const": None}]}}, "required": ["value"],
     "additionalProperties": False}}}

Objects are closed: a name that a class does not have would be an error, or would be dropped.  What pydantic
describes is a schema of its own (``$id``), so that its references lead to its own definitions.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any
from urllib.parse import quote

from tokamata.errors import UnsupportedTypeError
from tokamata.patterns.python_types import shapes
from tokamata.patterns.python_types.number_schemas import decimal_schema, number_schema
from tokamata.patterns.python_types.pydantic_models import schema_of

__all__ = ["INTEGER_KEY", "schema_of_shape"]

INTEGER_KEY = "0|-?[1-9][0-9]*"

Schema = dict[str, Any]


def schema_of_shape(shape: shapes.Shape, *, asserts_formats: bool = True) -> Schema:
    """The JSON values of a shape, as a schema of draft 2020-12."""
    writer = _Writer(asserts_formats)
    schema = writer.write(shape)
    return {**schema, "$defs": writer.definitions} if writer.definitions else schema


class _Writer:
    """One schema under way."""

    def __init__(self, asserts_formats: bool) -> None:
        self.definitions: dict[str, Schema] = {}
        self._asserts_formats = asserts_formats
        self._names: dict[int, str] = {}
        self._foreign = 0

    def write(self, shape: shapes.Shape) -> Schema:
        return _WRITERS[type(shape)](self, shape)

    def _named(self, shape: Any, make: Callable[[Any], Schema]) -> Schema:
        """A reference to what is written once."""
        name = self._names.get(id(shape))
        if name is None:
            name, number = shape.name, 1
            while name in self.definitions:
                number += 1
                name = f"{shape.name}{number}"
            self._names[id(shape)] = name
            self.definitions[name] = {}
            self.definitions[name] = make(shape)
        return {"$ref": "#/$defs/" + _in_reference(name)}

    def record(self, shape: shapes.Record) -> Schema:
        return self._named(shape, self._array_record if shape.form == "array" else self._object_record)

    def _object_record(self, shape: shapes.Record) -> Schema:
        return {
            "type": "object",
            "properties": {field.name: self.write(field.shape) for field in shape.fields},
            "required": [field.name for field in shape.fields if field.required],
            "additionalProperties": False if shape.extra is None else self.write(shape.extra),
        }

    def _array_record(self, shape: shapes.Record) -> Schema:
        required = sum(field.required for field in shape.fields)
        return self._tuple([field.shape for field in shape.fields], required, len(shape.fields), None)

    def _tuple(
        self, items: list[shapes.Shape], least: int, most: int | None, rest: shapes.Shape | None
    ) -> Schema:
        schema: Schema = {"type": "array", "minItems": least}
        if most is not None:
            schema["maxItems"] = most
        if items:
            schema["prefixItems"] = [self.write(item) for item in items]
        schema["items"] = False if rest is None else self.write(rest)
        return schema

    def row(self, shape: shapes.Row) -> Schema:
        count, bounds = len(shape.items), shape.bounds
        most = bounds.max_length if shape.rest is not None else count
        return self._tuple(list(shape.items), max(count, bounds.min_length or 0), most, shape.rest)

    def alias(self, shape: shapes.Alias) -> Schema:
        assert shape.target is not None
        return self._named(shape, lambda one: self.write(one.target))

    def collection(self, shape: shapes.Collection) -> Schema:
        schema: Schema = {"type": "array", "items": self.write(shape.item)}
        if shape.is_set:
            schema["uniqueItems"] = True
        return {**schema, **_lengths(shape.bounds, "Items")}

    def mapping(self, shape: shapes.Mapping) -> Schema:
        schema: Schema = {"type": "object", "additionalProperties": self.write(shape.value)}
        if type(shape.key) is not shapes.String or shape.key.bounds != shapes.Bounds():
            schema["propertyNames"] = self.key(shape.key)
        return {**schema, **_lengths(shape.bounds, "Properties")}

    def key(self, shape: shapes.Shape) -> Schema:
        """Keys, which are strings in JSON whatever they are in Python."""
        if isinstance(shape, shapes.Integer) and not shape.bounds.of_numbers:
            return {"type": "string", "pattern": f"^(?:{INTEGER_KEY})$"}
        if isinstance(shape, shapes.Boolean):
            return {"enum": ["false", "true"]}
        if isinstance(shape, shapes.Choices):
            return {"enum": [key_text(option.json) for option in shape.options]}
        if isinstance(shape, shapes.Union):
            return {"anyOf": [self.key(member) for member in shape.members]}
        if isinstance(shape, shapes.Alias) and shape.target is not None:
            return self.key(shape.target)
        if isinstance(shape, (shapes.String, shapes.Text)):
            return self.write(shape)
        if isinstance(shape, shapes.Anything):
            return {}
        raise UnsupportedTypeError(
            shape.described, "", "it cannot be the key of a dictionary, which JSON has as a string"
        )

    def text(self, shape: shapes.Text) -> Schema:
        return {**shape.kind.schema(self._asserts_formats), **_string_bounds(shape.bounds)}

    def foreign(self, shape: shapes.Foreign) -> Schema:
        schema = schema_of(shape.adapter, shape.name, self._asserts_formats)
        if '"$' not in json.dumps(schema, default=str):
            return schema
        self._foreign += 1  # references such as #/$defs/Leaf lead into the schema of this type
        return {"$id": f"urn:tokamata:type:{self._foreign}", **schema}


def key_text(value: Any) -> str:
    """A value as a key; what ``json.dumps`` makes of it."""
    if isinstance(value, str):
        return value
    return (
        {None: "null", True: "true", False: "false"}[value]
        if value is None or isinstance(value, bool)
        else str(value)
    )


def _string_bounds(bounds: shapes.Bounds) -> Schema:
    schema = _lengths(bounds, "Length")
    if bounds.pattern is not None:
        schema["pattern"] = bounds.pattern
    return schema


def _lengths(bounds: shapes.Bounds, what: str) -> Schema:
    schema: Schema = {}
    if bounds.min_length is not None:
        schema[f"min{what}"] = bounds.min_length
    if bounds.max_length is not None:
        schema[f"max{what}"] = bounds.max_length
    return schema


def _in_reference(name: str) -> str:
    """A name as it stands in a JSON Pointer within a URI."""
    return quote(name.replace("~", "~0").replace("/", "~1"), safe="~")


_WRITERS: dict[type, Callable[[Any, Any], Schema]] = {
    shapes.Alias: _Writer.alias,
    shapes.Anything: lambda _, shape: {},
    shapes.Boolean: lambda _, shape: {"type": "boolean"},
    shapes.Choices: lambda _, shape: {"enum": [option.json for option in shape.options]},
    shapes.Collection: _Writer.collection,
    shapes.Float: lambda _, shape: number_schema("number", shape.bounds),
    shapes.Foreign: _Writer.foreign,
    shapes.Integer: lambda _, shape: number_schema("integer", shape.bounds),
    shapes.Mapping: _Writer.mapping,
    shapes.Record: _Writer.record,
    shapes.Row: _Writer.row,
    shapes.String: lambda _, shape: {"type": "string", **_string_bounds(shape.bounds)},
    shapes.Text: _Writer.text,
    shapes.Union: lambda writer, shape: {"anyOf": [writer.write(member) for member in shape.members]},
    shapes.Written: lambda _, shape: decimal_schema(shape.bounds),
}
