"""CartesianMerge: the product of a pattern's tokens and the neighbours that a tokenizer allows.

The encodings of a pattern's texts are the token sequences that spell such a text and are encodings
(001, section 4)::

    tokenize(L)  =  decode⁻¹(L)  ∩  tokenize(all texts)

The first is the tokenization-agnostic acceptor (:func:`.lexicon.promote`), the second the automaton of
:mod:`.tokenizer_automaton`, whose state depends only on the last token.  The product need not be built: both
run in parallel, and a token is allowed if both allow it and it leads to a *relevant* pair of states, one that
is reachable and live (algorithms 5 and 6).  With a, b, ab, the merge (a, b) and the text ``ab``::

    decode⁻¹     0 ─a─▶ 1 ─b─▶ 2, 0 ─ab─▶ 2       a leads to 1, which reads only b, and b may not follow a:
    tokenizer    b may not follow a               the pair is not relevant, and a is not allowed in 0

Relevance is computed once for a pattern.  Tokens that lead from a state to the same pair are one group.
Transitions to irrelevant pairs are removed from the first machine, so steps need not check relevance
(section 5.4).

At the beginning there is no last token; the listing of algorithm 6 lacks this case.

Cost: the groups of transitions, times the states of the tokenizer that a pattern's state is paired with.
"""

from __future__ import annotations

from collections.abc import Sequence

from tokamata.automata import Acceptor
from tokamata.automata.account import Account
from tokamata.automata.trim import reachable
from tokamata.resources.limits import Limits
from tokamata.tokenization.papers.tokenizer_automaton import TokenizerAutomaton

_Pair = tuple[int, int]


class CartesianMerge:
    """A pattern's acceptor over tokens, and a tokenizer.

    Attributes:
        rows: for each state of the pattern's acceptor its targets by token, only for relevant pairs.
        tokenizer: the automaton of all encodings.
        start: the start state of the pattern's acceptor.
        accepting: its accepting states.
        relevant: the relevant pairs of a state of the pattern and one of the tokenizer.
    """

    def __init__(
        self, tokens: Acceptor, tokenizer: TokenizerAutomaton, limits: Limits | Account | None = None
    ) -> None:
        """Preprocessing, 001, algorithm 5.

        Args:
            tokens: every token sequence that spells an accepted text: trim and deterministic.
            tokenizer: the automaton of all encodings.
            limits: bounds on the result.

        Raises:
            LimitExceeded: too many pairs.
        """
        self.tokenizer = tokenizer
        self.start = tokens.start
        self.accepting = tokens.accepting
        groups = [_groups(row, tokenizer.state_of) for row in tokens.rows]
        self.relevant = _relevant_pairs(tokens, groups, tokenizer, Account(limits))
        self.rows: list[dict[int, int]] = [
            {token: pair[0] for pair, group in by_pair.items() if pair in self.relevant for token in group}
            for by_pair in groups
        ]

    def allowed(self, state: int, last: int | None) -> set[int]:
        """The tokens that may come next (001, algorithm 6).

        Args:
            state: a state of the pattern's acceptor.
            last: the token before; ``None`` at the beginning.
        """
        return {token for token in self.rows[state] if self.tokenizer.allows(last, token)}

    def accepts(self, tokens: Sequence[int]) -> bool:
        """Whether ``tokens`` is the encoding of a text of the pattern."""
        state, last = self.start, None
        for token in tokens:
            if token not in self.rows[state] or not self.tokenizer.allows(last, token):
                return False
            state, last = self.rows[state][token], token
        return state in self.accepting and (state, self._state_after(last)) in self.relevant

    def to_acceptor(self, limits: Limits | Account | None = None) -> Acceptor:
        """The product, restricted to relevant pairs.

        Raises:
            LimitExceeded: too many transitions.
        """
        account = Account(limits)
        start = (self.start, 0)
        pairs = sorted(self.relevant | {start})
        numbers = {pair: number for number, pair in enumerate(pairs)}
        account.add_states(len(pairs))
        rows = []
        for state, there in pairs:
            forbidden = self.tokenizer.forbidden[there]
            row = tuple(
                (token, numbers[target, self.tokenizer.state_of[token]])
                for token, target in self.rows[state].items()
                if token not in forbidden
            )
            account.add_transitions(len(row))
            rows.append(row)
        accepting = frozenset(
            number for pair, number in numbers.items() if pair in self.relevant and pair[0] in self.accepting
        )
        return Acceptor(tuple(rows), accepting, numbers[start])

    def _state_after(self, last: int | None) -> int:
        return 0 if last is None else self.tokenizer.state_of[last]


def _groups(row: Sequence[tuple[int, int]], state_of: dict[int, int]) -> dict[_Pair, set[int]]:
    """The tokens of a row by the pair that they lead to, without tokens that no encoding contains."""
    groups: dict[_Pair, set[int]] = {}
    for token, target in row:
        if token in state_of:
            groups.setdefault((target, state_of[token]), set()).add(token)
    return groups


def _relevant_pairs(
    tokens: Acceptor,
    groups: Sequence[dict[_Pair, set[int]]],
    tokenizer: TokenizerAutomaton,
    account: Account,
) -> set[_Pair]:
    """FindRelevantProductStates: forward from the start, then back from accepting pairs."""
    account.add_states()
    order = [(tokens.start, 0)]
    numbers = {order[0]: 0}
    sources: list[list[int]] = [[]]
    for number, (state, there) in enumerate(order):  # grows as pairs are found
        forbidden = tokenizer.forbidden[there]
        for pair, group in groups[state].items():
            account.work()
            if group <= forbidden:
                continue
            if pair not in numbers:
                account.add_states()
                numbers[pair] = len(order)
                order.append(pair)
                sources.append([])
            account.add_transitions()
            sources[numbers[pair]].append(number)
    ends = [number for number, (state, _) in enumerate(order) if state in tokens.accepting]
    return {order[number] for number in reachable(sources, ends)}
