"""The token sequences that spell the texts of a constraint, as a graph that is made as it is walked.

A node is a position in a text, with the matcher there.  With ``tokenization="any"`` all token sequences of
one beginning of a text share a node, since the same tokens follow all of them::

    texts   abc abd      ""  --a-->  "a"  --b-->  "ab"  --c-->  "abc"
    tokens  a b c d ab   ""  -------ab---------->  |    --d-->  "abd"

With canonical tokenization what follows depends on the tokens before, so the graph is a tree.

Cost: a step of the engine for each edge.  Nodes are kept, and make their edges once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tokamata.matching.masks import allowed_tokens

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from tokamata.decoding.spelling import Spelling
    from tokamata.matching.matchers import Matcher
    from tokamata.resources.limits import Watch

__all__ = ["Edges", "SpellingGraph", "Spot"]

_SPOT_BYTES = 1000  # of a node with its matcher and its edge


class Edges:
    """What follows a node.

    Attributes:
        tokens: ``intp[n]``, the text tokens that may come next.
        targets: the node after each of them.
        stops: ``intp[m]``, the stop tokens that may come next.
    """

    __slots__ = ("stops", "targets", "tokens")

    def __init__(
        self, tokens: npt.NDArray[np.intp], targets: list[Spot], stops: npt.NDArray[np.intp]
    ) -> None:
        self.tokens, self.targets, self.stops = tokens, targets, stops


class Spot:
    """A node.

    Attributes:
        text: the bytes up to here.
        matcher: here.
        is_finished: whether the text is accepted, and nothing can follow.
    """

    __slots__ = ("edges", "is_finished", "matcher", "text")

    def __init__(self, text: bytes, matcher: Matcher) -> None:
        self.text, self.matcher = text, matcher
        self.is_finished = matcher.is_finished
        self.edges: Edges | None = None


class SpellingGraph:
    """The graph, from the start of the texts.

    Args:
        matcher: at the start.
        spelling: the bytes of the texts' tokens.
        watch: bounds the memory.
    """

    def __init__(self, matcher: Matcher, spelling: Spelling, watch: Watch) -> None:
        self._vocabulary, self._spelling = matcher.compiled.vocabulary, spelling
        self._is_canonical = matcher.compiled.tokenization == "canonical"
        self._watch = watch
        self._by_text: dict[bytes, Spot] = {}
        self.start = Spot(b"", matcher)

    def edges(self, spot: Spot) -> Edges:
        """What follows a node.

        Raises:
            LimitExceeded, Cancelled: the work was stopped.
        """
        import numpy as np

        if spot.edges is None:
            allowed = allowed_tokens(spot.matcher.mask)
            is_stop = np.isin(allowed, list(self._vocabulary.stop))
            tokens = allowed[~is_stop]
            targets = [self._after(spot, token) for token in tokens.tolist()]
            spot.edges = Edges(tokens, targets, allowed[is_stop])
        return spot.edges

    def _after(self, spot: Spot, token: int) -> Spot:
        text = spot.text + self._spelling.of(token, is_first=spot is self.start)
        known = None if self._is_canonical else self._by_text.get(text)
        if known is not None:
            return known
        matcher = spot.matcher.fork()
        matcher.advance(token)
        self._watch.hold(_SPOT_BYTES + len(text))
        made = Spot(text, matcher)
        if not self._is_canonical:
            self._by_text[text] = made
        return made
