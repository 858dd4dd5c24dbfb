"""Tokenizers with parts that few have, against their own program: marks in words, tokens that strip."""

from __future__ import annotations

import itertools
import json
import os
import random
from typing import Any

import pytest
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers

import tokamata as tk
from tests.support.masks import bits
from tests.support.matchers import takes
from tests.support.texts import all_texts
from tests.support.tokenizers.exhaustive_cases import at, cases
from tests.support.tokenizers.rare_families import CLIP_REGEX, RARE_FAMILIES
from tests.support.tokenizers.small_tokenizers import added, document
from tests.support.tokenizers.tokenizer_families import of_family
from tokamata import guard
from tokamata.tokenization.canonical import tokenization_of
from tokamata.tokenization.pipelines.stripping_tokens import WHITE_SPACE
from tokamata.tokenization.running import RunningTokenizer
from tokamata.tokenization.self_test import self_test

_CASES = int(os.environ.get("TOKAMATA_CASES", "16"))
_FAMILIES = [*RARE_FAMILIES, "stripping tokens", "lone tokens", "spaced pieces", "splits"]


def _is_canonical(tokenizer: Tokenizer, vocabulary: tk.Vocabulary, tokens: list[int]) -> bool:
    """Whether a tokenizer writes tokens for what it decodes them to.

    A control token ends a text and begins another.  That matters for decoders that drop the first space of a
    text; then texts are decoded one by one.
    """
    if "Prepend" not in tokenizer.to_str()[:2000]:
        text = tokenizer.decode(tokens, skip_special_tokens=False)
    else:
        texts: list[list[int] | str] = [[]]
        for token in tokens:
            if vocabulary.tokens[token] is None:
                texts += [vocabulary.name(token), []]
            else:
                last = texts[-1]
                assert isinstance(last, list)
                last.append(token)
        text = "".join(each if isinstance(each, str) else tokenizer.decode(each) for each in texts)
    return bool(tokenizer.encode(text, add_special_tokens=False).ids == tokens)


def _unknown(tokenizer: Tokenizer) -> int | None:
    """The token that the model writes for what it cannot write: no text has it, whatever its name."""
    name = getattr(tokenizer.model, "unk_token", None)
    token: int | None = None if name is None else tokenizer.token_to_id(name)
    return token


@pytest.mark.parametrize("family", _FAMILIES)
def test_sequences(family: str) -> None:
    """For the encodings of all short texts, and for random tokens, our tables say what the program says."""
    supported = canonical = 0
    count = _CASES // 4 if family == "isolating" else _CASES  # all code points are run through its normalizer
    for seed in range(count):
        tokenizer, alphabet = of_family(family, seed)
        vocabulary = tk.Vocabulary.load(tokenizer, stop=())
        try:
            tables = tokenization_of(vocabulary)
        except tk.UnsupportedTokenizerError:
            continue
        supported += 1
        draw = random.Random(seed)
        letters = (alphabet + "<m> \n").encode()
        small = [
            token
            for token, text in enumerate(vocabulary.tokens)
            if token != _unknown(tokenizer) and (text is None or set(text) <= set(letters))
        ]
        sequences = [tokenizer.encode(text, add_special_tokens=False).ids for text in all_texts(alphabet, 3)]
        sequences += [draw.choices(small, k=draw.randrange(1, 6)) for _ in range(200)]
        for tokens in sequences:
            if _unknown(tokenizer) in tokens:
                continue
            theirs = _is_canonical(tokenizer, vocabulary, tokens)
            canonical += theirs
            assert (tables.first_noncanonical(tokens) is None) == theirs, (seed, tokens)
    assert supported >= count // 4
    assert canonical > 20 * supported


