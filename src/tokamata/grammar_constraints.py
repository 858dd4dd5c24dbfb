"""Constraints on texts of a context-free grammar."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Literal, cast

import tokamata._core as _core
from tokamata.arguments import checked_choice, checked_text, clipped
from tokamata.constraint import Constraint
from tokamata.errors import ArgumentError, GrammarError, shown_argument
from tokamata.grammar_rules import Rule, grammar_of
from tokamata.limits import CancelToken, Limits, Watch, checked_limits
from tokamata.patterns.grammars import (
    Determinism,
    LexerName,
    Trees,
    diagnosed,
    lower_grammar,
    read_gbnf,
    read_lark,
    without_lexer,
)
from tokamata.patterns.grammars.syntax import Grammar
from tokamata.patterns.json_schema import ReportEntry
from tokamata.values.forms import Form, Plain, Read

__all__ = ["GrammarConstraint", "grammar"]

_LEXERS = {
    "characters": "there is no lexer: each terminal is its regular language",
    "dynamic": "each terminal takes the text that re.match prefers; terminals do not compete, so that "
    '"if" NAME accepts ifx',
    "basic": "the first terminal in lark's order that re.match finds takes the text that it prefers",
    "longest": "the longest text that any terminal has is taken; of several terminals, the first in order",
}
_DEFAULTS = {"lark": ("start", "dynamic"), "gbnf": ("root", "characters")}


def grammar(
    source: str | os.PathLike[str] | Rule,
    *,
    syntax: Literal["lark", "gbnf"] = "lark",
    start: str | None = None,
    lexer: Literal["characters", "dynamic", "basic", "longest"] | None = None,
    limits: Limits | None = None,
    cancel: CancelToken | None = None,
) -> GrammarConstraint:
    r"""The texts of a context-free grammar.

        arithmetic = tk.grammar('''
            start: start /[-+*\/]/ start | "(" start ")" | NUMBER
            NUMBER: /[0-9]+/
            %ignore " "
        ''')

    Any grammar will do: rules may begin with themselves, be ambiguous, accept the empty text, or refer to
    each other in a cycle.  Rules that accept no text, and rules that nothing refers to, are never written.

    :meth:`Constraint.parse` returns a ``lark.Tree`` where lark has the lexer, and elsewhere the text.

    Args:
        source: the grammar; or the path of its file, in UTF-8, as a ``pathlib.Path``; or a rule made by
            :func:`tokamata.rule`, for which ``syntax``, ``start`` and ``lexer`` have no meaning.
        syntax: ``"lark"``, the grammars of lark, which the extra ``lark`` reads; or ``"gbnf"``, those of
            llama.cpp.
        start: the name of the rule that a text is of.  By default ``start``, or ``root`` for GBNF.
        lexer: how terminals are told apart (docs/grammars.md defines each).  By default ``"dynamic"``, as
            lark does it, or ``"characters"`` for GBNF, which has no lexer.  :meth:`Constraint.report` names
            it.
        limits: ``seconds`` bounds the time for reading it, ``depth`` how deep groups of GBNF may nest;
            ``Limits()`` by default.
        cancel: stops the reading, from another thread.

    Raises:
        ArgumentError: an argument has a wrong type or value.
        GrammarError: the text does not follow the syntax, or names what is not defined; a terminal is no
            regular expression, or accepts the empty text; the file is not UTF-8.
        UnsupportedPatternError: a terminal has an assertion within a lookbehind.
        MissingExtraError: ``syntax`` is ``"lark"``, and lark is not installed.
        OSError: the file cannot be read.
        LimitExceeded, Cancelled: groups nest too deep, or the reading was stopped.
    """
    watch = Watch(limits, cancel)
    if isinstance(source, Rule):
        rules = grammar_of(source)
        expression = lower_grammar(rules, watch)
        return GrammarConstraint(expression, clipped(f"grammar({source!r})"), Plain(), rules, "characters")
    checked_choice("syntax", syntax, _DEFAULTS)
    default_start, default_lexer = _DEFAULTS[syntax]
    start = default_start if start is None else start
    checked_text(start, "start")
    chosen = default_lexer if lexer is None else lexer
    checked_choice("lexer", chosen, _LEXERS if syntax == "lark" else ("characters",))
    path = Path(source) if isinstance(source, os.PathLike) else None
    if path is not None:
        text, name = _content(path), path.name
    elif isinstance(source, str):
        checked_text(source, "source")
        text, name = source, repr(source)
    else:
        expected = "the text of a grammar, a pathlib.Path, or a rule"
        raise ArgumentError("source", shown_argument(source), expected)
    if syntax == "gbnf":
        rules = read_gbnf(text, start, checked_limits(limits).depth, watch)
    else:
        rules = read_lark(text, path, start, watch)
    exact = rules if chosen == "characters" else without_lexer(rules, cast(LexerName, chosen), watch)
    form: Form = Plain()
    if chosen in ("dynamic", "basic"):
        form = Read(Trees(text, path, start, chosen).read)
    return GrammarConstraint(lower_grammar(exact, watch), clipped(f"grammar({name})"), form, rules, chosen)


class GrammarConstraint(Constraint[Any]):
    """The texts of a context-free grammar; :func:`tokamata.grammar` makes it."""

    __slots__ = ("_grammar", "_lexer")

    def __init__(
        self, expression: _core.Expression, pattern: str, form: Form, grammar: Grammar, lexer: str
    ) -> None:
        """``grammar``: as it was read, before its lexer became part of the rules."""
        super().__init__(expression, pattern, form=form)
        self._grammar = grammar
        self._lexer = lexer

    def determinism(self, *, limits: Limits | None = None, cancel: CancelToken | None = None) -> Determinism:
        """Whether a parser of the grammar always knows what comes next, and texts that show it where not.

            tk.grammar('start: start "+" start | "1"').determinism().derivations   # of 1+1+1

        Masks are exact whatever the answer is.  It matters to other parsers of the grammar, and to what a
        text means.

        Under ``lexer="basic"`` and ``"longest"``, the question is about the terminals that the lexer reads;
        elsewhere it is about characters, since terminals may overlap.  Ambiguity is undecidable: the search
        for an ambiguous text ends after 100,000 pairs of derivations.

        Method: LL(1) after factoring; LR(1) with merged states (Pager 1977); the shortest texts with two
        derivations by best-first search; otherwise the first conflict of the canonical LR(1) automaton.

        Args:
            limits: ``states``, ``memory_bytes`` and ``seconds`` bound the work; at one of them, the answer is
                ``"unknown"``.  ``Limits()`` by default.
            cancel: stops the work, from another thread.

        Raises:
            EmptyConstraintError: the grammar has no text.
            Cancelled: the work was stopped.
        """
        return diagnosed(self._grammar, self._lexer, limits, cancel)

    def _own_report(self) -> list[ReportEntry]:
        return [ReportEntry("", "lexer", "enforced", f"{self._lexer}: {_LEXERS[self._lexer]}")]


def _content(path: Path) -> str:
    data = path.read_bytes()
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        before = data[: error.start].decode()
        reason = f"{path.name} is not UTF-8 after this"
        raise GrammarError(before, len(before), reason, "save it as UTF-8") from None
