"""What each edit of a repair costs.

A cost stands for how seldom a mistake is made: 1,000 times the negative natural logarithm of its
frequency.  So the cheapest repair undoes the likeliest mistakes.  The figures of :data:`DEFAULT_COSTS` are
estimates, which are not fitted to data yet.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from tokamata.arguments import checked_instance
from tokamata.errors import ArgumentError, shown_argument

__all__ = ["DEFAULT_COSTS", "EditCosts", "Rewrite", "Span"]

_NEVER = (1 << 32) - 1  # of the engine: an edit that may not be made
_MOST = 1_000_000_000


class Rewrite(NamedTuple):
    """A named edit: wherever the pattern is found, what it read may become something else.

    Attributes:
        name: what an :class:`.Edit` says about it.
        pattern: for :mod:`re`, of bytes; its matches are those of ``re.finditer``.
        replacement: what is written instead, as for ``re.sub``.
        cost: what it costs.
    """

    name: str
    pattern: bytes
    replacement: bytes
    cost: int


class Span(NamedTuple):
    """A rewrite that one text admits: ``text[begin:end]`` becomes ``written``."""

    begin: int
    end: int
    written: bytes
    cost: int
    name: str


@dataclass(frozen=True)
class EditCosts:
    """The costs of all edits: whole numbers from 0.

    The costs of single bytes are mappings whose keys are strings of characters: ``{"[{": 4000, ",": 2000}``.
    A character outside of ASCII stands for all bytes of its encoding.

    Attributes:
        other: of any insertion and removal that no mapping names.
        insert: of a byte written within the text.
        prepend: of a byte written before the text; ``insert`` where it is not named.
        append: of a byte written after the end of the text; ``insert`` where it is not named.
        remove: of a byte of the text.
        replace: of a byte written in place of one of the text; ``None``: this edit is not made.
        rewrites: named edits of more than one byte.

    Raises:
        ArgumentError: a cost is no whole number from 0 to 1,000,000,000, a key is no ``str``, or a pattern
            cannot be compiled.
    """

    other: int = 1000
    insert: Mapping[str, int] = field(default_factory=dict)
    prepend: Mapping[str, int] = field(default_factory=dict)
    append: Mapping[str, int] = field(default_factory=dict)
    remove: Mapping[str, int] = field(default_factory=dict)
    replace: int | None = None
    rewrites: Sequence[Rewrite] = ()

    def __post_init__(self) -> None:
        _checked_cost("other", self.other)
        if self.replace is not None:
            _checked_cost("replace", self.replace)
        for name in ("insert", "prepend", "append", "remove"):
            mapping = getattr(self, name)
            checked_instance(f"EditCosts.{name}", mapping, Mapping)
            for key, cost in mapping.items():
                checked_instance(f"EditCosts.{name}", key, str, "strings of characters as keys")
                _checked_cost(name, cost)
        checked_instance("EditCosts.rewrites", self.rewrites, (list, tuple))
        for rewrite in self.rewrites:
            checked_instance("EditCosts.rewrites", rewrite, Rewrite)
            _checked_cost("rewrites", rewrite.cost)
            try:
                re.compile(rewrite.pattern).sub(rewrite.replacement, b"")
            except (re.error, TypeError, IndexError) as error:
                expected = f"a pattern and a replacement of bytes for re: {error}"
                raise ArgumentError("EditCosts.rewrites", shown_argument(rewrite), expected) from None

    def tables(self) -> list[list[int]]:
        """What the engine reads: prepend, insert, append, remove and replace, each by byte."""
        insert = _by_byte([self.other] * 256, self.insert)
        replace = [_NEVER if self.replace is None else self.replace] * 256
        remove = _by_byte([self.other] * 256, self.remove)
        return [_by_byte(insert, self.prepend), insert, _by_byte(insert, self.append), remove, replace]

    def spans(self, text: bytes) -> list[Span]:
        """The rewrites that a text admits, in the order of their beginnings."""
        found = []
        for name, pattern, replacement, cost in self.rewrites:
            is_template = b"\\" in replacement
            for match in re.finditer(pattern, text):
                begin, end = match.span()
                if begin < end:
                    written = match.expand(replacement) if is_template else replacement
                    found.append(Span(begin, end, written, cost, name))
        return sorted(found, key=lambda span: span.begin)


def _checked_cost(name: str, cost: object) -> None:
    if isinstance(cost, bool) or not isinstance(cost, int) or not 0 <= cost <= _MOST:
        raise ArgumentError(
            f"EditCosts.{name}", shown_argument(cost), "a whole number from 0 to 1,000,000,000"
        )


def _by_byte(base: list[int], costs: Mapping[str, int]) -> list[int]:
    """The costs by byte; of two keys with one byte the last one holds."""
    table = list(base)
    for characters, cost in costs.items():
        for byte in characters.encode("utf-8", "surrogatepass"):
            table[byte] = cost
    return table


_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
_DIGITS = "0123456789"
_BLANKS = " \t\r\n"

# For JSON.  What keeps degenerate optima away: closing what is open is cheap at the end, since texts are cut
# off there, and a quote before all of a text, which would make a string of it, is dear.
DEFAULT_COSTS = EditCosts(
    other=7000,
    insert={
        _LETTERS + _DIGITS: 6000,
        _BLANKS: 3000,
        '"': 3000,
        ",": 2000,
        ":": 2200,
        "{[": 3500,
        "}]": 2000,
        "\\": 3500,
    },
    prepend={'"': 30_000, "'": 30_000, "{[(": 2500},
    append={
        _LETTERS + _DIGITS: 1500,
        _BLANKS: 1500,
        "}])": 200,
        '"': 700,
        ",:": 1000,
        "{[(": 1500,
    },
    remove={
        _LETTERS + _DIGITS: 5000,
        _BLANKS: 3000,
        '"': 3500,
        ",": 2000,
        ":": 3000,
        "{[(": 3500,
        "}])": 2500,
        "\x00": 1000,
        "`": 1000,
    },
    rewrites=(
        Rewrite("drop a trailing comma", rb",(?=\s*[}\]])", b"", 700),
        Rewrite("drop a last comma", rb",\s*\Z", b"", 800),
        Rewrite("escape a quote", rb'"', rb'\\"', 2600),
        Rewrite("escape a line break", rb"\n", rb"\\n", 1500),
        Rewrite("escape a carriage return", rb"\r", rb"\\r", 1500),
        Rewrite("escape a tab", rb"\t", rb"\\t", 1500),
        Rewrite("escape a backslash", rb"\\", rb"\\\\", 2000),
        Rewrite("single quote", rb"'", b'"', 500),
        Rewrite("typographic quote", "[“”„]".encode(), b'"', 1000),
        Rewrite("Python's True", rb"\bTrue\b", b"true", 400),
        Rewrite("Python's False", rb"\bFalse\b", b"false", 400),
        Rewrite("Python's None", rb"\bNone\b", b"null", 400),
        Rewrite("no number", rb"\b(?:NaN|Infinity|undefined)\b", b"null", 1000),
        Rewrite("quote a name", rb"(?<=[{,\s])[A-Za-z_$][\w$-]*(?=\s*:)", rb'"\g<0>"', 1200),
        Rewrite("quote a word", rb"(?<=[:\[,\s])[A-Za-z_][\w-]*(?=\s*[,}\]])", rb'"\g<0>"', 2500),
        Rewrite("number as a string", rb"(?<=[:\[,\s])-?\d[\d.eE+-]*(?=\s*[,}\]])", rb'"\g<0>"', 2500),
        Rewrite("string as a number", rb'"(-?\d+(?:\.\d+)?)"', rb"\1", 2500),
        Rewrite("string as a literal", rb'"(true|false|null)"', rb"\1", 2500),
        # A bound on the length keeps the search for comments linear in texts with many beginnings and no end.
        Rewrite("drop a comment", rb"//[^\n]*|/\*(?s:.{0,2000}?)\*/|#[^\n]*", b"", 2500),
        Rewrite("drop prose before", rb"\A[^{\[]+(?=[{\[])", b"", 2500),
        Rewrite("drop prose after", rb"(?<=[}\]])[^}\]]+\Z", b"", 2500),
    ),
)
