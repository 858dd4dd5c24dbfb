"""Whether the next symbol decides, from the top down, which rule comes next.

Problem.  A parser from the top down begins with the start rule and replaces the first rule that is open by
one of its alternatives.  It is deterministic if the next symbol always decides which one.

Worked example.  ``list: "[" item "]" | "[" "]"``, ``item: "x" list?``.  Both alternatives of ``list`` begin
with ``[``, so they are read as one until they differ: ``list: "[" (item "]" | "]")``.  After that, ``x``
decides for the first and ``]`` for the second.

Method.  Alternatives that begin with the same symbols are factored.  Then the grammar is deterministic if and
only if it is LL(1): the terminals that each two alternatives may begin with, or that may follow the rule if
the alternative may be empty, are disjoint.  No rule with left recursion passes that test.

Source.  Rosenkrantz and Stearns, *Properties of deterministic top-down grammars*, 1970.
Cost.  Linear in the symbols, times the rounds of the fixed points.
Rejected: the test without factoring.  lark's loader writes ``"[" item? "]"`` as two alternatives that both
begin with ``[``.
"""

from __future__ import annotations

from tokamata.patterns.grammars.rules.productions import Label, Productions, Symbols, WorkAccount, reduced

__all__ = ["is_top_down"]


def is_top_down(productions: Productions, account: WorkAccount) -> bool:
    """Whether a grammar, whose repetitions are written to the right, is deterministic from the top down.

    Raises:
        LimitExceeded, Cancelled: the work was stopped.
    """
    grammar = _factored(productions, account)
    follow = grammar.follow()
    for number, alternatives in enumerate(grammar.alternatives):
        account.watch.check()
        seen = 0
        for symbols in alternatives:
            first, is_nullable = grammar.rests(symbols)[0]
            begins = first | follow[number] if is_nullable else first
            if begins & seen:
                return False
            seen |= begins
    return True


def _factored(productions: Productions, account: WorkAccount) -> Productions:
    """With alternatives that differ in their first symbol."""
    labels = list(productions.labels)
    alternatives = list(productions.alternatives)
    open_ones = list(range(len(alternatives)))
    while open_ones:
        account.watch.check()
        number = open_ones.pop()
        by_first: dict[Symbols, list[Symbols]] = {}
        for symbols in alternatives[number]:
            by_first.setdefault(symbols[:1], []).append(symbols)
        if len(by_first) == len(alternatives[number]):
            continue
        found: list[Symbols] = []
        for group in by_first.values():
            if len(group) == 1:
                found += group
                continue
            shared = _shared(group)
            account.spend(0, len(group))
            found.append((*group[0][:shared], ~len(labels)))
            open_ones.append(len(labels))
            labels.append(Label("helper", labels[number].name))
            alternatives.append([symbols[shared:] for symbols in group])
        alternatives[number] = found
    result = reduced(labels, alternatives, productions.terminals, account)
    assert result is not None
    return result


def _shared(group: list[Symbols]) -> int:
    """How many symbols all of them begin with."""
    least, most = min(group), max(group)
    for index, (one, other) in enumerate(zip(least, most, strict=False)):
        if one != other:
            return index
    return len(least)
