"""Damaged tokenizer files: every one is read, or refused with an error that says where it is damaged.

Each small file is valid; then every node of it, one at a time, is dropped or replaced by what does not belong
there.  What is left must load and compile, or raise a ``TokamataError``: never an error of Python's own.
"""

from __future__ import annotations

import base64
import copy
import itertools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import tokamata as tk
from tests.support.matchers import takes
from tests.support.texts import all_texts
from tokamata.tokenization import kept_tables

pytest.importorskip("tokenizers", reason="canonical tokenization of these files needs it")
from tokenizers import Tokenizer, pre_tokenizers

GARBAGE: tuple[Any, ...] = (
    *(None, 0, "", [], {}, True, 1.5, -1, 10**40, "\ud800", ["a", ["b", {"c": None}]]),
    {"type": "Sequence", "normalizers": {"a": 1}, "pretokenizers": 5, "decoders": None},
    {"type": "no such type", "a": [[[[]]]]},
)
BYTES = {letter: number for number, letter in enumerate(sorted(pre_tokenizers.ByteLevel.alphabet()))}


def added(token: int, content: str) -> dict[str, Any]:
    flags = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)
    return {"id": token, "content": content, "special": True, **flags}


def file(model: dict[str, Any], **sections: Any) -> dict[str, Any]:
    empty = dict.fromkeys(("normalizer", "pre_tokenizer", "post_processor", "decoder"))
    size = len(model["vocab"])
    return {"version": "1.0", "added_tokens": [added(size, "</s>")], **empty, **sections, "model": model}


def split(pattern: Any) -> dict[str, Any]:
    return {"type": "Split", "pattern": pattern, "behavior": "Isolated", "invert": False}


