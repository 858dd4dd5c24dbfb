"""The counterexamples of docs/errata.md to table 1, assumption 1 and proposition 3 of paper 004."""

from __future__ import annotations

import unicodedata
from typing import Any

import pytest
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers

from tests.support.tokenizers.real_tokenizers import package_file
from tokamata.guard.manifests.assumptions import (
    declared_filters,
    normalized_first,
    stable_ties,
    total_order,
    verbatim_controls,
)
from tokamata.guard.manifests.chance import chance_facts
from tokamata.guard.manifests.code_points import CodePoints, sampled_points
from tokamata.guard.manifests.facts import Fact
from tokamata.guard.manifests.merges import merge_facts
from tokamata.guard.manifests.normal_form import normal_form_facts, pairs
from tokamata.guard.manifests.subject import Subject

EVERYTHING = [chr(point) for point in [*range(0x80, 0xD800), *range(0xE000, 0x110000)]]
STRUCTURE = '{}[]":,<>|=/'


def byte_level(merges: list[tuple[str, str]] = [], **model: Any) -> Tokenizer:  # noqa: B006
    """A byte-level tokenizer with all bytes, and tokens for these merges."""
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocab = {letter: token for token, letter in enumerate(letters)}
    for left, right in merges:
        vocab.setdefault(left + right, len(vocab))
    extra = model.pop("extra", [])
    for text in extra:
        vocab.setdefault(text, len(vocab))
    made = Tokenizer(models.BPE(vocab=vocab, merges=merges, **model))
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    made.decoder = decoders.ByteLevel()
    return made


# ---- table 1 ----------------------------------------------------------------------------------


def test_004_table_1_tiktoken_normalizes_nothing() -> None:
    """The paper: NFC."""
    tiktoken = pytest.importorskip("tiktoken", reason="tiktoken is an extra")
    ranks = {bytes([byte]): byte for byte in range(256)}
    encoding = tiktoken.Encoding("bytes", pat_str=r"(?s:.+)", mergeable_ranks=ranks, special_tokens={})
    assert encoding.encode("e\u0301") != encoding.encode("é")
    texts = [chr(point) for point in sampled_points()] + pairs()
    assert any(unicodedata.normalize("NFC", text) != text for text in texts)
    whole = "\n".join(texts)
    assert encoding.decode_bytes(encoding.encode(whole)) == whole.encode()


def test_004_table_1_bert_is_nfd_only_when_it_strips_accents() -> None:
    """The paper: often NFKD."""
    for lower in (False, True):
        keeps = normalizers.BertNormalizer(strip_accents=False, lowercase=lower)
        assert keeps.normalize_str("é") == "é"
        strips = normalizers.BertNormalizer(strip_accents=True, lowercase=lower)
        assert strips.normalize_str("é") == "e"
        assert strips.normalize_str("각") == "\u1100\u1161\u11a8"  # NFD, and no marks in it to strip
        assert strips.normalize_str("ﬁ²") == "ﬁ²"  # NFKD makes fi2 of it
        assert unicodedata.normalize("NFKD", "ﬁ²") == "fi2"
    assert (
        normalizers.BertNormalizer(lowercase=True).normalize_str("É") == "e"
    )  # stripping is the default then
    assert normalizers.BertNormalizer(lowercase=False).normalize_str("É") == "É"


def test_004_table_1_bert_filters_controls_and_format_characters() -> None:
    """The paper: no filter."""
    normalize = normalizers.BertNormalizer(lowercase=False, handle_chinese_chars=False).normalize_str
    assert normalize("a\x07b\u200db") == "abb"
    vanishing = {letter for letter in map(chr, sampled_points()) if normalize(f"1{letter}1") == "11"}
    categories = {unicodedata.category(letter) for letter in vanishing}
    assert {"Cc", "Cf", "Co"} <= categories
    assert {"\u200d", "\u200b", "\u202e", "\u2066", "\ufeff", "\x00", "\x1b", "\x7f"} <= vanishing
    made = Tokenizer(models.WordPiece({"[UNK]": 0, "1": 1, "##1": 2}, unk_token="[UNK]"))
    made.normalizer = normalizers.BertNormalizer(lowercase=False)
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    eleven = made.encode("11").ids
    assert all(made.encode(f"1{letter}1").ids == eleven for letter in sorted(vanishing)[::10])


def test_004_table_1_sentence_piece_has_byte_fallback_and_bpe() -> None:
    """The paper: Unigram, and byte fallback does not apply."""
    sentencepiece = pytest.importorskip("sentencepiece", reason="sentencepiece is an extra")
    path = package_file("mistral_common", "data/tokenizer.model.v1")
    processor = sentencepiece.SentencePieceProcessor(model_file=str(path))
    pieces = processor.encode("a\U0001f9ff", out_type=str)
    assert pieces[-4:] == ["<0xF0>", "<0x9F>", "<0xA7>", "<0xBF>"]
    assert processor.decode(processor.encode("a\U0001f9ff")) == "a\U0001f9ff"
    subject = Subject(path)
    assert subject.model == "BPE"
    assert subject.sentence_piece is not None
    assert len(subject.sentence_piece.bytes) == 256


# ---- assumption 1 -----------------------------------------------------------------------------


def merged_in_order(tokenizer: Tokenizer) -> Fact:
    subject = Subject(tokenizer)
    return total_order(subject, {**chance_facts(subject), **merge_facts(subject)})


def test_004_assumption_1_i_a_token_without_merges_is_a_piece_of_its_own() -> None:
    merges = [("a", "b")]
    plain, whole = byte_level(merges, extra=["abc"]), byte_level(merges, extra=["abc"], ignore_merges=True)
    assert len(plain.encode("abc").ids) == 2
    assert len(whole.encode("abc").ids) == 1
    assert len(whole.encode("abca").ids) == 3  # in a longer piece, the merges count again
    assert merged_in_order(plain).value is True
    found = merged_in_order(whole)
    assert found.value is False
    assert found.witness is not None
    assert found.witness.text == b"abc"
    assert found.witness.tokens == (whole.token_to_id("abc"),)


