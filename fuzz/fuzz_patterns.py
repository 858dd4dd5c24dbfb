"""Throws patterns, vocabularies and calls at the whole library, and checks what must always hold.

    python fuzz/fuzz_patterns.py --seconds 3600 --seed 1

Patterns are made by mutating and splicing pieces of regular expressions, so that most are odd and
many do not parse.  Every pattern either raises an error of tokamata's own, within the limits given,
or becomes a constraint whose matcher keeps the invariants: a bit is set if and only if ``advance``
takes the token; a refused token and a raised error change nothing; ``rollback`` brings the bits
back; a finished text is one that ``re.fullmatch`` accepts, where ``re`` has the same syntax.
"""

from __future__ import annotations

import argparse
import random
import re
import sys
import time
import unicodedata
import warnings

import numpy as np

import tokamata as tk

PIECES = [
    *"abcxyzé漢😀\n\t \\.^$*+?{}[]()|-&~:#=!<>,0129",
    r"\d", r"\w", r"\s", r"\D", r"\W", r"\S", r"\p{L}", r"\P{Lu}", r"\x41", r"\u00e9",
    r"\U0001F600", r"\N{DIGIT ONE}", r"\1", r"\b", r"\A", r"\Z", r"\n", r"\\",
    "(?:", "(?i:", "(?P<n>", "(?P=n)", "(?=", "(?<!", "(?#c)", "(?x)", "(?s-i:",
    "[^", "[a-z]", r"[\w-]", "[]a]", "[a-\\d]", "{2,3}", "{0,1000}",
    "{1000000}", "{,5}", "{3,}", "{5,2}", "*?", "++", "??",
    "(a|b)*", "(ab?){2,4}", "([ab]{1,3}){1,3}", ".{0,300}", "(?:.|\n)*", "ſ", "İ", "K", "\ud800", "\0",
]  # fmt: skip
VOCABULARIES: list[list[bytes | None]] = [
    [bytes([value]) for value in range(256)]
    + [b"ab", b"abc", "é".encode(), b"\xe6\xbc", b"", None, b"aaaaaaaa", b"a]"],
    [b"a", b"ab", b"b", b"ba", b"\xc3", b"\xa9", None, b"", b"aab", "漢".encode(), b"bbbb"],
    [b"ab", b"ba", b"aa", b"x", b"1", b" ", b"-"],
]
LIMITS = tk.Limits(states=20_000, memory_bytes=1 << 24, seconds=1.0, depth=100)
STEPS = 25
NEWLY_CASED = "\u019b\u0264"  # have capitals since Unicode 16


def random_pattern(chooser: random.Random) -> str:
    """A pattern of 1 to 14 pieces, now and then repeated, cut or nested."""
    pattern = "".join(chooser.choice(PIECES) for _ in range(chooser.randint(1, 14)))
    if chooser.random() < 0.1:
        pattern = f"({pattern}){{{chooser.randint(0, 40)},{chooser.randint(0, 2000)}}}"
    if chooser.random() < 0.1:
        pattern = pattern[: chooser.randint(0, len(pattern))]
    return pattern * chooser.choice([1, 1, 1, 1, 2, 7])


def live_tokens(matcher: tk.Matcher) -> set[int]:
    """The ids whose bits are set."""
    return set(np.flatnonzero(np.unpackbits(matcher.mask.view(np.uint8), bitorder="little")).tolist())


def check_step(matcher: tk.Matcher, vocabulary: tk.Vocabulary, chooser: random.Random) -> set[int]:
    """Checks what must hold at one place; returns the tokens that are allowed there."""
    live = live_tokens(matcher)
    before = matcher.tokens
    probes = {chooser.randrange(vocabulary.width) for _ in range(6)} | set(
        chooser.sample(sorted(live), min(4, len(live)))
    )
    for token in probes:
        assert matcher.explain(token).allowed == (token in live), (token, live)
        assert matcher.advance(token) == (token in live), (token, live)
        if token in live:
            matcher.rollback(1)
        assert matcher.tokens == before
    assert live_tokens(matcher) == live
    assert bool(live & set(vocabulary.stop)) == matcher.is_accepting
    assert live or matcher.is_accepting, "a dead end"
    forced = matcher.forced_text()
    text = matcher.text
    for token in chooser.sample(
        sorted(live - set(vocabulary.stop)), min(4, len(live - set(vocabulary.stop)))
    ):
        follows = vocabulary[token] or b""
        assert forced.startswith(follows) or follows.startswith(forced), (text, forced, follows)
    return live


def walk(pattern: str, flags: int, chooser: random.Random) -> None:
    """One random text in a random vocabulary."""
    tokens = chooser.choice(VOCABULARIES)
    vocabulary = tk.Vocabulary.load(
        [*tokens, None, None], stop=[len(tokens), len(tokens) + 1], width=len(tokens) + 5
    )
    matcher = tk.regex(pattern, flags).compile(vocabulary, limits=LIMITS).matcher()
    for _ in range(STEPS):
        live = check_step(matcher, vocabulary, chooser)
        if matcher.is_finished:
            break
        text_tokens = sorted(live - set(vocabulary.stop))
        assert matcher.advance(chooser.choice(text_tokens))
    if matcher.is_accepting and r"\p" not in pattern and r"\P" not in pattern:
        text = matcher.text.decode()
        if len(text) > 10:
            return  # re takes exponential time on some of these patterns
        if any(unicodedata.category(c) == "Cn" or c in NEWLY_CASED for c in text):
            return  # this Python's tables are older than ours
        assert re.fullmatch(pattern, text, flags), (pattern, flags, text)


def run(seconds: float, seed: int) -> tuple[int, int]:
    """Fuzzes for so long; returns how many patterns were tried, and how many of them compiled."""
    chooser = random.Random(seed)
    end = time.monotonic() + seconds
    tried = compiled = 0
    while time.monotonic() < end:
        pattern = random_pattern(chooser)
        tried += 1
        flags = chooser.choice([0, 0, 0, re.IGNORECASE, re.DOTALL, re.VERBOSE, re.ASCII])
        try:
            walk(pattern, flags, chooser)
            compiled += 1
        except tk.TokamataError as error:
            if not str(error):
                raise
        except BaseException:
            print(f"seed {seed}, pattern {tried}: {pattern!r}", file=sys.stderr)
            raise
    return tried, compiled


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")  # re warns of sets that may change their meaning
    start = time.monotonic()
    tried, compiled = run(arguments.seconds, arguments.seed)
    print(
        f"{tried} patterns, {compiled} of them walked, in {time.monotonic() - start:.0f} s; nothing failed"
    )


if __name__ == "__main__":
    main()
