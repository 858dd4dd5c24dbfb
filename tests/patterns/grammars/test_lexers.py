"""Lexers: which texts a grammar has under each, judged by lark and by a lexer of thirty lines."""

from __future__ import annotations

import random
import re
from itertools import product

import lark
import pytest

import tokamata as tk
from tests.support.lark_grammars import judge_of, random_lark
from tests.support.masks import allowed
from tests.support.matchers import accepts, takes
from tests.support.vocabularies import BYTE_VOCABULARY, bytes_and

TEXTS = ["".join(text) for size in range(5) for text in product("abc ", repeat=size)]
LEXERS = ["dynamic", "basic", "contextual", "longest"]


def texts_of(grammar: str, lexer: str, texts: list[str]) -> set[str]:
    """Those of some texts that the constraint accepts."""
    try:
        compiled = tk.grammar(grammar, lexer=lexer).compile(BYTE_VOCABULARY)  # type: ignore[arg-type]
    except tk.EmptyConstraintError:
        return set()
    return {text for text in texts if takes(compiled.matcher(), text.encode())}


@pytest.mark.parametrize("has_looks", [False, True])
@pytest.mark.parametrize("seed", range(10))
def test_random_grammars_have_the_texts_of_their_lexer(seed: int, has_looks: bool) -> None:
    draw = random.Random(seed)
    judged = 0
    for _ in range(6):
        grammar = random_lark(draw, has_looks)
        for lexer in LEXERS[:3] if has_looks else LEXERS:  # compilers' lexers have no lookaround to judge by
            try:
                judge = judge_of(grammar, lexer)
            except Exception:  # lark refuses some of these grammars, with errors of many types
                continue
            expected = {text for text in TEXTS if judge(text)}
            assert texts_of(grammar, lexer, TEXTS) == expected, f"{lexer}\n{grammar}"
            judged += 1
    assert judged >= 5


@pytest.mark.parametrize("seed", range(2))
def test_terminals_that_are_read_and_ignored(seed: int) -> None:
    draw = random.Random(seed)
    judged = 0
    texts = TEXTS if seed else [*TEXTS, *map("".join, product("ab", repeat=6))]
    for _ in range(6):
        grammar = random_lark(draw, has_looks=False, ignores_read=True)
        for lexer in LEXERS:
            try:
                judge = judge_of(grammar, lexer)
            except Exception:  # lark refuses some of these grammars, with errors of many types
                continue
            expected = {text for text in texts if judge(text)}
            assert texts_of(grammar, lexer, texts) == expected, f"{lexer}\n{grammar}"
            judged += 1
    assert judged >= 10


READ_AND_IGNORED = [
    "start: T T\nT: /a+/\n%ignore T",
    "start: U | T T\nT: /b+/\nU: /a/\n%ignore T",
    "start: T\nT: /a+/\n%ignore T",
    'start: "b" T "b" T?\nT: /a+/\n%ignore T',
    "start: T U\nT: /a+/\nU: /b+/\n%ignore T\n%ignore U",
    "start: T T U\nT: /(?:a|b)+/\nU: /c/\n%ignore T\n%ignore U\n%ignore / +/",
    'start: "a" "a"\n%ignore "a"',
    "start: T T\nT: /ab?/\n%ignore T\n%ignore /b+/",
]


@pytest.mark.parametrize("grammar", READ_AND_IGNORED)
@pytest.mark.parametrize("lexer", ["characters", *LEXERS])
def test_what_is_read_and_ignored_is_not_divided(grammar: str, lexer: str) -> None:
    """Under "dynamic" it is read whole or ignored whole; ``parse`` agrees."""
    judge = judge_of(grammar, lexer)
    expected = {text for text in TEXTS if judge(text)}
    assert texts_of(grammar, lexer, TEXTS) == expected
    if lexer == "dynamic":
        constraint = tk.grammar(grammar)
        for text in TEXTS[:100]:
            try:
                constraint.parse(text)
            except tk.ParseError:
                assert text not in expected
            else:
                assert text in expected


KEYWORDS = 'start: "if" NAME | NAME "=" NAME\nNAME: /[a-z]+/\n%ignore " "'
COMMENTS = "start: W+\nW: /[a-z]+/\n%ignore /\\/\\*.*?\\*\\//s\n%ignore /[ \\n]+/"


