"""Constrained beam search: the texts of a constraint that a model finds most probable.

Problem.  Greedy decoding takes the most probable token at each step and may end in a text that the model
finds improbable.  Beam search keeps several beginnings.  Under masks, three things go wrong in the usual one:

- Scores are renormalized under the mask, so a beginning that the model would never write scores as well as a
  likely one, once it is the only legal one.  Here texts are ranked by the model's own probability, unmasked.
- Two token sequences of one text take two places.  Here their probabilities add up, and of the places the
  second sequence of a text gets one only if no other text wants it.
- Nothing says whether a better text was lost.  Here the mass of everything that is given up is added up.

Example, with 2 beams and the model's probabilities::

    "a" .6   "b" .3   "c" .1        kept a, b; given up .1
    "ab" .2  "aa" .1  "ba" .28      kept ba, ab; given up .1 + .1

No text except those that begin with "ba" and "ab" has more than .2.  If "ba" ends with .25, it is the most
probable text, whatever was given up.

Step: masks of all beams within the budget, one call of the model, the best ``candidates`` tokens of each
beam, and a matcher for each of these, which ``fork`` makes in constant time; nothing is replayed.  A text
that is complete takes no place.  Probabilities only fall, so the search ends when what the beams carry cannot
change the list any more.  With canonical tokenization a text has one sequence, so each beam must be below the
last text of the list; otherwise all beams together must not be able to reorder it.

Ties go to fewer tokens, then to the smaller ids (shortlex): for a place among the beams, for the best
sequence of a text, and in the list.

With a policy, a beginning that no token of the model continues takes a detour
(:mod:`tokamata.decoding.beams.backoff`), which has several tokens at once.  The model reads equally many
tokens of all beams, so that beginning keeps its place and waits until the others are as long::

    level 3      "ab" .2     "b" "y" "t" .1 (a detour)     both read their third token
    level 4      "aba" .1    "b" "y" "t" .1                 the first one alone has gone on

What a beginning carries when it leaves the model's tokens is given up: the probability of a detour's bytes is
an estimate, which ranks the text but proves nothing.  So bounds stay true.

Cost: a call of the model a token, with as many rows as beams; ``beams * candidates`` steps of the engine.
Memory: the model's cache of as many texts as beams.

Rejected: dividing by the length.  It is there to make long translations compete with short ones; a constraint
says which lengths are right, ``min_new_tokens`` too, and a quotient is no probability: it neither falls from
token to token, so that no search could end early, nor adds up over the token sequences of a text.
Rejected: a bias of logits.  A finite one would change the probabilities that texts are ranked by, so that
they are no longer the model's own; one of minus infinity is a banned token.
Source: 004, listing 4, keeps the best 64 tokens of the masked softmax, and prunes in shortlex order; ranking
and bounds are our own.
"""

# transformers has no usable types for models and tokenizers, hence `Any` for the two.

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypedDict, overload

from tokamata.calls.arguments import checked_whole
from tokamata.calls.keywords import checked_call
from tokamata.constraints.given import Given, Untyped, ValueT, constraint_or_compiled
from tokamata.decoding.beams.backoff import Backoff
from tokamata.decoding.beams.beginnings import Beginning, spelled
from tokamata.decoding.beams.finished import FinishedText, FinishedTexts
from tokamata.decoding.beams.masks import BeamMasks, Following
from tokamata.decoding.beams.results import Beam, Beams
from tokamata.decoding.logarithms import log_add, log_sum
from tokamata.decoding.model import CachedModel
from tokamata.decoding.prefixes import NextTokens, PrefixReader
from tokamata.decoding.prompts import Prompt, check_single
from tokamata.decoding.results import REASONS, Abstention, Cause, Clock, Timing
from tokamata.decoding.start import Options, tasks_of
from tokamata.errors import LimitExceeded
from tokamata.matching.compositions import Tokenization
from tokamata.matching.matchers import OnNoncanonical
from tokamata.resources.limits import CancelToken, checked_cancel

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    from typing_extensions import Unpack

    from tokamata.decoding.policy import Policy
    from tokamata.decoding.row import Task

