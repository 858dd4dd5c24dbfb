"""What is said about grammars that a newcomer gets wrong: where, what is wrong, and what to do next."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import lark
import pytest

import tokamata as tk
from tests.support.grammars import short_texts, show, small_grammars
from tests.support.lark_grammars import judge_of
from tests.support.vocabularies import BYTE_VOCABULARY
from tokamata.patterns.grammars.diagnosis.unproductive import rules_without_texts

# A grammar, the line and the column of the fault, and words of the reason and of the hint.
Case = tuple[str, int, int, str, str]

WHOLE: list[tuple[Any, Case]] = [
    ("lark", ('root ::= "a" | [0-9]+', 1, 6, "this is GBNF", "pass syntax='gbnf'")),
    ("lark", ('# c\nroot ::= ws "a"\nws ::= [ \\t]*', 2, 6, "this is GBNF", "pass syntax='gbnf'")),
    ("lark", ('start: x\nx ::= "a"', 2, 3, "'::=' defines rules of GBNF", "write x: …")),
    ("gbnf", ('start: "a"', 1, 6, "this is a Lark file", "leave out syntax='gbnf'")),
    ("gbnf", ('?start: a\na.2: /x/', 1, 7, "this is a Lark file", "leave out syntax='gbnf'")),
    ("gbnf", ('%import common.WS\nstart: WS', 1, 1, "this is a Lark file", "leave out syntax='gbnf'")),
    ("gbnf", ('root ::= x\nx: "a"', 2, 2, "':' defines rules of Lark", "write ::= here")),
    ("lark", ("examples/query.lark", 1, 1, "the path of a file", "pathlib.Path('examples/query.lark')")),
    ("lark", ("my grammars/g.gbnf", 1, 1, "the path of a file", "pathlib.Path('my grammars/g.gbnf')")),
    ("lark", ("~/g.lark", 1, 1, "the path of a file", "pathlib.Path('~/g.lark').expanduser()")),
    ("gbnf", ("C:\\g\\json.gbnf", 1, 1, "the path of a file", "pathlib.Path(")),
    ("lark", ('{"type": "object"}', 1, 1, "looks like JSON", "tk.json_schema")),
    ("gbnf", ('{"type": "object"}', 1, 1, "looks like JSON", "tk.json_schema")),
    ("lark", ("[a-z]+", 1, 1, "there is no rule here", "tk.regex takes a regular expression")),
    ("lark", ('<start> ::= <x>\n<x> ::= "a"', 1, 1, "BNF", "write start: …")),
    ("gbnf", ('<root> ::= "a"', 1, 1, "BNF", "write root ::= …")),
    ("lark", ('start = "a" / "b"\nb = %x41', 1, 7, "ABNF", "write start: …, and | between")),
    ("gbnf", ('root = "a" / 1*DIGIT', 1, 6, "ABNF", "write root ::= …, and | between")),
    ("lark", ('start := "a"', 1, 7, "':=' defines no rule", "write start: …")),
    ("lark", ('start -> "a"', 1, 7, "'->' defines no rule", "write start: …")),
    ("gbnf", ('root -> "a"', 1, 6, "'->' defines no rule", "write root ::= …")),
    ("lark", ("grammar G;\nexpr : term ;", 1, 1, "a grammar of ANTLR", "without ';'")),
    ("gbnf", ("expr : term ;\nterm : 'a' ;", 1, 13, "no ';' ends a rule", "without ';'")),
    ("lark", ('start : "a" ;', 1, 13, "no ';' ends a rule", "without ';'")),
]  # fmt: skip

LARK: list[Case] = [
    # rules and names
    ('start "a"', 1, 7, "':' is expected here, after start", "write start: …"),
    ('start:: "a"', 1, 6, "'::' defines no rule", "write start: …"),
    ("start: a", 1, 8, "there is no rule 'a'", "define it: a: …"),
    ("start: A", 1, 8, "there is no terminal 'A'", "define it: A: /…/"),
    ('start: "b" b\n', 1, 12, "there is no rule 'b'", "define it"),
    ("start: item\nitems: /a/", 1, 8, "there is no rule 'item'", "or is it items?"),
    ("start: NAME\nname: /a/", 1, 8, "there is no terminal 'NAME'", "there is name: names of rules"),
    ("start: name\nNAME: /a/", 1, 8, "there is no rule 'name'", "there is NAME: names of rules"),
    ("start: WS", 1, 8, "there is no terminal 'WS'", "import it: %import common.WS"),
    ("start: A\nA: B\n", 2, 4, "there is no terminal 'B'", "define it"),
    ('Start: "a"', 1, 1, "the name 'Start' is in upper and lower case", "write start for a rule"),
    ("start: Name\nName: /a/", 2, 1, "the name 'Name' is in upper", "NAME for a terminal"),
    ('start: x1\n1x: "a"', 2, 1, "'1x' is no name", "rename it"),
    ('expr: "a"', 1, 1, "there is no rule 'start'", "pass start='expr'"),
    ('start{x}: "a" x', 1, 1, "'start' is a template", "define a rule that uses it"),
    ('start: "a"\nstart: "b"', 2, 1, "the rule 'start' is defined twice", "join them by |"),
    ("start: A\nA: /a/\nA: /b/", 3, 1, "the terminal 'A' is defined twice", "remove one"),
    ("start: S\n?S: /a/\n", 2, 1, "? stands before rules, not before terminals", "write S: …"),
    ("start: S\n!S: /a/\n", 2, 1, "! stands before rules, not before terminals", "write S: …"),
    ('start: a.2\na: "c"', 1, 9, "a priority stands where the name is defined", "name.2"),
    ('start.x: "a"', 1, 7, "a priority is a number", "write start.2: …"),
    ("class Foo: pass", 1, 7, "the name 'Foo' is in upper", "write foo"),
    # terminals
    ('start: A\nA: b\nb: "x"', 2, 4, "the terminal A is made of the rule b", "define B: …"),
    ('start: A\nA: A "x" | "y"', 2, 1, "the terminal A is made of itself", "write it as a rule"),
    ('start: "a" A\nA: /a*/', 2, 1, "the terminal A accepts the empty text", "at least one character"),
    ('start: ""', 1, 8, "the empty text is no terminal", "leave it out"),
    ('start: A\nA: "a" -> x', 2, 8, "a terminal has no names for alternatives", "leave it out"),
    # texts and expressions
    ("start: 'a'", 1, 8, "texts stand in double quotes", 'write "a"'),
    ("start: “a”", 1, 8, "texts stand in double quotes", 'write "a"'),
    ('start: "a" b"\nb: "c"', 1, 13, "no closing quote on its line", 'write \\"'),
    ('start: "a\nb: "c"', 1, 8, "no closing quote on its line", 'write \\"'),
    ('start: /a\nb: "c"', 1, 8, "no closing slash on its line", "write \\/"),
    ("start: \\d+", 1, 8, "an expression stands between slashes", "/\\d+/"),
    ("start: [0-9]+", 1, 8, "[…] is an optional item", "write /[0-9]/"),
    ('start: "x" [a-z]+', 1, 12, "[…] is an optional item", "write /[a-z]/"),
    ("start: [^,]", 1, 8, "[…] is an optional item", "write /[^,]/"),
    ("start: [\\d]", 1, 8, "[…] is an optional item", "write /[\\d]/"),
    ("start: /a\n/", 1, 8, "an expression has a line break", "write \\n"),
    ("start: /a/q", 1, 11, "'q' is no flag of an expression", "the flags are"),
    ('start: "z".."a"', 1, 8, 'the range "z".."a" ends before it begins', 'write "a".."z"'),
    ('start: "aa".."b"', 1, 8, "a range is of two texts of one character", 'write "a".."z"'),
    # groups and repetition
    ("start: (a\na: /x/", 1, 8, "this group is never closed", "close it by ')'"),
    ("start: a [b", 1, 10, "this group is never closed", "close it by ']'"),
    ("start: a)\na: /x/", 1, 9, "no group is open", "remove it"),
    ('start: *"a"', 1, 8, "nothing stands before *", "write it after an item"),
    ('start: "a"+ +', 1, 13, "nothing stands before +", "write it after an item"),
    ('start: "a"~3..1', 1, 11, "the lower bound 3 is above", "write ~1..3"),
    ('start: {"a"}', 1, 8, "{ begins no item", "write (…)*"),
    ('start: "a", "b"', 1, 11, "without commas", "leave it out"),
    ('start: "a"; x: "c"', 1, 11, "no ';' ends a rule", "leave it out"),
    ('start: "a" = "b"', 1, 12, "'=' defines no rule", "write ':'"),
    ('start: !"a"', 1, 8, "! stands before the name of a rule", "leave it out"),
    ('start: ("a" -> foo | "b")', 1, 13, "-> cannot stand in a group", "outside of groups"),
    ('start: "a" -> \nb: "c"', 1, 15, "a name in lower case is expected after ->", "write -> name"),
    ('start:\n  "a"\n', 2, 3, "a rule or a terminal is expected here", "let the line begin with |"),
    ('start: x{"a", "b"}\nx{y}: y', 1, 8, "the template x is given 2 arguments", "for each parameter"),
    # directives
    ("%import common.NUMBR\nstart: NUMBR", 1, 16, "the grammar common has no terminal 'NUMBR'", "NUMBER"),
    ("%import common (WS, NUMBR)\nstart: NUMBR", 1, 21, "common has no terminal 'NUMBR'", "NUMBER"),
    ("%import comon.NUMBER\nstart: NUMBER", 1, 1, "comon.lark cannot be imported", "is it common?"),
    ("%import NUMBER\nstart: NUMBER", 1, 9, "no name is imported from NUMBER", "common.NUMBER"),
    ("import common.NUMBER\nstart: NUMBER", 1, 1, "import is a directive", "write %import"),
    ('%ignore WS\nstart: "a"', 1, 9, "there is no terminal 'WS' to be ignored", "%import common.WS"),
    ('%ignore ws\nstart: "a"\nws: " "', 1, 9, "%ignore takes terminals", "WS: …"),
    ('%ignore: " "\nstart: "a"', 1, 8, "a terminal is expected after %ignore", "write %ignore"),
    ('%skip " "\nstart: "a"', 1, 1, "there is no %skip", "the directives are %import"),
    ('%imports common.WS\nstart: "a"', 1, 1, "there is no %imports", "write %import"),
    ('%json {"type": "string"}', 1, 1, "%json stands in the body of a rule", "write start: %json {…}"),
    ("start: %json {type: string}", 1, 15, "a JSON object is expected here", "in double quotes"),
]

GBNF: list[Case] = [
    ("root ::= 'a'", 1, 10, "texts stand in double quotes", 'write "a"'),
    ("root ::= “a”", 1, 10, "texts stand in double quotes", 'write "a"'),
    ("root ::= [\\d]+", 1, 11, "there is no escape \\d", "write [0-9]"),
    ("root ::= [\\w.]+", 1, 11, "there is no escape \\w", "write a-zA-Z0-9_ in the set"),
    ("root ::= [\\S]", 1, 11, "there is no escape \\S", "write [^ \\t\\r\\n]"),
    ('root ::= "\\d"', 1, 11, "there is no escape \\d", "write [0-9] outside of the text"),
    ('root ::= "\\q"', 1, 11, "there is no escape \\q", "write \\\\ for a backslash"),
    ("root ::= \\d+", 1, 10, "an escape stands in a text or in a set", "[0-9]"),
    ("root ::= /[0-9]+/", 1, 10, "no expressions between slashes", "[0-9]+"),
    ('root ::= "a" // c', 1, 14, "a comment begins with #", "write # …"),
    ('root ::= "a" / "b"', 1, 14, "'/' separates no alternatives", "write |"),
    ('root ::= "a" ;', 1, 14, "no ';' ends a rule", "without ';'"),
    ('root ::= "a", "b"', 1, 13, "without commas", "leave it out"),
    ('root ::= "a" -> x', 1, 14, "alternatives have no names", "leave it out"),
    ('root ::= ^"a"$', 1, 10, "^ stands in a set alone", "leave it out"),
    ("root ::= [[:alpha:]]", 1, 20, "sets have no named classes", "[a-zA-Z]"),
    ("root ::= [z-a]", 1, 10, "the range z-a is upside down", "write a-z"),
    ('root ::= [my-rule]\nmy-rule ::= "a"', 1, 10, "upside down", "write my-rule for the rule"),
    ("root ::= item", 1, 10, "there is no rule 'item'", "define it: item ::= …"),
    ('root ::= my-rule\nmy_rule ::= "a"', 1, 10, "there is no rule 'my-rule'", "or is it my_rule?"),
    ('start ::= "a"', 1, 1, "there is no rule 'root'", "pass start='start'"),
    ('root "a"', 1, 6, "'::=' is expected here, after root", "write root ::= …"),
    ('root ::= "a" ::= "b"', 1, 10, "the name of a rule is expected here", "begins with its name"),
    ('root ::= "a', 1, 10, "no closing quote", 'write \\"'),
    ("root ::= [a", 1, 10, "no ']' on its line", "write \\["),
    ('root ::= ("a"', 1, 10, "this group is never closed", "close it by ')'"),
    ('root ::= "a")', 1, 13, "no group is open", "remove it"),
    ('root ::= {"a"}', 1, 10, "nothing stands before", "write (…)* to repeat a group"),
    ('root ::= "a"{x}', 1, 13, "these are no bounds", "{2,5}"),
    ("root ::= <think", 1, 10, "no closing '>'", "write <name>"),
    ("root ::= %x41", 1, 10, "no codes after %", "\\x41"),
    ("root ::= @x", 1, 10, "no constraint can be named here", "@name"),
    ('root ::= ~"a"', 1, 10, "no operators here", "Lark"),
]

OF_LARK = ("Token(", "NonTerminal", "__ANON", "used but not defined", "Unexpected", "unexpected", "Error")


def check(error: tk.GrammarError, case: Case) -> None:
    _, line, column, reason, hint = case
    assert reason in error.reason, error
    assert hint in error.hint, error
    assert (error.line, error.column) == (line, column), error
    assert not any(word in str(error) for word in OF_LARK), error
    shown = str(error).split("\n")
    assert shown[2].index("^") - 4 == min(column - 1, len(shown[1]) - 4)  # the caret


@pytest.mark.parametrize(("syntax", "case"), WHOLE)
def test_a_text_of_another_kind_is_named(syntax: Any, case: Case) -> None:
    with pytest.raises(tk.GrammarError) as caught:
        tk.grammar(case[0], syntax=syntax)
    check(caught.value, case)


@pytest.mark.parametrize("case", LARK, ids=[case[0] for case in LARK])
def test_mistakes_in_lark_files(case: Case) -> None:
    with pytest.raises(tk.GrammarError) as caught:
        tk.grammar(case[0])
    check(caught.value, case)


@pytest.mark.parametrize("case", GBNF, ids=[case[0] for case in GBNF])
def test_mistakes_in_gbnf(case: Case) -> None:
    with pytest.raises(tk.GrammarError) as caught:
        tk.grammar(case[0], syntax="gbnf")
    check(caught.value, case)


def test_a_path_is_read() -> None:
    """What looks like a path is refused as a text alone."""
    with pytest.raises(FileNotFoundError):
        tk.grammar(Path("examples/none.lark"))


@pytest.mark.parametrize(
    ("end", "shown"), [('"+"', '"+"'), ('"if"', '"if"'), ('"use("', "one of its texts"), ("END", "END")]
)
def test_conflicts_show_what_the_file_writes(end: str, shown: str) -> None:
    source = f'start: a {end} | b {end}\na: "x"\nb: "x"\nEND: /e/'
    with pytest.raises(tk.GrammarError) as caught:
        tk.grammar(source, lexer="contextual")
    assert caught.value.reason == f"lark's LALR parser cannot tell a from b before {shown}"
    assert (caught.value.line, caught.value.column) == (2, 1)


# ---- expressions in terminals ----


@pytest.mark.parametrize(
    ("source", "line", "column", "reason"),
    [
        ('start: "b" /a*/', 1, 12, "/a*/ accepts the empty text"),
        ("start: X\nX: /a(b/", 2, 6, "/a(b/ is no regular expression: missing )"),
        ("start: X\nX: /(a)\\1/", 2, 8, "the terminal X is /(a)\\1/: backreference"),
        ("start: /a(?>b)/", 1, 10, "/a(?>b)/: atomic group"),
    ],
)
@pytest.mark.parametrize("lexer", ["characters", "dynamic", "basic", "contextual", "longest"])
def test_mistakes_in_expressions(source: str, line: int, column: int, reason: str, lexer: Any) -> None:
    with pytest.raises(tk.GrammarError) as caught:
        tk.grammar(source, lexer=lexer)
    assert caught.value.reason.startswith(reason)
    assert (caught.value.line, caught.value.column) == (line, column)
    assert "__ANON" not in str(caught.value)


# ---- grammars without texts ----

CALLS = """
// a comment
start: one (";" one)*
one: NEW " = " VALUE | "use("i NAME ")"
NEW: NAME
NAME: /[a-z_][a-z0-9_]*/i
VALUE: /[a-z0-9_]+/i
"""


def refusal(source: str, lexer: Any) -> str:
    with pytest.raises(tk.EmptyConstraintError) as caught:
        tk.grammar(source, lexer=lexer).compile(BYTE_VOCABULARY)
    return str(caught.value)


def test_texts_stand_in_place_of_names_that_lark_gives() -> None:
    said = refusal(CALLS, "basic").split("\n")
    assert "'grammar(start: one (\";\" one)* …)'" in said[0]
    assert said[1] == (
        'the rules alone accept "a = 0", but the lexer reads "a" as NAME where they need "a" as NEW'
    )
    assert said[2].endswith('under lexer=\'basic\': NAME, NEW, ")", ";", VALUE, " = ", "use("i')
    assert len(said) == 3


XY = "start: X Y\nX: /ab*/\nY: /b/"


@pytest.mark.parametrize(
    ("source", "lexer", "expected"),
    [
        (XY, "longest", 'accept "ab", but the lexer reads "ab" as X where they need "a" as X'),
        (XY, "basic", 'accept "ab", but the lexer reads "ab" as X where they need "a" as X'),
        (XY, "dynamic", 'accept "ab", but the lexer reads "ab" as X where they need "a" as X'),
        ("start: T T\nT: /a+/\n%ignore T", "dynamic", 'reads "aa" as T where they need "a" as T'),
        ('start: "a" /a./', "basic", 'reads "aa" as /a./ where they need "a" as "a"'),
        ('start: "\\n" /\\n./s', "longest", 'reads "\\n\\n" as /\\n./s where they need "\\n" as "\\n"'),
        (
            'start: X "b"\nX: /a(?!b)/',
            "dynamic",
            'accept "ab", but the lexer reads nothing where they need "a"',
        ),
    ],
)
def test_what_the_lexer_reads_is_told(source: str, lexer: Any, expected: str) -> None:
    assert expected in refusal(source, lexer)


@pytest.mark.parametrize("source", ['start: "a" b\nb: b "c"', "start: A\nA: /a(?!.?)/ /b/"])
def test_rules_without_texts_have_nothing_that_is_read_wrongly(source: str) -> None:
    assert "the rules alone" not in refusal(source, "basic")


@pytest.mark.parametrize("lexer", ["basic", "longest", "dynamic"])
def test_what_is_told_is_so(lexer: Any) -> None:
    """Of pairs of terminals: the rules alone have the text, and lark's lexer reads what is told."""
    told = 0
    for first, second in product(["a+", "ab?", "ab*?", "[ab]", "b", '"b"', '"ab"'], repeat=2):
        source = f"start: X Y\nX: {written(first)}\nY: {written(second)}"
        try:
            tk.grammar(source, lexer=lexer).compile(BYTE_VOCABULARY)
        except tk.EmptyConstraintError as error:
            reads = r'the rules alone accept "(.*)", but the lexer reads (?:nothing|"(.*)" as (\S+)) where'
            found = re.search(reads, str(error))
            assert found is not None, source
            told += 1
            assert judge_of(source, "characters")(found[1])
            assert not judge_of(source, lexer)(found[1])
            if lexer == "basic":
                assert (found[2], found[3]) in read_by_lark(source, found[1])
    assert told >= 3


