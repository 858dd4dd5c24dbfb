"""MaxMatch as a transducer with failure transitions, and promotion that keeps it.

The failure trie becomes a transducer (000, algorithm 8).  A step down the trie reads a character and writes
nothing; a failure writes the pops of a node, with an extra state for each but the last, and continues at its
link.  For a, b and ab::

    root ─a:ε─▶ (a) ─b:ε─▶ (ab)         (a) ─φ:a─▶ root     (ab) ─φ:ab─▶ root
      └──b:ε─▶ (b)                      (b) ─φ:b─▶ root

Only the root accepts: at the end of the text, failures write the remaining tokens.  So the transducer writes
exactly the greedy tokens of each text; composed with an acceptor of characters, those of every accepted text.

With continuation marks, a text begins at one root and continues at another, and both accept.

Cost: the characters of all tokens and the pops of all nodes; composed, times the states of the acceptor.
"""

from __future__ import annotations

from tokamata.automata import BYTE_NAMES, EPSILON, Acceptor, Transducer, minimize, project
from tokamata.automata.account import Account
from tokamata.automata.machine import Pair
from tokamata.automata.symbols import show
from tokamata.resources.limits import Limits
from tokamata.tokenization.papers.failure import FailureTransducer, compose_failing
from tokamata.tokenization.papers.failure_trie import failure_trie
from tokamata.tokenization.papers.merges import Texts, ids_of


def maxmatch_transducer(
    vocabulary: Texts, continuations: Texts | None = None, limits: Limits | Account | None = None
) -> FailureTransducer:
    """The transducer from bytes to the tokens of MaxMatch, for the texts that it can tokenize.

    Args:
        vocabulary: the bytes of each token, by id.
        continuations: the bytes of the tokens after the first, without their marks (``##``), by id;
            ``None``: those of ``vocabulary``.
        limits: bounds on the result.

    Raises:
        LimitExceeded: too many states.
    """
    account = Account(limits)
    trie = failure_trie(vocabulary, continuations, account)
    account.add_states(len(trie.children))
    rows: list[list[tuple[Pair, int]]] = [
        [((byte, EPSILON), child) for byte, child in children.items()] for children in trie.children
    ]
    failures: dict[int, Pair] = {}
    for node, link in enumerate(trie.link):
        if link is None:
            continue
        state = node
        for token in trie.pops[node][:-1]:
            account.add_states()
            failures[state] = token, len(rows)
            state = len(rows)
            rows.append([])
        failures[state] = trie.pops[node][-1], link
    names = {token: show(text) for text, token in ids_of(vocabulary).items()}
    names |= {token: show(b"##" + text) for text, token in ids_of(continuations or {}).items()}
    roots = frozenset([trie.start, trie.rest])
    machine = Transducer(tuple(map(tuple, rows)), roots, trie.start, BYTE_NAMES, names)
    return FailureTransducer(machine, failures)


def promote_maxmatch(
    pattern: Acceptor,
    vocabulary: Texts,
    continuations: Texts | None = None,
    limits: Limits | Account | None = None,
) -> Acceptor:
    """The token sequences of MaxMatch for the texts that ``pattern`` accepts (000, section 5.1).

    Args:
        pattern: over bytes; with ``continuations``, of single words.
        vocabulary: the bytes of each token, by id.
        continuations: as for :func:`maxmatch_transducer`.
        limits: bounds on the result.

    Raises:
        LimitExceeded: too many states or transitions.
    """
    account = Account(limits)
    transducer = maxmatch_transducer(vocabulary, continuations, account)
    chosen = compose_failing(minimize(pattern, account), transducer, account)
    return minimize(project(chosen, "output"), account)
