"""The probabilities of the values of a finite constraint."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from enum import Enum
from typing import Any, Generic, TypeVar

__all__ = ["Probability", "ValueProbabilities", "key_of_value"]

_T = TypeVar("_T")
_SHOWN = 10  # values in a repr


@dataclass(frozen=True)
class Probability:
    """A probability that is known to lie in an interval.

    Attributes:
        lower, upper: the bounds; equal, except for rounding, where everything was read.
        estimate: a number between them.  Those of all values of a result add up to 1.
        log_estimate: its natural logarithm, which is exact also where the probability itself rounds to 0.
    """

    lower: float
    upper: float
    estimate: float
    log_estimate: float

    @property
    def width(self) -> float:
        """The length of the interval."""
        return self.upper - self.lower


class ValueProbabilities(Mapping[_T, Probability], Generic[_T]):
    """How a model distributes its probability over the values of a constraint, the most probable first.

    A mapping: ``result[value]`` is the :class:`Probability` of a value, normalized over all values.  Values
    of equal probability are in the order of their texts, shorter ones first.  Values need not be hashable.

    Attributes:
        legal_mass: the probability that the model, unmasked, writes any text of the constraint: how far the
            normalized numbers can be trusted.  If it is small, the model wanted to write something else.
        texts: the texts of each value, in the order of the values, shorter texts first.
        forward_passes: how often the model was called, the prompt included.
        prefixes: how many token sequences after the prompt it has read.
        is_complete: whether nothing was left unread, so that the intervals are points.
        bound: the requested largest width of an interval.
    """

    def __init__(
        self,
        values: list[_T],
        probabilities: list[Probability],
        texts: list[tuple[str, ...]],
        legal_mass: Probability,
        forward_passes: int,
        prefixes: int,
        is_complete: bool,
        bound: float,
    ) -> None:
        self._values, self._probabilities = values, probabilities
        self.texts, self.legal_mass = texts, legal_mass
        self.forward_passes, self.prefixes = forward_passes, prefixes
        self.is_complete, self.bound = is_complete, bound
        self._places: dict[Hashable, int] = {}
        for place, value in enumerate(values):
            self._places.setdefault(key_of_value(value), place)

    @property
    def best(self) -> _T:
        """The most probable value."""
        return self._values[0]

    @property
    def is_best_certain(self) -> bool:
        """Whether no other value can be more probable, whatever was left unread."""
        return all(
            self._probabilities[0].lower >= probability.upper for probability in self._probabilities[1:]
        )

    @property
    def width(self) -> float:
        """The largest width of an interval."""
        return max(probability.width for probability in self._probabilities)

    @property
    def is_within_bound(self) -> bool:
        """Whether no interval is wider than ``bound``; not where the number of forward passes ended it."""
        return self.width <= self.bound or self.is_complete

    def __getitem__(self, value: Any) -> Probability:
        """The probability of a value.

        Raises:
            KeyError: the constraint does not have this value.
        """
        place = self._places.get(key_of_value(value))
        if place is None:
            raise KeyError(value)
        return self._probabilities[place]

    def __iter__(self) -> Iterator[_T]:
        """The values, the most probable first."""
        return iter(self._values)

    def __len__(self) -> int:
        """The number of values."""
        return len(self._values)

    def __repr__(self) -> str:
        known = "" if self.is_complete else f", intervals of up to {self.width:.2g}"
        lines = [
            f"<probabilities of {len(self):,} values{known}; legal mass {self.legal_mass.estimate:.4g}; "
            f"forward passes: {self.forward_passes:,}"
        ]
        for value, probability in list(zip(self._values, self._probabilities, strict=True))[:_SHOWN]:
            shown = repr(value)
            lines.append(f"  {probability.estimate:.4f}  {shown if len(shown) <= 60 else shown[:59] + '…'}")
        if len(self) > _SHOWN:
            rest = math.fsum(probability.estimate for probability in self._probabilities[_SHOWN:])
            lines.append(f"  {rest:.4f}  {len(self) - _SHOWN:,} more")
        return "\n".join(lines) + ">"


def key_of_value(value: Any) -> Hashable:
    """A key that tells values apart as JSON does: ``True`` and ``1`` differ, ``1`` and ``1.0`` do not."""
    if isinstance(value, bool):
        return "flag", value
    if isinstance(value, (int, float, Decimal, str)) and not isinstance(value, Enum):
        return "str" if isinstance(value, str) else "number", value
    if isinstance(value, list):
        return "list", tuple(map(key_of_value, value))
    if isinstance(value, dict):
        return "dict", frozenset((name, key_of_value(each)) for name, each in value.items())
    try:
        hash(value)
    except TypeError:
        return "unhashable", type(value), repr(value)
    return type(value), value
