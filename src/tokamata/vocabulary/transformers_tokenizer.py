"""Tokenizers of the package `transformers`, fast and slow.

A fast one wraps a ``tokenizers.Tokenizer``, which has all the data.  Slow ones are
distinguished by their attributes: a SentencePiece model (``sp_model``), a tiktoken encoding or
a mistral-common tokenizer (``tokenizer``), a byte-level alphabet (``byte_decoder``), or
WordPiece (``wordpiece_tokenizer``).
Added tokens are control tokens if the tokenizer marks them as special, text otherwise.
The stop token is its ``eos_token_id``.
"""

from __future__ import annotations

import json
import weakref
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from tokamata.errors import VocabularyError
from tokamata.vocabulary import kept_tokens
from tokamata.vocabulary.hugging_face import (
    ModelTokens,
    normalizing_sections,
    table_from_tokenizer_json,
    table_of_model,
)
from tokamata.vocabulary.sentence_piece import piece_bytes
from tokamata.vocabulary.tekken import table_from_tekkenizer
from tokamata.vocabulary.tiktoken_ranks import table_from_encoding
from tokamata.vocabulary.token_table import (
    MAX_TOKENS,
    PipelineSource,
    TokenBytes,
    TokenTable,
    check_ids,
    collection_paused,
)
from tokamata.vocabulary.tokenizer_state import TokenizerState

_T = TypeVar("_T")


def table_from_tokenizers(tokenizer: Any, where: str, is_whole: bool = False) -> TokenTable:
    """The tokens of a ``tokenizers.Tokenizer``.

    Args:
        tokenizer: the tokenizer.
        where: its name in errors.
        is_whole: the content of the pipeline is needed at once, too: it is written first, so that the tokens
            of a large tokenizer can be those that an earlier process has kept on disk.
    """

    def written(part: Callable[[], _T]) -> _T:
        try:
            return part()
        except VocabularyError:
            raise
        except Exception as error:  # the package raises bare Exception, e.g. for a part written in Python
            raise VocabularyError(
                f"{where}: it cannot be written as a tokenizer.json ({error}); "
                "pass a list of each token's bytes to Vocabulary.load instead"
            ) from None

    def unchanged() -> Any:
        if not state.is_of(tokenizer):
            raise VocabularyError(f"{where}: it has changed since its tokens were read; load it again")
        return tokenizer

    def content() -> bytes:
        unchanged()
        try:
            return first.pop()
        except IndexError:  # what pickle writes is `to_str()`, as bytes
            return bytes(written(tokenizer.__getstate__))

    def sections() -> dict[str, Any]:
        return written(lambda: _sections(unchanged()))

    def start() -> TokenBytes:
        rule = _table_of(unchanged(), where).start_rule
        assert rule is not None  # the tokenizer is the same
        return rule()

    state = TokenizerState(tokenizer)
    first = [bytes(written(tokenizer.__getstate__))] if is_whole else []  # until its first use
    kept_path = kept_tokens.path_of(first[0]) if is_whole else None
    kept = None if kept_path is None else kept_tokens.load(kept_path, start)
    with collection_paused():
        table = kept[0] if kept is not None else written(lambda: _table_of(tokenizer, where))
    if kept is None and kept_path is not None:
        kept_tokens.keep(kept_path, table, sections())
    source = PipelineSource("tokenizer.json", content, lambda: tokenizer, sections, is_written=True)
    return replace(table, pipeline=source)


def _table_of(tokenizer: Any, where: str) -> TokenTable:
    """The tokens, as its parts say them: writing the whole ``tokenizer.json`` takes twice as long."""
    model = tokenizer.model
    kind = type(model).__name__
    if kind not in ("BPE", "WordPiece", "WordLevel"):
        # Of a Unigram model, no part says which tokens have the same text.
        return table_from_tokenizer_json(json.loads(tokenizer.to_str()), where)
    added, decoder = _added(tokenizer.get_added_tokens_decoder()), _section(tokenizer.decoder)
    size = tokenizer.get_vocab_size(with_added_tokens=False)
    texts = list(map(model.id_to_token, range(min(size, MAX_TOKENS + 1))))
    if None in texts or len(texts) > MAX_TOKENS:  # ids with holes or with two tokens, or too many
        document = {
            "model": {
                "type": kind,
                "vocab": tokenizer.get_vocab(with_added_tokens=False),
                "unk_token": model.unk_token,
            },
            "added_tokens": added,
            "decoder": decoder,
        }
        return table_from_tokenizer_json(document, where)
    return table_of_model(
        ModelTokens(texts, range(size), model.token_to_id, model.unk_token), added, decoder, where
    )


def _section(part: Any) -> Any:
    return None if part is None else json.loads(part.__getstate__())


def _sections(tokenizer: Any) -> dict[str, Any]:
    """See :func:`.hugging_face.normalizing_sections`."""
    return normalizing_sections(
        {
            "normalizer": _section(tokenizer.normalizer),
            "pre_tokenizer": _section(tokenizer.pre_tokenizer),
            "model": {"type": type(tokenizer.model).__name__},
        }
    )


def _added(added: Mapping[int, Any]) -> list[dict[str, Any]]:
    return [
        {"id": token, "content": entry.content, "special": entry.special} for token, entry in added.items()
    ]


