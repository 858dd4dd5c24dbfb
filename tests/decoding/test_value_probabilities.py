"""Probabilities of values, against the enumeration of all token sequences."""

from __future__ import annotations

import enum
import itertools
import math
import pickle
import random
from types import SimpleNamespace
from typing import Annotated, Any, Literal

import annotated_types
import numpy as np
import pytest
import torch
import transformers

import tokamata as tk
from tests.support.models.fakes import Constant, Counting, byte_level
from tests.support.models.path_judge import PathJudge
from tests.support.models.small_models import KINDS, config_of, small_model, small_tokenizer
from tokamata.decoding.hosts import vocabulary_of
from tokamata.decoding.value_probabilities.intervals import intervals

LETTERS = "abc"
TOKENIZER = byte_level(["a b", "b c", "ab c", "c c", "a a", "aa a"])
PROMPT = "x: "
MODEL = small_model(len(TOKENIZER), seed=3, eos=0)


def judge_of(model: Any, prompt: str = PROMPT) -> PathJudge:
    vocabulary = vocabulary_of(model, TOKENIZER)
    tokens = [vocabulary[token] for token in range(vocabulary.width)]
    return PathJudge(model, TOKENIZER(prompt)["input_ids"], tokens, vocabulary.stop)


JUDGE = judge_of(MODEL)


def truth(judge: PathJudge, texts: list[str], needs_stop: bool, canonical: bool) -> dict[str, float]:
    if canonical:
        spelled = {text: [tuple(TOKENIZER(text)["input_ids"])] for text in texts}
    else:
        spelled = {text: judge.spellings(text.encode()) for text in texts}
    return judge.masses(spelled, needs_stop)


def random_texts(draw: random.Random) -> list[str]:
    count = draw.randint(1, 6)
    return sorted({"".join(draw.choices(LETTERS, k=draw.randint(1, 5))) for _ in range(count)})


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("tokenization", ["any", "canonical"])
def test_everything_read_is_the_enumeration(seed: int, tokenization: Literal["any", "canonical"]) -> None:
    draw = random.Random(seed)
    texts, end = random_texts(draw), draw.choice(["complete", "stop"])
    expected = truth(JUDGE, texts, end == "stop", tokenization == "canonical")
    total = math.fsum(expected.values())
    found = tk.probabilities(
        MODEL,
        TOKENIZER,
        PROMPT,
        tk.choice(texts),
        bound=0,
        tokenization=tokenization,
        end=end,
        batch_size=draw.choice([1, 2, 16]),
    )
    assert set(found) == set(texts)
    assert found.is_complete
    assert found.legal_mass.lower == pytest.approx(total, rel=1e-4)
    assert found.legal_mass.upper == pytest.approx(total, rel=1e-4)
    for text, mass in expected.items():
        assert found[text].lower == pytest.approx(mass / total, rel=1e-4)
        assert found[text].upper == pytest.approx(found[text].lower, rel=1e-9)
        assert found[text].log_estimate == pytest.approx(math.log(mass / total), abs=1e-4)
    ordered = [found[text].estimate for text in found]
    assert ordered == sorted(ordered, reverse=True)
    assert math.fsum(ordered) == pytest.approx(1)


@pytest.mark.parametrize("seed", range(8))
def test_intervals_contain_the_enumeration_wherever_the_search_ends(seed: int) -> None:
    draw = random.Random(100 + seed)
    texts = sorted({*random_texts(draw), "abcab", "aaab"})
    expected = truth(JUDGE, texts, False, False)
    total = math.fsum(expected.values())
    settings = [{"bound": bound} for bound in (0.5, 0.1, 0.01)]
    settings += [{"bound": 0, "max_forward_passes": passes} for passes in (1, 2, 3, 5, 8)]
    for setting in settings:
        found = tk.probabilities(MODEL, TOKENIZER, PROMPT, tk.choice(texts), batch_size=2, **setting)
        for text, mass in expected.items():
            assert found[text].lower - 1e-6 <= mass / total <= found[text].upper + 1e-6
            assert 0 <= found[text].lower <= found[text].estimate <= found[text].upper <= 1
        assert found.legal_mass.lower - 1e-9 <= total <= found.legal_mass.upper + 1e-9
        if "max_forward_passes" in setting:
            assert found.forward_passes <= setting["max_forward_passes"]
        else:
            assert found.is_within_bound
            assert found.width <= setting["bound"]
        if found.is_best_certain:
            assert expected[found.best] >= max(expected.values()) * (1 - 1e-6)


