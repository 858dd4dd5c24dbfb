"""Patterns that are searched for, for engines that match the whole text.

JSON Schema's ``pattern`` holds where it is found anywhere.  The peers match whole texts, and know no anchors
in the middle of a pattern; so that what is meant is written out for them: in each alternative of the pattern
an anchor at its end is taken off, and where there is none, anything may stand.

    ^a|b$    becomes    (?:a(.|\\n)*|(.|\\n)*b)

What is anchored elsewhere stays as it is, and an engine may refuse it.  ECMA-262's spelling is kept but
where the engines' own syntaxes read it differently and a spelling exists that all read alike: ``\\/``
becomes ``/``, and a bare ``[`` in a class ``\\[``.  ``\\d`` and ``\\w`` stay: an engine that takes them for
Unicode does more work.
"""

from __future__ import annotations

from collections.abc import Iterator

ANYTHING = r"(.|\n)*"


def as_whole_match(pattern: str) -> str:
    """A pattern for whole texts, that matches where ``pattern`` is found in them."""
    parts = _alternatives(_respelled(pattern))
    anchored = [_whole(part) for part in parts]
    return anchored[0] if len(anchored) == 1 else "(?:" + "|".join(anchored) + ")"


def _whole(part: str) -> str:
    """One alternative."""
    inner = _group(part)
    if inner is not None:
        return as_whole_match(inner)
    is_anchored = part.startswith("^")
    before = "" if is_anchored else ANYTHING
    part = part[1:] if is_anchored else part
    if part.endswith("$") and _is_bare(part, len(part) - 1):
        return before + part[:-1]
    return before + part + ANYTHING


def _respelled(pattern: str) -> str:
    pieces = []
    for place, is_in_class in _places(pattern):
        piece = pattern[place : place + 2] if pattern[place] == "\\" else pattern[place]
        opens = piece == "[" and is_in_class
        pieces.append("/" if piece == r"\/" else r"\[" if opens else piece)
    return "".join(pieces)


def _places(pattern: str) -> Iterator[tuple[int, bool]]:
    """The offset of each code point or escape, and whether it is in a class; a class's ``[`` is not."""
    place, is_in_class = 0, False
    while place < len(pattern):
        yield place, is_in_class
        one = pattern[place]
        if is_in_class:
            is_in_class = one != "]"
        elif one == "[":
            is_in_class = True
        place += 2 if one == "\\" else 1


def _is_bare(pattern: str, place: int) -> bool:
    """Whether what stands there is neither escaped nor in a class."""
    return any(found == place and not is_in_class for found, is_in_class in _places(pattern))


def _alternatives(pattern: str) -> list[str]:
    """The alternatives of the pattern itself, groups left whole."""
    depth, start, parts = 0, 0, []
    for place, is_in_class in _places(pattern):
        if is_in_class:
            continue
        depth += {"(": 1, ")": -1}.get(pattern[place], 0)
        if pattern[place] == "|" and depth == 0:
            parts.append(pattern[start:place])
            start = place + 1
    return [*parts, pattern[start:]]


def _group(part: str) -> str | None:
    """What is in the group that all of the alternative is, where it is one that captures or not."""
    if not part.startswith("("):
        return None
    depth = 0
    for place, is_in_class in _places(part):
        if not is_in_class:
            depth += {"(": 1, ")": -1}.get(part[place], 0)
            if depth == 0 and place < len(part) - 1:
                return None
    inner = part[3:-1] if part.startswith("(?:") else part[1:-1]
    return None if depth != 0 or inner.startswith("?") else inner
