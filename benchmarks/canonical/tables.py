"""What a tokenizer's tables cost: the first ``compile(tokenization="canonical")`` for a vocabulary.

Each measurement is on a vocabulary loaded anew, with a cache folder of its own: first an empty one, then
the same again, where the tables are found if they are kept on disk.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

import tokamata as tk
from benchmarks.common.timing import clock, quiet
from benchmarks.common.tokenizers import Tokenizer, load_known
from tokamata.tokenization.canonical import tokenization_of

ANYTHING = r"(?s:.*)"
_FOLDER = "XDG_CACHE_HOME"  # which platformdirs asks first


@dataclass
class TableTimes:
    """Nanoseconds, and bytes.

    Attributes:
        built: of the first ``compile`` for a vocabulary, its trie at hand and nothing on disk.
        kept: of the same where the tables are on disk; empty where they are not kept.
        first_masks: of the first matcher and its mask after ``built``.
        file_bytes: on disk.
        memory_bytes: of the tables after that mask.
    """

    built: list[float] = field(default_factory=list)
    kept: list[float] = field(default_factory=list)
    first_masks: list[float] = field(default_factory=list)
    file_bytes: int = 0
    memory_bytes: int = 0


@contextmanager
def own_cache() -> Iterator[Path]:
    """An empty cache folder, within."""
    before = os.environ.get(_FOLDER)
    with TemporaryDirectory(prefix="tokamata-cache-") as folder:
        os.environ[_FOLDER] = folder
        try:
            yield Path(folder)
        finally:
            if before is None:
                del os.environ[_FOLDER]
            else:
                os.environ[_FOLDER] = before


def measure_tables(name: str, folder: Path, work: Path, runs: int) -> tuple[Tokenizer, TableTimes]:
    """Builds the tables ``runs`` times, and takes them from disk as often.

    Args:
        name: of the tokenizer.
        folder: where tokenizers lie.
        work: for unpacked files.
        runs: how often; the first tokenizer of a process should be measured once more, as packages are
            imported then.

    Returns:
        The tokenizer, its tables made, and the times.

    Raises:
        NoTokenizerError: the folder does not have it.
        UnsupportedTokenizerError: canonical tokenization does not take it.
    """
    found = TableTimes()
    for _ in range(runs):
        with own_cache() as cache:
            tokenizer = _loaded(name, folder, work)
            built, first = _compile(tokenizer)
            found.built.append(built)
            found.first_masks.append(first)
            found.memory_bytes = tokenization_of(tokenizer.vocabulary).memory_bytes
            found.file_bytes = sum(path.stat().st_size for path in cache.rglob("*") if path.is_file())
            if found.file_bytes:
                found.kept.append(_compile(_loaded(name, folder, work))[0])
    return tokenizer, found


def _loaded(name: str, folder: Path, work: Path) -> Tokenizer:
    tokenizer = load_known(name, folder, work)
    tokenizer.vocabulary.core  # noqa: B018  # made here, so that it is not timed
    return tokenizer


def _compile(tokenizer: Tokenizer) -> tuple[float, float]:
    """Nanoseconds of the first ``compile``, and of the first matcher and mask."""
    constraint = tk.regex(ANYTHING)
    row = np.zeros((tokenizer.vocabulary.width + 31) // 32, dtype=np.int32)
    with quiet():
        start = clock()
        compiled = constraint.compile(tokenizer.vocabulary, tokenization="canonical")
        middle = clock()
        compiled.matcher().fill_mask(row)
        return float(middle - start), float(clock() - middle)
