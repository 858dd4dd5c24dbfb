"""Fourteen traps of real tokenizers, each met once: the tokens were seen with the tokenizer's own program."""

from __future__ import annotations

import pytest

import tokamata as tk
from tests.support.masks import has
from tests.support.tokenizers.canonical_tokenizers import SOURCES, Judged
from tokamata.tokenization.canonical import tokenization_of

ANYTHING = tk.regex("(?s:.*)")


def judged(name: str) -> Judged:
    return next(source for source in SOURCES if source.name == name).judged()


def after(tokenizer: Judged, tokens: list[int], constraint: tk.Constraint = ANYTHING) -> tk.Matcher:
    matcher = constraint.compile(tokenizer.vocabulary, tokenization="canonical").matcher()
    assert all(map(matcher.advance, tokens)), matcher.tokens
    return matcher


def refuses(tokenizer: Judged, tokens: list[int], rule: str) -> None:
    """The last token is refused behind the others, by that rule; the tokenizer agrees."""
    matcher = after(tokenizer, tokens[:-1])
    assert not matcher.advance(tokens[-1])
    assert matcher.explain(tokens[-1]).rule == rule
    assert not tokenizer.is_canonical(tokens)


def is_canonical(tokenizer: Judged, tokens: list[int]) -> bool:
    answer = tokenization_of(tokenizer.vocabulary).first_noncanonical(tokens) is None
    assert answer == tokenizer.is_canonical(tokens), tokens
    return answer


def test_1_prefixes_of_canonical_sequences_need_not_be_canonical() -> None:
    llama = judged("llama-3.1")
    assert is_canonical(llama, [220, 220, 16])
    assert not is_canonical(llama, [220, 220])
    assert not after(llama, [220, 220]).is_accepting


def test_2_the_end_of_a_segment_is_the_end_of_a_text() -> None:
    deepseek = judged("deepseek-v3")
    assert deepseek.encode("  1") == [262, 19]
    assert is_canonical(deepseek, [262, 19])
    llama = judged("llama-3.1")
    tables = tokenization_of(llama.vocabulary)
    assert tables.first_noncanonical([256, 128009]) is None
    assert tables.first_noncanonical([220, 220, 128009]) == 2
    assert llama.encode("  <|eot_id|>") == [256, 128009]
    assert is_canonical(llama, [220, 83739])


def test_3_whole_pre_tokens_that_merges_do_not_make() -> None:
    llama = judged("llama-3.1")
    assert llama.encode(" jeho") == [101503]
    assert is_canonical(llama, [101503])
    assert not is_canonical(llama, [503, 2701, 78])
    assert not after(llama, [503, 2701, 78]).is_accepting
    assert is_canonical(llama, [503, 2701, 677])
    assert not after(llama, [101503]).advance(llama.vocabulary.tokens.index(b"o"))


def test_4_tokens_that_are_canonical_in_context_alone() -> None:
    o200k = judged("o200k-hf")
    assert not is_canonical(o200k, [24091])
    assert o200k.vocabulary[24091] == b"\r\n//"
    context = o200k.encode(" !")
    assert o200k.encode(" !\r\n//") == [*context, 24091]
    assert is_canonical(o200k, [*context, 24091])


def test_5_tokens_that_are_never_canonical() -> None:
    qwen = judged("qwen-3")
    for token in (77150, 123828, 145470):
        refuses_everywhere(qwen, token)


def refuses_everywhere(tokenizer: Judged, token: int) -> None:
    for before in ("", "a", " ", "!", "\n", "1"):
        tokens = tokenizer.encode(before)
        assert not after(tokenizer, tokens).advance(token), (before, token)


def test_6_bytes_that_no_text_has() -> None:
    llama = judged("llama-3.1")
    vocabulary = llama.vocabulary
    mask = after(llama, []).mask
    for byte in (0xC0, 0xC1, *range(0xF5, 0x100)):
        token = vocabulary.tokens.index(bytes([byte]))
        assert not has(mask, token)
    qwen = judged("qwen-3")
    assert qwen.vocabulary[123876] == b"\xef\xa4"
    refuses_everywhere(qwen, 123876)


def test_7_normal_forms_across_tokens() -> None:
    qwen = judged("qwen-3")
    assert qwen.encode("e\u0301") == [963]
    accent = qwen.vocabulary.tokens.index("\u0301".encode())
    refuses(qwen, [*qwen.encode("e"), accent], "normalizer")
    assert after(qwen, qwen.encode("q")).explain(accent).rule != "normalizer"
    # Marks are put in order, those too that some letters take up.
    above, below = (qwen.encode(f"q{mark}")[1:] for mark in ("\u0307", "\u0323"))
    assert is_canonical(qwen, [*qwen.encode("q"), *below, *above])
    refuses(qwen, [*qwen.encode("q"), *above, *below], "normalizer")


