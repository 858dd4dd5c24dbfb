"""Canonical tokenization from GGUF files: the sequences that llama.cpp writes.

llama.cpp itself is no dependency of the tests.  Its tokens for some texts are recorded, for each
pre-tokenizer that it knows by name, and a slow encoder stands in for it, which
``fuzz/llama_cpp_exactness.py`` compares with it.
"""

from __future__ import annotations

import itertools
import json
import random
import sys
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tokamata as tk
from tests.support.tokenizers.gguf_files import (
    BYTE,
    CONTROL,
    NORMAL,
    RECORDED,
    RECORDED_TEXTS,
    UNKNOWN,
    UNUSED,
    USER_DEFINED,
    document_of_pairs,
    gguf_of_tokenizer_json,
    recorded_gguf,
    write_gguf,
)
from tests.support.tokenizers.random_gguf import PlainOracle, RandomGguf, random_plain_merges, random_scores
from tokamata import guard
from tokamata.errors import TokamataError, TokenizerMismatchError, UnsupportedTokenizerError, VocabularyError
from tokamata.tokenization.canonical import (
    keyed_tokenization,
    normalizer_of,
    text_tokenization_of,
    tokenization_of,
    why_unguarded,
)
from tokamata.tokenization.pipelines.gguf_patterns import NAMES, named_pre_tokenizer
from tokamata.tokenization.pretokenizers.llama_cpp_classes import LlamaCppEngine
from tokamata.vocabulary.byte_alphabet import is_byte_level_text
from tokamata.vocabulary.gguf_metadata import read_metadata
from tokamata.vocabulary.vocabulary import _vocabulary_of

ANYTHING = tk.regex("(?s:.*)")
LETTERS = [(chr(point), NORMAL) for point in range(0x144) if is_byte_level_text(chr(point))]
BYTES = [(f"<0x{byte:02X}>", BYTE) for byte in range(256)]
RECORD: dict[str, list[str]] = json.loads(RECORDED.read_text(encoding="utf-8"))["tokens"]

Token = tuple[str | bytes, int]


def load(path: Path) -> tk.Vocabulary:
    return tk.Vocabulary.load(path, stop=())


def by_merges(
    path: Path, *added: Token, merges: tuple[str, ...] = (), pre: str | None = "gpt-2", **fields: Any
) -> tk.Vocabulary:
    """Letters, what the merges make, and further tokens."""
    made: list[Token] = [(merge.replace(" ", ""), NORMAL) for merge in merges]
    listed = merges or ("-",)  # llama.cpp refuses a file without merges; this is none
    return load(write_gguf(path / "a.gguf", "gpt2", [*LETTERS, *made, *added], listed, pre=pre, **fields))


def by_scores(path: Path, *tokens: Token, scores: tuple[float, ...] = (), **fields: Any) -> tk.Vocabulary:
    """Single bytes, the sign for spaces, and further tokens."""
    both = [*BYTES, ("▁", NORMAL), *tokens]
    own = [0.0] * (len(both) - len(scores)) + list(map(float, scores))
    return load(write_gguf(path / "a.gguf", "llama", both, scores=own, **fields))


def canonical(vocabulary: tk.Vocabulary, text: str) -> list[int]:
    """The only canonical tokens of a text."""
    return tk.literal(text).compile(vocabulary, tokenization="canonical").matcher().forced_tokens()


def spelled(vocabulary: tk.Vocabulary, text: str) -> list[bytes | None]:
    return [vocabulary[token] for token in canonical(vocabulary, text)]


def refused(vocabulary: tk.Vocabulary, part: str, reason: str) -> None:
    with pytest.raises(UnsupportedTokenizerError, match=reason) as info:
        tokenization_of(vocabulary)
    assert info.value.part == part


# ---- pre-tokenizers -----------------------------------------------------------------------------


def test_every_pre_tokenizer_is_recorded() -> None:
    assert {NAMES[name] for name in RECORD} == set(NAMES.values()) - {NAMES["gemma4"]}


