"""Texts with other bytes where a repair has written one.

Problem.  The graph of all repairs has one of the bytes that lead from one node to another: of ``cat`` and
``bat``, near ``at``, one alone.
How.  In a text that is found, each byte that an edit has written, or may replace, is tried as every other
byte, the cheapest first.  The constraint says which of these texts it accepts; of those that it accepts,
further bytes are tried.
Cost.  One reading of the text for each byte that is tried; most end at that byte.
"""

from __future__ import annotations

import heapq
from bisect import bisect_left
from collections.abc import Iterator
from typing import NamedTuple

from tokamata.repair.contents import json_tokens
from tokamata.repair.costs import NEVER, TextCosts
from tokamata.repair.results import Edit, modes_after_edit, modes_after_kept
from tokamata.repair.searching import Search

__all__ = ["Found", "Variants"]


class _Slot(NamedTuple):
    """A byte of a text that an edit has written, or that was kept.

    Attributes:
        edit: the number of the edit that has written it; or of the edit before which one would stand.
        at: where it stands in the text.
        kept: where it stands in the broken text, if it was kept; otherwise -1.
        mode: the mode before it.
    """

    edit: int
    at: int
    kept: int
    mode: int


class Found(NamedTuple):
    """A text, and the edits that lead to it.

    Attributes:
        cost, text, edits: of the repair.
        slots: bytes instead of which others may be written, where they are known.
        changed: the number of the last slot where another byte is written; -1: none, as the graph has it.
    """

    cost: int
    text: bytes
    edits: tuple[Edit, ...]
    slots: tuple[_Slot, ...]
    changed: int


class Variants:
    """Texts with other bytes where a text has written or kept one: those that the graph leaves out.

    Of the bytes that lead from one node to another, the graph has the cheapest alone; and it has no
    replacement that leads where the kept byte leads.  Each other byte is tried; the constraint says whether
    it accepts the text.  They come in the order of their costs.
    """

    def __init__(self, search: Search[object], priced: TextCosts) -> None:
        self._broken, self._is_json, self._priced = search.broken, search.is_json, priced
        self._replaces = any(cost < NEVER for tables in priced.tables.tables for cost in tables[4])
        # The cost, a number, a text, a slot of it, and how many other bytes were tried there.
        self._queue: list[tuple[int, int, Found, int, int]] = []
        self._count = 0
        self._prices: dict[tuple[str, int, int, int, int], list[tuple[int, int]]] = {}

    def __len__(self) -> int:
        return len(self._queue)

    def add(self, found: Found) -> None:
        """Variants of a text, in the slots after the last one that is changed."""
        found = found._replace(slots=tuple(self._slots_of(found.text, found.edits)))
        for slot in range(found.changed + 1, len(found.slots)):
            self._push(found, slot, 0)

    def next_below(self, cost: int) -> Found | None:
        """The next one that costs less; whether it is accepted is not known."""
        if not self._queue or self._queue[0][0] >= cost:
            return None
        own, _, found, number, rank = heapq.heappop(self._queue)
        self._push(found, number, rank + 1)
        slot, text = found.slots[number], bytearray(found.text)
        price, byte = self._others(found, slot)[rank]
        text[slot.at] = byte
        edits, written = list(found.edits), bytes((byte,))
        if slot.kept < 0:
            edits[slot.edit] = edits[slot.edit]._replace(written=written, cost=price)
        else:
            removed = self._broken[slot.kept : slot.kept + 1]
            edits.insert(slot.edit, Edit("replace", slot.kept, slot.kept + 1, removed, written, price))
        return Found(own, bytes(text), tuple(edits), (), number)

    def _push(self, found: Found, number: int, rank: int) -> None:
        slot = found.slots[number]
        others = self._others(found, slot)
        if rank < len(others):
            self._count += 1
            before = found.edits[slot.edit].cost if slot.kept < 0 else 0
            heapq.heappush(
                self._queue, (found.cost - before + others[rank][0], self._count, found, number, rank)
            )

    def _others(self, found: Found, slot: _Slot) -> list[tuple[int, int]]:
        """What may be written instead of a byte, the cheapest first: costs and bytes."""
        name, begin, least = "replace", slot.kept, 0
        if slot.kept < 0:
            edit = found.edits[slot.edit]
            name, begin, least = edit.name, edit.begin, edit.cost
        own = found.text[slot.at]
        position = 0 if begin == 0 else 2 if begin == len(self._broken) else 1
        key = name, slot.mode, position, self._priced.firm.get(begin, 0), own
        if key not in self._prices:
            # Another byte that leads to another mode would give what follows other costs.
            inserted = self._priced.tables.inserted[slot.mode]
            prices = (
                (self._priced.of_byte(name, slot.mode, begin, bytes((byte,))), byte)
                for byte in range(256)
                if inserted[byte] == inserted[own]
            )
            self._prices[key] = sorted(one for one in prices if one[0] < NEVER and one[1] != own)
        others = self._prices[key]
        return others[bisect_left(others, (least, 0)) :] if least else others

    def _slots_of(self, text: bytes, edits: tuple[Edit, ...]) -> Iterator[_Slot]:
        """The bytes that may be others; of JSON those within names, strings, numbers and literals."""
        slots = self._all_slots(edits)
        if not self._is_json:
            yield from slots
            return
        slot = next(slots, None)
        for token in json_tokens(text) if slot is not None else ():
            margin = 1 if token.kind in ("name", "text") else 0  # quotes
            is_scalar = margin or token.kind in ("number", "literal")
            while slot is not None and slot.at < token.end:
                if is_scalar and token.begin + margin <= slot.at < token.end - margin:
                    yield slot
                slot = next(slots, None)

    def _all_slots(self, edits: tuple[Edit, ...]) -> Iterator[_Slot]:
        shift = position = 0
        modes = {0}
        for number, edit in enumerate((*edits, None)):
            begin = len(self._broken) if edit is None else edit.begin
            if self._replaces:
                for kept in range(position, begin):
                    yield _Slot(number, kept + shift, kept, min(modes))
                    modes, _ = modes_after_kept(self._priced, modes, kept, kept + 1)
            else:
                modes, _ = modes_after_kept(self._priced, modes, position, begin)
            if edit is None:
                return
            if edit.name in ("insert", "replace") and len(edit.written) == 1:
                yield _Slot(number, edit.begin + shift, -1, min(modes))
            modes = {then for mode in modes for then in modes_after_edit(self._priced, mode, edit)}
            shift += len(edit.written) - len(edit.removed)
            position = edit.end
