"""The plain loop, with a small random model: the text always matches, and ends where it should."""

from __future__ import annotations

import math
import re
from types import SimpleNamespace
from typing import Any

import pytest
import torch

import tokamata as tk
from tests.support.models.fakes import Constant, Counting
from tests.support.models.small_models import small_model, small_tokenizer
from tests.support.vocabularies import BYTES
from tokamata.decoding import hosts, stream

PATTERNS = [
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}",
    r"(one|two)( and (one|two)){0,3}",
    r"[a-c]{1,8}",
    r"the [^\x00-\x7f]{2,3}!",
    "",
]


@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize(
    "settings", [{"greedy": True}, {}, {"temperature": 3.0}, {"top_k": 1}, {"top_p": 0.2}]
)
def test_the_text_matches(model: Any, tokenizer: Any, pattern: str, settings: dict[str, Any]) -> None:
    for seed in range(3):
        result = tk.generate(model, tokenizer, "hello", tk.regex(pattern), seed=seed, **settings)
        assert re.fullmatch(pattern, result.text), result
        assert result.finish_reason in ("complete", "stop")
        assert tokenizer.decode(result.tokens, clean_up_tokenization_spaces=False) == result.text
        assert result.log_probability <= 0


def test_a_text_that_nothing_can_follow_ends_without_asking_the_model(model: Any, tokenizer: Any) -> None:
    counting = Counting(model)
    result = tk.generate(counting, tokenizer, "hello", tk.regex("the!"), seed=0)
    assert result.finish_reason == "complete"
    assert result.stop_token is None
    assert counting.calls == len(result.tokens)
    counting = Counting(model)
    assert tk.generate(counting, tokenizer, "hello", tk.regex("")).tokens == []
    assert counting.calls == 0


def test_a_stop_token_is_drawn_and_left_out(tokenizer: Any) -> None:
    model = small_model(len(tokenizer), eos=[1, 3])
    drawn = set()
    for seed in range(40):
        result = tk.generate(model, tokenizer, "x", tk.regex("[ab]*"), seed=seed, temperature=2.0)
        if result.finish_reason == "stop":
            drawn.add(result.stop_token)
            assert re.fullmatch("[ab]*", result.text)
            assert not {1, 3} & set(result.tokens)
    assert drawn == {1, 3}  # the model's own generation config names both


def test_half_a_code_point_is_never_text(model: Any, tokenizer: Any) -> None:
    pieces: list[str] = []
    constraint = tk.regex("[😀-😿]{3}")
    result = tk.generate(model, tokenizer, "x", constraint, seed=0, on_text=pieces.append)
    assert "".join(pieces) == result.text
    assert len(result.text) == 3
    assert all(pieces)
    assert len(result.tokens) > 3  # no token is a whole emoji


def test_without_a_constraint_a_text_is_cut_off(tokenizer: Any) -> None:
    """The model would write half an emoji again and again."""
    half = tokenizer("😀", add_special_tokens=False)["input_ids"][0]
    logits = torch.zeros(len(tokenizer))
    logits[half] = 100.0
    cut = tk.generate(Constant(logits), tokenizer, "x", None, greedy=True, max_new_tokens=1)
    assert (cut.finish_reason, cut.tokens, cut.text) == ("length", [half], "")


def test_reproducible(model: Any, tokenizer: Any) -> None:
    constraint = tk.regex("[a-z ]{10,40}")

    def run(**settings: Any) -> list[int]:
        return tk.generate(model, tokenizer, "x", constraint, max_new_tokens=30, **settings).tokens

    assert run(seed=3) == run(seed=3)
    assert run(greedy=True) == run(greedy=True, seed=8) == run(top_k=1) == run(temperature=0)
    assert len({tuple(run(seed=seed)) for seed in range(5)}) > 1


def test_top_k_cuts_among_what_is_allowed(model: Any, tokenizer: Any) -> None:
    """Were top-k 1 to come first, it would keep one token, which the mask forbids."""
    result = tk.generate(model, tokenizer, "x", tk.regex("[0-9]{3}"), top_k=1)
    assert re.fullmatch("[0-9]{3}", result.text)


def test_log_probability_is_that_of_the_masked_softmax(model: Any, tokenizer: Any) -> None:
    constraint = tk.regex("[a-c]{1,5}")
    result = tk.generate(model, tokenizer, "hello", constraint, seed=2, temperature=0.5, top_k=3)
    vocabulary = tk.Vocabulary.load(tokenizer, stop=[1], width=len(tokenizer) + 37)
    matcher = constraint.compile(vocabulary).matcher()
    chosen = result.tokens + ([] if result.stop_token is None else [result.stop_token])
    total = 0.0
    for count, token in enumerate(chosen):
        ids = torch.tensor([result.prompt_tokens + result.tokens[:count]])
        logits = model(input_ids=ids).logits[0, -1].detach().clone()
        tk.apply_mask(logits, matcher.mask)
        total += float(torch.log_softmax(logits, -1)[token])
        assert matcher.advance(token)
    assert result.log_probability == pytest.approx(total, abs=1e-3)


def test_compiled_before_or_on_the_fly(model: Any, tokenizer: Any) -> None:
    vocabulary = tk.Vocabulary.load(tokenizer, stop=[1], width=len(tokenizer) + 37)
    constraint = tk.regex("[a-c]{1,5}")
    compiled = constraint.compile(vocabulary)
    first = tk.generate(model, tokenizer, "x", compiled, seed=1)
    assert first.tokens == tk.generate(model, tokenizer, "x", constraint, seed=1).tokens
    assert first.tokens == tk.generate(model, tokenizer, "x", compiled, seed=1).tokens


