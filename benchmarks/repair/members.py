"""Which members of a broken JSON text are complete, and which of them a repair has kept.

Problem.  A text that was cut off, or that a model wrote, has members and elements that are whole.  A repair
should not lose them.
Example.  ``{"a": [1, 2], "b": "x", "c": 12`` has ``a``, ``a/0``, ``a/1`` and ``b``; ``12`` may go on.
How.  The text is read as JSON from its first bracket to its first mistake or its end.  A value is complete
if the text shows its end, which a number does only by what follows it.
"""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import jsonschema

__all__ = ["Member", "complete_members", "has", "valid_members"]

_Path = tuple[str | int, ...]
_BLANKS = re.compile(r"[ \t\r\n]*")
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"')
_SCALAR = re.compile(r"(?:-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?=[\s,\]}])|true|false|null)")
_MOST_DEPTH = 200


class Member(NamedTuple):
    """A complete value of a text: where it is, and what it is."""

    path: _Path
    value: Any


class _MistakeError(ValueError):
    """The text is not JSON from here on."""


def complete_members(text: str) -> list[Member]:
    """The complete members and elements, at any depth; those of objects that repeat a name are left out."""
    begin = re.search(r"[\[{]", text)
    found: list[Member] = []
    repeated: set[_Path] = set()
    if begin is not None:
        with contextlib.suppress(_MistakeError):  # what was found before it counts
            _value(text, begin.start(), (), found, repeated)
    return [
        member
        for member in found
        if member.path and not any(member.path[:depth] in repeated for depth in range(len(member.path)))
    ]


def _value(text: str, at: int, path: _Path, found: list[Member], repeated: set[_Path]) -> tuple[Any, int]:
    if len(path) > _MOST_DEPTH:
        raise _MistakeError
    if text[at : at + 1] in ("[", "{"):
        value, at = _container(text, at, path, found, repeated)
    else:
        match = _STRING.match(text, at) or _SCALAR.match(text, at)
        if match is None:
            raise _MistakeError
        value, at = json.loads(match.group()), match.end()
    found.append(Member(path, value))
    return value, at


def _container(text: str, at: int, path: _Path, found: list[Member], repeated: set[_Path]) -> tuple[Any, int]:
    is_object = text[at] == "{"
    members: dict[str, Any] = {}
    elements: list[Any] = []
    at = _after_blanks(text, at + 1)
    if text[at : at + 1] == ("}" if is_object else "]"):
        return (members if is_object else elements), at + 1
    while True:
        step: str | int = len(elements)
        if is_object:
            match = _STRING.match(text, at)
            if match is None:
                raise _MistakeError
            step, at = json.loads(match.group()), _after_blanks(text, match.end())
            if text[at : at + 1] != ":":
                raise _MistakeError
            at = _after_blanks(text, at + 1)
            if step in members:
                repeated.add(path)
        value, at = _value(text, at, (*path, step), found, repeated)
        if is_object:
            members[str(step)] = value
        else:
            elements.append(value)
        at = _after_blanks(text, at)
        ending = text[at : at + 1]
        if ending == ("}" if is_object else "]"):
            return (members if is_object else elements), at + 1
        if ending != ",":
            raise _MistakeError
        at = _after_blanks(text, at + 1)


def _after_blanks(text: str, at: int) -> int:
    match = _BLANKS.match(text, at)
    assert match is not None  # it matches the empty text
    return match.end()


def valid_members(members: list[Member], schema: Any) -> Iterator[Member]:
    """The members of the outermost object that its schema accepts, whatever else the object may lack.

    The object that has this member alone must have no mistake in the member or its name, and none under an
    operator such as ``anyOf``, since that may be about either.
    """
    kind = jsonschema.validators.validator_for(schema, jsonschema.Draft202012Validator)
    for member in members:
        if len(member.path) == 1 and isinstance(member.path[0], str):
            alone = {member.path[0]: member.value}
            try:
                is_valid = all(map(_is_about_others, kind(schema).iter_errors(alone)))
            except Exception:  # the validator cannot evaluate the schema
                continue
            if is_valid:
                yield member


def _is_about_others(error: jsonschema.ValidationError) -> bool:
    return not error.absolute_path and error.validator in ("required", "minProperties", "dependentRequired")


def has(value: Any, member: Member) -> bool:
    """Whether a value has a member at its path."""
    for step in member.path:
        is_there = (
            step in value if isinstance(step, str) and isinstance(value, dict)
            else isinstance(value, list) and isinstance(step, int) and step < len(value)
        )  # fmt: skip
        if not is_there:
            return False
        value = value[step]
    return json.dumps(value, sort_keys=True) == json.dumps(member.value, sort_keys=True)
