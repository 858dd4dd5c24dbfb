"""Python expressions without operators, from text to nodes: constants, names, calls, displays of containers.

Example: ``Point(x=1, tags=["a"])`` is a call of ``Point`` with two keywords, a constant and a list of one.

Problem: Python's own parser (:mod:`ast`) ends at 200 brackets within each other, and constructor calls of
recursive types go as deep as their values do.  Here brackets that are open stand on a list of their own.

Numbers and strings are read by :func:`ast.literal_eval`, one by one; nothing is evaluated.  White space,
comments and line ends may stand between any two tokens.

Cost: linear.
"""

from __future__ import annotations

import ast
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple, NoReturn

from tokamata.errors import ParseError

__all__ = ["Node", "parse_source", "place_of"]

_SPACE = r"(?P<space>(?:[ \t\f\r\n]|#[^\n]*|\\\r?\n)+)"
_PREFIX = "(?:[rR][bB]?|[bB][rR]?|[uU])?"
_STRING = (
    rf"(?P<string>{_PREFIX}(?:'''(?:\\[\s\S]|[^\\])*?'''|\"\"\"(?:\\[\s\S]|[^\\])*?\"\"\""
    r"|'[^'\\\n]*(?:\\[\s\S][^'\\\n]*)*'" + r'|"[^"\\\n]*(?:\\[\s\S][^"\\\n]*)*"))'
)
_NUMBER = (
    r"(?P<number>0[xXoObB][0-9A-Fa-f_]+|[0-9][0-9_]*(?:\.[0-9_]*)?(?:[eE][+-]?[0-9_]+)?"
    r"|\.[0-9][0-9_]*(?:[eE][+-]?[0-9_]+)?)"
)
_NAME = r"(?P<name>(?:[A-Za-z_]|[^\x00-\x7f])(?:\w|[^\x00-\x7f])*)"
_TOKEN = re.compile(rf"{_SPACE}|{_STRING}|{_NUMBER}|{_NAME}|(?P<sign>[][(){{}},:=.-])")

_CLOSING = {"(": ")", "call": ")", "[": "]", "{": "}"}
_CONSTANTS = {"True": True, "False": False, "None": None}


@dataclass(eq=False)
class Node:
    """An expression.

    Attributes:
        kind: ``"constant"``, ``"name"``, ``"call"``, ``"list"``, ``"tuple"``, ``"set"`` or ``"dict"``.
        start, end: where it stands in the text.
        value: of a constant; of a name and of what a call names the text, dots and all.
        items: elements, arguments without a keyword, the values of a dictionary.
        keywords: of a call, by name.
        keys: of a dictionary.
    """

    kind: str
    start: int
    end: int
    value: Any = None
    items: list[Node] = field(default_factory=list)
    keywords: list[tuple[str, Node]] = field(default_factory=list)
    keys: list[Node] = field(default_factory=list)


class _Token(NamedTuple):
    kind: str  # "string", "number", "name", "end", or the sign itself
    text: str
    start: int


@dataclass(eq=False)
class _Open:
    """A bracket that is not closed yet; of the whole text, the bracket is ``""``."""

    bracket: str
    start: int
    name: str = ""
    items: list[Node] = field(default_factory=list)
    keywords: list[tuple[str, Node]] = field(default_factory=list)
    keys: list[Node] = field(default_factory=list)
    keyword: str | None = None  # of the argument under way
    key: Node | None = None
    has_comma: bool = False  # behind what was read last


def place_of(text: str, offset: int) -> str:
    """How errors say where something stands."""
    return f"line {text.count(chr(10), 0, offset) + 1}, column {offset - text.rfind(chr(10), 0, offset)}"


def parse_source(text: str) -> Node:
    """The expression that a text is.

    Raises:
        ParseError: it is none, or one with operators.
    """
    return _Parser(text).parse()


