"""Where a schema stands in a document around it, such as a list of tools or a structural tag."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from tokamata.errors import SchemaError, SchemaWarning, UnsupportedSchemaError

__all__ = ["noted_slips", "warn_of", "within"]

_place: ContextVar[str] = ContextVar("tokamata_schema_place", default="")
_noted: ContextVar[list[SchemaWarning] | None] = ContextVar("tokamata_noted_slips", default=None)


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


@contextmanager
def noted_slips() -> Iterator[list[SchemaWarning]]:
    """The slips that are warned of meanwhile, with pointers that begin at the place of now."""
    here, noted = len(_place.get()), list[SchemaWarning]()
    token = _noted.set(noted)
    try:
        yield noted
    finally:
        _noted.reset(token)
    around = _noted.get()
    if around is not None:
        around += noted
    for index, slip in enumerate(noted):
        noted[index] = _at(slip, slip.pointer[here:])


def warn_of(slips: Iterable[SchemaWarning]) -> None:
    """Warns of slips in a schema, at the line outside of this package that called it."""
    noted = _noted.get()
    for slip in slips:
        warning = _at(slip, _place.get() + slip.pointer)
        if noted is not None:
            noted.append(warning)
        warnings.warn(warning, stacklevel=_levels_to_the_caller())


def _at(slip: SchemaWarning, pointer: str) -> SchemaWarning:
    return SchemaWarning(pointer, slip.keyword, slip.near, slip.reason, slip.count)


def _levels_to_the_caller() -> int:
    """What ``stacklevel`` is for the function that calls this; Python 3.12 has ``skip_file_prefixes``."""
    package = __name__.partition(".")[0]
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == package:
        frame, level = frame.f_back, level + 1
    return level
