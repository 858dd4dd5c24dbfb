"""Matchers: a text under way, token by token."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tokamata import _core
from tokamata.arguments import checked_whole
from tokamata.errors import ArgumentError, shown_argument

if TYPE_CHECKING:
    from tokamata.compiled import CompiledConstraint
    from tokamata.values.events import Event, TextEvents

# In the order of Explanation::Verdict in core/matching/matcher.hpp.
_VERDICTS = (
    *("allowed", "padding", "not text", "stop too soon", "after stop", "byte", "unspellable"),
    *("never made", "merge", "pre-token", "normalizer", "added token", "dead end"),
)


@dataclass(frozen=True)
class Explanation:
    """Why a matcher refuses a token, or that it does not.

    Attributes:
        token: the token asked about.
        allowed: whether ``advance(token)`` would succeed.
        rule: what decided: ``"allowed"``; ``"padding"`` (a column of the logits without a token);
            ``"not text"`` (a control token, or one without bytes); ``"stop too soon"`` (a stop token,
            where the text is not accepted); ``"after stop"``; ``"byte"`` (the byte at ``offset``
            cannot come there); ``"unspellable"`` (its bytes fit, but no tokens lead on from there).  With
            canonical tokenization also, where the pattern would take it: ``"never made"`` (the tokenizer's
            model never writes it); ``"merge"`` (it would be joined with what stands before it);
            ``"pre-token"`` (the pre-tokenizer cuts the text elsewhere); ``"normalizer"`` (it would change the
            text); ``"added token"`` (its text, or one that it completes, is cut out as an added token);
            ``"dead end"`` (no canonical tokens lead on from there to a text that matches).
        text: the bytes of the token; empty where it has none.
        offset: how many bytes of it fit.
        expected: the byte values, 0 to 255, that can come at ``offset``.
        expected_tokens: the names of the control tokens that can come there, where ``offset`` is 0.
    """

    token: int
    allowed: bool
    rule: str
    text: bytes
    offset: int
    expected: tuple[int, ...]
    expected_tokens: tuple[str, ...] = ()

    def __str__(self) -> str:
        name = f"token {self.token} ({self.text!r})" if self.text else f"token {self.token}"
        expected = describe_bytes(self.expected)
        if self.expected_tokens:
            tokens = ", ".join(self.expected_tokens)
            expected = f"{expected}, or the control token {tokens}" if self.expected else tokens
        if self.rule == "byte":
            where = f"byte {self.offset} ({self.text[self.offset : self.offset + 1]!r}) cannot come there"
            return f"{name} is refused: {where}; expected {expected}"
        reasons = {
            "allowed": f"{name} is allowed",
            "padding": f"{name} is refused: it is padding between the tokenizer and the logits",
            "not text": f"{name} is refused: no text produces it",
            "stop too soon": f"{name} is refused: it ends the text, which is not complete; "
            f"expected {expected}",
            "after stop": f"{name} is refused: the text has ended, and only stop tokens may follow",
            "unspellable": f"{name} is refused: its bytes fit, but the vocabulary has no tokens to go on "
            f"from there; expected {expected}",
            "never made": f"{name} is refused: the tokenizer never writes it",
            "merge": f"{name} is refused: the tokenizer would join it with what stands before it",
            "pre-token": f"{name} is refused: the pre-tokenizer cuts this text elsewhere",
            "normalizer": f"{name} is refused: the normalizer changes this text",
            "added token": f"{name} is refused: the tokenizer would read an added token there",
            "dead end": f"{name} is refused: no canonical tokens lead on from it to a text that matches",
        }
        return reasons[self.rule]


class Matcher(_core.Matcher):
    """A text under way: which tokens may come next, and what was written so far.

    Made by :meth:`tokamata.CompiledConstraint.matcher`.  A set bit of the mask means that some
    accepted text continues with that token and that the vocabulary can spell the rest; a clear bit
    means that none does.  ``advance(t)`` succeeds if and only if bit ``t`` is set.

    Stop tokens are allowed exactly where the text is accepted.  After one, masks hold the stop
    tokens alone.  A call that raises leaves the matcher as it was.

    A matcher keeps its compiled constraint alive.  A mask that it has returned does not change, whatever
    becomes of the matcher.  Matchers of one constraint may work on several threads, and wait for one lock;
    use a single matcher from one thread at a time.
    """

    __slots__ = ("_compiled", "_events")

    def __init__(
        self, compiled: CompiledConstraint[Any], origin: Matcher | None = None, context: Sequence[int] = ()
    ) -> None:
        if origin is None:
            core = getattr(compiled, "_core", None)
            if not isinstance(core, _core.Constraint):
                hint = "call compiled.matcher()"
                raise ArgumentError("compiled", shown_argument(compiled), "a CompiledConstraint", hint)
            super().__init__(core, context)
        else:
            super().__init__(origin)
        self._compiled = compiled
        told = None if origin is None else origin._events
        self._events: TextEvents | None = None if told is None else told.fork()

    @property
    def compiled(self) -> CompiledConstraint[Any]:
        """What this matcher was made from."""
        return self._compiled

    def fork(self) -> Matcher:
        """A second matcher at the same place; neither sees what the other does.

        Cost: a copy of the list of tokens.
        """
        return Matcher(self._compiled, self)

    def events(self) -> list[Event]:
        """The values that have closed since this was last called, in the order of closing.

        In JSON, each value with its JSON Pointer: a string closes with its quote, a number with what follows
        it or with the end of the text.  In a sequence or a repetition, each part as soon as no continuation
        can change where it ends, under its captured name or its number.  Values come before those that hold
        them, and last the whole, whose pointer is ``""``.  :mod:`tokamata.values.events` has an example.

        What is told is how the text differs from that of the last call: where tokens were taken back, what
        closes anew after the part that stayed.  A fork goes on by itself from what was told before it.

        Cost: linear in the text for all calls together, and for each a copy of the text by the engine.

        Raises:
            LimitExceeded, Cancelled: finding the parts of the text was stopped.
            ParseError: parts nest deeper than Python's stack, or meet within a code point.
        """
        if self._events is None:
            from tokamata.values.events import TextEvents
            from tokamata.values.forms import Reading

            compiled = self._compiled
            reading = Reading(compiled.pattern, compiled.limits, None)
            self._events = TextEvents(compiled.constraint._form, reading)
        return self._events.moved(self.text, self.is_finished)

    def explain(self, token: int) -> Explanation:
        """Why ``token`` is refused at this place: the byte where it fails, and what could come there.

        Raises:
            TokenIdError: ``token`` is outside the width of the vocabulary.
            LimitExceeded, Cancelled: the work was stopped.
        """
        verdict, offset, expected, tokens = self._explain(token)
        rule, vocabulary = _VERDICTS[verdict], self._compiled.vocabulary
        names = tuple(map(vocabulary.name, tokens))
        text = vocabulary[token] or b""
        return Explanation(token, rule == "allowed", rule, text, offset, tuple(expected), names)

    def __repr__(self) -> str:
        return f"<Matcher for {self._compiled.pattern!r} after {self.text!r}>"


def fill_masks(
    matchers: Sequence[Matcher],
    mask: Any,
    threads: int | None = None,
    budgets: Sequence[int | None] | None = None,
) -> None:
    """Write the masks of many matchers at once, without the interpreter's lock.

    Row ``i`` becomes the mask of ``matchers[i]``, bit for bit what its own ``fill_mask`` writes; further
    rows are left alone.  Matchers may be of any constraints compiled for one vocabulary.

    Args:
        matchers: the matchers.
        mask: ``int32[batch, words]`` with a row for each, contiguous and writable; numpy, or torch on the
            CPU.
        threads: how many threads work at most; ``None``: one for each processor that this process may use.
        budgets: the ``budget`` of each matcher's ``fill_mask``, or ``None`` for a matcher without one.

    Raises:
        MaskError: the mask does not fit, or the matchers are of different vocabularies.  Nothing is written.
        ArgumentError: ``threads`` is no whole number of at least 1; ``matchers`` holds something else;
            ``budgets`` are not as many as the matchers.
        BudgetError, LimitExceeded, Cancelled: the mask of a matcher could not be made.  The rows of such
            matchers are left as they were, all others are written; the error is that of the first of them.  A
            budget of 0 or less is refused before anything is written.
    """
    if threads is None:
        affinity = getattr(os, "sched_getaffinity", None)
        threads = len(affinity(0)) if affinity else os.cpu_count() or 1
    _core.fill_masks(matchers, mask, checked_whole("threads", threads, 1, 1 << 16), budgets)


def describe_bytes(values: tuple[int, ...], most: int = 8) -> str:
    """A set of byte values for people: ``'0'–'9', 'a', 0xC3`` or ``nothing``."""
    runs: list[tuple[int, int]] = []
    for value in values:
        if runs and runs[-1][1] == value - 1:
            runs[-1] = (runs[-1][0], value)
        else:
            runs.append((value, value))
    shown = [_name(low) if low == high else f"{_name(low)}–{_name(high)}" for low, high in runs[:most]]
    if len(runs) > most:
        shown.append("…")
    return ", ".join(shown) or "nothing"


def _name(value: int) -> str:
    return repr(chr(value)) if value < 0x80 else f"0x{value:02X}"
