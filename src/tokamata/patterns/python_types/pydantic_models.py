"""What pydantic defines: described by its own JSON Schema, and read by its own validation.

Problem: the schema that pydantic gives says what it accepts, as documentation; here it says what is written.
The two differ where validation drops something or is narrower than the schema:

=====================================  ================================================================
extra fields that would be ignored     are not written: objects are closed unless ``extra="allow"``
``oneOf`` of tagged unions             ``anyOf``, since the tag decides and not the number that match
dates, times, durations, UUIDs, URLs   the strings that pydantic reads, and not all of the format
``Decimal``                            a number where there are bounds, which strings could not be held to
keys of dictionaries                   those that the key's type reads, each in one way
what is stripped before it is checked  is written stripped
=====================================  ================================================================

Validators in Python cannot be followed; what they refuse, reading refuses (``pydantic.ValidationError``).
"""

# pydantic's core schemas are typed dictionaries of its own making, hence `Any` for them.

from __future__ import annotations

import ipaddress
import re
import sys
from typing import Any

from tokamata.errors import MissingExtraError, UnsupportedTypeError
from tokamata.patterns.python_types.number_schemas import decimal_schema
from tokamata.patterns.python_types.shapes import Bounds
from tokamata.patterns.python_types.texts import (
    DATE,
    DATE_TIME,
    DURATION,
    NAIVE_DATE_TIME,
    OFFSET,
    TEXT_TYPES,
    TIME,
)

__all__ = ["adapter_of", "schema_of"]

_LARGEST = sys.float_info.max
_LAST_LABEL = "[A-Za-z](?:[A-Za-z0-9]{0,62})"
_HOST = rf"(?:(?:[A-Za-z0-9]{{1,3}}|[A-Za-z0-9]{{1,2}}[A-Za-z0-9]{{2,61}})\.)*{_LAST_LABEL}"
_PORT = "(?::(?:[1-9][0-9]{0,3}|[1-5][0-9]{4}))?"
_PATH = r"(?:/(?:[A-Za-z0-9._~!$&'()*+,;=:@-]|%[0-9A-Fa-f]{2})*)*"
_QUERY = r"(?:\?(?:[A-Za-z0-9._~!$&()*+,;=:@/?-]|%[0-9A-Fa-f]{2})*)?"
_FRAGMENT = r"(?:#(?:[A-Za-z0-9._~!$&'()*+,;=:@/?-]|%[0-9A-Fa-f]{2})*)?"
_IPV4 = r"(?:(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])\.){3}(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])"

# What pydantic names as formats, and JSON Schema does not know.
_BASE64 = "(?:[A-Za-z0-9{0}]{{4}})*(?:[A-Za-z0-9{0}][AQgw]==|[A-Za-z0-9{0}]{{2}}[AEIMQUYcgkosw048]=)?"
_FORMATS = {
    "ipv4network": TEXT_TYPES[ipaddress.IPv4Network].pattern,
    "ipv4interface": TEXT_TYPES[ipaddress.IPv4Interface].pattern,
    "base64": _BASE64.format("+/"),
    "base64url": _BASE64.format("_-"),
}


def adapter_of(given: Any, place: str = "") -> Any:
    """The ``TypeAdapter`` of a type.

    Raises:
        MissingExtraError: pydantic is not installed, or a package that it needs for this type.
        UnsupportedTypeError: pydantic knows no way to read it.
    """
    try:
        import pydantic
    except ImportError as error:
        raise MissingExtraError("pydantic", "pydantic", f"the type {given!r:.80}") from error
    try:
        return pydantic.TypeAdapter(given)
    except ImportError as error:  # EmailStr asks for email-validator when it is first used
        package = getattr(error.__cause__ or error, "name", None) or "that pydantic asks for"
        raise MissingExtraError(package, "", f"the type {given!r:.80}", _first_line(error)) from error
    except pydantic.errors.PydanticUserError as error:
        raise UnsupportedTypeError(f"{given!r:.120}", place, _reason_of(error)) from error


def schema_of(adapter: Any, name: str, asserts_formats: bool) -> dict[str, Any]:
    """The JSON texts that a ``TypeAdapter`` reads, as far as a schema says so.

    Raises:
        UnsupportedTypeError: a part of it has no form in JSON.
    """
    from pydantic.errors import PydanticInvalidForJsonSchema, PydanticUserError

    generator = _generator(asserts_formats)
    try:
        schema: dict[str, Any] = adapter.json_schema(schema_generator=generator)
    except (PydanticInvalidForJsonSchema, PydanticUserError) as error:
        place = getattr(error, _PLACE, "")
        raise UnsupportedTypeError(name, place, _reason_of(error)) from error
    return schema


def _reason_of(error: Exception) -> str:
    """What pydantic says, and what to do."""
    code = getattr(error, "code", None)
    if code in ("class-not-fully-defined", "undefined-annotation"):
        return "an annotation names a class that is not defined; define it, and call model_rebuild()"
    if str(error).startswith("Cannot generate a JsonSchema"):
        return f"its values have no form in JSON ({_first_line(error)}); give the field another type"
    return _first_line(error)


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0]


_PLACE, _FAILED = "_tokamata_place", "_tokamata_failed"  # attributes of pydantic's errors
_generators: dict[bool, Any] = {}


def _generator(asserts_formats: bool) -> Any:
    if asserts_formats not in _generators:
        _generators[asserts_formats] = _made_generator(asserts_formats)
    return _generators[asserts_formats]


