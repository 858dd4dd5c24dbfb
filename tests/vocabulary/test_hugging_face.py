"""tokenizer.json: every decoder against the package `tokenizers`, and what is refused."""

from __future__ import annotations

import itertools
import json
import random
from typing import Any

import pytest

from tests.support.tokenizers.small_tokenizers import (
    BYTE_FALLBACK,
    BYTE_LEVEL,
    FUSE,
    LLAMA_2,
    REPLACE,
    STRIP,
    added,
    document,
    sequence,
)
from tokamata.errors import VocabularyError
from tokamata.vocabulary import Vocabulary
from tokamata.vocabulary import hugging_face_decoder as decoders
from tokamata.vocabulary.hugging_face import table_from_tokenizer_json

# Texts that some decoder treats in its own way.
TEXTS = [
    *("a", " b", "▁", "▁▁a", "a▁b▁", "  c", "##x", "####y", "x##", "<0x41>", "<0x+5>", "<0xzz>", "<0x20>"),
    *("u</w>", "</w></w>q", "Ġthe", "é", "\xa0", "Ġ\xa0", "Ċ", "日本", "👩‍💻", "", "\n", "b ", "<s>", "|"),
]
VOCAB = {text: token for token, text in enumerate(TEXTS)}


def loaded(file: dict[str, Any]) -> Vocabulary:
    return Vocabulary(table_from_tokenizer_json(json.loads(json.dumps(file)), "tokenizer.json"))


def metaspace(**fields: Any) -> dict[str, Any]:
    return {"type": "Metaspace", "replacement": "▁", **fields}


DECODERS = {
    "none": None,
    "empty sequence": sequence(),
    "fuse": FUSE,
    "byte level": BYTE_LEVEL,
    "byte level in a sequence": sequence(sequence(BYTE_LEVEL), FUSE),
    "replace": REPLACE,
    "replace longer": {"type": "Replace", "pattern": {"String": "a▁"}, "content": "--"},
    "byte fallback": BYTE_FALLBACK,
    "gemma": sequence(REPLACE, BYTE_FALLBACK, FUSE),
    "llama 2": LLAMA_2,
    "strip nothing": sequence(REPLACE, FUSE, {"type": "Strip", "content": " ", "start": 0, "stop": 0}),
    "strip each token": sequence(REPLACE, STRIP, FUSE),
    "strip two of each": {"type": "Strip", "content": "▁", "start": 2, "stop": 0},
    "metaspace always": metaspace(prepend_scheme="always", split=True),
    "metaspace first": metaspace(prepend_scheme="first", split=True),
    "metaspace never": metaspace(prepend_scheme="never", split=True),
    "metaspace old": metaspace(add_prefix_space=True),
    "metaspace bare": metaspace(),
    "word piece": {"type": "WordPiece", "prefix": "##", "cleanup": False},
    "word piece, other prefix": {"type": "WordPiece", "prefix": "▁", "cleanup": False},
    "word piece, no prefix": {"type": "WordPiece", "prefix": "", "cleanup": False},
    "two steps on texts": sequence(REPLACE, {"type": "WordPiece", "prefix": "##", "cleanup": False}),
}


@pytest.mark.parametrize("decoder", DECODERS.values(), ids=DECODERS)
def test_decoder_agrees_with_tokenizers_on_all_pairs(decoder: Any) -> None:
    tokenizers = pytest.importorskip("tokenizers")
    file = document(VOCAB, decoder)
    judge, ours = tokenizers.Tokenizer.from_str(json.dumps(file)), loaded(file)
    start = ours.start_tokens() or ours.tokens
    for first, second in itertools.product(range(len(TEXTS)), repeat=2):
        if not start[first] and decoder is LLAMA_2:
            continue  # its one space is still to be dropped, but no mask allows an empty token
        data = (start[first] or b"") + (ours[second] or b"")
        assert data.decode("utf-8", "replace") == judge.decode([first, second], skip_special_tokens=False)


