"""Batches: the masks of many matchers at once are the masks of each, whatever the threads."""

from __future__ import annotations

import gc
import random
import sys
import threading
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pytest

import tokamata as tk
from tests.support.masks import bits
from tests.support.matchers import step
from tests.support.texts import all_texts
from tests.support.vocabularies import BYTES, bytes_and

PATTERNS = [
    "[a-c]*x",
    r'"(?:[^"\\]|\\.)*"',
    r"(\w{1,5} ?){1,30}\.",
    "(?:a(?!a)|b)*",
    "[a-z]{50,}",
    "a{3}|b+",
    "(?:ab|ba|é)*",
    r"(?=.*b).{2,9}",
    "",
]


@pytest.fixture(scope="module")
def vocabulary() -> tk.Vocabulary:
    texts = [*BYTES, *(letters * n for letters in (b"a", b"b", b"ab", b"ba", b"x ") for n in range(1, 20))]
    texts += ["éa".encode(), b"\xa9a", b'"a', b'a"', b"a. ", b"abc"]
    return tk.Vocabulary.load([*texts, None], stop=[len(texts)], width=len(texts) + 40)


def walked(compiled: tk.CompiledConstraint, draw: random.Random, steps: int) -> tk.Matcher:
    """A matcher some random tokens into a text."""
    matcher = compiled.matcher()
    for _ in range(steps):
        if not step(matcher, draw):
            break
    return matcher


def fresh(matchers: Sequence[tk.Matcher], **options: object) -> list[tk.Matcher]:
    """The same places on newly compiled constraints, of which no mask is known."""
    compiled: dict[str, tk.CompiledConstraint] = {}
    copies = []
    for matcher in matchers:
        pattern = matcher.compiled.pattern
        if pattern not in compiled:
            compiled[pattern] = tk.regex(pattern).compile(matcher.compiled.vocabulary, **options)  # type: ignore[arg-type]
        copy = compiled[pattern].matcher()
        assert all(copy.advance(token) for token in matcher.tokens)
        copies.append(copy)
    return copies


def one_by_one(matchers: Sequence[tk.Matcher]) -> npt.NDArray[np.int32]:
    return np.stack([matcher.mask for matcher in matchers])


def at_random(vocabulary: tk.Vocabulary, count: int, seed: int) -> list[tk.Matcher]:
    draw = random.Random(seed)
    compiled = [tk.regex(pattern).compile(vocabulary) for pattern in PATTERNS]
    return [walked(draw.choice(compiled), draw, draw.randrange(6)) for _ in range(count)]


# ---- the same masks ---------------------------------------------------------------------------


@pytest.mark.parametrize("threads", [1, 2, 8, None])
def test_rows_are_the_masks_of_each(threads: int | None, vocabulary: tk.Vocabulary) -> None:
    """500 matchers of nine constraints; known masks and unknown ones, in whatever order of constraints."""
    matchers = at_random(vocabulary, 500, seed=1)
    expected = one_by_one(matchers)
    for batch in (matchers, fresh(matchers), fresh(matchers)):
        mask = batch[0].compiled.allocate_mask(len(batch))
        tk.fill_masks(batch, mask, threads=threads)
        assert np.array_equal(mask, expected)


def test_many_constraints_of_one_matcher_each(vocabulary: tk.Vocabulary) -> None:
    matchers = [
        tk.regex(f"[a-{end}]{{{low},{low + 3}}}x?").compile(vocabulary).matcher()
        for end in "bcdefghijk"
        for low in range(30)
    ]
    mask = matchers[0].compiled.allocate_mask(len(matchers))
    tk.fill_masks(matchers, mask, threads=8)
    assert np.array_equal(mask, one_by_one(fresh(matchers)))


def test_a_matcher_may_come_twice(vocabulary: tk.Vocabulary) -> None:
    first, second = (tk.regex(pattern).compile(vocabulary).matcher() for pattern in ("[a-c]*x", "b+"))
    mask = first.compiled.allocate_mask(100)
    tk.fill_masks([first, second] * 50, mask, threads=8)
    assert (mask[0::2] == first.mask).all()
    assert (mask[1::2] == second.mask).all()


