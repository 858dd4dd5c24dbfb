"""Lark files, read by the loader of :mod:`.lark_loader`.

The loader resolves imports, templates, ``%override``, ``%extend`` and aliases, and writes every rule as a
list of sequences of symbols.  This module translates its rules and terminals::

    start: "let" NAME          start: LET NAME
    NAME: /[a-z]+/       ──▶   LET: 'let'   NAME: '[a-z]+'   ignored: WS
    %ignore WS

A file may import others of its folder, and no link leads out of it.  A text may import lark's own grammars
alone (``%import common.WS``).
Priorities of rules, and what the tree of a text looks like, change no language.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import tokamata._core as _core
from tokamata.errors import GrammarError, PatternError
from tokamata.patterns.grammars.files.extension_groups import group_refused, refuse_groups
from tokamata.patterns.grammars.files.grammar_files import GrammarFile
from tokamata.patterns.grammars.files.lark_calls import by_lark, position_of
from tokamata.patterns.grammars.files.lark_constructs import Constructs, Embed
from tokamata.patterns.grammars.files.lark_dialect import Translation, translated
from tokamata.patterns.grammars.files.lark_messages import (
    accepts_empty,
    no_start,
    wrong_expression,
)
from tokamata.patterns.grammars.lexer.indentation import declares_indentation, indentation_of
from tokamata.patterns.grammars.lexer.lalr import with_contexts
from tokamata.patterns.grammars.rules import rule_trees as trees
from tokamata.patterns.regex import to_expression
from tokamata.resources.later import Later
from tokamata.resources.limits import Watch

if TYPE_CHECKING:
    from tokamata.patterns.grammars.files.lark_loader import LoadedGrammar

__all__ = ["LarkFile", "LoadedFile", "read_lark"]

_FLAGS = {"i": re.I, "m": re.M, "s": re.S, "x": re.X, "u": re.U}
# The folder that imports of a text are relative to: none, so that a text cannot read files.
_NO_FOLDER = "no folder: imports of files need the grammar's own path"


class LoadedFile(NamedTuple):
    """A Lark file that lark's loader has read.

    Attributes:
        text: its content.
        translation: the same without the dialect.
        definitions: of rules and terminals, as the loader has them.
        indentation: how it reads indentation; ``None`` if it does not.
        start: the name of the rule that a text is of.
    """

    text: str
    translation: Translation
    definitions: LoadedGrammar
    indentation: trees.Indentation | None
    start: str


class LarkFile(NamedTuple):
    """A Lark file, read for a lexer.

    Attributes:
        grammar: its rules; for ``"contextual"`` those of lark's parser.
        written: its rules as the file has them.
        readable: what lark's own parser is made of; ``None`` if it cannot read the file.
        captures: the names of captured values, by rule.
        loaded: the rules as lark's loader has them, which say what trees look like.
        shown: the names of terminals in trees, where they differ from those of the loader.
    """

    grammar: trees.Grammar
    written: Later[trees.Grammar]
    readable: LoadedFile | None
    captures: Mapping[str, str]
    loaded: Sequence[Any]
    shown: Mapping[str, str]


def read_lark(
    text: str, source: GrammarFile | None, start: str, lexer: str, embed: Embed, watch: Watch
) -> LarkFile:
    """A Lark file, which is loaded once.

    Args:
        text: its content.
        source: the file with its imports; ``None``: it has no file.
        start: the name of the rule that a text is of.
        lexer: the one that it will be read by.
        embed: the texts of other constraints that it names.
        watch: stops the reading.

    Raises:
        GrammarError: it is not Lark, or names what is not defined; a terminal is no regular expression, or
            may be empty, or has a group that is named as an extension; the lexer is contextual, and the
            grammar not LALR(1); a construct of the dialect is not supported.
        MissingExtraError: lark is not installed.
        LimitExceeded, Cancelled: the reading was stopped.
    """
    refuse_groups(text, watch)
    file = translated(text, watch)
    if lexer == "contextual" and file.uses_dialect:
        if declares_indentation(text):
            raise _dialect_with_blocks(text)
        reason = "lark's parser, which the lexer 'contextual' follows, cannot read this grammar"
        position = min((one.position for one in file.constructs.values()), default=0)
        raise GrammarError(text, position, reason, "choose lexer='dynamic', or use lark's syntax alone")
    with by_lark(file, text, watch):
        definitions = _load(file.text, source)
    loaded = LoadedFile(text, file, definitions, _indentation(definitions, text), start)
    if lexer != "contextual":
        return _for_lexer(loaded, lexer, embed, watch)
    written = Later(lambda watch: _for_lexer(loaded, "basic", embed, watch).grammar)
    return LarkFile(_of_parser(loaded, watch), written, loaded, {}, (), {})


def _for_lexer(loaded: LoadedFile, lexer: str, embed: Embed, watch: Watch) -> LarkFile:
    """A file with its own rules, for a lexer that follows no parser."""
    text, file, _, indentation, start = loaded
    terminals, rules, ignored = _compiled(loaded, watch)
    definitions = {definition.name: definition for definition in terminals}
    made: dict[str, trees.Terminal] = {}
    if lexer in ("characters", "dynamic"):
        _refuse_indentation(indentation, rules, text, lexer)
        indentation = None
    kept = [] if indentation is None else [indentation.newline]  # the lexer reads it wherever it stands
    if indentation is not None and file.uses_dialect:
        raise _dialect_with_blocks(text)

    def terminal_of(name: str) -> trees.Terminal:
        if name not in made:
            watch.check()
            if indentation is not None and name in (indentation.indent, indentation.dedent):
                made[name] = trees.Terminal(name, _core.epsilon())
            elif name in definitions:
                made[name] = _terminal(definitions[name], text, watch)
            else:
                raise _undefined(name, text)
        return made[name]

    node_of: Callable[[str], trees.Node] = terminal_of
    if file.uses_dialect:
        node_of = Constructs(file, text, terminal_of, lexer, embed, watch).node
    bodies = _bodies(rules, node_of, watch)
    if start not in bodies:
        raise no_start(start, text)
    read = {
        node.name: node
        for node in trees.children_first([*bodies.values(), *map(node_of, [*ignored, *kept])])
        if isinstance(node, trees.Terminal)
    }
    for name in ignored:
        if name not in read:
            hint = "ignore a text, an expression or a terminal"
            raise GrammarError(text, file.constructs[name].position, "only terminals can be ignored", hint)
    in_order = tuple(read[name] for name in _in_order(definitions, file) if name in read)
    ignored_terminals = tuple(read[name] for name in ignored)
    grammar = trees.Grammar(bodies, start, ignored_terminals, in_order, indentation=indentation, text=text)
    shown = {name: _shown(node_of(name), name) for name in file.constructs}
    readable = None if file.uses_dialect else loaded
    return LarkFile(grammar, Later.found(grammar), readable, file.captures, rules, shown)


def _shown(node: trees.Node, name: str) -> str:
    """The name of what stands in place of a terminal."""
    inside = node.children[0] if isinstance(node, trees.Choice) else node
    return inside.name if isinstance(inside, (trees.Terminal, trees.Embedded)) else name


def _bodies(
    rules: Iterable[Any], node_of: Callable[[str], trees.Node], watch: Watch
) -> dict[str, trees.Node]:
    """The bodies of lark's rules.

    They are made of terminals, embedded texts and references: what may be empty is a rule of its own.
    """
    alternatives: dict[str, list[trees.Node]] = {}

    def symbol_of(symbol: Any) -> trees.Node:
        node = node_of(symbol.name) if symbol.is_term else trees.Reference(symbol.name)
        if isinstance(node, (trees.Terminal, trees.Embedded, trees.Reference)):
            return node
        alternatives[symbol.name] = [node]
        return trees.Reference(symbol.name)

    for rule in rules:
        watch.check()
        symbols = tuple(map(symbol_of, rule.expansion))
        alternatives.setdefault(rule.origin.name, []).append(
            symbols[0] if len(symbols) == 1 else trees.Sequence(symbols)
        )
    return {
        name: found[0] if len(found) == 1 else trees.Choice(tuple(found))
        for name, found in alternatives.items()
    }


def _in_order(definitions: Iterable[str], file: Translation) -> list[str]:
    """The names of all terminals, those with operators where the file has them."""
    found = list(definitions)
    for name, preceding in file.preceding.items():
        found.insert(found.index(preceding) + 1 if preceding in found else 0, name)
    return found


def _of_parser(loaded: LoadedFile, watch: Watch) -> trees.Grammar:
    """The rules of lark's LALR parser."""
    text, file, definitions, indentation, start = loaded
    with by_lark(file, text, watch):
        from tokamata.patterns.grammars.files.lark_loader import parser_of

        made = parser_of(definitions, indentation, start, "contextual")
    terminals = {definition.name: _terminal(definition, text, watch) for definition in made.terminals}
    symbols = dict(terminals)
    if indentation is not None:
        for name in (indentation.indent, indentation.dedent):
            symbols[name] = trees.Terminal(name, _core.epsilon())
    symbols_of = {rule: [_symbol(symbol, symbols, text) for symbol in rule.expansion] for rule in made.rules}
    ignored = tuple(terminals[name] for name in made.ignore_tokens)
    table = made.parser.parser._parse_table
    grammar = with_contexts(table, symbols_of, start, ignored, tuple(terminals.values()), watch)
    return replace(grammar, indentation=indentation, text=text)


