"""Byte-pair encoding in two ways: by priority, and merge after merge.

Priority (000, algorithm 3) looks for the neighbours whose merge stands first in the list, applies
that merge, and looks again, until no neighbours have a merge.  Order (000, algorithm 5; 001, section
1.1) goes through the list once and applies each merge.  For ``(t,o) (g,y) (l,o) (p,o) (lo,gy)``::

    t o p o l o g y    (t,o)     to p o l o g y
                       (g,y)     to p o l o gy
                       (l,o)     to p o lo gy
                       (p,o)     to po lo gy
                       (lo,gy)   to po logy                            (000, figure 2)

000 says that the two are the same.  They are if the list is proper (:mod:`.merges`): what a merge makes
is a part of later merges alone, so the merges that priority chooses stand in increasing order, and
those it passes over find no neighbours.  ``(ab, c), (a, b)`` tells them apart: ``a b c`` becomes ``abc`` by
priority and ``ab c`` in order.  A merge that is listed twice counts where it stands first by priority,
and twice in order.

What libraries do is neither, where a list is not proper.  They join one pair at a time, the leftmost of
those with the best merge, so that what it makes can be joined before the rest of its kind
(``one_at_a_time``).  With ``(aa, a), (a, a)`` four ``a`` become ``aa aa`` by priority, and ``aaa a`` one
pair at a time.  For proper lists it is the same again.

All constructions of machines here are about order, as the papers' are: a merge is a transducer, and a
list of them a composition.

Cost: the length of the text times the number of merges.  These are oracles; a tokenizer keeps the
pairs in a heap.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

from tokamata.tokenization.papers.merges import Merge, apply

Rank = tuple[int, Merge]


def encode_by_priority(merges: Sequence[Merge], characters: Sequence[int]) -> list[int]:
    """The tokens of a text by 000, algorithm 3: the first merge that applies, everywhere, again and again.

    Args:
        merges: in order, the first goes first.
        characters: the text, as ids of its characters.
    """
    return _by_priority(merges, characters, lambda merge, place, tokens: apply(merge, tokens))


def encode_one_at_a_time(merges: Sequence[Merge], characters: Sequence[int]) -> list[int]:
    """The same with one pair joined at a time, the leftmost of those whose merge stands first."""
    return _by_priority(
        merges,
        characters,
        lambda merge, place, tokens: [*tokens[:place], merge.token, *tokens[place + 2 :]],
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
        found = [(*ranks[pair], place) for place, pair in enumerate(pairwise(tokens)) if pair in ranks]
        if not found:
            return tokens
        _, merge, place = min(found, key=lambda one: (one[0], one[2]))
        tokens = join(merge, place, tokens)
