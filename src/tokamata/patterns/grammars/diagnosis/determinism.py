"""Whether a parser of a grammar always knows what comes next, and a witness where it does not.

:func:`diagnosed` asks, in this order: whether the grammar is deterministic from the top down
(:mod:`.top_down`); whether it is LR(1) (:mod:`.lr`); whether some text has two derivations
(:mod:`.ambiguous_texts`); and if none is found, where LR(1) fails.

*As written.*  Groups, optional parts and repetitions are rules of their own.  lark's loader writes a
repetition as a rule whose name begins with ``__``, and distributes groups and optional parts over the
alternatives around them.
"""

from __future__ import annotations

import itertools
from typing import Literal

from tokamata.calls.arguments import clipped
from tokamata.errors import LimitExceeded
from tokamata.patterns.grammars.diagnosis.ambiguous_texts import ambiguous_trees
from tokamata.patterns.grammars.diagnosis.answers import Determinism
from tokamata.patterns.grammars.diagnosis.lr import Action, Automaton
from tokamata.patterns.grammars.diagnosis.named_derivations import Naming
from tokamata.patterns.grammars.diagnosis.symbols import Characters, Terminals, View
from tokamata.patterns.grammars.diagnosis.top_down import is_top_down
from tokamata.patterns.grammars.rules.productions import Productions, WorkAccount
from tokamata.patterns.grammars.rules.rule_trees import Embedded, Grammar, children_first
from tokamata.resources.limits import CancelToken, Limits

__all__ = ["diagnosed"]

_OVER_TERMINALS = ("basic", "contextual", "longest")
_MOST_PAIRS = 100_000  # of derivations, in the search for an ambiguous text: a second or two
_MOST_REFUSED = 20  # ambiguous sequences of terminals that the lexer reads in no text


def diagnosed(grammar: Grammar, lexer: str, limits: Limits | None, cancel: CancelToken | None) -> Determinism:
    """Whether a parser of a grammar always knows what comes next.

    Args:
        grammar: the grammar.
        lexer: how its terminals are distinguished.
        limits: bound the work; at one of them, the answer is ``"unknown"``.
        cancel: stops the work.

    Raises:
        EmptyConstraintError: the grammar has no text.
        Cancelled: the work was stopped.
    """
    account = WorkAccount(limits, cancel)
    for node in children_first(grammar.rules.values()):
        if isinstance(node, Embedded) and (not node.is_regular or lexer in _OVER_TERMINALS):
            symbols: Literal["characters", "terminals"]
            symbols = "terminals" if lexer in _OVER_TERMINALS else "characters"
            return Determinism("unknown", symbols, reason=f"{clipped(node.name)} is not read by the lexer")
    view: View
    if lexer in _OVER_TERMINALS:
        view = Terminals(grammar, lexer, limits, cancel, account)
    else:
        view = Characters(grammar, lexer, limits, cancel, account)
    try:
        return _diagnosed(view, account, grammar.indentation is not None)
    except LimitExceeded as error:
        reason = f"the limit {error.limit}={error.bound:.12g} was reached before an answer"
        return Determinism("unknown", view.symbols, reason=reason)


def _diagnosed(view: View, account: WorkAccount, has_blocks: bool) -> Determinism:
    if is_top_down(view.productions("right"), account):
        return Determinism("top-down", view.symbols)
    productions = view.productions("left")
    automaton = Automaton(productions, account)
    if not automaton.has_conflict():
        return Determinism("LR(1)", view.symbols)
    if has_blocks:
        reason = "it is not LR(1), and texts with blocks are not searched for an ambiguous one"
        return Determinism("unknown", view.symbols, reason=reason)
    return _ambiguous(view, productions, account) or _conflicting(view, productions, automaton)


def _ambiguous(view: View, productions: Productions, account: WorkAccount) -> Determinism | None:
    naming = view.naming(productions)
    found = ambiguous_trees(productions, account, _MOST_PAIRS)
    for first, second in itertools.islice(found, _MOST_REFUSED):
        texts = view.texts(first.leaves())
        if texts is not None:
            derivations = (naming.named(first, texts), naming.named(second, texts))
            if str(derivations[0]) != str(derivations[1]):  # not by what a lexer knows alone
                text = "".join(texts)
                return Determinism("ambiguous", view.symbols, texts=(text,), derivations=derivations)
    return None


def _conflicting(view: View, productions: Productions, automaton: Automaton) -> Determinism:
    found = automaton.conflict()
    naming = view.naming(productions)
    texts = [
        "".join(parts)
        for action in found.actions
        if (parts := view.texts(found.prefix + action.continuation)) is not None
    ]
    return Determinism(
        "conflict",
        view.symbols,
        prefix=view.shown(found.prefix),
        actions=tuple(_described(action, naming) for action in found.actions),
        texts=tuple(texts) if len(texts) == len(found.actions) else (),
    )


def _described(action: Action, naming: Naming) -> str:
    part = naming.part(action.nonterminal)
    if action.dot < len(action.alternative):
        return f"{part} goes on" if action.dot else f"{part} begins"
    return f"{part} ends" if action.alternative else f"{part} ends or is empty"
