"""Samples of a model's distribution given a constraint: the call.

A mask that is renormalized at each step does not sample from the model given the constraint: it takes a
prefix that can be continued as if all continuations were accepted.

    the model writes   aa 0.001   ab 0.499   bx 0.5        the constraint accepts   aa and bx
    the model given the constraint                          aa 0.002   bx 0.998
    masks renormalized                                      aa 0.5     bx 0.5

:mod:`.law` says what the target is, :mod:`.walks` and :mod:`.smc` how it is reached.
"""

# transformers has no usable types for models and tokenizers, hence `Any` for the two.

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, overload

from tokamata.calls.arguments import checked_choice, checked_number, checked_whole
from tokamata.calls.keywords import checked_call
from tokamata.constraints.given import Given, Untyped, ValueT, constraint_or_compiled
from tokamata.decoding.logarithms import effective_size, log_mean
from tokamata.decoding.prompts import Prompt, check_single
from tokamata.decoding.results import Timing
from tokamata.decoding.row import Task
from tokamata.decoding.start import Options, check_budget, tasks_of
from tokamata.decoding.unbiased.law import Law
from tokamata.decoding.unbiased.prefix_tree import PrefixTree
from tokamata.decoding.unbiased.results import Method, Sample, Samples
from tokamata.decoding.unbiased.smc import Population
from tokamata.decoding.unbiased.walks import Path, walk
from tokamata.display.progress import late_bar
from tokamata.errors import (
    ArgumentError,
    Cancelled,
    GenerationError,
    LimitExceeded,
    SamplingStopped,
    TokamataError,
)
from tokamata.matching.compositions import Tokenization
from tokamata.matching.matchers import OnNoncanonical
from tokamata.resources.limits import CancelToken, checked_cancel

if TYPE_CHECKING:
    import numpy as np

__all__ = ["sample"]

_METHODS = ("exact", "smc", "local", "asap")
_MOST_SAMPLES = 1_000_001
# Rows of one call.  On a processor, Gemma 3 270M in float32 takes 1.2 times as long for eight rows as for
# one, and ten times as long in bfloat16.  There, a model in half precision reads no choices ahead.
_ROWS_AHEAD = 8
_PASSES_OF_A_TOKEN = 100


