"""Regular expressions, in the syntax of Python's ``re``, as expressions of the engine.

Way of the data: text ─ :mod:`.tokens`, :mod:`.parser` ─▶ :mod:`.syntax` tree ─ :mod:`.anchors`,
:mod:`.lower` ─▶ expression.  A pattern denotes the texts that ``re.fullmatch`` accepts, as far as
they are valid Unicode.

Where it differs from ``re`` on purpose:

- Unicode is version 17.0 on every Python (see :mod:`tokamata.patterns.unicode`).
- The syntax is that of Python 3.11 on every Python: global flags only at the start, ``\\z`` of 3.14 is an
  error with a hint.
- ``\\p{…}``, ``\\P{…}`` and ``\\pL`` are added; ``re`` refuses them.
- Surrogates are no text: a lone one in the pattern is refused, classes drop them, ``\\ud800`` matches
  nothing.
- Under ``ai`` only ASCII letters have two cases; ``re`` forgets the ``a`` for ranges past U+FFFF in a class.
- Which letters are each other's case is of Unicode 17.0 too: two letters that Python 3.11 knows, U+019B and
  U+0264, have got capitals since.
- Groups may nest 500 deep, bounds go to 1,000,000.
"""

from __future__ import annotations

from tokamata import _core
from tokamata.patterns.regex.lower import lower_tree
from tokamata.patterns.regex.parser import MAX_BOUND, MAX_DEPTH, parse

__all__ = ["MAX_BOUND", "MAX_DEPTH", "to_expression"]


def to_expression(pattern: str, flags: int = 0, depth: int = MAX_DEPTH) -> _core.Expression:
    """The expression of the texts that ``re.fullmatch(pattern, text, flags)`` accepts.

    Args:
        pattern: a regular expression in Python's syntax.
        flags: of ``re.I | re.M | re.S | re.X | re.A | re.U``.
        depth: how deep groups may nest.

    Raises:
        PatternSyntaxError: it is not a regular expression.
        NotRegularError: it uses what no regular language can say, such as a backreference.
        UnsupportedPatternError: it uses what tokamata does not do yet, such as a lookahead.
        LimitExceeded: it nests deeper than ``depth``.
        TypeError: the pattern is not a ``str``.
        ValueError: flags that ``re`` does not have, or not for texts.
    """
    if not isinstance(pattern, str):
        advice = ""
        if isinstance(pattern, bytes):
            advice = "; a constraint is a set of texts, pass pattern.decode()"
        elif hasattr(pattern, "pattern"):
            advice = "; pass its .pattern and its .flags"
        raise TypeError(f"a pattern must be a str, not {type(pattern).__name__}{advice}")
    return lower_tree(parse(pattern, int(flags), depth))
