"""What terminals do to a vocabulary, kept on disk: where, and how much of it.

A JSON string does the same to a vocabulary in every schema.  The engine finds out once in a process, and
with this module once on a machine (``core/vocabulary/segment_files.hpp``).
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tokamata import kept_files

if TYPE_CHECKING:
    from tokamata import _core

_KIND = "terminals"
_LEAST_SECONDS = 60e-6  # about what reading a file takes
_MOST_WRITTEN = 1 << 26  # bytes that one process may add before others look at how much there is


def keep_segments(vocabulary: _core.Vocabulary) -> None:
    """Has the segments of a vocabulary kept, and those used that are, if anything may be kept at all."""
    kind = kept_files.folder_of(_KIND)
    if kind is None:
        return
    folder = kind / kept_files.key_of([_engine(), vocabulary.content])
    kept_files.trim_after(folder)
    vocabulary.use_segment_files(str(folder), _LEAST_SECONDS, _MOST_WRITTEN)


def _engine() -> bytes:
    """What tells this build of the engine from others: a version alone does not while it is worked on."""
    from tokamata import _core

    stat = Path(_core.__file__).stat()
    return b"%d %d" % (stat.st_mtime_ns, stat.st_size)
