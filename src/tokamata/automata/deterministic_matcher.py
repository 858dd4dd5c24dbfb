"""Algorithm 3 of 002 as it is printed: one state and one stack.

The allowed symbols are those of the transitions that leave the state and whose popped string the stack ends
with.  The transition of the chosen symbol is followed: its string is popped, and what it pushes is pushed.
For that, the automaton must be deterministic: of two transitions that leave one state and read one symbol,
no stack may allow both, so neither popped string is an end of the other.  The paper's system "detects
non-deterministic grammars and signals an error" (section 3.1); so does this one.

As in the paper, an allowed symbol may lead to a configuration from which nothing is accepted.
:class:`~tokamata.automata.PushdownMatcher` has no such symbols, and takes any automaton.

Cost.  A step examines the transitions of one state.
"""

from __future__ import annotations

from tokamata.automata.account import Account
from tokamata.automata.contract import contract_epsilon
from tokamata.automata.machine import EPSILON, Edit
from tokamata.automata.pushdown import PushdownAutomaton
from tokamata.automata.symbols import name_of
from tokamata.errors import NondeterministicError
from tokamata.resources.limits import Limits

_Stack = tuple[int, ...]


class DeterministicMatcher:
    """The position of one string in a deterministic push-down automaton.

    Args:
        pushdown: the automaton; its transitions that read nothing are contracted.
        limits: bounds on that.

    Attributes:
        state: the state of the contracted automaton.
        stack: the stack, from its bottom to its top.

    Raises:
        NondeterministicError: a state has two transitions for one symbol that one stack allows.
        EndlessStackError: the automaton pushes or pops without end while it reads nothing.
        LimitExceeded: the contracted automaton is too large.
    """

    __slots__ = ("_pushdown", "stack", "state")

    def __init__(self, pushdown: PushdownAutomaton, limits: Limits | None = None) -> None:
        account = Account(limits)
        self._pushdown = contract_epsilon(pushdown, account)
        _refuse_choices(self._pushdown, account)
        self.state: int = self._pushdown.start
        self.stack: _Stack = self._pushdown.stack

    @property
    def is_accepting(self) -> bool:
        """Whether the automaton accepts the string so far."""
        return self.state in self._pushdown.accepting or any(
            symbol == EPSILON for (symbol, *_), _ in self._matching()
        )

    @property
    def allowed(self) -> frozenset[int]:
        """The symbols that have a transition here, whether or not a string with them is accepted."""
        return frozenset(symbol for (symbol, *_), _ in self._matching() if symbol != EPSILON)

    def advance(self, symbol: int) -> bool:
        """Takes a symbol; ``False`` refuses it and changes nothing."""
        for (read, popped, pushed), target in self._matching():
            if read == symbol != EPSILON:
                self.state, self.stack = target, self.stack[: len(self.stack) - len(popped)] + pushed
                return True
        return False

    def _matching(self) -> list[tuple[Edit, int]]:
        """The transitions that the stack allows."""
        return [
            ((symbol, popped, pushed), target)
            for (symbol, popped, pushed), target in self._pushdown.rows[self.state]
            if _ends_with(self.stack, popped)
        ]


def _ends_with(stack: _Stack, end: _Stack) -> bool:
    return stack[len(stack) - len(end) :] == end if len(end) <= len(stack) else False


def _refuse_choices(pushdown: PushdownAutomaton, account: Account) -> None:
    """Raises an error for two transitions of a state and a symbol, one of whose pops is an end of the other.

    Cost: for each transition, an end of its popped string of each length is looked up.
    """
    for state, row in enumerate(pushdown.rows):
        seen: set[tuple[int, _Stack]] = set()
        for (symbol, popped, _), _ in row:
            if symbol == EPSILON:
                continue
            if (symbol, popped) in seen:
                raise _choice(pushdown, state, symbol, popped, popped)
            seen.add((symbol, popped))
        for symbol, popped in seen:
            account.work(1 + len(popped))
            for size in range(len(popped)):
                shorter = popped[len(popped) - size :]
                if (symbol, shorter) in seen:
                    raise _choice(pushdown, state, symbol, shorter, popped)


def _choice(
    pushdown: PushdownAutomaton, state: int, symbol: int, first: _Stack, second: _Stack
) -> NondeterministicError:
    names = [tuple(name_of(top, pushdown.stack_names) for top in popped) for popped in (first, second)]
    return NondeterministicError(state, name_of(symbol, pushdown.names), (names[0], names[1]))