@pytest.mark.parametrize("name", RECORD)
def test_tokens_of_llama_cpp(name: str, tmp_path: Path) -> None:
    vocabulary = load(recorded_gguf(tmp_path / "recorded.gguf", name))
    texts = [token for token, _ in LETTERS]
    texts += [text for text, _ in _recorded_merges(tmp_path / "recorded.gguf")]
    ids = {text: token for token, text in enumerate(texts)}
    tables = tokenization_of(vocabulary)
    for text, expected in zip(RECORDED_TEXTS, RECORD[name], strict=True):
        theirs = [ids[token] for token in expected.split(" ")]
        assert tables.first_noncanonical(theirs) is None, text
        assert canonical(vocabulary, text) == theirs, text


def _recorded_merges(path: Path) -> list[Token]:
    merges: Any = read_metadata(path, ["tokenizer.ggml.merges"])["tokenizer.ggml.merges"]
    return [(merge.decode().replace(" ", ""), NORMAL) for merge in merges]


def test_pre_tokenizers_distinguish() -> None:
    different = {tuple(RECORD[name]) for name in RECORD}
    # dbrx, llama3 and minicpm5 differ in whether merges are ignored; two regexes match the same.
    assert len(different) == len(RECORD) - 3


def test_classes() -> None:
    engine = LlamaCppEngine()
    letters, others = engine.members(r"\p{L}"), engine.members(r"[^\s\p{L}\p{N}]")
    assert letters[[ord(letter) for letter in "aé中\U0002b739"]].all()
    assert not letters[[0x1C89, 0x2B73A, 0xD800]].any()  # assigned later, a surrogate
    assert others[[0x1C89, ord("!"), 0x1C]].all()
    assert (engine.members(r"\p{Lu}") == letters).all()
    assert (engine.members(r"\S") == ~engine.members(r"\s") & ~engine.members("[\ud800-\udfff]")).sum() > 0
    # std::regex sees U+000B for white space outside ASCII.
    stop = engine.members("[\u3000-\u3002]")
    assert stop[0x3001]
    assert not stop[0x3000]
    assert engine.members(r"[\r\n]")[[10, 13]].all()
    assert engine.members(r"[a\-z]").sum() == 3
    assert engine.members(r"[a-z]").sum() == 26


@pytest.mark.parametrize("name", ["afmoe", "superbpe", "tiny_aya", "jais-2", "whitespace", "new-one"])
def test_refused_pre_tokenizers(name: str, tmp_path: Path) -> None:
    with pytest.raises(UnsupportedTokenizerError, match=name):
        named_pre_tokenizer(name)
    refused(by_merges(tmp_path, pre=name), "pre-tokenizer", name)


def test_a_file_without_a_name(tmp_path: Path) -> None:
    assert named_pre_tokenizer("") == NAMES["default"]
    vocabulary = by_merges(tmp_path, merges=("1 2", "3 4"), pre=None)
    assert spelled(vocabulary, "1234") == [b"12", b"3", b"4"]  # [0-9][0-9][0-9] cuts before the 4


def test_no_normal_form(tmp_path: Path) -> None:
    vocabulary = by_merges(tmp_path, merges=("Ì ģ",), pre="qwen2")
    assert spelled(vocabulary, "e\u0301") == [b"e", b"\xcc\x81"]
    assert normalizer_of(vocabulary).form is None


# ---- models -------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(60))
def test_all_short_sequences(seed: int, tmp_path: Path) -> None:
    draw = random.Random(seed)
    tokenizer = draw.choice([random_scores, random_plain_merges])(draw)
    vocabulary = load(tokenizer.write(tmp_path / "random.gguf"))
    try:
        compiled = ANYTHING.compile(vocabulary, tokenization="canonical")
    except UnsupportedTokenizerError:
        return
    oracle = PlainOracle(tokenizer)
    is_text = [text and kind != BYTE for text, kind in zip(vocabulary.tokens, oracle.kinds, strict=True)]
    tokens = np.flatnonzero(is_text).tolist()
    for size in (1, 2):
        for sequence in map(list, itertools.product(tokens, repeat=size)):
            matcher = compiled.matcher()
            accepts = all(map(matcher.advance, sequence)) and matcher.is_accepting
            text = oracle.decode(sequence)
            assert accepts == (text is not None and oracle.encode(text) == sequence), sequence
    for _ in range(20):
        text = "".join(draw.choice(tokenizer.letters) for _ in range(draw.randint(1, 9)))
        theirs = oracle.encode(text)
        if oracle.decode(theirs) == text and None not in (vocabulary[token] for token in theirs):
            matcher = compiled.matcher()
            assert all(map(matcher.advance, theirs)), (text, theirs)
            assert matcher.is_accepting


