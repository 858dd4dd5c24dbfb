"""What a family of questions is, and short forms for the schemas of its answers."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

__all__ = ["Draw", "Family", "closed", "one_of"]

Draw = Callable[[random.Random], tuple[str, Any]]


@dataclass(frozen=True)
class Family:
    """Questions of one form.

    Attributes:
        name: for the ids of questions.
        task: the first line of the prompt.
        schema: what the answer has to be.
        draw: makes a text and its answer; members are in the order of the schema.
        escaped: the share of questions whose examples have only ASCII.
    """

    name: str
    task: str
    schema: dict[str, Any]
    draw: Draw
    escaped: float = 0.15


def closed(required: dict[str, Any], optional: dict[str, Any] | None = None) -> dict[str, Any]:
    """The schema of an object with these members and no others."""
    return {
        "type": "object",
        "properties": required | (optional or {}),
        "required": list(required),
        "additionalProperties": False,
    }


def one_of(*values: str) -> dict[str, Any]:
    """The schema of an enumeration."""
    return {"type": "string", "enum": list(values)}
