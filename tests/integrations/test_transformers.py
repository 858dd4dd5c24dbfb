"""The logits processor inside transformers' own generate."""

from __future__ import annotations

import math
import re
import subprocess
import sys
from typing import Any

import pytest
import torch
import transformers

import tokamata as tk
from tests.support.models.small_models import small_model
from tokamata.integrations.transformers import ConstraintLogitsProcessor

DATE = r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
WORDS = r"(one|two|the)( (one|two|the)){0,5}"


def compiled(pattern: str, vocabulary: tk.Vocabulary) -> tk.CompiledConstraint:
    return tk.regex(pattern).compile(vocabulary)


def texts(model: Any, tokenizer: Any, processor: Any, prompts: list[str], **settings: Any) -> list[str]:
    """Generate, and decode what comes after the prompts."""
    inputs = tokenizer(prompts, return_tensors="pt", padding=True)
    inputs.pop("token_type_ids", None)
    ids = model.generate(**inputs, logits_processor=[processor], max_new_tokens=60, **settings)
    return [tokenizer.decode(row[inputs["input_ids"].shape[1] :], skip_special_tokens=True) for row in ids]


@pytest.mark.parametrize(
    "settings",
    [
        {"do_sample": False},
        {"do_sample": True},
        {"do_sample": True, "temperature": 3.0, "num_return_sequences": 4},
        {"do_sample": True, "top_k": 1},
        {"do_sample": True, "top_p": 0.05},
        {"do_sample": False, "num_beams": 4},
        {"do_sample": False, "num_beams": 4, "num_return_sequences": 4},
        {"do_sample": True, "num_beams": 3, "num_return_sequences": 2},
    ],
    ids=str,
)
@pytest.mark.parametrize("pattern", [DATE, WORDS, r"[a-z]{1,9}(\.[a-z]{1,3})?"])
def test_every_row_matches(
    model: Any, tokenizer: Any, vocabulary: tk.Vocabulary, pattern: str, settings: dict
) -> None:
    torch.manual_seed(0)
    processor = ConstraintLogitsProcessor(compiled(pattern, vocabulary))
    # Prompts of different lengths: rows are padded on the left, and end at different steps.
    for text in texts(model, tokenizer, processor, ["x", "hello there", "12 34"], **settings):
        assert re.fullmatch(pattern, text), text


def test_one_processor_for_many_generations(model: Any, tokenizer: Any, vocabulary: tk.Vocabulary) -> None:
    processor = ConstraintLogitsProcessor(compiled(WORDS, vocabulary))
    for prompts in (["hello"], ["hello"], ["hello", "x"], ["a", "b"], ["hello there, all of you"], ["hello"]):
        for text in texts(model, tokenizer, processor, prompts, do_sample=False):
            assert re.fullmatch(WORDS, text), text


def test_going_on_from_an_output(model: Any, tokenizer: Any, vocabulary: tk.Vocabulary) -> None:
    """The second prompt is the first's prompt and output and more: not a step of the first."""
    processor = ConstraintLogitsProcessor(compiled(DATE, vocabulary))
    first = texts(model, tokenizer, processor, ["x"], do_sample=False)[0]
    second = texts(model, tokenizer, processor, ["x" + first + " and "], do_sample=False)[0]
    assert re.fullmatch(DATE, second)
    processor.reset()
    assert re.fullmatch(DATE, texts(model, tokenizer, processor, ["x" + first], do_sample=False)[0])


def test_same_as_the_plain_loop(model: Any, tokenizer: Any, vocabulary: tk.Vocabulary) -> None:
    constraint = compiled(WORDS, vocabulary)
    by_loop = tk.generate(model, tokenizer, "hello", constraint, greedy=True)
    by_host = texts(model, tokenizer, ConstraintLogitsProcessor(constraint), ["hello"], do_sample=False)
    assert by_host == [by_loop.text]


