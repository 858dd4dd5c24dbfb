"""Which rules begin with themselves, directly or through others.

A rule that begins with itself is rewritten by the *left-corner transform*, in :mod:`.lowering`.

Problem.  The engine reads a rule by its derivative after a byte.  The derivative of a rule that begins with
itself would need itself.

Worked example.  ``e: e "+" t | t``.  A text of ``e`` begins with a text of ``t``, its left corner.  Whenever
an ``e`` is complete, it may be the first item of a larger ``e``, which continues with ``"+" t``.  So
``e: t ("+" t)*``.

How.  Let S be a set of rules that begin with each other.  A *corner* of a rule is a pair ``(head, rest)``:
the rule may begin with the symbol ``head`` and continue with ``rest``.  For a goal r and a rule A, both in S,
the *tail* of A is what may stand between the end of an ``A`` and the end of the ``r`` that begins with it:

    r           = union of  head · rest · tail(r, B)   for the corners of each B in S whose head is not in S
    tail(r, A)  = union of  rest · tail(r, B)          for the corners (A, rest) of each B in S
                  and the empty text, if A is r

If S has one rule, the tail is a repetition.  Otherwise the tails are rules, which begin with no rule of S.

Source.  Rosenkrantz and Lewis, *Deterministic left corner parsing*, 1970; for S alone, as in Johnson and
Roark, *Compact non-left-recursive grammars using the selective left-corner transform and factoring*, 2000.
Cost.  n² tails for n rules in S; n is 1 for operators with precedence levels.
Rejected: Paull's substitution, whose result is exponential in the worst case.  A regular expression for each
tail (Kleene's closure): nested repetitions make a state for each reading of an ambiguous text.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import TypeVar

__all__ = ["components"]

_Node = TypeVar("_Node", bound=Hashable)


def components(successors: Mapping[_Node, Iterable[_Node]]) -> list[list[_Node]]:
    """The strongly connected components of a graph that contain a cycle (Tarjan 1972, without recursion)."""
    index: dict[_Node, int] = {}
    low: dict[_Node, int] = {}
    path: list[_Node] = []
    on_path: set[_Node] = set()
    found: list[list[_Node]] = []
    for root in successors:
        if root in index:
            continue
        index[root] = low[root] = len(index)
        path.append(root)
        on_path.add(root)
        work = [(root, iter(successors[root]))]
        while work:
            node, remaining = work[-1]
            for successor in remaining:
                if successor not in index:
                    index[successor] = low[successor] = len(index)
                    path.append(successor)
                    on_path.add(successor)
                    work.append((successor, iter(successors[successor])))
                    break
                if successor in on_path:
                    low[node] = min(low[node], index[successor])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    component: list[_Node] = []
                    while not component or component[-1] != node:
                        component.append(path.pop())
                        on_path.discard(component[-1])
                    if len(component) > 1 or node in successors[node]:
                        found.append(component[::-1])
    return found
