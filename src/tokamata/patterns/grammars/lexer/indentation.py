"""Grammars whose blocks are marked by indentation, as lark's ``Indenter`` reads them.

Problem.  A line break is read together with the blanks after it.  Their width opens blocks and closes them:
``_INDENT`` and ``_DEDENT`` are terminals without text, and how many of them stand somewhere depends on all
blocks that are open.  Within brackets line breaks are ignored.

How.  Where a block opens and closes in one alternative, the blocks that are open are those that a text is
derived in.  So a rule needs to know its own block alone: what is in it becomes a rule, to which a
:class:`.Block` leads.  Likewise a bracket that closes where it opens tells for each rule whether it is in
brackets, and the rules in brackets are copies::

    suite: NAME _NEWLINE | _NEWLINE _INDENT call+ _DEDENT
    call: NAME "(" [NAME] ")" _NEWLINE
  ──▶
    suite: NAME _NEWLINE | _NEWLINE Block(body)
    body: _INDENT call+ _DEDENT
    call: NAME "("' [NAME]' ")" _NEWLINE             ' line breaks are ignored after it

:mod:`.lexed` gives each ``_NEWLINE`` its text up to the last line break, and puts a :class:`.Margin` before
what follows: the rest of it, which is as wide as the block.  :mod:`.widths` writes rules for each width.

Source.  ``lark.indenter`` says what is read.  Landin 1966 for the idea, and Adams, Principled parsing for
indentation-sensitive languages, 2013, for rules that know the column of their block.
"""

from __future__ import annotations

import re
from collections.abc import Container
from dataclasses import replace

import tokamata._core as _core
from tokamata.errors import GrammarError
from tokamata.patterns.grammars.lexer.lexer_configurations import END_OF_TEXT
from tokamata.patterns.grammars.rules import rule_trees as trees

__all__ = ["declares_indentation", "indentation_of", "with_blocks"]

# The names of lark's PythonIndenter, and _NL of lark's other examples.
_INDENT, _DEDENT, _NEWLINES = "_INDENT", "_DEDENT", ("_NEWLINE", "_NL")
_OPENING, _CLOSING = frozenset(["LPAR", "LSQB", "LBRACE"]), frozenset(["RPAR", "RSQB", "RBRACE"])
_TAB = 8  # columns, as lark's Indenter has it by default
_NAMING = re.compile(r"^[ \t]*%(?:declare|import)\b[^\n(]*(?:\([^)]*\))?", re.M)
_WRITTEN = re.compile(r"^__(\w+)_(?:star|plus)_\d+$")  # the rule in which lark made a rule of its own
_COMMENT = re.compile(r"(?://|#)[^\n]*")


def declares_indentation(text: str) -> bool:
    """Whether a Lark file declares or imports ``_INDENT``."""
    directives = _NAMING.findall(_COMMENT.sub("", text))
    return any(re.search(rf"\b{_INDENT}\b", directive) for directive in directives)


def indentation_of(declared: Container[str], defined: Container[str], text: str) -> trees.Indentation | None:
    """How a grammar reads indentation; ``None`` if it does not.

    Args:
        declared: the terminals that it declares, and does not define.
        defined: those that it defines.
        text: the file that errors show.

    Raises:
        GrammarError: it declares one of ``_INDENT`` and ``_DEDENT``, or both and no terminal for line breaks.
    """
    names = [name for name in (_INDENT, _DEDENT) if name in declared]
    if not names:
        return None
    position = max(text.find(names[0]), 0)
    if len(names) == 1:
        reason = f"{names[0]} is declared without its partner"
        raise GrammarError(text, position, reason, f"write %declare {_INDENT} {_DEDENT}")
    newlines = [name for name in _NEWLINES if name in defined]
    if not newlines:
        reason = f"{names[0]} needs a terminal _NEWLINE or _NL for a line break and the blanks after it"
        raise GrammarError(text, position, reason, r"such as _NEWLINE: /(\r?\n[\t ]*)+/")
    return trees.Indentation(newlines[0], _INDENT, _DEDENT, _OPENING, _CLOSING, _TAB)


