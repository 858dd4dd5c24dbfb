"""Seconds of fuzzing in every run: of the core (ctest), patterns, lookaround, tokenizers, schemas, values,
limits, repairs, drafts.

The campaign that ran for an hour is described in CONTRIBUTING.md; what it found is in the tests.
"""

from __future__ import annotations

import contextlib
import random
from dataclasses import replace
from typing import Any

import pytest

import tokamata as tk
from fuzz import (
    attack_proofs,
    fuzz_added_tokens,
    fuzz_boundaries,
    fuzz_budgets,
    fuzz_canonical,
    fuzz_drafts,
    fuzz_faithful,
    fuzz_grammars,
    fuzz_instances,
    fuzz_kept,
    fuzz_limits,
    fuzz_lookaround,
    fuzz_normalizers,
    fuzz_pairs,
    fuzz_patterns,
    fuzz_probabilities,
    fuzz_repair,
    fuzz_sampling,
    fuzz_schemas,
    fuzz_self_test,
    fuzz_unigram_hosts,
    fuzz_values,
)
from tests.support.automata.tokenizations import Bpe
from tests.support.schemas.schema_sources import Schemas
from tests.support.tokenizers.plain_tokenizers import plain_tokenizer
from tests.support.vocabularies import BYTE_VOCABULARY
from tokamata import guard

# Of re, on sets that may change their meaning; of hypothesis-jsonschema, on patterns that Python lacks.
pytestmark = pytest.mark.filterwarnings("ignore")


def test_patterns_vocabularies_and_calls() -> None:
    tally = fuzz_patterns.run(seconds=2, seed=20261121)
    assert tally.tried > tally.walked > 0
    assert tally.judged > 0


def test_added_tokens() -> None:
    tally = fuzz_added_tokens.run(seconds=1, seed=41)
    assert tally.sequences > tally.canonical > 0


def test_lookaround() -> None:
    tally = fuzz_lookaround.run(seconds=2, seed=20261121)
    assert tally.tried > tally.walked > 0
    assert tally.texts > tally.confirmed > 0


def test_files_of_compiled_constraints() -> None:
    tally = fuzz_kept.run(seconds=2, seed=20261126)
    assert tally.changed > 0


@pytest.mark.slow
def test_canonical_constraints_of_small_tokenizers() -> None:
    tally = fuzz_canonical.run(seconds=3, seed=20261121)
    assert tally.tried > 0
    assert min(tally.masks, tally.walks, tally.texts) > 0


def test_normalizers_of_small_tokenizers() -> None:
    tally = fuzz_normalizers.run(seconds=2, seed=20261128)
    assert tally.texts > tally.canonical > 0


def test_unigram_models_of_both_hosts() -> None:
    assert fuzz_unigram_hosts.run(seconds=1, seed=20261128).texts > 0


def test_boundaries_and_seams_of_small_tokenizers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fuzz_boundaries, "LONGEST", 4)
    campaign = fuzz_boundaries.Campaign(tally := fuzz_boundaries.Tally(), boundaries=4, templates=2)
    campaign.tokenizer("byte fallback", 4)
    assert not tally.faults  # they are printed
    assert tally.texts > 300
    assert tally.outcomes["crossed_left: witness"] + tally.outcomes["crossed_left: proved"] >= 3
    assert min(tally.sequences, tally.masks) > 0


def test_a_wrong_verdict_about_a_boundary_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """A guard that proves everything."""
    proved = guard.Verdict("", "proved")
    everything = guard.Boundary("", (), *[proved] * 7)
    monkeypatch.setattr(guard, "boundary", lambda *_, **__: everything)
    monkeypatch.setattr(fuzz_boundaries, "LONGEST", 4)
    campaign = fuzz_boundaries.Campaign(tally := fuzz_boundaries.Tally(), boundaries=7, templates=0)
    campaign.tokenizer("byte fallback", 4)
    assert tally.faults["one_token"] > 0


def test_attacks_on_proofs_find_false_claims(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attack_proofs, "BOUNDARIES", ["a", "ab", "bc"])
    monkeypatch.setattr(attack_proofs, "TEMPLATES", [["c", "b?", "b"], ["a", "[abc]*", "b"]])
    monkeypatch.setattr(attack_proofs, "CHATS", {})
    own = plain_tokenizer(Bpe.of("abc", "a b", "c a"))
    report = attack_proofs.run([("small", own)], seed=1, texts=500, of_each=100)
    total = {name: sum(vars(line)[name] for line in report.lines.values()) for name in ("planted", "found")}
    assert report.refuted == 0
    assert total["planted"] == total["found"] > 4
    assert report.texts >= 500
    assert "| small | seams |" in report.table()


@pytest.mark.slow
def test_self_tests_of_small_tokenizers() -> None:
    tally = fuzz_self_test.run(seconds=3, seed=20261127)
    assert tally.passed > 0


@pytest.mark.slow
def test_texts_sampled_from_schemas() -> None:
    """Of vocabularies that have every byte; those that lack some come to limits, and are for long runs."""
    loaded = fuzz_schemas.vocabularies()[:2]
    tally = fuzz_schemas.run(seconds=2, seed=20261121, loaded=loaded, source=Schemas())
    assert tally.tried > tally.refused + tally.empty + tally.limited
    assert min(tally.texts, tally.judged, tally.compared) > 0