def _made_generator(asserts_formats: bool) -> Any:
    """A class, made where pydantic is there to derive it from."""
    from pydantic.errors import PydanticInvalidForJsonSchema
    from pydantic.json_schema import GenerateJsonSchema

    def matching(pattern: str) -> dict[str, Any]:
        return {"type": "string", "pattern": f"^(?:{pattern})$"} if asserts_formats else {"type": "string"}

    class Generator(GenerateJsonSchema):
        """What is written, where that is less than what is accepted."""

        ignored_warning_kinds = {"skipped-choice", "non-serializable-default"}  # noqa: RUF012 (pydantic's own)

        def generate_inner(self, schema: Any) -> Any:
            try:
                made = super().generate_inner(schema)
            except PydanticInvalidForJsonSchema as error:
                _note_place(error, schema)
                raise
            pattern = _FORMATS.get(made.get("format", ""))
            if pattern and asserts_formats:
                made = {**made, "pattern": f"^(?:{pattern})$"}
            return made

        def model_schema(self, schema: Any) -> Any:
            return self._closed(super().model_schema(schema))

        def dataclass_schema(self, schema: Any) -> Any:
            return self._closed(super().dataclass_schema(schema))

        def typed_dict_schema(self, schema: Any) -> Any:
            return self._closed(super().typed_dict_schema(schema))

        def dict_schema(self, schema: Any) -> Any:
            made = super().dict_schema(schema)
            if "patternProperties" in made:
                made.setdefault("additionalProperties", False)
            keys = schema.get("keys_schema", {}).get("type")
            if keys == "int":
                made["propertyNames"] = {"pattern": "^(?:0|-?[1-9][0-9]*)$"}
            elif keys == "bool":
                made["propertyNames"] = {"enum": ["false", "true"]}
            return made

        def tagged_union_schema(self, schema: Any) -> Any:
            made = super().tagged_union_schema(schema)
            if "oneOf" in made:
                made["anyOf"] = made.pop("oneOf")
            tag = made.get("discriminator", {}).get("propertyName")
            if tag is not None:
                made["required"] = [tag]  # also of members that have a default for it
            return made

        def str_schema(self, schema: Any) -> Any:
            made = super().str_schema(schema)
            strips = schema.get("strip_whitespace", self._config.str_strip_whitespace)
            bounded = any(keyword in made for keyword in ("minLength", "maxLength", "pattern"))
            return {"allOf": [made, {"pattern": r"^(?:\S(?:[^]*\S)?)?$"}]} if strips and bounded else made

        def decimal_schema(self, schema: Any) -> Any:
            names = ("gt", "ge", "lt", "le", "multiple_of", "max_digits", "decimal_places")
            return decimal_schema(Bounds(**{name: schema[name] for name in names if name in schema}))

        def date_schema(self, schema: Any) -> Any:
            return matching(DATE)

        def time_schema(self, schema: Any) -> Any:
            return matching(TIME)

        def datetime_schema(self, schema: Any) -> Any:
            zone = schema.get("tz_constraint")
            if zone == "naive":
                return matching(NAIVE_DATE_TIME)
            return matching(NAIVE_DATE_TIME + OFFSET if zone == "aware" else DATE_TIME)

        def timedelta_schema(self, schema: Any) -> Any:
            return matching(DURATION)

        def uuid_schema(self, schema: Any) -> Any:
            version = schema.get("version")
            if version is None or not asserts_formats:
                return super().uuid_schema(schema)
            digits = "[0-9A-Fa-f]"
            form = f"{digits}{{8}}-{digits}{{4}}-{version}{digits}{{3}}-[89ABab]{digits}{{3}}-{digits}{{12}}"
            return matching(form)

        def url_schema(self, schema: Any) -> Any:
            return _with_lengths(matching(_url(schema)), schema)

        def multi_host_url_schema(self, schema: Any) -> Any:
            return _with_lengths(matching(_url(schema)), schema)

        def float_schema(self, schema: Any) -> Any:
            made = super().float_schema(schema)
            if schema.get("allow_inf_nan") is False:
                for keyword, other, bound in (
                    ("minimum", "exclusiveMinimum", -_LARGEST),
                    ("maximum", "exclusiveMaximum", _LARGEST),
                ):
                    if other not in made:
                        made.setdefault(keyword, bound)
            return made

        def json_schema(self, schema: Any) -> Any:
            return self.handle_invalid_for_json_schema(schema, "JSON within a string")

        def _closed(self, made: Any) -> Any:
            whole = self.resolve_ref_schema(made)
            if "properties" in whole:
                whole.setdefault("additionalProperties", False)
            return made

    return Generator


def _note_place(error: Exception, schema: Any) -> None:
    """Extends the place that an error has on its way out of the schemas of pydantic: ``Model.field``.

    A field does not know its name, and the fields of a class do: they are asked which of them failed.
    """
    failed, place = getattr(error, _FAILED, None), getattr(error, _PLACE, "")
    if schema.get("type") in ("model-fields", "dataclass-args", "typed-dict"):
        fields = schema["fields"]
        pairs = fields.items() if isinstance(fields, dict) else ((one["name"], one) for one in fields)
        names = [name for name, field in pairs if field is failed]
        place = ".".join([*names, *filter(None, [place])])
    elif schema.get("type") in ("model", "dataclass") and place:
        place = f"{schema['cls'].__name__}.{place}"
    setattr(error, _PLACE, place)
    setattr(error, _FAILED, schema)


def _url(schema: Any) -> str:
    """URLs that everybody reads alike: no user, no international names, no port by number that is none."""
    schemes = "|".join(map(re.escape, schema.get("allowed_schemes") or ("http", "https", "ftp", "ws", "wss")))
    return f"(?:{schemes})://(?:{_HOST}|{_IPV4}){_PORT}{_PATH}{_QUERY}{_FRAGMENT}"


def _with_lengths(made: dict[str, Any], schema: Any) -> dict[str, Any]:
    longest = schema.get("max_length")
    return made if longest is None else {**made, "maxLength": longest}