def test_matchers_at_their_end(vocabulary: tk.Vocabulary) -> None:
    """Before the stop token, where nothing else may come, and after it."""
    matcher = tk.regex("a").compile(vocabulary).matcher()
    assert matcher.advance(ord("a"))
    ended = matcher.fork()
    assert ended.advance(vocabulary.stop[0])
    mask = matcher.compiled.allocate_mask(2)
    tk.fill_masks([matcher, ended], mask)
    assert bits(mask[0]) == bits(mask[1]) == set(vocabulary.stop)


def test_further_rows_are_left_alone(vocabulary: tk.Vocabulary) -> None:
    matchers = at_random(vocabulary, 10, seed=2)
    mask = matchers[0].compiled.allocate_mask(14)
    mask[:] = 0x5A5A5A5A
    tk.fill_masks(matchers, mask, threads=2)
    assert np.array_equal(mask[:10], one_by_one(matchers))
    assert (mask[10:] == 0x5A5A5A5A).all()
    rest = mask[3:]  # contiguous, and so a mask of its own
    tk.fill_masks(matchers[:2], rest)
    assert np.array_equal(mask[3:5], one_by_one(matchers[:2]))
    assert np.array_equal(mask[5:10], one_by_one(matchers)[5:])


def test_filling_changes_no_matcher(vocabulary: tk.Vocabulary) -> None:
    matchers = at_random(vocabulary, 30, seed=3)
    before = [(matcher.tokens, matcher.text, matcher.is_accepting) for matcher in matchers]
    tk.fill_masks(matchers, matchers[0].compiled.allocate_mask(30), threads=8)
    assert [(matcher.tokens, matcher.text, matcher.is_accepting) for matcher in matchers] == before


def test_no_matchers(vocabulary: tk.Vocabulary) -> None:
    mask = tk.regex("a").compile(vocabulary).allocate_mask(2)
    mask[:] = 3
    tk.fill_masks([], mask)
    tk.fill_masks((), mask)
    assert (mask == 3).all()


def test_torch_tensors_on_the_cpu(vocabulary: tk.Vocabulary) -> None:
    torch = pytest.importorskip("torch", reason="torch comes with the extra transformers")
    matchers = at_random(vocabulary, 20, seed=4)
    words = matchers[0].mask.shape[0]
    mask = torch.zeros((22, words), dtype=torch.int32)
    tk.fill_masks(matchers, mask, threads=2)
    assert np.array_equal(mask[:20].numpy(), one_by_one(matchers))
    assert not mask[20:].any()
    for wrong in (mask.long(), mask[:19], mask.t().contiguous().t(), mask[:, :-1], mask[0]):
        with pytest.raises(tk.MaskError):
            tk.fill_masks(matchers, wrong)


# ---- what is refused --------------------------------------------------------------------------


def test_masks_that_do_not_fit(vocabulary: tk.Vocabulary) -> None:
    matchers = at_random(vocabulary, 4, seed=5)
    words = matchers[0].mask.shape[0]
    read_only = np.zeros((4, words), np.int32)
    read_only.flags.writeable = False
    wrong: list[object] = [
        np.zeros((4, words), np.int64),
        np.zeros((4, words), np.uint32),
        np.zeros((4, words), np.float32),
        np.zeros((4, words), ">i4"),
        np.zeros((3, words), np.int32),
        np.zeros((0, words), np.int32),
        np.zeros((4, words + 1), np.int32),
        np.zeros((4, words - 1), np.int32),
        np.zeros((4, words, 1), np.int32),
        np.zeros(4 * words, np.int32),
        np.zeros((8, words), np.int32)[::2],
        np.zeros((4, 2 * words), np.int32)[:, ::2],
        np.zeros((4, words), np.int32, order="F"),
        read_only,
        [[0] * words] * 4,
        None,
    ]
    for mask in wrong:
        with pytest.raises(tk.MaskError, match=f"4 rows of {words} words"):
            tk.fill_masks(matchers, mask)
        if isinstance(mask, np.ndarray):
            assert not mask.any()


def test_matchers_of_different_vocabularies(vocabulary: tk.Vocabulary) -> None:
    """Also where the tokens are the same: one vocabulary means one object."""
    twin = tk.Vocabulary.load(list(vocabulary.tokens), stop=vocabulary.stop, width=vocabulary.width)
    here, there = (tk.regex("a").compile(v).matcher() for v in (vocabulary, twin))
    mask = here.compiled.allocate_mask(3)
    with pytest.raises(tk.MaskError, match="matcher 2 of the batch has another vocabulary"):
        tk.fill_masks([here, here, there], mask)
    assert not mask.any()


