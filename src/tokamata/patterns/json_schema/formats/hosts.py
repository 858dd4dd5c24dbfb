"""Addresses of hosts, and their names in ASCII.

Source: RFC 2673, section 3.2 (IPv4); RFC 4291, section 2.2, in the grammar of RFC 3986, section 3.2.2 (IPv6);
RFC 1123, section 2.1, and RFC 1034, section 3.1 (names); RFC 5890, section 2.3 (labels with ``--``).

Example: ``2001:db8::192.0.2.1``; ``www.example.com``.
"""

from __future__ import annotations

import tokamata._core as _core
from tokamata.patterns.regex import to_expression

__all__ = ["IPV4", "IPV6", "LABEL", "MOST_LABEL", "MOST_NAME", "hostname", "ipv4", "ipv6", "plain_label"]

MOST_LABEL = 63
MOST_NAME = 253  # characters: 255 octets on the wire, less a length in front and the root behind

_OCTET = "(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])"
IPV4 = rf"(?:{_OCTET}(?:\.{_OCTET}){{3}})"

_GROUP = "[0-9A-Fa-f]{1,4}"
_LAST_TWO = f"(?:{_GROUP}:{_GROUP}|{IPV4})"


def _ipv6() -> str:
    """Eight groups, or up to seven around ``::``; the last two may be an IPv4 address.

    What stands before ``::`` has at most 7 groups less those that stand behind it.
    """
    forms = [f"(?:{_GROUP}:){{6}}{_LAST_TWO}"]
    for behind in range(8):
        most = 7 - behind
        before = f"(?:{_GROUP}(?::{_GROUP}){{0,{most - 1}}})?" if most else ""
        if behind == 0:
            rest = ""
        elif behind == 1:
            rest = _GROUP
        else:
            rest = f"(?:{_GROUP}:){{{behind - 2}}}{_LAST_TWO}"
        forms.append(f"{before}::{rest}")
    return "(?:" + "|".join(forms) + ")"


IPV6 = _ipv6()


def ipv4() -> _core.Expression:
    """``dotted-quad``: four numbers from 0 to 255.

    Left out are leading zeros, which the grammar of the RFC has and which some read as octal.
    """
    return to_expression(IPV4)


def ipv6() -> _core.Expression:
    """The text forms of RFC 4291; no zone (``%eth1``), which belongs to no address."""
    return to_expression(IPV6)


# ---- names ------------------------------------------------------------------------------------

_LDH = "[A-Za-z0-9-]"


def _ending(most: int, first: str = "") -> str:
    """How a label ends: at most so many letters, digits and hyphens, the last no hyphen."""
    return f"{first}(?:{_LDH}{{0,{most - 1}}}[A-Za-z0-9])?"


LABEL = _ending(62, "[A-Za-z0-9]")


def plain_label(most: int, letters_first: bool = False) -> str:
    """A label of at most so many characters that does not begin with ``xn--`` in any case.

    Its alternatives exclude each other: no x, an x and no n, and so on.

    Args:
        most: at least 5.
        letters_first: whether it begins with no digit.
    """
    return (
        f"(?:[A-WYZa-wyz{'' if letters_first else '0-9'}]{_ending(most - 1)}"
        f"|[Xx](?:{_ending(most - 2, '[A-MO-Za-mo-z0-9]')}|-{_LDH}{{0,{most - 3}}}[A-Za-z0-9])?"
        f"|[Xx][Nn](?:{_ending(most - 3, '[A-Za-z0-9]')}|-{_ending(most - 4, '[A-Za-z0-9]')})?)"
    )


def hostname() -> _core.Expression:
    """Labels of 1 to 63 letters, digits and hyphens, the latter not at their ends; 253 characters in all.

    Left out are labels that begin with ``xn--``.  Such a label is valid if Punycode decodes it to a valid
    label of Unicode, and to decide that takes arithmetic over all that was read.  Labels with ``--`` as their
    third and fourth character and something else before it are labels like others, as RFC 1123 has it.
    """
    label = plain_label(MOST_LABEL)
    return _core.intersect(
        [to_expression(rf"{label}(?:\.{label})*"), to_expression(f"[A-Za-z0-9.-]{{1,{MOST_NAME}}}")]
    )
