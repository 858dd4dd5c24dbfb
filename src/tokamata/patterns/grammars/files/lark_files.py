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
from collections.abc import Callable, Iterable, Iterator, Mapping
from collections.abc import Sequence as Items
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import tokamata._core as _core
from tokamata.errors import (
    GrammarError,
    LimitExceeded,
    MissingExtraError,
    ParseError,
    PatternError,
    TokamataError,
)
from tokamata.patterns.grammars.files.extension_groups import group_refused, refuse_groups
from tokamata.patterns.grammars.files.grammar_files import GrammarFile, LeadsOut
from tokamata.patterns.grammars.files.lark_dialect import Translation, translated
from tokamata.patterns.grammars.files.lark_dialect_parts import Embed, Parts
from tokamata.patterns.grammars.files.lark_messages import (
    accepts_empty,
    bad_expression,
    error_of_lark,
    no_start,
    not_imported,
    not_read,
    wrong_expression,
)
from tokamata.patterns.grammars.lexer.indentation import declares_indentation, indentation_of
from tokamata.patterns.grammars.lexer.lalr import with_contexts
from tokamata.patterns.grammars.rules.rule_trees import (
    Choice,
    Embedded,
    Grammar,
    Indentation,
    Node,
    Pattern,
    Reference,
    Sequence,
    Terminal,
    children_first,
)
from tokamata.patterns.regex import to_expression
from tokamata.resources.bounded_steps import bounded
from tokamata.resources.limits import Watch

if TYPE_CHECKING:
    import lark

__all__ = ["LarkFile", "Trees", "read_lark"]

_FLAGS = {"i": re.I, "m": re.M, "s": re.S, "x": re.X, "u": re.U}
# The folder that imports of a text are relative to: none, so that a text cannot read files.
_NO_FOLDER = "no folder: imports of files need the grammar's own path"
# What lark raises, besides its own errors: its loader for some files that are no grammars, its Indenter, and
# its parsers for some texts of grammars in which a rule derives itself.
_FAILURES = (ValueError, TypeError, AttributeError, AssertionError, LookupError)


class LarkFile(NamedTuple):
    """A Lark file.

    Attributes:
        grammar: its rules.
        readable: the file as lark's own parser reads it; ``None`` if it cannot.
        captures: the names of captured values, by rule.
        loaded: the rules as lark's loader has them, which say what trees look like.
        shown: the names of terminals in trees, where they differ from those of the loader.
    """

    grammar: Grammar
    readable: str | None
    captures: Mapping[str, str]
    loaded: Items[Any]
    shown: Mapping[str, str]


