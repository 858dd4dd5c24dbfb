"""Drafts: texts are those without a draft, in fewer calls; what is drawn has the same distribution."""

from __future__ import annotations

import math
import os
from collections import Counter
from functools import cache
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
import transformers
from scipy import stats

import tokamata as tk
from tests.support.models.fakes import Constant, Counting, byte_level, preferring, token_id
from tests.support.models.small_models import KINDS, config_of, small_tokenizer

MERGES = ['" :', "n a", "na m", "nam e", "a g", "ag e", "1 2", "t h", "th e", "Ġ the"]
SCHEMA = {
    "type": "object",
    "properties": {"name": {"enum": ["ann", "bob"]}, "age": {"type": "integer"}, "same": {"type": "string"}},
    "required": ["name", "age"],
    "additionalProperties": False,
}
CONSTRAINTS = {
    "schema": lambda: tk.json_schema(SCHEMA),
    "regex": lambda: tk.regex(r"name: (ann|bob), age: [0-9]{1,3}(, the the the)?"),
    "free": lambda: None,
}
TOKENIZER = byte_level(MERGES)
OTHER_TOKENIZER = byte_level(["t h", "h e", "a n", "an n", "b o", "bo b", "i m", '" n'])
DRAFTS = ("constraint", "prompt", "model", "same model", "other tokens")


class Context:
    """A model whose logits depend on the last two tokens; it has no cache."""

    def __init__(self, width: int, seed: int, sharpness: float = 3.0) -> None:
        self.width, self.seed, self.sharpness = width, seed, sharpness
        self.config = SimpleNamespace(vocab_size=width)
        self.positions = 0

    def __call__(self, input_ids: torch.Tensor, **_: Any) -> Any:
        self.positions += input_ids.numel()
        rows = [
            [self.logits(text[max(0, end - 2) : end]) for end in range(1, len(text) + 1)]
            for text in input_ids.tolist()
        ]
        return SimpleNamespace(logits=torch.stack([torch.stack(row) for row in rows]))

    def logits(self, last: list[int]) -> torch.Tensor:
        seed = self.seed
        for token in last:
            seed = seed * 1000 + token + 1
        return self.sharpness * drawn(self.width, seed % (1 << 60))


@cache
def drawn(width: int, seed: int) -> torch.Tensor:
    """Random numbers, made once: tests read the same few texts again and again."""
    return torch.randn(width, generator=torch.Generator().manual_seed(seed))


WIDTH = len(TOKENIZER)


def draft_of(name: str, seed: int = 1) -> Any:
    """A drafter by its name here."""
    if name == "model":
        return Context(WIDTH, seed + 100)
    if name == "other tokens":
        return Padded(len(OTHER_TOKENIZER), seed), OTHER_TOKENIZER
    return Context(WIDTH, seed) if name == "same model" else name


@pytest.mark.parametrize("name", CONSTRAINTS)
@pytest.mark.parametrize("draft", DRAFTS)
@pytest.mark.parametrize("tokenization", ["any", "canonical"])
def test_greedy_texts_are_those_without_a_draft(name: str, draft: str, tokenization: Any) -> None:
    options = {"max_new_tokens": 40, "greedy": True, "tokenization": tokenization}
    for seed in range(3):
        plain = tk.generate(Context(WIDTH, seed), TOKENIZER, "name: bob", CONSTRAINTS[name](), **options)
        for draft_tokens in (1, 3, 8):
            drafted = tk.generate(
                Context(WIDTH, seed), TOKENIZER, "name: bob", CONSTRAINTS[name](),
                draft=draft_of(draft, seed), draft_tokens=draft_tokens, **options,
            )  # fmt: skip
            assert (drafted.tokens, drafted.stop_token, drafted.finish_reason) == (
                plain.tokens,
                plain.stop_token,
                plain.finish_reason,
            )
            assert math.isclose(drafted.log_probability, plain.log_probability, abs_tol=1e-4)
            assert drafted.accepted <= drafted.drafted
            if draft == "same model":
                assert drafted.accepted == drafted.drafted > 0


