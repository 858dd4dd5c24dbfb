"""Context-free grammars as expressions of the engine.

A front end (:mod:`.gbnf`, :mod:`.lark_files`) reads a text into the rules of :mod:`.syntax`.  If the grammar
has a lexer, :mod:`.lexed` makes what it does part of the rules.  :mod:`.lowering` turns them into rules that
the engine can read.  :mod:`.determinism` says whether a parser would always know what comes next.
docs/grammars.md defines what a grammar denotes.
"""

from __future__ import annotations

from tokamata.patterns.grammars.competition import LexerName
from tokamata.patterns.grammars.derivations import Derivation
from tokamata.patterns.grammars.determinism import Determinism, diagnosed
from tokamata.patterns.grammars.gbnf import read_gbnf
from tokamata.patterns.grammars.grammar_files import GrammarFile
from tokamata.patterns.grammars.indentation import declares_indentation
from tokamata.patterns.grammars.kept_rules import EngineRules, engine_rules
from tokamata.patterns.grammars.lark_files import LarkFile, Trees, read_lark
from tokamata.patterns.grammars.lark_trees import TreeShapes
from tokamata.patterns.grammars.lexed import without_lexer
from tokamata.patterns.grammars.lowering import lower_grammar
from tokamata.patterns.grammars.misreading import misread
from tokamata.patterns.grammars.mistakes import explained
from tokamata.patterns.grammars.unproductive import rules_without_texts
from tokamata.patterns.grammars.views import with_ignored
from tokamata.patterns.grammars.widths import WIDEST

__all__ = [
    "WIDEST", "Derivation", "Determinism", "EngineRules", "GrammarFile", "LarkFile", "LexerName",
    "TreeShapes", "Trees", "declares_indentation", "diagnosed", "engine_rules", "explained",
    "lower_grammar", "misread", "read_gbnf", "read_lark", "rules_without_texts", "with_ignored",
    "without_lexer",
]  # fmt: skip
