"""Addresses of mail beyond ASCII.

Source: RFC 6531, section 3.3, which adds to the grammar of RFC 5321.

Example: ``δοκιμή@παράδειγμα.example``.

Problem: lengths are in octets of UTF-8, but the expression is of whole code points, so that it can be
spelled in JSON.  A text of at most so many octets is nothing, or a code point of 1 to 4 octets and a text of
as many fewer: an expression for each number of octets that are left, each in the ones before it, which nests
twice as deep as the limit.  So they are made for blocks of :data:`BLOCK` octets; a code point that begins in
a block may end up to three octets behind it, and each of these four offsets has its own way on.

Example, of blocks of 4 octets: in ``aé漢b`` the second block begins inside ``漢``, at offset 2.

Cost: exact, as many states as with a repetition of bytes; walks take about as long, first masks up to half as
long again.  Not taken: one chain of 254 octets, which takes some two thirds of the time and nests 500 deep; a
union of repetitions, ``{0,64}`` of ASCII, ``{0,32}`` up to U+07FF, …, which takes as little and leaves out
17 code points of which one is an emoji.
"""

from __future__ import annotations

import tokamata._core as _core
from tokamata.patterns.json_schema.formats.idn_hosts import idn_names
from tokamata.patterns.json_schema.formats.mailboxes import (
    HOST,
    MOST_LOCAL,
    MOST_MAILBOX,
    local_part,
    mailbox,
)
from tokamata.patterns.regex import to_expression

__all__ = ["idn_email", "most_octets"]

BLOCK = 16  # octets
_BY_WIDTH = {1: (0, 0x7F), 2: (0x80, 0x7FF), 3: (0x800, 0xFFFF), 4: (0x10000, 0x10FFFF)}
_OFFSETS = range(4)


def idn_email() -> _core.Expression:
    """``Mailbox`` of RFC 6531: beyond ASCII anything in local parts, labels of Unicode in domains.

    Domains that are not of ASCII alone are as in ``idn-hostname``, with dots of ASCII; but their labels
    need not be in form NFC, as the test suite of JSON Schema has it, though marks are in order.
    """
    host = _core.union([to_expression(HOST), *idn_names(".", normal=False)])
    local = local_part(r"\x80-\U0010ffff")
    return mailbox(local, host, most_octets(MOST_LOCAL), most_octets(MOST_MAILBOX))


def most_octets(most: int) -> _core.Expression:
    """Texts of at most so many octets of UTF-8."""
    points = {width: _core.code_points([ends]) for width, ends in _BY_WIDTH.items()}

    def onward(place: int, rests: dict[int, _core.Expression]) -> list[_core.Expression]:
        return [
            _core.concat([points[width], rests[place + width]]) for width in points if place + width in rests
        ]

    # By place in a block: texts that end in the block, and texts that end so far behind it.
    inside: dict[int, _core.Expression] = {}
    for place in range(BLOCK, -1, -1):
        inside[place] = _core.union([_core.epsilon(), *onward(place, inside)])
    across: list[dict[int, _core.Expression]] = []
    for offset in _OFFSETS:
        ways = {BLOCK + offset: _core.epsilon()}
        for place in range(BLOCK - 1, -1, -1):
            ways[place] = _core.union(onward(place, ways))
        across.append(ways)

    blocks, start = -(-most // BLOCK), -most % BLOCK
    rests = {place: inside[place] for place in (*_OFFSETS, start)}
    for _ in range(blocks - 1):
        rests = {
            place: _core.union(
                [inside[place], *(_core.concat([across[o][place], rests[o]]) for o in _OFFSETS)]
            )
            for place in rests
        }
    return rests[start]
