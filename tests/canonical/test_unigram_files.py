"""Unigram models of a ``tokenizer.json``: what is read of them, and what is refused by name."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
from tokenizers import Tokenizer

import tokamata as tk
from tokamata.tokenization.pipelines.pipeline import Pipeline, Unigram
from tokamata.tokenization.pipelines.tokenizer_json import pipeline_from_tokenizer_json
from tokamata.tokenization.pipelines.unigram_scores import NO_PIECE
from tokamata.vocabulary.hugging_face import table_from_tokenizer_json

SIGN = "\u2581"
PIECES: list[list[Any]] = [
    ["<unk>", 0.0],
    ["<s>", 0.0],
    [SIGN, -2.0],
    ["a", -3.0],
    ["b", -3.5],
    [f"{SIGN}a", -2.5],
    ["ab", -4.0],
    ["a b", -1.0],
    ["<", -5.0],
    [">", -5.0],
]
BYTE_PIECES = [[f"<0x{byte:02X}>", 0.0] for byte in range(256)]


def document(
    pieces: list[list[Any]], names: tuple[str, ...] = ("<unk>", "<s>"), **model: Any
) -> dict[str, Any]:
    texts = [piece[0] for piece in pieces]
    flags = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)
    metaspace = {"type": "Metaspace", "replacement": SIGN, "prepend_scheme": "always", "split": True}
    decoder = {"type": "Sequence", "decoders": [metaspace, {"type": "ByteFallback"}]}
    return {
        "version": "1.0",
        "added_tokens": [
            {"id": texts.index(name), "content": name, "special": True, **flags} for name in names
        ],
        "normalizer": None,
        "pre_tokenizer": metaspace,
        "post_processor": None,
        "decoder": decoder if model.get("byte_fallback") else metaspace,
        "model": {"type": "Unigram", "unk_id": 0, "vocab": pieces, "byte_fallback": False, **model},
    }


def read(file: dict[str, Any]) -> Pipeline:
    tokens = table_from_tokenizer_json(file, "tokenizer.json").tokens
    return pipeline_from_tokenizer_json(file, list(tokens))


def model_of(file: dict[str, Any]) -> Unigram:
    model = read(file).model
    assert isinstance(model, Unigram)
    return model


def test_what_is_read() -> None:
    model = model_of(document(PIECES))
    scores = model.scores
    known = {token for token, score in enumerate(scores.whole.tolist()) if score != NO_PIECE}
    # The names of added tokens are cut out, and no text has a space where a sign is written for it.
    assert known == {2, 3, 4, 5, 6, 8, 9}
    assert scores.whole[5] == -2.5 * scores.units
    assert scores.unknown == -15.0
    assert model.byte_tokens == {}
    assert not model.lacks.any()
    assert not model.unknown[list(map(ord, " ab<>"))].any()
    assert model.unknown[[ord("c"), ord("\xe9")]].all()


def test_files_from_before_models_had_types() -> None:
    file = document(PIECES)
    del file["model"]["type"]
    assert model_of(file).scores.unknown == -15.0


def test_bytes_write_what_is_no_piece() -> None:
    file = document([*PIECES, *BYTE_PIECES], byte_fallback=True)
    pipeline = read(file)
    model = pipeline.model
    assert isinstance(model, Unigram)
    assert model.byte_tokens == {byte: len(PIECES) + byte for byte in range(256)}
    assert model.lacks[[ord("c"), ord("\xe9")]].all()
    assert not model.unknown.any()
    assert (model.scores.whole[len(PIECES) :] == NO_PIECE).all()
    assert [split.regex for split in pipeline.splits if not split.keeps_matches] == ["<0x[0-9A-F][0-9A-F]>"]


def test_a_model_without_the_unknown_token_writes_no_unknown_code_points() -> None:
    file = document([["cd", -1.0], *PIECES], unk_id=None)
    model = model_of(file)
    assert model.unknown[[ord("c"), ord("d")]].all()
    program = Tokenizer.from_str(json.dumps(file))
    with pytest.raises(Exception, match="unk_id"):
        program.encode("cd")
    fallback = document([*PIECES, *BYTE_PIECES], unk_id=None, byte_fallback=True)
    assert model_of(fallback).unknown[ord("c")]


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"vocab": [["a", float("nan")]]}, tk.VocabularyError, r"model\.vocab\[0\] is .*finite score"),
        ({"vocab": [["a", float("inf")]]}, tk.VocabularyError, r"model\.vocab\[0\] is .*finite score"),
        ({"vocab": [["a", True]]}, tk.VocabularyError, r"model\.vocab\[0\]"),
        ({"vocab": [["a", 10**400]]}, tk.VocabularyError, r"model\.vocab\[0\]"),
        ({"vocab": [["a"]]}, tk.VocabularyError, r"model\.vocab\[0\]"),
        ({"unk_id": 99}, tk.VocabularyError, r"model\.unk_id is 99; expected a piece, below 10"),
        ({"unk_id": -1}, tk.VocabularyError, r"model\.unk_id"),
        (
            {"vocab": [["<unk>", 0.0], ["<s>", 0.0], ["", -1.0]]},
            tk.UnsupportedTokenizerError,
            "piece 2 is empty",
        ),
        (
            {"vocab": [["<unk>", 0.0], ["<s>", 0.0], ["a", -1.0], ["a", -2.0]]},
            tk.UnsupportedTokenizerError,
            "pieces 2 and 3 are both 'a'",
        ),
        ({"vocab": [["<unk>", 11.0], ["<s>", 12.0]]}, tk.UnsupportedTokenizerError, "least score is 11"),
        (
            {"vocab": [*PIECES, ["ac", -1.0]]},
            tk.UnsupportedTokenizerError,
            "'c' is in pieces, and is no piece itself",
        ),
        (
            {"vocab": [*PIECES, ["a" * 300, -1.0]]},
            tk.UnsupportedTokenizerError,
            "its pieces are too long: up to 300 bytes",
        ),
    ],
)
def test_what_is_refused(change: dict[str, Any], error: type[tk.TokamataError], message: str) -> None:
    file = document(PIECES)
    file["model"].update(change)
    with pytest.raises(error, match=message):
        pipeline_from_tokenizer_json(file, [b"x"] * 20)


def test_control_pieces_that_are_not_cut_out() -> None:
    with pytest.raises(tk.UnsupportedTokenizerError, match="it may write '<unk>' for that text"):
        read(document(PIECES, names=("<s>",)))


def test_decoders_that_do_not_undo_the_sign() -> None:
    file = document(PIECES)
    file["decoder"] = {"type": "Fuse"}
    with pytest.raises(tk.UnsupportedTokenizerError, match="which is written otherwise") as caught:
        read(file)
    assert caught.value.part == "decoder"


def test_byte_level_is_refused() -> None:
    file = document(PIECES)
    file["pre_tokenizer"] = {"type": "ByteLevel", "add_prefix_space": False, "use_regex": True}
    with pytest.raises(tk.UnsupportedTokenizerError, match="ByteLevel before Unigram"):
        read(file)


def random_scores(draw: random.Random) -> dict[str, Any]:
    """A model with bytes, and pieces that share characters with their names."""
    parts = [*"<>0xAFab", *("".join(draw.choices("<>0xAFab", k=draw.randint(2, 5))) for _ in range(6))]
    pieces = [["<unk>", 0.0], [SIGN, -2.0]]
    pieces += [[text, -draw.choice([0.25, 1.0, 3.0, 9.0])] for text in dict.fromkeys(parts)]
    names = [name for name in BYTE_PIECES if not any(name[0] == text for text, _ in pieces)]
    score = draw.choice([0.0, -0.5, -6.0])
    return document([*pieces, *([name, score] for name, _ in names)], names=("<unk>",), byte_fallback=True)


def test_names_of_bytes_are_written_as_bytes_where_that_is_claimed() -> None:
    draw = random.Random(4)
    accepted = refused = 0
    for _ in range(60):
        file = random_scores(draw)
        try:
            read(file)
        except tk.UnsupportedTokenizerError as error:
            refused += "bytes" in error.reason or "byte" in error.reason
            continue
        accepted += 1
        program = Tokenizer.from_str(json.dumps(file))
        for _ in range(60):
            name = draw.choice(["<0x0A>", "<0xAF>", "<0xFF>", "<0x00>"])
            around = ["".join(draw.choices("<>0xAFab", k=draw.randrange(4))) for _ in range(2)]
            text = around[0] + name + around[1]
            assert name in program.encode(text).tokens, text
    assert accepted >= 5
    assert refused >= 5
