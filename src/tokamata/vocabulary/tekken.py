"""tekken, mistral-common's tokenizer: its JSON file, and ``Tekkenizer`` objects.

The first ``default_num_special_tokens`` ids are control tokens; the text tokens follow in the
order of their ranks, up to ``default_vocab_size`` ids in all (the file lists more).  The stop
token is ``</s>``.  Files up to version 7 do not list their control tokens, which are then
those below, by mistral-common's convention.
"""

from __future__ import annotations

import binascii
import json
from typing import Any

from tokamata.errors import VocabularyError
from tokamata.vocabulary.token_table import MAX_TOKENS, PipelineSource, TokenBytes, TokenTable, check_ids

_STOP = "</s>"
_UNLISTED_NAMES = (
    *("<unk>", "<s>", _STOP, "[INST]", "[/INST]", "[AVAILABLE_TOOLS]", "[/AVAILABLE_TOOLS]"),
    *("[TOOL_RESULTS]", "[/TOOL_RESULTS]", "[TOOL_CALLS]", "[IMG]", "<pad>", "[IMG_BREAK]", "[IMG_END]"),
    *("[PREFIX]", "[MIDDLE]", "[SUFFIX]", "[SYSTEM_PROMPT]", "[/SYSTEM_PROMPT]", "[TOOL_CONTENT]"),
)


def is_tekken(document: object) -> bool:
    """Whether parsed JSON has the shape of a tekken file."""
    return (
        isinstance(document, dict)
        and isinstance(document.get("vocab"), list)
        and isinstance(document.get("config"), dict)
        and "default_vocab_size" in document["config"]
    )


def table_from_tekken(document: dict[str, Any], where: str) -> TokenTable:
    """The tokens of a parsed tekken file.

    Raises:
        VocabularyError: for a document of another shape, and counts that contradict each other.
    """
    config, vocab = document["config"], document["vocab"]
    size = _count(config, "default_vocab_size", where)
    special = _count(config, "default_num_special_tokens", where)
    if not special <= size <= special + len(vocab):
        raise VocabularyError(
            f"{where}: {size} tokens of which {special} special do not fit a vocab of {len(vocab)} entries; "
            "the file is truncated or damaged"
        )
    entries = vocab[: size - special]
    tokens: TokenBytes = [None] * size
    for index, entry in enumerate(entries):
        tokens[special + index] = _entry_bytes(entry, index, where)
    names = {token: f"<SPECIAL_{token}>" for token in range(special)}
    names.update(_listed_names(document.get("special_tokens"), special, where))
    stop = tuple(token for token, name in names.items() if name == _STOP)
    return TokenTable(tokens, names, stop)


def _count(config: dict[str, Any], key: str, where: str) -> int:
    value = config.get(key)
    if type(value) is not int or not 0 <= value <= MAX_TOKENS:
        raise VocabularyError(f"{where}: config.{key} is {value!r:.80}, not a count of tokens")
    return value


def _entry_bytes(entry: object, index: int, where: str) -> bytes:
    fields = entry if isinstance(entry, dict) else {}
    encoded = fields.get("token_bytes")
    if fields.get("rank") != index or not isinstance(encoded, str):
        raise VocabularyError(
            f"{where}: vocab[{index}] is {entry!r:.120}, not a token of rank {index}; the file is damaged"
        )
    try:
        return binascii.a2b_base64(encoded)
    except ValueError:  # including binascii.Error, and text that is not ASCII
        raise VocabularyError(f"{where}: vocab[{index}].token_bytes is not base64: {encoded!r:.80}") from None


def _listed_names(section: object, special: int, where: str) -> dict[int, str]:
    """Names of the control tokens, by id."""
    if section is None:
        return dict(enumerate(_UNLISTED_NAMES[:special]))
    if not isinstance(section, list):
        raise VocabularyError(f"{where}: special_tokens must be a list, not {type(section).__name__}")
    pairs = []
    for index, entry in enumerate(section):
        fields = entry if isinstance(entry, dict) else {}
        rank, name = fields.get("rank"), fields.get("token_str")
        if type(rank) is not int or not 0 <= rank < special or not isinstance(name, str):
            raise VocabularyError(
                f"{where}: special_tokens[{index}] is {entry!r:.120}, not one of {special} control tokens"
            )
        pairs.append((rank, name))
    check_ids([rank for rank, _ in pairs], f"{where}: special_tokens")
    return dict(pairs)


def table_from_tekkenizer(tekkenizer: Any, where: str) -> TokenTable:
    """The tokens of a mistral-common ``Tekkenizer``."""
    size, special = tekkenizer.n_words, tekkenizer.num_special_tokens
    if not 0 <= special <= size <= MAX_TOKENS:
        raise VocabularyError(f"{where}: {size} tokens of which {special} special is out of bounds")
    tokens: TokenBytes = [None] * special
    tokens += [tekkenizer.id_to_byte_piece(token) for token in range(special, size)]
    names = {token: str(tekkenizer.id_to_piece(token)) for token in range(special)}
    stop = tuple(token for token, name in names.items() if name == _STOP)
    source = PipelineSource("tekken", lambda: _content(tekkenizer), lambda: tekkenizer)
    return TokenTable(tokens, names, stop, pipeline=source)


def _content(tekkenizer: Any) -> bytes:
    """What determines how it cuts a text into tokens, as a tekken file has it."""
    model, special = tekkenizer._model, tekkenizer.num_special_tokens
    config = {"pattern": model._pat_str, "default_num_special_tokens": special}
    ranks = [(text.decode("latin-1"), rank) for text, rank in model._mergeable_ranks.items()]
    return json.dumps({"config": config, "ranks": ranks}).encode()
