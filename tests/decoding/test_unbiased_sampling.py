"""``tk.sample`` against the exact law of small languages, which is computed without the engine."""

from __future__ import annotations

import math
import pickle
from collections import Counter
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from scipy import stats

import tokamata as tk
from tests.support.models.enumerated import (
    Language,
    Path,
    Prefixed,
    binary,
    distance,
    dyck,
    law,
    log_probability,
    words,
)
from tests.support.models.fakes import Counting
from tests.support.models.small_models import config_of, small_model, small_tokenizer
from tokamata.decoding.logarithms import (
    cumulative,
    drawn,
    effective_size,
    log_mean,
    log_sum,
    systematic,
)
from tokamata.decoding.results import Timing
from tokamata.decoding.start import Options, tasks_of
from tokamata.decoding.unbiased.law import Law
from tokamata.decoding.unbiased.prefix_tree import COMPLETE, Node, PrefixTree
from tokamata.decoding.unbiased.walks import walk

PROMPT = (0,)
# With the budget that cuts off some texts of the last two.
LANGUAGES = [(binary(3), 6), (binary(5), 9), (dyck(3), 6), (words(), 6)]
NAMES = [language.name for language, _ in LANGUAGES]
METHODS: list[Any] = ["exact", "local", "asap", "smc"]


def sample(language: Language, model: Any, n: int, **settings: Any) -> tk.Samples[Any]:
    return tk.sample(model, None, list(PROMPT), language.compiled, n, **settings)


def path_of(one: tk.Sample[Any]) -> Path:
    return (*one.tokens, *(() if one.stop_token is None else (one.stop_token,)))


def shares(samples: tk.Samples[Any], weighted: bool = False) -> dict[Path, float]:
    """The share of each path among the samples."""
    found: dict[Path, float] = Counter()
    for one in samples:
        found[path_of(one)] += math.exp(one.log_weight) if weighted else 1.0
    total = sum(found.values())
    return {path: share / total for path, share in found.items()}


def p_value(exact: dict[Path, float], found: Counter[Path]) -> float:
    """By chi-square; paths that are expected fewer than five times are one class."""
    count = sum(found.values())
    assert set(found) <= set(exact)
    common = [path for path, share in exact.items() if share * count >= 5]
    rest = 1 - sum(exact[path] for path in common)
    seen = [found[path] for path in common]
    expected = [count * exact[path] for path in common]
    if rest * count >= 1:
        seen.append(count - sum(seen))
        expected.append(rest * count)
    return float(stats.chisquare(seen, np.array(expected) * sum(seen) / sum(expected)).pvalue)


# ---- the law ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(("language", "budget"), LANGUAGES, ids=NAMES)
def test_samples_are_final_paths(language: Language, budget: int, method: Any) -> None:
    """Each method reaches the likely paths and no other, and knows the model's probability of each."""
    model = Prefixed(language.stop + 1, 1)
    exact, _ = law(language, model, PROMPT, budget, 2.0)
    samples = sample(language, model, 800, method=method, max_new_tokens=budget, temperature=2.0, seed=1)
    assert len(samples) == 800
    found = {path_of(one) for one in samples}
    assert found <= set(exact)
    if method in ("exact", "asap"):
        assert found >= {path for path, share in exact.items() if share > 0.02}
    for one in samples:
        assert one.text in language.texts
        assert one.parse() == one.text
        assert math.isclose(one.log_probability, log_probability(model, PROMPT, path_of(one), 2.0))
        is_complete = not any(text.startswith(one.text) and text != one.text for text in language.texts)
        assert one.finish_reason == ("complete" if is_complete else "stop")
        assert len(one.log_masses) == len(path_of(one))
        assert max(one.log_masses) <= 0
    assert samples.forward_passes == model.calls


@pytest.mark.parametrize(("language", "budget"), LANGUAGES, ids=NAMES)
def test_legal_masses(language: Language, budget: int) -> None:
    """Against those of the listed paths; and a local weight is their product."""
    model = Prefixed(language.stop + 1, 2)
    paths = list(language.paths(budget))
    for one in sample(language, model, 50, method="local", max_new_tokens=budget, seed=1):
        path = path_of(one)
        for place, mass in enumerate(one.log_masses):
            nexts = {other[place] for other in paths if other[:place] == path[:place] and len(other) > place}
            softmax = torch.softmax(model.logits(PROMPT + path[:place]).double(), -1)
            assert math.isclose(mass, math.log(sum(float(softmax[token]) for token in nexts)), abs_tol=1e-12)
        assert math.isclose(one.log_weight, sum(one.log_masses), abs_tol=1e-12)


