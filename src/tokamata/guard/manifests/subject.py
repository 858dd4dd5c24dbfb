"""The tokenizer that is measured: its tokens, its running program, its file, and our form of it."""

from __future__ import annotations

import hashlib
import json
import os
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import tokamata._core as _core
from tokamata.errors import (
    MissingExtraError,
    TokamataError,
    UnsupportedTokenizerError,
    VocabularyError,
    VocabularyWarning,
)
from tokamata.guard.verdicts import Witness
from tokamata.tokenization.canonical import tokenization_of, why_unguarded
from tokamata.tokenization.pipelines import ranks, sentence_piece
from tokamata.tokenization.pipelines.pipeline import Pipeline
from tokamata.tokenization.pipelines.sentence_piece_model import SentencePieceModel, read_model
from tokamata.tokenization.pipelines.tokenizer_json import pipeline_from_tokenizer_json
from tokamata.tokenization.running import ProgramFailed, RunningTokenizer
from tokamata.vocabulary.tiktoken_ranks import Ranks
from tokamata.vocabulary.token_table import collection_paused
from tokamata.vocabulary.vocabulary import Vocabulary

__all__ = ["ControlToken", "Subject"]


@dataclass(frozen=True)
class ControlToken:
    """A token beside the model.

    Attributes:
        token: its id.
        name: its text.
        special: whether it is a control token; the others are text.
        flags: the names of its flags that are set, of lstrip, rstrip, single_word and normalized.
    """

    token: int
    name: str
    special: bool
    flags: tuple[str, ...] = ()


