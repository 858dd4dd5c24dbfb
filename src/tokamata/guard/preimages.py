"""The shortest text without a given text that a change of texts turns into one with it.

Problem: find the shortest x that lacks b, where N(x) has b, or show that there is none; of several, the
smallest.

Examples: U+2A74 for ``::=`` and NFKC.  ``e`` U+0301 for é and NFC.  ``x`` U+0300 U+0323 for ``x`` U+0323
and NFC, which sorts marks by class.  ``a`` U+1D47 for ``ab`` and NFKC: ª ``b`` has the same length, but is
larger.

Method.  N(x) has b if and only if x is spelled like some p b q that N leaves as it is, up to the order of
marks of different classes (``normalization.py``, theorem 2).  So the search reads x code point by code
point, and matches the spellings with that of b.  A *progress* is the cluster of b that is being read, a
starter and its marks; which of the marks were read; and, in the last cluster, which other marks.  The next
mark of a class must be the one that b has next of that class.  Others are tolerated after those of their
class, if b stays as it is before them.  A code point may begin before b or end after it, if b stays as it
is there.

A state also says whether the text so far is a prefix of b: at the end of b, such a text is no
counterexample.  The search is by layers of texts of one length.  Texts of a layer are ranked, so the first
text that reaches the end is the shortest, and the smallest of its length.

Limits: a b that begins with a mark is examined only for single code points, since the mark may join or
leave a character before it.  A code point that changes with what is before it, and in which b begins after
its first character (vowel signs of Unicode 16), may make b together with others.  Both are *not settled*,
unless a single code point makes b.

Cost: twice as many states as b has characters, if none has marks of several classes; from each state, the
code points whose spelling begins with what is next, a few dozen.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from tokamata.guard.rewritings import Rewriting, Spellings

__all__ = ["Preimage", "shortest_preimage"]

_MOST_EDGES = 40_000


class Preimage(NamedTuple):
    """The result of a search.

    Attributes:
        text: the shortest text that makes b, and of these the smallest; ``None`` if none was found.
        unsettled: why there may be others although none was found; ``""`` if there is none.
    """

    text: str | None
    unsettled: str = ""


class _Progress(NamedTuple):
    """What was read of b's clusters.

    Attributes:
        cluster: the cluster that is being read; -1 before the first.
        marks: which marks of it were read, as bits.
        others: other marks that were read in the last cluster, in order.
    """

    cluster: int
    marks: int
    others: str


class _State(NamedTuple):
    """A state of the search.

    Attributes:
        same: how many code points of b the text so far is; -1 if it is not a prefix of b.
        progress: what was read.
    """

    same: int
    progress: _Progress


_START = _Progress(-1, 0, "")
_END = _Progress(-2, 0, "")


def shortest_preimage(boundary: str, spellings: Spellings, rewriting: Rewriting) -> Preimage:
    """The shortest text without ``boundary`` that becomes one with it, by ``spellings``.

    Args:
        boundary: a text that the change leaves as it is, not empty.
        spellings: of the change.
        rewriting: its ``prefix`` says whether a space is put before a text.
    """
    spelling = spellings.spelling(boundary)
    if spelling[0] in spellings.classes:
        return _of_mark(boundary, spelling[0], spellings)
    if boundary == " " and rewriting.prefix != "none":
        return Preimage(_smallest_prefixed(rewriting))
    return _Search(boundary, spelling, spellings, rewriting.prefix).run()


def _smallest_prefixed(rewriting: Rewriting) -> str:
    assert rewriting.change is not None
    points = (chr(point) for point in range(0xD800))
    return next(p for p in points if p != " " and " " in rewriting.prefixed(rewriting.change(p)))


def _of_mark(boundary: str, mark: str, spellings: Spellings) -> Preimage:
    """For a boundary that begins with a mark: only single code points are examined."""
    containing = spellings.containing.get(mark, [])
    for point in containing:
        if point != boundary and boundary in spellings.change(point):
            return Preimage(point)
    if len(boundary) == 1 and not containing:
        return Preimage(None)  # it is spelled only by itself
    return Preimage(None, "it begins with a combining mark, which joins what stands before it")


class _Search:
    """One search; see the module."""

    def __init__(self, boundary: str, spelling: str, spellings: Spellings, prefix: str) -> None:
        self.boundary = boundary
        self.spellings = spellings
        self.prefix = prefix
        self.classes = spellings.classes
        self.clusters: list[tuple[str, str]] = []  # starter and marks, in order of their classes
        begin = 0
        for end in range(1, len(spelling) + 1):
            if end == len(spelling) or spelling[end] not in self.classes:
                marks = sorted(spelling[begin + 1 : end], key=self.classes.__getitem__)
                self.clusters.append((spelling[begin], "".join(marks)))
                begin = end
        self.last = len(self.clusters) - 1
        self.full = [(1 << len(marks)) - 1 for _, marks in self.clusters]
        # Only these parts of b can touch what is before it, and what is after it.
        self.head = boundary[: spellings.first_apart(boundary, 1)]
        self.tail = boundary[spellings.last_apart(boundary) :]
        self.unsettled = ""
        self.tolerated: dict[str, bool] = {}
        self.separators: list[str] | None = None
        # What was read after each prefix of b.
        self.prefixes = [_START]
        for point in boundary:
            after = self.read(self.prefixes[-1], spellings.spelled.get(point, point))
            assert after is not None  # b spells itself
            self.prefixes.append(after)

    def run(self) -> Preimage:
        # The texts of a layer have one length; equal texts have equal ranks.
        layer: list[tuple[int, _State]] = [(0, _State(0, _START))]
        starter, marks = self.clusters[0]
        after_space = self.clusters[1][0] if self.last and not marks else ""
        if self.prefix != "none" and starter == " " and (self.prefix == "always" or after_space != " "):
            layer.append((0, _State(-1, _Progress(0, 0, ""))))
        parents: dict[_State, tuple[_State, str] | None] = {state: None for _, state in layer}
        edges = 0
        while layer:
            found: dict[_State, tuple[int, str, _State]] = {}
            for rank, state in layer:
                for point, after in self.edges(state):
                    edges += 1
                    if after not in parents and (after not in found or (rank, point) < found[after][:2]):
                        found[after] = (rank, point, state)
            ends = [item for after, item in found.items() if self.is_end(after)]
            if ends:
                _, point, state = min(ends)
                return self.checked(self.text(parents, state) + point)
            parents.update((after, (state, point)) for after, (_, point, state) in found.items())
            if edges > _MOST_EDGES:
                return Preimage(None, f"the search of its preimages met the limit of {_MOST_EDGES:,} edges")
            ranks = {
                pair: number for number, pair in enumerate(sorted({item[:2] for item in found.values()}))
            }
            layer = [(ranks[item[:2]], after) for after, item in found.items()]
        return Preimage(None, self.unsettled)

    def text(self, parents: dict[_State, tuple[_State, str] | None], state: _State) -> str:
        points = []
        while (parent := parents[state]) is not None:
            state, point = parent
            points.append(point)
        return "".join(reversed(points))

    def checked(self, text: str) -> Preimage:
        """A text that was found; longer texts may not be the shortest where a case was left out."""
        if self.unsettled and len(text) > 1:
            return Preimage(None, self.unsettled)
        return Preimage(text)

    def is_end(self, state: _State) -> bool:
        if state.same >= 0:
            return False
        progress = state.progress
        return progress == _END or self.is_complete(progress)

    def is_complete(self, progress: _Progress) -> bool:
        return progress.cluster == self.last and progress.marks == self.full[self.last]

    # ---- edges -----------------------------------------------------------------------------------

    def edges(self, state: _State) -> Iterator[tuple[str, _State]]:
        """The code points that may be read next, and the states after them."""
        same, progress = state
        spelled = self.spellings.spelled
        if same == len(self.boundary):
            return
        if progress == _START:
            yield from self.first_edges()
            return
        next_same = self.boundary[same] if same >= 0 else ""
        for point in self.candidates(progress):
            if point == next_same:
                yield point, _State(same + 1, self.prefixes[same + 1])
            elif (after := self.read(progress, spelled.get(point, point))) is not None:
                yield point, _State(-1, after)
        for point in self.spellings.erased if same > 0 else ():
            yield point, _State(-1, progress)

    def first_edges(self) -> Iterator[tuple[str, _State]]:
        first = self.clusters[0][0]
        for point in [first, *self.spellings.containing.get(first, ())]:
            spelling = self.spellings.spelled.get(point, point)
            if point == self.boundary[0]:
                yield point, _State(1, self.prefixes[1])
            for begin, part in enumerate(spelling):
                if part != first or (begin == 0 and point == self.boundary[0]):
                    continue
                after = self.read(_START, spelling[begin:])
                if after is None:
                    continue
                if begin and point in self.spellings.is_after:
                    self.unsettled = f"U+{ord(point):04X} makes it or not, depending on what is before that"
                if not begin or self.spellings.are_apart(spelling[:begin], self.head):
                    yield point, _State(-1, after)

    def candidates(self, progress: _Progress) -> Iterator[str]:
        """The code points whose spelling may be next."""
        cluster, read, others = progress
        _, marks = self.clusters[cluster]
        beginning = self.spellings.beginning
        if read == self.full[cluster]:
            needed = [self.clusters[cluster + 1][0]] if cluster < self.last else []
        else:
            firsts: dict[int, str] = {}
            for index, mark in enumerate(marks):
                if not read >> index & 1:
                    firsts.setdefault(self.classes[mark], mark)
            needed = list(firsts.values())
        for part in needed:
            yield part
            yield from beginning.get(part, ())
        if cluster == self.last and read != self.full[cluster]:
            yield from self.spellings.beginning_with_marks
            if not others:
                yield from self.separating()

    def separating(self) -> list[str]:
        """The smallest mark of each class that does not change b when it follows it."""
        if self.separators is None:
            smallest: dict[int, str] = {}
            for mark in sorted(self.classes):
                if self.classes[mark] not in smallest and self.tolerates(mark):
                    smallest[self.classes[mark]] = mark
            self.separators = list(smallest.values())
        return self.separators

    # ---- reading ---------------------------------------------------------------------------------

    def read(self, progress: _Progress, spelling: str) -> _Progress | None:
        """The progress after a spelling; ``None`` if it does not match."""
        cluster, read, others = progress
        for index, part in enumerate(spelling):
            cls = self.classes.get(part, 0)
            if cls == 0:
                if cluster == self.last and read == self.full[cluster]:
                    return _END if self.tolerates(others + spelling[index:]) else None
                if (cluster >= 0 and read != self.full[cluster]) or self.clusters[cluster + 1][0] != part:
                    return None
                cluster, read = cluster + 1, 0
                continue
            if cluster < 0:
                return None
            marks = self.clusters[cluster][1]
            place = next(
                (i for i, mark in enumerate(marks) if not read >> i & 1 and self.classes[mark] == cls), -1
            )
            if place >= 0:
                if marks[place] != part:
                    return None
                read |= 1 << place
            elif cluster == self.last and self.tolerates(others + part):
                others += part
            else:
                return None
        return _Progress(cluster, read, others)

    def tolerates(self, after: str) -> bool:
        """Whether b stays as it is before a text."""
        if after not in self.tolerated:
            self.tolerated[after] = self.spellings.are_apart(self.tail, after)
        return self.tolerated[after]
