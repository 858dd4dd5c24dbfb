"""Compiled constraints and their matchers.

A compiled constraint is a constraint composed with a vocabulary.  A matcher follows one text that is being
written, token by token.  The two classes refer to each other, so they share a file, as they share a folder
of the core (``core/matching``).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, Literal, NoReturn, TypeVar, overload

import tokamata._core as _core
from tokamata.calls.arguments import (
    checked_choice,
    checked_flag,
    checked_list,
    checked_whole,
    clipped,
    no_attribute,
)
from tokamata.calls.keywords import checked_call
from tokamata.calls.recipes import Shared, made_by_steps, steps_of
from tokamata.display.html import DIM, GOOD, WRITTEN, lines, panel, span
from tokamata.display.progress import late_bar
from tokamata.errors import (
    ArgumentError,
    ContextError,
    ParseError,
    PicklingError,
    shown_argument,
)
from tokamata.matching.compositions import Composition, Tokenization
from tokamata.matching.explanation import RULES, Explanation
from tokamata.matching.mask_reports import MaskReport, report_of
from tokamata.matching.masks import allocate_mask
from tokamata.matching.process_rewards import ProcessRewards, measured
from tokamata.repair.tokens import RepairsTokens
from tokamata.resources.limits import CancelToken, Limits, Watch, checked_cancel, core_limits
from tokamata.resources.logs import LOG
from tokamata.values.control_names import ControlNames
from tokamata.values.denotation import Denotation, Refusal, remade
from tokamata.values.events import TextEvents
from tokamata.values.forms import Alternatives, Form, Reading
from tokamata.values.json_events import Event
from tokamata.values.markers import MarkedText, Markers

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from tokamata.automata import TokenAutomaton
    from tokamata.vocabulary import Vocabulary


OnNoncanonical = Literal["error", "fresh"]

_T_co = TypeVar("_T_co", covariant=True)

_MOST_TOKENS = 1 << 31


@dataclass(frozen=True)
class Preparation:
    """The result of :meth:`CompiledConstraint.prepare`.

    Attributes:
        masks: the number of states whose masks were computed or found.
        finished: whether all work was done; otherwise time, memory or another limit ended it.
        seconds: how long it took.
    """

    masks: int
    finished: bool
    seconds: float


_ELSEWHERE = {  # what the constraint has, and its matchers
    "compile": "it is compiled; call matcher()",
    **{
        name: f"write compiled.constraint.{name}(…)"
        for name in ("accepts", "report", "reward", "captured", "optional", "repeat", "separated_by")
    },
    **{
        name: f"write compiled.matcher().{name}"
        for name in ("mask", "fill_mask", "advance", "explain", "validate", "forced_text")
    },
    "load": "call tokamata.load(path, vocabulary)",
}


class CompiledConstraint(RepairsTokens, Generic[_T_co]):
    """A constraint combined with a vocabulary; it computes masks.

    States and masks are computed lazily and shared by all matchers, those of equal constraints included; safe
    to use from many threads.  Made by :meth:`tokamata.Constraint.compile`.

    Attributes:
        constraint: the :class:`tokamata.Constraint` that it was compiled from.
        pattern: the text that the constraint was made from.
        vocabulary: the vocabulary that it was compiled for.
        limits: bounds on its work.
        tokenization: ``"any"``, or ``"canonical"`` if only canonical token sequences are admitted.
    """

    __slots__ = (
        "__weakref__",
        "_composed",
        "_core",
        "_is_first",
        "_key",
        "_read",
        "_start_of_text",
        "constraint",
        "limits",
        "pattern",
        "tokenization",
        "vocabulary",
    )

    @checked_call
    def __init__(
        self,
        pattern: str,
        is_pattern: bool,
        vocabulary: Vocabulary,
        limits: Limits,
        cancel: CancelToken | None,
        start_of_text: bool,
        tokenization: Tokenization,
        constraint: Denotation[_T_co],
    ) -> None:
        if not hasattr(vocabulary, "core"):
            hint = "make one with Vocabulary.load(…)"
            raise ArgumentError("vocabulary", shown_argument(vocabulary), "a Vocabulary", hint)
        checked_choice("tokenization", tokenization, ("any", "canonical"))
        checked_flag("start_of_text", start_of_text)
        self.constraint = constraint
        self.pattern = pattern
        self.vocabulary = vocabulary
        self.limits = limits
        self.tokenization = tokenization
        self._start_of_text = start_of_text
        self._key: bytes | None = None  # of its pickles
        self._read: tuple[Form, Markers | None] | None = None  # made when a text is read
        self._token_places = None  # made for the first repair
        self._token_types = None  # made for the first costs by type
        given = Composition(constraint, vocabulary, start_of_text, tokenization)
        self._composed, spent_seconds = given.composed(limits, cancel, pattern, is_pattern)
        self._is_first = spent_seconds > 0  # no equal constraint had been compiled before
        if self._is_first:
            LOG.debug("compiled %.80r in %.3f s", pattern, spent_seconds)
        else:
            LOG.debug("found what an equal constraint had compiled of %.80r", pattern)
        self._core = _core.Constraint(
            self._composed.core, core_limits(limits), cancel, pattern, is_pattern, spent_seconds
        )

    def __reduce__(self) -> tuple[Callable[..., CompiledConstraint[Any]], tuple[Any, ...]]:
        """For pickling: the constraint, the vocabulary and the options; masks and the cancel token stay here.

        Raises:
            PicklingError: the constraint was not made by the functions of tokamata.
            VocabularyError: the file of the tokenizer has changed since it was loaded, or is gone.
        """
        if self._key is None:
            self._key = os.urandom(16)
        _SHARED.note(self._key, self)
        options = {"start_of_text": self._start_of_text, "tokenization": self.tokenization}
        return _arrived, (self._key, steps_of(self.constraint), self.vocabulary, self.limits, options)

    def __copy__(self) -> CompiledConstraint[_T_co]:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> CompiledConstraint[_T_co]:
        return self

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> NoReturn:
            """Says which object has the attribute: the constraint, or a matcher."""
            raise no_attribute(self, name, _ELSEWHERE)

    @checked_call
    def matcher(
        self,
        context: Sequence[int] = (),
        *,
        on_noncanonical: OnNoncanonical = "error",
        written: Sequence[int] = (),
        canonical: Sequence[int] | None = None,
        stop: Sequence[int] | None = None,
        min_tokens: int = 0,
    ) -> Matcher:
        """A new matcher, at the start of a text, or after its first tokens.

        Args:
            context: the tokens before the text, as a rule the prompt.  With ``tokenization="canonical"`` the
                text continues them: context and text together are canonical.  Otherwise they make no
                difference.
            on_noncanonical: the treatment of a context that is not canonical itself: ``"error"`` raises
                ContextError, ``"fresh"`` ignores the context.
            written: the tokens that the text has already.  The matcher goes on after them, and cannot roll
                them back.  They may be tokens that the tokenizer would not write.
            canonical: with ``tokenization="canonical"`` the tokens that the tokenizer writes for the text of
                ``written`` after ``context``.  The tokens that follow are canonical after these: canonical
                tokenization begins afresh there.  ``None``: they are ``written`` itself.
            stop: the stop tokens of this text, in place of those of the vocabulary; masks stay shared with
                other matchers.  With none, nothing ends the text, and a mask is empty where nothing can
                follow.
            min_tokens: the least number of tokens before the text may end, stop tokens not counted.  The mask
                contains only tokens after which so many are still possible, within the budget if there is
                one; so, unlike where stop tokens alone are forbidden, the text never gets stuck.  Where rules
                nest and a budget is tight, a mask may lack some of these tokens; see
                ``core/composition/long_completions.hpp``.  With ``tokenization="canonical"`` the tokens are
                those that the tokenizer writes, and the search for them ends with the answer or at a limit;
                it is long where nearly all of a bounded text has to be tokens of one letter.

        Raises:
            LengthError: no text with ``min_tokens`` tokens was found.
            ArgumentError, TokenIdError: the context is not a list of token ids; or the constraint does not
                allow ``written``; or ``canonical`` has another text; or a stop token has text of its own, or
                is a control token that the constraint names.
            ContextError: the context is not canonical, or ``canonical`` is not after it.
            NoncanonicalError: no canonical tokens lead from the context to a text that matches.
            LimitExceeded, Cancelled: the work was stopped.
        """
        checked_choice("on_noncanonical", on_noncanonical, ("error", "fresh"))
        tokens = self._checked_tokens("context", context, "encode a text with the tokenizer")
        before = self._checked_tokens("written", written)
        own = before if canonical is None else self._checked_tokens("canonical", canonical)
        if canonical is not None and not self._is_alike(own, before):
            raise ArgumentError("canonical", shown_argument(canonical), "tokens with the text of written")
        stops = None if stop is None else self._checked_stops(stop)
        least = checked_whole("min_tokens", min_tokens, 0, _MOST_TOKENS)
        try:
            return Matcher(self, None, tokens, before, own, stops, least)
        except ContextError:
            if on_noncanonical == "error":
                raise
            return Matcher(self, None, [], before, own, stops, least)

    def _checked_tokens(self, name: str, tokens: Sequence[int], hint: str = "") -> list[int]:
        given = checked_list(name, tokens, "a list of token ids", hint)
        return [self.vocabulary._checked_id(token) for token in given]

    def _is_alike(self, first: list[int], second: list[int]) -> bool:
        """Whether tokens spell one text, at its start or in the middle, with the same control tokens."""
        start = self.vocabulary._start_tokens
        return self._content(first, None) == self._content(second, None) or (
            start is not None and self._content(first, start) == self._content(second, start)
        )

    def _content(self, tokens: list[int], start: Sequence[bytes | None] | None) -> list[bytes | int]:
        """The text between control tokens, and these.

        Args:
            tokens: the tokens.
            start: the bytes of each as the first token of a text; ``None``: as in the middle.
        """
        content: list[bytes | int] = [b""]
        for index, token in enumerate(tokens):
            data = start[token] if start is not None and index == 0 and token < len(start) else None
            data = self.vocabulary[token] if data is None else data
            last = content[-1]
            if data is None:
                content += [token, b""]
            elif isinstance(last, bytes):
                content[-1] = last + data
        return content

    def _checked_stops(self, stop: Sequence[int]) -> list[int]:
        tokens = self._checked_tokens("stop", stop)
        for token in tokens:
            if self.vocabulary[token] and token not in self.vocabulary.stop:
                name = self.vocabulary.name(token)
                raise ArgumentError("stop", f"token {token}, {name}", "tokens without text of their own")
            if any(token in tokens for tokens in self._composed.control.values()):
                name = self.vocabulary.name(token)
                raise ArgumentError(
                    "stop", f"token {token}, {name}", "tokens that the constraint does not name"
                )
        return tokens

    @checked_call
    def prepare(self, *, seconds: float | None = None, cancel: CancelToken | None = None) -> Preparation:
        """Computes masks that a text is likely to need, while the model still reads its prompt.

        It follows a few representative tokens from the start and computes the masks of up to 512 states.
        Masks are the same with and without it; they only come sooner.  Matchers may run meanwhile: the
        constraint is locked for one state at a time, and the interpreter's lock is released.

        Args:
            seconds: the time after which it ends, at most ``limits.seconds``, which is also the default.
            cancel: ends it from another thread.

        Returns:
            The number of masks, whether all work was done, and the time.  It ends early, without an error,
            after ``seconds``, at half of ``limits.memory_bytes``, or at another limit.

        Raises:
            Cancelled: ``cancel`` or the cancel token of the constraint was cancelled.  The masks computed
                until then are kept.
        """
        if seconds is not None:
            is_number = isinstance(seconds, (int, float)) and not isinstance(seconds, bool)
            if not (is_number and seconds >= 0):
                raise ArgumentError("seconds", shown_argument(seconds), "a number of at least 0, or None")
        most = self.limits.seconds if seconds is None else float(seconds)
        with late_bar("preparing masks"):
            prepared = Preparation(*self._core.prepare(most, checked_cancel(cancel)))
        LOG.debug("prepared %d masks in %.3f s", prepared.masks, prepared.seconds)
        return prepared

    @checked_call
    def save(self, path: str | os.PathLike[str], *, cancel: CancelToken | None = None) -> None:
        """Writes the constraint and the masks that are kept now to a file; :func:`tokamata.load` reads it.

        The file has the call that made the constraint, the options, and the masks with the bytes that lead to
        each; limits, the vocabulary and the cancel token are not in it.  Matchers may run meanwhile.  It is
        written whole or not at all, and never through a link.

        With ``tokenization="canonical"`` it has the masks of the pattern; those of canonical tokens are
        computed again.

        Args:
            path: the file, which is replaced if there is one.
            cancel: stops the work from another thread.

        Raises:
            CompiledFileError: the constraint depends on classes or functions of Python, or the path leads to
                a link or to something that is not a file.
            PicklingError: the constraint was not made by the functions of tokamata.
            OSError: the file cannot be written.
            LimitExceeded, Cancelled: the work was stopped.
        """
        from tokamata.matching.kept_compiled import save

        save(self, path, checked_cancel(cancel))

    def process_rewards(self, ids: Any, *, mask: Any = None) -> ProcessRewards:
        """How far each token sequence stays viable, and how many tokens it still needs, token by token.

            compiled.process_rewards([[5, 9, 2], [5, 7]]).first_refused        # int64[2]

        Each sequence is read from the start of a text.  With ``tokenization="canonical"`` it must be
        canonical by itself.  No matcher changes.  All sequences are read in one call of the engine, without
        the interpreter's lock; sequences of several constraints may be read on several threads.

        Args:
            ids: a sequence of token ids, or a batch of sequences: lists, which may differ in length, or
                integers ``[length]`` or ``[batch, length]`` of numpy or torch.  Ids of -100 are padding.
            mask: as ``ids``: 0 or ``False`` for padding, at any position; ``None``: only ids of -100 are.

        Returns:
            Arrays in the shape of ``ids``; shorter sequences of a list are padded at their ends.
            :class:`.ProcessRewards` says what holds of padding, stop tokens and control tokens.

        Cost: one step and one distance for each token before the first refused one; both are memoized by
        state.  With canonical tokenization, JSON and grammars search at each token, as
        ``shortest_completion`` does.

        Raises:
            ArgumentError: ``ids`` or ``mask`` has another type or shape.
            TokenIdError: an id is outside the width of the vocabulary, and not -100.
            LimitExceeded, Cancelled: the work was stopped.  Each sequence has ``limits.seconds`` of its own.
        """
        return measured(self._core, self.vocabulary.width, ids, mask)

    def parse(self, text: str | bytes) -> _T_co:
        """The value of a text, within ``limits``; see :meth:`tokamata.Constraint.parse`."""
        return self.constraint.parse(text, limits=self.limits)

    def _parse_tokens(self, text: bytes, tokens: Sequence[int]) -> _T_co:
        """The value of an accepted text and its tokens; see :meth:`Matcher.parse`."""
        form, markers = self._reading()
        if markers is None:
            return self.parse(text)
        reading = Reading(self.pattern, self.limits, None, markers)
        try:
            value: _T_co = form.read(markers.text(text, tokens), reading).value
        except ParseError:  # a text token that is named elsewhere stands in a part that has only its bytes
            return self.parse(text)
        except RecursionError:
            raise ParseError("", "the value nests deeper than Python's stack") from None
        return value

    def _reading(self) -> tuple[Form, Markers | None]:
        """How texts are read, and the markers of control tokens in them, if the constraint has any."""
        if self._read is None:
            self._read = self.constraint._form, None
            if control := self._composed.control:
                vocabulary = self.vocabulary
                names = ControlNames(vocabulary)
                markers = Markers(control, vocabulary.tokens, vocabulary.stop, names)
                if (option := remade(self.constraint, markers, Watch(self.limits))) is not None:
                    self._read = Alternatives([option]), markers
        return self._read

    def allocate_mask(self, batch: int = 1) -> npt.NDArray[np.int32]:
        """Zeros for ``batch`` masks: ``int32[batch, ceil(width / 32)]``.

        Bit ``t % 32`` of word ``t // 32`` of a row is token ``t``.
        """
        return allocate_mask(batch, self.vocabulary.width)

    def token_automaton(self) -> TokenAutomaton:
        """The whole constraint as an automaton over tokens: deterministic, trimmed, minimized.

        The closed form of papers 002 (algorithm 2) and 000 (equation 4); the engine otherwise computes it
        lazily.  For constraints with few states: to examine, to export, or to run on an accelerator.

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
            vocabulary._shown,
            self.limits,
        )

    @property
    def states(self) -> int:
        """How many states of the byte automaton are held now, by this constraint and all equal ones."""
        return self._core.states

    @property
    def memory_bytes(self) -> int:
        """How many bytes of expressions, transitions and masks are held now, as ``states`` counts them."""
        return self._core.memory_bytes

    def mask_report(self) -> MaskReport:
        """What was done for all masks so far, by this constraint and all equal ones."""
        return report_of(self._core.mask_work())

    def _repr_html_(self) -> str:
        """For notebooks."""
        size = f"{self.states:,} states so far, vocabulary of {len(self.vocabulary):,} tokens"
        return panel(f"CompiledConstraint · {size}", lines([span(repr(self.constraint))]))

    def __repr__(self) -> str:
        return f"<CompiledConstraint {self.pattern!r} for {self.vocabulary!r}, {self.states} states so far>"


