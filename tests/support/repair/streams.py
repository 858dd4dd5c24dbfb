"""Values of a text that is still being written."""

from __future__ import annotations

from typing import Any

__all__ = ["grows"]


def grows(before: Any, after: Any) -> bool:
    """Whether a value is another one that goes on at its end."""
    if isinstance(before, str) and isinstance(after, str):
        return after.startswith(before)
    if isinstance(before, list) and isinstance(after, list):
        return _grow(list(enumerate(before)), list(enumerate(after)))
    if isinstance(before, dict) and isinstance(after, dict):
        return _grow(list(before.items()), list(after.items()))
    if isinstance(before, (int, float)) and isinstance(after, (int, float)):
        return isinstance(before, bool) == isinstance(after, bool)  # a number may have more digits
    return type(before) is type(after) and before == after


def _grow(before: list[Any], after: list[Any]) -> bool:
    if not before:
        return True
    if len(after) < len(before) or after[: len(before) - 1] != before[:-1]:
        return False
    return before[-1][0] == after[len(before) - 1][0] and grows(before[-1][1], after[len(before) - 1][1])
