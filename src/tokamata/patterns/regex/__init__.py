"""Regular expressions, in the syntax of Python's ``re`` or of ECMA-262, as expressions of the engine.

Way of the data: text ─ :mod:`.tokens`, :mod:`.parser`, :mod:`.builder` ─▶ :mod:`.syntax` tree ─
:mod:`.edges`, :mod:`.anchors`, :mod:`.lower` ─▶ expression.  What is different from one dialect to
another is a table (:mod:`.dialect`; :mod:`.python`, :mod:`.ecma`).

In the dialect ``"python"`` a pattern denotes the texts that ``re.fullmatch`` accepts, as far as they are
valid Unicode; in the dialect ``"ecma"`` those in which JavaScript finds it, under flag ``u``.  How
the two differ from ``re`` and from JavaScript on purpose is said in docs/regex.md.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import tokamata._core as _core
from tokamata.calls.arguments import checked_choice, checked_instance
from tokamata.errors import ArgumentError, UnsupportedPatternError, shown_argument
from tokamata.patterns.regex.builder import MAX_BOUND, MAX_DEPTH, MAX_RANGES
from tokamata.patterns.regex.extension import ExtensionCall, Extensions
from tokamata.patterns.regex.lower import lower_tree
from tokamata.patterns.regex.parser import DIALECTS, parse

if TYPE_CHECKING:
    from tokamata.resources.limits import Watch

__all__ = ["DIALECTS", "MAX_BOUND", "MAX_DEPTH", "MAX_RANGES", "ExtensionCall", "Extensions", "to_expression"]

MAX_LENGTH = 4_000_000  # code points of a pattern


def to_expression(
    pattern: str,
    flags: int = 0,
    depth: int = MAX_DEPTH,
    dialect: str = "python",
    extensions: Extensions | None = None,
    watch: Watch | None = None,
) -> _core.Expression:
    """The expression of the texts that a regular expression accepts.

    Args:
        pattern: a regular expression.
        flags: of ``re.I | re.M | re.S | re.X | re.A | re.U``; for ``"ecma"`` of ``re.I | re.M | re.S``.
        depth: how deep groups may nest.
        dialect: ``"python"``, where the whole text must match as with ``re.fullmatch``, or ``"ecma"``,
            where the pattern need only be found in it, as ``pattern`` in JSON Schema means it.
        extensions: what specially named groups mean, see :mod:`.extension`.
        watch: stops the reading.

    Raises:
        PatternSyntaxError: it is not a regular expression of this dialect.
        NotRegularError: it uses what no regular language can say, such as a backreference.
        UnsupportedPatternError: it uses what is not about the language, such as an atomic group, or
            bounds or classes that are too large.
        LimitExceeded, Cancelled: it nests deeper than ``depth``, or the reading was stopped.
        ArgumentError: the pattern is not a ``str``, or flags or a dialect that do not exist.
    """
    if not isinstance(pattern, str):
        advice = ""
        if isinstance(pattern, bytes):
            advice = "a constraint is a set of texts, pass pattern.decode()"
        elif hasattr(pattern, "pattern"):
            advice = "pass its .pattern and its .flags"
        elif isinstance(pattern, (list, tuple, set)):
            advice = "join patterns by |; tokamata.choice takes several texts"
        elif isinstance(pattern, dict):
            advice = "tokamata.json_schema takes a schema"
        raise ArgumentError("pattern", shown_argument(pattern), "a str", advice)
    checked_instance("flags", flags, int, "flags of re, or 0")
    checked_choice("dialect", dialect, DIALECTS)
    if len(pattern) > MAX_LENGTH:
        raise UnsupportedPatternError(
            pattern,
            0,
            f"a pattern of more than {MAX_LENGTH:,} code points",
            "tokamata.choice takes long lists of texts",
        )
    tree = parse(pattern, int(flags), depth, dialect, extensions, watch=watch)
    return lower_tree(tree, searches=DIALECTS[dialect].searches, watch=watch)
