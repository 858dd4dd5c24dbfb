"""A detour by bytes: how a text goes on where no token of its tokenization may follow.

Problem.  After ``{"na`` every token that the tokenizer would write may be banned, or have the logit minus
infinity.  Bytes inside the mask of *any* tokenization may still lead to where tokens follow again.
Example.  With ``me": `` banned and the single bytes as tokens, the detour is ``m``: after it the canonical
masks have tokens again (``e``), or it goes on with ``e``, ``"``.

How.  A best-first search over strings of bytes.  Its nodes are matchers of the constraint for any
tokenization.  An edge writes one byte, by the token that is this byte.  Where no token is the byte alone, the
shortest legal token that begins with it stands for it: text and state never differ.  The search ends at the
most probable string after which the text is accepted, or at least ``resync`` tokens are left.

The probability of a string is read off the logits at hand, without another call of the model: that of all
tokens whose text begins with it.  So

    logp_byte(b | s) = log mass(s b) - log mass(s),        mass(s) = the sum of p(t) over tokens t = s…

is never positive, and the search is Dijkstra's algorithm: the first end that it takes out is the best one.
Where the model gives no legal byte any mass, it says nothing of the next byte, and the text goes on as its
shortest completion does.  Ties go to the shorter string, then to the smaller one (shortlex).

Source.  Xu, *OIP-CAD*, section 5.2 and listing 1, which leaves ``logp_byte`` open, moves the state by a byte
that no token writes, and returns only at two legal tokens (``docs/errata.md``).
Cost.  At most ``_MOST_NODES`` masks, in the time that is left.  When it is over there is no second-best way:
the first end that is found is the result.  The logits are sorted by text once, O(width).
"""

# torch is the caller's, hence `Any` for tensors.

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from tokamata.decoding.token_prefixes import TokenPrefixes, token_prefixes
from tokamata.errors import BudgetError
from tokamata.matching.masks import allocate_mask, allowed_tokens

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from tokamata.matching.matchers import Matcher
    from tokamata.vocabulary import Vocabulary

__all__ = ["Detour", "detour"]

_MOST_NODES = 256
_NO_TEXT = (1 << 63) - 1


@dataclass(frozen=True)
class Detour:
    """The end of a search.

    Attributes:
        start: the matcher at its beginning, for any tokenization.
        tokens: what is to be written.
        data: their bytes.
        log_probabilities: of each token's bytes, after those before it.
        back: the matcher with which the text goes on; ``None``: the text is accepted, and ends.
    """

    start: Matcher
    tokens: list[int]
    data: bytes
    log_probabilities: list[float]
    back: Matcher | None


def detour(
    matcher: Matcher,
    vocabulary: Vocabulary,
    logits: Any,
    budget: int,
    most_bytes: int,
    candidates: int | None,
    resumed: Callable[[Matcher, int], Matcher | None],
    seconds_left: Callable[[], float | None] = lambda: None,
    *,
    is_start: bool = False,
) -> Detour | None:
    """The most probable way back to where tokens follow, or to an accepted text.

    Args:
        matcher: at the end of the text, for any tokenization; it is not advanced.
        vocabulary: that of the text's own matcher.
        logits: of the model there, ``[width]``, not masked; a torch tensor.
        budget: how many tokens may still be written.
        most_bytes: how long the way may be.
        candidates: how many bytes are followed from each node, the most probable; ``None``: all.
        resumed: the matcher with which a text goes on from a node, for a budget; ``None``: too few tokens are
            left there.
        seconds_left: the time that is left for the search; ``None``: any.
        is_start: whether the next token is the first that a decoder with a rule for starts reads.

    Returns:
        The way; ``None`` if none was found, or the time was over between two nodes.

    Raises:
        LimitExceeded, Cancelled: the constraint's work was stopped; also where the time was over in a mask.
    """
    masses, first = _masses_of(vocabulary, False), _masses_of(vocabulary, is_start)
    mass = first.of(logits)
    row = allocate_mask(1, vocabulary.width)[0]
    # The cost, which is less the log-probability; the length, the bytes, the tokens, the cost after each of
    # them, and the matcher before the last.
    queue: list[tuple[float, int, bytes, list[int], list[float], Matcher]] = [(0.0, 0, b"", [], [], matcher)]
    for _ in range(_MOST_NODES):
        if not queue or seconds_left() == 0:
            return None
        cost, _, data, tokens, costs, before = heapq.heappop(queue)
        here = before.fork()
        if tokens:
            assert here.advance(tokens[-1])  # the mask before it allows it
            back = resumed(here, budget - len(tokens))
            if back is not None or here.is_accepting:
                shares = [last - cost for last, cost in zip([0.0, *costs], costs, strict=False)]
                return Detour(matcher, tokens, data, shares, back)
        try:
            here.fill_mask(row, budget - len(tokens), deadline_seconds=seconds_left())
        except BudgetError:
            continue
        texts = masses if tokens else first
        steps = [(data + texts.text(token), token) for token in texts.shortest(row)]
        likely = sorted((-share, text, token) for text, token in steps if (share := mass(text)) > 0)
        if likely:
            priced = [(-math.log(-share), text, token) for share, text, token in likely[:candidates]]
        else:
            closing = here.shortest_completion(deadline_seconds=seconds_left())[:1]
            priced = [(cost, data + texts.text(token), token) for token in closing]
        for price, text, token in priced:
            if len(text) <= most_bytes:
                price = max(price, cost)  # rounding
                heapq.heappush(queue, (price, len(text), text, [*tokens, token], [*costs, price], here))
    return None


