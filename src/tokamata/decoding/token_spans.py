"""The tokens of a text as HTML: each with its probability as a ground; what the model did not draw is marked.

A token that was certain has no ground; the less probable it was under the mask, the redder it is.  A line
stands before each token.  A token that completes no code point is shown with the one that does.
"""

from __future__ import annotations

import codecs
import math
from collections.abc import Iterator, Sequence

from tokamata.display.html import DIM, Markup, clipped, span

__all__ = ["token_spans"]

_MOST_SHOWN = 600  # tokens; of more, the first and the last
_LAST_SHOWN = 100
_MOST_CHARACTERS = 80  # of a token
_LEAST = math.log(1e-4)  # the log-probability with the reddest ground
_EDGE = "border-left:1px solid rgba(128,128,128,.6)"


def token_spans(
    text: str, pieces: Sequence[tuple[bytes, float]], marks: Sequence[tuple[int, int, str]]
) -> Iterator[Markup]:
    """A text, token by token.

    Args:
        text: the whole text.
        pieces: of each token the bytes that it adds to the text, and its log-probability.
        marks: parts that the model did not draw: the first byte, the byte after the last, and why.
    """
    decoder, left, begin = codecs.getincrementaldecoder("utf-8")("replace"), len(text), 0
    shares: list[float] = []
    hidden = len(pieces) - _MOST_SHOWN
    for index, (data, log_probability) in enumerate(pieces):
        shown = decoder.decode(data)[:left]
        left -= len(shown)
        end = begin + len(data)
        shares.append(log_probability)
        if shown and not (hidden > 0 and _MOST_SHOWN - _LAST_SHOWN <= index < len(pieces) - _LAST_SHOWN):
            reasons = [why for first, after, why in marks if first < end and begin < after]
            yield span(
                clipped(shown, _MOST_CHARACTERS), _style(sum(shares), bool(reasons)), _title(shares, reasons)
            )
        if hidden > 0 and index == _MOST_SHOWN - _LAST_SHOWN:
            yield span(f" … {hidden:,} tokens … ", DIM)
        if shown:
            shares = []
        begin = end
    if left:  # the end of the text without its tokens: a text that was cut, or repaired
        yield span(text[len(text) - left :])


def _style(log_probability: float, is_marked: bool) -> str:
    redness = math.sqrt(max(log_probability, _LEAST) / _LEAST)  # a probability of 0.4 is seen already
    style = f"background:rgba(197,15,31,{0.6 * redness:.2f});{_EDGE}" if redness > 0 else _EDGE
    return style + ";border-bottom:2px dashed #c19c00" if is_marked else style


def _title(shares: Sequence[float], reasons: Sequence[str]) -> str:
    probabilities = ", ".join(f"{math.exp(share):.4g}" for share in shares)
    return "; ".join([f"probability {probabilities}", *reasons])
