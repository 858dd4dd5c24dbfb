"""Segments of a vocabulary, kept on disk.

The segment of a terminal, such as a JSON string, is the same in every schema.  The engine computes it once in
a process, and with this module once on a machine (``core/vocabulary/segment_files.hpp``).
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tokamata.resources import kept_files

if TYPE_CHECKING:
    import tokamata._core as _core

_KIND = "terminals"
_LEAST_SECONDS = 60e-6  # about the time for reading a file
_MOST_WRITTEN = 1 << 26  # bytes that one process may add between trims


def keep_segments(vocabulary: _core.Vocabulary) -> None:
    """Makes a vocabulary use and keep segments on disk, if the cache is on."""
    kind = kept_files.folder_of(_KIND)
    if kind is None:
        return
    folder = kind / kept_files.key_of([_engine(), vocabulary.content])
    kept_files.trim_after(folder)
    vocabulary.use_segment_files(str(folder), _LEAST_SECONDS, _MOST_WRITTEN)


def _engine() -> bytes:
    """Identifies this build of the engine: in development, the version alone does not."""
    import tokamata._core as _core

    stat = Path(_core.__file__).stat()
    return b"%d %d" % (stat.st_mtime_ns, stat.st_size)
