"""Addresses of mail.

Source: RFC 5321, sections 4.1.2 and 4.1.3 (``Mailbox``), section 4.5.3.1 (lengths).

Example: ``"joe bloggs"@[IPv6:2001:db8::1]``; not ``Joe <joe@example.com>``, which is the field of a message.

A local part has at most 64 octets, a mailbox 254: a path has 256, brackets around it included.  The labels
of a domain are those of the domain name system, of at most 63 octets; whether ``xn--`` begins an A-label is
no question of the grammar of mail.
"""

from __future__ import annotations

import tokamata._core as _core
from tokamata.patterns.json_schema.formats.hosts import LABEL
from tokamata.patterns.regex import to_expression

__all__ = ["HOST", "MOST_LOCAL", "MOST_MAILBOX", "email", "local_part", "mailbox"]

MOST_LOCAL, MOST_MAILBOX = 64, 254  # octets

_ATOM_CHARACTERS = r"A-Za-z0-9!#$%&'*+\-/=?\^_`{|}~"
_OCTET = "(?:25[0-5]|2[0-4][0-9]|[01]?[0-9]{1,2})"
_GROUP = "[0-9A-Fa-f]{1,4}"
_FOUR_OCTETS = rf"{_OCTET}(?:\.{_OCTET}){{3}}"


def _address_literal() -> str:
    """An address in brackets; ``::`` stands for two groups of zeros at least, unlike elsewhere."""
    forms = [f"{_GROUP}(?::{_GROUP}){{7}}", f"{_GROUP}(?::{_GROUP}){{5}}:{_FOUR_OCTETS}"]
    for behind in range(7):
        before = f"(?:{_GROUP}(?::{_GROUP}){{0,{5 - behind}}})?" if behind < 6 else ""
        forms.append(f"{before}::" + (f"{_GROUP}(?::{_GROUP}){{{behind - 1}}}" if behind else ""))
    for behind in range(5):
        before = f"(?:{_GROUP}(?::{_GROUP}){{0,{3 - behind}}})?" if behind < 4 else ""
        forms.append(f"{before}::" + f"(?:{_GROUP}:){{{behind}}}{_FOUR_OCTETS}")
    return rf"\[(?:{_FOUR_OCTETS}|[Ii][Pp][Vv]6:(?:{'|'.join(forms)}))\]"


HOST = rf"{LABEL}(?:\.{LABEL})*|{_address_literal()}"


def local_part(more: str) -> _core.Expression:
    """A local part, with ``more`` beside what ASCII allows, of any length."""
    atom = f"[{_ATOM_CHARACTERS}{more}]+"
    quoted = rf'"(?:[ !#-\[\]-~{more}]|\\[ -~])*"'
    return to_expression(rf"{atom}(?:\.{atom})*|{quoted}")


def email() -> _core.Expression:
    """``Mailbox`` of RFC 5321.

    Literals of other families than IPv4 and IPv6 (``[tag:…]``) need a registered tag, and there is none.
    """
    # The parts are ASCII, and a bound on any characters says the same of them at less cost.
    character = to_expression(r"[\x00-\U0010ffff]")
    short, whole = (_core.repeat(character, 1, most) for most in (MOST_LOCAL, MOST_MAILBOX))
    return mailbox(local_part(""), to_expression(HOST), short, whole)


def mailbox(
    local: _core.Expression, host: _core.Expression, short: _core.Expression, whole: _core.Expression
) -> _core.Expression:
    """The two parts, the former ``short`` enough, and both together, as ``whole`` says."""
    parts = _core.concat([_core.intersect([local, short]), _core.literal(b"@"), host])
    return _core.intersect([parts, whole])
