"""Beam search, against the enumeration of all token sequences, and against itself with more beams."""

from __future__ import annotations

import itertools
import math
import pickle
import random
import re
from collections.abc import Iterator
from typing import Any

import pytest
import torch
import transformers

import tokamata as tk
from tests.support.models.fakes import Constant, Counting, byte_level
from tests.support.models.path_judge import PathJudge
from tests.support.models.small_models import KINDS, config_of, small_model, small_tokenizer
from tokamata.decoding.hosts import vocabulary_of

TOKENIZER = byte_level(["a b", "b a", "ab a", "c c", "a a"])
PROMPT = "x: "
MODEL = small_model(len(TOKENIZER), seed=8, eos=0)
ALL = 10_000  # beams


def judge_of(model: Any, prompt: str = PROMPT) -> PathJudge:
    vocabulary = vocabulary_of(model, TOKENIZER)
    tokens = [vocabulary[token] for token in range(vocabulary.width)]
    return PathJudge(model, TOKENIZER(prompt)["input_ids"], tokens, vocabulary.stop)


JUDGE = judge_of(MODEL)


def texts_of(pattern: str, longest: int) -> Iterator[str]:
    for size in range(longest + 1):
        for letters in itertools.product("abc", repeat=size):
            if re.fullmatch(pattern, "".join(letters)):
                yield "".join(letters)


def truth(judge: PathJudge, pattern: str, budget: int, canonical: bool = False) -> dict[str, float]:
    """The probability of each text that fits into a budget: a text that can go on needs a stop token.

    One that has used up the budget needs none.  No pattern here has a text that needs more than its budget in
    bytes to be told from another.
    """
    longest = 3 * budget  # no token has more bytes
    texts = list(texts_of(pattern, min(longest, 7)))
    goes_on = {text for text in texts for other in texts if other != text and other.startswith(text)}
    found = {}
    for text in texts:
        spelled = [tuple(TOKENIZER(text)["input_ids"])] if canonical else judge.spellings(text.encode())
        total = 0.0
        for sequence in spelled:
            if len(sequence) > budget:
                continue
            mass = math.exp(judge.log_probability(sequence))
            if text in goes_on and len(sequence) < budget:
                mass *= judge.stop_probability(sequence)
            total += mass
        if total:
            found[text] = total
    return found


CASES = [("(ab|b|cc){1,3}", 4), ("a{0,4}b?", 3), ("[abc]{2}", 2), ("(ab)*c?", 3), ("abaab|aba|c", 6)]


@pytest.mark.parametrize(("pattern", "budget"), CASES)
def test_with_beams_enough_it_is_the_enumeration(pattern: str, budget: int) -> None:
    expected = truth(JUDGE, pattern, budget)
    found = tk.beam_search(
        MODEL, TOKENIZER, PROMPT, tk.regex(pattern), beams=ALL, candidates=None, max_new_tokens=budget
    )
    assert {beam.text for beam in found} == set(expected)
    for beam in found:
        assert beam.model_log_probability == pytest.approx(math.log(expected[beam.text]), abs=1e-4)
    assert found.unexplored_log_probability == -math.inf
    assert found.is_best_certain
    scores = [beam.model_log_probability for beam in found]
    assert scores == sorted(scores, reverse=True)


def test_canonical_texts_have_one_sequence() -> None:
    pattern, budget = "(ab|b|cc){1,3}", 6
    texts = set(texts_of(pattern, 6))
    found = tk.beam_search(
        MODEL,
        TOKENIZER,
        PROMPT,
        tk.regex(pattern),
        beams=ALL,
        candidates=None,
        max_new_tokens=budget,
        tokenization="canonical",
    )
    assert {beam.text for beam in found} == texts
    sequences = {text: tuple(TOKENIZER(text)["input_ids"]) for text in texts}
    begun = {each[:end] for each in sequences.values() for end in range(len(each))}
    for beam in found:
        sequence = sequences[beam.text]
        assert tuple(beam.tokens) == sequence
        assert beam.sequences == 1
        ends = (
            math.log(JUDGE.stop_probability(sequence)) if sequence in begun and len(sequence) < budget else 0
        )
        assert beam.model_log_probability == pytest.approx(JUDGE.log_probability(sequence) + ends, abs=1e-4)


