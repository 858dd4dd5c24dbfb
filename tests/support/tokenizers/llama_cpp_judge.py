"""llama.cpp's own tokenizer, of the package `llama-cpp-python`, as a judge of GGUF files.

The files need no weights.  Its low-level interface is used, since ``llama_cpp.Llama`` needs a whole model.
"""

from __future__ import annotations

import ctypes
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import tokamata as tk
from tests.support.tokenizers.canonical_tokenizers import Judged


@cache
def _package() -> Any:
    package = pytest.importorskip("llama_cpp", reason="llama-cpp-python is not installed")
    _package_log.append(package.llama_log_callback(lambda *_: None))
    package.llama_log_set(_package_log[0], ctypes.c_void_p(0))
    return package


_package_log: list[Any] = []  # the library keeps no reference to its callback


def llama_cpp_version() -> str:
    """The version of the package."""
    return str(_package().__version__)


class LlamaCppJudge:
    """The tokenizer of a GGUF file.

    Attributes:
        vocabulary: what tokamata reads of the file.
        pieces: the text of each token, control tokens by their names.
    """

    def __init__(self, path: Path) -> None:
        self._api = _package()
        parameters = self._api.llama_model_default_params()
        parameters.vocab_only = True
        self._model = self._api.llama_model_load_from_file(str(path).encode(), parameters)
        if not self._model:
            raise AssertionError(f"llama.cpp does not load {path}")
        self._vocab = self._api.llama_model_get_vocab(self._model)
        self.vocabulary = tk.Vocabulary.load(path, stop=())
        self._drops_space = self.vocabulary.start_tokens() is not None
        self.pieces = [
            self._piece(token, True) for token in range(self._api.llama_vocab_n_tokens(self._vocab))
        ]

    def close(self) -> None:
        """Frees the library's memory."""
        self._api.llama_model_free(self._model)

    def _piece(self, token: int, names: bool) -> bytes:
        buffer = ctypes.create_string_buffer(1 << 12)
        written = self._api.llama_token_to_piece(self._vocab, token, buffer, len(buffer), 0, names)
        assert written >= 0, token
        return buffer.raw[:written]

    def texts(self) -> list[bytes]:
        """The text of each token in the file."""
        return [self._api.llama_vocab_get_text(self._vocab, token) for token in range(len(self.pieces))]

    def printed(self) -> list[bytes]:
        """The text of each token, where control tokens print nothing."""
        return [self._piece(token, False) for token in range(len(self.pieces))]

    def encode(self, text: str, names_are_read: bool = True) -> list[int]:
        """The tokens of a text; names of control tokens in it are those tokens, or are ordinary text."""
        data = text.encode()
        room = 4 * len(data) + 16
        tokens = (self._api.llama_token * room)()
        count = self._api.llama_tokenize(self._vocab, data, len(data), tokens, room, False, names_are_read)
        assert count >= 0, text
        return list(tokens[:count])

    def decode(self, tokens: list[int]) -> str | None:
        """The text of tokens; ``None`` if they are no UTF-8 together."""
        text = b"".join(self.pieces[token] for token in tokens)
        if self._drops_space and tokens and self.pieces[tokens[0]].startswith(b" "):
            text = text[1:]
        try:
            return text.decode()
        except UnicodeDecodeError:
            return None

    def judged(self) -> Judged:
        """The same in the form of other tokenizers' judges."""
        return Judged(self.vocabulary, self.encode, self.decode)
