"""Self-tests that a tokenizer has passed, kept on disk in the user's cache folder.

The name of a file is a hash of everything that the outcome depends on.  The file says the same name again, so
one that was renamed or copied counts as absent, and has a checksum.  Whoever can write into the cache folder
of a user can still forge a file; the tables there are trusted to the same degree.

A failed test is not kept: it is repeated in the next process, so its text and its tokens are always those of
the tokenizer that runs.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping

from tokamata.resources import kept_files

__all__ = ["keep", "key_of", "load"]

_FORMAT = 1
_KIND = "self-tests"
_MOST_BYTES = 4096


def key_of(parts: Iterable[bytes]) -> str:
    """The name of a test that depends on these parts."""
    return kept_files.key_of([b"self-test %d" % _FORMAT, *parts])


def load(key: str) -> dict[str, int] | None:
    """The counts of the test of that name, or ``None`` if it was not passed, or the file is damaged."""
    folder = kept_files.folder_of(_KIND)
    if folder is None:
        return None
    path = folder / f"{key}.json"
    try:
        with path.open("rb") as file:
            content = file.read(_MOST_BYTES + 1)
    except OSError:
        return None  # absent: tested
    found = _counts(content, key)
    if found is None:
        kept_files.note_damage(path)
        return None
    kept_files.note_use(path)
    return found


def _counts(content: bytes, key: str) -> dict[str, int] | None:
    """The counts in a file; ``None`` if it is damaged."""
    if len(content) > _MOST_BYTES:
        return None
    try:
        known = json.loads(content)
        counts = known["counts"]
        if known["key"] != key or known["sum"] != _sum(key, counts):
            return None
        return {str(name): int(count) for name, count in counts.items()}
    except (ValueError, ArithmeticError, LookupError, TypeError, AttributeError, RecursionError):
        return None


def keep(key: str, counts: Mapping[str, int]) -> None:
    """Notes that the test of that name was passed."""
    folder = kept_files.folder_of(_KIND)
    if folder is None:
        return
    content = json.dumps({"key": key, "counts": dict(counts), "sum": _sum(key, counts)}).encode()
    kept_files.write(folder / f"{key}.json", lambda file: file.write(content))


def _sum(key: str, counts: Mapping[str, int]) -> str:
    return kept_files.key_of([key.encode(), json.dumps(counts, sort_keys=True).encode()])