@pytest.mark.parametrize("make", [random_scores, random_plain_merges])
def test_many_random_tokenizers_are_supported(
    make: Callable[[random.Random], RandomGguf], tmp_path: Path
) -> None:
    supported = 0
    for seed in range(30):
        vocabulary = load(make(random.Random(seed)).write(tmp_path / "random.gguf"))
        try:
            tokenization_of(vocabulary)
            supported += 1
        except UnsupportedTokenizerError:
            pass
    assert supported >= 10


def test_the_highest_score_is_joined_first(tmp_path: Path) -> None:
    pieces = [(text, NORMAL) for text in ("a", "b", "c", "ab", "bc")]
    vocabulary = by_scores(tmp_path, *pieces, scores=(0, 0, 0, -1, -2), add_space_prefix=False)
    assert spelled(vocabulary, "abc") == [b"ab", b"c"]
    vocabulary = by_scores(tmp_path, *pieces, scores=(0, 0, 0, -2, -1), add_space_prefix=False)
    assert spelled(vocabulary, "abc") == [b"a", b"bc"]
    vocabulary = by_scores(tmp_path, *pieces, add_space_prefix=False)  # equal ones: the leftmost first
    assert spelled(vocabulary, "abc") == [b"ab", b"c"]


def test_scores_are_single_precision(tmp_path: Path) -> None:
    pieces = [(text, NORMAL) for text in ("a", "b", "c", "ab", "bc")]
    scores = (0, 0, 0, -16777217.0, -16777216.0)
    vocabulary = by_scores(tmp_path, *pieces, scores=scores, add_space_prefix=False)
    assert spelled(vocabulary, "abc") == [b"ab", b"c"]


def test_tokens_without_a_text_that_merges_make(tmp_path: Path) -> None:
    pieces: list[Token] = [("a", NORMAL), ("b", NORMAL)]
    refused(by_scores(tmp_path, *pieces, ("ab", UNUSED)), "model", "'ab' has no text")
    refused(by_scores(tmp_path, *pieces, ("▁a", CONTROL)), "model", "'▁a' has no text")
    tokenization_of(by_scores(tmp_path, *pieces, ("ab", CONTROL), ("aaab", UNUSED)))
    path = tmp_path / "a.gguf"
    for text, kind in (("ab", UNUSED), ("Ġa", CONTROL)):
        merges = [f"{text[0]} {text[1]}"]
        refused(load(write_gguf(path, "gpt2", [*LETTERS, (text, kind)], merges, pre="gpt-2")), "model", text)
    vocabulary = load(write_gguf(path, "gpt2", [*LETTERS, ("ab", CONTROL)], ["a b"], pre="gpt-2"))
    with pytest.raises(tk.NoncanonicalError):
        canonical(vocabulary, "ab")  # cut out


def test_bytes(tmp_path: Path) -> None:
    vocabulary = by_scores(tmp_path, ("a", NORMAL), add_space_prefix=False)
    assert spelled(vocabulary, "aé\n") == [b"a", b"\xc3", b"\xa9", b"\n"]
    with pytest.raises(tk.NoncanonicalError):
        canonical(vocabulary, "▁")  # its token is decoded to a space


