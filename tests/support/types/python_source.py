"""The source of a value: what ``repr`` writes, in a form that Python reads back."""

from __future__ import annotations

import dataclasses
import enum
from typing import Any


def source(value: Any) -> str:
    """``repr``, of enums as Python reads them."""
    if isinstance(value, enum.Enum):
        return f"{type(value).__name__}.{value.name}"
    if dataclasses.is_dataclass(value):
        fields = [
            f"{one.name}={source(getattr(value, one.name))}" for one in dataclasses.fields(value) if one.init
        ]
        return f"{type(value).__name__}({', '.join(fields)})"
    if type(value) is dict:
        return "{" + ", ".join(f"{source(key)}: {source(one)}" for key, one in value.items()) + "}"
    return repr(value)
