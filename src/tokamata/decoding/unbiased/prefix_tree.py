"""The prefixes that were visited: what the model said after each, and how much of it is left.

A node is a prefix that some final path goes on from.  It has one number that matters, its *bound*: an upper
bound of the probability that a final path follows, given the prefix.  It is 1 until the model has read the
prefix, then the legal mass, and it falls as more is known of the nodes below:

    bound(v)  =  sum over legal tokens a of  p(a | v) · bound(v a)         bound = 1 where v a is unknown

    pattern (ab|c)d        v    p(a) 0.5  p(c) 0.2                     bound(v) = 0.5 + 0.2 = 0.7
    after reading "a"      va   p(b) 0.1                               bound(v) = 0.5 · 0.1 + 0.2 = 0.25

**Data.**  A node has floats and a dictionary of the children that were visited.  Its *row*, the legal tokens
and the logarithms of ``p(a | v) · bound(v a)``, is as long as the mask is wide, so rows are a memo: the
oldest are dropped at the bound on memory, and made again when they are needed, by another call of the model.
Once the nodes alone fill half of the memory nothing new is attached, so nothing new is learned; what is drawn
then has the same law.

**Reading ahead.**  Masks take microseconds and a call of the model milliseconds, so the legal tokens after a
node are known before the model is called.  Where they are few, the model reads the nodes below in the same
call: a forced run as one row, ``{"na`` | ``me`` | ``":``, and a choice as a batch of rows
(:mod:`tokamata.decoding.reader`).

Source: the bounds are the invalid mass of CARS (Parys et al., 2510.01902) and the expected future
grammaticality of ASAp (Park et al., 2405.21047).  Not taken: a float for every token of every visited prefix,
as ASAp's own program has; sums that are kept by subtraction, which lose their digits.

Cost: a step at a known node is a binary search; a change of a bound adds up one row for each node of its
path.
"""

# transformers has no usable types for models, hence `Any`.

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tokamata.decoding.logarithms import cumulative, drawn, log_sum
from tokamata.decoding.reader import Reader
from tokamata.decoding.results import Clock, Timing
from tokamata.decoding.unbiased.law import Law, Position

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

__all__ = ["COMPLETE", "Node", "PrefixTree", "Row"]

_NODE_BYTES = 500  # a node and its entries in two dictionaries: 330 to 450 were measured
_LOGITS_BYTES = 1 << 26  # of one call that reads ahead, and at most a quarter of the memory
_MOST_POSITIONS = 128  # of one row that is read ahead


class Node:
    """A prefix that some final path goes on from.

    Attributes:
        edge: the logarithm of the model's probability of its last token.
        mass: the logarithm of its legal mass; 0 until the model has read it.
        bound: the logarithm of its bound; 0 until then.
        children: the visited nodes after it, by token; ``None`` where there are none.
        row: what its row is, if it is kept.
    """

    __slots__ = ("bound", "children", "edge", "mass", "row")

    def __init__(self, edge: float) -> None:
        self.edge, self.mass, self.bound = edge, 0.0, 0.0
        self.children: dict[int, Node] | None = None
        self.row: Row | None = None

    def child(self, token: int) -> Node | None:
        """The visited node after it, if there is one."""
        return None if self.children is None else self.children.get(token)


COMPLETE = Node(0.0)  # stands for every prefix that is a final path itself


class Row:
    """The legal tokens after a prefix, and the weight that each has in a draw.

    Attributes:
        tokens: ``int64``, in ascending order.
        scores: the logarithms of ``p(a | v) · bound(v a)``.
    """

    __slots__ = ("_sums", "scores", "tokens")

    def __init__(self, tokens: npt.NDArray[np.int64], scores: npt.NDArray[np.float64]) -> None:
        self.tokens, self.scores = tokens, scores
        self._sums: npt.NDArray[np.float64] | None = None

    @property
    def size_bytes(self) -> int:
        """Its memory, the sums included."""
        return 3 * self.scores.nbytes + 400

    def index(self, token: int) -> int:
        """The entry of a legal token."""
        return int(self.tokens.searchsorted(token))

    def set_score(self, index: int, score: float) -> None:
        """Change a score."""
        self.scores[index] = score
        self._sums = None

    def draw(self, uniform: float) -> int:
        """The entry of a token that is drawn by the scores, one of which is above minus infinity."""
        if self._sums is None:
            self._sums = cumulative(self.scores)
        return drawn(self._sums, uniform)


@dataclass
class _Planned:
    """A node that the model will read: its tokens after the first node of the plan, and the legal ones."""

    path: list[int]
    legal: npt.NDArray[np.int64]
    children: list[_Planned]


