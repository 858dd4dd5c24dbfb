"""What ``Annotated`` says beside a type: bounds on numbers and lengths, patterns.

The objects are known by their attributes, as the package annotated-types defines them, and not by their
classes: it, pydantic and msgspec each bring their own, and none of them is needed here.

Example: ``Annotated[int, Gt(0), Le(10)]`` has the bounds ``gt=0, le=10``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import fields, replace
from typing import Any

from tokamata.patterns.python_types.shapes import Bounds

__all__ = ["bounds_of", "is_of_pydantic", "unread"]

_NAMES = tuple(one.name for one in fields(Bounds))
_STRICTER = {"gt": max, "ge": max, "min_length": max, "lt": min, "le": min, "max_length": min}
_IGNORED = {"Unit", "DocInfo", "Doc"}


def bounds_of(metadata: Iterable[Any]) -> Bounds:
    """All that is said, the stricter of two bounds where both are of one kind."""
    bounds = Bounds()
    for one in _flat(metadata):
        for name in _NAMES:
            value = getattr(one, name, None)
            if value is None or callable(value):
                continue
            if name == "pattern":
                value = getattr(value, "pattern", value)
            known = getattr(bounds, name)
            if known is not None and name in _STRICTER:
                value = _STRICTER[name](known, value)
            bounds = replace(bounds, **{name: value})
    return bounds


def unread(metadata: Iterable[Any]) -> Any:
    """The first object that asks for something which is not understood; ``None`` where all are.

    Objects of no known kind ask for nothing, as PEP 593 has it.
    """
    for one in _flat(metadata):
        kind = type(one).__name__
        if kind in _IGNORED or any(getattr(one, name, None) is not None for name in _NAMES):
            continue
        if type(one).__module__.partition(".")[0] == "annotated_types":
            return one
    return None


def is_of_pydantic(metadata: Iterable[Any]) -> bool:
    """Whether pydantic says something beside a type."""
    return any(
        type(one).__module__.partition(".")[0] in ("pydantic", "pydantic_core", "pydantic_extra_types")
        or hasattr(one, "__get_pydantic_core_schema__")
        or hasattr(one, "__get_pydantic_json_schema__")
        for one in metadata
    )


def _flat(metadata: Iterable[Any]) -> Iterator[Any]:
    """The objects, and those that groups of them hold."""
    for one in metadata:
        if getattr(one, "__is_annotated_types_grouped_metadata__", False):
            yield from _flat(one)
        elif isinstance(inner := getattr(one, "metadata", None), (list, tuple)):  # pydantic's Field
            yield from _flat(inner)
        else:
            yield one
