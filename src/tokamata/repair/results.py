"""Repairs: the accepted text, the edits that lead to it, and the proof of how near it is."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Generic, NamedTuple, TypeAlias, TypeVar

import tokamata._core as _core
from tokamata.display.html import DIM, DOUBTED, REMOVED, WRITTEN, lines, panel, span
from tokamata.repair.bounded_patterns import BoundedPatterns
from tokamata.repair.costs import BY_WRITTEN, KEEP, EditCosts, TextCosts
from tokamata.repair.differences import grouped, pieces_of, proof_in_words
from tokamata.repair.edits import Edit
from tokamata.repair.json_losses import content_changes
from tokamata.repair.losses import ContentChange, ContentChanges
from tokamata.repair.programs import Program
from tokamata.resources.limits import CancelToken, Limits, checked_cancel, checked_limits, core_limits
from tokamata.resources.locks import kept_property
from tokamata.values.forms import Reading, accepted

__all__ = [
    "Certificate",
    "Margin",
    "MarginOf",
    "Repair",
    "modes_after_edit",
    "modes_after_kept",
]

_T_co = TypeVar("_T_co", covariant=True)
# What finds the margin of a repair within limits: a method of the constraint, so that repairs can be pickled.
MarginOf: TypeAlias = "Callable[[Repair[Any], Limits | None, CancelToken | None], Margin]"
_MOST_EDITS = 10_000  # that notebooks join and show
_MOST_SHOWN = 100  # after those of single bytes are joined
_LOOKS = {"kept": "", "removed": REMOVED, "written": WRITTEN, "doubted": DOUBTED}  # by kind of a piece
# Of edits of single bytes: how many are read, and written.
_LENGTHS = {"insert": (0, 1), "remove": (1, 0), "replace": (1, 1)}


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
    """

    broken: bytes
    text: bytes
    edits: Sequence[Edit]
    cost: int
    lower_bound: int
    costs: EditCosts
    nodes: bytes = field(repr=False)
    is_exact: bool
    _texts: Callable[[], _core.Expression] = field(repr=False, compare=False)

    @property
    def expression(self) -> _core.Expression:
        """The texts that the repair could lead to."""
        return self._texts()

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
        given, token = checked_limits(limits), checked_cancel(cancel)
        bounds = BoundedPatterns(given, token)
        if self.lower_bound > self.cost:
            return "the lower bound is above the cost"
        if accepted(self.expression, self.text, Reading("the constraint", given, token)) is not None:
            return "the constraint does not accept the repaired text"
        if self.text == self.broken and self.cost == 0 and not self.edits:
            return None  # what is accepted is not repaired: no doubt about its bytes counts
        priced = self.costs.of_text(self.broken, bounds)
        flaw = self._flaw_of_edits(priced)
        if flaw is not None:
            return flaw
        return (
            _core.flaw_of_bound(
                self.expression,
                self.broken,
                *priced.for_engine(),
                self.lower_bound,
                self.nodes,
                self.is_exact,
                core_limits(bounds.left()[0]),
                token,
                "",
            )
            or None
        )

    def _flaw_of_edits(self, priced: TextCosts) -> str | None:
        """Follows the edits through the transducer, in every mode that they may lead to."""
        text, position, cost = bytearray(), 0, 0
        modes = {0}
        for edit in self.edits:
            if not position <= edit.begin <= edit.end <= len(self.broken):
                return f"the edit at byte {edit.begin} does not fit the text"
            if self.broken[edit.begin : edit.end] != edit.removed:
                return f"the edit at byte {edit.begin} does not fit the text"
            modes, paid = modes_after_kept(priced, modes, position, edit.begin)
            if not modes:
                return f"the byte at {paid} is kept for nothing"
            modes = {then for mode in modes for then in modes_after_edit(priced, mode, edit)}
            if not modes:
                return f"the edit at byte {edit.begin} is not made at this cost"
            text += self.broken[position : edit.begin]
            text += edit.written
            position, cost = edit.end, cost + edit.cost
        modes, paid = modes_after_kept(priced, modes, position, len(self.broken))
        if not modes:
            return f"the byte at {paid} is kept for nothing"
        text += self.broken[position:]
        if text != self.text:
            return "the edits do not lead to the repaired text"
        return None if cost == self.cost else "the costs of the edits do not add up"


def modes_after_kept(priced: TextCosts, modes: set[int], begin: int, end: int) -> tuple[set[int], int]:
    """The modes after bytes that are kept for nothing; if there are none, the byte that ends them."""
    for position in range(begin, end):
        written = priced.text[position : position + 1]
        modes = {
            priced.tables.mode_after(mode, written) for mode in modes if priced.keeping(mode, position) == 0
        }
        if not modes:
            return modes, position
    return modes, end


def modes_after_edit(priced: TextCosts, mode: int, edit: Edit) -> Iterator[int]:
    """The modes that an edit leads to, if it may be made at its cost."""
    name, begin, end, removed, written, cost = edit
    by_written = priced.tables.mode_after(mode, written)
    if removed == written and len(removed) == 1:
        doubt = priced.doubt(mode, begin)
        if name == (doubt.name if doubt else KEEP) and cost == priced.keeping(mode, begin):
            yield by_written
    if _LENGTHS.get(name) == (len(removed), len(written)):
        if cost == priced.of_byte(name, mode, begin, written):
            yield priced.tables.inserted[mode][written[0]] if written else mode
        return
    for one in priced.spans_at(begin):
        is_same = (one.end, one.written, one.name, one.cost) == (end, written, name, cost)
        if is_same and one.within >> mode & 1:
            yield by_written if one.then == BY_WRITTEN else one.then


