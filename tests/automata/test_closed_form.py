"""The closed form of constraints: against matchers, against brute force, and against pynini's composition."""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import tokamata as tk
from tests.support.automata.explicit import (
    LOOKAROUNDS,
    TokenGraph,
    Twice,
    any_number,
    joined,
    random_language,
    repeated,
    words,
)
from tests.support.automata.machines import pynini, smallest, to_pynini
from tests.support.masks import bits
from tests.support.vocabularies import BYTES
from tokamata.automata import Acceptor, TokenAutomaton
from tokamata.vocabulary.token_table import TokenTable

# Whole code points, halves, and what straddles their edges; two ids for one text; one without bytes.
TEXTS = [b"a", b"b", b"ab", b"aa", b"bab", b"ab", b"\xc3", b"\xa9", b"aaaa", b"\xa9\xc3", b""]
TEXTS += ["é".encode(), "bé".encode()]
Texts = Sequence[bytes | None]


def vocabulary_of(
    texts: Texts, stop: Sequence[int], start: Texts | None = None, padding: int = 0
) -> tk.Vocabulary:
    rule = None if start is None else lambda: list(start)
    return tk.Vocabulary(TokenTable(list(texts), {}, tuple(stop), rule), len(texts) + padding)


def random_vocabulary(draw: random.Random) -> tuple[tk.Vocabulary, list[int]]:
    """A vocabulary, and those of its control tokens that constraints may name."""
    texts: list[bytes | None] = [text for text in TEXTS if draw.random() < 0.7] + [None] * 4
    controls = [len(texts) - 4, len(texts) - 3][: draw.randrange(3)]
    stop = [len(texts) - 2, len(texts) - 1][: draw.randrange(3)]
    start = None
    if draw.random() < 0.3:  # drops one a at the start of a text, as others drop a space
        start = [None if text is None else text.removeprefix(b"a") for text in texts]
    return vocabulary_of(texts, stop, start, padding=draw.choice([0, 3, 40])), controls


def cases(seed: int, count: int) -> list[tuple[Twice, tk.CompiledConstraint, list[int]]]:
    """Random languages that random vocabularies can spell."""
    draw = random.Random(seed)
    found: list[tuple[Twice, tk.CompiledConstraint, list[int]]] = []
    while len(found) < count:
        vocabulary, controls = random_vocabulary(draw)
        language = random_language(draw, draw.choice([1, 2, 3]), controls)
        try:
            compiled = language.constraint.compile(vocabulary, start_of_text=draw.random() < 0.7)
        except (tk.EmptyConstraintError, tk.UnspellableError):
            continue
        found.append((language, compiled, controls))
    return found


# ---- matchers ---------------------------------------------------------------------------------


def check_against_matcher(automaton: TokenAutomaton, compiled: tk.CompiledConstraint, longest: int) -> None:
    """Every sequence of at most so many tokens, stop tokens too."""
    pending = [(compiled.matcher(), automaton.start)]
    for _ in range(longest):
        following: list[tuple[tk.Matcher, int]] = []
        for matcher, state in pending:
            assert automaton.mask(state).tolist() == matcher.mask.tolist()
            may_end = state == automaton.ended or bool(automaton.accepting[state])
            assert may_end == matcher.is_accepting
            for token in range(compiled.vocabulary.width):
                after = matcher.fork()
                target = automaton.step(state, token)
                assert (target != automaton.dead) == after.advance(token)
                if target != automaton.dead and len(following) < 200:
                    following.append((after, target))
        pending = following


def test_all_short_sequences() -> None:
    for _, compiled, _ in cases(1, 60):
        check_against_matcher(compiled.token_automaton(), compiled, 4)


def test_random_walks() -> None:
    draw = random.Random(2)
    for _, compiled, _ in cases(3, 200):
        automaton = compiled.token_automaton()
        for _ in range(4):
            matcher, state = compiled.matcher(), automaton.start
            for _ in range(12):
                mask = matcher.mask
                assert np.array_equal(automaton.mask(state), mask)
                if not mask.any():
                    break
                token = draw.choice(sorted(bits(mask)))
                assert matcher.advance(token)
                state = automaton.step(state, token)
        shortest = automaton.shortest()
        assert shortest is not None
        assert len(shortest) == len(compiled.matcher().shortest_completion())


PATTERNS = [
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}",
    r'"(?:[^"\\\n]|\\["n\\])*"',
    r"(?:(?!ab).)*",
    r"\w+(?: \w+){0,3}\.",
    r"(?s:.*)",
    r"[a-z]{20,}",
    r"(?P<TEXT_TOKEN>{2})x?",
    r"(?P<PARAGRAPH_TOKEN>*)\n",
    r"(?P<SUBSTRING_OF>2024-03-24 漢字)",
]


