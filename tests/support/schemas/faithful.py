"""The law of faithful constraints: what a usual text of a value begins, some text of the value continues.

The engine is asked twice: for the schema, and for the schema and the value as a constant together.
"""

from __future__ import annotations

import tokamata as tk
from tests.support.masks import allowed, has
from tests.support.schemas.writers import Case
from tests.support.vocabularies import BYTE_VOCABULARY, BYTES

__all__ = ["check", "check_tokens"]

STOP = 256
# Tokens such as those of Llama 3.1 that cross what the bytes of a text decide one by one.
MERGED = [
    b".90",
    b"90",
    b"19",
    b".00",
    b"00",
    b"000",
    b'"\\u',
    b"\\u",
    b"00e",
    b" ]",
    b" }",
    b'{"',
    b'": ',
    b'", "',
]
MERGED += [
    b"e-",
    b"\\/",
    b"[]",
    b"[ ",
    b"{ ",
    b"\n  ",
    b"\n    ",
    b"\n\t",
    b",\n",
    b'"id"',
    b"red",
    "é".encode(),
]
TOKENS: list[bytes | None] = [*BYTES, None, *MERGED]
VOCABULARY = tk.Vocabulary.load(TOKENS, stop=[STOP])


def tokens_of(text: str) -> list[int]:
    """The text in tokens, always the longest that fits."""
    data, found, start = text.encode(), [], 0
    while start < len(data):
        token = max((merged for merged in MERGED if data.startswith(merged, start)), key=len, default=b"")
        found.append(TOKENS.index(token or data[start : start + 1]))
        start += max(1, len(token))
    return found


def refused_at(matcher: tk.Matcher, text: str) -> int:
    """How many bytes are accepted; one less than none are missing where the whole text is."""
    data = text.encode()
    for place, byte in enumerate(data):
        if not matcher.advance(byte):
            return place
    return -1 if matcher.is_accepting else len(data)


def check(case: Case, text: str) -> bool:
    """The law; whether the text is accepted.  Its names may come in any order, so may those that go on."""
    constraint = tk.json_schema(case.schema)
    place = refused_at(constraint.compile(BYTE_VOCABULARY).matcher(), text)
    if place < 0:
        return True
    both = tk.json_schema({"allOf": [case.schema, {"const": case.value}]}, property_order="any")
    other = both.compile(BYTE_VOCABULARY).matcher()
    reached = refused_at(other, text)
    assert reached < 0 or reached >= place, (case, text, text.encode()[:place], other.text)
    return False


# Shortest answers are found in bytes, which their tokens exceed by some where blanks are merged with others
# (composition/rule_completions.hpp).
ROOM = 4


def check_tokens(case: Case, text: str) -> bool:
    """Masks have the tokens of an accepted text.  Returns whether they do within a budget with some room."""
    matcher = tk.json_schema(case.schema).compile(VOCABULARY).matcher()
    tokens = tokens_of(text)
    row, fits = matcher.compiled.allocate_mask()[0], True
    for place, token in enumerate(tokens):
        assert token in allowed(matcher), (case, text, matcher.text, TOKENS[token])
        matcher.fill_mask(row, budget=len(tokens) + ROOM - place)
        fits &= has(row, token)
        assert matcher.advance(token)
    assert STOP in allowed(matcher)
    return fits
