"""WordPiece: longest match over words that stand apart, on tokenizers easy to see through, and on BERT's."""

from __future__ import annotations

import re
from typing import Any

import pytest
from tokenizers import AddedToken, Tokenizer, decoders, models, normalizers, pre_tokenizers

import tokamata as tk
from fuzz.canonical_exactness import completeness, soundness
from tests.support import masks
from tests.support.texts import all_texts
from tests.support.tokenizers.canonical_tokenizers import SOURCES

ANYTHING = "(?s:.*)"
_DECODER = decoders.WordPiece(prefix="##", cleanup=False)


def make(
    tokens: str,
    pre_tokenizer: Any = None,
    normalizer: Any = None,
    most: int = 100,
    added: tuple[str | AddedToken, ...] = (),
    decoder: Any = _DECODER,
) -> Tokenizer:
    """A tokenizer of the tokens named, [UNK] the first of them."""
    vocab = {text: token for token, text in enumerate(["[UNK]", *tokens.split()])}
    model = models.WordPiece(vocab, unk_token="[UNK]", max_input_chars_per_word=most)
    tokenizer = Tokenizer(model)
    tokenizer.pre_tokenizer = pre_tokenizer or pre_tokenizers.BertPreTokenizer()
    if normalizer is not None:
        tokenizer.normalizer = normalizer
    if decoder is not None:
        tokenizer.decoder = decoder
    tokenizer.add_special_tokens(["[UNK]"])
    tokenizer.add_tokens([*added])
    return tokenizer


def compiled(tokenizer: Tokenizer, pattern: str = ANYTHING) -> tk.CompiledConstraint:
    vocabulary = tk.Vocabulary.load(tokenizer, stop=())
    return tk.regex(pattern).compile(vocabulary, tokenization="canonical")


def allowed(tokenizer: Tokenizer, begun: str, pattern: str = ANYTHING) -> set[str]:
    """The tokens that may follow tokens that are named, separated by spaces."""
    matcher = compiled(tokenizer, pattern).matcher()
    for name in begun.split():
        assert matcher.advance(tokenizer.token_to_id(name)), name
    return {tokenizer.id_to_token(token) for token in masks.allowed(matcher)}


def is_dead(tokenizer: Tokenizer, pattern: str) -> bool:
    """Whether no canonical sequence spells a text of the pattern."""
    try:
        compiled(tokenizer, pattern).matcher()
    except (tk.NoncanonicalError, tk.UnspellableError):
        return True
    return False


# ---- longest match ------------------------------------------------------------------------------


PENDING = "a ab abcd ##b ##c ##cd ##d"  # of the header of longest_match_pieces.hpp


@pytest.mark.parametrize(
    ("begun", "following"),
    [
        ("a", "##c ##cd ##d"),  # ##b would have been ab
        ("ab", "##b ##c ##d"),  # ##cd would have been abcd
        ("ab ##c", "##b ##c ##cd"),  # ##d would have been abcd, and ##cd
        ("ab ##c ##b", "##b ##c ##cd ##d"),
        ("abcd", "##b ##c ##cd ##d"),
    ],
)
def test_what_may_follow(begun: str, following: str) -> None:
    assert allowed(make(PENDING), begun) == {*following.split(), "a", "ab", "abcd"}


def test_a_longer_token_that_the_pattern_asks_for() -> None:
    tokenizer = make(PENDING)
    assert allowed(tokenizer, "", "abcd+") == {"abcd"}
    assert allowed(tokenizer, "", "abc") == {"ab"}
    assert allowed(tokenizer, "ab", "abc[bd]") == {"##c"}
    assert allowed(tokenizer, "ab ##c", "abc[bd]") == {"##b"}


