"""Best paths, probabilities and samples of lattices, against all segmentations of small texts."""

from __future__ import annotations

import itertools
import math
import random
from collections import Counter

import numpy as np
import pytest
from scipy import stats

from tests.support.tokenizers.segmentations import (
    Way,
    all_ways,
    cases,
    host_sum,
    in_host_order,
    lexicographic,
    probabilities,
)
from tests.support.tokenizers.unigram_models import (
    NORMAL,
    UNKNOWN,
    model_file,
)
from tokamata.errors import ArgumentError, LimitExceeded
from tokamata.resources.limits import Limits
from tokamata.tokenization.lattice import Host, Lattice, Segmentation, UnigramModel

SMALL = UnigramModel.hugging_face(
    [("<unk>", -3.0), ("a", -1.0), ("b", -1.25), ("ab", -2.0), ("ba", -2.25), ("aba", -3.5)], 0
)


def way_of(segmentation: Segmentation) -> Way:
    return tuple(tuple(arc) for arc in segmentation.arcs)  # type: ignore[return-value]


# ---- n-best ------------------------------------------------------------------------------------


def test_n_best_is_all_segmentations_in_order() -> None:
    found = tied = 0
    for judged, text, ways in cases(220, 1):
        lattice = Lattice(judged.model, text)
        ranked = in_host_order(judged.model, ways)
        assert [way_of(one) for one in lattice.n_best()] == ranked, (judged.made_of, text)
        assert way_of(lattice.best()) == ranked[0]
        assert [way_of(one) for one in lattice.n_best("lexicographic")] == lexicographic(ways)
        assert lattice.best("lexicographic") == next(lattice.n_best("lexicographic"))
        found += len(ways)
        sums = [host_sum(judged.model, way) for way in ranked]
        tied += len(sums) - len(set(sums))
    assert found > 1000
    assert tied > 150


def test_paths_that_are_not_taken_are_not_made() -> None:
    lattice = Lattice(UnigramModel.hugging_face([("<unk>", 0.0), ("a", -1.0), ("aa", -2.0)], 0), "a" * 300)
    first = list(itertools.islice(lattice.n_best(), 300))
    assert len({one.arcs for one in first}) == 300
    assert {one.score for one in first} == {-300.0}  # of about 10^62
    by_tokens = [one.ids for one in itertools.islice(lattice.n_best("lexicographic"), 300)]
    assert by_tokens == sorted(by_tokens)
    assert by_tokens[0] == (1,) * 300


def test_a_prefix_of_a_best_segmentation_is_best() -> None:
    """The property that lets a state be the sums of the last places, in rounded sums and in exact ones."""
    prefixes = 0
    for judged, text, _ in cases(120, 2, 12):
        for ties in ("host", "lexicographic"):
            best = Lattice(judged.model, text).best(ties)
            for count, arc in enumerate(best.arcs):
                prefix = Lattice(judged.model, text[: arc.end]).best(ties)
                assert prefix.arcs == best.arcs[: count + 1], (judged.made_of, text, ties)
                prefixes += 1
    assert prefixes > 700


def test_a_suffix_of_a_best_segmentation_may_not_be_best() -> None:
    """Its sums begin at 0, and round otherwise; by exact sums it is best."""
    vocab = [("<unk>", -5.0), ("a", -0.1), ("b", -0.2), ("ab", -0.3), ("c", -0.7)]
    model = UnigramModel.hugging_face(vocab, 0)
    assert Lattice(model, "c" * 11 + "ab").best().ids[11:] == (1, 2)
    assert Lattice(model, "ab").best().ids == (3,)
    for judged, text, _ in cases(100, 12):
        best = Lattice(judged.model, text).best("lexicographic")
        for count, arc in enumerate(best.arcs):
            suffix = Lattice(judged.model, text[arc.start :]).best("lexicographic")
            assert [one.token for one in suffix.arcs] == [one.token for one in best.arcs[count:]]


# ---- probabilities -----------------------------------------------------------------------------


@pytest.mark.parametrize("alpha", [0.0, 0.3, 1.0, 2.5])
def test_marginals_and_partition(alpha: float) -> None:
    for judged, text, ways in cases(80, 3):
        lattice = Lattice(judged.model, text)
        shares = probabilities(ways, alpha)
        logs = [alpha * math.fsum(piece.score for piece in way) for way in ways]
        assert lattice.log_partition(alpha) == pytest.approx(float(np.logaddexp.reduce(logs)), abs=1e-9)
        expected: Counter[tuple[int, int, int]] = Counter()
        for way, share in zip(ways, shares, strict=True):
            for piece in way:
                expected[piece.start, piece.end, piece.token] += share
        arcs = zip(lattice.starts, lattice.ends, lattice.tokens, lattice.marginals(alpha), strict=True)
        for start, end, token, marginal in arcs:
            assert marginal == pytest.approx(expected[int(start), int(end), int(token)], abs=1e-9)


