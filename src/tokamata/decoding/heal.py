"""Healing: moves the border between prompt and output back by one token.

Problem: a prompt is cut into tokens as if it were a whole text.  "http:" ends with the token ``:``, but the
tokenizer writes "http://" as ``http|://``.  A model has hardly ever seen ``:`` followed by ``//`` there, and
continues with something else.

    prompt         "The address is http:"        … | http | :
    model input    … | http                      the last token is taken back
    constraint     literal(":") + constraint     its text is written again, perhaps by a longer token
    written        ://example.org                the returned text omits ":"

A token is taken back only if a longer token begins with its text; otherwise the model could only write it
again.  Never taken back are control tokens, which have no text; tokens that are not whole code points, since
a constraint denotes texts; and the only token of a prompt, since a model needs some input.

Source: "token healing" in the guidance library (Lundberg, 2023).  Cost: a binary search; the matcher
starts some bytes earlier.  Rejected: taking back several tokens, which finds even longer tokens, but may
undo a border that the caller chose on purpose.
"""

from __future__ import annotations

from tokamata.decoding.spelling import Spelling
from tokamata.decoding.token_prefixes import token_prefixes
from tokamata.vocabulary import Vocabulary

__all__ = ["text_to_heal"]


def text_to_heal(prompt: list[int], vocabulary: Vocabulary, *, is_start: bool = False) -> str:
    """Return the text of the last token of a prompt if it is to be taken back, else ``""``.

    Args:
        prompt: the tokens.
        vocabulary: the vocabulary.
        is_start: whether that token is the first of a text.
    """
    if len(prompt) < 2 or not 0 <= prompt[-1] < vocabulary.width:
        return ""
    data = vocabulary[prompt[-1]]
    if not data or not token_prefixes(vocabulary).extends(data):
        return ""
    try:
        return Spelling(vocabulary, is_start).of(prompt[-1], is_first=True).decode()
    except UnicodeDecodeError:
        return ""
