"""Repairs of token sequences: the nearest sequence that a compiled constraint accepts.

Problem.  A text is repaired by edits of bytes.  A sequence of tokens, as a trainer or a canonical constraint
has it, is repaired by edits of tokens: there its tokenization counts too.
Example.  ``(ab)+`` with the tokens ``a``, ``b``, ``ab``: the nearest sequence to ``a a b`` is ``a b``; one
token is removed.

How.  ``core/repair/token_search.hpp`` searches positions and places; ``core/repair/token_places.hpp`` makes
places, and where tokens lead from them, as they are needed.

The certificate checks a bound by Dijkstra's algorithm, which shares nothing with the search but the places.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, NamedTuple

from tokamata._core import Constraint as CoreConstraint
from tokamata._core import Matcher as CoreMatcher
from tokamata._core import TokenPlaces, TokenRepairSearch
from tokamata.calls.arguments import checked_instance, checked_list, checked_whole
from tokamata.calls.keywords import checked_fields
from tokamata.errors import ArgumentError
from tokamata.repair.costs import MOST_COST
from tokamata.repair.searching import hundredths_of, within_deadline
from tokamata.resources.limits import CancelToken, Limits, checked_cancel, checked_limits, core_limits
from tokamata.vocabulary import TokenTypes

if TYPE_CHECKING:
    from tokamata.vocabulary import Vocabulary

__all__ = ["TOKEN_TYPES", "RepairsTokens", "TokenCertificate", "TokenCosts", "TokenEdit", "TokenRepair"]

_NAMES = ("insert", "remove", "replace")

# The types of tokens, by what their text is; of a token that fits several, the first.
TOKEN_TYPES = ("control", "space", "digits", "letters", "other")
_SPACE = re.compile(rb"[ \t\n\r]+")
_DIGITS = re.compile(rb" ?[0-9]+")
_LETTERS = re.compile(rb" ?(?:[A-Za-z]|[\x80-\xff])+")


def _type_of(text: bytes | None) -> int:
    """The type of a token with this text; ``None``: it has none."""
    if not text:
        return 0
    for number, pattern in enumerate((_SPACE, _DIGITS, _LETTERS), 1):
        if pattern.fullmatch(text):
            return number
    return 4


@checked_fields
@dataclass(frozen=True)
class TokenCosts:
    """The costs of edits of tokens: whole numbers from 0, for all tokens or by type of token.

        tk.TokenCosts(remove={"letters": 5, "digits": 5, "other": 1})

    A mapping names types of tokens: ``"control"`` (no text), ``"space"``, ``"digits"`` and ``"letters"``
    (both with a space before them, or none; letters are those of ASCII and all characters beyond it), and
    ``"other"``, which also stands for each type that the mapping leaves out.  Types of your own are those of
    :meth:`tokamata.Vocabulary.types`, and ``"other"``; of a token with several, the first counts:

        types = vocabulary.types({"number": tk.regex("[0-9]+")})
        tk.TokenCosts(remove={"number": 5, "other": 1}, types=types)

    Attributes:
        insert: of a token written, by its type.
        remove: of a token of the sequence, by its type.
        replace: of a token written in place of another one, by the type of the one written; ``None``: this
            edit is not made.
        types: the types that mappings name; ``None``: those above.

    Raises:
        ArgumentError: a cost is no whole number from 0 to 1,000,000,000; or a mapping lacks ``"other"``, or
            has a name that is no type.
    """

    insert: int | Mapping[str, int] = 1
    remove: int | Mapping[str, int] = 1
    replace: int | Mapping[str, int] | None = 1
    types: TokenTypes | None = None

    def __post_init__(self) -> None:
        checked_instance(
            "TokenCosts.types", self.types, (TokenTypes, type(None)), "vocabulary.types(…), or None"
        )
        for name in _NAMES:
            given = getattr(self, name)
            if name == "replace" and given is None:
                continue
            if not isinstance(given, Mapping):
                checked_whole(f"TokenCosts.{name}", given, 0, MOST_COST + 1)
                continue
            for key, cost in given.items():
                if key not in self._names:
                    raise ArgumentError(f"TokenCosts.{name}", repr(key), f"one of {', '.join(self._names)}")
                checked_whole(f"TokenCosts.{name}[{key!r}]", cost, 0, MOST_COST + 1)
            if "other" not in given:
                hint = 'add "other", the cost of all types that are not named'
                raise ArgumentError(f"TokenCosts.{name}", repr(dict(given)), 'a mapping with "other"', hint)
            object.__setattr__(self, name, _FrozenCosts(given))

    @property
    def is_by_type(self) -> bool:
        """Whether a cost depends on the type of a token."""
        return any(isinstance(getattr(self, name), Mapping) for name in _NAMES)

    def _by_type(self, given: int | Mapping[str, int]) -> list[int]:
        """The costs of an edit: of each type, or one for all."""
        if isinstance(given, Mapping):
            return [given.get(kind, given["other"]) for kind in self._names]
        return [given] * (len(self._names) if self.is_by_type else 1)

    @property
    def _names(self) -> tuple[str, ...]:
        """The types, in the order of their numbers."""
        if self.types is None:
            return TOKEN_TYPES
        return (*(name for name in self.types if name != "other"), "other")


class _FrozenCosts(dict[str, int]):
    """A mapping that is hashed by what it holds, and never changed."""

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(frozenset(self.items()))


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


class _Prices:
    """Costs as the engine has them, for one vocabulary."""

    __slots__ = ("insert", "remove", "replace", "types")

    def __init__(self, costs: TokenCosts, compiled: RepairsTokens) -> None:
        self.insert = costs._by_type(costs.insert)
        self.remove = costs._by_type(costs.remove)
        self.replace: Sequence[int | None] = (
            [None] * len(self.insert) if costs.replace is None else costs._by_type(costs.replace)
        )
        self.types = b""
        if costs.is_by_type:
            own = costs.types
            self.types = compiled._types_of_tokens() if own is None else own.numbers(compiled.vocabulary)

    def of(self, name: str, removed: int | None, written: int | None) -> int | None:
        """The cost of an edit; ``None``: it is not made."""
        token = removed if name == "remove" else written
        if name not in _NAMES or token is None:
            return None
        by_type: Sequence[int | None] = getattr(self, name)
        return by_type[self.types[token] if self.types else 0]


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
        is_exact: whether the bound is proven of the sequences of the constraint; otherwise it is of a set
            that includes them: any tokenization, and objects that may repeat a name.
    """

    given: tuple[int, ...]
    tokens: tuple[int, ...]
    edits: tuple[TokenEdit, ...]
    cost: int
    lower_bound: int
    costs: TokenCosts
    stops: int
    is_exact: bool
    _compiled: RepairsTokens = field(repr=False, compare=False)

    def verify(self, *, limits: Limits | None = None, cancel: CancelToken | None = None) -> bool:
        """Whether the certificate holds; :meth:`flaw` says why not.

        Raises:
            LimitExceeded, Cancelled: the check was stopped.
        """
        return self.flaw(limits=limits, cancel=cancel) is None

    def flaw(self, *, limits: Limits | None = None, cancel: CancelToken | None = None) -> str | None:
        """What is wrong with the certificate; ``None`` if it holds.

        The edits are applied and their costs added, the constraint reads the result, and Dijkstra's algorithm
        looks for a repair that costs less than the bound.

        Raises:
            LimitExceeded, Cancelled: the check was stopped.
        """
        prices = _Prices(self.costs, self._compiled)
        written: list[int] = []
        index = cost = 0
        end = len(self.given) - self.stops
        for edit in self.edits:
            takes, writes = edit.name != "insert", edit.name != "remove"
            if not index <= edit.position <= end - takes:
                return f"the edit at token {edit.position} is out of order"
            removed = self.given[edit.position] if takes else None
            if edit.removed != removed or writes == (edit.written is None):
                return f"the edit at token {edit.position} does not fit the sequence"
            own = prices.of(edit.name, removed, edit.written)
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
        places = self._compiled._places_of_tokens()
        known, token = core_limits(checked_limits(limits)), checked_cancel(cancel)
        if not places.accepts(written, known, token, ""):
            return "the constraint does not accept the repaired sequence"
        if self.lower_bound > self.cost:
            return "the lower bound is above the cost"
        return (
            places.flaw_of_bound(
                self.given[:end],
                prices.insert,
                prices.remove,
                prices.replace,
                prices.types,
                self.lower_bound,
                not self.is_exact,
                known,
                token,
                "",
            )
            or None
        )


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

    __slots__ = ("_token_places", "_token_types")

    pattern: str
    limits: Limits
    vocabulary: Vocabulary
    _core: CoreConstraint
    _token_places: TokenPlaces | None
    _token_types: bytes | None

    def repair(
        self,
        tokens: Sequence[int],
        *,
        costs: TokenCosts = TokenCosts(),  # it is immutable
        deadline_seconds: float | None = None,
        weight: float = 3.0,
        limits: Limits | None = None,
        cancel: CancelToken | None = None,
    ) -> TokenRepair:
        """The accepted sequence that the cheapest edits of tokens lead to, and a proof of how near it is.

            compiled.repair([5, 9, 2]).tokens

        The last of :meth:`repairs`: the optimum, or the best within the deadline and the limits.

        With ``tokenization="canonical"`` the answer is canonical, so a sequence that spells an accepted text
        in other tokens is repaired too.  Of answers of equal cost, the one that keeps more tokens is taken,
        then the shorter one, then the first in the order of ids, as far as the search meets them within 4,096
        steps after the proof.  Stop tokens at the end stay where they are.

        Where what is allowed depends on all that was written (names that must differ, the tokenizer's own
        merges), not every token is tried as an insertion, and the bound may stay below the cost.

        Args:
            tokens: the sequence, read from the start of a text.
            costs: of edits.
            deadline_seconds: when to stop with what was found; what the first repair makes of the constraint
                is not counted.  ``None``: when ``limits.seconds`` are over.
            weight: how much the search prefers to follow its best attempt until it has an answer; 1 proves
                the optimum directly.
            limits: bounds on time, states and memory of the search; by default those of this constraint.  A
                search that is stopped answers with what it has and the bound that it has proven.
            cancel: stops the search, from another thread.

        Raises:
            NoncanonicalError: no canonical sequence matches at the start of a text.
            ArgumentError, TokenIdError: an argument has another type or value.
            LimitExceeded: ``limits`` of this constraint do not suffice for any answer.
            Cancelled: the work was stopped.
        """
        *_, last = self._repairs(tokens, costs, deadline_seconds, weight, limits, cancel, False)
        return last

    def repairs(
        self,
        tokens: Sequence[int],
        *,
        costs: TokenCosts = TokenCosts(),  # it is immutable
        deadline_seconds: float | None = None,
        weight: float = 3.0,
        limits: Limits | None = None,
        cancel: CancelToken | None = None,
    ) -> Iterator[TokenRepair]:
        """Each better answer of :meth:`repair` as it is found; the last one is its answer.

        Args:
            tokens, costs, deadline_seconds, weight, limits, cancel: as there.

        Raises:
            NoncanonicalError, ArgumentError, TokenIdError, LimitExceeded, Cancelled: as there.
        """
        return self._repairs(tokens, costs, deadline_seconds, weight, limits, cancel, True)

    def _repairs(
        self,
        tokens: Sequence[int],
        costs: TokenCosts,
        deadline_seconds: float | None,
        weight: float,
        limits: Limits | None,
        cancel: CancelToken | None,
        is_each_yielded: bool,
    ) -> Iterator[TokenRepair]:
        """Checks the arguments now, and searches when the first answer is wanted."""
        checked_instance("costs", costs, TokenCosts)
        given = checked_list("tokens", tokens, "a list of token ids", "encode a text with the tokenizer")
        ids = tuple(self.vocabulary._checked_id(token) for token in given)
        known = within_deadline(self.limits if limits is None else checked_limits(limits), deadline_seconds)
        hundredths = hundredths_of(weight)
        end = len(ids)
        while end > 0 and ids[end - 1] in self.vocabulary.stop:
            end -= 1
        prices = _Prices(costs, self)
        places = self._places_of_tokens()
        token = checked_cancel(cancel)

        def answers() -> Iterator[TokenRepair]:
            search = TokenRepairSearch(
                places,
                core_limits(self.limits),
                ids[:end],
                prices.insert,
                prices.remove,
                prices.replace,
                prices.types,
                hundredths,
                core_limits(known),
                token,
                self.pattern,
            )
            while True:
                is_better = search.improve() == "better"
                if is_each_yielded or not is_better:
                    yield self._answer(search, ids, end, costs, prices)
                if not is_better:
                    return

        return answers()

    def _answer(
        self, search: TokenRepairSearch, ids: tuple[int, ...], end: int, costs: TokenCosts, prices: _Prices
    ) -> TokenRepair:
        edits: list[TokenEdit] = []
        written: list[int] = []
        position = 0
        for name, index, token in search.edits:
            removed = None if name == "insert" else ids[index]
            edits.append(TokenEdit(name, index, removed, token, prices.of(name, removed, token) or 0))
            written += ids[position:index]
            written += [] if token is None else [token]
            position = index + (name != "insert")
        repaired = (*written, *ids[position:])
        cost, bound, is_exact = search.cost, search.lower_bound, not search.is_bound_relaxed
        certificate = TokenCertificate(
            ids, repaired, tuple(edits), cost, bound, costs, len(ids) - end, is_exact, self
        )
        return TokenRepair(repaired, tuple(edits), cost, bound, bound == cost, search.expansions, certificate)

    def _places_of_tokens(self) -> TokenPlaces:
        """The states over tokens that repairs search, kept between them."""
        if self._token_places is None:
            CoreMatcher(
                self._core, (), (), (), None, 0
            )  # raises where nothing is accepted at the start of a text
            self._token_places = self._core.token_places()
        return self._token_places

    def _types_of_tokens(self) -> bytes:
        """The type of each id, an index into :data:`TOKEN_TYPES`."""
        if self._token_types is None:
            known = bytes(map(_type_of, self.vocabulary.tokens))
            self._token_types = known.ljust(self.vocabulary.width, b"\0")
        return self._token_types
