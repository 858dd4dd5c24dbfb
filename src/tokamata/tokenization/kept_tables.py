"""Tables of tokenizers, kept on disk in the user's cache folder.

Reading a tokenizer's pipeline, asking its engine about code points and following its merges takes up to a
second or two; the tables that come of it are some ten megabytes, and are read in a twentieth of the time.
They are kept under a name that says everything they depend on:
the content of the tokenizer, the version of the package that was asked, and that of tokamata.

Several processes may write at once: each writes a file of its own and renames it, and whoever reads
sees a whole file or none.  Files are arrays alone (numpy's ``.npz``, nothing pickled); one that cannot be
read, or is not what was written, is made anew.  Where the folder cannot be written to, nothing is kept.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
import zipfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import platformdirs

Tables = dict[str, Any]

# Changes whenever the tables of an unchanged tokenizer do.
_FORMAT = 3
_MOST_FILES = 64
_TEXTS = "added_texts"


def key_of(parts: Iterable[bytes]) -> str:
    """The name of tables that depend on these parts."""
    from tokamata import __version__

    digest = hashlib.sha256(f"{__version__} {_FORMAT}".encode())
    for part in parts:
        digest.update(len(part).to_bytes(8, "little"))
        digest.update(part)
    return digest.hexdigest()


def load(key: str) -> Tables | None:
    """The tables of that name, or ``None`` where none are kept."""
    try:
        with np.load(_folder() / f"{key}.npz", allow_pickle=False) as file:
            tables: Tables = {name: file[name] for name in file.files}
            lengths, joined = tables.pop("text_lengths"), tables.pop("text_bytes").tobytes()
    except (OSError, EOFError, ValueError, KeyError, zipfile.BadZipFile):
        return None  # absent, or damaged: made anew
    ends = np.cumsum(lengths).tolist()
    tables[_TEXTS] = [joined[end - size : end] for end, size in zip(ends, lengths.tolist(), strict=True)]
    return {name: value.item() if getattr(value, "ndim", 1) == 0 else value for name, value in tables.items()}


def keep(key: str, tables: Tables) -> None:
    """Keep tables under that name."""
    texts = tables[_TEXTS]
    arrays = {name: np.asarray(value) for name, value in tables.items() if name != _TEXTS}
    arrays["text_lengths"] = np.array([len(text) for text in texts], dtype=np.int64)
    arrays["text_bytes"] = np.frombuffer(b"".join(texts), dtype=np.uint8)
    folder = _folder()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=folder, suffix=".part", delete=False) as file:
            np.savez(file, **arrays)  # type: ignore[arg-type]  # its stub takes the names for options
        os.replace(file.name, folder / f"{key}.npz")
        _forget_oldest(folder)
    except OSError:
        return  # a folder that cannot be written to costs time alone


def _folder() -> Path:
    return Path(platformdirs.user_cache_dir("tokamata")) / "tokenizations"


def _forget_oldest(folder: Path) -> None:
    """Leave the newest files, and no half of one that was given up long ago."""
    files = sorted(folder.iterdir(), key=lambda path: path.stat().st_mtime, reverse=True)
    for path in files[_MOST_FILES:]:
        path.unlink(missing_ok=True)
