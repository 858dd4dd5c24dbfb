"""Decides whether a token may follow another, from the merges that meet at their border.

:mod:`.tokenizer_automaton` keeps a list of forbidden tokens for each state.  The list of ``t`` begins as that
of its right part, when ``t`` is made; the merge ``(x, y)`` adds ``y`` to the list of ``x``; and a list with
``y`` gets every ``y z`` that is made later.  So ``u`` is forbidden after ``t`` if some merge ``(x, y)`` joins
them across the border::

    t  =  … [ … [ … x ]]    x: t, its right part, the right part of that, …
    u  =  [[ y … ] … ] …    y: u, its left part, the left part of that, …

This holds if x was not yet part of a larger token, and y not before the merge.  With merges numbered in
order, ``(x, y)`` must come before the merge that makes the next larger token on the left side; on the right
side it may also be that merge itself (``(a, a)`` makes ``aa`` and forbids it after a).

Example: for (a,b), (b,c), (ab,c) and the tokens ``a`` and ``bc``, y = b is the left part of bc, ``(a, b)`` is
merge 0 and ``bc`` is made by merge 1, so bc may not follow a.

This is algorithm 3 of 001 without explicit lists, which would not fit into memory for all merges of a real
tokenizer.  Cost: memory linear in the merges; for each pair the product of the two depths, about 25 look-ups.
"""

from __future__ import annotations

from collections.abc import Iterator

from tokamata.tokenization.papers.merges import Merge


class PairRule:
    """Decides which tokens may be neighbours, after some merges; ``join`` adds the next merge."""

    def __init__(self) -> None:
        self._parts: dict[int, tuple[int, int]] = {}
        self._made: dict[int, int] = {}  # the number of the merge that makes a token
        self._joined: dict[tuple[int, int], int] = {}  # the number of the merge of two tokens
        self._count = 0

    def allows(self, first: int, second: int) -> bool:
        """Whether ``second`` may follow ``first``; both have been made, or are characters."""
        rights = list(self._ends(first, 1))
        for y, made_y in self._ends(second, 0):
            for x, made_x in rights:
                number = self._joined.get((x, y))
                if number is not None and number < made_x and number <= made_y:
                    return False
        return True

    def join(self, merge: Merge) -> None:
        """Adds the next merge, of two tokens that may be neighbours."""
        self._joined[merge.left, merge.right] = self._count
        self._parts[merge.token] = merge.left, merge.right
        self._made[merge.token] = self._count
        self._count += 1

    def _ends(self, token: int, side: int) -> Iterator[tuple[int, int]]:
        """The token, its part on one side, that one's part, …; each with the merge of the one before it."""
        made = self._count
        while True:
            yield token, made
            if token not in self._parts:
                return
            made = self._made[token]
            token = self._parts[token][side]
