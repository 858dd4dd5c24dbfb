"""Random constraints together with a judge: which texts they should accept, found out without the engine.

A pattern's judge is ``re``, or the module ``regex`` where ``re`` refuses a lookbehind whose texts differ in
length.  Where neither knows what a leaf means (ECMA-262, the extensions), it is the slow matcher of
naive_core.py.  The algebra of constraints is judged by its definition on all ways to cut a text.
"""

from __future__ import annotations

import random
import re
import signal
import sys
import unicodedata
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from types import FrameType
from unittest.mock import patch

import regex  # type: ignore[import-untyped]

import tokamata as tk
from tests.support.matchers import is_text_of
from tests.support.patterns import naive_core
from tokamata.patterns import extensions
from tokamata.patterns.extensions import EXTENSIONS
from tokamata.patterns.regex import Extensions, to_expression

PIECES = [
    *"abcxyzé漢😀\n\t \\.^$*+?{}[]()|-&~:#=!<>,0129",
    r"\d", r"\w", r"\s", r"\D", r"\W", r"\S", r"\p{L}", r"\P{Lu}", r"\x41", r"\u00e9",
    r"\U0001F600", r"\N{DIGIT ONE}", r"\1", r"\b", r"\B", r"\A", r"\Z", r"\n", r"\\", "^", "$", ")", "a", "b",
    "(?:", "(?i:", "(?P<n>", "(?P=n)", "(?#c)", "(?x)", "(?s-i:", "(?m)", "(?m:", "(?-m:",
    "(?=", "(?!", "(?<=", "(?<!", "(?=a", "(?!b)", "(?<=a)", "(?<!ab)", "(?<=a+)", "(?<!b?a)", "(?=.*b)",
    r"(?!a\b)",
    "[^", "[a-z]", r"[\w-]", "[]a]", "[a-\\d]", "{2,3}", "{0,1000}",
    "{1000000}", "{,5}", "{3,}", "{5,2}", "*?", "++", "??",
    "(a|b)*", "(ab?){2,4}", "([ab]{1,3}){1,3}", ".{0,300}", "(?:.|\n)*", "ſ", "İ", "K", "\ud800", "\0",
]  # fmt: skip
EXTENSION_PIECES = [
    "(?P<QUOTED_TEXT>)", "(?P<UNQUOTED_TEXT>)", "(?P<IMAGE>)", "(?P<CONTROL_TOKEN>6)",
    "(?P<CONTROL_TOKEN>261)", "(?P<CONTROL_TOKEN>nobody)", "(?P<TEXT_TOKEN>)", "(?P<TEXT_TOKEN>*)",
    "(?P<TEXT_TOKEN>{2,5})", "(?P<PARAGRAPH_TOKEN>+)", "(?P<TEXT_UNTIL>ab)", "(?P<TEXT_UNTIL>aab",
    "(?P<SUBSTRING_OF>abaab é漢)",
    "(?P<DELIMITED_LIST>b|a)", "(?P<DELIMITED_LIST>(,|-)|[ab]+)", "(?P<DELIMITED_SUBSEQUENCE_OF>b|a|ab|é)",
    "(?P<DELIMITED_LIST>", "(?P<TEXT_TOKEN>", "(?P<NOBODY>x)",
]  # fmt: skip
ECMA_PIECES = [
    r"\cJ", r"\u{1F600}", r"\ud83d\ude00", "[^]", "[]", "(?<n>", r"\k<n>", r"\/", r"\p{Script=Latin}",
    r"\p{Lu}", r"\-", r"[\b]", "$", "^",
]  # fmt: skip
FLAGS = [0, 0, 0, re.I, re.S, re.X, re.A, re.M, re.M | re.I]
REGEX_FLAGS = {re.I: regex.I, re.S: regex.S, re.X: regex.X, re.A: regex.A, re.M: regex.M}
LIMITS = tk.Limits(states=20_000, memory_bytes=1 << 24, seconds=1.0, depth=100)
NEWLY_CASED = "\u019b\u0264"  # have capitals since Unicode 16
LONGEST = 10
PATIENCE = 0.1  # seconds; both judges take exponential time on some of these patterns

Judge = Callable[[str], bool]


class NoVerdict(Exception):
    """Nobody can say whether the text should be accepted."""


