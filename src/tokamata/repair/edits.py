"""Edits: what a repair has changed in a text."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, overload

__all__ = ["Edit", "Edits"]


class Edit(NamedTuple):
    """One edit: ``text[begin:end]`` of the broken text became ``written``.

    Attributes:
        name: ``"insert"``, ``"remove"``, ``"replace"``, or the name of a :class:`.Rewrite` or a
            :class:`.Doubt`; a byte in doubt was kept, so ``written`` is ``removed``.  ``"keep"``: a byte was
            kept at the price of its :class:`.Mode`.
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


class Edits(Sequence[Edit]):
    """The edits of a repair: a sequence that equals a tuple of them.

    They are made when the first of them is read: where a megabyte is given up there are a million, and to
    make them takes longer than any deadline.
    """

    __slots__ = ("_count", "_made", "_make")

    def __init__(self, count: int, make: Callable[[], tuple[Edit, ...]]) -> None:
        self._count = count
        self._make: Callable[[], tuple[Edit, ...]] | None = make
        self._made: tuple[Edit, ...] = ()

    @classmethod
    def of(cls, edits: tuple[Edit, ...]) -> Edits:
        """Edits that are made already."""
        return cls(len(edits), lambda: edits)

    def _all(self) -> tuple[Edit, ...]:
        make = self._make
        if make is not None:
            self._made = make()
            self._make = None  # and what it was made from
        return self._made

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[Edit]:
        return iter(self._all())

    @overload
    def __getitem__(self, index: int) -> Edit: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Edit, ...]: ...
    def __getitem__(self, index: int | slice) -> Edit | tuple[Edit, ...]:
        return self._all()[index]

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Edits):
            other = other._all()
        return self._all() == other if isinstance(other, tuple) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._all())

    def __repr__(self) -> str:
        return repr(self._all())

    def __reduce__(self) -> tuple[Any, ...]:
        return Edits.of, (self._all(),)
