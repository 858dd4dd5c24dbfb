"""The study of canonical tokenization: what it computes, on a small model and by hand."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
import torch
from canonical_study import _read
from canonical_study_cases import CASES, StudyCase
from canonical_study_figures import (
    ANY,
    CANONICAL,
    HEALED,
    WAYS,
    CaseFigures,
    StudyFigures,
    differing,
    estimate,
    foreign,
    gains,
    left,
    preferences,
)
from canonical_study_report import all_tables, in_tokens, interval, share, signed, visible
from canonical_study_scoring import Judged, judge, log_probabilities, parting
from canonical_study_writing import seed_of, write

import tokamata as tk
from tests.support.models.small_models import small_model, small_tokenizer
from tokamata.decoding.hosts import vocabulary_of

CASE = StudyCase("words", "(the|one|two|12|34|abc){1,4}!", ("tw", "a 1", "on"), 12)
"""The last token of each prompt is the beginning of a longer one."""
SAMPLES = 3
SEED = 7


@pytest.fixture(scope="module")
def host() -> tuple[Any, Any, tk.Vocabulary]:
    tokenizer = small_tokenizer()
    model = small_model(len(tokenizer)).double()
    return model, tokenizer, vocabulary_of(model, tokenizer)


@pytest.fixture(scope="module")
def case(host: tuple[Any, Any, tk.Vocabulary]) -> CaseFigures:
    found = CaseFigures(CASE.name, CASE.pattern, CASE.prompts, CASE.budget, [])
    for prompt in CASE.prompts:
        outputs = write(*host, CASE, prompt, SAMPLES, SEED)
        judged = judge(*host, prompt, outputs)
        found.judged.append({way: [one for one in judged if one.output.way == way] for way in WAYS})
    return found


def everything(case: CaseFigures) -> list[Judged]:
    return [one for by_way in case.judged for way in WAYS for one in by_way[way]]


def log_probability(model: Any, tokens: list[int]) -> float:
    """That of one sequence, by the definition."""
    with torch.inference_mode():
        logits = model(input_ids=torch.tensor([tokens])).logits[0]
    return sum(
        float(torch.log_softmax(logits[place].double(), -1)[token]) for place, token in enumerate(tokens[1:])
    )


@pytest.mark.parametrize("way", WAYS)
def test_texts_are_those_of_generate(
    host: tuple[Any, Any, tk.Vocabulary], case: CaseFigures, way: str
) -> None:
    model, tokenizer, _ = host
    for prompt, by_way in zip(CASE.prompts, case.judged, strict=True):
        for draw, one in enumerate(by_way[way]):
            if way == ANY and draw:  # the end of its prompt takes a random number, as when it is healed
                continue
            result = tk.generate(
                model,
                tokenizer,
                prompt,
                tk.regex(CASE.pattern),
                max_new_tokens=CASE.budget,
                tokenization="canonical" if way == CANONICAL else "any",
                heal=way != ANY,
                greedy=draw == 0,
                seed=seed_of(SEED, CASE.name, prompt, draw),
            )
            assert one.output.prompt + one.output.tokens == result.prompt_tokens + result.tokens
            assert one.output.text == result.text
            assert one.output.finish_reason == result.finish_reason


def test_every_way_writes_one_greedy_text_and_the_samples(case: CaseFigures) -> None:
    for by_way in case.judged:
        for way in WAYS:
            assert [one.output.draw for one in by_way[way]] == list(range(SAMPLES + 1))
            assert {one.output.start for one in by_way[way]} == {int(way == ANY)}


def test_log_probabilities_are_those_of_the_definition(
    host: tuple[Any, Any, tk.Vocabulary], case: CaseFigures
) -> None:
    model = host[0]
    for one in everything(case):
        before = log_probability(model, one.output.prompt)
        written = log_probability(model, one.output.prompt + one.output.tokens) - before
        own = log_probability(model, one.own) - before
        assert one.written_log_probability == pytest.approx(written, abs=1e-3)
        assert one.own_log_probability == pytest.approx(own, abs=1e-3)
        assert one.gain == pytest.approx(written - own, abs=2e-3)


def test_sequences_of_any_lengths_keep_their_order(host: tuple[Any, Any, tk.Vocabulary]) -> None:
    sequences = [[2, *range(5, 5 + length)] for length in (9, 1, 4, 30, 2, 7, 3, 8, 5, 6, 12)]
    found = log_probabilities(host[0], sequences)
    expected = [log_probability(host[0], sequence) for sequence in sequences]
    assert found == pytest.approx(expected, abs=1e-4)


def test_the_tokenizer_is_the_judge(host: tuple[Any, Any, tk.Vocabulary], case: CaseFigures) -> None:
    _, tokenizer, _ = host
    for prompt, by_way in zip(CASE.prompts, case.judged, strict=True):
        for way, judged in by_way.items():
            for one in judged:
                assert one.own == tokenizer(prompt + one.output.text)["input_ids"]
                assert one.is_canonical == (not one.foreign)
                assert one.is_canonical or way != CANONICAL
    assert not StudyFigures({}, [case]).wrong
    assert any(not one.is_canonical for one in everything(case))  # else nothing was tried


def test_where_two_ways_of_writing_part() -> None:
    vocabulary = tk.Vocabulary.load([b"a", b"b", b"ab", b"c", b"bc"], stop=())
    a, b, ab, c, bc = range(5)
    assert parting(vocabulary, [ab, c], [ab, c], 1) == ((), False)
    assert parting(vocabulary, [ab, c], [a, b, c], 0) == ((0, 1), False)
    assert parting(vocabulary, [ab, c], [a, b, c], 1) == ((0, 1), True)
    assert parting(vocabulary, [c, ab, ab], [c, ab, a, b], 3) == ((2, 3), False)
    assert parting(vocabulary, [a, bc, a], [ab, c, a], 0) == ((0, 1), False)


def test_estimates() -> None:
    assert math.isnan(estimate([]).mean)
    assert math.isnan(estimate([[], []]).low)
    constant = estimate([[2.0, 2.0], [2.0]])
    assert (constant.mean, constant.low, constant.high) == (2.0, 2.0, 2.0)
    # Draws are resampled within their group: two groups of equal values never vary.
    strata = estimate([[0.0] * 5, [10.0] * 5])
    assert (strata.mean, strata.low, strata.high) == (5.0, 5.0, 5.0)
    spread = estimate([[0.0, 10.0] * 50])
    assert spread.mean == 5.0
    assert 3.5 < spread.low < 4.5 < 5.5 < spread.high < 6.5  # 1.96 standard errors are 0.98
    assert estimate([[0.0, 10.0] * 50]) == spread


def test_figures_count_what_was_judged(case: CaseFigures) -> None:
    for way in WAYS:
        samples = case.of(way, greedy=False)
        texts = [one for group in samples for one in group]
        assert left(samples) == (sum(not one.is_canonical for one in texts), SAMPLES * len(CASE.prompts))
        assert foreign(samples)[1] == sum(len(one.output.tokens) for one in texts)
        assert [len(group) for group in gains(samples)] == [SAMPLES] * len(CASE.prompts)
        assert all(gain == 0 for group in gains(samples) for gain in group) == (left(samples)[0] == 0)
        assert sum(map(len, gains(samples, of_left=True))) == left(samples)[0]
    assert left(case.of(CANONICAL, greedy=True)) == (0, len(CASE.prompts))
    assert differing(case, CANONICAL) == 0
    assert preferences(case, CANONICAL, greedy=False) == [[0.0] * SAMPLES] * len(CASE.prompts)
    pair = case.judged[0][CANONICAL][1], case.judged[0][HEALED][1]
    assert preferences(case, HEALED, greedy=False)[0][0] == (
        pair[0].own_log_probability - pair[1].own_log_probability
    )


def test_stored_figures_give_the_same_tables(
    host: tuple[Any, Any, tk.Vocabulary], case: CaseFigures, tmp_path: Path
) -> None:
    figures = StudyFigures({"date": "today"}, [case])
    path = tmp_path / "study.json"
    path.write_text(json.dumps(figures.as_json()), encoding="utf-8")
    tables = all_tables(figures, host[2])
    assert all_tables(_read(path), host[2]) == tables
    for table in tables:
        assert all(row is None or len(row) == len(table.columns) for row in table.rows)


def test_words_of_the_tables() -> None:
    vocabulary = tk.Vocabulary.load([b"a", b" b", b"\xc3", b"\xa4"], stop=())
    assert in_tokens([0, 1, 2, 3], vocabulary) == "a│ b│�│�"
    assert visible(' a\n"b*"\x07') == '␣a⏎"b\\*"�'
    assert (share(1, 4), share(0, 0)) == ("25 %", "–")
    assert [signed(value) for value in (-1.26, 2, 0.0, -0.01, math.nan)] == [
        "−1.3",
        "+2.0",
        "0.0",
        "0.0",
        "–",
    ]
    assert interval(estimate([])) == "–"


def test_cases_are_as_they_say() -> None:
    assert len({case.name for case in CASES}) == len(CASES)
    for case in CASES:
        assert len(set(case.prompts)) == len(case.prompts)
        assert not any(prompt.endswith(" ") for prompt in case.prompts)
        tk.regex(case.pattern)
