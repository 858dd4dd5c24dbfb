"""From the text of a regular expression, in Python's syntax, to its syntax tree.

Problem: which language does a pattern denote under ``re.fullmatch``, and where exactly is it wrong?
The standard library's parser is not used: its trees give no positions, it knows no ``\\p{…}``, it
recurses, it changes with the version of Python, and it is not public.  Python's own ``re`` is the
judge in the tests instead: what it rejects is rejected here.

Example::

    parse("a(b|[0-9])*?").root       # Concat(0, [Literal(0, "a"), Repeat(1, Union(…), 0, None)])

The syntax is that of Python 3.11 on every Python, with ``\\p{…}`` and ``\\P{…}`` added.  So flags for the
whole pattern stand at its start, and ``a*+`` and ``(?>a)`` are known (and refused, as they are not done
yet).

Method: one loop over tokens (see :mod:`.tokens`), an explicit stack of open groups.

Cost: linear in the pattern; about 0.6 µs for a token.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import NoReturn

from tokamata.errors import LimitExceeded, NotRegularError, PatternSyntaxError, UnsupportedPatternError
from tokamata.patterns.regex.classes import Ranges, letter_cases, named_class
from tokamata.patterns.regex.escapes import class_ranges, escaped_code_point, escaped_ranges
from tokamata.patterns.regex.groups import REWRITE, TYPE_FLAGS, parse_flags, refuse_group
from tokamata.patterns.regex.syntax import (
    LAST_LINE_END,
    LINE_END,
    LINE_START,
    TEXT_END,
    TEXT_START,
    Anchor,
    CodePoints,
    Concat,
    Inner,
    Literal,
    Node,
    Repeat,
    Tree,
    Union,
)
from tokamata.patterns.regex.tokens import MAY_BE_VERBOSE, PLAIN, VERBOSE

__all__ = ["MAX_BOUND", "MAX_DEPTH", "parse"]

MAX_DEPTH = 500
MAX_BOUND = 1_000_000

IGNORE_CASE, MULTILINE, DOT_ALL = int(re.IGNORECASE), int(re.MULTILINE), int(re.DOTALL)
EXTENDED, ASCII, UNICODE = int(re.VERBOSE), int(re.ASCII), int(re.UNICODE)
KNOWN_FLAGS = IGNORE_CASE | MULTILINE | DOT_ALL | EXTENDED | ASCII | UNICODE

_QUANTIFIERS: dict[str, tuple[int, int | None]] = {"*": (0, None), "+": (1, None), "?": (0, 1)}
_SPECIAL = frozenset("\\[(){.*+?|^$# \t\n\r\f\v")
_SET_LETTERS = frozenset("dwsDWS")
_SHORT_SEQUENCE = 12  # the longest sequence to be copied into the one around its group, in items


def parse(pattern: str, flags: int = 0, depth: int = MAX_DEPTH) -> Tree:
    """The syntax tree of ``pattern``.

    Args:
        pattern: a regular expression in Python's syntax.
        flags: of ``re.I | re.M | re.S | re.X | re.A | re.U``.
        depth: how many groups may be open at once.

    Raises:
        PatternSyntaxError: it is not a regular expression.
        NotRegularError: it uses what no regular language can say.
        UnsupportedPatternError: it uses what tokamata does not do yet.
        LimitExceeded: it nests too deep.
        ValueError: wrong flags.
    """
    if flags & ~KNOWN_FLAGS:
        wrong = re.RegexFlag(flags & ~KNOWN_FLAGS)
        raise ValueError(f"flags must be of re.I, re.M, re.S, re.X, re.A and re.U, not {wrong!r}")
    if flags & ASCII and flags & UNICODE:
        raise ValueError("re.ASCII and re.UNICODE are incompatible; re.UNICODE is the default")
    if not pattern.isascii():
        _refuse_surrogates(pattern)
    return _Parser(pattern, flags, depth).parse()


def _refuse_surrogates(pattern: str) -> None:
    try:
        pattern.encode()
    except UnicodeEncodeError as error:
        reason = f"lone surrogate U+{ord(pattern[error.start]):04X}"
        hint = "a constraint is a set of valid Unicode texts; remove it"
        raise PatternSyntaxError(pattern, error.start, reason, hint) from None


@lru_cache(maxsize=256)
def _class_with_escapes(token: str, flags: int) -> Ranges:
    """What a class such as ``[\\w.-]`` denotes: kept, because it may have a thousand ranges."""
    return class_ranges(token, 0, token, flags & ASCII > 0, flags & IGNORE_CASE > 0)


class _Parser:
    """The state of one parse: the group being read, and those around it.

    ``items`` is the alternative being read, ``options`` those before it in the same group, ``stack``
    has the same of the groups around it, with the flags outside, the number and the position
    of the group that began there.
    """

    __slots__ = (
        "anchors", "closed", "closed_position", "depth", "flags", "group_count", "handlers", "inner", "items",
        "names", "options", "pattern", "stack", "unrepeatable",
    )  # fmt: skip

    def __init__(self, pattern: str, flags: int, depth: int) -> None:
        self.pattern = pattern
        self.flags = flags
        self.depth = depth
        self.items: list[Node] = []
        self.options: list[Node] = []
        self.stack: list[tuple[list[Node], list[Node], int, int, int]] = []
        self.inner: list[Inner] = []
        self.anchors = 0
        self.group_count = 0
        self.names: dict[str, int] = {}
        self.closed: Node | None = None  # what the last group to be closed became, and where that began
        self.closed_position = 0
        self.unrepeatable: Node | None = None  # the item just read, if a quantifier may not follow it

    def parse(self) -> Tree:
        """The tree of the whole pattern."""
        pattern = self.pattern
        tokens: Iterator[str] | list[str]
        if self.flags & EXTENDED or ("(?" in pattern and MAY_BE_VERBOSE.search(pattern)):
            tokens = self._tokens_by_flags()
        else:
            tokens = PLAIN.findall(pattern)
        special, handlers = _SPECIAL, _HANDLERS
        position = 0
        for token in tokens:
            if token[0] not in special and not self.flags & IGNORE_CASE:
                self.items.append(Literal(position, token))
            else:
                handlers.get(token[0], _Parser._literal)(self, token, position)
            position += len(token)
        if self.stack:
            place = self.stack[-1][4]
            hint = "close it with ), or write \\( for the character itself"
            raise PatternSyntaxError(pattern, place, "missing ), unterminated subpattern", hint)
        root = self._close(0)
        if type(root) is Concat:
            self.inner.append(root)
        return Tree(pattern, root, self.inner, self.anchors)

    def _tokens_by_flags(self) -> Iterator[str]:
        """The tokens, where flag ``x`` may change from one to the next."""
        position, end = 0, len(self.pattern)
        while position < end:
            found = (VERBOSE if self.flags & EXTENDED else PLAIN).match(self.pattern, position)
            assert found is not None, "the last alternative takes anything"
            yield found.group()
            position = found.end()

    # Items.

    def _literal(self, token: str, position: int) -> None:
        """Characters that stand for themselves, in any case under flag ``i``."""
        if not self.flags & IGNORE_CASE:
            self.items.append(Literal(position, token))
            return
        ascii_only = bool(self.flags & ASCII)
        for i, letter in enumerate(token):
            ranges = letter_cases(ord(letter), ascii_only)
            item = CodePoints(position + i, ranges) if len(ranges) > 1 else Literal(position + i, letter)
            self.items.append(item)

    def _space(self, token: str, position: int) -> None:
        """White space and comments, which mean nothing under flag ``x``."""
        if not self.flags & EXTENDED:
            self._literal(token, position)

    def _dot(self, token: str, position: int) -> None:
        name = "any" if self.flags & DOT_ALL else "."
        self.items.append(CodePoints(position, named_class(name), name))

    def _class(self, token: str, position: int) -> None:
        flags = self.flags & (ASCII | IGNORE_CASE)
        if "\\" in token and len(token) < 100:
            try:
                self.items.append(CodePoints(position, _class_with_escapes(token, flags), f"{token}{flags}"))
                return
            except PatternSyntaxError:
                pass  # to be raised with its place in the whole pattern
        ranges = class_ranges(self.pattern, position, token, flags & ASCII > 0, flags & IGNORE_CASE > 0)
        self.items.append(CodePoints(position, ranges))

    def _escape(self, token: str, position: int) -> None:
        letter = token[1:2]
        if letter in _SET_LETTERS and letter:
            name = "a" + letter if self.flags & ASCII else letter
            self.items.append(CodePoints(position, named_class(name), name))
        elif letter and not (letter.isascii() and letter.isalnum()):
            self._literal(letter, position)
        elif letter in ("A", "Z"):
            self._anchor(TEXT_START if letter == "A" else TEXT_END, position)
        elif letter in ("b", "B"):
            name = "word boundary \\b" if letter == "b" else "non-boundary \\B"
            reason = f"{name}: tokamata does not do this yet"
            raise UnsupportedPatternError(self.pattern, position, reason, REWRITE)
        elif letter in ("p", "P") and len(token) > 2:
            ascii_only, ignore_case = self.flags & ASCII > 0, self.flags & IGNORE_CASE > 0
            ranges = escaped_ranges(self.pattern, position, token, ascii_only, ignore_case)
            assert ranges is not None, "a property is a set"
            self.items.append(CodePoints(position, ranges, f"{token}{ascii_only}{ignore_case}"))
        elif letter and letter in "123456789" and len(token) < 4:
            self._backreference(token, position)
        else:
            point = escaped_code_point(self.pattern, position, token)
            if 0xD800 <= point <= 0xDFFF:
                self.items.append(CodePoints(position, ()))  # no text contains a surrogate
            else:
                self._literal(chr(point), position)

    def _backreference(self, token: str, position: int) -> NoReturn:
        number = int(token[1:])
        if number > self.group_count:
            hint = f"there are {self.group_count} groups before it"
            raise PatternSyntaxError(self.pattern, position + 1, f"invalid group reference {number}", hint)
        if number in self._open_groups():
            raise PatternSyntaxError(self.pattern, position, "cannot refer to an open group")
        reason = f"backreference {token}: no regular language can say this"
        hint = "write the group's pattern again; that both match the same text cannot be asked for"
        raise NotRegularError(self.pattern, position, reason, hint)

    def _caret(self, token: str, position: int) -> None:
        self._anchor(LINE_START if self.flags & MULTILINE else TEXT_START, position)

    def _dollar(self, token: str, position: int) -> None:
        self._anchor(LINE_END if self.flags & MULTILINE else LAST_LINE_END, position)

    def _anchor(self, kind: str, position: int) -> None:
        self.anchors += 1
        self.unrepeatable = anchor = Anchor(position, kind)
        self.items.append(anchor)

    # Quantifiers.

    def _quantifier(self, token: str, position: int) -> None:
        bounds = _QUANTIFIERS.get(token)
        if bounds is None:
            if token == "{":
                self._literal(token, position)  # what does not look like a quantifier is none
                return
            bounds = self._bounds(token, position)
        items = self.items
        if not items:
            raise PatternSyntaxError(
                self.pattern, position, "nothing to repeat", f"write \\{token[0]} for the character itself"
            )
        body = items[-1]
        if body is self.unrepeatable:
            reason = "nothing to repeat" if type(body) is Anchor else "multiple repeat"
            hint = "put what is to be repeated into a group (?:…)"
            raise PatternSyntaxError(self.pattern, position, reason, hint)
        if len(token) > 1 and token[-1] == "+":
            reason = f"possessive quantifier {token}: tokamata does not do this yet"
            hint = f"without the last + it admits more texts; write {token[:-1]} if that is what you mean"
            raise UnsupportedPatternError(self.pattern, position, reason, hint)
        if type(body) is Concat:
            self.inner.append(body)
        place = self.closed_position if body is self.closed else body.position
        items[-1] = self.unrepeatable = repeat = Repeat(place, body, *bounds)
        self.inner.append(repeat)

    def _bounds(self, token: str, position: int) -> tuple[int, int | None]:
        """The bounds of a quantifier that is lazy, possessive, or in braces."""
        if token[0] != "{":
            return _QUANTIFIERS[token[0]]
        low, comma, high = token[1 : token.index("}")].partition(",")
        for digits in (low, high):
            if len(digits.lstrip("0")) > 10 or int(digits or 0) >= 0xFFFFFFFF:
                raise PatternSyntaxError(self.pattern, position, "the repetition number is too large")
        minimum = int(low or 0)
        maximum = int(high) if high else None if comma else minimum
        if maximum is not None and maximum < minimum:
            raise PatternSyntaxError(self.pattern, position, "min repeat greater than max repeat")
        if max(minimum, maximum or 0) > MAX_BOUND:
            reason = f"repetition bound above {MAX_BOUND:,}"
            raise UnsupportedPatternError(self.pattern, position, reason, "leave out the upper bound: {m,}")
        return minimum, maximum

    # Groups.

    def _open(self, token: str, position: int) -> None:
        if len(self.stack) >= self.depth:
            raise LimitExceeded("depth", self.depth, self.pattern, position)
        flags, number = self.flags, 0
        if token == "(" or (token[2:3] == "P" and token[-1] == ">"):
            self.group_count += 1
            number = self.group_count
            if len(token) > 1:
                self._name(token[4:-1], position, number)
        elif token != "(?:":
            if token[2:3] == "#":
                backslashes = len(token[:-1]) - len(token[:-1].rstrip("\\"))
                if token[-1] != ")" or backslashes % 2:
                    raise PatternSyntaxError(self.pattern, position, "missing ), unterminated comment")
                return
            entered = self._enter_flags(token, position)
            if entered is None:
                return
            flags = entered
        self.stack.append((self.items, self.options, self.flags, number, position))
        self.items, self.options, self.flags = [], [], flags

    def _name(self, name: str, position: int, number: int) -> None:
        if not name.isidentifier():
            raise PatternSyntaxError(self.pattern, position + 4, f"bad character in group name {name[:40]!r}")
        known = self.names.setdefault(name, number)
        if known != number:
            reason = f"redefinition of group name {name[:40]!r} as group {number}; was group {known}"
            raise PatternSyntaxError(self.pattern, position + 4, reason)

    def _enter_flags(self, token: str, position: int) -> int | None:
        """The flags inside the group that begins here; ``None``: it was ``(?i)``, which is no group."""
        if token[-1] not in ":)" or token[2] not in "aiLmsux-":
            refuse_group(self.pattern, position, self.names, self._open_groups())
        on, off, whole = parse_flags(self.pattern, position, token)
        if not whole:
            kept = self.flags & ~TYPE_FLAGS if on & TYPE_FLAGS else self.flags
            return (kept | on) & ~off
        if self.stack or self.options or self.items:
            hint = "write (?i:…) around the part that the flag is for"
            reason = "global flags not at the start of the expression"
            raise PatternSyntaxError(self.pattern, position, reason, hint)
        self.flags |= on
        if self.flags & ASCII and self.flags & UNICODE:
            raise PatternSyntaxError(self.pattern, position, "ASCII and UNICODE flags are incompatible")
        return None

    def _open_groups(self) -> set[int]:
        return {number for *_, number, _ in self.stack}

    def _bar(self, token: str, position: int) -> None:
        self.options.append(self._alternative(position))
        self.items = []

    def _end(self, token: str, position: int) -> None:
        if not self.stack:
            hint = "write \\) for the character itself"
            raise PatternSyntaxError(self.pattern, position, "unbalanced parenthesis", hint)
        node = self._close(position)
        self.items, self.options, self.flags, _, self.closed_position = self.stack.pop()
        self.items.append(node)
        self.closed = node
        self.unrepeatable = None

    def _close(self, position: int) -> Node:
        """The node of the group that ends at ``position``.

        A sequence is not listed among the inner nodes yet: it may become part of the one around it.
        """
        if not self.options:
            return self._sequence(position)
        self.options.append(self._alternative(position))
        union = Union(self.options[0].position, self.options)
        self.inner.append(union)
        return union

    def _alternative(self, position: int) -> Node:
        """The node of an alternative among several, listed."""
        node = self._sequence(position)
        if type(node) is Concat:
            self.inner.append(node)
        return node

    def _sequence(self, position: int) -> Node:
        """The node of the items read since the group or the last bar began, which end at ``position``."""
        items = self.items
        if len(items) == 1:
            return items[0]
        if self.closed is None or not items:
            return Concat(items[0].position if items else position, items)
        flat: list[Node] = []
        for item in items:
            if type(item) is Concat:
                if len(item.items) <= _SHORT_SEQUENCE:
                    flat += item.items
                    continue
                self.inner.append(item)
            flat.append(item)
        return Concat(items[0].position, flat)


_HANDLERS: dict[str, Callable[[_Parser, str, int], None]] = {
    "\\": _Parser._escape,
    "[": _Parser._class,
    "(": _Parser._open,
    ")": _Parser._end,
    "{": _Parser._quantifier,
    ".": _Parser._dot,
    "*": _Parser._quantifier,
    "+": _Parser._quantifier,
    "?": _Parser._quantifier,
    "|": _Parser._bar,
    "^": _Parser._caret,
    "$": _Parser._dollar,
    **dict.fromkeys("# \t\n\r\f\v", _Parser._space),
}