def test_bpe_decoder_in_mid_text() -> None:
    """Its last token has no space after it, so the pair is followed by a third."""
    tokenizers = pytest.importorskip("tokenizers")
    file = document(VOCAB, {"type": "BPEDecoder", "suffix": "</w>"})
    judge, ours = tokenizers.Tokenizer.from_str(json.dumps(file)), loaded(file)
    for first, second in itertools.product(range(len(TEXTS)), repeat=2):
        data = (ours[first] or b"") + (ours[second] or b"") + b"a"
        assert data.decode() == judge.decode([first, second, 0], skip_special_tokens=False)


def test_strip_at_the_end_of_each_token() -> None:
    """By itself, for there `tokenizers` 0.23 panics on an empty token."""
    tokenizers = pytest.importorskip("tokenizers")
    file = document({" a ": 0, "b  ": 1}, {"type": "Strip", "content": " ", "start": 1, "stop": 1})
    judge, ours = tokenizers.Tokenizer.from_str(json.dumps(file)), loaded(file)
    assert ours.tokens == (b"a", b"b ")
    assert judge.decode([1, 0, 1]) == "b ab "


def test_old_metaspace_without_a_prefix() -> None:
    ours = loaded(document(VOCAB, metaspace(add_prefix_space=False)))
    assert ours.start_tokens() is None
    assert ours[VOCAB["▁▁a"]] == b"  a"


def test_start_rules() -> None:
    def start(decoder: Any, text: str) -> tuple[bytes | None, bytes | None]:
        vocabulary = loaded(document(VOCAB, decoder))
        first = vocabulary.start_tokens() or vocabulary.tokens
        return vocabulary[VOCAB[text]], first[VOCAB[text]]

    assert start(LLAMA_2, "▁▁a") == (b"  a", b" a")
    assert start(LLAMA_2, "▁") == (b" ", b"")
    assert start(LLAMA_2, "<0x20>") == (b" ", b"")
    assert start(DECODERS["metaspace always"], "a▁b▁") == (b"a b ", b"ab")
    assert start(DECODERS["word piece"], "a") == (b" a", b"a")
    assert start(DECODERS["word piece"], "##x") == (b"x", b"##x")
    assert start(None, "a") == (b" a", b"a")
    assert start(BYTE_LEVEL, "Ġthe") == (b" the", b" the")


def test_cleanup_of_spaces_is_off() -> None:
    ours = loaded(document({".": 0}, {"type": "WordPiece", "prefix": "##", "cleanup": True}))
    assert ours[0] == b" ."


def test_added_tokens() -> None:
    file = document(
        {"a": 0, "Ã©": 1, "<unk>": 2, "é": 3},
        BYTE_LEVEL,
        (added(4, "<s>"), added(5, "<｜User｜>", special=False), added(1, "Ã©", special=False)),
        unk_token="<unk>",
    )
    ours = loaded(file)
    assert ours.tokens == (b"a", "é".encode(), None, b"\xe9", None, "<｜User｜>".encode())
    assert ours.name(2) == "<unk>"
    assert ours.name(4) == "<s>"
    assert ours.name(3) == repr(b"\xe9")
    assert ours.name(5) == "'<｜User｜>'"


def test_unigram() -> None:
    file = document(
        [["<unk>", 0.0], ["▁a", -1.0], ["▁a", -2.0], ["b", -3]], metaspace(), kind="Unigram", unk_id=0
    )
    ours = loaded(file)
    assert ours.tokens == (None, b" a", b" a", b"b")
    assert ours.start_tokens() == [None, b"a", b"a", b"b"]


def test_file_without_types() -> None:
    """Old files name no model type; the shape of the vocabulary tells."""
    assert table_from_tokenizer_json({"model": {"vocab": {"a": 0}}, "decoder": FUSE}, "x").tokens == [b"a"]
    assert table_from_tokenizer_json({"model": {"vocab": [["a", 0]]}, "decoder": FUSE}, "x").tokens == [b"a"]


