"""Texts that begin where the decoder of a tokenizer has a rule of its own: Llama 2's, and BERT's.

Judge: the tokenizers themselves.  Faults of the model are injected, so that detours begin at the start of the
text, within it, and after tokens of which the decoder leaves nothing.
"""

from __future__ import annotations

import math
import random
from functools import cache
from types import SimpleNamespace
from typing import Any

import pytest
import torch
import transformers

import tokamata as tk
from tests.support.tokenizers.real_tokenizers import REAL

CONTROL = {"llama-2": ("</s>", "<s>"), "minilm": ("[SEP]", "[CLS]")}
CONSTRAINTS = [
    tk.choice(["the other playing", "a reading of the unknown", "playing", "i was there then"]),
    tk.regex("(the|one|other)( the| one| playing)*( and unknown)"),
    tk.regex("[a-z ]{3,9}x"),
]


@cache
def tokenizer_of(name: str) -> Any:
    real = next(real for real in REAL if real.name == name)
    eos, bos = CONTROL[name]
    return transformers.PreTrainedTokenizerFast(
        tokenizer_file=str(real.path()), eos_token=eos, bos_token=bos, clean_up_tokenization_spaces=False
    )


@cache
def vocabulary_of(name: str) -> tk.Vocabulary:
    return tk.Vocabulary.load(tokenizer_of(name))


def encoded(name: str, text: str) -> list[int]:
    ids: list[int] = tokenizer_of(name)(text, add_special_tokens=False)["input_ids"]
    return ids


class Faulty:
    """A model that wants to write some tokens, then anything; at some calls its logits are broken."""

    def __init__(self, name: str, tokens: list[int] = [], broken: dict[int, str] = {}, seed: int = 0) -> None:  # noqa: B006
        self.width = vocabulary_of(name).width
        self.config = SimpleNamespace(vocab_size=self.width)
        self.tokens, self.broken, self.calls = tokens, broken, 0
        self.random = torch.Generator().manual_seed(seed)

    def __call__(self, input_ids: Any, **options: Any) -> Any:
        logits = 4 * torch.randn(self.width, generator=self.random)
        if self.calls < len(self.tokens):
            logits[self.tokens[self.calls]] = 1000.0
        how = self.broken.get(self.calls)
        self.calls += 1
        if how == "nan":
            logits[:] = math.nan
        elif how == "few":
            kept = logits.topk(40).indices
            logits = torch.full_like(logits, -math.inf).index_copy(0, kept, logits[kept])
        return SimpleNamespace(logits=logits.expand(1, input_ids.shape[1], -1))


def start_of(name: str) -> list[int]:
    return [tokenizer_of(name).bos_token_id]


@pytest.mark.parametrize("name", CONTROL)
def test_the_text_is_what_the_tokenizer_reads(name: str) -> None:
    """Canonical tokens after a control token, which are those of a text of its own."""
    tokenizer = tokenizer_of(name)
    for text in ("the other playing", "reading", "a one"):
        tokens, pieces = encoded(name, text), []
        result = tk.generate(
            Faulty(name, tokens),
            tokenizer,
            start_of(name),
            tk.literal(text),
            tokenization="canonical",
            on_text=pieces.append,
            probabilities=True,
        )
        assert result.tokens == tokens
        assert result.text == "".join(pieces) == tokenizer.decode(tokens) == text
        assert result.parse_with_probabilities()[""].probability > 0.99
        # A stop text counts with these bytes too.
        stopped = tk.generate(
            Faulty(name, encoded(name, "the other")),
            tokenizer,
            start_of(name),
            tk.regex("(the)?( other)?"),
            tokenization="canonical",
            stop=" other",
            greedy=True,
        )
        assert (stopped.text, stopped.stop_text) == ("the", " other")


def assert_own_tokens(name: str, prompt: str, result: tk.Generation[Any]) -> None:
    """After the last detour, the tokens go on after those that the tokenizer writes for the text so far."""
    end = max((switch.where + len(switch.data) for switch in result.switches), default=0)
    data, vocabulary = result.text.encode(), vocabulary_of(name)
    own, whole = encoded(name, prompt + data[:end].decode()), encoded(name, prompt + result.text)
    length, last = len(data) - end, []
    for token in reversed(result.tokens if end else []):
        if length > 0:
            length -= len(vocabulary[token] or b"")
            last.insert(0, token)
    if whole[: len(own)] == own:
        assert whole[len(own) :] == (last if end else result.tokens)


