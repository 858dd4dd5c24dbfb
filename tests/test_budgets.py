"""Budgets: the masks that leave room to finish, and the shortest ways to.

The judge is brute force over explicit machines (explicit.py): every token run through the smallest
acceptor of the language, and distances by relaxing every transition until nothing changes.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence

import numpy as np
import pytest

import tokamata as tk
from tests.support.automata.drawn_graphs import TEXTS, drawn_graphs, vocabulary_of
from tests.support.automata.explicit import TokenGraph, Twice, random_language
from tests.support.masks import allowed, bits
from tests.support.matchers import takes
from tests.support.vocabularies import BYTES

BUDGETS = range(1, 7)


def budget_mask(matcher: tk.Matcher, budget: int, count_stop: bool) -> set[int] | tk.BudgetError:
    """The bits of the mask, or the error that was raised instead, with the row untouched."""
    row = np.full(matcher.mask.shape, -559038737, np.int32)
    before = row.copy()
    try:
        matcher.fill_mask(row, budget=budget, count_stop=count_stop)
    except tk.BudgetError as error:
        assert np.array_equal(row, before)
        return error
    return bits(row)


def check_place(
    matcher: tk.Matcher, graph: TokenGraph, state: int, stop: Sequence[int], draw: random.Random
) -> None:
    """All budgets at one place, in random order, against the graph."""
    needed = graph.distance[state]
    assert needed is not None
    completion = matcher.shortest_completion()
    assert len(completion) == needed
    assert takes(matcher, completion)
    cases = [(budget, count_stop) for budget in BUDGETS for count_stop in (False, True)]
    for budget, count_stop in draw.sample(cases, len(cases)):
        expected = graph.within(state, budget - count_stop)
        is_accepting = state in graph.accepting
        found = budget_mask(matcher, budget, count_stop)
        if isinstance(found, tk.BudgetError):
            assert not expected
            assert not is_accepting
            assert (found.budget, found.needed) == (budget, needed + count_stop)
            assert f"at least {found.needed}" in str(found)
        else:
            assert found == expected | (set(stop) if is_accepting else set())
            assert expected or is_accepting
    assert allowed(matcher) == set(graph.rows[state]) | (set(stop) if state in graph.accepting else set())


@pytest.mark.parametrize("seed", range(16))
def test_against_brute_force(seed: int) -> None:
    """Random languages and vocabularies: bytes that lack, start rules, control tokens, no stop tokens."""
    draw = random.Random(seed)
    for compiled, graph, stop in drawn_graphs(draw, 150):
        for _ in range(2):  # the second time most of it is known
            matcher, state = compiled.matcher(), graph.start
            for _ in range(4):
                check_place(matcher, graph, state, stop, draw)
                if not graph.rows[state]:
                    break
                token = draw.choice(sorted(graph.rows[state]))
                assert matcher.advance(token)
                state = graph.rows[state][token]


def test_what_was_asked_before_changes_nothing() -> None:
    """The same questions in other orders, on one constraint and on new ones."""
    draw = random.Random(5)
    vocabulary = vocabulary_of([*TEXTS, None], [len(TEXTS)])
    questions = [(budget, count_stop) for budget in BUDGETS for count_stop in (False, True)] * 2
    compared = 0
    while compared < 60:
        language = random_language(draw, 3)
        try:
            shared = language.constraint.compile(vocabulary).matcher()
        except (tk.EmptyConstraintError, tk.UnspellableError):
            continue
        compared += 1
        for budget, count_stop in draw.sample(questions, len(questions)):
            fresh = budget_mask(language.constraint.compile(vocabulary).matcher(), budget, count_stop)
            known = budget_mask(shared, budget, count_stop)
            if isinstance(fresh, tk.BudgetError):
                assert isinstance(known, tk.BudgetError)
                assert known.needed == fresh.needed
            else:
                assert known == fresh


def test_a_start_seen_again_with_less_room() -> None:
    """Three tokens: ``ba|ba|ba`` and the like, never ``b`` first; a search once went astray here."""
    vocabulary = vocabulary_of([b"a", b"b", b"ab", b"ba", b"aba", None], [5])
    matcher = tk.regex("(?:bababa)?").compile(vocabulary).matcher()
    assert budget_mask(matcher, 3, False) == {1, 3, 5}
    assert budget_mask(matcher, 3, True) == {5}
    assert matcher.advance(1)
    assert budget_mask(matcher, 2, False) == {2, 4}


@pytest.mark.parametrize(
    "constraint",
    [
        tk.regex(r"(?s).*(?<!b)"),
        tk.regex(r"(?=.*a).*(?=.*a).*"),
        tk.regex(r"(?:.*\b.*){2}"),
        ~tk.regex("b") + ~tk.regex("b"),
        (~tk.regex("")).repeat(3, 3),
        tk.regex(".*é") & tk.regex("(?s).{2,}"),
        tk.regex("(?s).*a.*") - tk.regex("(?s).*b"),
        tk.regex("(?:漢|a)*😀?"),
    ],
    ids=repr,
)
def test_over_all_bytes(constraint: tk.Constraint) -> None:
    """Code points begun need bytes yet: a bit is set exactly where the shortest completion after it fits."""
    vocabulary = vocabulary_of([*BYTES, b"ab", "a漢".encode(), b"\xa9\xe6", b"aaaa", None], [260])
    probes = [ord("a"), ord("b"), 0x80, 0xA9, 0xC3, 0xE0, 0xE6, 0xF0, 0xF4, 256, 257, 258, 259]
    for walk in (b"aaaa", "é漢".encode(), b"a\xf0"):
        matcher = constraint.compile(vocabulary).matcher()
        for byte in [*walk, None]:
            needed = len(matcher.shortest_completion())
            for token in probes:
                after = matcher.fork()
                least = 1 + len(after.shortest_completion()) if after.advance(token) else 99
                for budget in range(max(needed, 1), needed + 5):
                    found = budget_mask(matcher, budget, False)
                    assert isinstance(found, set)
                    assert (token in found) == (least <= budget)
            if byte is None or not matcher.advance(byte):
                break


# ---- long texts -------------------------------------------------------------------------------


def fewest(edges: Callable[[int], Sequence[int]], last: int, is_end: Callable[[int], bool]) -> list[float]:
    """By position, up to ``last``: the fewest tokens to an end; ``edges(p)`` are where tokens lead from p."""
    needed = [float("inf")] * (last + 1)
    for p in range(last, -1, -1):
        ways = [needed[target] + 1 for target in edges(p) if target <= last]
        needed[p] = 0 if is_end(p) else min(ways, default=float("inf"))
    return needed


LETTERS = [b"etaoin", b"abcdefghijklm", b"the", b"ing", b"zz"]


@pytest.mark.parametrize(
    ("pattern", "length", "exact"),
    [
        ("[a-z]{500,}", 500, False),
        ("[a-z]{500}", 500, True),
        ("[a-z]{37,4000}", 37, False),
        ("[a-z]{1003}", 1003, True),
    ],
)
def test_long_least_lengths(pattern: str, length: int, exact: bool) -> None:
    """Letters in tokens of 1, 2, 3, 6 and 13: masks right where room ends, all along a walk on the border."""
    texts = [*BYTES, *LETTERS, b"Abc", b" the", None]
    stop = len(texts) - 1
    lengths = {token: len(text) for token, text in enumerate(texts) if text and re.fullmatch(b"[a-z]+", text)}

    def edges(p: int) -> list[int]:
        return [p + n for n in set(lengths.values()) if not exact or p + n <= length]

    needed = fewest(edges, length + 13, lambda p: p == length if exact else p >= length)
    matcher = tk.regex(pattern).compile(vocabulary_of(texts, [stop])).matcher()
    assert len(matcher.shortest_completion()) == needed[0]
    draw = random.Random(length)
    at, left = 0, int(needed[0]) + 2  # two tokens of slack, to be lost somewhere on the way
    while at < length:
        for budget in (int(needed[at]) - 1, int(needed[at]), int(needed[at]) + 1, left):
            expected = {t for t, n in lengths.items() if at + n in edges(at) and needed[at + n] < budget}
            found = budget_mask(matcher, budget, False)
            if budget < needed[at]:
                assert isinstance(found, tk.BudgetError)
                assert found.needed == (needed[at] if budget > 0 else None)
            else:
                assert found == expected
                assert budget_mask(matcher, budget + 1, True) == expected
        token = draw.choice([t for t, n in lengths.items() if at + n in edges(at) and needed[at + n] < left])
        assert matcher.advance(token)
        at, left = at + lengths[token], left - 1
    assert matcher.is_accepting
    assert left >= 0


def test_long_least_lengths_across_code_points() -> None:
    """300 é or more, in halves, in tokens of four, and in tokens that begin and end inside one."""
    texts = [b"\xc3", b"\xa9", "é".encode() * 4, b"\xa9" + "é".encode() * 5 + b"\xc3", None]
    lengths = ({0: 1, 2: 8}, {1: 1, 3: 12})  # at the start of a code point, and inside
    needed = fewest(
        lambda p: [p + n for n in lengths[p % 2].values()], 650, lambda p: p >= 600 and p % 2 == 0
    )
    matcher = tk.regex("é{300,}").compile(vocabulary_of(texts, [4])).matcher()
    assert len(matcher.shortest_completion()) == needed[0] < 600 / 8
    draw = random.Random(3)
    at, left = 0, int(needed[0])
    while at < 600 or at % 2:
        short = budget_mask(matcher, left - 1, False) if left > 1 else None
        assert short is None or isinstance(short, tk.BudgetError)
        expected = {t for t, n in lengths[at % 2].items() if needed[at + n] < left}
        assert budget_mask(matcher, left, False) == expected
        token = draw.choice(sorted(expected))
        assert matcher.advance(token)
        at, left = at + lengths[at % 2][token], left - 1
    assert matcher.is_accepting
    assert left == 0


def test_any_text_of_a_least_length() -> None:
    """``.{500,}`` counts code points: thirteen in the longest token of ASCII, four in one of 12 bytes."""
    texts = [*BYTES, b"abcdefghijklm", "漢字仮名".encode(), "é!é".encode(), b"a\nb", None]
    ascii_token, wide_token, mixed_token, line_end = range(256, 260)
    matcher = tk.regex(".{500,}").compile(vocabulary_of(texts, [260])).matcher()
    assert len(matcher.shortest_completion()) == 39  # 39 · 13 = 507
    assert matcher.shortest_completion() == [ascii_token] * 39
    found = budget_mask(matcher, 39, False)
    assert found == {ascii_token}  # 493 at most may be left for 38 tokens: 7 code points at once
    found = budget_mask(matcher, 40, False)
    assert isinstance(found, set)
    assert {ord("a"), ascii_token, wide_token, mixed_token} < found
    assert not {ord("\n"), line_end, 0x80, 0xFF} & found
    # Half a code point takes a token, and so does its other half: 499 are left for 38 · 13 = 494.
    assert not found & {0xC3, 0xE6, 0xF0}
    found = budget_mask(matcher, 41, False)
    assert isinstance(found, set)
    assert {0xC3} < found
    assert not found & {0xE6, 0xF0}  # two more bytes, one token each


# ---- walks ------------------------------------------------------------------------------------

PATTERNS = [
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}",
    r'"(?:[^"\\]|\\.){3,}"',
    r"(?:ab|abc|é){2,}漢字",
    r"(?=.*[0-9])(?=.*[A-Z]).{6,}",
    r"(?:a(?!a)|b)*x|(?:2024-0){3}",
    r"(?i:hello|w[öo]rld)(?:, (?i:hello|w[öo]rld))*\.",
    r".{0,3}|[a-c]{20,}",
]


@pytest.mark.parametrize("pattern", PATTERNS)
def test_walks_within_a_budget_end_in_time(pattern: str, byte_vocabulary: tk.Vocabulary) -> None:
    compiled = tk.regex(pattern).compile(byte_vocabulary)
    needed = len(compiled.matcher().shortest_completion())
    draw = random.Random(7)
    for slack in (0, 0, 1, 2, 5, 30):
        for count_stop in (False, True):
            matcher = compiled.matcher()
            left = needed + count_stop + slack
            while left:
                found = budget_mask(matcher, left, count_stop)
                assert isinstance(found, set)
                assert found <= allowed(matcher)
                if not found:
                    break
                assert matcher.advance(draw.choice(sorted(found)))
                left -= 1
                if matcher.tokens[-1] in byte_vocabulary.stop:
                    break
                if left == count_stop:
                    break
            assert matcher.is_accepting
            assert re.fullmatch(pattern, matcher.text.decode())


# ---- edges ------------------------------------------------------------------------------------


def test_ample_room_is_no_budget(byte_vocabulary: tk.Vocabulary) -> None:
    for pattern in PATTERNS:
        matcher = tk.regex(pattern).compile(byte_vocabulary).matcher()
        for budget in (1000, 1 << 31, 1 << 32, (1 << 63) - 1, 1 << 63, 1 << 64, 1 << 70, np.int64(1 << 40)):
            assert budget_mask(matcher, budget, True) == allowed(matcher)  # type: ignore[arg-type]
        row = np.zeros_like(matcher.mask)
        matcher.fill_mask(row, budget=None, count_stop=True)
        assert bits(row) == allowed(matcher)


@pytest.mark.parametrize("budget", [0, -1, -(1 << 63), -(1 << 70)])
def test_a_budget_of_nothing(budget: int, byte_vocabulary: tk.Vocabulary) -> None:
    for pattern in ("a*", "a"):
        found = budget_mask(tk.regex(pattern).compile(byte_vocabulary).matcher(), budget, False)
        assert isinstance(found, tk.BudgetError)
        assert isinstance(found, ValueError)
        assert (found.budget, found.needed) == (budget, None)
        assert "at least 1" in str(found)


@pytest.mark.parametrize("budget", ["3", 2.5, [3], np.float64(3)])
def test_a_budget_that_is_no_number(budget: object, byte_vocabulary: tk.Vocabulary) -> None:
    matcher = tk.regex("a*").compile(byte_vocabulary).matcher()
    row = np.full_like(matcher.mask, 7)
    with pytest.raises(TypeError):
        matcher.fill_mask(row, budget=budget)  # type: ignore[arg-type]
    assert (row == 7).all()


def test_rows_are_checked_as_without_a_budget(byte_vocabulary: tk.Vocabulary) -> None:
    matcher = tk.regex("a*").compile(byte_vocabulary).matcher()
    for row in (np.zeros(1, np.int32), np.zeros(matcher.mask.shape, np.int64), matcher.mask, None):
        with pytest.raises(tk.MaskError):
            matcher.fill_mask(row, budget=3)


def test_the_last_token_of_a_budget_and_the_stop() -> None:
    matcher = tk.regex("a{1,3}").compile(vocabulary_of([b"a", b"aa", None], [2])).matcher()
    assert budget_mask(matcher, 1, False) == {0, 1}
    found = budget_mask(matcher, 1, True)
    assert isinstance(found, tk.BudgetError)
    assert (found.budget, found.needed) == (1, 2)
    assert matcher.advance(0)
    assert budget_mask(matcher, 1, False) == {0, 1, 2}
    assert budget_mask(matcher, 1, True) == {2}


def test_after_a_stop_token(byte_vocabulary: tk.Vocabulary) -> None:
    one, other = byte_vocabulary.stop
    matcher = tk.regex("ab*").compile(byte_vocabulary).matcher()
    assert matcher.advance(ord("a"))
    assert matcher.advance(other)
    assert matcher.shortest_completion() == []
    for budget in (1, 2, 1 << 70):
        for count_stop in (False, True):
            assert budget_mask(matcher, budget, count_stop) == {one, other}


def test_without_stop_tokens() -> None:
    """Where the text may end and nothing may follow within the budget, the mask is empty; it is no error."""
    matcher = tk.regex("a(?:bb)*").compile(vocabulary_of([b"a", b"b"], [])).matcher()
    assert isinstance(budget_mask(matcher, 1, True), tk.BudgetError)
    assert budget_mask(matcher, 1, False) == {0}
    assert matcher.advance(0)
    assert budget_mask(matcher, 1, False) == set()
    assert budget_mask(matcher, 2, False) == {1}


def test_one_token_of_the_text_is_one_of_the_budget() -> None:
    """TEXT_TOKEN counts tokens, whatever their length."""
    vocabulary = vocabulary_of([b"a", b"b", b"ab", b"abab", None], [4])
    matcher = tk.regex("(?P<TEXT_TOKEN>{3})b").compile(vocabulary).matcher()
    assert len(matcher.shortest_completion()) == 4
    assert isinstance(budget_mask(matcher, 3, False), tk.BudgetError)
    assert budget_mask(matcher, 4, False) == {0, 1, 2, 3}


def test_advance_takes_no_notice() -> None:
    matcher = tk.regex("(?:ab)+").compile(vocabulary_of([b"a", b"b", b"ab", None], [3])).matcher()
    assert budget_mask(matcher, 1, False) == {2}
    assert matcher.advance(0)
    assert matcher.advance(1)
    assert matcher.is_accepting


# ---- limits -----------------------------------------------------------------------------------

# Which of the last 40 bytes were a: a search that goes through all of them never ends.
ENDLESS = "[ab]*a[ab]{40}"


def endless(**keywords: object) -> tk.Matcher:
    """Tokens of one and two letters, so that no bound on the distance is exact."""
    vocabulary = vocabulary_of([b"a", b"b", b"ba", b"ab", None], [4])
    return tk.regex(ENDLESS).compile(vocabulary, **keywords).matcher()  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("limit", "value"), [("states", 3000), ("memory_bytes", 3_000_000), ("seconds", 0.05)]
)
def test_limits_hold(limit: str, value: float) -> None:
    matcher = endless(limits=tk.Limits(**{limit: value}))  # type: ignore[arg-type]
    assert matcher.advance(1)
    live, tokens = allowed(matcher), matcher.tokens
    with pytest.raises(tk.LimitExceeded) as caught:
        matcher.shortest_completion()
    assert caught.value.limit == limit
    row = np.full_like(matcher.mask, 7)
    if limit != "seconds":  # time that was spent does not come back, and 41 letters take 21 tokens
        with pytest.raises(tk.LimitExceeded):
            matcher.fill_mask(row, budget=20)
        assert (row == 7).all()
        assert matcher.compiled.states <= 3000
        assert matcher.compiled.memory_bytes <= 3_000_000
        assert matcher.advance(0)
        matcher.rollback(1)
    assert allowed(matcher) == live
    assert matcher.tokens == tokens


def test_cancelling() -> None:
    cancel = tk.CancelToken()
    matcher = endless(cancel=cancel)
    live = allowed(matcher)
    cancel.cancel()
    row = np.full_like(matcher.mask, 7)
    with pytest.raises(tk.Cancelled):
        matcher.shortest_completion()
    with pytest.raises(tk.Cancelled):
        matcher.fill_mask(row, budget=15)
    assert (row == 7).all()
    assert allowed(matcher) == live  # what is known is known


def test_twice_means_the_same() -> None:
    """The judge itself: the pairs that the tests above are made of, on all short texts."""
    draw = random.Random(11)
    vocabulary = vocabulary_of([*BYTES, None], [256])
    texts = [
        b"",
        *(t.encode() for t in ("a", "b", "é", "ab", "ba", "aab", "abé", "éab", "aabb", "bbb", "ababab")),
    ]
    for _ in range(150):
        language: Twice = random_language(draw, 3)
        try:
            compiled = language.constraint.compile(vocabulary)
        except tk.EmptyConstraintError:
            assert not language.acceptor.accepting
            continue
        for text in texts:
            assert takes(compiled.matcher(), text) == language.acceptor.accepts(text)
