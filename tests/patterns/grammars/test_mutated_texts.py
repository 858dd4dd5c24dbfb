"""Texts that differ by one byte from a good one: accepted exactly where the judge of the lexer accepts."""

from __future__ import annotations

import random
from functools import cache

import pytest

import tokamata as tk
from tests.support.grammars import is_text_of_rules
from tests.support.lark_grammars import Judge, judge_of
from tests.support.matchers import takes
from tests.support.mutations import CASES, mutated
from tests.support.paths import DATA, ROOT
from tests.support.vocabularies import BYTE_VOCABULARY
from tokamata.patterns.grammars import read_gbnf
from tokamata.resources.limits import Watch

FOLDER = DATA / "grammars"
LEXERS = ("dynamic", "basic", "contextual")
LARK = {
    "syncode/json.lark": ['{"a": [1, -2.5e3, true], "b": {"c": null}}', '["\\u00e9\\n", ""]', " [ ]"],
    "syncode/calc.lark": ["1 + 2*(3 - 4.5)/7", "((2))*3\n+2", "(1)", "1.5e3-2"],
    "syncode/tiny.lark": ["ccdcd", "dd", "cdd"],
    "syncode/c.lark": [
        "int main() { return 0; }",
        "int f(int a) { if (a == 1) { a = a + 1; } /* b */ return a; }",
        "char c(int a) { char s = 1; while (a < 2) { a = g(1, -a) * (s / 2); } return s; }",
    ],
    "query.lark": [
        "SELECT * FROM painters;",
        "SELECT name, born FROM painters WHERE born >= 1900 AND (country = 'it' OR name <> 'x');",
        "SELECT country FROM painters ORDER BY born DESC;",
    ],
}
GBNF = {
    "llguidance/json.gbnf": ['{"a": [1, -2.5e3, true], "b": null}', '{"": ["\\u00e9"]}'],
    "llguidance/arithmetic.gbnf": ["1+2=x\n", "(1*x)-2=(3)\ny=1\n"],
    "llguidance/list.gbnf": ["- one\n- two\n"],
    "llguidance/chess.gbnf": ["1. e4 e5\n2. Nf3 Nc6\n"],
    "transformers-cfg/geo_query.ebnf": ["answer(population_1(largest(state(all))))", "answer(state(all))"],
    "transformers-cfg/balanced_parentheses.ebnf": ["((()))"],
}


@cache
def _source(name: str) -> str:
    path = ROOT / "examples" / name if name == "query.lark" else FOLDER / name
    return path.read_text("utf-8")


def _differences(
    compiled: tk.CompiledConstraint, is_text: Judge, texts: list[str], seed: str, cases: int
) -> list[tuple[bytes, bool]]:
    """What the engine and the judge do not agree about; a text that is no UTF-8 is none of a grammar."""
    assert all(map(is_text, texts))
    draw = random.Random(seed)
    mutations = [text.encode() for text in texts]
    mutations += [mutated(draw.choice(texts).encode(), draw) for _ in range(cases)]
    found = []
    for data in mutations:
        try:
            expected = is_text(data.decode())
        except UnicodeDecodeError:
            expected = False
        if takes(compiled.matcher(), data) != expected:
            found.append((data, expected))
    return found


@pytest.mark.parametrize("lexer", LEXERS)
@pytest.mark.parametrize("name", LARK)
def test_lark_judges(name: str, lexer: str) -> None:
    source = _source(name)
    compiled = tk.grammar(source, lexer=lexer).compile(BYTE_VOCABULARY)  # type: ignore[arg-type]
    cases = CASES // (5 if name == "syncode/c.lark" else 2)
    assert _differences(compiled, judge_of(source, lexer), LARK[name], f"{name} {lexer}", cases) == []


@pytest.mark.parametrize(
    ("language", "lexer"),
    [
        ("json", "dynamic"),
        ("json", "contextual"),
        ("c", "dynamic"),
        ("c", "contextual"),
        ("java", "dynamic"),
        ("java", "contextual"),
    ],
)
def test_programs(language: str, lexer: str) -> None:
    """The texts that the benchmarks write, some 1,000 bytes each."""
    source = _source(f"syncode/{language}.lark")
    text = (ROOT / "benchmarks" / "grammars" / "texts" / f"{language}.txt").read_text("utf-8")
    compiled = tk.grammar(source, lexer=lexer).compile(BYTE_VOCABULARY)  # type: ignore[arg-type]
    cases = CASES // (8 if lexer == "contextual" else 80)
    assert _differences(compiled, judge_of(source, lexer), [text], f"{language} {lexer}", cases) == []


@pytest.mark.parametrize("name", GBNF)
def test_a_slow_recognizer_judges(name: str) -> None:
    rules = read_gbnf(_source(name), "root", 1000, Watch())
    compiled = tk.grammar(_source(name), syntax="gbnf").compile(BYTE_VOCABULARY)

    def is_text(text: str) -> bool:
        return is_text_of_rules(rules, text)

    assert _differences(compiled, is_text, GBNF[name], name, CASES // 5) == []
