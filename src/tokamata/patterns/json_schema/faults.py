"""What stops the reading of a schema, before it is known where in the schema that was.

Reading keeps no pointers, since nearly all schemas are right: an error names the object that is at fault, and
:mod:`.reading` looks up where that stands.
"""

from __future__ import annotations

from typing import Any

from tokamata.patterns.json_schema.text import shown

__all__ = ["Fault", "NotASchema"]


class Fault(Exception):
    """A keyword's value is not what its draft allows."""

    def __init__(self, schema: Any, keyword: str, value: Any, expected: str, found: str = "") -> None:
        super().__init__()
        self.schema = schema
        self.keyword = keyword
        self.value = value
        self.found = found or shown(value)
        self.expected = expected


class NotASchema(Exception):
    """Something else stands where a schema should."""

    def __init__(self, value: Any) -> None:
        super().__init__()
        self.value = value