@pytest.mark.parametrize("name", CONSTRAINTS)
@pytest.mark.parametrize("draft", ["constraint", "prompt", "other tokens"])
def test_draws_are_those_without_a_draft(name: str, draft: str) -> None:
    for seed in range(6):
        options = {"max_new_tokens": 30, "seed": seed, "temperature": 1.5, "top_k": 40}
        plain = tk.generate(Context(WIDTH, seed), TOKENIZER, "the the", CONSTRAINTS[name](), **options)
        drafted = tk.generate(
            Context(WIDTH, seed), TOKENIZER, "the the", CONSTRAINTS[name](), draft=draft_of(draft), **options
        )
        assert drafted.tokens == plain.tokens


def test_forced_text_takes_fewer_calls() -> None:
    constraint = tk.regex("name: (ann|bob), age: 12, the the the the the")
    model, drafting = Counting(Context(WIDTH, 1)), Counting(Context(WIDTH, 1))
    plain = tk.generate(model, TOKENIZER, "a", constraint, greedy=True)
    drafted = tk.generate(drafting, TOKENIZER, "a", constraint, greedy=True, draft="constraint")
    assert drafted.tokens == plain.tokens
    assert drafting.calls <= model.calls - 10
    assert drafted.accepted >= 10
    assert drafted.timing.draft_seconds > 0


class Spelling:
    """A model that writes a text, in whatever tokens."""

    def __init__(self, tokenizer: Any, text: str) -> None:
        self._tokenizer, self._text = tokenizer, text
        self.config = SimpleNamespace(vocab_size=len(tokenizer))

    def __call__(self, input_ids: torch.Tensor, **_: Any) -> Any:
        logits = torch.zeros(*input_ids.shape, len(self._tokenizer))
        for row, ids in enumerate(input_ids.tolist()):
            for place in range(len(ids)):
                rest = self._text.removeprefix(self._tokenizer.decode(ids[: place + 1]))
                if rest and rest != self._text:
                    logits[row, place, self._tokenizer(rest)["input_ids"][0]] = 9
        return SimpleNamespace(logits=logits)


def test_a_model_with_other_tokens_drafts_the_text_that_it_would_write() -> None:
    """Both models want the same text, which they cut at other places."""
    text = "name: the man, 12; then ann, 1; then bob and the others, age 12"
    large, small = Spelling(TOKENIZER, text), Spelling(OTHER_TOKENIZER, text)
    for constraint in (None, tk.regex("(?s:.*)"), tk.regex("[^;]*; then [a-z]+, [0-9]+;.*[0-9]{2}")):
        model, drafting = Counting(large), Counting(large)
        options: dict[str, Any] = {"greedy": True, "max_new_tokens": 48}
        plain = tk.generate(model, TOKENIZER, "name", constraint, **options)
        drafted = tk.generate(
            drafting, TOKENIZER, "name", constraint, draft=(small, OTHER_TOKENIZER), **options
        )
        assert drafted.tokens == plain.tokens
        assert drafted.accepted > 0.7 * len(plain.tokens)
        assert drafting.calls < model.calls / 3