def written(pattern: str) -> str:
    return pattern if pattern.startswith('"') else f"/{pattern}/"


def read_by_lark(source: str, text: str) -> set[tuple[str | None, str | None]]:
    """The texts of the tokens of lark's basic lexer, with their names; of an error, two ``None``."""
    parser = lark.Lark(source, parser="earley", lexer="basic")
    read: set[tuple[str | None, str | None]] = set()
    try:
        for token in parser.lex(text):
            read.add((str(token), token.type))
    except lark.UnexpectedCharacters:
        read.add((None, None))
    return read


@pytest.mark.parametrize(
    ("source", "syntax", "rules"),
    [
        ('start: "a" start', "lark", "start"),
        ('start: "b" item\nitem: "(" item ")" | item', "lark", "start, item"),
        ('root ::= "a" b "c"\nb ::= "x" c\nc ::= b+ | [a-z] b\nd ::= d', "gbnf", "root, b, c"),
        ("root ::= [] x\nx ::= [a]", "gbnf", "root"),
    ],
)
def test_rules_without_texts_are_named(source: str, syntax: Any, rules: str) -> None:
    with pytest.raises(tk.EmptyConstraintError) as caught:
        tk.grammar(source, syntax=syntax).compile(BYTE_VOCABULARY)
    assert f"\nthese rules have no text, whatever the lexer: {rules}; a rule that needs itself" in str(
        caught.value
    )


