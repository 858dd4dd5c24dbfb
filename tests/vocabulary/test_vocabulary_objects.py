"""Tokenizers of other packages, as objects in memory."""

from __future__ import annotations

import ctypes
import io
import itertools
import json
import sys
import types
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.tokenizers.real_tokenizers import PACKAGED, package_file
from tests.support.tokenizers.small_tokenizers import BYTE_LEVEL, LLAMA_2, added, document
from tokamata.errors import MissingExtraError, VocabularyError
from tokamata.vocabulary import Vocabulary
from tokamata.vocabulary.hugging_face import normalizing_sections

SMALL = document(
    {"<unk>": 0, "a": 1, "▁b": 2, "<0x0A>": 3},
    LLAMA_2,
    (added(4, "<s>"), added(5, "</s>"), added(6, "<td>", special=False)),
    unk_token="<unk>",
)


def test_tokenizers() -> None:
    tokenizers = pytest.importorskip("tokenizers")
    vocabulary = Vocabulary.load(tokenizers.Tokenizer.from_str(json.dumps(SMALL)))
    assert vocabulary.tokens == (None, b"a", b" b", b"\n", None, None, b"<td>")
    assert vocabulary.start_tokens() == [None, b"a", b"b", b"\n", None, None, b"<td>"]
    assert vocabulary.name(0) == "<unk>"
    assert vocabulary.stop == ()


@pytest.mark.parametrize(
    "file",
    [
        document({"a": 0, "Ġb": 1}, BYTE_LEVEL, (added(2, "<s>"),)),
        document(
            {"[UNK]": 0, "##a": 1}, {"type": "WordPiece", "prefix": "##", "cleanup": True}, (), "WordPiece"
        ),
        document({"[UNK]": 0, "a": 1}, None, (), "WordLevel"),
        document([["<unk>", 0.0], ["▁a", -1.0], ["▁a", -2.0]], None, (), "Unigram", unk_id=0),
        document({"a": 0, "b": 3, "c": 7}, BYTE_LEVEL, (added(7, "c"),)),
    ],
    ids=["BPE", "WordPiece", "WordLevel", "Unigram", "holes"],
)
def test_tokenizers_and_their_files_agree(file: Any, tmp_path: Path) -> None:
    tokenizers = pytest.importorskip("tokenizers")
    (tmp_path / "tokenizer.json").write_text(json.dumps(file))
    tokenizer = tokenizers.Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    from_object, from_file = Vocabulary.load(tokenizer), Vocabulary.load(tmp_path)
    assert from_object.tokens == from_file.tokens
    assert from_object.start_tokens() == from_file.start_tokens()
    assert [from_object.name(token) for token in range(len(from_file))] == [
        from_file.name(token) for token in range(len(from_file))
    ]


def test_ids_of_two_tokens_are_refused() -> None:
    tokenizers = pytest.importorskip("tokenizers")
    twice = tokenizers.Tokenizer(tokenizers.models.BPE({"a": 0, "b": 1, "c": 1}, []))
    with pytest.raises(VocabularyError, match="id 1 is given to two tokens"):
        Vocabulary.load(twice, stop=())


def test_sections_of_objects_and_files(tmp_path: Path) -> None:
    """What says how a text is normalized is the same, however it is read, and not after a change."""
    tokenizers = pytest.importorskip("tokenizers")
    path = tmp_path / "tokenizer.json"
    normalizers, cutting = tokenizers.normalizers, tokenizers.pre_tokenizers
    cuts = cutting.Sequence([cutting.Split(tokenizers.Regex(r"\d"), "isolated"), cutting.ByteLevel()])
    lower = normalizers.Sequence([normalizers.NFC(), normalizers.Lowercase(), normalizers.Replace(" ", "▁")])
    for file in (document({"a": 0}, BYTE_LEVEL), document({"a": 0}, None, (), "WordLevel", unk_token="a")):
        for normalizer, pre_tokenizer in (
            (None, None),
            (lower, cutting.Metaspace()),
            (normalizers.NFD(), cuts),
        ):
            tokenizer = tokenizers.Tokenizer.from_str(json.dumps(file))
            tokenizer.normalizer, tokenizer.pre_tokenizer = normalizer, pre_tokenizer
            path.write_text(tokenizer.to_str())
            from_object = Vocabulary.load(tokenizer, stop=()).pipeline
            from_file = Vocabulary.load(path, stop=()).pipeline
            assert from_object is not None
            assert from_file is not None
            assert from_object.sections is not None
            assert from_file.sections is not None
            sections = normalizing_sections(json.loads(path.read_text()))
            assert from_object.sections() == from_file.sections() == sections
            tokenizer.normalizer = normalizers.Strip()
            path.write_text(tokenizer.to_str())
            for source in (from_object, from_file):
                with pytest.raises(VocabularyError, match="changed"):
                    source.sections()  # type: ignore[misc]  # just checked


