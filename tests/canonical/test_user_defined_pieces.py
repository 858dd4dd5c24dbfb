"""SentencePiece's user-defined pieces where spaces or characters change, against its own program."""

from __future__ import annotations

import itertools
import random
import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import tokamata as tk
from tests.support.masks import bits
from tests.support.texts import all_texts
from tests.support.tokenizers.exhaustive_cases import Case, at
from tests.support.tokenizers.trained_sentence_piece import trained
from tokamata import guard
from tokamata.tokenization.canonical import tokenization_of

_PIECES = {
    "names": ["<u>", "<", "ab", "é"],
    "spaces": ["▁a", "b▁", "▁<▁", "▁▁"],
    "a space": ["▁", "<u>", "▁▁b"],
}
_SPACES = [(True, True), (True, False), (False, True), (False, False)]  # added, removed


@cache
def _model(pieces: tuple[str, ...], **options: Any) -> bytes:
    draw = random.Random(7)
    sentences = ["".join(draw.choices("ab e\u0301<", k=12)) for _ in range(60)]
    settings = {"model_type": "bpe", "character_coverage": 1.0, "vocab_size": 20 + len(pieces)} | options
    return trained(sentences, user_defined_symbols=list(pieces), **settings)


def _loaded(pieces: list[str], **options: Any) -> tuple[Any, tk.Vocabulary]:
    processor_of = pytest.importorskip("sentencepiece").SentencePieceProcessor
    processor = processor_of(model_proto=_model(tuple(pieces), **options))
    return processor, tk.Vocabulary.load(processor, stop=())


def _spelled(vocabulary: tk.Vocabulary, tokens: tuple[int, ...]) -> str | None:
    first = vocabulary.start_tokens() or vocabulary.tokens
    parts = [first[tokens[0]], *(vocabulary.tokens[token] for token in tokens[1:])]
    return None if None in parts else b"".join(part or b"" for part in parts).decode("utf-8", "replace")


_SETTINGS = [
    (name, "identity", spaces)
    for name in _PIECES
    for spaces in _SPACES
    if name != "a space" or spaces != (True, False)
] + [("names", ("nfkc", "nmt_nfkc")[number % 2], spaces) for number, spaces in enumerate(_SPACES)]


@pytest.mark.parametrize(("name", "rule", "spaces"), _SETTINGS)
def test_short_sequences(name: str, rule: str, spaces: tuple[bool, bool]) -> None:
    processor, vocabulary = _loaded(
        _PIECES[name],
        normalization_rule_name=rule,
        add_dummy_prefix=spaces[0],
        remove_extra_whitespaces=spaces[1],
    )
    tables = tokenization_of(vocabulary)
    letters = "ab <u>" if rule == "identity" else "ae\u0301 <"
    texts = all_texts(letters, 3, 1) + [
        f"{a}<u>{b}" for a in all_texts(letters, 1) for b in all_texts(letters, 1)
    ]
    encoded = [tuple(processor.encode(text)) for text in texts]
    own = [processor.piece_to_id(piece) for piece in (*_PIECES[name], "▁", "a", "▁b")]
    sequences = {*encoded, *itertools.product(own, repeat=2), *itertools.product(own, repeat=3)} - {()}
    count = {True: 0, False: 0}
    for tokens in sequences:
        text = _spelled(vocabulary, tokens)
        theirs = text is not None and tuple(processor.encode(text)) == tokens
        count[theirs] += 1
        assert (tables.first_noncanonical(list(tokens)) is None) == theirs, (text, tokens)
    assert min(count.values()) > 20


@pytest.mark.parametrize("spaces", _SPACES)
def test_masks(spaces: tuple[bool, bool]) -> None:
    """Everything that follows in a canonical text of a pattern, and nothing else."""
    settings = {"add_dummy_prefix": spaces[0], "remove_extra_whitespaces": spaces[1]}
    processor, vocabulary = _loaded(_PIECES["spaces"], normalization_rule_name="identity", **settings)
    for pattern in ("[ab <]{0,4}", "a?(?: <|b )*(?: a)?", " {0,2}(?:ab|b a)? ?"):
        bounded = f"(?=[ab <]{{0,4}}\\Z)(?:{pattern})"
        encoded = {
            text: tuple(processor.encode(text))
            for text in all_texts("ab <", 4)
            if re.fullmatch(bounded, text)
        }
        sequences = {
            tokens for text, tokens in encoded.items() if not tokens or _spelled(vocabulary, tokens) == text
        }
        case = Case(vocabulary, tk.regex(bounded), frozenset(sequences))
        start = case.matcher()
        assert start is not None
        for place, following in case.following.items():
            matcher = at(start, place)
            assert bits(matcher.mask) == following, (pattern, place)
            assert matcher.is_accepting == (place in case.sequences), (pattern, place)
            assert len(matcher.shortest_completion()) == min(map(len, case.rests(place)))


def test_which_are_refused(tmp_path: Path) -> None:
    def refused(*pieces: str, **options: Any) -> str:
        _, vocabulary = _loaded(list(pieces), **options)
        with pytest.raises(tk.UnsupportedTokenizerError) as caught:
            tokenization_of(vocabulary)
        return caught.value.reason

    assert "'▁' is the space that is put before a text" in refused(
        "▁", normalization_rule_name="identity", remove_extra_whitespaces=False
    )
    assert "'▁a' has a space, and the model has a charsmap" in refused("▁a", normalization_rule_name="nfkc")
    assert "'\u0301' may be found in" in refused("\u0301", normalization_rule_name="nfkc")
    rules = tmp_path / "rules.tsv"
    rules.write_text("65 3C\t63\n")  # e< becomes c
    assert "'<u>' may be found in 'e<'" in refused("<u>", normalization_rule_tsv=str(rules))


def test_a_key_that_begins_in_a_piece(tmp_path: Path) -> None:
    """The piece is found before, so that the key is not."""
    rules = tmp_path / "rules.tsv"
    rules.write_text("3E 62\t61\n")  # >b becomes a
    processor, vocabulary = _loaded(["<u>"], normalization_rule_tsv=str(rules))
    tables = tokenization_of(vocabulary)
    assert processor.decode(processor.encode("<u>b")) == "<u>b"
    assert tables.first_noncanonical(processor.encode("<u>b")) is None
    assert processor.decode(processor.encode(">b")) == "a"
    with pytest.raises((tk.NoncanonicalError, tk.UnspellableError)):
        tk.regex("a>b").compile(vocabulary, tokenization="canonical")


def test_the_guard_proves_nothing_of_these() -> None:
    processor, _ = _loaded(["<u>"], normalization_rule_name="identity", remove_extra_whitespaces=False)
    with pytest.raises(tk.UnsupportedTokenizerError, match="go on after user-defined pieces"):
        guard.boundary(processor, "<u>")
