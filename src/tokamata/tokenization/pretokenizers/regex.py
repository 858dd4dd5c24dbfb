r"""The regexes of pre-tokenizers, read into programs of prioritized threads.

Problem: a pre-tokenizer cuts a text by repeated leftmost matches of a regex, and alternatives are tried in
order: ``a|ab`` cuts ``ab`` after the ``a``.  A constraint only needs the set of texts that match, which does
not determine where a match ends.  So these regexes become programs of a backtracking matcher, whose branches
have an order.

Example: ``\s+(?!\S)`` becomes::

    0  read \s
    1  split 0, 2        repeating comes first
    2  not followed by \S
    3  match

Classes of code points are kept as text: the members of ``\p{L}`` depend on the tokenizer's engine, which
``classes.py`` queries.

Supported: alternation, groups, classes, ``(?i:…)``, greedy, lazy and possessive quantifiers, lookaheads for
one code point, ``$``.  A possessive quantifier must repeat one code point; then ``X*+`` is ``X*(?!X)``, and
similarly for every count.  The rest (backreferences, lookbehind, longer lookaheads, atomic groups) is refused
by name; no known tokenizer uses it.

Source: Thompson, *Regular Expression Search Algorithm*, 1968; Pike's ordered threads, in Cox, *Regular
Expression Matching: the Virtual Machine Approach*, 2009.  Cost: linear in the regex with expanded counts.
Rejected: the parser of ``patterns.regex``, which resolves classes by our own tables and produces sets of
texts, in which the order of alternatives has no meaning.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TypeAlias

from tokamata.errors import UnsupportedTokenizerError

_MOST_INSTRUCTIONS = 10_000
_MOST_DEPTH = 100


@dataclass(frozen=True)
class Read:
    """Reads one code point of a class, given by its text."""

    cls: str


@dataclass(frozen=True)
class Split:
    """Continues at all of ``targets``, in order of priority."""

    targets: tuple[int, ...]


@dataclass(frozen=True)
class Look:
    """Continues if the next code point is in ``cls`` (``wanted``), or if it is not.

    The end of the text is not in ``cls``.
    """

    cls: str
    wanted: bool


@dataclass(frozen=True)
class End:
    """Continues at the end of the text."""


@dataclass(frozen=True)
class Match:
    """The match ends here."""


Instruction = Read | Split | Look | End | Match
Program = tuple[Instruction, ...]


@dataclass(frozen=True)
class _Sequence:
    parts: tuple[_Tree, ...]


@dataclass(frozen=True)
class _Alternation:
    branches: tuple[_Tree, ...]


@dataclass(frozen=True)
class _Repeat:
    body: _Tree
    low: int
    high: int | None
    greedy: bool


# A regex as a tree; its leaves are instructions.
_Tree: TypeAlias = "Read | Look | End | _Sequence | _Alternation | _Repeat"


def compile_regex(pattern: str, dollar_is_end: bool = True) -> Program:
    """The program of a regex.

    Args:
        pattern: the regex in the tokenizer's file.
        dollar_is_end: whether ``$`` matches only at the end of the text, and not at line ends.

    Raises:
        UnsupportedTokenizerError: the regex does not parse, or uses an unsupported construct.
    """
    tree = _Parser(pattern, dollar_is_end).parse()
    program: list[Instruction] = []
    _emit(tree, program, pattern)
    program.append(Match())
    return tuple(program)


def classes_of(program: Program) -> tuple[str, ...]:
    """The classes in a program, in order, without repetitions."""
    return tuple(dict.fromkeys(part.cls for part in program if isinstance(part, (Read, Look))))


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

    def parse(self) -> _Tree:
        tree = self._alternation()
        if self._at < len(self._pattern):
            raise self._error("an unmatched )")
        return tree

    def _alternation(self) -> _Tree:
        self._depth += 1
        if self._depth > _MOST_DEPTH:
            raise self._error(f"groups nested more than {_MOST_DEPTH} deep")
        branches = [self._sequence()]
        while self._take("|"):
            branches.append(self._sequence())
        self._depth -= 1
        return _Alternation(tuple(branches)) if len(branches) > 1 else branches[0]

    def _sequence(self) -> _Tree:
        parts: list[_Tree] = []
        while self._at < len(self._pattern) and self._pattern[self._at] not in "|)":
            parts.append(self._quantified())
        return parts[0] if len(parts) == 1 else _Sequence(tuple(parts))

    def _quantified(self) -> _Tree:
        atom = self._atom()
        while match := _QUANTIFIER.match(self._pattern, self._at):
            self._at = match.end()
            atom = self._repeated(atom, match[1], match[2])
        return atom

    def _repeated(self, atom: _Tree, count: str, manner: str) -> _Tree:
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
            if not isinstance(atom, Read):
                raise self._error("a possessive quantifier of more than one code point")
            return _without_backtracking(atom, low, high)
        return _Repeat(atom, low, high, manner != "?")

    def _atom(self) -> _Tree:
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
            if self._dollar_is_end:
                return End()
            return _Alternation((End(), Look(r"\n", True)))
        if character in "^*+?{":
            raise self._error(character)
        self._at += 1
        return self._class("." if character == "." else re.escape(character))

    def _class(self, text: str) -> _Tree:
        return Read(f"(?i:{text})" if self._ignore_case else text)

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

    def _group(self) -> _Tree:
        if self._take("(?:"):
            return self._closed(self._alternation())
        if self._take("(?i:"):
            outer, self._ignore_case = self._ignore_case, True
            tree = self._closed(self._alternation())
            self._ignore_case = outer
            return tree
        for opening, wanted in (("(?=", True), ("(?!", False)):
            if self._take(opening):
                body = self._closed(self._alternation())
                if not isinstance(body, Read):
                    raise self._error("a lookahead for more than one code point")
                return Look(body.cls, wanted)
        if self._pattern.startswith("(?", self._at):
            raise self._error(f"the group {self._pattern[self._at : self._at + 4]}")
        self._at += 1
        return self._closed(self._alternation())

    def _closed(self, tree: _Tree) -> _Tree:
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


# ---- programs -----------------------------------------------------------------------------------


def _emit(tree: _Tree, program: list[Instruction], pattern: str) -> None:
    """Append the instructions of a tree; they continue with the next instruction that is appended."""
    if len(program) > _MOST_INSTRUCTIONS:
        raise UnsupportedTokenizerError("pre-tokenizer", f"its regex {pattern!r:.200} is too large")
    if isinstance(tree, _Sequence):
        for part in tree.parts:
            _emit(part, program, pattern)
    elif isinstance(tree, _Alternation):
        _emit_alternation(tree, program, pattern)
    elif isinstance(tree, _Repeat):
        _emit_repeat(tree, program, pattern)
    else:
        program.append(tree)


def _emit_alternation(tree: _Alternation, program: list[Instruction], pattern: str) -> None:
    split = len(program)
    program.append(Split(()))
    starts, jumps = [], []
    for branch in tree.branches:
        starts.append(len(program))
        _emit(branch, program, pattern)
        jumps.append(len(program))
        program.append(Split(()))
    program[split] = Split(tuple(starts))
    for jump in jumps:
        program[jump] = Split((len(program),))


def _emit_repeat(tree: _Repeat, program: list[Instruction], pattern: str) -> None:
    for _ in range(tree.low):
        _emit(tree.body, program, pattern)
    splits = []
    for _ in range(1 if tree.high is None else tree.high - tree.low):
        splits.append(len(program))
        program.append(Split(()))
        _emit(tree.body, program, pattern)
    if tree.high is None:
        program.append(Split((splits[0],)))
    for split in splits:
        targets = (split + 1, len(program))
        program[split] = Split(targets if tree.greedy else targets[::-1])


def _without_backtracking(one: Read, low: int, high: int | None) -> _Tree:
    """``X{low,high}+``: as many as possible, so no X follows unless there are ``high``."""
    stop = Look(one.cls, False)
    if high is None:
        return _Sequence((_Repeat(one, low, None, True), stop))
    fewer = (_Sequence((*[one] * count, stop)) for count in range(high - 1, low - 1, -1))
    return _Alternation((_Sequence((one,) * high), *fewer))