@pytest.mark.parametrize("threads", [0, -1, 1 << 40, -(1 << 70)])
def test_numbers_of_threads(threads: int, vocabulary: tk.Vocabulary) -> None:
    matcher = tk.regex("a").compile(vocabulary).matcher()
    mask = matcher.compiled.allocate_mask()
    with pytest.raises(ValueError, match="threads"):
        tk.fill_masks([matcher], mask, threads=threads)
    assert not mask.any()


@pytest.mark.parametrize("matchers", [None, 3, "ab", [None], ["a"]])
def test_what_is_no_matcher(matchers: object, vocabulary: tk.Vocabulary) -> None:
    mask = tk.regex("a").compile(vocabulary).allocate_mask(3)
    with pytest.raises(TypeError):
        tk.fill_masks(matchers, mask)  # type: ignore[arg-type]


# ---- limits -----------------------------------------------------------------------------------


LETTERS = random.Random(6)
WORDS = sorted({"".join(LETTERS.choice("abc") for _ in range(14)) for _ in range(10_000)})


@pytest.fixture(scope="module")
def words_vocabulary() -> tk.Vocabulary:
    """10,000 words of fourteen letters: the mask of a choice of them meets tens of thousands of states."""
    return bytes_and(*map(str.encode, WORDS))


def one_of_the_words(
    vocabulary: tk.Vocabulary, prefix: str = "", **keywords: object
) -> tk.CompiledConstraint:
    constraint = tk.literal(prefix).optional() + tk.choice(WORDS)
    return constraint.compile(vocabulary, **keywords)  # type: ignore[arg-type]


@pytest.mark.parametrize("threads", [1, 2, 8])
@pytest.mark.parametrize(("limit", "value"), [("states", 500), ("memory_bytes", 8_000_000)])
def test_a_matcher_at_its_limit_leaves_its_row_and_the_others_alone(
    threads: int, limit: str, value: int, words_vocabulary: tk.Vocabulary
) -> None:
    limits = tk.Limits(**{limit: value})
    limited = one_of_the_words(words_vocabulary, "x", limits=limits)
    draw = random.Random(7)
    others = [tk.regex(pattern).compile(words_vocabulary) for pattern in ("[a-c]*x", "a{3}|b+", "(?:ab|b)*")]
    matchers = [walked(draw.choice(others), draw, 2) for _ in range(40)]
    matchers[5:5] = [limited.matcher()]
    matchers[20:20] = [limited.matcher()]
    assert matchers[20].advance(ord("x"))
    mask = limited.allocate_mask(len(matchers))
    mask[:] = 0x5A5A5A5A
    with pytest.raises(tk.LimitExceeded) as caught:
        tk.fill_masks(matchers, mask, threads=threads)
    assert (caught.value.limit, caught.value.bound) == (limit, value)
    assert caught.value.pattern == limited.pattern
    for i, matcher in enumerate(matchers):
        if i in (5, 20):
            assert (mask[i] == 0x5A5A5A5A).all()
            assert matcher.text == (b"x" if i == 20 else b"")
        else:
            assert np.array_equal(mask[i], matcher.mask)
    assert matchers[5].advance(ord("a"))  # usable still


def test_the_error_is_that_of_the_first(words_vocabulary: tk.Vocabulary) -> None:
    def limited(**limits: int) -> tk.Matcher:
        return one_of_the_words(words_vocabulary, limits=tk.Limits(**limits)).matcher()

    cancel = tk.CancelToken()
    cancelled = one_of_the_words(words_vocabulary, cancel=cancel).matcher()
    cancel.cancel()
    by_states, by_memory = limited(states=500), limited(memory_bytes=8_000_000)
    fine = tk.regex("a").compile(words_vocabulary).matcher()
    for threads in (1, 8):
        for matchers, error, limit in (
            ([fine, by_memory, by_states, cancelled], tk.LimitExceeded, "memory_bytes"),
            ([by_states, by_memory, cancelled, fine], tk.LimitExceeded, "states"),
            ([fine, cancelled, by_states], tk.Cancelled, None),
        ):
            mask = fine.compiled.allocate_mask(len(matchers))
            with pytest.raises(error) as caught:
                tk.fill_masks(matchers, mask, threads=threads)
            assert getattr(caught.value, "limit", None) == limit
            assert [bool(row.any()) for row in mask] == [matcher is fine for matcher in matchers]


