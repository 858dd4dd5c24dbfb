"""Rewards for TRL's ``GRPOTrainer``: how near each completion is to a text that a constraint accepts.

    from tokamata.integrations.trl import text_reward, token_reward

    trainer = GRPOTrainer(model, reward_funcs=[text_reward(Person)], train_dataset=prompts)

A reward function of TRL is called with keywords: ``prompts``, ``completions``, ``completion_ids``, the other
columns of the data set, and objects of the trainer.  Each list has an item for each completion.  A completion
is a text, or a list of chat messages where the prompts are conversations.  The function returns one number
for each completion; ``None`` excludes a completion from this function.

Source: ``GRPOTrainer._calculate_rewards`` of TRL 1.16.  TRL is not imported: its trainers take any function,
and name it in their logs by ``__name__``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from tokamata.calls.arguments import checked_instance, checked_list, checked_number, checked_threads
from tokamata.constraints.constraint import Constraint
from tokamata.constraints.given import Untyped, constraint_of, means_constraint
from tokamata.errors import ArgumentError, LimitExceeded, shown_argument
from tokamata.matching.matchers import CompiledConstraint
from tokamata.matching.process_rewards import ProcessRewards
from tokamata.repair.costs import EditCosts
from tokamata.repair.default_costs import DEFAULT_COSTS
from tokamata.resources.limits import Limits, checked_limits

__all__ = ["RewardFunction", "text_reward", "token_reward"]

RewardFunction = Callable[..., list[float | None]]
"""Called as ``function(prompts=…, completions=…, **columns)``; ``None`` leaves a completion out."""

_COMPLETIONS = "a list of texts, or of lists of chat messages"


def text_reward(
    constraint: Constraint[Any] | type | Untyped | Callable[[Any], Constraint[Any] | None],
    *,
    column: str | None = None,
    costs: EditCosts = DEFAULT_COSTS,
    deadline_seconds: float = 1.0,
    limits: Limits | None = None,
    threads: int | None = None,
) -> RewardFunction:
    """A function that gives each completion ``constraint.reward`` of its text, from 0 to 1.

    Of a chat, the text is the content of the last message.  Completions are searched on several threads; the
    searches share nothing and release the interpreter's lock.

    Args:
        constraint: of all completions, or a type or a schema that means one; or a function that makes it from
            the value of ``column``, once for each distinct value in a call.  The function may return
            ``None``: such completions are left out.
        column: the column of the data set that the function is called with.  Columns of dictionaries get
            members that are ``None`` from ``datasets``; keep a schema as a text.
        costs, limits: as for :meth:`tokamata.Constraint.repair`.
        deadline_seconds: of each completion.  After it, the reward is the lower bound that is proven; 0
            where the search has no answer yet.
        threads: the largest number of threads; ``None``: one for each processor that this process may use.

    Raises:
        ArgumentError: an argument has another type, or ``column`` and ``constraint`` do not fit together.
    """
    checked_instance("costs", costs, EditCosts)
    limits, count = checked_limits(limits), checked_threads(threads)
    checked_number("deadline_seconds", deadline_seconds, 0)
    if column is None and means_constraint(constraint):
        constraint = constraint_of("constraint", constraint)
    is_made = not isinstance(constraint, Constraint)
    if is_made != (column is not None) or (is_made and not callable(constraint)):
        raise ArgumentError(
            "constraint",
            f"{shown_argument(constraint)} with column={column!r}",
            "a constraint without a column, or a function with one",
        )

    def rewarded(pair: tuple[str, Constraint[Any] | None]) -> float | None:
        text, wanted = pair
        if wanted is None:
            return None
        try:
            return float(wanted.reward(text, costs=costs, deadline_seconds=deadline_seconds, limits=limits))
        except LimitExceeded:  # nothing is proven but that a reward is not below 0
            return 0.0

    def constraint_reward(prompts: Any = None, completions: Any = None, **columns: Any) -> list[float | None]:
        texts = _texts(completions)
        wanted = (
            [constraint] * len(texts) if column is None else _made(constraint, column, columns, len(texts))
        )
        return _mapped(rewarded, list(zip(texts, wanted, strict=True)), count)

    return constraint_reward


def token_reward(compiled: CompiledConstraint[Any]) -> RewardFunction:
    """A function that gives each completion the share of its tokens that a constraint allows, from 0 to 1.

    With *v* tokens before the first refused one, *r* tokens from there on, and *n* tokens that are still
    needed after the *v*, it is ``v / (v + r + n)``: 1 exactly if the whole completion is accepted, with or
    without a stop token at its end.  A completion without tokens has 1 if the empty text is accepted, and
    otherwise 0.

    It needs TRL's ``completion_ids``.  All of a batch is read in one call, without the interpreter's lock.

    Args:
        compiled: the constraint, compiled for the vocabulary of the model.

    Raises:
        ArgumentError: ``compiled`` has another type.
    """
    checked_instance("compiled", compiled, CompiledConstraint)

    def token_share(
        prompts: Any = None, completions: Any = None, completion_ids: Any = None, **columns: Any
    ) -> list[float | None]:
        ids = checked_list("completion_ids", completion_ids, "a list of lists of token ids")
        return [*shares(compiled.process_rewards([list(row) for row in ids]))] if ids else []

    return token_share


def shares(found: ProcessRewards) -> list[float]:
    """The share of allowed tokens of each sequence of a batch."""
    allowed = found.viable.sum(axis=1)
    refused = found.judged.sum(axis=1) - allowed
    last = np.maximum(np.where(found.viable, np.arange(found.viable.shape[1]), -1).max(axis=1, initial=-1), 0)
    at_last = np.take_along_axis(found.needed, last[:, None], axis=1)[:, 0] if found.needed.shape[1] else 0
    needed = np.where(allowed > 0, at_last, found.needed_at_start)
    total = allowed + refused + needed
    return [float(share) for share in np.where(total > 0, allowed / np.maximum(total, 1), 1.0)]


def _mapped(
    function: Callable[[Any], float | None], items: Sequence[Any], threads: int
) -> list[float | None]:
    if threads == 1 or len(items) < 2:
        return [function(item) for item in items]
    with ThreadPoolExecutor(min(threads, len(items))) as pool:
        return list(pool.map(function, items))


def _made(make: Any, column: str, columns: dict[str, Any], count: int) -> list[Constraint[Any] | None]:
    """The constraint of each completion, one for all that have equal values."""
    if column not in columns:
        raise ArgumentError("column", repr(column), f"one of the data set: {', '.join(sorted(columns))}")
    values = checked_list(column, columns[column], "a list with a value for each completion")
    if len(values) != count:
        raise ArgumentError(column, f"a list of {len(values)}", f"a list of {count}, one for each completion")
    known: dict[Any, Constraint[Any] | None] = {}
    made = []
    for value in values:
        key = type(value), repr(value)
        if key not in known:
            known[key] = make(value)
            checked_instance(
                "constraint",
                known[key],
                (Constraint, type(None)),
                "a function that returns a Constraint, or None",
            )
        made.append(known[key])
    return made


def _texts(completions: Any) -> list[str]:
    return [_text(completion) for completion in checked_list("completions", completions, _COMPLETIONS)]


def _text(completion: Any) -> str:
    """The text of a completion; of a chat, the content of its last message, which may be in parts."""
    if isinstance(completion, str):
        return completion
    content: Any = None
    if isinstance(completion, (list, tuple)) and completion and isinstance(completion[-1], dict):
        content = completion[-1].get("content")
        if content is None:  # a call of a tool has none
            return ""
    if isinstance(content, (list, tuple)):
        content = "".join(part.get("text", "") for part in content if isinstance(part, dict))
    checked_instance("completions", content, str, _COMPLETIONS)
    return str(content)
