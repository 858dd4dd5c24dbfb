"""The closed form of a regular constraint: the smallest deterministic automaton over tokens.

Composing a constraint with the detokenizing transducer, determinizing, trimming and minimizing yields
an automaton whose transitions are tokens (002, algorithm 2; 000, equation 4).  It needs neither the
pattern nor the bytes: a state and a token determine the next state.

Tokens that have the same target in every state share a token class, and transitions are stored by class.
Most of 262,145 tokens share one, or have no transition at all.  For the constraint ``(foo)+d`` of 002,
figure 5, and the tokens f, foo, food, d, o, oo::

    class_of_token   [0, 1, 2, 3, 4, 5]          rows   0: {0: 1, 1: 2, 2: 3}
                                                        1: {4: 4, 5: 2}
                                                        2: {0: 1, 1: 2, 2: 3, 3: 3}
                                                        3: {}              accepting
                                                        4: {4: 2}

Two additional states make every step defined: ``ended``, after a stop token, and ``dead``, after a
refused one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np
import numpy.typing as npt

from tokamata.automata.acceptor import Acceptor
from tokamata.automata.account import Account
from tokamata.automata.drawing import svg
from tokamata.automata.drawing.diagram import Diagram, edge
from tokamata.automata.drawing.dot import to_dot
from tokamata.automata.symbols import enumerate_names, show
from tokamata.automata.token_rows import Int32, TokenRows, smallest
from tokamata.automata.token_tensors import TokenTensors
from tokamata.calls.arguments import checked_list, checked_whole
from tokamata.errors import MachineError, TokenIdError
from tokamata.resources.limits import Limits
from tokamata.vocabulary.token_table import MAX_TOKENS

TokenNames = Callable[[int], "bytes | str | None"] | Sequence["bytes | str | None"]


class TokenAutomaton:
    """The smallest deterministic automaton over tokens of a language; immutable.

    States are 0 to ``states - 1``, breadth first from the start by least token.  Methods also accept
    ``ended`` (after a stop token) and ``dead`` (after a refused token) as states.  Equal languages with the
    same width and stop tokens yield equal values.

    Attributes:
        width: the number of token ids.
        start: the start state, 0.
        accepting: ``bool[states]``: whether the text may end in a state.
        class_of_token: ``int32[width]``, -1 for a token without transitions.
        classes: the number of token classes with transitions; classes are numbered by least token.
        stop_tokens: the tokens that end a text, in order.
    """

    __slots__ = ("_names", "_rows", "accepting", "class_of_token", "classes", "start", "stop_tokens", "width")

    def __init__(self, rows: TokenRows, stop_tokens: tuple[int, ...], names: TokenNames | None) -> None:
        self._rows = rows
        self._names = names
        self.width = len(rows.class_of_token)
        self.start = rows.start
        self.accepting = rows.accepting
        self.class_of_token = rows.class_of_token
        self.stop_tokens = stop_tokens
        self.classes = int(rows.class_of_token.max(initial=-1)) + 1
        for array in (rows.accepting, rows.class_of_token, rows.offsets, rows.classes, rows.targets):
            array.setflags(write=False)

    def __reduce__(self) -> tuple[type[TokenAutomaton], tuple[TokenRows, tuple[int, ...], TokenNames | None]]:
        """For pickling and copying."""
        return TokenAutomaton, (self._rows, self.stop_tokens, self._names)

    @classmethod
    def from_rows(
        cls,
        width: int,
        start: int,
        accepting: npt.ArrayLike,
        class_of_token: npt.ArrayLike,
        row_offsets: npt.ArrayLike,
        classes: npt.ArrayLike,
        targets: npt.ArrayLike,
        stop_tokens: Iterable[int] = (),
        names: TokenNames | None = None,
        limits: Limits | Account | None = None,
    ) -> TokenAutomaton:
        """The smallest automaton of the language of a deterministic automaton over token classes.

        That automaton need not be trimmed or minimized; its classes may be finer than necessary, or empty.

        Args:
            width: the number of token ids.
            start: the start state.
            accepting: ``bool[S]``.
            class_of_token: ``int32[width]``, -1 for a token without transitions.
            row_offsets: ``int64[S + 1]``; the transitions of state s are ``row_offsets[s]`` to
                ``row_offsets[s + 1]`` of ``classes`` and ``targets``, each class once, in any order.
            classes: ``int32[E]``.
            targets: ``int32[E]``.
            stop_tokens: the tokens that end a text; they have no transitions.
            names: the bytes or the name of a token, by id; for drawings and exports.
            limits: bounds on the time, and on the states of the given automaton.

        Raises:
            MachineError: the arrays are inconsistent, or a row has a class twice.
            LimitExceeded: it took too long, or there are too many states.
        """
        account = Account(limits)
        rows = TokenRows(
            int(start),
            np.array(accepting, dtype=bool),
            np.array(class_of_token, dtype=np.int32),
            np.array(row_offsets, dtype=np.int64),
            np.array(classes, dtype=np.int32),
            np.array(targets, dtype=np.int32),
        )
        stop = tuple(sorted({int(token) for token in stop_tokens}))
        _check(width, rows, stop)
        account.add_states(len(rows.accepting))
        return cls(smallest(rows, account), stop, names)

    @property
    def states(self) -> int:
        """The number of states, without ``ended`` and ``dead``."""
        return len(self.accepting)

    @property
    def ended(self) -> int:
        """The number of the state after a stop token."""
        return self.states

    @property
    def dead(self) -> int:
        """The number of the state after a refused token."""
        return self.states + 1

    @property
    def transitions(self) -> int:
        """The number of transitions by tokens."""
        return int(self._class_sizes()[self._rows.classes].sum())

    def row(self, state: int) -> tuple[Int32, Int32]:
        """The transitions of a state by class: classes, in order, and targets, ``int32[n]`` each."""
        self._check_state(state)
        if state >= self.states:
            return self._rows.classes[:0], self._rows.targets[:0]
        span = slice(int(self._rows.offsets[state]), int(self._rows.offsets[state + 1]))
        return self._rows.classes[span], self._rows.targets[span]

    def rows(self, state: int) -> dict[int, Int32]:
        """The transitions of a state by target: for each target its tokens, in order."""
        classes, targets = self.row(state)
        target_of_class = np.full(self.classes + 1, -1, dtype=np.int32)  # the last is that of class -1
        target_of_class[classes] = targets
        target_of_token = target_of_class[self.class_of_token]
        tokens = np.flatnonzero(target_of_token >= 0).astype(np.int32)
        reached = target_of_token[tokens]
        return {int(target): tokens[reached == target] for target in np.unique(reached)}

    def tokens(self, state: int, target: int) -> Int32:
        """The tokens that lead from ``state`` to ``target``: ``int32[n]``, in order."""
        self._check_state(target)
        return self.rows(state).get(target, np.empty(0, dtype=np.int32))

    def step(self, state: int, token: int) -> int:
        """The state after ``token``: ``dead`` if it is refused, ``ended`` after a stop token.

        After a stop token only stop tokens are accepted, as by :meth:`tokamata.Matcher.advance`.

        Raises:
            TokenIdError: the token is outside the width.
            MachineError: there is no such state.
        """
        if not 0 <= token < self.width:
            raise TokenIdError(f"token {token} is outside of this automaton's width, {self.width}")
        classes, targets = self.row(state)
        if token in self.stop_tokens:
            return self.ended if self._may_end(state) else self.dead
        wanted = self.class_of_token[token]
        index = int(np.searchsorted(classes, wanted))
        return int(targets[index]) if index < len(classes) and classes[index] == wanted else self.dead

    def mask(self, state: int) -> Int32:
        """The tokens that may come next, including stop tokens: bit ``t % 32`` of word ``t // 32``.

        Returns:
            ``int32[ceil(width / 32)]``.
        """
        classes, _ = self.row(state)
        allowed_classes = np.zeros(self.classes + 1, dtype=bool)  # the last is that of class -1
        allowed_classes[classes] = True
        allowed = np.zeros(-(-self.width // 32) * 32, dtype=bool)
        allowed[: self.width] = allowed_classes[self.class_of_token]
        allowed[list(self.stop_tokens)] = self._may_end(state)
        return np.packbits(allowed, bitorder="little").view("<i4").astype(np.int32, copy=False)

    def accepts(self, tokens: Iterable[int]) -> bool:
        """Whether these tokens spell an accepted text; stop tokens may follow it.

        Raises:
            TokenIdError: a token is outside the width.
        """
        state = self.start
        for token in tokens:
            state = self.step(state, token)
        return self._may_end(state)

    def shortest(self) -> tuple[int, ...] | None:
        """The shortest accepted token sequence, of several the first in order; ``None`` if there is none."""
        distances = self._distances()
        if distances[self.start] < 0:
            return None
        least = np.unique(self.class_of_token, return_index=True)
        token_of_class = dict(zip(least[0].tolist(), least[1].tolist(), strict=True))
        state, sequence = self.start, []
        while distances[state]:
            classes, targets = self.row(state)  # by least token
            index = int(np.argmax(distances[targets] == distances[state] - 1))
            sequence.append(token_of_class[int(classes[index])])
            state = int(targets[index])
        return tuple(sequence)

    def to_acceptor(self, limits: Limits | Account | None = None) -> Acceptor:
        """The same language as an explicit acceptor with a transition for each token, without stop tokens.

        Raises:
            LimitExceeded: too many states or transitions.
        """
        account = Account(limits)
        account.add_states(self.states)
        account.add_transitions(self.transitions)
        rows = tuple(
            tuple((token, target) for target, tokens in self.rows(state).items() for token in tokens.tolist())
            for state in range(self.states)
        )
        used = np.flatnonzero(self.class_of_token >= 0).tolist() if self.transitions else []
        names = None if self._names is None else {token: self.name(token) for token in used}
        return Acceptor(rows, frozenset(np.flatnonzero(self.accepting).tolist()), self.start, names)

    def to_torch(self, device: object = "cpu", limits: Limits | None = None) -> TokenTensors:
        """Tensors that step whole batches of states on ``device``, by indexing.

        Raises:
            MissingExtraError: torch is not installed.
            LimitExceeded: the table would exceed ``limits.memory_bytes``.
        """
        return TokenTensors(self._rows, self.stop_tokens, device, limits or Limits())

    def to_openfst(
        self, shift: int = 1, *, named: bool = False, limits: Limits | Account | None = None
    ) -> str:
        """OpenFst's text form, a line for each token; see :mod:`tokamata.automata.openfst`."""
        return self.to_acceptor(limits).to_openfst(shift, named=named)

    @classmethod
    def from_openfst(
        cls,
        text: str,
        width: int,
        stop_tokens: Iterable[int] = (),
        symbols: str | None = None,
        shift: int = 1,
        limits: Limits | Account | None = None,
    ) -> TokenAutomaton:
        """Read OpenFst's text form; see :mod:`tokamata.automata.openfst`.

        Args:
            text: as :meth:`to_openfst` writes it.
            width: the number of token ids, which the text does not contain.
            stop_tokens: the tokens that end a text.
            symbols: the table of symbols, if ``text`` has the names of tokens.
            shift: label l becomes token l - shift.
            limits: bounds on the result.

        Raises:
            MachineFileError: a line is damaged.
            MachineError: it is not a deterministic automaton over tokens of that width.
            LimitExceeded: too many states or transitions.
        """
        width = checked_whole("width", width, 0, MAX_TOKENS + 1)
        stop_tokens = checked_list("stop_tokens", stop_tokens, "a list of token ids")
        account = Account(limits)
        acceptor = Acceptor.from_openfst(text, symbols, shift, account)
        if not acceptor.is_deterministic:
            raise MachineError(
                "an automaton over tokens must be deterministic, and this text is not; read it with "
                "Acceptor.from_openfst and call determinize"
            )
        tokens = sorted(acceptor.symbols)
        if tokens and tokens[-1] >= width:
            raise MachineError(f"token {tokens[-1]} of the text is outside of the width, {width}")
        class_of_token = np.full(width, -1, dtype=np.int32)  # a class for each token; equal ones are joined
        class_of_token[tokens] = np.arange(len(tokens))
        arcs = [(class_of_token[token], target) for _, token, target in acceptor.transitions]
        accepting = np.zeros(acceptor.states, dtype=bool)
        accepting[list(acceptor.accepting)] = True
        return cls.from_rows(
            width,
            acceptor.start,
            accepting,
            class_of_token,
            np.cumsum([0, *map(len, acceptor.rows)]),
            [class_ for class_, _ in arcs],
            [target for _, target in arcs],
            stop_tokens,
            None if acceptor.names is None else dict(acceptor.names).get,
            account,
        )

    def name(self, token: int) -> str:
        """The name of a token for drawings: its name or bytes, or ``#id`` if it has none."""
        name = None
        if self._names is not None:
            if callable(self._names):
                name = self._names(token)
            elif token < len(self._names):
                name = self._names[token]
        return f"#{token}" if name is None else show(name)

    def diagram(self) -> Diagram:
        """The drawing of this automaton: an edge lists the names of its first tokens, by id."""
        edges = tuple(
            edge(state, target, tokens, self._summary)
            for state in range(self.states)
            for target, tokens in self.rows(state).items()
        )
        accepting = frozenset(np.flatnonzero(self.accepting).tolist())
        return Diagram("Token automaton", self.states, self.start, accepting, edges, self.transitions)

    def to_svg(self, max_states: int = 300) -> str:
        """A drawing with the names of tokens, as :meth:`tokamata.automata.Acceptor.to_svg`."""
        if self.states > max_states:
            return svg.describe("Token automaton", self.states, self.transitions)
        return svg.draw(self.diagram())

    def to_dot(self) -> str:
        """The same drawing as text for Graphviz, of any size."""
        return to_dot(self.diagram())

    def _repr_svg_(self) -> str:
        return self.to_svg()

    def _summary(self, tokens: Int32, width: int) -> str:
        return enumerate_names(map(self.name, tokens[:width].tolist()), len(tokens), width)

    def _may_end(self, state: int) -> bool:
        return state == self.ended or (state < self.states and bool(self.accepting[state]))

    def _class_sizes(self) -> npt.NDArray[np.int64]:
        used = self.class_of_token[self.class_of_token >= 0]
        return np.bincount(used, minlength=self.classes)

    def _distances(self) -> Int32:
        """For each state the fewest tokens to acceptance, -1 for a dead state: ``int32[states]``."""
        sources, targets = self._rows.sources, self._rows.targets
        order = np.argsort(targets, kind="stable")
        sources, targets = sources[order], targets[order]
        distances = np.where(self.accepting, 0, -1).astype(np.int32)
        frontier = np.flatnonzero(self.accepting)
        while len(frontier):
            spans = np.searchsorted(targets, frontier), np.searchsorted(targets, frontier, side="right")
            before = np.unique(
                np.concatenate([sources[a:b] for a, b in zip(*map(np.ndarray.tolist, spans), strict=True)])
            )
            nearest = distances[frontier[0]] + 1
            frontier = before[distances[before] < 0]
            distances[frontier] = nearest
        return distances

    def _check_state(self, state: int) -> None:
        if not 0 <= state <= self.dead:
            raise MachineError(
                f"there is no state {state}: they are 0 to {self.states - 1}, "
                f"{self.ended} for ended and {self.dead} for dead"
            )

    def _key(self) -> tuple[object, ...]:
        rows = self._rows
        arrays = (rows.accepting, rows.class_of_token, rows.offsets, rows.classes, rows.targets)
        return (self.stop_tokens, *(array.tobytes() for array in arrays))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TokenAutomaton) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash((self.width, self.states, self.stop_tokens, self._rows.targets.tobytes()))

    def __repr__(self) -> str:
        return (
            f"<TokenAutomaton of {self.states:,} states, {self.classes:,} classes of {self.width:,} tokens, "
            f"{self.transitions:,} transitions>"
        )


