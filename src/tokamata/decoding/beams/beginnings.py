"""The beginnings of texts that a beam search keeps."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from tokamata.decoding.prefixes import Prefix

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tokamata.decoding.results import Switch
    from tokamata.decoding.spelling import Spelling
    from tokamata.matching.matchers import Matcher

__all__ = ["Beginning", "spelled"]


class Beginning(Prefix):
    """The tokens of a beginning, with the matcher at its end.

    A detour writes several tokens at once.  Then ``parent`` is a plain prefix, and the beginning ends further
    on than those beside it.

    Attributes:
        log_probability: that of the model, unmasked and at temperature 1; the tokens of a detour count with
            the probability of their bytes.
        masked: natural logarithm of its probability under the masks; the same for detours.
        matcher: at its end.
        text: its bytes, and the ids of control tokens between bytes that no text has: what distinguishes
            texts.
        order: its rank by ids, among the beginnings of a step: that of the tokens that the model has read.
        switches: the parts that the model did not draw.
        is_drawn: whether the model drew all of its tokens.
        detours: how many detours stand at its end, without a token of the model between them.
        meets_bans: whether a mask has allowed banned tokens, here or before.
    """

    __slots__ = ("detours", "is_drawn", "masked", "matcher", "meets_bans", "order", "switches", "text")

    def __init__(
        self,
        parent: Prefix | None,
        token: int,
        log_probability: float,
        masked: float,
        matcher: Matcher,
        text: bytes,
        before: Beginning | None = None,
    ) -> None:
        """Makes the beginning that continues ``before``, if there is one."""
        super().__init__(parent, token, log_probability)
        self.matcher, self.text, self.masked = matcher, text, masked
        self.order: int = 0 if before is None else before.order
        self.switches: tuple[Switch, ...] = () if before is None else before.switches
        self.is_drawn: bool = before is None or before.is_drawn
        self.detours = 0
        self.meets_bans: bool = before is not None and before.meets_bans

    def drawn(self, token: int, score: float, masked: float, matcher: Matcher, added: bytes) -> Beginning:
        """The beginning with one more token, which the model drew.

        Args:
            token: its id.
            score: its log-probability.
            masked: the same under the mask.
            matcher: after it.
            added: what it adds to the text.
        """
        return Beginning(
            self,
            token,
            self.log_probability + score,
            self.masked + masked,
            matcher,
            self.text + added,
            self,
        )

    def undrawn(
        self,
        tokens: Sequence[int],
        scores: Sequence[float],
        matcher: Matcher,
        spelling: Spelling,
        switch: Switch | None,
    ) -> Beginning:
        """The beginning with more tokens, which the model did not draw.

        Args:
            tokens: their ids; none where the text is whole already.
            scores: the log-probability of each.
            matcher: after them.
            spelling: their bytes.
            switch: what is recorded; ``None`` where they only repeat the end of the prompt.
        """
        # The last token is that of the beginning, those before it are prefixes.
        parent, last, total = self.parent, self.token, self.log_probability
        for place, (token, score) in enumerate(zip(tokens, scores, strict=True)):
            parent = Prefix(parent, last, total) if place else self
            last, total = token, total + score
        firsts = (self.depth + place == 0 for place in range(len(tokens)))
        text = self.text + b"".join(map(partial(spelled, spelling), tokens, firsts))
        masked = self.masked + sum(scores)
        made = Beginning(parent, last, total, masked, matcher, text, self)
        made.is_drawn = False
        if switch is not None:
            made.switches = (*self.switches, switch)
        return made


def spelled(spelling: Spelling, token: int, is_first: bool) -> bytes:
    """What a token adds to :attr:`Beginning.text`; ``is_first``: it is the first one."""
    return b"\xff%d\xff" % token if spelling.is_control(token) else spelling.of(token, is_first=is_first)
