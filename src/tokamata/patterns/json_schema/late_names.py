"""Names of JSON objects that are refused: what to say about them.

Where ``property_order="schema"`` holds, required names come in the order of the schema, before all others::

    {"temp"        the schema requires "outlook", and has it before "temp"

No name is written twice::

    {"outlook": 1, "outlook"
"""

from __future__ import annotations

import re
from dataclasses import dataclass

__all__ = ["RefusedName", "refused_name"]

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*("?)|[\[\]{}:,]', re.DOTALL)
_MOST_SHOWN = 80  # characters


@dataclass(frozen=True)
class RefusedName:
    """The name in which a text was refused.

    Attributes:
        begun: its spelling with the first quote, up to the byte that was refused.
        shown: the same with what was to follow, up to its last quote if it has one.
        written: the names that its object has, with quotes.
    """

    begun: str
    shown: str
    written: tuple[str, ...]

    def why_repeated(self) -> str:
        """Says that the name was written before, or nothing if it was not."""
        same = [name for name in self.written if name.startswith(self.begun)]
        return f"{same[0][:_MOST_SHOWN]} was written before" if same else ""

    def why_late(self, awaited: str) -> str:
        """Says that another name is required before it."""
        name = self.shown[:_MOST_SHOWN]
        is_whole = len(name) > 1 and name.endswith('"')
        late = name if is_whole else f'names that begin with {name}"'
        return (
            f'"{awaited[:_MOST_SHOWN]}" is required and stands before {late}: write it first; '
            'property_order="any" allows it here'
        )


def refused_name(text: bytes, rest: bytes) -> RefusedName | None:
    """The name that a text ends in; ``rest`` was to follow the text.  None if it does not end in a name."""
    names: list[list[str] | None] = []  # of each object that is open; None for each array
    before, name = "", ""
    decoded = text.decode("utf-8", "replace")
    for found in _TOKEN.finditer(decoded):
        token = found.group()
        name = ""
        if token in "{[":
            names.append([] if token == "{" else None)
        elif token in "}]":
            del names[-1:]
        elif token[0] == '"' and before in ("{", ",") and names and (written := names[-1]) is not None:
            written.append(token)
            name = token if found.end() == len(decoded) else ""
        before = token
    if not name or not names or (written := names[-1]) is None:
        return None
    whole = _TOKEN.match(name + rest.decode("utf-8", "replace"))
    shown = whole.group() if whole and not _is_closed(name) else name
    return RefusedName(name, shown, tuple(written[:-1]))


def _is_closed(name: str) -> bool:
    found = _TOKEN.fullmatch(name)
    return found is not None and found.group(1) == '"'
