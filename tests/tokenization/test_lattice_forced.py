"""Protected spans of a lattice; 004, section 3.5 and theorem 2."""

from __future__ import annotations

import itertools
import math
import random
from collections import Counter

import numpy as np
import pytest
from scipy import stats

from tests.support.tokenizers.segmentations import Way, all_ways, cases, lexicographic, probabilities
from tokamata.automata import Acceptor
from tokamata.errors import ArgumentError, OverlappingSpansError, UnspellableError
from tokamata.tokenization.lattice import Lattice, UnigramModel, occurrences

Span = tuple[int, int]
DEAR = UnigramModel.hugging_face([("<unk>", -30.0), ("a", -1.0), ("b", -1.0), ("ab", -20.0)], 0)
TEXT = UnigramModel.hugging_face(
    [("<unk>", -9.0), ("a", -1.0), ("b", -1.0), ("ab", -2.5), ("ba", -2.0), ("aba", -2.5), ("bab", -3.0)], 0
)
A, B, AB, BA, ABA, BAB = range(1, 7)


def honours(way: Way, spans: list[Span]) -> bool:
    """Whether the borders of all spans are borders of pieces."""
    borders = {0} | {piece.end for piece in way}
    return all(border in borders for span in spans for border in span)


def is_forced(model: UnigramModel, text: str, way: Way, spans: list[Span]) -> bool:
    """Whether, moreover, each span is one piece where the model has one."""
    pieces = {(piece.start, piece.end) for piece in way}
    return honours(way, spans) and all(
        (start, end) in pieces for start, end in spans if text[start:end] in model.ids or (end == start + 1)
    )


# ---- theorem 2 ---------------------------------------------------------------------------------


def test_004_theorem_2_no_small_penalty_makes_a_span_one_piece() -> None:
    """``ab`` at -20, ``a`` and ``b`` at -1: both inner arcs lose δ, and win for each δ below 9."""
    lattice = Lattice(DEAR, "ab")
    for penalty in (0.0, 1e-9, 1.0, 8.999):
        assert lattice.forced([(0, 2)], penalty).best().ids == (1, 2)
        assert lattice.forced([(0, 2)], penalty).best("lexicographic").ids == (1, 2)
    for penalty in (9.001, 100.0, math.inf):
        assert lattice.forced([(0, 2)], penalty).best().ids == (3,)
    tie = lattice.forced([(0, 2)], 9.0)
    assert (tie.best().ids, tie.best("lexicographic").ids) == ((3,), (1, 2))


def test_004_theorem_2_one_best_way_for_any_penalty_and_for_0() -> None:
    """The order is total; borders are honoured because crossing arcs went, whatever δ is."""
    draw = random.Random(1)
    seen = 0
    for judged, text, ways in cases(60, 1, 9):
        start = draw.randrange(len(text))
        spans = [(start, draw.randrange(start, len(text)) + 1)]
        for penalty in (0.0, 0.5, 4.0):
            kept = [
                tuple(
                    piece._replace(
                        score=judged.model.host.rounded(
                            piece.score - penalty * is_inner(judged.model, text, piece[:2], spans[0])
                        )
                    )
                    for piece in way
                )
                for way in ways
                if honours(way, spans)
            ]
            forced = Lattice(judged.model, text).forced(spans, penalty)
            ranked = [tuple(map(tuple, one.arcs)) for one in forced.n_best("lexicographic")]
            assert ranked == lexicographic(kept)
            assert tuple(map(tuple, forced.best().arcs)) in kept
            seen += len(kept)
    assert seen > 500


def is_inner(model: UnigramModel, text: str, place: tuple[int, ...], span: Span) -> bool:
    start, end = place
    is_piece = text[span[0] : span[1]] in model.ids or (
        span[1] == span[0] + 1  # or an unknown character
    )
    return is_piece and span[0] <= start and end <= span[1] and (start, end) != span


def test_004_theorem_2_rejection_samples_the_same_law_slower() -> None:
    """Not unsafe: what is drawn until it honours the span has the law of the forced lattice."""
    text, spans = "ababa", [(1, 3)]
    lattice, forced = Lattice(TEXT, text), Lattice(TEXT, text).forced([(1, 3)])
    ways = all_ways(TEXT, text)
    kept = [way for way in ways if is_forced(TEXT, text, way, spans)]
    law = probabilities(kept, 1.0)
    named = [tuple(piece.token for piece in way) for way in kept]
    draws = 0
    rejected: list[tuple[int, ...]] = []
    samples = lattice.samples(np.random.default_rng(2))
    while len(rejected) < 1500:
        one = next(samples)
        draws += 1
        if tuple(arc.token for arc in one.arcs) in named:
            rejected.append(one.ids)
    direct = [one.ids for one in itertools.islice(forced.samples(np.random.default_rng(3)), 1500)]
    for drawn in (rejected, direct):
        counts = Counter(drawn)
        assert set(counts) <= set(named)
        assert stats.chisquare([counts[name] for name in named], law * 1500).pvalue > 1e-3
    share = math.exp(forced.log_partition() - lattice.log_partition())
    assert 0.05 < share < 0.5
    assert draws == pytest.approx(1500 / share, rel=0.15)  # what rejection costs