class Judged:
    """A constraint, and whether a text is one of its texts; the judge may raise :class:`NoVerdict`."""

    def __init__(self, constraint: tk.Constraint, judge: Judge) -> None:
        self.constraint = constraint
        self.judge = cache(judge)  # the algebra asks again and again for the same parts of a text


# ---- leaves -----------------------------------------------------------------------------------


def random_pattern(chooser: random.Random, pieces: list[str]) -> str:
    """A pattern of 1 to 14 pieces, now and then repeated, cut or nested."""
    pattern = "".join(chooser.choice(pieces) for _ in range(chooser.randint(1, 14)))
    if chooser.random() < 0.1:
        pattern = f"({pattern}){{{chooser.randint(0, 40)},{chooser.randint(0, 2000)}}}"
    if chooser.random() < 0.1:
        pattern = pattern[: chooser.randint(0, len(pattern))]
    if chooser.random() < 0.2:  # so that more of them parse
        pattern += ")" * max(0, pattern.count("(") - pattern.count(")"))
    return pattern * chooser.choice([1, 1, 1, 1, 2, 7])


def random_leaf(chooser: random.Random) -> Judged:
    """A pattern of either dialect, with the extensions or without, a literal, or a choice.

    Raises:
        tokamata.TokamataError: the pattern is none.
    """
    kind = chooser.random()
    if kind < 0.06:
        texts = random_texts(chooser, 4)
        return Judged(tk.choice(texts), lambda text: text in texts)
    if kind < 0.08:
        whole = chooser.choice(["abaab", "abé漢 é-1", "aaa"])
        return Judged(tk.substring_of(whole), lambda text: text in whole)
    flags = chooser.choice(FLAGS)
    if kind < 0.2:
        pattern = random_pattern(chooser, PIECES + ECMA_PIECES * 2)
        constraint = tk.regex(pattern, flags & (re.I | re.M | re.S), dialect="ecma")
        return Judged(constraint, by_definition(pattern, flags & (re.I | re.M | re.S), "ecma"))
    pieces = PIECES + EXTENSION_PIECES if kind < 0.4 else PIECES
    pattern = random_pattern(chooser, pieces)
    constraint = tk.regex(pattern, flags)
    return Judged(constraint, by_others(pattern, flags) or by_definition(pattern, flags, "python"))


def random_texts(chooser: random.Random, count: int) -> list[str]:
    """Short texts of what the pieces are about."""
    alphabet = chooser.choice(["ab", "abx", "ab \n", "abé漢-1Z😀\0", "aAkK\u212asſ0"])
    return ["".join(chooser.choice(alphabet) for _ in range(chooser.randint(0, 6))) for _ in range(count)]


def by_others(pattern: str, flags: int) -> Judge | None:
    """``re``, or ``regex`` for lookbehinds that ``re`` refuses; ``None`` where neither has this syntax."""
    if any(name in pattern for name in EXTENSIONS):
        return None
    try:
        compiled = re.compile(pattern, flags)
    except re.error as error:
        if "look-behind requires fixed-width" not in str(error):
            return None
        return by_regex(pattern, flags)

    def judge(text: str) -> bool:
        if not text and r"\B" in pattern and sys.version_info >= (3, 14):
            raise NoVerdict  # whether \B holds in an empty text: here as in Python up to 3.13
        with patience():
            return compiled.fullmatch(text) is not None

    return judge


def by_regex(pattern: str, flags: int) -> Judge | None:
    """``regex`` alone; ``None`` where it refuses the pattern, or would write a large count out."""
    if re.search(r"\d{3}", pattern):
        return None
    try:
        compiled = regex.compile(pattern, sum(REGEX_FLAGS[flag] for flag in REGEX_FLAGS if flags & flag))
    except regex.error:
        return None

    def judge(text: str) -> bool:
        if not text and r"\B" in pattern:
            raise NoVerdict  # there it holds
        if any(c not in "\t\n " and not "!" <= c <= "~" for c in text) or any(c in pattern for c in "ſİK"):
            raise NoVerdict  # \w, \s and case are others there beyond ASCII
        try:
            return compiled.fullmatch(text, timeout=PATIENCE) is not None
        except TimeoutError:
            raise NoVerdict from None

    return judge


