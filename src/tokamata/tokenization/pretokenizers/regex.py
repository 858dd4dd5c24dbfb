r"""The regexes of pre-tokenizers, as programs.

Problem: a pre-tokenizer cuts a text by repeated leftmost matches of a regex, and alternatives are tried in
order: ``a|ab`` cuts ``ab`` after the ``a``.  A constraint only needs the set of texts that match, which does
not determine where a match ends.  So these regexes are compiled (:mod:`tokamata.patterns.regex.program`).

Example: ``\s+(?!\S)`` becomes::

    0  jump 2
    1  fork 4        a turn comes first
    2  read \s
    3  again 1
    4  look 7        what follows is not
    5  read \S
    6  accept
    7  accept

Classes of code points are kept as text: the members of ``\p{L}`` depend on the tokenizer's engine, which
``classes.py`` queries.

Supported: alternation, groups, classes, ``(?i:…)``, greedy, lazy and possessive quantifiers, lookaheads for
one code point, ``$``.  A possessive quantifier must repeat one code point; then ``X*+`` is ``X*(?!X)``, and
similarly for every count.  The rest (backreferences, lookbehind, longer lookaheads, atomic groups) is refused
by name; no known tokenizer uses it.

Cost: linear in the regex with expanded counts.
Rejected: the parser of ``patterns.regex`` with a dialect for these regexes.  It reads those of the known
tokenizer files too, except for possessive quantifiers.  But its classes are sets by our own tables, it
refuses a quantifier after another one, and its errors are about a pattern that the caller wrote.
"""

from __future__ import annotations

import re

from tokamata.errors import LimitExceeded, UnsupportedTokenizerError
from tokamata.patterns.regex import syntax
from tokamata.patterns.regex.program import Compiler, Item, Program

__all__ = ["classes_of", "compile_regex", "escaped", "least_length"]

_MOST_INSTRUCTIONS = 10_000  # of one regex, with its counts expanded
_MOST_DEPTH = 100  # of groups in each other: the parser recurses
_NEWLINE = r"\n"


def compile_regex(pattern: str, dollar_is_end: bool = True) -> Program:
    """The program of a regex; its sets are the texts of classes.

    Args:
        pattern: the regex in the tokenizer's file.
        dollar_is_end: whether ``$`` matches only at the end of the text, and not at line ends.

    Raises:
        UnsupportedTokenizerError: the regex does not parse, or uses an unsupported construct.
    """
    compiler = _Compiler(Program(_MOST_INSTRUCTIONS))
    try:
        compiler.write(_Parser(pattern, dollar_is_end).parse())
        compiler.program.accept()
    except LimitExceeded:
        raise UnsupportedTokenizerError("pre-tokenizer", f"its regex {pattern!r:.200} is too large") from None
    return compiler.program


def classes_of(program: Program) -> tuple[str, ...]:
    """The classes in a program, in order, without repetitions."""
    return tuple(map(str, program.sets))


def least_length(pattern: str) -> int:
    """How many code points the shortest text has that a regex may match; lookaheads are not tried.

    Raises:
        UnsupportedTokenizerError: the regex does not parse, or uses an unsupported construct.
    """

    def least(node: syntax.Node) -> int:
        if isinstance(node, syntax.CodePoints):
            return 1
        if isinstance(node, syntax.Concat):
            return sum(least(item) for item in node.items)
        if isinstance(node, syntax.Union):
            return min(least(option) for option in node.options)
        return node.minimum * least(node.body) if isinstance(node, syntax.Repeat) else 0

    return least(_Parser(pattern, dollar_is_end=True).parse())


def escaped(text: str) -> str:
    """The regex of one text."""
    return "".join("\\" + c if c in r"\.[]{}()*+?|^$-&" else c for c in text)


class _Compiler(Compiler):
    """Compiles a tree whose classes are texts."""

    def code_points(self, node: syntax.CodePoints) -> None:
        """Reads one code point of a class."""
        self.program.read(node.key)

    def assertion(self, node: syntax.Anchor | syntax.WordBoundary) -> list[Item]:
        """``$``, the only one that the parser makes."""
        assert isinstance(node, syntax.Anchor)
        self.program.assertion(node.kind, _NEWLINE if node.kind == syntax.LINE_END else None)
        return []


# ---- parsing ------------------------------------------------------------------------------------

# An escape that denotes a class of code points.
_ESCAPE = re.compile(
    r"\\(?:[pP](?:\{\^?[\w ]+\}|[A-Z])|x[0-9A-Fa-f]{2}|x\{[0-9A-Fa-f]+\}|u[0-9A-Fa-f]{4}"
    r"|[dDsSwWtnrfv0]|[^\w])"
)
_QUANTIFIER = re.compile(r"([*+?]|\{\d+(?:,\d*)?\})([?+]?)")
_COUNTS: dict[str, tuple[int, int | None]] = {"*": (0, None), "+": (1, None), "?": (0, 1)}
_COUNT = re.compile(r"\{(\d+)(,(\d*))?\}")


