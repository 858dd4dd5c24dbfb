"""Who says whether a value is of a schema: the meaning of the table that it becomes, and `jsonschema`.

`jsonschema` searches patterns with Python's ``re``, which is another dialect than JSON Schema's; here it gets
them in that dialect, by an engine that is tested against Node.js elsewhere.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Context, Decimal, localcontext
from functools import cache
from pathlib import Path
from typing import Any
from unittest.mock import patch

import jsonschema
from jsonschema import _keywords, _utils
from jsonschema.validators import validator_for

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "patterns"))
sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "patterns" / "json_schema"))

from kernel_oracle import Oracle

import tokamata as tk
from tokamata.patterns.json_schema import RecordingTable, read_schema

_BYTES = tk.Vocabulary.load([bytes([value]) for value in range(256)])


class NoVerdict(Exception):
    """A judge cannot say."""


class _EcmaSearch:
    """What `jsonschema` uses of the module ``re``."""

    @staticmethod
    @cache
    def _compiled(pattern: str) -> tk.CompiledConstraint | None:
        try:
            return tk.regex(pattern, dialect="ecma").compile(_BYTES)
        except tk.EmptyConstraintError:
            return None
        except tk.TokamataError:
            raise NoVerdict from None

    @classmethod
    def search(cls, pattern: str, text: str) -> bool:
        compiled = cls._compiled(pattern)
        if compiled is None:
            return False
        matcher = compiled.matcher()
        return all(matcher.advance(byte) for byte in text.encode()) and matcher.is_accepting


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


class Judges:
    """What a schema says of values.

    Args:
        schema: the schema.
        formats: whether they are asserted.

    Raises:
        tokamata.TokamataError: it cannot be read.
    """

    def __init__(self, schema: Any, formats: bool) -> None:
        table = RecordingTable()
        options: Any = "assert" if formats else "annotate"
        self._root = read_schema(schema, table=table, formats=options).root
        self._oracle = Oracle(table)
        self._schema = exact(schema)
        formats = {value for name, value in _members(schema) if name == "format" and isinstance(value, str)}
        self._checker = _checker(self._schema)
        self._may_turn = not formats <= set(self._checker.checkers) and not _NOT_MONOTONE.isdisjoint(
            name for name, _ in _members(schema)
        )

    def by_table(self, value: Any) -> bool:
        """By the definition of each node of the table.

        Raises:
            NoVerdict: a number is too large to compute with, or the value too deep.
        """
        try:
            return self._oracle.holds(self._root, value)
        except (RecursionError, AssertionError, KeyError):
            raise NoVerdict from None

    def by_upstream(self, value: Any) -> bool:
        """By `jsonschema`, without formats.

        Raises:
            NoVerdict: it raises what it does at references and patterns that it does not take.
        """
        return self._by_upstream(value, None)

    def by_upstream_with_formats(self, value: Any) -> bool:
        """By `jsonschema`, with those formats that it has a judge of; the others are annotations to it.

        Its judge of ``regex`` is Python's ``re``, which is another dialect, and left out.

        Raises:
            NoVerdict: as above; and where a value is invalid to it, but perhaps because a format that others
                assert is an annotation to it.
        """
        is_valid = self._by_upstream(value, self._checker)
        if not is_valid and self._may_turn:
            raise NoVerdict
        return is_valid

    def _by_upstream(self, value: Any, checker: jsonschema.FormatChecker | None) -> bool:
        kind = validator_for(self._schema, default=jsonschema.Draft202012Validator)
        try:
            with localcontext(Context(prec=1000)), _searching_as_json_schema_does():
                return bool(kind(self._schema, format_checker=checker).is_valid(value))
        except NoVerdict:
            raise
        except Exception:  # of referencing, decimal, and others
            raise NoVerdict from None