def test_prompts_as_ids(model: Any, tokenizer: Any) -> None:
    ids = tokenizer("hello")["input_ids"]
    constraint = tk.regex("[a-c]{1,5}")
    by_ids = tk.generate(model, tokenizer, ids, constraint, seed=1)
    by_text = tk.generate(model, tokenizer, "hello", constraint, seed=1)
    assert by_ids.tokens == by_text.tokens
    assert by_ids.prompt_tokens == ids
    with pytest.raises(tk.GenerationError, match="no tokens"):
        tk.generate(model, tokenizer, [], constraint)


def test_a_model_without_a_cache(model: Any, tokenizer: Any) -> None:
    constraint = tk.regex("[a-c]{8}")
    expected = tk.generate(model, tokenizer, "x", constraint, greedy=True).tokens
    counting = Counting(model, cache=False)
    assert tk.generate(counting, tokenizer, "x", constraint, greedy=True).tokens == expected


def test_no_stop_token(tokenizer: Any) -> None:
    counting = Counting(small_model(len(tokenizer)))
    vocabulary = tk.Vocabulary.load(BYTES, stop=(), width=len(tokenizer))
    with pytest.raises(tk.NoStopTokenError):
        tk.generate(counting, tokenizer, "x", tk.regex("ab").compile(vocabulary))
    assert counting.calls == 0


@pytest.mark.parametrize("value", [math.nan, -math.inf])
def test_logits_that_leave_nothing(tokenizer: Any, value: float) -> None:
    model = Constant(torch.full((len(tokenizer),), value))
    with pytest.raises(tk.GenerationError, match="no token to choose"):
        tk.generate(model, tokenizer, "x", tk.regex("ab"))


def test_narrow_logits(tokenizer: Any) -> None:
    vocabulary = tk.Vocabulary.load(tokenizer, stop=[1])
    model = Constant(torch.zeros(100))
    with pytest.raises(tk.MaskError, match="100 entries"):
        tk.generate(model, tokenizer, "x", tk.regex("ab").compile(vocabulary))


def test_wide_logits_of_a_vocabulary_that_does_not_know_of_them(tokenizer: Any) -> None:
    vocabulary = tk.Vocabulary.load(tokenizer, stop=[1])
    logits = torch.zeros(len(tokenizer) + 500)
    logits[len(tokenizer) :] = 50.0
    result = tk.generate(Constant(logits), tokenizer, "x", tk.regex("[ab]{5}").compile(vocabulary), seed=0)
    assert re.fullmatch("[ab]{5}", result.text)


def test_a_model_with_fewer_logits_than_the_tokenizer_has_ids(tokenizer: Any) -> None:
    """Gemma 3: 262,145 tokens, 262,144 logits.  Here the last id is text, which the model cannot write."""
    model = Constant(torch.zeros(len(tokenizer) - 1))
    model.generation_config = SimpleNamespace(eos_token_id=[1, len(tokenizer)])
    with pytest.warns(tk.VocabularyWarning, match="cannot write 1 tokens that are text"):
        vocabulary = hosts.vocabulary_of(model, tokenizer)
    assert len(vocabulary) == vocabulary.width == len(tokenizer) - 1
    assert vocabulary.tokens == tk.Vocabulary.load(tokenizer).tokens[:-1]
    assert tk.Vocabulary.load(tokenizer)[len(tokenizer) - 1] == "😀".encode()[:2]
    assert vocabulary.stop == (1,)
    assert vocabulary.name(1) == "<eos>"
    assert hosts.vocabulary_of(model, tokenizer) is vocabulary
    result = tk.generate(model, tokenizer, "x", tk.regex("[ab]{5}"), seed=0)
    assert re.fullmatch("[ab]{5}", result.text)


def test_a_stream_can_be_left_and_tells_all_at_its_end(model: Any, tokenizer: Any) -> None:
    steps = stream(model, tokenizer, "x", tk.regex("[a-c]{6}!"), seed=1)
    first = next(steps)
    assert steps.generation is None
    rest = list(steps)
    result = steps.generation
    assert result is not None
    assert result.tokens == [step.token for step in (first, *rest)]
    assert b"".join(step.data for step in (first, *rest)).decode() == result.text
    assert result.log_probability == pytest.approx(sum(step.log_probability for step in (first, *rest)))
    assert list(steps) == []
    timing = result.timing
    assert (
        min(timing.prompt_seconds, timing.model_seconds, timing.constraint_seconds, timing.sampling_seconds)
        > 0
    )


def test_without_a_constraint(model: Any, tokenizer: Any) -> None:
    result = tk.generate(model, tokenizer, "x", None, max_new_tokens=20, seed=1)
    assert result.finish_reason in ("length", "stop")


def test_the_vocabulary_is_loaded_once(model: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    tokenizer = small_tokenizer()
    read, calls = hosts.read_source, []
    monkeypatch.setattr(hosts, "read_source", lambda *a, **k: (calls.append(1), read(*a, **k))[1])
    for _ in range(3):
        tk.generate(model, tokenizer, "x", tk.regex("ab"))
    assert len(calls) == 1
    tokenizer.add_tokens(["abab"])
    tk.generate(model, tokenizer, "x", tk.regex("ab"))
    assert len(calls) == 2