def table_from_transformers(tokenizer: Any, where: str, is_whole: bool = False) -> TokenTable:
    """The tokens of a transformers tokenizer; arguments are those of :func:`table_from_tokenizers`.

    Raises:
        VocabularyError: for a slow tokenizer of an unknown type.
    """
    stop = getattr(tokenizer, "eos_token_id", None)
    stops = tuple(stop) if isinstance(stop, (list, tuple)) else () if stop is None else (stop,)
    table = _table(tokenizer, where, is_whole)
    if table.pipeline is None:
        return replace(table, stop=stops)
    # Weak, since hosts keep a vocabulary as long as its tokenizer exists.
    return replace(table, stop=stops, pipeline=replace(table.pipeline, program=weakref.ref(tokenizer)))


def _table(tokenizer: Any, where: str, is_whole: bool) -> TokenTable:
    if (backend := getattr(tokenizer, "backend_tokenizer", None)) is not None:
        return table_from_tokenizers(backend, where, is_whole)
    if (processor := getattr(tokenizer, "sp_model", None)) is not None:
        return _with_sentence_piece(tokenizer, processor, where)
    inner = getattr(tokenizer, "tokenizer", None)
    if type(inner).__module__.partition(".")[0] == "tiktoken":
        return _with_added(table_from_encoding(inner, where), tokenizer, where)
    if hasattr(inner, "instruct_tokenizer"):
        return table_from_mistral(inner, where)
    for attribute, decoder in (("byte_decoder", "ByteLevel"), ("wordpiece_tokenizer", "WordPiece")):
        if hasattr(tokenizer, attribute):
            return table_from_tokenizer_json(_as_document(tokenizer, decoder), where)
    raise VocabularyError(
        f"{where}: a slow tokenizer of a type that tokamata does not know; load it with use_fast=True, "
        "or pass a list of each token's bytes to Vocabulary.load"
    )


def _as_document(tokenizer: Any, decoder: str) -> dict[str, Any]:
    """The sections of a ``tokenizer.json`` that define the tokens, for a slow tokenizer."""
    vocab, added = tokenizer.get_vocab(), tokenizer.added_tokens_decoder
    return {
        "model": {"vocab": {text: token for text, token in vocab.items() if token not in added}},
        "added_tokens": _added(added),
        "decoder": {"type": decoder},
    }


def table_from_mistral(tokenizer: Any, where: str) -> TokenTable:
    """The tokens of a mistral-common tokenizer: a ``Tekkenizer``, or a ``MistralTokenizer`` around one."""
    while (wrapped := getattr(tokenizer, "instruct_tokenizer", None)) is not None:
        tokenizer = wrapped.tokenizer
    if type(tokenizer).__name__ != "Tekkenizer":
        raise VocabularyError(
            f"{where}: mistral-common's {type(tokenizer).__name__} is not a Tekkenizer; pass its .model file"
        )
    return table_from_tekkenizer(tokenizer, where)


def _with_sentence_piece(tokenizer: Any, processor: Any, where: str) -> TokenTable:
    """A slow tokenizer around a SentencePiece model, whose pieces may have other ids there."""
    size = len(tokenizer)
    if size > MAX_TOKENS:
        raise VocabularyError(f"{where}: {size:,} tokens are more than the {MAX_TOKENS:,} that are allowed")
    added = tokenizer.added_tokens_decoder
    pieces = tokenizer.convert_ids_to_tokens(list(range(size)))
    tokens: TokenBytes = [None] * size
    names: dict[int, str] = {}
    for token, piece in enumerate(pieces):
        if token in added or piece is None:
            continue
        tokens[token] = piece_bytes(processor, processor.piece_to_id(piece), piece, where)
        if tokens[token] is None:
            names[token] = piece
    table = _with_added(TokenTable(tokens, names), tokenizer, where)
    # Only whitespace is ever dropped at the start, and never from byte pieces and added tokens.
    spaced = {
        token: pieces[token]
        for token, value in enumerate(tokens)
        if value is not None
        and value[:1].isspace()
        and not processor.is_byte(processor.piece_to_id(pieces[token]))
    }
    return replace(table, start_rule=_SlowStartRule(tokenizer, table.tokens, spaced))


@dataclass(frozen=True)
class _SlowStartRule:
    tokenizer: Any
    tokens: TokenBytes
    spaced: dict[int, str]  # the pieces that begin with whitespace, by id

    def __call__(self) -> TokenBytes:
        """Decodes each piece as the first of two, since many tokenizers drop whitespace at both ends."""
        start = list(self.tokens)
        for token, piece in self.spaced.items():
            text = self.tokenizer.convert_tokens_to_string([piece, "x"])
            start[token] = text.removesuffix("x").encode()
        return start


def _with_added(table: TokenTable, tokenizer: Any, where: str) -> TokenTable:
    """``table`` with the added tokens of a slow tokenizer, which replace others with the same id."""
    added = tokenizer.added_tokens_decoder
    check_ids(list(added), f"{where}: added tokens")
    tokens, names = list(table.tokens), dict(table.names)
    tokens += [None] * (max(added, default=-1) + 1 - len(tokens))
    for token, entry in added.items():
        content = str(entry.content)
        tokens[token] = None if entry.special else content.encode()
        if entry.special:
            names[token] = content
        else:
            names.pop(token, None)
    return replace(table, tokens=tokens, names=names)
