"""Random patterns, mostly of what is hard: assertions in alternatives, in repetitions, in each other."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass
class Patterns:
    """A source of patterns over some atoms.

    ``fixed_width``: bodies of lookbehinds match texts of one length alone, as ``re`` asks for.
    """

    generator: random.Random
    atoms: Sequence[str]
    quantifiers: Sequence[str]
    groups: Sequence[str] = ("(?:", "(")
    fixed_width: bool = False
    single: Sequence[str] = field(default_factory=list)  # atoms that match texts of one length

    def draw(self, depth: int = 4, fixed: bool = False) -> str:
        chance, choice = self.generator.random(), self.generator.choice
        if depth == 0 or chance < 0.3:
            return choice(self.single if fixed else self.atoms)
        if chance < 0.5:
            return "".join(self.draw(depth - 1, fixed) for _ in range(self.generator.randint(1, 3)))
        if chance < 0.64:
            count = 1 if fixed else self.generator.randint(2, 3)
            return choice(self.groups) + "|".join(self.draw(depth - 1, fixed) for _ in range(count)) + ")"
        if chance < 0.8:
            quantifier = f"{{{self.generator.randint(0, 3)}}}" if fixed else choice(self.quantifiers)
            return f"(?:{self.draw(depth - 1, fixed)}){quantifier}"
        if chance < 0.84 and not fixed:
            return f"{self.draw(depth - 1)}|{self.draw(depth - 1)}"
        if chance < 0.92:
            return f"(?{choice('=!')}{self.draw(depth - 1)})"
        return f"(?<{choice('=!')}{self.draw(depth - 1, self.fixed_width)})"
