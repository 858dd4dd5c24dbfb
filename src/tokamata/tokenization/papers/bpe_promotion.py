"""Promotion to the encodings of byte-pair encoding, with one gadget after the other.

000, equation 5: the acceptor of a pattern over characters is composed with the gadget of each merge, in
order, and projected to its output; the result accepts exactly the encodings of the pattern's texts.  For
``(a b)+`` and the merges ``(a, b)`` and ``(ab, ab)``::

    (0) ─a─▶ (1) ─b─▶ ((2)) ─a─▶ (1)      (0) ─ab─▶ ((1)) ⟲ ab      (0) ─abab─▶ ((1)) ⟲ abab
                                                                     (0), (1) ─ab─▶ ((2))

Composed all at once, the states could multiply by 3 with every merge.  Projected and minimized after each
merge, they hardly grow: a merge splits a state in at most two (000, theorem 5.1, with the bound ``k·|A|³``).
A better bound is linear in the states: a machine with at most one state for each token and one for the start
accepts the encodings of all texts (001, algorithm 3), so its product with ``A``, which has ``|A|·(1 + |Γ|)``
states, accepts those of a pattern.

After the projection, a step can be nondeterministic, against 000's proposition C.8: the active state writes
``a`` both if another a follows and if anything else does.  ``minimize`` determinizes; its sets have at most
two states, one active and the other aborted.

A merge is skipped if no state is between its parts, since nothing would change.

Cost: a composition and a minimization for each merge that applies.  :mod:`.direct_merge` only changes the
states between the parts of a merge; use it instead.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tokamata.automata import Acceptor, minimize, project
from tokamata.automata.account import Account
from tokamata.resources.limits import Limits
from tokamata.tokenization.papers.failure import compose_failing
from tokamata.tokenization.papers.merge_gadget import gadget
from tokamata.tokenization.papers.merges import Merge


def promote_bpe(
    pattern: Acceptor, merges: Sequence[Merge], limits: Limits | Account | None = None
) -> Acceptor:
    """The encodings, with all merges in order, of the texts that ``pattern`` accepts; minimal.

    Args:
        pattern: over the ids of characters; :func:`.characters.in_tokens` makes it of one over bytes.
        merges: in order.
        limits: bounds on the result.

    Raises:
        LimitExceeded: too many states or transitions.
    """
    *_, last = promotions(pattern, merges, limits)
    return last


def promotions(
    pattern: Acceptor, merges: Sequence[Merge], limits: Limits | Account | None = None
) -> Iterator[Acceptor]:
    """The same machine before the first merge and after each, for studies of its growth."""
    account = Account(limits)
    machine = minimize(pattern, account)
    symbols = machine.symbols
    yield machine
    for merge in merges:
        account.work()
        if merge.left in symbols and merge.right in symbols and _applies(machine, merge):
            joined = compose_failing(machine, gadget(merge, symbols, machine.names, account), account)
            machine = minimize(project(joined, "output"), account)
            symbols = machine.symbols
        yield machine


def _applies(machine: Acceptor, merge: Merge) -> bool:
    """Whether the left part leads to a state that reads the right part."""
    entered = {target for _, symbol, target in machine.transitions if symbol == merge.left}
    return any(symbol == merge.right for state in entered for symbol, _ in machine.rows[state])
