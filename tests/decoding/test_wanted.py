"""What a model wanted and may not write, and how much of its probability the mask leaves."""

from __future__ import annotations

import math
from collections import Counter
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

import tokamata as tk
from tests.support.masks import bits
from tests.support.models.enumerated import Prefixed
from tests.support.models.fakes import Constant, byte_level, token_id
from tests.support.models.small_models import small_model
from tokamata.decoding.hosts import vocabulary_of

TOKENIZER = byte_level(["t h", "th e", "1 2", "o n", "on e"])
WIDTH = len(TOKENIZER)
CONSTRAINT = tk.regex("(the|one)[0-9]{1,3}")


def table(**probabilities: float) -> Constant:
    """A model that always gives these probabilities, by the spelling of tokens."""
    logits = torch.full((WIDTH,), -math.inf)
    for piece, probability in probabilities.items():
        logits[token_id(TOKENIZER, piece)] = math.log(probability)
    return Constant(logits)


def steps_of(model: Any, constraint: Any = CONSTRAINT, **settings: Any) -> list[tk.Step]:
    return list(tk.stream(model, TOKENIZER, "x", constraint, probabilities=True, seed=1, **settings))


def test_a_table() -> None:
    model = table(the=0.5, one=0.25, a=0.15, t=0.1)
    [step] = steps_of(model, tk.regex("one|a"), greedy=True)
    assert step.text == "one"
    assert step.legal_mass == pytest.approx(0.4)
    assert step.log_probability == pytest.approx(math.log(0.625))
    assert step.wanted is not None
    assert (step.wanted.text, step.wanted.data) == ("the", b"the")
    assert step.wanted.token == token_id(TOKENIZER, "the")
    assert step.wanted.probability == pytest.approx(0.5)


def test_none_where_the_favourite_may_be_written() -> None:
    [step] = steps_of(table(the=0.5, one=0.3, a=0.2), tk.regex("the|a"))
    assert step.legal_mass == pytest.approx(0.7)
    assert step.wanted is None
    [free, *_] = steps_of(table(the=0.5, a=0.5), None, max_new_tokens=2)
    assert (free.legal_mass, free.wanted) == (pytest.approx(1.0), None)


def test_a_stop_token_may_be_wanted() -> None:
    model = table(**{"<eos>": 0.75, "t": 0.25})
    first, *_ = steps_of(model, tk.regex("t{2}"))
    assert first.wanted is not None
    assert (first.wanted.data, first.wanted.text) == (None, "")
    assert first.wanted.probability == pytest.approx(0.75)


def test_bias_counts_and_sampling_settings_do_not() -> None:
    model, the = table(the=0.5, one=0.25, a=0.25), token_id(TOKENIZER, "the")
    for settings in ({}, {"temperature": 0.1}, {"top_k": 1}, {"top_p": 0.1}, {"greedy": True}):
        [step] = steps_of(model, tk.regex("one|a"), **settings)
        assert step.legal_mass == pytest.approx(0.5)
        assert step.wanted is not None
        assert step.wanted.token == the
    [step] = steps_of(model, tk.regex("one|a"), logit_bias={the: math.log(3)})
    assert step.legal_mass == pytest.approx(0.5 / 2)
    [step] = steps_of(model, tk.regex("one|a"), logit_bias={the: -math.inf})
    assert step.legal_mass == pytest.approx(1.0)
    assert step.wanted is None


@pytest.mark.parametrize("seed", range(8))
def test_against_the_definition(seed: int) -> None:
    """At each step, with a model whose logits depend on the whole prefix."""
    model = Prefixed(WIDTH, seed, sharpness=3.0)
    steps = steps_of(model, max_new_tokens=6)
    vocabulary = vocabulary_of(model, TOKENIZER)
    matcher = CONSTRAINT.compile(vocabulary).matcher()
    prefix = tuple(TOKENIZER("x")["input_ids"])
    for number, step in enumerate(steps):
        mask = matcher.compiled.allocate_mask()[0]
        matcher.fill_mask(mask, 6 - number)
        shares = torch.softmax(model.logits(prefix).double(), dim=0).tolist()
        legal = bits(mask)
        assert step.legal_mass == pytest.approx(sum(shares[token] for token in legal), rel=1e-5)
        best = max(range(WIDTH), key=lambda token: shares[token])
        if best in legal:
            assert step.wanted is None
        else:
            assert step.wanted is not None
            assert step.wanted.token == best
            assert step.wanted.probability == pytest.approx(shares[best], rel=1e-5)
        assert matcher.advance(step.token)
        prefix += (step.token,)