@pytest.mark.parametrize("family", _FAMILIES)
def test_masks(family: str) -> None:
    """Everything that follows in a canonical text of a pattern, and nothing else."""
    for seed in range(_CASES // 8):
        try:
            found = cases(seed, family)
            starts = [case.matcher() for case in found]
        except tk.UnsupportedTokenizerError:
            continue
        for case, start in zip(found, starts, strict=True):
            assert (start is not None) == bool(case.sequences), (seed, case.constraint)
            for place, following in case.following.items() if start is not None else ():
                matcher = at(start, place)
                assert bits(matcher.mask) == following, (seed, case.constraint, place)
                assert matcher.is_accepting == (place in case.sequences), (seed, case.constraint, place)


@pytest.mark.parametrize("family", _FAMILIES)
def test_the_self_test_passes(family: str) -> None:
    passed = 0
    for seed in range(6):
        tokenizer, _ = of_family(family, seed)
        vocabulary = tk.Vocabulary.load(tokenizer, stop=())
        try:
            outcome = self_test(vocabulary, RunningTokenizer(tokenizer))
        except tk.UnsupportedTokenizerError:
            continue
        assert outcome, (seed, outcome.mismatch)
        passed += 1
    assert passed


# ---- marks in words -------------------------------------------------------------------------------


def _clip(decoder: Any, **model: Any) -> Tokenizer:
    """A small CLIP, with the tokens of some words."""
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    merges = [("t", "h"), ("th", "e</w>"), ("c", "a"), ("ca", "t</w>"), ("th", "e"), ("Ã", "©</w>")]
    texts = [*letters, *(letter + "</w>" for letter in letters), *(left + right for left, right in merges)]
    vocab = {text: token for token, text in enumerate(dict.fromkeys(texts))}
    model = {"end_of_word_suffix": "</w>", **model}
    tokenizer = Tokenizer(models.BPE(vocab=vocab, merges=merges, **model))
    tokenizer.normalizer = normalizers.Sequence([normalizers.NFC(), normalizers.Lowercase()])
    split = pre_tokenizers.Split(Regex(CLIP_REGEX), "removed", invert=True)
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [split, pre_tokenizers.ByteLevel(add_prefix_space=False)]
    )
    tokenizer.decoder = decoder
    return tokenizer


_SPACED = decoders.Sequence([decoders.Replace("</w>", "Ġ"), decoders.ByteLevel()])


def test_clip() -> None:
    tokenizer = _clip(_SPACED)
    vocabulary = tk.Vocabulary.load(tokenizer, stop=())
    matcher = tk.regex("(?s:.*)").compile(vocabulary, tokenization="canonical").matcher()
    names = ["the</w>", "cat</w>", "th", "a", "t</w>", "Ã©</w>", "4</w>", "2</w>", "'", "s</w>"]
    ids = [tokenizer.token_to_id(name) for name in names]
    the, cat = ids[:2]
    assert tokenizer.encode("the  cat").ids == [the, cat]
    assert tokenizer.decode([the, cat]) == "the cat "
    assert takes(matcher, [the, cat])
    for text in (
        "that is thé end ",
        "42 ",
        "it 's ",
        "é ",
        "日本 語 ",
        "the-cat ",
        "The cat ",
        "the  cat ",
        " a ",
    ):
        tokens = tokenizer.encode(text).ids
        theirs = tokenizer.encode(tokenizer.decode(tokens)).ids == tokens
        fork = tk.regex("(?s:.*)").compile(vocabulary, tokenization="canonical").matcher()
        assert takes(fork, tokens) == theirs, text
    outcome = self_test(vocabulary, RunningTokenizer(tokenizer))
    assert outcome, outcome.mismatch


def _gpt_1(**flags: bool) -> Tokenizer:
    letters = "abé中文"
    texts = ["<unk>", *letters, *(letter + "</w>" for letter in letters), "ab</w>", "中文", "a中</w>"]
    merges = [("a", "b</w>"), ("中", "文"), ("a", "中</w>")]
    vocab = {text: token for token, text in enumerate(texts)}
    model = models.BPE(vocab=vocab, merges=merges, unk_token="<unk>", end_of_word_suffix="</w>")
    tokenizer = Tokenizer(model)
    tokenizer.normalizer = normalizers.BertNormalizer(**flags)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.BPEDecoder("</w>")
    return tokenizer


