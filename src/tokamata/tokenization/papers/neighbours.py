"""Which token may follow which, by trying all pairs.

Whether a sequence of tokens is an encoding depends on its neighbours alone: it is one where each two of
them are (001, section 4.1, algorithm 4).  So the brute force encodes the text of each two tokens and looks
whether they come back.  With the merges (a,b), (a,a) over a, b::

    a ab  is the text aab, and is encoded  a ab     they may be neighbours
    aa b  is the text aab as well                   they may not

The paper's table has no row for the beginning of a sequence.  There a token may stand that is the encoding of
its own text; one that the merges never make is not, and without that row it would be allowed.

Cost: the square of the number of tokens, times what encoding takes.  A test of
:mod:`.tokenizer_automaton`, as the paper says, and no more.
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
            for second, behind in spelled.items()
            if encode_in_order(merges, [*text, *behind]) == [first, second]
        }
    return table
