"""Hypotheses about texts in which some letters occur only within certain words.

Problem: T5 has no piece for ``<``, but it has the pieces ``<extra_id_0>`` to ``<extra_id_99>``.  So ``<`` can
be written within one of these, and nowhere else.

Example: with ``<a>`` and ``<b>``, the texts are those of ``([^<>]|<a>|<b>)*``.

Method: each hypothesis is paired with a node of the words' trie.  At its root, one of the letters must begin
a word; at another node, the word must go on.  This takes a word to begin with one of the letters, and none to
be the beginning of another.

Source: own.  Cost: the hypotheses times the nodes, of which none but the root is reached between tokens, if
words are tokens.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tokamata.tokenization.pretokenizers.machine import Hypotheses, Numbering, live_with_starts
from tokamata.tokenization.pretokenizers.matching import DEAD

__all__ = ["enclose"]

_MOST_STATES = 20_000


def enclose(
    found: Hypotheses, starts: Mapping[str, Sequence[int]], words: Sequence[Sequence[int]], letters: set[int]
) -> tuple[Hypotheses, dict[str, list[int]]]:
    """The hypotheses about texts with some letters only in words.

    Args:
        found: the hypotheses.
        starts: where texts begin, by what stands before them.
        words: the symbols of each word.
        letters: the symbols of the letters.

    Returns:
        The automaton, and where texts begin there.

    Raises:
        UnsupportedTokenizerError: there are too many.
    """
    trie: list[dict[int, int]] = [{}]
    for word in words:
        node = 0
        for symbol in word[:-1]:
            if symbol not in trie[node]:
                trie[node][symbol] = len(trie)
                trie.append({})
            node = trie[node][symbol]
        trie[node][word[-1]] = 0
    number = Numbering[tuple[int, int]]("model", "its user-defined pieces need", _MOST_STATES)
    begun = {name: [number((state, 0)) for state in some] for name, some in starts.items()}
    targets, ends, may_end = [], [], []
    for state, node in number.order:  # grows as states are found
        row = []
        for symbol, target in enumerate(found.targets[state]):
            after = trie[node].get(symbol, DEAD if node or symbol in letters else 0)
            row.append(DEAD if DEAD in (target, after) else number((target, after)))
        targets.append(row)
        ends.append([number((end, node)) for end in found.ends[state]])
        may_end.append(found.may_end[state] and not node)
    made, begun_there = live_with_starts(list(begun.values()), targets, ends, may_end)
    return made, dict(zip(begun, begun_there, strict=True))
