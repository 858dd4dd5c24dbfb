"""Normalizers that replace, remove and recompose: which texts have canonical tokens, by their own
programs."""

from __future__ import annotations

import base64
import itertools
import random
import struct
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import numpy as np
import pytest
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers

import tokamata as tk
from tests.support.masks import bits
from tests.support.texts import all_texts
from tests.support.tokenizers.random_normalizers import (
    charsmap_of,
    random_normalizer,
    small_charsmap,
    trained_charsmap,
)
from tests.support.tokenizers.spelled import spelled
from tests.support.tokenizers.trained_sentence_piece import trained
from tokamata.tokenization.canonical import tokenization_of
from tokamata.tokenization.pipelines.charsmaps import Charsmap
from tokamata.tokenization.pipelines.cluster_forms import DEAD, OWES, cluster_form
from tokamata.tokenization.pipelines.normal_forms import unchanged_points
from tokamata.tokenization.pipelines.tokenizer_json_normalizer import read_normalizer
from tokamata.tokenization.pretokenizers.classes import CODE_POINTS, HuggingFaceEngine
from tokamata.vocabulary.sections import Section

SIGN = "\u2581"
EVERYTHING = np.ones(CODE_POINTS, dtype=bool)


def made(
    letters: str,
    normalizer: normalizers.Normalizer | None,
    pre_tokenizer: pre_tokenizers.PreTokenizer | None = None,
    merges: tuple[tuple[str, str], ...] = (),
) -> Tokenizer:
    """A tokenizer with a token for each of some characters."""
    vocab = {letter: token for token, letter in enumerate(dict.fromkeys(letters))}
    for left, right in merges:
        vocab.setdefault(left + right, len(vocab))
    tokenizer = Tokenizer(models.BPE(vocab=vocab, merges=list(merges)))
    if normalizer is not None:
        tokenizer.normalizer = normalizer
    tokenizer.decoder = decoders.Fuse()
    if pre_tokenizer is not None:
        tokenizer.pre_tokenizer = pre_tokenizer
    if SIGN in letters:
        scheme = getattr(pre_tokenizer, "prepend_scheme", "always")
        tokenizer.decoder = decoders.Metaspace(prepend_scheme=scheme)
    tokenizer.add_tokens([AddedToken("<m>", normalized=False)])
    return tokenizer


def compare(tokenizer: Tokenizer, texts: list[str]) -> int:
    """Holds the tables against the program; returns how many of the texts are canonical."""
    vocabulary = tk.Vocabulary.load(tokenizer, stop=())
    count = 0
    for text in texts:
        tokens = tokenizer.encode(text, add_special_tokens=False).ids
        comes_back = tokenizer.decode(tokens, skip_special_tokens=False) == text
        assert spelled(vocabulary, text) == (tuple(tokens) if comes_back else None), text
        count += comes_back
    return count


# ---- charsmaps ----------------------------------------------------------------------------------


def test_keys_and_results_of_a_charsmap() -> None:
    replacements = {"a": "b", "ab": "c", "e\u0301": "\xe9", "\uff21": "", "\U0001f600x": "y"}
    charsmap = Charsmap(charsmap_of(replacements))
    assert charsmap.single_keys() == {"a": "b", "\uff21": ""}
    assert charsmap.keys_over(EVERYTHING) == replacements
    without = EVERYTHING.copy()
    without[ord("e")] = False
    assert set(charsmap.keys_over(without)) == replacements.keys() - {"e\u0301"}