def test_a_space_before_each_text(tmp_path: Path) -> None:
    pieces: list[Token] = [("a", NORMAL), ("▁a", NORMAL), ("<x>", USER_DEFINED), ("<s>", CONTROL)]
    vocabulary = by_scores(tmp_path, *pieces)
    tables = tokenization_of(vocabulary)
    a, space_a, user, control = range(257, 261)
    assert canonical(vocabulary, "a") == [space_a]
    assert tables.first_noncanonical([a]) == 0
    # llama.cpp puts a space after a token that was cut out, and decodes it.
    assert tables.first_noncanonical([space_a, user]) is None
    for later in (a, space_a):
        assert tables.first_noncanonical([space_a, user, later]) == 2
    assert tables.first_noncanonical([control, space_a]) is None
    assert tables.first_noncanonical([control, a]) == 1


def test_the_first_of_two_equal_merges(tmp_path: Path) -> None:
    made: list[Token] = [("ab", NORMAL), ("bc", NORMAL)]
    merges = ["a b", "b c", "a b"]
    vocabulary = load(write_gguf(tmp_path / "a.gguf", "gpt2", [*LETTERS, *made], merges, pre="gpt-2"))
    assert spelled(vocabulary, "abc") == [b"ab", b"c"]
    vocabulary = load(write_gguf(tmp_path / "a.gguf", "gpt2", [*LETTERS, *made], merges[1:], pre="gpt-2"))
    assert spelled(vocabulary, "abc") == [b"a", b"bc"]


def test_line_ends_of_gemma_4(tmp_path: Path) -> None:
    tokens: list[Token] = [("▁", NORMAL), ("a", NORMAL), ("\n", NORMAL), ("\n\n", NORMAL), ("▁a", NORMAL)]
    path = write_gguf(tmp_path / "a.gguf", "gemma4", [*tokens, ("aa", NORMAL), *BYTES], ["▁ a"])
    vocabulary = load(path)
    assert vocabulary.tokens[:6] == (b" ", b"a", b"\n", b"\n\n", b" a", b"aa")
    # Alone they are a token, though no merge makes it; aa is never written.
    assert spelled(vocabulary, "aa\n\n a") == [b"a", b"a", b"\n\n", b" a"]
    assert spelled(vocabulary, "\n\n\n\n\u00e9") == [b"\n"] * 4 + [b"\xc3", b"\xa9"]
    path = write_gguf(tmp_path / "b.gguf", "gpt2", [*tokens, *BYTES], ["▁ a"], pre="sarvam-moe")
    assert spelled(load(path), "\n\n a") == [b"\n", b"\n", b" a"]


def test_ignored_merges(tmp_path: Path) -> None:
    tokens: list[Token] = [("abc", NORMAL)]
    assert spelled(by_merges(tmp_path, *tokens, pre="llama-bpe"), "abc") == [b"abc"]
    assert spelled(by_merges(tmp_path, *tokens, pre="qwen2"), "abc") == [b"a", b"b", b"c"]


# ---- tokens that are cut out --------------------------------------------------------------------


def test_types_after_loading(tmp_path: Path) -> None:
    tokens: list[Token] = [
        ("</s>", NORMAL),
        ("<|fim_pad|>", NORMAL),
        ("<|channel|>", CONTROL),
        ("<|end|>", CONTROL),
        ("<|return|>", CONTROL),
        ("<|call|>", USER_DEFINED),
    ]
    vocabulary = by_merges(tmp_path, *tokens, eos_token_id=0)
    shown = [vocabulary[token] for token in range(len(LETTERS), len(vocabulary))]
    assert shown == [None, None, b"<|channel|>", b"<|end|>", None, None]
    assert spelled(vocabulary, "a<|channel|>") == [b"a", b"<|channel|>"]
    with pytest.raises(tk.NoncanonicalError):
        canonical(vocabulary, "a</s>")


def test_normal_end_of_html(tmp_path: Path) -> None:
    vocabulary = by_merges(tmp_path, ("</s>", NORMAL), ("<|tool_response>", CONTROL), eos_token_id=0)
    assert vocabulary[len(LETTERS)] == b"</s>"
    assert spelled(vocabulary, "</s>")[:2] == [b"<", b"/"]  # not cut out


