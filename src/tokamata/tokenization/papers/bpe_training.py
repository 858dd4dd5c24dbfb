"""Training byte-pair encoding: repeatedly, the most frequent neighbours become a token.

000, algorithm 2.  With the words ``a b a b c`` and ``b c`` and three merges::

    a b a b c    b c        ab: 2, bc: 2, ba: 1       of two equally frequent pairs, the first: (a, b)
    ab ab c      b c        abab: 1, abc: 1, bc: 1    (ab, ab)
    abab c       b c        ababc: 1, bc: 1           (abab, c)

000 leaves four cases open, which are decided here.  Of equally frequent pairs, the first one seen is merged.
Overlapping pairs all count: ``a a a`` has (a, a) twice, although only one of them can be joined.  Training
ends early if no pair is left.  If two pairs make the same token, it has one id and both merges.  The parts of
a merge exist before it, so lists are proper except in the last case (:func:`.merges.first_improper`).

Cost: the length of the corpus times the number of merges.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from itertools import pairwise

from tokamata.calls.arguments import checked_whole
from tokamata.tokenization.papers.merges import Merge, apply


def train(corpus: Iterable[bytes], merges: int) -> tuple[list[bytes], list[Merge]]:
    """A vocabulary and a list of merges from words; no merge crosses the border of a word.

    Args:
        corpus: words; a repeated word counts each time.
        merges: the largest number of merges; there are fewer if the corpus has no neighbours left.

    Returns:
        The text of each token, by id, the bytes of the corpus first and in order; and the merges.

    Raises:
        ArgumentError: ``merges`` is below 0.
    """
    merges = checked_whole("merges", merges, 0, 1 << 62)
    words = [list(word) for word in corpus]
    vocabulary = [bytes([byte]) for byte in sorted({byte for word in words for byte in word})]
    ids = {text: token for token, text in enumerate(vocabulary)}
    words = [[ids[bytes([byte])] for byte in word] for word in words]
    learned: list[Merge] = []
    while len(learned) < merges:
        counts = Counter(pair for word in words for pair in pairwise(word))
        if not counts:
            break
        left, right = max(counts, key=counts.__getitem__)  # of several, the first one seen
        text = vocabulary[left] + vocabulary[right]
        if text not in ids:
            ids[text] = len(vocabulary)
            vocabulary.append(text)
        learned.append(Merge(left, right, ids[text]))
        words = [apply(learned[-1], word) for word in words]
    return vocabulary, learned
