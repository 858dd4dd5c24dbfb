"""Work is bounded: by limits, by cancelling, and so that what it was made on stays usable.

Patterns come from strangers.  An attack is timed as compile plus first mask plus a hundred steps.
"""

from __future__ import annotations

import functools
import random
import threading
from collections.abc import Callable

import numpy as np
import pytest

import tokamata as tk
from tests.support.masks import allowed
from tests.support.vocabularies import bytes_and
from tokamata.errors import MOST_DEPTH

# Patterns that make other engines explode; here each either works or is stopped.
ATTACKS = [
    r"((a{1,1000}){1,1000}){1,1000}",
    r"(((((a?){1000}){1000}){1000}){1000}){1000}",
    r"(a{0,1000}b?){0,1000}",
    r".*a.{1000}",
    r"(.*a.{0,1000}b){3}",
    r"(x+x+)+y",
    r"(a|b|ab)*(a|aa){500,1000}(b{2,90}|a{3,300}c){1,5000}",
    "a?" * 2000 + "a" * 2000,
    r"(?:(?:a{0,100}b{0,100}){0,100}c{0,100}){0,100}",
    "(" + "|".join(f".{{{k}}}a" for k in range(100)) + ")*",
    r"(\w{1,30} ?){1,1000}\.",
    r"[a-z]{500000,1000000}",
    "(?:{})(?:{})".format(*("|".join(f"{chr(0x4E00 + i)}{end}" for i in range(3000)) for end in ("?a", "x"))),
]
SECONDS = 2.0


@pytest.fixture(scope="module")
def vocabulary() -> tk.Vocabulary:
    """All bytes, and runs of the letters that the attacks use."""
    return bytes_and(*(letters * count for letters in (b"a", b"ab", b"x", b"b") for count in range(2, 33)))


@pytest.mark.timeout(60)  # far above SECONDS: what is not stopped runs for hours
@pytest.mark.parametrize("pattern", ATTACKS, ids=lambda pattern: pattern[:30])
def test_attacks_work_or_are_stopped(pattern: str, vocabulary: tk.Vocabulary) -> None:
    limits = tk.Limits(seconds=SECONDS, memory_bytes=1 << 26, states=200_000)
    try:
        compiled = tk.regex(pattern).compile(vocabulary, limits=limits)
        matcher = compiled.matcher()
        for _ in range(100):
            live = allowed(matcher)
            with_a = [token for token in live if b"a" in (vocabulary[token] or b"")]
            if not matcher.advance(min(with_a or live)):
                raise AssertionError("a set bit was refused")
    except tk.LimitExceeded as error:
        stopped_by = error.limit
    else:
        stopped_by = None
    assert stopped_by in (None, "seconds", "memory_bytes", "states", "depth")


def explode(compiled: tk.CompiledConstraint) -> tuple[tk.Matcher, tk.LimitExceeded]:
    matcher = compiled.matcher()
    chooser = random.Random(1)  # letters without a period, so that every step is a new state
    try:
        for _ in range(100_000):
            assert matcher.advance(chooser.choice(b"ab"))
    except tk.LimitExceeded as error:
        return matcher, error
    raise AssertionError("nothing exploded")


PATTERN = r"(?:[ab]*a[ab]{900})|x"


@pytest.mark.parametrize(
    ("limit", "value"),
    [("states", 300), ("memory_bytes", 400_000), ("seconds", 0.02)],
    ids=lambda v: str(v),
)
def test_a_limit_leaves_the_matcher_unchanged_and_usable(
    limit: str, value: float, vocabulary: tk.Vocabulary
) -> None:
    limits = tk.Limits(**{limit: value})  # type: ignore[arg-type]
    compiled = tk.regex(PATTERN).compile(vocabulary, limits=limits)
    matcher, error = explode(compiled)
    assert error.limit == limit
    assert error.bound == value
    assert error.pattern == PATTERN
    assert limit in str(error)
    assert "tokamata.Limits" in str(error)
    text, tokens = matcher.text, matcher.tokens
    assert len(text) == len(tokens)
    assert matcher.fork().text == text
    matcher.rollback(len(tokens))
    if limit != "seconds":  # time is spent for good, memory and states are given back
        assert ord("x") in allowed(matcher)
        assert matcher.advance(ord("x"))
        assert compiled.states <= limits.states
        assert compiled.memory_bytes <= limits.memory_bytes


