"""URIs, IRIs, references, and templates of URIs.

Source: RFC 3986, appendix A (URIs); RFC 3987, sections 2.2 and 4.1 (IRIs); RFC 6570, section 2 (templates),
with erratum 6937, which lets an apostrophe stand for itself.

Example: ``http://[::1]:80/a%20b?q#f`` is a URI, ``//[::1]/`` only a reference, and
``http://host/{path:3}{?q*}`` a template.

An IRI is a URI in which code points beyond ASCII stand for themselves: the same grammar, with larger
classes.  The bidirectional formatting characters among them must not appear (section 4.1), whatever the
grammar says.  That characters should have the form NFC, and parts one direction, is advice, and not
required.
"""

from __future__ import annotations

from typing import NamedTuple

import tokamata._core as _core
from tokamata.patterns.json_schema.formats.hosts import IPV6
from tokamata.patterns.regex import to_expression

__all__ = ["iri", "iri_reference", "uri", "uri_reference", "uri_template"]

_SUB_DELIMITERS = "!$&'()*+,;="
_UNRESERVED = r"A-Za-z0-9\-._~"
_ESCAPED = "%[0-9A-Fa-f]{2}"

# Planes 1 to 13 and the upper part of plane 14, each without its last two code points.
_PLANES = "".join(rf"\U000{plane:X}0000-\U000{plane:X}FFFD" for plane in range(1, 14))
_UCS = rf"\xA0-\uD7FF\uF900-\uFDCF\uFDF0-\uFFEF{_PLANES}\U000E1000-\U000EFFFD"
_UCS_ALLOWED = _UCS.replace(r"\xA0-\uD7FF", r"\xA0-\u200D\u2010-\u2029\u202F-\uD7FF")
_PRIVATE = r"\uE000-\uF8FF\U000F0000-\U000FFFFD\U00100000-\U0010FFFD"


class _Grammar(NamedTuple):
    """What an absolute URI or IRI is, and a relative reference, as patterns."""

    absolute: str
    relative: str


def _grammar(more: str, more_in_query: str) -> _Grammar:
    """The grammar of RFC 3986 with more code points than are unreserved there."""
    plain = f"[{_UNRESERVED}{more}{_SUB_DELIMITERS}"
    pchar = f"(?:{plain}:@]|{_ESCAPED})"
    pchar_no_colon = f"(?:{plain}@]|{_ESCAPED})"
    future = rf"[Vv][0-9A-Fa-f]+\.[{_UNRESERVED}{_SUB_DELIMITERS}:]+"
    user = f"(?:{plain}:]|{_ESCAPED})*@"
    host = rf"(?:\[(?:{IPV6}|{future})\]|(?:{plain}]|{_ESCAPED})*)"
    authority = f"(?:{user})?{host}(?::[0-9]*)?"
    slashed = f"(?:/{pchar}*)*"
    from_root = f"//{authority}{slashed}|/(?:{pchar}+{slashed})?"
    ending = rf"(?:\?(?:{plain}:@/?{more_in_query}]|{_ESCAPED})*)?(?:#(?:{plain}:@/?]|{_ESCAPED})*)?"
    absolute = rf"[A-Za-z][A-Za-z0-9+\-.]*:(?:{from_root}|{pchar}+{slashed})?{ending}"
    relative = f"(?:{from_root}|{pchar_no_colon}+{slashed})?{ending}"
    return _Grammar(absolute, relative)


def uri() -> _core.Expression:
    """``URI``: with a scheme; the rules of a single scheme are not checked."""
    return to_expression(_grammar("", "").absolute)


def uri_reference() -> _core.Expression:
    """``URI-reference``: a URI, or what is relative to one; the empty text too."""
    return to_expression("|".join(_grammar("", "")))


def iri() -> _core.Expression:
    """``IRI``."""
    return to_expression(_grammar(_UCS_ALLOWED, _PRIVATE).absolute)


def iri_reference() -> _core.Expression:
    """``IRI-reference``."""
    return to_expression("|".join(_grammar(_UCS_ALLOWED, _PRIVATE)))


def uri_template() -> _core.Expression:
    """``URI-Template``, of all four levels.

    The operators that are reserved for later (``= , ! @ |``) are in the grammar, and so here.
    """
    literal = rf"[!#$&'()*+,\-./0-9:;=?@A-Z\[\]_a-z~{_UCS}{_PRIVATE}]|{_ESCAPED}"
    name_part = f"(?:[A-Za-z0-9_]|{_ESCAPED})"
    name = rf"{name_part}(?:\.?{name_part})*"
    variable = rf"{name}(?::[1-9][0-9]{{0,3}}|\*)?"
    return to_expression(rf"(?:{literal}|\{{[+#./;?&=,!@|]?{variable}(?:,{variable})*\}})*")
