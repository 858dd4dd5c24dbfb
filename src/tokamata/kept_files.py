"""What is kept on disk for the next process, in the user's cache folder.

There are three kinds of it: tokens (``vocabulary/kept_tokens.py``), tables of tokenizers for canonical
tokenization (``tokenization/kept_tables.py``), and what terminals do to a vocabulary
(``vocabulary/kept_parts.py``).  Each lies under a name that says everything it depends on, the
versions of what made it included, so that nothing there is ever out of date, and all of it may be deleted
at any time.

Several processes may write at once: each writes a file of its own and renames it, and whoever reads sees a
whole file or none.  Nothing is pickled; what cannot be read, or is not what was written, is made anew.  All
files together have 512 MiB at most, give or take what is being written at the moment; those that were
not used for longest go first.

The environment variable ``TOKAMATA_CACHE`` names another folder, or is ``off``: then nothing is kept, and
nothing read.  Where the folder cannot be written to, nothing is kept either; that costs time alone.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import IO

_MOST_BYTES = 1 << 29
_VARIABLE = "TOKAMATA_CACHE"
_TRIMMED = "trimmed"  # an empty file, as old as the last time that was looked at what there is
_UNFINISHED = ".unfinished"
_GIVEN_UP_S = 24 * 3600.0  # so old is nothing that still is being written
_USED_LATELY_S = 24 * 3600.0


def key_of(parts: Iterable[bytes]) -> str:
    """The name of what depends on these parts, and on the version of tokamata."""
    import hashlib

    from tokamata import __version__

    digest = hashlib.sha256(__version__.encode())
    for part in parts:
        digest.update(len(part).to_bytes(8, "little"))
        digest.update(part)
    return digest.hexdigest()


def folder_of(kind: str) -> Path | None:
    """Where things of a kind are kept, whether or not the folder is there; ``None`` where they are not."""
    root = _root()
    return None if root is None else root / kind


def write(path: Path, save: Callable[[IO[bytes]], object]) -> None:
    """Writes a file, all of it or nothing, and leaves no more than the newest of all files.

    Args:
        path: its place, in the folder of some kind.
        save: writes the content.
    """
    import tempfile

    unfinished = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=path.parent, suffix=_UNFINISHED, delete=False) as file:
            unfinished = Path(file.name)
            save(file)
        unfinished.replace(path)
    except OSError:
        if unfinished is not None:
            _remove(unfinished)
        return
    trim()


def note_use(path: Path) -> None:
    """Says that a file is in use, so that others go before it; one that is not there stays so."""
    import time

    try:
        if time.time() - path.stat().st_mtime > _USED_LATELY_S:
            os.utime(path)
    except OSError:
        return


def trim_after(folder: Path) -> None:
    """Leaves no more than the newest of all files, if there is anything new in the folder."""
    root = _root()
    try:
        if root is None or _age(folder) < _age(root / _TRIMMED):
            return
    except OSError:  # there is no folder yet, or nothing was ever trimmed
        if not folder.exists():
            return
    trim()


def trim() -> None:
    """Leaves no more than the newest of all files, and no half of one that was given up long ago."""
    root = _root()
    if root is None:
        return
    try:
        (root / _TRIMMED).touch()
    except OSError:
        return
    import time

    now, left = time.time(), _MOST_BYTES
    for path, used, size in sorted(_files(root), key=lambda found: -found[1]):
        left -= size
        if left < 0 or (path.suffix == _UNFINISHED and now - used > _GIVEN_UP_S):
            _remove(path)


def _root() -> Path | None:
    given = os.environ.get(_VARIABLE)
    if given == "off":
        return None
    if given:
        return Path(given)
    import platformdirs

    root = Path(platformdirs.user_cache_dir("tokamata"))
    return root if root.is_absolute() else None  # "~" that nobody could resolve


def _age(path: Path) -> int:
    return path.stat().st_mtime_ns


def _files(root: Path) -> Iterator[tuple[Path, float, int]]:
    """Every file, when it was last used, and its size; folders without any are taken away."""
    for place, folders, names in os.walk(root):
        for name in names:
            path = Path(place, name)
            try:
                stat = path.stat()
            except OSError:
                continue  # another process has taken it out
            if name != _TRIMMED:
                yield path, stat.st_mtime, stat.st_size
        if not folders and not names and place != str(root):
            _remove_folder(Path(place))


def _remove(path: Path) -> None:
    try:
        path.unlink()
    except OSError:
        return  # another process was first, or reads it, where that keeps it there


def _remove_folder(path: Path) -> None:
    try:
        path.rmdir()
    except OSError:
        return  # something has just been written there
