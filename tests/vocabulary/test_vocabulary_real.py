"""Token bytes of real tokenizers concatenate to what the tokenizer's own decoder makes of them."""

from __future__ import annotations

import random
from functools import cache
from pathlib import Path

import pytest

from tests.support.tokenizers.real_tokenizers import GEMMA_GGUF, REAL, Real, Reference, package_file
from tokamata.vocabulary import Vocabulary

TEXTS = [
    "The quick brown fox jumps over the lazy dog.",
    "  leading and trailing spaces,\ttabs\n\n\nand lines  \r\n",
    "Zwölf Boxkämpfer jagen Viktor quer über den großen Sylter Deich; naïve café, señor, Łódź.",
    "Съешь же ещё этих мягких французских булок, да выпей чаю. Ξεσκεπάζω την ψυχοφθόρα βδελυγμία.",
    "天地玄黃，宇宙洪荒。いろはにほへと ちりぬるを。키스의 고유조건은 입술끼리 만나야 한다.",
    "ऋषियों को सताने वाले दुष्ट राक्षसों | صِف خَلقَ خَودٍ كَمِثلِ الشَمسِ | דג סקרן | เป็นมนุษย์สุดประเสริฐ",
    "👩‍💻👨‍👩‍👧‍👦 🏳️‍🌈 🇩🇪 e\u0301 \u200b \u2028 \ufeff \U0001f9ff \U00010348",
    "def f(x: int) -> str:\n\treturn f'{x!r:>{10}}'  # <0x0A> ▁ ## </w> <s> Ġ\n\nif __name__:\n    f(3)",
    '{"a": [1, 2.5e-3, null, true], "b\\u00e9": "\\"\\\\"}\n<td class="x">1 &lt; 2</td>\x00\x01\x7f',
    "",
]


def random_texts(seed: int = 11) -> list[str]:
    """Random bytes read as UTF-8 and as Latin-1, and random code points of all planes."""
    draw = random.Random(seed)
    texts = []
    for size in (1, 7, 60, 400):
        data = draw.randbytes(size)
        texts += [data.decode("utf-8", "replace"), data.decode("latin-1")]
        points = [draw.randrange(0x11_0000) for _ in range(size)]
        texts.append("".join(chr(p) for p in points if not 0xD800 <= p < 0xE000))
    return texts


@cache
def loaded(path: Path) -> Vocabulary:
    return Vocabulary.load(path, stop=())


def spelled(vocabulary: Vocabulary, ids: list[int]) -> bytes:
    """The text of a token sequence, by the vocabulary."""
    start = vocabulary.start_tokens() or vocabulary.tokens
    first, rest = ids[:1], ids[1:]
    pieces = [start[token] for token in first] + [vocabulary[token] for token in rest]
    return b"".join(piece for piece in pieces if piece is not None)


@pytest.mark.parametrize("real", REAL, ids=str)
def test_size(real: Real) -> None:
    assert len(loaded(real.path())) == real.size


@pytest.mark.parametrize("real", REAL, ids=str)
def test_bytes_of_encoded_texts_are_their_decoding(real: Real) -> None:
    vocabulary, reference = loaded(real.path()), real.reference()
    for text in TEXTS + random_texts():
        # <unk>, and control tokens whose name is in the text, are no text.
        ids = [token for token in reference.encode(text) if vocabulary[token] is not None]
        assert spelled(vocabulary, ids) == reference.decode(ids).encode(), text


@pytest.mark.parametrize("real", REAL, ids=str)
def test_every_token_in_mid_text_and_at_the_start(real: Real) -> None:
    vocabulary, reference = loaded(real.path()), real.reference()
    ids = [token for token, value in enumerate(vocabulary.tokens) if value is not None]
    anchor = reference.encode("a")[-1]
    start = vocabulary.start_tokens() or vocabulary.tokens
    # Where a text begins with the same bytes as elsewhere, a fifth of the tokens says so.
    first = ids[::5] if vocabulary.start_tokens() is None else ids
    for prefix, some, in_place in (([], first, start), ([anchor], ids, vocabulary.tokens)):
        before = start[anchor] if prefix else b""
        assert before is not None
        decoded = reference.decode_batch([[*prefix, token] for token in some])
        wrong = [
            (token, in_place[token], text)
            for token, text in zip(some, decoded, strict=True)
            if (before + (in_place[token] or b"")).decode("utf-8", "replace") != text
        ]
        assert wrong[:5] == []