def test_a_model_with_other_tokens_has_the_limits_of_the_constraint(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = tk.regex("[a-z]+").compile(tk.Vocabulary.load(TOKENIZER), limits=tk.Limits(states=7_000))
    compile_, limits = tk.Constraint.compile, []

    def noting(self: Any, *args: Any, **options: Any) -> Any:
        limits.append(options.get("limits"))
        return compile_(self, *args, **options)

    monkeypatch.setattr(tk.Constraint, "compile", noting)
    draft = draft_of("other tokens")
    tk.generate(Context(WIDTH, 1), TOKENIZER, "a", compiled, draft=draft, max_new_tokens=5, greedy=True)
    assert limits == [compiled.limits]


def test_what_stands_in_the_prompt_is_looked_up() -> None:
    text = "name age the name age the name age"
    letters = TOKENIZER(text)["input_ids"]
    follower = {tuple(letters[i : i + 2]): letters[i + 2] for i in range(len(letters) - 2)}

    class Repeating(Context):
        def logits(self, last: list[int]) -> torch.Tensor:
            logits = torch.zeros(self.width)
            logits[follower.get(tuple(last), 5)] = 10
            return logits

    plain = tk.generate(Repeating(WIDTH, 1), TOKENIZER, text, None, greedy=True, max_new_tokens=30)
    drafted = tk.generate(
        Repeating(WIDTH, 1), TOKENIZER, text, None, greedy=True, max_new_tokens=30, draft="prompt"
    )
    assert drafted.tokens == plain.tokens
    assert drafted.accepted > 15


@pytest.mark.parametrize("draft", DRAFTS)
def test_several_texts(draft: str) -> None:
    """Texts of a batch accept different numbers of tokens; each is what it is alone."""
    prompts = ["a", "name: ", "the the the", "age"]
    constraints = [CONSTRAINTS[name]() for name in ("schema", "regex", "free", "schema")]
    options: dict[str, Any] = {"max_new_tokens": 25, "greedy": True}
    plain = tk.generate(Padded(WIDTH, 5), TOKENIZER, prompts, constraints, **options)
    drafted = tk.generate(
        Padded(WIDTH, 5), TOKENIZER, prompts, constraints, draft=draft_of(draft, 5), **options
    )
    assert [one.tokens for one in drafted] == [one.tokens for one in plain]


def test_a_text_may_get_ahead_of_the_others() -> None:
    """Each text is forced elsewhere, and still the batch takes hardly more calls than one text alone."""
    forced, free = "the the the the the the", "(a|b|1|2){12}"
    patterns = [forced + free, free + forced, f"{free[:-4]}{{6}}{forced}{free[:-4]}{{6}}"]
    constraints = [tk.regex(pattern) for pattern in patterns]
    prompts = ["a", "name: ", "the the the"]
    options: dict[str, Any] = {"max_new_tokens": 60, "greedy": True, "tokenization": "canonical"}
    plain = tk.generate(Padded(WIDTH, 5), TOKENIZER, prompts, constraints, **options)
    alone = []
    for prompt, constraint in zip(prompts, constraints, strict=True):
        model = Counting(Padded(WIDTH, 5))
        tk.generate(model, TOKENIZER, prompt, constraint, draft="constraint", **options)
        alone.append(model.calls)
    together = Counting(Padded(WIDTH, 5))
    drafted = tk.generate(together, TOKENIZER, prompts, constraints, draft="constraint", **options)
    assert [one.tokens for one in drafted] == [one.tokens for one in plain]
    assert together.calls <= max(alone) + 2


class Padded(Context):
    """Takes an attention mask; the logits depend on tokens alone, so padding on the left changes nothing."""

    def __call__(self, input_ids: torch.Tensor, attention_mask: Any = None, **options: Any) -> Any:
        return super().__call__(input_ids, **options)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("draft", ["constraint", "prompt", "model"])
def test_kinds_of_models(kind: str, draft: str) -> None:
    """With caches that are cut, those with a window, and those that cannot forget."""
    tokenizer = small_tokenizer()
    torch.manual_seed(0)
    model = transformers.AutoModelForCausalLM.from_config(config_of(kind, len(tokenizer))).eval()
    smaller = transformers.AutoModelForCausalLM.from_config(config_of(kind, len(tokenizer))).eval()
    constraint = tk.regex(r"[a-c]{2,12}(=> one, two, the one)?!")
    options: dict[str, Any] = {"greedy": True, "max_new_tokens": 40}
    prompts = ["abc abc", "one, two, the one", "x"]
    plain = tk.generate(model, tokenizer, prompts, constraint, **options)
    drafter = smaller if draft == "model" else draft
    drafted = tk.generate(model, tokenizer, prompts, constraint, draft=drafter, draft_tokens=4, **options)
    assert [one.tokens for one in drafted] == [one.tokens for one in plain]
    one = tk.generate(model, tokenizer, prompts[1], constraint, draft=drafter, draft_tokens=4, **options)
    assert one.tokens == plain[1].tokens


# ---- the distribution of what is drawn ------------------------------------------------------------


@pytest.mark.parametrize("draft", ["constraint", "prompt", "model", "model of others"])
def test_texts_have_the_distribution_that_they_have_without_a_draft(draft: str) -> None:
    """Against all texts of a small language, by chi-square."""
    constraint = tk.regex("[ab](the|age|1|12|2)[ab]?").compile(tk.Vocabulary.load(TOKENIZER))
    model = Context(WIDTH, 3, sharpness=0.7)
    options = {"temperature": 1.2, "top_p": 0.95}
    exact = distribution(model, constraint, **options)
    drafter = {"model": Context(WIDTH, 4, 0.7), "model of others": Constant(torch.zeros(WIDTH))}.get(
        draft, draft
    )
    count = int(os.environ.get("TOKAMATA_CASES", "800"))
    found: Counter[tuple[int, ...]] = Counter()
    accepted = 0
    for seed in range(count):
        one = tk.generate(
            model, TOKENIZER, "the", constraint, seed=seed, draft=drafter, draft_tokens=3, **options
        )
        found[tuple(one.tokens)] += 1
        accepted += one.accepted
    assert set(found) <= set(exact)
    common = [text for text, share in exact.items() if share * count >= 5]
    rest = 1 - sum(exact[text] for text in common)
    expected = [count * exact[text] for text in common] + ([count * rest] if rest * count >= 1 else [])
    seen = [found[text] for text in common] + (
        [count - sum(found[text] for text in common)] if rest * count >= 1 else []
    )
    assert stats.chisquare(seen, np.array(expected) * sum(seen) / sum(expected)).pvalue > 1e-4
    assert accepted > 0 or draft == "prompt"


def distribution(
    model: Context, constraint: tk.CompiledConstraint, temperature: float, top_p: float
) -> dict[tuple[int, ...], float]:
    """The probability of each text, by following every token."""
    vocabulary = constraint.vocabulary
    prompt = TOKENIZER("the")["input_ids"]
    found: dict[tuple[int, ...], float] = {}
    start = constraint.matcher()
    pending = [(start, [], 1.0)]
    while pending:
        matcher, tokens, share = pending.pop()
        if matcher.is_finished:
            found[tuple(tokens)] = found.get(tuple(tokens), 0) + share
            continue
        logits = model.logits((prompt + tokens)[-2:])
        tk.apply_mask(logits, matcher.mask)
        probabilities = torch.softmax(logits / temperature, -1)
        ordered, ids = probabilities.sort(descending=True)
        kept = ids[(ordered.cumsum(-1) - ordered) < top_p]
        total = float(probabilities[kept].sum())
        for token in kept.tolist():
            if probabilities[token] > 0:
                fork = matcher.fork()
                assert fork.advance(token)
                new = tokens if token in vocabulary.stop else [*tokens, token]
                pending.append((fork, new, share * float(probabilities[token]) / total))
    return found


# ---- masks, arguments -------------------------------------------------------------------------------


def test_each_mask_is_made_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Draft and model share the masks of their positions."""
    rows: list[int] = []
    fill_mask, fill_drafts, fill_masks = tk.Matcher.fill_mask, tk.Matcher.fill_draft_masks, tk.fill_masks

    def counted(name: str, function: Any) -> Any:
        def wrapper(*arguments: Any, **options: Any) -> Any:
            rows.append(
                {
                    "drafts": lambda: len(arguments[2]) + 1,
                    "one": lambda: 1,
                    "batch": lambda: len(arguments[0]),
                }[name]()
            )
            return function(*arguments, **options)

        return wrapper

    import tokamata.decoding.loop as loop

    monkeypatch.setattr(tk.Matcher, "fill_mask", counted("one", fill_mask))
    monkeypatch.setattr(tk.Matcher, "fill_draft_masks", counted("drafts", fill_drafts))
    monkeypatch.setattr(loop, "fill_masks", counted("batch", fill_masks))
    constraint = tk.regex("name: (ann|bob), age: [0-9]{2}")
    for draft in ("same model", "constraint"):
        rows.clear()
        result = tk.generate(
            Context(WIDTH, 2),
            TOKENIZER,
            "a",
            constraint,
            greedy=True,
            draft=draft_of(draft, 2),
            draft_tokens=4,
        )
        # One more for the budget, before the model is called; and one for each token that did not stand.
        assert sum(rows) <= len(result.tokens) + 1 + result.drafted - result.accepted + 1


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"draft": "forced"}, tk.ArgumentError),
        ({"draft": 5}, tk.ArgumentError),
        ({"draft": (Context(WIDTH, 1), 5)}, tk.ArgumentError),
        ({"draft": (TOKENIZER,)}, tk.ArgumentError),
        ({"draft": "constraint", "draft_tokens": 0}, tk.ArgumentError),
        ({"draft": "constraint", "draft_tokens": 1.5}, tk.ArgumentError),
        ({"draft": "constraint", "jump": True}, tk.ArgumentError),
    ],
)
def test_arguments(options: dict[str, Any], error: type[Exception]) -> None:
    with pytest.raises(error):
        tk.generate(Context(WIDTH, 1), TOKENIZER, "a", tk.regex("a"), **options)


def test_a_model_that_returns_the_last_logits_alone_is_refused() -> None:
    class Last(Context):
        def __call__(self, input_ids: torch.Tensor, **options: Any) -> Any:
            return SimpleNamespace(logits=super().__call__(input_ids, **options).logits[:, -1:])

    with pytest.raises(tk.GenerationError, match="1 positions"):
        tk.generate(Last(WIDTH, 1), TOKENIZER, "a", tk.regex("the the the the"), draft="constraint")


def test_a_draft_model_of_another_width() -> None:
    constraint = tk.regex("(the|age){3}")
    plain = tk.generate(Context(WIDTH, 1), TOKENIZER, "a", constraint, greedy=True)
    for width in (WIDTH - 3, WIDTH + 7):
        drafted = tk.generate(
            Context(WIDTH, 1), TOKENIZER, "a", constraint, greedy=True, draft=Context(width, 1)
        )
        assert drafted.tokens == plain.tokens


def test_a_draft_model_without_probabilities_drafts_nothing() -> None:
    constraint = tk.regex("(the|age){3}")
    nothing = Constant(torch.full((WIDTH,), float("nan")))
    plain = tk.generate(Context(WIDTH, 1), TOKENIZER, "a", constraint, greedy=True)
    drafted = tk.generate(Context(WIDTH, 1), TOKENIZER, "a", constraint, greedy=True, draft=nothing)
    assert drafted.tokens == plain.tokens
    assert drafted.drafted == 0


def test_budgets_hold_with_drafts() -> None:
    constraint = tk.regex("the( the)*")
    the = token_id(TOKENIZER, "Ġthe")
    model = preferring(WIDTH, token_id(TOKENIZER, "the"), the)
    for most in range(1, 12):
        plain = tk.generate(model, TOKENIZER, "a", constraint, greedy=True, max_new_tokens=most)
        for draft in ("constraint", "prompt", model):
            drafted = tk.generate(
                model, TOKENIZER, "a", constraint, greedy=True, max_new_tokens=most, draft=draft
            )
            assert drafted.tokens == plain.tokens
            assert len(drafted.tokens) <= most
