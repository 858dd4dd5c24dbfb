"""The failure trie: the tokens that MaxMatch has chosen when the text leaves the trie of tokens.

A node is a prefix of tokens.  Reading descends the trie as long as possible.  Then the tokens that MaxMatch
has certainly chosen are *popped*, and reading continues at the node of the remaining characters.  ``pops(v)``
are these tokens, and ``link(v)`` is that node, or none if no sequence of tokens has this prefix.  With a, b,
aa, ab, aabc and the node ``aab``::

    aa b     aab is not a token; its longest token is aa, and b remains
             pops(aab) = [aa]     link(aab) = the node b

If a node is a token, ``pops`` is that token and ``link`` the root.  Otherwise, for ``v = u c``: v begins with
the pops of u and goes to the link of u; while the node has no child c, it adds the node's pops and goes to
its link.  The child c of the last node is its link.  (000, algorithm 7, after Song, Salcianu, Song, Dopson
and Zhou, *Fast WordPiece Tokenization*, 2021.)  The listing in 000 cannot run as printed; ``docs/errata.md``
explains it line by line.

With continuation marks there are two tries, of first tokens and of others.  After a pop a text continues in
the second: all links lead there.  (Song et al. write the marks into one trie, in which a text that
contains ``##`` must not be confused with them.)

Cost: the characters of all tokens, times the pops of a node, which are fewer than its characters.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from tokamata.automata.account import Account
from tokamata.resources.limits import Limits
from tokamata.tokenization.papers.merges import Texts, ids_of


@dataclass
class FailureTrie:
    """Tries of tokens with pops and links; nodes are numbered, parents before children.

    Attributes:
        children: for each node, its children by byte.
        token: for each node, the token that ends there, or ``None``.
        link: for each node, the node to continue at, or ``None``.
        pops: for each node, the tokens that are written before ``link``.
        start: the root of first tokens.
        rest: the root of all others; the same node if there are no marks.
    """

    children: list[dict[int, int]] = field(default_factory=lambda: [{}])
    token: list[int | None] = field(default_factory=lambda: [None])
    link: list[int | None] = field(default_factory=list)
    pops: list[list[int]] = field(default_factory=list)
    start: int = 0
    rest: int = 0


def failure_trie(
    vocabulary: Texts, continuations: Texts | None = None, limits: Limits | Account | None = None
) -> FailureTrie:
    """The trie of a vocabulary, with pops and links.

    Args:
        vocabulary: the bytes of each token, by id; if several ids have one text, the lowest counts.
        continuations: the bytes of the tokens after the first, without their marks; ``None``: those of
            ``vocabulary``.
        limits: bounds on the result.

    Raises:
        LimitExceeded: too many nodes.
    """
    account = Account(limits)
    account.add_states()
    trie = FailureTrie()
    _insert(trie, trie.start, vocabulary, account)
    if continuations is not None:
        trie.rest = _node(trie, account)
        _insert(trie, trie.rest, continuations, account)
    trie.link = [None] * len(trie.children)
    trie.pops = [[] for _ in trie.children]
    pending = sorted({trie.start, trie.rest})
    for node in pending:  # breadth first: a link depends on nodes nearer to a root
        for byte, child in trie.children[node].items():
            _link(trie, node, byte, child, account)
            pending.append(child)
    return trie


def _insert(trie: FailureTrie, root: int, vocabulary: Texts, account: Account) -> None:
    for text, token in ids_of(vocabulary).items():
        node = root
        for byte in text:
            if byte not in trie.children[node]:
                trie.children[node][byte] = _node(trie, account)
            node = trie.children[node][byte]
        trie.token[node] = token


def _node(trie: FailureTrie, account: Account) -> int:
    account.add_states()
    trie.children.append({})
    trie.token.append(None)
    return len(trie.children) - 1


def _link(trie: FailureTrie, node: int, byte: int, child: int, account: Account) -> None:
    token = trie.token[child]
    if token is not None:
        trie.link[child], trie.pops[child] = trie.rest, [token]
        return
    pops = list(trie.pops[node])
    reached = trie.link[node]
    while reached is not None and byte not in trie.children[reached]:
        pops += trie.pops[reached]
        reached = trie.link[reached]
    if reached is not None:
        account.work(1 + len(pops))
        trie.link[child], trie.pops[child] = trie.children[reached][byte], pops
