"""Determinizing a transducer: the subsequential transducer of its function, or a witness that there is none.

A state of the result is a set of states that one input leads to, each with its *residual*: the output that
its runs have written and that the result has not.  A transition writes what all residuals begin with, and the
rest stays.  For the two runs of ``ab`` and ``ac``::

    (0) ─a:x─▶ (1) ─b:y─▶ ((3))                      {0:ε} ─a:x─▶ {1:ε, 2:ε, 4:z} ─b:y─▶ {{3:ε}}
     └──a:x──▶ (2) ─ε:z─▶ (4) ─c:ε─▶ ((3))                                └─────c:z──▶ {{3:ε}}

An accepting state among them has the final output as its residual.

The construction is right if the transducer is functional, and ends if it has the twinning property; both are
decided before (:mod:`tokamata.automata.ambiguity`, :mod:`tokamata.automata.twinning`).  Where one is missing,
no subsequential transducer is equal to it, and :class:`~tokamata.errors.NotSubsequentialError` has a witness.
A state has one residual only: if it had two, one way from it to acceptance would write two outputs.

Source.  Choffrut, *Une caractérisation des fonctions séquentielles*, 1977; Mohri, *Finite-state transducers
in language and speech processing*, 1997; functionality and twinning by Béal, Carton, Prieur and Sakarovitch,
2003.
Cost.  At worst exponential, as for acceptors; the square of the transducer before.
Rejected: the construction without the tests, which stops only at a limit where the property is missing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from tokamata.automata.account import Account
from tokamata.automata.ambiguity import two_outputs
from tokamata.automata.machine import EPSILON, Names, Write
from tokamata.automata.subsequential import Output, SubsequentialTransducer
from tokamata.automata.symbols import name_of_string
from tokamata.automata.transducer import Transducer
from tokamata.automata.trim import trim
from tokamata.automata.twinning import untwinned
from tokamata.errors import NotSubsequentialError

_Residuals = dict[int, Output]


def subsequential(transducer: Transducer, account: Account) -> SubsequentialTransducer:
    """A subsequential transducer of the same function, whose states are numbered breadth first.

    Raises:
        NotSubsequentialError: there is none.
        LimitExceeded: too many states or transitions, or too long outputs.
    """
    _refuse(transducer, account)
    machine = trim(transducer)
    names = transducer.input_names, transducer.output_names
    if not machine.accepting:
        return SubsequentialTransducer(((),), frozenset(), 0, (), (), *names)
    account.add_states()
    initial = _split(_closed(machine, {machine.start: ()}, account))
    order = [initial.residuals]
    numbers = {frozenset(initial.residuals.items()): 0}
    rows: list[tuple[tuple[Write, int], ...]] = []
    ends: dict[int, Output] = {}
    for number, residuals in enumerate(order):  # grows as subsets are found
        row = []
        for symbol, reached in sorted(_successors(machine, residuals, account).items()):
            after = _split(_closed(machine, reached, account))
            key = frozenset(after.residuals.items())
            if key not in numbers:
                account.add_states(members=sum(1 + len(rest) for rest in after.residuals.values()))
                numbers[key] = len(order)
                order.append(after.residuals)
            account.add_states(0, members=len(after.written))
            row.append(((symbol, after.written), numbers[key]))
        account.add_transitions(len(row))
        rows.append(tuple(row))
        for state in residuals.keys() & machine.accepting:
            ends[number] = residuals[state]
    finals = tuple(ends.get(number, ()) for number in range(len(rows)))
    return SubsequentialTransducer(tuple(rows), frozenset(ends), 0, initial.written, finals, *names)


class _Split(NamedTuple):
    """What all residuals begin with, and the rest of each."""

    written: Output
    residuals: _Residuals


def _split(residuals: Mapping[int, Output]) -> _Split:
    least, greatest = min(residuals.values()), max(residuals.values())
    shared = 0
    while shared < len(least) and least[shared] == greatest[shared]:  # then all between them begin so
        shared += 1
    return _Split(least[:shared], {state: rest[shared:] for state, rest in residuals.items()})


def _closed(machine: Transducer, residuals: _Residuals, account: Account) -> _Residuals:
    """Adds the states that are reached without reading."""
    pending = list(residuals)
    while pending:
        state = pending.pop()
        for (read, written), target in machine.rows[state]:
            account.work()
            if read == EPSILON and target not in residuals:
                residuals[target] = _longer(residuals[state], written, account)
                pending.append(target)
    return residuals


def _successors(machine: Transducer, residuals: _Residuals, account: Account) -> dict[int, _Residuals]:
    """For each symbol, the states that it leads to, with their residuals."""
    reached: dict[int, _Residuals] = {}
    for state, rest in residuals.items():
        for (read, written), target in machine.rows[state]:
            account.work()
            if read != EPSILON:
                reached.setdefault(read, {})[target] = _longer(rest, written, account)
    return reached


def _longer(rest: Output, written: int, account: Account) -> Output:
    account.work(1 + len(rest))
    return rest if written == EPSILON else (*rest, written)


def _refuse(transducer: Transducer, account: Account) -> None:
    """Raises an error for a transducer that no subsequential one is equal to."""
    read, written = transducer.input_names, transducer.output_names
    found = two_outputs(transducer, account)
    if found is not None:
        first, second = (_shown(output, written) for output in found.outputs)
        string = _shown(found.string, read)
        reason = f"the input {string} has two outputs, {first} and {second}; remove one of them"
        raise NotSubsequentialError(found.string, found.outputs, (), ((), ()), reason)
    siblings = untwinned(transducer, account)
    if siblings is not None:
        first, second = (
            f"{_shown(outputs, written)} and then {_shown(more, written)} for each repetition"
            for outputs, more in zip(siblings.outputs, siblings.loop_outputs, strict=True)
        )
        string, loop = _shown(siblings.string, read), _shown(siblings.loop, read)
        reason = (
            f"after the input {string} and repetitions of {loop}, one run has written {first}, and another "
            f"{second}, so outputs would be held back without a bound; limit the repetitions, or compose the "
            "transducer as it is"
        )
        raise NotSubsequentialError(
            siblings.string, siblings.outputs, siblings.loop, siblings.loop_outputs, reason
        )


def _shown(string: Output, names: Names | None) -> str:
    """A string with the names of its symbols, shortened."""
    shown = name_of_string(string, names)
    return repr(shown if len(shown) <= 60 else f"{shown[:29]}…{shown[-30:]}")