@overload
def sample(
    model: Any,
    tokenizer: Any,
    prompt: Prompt,
    constraint: Given[ValueT],
    n: int,
    *,
    method: Method = "exact",
    max_new_tokens: int = 256,
    tokenization: Tokenization = "any",
    on_noncanonical: OnNoncanonical = "error",
    heal: bool | None = None,
    temperature: float = 1.0,
    seed: int | None = None,
    resample_below: float = 0.5,
    max_forward_passes: int | None = None,
    memory_bytes: int = 1 << 28,
    cancel: CancelToken | None = None,
    placeholders: Sequence[str] = (),
) -> Samples[ValueT]: ...
@overload
def sample(
    model: Any,
    tokenizer: Any,
    prompt: Prompt,
    constraint: Untyped,
    n: int,
    *,
    method: Method = "exact",
    max_new_tokens: int = 256,
    tokenization: Tokenization = "any",
    on_noncanonical: OnNoncanonical = "error",
    heal: bool | None = None,
    temperature: float = 1.0,
    seed: int | None = None,
    resample_below: float = 0.5,
    max_forward_passes: int | None = None,
    memory_bytes: int = 1 << 28,
    cancel: CancelToken | None = None,
    placeholders: Sequence[str] = (),
) -> Samples[Any]: ...
@checked_call
def sample(
    model: Any,
    tokenizer: Any,
    prompt: Prompt,
    constraint: Given[Any] | Untyped,
    n: int,
    *,
    method: Method = "exact",
    max_new_tokens: int = 256,
    tokenization: Tokenization = "any",
    on_noncanonical: OnNoncanonical = "error",
    heal: bool | None = None,
    temperature: float = 1.0,
    seed: int | None = None,
    resample_below: float = 0.5,
    max_forward_passes: int | None = None,
    memory_bytes: int = 1 << 28,
    cancel: CancelToken | None = None,
    placeholders: Sequence[str] = (),
) -> Samples[Any]:
    """Sample texts from the model's own distribution, given that the constraint accepts them.

        samples = tk.sample(model, tokenizer, "A date: ", tk.regex(r"\\d{4}-\\d{2}-\\d{2}"), 20)
        for one in samples:
            print(one.text, one.log_probability)

    **The target law.**  A path is a sequence of tokens after the prompt, with the probability that the model
    gives it: the product over its tokens at ``temperature``, over all tokens, without mask, top-k or top-p.
    Paths end with a stop token that the model chose at an accepted text, or at an accepted text that nothing
    can follow; in the latter case the event is that the model writes the text, whatever it would write next.
    The target is this distribution given that the path ends so, and that it has at most ``max_new_tokens``
    tokens together with a stop token (also where it ends without one).  With ``tokenization="canonical"``
    paths are those that the tokenizer itself writes, so the law is also conditional on that; otherwise a text
    may have several paths, and its probability is their sum.  After a healed prompt, the text that was taken
    back is part of the path.

    Args:
        model, tokenizer, prompt: as for :func:`tokamata.generate`; a single prompt.
        constraint: a constraint, compiled or not, or a type or a schema that means one.
        n: how many samples, from 1 to a million.
        method: what is drawn, and what it costs:

            ``"exact"``: independent samples of the target law, by rejection.  What was rejected is
            remembered, so it takes fewer calls of the model the more samples are drawn.  The first sample
            takes many where the model's probability of an accepted text is small.

            ``"smc"``: a population of ``n`` weighted texts that tends to the target law with ``n``, in as
            many calls as the longest text has tokens; with an unbiased estimate of the evidence.

            ``"local"``: masks that are renormalized at each step, as in :func:`tokamata.generate`: biased.
            With their weights, averages tend to those of the target law.

            ``"asap"``: masks weighted by what earlier samples have learned (Park et al., 2024), for
            comparison. Tends to the target law with ``n``; with the weights, averages do so faster.
        max_new_tokens: the budget, a stop token included.
        tokenization, on_noncanonical, heal, placeholders: as for :func:`tokamata.stream`.
        temperature: the divisor of the logits, above 0.  It is part of the target law.
        seed: makes the samples repeatable, on one machine with the same versions; ``None``: a random seed.
        resample_below: for ``"smc"``, the share of ``n`` below which the effective sample size makes the
            population resample, from 0 (never) to 1 (at every step).
        max_forward_passes: the bound on calls of the model; ``None``: a hundred times ``n *
            max_new_tokens``.  A call that would pass it ends the work; the call that reads the prompt may add
            one.
        memory_bytes: the bound on what is kept of the model's probabilities, and on the logits of one call.
        cancel: stops the work from another thread, before the next call of the model.

    Returns:
        The samples, each with its weight, with the number of calls of the model and the evidence.

    Raises:
        SamplingStopped: the bound on calls was reached, or the work was cancelled; or another error occurred
            after the first sample.  It has the samples so far.
        BudgetError: no text fits into the budget.
        GenerationError: the model's logits are no distribution; or the model gives the texts of the
            constraint no probability at all.
        ArgumentError, AlgebraError, ContextError, NoStopTokenError, MaskError, LimitExceeded, and the errors
            of compiling: as for :func:`tokamata.generate`.
    """
    checked_choice("method", method, _METHODS)
    count = checked_whole("n", n, 1, _MOST_SAMPLES)
    given = constraint_or_compiled("constraint", constraint)
    temperature = checked_number("temperature", temperature, 0)
    if not 0 < temperature < float("inf"):
        raise ArgumentError(
            "temperature", str(temperature), "a number above 0", "write generate(…, greedy=True)"
        )
    if seed is not None:
        checked_whole("seed", seed, 0, 1 << 64)
    resample_below = checked_number("resample_below", resample_below, 0, 1)
    if max_forward_passes is not None:
        checked_whole("max_forward_passes", max_forward_passes, 1)
    checked_whole("memory_bytes", memory_bytes, 1, 1 << 63)
    checked_cancel(cancel)
    options = Options(
        max_new_tokens,
        tokenization=tokenization,
        on_noncanonical=on_noncanonical,
        heal=heal,
        placeholders=placeholders,
    )
    check_single(prompt, "call sample for each")
    timing = Timing()
    [task] = tasks_of(model, tokenizer, [prompt], [given], options, timing)
    check_budget(task, count_stop=True)
    law = Law(task, temperature)
    most = max_forward_passes or _PASSES_OF_A_TOKEN * count * options.max_new_tokens
    run = _Run(law, model, method, memory_bytes, _Allowance(most, cancel), timing)
    try:
        with late_bar("sampling", count, lambda: len(run.paths)):
            run.draw(count, seed, resample_below)
    except (_TooManyPasses, Cancelled, GenerationError, LimitExceeded) as error:
        is_bound = isinstance(error, (_TooManyPasses, Cancelled))
        if not (is_bound or run.paths):
            raise
        raise SamplingStopped(str(error), _advice(error, method), run.samples()) from error
    return run.samples()