class Margin(NamedTuple):
    """How much dearer than a repair the nearest repair with another value is.

    Attributes:
        cost: the difference of both costs; ``None``: no accepted text has another value.
        is_exact: whether the other value was found; otherwise a limit has stopped the search, and the
            difference is at least ``cost``.
    """

    cost: int | None
    is_exact: bool


@dataclass(frozen=True)
class Repair(Generic[_T_co]):
    """An accepted text near a broken one.

    Attributes:
        text: the text.
        edits: the edits that lead from the broken text to it, in their order; none if it was accepted.
        cost: the sum of their costs.
        lower_bound: no accepted text costs less.
        optimal: whether the cost is the lower bound: of all accepted texts this is the nearest *under the
            costs*.  It does not mean that this is what the writer meant, that nothing was lost
            (:attr:`lost`) or made up (:attr:`invented`), or that no other value is as near (:meth:`margin`).
        expansions: how many nodes the search has expanded.
        first_feasible_us: microseconds until the first answer of the search; ``None``: there was none, and
            this one removes the whole text and writes another.
        certificate: proves cost and bound.
        program: how edits were chosen that ``at_most`` or ``alike`` couples; ``None`` without them.
    """

    text: str
    edits: Sequence[Edit]
    cost: int
    lower_bound: int
    optimal: bool
    expansions: int
    first_feasible_us: int | None
    certificate: Certificate = field(repr=False)
    _parse: Callable[[str], _T_co] = field(repr=False, compare=False)
    _is_json: bool = field(repr=False, compare=False)
    _margin: MarginOf = field(repr=False, compare=False)
    program: Program | None = None

    def _repr_html_(self) -> str:
        """For notebooks: the difference to the broken text, and how near the repair is to the optimum."""
        proof = f"cost {self.cost:,}, {proof_in_words(self.cost, self.lower_bound)}"
        if len(self.edits) > _MOST_EDITS:
            return panel(f"{len(self.edits):,} edits, {proof}", lines([span(self.text)]))
        edits = grouped(self.edits)
        count = f"{len(edits):,} edit{'s' * (len(edits) != 1)}"
        shown = edits[:_MOST_SHOWN]
        pieces = pieces_of(self.certificate.broken, shown)
        difference = [span(text, _LOOKS[kind]) for kind, text in pieces]
        if len(edits) > len(shown):
            difference.append(span(f" … {len(edits) - len(shown):,} more edits", DIM))
        names = ", ".join(dict.fromkeys(edit.name for edit in shown))
        note = [lines([span(names, DIM)])] if names else []
        return panel(f"{count}, {proof}", lines(difference), *note)

    @property
    def value(self) -> _T_co:
        """The value of the text, as ``constraint.parse`` has it."""
        return self._parse(self.text)

    @property
    def lost(self) -> tuple[ContentChange, ...]:
        """Content of the broken text that stands nowhere in the value: text, members, numbers.

        Content are words, numbers and symbols; :mod:`tokamata.repair.losses` defines them with examples.
        Quotes, brackets, commas, whitespace, escapes and the spelling of a number are none.  Of other
        constraints than JSON each character is content.
        """
        return self._changes.lost

    @property
    def invented(self) -> tuple[ContentChange, ...]:
        """Content of the value that stood nowhere in the broken text: members that were required, digits."""
        return self._changes.invented

    @property
    def changed(self) -> tuple[ContentChange, ...]:
        """Content that became other content at its place: 99.95 that is now 100, a corrected typo."""
        return self._changes.changed

    @kept_property
    def _changes(self) -> ContentChanges:
        edits = ((edit.begin, edit.removed, edit.written) for edit in self.edits)
        return content_changes(self.certificate.broken, self.text.encode(), edits, self._is_json)

    def margin(self, *, limits: Limits | None = None, cancel: CancelToken | None = None) -> Margin:
        """How much dearer the nearest repair with another *value* is.

            tk.json().repair("[1, 2,").margin().cost

        A small margin says that another value is nearly as near; it is a difference of costs and no
        probability.  :meth:`tokamata.Constraint.repairs` with ``distinct=True`` gives the other values, and
        :class:`.NearestValues` says which count.  ``at_most`` does not bound the other value.  Where this
        repair is not optimal, the margin may be negative.

        Args:
            limits: bounds of this call, which searches again; ``Limits()`` by default.
            cancel: stops the search, from another thread.

        Raises:
            Cancelled: the search was cancelled.
            LimitExceeded: a limit was passed before anything was found.
            ArgumentError: an argument has another type or value.
        """
        return self._margin(self, limits, cancel)

    def __getstate__(self) -> dict[str, Any]:
        """What a copy is made of: the fields, and not what is made from them."""
        return {one.name: getattr(self, one.name) for one in fields(self)}
