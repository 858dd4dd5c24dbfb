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
change the list any more.  With canonical tokenization a text has one sequence, so no beam may exceed the last
text of the list; otherwise all beams together must not be able to reorder it.

Ties go to fewer tokens, then to the smaller ids.

Cost: a call of the model a token, with as many rows as beams; ``beams * candidates`` steps of the engine.
Memory: the model's cache of as many texts as beams.

Rejected: dividing by the length.  It is there to make long translations compete with short ones; a constraint
says which lengths are right, ``min_new_tokens`` too, and a quotient is no probability: it neither falls from
token to token, so that no search could end early, nor adds up over the token sequences of a text.
Source: 004, listing 4, keeps the best 64 tokens of the masked softmax; ranking and bounds are our own.
"""

# transformers has no usable types for models and tokenizers, hence `Any` for the two.

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tokamata.calls.arguments import checked_whole
from tokamata.calls.keywords import refuses_unknown
from tokamata.constraints.given import Given, ValueT, constraint_or_compiled
from tokamata.decoding.beams.finished import FinishedTexts
from tokamata.decoding.beams.results import Beam, Beams, log_sum
from tokamata.decoding.model import CachedModel
from tokamata.decoding.prefixes import NextTokens, Prefix, PrefixReader
from tokamata.decoding.prompts import Prompt, several_prompts
from tokamata.decoding.results import Clock, Timing
from tokamata.decoding.start import Options, tasks_of
from tokamata.errors import ArgumentError, GenerationError
from tokamata.matching.batches import fill_masks
from tokamata.matching.compositions import Tokenization
from tokamata.matching.masks import allocate_mask
from tokamata.matching.matchers import OnNoncanonical
from tokamata.resources.limits import CancelToken, checked_cancel

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from tokamata.decoding.row import Task
    from tokamata.matching.matchers import Matcher

__all__ = ["beam_search"]

_MOST_BEAMS = 1 << 16


@refuses_unknown
def beam_search(
    model: Any,
    tokenizer: Any,
    prompt: Prompt,
    constraint: Given[ValueT] | dict[str, Any],
    *,
    beams: int = 4,
    candidates: int | None = 64,
    max_new_tokens: int = 256,
    min_new_tokens: int = 0,
    tokenization: Tokenization = "any",
    on_noncanonical: OnNoncanonical = "error",
    heal: bool | None = None,
    placeholders: Sequence[str] = (),
    cancel: CancelToken | None = None,
) -> Beams[ValueT]:
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
        cancel: stops the work between two calls of the model, from another thread.

    Returns:
        At most ``beams`` different texts, the most probable first.

    Raises:
        GenerationError: the model gives every legal text the probability 0, or its logits contain NaN; or as
            for :func:`tokamata.stream`.
        ArgumentError: an argument has another type or is out of range.
        BudgetError, LengthError, EmptyConstraintError, UnspellableError, NoStopTokenError, ContextError,
        NoncanonicalError, UnsupportedTokenizerError, AlgebraError, LimitExceeded, Cancelled: as for
            :func:`tokamata.stream`.
    """
    if several_prompts(prompt) is not None:
        raise ArgumentError("prompt", "a list of prompts", "a single prompt", "call it once for each")
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
    )
    timing = Timing()
    cancel = checked_cancel(cancel)
    [task] = tasks_of(model, tokenizer, [prompt], [given], options, timing)
    search = _Search(task, CachedModel(model), count, most, timing, cancel)
    search.run()
    return search.result()


