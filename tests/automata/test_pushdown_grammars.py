"""Push-down automata of grammars, over tokens: against the engine, and against brute force."""

from __future__ import annotations

import os
import random
from collections.abc import Iterable, Iterator
from itertools import islice, product

import pytest

import tokamata as tk
from tests.support.grammars import (
    has_text_in,
    random_grammar,
    random_small_grammar,
    short_texts,
    show,
    small_grammars,
)
from tests.support.masks import allowed
from tests.support.texts import all_texts
from tokamata.automata import (
    Acceptor,
    DeterministicMatcher,
    PushdownAutomaton,
    PushdownMatcher,
    compose,
    detokenizer,
    invert,
    project,
    remove_epsilon,
    star,
)
from tokamata.constraints.constraint import Constraint
from tokamata.constraints.grammar_automata import pushdown_of
from tokamata.errors import EndlessStackError, NondeterministicError
from tokamata.patterns.grammars import lower_grammar
from tokamata.patterns.grammars.rules.rule_trees import Grammar
from tokamata.resources.limits import Limits, Watch
from tokamata.values.forms import Plain

_CASES = int(os.environ.get("TOKAMATA_CASES", "120"))
# Tokens that cross the borders of rules; the second vocabulary cannot spell every text, nor the third.
VOCABULARIES: list[list[bytes | None]] = [
    [b"a", b"b", b"ab", b"ba", b"aab", b"bb"],
    [b"aa", b"b", b"aba", b"bab"],
    [b"ab", b"ba", b"a"],
]


def over_tokens(grammar: Grammar, tokens: list[bytes | None]) -> PushdownAutomaton:
    return compose(detokenizer(tokens), pushdown_of(grammar, None))


def engine(grammar: Grammar, tokens: list[bytes | None]) -> tk.Matcher | None:
    constraint = Constraint(lower_grammar(grammar, Watch()), "grammar", form=Plain())
    try:
        return constraint.compile(
            tk.Vocabulary.load(tokens, stop=[]), limits=Limits(states=5_000, seconds=1.0)
        ).matcher()
    except (tk.EmptyConstraintError, tk.UnspellableError):
        return None


def compare(grammar: Grammar, tokens: list[bytes | None], longest: int) -> bool:
    """The masks of both, after all tokens that the masks lead to; whether the engine had them.

    Where tokens lack a byte, the engine searches for an end token by token, and may reach its limit.
    """
    try:
        _compare(PushdownMatcher(over_tokens(grammar, tokens)), grammar, tokens, longest)
    except tk.LimitExceeded:
        assert b"b" not in tokens or b"a" not in tokens
        return False
    return True


def _compare(pushdown: PushdownMatcher, grammar: Grammar, tokens: list[bytes | None], longest: int) -> None:
    judge = engine(grammar, tokens)
    if judge is None:
        assert not pushdown.allowed, show(grammar)
        return
    pending = [(0, pushdown, judge)]
    while pending:
        length, ours, theirs = pending.pop()
        assert ours.allowed == allowed(theirs), (show(grammar), theirs.text)
        assert ours.is_accepting == theirs.is_accepting, (show(grammar), theirs.text)
        for token in ours.allowed if length < longest else ():
            after, judged = ours.fork(), theirs.fork()
            assert after.advance(token)
            assert judged.advance(token)
            pending.append((length + 1, after, judged))


@pytest.mark.slow
def test_masks_of_all_smallest_grammars_are_those_of_the_engine() -> None:
    count = 0
    for size, rules in [(1, 1), (2, 1), (3, 1), (4, 1), (1, 2), (2, 2), (3, 2), (1, 3)]:
        for grammar in small_grammars(size, rules):
            count += compare(grammar, VOCABULARIES[0], 2)
    assert count == 2_382


@pytest.mark.parametrize("size", range(3, 7))
def test_masks_of_small_grammars_are_those_of_the_engine(size: int) -> None:
    """Of the grammars with three rules over two letters and a total of six symbols, a share."""
    draw = random.Random(size)
    compared = 0
    for _ in range(_CASES):
        grammar = random_small_grammar(draw, size, draw.randint(1, 3))
        compared += compare(grammar, draw.choice(VOCABULARIES), 3)
    assert compared > 0.9 * _CASES


def test_masks_of_grammars_with_repetitions_are_those_of_the_engine() -> None:
    draw = random.Random(11)
    for _ in range(_CASES):
        compare(random_grammar(draw), draw.choice(VOCABULARIES), 3)


