"""Constraints on texts of a context-free grammar."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

import tokamata._core as _core
from tokamata.calls.arguments import checked_choice, checked_instance, checked_text, clipped
from tokamata.calls.equal_calls import read_once
from tokamata.calls.keywords import checked_call
from tokamata.constraints.constraint import Constraint
from tokamata.constraints.given import Untyped, constraint_of
from tokamata.constraints.grammar_rules import Rule, grammar_of
from tokamata.constraints.json_constraints import constraint_of_schema
from tokamata.constraints.json_options import JsonOptions
from tokamata.errors import ArgumentError, GrammarError, shown_argument
from tokamata.patterns.grammars import (
    WIDEST,
    Determinism,
    GrammarFile,
    LarkFile,
    LarkParser,
    LexerName,
    Source,
    Stages,
    declares_indentation,
    explained,
    lower_grammar,
    read_gbnf,
    read_lark,
    stages_of,
    without_lexer,
)
from tokamata.patterns.grammars.rules import rule_trees as trees
from tokamata.patterns.json_schema import ReportEntry
from tokamata.resources.later import Later
from tokamata.resources.limits import CancelToken, Limits, Watch, checked_limits
from tokamata.values.derivations import Capture, CapturedParts, Derivations, LarkTree, ReadByLark
from tokamata.values.forms import Form, Plain

if TYPE_CHECKING:
    from tokamata.automata import PushdownAutomaton
    from tokamata.patterns.grammars.parsing.lark_trees import TreeShapes

__all__ = ["GrammarConstraint", "grammar"]

_LEXERS = {
    "characters": "there is no lexer: each terminal is its regular language",
    "dynamic": "each terminal takes the text that re.match prefers; terminals do not compete, so that "
    '"if" NAME accepts ifx',
    "basic": "the first terminal in lark's order that re.match finds takes the text that it prefers",
    "contextual": "as basic, among the terminals that an LALR parser expects at that position",
    "longest": "the longest text that any terminal has is taken; of several terminals, the first in order",
}
_MOST_GRAMMARS = 10  # one in another
_DEFAULTS = {"lark": ("start", "dynamic"), "gbnf": ("root", "characters")}
_LEXERS_OF_LARK = ("dynamic", "basic", "contextual")


@checked_call
@read_once
def grammar(
    source: str | os.PathLike[str] | Rule,
    *,
    syntax: Literal["lark", "gbnf"] = "lark",
    start: str | None = None,
    lexer: Literal["characters", "dynamic", "basic", "contextual", "longest"] | None = None,
    constraints: Mapping[str, Constraint[Any] | type | Untyped] | None = None,
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

    Lark files may use what llguidance adds to lark's syntax: JSON Schema, control tokens, operators on
    terminals and more (docs/grammars.md, section "Beyond Lark").

    :meth:`Constraint.parse` returns the values of captured parts (:class:`tokamata.Captures`); without such
    parts a ``lark.Tree`` for a Lark file, and elsewhere the text.

    Args:
        source: the grammar; or the path of its file, in UTF-8, as a ``pathlib.Path``; or a rule made by
            :func:`tokamata.rule`, for which ``syntax``, ``start`` and ``lexer`` have no meaning.
        syntax: ``"lark"``, the grammars of lark, which the extra ``lark`` reads; or ``"gbnf"``, those of
            llama.cpp.
        start: the name of the rule that a text is of.  By default ``start``, or ``root`` for GBNF.
        lexer: how terminals are distinguished (docs/grammars.md defines each).  By default ``"dynamic"``, as
            lark does it, or ``"characters"`` for GBNF, which has no lexer.  :meth:`Constraint.report` names
            it.
        constraints: those that a Lark file names by ``@name``, or types and schemas that mean them.
        limits: ``seconds`` bounds the time for reading it, ``memory_bytes`` what lark makes of a Lark file,
            ``depth`` how deep groups of GBNF may nest; ``Limits()`` by default.
        cancel: stops the reading, from another thread.

    Raises:
        ArgumentError: an argument has a wrong type or value.
        GrammarError: the text does not follow the syntax, or names what is not defined; a terminal is no
            regular expression, or accepts the empty text; the lexer is contextual, and the grammar is not
            LALR(1); the file is not UTF-8.
        SchemaError, UnsupportedSchemaError: the schema after ``%json`` is none, or cannot be enforced.
        UnsupportedPatternError: a terminal has an assertion within a lookbehind.
        MissingExtraError: ``syntax`` is ``"lark"``, and lark is not installed.
        OSError: the file cannot be read.
        LimitExceeded, Cancelled: groups of GBNF nest too deep, a terminal is too long, or the reading was
            stopped.
    """
    watch = Watch(limits, cancel)
    if isinstance(source, Rule):
        return _grammar_of_rule(source, watch)._made_by(grammar, source, limits=limits)
    checked_choice("syntax", syntax, _DEFAULTS)
    default_start, default_lexer = _DEFAULTS[syntax]
    start = default_start if start is None else start
    checked_text(start, "start")
    if lexer is not None:
        checked_choice("lexer", lexer, _LEXERS if syntax == "lark" else ("characters",))
    given = _checked_constraints(constraints)
    name, text, file = _opened(source)
    if syntax == "lark" and declares_indentation(text):
        default_lexer = "contextual"
    read = Source(name, text, file, start, default_lexer if lexer is None else lexer)
    made = (_read_gbnf if syntax == "gbnf" else _read_lark)(read, given, watch)
    watch.retire()
    return made._made_by(
        grammar, file or text, syntax=syntax, start=start, lexer=read.lexer, constraints=given, limits=limits
    )