# Those that pickles of this process stand for: a worker that unpickles one for each task compiles it once.
_SHARED: Shared[CompiledConstraint[Any]] = Shared(16)


def _arrived(
    key: bytes, steps: list[Any], vocabulary: Vocabulary, limits: Limits, options: dict[str, Any]
) -> CompiledConstraint[Any]:
    """The compiled constraint that was pickled; the same one for all of its pickles."""

    def compiled() -> CompiledConstraint[Any]:
        made: CompiledConstraint[Any] = made_by_steps(steps).compile(vocabulary, limits=limits, **options)
        made._key = key
        return made

    return _SHARED.get(key, compiled)


class Matcher(_core.Matcher):
    """The state of one text that is being written: its tokens, and which tokens may come next.

    Made by :meth:`tokamata.CompiledConstraint.matcher`.  A set bit of the mask means that some
    accepted text continues with that token and that the vocabulary can spell the rest; a clear bit
    means that none does.  ``advance(t)`` succeeds if and only if bit ``t`` is set.

    Stop tokens are allowed exactly where the text is accepted.  After one, masks contain only stop
    tokens.  A call that raises leaves the matcher as it was.

    A matcher keeps its compiled constraint alive.  A returned mask never changes, even after the matcher is
    gone.  Matchers of one constraint may work on several threads, and wait for one lock; use a single
    matcher from one thread at a time.
    """

    __slots__ = ("_compiled", "_events", "_marked")

    def __init__(
        self,
        compiled: CompiledConstraint[Any],
        origin: Matcher | None = None,
        context: Sequence[int] = (),
        written: Sequence[int] = (),
        canonical: Sequence[int] = (),
        stop: Sequence[int] | None = None,
        min_tokens: int = 0,
    ) -> None:
        if origin is None:
            core = getattr(compiled, "_core", None)
            if not isinstance(core, _core.Constraint):
                hint = "call compiled.matcher()"
                raise ArgumentError("compiled", shown_argument(compiled), "a CompiledConstraint", hint)
            super().__init__(core, context, written, canonical, stop, min_tokens)
        else:
            super().__init__(origin)
        self._compiled = compiled
        events = None if origin is None else origin._events
        self._events: TextEvents | None = None if events is None else events.fork()
        self._marked: MarkedText | None = None

    @property
    def compiled(self) -> CompiledConstraint[Any]:
        """The compiled constraint of this matcher."""
        return self._compiled

    @property
    def has_marks(self) -> bool:
        """Whether control tokens of the constraint say where the parts of a text end."""
        return self._compiled._reading()[1] is not None

    def fork(self) -> Matcher:
        """A second matcher in the same state; both are independent from then on.

        Cost: constant; both share the tokens that they have in common.
        """
        return Matcher(self._compiled, self)

    @overload
    def fill_draft_masks(
        self,
        mask: Any,
        tokens: Sequence[int],
        parents: Sequence[int] | None = None,
        budget: int | None = None,
        *,
        count_stop: bool = False,
        deadline_seconds: float | None = None,
        on_deadline: Literal["error"] = "error",
    ) -> npt.NDArray[np.bool_]: ...

    @overload
    def fill_draft_masks(
        self,
        mask: Any,
        tokens: Sequence[int],
        parents: Sequence[int] | None = None,
        budget: int | None = None,
        *,
        count_stop: bool = False,
        deadline_seconds: float | None = None,
        on_deadline: Literal["some"],
    ) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]: ...

    def fill_draft_masks(
        self,
        mask: Any,
        tokens: Sequence[int],
        parents: Sequence[int] | None = None,
        budget: int | None = None,
        *,
        count_stop: bool = False,
        deadline_seconds: float | None = None,
        on_deadline: Literal["error", "some"] = "error",
    ) -> npt.NDArray[np.bool_] | tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
        """Writes the masks of drafted tokens in one call; the state does not change.

        Row 0 becomes the mask here, and row ``i + 1`` that after the draft's token ``i``.  A token is legal
        if the row before it allows it.  Rows of tokens that are not legal, and of all tokens that follow
        such a token, are zero; further rows are unchanged.

            legal = matcher.fill_draft_masks(mask, [5, 9, 2])       # a chain: rows 0 to 3

        Args:
            mask: ``int32[rows, words]``, contiguous and writable, with at least ``len(tokens) + 1`` rows;
                numpy, or torch on the CPU.
            tokens: the drafted token ids.  Those outside of the vocabulary, such as -1, are not legal.
            parents: for a tree, the number of the token before each token, which is smaller than its own; -1
                for those that follow the text.  ``None``: each token follows the one before it.
            budget: the tokens that may still be written here, as for :meth:`fill_mask`; a row that lies
                ``d`` tokens ahead has ``budget - d``.  Rows for which it does not suffice are zero.
            count_stop: whether the budget includes the stop token.
            deadline_seconds: as for :meth:`fill_mask`.
            on_deadline: as for :meth:`fill_mask`.  With ``"some"``, tokens that were not judged by then are
                not legal.

        Returns:
            ``bool[len(tokens)]``: whether each token is legal.  With ``on_deadline="some"`` a pair: that, and
            whether each row is whole, ``bool[len(tokens) + 1]``.

        Raises:
            ArgumentError: the tokens are no whole numbers, or the parents do not make a tree.
            MaskError: the mask does not fit.
            BudgetError: the budget is 0 or less.
            LimitExceeded, Cancelled: the work was stopped; no row is changed.
        """
        import numpy as np

        checked_flag("count_stop", count_stop)
        [legal], whole = _core.fill_draft_masks(
            [self], mask, [tokens], [parents], 1, [budget], count_stop, deadline_seconds, on_deadline
        )
        return (
            legal.view(np.bool_) if on_deadline == "error" else (legal.view(np.bool_), whole.view(np.bool_))
        )

    def events(self) -> list[Event]:
        """The values that have been completed since the last call, in order.

        In JSON, each value has its JSON Pointer: a string is complete at its closing quote, a number at the
        next byte after it or at the end of the text.  In a sequence or a repetition, a part is complete when
        no continuation can change where it ends; its pointer is its captured name or its number.  Values come
        before their containers, the whole with the pointer ``""`` last.  :mod:`tokamata.values.events` has an
        example.

        Events compare the text with that of the last call: after a rollback, they are those after the common
        prefix of both.  A fork reports the events since its origin's last call, independently of it.

        Cost: linear in the text for all calls together, and for each call a copy of the text by the engine.

        Raises:
            LimitExceeded, Cancelled: finding the parts of the text was stopped.
            ParseError: parts nest deeper than Python's stack, or a border of parts cuts a code point.
        """
        return [event for event in self._events_with_deltas() if not event.is_delta]

    def _events_with_deltas(self) -> list[Event]:
        """The same, with the parts of texts that are still open."""
        if self._events is None:
            compiled = self._compiled
            form, markers = compiled._reading()
            reading = Reading(compiled.pattern, compiled.limits, None, markers, has_deltas=True)
            self._events = TextEvents(form, reading)
        _, markers = self._compiled._reading()
        if markers is None:
            return self._events.moved(self.text, self.is_finished)
        if self._marked is None:
            self._marked = MarkedText(markers)
        text, plain = self._marked.moved(self.text, self.tokens), self._marked.plain_offset
        moved = self._events.moved(text, self.is_finished)
        return [event.shifted(plain(event.start), plain(event.end)) for event in moved]

    def _start_of(self, name: str) -> int | None:
        """Where a captured part of a sequence begins, in bytes, by the last call for events."""
        start = None if self._events is None else self._events.start_of(name)
        return start if start is None or self._marked is None else self._marked.plain_offset(start)

    def parse(self) -> Any:
        """The value of the text so far, which must be an accepted one.

        That of :meth:`tokamata.Constraint.parse`, and exact also where a text alone does not say where its
        parts end, because control tokens are not in it.  For control tokens within a regular expression or a
        grammar, only the text is read.

        Raises:
            ParseError: the constraint does not accept the text so far.
            LimitExceeded, Cancelled: the work was stopped.
        """
        if not (self.is_accepting or self.is_finished):
            raise ParseError(f"byte {len(self.text)}", f"the text {self.text[-40:]!r} is not complete")
        return self._compiled._parse_tokens(self.text, self.tokens)

    def mask_report(self, *, deadline_seconds: float | None = None) -> MaskReport:
        """What making the mask here takes: makers, segments, nodes, states, and the time of each part.

        A mask that is known takes nothing; so ask before the mask itself.

            print(compiled.matcher().mask_report())

        Raises:
            LimitExceeded, Cancelled: the work was stopped.
        """
        return report_of(self._mask_work(deadline_seconds))

    def explain(self, token: int) -> Explanation:
        """Why ``token`` is refused next: the byte at which it fails, and the bytes that could come there.

        Raises:
            TokenIdError: ``token`` is outside the width of the vocabulary.
            LimitExceeded, Cancelled: the work was stopped.
        """
        verdict, offset, expected, tokens, awaited = self._explain(token)
        rule, vocabulary = RULES[verdict], self._compiled.vocabulary
        names = tuple(map(vocabulary.name, tokens))
        text = vocabulary[token] or b""
        hint = ""
        if rule == "byte":
            refusal = Refusal(self.text + text[: offset + 1], text[offset + 1 :], tuple(awaited))
            hint = self._compiled.constraint._hint_on_refusal(refusal, self._compiled.limits)
        return Explanation(token, rule == "allowed", rule, text, offset, tuple(expected), names, hint)

    def __reduce__(self) -> NoReturn:
        advice = "pickle its .compiled and .tokens and advance a new matcher by these; fork() makes a copy"
        raise PicklingError("a Matcher", advice)

    def _repr_html_(self) -> str:
        """For notebooks: the text so far, and whether it is accepted."""
        state = "✓ accepted" if self.is_accepting else "✗ not complete"
        if self.is_finished:
            state += ", nothing can follow"
        count = len(self.tokens)
        shown = span(self.text.decode(errors="replace"), WRITTEN)
        verdict = span(f"\n{state}", GOOD if self.is_accepting else DIM)
        title = f"Matcher for {clipped(self._compiled.pattern)} · {count:,} token{'s' * (count != 1)}"
        return panel(title, lines([shown, verdict]))

    def __repr__(self) -> str:
        return f"<Matcher for {self._compiled.pattern!r} after {self.text!r}>"
