"""Faults of the safe loop that reviews found, each with the call that showed it."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import pytest
import torch

import tokamata as tk
from tests.support.models.fakes import Constant, byte_level, token_id
from tests.support.models.small_models import small_tokenizer
from tokamata import validators

WORDS = byte_level(["t h", "th e", "o n", "on e"])
BYTES = byte_level([])


class Wishes:
    """A model that wants to write a text, and whose logits are NaN at some calls."""

    def __init__(self, tokenizer: Any, tokens: list[int], broken: set[int] = frozenset()) -> None:  # type: ignore[assignment]
        self.config = SimpleNamespace(vocab_size=len(tokenizer))
        self.tokens, self.broken, self.calls = tokens, broken, 0
        self.begin: int | None = None

    def __call__(self, input_ids: Any, **options: Any) -> Any:
        self.begin = input_ids.shape[1] if self.begin is None else self.begin
        place = input_ids.shape[1] - self.begin
        logits = torch.zeros(1, input_ids.shape[1], self.config.vocab_size)
        if place < len(self.tokens):
            logits[..., self.tokens[place]] = 50.0
        if self.calls in self.broken:
            logits[:] = math.nan
        self.calls += 1
        return SimpleNamespace(logits=logits)


def spelled(tokenizer: Any, text: str) -> list[int]:
    return [token for one in text for token in tokenizer(one, add_special_tokens=False)["input_ids"]]


def dead(tokenizer: Any, begin: int = 0) -> Wishes:
    return Wishes(tokenizer, [], set(range(begin, 1000)))


def test_a_stop_text_does_not_end_a_text_before_its_control_token() -> None:
    tokenizer = small_tokenizer()
    end = tokenizer.convert_tokens_to_ids("<end_of_turn>")
    constraint = tk.regex("ab?") + tk.control_token("<end_of_turn>") + tk.regex("z?")
    tokens = [*spelled(tokenizer, "ab"), end]
    result = tk.generate(Wishes(tokenizer, tokens), tokenizer, "x", constraint, stop="b", greedy=True)
    assert end in result.tokens
    assert result.stop_text is None


@pytest.mark.parametrize("call", range(5))
def test_events_survive_a_detour(call: int) -> None:
    tokenizer = small_tokenizer()
    end = tokenizer.convert_tokens_to_ids("<end_of_turn>")
    mark = tk.control_token("<end_of_turn>")
    parts = [tk.regex(letter).captured(letter) for letter in "pqr"]
    constraint = parts[0] + mark + parts[1] + mark + parts[2]
    p, q, r = (spelled(tokenizer, letter)[0] for letter in "pqr")
    tokens = [p, end, q, end, r]

    def events(broken: set[int]) -> list[str]:
        model = Wishes(tokenizer, tokens, broken)
        steps = tk.stream(model, tokenizer, "x", constraint, policy=tk.Policy(), greedy=True)
        return [event.pointer for step in steps for event in step.events]

    assert events({call}) == events(set())


def test_what_a_closing_writes_before_a_stop_text_is_recorded() -> None:
    policy = tk.Policy(shadow_bytes=0)
    result = tk.generate(
        dead(WORDS),
        WORDS,
        "a",
        tk.regex("x|xyz"),
        stop="y",
        min_new_tokens=2,
        policy=policy,
        probabilities=True,
    )
    assert isinstance(result, tk.Generation)
    assert [switch.state for switch in result.switches] == ["closing"]
    with pytest.raises(tk.GenerationError, match="switches"):
        result.parse_with_probabilities()


@pytest.mark.parametrize(
    ("begin", "pattern", "banned", "stop", "shadow_bytes", "kept", "parts"),
    [
        # A token that the model does not draw goes on beyond the stop text.
        ("", "o|one", "o", "n", 0, "o", [("closing", 0, b"o")]),
        ("", "o|one", "o", "n", 8, "o", [("shadow", 0, b"o")]),
        ("", "xo|xone", "o", "n", 0, "xo", [("closing", 0, b"xo")]),
        # The model has begun the stop text, and it is completed without the model.
        ("xa", "x|xabc", "", "abc", 0, "x", [("closing", 1, b"")]),
        ("xa", "x|xabc", "", "abc", 8, "x", [("shadow", 1, b""), ("shadow", 1, b"")]),
        ("éabc", "éa|éabcde", "", "bcd", 0, "éa", [("closing", 3, b"")]),
        ("éabc", "éa|éabcde", "", "bcd", 8, "éa", [("shadow", 3, b"")]),
    ],
)
def test_switches_are_bytes_of_the_text(
    begin: str, pattern: str, banned: str, stop: str, shadow_bytes: int, kept: str, parts: Any
) -> None:
    tokens = spelled(WORDS, begin)
    result = tk.generate(
        Wishes(WORDS, tokens, set(range(len(tokens), 1000))),
        WORDS,
        "a",
        tk.regex(pattern),
        banned_tokens=spelled(WORDS, banned),
        stop=stop,
        greedy=True,
        policy=tk.Policy(shadow_bytes=shadow_bytes),
        probabilities=True,
    )
    assert isinstance(result, tk.Generation)
    assert (result.text, result.stop_text) == (kept, stop)
    assert [(switch.state, switch.where, switch.data) for switch in result.switches] == parts
    with pytest.raises(tk.GenerationError, match="switches"):  # the model has not chosen where it ends
        result.parse_with_probabilities()


def test_a_stop_text_that_begins_in_a_detour_ends_the_text() -> None:
    """The matcher begins after the detour, and cannot go back to where the text may end."""
    tokenizer = byte_level(["b z"])
    a, b, c, d = (token_id(tokenizer, letter) for letter in "abcd")

    class Filtered(Wishes):
        def __call__(self, input_ids: Any, **options: Any) -> Any:
            output = super().__call__(input_ids, **options)
            if self.calls == 2:  # nothing but a token that begins with a legal byte
                output.logits[:] = -math.inf
                output.logits[..., token_id(tokenizer, "bz")] = 0.0
            return output

    for tokenization in ("any", "canonical"):
        result = tk.generate(
            Filtered(tokenizer, [a, b, c, d]),
            tokenizer,
            "x",
            tk.regex("a(bcd)?"),
            stop="bc",
            tokenization=tokenization,  # type: ignore[arg-type]
            greedy=True,
            policy=tk.Policy(),
        )
        assert isinstance(result, tk.Generation)
        assert result.tokens == [a, b, c]
        assert (result.text, result.stop_text) == ("a", "bc")
        assert [(switch.where, switch.data) for switch in result.switches] == [(1, b"")]


def test_switches_of_an_abstention_are_of_its_text() -> None:
    """The detour has begun a code point, which the text so far does not show."""
    policy = tk.Policy(shadow_bytes=1, repair=False)
    result = tk.generate(dead(BYTES), BYTES, "x", tk.regex("xé{20}"), policy=policy)
    assert isinstance(result, tk.Abstention)
    shown = result.partial.encode()
    assert (result.where, len(shown)) == (8, 7)  # eight detours of one byte
    assert b"".join(switch.data for switch in result.switches) == shown
    for switch in result.switches:
        assert shown[switch.where :].startswith(switch.data)


def test_bans_that_play_no_part_do_not_shorten_a_text() -> None:
    constraint = tk.regex('"[a]*"')
    banned = [token_id(BYTES, "~")]
    model = Constant(torch.zeros(len(BYTES)).index_fill(0, torch.tensor([token_id(BYTES, "a")]), 9.0))
    settings: dict[str, Any] = {"tokenization": "canonical", "banned_tokens": banned, "max_new_tokens": 12}
    plain = tk.generate(model, BYTES, "x", constraint, greedy=True, **settings)
    assert (
        tk.generate(model, BYTES, "x", constraint, greedy=True, policy=tk.Policy(), **settings).tokens
        == plain.tokens
    )


def test_an_abstention_and_its_completion_make_an_accepted_text() -> None:
    policy = tk.Policy(repair=False, shadow_bytes=0)
    for constraint, prompt, heal, begin in (
        (tk.regex("[à-ÿ]{3}"), "a", False, 1),
        (tk.regex("e (one|the)"), "th", True, 0),
        (tk.regex("[ab]{3}"), "x", False, 2),
    ):
        model = dead(WORDS, begin)
        result = tk.generate(model, WORDS, prompt, constraint, heal=heal, policy=policy)
        assert isinstance(result, tk.Abstention)
        assert constraint.accepts(result.partial + (result.shortest_completion or ""))


def test_text_that_is_held_back_for_a_stop_text_is_text_of_an_abstention() -> None:
    """The first byte of the stop text ``éx`` has been written, and a code point of ``ab`` too."""
    for pattern, tokens, stop, partial in (
        ("é{2}", BYTES("é", add_special_tokens=False)["input_ids"][:1], "éx", ""),
        ("abc", spelled(BYTES, "a"), "ab", "a"),
    ):
        settings: dict[str, Any] = {"stop": stop, "greedy": True}
        policy = tk.Policy(shadow_bytes=0, repair=False)
        model = Wishes(BYTES, tokens, set(range(1, 9)))
        result = tk.generate(model, BYTES, "x", tk.regex(pattern), policy=policy, **settings)
        assert isinstance(result, tk.Abstention)
        assert (result.where, result.partial) == (1, partial)
        assert tk.regex(pattern).accepts(result.partial + (result.shortest_completion or ""))
        model = Wishes(BYTES, tokens, set(range(1, 9)))
        with pytest.raises(tk.NoTokenError) as caught:
            tk.generate(model, BYTES, "x", tk.regex(pattern), **settings)
        assert (caught.value.where, caught.value.partial) == (1, partial)


@pytest.mark.parametrize("policy", [None, tk.Policy(on_deadline="partial"), tk.Policy(on_deadline="abstain")])
@pytest.mark.parametrize("is_free", [False, True])
def test_the_pieces_of_a_stream_are_the_text(policy: Any, is_free: bool) -> None:
    constraint = None if is_free else tk.regex("x{1,300}")
    steps = tk.stream(
        Wishes(WORDS, spelled(WORDS, "x" * 300)),
        WORDS,
        "a",
        constraint,
        stop="x" * 50 + "yz",
        deadline_seconds=0.03,
        max_new_tokens=299,
        policy=policy,
    )
    text = "".join(step.text for step in steps)
    assert text == (steps.generation.text if steps.generation else steps.abstention.partial)  # type: ignore[union-attr]


def test_validators_judge_a_free_text_at_a_deadline() -> None:
    with pytest.raises(tk.RefusedError):
        tk.generate(Wishes(WORDS, []), WORDS, "a", None, validators=[lambda value: False], deadline_seconds=0)


def test_switches_of_a_healed_text_are_those_of_the_text() -> None:
    policy = tk.Policy()
    result = tk.generate(dead(WORDS), WORDS, "a th", tk.regex("abc"), heal=True, policy=policy)
    assert isinstance(result, tk.Generation)
    assert result.healed == "th"
    assert b"".join(switch.data for switch in result.switches) == b"abc"
    for switch in result.switches:
        assert result.text.encode()[switch.where :].startswith(switch.data)


def test_bans_that_leave_no_text_lead_to_abstention() -> None:
    a, b = (token_id(BYTES, letter) for letter in "ab")
    model = Wishes(BYTES, [a])
    settings: dict[str, Any] = {
        "tokenization": "canonical",
        "heal": False,
        "greedy": True,
        "banned_tokens": [b],
    }
    for policy in (tk.Policy(), tk.Policy(repair=False)):
        result = tk.generate(model, BYTES, "z", tk.regex("ab|cd"), policy=policy, **settings)
        assert isinstance(result, tk.Abstention)
        assert (result.code, result.partial, result.shortest_completion) == ("banned", "a", None)
    result = tk.generate(
        Wishes(BYTES, [a]),
        BYTES,
        "z",
        tk.regex("a|ab{7}|ac"),
        policy=tk.Policy(),
        min_new_tokens=3,
        **settings,
    )
    assert isinstance(result, tk.Abstention)


def test_an_accepted_text_whose_stop_token_is_banned_has_its_end() -> None:
    model = Wishes(WORDS, spelled(WORDS, "a"))
    result = tk.generate(
        model, WORDS, "x", tk.regex("a(bbb)?"), banned_tokens=[0], max_new_tokens=3, greedy=True
    )
    assert (result.text, result.finish_reason) == ("a", "length")


def test_a_detour_after_a_control_token_keeps_it() -> None:
    """The mask after the detour is that of the tokenizer after the control token."""
    tokenizer = small_tokenizer()
    end = tokenizer.convert_tokens_to_ids("<end_of_turn>")
    constraint = tk.regex("o") + tk.control_token("<end_of_turn>") + tk.regex("n(e|y)z")
    [o], [n], [e] = (spelled(tokenizer, letter) for letter in "one")
    tokens = [o, end, n, e]
    result = tk.generate(
        Wishes(tokenizer, tokens, {2}),
        tokenizer,
        "x",
        constraint,
        tokenization="canonical",
        heal=False,
        greedy=True,
        policy=tk.Policy(),
    )
    assert isinstance(result, tk.Generation)
    assert "y" not in result.text or not result.switches
    vocabulary = tk.Vocabulary.load(tokenizer)
    with pytest.raises(tk.ArgumentError, match="canonical"):
        constraint.compile(vocabulary, tokenization="canonical").matcher(written=[o, end], canonical=[o])


def test_plus_infinity_is_named() -> None:
    logits = torch.zeros(len(WORDS)).index_fill(0, torch.tensor([token_id(WORDS, "a")]), math.inf)
    with pytest.raises(tk.NoTokenError, match="plus infinity"):
        tk.generate(Constant(logits), WORDS, "x", tk.regex("[ab]"))


@pytest.mark.parametrize(
    "settings",
    [
        {"deadline_seconds": math.inf},
        {"deadline_seconds": 10**400},
        {"logit_bias": {5: 10**400}},
        {"logit_bias": {5: -1e39}},
        {"stop": ["x"] * 1001},
        {"stop": "x" * 1001},
    ],
)
def test_numbers_that_nothing_holds_are_refused(settings: dict[str, Any]) -> None:
    with pytest.raises(tk.ArgumentError):
        tk.generate(Wishes(WORDS, []), WORDS, "x", tk.regex("a"), **settings)


def test_a_validator_that_fails_refuses() -> None:
    def fails(value: str) -> None:
        raise KeyError("missing")

    with pytest.raises(tk.RefusedError, match="KeyError"):
        tk.generate(Wishes(WORDS, []), WORDS, "x", tk.regex("a"), validators=[fails])
    with pytest.raises(tk.RefusedError, match="False"):
        tk.generate(
            Wishes(WORDS, []), WORDS, "x", tk.regex("a"), validators=[lambda value: torch.tensor(False)]
        )
    deep = "[" * 100_000 + "]" * 100_000
    assert validators.json_schema(True).refusal(deep, None) is not None
    assert (
        validators.json_schema({"type": "array", "items": {"type": "null"}}).refusal("[1e999]", None)
        is not None
    )
    assert validators.json_schema({}).refusal("NaN", None) is not None


def test_probabilities_of_a_text_that_is_no_json() -> None:
    result = tk.generate(
        Wishes(WORDS, []), WORDS, "a", tk.regex("(the|one)( the| one){1,4}"), probabilities=True, seed=1
    )
    found = result.parse_with_probabilities()[""].probability
    assert math.exp(result.log_probability) <= found <= 1  # without the stop token


def test_room_for_a_detour_does_not_make_one_necessary() -> None:
    """Within the budget less the room, the banned token alone may follow; within all of it, others may."""
    tokenizer = byte_level(["a b"])
    banned = [token_id(tokenizer, "ab"), token_id(tokenizer, "z")]
    constraint = tk.regex("(z|q)(ab|c{8})")
    model = Wishes(tokenizer, spelled(tokenizer, "q" + "c" * 8))
    result = tk.generate(
        model,
        tokenizer,
        "x",
        constraint,
        max_new_tokens=10,
        banned_tokens=banned,
        tokenization="canonical",
        policy=tk.Policy(),
        greedy=True,
    )
    assert (result.text, result.switches) == ("q" + "c" * 8, ())