__all__ = ["beam_search"]

_MOST_BEAMS = 1 << 16
_NO_PROBABILITY = "the model gives every legal text that goes on there the probability 0"


class _Settings(TypedDict, total=False):
    """The settings of :func:`beam_search` but for the policy, for its overloads."""

    beams: int
    candidates: int | None
    max_new_tokens: int
    min_new_tokens: int
    tokenization: Tokenization
    on_noncanonical: OnNoncanonical
    heal: bool | None
    placeholders: Sequence[str]
    banned_tokens: Sequence[int]
    cancel: CancelToken | None


@overload
def beam_search(
    model: Any,
    tokenizer: Any,
    prompt: Prompt,
    constraint: Given[ValueT],
    *,
    policy: None = None,
    **settings: Unpack[_Settings],
) -> Beams[ValueT]: ...
@overload
def beam_search(
    model: Any,
    tokenizer: Any,
    prompt: Prompt,
    constraint: Given[ValueT],
    *,
    policy: Policy | None,
    **settings: Unpack[_Settings],
) -> Beams[ValueT] | Abstention: ...
@overload
def beam_search(
    model: Any,
    tokenizer: Any,
    prompt: Prompt,
    constraint: Untyped,
    *,
    policy: None = None,
    **settings: Unpack[_Settings],
) -> Beams[Any]: ...
@overload
def beam_search(
    model: Any,
    tokenizer: Any,
    prompt: Prompt,
    constraint: Untyped,
    *,
    policy: Policy | None,
    **settings: Unpack[_Settings],
) -> Beams[Any] | Abstention: ...
@checked_call
def beam_search(
    model: Any,
    tokenizer: Any,
    prompt: Prompt,
    constraint: Given[Any] | Untyped,
    *,
    beams: int = 4,
    candidates: int | None = 64,
    max_new_tokens: int = 256,
    min_new_tokens: int = 0,
    tokenization: Tokenization = "any",
    on_noncanonical: OnNoncanonical = "error",
    heal: bool | None = None,
    placeholders: Sequence[str] = (),
    banned_tokens: Sequence[int] = (),
    policy: Policy | None = None,
    cancel: CancelToken | None = None,
) -> Beams[Any] | Abstention:
    """The texts of a constraint that the model finds most probable, as far as a beam search finds them.

        best = tk.beam_search(model, tokenizer, "Bonjour means ", tk.regex("[a-z]{3,8}"))[0]
        best.text, best.model_log_probability, best.parse()

    Texts are ranked by the model's own probability, unmasked and at temperature 1.  It is not divided by the
    length.  The result says how much probability the search has given up, so that
    ``result.is_best_certain`` can be a proof.

    Args:
        model, tokenizer, prompt: as for :func:`tokamata.stream`; a single prompt.
        constraint: a constraint, compiled or not, or a type or a schema that means one.
        beams: how many beginnings are kept at each step, and how many texts are returned at most.
        candidates: how many tokens of each beam are considered at a step, the most probable of the legal
            ones; ``None``: all of them.  Stop tokens are always considered.
        max_new_tokens, min_new_tokens: as for :func:`tokamata.stream`: no beam is cut off.
        tokenization, on_noncanonical, heal, placeholders: as for :func:`tokamata.stream`.  With ``"any"``,
            the probabilities of all token sequences that are found to spell a text add up.
        banned_tokens: as for :func:`tokamata.stream`; no text has them.  Probabilities are still those of the
            model with these tokens.  There is no ``logit_bias``: texts are ranked by the model's own
            probability, which a bias would change.
        policy: what to do with a beginning that no token of the model continues; see
            :mod:`tokamata.decoding.beams.backoff`.  ``None``: where the model gives all legal tokens the
            probability 0, or all of them are banned, the beginning is dropped, since no text follows; where
            logits are NaN, an error is raised.  A policy's settings of repairs and deadlines say nothing
            here, but ``repair=False`` closes no beginning.
        cancel: stops the work between two calls of the model, from another thread.

    Returns:
        At most ``beams`` different texts, the most probable first.  With a policy, an :class:`Abstention`
        where no text was found; it tells of the most probable beginning.

    Raises:
        NoTokenError: there is no policy, and the model gives every legal text the probability 0, or all have
            banned tokens, or its logits contain NaN or plus infinity.
        GenerationError, TokenIdError: as for :func:`tokamata.stream`.
        ArgumentError: an argument has another type or is out of range.
        BudgetError, LengthError, EmptyConstraintError, UnspellableError, NoStopTokenError, ContextError,
        NoncanonicalError, UnsupportedTokenizerError, AlgebraError, LimitExceeded, Cancelled: as for
            :func:`tokamata.stream`.
    """
    check_single(prompt, "call it once for each")
    given = constraint_or_compiled("constraint", constraint)
    count = checked_whole("beams", beams, 1, _MOST_BEAMS)
    most = None if candidates is None else checked_whole("candidates", candidates, 1, 1 << 62)
    options = Options(
        max_new_tokens,
        min_new_tokens,
        tokenization,
        on_noncanonical,
        heal=heal,
        placeholders=placeholders,
        banned_tokens=banned_tokens,
        policy=policy,
    )
    timing = Timing()
    cancel = checked_cancel(cancel)
    [task] = tasks_of(model, tokenizer, [prompt], [given], options, timing)
    search = _Search(task, CachedModel(model), count, most, timing, cancel)
    search.run()
    return search.result()


