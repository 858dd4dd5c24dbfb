"""The extensions of paper 002, section 2.5, about tokens, as groups and as functions.

Their judge is ``re``, on a spelling of token sequences that shows where tokens begin and end.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from functools import cache

import pytest

import tokamata as tk
from tests.support.masks import allowed
from tests.support.matchers import takes
from tests.support.texts import all_texts
from tokamata.vocabulary.token_table import TokenTable

# ---- tokens -----------------------------------------------------------------------------------

# The ids of a small vocabulary: a token that ends inside a code point, an empty one, two for one text, two
# control tokens, one of which has the name of a text.
TOKENS: list[bytes | None] = [b"a", b"b", b"ab", b"\n", b"b\n", b"\r", b"\xc3", b"\xa9"]
TOKENS += [None, None, b"", b"a", None]
IMG, END, EMPTY, STOP = 8, 9, 10, 12
SMALL = tk.Vocabulary(TokenTable(TOKENS, {IMG: "<img>", END: "a", STOP: "<stop>"}, (STOP,)))


# What a token is, in that spelling: from bar to bar.
T = r"\|[^|\u0100-\uffff]+(?=\|)"
P = r"\|[^|\n\r\u0100-\uffff]+(?=\|)"


def letters(text: str) -> str:
    """Bytes that any tokens may spell."""
    return "".join(rf"\|?{re.escape(chr(byte))}" for byte in text.encode())


def control(token: int) -> str:
    return rf"\|{chr(256 + token)}(?=\|)"


def spelled(tokens: Sequence[int]) -> str:
    """``|a|ab|``: a bar at every edge of a token, a letter for every byte or control token."""
    return "|" + "".join(
        (chr(256 + token) if TOKENS[token] is None else TOKENS[token].decode("latin-1")) + "|"
        for token in tokens
    )


def is_text(tokens: Sequence[int]) -> bool:
    """Whether tokens spell valid UTF-8 between control tokens, and none of them is empty."""
    data = b"".join(b"|" if (text := TOKENS[token]) is None else text for token in tokens)
    return EMPTY not in tokens and data.decode(errors="ignore").encode() == data


@cache
def sequences(longest: int) -> dict[tuple[int, ...], str]:
    """All sequences of tokens that spell texts, and how they are written for ``re``."""
    everything = (
        tokens for size in range(longest + 1) for tokens in itertools.product(range(STOP), repeat=size)
    )
    return {tokens: spelled(tokens) for tokens in everything if is_text(tokens)}


def walk(matcher: tk.Matcher, longest: int) -> Iterator[tuple[int, ...]]:
    """All sequences of tokens that the engine takes, at most so many."""
    yield tuple(matcher.tokens)
    if len(matcher.tokens) < longest:
        for token in range(STOP):
            if matcher.advance(token):
                yield from walk(matcher, longest)
                matcher.rollback(1)


lit = tk.literal
TOKEN_CASES: list[tuple[str, tk.Constraint, str]] = [
    ("(?P<TEXT_TOKEN>)", tk.text_token(), T),
    ("(?P<TEXT_TOKEN>?)", tk.text_token().optional(), f"(?:{T})?"),
    ("(?P<TEXT_TOKEN>+)", tk.text_token().repeat(1), f"(?:{T})+"),
    ("(?P<TEXT_TOKEN>*)", tk.text_token().repeat(), f"(?:{T})*"),
    ("(?P<TEXT_TOKEN>{2})", tk.text_token().repeat(2, 2), f"(?:{T}){{2}}"),
    ("(?P<TEXT_TOKEN>{2,})", tk.text_token().repeat(2), f"(?:{T}){{2,}}"),
    ("(?P<TEXT_TOKEN>{1,3})", tk.text_token().repeat(1, 3), f"(?:{T}){{1,3}}"),
    ("(?P<TEXT_TOKEN>{0,0})", tk.text_token().repeat(0, 0), ""),
    ("(?P<PARAGRAPH_TOKEN>)", tk.paragraph_token(), P),
    ("(?P<PARAGRAPH_TOKEN>+)", tk.paragraph_token().repeat(1), f"(?:{P})+"),
    ("(?P<PARAGRAPH_TOKEN>{2,3})", tk.paragraph_token().repeat(2, 3), f"(?:{P}){{2,3}}"),
    ("a(?P<TEXT_TOKEN>)b", lit("a") + tk.text_token() + lit("b"), letters("a") + T + letters("b")),
    ("(?P<TEXT_TOKEN>)b", tk.text_token() + lit("b"), T + letters("b")),
    ("(?P<TEXT_TOKEN>*)ab", tk.text_token().repeat() + lit("ab"), f"(?:{T})*" + letters("ab")),
    ("a|(?P<TEXT_TOKEN>)b", lit("a") | tk.text_token() + lit("b"), f"{letters('a')}|{T}{letters('b')}"),
    ("(?:(?P<TEXT_TOKEN>)b)*", (tk.text_token() + lit("b")).repeat(), f"(?:{T}{letters('b')})*"),
    ("é(?P<TEXT_TOKEN>)", lit("é") + tk.text_token(), letters("é") + T),
    ("(?P<TEXT_TOKEN>)é|é", tk.text_token() + lit("é") | lit("é"), f"{T}{letters('é')}|{letters('é')}"),
    (
        "(?P<PARAGRAPH_TOKEN>+)\n(?P<PARAGRAPH_TOKEN>+)",
        tk.paragraph_token().repeat(1) + lit("\n") + tk.paragraph_token().repeat(1),
        f"(?:{P})+{letters(chr(10))}(?:{P})+",
    ),
    (
        "(?:b(?P<PARAGRAPH_TOKEN>*)\n){1,2}",
        (lit("b") + tk.paragraph_token().repeat() + lit("\n")).repeat(1, 2),
        f"(?:{letters('b')}(?:{P})*{letters(chr(10))}){{1,2}}",
    ),
    (
        "(?P<PARAGRAPH_TOKEN>)a|(?P<TEXT_TOKEN>)b",
        tk.paragraph_token() + lit("a") | tk.text_token() + lit("b"),
        f"{P}{letters('a')}|{T}{letters('b')}",
    ),
    (
        r"(?=a*b+\Z)(?P<TEXT_TOKEN>{2})",
        tk.text_token().repeat(2, 2) & tk.regex("a*b+"),
        rf"(?=(?:{letters('a')})*(?:{letters('b')})+\|?$){T}{T}",
    ),
    ("(?P<CONTROL_TOKEN><img>)", tk.control_token("<img>"), control(IMG)),
    ("(?P<CONTROL_TOKEN>8)", tk.control_token(IMG), control(IMG)),
    ("(?P<CONTROL_TOKEN>a)", tk.control_token("a"), control(END)),
    (
        "a(?P<CONTROL_TOKEN><img>)+b?",
        lit("a") + tk.control_token(8).repeat(1) + lit("b").optional(),
        f"{letters('a')}(?:{control(IMG)})+(?:{letters('b')})?",
    ),
    (
        "(?P<CONTROL_TOKEN>a)a|a(?P<CONTROL_TOKEN>a)",
        tk.control_token("a") + lit("a") | lit("a") + tk.control_token("a"),
        f"{control(END)}{letters('a')}|{letters('a')}{control(END)}",
    ),
    (
        "(?P<TEXT_TOKEN>)(?P<CONTROL_TOKEN><img>)(?P<PARAGRAPH_TOKEN>)",
        tk.text_token() + tk.control_token(IMG) + tk.paragraph_token(),
        T + control(IMG) + P,
    ),
]


@pytest.mark.parametrize(("pattern", "function", "judge"), TOKEN_CASES, ids=[case[0] for case in TOKEN_CASES])
def test_tokens_in_patterns(pattern: str, function: tk.Constraint, judge: str) -> None:
    compiled = re.compile(rf"(?:{judge})\|?")
    judged = {tokens for tokens, written in sequences(4).items() if compiled.fullmatch(written)}
    alive = {tokens[:size] for tokens in judged for size in range(len(tokens) + 1)}
    assert alive
    for constraint in (tk.regex(pattern), function):
        matcher = constraint.compile(SMALL).matcher()
        accepted, refused = set(), 0
        for tokens in walk(matcher, 4):
            if matcher.is_accepting:
                accepted.add(tokens)
            bits = allowed(matcher)
            assert (STOP in bits) == matcher.is_accepting
            if len(tokens) == 4:
                continue
            proved = {token for token in range(STOP) if (*tokens, token) in alive}
            assert proved <= bits, tokens
            for token in bits - proved - {STOP}:  # those that need more than four tokens
                assert matcher.advance(token)
                whole = [*matcher.tokens, *matcher.shortest_completion()]
                assert len(whole) > 4
                assert is_text(whole)
                assert compiled.fullmatch(spelled(whole)), whole
                matcher.rollback(1)
            refused += STOP - len(bits)
        assert accepted == judged
        assert refused


def test_the_spelling_of_token_sequences() -> None:
    assert spelled([2, 8, 1]) == "|ab|Ĉ|b|"
    assert re.fullmatch(T + letters("b") + r"\|?", "|ab|b|")
    assert not re.fullmatch(T + letters("b") + r"\|?", "|ab|")
    assert re.fullmatch(letters("abb") + r"\|?", "|ab|b|")
    assert not re.fullmatch(T, "|Ĉ|")
    assert [is_text(tokens) for tokens in ([6, 7], [6, 8, 7], [0, 10], [7], [8, 8])] == [1, 0, 0, 0, 1]


# ---- control tokens ---------------------------------------------------------------------------


def test_control_tokens_are_not_the_text_of_their_names() -> None:
    tokens: list[bytes | None] = [b"<img>", b"<", b"img", b">", b"i", b"m", b"g", None, None]
    vocabulary = tk.Vocabulary(TokenTable(tokens, {7: "<img>", 8: "<stop>"}, (8,)))
    as_token = [
        tk.regex("(?P<CONTROL_TOKEN><img>)"), tk.regex("(?P<CONTROL_TOKEN>7)"),
        tk.control_token("<img>"), tk.control_token(7),
    ]  # fmt: skip
    as_text = tk.literal("<img>")
    for constraint in as_token:
        matcher = constraint.compile(vocabulary).matcher()
        assert allowed(matcher) == {7}
        assert matcher.advance(7)
        assert allowed(matcher) == {8}
        assert matcher.text == b""
        assert allowed((constraint | as_text).compile(vocabulary).matcher()) == {0, 1, 7}
    assert allowed(as_text.compile(vocabulary).matcher()) == {0, 1}
    assert allowed(tk.regex("(?s:.*)").compile(vocabulary).matcher()) == {0, 1, 2, 3, 4, 5, 6, 8}


def test_a_control_token_by_name_and_by_id_is_one_token() -> None:
    name, number = tk.control_token("<img>"), tk.control_token(IMG)
    both = (name + lit("a") | lit("a") + number).compile(SMALL).matcher()
    assert takes(both, [IMG, 0])
    assert takes(both, [0, IMG])
    assert takes((name + number).compile(SMALL).matcher(), [IMG, IMG])
    assert takes((name & number).compile(SMALL).matcher(), [IMG])
    with pytest.raises(tk.EmptyConstraintError):
        (name - number).compile(SMALL)


def test_names_with_parentheses_and_digits() -> None:
    names = {1: "(a|b)", 2: "7", 3: "漢]", 4: "\\"}
    vocabulary = tk.Vocabulary(TokenTable([b"a", None, None, None, None, None], names, (5,)))
    for token, name in names.items():
        assert allowed(tk.control_token(name).compile(vocabulary).matcher()) == {token}
        assert allowed(tk.control_token(token).compile(vocabulary).matcher()) == {token}
        group = f"(?P<CONTROL_TOKEN>{re.escape(name)})"
        if token != 2:  # in a group digits are an id
            assert allowed(tk.regex(group).compile(vocabulary).matcher()) == {token}
    with pytest.raises(tk.UnknownTokenError, match="no control token '7': the vocabulary has the ids 0 to 5"):
        tk.regex("(?P<CONTROL_TOKEN>7)").compile(vocabulary)


def test_unknown_control_tokens() -> None:
    for wanted, reason in {
        "<imgs>": "the vocabulary has 3 other names; did you mean <img>",
        "b": "token 1 is text, b'b'; write that text instead",
        "<stop>": "it is a stop token, which ends the text and cannot stand in it",
        0: "token 0 is text, b'a'",
        EMPTY: "token 10 is text, b''",
        STOP: "it is a stop token",
        13: "the vocabulary has the ids 0 to 12",
        999_999_999: "the vocabulary has the ids 0 to 12",
    }.items():
        for constraint in (tk.control_token(wanted), tk.regex(f"(?P<CONTROL_TOKEN>{wanted})")):
            with pytest.raises(tk.UnknownTokenError, match=re.escape(reason)) as error:
                (tk.literal("a") | constraint).compile(SMALL)
            assert error.value.name == str(wanted)
    with pytest.raises(KeyError, match="no control token ''"):
        tk.control_token("").compile(SMALL)


# ---- IMAGE ------------------------------------------------------------------------------------

FAMILIES = {
    "gemma": ("<start_of_image>", "<image_soft_token>", "<end_of_image>"),
    "qwen": ("<|vision_start|>", "<|image_pad|>", "<|vision_end|>"),
    "llama": ("<|image_start|>", "<|patch|>", "<|image_end|>"),
}


@pytest.mark.parametrize("family", FAMILIES)
def test_image(family: str) -> None:
    begin, content, end = names = FAMILIES[family]
    other = FAMILIES["gemma" if family != "gemma" else "llama"][:2]  # a family that is not all there
    known = dict(enumerate([*other, *reversed(names), "<stop>"], 1))
    vocabulary = tk.Vocabulary(TokenTable([b"a", *[None] * 6], known, (6,)))
    spelled_as = {known[token]: token for token in known}
    judge = re.compile(f"{spelled_as[begin]}{spelled_as[content]}+{spelled_as[end]}")
    everything = all_texts("012345", 5)
    for constraint in (tk.regex("(?P<IMAGE>)"), tk.image()):
        matcher = constraint.compile(vocabulary).matcher()
        accepted = {tokens for tokens in everything if takes(matcher, map(int, tokens))}
        assert accepted == {tokens for tokens in everything if judge.fullmatch(tokens)}
        assert len(accepted) == 3
    two = tk.regex("a(?P<IMAGE>)?a").compile(vocabulary).matcher()
    assert takes(two, [0, 0])
    assert takes(two, [0, *(spelled_as[name] for name in names), 0])


def test_an_image_of_no_family() -> None:
    parts = [FAMILIES["gemma"][0], FAMILIES["qwen"][1], FAMILIES["llama"][2]]
    vocabulary = tk.Vocabulary(TokenTable([b"a", None, None, None], dict(enumerate(parts, 1)), ()))
    for constraint in (tk.regex("a|(?P<IMAGE>)"), tk.image()):
        with pytest.raises(tk.UnknownTokenError, match="no image tokens of a known family; name them with"):
            constraint.compile(vocabulary)
