"""An object around a value that the constraint wants and the text lacks, or that only the text has.

Problem.  A schema wants ``{"people": [...]}`` and the text has the list alone; or it wants the list and the
text has ``{"people": [...]}``, or ``{"result": {...}}`` around an object.
Example.  ``[1, 2]`` has the rewrite that writes ``{"numbers":`` before it, if the constraint knows that name
and the text does not.
How.  Before the first bracket, or the first one that begins a line, a name of the constraint may be made up
with its brace; the brace after it is an insertion at the end.  A text without brackets becomes the value of
the only name that the constraint has.  What stands before a value in an object may be dropped, and what
follows it with the brace at the end, three times, unless the constraint knows a name there.
Cost.  Linear in the text, for each of at most a hundred names.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from tokamata.repair.costs import FoundRewrite
from tokamata.repair.dialects.modes import TEXT
from tokamata.repair.words import Words

__all__ = ["wrappers"]

_BRACKET = re.compile(rb"[{\[]")
_FIRST_OF_A_LINE = re.compile(rb"(?m)^[ \t]*(?=[{\[])")
_NAME = rb"(?:\"[\w $.-]{1,60}\"|'[\w $.-]{1,60}'|[A-Za-z_$][\w$-]{0,60})\s*:\s*"
_MEMBER = _NAME + rb"(?:\"[^\"\n]{0,200}\"|'[^'\n]{0,200}'|[\w.+-]{1,40})"
_WRAPPER = re.compile(rb"\{\s*((?:" + _MEMBER + rb"\s*,\s*){0,4})" + _NAME)
_NAME_ALONE = re.compile(rb"([\w $.-]+)[\"']?\s*:")
_END = re.compile(rb"(?:\s*,\s*" + _MEMBER + rb"){0,4}\s*\}")
_NAMES = re.compile(rb"[\w\"'*`][ \t]*[:=]")
# A name that has a value; in prose a colon may end the line before it.
_GIVEN = re.compile(rb"(?<![\w.$-])([\w.$-]{1,60})(?:[\"']\s*:|[*`]*[ \t]*[:=][ \t]*\S)")
_MOST = 3
_MADE_UP, _DROPPED, _BRACE = 2600, 1500, 1500
_MEMBERS = 1500  # and more for members beside the value


def wrappers(text: bytes, words: Words | None) -> Iterator[FoundRewrite]:
    """The rewrites that add an object around a value, or drop up to three."""
    if words is None or words.is_empty:
        return
    bracket = _BRACKET.search(text)
    if bracket is None:
        # Names with values are read by :mod:`.lines` and :mod:`.calls`.
        if len(words.few_names) == 1 and _NAMES.search(text) is None:
            yield _made_up(words.few_names[0], 0)
        return
    first = _FIRST_OF_A_LINE.search(text)
    begins = {bracket.start(), bracket.start() if first is None else first.end()}
    names = frozenset(words.few_names)
    for name in sorted(names.difference(_GIVEN.findall(text))):
        yield from (_made_up(name, begin) for begin in sorted(begins))
    position, end = bracket.start(), len(text)
    for _ in range(_MOST):
        found = _WRAPPER.match(text, position)
        brace = text.rfind(b"}", position, end)
        if found is None or brace < found.end():
            return
        if not names.isdisjoint(_NAME_ALONE.findall(found[0])):
            return
        value_end = max(text.rfind(b"}", found.end(), brace), text.rfind(b"]", found.end(), brace)) + 1
        if not value_end or not _END.fullmatch(text, value_end, brace + 1):
            value_end = brace
        yield _dropped(position, found.end(), _DROPPED + _MEMBERS * bool(found[1]))
        yield _dropped(value_end, brace + 1, _BRACE)
        position, end = found.end(), brace


def _made_up(name: bytes, position: int) -> FoundRewrite:
    return FoundRewrite("make up a wrapper", position, position, b'{"%b":' % name, _MADE_UP, (TEXT,))


def _dropped(begin: int, end: int, cost: int) -> FoundRewrite:
    return FoundRewrite("drop a wrapper", begin, end, b"", cost, (TEXT,))