def test_the_mask_comes_before_top_k(model: Any, vocabulary: tk.Vocabulary) -> None:
    """In the list that transformers makes, ours stands before the warpers."""
    seen: list[str] = []
    original = transformers.LogitsProcessorList.__call__

    def spy(self: Any, *args: Any, **kwargs: Any) -> Any:
        seen[:] = [type(processor).__name__ for processor in self]
        return original(self, *args, **kwargs)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(transformers.LogitsProcessorList, "__call__", spy)
        model.generate(
            torch.tensor([[2, 10]]),
            logits_processor=[ConstraintLogitsProcessor(compiled("ab", vocabulary))],
            do_sample=True,
            temperature=0.5,
            top_k=3,
            top_p=0.5,
            repetition_penalty=1.2,
        )
    ours = seen.index("ConstraintLogitsProcessor")
    warpers = [seen.index(f"{name}LogitsWarper") for name in ("Temperature", "TopK", "TopP")]
    assert seen.index("RepetitionPenaltyLogitsProcessor") < ours < min(warpers)


@pytest.mark.parametrize(
    "settings",
    [
        {"do_sample": False},
        {"do_sample": True, "temperature": 3.0, "num_return_sequences": 4},
        {"do_sample": False, "num_beams": 4, "num_return_sequences": 4},
        {"do_sample": True, "num_beams": 3},
    ],
    ids=str,
)
@pytest.mark.parametrize("pattern", [WORDS, r"[a-z]+!", r"(ab|[0-9]{2})*(the|one)"])
def test_a_budget_is_kept_to(
    model: Any, tokenizer: Any, vocabulary: tk.Vocabulary, pattern: str, settings: dict
) -> None:
    torch.manual_seed(0)
    inputs = tokenizer(["x", "hello there", "12 34"], return_tensors="pt", padding=True)
    inputs.pop("token_type_ids", None)
    shortest = len(compiled(pattern, vocabulary).matcher().shortest_completion())
    for budget in range(shortest, shortest + 5):
        processor = ConstraintLogitsProcessor(compiled(pattern, vocabulary), max_new_tokens=budget)
        output = model.generate(
            **inputs,
            logits_processor=[processor],
            max_new_tokens=budget,
            output_scores=True,
            return_dict_in_generate=True,
            **settings,
        )
        scores = getattr(output, "sequences_scores", torch.zeros(len(output.sequences)))
        texts = tokenizer.batch_decode(output.sequences[:, inputs["input_ids"].shape[1] :], True)
        # Beam search with more beams than there are texts fills up with rows of no probability.
        assert all(
            re.fullmatch(pattern, text) or score < -1e8
            for text, score in zip(texts, scores.tolist(), strict=True)
        ), (budget, texts, scores)
        assert re.fullmatch(pattern, texts[0])


def test_budgets_that_are_too_small(vocabulary: tk.Vocabulary) -> None:
    for budget in (1, 0, -1):
        with pytest.raises(tk.BudgetError) as caught:
            ConstraintLogitsProcessor(compiled("[0-9]{5}", vocabulary), max_new_tokens=budget)
        assert (caught.value.budget, caught.value.needed) == (budget, 2 if budget == 1 else None)


def test_rows_within_a_budget(tokenizer: Any, vocabulary: tk.Vocabulary) -> None:
    host = Host("x*y|z{4}", tokenizer, vocabulary, max_new_tokens=3)
    assert host.allowed(host.ids("p", "p", "p")) == [{"x", "y"}] * 3
    assert host.allowed(host.ids("px", "py", "pz")) == [{"x", "y"}, {"<eos>"}, {"<eos>"}]
    assert host.allowed(host.ids("pxx", "py<eos>", "pzz")) == [{"y"}, {"<eos>"}, {"<eos>"}]
    # The text has all its tokens: only a caller who goes on nevertheless comes here.
    assert host.allowed(host.ids("pxxy", "pxxx", "pzzz")) == [{"<eos>"}] * 3
    assert host.allowed(host.ids("pxxyx", "pxxxx", "pzzzz")) == [{"<eos>"}] * 3