def _grammar_of_rule(rule: Rule, watch: Watch) -> GrammarConstraint:
    rules, parts = grammar_of(rule)
    form: Form = Plain()
    if parts:
        form = CapturedParts(Derivations(Later.found(rules), False), parts, rules.rules, rules.start)
    source = Source(repr(rule), "", None, rules.start, "characters")
    try:
        return GrammarConstraint(stages_of(source, rules, Later.found(rules), watch), form)
    except GrammarError as error:
        raise ArgumentError("source", f"{rule!r}: {error.reason}", "a grammar of rules", error.hint) from None


def _read_gbnf(source: Source, _: Mapping[str, Constraint[Any]], watch: Watch) -> GrammarConstraint:
    with explained(source.text, "gbnf"):
        rules = read_gbnf(source.text, source.start, watch.limits.depth, watch)
    return GrammarConstraint(stages_of(source, rules, Later.found(rules), watch), Plain())


def _read_lark(source: Source, given: Mapping[str, Constraint[Any]], watch: Watch) -> GrammarConstraint:
    embed = _Embedding(given, source.lexer, watch).texts
    with explained(source.text, "lark"):
        file = read_lark(source.text, source.file, source.start, source.lexer, embed, watch)
    stages = stages_of(source, file.grammar, file.written, watch)
    own = _form_of(file, source.lexer) if file.captures or file.grammar.indentation is None else None
    if file.readable is None or source.lexer not in _LEXERS_OF_LARK:
        return GrammarConstraint(stages, Plain() if own is None else own)
    parser = LarkParser(file.readable, source.lexer)
    return GrammarConstraint(stages, ReadByLark(parser.read, None if source.lexer == "contextual" else own))


def _form_of(file: LarkFile, lexer: str) -> Form:
    """How texts of a Lark file are read, if lark does not read them."""

    def with_lexer(watch: Watch) -> trees.Grammar:
        if lexer == "characters":
            from tokamata.patterns.grammars.diagnosis.symbols import with_ignored

            return with_ignored(file.grammar)
        return without_lexer(file.grammar, cast(LexerName, lexer), watch, keeps_rules_apart=True)

    derivations = Derivations(with_lexer, lexer != "characters")
    if file.captures:
        captures = {rule: Capture((name,)) for rule, name in file.captures.items()}
        return CapturedParts(derivations, captures, file.grammar.rules, file.grammar.start)

    def shapes() -> TreeShapes:
        from tokamata.patterns.grammars.parsing.lark_trees import TreeShapes

        return TreeShapes(file.loaded, file.shown)

    return LarkTree(derivations, shapes)


