"""Types of tokens, and vocabularies without some tokens: against the texts of all tokens, one by one."""

from __future__ import annotations

import random
import re

import pytest

import tokamata as tk
from tests.support.tokenizers.real_tokenizers import REAL
from tests.support.vocabularies import BYTES

WORDS = [b"12", b"7", b" 12", b"ab", b"ab1", b"\xc3", "é".encode(), b"true", b"[1]", b" ", b"", None]


def vocabulary() -> tk.Vocabulary:
    return tk.Vocabulary.load(
        [*BYTES, *WORDS], stop=(), control_tokens={"<end>": len(BYTES) + len(WORDS) - 1}
    )


def of_pattern(pattern: str, known: tk.Vocabulary) -> set[int]:
    def matches(text: bytes | None) -> bool:
        try:
            return bool(text) and re.fullmatch(pattern, (text or b"").decode()) is not None
        except UnicodeDecodeError:
            return False

    return {token for token, text in enumerate(known.tokens) if matches(text)}


@pytest.mark.parametrize("pattern", ["[0-9]+", "[a-z]*", r"\s", ".*", "é", "a.?", "x{5,}", ""])
def test_types_are_the_tokens_whose_text_is_accepted(pattern: str) -> None:
    known = vocabulary()
    assert known.types({"it": tk.regex(pattern)})["it"] == of_pattern(pattern, known)


def test_types_of_json_and_grammars() -> None:
    known = vocabulary()
    grammar = tk.grammar('start: "[" [start] "]" | /[0-9]/')
    types = known.types({"json": tk.json(), "nested": grammar})
    for name, constraint in (("json", tk.json()), ("nested", grammar)):
        assert types[name] == {t for t, text in enumerate(known.tokens) if text and constraint.accepts(text)}
    assert types.of(next(iter(types["json"])))[0] == "json"


def test_of_and_others() -> None:
    known = vocabulary()
    types = known.types({"number": tk.regex("[0-9]+"), "digit": tk.regex("[0-9]")})
    seven = known.tokens.index(b"7")
    assert types.of(seven) == ("number", "digit")
    assert types.of(known.tokens.index(b"ab")) == ()
    others = types.others("number")
    assert set(others) == {t for t, text in enumerate(known.tokens) if text} - types["number"]
    assert list(types) == ["number", "digit"]
    with pytest.raises(tk.TokenIdError):
        types.of(10_000)
    with pytest.raises(tk.ArgumentError, match="number, digit"):
        types.others("numbers")
    for wrong in ([], {"a": "[0-9]"}, {1: tk.regex("a")}):
        with pytest.raises(tk.ArgumentError):
            known.types(wrong)  # type: ignore[arg-type]


def test_real_types() -> None:
    known = tk.Vocabulary.load(next(one for one in REAL if one.name == "llama-3.1").path(), stop=())
    types = known.types({"number": tk.regex("[0-9]+"), "space": tk.regex(r"[ \t\r\n]+")})
    assert types["number"] == of_pattern("[0-9]+", known)
    assert types["space"] == of_pattern(r"[ \t\r\n]+", known)


def test_without_keeps_ids_and_is_exact() -> None:
    """A mask has the tokens after which some text without the banned tokens remains; by brute force."""
    random_ = random.Random(5)
    tokens = [b"a", b"b", b"ab", b"ba", b"aba", b"c"]
    for _ in range(60):
        known = tk.Vocabulary.load([*tokens, None], stop=6)
        banned = set(random_.sample(range(6), random_.randrange(1, 4)))
        pattern = random_.choice(["(ab){1,3}c?", "a?(ba){1,3}", "(a|b){2,4}c", "abab|abc"])
        less = known.without(banned)
        assert less is known.without(sorted(banned))
        assert len(less) == len(known)
        texts = spellings(pattern, [None if t in banned else text for t, text in enumerate(tokens)])
        if not texts:
            with pytest.raises(tk.UnspellableError):
                tk.regex(pattern).compile(less)
            continue
        matcher = tk.regex(pattern).compile(less).matcher()
        prefixes = {path[:count] for path in texts for count in range(len(path) + 1)}
        path: tuple[int, ...] = ()
        while not matcher.is_finished and len(path) < 6:
            allowed = [t for t in range(6) if matcher.mask[0] >> t & 1]
            assert allowed == [t for t in range(6) if (*path, t) in prefixes], (pattern, banned, path)
            if not allowed:
                break
            path = (*path, random_.choice(allowed))
            assert matcher.advance(path[-1])


def spellings(pattern: str, tokens: list[bytes | None], most: int = 7) -> list[tuple[int, ...]]:
    """All token sequences of up to so many tokens whose text matches."""
    found, open_paths = [], [()]
    for _ in range(most + 1):
        found += [path for path in open_paths if re.fullmatch(pattern, text_of(path, tokens))]
        open_paths = [
            (*path, token)
            for path in open_paths
            for token, text in enumerate(tokens)
            if text and len(text_of(path, tokens)) + len(text) <= most
        ]
    return found


def text_of(path: tuple[int, ...], tokens: list[bytes | None]) -> str:
    return b"".join(tokens[token] or b"" for token in path).decode()


def test_without_stop_and_control_tokens() -> None:
    known = tk.Vocabulary.load([b"a", b"b", None, None], stop=[2], control_tokens={"<x>": 3, "<end>": 2})
    less = known.without([2, 3])
    assert less.stop == ()
    with pytest.raises(tk.UnknownTokenError):
        less.control_token("<x>")
    assert known.without([]) is known
    with pytest.raises(tk.TokenIdError):
        known.without([9])
    with pytest.raises(tk.UnsupportedTokenizerError):
        tk.regex("a").compile(less, tokenization="canonical")
