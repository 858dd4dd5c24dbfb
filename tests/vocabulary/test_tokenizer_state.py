"""What is noticed of a tokenizer that changes after its vocabulary was loaded."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from tokenizers import AddedToken, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors
from transformers import PreTrainedTokenizerFast

import tokamata as tk
from tests.support.models.fakes import token_id
from tests.support.models.small_models import MERGES, SPECIAL, small_model, small_tokenizer
from tokamata.decoding.hosts import vocabulary_of
from tokamata.vocabulary.tokenizer_state import TokenizerState

LETTERS = ["<unk>", *"abc", "ab", "abc"]
IDS = {piece: token for token, piece in enumerate(LETTERS)}
PAIRS = [("a", "b"), ("ab", "c")]
MODELS: dict[str, Callable[[], Any]] = {
    "BPE": lambda: models.BPE(IDS, PAIRS, unk_token="<unk>"),
    "WordPiece": lambda: models.WordPiece(IDS, unk_token="<unk>"),
    "WordLevel": lambda: models.WordLevel(IDS, unk_token="<unk>"),
    "Unigram": lambda: models.Unigram([(piece, -float(token)) for piece, token in IDS.items()], 0, False),
}


def made(model: Any) -> Any:
    backend = Tokenizer(model)
    backend.normalizer = normalizers.Lowercase()
    backend.pre_tokenizer = pre_tokenizers.Metaspace()
    backend.decoder = decoders.Metaspace()
    backend.post_processor = processors.TemplateProcessing("<s> $A", special_tokens=[("<s>", 6)])
    backend.add_special_tokens(["<s>"])
    backend.add_tokens(["<word>"])
    return PreTrainedTokenizerFast(tokenizer_object=backend)


def set_part(part: str, value: Any) -> Callable[[Any], None]:
    return lambda tokenizer: setattr(tokenizer.backend_tokenizer, part, value)


def set_option(part: str, name: str, value: Any) -> Callable[[Any], None]:
    return lambda tokenizer: setattr(getattr(tokenizer.backend_tokenizer, part), name, value)


def add(token: Any, special: bool = False) -> Callable[[Any], None]:
    return lambda tokenizer: tokenizer.add_tokens([token], special_tokens=special)


CHANGES: dict[str, Callable[[Any], None]] = {
    "another normalizer": set_part("normalizer", normalizers.NFC()),
    "no normalizer": set_part("normalizer", None),
    "another pre-tokenizer": set_part("pre_tokenizer", pre_tokenizers.WhitespaceSplit()),
    "an option of the pre-tokenizer": set_option("pre_tokenizer", "prepend_scheme", "never"),
    "another decoder": set_part("decoder", decoders.Fuse()),
    "another post-processor": set_part("post_processor", processors.ByteLevel()),
    "an added token": add("<new>"),
    "an added token of the model": add("abc"),
    "a flag of an added token": add(AddedToken("<word>", lstrip=True)),
    "an added token that becomes special": add("<word>", special=True),
    "a special token that becomes text": add("<s>"),
}
OPTIONS = {
    "BPE": {
        "dropout": 0.5,
        "unk_token": "a",
        "fuse_unk": True,
        "byte_fallback": True,
        "ignore_merges": True,
        "continuing_subword_prefix": "#",
        "end_of_word_suffix": "_",
    },
    "WordPiece": {"unk_token": "a", "max_input_chars_per_word": 3, "continuing_subword_prefix": "@"},
    "WordLevel": {"unk_token": "a"},
    "Unigram": {},
}
LONGER = {piece: token for token, piece in enumerate([*LETTERS, "d"])}
OTHERS: dict[str, Callable[[], Any]] = {
    "of another type": lambda: models.WordLevel(IDS, unk_token="a"),
    "with more tokens": lambda: models.BPE(LONGER, PAIRS, unk_token="<unk>"),
    "with other tokens": lambda: models.BPE({**IDS, "c": 2, "b": 3}, PAIRS, unk_token="<unk>"),
    "with other merges": lambda: models.BPE(IDS, [("a", "b")], unk_token="<unk>"),
}


@pytest.mark.parametrize("kind", MODELS)
def test_changes_are_noticed(kind: str) -> None:
    for name, change in CHANGES.items():
        tokenizer = made(MODELS[kind]())
        state = TokenizerState(tokenizer)
        tokenizer("a ab ☃ <word>", truncation=True, max_length=3, split_special_tokens=True)
        assert state.is_of(tokenizer), name  # use changes nothing
        change(tokenizer)
        assert not state.is_of(tokenizer), name
        assert TokenizerState(tokenizer).is_of(tokenizer), name
    for name, value in OPTIONS[kind].items():
        tokenizer = made(MODELS[kind]())
        state = TokenizerState(tokenizer)
        setattr(tokenizer.backend_tokenizer.model, name, value)
        assert not state.is_of(tokenizer), name
        assert TokenizerState(tokenizer).is_of(tokenizer), name


@pytest.mark.parametrize("name", OTHERS)
def test_another_model_is_noticed(name: str) -> None:
    tokenizer = made(MODELS["BPE"]())
    state = TokenizerState(tokenizer)
    tokenizer.backend_tokenizer.model = MODELS["BPE"]()
    assert state.is_of(tokenizer)
    tokenizer.backend_tokenizer.model = OTHERS[name]()
    assert not state.is_of(tokenizer)


def test_many_added_tokens() -> None:
    """They are not read, but their number is."""
    for change in (add("<new>"), set_part("normalizer", None)):
        tokenizer = made(MODELS["BPE"]())
        tokenizer.add_tokens([f"<{number}>" for number in range(2000)])
        state = TokenizerState(tokenizer)
        assert state.is_of(tokenizer)
        change(tokenizer)
        assert not state.is_of(tokenizer)


def test_tokenizers_written_in_python() -> None:
    class Slow(SimpleNamespace):
        def __len__(self) -> int:
            return 5

    tokenizer = Slow(sp_model=object(), added_tokens_decoder={})
    state = TokenizerState(tokenizer)
    assert state.is_of(tokenizer)
    tokenizer.added_tokens_decoder = {4: "x"}
    assert not state.is_of(tokenizer)
    state = TokenizerState(tokenizer)
    tokenizer.sp_model = object()
    assert not state.is_of(tokenizer)


def test_masks_follow_the_tokenizer() -> None:
    """Canonical tokenization under the normalizer that the tokenizer has now."""
    tokenizer = small_tokenizer()
    model = small_model(len(tokenizer))
    constraint = tk.regex("[aA]x")

    def begins() -> set[str]:
        compiled = constraint.compile(vocabulary_of(model, tokenizer), tokenization="canonical")
        return {name for name in "aA" if compiled.matcher().advance(token_id(tokenizer, name))}

    first = vocabulary_of(model, tokenizer)
    assert begins() == {"a", "A"}
    assert vocabulary_of(model, tokenizer) is first
    tokenizer.backend_tokenizer.normalizer = normalizers.Lowercase()
    assert begins() == {"a"}
    assert vocabulary_of(model, tokenizer) is not first
    tokenizer.backend_tokenizer.normalizer = None
    assert begins() == {"a", "A"}


def test_a_model_is_replaced() -> None:
    tokenizer = small_tokenizer()
    model = small_model(len(tokenizer))
    first = vocabulary_of(model, tokenizer)
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    pairs = [tuple(merge.split()) for merge in MERGES]
    pieces = [*SPECIAL, *reversed(alphabet), *(left + right for left, right in pairs), "ðŁ"]
    vocab = {piece: token for token, piece in enumerate(pieces)}
    tokenizer.backend_tokenizer.model = models.BPE(vocab=vocab, merges=pairs)
    second = vocabulary_of(model, tokenizer)
    assert second.tokens == tk.Vocabulary.load(tokenizer).tokens != first.tokens


def test_a_vocabulary_whose_tokenizer_has_changed() -> None:
    """Its pipeline is read when it is first needed: by then it must be that of the tokens."""
    tokenizer = small_tokenizer()
    vocabulary = tk.Vocabulary.load(tokenizer)
    tokenizer.backend_tokenizer.normalizer = normalizers.Lowercase()
    with pytest.raises(tk.VocabularyError, match="has changed since its tokens were read"):
        tk.regex("ab").compile(vocabulary, tokenization="canonical")
    tk.regex("ab").compile(vocabulary)
