"""The probabilities that a model gives to the values of a constraint.

    answer = tk.probabilities(model, tokenizer, "Is it raining? ", tk.choice(["yes", "no"]))
    answer.best                   # "yes"
    answer["yes"].estimate        # 0.93
    answer.legal_mass.estimate    # 0.81: the model would have written something else with 0.19

No text is drawn.  The list of values comes from the automaton (:mod:`.finite_texts`), their token sequences
from the masks (:mod:`.spelling_graph`), and their sums from a search that knows how far it is
(:mod:`.closing`).
"""

# transformers has no usable types for models and tokenizers, hence `Any` for the two.

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, overload

from tokamata.calls.arguments import (
    checked_choice,
    checked_number,
    checked_whole,
    clipped,
)
from tokamata.calls.keywords import checked_call
from tokamata.constraints.given import Given, Untyped, ValueT, constraint_and_limits, constraint_or_compiled
from tokamata.decoding.model import CachedModel
from tokamata.decoding.prefixes import PrefixReader
from tokamata.decoding.prompts import Prompt, check_single
from tokamata.decoding.results import Timing
from tokamata.decoding.start import Options, tasks_of
from tokamata.decoding.value_probabilities.closing import Closing, Texts
from tokamata.decoding.value_probabilities.finite_texts import finite_texts
from tokamata.decoding.value_probabilities.results import Probability, ValueProbabilities, key_of_value
from tokamata.decoding.value_probabilities.spelling_graph import SpellingGraph
from tokamata.errors import AlgebraError
from tokamata.matching.compositions import Tokenization
from tokamata.matching.matchers import OnNoncanonical
from tokamata.resources.limits import CancelToken, Watch, checked_cancel

if TYPE_CHECKING:
    from collections.abc import Hashable

__all__ = ["End", "probabilities"]

End = Literal["complete", "stop"]

_BOUND = 1e-3
_MOST_TEXTS = 1 << 20
_MOST_BATCH = 1 << 16
_MOST_TOKENS = 1 << 30  # of a text: there are no longer ones in a finite language that can be listed