def test_tokenizers_with_a_decoder_in_python() -> None:
    tokenizers = pytest.importorskip("tokenizers")

    class Decoder:
        def decode_chain(self, tokens: list[str]) -> list[str]:
            return tokens

    tokenizer = tokenizers.Tokenizer.from_str(json.dumps(SMALL))
    tokenizer.decoder = tokenizers.decoders.Decoder.custom(Decoder())
    with pytest.raises(VocabularyError, match="cannot be written"):
        Vocabulary.load(tokenizer)


def test_fast_transformers() -> None:
    tokenizers, transformers = pytest.importorskip("tokenizers"), pytest.importorskip("transformers")
    inner = tokenizers.Tokenizer.from_str(json.dumps(SMALL))

    class Derived(transformers.PreTrainedTokenizerFast):  # type: ignore[misc, name-defined]
        """A subclass, as remote code has it."""

    tokenizer = Derived(tokenizer_object=inner, eos_token="</s>", bos_token="<s>")
    vocabulary = Vocabulary.load(tokenizer)
    assert vocabulary.stop == (5,)
    assert vocabulary.tokens == (None, b"a", b" b", b"\n", None, None, b"<td>")
    assert Vocabulary.load(transformers.PreTrainedTokenizerFast(tokenizer_object=inner)).stop == ()
    assert Vocabulary.load(tokenizer, stop="<s>", width=9).stop == (4,)


@cache
def sentence_piece_model(**options: Any) -> bytes:
    spm = pytest.importorskip("sentencepiece")
    text = ["Hello world, the quick brown fox.", "naïve café 東京 👩‍💻 12 345 the end", "a b c d e f g h i j"]
    settings = {"model_type": "bpe", "vocab_size": 360, "minloglevel": 2, "hard_vocab_limit": False} | options
    file = io.BytesIO()
    spm.SentencePieceTrainer.train(
        sentence_iterator=iter(text * 20),
        model_writer=file,
        user_defined_symbols=["<td>", "▁▁▁", "▁▁"],
        control_symbols=["<ctl>"],
        **settings,
    )
    return file.getvalue()


MODELS: dict[str, dict[str, Any]] = {
    "bpe with bytes": {"byte_fallback": True},
    "bpe, spaces kept": {"byte_fallback": True, "remove_extra_whitespaces": False},
    "bpe without a first space": {
        "byte_fallback": True,
        "add_dummy_prefix": False,
        "remove_extra_whitespaces": False,
    },
    "unigram": {"model_type": "unigram", "vocab_size": 80},
    "words": {"model_type": "word", "vocab_size": 40},
}


@pytest.mark.parametrize("options", MODELS.values(), ids=MODELS)
def test_sentence_piece(options: dict[str, Any], tmp_path: Path) -> None:
    spm = pytest.importorskip("sentencepiece")
    data = sentence_piece_model(**options)
    (tmp_path / "tokenizer.model").write_bytes(data)
    processor = spm.SentencePieceProcessor(model_proto=data)
    vocabulary = Vocabulary.load(processor)
    assert vocabulary.tokens == Vocabulary.load(tmp_path).tokens
    assert vocabulary.stop == (2,)
    assert [vocabulary.name(token) for token in range(4)] == ["<unk>", "<s>", "</s>", "<ctl>"]
    assert vocabulary.tokens[:5] == (None, None, None, None, b"<td>")
    start = vocabulary.start_tokens() or vocabulary.tokens
    text = [token for token, value in enumerate(vocabulary.tokens) if value is not None]
    firsts = [token for token in text if start[token]]
    for first, second in itertools.product(firsts[:: len(firsts) // 60 + 1], text):
        data = (start[first] or b"") + (vocabulary[second] or b"")
        try:
            assert data.decode() == processor.decode([first, second])
        except UnicodeDecodeError:
            assert processor.is_byte(first) or processor.is_byte(second)
    for line in ("Hello the end", " a  b", "東京 👩‍💻 naïve xyz 12"):
        ids = processor.encode(line)
        if processor.unk_id() not in ids:
            pieces = [start[ids[0]], *(vocabulary[token] for token in ids[1:])]
            assert b"".join(piece or b"" for piece in pieces).decode() == processor.decode(ids)


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
@given(data=st.data())
def test_mutated_sentence_piece_models(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    content = bytearray(sentence_piece_model(byte_fallback=True))
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(content)))
        content[at : at + data.draw(st.integers(0, 3))] = data.draw(st.binary(max_size=3))
    path = tmp_path_factory.getbasetemp() / "mutated.model"
    path.write_bytes(b"\n" + bytes(content[1:]))
    try:
        vocabulary = Vocabulary.load(path)
    except VocabularyError:
        return
    assert len(vocabulary.start_tokens() or vocabulary.tokens) == len(vocabulary)


def test_sentence_piece_without_the_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "tokenizer.model").write_bytes(b"\n\x0e\n\x05<unk>\x15\x00\x00\x00\x00\x18\x02")
    monkeypatch.setitem(sys.modules, "sentencepiece", None)
    with pytest.raises(MissingExtraError, match=r"tokamata\[sentencepiece\]"):
        Vocabulary.load(tmp_path)


