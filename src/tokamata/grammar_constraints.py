"""Constraints on texts of a context-free grammar."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

from tokamata.arguments import checked_choice, checked_text, clipped
from tokamata.constraint import Constraint
from tokamata.errors import ArgumentError, GrammarError, shown_argument
from tokamata.grammar_rules import Rule, grammar_of
from tokamata.limits import CancelToken, Limits, Watch, checked_limits
from tokamata.patterns.grammars import LexerName, Trees, lower_grammar, read_gbnf, read_lark, without_lexer
from tokamata.patterns.grammars.syntax import Grammar
from tokamata.patterns.json_schema import ReportEntry
from tokamata.values.forms import Form, Plain, Read

if TYPE_CHECKING:
    from tokamata.automata import PushdownAutomaton

__all__ = ["GrammarConstraint", "grammar"]

_LEXERS = {
    "characters": "there is no lexer: each terminal is its regular language",
    "dynamic": "each terminal takes the text that re.match prefers; terminals do not compete, so that "
    '"if" NAME accepts ifx',
    "basic": "the first terminal in lark's order that re.match finds takes the text that it prefers",
    "contextual": "as basic, among the terminals that an LALR parser expects at that position",
    "longest": "the longest text that any terminal has is taken; of several terminals, the first in order",
}
_DEFAULTS = {"lark": ("start", "dynamic"), "gbnf": ("root", "characters")}


def grammar(
    source: str | os.PathLike[str] | Rule,
    *,
    syntax: Literal["lark", "gbnf"] = "lark",
    start: str | None = None,
    lexer: Literal["characters", "dynamic", "basic", "contextual", "longest"] | None = None,
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
            regular expression, or accepts the empty text; the lexer is contextual, and the grammar is not
            LALR(1); the file is not UTF-8.
        UnsupportedPatternError: a terminal has an assertion within a lookbehind.
        MissingExtraError: ``syntax`` is ``"lark"``, and lark is not installed.
        OSError: the file cannot be read.
        LimitExceeded, Cancelled: groups nest too deep, or the reading was stopped.
    """
    watch = Watch(limits, cancel)
    if isinstance(source, Rule):
        return GrammarConstraint(
            grammar_of(source), clipped(f"grammar({source!r})"), Plain(), "characters", watch
        )
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
        rules = read_lark(text, path, start, chosen, watch)
        if chosen != "characters":
            rules = without_lexer(rules, cast(LexerName, chosen), watch)
    form: Form = Plain()
    if chosen in ("dynamic", "basic", "contextual"):
        form = Read(Trees(text, path, start, chosen).read)
    return GrammarConstraint(rules, clipped(f"grammar({name})"), form, chosen, watch)


class GrammarConstraint(Constraint[Any]):
    """The texts of a context-free grammar, as :func:`tokamata.grammar` makes it."""

    __slots__ = ("_lexer", "_rules")

    def __init__(self, rules: Grammar, pattern: str, form: Form, lexer: str, watch: Watch) -> None:
        """``rules``: those into which the lexer went."""
        super().__init__(lower_grammar(rules, watch), pattern, form=form)
        self._rules = rules
        self._lexer = lexer

    def pushdown_automaton(self, *, limits: Limits | None = None) -> PushdownAutomaton:
        """The grammar as a push-down automaton over bytes, with its lexer.

        The form of 002, section 3, to examine, to draw, and to compare with: the engine does not use it.
        ``compose(detokenizer(tokens), pushdown)`` adapts it to tokens (docs/automata.md).

        Args:
            limits: bounds on its size and on the time; ``Limits()`` by default.

        Raises:
            LimitExceeded: it is larger, or takes longer.
        """
        from tokamata.grammar_automata import pushdown_of

        return pushdown_of(self._rules, checked_limits(limits))

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