def test_spaces_around_chinese_characters() -> None:
    """GPT-1's normalizer puts them there, so each of these is a word, whatever merges there are."""
    tokenizer = _gpt_1(strip_accents=False)
    vocabulary = tk.Vocabulary.load(tokenizer, stop=())
    names = ["ab</w>", "中</w>", "文</w>", "é</w>"]
    tokens = [tokenizer.token_to_id(name) for name in names]
    assert tokenizer.encode("ab中文é").ids == tokens
    matcher = tk.regex("(?s:.*)").compile(vocabulary, tokenization="canonical").matcher()
    assert takes(matcher, tokens)
    assert not matcher.fork().advance(tokenizer.token_to_id("a中</w>"))
    with pytest.raises((tk.NoncanonicalError, tk.UnspellableError)):
        tk.regex("中文 ").compile(vocabulary, tokenization="canonical")
    assert self_test(vocabulary, RunningTokenizer(tokenizer))


def test_where_spaces_around_chinese_characters_are_refused() -> None:
    flags = dict.fromkeys(("clean_text", "strip_accents", "lowercase"), False)
    tokenizer = _gpt_1(**flags)
    tokenizer.pre_tokenizer = pre_tokenizers.Split(Regex(r"\S+|  "), "removed", invert=True)
    assert "its BertNormalizer with handle_chinese_chars changes that" in _refused(tokenizer)
    tokenizer = _gpt_1()
    tokenizer.normalizer = normalizers.Sequence([normalizers.BertNormalizer(**flags), normalizers.NFC()])
    assert "normalizer" in _refused(tokenizer)
    tokenizer = _gpt_1(**flags)
    tokenizer.add_tokens([AddedToken("<中>", normalized=True)])
    assert "'<中>' is found in normalized texts, where it has spaces" in _refused(tokenizer)


def test_a_word_has_one_space() -> None:
    vocabulary = tk.Vocabulary.load(_clip(_SPACED), stop=())
    for pattern in ("the cat", " the ", "the  cat ", "THE ", "the,cat "):
        with pytest.raises((tk.NoncanonicalError, tk.UnspellableError)):
            tk.regex(pattern).compile(vocabulary, tokenization="canonical").matcher()
    for pattern in ("the cat ", "the , cat ", ""):
        tk.regex(pattern).compile(vocabulary, tokenization="canonical").matcher()


def _refused(tokenizer: Tokenizer | dict[str, Any]) -> str:
    if isinstance(tokenizer, dict):
        tokenizer = Tokenizer.from_str(json.dumps(tokenizer))
    vocabulary = tk.Vocabulary.load(tokenizer, stop=())
    with pytest.raises(tk.UnsupportedTokenizerError) as caught:
        tk.regex("a").compile(vocabulary, tokenization="canonical")
    return f"{caught.value.part}: {caught.value.reason}"


def test_what_marks_are_refused() -> None:
    # What is in CLIP's own file: transformers replaces the suffix, the file does not.
    assert "'!</w>', and not to '! '" in _refused(_clip(decoders.ByteLevel()))
    of_words = decoders.Sequence([decoders.BPEDecoder("</w>"), decoders.ByteLevel()])
    assert "decoder: it decodes '¡</w>' to '¡ '" in _refused(_clip(of_words))
    assert "with ignore_merges" in _refused(_clip(_SPACED, ignore_merges=True))
    assert "with byte_fallback" in _refused(_clip(_SPACED, byte_fallback=True))
    made = json.loads(_clip(_SPACED).to_str())
    made["model"].update(continuing_subword_prefix="<", merges=[])
    both = _refused(made)
    assert "end_of_word_suffix = '</w>' and continuing_subword_prefix" in both
    spaced = _clip(_SPACED)
    spaced.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    assert "leaves out no space" in _refused(spaced)
    spaced.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(r"a b|\S+"), "removed", invert=True),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    assert "a word may have a space" in _refused(spaced)


def test_a_mark_that_merges_make_is_refused() -> None:
    merges = [["<", "/"], ["</", "w"], ["</w", ">"], ["a", "b</w>"]]
    texts = ["a", "b", "a</w>", "b</w>", "<", "/", "w", ">", "</", "</w", "</w>", "ab</w>"]
    vocab = {text: token for token, text in enumerate(texts)}
    made = document(vocab, {"type": "BPEDecoder", "suffix": "</w>"}, merges=merges, end_of_word_suffix="</w>")
    made["pre_tokenizer"] = {"type": "WhitespaceSplit"}
    assert "out of characters of a text" in _refused(made)
    made["model"]["merges"] = merges[3:]
    vocabulary = tk.Vocabulary.load(Tokenizer.from_str(json.dumps(made)), stop=())
    tk.regex("ab ").compile(vocabulary, tokenization="canonical")


