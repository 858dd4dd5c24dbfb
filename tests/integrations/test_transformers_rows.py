"""Inside transformers' generate: a constraint for each prompt, prompts as context, assisted decoding."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

import pytest
import torch

import tokamata as tk
from tests.support.models.small_models import small_model
from tokamata.integrations.transformers import ConstraintLogitsProcessor

DATE = r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
WORDS = r"(one|two|the)( (one|two|the)){0,5}"
SETTINGS: list[dict[str, Any]] = [
    {"do_sample": False},
    {"do_sample": True, "temperature": 2.0},
    {"do_sample": True, "num_return_sequences": 3},
    {"do_sample": False, "num_beams": 4, "num_return_sequences": 2},
    {"do_sample": True, "num_beams": 2},
]


def written(
    model: Any, tokenizer: Any, processor: Any, prompts: list[str], **settings: Any
) -> list[list[int]]:
    """The ids after the prompts, up to the stop token."""
    inputs = tokenizer(prompts, return_tensors="pt", padding=True)
    inputs.pop("token_type_ids", None)
    settings = {"max_new_tokens": 60, **settings}
    ids = model.generate(**inputs, logits_processor=[processor], **settings)
    rows = [row.tolist() for row in ids[:, inputs["input_ids"].shape[1] :]]
    return [row[: row.index(1)] if 1 in row else row for row in rows]


def texts(model: Any, tokenizer: Any, processor: Any, prompts: list[str], **settings: Any) -> list[str]:
    return [tokenizer.decode(row) for row in written(model, tokenizer, processor, prompts, **settings)]


# ---- one constraint for each prompt ------------------------------------------------------------


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_each_prompt_has_its_constraint(
    model: Any, tokenizer: Any, vocabulary: tk.Vocabulary, settings: dict[str, Any]
) -> None:
    torch.manual_seed(0)
    patterns = [DATE, WORDS, None, r"[a-z]{1,9}", DATE]
    compiled = {pattern: tk.regex(pattern).compile(vocabulary) for pattern in patterns if pattern is not None}
    processor = ConstraintLogitsProcessor([pattern and compiled[pattern] for pattern in patterns])
    prompts = ["x", "hello there", "12 34", "x", "hello"]
    for _ in range(2):  # one processor for several generations
        found = texts(model, tokenizer, processor, prompts, **settings)
        per_prompt = len(found) // len(prompts)
        for index, text in enumerate(found):
            pattern = patterns[index // per_prompt]
            assert pattern is None or re.fullmatch(pattern, text), (pattern, text)


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_budgets_of_rows(
    model: Any, tokenizer: Any, vocabulary: tk.Vocabulary, settings: dict[str, Any]
) -> None:
    torch.manual_seed(0)
    patterns = [DATE, r"(ab|[0-9]{2})*(the|one)", r"[a-z ]+!"]
    compiled = [tk.regex(pattern).compile(vocabulary) for pattern in patterns]
    needed = max(len(each.matcher().shortest_completion()) for each in compiled)
    for budget in (needed, needed + 3):
        processor = ConstraintLogitsProcessor(compiled, max_new_tokens=budget)
        settings = {**settings, "max_new_tokens": budget}
        found = texts(model, tokenizer, processor, ["x", "hello", "12"], **settings)
        per_prompt = len(found) // 3
        for index in range(0, len(found), per_prompt):  # the best of each prompt
            assert re.fullmatch(patterns[index // per_prompt], found[index]), found


def test_a_free_row_keeps_its_scores(tokenizer: Any, vocabulary: tk.Vocabulary) -> None:
    compiled = tk.regex("ab").compile(vocabulary)
    scores = torch.randn(2, vocabulary.width + 64)
    masked = ConstraintLogitsProcessor([None, compiled])(torch.tensor([[5], [5]]), scores)
    assert torch.equal(masked[0], scores[0])
    assert masked[1].isfinite().sum() == 2  # a, ab
    assert torch.equal(ConstraintLogitsProcessor([None])(torch.tensor([[5], [5]]), scores), scores)


def test_equal_prompts_with_different_constraints(tokenizer: Any, vocabulary: tk.Vocabulary) -> None:
    """Beams swap within a prompt; rows of the other prompt with the same ids are none of theirs."""
    processor = ConstraintLogitsProcessor(
        [tk.regex(pattern).compile(vocabulary) for pattern in ("a[xy]1", "a[xy]2")]
    )
    scores = torch.zeros(4, vocabulary.width)

    def allowed(*rows: str) -> list[str]:
        ids = torch.tensor([tokenizer(row, add_special_tokens=False)["input_ids"] for row in rows])
        masked = processor(ids, scores)
        return ["".join(sorted(map(tokenizer.decode, row.isfinite().nonzero()))) for row in masked]

    assert allowed("p", "p", "p", "p") == ["a"] * 4
    assert allowed("pa", "pa", "pa", "pa") == ["xy"] * 4
    assert allowed("pax", "pay", "pay", "pax") == ["1", "1", "2", "2"]
    assert allowed("pay1", "pax1", "pax2", "pax2") == ["<eos>"] * 4  # both prompts reorder theirs


def test_masks_are_filled_in_one_call(
    tokenizer: Any, vocabulary: tk.Vocabulary, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With budgets, too; no row is filled by itself."""
    from tokamata.integrations import transformers as host

    calls: list[int] = []
    original = tk.fill_masks

    def spy(matchers: Any, mask: Any, **options: Any) -> None:
        calls.append(len(matchers))
        original(matchers, mask, **options)

    monkeypatch.setattr(host, "fill_masks", spy)
    compiled = [tk.regex(pattern).compile(vocabulary) for pattern in ("a*b", "c*d")]
    for settings in ({}, {"max_new_tokens": 9}):
        processor = ConstraintLogitsProcessor([*compiled, None, *compiled], **settings)
        monkeypatch.setattr(tk.Matcher, "fill_mask", None)
        processor(torch.full((5, 2), 7), torch.zeros(5, vocabulary.width))
        monkeypatch.undo()
        monkeypatch.setattr(host, "fill_masks", spy)
    assert calls == [4, 4]


