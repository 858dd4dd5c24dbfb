"""``llama_cpp.Llama`` of llama-cpp-python: reads each token from the loaded model.

Bytes, attributes and stop tokens come from llama.cpp's own functions
(``llama_token_to_piece``, ``llama_vocab_get_attr``, ``llama_vocab_is_eog``; see ``llama.h``),
through the low-level interface of the package, since ``Llama.detokenize`` cuts tokens at 32
bytes.  At the start of a text llama.cpp drops one leading space if the model's metadata have
``add_space_prefix``.

The interface has neither merges nor lists of metadata, so the pipeline is that of the file that the
model was loaded from.
"""

from __future__ import annotations

import ctypes
import importlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tokamata.errors import UnsupportedTokenizerError, VocabularyError
from tokamata.vocabulary.gguf_file import drops_space_by_default
from tokamata.vocabulary.gguf_metadata import read_head
from tokamata.vocabulary.rereading import Reread
from tokamata.vocabulary.token_table import (
    MAX_TOKENS,
    PipelineSource,
    TokenBytes,
    TokenTable,
    without_leading_space,
)

# enum llama_token_attr: unknown, unused and control tokens print nothing.
_UNKNOWN, _UNUSED, _CONTROL = 1 << 0, 1 << 1, 1 << 3
_NO_TEXT = _UNKNOWN | _UNUSED | _CONTROL
_LONGEST_PIECE = 1 << 20  # bytes of a token


def table_from_llama(llama: Any, where: str) -> TokenTable:
    """The tokens of a ``llama_cpp.Llama``.

    Raises:
        VocabularyError: for a model without a vocabulary.
    """
    api = importlib.import_module("llama_cpp")
    vocab = api.llama_model_get_vocab(llama.model)
    size = llama.n_vocab()
    if not 0 < size <= MAX_TOKENS:
        raise VocabularyError(f"{where}: a vocabulary of {size} tokens is out of bounds")
    tokens: TokenBytes = []
    names: dict[int, str] = {}
    for token in range(size):
        attributes = api.llama_vocab_get_attr(vocab, token)
        # A token without any attribute is padding that the converter added.
        if attributes == 0 or attributes & _NO_TEXT:
            tokens.append(None)
            names[token] = (api.llama_vocab_get_text(vocab, token) or b"").decode("utf-8", "replace")
        else:
            tokens.append(_piece(api, vocab, token, where))
    stop = tuple(token for token in range(size) if api.llama_vocab_is_eog(vocab, token))
    metadata = llama.metadata
    default = drops_space_by_default(metadata.get("tokenizer.ggml.model", ""))
    drops_space = metadata.get("tokenizer.ggml.add_space_prefix", str(default).lower()) == "true"
    start_rule = (lambda: without_leading_space(tokens)) if drops_space else None
    return TokenTable(tokens, names, stop, start_rule, _pipeline(llama))


def text_of(llama: Any, tokens: Sequence[int]) -> bytes:
    """The bytes of tokens in mid-text, control tokens by their names."""
    api = importlib.import_module("llama_cpp")
    vocab = api.llama_model_get_vocab(llama.model)
    return b"".join(_piece(api, vocab, token, "llama_cpp", True) for token in tokens)


def _pipeline(llama: Any) -> PipelineSource | None:
    path = getattr(llama, "model_path", None)
    if not isinstance(path, str):
        return None
    try:
        read = Reread(Path(path), read_head)
    except OSError:
        return None  # the file was deleted after it was loaded

    def content() -> bytes:
        overridden = sorted(str(key) for key in getattr(llama, "kv_overrides", None) or ())
        if found := next((key for key in overridden if key.startswith(("tokenizer.", "general."))), None):
            what = f"the model was loaded with kv_overrides, which replace {found!r:.60} of its file"
            raise UnsupportedTokenizerError("pipeline", what)
        return read()

    return PipelineSource("gguf", content, lambda: llama)


def _piece(api: Any, vocab: Any, token: int, where: str, names: bool = False) -> bytes:
    size = 256
    while True:
        buffer = ctypes.create_string_buffer(size)
        written = api.llama_token_to_piece(vocab, token, buffer, size, 0, names)
        if written >= 0:
            return buffer.raw[:written]
        size = -written  # the buffer was too small; this is the needed size
        if size > _LONGEST_PIECE:
            raise VocabularyError(f"{where}: token {token} has {size} bytes, which is out of bounds")