class _Parser:
    """Recursive descent over one pattern."""

    def __init__(self, pattern: str, dollar_is_end: bool) -> None:
        self._pattern = pattern
        self._dollar_is_end = dollar_is_end
        self._at = 0
        self._ignore_case = False
        self._depth = 0

    def parse(self) -> syntax.Node:
        tree = self._alternation()
        if self._at < len(self._pattern):
            raise self._error("an unmatched )")
        return tree

    def _alternation(self) -> syntax.Node:
        self._depth += 1
        if self._depth > _MOST_DEPTH:
            raise self._error(f"groups nested more than {_MOST_DEPTH} deep")
        place = self._at
        branches = [self._sequence()]
        while self._take("|"):
            branches.append(self._sequence())
        self._depth -= 1
        return syntax.Union(place, branches) if len(branches) > 1 else branches[0]

    def _sequence(self) -> syntax.Node:
        place = self._at
        parts: list[syntax.Node] = []
        while self._at < len(self._pattern) and self._pattern[self._at] not in "|)":
            parts.append(self._quantified())
        return parts[0] if len(parts) == 1 else syntax.Concat(place, parts)

    def _quantified(self) -> syntax.Node:
        atom = self._atom()
        while match := _QUANTIFIER.match(self._pattern, self._at):
            self._at = match.end()
            atom = self._repeated(atom, match[1], match[2])
        return atom

    def _repeated(self, atom: syntax.Node, count: str, manner: str) -> syntax.Node:
        low: int
        high: int | None
        if found := _COUNT.fullmatch(count):
            low = int(found[1])
            high = None if found[2] and not found[3] else int(found[3] or found[1])
            if low > 1000 or (high is not None and not low <= high <= 1000):
                raise self._error(f"the count {count}")
        else:
            low, high = _COUNTS[count]
        if manner == "+":
            if not isinstance(atom, syntax.CodePoints):
                raise self._error("a possessive quantifier of more than one code point")
            return _without_backtracking(atom, low, high)
        return syntax.Repeat(atom.position, atom, low, high, lazy=manner == "?")

    def _atom(self) -> syntax.Node:
        pattern = self._pattern
        character = pattern[self._at]
        if character == "(":
            return self._group()
        if character == "[":
            return self._class(self._bracket())
        if character == "\\":
            match = _ESCAPE.match(pattern, self._at)
            if match is None:
                raise self._error(f"the escape {pattern[self._at : self._at + 2]}")
            self._at = match.end()
            return self._class(match[0])
        if character == "$":
            self._at += 1
            return syntax.Anchor(
                self._at - 1, syntax.TEXT_END if self._dollar_is_end else syntax.LINE_END, ()
            )
        if character in "^*+?{":
            raise self._error(character)
        self._at += 1
        return self._class("." if character == "." else re.escape(character))

    def _class(self, text: str) -> syntax.Node:
        return syntax.CodePoints(self._at - 1, (), f"(?i:{text})" if self._ignore_case else text)

    def _bracket(self) -> str:
        start = self._at
        self._at += 1
        self._take("^")
        first = self._at
        while True:
            if self._at >= len(self._pattern):
                self._at = start
                raise self._error("a [ without its ]")
            character = self._pattern[self._at]
            if character == "]" and self._at > first:
                break
            if character == "[" or self._pattern.startswith("&&", self._at):
                raise self._error("a class within a class")
            self._at += 2 if character == "\\" else 1
        self._at += 1
        return self._pattern[start : self._at]

    def _group(self) -> syntax.Node:
        if self._take("(?:"):
            return self._closed(self._alternation())
        if self._take("(?i:"):
            outer, self._ignore_case = self._ignore_case, True
            tree = self._closed(self._alternation())
            self._ignore_case = outer
            return tree
        for opening, negated in (("(?=", False), ("(?!", True)):
            if self._take(opening):
                body = self._closed(self._alternation())
                if not isinstance(body, syntax.CodePoints):
                    raise self._error("a lookahead for more than one code point")
                return syntax.Look(body.position, body, behind=False, negated=negated)
        if self._pattern.startswith("(?", self._at):
            raise self._error(f"the group {self._pattern[self._at : self._at + 4]}")
        self._at += 1
        return self._closed(self._alternation())

    def _closed(self, tree: syntax.Node) -> syntax.Node:
        if not self._take(")"):
            raise self._error("a ( without its )")
        return tree

    def _take(self, text: str) -> bool:
        if not self._pattern.startswith(text, self._at):
            return False
        self._at += len(text)
        return True

    def _error(self, what: str) -> UnsupportedTokenizerError:
        return UnsupportedTokenizerError(
            "pre-tokenizer", f"its regex {self._pattern!r:.200} has {what} at position {self._at}"
        )


def _without_backtracking(one: syntax.CodePoints, low: int, high: int | None) -> syntax.Node:
    """``X{low,high}+``: as many as possible, so no X follows unless there are ``high``."""
    place = one.position
    stop = syntax.Look(place, one, behind=False, negated=True)
    if high is None:
        return syntax.Concat(place, [syntax.Repeat(place, one, low, None), stop])
    fewer: list[syntax.Node] = [
        syntax.Concat(place, [*[one] * count, stop]) for count in range(high - 1, low - 1, -1)
    ]
    return syntax.Union(place, [syntax.Concat(place, [one] * high), *fewer])
