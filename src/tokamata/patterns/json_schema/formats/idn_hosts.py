"""Names of hosts beyond ASCII.

Source: RFC 5890 to RFC 5893 (IDNA 2008); RFC 5895, section 2, for the full stops of East Asia, which the test
suite of JSON Schema asks for.

Example: ``www.straße.example``, ``例え。テスト``; not ``0a.א``: the second label runs from right to left, and
then the first may not begin with a digit.

A name is of labels of ASCII, as in :mod:`.hosts`, and labels of Unicode, as in :mod:`.idn_labels`.  In
Punycode it has at most 253 octets: a label of Unicode has at most 62, and so have labels of ASCII beside
it, so that there may be four with the stops between them.
"""

from __future__ import annotations

from functools import cache

import tokamata._core as _core
from tokamata.patterns.json_schema.formats.hosts import MOST_LABEL, MOST_NAME, plain_label
from tokamata.patterns.json_schema.formats.idn_labels import label_from_left, label_from_right
from tokamata.patterns.json_schema.formats.punycode_prices import LONGEST
from tokamata.patterns.regex import to_expression

__all__ = ["idn_hostname", "idn_names"]

MOST_LABELS = 4  # of a name that is written
_STOPS = ".\u3002\uff0e\uff61"


def idn_hostname() -> _core.Expression:
    """Internationalized host names.

    Left out are labels that begin with ``xn--``, as in ``hostname``; names of more than four labels, some
    of them beyond ASCII; and what :mod:`.idn_labels` leaves out.
    """
    label = plain_label(MOST_LABEL)
    plain = to_expression(f"{label}(?:[{_STOPS}]{label})*")
    length = to_expression(f"[A-Za-z0-9{_STOPS}-]{{1,{MOST_NAME}}}")
    return _core.union([_core.intersect([plain, length]), *idn_names(_STOPS)])


@cache
def idn_names(stops: str, normal: bool = True) -> list[_core.Expression]:
    """Names of up to four labels, with any of these characters between them: from the left, from the right.

    Where some label runs from right to left, one of ASCII begins with a letter (RFC 5893, section 2, rule 1).
    """
    stop, plain = to_expression(f"[{stops}]"), to_expression(plain_label(LONGEST))
    lettered = to_expression(plain_label(LONGEST, letters_first=True))
    return [
        _names(stop, _core.union([plain, label_from_left(normal)])),
        _names(stop, _core.union([lettered, label_from_right()])),
    ]


def _names(stop: _core.Expression, label: _core.Expression) -> _core.Expression:
    more = _core.concat([stop, label])
    return _core.concat([label, _core.repeat(more, 0, MOST_LABELS - 1)])
