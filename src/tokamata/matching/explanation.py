"""Explanations: why a matcher refuses a token."""

from __future__ import annotations

from dataclasses import dataclass

from tokamata._core import Verdict
from tokamata.display.html import BAD, GOOD, REMOVED, WRITTEN, lines, panel, span
from tokamata.display.texts import shown_bytes

__all__ = ["RULES", "Explanation"]

_MOST_RUNS = 8  # of bytes that may come next, as messages list them

RULES = {
    Verdict.ALLOWED: "allowed",
    Verdict.PADDING: "padding",
    Verdict.NOT_TEXT: "not text",
    Verdict.STOP_TOO_SOON: "stop too soon",
    Verdict.AFTER_STOP: "after stop",
    Verdict.BYTE: "byte",
    Verdict.UNSPELLABLE: "unspellable",
    Verdict.NEVER_MADE: "never made",
    Verdict.MERGE: "merge",
    Verdict.PRE_TOKEN: "pre-token",
    Verdict.NORMALIZER: "normalizer",
    Verdict.ADDED_TOKEN: "added token",
    Verdict.DEAD_END: "dead end",
    Verdict.TOO_SHORT: "too short",
    Verdict.TOO_MUCH_THOUGHT: "too much thought",
}


@dataclass(frozen=True)
class Explanation:
    """Why a matcher refuses a token, or that it does not.

    Attributes:
        token: the id of the token.
        allowed: whether ``advance(token)`` would succeed.
        rule: the rule that decides: ``"allowed"``; ``"padding"`` (a column of the logits without a token);
            ``"not text"`` (a control token, or one without bytes); ``"stop too soon"`` (a stop token,
            but the text is not accepted); ``"after stop"``; ``"byte"`` (the byte at ``offset``
            cannot come there); ``"unspellable"`` (its bytes fit, but no tokens lead on from there).  With
            canonical tokenization also, for tokens that the pattern allows: ``"never made"`` (the tokenizer's
            model never writes it); ``"merge"`` (it would be joined with the tokens before it);
            ``"pre-token"`` (the pre-tokenizer cuts the text elsewhere); ``"normalizer"`` (it would change the
            text); ``"added token"`` (its text, or one that it completes, is cut out as an added token);
            ``"dead end"`` (no canonical tokens lead on from there to a text that matches).  With
            ``min_tokens``: ``"too short"`` (no text that is long enough continues with it).  With
            ``most_tokens`` of :func:`tokamata.think_first`: ``"too much thought"`` (after it, the reasoning
            could not end in time).
        text: the bytes of the token; empty if it has none.
        offset: the number of its bytes that fit.
        expected: the byte values, 0 to 255, that can come at ``offset``.
        expected_tokens: the names of the control tokens that can come there, if ``offset`` is 0.
        hint: for a name of a JSON object, which name must come before it, or that it was written before;
            or ``""``.
    """

    token: int
    allowed: bool
    rule: str
    text: bytes
    offset: int
    expected: tuple[int, ...]
    expected_tokens: tuple[str, ...] = ()
    hint: str = ""

    def _repr_html_(self) -> str:
        """For notebooks: the token with the byte that is refused, and why."""
        fits, refused = self.text[: self.offset], self.text[self.offset :]
        if self.allowed:
            fits, refused = self.text, b""
        token = [span(shown_bytes(fits), WRITTEN), span(shown_bytes(refused), REMOVED)]
        verdict = span("✓ " if self.allowed else "✗ ", GOOD if self.allowed else BAD)
        return panel(f"token {self.token}: {self.rule}", lines([verdict, *token]), lines([span(str(self))]))

    def __str__(self) -> str:
        name = f"token {self.token} ({self.text!r})" if self.text else f"token {self.token}"
        expected = _described(self.expected)
        if self.expected_tokens:
            tokens = ", ".join(self.expected_tokens)
            expected = f"{expected}, or the control token {tokens}" if self.expected else tokens
        if self.rule == "byte":
            where = f"byte {self.offset} ({self.text[self.offset : self.offset + 1]!r}) cannot come there"
            hint = f"; {self.hint}" if self.hint else ""
            return f"{name} is refused: {where}; expected {expected}{hint}"
        reasons = {
            "allowed": f"{name} is allowed",
            "padding": f"{name} is refused: it is padding between the tokenizer and the logits",
            "not text": f"{name} is refused: no text produces it",
            "stop too soon": f"{name} is refused: it ends the text, which is not complete; "
            f"expected {expected}",
            "after stop": f"{name} is refused: the text has ended, and only stop tokens may follow",
            "unspellable": f"{name} is refused: its bytes fit, but no tokens of the vocabulary continue "
            f"from there; expected {expected}",
            "never made": f"{name} is refused: the tokenizer never writes it",
            "merge": f"{name} is refused: the tokenizer would join it with the tokens before it",
            "pre-token": f"{name} is refused: the pre-tokenizer cuts this text elsewhere",
            "normalizer": f"{name} is refused: the normalizer changes this text",
            "added token": f"{name} is refused: the tokenizer would read an added token there",
            "dead end": f"{name} is refused: no canonical tokens lead on from it to a text that matches",
            "too short": f"{name} is refused: no text with enough tokens continues with it",
            "too much thought": f"{name} is refused: after it, the reasoning could not end in time",
        }
        return reasons[self.rule]


def _described(values: tuple[int, ...]) -> str:
    """A set of byte values for people: ``'0'–'9', 'a', 0xC3`` or ``nothing``."""
    runs: list[tuple[int, int]] = []
    for value in values:
        if runs and runs[-1][1] == value - 1:
            runs[-1] = (runs[-1][0], value)
        else:
            runs.append((value, value))
    shown = [_name(low) if low == high else f"{_name(low)}–{_name(high)}" for low, high in runs[:_MOST_RUNS]]
    if len(runs) > _MOST_RUNS:
        shown.append("…")
    return ", ".join(shown) or "nothing"


def _name(value: int) -> str:
    return repr(chr(value)) if value < 0x80 else f"0x{value:02X}"
