"""Minimizes a deterministic automaton over token classes, in numpy.

Transitions are kept as compressed rows: those of state s are ``offsets[s]`` to ``offsets[s + 1]`` of
``classes`` and ``targets``.  Four steps:

1. Trim: keep states on a path from the start to acceptance.
2. Merge classes with equal columns: tokens that have the same target in every state.
3. Minimize: merge states from which the same token sequences are accepted.  Then classes again.
4. Number classes by their least tokens, and states breadth first from the start by least token.

The result depends only on the language.

Minimizing is Hopcroft's partition refinement in rounds.  A round examines the transitions into the new
blocks, and splits the states of every block by these transitions::

    {0 1 3} {2 4}   into {2 4}: 1 and 3 have b, 0 has none     ->  {0} {1 3} {2 4}
                    into {0}: none                             ->  done

The largest part of a split block is not examined again: the transitions into it follow from those into
the whole block and into its other parts.  So a transition is examined at most log(states) times.
(Hopcroft 1971; Valmari and Lehtinen, *Efficient Minimization of DFAs with Partial Transition Functions*,
2008.)  Rejected: Moore's rounds over all transitions, which are quadratic on the chains of repetitions
such as ``[a-z]{5000}``.  States are distinguished by their transitions, never by a hash of them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from tokamata.automata.account import Account

Int32 = npt.NDArray[np.int32]
Int64 = npt.NDArray[np.int64]
Bool = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class TokenRows:
    """A deterministic automaton over classes of tokens.

    Attributes:
        start: the start state.
        accepting: ``bool[states]``.
        class_of_token: ``int32[width]``, -1 for a token without transitions.
        offsets: ``int64[states + 1]``.
        classes: ``int32[transitions]``.
        targets: ``int32[transitions]``.
    """

    start: int
    accepting: Bool
    class_of_token: Int32
    offsets: Int64
    classes: Int32
    targets: Int32

    @property
    def sources(self) -> Int32:
        """The source of each transition: ``int32[transitions]``."""
        states = np.arange(len(self.accepting), dtype=np.int32)
        return np.repeat(states, np.diff(self.offsets))


def smallest(rows: TokenRows, account: Account) -> TokenRows:
    """The smallest automaton of the same language, with canonical numbers.

    Raises:
        LimitExceeded: it took too long.
    """
    rows = merge_classes(trim(rows), account)
    rows = merge_classes(merge_states(rows, blocks(rows, account)), account)
    return number(rows)


def trim(rows: TokenRows) -> TokenRows:
    """Keep the states between start and acceptance, and the transitions that some token can take."""
    states = len(rows.accepting)
    sources = rows.sources
    used = np.unique(rows.class_of_token[rows.class_of_token >= 0])
    keep = np.isin(rows.classes, used)
    useful = _reachable(states, np.array([rows.start]), sources[keep], rows.targets[keep])
    useful &= _reachable(states, np.flatnonzero(rows.accepting), rows.targets[keep], sources[keep])
    keep &= useful[sources] & useful[rows.targets]
    useful[rows.start] = True
    numbers = np.cumsum(useful, dtype=np.int32) - 1
    class_of_token = np.searchsorted(used, rows.class_of_token).astype(np.int32)
    class_of_token[rows.class_of_token < 0] = -1
    return _from_transitions(
        replace(rows, class_of_token=class_of_token),
        int(numbers[rows.start]),
        rows.accepting[useful],
        numbers[sources[keep]],
        np.searchsorted(used, rows.classes[keep]),
        numbers[rows.targets[keep]],
    )


def merge_classes(rows: TokenRows, account: Account) -> TokenRows:
    """Give tokens with the same target in every state one class; drop unused classes."""
    order = np.argsort(rows.classes, kind="stable")
    columns = np.stack([rows.sources[order], rows.targets[order]], axis=1)
    present, begins, counts = np.unique(rows.classes[order], return_index=True, return_counts=True)
    merged = np.full(int(rows.class_of_token.max(initial=-1)) + 1, -1, dtype=np.int32)
    keep = np.zeros(len(merged), dtype=bool)
    known: dict[bytes, int] = {}
    for class_, begin, count in zip(present.tolist(), begins.tolist(), counts.tolist(), strict=True):
        account.work(count)
        column = columns[begin : begin + count].tobytes()
        keep[class_] = column not in known
        merged[class_] = known.setdefault(column, len(known))
    class_of_token = np.append(merged, np.int32(-1))[rows.class_of_token]  # -1 is its last entry
    first = keep[rows.classes]
    return _from_transitions(
        replace(rows, class_of_token=class_of_token),
        rows.start,
        rows.accepting,
        rows.sources[first],
        merged[rows.classes[first]],
        rows.targets[first],
    )


def blocks(rows: TokenRows, account: Account) -> Int64:
    """The number of the block of each state of a trimmed automaton: ``int64[states]``."""
    partition = _Partition(rows)
    pending = list(range(len(partition.members)))
    while pending:
        pending = partition.refine(pending, account)
    return partition.block_of


class _Partition:
    """States in blocks, and the transitions by their targets."""

    def __init__(self, rows: TokenRows) -> None:
        order = np.argsort(rows.targets, kind="stable")
        counts = np.bincount(rows.targets, minlength=len(rows.accepting))
        self._offsets = np.concatenate([[0], np.cumsum(counts)])
        self._sources = rows.sources[order]
        self._classes = rows.classes[order]
        self._width = int(rows.classes.max(initial=0)) + 1
        self.block_of = np.unique(rows.accepting, return_inverse=True)[1].astype(np.int64)
        self.members: list[set[int]] = [
            set(np.flatnonzero(self.block_of == block).tolist())
            for block in range(int(self.block_of.max()) + 1)
        ]

    def refine(self, pending: list[int], account: Account) -> list[int]:
        """Split all blocks by the transitions into the blocks ``pending``; return the new blocks."""
        into = np.array([state for block in pending for state in self.members[block]], dtype=np.int64)
        account.work(len(into))
        begins, counts = self._offsets[into], self._offsets[into + 1] - self._offsets[into]
        transitions = _spans(begins, counts)
        account.work(len(transitions))
        sources, classes = self._sources[transitions], self._classes[transitions]
        order = np.argsort(sources.astype(np.int64) * self._width + classes, kind="stable")
        signatures = np.stack([classes, np.repeat(self.block_of[into], counts)], axis=1)[order]
        states, begins, counts = np.unique(sources[order], return_index=True, return_counts=True)
        parts: dict[int, dict[bytes, list[int]]] = {}
        for state, block, begin, count in zip(
            states.tolist(), self.block_of[states].tolist(), begins.tolist(), counts.tolist(), strict=True
        ):
            signature = signatures[begin : begin + count].tobytes()
            parts.setdefault(block, {}).setdefault(signature, []).append(state)
        return [new for block, split in parts.items() for new in self._split(block, list(split.values()))]

    def _split(self, block: int, parts: list[list[int]]) -> list[int]:
        """Split a block into ``parts`` and the remaining states; the largest keeps its number."""
        rest = self.members[block]
        untouched = len(rest) - sum(map(len, parts))
        largest = max(parts, key=len)
        if len(largest) > untouched:
            parts.remove(largest)
            if untouched:
                parts.append(list(rest.difference(largest, *parts)))
        new = []
        for part in parts:
            rest.difference_update(part)
            self.block_of[part] = len(self.members)
            new.append(len(self.members))
            self.members.append(set(part))
        return new


def merge_states(rows: TokenRows, block_of: Int64) -> TokenRows:
    """One state for each block, with the transitions of its first member."""
    representatives = np.unique(block_of, return_index=True)[1]  # in order of block numbers
    counts = np.diff(rows.offsets)[representatives]
    transitions = _spans(rows.offsets[representatives], counts)
    return _from_transitions(
        rows,
        int(block_of[rows.start]),
        rows.accepting[representatives],
        np.repeat(np.arange(len(representatives)), counts),
        rows.classes[transitions],
        block_of[rows.targets[transitions]],
    )


def number(rows: TokenRows) -> TokenRows:
    """Number classes by their least tokens, and states breadth first from the start by least token."""
    present, tokens = np.unique(rows.class_of_token, return_index=True)
    by_token = present[np.argsort(tokens)]
    by_token = by_token[by_token >= 0]
    classes = np.full(len(by_token) + 1, -1, dtype=np.int32)  # the last entry is that of class -1
    classes[by_token] = np.arange(len(by_token), dtype=np.int32)
    rows = _from_transitions(
        replace(rows, class_of_token=classes[rows.class_of_token]),
        rows.start,
        rows.accepting,
        rows.sources,
        classes[rows.classes],
        rows.targets,
    )
    numbers = np.full(len(rows.accepting), -1, dtype=np.int64)
    numbers[rows.start] = 0
    order = [rows.start]
    for state in order:  # grows as states are found
        targets = rows.targets[rows.offsets[state] : rows.offsets[state + 1]]  # by least token
        fresh = targets[numbers[targets] < 0]
        if len(fresh):
            firsts = np.sort(np.unique(fresh, return_index=True)[1])
            numbers[fresh[firsts]] = np.arange(len(order), len(order) + len(firsts))
            order.extend(fresh[firsts].tolist())
    return _from_transitions(
        rows, 0, rows.accepting[order], numbers[rows.sources], rows.classes, numbers[rows.targets]
    )


def _from_transitions(
    like: TokenRows,
    start: int,
    accepting: Bool,
    sources: npt.NDArray[np.integer],
    classes: npt.NDArray[np.integer],
    targets: npt.NDArray[np.integer],
) -> TokenRows:
    """Compressed rows of transitions in any order, each row in order of classes."""
    keys = sources.astype(np.int64) * (int(classes.max(initial=0)) + 1) + classes
    if not bool((keys[1:] > keys[:-1]).all()):  # often they are in order, and sorting is expensive
        order = np.argsort(keys, kind="stable")
        classes, targets = classes[order], targets[order]
    counts = np.bincount(sources, minlength=len(accepting))
    return TokenRows(
        start,
        accepting,
        like.class_of_token,
        np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
        classes.astype(np.int32),
        targets.astype(np.int32),
    )


def _reachable(
    states: int,
    starts: npt.NDArray[np.integer],
    sources: npt.NDArray[np.integer],
    targets: npt.NDArray[np.integer],
) -> Bool:
    """The states that transitions lead to from ``starts``, including these: ``bool[states]``."""
    order = np.argsort(sources, kind="stable")
    targets = targets[order]
    offsets = np.concatenate([[0], np.cumsum(np.bincount(sources, minlength=states))])
    reached = np.zeros(states, dtype=bool)
    reached[starts] = True
    while len(starts):
        found = targets[_spans(offsets[starts], offsets[starts + 1] - offsets[starts])]
        starts = np.unique(found[~reached[found]])
        reached[starts] = True
    return reached


def _spans(begins: Int64, counts: Int64) -> Int64:
    """The numbers ``begin .. begin + count - 1`` of every span, one after the other."""
    shifts: Int64 = np.repeat(begins - np.cumsum(counts) + counts, counts)
    shifts += np.arange(len(shifts))
    return shifts
