"""Algorithm 3 of 002 for any push-down automaton, and exactly.

The paper's algorithm has one state and one stack, so its automaton must be deterministic.  It allows each
token that has a transition, also one after which nothing leads to acceptance.  Here a matcher has the set of
all configurations (:mod:`.configurations`), and allows a token only if a configuration after it is live
(:mod:`.pushdown_liveness`).  The automaton may read nothing in cycles, push without end, and be ambiguous.

    pushdown = compose(detokenizer(vocabulary), grammar_pushdown(rules, "start"))
    matcher = PushdownMatcher(pushdown)
    matcher.allowed         # the tokens that may come next
    matcher.advance(token)  # the chosen token

Cost.  A step examines each configuration once; their number may grow with the length of an ambiguous text.
"""

from __future__ import annotations

from tokamata.automata.account import Account
from tokamata.automata.configurations import initial, read
from tokamata.automata.pushdown import PushdownAutomaton
from tokamata.automata.pushdown_liveness import Liveness
from tokamata.automata.stack_moves import StackMoves
from tokamata.resources.limits import Limits, checked_limits


class PushdownMatcher:
    """The position of one string in a push-down automaton: which symbols may come next.

    Args:
        pushdown: the automaton.
        limits: bounds on each call.

    Raises:
        LimitExceeded: the tables of live states are too large.
    """

    __slots__ = ("_accepting", "_limits", "_live", "_moves", "_reached")

    def __init__(self, pushdown: PushdownAutomaton, limits: Limits | None = None) -> None:
        self._limits = checked_limits(limits)
        account = Account(self._limits)
        self._accepting = pushdown.accepting
        self._moves = StackMoves(pushdown.rows, account)
        self._live = Liveness(self._moves, pushdown.accepting, account)
        self._reached = initial(self._moves, pushdown.start, pushdown.stack, account)

    @property
    def is_accepting(self) -> bool:
        """Whether the automaton accepts the string so far."""
        return any(state in self._accepting for state, _ in self._reached)

    @property
    def allowed(self) -> frozenset[int]:
        """The symbols with which some accepted string continues.

        Raises:
            LimitExceeded: it takes too long.
        """
        account = Account(self._limits)
        found: set[int] = set()
        for state, node in self._reached:
            for symbol, target in self._moves.reads[state]:
                if symbol not in found and self._live.is_live(target, node, account):
                    found.add(symbol)
        return frozenset(found)

    def advance(self, symbol: int) -> bool:
        """Takes a symbol; ``False`` refuses it and changes nothing.

        Raises:
            LimitExceeded: there are too many configurations after it.
        """
        account = Account(self._limits)
        reached = read(self._moves, self._reached, symbol, account)
        live = frozenset((state, node) for state, node in reached if self._live.is_live(state, node, account))
        if live:
            self._reached = live
        return bool(live)

    def fork(self) -> PushdownMatcher:
        """Another matcher at the same position."""
        other = object.__new__(PushdownMatcher)
        for name in self.__slots__:
            setattr(other, name, getattr(self, name))
        return other
