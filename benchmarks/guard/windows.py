"""The least L of a detector of paper 004 that rejects a boundary, for vocabularies of any size.

``tokamata.tokenization.papers.detectors`` defines the detectors by all strings of at most L tokens, which are
too many for a real vocabulary.  Here only those are encoded whose tokens all overlap the boundary, those of
the fewest tokens first.  The two-neighbour theorem settles the others: see :meth:`Windows.least`.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping
from itertools import accumulate

from tokamata.tokenization import Schedules

Characters = tuple[int, ...]

_MOST_ENCODED = 5_000  # texts of one boundary


class Windows:
    """The texts that overlap a boundary, and how few tokens spell one in which a token crosses it.

    Args:
        texts: the characters of each token.
        schedules: of the merges.
    """

    def __init__(self, texts: Mapping[int, Characters], schedules: Schedules) -> None:
        self._schedules = schedules
        self._size = {token: len(text) for token, text in texts.items()}
        self._texts = set(texts.values())
        self._forward = sorted(self._texts)
        self._backward = sorted(text[::-1] for text in self._texts)
        self._sizes = sorted({len(text) for text in self._texts})
        self._letters = {
            character: chr(1 + n)
            for n, character in enumerate(sorted({c for text in self._texts for c in text}))
        }
        self._joined = "\0".join(self._written(text) for text in self._forward)
        self._starts = list(accumulate((len(text) + 1 for text in self._forward), initial=0))

    def least(self, inside: Characters) -> int | None:
        """The least L for a boundary that is crossed in some text; ``None`` if that is not settled.

        A boundary and one token beside it show it (the theorem), so one more than the fewest tokens that
        spell the boundary is enough.  Fewer are possible only if a token is partly outside of the boundary.
        What a further token outside of such a token could change is not searched, and not settled.
        """
        enough = 1 + self._fewest(inside)
        encoded = 0
        has_covers = False
        for count in range(1, enough):
            had_covers = has_covers
            for text, start in self._covers(inside, count):
                has_covers = True
                encoded += 1
                if encoded > _MOST_ENCODED:
                    return None
                if self._is_violated(text, start, len(inside)):
                    return count
            if had_covers:  # texts of fewer tokens show nothing; with another token beside them they might
                return None
        return enough

    def _written(self, text: Characters) -> str:
        return "".join(map(self._letters.__getitem__, text))

    def _containing(self, inside: Characters) -> Iterator[tuple[Characters, int]]:
        """The tokens that are longer than the boundary and contain it, and where."""
        wanted = self._written(inside)
        at = self._joined.find(wanted)
        while at >= 0:
            index = bisect_right(self._starts, at) - 1
            text = self._forward[index]
            if len(text) > len(inside):
                yield text, at - self._starts[index]
            at = self._joined.find(wanted, at + 1)

    def _fewest(self, inside: Characters) -> int:
        fewest = [0] + [len(inside) + 1] * len(inside)
        for end in range(1, len(inside) + 1):
            for size in self._sizes:
                if size <= end and inside[end - size : end] in self._texts:
                    fewest[end] = min(fewest[end], fewest[end - size] + 1)
        return fewest[-1]

    def _covers(self, inside: Characters, count: int) -> Iterator[tuple[Characters, int]]:
        """The texts of ``count`` tokens that each overlap the boundary, with something outside of it."""
        size = len(inside)
        if count == 1:
            yield from self._containing(inside)
            return
        for cut in range(1, size - count + 2):
            firsts = [text[::-1] for text in _with_prefix(self._backward, inside[:cut][::-1])]
            if not firsts:
                continue
            for middle, end in self._middles(inside, cut, count - 2):
                for last in _with_prefix(self._forward, inside[end:]):
                    for first in firsts:
                        if len(first) > cut or len(last) > size - end:
                            yield first + middle + last, len(first) - cut

    def _middles(self, inside: Characters, start: int, count: int) -> Iterator[tuple[Characters, int]]:
        if not count:
            yield (), start
            return
        for size in self._sizes:
            end = start + size
            if end < len(inside) and inside[start:end] in self._texts:
                for rest, last in self._middles(inside, end, count - 1):
                    yield inside[start:end] + rest, last

    def _is_violated(self, text: Characters, start: int, size: int) -> bool:
        ends, at = {0}, 0
        for token in self._schedules.leftmost(text):
            at += self._size[token]
            ends.add(at)
        return not {start, start + size} <= ends


def _with_prefix(ordered: list[Characters], prefix: Characters) -> list[Characters]:
    begin = bisect_left(ordered, prefix)
    end = bisect_left(ordered, (*prefix[:-1], prefix[-1] + 1), begin)
    return ordered[begin:end]