class _Embedding:
    """The texts of the constraints that a Lark file contains.

    Args:
        given: those that it names.
        lexer: of the file, and of the grammars in it.
        watch: stops the reading.
        depth: how many grammars it is in.
    """

    def __init__(
        self, given: Mapping[str, Constraint[Any]], lexer: str, watch: Watch, depth: int = 0
    ) -> None:
        self._given = given
        self._lexer = lexer
        self._watch = watch
        self._depth = depth

    def texts(self, kind: str, content: Any, fault: Callable[[str, str], GrammarError]) -> _core.Expression:
        """The texts of a schema, of a grammar in braces, or of a constraint by its name."""
        if kind == "json":
            if not isinstance(content, (dict, bool)):
                raise fault("a schema is an object, true or false", 'write %json {"type": "object"}')
            limits, cancel = self._watch.within(Limits())
            return constraint_of_schema(content, JsonOptions(limits=limits, cancel=cancel))._expression
        if kind == "name":
            if content not in self._given:
                near = get_close_matches(content, self._given, 1)
                meant = f"; or is it @{near[0]}?" if near else ""
                hint = f"pass constraints={{{content!r:.80}: …}}{meant}"
                raise fault(f"there is no constraint {content!r:.80}", hint)
            return self._given[content]._expression
        if self._depth == _MOST_GRAMMARS:
            raise fault(f"grammars nest deeper than {_MOST_GRAMMARS}", "name them with @, and pass them")
        inner = _Embedding(self._given, self._lexer, self._watch, self._depth + 1)
        file = read_lark(content, None, "start", self._lexer, inner.texts, self._watch)
        if file.captures:
            hint = "capture a rule of the grammar around it"
            raise fault("a grammar within another one captures nothing", hint)
        rules = file.grammar
        if self._lexer != "characters":
            rules = without_lexer(rules, cast(LexerName, self._lexer), self._watch)
        return lower_grammar(rules, self._watch)


