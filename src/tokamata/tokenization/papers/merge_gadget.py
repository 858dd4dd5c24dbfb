"""Merge gadgets: one merge as a transducer.

The gadget of ``a b → ab`` reads tokens and writes them with each ``a b`` joined (000, figure 5).  It delays
an ``a`` until it reads the next token::

    q0  initial    c:c ⟲ q0  for c ≠ a          a:ε ─▶ q1
    q1  active     b:ab ─▶ q0     a:a ⟲ q1      φ:a ─▶ q2
    q2  abort      c:c ─▶ q0  for c ≠ a, b

All states except q1 accept; the failure to q2 writes a delayed a at the end.  For ``a a b``: q0 reads the
first a and writes nothing, q1 reads the second and writes the first, q1 reads b and writes ab.

If ``a = b``, the figure is wrong: the second a could be joined or kept, and ``a a a`` would have three
outputs.  Then q1 has only one transition for a, and a new pair begins after each pair::

    q1             a:aa ─▶ q0                   φ:a ─▶ q2

The paper omits ``ab`` in q0 and q2, since it "can't even be observed before this merge is applied".  It can
if two merges make one token, such as ``(ab, c)`` and ``(a, bc)``, and such texts would be lost.

Since q2 reads neither a nor b, φ could as well be an epsilon; a composition that treats it as one is right,
and some tests do so.

Cost: two transitions for each symbol.
"""

from __future__ import annotations

from collections.abc import Iterable

from tokamata.automata import EPSILON, Transducer
from tokamata.automata.account import Account
from tokamata.automata.machine import Names, Pair
from tokamata.resources.limits import Limits
from tokamata.tokenization.papers.failure import FailureTransducer
from tokamata.tokenization.papers.merges import Merge

_INITIAL, _ACTIVE, _ABORT = range(3)


def gadget(
    merge: Merge,
    symbols: Iterable[int],
    names: Names | None = None,
    limits: Limits | Account | None = None,
) -> FailureTransducer:
    """The transducer that applies ``merge`` to sequences of ``symbols``.

    Args:
        merge: the merge.
        symbols: all tokens that may be read, in addition to the two parts of the merge.
        names: the names of tokens, for drawings.
        limits: bounds on the result.

    Raises:
        LimitExceeded: too many transitions.
    """
    account = Account(limits)
    left, right, token = merge
    read = set(symbols) | {left, right}
    account.add_states(3)
    account.add_transitions(2 * len(read))
    initial: list[tuple[Pair, int]] = [((c, c), _INITIAL) for c in read if c != left]
    initial.append(((left, EPSILON), _ACTIVE))
    active: list[tuple[Pair, int]] = [((right, token), _INITIAL)]
    if left != right:
        active.append(((left, left), _ACTIVE))
    abort: list[tuple[Pair, int]] = [((c, c), _INITIAL) for c in read if c not in (left, right)]
    rows = tuple(initial), tuple(active), tuple(abort)
    machine = Transducer(rows, frozenset([_INITIAL, _ABORT]), _INITIAL, names, names)
    return FailureTransducer(machine, {_ACTIVE: (left, _ABORT)})
