"""Verdicts: what is known of a claim about a tokenizer, with the proof's kind or a counterexample.

A claim is safe to rely on only if it is *proved*.  A *witness* is a shortest text that refutes it.  *Not
settled* means that a limit was met, or that a part of the input cannot be analysed; it never counts as safe.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

__all__ = ["Outcome", "Verdict", "Witness", "worst"]

Outcome = Literal["proved", "witness", "not settled"]
_ORDER: dict[Outcome, int] = {"proved": 0, "not settled": 1, "witness": 2}


@dataclass(frozen=True)
class Witness:
    """A text that refutes a claim, as the tokenizer writes it.

    Attributes:
        text: the text, in UTF-8.
        tokens: its ids, by our tables.
        pieces: the bytes of each token; a control token has those of its name.
        position: the byte of ``text`` where the claim fails, such as a border that a token crosses.
        says: one sentence that states what happens there.
        replayed: whether the tokenizer's own program writes these tokens; ``None`` if it is not installed.
    """

    text: bytes
    tokens: tuple[int, ...]
    pieces: tuple[bytes, ...]
    position: int
    says: str
    replayed: bool | None = None


@dataclass(frozen=True)
class Verdict:
    """What is known of one claim.

    Attributes:
        claim: the claim, as a sentence that is true where the outcome is ``"proved"``.
        outcome: ``"proved"``, ``"witness"`` or ``"not settled"``.
        witness: the counterexample, if there is one.
        reason: how it was proved, or what kept it from being settled: the limit that was met, or the part
            that cannot be analysed.
    """

    claim: str
    outcome: Outcome
    witness: Witness | None = None
    reason: str = ""

    def __bool__(self) -> bool:
        """Whether the claim is proved."""
        return self.outcome == "proved"


def worst(verdicts: Iterable[Verdict]) -> Outcome:
    """The outcome of several claims together: proved only if each is, a witness if one has a witness."""
    return max((verdict.outcome for verdict in verdicts), key=_ORDER.__getitem__, default="proved")
