"""What a validator is, and functions as validators."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from typing import Any

from tokamata.calls.arguments import checked_list
from tokamata.errors import ArgumentError, Cancelled, LimitExceeded, shown_argument

__all__ = ["Validator", "checked_validators", "first_refusal", "said_by"]

_LONGEST_REASON = 500  # characters
_EXPECTED = "a list of validators, or of functions of the value"


class Validator(ABC):
    """Judges finished texts."""

    @abstractmethod
    def refusal(self, text: str, value: Any) -> str | None:
        """Why a text is refused, in one sentence; ``None``: it is valid.

        Args:
            text: the text.
            value: its value, as the constraint's ``parse`` gives it; without a constraint the text.
        """


class _Function(Validator):
    """A function of the value, which raises an error or returns ``False``."""

    def __init__(self, function: Callable[[Any], object]) -> None:
        self._function = function

    def refusal(self, text: str, value: Any) -> str | None:
        """Why the value is refused."""
        try:
            verdict = self._function(value)
        except (Cancelled, LimitExceeded):
            raise
        except Exception as error:  # of somebody else's function: it must not cost the text, or a batch
            return said_by(error)
        name = getattr(self._function, "__name__", "the validator")
        # Booleans of numpy and torch are no bool.
        is_boolean = isinstance(verdict, bool) or hasattr(verdict, "dtype")
        return f"{name} returned False" if is_boolean and not verdict else None


def said_by(error: Exception) -> str:
    """What an error says; others than those that judges raise on purpose are named."""
    named = str(error) if isinstance(error, (ValueError, AssertionError)) else ""
    return named or f"{type(error).__name__}: {error}".rstrip(": ")


def checked_validators(validators: Iterable[Any]) -> tuple[Validator, ...]:
    """Validators, with functions made some."""
    return tuple(map(_as_validator, checked_list("validators", validators, _EXPECTED)))


def _as_validator(given: Any) -> Validator:
    if isinstance(given, Validator):
        return given
    if callable(given) and not isinstance(given, type):
        return _Function(given)
    hint = "for a class of pydantic call validators.pydantic" if isinstance(given, type) else ""
    raise ArgumentError("validators", shown_argument(given), _EXPECTED, hint)


def first_refusal(validators: Iterable[Validator], text: str, value: Any) -> str | None:
    """What the first validator says that refuses a text; ``None``: all accept it."""
    for validator in validators:
        reason = validator.refusal(text, value)
        if reason is not None:
            shown = " ".join(str(reason).split())[:_LONGEST_REASON]
            return shown or f"{type(validator).__name__} gives no reason"
    return None
