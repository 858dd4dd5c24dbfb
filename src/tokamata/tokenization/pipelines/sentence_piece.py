"""The pipeline of a SentencePiece model file: its normalizer, and BPE or Unigram.

BPE has no merges: two neighbours are joined if their joined text is a piece, the one with the highest score
first, as with lists of ranks (:mod:`.ranks`).  For Unigram see :mod:`.sentence_piece_unigram`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from tokamata.errors import UnsupportedTokenizerError
from tokamata.tokenization.pipelines.atoms import atoms_of_texts
from tokamata.tokenization.pipelines.charsmaps import Charsmap
from tokamata.tokenization.pipelines.normalizer_sequences import Part, check_sequence
from tokamata.tokenization.pipelines.pipeline import AddedToken, BytePairs, Normalizer, Pipeline, Splitting
from tokamata.tokenization.pipelines.ranks import merges_of_ranks
from tokamata.tokenization.pipelines.sentence_piece_model import SentencePieceModel, read_model
from tokamata.tokenization.pipelines.sentence_piece_unigram import sentence_piece_unigram
from tokamata.tokenization.pipelines.user_defined_pieces import user_defined_pieces
from tokamata.tokenization.pretokenizers.classes import CODE_POINTS

__all__ = ["NoEngine", "pipeline_from_sentence_piece", "sentence_piece_normalizer"]


def pipeline_from_sentence_piece(proto: bytes, tokens: Sequence[bytes | None]) -> Pipeline:
    """The pipeline of a SentencePiece model file.

    Raises:
        UnsupportedTokenizerError: it is neither BPE nor Unigram, or a part is not supported.
        VocabularyError: its charsmap is damaged.
    """
    model = read_model(proto)
    normalizer = sentence_piece_normalizer(model)
    if model.kind == "Unigram":
        control = tuple(AddedToken(token, b"") for token in model.control)
        unigram = sentence_piece_unigram(model, normalizer, tokens)
        return Pipeline(NoEngine(), normalizer, (), unigram, control)
    if model.kind != "BPE":
        raise UnsupportedTokenizerError("model", f"SentencePiece's {model.kind}")
    if model.has_unused:
        raise UnsupportedTokenizerError("model", "SentencePiece's unused pieces")
    added = [AddedToken(token, b"") for token in model.control]
    if model.user_defined:
        normalizer = replace(normalizer, goes_on=normalizer.prefix != "none" or any(normalizer.strips))
        added += user_defined_pieces(model, normalizer)
    return Pipeline(NoEngine(), normalizer, (), _piece_pairs(model, len(tokens)), tuple(added))


def sentence_piece_normalizer(model: SentencePieceModel) -> Normalizer:
    """The normalizer of a SentencePiece model.

    Raises:
        UnsupportedTokenizerError: a part of it is not supported.
        VocabularyError: its charsmap is damaged.
    """
    for is_so, what in (
        (not model.writes_sign, "SentencePiece writes no sign for spaces"),
        (model.spaces_end_words, "SentencePiece puts spaces after words"),
        (model.is_denormalized, "SentencePiece changes decoded text"),
    ):
        if is_so:
            raise UnsupportedTokenizerError("normalizer", what)
    space = np.zeros(CODE_POINTS, dtype=bool)
    space[0x20] = True
    doubled = Splitting("[space][space]", keeps_matches=False, members={"[space]": space})
    charsmap = Charsmap(model.charsmap) if model.charsmap else None
    if charsmap is not None:
        single = str.maketrans(charsmap.single_keys())
        check_sequence([Part("charsmap", lambda text: text.translate(single), "keys", charsmap)], "▁")
    removes = model.removes_spaces
    return Normalizer(
        spaces="▁",
        prefix="always" if model.adds_space else "none",
        charsmap=charsmap,
        absent=(doubled,) if removes else (),
        strips=(removes, removes),
        white=space if removes else None,
    )


class NoEngine:
    """The engine of SentencePiece, which has no regexes."""

    name = "sentencepiece"
    dollar_is_end = True

    def members(self, cls: str) -> Any:
        """Refuses: there are no classes without regexes."""
        raise UnsupportedTokenizerError("pre-tokenizer", f"a class {cls!r:.40} without an engine")


def _piece_pairs(model: SentencePieceModel, size: int) -> BytePairs:
    pieces = {piece: token for piece, token in model.pieces.items() if token < size}
    by_score = sorted(set(model.scores.values()), reverse=True)
    rank_of_score = {score: rank for rank, score in enumerate(by_score)}
    ranks = {piece: rank_of_score[model.scores[token]] for piece, token in pieces.items()}
    left, right, result, rank = merges_of_ranks(pieces, ranks)
    in_model = np.zeros(size, dtype=np.uint8)
    in_model[[*pieces.values(), *model.bytes.values()]] = 1
    atoms = atoms_of_texts(pieces, size, model.bytes.values())
    lacks = np.ones(CODE_POINTS, dtype=bool)
    lacks[[ord(piece) for piece in pieces if len(piece) == 1]] = False
    unknown = np.zeros(CODE_POINTS, dtype=bool)
    if len(model.bytes) < 256:
        unknown, lacks = lacks, unknown
    unknown[0x20] = "▁" not in pieces
    lacks[0x20] = False
    return BytePairs(left, right, result, rank, *atoms, in_model, model.bytes, lacks, unknown, False)
