"""All segmentations of one text by a Unigram model, with their scores.

    from tokamata.tokenization.lattice import Lattice, UnigramModel

    model = UnigramModel.hugging_face([("<unk>", 0.0), ("a", -1.0), ("b", -1.5), ("ab", -2.0)], unk_id=0)
    lattice = Lattice(model, "abab")
    lattice.best().ids                       # (3, 3)
    [way.ids for way in lattice.n_best()]    # [(3, 3), (3, 1, 2), (1, 2, 3), (1, 2, 1, 2)]

A segmentation is a sequence of arcs; its token ids are what the host writes for it.  Two segmentations may
have the same ids, where the host joins unknown characters.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, groupby
from typing import Any, NamedTuple

import numpy as np

from tokamata.automata.acceptor import Acceptor
from tokamata.automata.token_automaton import TokenAutomaton
from tokamata.calls.arguments import (
    checked_choice,
    checked_instance,
    checked_number,
    checked_text,
)
from tokamata.errors import UnspellableError
from tokamata.resources.limits import Limits, Watch, checked_limits
from tokamata.tokenization.lattice.forced_spans import Span, checked_spans, forced_graph
from tokamata.tokenization.lattice.graph import ARC_BYTES, Float64, Graph, Int32
from tokamata.tokenization.lattice.hosts import Host
from tokamata.tokenization.lattice.n_best import best_paths
from tokamata.tokenization.lattice.products import product
from tokamata.tokenization.lattice.sampling import distinct_paths, random_paths
from tokamata.tokenization.lattice.sums import end_shares, forward_sums, log_sum, marginals, shares
from tokamata.tokenization.lattice.unigram import UnigramModel
from tokamata.tokenization.lattice.viterbi import Best, host_best

__all__ = ["Arc", "Lattice", "Segmentation"]

_LARGEST_PENALTY = 1e9


class Arc(NamedTuple):
    """A piece at a place of the text.

    Attributes:
        start, end: in code points.
        token: the id of the piece, or of the unknown piece.
        score: its score.
    """

    start: int
    end: int
    token: int
    score: float


@dataclass(frozen=True)
class Segmentation:
    """One way to cut the text into pieces.

    Attributes:
        arcs: the pieces, from left to right.
        ids: the tokens that the host writes for it.
        score: the sum of the pieces' scores, rounded once.
    """

    arcs: tuple[Arc, ...]
    ids: tuple[int, ...]
    score: float


class Lattice:
    """The segmentations of a text; immutable.

    Methods that return other lattices leave this one as it is.  Time and memory grow linearly with arcs.
    Milliseconds of one core for XLNet's model of 32,000 pieces and English text, which has two arcs for each
    character:

        characters                100    1,000   10,000   100,000   1,000,000
        the lattice               0.2      0.4      2.7        25         280
        best                      0.1      0.9       10       100       1,100
        marginals                 0.3      2.3       25       250       2,400
        10 best                   0.7      7.3      130     2,200
        10 samples                0.5      5.6       76       990
        10 distinct samples       0.9       24      430     5,000

    A hostile text may have an arc for each character and each length of a piece; ``limits`` stops it.

    Args:
        model: the model.
        text: a text as the host's model is given it: normalized, and with Hugging Face one pre-token.
        limits: bounds on the memory of the lattice and of each call, and on the time of each call.

    Attributes:
        model: the model.
        text: the text.

    Raises:
        LimitExceeded: the text has too many arcs.
        ArgumentError: an argument is of another type, or the text is not valid.
    """

    def __init__(self, model: UnigramModel, text: str, limits: Limits | None = None) -> None:
        checked_instance("model", model, UnigramModel)
        checked_text(text)
        self.model = model
        self.text = text
        self._limits = checked_limits(limits)
        self._graph = _graph_of(model, text, Watch(self._limits))
        self._resets: tuple[tuple[int, float], ...] | None = None

    def __repr__(self) -> str:
        return f"Lattice({self.text[:40]!r}, {len(self.tokens):,} arcs)"

    @property
    def starts(self) -> Int32:
        """``int32[arcs]``: where each arc starts, in code points.

        With a constraint, an arc is there once for each state of the automaton with which it is reached.
        """
        return self._graph.starts

    @property
    def ends(self) -> Int32:
        """``int32[arcs]``: where each arc ends."""
        return self._graph.stops

    @property
    def tokens(self) -> Int32:
        """``int32[arcs]``: the token of each arc."""
        return self._graph.tokens

    @property
    def scores(self) -> Float64:
        """``float64[arcs]``: the score of each arc."""
        return self._graph.scores

    def best(self, ties: str = "host") -> Segmentation:
        """The best segmentation: the one that the host's encoder takes.

        Args:
            ties: ``"host"``, or ``"lexicographic"``: by exact sums, and of equal ones the least sequence of
                token ids.

        Raises:
            LimitExceeded: it took too long, or too much memory.
        """
        checked_choice("ties", ties, ("host", "lexicographic"))
        if ties == "host" and self._resets is None:
            return self._segmentation(self._host_best.arcs or [])
        return next(self.n_best(ties))

    def n_best(self, ties: str = "host") -> Iterator[Segmentation]:
        """All segmentations, the best first; each is made when it is taken.

        Args:
            ties: ``"host"``: by the host's rounded sums, of equal ones the longer last piece first, and so on
                to the left.  ``"lexicographic"``: by exact sums, of equal ones the least sequence of tokens,
                one for each arc.

        Raises:
            LimitExceeded: the next one took too long, or all together too much memory.
        """
        checked_choice("ties", ties, ("host", "lexicographic"))
        host = self.model.host if ties == "host" else None
        resets = () if host is None else self._known_resets()
        return map(self._segmentation, best_paths(self._graph, host, resets, self._limits))

    def log_partition(self, alpha: float = 1.0) -> float:
        """The logarithm of the sum of exp(alpha · score) of all segmentations; with alpha 0, of their number.

        Raises:
            LimitExceeded: it took too long.
        """
        sums = self._sums(alpha)
        return log_sum([float(sums[end]) for end in self._graph.ends])

    def marginals(self, alpha: float = 1.0) -> Float64:
        """``float64[arcs]``: the probability that a segmentation uses an arc.

        Args:
            alpha: a segmentation has a probability proportional to exp(alpha · score).

        Raises:
            LimitExceeded: it took too long.
        """
        sums = self._sums(alpha)
        own = shares(self._graph, float(alpha), sums)
        return marginals(self._graph, own, end_shares(self._graph, sums), Watch(self._limits))

    def samples(self, draw: np.random.Generator, alpha: float = 1.0) -> Iterator[Segmentation]:
        """Random segmentations without end, independent of each other.

        Args:
            draw: the source of random numbers; the same seed yields the same segmentations.
            alpha: a segmentation has a probability proportional to exp(alpha · score): 1 is the model's own,
                0 makes all equally probable, a large one takes the best.

        Raises:
            LimitExceeded: the sums took too long.
        """
        checked_instance("draw", draw, np.random.Generator)
        sums = self._sums(alpha)
        own, ends = shares(self._graph, float(alpha), sums), end_shares(self._graph, sums)
        return map(self._segmentation, random_paths(self._graph, own, ends, draw, Watch(self._limits)))

    def distinct_samples(self, draw: np.random.Generator, alpha: float = 1.0) -> Iterator[Segmentation]:
        """Random segmentations without replacement, until there is no other.

        Each one has the law of :meth:`samples` among those that did not come before it.

        Args:
            draw, alpha: as for :meth:`samples`.

        Raises:
            LimitExceeded: the next one took too long, or all together too much memory.
        """
        checked_instance("draw", draw, np.random.Generator)
        sums = self._sums(alpha)
        return map(self._segmentation, distinct_paths(self._graph, float(alpha), sums, draw, self._limits))

    def forced(self, spans: Sequence[Span], penalty: float = math.inf, overlaps: str = "refuse") -> Lattice:
        """The segmentations with borders at both ends of each span, and one piece over it if there is one.

        Of a lattice with a constraint, "if there is one" means an arc of that lattice: call this one first.

        Args:
            spans: pairs of a start and an end in code points; :func:`.occurrences` finds them.
            penalty: what the score of a piece within a span loses, where one piece would span it; ``inf``
                removes such pieces.  At most 10^9 otherwise.
            overlaps: ``"refuse"``, or ``"leftmost"``: of overlapping spans the first one counts.

        Raises:
            OverlappingSpansError: two spans overlap.
            UnspellableError: no segmentation is left, which happens only after :meth:`constrained`.
        """
        checked_choice("overlaps", overlaps, ("refuse", "leftmost"))
        if penalty != math.inf:
            penalty = checked_number("penalty", penalty, 0.0, _LARGEST_PENALTY)
        kept = checked_spans(spans, len(self.text), overlaps)
        result = self._with(forced_graph(self._graph, kept, penalty, self.model.host), self._resets)
        if self._resets is not None and result.log_partition() == -math.inf:
            raise UnspellableError(
                "no segmentation that satisfies the constraint has borders at all spans; leave spans out, or "
                "change the constraint"
            )
        return result

    def constrained(self, automaton: Acceptor | TokenAutomaton) -> Lattice:
        """The segmentations whose token ids an automaton accepts, with the same scores.

        Args:
            automaton: over token ids: a ``tokamata.automata.Acceptor``, or the ``token_automaton()`` of a
                compiled constraint.  One that is not deterministic is determinized.

        Raises:
            UnspellableError: no segmentation is accepted.
            LimitExceeded: the result is too large, or it took too long.
            TokenIdError: the automaton has fewer tokens than the model.
        """
        checked_instance(
            "automaton", automaton, (Acceptor, TokenAutomaton), "an Acceptor or a TokenAutomaton"
        )
        graph = product(self.model, self.text, self._graph, automaton, self._limits)
        if not graph.ends:
            raise UnspellableError(
                f"the automaton accepts no segmentation of {self.text!r:.60}; check that it reads the token "
                "ids of this model"
            )
        return self._with(graph, self._known_resets())

    @cached_property
    def _host_best(self) -> Best:
        return host_best(self._graph, self.model.host, Watch(self._limits))

    def _known_resets(self) -> tuple[tuple[int, float], ...]:
        """Those of the lattice without a constraint, so that a sum depends on its segmentation alone."""
        if self._resets is not None:
            return self._resets
        return () if self.model.host is Host.HUGGING_FACE else self._host_best.resets

    def _sums(self, alpha: Any) -> Float64:
        alpha = checked_number("alpha", alpha, 0.0, 1e6)
        return forward_sums(self._graph, alpha, Watch(self._limits))

    def _with(self, graph: Graph, resets: tuple[tuple[int, float], ...] | None) -> Lattice:
        """Another lattice of this text; ``resets`` if its nodes are not positions."""
        lattice = object.__new__(Lattice)
        lattice.model, lattice.text, lattice._limits = self.model, self.text, self._limits
        lattice._graph, lattice._resets = graph, resets
        return lattice

    def _segmentation(self, path: Sequence[int]) -> Segmentation:
        index = np.array(path, dtype=np.int64)
        columns = (self.starts, self.ends, self.tokens, self.scores)
        rows = zip(*(column[index].tolist() for column in columns), strict=True)
        arcs = tuple(map(Arc._make, rows))
        return Segmentation(arcs, self._ids(arcs), math.fsum(arc.score for arc in arcs))

    def _ids(self, arcs: tuple[Arc, ...]) -> tuple[int, ...]:
        model = self.model
        ids: list[tuple[int, ...]] = []
        for is_unknown, group in groupby(arcs, lambda arc: arc.token == model.unknown):
            if is_unknown:
                row = list(group)
                ids.append(model.joined_tokens(self.text[row[0].start : row[-1].end]))
            else:
                ids.extend((arc.token,) for arc in group)
        return tuple(chain.from_iterable(ids))


def _graph_of(model: UnigramModel, text: str, watch: Watch) -> Graph:
    """The arcs of a text: every occurrence of a piece, and unknown characters."""
    has_single = np.zeros(len(text), dtype=bool)
    starts, lengths, tokens = [], [], []
    for found, length, ids in model.trie.find(text, watch):
        watch.hold(ARC_BYTES * len(found))
        if length == 1:
            has_single[found] = True
        starts.append(found)
        lengths.append(np.full(len(found), length))
        tokens.append(ids)
    unknown = np.flatnonzero(~has_single)
    watch.hold(ARC_BYTES * len(unknown))
    starts.append(unknown)
    lengths.append(np.ones(len(unknown), dtype=np.int64))
    tokens.append(np.full(len(unknown), model.unknown, dtype=np.int32))
    sources, spans, ids = np.concatenate(starts), np.concatenate(lengths), np.concatenate(tokens)
    scores = model.scores[ids]
    scores[len(ids) - len(unknown) :] = model.unknown_score
    order = np.lexsort((spans, sources))
    return Graph(
        np.arange(len(text) + 1, dtype=np.int32),
        sources[order].astype(np.int32),
        (sources + spans)[order].astype(np.int32),
        ids[order].astype(np.int32),
        scores[order],
        (len(text),),
    )
