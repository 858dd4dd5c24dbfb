"""A judge of number sets, by whole texts: a regular expression, ``fractions`` and the rules of ``repr``."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction

from tokamata import _core
from tokamata.constraints.constraint import Constraint
from tokamata.constraints.json_options import Spelling

JSON_NUMBER = re.compile(r"(-?(?:0|[1-9][0-9]*))(?:\.([0-9]+))?(?:([eE])([+-]?)([0-9]{1,4}))?")
EXACT = Context(prec=100, Emax=10**9, Emin=-(10**9))


@dataclass(frozen=True)
class Set:
    """What a set is made from, and who is in it."""

    minimum: str | None = None
    exclusive_minimum: bool = False
    maximum: str | None = None
    exclusive_maximum: bool = False
    multiple_of: str | None = None
    integral: bool = False
    digits_only: bool = False
    spelling: Spelling = "plain"

    def expression(self) -> _core.Expression:
        return _core.numbers(
            self.minimum, self.exclusive_minimum, self.maximum, self.exclusive_maximum,
            self.multiple_of, self.integral, self.digits_only, self.spelling,
        )  # fmt: skip

    def constraint(self) -> Constraint:
        return Constraint(self.expression(), "numbers")

    def has_value(self, value: Fraction) -> bool:
        if self.minimum is not None:
            low = Fraction(self.minimum)
            if value < low or (value == low and self.exclusive_minimum):
                return False
        if self.maximum is not None:
            high = Fraction(self.maximum)
            if value > high or (value == high and self.exclusive_maximum):
                return False
        if self.multiple_of is not None and (value / Fraction(self.multiple_of)).denominator != 1:
            return False
        return value.denominator == 1 or not (self.integral or self.digits_only)

    def accepts(self, text: str) -> bool:
        found = JSON_NUMBER.fullmatch(text)
        if found is None or not _SPELLED[self.spelling](text):
            return False
        if self.digits_only and (found[2] or found[3]):
            return False
        return self.has_value(Fraction(Decimal(text, EXACT)))


def is_plain(text: str) -> bool:
    """Whether ``json.dumps`` may write a number so; of floats, with any 17 digits."""
    whole, fraction, mark, sign, exponent = JSON_NUMBER.fullmatch(text).groups()  # type: ignore[union-attr]
    if fraction is None and mark is None:
        return text != "-0"
    if fraction is not None and fraction.endswith("0") and (fraction != "0" or mark):
        return False
    digits = (whole.lstrip("-") + (fraction or "")).lstrip("0")
    if mark is not None:
        power = int(sign + exponent)
        return (
            mark == "e" and sign != "" and len(exponent) == max(2, len(str(abs(power)))) and len(digits) <= 17
            and len(whole.lstrip("-")) == 1 and whole.lstrip("-") != "0"
            and (16 <= power <= 308 or -324 <= power <= -5)
        )  # fmt: skip
    if digits in ("", "0"):
        return fraction == "0"
    return Decimal("1e-4") <= abs(Decimal(text)) < 10**16 and (len(digits) <= 17 or fraction == "0")


def is_natural(text: str) -> bool:
    """At most 32 zeros in a row in the fraction, and 3 digits before the point and an exponent below zero."""
    whole, fraction, _, _, _ = JSON_NUMBER.fullmatch(text).groups()  # type: ignore[union-attr]
    if "0" * 33 in (fraction or ""):
        return False
    return len(whole.lstrip("-")) <= 3 or int(re.split("[eE]", text + "e0")[1]) >= 0


_SPELLED: dict[str, Callable[[str], bool]] = {
    "plain": is_plain,
    "natural": is_natural,
    "any": lambda text: True,
}
