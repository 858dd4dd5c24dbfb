"""GBNF: what its syntax means, the grammars of two projects, and what is refused."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

import tokamata as tk
from tests.support.grammars import is_text_of_rules
from tests.support.masks import allowed
from tests.support.matchers import is_text_of
from tests.support.paths import DATA
from tests.support.vocabularies import bytes_and
from tokamata.patterns.grammars import read_gbnf
from tokamata.resources.limits import Watch

FILES = sorted([*(DATA / "grammars").rglob("*.gbnf"), *(DATA / "grammars").rglob("*.ebnf")])


def accepts(source: str, text: str) -> bool:
    return is_text_of(tk.grammar(source, syntax="gbnf"), text)


@pytest.mark.parametrize(
    ("source", "accepted", "refused"),
    [
        ('root ::= "a" "b" | "c"', ["ab", "c"], ["", "a", "abc"]),
        ('root ::= ("a" | "b")* "c"', ["c", "abbac"], ["ab", "ca"]),
        ('root ::= "a"+ "b"? "c"{2} "d"{1,} "e"{1,2}', ["accde", "aabccddee"], ["ccde", "acde", "accdeee"]),
        ('root ::= "a"{,2}', ["", "a", "aa"], ["aaa"]),
        ('root ::= | "a" root', ["", "aaaa"], ["b"]),
        ("root ::= [a-cx-]+", ["abc-x"], ["d", ""]),
        ("root ::= [^a-c\\n]", ["d", "é", "\U0001f600"], ["a", "\n", "", "dd"]),
        ("root ::= .", ["a", "\n", "\U0001f600"], ["", "ab"]),
        (r'root ::= "\"\\\n\t\x41\u00e9\U0001F600"', ['"\\\n\tAé\U0001f600'], ["A"]),
        (r"root ::= [\[\]\\\-^]+", ["[]\\-^"], ["a"]),
        ('root ::= "a" # a comment | "b"\n# another\n  "c"', ["ac"], ["a", "b"]),
        ("root ::= one-two\none-two ::= \"1\"\n  | '2'".replace("'", '"'), ["1", "2"], ["12"]),
        ('root ::= root "+" root | [0-9]', ["1", "1+2+3"], ["1+", "+1", ""]),
        ('root ::= x "a"\nx ::= y?\ny ::= x "b"', ["a", "ba", "bbba"], ["b", "aa"]),
        ('root ::= "a" root "b" | ""', ["", "ab", "aaabbb"], ["aab", "abab"]),
        ('root ::= "é"', ["é"], ["e"]),
    ],
)
def test_the_syntax_means(source: str, accepted: list[str], refused: list[str]) -> None:
    assert [text for text in accepted if not accepts(source, text)] == []
    assert [text for text in refused if accepts(source, text)] == []


@pytest.mark.parametrize(
    ("source", "line", "column", "reason"),
    [
        ("", 1, 1, "no rule 'root'"),
        ('start ::= "a"', 1, 1, "no rule 'root'"),
        ('root ::= "a" b', 1, 14, "no rule 'b'"),
        ('root ::= "a"\nroot ::= "b"', 2, 1, "defined twice"),
        ('root ::= "a', 1, 10, "no closing quote"),
        ("root ::= [a", 1, 10, "no ']'"),
        ('root ::= ("a"\n  ("b" "c")', 1, 10, "never closed"),
        ('root ::= "a")', 1, 13, "no group is open"),
        ("root ::= *", 1, 10, "nothing stands before"),
        ('root ::= "a"{3,2}', 1, 13, "above the upper bound"),
        ('root ::= "a"{x}', 1, 13, "no bounds"),
        ('root ::= "a"{9999999}', 1, 13, "at most 1,000,000"),
        ("root ::= [z-a]", 1, 10, "upside down"),
        (r'root ::= "a\q"', 1, 12, "no escape"),
        (r'root ::= "\uD800"', 1, 11, "surrogate"),
        (r'root ::= "\U00110000"', 1, 11, "not a code point"),
        ('root ::= "a" ;', 1, 14, "no ';' ends a rule"),
        ('root "a"', 1, 6, "'::=' is expected"),
        ('::= "a"', 1, 1, "name of a rule"),
        ('root ::= "a"\n"b" ::= "c"', 2, 1, "name of a rule"),
    ],
)
def test_faults_are_located(source: str, line: int, column: int, reason: str) -> None:
    with pytest.raises(tk.GrammarError) as caught:
        tk.grammar(source, syntax="gbnf")
    assert (caught.value.line, caught.value.column) == (line, column)
    assert reason in caught.value.reason
    assert f"line {line}, column {column}" in str(caught.value)


def test_the_files_are_39() -> None:
    assert len(FILES) == 39


@pytest.mark.parametrize("path", FILES, ids=[path.name for path in FILES])
def test_texts_by_masks_are_texts_of_the_file(path: Path) -> None:
    """Random tokens, then the shortest end; the judge shares nothing with the engine but the reader."""
    rules = read_gbnf(path.read_text("utf-8"), "root", 1000, Watch())
    pieces = [b"  ", b"the", b"(a", b"){", b'":', b'", "', b"1.", b"0)", b"=0\n", b"]]", b"CC", b"))"]
    compiled = tk.grammar(path, syntax="gbnf").compile(bytes_and(*pieces))
    draw = random.Random(path.name)
    for _ in range(3):
        matcher = compiled.matcher()
        for _ in range(draw.randint(0, 30)):
            tokens = sorted(allowed(matcher) - set(compiled.vocabulary.stop))
            if not tokens:
                break
            assert matcher.advance(draw.choice(tokens))
        for token in matcher.shortest_completion():
            assert matcher.advance(token)
        assert matcher.is_accepting
        assert is_text_of_rules(rules, matcher.text.decode()), matcher.text


def test_json_is_what_json_reads() -> None:
    compiled = tk.grammar(DATA / "grammars/llguidance/json.gbnf", syntax="gbnf").compile(
        bytes_and(b'{"', b'":', b'",', b"[1")
    )
    draw = random.Random(5)
    for _ in range(40):
        matcher = compiled.matcher()
        for _ in range(draw.randint(0, 60)):
            tokens = sorted(allowed(matcher) - set(compiled.vocabulary.stop))
            if not tokens:
                break
            assert matcher.advance(draw.choice(tokens))
        for token in matcher.shortest_completion():
            assert matcher.advance(token)
        json.loads(matcher.text)


def test_groups_too_deep_are_refused() -> None:
    for depth in (1_001, 60_000, 1_000_000):  # the text is read up to the first group that is too deep
        with pytest.raises(tk.LimitExceeded) as caught:
            tk.grammar("root ::= " + "(" * depth + '"x"' + ")" * depth, syntax="gbnf")
        assert caught.value.limit == "depth"
    tk.grammar("root ::= " + "(" * 1_000 + '"x"' + ")" * 1_000, syntax="gbnf")
    rules = "".join(f"r{number} ::= (\n" for number in range(2_000))  # none of these groups is in another
    with pytest.raises(tk.GrammarError, match="never closed"):
        tk.grammar(rules, syntax="gbnf")


def test_long_files_are_read_within_limits() -> None:
    text = "root ::= " + '"a" ' * 1_000_000
    with pytest.raises(tk.LimitExceeded, match="seconds"):
        tk.grammar(text, syntax="gbnf", limits=tk.Limits(seconds=0.05))
    cancel = tk.CancelToken()
    cancel.cancel()
    with pytest.raises(tk.Cancelled):
        tk.grammar(text, syntax="gbnf", cancel=cancel)


def test_nested_counts_are_numbers() -> None:
    """llama.cpp and its converters unroll them: 10^12 items."""
    source = "root ::= (((((([^x]*){0,99}){0,99}){0,99}){0,99}){0,99}){0,99}"
    assert accepts(source, "abc" * 100)
    assert not accepts(source, "abx")


def test_many_options_are_one_automaton() -> None:
    source = "root ::= " + " | ".join(f'"option {number}"' for number in range(20_000))
    matcher = tk.grammar(source, syntax="gbnf").compile(bytes_and(b"option ")).matcher()
    assert allowed(matcher) == {ord("o"), 256}
    assert matcher.forced_text() == b"option "


def test_arguments_are_checked(tmp_path: Path) -> None:
    with pytest.raises(tk.ArgumentError, match="syntax"):
        tk.grammar('root ::= "a"', syntax="bnf")  # type: ignore[arg-type]
    with pytest.raises(tk.ArgumentError, match="source"):
        tk.grammar(5, syntax="gbnf")  # type: ignore[arg-type]
    with pytest.raises(FileNotFoundError):
        tk.grammar(tmp_path / "missing.gbnf", syntax="gbnf")
    assert is_text_of(tk.grammar('main ::= "a"', syntax="gbnf", start="main"), "a")


def test_a_grammar_without_texts_is_refused() -> None:
    with pytest.raises(tk.EmptyConstraintError):
        tk.grammar('root ::= "(" root ")"', syntax="gbnf").compile(bytes_and())


def test_grammars_join_the_algebra() -> None:
    sums = tk.grammar('root ::= root "+" root | [0-9]', syntax="gbnf")
    assert is_text_of(tk.literal("=") + sums, "=1+2")
    assert is_text_of(sums | tk.literal("none"), "none")
    assert not is_text_of(tk.literal("=") + sums, "=1+")
