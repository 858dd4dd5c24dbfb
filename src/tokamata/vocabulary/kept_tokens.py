"""The tokens of a large ``tokenizer.json``, kept on disk.

Parsing nine megabytes of JSON and decoding 128,256 texts takes about 0.2 s, four times as long as hashing
the file and reading its kept tokens.  The kept file depends only on the content of the original::

    sha256 of the rest | number of tokens | their lengths, -1 for none | their bytes | the names, as JSON
"""

from __future__ import annotations

import json
from array import array
from collections.abc import Callable
from itertools import accumulate
from pathlib import Path

from tokamata import kept_files
from tokamata.vocabulary.token_table import TokenBytes, TokenTable

_KIND = "tokens"
_FORMAT = b"1"  # changes whenever the tokens of an unchanged file do
_LEAST_BYTES = 1 << 20  # smaller files are parsed equally fast
_DIGEST, _COUNT = 32, 8
_NONE = -1


def path_of(content: bytes) -> Path | None:
    """The path for the tokens of a file with this content; ``None`` if they are not to be kept."""
    folder = kept_files.folder_of(_KIND) if len(content) >= _LEAST_BYTES else None
    return None if folder is None else folder / kept_files.key_of([_FORMAT, content])


def load(path: Path, start_rule: Callable[[], TokenBytes]) -> TokenTable | None:
    """The kept tokens, or ``None`` if there are none.

    Args:
        path: from :func:`path_of`.
        start_rule: the start rule of the table, if it has one.
    """
    import hashlib

    try:
        data = path.read_bytes()
    except OSError:
        return None  # nothing is kept
    if hashlib.sha256(memoryview(data)[_DIGEST:]).digest() != data[:_DIGEST]:
        return None  # damaged
    try:
        table = _table_of(data, start_rule)
    except (ValueError, LookupError, TypeError, RecursionError):
        return None  # damaged, although its digest fits
    kept_files.note_use(path)
    return table


def _table_of(data: bytes, start_rule: Callable[[], TokenBytes]) -> TokenTable:
    lengths = array("i")
    begin = _DIGEST + _COUNT
    count = int.from_bytes(data[_DIGEST:begin], "little")
    end = begin + count * lengths.itemsize
    if end > len(data):
        raise ValueError("the file is too short for its number of tokens")
    lengths.frombytes(memoryview(data)[begin:end])
    starts = list(accumulate((max(length, 0) for length in lengths), initial=end))
    if min(lengths, default=0) < _NONE or starts[-1] > len(data):
        raise ValueError("the lengths of the tokens are wrong")
    tokens: TokenBytes = [
        data[start : start + length] if length != _NONE else None
        for length, start in zip(lengths, starts, strict=False)
    ]
    rest = json.loads(data[starts[-1] :])
    names = {token: name for token, name in rest["names"] if 0 <= token < count and isinstance(name, str)}
    if len(names) != len(rest["names"]):
        raise ValueError("a name belongs to no token")
    return TokenTable(tokens, names, start_rule=start_rule if rest["has_start_rule"] else None)


def keep(path: Path, table: TokenTable) -> None:
    """Writes the tokens of a table, their names, and whether it has a start rule."""
    import hashlib

    lengths = array("i", [_NONE if token is None else len(token) for token in table.tokens])
    rest = {"names": list(table.names.items()), "has_start_rule": table.start_rule is not None}
    parts = (len(lengths).to_bytes(_COUNT, "little"), lengths.tobytes(), *filter(None, table.tokens))
    body = b"".join(parts) + json.dumps(rest).encode()
    kept_files.write(path, lambda file: file.write(hashlib.sha256(body).digest() + body))