@pytest.mark.parametrize(
    ("language", "budget", "memory_bytes"),
    [
        *((language, budget, 1 << 28) for language, budget in LANGUAGES),
        (*LANGUAGES[1], 10_000),
        (*LANGUAGES[2], 20_000),
        (*LANGUAGES[0], 1),
        (*LANGUAGES[3], 1),
    ],
)
def test_exact_samples_have_the_target_law(language: Language, budget: int, memory_bytes: int) -> None:
    """By chi-square over many short calls, since a long one knows all prefixes soon; also without memory."""
    model = Prefixed(language.stop + 1, 4)
    exact, evidence = law(language, model, PROMPT, budget, 0.9)
    found: Counter[Path] = Counter()
    pairs: Counter[Path] = Counter()
    first: Counter[Path] = Counter()
    for seed in range(60 if memory_bytes > 1 else 30):
        samples = sample(
            language, model, 8, max_new_tokens=budget, temperature=0.9, seed=seed, memory_bytes=memory_bytes
        )
        found.update(map(path_of, samples))
        first[path_of(samples[0])] += 1
        pairs.update((*a, -1, *b) for a, b in zip(*[iter(map(path_of, samples))] * 2, strict=True))
        assert {one.log_weight for one in samples} == {0.0}
    assert p_value(exact, found) > 1e-3
    assert p_value(exact, first) > 1e-3
    # Neighbours are independent, although the second walks where the first has learned.
    both = {(*a, -1, *b): exact[a] * exact[b] for a in exact for b in exact}
    assert p_value(both, pairs) > 1e-3
    long = sample(language, model, 400, max_new_tokens=budget, temperature=0.9, seed=1)
    assert math.isclose(math.exp(long.log_evidence), evidence, rel_tol=0.1)


def tree_of(language: Language, model: Any, budget: int, **options: Any) -> tuple[PrefixTree, frozenset[int]]:
    timing = Timing()
    [task] = tasks_of(model, None, [list(PROMPT)], [language.compiled], Options(budget), timing)
    settings = {"learns": True, "rows": 1, "memory_bytes": 1 << 28, "allow": lambda _: None, **options}
    tree = PrefixTree(Law(task, 1.0), model, timing=timing, **settings)
    return tree, frozenset({language.stop})


def law_of_a_walk(tree: PrefixTree, language: Language, model: Prefixed, budget: int, rejects: bool) -> Any:
    """The probability of each path in the next walk: from what the tree knows, elsewhere from the model."""
    paths = list(language.paths(budget))

    def scores_at(node: Node | None, path: Path) -> dict[int, tuple[float, Node | None]]:
        softmax = torch.softmax(model.logits(PROMPT + path).double(), -1)
        place = len(path)
        nexts = {other[place] for other in paths if other[:place] == path and len(other) > place}
        found = {}
        for token in nexts:
            child = None if node is None else node.child(token)
            bound = 1.0 if child is None or child is COMPLETE else math.exp(child.bound)
            found[token] = float(softmax[token]) * bound, child
        return found

    result = {}
    for path in paths:
        node, share = tree.root, 1.0
        for place, token in enumerate(path):
            scores = scores_at(node, path[:place])
            total = sum(score for score, _ in scores.values())
            before = 1.0 if node is None else math.exp(node.bound)
            share *= scores[token][0] / total * (total / before if rejects else 1)
            node = scores[token][1]
        result[path] = share
    return result


@pytest.mark.parametrize("rows", [1, 4])
def test_the_theorem_after_each_walk(rows: int) -> None:
    """A walk ends in ``w`` with probability ``P(w) / B``, whatever was learned before."""
    language, budget = dyck(3), 6
    model = Prefixed(language.stop + 1, 5)
    exact, evidence = law(language, model, PROMPT, budget)
    tree, stop = tree_of(language, model, budget, rows=rows)
    random = np.random.default_rng(1)
    bounds = []
    for _ in range(50):
        bound = math.exp(tree.root.bound)
        bounds.append(bound)
        for path, share in law_of_a_walk(tree, language, model, budget, rejects=True).items():
            assert math.isclose(share, exact[path] * evidence / bound, rel_tol=1e-9)
        walk(tree, stop, random, learns=True, rejects=True)
    assert bounds == sorted(bounds, reverse=True)
    assert bounds[-1] < 1.2 * evidence < bounds[1]