class Subject:
    """One tokenizer.

    Attributes:
        source: what was given.
        vocabulary: its tokens.
        program: its running program; ``None`` if there is none.
        no_program: why there is none.
        family: the family of its file: ``"tokenizer.json"``, ``"tiktoken"``, ``"tekken"``,
            ``"sentencepiece"``, or ``"tokens"`` if only the tokens are known.
        content: all that its pipeline depends on; ``None`` if that is not known.
    """

    def __init__(self, source: object) -> None:
        self.source = source
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", VocabularyWarning)  # stop tokens make no difference here
            self.vocabulary = Vocabulary.load(source, stop=())
        self.program: RunningTokenizer | None = None
        self.no_program = ""
        try:
            self.program = RunningTokenizer(source)
        except ProgramFailed:
            raise  # the file is damaged
        except MissingExtraError as error:
            self.no_program = f"the package {error.package!r} is not installed"
        except VocabularyError as error:
            self.no_program = str(error)
        pipeline = self.vocabulary.pipeline
        self.family = "tokens" if pipeline is None else pipeline.family
        self.content = None if pipeline is None else pipeline.content()

    def digest(self) -> str | None:
        """The SHA-256 of the file, or of all that the pipeline of an object depends on."""
        content = self.content
        if content is None and isinstance(self.source, (str, os.PathLike)):
            path = Path(self.source)
            if path.is_file():
                digest = hashlib.sha256()
                with path.open("rb") as file:
                    while part := file.read(1 << 20):
                        digest.update(part)
                return digest.hexdigest()
        return None if content is None else hashlib.sha256(content).hexdigest()

    @cached_property
    def document(self) -> dict[str, Any]:
        """The parsed ``tokenizer.json`` or tekken file; empty for other families."""
        if self.family not in ("tokenizer.json", "tekken") or self.content is None:
            return {}
        with collection_paused():
            found = json.loads(self.content.decode("utf-8-sig"))
        return found if isinstance(found, dict) else {}

    def part(self, name: str) -> dict[str, Any]:
        """A section of a ``tokenizer.json``; empty if it has none."""
        found = self.document.get(name) if self.family == "tokenizer.json" else None
        return found if isinstance(found, dict) else {}

    @cached_property
    def sentence_piece(self) -> SentencePieceModel | None:
        """The fields of a SentencePiece model."""
        return read_model(self.content or b"") if self.family == "sentencepiece" else None

    @cached_property
    def encoding(self) -> Ranks | None:
        """The regex and the ranks of a tiktoken encoding."""
        return Ranks.parse(self.content) if self.family == "tiktoken" and self.content else None

    @cached_property
    def model(self) -> str:
        """The kind of the model: ``"BPE"``, ``"WordPiece"``, ``"Unigram"``, … or ``"unknown"``."""
        if self.sentence_piece is not None:
            return self.sentence_piece.kind
        if self.family in ("tiktoken", "tekken"):
            return "BPE"
        model = self.part("model")
        kind = model.get("type")
        if isinstance(kind, str):
            return kind
        if not model:
            return "unknown"
        return "WordPiece" if "max_input_chars_per_word" in model else "BPE"

    # ---- our form of it --------------------------------------------------------------------------

    @cached_property
    def tables(self) -> tuple[_core.Tokenization | None, str]:
        """The engine's form of the tokenizer and ``""``, or ``None`` and why it is not supported."""
        try:
            if reason := why_unguarded(self.vocabulary):
                return None, reason
            return tokenization_of(self.vocabulary), ""
        except (UnsupportedTokenizerError, MissingExtraError) as error:
            return None, str(error)
        except TokamataError as error:
            return None, f"the tokenizer contradicts itself: {error}"

    @cached_property
    def pipeline(self) -> Pipeline | None:
        """The steps of the tokenizer, where the engine supports them."""
        tokens = list(self.vocabulary.tokens)
        if self.tables[0] is None or self.content is None:
            return None
        if self.family == "sentencepiece":
            return sentence_piece.pipeline_from_sentence_piece(self.content, tokens)
        if self.encoding is not None:
            return ranks.pipeline_from_encoding(self.encoding, tokens)
        if self.family == "tekken":
            return ranks.pipeline_from_tekken(self.document, tokens)
        with collection_paused():
            return pipeline_from_tokenizer_json(self.document, tokens)

    # ---- tokens beside the model -------------------------------------------------------------------

    @cached_property
    def control_tokens(self) -> list[ControlToken]:
        """The control tokens and the added tokens, by id."""
        program = self.program
        inner = None if program is None else getattr(program.inner, "get_added_tokens_decoder", None)
        backend = None if program is None else getattr(program.inner, "backend_tokenizer", None)
        if backend is not None:
            inner = backend.get_added_tokens_decoder
        if inner is not None:
            return [
                ControlToken(token, str(one.content), bool(one.special), _flags(one))
                for token, one in sorted(inner().items())
            ]
        names = self.vocabulary._names
        return [
            ControlToken(token, names[token], True)
            for token in sorted(names)
            if self.vocabulary.tokens[token] is None and (program is None or token != program.unknown)
        ]

    def name_in_file(self, token: int) -> str:
        """The text by which a token is listed in its file; ``""`` where it has none, or none is known."""
        inner = None if self.program is None else self.program.inner
        backend = getattr(inner, "backend_tokenizer", inner)
        look_up = getattr(backend, "id_to_token", None) or getattr(backend, "id_to_piece", None)
        if look_up is None or self.family not in ("tokenizer.json", "sentencepiece"):
            return ""
        return str(look_up(token) or "")

    # ---- witnesses -------------------------------------------------------------------------------

    def witness(self, text: str, says: str, position: int = 0, ids: Sequence[int] | None = None) -> Witness:
        """A text as the program writes it.

        Args:
            text: the text.
            says: what happens there.
            position: the byte where it happens.
            ids: its tokens, if they are known.
        """
        if ids is None:
            ids = [] if self.program is None else self.program.encode(text)
        pieces = tuple(self.piece(token) for token in ids)
        return Witness(
            text.encode(), tuple(ids), pieces, position, says, None if self.program is None else True
        )

    def piece(self, token: int) -> bytes:
        """The bytes of a token, or its name."""
        vocabulary = self.vocabulary
        if not 0 <= token < vocabulary.width:
            return f"<{token}>".encode()
        value = vocabulary[token]
        return vocabulary.name(token).encode() if value is None else value


def _flags(added: Any) -> tuple[str, ...]:
    return tuple(name for name in ("lstrip", "rstrip", "single_word", "normalized") if getattr(added, name))
