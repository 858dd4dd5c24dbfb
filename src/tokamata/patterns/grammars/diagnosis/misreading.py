"""What a lexer reads in place of what the rules of a grammar need: for grammars that it leaves without texts.

Worked example.  ``start: X Y`` with ``X: /ab*/`` and ``Y: /b/``.  Without a lexer, the shortest text is
``ab``, an ``X`` and a ``Y``.  Under ``"longest"``, the lexer reads all of ``ab`` as ``X``::

    the rules alone accept "ab", but the lexer reads "ab" as X where they need "a" as X

Method.  A shortest text of the rules, with its terminals, is read from the left by a lexer of some lines over
``re``.  The first difference is the answer.  There is none for a contextual lexer, which asks a parser, and
for a grammar with blocks, embedded texts or operators on terminals, which ``re`` alone does not read.

Cost.  That of spelling out the grammar over its characters (:mod:`.spelled_terminals`), within the limits.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import cast

from tokamata.errors import EmptyConstraintError, LimitExceeded
from tokamata.patterns.grammars.diagnosis.ambiguous_texts import Tree, shortest_tree
from tokamata.patterns.grammars.diagnosis.named_derivations import Naming
from tokamata.patterns.grammars.diagnosis.symbols import Characters
from tokamata.patterns.grammars.lexer.competition import LexerName, in_order, pattern_of
from tokamata.patterns.grammars.rules import rule_trees as trees
from tokamata.patterns.grammars.rules.productions import WorkAccount
from tokamata.resources.limits import CancelToken, Limits

__all__ = ["misread"]

_LONGEST_TEXT = 1_000  # that is read


def misread(grammar: trees.Grammar, lexer: str, limits: Limits, cancel: CancelToken | None) -> str:
    """What a lexer reads first that the rules do not need, in words; ``""`` if it is not found.

    Args:
        grammar: one with a lexer, as its file has it.
        lexer: how its terminals are distinguished.
        limits, cancel: bound the search; at a limit there is no answer.

    Raises:
        Cancelled: the search was stopped.
    """
    nodes = trees.children_first(grammar.rules.values())
    is_plain = all(pattern.automaton is None for pattern in map(pattern_of, grammar.terminals))
    if lexer == "contextual" or grammar.indentation is not None or not is_plain:
        return ""
    if any(isinstance(node, trees.Embedded) for node in nodes):
        return ""
    try:
        parts = _parts_of_a_shortest_text(grammar, limits, cancel)
        return _first_difference(parts, grammar, cast(LexerName, lexer))
    except (EmptyConstraintError, LimitExceeded, re.error):  # no text at all; too large; \p{…}
        return ""


def _parts_of_a_shortest_text(
    grammar: trees.Grammar, limits: Limits, cancel: CancelToken | None
) -> list[tuple[str, str]]:
    """The names and the texts of the terminals of a shortest text, without a lexer."""
    view = Characters(grammar, "characters", limits, cancel, WorkAccount(limits, cancel))
    productions = view.productions("left")
    root = Tree(~0)
    shortest_tree(productions, root)
    texts = view.texts(root.leaves()) or []
    naming = Naming(productions, (), (), False, True)
    return [(part.name, part.text) for part in naming.terminals(root, texts)]


def _first_difference(parts: list[tuple[str, str]], grammar: trees.Grammar, lexer: LexerName) -> str:
    text = "".join(part for _, part in parts)
    if len(text) > _LONGEST_TEXT:
        return ""
    terminals = in_order(lexer, grammar.terminals)
    shown = {terminal.name: terminal.shown(grammar.words) for terminal in terminals}
    at = 0
    for name, part in parts:
        if lexer == "dynamic":  # the rules choose the terminal
            read = _preferred([one for one in terminals if one.name == name], text, at)
        elif lexer == "basic":
            read = _by_basic(terminals, text, at)
        else:
            read = _by_longest(terminals, text, at)
        if read != (name, part):
            found = "nothing" if read is None else f"{trees.quoted(read[1])} as {shown[read[0]]}"
            return (
                f"the rules alone accept {trees.quoted(text)}, but the lexer reads {found} "
                f"where they need {trees.quoted(part)} as {shown[name]}"
            )
        at += len(part)
    return ""


def _preferred(terminals: Iterable[trees.Terminal], text: str, at: int) -> tuple[str, str] | None:
    """The first terminal that ``re.match`` finds, with the text that it prefers."""
    for terminal in terminals:
        pattern = pattern_of(terminal)
        found = re.compile(pattern.regex, pattern.flags).match(text, at)
        if found is not None and found.end() > at:
            return terminal.name, found.group()
    return None


def _by_basic(terminals: Sequence[trees.Terminal], text: str, at: int) -> tuple[str, str] | None:
    """What lark's basic lexer reads: texts that an expression matches whole get their own name afterwards."""
    texts = [terminal for terminal in terminals if pattern_of(terminal).text is not None]
    owners = {
        one.name: [other for other in terminals if _matches_whole(pattern_of(other), pattern_of(one))]
        for one in texts
    }
    tried = [
        terminal
        for terminal in terminals
        if not any(
            pattern_of(terminal).flags & ~pattern_of(owner).flags == 0
            for owner in owners.get(terminal.name, ())
        )
    ]
    read = _preferred(tried, text, at)
    if read is None:
        return None
    for one in texts:
        is_owned = any(owner.name == read[0] for owner in owners[one.name])
        if is_owned and re.fullmatch(pattern_of(one).regex, read[1], pattern_of(one).flags):
            return one.name, read[1]
    return read


def _matches_whole(pattern: trees.Pattern, text: trees.Pattern) -> bool:
    """Whether an expression of the same priority matches a text whole."""
    if pattern.text is not None or pattern.priority != text.priority or text.text is None:
        return False
    found = re.compile(pattern.regex, pattern.flags).match(text.text)
    return found is not None and found.group() == text.text


def _by_longest(terminals: Sequence[trees.Terminal], text: str, at: int) -> tuple[str, str] | None:
    """The longest text of any terminal; of several terminals, the first in order."""
    found: tuple[str, str] | None = None
    for terminal in terminals:
        pattern = pattern_of(terminal)
        regex = re.compile(pattern.regex, pattern.flags)
        if re.search(r"[*+?}]\?", pattern.regex):  # lazy
            match = regex.match(text, at)
        else:
            ends = range(len(text), at, -1)
            match = next((one for end in ends if (one := regex.fullmatch(text, at, end))), None)
        if match is not None and len(match.group()) > (len(found[1]) if found else 0):
            found = terminal.name, match.group()
    return found
