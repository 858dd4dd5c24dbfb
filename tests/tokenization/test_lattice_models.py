"""Reading Unigram models: what the hosts refuse is refused, and what they accept is as they have it."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import sentencepiece
from tokenizers import Tokenizer, models

from tests.support.tokenizers.unigram_models import (
    BYTE,
    CONTROL,
    NORMAL,
    UNKNOWN,
    UNUSED,
    USER_DEFINED,
    Piece,
    model_file,
)
from tokamata.errors import ArgumentError, UnigramModelError, VocabularyError
from tokamata.tokenization.lattice import Lattice, UnigramModel
from tokamata.tokenization.pipelines import json_floats

VOCAB: list[tuple[str, float]] = [("<unk>", 0.0), ("a", -1.0), ("ab", -1.5)]
PIECES: list[Piece] = [("<unk>", 0.0, UNKNOWN), ("a", -1.0, NORMAL)]
NAN, INFINITE = float("nan"), float("inf")
BYTES: list[Piece] = [(f"<0x{byte:02X}>", 0.0, BYTE) for byte in range(256)]


@pytest.mark.parametrize(
    ("make", "piece", "words"),
    [
        (lambda: UnigramModel.hugging_face([*VOCAB, ("b", NAN)], 0), 3, "nan"),
        (lambda: UnigramModel.hugging_face([*VOCAB, ("b", -INFINITE)], 0), 3, "-inf"),
        (lambda: UnigramModel.hugging_face([*VOCAB, ("b", 1e300)], 0), 3, "1e+300"),
        (lambda: UnigramModel.hugging_face([*VOCAB, ("b", 10**400)], 0), 3, "inf"),
        (lambda: UnigramModel.hugging_face([*VOCAB, ("b", "x")], 0), 3, "'x'"),
        (lambda: UnigramModel.hugging_face([*VOCAB, ("\ud800", -1.0)], 0), 3, "surrogate"),
        (lambda: UnigramModel.hugging_face([*VOCAB, (b"b", -1.0)], 0), 3, "text with a score"),
        (lambda: UnigramModel.hugging_face([*VOCAB, "b"], 0), 3, "text with a score"),
        (lambda: UnigramModel.hugging_face(VOCAB, None), None, "unknown piece"),
        (lambda: UnigramModel.hugging_face([], None), None, "unknown piece"),
        (lambda: UnigramModel.hugging_face([], 0), None, "unknown piece"),
        (lambda: UnigramModel.hugging_face(VOCAB, 0, True), None, "256 of the 256 byte pieces"),
        (lambda: UnigramModel.sentence_piece([*PIECES, ("b", NAN, NORMAL)]), 2, "nan"),
        (lambda: UnigramModel.sentence_piece([*PIECES, ("b", INFINITE, UNUSED)]), 2, "inf"),
        (lambda: UnigramModel.sentence_piece([*PIECES, ("", -1.0, NORMAL)]), 2, "text ''"),
        (lambda: UnigramModel.sentence_piece([*PIECES, ("a\0", -1.0, NORMAL)]), 2, "NUL"),
        (lambda: UnigramModel.sentence_piece([*PIECES, ("b" * 8000, -1.0, NORMAL)]), 2, "7,999 bytes"),
        (lambda: UnigramModel.sentence_piece([*PIECES, ("a", -2.0, USER_DEFINED)]), 2, "piece 1 already"),
        (lambda: UnigramModel.sentence_piece(PIECES[1:]), None, "unknown piece"),
        (lambda: UnigramModel.sentence_piece([*PIECES, ("<u>", 0.0, UNKNOWN)]), None, "one unknown piece"),
        (lambda: UnigramModel.sentence_piece(PIECES[:1]), None, "no piece is normal"),
        (lambda: UnigramModel.sentence_piece([*PIECES, BYTES[5]]), None, "255 of the 256"),
        (lambda: UnigramModel.from_tokenizer_json({"model": {"type": "BPE", "vocab": {}}}), None, "Unigram"),
        (lambda: UnigramModel.from_tokenizer_json({"model": {"type": "BPE", "vocab": []}}), None, "'BPE'"),
        (lambda: UnigramModel.from_tokenizer_json({}), None, "no Unigram model"),
        (lambda: UnigramModel.from_sentence_piece(model_file(PIECES, kind=2)), None, "type BPE"),
    ],
)
def test_refused_models(make: Callable[[], Any], piece: int | None, words: str) -> None:
    with pytest.raises(UnigramModelError) as caught:
        make()
    assert caught.value.piece == piece
    assert words in str(caught.value)
    assert isinstance(caught.value, (VocabularyError, ValueError))


@pytest.mark.parametrize(
    "make",
    [
        lambda: UnigramModel.hugging_face(5, 0),  # type: ignore[arg-type]
        lambda: UnigramModel.hugging_face(VOCAB, 3),
        lambda: UnigramModel.hugging_face(VOCAB, -1),
        lambda: UnigramModel.hugging_face(VOCAB, "0"),  # type: ignore[arg-type]
        lambda: UnigramModel.hugging_face(VOCAB, 0, "no"),  # type: ignore[arg-type]
        lambda: UnigramModel.sentence_piece("ab"),  # type: ignore[arg-type]
        lambda: UnigramModel.sentence_piece([*PIECES, ("b", 0.0, 7)]),
    ],
)
def test_arguments_of_the_wrong_type(make: Callable[[], Any]) -> None:
    with pytest.raises(ArgumentError):
        make()


def test_sentence_piece_refuses_the_same() -> None:
    for more in (
        [("b", NAN, NORMAL)],
        [("a", -2.0, USER_DEFINED)],
        [("", -1.0, NORMAL)],
        [("<u>", 0.0, UNKNOWN)],
    ):
        with pytest.raises(RuntimeError):
            sentencepiece.SentencePieceProcessor(model_proto=model_file([*PIECES, *more]))
        with pytest.raises(UnigramModelError):
            UnigramModel.from_sentence_piece(model_file([*PIECES, *more]))


def test_equal_and_empty_pieces_are_as_hugging_face_has_them() -> None:
    """The last of equal pieces counts, but the least score is that of all; an empty one occurs nowhere."""
    vocab = [("<unk>", 0.0), ("a", -9.0), ("", -50.0), ("a", -1.0), ("aa", -2.5)]
    own = Tokenizer(models.Unigram(vocab, 0, False))
    model = UnigramModel.hugging_face(vocab, 0)
    assert model.unknown_score == -60.0
    for text in ("a", "aa", "aaa", "xax"):
        assert list(Lattice(model, text).best().ids) == own.encode(text).ids
    assert own.encode("aa").ids == [3, 3]


def test_positive_scores_are_taken() -> None:
    vocab = [("<unk>", 0.0), ("a", 1.0), ("aa", 1.5)]
    own = Tokenizer(models.Unigram(vocab, 0, False))
    assert (
        list(Lattice(UnigramModel.hugging_face(vocab, 0), "aaa").best().ids)
        == own.encode("aaa").ids
        == [1] * 3
    )


def test_control_and_unused_pieces_are_in_no_lattice() -> None:
    pieces = [*PIECES, ("<s>", 5.0, CONTROL), ("aa", 5.0, UNUSED), ("b", 5.0, UNUSED), *BYTES]
    data = model_file(pieces)
    own, model = (
        sentencepiece.SentencePieceProcessor(model_proto=data),
        UnigramModel.from_sentence_piece(data),
    )
    assert model.pieces == tuple(text for text, _, _ in pieces)
    for text in ("aa", "<s>a", "b", "<0x41>"):
        assert list(Lattice(model, text).best().ids) == own.encode(text)


def test_files(tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    own = Tokenizer(models.Unigram(VOCAB, 0, False))
    own.save(str(path))
    for source in (path, str(path), json.loads(path.read_text(encoding="utf-8"))):
        model = UnigramModel.from_tokenizer_json(source)
        assert (model.pieces, model.unknown, model.byte_tokens) == (("<unk>", "a", "ab"), 0, None)
    path.write_text('{"model"', encoding="utf-8")
    with pytest.raises(VocabularyError, match="not JSON"):
        UnigramModel.from_tokenizer_json(path)
    with pytest.raises(FileNotFoundError):
        UnigramModel.from_tokenizer_json(tmp_path / "none.json")
    path = tmp_path / "spiece.model"
    path.write_bytes(model_file([*PIECES, *BYTES]))
    model = UnigramModel.from_sentence_piece(path)
    assert model.byte_tokens == tuple(range(2, 258))
    with pytest.raises(VocabularyError, match="damaged"):
        UnigramModel.from_sentence_piece(path.read_bytes()[:-3])


def written(vocab: list[str]) -> str:
    """A ``tokenizer.json`` whose pieces a, b and so on have these numbers."""
    pieces = ",".join(f'["{chr(ord("a") + place)}",{number}]' for place, number in enumerate(vocab))
    return f'{{"version":"1.0","added_tokens":[],"model":{{"type":"Unigram","unk_id":0,"vocab":[{pieces}]}}}}'


def random_number(draw: random.Random) -> str:
    """A JSON number that is no larger than 10^30 or so."""
    digits = "".join(draw.choices("0123456789", k=draw.choice([1, 5, 16, 17, 18, 19, 20, 21, 30])))
    whole = draw.choice(["0", "1", "12", str(draw.randrange(10**18, 10**22))])
    exponent = draw.choice(["", "", "e-3", "E+2", "e-310", f"e-{draw.randrange(10**12)}"])
    return draw.choice(["-", ""]) + draw.choice(
        [
            f"{whole}.{digits}{exponent}",
            f"{whole}{exponent}",
            repr(10 * draw.random()),
            f"0.{'0' * 300}{digits}",
        ]
    )


def test_numbers_of_a_file_are_those_of_hugging_face_s_reader() -> None:
    """It rounds twice: the digits to a float, and that over a power of ten."""
    draw = random.Random(1)
    different = 0
    for _ in range(60):
        numbers = [random_number(draw) for _ in range(40)]
        theirs = json.loads(Tokenizer.from_str(written(numbers)).to_str())["model"]["vocab"]
        ours = json_floats.loads(written(numbers))["model"]["vocab"]
        assert [float(score) for _, score in ours] == [score for _, score in theirs], numbers
        different += sum(float(number) != score for number, (_, score) in zip(numbers, theirs, strict=True))
    assert different > 100
    assert json_floats.loads("[-3.9131507873535156, 7, 1e400, -0]") == [-3.913150787353515, 7, INFINITE, 0]


def test_such_a_number_decides_a_text(tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    text = written(["-9.0", "-3.9131507873535156", "-1.0"]).replace('"c",-1.0', '"bb",-7.826301574707031')
    path.write_text(text, encoding="utf-8")
    own = Tokenizer.from_file(str(path))
    assert (
        list(Lattice(UnigramModel.from_tokenizer_json(path), "bb").best().ids)
        == own.encode("bb").ids
        == [1, 1]
    )
    assert Lattice(UnigramModel.from_tokenizer_json(json.loads(text)), "bb").best().ids == (2,)


def test_damaged_files_are_refused_by_name() -> None:
    data = model_file([*PIECES, ("漢", -2.0, NORMAL)])
    for at in range(len(data)):
        for value in (0, 0x7F, 0xFF, data[at] ^ 1):
            changed = data[:at] + bytes([value]) + data[at + 1 :]
            try:
                model = UnigramModel.from_sentence_piece(changed)
            except (VocabularyError, ArgumentError):
                continue
            Lattice(model, "a漢b").best()