class GrammarConstraint(Constraint[Any]):
    """The texts of a context-free grammar, as :func:`tokamata.grammar` makes it."""

    __slots__ = ("_stages",)

    def __init__(self, stages: Stages, form: Form) -> None:
        super().__init__(stages.lowered, clipped(f"grammar({stages.source.name})"), form=form)
        self._stages = stages

    def pushdown_automaton(self, *, limits: Limits | None = None) -> PushdownAutomaton:
        """The grammar as a push-down automaton over bytes, with its lexer.

        The form of 002, section 3, to examine, to draw, and to compare with: the engine does not use it.
        ``compose(detokenizer(tokens), pushdown)`` adapts it to tokens (docs/automata.md).

        Args:
            limits: bounds on its size and on the time; ``Limits()`` by default.

        Raises:
            NotRegularError: the grammar contains JSON, a control token, or another grammar.
            LimitExceeded: it is larger, or takes longer.
        """
        from tokamata.constraints.grammar_automata import pushdown_of

        return pushdown_of(self._stages.lexed(Watch(limits)), checked_limits(limits))

    def determinism(self, *, limits: Limits | None = None, cancel: CancelToken | None = None) -> Determinism:
        """Whether a parser of the grammar always knows what comes next, and texts that show it where not.

            tk.grammar('start: start "+" start | "1"').determinism().derivations   # of 1+1+1

        Masks are exact whatever the answer is.  It matters to other parsers of the grammar, and to what a
        text means.

        Under ``lexer="basic"``, ``"contextual"`` and ``"longest"``, the question is about the terminals that
        the lexer reads; elsewhere it is about characters, since terminals may overlap.  Ambiguity is
        undecidable: the search for an ambiguous text ends after 100,000 pairs of derivations.  The answer is
        ``"unknown"`` for grammars that contain JSON, control tokens or other grammars.

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
        from tokamata.patterns.grammars.diagnosis.determinism import diagnosed

        return diagnosed(
            self._stages.written(Watch(limits, cancel)), self._stages.source.lexer, limits, cancel
        )

    def _own_report(self) -> list[ReportEntry]:
        lexer = self._stages.source.lexer
        entries = [ReportEntry("", "lexer", "enforced", f"{lexer}: {_LEXERS[lexer]}")]
        watch = Watch()
        written = self._stages.written(watch)
        if lexer == "characters":
            return entries + [
                ReportEntry("", f"rule {name}", "annotation", reason)
                for name, reason in _never_used(written).items()
            ]
        if written.indentation is not None:
            wide = f"blocks are indented by at most {WIDEST} columns; a tab counts {written.indentation.tab}"
            entries.append(ReportEntry("", "indentation", "enforced", wide))
        reason = "no text of the grammar contains it, as the lexer reads texts"
        return entries + [
            ReportEntry("", f"terminal {name}", "annotation", reason)
            for name in self._never_read(written, watch).values()
        ]

    def _why_empty(self, limits: Limits, cancel: CancelToken | None) -> tuple[str, tuple[str, ...]]:
        from tokamata.patterns.grammars.diagnosis.misreading import misread
        from tokamata.patterns.grammars.diagnosis.unproductive import rules_without_texts

        lexer, watch = self._stages.source.lexer, Watch(limits, cancel)
        written = self._stages.written(watch)
        if without := rules_without_texts(written):
            names = clipped(", ".join(without))
            advice = "a rule that needs itself must have an alternative that does not"
            return f"these rules have no text, whatever the lexer: {names}; {advice}", ()
        if lexer == "characters":
            return "", ()
        said = [misread(written, lexer, limits, cancel)]
        if unread := self._never_read(written, watch):
            names = clipped(", ".join(unread.values()))
            said.append(f"no text of the grammar contains these terminals under lexer={lexer!r}: {names}")
        return "\n".join(filter(None, said)), ()

    def _never_read(self, written: trees.Grammar, watch: Watch) -> dict[str, str]:
        """The terminals of the rules that no text contains, by name: how errors show them."""
        terminals, read = _terminals_of(written), _terminals_of(self._stages.lexed(watch))
        blocks = written.indentation
        layout = () if blocks is None else (blocks.indent, blocks.dedent)
        words = written.words
        return {
            name: terminals[name].shown(words)
            for name in sorted(terminals)
            if name not in read and name not in layout
        }


def _terminals_of(grammar: trees.Grammar) -> dict[str, trees.Terminal]:
    nodes = trees.children_first(grammar.rules.values())
    return {node.name: node for node in nodes if isinstance(node, trees.Terminal)}


def _never_used(grammar: trees.Grammar) -> dict[str, str]:
    """The rules that the start rule does not lead to, and why: a set may have been meant as a rule."""
    used, open_rules = {grammar.start}, [grammar.start]
    sets: set[str] = set()
    while open_rules:
        for node in trees.children_first([grammar.rules[open_rules.pop()]]):
            if isinstance(node, trees.Reference) and node.rule not in used:
                used.add(node.rule)
                open_rules.append(node.rule)
            elif isinstance(node, trees.Terminal):
                sets.add(node.name)
    reasons = {}
    for name in grammar.rules:
        if name not in used:
            reasons[name] = f"it is never used: the start rule {grammar.start!r} does not lead to it"
            if f"[{name}]" in sets:
                reasons[name] += f"; [{name}] is one of the characters {', '.join(dict.fromkeys(name))}"
    return reasons


def _opened(source: Any) -> tuple[str, str, GrammarFile | None]:
    """The name of a source for messages, its text, and its file."""
    if isinstance(source, str):
        checked_text(source, "source")
        return _description(source), source, None
    if isinstance(source, (os.PathLike, GrammarFile)):  # the latter from another process
        file = source if isinstance(source, GrammarFile) else _file_at(Path(source))
        return Path(file.path).name, file.text, file
    expected = "the text of a grammar, a pathlib.Path, or a rule"
    raise ArgumentError("source", shown_argument(source), expected)


def _description(text: str) -> str:
    """The first line of a grammar that says something, for messages."""
    lines = [line for line in map(str.strip, text.split("\n")) if line and line[0] not in "#/%"]
    first = lines[0] if lines else text.strip()
    shown = clipped(first, 60)
    return shown if shown.endswith("…") or shown == text.strip() else f"{shown} …"


def _checked_constraints(given: Any) -> dict[str, Constraint[Any]]:
    if given is None:
        return {}
    checked_instance("constraints", given, Mapping, "a dict from names to constraints")
    for name in given:
        checked_text(name, "a name of constraints")
    return {name: constraint_of(f"constraints[{name!r:.80}]", one) for name, one in given.items()}


def _file_at(path: Path) -> GrammarFile:
    data = path.read_bytes()
    try:
        return GrammarFile(str(path), data.decode(), {})
    except UnicodeDecodeError as error:
        before = data[: error.start].decode()
        reason = f"{path.name} is not UTF-8 after this"
        raise GrammarError(before, len(before), reason, "save it as UTF-8") from None