def test_all_languages_of_up_to_two_letters() -> None:
    """Exhaustively: every set of texts of one and two letters of two, one a prefix of another or not."""
    texts = ["a", "b", "aa", "ab", "ba", "bb"]
    masses = {text: JUDGE.spellings(text.encode()) for text in texts}
    for size in range(1, len(texts) + 1):
        for chosen in itertools.combinations(texts, size):
            expected = JUDGE.masses({text: masses[text] for text in chosen}, False)
            total = math.fsum(expected.values())
            found = tk.probabilities(MODEL, TOKENIZER, PROMPT, tk.choice(list(chosen)), bound=0)
            for text in chosen:
                assert found[text].estimate == pytest.approx(expected[text] / total, rel=1e-4)


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
    texts = ["abcab", "abcb", "aaa", "cc", "ccab", "b"]
    expected = truth(judge_of(plain, prompt), texts, False, False)
    total = math.fsum(expected.values())
    found = tk.probabilities(model, TOKENIZER, prompt, tk.choice(texts), bound=0, batch_size=3)
    for text in texts:
        assert found[text].estimate == pytest.approx(expected[text] / total, rel=1e-3)


class Color(enum.Enum):
    RED = "a"
    GREEN = 1


@pytest.mark.parametrize(
    ("constraint", "values"),
    [
        (tk.type(bool), {True: ["true"], False: ["false"]}),
        (tk.type(Color, spelling="plain"), {Color.RED: ['"a"'], Color.GREEN: ["1", "1.0"]}),
        (
            tk.type(Annotated[int, annotated_types.Ge(9), annotated_types.Le(11)]),
            {9: ["9"], 10: ["10"], 11: ["11"]},
        ),
        (tk.regex("a|b") | tk.regex("c"), {"a": ["a"], "b": ["b"], "c": ["c"]}),
    ],
)
def test_values_are_the_sums_of_their_texts(
    constraint: tk.Constraint[Any], values: dict[Any, list[str]]
) -> None:
    masses = truth(JUDGE, [text for texts in values.values() for text in texts], False, False)
    total = math.fsum(masses.values())
    found = tk.probabilities(MODEL, TOKENIZER, PROMPT, constraint, bound=0)
    assert len(found) == len(values)
    for value, texts in values.items():
        expected = math.fsum(masses[text] for text in texts) / total
        assert found[value].estimate == pytest.approx(expected, rel=1e-4)
    of_value = dict(zip(found, found.texts, strict=True))
    assert {value: list(texts) for value, texts in of_value.items()} == values


def test_intervals_of_values_with_several_texts() -> None:
    """An open beginning that leads to several texts of one value counts once, and for no other value."""
    values = {"v": ["aab", "aac", "aaa"], "w": ["b"]}
    one = tk.choice(values["v"])
    merged = tk.json_schema({"enum": [10, 2]}, spelling="plain")  # 10, 10.0 and 2, 2.0
    masses = truth(JUDGE, ["10", "10.0", "2", "2.0"], False, False)
    total = math.fsum(masses.values())
    for passes in range(1, 7):
        found = tk.probabilities(
            MODEL, TOKENIZER, PROMPT, merged, bound=0, max_forward_passes=passes, batch_size=1
        )
        expected = (masses["10"] + masses["10.0"]) / total
        assert found[10].lower - 1e-5 <= expected <= found[10].upper + 1e-5
    assert tk.probabilities(MODEL, TOKENIZER, PROMPT, one, bound=0.01).width <= 0.01


def test_a_single_value_is_certain_before_everything_is_read() -> None:
    """What is open can only become this value, by any of its texts."""
    one = tk.json_schema({"enum": [[1, 1]]}, spelling="plain", whitespace="compact")  # [1,1] or [1.0,1], …
    found = tk.probabilities(MODEL, TOKENIZER, PROMPT, one, bound=1e-12, batch_size=1)
    assert found[[1, 1]].lower == found[[1, 1]].upper == 1
    assert not found.is_complete


