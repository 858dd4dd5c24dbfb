"""The tokens of a large ``tokenizer.json``, kept on disk.

Parsing nine megabytes of JSON and decoding 128,256 texts takes some 0.2 s, four times as long as hashing the
file and reading what came of it the last time.  A file of tokens depends on the content of the tokenizer's alone,
and begins with a digest of what follows::

    sha256 of the rest | number of tokens | their lengths, -1 for none | their bytes | the names, as JSON
"""

from __future__ import annotations

import json
from array import array
from dataclasses import dataclass, replace
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING

from tokamata import kept_files
from tokamata.vocabulary.token_table import TokenTable

if TYPE_CHECKING:
    from collections.abc import Callable

    from tokamata.vocabulary.token_table import TokenBytes

_KIND = "tokens"
_FORMAT = b"1"  # changes whenever the tokens of an unchanged file do
_LEAST_BYTES = 1 << 20  # smaller files are parsed as fast
_DIGEST, _COUNT = 32, 8
_NONE = -1


def kept_or_made(content: bytes, parse: Callable[[], TokenTable]) -> TokenTable:
    """The tokens of a file, from disk where they are kept there.

    Args:
        content: of the file.
        parse: reads it; not asked where the tokens are kept, but for the start of a text, once that matters.
    """
    folder = kept_files.folder_of(_KIND) if len(content) >= _LEAST_BYTES else None
    if folder is None:
        return parse()
    path = folder / kept_files.key_of([_FORMAT, content])
    table = _load(path)
    if table is None:
        table = parse()
        _keep(path, table)
    else:
        kept_files.note_use(path)
        if table.start_rule is not None:
            table = replace(table, start_rule=_LateStart(parse))
    return table


@dataclass(frozen=True)
class _LateStart:
    """The start rule of a file that has one, parsed when it is asked for."""

    parse: Callable[[], TokenTable]

    def __call__(self) -> TokenBytes:
        rule = self.parse().start_rule
        assert rule is not None  # the file is the same
        return rule()


def _no_start() -> TokenBytes:
    raise NotImplementedError("stands for a rule that is read from the tokenizer itself")


def _load(path: Path) -> TokenTable | None:
    """What is kept; its start rule only says whether there is one."""
    import hashlib

    try:
        data = path.read_bytes()
    except OSError:
        return None
    if hashlib.sha256(memoryview(data)[_DIGEST:]).digest() != data[:_DIGEST]:
        return None
    at = _DIGEST + _COUNT
    count = int.from_bytes(data[_DIGEST:at], "little")
    lengths = array("i")
    at += count * lengths.itemsize
    lengths.frombytes(data[_DIGEST + _COUNT : at])
    sizes = [max(length, 0) for length in lengths]
    ends = list(accumulate(sizes, initial=at))
    tokens = [
        None if length == _NONE else data[start : start + length]
        for length, start in zip(lengths, ends, strict=False)
    ]
    rest = json.loads(data[ends[-1] :])
    names = {int(token): name for token, name in rest["names"]}
    return TokenTable(tokens, names, start_rule=_no_start if rest["has_start_rule"] else None)


def _keep(path: Path, table: TokenTable) -> None:
    import hashlib

    lengths = array("i", (_NONE if token is None else len(token) for token in table.tokens))
    rest = {"names": list(table.names.items()), "has_start_rule": table.start_rule is not None}
    body = b"".join(
        [
            len(lengths).to_bytes(_COUNT, "little"),
            lengths.tobytes(),
            *filter(None, table.tokens),
            json.dumps(rest).encode(),
        ]
    )
    kept_files.write(path, lambda file: file.write(hashlib.sha256(body).digest() + body))