def test_the_bias_of_asap_falls() -> None:
    language, budget = binary(5), 9
    model = Prefixed(language.stop + 1, 6, sharpness=1.5)
    exact, _ = law(language, model, PROMPT, budget)
    tree, stop = tree_of(language, model, budget)
    random = np.random.default_rng(2)
    biases = []
    for _ in range(60):
        biases.append(distance(exact, law_of_a_walk(tree, language, model, budget, rejects=False)))
        walk(tree, stop, random, learns=True, rejects=False)
    assert biases[0] > 0.2
    assert biases[-1] < 0.1 * biases[0]
    local = sample(language, model, 3000, method="local", max_new_tokens=budget, seed=1)
    assert abs(distance(exact, shares(local)) - biases[0]) < 0.05


@pytest.mark.parametrize("method", ["local", "asap"])
def test_weights_of_single_walks_are_unbiased(method: Any) -> None:
    """The mean of the weights of a path is its probability, also while ASAp learns."""
    language, budget, n = words(), 6, 12
    model = Prefixed(language.stop + 1, 7, sharpness=1.2)
    exact, evidence = law(language, model, PROMPT, budget)
    estimates = []
    for seed in range(150):
        samples = sample(language, model, n, method=method, max_new_tokens=budget, seed=seed)
        estimates.append(math.exp(samples.log_evidence))
        mean = log_mean([one.log_weight for one in samples])
        assert math.isclose(samples.log_evidence, mean, rel_tol=1e-9)
    assert is_unbiased(estimates, evidence)
    many = sample(language, model, 2000, method=method, max_new_tokens=budget, seed=1)
    assert distance(exact, shares(many, weighted=True)) < 0.06


def is_unbiased(estimates: list[float], truth: float) -> bool:
    """Whether the mean is within four standard errors."""
    error = float(np.std(estimates, ddof=1)) / math.sqrt(len(estimates))
    return abs(float(np.mean(estimates)) - truth) < 4 * error


# ---- sequential Monte Carlo ------------------------------------------------------------------------------


@pytest.mark.parametrize("resample_below", [0, 0.5, 1])
def test_the_evidence_of_smc_is_unbiased(resample_below: float) -> None:
    """And so is that of each path: the mean weight of the particles that are it."""
    language, budget, n = words(), 6, 6
    model = Prefixed(language.stop + 1, 8, sharpness=1.5)
    exact, evidence = law(language, model, PROMPT, budget)
    estimates = []
    paths: dict[Path, list[float]] = {path: [] for path in exact}
    for seed in range(150):
        samples = sample(
            language, model, n, method="smc", max_new_tokens=budget, seed=seed, resample_below=resample_below
        )
        assert len(samples) == n
        estimates.append(math.exp(samples.log_evidence))
        found: Counter[Path] = Counter()
        for one in samples:
            found[path_of(one)] += math.exp(one.log_weight) / n
        for path, values in paths.items():
            values.append(found[path])
    assert is_unbiased(estimates, evidence)
    likely = [path for path, share in exact.items() if share > 0.03]
    assert len(likely) > 3
    assert all(is_unbiased(paths[path], exact[path] * evidence) for path in likely)


def test_a_larger_population_is_nearer() -> None:
    language, budget = dyck(3), 8
    model = Prefixed(language.stop + 1, 9, sharpness=1.5)
    exact, evidence = law(language, model, PROMPT, budget)
    far, near = (
        sample(language, model, n, method="smc", max_new_tokens=budget, seed=1, resample_below=0.9)
        for n in (10, 3000)
    )
    assert distance(exact, shares(near, weighted=True)) < 0.1 < distance(exact, shares(far, weighted=True))
    assert math.isclose(math.exp(near.log_evidence), evidence, rel_tol=0.05)
    assert near.forward_passes <= 3 * budget  # in three parts of at most 1,024
    assert far.forward_passes <= budget


