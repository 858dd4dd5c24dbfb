"""Tables of tokenizers, kept on disk in the user's cache folder.

Reading a tokenizer's pipeline, querying its engine about code points and following its merges takes up to two
seconds.  The resulting tables have about ten megabytes, and are read in a twentieth of the time.  Their name
is a hash of everything that they depend on: the content of the tokenizer, the version of the package that was
queried, and that of tokamata.

Files contain only arrays (numpy's ``.npz``, nothing pickled); see also ``tokamata/resources/kept_files.py``.
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterable
from itertools import accumulate
from typing import Any

import numpy as np

from tokamata.resources import kept_files

Tables = dict[str, Any]

# Changes whenever the tables of an unchanged tokenizer do.
_FORMAT = 29
_KIND = "tokenizations"
_TEXTS = ("added_texts", "forbidden_texts")  # lists of bytes


def key_of(parts: Iterable[bytes]) -> str:
    """The name of tables that depend on these parts."""
    return kept_files.key_of([b"%d" % _FORMAT, *parts])


def load(key: str) -> Tables | None:
    """The tables of that name, or ``None`` if none are kept."""
    folder = kept_files.folder_of(_KIND)
    if folder is None:
        return None
    path = folder / f"{key}.npz"
    try:
        with zipfile.ZipFile(path) as archive:
            if any(member.compress_type != zipfile.ZIP_STORED for member in archive.infolist()):
                # Without compression, reading cannot need more memory than the file's size.
                raise ValueError("the file is compressed")
        with np.load(path, allow_pickle=False) as file:
            tables: Tables = {name: file[name] for name in file.files}
        for name in _TEXTS:
            tables[name] = _texts(tables.pop(f"{name}_lengths"), tables.pop(f"{name}_bytes"))
    except FileNotFoundError:
        return None  # absent
    except (OSError, EOFError, ValueError, LookupError, TypeError, MemoryError, zipfile.BadZipFile):
        kept_files.note_damage(path)
        return None
    kept_files.note_use(path)
    return {name: value.item() if getattr(value, "ndim", 1) == 0 else value for name, value in tables.items()}


def _texts(lengths: Any, joined: Any) -> list[bytes]:
    if lengths.dtype != np.int64 or lengths.ndim != 1 or joined.dtype != np.uint8 or joined.ndim != 1:
        raise TypeError("texts have another type")
    sizes, content = lengths.tolist(), joined.tobytes()
    if min(sizes, default=0) < 0 or sum(sizes) != len(content):
        raise ValueError("texts have other lengths")
    ends = accumulate(sizes)
    return [content[end - size : end] for end, size in zip(ends, sizes, strict=True)]


def keep(key: str, tables: Tables) -> None:
    """Writes tables under that name."""
    folder = kept_files.folder_of(_KIND)
    if folder is None:
        return
    arrays = {name: np.asarray(value) for name, value in tables.items() if name not in _TEXTS}
    for name in _TEXTS:
        arrays[f"{name}_lengths"] = np.array([len(text) for text in tables[name]], dtype=np.int64)
        arrays[f"{name}_bytes"] = np.frombuffer(b"".join(tables[name]), dtype=np.uint8)
    kept_files.write(folder / f"{key}.npz", lambda file: np.savez(file, **arrays))  # type: ignore[arg-type]  # its stub takes the names for options