def test_declared_fill_in_tokens_keep_their_type(tmp_path: Path) -> None:
    token = len(LETTERS)
    declared = by_merges(tmp_path, ("<PRE>", USER_DEFINED), fim_pre_token_id=token, eos_token_id=0)
    assert declared[token] == b"<PRE>"
    assert by_merges(tmp_path, ("<PRE>", USER_DEFINED), eos_token_id=0)[token] is None


def test_one_of_several_fill_in_tokens(tmp_path: Path) -> None:
    found: list[Token] = [("<PRE>", USER_DEFINED), ("<fim_prefix>", CONTROL)]
    refused(by_merges(tmp_path, *found), "added tokens", "<PRE>")
    tokenization_of(by_merges(tmp_path, *[(text, CONTROL) for text, _ in found]))


def test_the_longest_is_found_first(tmp_path: Path) -> None:
    tokens: list[Token] = [("ab", USER_DEFINED), ("bcd", USER_DEFINED)]
    refused(by_merges(tmp_path, *tokens), "added tokens", "'ab' may overlap 'bcd'")
    tokens = [("abc", USER_DEFINED), ("cd", USER_DEFINED)]  # the leftmost is the longest
    assert spelled(by_merges(tmp_path, *tokens), "abcd") == [b"abc", b"d"]
    runs: list[Token] = [("\n" * size, USER_DEFINED) for size in (2, 3, 5)]
    assert spelled(by_merges(tmp_path, *runs), "\n" * 8) == [b"\n" * 5, b"\n" * 3]


def test_overlaps_of_what_is_left_without_control_tokens(tmp_path: Path) -> None:
    # With the control token, no text has ab before bcd.
    tokens: list[Token] = [("ab", USER_DEFINED), ("bcd", USER_DEFINED), ("abcd", CONTROL)]
    refused(by_merges(tmp_path, *tokens), "added tokens", "'ab' may overlap 'bcd'")
    tokens = [("ab", USER_DEFINED), ("bcd", CONTROL), ("abcd", CONTROL)]
    vocabulary = by_merges(tmp_path, *tokens)
    tokenization_of(vocabulary)
    with pytest.raises(UnsupportedTokenizerError, match="may share characters"):
        text_tokenization_of(vocabulary)


@pytest.mark.parametrize(
    ("tokens", "part", "reason"),
    [
        ([("Ġx", USER_DEFINED)], "added tokens", "bytes b' x'"),
        ([("é", UNUSED), ("<0x0A>", BYTE)], "model", "both 'é'|both b'"),
        ([("<0x0A>", BYTE)], "model", "byte"),
        ([(b"\xff<", CONTROL)], "added tokens", "UTF-8"),
        ([("x" * 5000, CONTROL)], "added tokens", "too long"),
    ],
)
def test_refused_tokens_by_merges(tokens: list[Token], part: str, reason: str, tmp_path: Path) -> None:
    refused(by_merges(tmp_path, *tokens), part, reason)


def test_refused_merges(tmp_path: Path) -> None:
    path = tmp_path / "a.gguf"
    refused(load(write_gguf(path, "gpt2", LETTERS, ["a b"], pre="gpt-2")), "model", "merge 0")
    few: list[Token] = [("a", NORMAL), ("ab", NORMAL)]
    refused(load(write_gguf(path, "gpt2", few, ["a b"], pre="gpt-2")), "model", "merge 0")
    refused(load(write_gguf(path, "gpt2", LETTERS[1:], ["-"], pre="llama-bpe")), "model", "byte 0x21")
    lines: list[Token] = [("▁", NORMAL), ("\n\n", NORMAL), *BYTES]
    refused(load(write_gguf(path, "gemma4", lines, ["-"])), "model", "several line ends")
    # What no merge makes never occurs.
    tokenization_of(load(write_gguf(path, "gpt2", LETTERS, ["ab c", "x", "▁ a"], pre="gpt-2")))


