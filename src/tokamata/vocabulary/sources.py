"""Finds out what a source of tokens is, and hands it to the loader of its family.

Objects are recognized by the module that defines their class, without importing it; files by
their first bytes, never by their name.  Files next to a tokenizer say which tokens stop.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from tokamata.calls.arguments import checked_instance, checked_text, checked_whole
from tokamata.errors import VocabularyError, shown_argument
from tokamata.vocabulary import kept_tokens
from tokamata.vocabulary.gguf_file import table_from_gguf
from tokamata.vocabulary.gguf_metadata import MAGIC, read_head
from tokamata.vocabulary.hugging_face import normalizing_sections, table_from_tokenizer_json
from tokamata.vocabulary.llama_cpp import table_from_llama
from tokamata.vocabulary.rereading import Reread
from tokamata.vocabulary.sentence_piece import table_from_model_file, table_from_processor
from tokamata.vocabulary.stop_tokens import stop_from_folder
from tokamata.vocabulary.tekken import is_tekken, table_from_tekken
from tokamata.vocabulary.tiktoken_ranks import looks_like_ranks, table_from_encoding, table_from_ranks
from tokamata.vocabulary.token_table import (
    MAX_TOKENS,
    PipelineSource,
    TokenBytes,
    TokenTable,
    collection_paused,
)
from tokamata.vocabulary.transformers_tokenizer import (
    table_from_mistral,
    table_from_tokenizers,
    table_from_transformers,
)

# The largest tokenizer files known have 35 MB.  A GGUF file is not read as a whole, and may be larger.
_MAX_FILE_BYTES = 1 << 27

_KNOWN = (
    "a path to tokenizer.json, tekken.json, a SentencePiece .model, a tiktoken rank file, a GGUF file, or a "
    "folder with one; a tokenizer of tokenizers, transformers, tiktoken, sentencepiece, mistral_common or "
    "llama_cpp; or a list of each token's bytes"
)

# The first of these that a folder has; of several files that match one pattern, the caller must choose.
_IN_FOLDER = ("tokenizer.json", "tekken*.json", "tokenizer.model", "*.model", "*.tiktoken", "*.gguf")

# Which loader a class of each package goes to.
_OBJECTS: dict[str, tuple[str, Callable[..., TokenTable]]] = {
    "tokenizers": ("Tokenizer", table_from_tokenizers),
    "transformers": ("PreTrainedTokenizerBase", table_from_transformers),
    "tiktoken": ("Encoding", table_from_encoding),
    "sentencepiece": ("SentencePieceProcessor", table_from_processor),
    "mistral_common": ("", table_from_mistral),
    "llama_cpp": ("Llama", table_from_llama),
}


def read_source(
    source: object,
    want_stop: bool = True,
    control_tokens: Mapping[str, int] | None = None,
    is_whole: bool = False,
) -> TokenTable:
    """The tokens of any source that ``Vocabulary.load`` takes.

    Args:
        source: see ``Vocabulary.load``.
        want_stop: whether to read the stop tokens from the files next to a tokenizer's file.
        control_tokens: see ``Vocabulary.load``.
        is_whole: whether the content of the pipeline is needed at once, too.

    Raises:
        VocabularyError: the source is of no known family, or is damaged.
        MissingExtraError: reading it needs a package that is not installed.
    """
    if isinstance(source, (list, tuple)):
        return _table_from_list(source, control_tokens or {})
    if control_tokens is not None:
        raise VocabularyError(
            f"control_tokens go with a list of tokens; {type(source).__name__} has its own, so leave them out"
        )
    if isinstance(source, (str, os.PathLike)):
        return _table_from_path(Path(source), want_stop)
    for cls in type(source).__mro__:
        name, loader = _OBJECTS.get(cls.__module__.partition(".")[0], ("", None))
        if loader is not None and (not name or cls.__name__ == name):
            where = f"{cls.__module__.partition('.')[0]} {type(source).__name__}"
            if is_whole and loader in (table_from_tokenizers, table_from_transformers):
                return loader(source, where, True)
            return loader(source, where)
    shown = shown_argument(source) if isinstance(source, type) else type(source).__name__
    raise VocabularyError(f"{shown} is no source of a vocabulary; pass {_KNOWN}")


def _table_from_list(
    source: list[object] | tuple[object, ...], control_tokens: Mapping[str, int]
) -> TokenTable:
    for token, value in enumerate(source):
        if value is not None and not isinstance(value, bytes):
            raise VocabularyError(
                f"token {token} of the list is {value!r:.80}; give each token's bytes, or None"
            )
    if len(source) > MAX_TOKENS:
        raise VocabularyError(f"a list of {len(source):,} tokens is too long; at most {MAX_TOKENS:,} can be")
    names = _names_of(control_tokens, source)
    return TokenTable(list(source), names)  # type: ignore[arg-type]  # just checked


def _names_of(control_tokens: Mapping[str, int], tokens: list[object] | tuple[object, ...]) -> dict[int, str]:
    """The names of control tokens by their ids."""
    checked_instance("control_tokens", control_tokens, Mapping, "a dict from names to ids")
    names: dict[int, str] = {}
    for name, token in control_tokens.items():
        checked_text(name, "the name of a control token")
        token = checked_whole(f"control_tokens[{name!r:.80}]", token, 0, len(tokens))
        if tokens[token] is not None:
            raise VocabularyError(
                f"control token {name!r:.80} has the id {token}, which is text, {tokens[token]!r:.80}; "
                "a control token is None in the list"
            )
        if token in names:
            raise VocabularyError(f"token {token} has two names, {names[token]!r:.80} and {name!r:.80}")
        names[token] = name
    return names


def _table_from_path(path: Path, want_stop: bool) -> TokenTable:
    try:
        folder = path if path.is_dir() else path.parent
        file = file_in_folder(path) if path.is_dir() else path
        table = _table_from_file(file)
    except (OSError, ValueError) as error:
        if isinstance(error, VocabularyError):
            raise
        raise VocabularyError(f"{path!s:.200}: cannot be read: {error}") from None
    if want_stop:
        table = replace(table, stop=_united(table.stop, stop_from_folder(folder, table)))
    return table


def _united(first: tuple[int, ...], second: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(dict.fromkeys(first + second))


def file_in_folder(folder: Path) -> Path:
    """The one file in a folder that a vocabulary can be read from.

    Raises:
        VocabularyError: there is none, or there are several.
    """
    for pattern in _IN_FOLDER:
        found = sorted(path for path in folder.glob(pattern) if path.is_file())
        if len(found) == 1:
            return found[0]
        if found:
            names = ", ".join(path.name for path in found[:5])
            raise VocabularyError(f"{folder}: it could be any of {names}; pass one of them")
    raise VocabularyError(f"{folder}: none of {', '.join(_IN_FOLDER)} is in this folder; pass {_KNOWN}")


def _table_from_file(path: Path) -> TokenTable:
    where = str(path)
    if not path.exists():
        is_file = path.suffix in (".json", ".model", ".tiktoken", ".gguf", ".txt")
        is_name = not path.is_absolute() and not is_file and len(path.parts) <= 2
        hint = "; a name on the Hub goes to transformers.AutoTokenizer.from_pretrained" if is_name else ""
        raise VocabularyError(f"{where}: no such file or folder; pass {_KNOWN}{hint}")
    if not path.is_file():
        raise VocabularyError(f"{where}: not a regular file; pass {_KNOWN}")
    with path.open("rb") as file:
        head = file.read(1 << 16)
        if head.startswith(MAGIC):
            table = table_from_gguf(path)
            return replace(table, pipeline=PipelineSource("gguf", Reread(path, read_head)))
        data = head + file.read(_MAX_FILE_BYTES + 1 - len(head))
    if len(data) > _MAX_FILE_BYTES:
        raise VocabularyError(f"{where}: larger than the {_MAX_FILE_BYTES:,} bytes allowed")
    if head.lstrip(b" \t\r\n\xef\xbb\xbf").startswith(b"{"):
        return _table_from_json(data, where, Reread(path))
    if looks_like_ranks(head):
        return table_from_ranks(data, where)
    # A SentencePiece model begins with its first piece: field 1 of a protocol buffer, with a length.
    if head.startswith(b"\n"):
        return table_from_model_file(data, where)
    if head.startswith(b"version https://git-lfs"):
        raise VocabularyError(f"{where}: this is a pointer of Git LFS, and not the file; run git lfs pull")
    if not head:
        raise VocabularyError(f"{where}: the file is empty; download it again")
    raise VocabularyError(f"{where}: not a tokenizer file (it begins with {head[:16]!r}); pass {_KNOWN}")


def _table_from_json(data: bytes, where: str, reread: Reread) -> TokenTable:
    with collection_paused():
        kept_path = kept_tokens.path_of(data)
        if kept_path is not None and (
            kept := kept_tokens.load(kept_path, lambda: _start_tokens(reread, where))
        ):
            table, sections = kept
            return replace(table, pipeline=_pipeline_source(reread, sections))
        document = _parsed(data, where)
        del data
        if is_tekken(document):
            return replace(table_from_tekken(document, where), pipeline=PipelineSource("tekken", reread))
        table = table_from_tokenizer_json(document, where)
        sections = normalizing_sections(document)
        if kept_path is not None:
            kept_tokens.keep(kept_path, table, sections)
        return replace(table, pipeline=_pipeline_source(reread, sections))


def _pipeline_source(reread: Reread, sections: dict[str, Any]) -> PipelineSource:
    def unchanged() -> dict[str, Any]:
        reread.check()
        return sections

    return PipelineSource("tokenizer.json", reread, sections=unchanged)


def _start_tokens(reread: Reread, where: str) -> TokenBytes:
    """The tokens at the start of a text, of a ``tokenizer.json`` that is known to treat them apart."""
    with collection_paused():
        rule = table_from_tokenizer_json(_parsed(reread(), where), where).start_rule
        assert rule is not None  # the file is the same
        return rule()


def _parsed(data: bytes, where: str) -> Any:
    try:
        return json.loads(data.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise VocabularyError(
            f"{where}: not valid JSON ({error}); the file is truncated or damaged, download it again"
        ) from None
