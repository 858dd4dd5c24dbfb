"""The pipeline of a ``tokenizer.json``, the file of Hugging Face's `tokenizers`."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from tokamata.errors import UnsupportedTokenizerError
from tokamata.tokenization.pipelines.byte_pairs import byte_pair_normalizer, byte_pair_pipeline
from tokamata.tokenization.pipelines.pipeline import Normalizer, Pipeline
from tokamata.tokenization.pipelines.tokenizer_json_parts import kind_of
from tokamata.tokenization.pipelines.unigram import unigram_pipeline
from tokamata.tokenization.pipelines.word_piece import word_piece_pipeline
from tokamata.tokenization.pretokenizers.classes import hugging_face_tokenizers
from tokamata.vocabulary.sections import Section, flattened

__all__ = ["normalizer_from_tokenizer_json", "pipeline_from_tokenizer_json", "program_of_normalizer"]


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
    kind = kind_of(file.section("model"))
    if kind in ("WordPiece", "WordLevel"):
        return word_piece_pipeline(file, tokens)
    return unigram_pipeline(file, tokens) if kind == "Unigram" else byte_pair_pipeline(file, tokens)


def normalizer_from_tokenizer_json(document: dict[str, Any]) -> Normalizer:
    """The normalizer of a parsed ``tokenizer.json``, without the other parts.

    Raises:
        UnsupportedTokenizerError: the normalizer or the pre-tokenizer is not supported, or it is that of
            words, which is run and not read.
        MissingExtraError: `tokenizers` is not installed.
    """
    file = Section(document, "")
    if (kind := kind_of(file.section("model"))) in ("WordPiece", "WordLevel"):
        raise UnsupportedTokenizerError("normalizer", f"that of a {kind} tokenizer is run, and not read")
    return byte_pair_normalizer(file)


def program_of_normalizer(document: dict[str, Any]) -> Callable[[str], str] | None:
    """The normalizer of a parsed ``tokenizer.json`` as its own program, from text to text.

    Returns:
        ``None`` if the program refuses it, or if it writes characters for bytes (``ByteLevel``), so that its
        result is not a text that can be compared.

    Raises:
        MissingExtraError: `tokenizers` is not installed.
    """
    parts = flattened(Section(document, ""), "normalizer", "normalizers")
    if any(part.kind == "ByteLevel" for part in parts):
        return None
    shell: dict[str, Any] = {
        "version": "1.0",
        "added_tokens": [],
        "normalizer": document.get("normalizer"),
        "model": {"type": "BPE", "vocab": {}, "merges": []},
    }
    try:
        normalizer = hugging_face_tokenizers().Tokenizer.from_str(json.dumps(shell)).normalizer
    except Exception:  # the package raises a bare Exception
        return None
    change: Callable[[str], str] = normalizer.normalize_str if normalizer is not None else str
    return change