@pytest.mark.parametrize(
    ("tokens", "part", "reason"),
    [
        ([("▁x", USER_DEFINED)], "added tokens", "sign"),
        ([(" x", USER_DEFINED)], "added tokens", "begins with a space"),
        ([("xy", NORMAL)], "model", "no token itself"),
        ([("<", NORMAL), ("0x0A>", NORMAL)], "model", "stands for a byte"),
        ([("a" * 20_000, NORMAL), ("a", NORMAL)], "model", "20,000 characters"),
    ],
)
def test_refused_tokens_by_scores(tokens: list[Token], part: str, reason: str, tmp_path: Path) -> None:
    refused(by_scores(tmp_path, *tokens), part, reason)


def test_refused_scores(tmp_path: Path) -> None:
    refused(by_scores(tmp_path, ("a", NORMAL), scores=(float("nan"),)), "model", "not a number")
    tokenization_of(by_scores(tmp_path, ("a", NORMAL), scores=(float("inf"),)))
    without: list[Token] = [("a", NORMAL), ("<unk>", UNKNOWN)]
    refused(load(write_gguf(tmp_path / "a.gguf", "llama", without)), "model", "no token '▁'")
    named: list[Token] = [("▁", NORMAL), ("<0x0A>", NORMAL)]
    refused(load(write_gguf(tmp_path / "a.gguf", "llama", named)), "model", "byte token")


@pytest.mark.parametrize("family", ["t5", "bert"])
def test_refused_families(family: str, tmp_path: Path) -> None:
    vocabulary = load(write_gguf(tmp_path / "a.gguf", family, [("▁a", NORMAL)], scores=[0.0]))
    refused(vocabulary, "model", family)
    with pytest.raises(UnsupportedTokenizerError, match=family):
        normalizer_of(vocabulary)


def test_names_of_models(tmp_path: Path) -> None:
    """llama.cpp gives tokens attributes by the names of models."""
    tokens: list[Token] = [("<mask>", CONTROL), ("[MASK]", CONTROL)]
    refused(by_merges(tmp_path, *tokens, pre="jina-v2-de"), "added tokens", "<mask> swallows")
    refused(by_merges(tmp_path, *tokens, name="Modern-BERT base"), "added tokens", "MASK")
    refused(by_merges(tmp_path, name="Phi-3 mini"), "added tokens", "Phi 3")
    tokenization_of(by_merges(tmp_path, pre="jina-v2-de", name="Phi 4"))


@pytest.mark.parametrize(
    ("family", "key", "value"),
    [
        *(("gpt2", "merges", value) for value in (7, True, [1], [1.5])),
        *(("gpt2", "pre", value) for value in (7, False, ["gpt-2"])),
        *(("llama", "scores", value) for value in (7, True, [1.0], ["0"] * 257, [True] * 257)),
    ],
)
def test_damaged_metadata(family: str, key: str, value: Any, tmp_path: Path) -> None:
    tokens: list[Token] = [("▁", NORMAL), *BYTES] if family == "llama" else [*LETTERS]
    merges = None if key == "merges" or family == "llama" else ["-"]
    path = write_gguf(tmp_path / "a.gguf", family, tokens, merges, raw={key: value})
    with pytest.raises(VocabularyError, match=key):
        tokenization_of(load(path))


def test_missing_metadata(tmp_path: Path) -> None:
    path = tmp_path / "a.gguf"
    with pytest.raises(VocabularyError, match="merges is missing"):
        tokenization_of(load(write_gguf(path, "gpt2", LETTERS, pre="gpt-2")))
    tokenization_of(load(write_gguf(path, "gpt2", LETTERS, pre="kimi-k2")))
    tokenization_of(load(write_gguf(path, "llama", [("▁", NORMAL), *BYTES])))  # all scores are 0
    scores = [1] * 257
    tokenization_of(load(write_gguf(path, "llama", [("▁", NORMAL), *BYTES], raw={"scores": scores})))