def _load(text: str, source: GrammarFile | None) -> LoadedGrammar:
    """What lark's loader reads; no parser is made."""
    from tokamata.patterns.grammars.files.lark_loader import loaded

    return loaded(text, _source_path(source), _imports(source))


def _indentation(loaded: Any, text: str) -> trees.Indentation | None:
    """How a grammar reads indentation.

    As for lark's Indenter, it is what the file declares that counts, and not what its rules use.

    Raises:
        GrammarError: there is no terminal for line breaks.
    """
    declared = {name for name, (tree, _) in loaded.term_defs if tree is None}
    defined = {name for name, (tree, _) in loaded.term_defs if tree is not None}
    return indentation_of(declared, defined, text)


def _refuse_indentation(
    indentation: trees.Indentation | None, rules: Iterable[Any], text: str, lexer: str
) -> None:
    """Raises GrammarError if a rule has blocks, which the lexer cannot tell."""
    if indentation is None:
        return
    names = (indentation.indent, indentation.dedent)
    if any(symbol.name in names for rule in rules for symbol in rule.expansion):
        reason = f"lexer={lexer!r} cannot tell {' and '.join(names)}"
        hint = "choose 'contextual', which is the default for such a grammar, or 'basic' or 'longest'"
        raise GrammarError(text, position_of(names[0], text), reason, hint)


