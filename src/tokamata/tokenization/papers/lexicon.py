"""The lexicon, from characters to tokens, and promotion without regard to the tokenizer.

A lexicon reads the characters of tokens and writes the tokens (000, algorithm 6).  It is the detokenizing
transducer of 002 the other way round: a trie that writes a token on the last of its characters and goes
back to the root.  For a, b and ab::

    root ─a:a─▶ root      root ─b:b─▶ root      root ─a:ε─▶ (1) ─b:ab─▶ root

Composed with an acceptor of characters it writes every way to spell an accepted text (000, equation 4).
For the text ``abab`` these are ``a b a b``, ``ab a b``, ``a b ab`` and ``ab ab``.  A tokenizer gives one
of them; :mod:`.maxmatch_transducer` and :mod:`.bpe_promotion` keep that one.

No determinization is needed behind the projection if the acceptor is deterministic (lemma 4.1): from the
root, a character and a token lead to one place alone, since the token tells all its characters.  So
``minimize``, which determinizes what is not deterministic, finds nothing to do.

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
from tokamata.limits import Limits
from tokamata.tokenization.papers.merges import Texts


def lexicon(vocabulary: Texts, limits: Limits | Account | None = None) -> Transducer:
    """The transducer from bytes to every sequence of tokens that spells them.

    Args:
        vocabulary: the bytes of each token, by id; tokens of ``None`` or of no bytes are never written.
        limits: bounds what is made.

    Raises:
        LimitExceeded: too many states or transitions.
    """
    return invert(detokenizer(vocabulary, limits))


def promote(pattern: Acceptor, vocabulary: Texts, limits: Limits | Account | None = None) -> Acceptor:
    """The token sequences whose bytes ``pattern`` accepts, all spellings of each text (000, equation 4).

    Args:
        pattern: over bytes.
        vocabulary: the bytes of each token, by id.
        limits: bounds what is made.

    Raises:
        LimitExceeded: too many states or transitions.
    """
    account = Account(limits)
    spelled = compose(minimize(pattern, account), lexicon(vocabulary, account), account)
    return minimize(remove_epsilon(project(spelled, "output"), account), account)
