"""Small languages whose texts are listed, models whose logits depend on the whole prefix, the exact law.

The law is computed without the engine: a language is a list of texts, its paths are all ways to cut a text
into tokens, and each is scored by the model's own logits.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import SimpleNamespace
from typing import Any

import torch

import tokamata as tk

# On rows this short a second thread only waits, and where the processor is shared, for long.
torch.set_num_threads(1)

Path = tuple[int, ...]


class Prefixed:
    """A model whose logits are random numbers that the whole prefix decides.

    Args:
        width: the number of logits.
        seed: another one is another model.
        sharpness: the standard deviation of the logits.
        bias: added to the logits, by token.
    """

    def __init__(
        self, width: int, seed: int, sharpness: float = 1.0, bias: dict[int, float] | None = None
    ) -> None:
        self.width, self.seed, self.sharpness, self.bias = width, seed, sharpness, bias or {}
        self.config = SimpleNamespace(vocab_size=width)
        self.calls = 0
        self._known: dict[Path, torch.Tensor] = {}

    def __call__(self, input_ids: torch.Tensor, **_: Any) -> Any:
        self.calls += 1
        rows = [
            torch.stack([self.logits(tuple(text[:end])) for end in range(1, len(text) + 1)])
            for text in input_ids.tolist()
        ]
        return SimpleNamespace(logits=torch.stack(rows))

    def logits(self, prefix: Path) -> torch.Tensor:
        """Those after a prefix, the prompt included."""
        if prefix not in self._known:
            draw = random.Random(f"{self.seed} {prefix}")
            self._known[prefix] = torch.tensor(
                [self.sharpness * draw.gauss(0, 1) + self.bias.get(token, 0.0) for token in range(self.width)]
            )
        return self._known[prefix]


@dataclass(frozen=True)
class Language:
    """A finite language and a vocabulary.

    Attributes:
        name: for tables.
        pattern: a regular expression of the texts.
        texts: all of them.
        tokens: the bytes of the vocabulary's tokens; one stop token follows them.
    """

    name: str
    pattern: str
    texts: tuple[str, ...]
    tokens: tuple[bytes, ...]

    @property
    def stop(self) -> int:
        return len(self.tokens)

    @cached_property
    def compiled(self) -> tk.CompiledConstraint[Any]:
        vocabulary = tk.Vocabulary.load([*self.tokens, None], stop=[self.stop])
        return tk.regex(self.pattern).compile(vocabulary)

    def paths(self, budget: int) -> Iterator[Path]:
        """Every final path of at most so many tokens, a stop token included."""
        for text in self.texts:
            is_complete = not any(other != text and other.startswith(text) for other in self.texts)
            for cut in cuts(text.encode(), self.tokens):
                if len(cut) < budget:
                    yield cut if is_complete else (*cut, self.stop)


def cuts(text: bytes, tokens: Sequence[bytes]) -> Iterator[Path]:
    """All ways to cut a text into tokens."""
    if not text:
        yield ()
    for token, data in enumerate(tokens):
        if data and text.startswith(data):
            yield from ((token, *rest) for rest in cuts(text[len(data) :], tokens))


def law(
    language: Language, model: Prefixed, prompt: Path, budget: int, temperature: float = 1.0
) -> tuple[dict[Path, float], float]:
    """The probability of each path given that it is final, and the evidence."""
    shares = {
        path: math.exp(log_probability(model, prompt, path, temperature)) for path in language.paths(budget)
    }
    evidence = sum(shares.values())
    return {path: share / evidence for path, share in shares.items()}, evidence


def log_probability(model: Prefixed, prompt: Path, path: Path, temperature: float = 1.0) -> float:
    """The logarithm of the model's probability of a path."""
    total = 0.0
    for place, token in enumerate(path):
        logits = model.logits(prompt + path[:place]).double() / temperature
        total += float(torch.log_softmax(logits, -1)[token])
    return total


def distance(first: dict[Path, float], second: dict[Path, float]) -> float:
    """The total variation distance."""
    return sum(abs(first.get(path, 0.0) - second.get(path, 0.0)) for path in {*first, *second}) / 2


def binary(length: int) -> Language:
    """Binary strings that are all zeros, or begin with 1."""
    strings = [format(number, f"0{length}b") for number in range(1 << length)]
    texts = tuple(text for text in strings if text[0] == "1" or "1" not in text)
    return Language(f"binary {length}", f"0{{{length}}}|1[01]{{{length - 1}}}", texts, (b"0", b"1"))


def dyck(pairs: int) -> Language:
    """Balanced parentheses with at most so many pairs, at least one."""
    texts = []
    for count in range(1, pairs + 1):
        for number in range(1 << 2 * count):
            text = format(number, f"0{2 * count}b").replace("0", "(").replace("1", ")")
            depths = [text[:end].count("(") - text[:end].count(")") for end in range(1, 2 * count + 1)]
            if min(depths) >= 0 and depths[-1] == 0:
                texts.append(text)
    pattern = "|".join(text.replace("(", r"\(").replace(")", r"\)") for text in texts)
    return Language(f"Dyck {pairs}", pattern, tuple(texts), (b"(", b")", b"()", b"(("))


def words() -> Language:
    """Texts that may go on, in several tokens: some end by a stop token, others since nothing can follow."""
    texts = tuple("ab" * count + end for count in range(4) for end in ("", "c"))
    return Language("words", "(ab){0,3}c?", texts, (b"a", b"b", b"ab", b"c", b"bc", b"x"))
