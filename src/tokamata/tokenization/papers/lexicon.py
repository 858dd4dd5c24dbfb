"""The lexicon, from characters to tokens, and promotion to all spellings of a text.

A lexicon reads the characters of tokens and writes the tokens (000, algorithm 6).  It is the inverse of the
detokenizing transducer of 002: a trie that writes a token at its last character and returns to the root.
For a, b and ab::

    root ─a:a─▶ root      root ─b:b─▶ root      root ─a:ε─▶ (1) ─b:ab─▶ root

Composed with an acceptor of characters, it writes every spelling of an accepted text (000, equation 4).
For the text ``abab`` these are ``a b a b``, ``ab a b``, ``a b ab`` and ``ab ab``.  A tokenizer produces one
of them; :mod:`.maxmatch_transducer` and :mod:`.bpe_promotion` keep that one.

If the acceptor is deterministic, the projection needs no determinization (lemma 4.1): from the root, a
character and a token lead to one state, since a token determines its characters.  So ``minimize``, which
determinizes if necessary, has nothing to determinize.

Cost: the states of the acceptor times the characters of all tokens.
"""

from __future__ import annotations

from tokamata.automata import (
    Acceptor,
    Transducer,
    compose,
    detokenizer,
    invert,
    minimize,
    project,
    remove_epsilon,
)
from tokamata.automata.account import Account
from tokamata.resources.limits import Limits
from tokamata.tokenization.papers.merges import Texts


def lexicon(vocabulary: Texts, limits: Limits | Account | None = None) -> Transducer:
    """The transducer from bytes to every sequence of tokens that spells them.

    Args:
        vocabulary: the bytes of each token, by id; tokens of ``None`` or of no bytes are never written.
        limits: bounds on the result.

    Raises:
        LimitExceeded: too many states or transitions.
    """
    return invert(detokenizer(vocabulary, limits))


def promote(pattern: Acceptor, vocabulary: Texts, limits: Limits | Account | None = None) -> Acceptor:
    """The token sequences whose bytes ``pattern`` accepts: all spellings of each text (000, equation 4).

    Args:
        pattern: over bytes.
        vocabulary: the bytes of each token, by id.
        limits: bounds on the result.

    Raises:
        LimitExceeded: too many states or transitions.
    """
    account = Account(limits)
    spelled = compose(minimize(pattern, account), lexicon(vocabulary, account), account)
    return minimize(remove_epsilon(project(spelled, "output"), account), account)
