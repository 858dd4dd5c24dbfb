"""Byte-pair encoding: by priority, in order, and one pair at a time.

By priority (000, algorithm 3): find the neighbours with the first merge in the list, apply that merge, and
repeat until no neighbours have a merge.  In order (000, algorithm 5; 001, section 1.1): apply each merge of
the list once.  For ``(t,o) (g,y) (l,o) (p,o) (lo,gy)``::

    t o p o l o g y    (t,o)     to p o l o g y
                       (g,y)     to p o l o gy
                       (l,o)     to p o lo gy
                       (p,o)     to po lo gy
                       (lo,gy)   to po logy                            (000, figure 2)

000 claims that the two are equal.  They are if the list is proper (:mod:`.merges`): the result of a merge is
part of later merges only, so priority chooses merges in increasing order, and the merges that it skips find
no neighbours.  ``(ab, c), (a, b)`` distinguishes them: ``a b c`` becomes ``abc`` by priority and ``ab c`` in
order.  If a merge is listed twice, its first position counts by priority, and both count in order.

For lists that are not proper, libraries do neither.  They join one pair at a time, the leftmost of those with
the best merge, so its result can be joined before other pairs of the same merge (``encode_one_at_a_time``).
With ``(aa, a), (a, a)`` four ``a`` become ``aa aa`` by priority, and ``aaa a`` one pair at a time.  For
proper lists, all three are equal.

All constructions of machines here use order, like those of the papers: a merge is a transducer, and a list of
merges a composition.

Cost: the length of the text times the number of merges.  These are oracles; a tokenizer keeps the pairs in a
heap.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

from tokamata.tokenization.papers.merges import Merge, apply

Rank = tuple[int, Merge]


def encode_by_priority(merges: Sequence[Merge], characters: Sequence[int]) -> list[int]:
    """The tokens of a text by 000, algorithm 3: repeatedly, the first merge that applies, everywhere.

    Args:
        merges: in order of priority.
        characters: the text, as ids of its characters.
    """
    return _by_priority(merges, characters, lambda merge, index, tokens: apply(merge, tokens))


def encode_one_at_a_time(merges: Sequence[Merge], characters: Sequence[int]) -> list[int]:
    """The same with one pair joined at a time, the leftmost of those with the first merge."""
    return _by_priority(
        merges,
        characters,
        lambda merge, index, tokens: [*tokens[:index], merge.token, *tokens[index + 2 :]],
    )


def encode_in_order(merges: Sequence[Merge], characters: Sequence[int]) -> list[int]:
    """The tokens of a text by 000, algorithm 5: every merge applied once, in order."""
    tokens = list(characters)
    for merge in merges:
        tokens = apply(merge, tokens)
    return tokens


def _by_priority(
    merges: Sequence[Merge],
    characters: Sequence[int],
    join: Callable[[Merge, int, list[int]], list[int]],
) -> list[int]:
    ranks: dict[tuple[int, int], Rank] = {}
    for rank, merge in enumerate(merges):
        ranks.setdefault((merge.left, merge.right), (rank, merge))
    tokens = list(characters)
    while True:
        found = [(*ranks[pair], index) for index, pair in enumerate(pairwise(tokens)) if pair in ranks]
        if not found:
            return tokens
        _, merge, index = min(found, key=lambda one: (one[0], one[2]))
        tokens = join(merge, index, tokens)
