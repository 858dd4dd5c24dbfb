"""Errors of what a constraint denotes: no texts, too many, none that fits."""

from __future__ import annotations

from tokamata.errors.base import TokamataError
from tokamata.errors.showing import shown_count


class AlgebraError(TokamataError, ValueError):
    """An operation or a question that these constraints do not support."""


class EmptyConstraintError(TokamataError, ValueError):
    """A constraint that no text matches.

    Attributes:
        pointers: JSON Pointers to the schemas whose keywords contradict each other (``""`` is the root);
            empty if the constraint was not made from a schema, or if the search for them ran out of time.
    """

    def __init__(self, message: str, pointers: tuple[str, ...] = ()) -> None:
        super().__init__(message, pointers)
        self.message = message
        self.pointers = pointers

    def _message(self) -> str:
        return self.message


class UnspellableError(TokamataError, ValueError):
    """A constraint with texts, none of which the vocabulary can spell."""


class TooManyTextsError(TokamataError, ValueError):
    """A constraint with more texts than can be listed one by one.

    Attributes:
        pattern: the pattern, or a description of the constraint.
        texts: how many texts it has; -1 for infinitely many, ``None`` if they could not be counted.
        most: how many it may have.
        advice: what to do about it.
    """

    def __init__(self, pattern: str, texts: int | None, most: int, advice: str) -> None:
        super().__init__(pattern, texts, most, advice)
        self.pattern = pattern
        self.texts = texts
        self.most = most
        self.advice = advice

    def _message(self) -> str:
        if self.texts is None:
            count = f"more than {self.most:,} texts"
        elif self.texts < 0:
            count = "infinitely many texts"
        else:
            count = f"{shown_count(self.texts)} texts"
        return (
            f"{self.pattern[:200]!r} has {count}, and at most {self.most:,} can be listed one by one; "
            f"{self.advice}"
        )


class BudgetError(TokamataError, ValueError):
    """A budget of tokens in which no accepted text can be finished.

    Attributes:
        budget: the tokens that were left.
        needed: the least number of tokens that suffice, or ``None`` if the budget is 0 or less and nothing
            was searched.
    """

    def __init__(self, budget: int, needed: int | None = None) -> None:
        super().__init__(budget, needed)
        self.budget = budget
        self.needed = needed

    def _message(self) -> str:
        if self.needed is None:
            return f"a budget is a whole number of tokens, at least 1, not {self.budget}"
        advice = f"pass a budget of at least {self.needed}"
        tokens = "token" if self.budget == 1 else "tokens"
        return f"no accepted text can be finished in {self.budget} {tokens}; {advice}"


class LengthError(TokamataError, ValueError):
    """No accepted text with as many tokens as ``min_tokens`` asks for was found.

    Attributes:
        pattern: the pattern, or a description of the constraint.
        min_tokens: the least number of tokens.
    """

    def __init__(self, pattern: str, min_tokens: int) -> None:
        super().__init__(pattern, min_tokens)
        self.pattern = pattern
        self.min_tokens = min_tokens

    def _message(self) -> str:
        return (
            f"no text of {self.min_tokens} tokens or more that {self.pattern[:200]!r} accepts was found; "
            "ask for fewer tokens, or for a constraint whose texts may be longer"
        )