def with_blocks(grammar: trees.Grammar) -> trees.Grammar:
    """A grammar with a rule for what is in a block, and with rules for what is in brackets.

    The end of the text, at which blocks end without a line break, is a terminal :data:`.END_OF_TEXT`.

    Raises:
        GrammarError: a block or a bracket does not end in the alternative in which it begins.
    """
    assert grammar.indentation is not None
    return _Blocks(grammar, grammar.indentation).grammar()


class _Blocks:
    def __init__(self, grammar: trees.Grammar, indentation: trees.Indentation) -> None:
        self._grammar = grammar
        self._indentation = indentation
        self._made: dict[str, trees.Node] = {}
        self._open: list[tuple[str, bool]] = []
        self._seen: set[tuple[str, bool]] = set()

    def grammar(self) -> trees.Grammar:
        start = f"{self._grammar.start} to the end"
        end = trees.Terminal(END_OF_TEXT, _core.epsilon())
        self._made[start] = trees.Sequence((self._reference(self._grammar.start, False), end))
        while self._open:
            rule, is_bracketed = self._open.pop()
            body = self._grammar.rules[rule]
            options = [
                self._alternative(rule, option, is_bracketed)
                for option in (body.children if isinstance(body, trees.Choice) else (body,))
            ]
            self._made[_name(rule, is_bracketed)] = trees.Choice(
                tuple(one for one in options if one is not None)
            )
        return replace(self._grammar, rules=self._made, start=start)

    def _reference(self, rule: str, is_bracketed: bool) -> trees.Reference:
        if (rule, is_bracketed) not in self._seen:
            self._seen.add((rule, is_bracketed))
            self._open.append((rule, is_bracketed))
        return trees.Reference(_name(rule, is_bracketed))

    def _alternative(self, rule: str, option: trees.Node, is_bracketed: bool) -> trees.Node | None:
        """``None``: it has no text, since it has blocks or line breaks within brackets."""
        names = self._indentation
        depth = int(is_bracketed)
        is_possible = True
        items: list[trees.Node] = []
        outer: list[tuple[list[trees.Node], int]] = []  # what is around the blocks that are open
        for item in option.children if isinstance(option, trees.Sequence) else (option,):
            if isinstance(item, trees.Reference):
                items.append(self._reference(item.rule, depth > 0))
                continue
            if isinstance(item, trees.Lookahead):
                items.append(item)
                continue
            assert isinstance(item, trees.Terminal), item
            if item.name in (names.newline, names.indent, names.dedent):
                is_possible = is_possible and depth == 0
            depth += (item.name in names.opening) - (item.name in names.closing)
            if depth < is_bracketed:
                raise self._unbalanced(rule, "a bracket")
            if item.name == names.indent:
                outer.append((items, depth))
                items = [item]
            elif item.name == names.dedent:
                if not outer or outer[-1][1] != depth:
                    raise self._unbalanced(rule, "a block")
                inside, (items, _) = (*items, item), outer.pop()
                name = f"{_name(rule, is_bracketed)} block {len(self._made)} {len(items)}"
                self._made[name] = trees.Sequence(inside)
                items.append(trees.Block(name))
            else:
                items.append(replace(item, is_bracketed=depth > 0))
        if outer:
            raise self._unbalanced(rule, "a block")
        if depth != is_bracketed:
            raise self._unbalanced(rule, "a bracket")
        if not is_possible:
            return None
        return items[0] if len(items) == 1 else trees.Sequence(tuple(items))

    def _unbalanced(self, rule: str, what: str) -> GrammarError:
        text = self._grammar.text
        rule = _WRITTEN.sub(r"\1", rule.split(" ")[0])
        found = re.search(rf"(?m)^[!?]*{re.escape(rule)}\b", text)
        names = self._indentation
        pair = f"{names.indent} and {names.dedent}" if what == "a block" else "the bracket and its partner"
        return GrammarError(
            text,
            found.start() if found else 0,
            f"an alternative of {rule} has {what} that does not begin and end in it",
            f"write {pair} in one alternative",
        )


def _name(rule: str, is_bracketed: bool) -> str:
    return f"{rule} in brackets" if is_bracketed else rule
