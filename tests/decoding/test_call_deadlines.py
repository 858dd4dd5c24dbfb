"""Deadlines of a call, by a clock that the model moves: what is written, and how late it is."""

from __future__ import annotations

import math
import random
from contextlib import suppress
from types import SimpleNamespace
from typing import Any

import pytest
import torch

import tokamata as tk
from tests.support.models.fakes import byte_level
from tokamata.decoding import deadlines
from tokamata.decoding.recovery import Recovery
from tokamata.decoding.shadow import detour

WORDS = byte_level(["t h", "th e", "o n", "on e"])
WIDTH = len(WORDS)
SENTENCE = tk.regex(r"((the|one) ){0,400}(the|one)\.")


class Clock:
    """A clock that stands still but for the calls of a model."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 1000.0
        monkeypatch.setattr(deadlines, "time", SimpleNamespace(perf_counter=lambda: self.now))

    def model(self, seconds: Any, end: str = ".", broken_from: int | None = None) -> Any:
        """A model whose call ``i`` takes ``seconds(i)``, and which ends a text only where it has to.

        From the call ``broken_from`` on, its logits are NaN.
        """
        clock, stop = self, WORDS.convert_tokens_to_ids(end)
        drawn = torch.Generator().manual_seed(1)

        class Model:
            config = SimpleNamespace(vocab_size=WIDTH)
            calls = 0

            def __call__(self, input_ids: Any, attention_mask: Any = None, **options: Any) -> Any:
                clock.now += seconds(self.calls)
                self.calls += 1
                logits = torch.randn(*input_ids.shape, WIDTH, generator=drawn)
                logits[..., stop] -= 1000
                if broken_from is not None and self.calls > broken_from:
                    logits[:] = math.nan
                return SimpleNamespace(logits=logits)

        return Model()


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    return Clock(monkeypatch)


def generate(model: Any, constraint: Any = SENTENCE, **settings: Any) -> Any:
    return tk.generate(model, WORDS, "x", constraint, max_new_tokens=1000, **{"seed": 1, **settings})


def test_the_speed_becomes_a_budget_and_the_model_ends_the_text_itself(clock: Clock) -> None:
    model = clock.model(lambda call: 0.1)
    result = generate(model, deadline_seconds=2.0)
    assert SENTENCE.accepts(result.text)
    assert clock.now <= 1002.0
    assert 10 < model.calls <= 20
    assert result.switches == ()  # nothing was written without the model
    assert result.finish_reason == "complete"


def test_a_text_is_whole_at_any_deadline_and_speed(clock: Clock) -> None:
    """Late by one call of the model at most, however the speed changes."""
    random_ = random.Random(4)
    for _ in range(25):
        base = random_.choice([0.001, 0.01, 0.1])
        times = [base * random_.choice([1, 1, 1, 2, 10]) for _ in range(2000)]
        model, seconds = (
            clock.model(lambda call, times=times: times[call]),
            random_.choice([0.0, 0.05, 0.3, 1.0]),
        )
        begin = clock.now
        result = generate(model, deadline_seconds=seconds, greedy=True)
        assert SENTENCE.accepts(result.text)
        assert clock.now - begin <= seconds + max(times[: model.calls], default=0.0) + 1e-9
        if result.switches:
            [switch] = result.switches
            assert (switch.state, switch.cause) == ("closing", "deadline")
            assert result.text.encode().endswith(switch.data)
            assert result.finish_reason == "deadline"


def test_no_time_at_all(clock: Clock) -> None:
    model = clock.model(lambda call: 1.0)
    result = generate(model, deadline_seconds=0)
    assert (result.text, model.calls) == ("the.", 0) or (result.text, model.calls) == ("one.", 0)
    schema = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}
    empty = generate(model, tk.json_schema(schema), deadline_seconds=0)
    assert list(empty.parse()) == ["a"]
    assert generate(model, None, deadline_seconds=0).finish_reason == "deadline"
    free = generate(model, None, deadline_seconds=2.5)
    assert (free.finish_reason, len(free.tokens)) == ("deadline", 2)


def test_what_to_do_at_the_deadline_is_the_policys(clock: Clock) -> None:
    abstain, partial = tk.Policy(on_deadline="abstain"), tk.Policy(on_deadline="partial")
    abstained = generate(clock.model(lambda call: 0.1), deadline_seconds=1.0, policy=abstain)
    assert isinstance(abstained, tk.Abstention)
    assert abstained.code == "deadline"
    assert len(abstained.tokens) in (9, 10)  # rounding
    assert SENTENCE.accepts(abstained.partial + (abstained.shortest_completion or ""))
    cut = generate(clock.model(lambda call: 0.1), deadline_seconds=1.0, policy=partial)
    assert isinstance(cut, tk.Generation)
    assert cut.finish_reason == "deadline"
    assert not SENTENCE.accepts(cut.text)
    closed = generate(clock.model(lambda call: 0.1), deadline_seconds=1.0, policy=tk.Policy())
    assert SENTENCE.accepts(closed.text)
    # Validators judge whole texts alone.
    settings: dict[str, Any] = {"deadline_seconds": 1.0, "validators": [lambda value: False]}
    assert generate(clock.model(lambda call: 0.1), policy=partial, **settings).finish_reason == "deadline"
    refused = generate(clock.model(lambda call: 0.1), policy=tk.Policy(repair=False), **settings)
    assert refused.code == "validator"


def test_a_slow_step_ends_the_text(clock: Clock) -> None:
    model = clock.model(lambda call: 5.0 if call == 7 else 0.1)
    sentence = tk.regex(
        r"((the|one) ){0,400}(the|one)\.\."
    )  # a mask that is made in no time ends it by one token
    result = generate(model, sentence, step_seconds=1.0)
    assert model.calls == 8
    assert sentence.accepts(result.text)
    assert [switch.cause for switch in result.switches] == ["deadline"]
    assert generate(clock.model(lambda call: 0.1), step_seconds=1.0).finish_reason == "complete"


def test_several_texts_share_the_time(clock: Clock) -> None:
    results = tk.generate(
        clock.model(lambda call: 0.1),
        WORDS,
        ["x", "yy", "z"],
        [SENTENCE, tk.regex("one{1,900}"), None],
        max_new_tokens=1000,
        deadline_seconds=1.5,
    )
    assert clock.now <= 1001.6
    assert all(len(result.tokens) <= 16 for result in results)
    assert SENTENCE.accepts(results[0].text)
    assert set(results[1].text[3:]) <= {"e"}


@pytest.mark.parametrize("settings", [{"draft": "constraint"}, {"jump": True}, {"tokenization": "canonical"}])
def test_deadlines_with_other_settings(clock: Clock, settings: dict[str, Any]) -> None:
    for seconds in (0.0, 0.35, 1.0):
        model = clock.model(lambda call: 0.1)
        result = generate(model, deadline_seconds=seconds, **settings)
        assert SENTENCE.accepts(result.text)
        assert model.calls <= 11


# ---- detours ----------------------------------------------------------------------------------


@pytest.fixture
def judged(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """The texts whose masks detours ask for; each takes 0.1 s and is no way back."""
    found: list[bytes] = []

    def resumed(
        recovery: Recovery[Any], compiled: Any, here: tk.Matcher, tokens: Any, budget: int, seconds: Any
    ) -> None:
        assert seconds is None or seconds > 0
        clock.now += 0.1
        found.append(here.text)

    monkeypatch.setattr(Recovery, "_resumed", resumed)
    return found


def test_a_detour_ends_with_the_time(clock: Clock, judged: list[bytes]) -> None:
    """Without a deadline it has all of its 8 bytes; the fourth mask passes this one."""
    letters = tk.regex("[A-Z]{40}")
    for settings in ({"deadline_seconds": 0.35}, {"step_seconds": 0.35}):
        for how in ("finish", "abstain", "partial"):
            del judged[:]
            model, begin = clock.model(lambda call: 0.0, broken_from=3), clock.now
            result = generate(model, letters, policy=tk.Policy(on_deadline=how), **settings)  # type: ignore[arg-type]
            assert len(judged) == 4
            assert clock.now - begin == pytest.approx(0.4)
            if how == "abstain":
                assert isinstance(result, tk.Abstention)
                assert (result.code, len(result.tokens)) == ("deadline", 3)
                assert letters.accepts(result.partial + (result.shortest_completion or ""))
                continue
            assert result.finish_reason == "deadline"
            assert letters.accepts(result.text) == (how == "finish")
            switches = [(switch.state, switch.cause) for switch in result.switches]
            assert switches == [("closing", "deadline")] * (how == "finish")
    del judged[:]
    closed = generate(clock.model(lambda call: 0.0, broken_from=3), letters, policy=tk.Policy())
    assert len(judged) == 8
    assert [(switch.state, switch.cause) for switch in closed.switches] == [("closing", "logits")]


def test_a_detour_that_is_found_in_time_is_taken(clock: Clock) -> None:
    vocabulary = tk.Vocabulary.load([bytes([byte]) for byte in range(256)] + [None], stop=256)
    matcher = tk.regex("(?s:.{1000})").compile(vocabulary).matcher()
    for nodes in (1, 5, 40):
        judged: list[bytes] = []

        def resumed(here: tk.Matcher, left: int, judged: list[bytes] = judged) -> tk.Matcher | None:
            clock.now += 0.1
            judged.append(here.text)
            return here if len(judged) == 5 else None

        end = clock.now + 0.1 * nodes - 0.05
        seconds_left = lambda end=end: max(0.0, end - clock.now)  # noqa: E731
        found = None
        with suppress(tk.LimitExceeded):
            found = detour(matcher, vocabulary, torch.zeros(257), 2000, 8, None, resumed, seconds_left)
        assert len(judged) == min(nodes, 5)
        assert (found is not None) == (nodes >= 5)
        assert found is None or found.data == judged[-1]


def test_time_that_is_over_before_a_detour_leaves_no_mask_of_it(clock: Clock, judged: list[bytes]) -> None:
    """The call whose logits are broken has taken all of the time."""
    model = clock.model(lambda call: 5.0 * (call == 2), broken_from=2)
    result = generate(model, policy=tk.Policy(), deadline_seconds=1.0)
    assert judged == []
    assert SENTENCE.accepts(result.text)
    assert [(switch.state, switch.cause) for switch in result.switches] == [("closing", "deadline")]


def test_a_closing_that_is_not_found_in_time_is_late(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    """A text that is late is better than none, unless the policy abstains."""
    found = tk.Matcher.shortest_completion
    asked: list[float | None] = []

    def slow(matcher: tk.Matcher, *, deadline_seconds: float | None = None) -> list[int]:
        asked.append(deadline_seconds)
        if deadline_seconds is not None and deadline_seconds < 0.01:
            raise tk.LimitExceeded("deadline_seconds", deadline_seconds)
        return found(matcher, deadline_seconds=deadline_seconds)

    monkeypatch.setattr(tk.Matcher, "shortest_completion", slow)
    result = generate(clock.model(lambda call: 0.1), deadline_seconds=0.0, policy=tk.Policy())
    assert SENTENCE.accepts(result.text)
    assert asked == [0.001, 0.1]
    abstained = generate(
        clock.model(lambda call: 0.1), deadline_seconds=0.0, policy=tk.Policy(on_deadline="abstain")
    )
    assert isinstance(abstained, tk.Abstention)
    assert asked[2:] == [0.001]
