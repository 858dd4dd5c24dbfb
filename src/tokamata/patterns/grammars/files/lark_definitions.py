"""The definitions of a Lark file and of those that it imports, read in linear time.

The syntax tree of a file is made by lark's own parser, its names are lark's.  What takes lark quadratic or
exponential time is replaced: the lexer's expressions for line breaks, how names are looked for in trees, and
how terminals that name others are resolved.  The trees of terminals are shared, as lark has them at first.
"""

# lark's loader has no types.
# mypy: disable-error-code="no-untyped-call"

from __future__ import annotations

import errno
import os
import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import Any

from lark import Token, Tree
from lark.common import LexerConf
from lark.exceptions import GrammarError, UnexpectedCharacters, UnexpectedToken
from lark.grammar import NonTerminal, Symbol, Terminal
from lark.lexer import PatternRE, TerminalDef
from lark.load_grammar import (
    EXT,
    GrammarBuilder,
    PrepareGrammar,
    _get_mangle,
    _get_parser,
    _translate_parser_exception,
    stdlib_loader,
)
from lark.parser_frontends import ParsingFrontend

from tokamata.patterns.grammars.files.lark_steps import ITEMS_OF_TOKEN, Stepping
from tokamata.resources.bounded_steps import step

__all__ = ["Definitions", "subtrees"]

_MOST_DEPTH = 1000  # of groups in each other
_OPENING = ("_LPAR", "_LBRA", "_LBRACE")
_CLOSING = ("_RPAR", "_RBRA", "_RBRACE")

# The same texts as lark's own expressions, which take time quadratic in the length of a run of line breaks.
_LINEAR = {"_NL": r"\r?\n\s*", "_NL_OR": r"\r?\n\s*\|"}