def test_with_alpha_0_the_partition_counts_segmentations() -> None:
    lattice = Lattice(UnigramModel.hugging_face([("<unk>", 0.0), ("a", -1.0), ("aa", -2.0)], 0), "a" * 30)
    assert math.exp(lattice.log_partition(0.0)) == pytest.approx(1346269)  # Fibonacci


def test_marginals_of_long_texts() -> None:
    """The pieces that cover one position have marginals whose sum is 1, at 20,000 places."""
    draw = random.Random(4)
    text = "".join(draw.choices("abz", k=20_000))
    lattice = Lattice(SMALL, text)
    marginals = lattice.marginals()
    covered = np.zeros(len(text) + 1)
    np.add.at(covered, lattice.starts, marginals)
    np.add.at(covered, lattice.ends, -marginals)
    assert np.abs(np.cumsum(covered)[:-1] - 1).max() < 1e-11


def test_marginals_do_not_lose_places_in_long_texts() -> None:
    """Between two characters that are pieces of their own, they are those of the text between."""
    text = "".join(random.Random(5).choices("abz", k=60_000))
    first, last = text.index("z", 30_000), text.index("z", 30_200) + 1
    whole, part = Lattice(SMALL, text), Lattice(SMALL, text[first:last])
    is_within = (whole.starts >= first) & (whole.ends <= last)
    assert np.abs(whole.marginals()[is_within] - part.marginals()).max() < 1e-10


# ---- samples -----------------------------------------------------------------------------------


def chi_square(drawn: list[tuple[int, ...]], ways: list[tuple[int, ...]], shares: np.ndarray) -> float:
    """The p-value of the drawn ones; rare ones are counted together."""
    counts = Counter(drawn)
    assert set(counts) <= set(ways)
    observed, expected, rest = [], [], [0.0, 0.0]
    for way, share in zip(ways, shares, strict=True):
        if share * len(drawn) < 5:
            rest[0] += counts[way]
            rest[1] += share * len(drawn)
        else:
            observed.append(counts[way])
            expected.append(share * len(drawn))
    if rest[1] > 0:
        observed.append(rest[0])
        expected.append(rest[1])
    if len(observed) == 1:
        return 1.0
    scale = sum(observed) / sum(expected)
    return float(stats.chisquare(observed, np.array(expected) * scale).pvalue)


def tokens_of(way: Way) -> tuple[int, ...]:
    return tuple(piece.token for piece in way)


@pytest.mark.parametrize("alpha", [0.0, 0.5, 1.0])
def test_samples_have_the_law_of_the_enumeration(alpha: float) -> None:
    lowest = []
    for judged, text, ways in cases(9, 5):
        draw = np.random.default_rng(6)
        samples = Lattice(judged.model, text).samples(draw, alpha)
        drawn = [tuple((arc.token, arc.end) for arc in one.arcs) for one in itertools.islice(samples, 1500)]
        named = [tuple((piece.token, piece.end) for piece in way) for way in ways]
        lowest.append(chi_square(drawn, named, probabilities(ways, alpha)))  # type: ignore[arg-type]
    assert min(lowest) > 1e-4
    assert np.median(lowest) > 0.05


def test_samples_without_replacement_have_the_law_of_successive_draws() -> None:
    """The first has the law p, and the second after i has the law p without i."""
    text = "ababa"
    lattice, ways = Lattice(SMALL, text), all_ways(SMALL, text)
    shares = probabilities(ways, 1.0)
    draw = np.random.default_rng(7)
    pairs = []
    for _ in range(3000):
        first, second = itertools.islice(lattice.distinct_samples(draw), 2)
        pairs.append((first.ids, second.ids))
    named, law = [], []
    for (i, one), (j, two) in itertools.permutations(enumerate(ways), 2):
        named.append((tokens_of(one), tokens_of(two)))
        law.append(shares[i] * shares[j] / (1 - shares[i]))
    assert chi_square(pairs, named, np.array(law)) > 1e-3  # type: ignore[arg-type]


def test_without_replacement_each_segmentation_comes_once() -> None:
    for judged, text, ways in cases(40, 8):
        drawn = list(Lattice(judged.model, text).distinct_samples(np.random.default_rng(9), 0.7))
        assert sorted(map(way_of, drawn)) == sorted(ways)