@pytest.mark.parametrize("seed", range(10))
def test_few_beams_know_what_they_gave_up(seed: int) -> None:
    draw = random.Random(seed)
    pattern, budget = draw.choice(CASES)
    expected = truth(JUDGE, pattern, budget)
    beams = draw.randint(1, 4)
    found = tk.beam_search(
        MODEL,
        TOKENIZER,
        PROMPT,
        tk.regex(pattern),
        beams=beams,
        candidates=draw.choice([1, 2, 64]),
        max_new_tokens=budget,
    )
    assert 1 <= len(found) <= beams
    assert len({beam.text for beam in found}) == len(found)
    lost = math.exp(found.unexplored_log_probability)
    for beam in found:
        mass = math.exp(beam.model_log_probability)
        assert mass - 1e-9 <= expected[beam.text] * (1 + 1e-4)
        assert expected[beam.text] <= (mass + lost) * (1 + 1e-4)
    least = math.exp(found[-1].model_log_probability) if len(found) == beams else 0.0
    for text in set(expected) - {beam.text for beam in found}:
        assert expected[text] <= (least + lost) * (1 + 1e-4)
    if found.is_best_certain:
        assert expected[found[0].text] >= max(expected.values()) * (1 - 1e-4)


def test_what_finds_no_place_is_added_up() -> None:
    """All tokens are equally probable: what one beam finds is a small part of all texts."""
    model = Constant(torch.zeros(len(TOKENIZER)))
    found = tk.beam_search(model, TOKENIZER, PROMPT, tk.regex("[abc]{6}"), beams=1)
    every = math.fsum(truth(judge_of(model), "[abc]{6}", 256).values())
    least = math.exp(found[0].model_log_probability)
    assert every > 20 * least
    assert every <= 10 * least + math.exp(found.unexplored_log_probability)


def test_the_score_is_of_the_model_and_the_masked_one_is_beside_it() -> None:
    found = tk.beam_search(MODEL, TOKENIZER, PROMPT, tk.choice(["ab", "cc"]), tokenization="canonical")
    both = JUDGE.masses({text: [tuple(TOKENIZER(text)["input_ids"])] for text in ("ab", "cc")}, False)
    for beam in found:
        assert math.exp(beam.model_log_probability) == pytest.approx(both[beam.text], rel=1e-4)
        assert math.exp(beam.log_probability) == pytest.approx(both[beam.text] / sum(both.values()), rel=1e-4)
        assert beam.parse() == beam.text
        assert beam.finish_reason == "complete"


def test_it_stops_when_no_beam_can_win() -> None:
    """The text that ends at once has nearly all of the mass; the loop would use up the budget otherwise."""
    width = len(TOKENIZER)
    logits = torch.full((width,), -30.0)
    logits[TOKENIZER.convert_tokens_to_ids("b")] = 5.0
    logits[TOKENIZER.convert_tokens_to_ids("a")] = 0.0
    counting = Counting(Constant(logits))
    found = tk.beam_search(counting, TOKENIZER, PROMPT, tk.regex("a*b"), beams=1, max_new_tokens=200)
    assert found[0].text == "b"
    assert found.is_best_certain
    assert counting.calls == 1


def test_equal_texts_in_a_fixed_order() -> None:
    """All logits are equal: fewer tokens first, then smaller ids."""
    model = Constant(torch.zeros(len(TOKENIZER)))
    found = tk.beam_search(model, TOKENIZER, PROMPT, tk.regex("[abc]{2}"), beams=20, tokenization="canonical")
    keys = [(-round(beam.model_log_probability, 6), len(beam.tokens), beam.tokens) for beam in found]
    assert keys == sorted(keys)
    assert len(found) == 9
    few = tk.beam_search(model, TOKENIZER, PROMPT, tk.regex("[abc]{2}"), beams=3, tokenization="canonical")
    assert [beam.text for beam in few] == [beam.text for beam in found][:3]


def test_the_second_sequence_of_a_text_takes_no_other_text_s_place() -> None:
    """a|ba and ab|a are one text, which leaves the third beam to cb."""
    logits = torch.full((len(TOKENIZER),), -40.0)
    for piece, score in (("ab", 3.0), ("a", 3.0), ("ba", 3.0), ("c", 2.9), ("b", 1.0)):
        logits[TOKENIZER.convert_tokens_to_ids(piece)] = score
    texts = ["aba" + "c" * 6, "cb" + "c" * 7]
    found = tk.beam_search(Constant(logits), TOKENIZER, PROMPT, tk.choice(texts), beams=3, candidates=None)
    assert [beam.text for beam in found] == texts
    assert found[0].sequences > 1


