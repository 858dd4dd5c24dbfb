"""Finds the chat template of a tokenizer: at an object of transformers, or in files beside the tokenizer."""

# transformers has no usable types for tokenizers, hence `Any`.

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tokamata.errors import TemplateError

__all__ = ["TemplateSource", "template_source"]

_MOST_BYTES = 1 << 24
_NAMES = ("bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token")
_ADVICE = "pass source= with the text of the template"


@dataclass(frozen=True)
class TemplateSource:
    """A chat template, and the texts of the variables for control tokens.

    Attributes:
        source: the template, in jinja2's language.
        bos_token, eos_token: the texts of these variables; ``None`` if the tokenizer has none.
        special_tokens: the texts of the others.
    """

    source: str
    bos_token: str | None = None
    eos_token: str | None = None
    special_tokens: Mapping[str, str] = field(default_factory=dict)


def template_source(
    tokenizer: Any, source: str | None, bos_token: str | None, eos_token: str | None
) -> TemplateSource:
    """The template of a tokenizer; arguments that are given replace its own.

    Args:
        tokenizer: a tokenizer of transformers, a folder, or a file in one.

    Raises:
        TemplateError: no template is there.
    """
    if isinstance(tokenizer, (str, os.PathLike)):
        found, tokens = _in_folder(Path(tokenizer))
    else:
        found = getattr(tokenizer, "chat_template", None)
        tokens = {name: getattr(tokenizer, name, None) for name in _NAMES}
    if source is None:
        source = _default(found)
    if source is None:
        raise TemplateError(0, "the tokenizer has no chat template", _ADVICE)
    texts = {name: text for name, text in tokens.items() if isinstance(text, str)}
    bos, eos = texts.pop("bos_token", None), texts.pop("eos_token", None)
    return TemplateSource(
        source, bos if bos_token is None else bos_token, eos if eos_token is None else eos_token, texts
    )


def _default(found: Any) -> str | None:
    """The template, or of several that which is named default."""
    if isinstance(found, list):  # as in older files: [{"name": …, "template": …}, …]
        found = {each.get("name"): each.get("template") for each in found if isinstance(each, dict)}
    if isinstance(found, Mapping):
        found = found.get("default")
    return found if isinstance(found, str) else None


def _in_folder(path: Path) -> tuple[Any, dict[str, Any]]:
    folder = path if path.is_dir() else path.parent
    config = _read(folder / "tokenizer_config.json")
    try:
        document = json.loads(config) if config is not None else {}
    except ValueError as error:
        raise TemplateError(
            0, f"{folder / 'tokenizer_config.json'} is not valid JSON ({error})", _ADVICE
        ) from None
    if not isinstance(document, dict):
        document = {}
    tokens = {name: _text_of(document.get(name)) for name in _NAMES}
    own = _read(folder / "chat_template.jinja")
    return (document.get("chat_template") if own is None else own), tokens


def _text_of(token: Any) -> Any:
    return token.get("content") if isinstance(token, dict) else token


def _read(path: Path) -> str | None:
    try:
        if not path.is_file():
            return None
        if path.stat().st_size > _MOST_BYTES:
            raise TemplateError(0, f"{path} is larger than {_MOST_BYTES:,} bytes", _ADVICE)
        return path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise TemplateError(0, f"{path} cannot be read: {error}", _ADVICE) from None
