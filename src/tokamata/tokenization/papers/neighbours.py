"""The tokens that may follow each token, by trying all pairs.

A sequence of tokens is an encoding if and only if each two neighbours are an encoding (001, section 4.1,
algorithm 4).  So the brute force encodes the text of each pair of tokens and compares.  With the merges
(a,b), (a,a) over a, b::

    a ab  is the text aab, which is encoded  a ab     they may be neighbours
    aa b  is the text aab as well                     they may not

The paper's table has no row for the beginning of a sequence.  A token may stand there if it is the encoding
of its own text.  Without that row, a token that the merges never make would be allowed.

Cost: the square of the number of tokens, times the cost of encoding.  Only an oracle for
:mod:`.tokenizer_automaton`, as in the paper.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from tokamata.tokenization.papers.bpe import encode_in_order
from tokamata.tokenization.papers.merges import Merge, spellings


def neighbours(characters: Iterable[int], merges: Sequence[Merge]) -> Mapping[int | None, set[int]]:
    """For each token that the merges can spell, those that may follow; for ``None``, those that may begin."""
    spelled = spellings(merges, characters)
    table: dict[int | None, set[int]] = {
        None: {token for token, text in spelled.items() if encode_in_order(merges, text) == [token]}
    }
    for first, text in spelled.items():
        table[first] = {
            second
            for second, rest in spelled.items()
            if encode_in_order(merges, [*text, *rest]) == [first, second]
        }
    return table
