"""Warnings: vocabularies without stop tokens, and those of another model."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from tokenizers import Tokenizer, models

import tokamata as tk
from tests.support.models.fakes import Constant
from tests.support.models.small_models import small_tokenizer
from tokamata.decoding.hosts import vocabulary_of
from tokamata.integrations.transformers import ConstraintLogitsProcessor

BYTES = [*(bytes([byte]) for byte in range(256)), None]
ADDED = [
    {"id": token, "content": name, "special": True} for token, name in enumerate(("<s>", "<|im_end|>"), 2)
]
SMALL = {"model": {"type": "BPE", "vocab": {"a": 0, "b": 1}, "merges": []}, "added_tokens": ADDED}


def warned(call: Callable[[], Any]) -> list[str]:
    """The warnings of a call about vocabularies."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
    return [str(each.message) for each in caught if issubclass(each.category, tk.VocabularyWarning)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "tokenizer.json").write_text(json.dumps(SMALL), encoding="utf-8")
    return tmp_path


def test_a_file_without_stop_tokens(folder: Path) -> None:
    for source in (folder, folder / "tokenizer.json", str(folder)):
        with pytest.warns(tk.VocabularyWarning, match=r"no mask allows .*stop=\['<\|im_end\|>'\]") as caught:
            assert tk.Vocabulary.load(source).stop == ()
        assert caught[0].filename == __file__
        assert str(source) in str(caught[0].message)
    assert warned(lambda: tk.Vocabulary.load(folder, stop=())) == []
    assert warned(lambda: tk.Vocabulary.load(folder, stop="<|im_end|>")) == []


@pytest.mark.parametrize(
    ("files", "stop"),
    [
        ({"special_tokens_map": {"eos_token": "<|im_end|>"}}, (3,)),
        ({"special_tokens_map": {"eos_token": {"content": "<|im_end|>", "lstrip": False}}}, (3,)),
        ({"config": {"eos_token_id": 3}}, (3,)),
        ({"config": {"eos_token_id": [3, 2]}}, (3, 2)),
        ({"config": {"text_config": {"eos_token_id": 3}}}, (3,)),
        ({"config": {"eos_token_id": None, "text_config": {"eos_token_id": 2}}}, (2,)),
        # newer files come first
        ({"config": {"eos_token_id": 2}, "generation_config": {"eos_token_id": 3}}, (3,)),
        ({"special_tokens_map": {"eos_token": "<s>"}, "tokenizer_config": {"eos_token": "<|im_end|>"}}, (3,)),
        ({"config": {"eos_token_id": 2}, "generation_config": {"top_k": 3}}, (2,)),
        ({"config": {"eos_token_id": 2}, "tokenizer_config": {"eos_token": "<|im_end|>"}}, (2, 3)),
        # a file of another program with this name
        ({"config": [1], "special_tokens_map": {"eos_token": "<|im_end|>"}}, (3,)),
    ],
)
def test_stop_tokens_in_older_files(folder: Path, files: dict[str, Any], stop: tuple[int, ...]) -> None:
    for name, content in files.items():
        (folder / f"{name}.json").write_text(json.dumps(content), encoding="utf-8")
    loaded: list[tk.Vocabulary] = []
    assert warned(lambda: loaded.append(tk.Vocabulary.load(folder))) == []
    assert loaded[0].stop == stop


def test_other_sources_without_stop_tokens(tmp_path: Path) -> None:
    ranks = tmp_path / "x.tiktoken"
    ranks.write_bytes(b"YQ== 0\nYg== 1\n")
    tekken = {"default_vocab_size": 2, "default_num_special_tokens": 1, "pattern": "."}
    unnamed = [{"rank": 0, "token_str": "<start>", "is_control": True}]
    content = {"config": tekken, "vocab": [{"rank": 0, "token_bytes": "YQ=="}], "special_tokens": unnamed}
    (tmp_path / "tekken.json").write_text(json.dumps(content), encoding="utf-8")
    (tmp_path / "config.json").write_bytes(b"not JSON")
    sources = [ranks, tmp_path / "tekken.json", BYTES, Tokenizer(models.WordLevel({"a": 0}, unk_token="a"))]
    for source in sources:
        [message] = warned(lambda source=source: tk.Vocabulary.load(source))  # type: ignore[misc]
        assert "stop=" in message
        assert warned(lambda source=source: tk.Vocabulary.load(source, stop=())) == []  # type: ignore[misc]


def model_of(width: int) -> Any:
    return Constant(torch.zeros(width))


# Tokens and logits of models.
PADDED = [
    (151_669, 151_936),
    (151_665, 152_064),
    (50_295, 51_200),
    (262_145, 262_208),
    (259, 384),
    (257, 1281),
]
OF_OTHERS = [(257, 262_144), (257, 1282), (128_256, 151_936), (32_000, 50_257), (50_257, 65_536)]


@pytest.mark.parametrize(("tokens", "logits"), PADDED + OF_OTHERS)
def test_more_logits_than_tokens(tokens: int, logits: int) -> None:
    source = [*BYTES[:256], *[None] * (tokens - 256)]
    messages = warned(lambda: tk.Vocabulary.load(source, stop=(), width=logits))
    if (tokens, logits) in PADDED:
        assert messages == []
    else:
        [message] = messages
        assert f"{tokens:,} tokens" in message
        assert f"{logits:,} logits" in message


