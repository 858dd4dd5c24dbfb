"""Reads fields of untrusted parsed JSON and checks their types.

A damaged file may contain ``"merges": null``, or lack ``"pattern"``.  A ``Section`` is an object of a file
together with its path, so that errors name the field::

    part = Section({"type": "Split", "pattern": None}, "pre_tokenizer")
    part.section("pattern")     VocabularyError: pre_tokenizer.pattern is null; expected an object

An absent field has its default; ``null`` is an ordinary value, as in the programs that write these files.
"""

from __future__ import annotations

import json
from typing import Any, NoReturn

from tokamata.errors import VocabularyError

_REQUIRED: Any = object()
_MOST_NESTED = 8  # sequences of normalizers, pre-tokenizers or decoders within each other


class Section:
    """An object of a parsed JSON file.

    Attributes:
        fields: its members.
        path: its path in the file.
    """

    __slots__ = ("fields", "path")

    def __init__(self, value: object, path: str) -> None:
        if not isinstance(value, dict):
            refuse(path, value, "an object")
        self.fields: dict[str, Any] = value
        self.path = path

    @property
    def kind(self) -> str:
        """Its ``type``."""
        return self.text("type")

    def text(self, name: str, default: Any = _REQUIRED) -> str:
        """A text."""
        value = self._field(name, default, "a text")
        if not isinstance(value, str) or any("\ud800" <= letter <= "\udfff" for letter in value):
            self.refuse(name, "a text")
        return value

    def character(self, name: str) -> str:
        """A text of one character."""
        value = self.text(name)
        return value if len(value) == 1 else self.refuse(name, "one character")

    def flag(self, name: str, default: Any = _REQUIRED) -> bool:
        """True or false."""
        value = self._field(name, default, "true or false")
        return value if isinstance(value, bool) else self.refuse(name, "true or false")

    def whole(self, name: str, default: Any = _REQUIRED) -> int:
        """A whole number, at least 0."""
        value = self._field(name, default, "a whole number")
        if not isinstance(value, int) or isinstance(value, bool) or value < 0:
            self.refuse(name, "a whole number, at least 0")
        return value

    def items(self, name: str) -> list[Any]:
        """A list."""
        value = self._field(name, _REQUIRED, "a list")
        return value if isinstance(value, list) else self.refuse(name, "a list")

    def section(self, name: str) -> Section:
        """An object."""
        return Section(self._field(name, _REQUIRED, "an object"), self.path_of(name))

    def path_of(self, name: str) -> str:
        """The path of a field."""
        return f"{self.path}.{name}" if self.path else name

    def refuse(self, name: str, expected: str) -> NoReturn:
        """Raises ``VocabularyError`` for a field that is present."""
        refuse(self.path_of(name), self.fields[name], expected)

    def _field(self, name: str, default: Any, expected: str) -> Any:
        value = self.fields.get(name, default)
        if value is _REQUIRED:
            raise VocabularyError(f"{self.path_of(name)} is missing; expected {expected}; {_ADVICE}")
        return value

    def __repr__(self) -> str:
        return shown(self.fields)


def flattened(document: Section, name: str, inner: str) -> list[Section]:
    """The parts of a section that may be ``null``, one part, or nested sequences of parts, in order.

    Args:
        document: the object that contains the section.
        name: the name of the section.
        inner: the name of the list in a sequence.
    """
    value = document.fields.get(name)
    return [] if value is None else _parts(Section(value, document.path_of(name)), inner, 0)


def _parts(part: Section, inner: str, depth: int) -> list[Section]:
    if part.kind != "Sequence":
        return [part]
    if depth > _MOST_NESTED:
        raise VocabularyError(f"{part.path} nests more than {_MOST_NESTED} sequences; {_ADVICE}")
    return [
        found
        for index, value in enumerate(part.items(inner))
        for found in _parts(Section(value, f"{part.path_of(inner)}[{index}]"), inner, depth + 1)
    ]


def refuse(path: str, found: object, expected: str) -> NoReturn:
    """Raises ``VocabularyError`` for a value at a path of a file."""
    raise VocabularyError(f"{path} is {shown(found)}; expected {expected}; {_ADVICE}")


def shown(value: object) -> str:
    """The beginning of a value of a file, in JSON."""
    return f"{json.dumps(_beginning(value, 3), ensure_ascii=False):.80}"


def _beginning(value: Any, depth: int) -> Any:
    """A small part of a value, enough to recognize it."""
    if isinstance(value, dict):
        return {k: _beginning(v, depth - 1) for k, v in list(value.items())[:4]} if depth else "…"
    if isinstance(value, list):
        return [_beginning(one, depth - 1) for one in value[:4]] if depth else "…"
    if isinstance(value, str):
        return value[:80]
    return value if not isinstance(value, int) or abs(value) < 10**30 else 10**30


_ADVICE = "the file is damaged, download it again"
