"""The detectors and the Merge-DAG of 004 against all schedules, and against the exact answer."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from xml.etree import ElementTree

import pytest

from tests.support.automata.tokenizations import Bpe, random_bpe
from tokamata import Limits
from tokamata.errors import MachineError
from tokamata.tokenization import MergeGraph, TwoNeighbours, detect_crossing
from tokamata.tokenization.papers import merge_graph


def endings(ranks: dict[tuple[str, str], int], tokens: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """By recursion, in texts: how each greedy schedule ends, with every order of ties."""
    found = [ranks[pair] for pair in itertools.pairwise(tokens) if pair in ranks]
    if not found:
        yield tokens
        return
    for i, pair in enumerate(itertools.pairwise(tokens)):
        if ranks.get(pair) == min(found):
            yield from endings(ranks, (*tokens[:i], "".join(pair), *tokens[i + 2 :]))


def violated(ranks: dict[tuple[str, str], int], string: str, boundary: str) -> bool:
    """Whether some schedule of the string crosses a border of an occurrence."""
    for tokens in endings(ranks, tuple(string)):
        borders = set(itertools.accumulate(map(len, tokens), initial=0))
        for start in range(len(string)):
            if string.startswith(boundary, start) and not {start, start + len(boundary)} <= borders:
                return True
    return False


def least_window(bpe: Bpe, ranks: list[int], boundary: str, horizon: int) -> int | None:
    """By brute force over all sequences of tokens: the fewest tokens of a string that is violated."""
    texts = [text.decode() for text in bpe.vocabulary]
    ranked: dict[tuple[str, str], int] = {}
    for rank, merge in zip(ranks, bpe.merges, strict=True):
        ranked.setdefault((texts[merge.left], texts[merge.right]), rank)
    for count in range(1, horizon + 1):
        strings = {"".join(parts) for parts in itertools.product(texts, repeat=count)}
        if any(boundary in string and violated(ranked, string, boundary) for string in sorted(strings)):
            return count
    return None


def test_against_brute_force_over_all_tie_orders() -> None:
    draw = random.Random(51)
    rejected = accepted = 0
    for _ in range(80):
        bpe = random_bpe(draw, draw.choice(["ab", "abc"]), 4, longest=4, shuffled=0.3)
        if len(bpe.vocabulary) > 6 or len(set(bpe.merges)) < len(bpe.merges):
            continue
        # Half of the lists have ties: neighbours of one rank.
        shared = draw.choice([1, 2])
        ranks = [i // shared for i in range(len(bpe.merges))]
        boundary = "".join(draw.choices([bpe.vocabulary[0].decode(), "b"], k=draw.randint(1, 3)))
        inside, horizon = bpe.text(boundary), 4 if len(bpe.vocabulary) < 5 else 3
        least = least_window(bpe, ranks, boundary, horizon)
        whole = detect_crossing(MergeGraph(bpe.letters, bpe.merges, horizon, ranks), inside)
        part = detect_crossing(MergeGraph(bpe.letters, bpe.merges, horizon, ranks, around=inside), inside)
        assert whole.limit is None
        assert whole.min_safe_L == part.min_safe_L == least, (bpe, ranks, boundary)
        assert whole.rejects(3) == (least is not None and least <= 3)
        if least is not None:  # the two-neighbour theorem, with every order of ties: one token beside it
            graph = MergeGraph(bpe.letters, bpe.merges, 1 + len(inside), ranks, around=inside)
            beside = {tuple(bpe.text(text.decode())) for text in bpe.vocabulary}
            borders = [(text + tuple(inside), len(text)) for text in beside]
            borders += [(tuple(inside) + text, len(inside)) for text in beside]
            assert any(graph.strings[text].crossed >> border & 1 for text, border in borders)
        rejected, accepted = rejected + (least is not None), accepted + (least is None)
    assert min(rejected, accepted) > 10, (rejected, accepted)


def test_a_horizon_of_one_more_than_its_tokens_suffices() -> None:
    """What is crossed in any text shows in 1 + |tokens of b| tokens; with fewer, detectors miss some."""
    draw = random.Random(52)
    missed = dict.fromkeys((3, 4), 0)
    crossed = 0
    for _ in range(250):
        bpe = random_bpe(draw, draw.choice(["ab", "abc", "abcd"]), 5, shuffled=0.3)
        if len(set(bpe.merges)) < len(bpe.merges):
            continue
        letters = [bpe.vocabulary[letter].decode() for letter in bpe.letters]
        inside = bpe.text("".join(draw.choices(letters, k=draw.randint(1, 4))))
        two = TwoNeighbours(bpe.letters, bpe.merges)
        if two.crossed(inside) is None:
            continue
        crossed += 1
        enough = 1 + len(two.encode(inside))
        graph = MergeGraph(bpe.letters, bpe.merges, enough, around=inside, limits=Limits(states=20_000))
        found = detect_crossing(graph, inside)
        assert found.min_safe_L is not None, (bpe, inside)
        for horizon in missed:
            missed[horizon] += horizon < found.min_safe_L
    assert crossed > 60, crossed
    assert missed[3] > missed[4] >= 0, missed


def test_ties_by_position_are_false_positives() -> None:
    """``cbbb`` is ``c bb b`` for every library; the paper's schedules also allow ``c b bb``."""
    bpe = Bpe.of("bc", "b b")
    found = detect_crossing(MergeGraph(bpe.letters, bpe.merges, 3), bpe.text("cbb"))
    assert found.min_safe_L == 3
    assert found.window == tuple(bpe.text("cbbb"))
    assert TwoNeighbours(bpe.letters, bpe.merges).crossed(bpe.text("cbb")) is None