@pytest.mark.parametrize("pattern", PATTERNS)
def test_patterns_over_all_bytes(pattern: str, byte_vocabulary: tk.Vocabulary) -> None:
    compiled = tk.regex(pattern).compile(byte_vocabulary)
    automaton = compiled.token_automaton()
    check_against_matcher(automaton, compiled, 2)
    draw = random.Random(4)
    for _ in range(30):
        matcher, state = compiled.matcher(), automaton.start
        for _ in range(25):
            assert np.array_equal(automaton.mask(state), matcher.mask)
            if not matcher.mask.any():
                break
            token = draw.choice(sorted(bits(matcher.mask)))
            assert matcher.advance(token)
            state = automaton.step(state, token)


# ---- brute force ------------------------------------------------------------------------------


def closed_by_hand(
    acceptor: Acceptor, vocabulary: tk.Vocabulary, controls: Sequence[int], start: Texts | None
) -> TokenAutomaton:
    """Each token run from each state, and a class for each token."""
    graph = TokenGraph(acceptor, vocabulary.tokens, controls, start)
    rows = [sorted(row.items()) for row in graph.rows]
    width, stop = vocabulary.width, vocabulary.stop
    return TokenAutomaton.from_rows(
        width,
        graph.start,
        [state in graph.accepting for state in range(len(rows))],
        [-1 if token in stop else token for token in range(width)],
        np.cumsum([0, *map(len, rows)]),
        [token for row in rows for token, _ in row],
        [target for row in rows for _, target in row],
        stop,
    )


@pytest.mark.parametrize("start_of_text", [False, True])
def test_it_is_the_smallest_of_its_language(start_of_text: bool) -> None:
    """Start rules, control tokens, stop tokens, two ids of one text: equal to what is made by hand."""
    draw = random.Random(5)
    compared = smaller = 0
    while compared < 400:
        vocabulary, controls = random_vocabulary(draw)
        language = random_language(draw, draw.choice([1, 2, 3]), controls)
        start = vocabulary.start_tokens() if start_of_text else None
        by_hand = closed_by_hand(language.acceptor, vocabulary, controls, start)
        try:
            compiled = language.constraint.compile(vocabulary, start_of_text=start_of_text)
        except (tk.EmptyConstraintError, tk.UnspellableError):
            assert by_hand.shortest() is None
            continue
        compared += 1
        automaton = compiled.token_automaton()
        assert automaton == by_hand
        smaller += automaton.states < language.acceptor.states
    assert smaller > 50  # states that no token ends in are no states


def test_lookaround_and_intersections() -> None:
    vocabulary = vocabulary_of([*TEXTS, None], [len(TEXTS)])
    for first, second in itertools.product(LOOKAROUNDS, repeat=2):
        for language in (first & second, first - second, first + second, first | second, first.repeat(0, 2)):
            by_hand = closed_by_hand(language.acceptor, vocabulary, (), None)
            try:
                assert language.constraint.compile(vocabulary).token_automaton() == by_hand
            except tk.EmptyConstraintError:
                assert by_hand.shortest() is None


# ---- pynini -----------------------------------------------------------------------------------


def pynini_detokenizer(texts: Texts, controls: Sequence[int]) -> Any:
    """One cycle for each token, made with pynini's own calls; labels are symbols plus one."""
    module = pynini()
    fst = module.Fst()
    one = module.Weight.one(fst.weight_type())
    root = fst.add_state()
    fst.set_start(root)
    fst.set_final(root)
    for token, text in enumerate(texts):
        symbols = [256 + token] if token in controls else list(text or b"")
        state = root
        for place, symbol in enumerate(symbols):
            is_last = place == len(symbols) - 1
            target = root if is_last else fst.add_state()
            fst.add_arc(state, module.Arc(token + 1 if is_last else 0, symbol + 1, one, target))
            state = target
    return fst


def one_token(texts: Texts, controls: Sequence[int]) -> Any:
    """The cycles of the detokenizer, of which one is taken once."""
    module = pynini()
    fst = pynini_detokenizer(texts, controls)
    once = module.Fst()
    one = module.Weight.one(fst.weight_type())
    once.add_states(fst.num_states() + 1)
    once.set_start(0)
    end = fst.num_states()
    once.set_final(end)
    for state in fst.states():
        for arc in fst.arcs(state):
            target = end if arc.nextstate == 0 else arc.nextstate
            once.add_arc(state, module.Arc(arc.ilabel, arc.olabel, one, target))
    return once


