"""Reads the vocabulary, the width and the stop tokens from a transformers model and its tokenizer.

The tokenizer names the tokens.  The model has the width of the logits (often padded to a round
number) and further stop tokens.
"""

# transformers and torch have no usable types for these attributes, hence `Any`: the model is any
# object with the interface of transformers' causal language models.

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any
from weakref import WeakKeyDictionary

from tokamata.errors import ArgumentError, shown_argument
from tokamata.vocabulary import Vocabulary
from tokamata.vocabulary.sources import read_source

__all__ = ["logits_width", "stop_tokens", "vocabulary_of"]

_Key = tuple[int, int | None, tuple[int, ...]]
_loaded: WeakKeyDictionary[Any, tuple[_Key, Vocabulary]] = WeakKeyDictionary()


def logits_width(model: Any) -> int | None:
    """Return the number of logits of ``model``, or ``None`` if it does not declare it."""
    get_head = getattr(model, "get_output_embeddings", None)
    weight = getattr(get_head() if callable(get_head) else None, "weight", None)
    if weight is not None:
        return int(weight.shape[0])
    config = getattr(model, "config", None)
    get_text_config = getattr(config, "get_text_config", None)
    width = getattr(get_text_config() if callable(get_text_config) else config, "vocab_size", None)
    return None if width is None else int(width)


def stop_tokens(model: Any, tokenizer: Any) -> tuple[int, ...]:
    """Return the tokens that end a text: those of the model's generation config, and the tokenizer's."""
    found: set[int] = set()
    for holder in (getattr(model, "generation_config", None), tokenizer):
        ids = getattr(holder, "eos_token_id", None)
        if isinstance(ids, Iterable):
            found.update(int(token) for token in ids)
        elif ids is not None:
            found.add(int(ids))
    return tuple(sorted(found))


def vocabulary_of(model: Any, tokenizer: Any) -> Vocabulary:
    """Load the vocabulary of ``tokenizer``, with the width and the stop tokens of ``model``.

    Ids without logits (such as the last of Gemma 3's tokenizer) are omitted, since the model cannot
    write them.  The vocabulary is kept as long as the tokenizer exists, so a second call costs
    nothing.

    Raises:
        ArgumentError: ``tokenizer`` is not a tokenizer.
        VocabularyError: tokenizers of this type cannot be read.
    """
    if isinstance(tokenizer, str) or not hasattr(tokenizer, "__len__"):
        raise ArgumentError("tokenizer", shown_argument(tokenizer), "the tokenizer of the model")
    width = logits_width(model)
    stop = tuple(token for token in stop_tokens(model, tokenizer) if width is None or token < width)
    key = (len(tokenizer), width, stop)
    kept = _loaded.get(tokenizer)
    if kept is not None and kept[0] == key:
        return kept[1]
    table = read_source(tokenizer, want_stop=False)
    # Cut first: Vocabulary refuses a width that cuts off text tokens.
    vocabulary = Vocabulary(replace(table, tokens=table.tokens[:width], stop=stop), width)
    _loaded[tokenizer] = (key, vocabulary)
    return vocabulary
