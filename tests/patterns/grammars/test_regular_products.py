"""Grammars and regular constraints: what both have, and what one has and the other has not."""

from __future__ import annotations

import random
import re
from functools import cache, partial
from itertools import product

import pytest

import tokamata as tk
import tokamata._core as _core
from tests.support.grammars import has_text_in, random_small_grammar, short_texts, show
from tests.support.masks import allowed
from tests.support.matchers import is_text_of, takes, write
from tests.support.paths import DATA
from tests.support.vocabularies import BYTE_VOCABULARY, bytes_and
from tokamata.automata import Acceptor
from tokamata.constraints.constraint import Constraint
from tokamata.patterns.grammars import lower_grammar
from tokamata.patterns.grammars.rules.elimination import eliminated
from tokamata.patterns.grammars.rules.rule_trees import Grammar
from tokamata.resources.limits import Watch
from tokamata.values.forms import Plain

VOCABULARY = tk.Vocabulary.load([b"a", b"b", b"ab", b"ba", b"aab", b"bb", None], stop=6)
NESTED = tk.grammar('start: "(" start ")" | "x"')
SYNCODE = DATA / "grammars" / "syncode"


class Machine:
    """A random deterministic automaton over two letters, as a constraint and as an acceptor."""

    def __init__(self, draw: random.Random) -> None:
        size = draw.randint(1, 4)
        self.steps = [{byte: draw.randrange(size + 1) for byte in b"ab"} for _ in range(size)]  # size: dead
        self.accepting = {state for state in range(size) if draw.random() < 0.5}

    def constraint(self) -> Constraint[str]:
        edges: list[dict[int, _core.Expression]] = []
        for steps in self.steps:
            targets: dict[int, list[bytes]] = {}
            for byte, to in steps.items():
                if to < len(self.steps):
                    targets.setdefault(to, []).append(bytes([byte]))
            edges.append({to: _core.union(list(map(_core.literal, texts))) for to, texts in targets.items()})
        return Constraint(eliminated(edges, self.accepting, Watch()), "machine", form=Plain())

    def after(self, text: bytes, is_outside: bool) -> Acceptor:
        """The texts that begin so and that it has; or that it has not."""
        size = len(self.steps)
        arcs = [(at, byte, to) for at, steps in enumerate(self.steps) for byte, to in steps.items()]
        arcs += [(size, byte, size) for byte in b"ab"]
        at = 0
        for byte in text:
            at = self.steps[at][byte] if at < size else size
        arcs += [(size + 1 + i, byte, size + 2 + i) for i, byte in enumerate(text[:-1])]
        start = at
        if text:
            arcs.append((size + len(text), text[-1], at))
            start = size + 1
        accepting = (set(range(size + 1)) - self.accepting) if is_outside else self.accepting
        return Acceptor.from_transitions(arcs, sorted(accepting), start, size + 1 + len(text))


def as_constraint(grammar: Grammar) -> Constraint[str]:
    return Constraint(lower_grammar(grammar, Watch()), "grammar", form=Plain())


@pytest.mark.parametrize("seed", range(8))
def test_masks_have_the_tokens_that_lead_to_a_text_of_both(seed: int) -> None:
    """Of any length: where each rule may lead the automaton is computed by a fixed point in Python."""
    draw = random.Random(seed)
    compared = 0
    for _ in range(30):
        grammar = random_small_grammar(draw, draw.randint(2, 6), draw.randint(1, 3))
        machine, is_outside = Machine(draw), draw.random() < 0.5
        rules, regular = as_constraint(grammar), machine.constraint()
        both = rules - regular if is_outside else rules & regular
        shown = (show(grammar), machine.steps, machine.accepting, is_outside)
        limits = tk.Limits(states=20_000)
        if not has_text_in(grammar, machine.after(b"", is_outside)):
            with pytest.raises(tk.EmptyConstraintError):
                both.compile(VOCABULARY, limits=limits)
            assert both.shortest_text(limits=limits) is None, shown
            assert rules.is_subset_of(regular) if is_outside else True, shown
            continue
        compiled = both.compile(VOCABULARY, limits=limits)
        leads_on = cache(partial(_leads_on, grammar, machine, is_outside))
        for length in range(3):
            for tokens in product(range(6), repeat=length):
                text = b"".join(VOCABULARY.tokens[token] or b"" for token in tokens)
                expected = {
                    token for token, more in enumerate(VOCABULARY.tokens) if more and leads_on(text + more)
                }
                matcher = compiled.matcher()
                if not all(map(matcher.advance, tokens)):
                    assert not leads_on(text), (shown, text)
                    continue
                assert allowed(matcher) - {6} == expected, (shown, text)
                compared += 1
        texts = [text for text in short_texts(grammar, 6) if _has(machine, text) != is_outside]
        if texts:
            found = both.shortest_text(limits=limits)
            assert found == min(texts, key=lambda text: (len(text), text)), shown
    assert compared > 10