class Definitions(GrammarBuilder):
    """The definitions of a file and of those that it imports.

    Args:
        imports: functions that find imported files, as lark has them.

    Attributes:
        length: of all files that were read.
        has_categories: whether one of them has ``\\p{…}``, which ``re`` lacks.
    """

    def __init__(self, imports: list[Callable[..., Any]]) -> None:
        super().__init__(False, imports)  # type: ignore[arg-type]
        self.length = 0
        self.has_categories = False

    def load_grammar(self, grammar_text: str, grammar_name: str = "<?>", mangle: Any = None) -> None:
        """Adds the definitions of a file."""
        self.length += len(grammar_text)
        self.has_categories |= re.search(r"\\[pP]", grammar_text) is not None
        statements = _parsed(grammar_text, grammar_name).children
        imports: dict[tuple[str, ...], tuple[Any, dict[str, str]]] = {}
        for statement in statements:
            if statement.data == "import":
                path, base, aliases = self._unpack_import(statement, grammar_name)
                known_base, known = imports.setdefault(path, (base, {}))
                if known_base != base:
                    raise GrammarError(f"Inconsistent import of {'.'.join(path)}")
                known.update(aliases)
        for path, (base, aliases) in imports.items():
            self.do_import(path, base, aliases, mangle)
        for statement in statements:
            step()
            self._add(statement, mangle)
        _resolve({name: found.tree for name, found in self._definitions.items() if found.is_term})

    def _add(self, statement: Any, mangle: Any) -> None:
        kind = statement.data
        if kind in ("rule", "term"):
            self._define(*self._unpack_definition(statement, mangle))
        elif kind == "override":
            self._define(*self._unpack_definition(statement.children[0], mangle), override=True)
        elif kind == "extend":
            self._extend(*self._unpack_definition(statement.children[0], mangle))
        elif kind == "declare":
            for symbol in statement.children:
                name = symbol.name if mangle is None else mangle(symbol.name)
                self._define(name, isinstance(symbol, Terminal), None)
        elif kind == "ignore" and mangle is None:  # what an imported file ignores does not count
            self._ignore(*statement.children)

    def do_import(
        self, dotted_path: tuple[str, ...], base_path: Any, aliases: dict[str, str], base_mangle: Any = None
    ) -> None:
        """Adds those definitions of another file that are imported, and what they need."""
        step()
        mangle = _get_mangle("__".join(dotted_path), aliases, base_mangle)
        name = os.path.join(*dotted_path) + EXT
        path, text = self._found(base_path, name)
        other = Definitions(self.import_paths)  # type: ignore[arg-type]
        other.load_grammar(text, path, mangle)
        other._keep(map(mangle, aliases))
        for defined in other._definitions:
            if defined in self._definitions:
                raise GrammarError(f"Cannot import '{defined}' from '{name}': Symbol already defined.")
        self._definitions.update(other._definitions)
        self.length += other.length
        self.has_categories |= other.has_categories

    def _found(self, base: Any, name: str) -> tuple[Any, str]:
        for source in (*self.import_paths, stdlib_loader):
            try:
                return source(base, name)  # type: ignore[operator]
            except OSError:
                continue
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), name)

    def _keep(self, names: Iterable[str]) -> None:
        """Forgets what is not among some names, and not used by the rules of these."""
        kept: set[str] = set()
        waiting = list(names)
        while waiting:
            name = waiting.pop()
            if name in kept:
                continue
            kept.add(name)
            found = self._definitions.get(name)
            if found is not None and not found.is_term:
                waiting += _names(found.tree) - set(found.params)
        self._definitions = {name: found for name, found in self._definitions.items() if name in kept}

    def validate(self) -> None:
        """Raises lark's GrammarError for names that are used and not defined."""
        for name, found in self._definitions.items():
            step()
            self._check_parameters(name, found.params)
            if found.tree is None or found.is_term:  # no terminal has names any more
                continue
            for tree in subtrees(found.tree):
                if tree.data == "template_usage":
                    self._check_template(name, found, *tree.children)
            for symbol in _names(found.tree):
                if symbol not in self._definitions and symbol not in found.params:
                    message = "{Type} '{name}' used but not defined (in {type2} {name2})"
                    self._grammar_error(found.is_term, message, symbol, name)
        if missing := set(self._ignore_names) - set(self._definitions):
            raise GrammarError(f"Terminals {missing} were marked to ignore but were not defined!")

    def _check_parameters(self, name: str, parameters: tuple[str, ...]) -> None:
        for parameter in parameters:
            if parameter in self._definitions:
                raise GrammarError(f"Template Parameter conflicts with rule {parameter} (in template {name})")
        if len(set(parameters)) < len(parameters):
            twice = next(found for found in parameters if parameters.count(found) > 1)
            raise GrammarError(f"Duplicate Template Parameter {twice} (in template {name})")

    def _check_template(self, name: str, user: Any, template: Any, *given: Any) -> None:
        if template.name in user.params:
            return
        if template.name not in self._definitions:
            message = f"Template '{template.name}' used but not defined (in {{type}} {{name}})"
            self._grammar_error(user.is_term, message, name)
        expected = len(self._definitions[template.name].params)
        if len(given) != expected:
            message = (
                "Wrong number of template arguments used for {name} "
                f"(expected {expected}, got {len(given)}) (in {{type2}} {{name2}})"
            )
            self._grammar_error(user.is_term, message, template.name, name)


@cache
def _file_parser() -> ParsingFrontend:
    """lark's parser of grammar files, with a lexer that is linear."""
    parser = _get_parser()
    conf = parser.lexer_conf
    terminals = [
        TerminalDef(found.name, PatternRE(_LINEAR.get(found.name, found.pattern.value)))
        for found in conf.terminals
    ]
    linear = LexerConf(terminals, conf.re_module, ignore=conf.ignore)
    linear.lexer_type = "basic"
    return ParsingFrontend(linear, parser.parser_conf, None, parser=parser.parser)


