"""Lattices take the segmentation that both hosts take, bit for bit.

The campaigns are ``fuzz/fuzz_unigram_hosts.py``: model files, and random models for as long as one likes.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator

import pytest
import sentencepiece
from tokenizers import Tokenizer, models, trainers

from fuzz import fuzz_unigram_hosts
from tests.support.tokenizers.trained_sentence_piece import trained
from tests.support.tokenizers.unigram_models import (
    NORMAL,
    UNKNOWN,
    USER_DEFINED,
    Judged,
    Piece,
    model_file,
    random_hugging_face,
    random_sentence_piece,
    random_text,
)
from tokamata.tokenization.adversarial_texts import CORPUS
from tokamata.tokenization.lattice import Lattice, UnigramModel

UNKNOWN_PIECE: Piece = ("<unk>", 0.0, UNKNOWN)


def best(model: UnigramModel, text: str) -> list[int]:
    return list(Lattice(model, text).best().ids)


def hugging_face(vocab: list[tuple[str, float]], byte_fallback: bool = False) -> Judged:
    own = Tokenizer(models.Unigram(vocab, 0, byte_fallback))
    model = UnigramModel.hugging_face(vocab, 0, byte_fallback)
    return Judged(model, lambda text: list(own.encode(text).ids), "", ())


def sentence_piece(pieces: list[Piece]) -> Judged:
    data = model_file([UNKNOWN_PIECE, *pieces])
    own = sentencepiece.SentencePieceProcessor(model_proto=data)
    return Judged(UnigramModel.from_sentence_piece(data), own.encode, "", ())


@pytest.mark.parametrize("made", [random_hugging_face, random_sentence_piece])
def test_random_models(made: Callable[[random.Random], Judged]) -> None:
    """With ties, rounding, positive and large scores, unknown characters, bytes, user-defined pieces."""
    draw = random.Random(20261128)
    for _ in range(60):
        judged = made(draw)
        for number in range(25):
            text = random_text(draw, judged, 300 if number == 0 else 40)
            assert best(judged.model, text) == judged.encode(text), (judged.made_of, text)


def test_the_campaign() -> None:
    tally = fuzz_unigram_hosts.run(seconds=0.5, seed=3)
    assert tally.texts > tally.models > 0


def texts(count: int, seed: int) -> Iterator[str]:
    draw = random.Random(seed)
    for _ in range(count):
        text = draw.choice(CORPUS) + draw.choice(CORPUS)
        at = draw.randrange(len(text))
        yield text[at : at + draw.randrange(1, 80)]


@pytest.mark.parametrize("byte_fallback", [False, True])
def test_a_trained_sentence_piece_model(byte_fallback: bool) -> None:
    written = trained(
        [text for text in CORPUS if text.isascii()],
        model_type="unigram",
        vocab_size=500 if byte_fallback else 250,
        character_coverage=0.995,
        byte_fallback=byte_fallback,
        user_defined_symbols=["<tool>", '"', "xx", "xxx", "{"],
    )
    own = sentencepiece.SentencePieceProcessor(model_proto=written)
    model = UnigramModel.from_sentence_piece(written)
    for text in [*texts(700, 1), 'b": "xxxxx"}', "<tool>xxxx<tool>"]:
        assert best(model, own.normalize(text)) == own.encode(text), text


def test_a_trained_hugging_face_model() -> None:
    own = Tokenizer(models.Unigram())
    own.train_from_iterator(
        CORPUS, trainers.UnigramTrainer(vocab_size=1500, unk_token="<unk>", special_tokens=["<unk>"])
    )
    model = UnigramModel.from_tokenizer_json(json.loads(own.to_str()))
    for text in texts(1000, 2):
        assert best(model, text) == own.encode(text).ids, text


# ---- what the two do that one would not guess --------------------------------------------------


def test_differences_of_sums_decide_otherwise_in_float64() -> None:
    """``ab`` is as good as ``a b`` by 0.1 + 0.2 = 0.3; what comes before decides how that is rounded."""
    judged = hugging_face([("<unk>", -5.0), ("a", -0.1), ("b", -0.2), ("ab", -0.3), ("c", -0.7)])
    for before, after in ((0, [3]), (10, [3]), (11, [1, 2])):
        text = "c" * before + "ab"
        assert judged.encode(text) == best(judged.model, text) == [4] * before + after


def test_differences_of_sums_decide_otherwise_in_float32() -> None:
    pieces: list[Piece] = [
        ("a", -0.1, NORMAL),
        ("b", -0.2, NORMAL),
        ("ab", -0.3, NORMAL),
        ("c", -0.1, NORMAL),
    ]
    judged = sentence_piece(pieces)
    for before, after in ((0, [3]), (3, [3]), (4, [1, 2]), (5, [3])):
        text = "c" * before + "ab"
        assert judged.encode(text) == best(judged.model, text) == [4] * before + after


def test_the_hosts_differ() -> None:
    """One text, the same float32 scores, two segmentations: by the type of the sums."""
    pieces: list[Piece] = [("a", -0.1, NORMAL), ("b", -0.2, NORMAL), ("ab", -0.3, NORMAL)]
    own = sentencepiece.SentencePieceProcessor(model_proto=model_file([UNKNOWN_PIECE, *pieces]))
    one = sentence_piece(pieces)
    other = hugging_face([(own.id_to_piece(token), own.get_score(token)) for token in range(4)])
    assert best(one.model, "ab") == one.encode("ab") == [3]
    assert best(other.model, "ab") == other.encode("ab") == [1, 2]


def test_user_defined_pieces_of_sentence_piece() -> None:
    """0.1 · (bytes - 1), whatever score they have; so two of one byte and one of two bytes differ by 0.1."""
    judged = sentence_piece([("x", -3.0, NORMAL), ("xx", 9.0, USER_DEFINED), ("é", -1.0, USER_DEFINED)])
    assert judged.model.scores.tolist()[1:] == [-3.0, 0.10000000149011612, 0.10000000149011612]
    for text in ("x", "xx", "xxx", "xxxx", "xéxxéx"):
        assert best(judged.model, text) == judged.encode(text)


def test_long_texts_of_sentence_piece() -> None:
    """Beyond ±100,000 the sum is subtracted from all; without that, float32 would lose the last places."""
    for score in (-25.0, 25.0):
        pieces: list[Piece] = [("a", score, NORMAL), ("b", score - 0.01, NORMAL), ("ab", 2 * score, NORMAL)]
        judged = sentence_piece([*pieces, ("ba", 2 * score - 0.02, NORMAL)])
        draw = random.Random(5)
        text = "".join(draw.choices("ab", k=12_000))
        lattice = Lattice(judged.model, text)
        assert list(lattice.best().ids) == judged.encode(text)
        assert len(lattice._host_best.resets) == 2
        assert next(lattice.n_best()) == lattice.best()


def test_joined_unknown_characters_of_hugging_face_may_be_a_piece() -> None:
    judged = hugging_face([("<unk>", 0.0), ("a", 30.0), ("xy", 30.0)])
    assert judged.encode("xya") == best(judged.model, "xya") == [2, 1]
    lattice = Lattice(judged.model, "xya")
    assert {tuple(arc.token for arc in way.arcs): way.ids for way in lattice.n_best()} == {
        (2, 1): (2, 1),
        (0, 0, 1): (2, 1),  # two unknown characters, and their text is a piece
    }


def test_the_text_of_the_unknown_piece() -> None:
    """Hugging Face finds it in a text; SentencePiece does not."""
    by_bytes = [(f"<0x{byte:02X}>", -9.0) for byte in range(256)]
    for byte_fallback in (False, True):
        judged = hugging_face([("<unk>", -1.0), ("a", -1.0), *by_bytes * byte_fallback], byte_fallback)
        for text in ("<unk>", "a<unk>a", "<unk>!", "<unk><unk>", "!<unk", "<0x41>"):
            assert best(judged.model, text) == judged.encode(text), text
    assert [arc.end for arc in Lattice(judged.model, "<unk>").best().arcs] == [5]
    other = sentence_piece([("a", -1.0, NORMAL)])
    assert best(other.model, "a<unk>a") == other.encode("a<unk>a") == [1, 0, 1]


def test_empty_texts() -> None:
    for judged in (hugging_face([("<unk>", 0.0)]), sentence_piece([("a", -1.0, NORMAL)])):
        lattice = Lattice(judged.model, "")
        assert lattice.best().arcs == () == lattice.best().ids
        assert len(list(lattice.n_best())) == 1
        assert lattice.log_partition() == 0.0
