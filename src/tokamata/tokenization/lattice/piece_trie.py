"""Finds all pieces that occur in a text, at all positions at once.

The pieces are a trie.  An edge is a number, node · 2^21 + code point, and the edges are in order, so that one
binary search in an array follows one edge for all positions of a text together:

    pieces a, ab, b      depth 0: root at 0 1 2      text  a b a
                         depth 1: a   b   a          found a(0) b(1) a(2)
                         depth 2: ab  -   -          found ab(0)

The cost is a binary search for each position and each character of the longest piece that goes on there:
about six for real vocabularies.  A dictionary of substrings would need as many look-ups, each with a new
string.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
import numpy.typing as npt

from tokamata.resources.limits import Watch

__all__ = ["PieceTrie", "code_points"]

_CODE_POINT_BITS = 21
_WORKING_BYTES = 40  # of a position, while the trie is followed


class PieceTrie:
    """The pieces that a lattice may use, by their code points; immutable.

    Args:
        pieces: texts and ids; no text is empty or there twice.
    """

    __slots__ = ("_edges", "_targets", "_tokens")

    def __init__(self, pieces: Iterable[tuple[str, int]]) -> None:
        nodes: dict[int, int] = {}
        tokens = [-1]
        for text, token in pieces:
            node = 0
            for character in text:
                edge = node << _CODE_POINT_BITS | ord(character)
                node = nodes.setdefault(edge, len(tokens))
                if node == len(tokens):
                    tokens.append(-1)
            tokens[node] = token
        edges = np.fromiter(nodes, dtype=np.int64, count=len(nodes))
        order = np.argsort(edges)
        self._edges = edges[order]
        self._targets = np.fromiter(nodes.values(), dtype=np.int64, count=len(nodes))[order]
        self._tokens = np.array(tokens, dtype=np.int32)

    def find(
        self, text: str, watch: Watch
    ) -> Iterator[tuple[npt.NDArray[np.int64], int, npt.NDArray[np.int32]]]:
        """The occurrences of pieces, by length: starts in order, the length in code points, tokens.

        Raises:
            LimitExceeded: the time is over, or the text is too long.
        """
        characters = code_points(text)
        watch.hold(_WORKING_BYTES * len(characters))
        starts = np.arange(len(characters))
        nodes = np.zeros(len(characters), dtype=np.int64)
        length = 0
        while len(starts):
            watch.check()
            wanted = nodes << _CODE_POINT_BITS | characters[starts + length]
            index = np.searchsorted(self._edges, wanted)
            index[index == len(self._edges)] = 0
            follows = self._edges[index] == wanted if len(self._edges) else np.zeros(len(starts), dtype=bool)
            starts, nodes = starts[follows], self._targets[index[follows]]
            length += 1
            tokens = self._tokens[nodes]
            is_piece = tokens >= 0
            yield starts[is_piece], length, tokens[is_piece]
            goes_on = starts + length < len(characters)
            starts, nodes = starts[goes_on], nodes[goes_on]


def code_points(text: str) -> npt.NDArray[np.int64]:
    """The code points of a text."""
    return np.frombuffer(text.encode("utf-32-le"), dtype="<u4").astype(np.int64)
