r"""Canonical tokenization from GGUF files against llama.cpp itself; needs the package `llama-cpp-python`.

    python -m fuzz.llama_cpp_exactness                          each pre-tokenizer of llama.cpp, 50,000 texts
    python -m fuzz.llama_cpp_exactness qwen2 tekken --texts 1000
    python -m fuzz.llama_cpp_exactness --files a.gguf b.gguf    files of models
    python -m fuzz.llama_cpp_exactness --random 600 --seed 1    random small tokenizers, for 600 seconds
    python -m fuzz.llama_cpp_exactness --record                 writes what tests/canonical expects

**Names.** A vocabulary has a merge for each two bytes that may meet where two characters do, in random order,
so that a wrong border of pre-tokens shows in the tokens.  Each name is tried with mixtures of everything that
pre-tokenizers distinguish, and with walks through the masks.  Besides, a vocabulary whose merges join `a` to
first bytes and last bytes to `b` shows how each code point is cut from its neighbours; all are tried.

**Random tokenizers** have few tokens, so that all sequences of up to three tokens are tried: a sequence is
accepted if and only if llama.cpp makes it of its text.  llama.cpp ends the process at a character that it
can write neither as a token nor in bytes, so texts have none.
"""

from __future__ import annotations

import argparse
import itertools
import json
import random
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import tokamata as tk
from fuzz import timed
from fuzz.canonical_exactness import ANYTHING, completeness, soundness
from tests.support.tokenizers.gguf_files import (
    RECORDED,
    RECORDED_TEXTS,
    document_of_pairs,
    gguf_of_tokenizer_json,
    recorded_gguf,
)
from tests.support.tokenizers.llama_cpp_judge import LlamaCppJudge, llama_cpp_version
from tests.support.tokenizers.random_gguf import (
    PlainOracle,
    RandomGguf,
    random_merges,
    random_plain_merges,
    random_scores,
)
from tokamata.errors import UnsupportedTokenizerError
from tokamata.tokenization.pipelines.gguf_patterns import NAMES
from tokamata.tokenization.pretokenizers.llama_cpp_classes import LlamaCppEngine

# What regexes of pre-tokenizers are about, besides categories.
_NAMED = [
    *("'s", "'S", "'re", "'VE", "'ll", "'lL", "'d", "'M", "'\u017f", "'", "\u2019", "IMGIMG"),
    *("ABCDE", "Z", "<sentinel:", "12>", "  ", "    ", "\r\n", "\n\n", "\n", " ", "\t", "\r", "/"),
    *("//", "_", "-", "$", "+", "<", "=", "^", "~", "|", "`", "\xbd", "\xb2", "\u0663", "\u2167"),
    *("\u01c5", "\xdf", "\u0130", "\u212a", "\u017f", "\xe9", "e\u0301", "\u0301", "\u20dd"),
    *("\u0903", "\xaa", "\u02b0", "\u0345", "\u200b", "\u180e", "\ufeff", "\x1c", "\x1d", "\x1e"),
    *("\x1f", "\x85", "\xa0", "\u3000", "\u2028", "\u2029", "\u202f", "\x0b", "\x0c", "\x00"),
    *("\x7f", "\ue000", "\U0001f600", "\U000e0001", "\u3007", "\u3005", "\u30fc", "\u4e00"),
    *("\u9fa5", "\u9fa6", "\uf900", "\ufa70", "\u3400", "\U00020000", "\uac00", "\ud7a3", "\u3131"),
    *("\u318e", "\u3105", "\uff01", "\u2026", "\u201c", "\uff1a", "\u3001", "\u303f", "\ufe30"),
    *("\u3002", "\u060c", "\u0964", "\u06d4", ",", ".", "?", "!", "(", ")", "A", "b", "cD", "EFg"),
    *("0", "12", "345", "6789012"),
]
BYTE_LEVEL = [name for name, found in NAMES.items() if found != NAMES["gemma4"]]
_OTHER_NAMES = 2_000  # texts for a name whose pre-tokenizer has been tried by another name


@cache
def _pools() -> list[list[str]]:
    engine = LlamaCppEngine()
    pools = [
        list(map(chr, np.flatnonzero(engine.members(rf"\p{{{category}}}")).tolist()))
        for category in "LNMPSZC"
    ]
    rest = np.ones(0x110000, dtype=bool)
    for category in "LNMPSZC":
        rest &= ~engine.members(rf"\p{{{category}}}")
    rest[0xD800:0xE000] = False
    pools.append(list(map(chr, np.flatnonzero(rest).tolist())))
    letters, digits = list("abyzABYZ"), list("0123456789")
    return [*pools, *[list(map(chr, range(128))), _NAMED, _NAMED] * 3, letters, digits, list("  \r\n\t")]


