"""Compiled constraints: a pattern composed with a vocabulary."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tokamata import _core
from tokamata.limits import CancelToken, Limits
from tokamata.masks import allocate_mask
from tokamata.matcher import Matcher

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from tokamata.vocabulary import Vocabulary


class CompiledConstraint:
    """A constraint and a vocabulary, ready to make masks.

    States and masks are made lazily and shared by all matchers; safe to use from many threads.
    Made by :meth:`tokamata.Constraint.compile`.

    Attributes:
        pattern: the text that the constraint was made from.
        vocabulary: the vocabulary it was compiled for.
        limits: what its work may cost.
    """

    __slots__ = ("_core", "limits", "pattern", "vocabulary")

    def __init__(
        self,
        expression: _core.Expression,
        pattern: str,
        vocabulary: Vocabulary,
        limits: Limits,
        cancel: CancelToken | None,
        start_of_text: bool,
    ) -> None:
        self.pattern = pattern
        self.vocabulary = vocabulary
        self.limits = limits
        self._core = _core.Constraint(
            expression,
            vocabulary.core,
            vocabulary.start_core if start_of_text else None,
            {},
            _core.Limits(limits.states, limits.memory_bytes, limits.seconds, limits.depth),
            cancel,
            pattern,
        )

    def matcher(self) -> Matcher:
        """A new matcher, at the start of a text."""
        return Matcher(self)

    def allocate_mask(self, batch: int = 1) -> npt.NDArray[np.int32]:
        """Zeros for ``batch`` masks: ``int32[batch, ceil(width / 32)]``.

        Bit ``t % 32`` of word ``t // 32`` of a row is token ``t``.
        """
        return allocate_mask(batch, self.vocabulary.width)

    @property
    def states(self) -> int:
        """How many states of the byte automaton are held at the moment."""
        return self._core.states

    @property
    def memory_bytes(self) -> int:
        """How many bytes of expressions, transitions and masks are held at the moment."""
        return self._core.memory_bytes

    def __repr__(self) -> str:
        return f"<CompiledConstraint {self.pattern!r} for {self.vocabulary!r}, {self.states} states so far>"
