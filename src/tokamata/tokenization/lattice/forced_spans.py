"""Protected spans: which arcs go, and which are penalized.

A span of the text is *protected* if a segmentation shall have borders at both of its ends, and one piece over
it where the model has such a piece (a *forced* arc).  Other arcs are

    crossing   with one of these ends inside           they go, always
    inner      within the span, and shorter than it    they go, or lose a penalty δ each

For the span ``ab`` of ``xaby``: ``xa`` and ``xaby`` cross it, ``a`` and ``b`` are inner.  Without a piece
``ab`` no inner arc goes and none is penalized: the span is a run of whole pieces.

The paper (004, section 3.5 and theorem 2) has the penalty, and says that any δ > 0 yields one best way that
honours the borders.  With ties broken in a total order there is one best way for each δ, 0 too, and the
borders are honoured because crossing arcs went.  That the span is *one piece* needs a δ that is large
enough: with ``ab`` at -20 and ``a``, ``b`` at -1, the way ``a b`` loses 2 δ and wins for each δ < 9.
``penalty=inf``, the default, removes inner arcs.

Overlapping spans have no way through: of ``aaa`` with the two occurrences of ``aa``, each crosses the other.
They are refused, or the leftmost goes first.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from tokamata.calls.arguments import checked_list, checked_text, checked_whole
from tokamata.errors import ArgumentError, OverlappingSpansError, shown_argument
from tokamata.tokenization.lattice.graph import Graph
from tokamata.tokenization.lattice.hosts import Host

__all__ = ["Span", "checked_spans", "forced_graph", "occurrences"]

Span = tuple[int, int]


def occurrences(text: str, protected: str) -> list[Span]:
    """Each occurrence of a text in another, also those that overlap; starts and ends in code points.

    Raises:
        ArgumentError: one is not a text, or ``protected`` is empty.
    """
    checked_text(text)
    checked_text(protected, "protected")
    if not protected:
        raise ArgumentError("protected", "''", "a text that is not empty")
    spans = []
    at = text.find(protected)
    while at >= 0:
        spans.append((at, at + len(protected)))
        at = text.find(protected, at + 1)
    return spans


def checked_spans(spans: Sequence[Span], length: int, overlaps: str) -> list[Span]:
    """The spans in order, none of which overlaps another.

    Args:
        spans: in any order; a span may be there twice.
        length: of the text.
        overlaps: ``"refuse"``, or ``"leftmost"``: a span that begins earlier is kept, and of two that begin
            together the longer one.

    Raises:
        OverlappingSpansError: two overlap.
        ArgumentError: a span is not within the text, or it is empty.
    """
    checked: set[Span] = set()
    for span in checked_list("spans", spans, "a list of pairs of a start and an end"):
        if not isinstance(span, Sequence) or isinstance(span, str) or len(span) != 2:
            raise ArgumentError("a span", shown_argument(span), "a pair of a start and an end")
        start = checked_whole("the start of a span", span[0], 0, length)
        checked.add((start, checked_whole("the end of a span", span[1], start + 1, length + 1)))
    kept: list[Span] = []
    for span in sorted(checked, key=lambda span: (span[0], -span[1])):
        if kept and span[0] < kept[-1][1]:
            if overlaps == "refuse":
                raise OverlappingSpansError(kept[-1], span)
            continue
        kept.append(span)
    return kept


def forced_graph(graph: Graph, spans: list[Span], penalty: float, host: Host) -> Graph:
    """The graph without crossing arcs, and without inner ones or with these penalized.

    Args:
        graph: the graph.
        spans: in order, without overlaps.
        penalty: what an inner arc loses; ``inf`` removes it.
        host: in whose type scores are.
    """
    if not spans:
        return graph
    begins, ends = (np.array(side) for side in zip(*spans, strict=True))
    starts, stops = graph.starts, graph.stops
    borders = np.unique(np.concatenate([begins, ends]))
    crosses = np.searchsorted(borders, starts, "right") < np.searchsorted(borders, stops, "left")
    index = np.maximum(np.searchsorted(begins, starts, "right") - 1, 0)  # the span that an arc may be within
    is_within = (begins[index] <= starts) & (stops <= ends[index])
    is_whole = is_within & (begins[index] == starts) & (stops == ends[index])
    has_whole = np.zeros(len(spans), dtype=bool)
    has_whole[index[is_whole]] = True
    is_inner = is_within & ~is_whole & has_whole[index]
    if penalty == math.inf:
        return graph.with_arcs(~crosses & ~is_inner, graph.scores)
    scores = graph.scores - penalty * is_inner
    if host is Host.SENTENCE_PIECE:
        scores = scores.astype(np.float32).astype(np.float64)
    return graph.with_arcs(~crosses, scores)
