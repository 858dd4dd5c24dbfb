"""One program, whatever runs it: the match of a random expression that ``re`` prefers.

Each expression is compiled for all four users: for the splitter, as a named group; for the backtracker, as a
pattern of bytes; as threads, for a lexer; and as an automaton of a pre-tokenizer.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Callable, Iterator

import pytest

import tokamata as tk
from tests.support.repair.byte_patterns import patterns_of, places
from tokamata.errors import UnsupportedTokenizerError
from tokamata.patterns.grammars.lexer.linear_matching import LinearPattern
from tokamata.patterns.regex.parser import parse
from tokamata.patterns.regex.program import Compiler, Program, threads_at
from tokamata.resources.limits import Watch
from tokamata.tokenization.pretokenizers.matching import DEAD, matching
from tokamata.tokenization.pretokenizers.regex import classes_of, compile_regex
from tokamata.values.groups import groups_of

LETTERS = "abc"
ATOMS = ["a", "b", "c", "ab", "[ab]", "[^a]", "."]
ASSERTIONS = ["(?=a)", "(?![bc])", "(?!a)", "$"]
QUANTIFIERS = ["*", "+", "?", "{2}", "{1,2}", "{0,3}", "{2,}", "*?", "+?", "??", "{1,2}?", "{0,2}?", "{1,}?"]

Match = Callable[[str], "int | None"]  # where the match ends that begins at the start of a text


def expression(draw: random.Random, depth: int) -> str:
    kind = draw.randrange(10) if depth else 0
    if kind <= 2:
        return draw.choice(ATOMS)
    if kind <= 5:
        return "".join(expression(draw, depth - 1) for _ in range(draw.randint(1, 3)))
    if kind == 6:
        return f"(?:{'|'.join(expression(draw, depth - 1) for _ in range(draw.randint(2, 3)))})"
    if kind <= 8:
        return f"(?:{expression(draw, depth - 1)}){draw.choice(QUANTIFIERS)}"
    return draw.choice(ASSERTIONS)


def by_groups(pattern: str) -> Match:
    whole = f"(?P<match>{pattern})(?s:.*)"

    def end(text: str) -> int | None:
        if not re.fullmatch(whole, text):
            return None
        found = groups_of(whole, 0, "python", text.encode(), tk.Limits(), None)["match"]
        return None if found is None else len(found)

    return end


def by_bytes(pattern: str) -> Match | None:
    found = patterns_of([pattern.encode()])
    if found.others:
        return None
    return lambda text: next((end for _, begin, end in places(found, text.encode()) if begin == 0), None)


def by_threads(pattern: str) -> Match:
    linear = LinearPattern("X", pattern, 0, Watch(tk.Limits()))

    def end(text: str) -> int | None:
        found = linear.match(text)
        return None if found is None else found.end()

    return end


def by_automaton(pattern: str) -> Match | None:
    try:
        program = compile_regex(pattern)
        classes = classes_of(program)
        members = {one: [re.fullmatch(one, letter) is not None for letter in LETTERS] for one in classes}
        found = matching(program, members, len(LETTERS))
    except UnsupportedTokenizerError:  # it matches the empty text
        return None

    def end(text: str) -> int | None:
        state, last = 0, None
        for at, symbol in enumerate([*map(LETTERS.index, text), len(LETTERS)]):
            if found.marks[state][symbol]:
                last = at
            state = found.targets[state][symbol]
            if state == DEAD:
                break
        return last

    return end


def executors(pattern: str) -> Iterator[tuple[str, Match]]:
    for name, made in (
        ("groups", by_groups(pattern)),
        ("bytes", by_bytes(pattern)),
        ("threads", by_threads(pattern)),
        ("automaton", by_automaton(pattern)),
    ):
        if made is not None:
            yield name, made


@pytest.mark.parametrize("seed", range(4))
def test_every_executor_finds_the_match_of_re(seed: int) -> None:
    draw, ran = random.Random(seed), Counter[str]()
    for _ in range(200):
        pattern = expression(draw, 3)
        judge = re.compile(pattern)
        texts = ["".join(draw.choices(LETTERS, k=draw.randint(1, 6))) for _ in range(8)]
        for name, end in executors(pattern):
            ran[name] += 1
            for text in texts:
                expected = judge.match(text)
                assert end(text) == (None if expected is None else expected.end()), (name, pattern, text)
    assert min(ran.values()) > 60
    assert len(ran) == 4


def test_the_order_of_threads() -> None:
    """``(?:ab|a)*?c``: leaving first, then the alternatives in their order."""
    program = Program()
    compiler = Compiler(program)
    compiler.write(parse("(?:ab|a)*?c", keeps_groups=True).root)
    code = program.ended()

    def read(place: int) -> tuple[tuple[int, int], ...]:
        return list(program.sets)[code[place].number]  # type: ignore[return-value]

    found = [place for place, _ in threads_at(code, [0], True, lambda place, state: state)]
    assert [read(place) for place in found] == [((99, 99),), ((97, 97),), ((97, 97),)]
    assert found[1] < found[2]


def test_repetitions_of_nothing_are_bounded() -> None:
    """Each nested turn of nothing has an instruction, so that the bound on instructions bounds the work."""
    tree = parse("(?:(?:(?:){1000}){1000}){1000}", keeps_groups=True)
    with pytest.raises(tk.LimitExceeded):
        Compiler(Program(2_000)).write(tree.root)