def test_slow_transformers_with_sentence_piece(tmp_path: Path) -> None:
    transformers = pytest.importorskip("transformers")
    spm = pytest.importorskip("sentencepiece")
    backend = pytest.importorskip("transformers.tokenization_utils_sentencepiece")
    data = sentence_piece_model(byte_fallback=True)
    (tmp_path / "tokenizer.model").write_bytes(data)
    assert transformers is not None
    tokenizer = backend.SentencePieceBackend(
        vocab_file=str(tmp_path / "tokenizer.model"), eos_token="</s>", bos_token="<s>", unk_token="<unk>"
    )
    tokenizer.add_tokens(["<extra>"])
    tokenizer.add_special_tokens({"additional_special_tokens": ["<|turn|>"]})
    vocabulary = Vocabulary.load(tokenizer)
    processor = spm.SentencePieceProcessor(model_proto=data)
    size = processor.get_piece_size()
    assert len(vocabulary) == len(tokenizer) == size + 2
    assert vocabulary.stop == (2,)
    assert vocabulary[size] == b"<extra>"
    assert vocabulary[size + 1] is None
    assert vocabulary.name(size + 1) == "<|turn|>"
    start = vocabulary.start_tokens() or vocabulary.tokens
    # transformers 5 leaves byte pieces as they are written, and drops white space at the end, too.
    text = [t for t in range(size) if vocabulary[t] and not processor.is_byte(t)]
    last = processor.piece_to_id("e")
    for first, second in itertools.product(text, text):
        if start[first]:
            data = b"".join([start[first] or b"", vocabulary[second] or b"", b"e"])
            judge = tokenizer.decode([first, second, last], clean_up_tokenization_spaces=False)
            assert data.decode() == judge, (first, second)
    assert vocabulary[processor.piece_to_id("<0x0A>")] == b"\n"


def test_slow_transformers_told_apart_by_attributes() -> None:
    """Stand-ins: transformers 5 has no slow GPT-2 or BERT, while 4.50 has."""

    class Slow:
        eos_token_id = 2

        def __init__(self, **attributes: object) -> None:
            self.added_tokens_decoder = {2: types.SimpleNamespace(content="<end>", special=True)}
            vars(self).update(attributes)

        def get_vocab(self) -> dict[str, int]:
            return {"##Ġ": 0, "b": 1, "<end>": 2}

    Slow.__module__, Slow.__name__ = "transformers.tokenization_utils", "PreTrainedTokenizerBase"
    assert Vocabulary.load(Slow(byte_decoder={})).tokens == (b"## ", b"b", None)
    assert Vocabulary.load(Slow(wordpiece_tokenizer=1)).tokens == ("Ġ".encode(), b" b", None)
    with pytest.raises(VocabularyError, match="slow tokenizer"):
        Vocabulary.load(Slow())


def test_tiktoken_encoding() -> None:
    tiktoken = pytest.importorskip("tiktoken")
    encoding = tiktoken.Encoding(
        "small",
        pat_str=".",
        mergeable_ranks={b"a": 0, b"\xff": 1, b"aa": 5},
        special_tokens={"<|endoftext|>": 7, "<|x|>": 6},
    )
    vocabulary = Vocabulary.load(encoding)
    assert vocabulary.tokens == (b"a", b"\xff", None, None, None, b"aa", None, None)
    assert vocabulary.stop == (7,)
    assert vocabulary.name(6) == "<|x|>"


def test_tiktoken_encoding_with_an_absurd_id() -> None:
    tiktoken = pytest.importorskip("tiktoken")
    encoding = tiktoken.Encoding("x", pat_str=".", mergeable_ranks={b"a": 0}, special_tokens={"<x>": 1 << 31})
    with pytest.raises(VocabularyError, match="out of bounds"):
        Vocabulary.load(encoding)


def test_tekkenizer() -> None:
    tekken = pytest.importorskip("mistral_common.tokens.tokenizers.tekken")
    path = package_file("mistral_common", "data/tekken_240911.json")
    tokenizer = tekken.Tekkenizer.from_file(path)
    from_object, from_file = Vocabulary.load(tokenizer), Vocabulary.load(path)
    assert from_object.tokens == from_file.tokens
    assert from_object.stop == from_file.stop == (2,)
    assert from_object.name(3) == "[INST]"