@pytest.mark.parametrize("tokenization", ["any", "canonical"])
@pytest.mark.parametrize("is_start", [True, False])
@pytest.mark.parametrize("name", CONTROL)
def test_detours(name: str, is_start: bool, tokenization: Any) -> None:
    tokenizer = tokenizer_of(name)
    before = [] if is_start else encoded(name, "say so")
    switches = 0
    for seed in range(16):
        draw = random.Random(seed)
        constraint = draw.choice(CONSTRAINTS)
        broken = {call: draw.choice(["nan", "few"]) for call in range(12) if draw.random() < 0.4}
        banned = draw.sample(encoded(name, "the other playing"), draw.choice([0, 0, 1, 2]))
        steps = tk.stream(
            Faulty(name, broken=broken, seed=seed),
            tokenizer,
            start_of(name) + before,
            constraint,
            tokenization=tokenization,
            heal=draw.choice([None, True, False]),
            banned_tokens=banned,
            policy=tk.Policy(shadow_bytes=draw.choice([1, 3, 8])),
            max_new_tokens=60,
            seed=seed,
            **draw.choice([{}, {"jump": True}, {"draft": "constraint"}, {"draft": "prompt"}]),
        )
        data = b""
        for step in steps:
            data += step.data
            matcher = steps._row.matcher
            assert matcher is not None
            assert matcher.text.endswith(data)
            assert step.token not in banned
        result = steps.generation
        assert result is not None, steps.abstention
        assert result.text.encode() == data
        assert constraint.accepts(result.text)
        kept = result.prompt_tokens[1:]
        if kept:
            assert (
                tokenizer.decode(kept + result.tokens) == tokenizer.decode(kept) + result.healed + result.text
            )
        elif tokenization == "canonical":
            assert tokenizer.decode(result.tokens) == result.healed + result.text
        for switch in result.switches:
            assert data[switch.where :].startswith(switch.data)
        switches += len(result.switches)
        detours = all(switch.state == "shadow" for switch in result.switches)
        if tokenization == "canonical" and detours and not result.healed:
            assert_own_tokens(name, tokenizer.decode(kept) if kept else "", result)
    assert switches > 10


def test_a_first_token_of_which_nothing_is_left() -> None:
    """Llama 2 writes a heart at the start of a text as a space that its decoder drops, and three bytes."""
    name = "llama-2"
    tokenizer, hearts = tokenizer_of(name), tk.regex("[❤☀]{2} (the|one)")
    silent = encoded(name, "❤")[0]
    assert vocabulary_of(name)[silent] == b" "
    compiled = hearts.compile(vocabulary_of(name), tokenization="canonical")
    assert compiled.matcher(written=encoded(name, "❤☀")).text.decode() == "❤☀"
    for call in range(7):
        for banned in ([], encoded(name, "the")):
            result = tk.generate(
                Faulty(name, broken={call: "nan"}),
                tokenizer,
                start_of(name),
                hearts,
                tokenization="canonical",
                banned_tokens=banned,
                policy=tk.Policy(),
                seed=call,
            )
            assert isinstance(result, tk.Generation)
            assert hearts.accepts(result.text)
            assert tokenizer.decode(result.tokens) == result.text
            assert (result.tokens[0] == silent) == (call > 0)


@pytest.mark.parametrize("name", CONTROL)
def test_a_text_by_itself_after_a_prompt_that_is_not_canonical(name: str) -> None:
    tokenizer = tokenizer_of(name)
    mark = "▁" if name == "llama-2" else ""
    pieces = [mark + "p", *(("l", "a", "y") if mark else ("##l", "##a", "##y"))]
    prompt = start_of(name) + tokenizer.convert_tokens_to_ids(pieces)
    settings: dict[str, Any] = {"tokenization": "canonical", "policy": tk.Policy(), "heal": False}
    with pytest.raises(tk.ContextError):
        tk.generate(Faulty(name), tokenizer, prompt, tk.literal("the one"), **settings)
    for call in (0, 1, 2):
        result = tk.generate(
            Faulty(name, broken={call: "nan"}),
            tokenizer,
            prompt,
            tk.literal("the one"),
            on_noncanonical="fresh",
            **settings,
        )
        assert isinstance(result, tk.Generation)
        assert result.text == "the one"
        if call == 2:
            assert result.tokens == encoded(name, "the one")


@pytest.mark.parametrize("name", CONTROL)
def test_a_prompt_of_one_word_is_healed(name: str) -> None:
    """The word is taken back as the decoder shows it, without a space before it."""
    tokenizer = tokenizer_of(name)
    words = tk.regex("[a-z ]*")
    result = tk.generate(
        Faulty(name, encoded(name, "playing games")),
        tokenizer,
        start_of(name) + encoded(name, "play"),
        words,
        tokenization="canonical",
        max_new_tokens=2,
        greedy=True,
    )
    assert result.healed == "play"
    assert tokenizer.decode(result.tokens) == "play" + result.text
    assert result.tokens[:1] == encoded(name, "playing games")[:1]


@pytest.mark.parametrize("name", CONTROL)
def test_other_functions_read_the_text_alike(name: str) -> None:
    tokenizer, words = tokenizer_of(name), tk.choice(["the", "one"])
    begin: tuple[Any, ...] = (tokenizer, start_of(name), words)
    samples = tk.sample(Faulty(name), *begin, 4, tokenization="canonical", max_new_tokens=3)
    assert {sample.text for sample in samples} <= {"the", "one"}
    beams = tk.beam_search(Faulty(name), *begin, beams=2, tokenization="canonical")
    assert {beam.text for beam in beams} == {"the", "one"}
    found = tk.probabilities(Faulty(name), *begin, tokenization="canonical")
    assert set(found) == {"the", "one"}
    few = dict.fromkeys(range(9), "few")
    detour = tk.beam_search(
        Faulty(name, broken=few), *begin, beams=2, tokenization="canonical", policy=tk.Policy()
    )
    assert not isinstance(detour, tk.Abstention)
    for beam in detour:
        assert beam.text in ("the", "one")
        assert tokenizer.decode(beam.tokens) == beam.text