def test_a_population_that_does_not_fit_is_split() -> None:
    language, budget = words(), 6
    model = Prefixed(language.stop + 1, 8)
    _, evidence = law(language, model, PROMPT, budget)
    size = 24 * (language.stop + 1)  # of a row of logits
    estimates = []
    for seed in range(100):
        samples = sample(
            language, model, 7, method="smc", max_new_tokens=budget, seed=seed, memory_bytes=3 * size
        )
        assert len(samples) == 7
        estimates.append(math.exp(samples.log_evidence))
    assert is_unbiased(estimates, evidence)


def test_populations_that_die_count() -> None:
    """Where the model stops dead after most prefixes; three parts of two particles, of which some die."""
    language, budget = binary(3), 6

    class Never(Prefixed):
        def logits(self, prefix: Path) -> torch.Tensor:
            found = super().logits(prefix).clone()
            if prefix[-2:] == (1, 1):
                found[:2] = -math.inf
            return found

    model = Never(language.stop + 1, 1)
    _, evidence = law(language, model, PROMPT, budget)
    estimates, dead = [], 0
    for seed in range(200):
        try:
            samples = sample(
                language, model, 4, method="smc", max_new_tokens=budget, seed=seed, memory_bytes=1
            )
        except tk.GenerationError:
            estimates.append(0.0)
        else:
            assert samples.attempts == 4
            dead += len(samples) < 4
            estimates.append(math.exp(samples.log_evidence))
    assert dead > 10
    assert min(estimates) == 0
    assert is_unbiased(estimates, evidence)


# ---- real models and tokenizers --------------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
def test_a_cache_changes_nothing(method: Any) -> None:
    tokenizer = small_tokenizer()
    model = small_model(len(tokenizer))
    constraint = tk.regex("[ -~]{2}" if method == "exact" else "(one|two|the (12|34|1234))!?")
    cached, plain = Counting(model), Counting(model, cache=False)
    results = [
        tk.sample(
            one, tokenizer, "abc the one", constraint, 3, method=method, seed=4, max_forward_passes=3000,
            temperature=3.0, max_new_tokens=12,
        )
        for one in (cached, plain)
    ]  # fmt: skip
    assert [one.tokens for one in results[0]] == [one.tokens for one in results[1]]
    for first, second in zip(*results, strict=True):
        assert math.isclose(first.log_probability, second.log_probability, abs_tol=1e-3)
    assert cached.calls == plain.calls == results[0].forward_passes
    assert len(cached.read) <= len(plain.read)


@pytest.mark.parametrize("kind", ["recurrent", "sliding and full"])
def test_kinds_of_models(kind: str) -> None:
    """Probabilities from caches that are cut, reordered or cannot forget are those of a single pass."""
    import transformers

    tokenizer = small_tokenizer()
    torch.manual_seed(0)
    model = transformers.AutoModelForCausalLM.from_config(config_of(kind, len(tokenizer))).eval()
    prompt = "one, two, the one"
    ids = tokenizer(prompt)["input_ids"]
    for method in ("local", "smc"):
        samples = tk.sample(
            model, tokenizer, prompt, tk.regex("(a|b|c|1|2|3){12}"), 4, method=method, seed=1,
            temperature=8.0, max_new_tokens=16,
        )  # fmt: skip
        for one in samples:
            tokens = torch.tensor([ids + one.tokens])
            with torch.inference_mode():
                scores = torch.log_softmax(model(input_ids=tokens).logits[0].double() / 8.0, -1)
            total = sum(
                float(scores[len(ids) - 1 + place, token]) for place, token in enumerate(path_of(one))
            )
            assert math.isclose(one.log_probability, total, abs_tol=1e-3)


def test_forced_text_and_short_choices_are_read_in_one_call() -> None:
    language = Language("forced", "abab(a|b)", ("ababa", "ababb"), (b"a", b"b", b"x"))
    model = Prefixed(4, 1)
    samples = sample(language, model, 300, max_new_tokens=8, seed=1)
    assert samples.forward_passes == 1
    exact, evidence = law(language, model, PROMPT, 8)
    assert p_value(exact, Counter(map(path_of, samples))) > 1e-3
    half = Prefixed(4, 1)
    half.device, half.dtype = torch.device("cpu"), torch.bfloat16
    assert sample(language, half, 300, max_new_tokens=8, seed=1).forward_passes == 1  # a forced run
    choices = Prefixed(4, 1)
    choices.device, choices.dtype = torch.device("cpu"), torch.bfloat16
    assert sample(binary(3), choices, 300, max_new_tokens=6, seed=1).forward_passes > 1
    assert sample(binary(3), Prefixed(4, 1), 300, max_new_tokens=6, seed=1).forward_passes == 1
    assert samples.acceptance > 0.9  # the bound of the first prefix is the evidence itself
    assert math.isclose(math.exp(samples.log_evidence), evidence, rel_tol=0.1)


