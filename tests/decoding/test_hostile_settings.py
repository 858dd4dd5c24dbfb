"""Settings of a call in hostile pairs, drawn at random: stop texts that overlap, bans of their tokens,
deadlines shorter than a call, detours within any of it.

Whatever is drawn, the call raises typed errors alone, and a text is accepted, or the call abstains.
"""

from __future__ import annotations

import math
import random
from collections import Counter
from types import SimpleNamespace
from typing import Any

import pytest
import torch

import tokamata as tk
from tests.support.models.fakes import byte_level
from tokamata.decoding import deadlines
from tokamata.values.events import EventReader
from tokamata.values.forms import Reading

TOKENIZERS = [
    byte_level([]),
    byte_level(["a b", "ab a", "b b", "Ã ©", "Ã© a", "Ġ a"]),
    byte_level(["a a", "aa aa", "b a", "ba b"]),
]
CONSTRAINTS = [
    tk.regex("[ab]{0,9}"),
    tk.regex("(ab|ba|aab)*b?"),
    tk.regex("a{3,5}(b|é){2}a*"),
    tk.regex("[abé ]*"),
    tk.regex("(a b|é)+(ab)?"),
    tk.json_schema({"type": "array", "items": {"enum": ["ab", "a"]}, "maxItems": 3}),
    tk.regex("[ab]{2}").captured("x") + tk.regex("b*a").captured("y"),
    tk.think_first(tk.regex("[ab]{2}"), end="é", most_tokens=3),
]
STOPS = ["a", "b", "ab", "ba", "aba", "abab", "bb", "é", "aé", "éa", " a", '"', '"]', "b\x00", "aaaa", "aaab"]
# Before the model is called, and, without a policy, afterwards.
AT_ONCE = (tk.BudgetError, tk.LengthError, tk.UnspellableError, tk.NoncanonicalError, tk.ContextError)
LATER = (tk.NoTokenError, tk.RefusedError)


class Model:
    """Random logits, broken at some calls; each call moves the clock."""

    def __init__(self, width: int, draw: random.Random, clock: list[float]) -> None:
        self.config = SimpleNamespace(vocab_size=width)
        self.random = torch.Generator().manual_seed(draw.randrange(1 << 30))
        self.broken = {call: draw.choice(["nan", "few"]) for call in range(30) if draw.random() < 0.25}
        self.seconds, self.clock, self.calls = draw.choice([0.0, 0.0, 0.1, 1.0]), clock, 0

    def __call__(self, input_ids: Any, attention_mask: Any = None, **options: Any) -> Any:
        shape = input_ids.shape
        logits = 3 * torch.randn(*shape, self.config.vocab_size, generator=self.random)
        row = logits[self.calls % len(logits)]  # of one text
        how = self.broken.get(self.calls)
        if how == "nan":
            row[:] = math.nan
        elif how == "few":
            row[row < row.topk(4, dim=-1).values[..., -1:]] = -math.inf
        self.calls += 1
        self.clock[0] += self.seconds
        return SimpleNamespace(logits=logits)


def drawn(draw: random.Random, tokenizer: Any) -> dict[str, Any]:
    """Settings with values that are close to each other."""
    stops = draw.sample(STOPS, draw.choice([0, 1, 2, 3]))
    of_stops = [token for stop in stops for token in tokenizer(stop, add_special_tokens=False)["input_ids"]]
    most = draw.choice([1, 2, 3, 5, 8, 20])
    seconds = draw.choice([None, None, 0.0, 0.05, 0.25, 1.0])
    settings: dict[str, Any] = {
        "stop": stops,
        "max_new_tokens": most,
        "min_new_tokens": draw.choice([0, 0, 1, most - 1, most]),
        "tokenization": draw.choice(["any", "any", "canonical"]),
        "heal": draw.choice([None, True, False]),
        "greedy": draw.random() < 0.3,
        "seed": draw.randrange(100),
        "deadline_seconds": seconds,
        "step_seconds": draw.choice([None, None, seconds, None if seconds is None else seconds + 0.01, 0.05]),
        "banned_tokens": draw.choice([[], [], of_stops, [0], draw.sample(range(1, len(tokenizer)), 40)]),
        "logit_bias": draw.choice([None, {0: -math.inf}, dict.fromkeys(of_stops[:1], -math.inf), {5: 3.0}]),
        "policy": draw.choice(
            [
                None,
                tk.Policy(),
                tk.Policy(shadow_bytes=draw.choice([0, 1, 2]), repair=draw.random() < 0.5),
                tk.Policy(resync=2, candidates=1),
                tk.Policy(on_deadline=draw.choice(["abstain", "partial"])),
            ]
        ),
        "validators": draw.choice([[], [], [lambda value: len(str(value)) % 2 == 0]]),
        "probabilities": draw.random() < 0.2,
    }
    settings |= draw.choice(
        [{}, {}, {"jump": True}, {"draft": "constraint"}, {"draft": "prompt", "draft_tokens": 2}]
    )
    return settings


