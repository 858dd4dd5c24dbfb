"""A walk down the tree of prefixes: one text is drawn, token by token.

At each node the model reads the prefix, unless it is known, and a legal token is drawn in proportion to its
score ``p(a | v) · bound(v a)``.  Three methods differ in two switches only:

======  ======  =======  =========================================================================
method  learns  rejects  law of a text
======  ======  =======  =========================================================================
local   no      no       the mask at each step, renormalized: biased
asap    yes     no       tends to the target law with the number of walks
exact   yes     yes      the target law, for each text, independent of the others
======  ======  =======  =========================================================================

**Rejecting.**  When a walk arrives at a node whose bound falls from ``b`` to ``b'`` because the model reads
it now, it goes on with the probability ``b' / b``, and otherwise ends without a text: a node is chosen by
what it might have held, so it is left as often as it holds less.

**Theorem.**  With both switches a walk ends in a final path ``w`` with the probability ``P(w) / B``, where
``B`` is the bound of the root when the walk begins.

*Proof.*  Let ``w`` be a final path of the tokens ``a_0 … a_m``, and ``v_i`` its prefix of ``i`` tokens.  Let
``b_i`` be the bound of ``v_i`` just before the walk arrives there, and ``c_i`` just after, once it was read.
Nothing changes between the choice of ``v_i`` at its parent and the arrival, so ``b_i`` is the bound in the
score by which it was chosen.  The bound of ``w`` itself is 1, and the scores at ``v_i`` add up to ``c_i``.
At ``v_i`` the walk goes on with the probability ``c_i / b_i``, and then draws ``a_i`` with ``p(a_i | v_i)
b_(i+1) / c_i``. The product of both is ``p(a_i | v_i) b_(i+1) / b_i``, and that over all ``i`` is ``P(w) · 1
/ b_0``.  ∎

So *given that it ends in a text*, a walk has the target law, whatever earlier walks have learned and whatever
was read ahead: both enter through the ``b`` alone.  A walk that is rejected changes only bounds, so the texts
of a sequence of walks are independent, and each has the law ``P(w) / Z``.  The probability of a text is ``Z /
B``, and ``B`` only falls.  A rejected prefix is never drawn with what it was rejected for: its bound holds
what is left.

**Weights.**  Without rejecting, a text was drawn with the probability ``q``, the product of the score of each
token divided by the sum of the scores.  Its weight ``P(w) / q(w)`` averages to ``Z`` exactly, given all walks
before.

Beside CARS: there a walk draws from all tokens at a node that it reads for the first time, and ends when the
token is not legal.  The law of what it writes is the same, and so is the number of calls of the model if CARS
keeps what it has read (``benchmarks/sampling``).  Here the mass of all legal tokens decides at once, so nodes
below may have been read in the same call (:mod:`tokamata.decoding.unbiased.prefix_tree`): that saves calls.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tokamata.decoding.unbiased.prefix_tree import COMPLETE, Node, PrefixTree, Row
from tokamata.errors import GenerationError

if TYPE_CHECKING:
    import numpy as np

__all__ = ["Path", "walk"]


@dataclass(frozen=True)
class Path:
    """A final path that was drawn.

    Attributes:
        tokens: its tokens, the stop token included.
        log_probability: the logarithm of the model's probability of it.
        log_weight: the logarithm of that divided by the probability of the draw.
        log_masses: the logarithm of the legal mass before each token.
    """

    tokens: list[int]
    log_probability: float
    log_weight: float
    log_masses: list[float]


def walk(
    tree: PrefixTree, stop: frozenset[int], random: np.random.Generator, *, learns: bool, rejects: bool
) -> Path | None:
    """Draw one text.

    Args:
        tree: the known prefixes.
        stop: the stop tokens.
        random: where random numbers are from.
        learns, rejects: as above; those of the tree are the same.

    Returns:
        The path; ``None`` where it was rejected, or has ended where no legal token has a probability.

    Raises:
        GenerationError: no legal token has a probability, at the start or, without learning, anywhere.
    """
    node, path = tree.root, list[int]()
    visited: list[tuple[Node, Row, int]] = []
    log_probability = log_weight = 0.0
    log_masses: list[float] = []
    calls = tree.reader.calls
    result = None
    while True:
        before = node.bound
        row = tree.row(node, path)
        total = node.bound if learns else node.mass
        if total == -math.inf:
            if not learns or node is tree.root:
                raise GenerationError(
                    "the model gives no token that the constraint allows a probability above 0 after the "
                    f"tokens {path[-20:]}; check the prompt, or the temperature"
                )
            break
        if rejects and random.random() >= math.exp(total - before):
            break
        index = row.draw(random.random())
        token = int(row.tokens[index])
        path.append(token)
        log_masses.append(node.mass)
        log_weight += total
        score = float(row.scores[index])
        child = COMPLETE if token in stop else tree.child(node, row, index, path)
        if child is COMPLETE:
            log_probability += score
            result = Path(path, log_probability, log_weight, log_masses)
            break
        log_probability += child.edge
        log_weight += child.edge - score
        visited.append((node, row, index))
        node = child
    if learns and tree.reader.calls > calls:
        tree.learn(visited, node)
    return result
