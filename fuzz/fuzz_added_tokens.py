"""Sequences with added tokens, by the tables and by the tokenizer's own program.

    python -m fuzz.fuzz_added_tokens --seconds 3600 --seed 1

Small random tokenizers whose added tokens depend on the text beside them: those of `tokenizers` with
``single_word``, ``lstrip``, ``rstrip`` and ``normalized``, overlapping as they may; and SentencePiece models
with user-defined pieces, where spaces are added or removed and characters are replaced.  A sequence of tokens
is canonical by the tables if, and only if, the program encodes its text to it.
"""

from __future__ import annotations

import itertools
import json
import random
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tokamata as tk
from fuzz import timed
from tests.support.tokenizers.random_tokenizers import random_tokenizer
from tests.support.tokenizers.trained_sentence_piece import trained
from tokamata.tokenization.canonical import tokenization_of

Tokens = tuple[int, ...]
_Encode = Callable[[str], list[int]]

_CONTENTS = ["<m>", "ab", "aab", "abb", "bab", "abab", "ab-", "-ab", "a-b", "a", "b", "-", "--", "a-", "-a"]
_CONTENTS += ["<a", "a>", "ba<", " <", "> ", "a b", " ", "b ", "<>", "\xe9"]
_PIECES = [
    "<u>",
    "<u",
    "u>",
    "▁<u>",
    "▁a",
    "b▁",
    "▁b▁",
    "▁",
    "▁▁",
    "▁▁a",
    "ab",
    "aa",
    "a",
    "\xe9",
    "a\xe9",
    "e",
]
_PIECES += ["\u0301", "\u2460"]
_RULES = ["61 20 3C\t78", "65\t62", "61 62\t63", "62 3C\t61", "3E 61\t62"]


@dataclass
class Tally(timed.Tally):
    """Tokenizers that were refused, and compared; sequences, and those of them that are canonical."""

    refused: int = 0
    compared: int = 0
    sequences: int = 0
    canonical: int = 0


@dataclass
class Case:
    """A tokenizer, the texts of its added tokens, and what its texts are made of."""

    vocabulary: tk.Vocabulary
    encode: _Encode
    added: dict[int, str]
    letters: list[str]
    made_of: Any

    def texts(self, draw: random.Random) -> Iterator[str]:
        """Random texts, of letters and of the texts of added tokens."""
        parts = self.letters + list(self.added.values()) * 2
        for _ in range(600):
            yield "".join(draw.choices(parts, k=draw.randint(1, 7)))

    def is_canonical(self, tokens: Tokens) -> bool | None:
        """What the program says; ``None`` if a control token begins a text, and the text gets a space."""
        first = self.vocabulary.start_tokens() or self.vocabulary.tokens
        own = [(first if at == 0 else self.vocabulary.tokens)[token] for at, token in enumerate(tokens)]
        if None in own and first is not self.vocabulary.tokens:
            return None
        parts = [
            self.added[token].encode() if text is None else text
            for token, text in zip(tokens, own, strict=True)
        ]
        try:
            return tuple(self.encode(b"".join(parts).decode())) == tokens
        except UnicodeDecodeError:
            return False


def hugging_face(draw: random.Random) -> Case:
    """A tokenizer of `tokenizers`."""
    from tokenizers import Tokenizer

    alphabets = ["ab ", "ab<", "a<> ", "ab-\n", "a\xe9 -"]
    tokenizer, alphabet = random_tokenizer(draw.randrange(1 << 32), alphabets)
    document = json.loads(tokenizer.to_str())
    vocab = document["model"]["vocab"]
    entries = [entry for entry in document["added_tokens"] if entry["content"] == "<unk>"]
    free = len(vocab)
    for content in draw.sample(_CONTENTS, draw.randint(1, 4)):
        token = vocab.get(content, free)
        free += token == free
        flags = {"lstrip": draw.random() < 0.2, "rstrip": draw.random() < 0.2}
        flags |= {"single_word": draw.random() < 0.7, "normalized": draw.random() < 0.3}
        entries.append({"id": token, "content": content, "special": draw.random() < 0.4, **flags})
    document["added_tokens"] = entries
    made = Tokenizer.from_str(json.dumps(document))
    added = {entry["id"]: entry["content"] for entry in entries if entry["content"] != "<unk>"}
    letters = sorted({*alphabet, *"".join(added.values())})

    def encode(text: str) -> list[int]:
        ids: list[int] = made.encode(text, add_special_tokens=False).ids
        return ids

    return Case(tk.Vocabulary.load(made, stop=()), encode, added, letters, entries)