def damaged_charsmaps() -> list[bytes]:
    """A charsmap cut off, with a cycle, with positions out of it, and with bytes that are no text."""
    whole = small_charsmap()
    (size,) = struct.unpack_from("<I", whole)
    found = [
        b"",
        b"\0",
        whole[:3],
        whole[: 4 + size // 2],
        struct.pack("<I", 3),
        struct.pack("<I", 1 << 31) + whole,
    ]
    # The root, and each child of it for the byte 0x61, lead to the root's offset again.
    units = [0] * 256
    units[0] = 1 << 10
    units[1 ^ 0x61] = 0x61 | (1 ^ 0x61 ^ 1) << 10
    found.append(struct.pack("<I256I", 1024, *units) + b"x\0")
    units[1 ^ 0x61] = 0x61 | 0x1FFFFF << 10
    found.append(struct.pack("<I256I", 1024, *units) + b"x\0")
    for key, result in ((b"\x80", 0), (b"\xc3", 0), (b"a", 99), (b"\xff", 0)):
        units = [0] * 512
        units[0] = 1 << 10
        units[1 ^ key[0]] = key[0] | ((1 ^ key[0]) ^ 0x100) << 10 | 1 << 8
        units[0x100] = 1 << 31 | result
        found.append(struct.pack("<I512I", 2048, *units) + b"x\0")
    return found


@pytest.mark.parametrize("blob", damaged_charsmaps())
def test_damaged_charsmaps_are_typed_errors(blob: bytes) -> None:
    def keys() -> None:
        charsmap = Charsmap(blob)
        charsmap.single_keys()
        charsmap.keys_over(EVERYTHING)

    with pytest.raises(tk.VocabularyError, match="charsmap of the tokenizer is damaged"):
        keys()


def test_random_damage_is_refused_or_harmless() -> None:
    draw = random.Random(11)
    for _ in range(150):
        blob = bytearray(small_charsmap())
        for _ in range(draw.choice([1, 1, 4])):
            blob[draw.randrange(len(blob) if draw.random() < 0.2 else 1024)] = draw.randrange(256)
        with suppress(tk.VocabularyError):
            charsmap = Charsmap(bytes(blob[: draw.randrange(len(blob)) if draw.random() < 0.1 else None]))
            assert len(charsmap.keys_over(EVERYTHING)) < 1_000_000


def test_a_blob_that_is_no_base_64() -> None:
    import json

    document = json.loads(made("ab", normalizers.Precompiled(small_charsmap())).to_str())
    document["normalizer"]["precompiled_charsmap"] = "*"
    from tokamata.tokenization.pipelines.tokenizer_json import pipeline_from_tokenizer_json

    with pytest.raises(tk.VocabularyError, match=r"normalizer\.precompiled_charsmap is not Base64"):
        pipeline_from_tokenizer_json(document, [b"a", b"b", b"<m>"])


CLUSTERS = "e\u0301\xea\u0600\u2194\u0338\u1ab0\xa9\u200d"


@pytest.mark.parametrize("rule", ["small", "nmt_nfkc", "nfkc"])
def test_texts_that_a_charsmap_leaves_alone(rule: str) -> None:
    blob = small_charsmap() if rule == "small" else trained_charsmap(rule)
    if blob is None:
        pytest.skip("sentencepiece is not installed")
    change = normalizers.Precompiled(blob).normalize_str
    live = unchanged_points(change)
    form = cluster_form(change, Charsmap(blob).short_keys_over(live), live)
    assert form is not None
    letters = "".join(letter for letter in CLUSTERS if live[ord(letter)])
    draw = random.Random(5)
    wide = "".join(map(chr, draw.choices(np.flatnonzero(live).tolist(), k=60)))
    texts = all_texts(letters, 4)
    texts += ["".join(draw.choices(letters + wide, k=draw.randint(5, 9))) for _ in range(1500)]
    texts += [text for text in all_texts("\u2194\u0338\u200d\u0903", 6) if all(live[ord(c)] for c in text)]
    texts += [f"\u0915\u094de{text}" for text in all_texts("\u0301\u1ab0\u0600e", 4)]
    changed = 0
    for text in texts:
        state = 0
        for letter in text:
            state = int(form.targets[state, form.columns[ord(letter)]])
            if state == DEAD:
                break
        assert (state != DEAD and form.kinds[state] != OWES) == (change(text) == text), text
        changed += change(text) != text
    assert changed > 300


def test_a_pair_and_marks_until_the_cluster_is_long() -> None:
    tokenizer = made(
        "e\u0301\xea\u0302 x", normalizers.Precompiled(small_charsmap()), merges=(("e", "\u0301"),)
    )
    vocabulary = tk.Vocabulary.load(tokenizer, stop=())
    pair = vocabulary.tokens.index("e\u0301".encode())
    mark, letter = (vocabulary.tokens.index(text.encode()) for text in ("\u0301", "x"))
    assert [spelled(vocabulary, "e" + "\u0301" * marks) for marks in range(5)] == [
        (0,),
        None,
        None,
        (pair, mark, mark),
        (pair, mark, mark, mark),
    ]
    matcher = tk.regex("(?s:.*)").compile(vocabulary, tokenization="canonical").matcher()
    assert matcher.advance(pair)
    assert not matcher.is_accepting
    both = {mark, vocabulary.tokens.index("\u0302".encode())}
    assert bits(matcher.mask) == both  # only marks may follow
    assert matcher.explain(letter).rule == "normalizer"
    assert matcher.advance(mark)
    assert not matcher.is_accepting
    assert bits(matcher.mask) == both
    assert matcher.advance(mark)
    assert matcher.is_accepting
    assert matcher.advance(letter)
    # Where the pattern has no third mark, the pair is a dead end at once.
    short = tk.regex("x|e\u0301{1,2}|e\u0301x").compile(vocabulary, tokenization="canonical").matcher()
    assert short.forced_tokens() == [letter]


@pytest.mark.parametrize("has_sign", [False, True])
def test_charsmaps_within_a_tokenizer(has_sign: bool) -> None:
    letters = CLUSTERS + (SIGN if has_sign else " ")
    metaspace = pre_tokenizers.Metaspace() if has_sign else None
    merges = (("e", "\u0301"), ("\u0301", "\u1ab0"), ("\u0600", "e"), (SIGN if has_sign else " ", "e"))
    tokenizer = made(letters, normalizers.Precompiled(small_charsmap()), metaspace, merges)
    draw = random.Random(3)
    texts = all_texts("e\u0301\xea\u0600\u1ab0 ", 3)
    for _ in range(500):
        text = "".join(
            draw.choices("e\u0301\u1ab0\u0600 " if draw.random() < 0.5 else CLUSTERS, k=draw.randint(3, 8))
        )
        texts.append(text + draw.choice(["", "", "<m>", "<m>\u0301", "<m> e"]))
    assert compare(tokenizer, texts) > 200


# ---- patterns, ends and words -------------------------------------------------------------------

_LEFT_QUOTES = normalizers.Replace("``", '"')
_SINGLE_SPACES = normalizers.Replace(Regex(" {2,}"), " ")
_STRIPS = {
    "both": normalizers.Strip(True, True),
    "left": normalizers.Strip(True, False),
    "right": normalizers.Strip(False, True),
}
_PLAIN = {
    "a pattern of two characters": (_LEFT_QUOTES, None),
    "a regex": (_SINGLE_SPACES, None),
    **{f"strip {side}": (strip, None) for side, strip in _STRIPS.items()},
    "all": (
        normalizers.Sequence(
            [
                _LEFT_QUOTES,
                normalizers.NFKD(),
                normalizers.StripAccents(),
                normalizers.Lowercase(),
                _SINGLE_SPACES,
            ]
        ),
        None,
    ),
    "white space is removed": (None, pre_tokenizers.WhitespaceSplit()),
    "words and signs": (None, pre_tokenizers.Whitespace()),
    "matches are removed": (None, pre_tokenizers.Split("ab", "removed")),
    "matches of a regex are removed": (None, pre_tokenizers.Split(Regex("a+b|`"), "removed")),
}


@pytest.mark.parametrize("name", _PLAIN)
def test_without_a_sign(name: str) -> None:
    tokenizer = made(' ab\t`\u3000"', *_PLAIN[name], merges=(("a", "b"),))
    assert (
        compare(
            tokenizer,
            all_texts(" ab\t`", 3)
            + ["<m>".join(p) for p in itertools.product(all_texts(" a\t", 2), repeat=2)],
        )
        > 40
    )


_SIGNED = {
    "words": (None, pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace()])),
    "T5": (
        normalizers.Sequence([_STRIPS["right"], normalizers.Replace(Regex(" {2,}"), SIGN)]),
        pre_tokenizers.Metaspace(),
    ),
    "ALBERT": (normalizers.Sequence([_STRIPS["both"], _SINGLE_SPACES]), pre_tokenizers.Metaspace()),
    "first": (
        normalizers.Sequence([_STRIPS["both"], _SINGLE_SPACES]),
        pre_tokenizers.Metaspace(prepend_scheme="first"),
    ),
    "never": (_STRIPS["both"], pre_tokenizers.Metaspace(prepend_scheme="never")),
    "left": (_STRIPS["left"], pre_tokenizers.Metaspace()),
    "a pattern at the start": (normalizers.Replace(Regex(r"\s+\S"), ""), pre_tokenizers.Metaspace()),
}


