"""Lark files beyond lark: operators on terminals, embedded constraints, control tokens, attributes."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator

import pytest

import tokamata as tk
from tests.support.masks import allowed
from tests.support.matchers import is_text_of, step, takes
from tests.support.texts import all_texts
from tests.support.vocabularies import BYTE_VOCABULARY

TOKENS: list[bytes | None] = [*(bytes([i]) for i in range(256)), b"ab", None, None, None]
THINK, END_THINK = 258, 259
CONTROL = "\0"  # stands for a control token in the texts of the judge
VOCABULARY = tk.Vocabulary.load(TOKENS, stop=257, control_tokens={"<think>": THINK, "</think>": END_THINK})


def tokens_of(parts: list[str | int]) -> Iterator[int]:
    for part in parts:
        if isinstance(part, int):
            yield part
        else:
            yield from part.encode()


def matcher_of(source: str, **options: object) -> tk.Matcher:
    return tk.grammar(source, **options).compile(VOCABULARY).matcher()  # type: ignore[arg-type]


# ---- terminals with operators ----

# A formula and what it means: by expressions of re over whole texts.
FORMULAS = {
    "/[ab]+/ & /.*a/": lambda text: re.fullmatch("[ab]*a", text),
    "/[abc]+/ - /.*b.*/": lambda text: re.fullmatch("[ac]+", text),
    "/[abc]+/ & ~/.*b.*/": lambda text: re.fullmatch("[ac]+", text),
    '"a" | /[bc]+/ & /[cb]/': lambda text: re.fullmatch("[abc]", text),
    '("a" | /[bc]+/) & /.{2}/': lambda text: re.fullmatch("[bc]{2}", text),
    '/a/ /b/? & ~"ab"': lambda text: text == "a",
    '~"a"+ & /[ab]{1,3}/': lambda text: re.fullmatch("[ab]{1,3}", text) and text != "a",
    '(/[ab]/ - "b"){2,} "c"~1..2': lambda text: re.fullmatch("a{2,}c{1,2}", text),
    '/[abc]{3}/ - "abc" - "cba"': lambda text: re.fullmatch("[abc]{3}", text) and text not in ("abc", "cba"),
    '("a".."b")* "c" & /[ac]+/': lambda text: re.fullmatch("a*c", text),
    '%regex {"substring_chunks": ["a", "bc", "a"]} & /.+/': lambda text: (
        text in ("a", "bc", "abc", "bca", "abca")
    ),
}


@pytest.mark.parametrize("formula", FORMULAS)
@pytest.mark.parametrize("lexer", ["characters", "dynamic", "basic", "longest"])
def test_operators_mean_those_of_sets(formula: str, lexer: str) -> None:
    matcher = matcher_of(f"start: T\nT: {formula}\n", lexer=lexer)
    for text in all_texts("abc", 4):
        if text:
            assert takes(matcher, text.encode()) == bool(FORMULAS[formula](text)), text


@pytest.mark.parametrize("formula", ['/[ab]+/ - ("ab" | "b" | "aba")', '/[ab]+/ & ~("ab" | "b" | "aba")'])
@pytest.mark.parametrize("lexer", ["dynamic", "longest"])
def test_a_terminal_with_operators_takes_its_longest_text(lexer: str, formula: str) -> None:
    """The judge cuts names off from left to right."""

    def is_list(text: str) -> bool:
        while text:
            names = [text[:end] for end in range(1, len(text) + 1) if re.fullmatch("[ab]+", text[:end])]
            names = [name for name in names if name not in ("ab", "b", "aba")]
            if not names and text[0] != "c":
                return False
            text = text[len(max(names, key=len)) if names else 1 :]
        return True

    matcher = matcher_of(f'start: (NAME | "c")*\nNAME: {formula}\n', lexer=lexer)
    verdicts = [is_list(text) for text in all_texts("abc", 6)]
    assert [takes(matcher, text.encode()) for text in all_texts("abc", 6)] == verdicts
    assert 100 < sum(verdicts) < len(verdicts) - 100


@pytest.mark.parametrize("is_first", [True, False])
def test_terminals_with_operators_keep_their_place_in_the_file(is_first: bool) -> None:
    """Under "longest", the first of two terminals with the same longest text is read."""
    lines = ["KEY: /[ab]{2}/ & /a./", "NAME: /[ab]+/"]
    source = 'start: KEY "!" | NAME "?"\n' + "\n".join(lines if is_first else lines[::-1]) + "\n"
    matcher = matcher_of(source, lexer="longest")
    texts = ["ab!", "aab!", "ab?", "aab?"]
    assert [takes(matcher, text.encode()) for text in texts] == [is_first, False, not is_first, True]


def test_a_terminal_may_be_made_of_others_with_operators() -> None:
    source = """
        start: WORD+
        WORD: SMALL "!"
        SMALL: LETTERS & ~/.*x.*/
        LETTERS: /[a-z]+/
        %ignore " " - "  "
    """
    for text, is_text in [("ab!", True), ("ab! c!", True), ("axb!", False), ("ab", False), ("ab!cd!", True)]:
        assert is_text_of(tk.grammar(source), text) == is_text


# ---- repetitions and names ----


@pytest.mark.parametrize(
    ("bounds", "counts"),
    [
        ("{2}", [2]),
        ("{1,3}", [1, 2, 3]),
        ("{,2}", [0, 1, 2]),
        ("{2,}", [2, 3, 4, 5]),
        ("{0,}", [0, 1, 2, 3, 4, 5]),
        ("{1,}", [1, 2, 3, 4, 5]),
    ],
)
@pytest.mark.parametrize("item", ["item", '("a" | "b")', "ITEM", "/[ab]/"])
def test_braces_repeat(bounds: str, counts: list[int], item: str) -> None:
    source = f'start: item-s "." // end\nitem-s: {item}{bounds}\nitem: ITEM\nITEM: "a" | "b"\n'
    matcher = matcher_of(source)
    assert [n for n in range(6) if takes(matcher, b"abab"[:n] + b"a" * max(n - 4, 0) + b".")] == counts


def test_lark_still_parses_what_only_repeats() -> None:
    tree = tk.grammar("start: item{2,3}\nitem: /[ab]/\n").parse("ab")
    assert [child.children for child in tree.children] == [["a"], ["b"]]
    assert tk.grammar("start: T\nT: /a+/ & /.{2}/\n").parse("aa").children == ["aa"]


# ---- embedded constraints ----


def test_any_constraint_by_its_name() -> None:
    word = tk.regex(r"(?!if\b)[a-z]+")
    point = tk.json_schema(
        {
            "type": "object",
            "properties": {"x": {"type": "integer"}},
            "required": ["x"],
            "additionalProperties": False,
        }
    )
    nested = tk.grammar('start: "(" start ")" | "x"')
    source = """
        start: NAME "=" (@word | @point | @nested) ";"
        NAME: /[a-z]+/
        %ignore " "
    """
    constraint = tk.grammar(source, constraints={"word": word, "point": point, "nested": nested})
    for text, is_text in [
        ("a = b;", True),
        ("a = if;", False),
        ("a = iff ;", True),
        ('a={"x": 1} ;', True),
        ('a={"x": "1"};', False),
        ("a=((x));", True),
        ("a=((x);", False),
    ]:
        assert is_text_of(constraint, text) == is_text, text


def test_a_name_does_not_end_within_embedded_letters() -> None:
    """The terminal before looks into what is embedded, as into any text."""
    source = 'start: NAME @rest\nNAME: /[a-z]+/\n%ignore " "\n'
    rest = {"rest": tk.regex("[a-z0-9]+")}
    for lexer in ("dynamic", "basic", "longest"):
        matcher = matcher_of(source, lexer=lexer, constraints=rest)
        for text in all_texts("a1 ", 4):
            expected = re.fullmatch(r" *a+(?: +[a1]+|1[a1]*) *", text) is not None
            assert takes(matcher, text.encode()) == expected, (lexer, text)


@pytest.mark.parametrize(
    ("rules", "expected"),
    [
        ("start: NAME rest\nrest: @item\nNAME: /a+/", "a+b[ab]*"),
        ("start: NAME rest\nrest: other | @item\nother: NAME\nNAME: /a+/", "a+b[ab]*"),
        ("start: NAME rest\nrest: <think>\nNAME: /a(?=b)/", "never"),
        ("start: NAME rest\nrest: <think>\nNAME: /a(?!b)/", f"a{CONTROL}"),
        ("start: <think> NAME\nNAME: /(?<!b)^a/", f"{CONTROL}a"),
    ],
)
def test_conditions_reach_rules_that_begin_with_embedded_texts(rules: str, expected: str) -> None:
    constraint = tk.grammar(rules, constraints={"item": tk.regex("[ab]+")})
    if expected == "never":
        with pytest.raises((tk.EmptyConstraintError, tk.UnspellableError)):
            constraint.compile(VOCABULARY)
        return
    matcher = constraint.compile(VOCABULARY).matcher()
    for text in all_texts(["a", "b", CONTROL], 4):
        tokens = [THINK if letter == CONTROL else ord(letter) for letter in text]
        assert takes(matcher, tokens) == (re.fullmatch(expected, text) is not None), text


def test_what_follows_embedded_text_is_read_anew() -> None:
    """A lookbehind sees embedded text; a lookahead of the terminal before reaches past it."""
    source = "start: A @x B\nA: /a(?=bb)/\nB: /(?<=b)b+/\n"
    matcher = matcher_of(source, constraints={"x": tk.regex("b|c")})
    assert [text for text in all_texts("abc", 4) if takes(matcher, text.encode())] == ["abb", "abbb"]


@pytest.mark.parametrize("lexer", ["dynamic", "basic", "longest"])
@pytest.mark.parametrize("ignored", ["/ +/", '" "+', "/(?:  | )+/"])
def test_ignored_text_before_embedded_text_is_not_divided(lexer: str, ignored: str) -> None:
    """The ignored terminal takes all blanks or none; ``x`` may begin with a blank of its own."""
    source = f'start: "a" @x\n%ignore {ignored}\n'
    matcher = matcher_of(source, lexer=lexer, constraints={"x": tk.regex(" b")})
    assert [text for text in all_texts("ab ", 5) if takes(matcher, text.encode())] == [
        "a b",
        "a b ",
        " a b",
        "a b  ",
        " a b ",
        "  a b",
    ]


TERMINALS = ["a+", "ab?", "a+?b?", "[ab](?!b)", "(?<=b)a", r"\bb+", "b", "(?<!a)b*a", "a(?=b|$)", "a(?=b)"]
EMBEDDED = ["a+", "[ab]*", "b|ab", "ba?", "(?:ab)+|c", " a"]


def ends_of(items: list[tuple[str, str]], text: str) -> bool:
    """Whether a sequence of items reads a text, under the lexer "dynamic": by re, from left to right."""

    def blanks(at: int) -> set[int]:
        return {end for end in range(at, len(text) + 1) if not text[at:end].strip(" ")}

    positions = blanks(0)
    for kind, pattern in items:
        found: set[int] = set()
        for at in positions:
            begin = text.rfind(CONTROL, 0, at) + 1
            end = text.find(CONTROL, at) if CONTROL in text[at:] else len(text)
            if kind == "control":
                found |= {at + 1} if text[at : at + 1] == CONTROL else set()
            elif kind == "embedded":
                found |= {to for to in range(at, end + 1) if re.fullmatch(pattern, text[at:to])}
            elif (match := re.compile(pattern).match(text[begin:end], at - begin)) and match.group():
                found.add(begin + match.end())
        positions = set().union(*map(blanks, found))
    return len(text) in positions


@pytest.mark.parametrize("seed", range(60))
def test_lexer_and_embedded_texts_together(seed: int) -> None:
    """Random sequences of terminals, embedded expressions and control tokens, by the definition."""
    rng = random.Random(seed)
    items: list[tuple[str, str]] = []
    for _ in range(rng.randint(2, 4)):
        kind = rng.choice(["terminal", "terminal", "embedded", "embedded", "control"])
        items.append((kind, rng.choice(TERMINALS if kind == "terminal" else EMBEDDED)))
    if all(kind == "terminal" for kind, _ in items):
        items[1] = ("embedded", rng.choice(EMBEDDED))
    written = {"terminal": "T{}", "embedded": "@e{}", "control": "<think>"}
    names = [written[kind].format(i) for i, (kind, _) in enumerate(items)]
    begin = rng.randrange(len(items))
    source = f'start: {" ".join(names[:begin])} rest\nrest: {" ".join(names[begin:])}\n%ignore " "\n'
    for i, (kind, pattern) in enumerate(items):
        if kind == "terminal":
            source += f"T{i}: /{pattern}/\n"
    constraints = {f"e{i}": tk.regex(pattern) for i, (_, pattern) in enumerate(items)}
    texts = all_texts(["a", "b", " ", CONTROL], 5)
    verdicts = [ends_of(items, text) for text in texts]
    try:
        matcher = matcher_of(source, constraints=constraints)
    except (tk.EmptyConstraintError, tk.UnspellableError):
        assert not any(verdicts)
        return
    for text, verdict in zip(texts, verdicts, strict=True):
        tokens = [THINK if letter == CONTROL else ord(letter) for letter in text]
        assert takes(matcher, tokens) == verdict, (source, text)


def test_json_and_grammars_in_braces() -> None:
    source = r"""
        start: pair ("," pair)*
        pair: NAME ":" %json {"type": "array", "items": {"type": "boolean"}} | %lark {
            start: "<" (start | X) ">"   // "}" in a text ends nothing
            X: /x|}/
        }
        NAME: /[a-z]+/
    """
    constraint = tk.grammar(source)
    for text, is_text in [
        ("a:[true]", True),
        ("a:[],<<x>>", True),
        ("<}>", True),
        ("<>", False),
        ("a:[1]", False),
    ]:
        assert is_text_of(constraint, text) == is_text, text


@pytest.mark.parametrize(
    ("given", "texts"),
    [
        ('{"substring_chars": "aba"}', {"", "a", "b", "ab", "ba", "aba"}),
        ('{"substring_words": "ab a"}', {"", "ab", " ", "a", "ab ", " a", "ab a"}),
        ('{"substring_chunks": ["ab", "a"]}', {"", "ab", "a", "aba"}),
    ],
)
def test_substrings(given: str, texts: set[str]) -> None:
    constraint = tk.grammar(f"start: %regex {given}")
    assert {text for text in all_texts("ab ", 4) if is_text_of(constraint, text)} == texts


def test_substrings_of_many_words() -> None:
    words = [f"w{number}" for number in range(1500)]
    constraint = tk.grammar(f'start: %regex {{"substring_words": "{" ".join(words)}"}}')
    matcher = constraint.compile(BYTE_VOCABULARY).matcher()
    assert takes(matcher, " ".join(words[500:900]).encode())
    assert not takes(matcher, b"w500 w502")
    assert not takes(matcher, b"500 w501")
    with pytest.raises(tk.GrammarError, match="too many chunks"):
        tk.grammar(f'start: A\nA: %regex {{"substring_words": "{" ".join(words)}"}}')


# ---- control tokens ----


def test_control_tokens_and_sets_of_tokens() -> None:
    thoughts = matcher_of(
        r"""
        start: <think> /(.|\n)*/ </think> answer
        answer: %json {"type": "integer"}
    """
    )
    assert takes(thoughts, tokens_of([THINK, "so\nit is ", END_THINK, "42"]))
    assert takes(thoughts, tokens_of([THINK, END_THINK, "42"]))
    assert not takes(thoughts, tokens_of([THINK, "so", "42"]))
    assert not takes(thoughts, tokens_of(["<think>", "so", END_THINK, "42"]))
    names = matcher_of("start: NAME <[258-259]> NAME\nNAME: /[a-z]+/\n")
    assert takes(names, tokens_of(["ab", END_THINK, "c"]))
    assert not takes(names, tokens_of(["ab", "c"]))


@pytest.mark.parametrize(
    ("source", "syntax"),
    [
        ("start: <[^258]>* <think>", "lark"),
        ("root ::= !<[258]>* <think>", "gbnf"),
        ("root ::= !<think>* <[258]>", "gbnf"),
    ],
)
def test_all_tokens_but_one(source: str, syntax: str) -> None:
    matcher = matcher_of(source, syntax=syntax)
    assert takes(matcher, [256, 97, END_THINK, THINK])
    assert not takes(matcher, [256, THINK, 97, THINK])
    assert not takes(matcher, [256, 97])


def test_any_token() -> None:
    matcher = matcher_of("start: <[*]>{2}")
    assert takes(matcher, [THINK, 256])
    assert takes(matcher, [97, END_THINK])
    assert not takes(matcher, [97])


@pytest.mark.parametrize(
    "rules",
    [
        "start: (W <think>)* W",
        "start: W | start <think> W",
        "start: W | W <think> start",
        "start: W rest\nrest: | <think> start",
        "start: W | other W\nother: start <think>",
    ],
)
def test_rules_with_control_tokens_may_repeat_themselves_at_either_end(rules: str) -> None:
    matcher = matcher_of(f"{rules}\nW: /w+/\n")
    for kinds in all_texts("wt", 5):
        tokens = [THINK if kind == "t" else ord("w") for kind in kinds]
        assert takes(matcher, tokens) == (re.fullmatch("w+(tw+)*", kinds) is not None), kinds


CALLS = r"""
    start: <think> thought </think> call+
    thought[stop="</"]: /[a-z<\/ ]*/
    call: NAME "=" (%json {"type": "array", "items": {"type": "integer"}} | SET | words) ";"
    words[lazy]: /[a-z]+"/
    SET: /\{[a-z]*\}/ & ~/.*(b|ab).*/
    NAME: /[a-z]+/ - "if"
    %ignore / +/
