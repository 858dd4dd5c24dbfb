"""Healing: the border between prompt and output, moved back by a token where it stands badly.

Problem.  A prompt is cut into tokens as if it were a whole text.  "http:" ends with the token ``:``, though
the tokenizer writes "http://" as ``http|://``: a model has hardly ever seen ``:`` there with ``//`` behind
it, and goes on with something else.

    prompt         "The address is http:"        … | http | :
    given          … | http                      the last token is taken back
    constraint     literal(":") + constraint     and its text is written anew, perhaps by a longer token
    written        ://example.org                of which the text returned leaves out ":"

A token is taken back only where a longer token begins with its text; else the model could only write it
again.  Control tokens are never taken back: they are no text.  Nor is a token that is not whole code points,
since a constraint denotes texts; nor the only token of a prompt, since a model needs one to go on from.

Source: "token healing" in the guidance library (Lundberg, 2023).  Cost: a binary search; the matcher
starts some bytes earlier.  Not taken: going back by several tokens, which finds longer tokens still, but
takes back what the caller may have cut on purpose.
"""

from __future__ import annotations

from tokamata.decoding.token_prefixes import token_prefixes
from tokamata.vocabulary import Vocabulary

__all__ = ["text_to_heal"]


def text_to_heal(prompt: list[int], vocabulary: Vocabulary) -> str:
    """Return the text of the last token of a prompt where that is to be taken back, else ``""``."""
    if len(prompt) < 2 or not 0 <= prompt[-1] < vocabulary.width:
        return ""
    data = vocabulary[prompt[-1]]
    if not data or not token_prefixes(vocabulary).extends(data):
        return ""
    try:
        return data.decode()
    except UnicodeDecodeError:
        return ""