def test_holes() -> None:
    ours = loaded(document({"a": 0, "b": 5}, FUSE, (added(7, "<s>"),)))
    assert ours.tokens == (b"a", None, None, None, None, b"b", None, None)
    assert ours.name(6) == "<unused 6>"
    assert ours.name(7) == "<s>"


CTC = {"type": "CTC", "pad_token": "<pad>", "word_delimiter_token": "|", "cleanup": True}
REFUSED = {
    "CTC": (CTC, "'CTC' is not known"),
    "unknown": ({"type": "Bogus"}, "'Bogus' is not known"),
    "unknown in a sequence": (sequence(REPLACE, {"type": "Bogus"}), "'Bogus'"),
    "regular expression": (
        {"type": "Replace", "pattern": {"Regex": "▁+"}, "content": " "},
        "regular expression",
    ),
    "two spaces at the start": (sequence(FUSE, {**STRIP, "start": 2}), "start=2"),
    "one space twice": (sequence(FUSE, STRIP, STRIP), "'Strip'"),
    "space at the end": (sequence(FUSE, {**STRIP, "stop": 1}), "stop=1"),
    "strip more than ASCII": (sequence(FUSE, {**STRIP, "content": "▁"}), "'▁'"),
    "replace after fuse": (sequence(FUSE, REPLACE), "'Replace' comes after"),
    "metaspace after bytes": (sequence(BYTE_FALLBACK, metaspace()), "'Metaspace' comes after"),
    "bytes twice": (sequence(BYTE_LEVEL, BYTE_FALLBACK), "'ByteFallback' comes after"),
    "a list": ([REPLACE], "malformed"),
    "a number": (3, "malformed"),
    "no type": ({"replacement": "▁"}, "names no type"),
    "sequence of nothing": ({"type": "Sequence"}, "no list"),
    "sequence of numbers": (sequence(3), "malformed"),  # type: ignore[arg-type]
    "empty pattern": ({"type": "Replace", "pattern": {"String": ""}, "content": " "}, "malformed"),
    "no pattern": ({"type": "Replace", "content": " "}, "malformed"),
    "endless strip": ({"type": "Strip", "content": " ", "start": 10**12, "stop": 0}, "malformed"),
    "long mark": (metaspace(replacement="▁▁"), "malformed"),
    "bad scheme": (metaspace(prepend_scheme="often"), "malformed"),
    "no suffix": ({"type": "BPEDecoder", "suffix": ""}, "malformed"),
    "prefix of a wrong type": ({"type": "WordPiece", "prefix": 3}, "malformed"),
}


@pytest.mark.parametrize(("decoder", "reason"), REFUSED.values(), ids=REFUSED)
def test_refused_decoders(decoder: Any, reason: str) -> None:
    with pytest.raises(VocabularyError, match=reason) as caught:
        loaded(document(VOCAB, decoder))
    assert "tokenizer.json: " in str(caught.value)


def test_deeply_nested_decoders_are_refused() -> None:
    decoder = FUSE
    for _ in range(100):
        decoder = sequence(decoder)
    with pytest.raises(VocabularyError, match="malformed"):
        loaded(document(VOCAB, decoder))


def test_decoders_that_grow_without_bound_are_refused() -> None:
    double = {"type": "Replace", "pattern": {"String": "a"}, "content": "aaaaaaaaaaaaaaaa"}
    with pytest.raises(VocabularyError, match="too long"):
        loaded(document(VOCAB, sequence(*[double] * 16)))
    with pytest.raises(VocabularyError, match="more than 16 decoders"):
        loaded(document(VOCAB, sequence(*[double] * 17)))
    with pytest.raises(VocabularyError, match="too long"):
        loaded(document({"a" * 100_000: 0}, {**double, "content": "b" * 100_000}))