def mixture(draw: random.Random, size: int) -> str:
    """A text of code points of all categories, and of what pre-tokenizers know by name."""
    pools, parts = _pools(), list[str]()
    while len(parts) < size:
        pool = draw.choice(pools)
        if draw.random() < 0.15:
            parts.append(draw.choice(pool) * draw.choice([2, 3, 4, 7]))
        else:
            parts += [draw.choice(pool) for _ in range(draw.choice([1, 1, 1, 2, 3]))]
    return "".join(parts)


@cache
def _pairs() -> dict[str, Any]:
    """A ``tokenizer.json`` whose merges join each two bytes that may be neighbours at a border of characters.

    Their order is random, so a border of pre-tokens that is missing or wrong shows in the tokens of every
    third text.
    """
    ascii_bytes, first, last = [*range(9, 14), *range(0x20, 0x7F)], range(0xC2, 0xF5), range(0x80, 0xC0)
    pairs = [*itertools.product([*ascii_bytes, *last], [*ascii_bytes, *first])]
    random.Random(1).shuffle(pairs)
    return document_of_pairs(pairs)


def _byte_borders() -> dict[str, Any]:
    """A ``tokenizer.json`` whose merges join ``a`` to first bytes of code points, and last bytes to ``b``."""
    a, b = b"ab"
    pairs = [(a, byte) for byte in (*range(0x80), *range(0xC2, 0xF5)) if byte not in (a, b)]
    return document_of_pairs([*pairs, *((byte, b) for byte in range(0xC0) if byte not in (a, b))])


def _refused(compiled: tk.Compiled, judge: LlamaCppJudge, text: str) -> str:
    """What is wrong with the tokens of a text; ``""`` if nothing is."""
    tokens = judge.encode(text)
    if judge.decode(tokens) != text or any(judge.vocabulary[token] is None for token in tokens):
        return ""
    matcher = compiled.matcher()
    for place, token in enumerate(tokens):
        if not matcher.advance(token):
            return f"refused: {place} of {[judge.pieces[each] for each in tokens]} for {text!r}"
    return "" if matcher.is_accepting else f"may not end: {tokens} for {text!r}"


def _all_code_points(size: int = 32) -> Iterator[str]:
    points = [*range(0xD800), *range(0xE000, 0x110000)]
    for begin in range(0, len(points), size):
        yield "".join(f"a{chr(point)}b" for point in points[begin : begin + size])


def compare_name(name: str, folder: Path, texts: int, walks: int, seed: int, all_points: bool) -> list[str]:
    """Compares one of llama.cpp's pre-tokenizers; what was wrong."""
    draw = random.Random(f"{seed} {name}")
    judge = LlamaCppJudge(gguf_of_tokenizer_json(folder / "pairs.gguf", _pairs(), name))
    compiled = ANYTHING.compile(judge.vocabulary, tokenization="canonical")
    wrong = [_refused(compiled, judge, mixture(draw, draw.choice([2, 4, 8, 14]))) for _ in range(texts)]
    wrong += soundness(judge.judged(), walks, seed).failures
    judge.close()
    if all_points:
        judge = LlamaCppJudge(gguf_of_tokenizer_json(folder / "borders.gguf", _byte_borders(), name))
        compiled = ANYTHING.compile(judge.vocabulary, tokenization="canonical")
        wrong += [_refused(compiled, judge, text) for text in _all_code_points()]
        judge.close()
    return list(filter(None, wrong))