def test_tekkenizer_by_its_interface() -> None:
    """A stand-in with the methods that are asked, for mistral-common wants packages that tests go without."""

    class Tekkenizer:
        n_words, num_special_tokens = 5, 3

        def id_to_byte_piece(self, token: int) -> bytes:
            return [b"a", b"\xff"][token - 3]

        def id_to_piece(self, token: int) -> str:
            return ["<unk>", "<s>", "</s>"][token]

    class MistralTokenizer:
        instruct_tokenizer = types.SimpleNamespace(tokenizer=Tekkenizer())

    Tekkenizer.__module__ = MistralTokenizer.__module__ = "mistral_common.tokens.tokenizers"
    for source in (Tekkenizer(), MistralTokenizer()):
        vocabulary = Vocabulary.load(source)
        assert vocabulary.tokens == (None, None, None, b"a", b"\xff")
        assert vocabulary.stop == (2,)
    Tekkenizer.__name__ = "SentencePieceTokenizer"
    with pytest.raises(VocabularyError, match="not a Tekkenizer"):
        Vocabulary.load(MistralTokenizer())


class FakeLlama:
    """Stands in for ``llama_cpp.Llama``: the package builds from source alone, and needs a model to load.

    Attributes, pieces and end of generation are what llama.cpp's `llama_token_to_piece` and its
    relatives give for a model whose tokens are these (llama.h; the buffer protocol included).
    """

    attributes = (1, 8, 8, 4, 4, 16, 32, 2, 0, 4)
    texts = ("<unk>", "<s>", "</s>", "▁the", "x" * 300, "<td>", "<0x0A>", "spare", "pad", "▁")
    pieces = (b"", b"", b"", b" the", b"x" * 300, b"<td>", b"\n", b"", b"", b" ")

    def __init__(self, **metadata: str) -> None:
        self.metadata = {f"tokenizer.ggml.{key}": value for key, value in metadata.items()}
        self.model = object()

    def n_vocab(self) -> int:
        return len(self.texts)


FakeLlama.__module__, FakeLlama.__name__ = "llama_cpp.llama", "Llama"


@pytest.fixture
def llama_cpp(monkeypatch: pytest.MonkeyPatch) -> None:
    def token_to_piece(vocab: Any, token: int, buffer: Any, length: int, lstrip: int, special: bool) -> int:
        assert lstrip == 0
        assert not special
        piece = FakeLlama.pieces[token]
        if len(piece) > length:
            return -len(piece)
        ctypes.memmove(buffer, piece, len(piece))
        return len(piece)

    fake = types.ModuleType("llama_cpp")
    functions = {
        "llama_model_get_vocab": lambda model: "vocab",
        "llama_vocab_get_attr": lambda vocab, token: FakeLlama.attributes[token],
        "llama_vocab_get_text": lambda vocab, token: FakeLlama.texts[token].encode(),
        "llama_vocab_is_eog": lambda vocab, token: token in (2, 5),
        "llama_token_to_piece": token_to_piece,
    }
    vars(fake).update(functions)
    monkeypatch.setitem(sys.modules, "llama_cpp", fake)


@pytest.mark.usefixtures("llama_cpp")
def test_llama_cpp() -> None:
    vocabulary = Vocabulary.load(FakeLlama(model="llama"))
    pieces = (None, None, None, b" the", b"x" * 300, None, b"\n", None, None, b" ")
    assert vocabulary.tokens == pieces
    assert vocabulary.stop == (2, 5)
    assert vocabulary.name(5) == "<td>"
    assert vocabulary.name(1) == "<s>"
    start = vocabulary.start_tokens()
    assert start is not None
    assert start[3] == b"the"
    assert start[9] == b""


@pytest.mark.usefixtures("llama_cpp")
def test_llama_cpp_start_of_text() -> None:
    assert Vocabulary.load(FakeLlama(model="gpt2")).start_tokens() is None
    assert Vocabulary.load(FakeLlama(model="llama", add_space_prefix="false")).start_tokens() is None
    assert Vocabulary.load(FakeLlama(model="gpt2", add_space_prefix="true")).start_tokens() is not None


def test_objects_agree_with_files_on_a_real_tokenizer() -> None:
    tokenizers = pytest.importorskip("tokenizers")
    real = next(real for real in PACKAGED if real.name == "deepseek")
    from_object = Vocabulary.load(tokenizers.Tokenizer.from_file(str(real.path())))
    assert from_object.tokens == Vocabulary.load(real.path(), stop=()).tokens