def test_a_token_is_allowed_after_one_word_and_not_after_another() -> None:
    # The tokenizer writes abc as a ##b ##c, and xbc as one token, so ##b ##c cannot follow x.
    tokenizer = make("a x xbc ##b ##c")
    assert allowed(tokenizer, "a", "(?:ab|xb)c") == {"##b"}
    assert allowed(tokenizer, "", "(?:ab|xb)c") == {"a", "xbc"}
    assert allowed(tokenizer, "x", "xb[cb]") == {"##b"}
    assert allowed(tokenizer, "x ##b", "xb[cb]") == {"##b"}


# ---- words --------------------------------------------------------------------------------------


def test_words_have_one_space_between_them() -> None:
    tokenizer = make(PENDING)
    for text in (" ab", "ab ", "ab  ab", "ab\nab"):
        assert is_dead(tokenizer, text), text
    assert allowed(tokenizer, "ab", "ab ab") == {"ab"}


def test_punctuation_and_ideographs_are_words() -> None:
    tokenizer = make("a . 中 ##a ##. ##中", normalizer=normalizers.BertNormalizer())
    assert allowed(tokenizer, "a") == {"a", ".", "中", "##a"}
    assert allowed(tokenizer, "中") == allowed(tokenizer, ".") == {"a", ".", "中"}
    assert is_dead(tokenizer, r"a\.")
    assert allowed(tokenizer, "a", r"a \.") == {"."}


def test_what_the_normalizer_changes() -> None:
    tokenizer = make("a A é e ##A ##é ##e", normalizer=normalizers.BertNormalizer(lowercase=True))
    assert allowed(tokenizer, "") == {"a", "e"}
    assert allowed(tokenizer, "a") == {"a", "e", "##e"}


def test_words_that_are_too_long() -> None:
    tokenizer = make("a aa ##a ##aa", most=4)
    assert allowed(tokenizer, "aa", "a*") == {"##a", "##aa"}
    assert allowed(tokenizer, "aa ##a", "a*") == allowed(tokenizer, "aa ##aa", "a*") == set()
    assert allowed(tokenizer, "aa", "a{3}") == {"##a"}
    assert is_dead(tokenizer, "a{5}")


def test_words_that_have_no_tokens() -> None:
    assert is_dead(make("a ##b"), "ac|b|ba")
    tokenizer = make("a ab ##cb ##c")  # b is no token, and only in some
    assert allowed(tokenizer, "", "(?:a|ab) (?:acb|ab|abb|acbb)") == {"a", "ab"}
    assert is_dead(tokenizer, "(?:a|ab) (?:abb|acbb)")
    assert allowed(tokenizer, "ab a", "ab (?:abb|acb)") == {"##cb"}


def test_a_word_that_begins_with_the_mark() -> None:
    # Where # is no punctuation, a word may begin with it: the model looks `##a` up as it is written.
    tokenizer = make("a # ##a ###", pre_tokenizer=pre_tokenizers.WhitespaceSplit())
    assert tokenizer.encode("##a").tokens == ["##a"]
    assert allowed(tokenizer, "", "##a") == {"##a"}
    assert allowed(tokenizer, "", "###*") == {"#", "###"}
    assert is_dead(tokenizer, "a ##a")  # which comes back as aa
    assert allowed(tokenizer, "a", "a ##") == {"#"}
    assert allowed(make("a # ##a ###"), "") == {"a", "#"}


# ---- added tokens -------------------------------------------------------------------------------


def test_control_tokens_between_words() -> None:
    tokenizer = make(PENDING)
    tokenizer.add_special_tokens(["[SEP]"])
    vocabulary = tk.Vocabulary.load(tokenizer, stop=())
    constraint = tk.regex("ab") + tk.control_token("[SEP]") + tk.regex(" abb?")
    matcher = constraint.compile(vocabulary, tokenization="canonical").matcher()
    for name in ("ab", "[SEP]", "ab", "##b"):
        assert matcher.advance(tokenizer.token_to_id(name))
    assert matcher.is_accepting
    assert tokenizer.decode(matcher.tokens, skip_special_tokens=False) == "ab [SEP] abb"


