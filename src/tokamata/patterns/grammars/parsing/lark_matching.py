"""lark's lexers with matches in linear time.

``re`` may take exponential time for some terminals (:mod:`.linear_matching`).  lark calls it in three places:
at each position of a dynamic lexer; in the scanner of the others, which tries all terminals as alternatives
of one expression; and where these find the texts that an expression matches.
"""

from __future__ import annotations

import re
from functools import partial
from typing import Any

from lark import Lark

from tokamata.patterns.grammars.lexer.linear_matching import LinearPattern
from tokamata.resources.limits import Watch

__all__ = ["match_in_linear_time"]

_Patterns = dict[str, LinearPattern]  # by terminal


def match_in_linear_time(parser: Lark, watch: Watch) -> None:
    """Makes a parser of lark use these matches for terminals that are not deterministic."""
    patterns: _Patterns = {}
    for terminal in parser.terminals:
        if terminal.pattern.type == "re":
            flags = sum(getattr(re, flag.upper()) for flag in set(terminal.pattern.flags))
            pattern = LinearPattern(terminal.name, terminal.pattern.value, flags, watch)
            if not pattern.is_deterministic():
                patterns[terminal.name] = pattern
    if not patterns:
        return
    if parser.options.lexer == "dynamic":
        earley = parser.parser.parser
        earley.term_matcher = partial(_matched, patterns, earley.term_matcher)
        return
    lexer: Any = parser.parser.lexer
    lexer = getattr(lexer, "lexer", lexer)  # that of an Indenter
    lexers = {lexer} if parser.options.lexer == "basic" else {*lexer.lexers.values(), lexer.root_lexer}
    for basic in lexers:
        if any(terminal.name in patterns for terminal in basic.terminals):
            basic._build_scanner = partial(_scanner, basic, basic._build_scanner, patterns)
            basic.re = _Matching(basic, patterns)


def _matched(patterns: _Patterns, others: Any, terminal: Any, text: str, at: int = 0) -> Any:
    pattern = patterns.get(terminal.name)
    return others(terminal, text, at) if pattern is None else pattern.match(text, at)


def _scanner(lexer: Any, build: Any, patterns: _Patterns) -> Any:
    """The scanner of a lexer, which tries its terminals one by one."""
    scanner = build() or lexer._scanner
    scanner._mres = [
        patterns.get(terminal.name)
        or lexer.re.compile(f"(?P<{terminal.name}>{terminal.pattern.to_regexp()})", lexer.g_regex_flags)
        for terminal in scanner.terminals
    ]
    return scanner


class _Matching:
    """The module ``re``, as a lexer has it, that matches some expressions in linear time."""

    def __init__(self, lexer: Any, patterns: _Patterns) -> None:
        self._re = lexer.re
        self._patterns = {
            terminal.pattern.to_regexp(): patterns[terminal.name]
            for terminal in lexer.terminals
            if terminal.name in patterns
        }

    def __getattr__(self, name: str) -> Any:
        return getattr(self._re, name)

    def match(self, regex: str, text: str, flags: int) -> Any:
        """As ``re.match``."""
        pattern = self._patterns.get(regex)
        return self._re.match(regex, text, flags) if pattern is None else pattern.match(text)
