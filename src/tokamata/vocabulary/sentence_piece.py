"""SentencePiece: ``.model`` files and ``SentencePieceProcessor`` objects.

The model has the type of each piece: control and unknown pieces are not text, byte pieces
(``<0x0A>``) are one byte, in all others ``▁`` (U+2581) is a space.  At the start of a text, the
decoder drops one space if the model adds one when encoding (``add_dummy_prefix``) or removes
superfluous ones.  The package's interface does not expose that setting, so each piece is
decoded as a first one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from tokamata.errors import MissingExtraError, VocabularyError
from tokamata.vocabulary.token_table import MAX_TOKENS, PipelineSource, TokenBytes, TokenTable

_BYTE_PIECE = re.compile("<0x([0-9A-Fa-f]{2})>")


class PieceType:
    """The types of pieces, as SentencePiece and GGUF files number them."""

    UNDEFINED = 0
    NORMAL = 1
    UNKNOWN = 2
    CONTROL = 3
    USER_DEFINED = 4
    UNUSED = 5
    BYTE = 6


def table_from_model_file(data: bytes, where: str) -> TokenTable:
    """The tokens of a ``.model`` file, given its contents.

    Raises:
        MissingExtraError: the package `sentencepiece` is not installed.
        VocabularyError: it cannot read the file.
    """
    try:
        import sentencepiece
    except ImportError:
        raise MissingExtraError("sentencepiece", "sentencepiece", "reading a SentencePiece model") from None
    try:
        processor = sentencepiece.SentencePieceProcessor(model_proto=data)
    except Exception as error:  # the package documents no type
        raise VocabularyError(
            f"{where}: sentencepiece cannot read this ({str(error).strip() or type(error).__name__}); "
            "the file is truncated, or not a SentencePiece model"
        ) from None
    if processor.get_piece_size() == 0:
        raise VocabularyError(f"{where}: the SentencePiece model has no pieces; it is truncated")
    return table_from_processor(processor, where)


def table_from_processor(processor: Any, where: str) -> TokenTable:
    """The tokens of a ``SentencePieceProcessor``."""
    size = processor.get_piece_size()
    if size > MAX_TOKENS:
        raise VocabularyError(f"{where}: {size:,} pieces are more than the {MAX_TOKENS:,} that are allowed")
    pieces = [processor.id_to_piece(token) for token in range(size)]
    tokens: TokenBytes = [piece_bytes(processor, token, piece, where) for token, piece in enumerate(pieces)]
    names = {token: pieces[token] for token, value in enumerate(tokens) if value is None}
    stop = (processor.eos_id(),) if processor.eos_id() >= 0 else ()
    source = PipelineSource("sentencepiece", processor.serialized_model_proto, lambda: processor)
    return TokenTable(tokens, names, stop, _StartRule(processor, tokens), source)


def piece_bytes(processor: Any, token: int, piece: str, where: str) -> bytes | None:
    """The bytes of the piece with id ``token`` in mid-text, ``None`` if it is not text."""
    if processor.is_control(token) or processor.is_unknown(token):
        return None
    if not processor.is_byte(token):
        return piece.replace("▁", " ").encode()
    match = _BYTE_PIECE.fullmatch(piece)
    if match is None:
        raise VocabularyError(f"{where}: the byte piece {piece!r:.40} (id {token}) names no byte")
    return bytes([int(match[1], 16)])


@dataclass(frozen=True)
class _StartRule:
    processor: Any
    tokens: TokenBytes

    def __call__(self) -> TokenBytes:
        # A byte piece alone may not be valid text; the decoder never drops it.
        pieces = [
            token
            for token, value in enumerate(self.tokens)
            if value is not None and not self.processor.is_byte(token)
        ]
        decoded = self.processor.decode([[token] for token in pieces])
        start = list(self.tokens)
        for token, text in zip(pieces, decoded, strict=True):
            start[token] = text.encode()
        return start
