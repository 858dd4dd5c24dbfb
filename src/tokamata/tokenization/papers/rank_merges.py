"""The merges of a file of ranks.

tiktoken's files have no merges, but texts with ranks: two neighbours are joined if their text has a rank,
the lowest first.  Each text was made by one merge in training, and its rank is the number of that merge.  So
its parts are found by encoding the text with the texts of lower rank.  With a, b, c, ``ab`` 3, ``abc`` 4::

    a b c   (a, b) is ab, 3     ab c   (ab, c) is abc, 4: not of lower rank, so the parts of abc are ab and c

If the result does not have two parts, merges cannot make the text, and it has no merge.

tiktoken also joins other parts with the same text.  No encoding contains those as neighbours: a text has one
encoding by itself, and the same one within any longer text.

Cost: for each text, the square of its length.
"""

from __future__ import annotations

from collections.abc import Mapping

from tokamata.tokenization.papers.merges import Merge


def rank_merges(ranks: Mapping[bytes, int]) -> list[Merge]:
    """The merges, in order, of texts with ranks; the ranks are the ids.

    Texts of one byte are the characters.  Texts that merges cannot make have no merge.
    """
    merges = []
    for text, rank in sorted(ranks.items(), key=lambda item: item[1]):
        if len(text) > 1:
            parts = _parts(text, ranks, rank)
            if len(parts) == 2:
                merges.append(Merge(ranks[parts[0]], ranks[parts[1]], rank))
    return merges


def _parts(text: bytes, ranks: Mapping[bytes, int], below: int) -> list[bytes]:
    """``text`` encoded with the texts of ranks below ``below``."""
    parts = [text[i : i + 1] for i in range(len(text))]
    while len(parts) > 1:
        best, first = min((ranks.get(parts[i] + parts[i + 1], below), i) for i in range(len(parts) - 1))
        if best >= below:
            break
        parts[first : first + 2] = [parts[first] + parts[first + 1]]
    return parts