class _Masses:
    """The tokens of a vocabulary by their texts: what a model gives to those that begin with some bytes."""

    def __init__(self, tokens: Sequence[bytes | None], prefixes: TokenPrefixes, width: int) -> None:
        import numpy as np

        self._tokens, self._prefixes, self._width = tokens, prefixes, width
        self._ids = np.array(self._prefixes.ids, dtype=np.int64)
        # The first byte of each token and its length, in one number.
        self._rank = np.full(width, _NO_TEXT, dtype=np.int64)
        texts = map(self.text, self._prefixes.ids)
        self._rank[self._ids] = [(text[0] << 32) + len(text) for text in texts]

    def text(self, token: int) -> bytes:
        """The bytes of a token."""
        return self._tokens[token] or b""

    def of(self, logits: Any) -> Callable[[bytes], float]:
        """For some bytes, the probability of all tokens that begin with them, among tokens with text."""
        import numpy as np

        given = logits.detach().float().cpu().numpy()[: self._width]
        values = np.full(self._width, -np.inf)
        values[: len(given)] = given
        values = values[self._ids]
        values[np.isnan(values)] = -np.inf
        peak = values.max(initial=-np.inf)
        if not np.isfinite(peak):  # no token has a probability, or one has the logit plus infinity
            return lambda _: 0.0
        shares = np.exp(values - peak)
        shares /= shares.sum()
        return lambda data: float(shares[slice(*self._prefixes.span(data))].sum())

    def shortest(self, row: npt.NDArray[np.int32]) -> list[int]:
        """For each first byte of the tokens of a mask, the shortest such token."""
        import numpy as np

        allowed = allowed_tokens(row)
        ranks = self._rank[allowed]
        order = np.lexsort((allowed, ranks))
        order = order[ranks[order] < _NO_TEXT]
        _, first = np.unique(ranks[order] >> 32, return_index=True)
        return [int(token) for token in allowed[order[first]]]


_made: WeakKeyDictionary[Vocabulary, dict[bool, _Masses]] = WeakKeyDictionary()


def _masses_of(vocabulary: Vocabulary, is_start: bool) -> _Masses:
    """The masses of a vocabulary, at the start of a text or within it; they are kept as long as it exists."""
    made = _made.setdefault(vocabulary, {})
    if is_start not in made:
        start = vocabulary.start_tokens() if is_start else None
        tokens: Sequence[bytes | None] = vocabulary.tokens if start is None else start
        prefixes = token_prefixes(vocabulary) if start is None else TokenPrefixes(start)
        made[is_start] = _Masses(tokens, prefixes, vocabulary.width)
    return made[is_start]
