"""The algebra of constraints against sets of texts made by Python, and its laws."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from functools import cache

import pytest

import tokamata as tk
from tests.support.masks import allowed
from tests.support.matchers import is_text_of, takes
from tests.support.texts import all_texts
from tests.support.vocabularies import BYTE_VOCABULARY

ALPHABET = "abé\n"
TEXTS = all_texts(ALPHABET, 4)
VOCABULARIES = [
    BYTE_VOCABULARY,
    tk.Vocabulary.load([b"a", b"ab", b"b", b"\n", b"\xc3", b"\xa9", "bé".encode(), b"aa\n", None], stop=8),
]
Predicate = Callable[[str], bool]


def language(constraint: tk.Constraint) -> set[str]:
    """The texts of at most four letters that the engine takes."""
    try:
        matcher = constraint.compile(VOCABULARIES[0]).matcher()
    except tk.EmptyConstraintError:
        return set()
    return {text for text in TEXTS if takes(matcher, text.encode())}


def concatenated(first: Predicate, second: Predicate) -> Predicate:
    return lambda text: any(first(text[:i]) and second(text[i:]) for i in range(len(text) + 1))


def repeated(body: Predicate, low: int, high: int) -> Predicate:
    def holds(text: str) -> bool:
        @cache
        def rounds(begin: int, left: int, needed: int) -> bool:
            if begin == len(text) and needed <= 0:
                return True
            if left == 0:
                return False
            return any(
                (end > begin or needed > 0) and body(text[begin:end]) and rounds(end, left - 1, needed - 1)
                for end in range(begin, len(text) + 1)
            )

        return rounds(0, high, low)

    return holds


LEAVES = ["a", "b", "é", "a|bé", "[ab]*", "(?:a(?!a)|b)*", r"(?:b|a(?<=ba))*", r".*\bé", "^a$", "[^a]+", ""]


def random_pair(chooser: random.Random, depth: int) -> tuple[tk.Constraint, Predicate]:
    """A constraint and what it should mean, made of the same parts by the same operators."""
    if depth == 0:
        pattern = chooser.choice(LEAVES)
        compiled = re.compile(pattern)
        return tk.regex(pattern), lambda text: compiled.fullmatch(text) is not None
    one, holds = random_pair(chooser, depth - 1)
    kind = chooser.randrange(7)
    if kind == 0:
        return ~one, lambda text: not holds(text)
    if kind == 1:
        low = chooser.randrange(3)
        return one.repeat(low, low + 1), repeated(holds, low, low + 1)
    if kind == 2:
        return one.optional(), lambda text: text == "" or holds(text)
    other, also = random_pair(chooser, depth - 1)
    if kind == 3:
        return one + other, concatenated(holds, also)
    if kind == 4:
        return one | other, lambda text: holds(text) or also(text)
    if kind == 5:
        return one & other, lambda text: holds(text) and also(text)
    return one - other, lambda text: holds(text) and not also(text)


@pytest.mark.parametrize("seed", range(60))
def test_what_operators_mean(seed: int) -> None:
    chooser = random.Random(seed)
    constraint, holds = random_pair(chooser, chooser.choice([1, 2, 2, 3]))
    assert language(constraint) == {text for text in TEXTS if holds(text)}, constraint


@pytest.mark.parametrize("seed", range(30))
def test_laws(seed: int) -> None:
    chooser = random.Random(1000 + seed)
    a, b, c = (random_pair(chooser, 1)[0] for _ in range(3))
    laws = [
        (~~a, a),
        (~(a | b), ~a & ~b),
        (~(a & b), ~a | ~b),
        (a - b, a & ~b),
        (a | a, a),
        (a & a, a),
        (a | b, b | a),
        (a & (b | c), (a & b) | (a & c)),
        ((a + b) + c, a + (b + c)),
        (a.repeat(0, 2), a.optional() + a.optional()),
        (a.separated_by(b), a + (b + a).repeat()),
    ]
    for left, right in laws:
        assert left.is_equivalent_to(right), (left, right)
        assert_same_masks(left, right, chooser)


def assert_same_masks(left: tk.Constraint, right: tk.Constraint, chooser: random.Random) -> None:
    """Equal constraints written differently give equal masks, whatever the vocabulary."""
    for vocabulary in VOCABULARIES:
        matchers = []
        for constraint in (left, right):
            try:
                matchers.append(constraint.compile(vocabulary).matcher())
            except (tk.EmptyConstraintError, tk.UnspellableError):
                matchers.append(None)
        assert (matchers[0] is None) == (matchers[1] is None), (left, right)
        if matchers[0] is None:
            continue
        for _ in range(4):
            bits = allowed(matchers[0])
            assert bits == allowed(matchers[1]), (left, right, matchers[0].text)
            open_tokens = sorted(set(bits) - set(vocabulary.stop))
            if not open_tokens:
                break
            token = chooser.choice(open_tokens)
            assert all(matcher.advance(token) for matcher in matchers)


@pytest.mark.parametrize("seed", range(30))
def test_questions(seed: int) -> None:
    chooser = random.Random(2000 + seed)
    (a, in_a), (b, in_b) = random_pair(chooser, 1), random_pair(chooser, 1)
    answer = a.is_subset_of(b)
    if answer:
        assert all(in_b(text) for text in TEXTS if in_a(text))
    else:
        assert answer.witness is not None
        assert in_a(answer.witness)
        assert not in_b(answer.witness)
    answer = a.is_equivalent_to(b)
    if not answer:
        assert in_a(answer.witness) != in_b(answer.witness)
    shortest = a.shortest_text()
    assert a.is_empty() == (shortest is None)
    if shortest is not None:
        assert in_a(shortest)
        assert not any(in_a(text) for text in TEXTS if len(text.encode()) < len(shortest.encode()))


def test_a_constraint_sees_its_own_text_alone() -> None:
    assert is_text_of(tk.regex(r"foo\b") + tk.regex("bar"), "foobar")
    assert not is_text_of(tk.regex(r"foo\bbar|x"), "foobar")
    assert is_text_of(tk.regex("^a$").repeat(2, 2), "aa")
    assert is_text_of(tk.regex(r"(?<!a)b").separated_by(tk.literal("a"), 2), "bab")
    assert is_text_of((tk.regex("a") | tk.regex("b(?!c)")) + tk.literal("c"), "bc")
    assert is_text_of((tk.regex(r"\Ab") & tk.regex("b")).optional() + tk.literal("b"), "bb")
    assert not is_text_of(~tk.regex("a(?!b)") + tk.literal("b"), "ab") or is_text_of(~tk.regex("a"), "")


def test_long_chains_stay_flat() -> None:
    union = concatenation = intersection = tk.regex("[ab]?")
    for _ in range(3000):
        union = union | tk.literal("b")
        concatenation = concatenation + tk.regex("[ab]?")
        intersection = intersection & tk.regex("[a-c]?")
    assert is_text_of(union, "b")
    assert is_text_of(concatenation, "ab" * 1500)
    assert not is_text_of(concatenation, "ab" * 1501)
    assert is_text_of(intersection, "a")
    assert not is_text_of(intersection, "c")
    assert len(repr(union)) < 1000


def test_a_choice_of_a_hundred_thousand() -> None:
    chooser = random.Random(7)
    options = {"".join(chooser.choices("abcdé ", k=chooser.randint(1, 12))) for _ in range(100_000)}
    constraint = tk.choice(options)
    matcher = constraint.compile(VOCABULARIES[0]).matcher()
    probes = chooser.sample(sorted(options), 200)
    probes += ["".join(chooser.choices("abcdé ", k=chooser.randint(1, 12))) for _ in range(200)]
    for text in probes:
        data = text.encode()
        taken = 0
        while taken < len(data) and matcher.advance(data[taken]):
            taken += 1
        assert (taken == len(data) and matcher.is_accepting) == (text in options), text
        matcher.rollback(taken)


def test_choices_of_constraints() -> None:
    constraint = tk.choice(["a", tk.regex("b+"), ""])
    assert language(constraint) == {"", "a", "b", "bb", "bbb", "bbbb"}
    assert language(tk.choice([""])) == {""}


def test_what_cannot_be_spelled() -> None:
    letters = tk.Vocabulary.load([b"a", b"b", None], stop=2)
    with pytest.raises(tk.UnspellableError):
        (~tk.regex("[ab]*")).compile(letters)
    assert (~tk.regex("a*")).compile(letters).matcher().advance(1)


def test_empty_intersections_name_their_operands() -> None:
    a, b = tk.regex("a+"), tk.regex("b+")
    with pytest.raises(tk.EmptyConstraintError, match=r"exclude each other: tokamata.regex\('a\+'\) and "):
        (a & tk.regex(".*") & b).compile(VOCABULARIES[0])
    with pytest.raises(tk.EmptyConstraintError, match="by themselves"):
        (a & (a - a)).compile(VOCABULARIES[0])
    three = tk.regex("a|b") & tk.regex("b|é") & tk.regex("a|é")
    with pytest.raises(tk.EmptyConstraintError, match="all of them together have none"):
        three.compile(VOCABULARIES[0])


def test_limits_hold_for_questions() -> None:
    few = tk.Limits(states=200)
    hard = tk.regex(".*a.{20}")
    with pytest.raises(tk.LimitExceeded) as error:
        hard.is_subset_of(tk.regex(".*b.{21}"), limits=few)
    assert error.value.limit == "states"
    assert error.value.position is None  # of no pattern: this was combined
    cancel = tk.CancelToken()
    cancel.cancel()
    with pytest.raises(tk.Cancelled):
        hard.is_subset_of(tk.regex(".*b.{21}"), cancel=cancel)


def test_what_is_refused() -> None:
    a = tk.regex("a")
    token = tk.text_token()
    for refused in (lambda: ~token, lambda: a - token, token.shortest_text, lambda: a.is_subset_of(token)):
        with pytest.raises(tk.AlgebraError, match="TEXT_TOKEN"):
            refused()
    with pytest.raises(tk.AlgebraError, match="control token"):
        tk.control_token("<x>").is_empty()
    for joined in (lambda: a + "b", lambda: a | 1, lambda: a & None, lambda: a - "b"):
        with pytest.raises(TypeError):
            joined()  # type: ignore[no-untyped-call]
    for bounds in ((-1, None), (3, 2), (0, 1 << 70)):
        with pytest.raises(ValueError, match="whole number"):
            a.repeat(*bounds)
    with pytest.raises(ValueError, match="whole number"):
        a.repeat(1.5)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="separator"):
        a.separated_by("b")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="surrogate U\\+D800 at position 1"):
        tk.literal("a\ud800")
    with pytest.raises(ValueError, match="surrogate"):
        tk.choice(["a", "\udfff"])
    with pytest.raises(ValueError, match="at least one option"):
        tk.choice([])
    with pytest.raises(TypeError, match="use literal"):
        tk.choice("abc")
    with pytest.raises(TypeError, match="not b'abc'"):
        tk.choice([b"abc"])  # type: ignore[list-item]
    with pytest.raises(TypeError, match=r"Vocabulary\.load"):
        a.compile("tokenizer.json")  # type: ignore[arg-type]