def read_lark(
    text: str, source: GrammarFile | None, start: str, lexer: str, embed: Embed, watch: Watch
) -> LarkFile:
    """A Lark file.

    Args:
        text: its content.
        source: the file with its imports; ``None``: it has no file.
        start: the name of the rule that a text is of.
        lexer: the one that it will be read by.  For ``"contextual"`` the rules are those of lark's parser.
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
    if lexer == "contextual":
        if file.uses_dialect:
            if declares_indentation(text):
                raise _dialect_with_blocks(text)
            reason = "lark's parser, which the lexer 'contextual' follows, cannot read this grammar"
            position = min((part.position for part in file.parts.values()), default=0)
            raise GrammarError(text, position, reason, "choose lexer='dynamic', or use lark's syntax alone")
        return LarkFile(_contextual(file, text, source, start, watch), file.text, {}, (), {})
    with _by_lark(file, text, watch):
        loaded = _load(file.text, source, lexer)
    indentation = _indentation(loaded, text)
    terminals, rules, ignored = _compiled(loaded, indentation, file, text, start, watch)
    definitions = {definition.name: definition for definition in terminals}
    made: dict[str, Terminal] = {}
    if lexer in ("characters", "dynamic"):
        _refuse_indentation(indentation, rules, text, lexer)
        indentation = None
    kept = [] if indentation is None else [indentation.newline]  # the lexer reads it wherever it stands
    if indentation is not None and file.uses_dialect:
        raise _dialect_with_blocks(text)

    def terminal_of(name: str) -> Terminal:
        if name not in made:
            watch.check()
            if indentation is not None and name in (indentation.indent, indentation.dedent):
                made[name] = Terminal(name, _core.epsilon())
            elif name in definitions:
                made[name] = _terminal(definitions[name], text, watch)
            else:
                raise _undefined(name, text)
        return made[name]

    node_of: Callable[[str], Node] = terminal_of
    if file.uses_dialect:
        node_of = Parts(file, text, terminal_of, lexer, embed, watch).node
    bodies = _bodies(rules, node_of, watch)
    if start not in bodies:
        raise no_start(start, text)
    read = {
        node.name: node
        for node in children_first([*bodies.values(), *map(node_of, [*ignored, *kept])])
        if isinstance(node, Terminal)
    }
    for name in ignored:
        if name not in read:
            hint = "ignore a text, an expression or a terminal"
            raise GrammarError(text, file.parts[name].position, "only terminals can be ignored", hint)
    in_order = tuple(read[name] for name in _in_order(definitions, file) if name in read)
    ignored_terminals = tuple(read[name] for name in ignored)
    grammar = Grammar(bodies, start, ignored_terminals, in_order, indentation=indentation, text=text)
    shown = {name: _shown(node_of(name), name) for name in file.parts}
    return LarkFile(grammar, None if file.uses_dialect else file.text, file.captures, rules, shown)


def _shown(node: Node, name: str) -> str:
    """The name of what stands in place of a terminal."""
    inside = node.children[0] if isinstance(node, Choice) else node
    return inside.name if isinstance(inside, (Terminal, Embedded)) else name


def _bodies(rules: Iterable[Any], node_of: Callable[[str], Node], watch: Watch) -> dict[str, Node]:
    """The bodies of lark's rules.

    They are made of terminals, embedded texts and references: what may be empty is a rule of its own.
    """
    alternatives: dict[str, list[Node]] = {}

    def symbol_of(symbol: Any) -> Node:
        node = node_of(symbol.name) if symbol.is_term else Reference(symbol.name)
        if isinstance(node, (Terminal, Embedded, Reference)):
            return node
        alternatives[symbol.name] = [node]
        return Reference(symbol.name)

    for rule in rules:
        watch.check()
        symbols = tuple(map(symbol_of, rule.expansion))
        alternatives.setdefault(rule.origin.name, []).append(
            symbols[0] if len(symbols) == 1 else Sequence(symbols)
        )
    return {
        name: found[0] if len(found) == 1 else Choice(tuple(found)) for name, found in alternatives.items()
    }


def _in_order(definitions: Iterable[str], file: Translation) -> list[str]:
    """The names of all terminals, those with operators where the file has them."""
    found = list(definitions)
    for name, preceding in file.preceding.items():
        found.insert(found.index(preceding) + 1 if preceding in found else 0, name)
    return found


def _contextual(
    file: Translation, text: str, source: GrammarFile | None, start: str, watch: Watch
) -> Grammar:
    """The rules of lark's LALR parser."""
    with _by_lark(file, text, watch):
        grammar = _load(file.text, source, "contextual")
    indentation = _indentation(grammar, text)
    with _by_lark(file, text, watch):
        from tokamata.patterns.grammars.files.lark_loader import parser_of

        loaded = parser_of(grammar, indentation, start, "contextual")
    terminals = {definition.name: _terminal(definition, text, watch) for definition in loaded.terminals}
    symbols = dict(terminals)
    if indentation is not None:
        for name in (indentation.indent, indentation.dedent):
            symbols[name] = Terminal(name, _core.epsilon())
    symbols_of = {
        rule: [_symbol(symbol, symbols, text) for symbol in rule.expansion] for rule in loaded.rules
    }
    ignored = tuple(terminals[name] for name in loaded.ignore_tokens)
    table = loaded.parser.parser._parse_table
    grammar = with_contexts(table, symbols_of, start, ignored, tuple(terminals.values()), watch)
    return replace(grammar, indentation=indentation, text=text)


def _load(text: str, source: GrammarFile | None, lexer: str) -> Any:
    """What lark's loader reads; no parser is made."""
    from tokamata.patterns.grammars.files.lark_loader import loaded

    return loaded(text, _source_path(source), _imports(source), is_lalr=lexer == "contextual")