"""


@pytest.mark.parametrize("seed", range(8))
def test_texts_by_masks_are_texts_of_the_grammar(seed: int) -> None:
    """Random tokens, then the shortest end; cut by control tokens, json and re are the judges."""
    draw = random.Random(seed)
    pieces = [b"=[", b"1,", b"]; ", b"ab", b"={", b"};", b"if", b"</", b'a"', b" <", None, None]
    vocabulary = tk.Vocabulary.load(
        [*TOKENS[:256], *pieces, None], stop=268, control_tokens={"<think>": 266, "</think>": 267}
    )
    constraint = tk.grammar(CALLS)
    matcher = constraint.compile(vocabulary).matcher()
    for _ in range(draw.randint(0, 60)):
        if not step(matcher, draw):
            break
    tokens = [*matcher.tokens, *matcher.shortest_completion()]
    begin, end = tokens.index(266), tokens.index(267)
    assert set(tokens[:begin]) <= {ord(" ")}
    thought, calls = (
        b"".join(vocabulary[token] or b"?" for token in part).decode()
        for part in (tokens[begin + 1 : end], tokens[end + 1 :])
    )
    assert re.fullmatch("[a-z</ ]*", thought)
    assert "</" not in thought
    for call in calls.rstrip(" ").removesuffix(";").split(";"):
        name, value = (part.strip(" ") for part in call.split("="))
        assert re.fullmatch("[a-z]+", name)
        assert name != "if"
        if value.startswith("["):
            assert all(isinstance(item, int) for item in json.loads(value))
        else:
            assert re.fullmatch(r'\{[ac-z]*\}|[a-z]+"', value)


# ---- attributes ----


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ("t[lazy]: /a*b/", r"a*b"),
        ("t[lazy]: /[ab]*b/", r"a*b"),
        ("t[lazy]: /[ab]+/", r"[ab]"),
        ('t[suffix="b"]: /[ab]*/', r"a*b"),
        ('t[suffix="ab"]: /[ab]*/', r"(?:(?!ab)[ab])*ab"),
        ("t[suffix=/b|aa/]: /[ab]*/", r"a?b|aa"),
        ('t[stop="b"]: /[ab]*/', r"a*"),
        ('t[stop="ab"]: /[ab]*/', r"b*a*"),
        ("t[stop=STOP]: /[ab]*/", r"a?"),
        ('t[stop=""]: /a*/', r"a*"),
    ],
)
def test_bodies_that_end_early(rule: str, expected: str) -> None:
    matcher = matcher_of(f'start: t "c"\n{rule}\nSTOP: /b|aa/\n')
    for text in all_texts("abc", 5):
        assert takes(matcher, text.encode()) == (re.fullmatch(f"(?:{expected})c", text) is not None), text


def test_max_tokens_counts_tokens_and_reserves_the_end() -> None:
    constraint = tk.grammar('start: short "."\nshort[max_tokens=3]: /([a-z][a-z])*/\n')
    matcher = constraint.compile(VOCABULARY).matcher()
    assert takes(matcher, [256, 256, 256, 46])
    assert takes(matcher, tokens_of(["xy", "."]))
    assert not takes(matcher, tokens_of(["xyxy."]))
    assert not takes(matcher, tokens_of(["xyz."]))
    matcher.advance(ord("x"))
    matcher.advance(ord("y"))  # one token is left, and only "ab" is a whole pair
    assert allowed(matcher) == {256, ord(".")}


# ---- errors ----


@pytest.mark.parametrize(
    ("source", "line", "column", "reason"),
    [
        ("start: A & A\nA: /a/", 1, 10, "& is for terminals"),
        ("start: ~A\nA: /a/", 1, 8, "~ is for terminals"),
        ("start: @other", 1, 8, "no constraint 'other'"),
        ("start: A\nA: @word", 2, 4, "cannot stand in a terminal"),
        ("start: A\nA: <think>", 2, 4, "cannot stand in a terminal"),
        ("start: x\nx::_: /a/", 2, 2, "parametric rules"),
        ("start: x::1\nx: /a/", 1, 9, "parametric rules"),
        ("start: x %if eq(_, 0)\nx: /a/", 1, 10, "parametric rules"),
        ("start: x\nx[color=1]: /a/", 2, 3, "no attribute 'color'"),
        ("start: x\nx[lazy, lazy]: /a/", 2, 9, "given twice"),
        ('start: x\nx[stop_capture="a"]: /a/', 2, 3, "stop_capture is not supported"),
        ("start: x\nx[temperature=0.5]: /a/", 2, 3, "temperature is not supported"),
        ("start: x\nx[lazy]: y\ny: /a/", 2, 10, "made of terminals|not a terminal|terminal"),
        ("start: x\nx[lazy]: @word", 2, 10, "cannot stand in a rule with such attributes"),
        ('start: x\nx: "(" x ")" | <think>', 2, 16, "<think> cannot stand in x"),
        ('start: A\nA: "a" & B\nB: "b" - A', 1, 8, "made of itself"),
        ('start: A\nA: ("a" & "b"', 2, 4, "never closed"),
        ('start: A\nA: "a" &', 2, 8, "nothing stands after &"),
        ("start: %json {", 1, 15, "JSON object is expected"),
        ("start: %json []", 1, 8, "a schema is an object"),
        ("start: %lark { start: x", 1, 13, "no closing brace"),
        ('start: %regex {"substring": "a"}', 1, 15, "does not know 'substring'"),
        ("start: <[7-5]>", 1, 8, "ends before it begins"),
        ("start: <[5,x]>", 1, 8, "'x' is no id"),
        ("start: <[0-99999]>", 1, 8, "more than 10,000 tokens"),
        ('%llguidance {"skip_repetition": "once"}\nstart: "a"', 1, 13, "not supported"),
        ("start: a{3,2}\na: /a/", 1, 9, "above the upper bound"),
        ('start: a-b | a_b\na-b: "a"\na_b: "b"', 1, 14, "too similar"),
        ('start: "a"{2,} b & c\nb: "b"', 1, 18, "& is for"),
        ("start: <think> tail", 1, 16, "there is no rule 'tail'"),
    ],
)
def test_errors_name_the_construct_and_its_position(source: str, line: int, column: int, reason: str) -> None:
    with pytest.raises(tk.GrammarError) as caught:
        tk.grammar(source, constraints={"word": tk.regex("a")})
    error = caught.value
    assert re.search(reason, error.reason), error
    assert (error.line, error.column) == (line, column), error


def test_the_empty_text_and_terminals_that_may_be_empty() -> None:
    source = 'start: ("" | @x) A "."\nA: /a*/ & /.?/\n'
    matcher = matcher_of(source, constraints={"x": tk.regex("b?")})
    assert {text for text in all_texts("ab.", 3) if takes(matcher, text.encode())} == {".", "a.", "b.", "ba."}


def test_other_errors() -> None:
    with pytest.raises(tk.GrammarError, match="contextual"):
        tk.grammar("start: <think>", lexer="contextual")
    with pytest.raises(tk.ArgumentError, match="constraints"):
        tk.grammar("start: @a", constraints={"a": "a"})  # type: ignore[dict-item]
    with pytest.raises(tk.SchemaError):
        tk.grammar('start: %json {"type": "nothing"}')
    with pytest.raises(tk.UnsupportedPatternError, match="assertion"):
        tk.grammar("start: A\nA: /a(?=b)/ & /a/")
    with pytest.raises(tk.UnknownTokenError):
        tk.grammar("start: <nothing>").compile(VOCABULARY)
    with pytest.raises(tk.UnknownTokenError, match="is text"):
        tk.grammar("start: <[^97]>").compile(VOCABULARY)


def test_bad_input_is_refused_in_time() -> None:
    limits = tk.Limits(seconds=5)
    deep = "start: A\nA: " + "(" * 20_000 + '"a" & "a"' + ")" * 20_000
    lark_in_lark = "%lark { start: " * 30 + '"a"' + "}" * 30
    doubled = "start: " + "(" * 40 + '"a"' + "){2,}" * 40
    wide = "start: " + "r0\n" + "".join(f"r{i}: r{i + 1} r{i + 1}\n" for i in range(40)) + "r40: <think>"
    assert is_text_of(tk.grammar(deep), "a")
    digits = "9" * 5000
    for source in (
        f'start: A\nA.{digits}: "a"',
        f'start: %json {{"maximum": {digits}}}',
        f'start: "a"{{{digits}}}',
    ):
        with pytest.raises(tk.GrammarError):
            tk.grammar(source)
    for source in ("start: " + lark_in_lark, doubled, wide, "start: A\nA: ~(/(a|b)*a(a|b){20}/)\n"):
        with pytest.raises((tk.GrammarError, tk.LimitExceeded)):
            tk.grammar(source, limits=limits)


PIECES = [
    *(
        "A",
        "a",
        "|",
        "&",
        "~",
        "-",
        "*",
        "+",
        '"x"',
        "/y/",
        "%json",
        "{}",
        "%lark{start:A}",
        "}",
        "<t>",
        "<[5]>",
    ),
    *("@n", "(", ")", "{1,2}", "{2,}", "::", "..", "%regex", "=", ",", "3", "%if", "->", "~2"),
]


def test_random_files_are_read_or_refused() -> None:
    """No error but the typed ones, whatever pieces a file is made of."""
    rng = random.Random(5)
    read = 0
    for _ in range(1500):
        rule, terminal = (" ".join(rng.choice(PIECES) for _ in range(rng.randint(0, 3))) for _ in range(2))
        attributes = rng.choice(
            ["", "", "", "[lazy]", '[stop="x"]', "[suffix=A, max_tokens=2]", "[", "[lazy"]
        )
        source = f'start: "x" {rule}\nA: "y" {terminal}\na{attributes}: "z" A\n%ignore {rng.choice(PIECES)}\n'
        try:
            tk.grammar(source, constraints={"n": tk.regex("n")}, limits=tk.Limits(seconds=5))
        except tk.TokamataError:
            continue
        read += 1
    assert 20 < read < 1400
