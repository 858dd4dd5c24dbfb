"""A lattice with a constraint over tokens: those segmentations whose token ids an automaton accepts.

The product has a node for each position and state of the automaton.  A deterministic automaton has one run
for each sequence, so each segmentation is one path of the product, and sums and samples count it once;
others are determinized first.

The automaton reads the ids as the host writes them, and for unknown characters a token is not an arc:

- SentencePiece writes one unknown token for unknown characters in a row: the product remembers whether the
  last one was unknown.
- With byte fallback, an arc is read as several tokens.
- Hugging Face joins unknown characters in a row, and looks the joined text up: it may be a piece after all.
  So the product reads a row only when it ends, or is longer than any such piece.

For the text ``xa``, where x is unknown, and the automaton of all sequences of two tokens::

    (0, q0) -x-> (1, q1, unknown) -a-> (2, q2)        ids <unk> a

Cost: linear in arcs times states that are reached.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from tokamata.automata.acceptor import Acceptor
from tokamata.automata.determinize import determinize
from tokamata.automata.token_automaton import TokenAutomaton
from tokamata.resources.limits import Limits, Watch
from tokamata.tokenization.lattice.graph import ARC_BYTES, Graph
from tokamata.tokenization.lattice.hosts import Host
from tokamata.tokenization.lattice.unigram import UnigramModel

__all__ = ["product"]

_ARC_BYTES = ARC_BYTES + 150
_ARCS_OF_A_CHECK = 4096

Step = Callable[[int, int], "int | None"]  # the state after a token
Configuration = tuple[int, int]  # a state; how many code points of unknown characters end here


class _Reader:
    """Runs an automaton along arcs.

    Args:
        model: the model.
        text: the text of the lattice.
        automaton: a deterministic automaton over its token ids.
    """

    def __init__(self, model: UnigramModel, text: str, automaton: Acceptor | TokenAutomaton) -> None:
        self._model = model
        self._text = text
        self._step, self._accepts = _steps(automaton)
        self._read_row = model.longest_joined + 1  # a row of this length or more is read already
        self.start: Configuration = (automaton.start, 0)

    def after(self, here: Configuration, token: int, start: int, stop: int) -> Configuration | None:
        """The configuration after an arc, or ``None`` if the automaton refuses it."""
        if token != self._model.unknown:
            state = self._row_ended(here, start)
            state = None if state is None else self._step(state, token)
            return None if state is None else (state, 0)
        state, row = here
        piece = self._text[start:stop]
        if self._model.host is Host.SENTENCE_PIECE and self._model.byte_tokens is not None:
            return self._reads(state, self._model.joined_tokens(piece), 0)
        if row == self._read_row:  # with byte fallback, its further bytes
            return (
                here
                if self._model.byte_tokens is None
                else self._reads(state, self._model.joined_tokens(piece), row)
            )
        row += stop - start
        if row < self._read_row:
            return state, row
        return self._reads(state, self._model.joined_tokens(self._text[stop - row : stop]), self._read_row)

    def accepts(self, here: Configuration, stop: int) -> bool:
        """Whether a segmentation may end so."""
        state = self._row_ended(here, stop)
        return state is not None and self._accepts(state)

    def _row_ended(self, here: Configuration, stop: int) -> int | None:
        """The state once the row of unknown characters before ``stop`` is read."""
        state, row = here
        if row == 0 or row == self._read_row:
            return state
        read = self._reads(state, self._model.joined_tokens(self._text[stop - row : stop]), 0)
        return None if read is None else read[0]

    def _reads(self, state: int, tokens: Iterable[int], row: int) -> Configuration | None:
        for token in tokens:
            after = self._step(state, token)
            if after is None:
                return None
            state = after
        return state, row


def _steps(automaton: Acceptor | TokenAutomaton) -> tuple[Step, Callable[[int], bool]]:
    """How a deterministic automaton steps, and where it accepts."""
    if isinstance(automaton, Acceptor):
        rows = [dict(row) for row in automaton.rows]
        return lambda state, token: rows[state].get(token), automaton.accepting.__contains__
    known: dict[tuple[int, int], int | None] = {}

    def step(state: int, token: int) -> int | None:
        if (state, token) not in known:
            after = automaton.step(state, token)
            known[state, token] = None if after == automaton.dead else after
        return known[state, token]

    return step, lambda state: state == automaton.ended or bool(automaton.accepting[state])


def product(
    model: UnigramModel, text: str, graph: Graph, automaton: Acceptor | TokenAutomaton, limits: Limits
) -> Graph:
    """The paths of a graph whose tokens an automaton accepts; it has no ends if there are none.

    Raises:
        LimitExceeded: the result is too large, or the time is over.
        TokenIdError: the automaton has fewer tokens than the model.
    """
    watch = Watch(limits)
    if isinstance(automaton, Acceptor) and not automaton.is_deterministic:
        automaton = determinize(automaton, limits)
    reader = _Reader(model, text, automaton)
    found: list[dict[Configuration, int]] = [{} for _ in range(graph.nodes)]  # by node, with a number each
    nodes = [0]  # the node of each
    found[0][reader.start] = 0
    arcs: list[tuple[int, int, int]] = []  # source, target, the arc
    offsets, starts, stops = graph.out_offsets.tolist(), graph.starts.tolist(), graph.stops.tolist()
    targets, tokens = graph.targets.tolist(), graph.tokens.tolist()
    for node in range(graph.nodes):
        for here, number in found[node].items():
            for arc in range(offsets[node], offsets[node + 1]):
                after = reader.after(here, tokens[arc], starts[arc], stops[arc])
                if after is None:
                    continue
                there = found[targets[arc]]
                if after not in there:
                    there[after] = len(nodes)
                    nodes.append(targets[arc])
                arcs.append((number, there[after], arc))
                if len(arcs) % _ARCS_OF_A_CHECK == 0:
                    watch.check()
                    watch.hold(_ARC_BYTES * _ARCS_OF_A_CHECK)
    ends = [
        number
        for end in graph.ends
        for here, number in found[end].items()
        if reader.accepts(here, int(graph.positions[end]))
    ]
    return _made(graph, nodes, arcs, ends)


def _made(graph: Graph, nodes: list[int], arcs: list[tuple[int, int, int]], ends: list[int]) -> Graph:
    """The graph of what was found, without nodes from which no end can be reached.

    Args:
        graph: the graph of the lattice.
        nodes: for each number its node there; a number is found before those that it leads to.
        arcs: two numbers and the arc there, by the node of the source.
        ends: numbers.
    """
    is_live = bytearray(len(nodes))
    for number in (0, *ends):
        is_live[number] = 1
    for source, target, _ in reversed(arcs):
        is_live[source] |= is_live[target]
    live = np.flatnonzero(np.frombuffer(is_live, dtype=np.uint8))
    order = live[np.argsort(np.array(nodes)[live], kind="stable")]
    number_of = np.full(len(nodes), -1, dtype=np.int32)
    number_of[order] = np.arange(len(order), dtype=np.int32)
    table = np.array(arcs, dtype=np.int64).reshape(-1, 3)
    table[:, :2] = number_of[table[:, :2]]
    table = table[(table[:, :2] >= 0).all(axis=1)]
    table = table[np.lexsort((table[:, 2], table[:, 0]))]
    return Graph(
        graph.positions[np.array(nodes)[order]],
        table[:, 0].astype(np.int32),
        table[:, 1].astype(np.int32),
        graph.tokens[table[:, 2]],
        graph.scores[table[:, 2]],
        tuple(sorted(number_of[ends].tolist())),
    )