class Writing:
    """A call, token by token, and what holds of it."""

    def __init__(self, draw: random.Random, clock: list[float]) -> None:
        self.tokenizer, self.constraint = draw.choice(TOKENIZERS), draw.choice(CONSTRAINTS)
        self.settings = drawn(draw, self.tokenizer)
        self.model = Model(len(self.tokenizer), draw, clock)
        self.prompt = draw.choice(["a", "xab", "b ", "é", "ba"])
        self.clock = clock
        self.banned = {*self.settings["banned_tokens"]} | {
            token for token, bias in (self.settings["logit_bias"] or {}).items() if bias == -math.inf
        }

    def run(self) -> str:
        """What became of it."""
        policy, begin, shown, data = self.settings["policy"], self.clock[0], "", b""
        events: list[Any] = []
        try:
            steps = tk.stream(self.model, self.tokenizer, self.prompt, self.constraint, **self.settings)
            for step in steps:
                assert step.token not in self.banned or not step.data
                assert steps.tokens_left >= 0
                matcher = steps._row.matcher
                shown, data = shown + step.text, data + step.data
                events += [event for event in step.events if not event.is_delta]
                assert matcher is not None
                assert matcher.text.endswith(data)
        except AT_ONCE:
            assert self.model.calls == 0
            return "error"
        except LATER:
            assert policy is None
            return "error"
        if self.settings["deadline_seconds"] is not None:
            assert self.clock[0] <= begin + self.settings["deadline_seconds"] + self.model.seconds + 1e-9
        if steps.abstention is not None:
            assert shown == steps.abstention.partial
            self.check_abstention(steps.abstention)
            return "abstention"
        assert steps.generation is not None
        assert steps.generation.repair is not None or shown == steps.generation.text
        assert data.startswith(shown.encode())
        self.check_events(events, steps.generation)
        self.check_text(steps.generation)
        return "text"

    def check_abstention(self, result: tk.Abstention) -> None:
        assert self.settings["policy"] is not None
        assert not self.banned & set(result.tokens)
        self.check_switches(result.partial, result.switches)
        if result.code != "validator" and result.shortest_completion is not None:
            assert self.constraint.accepts(result.partial + result.shortest_completion)

    def check_text(self, result: tk.Generation[Any]) -> None:
        policy, text = self.settings["policy"], result.text
        assert not self.banned & {*result.tokens, result.stop_token}
        count = len(result.tokens) + (result.stop_token is not None)
        assert count <= self.settings["max_new_tokens"] + bool(result.healed)
        ends_early = (
            result.finish_reason == "deadline" and policy is not None and policy.on_deadline == "partial"
        )
        if not ends_early:
            assert self.constraint.accepts(text)
            assert len(result.tokens) >= self.settings["min_new_tokens"] or result.repair is not None
            assert all(judge(result.parse()) for judge in self.settings["validators"])
            if self.settings["probabilities"] and not result.switches:
                assert result.parse_with_probabilities().value == result.parse()
        if result.repair is not None:
            return
        self.check_switches(text, result.switches)
        vocabulary = tk.Vocabulary.load(self.tokenizer)
        data = b"".join(vocabulary[token] or b"" for token in result.tokens)
        whole = (result.healed + text + (result.stop_text or "")).encode()
        assert data.startswith(whole) or (ends_early and result.healed.encode().startswith(data))
        # The text ends before the first stop text that ends it.
        if self.settings["tokenization"] == "any" and self.settings["min_new_tokens"] == 0:
            at = next((k for k in range(len(text)) if self.stops(text, k)), None)
            assert at is None, (text, at)
        if result.stop_text is not None:
            assert self.stops(text + result.stop_text, len(text))

    def stops(self, text: str, at: int) -> bool:
        """Whether a text ends before a stop text at a position."""
        return text.startswith(tuple(self.settings["stop"]), at) and self.constraint.accepts(text[:at])

    def check_switches(self, text: str, switches: Any) -> None:
        end = 0
        for switch in switches:
            if switch.state != "repair":
                assert switch.where >= end
                assert text.encode()[switch.where :].startswith(switch.data)
                end = switch.where + len(switch.data)

    def check_events(self, events: list[Any], result: tk.Generation[Any]) -> None:
        """Those of a text that is read at once, in this order."""
        if result.healed or result.repair is not None or result.stop_text is not None:
            return
        reader = EventReader(self.constraint._form, Reading(self.constraint.pattern, tk.Limits(), None))
        read = [*reader.feed(result.text.encode())]
        read += reader.end() if self.constraint.accepts(result.text) else []
        assert [(one.pointer, one.value) for one in events] == [
            (one.pointer, one.value) for one in read[: len(events)]
        ]


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [1000.0]
    monkeypatch.setattr(deadlines, "time", SimpleNamespace(perf_counter=lambda: now[0]))
    return now


@pytest.mark.parametrize("seed", range(6))
def test_any_settings(seed: int, clock: list[float]) -> None:
    draw = random.Random(seed)
    outcomes = Counter(Writing(draw, clock).run() for _ in range(40))
    assert min(outcomes[one] for one in ("text", "abstention", "error")) > 0


@pytest.mark.parametrize("seed", range(6))
def test_any_settings_for_several_prompts(seed: int, clock: list[float]) -> None:
    """A text that abstains leaves the others as they are."""
    draw = random.Random(seed)
    outcomes: Counter[str] = Counter()
    for _ in range(15):
        writings = [Writing(draw, clock) for _ in range(draw.choice([2, 3]))]
        first = writings[0]
        for other in writings:
            other.tokenizer, other.settings, other.banned = first.tokenizer, first.settings, first.banned
        try:
            results = tk.generate(
                first.model,
                first.tokenizer,
                [one.prompt for one in writings],
                [one.constraint for one in writings],
                **first.settings,
            )
        except AT_ONCE:
            assert first.model.calls == 0
            continue
        except LATER:
            assert first.settings["policy"] is None
            continue
        for writing, result in zip(writings, results, strict=True):
            if isinstance(result, tk.Abstention):
                writing.check_abstention(result)
            else:
                writing.check_text(result)
        outcomes.update(type(result).__name__ for result in results)
    assert outcomes["Generation"] > 0