@overload
def probabilities(
    model: Any,
    tokenizer: Any,
    prompt: Prompt,
    constraint: Given[ValueT],
    *,
    bound: float | None = None,
    max_forward_passes: int = 1000,
    end: End = "complete",
    tokenization: Tokenization = "any",
    on_noncanonical: OnNoncanonical = "error",
    heal: bool | None = None,
    batch_size: int = 16,
    max_texts: int = 20_000,
    placeholders: Sequence[str] = (),
    cancel: CancelToken | None = None,
) -> ValueProbabilities[ValueT]: ...
@overload
def probabilities(
    model: Any,
    tokenizer: Any,
    prompt: Prompt,
    constraint: Untyped,
    *,
    bound: float | None = None,
    max_forward_passes: int = 1000,
    end: End = "complete",
    tokenization: Tokenization = "any",
    on_noncanonical: OnNoncanonical = "error",
    heal: bool | None = None,
    batch_size: int = 16,
    max_texts: int = 20_000,
    placeholders: Sequence[str] = (),
    cancel: CancelToken | None = None,
) -> ValueProbabilities[Any]: ...
@checked_call
def probabilities(
    model: Any,
    tokenizer: Any,
    prompt: Prompt,
    constraint: Given[Any] | Untyped,
    *,
    bound: float | None = None,
    max_forward_passes: int = 1000,
    end: End = "complete",
    tokenization: Tokenization = "any",
    on_noncanonical: OnNoncanonical = "error",
    heal: bool | None = None,
    batch_size: int = 16,
    max_texts: int = 20_000,
    placeholders: Sequence[str] = (),
    cancel: CancelToken | None = None,
) -> ValueProbabilities[Any]:
    """How a model distributes its probability over the values of a constraint with finitely many texts.

        tk.probabilities(model, tokenizer, "2 + 2 = ", tk.type(Annotated[int, Ge(0), Le(9)]))

    The probability of a value is that of its texts, given that the model writes a text of the constraint:
    what is left when all other texts of the model are thrown away.  It is taken at temperature 1.  The
    frequency of a value in ``tk.generate`` is another number, since masks renormalize at each token: there a
    beginning that leads to nothing the model wants keeps all of its probability.

    A text has several token sequences.  With ``tokenization="canonical"`` only that of the tokenizer counts,
    and the result is exact except for rounding.  With ``"any"`` all of them count.  Their number grows
    exponentially with the text, while most carry nearly nothing: the result is an interval for each value,
    which surely contains its probability.  Nothing is sampled.

    Args:
        model, tokenizer, prompt: as for :func:`tokamata.stream`; a single prompt.
        constraint: one with finitely many texts: :func:`tokamata.choice`, an ``Enum``, ``bool``, a
            ``Literal`` or a bounded ``int``, a regular expression without loops.
            Several texts may stand for one value.  JSON's ``spelling="natural"`` gives strings and numbers
            very many texts: pass ``spelling="plain"``, and ``whitespace="compact"`` for objects and arrays.
        bound: the largest width of the interval of a value; 0 reads everything.  ``None``: 0 with canonical
            tokenization, 0.001 otherwise.
        max_forward_passes: how often the model may be called.  After these the intervals are returned as they
            are; ``result.is_within_bound`` says whether that sufficed.
        end: what ends a text.  ``"complete"``, as in ``tk.generate``: a text that can go on needs a stop
            token, and one that nothing can follow needs none.  Of ``["yes", "no"]`` neither needs one, so
            whatever the model would write next makes no difference; of ``["1", "12"]`` the first does.
            ``"stop"``: every text needs a stop token.  All stop tokens of the vocabulary count.
        tokenization, on_noncanonical, placeholders: as for :func:`tokamata.stream`.
        heal: as for :func:`tokamata.stream`; the probabilities of a healed prompt are those after the prompt
            without its last token, of the text of this token followed by that of the value.
        batch_size: how many token sequences the model reads together, at most.  Its cache holds so many
            copies of the prompt.
        max_texts: how many texts the constraint may have.
        cancel: stops the work, from another thread.

    Returns:
        A mapping from values to :class:`.Probability`, the most probable first, with the legal mass.

    Cost: the model reads the prompt once, and then in batches each token sequence that is not a whole text.
    With canonical tokenization and 10,000 words these are some thousand; ``bound=0.001`` reads those that
    matter.

    Raises:
        TooManyTextsError: the constraint has more than ``max_texts`` texts, or infinitely many.
        GenerationError: the model gives every text the probability 0, or its logits contain NaN; or as for
            :func:`tokamata.stream`.
        AlgebraError: a text of the constraint needs tokens (control tokens, token edges); or ``heal`` with a
            compiled constraint.
        ParseError: a text of the constraint has no value, since a validator in Python refuses it.
        ArgumentError: an argument has another type or is out of range.
        EmptyConstraintError, UnspellableError, NoStopTokenError, ContextError, NoncanonicalError,
        UnsupportedTokenizerError, LimitExceeded, Cancelled: as for :func:`tokamata.stream`.
    """
    check_single(prompt, "call it once for each")
    given = constraint_or_compiled("constraint", constraint)
    if bound is not None:
        bound = checked_number("bound", bound, 0.0, 1.0)
    passes = checked_whole("max_forward_passes", max_forward_passes, 1, 1 << 62)
    checked_choice("end", end, ("complete", "stop"))
    batch = checked_whole("batch_size", batch_size, 1, _MOST_BATCH)
    most = checked_whole("max_texts", max_texts, 1, _MOST_TEXTS)
    options = Options(
        _MOST_TOKENS,
        tokenization=tokenization,
        on_noncanonical=on_noncanonical,
        heal=heal,
        placeholders=placeholders,
    )
    cancel = checked_cancel(cancel)
    plain, limits = constraint_and_limits(given)
    watch = Watch(limits, cancel)
    listed = finite_texts(plain, most, watch)
    [task] = tasks_of(model, tokenizer, [prompt], [given], options, Timing())
    assert task.matcher is not None, "there is a constraint"
    if task.matcher.compiled._composed.control:
        raise AlgebraError(
            f"control tokens may stand in texts of {clipped(repr(plain), 200)}, and their values have no "
            "probabilities yet; ask for the text between them"
        )
    values: list[Any] = []
    texts_of: list[list[str]] = []
    numbers: dict[bytes, int] = {}
    known: dict[Hashable, int] = {}
    for data in listed:  # shorter texts come first, and with them the order of values
        value = plain.parse(data, limits=limits, cancel=cancel)
        number = known.setdefault(key_of_value(value), len(values))
        if number == len(values):
            values.append(value)
            texts_of.append([])
        texts_of[number].append(data.decode())
        numbers[task.healed.encode() + data] = number
    is_canonical = task.matcher.compiled.tokenization == "canonical"
    if bound is None:
        bound = 0.0 if is_canonical else _BOUND
    reader = PrefixReader(CachedModel(model), task.prompt, task.vocabulary, cancel)
    graph = SpellingGraph(task.matcher, task.spelling, watch)
    closing = Closing(graph, Texts(numbers), reader, end == "stop", batch, watch)
    closing.run(bound, passes)
    return _result(values, texts_of, closing, reader, float(bound))


def _result(
    values: list[ValueT], texts: list[list[str]], closing: Closing, reader: PrefixReader, bound: float
) -> ValueProbabilities[ValueT]:
    import numpy as np

    lower, upper = closing.bounds
    log_closed, log_every = closing.log_mass
    if log_closed > -math.inf:
        logs = closing.log_closed - log_closed
        estimates = np.exp(logs)
    else:  # nothing was closed
        estimates = upper / upper.sum()
        with np.errstate(divide="ignore"):
            logs = np.log(estimates)
    # Rounding may have put an estimate an ulp outside of its interval.
    lower, upper = np.minimum(lower, estimates), np.maximum(upper, estimates)
    found = [
        Probability(*numbers)
        for numbers in zip(lower.tolist(), upper.tolist(), estimates.tolist(), logs.tolist(), strict=True)
    ]
    order = sorted(range(len(values)), key=lambda number: (-logs[number], number))
    mass = math.exp(min(log_closed, 0.0))
    legal = Probability(mass, max(mass, math.exp(min(log_every, 0.0))), mass, log_closed)
    return ValueProbabilities(
        [values[number] for number in order],
        [found[number] for number in order],
        [tuple(texts[number]) for number in order],
        legal,
        reader.calls,
        reader.prefixes,
        closing.is_complete,
        bound,
    )
