"""The probabilities of the values that could stand in place of a field, from the choices that were recorded.

Problem.  A model has written ``{"color": "red"}``.  How probable was each color, given the text before it?
To read every color after that text takes calls of the model, and the text is finished.

How.  Under masks, a token that leads to one value alone decides for it: whatever follows, the text will have
this value.  So the probabilities of the tokens at the steps where the value was written say how the values
share them, as far as each token tells them apart::

    {"color": "red"}            written     legal tokens there                 decides for
    values red, reed, blue      "           " .9   "b .1                       ("b) blue: .1
                                re          re .7   b .3                       (b) blue: .27
                                d           d .8   ed .2                       red: .504, reed: .126

A token that was not written may lead to several values: its mass is open, and so is that of the legal tokens
beyond those that were recorded, which may also lead elsewhere.  :mod:`.intervals` turns closed and open
masses into bounds.  They are conditional on the tokens before the value, on the text up to its first byte,
and on a value that begins there: tokens that write something else there, such as another blank, are left out.

The probabilities are those with which ``tk.generate`` would write the values, at temperature 1: by the masks,
with the budget, renormalized at each token.

Cost: each recorded token is classified once for a field: 64 tokens for each of the value.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from typing import TYPE_CHECKING

from tokamata.decoding.field_probabilities.possible_values import PossibleValues
from tokamata.decoding.value_probabilities.intervals import intervals
from tokamata.decoding.value_probabilities.results import Probability

if TYPE_CHECKING:
    from tokamata.decoding.field_probabilities.recording import Record

__all__ = ["alternatives"]


def alternatives(
    possible: PossibleValues, record: Record, written: bytes, offsets: list[int], start: int
) -> list[Probability]:
    """The probability of each possible value of a field.

    Args:
        possible: the values.
        record: the choices.
        written: the bytes of all tokens.
        offsets: where each token begins in the text, and where the last one ends.
        start: where the value begins.
    """
    import numpy as np

    base = offsets[0]
    first = bisect_right(offsets, start) - 1
    masses: list[tuple[list[int], float]] = []
    reach = 1.0  # the probability of the tokens of the value so far, given the text before the first of them
    values = list(range(len(possible.values)))
    for step in range(first, len(record.choices)):
        choice, begin = record.choices[step], offsets[step]
        before = written[start - base : max(begin, start) - base]
        missing = written[begin - base : max(begin, start) - base]
        unknown = 1.0
        for data, score in choice.others:
            mass = math.exp(score)
            unknown -= mass
            masses.append((_after(possible, data, missing, before), reach * mass))
        chosen = math.exp(choice.log_probability)
        if not choice.has_all:  # what was not recorded may lead to any value that is possible here
            masses.append((values, reach * max(unknown - chosen, 0.0)))
        reach *= chosen
        values = _after(possible, choice.data, missing, before)
        if len(values) < 2:
            break
    else:  # the text has ended, and with it the value
        values = possible.after(written[start - base :] + b" ")
    masses.append((values, reach))
    closed = np.zeros(len(possible.values))
    open_masses = []
    for values, mass in masses:
        if len(values) == 1:
            closed[values[0]] += mass
        elif values:
            open_masses.append((np.array(values, dtype=np.intp), mass))
    lower, upper = intervals(closed, open_masses)
    total = float(closed.sum())
    estimates = closed / total if total > 0 else upper / max(float(upper.sum()), math.ulp(0.0))
    return [
        Probability(
            min(low, number), max(high, number), number, math.log(number) if number > 0 else -math.inf
        )
        for low, high, number in zip(lower.tolist(), upper.tolist(), estimates.tolist(), strict=True)
    ]


def _after(possible: PossibleValues, data: bytes, missing: bytes, before: bytes) -> list[int]:
    """The values that are possible after a token; none if it changes the text before the value.

    Args:
        possible: the values.
        data: the bytes of the token.
        missing: what was written after the begin of the token and before the value.
        before: what was written of the value before the token.
    """
    if not data:  # a stop token, which ends a number, or a control token
        return possible.after(before + b" ") if before else []
    if data.startswith(missing):
        return possible.after(before + data[len(missing) :])
    return possible.after(b"") if missing.startswith(data) else []
