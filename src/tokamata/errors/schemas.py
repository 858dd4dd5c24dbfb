"""Errors in a JSON Schema or a Python type."""

from __future__ import annotations

from tokamata.errors.base import TokamataError


class SchemaError(TokamataError, ValueError):
    """An invalid JSON Schema: a keyword has a value that its draft does not allow.

    Attributes:
        pointer: JSON Pointer to the schema that is at fault, ``""`` for the root; in another document,
            that document's URI, ``#`` and the pointer.
        keyword: the keyword that is at fault, or ``""`` if the schema itself is.
        found: the value there, shortened.
        expected: the values that it may have.
    """

    def __init__(self, pointer: str, keyword: str, found: str, expected: str) -> None:
        super().__init__(pointer, keyword, found, expected)
        self.pointer = pointer
        self.keyword = keyword
        self.found = found
        self.expected = expected

    def _message(self) -> str:
        what = f"the keyword {self.keyword!r:.80} is" if self.keyword else "there is"
        return f"{_schema_location(self.pointer)}: {what} {self.found}; expected {self.expected}"


class UnsupportedSchemaError(TokamataError, ValueError):
    """A schema with a keyword that tokamata cannot enforce exactly.

    Attributes:
        pointer: JSON Pointer to the schema with the keyword, as in :class:`SchemaError`.
        keyword: the keyword.
        reason: why it cannot be enforced.
    """

    def __init__(self, pointer: str, keyword: str, reason: str) -> None:
        super().__init__(pointer, keyword, reason)
        self.pointer = pointer
        self.keyword = keyword
        self.reason = reason

    def _message(self) -> str:
        return (
            f"{_schema_location(self.pointer)}: the keyword {self.keyword!r:.80} cannot be enforced: "
            f"{self.reason}\nchange it, or pass strict=False, which leaves out what cannot be enforced "
            "and lists it in the report"
        )


class SchemaWarning(TokamataError, UserWarning):
    """A keyword of a JSON Schema that says nothing, where something was meant; a warning, not an error.

    Attributes:
        pointer: JSON Pointer to the first schema that has it, as in :class:`SchemaError`.
        keyword: the keyword.
        near: what was probably meant: a keyword, or a format; ``""`` if that is not known.
        reason: why it says nothing, and what to write.
        count: in how many schemas it stands.
    """

    def __init__(self, pointer: str, keyword: str, near: str, reason: str, count: int = 1) -> None:
        super().__init__(pointer, keyword, near, reason, count)
        self.pointer = pointer
        self.keyword = keyword
        self.near = near
        self.reason = reason
        self.count = count

    def _message(self) -> str:
        more = f" (and in {self.count - 1:,} more)" if self.count > 1 else ""
        return f"{_schema_location(self.pointer)}{more}: {self.reason}"


class UnsupportedTypeError(TokamataError, TypeError):
    """A Python type whose values cannot be described exactly.

    Attributes:
        type_name: the type.
        place: where it was found: the names of classes and fields that lead to it, or ``""``.
        reason: why it is not supported.
    """

    def __init__(self, type_name: str, place: str, reason: str) -> None:
        super().__init__(type_name, place, reason)
        self.type_name = type_name
        self.place = place
        self.reason = reason

    def _message(self) -> str:
        where = f", found at {self.place}," if self.place else ""
        return f"the type {self.type_name}{where} cannot be written: {self.reason}"


def _schema_location(pointer: str) -> str:
    """How a message names the schema at a JSON Pointer."""
    shown = pointer if len(pointer) <= 200 else f"{pointer[:99]}…{pointer[-100:]}"
    return f"in the schema at {shown}" if pointer else "in the schema at its root"
