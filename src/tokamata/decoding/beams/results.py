"""The texts that a beam search has found, and how much it has left out."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar, overload

from tokamata.decoding.logarithms import log_add
from tokamata.decoding.results import Generation

__all__ = ["Beam", "Beams"]

_T = TypeVar("_T")


@dataclass(frozen=True)
class Beam(Generation[_T]):
    """A text that a beam search has found; its ``tokens`` are the most probable of those that spell it.

    Attributes:
        model_log_probability: natural logarithm of the probability that the model, unmasked and at
            temperature 1, writes this text: of all token sequences that were found to spell it, each with its
            stop token if it has one.  This ranks the texts.  ``log_probability`` is that of ``tokens`` under
            the masks, as in :class:`Generation`, which flatters texts in corners that the model would hardly
            enter.  With a policy, the tokens of a detour count with the probability of their bytes, and those
            of a closing as certain, in both.
        sequences: how many token sequences were found to spell it.
    """

    model_log_probability: float = 0.0
    sequences: int = 1


class Beams(Sequence[Beam[_T]], Generic[_T]):
    """The texts of a beam search, the most probable first.

    Attributes:
        unexplored_log_probability: natural logarithm of the probability of all that the search gave up: legal
            beginnings that found no place in a beam.  So the probability of a text in the list is at least
            ``exp(beam.model_log_probability)``, and larger by no more than this.  A text that is not in the
            list has at most the probability of the last one in it, and this.

            With a policy, a beginning that takes a detour, or is dropped for want of one, is given up, too:
            the model says nothing of what follows.  So all of this still holds, except that
            ``exp(beam.model_log_probability)`` may also exceed the probability of a text with a detour, by no
            more than this.
        forward_passes: how often the model was called, the prompt included.
    """

    def __init__(
        self,
        beams: list[Beam[_T]],
        unexplored_log_probability: float,
        next_best: float,
        is_first_drawn: bool,
        forward_passes: int,
    ) -> None:
        self._beams = beams
        self.unexplored_log_probability = unexplored_log_probability
        self._next_best, self._is_first_drawn = next_best, is_first_drawn
        self.forward_passes = forward_passes

    @property
    def is_best_certain(self) -> bool:
        """Whether no text of the constraint is more probable than the first, whatever was given up.

        It is false where the first text is found by a detour, too: its probability is an estimate.
        """
        if not self._is_first_drawn:
            return False
        rival = self._beams[1].model_log_probability if len(self._beams) > 1 else self._next_best
        return self._beams[0].model_log_probability >= log_add(rival, self.unexplored_log_probability)

    @overload
    def __getitem__(self, index: int) -> Beam[_T]: ...
    @overload
    def __getitem__(self, index: slice) -> list[Beam[_T]]: ...
    def __getitem__(self, index: Any) -> Any:
        """A beam, or some of them."""
        return self._beams[index]

    def __iter__(self) -> Iterator[Beam[_T]]:
        """The beams, the most probable first."""
        return iter(self._beams)

    def __len__(self) -> int:
        """How many texts were found."""
        return len(self._beams)

    def __repr__(self) -> str:
        lines = [f"  {beam.model_log_probability:10.4f}  {beam.text[:60]!r}" for beam in self._beams]
        left = f"unexplored: {math.exp(min(self.unexplored_log_probability, 0.0)):.2g}"
        return "\n".join([f"<{len(self)} texts by log-probability; {left}", *lines]) + ">"
