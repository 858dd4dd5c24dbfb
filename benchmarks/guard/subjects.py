"""The tokenizers of the tables of paper 004, as live objects: as they are, and with a flag changed.

    for subject in subjects("qwen-3"):
        subject.flags, subject.source        # "as it is", <tokenizers.Tokenizer>

The flags are those of the paper's section 3.4 that a ``tokenizer.json`` has: whether a space is put before a
text, and whether characters without a token are written in bytes.  ``strip_accents`` is a flag of BERT's
normalizer, whose tokenizers the guard refuses.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import tokamata as tk
from tests.support.tokenizers.manifest_sources import tokenizer_of
from tests.support.tokenizers.real_tokenizers import own_tokenizer

AS_IT_IS = "as it is"


@dataclass(frozen=True)
class Subject:
    """One tokenizer.

    Attributes:
        name: what tables call it.
        flags: which flag was changed.
        source: an object of its own package.
    """

    name: str
    flags: str
    source: Any

    @cached_property
    def vocabulary(self) -> tk.Vocabulary:
        """Its tokens."""
        return tk.Vocabulary.load(self.source, stop=())


def subjects(name: str, file: Path | None = None, with_flags: bool = False) -> Iterator[Subject]:
    """A tokenizer as it is; then, if wanted, with each of its flags changed.

    Args:
        name: one of ``tests/support/tokenizers/manifest_sources.NAMES``, or any name with a file.
        file: its file, if it is not one of these.
        with_flags: whether to change flags.
    """
    source = file or tokenizer_of(name)
    path = source if isinstance(source, Path) else None
    yield Subject(name, AS_IT_IS, source if path is None else _live(path))
    if with_flags and path is not None and path.suffix == ".json" and "tekken" not in name:
        for flag, change in _FLAGS.items():
            document = json.loads(path.read_bytes())
            if (value := change(document)) is not None:
                yield Subject(name, f"{flag}={value}", _of_document(document))


def _live(path: Path) -> Any:
    if path.suffix == ".json" and "tekken" in path.name:
        from mistral_common.tokens.tokenizers.tekken import Tekkenizer

        return Tekkenizer.from_file(path)
    if path.suffix == ".json":
        return own_tokenizer(path)
    from sentencepiece import SentencePieceProcessor

    return SentencePieceProcessor(model_file=str(path))


def _of_document(document: dict[str, Any]) -> Any:
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_str(json.dumps(document))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer


def _space(document: dict[str, Any]) -> str | None:
    """Changes whether a space is put before a text; the new value, or ``None`` without such a flag."""
    parts = [document["normalizer"], document["pre_tokenizer"]]
    while parts:
        part = parts.pop()
        if part is None:
            continue
        parts += part.get("normalizers") or part.get("pretokenizers") or []
        if part["type"] == "ByteLevel":
            part["add_prefix_space"] = not part["add_prefix_space"]
            return str(part["add_prefix_space"])
        if part["type"] == "Metaspace":
            scheme = "always" if part["prepend_scheme"] == "never" else "never"
            for one in (part, document["decoder"]):
                one["prepend_scheme"] = scheme
            return scheme
        if part["type"] == "Prepend":  # as transformers does, with what the decoder takes away
            document["normalizer"]["normalizers"].remove(part)
            decoders = document["decoder"]["decoders"]
            document["decoder"]["decoders"] = [one for one in decoders if one["type"] != "Strip"]
            return "False"
    return None


def _byte_fallback(document: dict[str, Any]) -> str | None:
    model = document["model"]
    if "<0x0A>" not in model["vocab"]:
        return None
    model["byte_fallback"] = not model["byte_fallback"]
    return str(model["byte_fallback"])


_FLAGS: dict[str, Callable[[dict[str, Any]], str | None]] = {
    "add_prefix_space": _space,
    "byte_fallback": _byte_fallback,
}