@pytest.mark.parametrize("kind", [*KINDS, "no cache"])
def test_every_cache_gives_the_same(kind: str) -> None:
    torch.manual_seed(5)
    if kind == "no cache":
        model, plain = Counting(MODEL, cache=False), MODEL
    else:
        model = transformers.AutoModelForCausalLM.from_config(config_of(kind, len(TOKENIZER))).eval()
        model.generation_config.eos_token_id = 0
        plain = model
    prompt = "a longer prompt than the window: "
    found = tk.beam_search(
        model, TOKENIZER, prompt, tk.regex("(ab|b|cc){1,3}"), beams=5, max_new_tokens=4, candidates=None
    )
    judge = judge_of(plain, prompt)
    for beam in found:
        end = () if beam.stop_token is None else (beam.stop_token,)
        score = judge.log_probability((*beam.tokens, *end))
        assert beam.model_log_probability >= score - 1e-3
        if beam.sequences == 1:
            assert beam.model_log_probability == pytest.approx(score, abs=1e-3)


def test_lengths_budgets_and_healing() -> None:
    loop = tk.regex("(ab)*")
    found = tk.beam_search(MODEL, TOKENIZER, PROMPT, loop, beams=8, max_new_tokens=5, min_new_tokens=3)
    assert all(3 <= len(beam.tokens) <= 5 for beam in found)
    with pytest.raises(tk.BudgetError):
        tk.beam_search(MODEL, TOKENIZER, PROMPT, tk.regex("[abc]{9}"), max_new_tokens=2)
    healed = tk.beam_search(MODEL, TOKENIZER, "x: a", tk.choice(["b", "c"]), heal=True)
    assert {beam.text for beam in healed} == {"b", "c"}
    assert healed[0].healed == "a"
    assert tk.beam_search(MODEL, TOKENIZER, PROMPT, tk.literal(""))[0].text == ""


def test_a_token_costs_one_token() -> None:
    """No prefix is read again: the model reads the prompt once, and then one token of each beam."""
    counting = Counting(MODEL)
    found = tk.beam_search(counting, TOKENIZER, PROMPT, tk.regex("[abc]{6}"), beams=3)
    prompt = len(TOKENIZER(PROMPT)["input_ids"])
    assert len(counting.read) == prompt + found.forward_passes - 1  # of the first row


def test_control_tokens_tell_texts_apart() -> None:
    tokenizer = small_tokenizer()
    model = small_model(len(tokenizer))
    either = tk.control_token("<pad>") | tk.control_token("<end_of_turn>") | tk.literal("")
    found = tk.beam_search(model, tokenizer, PROMPT, either)
    assert sorted(beam.tokens for beam in found) == [[], [0], [3]]
    assert {beam.text for beam in found} == {""}


def test_values_and_pickles() -> None:
    constraint = tk.type(list[bool], whitespace="compact")
    found = tk.beam_search(MODEL, TOKENIZER, PROMPT, constraint, beams=2, max_new_tokens=12)
    for beam in found:
        assert all(isinstance(each, bool) for each in beam.parse())
    assert pickle.loads(pickle.dumps(found[0])).text == found[0].text


def test_what_has_no_probabilities_is_refused() -> None:
    width = len(TOKENIZER)
    with pytest.raises(tk.GenerationError, match="NaN"):
        tk.beam_search(Constant(torch.full((width,), math.nan)), TOKENIZER, PROMPT, tk.literal("a"))
    logits = torch.zeros(width)
    logits[TOKENIZER.convert_tokens_to_ids("a")] = -math.inf
    with pytest.raises(tk.GenerationError, match="probability 0"):
        tk.beam_search(Constant(logits), TOKENIZER, PROMPT, tk.literal("a"))
    token = tk.CancelToken()
    token.cancel()
    with pytest.raises(tk.Cancelled):
        tk.beam_search(MODEL, TOKENIZER, PROMPT, tk.literal("a"), cancel=token)