class _Live(Prefix):
    """A beginning.

    Attributes:
        matcher: at its end.
        text: its bytes, and the ids of control tokens between bytes that no text has: what tells texts apart.
        masked: natural logarithm of its probability under the masks.
        order: its place among the beginnings of a step, by their ids.
    """

    __slots__ = ("masked", "matcher", "order", "text")

    def __init__(
        self,
        parent: _Live | None,
        token: int,
        log_probability: float,
        masked: float,
        matcher: Matcher,
        text: bytes,
    ) -> None:
        super().__init__(parent, token, log_probability)
        self.matcher, self.text, self.masked = matcher, text, masked
        self.order = 0


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
        self._vocabulary = task.vocabulary
        self._reader = PrefixReader(model, task.prompt, task.vocabulary, cancel, goes_back=False)
        self._is_canonical = task.matcher.compiled.tokenization == "canonical"
        self._live = [_Live(None, -1, 0.0, 0.0, task.matcher, b"")]
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
            self._give_up(live.log_probability)

    def _step(self) -> None:
        depth = self._live[0].depth
        with Clock(self._timing, "constraint_seconds"):
            mask = allocate_mask(len(self._live), self._vocabulary.width)
            left = self._task.budget - depth
            fill_masks([live.matcher for live in self._live], mask, budgets=[left] * len(self._live))
        with Clock(self._timing, "model_seconds" if depth else "prompt_seconds"):
            following = self._reader.read(self._live)
        with Clock(self._timing, "constraint_seconds"):
            found = [
                child
                for row, live in enumerate(self._live)
                for child in self._children(live, row, mask[row], following)
            ]
            self._live = self._kept(found)

    def _children(
        self, live: _Live, row: int, mask: npt.NDArray[np.int32], following: NextTokens
    ) -> list[_Live]:
        """The beginnings that continue one, without those that are whole texts: these are finished."""
        import numpy as np

        tokens = np.flatnonzero(np.unpackbits(mask.view(np.uint8), bitorder="little"))
        scores = following.log_probabilities(row, tokens)
        legal = float(np.logaddexp.reduce(scores))
        if legal == -math.inf:  # the model gives nothing that is legal any probability
            return []
        is_stop = np.isin(tokens, list(self._vocabulary.stop))
        for token, score in zip(tokens[is_stop].tolist(), scores[is_stop].tolist(), strict=True):
            end = _Live(
                live,
                token,
                live.log_probability + score,
                live.masked + score - legal,
                live.matcher,
                live.text,
            )
            self._finished.add(end, "stop")
        children = []
        best = self._best(live, tokens[~is_stop], scores[~is_stop])
        for token, score in zip(*best, strict=True):
            matcher = live.matcher.fork()
            matcher.advance(token)
            data = self._vocabulary[token]
            text = live.text + (b"\xff%d\xff" % token if data is None else data)
            child = _Live(
                live, token, live.log_probability + score, live.masked + score - legal, matcher, text
            )
            if matcher.is_finished:
                self._finished.add(child, "complete")
            elif child.depth == self._task.budget:
                self._finished.add(child, "length")
            else:
                children.append(child)
        return children

    def _best(
        self, live: _Live, tokens: npt.NDArray[np.intp], scores: npt.NDArray[np.float64]
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
            self._give_up(live.log_probability + float(np.logaddexp.reduce(others)))
            tokens, scores = tokens[kept], scores[kept]
        return tokens.tolist(), scores.tolist()

    def _kept(self, found: list[_Live]) -> list[_Live]:
        """The beginnings that get a place; first the best of each text, by the sums of the texts."""
        found.sort(key=_by_ids)
        found.sort(key=_by_probability, reverse=True)  # stable
        sums: dict[bytes, float] = {}
        for each in found:
            sums[each.text] = log_sum(sums.get(each.text, -math.inf), each.log_probability)
        seen: set[bytes] = set()
        first: list[_Live] = []
        again: list[_Live] = []
        for each in found:
            (again if each.text in seen else first).append(each)
            seen.add(each.text)
        first.sort(key=lambda each: sums[each.text], reverse=True)
        kept = [*first, *again][: self._beams]
        for each in [*first, *again][self._beams :]:
            self._give_up(each.log_probability)
        for order, each in enumerate(sorted(kept, key=_by_ids)):
            each.order = order
        return kept

    def _give_up(self, log_mass: float) -> None:
        self._unexplored = log_sum(self._unexplored, log_mass)

    def _is_settled(self) -> bool:
        """Whether what the beams carry cannot change the list of texts, or their order."""
        scores = self._finished.scores(self._beams + 1)
        if len(scores) < self._beams:
            return False
        if self._is_canonical:  # a beam is another text than all that are finished; at a tie it is longer
            return scores[self._beams - 1] >= max(live.log_probability for live in self._live)
        carried = -math.inf
        for live in self._live:
            carried = log_sum(carried, live.log_probability)
        following = [*scores[1:], -math.inf][: self._beams]
        pairs = zip(scores[: self._beams], following, strict=True)
        return all(score > log_sum(after, carried) for score, after in pairs)

    def result(self) -> Beams[Any]:
        """The list.

        Raises:
            GenerationError: it is empty.
        """
        best = self._finished.best(self._beams + 1)
        self._give_up(self._finished.log_dropped)
        if not best:
            raise GenerationError(
                "the model gives every legal text the probability 0; check the prompt and the model, or ask "
                "for other texts"
            )
        after = best[self._beams].log_probability if len(best) > self._beams else -math.inf
        healed = len(self._task.healed.encode())
        beams: list[Beam[Any]] = []
        for text in best[: self._beams]:
            end = text.best
            tokens = end.tokens()
            stop = tokens.pop() if text.reason == "stop" else None
            matcher = end.matcher
            data = b"".join(self._vocabulary[token] or b"" for token in tokens)
            beams.append(
                Beam(
                    data[healed:].decode("utf-8", "replace"),
                    tokens,
                    stop,
                    end.masked,
                    text.reason,
                    self._task.prompt,
                    self._task.healed,
                    0,
                    self._timing,
                    self._task.constraint,
                    _matched=matcher.compiled if matcher.has_marks and not self._task.healed else None,
                    model_log_probability=text.log_probability,
                    sequences=text.sequences,
                )
            )
        return Beams(beams, self._unexplored, after, self._reader.calls)


def _by_ids(live: _Live) -> tuple[int, int]:
    assert isinstance(live.parent, _Live)
    return live.parent.order, live.token


def _by_probability(live: _Live) -> float:
    return live.log_probability