@pytest.mark.parametrize("draft", ["constraint", "prompt"])
def test_drafts_change_nothing(draft: str) -> None:
    model = small_model(WIDTH, eos=0)
    plain, drafted = steps_of(model, max_new_tokens=8), steps_of(model, max_new_tokens=8, draft=draft)
    assert [step.token for step in drafted] == [step.token for step in plain]
    for one, other in zip(plain, drafted, strict=True):
        assert other.legal_mass == pytest.approx(one.legal_mass, rel=1e-4)
        assert (other.wanted is None) == (one.wanted is None)


def test_what_the_model_did_not_choose_has_none() -> None:
    steps = steps_of(table(**{"the": 0.5, "1": 0.25, "2": 0.25}), tk.regex("the one[12]"), jump=True)
    assert {step.legal_mass for step in steps if step.jumped} == {None}
    assert all(step.legal_mass is not None for step in steps if not step.jumped)
    assert any(step.jumped for step in steps)


def test_logits_that_are_no_distribution() -> None:
    logits = torch.zeros(WIDTH)
    logits[token_id(TOKENIZER, "the")] = math.nan
    logits[token_id(TOKENIZER, "one")] = 3.0
    [step] = steps_of(Constant(logits), tk.regex("a|b"))
    assert step.legal_mass == pytest.approx(2 / (WIDTH - 2 + math.e**3))
    assert step.wanted is not None
    assert step.wanted.text == "one"


class Passes(TorchDispatchMode):
    """Counts the operations that read a row of logits, or copy it."""

    def __init__(self) -> None:
        super().__init__()
        self.read: Counter[str] = Counter()

    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = function(*args, **(kwargs or {}))
        given = [one for one in args if isinstance(one, torch.Tensor) and one.shape[-1:] == (WIDTH,)]
        name = str(function).split(".")[1]
        if given and name not in (
            "expand",
            "unsqueeze",
            "squeeze",
            "select",
            "slice",
            "alias",
            "view",
            "detach",
        ):
            self.read[name] += 1
        return result


def passes(**settings: Any) -> Counter[str]:
    with Passes() as counted:
        list(tk.stream(table(the=0.5, one=0.5), TOKENIZER, "x", tk.regex("the"), greedy=True, **settings))
    return counted.read


def test_nothing_is_read_for_it_unless_it_is_wanted() -> None:
    plain, told = passes(), passes(probabilities=True)
    more = told - plain
    assert more["clone"] == 1  # of the row, before the mask
    assert more["max"] == 1
    assert more["logsumexp"] == 2
    assert more["nan_to_num"] == 3  # one of them for the record of the choices
    assert not plain - told


def test_several_rows_with_and_without_a_constraint() -> None:
    """A free row beside others: `generate` keeps no steps, but must not fail."""
    model = small_model(WIDTH, eos=0)
    found = tk.generate(
        model, TOKENIZER, ["x", "y"], [CONSTRAINT, None], probabilities=True, max_new_tokens=5
    )
    assert CONSTRAINT.accepts(found[0].text)
    policy = tk.Policy()
    [one, _] = tk.generate(
        model, TOKENIZER, ["x", "y"], CONSTRAINT, probabilities=True, policy=policy, max_new_tokens=5
    )
    assert isinstance(one, tk.Generation)


def test_a_padded_width() -> None:
    """Logits beyond the vocabulary may be what the model wants; they have no bytes."""
    logits = torch.zeros(WIDTH + 5)
    logits[WIDTH + 3] = 9.0
    model = Constant(logits)
    model.config = SimpleNamespace(vocab_size=WIDTH + 5)
    [step] = steps_of(model, tk.regex("a|b"))
    assert step.wanted is not None
    assert (step.wanted.token, step.wanted.data) == (WIDTH + 3, None)
