"""Loads models and tokenizers from folders in transformers' format, for the command line.

No call here uses the network: folders are loaded with ``local_files_only``.
"""

# transformers has no usable types for models and tokenizers, hence `Any` for the two.

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partialmethod
from importlib import import_module
from pathlib import Path
from typing import Any

from tokamata.errors import MissingExtraError, TokamataError

__all__ = ["ModelError", "Progress", "load_model", "load_tokenizer", "no_progress", "quiet_transformers"]

Progress = Callable[[str, float], None]
"""Called with the name of the current step and its finished share, 0 to 1; 0 if that is unknown."""


class ModelError(TokamataError, ValueError):
    """A folder without a model or tokenizer that transformers can load, or that cannot be written to."""


def no_progress(what: str, share: float) -> None:
    """Ignore progress."""


def load_model(folder: Path, progress: Progress = no_progress) -> tuple[Any, Any]:
    """Load the model and the tokenizer of a folder that ``save_pretrained`` wrote.

    Returns:
        The model, with the dtype of its weights, ready for inference; and its tokenizer.

    Raises:
        MissingExtraError: transformers or torch is not installed.
        ModelError: transformers cannot load the folder.
    """
    tokenizer = load_tokenizer(folder, progress)
    with quiet_transformers(progress) as transformers:
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
    with quiet_transformers(progress) as transformers:
        progress("loading the tokenizer", 0.0)
        if not folder.is_dir():
            raise ModelError(f"{folder} is not a folder; pass one with a model in transformers' format")
        try:
            return transformers.AutoTokenizer.from_pretrained(folder, local_files_only=True)
        except (OSError, ValueError) as error:
            raise ModelError(f"{folder} holds no tokenizer that transformers can load: {error}") from error


@contextmanager
def quiet_transformers(progress: Progress) -> Iterator[Any]:
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
