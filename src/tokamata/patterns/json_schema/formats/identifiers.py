"""UUIDs and pointers into JSON.

Source: RFC 4122, section 3; RFC 6901, section 3; the Internet-Drafts of relative JSON pointers up to
draft-handrews-relative-json-pointer-02, section 3.

Example: ``0/foo/~1`` goes down from where it stands to what ``/`` names inside ``foo``.
"""

from __future__ import annotations

import tokamata._core as _core
from tokamata.patterns.regex import to_expression

__all__ = ["json_pointer", "relative_json_pointer", "uuid"]

_HEX = "[0-9A-Fa-f]"
_POINTER = r"(?s:/(?:[^~/]|~[01])*)*"


def uuid() -> _core.Expression:
    """``UUID``: 8-4-4-4-12 hexadecimal digits, of any version and variant."""
    return to_expression(f"{_HEX}{{8}}(?:-{_HEX}{{4}}){{3}}-{_HEX}{{12}}")


def json_pointer() -> _core.Expression:
    """``json-pointer``: the form of a string, not that of a fragment of a URI (``#/foo``)."""
    return to_expression(_POINTER)


def relative_json_pointer() -> _core.Expression:
    """``relative-json-pointer``: levels to go up, and then a pointer or ``#``.

    Left out are steps among the elements of an array (``1+2/foo``), which only the draft that 2020-12 cites
    has, and which are invalid before.
    """
    return to_expression(f"(?:0|[1-9][0-9]*)(?:#|{_POINTER})")