@pytest.mark.parametrize("name", _SIGNED)
def test_with_a_sign(name: str) -> None:
    tokenizer = made(f"{SIGN}ab\t\u3000", *_SIGNED[name], merges=(("a", "b"), (SIGN, "a")))
    texts = all_texts(" ab\t\u3000", 4) + [
        "<m>".join(p) for p in itertools.product(all_texts(" a\t", 2), repeat=2)
    ]
    assert compare(tokenizer, texts) > 50


@pytest.mark.parametrize("seed", range(5))
def test_random_normalizers(seed: int) -> None:
    tokenizer, alphabet = random_normalizer(seed)
    with suppress(tk.UnsupportedTokenizerError):
        compare(tokenizer, all_texts(alphabet[:4], 3))


@pytest.mark.parametrize(
    ("split", "is_refused"),
    [
        (
            pre_tokenizers.Digits(individual_digits=True),
            True,
        ),  # it takes the second byte of a superscript for one
        (pre_tokenizers.Punctuation(), True),
        (pre_tokenizers.Split(Regex("[^0-9]+"), "isolated"), True),
        (pre_tokenizers.Split(Regex("[0-9][0-9]"), "isolated"), False),
        (pre_tokenizers.Split("1", "removed"), False),
    ],
)
def test_splits_after_byte_level(split: Any, is_refused: bool) -> None:
    letters = "".join(sorted(pre_tokenizers.ByteLevel.alphabet()))
    bytes_first = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    tokenizer = made(
        letters, None, pre_tokenizers.Sequence([bytes_first, split]), (("\xc2", "\xb2"), ("1", "2"))
    )
    tokenizer.decoder = decoders.ByteLevel()
    if is_refused:
        with pytest.raises(tk.UnsupportedTokenizerError, match="after ByteLevel, which may cut within"):
            tokenization_of(tk.Vocabulary.load(tokenizer, stop=()))
        return
    assert compare(tokenizer, all_texts("\xb212a \u0663", 3)) > 100