class _Parser:
    """One text under way."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = list(self._split())
        self._at = 0
        self._open = [_Open("", 0)]

    def parse(self) -> Node:
        while True:
            value = self._operand()
            while value is not None:
                if len(self._open) == 1:
                    end = self._next()
                    if end.kind != "end":
                        self._unexpected(end)
                    return value
                value = self._behind(value)

    # ---- tokens -------------------------------------------------------------------------------

    def _split(self) -> Iterator[_Token]:
        at = 0
        while at < len(self._text):
            match = _TOKEN.match(self._text, at)
            if match is None:
                self._fail(at, f"{self._text[at]!r} is no part of one")
            kind = str(match.lastgroup)
            if kind != "space":
                yield _Token(match.group() if kind == "sign" else kind, match.group(), at)
            at = match.end()
        yield _Token("end", "", at)

    def _next(self) -> _Token:
        token = self._tokens[self._at]
        self._at += 1
        return token

    def _take(self, kind: str) -> _Token | None:
        """The next token, where it is of a kind."""
        return self._next() if self._tokens[self._at].kind == kind else None

    # ---- expressions --------------------------------------------------------------------------

    def _operand(self) -> Node | None:
        """What stands where an expression is to begin; ``None`` where a bracket opens."""
        token = self._next()
        here = self._open[-1]
        if token.kind == "string":
            end = token
            while (more := self._take("string")) is not None:
                end = more
            return self._constant(token.start, end.start + len(end.text))
        if token.kind == "number":
            return self._constant(token.start, token.start + len(token.text))
        if token.kind == "-":
            number = self._take("number") or self._unexpected(self._next())
            node = self._constant(number.start, number.start + len(number.text))
            return Node("constant", token.start, node.end, -node.value)
        if token.kind == "name":
            return self._name(token)
        if token.kind in ("(", "[", "{"):
            self._open.append(_Open(token.kind, token.start))
            return None
        is_empty = not (here.items or here.keywords)
        is_due = here.keyword is not None or here.key is not None
        if token.text != _CLOSING.get(here.bracket) or is_due or not (is_empty or here.has_comma):
            self._unexpected(token)
        return self._closed(token)

    def _name(self, token: _Token) -> Node | None:
        name = self._identifier(token)
        end = token
        while self._take("."):
            end = self._take("name") or self._unexpected(self._next())
            name += "." + self._identifier(end)
        here = self._open[-1]
        if self._take("("):
            self._open.append(_Open("call", token.start, name))
            return None
        if here.bracket == "call" and here.keyword is None and "." not in name and self._take("="):
            here.keyword = name
            return None
        stop = end.start + len(end.text)
        if name in _CONSTANTS:
            return Node("constant", token.start, stop, _CONSTANTS[name])
        return Node("name", token.start, stop, name)

    def _behind(self, value: Node) -> Node | None:
        """What comes of a value within brackets, by the token behind it."""
        here, token = self._open[-1], self._next()
        if token.kind == ":" and here.bracket == "{" and here.key is None and (here.keys or not here.items):
            here.key = value
            return None
        if token.text not in (",", _CLOSING[here.bracket]) or token.kind in ("string", "name", "number"):
            self._unexpected(token)
        if here.keyword is not None:
            here.keywords.append((here.keyword, value))
        else:
            if here.key is not None:
                here.keys.append(here.key)
            elif here.keys:
                self._unexpected(token)
            here.items.append(value)
        here.keyword = here.key = None
        here.has_comma = token.kind == ","
        return None if here.has_comma else self._closed(token)

    def _closed(self, token: _Token) -> Node:
        here = self._open.pop()
        end = token.start + 1
        if here.bracket == "call":
            return Node("call", here.start, end, here.name, here.items, here.keywords)
        if here.bracket == "[":
            return Node("list", here.start, end, None, here.items)
        if here.bracket == "{":
            kind = "dict" if here.keys or not here.items else "set"
            return Node(kind, here.start, end, None, here.items, keys=here.keys)
        if len(here.items) == 1 and not here.has_comma:
            return here.items[0]
        return Node("tuple", here.start, end, None, here.items)

    def _constant(self, start: int, end: int) -> Node:
        try:
            return Node("constant", start, end, ast.literal_eval(self._text[start:end].strip()))
        except SyntaxError as error:
            self._fail(start, error.msg)
        except (ValueError, MemoryError) as error:
            self._fail(start, str(error)[:200])

    def _identifier(self, token: _Token) -> str:
        name = unicodedata.normalize("NFKC", token.text)  # as Python has it
        if not name.isidentifier():
            self._unexpected(token)
        return name

    def _unexpected(self, token: _Token) -> NoReturn:
        found = f"{token.text!r:.60}" if token.text else "its end"
        self._fail(token.start, f"there is {found} where something else is to stand")

    def _fail(self, offset: int, reason: str) -> NoReturn:
        raise ParseError(place_of(self._text, offset), f"no Python expression: {reason}")