def test_dropout_is_refused() -> None:
    made = document({"a": 0, "b": 1, "ab": 2}, {"type": "Fuse"}, merges=[["a", "b"]], dropout=0.1)
    assert "dropout = 0.1: it leaves out merges at random" in _refused(made)


# ---- words ------------------------------------------------------------------------------------------


def test_whole_words() -> None:
    made = document({"[UNK]": 0, "the": 1, "cat": 2, "!": 3}, kind="WordLevel", unk_token="[UNK]")
    made["added_tokens"] = [added(0, "[UNK]")]
    made["pre_tokenizer"] = {"type": "Whitespace"}
    tokenizer = Tokenizer.from_str(json.dumps(made))
    vocabulary = tk.Vocabulary.load(tokenizer, stop=())
    assert tokenizer.decode([1, 2, 3]) == "the cat !"
    matcher = tk.regex("the [a-z ]*!").compile(vocabulary, tokenization="canonical").matcher()
    assert bits(matcher.mask) == {1}
    assert takes(matcher, [1, 2, 3])
    assert matcher.advance(1)
    assert bits(matcher.mask) == {1, 2, 3}
    with pytest.raises((tk.NoncanonicalError, tk.UnspellableError)):
        tk.regex("the dog").compile(vocabulary, tokenization="canonical").matcher()
    made["decoder"] = {"type": "WordPiece", "prefix": "##", "cleanup": False}
    assert "does not write words" in _refused(made)


# ---- added tokens -----------------------------------------------------------------------------------