BYTE_LEVEL = file(
    {"type": "BPE", "vocab": {**BYTES, "ab": 256, "abb": 257}, "merges": [["a", "b"], "ab b"]},
    pre_tokenizer={
        "type": "Sequence",
        "pretokenizers": [
            split({"Regex": "a+|b"}),
            {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False},
        ],
    },
    decoder={"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True},
)
NORMAL_FORM = {**BYTE_LEVEL, "normalizer": {"type": "Sequence", "normalizers": [{"type": "NFC"}]}}
DIGITS = {
    **BYTE_LEVEL,
    "pre_tokenizer": {
        "type": "Sequence",
        "pretokenizers": [{"type": "Digits", "individual_digits": True}, BYTE_LEVEL["pre_tokenizer"]],
    },
}
WITH_SPACES = file(
    {
        "type": "BPE",
        "vocab": {"<unk>": 0, "▁": 1, "a": 2, "b": 3, "▁a": 4, "<0x0A>": 5},
        "merges": [["▁", "a"]],
        "byte_fallback": True,
        "ignore_merges": False,
        "unk_token": "<unk>",
    },
    normalizer={
        "type": "Sequence",
        "normalizers": [
            {"type": "Prepend", "prepend": "▁"},
            {"type": "Replace", "pattern": {"String": " "}, "content": "▁"},
        ],
    },
    decoder={
        "type": "Sequence",
        "decoders": [
            {"type": "Replace", "pattern": {"String": "▁"}, "content": " "},
            {"type": "ByteFallback"},
            {"type": "Fuse"},
            {"type": "Strip", "content": " ", "start": 1, "stop": 0},
        ],
    },
)
METASPACE = file(
    {"type": "BPE", "vocab": {"▁": 0, "a": 1, "b": 2, "▁a": 3}, "merges": ["▁ a"]},
    pre_tokenizer={"type": "Metaspace", "replacement": "▁", "prepend_scheme": "first", "split": True},
    decoder={"type": "Metaspace", "replacement": "▁", "prepend_scheme": "first", "split": True},
)
WORD_PIECE = file(
    {
        "type": "WordPiece",
        "unk_token": "[UNK]",
        "continuing_subword_prefix": "##",
        "max_input_chars_per_word": 5,
        "vocab": {"[UNK]": 0, "a": 1, "b": 2, "##a": 3, "##b": 4, "ab": 5},
    },
    normalizer={
        "type": "BertNormalizer",
        "clean_text": True,
        "handle_chinese_chars": True,
        "strip_accents": None,
        "lowercase": True,
    },
    pre_tokenizer={"type": "BertPreTokenizer"},
    decoder={"type": "WordPiece", "prefix": "##", "cleanup": False},
)
MARKED = file(
    {
        "type": "BPE",
        "unk_token": "<unk>",
        "end_of_word_suffix": "</w>",
        "vocab": {"<unk>": 0, "a": 1, "b": 2, "a</w>": 3, "b</w>": 4, "ab</w>": 5},
        "merges": [["a", "b</w>"]],
    },
    pre_tokenizer={"type": "BertPreTokenizer"},
    decoder={"type": "BPEDecoder", "suffix": "</w>"},
)
MARKED["added_tokens"][0].update(lstrip=True, rstrip=True)
PREFIXED = file(
    {
        "type": "BPE",
        "unk_token": "<unk>",
        "continuing_subword_prefix": "##",
        "vocab": {"<unk>": 0, "a": 1, "b": 2, "##a": 3, "##b": 4, "ab": 5},
        "merges": ["a ##b"],
    },
    pre_tokenizer={"type": "WhitespaceSplit"},
    decoder={"type": "WordPiece", "prefix": "##", "cleanup": False},
)
WORD_LEVEL = file(
    {"type": "WordLevel", "unk_token": "<unk>", "vocab": {"<unk>": 0, "a": 1, "ab": 2}},
    pre_tokenizer={"type": "Whitespace"},
)
STRIPPING = {**BYTE_LEVEL, "added_tokens": [{**added(258, "</s>"), "lstrip": True, "rstrip": True}]}
UNIGRAM = file(
    {
        "type": "Unigram",
        "unk_id": 0,
        "vocab": [["<unk>", 0.0], ["a", -1.0]],
        "byte_fallback": False,
    }
)
TEKKEN = {
    "config": {
        "pattern": "a+|b",
        "num_vocab_tokens": 4,
        "default_vocab_size": 4,
        "default_num_special_tokens": 2,
        "version": "v3",
    },
    "vocab": [
        {"rank": 0, "token_bytes": base64.b64encode(b"a").decode(), "token_str": "a"},
        {"rank": 1, "token_bytes": base64.b64encode(b"b").decode(), "token_str": "b"},
    ],
    "special_tokens": [
        {"rank": 0, "token_str": "<unk>", "is_control": True},
        {"rank": 1, "token_str": "</s>", "is_control": True},
    ],
}
FILES = {
    "byte level": BYTE_LEVEL,
    "normal form": NORMAL_FORM,
    "digits": DIGITS,
    "spaces": WITH_SPACES,
    "metaspace": METASPACE,
    "word piece": WORD_PIECE,
    "marked words": MARKED,
    "prefixed": PREFIXED,
    "word level": WORD_LEVEL,
    "stripping": STRIPPING,
    "unigram": UNIGRAM,
    "tekken": TEKKEN,
}
WITHIN = {
    "normal form": "normalizer",
    "digits": "pre_tokenizer",
    "stripping": "added_tokens",
}  # what else it has another file has, too


def places(node: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every place in a document but its root; of a long list the last few entries."""
    keys = list(node) if isinstance(node, dict) else list(range(len(node))) if isinstance(node, list) else []
    for key in keys if len(keys) < 20 else keys[-4:]:
        yield (*path, key)
        yield from places(node[key], (*path, key))


def mutants(document: Any, within: str = "") -> Iterator[tuple[str, Any]]:
    """Every document that differs in one node, of one section or of any, and a description of it."""
    for path in places(document):
        if within not in ("", path[0]):
            continue
        for garbage in ("dropped", *GARBAGE):
            mutant = copy.deepcopy(document)
            holder = mutant
            for key in path[:-1]:
                holder = holder[key]
            if garbage == "dropped":
                del holder[path[-1]]
            else:
                holder[path[-1]] = garbage
            yield f"{'.'.join(map(str, path))} = {str(garbage)[:40]}", mutant


def verdict(path: Path, document: Any) -> tk.TokamataError | None:
    """What loading and compiling end in; everything else than our own errors is raised."""
    path.write_text(json.dumps(document))
    try:
        vocabulary = tk.Vocabulary.load(path)
        matcher = tk.regex("[ab]+ ?").compile(vocabulary, tokenization="canonical").matcher()
        assert matcher.mask.any()
    except tk.TokamataError as error:
        return error
    return None


@pytest.mark.parametrize("name", FILES)
def test_every_damaged_node_is_refused_or_harmless(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept_tables, "load", lambda key: None)
    monkeypatch.setattr(kept_tables, "keep", lambda key, tables: None)
    path = tmp_path / "tokenizer.json"
    known = verdict(path, FILES[name])
    assert known is None or (name == "unigram" and isinstance(known, tk.UnsupportedTokenizerError))
    refused, wrong = 0, []
    for described, mutant in mutants(FILES[name], WITHIN.get(name, "")):
        try:
            refused += verdict(path, mutant) is not None
        except Exception as error:
            wrong.append(f"{described}: {type(error).__name__}: {error}"[:200])
    assert wrong == []
    assert refused >= 15


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"normalizer": {}}, "normalizer.type is missing; expected a text"),
        ({"normalizer": 5}, "normalizer is 5; expected an object"),
        (
            {"pre_tokenizer": split(None)},
            "pre_tokenizer.pattern is null; expected an object",
        ),
        (
            {
                "pre_tokenizer": {
                    "type": "Sequence",
                    "pretokenizers": [split({"Regex": []})],
                }
            },
            r"pre_tokenizer.pretokenizers\[0\].pattern.Regex is \[\]; expected a text",
        ),
        ({"model": {**BYTE_LEVEL["model"], "merges": None}}, "model.merges is null; expected a list"),
        (
            {"model": {**BYTE_LEVEL["model"], "merges": [["a", "b"], ["a", None]]}},
            r"model.merges\[1\] is \[\"a\", null\]; expected a pair of tokens of the vocabulary",
        ),
    ],
)
def test_the_error_names_the_place(change: dict[str, Any], message: str, tmp_path: Path) -> None:
    error = verdict(tmp_path / "tokenizer.json", {**BYTE_LEVEL, **change})
    assert isinstance(error, tk.VocabularyError)
    with pytest.raises(tk.VocabularyError, match=f"^{message}.*download it again"):
        raise error


def test_nesting_without_end(tmp_path: Path) -> None:
    part: dict[str, Any] = {"type": "NFC"}
    for _ in range(300):
        part = {"type": "Sequence", "normalizers": [part]}
    error = verdict(tmp_path / "tokenizer.json", {**BYTE_LEVEL, "normalizer": part})
    assert "nests more than 8 sequences" in str(error)


REPEATED = (
    [["a", "b"], ["b", "c"], ["a", "b"]],  # the program's own abc is a bc: the last of two counts
    [["b", "c"], ["a", "b"], "b c", ["a", "bc"]],
    [["a", "a"], "a a", ["aa", "a"], ["a", "a"]],
    [["a", "b"], ["ab", "c"], ["a", "b"], ["ab", "c"], ["b", "c"]],
)


@pytest.mark.parametrize("merges", REPEATED, ids=str)
def test_repeated_merges_count_as_in_the_tokenizer_s_own_program(merges: list[Any], tmp_path: Path) -> None:
    pairs = [merge.split() if isinstance(merge, str) else merge for merge in merges]
    tokens = dict.fromkeys([*BYTES, *map("".join, pairs)])
    vocab = {text: number for number, text in enumerate(tokens)}
    document = file(
        {"type": "BPE", "vocab": vocab, "merges": pairs},
        pre_tokenizer={
            "type": "ByteLevel",
            "add_prefix_space": False,
            "trim_offsets": True,
            "use_regex": False,
        },
        decoder={"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True},
    )
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(document))
    judge = Tokenizer.from_file(str(path))
    compiled = tk.regex("[abc]+").compile(tk.Vocabulary.load(path), tokenization="canonical")
    for text in all_texts("abc", 5, shortest=1):
        assert takes(compiled.matcher(), judge.encode(text).ids), text
    # And nothing but these: each text has one way to be written.
    for ids in itertools.product(
        [vocab[text] for text in tokens if text not in BYTES or text in "abc"], repeat=3
    ):
        matcher = compiled.matcher()
        if all(map(matcher.advance, ids)) and matcher.is_accepting:
            assert judge.encode(matcher.text.decode()).ids == list(ids)