@pytest.mark.parametrize("family", ["gpt2", "llama", "gemma4"])
def test_mutated_files(family: str, tmp_path: Path) -> None:
    """Whatever stands in a file, it is read, or refused with an error of our own."""
    tokens: list[Token] = [("▁", NORMAL), ("a", NORMAL), ("b", NORMAL), ("ab", NORMAL), ("<s>", CONTROL)]
    path = tmp_path / "a.gguf"
    scores = [-0.5] * 5 if family == "llama" else None
    data = write_gguf(path, family, tokens, ["a b", "▁ a"], scores=scores, pre="gpt-2").read_bytes()
    draw = random.Random(family)
    refusals = 0
    for _ in range(150):
        changed = bytearray(data)
        for _ in range(draw.randint(1, 3)):
            changed[draw.randrange(24, len(data))] = draw.choice(
                [0, 1, 8, 9, 0x20, 0x61, 0xFF, draw.randrange(256)]
            )
        path.write_bytes(changed)
        try:
            tokenization_of(load(path))
        except TokamataError:
            refusals += 1
    assert refusals > 20


def test_phi_3(tmp_path: Path) -> None:
    """Tokens of models with this name swallow the white space after them."""
    pieces: list[Token] = [("a", NORMAL), ("▁a", NORMAL), ("<x>", USER_DEFINED), ("<|end|>", CONTROL)]
    kept: list[Token] = [("<unk>", UNKNOWN), ("<s>", CONTROL), ("</s>", CONTROL), ("<|endoftext|>", CONTROL)]
    space, a, space_a, user, control = range(256, 261)
    vocabulary = by_scores(tmp_path, *pieces, *kept, name="Phi-3 mini")
    tables = tokenization_of(vocabulary)
    for token in (user, control):
        assert tables.first_noncanonical([space_a, token, space_a]) is None
        assert tables.first_noncanonical([token, a]) == 1
        assert tables.first_noncanonical([token, space, space_a]) is not None
    other = tokenization_of(by_scores(tmp_path, *pieces, *kept, name="Phi 3 mini"))
    assert other.first_noncanonical([space_a, user, space_a]) == 2
    lines: list[Token] = [*kept, ("\n\n", USER_DEFINED)]
    refused(by_scores(tmp_path, *pieces, *lines, name="phi3"), "added tokens", "begins with white space")


# ---- files and models ---------------------------------------------------------------------------


def test_kept_tables_are_of_one_program(tmp_path: Path) -> None:
    document = document_of_pairs([(97, 98)])
    both = {
        **document,
        "version": "1.0",
        "normalizer": None,
        "pre_tokenizer": {
            "type": "ByteLevel",
            "add_prefix_space": False,
            "use_regex": True,
            "trim_offsets": True,
        },
        "decoder": {"type": "ByteLevel", "add_prefix_space": False, "use_regex": True, "trim_offsets": True},
        "post_processor": None,
        "model": {"type": "BPE", **document["model"]},
    }
    file = tmp_path / "tokenizer.json"
    file.write_text(json.dumps(both))
    hugging_face, own = load(file), load(gguf_of_tokenizer_json(tmp_path / "a.gguf", document, "gpt-2"))
    other = load(gguf_of_tokenizer_json(tmp_path / "b.gguf", document, "qwen2"))
    assert hugging_face.tokens == own.tokens == other.tokens
    keys = {keyed_tokenization(vocabulary)[1] for vocabulary in (hugging_face, own, other)}
    assert len(keys) == 3


def test_pickled_and_changed(tmp_path: Path) -> None:
    vocabulary = by_merges(tmp_path, merges=("a b",))
    again = _vocabulary_of(*vocabulary.__reduce__()[1])  # as in another process
    (tmp_path / "a.gguf").unlink()
    assert spelled(again, "ab") == [b"ab"]
    with pytest.raises(VocabularyError, match="cannot be read any more"):
        tokenization_of(vocabulary)