def spelled_after(text: bytes, tokens: Iterable[bytes | None]) -> Acceptor:
    """The texts that begin with ``text`` and go on with any tokens."""
    rest = project(star(invert(detokenizer(list(tokens)))), "input")
    arcs = [(s, symbol, t) for s, symbol, t in rest.transitions]
    states = rest.states
    arcs += [(states + at, byte, states + at + 1) for at, byte in enumerate(text)]
    arcs.append((states + len(text), -1, rest.start))
    return remove_epsilon(Acceptor.from_transitions(arcs, rest.accepting, states, states + len(text) + 1))


def test_masks_of_small_grammars_are_those_of_brute_force() -> None:
    """A token is allowed if the grammar has a text, of any length, that it leads to."""
    draw = random.Random(12)
    for _ in range(max(_CASES // 3, 1)):
        grammar = random_small_grammar(draw, draw.randint(2, 6), draw.randint(1, 3))
        tokens = draw.choice(VOCABULARIES)
        texts = short_texts(grammar, 8)
        first = PushdownMatcher(over_tokens(grammar, tokens))
        for sequence in sequences(len(tokens), 2):
            text = b"".join(tokens[token] or b"" for token in sequence)
            matcher = first.fork()
            is_taken = all(matcher.advance(token) for token in sequence)
            expected = {
                token
                for token, more in enumerate(tokens)
                if more and has_text_in(grammar, spelled_after(text + more, tokens))
            }
            if not is_taken:
                assert not expected, (show(grammar), text)
                continue
            assert matcher.allowed == expected, (show(grammar), text)
            assert matcher.is_accepting == (text.decode() in texts), (show(grammar), text)


def sequences(tokens: int, longest: int) -> Iterator[tuple[int, ...]]:
    for length in range(longest + 1):
        yield from product(range(tokens), repeat=length)


def test_theorem_3() -> None:
    """The composition accepts a sequence of tokens if and only if the grammar has the text they spell."""
    draw = random.Random(13)
    accepted = 0
    for _ in range(_CASES):
        grammar = random_small_grammar(draw, draw.randint(2, 6), draw.randint(1, 3))
        tokens = VOCABULARIES[0]
        texts = short_texts(grammar, 9)
        pushdown = over_tokens(grammar, tokens)
        for sequence in sequences(len(tokens), 3):
            text = b"".join(tokens[token] or b"" for token in sequence).decode()
            assert pushdown.accepts(sequence) == (text in texts), (show(grammar), sequence)
            accepted += text in texts
    assert accepted > _CASES


def test_no_tokenization_is_lost() -> None:
    """The grammar of appendix A.1 of 002, with the token r(4 across three of its parts."""
    tokens = [*(bytes([byte]) for byte in b"fobar(123456)"), b"foo", b"bar", b"r(4", b"56)", b"(1", b"ba"]
    grammar = tk.grammar(
        """
        start: function "(" number ")"
        function: "foo" | "bar"
        number: "123" | "456"
        """
    )
    pushdown = compose(detokenizer(tokens), grammar.pushdown_automaton())
    matcher = DeterministicMatcher(pushdown)
    engine_matcher = grammar.compile(tk.Vocabulary.load(tokens, stop=[])).matcher()
    for token in (tokens.index(b"ba"), tokens.index(b"r(4"), tokens.index(b"56)")):
        assert matcher.allowed == allowed(engine_matcher)
        assert matcher.advance(token)
        assert engine_matcher.advance(token)
    assert matcher.is_accepting
    ways = {b"": 1}  # of tokenizing each beginning of the text
    for end in range(1, 9):
        text = b"bar(456)"[:end]
        ways[text] = sum(ways[text[: -len(t)]] for t in tokens if text.endswith(t))
    accepted = sum(pushdown.accepts(sequence) for sequence in spellings(tokens, b"bar(456)"))
    assert accepted == ways[b"bar(456)"] > 5


def spellings(tokens: list[bytes], text: bytes) -> Iterator[tuple[int, ...]]:
    if not text:
        yield ()
    for number, token in enumerate(tokens):
        if text.startswith(token):
            yield from ((number, *rest) for rest in spellings(tokens, text[len(token) :]))


def test_deterministic_grammars_need_one_stack() -> None:
    """Where algorithm 3 as printed takes a grammar, it accepts its texts."""
    draw = random.Random(14)
    taken = 0
    for _ in range(2 * _CASES):
        grammar = random_small_grammar(draw, draw.randint(2, 6), draw.randint(1, 3))
        tokens = VOCABULARIES[0]
        pushdown = over_tokens(grammar, tokens)
        try:
            DeterministicMatcher(pushdown, Limits(states=20_000))
        except (EndlessStackError, NondeterministicError):
            continue
        taken += 1
        for sequence in islice(sequences(len(tokens), 3), 80):
            matcher = DeterministicMatcher(pushdown)
            is_taken = all(matcher.advance(token) for token in sequence)
            assert (is_taken and matcher.is_accepting) == pushdown.accepts(sequence), show(grammar)
    assert taken > _CASES // 4


@pytest.mark.parametrize(
    ("source", "lexer"),
    [
        ('start: "if" NAME | NAME "=" NAME\nNAME: /[a-z]+/\n%ignore " "', "dynamic"),
        ('start: "if" NAME | NAME "=" NAME\nNAME: /[a-z]+/\n%ignore " "', "characters"),
        ('start: "if" NAME | NAME "=" NAME\nNAME: /[a-z]+/\n%ignore " "', "longest"),
        ('start: "if" NAME | NAME "=" NAME\nNAME: /[a-z]+/\n%ignore " "', "basic"),
        ('start: start "=" start | "(" start ")" | NAME | /\\/\\*.*?\\*\\//\nNAME: /[a-z]+/', "dynamic"),
        ("start: X Y\nX: /ab*/\nY: /b/", "characters"),
    ],
)
def test_terminals_and_lexers(source: str, lexer: str) -> None:
    """The automaton of a grammar has its lexer in it."""
    grammar = tk.grammar(source, lexer=lexer)  # type: ignore[arg-type]
    tokens = [*(bytes([byte]) for byte in b"ifx= ()*/ab"), b"if ", b" x", b"x=", b"))", b"/*", b"*/"]
    first = PushdownMatcher(compose(detokenizer(tokens), grammar.pushdown_automaton()))
    draw = random.Random(15)
    judge = grammar.compile(tk.Vocabulary.load(tokens, stop=[])).matcher()
    for _ in range(20):
        ours, theirs = first.fork(), judge.fork()
        for _ in range(8):
            assert ours.allowed == allowed(theirs), theirs.text
            assert ours.is_accepting == theirs.is_accepting, theirs.text
            if not ours.allowed:
                break
            token = draw.choice(sorted(ours.allowed))
            assert ours.advance(token)
            assert theirs.advance(token)


def test_rules_in_python_and_gbnf() -> None:
    value = tk.rule("value")
    value.define(tk.regex("[0-9]+") | "[" + value + ("," + value).repeat() + "]")
    gbnf = 'root ::= [0-9]+ | "[" root ("," root)* "]"'
    for grammar in (tk.grammar(value), tk.grammar(gbnf, syntax="gbnf")):
        pushdown = grammar.pushdown_automaton()
        texts = all_texts("[1,]", 5)
        assert [text for text in texts if pushdown.accepts(text)] == [
            "1", "11", "[1]", "111", "[11]", "1111", "[[1]]", "[111]", "[1,1]", "11111",
        ]  # fmt: skip
        DeterministicMatcher(pushdown)


def test_a_grammar_without_texts_and_one_beyond_its_limits() -> None:
    nothing = tk.grammar('start: "(" start ")"').pushdown_automaton()
    assert not nothing.accepts("()")
    assert not PushdownMatcher(nothing).allowed
    large = tk.grammar('root ::= ([a-z] root "x"){50} | "y"', syntax="gbnf")
    with pytest.raises(tk.LimitExceeded):
        large.pushdown_automaton(limits=Limits(states=40))
    with pytest.raises(tk.LimitExceeded):
        large.pushdown_automaton(limits=Limits(seconds=1e-9))
    with pytest.raises(tk.ArgumentError):
        large.pushdown_automaton(limits=5)  # type: ignore[arg-type]


def test_other_constraints_in_a_grammar() -> None:
    digits = tk.grammar('start: "x" @digits start?', constraints={"digits": tk.regex("[0-9]+")})
    pushdown = digits.pushdown_automaton()
    assert [text for text in ("x12", "x1x2", "x", "12") if pushdown.accepts(text)] == ["x12", "x1x2"]
    for source, syntax in (
        ('start: "a" start | %json {"type": "array"}', "lark"),
        ('start: <[0]> "a"', "lark"),
        ('root ::= <[0]> "a"', "gbnf"),
    ):
        with pytest.raises(tk.NotRegularError, match="a push-down automaton over bytes has no JSON"):
            tk.grammar(source, syntax=syntax).pushdown_automaton()  # type: ignore[arg-type]
