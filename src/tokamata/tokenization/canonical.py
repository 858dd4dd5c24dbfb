"""The engine's form of a vocabulary's tokenizer, for canonical tokenization."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from tokamata import _core
from tokamata.errors import UnsupportedTokenizerError
from tokamata.tokenization.pipeline import Pipeline
from tokamata.tokenization.tables import make_tables

if TYPE_CHECKING:
    from tokamata.vocabulary import Vocabulary

_lock = threading.Lock()
_made: WeakKeyDictionary[Vocabulary, _core.Tokenization] = WeakKeyDictionary()


def tokenization_of(vocabulary: Vocabulary) -> _core.Tokenization:
    """The tokenizer of a vocabulary as the engine follows it; made once, in 1 to 2 s.

    Raises:
        UnsupportedTokenizerError: the vocabulary has no pipeline, or one that cannot be followed.
        MissingExtraError: the package that runs the tokenizer's regexes is not installed.
        VocabularyError: the tokenizer contradicts itself, or its file has changed.
    """
    with _lock:
        if vocabulary not in _made:
            _made[vocabulary] = _core.Tokenization(
                vocabulary.core, make_tables(_pipeline(vocabulary), vocabulary)
            )
        return _made[vocabulary]


def _pipeline(vocabulary: Vocabulary) -> Pipeline:
    source = vocabulary.pipeline
    if source is None:
        raise UnsupportedTokenizerError(
            "pipeline",
            "the vocabulary was loaded from a source that says what the tokens are, and not how a "
            "text is cut into them; load the tokenizer itself",
        )
    tokens = list(vocabulary.tokens)
    # Late, each with the package it needs.
    if source.family == "tokenizer.json":
        from tokamata.tokenization.pipeline_hugging_face import pipeline_from_tokenizer_json

        return pipeline_from_tokenizer_json(source.read(), tokens)
    from tokamata.tokenization import pipeline_ranks

    read = {
        "tiktoken": pipeline_ranks.pipeline_from_encoding,
        "tekken": pipeline_ranks.pipeline_from_tekken,
        "sentencepiece": pipeline_ranks.pipeline_from_sentence_piece,
    }[source.family]
    return read(source.read(), tokens)
