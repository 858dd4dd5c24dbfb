"""Tokens as bytes, for files and for other processes.

number of tokens | their lengths, -1 for none | their bytes | the rest, as JSON
"""

from __future__ import annotations

import json
from array import array
from collections.abc import Sequence
from itertools import accumulate
from typing import Any

from tokamata.vocabulary.token_table import TokenBytes

__all__ = ["packed", "unpacked"]

_COUNT = 8
_NONE = -1


def packed(tokens: Sequence[bytes | None], rest: Any) -> bytes:
    """Tokens, and what JSON can write of the rest."""
    lengths = array("i", [_NONE if token is None else len(token) for token in tokens])
    parts = (len(lengths).to_bytes(_COUNT, "little"), lengths.tobytes(), *filter(None, tokens))
    return b"".join(parts) + json.dumps(rest).encode()


def unpacked(data: bytes, begin: int = 0) -> tuple[TokenBytes, Any]:
    """The tokens and the rest, from an offset on.

    Raises:
        ValueError: they are damaged.
    """
    lengths = array("i")
    start = begin + _COUNT
    end = start + int.from_bytes(data[begin:start], "little") * lengths.itemsize
    if end > len(data):
        raise ValueError("there is too little for this number of tokens")
    lengths.frombytes(memoryview(data)[start:end])
    starts = list(accumulate((max(length, 0) for length in lengths), initial=end))
    if min(lengths, default=0) < _NONE or starts[-1] > len(data):
        raise ValueError("the lengths of the tokens are wrong")
    tokens: TokenBytes = [
        data[at : at + length] if length != _NONE else None
        for at, length in zip(starts, lengths, strict=False)
    ]
    return tokens, json.loads(data[starts[-1] :])
