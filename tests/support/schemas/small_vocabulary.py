"""A small vocabulary for JSON, and the tokens of a text in it."""

from __future__ import annotations

from tests.support.vocabularies import BYTES

TOKENS: list[bytes | None] = [
    *BYTES,
    *(
        b'{"',
        b'"}',
        b'": ',
        b'", "',
        b'": "',
        b'": {"',
        b"}}",
        b"], ",
        b'["',
        b"[]",
        b"true",
        b"null",
        b"10",
        b".5",
    ),
    *(b"name", b"value", b'"name"', b'"a"', b"children", "é".encode(), b"\\n", b"-", b"2024-", b"https://"),
]


def longest_first(text: str) -> list[int]:
    """The text in tokens, always the longest that fits."""
    data, found, start = text.encode(), [], 0
    longest = max(len(token or b"") for token in TOKENS)
    while start < len(data):
        end = next(end for end in range(start + longest, start, -1) if data[start:end] in TOKENS)
        found.append(TOKENS.index(data[start:end]))
        start += len(TOKENS[found[-1]] or b"")
    return found
