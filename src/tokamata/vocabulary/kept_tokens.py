"""The tokens of a large ``tokenizer.json``, kept on disk.

Parsing nine megabytes of JSON and decoding 128,256 texts takes about 0.2 s, four times as long as hashing
the file and reading its kept tokens.  A live tokenizer that is written for its tables anyway has such a file,
too.  The kept file depends only on the content of the original::

    sha256 of the rest | the tokens; their names, whether there is a start rule, and the sections of the
                         normalizer (``packed_tokens.py``)
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from tokamata.resources import kept_files
from tokamata.vocabulary.packed_tokens import packed, unpacked
from tokamata.vocabulary.token_table import TokenBytes, TokenTable

_KIND = "tokens"
_FORMAT = b"2"  # changes whenever the tokens of an unchanged file do
_LEAST_BYTES = 1 << 20  # smaller files are parsed equally fast
_DIGEST = 32


def path_of(content: bytes) -> Path | None:
    """The path for the tokens of a file with this content; ``None`` if they are not to be kept."""
    folder = kept_files.folder_of(_KIND) if len(content) >= _LEAST_BYTES else None
    return None if folder is None else folder / kept_files.key_of([_FORMAT, content])


def load(path: Path, start_rule: Callable[[], TokenBytes]) -> tuple[TokenTable, dict[str, Any]] | None:
    """The kept tokens and sections of the normalizer, or ``None`` if there are none.

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
        kept_files.note_damage(path)
        return None
    try:
        found = _found(data, start_rule)
    except (ValueError, LookupError, TypeError, RecursionError):
        kept_files.note_damage(path)  # although its digest fits
        return None
    kept_files.note_use(path)
    return found


def _found(data: bytes, start_rule: Callable[[], TokenBytes]) -> tuple[TokenTable, dict[str, Any]]:
    tokens, rest = unpacked(data, _DIGEST)
    names = {
        token: name for token, name in rest["names"] if 0 <= token < len(tokens) and isinstance(name, str)
    }
    if len(names) != len(rest["names"]):
        raise ValueError("a name belongs to no token")
    if not isinstance(rest["sections"], dict):
        raise TypeError("the sections are no object")
    return TokenTable(tokens, names, start_rule=start_rule if rest["has_start_rule"] else None), rest[
        "sections"
    ]


def keep(path: Path, table: TokenTable, sections: dict[str, Any]) -> None:
    """Writes the tokens of a table, their names, whether it has a start rule, and sections."""
    import hashlib

    rest = {
        "names": list(table.names.items()),
        "has_start_rule": table.start_rule is not None,
        "sections": sections,
    }
    body = packed(table.tokens, rest)
    kept_files.write(path, lambda file: file.write(hashlib.sha256(body).digest() + body))