def by_pynini(acceptor: Acceptor, texts: Texts, controls: Sequence[int], start: Texts | None) -> Any:
    """Algorithm 2 of 002: compose, project to tokens, determinize, minimize, trim."""
    module = pynini()
    tokens = pynini_detokenizer(texts, controls)
    if start is not None:
        tokens = (one_token(start, controls) + tokens).union(module.accep("")).optimize()
    composed = module.compose(tokens.arcsort("olabel"), to_pynini(acceptor).arcsort("ilabel"))
    return smallest(composed.project("input"))


def assert_same_as_pynini(automaton: TokenAutomaton, theirs: Any) -> None:
    ours = to_pynini(automaton.to_acceptor())
    assert automaton.states == theirs.num_states()
    assert automaton.transitions == sum(theirs.num_arcs(state) for state in theirs.states())
    assert pynini().equivalent(ours, theirs)


@pytest.mark.parametrize("start_of_text", [False, True])
def test_pynini_on_random_constraints(start_of_text: bool) -> None:
    pynini()
    draw = random.Random(6)
    compared = 0
    while compared < 150:
        vocabulary, controls = random_vocabulary(draw)
        language = random_language(draw, draw.choice([1, 2, 3]), controls)
        start = vocabulary.start_tokens() if start_of_text else None
        theirs = by_pynini(language.acceptor, vocabulary.tokens, controls, start)
        try:
            compiled = language.constraint.compile(vocabulary, start_of_text=start_of_text)
        except (tk.EmptyConstraintError, tk.UnspellableError):
            assert theirs.num_states() == 0
            continue
        compared += 1
        assert_same_as_pynini(compiled.token_automaton(), theirs)


LETTERS = [chr(letter) for letter in range(ord("a"), ord("i"))]
WORD = repeated(words(*LETTERS), 1, None)
DIGIT = words(*"0123456789")


def test_pynini_on_two_thousand_tokens() -> None:
    draw = random.Random(7)
    made = {
        "".join(draw.choice([*LETTERS, " ", "é", "1"]) for _ in range(draw.randint(1, 6)))
        for _ in range(3000)
    }
    texts = [*BYTES]
    texts += [text.encode() for text in sorted(made)[: 2000 - len(texts) - 1]] + [None]
    vocabulary = vocabulary_of(texts, [len(texts) - 1])
    assert len(vocabulary) == 2000
    spaced = joined(WORD, any_number(joined(words(" "), WORD)))
    languages = [
        Twice(tk.regex("[a-h]+(?: [a-h]+)*"), spaced),
        Twice(
            tk.regex("(?:[a-h]{1,3}1?){2,5}"),
            repeated(joined(repeated(words(*LETTERS), 1, 3), repeated(words("1"), 0, 1)), 2, 5),
        ),
        Twice(tk.regex("[a-hé]{0,30}"), repeated(words(*LETTERS, "é"), 0, 30)),
        Twice(
            tk.regex("[0-9]{4}(?:-[0-9]{2}){2}"),
            joined(repeated(DIGIT, 4, 4), repeated(joined(words("-"), repeated(DIGIT, 2, 2)), 2, 2)),
        ),
        Twice(tk.choice(sorted(made)[:500]), words(*sorted(made)[:500])),
    ]
    languages.append(languages[0] & languages[1])
    languages.append(languages[2] - languages[4])
    for language in languages:
        automaton = language.constraint.compile(vocabulary).token_automaton()
        assert automaton.states > 1
        assert_same_as_pynini(automaton, by_pynini(language.acceptor, texts, (), None))


# ---- one language, many spellings ---------------------------------------------------------------


def written_otherwise(draw: random.Random, constraint: tk.Constraint, other: tk.Constraint) -> tk.Constraint:
    """The same language by a law of the algebra."""
    return draw.choice(
        [
            constraint | (constraint & other),
            constraint & (constraint | other),
            (constraint & other) | (constraint - other),
            (constraint | other) - (other - constraint),
            constraint + tk.literal(""),
            constraint.repeat(1, 1),
            ~~constraint,
            ~(~constraint | ~constraint),
            constraint & (other | ~other),
            constraint | constraint,
        ]
    )


def test_equal_constraints_have_equal_automata() -> None:
    draw = random.Random(8)
    vocabulary = vocabulary_of([*TEXTS, None], [len(TEXTS)])
    compared = 0
    while compared < 150:
        plain = random_language(draw, draw.choice([1, 2, 3])).constraint
        other = plain
        for _ in range(3):
            other = written_otherwise(draw, other, random_language(draw, 2).constraint)
        try:
            expected = plain.compile(vocabulary).token_automaton()
        except tk.EmptyConstraintError:
            with pytest.raises(tk.EmptyConstraintError):
                other.compile(vocabulary)
            continue
        compared += 1
        found = other.compile(vocabulary).token_automaton()
        assert found == expected
        assert hash(found) == hash(expected)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("(?:a|b)*", "(?:a*b*)*"),
        ("(?:ab)*a?", "(?:a(?:ba)*b?)?"),
        ("a{2,4}", "aaa?a?"),
        ("(?!.*aa)[ab]*", "(?:a(?!a)|b)*"),
        ("[ab]*(?<=a)b", "[ab]*ab"),
        (r"(?:ab|ba)\b", "(?:ab|ba)"),
    ],
)
def test_equal_patterns_have_equal_automata(first: str, second: str, byte_vocabulary: tk.Vocabulary) -> None:
    one, other = (tk.regex(pattern).compile(byte_vocabulary).token_automaton() for pattern in (first, second))
    different = tk.regex(second + "|zz").compile(byte_vocabulary).token_automaton()
    assert one == other != different


