"""Files in the user's cache folder, for the next process.

The cache folder also contains the converted model (``demo/default_model.py``), and perhaps files of other
programs, if ``TOKAMATA_CACHE`` names a shared folder.  So the files that are deleted to save space have a
subfolder of their own, and nothing outside of it is ever deleted::

    cache folder/models/                    converted models, never trimmed
    cache folder/tokamata-derived/KIND/…    1,000 files of 512 MiB at most; the least recently used go first

There are five kinds of derived files: tokens (``vocabulary/kept_tokens.py``), tables of tokenizers for
canonical tokenization (``tokenization/kept_tables.py``), the self-tests that tokenizers have passed
(``tokenization/kept_verdicts.py``), segments of vocabularies (``vocabulary/kept_segments.py``, written by
``core/vocabulary/segment_files``), and the rules of grammars with a lexer
(``patterns/grammars/kept_rules.py``).  The name of a file is a hash of everything that it
depends on, including versions.  So no file is ever out of date, and all of them may be deleted at any time.

Several processes may write at once: each writes its own file and renames it, so a reader sees a whole file or
none.  Nothing is pickled; a file that is damaged or unreadable is written again.

The environment variable ``TOKAMATA_CACHE`` names another cache folder, or is ``off``: then nothing is written
or read.  Nothing is written to a read-only folder either; that only costs time.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import IO

from tokamata import version
from tokamata.resources.logs import LOG

_MOST_BYTES = 1 << 29  # of all derived files
_MOST_FILES = 1000  # each write looks at all of them, which then takes 20 ms
_VARIABLE = "TOKAMATA_CACHE"
_DERIVED = "tokamata-derived"  # the only folder that is trimmed; no other program uses this name
_TRIMMED = "trimmed"  # an empty file in it, whose time is that of the last trim
_UNFINISHED = ".unfinished"
_ABANDONED_S = 24 * 3600.0  # an unfinished file of this age has no writer any more
_USED_LATELY_S = 24 * 3600.0  # the time of a file is not renewed more often


def key_of(parts: Iterable[bytes]) -> str:
    """The file name for data that depends on these parts and on the version of tokamata."""
    import hashlib

    digest = hashlib.sha256(version.__version__.encode())
    for part in parts:
        digest.update(len(part).to_bytes(8, "little"))
        digest.update(part)
    return digest.hexdigest()


def cache_folder() -> Path | None:
    """The whole cache folder, which may not exist yet; ``None`` if the cache is off."""
    given = os.environ.get(_VARIABLE)
    if given == "off":
        return None
    if given:
        return Path(given)
    import platformdirs

    root = Path(platformdirs.user_cache_dir("tokamata"))
    return root if root.is_absolute() else None  # an unresolved "~"


def folder_of(kind: str) -> Path | None:
    """The folder of one kind of derived files, which may not exist yet; ``None`` if the cache is off."""
    derived = _derived()
    return None if derived is None else derived / kind


def write(path: Path, save: Callable[[IO[bytes]], object]) -> None:
    """Writes a derived file, the whole or nothing, and trims.

    Args:
        path: the file, in a folder of :func:`folder_of`.
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
    except OSError as error:
        LOG.info("%s cannot be written: %s", path, error.strerror)
        if unfinished is not None:
            _remove(unfinished)
        return
    trim()


def note_damage(path: Path) -> None:
    """Reports a file whose content is not what was written; it is computed again."""
    LOG.warning("%s is damaged; its content is computed again", path)


def note_use(path: Path) -> None:
    """Updates the time of a file in use, so that others are deleted before it; creates no file."""
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
    except OSError:  # the folder does not exist yet, or nothing was ever trimmed
        if not folder.exists():
            return
    trim()


def trim() -> None:
    """Deletes the least recently used derived files beyond the bound, and abandoned unfinished ones."""
    derived = _derived()
    if derived is None:
        return
    try:
        (derived / _TRIMMED).touch()
    except OSError:  # no file was ever written, or the folder is read-only
        return
    import time

    now, left = time.time(), _MOST_BYTES
    files = sorted(_files(derived), key=lambda found: -found[1])
    for number, (path, used, size) in enumerate(files):
        left -= size
        if left < 0 or number >= _MOST_FILES or (path.suffix == _UNFINISHED and now - used > _ABANDONED_S):
            _remove(path)


def _derived() -> Path | None:
    root = cache_folder()
    return None if root is None else root / _DERIVED


def _age(path: Path) -> int:
    return path.stat().st_mtime_ns


def _files(derived: Path) -> Iterator[tuple[Path, float, int]]:
    """Every derived file, the time of its last use, and its size in bytes; removes empty folders."""
    for folder, subfolders, names in os.walk(derived):
        for name in names:
            path = Path(folder, name)
            try:
                stat = path.stat()
            except OSError:
                continue  # another process has deleted it
            if name != _TRIMMED:
                yield path, stat.st_mtime, stat.st_size
        if not subfolders and not names and folder != str(derived):
            _remove_folder(Path(folder))


def _remove(path: Path) -> None:
    try:
        path.unlink()
    except OSError:
        return  # another process has deleted it, or reads it, which prevents deletion on Windows


def _remove_folder(path: Path) -> None:
    try:
        path.rmdir()
    except OSError:
        return  # another process has just written to it
