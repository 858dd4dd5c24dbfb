"""Lark files with the constructs of llguidance's dialect, as files that lark's loader reads.

Problem.  lark's loader knows no operators on terminals, no JSON Schema within a rule, no control tokens.
How.  Each construct is replaced by a terminal without definition, and kept aside.  The loader then reads
everything else, and what was kept aside takes the place of the terminal in its grammar::

    start: <think> TEXT answer           start: PART_0 TEXT answer
    answer: %json {"type": "object"} ──▶ answer: PART_1
    TEXT: /[a-z ]+/ & ~/.*secret.*/      PART_2: /[a-z ]+/   PART_3: /.*secret.*/

``{m,n}`` becomes ``~m..n``, and a name with ``-`` one with ``_``.  Line breaks and the order of everything
stay, and :meth:`Translation.position` leads from a position of the new text to one of the old.

Source: docs/syntax.md of llguidance 1.9.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from tokamata.errors import GrammarError
from tokamata.patterns.grammars.files.attributes import Attributes, attributes_of
from tokamata.patterns.grammars.files.formulas import Formula, bounds_of, formula_of, postorder
from tokamata.patterns.grammars.files.lark_dialect_tokens import DialectToken, number_in, tokens_of
from tokamata.resources.limits import Watch

__all__ = ["Construct", "Translation", "translated"]

_CONSTRUCTS = re.compile(r"[&@<~{-]|%(?:json|regex|lark|llguidance|if)|::|\w\[")
_PARAMETRIC = "parametric rules (rule::…, %if) are not supported"
# Options of %llguidance that change no language here.
_NAME = re.compile(r"_?[A-Za-z][A-Za-z0-9_-]*")
_LONGEST_ITEM = 100_000  # before {m,}, which is written out twice
_OPTIONS = ("no_forcing", "allow_initial_skip")


class Construct(NamedTuple):
    """What stands in place of a terminal.

    Attributes:
        kind: ``"json"``, ``"lark"``, ``"name"`` of a constraint, ``"token"``, ``"formula"``, or ``"rule"``
            for a body with attributes.
        content: the object, the text, the name, the token's text, the formula.
        position: where the file has it.
        attributes: of the rule.
        name: of the rule.
    """

    kind: str
    content: Any
    position: int
    attributes: Attributes | None = None
    name: str = ""


@dataclass
class Translation:
    """A file for lark's loader, and what was taken out of it.

    Attributes:
        text: the file.
        constructs: what stands in place of a terminal without definition, by its name.
        formulas: terminals with operators, by name; a leaf has the name of a terminal as its source.
        priorities: of these terminals.
        sources: their bodies, as the file has them.
        preceding: the terminal that is defined before each of them, or ``""``.
        captures: the names of captured values, by rule.
        uses_dialect: whether it has anything that lark's parser cannot read.
    """

    text: str
    constructs: dict[str, Construct] = field(default_factory=dict)
    formulas: dict[str, Formula] = field(default_factory=dict)
    priorities: dict[str, int] = field(default_factory=dict)
    sources: dict[str, str] = field(default_factory=dict)
    preceding: dict[str, str] = field(default_factory=dict)
    captures: dict[str, str] = field(default_factory=dict)
    uses_dialect: bool = False
    origins: list[tuple[int, int]] = field(default_factory=lambda: [(0, 0)])

    def position(self, position: int) -> int:
        """Where the original file has what this one has at a position."""
        begin, origin = self.origins[bisect_right(self.origins, (position, 1 << 62)) - 1]
        return origin + position - begin


def translated(text: str, watch: Watch) -> Translation:
    """A file for lark's loader.

    Raises:
        GrammarError: a construct of the dialect is not well formed, or not supported.
        LimitExceeded, Cancelled: the reading was stopped.
    """
    if not _CONSTRUCTS.search(text):
        return Translation(text)
    return _Translator(text, watch).translation()


class _Statement(NamedTuple):
    """A rule or a terminal: where its parts are among its tokens."""

    name: DialectToken
    priority: int
    attributes: Attributes
    head: list[DialectToken]  # without attributes, blanks included
    body: list[DialectToken]  # likewise
    is_terminal: bool
    has_brackets: bool  # whether it has attributes, also some that change no text

    @property
    def meaning(self) -> list[DialectToken]:
        """The body without blanks."""
        return [token for token in self.body if token.kind != "blank"]


class _Translator:
    def __init__(self, text: str, watch: Watch) -> None:
        self._source = text
        self._watch = watch
        self._out: list[tuple[str, int]] = []
        self._result = Translation("")
        self._prefix = "PART"
        while self._prefix in text:
            self._prefix += "_X"
        self._names: dict[tuple[str, str], str] = {}  # of constructs and leaves, by what they are
        self._defined: list[tuple[str, int]] = []  # leaves, which go to the end of the file
        self._dashed: dict[str, str] = {}  # names with "-", by what they become
        self._last_terminal = ""

    def translation(self) -> Translation:
        statements = [self._statement(tokens) for tokens in self._split()]
        formulas = self._with_operators(
            [found for found in statements if isinstance(found, _Statement) and found.is_terminal]
        )
        for statement in statements:
            self._watch.check()
            if not isinstance(statement, _Statement):
                self._directive(statement)
            elif statement.is_terminal and statement.name.text in formulas:
                self._terminal(statement)
            else:
                self._rule(statement)
        result = self._result
        declared = [*result.constructs, *result.formulas]
        result.uses_dialect = result.uses_dialect or bool(declared)
        if declared:
            self._out.append(("\n%declare " + " ".join(declared), len(self._source)))
        self._out += self._defined
        result.text = self._joined()
        return result

    # ---- statements ----

    def _split(self) -> Iterable[list[DialectToken]]:
        tokens: list[DialectToken] = []
        depth = 0
        for token in tokens_of(self._source, self._watch):
            tokens.append(token)
            if token.kind == "newline" and depth == 0:
                yield tokens
                tokens = []
        yield tokens

    def _statement(self, tokens: list[DialectToken]) -> _Statement | list[DialectToken]:
        """A rule or a terminal; anything else as it is."""
        marks = [index for index, token in enumerate(tokens) if token.kind != "blank"]
        at = 0
        while at < len(marks) and tokens[marks[at]].text in ("!", "?"):
            at += 1
        if at == len(marks) or tokens[marks[at]].kind != "name":
            return tokens
        name = tokens[marks[at]]
        after = [tokens[index] for index in marks[at + 1 :]]
        if after and after[0].text == "::":
            if not re.match(r"[\w(]", self._source[after[0].position + 2 :][:1]):
                raise self._fault(after[0], "'::' defines no rule; ':' does", f"write {name.text}: …")
            raise self._fault(after[0], _PARAMETRIC, "write the rules out")
        begin = end = marks[at] + 1
        attributes = Attributes()
        if after and after[0].text == "[":
            brackets = [token.text for token in after].index("]") if any(t.text == "]" for t in after) else 0
            if not brackets:
                raise self._fault(after[0], "these attributes have no closing bracket", "")
            attributes = attributes_of(after[1 : brackets + 1], self._fault)
            begin, end = marks[at + 1], marks[at + 1 + brackets] + 1
        colon = next((index for index in marks if index >= end and tokens[index].text == ":"), None)
        if colon is None:
            return tokens
        rest = [token for token in tokens[end:colon] if token.kind != "blank"]
        priority = number_in(rest[1].text) if len(rest) == 2 and rest[1].kind == "number" else 0
        body = tokens[colon + 1 :]
        is_terminal = name.text.lstrip("_")[:1].isupper()
        if is_terminal and attributes != Attributes():
            raise self._fault(
                name, "a terminal has no attributes", "give them to a rule, whose name is lower case"
            )
        return _Statement(
            name,
            priority,
            attributes,
            tokens[:begin] + tokens[end : colon + 1],
            body,
            is_terminal,
            end > begin,
        )

    def _with_operators(self, terminals: list[_Statement]) -> set[str]:
        """The names of terminals that have operators, or that name such a terminal."""
        users: dict[str, list[str]] = {}
        open_names: list[str] = []
        for terminal in terminals:
            for token in terminal.meaning:
                if token.kind in ("embedded", "control", "lark") or token.text == "%json":
                    raise self._fault(token, f"{token.text} cannot stand in a terminal", "use it in a rule")
                if token.kind == "name":
                    users.setdefault(token.text, []).append(terminal.name.text)
            if self._has_operators(terminal.meaning):
                open_names.append(terminal.name.text)
        found: set[str] = set()
        while open_names:
            name = open_names.pop()
            if name not in found:
                found.add(name)
                open_names += users.get(name, ())
        return found

    @staticmethod
    def _has_operators(tokens: list[DialectToken]) -> bool:
        return any(
            token.text in ("&", "-", "%regex")
            or (token.text == "~" and (index + 1 == len(tokens) or tokens[index + 1].kind != "number"))
            for index, token in enumerate(tokens)
            if token.kind in ("sign", "word")
        )

    def _directive(self, tokens: list[DialectToken]) -> None:
        meaning = [token for token in tokens if token.kind not in ("blank", "newline")]
        first = meaning[0].text if meaning else ""
        if first == "%llguidance":
            self._result.uses_dialect = True
            self._check_options(meaning[1])
            self._write_blank(tokens)
        elif first == "%ignore" and self._has_operators(meaning[1:]):
            formula = self._named_leaves(formula_of(meaning[1:], self._fault))
            name = self._new_name()
            self._add_formula(name, formula, meaning[1:], 0)
            self._out.append((f"%ignore {name}\n", meaning[0].position))
        elif first in ("%json", "%lark", "%regex"):
            raise self._fault(
                meaning[0], f"{first} stands in the body of a rule", f"write start: {first} {{…}}"
            )
        elif first in ("%import", "%declare"):
            self._out += [(token.text, token.position) for token in tokens]
        else:
            self._body(tokens)

    def _terminal(self, statement: _Statement) -> None:
        """A terminal with operators is left out, and declared."""
        name = self._plain_name(statement.name)
        if name in self._result.formulas:
            raise self._fault(statement.name, f"the terminal {name} is defined twice", "remove one of them")
        meaning = [token for token in statement.meaning if token.kind != "newline"]
        formula = self._named_leaves(formula_of(meaning, self._fault))
        self._add_formula(name, formula, meaning, statement.priority)
        self._write_blank(statement.body)

    def _add_formula(self, name: str, formula: Formula, body: list[DialectToken], priority: int) -> None:
        result = self._result
        result.formulas[name] = formula
        result.priorities[name] = priority
        result.sources[name] = "".join(token.text for token in body)
        result.preceding[name] = self._last_terminal
        self._last_terminal = name

    def _rule(self, statement: _Statement) -> None:
        if statement.is_terminal:
            self._last_terminal = statement.name.text.replace("-", "_")
        self._result.uses_dialect |= statement.has_brackets
        if statement.attributes.capture is not None:
            rule = self._plain_name(statement.name)
            self._result.captures[rule] = statement.attributes.capture or statement.name.text
        for token in statement.head:
            text = self._plain_name(token) if token.kind == "name" else token.text
            self._out.append((text, token.position))
        if not statement.attributes.change_texts:
            self._body(statement.body)
            return
        meaning = [token for token in statement.meaning if token.kind != "newline"]
        for token in meaning:
            if token.kind in ("embedded", "control", "lark") or token.text in ("%json", "->"):
                hint = "let the body be made of texts, expressions and terminals"
                raise self._fault(token, f"{token.text} cannot stand in a rule with such attributes", hint)
        formula = self._named_leaves(formula_of(meaning, self._fault))
        given = statement.attributes
        attributes = given._replace(
            suffix=given.suffix and self._leaf(given.suffix), stop=given.stop and self._leaf(given.stop)
        )
        name = self._construct("rule", statement.name.text, formula, statement.name, attributes)
        self._out.append((f" {name}", statement.name.position))
        self._write_blank(statement.body)

    # ---- bodies ----

    def _body(self, tokens: list[DialectToken]) -> None:
        begins: list[int] = []  # in the output, of groups that are open
        begin = len(self._out)  # of the last item
        index = 0
        while index < len(tokens):
            token = tokens[index]
            following = next((t for t in tokens[index + 1 : index + 5] if t.kind != "blank"), None)
            index += 1
            if token.kind in ("blank", "newline"):
                self._out.append((token.text, token.position))
                continue
            if token.text in (")", "]") and begins:
                begin = begins.pop()
            elif token.text in ("(", "["):
                begins.append(len(self._out))
            elif token.kind == "count":
                self._repeat(begin, token)
                continue
            elif token.text not in ("*", "+", "?", "~"):
                begin = len(self._out)
            text, used = self._item(token, following)
            while used and tokens[index - 1] is not following:
                index += 1
            self._out.append((text, token.position))

    def _item(self, token: DialectToken, following: DialectToken | None) -> tuple[str, bool]:
        """What a token becomes, and whether the next one belongs to it."""
        if token.text == "::" or (token.kind, token.text) == ("word", "%if"):
            raise self._fault(token, _PARAMETRIC, "write the rules out")
        if token.kind == "name":
            return self._plain_name(token), False
        if token.text == '""':  # lark writes the empty text as nothing
            return "", False
        if token.kind == "embedded":
            return self._construct("name", token.text[1:], token.text[1:], token), False
        if token.kind == "control":
            return self._construct("token", token.text, token.text, token), False
        if token.kind == "word" and token.text in ("%json", "%lark", "%regex"):
            assert following is not None
            if token.text == "%regex":
                formula = formula_of([token, following], self._fault)
                return self._construct("formula", following.text, formula, token), True
            content = following.text.strip()[1:-1] if token.text == "%lark" else following.value
            return self._construct(token.text[1:], following.text, content, token), True
        is_sign = token.kind == "sign"
        if is_sign and (
            token.text in ("&", "-")
            or (token.text == "~" and (following is None or following.kind != "number"))
        ):
            hint = "give them a terminal, whose name is upper case"
            raise self._fault(token, f"{token.text} is for terminals, not for rules", hint)
        return token.text, False

    def _repeat(self, begin: int, token: DialectToken) -> None:
        """The last item, which begins at a place of the output, several times."""
        low, high = bounds_of(token, self._fault)
        if begin == len(self._out):
            raise self._fault(token, f"nothing stands before {token.text} to be repeated", "")
        if high is not None:
            self._out.append((f"~{low}" if low == high else f"~{low}..{high}", token.position))
        elif low <= 1:
            self._out.append(("+" if low else "*", token.position))
        else:
            item = "".join(text for text, _ in self._out[begin:])
            if len(item) > _LONGEST_ITEM:
                raise self._fault(
                    token, f"the item before {token.text} is too long", "let it be a rule of its own"
                )
            self._out[begin:] = [(f"({item}~{low} {item}*)", token.position)]

    # ---- names ----

    def _plain_name(self, token: DialectToken) -> str:
        """A name without "-", which lark does not know."""
        name = token.text.replace("-", "_")
        known = self._dashed.setdefault(name, token.text)
        if known != token.text:
            raise self._fault(
                token, f"the names {known} and {token.text} are too similar", "rename one of them"
            )
        return name

    def _new_name(self) -> str:
        return f"{self._prefix}_{len(self._names) + len(self._result.formulas)}"

    def _construct(
        self, kind: str, key: str, content: Any, token: DialectToken, attributes: Attributes | None = None
    ) -> str:
        if (kind, key) not in self._names:
            name = self._new_name()
            self._names[kind, key] = name
            self._result.constructs[name] = Construct(kind, content, token.position, attributes, key)
        return self._names[kind, key]

    def _named_leaves(self, root: Formula) -> Formula:
        """The same with names of terminals as leaves; those of texts and expressions are new."""
        made: dict[int, Formula] = {}
        for formula in postorder(root):
            children = tuple(made[id(child)] for child in formula.children)
            source = self._leaf(formula.source) if formula.operator == "leaf" else ""
            made[id(formula)] = replace(formula, children=children, source=source)
        return made[id(root)]

    def _leaf(self, source: str) -> str:
        """The name of a terminal with this source."""
        if _NAME.fullmatch(source):
            return source.replace("-", "_")
        if ("leaf", source) not in self._names:
            name = self._new_name()
            self._names["leaf", source] = name
            self._defined.append((f"\n{name}: {source}", max(self._source.find(source), 0)))
        return self._names["leaf", source]

    # ---- output ----

    def _write_blank(self, tokens: list[DialectToken]) -> None:
        """The line breaks of what is left out."""
        breaks = sum(token.text.count("\n") for token in tokens)
        self._out.append(("\n" * breaks, tokens[0].position if tokens else 0))

    def _joined(self) -> str:
        length = 0
        origins = self._result.origins
        for text, position in self._out:
            begin, origin = origins[-1]
            if position - origin != length - begin:
                origins.append((length, position))
            length += len(text)
        return "".join(text for text, _ in self._out)

    def _check_options(self, token: DialectToken) -> None:
        if not isinstance(token.value, dict):
            raise self._fault(token, "%llguidance takes an object", 'write %llguidance {"no_forcing": true}')
        for name, value in token.value.items():
            if name not in _OPTIONS:
                hint = f"remove it; supported are {' and '.join(_OPTIONS)}, which change no text here"
                raise self._fault(token, f"the option {name!r:.40} of %llguidance is not supported", hint)
            if not isinstance(value, bool):
                raise self._fault(token, f"the option {name} of %llguidance is true or false", "")

    def _fault(self, token: DialectToken, reason: str, hint: str) -> GrammarError:
        return GrammarError(self._source, token.position, reason, hint)
