"""Context-free grammars as expressions of the engine.

A front end (:mod:`.files`) reads a text into rules (:mod:`.rules.rule_trees`).  If the grammar has a lexer,
:mod:`.lexer.lexed` makes what it does part of the rules.  :mod:`.rules.lowering` turns them into rules that
the engine can read, and :mod:`.kept_rules` keeps those on disk that take long to find; :mod:`.stages` has
the results of all of these.  :mod:`.parsing` finds the derivation of a text.  :mod:`.diagnosis` says whether
a parser would always know what comes next, and why a grammar has no texts; it is imported when it is needed.
docs/grammars.md defines what a grammar denotes.
"""

from __future__ import annotations

from tokamata.patterns.grammars.diagnosis.answers import Derivation, Determinism
from tokamata.patterns.grammars.files.gbnf import read_gbnf
from tokamata.patterns.grammars.files.grammar_files import GrammarFile
from tokamata.patterns.grammars.files.lark_files import LarkFile, read_lark
from tokamata.patterns.grammars.files.mistakes import explained
from tokamata.patterns.grammars.lexer.competition import LexerName
from tokamata.patterns.grammars.lexer.indentation import declares_indentation
from tokamata.patterns.grammars.lexer.lexed import without_lexer
from tokamata.patterns.grammars.lexer.widths import WIDEST
from tokamata.patterns.grammars.parsing.lark_parser import LarkParser
from tokamata.patterns.grammars.rules.lowering import lower_grammar
from tokamata.patterns.grammars.stages import Source, Stages, stages_of

__all__ = [
    "WIDEST", "Derivation", "Determinism", "GrammarFile", "LarkFile", "LarkParser", "LexerName", "Source",
    "Stages", "declares_indentation", "explained", "lower_grammar", "read_gbnf", "read_lark",
    "stages_of", "without_lexer",
]  # fmt: skip