def _check(width: int, rows: TokenRows, stop_tokens: Sequence[int]) -> None:
    """Refuse arrays that are not a deterministic automaton."""
    states, transitions = len(rows.accepting), len(rows.classes)
    if any(array.ndim != 1 for array in (rows.accepting, rows.class_of_token, rows.offsets, rows.classes)):
        raise MachineError("the arrays of an automaton must have one dimension each")
    if rows.class_of_token.shape != (width,):
        raise MachineError(f"class_of_token has {rows.class_of_token.size} entries for {width} tokens")
    if not 0 <= rows.start < states:
        raise MachineError(f"the start is {rows.start}; states are numbered 0 to {states - 1}")
    whole = rows.offsets.shape == (states + 1,) and rows.offsets[0] == 0 and rows.offsets[-1] == transitions
    if not whole or rows.targets.shape != rows.classes.shape or bool((np.diff(rows.offsets) < 0).any()):
        raise MachineError(
            f"row_offsets must be {states + 1} numbers that rise from 0 to {transitions}, the number of "
            f"classes and of targets; targets has {rows.targets.size}"
        )
    if transitions and not (rows.targets.min() >= 0 and rows.targets.max() < states):
        raise MachineError(f"a target is not a state; states are numbered 0 to {states - 1}")
    if transitions and rows.classes.min() < 0:
        raise MachineError("a transition has a class below 0")
    keys = rows.sources.astype(np.int64) << 32 | rows.classes
    if not bool((keys[1:] > keys[:-1]).all()):  # this check is far cheaper than sorting
        keys.sort()
    if bool((keys[1:] == keys[:-1]).any()):
        raise MachineError("a state has two transitions for one class, so the automaton is not deterministic")
    for token in stop_tokens:
        if not 0 <= token < width:
            raise MachineError(f"stop token {token} is outside of the width, {width}")
        if rows.class_of_token[token] != -1:
            raise MachineError(f"stop token {token} has transitions, but a stop token ends the text")
