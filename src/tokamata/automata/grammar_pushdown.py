"""The push-down automaton of a grammar: rules that call each other, with return addresses on the stack.

A rule is an acceptor of its right-hand sides, over symbols and *references*: with ``references=256``, the
symbol 256 + k stands for a text of rule k.  Within a rule, the push-down automaton moves as its acceptor
does.  At a reference it pushes the state after it, the *return address*, and goes to the start of the rule
that is meant.  Where a rule may end, it pops a return address and goes there.  The stack symbol S below all
others is the return address of the whole text (002, section 3.1 and figure 6; Allauzen and Riley, *A
pushdown transducer extension for the OpenFst library*, 2012, section 4.5).

Worked example, figure 6 of 002.  ``S: "a" S "b" | ε`` has the acceptor on the left::

    ((0)) ─a─▶ (1) ─S─▶ (2) ─b─▶ ((3))         (0) ─a─▶ (1) ─ε, push r─▶ (0)       r is S: "a" S • "b"
                                               (0) and (3) ─ε, pop r─▶ (2) ─b─▶ (3)
                                               (0) and (3) ─ε, pop S─▶ ((4))

A return address at which nothing is left to read is not pushed: in ``s: "a" s | "b"`` the stack stays empty.
So lists that are written by recursion at the end need no stack.

A return address is named by a dotted rule, as in the figure.  If several right-hand sides lead to one state,
the name is the shortest of them.

Any grammar will do.  A rule that begins with itself pushes its return address without end, which
:mod:`.configurations` follows, and which :func:`~tokamata.automata.contract_epsilon` refuses.

Cost: linear, except for the ends of rules times the return addresses that they may pop.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import NamedTuple

from tokamata.automata.acceptor import Acceptor
from tokamata.automata.account import Account
from tokamata.automata.machine import EPSILON
from tokamata.automata.minimize import minimize
from tokamata.automata.pushdown import PushdownAutomaton
from tokamata.automata.symbols import BYTE_NAMES, name_of
from tokamata.errors import MachineError
from tokamata.resources.limits import Limits

START_NAME = "[•]"  # of the stack symbol below all others, as in figure 6


def grammar_pushdown(
    rules: Mapping[str, Acceptor],
    start: str,
    references: int = 256,
    limits: Limits | Account | None = None,
) -> PushdownAutomaton:
    """The push-down automaton of a grammar.

    Args:
        rules: for each rule an acceptor of its right-hand sides, over symbols below ``references``, and
            ``references + k`` for a text of the rule that is number k in ``rules``.
        start: the rule of the texts.
        references: the least symbol that is a reference; 256 for rules over bytes.
        limits: bounds on the result.

    Raises:
        MachineError: no rule has the name ``start``, or a reference is to no rule.
        LimitExceeded: too many states or transitions.
    """
    if start not in rules:
        raise MachineError(f"no rule is named {start!r:.60}; the start must be one of the rules")
    return _Construction(rules, references, Account(limits)).automaton(start)


class _Address(NamedTuple):
    """The return address after a reference: a state of a rule."""

    rule: str
    state: int


class _Construction:
    def __init__(self, rules: Mapping[str, Acceptor], references: int, account: Account) -> None:
        self._all = rules
        self._by_number = list(rules)
        self._references = references
        self._account = account
        self._acceptors: dict[str, Acceptor] = {}  # of the rules that are reached
        self._offsets: dict[str, int] = {}
        self._states = 0
        self._symbols: dict[_Address | None, int] = {None: 0}  # stack symbols; None: of the whole text
        self._pops: dict[str, set[_Address | None]] = {}  # what the end of a rule may pop
        self._tails: dict[str, set[str]] = {}  # by rule, those that it ends with, without a return address

    def automaton(self, start: str) -> PushdownAutomaton:
        self._reach(start)
        arcs: list[tuple[int, int, tuple[int, ...], tuple[int, ...], int]] = []
        self._pops[start].add(None)
        for rule, acceptor in self._acceptors.items():
            offset = self._offsets[rule]
            for source, symbol, target in acceptor.transitions:
                if symbol < self._references:
                    arcs.append((offset + source, symbol, (), (), offset + target))
                    continue
                called = self._by_number[symbol - self._references]
                pushed = self._pushed(rule, target, called)
                arcs.append((offset + source, EPSILON, (), pushed, self._begin(called)))
        self._follow_tails()
        end = self._states
        for rule, acceptor in self._acceptors.items():
            for address in sorted(self._pops[rule], key=self._symbols.__getitem__):
                to = end if address is None else self._offsets[address.rule] + address.state
                popped = (self._symbols[address],)
                self._account.add_transitions(len(acceptor.accepting))
                arcs += [
                    (self._offsets[rule] + state, EPSILON, popped, (), to) for state in acceptor.accepting
                ]
        return PushdownAutomaton.from_transitions(
            arcs, [end], self._begin(start), end + 1, (0,), BYTE_NAMES, self._names(), self._account
        )

    def _reach(self, start: str) -> None:
        """Makes the rules that ``start`` leads to smallest, and gives each its states."""
        pending = [start]
        self._acceptors = {}
        while pending:
            rule = pending.pop()
            if rule in self._acceptors:
                continue
            acceptor = self._acceptors[rule] = minimize(self._all[rule], self._account)
            self._offsets[rule] = self._states
            self._states += acceptor.states
            self._pops[rule], self._tails[rule] = set(), set()
            for symbol in sorted(acceptor.symbols, reverse=True):
                if symbol >= self._references:
                    number = symbol - self._references
                    if number >= len(self._by_number):
                        raise MachineError(f"rule {rule!r:.60} refers to rule {number}, of {len(self._all)}")
                    pending.append(self._by_number[number])

    def _begin(self, rule: str) -> int:
        return self._offsets[rule] + self._acceptors[rule].start

    def _pushed(self, rule: str, after: int, called: str) -> tuple[int, ...]:
        """The return address that a reference pushes, if there is something left to read there."""
        acceptor = self._acceptors[rule]
        if after in acceptor.accepting and not acceptor.rows[after]:
            self._tails[rule].add(called)
            return ()
        address = _Address(rule, after)
        self._pops[called].add(address)
        return (self._symbols.setdefault(address, len(self._symbols)),)

    def _follow_tails(self) -> None:
        """What a rule may pop, those may pop too that it ends with."""
        pending = list(self._tails)
        while pending:
            rule = pending.pop()
            for called in self._tails[rule]:
                new = self._pops[rule] - self._pops[called]
                self._account.add_transitions(len(new))
                if new:
                    self._pops[called] |= new
                    pending.append(called)

    # ---- names ----

    def _names(self) -> dict[int, str]:
        names = {0: START_NAME}
        befores = {rule: _shortest_before(acceptor) for rule, acceptor in self._acceptors.items()}
        afters = {rule: _shortest_after(acceptor) for rule, acceptor in self._acceptors.items()}
        for address, symbol in self._symbols.items():
            if address is not None:
                before = self._shown(_symbols(befores[address.rule], address.state)[::-1])
                after = self._shown(_symbols(afters[address.rule], address.state))
                names[symbol] = " ".join([f"{address.rule}:", *before, "•", *after])
        return names

    def _shown(self, symbols: list[int]) -> Iterator[str]:
        """The names of rules, and the bytes between them in quotes."""
        for is_read, run in groupby(symbols, lambda symbol: symbol < self._references):
            if is_read:
                yield f'"{"".join(name_of(symbol, BYTE_NAMES) for symbol in run)}"'
            else:
                yield from (self._by_number[symbol - self._references] for symbol in run)


def _symbols(steps: Mapping[int, tuple[int, int]], state: int) -> list[int]:
    """The symbols of a path, whose steps are given by the state that they leave."""
    found = []
    while state in steps:
        symbol, state = steps[state]
        found.append(symbol)
    return found


def _shortest_before(acceptor: Acceptor) -> dict[int, tuple[int, int]]:
    """For each state but the start, the last step of a shortest path to it, and where that comes from."""
    found: dict[int, tuple[int, int]] = {}
    pending = deque([acceptor.start])
    while pending:
        state = pending.popleft()
        for symbol, target in acceptor.rows[state]:
            if target != acceptor.start and target not in found:
                found[target] = symbol, state
                pending.append(target)
    return found


def _shortest_after(acceptor: Acceptor) -> dict[int, tuple[int, int]]:
    """For each state that does not accept, the first step of a shortest path to one that does."""
    sources: list[list[tuple[int, int]]] = [[] for _ in acceptor.rows]
    for source, symbol, target in acceptor.transitions:
        sources[target].append((symbol, source))
    found: dict[int, tuple[int, int]] = {}
    pending = deque(sorted(acceptor.accepting))
    while pending:
        state = pending.popleft()
        for symbol, source in sources[state]:
            if source not in acceptor.accepting and source not in found:
                found[source] = symbol, state
                pending.append(source)
    return found