def test_rows_with_a_least_number_of_tokens(model: Any, tokenizer: Any, vocabulary: tk.Vocabulary) -> None:
    host = Host("x|y*", tokenizer, vocabulary, min_new_tokens=2, max_new_tokens=3)
    for text, expected in (("p", {"y"}), ("py", {"y"}), ("pyy", {"y", "<eos>"})):
        assert host.allowed(host.ids(text)) == [expected]
    for least, most, error in ((2, None, tk.LengthError), (0, 0, tk.BudgetError)):
        with pytest.raises(error):
            ConstraintLogitsProcessor(compiled("x", vocabulary), None, most, min_new_tokens=least)
    processor = ConstraintLogitsProcessor(compiled("[xy]*", vocabulary), None, 9, min_new_tokens=5)
    inputs = tokenizer(["x", "one"], return_tensors="pt", padding=True)["input_ids"]
    output = model.generate(inputs, logits_processor=[processor], max_new_tokens=9, do_sample=True)
    for row in output[:, inputs.shape[1] :].tolist():
        assert sum(vocabulary[token] is not None and token not in vocabulary.stop for token in row) >= 5


def test_more_beams_than_texts(model: Any, tokenizer: Any, vocabulary: tk.Vocabulary) -> None:
    """Two texts, four beams: those that are no text score minus infinity, and nothing raises."""
    inputs = tokenizer(["x"], return_tensors="pt")["input_ids"]
    output = model.generate(
        inputs,
        logits_processor=[ConstraintLogitsProcessor(compiled("ab|c", vocabulary))],
        num_beams=4,
        num_return_sequences=4,
        do_sample=False,
        max_new_tokens=8,
        output_scores=True,
        return_dict_in_generate=True,
    )
    for ids, score in zip(output.sequences, output.sequences_scores.tolist(), strict=True):
        text = tokenizer.decode(ids[inputs.shape[1] :], skip_special_tokens=True)
        assert (text in ("ab", "c")) or score < -1e8, (text, score)
    assert tokenizer.decode(output.sequences[0][inputs.shape[1] :], skip_special_tokens=True) in ("ab", "c")


def test_several_stop_tokens(tokenizer: Any) -> None:
    model = small_model(len(tokenizer), eos=[1, 3])
    vocabulary = tk.Vocabulary.load(tokenizer, stop=[1, 3])
    processor = ConstraintLogitsProcessor(compiled("[ab]{0,6}", vocabulary))
    torch.manual_seed(0)
    for text in texts(model, tokenizer, processor, ["x", "yy"] * 8, do_sample=True, temperature=2.0):
        assert re.fullmatch("[ab]{0,6}", text)


class Host:
    """Calls a processor as transformers would, with ids that the test chooses."""

    def __init__(self, pattern: str, tokenizer: Any, vocabulary: tk.Vocabulary, **settings: Any) -> None:
        self.processor = ConstraintLogitsProcessor(compiled(pattern, vocabulary), **settings)
        self.tokenizer, self.width = tokenizer, vocabulary.width

    def ids(self, *rows: str) -> torch.Tensor:
        return torch.tensor([self.tokenizer(row, add_special_tokens=False)["input_ids"] for row in rows])

    def allowed(self, ids: torch.Tensor, extra: int = 0) -> list[set[str]]:
        scores = torch.zeros(ids.shape[0], self.width + extra)
        masked = self.processor(ids, scores)
        assert not scores.any()  # left as they were
        return [
            {
                self.tokenizer.convert_ids_to_tokens(token)
                for token in row.isfinite().nonzero().flatten().tolist()
            }
            for row in masked
        ]


def test_rows_are_found_by_their_ids(tokenizer: Any, vocabulary: tk.Vocabulary) -> None:
    host = Host("x1|y2|z3", tokenizer, vocabulary)
    assert host.allowed(host.ids("pq", "pq", "pq"), extra=900) == [{"x", "y", "z"}] * 3
    assert host.allowed(host.ids("pqz", "pqz", "pqx")) == [{"3"}, {"3"}, {"1"}]
    # Reordered, and one row dropped.
    assert host.allowed(host.ids("pqx1", "pqz3", "pqz3")) == [{"<eos>"}] * 3


