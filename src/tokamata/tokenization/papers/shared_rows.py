"""DirectMerge with shared rows: all merges of a real tokenizer, also over patterns with wide loops.

:mod:`.direct_merge` copies a state whenever a merge forbids something after a token, and each copy has its
own row: for ``[a-z]*`` about ten thousand copies with as many transitions each.  But the copies of a state
differ only in the forbidden tokens; a token that two of them read leads both to the same state.  So all
copies of a state can share one row, and the tokens that are forbidden after a token are the same in every
pattern (001, section 4; :mod:`.pair_rule`).

The rows are kept by token: ``edges[t]`` maps states of the pattern to states of the pattern.  A merge
composes two of them::

    edges[a]   0 → 1, 2 → 1      edges[b]   1 → 0      (a, b):   edges[ab]   0 → 0, 2 → 0

unless a and b may not be neighbours by then.  A state of DirectMerge's result is a state of the pattern with
the last token; it reads the tokens that both allow.

A merge of tokens that the pattern does not read one after the other costs two look-ups.

Cost: linear in the edges and the merges.  The edges are the transitions of tokens over the pattern's states,
which 002 calls the composition, without tokens that no encoding contains.
"""

from __future__ import annotations

from collections.abc import Sequence

from tokamata.automata import Acceptor, minimize, trim
from tokamata.automata.account import Account
from tokamata.errors import MachineError
from tokamata.resources.limits import Limits
from tokamata.tokenization.papers.merges import Merge
from tokamata.tokenization.papers.pair_rule import PairRule


class MergedPattern:
    """The encodings of a pattern's texts.  A configuration is a state of the pattern and the last token.

    Attributes:
        edges: for each token that some encoding may contain, its targets by state.
        pattern: the minimal acceptor of the texts, over the ids of characters.
    """

    def __init__(self, pattern: Acceptor, edges: dict[int, dict[int, int]], rule: PairRule) -> None:
        self.pattern = pattern
        self.edges = edges
        self._rule = rule

    @property
    def transitions(self) -> int:
        """The number of edges of all tokens."""
        return sum(map(len, self.edges.values()))

    def step(self, state: int, last: int | None, token: int) -> int | None:
        """The state that ``token`` leads to, after ``last``; ``None`` if it is not allowed."""
        if last is not None and not self._rule.allows(last, token):
            return None
        return self.edges.get(token, {}).get(state)

    def accepts(self, tokens: Sequence[int]) -> bool:
        """Whether ``tokens`` is the encoding of a text of the pattern."""
        state: int | None = self.pattern.start
        last: int | None = None
        for token in tokens:
            if state is None:
                return False
            state, last = self.step(state, last, token), token
        return state in self.pattern.accepting

    def to_acceptor(self, limits: Limits | Account | None = None) -> Acceptor:
        """All live configurations, as states of an acceptor, and their transitions.

        Raises:
            LimitExceeded: there are too many of them; a wide loop has billions.
        """
        account = Account(limits)
        row_of: dict[int, list[tuple[int, int]]] = {}
        for token, targets in self.edges.items():
            for source, target in targets.items():
                row_of.setdefault(source, []).append((token, target))
        account.add_states()
        order: list[tuple[int, int | None]] = [(self.pattern.start, None)]
        numbers = {order[0]: 0}
        rows = []
        for state, last in order:  # grows as configurations are found
            row = []
            for token, target in row_of.get(state, ()):
                account.work()
                if last is not None and not self._rule.allows(last, token):
                    continue
                if (target, token) not in numbers:
                    account.add_states()
                    numbers[target, token] = len(order)
                    order.append((target, token))
                row.append((token, numbers[target, token]))
            account.add_transitions(len(row))
            rows.append(row)
        accepting = [number for number, (state, _) in enumerate(order) if state in self.pattern.accepting]
        return trim(self.pattern.like(rows, accepting))


def merge_shared(
    pattern: Acceptor, merges: Sequence[Merge], limits: Limits | Account | None = None
) -> MergedPattern:
    """The encodings, with all merges in order, of the texts that ``pattern`` accepts.

    Args:
        pattern: over the ids of characters; :func:`.characters.in_tokens` makes it of one over bytes.
        merges: in order.
        limits: bounds on the result.

    Raises:
        MachineError: a merge makes a token that is one of the pattern's characters.
        LimitExceeded: too many edges.
    """
    account = Account(limits)
    pattern = minimize(pattern, account)
    edges: dict[int, dict[int, int]] = {}
    for source, symbol, target in pattern.transitions:
        edges.setdefault(symbol, {})[source] = target
    rule = PairRule()
    for merge in merges:
        account.work()
        first, second = edges.get(merge.left), edges.get(merge.right)
        if first is None or second is None:
            continue
        joined = {source: second[middle] for source, middle in first.items() if middle in second}
        if joined and rule.allows(merge.left, merge.right):
            if merge.token in edges:
                raise MachineError(
                    f"a merge makes token {merge.token}, which the pattern reads already; the result of a "
                    "merge may not be one of the characters"
                )
            account.add_transitions(len(joined))
            edges[merge.token] = joined
            rule.join(merge)
    return MergedPattern(pattern, edges, rule)