@pytest.mark.slow
def test_values_drawn_of_schemas() -> None:
    tally = fuzz_instances.run(seconds=4, seed=20261121, source=Schemas())
    assert tally.tried > tally.refused + tally.undrawn + tally.limited
    assert min(tally.valid, tally.invalid) > 0


@pytest.mark.parametrize("other", [{"type": "integer"}, {"type": ["integer", "string"]}])
def test_what_is_wrong_with_values_is_found(other: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Values of one schema in a constraint of another, which is narrower, and wider."""
    masks: Any = tk.json_schema
    monkeypatch.setattr(tk, "json_schema", lambda schema, **options: masks(other, **options))
    loaded = fuzz_schemas.vocabularies()[:1]
    schema = {"type": "integer", "maximum": 5}
    with pytest.raises(AssertionError, match="but"):
        fuzz_instances.trial(schema, [3, 7, "a"], random.Random(1), fuzz_instances.Tally(), loaded)


@pytest.mark.slow
def test_usual_texts_of_values() -> None:
    tally = fuzz_faithful.run(seconds=2, seed=20261121)
    assert tally.accepted > tally.led_on > 0


def test_values_of_compositions() -> None:
    tally = fuzz_values.run(seconds=2, seed=20261121)
    assert tally.tried > 0
    assert min(tally.values, tally.refused, tally.events) > 0


@pytest.mark.slow
def test_small_limits() -> None:
    """A crash of the process that works fails the test, and does not end this one."""
    tally = fuzz_limits.run(seconds=3, seed=20261121, real=False)
    assert tally.tried > tally.skipped
    assert tally.attempts > tally.exceeded > 0


@pytest.mark.slow
def test_repairs() -> None:
    tally = fuzz_repair.run(seconds=3, seed=20261121, real=False)
    assert tally.tried > tally.skipped
    assert min(tally.answers, tally.optimal, tally.judged, tally.exact) > 0


def test_what_is_wrong_with_a_repair_is_found() -> None:
    """A judge of another constraint; an oracle of other prices."""
    draw = random.Random(1)
    wrong = fuzz_repair.Trial(tk.literal("ab"), tk.EditCosts(other=1), "a", lambda text: text == "abc")
    with pytest.raises(AssertionError, match="not accepted"):
        fuzz_repair.check(wrong, draw)
    dear = fuzz_repair.Trial(tk.literal("ab"), tk.EditCosts(other=1), "a", lambda text: True, cost=2)
    with pytest.raises(AssertionError, match="2"):
        fuzz_repair.check(dear, draw)


def test_drafts() -> None:
    tally = fuzz_drafts.run(seconds=2, seed=20261125)
    assert min(tally.legal, tally.refused, tally.within) > 100


def test_probabilities() -> None:
    tally = fuzz_probabilities.run(seconds=2, seed=20261128)
    assert min(tally.tried, tally.ended, tally.certain) > 1


def test_sampling() -> None:
    tally = fuzz_sampling.run(seconds=0.3, seed=2)
    assert tally.laws >= 1
    assert tally.means >= 3


def test_budgets() -> None:
    tally = fuzz_budgets.run(seconds=2, seed=20261125)
    assert tally.texts > 3
    assert tally.followed > tally.masks > 30


def test_grammars() -> None:
    tally = fuzz_grammars.run(seconds=2, seed=20261125)
    assert tally.texts > tally.judged > 0


def _bytes_of(text: str) -> list[int]:
    return list(text.encode())


def test_pairs_of_features() -> None:
    """Of their values alone: times are for long runs on an idle machine."""
    cases = [replace(fuzz_pairs.drawn_case(20261126, number), tokenization="any") for number in range(12)]
    report = fuzz_pairs.run(cases, fuzz_pairs.Walker(BYTE_VOCABULARY, _bytes_of), slack=1e6)
    assert report.wrong == 0, [one.wrong for one in report.findings]
    assert report.cases == len(cases) > report.unread
    assert min(report.valid, report.invalid) > 0


def test_a_wrong_verdict_of_a_pair_is_found_and_made_smaller(monkeypatch: pytest.MonkeyPatch) -> None:
    masks: Any = tk.json_schema
    monkeypatch.setattr(tk, "json_schema", lambda schema, **options: masks({"minimum": 3}, **options))
    style = {"spelling": "any", "whitespace": "natural", "property_order": "any"}
    case = fuzz_pairs.Case(0, "numbers", "const", "together", {"maximum": 5}, [1, 2, 7], style)
    with contextlib.closing(fuzz_pairs.Trials(fuzz_pairs.Walker(BYTE_VOCABULARY, _bytes_of), 1e6)) as trials:
        outcome = trials(case)
        assert outcome.wrong.keys() == {"refused", "accepted"}
        assert outcome.excess(1e6).keys() == outcome.wrong.keys()
        smaller = trials.smaller(outcome)
    assert (smaller.schema, smaller.style["spelling"], len(smaller.values)) == ({}, "plain", 1)
