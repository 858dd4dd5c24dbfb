"""Addresses of mail beyond ASCII.

Source: RFC 6531, section 3.3, which adds to the grammar of RFC 5321.

Example: ``δοκιμή@παράδειγμα.example``.
"""

from __future__ import annotations

from tokamata import _core
from tokamata.patterns.json_schema.formats.idn_hosts import idn_names
from tokamata.patterns.json_schema.formats.mailboxes import HOST, local_part, mailbox
from tokamata.patterns.regex import to_expression

__all__ = ["idn_email"]


def idn_email() -> _core.Expression:
    """``Mailbox`` of RFC 6531: beyond ASCII anything in local parts, labels of Unicode in domains.

    Domains that are not of ASCII alone are as in ``idn-hostname``, with dots of ASCII; but their labels
    need not be in form NFC, as the test suite of JSON Schema has it, though marks are in order.
    """
    host = _core.union([to_expression(HOST), *idn_names(".", normal=False)])
    octet = _core.union([_core.literal(bytes([value])) for value in range(256)])
    return mailbox(local_part(r"\x80-\U0010ffff"), host, octet)
