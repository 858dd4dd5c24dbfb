"""Who says whether a value is valid: the meaning of the table that a schema becomes, and two validators.

The validators are `jsonschema`, in Python, and `jsonschema-rs`, in Rust; they share no code.  `jsonschema`
searches patterns with Python's ``re``, which is another dialect than JSON Schema's; here it gets them in that
dialect, by the slow matcher of naive_core.py, which is tested against Node.js elsewhere.  `jsonschema-rs` has
a regex engine of its own.

Where the validators differ there is no verdict, and the difference has a kind.  On 300,000 values of random
schemas, the JSON Schema Test Suite and 600 schemas of MaskBench they never differed, formats and patterns
left aside; so a kind that ``KNOWN_DIFFERENCES`` does not list is a finding.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from decimal import Context, Decimal, localcontext
from functools import cache
from typing import Any
from unittest.mock import patch

import jsonschema
import jsonschema_rs
from jsonschema import _keywords, _utils
from jsonschema.validators import validator_for

import tokamata as tk
from tests.support.patterns.naive_core import Expression, accepts, lowered
from tests.support.schemas.kernel_oracle import oracle_of

# In what the validators are known to differ, by the kinds of `Judges.by_validators`, and why.
KNOWN_DIFFERENCES = {
    "dependencies": "left to the implementation from 2019-09 on, where jsonschema-rs alone asserts it",
}
# What is left out of a schema to see whether the validators then agree; formats are not asserted there.
_KINDS: dict[str, set[str]] = {
    "format": set(),
    "dependencies": {"dependencies"},
}
# Formats of which jsonschema-rs does not judge: it refuses ab--cd.example, which the test suite calls valid.
_RUST_LEAVES_OUT = {"hostname", "idn-hostname"}
_OF_NO_FORMAT = "(%{\0"


class NoVerdict(Exception):
    """A judge cannot say."""


class JudgesDiffer(NoVerdict):
    """The validators contradict each other.

    Attributes:
        kind: ``format`` or ``dependencies``, if they agree without; else the schema's keywords.
    """

    def __init__(self, kind: str) -> None:
        super().__init__(f"the validators differ: {kind}")
        self.kind = kind


class _EcmaSearch:
    """What `jsonschema` uses of the module ``re``."""

    @staticmethod
    @cache
    def _expression(pattern: str) -> Expression:
        try:
            return lowered(pattern, dialect="ecma")
        except tk.TokamataError:
            raise NoVerdict from None

    @classmethod
    def search(cls, pattern: str, text: str) -> bool:
        return accepts(cls._expression(pattern), text)


@contextmanager
def _searching_as_json_schema_does() -> Iterator[None]:
    with patch.object(_keywords, "re", _EcmaSearch), patch.object(_utils, "re", _EcmaSearch):
        yield


def exact(value: Any) -> Any:
    """The same with numbers as they are written, not as floats."""
    return json.loads(json.dumps(value), parse_float=Decimal)


# Keywords by which a value can be invalid because a part of the schema takes it.
_NOT_MONOTONE = {"oneOf", "not", "if", "maxContains", "disallow", "dependencies", "dependentSchemas"}
_NOT_MONOTONE |= {"unevaluatedItems", "unevaluatedProperties"}


def _members(schema: Any) -> Iterator[tuple[str, Any]]:
    """Of all objects in a schema, by name."""
    if isinstance(schema, dict):
        yield from schema.items()
        schema = list(schema.values())
    if isinstance(schema, list):
        for part in schema:
            yield from _members(part)


def formats_of(schema: Any) -> set[str]:
    """The names of all formats in a schema, and perhaps more."""
    return {value for name, value in _members(schema) if name == "format" and isinstance(value, str)}


def _date(text: object, judge: Any) -> Any:
    """What `jsonschema` says of a date.  The year 0, which RFC 3339 has, is none to Python."""
    if isinstance(text, str) and text.startswith("0000-"):
        raise NoVerdict
    return judge(text)


def _checker(schema: Any) -> jsonschema.FormatChecker:
    """Of the formats that `jsonschema` has a judge of in the schema's draft."""
    checker = jsonschema.FormatChecker(())
    known = validator_for(schema, default=jsonschema.Draft202012Validator).FORMAT_CHECKER.checkers
    checker.checkers = {name: judge for name, judge in known.items() if name != "regex"}
    if "date" in known:
        judge, raised = known["date"]
        checker.checkers["date"] = (lambda text: _date(text, judge), raised)
    return checker


def _rust_knows(kind: Any, name: str) -> bool:
    """Whether `jsonschema-rs` asserts a format in a draft: then it refuses what is of no format."""
    return not kind({"format": name}, validate_formats=True).is_valid(_OF_NO_FORMAT)


def _without(schema: Any, keywords: set[str]) -> Any:
    if isinstance(schema, list):
        return [_without(part, keywords) for part in schema]
    if not isinstance(schema, dict):
        return schema
    return {name: _without(part, keywords) for name, part in schema.items() if name not in keywords}


