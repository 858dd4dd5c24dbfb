"""Phrases, and how they overlap: which of them can be first in a text, and what may not stand before them.

Problem.  A text runs until the first of some phrases ends in it.  Which phrases can be first at all?  And
after which texts would another phrase end first, because it begins in the text and ends within the phrase?

Worked example.  Before ``aba``, of the phrases ``aba`` and ``xa``: after ``ab``, the text is ``ababa``, where
``aba`` ends two characters earlier; after ``x`` it is ``xaba``, where ``xa`` ends earlier.  The *heads* of
``aba`` are ``ab`` and ``x``.  A phrase ``b`` would make ``aba`` *unreachable*: it ends within it.

How.  A trie of the phrases, and for each node the *fallback*: the longest other node that the node ends with.
A phrase that is ``x + p``, where ``p`` begins another phrase, or itself again, ends with the node of ``p``,
which is one of its fallbacks.  So the head ``x`` belongs to the node of ``p``, and a phrase has the heads of
all nodes on its path.  Phrases with the same such nodes are one group.

Source.  Aho and Corasick 1975.  Cost.  Linear in the characters of the phrases and of the heads.  There is a
head for each overlap: n - 1 of a phrase of n equal characters, of n / 2 characters each on average.
``Limits.memory_bytes`` bounds them.

Rejected.  Looking up all parts of all phrases: the third power of their lengths.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence

from tokamata.errors import LimitExceeded
from tokamata.resources.limits import Watch

__all__ = ["PhraseTrie"]

_NODE_BYTES = 300  # of a node, about
_STEPS = 4096  # between two readings of the clock


class PhraseTrie:
    """Phrases as the automaton of Aho and Corasick, over characters.

    >>> PhraseTrie(["aba", "xa"], Watch()).by_heads(["aba", "xa"])
    [(('ab', 'x'), ['aba']), ((), ['xa'])]
    >>> PhraseTrie(["aba", "b"], Watch()).within("aba")
    'b'

    Attributes:
        steps: that were taken so far.

    Args:
        phrases: none of them is empty.
        watch: stops the work; ``memory_bytes`` of its limits bounds the trie and the heads, each by itself.

    Raises:
        LimitExceeded, Cancelled: the work was stopped.
    """

    def __init__(self, phrases: Iterable[str], watch: Watch) -> None:
        self._watch = watch
        self.steps = 0
        self._edges: dict[tuple[int, str], int] = {}
        self._ends: dict[int, str] = {}  # by node, the phrase that ends there
        self._depths = [0]
        levels: list[list[tuple[int, str, int]]] = []  # by depth: edges, each with the node that it leads to
        for phrase in phrases:
            watch.check()
            node = 0
            for depth, character in enumerate(phrase):
                following = self._edges.setdefault((node, character), len(self._depths))
                if following == len(self._depths):
                    self._count(len(self._depths) * _NODE_BYTES)
                    self._depths.append(depth + 1)
                    if depth == len(levels):
                        levels.append([])
                    levels[depth].append((node, character, following))
                node = following
            self._ends[node] = phrase
        self._fallbacks = [0] * len(self._depths)
        self._inner = [0] * len(self._depths)  # by node, the end of the longest other phrase it ends with
        for level in levels[1:]:
            for edge in level:
                self._link(*edge)

    def _link(self, node: int, character: str, following: int) -> None:
        """Finds the fallback of ``following``; those of shorter nodes are known."""
        self._count()
        target = None
        while node and target is None:
            node = self._fallbacks[node]
            target = self._edges.get((node, character))
        fallback = target or 0
        self._fallbacks[following] = fallback
        self._inner[following] = fallback if fallback in self._ends else self._inner[fallback]

    def within(self, phrase: str, excluded: Container[str] = ()) -> str | None:
        """A phrase that makes ``phrase``, which is one of them too, unreachable, if there is one.

        Phrases do if they end within it, before its end; ``excluded`` ones anywhere in it.
        """
        node = 0
        for position, character in enumerate(phrase, 1):
            self._count()
            node = self._edges[node, character]
            end = node if node in self._ends else self._inner[node]
            while end:
                if position < len(phrase) or self._ends[end] in excluded:
                    return self._ends[end]
                end = self._inner[end]
        return None

    def by_heads(self, phrases: Sequence[str]) -> list[tuple[tuple[str, ...], list[str]]]:
        """Groups some of the phrases by what may not stand before them.

        The head ``""`` is that of unreachable phrases: no text may stand before them.
        """
        reachable = [phrase for phrase in phrases if self.within(phrase) is None]
        nodes = {node for phrase in reachable for node in self._path(phrase)}
        begun: dict[int, list[str]] = {}  # by node, what stands before it in the phrases that end with it
        size = 0
        for end, phrase in self._ends.items():
            node = self._fallbacks[end]
            while node:
                if node in nodes:
                    begun.setdefault(node, []).append(phrase[: -self._depths[node]])
                    size += len(phrase)
                self._count(size)
                node = self._fallbacks[node]
        grouped: dict[int, list[str]] = {}  # by the last node on a path that has heads
        before = {0: 0}  # by such a node, the one before it
        for phrase in reachable:
            last = 0
            for node in self._path(phrase):
                if node in begun:
                    before[node], last = last, node
            grouped.setdefault(last, []).append(phrase)
        groups: dict[tuple[str, ...], list[str]] = {}
        for last, some in grouped.items():
            heads: set[str] = set()
            node = last
            while node:
                heads.update(begun[node])
                node = before[node]
                self._count(size)
            size += sum(map(len, heads)) + 100 * len(heads)
            groups.setdefault(tuple(sorted(heads)), []).extend(some)
        if len(reachable) < len(phrases):
            groups[("",)] = [phrase for phrase in phrases if self.within(phrase) is not None]
        return list(groups.items())

    def _path(self, phrase: str) -> Iterator[int]:
        """The nodes of the beginnings of a phrase, the phrase included."""
        node = 0
        for character in phrase:
            self._count()
            node = self._edges[node, character]
            yield node

    def _count(self, size: int = 0) -> None:
        """Counts a step; raises if the work is to be stopped, or takes about ``size`` bytes already."""
        self.steps += 1
        if self.steps % _STEPS == 0:
            self._watch.check()
        if size > self._watch.limits.memory_bytes:
            raise LimitExceeded("memory_bytes", self._watch.limits.memory_bytes)