def _leads_on(grammar: Grammar, machine: Machine, is_outside: bool, text: bytes) -> bool:
    return has_text_in(grammar, machine.after(text, is_outside))


def _has(machine: Machine, text: str) -> bool:
    at = 0
    for byte in text.encode():
        if at < len(machine.steps):
            at = machine.steps[at][byte]
    return at in machine.accepting


@pytest.mark.parametrize(
    ("pattern", "text", "dead"),
    [
        (r"[(x]*", "x", "("),
        (r"\(*x\)?", "(x)", "(("),
        (r"(\(\()*x\)*", "((x))", "((("),
        (r"[(]{3}.*", "(((x)))", "x"),
    ],
)
def test_what_has_no_end_is_not_begun(pattern: str, text: str, dead: str) -> None:
    """After ``dead``, each further bracket leads to a new state, and none of them has a text."""
    both = (NESTED & tk.regex(pattern)).compile(
        bytes_and(b"((", b"(x", b"x)"), limits=tk.Limits(states=5_000)
    )
    assert takes(both.matcher(), text.encode())
    assert not all(map(both.matcher().advance, dead.encode())) or not takes(both.matcher(), dead.encode())
    matcher = both.matcher()
    write(matcher, text[: len(text) // 2])
    for token in allowed(matcher) - {BYTE_VOCABULARY.width}:
        fork = matcher.fork()
        if fork.advance(token) and not fork.is_finished:
            assert fork.shortest_completion() is not None


def test_no_text_is_an_error_that_ends() -> None:
    for pattern in (r"[(x]*y", r"\)*", r"\(*x\)\)\)\)\(.*"):
        with pytest.raises(tk.EmptyConstraintError):
            (NESTED & tk.regex(pattern)).compile(BYTE_VOCABULARY, limits=tk.Limits(states=50_000, seconds=10))


def test_a_deep_stack_is_measured_from_its_end() -> None:
    """Twenty thousand brackets, an even number of them."""
    matcher = (NESTED & tk.regex(r"(\(\()*x\)*")).compile(BYTE_VOCABULARY).matcher()
    write(matcher, b"(" * 20_001)
    assert allowed(matcher) == {ord("(")}
    write(matcher, b"(x" + b")" * 20_002)
    assert matcher.is_accepting


def test_inclusion_of_a_grammar_in_a_regular_constraint() -> None:
    assert NESTED.is_subset_of(tk.regex(r"\(*x\)*"))
    answer = NESTED.is_subset_of(tk.regex(r"(\(\()*x\)*"))
    assert not answer
    assert answer.witness == "(x)"


def test_a_program_without_a_word_and_of_some_length() -> None:
    program = tk.grammar(SYNCODE / "c.lark")
    short = (program - tk.regex(r"(?s:.*)while(?s:.*)")) & tk.regex(r"(?s:.{1,60})")
    assert is_text_of(short, "int main() { return 0; }")
    assert not is_text_of(short, "int main() { while (1 < 2) { } return 0; }")
    assert is_text_of(program, "int main() { while (1 < 2) { } return 0; }")
    assert not is_text_of(short, "int main() { " + "a = 1; " * 10 + "return 0; }")


def test_a_budget_holds_within_both() -> None:
    both = tk.grammar(SYNCODE / "json.lark") & tk.regex(r'(?s:.*)"name"(?s:.*)')
    matcher = both.compile(BYTE_VOCABULARY).matcher()
    draw = random.Random(5)
    for left in range(30, 0, -1):
        row = matcher.mask.copy()
        matcher.fill_mask(row, budget=left)
        tokens = [token for token in range(256) if row[token // 32] >> (token % 32) & 1]
        if not tokens:
            break
        assert matcher.advance(draw.choice(tokens))
    assert matcher.is_accepting
    assert re.search('"name"', matcher.text.decode())


def test_two_grammars_meet_a_limit() -> None:
    """Whether two grammars have a text in common is undecidable; a search that finds none ends at a limit."""
    other = tk.grammar('start: "(" start ")" | "(" "x"')
    with pytest.raises(tk.LimitExceeded):
        (NESTED & other).compile(BYTE_VOCABULARY, limits=tk.Limits(states=2_000))
    assert is_text_of(NESTED & tk.grammar('start: "(" start ")" ")" | "x" | "(" start ")"'), "((x))")


def test_that_two_grammars_exclude_each_other_is_seen_where_one_only_ends_with_itself() -> None:
    """Such a one is a repetition."""
    other = tk.grammar('start: "(" start | ")" start | "y"')
    with pytest.raises(tk.EmptyConstraintError):
        (NESTED & other).compile(BYTE_VOCABULARY, limits=tk.Limits(states=2_000))