def test_an_added_token_is_a_word() -> None:
    tokenizer = make("a x ##a ##x", added=("ax", "x"))
    assert tokenizer.decode(tokenizer.encode("a x").ids, skip_special_tokens=False) == "a x"
    assert allowed(tokenizer, "", "x?a? ?x?a?") >= {"ax", "x", "a"}
    assert allowed(tokenizer, "a", ".*") == {"a", "##a", "ax", "x"}  # ##x would make ax
    assert allowed(tokenizer, "x", ".*") == {"a", "ax", "x"}


# ---- what is refused ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("part", "name", "tokenizer"),
    [
        ("normalizer", "Replace", make("a", normalizer=normalizers.Replace("a", "b"))),
        (
            "normalizer",
            "NFC",
            make("a", normalizer=normalizers.Sequence([normalizers.NFC(), normalizers.NFD()])),
        ),
        ("pre-tokenizer", "Metaspace", make("a", pre_tokenizer=pre_tokenizers.Metaspace())),
        ("pre-tokenizer", "Merged", make("a", pre_tokenizer=pre_tokenizers.Punctuation("merged_with_next"))),
        ("pre-tokenizer", "spaces", make("a", pre_tokenizer=pre_tokenizers.Digits())),
        ("decoder", "None", make("a", decoder=None)),
        ("decoder", "@@", make("a", decoder=decoders.WordPiece(prefix="@@", cleanup=False))),
        ("model", "max_input_chars_per_word", make("a ##a", most=1_000_000)),
        ("added tokens", "whitespace", make("a", added=("a b",))),
        ("added tokens", "mark", make("a", added=("##b",))),
        ("added tokens", "normalized", make("a", normalizer=normalizers.Lowercase(), added=("AB",))),
        ("added tokens", "single_word", make("a", added=(AddedToken("b", single_word=True),))),
    ],
)
def test_what_is_refused(part: str, name: str, tokenizer: Tokenizer) -> None:
    with pytest.raises(tk.UnsupportedTokenizerError, match=name) as caught:
        compiled(tokenizer)
    assert caught.value.part == part


# ---- BERT ---------------------------------------------------------------------------------------


BERT = next(source for source in SOURCES if source.name == "bert")


@pytest.mark.parametrize(
    ("alphabet", "size", "pattern"),
    [
        ("ehinst ", 4, "(?s:.*)"),
        ("adeginrs", 4, "[a-z]{4}"),
        ("eginrs", 5, "(?:[eis]|ing?s?){2,3}"),
        ("a.'中 ", 5, "(?s:.*)"),
        ("un#1 ", 5, "\\S{1,3} ?\\S{2}"),
    ],
)
def test_every_mask_of_bert(alphabet: str, size: int, pattern: str) -> None:
    judged = BERT.judged()
    constraint = tk.regex(f"(?=[{alphabet}]{{0,{size}}}\\Z){pattern}")
    start = constraint.compile(judged.vocabulary, tokenization="canonical").matcher()
    texts = all_texts(alphabet, size)
    following: dict[tuple[int, ...], set[int]] = {(): set()}
    whole = set()
    for text in filter(re.compile(pattern).fullmatch, texts):
        tokens = tuple(judged.encode(text))
        if not judged.is_canonical([*tokens]) or judged.decode([*tokens]) != text:
            continue
        whole.add(tokens)
        for place, token in enumerate(tokens):
            following.setdefault(tokens[:place], set()).add(token)
            following.setdefault(tokens[: place + 1], set())
    for place, expected in following.items():
        matcher = start.fork()
        assert all(map(matcher.advance, place)), place
        assert masks.allowed(matcher) == expected, place
        assert matcher.is_accepting == (place in whole), place


def test_bert_is_complete_and_sound() -> None:
    judged = BERT.judged()
    complete, sound = completeness(judged, 10_000), soundness(judged, 400)
    assert not complete.failures
    assert not sound.failures
    assert complete.changed < complete.texts * 0.6