def random_sequences(vocabulary: Vocabulary, reference: Reference, count: int) -> list[list[int]]:
    draw = random.Random(5)
    ids = [token for token, value in enumerate(vocabulary.tokens) if value]
    return [draw.choices(ids, k=draw.randrange(1, 12)) for _ in range(count)]


@pytest.mark.parametrize("real", REAL, ids=str)
def test_random_token_sequences(real: Real) -> None:
    vocabulary, reference = loaded(real.path()), real.reference()
    sequences = random_sequences(vocabulary, reference, 300)
    for ids, text in zip(sequences, reference.decode_batch(sequences), strict=True):
        data = spelled(vocabulary, ids)
        try:
            assert data.decode() == text, ids
        except UnicodeDecodeError:
            assert "�" in text, ids  # how many stand for an invalid run differs between decoders


def test_control_tokens_are_no_text() -> None:
    real = next(real for real in REAL if real.name == "minilm")
    vocabulary = loaded(real.path())
    assert vocabulary[101] is None
    assert vocabulary.name(101) == "[CLS]"
    assert vocabulary[1996] == b" the"
    assert vocabulary[2015] == b"s"
    start = vocabulary.start_tokens()
    assert start is not None
    assert start[1996] == b"the"
    assert start[2015] == b"##s"


def test_deepseek_tells_special_from_plain_added_tokens() -> None:
    real = next(real for real in REAL if real.name == "deepseek")
    vocabulary = Vocabulary.load(real.path())
    assert vocabulary.stop == (1,)
    assert vocabulary[1] is None
    assert vocabulary.name(1) == "<｜end▁of▁sentence｜>"
    user = real.reference().encode("<｜User｜>")
    assert [vocabulary[token] for token in user] == ["<｜User｜>".encode()]


def test_tekken_control_tokens_and_stop() -> None:
    real = next(real for real in REAL if real.name == "tekken-2409")
    vocabulary = Vocabulary.load(real.path())
    assert vocabulary.stop == (2,)
    assert vocabulary.name(2) == "</s>"
    assert vocabulary[999] is None
    assert vocabulary[1000] == b"\x00"


def test_whisper_has_an_empty_token() -> None:
    real = next(real for real in REAL if real.name == "whisper")
    assert loaded(real.path())[50_256] == b""


def test_gemma_gguf() -> None:
    vocabulary = Vocabulary.load(package_file(*GEMMA_GGUF))
    assert len(vocabulary) == 262_144
    # As Vocabulary.load(Llama(path)).stop is, with llama-cpp-python.
    assert vocabulary.stop == (1, 106, 212)
    assert [vocabulary.name(token) for token in vocabulary.stop] == ["<eos>", "<end_of_turn>", "</s>"]
    assert vocabulary.start_tokens() is None
    assert vocabulary[107] == b"\n"
    assert vocabulary[138] == b"  "
    assert vocabulary[238 + 0x0A] == b"\n"
    assert sorted(b for b in vocabulary.tokens[238:494] if b) == [bytes([b]) for b in range(256)]


def test_gemma_gguf_agrees_with_its_tokenizer_json() -> None:
    real = next(real for real in REAL if real.name == "gemma-3")
    ours, judge = Vocabulary.load(package_file(*GEMMA_GGUF)), loaded(real.path())
    different = [t for t in range(len(ours)) if ours[t] != judge[t] and ours[t] is not None]
    # The two files disagree: <start_of_image> and <end_of_image> are user-defined (text) here, special there.
    assert [ours.name(t) for t in different] == ["'<start_of_image>'", "'<end_of_image>'"]
    # The GGUF file calls these control tokens, and llama.cpp stops at </s>; tokenizer.json calls them text.
    only_text_in_json = {
        judge.name(t)[1:8] for t in range(len(ours)) if ours[t] is None and judge[t] is not None
    }
    assert only_text_in_json == {"<unused", "<mask>'", "</s>'"}


def test_the_trie_of_gemma_is_small() -> None:
    real = next(real for real in REAL if real.name == "gemma-3")
    core = Vocabulary.load(real.path()).core
    assert core.trie_nodes > 600_000
    assert core.trie_bytes < 64_000_000