def _indentation(loaded: Any, text: str) -> Indentation | None:
    """How a grammar reads indentation.

    As for lark's Indenter, it is what the file declares that counts, and not what its rules use.

    Raises:
        GrammarError: there is no terminal for line breaks.
    """
    declared = {name for name, (tree, _) in loaded.term_defs if tree is None}
    defined = {name for name, (tree, _) in loaded.term_defs if tree is not None}
    return indentation_of(declared, defined, text)


def _refuse_indentation(indentation: Indentation | None, rules: Iterable[Any], text: str, lexer: str) -> None:
    """Raises GrammarError if a rule has blocks, which the lexer cannot tell."""
    if indentation is None:
        return
    names = (indentation.indent, indentation.dedent)
    if any(symbol.name in names for rule in rules for symbol in rule.expansion):
        reason = f"lexer={lexer!r} cannot tell {' and '.join(names)}"
        hint = "choose 'contextual', which is the default for such a grammar, or 'basic' or 'longest'"
        raise GrammarError(text, _position(names[0], text), reason, hint)


def _dialect_with_blocks(text: str) -> GrammarError:
    hint = "docs/grammars.md lists what is beyond lark: write it with rules and terminals"
    reason = "a grammar with indentation must use lark's syntax alone"
    return GrammarError(text, max(text.find("%declare"), 0), reason, hint)


def _compiled(
    loaded: Any, indentation: Indentation | None, file: Translation, text: str, start: str, watch: Watch
) -> tuple[Any, Any, Any]:
    """The terminals, the rules and the names of what is ignored.

    No parser is made: lark's take time cubic in the length of a rule.  Line breaks are read within brackets
    also if no rule has them.
    """
    kept = () if indentation is None else (indentation.newline,)
    with _by_lark(file, text, watch):
        terminals, rules, ignored = loaded.compile([start], "*" if file.uses_dialect else kept)
        empty = []
        for definition in terminals:
            watch.check()
            if definition.pattern.min_width == 0:
                empty.append(definition.name)
    if empty and not file.uses_dialect:
        raise accepts_empty(empty[0], text)
    return terminals, rules, ignored


@contextmanager
def _by_lark(file: Translation, text: str, watch: Watch) -> Iterator[None]:
    """Bounds the work of lark's loader, and turns its errors into those of a grammar."""
    try:
        import lark
    except ImportError as error:
        raise MissingExtraError("lark", "lark", "a grammar with syntax='lark'") from error
    from tokamata.patterns.grammars.files.lark_loader import GroupsTooLarge, TerminalTooLong

    try:
        with bounded(watch):
            yield
    except TokamataError:
        raise
    except TerminalTooLong as error:
        position = _position(error.name, text)
        raise LimitExceeded("memory_bytes", error.bound, text, position, is_fixed=True) from error
    except GroupsTooLarge as error:
        reason = f"lark's LALR parser cannot distribute the groups of {error.rule}: they are too many"
        hint = "let groups be rules of their own, or choose lexer='basic'"
        raise GrammarError(text, _position(error.rule, text), reason, hint) from error
    except lark.exceptions.LarkError as error:
        found = error_of_lark(error, file.text)
        position = min(file.position(found.position), len(text))
        raise GrammarError(text, position, found.reason, found.hint) from error
    except LeadsOut as error:
        reason = f"the grammar {error} cannot be imported: it is a link that leads out of the folder"
        hint = "copy the file into the folder of the grammar that is loaded"
        raise GrammarError(text, max(text.find("%import"), 0), reason, hint) from error
    except OSError as error:
        raise not_imported(text, Path(str(error.filename or error)).name) from error
    except _regex_errors() as error:
        given = error.pattern if isinstance(error.pattern, str) else ""  # type: ignore[attr-defined]
        raise bad_expression(text, given, str(error)) from error
    except RecursionError as error:
        raise GrammarError(text, 0, "groups nest too deep for lark's loader") from error
    except ImportError as error:
        advice = "install it with: pip install regex"
        raise MissingExtraError("regex", "", "a grammar with \\p{…}", advice) from error
    except _FAILURES as error:
        raise not_read(text, error) from error


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


