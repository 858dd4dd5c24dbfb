"""Detokenizing as transduction: from sequences of tokens to their bytes.

Algorithm 1 of 002, in the compact form of its figure 4: each token is a cycle through the root that
writes the token's bytes one by one and reads the token itself with the last of them.  Tokens share
the paths of their common prefixes, so the states are those of the trie, without the tokens' last
bytes.  For the tokens foo, food and d::

    root ─ε:f─▶ (1) ─ε:o─▶ (2) ─foo:o─▶ root          root ─d:d─▶ root
                            └──ε:o─▶ (3) ─food:d─▶ root

Only its last transition reads a token, so each token has exactly one cycle, and the transducer maps a
sequence exactly to the concatenation of its bytes (002, appendix B.1).

Composed with an acceptor of bytes, it reads the token sequences whose bytes are accepted (002,
algorithm 2; 000, equation 4, which has the inverse as a lexicon: ``invert`` it)::

    minimize(project(compose(detokenizer(vocabulary), acceptor), "input"))

Tokens without bytes have no last transition, and are omitted; a transition that reads one and writes
nothing could be repeated forever.

Cost: the sum of the tokens' lengths.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from tokamata.automata.account import Account
from tokamata.automata.machine import EPSILON, Pair
from tokamata.automata.symbols import BYTE_NAMES, show
from tokamata.automata.transducer import Transducer
from tokamata.resources.limits import Limits


def detokenizer(
    vocabulary: Sequence[bytes | None] | Mapping[int, bytes | None], limits: Limits | Account | None = None
) -> Transducer:
    """The transducer from sequences of tokens to their bytes.

    Args:
        vocabulary: the bytes of each token, by id.  Tokens of ``None`` (control tokens, padding)
            and of no bytes are never read.
        limits: bounds on the result.

    Raises:
        LimitExceeded: too many states or transitions.
        MachineError: an id below 0.
    """
    account = Account(limits)
    account.add_states()
    rows: list[list[tuple[Pair, int]]] = [[]]
    children: dict[Pair, int] = {}  # by node and byte
    names: dict[int, str] = {}
    for token, text in _items(vocabulary):
        if not text:
            continue
        names[token] = show(text)
        node = 0
        for byte in text[:-1]:
            child = children.get((node, byte))
            if child is None:
                account.add_states()
                account.add_transitions()
                child = children[node, byte] = len(rows)
                rows[node].append(((EPSILON, byte), child))
                rows.append([])
            node = child
        account.add_transitions()
        rows[node].append(((token, text[-1]), 0))
    return Transducer(tuple(map(tuple, rows)), frozenset([0]), 0, names, BYTE_NAMES)


def _items(
    vocabulary: Sequence[bytes | None] | Mapping[int, bytes | None],
) -> Iterable[tuple[int, bytes | None]]:
    return vocabulary.items() if isinstance(vocabulary, Mapping) else enumerate(vocabulary)