def test_another_prompt_of_the_same_length(tokenizer: Any, vocabulary: tk.Vocabulary) -> None:
    host = Host("x1|y2|z3", tokenizer, vocabulary)
    for prompt in ("pq", "pq", "rq", "pqx1", "p"):
        assert host.allowed(host.ids(prompt)) == [{"x", "y", "z"}]
        assert host.allowed(host.ids(prompt + "y")) == [{"2"}]


def test_rows_after_their_end_and_rows_that_are_refused(tokenizer: Any, vocabulary: tk.Vocabulary) -> None:
    host = Host("x|yy", tokenizer, vocabulary)
    assert host.allowed(host.ids("p", "p", "p")) == [{"x", "y"}] * 3
    assert host.allowed(host.ids("px", "py", "pz")) == [{"<eos>"}, {"y"}, {"<eos>"}]
    assert host.allowed(host.ids("px<eos>", "pyy", "pzz")) == [{"<eos>"}] * 3
    assert host.allowed(host.ids("px<eos><pad>", "pyy<eos>", "pzzz")) == [{"<eos>"}] * 3
    assert host.allowed(host.ids("px<eos><pad><pad>", "pyy<eos>q", "pzzzz")) == [{"<eos>"}] * 3


def test_ids_that_go_back_with_a_given_prompt_length(tokenizer: Any, vocabulary: tk.Vocabulary) -> None:
    host = Host("x{1,3}1|y2", tokenizer, vocabulary, prompt_length=2)
    assert host.allowed(host.ids("pqxx")) == [{"x", "1"}]
    assert host.allowed(host.ids("pqxxx")) == [{"1"}]
    assert host.allowed(host.ids("pqxx1")) == [{"<eos>"}]
    assert host.allowed(host.ids("pqx")) == [{"x", "1"}]
    assert host.allowed(host.ids("pqy")) == [{"2"}]


@pytest.mark.parametrize("value", [math.nan, -math.inf])
def test_scores_that_leave_nothing(tokenizer: Any, vocabulary: tk.Vocabulary, value: float) -> None:
    processor = ConstraintLogitsProcessor(compiled("ab", vocabulary))
    with pytest.raises(tk.GenerationError, match="row 0 has no token"):
        processor(torch.tensor([[5]]), torch.full((1, vocabulary.width), value))


def test_narrow_scores(vocabulary: tk.Vocabulary) -> None:
    processor = ConstraintLogitsProcessor(compiled("ab", vocabulary))
    with pytest.raises(tk.MaskError, match="40 entries"):
        processor(torch.tensor([[5]]), torch.zeros(1, 40))


def test_no_stop_token() -> None:
    vocabulary = tk.Vocabulary.load([b"a", b"b"])
    with pytest.raises(tk.NoStopTokenError):
        ConstraintLogitsProcessor(compiled("ab", vocabulary))


def test_transformers_is_not_imported() -> None:
    code = (
        "import sys, tokamata.integrations.transformers\n"
        "assert not {'torch', 'transformers'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_errors_name_the_constraint(vocabulary: tk.Vocabulary) -> None:
    short, long = (tk.regex(pattern).compile(vocabulary) for pattern in ("a", "a{99}"))
    with pytest.raises(tk.BudgetError) as budget:
        ConstraintLogitsProcessor([short, None, long], max_new_tokens=5)
    assert budget.value.item == "constraint 2"
    with pytest.raises(tk.ArgumentError) as argument:
        ConstraintLogitsProcessor([short, tk.regex("a")])  # type: ignore[list-item]
    assert argument.value.item == "constraint 1"
    with pytest.raises(tk.BudgetError) as alone:
        ConstraintLogitsProcessor(long, max_new_tokens=5)
    assert alone.value.item == ""


def test_a_call_with_what_is_no_pair_of_tensors(vocabulary: tk.Vocabulary) -> None:
    processor: Any = ConstraintLogitsProcessor(compiled("a", vocabulary))
    ids, scores = torch.zeros(1, 2, dtype=torch.long), torch.zeros(1, vocabulary.width)
    for wrong in ((ids.numpy(), scores), (ids[0], scores), (ids, scores[0]), (ids, scores.numpy())):
        with pytest.raises(tk.ArgumentError, match=r"a torch tensor of two dimensions.*logits_processor"):
            processor(*wrong)
