"""A library with json_repair's names that repairs nothing: what the suite of its tests must refuse."""

from __future__ import annotations

from typing import Any

JSONReturnType = Any


def loads(*_: Any, **__: Any) -> Any:
    """Nothing."""


load = from_file = repair_json = loads
