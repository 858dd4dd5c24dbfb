"""Canonical tokenization against the tokenizers themselves: complete, and sound.

Complete: what a tokenizer makes of a text, and makes again of that text's decoding, is admitted token by
token, and may end.  Sound: walks through the masks come to sequences that the tokenizer makes of their own
text, and what lies outside a mask begins no such sequence, whatever is written behind it.

    python -m fuzz.canonical_exactness            all of it, as a table
    python -m fuzz.canonical_exactness gpt2 ...   of some tokenizers
"""

from __future__ import annotations

import random
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

import tokamata as tk
from tests.support.masks import has
from tests.support.tokenizers.canonical_tokenizers import SOURCES, Judged
from tokamata.guard.probe_texts import texts
from tokamata.tokenization.adversarial_texts import CORPUS

Mask = npt.NDArray[np.int32]

ANYTHING = tk.regex("(?s:.*)")
_PROBES = 60


@dataclass
class Findings:
    """What was looked at, and what was wrong.

    Attributes:
        texts, changed: how many texts were encoded, and how many of them the tokenizer does not give back.
        steps: tokens of canonical encodings that were asked of a matcher.
        walks, walked: walks through masks, and their tokens.
        probes: tokens outside a mask that were written nevertheless, with a continuation.
        failures: descriptions of what was wrong.
    """

    texts: int = 0
    changed: int = 0
    steps: int = 0
    walks: int = 0
    walked: int = 0
    probes: int = 0
    failures: list[str] = field(default_factory=list)


def completeness(judged: Judged, steps: int, seed: int = 0) -> Findings:
    """Encodings of texts, until so many tokens were asked."""
    found = Findings()
    compiled = ANYTHING.compile(judged.vocabulary, tokenization="canonical")
    for text in texts(seed, list(judged.vocabulary.tokens)):
        if found.steps >= steps:
            return found
        tokens = judged.encode(text)
        found.texts += 1
        if not judged.is_canonical(tokens) or any(judged.vocabulary[token] is None for token in tokens):
            found.changed += 1
            continue
        matcher = compiled.matcher()
        for place, token in enumerate(tokens):
            found.steps += 1
            if not matcher.advance(token):
                found.failures.append(f"refused: {token} at {place} of {tokens} for {text!r}")
                break
        else:
            if not matcher.is_accepting:
                found.failures.append(f"may not end: {tokens} for {text!r}")
    return found


def frequencies(judged: Judged) -> dict[int, Counter[int]]:
    """Which tokens follow which in the corpus: the model of the walks by a model."""
    following: dict[int, Counter[int]] = {}
    for text in CORPUS:
        tokens = judged.encode(text)
        for before, after in zip([-1, *tokens], tokens, strict=False):
            following.setdefault(before, Counter())[after] += 1
    return following


def soundness(judged: Judged, walks: int, seed: int = 0, length: int = 12) -> Findings:
    """Walks through the masks: tokens uniformly, by frequency, and by a model of the corpus."""
    found = Findings()
    draw = random.Random(seed)
    compiled = ANYTHING.compile(judged.vocabulary, tokenization="canonical")
    model = frequencies(judged)
    common = Counter[int]()
    for counts in model.values():
        common.update(counts)
    for number in range(walks):
        matcher = compiled.matcher()
        size = draw.randrange(1, length)
        for token in _chosen(matcher, number % 3, draw, model, common):
            if not matcher.advance(token):
                found.failures.append(f"in the mask, and refused: {token} after {matcher.tokens}")
                break
            found.walked += 1
            size -= 1
            if size <= 0 and matcher.is_accepting:
                break
            if size < -40:
                break
        if not matcher.is_accepting:
            if not matcher.mask.any():
                found.failures.append(f"a dead end: {matcher.tokens}")
            continue
        found.walks += 1
        if not judged.is_canonical(matcher.tokens):
            text = judged.decode(matcher.tokens)
            found.failures.append(f"walked to {matcher.tokens}, {text!r}: {judged.encode(text or '')}")
        elif draw.random() < 0.2:
            _probe(judged, matcher, draw, found)
    return found


def _any(mask: Mask, draw: random.Random, width: int, wanted: bool) -> int | None:
    """A token whose bit is set, or clear, each as likely; ``None`` where there is none."""
    for _ in range(64):  # mostly many are
        token = draw.randrange(width)
        if has(mask, token) == wanted:
            return token
    found = np.flatnonzero(np.unpackbits(mask.view(np.uint8), bitorder="little")[:width] == wanted)
    return int(draw.choice(found)) if len(found) else None


def _chosen(
    matcher: tk.Matcher, kind: int, draw: random.Random, model: dict[int, Counter[int]], common: Counter[int]
) -> Iterator[int]:
    """Tokens to walk by: uniformly (0), by frequency (1), by what followed the last one in the corpus (2)."""
    width = len(matcher.compiled.vocabulary)
    while True:
        mask = matcher.mask
        if kind:
            last = matcher.tokens[-1] if matcher.tokens else -1
            counts = model.get(last, common) if kind == 2 else common
            known = [token for token in counts if has(mask, token)]
            if known:
                yield draw.choices(known, [counts[token] for token in known])[0]
                continue
        token = _any(mask, draw, width, True)
        if token is None:
            return
        yield token


def _probe(judged: Judged, matcher: tk.Matcher, draw: random.Random, found: Findings) -> None:
    """A token outside the mask, and behind it whatever the corpus has: never canonical."""
    tokens = matcher.tokens
    for _ in range(3):
        token = _any(matcher.mask, draw, len(judged.vocabulary), False)
        if token is None or not judged.vocabulary[token]:
            continue
        begun = [*tokens, token]
        text = judged.decode(begun)
        if text is None:  # a part of a code point: there is nothing to write behind
            continue
        for _ in range(_PROBES // 3):
            rest = draw.choice(CORPUS)
            rest = rest[draw.randrange(len(rest)) :][: draw.randrange(0, 8)]
            again = judged.encode(text + rest)
            found.probes += 1
            if again[: len(begun)] == begun and judged.is_canonical(again):
                found.failures.append(
                    f"outside the mask after {tokens}: {token}; yet {again}, {text + rest!r}"
                )
                return


def main(names: list[str]) -> int:
    """Print the table; the number of failures is the exit status."""
    scale = 1_000_000 // 12, 100_000 // 12
    failures = 0
    print(
        f"{'tokenizer':<12} {'texts':>8} {'changed':>8} {'steps':>9} {'walks':>8} {'walked':>9} "
        f"{'probes':>9} failed    s"
    )
    for source in SOURCES:
        if names and source.name not in names:
            continue
        began = time.monotonic()
        judged = source.judged()
        complete = completeness(judged, scale[0])
        sound = soundness(judged, scale[1])
        wrong = complete.failures + sound.failures
        failures += len(wrong)
        print(
            f"{source.name:<12} {complete.texts:>8,} {complete.changed:>8,} {complete.steps:>9,} "
            f"{sound.walks:>8,} {sound.walked:>9,} {sound.probes:>9,} "
            f"{len(wrong):>6} {time.monotonic() - began:4.0f}",
            flush=True,
        )
        for one in wrong[:5]:
            print("   ", one[:300])
    return min(failures, 1)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
