"""Tables of tokenizers, kept on disk in the user's cache folder.

Reading a tokenizer's pipeline, asking its engine about code points and following its merges takes up to a
second or two; the tables that come of it are some ten megabytes, and are read in a twentieth of the time.
They are kept under a name that says everything they depend on:
the content of the tokenizer, the version of the package that was asked, and that of tokamata.

Files are arrays alone (numpy's ``.npz``, nothing pickled); the rest is as for all that is kept
(``tokamata/kept_files.py``).
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterable
from typing import Any

import numpy as np

from tokamata import kept_files

Tables = dict[str, Any]

# Changes whenever the tables of an unchanged tokenizer do.
_FORMAT = 3
_KIND = "tokenizations"
_TEXTS = "added_texts"


def key_of(parts: Iterable[bytes]) -> str:
    """The name of tables that depend on these parts."""
    return kept_files.key_of([b"%d" % _FORMAT, *parts])


def load(key: str) -> Tables | None:
    """The tables of that name, or ``None`` where none are kept."""
    folder = kept_files.folder_of(_KIND)
    if folder is None:
        return None
    path = folder / f"{key}.npz"
    try:
        with np.load(path, allow_pickle=False) as file:
            tables: Tables = {name: file[name] for name in file.files}
            lengths, joined = tables.pop("text_lengths"), tables.pop("text_bytes").tobytes()
    except (OSError, EOFError, ValueError, KeyError, zipfile.BadZipFile):
        return None  # absent, or damaged: made anew
    kept_files.note_use(path)
    ends = np.cumsum(lengths).tolist()
    tables[_TEXTS] = [joined[end - size : end] for end, size in zip(ends, lengths.tolist(), strict=True)]
    return {name: value.item() if getattr(value, "ndim", 1) == 0 else value for name, value in tables.items()}


def keep(key: str, tables: Tables) -> None:
    """Keep tables under that name."""
    folder = kept_files.folder_of(_KIND)
    if folder is None:
        return
    texts = tables[_TEXTS]
    arrays = {name: np.asarray(value) for name, value in tables.items() if name != _TEXTS}
    arrays["text_lengths"] = np.array([len(text) for text in texts], dtype=np.int64)
    arrays["text_bytes"] = np.frombuffer(b"".join(texts), dtype=np.uint8)
    kept_files.write(folder / f"{key}.npz", lambda file: np.savez(file, **arrays))  # type: ignore[arg-type]  # its stub takes the names for options
