"""The pipeline of a ``tokenizer.json``, the file of Hugging Face's `tokenizers`."""

from __future__ import annotations

from typing import Any

from tokamata.tokenization.pipelines.byte_pairs import byte_pair_pipeline
from tokamata.tokenization.pipelines.pipeline import Pipeline
from tokamata.tokenization.pipelines.tokenizer_json_parts import kind_of
from tokamata.tokenization.pipelines.word_piece import word_piece_pipeline
from tokamata.vocabulary.sections import Section

__all__ = ["pipeline_from_tokenizer_json"]


def pipeline_from_tokenizer_json(document: dict[str, Any], tokens: list[bytes | None]) -> Pipeline:
    """The pipeline of a parsed ``tokenizer.json``.

    Args:
        document: the parsed file.
        tokens: the bytes of every token of the vocabulary that was read from it.

    Raises:
        UnsupportedTokenizerError: a part is not supported.
        VocabularyError: the model contradicts itself.
        MissingExtraError: `tokenizers` is not installed.
    """
    file = Section(document, "")
    is_word_piece = kind_of(file.section("model")) == "WordPiece"
    return word_piece_pipeline(file, tokens) if is_word_piece else byte_pair_pipeline(file, tokens)
