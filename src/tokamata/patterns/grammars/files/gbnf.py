r"""GBNF, the grammars of llama.cpp, and the EBNF of transformers-CFG, which is nearly the same.

A file is a list of rules ``name ::= alternatives``.  A rule ends where the next one begins, so line breaks
mean nothing.  Characters stand for themselves: there is no lexer, and nothing is ignored.

=================================  ==========================================================
``"text"``                         a text
``[a-z0-9_]``, ``[^"\\]``, ``.``   one code point of a set; any except for a set; any
``name``                           a rule
``( … )``, ``a | b``               a group, alternatives; an alternative may be empty
``*  +  ?  {m}  {m,}  {m,n}``      how often the item before it appears
``<[12]>``, ``<name>``             a control token, by its id or by its name
``!<[12]>``, ``!<name>``           any other token, text tokens too
``# …``                            a comment
=================================  ==========================================================

Escapes, in texts and sets: ``\n \r \t \\ \" \[ \] \- \^ \/ \xHH \uHHHH \UHHHHHHHH``.

Source: the README of llama.cpp's grammars, version of 2025, and the code that reads them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import tokamata._core as _core
from tokamata.errors import GrammarError, LimitExceeded
from tokamata.patterns.extensions import any_token, control_token
from tokamata.patterns.grammars.files.mistakes import nearest
from tokamata.patterns.grammars.rules import rule_trees as trees
from tokamata.resources.limits import Watch

__all__ = ["read_gbnf"]

_MOST_ROUNDS = 1_000_000  # of a repetition, as in regular expressions
_LAST_CODE_POINT = 0x10FFFF
_TOKENS = re.compile(
    r"""
      (?P<blank>(?:[ \t\r\n\v\f]|\#[^\n]*)+)
    | (?P<definition>::=)
    | (?P<name>[A-Za-z0-9_][A-Za-z0-9_.-]*)
    | (?P<text>"(?:[^"\\\n]|\\.)*")
    | (?P<set>\[(?:[^\]\\\n]|\\.)*\])
    | (?P<control>!?<(?:\[[0-9]{1,9}\]|[^<>\s]+)>)
    | (?P<count>\{[^}\n]*\})
    | (?P<sign>[.|()*+?])
    """,
    re.VERBOSE | re.DOTALL,
)
_COUNT = re.compile(r"\{\s*(\d+)\s*(?:(,)\s*(\d+)?\s*)?\}|\{\s*,\s*(\d+)\s*\}")
_ESCAPE = re.compile(r"\\(?:x([0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))", re.DOTALL)
_ESCAPED = {"n": "\n", "r": "\r", "t": "\t", **{sign: sign for sign in "\\\"'[]-^/.*+?(){}|"}}
_CLASSES = {  # escapes of regular expressions, as sets
    "d": "0-9",
    "w": "a-zA-Z0-9_",
    "s": r" \t\r\n",
    "D": "^0-9",
    "W": "^a-zA-Z0-9_",
    "S": r"^ \t\r\n",
}
_UNEXPECTED = [  # what begins no token, what is wrong with it, and what to do
    ('["]', "this text has no closing quote on its line", 'write \\" for a quote within'),
    (r"['‘’“”„«»`]", "texts stand in double quotes", 'write "…"'),
    (r"\[", "this set has no ']' on its line", "write \\[ for the character"),
    (r"\]", "no set is open that this ']' could close", 'write "]" for the text'),
    (r"//", "a comment begins with #", "write # …"),
    (r"/[^/\n]+/", "there are no expressions between slashes", "write sets and texts, as [0-9]+"),
    (r"/", "'/' separates no alternatives", "write |"),
    (r"\\", "an escape stands in a text or in a set", "write [0-9] for \\d"),
    (r";", "no ';' ends a rule, and none begins a comment", "leave it out; a comment begins with #"),
    (r",", "items follow each other without commas", "leave it out"),
    (r"=", "'=' defines no rule; '::=' does", "write ::="),
    (r":", "':' defines no rule; '::=' does", "write ::="),
    (r"<", "this control token has no closing '>'", "write <name>"),
    (r"!", "! stands before a control token", "write !<name> for any other token"),
    (r"\{", "these bounds have no '}' on their line", "write {2}, {2,} or {2,5}"),
    (r"\^", "^ stands in a set alone", "leave it out: a text matches as a whole"),
    (r"\$", "$ means nothing here", "leave it out: a text matches as a whole"),
    (r"@", "no constraint can be named here", "a Lark file names constraints by @name"),
    (r"[&~]", "terminals have no operators here", "a Lark file has & and ~ in terminals"),
    (r"->", "alternatives have no names", "leave it out"),
    (r"-", "there is no difference of two items", "a Lark file has - in terminals"),
    (r"%", "there are no directives, and no codes after %", 'write "\\x41" for a character by its code'),
    (r"\w", "names are of ASCII letters, digits, _, - and .", "rename it"),
]
_BOUNDS = {"*": (0, None), "+": (1, None), "?": (0, 1)}


def read_gbnf(text: str, start: str, depth: int, watch: Watch) -> trees.Grammar:
    """The grammar of a GBNF file.

    Args:
        text: its content.
        start: the name of the rule that a text is of.
        depth: how deep groups may nest.
        watch: stops the reading.

    Raises:
        GrammarError: it is not GBNF, or a rule is defined twice or not at all.
        LimitExceeded, Cancelled: groups nest deeper than ``depth``, or the reading was stopped.
    """
    return _Reader(text, depth, watch).read(start)


class _Token(NamedTuple):
    kind: str
    text: str
    position: int


@dataclass
class _Group:
    """A group, or the body of a rule, as far as it is read."""

    position: int
    alternatives: list[trees.Node] = field(default_factory=list)
    items: list[trees.Node] = field(default_factory=list)

    def end_alternative(self) -> None:
        """What was read since the last ``|`` is an alternative."""
        self.alternatives.append(self.items[0] if len(self.items) == 1 else trees.Sequence(tuple(self.items)))
        self.items = []

    def whole(self) -> trees.Node:
        """All of it.  Texts become one terminal: there may be a hundred thousand of them."""
        self.end_alternative()
        nodes = self.alternatives
        texts = [text for node in nodes if isinstance(node, trees.Terminal) for text in node.texts]
        if len(texts) > 1:
            others = [node for node in nodes if not isinstance(node, trees.Terminal) or not node.texts]
            nodes = [trees.Terminal("texts", _core.strings(texts), tuple(texts)), *others]
        return nodes[0] if len(nodes) == 1 else trees.Choice(tuple(nodes))


class _Reader:
    def __init__(self, text: str, depth: int, watch: Watch) -> None:
        self._text = text
        self._depth = depth
        self._watch = watch
        self._rules: dict[str, trees.Node] = {}
        self._uses: dict[str, int] = {}  # the position of the first reference to each rule
        self._literals: dict[str, trees.Terminal] = {}
        self._sets: dict[str, trees.Terminal] = {}

    def read(self, start: str) -> trees.Grammar:
        tokens = [*self._tokens(), _Token("end", "", len(self._text))]
        at = 0
        while tokens[at].kind != "end":
            name = tokens[at]
            if name.kind != "name":
                raise self._error(
                    name.position, "the name of a rule is expected here", 'write: name ::= "text"'
                )
            if tokens[at + 1].kind != "definition":
                reason = f"'::=' is expected here, after {name.text}"
                raise self._error(tokens[at + 1].position, reason, f"write {name.text} ::= …")
            if name.text in self._rules:
                raise self._error(
                    name.position, f"the rule {name.text!r} is defined twice", "remove one of them"
                )
            end = at + 2
            while tokens[end].kind != "end" and tokens[end + 1].kind != "definition":
                end += 1
            if tokens[end].kind not in ("end", "name"):
                hint = "a rule begins with its name and '::='"
                raise self._error(tokens[end].position, "the name of a rule is expected here", hint)
            self._rules[name.text] = self._body(tokens[at + 2 : end], name.position)
            at = end
        for rule, position in self._uses.items():
            if rule not in self._rules:
                hint = f"define it: {rule} ::= …"
                near = nearest(rule, self._rules)
                hint += f"; or is it {near}?" if near else ""
                raise self._error(position, f"there is no rule {rule!r}", hint)
        if start not in self._rules:
            names = list(self._rules)[:8]
            hint = f"define it: {start} ::= …"
            if names:
                hint = f"the rules are: {', '.join(names)}; pass start={names[0]!r}, or rename it"
            raise self._error(0, f"there is no rule {start!r} to start with", hint)
        return trees.Grammar(self._rules, start, text=self._text)

    def _tokens(self) -> Iterator[_Token]:
        """The tokens of the file, in which groups do not nest too deep."""
        position = 0
        groups = 0  # that are open in the body of a rule
        while position < len(self._text):
            self._watch.check()
            found = _TOKENS.match(self._text, position)
            if found is None:
                raise self._error(position, *_unexpected(self._text, position))
            kind = str(found.lastgroup)
            if kind == "definition":
                groups = 0
            elif kind == "sign":
                groups += (found.group() == "(") - (found.group() == ")")
                if groups > self._depth:
                    raise LimitExceeded("depth", self._depth)
            if kind != "blank":
                yield _Token(kind, found.group(), position)
            position = found.end()

    def _body(self, tokens: list[_Token], position: int) -> trees.Node:
        """The body of a rule; groups are kept on a list, since they may nest deeper than Python's stack."""
        groups = [_Group(position)]
        for token in tokens:
            self._watch.check()
            group = groups[-1]
            if token.text == "(" and token.kind == "sign":
                groups.append(_Group(token.position))
            elif token.text == ")" and token.kind == "sign":
                if len(groups) == 1:
                    reason = "no group is open that this ')' could close"
                    raise self._error(token.position, reason, "remove it")
                groups.pop()
                groups[-1].items.append(group.whole())
            elif token.text == "|" and token.kind == "sign":
                group.end_alternative()
            elif token.kind == "count" or (token.kind == "sign" and token.text in _BOUNDS):
                if not group.items:
                    hint = "write it after an item, or after a group: (…)*"
                    if token.kind == "count" and _COUNT.fullmatch(token.text) is None:
                        hint = "write (…)* to repeat a group"
                    reason = f"nothing stands before {token.text:.40} to be repeated"
                    raise self._error(token.position, reason, hint)
                group.items.append(trees.Repeat(group.items.pop(), *self._bounds(token)))
            else:
                group.items.append(self._item(token))
        if len(groups) > 1:
            raise self._error(groups[-1].position, "this group is never closed", "close it by ')'")
        return groups[0].whole()

    def _bounds(self, token: _Token) -> tuple[int, int | None]:
        if token.kind == "sign":
            return _BOUNDS[token.text]
        found = _COUNT.fullmatch(token.text)
        if found is None:
            raise self._error(token.position, "these are no bounds", "write {2}, {2,} or {2,5}")
        least, comma, most, only_most = found.groups()
        low = int(least or 0)
        high = int(only_most) if only_most else int(most) if most else None if comma else low
        if max(low, high or 0) > _MOST_ROUNDS:
            raise self._error(token.position, f"bounds may be at most {_MOST_ROUNDS:,}")
        if high is not None and high < low:
            raise self._error(token.position, f"the lower bound {low} is above the upper bound {high}")
        return low, high

    def _item(self, token: _Token) -> trees.Node:
        if token.kind == "name":
            self._uses.setdefault(token.text, token.position)
            return trees.Reference(token.text)
        if token.kind == "text":
            return self._literal(token)
        if token.kind == "set":
            return self._set(token)
        if token.text == ".":
            return self._one_of(token.text, [(0, _LAST_CODE_POINT)])
        if token.kind == "control":
            return self._control(token)
        raise self._error(token.position, f"{token.text} means nothing here")

    def _control(self, token: _Token) -> trees.Node:
        name = token.text.lstrip("!")
        is_id = name.startswith("<[")
        if token.text.startswith("!"):
            number = int(name[2:-2]) if is_id else 0
            texts = any_token([(number, number) if is_id else name])
        else:
            texts = control_token(int(name[2:-2]) if is_id else name)
        return trees.Embedded(token.text, texts, False, False, token.position)

    def _literal(self, token: _Token) -> trees.Node:
        text = token.text[1:-1]
        if "\\" in text or not text.isascii():
            text = "".join(character for character, _ in self._characters(token))
        if not text:
            return trees.Sequence(())
        if token.text not in self._literals:
            self._literals[token.text] = trees.Terminal(token.text, _core.literal(text.encode()), (text,))
        return self._literals[token.text]

    def _set(self, token: _Token) -> trees.Node:
        characters = list(self._characters(token))
        is_negated = bool(characters) and characters[0] == ("^", False)
        characters = characters[is_negated:]
        ranges = []
        while characters:
            low = ord(characters[0][0])
            if len(characters) > 2 and characters[1] == ("-", False):
                high = ord(characters[2][0])
                if high < low:
                    reason = f"the range {chr(low)}-{chr(high)} is upside down"
                    raise self._error(token.position, reason, self._hint_of_set(token, chr(low), chr(high)))
                ranges.append((low, high))
                characters = characters[3:]
            else:
                ranges.append((low, low))
                characters = characters[1:]
        if is_negated:
            ranges = _complement(ranges)
        return self._one_of(token.text, ranges) if ranges else trees.Choice(())

    def _hint_of_set(self, token: _Token, low: str, high: str) -> str:
        name = token.text[1:-1]
        if re.search(rf"(?m)^\s*{re.escape(name)}\s*::=", self._text):
            return f"[…] is a set of characters: write {name} for the rule, and {name}? where it is optional"
        return f"write {high}-{low}, or \\- for the character"

    def _one_of(self, name: str, ranges: list[tuple[int, int]]) -> trees.Terminal:
        if name not in self._sets:
            self._sets[name] = trees.Terminal(name, _core.code_points(ranges))
        return self._sets[name]

    def _characters(self, token: _Token) -> Iterator[tuple[str, bool]]:
        """The characters of a text or of a set, and whether each is escaped."""
        inner, position = token.text[1:-1], 0
        while position < len(inner):
            if inner[position] != "\\":
                yield self._checked(inner[position], token.position + 1 + position), False
                position += 1
                continue
            found = _ESCAPE.match(inner, position)
            digits = found and (found[1] or found[2] or found[3])
            where = token.position + 1 + position
            if found is None or (digits is None and found[4] not in _ESCAPED):
                escape = inner[position : position + 2]
                raise self._error(where, f"there is no escape {escape}", _instead_of_escape(token, escape))
            code = int(digits, 16) if digits else ord(_ESCAPED[found[4]])
            if code > _LAST_CODE_POINT:
                raise self._error(where, f"{code:#x} is not a code point")
            yield self._checked(chr(code), where), True
            position = found.end()

    def _checked(self, character: str, position: int) -> str:
        if "\ud800" <= character <= "\udfff":
            raise self._error(position, "a surrogate is not a character", "write \\U with eight digits")
        return character

    def _error(self, position: int, reason: str, hint: str = "") -> GrammarError:
        return GrammarError(self._text, position, reason, hint)


