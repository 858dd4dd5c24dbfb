"""What is kept on disk for the next process, in the user's cache folder.

The cache folder also holds the converted model (``integrations/models.py``), and perhaps files of other
programs where ``TOKAMATA_CACHE`` names it.  So the files that are deleted to save space lie in a subfolder of
their own, and nothing outside of that subfolder is ever deleted::

    cache folder/models/                    converted models; nothing is trimmed
    cache folder/tokamata-derived/KIND/…    512 MiB at most; the least recently used files go first

Three kinds are derived: tokens (``vocabulary/kept_tokens.py``), tables of tokenizers for canonical
tokenization (``tokenization/kept_tables.py``), and segments of vocabularies
(``vocabulary/kept_segments.py``, written by ``core/vocabulary/segment_files``).  The name of each file says
everything it depends on, the versions of what made it included, so that no file is ever out of date, and
all of them may be deleted at any time.

Several processes may write at once: each writes a file of its own and renames it, and whoever reads sees a
whole file or none.  Nothing is pickled; a file that cannot be read, or is damaged, is written again.

The environment variable ``TOKAMATA_CACHE`` names another cache folder, or is ``off``: then nothing is kept,
and nothing read.  Where the folder cannot be written to, nothing is kept either; that costs time alone.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import IO

from tokamata import version

_MOST_BYTES = 1 << 29
_VARIABLE = "TOKAMATA_CACHE"
_DERIVED = "tokamata-derived"  # the one folder that is trimmed; no other program has one of this name
_TRIMMED = "trimmed"  # an empty file in it, as old as the last trim
_UNFINISHED = ".unfinished"
_GIVEN_UP_S = 24 * 3600.0  # so old is nothing that still is being written
_USED_LATELY_S = 24 * 3600.0


def key_of(parts: Iterable[bytes]) -> str:
    """The name of what depends on these parts, and on the version of tokamata."""
    import hashlib

    digest = hashlib.sha256(version.__version__.encode())
    for part in parts:
        digest.update(len(part).to_bytes(8, "little"))
        digest.update(part)
    return digest.hexdigest()


def cache_folder() -> Path | None:
    """The whole cache folder, whether or not it is there; ``None`` where nothing is to be kept."""
    given = os.environ.get(_VARIABLE)
    if given == "off":
        return None
    if given:
        return Path(given)
    import platformdirs

    root = Path(platformdirs.user_cache_dir("tokamata"))
    return root if root.is_absolute() else None  # "~" that nobody could resolve


def folder_of(kind: str) -> Path | None:
    """Where derived files of a kind are kept, whether or not the folder is there; ``None`` where none are."""
    derived = _derived()
    return None if derived is None else derived / kind


def write(path: Path, save: Callable[[IO[bytes]], object]) -> None:
    """Writes a derived file, all of it or nothing, and trims.

    Args:
        path: where, in a folder that :func:`folder_of` names.
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
    """Trims, if anything was written to the folder since the last trim."""
    derived = _derived()
    try:
        if derived is None or _age(folder) < _age(derived / _TRIMMED):
            return
    except OSError:  # there is no folder yet, or nothing was ever trimmed
        if not folder.exists():
            return
    trim()


def trim() -> None:
    """Deletes the least recently used derived files beyond the bound, and unfinished ones of a day ago."""
    derived = _derived()
    if derived is None:
        return
    try:
        (derived / _TRIMMED).touch()
    except OSError:  # no file was ever written, or the folder is read-only
        return
    import time

    now, left = time.time(), _MOST_BYTES
    for path, used, size in sorted(_files(derived), key=lambda found: -found[1]):
        left -= size
        if left < 0 or (path.suffix == _UNFINISHED and now - used > _GIVEN_UP_S):
            _remove(path)


def _derived() -> Path | None:
    root = cache_folder()
    return None if root is None else root / _DERIVED


def _age(path: Path) -> int:
    return path.stat().st_mtime_ns


def _files(derived: Path) -> Iterator[tuple[Path, float, int]]:
    """Every derived file, when it was last used, and its size; empty folders in between are removed."""
    for place, folders, names in os.walk(derived):
        for name in names:
            path = Path(place, name)
            try:
                stat = path.stat()
            except OSError:
                continue  # another process has taken it out
            if name != _TRIMMED:
                yield path, stat.st_mtime, stat.st_size
        if not folders and not names and place != str(derived):
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
