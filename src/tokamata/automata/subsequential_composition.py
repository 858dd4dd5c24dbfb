"""Composition of subsequential transducers: one reads what the other writes, and the result is one too.

A state is a pair (p, q).  A transition of p that reads a and writes y makes q read all of y::

    p ─a:y─▶ p'   and   q ══y:z══▶ q'        (p, q) ─a:z─▶ (p', q')

If q cannot read y, there is no transition.  The second reads the initial output of the first before anything
else, which gives the initial output and the start.  At an end, it reads the final output of p; the final
output of (p, q) is what it writes for that, and then its own final output.

For example, separators are dropped, and then signed decimals are accepted (004, appendix B): after ``1,2``
the pair is (in a number, in a number), and for ``,`` no state of the acceptor changes, since nothing is
written.

Here an acceptor is the subsequential transducer that copies its strings.  One that is not deterministic is
determinized, so the result is deterministic in any case.  004, theorem 3, claims that of the plain product,
which has two transitions for one symbol where the acceptor has two.

Cost: the reachable pairs, times the lengths of outputs; determinizing the acceptor can be exponential.
Rejected: composing the general forms of both and determinizing the result; it is right, and makes a subset
construction of something that is deterministic already.
"""

from __future__ import annotations

from tokamata.automata.acceptor import Acceptor
from tokamata.automata.account import Account
from tokamata.automata.determinize import determinize
from tokamata.automata.machine import Write
from tokamata.automata.subsequential import Output, SubsequentialTransducer


def compose_subsequential(
    first: SubsequentialTransducer | Acceptor, second: SubsequentialTransducer | Acceptor, account: Account
) -> SubsequentialTransducer:
    """The function of ``first``, and then that of ``second``; only reachable pairs are made."""
    first, second = _as_subsequential(first, account), _as_subsequential(second, account)
    names = first.input_names, second.output_names
    begun = second.run(second.start, first.initial_output, account)
    if begun is None:  # the second reads no output of the first
        return SubsequentialTransducer(((),), frozenset(), 0, (), (), *names)
    account.add_states()
    order = [(first.start, begun[1])]
    numbers = {order[0]: 0}
    rows: list[tuple[tuple[Write, int], ...]] = []
    ends: dict[int, Output] = {}
    for number, (here, there) in enumerate(order):  # grows as pairs are found
        row = []
        for (symbol, passed), target in first.rows[here]:
            account.work()
            written = second.run(there, passed, account)
            if written is None:
                continue
            pair = target, written[1]
            if pair not in numbers:
                account.add_states()
                numbers[pair] = len(order)
                order.append(pair)
            row.append(((symbol, written[0]), numbers[pair]))
        account.add_transitions(1 + len(row))
        rows.append(tuple(row))
        if here in first.accepting:
            ending = second.run(there, first.final_outputs[here], account)
            if ending is not None and ending[1] in second.accepting:
                ends[number] = ending[0] + second.final_outputs[ending[1]]
    finals = tuple(ends.get(state, ()) for state in range(len(rows)))
    initial = second.initial_output + begun[0]
    return SubsequentialTransducer(tuple(rows), frozenset(ends), 0, initial, finals, *names)


def _as_subsequential(
    machine: SubsequentialTransducer | Acceptor, account: Account
) -> SubsequentialTransducer:
    """An acceptor copies its strings."""
    if isinstance(machine, SubsequentialTransducer):
        return machine
    if not machine.is_deterministic:
        machine = determinize(machine, account)
    account.add_states(machine.states)
    account.add_transitions(machine.size)
    rows = tuple(tuple(((symbol, (symbol,)), target) for symbol, target in row) for row in machine.rows)
    names = machine.names, machine.names
    return SubsequentialTransducer(rows, machine.accepting, machine.start, (), (), *names)
