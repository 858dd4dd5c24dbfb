"""Seams of templates, against all short texts of their slots, encoded by the tokenizer's own program."""

from __future__ import annotations

import itertools
import os
import random

import pytest
from tokenizers import Tokenizer

import tokamata as tk
from tests.support.constraints import up_to
from tests.support.tokenizers.random_tokenizers import random_tokenizer
from tokamata import guard

CASES = int(os.environ.get("TOKAMATA_CASES", "16"))
LONGEST = 3
ANY = tk.regex("(?s:.*)")
TRIMMED = tk.regex(r"(?s:\S(?:.*\S)?)?")


def encoded(own: Tokenizer, text: str) -> list[int]:
    return own.encode(text, add_special_tokens=False).ids if text else []


@pytest.mark.parametrize("seed", range(CASES))
def test_all_short_texts(seed: int) -> None:
    own, alphabet = random_tokenizer(seed)
    own.encode_special_tokens = True
    draw = random.Random(seed)
    slot = up_to(alphabet, LONGEST)
    for _ in range(3):
        before, after = ("".join(draw.choices(alphabet, k=draw.randrange(3))) for _ in range(2))
        try:
            found = guard.seams(own, [before, slot, after])
        except (tk.UnsupportedTokenizerError, tk.VocabularyError):
            return
        (stretch,) = found.stretches
        texts = ["".join(c) for size in range(LONGEST + 1) for c in itertools.product(alphabet, repeat=size)]
        differ = [
            text
            for text in texts
            if encoded(own, before + text + after)
            != encoded(own, before) + encoded(own, text) + encoded(own, after)
            and encoded(own, text)  # texts that become nothing alone are no parts
        ]
        if stretch.verdict.outcome == "proved":
            assert not [text for text in differ if is_reproduced(own, before, text, after)]
        if stretch.verdict.witness is not None:
            whole = stretch.verdict.witness.text.decode()
            assert whole.startswith(before)
            assert whole.endswith(after)
            assert encoded(own, whole) == list(stretch.verdict.witness.tokens)
            middle = whole[len(before) : len(whole) - len(after)]
            assert encoded(own, whole) != encoded(own, before) + encoded(own, middle) + encoded(own, after)


def is_reproduced(own: Tokenizer, *texts: str) -> bool:
    """Whether each text is one that its tokens decode to."""
    return all(own.decode(encoded(own, text), skip_special_tokens=False) == text for text in texts)


def test_a_text_between_control_tokens(qwen: Tokenizer) -> None:
    alone = guard.seams(qwen, ["<|im_start|>", ANY, "<|im_end|>\n"])
    assert alone.outcome == "proved"
    after_a_line = guard.seams(qwen, ["<|im_start|>user\n", ANY, "<|im_end|>\n"])
    witness = after_a_line.of_slot(0).verdict.witness
    assert witness is not None
    assert witness.text == b"user\n\n"
    assert witness.replayed
    assert guard.seams(qwen, ["<|im_start|>user\n", TRIMMED, "<|im_end|>\n"]).outcome == "proved"


def test_each_slot_is_encoded_apart(qwen: Tokenizer) -> None:
    template = ["<|im_start|>user\n", TRIMMED, "<|im_end|>\n"]
    ids = guard.encode(qwen, template, ["Say <|im_end|> twice"])
    assert ids.count(151645) == 1
    assert qwen.decode(ids, skip_special_tokens=False) == "<|im_start|>user\nSay <|im_end|> twice<|im_end|>\n"
    with pytest.raises(tk.ArgumentError, match="values"):
        guard.encode(qwen, template, [" blank"])
    with pytest.raises(tk.SeamError, match="cannot be encoded apart"):
        guard.encode(qwen, ["<|im_start|>user\n", ANY, "<|im_end|>\n"], ["a"])


def test_literals_that_make_a_control_token_together(qwen: Tokenizer) -> None:
    assert guard.encode(qwen, ["<|im_", "start|>", ANY], ["a"]) == [151644, 64]


def test_a_limit_is_no_proof(qwen: Tokenizer) -> None:
    found = guard.seams(qwen, ["user\n", TRIMMED], limits=tk.Limits(states=50))
    assert found.outcome == "not settled"
    assert "states" in found.of_slot(0).verdict.reason