def test_the_error_points_at_the_part_that_grew(vocabulary: tk.Vocabulary) -> None:
    compiled = tk.regex(PATTERN).compile(vocabulary, limits=tk.Limits(states=300))
    _, error = explode(compiled)
    assert error.position is not None
    assert PATTERN[error.position :].startswith("[ab]")
    assert "^" in str(error)


def test_states_that_nobody_holds_are_given_up(vocabulary: tk.Vocabulary) -> None:
    """A long-lived constraint serves more texts than its limits could hold at once."""
    limits = tk.Limits(states=400, memory_bytes=1_000_000)
    compiled = tk.regex("[ab]{1000}").compile(vocabulary, limits=limits)
    for start in range(20):
        matcher = compiled.matcher()
        for step in range(150):
            assert matcher.advance(ord("ab"[(start + step) % 2]))
        assert compiled.states <= limits.states
        assert compiled.memory_bytes <= limits.memory_bytes
    fresh = tk.regex("[ab]{1000}").compile(vocabulary).matcher()
    for token in matcher.tokens:
        assert fresh.advance(token)
    assert np.array_equal(fresh.mask, matcher.mask)


def test_masks_are_the_same_with_little_memory(vocabulary: tk.Vocabulary) -> None:
    pattern = r"(\w{1,5} ?){1,30}\."
    tight = tk.regex(pattern).compile(vocabulary, limits=tk.Limits(memory_bytes=300_000)).matcher()
    wide = tk.regex(pattern).compile(vocabulary).matcher()
    for byte in b"ab abb a bbb aab a bab ab.":
        assert np.array_equal(tight.mask, wide.mask)
        assert tight.advance(byte)
        assert wide.advance(byte)


def test_cancelling_stops_work_from_another_thread(vocabulary: tk.Vocabulary) -> None:
    cancel = tk.CancelToken()
    compiled = tk.regex(PATTERN).compile(vocabulary, cancel=cancel)
    matcher = compiled.matcher()
    timer = threading.Timer(0.05, cancel.cancel)
    timer.start()
    chooser = random.Random(1)

    def advance_for_long() -> None:
        for _ in range(1_000_000):
            assert matcher.advance(chooser.choice(b"ab"))

    with pytest.raises(tk.Cancelled):
        advance_for_long()
    timer.join()
    assert cancel.cancelled
    assert len(matcher.text) == len(matcher.tokens) > 0
    with pytest.raises(tk.Cancelled):
        tk.regex(PATTERN).compile(vocabulary, cancel=cancel)
    matcher.rollback(len(matcher.tokens))
    assert matcher.text == b""


def test_other_threads_run_while_the_engine_works(vocabulary: tk.Vocabulary) -> None:
    """The interpreter's lock is released: a thread that counts makes progress meanwhile."""
    counted = 0
    done = threading.Event()

    def count() -> None:
        nonlocal counted
        while not done.is_set():
            counted += 1

    compiled = tk.regex(PATTERN).compile(vocabulary, limits=tk.Limits(seconds=0.5))
    thread = threading.Thread(target=count, daemon=True)
    thread.start()
    try:
        before = counted
        explode(compiled)
        after = counted
    finally:
        done.set()
        thread.join()
    assert after > before


