"""The merges of a file of ranks.

tiktoken's files have no merges, but texts with ranks: two neighbours are joined where their text has a rank,
the lowest first.  Each text was made by one merge in training, and its rank is the number of that merge; so
the parts are found by encoding the text with the texts of lower rank.  With a, b, c, ``ab`` 3, ``abc`` 4::

    a b c   (a, b) is ab, 3     ab c   (ab, c) would be abc, 4, whose own parts are found next: ab and c

A text for which that gives other than two parts cannot be made by merges, and has none.

tiktoken also joins other parts that make the same text.  No encoding contains those next to each other: the
text by itself is encoded in one way, and so it is in any longer one.

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
    """``text`` encoded with the texts of a rank below that one."""
    parts = [text[i : i + 1] for i in range(len(text))]
    while len(parts) > 1:
        best, place = min((ranks.get(parts[i] + parts[i + 1], below), i) for i in range(len(parts) - 1))
        if best >= below:
            break
        parts[place : place + 2] = [parts[place] + parts[place + 1]]
    return parts