def test_without_replacement_rare_segmentations_come_last() -> None:
    """To subtract the weight of what was drawn would leave nothing: the first has all but 10^-43 of it."""
    model = UnigramModel.hugging_face([("<unk>", 0.0), ("a", -100.0), ("aa", -100.0), ("aaa", -100.0)], 0)
    draw = np.random.default_rng(10)
    assert [one.ids for one in Lattice(model, "aaa").distinct_samples(draw)][0::3] == [(3,), (1, 1, 1)]


def test_sentence_piece_samples_the_same_law() -> None:
    """SentencePiece's own sampler, as a judge: ``nbest_size=-1`` samples from the whole lattice."""
    import sentencepiece

    pieces = [("<unk>", 0.0, UNKNOWN), *((text, score, NORMAL) for text, score in PIECES)]
    own = sentencepiece.SentencePieceProcessor(model_proto=model_file(pieces))
    sentencepiece.set_random_generator_seed(11)
    model = UnigramModel.sentence_piece(pieces)
    ways = all_ways(model, "ababa")
    for alpha in (0.3, 1.0):
        drawn = [
            tuple(own.encode("ababa", enable_sampling=True, alpha=alpha, nbest_size=-1)) for _ in range(3000)
        ]
        assert chi_square(drawn, list(map(tokens_of, ways)), probabilities(ways, alpha)) > 1e-3
        samples = Lattice(model, "ababa").samples(np.random.default_rng(1), alpha)
        ours = [one.ids for one in itertools.islice(samples, 3000)]
        assert chi_square(ours, list(map(tokens_of, ways)), probabilities(ways, alpha)) > 1e-3


PIECES = [("a", -1.0), ("b", -1.25), ("ab", -2.0), ("ba", -2.25), ("aba", -3.5)]


def test_seeds() -> None:
    lattice = Lattice(SMALL, "abaabbabab")
    for method in (lattice.samples, lattice.distinct_samples):
        first, again, other = (
            [one.ids for one in itertools.islice(method(np.random.default_rng(seed)), 5)]
            for seed in (1, 1, 2)
        )
        assert first == again != other


# ---- limits and growth -------------------------------------------------------------------------


def test_hostile_texts_are_refused_by_name() -> None:
    model = UnigramModel.hugging_face([("<unk>", 0.0), *(("a" * size, -1.0) for size in range(1, 65))], 0)
    with pytest.raises(LimitExceeded) as caught:
        Lattice(model, "a" * 200_000, Limits(memory_bytes=1 << 26))
    assert caught.value.limit == "memory_bytes"
    lattice = Lattice(model, "a" * 600, Limits(memory_bytes=1 << 23))
    assert lattice.best().ids[-1] == 64
    with pytest.raises(LimitExceeded):
        list(itertools.islice(lattice.n_best(), 1_000_000))
    with pytest.raises(LimitExceeded):
        list(itertools.islice(lattice.distinct_samples(np.random.default_rng(1)), 1_000_000))
    with pytest.raises(LimitExceeded) as caught:
        Lattice(model, "a" * 100_000, Limits(seconds=1e-9)).best()
    assert caught.value.limit == "seconds"


def test_arcs_grow_linearly() -> None:
    sizes = [len(Lattice(SMALL, "ab" * count).tokens) for count in (500, 5000)]
    assert sizes[1] - 10 * sizes[0] < 20


# ---- arguments ---------------------------------------------------------------------------------


def test_arguments() -> None:
    lattice = Lattice(SMALL, "ab")
    draw = np.random.default_rng(0)
    for call in (
        lambda: Lattice("x", "ab"),  # type: ignore[arg-type]
        lambda: Lattice(SMALL, b"ab"),  # type: ignore[arg-type]
        lambda: Lattice(SMALL, "\ud800"),
        lambda: Lattice(SMALL, "ab", 5),  # type: ignore[arg-type]
        lambda: lattice.best("first"),
        lambda: lattice.n_best(5),  # type: ignore[arg-type]
        lambda: lattice.log_partition(float("nan")),
        lambda: lattice.marginals(-1.0),
        lambda: lattice.samples(5),  # type: ignore[arg-type]
        lambda: lattice.samples(draw, float("inf")),
        lambda: lattice.distinct_samples(random.Random(1)),  # type: ignore[arg-type]
    ):
        with pytest.raises(ArgumentError):
            call()


def test_arrays_cannot_be_changed() -> None:
    lattice = Lattice(SMALL, "ab")
    for array in (lattice.scores, lattice.starts, lattice.ends, lattice.tokens, SMALL.scores):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0
    assert repr(lattice) == "Lattice('ab', 3 arcs)"
    assert repr(SMALL) == "UnigramModel(Hugging Face tokenizers, 6 pieces)"
    assert SMALL.host is Host.HUGGING_FACE