def test_8_special_tokens_spelled_by_others() -> None:
    llama = judged("llama-3.1")
    refuses(llama, [27, 91, 68, 354, 851, 91, 29], "added token")


def test_9_added_tokens_match_before_everything() -> None:
    gemma = judged("gemma-3")
    assert gemma.encode("\n" * 33) == [137, 108]
    assert is_canonical(gemma, [137, 108])
    refuses(gemma, [token for text in ("<", "td", ">") for token in gemma.encode(text)], "added token")
    assert is_canonical(gemma, [236820, 175])
    assert is_canonical(gemma, gemma.encode("a  b"))


def test_10_bytes_stand_for_what_the_vocabulary_lacks() -> None:
    gemma = judged("gemma-3")
    assert gemma.encode("é") == [236859]
    assert gemma.vocabulary[433] == b"\xc3"
    assert not after(gemma, []).advance(433)
    lacking = gemma.encode("\U00010fff")
    assert len(lacking) == 4
    assert is_canonical(gemma, lacking)


def test_11_the_space_before_a_text() -> None:
    llama = judged("llama-2")
    space, newline = 28705, 13
    assert llama.encode("\n") == [space, newline]
    assert is_canonical(llama, [space, newline])
    assert not is_canonical(llama, [space])
    matcher = tk.regex("\n").compile(llama.vocabulary, tokenization="canonical").matcher()
    assert matcher.forced_tokens() == [space, newline]
    assert matcher.forced_text() == b"\n"
    assert llama.vocabulary[269] == b"en"
    assert tokenization_of(llama.vocabulary).first_noncanonical([1, 269]) == 1
    assert tokenization_of(llama.vocabulary).first_noncanonical([1, *llama.encode("end")]) is None


def test_12_runs_between_the_splits() -> None:
    deepseek = judged("deepseek-v3")
    for text in ("\u200b\u200bx", "a\u200b1", "\u0007\u0007", "1\u200b\u200b中"):
        assert is_canonical(deepseek, deepseek.encode(text))


def test_13_classes_are_those_of_the_tokenizers_engine() -> None:
    llama = judged("llama-3.1")
    assert is_canonical(llama, llama.encode("it'\u017f is"))
    for text in (
        "\u1c89a",
        "a\U0001e6c0",
        "\u0870x",
    ):  # assigned in some versions of Unicode, and not in others
        assert is_canonical(llama, llama.encode(text))


def test_14_pattern_and_tokenizer_together() -> None:
    llama = judged("llama-3.1")
    only_spaces = after(llama, [], tk.regex(" {2}"))
    assert not only_spaces.advance(220)
    assert only_spaces.explain(220).rule == "dead end"
    assert only_spaces.advance(256)
    followed = after(llama, [220, 220], tk.regex(" {2}[a-z1]"))
    assert {token for token in range(200) if followed.explain(token).allowed} == {16}


@pytest.mark.parametrize(("pattern", "prompt"), [("world", "Hello "), ("x", "a  ")])
def test_a_prompt_that_ends_in_a_space_wants_healing(pattern: str, prompt: str) -> None:
    llama = judged("llama-3.1")
    compiled = tk.regex(pattern).compile(llama.vocabulary, tokenization="canonical")
    with pytest.raises(tk.NoncanonicalError, match="heal") as caught:
        compiled.matcher(llama.encode(prompt))
    assert caught.value.by_context
    assert compiled.matcher(llama.encode(prompt.rstrip() + "\n")).mask.any()


def test_contexts() -> None:
    llama = judged("llama-3.1")
    compiled = ANYTHING.compile(llama.vocabulary, tokenization="canonical")
    with pytest.raises(tk.ContextError, match="token 1") as caught:
        compiled.matcher([64, 65])  # a and b are written as one token
    assert caught.value.position == 1
    fresh = compiled.matcher([64, 65], on_noncanonical="fresh")
    assert (fresh.mask == compiled.matcher().mask).all()
    behind = compiled.matcher(llama.encode("Hello"))
    assert behind.advance(llama.encode(" world")[0])
    assert behind.text == b" world"
    with pytest.raises(tk.TokenIdError):
        compiled.matcher([10**9])
    with pytest.raises(ValueError, match="fresh"):
        compiled.matcher([], on_noncanonical="never")  # type: ignore[arg-type]
