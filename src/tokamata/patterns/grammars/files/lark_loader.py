"""lark's loader of grammar files, with bounded work.

lark's own loader knows no limits, and takes exponential time for some files of one line
(:mod:`.lark_rules`).  This one gives the same terminals and rules where lark's can load a file in reasonable
time.  A terminal that others name is compiled once and shared; the length of its regular expression is
bounded.  Every loop makes steps, also those of the parsers that lark makes of the rules (:mod:`.lark_steps`).

Source: ``lark.load_grammar``, version 1.3.
Rejected: to run lark's loader in a thread or a process, which limits could not stop or would have to kill.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from typing import Any

from lark import Lark, Tree
from lark.exceptions import GrammarError
from lark.indenter import PythonIndenter
from lark.lexer import TerminalDef
from lark.load_grammar import Grammar, PrepareLiterals, TerminalTreeToPattern

from tokamata.patterns.grammars.files.lark_definitions import Definitions, subtrees
from tokamata.patterns.grammars.files.lark_rules import Rules
from tokamata.patterns.grammars.files.lark_steps import CountedTerminal, with_steps
from tokamata.patterns.grammars.rules.rule_trees import Indentation
from tokamata.resources.bounded_steps import BYTES_OF_ITEM, step

__all__ = ["GroupsTooLarge", "LoadedGrammar", "TerminalTooLong", "loaded", "parser_of"]

_MOST_SYMBOLS = 20_000  # that the groups of one sequence are distributed to
_MOST_SYMBOLS_OF_LALR = 200_000  # in all rules, where lark makes tables
_LONGEST_TERMINAL = 1 << 18  # characters, besides four for each of the file


class TerminalTooLong(Exception):
    """The regular expression of a terminal would have too many characters.

    Attributes:
        name: of the terminal.
        bound: how many it may have.
    """

    def __init__(self, name: str, bound: int) -> None:
        super().__init__(name, bound)
        self.name = name
        self.bound = bound


class GroupsTooLarge(Exception):
    """The groups of a rule have too many symbols to be distributed, as an LALR parser needs it.

    Attributes:
        rule: its name.
    """

    def __init__(self, rule: str) -> None:
        super().__init__(rule)
        self.rule = rule


def loaded(text: str, source: str, imports: list[Callable[..., Any]]) -> LoadedGrammar:
    """The grammar of a file; to be called, and compiled any number of times, within :func:`.bounded`.

    Args:
        text: its content.
        source: the path that its imports are relative to.
        imports: functions that find imported files, as lark has them.

    Raises:
        lark.exceptions.LarkError: of lark; the file is no grammar.
        LimitExceeded, Cancelled: the reading was stopped.
    """
    definitions = Definitions(imports)
    definitions.load_grammar(text, source)
    return LoadedGrammar(definitions)


def parser_of(grammar: LoadedGrammar, indentation: Indentation | None, start: str, lexer: Any) -> Lark:
    """lark's parser of a grammar, whose loops make steps."""
    is_lalr = lexer == "contextual"
    parser = Lark(
        grammar.for_lalr() if is_lalr else grammar,
        parser="lalr" if is_lalr else "earley",
        lexer=lexer,
        start=start,
        postlex=None if indentation is None or lexer == "dynamic" else _indenter(indentation),
        propagate_positions=True,
        regex=grammar.has_categories,
    )
    return with_steps(parser)


def _indenter(indentation: Indentation) -> Any:
    """What lark needs to read indentation."""
    return type("Indenter", (PythonIndenter,), {"NL_type": indentation.newline})()


class LoadedGrammar(Grammar):
    """The definitions of a grammar, which lark's parsers and this package compile.

    Attributes:
        has_categories: whether a file of it has ``\\p{…}``, which ``re`` lacks.
    """

    def __init__(self, definitions: Definitions) -> None:
        plain = definitions.build()
        super().__init__(plain.rule_defs, plain.term_defs, plain.ignore)
        self.has_categories = definitions.has_categories
        self._longest = _LONGEST_TERMINAL + 4 * definitions.length
        self._is_lalr = False

    def for_lalr(self) -> LoadedGrammar:
        """The same, of which an LALR parser is made: no group may become a rule."""
        twin = copy(self)
        twin._is_lalr = True
        return twin

    def compile(self, start: list[str], terminals_to_keep: Any) -> tuple[Any, Any, Any]:
        """The terminals, the rules, and the names of what is ignored.

        Raises:
            TerminalTooLong, GroupsTooLarge: as they say.
        """
        patterns = _Patterns(self._longest)
        terminals = [
            TerminalDef(name, patterns.of(name, tree), priority)
            for name, (tree, priority) in self.term_defs
            if tree is not None
        ]
        most_symbols = _MOST_SYMBOLS_OF_LALR if self._is_lalr else _MOST_SYMBOLS
        rules = Rules(self, terminals, start, most_symbols)
        if self._is_lalr and rules.grouped:
            raise GroupsTooLarge(rules.grouped)
        if terminals_to_keep != "*":
            used = {symbol.name for rule in rules.used for symbol in rule.expansion if symbol.is_term}
            used |= {*self.ignore, *terminals_to_keep}
            terminals = [terminal for terminal in terminals if terminal.name in used]
        length = sum(len(terminal.pattern.value) for terminal in terminals)
        if length > self._longest:
            raise TerminalTooLong(
                max(terminals, key=lambda found: len(found.pattern.value)).name, self._longest
            )
        made = [CountedTerminal(terminal.name, terminal.pattern, terminal.priority) for terminal in terminals]
        return made, rules.used, self.ignore


class _Patterns:
    """The regular expressions of terminals, which share trees.

    Args:
        longest: how many characters the expression of a terminal may have.
    """

    def __init__(self, longest: int) -> None:
        self._longest = longest
        self._literals = PrepareLiterals()
        self._joiner = TerminalTreeToPattern()
        self._made: dict[int, Any] = {}  # by tree: a pattern, or what lark has in place of one
        self._seen: set[int] = set()  # its keys

    def of(self, name: str, root: Any) -> Any:
        """The pattern of a terminal."""
        first = root.children[0]
        if len(root.children) == 1 and first.data == "expansion" and not first.children:
            raise GrammarError(f"Terminals cannot be empty ({name})")
        for tree in subtrees(root, self._seen):
            parts = [self._made[id(child)] if isinstance(child, Tree) else child for child in tree.children]
            length = sum(len(part.value) for part in parts if not isinstance(part, str))
            if length > self._longest:
                raise TerminalTooLong(name, self._longest)
            step(length // BYTES_OF_ITEM)
            self._made[id(tree)] = self._pattern(tree.data, parts)
        return self._made[id(root)]

    def _pattern(self, kind: str, parts: list[Any]) -> Any:
        if kind in ("literal", "range"):
            return getattr(self._literals, kind)(*parts).children[0]
        return getattr(self._joiner, kind)(parts)
