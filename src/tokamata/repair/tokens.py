"""Repairs of token sequences: the nearest sequence that a compiled constraint accepts.

Problem.  A text is repaired by edits of bytes.  A sequence of tokens, as a trainer or a canonical constraint
has it, is repaired by edits of tokens: there its tokenization counts too.
Example.  ``(ab)+`` with the tokens ``a``, ``b``, ``ab``: the nearest sequence to ``a a b`` is ``a b``; one
token is removed.

How.  ``core/repair/token_search.hpp`` searches positions and states.  The states are those of the closed
form, the whole automaton over tokens, which is made for the first repair and kept.  Constraints with rules
have no closed form: their states hold a stack, or all that the text has written.

The certificate checks a bound by Wagner's table, which shares nothing with the search but the automaton.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple

import tokamata._core as _core
from tokamata.arguments import checked_number, checked_whole
from tokamata.limits import CancelToken, Limits, checked_cancel, checked_limits, core_limits

__all__ = ["TokenCertificate", "TokenCosts", "TokenEdit", "TokenRepair", "nearest"]

_MOST = 1_000_000_000
_LEAST_SECONDS = 0.001  # a deadline of 0 leaves time for a first answer


@dataclass(frozen=True)
class TokenCosts:
    """The costs of edits of tokens: whole numbers from 0.

    Attributes:
        insert: of a token written.
        remove: of a token of the sequence.
        replace: of a token written in place of another one; ``None``: this edit is not made.

    Raises:
        ArgumentError: a cost is no whole number from 0 to 1,000,000,000.
    """

    insert: int = 1
    remove: int = 1
    replace: int | None = 1

    def __post_init__(self) -> None:
        for name in ("insert", "remove", "replace"):
            if name != "replace" or self.replace is not None:
                checked_whole(f"TokenCosts.{name}", getattr(self, name), 0, _MOST + 1)

    def of(self, name: str) -> int | None:
        """The cost of an edit by its name; ``None``: it is not made."""
        return {"insert": self.insert, "remove": self.remove, "replace": self.replace}.get(name)


class TokenEdit(NamedTuple):
    """One edit of a token.

    Attributes:
        name: what was done.
        index: of the token that was removed or replaced, or that follows what was inserted.
        removed: the token that was there; ``None``: none.
        written: the token that is there now; ``None``: none.
        cost: what it costs.
    """

    name: Literal["insert", "remove", "replace"]
    index: int
    removed: int | None
    written: int | None
    cost: int


@dataclass(frozen=True)
class TokenCertificate:
    """What proves a repair of tokens: enough to check its cost and its bound without the search.

    Attributes:
        given: the sequence that was repaired.
        tokens: the repaired sequence.
        edits: the edits.
        cost: their cost.
        lower_bound: no accepted sequence costs less.
        costs: of the edits.
        stops: how many stop tokens at the end were left as they are.
        automaton: what accepts.
    """

    given: tuple[int, ...]
    tokens: tuple[int, ...]
    edits: tuple[TokenEdit, ...]
    cost: int
    lower_bound: int
    costs: TokenCosts
    stops: int
    automaton: _core.TokenEdges = field(repr=False)

    def verify(self, *, limits: Limits | None = None, cancel: CancelToken | None = None) -> bool:
        """Whether the certificate holds; :meth:`flaw` says why not.

        Raises:
            LimitExceeded, Cancelled: the check was stopped.
        """
        return self.flaw(limits=limits, cancel=cancel) is None

    def flaw(self, *, limits: Limits | None = None, cancel: CancelToken | None = None) -> str | None:
        """What is wrong with the certificate; ``None`` if it holds.

        The edits are applied and their costs added, the automaton reads the result, and a table of all
        positions and states has the least cost of all repairs.

        Raises:
            LimitExceeded, Cancelled: the check was stopped.
        """
        written: list[int] = []
        index = cost = 0
        end = len(self.given) - self.stops
        for edit in self.edits:
            own = self.costs.of(edit.name)
            takes, writes = edit.name != "insert", edit.name != "remove"
            if not index <= edit.index <= end - takes:
                return f"the edit at token {edit.index} is out of order"
            removed = self.given[edit.index] if takes else None
            if edit.removed != removed or writes == (edit.written is None):
                return f"the edit at token {edit.index} does not fit the sequence"
            if own is None or own != edit.cost:
                return f"the edit at token {edit.index} is not made at this cost"
            written += self.given[index : edit.index]
            written += [edit.written] if edit.written is not None else []
            index, cost = edit.index + takes, cost + own
        written += self.given[index:end]
        if (*written, *self.given[end:]) != self.tokens:
            return "the edits do not lead to the repaired sequence"
        if cost != self.cost:
            return "the costs of the edits do not add up"
        if not self.automaton.accepts(written):
            return "the constraint does not accept the repaired sequence"
        if self.lower_bound > self.cost:
            return "the lower bound is above the cost"
        known = core_limits(checked_limits(limits))
        given, prices = self.given[:end], (self.costs.insert, self.costs.remove, self.costs.replace)
        if self.lower_bound > self.automaton.least_cost(given, *prices, known, checked_cancel(cancel), ""):
            return "a repair costs less than the lower bound"
        return None


@dataclass(frozen=True)
class TokenRepair:
    """An accepted token sequence near a given one.

    Attributes:
        tokens: the sequence, with the stop tokens that the given one ended in.
        edits: the edits that lead to it, in their order; none if it was accepted.
        cost: the sum of their costs.
        lower_bound: no accepted sequence costs less.
        optimal: whether the cost is the lower bound.
        expansions: how many nodes the search has expanded.
        certificate: proves cost and bound.
    """

    tokens: tuple[int, ...]
    edits: tuple[TokenEdit, ...]
    cost: int
    lower_bound: int
    optimal: bool
    expansions: int
    certificate: TokenCertificate = field(repr=False)


def nearest(
    automaton: _core.TokenEdges,
    tokens: Sequence[int],
    stops: int,
    costs: TokenCosts,
    deadline_seconds: float | None,
    limits: Limits,
    cancel: CancelToken | None,
    pattern: str,
) -> TokenRepair:
    """The answer of :meth:`tokamata.CompiledConstraint.repair`.

    Args:
        automaton: what accepts.
        tokens: the sequence.
        stops: how many stop tokens it ends in; they stay.
        costs, deadline_seconds, limits, cancel: as there.
        pattern: what errors show.
    """
    if deadline_seconds is not None:
        deadline = checked_number("deadline_seconds", deadline_seconds, 0)
        limits = replace(limits, seconds=min(limits.seconds, max(deadline, _LEAST_SECONDS)))
    given = tuple(tokens)
    end = len(given) - stops
    steps, cost, bound, expansions = automaton.nearest(
        given[:end], costs.insert, costs.remove, costs.replace, core_limits(limits), cancel, pattern
    )
    edits, written, position = [], [], 0
    for name, index, token in steps:
        removed = None if name == "insert" else given[index]
        edits.append(TokenEdit(name, index, removed, token, costs.of(name) or 0))
        written += given[position:index]
        written += [] if token is None else [token]
        position = index + (name != "insert")
    repaired = (*written, *given[position:])
    certificate = TokenCertificate(given, repaired, tuple(edits), cost, bound, costs, stops, automaton)
    return TokenRepair(repaired, tuple(edits), cost, bound, bound == cost, expansions, certificate)
