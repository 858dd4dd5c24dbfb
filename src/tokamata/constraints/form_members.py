"""Members of objects in a JSON form, such as a structural tag: each is checked, and refused with its place.

``place`` is the JSON Pointer to the object, ``name`` the member's.  All functions raise
:class:`tokamata.SchemaError` for a member that is missing or has another type.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tokamata.errors import SchemaError
from tokamata.patterns.json_schema.text import shown

__all__ = [
    "bound_of",
    "flag_of",
    "found",
    "list_of",
    "object_of",
    "refuse_others",
    "text_of",
    "texts_of",
    "token_of",
    "tokens_of",
    "valid",
    "whole_of",
]


def object_of(value: Any, place: str, expected: str) -> Mapping[str, Any]:
    """An object."""
    if isinstance(value, Mapping):
        return value
    raise SchemaError(place, "", "nothing" if value is None else shown(value), expected)


def refuse_others(given: Mapping[str, Any], place: str, known: Sequence[str]) -> None:
    """Refuses members that the form does not have: they would be ignored."""
    for name in given:
        if name not in known:
            raise SchemaError(place, name, shown(given[name]), "only " + ", ".join(known))


def found(given: Mapping[str, Any], name: str) -> str:
    """A member as messages show it."""
    return shown(given[name]) if name in given else "missing"


def valid(text: str, place: str, name: str) -> str:
    """A text without surrogates."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise SchemaError(place, name, "a text with a surrogate", "valid text") from None
    return text


def text_of(given: Mapping[str, Any], place: str, name: str, may_be_empty: bool = False) -> str:
    """A member that is a text."""
    value = given.get(name)
    if not isinstance(value, str) or not (value or may_be_empty):
        raise SchemaError(place, name, found(given, name), "a text" if may_be_empty else "a text, not empty")
    return valid(value, place, name)


def list_of(given: Mapping[str, Any], place: str, name: str, least: int = 0) -> list[Any]:
    """A member that is a list."""
    value = given.get(name)
    if not isinstance(value, (list, tuple)) or len(value) < least:
        expected = "a list" if least == 0 else "a list of at least one"
        raise SchemaError(place, name, found(given, name), expected)
    return list(value)


def texts_of(given: Mapping[str, Any], place: str, name: str, least: int = 0) -> list[str]:
    """A member that is a list of texts, none of them empty."""
    if name not in given and least == 0:
        return []
    texts = list_of(given, place, name, least)
    for text in texts:
        if not isinstance(text, str) or not text:
            raise SchemaError(place, name, shown(text), "texts of at least one character")
        valid(text, place, name)
    return texts


def flag_of(given: Mapping[str, Any], place: str, name: str, default: bool = False) -> bool:
    """A member that is true or false."""
    value = given.get(name, default)
    if not isinstance(value, bool):
        raise SchemaError(place, name, shown(value), "true or false")
    return value


def whole_of(given: Mapping[str, Any], place: str, name: str, least: int) -> int:
    """A member that is a whole number."""
    value = given.get(name)
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise SchemaError(place, name, found(given, name), f"a whole number, at least {least}")
    return value


def bound_of(given: Mapping[str, Any], place: str, name: str) -> int | None:
    """A bound; ``None``: there is none."""
    return None if given.get(name) is None else whole_of(given, place, name, 0)


def token_of(value: Any, place: str, name: str) -> str | int:
    """The name of a token, or its id."""
    if isinstance(value, str) and value:
        return valid(value, place, name)
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 31:
        return value
    found = "missing" if value is None else shown(value)
    raise SchemaError(place, name, found, "the name of a token, or its id")


def tokens_of(given: Mapping[str, Any], place: str, name: str) -> list[str | int]:
    """A member that is a list of tokens."""
    if name not in given:
        return []
    return [token_of(one, place, name) for one in list_of(given, place, name)]