@pytest.mark.parametrize("seed", range(5))
def test_intervals_are_the_extremes_of_all_ways_to_close_them(seed: int) -> None:
    """Each open mass goes to one of its values or is lost: the extremes are among these."""
    draw = random.Random(seed)
    closed = np.array([draw.choice([0.0, draw.random()]) for _ in range(3)])
    masses = [(draw.sample(range(3), draw.randint(1, 3)), draw.random()) for _ in range(4)]
    lower, upper = intervals(closed, [(np.array(values), mass) for values, mass in masses])
    seen = []
    for goes in itertools.product(*[[*values, None] for values, _ in masses]):
        ends = closed.copy()
        for value, (_, mass) in zip(goes, masses, strict=True):
            if value is not None:
                ends[value] += mass
        if ends.sum() > 0:
            seen.append(ends / ends.sum())
    assert lower.tolist() == pytest.approx(np.min(seen, axis=0).tolist())
    assert upper.tolist() == pytest.approx(np.max(seen, axis=0).tolist())


def test_all_stop_tokens_count() -> None:
    model = small_model(len(TOKENIZER), seed=3, eos=[0, 70])
    vocabulary = vocabulary_of(model, TOKENIZER)
    assert set(vocabulary.stop) == {0, 70}
    texts = ["a", "ab"]
    judge = judge_of(model)
    expected = judge.masses({text: judge.spellings(text.encode()) for text in texts}, True)
    found = tk.probabilities(model, TOKENIZER, PROMPT, tk.choice(texts), bound=0, end="stop")
    assert found.legal_mass.lower == pytest.approx(math.fsum(expected.values()), rel=1e-4)
    assert found["a"].estimate == pytest.approx(expected["a"] / math.fsum(expected.values()), rel=1e-4)


def test_true_and_one_are_two_values_and_lists_are_values() -> None:
    constraint = tk.json_schema({"enum": [True, 1, [1], {"k": 1}]}, spelling="plain", whitespace="compact")
    found = tk.probabilities(MODEL, TOKENIZER, PROMPT, constraint)
    assert len(found) == 4
    assert found[True] is not found[1]
    assert found[[1]].estimate > 0
    assert found[{"k": 1}].upper <= 1
    with pytest.raises(KeyError):
        found[2]
    assert pickle.loads(pickle.dumps(found))[[1]] == found[[1]]


def test_a_prefix_is_read_once() -> None:
    counting = Counting(MODEL)
    texts = ["abca", "abcb", "abcc", "aaab", "b"]
    found = tk.probabilities(counting, TOKENIZER, PROMPT, tk.choice(texts), tokenization="canonical")
    paths = [tuple(TOKENIZER(text)["input_ids"]) for text in texts]
    inner = {path[:end] for path in paths for end in range(len(path))}
    assert found.prefixes == len(inner)
    assert found.forward_passes == counting.calls == max(map(len, paths))


def test_a_healed_prompt() -> None:
    """The last token is written again, as the beginning of each value."""
    prompt = "x: b"
    found = tk.probabilities(MODEL, TOKENIZER, prompt, tk.choice(["c", "a"]), bound=0, heal=True)
    judge = judge_of(MODEL, "x: ")
    expected = truth(judge, ["bc", "ba"], False, False)
    total = math.fsum(expected.values())
    assert found["c"].estimate == pytest.approx(expected["bc"] / total, rel=1e-4)
    assert found.legal_mass.lower == pytest.approx(total, rel=1e-4)


def test_values_that_the_vocabulary_cannot_spell_have_none() -> None:
    tokens: list[bytes | None] = [b"a", b"b", None]
    vocabulary = tk.Vocabulary.load(tokens, stop=2)
    compiled = tk.choice(["a", "b", "z"]).compile(vocabulary)
    model = Constant(torch.tensor([2.0, 1.0, 0.0]))
    found = tk.probabilities(model, TOKENIZER, [0], compiled)
    assert found["z"].upper == 0
    assert found["a"].estimate == pytest.approx(math.e / (1 + math.e))


def test_long_texts_do_not_round_to_nothing() -> None:
    """Masses of exp(-2000), whose ratios are ordinary numbers."""
    model = small_model(len(TOKENIZER), seed=3, eos=0)
    first, second = "xyz" * 200, "zyx" * 200
    found = tk.probabilities(model, TOKENIZER, [5], tk.choice([first, second]), tokenization="canonical")
    ids = {text: tuple(TOKENIZER(text)["input_ids"]) for text in (first, second)}
    scores = {}
    for text, sequence in ids.items():
        with torch.inference_mode():
            logits = model(input_ids=torch.tensor([[5, *sequence]])).logits[0].double()
        steps = torch.log_softmax(logits, -1)
        scores[text] = sum(float(steps[place, token]) for place, token in enumerate(sequence))
    assert max(scores.values()) < -800
    assert found.legal_mass.lower == 0.0
    difference = found[first].log_estimate - found[second].log_estimate
    assert difference == pytest.approx(scores[first] - scores[second], abs=0.05)
    assert found.legal_mass.log_estimate == pytest.approx(max(scores.values()), abs=1)