MALFORMED: dict[str, tuple[Any, str]] = {
    "a list": ([], "no section 'model'"),
    "a vocab.json": ({"a": 0, "b": 1}, "no section 'model'"),
    "model is a string": ({"model": "BPE"}, "no section 'model'"),
    "vocab is missing": ({"model": {"type": "BPE"}}, "must be a map"),
    "vocab is a list": (document([["a", 0.0]]), "must be a map"),
    "vocab is a map": (document({"a": 0}, kind="Unigram"), "must be a list"),
    "vocab entry is no pair": (document([["a"]], kind="Unigram"), r"vocab\[0\]"),
    "vocab entry has no text": (document([[1, 2]], kind="Unigram"), r"vocab\[0\]"),
    "unknown model": (document({"a": 0}, kind="Markov"), "'Markov' is not known"),
    "model of a wrong type": (document({"a": 0}, type=[]), "is not known"),
    "no tokens": (document({}), "no tokens"),
    "id is a string": (document({"a": "0"}), "must be an integer"),
    "id is a fraction": (document({"a": 0.0}), "must be an integer"),
    "id is a truth value": (document({"a": False}), "must be an integer"),
    "id is a list": (document({"a": [0]}), "must be an integer"),
    "id is negative": (document({"a": -1}), "negative"),
    "id is absurd": (document({"a": 10**12}), "beyond"),
    "id is beyond printing": (document({"a": 10**4000}), "beyond"),
    "ids repeat": (document({"a": 0, "b": 0}), "token id 0 is given to two"),
    "lone surrogate": (document({"\ud800": 0}, FUSE), "surrogate"),
    "lone surrogate in the byte alphabet": (document({"\ud800": 0}, BYTE_LEVEL), "surrogate"),
    "added tokens are a map": (document({"a": 0}, added_tokens={"b": 1}), "must be a list"),
    "added token is a string": (document({"a": 0}, added_tokens=["b"]), r"added_tokens\[0\]"),
    "added token has no text": (document({"a": 0}, added_tokens=[{"id": 1}]), r"added_tokens\[0\]"),
    "added id is absurd": (document({"a": 0}, added_tokens=(added(1 << 40, "b"),)), "beyond"),
    "added id is negative": (document({"a": 0}, added_tokens=(added(-1, "b"),)), "negative"),
    "added ids repeat": (document({"a": 0}, added_tokens=(added(1, "b"), added(1, "c"))), "two tokens"),
    "added texts repeat": (document({"a": 0}, added_tokens=(added(1, "b"), added(2, "b"))), "two ids"),
    "added token on another's id": (document({"a": 0}, added_tokens=(added(0, "b"),)), "id 0 is"),
    "added token with two ids": (document({"a": 0}, added_tokens=(added(1, "a"),)), "has id 1"),
    "unknown token out of range": (document([["a", 0.0]], kind="Unigram", unk_id=7), "unk_id"),
    "unknown token of a wrong type": (document([["a", 0.0]], kind="Unigram", unk_id="a"), "unk_id"),
}


@pytest.mark.parametrize(("file", "reason"), MALFORMED.values(), ids=MALFORMED)
def test_malformed_files(file: Any, reason: str) -> None:
    with pytest.raises(VocabularyError, match=reason):
        Vocabulary(table_from_tokenizer_json(file, "tokenizer.json"))


def test_texts_that_are_changed_together() -> None:
    """The same as one after the other, whatever stands between them."""
    rng = random.Random(11)
    alphabet = ["a", "b", "▁", "\0", "é", "<0x41>", "<0x+5>", "<0xzz>"]
    for _ in range(2000):
        texts = ["".join(rng.choices(alphabet, k=rng.randrange(4))) for _ in range(rng.randrange(5))]
        old, new = rng.choice(["a", "ab", "\0", "▁"]), rng.choice(["", " ", "\0", "b\0", "ba"])
        assert decoders._replaced(texts, old, new) == [text.replace(old, new) for text in texts]
        assert decoders._utf8(texts) == [text.encode() for text in texts]
        expected = {"<0x41>": b"A", "<0x+5>": b"\5"}
        assert decoders._byte_fallback(texts) == [expected.get(text, text.encode()) for text in texts]
    with pytest.raises(UnicodeEncodeError) as refused:
        decoders._utf8(["a", "\ud800b", "c"])
    assert refused.value.object == "\ud800b"