def test_json_values() -> None:
    tokenizer = small_tokenizer()
    model = Prefixed(len(tokenizer), 1, sharpness=0.5)
    schema = {"type": "object", "properties": {"one": {"enum": ["ab", "the"]}}, "required": ["one"]}
    constraint = tk.json_schema({**schema, "additionalProperties": False})
    for method in ("local", "asap", "smc"):
        samples = tk.sample(model, tokenizer, "x", constraint, 20, method=method, seed=1)
        assert {one.parse()["one"] for one in samples} == {"ab", "the"}
        again = pickle.loads(pickle.dumps(samples))
        assert again == samples
        assert again[0].parse() == samples[0].parse()
        assert [one.text for one in again[:2]] == [one.text for one in samples[:2]]


def test_canonical_paths() -> None:
    """Each text has one path, that of the tokenizer; its law is that of the model given this path."""
    tokenizer = small_tokenizer()
    model = Prefixed(len(tokenizer), 1, sharpness=0.5)
    texts = ("the", "thex", "two", "abc", "1234", "12")
    prompt = [2]
    settings: dict[str, Any] = {"tokenization": "canonical", "heal": False, "max_new_tokens": 8}
    samples = tk.sample(
        model, tokenizer, prompt, tk.choice(list(texts)), 3000, method="local", seed=1, **settings
    )
    paths = {}
    for text in texts:
        tokens = tuple(tokenizer(text, add_special_tokens=False)["input_ids"])
        is_complete = text != "the"  # no canonical path leads from 12 to 1234, which is one token
        paths[text] = tokens if is_complete else (*tokens, 1)
    assert {one.text: path_of(one) for one in samples} == paths
    law_of = {path: math.exp(log_probability(model, tuple(prompt), path)) for path in paths.values()}
    total = sum(law_of.values())
    exact = {path: share / total for path, share in law_of.items()}
    assert distance(exact, shares(samples, weighted=True)) < 0.05
    assert math.isclose(math.exp(samples.log_evidence), total, rel_tol=0.1)


def test_a_healed_prompt() -> None:
    """The text that was taken back is part of the path, and not of the text."""
    tokenizer = small_tokenizer()
    model = Prefixed(len(tokenizer), 1, sharpness=0.5)
    samples = tk.sample(
        model, tokenizer, "x th", tk.regex("e|ese"), 20, method="local", seed=1, heal=True, max_new_tokens=5
    )
    assert {one.text for one in samples} <= {"e", "ese"}
    prompt = tuple(tokenizer("x th")["input_ids"][:-1])
    for one in samples:
        assert tokenizer.decode(one.tokens) == "th" + one.text
        assert math.isclose(one.log_probability, log_probability(model, prompt, path_of(one)))


# ---- bounds, errors, numbers -----------------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
def test_samples_are_repeatable(method: Any) -> None:
    language = dyck(3)
    model = Prefixed(language.stop + 1, 1)
    first, again, other = (
        sample(language, model, 30, method=method, max_new_tokens=7, seed=seed) for seed in (5, 5, 6)
    )
    assert first == again
    assert [path_of(one) for one in first] != [path_of(one) for one in other]


@pytest.mark.parametrize("method", METHODS)
def test_a_bound_on_calls_keeps_the_samples(method: Any) -> None:
    language = dyck(4)
    model = Prefixed(language.stop + 1, 1)
    with pytest.raises(tk.SamplingStopped, match="called 6 times") as caught:
        sample(language, model, 500, method=method, max_new_tokens=9, seed=1, max_forward_passes=6)
    samples = caught.value.samples
    assert model.calls == 6 == samples.forward_passes
    assert 0 < len(samples) < 500
    if method != "smc":
        whole = sample(language, model, 500, method=method, max_new_tokens=9, seed=1)
        assert samples[:] == whole[: len(samples)]
    assert again_as_text(caught.value) == str(caught.value)


def again_as_text(error: Exception) -> str:
    return str(pickle.loads(pickle.dumps(error)))


