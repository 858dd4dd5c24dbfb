"""Merges: the rules of byte-pair encoding, and their application to a sequence of tokens.

A merge ``(a, b) → ab`` joins a token ``a`` and a following token ``b`` into ``ab``.  Applied to a sequence,
it joins all such neighbours, from left to right, each token at most once.  The order only matters if
``a = b``, since otherwise two occurrences cannot overlap::

    (a, a) → aa      a a a a a   becomes   aa aa a        and never   a aa aa

(001, section 1.1; 000 calls it APPLY and does not define which of two overlapping pairs comes first.  All
tokenizers take the left one.)

An ordered list of merges and its characters make a tokenizer.  The list is *proper* if each merge comes after
the merges that make its parts.  In ``(ab, c), (a, b)`` the first is before the merge that makes its ``ab``.
Such lists exist (a few in the files of Llama 3.1 and Gemma 3), and for them the algorithms of
:mod:`tokamata.tokenization.papers.bpe` differ.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from tokamata.errors import VocabularyError

Texts = Sequence["bytes | None"] | Mapping[int, "bytes | None"]


class Merge(NamedTuple):
    """One rule: the neighbours ``left`` and ``right`` become ``token``.  All three are ids."""

    left: int
    right: int
    token: int


def apply(merge: Merge, tokens: Sequence[int]) -> list[int]:
    """``tokens`` with every ``left`` followed by ``right`` joined, the leftmost first.  Cost: linear."""
    joined: list[int] = []
    index = 0
    while index < len(tokens):
        if tuple(tokens[index : index + 2]) == (merge.left, merge.right):
            joined.append(merge.token)
            index += 2
        else:
            joined.append(tokens[index])
            index += 1
    return joined


def merge_list(pairs: Iterable[tuple[bytes, bytes]], vocabulary: Texts) -> list[Merge]:
    """Merges of texts as merges of ids.

    Args:
        pairs: the two parts of each merge, in order.
        vocabulary: the text of each token, by id; if several ids have one text, the lowest counts.

    Raises:
        VocabularyError: a part, or the joined text, is not in the vocabulary.
    """
    ids = ids_of(vocabulary)
    merges = []
    for number, (left, right) in enumerate(pairs):
        for text in (left, right, left + right):
            if text not in ids:
                raise VocabularyError(
                    f"merge {number} joins {left!r} and {right!r}, but {text!r} is not a token; "
                    "use the merges and the vocabulary of one tokenizer"
                )
        merges.append(Merge(ids[left], ids[right], ids[left + right]))
    return merges


def first_improper(merges: Sequence[Merge]) -> int | None:
    """The number of the first merge with a part that it or a later merge makes; else ``None``."""
    last_made = {merge.token: number for number, merge in enumerate(merges)}
    for number, merge in enumerate(merges):
        if max(last_made.get(merge.left, -1), last_made.get(merge.right, -1)) >= number:
            return number
    return None


def spellings(merges: Sequence[Merge], characters: Iterable[int]) -> dict[int, tuple[int, ...]]:
    """The characters of every token that the merges can make from ``characters``, including these.

    Raises:
        VocabularyError: two merges make the same token from different texts.
    """
    spelled: dict[int, tuple[int, ...]] = {character: (character,) for character in characters}
    grows = True
    while grows:  # for a proper list one round suffices, and a second one finds nothing
        grows = False
        for left, right, token in merges:
            if left not in spelled or right not in spelled:
                continue
            text = spelled[left] + spelled[right]
            if token not in spelled:
                spelled[token], grows = text, True
            elif spelled[token] != text:
                raise VocabularyError(
                    f"token {token} is made of the characters {spelled[token]} and of {text}; "
                    "a token must have one text"
                )
    return spelled


def ids_of(vocabulary: Texts) -> dict[bytes, int]:
    """The lowest id of each text; tokens without a text have none."""
    items = vocabulary.items() if isinstance(vocabulary, Mapping) else enumerate(vocabulary)
    ids: dict[bytes, int] = {}
    for token, text in sorted(items, key=lambda item: item[0]):
        if text:
            ids.setdefault(text, token)
    return ids
