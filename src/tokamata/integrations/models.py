"""Loads models and tokenizers in transformers' format, for the command line.

A folder is loaded with ``local_files_only``, so without the network.  Anything else is a name on the Hub,
which transformers finds in its cache or fetches.
"""

# transformers has no usable types for models and tokenizers, hence `Any` for the two.

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partialmethod
from importlib import import_module
from pathlib import Path
from typing import Any

from tokamata.errors import MissingExtraError, TokamataError

__all__ = [
    *("ModelError", "Progress", "is_name", "load_model", "load_tokenizer", "no_progress"),
    "quiet_transformers",
]

_NAME = re.compile(r"[\w-][\w.-]*(/[\w-][\w.-]*)?", re.ASCII)
_FILES = {
    "language model": ("config.json",),
    "tokenizer": ("tokenizer*", "vocab*", "*.model", "*.tiktoken", "tekken.json"),
}

Progress = Callable[[str, float], None]
"""Called with the name of the current step and its finished share, 0 to 1; 0 if that is unknown."""


class ModelError(TokamataError, ValueError):
    """No model or tokenizer that transformers can load, or a folder that cannot be written to."""


def no_progress(what: str, share: float) -> None:
    """Ignore progress."""


def load_model(
    source: Path | str, progress: Progress = no_progress, *, tokenizer: Path | str | None = None
) -> tuple[Any, Any]:
    """Load a model and its tokenizer.

    Args:
        source: a folder that ``save_pretrained`` wrote, or a name on the Hub.
        progress: called with each step.
        tokenizer: the source of the tokenizer, as for :func:`load_tokenizer`; ``None``: that of the model.

    Returns:
        The model, with the dtype of its weights, ready for inference; and its tokenizer.

    Raises:
        MissingExtraError: transformers or torch is not installed.
        ModelError: transformers cannot load one of them.
    """
    loaded = load_tokenizer(source if tokenizer is None else tokenizer, progress)
    with quiet_transformers(progress) as transformers:
        progress("loading the weights", 0.0)
        model = _loaded(transformers.AutoModelForCausalLM, source, "language model", dtype="auto")
    return model.eval(), loaded


def load_tokenizer(source: Path | str, progress: Progress = no_progress) -> Any:
    """Load a tokenizer; raises as :func:`load_model` does.

    Args:
        source: a folder, a name on the Hub, or the file ``tokenizer.json`` of a tokenizer.
        progress: called with each step.
    """
    with quiet_transformers(progress) as transformers:
        progress("loading the tokenizer", 0.0)
        if not Path(source).is_file():
            return _loaded(transformers.AutoTokenizer, source, "tokenizer")
        if Path(source).suffix.lower() == ".gguf":
            raise ModelError(
                f"{source} is a GGUF file, which transformers does not run; pass a folder of a model, or "
                "write a loop with llama-cpp-python, as tokamata.Vocabulary.load reads its tokens"
            )
        try:
            return transformers.PreTrainedTokenizerFast(tokenizer_file=str(source))
        except Exception as error:  # tokenizers has one type of error for everything, `Exception`
            raise ModelError(
                f"{source} is not a tokenizer.json that transformers can load: {error}"
            ) from error


def is_name(source: Path | str) -> bool:
    """Whether a source is a name on the Hub: it looks like one, and there is no such file or folder."""
    return isinstance(source, str) and _NAME.fullmatch(source) is not None and not Path(source).exists()


def _loaded(kind: Any, source: Path | str, what: str, **options: Any) -> Any:
    has_name = is_name(source)
    if not has_name:
        _check_folder(Path(source), what)
    try:
        return kind.from_pretrained(source, local_files_only=not has_name, **options)
    except (OSError, ValueError) as error:
        where = "is neither a folder nor the name of" if has_name else "holds no"
        article = " a" if has_name else ""
        raise ModelError(f"{source} {where}{article} {what} that transformers can load: {error}") from error


def _check_folder(folder: Path, what: str) -> None:
    """Refuse what is no folder, and a folder without the files of a model or a tokenizer."""
    wanted = f"pass a folder with a {what} in transformers' format, or a name on the Hub"
    if not folder.exists():
        raise ModelError(f"there is no file or folder {folder}; {wanted}")
    if not folder.is_dir():
        raise ModelError(f"{folder} is not a folder; {wanted}")
    if not any(any(folder.glob(name)) for name in _FILES[what]):
        raise ModelError(f"the folder {folder} has no {what}: no file {' or '.join(_FILES[what])}; {wanted}")


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