# ---- sequences ----------------------------------------------------------------------------------

_REFUSED = [
    (["NFD", "NFC"], "U\\+00C0 may be left alone"),
    (["NFD", "Precompiled"], "Precompiled writes '.', which NFD|may be left alone"),
    (["NFC", "Precompiled"], "both join marks"),
    (["Precompiled", "Precompiled"], "two charsmaps"),
]


@pytest.mark.parametrize(("names", "reason"), _REFUSED)
def test_sequences_that_are_refused(names: list[str], reason: str) -> None:
    blob = small_charsmap()
    parts = [
        normalizers.Precompiled(blob) if name == "Precompiled" else getattr(normalizers, name)()
        for name in names
    ]
    if names == ["NFD", "Precompiled"]:
        parts.reverse()
    vocabulary = tk.Vocabulary.load(made("e\u0301\xe9", normalizers.Sequence(parts)), stop=())
    with pytest.raises(tk.UnsupportedTokenizerError, match=reason) as caught:
        tokenization_of(vocabulary)
    assert caught.value.part == "normalizer"


@pytest.mark.parametrize(
    ("pattern", "content", "reason"),
    [
        ("ab", "xaby", "which may be as long"),
        ("ab", "xy", "which may be as long"),
        (Regex("a|bb"), "a", "which may be as long"),
        (Regex("b+"), "x", "which may be as long"),
        ("a", "aa", "U\\+0061 may be left alone"),
    ],
)
def test_patterns_that_are_refused(pattern: object, content: str, reason: str) -> None:
    tokenizer = made("abxy", normalizers.Replace(pattern, content))  # type: ignore[arg-type]  # or a regex
    with pytest.raises(tk.UnsupportedTokenizerError, match=reason):
        tokenization_of(tk.Vocabulary.load(tokenizer, stop=()))


# ---- SentencePiece ------------------------------------------------------------------------------


@pytest.mark.parametrize(("adds", "removes"), [(True, True), (True, False), (False, True), (False, False)])
@pytest.mark.parametrize("rule", ["nmt_nfkc", "identity"])
def test_sentence_piece_models(rule: str, adds: bool, removes: bool) -> None:
    sentencepiece = pytest.importorskip("sentencepiece", reason="sentencepiece is an extra")
    draw = random.Random(7)
    words = ["abe", "bee", "caf\xe9", "\u2194x", "fi", "a\u0323b", "\u304b"]
    model = trained(
        (" ".join(draw.choices(words, k=6)) for _ in range(100)),
        model_type="bpe",
        vocab_size=300,
        byte_fallback=True,
        normalization_rule_name=rule,
        add_dummy_prefix=adds,
        remove_extra_whitespaces=removes,
    )
    processor = sentencepiece.SentencePieceProcessor(model_proto=model)
    vocabulary = tk.Vocabulary.load(processor, stop=())
    texts = all_texts(" ae\u0301", 3)
    letters = "abe \u0301\xe9\u0323\u2194\u0338\u304b\u3099\t\uff21"
    texts += ["".join(draw.choices(letters, k=draw.randint(2, 8))) for _ in range(400)]
    canonical = 0
    for text in texts:
        tokens = processor.encode(text)
        comes_back = processor.decode(tokens) == text
        assert spelled(vocabulary, text) == (tuple(tokens) if comes_back else None), text
        canonical += comes_back
    assert 30 < canonical <= len(texts)


