"""Whether vLLM reads tokens as tokamata does, compared when the engine starts.

tokamata takes the bytes of the tokens from the tokenizer's own tables.  vLLM turns tokens into text by the
tokenizer's ``decode``.  If a tokenizer's tables say one thing and its code does another, all masks are those
of texts that no client gets.  Two comparisons find that: a text of JSON, which is encoded and decoded as a
whole, and a thousand tokens from all over the vocabulary, each decoded by itself.

Spaces are not compared: many tokenizers add or remove one at the beginning of a text, and some before
punctuation.  Tokens that are no text by themselves, such as parts of a character, are left out.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from typing import Any

from tokamata.errors import VocabularyError, VocabularyWarning
from tokamata.vocabulary import Vocabulary

__all__ = ["check_reading"]

_TEXT = '{"name": "Ada L.", "ages": [36, -1.5e3], "tags": {"a_b": null}, "is": true}\n'
_SAMPLED = 1024  # tokens; 10 to 20 ms
_SHOWN = 3


def check_reading(vocabulary: Vocabulary, tokenizer: Any) -> None:
    """Compare the bytes of tokens with what the host's tokenizer decodes.

    Args:
        vocabulary: what tokamata has read.
        tokenizer: the host's, with ``encode`` and ``decode``; nothing is compared without them.

    Raises:
        VocabularyError: the two read a text of JSON differently.

    Warns:
        VocabularyWarning: they read some tokens differently, but not that text.
    """
    if not (hasattr(tokenizer, "encode") and hasattr(tokenizer, "decode")):
        return
    tokens = list(tokenizer.encode(_TEXT, add_special_tokens=False))
    if not all(0 <= token < vocabulary.width for token in tokens):
        raise VocabularyError(f"the host encodes {_TEXT!r} as {tokens}, with tokens that have no logit")
    for wrong in _differences(vocabulary, tokenizer, [tokens]):
        raise VocabularyError(f"the host reads tokens differently: {wrong}; {_ADVICE}")
    step = max(len(vocabulary) // _SAMPLED, 1)
    sampled = [[token] for token in range(0, len(vocabulary), step)]
    if found := list(_differences(vocabulary, tokenizer, sampled)):
        more = f", and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
        message = (
            f"the host reads {len(found)} of {len(sampled)} tokens differently: {'; '.join(found[:_SHOWN])}"
            f"{more}; {_ADVICE}"
        )
        warnings.warn(VocabularyWarning(message), stacklevel=2)


_ADVICE = (
    "its texts would not be those that the constraint allows; use the tokenizer of the model, and with vLLM "
    'tokenizer_mode="hf"'
)


def _differences(vocabulary: Vocabulary, tokenizer: Any, runs: Sequence[Sequence[int]]) -> Iterator[str]:
    for run in runs:
        spelled = [vocabulary[token] for token in run]
        if any(value is None for value in spelled):
            continue
        try:
            ours = b"".join(value or b"" for value in spelled).decode()
        except UnicodeDecodeError:
            continue
        theirs = tokenizer.decode(list(run))
        if theirs.replace(" ", "") != ours.replace(" ", ""):
            shown = run[0] if len(run) == 1 else list(run)[:8]
            yield f"{shown} is {theirs[:60]!r} to the host and {ours[:60]!r} to tokamata"