@pytest.mark.parametrize(
    ("grammar", "lexer", "accepted", "refused"),
    [
        (KEYWORDS, "characters", ["ifx", "if=x", "if x", " x = y "], ["if", "x"]),
        (KEYWORDS, "dynamic", ["ifx", "if=x", "if x", "iff=y"], ["x y"]),
        (KEYWORDS, "basic", ["if x", "iff=y"], ["ifx", "if=x"]),
        (KEYWORDS, "contextual", ["if x", "iff=y"], ["ifx", "if=x"]),
        (KEYWORDS, "longest", ["if x", "iff=y"], ["ifx", "if=x"]),
        *((COMMENTS, lexer, ["x /* a */ y", "/**/x"], ["x /* a */ ??? */"]) for lexer in LEXERS),
        (COMMENTS, "characters", ["x /* a */ ??? */"], []),
        ("start: A\nA: /a|ab/", "characters", ["a", "ab"], []),
        ("start: A\nA: /a|ab/", "dynamic", ["a"], ["ab"]),
        ("start: A\nA: /a|ab/", "longest", ["a", "ab"], []),
        # Several tokens must be read back: llguidance remembers no longest match.
        *(
            ("start: (A|B|C)+\nA: /aaa/\nB: /a+b+z/\nC: /b+x/", lexer, ["aaabbx", "aaabbz"], ["aaabb"])
            for lexer in ["characters", *LEXERS]
        ),
        *(
            ('start: N ".." N | N "." N\nN: /\\d+(\\.\\d+)?/', lexer, ["1..2", "1.2.3", "1.5.2"], ["1.2"])
            for lexer in LEXERS
        ),
    ],
)
def test_a_grammar_denotes_what_its_lexer_says(
    grammar: str, lexer: str, accepted: list[str], refused: list[str]
) -> None:
    assert texts_of(grammar, lexer, accepted + refused) == set(accepted)


@pytest.mark.parametrize(
    ("grammar", "accepted", "refused"),
    [
        # A keyword is a name where no keyword is expected.
        ('start: "def" NAME\nNAME: /[a-z]+/\n%ignore " "', ["def x", "def def", "defx"], ["def"]),
        ('start: "x" | "y" "if" NAME\nNAME: /[a-z]+/\n%ignore " "', ["yifx", "y ifif"], ["yif"]),
        # LALR merges the states after b and d, so a name is looked for there in both.
        ('start: "a" x "b" | "c" x "d"\nx: N\nN: /[a-d]/', ["aab", "cad"], ["aad", "cab"]),
        # "a" is a T at the end alone; what is read alike is united, and still told apart from the start.
        ('start: T | "a" T "a"\nT: /(?:[ab]){1,2}?/', ["aba", "aaa", "b"], ["a", "aa"]),
        # A parser that always shifts never comes to the middle of a palindrome.
        ('start: "a" start "a" | "b" start "b" |', [""], ["aa", "abba", "ab"]),
        # ... and an else for the nearest if alone, which is the same language.
        ('start: "i" start | "i" start "e" start | "s"', ["iises", "iiseses", "s"], ["ise", "iesse"]),
    ],
)
def test_contextual_lexers_look_for_what_the_parser_expects(
    grammar: str, accepted: list[str], refused: list[str]
) -> None:
    judge = judge_of(grammar, "contextual")
    assert [judge(text) for text in accepted + refused] == [True] * len(accepted) + [False] * len(refused)
    assert texts_of(grammar, "contextual", accepted + refused) == set(accepted)


def test_a_grammar_that_is_not_lalr_is_refused() -> None:
    with pytest.raises(tk.GrammarError, match=r"cannot tell a from b before the end.*\n.*") as caught:
        tk.grammar('start: a | b\na: "x"\nb: "x"', lexer="contextual")
    assert "lexer='basic'" in str(caught.value)


def test_texts_that_differ_in_case_alone_are_told_apart() -> None:
    """Only the first that matches gives its name to what an expression has read."""
    grammar = 'start: NAME ("do" | "Do"i | "k"i "x") NAME\nNAME: /[^ ]+/\n%ignore " "'
    texts = [f"a {word} b" for word in ["do", "Do", "dO", "DO", "k x", "K x", "\u212a x", "kx"]]
    judge = judge_of(grammar, "basic")
    assert texts_of(grammar, "basic", texts) == {text for text in texts if judge(text)}