def test_what_is_refused(tokenizer: Any, vocabulary: tk.Vocabulary) -> None:
    compiled = tk.regex("ab").compile(vocabulary)
    other = tk.regex("ab").compile(tk.Vocabulary.load(tokenizer, stop=[1]))
    for wrong in ([], 5, "ab", [compiled, "ab"], [tk.regex("ab")], tk.regex("ab"), [compiled, other]):
        with pytest.raises(tk.ArgumentError):
            ConstraintLogitsProcessor(wrong)  # type: ignore[arg-type]
    for settings in (
        {"prompt_length": -1},
        {"prompt_length": "2"},
        {"max_new_tokens": "2"},
        {"pad_token_id": "<pad>"},
        {"on_noncanonical": "no"},
    ):
        with pytest.raises(tk.ArgumentError):
            ConstraintLogitsProcessor(compiled, **settings)  # type: ignore[arg-type]
    processor = ConstraintLogitsProcessor([compiled, None, compiled])
    with pytest.raises(tk.ArgumentError, match="a list of 3 for 4 rows"):
        processor(torch.full((4, 2), 7), torch.zeros(4, vocabulary.width))


# ---- the prompt is the context of canonical texts ----------------------------------------------


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_prompt_and_text_are_canonical_together(
    model: Any, tokenizer: Any, vocabulary: tk.Vocabulary, settings: dict[str, Any]
) -> None:
    """The merges of the tokenizer join 'a b', 'ab c', '1 2', '3 4', '12 34' across the border."""
    torch.manual_seed(0)
    pattern = r"[abc1234]{1,12}x"
    compiled = tk.regex(pattern).compile(vocabulary, tokenization="canonical")
    processor = ConstraintLogitsProcessor(compiled, pad_token_id=0)
    prompts = ["a", "hello 12", "x ab", "one 1"]
    rows = written(model, tokenizer, processor, prompts, **settings)
    per_prompt = len(rows) // len(prompts)
    for index, row in enumerate(rows):
        prompt = prompts[index // per_prompt]
        text = tokenizer.decode(row)
        assert re.fullmatch(pattern, text)
        together = tokenizer(prompt)["input_ids"] + row
        assert tokenizer(prompt + text)["input_ids"] == together


def test_the_border_is_not_ignored(tokenizer: Any, vocabulary: tk.Vocabulary) -> None:
    """After 'a' no canonical text goes on with the token 'b': the tokenizer writes 'ab'."""
    compiled = tk.regex("b|c").compile(vocabulary, tokenization="canonical")
    processor = ConstraintLogitsProcessor(compiled, pad_token_id=0)
    ids = tokenizer(["a", "x1"], return_tensors="pt", padding=True)["input_ids"]
    masked = processor(ids, torch.zeros(2, vocabulary.width))
    assert [tokenizer.decode(row.isfinite().nonzero()[0]) for row in masked] == ["c", "b"]
    with pytest.raises(tk.NoncanonicalError):
        ConstraintLogitsProcessor(tk.regex("b").compile(vocabulary, tokenization="canonical"))(
            ids, torch.zeros(2, vocabulary.width)
        )


def test_padding_that_is_no_token_of_the_tokenizer(tokenizer: Any, vocabulary: tk.Vocabulary) -> None:
    compiled = tk.regex("b|c").compile(vocabulary, tokenization="canonical")
    pad = vocabulary.width + 5
    ids = torch.tensor([[pad, pad, *tokenizer("a")["input_ids"]], [pad] * 4])
    scores = torch.zeros(2, vocabulary.width)
    with pytest.raises(tk.TokenIdError):
        ConstraintLogitsProcessor(compiled)(ids, scores)
    masked = ConstraintLogitsProcessor(compiled, pad_token_id=pad)(ids, scores)
    assert masked.isfinite().sum(1).tolist() == [1, 2]


def test_a_prompt_that_is_not_canonical(tokenizer: Any, vocabulary: tk.Vocabulary) -> None:
    compiled = tk.regex("b|c").compile(vocabulary, tokenization="canonical")
    ids = torch.tensor([tokenizer("1", add_special_tokens=False)["input_ids"] * 2])
    ids[0, 1] += 1  # "12" in two tokens
    scores = torch.zeros(1, vocabulary.width)
    with pytest.raises(tk.ContextError):
        ConstraintLogitsProcessor(compiled)(ids, scores)
    masked = ConstraintLogitsProcessor(compiled, on_noncanonical="fresh")(ids, scores)
    assert masked.isfinite().sum() == 2


def test_a_budget_that_nothing_fits_after_the_prompt(tokenizer: Any, vocabulary: tk.Vocabulary) -> None:
    compiled = tk.regex("bcd").compile(vocabulary, tokenization="canonical")
    ids = tokenizer(["x"], return_tensors="pt")["input_ids"]
    processor = ConstraintLogitsProcessor(compiled, max_new_tokens=2)
    with pytest.raises(tk.BudgetError) as caught:
        processor(ids, torch.zeros(1, vocabulary.width))
    assert (caught.value.budget, caught.value.needed) == (2, 3)


# ---- assisted decoding -------------------------------------------------------------------------


def assistants(tokenizer: Any) -> list[dict[str, Any]]:
    """What transformers calls assisted generation: a second model, and look-up in the prompt."""
    return [
        {"assistant_model": small_model(len(tokenizer) + 37, seed=3)},
        {"assistant_model": small_model(len(tokenizer) + 37)},  # the same: all it drafts is taken
        {"prompt_lookup_num_tokens": 4},
    ]


@pytest.mark.parametrize("which", range(3))
@pytest.mark.parametrize("pattern", [DATE, WORDS, r"((one|two) )*the", r"[a-c]{30,40}"])
@pytest.mark.parametrize("do_sample", [False, True])
def test_assisted_generation(
    model: Any, tokenizer: Any, vocabulary: tk.Vocabulary, which: int, pattern: str, do_sample: bool
) -> None:
    compiled = tk.regex(pattern).compile(vocabulary)
    processor = ConstraintLogitsProcessor(compiled, max_new_tokens=60)
    alone = ConstraintLogitsProcessor(compiled, max_new_tokens=60)
    for seed, prompt in enumerate(["one two the one two", "abcabcabc", "2024-10-11 2024"]):
        torch.manual_seed(seed)
        settings = {"do_sample": do_sample, **assistants(tokenizer)[which]}
        text = texts(model, tokenizer, processor, [prompt], **settings)[0]
        assert re.fullmatch(pattern, text), text
        if not do_sample:  # an assistant changes what it costs, and nothing else
            assert texts(model, tokenizer, alone, [prompt], do_sample=False) == [text]


@pytest.mark.parametrize("which", range(3))
def test_assisted_generation_costs_steps_linear_in_what_was_drafted(
    tokenizer: Any, vocabulary: tk.Vocabulary, which: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    counts: Counter[str] = Counter()
    advance = tk.Matcher.advance
    call = ConstraintLogitsProcessor.__call__

    def counted_advance(self: Any, token: int) -> bool:
        counts["advance"] += 1
        return advance(self, token)

    def counted_call(self: Any, *args: Any) -> Any:
        counts["call"] += 1
        return call(self, *args)

    monkeypatch.setattr(tk.Matcher, "advance", counted_advance)
    monkeypatch.setattr(ConstraintLogitsProcessor, "__call__", counted_call)
    model = small_model(len(tokenizer) + 37)
    compiled = tk.regex(r"[a-c]*").compile(vocabulary)
    for length in (40, 400):
        counts.clear()
        processor = ConstraintLogitsProcessor(compiled, max_new_tokens=length)
        settings = {"do_sample": False, "max_new_tokens": length, "eos_token_id": 3}
        rows = written(model, tokenizer, processor, ["abcabcabc"], **settings, **assistants(tokenizer)[which])
        assert counts["advance"] <= counts["call"]  # a call adds one id at most
        assert len(rows[0]) <= length
        assert counts["call"] >= len(rows[0])


def test_canonical_tokens_in_assisted_generation(
    model: Any, tokenizer: Any, vocabulary: tk.Vocabulary
) -> None:
    compiled = tk.regex(r"[abc12]{10,20}x").compile(vocabulary, tokenization="canonical")
    for settings in assistants(tokenizer):
        processor = ConstraintLogitsProcessor(compiled, max_new_tokens=40)
        row = written(model, tokenizer, processor, ["x ab"], do_sample=False, **settings)[0]
        text = tokenizer.decode(row)
        assert re.fullmatch(r"[abc12]{10,20}x", text)
        assert tokenizer("x ab" + text)["input_ids"] == tokenizer("x ab")["input_ids"] + row


def test_after_an_error_another_generation_begins(tokenizer: Any, vocabulary: tk.Vocabulary) -> None:
    processor = ConstraintLogitsProcessor(tk.regex("ab").compile(vocabulary))
    ids = tokenizer(["x"], return_tensors="pt")["input_ids"]
    with pytest.raises(tk.GenerationError):
        processor(ids, torch.full((1, vocabulary.width), torch.nan))
    longer = torch.cat([ids, tokenizer(["a"], return_tensors="pt", add_special_tokens=False)["input_ids"]], 1)
    masked = processor(longer, torch.zeros(1, vocabulary.width))
    assert masked.isfinite().sum() == 2