def _with_mask(**flags: bool) -> Tokenizer:
    """RoBERTa's ``<mask>``, beside a text token with a space."""
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    texts = [*letters, "aĠ", "Ġa"]
    vocab = {text: token for token, text in enumerate(texts)}
    tokenizer = Tokenizer(models.BPE(vocab=vocab, merges=[("Ġ", "a")]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens([AddedToken("<mask>", normalized=False, **flags)])
    return tokenizer


def test_a_mask_swallows_the_space_before_it() -> None:
    tokenizer = _with_mask(lstrip=True)
    vocabulary = tk.Vocabulary.load(tokenizer, stop=())
    mask, space, letter = (tokenizer.token_to_id(name) for name in ("<mask>", "Ġ", "a"))
    assert tokenizer.encode("a <mask>").ids == [letter, mask]
    tables = tokenization_of(vocabulary)
    for tokens in ([letter, mask], [mask, space], [mask, mask], [mask, letter, mask]):
        assert tables.first_noncanonical(tokens) is None, tokens
    for tokens in ([space, mask], [letter, space, mask], [mask, space, mask]):
        assert tables.first_noncanonical(tokens) == len(tokens) - 1, tokens


@pytest.mark.parametrize("side", ["lstrip", "rstrip"])
def test_white_space_is_that_of_the_program(side: str) -> None:
    tokenizer = _with_mask(**{side: True})
    for point in [*range(0x3100), 0xFEFF, 0xE0020]:
        text = f"a{chr(point)}<mask>" if side == "lstrip" else f"<mask>{chr(point)}a"
        is_swallowed = len(tokenizer.encode(text).ids) == 2
        assert is_swallowed == (chr(point) in WHITE_SPACE), hex(point)


def test_what_stripping_tokens_are_refused() -> None:
    def refused(content: str, **flags: bool) -> str:
        tokenizer = _with_mask(lstrip=True, rstrip=True)
        tokenizer.add_tokens([AddedToken(content, **flags)])
        return _refused(tokenizer)

    assert "may begin in the space before it" in refused(" ", normalized=False)
    assert "'<mask>s' begins with it" in refused("<mask>s", normalized=False)
    assert "is rstrip, and ' a' begins with white space" in refused(" a", normalized=False)


def test_runs_of_spaces_beside_a_mask() -> None:
    """ModernBERT's: tokens of spaces that are found in what the mask leaves."""
    tokenizer = _with_mask(lstrip=True)
    tokenizer.add_tokens([AddedToken(" " * size, normalized=True) for size in (2, 3)])
    vocabulary = tk.Vocabulary.load(tokenizer, stop=())
    tables = tokenization_of(vocabulary)
    names = ("<mask>", "Ġ", "a", "  ", "   ")
    tokens = [tokenizer.token_to_id(name) for name in names]
    for seed in range(400):
        sequence = random.Random(seed).choices(tokens, k=1 + seed % 5)
        theirs = _is_canonical(tokenizer, vocabulary, sequence)
        assert (tables.first_noncanonical(sequence) is None) == theirs, sequence


def test_a_mark_after_a_normalized_token() -> None:
    """What is found in the normal form is not found if a mark has joined its last character."""
    tokenizer = _with_mask()
    tokenizer.normalizer = normalizers.NFC()
    tokenizer.add_tokens([AddedToken("<m>", normalized=True)])
    assert tokenizer.encode("<m>\u0338").ids != [
        tokenizer.token_to_id("<m>"),
        *tokenizer.encode("\u0338").ids,
    ]
    assert "where a mark beside it may change it" in _refused(tokenizer)
    tokenizer = _with_mask()
    tokenizer.normalizer = normalizers.NFC()
    tokenizer.add_tokens([AddedToken("|m|", normalized=True)])
    tk.regex("a").compile(tk.Vocabulary.load(tokenizer, stop=()), tokenization="canonical")


@pytest.mark.parametrize("special", [True, False])
def test_a_text_begins_anew_after_a_token_that_swallows_its_prefix(special: bool) -> None:
    """Phi-3's ``</s>`` and ``<|user|>``: what the decoder writes for the prefix is swallowed."""
    vocab = {"<unk>": 0, "▁": 1, "a": 2, "b": 3, "▁a": 4, "▁▁": 5}
    made = document(vocab, None, merges=[["▁", "a"], ["▁", "▁"]], unk_token="<unk>")
    spaced = {"type": "Replace", "pattern": {"String": " "}, "content": "▁"}
    prepend = {"type": "Prepend", "prepend": "▁"}
    made["normalizer"] = {"type": "Sequence", "normalizers": [prepend, spaced]}
    back = {"type": "Replace", "pattern": {"String": "▁"}, "content": " "}
    strip = {"type": "Strip", "content": " ", "start": 1, "stop": 0}
    made["decoder"] = {"type": "Sequence", "decoders": [back, {"type": "Fuse"}, strip]}
    made["added_tokens"] = [{**added(6, "</s>"), "rstrip": True, "special": special}, added(7, "<s>", False)]
    tokenizer = Tokenizer.from_str(json.dumps(made))
    vocabulary = tk.Vocabulary.load(tokenizer, stop=())
    tables = tokenization_of(vocabulary)
    assert tokenizer.encode("a</s>a").ids == [4, 6, 4] == tokenizer.encode("a</s> a").ids
    assert tables.first_noncanonical([4, 6, 4]) is None
    for size in range(1, 5):
        for sequence in itertools.product(range(1, 8), repeat=size):
            tokens = list(sequence)
            theirs = _is_canonical(tokenizer, vocabulary, tokens)
            assert (tables.first_noncanonical(tokens) is None) == theirs, tokens


def test_a_part_after_byte_level_is_refused() -> None:
    """Falcon's pre-tokenizer, whose digits are cut from the characters that stand for bytes."""
    tokenizer = _with_mask()
    digits = pre_tokenizers.Digits(individual_digits=False)
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.ByteLevel(add_prefix_space=False), digits]
    )
    assert "after ByteLevel, which may cut within characters" in _refused(tokenizer)


def test_a_space_that_is_left_out_and_put_back_is_refused() -> None:
    tokenizer = _with_mask()
    parts = [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.ByteLevel(add_prefix_space=True)]
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(parts)
    assert tokenizer.decode(tokenizer.encode("a a").ids) == " a a"
    assert "which may be one that was left out" in _refused(tokenizer)


def test_the_guard_proves_nothing_of_these() -> None:
    for tokenizer in (_with_mask(lstrip=True), _clip(_SPACED)):
        with pytest.raises(tk.UnsupportedTokenizerError, match="the guard proves nothing"):
            guard.boundary(tokenizer, "<mask>")
