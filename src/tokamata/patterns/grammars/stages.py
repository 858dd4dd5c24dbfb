"""The stages of a grammar, from its source to the engine.

    source ──files──▶ written ──lexer──▶ lexed ──rules.lowering──▶ lowered

A mask needs the last stage alone.  Reports, explanations and the push-down automaton ask for those before it,
which are found when they are first needed; the source is loaded once for all of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import tokamata._core as _core
from tokamata.patterns.grammars.files.grammar_files import GrammarFile
from tokamata.patterns.grammars.kept_rules import engine_rules
from tokamata.patterns.grammars.lexer.competition import LexerName
from tokamata.patterns.grammars.rules.lowering import lower_grammar
from tokamata.patterns.grammars.rules.rule_trees import Grammar
from tokamata.resources.later import Later
from tokamata.resources.limits import Watch

__all__ = ["Source", "Stages", "stages_of"]


@dataclass(frozen=True)
class Source:
    """Where a grammar comes from, and how it is read.

    Attributes:
        name: for messages.
        text: its content; ``""`` for rules made in Python.
        file: with its imports; ``None``: it has no file.
        start: the name of the rule that a text is of.
        lexer: how terminals are distinguished; ``"characters"``: there is no lexer.
    """

    name: str
    text: str
    file: GrammarFile | None
    start: str
    lexer: str


@dataclass(frozen=True)
class Stages:
    """A grammar at each of its stages.

    Attributes:
        source: where it comes from.
        written: its rules as the source has them.
        lexed: the rules that the lexer has become part of; without a lexer those as written.
        lowered: its texts, as the engine has them.
    """

    source: Source
    written: Later[Grammar]
    lexed: Later[Grammar]
    lowered: _core.Expression


def stages_of(source: Source, rules: Grammar, written: Later[Grammar], watch: Watch) -> Stages:
    """The stages of a grammar that was read.

    Args:
        source: where it comes from.
        rules: those that the lexer becomes part of: as written, or as an LALR parser has them.
        written: its rules as the source has them.
        watch: stops the work.

    Raises: as :func:`.without_lexer` and :func:`.lower_grammar`.
    """
    if source.lexer == "characters":
        return Stages(source, written, Later.found(rules), lower_grammar(rules, watch))
    engine = engine_rules(rules, cast(LexerName, source.lexer), watch)
    return Stages(source, written, engine.grammar, engine.expression)