@contextmanager
def patience() -> Iterator[None]:
    """Gives up when the work inside takes too long; ``re`` has no time limit, but it looks for signals."""
    signal.setitimer(signal.ITIMER_VIRTUAL, PATIENCE)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)


def _give_up(signum: int, frame: FrameType | None) -> None:
    raise NoVerdict


signal.signal(signal.SIGVTALRM, _give_up)


def by_definition(pattern: str, flags: int, dialect: str) -> Judge:
    """The slow matcher of naive_core.py; no verdict where tokens matter."""
    with patch.object(extensions, "_core", naive_core):
        try:
            expression = naive_core.lowered(pattern, flags, dialect=dialect, extensions=DEFINITIONS)
        except naive_core.AboutTokens:
            expression = None

    def judge(text: str) -> bool:
        if expression is None:
            raise NoVerdict
        with patience():
            return naive_core.accepts(expression, text)

    return judge


# Those two are kept once they are made, by either engine.
DEFINITIONS: Extensions = {
    **EXTENSIONS,
    "QUOTED_TEXT": lambda call: to_expression(extensions._QUOTED),
    "UNQUOTED_TEXT": lambda call: to_expression(extensions._PLAIN),
}


def accepts(constraint: tk.Constraint, text: str) -> bool:
    """What the engine says, byte by byte.

    Raises:
        NoVerdict: it came to its limits.
    """
    try:
        return is_text_of(constraint, text, limits=LIMITS)
    except tk.LimitExceeded:
        raise NoVerdict from None


# ---- the algebra ------------------------------------------------------------------------------


def random_judged(
    chooser: random.Random, depth: int, leaf: Callable[[random.Random], Judged] = random_leaf
) -> Judged:
    """A leaf, or up to ``depth`` operations of the algebra on leaves.

    Raises:
        tokamata.TokamataError: a pattern is none, or an operation is refused.
    """
    if depth == 0:
        return leaf(chooser)
    a = random_judged(chooser, depth - 1, leaf)
    kind = chooser.randrange(8)
    if kind == 0:
        return Judged(~a.constraint, lambda text: not a.judge(text))
    if kind in (1, 2):
        low, high = chooser.choice([(0, None), (1, None), (2, None), (0, 2), (1, 3), (3, 3), (0, 0)])
        return Judged(a.constraint.repeat(low, high), repeated(a.judge, low, high))
    b = random_judged(chooser, chooser.randrange(depth), leaf)
    if kind == 3:
        return Judged(a.constraint & b.constraint, lambda text: a.judge(text) and b.judge(text))
    if kind == 4:
        return Judged(a.constraint - b.constraint, lambda text: a.judge(text) and not b.judge(text))
    if kind == 5:
        return Judged(a.constraint | b.constraint, lambda text: a.judge(text) or b.judge(text))
    if kind == 6:
        return Judged(a.constraint + b.constraint, joined(a.judge, b.judge))
    more = repeated(joined(b.judge, a.judge), 0, 2)
    return Judged(a.constraint.separated_by(b.constraint, 1, 3), joined(a.judge, more))


def joined(first: Judge, second: Judge) -> Judge:
    """A text of the first and then one of the second, however it is cut."""
    return lambda text: any(first(text[:cut]) and second(text[cut:]) for cut in range(len(text) + 1))


def repeated(judge: Judge, low: int, high: int | None) -> Judge:
    """So many texts, one after another, however they are cut."""

    def judged(text: str) -> bool:
        places = {0}  # where so many texts can end
        ends = low == 0 and not text
        for count in range(1, (low + len(text) + 1 if high is None else high) + 1):
            places = {j for i in places for j in range(i, len(text) + 1) if judge(text[i:j])}
            ends |= count >= low and len(text) in places
        return ends

    return judged


# ---- verdicts ---------------------------------------------------------------------------------


def check_text(judged: Judged, text: str, accepted: bool) -> bool:
    """Whether there was a verdict on what the engine says about a text; it must be the same."""
    if len(text) > LONGEST or any(unicodedata.category(c) == "Cn" or c in NEWLY_CASED for c in text):
        return False  # the last two: this Python's tables are older than ours
    try:
        expected = judged.judge(text)
    except NoVerdict:
        return False
    assert expected == accepted, (judged.constraint, text, expected)
    return True