@pytest.mark.parametrize("method", METHODS)
def test_work_is_cancelled(method: Any) -> None:
    language = dyck(3)
    cancel = tk.CancelToken()

    class Cancelling(Prefixed):
        def __call__(self, input_ids: torch.Tensor, **_: Any) -> Any:
            if self.calls == 2:
                cancel.cancel()
            return super().__call__(input_ids)

    with pytest.raises(tk.SamplingStopped, match="cancelled") as caught:
        sample(
            language, Cancelling(language.stop + 1, 1), 500, method=method, max_new_tokens=7, cancel=cancel
        )
    assert isinstance(caught.value.__cause__, tk.Cancelled)
    assert caught.value.samples.forward_passes == 3


@pytest.mark.parametrize("value", [math.nan, math.inf])
@pytest.mark.parametrize("method", METHODS)
def test_logits_that_are_no_distribution(method: Any, value: float) -> None:
    """At once without samples, later with those drawn so far."""
    language = dyck(3)

    class Broken(Prefixed):
        after = 0

        def __call__(self, input_ids: torch.Tensor, **_: Any) -> Any:
            output = super().__call__(input_ids)
            if self.calls > self.after:
                output.logits[..., language.stop] = value
            return output

    with pytest.raises(tk.GenerationError, match="no distribution"):
        sample(language, Broken(language.stop + 1, 1), 5, method=method, max_new_tokens=7)
    model = Broken(language.stop + 1, 1)
    model.after = 6
    if method in ("local", "asap"):
        with pytest.raises(tk.SamplingStopped, match="no distribution") as caught:
            sample(language, model, 500, method=method, max_new_tokens=7, seed=1)
        assert isinstance(caught.value.__cause__, tk.GenerationError)
        assert len(caught.value.samples) > 0


def test_tokens_without_a_probability() -> None:
    """The model never writes what must follow ``1``: exact, ASAp and SMC leave these texts out."""
    language, budget = binary(3), 6

    class Never(Prefixed):
        def logits(self, prefix: Path) -> torch.Tensor:
            found = super().logits(prefix).clone()
            if prefix[-2:] == (1, 1):
                found[:2] = -math.inf
            return found

    model = Never(language.stop + 1, 1)
    exact, evidence = law(language, model, PROMPT, budget)
    possible = {path for path, share in exact.items() if share > 0}
    assert 0 < len(possible) < len(exact)
    for method in ("exact", "asap", "smc"):
        samples = sample(language, model, 400, method=method, max_new_tokens=budget, seed=1)
        assert {path_of(one) for one in samples} == possible
        assert all(one.log_weight > -math.inf for one in samples)
        assert distance(exact, shares(samples, weighted=True)) < 0.08
        assert math.isclose(math.exp(samples.log_evidence), evidence, rel_tol=0.2)
    with pytest.raises((tk.SamplingStopped, tk.GenerationError), match=r"after the tokens \[1, 1\]"):
        sample(language, model, 400, method="local", max_new_tokens=budget, seed=1)
    for method in METHODS:
        nothing = Prefixed(language.stop + 1, 1, bias={0: -math.inf, 1: -math.inf})
        with pytest.raises(tk.GenerationError, match="above 0"):
            sample(language, nothing, 5, method=method, max_new_tokens=budget)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16, torch.float64])
def test_extreme_logits(method: Any, dtype: torch.dtype) -> None:
    """Probabilities that no float64 holds: the legal mass of each step is about 1e-434.

    Exact samples can be drawn all the same, once all prefixes of the language are known.
    """
    language, budget = words(), 7

    class Extreme(Prefixed):
        def __call__(self, input_ids: torch.Tensor, **_: Any) -> Any:
            return SimpleNamespace(logits=super().__call__(input_ids).logits.to(dtype))

    model = Extreme(language.stop + 1, 1, bias={5: 1000.0})  # a token that no text has
    settings: dict[str, Any] = {"method": method, "max_new_tokens": budget, "seed": 1}
    samples = sample(language, model, 20, **settings)
    for one in samples:
        assert -1100 * len(path_of(one)) < one.log_probability < -900 * len(path_of(one))
        assert math.isfinite(one.log_weight)
    assert math.isfinite(samples.log_evidence)
    assert samples.effective_size > 0


