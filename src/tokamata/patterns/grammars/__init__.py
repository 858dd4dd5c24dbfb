"""Context-free grammars as expressions of the engine.

A front end (:mod:`.files`) reads a text into rules (:mod:`.rules.rule_trees`).  If the grammar has a lexer,
:mod:`.lexer.lexed` makes what it does part of the rules.  :mod:`.rules.lowering` turns them into rules that
the engine can read, and :mod:`.kept_rules` keeps those on disk that take long to find.  :mod:`.parsing` finds
the derivation of a text.  :mod:`.diagnosis` says whether a parser would always know what comes next, and why
a grammar has no texts; it is imported when it is needed.  docs/grammars.md defines what a grammar denotes.
"""

from __future__ import annotations

from tokamata.patterns.grammars.diagnosis.answers import Derivation, Determinism
from tokamata.patterns.grammars.files.gbnf import read_gbnf
from tokamata.patterns.grammars.files.grammar_files import GrammarFile
from tokamata.patterns.grammars.files.lark_files import LarkFile, Trees, read_lark
from tokamata.patterns.grammars.files.mistakes import explained
from tokamata.patterns.grammars.kept_rules import EngineRules, engine_rules
from tokamata.patterns.grammars.lexer.competition import LexerName
from tokamata.patterns.grammars.lexer.indentation import declares_indentation
from tokamata.patterns.grammars.lexer.lexed import without_lexer
from tokamata.patterns.grammars.lexer.widths import WIDEST
from tokamata.patterns.grammars.parsing.lark_trees import TreeShapes
from tokamata.patterns.grammars.rules.lowering import lower_grammar

__all__ = [
    "WIDEST", "Derivation", "Determinism", "EngineRules", "GrammarFile", "LarkFile", "LexerName",
    "TreeShapes", "Trees", "declares_indentation", "engine_rules", "explained", "lower_grammar",
    "read_gbnf", "read_lark", "without_lexer",
]  # fmt: skip