def sentence_piece(draw: random.Random) -> Case:
    """A model of SentencePiece with user-defined pieces."""
    from sentencepiece import SentencePieceProcessor

    letters = draw.choice(["ab ", "abe\u0301 ", "ab<> ", "a\xe9 "])
    pieces = draw.sample(_PIECES, draw.randint(1, 4))
    fallback = draw.random() < 0.3
    options: dict[str, Any] = {
        "user_defined_symbols": pieces,
        "model_type": "bpe",
        "add_dummy_prefix": draw.random() < 0.6,
        "remove_extra_whitespaces": draw.random() < 0.5,
        "byte_fallback": fallback,
        "character_coverage": 1.0,
        "vocab_size": draw.choice([12, 16, 22, 30]) + len(pieces) + 256 * fallback,
        "normalization_rule_name": draw.choice(["identity", "identity", "identity", "nmt_nfkc", "nfkc"]),
    }
    sentences = ["".join(draw.choices(letters, k=draw.randint(3, 14))) for _ in range(60)]
    with tempfile.TemporaryDirectory() as folder:
        if draw.random() < 0.2:
            del options["normalization_rule_name"]
            file = Path(folder, "rules.tsv")
            file.write_text(draw.choice(_RULES) + "\n")
            options["normalization_rule_tsv"] = str(file)
        processor = SentencePieceProcessor(model_proto=trained(sentences, **options))
    added = {processor.piece_to_id(piece): piece.replace("▁", " ") for piece in pieces}
    vocabulary = tk.Vocabulary.load(processor, stop=())
    both = sorted({*letters, *"".join(added.values())})
    return Case(vocabulary, processor.encode, added, both, options)


def check(case: Case, draw: random.Random, tally: Tally) -> None:
    """Compares the tables of a tokenizer with its program."""
    tables = tokenization_of(case.vocabulary)
    sequences = [tuple(case.encode(text)) for text in case.texts(draw)]
    known = sorted({token for tokens in sequences for token in tokens} | set(case.added))
    written = [token for token in known if case.vocabulary.tokens[token] is not None or token in case.added]
    sequences += list(itertools.product(written, repeat=2))[:900]
    sequences += [tuple(draw.choices(written, k=draw.randint(3, 6))) for _ in range(400)]
    for tokens in sequences:
        if not tokens or not set(tokens) <= set(written):
            continue
        theirs = case.is_canonical(tokens)
        if theirs is None:
            continue
        tally.sequences += 1
        tally.canonical += theirs
        assert (tables.first_noncanonical(list(tokens)) is None) == theirs, tokens


def run(seconds: float, seed: int) -> Tally:
    """Fuzzes for so long; returns what was done."""
    tally = Tally()
    for turn in timed.turns(seconds):
        draw = random.Random(f"{seed} {turn}")
        case = draw.choice([hugging_face, hugging_face, sentence_piece])(draw)
        with timed.naming(f"--seed {seed}, turn {turn}", case.made_of):
            try:
                check(case, draw, tally)
                tally.compared += 1
            except tk.UnsupportedTokenizerError:
                tally.refused += 1
    return tally


if __name__ == "__main__":
    timed.main(__doc__, run)