@pytest.mark.parametrize("size", [3, 4])
def test_rules_without_texts_of_all_small_grammars(size: int) -> None:
    """The start has none if it has no short text; what is named with it has none either."""
    for found in small_grammars(size, 2):
        named = rules_without_texts(found)
        assert bool(named) == (not short_texts(found, 6)), show(found)
        for rule in named:
            assert not short_texts(replace(found, start=rule), 6), show(found)


# ---- reports ----


def test_rules_that_are_never_used_are_reported() -> None:
    source = 'root ::= [sign] digit\nsign ::= "-"\ndigit ::= [0-9]\nlast ::= sign'
    entries = {entry.keyword: entry.reason for entry in tk.grammar(source, syntax="gbnf").report()}
    assert entries["rule sign"] == (
        "it is never used: the start rule 'root' does not lead to it; "
        "[sign] is one of the characters s, i, g, n"
    )
    assert entries["rule last"] == "it is never used: the start rule 'root' does not lead to it"
    assert len(entries) == 3


def test_terminals_are_reported_as_the_file_writes_them() -> None:
    source = 'start: NAME | "if" | "use(" "!" | /a./ | IF2\nNAME: /[a-z(]+/\nIF2: /[a-z]{2}/'
    keywords = {entry.keyword for entry in tk.grammar(source, lexer="basic").report()}
    unread = {"terminal /a./", "terminal IF2"}
    assert keywords == {"lexer", *unread}
    assert {entry.keyword for entry in tk.grammar('start: "a" | "(" ")" x\nx: "(" x').report()} == {
        "lexer", 'terminal "("', 'terminal ")"',
    }  # fmt: skip