def compare_names(names: Sequence[str], texts: int, seed: int) -> int:
    """Compares pre-tokenizers, each once with all texts; the number of failures."""
    tried, failures = set(), 0
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            begin, is_new = time.monotonic(), NAMES[name] not in tried
            tried.add(NAMES[name])
            count = texts if is_new else min(texts, _OTHER_NAMES)
            wrong = compare_name(name, Path(folder), count, count // 20, seed, is_new)
            failures += len(wrong)
            seconds = time.monotonic() - begin
            points = " and all code points" if is_new else ""
            print(
                f"{name}: {count:,} texts{points}, {len(wrong)} wrong {wrong[:3]}, {seconds:.0f} s",
                flush=True,
            )
    return failures


def compare_files(files: Sequence[Path], texts: int, seed: int) -> int:
    """Compares files of models; the number of failures."""
    failures = 0
    for path in files:
        judge = LlamaCppJudge(path)
        judged = judge.judged()
        found, walked = completeness(judged, 10 * texts, seed), soundness(judged, texts // 10, seed)
        compiled = ANYTHING.compile(judge.vocabulary, tokenization="canonical")
        draw = random.Random(f"{seed} {path.name}")
        mixed = [_refused(compiled, judge, mixture(draw, draw.choice([2, 4, 8, 14]))) for _ in range(texts)]
        wrong = [*found.failures, *walked.failures, *filter(None, mixed)]
        failures += len(wrong)
        counts = f"{found.texts + texts:,} texts, {found.steps:,} tokens, {walked.walks:,} walks"
        print(f"{path.name}: {counts}, {walked.probes:,} probes, {len(wrong)} wrong {wrong[:3]}", flush=True)
    return failures


def record() -> None:
    """Writes the tokens of llama.cpp for the texts of the tests, each different pre-tokenizer once."""
    names = {NAMES[name]: name for name in reversed(BYTE_LEVEL)}
    tokens: dict[str, list[str]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for name in reversed(names.values()):
            judge = LlamaCppJudge(recorded_gguf(Path(folder) / "recorded.gguf", name))
            texts = [token.decode() for token in judge.texts()]
            tokens[name] = [" ".join(texts[token] for token in judge.encode(text)) for text in RECORDED_TEXTS]
            judge.close()
    found = {"llama-cpp-python": llama_cpp_version(), "tokens": tokens}
    RECORDED.write_text(json.dumps(found, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


# ---- random tokenizers --------------------------------------------------------------------------


class _Tally(timed.Tally):
    def __init__(self) -> None:
        self.files = self.refused = self.sequences = self.texts = 0

    def __str__(self) -> str:
        counts = f"files: {self.files:,} ({self.refused:,} refused)"
        return f"{counts}, sequences: {self.sequences:,}, texts: {self.texts:,}"


def compare_random(seconds: float, seed: int) -> _Tally:
    """Compares random tokenizers on all short sequences of their tokens."""
    tally = _Tally()
    with tempfile.TemporaryDirectory() as folder:
        for turn in timed.turns(seconds):
            draw = random.Random(f"{seed} {turn}")
            tokenizer = draw.choice([random_scores, random_merges, random_plain_merges])(draw)
            judge = LlamaCppJudge(tokenizer.write(Path(folder) / "random.gguf"))
            tally.files += 1
            with timed.naming(f"--seed {seed}, turn {turn}", tokenizer):
                _compare_small(judge, tokenizer, draw, tally)
            judge.close()
    return tally


def _compare_small(judge: LlamaCppJudge, tokenizer: RandomGguf, draw: random.Random, tally: _Tally) -> None:
    texts = ["".join(draw.choice(tokenizer.letters) for _ in range(draw.randint(1, 12))) for _ in range(100)]
    if tokenizer.scores is not None or tokenizer.pre in ("gemma4", "sarvam-moe"):
        oracle = PlainOracle(tokenizer)
        assert [oracle.encode(text) for text in texts] == [judge.encode(text) for text in texts]
    try:
        compiled = ANYTHING.compile(judge.vocabulary, tokenization="canonical")
    except (UnsupportedTokenizerError, tk.NoncanonicalError):
        tally.refused += 1
        return
    judged = judge.judged()
    tokens = [token for token, text in enumerate(judge.vocabulary.tokens) if text]
    alphabet = [token for token in tokens if set(judge.pieces[token]) <= set("ab é\n<1".encode())]
    chosen = alphabet if len(alphabet) <= 14 else draw.sample(alphabet, 14)
    for size in (1, 2, 3):
        for sequence in itertools.product(chosen, repeat=size):
            matcher = compiled.matcher()
            accepts = all(map(matcher.advance, sequence)) and matcher.is_accepting
            tally.sequences += 1
            assert accepts == judged.is_canonical(list(sequence)), (sequence, accepts)
    for text in texts:
        tally.texts += 1
        assert not (wrong := _refused(compiled, judge, text)), wrong


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("names", nargs="*", help="names of llama.cpp's pre-tokenizers")
    parser.add_argument("--texts", type=int, default=50_000)
    parser.add_argument("--files", type=Path, nargs="+", default=[])
    parser.add_argument("--random", type=float, default=0.0, metavar="SECONDS")
    parser.add_argument("--record", action="store_true")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    print(f"llama-cpp-python {llama_cpp_version()}, seed {arguments.seed}")
    if arguments.record:
        record()
        return 0
    if arguments.random:
        print(compare_random(arguments.random, arguments.seed))
        return 0
    if arguments.files:
        return min(1, compare_files(arguments.files, arguments.texts, arguments.seed))
    return min(1, compare_names(arguments.names or BYTE_LEVEL, arguments.texts, arguments.seed))


if __name__ == "__main__":
    sys.exit(main())
