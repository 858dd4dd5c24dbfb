"""What a drawing shows: states, and one edge for all transitions between two of them.

Transitions are counted before they are merged, so that a drawing can say how much it stands for.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tokamata.automata.symbols import enumerate_names, name_of, summarize

if TYPE_CHECKING:
    from tokamata.automata.acceptor import Acceptor
    from tokamata.automata.token_automaton import TokenAutomaton
    from tokamata.automata.transducer import Transducer

_LONG = 400  # characters of the text that is shown when a pointer rests on an edge


@dataclass(frozen=True)
class Edge:
    """All transitions from one state to another.

    Attributes:
        source: the state that they leave.
        target: the state that they lead to.
        label: their symbols, in few words.
        title: the same in more words.
    """

    source: int
    target: int
    label: str
    title: str


@dataclass(frozen=True)
class Diagram:
    """A machine as a drawing shows it.

    Attributes:
        kind: what it is, such as ``"Acceptor"``.
        states: the number of states.
        start: the start state.
        accepting: the accepting states.
        edges: in order of source and target.
        transitions: how many transitions the edges stand for.
    """

    kind: str
    states: int
    start: int
    accepting: frozenset[int]
    edges: tuple[Edge, ...]
    transitions: int


def of_acceptor(acceptor: Acceptor) -> Diagram:
    """An edge lists symbols, with ranges where they read well."""
    between: dict[tuple[int, int], list[int]] = {}
    for source, symbol, target in acceptor.transitions:
        between.setdefault((source, target), []).append(symbol)
    edges = tuple(
        Edge(*ends, summarize(symbols, acceptor.names), summarize(symbols, acceptor.names, _LONG))
        for ends, symbols in sorted(between.items())
    )
    return Diagram("Acceptor", acceptor.states, acceptor.start, acceptor.accepting, edges, acceptor.size)


def of_transducer(transducer: Transducer) -> Diagram:
    """An edge lists pairs ``input:output``; where the two are the same, as a set of symbols."""
    names = transducer.input_names, transducer.output_names
    between: dict[tuple[int, int], list[tuple[int, int]]] = {}
    for source, read, written, target in transducer.transitions:
        between.setdefault((source, target), []).append((read, written))
    edges = tuple(
        Edge(*ends, _pairs(pairs, *names, 28), _pairs(pairs, *names, _LONG))
        for ends, pairs in sorted(between.items())
    )
    return Diagram(
        "Transducer", transducer.states, transducer.start, transducer.accepting, edges, transducer.size
    )


def of_token_automaton(automaton: TokenAutomaton) -> Diagram:
    """An edge lists the first tokens by id, by their names, and says how many there are."""
    edges = []
    for state in range(automaton.states):
        for target, tokens in automaton.rows(state).items():
            names = [automaton.name(token) for token in tokens[:_LONG].tolist()]
            label, title = (enumerate_names(names, len(tokens), width) for width in (28, _LONG))
            edges.append(Edge(state, target, label, title))
    accepting = frozenset(state for state in range(automaton.states) if automaton.accepting[state])
    return Diagram(
        "Token automaton", automaton.states, automaton.start, accepting, tuple(edges), automaton.transitions
    )


def _pairs(
    pairs: Iterable[tuple[int, int]],
    input_names: Mapping[int, str] | None,
    output_names: Mapping[int, str] | None,
    width: int,
) -> str:
    """Pairs of one output are grouped: ``a–c:x``."""
    inputs: dict[int, list[int]] = {}
    count = 0
    for read, written in pairs:
        inputs.setdefault(written, []).append(read)
        count += 1
    same = [written for written, reads in inputs.items() if reads == [written] and written >= 0]
    texts = [summarize(same, input_names, width)] if len(same) > 2 and input_names == output_names else []
    for written, reads in inputs.items():
        if not texts or written not in same:
            texts.append(f"{summarize(reads, input_names, width)}:{name_of(written, output_names)}")
    return enumerate_names(texts, count, width)
