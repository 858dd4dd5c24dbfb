"""Greedy schedules: the orders in which byte-pair encoding may join the pairs of a text.

A configuration is the sequence of tokens into which a text is cut at some time: at first its characters.  A
step joins one pair of neighbours whose merge has the lowest rank of all that are there (004, appendix A).  A
schedule is a sequence of steps until no pair has a merge.  If several pairs have that rank, a step may join
any of them::

    (a,a) → aa       a a a   →  aa a   or   a aa

Libraries choose the leftmost, which makes ``encode_one_at_a_time`` of :mod:`.bpe`.  The paper allows every
choice.  Merges may also share a rank, which no library does, but which the paper calls *ties*.

Cost: a step is linear in the text; the number of configurations can grow exponentially with ties.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

from tokamata.tokenization.papers.merges import Merge

Configuration = tuple[int, ...]


class Schedules:
    """The greedy schedules of a list of merges.

    Args:
        merges: in order of priority; of a pair that is listed twice, the first merge counts.
        ranks: the rank of each merge, lowest first; by default, its position.
    """

    def __init__(self, merges: Sequence[Merge], ranks: Sequence[int] | None = None) -> None:
        self._merges: dict[tuple[int, int], tuple[int, int]] = {}  # rank and token, by pair
        for rank, merge in zip(range(len(merges)) if ranks is None else ranks, merges, strict=True):
            self._merges.setdefault((merge.left, merge.right), (rank, merge.token))

    def steps(self, tokens: Sequence[int]) -> list[tuple[int, Configuration]]:
        """The pairs that may be joined next: for each, the index of its left part and what comes out."""
        found = [self._merges.get(pair) for pair in pairwise(tokens)]
        lowest = min((merge[0] for merge in found if merge), default=None)
        return [
            (index, (*tokens[:index], merge[1], *tokens[index + 2 :]))
            for index, merge in enumerate(found)
            if merge and merge[0] == lowest
        ]

    def leftmost(self, characters: Iterable[int]) -> list[int]:
        """What libraries make of a text: one pair at a time, the leftmost of those with the lowest rank."""
        tokens = list(characters)
        while True:
            found = [
                (merge[0], index)
                for index, merge in enumerate(map(self._merges.get, pairwise(tokens)))
                if merge
            ]
            if not found:
                return tokens
            index = min(found)[1]
            tokens[index : index + 2] = [self._merges[tokens[index], tokens[index + 1]][1]]