def test_004_assumption_1_ii_dropout_makes_other_tokens_each_time() -> None:
    merges = [("t", "h"), ("th", "e"), ("i", "n"), ("a", "n"), ("o", "n")]
    assert stable_ties(chance_facts(Subject(byte_level(merges)))).value is True
    random = Subject(byte_level(merges, dropout=0.5))
    facts = chance_facts(random)
    assert stable_ties(facts).value is False
    assert stable_ties(facts).witness is not None
    assert facts["stochastic_settings"].value == {"dropout": 0.5}
    assert merge_facts(random)["greedy"].value is None  # nothing is said of merges that come and go
    rare = chance_facts(Subject(byte_level(merges, dropout=1e-9)))
    assert rare["stochastic"].value is False  # never observed
    assert stable_ties(rare).value is False


def test_004_assumption_1_iv_control_tokens_may_take_spaces() -> None:
    made = byte_level()
    made.add_special_tokens([AddedToken("<mask>", lstrip=True, special=True)])
    mask = made.token_to_id("<mask>")
    assert made.encode("a <mask>").ids == made.encode("a<mask>").ids
    found = verbatim_controls(Subject(made))
    assert found.value is False
    assert found.witness is not None
    assert mask in found.witness.tokens
    assert found.witness.says == "the control token takes the spaces on its left into itself"


@pytest.mark.parametrize("normalized", [False, True])
def test_004_assumption_1_v_added_tokens_come_before_the_normalizer(normalized: bool) -> None:
    made = byte_level()
    made.normalizer = normalizers.NFC()
    made.add_special_tokens([AddedToken("<|im_end|>", normalized=normalized, special=True)])
    end, text = made.token_to_id("<|im_end|>"), "<|im_end|>\u0338"
    assert (end in made.encode(text).ids) == (not normalized)
    assert end not in made.encode(unicodedata.normalize("NFC", text)).ids
    subject = Subject(made)
    found = normalized_first(subject, normal_form_facts(subject))
    assert found.value is normalized
    if not normalized:
        assert found.witness is not None
        assert found.witness.text.decode() == text
        assert end in found.witness.tokens


def test_004_assumption_1_vi_filters_that_nobody_declares() -> None:
    """A model without a token for unknown text drops what it lacks; a normalizer says so in its file."""
    points = CodePoints(3, vanishing=[0x07, 0x200B])
    made = Tokenizer(models.BPE(vocab={"1": 0}, merges=[]))
    assert made.encode("1\u200b1").ids == made.encode("11").ids == [0, 0]
    found = declared_filters(Subject(made), points)
    assert found.value is False
    assert found.witness is not None
    assert found.witness.text == b"1\x071"
    made.normalizer = normalizers.Replace(Regex(r"[\u200b\a]"), "")
    assert declared_filters(Subject(made), points).value is True
    made = Tokenizer(models.WordPiece({"[UNK]": 0, "1": 1, "##1": 2}, unk_token="[UNK]"))
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    made.normalizer = normalizers.BertNormalizer(lowercase=False)
    assert made.encode("1\u200b1").ids == made.encode("11").ids
    assert declared_filters(Subject(made), points).value is True


# ---- proposition 3 ----------------------------------------------------------------------------


def test_004_proposition_3_a_mark_after_a_boundary_destroys_it() -> None:
    """The class of ``<|im_end|>`` under NFC is itself alone, and yet its normalization is not safe."""
    boundary = "<|im_end|>"
    for form in ("NFC", "NFD", "NFKC", "NFKD"):
        assert unicodedata.normalize(form, boundary) == boundary
    normalize = normalizers.NFC().normalize_str
    for mark, before, after in (("\u0338", "<", "≮"), ("\u0338", "=", "≠"), ("\u0338", ">", "≯")):
        assert unicodedata.normalize("NFC", before + mark) == after
        assert normalize(before + mark) == after
    assert normalize(boundary + "\u0338") == "<|im_end|≯"
    assert boundary not in unicodedata.normalize("NFC", boundary + "\u0338")


def test_004_proposition_3_compatibility_is_not_canonical_equivalence() -> None:
    """U+2A74 makes ``::=`` under NFKC, and is canonically equivalent to itself alone."""
    assert unicodedata.normalize("NFD", "\u2a74") == "\u2a74"
    assert normalizers.NFKC().normalize_str("\u2a74") == unicodedata.normalize("NFKC", "\u2a74") == "::="


@pytest.mark.parametrize("normalize", [lambda text: unicodedata.normalize("NFKC", text), None])
def test_004_proposition_3_code_points_that_make_a_comma(normalize: Any) -> None:
    """Three are compatible with a comma; ten more make one beside a digit."""
    normalize = normalize or normalizers.NFKC().normalize_str
    making = {letter: normalize(letter) for letter in EVERYTHING if "," in normalize(letter)}
    digits = {chr(0x1F101 + digit): f"{digit}," for digit in range(10)}
    assert making == {"\ufe10": ",", "\ufe50": ",", "\uff0c": ",", **digits}
    assert all(unicodedata.normalize("NFD", letter) == letter for letter in making)


def test_004_proposition_3_nfc_makes_structure_too() -> None:
    made = {
        letter: unicodedata.normalize("NFC", letter)
        for letter in EVERYTHING
        if unicodedata.normalize("NFC", letter).isascii()
    }
    assert made == {"\u037e": ";", "\u1fef": "`", "\u212a": "K"}
