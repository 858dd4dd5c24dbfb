"""The automaton of all encodings: after each token, those that may not follow.

The encodings of all texts are a regular set of token sequences, and the state of its automaton depends only
on the last token: all states accept, and every token leads to one state wherever it is allowed (001, section
4, algorithm 3).  So the automaton is, for each token, its state, and for each state, its forbidden tokens.
For a, b, c and the merges (a,b) (a,a) (a,c) (001, figure 9)::

    token    a  b  c  ab  aa  ac        state   forbidden
    state    1  0  0  0   2   0         0
                                        1       b, a, aa, c, ac
                                        2       b

A merge ``(a, b)`` forbids b after a, and ab leads to the state of b.  States that forbid a also forbid ab
from then on.  If another token leads to the state of a, or if that is the start, a gets a state of its own.
(The listing ignores the start; after ``(a, a), (aa, a)`` it forbids a at the beginning of a text.  It also
looks up the states of parts that were never made.)

States with equal lists are joined at the end (section 5.3).

Cost: the sum of the lists, which for a real tokenizer is far larger than the number of merges: about 2,000 to
5,000 tokens are forbidden after each of 100,000.  :mod:`.pair_rule` needs no lists.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tokamata.automata import Acceptor
from tokamata.automata.account import Account
from tokamata.automata.machine import Names
from tokamata.errors import MachineError
from tokamata.resources.limits import Limits
from tokamata.tokenization.papers.merges import Merge


@dataclass(frozen=True)
class TokenizerAutomaton:
    """The encodings of all texts; state 0 is the start, and every state accepts.

    Attributes:
        state_of: for each token that an encoding can contain, the state that it leads to.
        forbidden: for each state, the tokens of ``state_of`` that may not follow.
    """

    state_of: dict[int, int]
    forbidden: tuple[frozenset[int], ...]

    @property
    def states(self) -> int:
        """The number of states."""
        return len(self.forbidden)

    def allows(self, last: int | None, token: int) -> bool:
        """Whether ``token`` may follow ``last``, or begin a sequence if ``last`` is ``None``."""
        if token not in self.state_of or (last is not None and last not in self.state_of):
            return False
        return token not in self.forbidden[0 if last is None else self.state_of[last]]

    def allowed(self, last: int | None) -> set[int]:
        """The tokens that may follow ``last``, or begin a sequence (001, ListAllowedTokens)."""
        if last is not None and last not in self.state_of:
            return set()
        return set(self.state_of) - self.forbidden[0 if last is None else self.state_of[last]]

    def to_acceptor(self, names: Names | None = None, limits: Limits | Account | None = None) -> Acceptor:
        """The same automaton with all transitions.

        Raises:
            LimitExceeded: too many transitions.
        """
        account = Account(limits)
        account.add_states(self.states)
        rows = []
        for forbidden in self.forbidden:
            row = tuple((token, state) for token, state in self.state_of.items() if token not in forbidden)
            account.add_transitions(len(row))
            rows.append(row)
        return Acceptor(tuple(rows), frozenset(range(self.states)), 0, names)


def tokenizer_automaton(
    characters: Iterable[int], merges: Sequence[Merge], limits: Limits | Account | None = None
) -> TokenizerAutomaton:
    """The automaton of the encodings, with all merges in order, of all texts over ``characters``.

    Args:
        characters: the ids of single characters.
        merges: in order.
        limits: bounds on the result.

    Raises:
        MachineError: a merge makes a token that exists already.
        LimitExceeded: too many states or forbidden tokens.
    """
    building = _Building(characters, Account(limits))
    for merge in merges:
        building.merge(merge)
    return _fused(building)


class _Building:
    """The data of algorithm 3, with the tokens of each state and the states of each forbidden token."""

    def __init__(self, characters: Iterable[int], account: Account) -> None:
        self._account = account
        account.add_states()
        self.state_of = dict.fromkeys(characters, 0)
        self.forbidden: list[set[int]] = [set()]
        self._tokens_to: list[set[int]] = [set(self.state_of)]
        self._forbidding: dict[int, set[int]] = {}

    def merge(self, merge: Merge) -> None:
        """001, algorithm 3, lines 7 to 19."""
        left, right, token = merge
        self._account.work()
        if left not in self.state_of or right not in self.state_of:
            return  # no text has this part
        state, after = self.state_of[left], self.state_of[right]
        if right in self.forbidden[state]:
            return  # never neighbours: an earlier merge joined an end of one to a beginning of the other
        if token in self.state_of:
            raise MachineError(
                f"a merge makes token {token}, which has another text already; give it an id of its own"
            )
        if left == right or state == 0 or len(self._tokens_to[state]) > 1:
            state = self._own_state(left)
        self._forbid(state, right)
        self.state_of[token] = after
        self._tokens_to[after].add(token)
        for forbidding in list(self._forbidding.get(left, ())):
            self._forbid(forbidding, token)

    def _own_state(self, token: int) -> int:
        """A new state for ``token`` alone, with its forbidden tokens."""
        old, new = self.state_of[token], len(self.forbidden)
        self._account.add_states(members=len(self.forbidden[old]))
        self.forbidden.append(set())
        self._tokens_to.append({token})
        self._tokens_to[old].discard(token)
        self.state_of[token] = new
        for forbidden in self.forbidden[old]:
            self._forbid(new, forbidden)
        return new

    def _forbid(self, state: int, token: int) -> None:
        if token not in self.forbidden[state]:
            self._account.add_transitions()
            self.forbidden[state].add(token)
            self._forbidding.setdefault(token, set()).add(state)


def _fused(building: _Building) -> TokenizerAutomaton:
    """The reachable states, one for each list of forbidden tokens; the start stays 0."""
    numbers: dict[frozenset[int], int] = {frozenset(building.forbidden[0]): 0}
    state_of = {}
    for token, state in building.state_of.items():
        forbidden = frozenset(building.forbidden[state])
        state_of[token] = numbers.setdefault(forbidden, len(numbers))
    return TokenizerAutomaton(state_of, tuple(numbers))