@pytest.mark.parametrize("lexer", LEXERS)
def test_lexing_that_leads_nowhere_is_never_offered(lexer: str) -> None:
    """X takes every b.  llguidance's first mask never returns, and glrmask offers b for ever."""
    with pytest.raises(tk.EmptyConstraintError):
        tk.grammar("start: X Y\nX: /ab*/\nY: /b/", lexer=lexer).compile(BYTE_VOCABULARY)  # type: ignore[arg-type]


def test_the_mask_knows_that_a_name_would_read_on() -> None:
    """After a name only a blank can lead to another name, also within one token."""
    vocabulary = bytes_and(b"ab", b"a b", b"a ")
    matcher = tk.grammar('start: N N\nN: /[ab]+/\n%ignore " "').compile(vocabulary).matcher()
    assert matcher.advance(ord("a"))
    assert {vocabulary[token] for token in allowed(matcher)} == {b"a", b"b", b" ", b"ab", b"a b", b"a "}
    assert not matcher.is_accepting
    assert matcher.advance(ord("b"))
    assert matcher.shortest_completion() == [257]  # "a b"


def test_the_report_names_the_lexer() -> None:
    assert tk.grammar('start: "a"').report()[0].reason.startswith("dynamic:")
    assert tk.grammar('root ::= "a"', syntax="gbnf").report()[0].reason.startswith("characters:")
    with pytest.raises(tk.ArgumentError):
        tk.grammar('root ::= "a"', syntax="gbnf", lexer="dynamic")


@pytest.mark.parametrize("lexer", ["dynamic", "basic", "longest"])
def test_a_thousand_keywords(lexer: str) -> None:
    """Texts compete where one begins with the other: not each with each."""
    words = " | ".join(f'"w{number}"' for number in range(1_000))
    source = f"start: word word?\nword: {words}"
    constraint = tk.grammar(source, lexer=lexer)  # type: ignore[arg-type]
    judge = judge_of(source, lexer)
    for text in ("w7", "w77", "w7w7", "w7w77", "w777", "w7777", "w1w1w1", "w", "w100w2"):
        assert accepts(constraint, text) == judge(text), text


@pytest.mark.parametrize("lexer", ["dynamic", "basic", "contextual"])
def test_the_report_names_terminals_that_no_text_contains(lexer: str) -> None:
    """Against the tokens of lark's trees, for all short texts."""
    named = 0
    for seed in range(60):
        source = random_lark(random.Random(seed), has_looks=False)
        try:
            grammar = tk.grammar(source, lexer=lexer)  # type: ignore[arg-type]
            parser = lark.Lark(
                source,
                parser="lalr" if lexer == "contextual" else "earley",
                lexer=lexer,  # type: ignore[arg-type]
                keep_all_tokens=True,
            )
        except (tk.TokamataError, lark.exceptions.LarkError):
            continue
        unread = {entry.keyword.removeprefix("terminal ") for entry in grammar.report()[1:]}
        assert unread <= {f"T{number}" for number in range(3)} | set(re.findall(r'"\w+"i?', source))
        named += len(unread)
        shown = {
            found.name: found.name
            if found.name.startswith("T")
            else f'"{found.pattern.value}"{"".join(found.pattern.flags)}'
            for found in parser.terminals
        }
        for text in map("".join, (letters for n in range(5) for letters in product("abc ", repeat=n))):
            try:
                tokens = parser.parse(text).scan_values(lambda value: isinstance(value, lark.Token))
            except (lark.exceptions.LarkError, RuntimeError):
                continue
            assert not unread & {shown[token.type] for token in tokens}, (source, text)
    assert named > 2


def test_an_empty_grammar_names_the_terminals() -> None:
    with pytest.raises(tk.EmptyConstraintError) as caught:
        tk.grammar("start: X Y\nX: /ab*/\nY: /b/", lexer="longest").compile(BYTE_VOCABULARY)
    assert str(caught.value).endswith("contains these terminals under lexer='longest': X, Y")
