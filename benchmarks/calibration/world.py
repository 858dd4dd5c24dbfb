"""Texts whose labels have known probabilities, and a small language model that learns to write them.

A text is five words, each of which speaks for or against three labels; its label is drawn from the softmax of
their sums.  The labels are ``happy``, ``unhappy`` and ``unsure``.  So what a perfect model would say is known
for each text, and of two labels with the same beginning one will not be admitted.

The model is a Llama of two layers that is trained on the spot, from a seed, in some twenty seconds of a core.
"""

from __future__ import annotations

import math
import random
from dataclasses import dataclass
from typing import Any

LABELS = ("happy", "unhappy", "unsure")
_WORDS = [
    "sunny",
    "warm",
    "bright",
    "kind",
    "gentle",
    "quick",
    "slow",
    "grey",
    "cold",
    "bitter",
    "broken",
    "lost",
    "late",
    "early",
    "odd",
    "plain",
    "mixed",
    "maybe",
    "perhaps",
    "either",
    "foggy",
    "calm",
    "loud",
    "sharp",
]
_LENGTH = 5
_STEPS, _BATCH = 1500, 128


@dataclass(frozen=True)
class Text:
    """A text.

    Attributes:
        words: the words, as they are written.
        probabilities: of each label.
        label: the one that was drawn.
    """

    words: str
    probabilities: tuple[float, ...]
    label: str

    @property
    def prompt(self) -> str:
        """What the model is given."""
        return f"{self.words}:"


class World:
    """The words, what they speak for, and texts of them.

    Args:
        seed: of everything.
    """

    def __init__(self, seed: int) -> None:
        draw = random.Random(f"{seed} words")
        self._weights = {word: [draw.gauss(0, 0.8) for _ in LABELS] for word in _WORDS}
        self._draw = random.Random(f"{seed} texts")

    def text(self) -> Text:
        """Another text."""
        words = self._draw.choices(_WORDS, k=_LENGTH)
        sums = [sum(self._weights[word][label] for word in words) for label in range(len(LABELS))]
        peak = max(sums)
        masses = [math.exp(each - peak) for each in sums]
        shares = tuple(mass / sum(masses) for mass in masses)
        return Text(" ".join(words), shares, self._draw.choices(LABELS, shares)[0])


def tokenizer() -> Any:
    """A byte-level BPE of transformers, in which each word of a text is a token, and labels are several."""
    import transformers
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

    made = Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    trainer = trainers.BpeTrainer(special_tokens=["<eos>"], initial_alphabet=alphabet, show_progress=False)
    made.train_from_iterator([f"{word} {word}:" for word in _WORDS], trainer)
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=made, eos_token="<eos>", clean_up_tokenization_spaces=False
    )


def trained(world: World, tokenizer: Any, seed: int, steps: int = _STEPS) -> Any:
    """A model that has read ``128 * steps`` texts."""
    import torch
    import transformers

    torch.manual_seed(seed)
    config = transformers.LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=64,
        intermediate_size=128,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=4,
        max_position_embeddings=64,
        bos_token_id=0,
        eos_token_id=0,
        pad_token_id=0,
    )
    model = transformers.LlamaForCausalLM(config)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 3e-3, total_steps=steps)
    for _ in range(steps):
        texts = [world.text() for _ in range(_BATCH)]
        rows = [tokenizer(f"{text.prompt} {text.label}")["input_ids"] + [0] for text in texts]
        longest = max(map(len, rows))
        ids = torch.tensor([row + [0] * (longest - len(row)) for row in rows])
        labels = torch.tensor([row + [-100] * (longest - len(row)) for row in rows])
        model(input_ids=ids, labels=labels).loss.backward()
        optimizer.step()
        schedule.step()
        optimizer.zero_grad()
    return model.eval()
