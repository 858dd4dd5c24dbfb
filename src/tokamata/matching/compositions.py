"""What compiling makes, once for all callers that compile equal constraints.

Problem.  A server compiles the schemas of its requests, most of which it has compiled before.  The states and
masks of an earlier request are those of the next one, which need not be made again.

How.  What is compiled is kept under the key of the constraint (:mod:`tokamata.calls.equal_calls`), the
vocabulary and the options: 512 MiB of states and masks, the least recently used go first.  What is in use is
found even after it went.  Limits, cancel tokens and stop tokens are those of each caller: the engine asks for
them in each call (``core/matching/constraint.hpp``).

Two callers at the same time compile once.  One waits for the other, within his own limits; if the other
fails or is cancelled, he compiles for himself.  What failed is not kept.

The depth of ``Limits`` is in the key: it bounds the nesting within what is compiled.

A vocabulary takes what was compiled for it along when it goes.
"""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Hashable
from typing import TYPE_CHECKING, Any, Literal, NamedTuple
from weakref import WeakValueDictionary

import tokamata._core as _core
from tokamata.calls.equal_calls import READ, key_of
from tokamata.errors import Cancelled
from tokamata.matching.thoughts import thought_for_core
from tokamata.resources.limits import CancelToken, Limits, Watch, core_limits
from tokamata.resources.memo import Memo
from tokamata.values.control_names import VocabularyTokens
from tokamata.values.control_tokens import control_token_ids, valid_utf8
from tokamata.values.denotation import Denotation, remade

if TYPE_CHECKING:
    from tokamata.vocabulary import Vocabulary

__all__ = ["COMPOSED", "Composed", "Composition", "Tokenization", "forget_constraints"]

Tokenization = Literal["any", "canonical"]

_MOST_BYTES = 512 << 20  # of all that is kept for equal constraints
_OWN_BYTES = 4096  # besides what the engine counts
_PATIENCE_SECONDS = 0.02


class Composed:
    """What was compiled.

    Attributes:
        core: the states and masks.
        control: the ids of the control tokens that the constraint names.
    """

    __slots__ = ("__weakref__", "control", "core")

    def __init__(self, core: _core.SharedConstraint, control: dict[str, list[int]]) -> None:
        self.core = core
        self.control = control


COMPOSED: Memo[Composed] = Memo(_MOST_BYTES, lambda composed: composed.core.memory_bytes + _OWN_BYTES)
_in_use: WeakValueDictionary[Hashable, Composed] = WeakValueDictionary()
_under_way: dict[Hashable, _UnderWay] = {}
_vocabularies: set[int] = set()  # those with something in the memo


class _UnderWay:
    """A caller compiles; others wait until he is done."""

    __slots__ = ("done", "process")

    def __init__(self) -> None:
        self.done = threading.Event()
        self.process = os.getpid()  # a forked process has no thread that would end it


class Composition(NamedTuple):
    """A constraint, a vocabulary, and the options of which what is compiled depends.

    Attributes:
        constraint: the constraint.
        vocabulary: the tokens.
        start_of_text: whether a text is the first that the tokenizer decodes.
        tokenization: which token sequences are admitted.
    """

    constraint: Denotation[Any]
    vocabulary: Vocabulary
    start_of_text: bool
    tokenization: Tokenization

    def composed(
        self, limits: Limits, cancel: CancelToken | None, pattern: str, is_pattern: bool
    ) -> tuple[Composed, float]:
        """What is compiled, and how many seconds that took this caller: none if it was there.

        Raises as :meth:`tokamata.Constraint.compile` does.
        """
        key = self._key(limits.depth)
        known = COMPOSED.get(key)
        if known is not None:
            if cancel is not None and cancel.cancelled:
                raise Cancelled("the CancelToken was cancelled; nothing was made")
            return known, 0.0
        watch = Watch(limits, cancel)
        while True:
            watch.check()
            known = COMPOSED.get(key) or _in_use.get(key)
            if known is not None:
                return COMPOSED.keep(key, known), 0.0
            mine = _UnderWay()
            other = _under_way.setdefault(key, mine)
            if other is mine:
                try:
                    made = self._compiled(watch, pattern, is_pattern)
                    _in_use[key] = COMPOSED.keep(key, made)
                    return made, made.core.compile_seconds
                finally:
                    _under_way.pop(key, None)
                    mine.done.set()
            elif other.process != mine.process:
                _under_way.pop(key, None)
            else:
                while not other.done.wait(_PATIENCE_SECONDS):
                    watch.check()

    def _key(self, depth: int) -> Hashable:
        number = self.vocabulary._number
        if number not in _vocabularies:
            _vocabularies.add(number)
            weakref.finalize(self.vocabulary, _forget, number).atexit = False
        return number, key_of(self.constraint), self.start_of_text, self.tokenization, depth

    def _compiled(self, watch: Watch, pattern: str, is_pattern: bool) -> Composed:
        constraint, vocabulary = self.constraint, self.vocabulary
        expression = constraint._expression
        if constraint._is_spelled:
            option = remade(constraint, VocabularyTokens(vocabulary), watch)
            expression = expression if option is None else option.expression
        canonical = None
        if self.tokenization == "canonical":
            from tokamata.tokenization.self_test import tested_tokenization  # late: it needs numpy

            canonical = tested_tokenization(vocabulary)
        control = control_token_ids(expression.control_tokens, vocabulary)
        is_start = self.start_of_text or canonical is not None
        limits, cancel = watch.limits, watch.cancel
        core = _core.SharedConstraint(
            valid_utf8(expression),
            vocabulary.core,
            vocabulary.start_core if is_start else None,
            control,
            core_limits(limits),
            cancel,
            pattern,
            is_pattern,
            canonical,
            thought_for_core(constraint, vocabulary, watch),
        )
        return Composed(core, control)


def forget_constraints() -> None:
    """Gives up what this process keeps of constraints that it has read and compiled.

    Equal constraints are then read and compiled again.  Whoever uses one keeps it, and nothing else changes.
    For a process that needs the memory, up to 128 MiB of what was read and 512 MiB of states and masks.
    """
    READ.clear()
    COMPOSED.clear()
    _in_use.clear()


def _forget(number: int) -> None:
    """A vocabulary has gone."""
    _vocabularies.discard(number)
    COMPOSED.drop(lambda key: isinstance(key, tuple) and key[0] == number)
