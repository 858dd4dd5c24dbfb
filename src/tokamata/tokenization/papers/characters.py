"""Translates a pattern over bytes to the ids of tokens of one byte, with which byte-pair encoding starts.

A pattern is over bytes, merges are over tokens, and the token of byte 97 is 64 in GPT-2.  So the pattern's
transitions get the ids of single bytes; the result accepts the same texts, in characters::

    (0) ─97─▶ ((1))      becomes      (0) ─64─▶ ((1))

A byte without a token of its own is lost, and with it the texts that contain it.

Cost: linear.
"""

from __future__ import annotations

from tokamata.automata import Acceptor
from tokamata.automata.account import Account
from tokamata.automata.machine import EPSILON
from tokamata.automata.symbols import show
from tokamata.resources.limits import Limits
from tokamata.tokenization.papers.merges import Texts, ids_of


def in_tokens(pattern: Acceptor, vocabulary: Texts, limits: Limits | Account | None = None) -> Acceptor:
    """``pattern`` with the ids of the tokens of single bytes as symbols; it has the names of all tokens.

    Args:
        pattern: over bytes.
        vocabulary: the bytes of each token, by id.
        limits: bounds on the result.

    Raises:
        LimitExceeded: too many states or transitions.
    """
    account = Account(limits)
    account.add_states(pattern.states)
    account.add_transitions(pattern.size)
    ids = ids_of(vocabulary)
    new = {text[0]: token for text, token in ids.items() if len(text) == 1} | {EPSILON: EPSILON}
    rows = tuple(
        tuple((new[symbol], target) for symbol, target in row if symbol in new) for row in pattern.rows
    )
    names = {token: show(text) for text, token in ids.items()}
    return Acceptor(rows, pattern.accepting, pattern.start, names)