def test_the_empty_text_and_a_single_text() -> None:
    assert tk.probabilities(MODEL, TOKENIZER, PROMPT, tk.literal("")).best == ""
    found = tk.probabilities(MODEL, TOKENIZER, PROMPT, tk.literal("ab"))
    assert found["ab"].lower == found["ab"].upper == 1
    found = tk.probabilities(MODEL, TOKENIZER, PROMPT, tk.choice(["", "a"]), bound=0)
    expected = truth(JUDGE, ["", "a"], False, False)
    assert found[""].estimate == pytest.approx(expected[""] / math.fsum(expected.values()), rel=1e-4)


def test_too_many_texts_are_refused_by_number() -> None:
    for constraint, count in (
        (tk.regex("a*"), -1),
        (tk.regex("a*b"), -1),
        (tk.regex("[ab]{20}"), 2**20),
        (tk.regex("[a-z]{1,40}"), sum(26**size for size in range(1, 41))),
        (tk.type(str), -1),
    ):
        counting = Counting(MODEL)
        with pytest.raises(tk.TooManyTextsError) as caught:
            tk.probabilities(counting, TOKENIZER, PROMPT, constraint, max_texts=100)
        assert (caught.value.texts, caught.value.most) == (count, 100)
        assert counting.calls == 0
    with pytest.raises(tk.TooManyTextsError, match="spelling="):
        tk.probabilities(MODEL, TOKENIZER, PROMPT, tk.type(Color), max_texts=100)
    assert len(tk.probabilities(MODEL, TOKENIZER, PROMPT, tk.regex("[ab]{3}"), max_texts=8)) == 8


def test_what_has_no_probabilities_is_refused() -> None:
    width = len(TOKENIZER)
    choice = tk.choice(["a", "b"])
    for bad, words in ((math.nan, "NaN"), (math.inf, "plus infinity"), (-math.inf, "minus infinity")):
        with pytest.raises(tk.GenerationError, match=words):
            tk.probabilities(Constant(torch.full((width,), bad)), TOKENIZER, PROMPT, choice)
    logits = torch.zeros(width)
    logits[TOKENIZER.convert_tokens_to_ids(["a", "b"])] = -math.inf
    with pytest.raises(tk.GenerationError, match="probability 0"):
        tk.probabilities(Constant(logits), TOKENIZER, PROMPT, choice, tokenization="canonical")
    with pytest.raises(tk.AlgebraError):
        tk.probabilities(MODEL, TOKENIZER, PROMPT, tk.control_token("<eos>"))
    tokenizer = small_tokenizer()
    tagged = tk.tag("<pad>", tk.choice(["a", "b"]), "<bos>")  # spelled, or by its control tokens
    with pytest.raises(tk.AlgebraError, match="control tokens may stand"):
        tk.probabilities(small_model(len(tokenizer)), tokenizer, PROMPT, tagged)
    with pytest.raises(tk.ArgumentError, match="single prompt"):
        tk.probabilities(MODEL, TOKENIZER, ["a", "b"], choice)
    narrow = SimpleNamespace(vocab_size=width)
    model = Constant(torch.zeros(width - 200))
    model.config = narrow
    with pytest.raises(tk.MaskError):
        tk.probabilities(model, TOKENIZER, PROMPT, choice)


def test_it_can_be_cancelled() -> None:
    token = tk.CancelToken()

    class Cancelling(Counting):
        def __call__(self, **inputs: Any) -> Any:
            token.cancel()
            return super().__call__(**inputs)

    model = Cancelling(MODEL)
    with pytest.raises(tk.Cancelled):
        tk.probabilities(model, TOKENIZER, PROMPT, tk.choice(["abc", "bca"]), cancel=token, bound=0)
    assert model.calls == 1


def test_a_thousand_values() -> None:
    words = ["".join(letters) for letters in itertools.product("abcdefghij", repeat=3)]
    found = tk.probabilities(MODEL, TOKENIZER, PROMPT, tk.choice(words), bound=0.05, batch_size=64)
    assert len(found) == 1000
    assert found.width <= 0.05
    assert repr(found).count("\n") == 11