# ---- tensors, limits, use -------------------------------------------------------------------------


def test_tensors_step_as_matchers_do() -> None:
    torch = pytest.importorskip("torch", reason="torch comes with the extra transformers")
    draw = random.Random(10)
    for _, compiled, _ in cases(11, 40):
        tensors = compiled.token_automaton().to_torch("cpu")
        matchers = [compiled.matcher() for _ in range(8)]
        states = torch.full((8,), tensors.start)
        for _ in range(6):
            masks, mask_words = tensors.masks(states), tensors.mask_words(states)
            tokens = []
            for row, packed, matcher in zip(masks, mask_words, matchers, strict=True):
                live = bits(matcher.mask)
                assert set(row.nonzero().flatten().tolist()) == live
                assert packed.tolist() == matcher.mask.tolist()
                tokens.append(draw.choice(sorted(live or {0})))
            states = tensors.next_states(states, torch.tensor(tokens))
            for i, token in enumerate(tokens):
                if not matchers[i].advance(token):
                    matchers[i], states[i] = compiled.matcher(), tensors.start


@pytest.mark.parametrize(
    ("pattern", "limit", "value"),
    [
        ("[ab]*a[ab]{12}", "states", 1000),
        ("[ab]*a[ab]{12}", "memory_bytes", 1_000_000),
        ("[ab]*a[ab]{60}", "seconds", 0.1),
        ("[ab]{5000}", "states", 3000),
    ],
)
def test_limits_hold_and_the_constraint_stays_usable(
    pattern: str, limit: str, value: float, byte_vocabulary: tk.Vocabulary
) -> None:
    limits = tk.Limits(**{limit: value})  # type: ignore[arg-type]
    compiled = tk.regex(pattern).compile(byte_vocabulary, limits=limits)
    matcher = compiled.matcher()
    assert matcher.advance(ord("a"))
    before = matcher.mask.copy()
    for _ in range(2):
        with pytest.raises(tk.LimitExceeded) as caught:
            compiled.token_automaton()
        assert (caught.value.limit, caught.value.bound) == (limit, value)
    assert np.array_equal(matcher.mask, before)
    assert matcher.advance(ord("b"))
    assert matcher.text == b"ab"
    assert compiled.matcher().advance(ord("a"))


def test_cancelling(byte_vocabulary: tk.Vocabulary) -> None:
    cancel = tk.CancelToken()
    compiled = tk.regex("[ab]*a[ab]{12}").compile(byte_vocabulary, cancel=cancel)
    cancel.cancel()
    with pytest.raises(tk.Cancelled):
        compiled.token_automaton()


def test_matchers_do_not_mind(byte_vocabulary: tk.Vocabulary) -> None:
    """The closed form in the middle of texts changes nothing, and does not depend on what was visited."""
    compiled = tk.regex("(?:[ab]{1,9}x){1,5}").compile(byte_vocabulary)
    matcher = compiled.matcher()
    first = compiled.token_automaton()
    for byte in b"abxbbx":
        mask = matcher.mask.copy()
        assert compiled.token_automaton() == first
        assert np.array_equal(matcher.mask, mask)
        assert matcher.advance(byte)
    assert first.accepts(matcher.tokens)


def test_what_it_says_about_tokens(byte_vocabulary: tk.Vocabulary) -> None:
    automaton = tk.regex("ab(?:é|漢字)?").compile(byte_vocabulary).token_automaton()
    assert automaton.width == byte_vocabulary.width
    assert automaton.stop_tokens == byte_vocabulary.stop
    twice = [token for token, text in enumerate(byte_vocabulary.tokens) if text == b"ab"]
    assert len(twice) == 2
    assert len({int(automaton.class_of_token[token]) for token in twice}) == 1
    assert all(automaton.class_of_token[token] == -1 for token in byte_vocabulary.stop)
    assert all(
        automaton.class_of_token[token] == -1 for token in range(len(byte_vocabulary), automaton.width)
    )
    assert automaton.name(twice[0]) == "ab"
    assert "漢字" in automaton.to_svg()
