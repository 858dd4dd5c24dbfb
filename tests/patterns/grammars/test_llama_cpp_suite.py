"""llama.cpp's own tests of GBNF: its texts and verdicts, and the rules that it reads."""

from __future__ import annotations

import json
import random
from itertools import product
from typing import Any

import pytest

import tokamata as tk
import tokamata._core as _core
from tests.support.grammars import is_text_of_rules
from tests.support.matchers import step, takes
from tests.support.paths import DATA
from tests.support.vocabularies import BYTE_VOCABULARY, BYTES
from tokamata.patterns.grammars.rules.rule_trees import Choice, Grammar, Node, Reference, Sequence, Terminal

SUITE: dict[str, Any] = json.loads((DATA / "grammars/llama.cpp/grammar_tests.json").read_text("utf-8"))
# Grammars that llama.cpp refuses and we read.
READ = {
    "left_recursion": "rules may begin with themselves",
    "parser 2": "nested counts are numbers",
    "parser 4": "counts are numbers, up to a million",
    "parser 5": "counts are numbers, up to a million",
    "parser 6": "counts are numbers, up to a million",
}
# The numbers of control tokens, then bytes.
FIRST_BYTE = 1100
WITH_CONTROL = tk.Vocabulary.load(
    [None] * FIRST_BYTE + [*BYTES, None],
    stop=FIRST_BYTE + 256,
    control_tokens={f"<{number}>": number for number in (*range(10, 22), 1000, 1001, 1002)},
)


def tokens_of(text: str | list[str | int]) -> list[int]:
    """A text that may have control tokens, in tokens of :data:`WITH_CONTROL`."""
    pieces = [text] if isinstance(text, str) else text
    return [
        token
        for piece in pieces
        for token in ([piece] if isinstance(piece, int) else [FIRST_BYTE + byte for byte in piece.encode()])
    ]


@pytest.mark.parametrize("case", SUITE["grammars"], ids=lambda case: case["name"])
def test_its_verdicts_are_ours(case: dict[str, Any]) -> None:
    matcher = tk.grammar(case["grammar"], syntax="gbnf").compile(WITH_CONTROL).matcher()
    assert [text for text in case["accepted"] if not takes(matcher, tokens_of(text))] == []
    assert [text for text in case["rejected"] if takes(matcher, tokens_of(text))] == []


@pytest.mark.parametrize("case", SUITE["refused"], ids=lambda case: case["name"])
def test_what_it_refuses_is_refused(case: dict[str, Any]) -> None:
    if any(case["name"].startswith(name) for name in READ):
        tk.grammar(case["grammar"], syntax="gbnf").compile(BYTE_VOCABULARY)
        return
    with pytest.raises(tk.GrammarError):
        tk.grammar(case["grammar"], syntax="gbnf", start=case.get("start"))


def test_rules_that_begin_with_themselves_have_their_texts() -> None:
    accepted = [
        ["a", "aaa"],
        ["a", "aa"],
        ["a", "cb", "cbdb", "adb"],
        ["a", "blahadb", "eb", "blahblahadbdb"],
    ]
    for case, texts in zip(SUITE["refused"][2:6], accepted, strict=True):
        matcher = tk.grammar(case["grammar"], syntax="gbnf").compile(BYTE_VOCABULARY).matcher()
        assert case["name"].startswith("left_recursion")
        assert [text for text in texts if not takes(matcher, text.encode())] == []
        assert [text for text in ["", "b", "ad", "ab"] if takes(matcher, text.encode())] == []


def rules_of(case: dict[str, Any]) -> Grammar:
    """The rules that llama.cpp reads, as it writes them: see ``about`` in the data."""
    return Grammar({str(number): _body(rule) for number, rule in enumerate(case["rules"])}, str(case["root"]))


def _body(elements: list[list[Any]]) -> Node:
    alternatives: list[list[Node]] = [[]]
    place = 0
    while place < len(elements):
        kind, *values = elements[place]
        place += 1
        if kind == "alt":
            alternatives.append([])
        elif kind == "rule_ref":
            alternatives[-1].append(Reference(str(values[0])))
        else:  # a set of characters, whose name is an expression of re, which is_text_of_rules reads
            inside = _escaped(values[0])
            while place < len(elements) and elements[place][0] in ("char_alt", "char_rng_upper"):
                inside += "-" * (elements[place][0] == "char_rng_upper") + _escaped(elements[place][1])
                place += 1
            name = f"[{'^' if kind == 'char_not' else ''}{inside}]"
            alternatives[-1].append(Terminal(name, _core.literal(b"")))
    return Choice(tuple(Sequence(tuple(items)) for items in alternatives))


def _escaped(character: str) -> str:
    return f"\\u{ord(character):04x}"


@pytest.mark.parametrize(
    "case",
    [case for case in SUITE["read"] if "token" not in str(case["rules"])],
    ids=lambda case: case["name"],
)
def test_a_grammar_has_the_texts_of_the_rules_that_it_reads(case: dict[str, Any]) -> None:
    rules = rules_of(case)
    matcher = tk.grammar(case["grammar"], syntax="gbnf").compile(BYTE_VOCABULARY).matcher()
    letters = "ab1z" if len(rules.rules) < 6 else "a1=+\n"
    for text in map("".join, (text for size in range(5) for text in product(letters, repeat=size))):
        assert takes(matcher, text.encode()) == is_text_of_rules(rules, text), text
    draw = random.Random(case["name"])
    for _ in range(10):  # longer ones
        fork = matcher.fork()
        while len(fork.text) < 12 and step(fork, draw):
            pass
        for token in fork.shortest_completion():
            assert fork.advance(token)
        assert is_text_of_rules(rules, fork.text.decode()), fork.text


def test_control_tokens_are_those_that_it_reads() -> None:
    (case,) = (case for case in SUITE["read"] if "token" in str(case["rules"]))
    assert case["rules"] == [[["token", 1000], ["token_not", 1001], ["token", 1001]]]
    matcher = tk.grammar(case["grammar"], syntax="gbnf").compile(WITH_CONTROL).matcher()
    for between in [[], ["a"], [1000], [1001], [1002], ["ab"]]:
        assert takes(matcher, tokens_of([1000, *between, 1001])) == (between in (["a"], [1000], [1002]))


def test_the_suite_is_complete() -> None:
    texts = sum(len(case["accepted"]) + len(case["rejected"]) for case in SUITE["grammars"])
    assert (len(SUITE["grammars"]), texts, len(SUITE["refused"]), len(SUITE["read"])) == (14, 139, 13, 17)
