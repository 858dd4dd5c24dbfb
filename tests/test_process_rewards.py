"""Process rewards against brute force over finite languages, and against a matcher, token by token."""

from __future__ import annotations

import random
import threading
from typing import Any

import numpy as np
import pytest

import tokamata as tk

TOKENS = [b"a", b"b", b"c", b"ab", b"bc", b"aa", b"cab", None, None]
STOP, CONTROL, PADDED = 7, 8, 9  # the last id has no token
WORDS = ["abc", "aab", "cabbc", "a", "bcbcbc"]


@pytest.fixture(scope="module")
def vocabulary() -> tk.Vocabulary:
    return tk.Vocabulary.load(TOKENS, stop=[STOP], width=10, control_tokens={"<go>": CONTROL})


def least(text: bytes, words: list[str]) -> int | None:
    """The fewest tokens that lead from a text to one of the words; ``None`` if none do."""
    if text.decode() in words:
        return 0
    rests = [word.encode()[len(text) :] for word in words if word.encode().startswith(text)]
    found: list[int] = []
    for rest in rests:
        needed = [0] + [len(rest) + 1] * len(rest)
        for end in range(1, len(rest) + 1):
            for token in TOKENS:
                if token and rest[:end].endswith(token):
                    needed[end] = min(needed[end], needed[end - len(token)] + 1)
        if needed[-1] <= len(rest):
            found.append(needed[-1])
    return min(found, default=None)


def expected(ids: list[int], words: list[str]) -> list[tuple[bool, bool, int]]:
    """Whether each token is judged, whether it is viable, and what is still needed."""
    text, refused, stopped, rows = b"", False, False, []
    for token in ids:
        if stopped or token == -100:
            rows.append((False, False, -1))
            continue
        if token == STOP:
            refused = refused or text.decode() not in words
            stopped = not refused
        else:
            piece = TOKENS[token] if token < len(TOKENS) else None
            refused = refused or piece is None
            text += piece or b""
        needed = None if refused else least(text, words)
        refused = needed is None
        rows.append((True, not refused, -1 if needed is None else needed))
    return rows


def test_all_tokens_are_judged_as_by_brute_force(vocabulary: tk.Vocabulary) -> None:
    compiled = tk.choice(WORDS).compile(vocabulary)
    draw = random.Random(1)
    rows = []
    for _ in range(600):
        word = draw.choice(WORDS).encode()
        ids: list[int] = []
        while word:  # a split of a word, so that many stay viable
            token = draw.choice([t for t in TOKENS if t and word.startswith(t)])
            ids.append(TOKENS.index(token))
            word = word[len(token) :]
        ids += draw.choices([STOP, -100, 0], k=draw.randrange(3))
        for _ in range(draw.choice([0, 0, 1, 2])):
            ids.insert(draw.randrange(len(ids) + 1), draw.choice([-100, *range(10)]))
        rows.append(ids)
    found = compiled.process_rewards(rows)
    assert found.needed_at_start == least(b"", WORDS) == 1
    longest = max(map(len, rows))
    for array, dtype in ((found.judged, bool), (found.viable, bool), (found.needed, np.int32)):
        assert array.shape == (600, longest)
        assert array.dtype == dtype
    assert (found.first_refused.shape, found.first_refused.dtype) == ((600,), np.int64)
    for number, ids in enumerate(rows):
        wanted = expected(ids, WORDS) + [(False, False, -1)] * (longest - len(ids))
        shown = zip(
            found.judged[number].tolist(),
            found.viable[number].tolist(),
            found.needed[number].tolist(),
            strict=True,
        )
        assert list(shown) == wanted, ids
        refused = [at for at, (judged, viable, _) in enumerate(wanted) if judged and not viable]
        assert found.first_refused[number] == (refused[0] if refused else -1)
    assert (found.first_refused >= 0).sum() > 100
    assert (found.first_refused < 0).sum() > 100