def test_deep_nesting_is_an_error_or_works(vocabulary: tk.Vocabulary) -> None:
    deep = "(?:" * 100_000 + "a" + ")" * 100_000
    with pytest.raises((tk.LimitExceeded, tk.PatternError)):
        tk.regex(deep)
    nested = "a"
    for _ in range(60):
        nested = f"(?:{nested}b)*"
    with pytest.raises(tk.LimitExceeded, match="depth"):
        tk.regex(nested).compile(vocabulary, limits=tk.Limits(depth=20))
    assert allowed(tk.regex(nested).compile(vocabulary).matcher())


@pytest.mark.parametrize("value", [0, -1, 1.5, True, "9"])
def test_limits_are_checked(value: object) -> None:
    with pytest.raises(ValueError, match=r"Limits\.states"):
        tk.Limits(states=value)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"Limits\.seconds"):
        tk.Limits(seconds=0.0)


def test_many_threads_share_one_constraint(vocabulary: tk.Vocabulary) -> None:
    pattern = r"(\w{1,9} ?){1,300}\."
    compiled = tk.regex(pattern).compile(vocabulary)
    text = b"ab abb a bbb aab a bab ab " * 3
    reference = tk.regex(pattern).compile(vocabulary).matcher()
    expected = []
    for byte in text:
        expected.append(reference.mask.copy())
        assert reference.advance(byte)
    failures: list[str] = []

    def run() -> None:
        matcher = compiled.matcher()
        for byte, mask in zip(text, expected, strict=True):
            if not np.array_equal(matcher.mask, mask):
                failures.append(f"after {matcher.text!r}")
            matcher.advance(byte)

    threads = [threading.Thread(target=run) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


def test_compiling_a_long_pattern_is_bounded_too(vocabulary: tk.Vocabulary) -> None:
    constraint = tk.regex("ab" * 200_000)
    with pytest.raises(tk.LimitExceeded, match="memory_bytes=1000000"):
        constraint.compile(vocabulary, limits=tk.Limits(memory_bytes=1_000_000))
    with pytest.raises(tk.LimitExceeded, match="seconds"):
        constraint.compile(vocabulary, limits=tk.Limits(seconds=1e-6))
    assert constraint.compile(vocabulary).matcher().advance(ord("a"))


def test_figures_and_destructors_wait_for_nobody(vocabulary: tk.Vocabulary) -> None:
    """One question can take long; other threads read the figures and drop matchers meanwhile."""
    cancel = tk.CancelToken()
    compiled = tk.regex(PATTERN).compile(vocabulary, cancel=cancel, limits=tk.Limits(seconds=30))
    matcher = compiled.matcher()
    outcome: list[type] = []

    def ask_for_everything() -> None:
        try:
            compiled.token_automaton()
        except tk.TokamataError as error:
            outcome.append(type(error))

    states, memory_bytes = compiled.states, compiled.memory_bytes
    thread = threading.Thread(target=ask_for_everything)
    thread.start()
    # The figures grow while the thread works.
    while thread.is_alive() and (compiled.states <= states or compiled.memory_bytes <= memory_bytes):
        pass
    assert compiled.memory_bytes > memory_bytes
    del matcher
    assert thread.is_alive()
    cancel.cancel()
    thread.join()
    assert outcome == [tk.Cancelled]


def test_reading_a_figure_evicts_nothing(vocabulary: tk.Vocabulary) -> None:
    compiled = tk.regex(r"(\w{1,5} ?){1,30}\.").compile(vocabulary, limits=tk.Limits(memory_bytes=300_000))
    matcher = compiled.matcher()
    views = []
    for byte in b"ab abb a":
        views.append(matcher.mask)
        assert matcher.advance(byte)
    before = compiled.memory_bytes
    assert [compiled.memory_bytes for _ in range(3)] == [before] * 3
    assert before <= 300_000


def test_collecting_keeps_what_matchers_stand_on() -> None:
    """Again and again all is given up but the states of a few texts, of every kind of expression."""
    vocabulary = bytes_and(b'":', b'{"', b"ab", b"12", b"aba")
    number = {"type": "number", "multipleOf": 0.25, "maximum": 1e6}
    schema = {"properties": {"n": number}, "uniqueItems": True}
    constraints = {
        "lookaround": tk.regex(r"(?=.{1,200}$)(?:a(?!bb)|b(?<!aab)|é){0,150}(?:x|yy)?"),
        "algebra": (tk.regex("[ab]{0,300}") & tk.regex(".*a.{7}")) - tk.choice(["ab" * k for k in range(50)]),
        "strings": tk.substring_of("abba" * 40 + "é" * 30) + tk.regex(";[ab]{0,99}"),
        "json": tk.json_schema(schema),
    }
    for name, constraint in constraints.items():
        wide = constraint.compile(vocabulary)
        chooser = random.Random(name)
        smallest = _smallest_memory(constraint, vocabulary)
        collected = 0
        for share in (1.2, 1.5, 2.0, 3.0):
            tight = constraint.compile(vocabulary, limits=tk.Limits(memory_bytes=int(smallest * share)))
            for _ in range(6):
                collected += _walk_together(tight, wide, chooser)
        assert collected > 0, name


def _smallest_memory(constraint: tk.Constraint, vocabulary: tk.Vocabulary) -> int:
    """What a constraint holds after its first mask."""
    compiled = constraint.compile(vocabulary)
    _ = compiled.matcher().mask
    return compiled.memory_bytes


def _walk_together(tight: tk.CompiledConstraint, wide: tk.CompiledConstraint, chooser: random.Random) -> int:
    """A random text under both limits; returns how often states were given up."""
    one, other = tight.matcher(), wide.matcher()
    forks = []
    collected = 0
    try:
        for step in range(40):
            before = tight.states
            assert np.array_equal(one.mask, other.mask)
            live = sorted(allowed(other) - set(tight.vocabulary.stop))
            if not live:
                break
            token = chooser.choice(live)
            assert other.advance(token)
            assert one.advance(token)
            if step % 10 == 5:
                forks.append((one.fork(), other.fork()))
            collected += tight.states < before
        for fork, judge in forks:
            assert np.array_equal(fork.mask, judge.mask)
    except tk.LimitExceeded as error:
        if error.limit != "memory_bytes":
            raise
    return collected


def nested(operators: int) -> tk.Constraint:
    constraint = tk.regex("a")
    for number in range(operators):
        constraint = ~constraint if number % 2 else constraint.optional()
    return constraint


@pytest.mark.parametrize("operators", [600, 3_000, 30_000])
def test_nested_operators_are_refused_with_the_bound_of_the_caller(operators: int) -> None:
    """Making the constraint is no error, since nobody has said yet how deep it may nest."""
    constraint = nested(operators)
    vocabulary = tk.Vocabulary.load([b"a", b"b"])
    calls: list[Callable[..., object]] = [
        functools.partial(constraint.compile, vocabulary),
        constraint.shortest_text,
        functools.partial(constraint.is_subset_of, tk.regex("a")),
    ]
    for call in calls:
        for limits, bound in ((None, 1000), (tk.Limits(depth=700), 700)):
            with pytest.raises(tk.LimitExceeded, match=f"depth={bound} .*\n.*pass a larger") as caught:
                call(limits=limits)
            assert (caught.value.limit, caught.value.bound) == ("depth", bound)


def test_no_limit_lets_operators_nest_past_the_stack() -> None:
    with pytest.raises(tk.LimitExceeded, match="the same for all Limits") as caught:
        nested(3_000).compile(tk.Vocabulary.load([b"a"]), limits=tk.Limits(depth=10**6))
    assert caught.value.bound == MOST_DEPTH
    matcher = nested(600).compile(tk.Vocabulary.load([b"a"]), limits=tk.Limits(depth=10**6)).matcher()
    assert matcher.mask[0]
