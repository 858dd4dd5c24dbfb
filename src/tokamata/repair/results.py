"""Repairs: the accepted text, the edits that lead to it, and the proof of how near it is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Generic, NamedTuple, TypeVar

import tokamata._core as _core
from tokamata.limits import CancelToken, Limits, checked_cancel, checked_limits, core_limits
from tokamata.repair.costs import Doubt, EditCosts
from tokamata.repair.programs import Program
from tokamata.values.forms import Reading, accepted

__all__ = ["Certificate", "Edit", "Repair"]

_T_co = TypeVar("_T_co", covariant=True)


class Edit(NamedTuple):
    """One edit: ``text[begin:end]`` of the broken text became ``written``.

    Attributes:
        name: ``"insert"``, ``"remove"``, ``"replace"``, or the name of a :class:`.Rewrite` or a
            :class:`.Doubt`; a byte in doubt was kept, so ``written`` is ``removed``.
        begin, end: offsets into the broken text, in bytes.
        removed: the bytes that were there.
        written: the bytes that are there now.
        cost: what it costs.
    """

    name: str
    begin: int
    end: int
    removed: bytes
    written: bytes
    cost: int


@dataclass(frozen=True)
class Certificate:
    """What proves a repair: enough to check its cost and its bound without the search.

    Attributes:
        broken: the text that was repaired.
        text: the repaired text.
        edits: the edits.
        cost: their cost.
        lower_bound: no accepted text costs less.
        costs: the costs of all edits.
        nodes: the nodes that a cheaper repair could pass, 16 bytes each; ``core/repair/certificate.hpp`` has
            the proof.
        is_exact: whether the nodes are those of the constraint; otherwise they are those of a set of texts
            that includes it.
        expression: the texts that the repair could lead to.
    """

    broken: bytes
    text: bytes
    edits: tuple[Edit, ...]
    cost: int
    lower_bound: int
    costs: EditCosts
    nodes: bytes = field(repr=False)
    is_exact: bool
    expression: _core.Expression = field(repr=False)

    def verify(self, *, limits: Limits | None = None, cancel: CancelToken | None = None) -> bool:
        """Whether the certificate holds; :meth:`flaw` says why not.

        Raises:
            LimitExceeded, Cancelled: the check was stopped.
        """
        return self.flaw(limits=limits, cancel=cancel) is None

    def flaw(self, *, limits: Limits | None = None, cancel: CancelToken | None = None) -> str | None:
        """What is wrong with the certificate; ``None`` if it holds.

        The edits are applied to the broken text, their costs are looked up and added, the constraint reads
        the result, and the bound is checked edge by edge.

        Raises:
            LimitExceeded, Cancelled: the check was stopped.
        """
        given, token = core_limits(checked_limits(limits)), checked_cancel(cancel)
        if self.lower_bound > self.cost:
            return "the lower bound is above the cost"
        tables, spans = self.costs.tables(), self.costs.spans(self.broken)
        doubts = self.costs.doubtful(self.broken)
        flaw = self._flaw_of_edits(
            tables, {(span.begin, span.end, span.written, span.name): span.cost for span in spans}, doubts
        )
        if flaw is not None:
            return flaw
        reading = Reading("the constraint", checked_limits(limits), token)
        if accepted(self.expression, self.text, reading) is not None:
            return "the constraint does not accept the repaired text"
        plain = [span[:4] for span in spans]
        return (
            _core.flaw_of_bound(
                self.expression,
                self.broken,
                tables,
                plain,
                [(position, doubt.cost) for position, doubt in doubts.items()],
                self.lower_bound,
                self.nodes,
                self.is_exact,
                given,
                token,
                "",
            )
            or None
        )

    def _flaw_of_edits(
        self,
        tables: list[list[int]],
        rewrites: dict[tuple[int, int, bytes, str], int],
        doubts: dict[int, Doubt],
    ) -> str | None:
        prepend, insert, append, remove, replace = tables
        text, position, cost = b"", 0, 0
        # A text that is accepted as it is needs no edits, whatever is in doubt.
        is_unchanged = not self.edits and self.text == self.broken
        unpaid = [] if is_unchanged else sorted(doubts, reverse=True)
        for name, begin, end, removed, written, stated in self.edits:
            if not position <= begin <= end <= len(self.broken) or self.broken[begin:end] != removed:
                return f"the edit at byte {begin} does not fit the text"
            while unpaid and unpaid[-1] < end:
                if unpaid[-1] < begin:
                    return f"the byte at {unpaid[-1]} is kept for nothing"
                unpaid.pop()
            if begin in doubts and written == removed and name == doubts[begin].name:
                own = doubts[begin].cost
            elif name == "insert" and begin == end and len(written) == 1:
                at_end, at_begin = begin == len(self.broken), begin == 0
                own = (append if at_end else prepend if at_begin else insert)[written[0]]
            elif name == "remove" and len(removed) == 1 and not written:
                own = remove[removed[0]]
            elif name == "replace" and len(removed) == len(written) == 1:
                own = replace[written[0]]
            else:
                own = rewrites.get((begin, end, written, name), -1)
            if own != stated:
                return f"the edit at byte {begin} is not made at this cost"
            text += self.broken[position:begin] + written
            position, cost = end, cost + own
        if unpaid:
            return f"the byte at {unpaid[-1]} is kept for nothing"
        if text + self.broken[position:] != self.text:
            return "the edits do not lead to the repaired text"
        return None if cost == self.cost else "the costs of the edits do not add up"


@dataclass(frozen=True)
class Repair(Generic[_T_co]):
    """An accepted text near a broken one.

    Attributes:
        text: the text.
        edits: the edits that lead from the broken text to it, in their order; none if it was accepted.
        cost: the sum of their costs.
        lower_bound: no accepted text costs less.
        optimal: whether the cost is the lower bound.
        expansions: how many nodes the search has expanded.
        first_feasible_us: microseconds until the first answer of the search; ``None``: there was none, and
            this one removes the whole text and writes another.
        certificate: proves cost and bound.
        program: how edits were chosen that ``at_most`` bounds; ``None`` without it.
    """

    text: str
    edits: tuple[Edit, ...]
    cost: int
    lower_bound: int
    optimal: bool
    expansions: int
    first_feasible_us: int | None
    certificate: Certificate = field(repr=False)
    _parse: Callable[[str], _T_co] = field(repr=False)
    program: Program | None = None

    @property
    def value(self) -> _T_co:
        """The value of the text, as ``constraint.parse`` has it."""
        return self._parse(self.text)