class _TooManyPasses(TokamataError, RuntimeError):
    """The bound on calls of the model was reached."""


class _Allowance:
    """Whether the model may be called once more."""

    def __init__(self, most: int, cancel: CancelToken | None) -> None:
        self._most, self._cancel = most, cancel

    def __call__(self, calls: int) -> None:
        if self._cancel is not None and self._cancel.cancelled:
            raise Cancelled("the CancelToken was cancelled")
        if calls >= self._most:
            raise _TooManyPasses(f"the model was called {calls:,} times, as often as it may be,")


def _advice(error: Exception, method: Method) -> str:
    if isinstance(error, _TooManyPasses) and method == "exact":
        return (
            'pass a larger max_forward_passes, or method="smc", whose calls are as many as a text has tokens'
        )
    if isinstance(error, _TooManyPasses):
        return "pass a larger max_forward_passes, or a smaller n"
    return "call it again for others" if isinstance(error, Cancelled) else "see the cause of this error"


class _Run:
    """One call of :func:`sample`: what was drawn so far.

    Attributes:
        paths: the samples so far.
    """

    def __init__(
        self, law: Law, model: Any, method: Method, memory_bytes: int, allow: _Allowance, timing: Timing
    ) -> None:
        self._law, self._model, self._method, self._timing = law, model, method, timing
        self._memory_bytes, self._allow = memory_bytes, allow
        self._source: PrefixTree | Population | None = None
        self._evidence: list[float] = []  # the estimate of each attempt
        self.paths: list[Path] = []

    def draw(self, count: int, seed: int | None, resample_below: float) -> None:
        """Draw all samples."""
        import numpy as np

        random = np.random.default_rng(seed)
        if self._method == "smc":
            self._draw_population(count, random, resample_below)
            return
        learns, rejects = self._method != "local", self._method == "exact"
        tree = PrefixTree(
            self._law,
            self._model,
            learns=learns,
            # ASAp learns from the prefixes of its samples alone.
            rows=1 if self._method == "asap" else _rows_ahead(self._model),
            memory_bytes=self._memory_bytes,
            allow=self._allow,
            timing=self._timing,
        )
        self._source = tree
        while len(self.paths) < count:
            bound = tree.root.bound
            path = walk(tree, self._law.stop, random, learns=learns, rejects=rejects)
            if path is None:
                self._evidence.append(-math.inf)
                continue
            self._evidence.append(bound if rejects else path.log_weight)
            if rejects:
                path = Path(path.tokens, path.log_probability, 0.0, path.log_masses)
            self.paths.append(path)

    def _draw_population(self, count: int, random: np.random.Generator, resample_below: float) -> None:
        population = Population(
            self._law, self._model, resample_below, self._memory_bytes, self._allow, self._timing
        )
        self._source = population
        try:
            population.sample(count, random)
        finally:
            self.paths = population.ended
        self._evidence = [path.log_weight for path in self.paths] + [-math.inf] * population.died

    def samples(self) -> Samples[Any]:
        """The samples so far."""
        source = self._source
        reader = source.reader if isinstance(source, PrefixTree) else source
        return Samples(
            tuple(_sample(path, self._law.task, self._law.stop) for path in self.paths),
            self._method,
            0 if reader is None else reader.calls,
            0 if reader is None else reader.positions,
            len(self._evidence) or len(self.paths),
            effective_size([path.log_weight for path in self.paths]),
            log_mean(self._evidence) if self._evidence else math.nan,
            self._timing,
        )


def _rows_ahead(model: Any) -> int:
    """How many rows a call of the model may read."""
    is_slow = str(getattr(model, "device", "")) == "cpu" and getattr(model, "dtype", None) is not None
    return 1 if is_slow and model.dtype.itemsize < 4 else _ROWS_AHEAD


def _sample(path: Path, task: Task[Any], stop: frozenset[int]) -> Sample[Any]:
    """The text of a path."""
    has_stopped = path.tokens[-1] in stop
    tokens = path.tokens[:-1] if has_stopped else path.tokens
    data = b"".join(task.spelling.each(tokens))
    assert task.constraint is not None
    assert task.matcher is not None
    is_own = not task.healed and task.matcher.has_marks
    return Sample(
        data[len(task.healed.encode()) :].decode(),
        tokens,
        path.tokens[-1] if has_stopped else None,
        path.log_probability,
        path.log_weight,
        path.log_masses,
        task.constraint,
        task.matcher.compiled if is_own else None,
    )