def test_a_tokenizer_of_another_model(model: Any, tokenizer: Any) -> None:
    constraint = tk.regex("ab")
    vocabulary = tk.Vocabulary.load(tokenizer)
    assert warned(lambda: tk.generate(model, tokenizer, "x", constraint)) == []
    for given in (constraint, constraint.compile(vocabulary)):
        messages = warned(lambda given=given: tk.generate(model_of(20_000), small_tokenizer(), "x", given))  # type: ignore[misc]
        assert any("272 tokens" in message and "20,000 logits" in message for message in messages)
        messages = warned(
            lambda given=given: next(tk.stream(model_of(20_000), small_tokenizer(), "x", given))
        )  # type: ignore[misc]
        assert any("20,000 logits" in message for message in messages)


def test_a_tokenizer_with_more_tokens_than_logits() -> None:
    tokenizer = small_tokenizer()
    tokenizer.add_special_tokens({"additional_special_tokens": [f"<{number}>" for number in range(2000)]})
    size = len(tokenizer)
    assert warned(lambda: vocabulary_of(model_of(size - 2000), tokenizer)) == []  # none is text
    tokenizer.add_tokens([f"<text {number}>" for number in range(1100)])
    [message] = warned(lambda: vocabulary_of(model_of(size + 1090), tokenizer))
    assert f"{size + 1100:,} tokens" in message
    assert f"{size + 1090:,} logits" in message
    assert "10 tokens that are text" in message
    with pytest.raises(
        tk.ArgumentError, match=f"tokenizer must be .* with {size + 1100:,} tokens.* {size:,} logits"
    ):
        tk.generate(model_of(size), tokenizer, "x", tk.regex("ab"))


@pytest.mark.parametrize("fewer", [1, 20, 171])
def test_a_vocabulary_that_is_wider_than_the_logits(tokenizer: Any, fewer: int) -> None:
    compiled = tk.regex("ab").compile(tk.Vocabulary.load(tokenizer))
    logits = len(tokenizer) - fewer
    both = rf"{logits} entries.* {len(tokenizer)};"
    with pytest.raises(tk.MaskError, match=both):
        tk.generate(model_of(logits), tokenizer, "x", compiled)
    processor = ConstraintLogitsProcessor(compiled)
    with pytest.raises(tk.MaskError, match=both):
        processor(torch.tensor([[1]]), torch.zeros(1, logits))  # type: ignore[arg-type]


def test_a_model_that_declares_no_width(tokenizer: Any) -> None:
    size = len(tokenizer)

    def undeclared(width: int) -> Any:
        model = model_of(width)
        model.config = None
        return model

    for constraint in (tk.regex("ab"), tk.regex("ab").compile(tk.Vocabulary.load(tokenizer))):
        with pytest.raises(tk.MaskError, match=rf"{size - 1} entries.* {size};"):
            tk.generate(undeclared(size - 1), tokenizer, "x", constraint)
        assert warned(lambda c=constraint: tk.generate(undeclared(size + 9), tokenizer, "x", c)) == []  # type: ignore[misc]
        [message] = warned(lambda c=constraint: tk.generate(undeclared(9000), tokenizer, "x", c))  # type: ignore[misc]
        assert "9,000 logits" in message


def test_a_processor_warns_once(tokenizer: Any) -> None:
    processor = ConstraintLogitsProcessor(tk.regex("ab").compile(tk.Vocabulary.load(tokenizer)))
    ids: Any = torch.tensor([[1]])
    wide: Any = torch.zeros(1, 20_000)
    assert warned(lambda: processor(ids, torch.zeros(1, 400))) == []  # type: ignore[arg-type,return-value]
    [message] = warned(lambda: [processor(ids, wide) for _ in range(3)])
    assert "20,000 logits" in message


class Llama:
    """Stands in for the one of llama-cpp-python."""

    def __len__(self) -> int:
        return 5


Llama.__module__ = "llama_cpp.llama"


def test_objects_of_other_packages(model: Any, tokenizer: Any) -> None:
    compiled = tk.regex("ab").compile(tk.Vocabulary.load(tokenizer))
    own = tokenizer.backend_tokenizer
    for constraint in (tk.regex("ab"), compiled, None):
        with pytest.raises(
            tk.ArgumentError, match=r"model must be .*transformers.*llama-cpp-python.*load\(llama\)"
        ):
            tk.generate(Llama(), Llama(), "x", constraint)  # type: ignore[call-overload]
        with pytest.raises(tk.ArgumentError, match=r"tokenizer must be .*transformers.*llama-cpp-python"):
            tk.generate(model, Llama(), "x", constraint)  # type: ignore[call-overload]
        with pytest.raises(tk.ArgumentError, match=r"tokenizer must be .*PreTrainedTokenizerFast"):
            tk.generate(model, own, "x", constraint)  # type: ignore[call-overload]
    with pytest.raises(tk.ArgumentError, match="AutoTokenizer"):
        tk.generate(model, "google/gemma-3-270m", "x", tk.regex("ab"))
    with pytest.raises(tk.ArgumentError, match="one of transformers, not SimpleNamespace"):
        tk.generate(model, SimpleNamespace(), "x", tk.regex("ab"))