def test_004_constraints_come_before_pruning() -> None:
    """None of the two best honours the span, so that pruning to these first leaves nothing."""
    text, spans = "abab", [(1, 2)]
    pruned = [one.ids for one in itertools.islice(Lattice(TEXT, text).n_best(), 2)]
    assert pruned == [(ABA, B), (A, BAB)]
    forced = [one.ids for one in Lattice(TEXT, text).forced(spans).n_best()]
    assert forced == [(A, B, A, B), (A, B, AB)]
    assert not set(pruned) & set(forced)


def test_004_what_crosses_overlapping_occurrences_leaves_no_way() -> None:
    """``aaa`` with ``aa``: each occurrence crosses the other, so neither can be kept."""
    model = UnigramModel.hugging_face([("<unk>", -30.0), ("a", -1.0), ("aa", -1.5)], 0)
    lattice, spans = Lattice(model, "aaa"), occurrences("aaa", "aa")
    assert spans == [(0, 2), (1, 3)]
    assert not any(
        all((start, end) in {(arc.start, arc.end) for arc in way.arcs} for start, end in spans)
        for way in lattice.n_best()
    )
    with pytest.raises(OverlappingSpansError) as caught:
        lattice.forced(spans)
    assert (caught.value.first, caught.value.second) == ((0, 2), (1, 3))
    assert "leftmost" in str(caught.value)
    assert [one.ids for one in lattice.forced(spans, overlaps="leftmost").n_best()] == [(2, 1)]


# ---- the hard form -----------------------------------------------------------------------------


def test_forced_lattices_against_the_enumeration() -> None:
    draw = random.Random(4)
    seen = 0
    for judged, text, ways in cases(150, 4):
        borders = sorted(draw.sample(range(len(text) + 1), k=min(len(text) + 1, draw.choice([2, 4]))))
        spans = list(zip(borders[::2], borders[1::2], strict=False))
        lattice = Lattice(judged.model, text)
        kept = {way for way in ways if is_forced(judged.model, text, way, spans)}
        forced = lattice.forced(spans)
        assert {tuple(map(tuple, one.arcs)) for one in forced.n_best()} == kept
        best = tuple(map(tuple, forced.best().arcs))
        assert best == tuple(map(tuple, next(forced.n_best()).arcs))
        assert best in kept
        inside = [one for one in lattice.n_best() if tuple(map(tuple, one.arcs)) in kept]
        assert list(forced.n_best()) == inside
        seen += len(kept)
    assert seen > 300


def test_a_span_that_is_no_piece_is_a_run_of_whole_pieces() -> None:
    forced = Lattice(TEXT, "abba").forced([(1, 3)])  # bb is no piece
    assert [one.ids for one in forced.n_best()] == [(A, B, B, A)]


def test_forced_after_constrained() -> None:
    lattice = Lattice(TEXT, "abab").constrained(Acceptor.from_strings([[AB, AB], [A, B, AB], [A, BA, B]]))
    assert [one.ids for one in lattice.forced([(0, 2)]).n_best()] == [(AB, AB)]
    assert lattice.forced([(1, 2)]).best().ids == (A, B, AB)
    with pytest.raises(UnspellableError, match="no segmentation that satisfies the constraint"):
        lattice.forced([(0, 1), (2, 3)])


def test_spans() -> None:
    lattice = Lattice(TEXT, "abab")
    assert list(lattice.forced([]).n_best()) == list(lattice.n_best())
    assert lattice.forced([(2, 4), (0, 2), (0, 2)]).best().ids == (AB, AB)
    assert lattice.forced([(0, 3), (0, 2)], overlaps="leftmost").best().ids == (ABA, B)
    for spans in ([(0, 5)], [(2, 2)], [(3, 2)], [(-1, 2)], [0, 2], ["ab"], 5, [(0, 1, 2)], [(0.0, 1)]):
        with pytest.raises(ArgumentError):
            lattice.forced(spans)  # type: ignore[arg-type]
    for penalty in (-1.0, float("nan"), "1", 1e300, None):
        with pytest.raises(ArgumentError):
            lattice.forced([(0, 2)], penalty)  # type: ignore[arg-type]
    with pytest.raises(ArgumentError):
        lattice.forced([(0, 2)], overlaps="rightmost")
    assert occurrences("abab", "ab") == [(0, 2), (2, 4)]
    assert occurrences("ab", "ba") == []
    with pytest.raises(ArgumentError):
        occurrences("ab", "")