def test_the_guard_refuses(tmp_path: Path) -> None:
    vocabulary = by_merges(tmp_path)
    assert "llama.cpp" in why_unguarded(vocabulary)
    with pytest.raises(UnsupportedTokenizerError, match=r"llama\.cpp"):
        guard.boundary(tmp_path / "a.gguf", "<")
    outcome = guard.self_test(tmp_path / "a.gguf")
    assert "llama_cpp.Llama" in outcome.reason
    assert guard.manifest(tmp_path / "a.gguf").digest


class Llama:
    """Stands in for ``llama_cpp.Llama``, which the tests do without."""

    def __init__(self, path: Path, oracle: PlainOracle, **overrides: Any) -> None:
        self.model_path, self.kv_overrides = str(path), overrides or None
        self.metadata = {"tokenizer.ggml.model": "llama", "tokenizer.ggml.add_space_prefix": "false"}
        self.model = self.oracle = oracle

    def n_vocab(self) -> int:
        return len(self.oracle.texts)

    def tokenize(self, text: bytes, add_bos: bool, special: bool) -> list[int]:
        assert not add_bos
        tokens = self.oracle.encode(text.decode())
        return tokens if special else [*tokens, 0]


Llama.__module__ = "llama_cpp.llama"


@pytest.fixture
def live(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Llama:
    tokens = [(text, NORMAL) for text in ("▁", "a", "b", "ab", "▁a")] + [("<s>", CONTROL), *BYTES]
    scores = [0.0, 0.0, 0.0, -1.0, -2.0] + [0.0] * 257
    tokenizer = RandomGguf(tokens, "ab ", scores)
    oracle = PlainOracle(tokenizer)
    attributes = {NORMAL: 4, CONTROL: 8, BYTE: 32}

    def piece(vocab: Any, token: int, buffer: Any, length: int, lstrip: int, special: bool) -> int:
        text = oracle.piece(token)
        buffer[: len(text)] = text
        return len(text)

    fake = types.ModuleType("llama_cpp")
    vars(fake).update(
        __version__="0.3.36",
        llama_model_get_vocab=lambda model: model,
        llama_vocab_get_attr=lambda vocab, token: attributes[oracle.kinds[token]],
        llama_vocab_get_text=lambda vocab, token: oracle.texts[token].encode(),
        llama_vocab_is_eog=lambda vocab, token: False,
        llama_token_to_piece=piece,
    )
    monkeypatch.setitem(sys.modules, "llama_cpp", fake)
    monkeypatch.setenv("TOKAMATA_CACHE", "off")  # it keeps that a program of this version has passed
    return Llama(tokenizer.write(tmp_path / "live.gguf"), oracle)


def test_a_live_model(live: Llama) -> None:
    vocabulary = tk.Vocabulary.load(live, stop=())
    assert spelled(vocabulary, "ab a") == [b"ab", b" a"]
    assert guard.self_test(live)
    running = guard.RunningTokenizer(live)
    assert running.program == "llama-cpp 0.3.36"
    assert running.encode("ab<s>") == [3, 5]
    assert running.decode([3, 5]) == "ab<s>"


def test_a_live_model_that_differs_from_its_file(live: Llama) -> None:
    vocabulary = tk.Vocabulary.load(live, stop=())
    assert live.oracle.scores is not None
    live.oracle.scores[3] = -3.0
    with pytest.raises(TokenizerMismatchError):
        tk.regex("a").compile(vocabulary, tokenization="canonical")


def test_a_live_model_without_its_file(live: Llama) -> None:
    overridden = Llama(Path(live.model_path), live.oracle, **{"tokenizer.ggml.pre": "qwen2"})
    with pytest.raises(UnsupportedTokenizerError, match="kv_overrides"):
        tokenization_of(tk.Vocabulary.load(overridden, stop=()))
    live.model_path += ".gone"
    refused(tk.Vocabulary.load(live, stop=()), "pipeline", "load the tokenizer itself")


def test_a_live_model_with_other_tokens(live: Llama) -> None:
    live.oracle.texts[3] = "ba"
    with pytest.raises(VocabularyError, match="token 3 has another text"):
        tokenization_of(tk.Vocabulary.load(live, stop=()))
