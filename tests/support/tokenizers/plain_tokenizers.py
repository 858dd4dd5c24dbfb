"""Tokenizers that are a merge list and nothing else: no normalizer, no pre-tokens, no added tokens."""

from __future__ import annotations

import json

from tokenizers import Tokenizer

from tests.support.automata.tokenizations import Bpe
from tests.support.tokenizers.small_tokenizers import FUSE, document


def plain_tokenizer(bpe: Bpe, ignore_merges: bool = False) -> Tokenizer:
    """The tokenizer of a merge list over characters.

    Args:
        bpe: its tokens and merges; a merge that is listed twice counts at its last position.
        ignore_merges: whether a text that is a token becomes that token, whatever the merges.
    """
    texts = [text.decode() for text in bpe.vocabulary]
    vocab = {text: token for token, text in enumerate(texts)}
    merges = [[texts[left], texts[right]] for left, right, _ in bpe.merges]
    made = document(vocab, decoder=FUSE, merges=merges, ignore_merges=ignore_merges)
    return Tokenizer.from_str(json.dumps(made))
