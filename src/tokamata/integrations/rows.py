"""Finds the matcher of each row of a batch from the ids of the row alone.

Problem: a host such as transformers calls ``processor(ids, scores)`` at every step, where ``ids`` contains
each row from the beginning of its prompt.  The origin of a row is unknown, and rows do not only grow by one
id: beam search reorders, copies and drops them; assisted decoding tries ids and goes back.

    call 1   prompt                      start the generation: one matcher per row
    call 2   prompt 5      prompt 9      each row continues: advance(5), advance(9)
    call 3   prompt 9 2    prompt 9 7    row 1 continues, row 0 is a copy of it: fork, advance(2), advance(7)

    call 1   prompt                      one row, assisted decoding
    call 4   prompt 5 8 3                drafted, one id per call
    call 5   prompt 5 6                  8 was not accepted: rollback(2), advance(6)

Method: the ids of the last call are kept.  If every row is one id longer, a row's parent is the row at the
same index, compared for all rows by one tensor operation; otherwise the row with the same bytes, found in a
dictionary.  The first child of a parent gets its matcher, and every further child gets a fork.  If ids go
back, or grow by several, each row is compared with the row at the same index: its matcher is rolled back to
the longest common prefix and reads the rest.

Cost: one ``advance`` per id; going back by k ids costs one rollback of k.  Each step compares the ids, which
reads as many bytes as the host's ``torch.cat`` that appends an id.  Only rows that beam search copies need a
fork, which takes constant time.

Rejected: a dictionary from the ids of a row to its matcher.  It needs no comparison, but a key as long as the
text, and a fork, for each row and step.
"""

# torch is not imported: tensors come from the host.

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tokamata.matching.matchers import Matcher

if TYPE_CHECKING:
    import torch

__all__ = ["Row", "RowTracker"]


class Row:
    """A matcher that follows the ids of one row.

    The matcher advances until it refuses an id, or until a stop token.  Later ids are only counted, so going
    back to before them restores the row.

    Attributes:
        matcher: ``None`` if the row is not constrained.
        length: the number of ids after the prompt.
        has_stopped: whether the row has a stop token.
    """

    def __init__(self, matcher: Matcher | None) -> None:
        self.matcher = matcher
        self.length = 0
        self.has_stopped = False
        self._taken = 0

    @property
    def is_refused(self) -> bool:
        """Whether the row has an id that its constraint does not allow."""
        return self.matcher is not None and self._taken < self.length and not self.has_stopped

    def fork(self) -> Row:
        """A second row with the same ids."""
        copy = Row(None if self.matcher is None else self.matcher.fork())
        copy.length, copy.has_stopped, copy._taken = self.length, self.has_stopped, self._taken
        return copy

    def advance(self, token: int) -> None:
        """Append an id."""
        takes = self.matcher is not None and self._taken == self.length and not self.has_stopped
        self.length += 1
        if not takes or self.matcher is None:
            return
        vocabulary = self.matcher.compiled.vocabulary
        if 0 <= token < vocabulary.width and self.matcher.advance(token):
            self._taken = self.length
            self.has_stopped = token in vocabulary.stop

    def go_back(self, length: int) -> None:
        """Remove all ids after the first ``length``."""
        self.length = length
        if self.matcher is not None and length < self._taken:
            self.matcher.rollback(self._taken - length)
            self._taken, self.has_stopped = length, False


class RowTracker:
    """The rows of one generation, updated with the ids of each call.

    Args:
        ids: ``int64[rows, length]``, the ids of the first call.
        start: the length of the prompts; the ids after it are text.
        rows: a row for each, at the start of its text.
        constraints: the number of each row's constraint.  A row can only be a copy of one with the same
            number.
        may_jump: whether ids may go back and grow by any number.  Otherwise, only a single row may go back,
            and then differ in its last id.
    """

    def __init__(
        self, ids: torch.Tensor, start: int, rows: list[Row], constraints: Sequence[int], may_jump: bool
    ) -> None:
        self.rows = rows
        self._constraints = constraints
        self._start = start
        self._may_jump = may_jump
        self._buffer = ids.clone()  # the ids of the last call are its first `_length` columns
        self._length = ids.shape[1]
        for row, text in zip(rows, ids[:, start:].tolist(), strict=True):
            for token in text:
                row.advance(token)

    def follow(self, ids: torch.Tensor) -> bool:
        """Update the rows to ``ids``.

        Returns:
            Whether ``ids`` continue the last call.  If not, nothing was changed, and another generation
            begins.
        """
        if ids.shape[0] != len(self.rows) or ids.shape[1] < self._start:
            return False
        ids = ids.to(self._buffer.device)
        return (ids.shape[1] == self._length + 1 and self._go_on(ids)) or self._go_back(ids)

    def _go_on(self, ids: torch.Tensor) -> bool:
        """Update rows, each of which is one id longer than a row of the last call."""
        before, prefixes = self._buffer[:, : self._length], ids[:, :-1]
        stays = (prefixes == before).all(dim=1).tolist()
        parents: list[int | None] = list(range(len(stays)))
        if not all(stays):
            known = {key: index for index, key in enumerate(self._keys(before))}
            keys = self._keys(prefixes)
            parents = [i if stays[i] else known.get(key) for i, key in enumerate(keys)]
        moved: list[Row] = []
        taken: set[int] = set()
        for parent in parents:
            if parent is None:
                return False
            moved.append(self.rows[parent].fork() if parent in taken else self.rows[parent])
            taken.add(parent)
        self.rows = moved
        for row, token in zip(moved, ids[:, -1].tolist(), strict=True):
            row.advance(token)
        self._keep(ids, self._length if all(stays) else 0)
        return True

    def _go_back(self, ids: torch.Tensor) -> bool:
        """Update rows, each of which shares a prefix with the row at the same index."""
        shared = min(ids.shape[1], self._length)
        differs = ids[:, :shared] != self._buffer[:, :shared]
        first = differs.int().argmax(dim=1).where(differs.any(dim=1), shared).tolist()
        if min(first) < self._start:
            return False
        if not self._may_jump and (len(first) > 1 or first[0] < ids.shape[1] - 1):
            return False
        for row, common, tokens in zip(self.rows, first, ids[:, min(first) :].tolist(), strict=True):
            row.go_back(common - self._start)
            for token in tokens[common - min(first) :]:
                row.advance(token)
        self._keep(ids, min(first))
        return True

    def _keys(self, ids: torch.Tensor) -> list[tuple[int, bytes]]:
        """Keys that are equal for two rows if one can be a copy of the other."""
        values = ids.cpu().numpy()
        return [(self._constraints[i], row.tobytes()) for i, row in enumerate(values)]

    def _keep(self, ids: torch.Tensor, same: int) -> None:
        """Store ``ids``, whose first ``same`` columns are stored already."""
        rows, self._length = ids.shape
        if self._length > self._buffer.shape[1]:  # doubled, so that the cost of all copies is linear
            larger = ids.new_empty(rows, 2 * self._length)
            larger[:, :same] = self._buffer[:, :same]
            self._buffer = larger
        self._buffer[:, same : self._length] = ids[:, same:]
