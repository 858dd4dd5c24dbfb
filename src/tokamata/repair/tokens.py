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

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, NamedTuple

from tokamata._core import Constraint as CoreConstraint
from tokamata._core import Matcher as CoreMatcher
from tokamata._core import TokenEdges
from tokamata.arguments import checked_instance, checked_list, checked_whole
from tokamata.errors import AlgebraError
from tokamata.limits import CancelToken, Limits, checked_cancel, checked_limits, core_limits
from tokamata.repair.searching import within_deadline

if TYPE_CHECKING:
    from tokamata.vocabulary import Vocabulary

__all__ = ["RepairsTokens", "TokenCertificate", "TokenCosts", "TokenEdit", "TokenRepair"]

_MOST = 1_000_000_000


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
        position: of the token that was removed or replaced, or that follows what was inserted.
        removed: the token that was there; ``None``: none.
        written: the token that is there now; ``None``: none.
        cost: what it costs.
    """

    name: Literal["insert", "remove", "replace"]
    position: int
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
    """

    given: tuple[int, ...]
    tokens: tuple[int, ...]
    edits: tuple[TokenEdit, ...]
    cost: int
    lower_bound: int
    costs: TokenCosts
    stops: int
    _edges: Callable[[], TokenEdges] = field(repr=False, compare=False)

    @property
    def automaton(self) -> TokenEdges:
        """What accepts: the closed form of the constraint."""
        return self._edges()

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
            if not index <= edit.position <= end - takes:
                return f"the edit at token {edit.position} is out of order"
            removed = self.given[edit.position] if takes else None
            if edit.removed != removed or writes == (edit.written is None):
                return f"the edit at token {edit.position} does not fit the sequence"
            if own is None or own != edit.cost:
                return f"the edit at token {edit.position} is not made at this cost"
            written += self.given[index : edit.position]
            written += [edit.written] if edit.written is not None else []
            index, cost = edit.position + takes, cost + own
        written += self.given[index:end]
        if (*written, *self.given[end:]) != self.tokens:
            return "the edits do not lead to the repaired sequence"
        if cost != self.cost:
            return "the costs of the edits do not add up"
        automaton = self.automaton
        if not automaton.accepts(written):
            return "the constraint does not accept the repaired sequence"
        if self.lower_bound > self.cost:
            return "the lower bound is above the cost"
        known = core_limits(checked_limits(limits))
        given, prices = self.given[:end], (self.costs.insert, self.costs.remove, self.costs.replace)
        if self.lower_bound > automaton.least_cost(given, *prices, known, checked_cancel(cancel), ""):
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


class RepairsTokens:
    """What :class:`tokamata.CompiledConstraint` knows of repairs."""

    __slots__ = ("_token_edges",)

    pattern: str
    limits: Limits
    vocabulary: Vocabulary
    _core: CoreConstraint
    _has_rules: bool
    _token_edges: TokenEdges | None

    def repair(
        self,
        tokens: Sequence[int],
        *,
        costs: TokenCosts = TokenCosts(),  # it is immutable
        deadline_seconds: float | None = None,
        limits: Limits | None = None,
        cancel: CancelToken | None = None,
    ) -> TokenRepair:
        """The accepted sequence that the cheapest edits of tokens lead to, and a proof of how near it is.

            compiled.repair([5, 9, 2]).tokens

        With ``tokenization="canonical"`` the answer is canonical, so a sequence that spells an accepted text
        in other tokens is repaired too.  Of answers of equal cost, the one that keeps more tokens is taken,
        then the shorter one, then the first in the order of ids.  Stop tokens at the end stay where they are.

        The first repair makes the closed form of the constraint, as :meth:`token_automaton` does, and keeps
        it.  That suits constraints with some thousand states: dates, identifiers, choices.

        Args:
            tokens: the sequence, read from the start of a text.
            costs: of edits.
            deadline_seconds: when to stop with what was found; the closed form is not counted.  ``None``:
                when ``limits.seconds`` are over.
            limits: bounds on time and memory of the search; by default those of this constraint, which also
                bound the closed form.  A search that is stopped answers with what it has and
                the bound that it has proven.
            cancel: stops the search, from another thread.

        Raises:
            AlgebraError: the constraint has rules: JSON, types and grammars.  Repair their texts with
                :meth:`tokamata.Constraint.repair`.
            NoncanonicalError: no canonical sequence matches at the start of a text.
            ArgumentError, TokenIdError: an argument has another type or value.
            LimitExceeded: the closed form has more states, or takes longer, than ``limits`` of this
                constraint allow.
            Cancelled: the work was stopped.
        """
        checked_instance("costs", costs, TokenCosts)
        given = checked_list("tokens", tokens, "a list of token ids", "encode a text with the tokenizer")
        ids = tuple(self.vocabulary._checked_id(token) for token in given)
        known = within_deadline(self.limits if limits is None else checked_limits(limits), deadline_seconds)
        end = len(ids)
        while end > 0 and ids[end - 1] in self.vocabulary.stop:
            end -= 1
        automaton = self._edges_of_tokens()
        prices = costs.insert, costs.remove, costs.replace
        steps, cost, bound, expansions = automaton.nearest(
            ids[:end], *prices, core_limits(known), checked_cancel(cancel), self.pattern
        )
        edits: list[TokenEdit] = []
        written: list[int] = []
        position = 0
        for name, index, token in steps:
            removed = None if name == "insert" else ids[index]
            edits.append(TokenEdit(name, index, removed, token, costs.of(name) or 0))
            written += ids[position:index]
            written += [] if token is None else [token]
            position = index + (name != "insert")
        repaired = (*written, *ids[position:])
        stops = len(ids) - end
        certificate = TokenCertificate(
            ids, repaired, tuple(edits), cost, bound, costs, stops, self._edges_of_tokens
        )
        return TokenRepair(repaired, tuple(edits), cost, bound, bound == cost, expansions, certificate)

    def _edges_of_tokens(self) -> TokenEdges:
        """The closed form, as repairs read it."""
        if self._token_edges is None:
            if self._has_rules:
                raise AlgebraError(
                    f"tokens of {self.pattern[:200]!r} are not repaired: the constraint has rules (JSON, "
                    "types, grammars), so its states hold a stack or what the text has written, and there "
                    "are too many to search at every token; repair the text, constraint.repair(text), and "
                    "encode the result"
                )
            CoreMatcher(self._core, (), None, 0)  # raises where nothing is accepted at the start of a text
            accepting, class_of_token, offsets, classes, targets = self._core.closed_form()
            known = core_limits(self.limits)
            self._token_edges = TokenEdges(
                accepting, class_of_token, offsets, classes, targets, known, None, self.pattern
            )
        return self._token_edges
