"""Errors in a chat template."""

from __future__ import annotations

from typing import Any

from tokamata.errors.base import TokamataError


class TemplateError(TokamataError, ValueError):
    """A chat template that cannot be read, or that takes too much time or memory.

    Attributes:
        line: the line of the template, from 1; 0 if it is about the template as a whole.
        reason: what is wrong there.
        hint: what to do about it.
    """

    def __init__(self, line: int, reason: str, hint: str) -> None:
        super().__init__(line, reason, hint)
        self.line = line
        self.reason = reason
        self.hint = hint

    def _message(self) -> str:
        where = f"line {self.line} of the chat template" if self.line else "the chat template"
        return f"{where}: {self.reason}; {self.hint}"


class SeamError(TokamataError, ValueError):
    """Parts of a template that cannot be encoded one by one, or of which that is not known.

    Attributes:
        parts: the stretch between two control tokens: literal texts, and slots as they are shown.
        verdict: a :class:`tokamata.guard.Verdict`, with a witness if there is one.
    """

    def __init__(self, parts: tuple[str, ...], verdict: Any) -> None:
        super().__init__(parts, verdict)
        self.parts = parts
        self.verdict = verdict

    def _message(self) -> str:
        stretch = ", ".join(f"{part!r:.60}" for part in self.parts)
        if self.verdict.witness is None:
            return (
                f"it is not settled whether the parts {stretch} can be encoded apart: {self.verdict.reason}"
            )
        return (
            f"the parts {stretch} cannot be encoded apart: with the text {self.verdict.witness.text!r:.80}, "
            f"{self.verdict.witness.says}; give the slot a constraint without such texts"
        )
