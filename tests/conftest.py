"""What all tests share: reproducible hypothesis runs, and small vocabularies."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, settings

import tokamata as tk

settings.register_profile(
    "default",
    deadline=None,  # the machine is shared; timing is never asserted
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.load_profile("default")


@pytest.fixture(scope="session")
def byte_vocabulary() -> tk.Vocabulary:
    """Every byte, some words, two ids for one of them, a control token, an empty one, two stops."""
    tokens: list[bytes | None] = [bytes([value]) for value in range(256)]
    tokens += [b"ab", b"abc", b"2024", b"-0", b"20", b"24-", "é".encode(), "漢字".encode(), b'"}', b'{"']
    tokens += [b"ab", None, b"", b"\xe6\xbc", b"\xa2a", b"</s>", b"<eos>"]
    return tk.Vocabulary.load(tokens, stop=[len(tokens) - 2, len(tokens) - 1], width=len(tokens) + 11)


def allowed(matcher: tk.Matcher) -> set[int]:
    """The ids whose bits are set in the mask of a matcher."""
    return bits(matcher.mask)


def bits(row: object) -> set[int]:
    """The ids whose bits are set in a row of a mask, read word by word."""
    import numpy as np

    words = np.asarray(row).astype(np.uint32)
    return {32 * i + bit for i, word in enumerate(words.tolist()) for bit in range(32) if word >> bit & 1}
