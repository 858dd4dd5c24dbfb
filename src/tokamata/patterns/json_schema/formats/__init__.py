"""The formats of JSON Schema: what ``"format": "date-time"`` and its like ask of a string.

Problem: a format is named by a schema and defined in an RFC.  Here each is an expression over the value of
the string, not over its escapes in JSON: a text is in the language exactly if it is valid, as far as
a regular language can say so.  What is invalid is never accepted; what is valid and left out is
listed in docs/formats.md, and said in the docstring of the function that makes the format.

Example::

    format_language("ipv4")       # the texts 0.0.0.0 to 255.255.255.255
    format_language("host-name")  # None: a name of draft 3, which no later draft knows

Names are the same in every draft from 4 on.  A draft that does not list a name takes it for a custom
one, whose meaning is left to whoever reads the schema, so that ``uuid`` in a schema of draft 7 is what it is
in 2020-12.  The names and meanings of draft 3 that were given up (``host-name``, ``ip-address``, ``color``,
a ``time`` without an offset) are not known.

Cost: nothing is made, nor any file of this folder but this one read, before a format is needed; each
is made once in a process.  Times are in docs/formats.md.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module

import tokamata._core as _core

__all__ = ["FORMATS", "format_language"]

# Where each format is made: module, function.
_MAKERS = {
    "date": ("dates", "date"),
    "date-time": ("dates", "date_time"),
    "duration": ("dates", "duration"),
    "email": ("mailboxes", "email"),
    "hostname": ("hosts", "hostname"),
    "idn-email": ("idn_mailboxes", "idn_email"),
    "idn-hostname": ("idn_hosts", "idn_hostname"),
    "ipv4": ("hosts", "ipv4"),
    "ipv6": ("hosts", "ipv6"),
    "iri": ("uris", "iri"),
    "iri-reference": ("uris", "iri_reference"),
    "json-pointer": ("identifiers", "json_pointer"),
    "regex": ("ecma_patterns", "regex"),
    "relative-json-pointer": ("identifiers", "relative_json_pointer"),
    "time": ("dates", "time"),
    "uri": ("uris", "uri"),
    "uri-reference": ("uris", "uri_reference"),
    "uri-template": ("uris", "uri_template"),
    "uuid": ("identifiers", "uuid"),
}

FORMATS = tuple(_MAKERS)


@cache
def _made(name: str) -> _core.Expression:
    module, function = _MAKERS[name]
    expression: _core.Expression = getattr(import_module(f"{__name__}.{module}"), function)()
    return expression


def format_language(name: str) -> _core.Expression | None:
    """The strings that a format admits; ``None`` where the name is unknown, and so a mere annotation.

    The expressions are made of concatenation, union, repetition and intersection alone: they look at nothing
    around them.
    """
    return _made(name) if name in _MAKERS else None