class Trees:
    """Reads texts of a grammar with lark's own parser.

    Args:
        text, source, start: as for :func:`read_lark`.
        lexer: one of lark's.
    """

    def __init__(self, text: str, source: GrammarFile | None, start: str, lexer: str) -> None:
        self._arguments = (text, source, start, lexer)
        self._made: lark.Lark | None = None

    def read(self, text: str, watch: Watch) -> Any:
        """The ``lark.Tree`` of a text, with positions; of several, lark chooses by priorities.

        ``None`` if lark's parser fails.  It does for some texts of grammars in which a rule derives itself.

        Raises:
            ParseError: the text is none of the grammar's.
            LimitExceeded, Cancelled: the reading was stopped.
        """
        import lark
        import lark.indenter

        if self._made is None:
            self._made = self._parser(watch)
        try:
            with bounded(watch):
                return self._made.parse(text)
        except TokamataError:
            raise
        except lark.UnexpectedInput as error:
            end = len(text) if error.pos_in_stream is None else error.pos_in_stream
            place = f"byte {len(text[:end].encode())}"
            raise ParseError(
                place, f"the grammar has no text that goes on with {text[end : end + 20]!r}"
            ) from None
        except (lark.indenter.DedentError, RuntimeError, *_FAILURES) as error:
            if self._made.options.postlex is None:
                return None
            raise ParseError("", f"the lines are not indented as the grammar wants it: {error}") from None

    def _parser(self, watch: Watch) -> lark.Lark:
        text, source, start, lexer = self._arguments
        with _by_lark(Translation(text), text, watch):
            from tokamata.patterns.grammars.files.lark_loader import parser_of
            from tokamata.patterns.grammars.parsing.lark_matching import match_in_linear_time

            loaded = _load(text, source, lexer)
            parser = parser_of(loaded, _indentation(loaded, text), start, lexer)
            match_in_linear_time(parser, watch)
            return parser


def _regex_errors() -> tuple[type[Exception], ...]:
    """The errors of ``re``, and of ``regex``, which lark uses where it is installed."""
    import lark.utils

    module = getattr(lark.utils, "regex", re)
    return re.error, module.error


def _position(reason: str, text: str) -> int:
    """Where a grammar has the name that a message is about: one in quotes, or the last word that it has."""
    names = re.findall(r"'([A-Za-z_][A-Za-z0-9_]*)'", reason)
    for name in [*names, *reversed(re.findall(r"[A-Za-z_][A-Za-z0-9_]*", reason))]:
        if found := re.search(rf"(?<![A-Za-z0-9_]){name}(?![A-Za-z0-9_])", text):
            return found.start()
    return 0


def _terminal(definition: Any, text: str, watch: Watch) -> Terminal:
    given = definition.pattern
    flags = 0
    for flag in given.flags:
        if flag not in _FLAGS:
            reason = f"the flag {flag!r} of the terminal {definition.name} is not supported"
            raise GrammarError(text, _position(definition.name, text), reason)
        flags |= _FLAGS[flag]
    is_text = given.type == "str"
    regex = re.escape(given.value) if is_text else given.value
    refused = None if is_text else group_refused(regex, "x" in given.flags)  # in a file that is imported
    if refused is not None:
        _, reason, hint = refused
        raise GrammarError(
            text, _position(definition.name, text), f"in the terminal {definition.name}, {reason}", hint
        )
    try:
        expression = _core.scope(to_expression(regex, flags, watch=watch))
    except PatternError as error:
        raise wrong_expression(definition.name, regex, text, error) from error
    pattern = Pattern(
        regex, flags, given.value if is_text else None, definition.priority, int(given.max_width)
    )
    texts = (given.value,) if is_text and not flags & re.I else ()
    return Terminal(definition.name, expression, texts, pattern)


def _symbol(symbol: Any, terminals: dict[str, Terminal], text: str) -> Node:
    if not symbol.is_term:
        return Reference(symbol.name)
    if symbol.name not in terminals:
        raise _undefined(symbol.name, text)
    return terminals[symbol.name]


def _undefined(name: str, text: str) -> GrammarError:
    reason = f"the terminal {name} is declared and has no definition"
    hint = f"define it: {name}: /…/"
    if found := re.fullmatch(r"_\w+__(INDENT|DEDENT)", name):  # lark names what is imported with a rule so
        hint = f"import _{found[1]} with the rule that has it: %import … (…, _INDENT, _DEDENT, _NEWLINE)"
    return GrammarError(text, _position(name, text), reason, hint)
