"""Conditions on what follows a position of a text: Boolean combinations of "what follows begins like this".

An *atom* is a number, a place within a regular expression: it holds if the text continues with something that
the rest of the expression matches.  A condition is a disjunctive normal form: a set of clauses, of which one
must hold; a clause is a set of atoms that must all hold, negative ones for atoms that must not.

Example.  After an identifier, the text must not go on with a letter: ``{{-7}}``, where 7 is the place before
``[a-z]`` in ``[a-z]+``.  By a letter this becomes ``{}``, by any other character ``{{}}``.

Cost: clauses multiply where conditions with several clauses are joined; :data:`MOST_CLAUSES` bounds those of
more than one atom.
Conditions of one clause, and the negation of clauses of one atom, take the time that their atoms take.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable
from typing import TypeAlias

from tokamata.errors import LimitExceeded

__all__ = ["ALWAYS", "NEVER", "Condition", "all_of", "any_of", "atom", "atoms", "negated"]

Clause: TypeAlias = frozenset[int]
Condition: TypeAlias = frozenset[Clause]

ALWAYS: Condition = frozenset([frozenset()])
NEVER: Condition = frozenset()
MOST_CLAUSES = 1_000  # of a conjunction that is written out


def atom(place: int) -> Condition:
    """What follows begins like this.  Places are positive."""
    return frozenset([frozenset([place])])


def atoms(condition: Condition) -> set[int]:
    """The places that a condition is about."""
    return {abs(literal) for clause in condition for literal in clause}


def any_of(conditions: Iterable[Condition]) -> Condition:
    """One of them holds; none of none does."""
    clauses: set[Clause] = set()
    clauses.update(*conditions)
    return frozenset(_without_implied(clauses) if len(clauses) > 1 else clauses)


def _without_implied(clauses: set[Clause]) -> set[Clause]:
    """Without the clauses that contain another one."""
    kept: set[Clause] = set()
    longer: list[Clause] = []  # kept ones of two or more atoms
    alone: set[int] = set()  # the atoms of kept clauses of one
    shortest = min(map(len, clauses))
    if shortest == 0:
        return {frozenset()}
    for clause in sorted(clauses, key=len):
        if len(clause) == 1:
            alone |= clause
        elif not alone.isdisjoint(clause) or (
            len(clause) > shortest and any(other < clause for other in longer)
        ):
            continue
        else:
            longer.append(clause)
            if len(longer) > MOST_CLAUSES:
                raise LimitExceeded("states", MOST_CLAUSES, is_fixed=True)
        kept.add(clause)
    return kept


def all_of(conditions: Iterable[Condition]) -> Condition:
    """All of them hold; all of none do."""
    several: list[Condition] = []  # of more than one clause
    common: set[int] = set()  # what each clause of the result has
    for condition in conditions:
        if condition == NEVER:
            return NEVER
        if len(condition) == 1:
            common.update(*condition)
        else:
            several.append(condition)
    shared = frozenset(common)
    if not _is_consistent(shared):
        return NEVER
    result: Condition = frozenset([shared])
    for condition in several:
        joined = (first | second for first in result for second in condition)
        result = any_of([frozenset(filter(_is_consistent, joined))])
        if result == NEVER:
            break
    return result


def _is_consistent(clause: Clause) -> bool:
    return clause.isdisjoint(map(operator.neg, clause))


def negated(condition: Condition) -> Condition:
    """It does not hold."""
    return all_of(frozenset(frozenset([-literal]) for literal in clause) for clause in condition)
