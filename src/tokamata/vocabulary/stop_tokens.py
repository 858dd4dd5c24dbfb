"""Stop tokens, from the files next to a tokenizer or from a caller's argument.

``generation_config.json`` has ids, ``tokenizer_config.json`` the text of one token.  If a folder
has both, both count: chat models end a turn with one and a text with the other.  Older folders have
the ids in ``config.json``, and the text in ``special_tokens_map.json``, which are read where the
newer files name none.
"""

from __future__ import annotations

import json
import operator
import re
from collections.abc import Sequence
from pathlib import Path

from tokamata.errors import VocabularyError, shown_argument
from tokamata.vocabulary.token_table import TokenTable, check_ids, shown_int

_MAX_CONFIG_BYTES = 1 << 25  # of a file beside the tokenizer


def stop_from_folder(folder: Path, table: TokenTable) -> tuple[int, ...]:
    """Ids of the stop tokens that the configuration files in ``folder`` name.

    Raises:
        VocabularyError: for a file that is damaged, and for a name that no token has.
    """
    path = folder / "generation_config.json"
    ids = _ids_of(_read_config(path).get("eos_token_id"), path)
    if not ids:
        ids = _model_stop(folder / "config.json")
    named = _tokenizer_stop(folder / "tokenizer_config.json", table)
    return ids + (named or _tokenizer_stop(folder / "special_tokens_map.json", table))


def _model_stop(path: Path) -> tuple[int, ...]:
    """Those of the model, or of its part that writes text.

    Other programs have files of this name, too, so one of another kind counts as absent.
    """
    try:
        config = _read_config(path)
    except VocabularyError:
        return ()
    for part in (config, config.get("text_config"), config.get("llm_config")):
        if isinstance(part, dict) and (ids := _ids_of(part.get("eos_token_id"), path)):
            return ids
    return ()


def _ids_of(value: object, path: Path) -> tuple[int, ...]:
    ids = value if isinstance(value, list) else [] if value is None else [value]
    check_ids(list(dict.fromkeys(map(_hashable, ids))), f"{path}: eos_token_id")
    return tuple(ids)


def _hashable(value: object) -> object:
    return value if isinstance(value, (int, float, str)) else repr(value)


def _tokenizer_stop(path: Path, table: TokenTable) -> tuple[int, ...]:
    config = _read_config(path)
    value = config.get("eos_token")
    name = value.get("content") if isinstance(value, dict) else value
    if name is None:
        return ()
    if not isinstance(name, str):
        raise VocabularyError(f"{path}: eos_token is {value!r:.80}, not the text of a token; pass stop=")
    # Tokenizer files without control tokens have them in this map.
    declared = config.get("added_tokens_decoder")
    for number, entry in declared.items() if isinstance(declared, dict) else ():
        if isinstance(entry, dict) and entry.get("content") == name and re.fullmatch("[0-9]{1,9}", number):
            return (int(number),)
    return (_id_of_name(name, table, f"{path}: eos_token"),)


def _read_config(path: Path) -> dict[str, object]:
    try:
        if not path.is_file():
            return {}
        if path.stat().st_size > _MAX_CONFIG_BYTES:
            raise VocabularyError(f"{path}: larger than the {_MAX_CONFIG_BYTES:,} bytes allowed; pass stop=")
        config = json.loads(path.read_bytes().decode("utf-8-sig"))
    except (ValueError, RecursionError, OSError) as error:
        if isinstance(error, VocabularyError):
            raise
        raise VocabularyError(f"{path}: cannot be read as JSON ({error}); repair it, or pass stop=") from None
    if not isinstance(config, dict):
        raise VocabularyError(f"{path}: not a JSON object; repair it, or pass stop=")
    return config


def resolve_stop(stop: object, table: TokenTable) -> tuple[int, ...]:
    """Ids of the caller's stop tokens: ids or names, one or a sequence of them.

    A name is that of a control token, or the whole text of a token.

    Raises:
        VocabularyError: for a name of no token or of several, and for other types.
    """
    is_one = isinstance(stop, (str, bytes)) or not isinstance(stop, (Sequence, set, frozenset))
    items = [stop] if is_one else list(stop)  # type: ignore[call-overload]  # one of the types above
    ids = [_id_of_name(item, table, "stop") if isinstance(item, str) else _index(item) for item in items]
    return tuple(dict.fromkeys(ids))


def _index(item: object) -> int:
    if hasattr(item, "__index__") and not isinstance(item, bool):
        return operator.index(item)
    raise VocabularyError(
        f"stop holds {shown_argument(item)}; give ids or names of tokens, one or a sequence of them"
    )


def check_stop(stop: tuple[int, ...], width: int) -> None:
    """Refuse stop tokens outside the width of the vocabulary."""
    for token in stop:
        if not 0 <= token < width:
            raise VocabularyError(
                f"stop token {shown_int(token)} is outside the {width:,} ids of the vocabulary; "
                "pass width= if the model's logits are wider, or the right stop="
            )


def _id_of_name(name: str, table: TokenTable, where: str) -> int:
    found = [token for token, known in table.names.items() if known == name]
    if not found:
        text = name.encode("utf-8", "surrogatepass")
        found = [token for token, value in enumerate(table.tokens) if value == text]
    if len(found) != 1:
        problem = f"ids {', '.join(map(str, found[:5]))} all have" if found else "no token has"
        raise VocabularyError(f"{where}: {problem} the name {name!r:.80}; pass stop= with the ids")
    return found[0]
