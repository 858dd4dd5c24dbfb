r"""Escapes and classes of ECMA-262 under flag ``u``, as texts.

Source: ECMA-262, 2024, sections 22.2.1 and 22.2.1.1.

Example: ``\d``, ``\p{Script=Greek}``, ``\u{1F600}``, ``[^a-z\-\x41-\x5a]``, ``[]``; not ``\-`` outside of a
class, nor ``[z-a]``, ``[\d-z]``.
"""

from __future__ import annotations

from functools import cache

import tokamata._core as _core
from tokamata.patterns.json_schema.formats.ecma_ranges import hyphen_range, point_range
from tokamata.patterns.regex import to_expression
from tokamata.patterns.unicode.ecma import ecma_property_names

__all__ = ["character_class", "escape"]

_HEX = "[0-9A-Fa-f]"
_SYNTAX = r"[\^$\\.*+?()\[\]{}|/]"
_SINGLE = (
    rf"\\(?:[fnrtv]|c[A-Za-z]|x{_HEX}{{2}}|u{_HEX}{{4}}|{_SYNTAX}"
    rf"|u\{{0*(?:{_HEX}{{1,5}}|10{_HEX}{{4}})\}})"
)
_SETS = r"\\[dDsSwW]"


def escape() -> _core.Expression:
    r"""An escape outside of classes that is no reference, no assertion, and not ``\0``."""
    return _core.union([to_expression(rf"{_SINGLE}|{_SETS}"), _property()])


@cache
def _property() -> _core.Expression:
    names = _core.strings(ecma_property_names())
    return _core.concat([to_expression(r"\\[pP]\{"), names, _core.literal(b"}")])


def character_class() -> _core.Expression:
    """``[…]``.

    A hyphen between two members makes a range of them; it stands for itself first, last, and right behind a
    range.  So a class is runs that end with a range, and then one without; only the first of a run is a
    hyphen that stands for itself, or the very last.  What follows ``[`` is no caret, unless it negates.
    """
    sets = _core.union([to_expression(_SETS), _property()])
    no_caret = _core.union([to_expression(rf"[^\\\]\^\-]|{_SINGLE}|\\[b\-]"), sets])
    member = _core.union([no_caret, _core.literal(b"^")])
    members = _core.repeat(member, 0, None)
    some = _core.union([_core.epsilon(), _core.concat([no_caret, members])])
    hyphen, point_ranges, hyphen_ranges = to_expression("-?"), point_range(), hyphen_range()

    def run(members: _core.Expression) -> _core.Expression:
        return _core.union([_core.concat([hyphen, members, point_ranges]), hyphen_ranges])

    # Behind a hyphen, a caret is as good as any other.
    dashed = _core.concat([_core.literal(b"-"), members])
    first = _core.union([run(some), _core.concat([dashed, point_ranges])])
    only = _core.concat([_core.union([some, dashed]), hyphen])
    rest = _core.concat([_core.repeat(run(members), 0, None), hyphen, members, hyphen])
    positive = _core.union([_core.concat([first, rest]), only])
    return _core.concat(
        [
            _core.literal(b"["),
            _core.union([positive, _core.concat([_core.literal(b"^"), rest])]),
            _core.literal(b"]"),
        ]
    )
