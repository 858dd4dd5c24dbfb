"""CARS and plain rejection, written from their papers, for comparison.

CARS (Parys et al., 2510.01902) draws a text from the model.  At a prefix that it sees for the first time it
draws from all tokens, and the text is rejected where the token is not legal; the masses of all tokens that
are not legal are then removed from this prefix for good, and from all before it.  Its program keeps no
probabilities between texts in the model's place: the model is called for each token of each attempt.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tests.support.models.enumerated import Language, Path, Prefixed, log_probability

__all__ = ["Cars", "passes_of_rejection"]


@dataclass
class _Node:
    """A prefix that was seen.

    Attributes:
        raw: the logarithms of the model's probabilities of all tokens.
        left: the logarithms of what is left of each.
    """

    raw: np.ndarray[Any, Any]
    left: np.ndarray[Any, Any]
    children: dict[int, _Node] = field(default_factory=dict)


class Cars:
    """Exact samples of one language and model.

    Attributes:
        passes: how often its program calls the model: once for each token of each attempt.
        new_passes: the same, if what the model said after each prefix were kept.
        attempts: how many texts were begun.
    """

    def __init__(self, language: Language, model: Prefixed, prompt: Path, budget: int, seed: int) -> None:
        self._model, self._prompt, self._random = model, prompt, np.random.default_rng(seed)
        self._nexts: dict[Path, set[int]] = {}
        self._paths = set(language.paths(budget))
        for path in self._paths:
            for place, token in enumerate(path):
                self._nexts.setdefault(path[:place], set()).add(token)
        self.passes = self.new_passes = self.attempts = 0
        self._root = self._read(())

    def sample(self) -> Path:
        """One text, after as many attempts as it takes."""
        while True:
            self.attempts += 1
            found = self._attempt()
            if found is not None:
                return found

    def _attempt(self) -> Path | None:
        node, path, visited = self._root, (), []
        is_new = False
        self.passes += 1
        while True:
            token = self._draw(node.raw if is_new else node.left)
            visited.append((node, token))
            if token not in self._nexts[path]:
                self._learn(visited[:-1])
                return None
            path = (*path, token)
            if path in self._paths:
                self._learn(visited[:-1])
                return path
            self.passes += 1
            is_new = token not in node.children
            if is_new:
                node.children[token] = self._read(path)
            node = node.children[token]

    def _learn(self, visited: list[tuple[_Node, int]]) -> None:
        for node, token in reversed(visited):
            below = node.children[token].left
            peak = below.max()
            rest = peak + math.log(np.exp(below - peak).sum()) if peak > -np.inf else -np.inf
            node.left[token] = node.raw[token] + rest

    def _read(self, path: Path) -> _Node:
        self.new_passes += 1
        raw = self._model.logits(self._prompt + path).double().log_softmax(-1).numpy()
        left = np.full_like(raw, -np.inf)
        legal = list(self._nexts[path])
        left[legal] = raw[legal]
        return _Node(raw, left)

    def _draw(self, logs: np.ndarray[Any, Any]) -> int:
        sums = np.exp(logs - logs.max()).cumsum()
        return int(sums.searchsorted(self._random.random() * sums[-1], side="right"))


def passes_of_rejection(language: Language, model: Prefixed, prompt: Path, budget: int) -> float:
    """The expected number of calls of the model for each sample of plain rejection.

    It stops at the first token that is not legal: the expected length of an attempt, divided by the evidence.
    """
    paths = list(language.paths(budget))
    prefixes = {path[:place] for path in paths for place in range(len(path))}
    evidence = sum(math.exp(log_probability(model, prompt, path)) for path in paths)
    return sum(math.exp(log_probability(model, prompt, prefix)) for prefix in prefixes) / evidence
