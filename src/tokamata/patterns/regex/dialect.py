"""What differs from one dialect of regular expressions to another.

A dialect is a table.  The parser cuts a pattern with its ``tokens`` and hands each token to the
handler of its first character; characters without a handler stand for themselves.  The handlers
report to the builder what they read (:mod:`.handlers`).

:mod:`.python` and :mod:`.ecma` are the two dialects.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from tokamata.patterns.regex.classes import Ranges

__all__ = ["Dialect"]


@dataclass(frozen=True, eq=False)
class Dialect:
    """One dialect.

    Attributes:
        name: what users call it.
        flags: those that it knows, of ``re``.
        ignore_case: the flag, of these, under which case does not count.
        tokens: cuts a pattern.
        verbose: the flag under which ``verbose_tokens`` cut it, or 0.
        verbose_tokens: as ``tokens``, where white space does not count.
        may_be_verbose: found in every pattern that switches ``verbose`` on itself.
        handlers: what to do with a token, by its first character, each a :data:`.handlers.Handler`.
        escapes: matches an escape in a text.
        code_point: the code point of an escape: (pattern, position, escape).
        class_ranges: the set of a class in brackets: (pattern, position, class, flags).
        class_flags: the flags that change what a class means.
        letter_cases: what equals a code point where case does not count: (code point, flags) to a set.
        line_ends: the code points that end a line.
        searches: whether a text is accepted if the pattern is found anywhere in it.
        non_boundary_in_empty_text: whether ``\\B`` holds in an empty text.
        forgets_groups: whether a turn of a repetition forgets what groups in it matched in the turn before.
    """

    name: str
    flags: int
    ignore_case: int
    tokens: re.Pattern[str]
    handlers: Mapping[str, Callable[..., None]]
    escapes: re.Pattern[str]
    code_point: Callable[[str, int, str], int]
    class_ranges: Callable[[str, int, str, int], Ranges]
    class_flags: int
    letter_cases: Callable[[int, int], Ranges]
    line_ends: Ranges
    searches: bool
    non_boundary_in_empty_text: bool
    forgets_groups: bool
    verbose: int = 0
    verbose_tokens: re.Pattern[str] | None = None
    may_be_verbose: re.Pattern[str] | None = None