def _parsed(text: str, name: str) -> Tree[Any]:
    """The syntax tree of a file."""
    reader = _file_parser().parse_interactive(text + "\n", "start")
    token: Token | None = None
    depth = 0
    try:
        for token in reader.iter_parse():
            step(ITEMS_OF_TOKEN)
            depth += (token.type in _OPENING) - (token.type in _CLOSING)
            if depth > _MOST_DEPTH:
                raise RecursionError
        tree = reader.feed_eof(token)
    except UnexpectedCharacters as error:
        where = f"at line {error.line} column {error.column} in {name}"
        raise GrammarError(f"Unexpected input {where}: \n\n{error.get_context(text)}") from None
    except UnexpectedToken as error:
        error.interactive_parser = reader
        known = _translate_parser_exception(_get_parser().parse, error)
        if not known:
            raise
        where = f"at line {error.line} column {error.column}"
        raise GrammarError(f"{known}, {where}\n\n{error.get_context(text)}") from None
    return _Prepared().transform(tree)  # type: ignore[no-any-return]


class _Prepared(Stepping, PrepareGrammar):
    pass


def subtrees(root: Any, seen: set[int] | None = None) -> Iterator[Tree[Any]]:
    """The trees in a tree once, each after those in it; ``seen`` are those that are left out."""
    seen = set() if seen is None else seen
    waiting: list[tuple[Any, bool]] = [(root, False)]
    while waiting:
        tree, is_done = waiting.pop()
        if is_done:
            step()
            yield tree
        elif id(tree) not in seen:
            seen.add(id(tree))
            waiting.append((tree, True))
            waiting += [(child, False) for child in reversed(tree.children) if isinstance(child, Tree)]


def _names(root: Any) -> set[str]:
    """The names of all symbols in the body of a rule, without those after ``->``."""
    found: set[str] = set()
    waiting = [(root, False)]
    while waiting:
        step()
        tree, is_inside = waiting.pop()
        is_inside = is_inside or tree.data == "expansion"
        for child in tree.children:
            if isinstance(child, Tree):
                waiting.append((child, is_inside))
            elif is_inside and isinstance(child, Symbol):
                found.add(child.name)
    return found


def _resolve(trees: dict[str, Any]) -> None:
    """Puts the trees of terminals in place of their names; they are shared.

    Raises:
        GrammarError: of lark; a terminal names a rule, itself, or what is not defined.
    """
    places: list[tuple[Any, Any]] = []  # where a name stands, and the tree that it stands for
    named: dict[str, list[str]] = {}  # in each terminal
    seen: set[int] = set()
    for name, root in trees.items():
        named[name] = []
        for tree in () if root is None else subtrees(root, seen):
            if tree.data == "template_usage":
                raise ValueError(f"the terminal {name} uses a template")
            item = tree.children[0] if tree.data == "value" else None
            if isinstance(item, NonTerminal):
                raise GrammarError(f"Rules aren't allowed inside terminals ({item} in {name})")
            if isinstance(item, Terminal):
                if item.name not in trees:
                    raise GrammarError(f"Terminal used but not defined: {item.name}")
                if trees[item.name] is None:
                    raise ValueError(f"the terminal {item.name} is declared and has no definition")
                places.append((tree, trees[item.name]))
                named[name].append(item.name)
    _refuse_cycles(named)
    for tree, value in places:
        tree.children[0] = value


def _refuse_cycles(named: dict[str, list[str]]) -> None:
    states: dict[str, bool] = {}  # whether a terminal is done
    waiting = [(name, False) for name in reversed(named)]
    while waiting:
        name, is_done = waiting.pop()
        if is_done:
            states[name] = True
        elif name not in states:
            states[name] = False
            waiting.append((name, True))
            waiting += [(other, False) for other in named[name]]
        elif not states[name]:  # it is being entered from itself
            raise GrammarError(
                f"Recursion in terminal '{name}' (recursion is only allowed in rules, not terminals)"
            )