class PrefixTree:
    """The visited prefixes of one prompt under one constraint.

    Args:
        law: the target law.
        model: the model.
        learns: whether bounds fall; otherwise they stay 1, and scores are the model's log-probabilities.
        rows: how many rows a call of the model may read; 1 reads forced runs ahead, 0 nothing.
        memory_bytes: the bound on memory.
        allow: called before each call of the model; raises where it is one too many.
        timing: where the times are added.

    Attributes:
        root: the empty prefix.
        reader: the model, with its counts.
    """

    def __init__(
        self,
        law: Law,
        model: Any,
        *,
        learns: bool,
        rows: int,
        memory_bytes: int,
        allow: Callable[[int], None],
        timing: Timing,
    ) -> None:
        self.root = Node(0.0)
        self.reader = Reader(model)
        self._law, self._learns, self._rows, self._allow, self._timing = law, learns, rows, allow, timing
        self._position = Position(law)
        self._memory_bytes = memory_bytes
        self._logits_bytes = min(_LOGITS_BYTES, memory_bytes // 4)
        self._node_bytes = self._row_bytes = 0
        self._kept: OrderedDict[Node, None] = OrderedDict()  # nodes with rows, the oldest first
        self._width = law.task.vocabulary.width

    @property
    def _is_full(self) -> bool:
        return self._node_bytes >= self._memory_bytes // 2

    def row(self, node: Node, path: Sequence[int]) -> Row:
        """The row of a node; the model reads the node if its row is not kept.

        Args:
            node: the node.
            path: its tokens.

        Raises:
            GenerationError: the model's logits are no distribution.
        """
        if node.row is None:
            self._read(node, list(path))
        else:
            self._kept.move_to_end(node)
        assert node.row is not None
        return node.row

    def child(self, node: Node, row: Row, index: int, path: Sequence[int]) -> Node:
        """The node after a token of a row that is no stop token.

        Args:
            node: the node before it.
            row: that node's row.
            index: of the token in the row.
            path: the tokens of the child, the new one included.
        """
        token = int(row.tokens[index])
        found = node.child(token)
        if found is None:
            with Clock(self._timing, "constraint_seconds"):
                self._position.move(path)
                is_complete = self._position.is_complete
            # An unknown node has the bound 1, so the score is the log-probability.
            found = COMPLETE if is_complete else Node(float(row.scores[index]))
            self._attach(node, token, found)
        return found

    def learn(self, visited: Sequence[tuple[Node, Row, int]], last: Node) -> None:
        """Let the bounds along a path fall to what is known of the nodes below.

        Args:
            visited: the nodes of the path, their rows, and the entries of the tokens that lead on.
            last: the node after them, which the model has read.
        """
        child = last
        for node, row, index in reversed(visited):
            if node.child(int(row.tokens[index])) is not child:
                child = node  # nothing is learned of a node that could not be attached
                continue
            row.set_score(index, child.edge + child.bound)
            node.bound = log_sum(row.scores)
            child = node

    def _attach(self, node: Node, token: int, child: Node) -> None:
        if self._is_full:
            return
        if node.children is None:
            node.children = {}
        node.children[token] = child
        self._node_bytes += _NODE_BYTES

    def _read(self, node: Node, path: list[int]) -> None:
        """Let the model read a node, and those below that are read with it."""
        self._allow(self.reader.calls)
        with Clock(self._timing, "constraint_seconds"):
            plan = self._plan(path)
            ends = [planned.path for planned in plan if not planned.children]
        with Clock(self._timing, "model_seconds"):
            logits = self.reader.logits_ahead(self._law.task.prompt + path, ends)
            places = [
                next(row for row, end in enumerate(ends) if end[: len(planned.path)] == planned.path)
                for planned in plan
            ]
            chosen = logits[places, [len(planned.path) for planned in plan]]
            legal = [planned.legal for planned in plan]
            found = self._law.log_probabilities(chosen, legal)
        nodes: dict[tuple[int, ...], Node] = {(): node}
        for planned, scores in zip(plan, found, strict=True):
            self._enter(planned, nodes, scores)
        for planned in reversed(plan):  # bounds of nodes follow from those below them
            self._settle(nodes[tuple(planned.path)])
        while self._kept and self._row_bytes + self._node_bytes > self._memory_bytes:
            oldest, _ = self._kept.popitem(last=False)
            if oldest is node:  # the walk stands on it
                self._kept[node] = None
                if len(self._kept) == 1:
                    break
                continue
            assert oldest.row is not None
            self._row_bytes -= oldest.row.size_bytes
            oldest.row = None

    def _plan(self, path: list[int]) -> list[_Planned]:
        """The nodes of one call, parents first."""
        self._position.move(path)
        first = _Planned([], self._position.legal(), [])
        plan, rows = [first], 1
        most = 0 if self._is_full else self._rows
        for planned in plan:  # which grows, level by level
            positions = len(planned.path) + 2
            if positions > _MOST_POSITIONS or len(planned.legal) > most + len(self._law.stop):
                continue
            children = []
            for token in planned.legal.tolist():
                if token in self._law.stop:
                    continue
                self._position.move([*path, *planned.path, token])
                if not self._position.is_complete:
                    children.append(_Planned([*planned.path, token], self._position.legal(), []))
            more = rows - 1 + len(children)
            if children and more <= most and 4 * self._width * positions * more <= self._logits_bytes:
                rows = more
                planned.children = children
                plan += children
        return plan

    def _enter(
        self, planned: _Planned, nodes: dict[tuple[int, ...], Node], scores: npt.NDArray[np.float64]
    ) -> None:
        """Give a node that the model has read its row, and make those that are read with it."""
        node = nodes[tuple(planned.path)]
        if node.row is not None:  # read again with its parent, whose row was dropped
            self._row_bytes -= node.row.size_bytes
        node.row = Row(planned.legal, scores)
        self._row_bytes += node.row.size_bytes
        self._kept[node] = None
        self._kept.move_to_end(node)
        node.mass = min(log_sum(scores), 0.0)  # rounding may exceed 0
        for below in planned.children:
            token = below.path[-1]
            child = node.child(token)
            if child is None:
                child = Node(float(scores[node.row.index(token)]))
                self._attach(node, token, child)
            nodes[tuple(below.path)] = child

    def _settle(self, node: Node) -> None:
        """Let the scores of a node follow from the nodes below, and its bound from the scores."""
        if not self._learns:
            return
        row, node.bound = node.row, node.mass
        assert row is not None
        for token, child in (node.children or {}).items():
            if child is not COMPLETE:
                row.set_score(row.index(token), child.edge + child.bound)
        if node.children:
            node.bound = min(log_sum(row.scores), 0.0)
