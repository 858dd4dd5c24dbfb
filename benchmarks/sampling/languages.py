"""The languages of the benchmark, each with a model whose legal mass depends on the prefix."""

from __future__ import annotations

import itertools
import json
import random
from dataclasses import dataclass

import torch

from tests.support.models.enumerated import Language, Path, Prefixed, binary, dyck

__all__ = ["Case", "cases"]


class Inclined(Prefixed):
    """A model that mostly follows the language: it prefers tokens that some path goes on with.

    Args:
        language: what it prefers.
        budget: of the paths.
        seed: another one is another model.
        sharpness: the standard deviation of the logits.
        inclination: what is added to the logits of the tokens of the language, at most: it is drawn for each
            prefix, evenly from 0.
    """

    def __init__(
        self, language: Language, budget: int, seed: int, sharpness: float, inclination: float
    ) -> None:
        super().__init__(language.stop + 1, seed, sharpness)
        self._inclination = inclination
        self._nexts: dict[Path, set[int]] = {}
        for path in language.paths(budget):
            for place, token in enumerate(path):
                self._nexts.setdefault(path[:place], set()).add(token)

    def logits(self, prefix: Path) -> torch.Tensor:
        """Those after a prefix, the prompt of one token included."""
        if prefix not in self._known:
            found = super().logits(prefix)
            more = self._inclination * random.Random(f"more {self.seed} {prefix}").random()
            for token in self._nexts.get(prefix[1:], ()):
                found[token] += more
        return self._known[prefix]


@dataclass(frozen=True)
class Case:
    """A language, the budget of its texts, and a model.

    Attributes:
        language: the language.
        budget: the most tokens, a stop token included.
        model: the model.
    """

    language: Language
    budget: int
    model: Prefixed


def cases() -> list[Case]:
    """All of them, the smallest first."""
    return [
        # As the toys of Park et al.: a first token that the model likes, and what must follow it it dislikes.
        Case(binary(3), 5, Prefixed(3, 1, 1.0, {0: 1.0, 1: -1.0})),
        Case(binary(5), 7, Prefixed(3, 2, 1.5, {0: 0.5, 1: -0.5})),
        *(
            Case(language, budget, Inclined(language, budget, seed, sharpness, inclination))
            for language, budget, seed, sharpness, inclination in (
                (_years(), 8, 3, 1.0, 6.0),
                (dyck(5), 11, 4, 1.0, 5.0),
                (_json(), 32, 5, 1.0, 9.0),
                (_words(), 9, 6, 1.0, 7.0),
            )
        ),
    ]


def _years() -> Language:
    tokens = (*(str(digit).encode() for digit in range(10)), b"19", b"20", b"x")
    texts = tuple(f"{century}{year:02}" for century in (19, 20) for year in range(100))
    return Language("years", "(19|20)[0-9]{2}", texts, tokens)


def _json() -> Language:
    """The texts of a schema with an enumeration, an integer and a boolean, in canonical order and spacing."""
    values = itertools.product(("S", "M", "L", "XL"), range(10), (False, True))
    texts = [json.dumps({"size": size, "count": count, "new": new}) for size, count, new in values]
    pieces = [
        '{"',
        "size",
        '": "',
        '", "',
        "count",
        '": ',
        ', "',
        "new",
        "true",
        "false",
        "}",
        '"',
        ": ",
        ",",
    ]
    pieces += ["S", "M", "L", "X", "XL", "t", "f", *map(str, range(10))]
    pattern = r'\{"size": "(S|M|L|XL)", "count": [0-9], "new": (true|false)\}'
    return Language("JSON", pattern, tuple(texts), tuple(piece.encode() for piece in pieces))


def _words() -> Language:
    """500 words of 3 to 7 letters."""
    draw = random.Random(1)
    words: dict[str, None] = {}
    while len(words) < 500:
        words["".join(draw.choices("etaonis", k=draw.randint(3, 7)))] = None
    letters = (*(letter.encode() for letter in "etaonisrhd"), b"th", b"on", b"es", b"at", b"in")
    return Language("500 words", "|".join(words), tuple(words), letters)
