"""The safe loop: each cause is injected, and the text is whole, or the call abstains and says why.

Xu, *OIP-CAD*, section 5: listings 1 and 4, theorem 6.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
import torch

import tokamata as tk
from tests.support.models.fakes import Constant, byte_level, token_id
from tokamata.decoding.shadow import detour

WORDS = byte_level(["t h", "th e", "o n", "on e", "Ġ the", "a b"])
WIDTH = len(WORDS)


class Injected:
    """A model with random logits, which a fault changes at some calls."""

    def __init__(self, seed: int, fault: Callable[[torch.Tensor, int], None]) -> None:
        self.random = torch.Generator().manual_seed(seed)
        self.config = SimpleNamespace(vocab_size=WIDTH)
        self.fault, self.calls = fault, 0

    def __call__(self, **inputs: Any) -> Any:
        logits = 3 * torch.randn(1, 1, WIDTH, generator=self.random)
        self.fault(logits[0, 0], self.calls)
        self.calls += 1
        return SimpleNamespace(logits=logits.expand(1, inputs["input_ids"].shape[1], -1))


def all_nan(logits: torch.Tensor, call: int) -> None:
    if call % 3 == 1:
        logits[:] = float("nan")


def top_k_before_the_mask(logits: torch.Tensor, call: int) -> None:
    """Only three tokens keep a logit, mostly none of the legal ones."""
    kept = logits.topk(3).indices
    values = logits[kept].clone()
    logits[:] = float("-inf")
    logits[kept] = values


def plus_infinity(logits: torch.Tensor, call: int) -> None:
    if call == 1:
        logits[:] = float("inf")


FAULTS = [all_nan, top_k_before_the_mask, plus_infinity]
CONSTRAINTS = [
    tk.regex("(the|one)( the| one){2,5}"),
    tk.json_schema({"type": "object", "properties": {"a": {"enum": ["the", "one"]}}, "required": ["a"]}),
    tk.regex("[a-z ]{4,12}!"),
]


@pytest.mark.parametrize("tokenization", ["any", "canonical"])
@pytest.mark.parametrize("constraint", CONSTRAINTS, ids=range(3))
@pytest.mark.parametrize("fault", FAULTS)
def test_an_injected_fault_does_not_cost_the_text(
    fault: Any, constraint: tk.Constraint[Any], tokenization: Any
) -> None:
    for seed in range(8):
        settings: dict[str, Any] = {"seed": seed, "tokenization": tokenization, "max_new_tokens": 60}
        result = tk.generate(Injected(seed, fault), WORDS, "a", constraint, policy=tk.Policy(), **settings)
        assert isinstance(result, tk.Generation), result
        assert constraint.accepts(result.text)
        assert b"".join(tk.Vocabulary.load(WORDS)[t] or b"" for t in result.tokens).decode() == result.text
        for switch in result.switches:
            assert switch.cause == "logits"
            assert result.text.encode()[switch.where :].startswith(switch.data)
            assert len(switch.data) <= 8 or switch.state == "closing"
        assert result.timing.backoff_seconds > 0 or not result.switches


@pytest.mark.parametrize("fault", FAULTS)
def test_without_a_policy_the_cause_is_an_error(fault: Any) -> None:
    with pytest.raises(tk.NoTokenError) as caught:
        tk.generate(Injected(0, fault), WORDS, "a", tk.regex("[ab]{30}"), seed=1)
    assert caught.value.cause == "logits"
    assert caught.value.where == len(caught.value.partial)
    assert "policy=" in str(caught.value)


def test_a_banned_canonical_token_is_written_by_bytes_and_canonical_tokens_follow() -> None:
    """`` the`` is banned, and is what the tokenizer writes; after the detour, tokens are its own again."""
    the = token_id(WORDS, "Ġthe")
    constraint = tk.regex("one the (one|the)[a-b]{2}")
    with pytest.raises(tk.NoTokenError) as caught:
        tk.generate(Constant(torch.zeros(WIDTH)), WORDS, "x", constraint, banned_tokens=[the], **CANONICAL)
    assert (caught.value.cause, caught.value.partial) == ("banned", "one")
    result = tk.generate(
        Constant(torch.zeros(WIDTH)),
        WORDS,
        "x",
        constraint,
        banned_tokens=[the],
        policy=tk.Policy(),
        **CANONICAL,
    )
    assert isinstance(result, tk.Generation)
    assert constraint.accepts(result.text)
    assert the not in result.tokens
    [first, *_] = result.switches
    assert (first.state, first.cause, first.where) == ("shadow", "banned", 3)
    # Between the detours each token is one that the tokenizer writes for the text so far.
    written = b""
    vocabulary = tk.Vocabulary.load(WORDS)
    detours = [(switch.where, switch.where + len(switch.data)) for switch in result.switches]
    for token in result.tokens:
        begin, written = len(written), written + (vocabulary[token] or b"")
        if not any(low <= begin < high for low, high in detours):
            assert token in WORDS(written.decode(), add_special_tokens=False)["input_ids"]


CANONICAL: dict[str, Any] = {"tokenization": "canonical", "greedy": True, "heal": False}


def test_theorem_6_text_and_state_agree_after_every_step() -> None:
    """Over any number of switches: the matcher stands after exactly the bytes of the tokens."""
    banned_choices = random.Random(3)
    switches = 0
    for seed in range(25):
        constraint = CONSTRAINTS[seed % 3]
        pieces = banned_choices.sample(["the", "Ġthe", "one", "th", "on"], 2)
        banned = [token_id(WORDS, piece) for piece in pieces]
        steps = tk.stream(
            Injected(seed, all_nan),
            WORDS,
            "x",
            constraint,
            seed=seed,
            tokenization="canonical" if seed % 2 else "any",
            banned_tokens=banned,
            policy=tk.Policy(),
            max_new_tokens=60,
        )
        data = b""
        for step in steps:
            data += step.data
            matcher = steps._row.matcher
            assert matcher is not None
            assert matcher.text.endswith(data)  # a healed text begins with the end of the prompt
            assert step.token not in banned
            assert matcher.shortest_completion() is not None
        result = steps.generation
        assert result is not None
        assert steps.abstention is None
        assert result.text.encode() == data
        assert constraint.accepts(result.text)
        switches += len(result.switches)
    assert switches > 30


# ---- the search -------------------------------------------------------------------------------


def test_the_detour_is_the_most_probable_one() -> None:
    """By brute force: over all strings of up to 3 bytes, with the masses of tokens that begin with them."""
    tokens = [b"a", b"b", b"c", b"ab", b"abc", b"ba", b"cab", b"bc"]
    vocabulary = tk.Vocabulary.load([*tokens, None], stop=len(tokens))
    constraint = tk.regex("[abc]{1,3}")
    random_ = random.Random(8)
    for _ in range(50):
        logits = torch.tensor([random_.gauss(0, 3) for _ in range(len(tokens))] + [9.0])
        shares = torch.softmax(logits[: len(tokens)].double(), 0).tolist()
        goals = {one for one in strings(b"abc", 3) if random_.random() < 0.3 and len(one) < 3}

        def mass(data: bytes, shares: list[float] = shares) -> float:
            return sum(share for share, token in zip(shares, tokens, strict=True) if token.startswith(data))

        matcher = constraint.compile(vocabulary).matcher()
        found = detour(
            matcher,
            vocabulary,
            logits,
            10,
            3,
            None,
            lambda here, left, goals=goals: here if here.text in goals else None,
        )
        # every text is accepted, so that one byte suffices; the goals alone decide what comes back
        assert found is not None
        assert len(found.data) == 1
        assert mass(found.data) == pytest.approx(max(mass(one) for one in strings(b"abc", 1)))
        assert sum(found.log_probabilities) == pytest.approx(
            float(torch.tensor(mass(found.data)).log()), abs=1e-6
        )
        assert (found.back is not None) == (found.data in goals)


def strings(alphabet: bytes, length: int) -> list[bytes]:
    found = [b""]
    last = [b""]
    for _ in range(length):
        last = [one + bytes([byte]) for one in last for byte in alphabet]
        found += last
    return found[1:]


def test_the_search_ends_where_nothing_comes_back() -> None:
    vocabulary = tk.Vocabulary.load([bytes([byte]) for byte in range(256)] + [None], stop=256)
    matcher = tk.regex("(?s:.{1000})").compile(vocabulary).matcher()
    calls = []

    def never(here: tk.Matcher, left: int) -> None:
        calls.append(here.text)

    assert detour(matcher, vocabulary, torch.zeros(257), 2000, 8, None, never) is None
    assert 1 < len(calls) <= 256
    assert len(set(calls)) == len(calls)
    few: list[bytes] = []
    assert detour(matcher, vocabulary, torch.zeros(257), 2000, 2, 3, lambda h, n: few.append(h.text)) is None
    # 3 bytes; no token says more, so after each the byte of the shortest completion
    assert len(few) == 6


def test_a_model_that_says_nothing_any_more_ends_in_the_shortest_completion_or_abstains() -> None:
    def dead(logits: torch.Tensor, call: int) -> None:
        if call > 2:
            logits[:] = float("nan")

    constraint = tk.regex("(the |one ){30}")
    closed = tk.generate(Injected(1, dead), WORDS, "x", constraint, seed=0, policy=tk.Policy())
    assert isinstance(closed, tk.Generation)
    assert constraint.accepts(closed.text)
    assert (closed.finish_reason, closed.switches[-1].state) == ("policy", "closing")
    policy = tk.Policy(repair=False)
    result = tk.generate(Injected(1, dead), WORDS, "x", constraint, seed=0, policy=policy)
    assert isinstance(result, tk.Abstention)
    assert result.code == "logits"
    assert result.where == len(result.partial)
    assert result.shortest_completion is not None
    assert constraint.accepts(result.partial + result.shortest_completion)
    none = tk.Policy(shadow_bytes=0, repair=False)
    at_once = tk.generate(Injected(1, dead), WORDS, "x", constraint, seed=0, policy=none)
    assert isinstance(at_once, tk.Abstention)
    assert at_once.switches == ()
    free = tk.generate(Injected(1, dead), WORDS, "x", None, seed=0, policy=tk.Policy())
    assert isinstance(free, tk.Abstention)


def test_a_limit_leads_to_abstention() -> None:
    constraint = tk.regex("(a|b)*a(a|b){12}x")
    vocabulary = tk.Vocabulary.load(WORDS, stop=[0])
    compiled = constraint.compile(vocabulary, limits=tk.Limits(states=12))
    model = Injected(0, lambda logits, call: None)
    result = tk.generate(model, WORDS, "x", compiled, seed=0, policy=tk.Policy(), max_new_tokens=200)
    assert isinstance(result, tk.Abstention)
    assert result.code == "limits"
    with pytest.raises(tk.LimitExceeded):
        tk.generate(model, WORDS, "x", compiled, seed=0, max_new_tokens=200)


# ---- validators -------------------------------------------------------------------------------


def test_a_validator_leads_to_repair_abstention_or_an_error() -> None:
    constraint = tk.regex("[0-9]{2}")
    model = Constant(torch.zeros(WIDTH))

    def even(value: str) -> bool:
        return int(value) % 2 == 0

    def never(value: str) -> None:
        raise ValueError("too\n  small")

    written = tk.generate(model, WORDS, "x", constraint, seed=1).text
    settings: dict[str, Any] = {"seed": 1, "policy": tk.Policy()}
    odd = [lambda value: int(value) % 2 != int(written) % 2]
    repaired = tk.generate(model, WORDS, "x", constraint, validators=odd, **settings)
    assert isinstance(repaired, tk.Generation)
    assert repaired.repair is not None
    assert repaired.repair.certificate.verify()
    assert repaired.repair.text == repaired.text != written
    assert int(repaired.text) % 2 != int(written) % 2
    assert repaired.finish_reason == "policy"
    kept = tk.generate(model, WORDS, "x", constraint, validators=[lambda value: value == written], **settings)
    assert isinstance(kept, tk.Generation)
    assert (kept.text, kept.repair) == (written, None)
    with pytest.raises(tk.RefusedError, match="too small") as caught:
        tk.generate(model, WORDS, "x", constraint, validators=[never], seed=1)
    assert caught.value.generation.text == written
    abstained = tk.generate(model, WORDS, "x", constraint, validators=[never, even], **settings)
    assert isinstance(abstained, tk.Abstention)
    assert (abstained.code, abstained.partial) == ("validator", written)
    assert "too small" in abstained.reason
    no_repair = tk.Policy(repair=False)
    assert isinstance(
        tk.generate(model, WORDS, "x", constraint, validators=odd, seed=1, policy=no_repair), tk.Abstention
    )


@pytest.mark.parametrize(
    "settings",
    [
        {"shadow_bytes": -1},
        {"shadow_bytes": 65},
        {"resync": 0},
        {"candidates": 0},
        {"repair": 1},
        {"repair_seconds": -1},
        {"on_deadline": "stop"},
    ],
)
def test_wrong_policies(settings: dict[str, Any]) -> None:
    with pytest.raises(tk.ArgumentError):
        tk.Policy(**settings)