def asked(judge: Callable[[Any], bool], value: Any, unsaid: Counter[str]) -> bool | None:
    """What a judge says; ``None`` where it does not, which is counted with the reason.

    Raises:
        AssertionError: the validators differ in something that is not known.
    """
    try:
        return judge(value)
    except JudgesDiffer as error:
        if error.kind not in KNOWN_DIFFERENCES:
            raise AssertionError(str(error)) from None  # a number may be too long to be shown
        unsaid[str(error)] += 1
    except NoVerdict:
        unsaid[f"no verdict {judge.__name__.replace('_', ' ')}"] += 1
    return None


class _Python:
    """`jsonschema`.  With ``formats`` those that it has a judge of; the others are annotations to it.

    Its judge of ``regex`` is Python's ``re``, which is another dialect, and left out.
    """

    def __init__(self, schema: Any, formats: bool) -> None:
        self._schema = schema
        self._checker = _checker(schema) if formats else None
        self.formats = set(self._checker.checkers) if self._checker else set()

    def __call__(self, value: Any) -> bool:
        kind = validator_for(self._schema, default=jsonschema.Draft202012Validator)
        try:
            with localcontext(Context(prec=1000)), _searching_as_json_schema_does():
                return bool(kind(self._schema, format_checker=self._checker).is_valid(value))
        except NoVerdict:
            raise
        except Exception:  # of referencing, decimal, and others
            raise NoVerdict from None


def _for_rust(value: Any) -> Any:
    """The same value.  Integers go to `jsonschema-rs` as digits, of which Python writes 4,300 at most."""
    if isinstance(value, list):
        return [_for_rust(one) for one in value]
    if isinstance(value, dict):
        return {name: _for_rust(one) for name, one in value.items()}
    return Decimal(value) if isinstance(value, int) and abs(value) >= 10**4000 else value


class _Rust:
    """`jsonschema-rs`, likewise."""

    def __init__(self, schema: Any, formats: bool) -> None:
        self._validator = None
        self.formats: set[str] = set()
        anything = dict.fromkeys(_RUST_LEAVES_OUT, lambda text: True)
        try:
            kind = jsonschema_rs.validator_cls_for(schema)
            named = formats_of(schema) - _RUST_LEAVES_OUT if formats else set()
            self.formats = {name for name in named if _rust_knows(kind, name)}
            self._validator = kind(schema, validate_formats=formats, formats=anything, offline=True)
        except (jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError, ValueError):
            pass  # it does not take the schema: documents that are not given, or the syntax of a pattern

    def __call__(self, value: Any) -> bool:
        if self._validator is None:
            raise NoVerdict
        try:
            return bool(self._validator.is_valid(_for_rust(value)))
        except ValueError:  # a pattern takes it too long, or a number is too large
            raise NoVerdict from None


class Judges:
    """What a schema says of values.

    Args:
        schema: the schema.
        formats: whether they are asserted.

    Raises:
        tokamata.TokamataError: it cannot be read.
    """

    def __init__(self, schema: Any, formats: bool) -> None:
        self._holds = oracle_of(schema, formats="assert" if formats else "annotate")
        self._schema = exact(schema)
        self._formats = formats_of(schema) if formats else set()
        self._turns = not _NOT_MONOTONE.isdisjoint(name for name, _ in _members(schema))
        self._validators = [judge(self._schema, formats) for judge in (_Python, _Rust)]

    def by_table(self, value: Any) -> bool:
        """By the definition of each node of the table.

        Raises:
            NoVerdict: a number is too large to compute with, or the value too deep.
        """
        try:
            return self._holds(value)
        except (RecursionError, AssertionError, KeyError):
            raise NoVerdict from None

    def by_validators(self, value: Any) -> bool:
        """By `jsonschema` and `jsonschema-rs`; by one of them where the other cannot say.

        If the schema has a format that is an annotation to a validator, what it takes may still be invalid,
        and what it refuses may be valid if there are keywords such as ``not``.

        Raises:
            JudgesDiffer: they contradict each other.
            NoVerdict: none can say.
        """
        sure: set[bool] = set()  # what those say to whom no format is an annotation
        unsure: set[bool] = set()
        for validator in self._validators:
            annotations = self._formats - validator.formats
            try:
                verdict = validator(value)
            except NoVerdict:
                continue
            if not annotations or not (verdict or self._turns):
                sure.add(verdict)
            else:
                unsure.add(verdict)
        if len(sure) == 2:
            raise JudgesDiffer(self._difference(value))
        if sure:
            return sure.pop()
        if unsure == {True}:
            return True
        raise NoVerdict

    def _difference(self, value: Any) -> str:
        """Without what the validators agree."""
        for kind, keywords in _KINDS.items():
            schema = _without(self._schema, keywords)
            try:
                if len({judge(schema, False)(value) for judge in (_Python, _Rust)}) == 1:
                    return kind
            except NoVerdict:
                continue
        return ", ".join(sorted({name for name, _ in _members(self._schema)}))
