"""Says of a text whether a schema accepts its value: the judge is ``jsonschema-rs``, and no engine.

A verdict is given only where every reading of the schema gives the same:

- ``format`` is asserted, or an annotation; the specification leaves that to the implementation.
- ``dependencies`` counts, or not, in drafts from 2019-09 on, which no longer define it.
- ``1.0`` is an integer, or is not, in draft 4; the official test suite leaves that open.
- A name that an object has twice is read as its first value, or as its last; RFC 8259 leaves that open.

So a valid instance is valid with formats asserted, and an invalid one is invalid without them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from enum import Enum
from typing import Any

from tokamata.errors import MissingExtraError

__all__ = ["Judge", "Judgement", "Verdict"]

_LONGEST_REASON = 300  # characters
_MOST_EXPONENT = 4000  # a rational number of more digits takes the judge seconds
_HUGE = 10**4000  # jsonschema-rs gets integers as digits, of which Python writes 4,300 at most
_CONSTANT_SCHEMAS = {"enum", "const", "default", "examples"}
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
_OF_NAMES = {"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"}


class Verdict(str, Enum):
    """What the judge says of a text."""

    VALID = "valid"
    INVALID = "invalid"
    NOT_JSON = "not JSON"
    FORMAT = "format"
    """Whether it is valid depends on whether formats are asserted."""
    REPEATED_NAME = "repeated name"
    """Valid in some reading, and an object in it has a name twice."""
    UNCLEAR = "unclear"
    """The judge cannot say, or the readings differ otherwise."""


@dataclass(frozen=True)
class Judgement:
    """A verdict with the judge's reason.

    Attributes:
        verdict: the verdict.
        reason: what ``jsonschema-rs`` or ``json`` says against the text; ``""`` of a valid one.
        place: JSON Pointer to the keyword of the schema that refuses it.
    """

    verdict: Verdict
    reason: str = ""
    place: str = ""


class Judge:
    """Judges texts by the schema that it has taken.

    Raises:
        MissingExtraError: ``jsonschema-rs`` is not installed.
    """

    def __init__(self) -> None:
        try:
            import jsonschema_rs
        except ImportError as error:
            raise MissingExtraError("jsonschema-rs", "audit", "judging witnesses") from error
        self._library: Any = jsonschema_rs
        self._is_draft_4 = False
        self._annotating: list[Any] = []
        self._asserting: list[Any] = []

    def take(self, schema: str) -> str:
        """Read the text of a schema; why ``jsonschema-rs`` does not take it, or ``""``."""
        try:
            read = json.loads(schema, parse_float=Decimal)  # numbers as they are written, not as floats
            kind = self._library.validator_cls_for(read)
            self._is_draft_4 = kind is self._library.Draft4Validator
            schemas = [read]
            if kind in (self._library.Draft201909Validator, self._library.Draft202012Validator):
                without = _without_dependencies(read)
                schemas += [without] if without != read else []
            self._annotating, self._asserting = (
                [kind(one, validate_formats=asserted, offline=True) for one in schemas]
                for asserted in (False, True)
            )
        except Exception as error:  # ValidationError, ReferencingError, ValueError, RecursionError
            return (" ".join(str(error).split()) or type(error).__name__)[:_LONGEST_REASON]
        return ""

    def judge(self, texts: Sequence[bytes]) -> list[Judgement]:
        """The verdict on each text, and the reason."""
        return [self._judge(text) for text in texts]

    def _judge(self, text: bytes) -> Judgement:
        try:
            decoded = text.decode()
        except UnicodeDecodeError as error:
            return Judgement(Verdict.NOT_JSON, f"not UTF-8: {error.reason} at byte {error.start}")
        repeated: list[str] = []
        values = []
        for keeps_last in (True, False):
            try:
                values.append(_read(decoded, keeps_last, repeated))
            except (RecursionError, ArithmeticError):
                return Judgement(Verdict.UNCLEAR, "nests too deep, or has a number that is too large")
            except json.JSONDecodeError as error:
                return Judgement(Verdict.NOT_JSON, str(error))
            except ValueError as error:
                return Judgement(Verdict.UNCLEAR, str(error))
            if not repeated:
                break
        if _SURROGATE.search(decoded) and not _is_unicode(values[0]):
            return Judgement(Verdict.UNCLEAR, "a string has half of a surrogate pair")
        if self._is_draft_4:
            values += [_whole(value) for value in values]
        return self._of_values(values, repeated)

    def _of_values(self, values: list[Any], repeated: list[str]) -> Judgement:
        try:
            annotated = {one.is_valid(value) for one in self._annotating for value in values}
            asserted = {one.is_valid(value) for one in self._asserting for value in values}
        except Exception as error:  # a pattern takes too long, or a number is too large
            return Judgement(Verdict.UNCLEAR, " ".join(str(error).split())[:_LONGEST_REASON])
        if annotated == {False} and asserted == {False}:
            return Judgement(Verdict.INVALID, *self._reason(self._annotating[0], values[0]))
        if repeated:
            return Judgement(Verdict.REPEATED_NAME, f"an object has the name {repeated[0]!r} twice")
        if annotated == asserted == {True}:
            return Judgement(Verdict.VALID)
        if annotated == {True} and asserted == {False}:
            return Judgement(Verdict.FORMAT, *self._reason(self._asserting[0], values[0]))
        return Judgement(Verdict.UNCLEAR, "readings of the schema differ")

    @staticmethod
    def _reason(validator: Any, value: Any) -> tuple[str, str]:
        """The message with the place in the instance, and the place in the schema."""
        for error in validator.iter_errors(value):
            instance = "".join(f"/{step}" for step in error.instance_path) or "its root"
            schema = "".join(f"/{step}" for step in error.schema_path)
            return f"{error.message[:_LONGEST_REASON]}, at {instance[:_LONGEST_REASON]}, by {schema}", schema
        return "", ""


def _read(text: str, keeps_last: bool, repeated: list[str]) -> Any:
    def members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for name, value in pairs:
            if name in found:
                repeated.append(name)
                if not keeps_last:
                    continue
            found[name] = value
        return found

    def refuse(constant: str) -> Any:
        raise json.JSONDecodeError(f"{constant} is not JSON", text, 0)

    if re.search(r"[^ \t\n\r]", text) is None:
        raise json.JSONDecodeError("no value", text, 0)
    return _for_rust(json.loads(text, object_pairs_hook=members, parse_float=_number, parse_constant=refuse))


def _number(digits: str) -> Decimal:
    found = Decimal(digits)
    if found and abs(found.adjusted()) > _MOST_EXPONENT:
        raise OverflowError(digits)
    return found


def _for_rust(value: Any) -> Any:
    if isinstance(value, list):
        return [_for_rust(one) for one in value]
    if isinstance(value, dict):
        return {name: _for_rust(one) for name, one in value.items()}
    is_huge = isinstance(value, int) and not isinstance(value, bool) and abs(value) >= _HUGE
    return Decimal(value) if is_huge else value


def _is_unicode(value: Any) -> bool:
    """Whether all strings are; what becomes of a lone surrogate is open (RFC 8259, section 8.2)."""
    if isinstance(value, list):
        return all(map(_is_unicode, value))
    if isinstance(value, dict):
        return all(map(_is_unicode, value)) and all(map(_is_unicode, value.values()))
    return not (isinstance(value, str) and any("\ud800" <= one <= "\udfff" for one in value))


def _whole(value: Any) -> Any:
    """The value with whole numbers as integers, however they are written."""
    if isinstance(value, list):
        return [_whole(one) for one in value]
    if isinstance(value, dict):
        return {name: _whole(one) for name, one in value.items()}
    is_whole = isinstance(value, Decimal) and value == value.to_integral_value() and abs(value) < _HUGE
    return int(value) if is_whole else value


def _without_dependencies(schema: Any) -> Any:
    """The schema without the keyword ``dependencies``; properties of that name stay."""
    if isinstance(schema, list):
        return [_without_dependencies(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    return dict(_kept_members(schema))


def _kept_members(schema: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    for keyword, value in schema.items():
        if keyword == "dependencies" and isinstance(value, dict):
            continue
        if keyword in _CONSTANT_SCHEMAS:
            yield keyword, value
        elif keyword in _OF_NAMES and isinstance(value, dict):
            yield keyword, {name: _without_dependencies(one) for name, one in value.items()}
        else:
            yield keyword, _without_dependencies(value)