def test_logits_outside_of_the_vocabulary_count_as_illegal() -> None:
    """A model that pads its logits gives the padding probability too."""
    language, budget = binary(3), 6
    model = Prefixed(40, 1)
    samples = sample(language, model, 200, method="local", max_new_tokens=budget, seed=1)
    for one in samples:
        assert math.isclose(one.log_probability, log_probability(model, PROMPT, path_of(one)))
    _, evidence = law(language, model, PROMPT, budget)
    assert math.isclose(math.exp(samples.log_evidence), evidence, rel_tol=0.1)
    with pytest.raises(tk.MaskError, match="entries"):
        sample(language, lambda input_ids, **_: SimpleNamespace(logits=torch.zeros(*input_ids.shape, 2)), 1)


def test_a_budget_that_is_too_small() -> None:
    with pytest.raises(tk.BudgetError) as caught:
        sample(binary(3), Prefixed(3, 1), 1, max_new_tokens=3)
    assert (caught.value.budget, caught.value.needed) == (3, 4)  # three tokens, and room for a stop token
    assert len(sample(binary(3), Prefixed(3, 1), 1, max_new_tokens=4, method="local")) == 1


def test_memory_is_bounded() -> None:
    """Nodes and rows stay within the bound, and evicted rows are read again."""
    language = dyck(4)
    model = Prefixed(language.stop + 1, 1)
    tree, stop = tree_of(language, model, 9, memory_bytes=30_000)
    random = np.random.default_rng(1)
    for _ in range(300):
        walk(tree, stop, random, learns=True, rejects=True)
        assert tree._row_bytes + tree._node_bytes <= 30_000
        assert tree._row_bytes == sum(node.row.size_bytes for node in tree._kept if node.row)
    assert model.calls > 100


@pytest.mark.parametrize(
    "settings",
    [
        *[{"n": value} for value in ("5", None, 1.5, 0, -1, 10**9)],
        *[{"method": value} for value in ("car", 5, None)],
        *[{"temperature": value} for value in ("hot", 0, -1, math.nan, math.inf, True)],
        *[{"seed": value} for value in ("5", 1.5, -1)],
        *[{"resample_below": value} for value in ("5", None, -0.1, 1.1, math.nan)],
        *[{"max_forward_passes": value} for value in ("5", 1.5, 0)],
        *[{"memory_bytes": value} for value in ("5", None, 0)],
        *[{"cancel": value} for value in (5, "now")],
        *[{"constraint": value} for value in (None, "ab", 5)],
        *[{"prompt": value} for value in (5, None, [[1], [2]])],
        *[{"heal": value} for value in ("no", 5)],
        *[{"max_new_tokens": value} for value in ("5", None, 0)],
        *[{"tokenization": value} for value in ("all", None)],
    ],
    ids=str,
)
def test_arguments(settings: dict[str, Any]) -> None:
    model = Prefixed(3, 1)
    given = {"prompt": [0], "constraint": binary(3).compiled, "n": 1, **settings}
    with pytest.raises(
        tk.TokamataError, match=next(iter(settings)) if "max_new" not in str(settings) else ""
    ):
        tk.sample(model, None, **given)
    assert model.calls == 0


def test_logarithms() -> None:
    assert log_sum([]) == log_sum([-math.inf] * 3) == log_mean([-math.inf]) == -math.inf
    assert math.isclose(log_sum([-1000.0, -1000.0]), -1000 + math.log(2))
    assert log_sum([5.0]) == 5.0
    assert effective_size([-math.inf] * 2) == 0.0
    assert math.isclose(effective_size([-2000.0] * 7), 7)
    assert math.isclose(effective_size([0.0, -math.inf]), 1)
    sums = cumulative(np.array([-math.inf, 0.0, -math.inf, 0.0, -math.inf]))
    assert [drawn(sums, value) for value in (0.0, 0.49, 0.5, 0.99, 1.0, np.nextafter(1, 0))] == [
        1, 1, 3, 3, 3, 3,
    ]  # fmt: skip
    weights = np.log([0.55, 0.3, 0.1, 0.05])
    for uniform in np.linspace(0, 0.999, 50):
        counts = np.bincount(systematic(list(weights), uniform), minlength=4)
        assert counts.sum() == 4
        assert all(
            math.floor(4 * w) <= c <= math.ceil(4 * w) for w, c in zip(np.exp(weights), counts, strict=True)
        )
    assert systematic([-math.inf, -3000.0, -math.inf], 0.5) == [1, 1, 1]
