"""Unigram models that are trained here, by both trainers: complete and sound, against the program."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from typing import Any

import pytest
from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

import tokamata as tk
from fuzz.canonical_exactness import completeness, soundness
from tests.support.tokenizers.canonical_tokenizers import Judged
from tests.support.tokenizers.trained_sentence_piece import trained
from tokamata.tokenization.adversarial_texts import CORPUS
from tokamata.tokenization.pipelines.sentence_piece_model import SentencePieceModel, read_model

STEPS, WALKS = 4000, 400


@cache
def sentence_piece_model(**options: Any) -> SentencePieceModel:
    return read_model(trained(CORPUS * 3, model_type="unigram", vocab_size=1600, **options))


def converted(**options: Any) -> Tokenizer:
    """A SentencePiece model as a ``tokenizer.json``, in the form that T5, XLM-R and others have."""
    model = sentence_piece_model(**options)
    names = [text for text, _, kind in model.listed if kind in (2, 3)]
    byte_fallback = bool(model.bytes)
    vocab = [(text, score) for text, score, _ in model.listed]
    tokenizer = Tokenizer(models.Unigram(vocab, names.index("<unk>"), byte_fallback))
    charsmap = normalizers.Precompiled(bytes(model.charsmap))
    blanks = normalizers.Replace(Regex(" {2,}"), " ")
    tokenizer.normalizer = normalizers.Sequence([charsmap, normalizers.Strip(left=False), blanks])
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = decoders.Metaspace()
    if byte_fallback:
        tokenizer.decoder = decoders.Sequence([decoders.Metaspace(), decoders.ByteFallback()])
    tokenizer.add_special_tokens(names)
    return tokenizer


def by_hugging_face() -> Tokenizer:
    """Its trainer makes float64, so sums round."""
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.normalizer = normalizers.NFKC()
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace()]
    )
    tokenizer.decoder = decoders.Metaspace()
    trainer = trainers.UnigramTrainer(
        vocab_size=1600, special_tokens=["<unk>", "<s>"], unk_token="<unk>", show_progress=False
    )
    tokenizer.train_from_iterator(list(CORPUS) * 3, trainer)
    return tokenizer


def judged(tokenizer: Tokenizer) -> Judged:
    return Judged(
        tk.Vocabulary.load(tokenizer, stop=()),
        lambda text: list(tokenizer.encode(text, add_special_tokens=False).ids),
        lambda tokens: tokenizer.decode(tokens, skip_special_tokens=False),
    )


@pytest.mark.parametrize(
    "make",
    [
        by_hugging_face,
        lambda: converted(normalization_rule_name="nmt_nfkc"),
        lambda: converted(normalization_rule_name="nfkc_cf"),
        lambda: converted(byte_fallback=True, character_coverage=0.98),
        lambda: Tokenizer.from_str(json.dumps(json.loads(converted().to_str()))),
    ],
    ids=["hugging face", "nmt_nfkc", "nfkc_cf", "byte fallback", "written and read"],
)
def test_complete_and_sound(make: Callable[[], Tokenizer]) -> None:
    case = judged(make())
    complete = completeness(case, STEPS, seed=1)
    assert not complete.failures, complete.failures[:3]
    assert complete.steps >= STEPS
    sound = soundness(case, WALKS, seed=1)
    assert not sound.failures, sound.failures[:3]
    assert sound.probes > sound.walks / 4