@pytest.mark.parametrize(
    "constraint",
    [
        tk.json_schema({"properties": {"a": {"type": "array"}, "b": {"enum": [1, 22]}}, "required": ["b"]}),
        tk.json(),
        tk.grammar('start: "(" start* ")" | "x"\n'),
        tk.regex("(?=[a-z]{3,9}$)(ab|c)+"),
    ],
)
def test_they_are_what_a_matcher_says(constraint: tk.Constraint) -> None:
    tokens = [bytes([byte]) for byte in range(256)] + [b'{"', b'":', b"22", b"ab", b"()", b'"a', None]
    vocabulary = tk.Vocabulary.load(tokens, stop=[262])
    compiled = constraint.compile(vocabulary)
    draw = random.Random(2)
    for _ in range(12):
        other = compiled.matcher()
        ids: list[int] = []
        for _ in range(draw.randrange(25)):
            bits = np.flatnonzero(np.unpackbits(other.mask.view(np.uint8), bitorder="little"))
            token = int(draw.choice(bits.tolist() if draw.random() < 0.95 else range(263)))
            ids.append(token)
            if not other.advance(token):
                break
        before = other.tokens, other.text, other.mask.copy()
        found = compiled.process_rewards(ids)
        assert (other.tokens, other.text) == before[:2]
        assert np.array_equal(other.mask, before[2])
        matcher = compiled.matcher()
        assert_suffices(matcher, found.needed_at_start)
        for at, token in enumerate(ids):
            viable = matcher.advance(token)
            if not found.judged[at]:
                assert 262 in ids[:at]
                continue
            assert found.viable[at] == viable
            if not viable:
                assert found.needed[at] == -1
                assert found.first_refused == at
                break
            assert (found.needed[at] == 0) == matcher.is_accepting
            assert_suffices(matcher, int(found.needed[at]))


def assert_suffices(matcher: tk.Matcher, tokens: int) -> None:
    """Masks with this budget, and one less after each token, lead to an accepted text."""
    fork = matcher.fork()
    row = matcher.compiled.allocate_mask()[0]
    for left in range(tokens, 0, -1):
        if fork.is_accepting:
            return
        fork.fill_mask(row, left)
        assert fork.advance(int(np.flatnonzero(np.unpackbits(row.view(np.uint8), bitorder="little"))[0]))
    assert fork.is_accepting


def test_shapes_and_kinds_of_ids(vocabulary: tk.Vocabulary) -> None:
    torch = pytest.importorskip("torch")
    compiled = tk.choice(WORDS).compile(vocabulary)
    row = [0, 1, 2, STOP]
    one = compiled.process_rewards(row)
    assert one.needed.tolist() == [0, 1, 0, 0]
    assert (one.needed.ndim, one.first_refused.shape) == (1, ())
    for given in (tuple(row), np.array(row, np.uint8), torch.tensor(row), [np.int64(i) for i in row]):
        assert compiled.process_rewards(given).needed.tolist() == [0, 1, 0, 0]
    batch = compiled.process_rewards(torch.tensor([row, [1, 0, STOP, STOP]]))
    assert batch.viable.tolist() == [[True] * 4, [True, False, False, False]]
    assert batch.first_refused.tolist() == [-1, 1]
    assert compiled.process_rewards([]).needed.shape == (0,)
    assert compiled.process_rewards([[], []]).needed.shape == (2, 0)
    assert compiled.process_rewards(np.zeros((0, 3), int)).first_refused.shape == (0,)


def test_padding_belongs_to_no_text(vocabulary: tk.Vocabulary) -> None:
    """On the left, on the right, by the mask or by -100; what follows a stop token, too."""
    compiled = tk.choice(WORDS).compile(vocabulary)
    ids = [[STOP, STOP, 0, 1, 2, STOP], [0, 1, 2, STOP, 3, 4], [-100, 0, -100, 1, 2, -100]]
    mask = [[0, 0, 1, 1, 1, 1], [1, 1, 1, 1, 1, 1], [1, 1, 1, 1, 1, 1]]
    for given in (mask, np.array(mask), np.array(mask, bool)):
        found = compiled.process_rewards(ids, mask=given)
        assert found.first_refused.tolist() == [-1, -1, -1]
        assert found.judged.tolist() == [
            [False, False, True, True, True, True],
            [True, True, True, True, False, False],
            [False, True, False, True, True, False],
        ]
        assert np.array_equal(found.viable, found.judged)
    masked = compiled.process_rewards([99, 0, -5], mask=[0, 1, 0])  # what is masked may be any number
    assert masked.needed.tolist() == [-1, 0, -1]