def _dialect_with_blocks(text: str) -> GrammarError:
    hint = "docs/grammars.md lists what is beyond lark: write it with rules and terminals"
    reason = "a grammar with indentation must use lark's syntax alone"
    return GrammarError(text, max(text.find("%declare"), 0), reason, hint)


def _compiled(loaded: LoadedFile, watch: Watch) -> tuple[Any, Any, Any]:
    """The terminals, the rules and the names of what is ignored.

    No parser is made: lark's take time cubic in the length of a rule.  Line breaks are read within brackets
    also if no rule has them.
    """
    text, file, definitions, indentation, start = loaded
    kept = () if indentation is None else (indentation.newline,)
    with by_lark(file, text, watch):
        terminals, rules, ignored = definitions.compile([start], "*" if file.uses_dialect else kept)
        empty = []
        for definition in terminals:
            watch.check()
            if definition.pattern.min_width == 0:
                empty.append(definition.name)
    if empty and not file.uses_dialect:
        raise accepts_empty(empty[0], text)
    return terminals, rules, ignored


def _source_path(source: GrammarFile | None) -> str:
    """What imports are relative to."""
    return source.path if source is not None else str(Path(_NO_FOLDER) / "text")


def _imports(source: GrammarFile | None) -> list[Any]:
    """What lark asks for a file before it looks for it itself: reads those of the grammar's folder alone."""
    if source is None:
        return []

    def read(base: Any, name: str) -> tuple[str, str]:
        if not isinstance(base, str):  # an import of lark's own grammars, or in one of them
            raise FileNotFoundError(name)
        return source.imported(base, name)

    return [read]


def _terminal(definition: Any, text: str, watch: Watch) -> trees.Terminal:
    given = definition.pattern
    flags = 0
    for flag in given.flags:
        if flag not in _FLAGS:
            reason = f"the flag {flag!r} of the terminal {definition.name} is not supported"
            raise GrammarError(text, position_of(definition.name, text), reason)
        flags |= _FLAGS[flag]
    is_text = given.type == "str"
    regex = re.escape(given.value) if is_text else given.value
    refused = None if is_text else group_refused(regex, "x" in given.flags)  # in a file that is imported
    if refused is not None:
        _, reason, hint = refused
        raise GrammarError(
            text, position_of(definition.name, text), f"in the terminal {definition.name}, {reason}", hint
        )
    try:
        expression = _core.scope(to_expression(regex, flags, watch=watch))
    except PatternError as error:
        raise wrong_expression(definition.name, regex, text, error) from error
    pattern = trees.Pattern(
        regex, flags, given.value if is_text else None, definition.priority, int(given.max_width)
    )
    texts = (given.value,) if is_text and not flags & re.I else ()
    return trees.Terminal(definition.name, expression, texts, pattern)


def _symbol(symbol: Any, terminals: dict[str, trees.Terminal], text: str) -> trees.Node:
    if not symbol.is_term:
        return trees.Reference(symbol.name)
    if symbol.name not in terminals:
        raise _undefined(symbol.name, text)
    return terminals[symbol.name]


def _undefined(name: str, text: str) -> GrammarError:
    reason = f"the terminal {name} is declared and has no definition"
    hint = f"define it: {name}: /…/"
    if found := re.fullmatch(r"_\w+__(INDENT|DEDENT)", name):  # lark names what is imported with a rule so
        hint = f"import _{found[1]} with the rule that has it: %import … (…, _INDENT, _DEDENT, _NEWLINE)"
    return GrammarError(text, position_of(name, text), reason, hint)