class _Search:
    """The search for the texts of one prompt."""

    def __init__(
        self,
        task: Task[Any],
        model: CachedModel,
        beams: int,
        candidates: int | None,
        timing: Timing,
        cancel: CancelToken | None,
    ) -> None:
        assert task.matcher is not None, "there is a constraint"
        self._task, self._beams, self._candidates, self._timing = task, beams, candidates, timing
        self._vocabulary, self._has_policy = task.vocabulary, task.recovery.policy is not None
        self._reader = PrefixReader(model, task.prompt, task.vocabulary, cancel, goes_back=False)
        self._masks, self._backoff = BeamMasks(task), Backoff(task, beams, timing)
        self._is_canonical = task.matcher.compiled.tokenization == "canonical"
        self._live = [Beginning(None, -1, 0.0, 0.0, task.matcher, b"")]
        self._finished = FinishedTexts(beams)
        self._unexplored = -math.inf
        if task.matcher.is_finished:
            self._finished.add(self._live[0], "complete")
            self._live = []

    def run(self) -> None:
        """Steps until nothing can change the list."""
        while self._live and not self._is_settled():
            self._step()
        for live in self._live:
            self._give_up(live, live.log_probability)

    def _step(self) -> None:
        level = min(live.depth for live in self._live)
        ready = [live for live in self._live if live.depth == level]
        with Clock(self._timing, "constraint_seconds"):
            following = iter(self._masks.of(ready, self._task.budget - level))
        with Clock(self._timing, "model_seconds" if level else "prompt_seconds"):
            read = self._reader.read([live.cut(level) for live in self._live])
        found = []
        for row, live in enumerate(self._live):
            if live.depth > level:  # the model has read a part of its detour
                found.append(live)
            else:
                found += self._continued(live, next(following), read, row)
        with Clock(self._timing, "constraint_seconds"):
            self._live = self._kept(found, level)

    def _continued(
        self, live: Beginning, following: Following | None, read: NextTokens, row: int
    ) -> list[Beginning]:
        """The beginnings that continue one, without those that are whole texts: these are finished.

        Raises:
            NoTokenError: there is no policy, and the row has no probabilities.
        """
        if following is None:
            return self._without_tokens(live, "limits", REASONS["limits"], read.logits[row])
        fault = read.fault(row)
        if fault is None:
            with Clock(self._timing, "constraint_seconds"):
                scores = read.log_probabilities(row, following.tokens)
                if scores.max(initial=-math.inf) > -math.inf:
                    return self._drawn(live, following, scores)
        if len(following.tokens) > 0:
            if fault is not None and not self._has_policy:
                raise self._backoff.error(live, "logits", fault)
            return self._without_tokens(live, "logits", fault or _NO_PROBABILITY, read.logits[row])
        if live.matcher.is_accepting:
            self._finished.add(live, "length")  # only a stop token could follow, and it is banned
            return []
        return self._without_tokens(live, "banned", REASONS["banned"], read.logits[row])

    def _drawn(
        self, live: Beginning, following: Following, scores: npt.NDArray[np.float64]
    ) -> list[Beginning]:
        """The beginnings with one more token of the model."""
        import numpy as np

        tokens, scores = self._with_room(live, following, scores)
        legal = log_sum(scores)
        is_stop = np.isin(tokens, list(self._vocabulary.stop))
        for token, score in zip(tokens[is_stop].tolist(), scores[is_stop].tolist(), strict=True):
            end = live.drawn(token, score, score - legal, live.matcher, b"")
            self._finished.add(end, "stop")
        children = []
        best = self._best(live, tokens[~is_stop], scores[~is_stop])
        for token, score in zip(*best, strict=True):
            matcher = live.matcher.fork()
            try:
                matcher.advance(token)
            except LimitExceeded:
                if not self._has_policy:
                    raise
                self._give_up(live, live.log_probability + score)
                self._backoff.drop(live, "limits", REASONS["limits"])
                continue
            added = spelled(self._task.spelling, token, live.depth == 0)
            children += self._placed(live.drawn(token, score, score - legal, matcher, added))
        return children

    def _with_room(
        self, live: Beginning, following: Following, scores: npt.NDArray[np.float64]
    ) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.float64]]:
        """The tokens after which a detour fits, if the model gives them a probability; else all of them."""
        import numpy as np

        if following.with_room is None:
            return following.tokens, scores
        has_room = np.isin(following.tokens, following.with_room)
        if scores[has_room].max(initial=-math.inf) == -math.inf:
            return following.tokens, scores
        self._give_up(live, live.log_probability + log_sum(scores[~has_room]))
        return following.tokens[has_room], scores[has_room]

    def _placed(self, child: Beginning) -> list[Beginning]:
        """The beginning, unless it is a whole text: then it is finished."""
        if child.matcher.is_finished:
            self._finished.add(child, "complete")
        elif child.depth == self._task.budget:
            self._finished.add(child, "length")
        else:
            return [child]
        return []

    def _without_tokens(
        self, live: Beginning, cause: Cause, reason: str, logits: npt.NDArray[np.floating]
    ) -> list[Beginning]:
        """The beginning after a detour, unless it is a whole text; it is dropped if there is none."""
        found = None
        if self._has_policy:
            self._give_up(live, live.log_probability)  # the model says nothing of what follows
            found = None if cause == "limits" else self._backoff.detour(live, cause, logits)
        if found is None:
            self._backoff.drop(live, cause, reason)
            return []
        longer, is_whole = found
        if is_whole:
            self._finished.add(longer, "policy")
            return []
        return self._placed(longer)

    def _best(
        self, live: Beginning, tokens: npt.NDArray[np.intp], scores: npt.NDArray[np.float64]
    ) -> tuple[list[int], list[float]]:
        """The most probable tokens, smaller ids first among equals; the others are given up."""
        import numpy as np

        possible = scores > -math.inf
        tokens, scores = tokens[possible], scores[possible]
        if self._candidates is not None and len(tokens) > self._candidates:
            least = np.partition(scores, -self._candidates)[-self._candidates]
            near = np.flatnonzero(scores >= least)
            kept = near[np.argsort(-scores[near], kind="stable")][: self._candidates]
            others = np.delete(scores, kept)
            self._give_up(live, live.log_probability + log_sum(others))
            tokens, scores = tokens[kept], scores[kept]
        return tokens.tolist(), scores.tolist()

    def _kept(self, found: list[Beginning], level: int) -> list[Beginning]:
        """The beginnings that get a place; first the best of each text, by the sums of the texts.

        Args:
            found: all of them.
            level: how many tokens the model has read.
        """
        found.sort(key=lambda each: (-each.log_probability, each.depth, each.order, each.tokens(level)))
        sums: dict[bytes, float] = {}
        for each in found:
            sums[each.text] = log_add(sums.get(each.text, -math.inf), each.log_probability)
        seen: set[bytes] = set()
        first: list[Beginning] = []
        again: list[Beginning] = []
        for each in found:
            (again if each.text in seen else first).append(each)
            seen.add(each.text)
        first.sort(key=lambda each: sums[each.text], reverse=True)
        kept = [*first, *again][: self._beams]
        for each in [*first, *again][self._beams :]:
            self._give_up(each, each.log_probability)
        reach = min((each.depth for each in kept), default=level) - level
        by_ids = sorted(kept, key=lambda each: (each.order, each.tokens(level)[:reach]))
        for order, each in enumerate(by_ids):
            each.order = order
        return kept

    def _give_up(self, beginning: Beginning, log_mass: float) -> None:
        """Counts what is lost of a beginning; all that follows a detour was given up where that began."""
        if beginning.is_drawn:
            self._unexplored = log_add(self._unexplored, log_mass)

    def _is_settled(self) -> bool:
        """Whether what the beams carry cannot change the list of texts, or their order."""
        scores = self._finished.scores(self._beams + 1)
        if len(scores) < self._beams:
            return False
        if self._is_canonical:  # but for detours, a beam is another text than all that are finished
            return scores[self._beams - 1] > max(live.log_probability for live in self._live)
        carried = -math.inf
        for live in self._live:
            carried = log_add(carried, live.log_probability)
        following = [*scores[1:], -math.inf][: self._beams]
        pairs = zip(scores[: self._beams], following, strict=True)
        return all(score > log_add(after, carried) for score, after in pairs)

    def result(self) -> Beams[Any] | Abstention:
        """The list; with a policy, an abstention in place of an empty one.

        Raises:
            NoTokenError: there is no policy, and it is empty.
        """
        best = self._finished.best(self._beams + 1)
        unexplored = log_add(self._unexplored, self._finished.log_dropped)
        if not best:
            closed = self._backoff.closed()
            if closed is None:
                return self._backoff.abstention()
            self._finished.add(closed, "policy")
            best = self._finished.best(1)
        after = best[self._beams].log_probability if len(best) > self._beams else -math.inf
        beams = [self._beam(text) for text in best[: self._beams]]
        return Beams(beams, unexplored, after, best[0].is_drawn, self._reader.calls)

    def _beam(self, text: FinishedText) -> Beam[Any]:
        end, task = text.best, self._task
        tokens = end.tokens()
        stop = tokens.pop() if text.reason == "stop" else None
        data = b"".join(task.spelling.each(tokens))
        is_matched = end.matcher.has_marks and not task.healed
        return Beam(
            data[len(task.healed.encode()) :].decode("utf-8", "replace"),
            tokens,
            stop,
            end.masked,
            text.reason,
            task.prompt,
            task.healed,
            0,
            self._timing,
            task.constraint,
            switches=end.switches,
            _matched=end.matcher.compiled if is_matched else None,
            model_log_probability=text.log_probability,
            sequences=text.sequences,
        )
