"""Errors in the text of a pattern or of a grammar."""

from __future__ import annotations

from tokamata.errors.base import TokamataError
from tokamata.errors.showing import caret


class PatternError(TokamataError, ValueError):
    """A pattern that cannot become a constraint.

    Attributes:
        pattern: the pattern as it was given.
        position: offset of the fault in ``pattern``, in code points.
        reason: what is wrong there.
        hint: what to do about it, or ``""``.
    """

    def __init__(self, pattern: str, position: int, reason: str, hint: str = "") -> None:
        super().__init__(pattern, position, reason, hint)
        self.pattern = pattern
        self.position = position
        self.reason = reason
        self.hint = hint

    def _message(self) -> str:
        message = f"{self.reason} at position {self.position}\n{caret(self.pattern, self.position)}"
        return f"{message}\n{self.hint}" if self.hint else message


class PatternSyntaxError(PatternError):
    """The pattern does not parse."""


class NotRegularError(PatternError):
    """The pattern uses a construct that is not regular: a backreference, a conditional."""


class UnsupportedPatternError(PatternError):
    """The pattern uses a construct that tokamata does not support, or one that does not concern texts."""


class UnknownPropertyError(TokamataError, KeyError):
    """A Unicode property, or a value of one, that does not exist.

    Attributes:
        reason: a sentence with similar names.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason

    def _message(self) -> str:
        return self.reason


class GrammarError(TokamataError, ValueError):
    """A grammar that cannot become a constraint.

    Attributes:
        grammar: the text of the file.
        position: offset of the fault in ``grammar``, in code points.
        line: number of the line of the fault, from 1.
        column: column of the fault, from 1.
        reason: what is wrong there.
        hint: what to do about it, or ``""``.
    """

    def __init__(self, grammar: str, position: int, reason: str, hint: str = "") -> None:
        super().__init__(grammar, position, reason, hint)
        self.grammar = grammar
        self.position = position
        self.line = grammar.count("\n", 0, position) + 1
        self.column = position - (grammar.rfind("\n", 0, position) + 1) + 1
        self.reason = reason
        self.hint = hint

    def _message(self) -> str:
        end = self.grammar.find("\n", self.position)
        line = self.grammar[self.position - self.column + 1 : end if end >= 0 else len(self.grammar)]
        message = f"{self.reason}, at line {self.line}, column {self.column}\n{caret(line, self.column - 1)}"
        return f"{message}\n{self.hint}" if self.hint else message
