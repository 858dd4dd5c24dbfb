"""Where a schema stands in a document around it, such as a list of tools or a structural tag."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from tokamata.errors import SchemaError, UnsupportedSchemaError

__all__ = ["within"]


@contextmanager
def within(place: str) -> Iterator[None]:
    """Errors in a schema get pointers from the root of the document around it."""
    try:
        yield
    except SchemaError as error:
        raise SchemaError(place + error.pointer, error.keyword, error.found, error.expected) from error
    except UnsupportedSchemaError as error:
        raise UnsupportedSchemaError(place + error.pointer, error.keyword, error.reason) from error
