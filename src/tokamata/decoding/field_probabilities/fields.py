"""A value and the probabilities of its fields.

A *field* is a value in a JSON text: a member of an object, an element of an array, or the whole, named by its
JSON Pointer.  Its probability is the product of the probabilities of the tokens that spell it::

    text     {   "ok"   :   true   ,   "n"   :   12   }
    tokens   {" ok ":t  rue  ,"  n":  1  2}
    of /ok               .9   1.
    of /n                              .5  .8

A token may straddle borders.  It belongs to the first string, number, boolean or ``null`` of which it has a
byte; to none, if it has punctuation and names alone.  So a token that has bytes of two fields counts once,
and the product over all such fields is at least the probability of the text.  An object
or an array has the tokens of which it has a byte, except those that belong to a field outside of it.

What the number means: the probability with which these tokens are written after the text before them, under
the constraint and its budget, at temperature 1.  So a constraint that leaves one value makes it certain, and
a number does not include that it ends there.  Other spellings of a value do not count.  It says how sure the
model was while it wrote, not whether the value is right; whether the two agree is a question of calibration.
"""

from __future__ import annotations

import itertools
import json
import math
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from tokamata.constraints.constraint import Constraint
from tokamata.decoding.field_probabilities.alternatives import alternatives
from tokamata.decoding.field_probabilities.possible_values import PossibleValues, possible_values
from tokamata.decoding.value_probabilities.finite_texts import byte_vocabulary
from tokamata.decoding.value_probabilities.results import Probability, key_of_value
from tokamata.values.events import EventReader
from tokamata.values.forms import Reading

if TYPE_CHECKING:
    from tokamata.decoding.field_probabilities.recording import Record
    from tokamata.matching.matchers import Matcher
    from tokamata.resources.limits import Watch
    from tokamata.values.json_events import Event

__all__ = ["FieldProbabilities", "FieldProbability", "fields_of"]

_T = TypeVar("_T")


@dataclass(frozen=True)
class FieldProbability:
    """A field of a text.

    Attributes:
        pointer: its JSON Pointer; ``""`` for the whole.
        value: its value, as ``json.loads`` gives it.
        start, end: its offsets in the text, in bytes.
        log_probability: natural logarithm of its probability, as it was written; see
            :mod:`tokamata.decoding.field_probabilities.fields`.
        alternatives: the values that could have been written here after the same text, each with its
            probability, the most probable first; ``None`` for objects and arrays, and where there are more
            than 256 such values.  Unlike ``log_probability`` they include all spellings of a value, and that
            a number ends.  They are intervals, since not every token that was not written tells values apart.
    """

    pointer: str
    value: Any
    start: int
    end: int
    log_probability: float
    alternatives: list[tuple[Any, Probability]] | None

    @property
    def probability(self) -> float:
        """Its probability, as it was written."""
        return math.exp(self.log_probability)


class FieldProbabilities(Mapping[str, FieldProbability], Generic[_T]):
    """The value of a text, and its fields by their JSON Pointers, in the order in which they closed.

    Attributes:
        value: the value, as :meth:`tokamata.Generation.parse` gives it.
    """

    def __init__(self, value: _T, fields: list[FieldProbability]) -> None:
        self.value = value
        self._fields = {field.pointer: field for field in fields}

    def __getitem__(self, pointer: str) -> FieldProbability:
        """The field at a JSON Pointer."""
        return self._fields[pointer]

    def __iter__(self) -> Iterator[str]:
        """The pointers."""
        return iter(self._fields)

    def __len__(self) -> int:
        """The number of fields."""
        return len(self._fields)

    def __repr__(self) -> str:
        lines = [f"  {field.probability:.4f}  {pointer or '(the whole)'}" for pointer, field in self.items()]
        return "\n".join([f"<probabilities of {len(self)} fields", *lines]) + ">"


def fields_of(
    constraint: Constraint[Any],
    text: bytes,
    healed: int,
    record: Record,
    watch: Watch,
) -> list[FieldProbability]:
    """The fields of a text.

    Args:
        constraint: of the text.
        text: the text.
        healed: how many bytes the tokens have before it.
        record: the choices.
        watch: bounds the work.

    Raises:
        LimitExceeded, Cancelled: the work was stopped.
    """
    reader = EventReader(constraint._form, Reading(constraint.pattern, *watch.within(watch.limits)))
    events = [*reader.feed(text), *reader.end()]
    offsets = [-healed]
    for choice in record.choices:
        offsets.append(offsets[-1] + len(choice.data))
    leaves: list[Event] = []
    for event in events:  # values come before their containers
        if not leaves or leaves[-1].start < event.start:
            leaves.append(event)
    owners = _owners(leaves, offsets)
    scores = [choice.log_probability for choice in record.choices]
    walk = _Walk(constraint, text, watch)
    written = b"".join(choice.data for choice in record.choices)
    numbers = {id(leaf): number for number, leaf in enumerate(leaves)}
    found = []
    for event in events:
        watch.check()
        number = numbers.get(id(event))
        score = _log_probability(event, number, leaves, owners, offsets, scores)
        others = None
        if number is not None and event.start < event.end:
            possible = walk.values_before(event)
            if possible is not None:
                shares = alternatives(possible, record, written, offsets, event.start)
                pairs = list(zip(possible.values, shares, strict=True))
                others = sorted(pairs, key=lambda pair: -pair[1].estimate)
        found.append(FieldProbability(event.pointer, event.value, event.start, event.end, score, others))
    return found


def _owners(leaves: list[Event], offsets: list[int]) -> list[int]:
    """For each token the number of the leaf that it belongs to, or -1."""
    owners = []
    leaf = 0
    for begin, end in itertools.pairwise(offsets):
        while leaf < len(leaves) and leaves[leaf].end <= begin:
            leaf += 1
        owners.append(leaf if leaf < len(leaves) and leaves[leaf].start < end else -1)
    return owners


def _log_probability(
    event: Event,
    number: int | None,
    leaves: list[Event],
    owners: list[int],
    offsets: list[int],
    scores: list[float],
) -> float:
    """The sum of the log-probabilities of the tokens of a value."""
    total = 0.0
    for token in range(max(bisect_right(offsets, event.start) - 1, 0), len(owners)):
        owner, begin, end = owners[token], offsets[token], offsets[token + 1]
        if begin >= event.end:
            break
        if begin == end:
            continue
        if number is not None:
            is_own = owner == number
        else:
            is_own = owner < 0 or event.start <= leaves[owner].start < event.end
        if is_own:
            total += scores[token]
    return total


class _Walk:
    """A matcher over bytes that goes through a text, from the beginning of one leaf to that of the next."""

    def __init__(self, constraint: Constraint[Any], text: bytes, watch: Watch) -> None:
        self._text, self._read = text, 0
        self._matcher: Matcher | None = None
        if not constraint._needs():  # otherwise the bytes of a text do not say where it stands
            limits, cancel = watch.within(watch.limits)
            self._matcher = constraint.compile(byte_vocabulary(), limits=limits, cancel=cancel).matcher()

    def values_before(self, leaf: Event) -> PossibleValues | None:
        """The values that were possible in place of a leaf; ``None`` where they are many, or not of JSON."""
        if self._matcher is None or not self._matcher.advance_all(list(self._text[self._read : leaf.start])):
            return None
        self._read = leaf.start
        try:
            possible = possible_values(self._matcher)
        except json.JSONDecodeError:  # texts that begin like JSON, but are not JSON
            return None
        if possible is None or key_of_value(leaf.value) not in map(key_of_value, possible.values):
            return None
        return possible
