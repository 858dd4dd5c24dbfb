"""GGUF, the model file of llama.cpp: the tokens are part of its metadata.

``tokenizer.ggml.model`` names the family, ``tokenizer.ggml.token_type`` the type of each token
(normal, control, user-defined, byte, ...).  Bytes are those of llama.cpp's
``llama_token_to_piece``: ``▁`` is a space in normal tokens of the SentencePiece families
(``llama``, ``t5``, ``gemma4``, and ``bert``, whose ``##`` the converter has rewritten), normal
tokens of ``gpt2`` are in the byte-level alphabet except with some pre-tokenizers, user-defined
tokens are plain text.  Stop tokens are
those at which llama.cpp stops (``end_of_generation.py``), and types those that it sets when it
loads the file (``gguf_types.py``).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from tokamata.errors import VocabularyError
from tokamata.vocabulary.byte_alphabet import byte_level_bytes
from tokamata.vocabulary.end_of_generation import DECLARED, FILL_IN, end_of_generation
from tokamata.vocabulary.gguf_metadata import Value, read_metadata
from tokamata.vocabulary.gguf_types import FILL_IN_KEYS, loaded_types
from tokamata.vocabulary.sentence_piece import PieceType
from tokamata.vocabulary.token_table import TokenBytes, TokenTable, without_leading_space

_PREFIX = "tokenizer.ggml."
_NAMES = ("model", "pre", "tokens", "token_type", "add_space_prefix", *DECLARED, *FILL_IN_KEYS)
TOKEN_KEYS = tuple(dict.fromkeys(_PREFIX + name for name in _NAMES))

# Whether the family writes its normal tokens in the byte-level alphabet; otherwise ▁ is a space.
_IS_BYTE_LEVEL = {"llama": False, "t5": False, "bert": False, "gpt2": True, "gemma4": False}
# The pre-tokenizers with which the tokens of ``gpt2`` are written as those of ``gemma4``.
_PLAIN = ("gemma4", "granite-embed-multi-311m", "sarvam-moe")

_NO_TEXT = (PieceType.UNDEFINED, PieceType.UNKNOWN, PieceType.CONTROL, PieceType.UNUSED)  # to llama.cpp
_BYTE_NAME = re.compile(rb"<0x([0-9A-Fa-f]{2})>")


@dataclass(frozen=True)
class GgufTokens:
    """What a GGUF file says of its tokens.

    Attributes:
        family: ``tokenizer.ggml.model``.
        pre: the name of the pre-tokenizer, ``tokenizer.ggml.pre``; ``""`` if there is none.
        texts: the text of each token in the file; an empty one is named ``[EMPTY_7]``.
        kinds: the type of each token, as llama.cpp sets it.
        unsettled: the texts of tokens that llama.cpp may or may not take for control tokens.
        stop: the tokens at which llama.cpp stops.
        drops_space: whether a decoded text loses a space at its start.
    """

    family: str
    pre: str
    texts: list[bytes]
    kinds: list[int]
    unsettled: tuple[str, ...]
    stop: tuple[int, ...]
    drops_space: bool

    @property
    def is_byte_level(self) -> bool:
        """Whether normal tokens are written in the byte-level alphabet."""
        return _IS_BYTE_LEVEL[self.family] and self.pre not in _PLAIN


def table_from_gguf(path: Path) -> TokenTable:
    """The tokens of a GGUF file, without the source of its pipeline.

    Raises:
        VocabularyError: for a file that is damaged, has no tokenizer, or one of another family.
    """
    where = str(path)
    read = tokens_of(read_metadata(path, TOKEN_KEYS), where)
    tokens: TokenBytes = [
        _bytes(text, kind, read.is_byte_level, token, where)
        for token, (text, kind) in enumerate(zip(read.texts, read.kinds, strict=True))
    ]
    names = {
        token: read.texts[token].decode("utf-8", "replace")
        for token, value in enumerate(tokens)
        if value is None
    }
    return TokenTable(
        tokens, names, read.stop, (lambda: without_leading_space(tokens)) if read.drops_space else None
    )


def tokens_of(metadata: dict[str, Value], where: str) -> GgufTokens:
    """What the metadata with the keys ``TOKEN_KEYS`` say of the tokens.

    Raises:
        VocabularyError: they are damaged, or of another family.
    """
    family = _family(metadata, where)
    pre = metadata.get(_PREFIX + "pre", b"")
    if not isinstance(pre, bytes):
        raise VocabularyError(f"{where}: {_PREFIX}pre is {pre!r:.40}, not a string")
    name = "gemma4" if family == "gemma4" else pre.decode("utf-8", "replace")
    texts, kinds = _token_texts(metadata, where)
    stop = _stop(metadata, family, texts, where)
    found = {name: metadata.get(_PREFIX + name) for name in FILL_IN_KEYS}
    declared = {name for name, value in found.items() if isinstance(value, int) and 0 <= value < len(texts)}
    loaded = loaded_types(texts, kinds, declared, stop)
    drops_space = metadata.get(_PREFIX + "add_space_prefix", drops_space_by_default(family)) is True
    return GgufTokens(family, name, texts, loaded.kinds, loaded.unsettled, stop, drops_space)


def drops_space_by_default(family: str) -> bool:
    """Whether llama.cpp drops a space at the start of a text if the file does not define it."""
    return family == "llama"


def _family(metadata: dict[str, Value], where: str) -> str:
    value = metadata.get(_PREFIX + "model")
    family = value.decode("utf-8", "replace") if isinstance(value, bytes) else ""
    if not family:
        raise VocabularyError(
            f"{where}: the GGUF file holds no tokenizer (no {_PREFIX}model); if the model has several files, "
            "pass the first"
        )
    if family not in _IS_BYTE_LEVEL:
        raise VocabularyError(
            f"{where}: tokenizer family {family!r:.80} is not known to tokamata; known are "
            f"{', '.join(_IS_BYTE_LEVEL)}; pass a list of each token's bytes to Vocabulary.load instead"
        )
    return family


def _token_texts(metadata: dict[str, Value], where: str) -> tuple[list[bytes], list[int]]:
    texts = metadata.get(_PREFIX + "tokens")
    if not isinstance(texts, list) or not all(type(text) is bytes for text in texts):
        raise VocabularyError(f"{where}: {_PREFIX}tokens is missing, or not a list of strings")
    kinds = metadata.get(_PREFIX + "token_type", [PieceType.NORMAL] * len(texts))
    if (
        not isinstance(kinds, list)
        or not all(type(kind) is int for kind in kinds)
        or len(kinds) != len(texts)
    ):
        raise VocabularyError(f"{where}: {_PREFIX}token_type is not one integer for each token")
    named = [text or b"[EMPTY_%d]" % token for token, text in enumerate(texts)]  # as llama.cpp names them
    return named, kinds  # type: ignore[return-value]  # just checked


def _bytes(text: bytes, kind: int, is_byte_level: bool, token: int, where: str) -> bytes | None:
    if kind == PieceType.NORMAL:
        if is_byte_level:
            return byte_level_bytes(text.decode("utf-8", "replace"))
        return text.replace("▁".encode(), b" ")
    if kind == PieceType.USER_DEFINED:
        return text
    if kind in _NO_TEXT:
        return None
    match = _BYTE_NAME.fullmatch(text)
    if kind != PieceType.BYTE or match is None:
        raise VocabularyError(f"{where}: token {token}, {text[:40]!r}, cannot be of type {kind}")
    return bytes([int(match[1], 16)])


def _stop(metadata: dict[str, Value], family: str, texts: list[bytes], where: str) -> tuple[int, ...]:
    declared: dict[str, int] = {}
    for key in DECLARED:
        value = metadata.get(_PREFIX + key)
        if value is None:
            continue
        if type(value) is not int or not 0 <= value < len(texts):
            if key in FILL_IN:  # llama.cpp goes by the texts then
                continue
            raise VocabularyError(
                f"{where}: {_PREFIX}{key} is {value!r:.40}, which is not a token; pass stop= to override it"
            )
        declared[key] = value
    return end_of_generation(family, texts, declared)