def test_control_tokens_are_allowed_where_they_are_named(vocabulary: tk.Vocabulary) -> None:
    named = (tk.control_token("<go>") + tk.literal("a")).compile(vocabulary)
    found = named.process_rewards([[CONTROL, 0, STOP], [0, 0, 0], [PADDED, 0, 0]])
    assert found.first_refused.tolist() == [-1, 0, 0]
    assert found.needed[0].tolist() == [1, 0, 0]
    assert found.needed_at_start == 2


@pytest.mark.parametrize(
    ("ids", "mask", "error"),
    [
        ([0, 10], None, tk.TokenIdError),
        ([0, -1], None, tk.TokenIdError),
        ("abc", None, tk.ArgumentError),
        (5, None, tk.ArgumentError),
        ([0.5], None, tk.ArgumentError),
        ([[0], 1], None, tk.ArgumentError),
        ([1 << 70], None, tk.ArgumentError),
        (np.zeros((1, 1, 1), int), None, tk.ArgumentError),
        (np.zeros(3), None, tk.ArgumentError),
        ([0, 1], [1], tk.ArgumentError),
        ([0, 1], [[1, 1]], tk.ArgumentError),
    ],
)
def test_bad_arguments_are_named(vocabulary: tk.Vocabulary, ids: Any, mask: Any, error: Any) -> None:
    with pytest.raises(error):
        tk.choice(WORDS).compile(vocabulary).process_rewards(ids, mask=mask)


def test_threads_share_a_constraint(vocabulary: tk.Vocabulary) -> None:
    compiled = tk.regex("(?:a|bc){3,40}").compile(vocabulary)
    draw = random.Random(3)
    rows = [draw.choices([0, 1, 2, 4, 5], k=30) for _ in range(50)]
    wanted = compiled.process_rewards(rows).needed
    results: list[Any] = [None] * 8

    def work(number: int) -> None:
        results[number] = compiled.process_rewards(rows).needed

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(np.array_equal(result, wanted) for result in results)


def test_limits_stop_the_work(vocabulary: tk.Vocabulary) -> None:
    token = tk.CancelToken()
    compiled = tk.regex("(?:a|bc){3,40}").compile(vocabulary, cancel=token)
    token.cancel()
    with pytest.raises(tk.Cancelled):
        compiled.process_rewards([0, 1, 2, 0, 0])


def test_texts_that_nest_have_a_number_at_any_depth() -> None:
    """With a token for each byte, one bracket is needed for each that is open."""
    vocabulary = tk.Vocabulary.load([*(bytes([byte]) for byte in range(256)), None], stop=[256])
    for constraint in (tk.json(), tk.grammar('start: "[" start? "]"\n')):
        found = constraint.compile(vocabulary).process_rewards([ord("[")] * 500)
        assert found.needed.tolist() == list(range(1, 501))


def test_the_same_numbers_whatever_was_searched_before() -> None:
    """A search for fewer tokens, which a matcher makes, does not change them."""
    tokens = [*(bytes([byte]) for byte in range(256)), b'":', b"{}", b'"}', None]
    vocabulary = tk.Vocabulary.load(tokens, stop=[259])
    schema = {"properties": {"a": {"type": "object"}, "b": {"type": "string"}}, "required": ["a", "b"]}
    fresh, used = (tk.json_schema(schema).compile(vocabulary) for _ in range(2))
    ids = [*b'{"a', 256, *b'{"x":[1,{"y', 256]
    matcher = used.matcher()
    for token in ids:
        matcher.shortest_completion()
        assert matcher.advance(token)
    assert fresh.process_rewards(ids).needed.tolist() == used.process_rewards(ids).needed.tolist()