def test_figures_of_a_graph() -> None:
    """a, b and (a,b): 3 strings of one token, a b ab; 6 more of two; one of them was there."""
    bpe = Bpe.of("ab", "a b")
    graph = MergeGraph(bpe.letters, bpe.merges, 2)
    strings = {"".join(bpe.show(string).split()) for string in graph.strings}
    assert strings == {"a", "b", "ab", "aa", "ba", "bb", "aab", "bab", "aba", "abb", "abab"}
    assert graph.V == 11
    assert graph.E == 6  # those with ab
    assert len(bpe.merges) * graph.V >= graph.E
    assert graph.configurations == 11 + 5 + 3  # abab: a b a b, ab a b, a b ab, ab ab
    assert graph.limit is None
    assert graph.memory_bytes > 11 * 60
    assert graph.build_ms > 0


def test_a_limit_is_named() -> None:
    bpe = random_bpe(random.Random(53), "abcd", 12)
    graph = MergeGraph(bpe.letters, bpe.merges, 5, limits=Limits(states=2_000))
    assert graph.configurations <= 2_000
    assert graph.limit == "the limit states=2000 was exceeded"
    found = detect_crossing(graph, bpe.text("ad"))
    assert found.limit == graph.limit


def test_a_run_has_too_many_schedules(monkeypatch: pytest.MonkeyPatch) -> None:
    """The configurations of a run of n letters are Fibonacci's numbers: those of 11 and 12 are over 100."""
    monkeypatch.setattr(merge_graph, "_MOST_OF_A_STRING", 100)
    bpe = Bpe.of("a", "a a")
    graph = MergeGraph(bpe.letters, bpe.merges, 6)
    assert graph.limit == "strings with more than 100 configurations: 2"
    assert [graph.strings[(0,) * size].configurations for size in (1, 2, 3, 4, 5)] == [1, 2, 3, 5, 8]
    assert max(map(len, graph.strings)) == 10
    assert detect_crossing(graph, [0]).min_safe_L == 1


def test_questions_that_a_graph_cannot_answer() -> None:
    bpe = Bpe.of("ab", "a b")
    graph = MergeGraph(bpe.letters, bpe.merges, 2, around=bpe.text("a"))
    for boundary in ("", "b"):
        with pytest.raises(MachineError, match="no strings around the characters"):
            detect_crossing(graph, bpe.text(boundary))
    for horizon, around in ((0, None), (2, [])):
        with pytest.raises(MachineError, match="there are no strings of"):
            MergeGraph(bpe.letters, bpe.merges, horizon, around=around)
    with pytest.raises(MachineError, match="Det_3 was not examined"):
        detect_crossing(graph, bpe.text("a")).rejects(3)
    with pytest.raises(MachineError, match="build the graph with a larger horizon"):
        graph.steps(bpe.text("bbb"))


def test_a_drawing() -> None:
    bpe = Bpe.of("abcx", "b c", "x b", "a a")
    graph = MergeGraph(bpe.letters, bpe.merges, 3)
    names = {token: text.decode() for token, text in enumerate(bpe.vocabulary)}
    drawing = graph.diagram(bpe.text("aaa"), names)
    assert drawing.notes == {0: "a a a", 1: "aa a", 2: "a aa"}
    assert drawing.accepting == {1, 2}
    assert [(edge.source, edge.target, edge.label) for edge in drawing.edges] == [
        (0, 1, "(a, a)"),
        (0, 2, "(a, a)"),
    ]
    root = ElementTree.fromstring(graph.to_svg(bpe.text("xbc"), names))
    texts = [node.text for node in root.iter() if node.text and node.text.strip()]
    assert "x bc" in texts
    assert "(b, c)" in texts
