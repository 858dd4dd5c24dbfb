"""Compiled constraints: a pattern composed with a vocabulary."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tokamata import _core
from tokamata.errors import UnknownTokenError
from tokamata.limits import CancelToken, Limits
from tokamata.masks import allocate_mask
from tokamata.matcher import Matcher
from tokamata.patterns.extensions import IMAGE_FAMILIES

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from tokamata.automata import TokenAutomaton
    from tokamata.vocabulary import Vocabulary


class CompiledConstraint:
    """A constraint and a vocabulary, ready to make masks.

    States and masks are made lazily and shared by all matchers; safe to use from many threads.
    Made by :meth:`tokamata.Constraint.compile`.

    Attributes:
        pattern: the text that the constraint was made from.
        vocabulary: the vocabulary it was compiled for.
        limits: what its work may cost.
    """

    __slots__ = ("_core", "limits", "pattern", "vocabulary")

    def __init__(
        self,
        expression: _core.Expression,
        pattern: str,
        is_pattern: bool,
        vocabulary: Vocabulary,
        limits: Limits,
        cancel: CancelToken | None,
        start_of_text: bool,
    ) -> None:
        if not hasattr(vocabulary, "core"):
            given = type(vocabulary).__name__
            raise TypeError(f"compile needs a Vocabulary, not {given}; make one with Vocabulary.load(…)")
        self.pattern = pattern
        self.vocabulary = vocabulary
        self.limits = limits
        self._core = _core.Constraint(
            _well_formed(expression),
            vocabulary.core,
            vocabulary.start_core if start_of_text else None,
            _control_tokens(expression.control_tokens, vocabulary),
            _core.Limits(limits.states, limits.memory_bytes, limits.seconds, limits.depth),
            cancel,
            pattern,
            is_pattern,
        )

    def matcher(self) -> Matcher:
        """A new matcher, at the start of a text."""
        return Matcher(self)

    def allocate_mask(self, batch: int = 1) -> npt.NDArray[np.int32]:
        """Zeros for ``batch`` masks: ``int32[batch, ceil(width / 32)]``.

        Bit ``t % 32`` of word ``t // 32`` of a row is token ``t``.
        """
        return allocate_mask(batch, self.vocabulary.width)

    def token_automaton(self) -> TokenAutomaton:
        """The whole constraint as an automaton over tokens: deterministic, trimmed, minimized.

        The closed form of papers 002 (algorithm 2) and 000 (equation 4), which the engine otherwise makes as
        it is asked for.  For constraints with few states, to look at, to export, or to run on an
        accelerator; the work is bounded by ``limits``.

        Raises:
            LimitExceeded, Cancelled: it has more states, or takes longer, than ``limits`` allow.
        """
        from tokamata.automata import TokenAutomaton

        accepting, class_of_token, row_offsets, classes, targets = self._core.closed_form()
        vocabulary = self.vocabulary
        return TokenAutomaton.from_rows(
            vocabulary.width,
            0,
            accepting.astype(bool),
            class_of_token,
            row_offsets,
            classes,
            targets,
            vocabulary.stop,
            lambda token: vocabulary[token] or vocabulary.name(token),
            self.limits,
        )

    @property
    def states(self) -> int:
        """How many states of the byte automaton are held at the moment."""
        return self._core.states

    @property
    def memory_bytes(self) -> int:
        """How many bytes of expressions, transitions and masks are held at the moment."""
        return self._core.memory_bytes

    def __repr__(self) -> str:
        return f"<CompiledConstraint {self.pattern!r} for {self.vocabulary!r}, {self.states} states so far>"


def _well_formed(expression: _core.Expression) -> _core.Expression:
    """An expression whose texts are valid UTF-8 although it takes whole tokens, whatever their bytes."""
    if not expression.sees_edges:
        return expression
    controls = [_core.control_token(name) for name in expression.control_tokens]
    unit = _core.union([_core.code_points([(0, 0x10FFFF)]), *controls])
    return _core.intersect([_core.repeat(unit, 0, None), expression])


def _control_tokens(names: list[str], vocabulary: Vocabulary) -> dict[str, int]:
    """The ids of the control tokens that an expression names, in the form of ``patterns/extensions.py``.

    Raises:
        UnknownTokenError: the vocabulary lacks one, or it is text, or ends a text.
    """
    ids = {}
    for key in names:
        kind, _, name = key.partition(":")
        if kind == "id":
            token = int(name)
        elif kind == "name":
            token = vocabulary.control_token(name)
        else:
            token = _image_token(vocabulary, int(name))
        ids[key] = _checked_control(token, name, vocabulary)
    return ids


def _checked_control(token: int, name: str, vocabulary: Vocabulary) -> int:
    if not 0 <= token < vocabulary.width:
        raise UnknownTokenError(name, f"the vocabulary has the ids 0 to {vocabulary.width - 1}")
    if token in vocabulary.stop:
        raise UnknownTokenError(name, "it is a stop token, which ends the text and cannot stand in it")
    if vocabulary[token] is not None:
        reason = f"token {token} is text, {vocabulary[token]!r:.60}; write that text instead"
        raise UnknownTokenError(name, reason)
    return token


def _image_token(vocabulary: Vocabulary, part: int) -> int:
    for family in IMAGE_FAMILIES:
        try:
            return [vocabulary.control_token(name) for name in family][part]
        except UnknownTokenError:
            continue
    reason = "the vocabulary has the image tokens of no family known; name them with CONTROL_TOKEN"
    raise UnknownTokenError("IMAGE", reason)