@pytest.mark.parametrize("has_prefix", [False, True])
def test_user_defined_pieces(has_prefix: bool) -> None:
    sentencepiece = pytest.importorskip("sentencepiece", reason="sentencepiece is an extra")
    model = trained(
        ["ab abb ba", "b aab ab bba a"] * 40,
        model_type="bpe",
        vocab_size=290,
        byte_fallback=True,
        user_defined_symbols=["<m>", "aba", "\u2581\u2581", "b\u2581<m>"],
        normalization_rule_name="identity",
        add_dummy_prefix=has_prefix,
        remove_extra_whitespaces=False,
    )
    processor = sentencepiece.SentencePieceProcessor(model_proto=model)
    vocabulary = tk.Vocabulary.load(processor, stop=())
    parts = [" ", "a", "b", "<m>", "\xe9", "<"]
    texts = ["".join(each) for size in range(6) for each in itertools.product(parts, repeat=size)]
    for text in random.Random(1).sample(texts, 1200):
        tokens = processor.encode(text)
        comes_back = processor.decode(tokens) == text
        assert spelled(vocabulary, text) == (tuple(tokens) if comes_back else None), text


def test_base_64_of_the_small_charsmap_is_what_the_package_takes() -> None:
    change = normalizers.Precompiled(base64.b64decode(base64.b64encode(small_charsmap()))).normalize_str
    assert [
        change(text) for text in ("e\u0301", "e\u0301\u0301", "e\u0301\u0301\u0301", "\u0600e\u0301")
    ] == [
        "\xe9",
        "\xe9",
        "e\u0301\u0301\u0301",
        "\u0600e\u0301",
    ]


# ---- hostile files, and the guard ---------------------------------------------------------------

_GARBAGE = (
    None,
    0,
    "",
    [],
    {},
    True,
    1.5,
    "\ud800",
    {"type": "no such type"},
    {"String": ""},
    {"Regex": "("},
)
_PARTS = [
    {"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": " "},
    {"type": "Replace", "pattern": {"String": "``"}, "content": '"'},
    {"type": "Strip", "strip_left": True, "strip_right": False},
]
_ALONE = [
    {"type": "BertNormalizer", "clean_text": False, "handle_chinese_chars": False, "lowercase": False},
    {"type": "Precompiled", "precompiled_charsmap": base64.b64encode(charsmap_of({"ab": "c"})).decode()},
]


def test_damaged_normalizers_are_read_or_refused() -> None:
    engine = HuggingFaceEngine()
    whole = {"type": "Sequence", "normalizers": _PARTS}
    refused = 0
    for document in (whole, *_ALONE):
        read_normalizer(Section({"normalizer": document}, ""), engine)
        for _, mutant in mutants(document):
            if mutant == document:
                continue
            try:
                read_normalizer(Section({"normalizer": mutant}, ""), engine)
            except tk.TokamataError:
                refused += 1
    assert refused > 60


def mutants(document: Any) -> Iterator[tuple[str, Any]]:
    """Every document that differs in one node, and the name of that."""
    for name, value in document.items() if isinstance(document, dict) else enumerate(document):
        for garbage in _GARBAGE:
            changed = document.copy()
            changed[name] = garbage
            yield str(name), changed
        if isinstance(value, (dict, list)):
            for inner, mutant in mutants(value):
                changed = document.copy()
                changed[name] = mutant
                yield inner, changed


def test_patterns_that_take_long_are_not_run() -> None:
    """The package itself would try them for longer than anyone waits."""
    parts = [normalizers.Replace(Regex("(?:a|a|aa)+[bc]"), "b"), normalizers.Lowercase()]
    tokenizer = made("abc", normalizers.Sequence(parts))
    assert spelled(tk.Vocabulary.load(tokenizer, stop=()), "a" * 60) == (0,) * 60


@pytest.mark.parametrize(
    ("normalizer", "pre_tokenizer", "reason"),
    [
        (normalizers.Precompiled(small_charsmap()), None, "its normalizer has a charsmap"),
        (normalizers.Strip(True, True), None, "removes white space at the ends"),
        (_SINGLE_SPACES, None, "replaces what matches a pattern"),
        (None, pre_tokenizers.WhitespaceSplit(), "its pre-tokenizer leaves out white space"),
        (
            normalizers.Sequence([normalizers.Lowercase(), normalizers.NFC()]),
            None,
            "before their normal form",
        ),
    ],
)
def test_the_guard_refuses_what_changes_texts_by_their_contexts(
    normalizer: Any, pre_tokenizer: Any, reason: str
) -> None:
    from tokamata.guard.token_edges import TokenEdges

    with pytest.raises(tk.UnsupportedTokenizerError, match=reason):
        TokenEdges(made("ab ", normalizer, pre_tokenizer), "read")