# ---- sharing and memory -----------------------------------------------------------------------


# Counts that many masks depend on, and rows so wide that few of them fit.
COUNTED = [
    "(?:[ab]{1,19}x){1,30}",
    "[ab]{0,90}",
    "(?:a{1,9}b?){1,40}",
    "(?:(?:ab){2,5}b{1,20}){3,}",
    "[a-z]{50,}",
]
FEW_MASKS = 1_000_000


@pytest.fixture(scope="module")
def wide_vocabulary(vocabulary: tk.Vocabulary) -> tk.Vocabulary:
    """The same tokens and some more, one in each word of a mask: masks of many tokens are rows of 32 KB."""
    more = [text.encode() for text in all_texts("ab", 11, shortest=2)]
    more += [b"ab" * pairs + b"b" * rest for pairs in range(2, 6) for rest in range(7, 20)]
    more += [b"b" * rest + b"ab" * pairs for pairs in range(2, 6) for rest in range(2, 20)]
    spread = [part for text in more for part in (text, *[b""] * 31)]
    return tk.Vocabulary.load([*vocabulary.tokens, *spread], stop=vocabulary.stop, width=1 << 18)


def test_views_outlive_eviction_and_their_constraint(wide_vocabulary: tk.Vocabulary) -> None:
    limits = tk.Limits(memory_bytes=FEW_MASKS // 4)
    compiled = tk.regex(COUNTED[0]).compile(wide_vocabulary, limits=limits)
    draw = random.Random(8)
    views, copies = [], []
    for _ in range(60):
        matchers = [walked(compiled, draw, draw.randrange(15)) for _ in range(5)]
        tk.fill_masks(matchers, compiled.allocate_mask(5), threads=2)
        views += [matcher.mask for matcher in matchers]
        copies += [view.copy() for view in views[-5:]]
    different = len({copy.tobytes() for copy in copies})
    assert different * copies[0].nbytes > limits.memory_bytes >= compiled.memory_bytes  # some were given up
    del matchers, compiled
    gc.collect()
    assert all(np.array_equal(view, copy) for view, copy in zip(views, copies, strict=True))


@pytest.mark.parametrize("pattern", COUNTED[:4])
def test_memory_is_bounded_and_masks_are_the_same(pattern: str, wide_vocabulary: tk.Vocabulary) -> None:
    """A long walk in room for some of its masks, in batches of all matchers of one constraint."""
    wide = tk.regex(pattern).compile(wide_vocabulary)
    draw = random.Random(9)
    first, rows = [wide.matcher() for _ in range(20)], wide.allocate_mask(20)
    walk: Walk = []
    for _ in range(20):
        tk.fill_masks(first, rows, threads=2)
        live = [sorted(bits(row) - set(wide_vocabulary.stop)) for row in rows]
        tokens = [draw.choice(choice or list(wide_vocabulary.stop)) for choice in live]
        assert all(matcher.advance(token) for matcher, token in zip(first, tokens, strict=True))
        walk.append((rows.copy(), tokens))
    limits = tk.Limits(memory_bytes=wide.memory_bytes * 3 // 4)
    tight = tk.regex(pattern).compile(wide_vocabulary, limits=limits)
    second = [tight.matcher() for _ in range(20)]
    for expected, tokens in walk:
        tk.fill_masks(second, rows, threads=2)
        assert np.array_equal(rows, expected)
        assert tight.memory_bytes <= limits.memory_bytes < wide.memory_bytes
        assert all(matcher.advance(token) for matcher, token in zip(second, tokens, strict=True))


@pytest.mark.parametrize("memory_bytes", [FEW_MASKS, 1 << 29])
def test_threads_of_the_interpreter_share_constraints(
    memory_bytes: int, wide_vocabulary: tk.Vocabulary
) -> None:
    """Each thread walks texts of its own on the same constraints, with batches, views and budgets."""
    limits = tk.Limits(memory_bytes=memory_bytes)
    compiled = [tk.regex(pattern).compile(wide_vocabulary, limits=limits) for pattern in COUNTED]
    reference = [tk.regex(pattern).compile(wide_vocabulary) for pattern in COUNTED]
    walks = [recorded_walk(reference, seed) for seed in range(6)]
    failures: list[BaseException] = []

    def run(seed: int) -> None:
        try:
            walk_again(compiled, walks[seed])
        except BaseException as error:  # so that the test fails, and not its thread alone
            failures.append(error)

    threads = [threading.Thread(target=run, args=[seed]) for seed in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    for constraint in compiled:
        assert constraint.memory_bytes <= memory_bytes


Walk = list[tuple[npt.NDArray[np.int32], list[int]]]


def recorded_walk(compiled: Sequence[tk.CompiledConstraint], seed: int) -> Walk:
    """Step by step: the masks of matchers of all constraints, and the tokens that they took."""
    draw = random.Random(seed)
    matchers = [constraint.matcher() for constraint in compiled]
    walk = []
    for _ in range(25):
        masks = one_by_one(matchers)
        tokens = [draw.choice(sorted(bits(row))) for row in masks]
        walk.append((masks, tokens))
        for matcher, token in zip(matchers, tokens, strict=True):
            assert matcher.advance(token)
    return walk


def walk_again(compiled: Sequence[tk.CompiledConstraint], walk: Walk) -> None:
    """The same walk again; every mask must be the recorded one."""
    matchers = [constraint.matcher() for constraint in compiled]
    mask = compiled[0].allocate_mask(len(matchers))
    kept = []
    for expected, tokens in walk:
        tk.fill_masks(matchers, mask, threads=2)
        assert np.array_equal(mask, expected)
        kept.append(matchers[0].mask)
        ample = np.zeros_like(mask[0])
        matchers[4].fill_mask(ample, budget=10_000)
        assert np.array_equal(ample, expected[4])
        for matcher, token in zip(matchers, tokens, strict=True):
            assert matcher.advance(token)
    assert all(np.array_equal(view, masks[0]) for view, (masks, _) in zip(kept, walk, strict=True))


def test_the_interpreters_lock_is_released(vocabulary: tk.Vocabulary) -> None:
    """A batch that only another thread can end, in an interpreter that takes no lock away from anyone.

    Whether a text follows ``y`` takes 2^30 states to find out, so the batch works until the other thread
    cancels it.  That thread runs only where the lock is released; were it kept, the batch would run into its
    limit of memory instead.
    """
    cancel, begun = tk.CancelToken(), threading.Event()
    contradiction = tk.regex("[ab]*a[ab]{30}") & tk.regex("[ab]*b[ab]{30}")
    constraint = tk.literal("x") | (tk.literal("y") + contradiction)
    compiled = constraint.compile(vocabulary, cancel=cancel, limits=tk.Limits(memory_bytes=1 << 27))
    matcher, mask = compiled.matcher(), compiled.allocate_mask(2)

    def end_it() -> None:
        begun.wait()
        cancel.cancel()

    thread = threading.Thread(target=end_it)
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1000)
    try:
        thread.start()
        begun.set()
        assert not cancel.cancelled
        with pytest.raises(tk.Cancelled):
            tk.fill_masks([matcher, matcher.fork()], mask, threads=2)
    finally:
        sys.setswitchinterval(interval)
        thread.join()
    assert not mask.any()


def test_an_error_says_of_which_matcher_it_is() -> None:
    limits = tk.Limits(seconds=0.05)
    endless = tk.regex("x((?=.*ab.{60}$)(?=.*ba.{60}$)[ab]*)|[a-z]y").compile(bytes_and(), limits=limits)
    matchers = [tk.regex("[a-z]+").compile(endless.vocabulary).matcher(), endless.matcher()]
    assert matchers[1].advance(ord("x"))
    mask = endless.allocate_mask(2)
    with pytest.raises(tk.LimitExceeded, match=r"^matcher 1: ") as caught:
        tk.fill_masks(matchers, mask)
    assert (caught.value.item, caught.value.limit) == ("matcher 1", "seconds")
    with pytest.raises(tk.LimitExceeded) as alone:
        tk.fill_masks(matchers[1:], mask)
    assert alone.value.item == ""
