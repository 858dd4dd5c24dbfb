"""The public class: stop tokens, width, names, the odd vocabularies, and its errors."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from tokamata.errors import ArgumentError, TokenIdError, VocabularyError
from tokamata.vocabulary import Vocabulary
from tokamata.vocabulary.token_table import MAX_TOKENS, TokenTable

TOKENS: list[bytes | None] = [b"a", b"b", None, b"a", b"", b"\xff\xfe", "é".encode(), b"\n"]


def test_a_plain_list() -> None:
    vocabulary = Vocabulary.load(TOKENS)
    assert len(vocabulary) == vocabulary.width == 8
    assert vocabulary.stop == ()
    assert list(vocabulary.tokens) == TOKENS
    assert [vocabulary[token] for token in range(8)] == TOKENS
    assert vocabulary.start_tokens() is None
    assert repr(vocabulary) == "<Vocabulary of 8 tokens, stop: none>"


def test_changing_the_list_changes_nothing() -> None:
    tokens = list(TOKENS)
    vocabulary = Vocabulary.load(tokens)
    tokens[0] = b"z"
    assert vocabulary[0] == b"a"


def test_names() -> None:
    vocabulary = Vocabulary.load(TOKENS, width=10)
    names = [vocabulary.name(token) for token in range(10)]
    assert names == [
        *(
            "'a'",
            "'b'",
            "<unused 2>",
            "'a'",
            "''",
            repr(b"\xff\xfe"),
            "'é'",
            r"'\n'",
            "<padding 8>",
            "<padding 9>",
        )
    ]


@pytest.mark.parametrize("token", [-1, 8, 10**30])
def test_ids_outside_the_width(token: int) -> None:
    vocabulary = Vocabulary.load(TOKENS)
    with pytest.raises(TokenIdError, match="ids 0 to 7"):
        vocabulary[token]
    with pytest.raises(TokenIdError):
        vocabulary.name(token)


def test_padding() -> None:
    vocabulary = Vocabulary.load(TOKENS, width=64)
    assert len(vocabulary) == 8
    assert vocabulary.width == 64
    assert vocabulary[63] is None
    with pytest.raises(TokenIdError):
        vocabulary[64]
    assert repr(vocabulary) == "<Vocabulary of 8 tokens, 56 of padding, stop: none>"


def test_a_width_that_leaves_out_control_tokens() -> None:
    names = {2: "<s>", 3: "<image>"}
    table = TokenTable([b" a", b"b", None, None], names, (2,), lambda: [b"a", b"b", None, None])
    vocabulary = Vocabulary(table, width=3)
    assert len(vocabulary) == vocabulary.width == 3
    assert vocabulary.tokens == (b" a", b"b", None)
    assert vocabulary.start_tokens() == [b"a", b"b", None]
    assert vocabulary.name(2) == "<s>"
    with pytest.raises(TokenIdError):
        vocabulary.name(3)
    with pytest.raises(VocabularyError, match="stop token 2"):
        Vocabulary(table, width=2)
    with pytest.raises(VocabularyError, match="width=1 does not fit"):
        Vocabulary(table, width=1)


def test_control_tokens_of_a_list() -> None:
    tokens = [b"a", None, None, None]
    vocabulary = Vocabulary.load(tokens, stop="<end>", control_tokens={"<image>": 1, "<end>": 3})
    assert vocabulary.stop == (3,)
    assert [vocabulary.name(token) for token in range(4)] == ["'a'", "<image>", "<unused 2>", "<end>"]
    assert vocabulary.control_token("<image>") == 1
    assert Vocabulary.load(tuple(tokens), control_tokens={}).stop == ()


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"<image>": 0}, VocabularyError, "has the id 0, which is text"),
        ({"<image>": 1, "<end>": 1}, VocabularyError, "token 1 has two names"),
        ({"<image>": 4}, ArgumentError, "below 4"),
        ({"<image>": -1}, ArgumentError, "at least 0"),
        ({"<image>": "1"}, ArgumentError, "a whole number"),
        ({1: 1}, ArgumentError, "the name of a control token"),
        ({"\ud800": 1}, ArgumentError, "surrogate"),
        ([("<image>", 1)], ArgumentError, "a dict from names to ids"),
    ],
)
def test_bad_control_tokens(given: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        Vocabulary.load([b"a", None, None, None], control_tokens=given)


def test_control_tokens_of_what_has_its_own(tmp_path: Path) -> None:
    with pytest.raises(VocabularyError, match="control_tokens go with a list of tokens"):
        Vocabulary.load(tmp_path / "tokenizer.json", control_tokens={"<image>": 1})


@pytest.mark.parametrize("width", [7, 0, -1, MAX_TOKENS + 1, 10**30, "8", 8.0])
def test_bad_width(width: Any) -> None:
    with pytest.raises(VocabularyError, match="width"):
        Vocabulary.load(TOKENS, width=width)


@pytest.mark.parametrize(
    ("stop", "expected"),
    [
        (2, (2,)),
        ([2, 0], (2, 0)),
        ((2, 2, 0), (2, 0)),
        ({2}, (2,)),
        ([], ()),
        ("é", (6,)),
        (["\n", 2], (7, 2)),
    ],
)
def test_stop(stop: Any, expected: tuple[int, ...]) -> None:
    assert Vocabulary.load(TOKENS, stop=stop).stop == expected


def test_a_stop_token_is_no_text() -> None:
    vocabulary = Vocabulary.load(TOKENS, stop=[1, 2])
    assert vocabulary[1] is None
    assert vocabulary.name(1) == "b"
    assert repr(vocabulary) == "<Vocabulary of 8 tokens, stop: 1 b, 2 <unused 2>>"


def test_a_stop_token_in_the_padding() -> None:
    assert Vocabulary.load(TOKENS, stop=9, width=10).stop == (9,)


def test_many_stop_tokens_in_repr() -> None:
    assert repr(Vocabulary.load(TOKENS, stop=range(6))).endswith("3 a and 2 more>")


@pytest.mark.parametrize(
    ("stop", "reason"),
    [
        (8, "stop token 8 is outside the 8 ids"),
        (-1, "outside"),
        (10**40, "outside"),
        ("zzz", "no token has the name 'zzz'"),
        ("a", "ids 0, 3 all have the name 'a'"),
        ("\ud800", "no token has the name"),
        (True, "True"),
        (1.0, "1.0"),
        (b"a", "b'a'"),
        ([None], "None"),
        ([[1]], "ids or names"),
        ({"a": 1}, "ids or names"),
    ],
)
def test_bad_stop(stop: Any, reason: str) -> None:
    with pytest.raises(VocabularyError, match=reason):
        Vocabulary.load(TOKENS, stop=stop)


def test_start_tokens() -> None:
    table = TokenTable([b" a", b"b", None, b" </s>"], {2: "<s>"}, (3,), lambda: [b"a", b"b", None, b"</s>"])
    vocabulary = Vocabulary(table)
    assert vocabulary.start_tokens() == [b"a", b"b", None, None]
    assert vocabulary[0] == b" a"
    start = vocabulary.start_tokens()
    assert start is not None
    start[0] = b"changed"
    assert vocabulary.start_tokens() == [b"a", b"b", None, None]


def test_a_start_rule_that_changes_nothing() -> None:
    assert Vocabulary(TokenTable([b"a"], start_rule=lambda: [b"a"])).start_tokens() is None


def test_core() -> None:
    table = TokenTable([b" a", b"b", None], stop=(2,), start_rule=lambda: [b"a", b"b", None])
    vocabulary = Vocabulary(table, width=70)
    assert vocabulary.core is vocabulary.core
    assert vocabulary.core.longest == 2
    assert vocabulary.start_core is not None
    assert vocabulary.start_core is vocabulary.start_core
    assert vocabulary.start_core.longest == 1
    assert Vocabulary.load(TOKENS).start_core is None
    assert Vocabulary.load(TOKENS).core.trie_nodes > 0


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ([], "no tokens"),
        ([b"a", "b"], "token 1 of the list is 'b'"),
        ([bytearray(b"a")], "token 0"),
        ([b"x" * (1 << 26), b"y"], "67,108,865 bytes together"),
        (3, "int is no source"),
        (None, "NoneType is no source"),
        (b"tokenizer.json", "bytes is no source"),
        ({"a": 0}, "dict is no source"),
    ],
)
def test_bad_sources(source: Any, reason: str) -> None:
    with pytest.raises(VocabularyError, match=reason):
        Vocabulary.load(source)


def test_no_host_is_imported() -> None:
    """Reading needs no host; `tests` elsewhere may have imported some already, hence another process."""
    import subprocess

    hosts = [
        "torch",
        "transformers",
        "tokenizers",
        "tiktoken",
        "sentencepiece",
        "gguf",
        "llama_cpp",
        "mistral_common",
    ]
    code = (
        "import sys, tokamata.vocabulary as v; v.Vocabulary.load([b'a']); "
        f"print([host for host in {hosts!r} if host in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
