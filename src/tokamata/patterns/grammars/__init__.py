"""Context-free grammars as expressions of the engine.

A front end (:mod:`.gbnf`) reads a text into the rules of :mod:`.syntax`; :mod:`.lowering` turns them into
rules that the engine can read.  docs/grammars.md defines what a grammar denotes.
"""

from __future__ import annotations

from tokamata.patterns.grammars.gbnf import read_gbnf
from tokamata.patterns.grammars.lowering import lower_grammar

__all__ = ["lower_grammar", "read_gbnf"]