def _complement(ranges: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The code points that no range contains."""
    found, next_free = [], 0
    for low, high in sorted(ranges):
        if low > next_free:
            found.append((next_free, low - 1))
        next_free = max(next_free, high + 1)
    if next_free <= _LAST_CODE_POINT:
        found.append((next_free, _LAST_CODE_POINT))
    return found


def _instead_of_escape(token: _Token, escape: str) -> str:
    """What to write for an escape that does not exist, in a text or in a set."""
    characters = _CLASSES.get(escape[1:])
    if characters is None:
        return "write \\\\ for a backslash"
    if token.kind == "text":
        return f"write [{characters}] outside of the text, or \\\\ for a backslash"
    if token.text == f"[{escape}]" or characters.startswith("^"):
        return f"write [{characters}]"
    return f"write {characters} in the set, as [{characters}]"


def _unexpected(text: str, position: int) -> tuple[str, str]:
    """What is wrong with a character that begins no token, and what to do."""
    if found := re.compile(r"'([^'\"\\\n]*)'|[‘“]([^’”\"\\\n]*)[’”]").match(text, position):
        return "texts stand in double quotes", f'write "{found[1] or found[2]}"'
    if re.search(r"\[\[:\w+:\]\Z", text[:position]):
        return "sets have no named classes", "write [a-zA-Z] for [[:alpha:]]"
    for pattern, reason, hint in _UNEXPECTED:
        if re.compile(pattern).match(text, position):
            return reason, hint
    return f"{text[position]!r} means nothing here", "write it in double quotes if a text has it"
