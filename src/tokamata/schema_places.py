"""Where a schema stands in a document around it, such as a list of tools or a structural tag."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from tokamata.errors import SchemaError, SchemaWarning, UnsupportedSchemaError

__all__ = ["warn_of", "within"]

_place: ContextVar[str] = ContextVar("tokamata_schema_place", default="")


@contextmanager
def within(place: str) -> Iterator[None]:
    """Errors and warnings in a schema get pointers from the root of the document around it."""
    token = _place.set(place)
    try:
        yield
    except SchemaError as error:
        raise SchemaError(place + error.pointer, error.keyword, error.found, error.expected) from error
    except UnsupportedSchemaError as error:
        raise UnsupportedSchemaError(place + error.pointer, error.keyword, error.reason) from error
    finally:
        _place.reset(token)


def warn_of(slips: Iterable[SchemaWarning]) -> None:
    """Warns of slips in a schema, at the line outside of this package that called it."""
    for slip in slips:
        pointer = _place.get() + slip.pointer
        warning = SchemaWarning(pointer, slip.keyword, slip.near, slip.reason, slip.count)
        warnings.warn(warning, stacklevel=_levels_to_the_caller())


def _levels_to_the_caller() -> int:
    """What ``stacklevel`` is for the function that calls this; Python 3.12 has ``skip_file_prefixes``."""
    package = __name__.partition(".")[0]
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == package:
        frame, level = frame.f_back, level + 1
    return level
