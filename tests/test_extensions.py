"""The extensions of paper 002, section 2.5, as groups and as functions, each against another judge.

Those about texts are judged by Python's ``str``, by a loop over characters, or by PyYAML; those about
tokens by ``re``, on a spelling of token sequences that shows where tokens begin and end.
"""

from __future__ import annotations

import itertools
import json
import random
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from typing import Any

import pytest
import yaml
from explicit import substrings
from support import allowed

import tokamata as tk
from tokamata.automata import minimize
from tokamata.extensions import expressions
from tokamata.vocabulary.token_table import TokenTable

BYTES: list[bytes | None] = [bytes([value]) for value in range(256)]
PIECES = [*rb"""\" ", ab - : # END""".split(), b"a, ", b" #", "éa".encode(), b"\xbc\xa2", b"\n\n"]
VOCABULARY_OF_LETTERS = tk.Vocabulary.load([b"a", b"b", b"c", None], stop=3)
VOCABULARY = tk.Vocabulary.load([*BYTES, *PIECES, None], stop=256 + len(PIECES))
NAMES = (
    "CONTROL_TOKEN, DELIMITED_LIST, DELIMITED_SUBSEQUENCE_OF, IMAGE, PARAGRAPH_TOKEN, QUOTED_TEXT, "
    "SUBSTRING_OF, TEXT_TOKEN, TEXT_UNTIL, UNQUOTED_TEXT"
)


def texts(alphabet: str, longest: int) -> list[str]:
    return [
        "".join(letters)
        for size in range(longest + 1)
        for letters in itertools.product(alphabet, repeat=size)
    ]


def takes(matcher: tk.Matcher, tokens: Iterable[int]) -> bool:
    """Whether the matcher, which is at the start, accepts these tokens; it is at the start again after."""
    accepted = all(matcher.advance(token) for token in tokens) and matcher.is_accepting
    matcher.rollback(len(matcher.tokens))
    return accepted


def taken(constraint: tk.Constraint, probes: Iterable[str]) -> set[str]:
    """The probes that the engine accepts, byte by byte."""
    matcher = constraint.compile(VOCABULARY).matcher()
    return {probe for probe in probes if takes(matcher, probe.encode())}


def cut(text: str, draw: random.Random) -> list[int]:
    """A text as tokens, long ones wherever a coin says so."""
    data, tokens = text.encode(), []
    place = 0
    while place < len(data):
        longer = [256 + i for i, piece in enumerate(PIECES) if data.startswith(piece, place)]
        token = draw.choice([*longer, data[place]])
        tokens.append(token)
        place += len(VOCABULARY[token] or b"")
    return tokens


def assert_taken(constraint: tk.Constraint, probes: Iterable[str], holds: Callable[[str], bool]) -> None:
    """Random texts, cut at random: the engine accepts those that the judge does."""
    matcher, draw = constraint.compile(VOCABULARY).matcher(), random.Random(0)
    answers = set()
    for probe in probes:
        answer = holds(probe)
        assert takes(matcher, cut(probe, draw)) == answer, probe
        answers.add(answer)
    assert answers == {True, False}


# ---- QUOTED_TEXT ------------------------------------------------------------------------------

QUOTED = [tk.regex("(?P<QUOTED_TEXT>)"), tk.quoted_text(), tk.regex("^(?P<QUOTED_TEXT>)$", dialect="ecma")]


def is_quoted(text: str) -> bool:
    """Read from the left: what a backslash escapes is passed over, and the first other quote ends it."""
    if not text.startswith('"'):
        return False
    place = 1
    while place < len(text) and text[place] not in '"\n\r':
        if text[place] == "\\" and text[place + 1 : place + 2] in ("", "\n", "\r"):
            return False
        place += 2 if text[place] == "\\" else 1
    return text[place:] == '"'


@pytest.mark.parametrize("constraint", QUOTED, ids=repr)
def test_quoted_text(constraint: tk.Constraint) -> None:
    probes = texts('"\\a\n', 6) + texts('"\\é\r', 4) + [f'"{text}"' for text in texts('"\\a\nn', 5)]
    assert taken(constraint, probes) == {probe for probe in probes if is_quoted(probe)}
    draw = random.Random(1)
    rare = 'é漢😀\\"' * 4 + "\n\x00\u2028 ,"
    longer = ["".join(draw.choices("abc" * 8 + rare, k=draw.randrange(30))) for _ in range(3000)]
    assert_taken(constraint, [f'"{text}"' for text in longer], is_quoted)


def test_quoted_text_has_every_string_of_json() -> None:
    draw = random.Random(2)
    values = [
        "".join(draw.choices('ab"\\/\n\t\x00\x7fé漢😀\u2028', k=draw.randrange(20))) for _ in range(1000)
    ]
    spelt = {json.dumps(value, ensure_ascii=bool(i % 2)) for i, value in enumerate(values)}
    assert [value for value in spelt if not is_quoted(value)] == []
    assert taken(tk.quoted_text(), spelt) == spelt


# ---- UNQUOTED_TEXT ----------------------------------------------------------------------------

UNQUOTED = [tk.regex("(?P<UNQUOTED_TEXT>)"), tk.unquoted_text()]
LOOK_ALIKES = """
    --- ... - -a -- ?a :a :: a: a:b a#b #a null 0 ~ << = [a] a[0] {a} a{b} *a | >- a|b
    'a' it's "a" a" %a 100% @a `a` ! !a x://y?z=1#q [ a] a, & ,a
"""
INDICATORS = "-?:,[]{}#&*!|>'\"%@` a.0"


def loaded(document: str) -> Any:
    """What PyYAML makes of a document; itself an error where it makes nothing of it."""
    try:
        return yaml.load(document, Loader=yaml.BaseLoader)
    except yaml.YAMLError as error:
        return error


def is_plain(text: str) -> bool:
    """Whether PyYAML reads the text as itself: as a value, and as an item of a list."""
    as_value, as_item = loaded(f"key: {text}") == {"key": text}, loaded(f"- {text}") == [text]
    assert as_value == as_item, text
    return as_value and text != ""  # nothing at all is no plain scalar, but PyYAML reads it as ""


def test_unquoted_text_is_what_yaml_reads_as_itself() -> None:
    probes = texts(INDICATORS, 3)
    judged = {probe for probe in probes if is_plain(probe)}
    assert len(judged) > 2000
    for constraint in UNQUOTED:
        assert taken(constraint, probes) == judged


def test_unquoted_text_of_four_characters() -> None:
    probes = ["".join(letters) for letters in itertools.product(INDICATORS, repeat=4)]
    accepted = sorted(taken(tk.unquoted_text(), probes))
    # In one document, which takes a third of the time; a text that reads as anything else changes it.
    assert loaded("".join(f"- {text}\n" for text in accepted)) == accepted
    values = dict(enumerate(random.Random(3).sample(accepted, len(accepted) // 8)))
    as_values = loaded("".join(f"key {i}: {text}\n" for i, text in values.items()))
    assert as_values == {f"key {i}": text for i, text in values.items()}
    refused = sorted(set(probes) - set(accepted))
    assert [text for text in random.Random(3).sample(refused, 2000) if is_plain(text)] == []


def test_longer_unquoted_texts() -> None:
    draw = random.Random(4)
    words = [*INDICATORS, *"  é漢😀", "word", "---", "...", "http://", "::", "null", ": ", " #", "- ", "? "]
    probes = ["".join(draw.choices(words, k=draw.randint(1, 9))) for _ in range(3000)]
    assert_taken(tk.unquoted_text(), probes, is_plain)


def test_unquoted_texts_that_look_like_something_else() -> None:
    with_blanks = ["--- a", "- a", "? a", ": a", "a: b", "a : b", "a #b", "a # b", "a b", " a", "a ", "a, b"]
    with_blanks += ["&a b", "!!str a", "a\tb", "\ta", "a\t", "a\n", "a\nb", "a\r", "a\x85b", "a\x00", "a\x7f"]
    scalars = [*LOOK_ALIKES.split(), *with_blanks]
    accepted = {scalar for scalar in scalars if is_plain(scalar)}
    assert accepted > {"---", "...", "a:b", "a#b", "100%", "a, b"}
    assert not accepted & {"- a", "a: b", "a #b", "-", "a:", "a\tb"}
    for constraint in UNQUOTED:
        assert taken(constraint, scalars) == accepted


def test_unquoted_text_with_any_character() -> None:
    shapes = ["{}", "a{}", "{}a", "a{}b", "-{}", "{}#", "{}:", ":{}", "a {}", "a {}b", "a:{}", "a#{}"]
    characters = [
        *map(chr, range(0x180)),
        *"\u0301\u061c\u1680\u180e\u2003\u200b\u2028\u2029\u3000\ue000\ufeff",
    ]
    characters += [*"\ufffd\ufffe\uffff\U0001f600\U0010ffff"]
    probes = {shape.format(character): character for shape in shapes for character in characters}
    accepted = taken(tk.unquoted_text(), probes)
    for probe, character in probes.items():
        # YAML takes white space other than the space as letters.  Texts with it are left out.
        is_blank = character != " " and (character.isspace() or character == "\ufeff")
        assert (probe in accepted) == (is_plain(probe) and not is_blank), ascii(probe)


def test_unquoted_texts_as_keys_in_a_block() -> None:
    accepted = sorted(taken(tk.unquoted_text(), texts(INDICATORS, 2)))
    assert loaded("a:\n" + "".join(f"  {text}: {i}\n" for i, text in enumerate(accepted))) == {
        "a": {text: str(i) for i, text in enumerate(accepted)}
    }


# ---- TEXT_UNTIL -------------------------------------------------------------------------------


def ends_first(phrase: str) -> Callable[[str], bool]:
    return lambda text: text.find(phrase) == len(text) - len(phrase) and text.endswith(phrase)


def until(phrase: str) -> list[tk.Constraint]:
    """Both ways to say it, and one under flags, which do not matter to a phrase."""
    group = f"(?P<TEXT_UNTIL>{re.escape(phrase)})"
    return [tk.regex(group), tk.text_until(phrase), tk.regex(group, re.IGNORECASE | re.VERBOSE)]


def test_text_until() -> None:
    phrases = [*texts("ab", 3)[1:], "é", "aé", "éa", "\n", "a\n", "aabaa", "abab"]
    probes = texts("abé\n", 5) + texts("ab", 9)
    for phrase in phrases:
        judged = {probe for probe in probes if ends_first(phrase)(probe)}
        for constraint in until(phrase):
            assert taken(constraint, probes) == judged, phrase


@pytest.mark.parametrize("phrase", ["END", "é漢", "\n\n", "A.b", "(a", "a|b)", "[", "\\", "# ", "漢a"])
def test_text_until_phrases_that_stand_for_themselves(phrase: str) -> None:
    draw = random.Random(phrase)
    parts = [*phrase, phrase, phrase[:-1], "a", "b", "é", "漢", "\n", "end", " "]
    probes = ["".join(draw.choices(parts, k=draw.randrange(6))) + phrase for _ in range(400)]
    probes += ["".join(draw.choices(parts, k=draw.randrange(6))) for _ in range(200)]
    for constraint in until(phrase):
        assert_taken(constraint, probes, ends_first(phrase))


def test_text_until_with_more_behind_it() -> None:
    constraint = tk.regex(r"(?P<TEXT_UNTIL>ab)b|x(?P<TEXT_UNTIL>\x61)")
    probes = texts("abx", 5)
    judged = {probe for probe in probes if probe.endswith("b") and ends_first("ab")(probe[:-1])}
    judged |= {probe for probe in probes if probe.startswith("x") and ends_first("a")(probe[1:])}
    assert taken(constraint, probes) == judged


# ---- SUBSTRING_OF -----------------------------------------------------------------------------


def substring(text: str) -> list[tk.Constraint]:
    return [tk.regex(f"(?P<SUBSTRING_OF>{re.escape(text)})"), tk.substring_of(text)]


def test_substring_of() -> None:
    probes = texts("abé", 5)
    for text in [*texts("abé", 4)[1:], "aabéab", "ababababab", "ééaéé"]:
        judged = {probe for probe in probes if probe in text}
        for constraint in substring(text):
            assert taken(constraint, probes) == judged, text
    assert taken(tk.substring_of(""), probes) == {""}


def test_substring_of_a_longer_text() -> None:
    draw = random.Random(5)
    text = "".join(draw.choices("ab, é漢😀(|\n\\", k=400))
    probes = []
    for _ in range(1500):
        begin = draw.randrange(len(text))
        probe = text[begin : begin + draw.randrange(1, 40)]
        place = draw.randrange(len(probe))
        probes += [probe, probe[:place] + draw.choice("ab漢x") + probe[place + 1 :]]
    for constraint in substring(text):
        assert_taken(constraint, probes, lambda probe: probe in text)


def test_substrings_are_of_code_points() -> None:
    data = "aé漢😀é".encode()
    matcher = tk.substring_of(data.decode()).compile(VOCABULARY).matcher()
    for begin, end in itertools.combinations(range(len(data) + 1), 2):
        whole = data[begin:end].decode(errors="ignore").encode() == data[begin:end]
        assert takes(matcher, data[begin:end]) == whole, data[begin:end]


def test_substring_of_grows_with_its_text() -> None:
    """At most 2n - 2 states and 3n - 4 transitions: Blumer et al., The smallest automaton, 1985."""
    draw = random.Random(6)
    for length in (3, 30, 300, 3000):
        for text in ("a" + "b" * (length - 2) + "c", "".join(draw.choices("ab", k=length))):
            compiled = tk.substring_of(text).compile(VOCABULARY_OF_LETTERS)
            automaton = compiled.token_automaton()
            assert length < automaton.states <= 2 * length - 2
            assert automaton.transitions <= 3 * length - 4
            assert compiled.states <= 2 * length + 10
    assert tk.substring_of("abbbbc").compile(VOCABULARY_OF_LETTERS).token_automaton().states == 10
    for text in ("abaabé", "ééaéaab", "abcbcbd"):
        both = substrings(text)
        bytes_alone = tk.Vocabulary.load(BYTES, stop=[])
        automaton = both.constraint.compile(bytes_alone).token_automaton()
        assert automaton.to_acceptor() == minimize(both.acceptor)


def test_substring_of_reads_one_state_for_each_byte() -> None:
    draw = random.Random(7)
    costs = []
    for length in (20_000, 40_000):
        text = "".join(draw.choices("ab", k=length))
        compiled = tk.substring_of(text).compile(VOCABULARY_OF_LETTERS)
        matcher = compiled.matcher()
        assert all(matcher.advance("abc".index(letter)) for letter in text)
        assert compiled.states <= length + 10
        costs.append(compiled.memory_bytes)
    assert costs[1] < 2.2 * costs[0]


# ---- DELIMITED_LIST ---------------------------------------------------------------------------

Texts = frozenset[str]


def lists(items: Texts, delimiters: Texts, low: int, high: int | None, longest: int) -> set[str]:
    """Texts of at most ``longest`` characters that are so many items with delimiters between."""
    found = {""} if low == 0 else set()
    level: set[str] = set()
    # Of more items than this two neighbours are empty, and one of them can be left out.
    for count in range(1, max(low, longest + 1) + 1 if high is None else high + 1):
        level = set(items) if count == 1 else {a + d + b for a in level for d in delimiters for b in items}
        level = {text for text in level if len(text) <= longest}
        if count >= low:
            found |= level
    return found


def pattern_of(options: Texts) -> str:
    return "|".join(map(re.escape, sorted(options)))


ITEMS = [
    frozenset(options.split("/"))
    for options in ("a", "b/,", "ab", "a,", "/a", "a/a,b", ",/b,", "", "a/ab/ba")  # the empty text in two
]
DELIMITERS = [frozenset(options) for options in ([","], ["a"], ["", ","], [",", ",a"], ["|"])]
BOUNDS: tuple[tuple[int, int | None], ...]
BOUNDS = (1, None), (0, None), (2, None), (0, 0), (0, 2), (1, 1), (2, 3), (3, 4)


@pytest.mark.parametrize("items", ITEMS, ids=sorted)
def test_delimited_list(items: Texts) -> None:
    for delimiters in DELIMITERS:
        probes = texts("".join(sorted(set("ab," + "".join(delimiters)))), 6 if delimiters != {"|"} else 4)
        longest = len(probes[-1])
        group = f"(?P<DELIMITED_LIST>(?:{pattern_of(delimiters)})|{pattern_of(items)})"
        judged = lists(items, delimiters, 1, None, longest)
        assert taken(tk.regex(group), probes) == judged, group
        for low, high in BOUNDS:
            constraint = tk.delimited_list(tk.choice(items), tk.choice(delimiters), low, high)
            assert taken(constraint, probes) == lists(items, delimiters, low, high, longest), constraint
        default = tk.delimited_list(tk.choice(items), tk.choice(delimiters))
        assert taken(default, probes) == judged


# ---- DELIMITED_SUBSEQUENCE_OF -----------------------------------------------------------------


def subsequences(items: Sequence[Texts], delimiters: Texts) -> set[str]:
    """Every choice of items, every text of each, every delimiter between."""
    found = set()
    for count in range(1, len(items) + 1):
        for chosen in itertools.combinations(items, count):
            between = [part for item in chosen for part in (delimiters, item)][1:]
            found |= {"".join(parts) for parts in itertools.product(*between)}
    return found


SEQUENCES = [
    ["a"],
    ["a", "b"],
    ["a", "b", "ab"],
    ["a", "a", "a"],
    ["ab", "a", "b", ","],
    [("", "a"), "b"],
    [("a", ",b"), ("a,b", ""), "b"],
    ["b", ("a", "b"), "a", ("", ","), "b"],
]


@pytest.mark.parametrize("sequence", SEQUENCES, ids=str)
def test_delimited_subsequence_of(sequence: list[str | tuple[str, ...]]) -> None:
    items = [frozenset([item] if isinstance(item, str) else item) for item in sequence]
    for delimiters in DELIMITERS:
        judged = subsequences(items, delimiters)
        probes = judged.union(texts("ab,", 6), texts("ab|", 3))
        wrapped = "|".join(f"(?:{pattern_of(item)})" for item in items)
        group = f"(?P<DELIMITED_SUBSEQUENCE_OF>(?:{pattern_of(delimiters)})|{wrapped})"
        function = tk.delimited_subsequence_of([tk.choice(item) for item in items], tk.choice(delimiters))
        for constraint in (tk.regex(group), function):
            assert taken(constraint, probes) == judged, group


def test_a_subsequence_of_many() -> None:
    colours = [f"c{i}é" for i in range(40)]
    draw = random.Random(8)
    probes = []
    for _ in range(500):
        chosen = sorted(draw.sample(range(40), draw.randint(1, 12)))
        probes.append(", ".join(colours[i] for i in chosen))
        draw.shuffle(chosen)
        probes.append(", ".join(colours[i] for i in chosen))

    def in_order(text: str) -> bool:
        places = [colours.index(part) for part in text.split(", ")]
        return places == sorted(places)

    group = f"(?P<DELIMITED_SUBSEQUENCE_OF>, |{'|'.join(colours)})"
    function = tk.delimited_subsequence_of([tk.literal(colour) for colour in colours], tk.literal(", "))
    for constraint in (tk.regex(group), function):
        assert_taken(constraint, probes, in_order)


# ---- parts of groups --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pattern", "dialect", "accepted", "refused"),
    [
        ("(?P<DELIMITED_LIST>[|]|a)", "python", ["a", "a|a"], ["a,a", "[|]"]),
        (r"(?P<DELIMITED_LIST>\||a)", "python", ["a", "a|a"], ["a,a"]),
        ("(?P<DELIMITED_LIST>,|[]|[]|a)", "python", ["]", "|", "[,a"], ["]]", ","]),
        ("(?P<DELIMITED_LIST>(?:,|;)|a|(b|c))", "python", ["a;b,c"], ["a|b"]),
        ("(?P<DELIMITED_LIST>,|(?P<DELIMITED_LIST>-|a|b))", "python", ["a-b,a", "b"], ["a-", "a,-b"]),
        (r"(?P<DELIMITED_LIST>,|(?P<SUBSTRING_OF>a|b\)))", "python", ["a|b,", ",", "|b),a"], ["ab"]),
        ("(?P<DELIMITED_SUBSEQUENCE_OF>,(?#|)|a(?#(|)|b)", "python", ["a,b", "b"], ["b,a", "a|b", "b)"]),
        ("(?x)(?P<DELIMITED_SUBSEQUENCE_OF> , # |(\n | a | b)", "python", ["a,b", "b"], ["b,a", " a"]),
        ("(?i)(?P<DELIMITED_LIST>x|a)", "python", ["aXA"], ["b"]),
        (r"(?P<DELIMITED_LIST>,|a\b)b?", "python", ["a", "a,a"], ["ab", "a,ab"]),
        ("^(?P<DELIMITED_SUBSEQUENCE_OF>,|[^]|b|c)$", "ecma", ["b,c", "x,c", "x,b,c"], ["c,c,b", "b,,,c"]),
        ("^(?P<DELIMITED_LIST>[]|-|[|]|a)$", "ecma", ["|", "a", "-"], ["a-a", ""]),
        ("^(?P<DELIMITED_LIST>[^]|b)$", "ecma", ["b", "b|b", "b\nb"], ["bb"]),
        (r"^(?P<TEXT_UNTIL>\u{61}\))$", "ecma", ["a)", "xa)"], ["a)a)", "ua)u"]),
    ],
)
def test_arguments_are_cut_as_their_dialect_does(
    pattern: str, dialect: Any, accepted: list[str], refused: list[str]
) -> None:
    assert taken(tk.regex(pattern, dialect=dialect), accepted + refused) == set(accepted)


def test_items_of_functions_see_themselves_alone() -> None:
    word, probes = tk.regex(r"a\b"), ["aba", "a", "ab"]
    assert taken(tk.delimited_list(word, tk.literal("b")), probes) == {"aba", "a"}
    assert taken(tk.delimited_subsequence_of([word, word], tk.literal("b")), probes) == {"aba", "a"}


# ---- tokens -----------------------------------------------------------------------------------

# The ids of a small vocabulary: a token that ends inside a code point, an empty one, two for one text, two
# control tokens, one of which has the name of a text.
TOKENS: list[bytes | None] = [b"a", b"b", b"ab", b"\n", b"b\n", b"\r", b"\xc3", b"\xa9"]
TOKENS += [None, None, b"", b"a", None]
IMG, END, EMPTY, STOP = 8, 9, 10, 12
SMALL = tk.Vocabulary(TokenTable(TOKENS, {IMG: "<img>", END: "a", STOP: "<stop>"}, (STOP,)))


# What a token is, in that spelling: from bar to bar.
T = r"\|[^|\u0100-\uffff]+(?=\|)"
P = r"\|[^|\n\r\u0100-\uffff]+(?=\|)"


def letters(text: str) -> str:
    """Bytes that any tokens may spell."""
    return "".join(rf"\|?{re.escape(chr(byte))}" for byte in text.encode())


def control(token: int) -> str:
    return rf"\|{chr(256 + token)}(?=\|)"


def spelled(tokens: Sequence[int]) -> str:
    """``|a|ab|``: a bar at every edge of a token, a letter for every byte or control token."""
    return "|" + "".join(
        (chr(256 + token) if TOKENS[token] is None else TOKENS[token].decode("latin-1")) + "|"
        for token in tokens
    )


def is_text(tokens: Sequence[int]) -> bool:
    """Whether tokens spell valid UTF-8 between control tokens, and none of them is empty."""
    data = b"".join(b"|" if (text := TOKENS[token]) is None else text for token in tokens)
    return EMPTY not in tokens and data.decode(errors="ignore").encode() == data


@cache
def sequences(longest: int) -> dict[tuple[int, ...], str]:
    """All sequences of tokens that spell texts, and how they are written for ``re``."""
    everything = (
        tokens for size in range(longest + 1) for tokens in itertools.product(range(STOP), repeat=size)
    )
    return {tokens: spelled(tokens) for tokens in everything if is_text(tokens)}


def walk(matcher: tk.Matcher, longest: int) -> Iterator[tuple[int, ...]]:
    """All sequences of tokens that the engine takes, at most so many."""
    yield tuple(matcher.tokens)
    if len(matcher.tokens) < longest:
        for token in range(STOP):
            if matcher.advance(token):
                yield from walk(matcher, longest)
                matcher.rollback(1)


lit = tk.literal
TOKEN_CASES: list[tuple[str, tk.Constraint, str]] = [
    ("(?P<TEXT_TOKEN>)", tk.text_token(), T),
    ("(?P<TEXT_TOKEN>?)", tk.text_token().optional(), f"(?:{T})?"),
    ("(?P<TEXT_TOKEN>+)", tk.text_token().repeat(1), f"(?:{T})+"),
    ("(?P<TEXT_TOKEN>*)", tk.text_token().repeat(), f"(?:{T})*"),
    ("(?P<TEXT_TOKEN>{2})", tk.text_token().repeat(2, 2), f"(?:{T}){{2}}"),
    ("(?P<TEXT_TOKEN>{2,})", tk.text_token().repeat(2), f"(?:{T}){{2,}}"),
    ("(?P<TEXT_TOKEN>{1,3})", tk.text_token().repeat(1, 3), f"(?:{T}){{1,3}}"),
    ("(?P<TEXT_TOKEN>{0,0})", tk.text_token().repeat(0, 0), ""),
    ("(?P<PARAGRAPH_TOKEN>)", tk.paragraph_token(), P),
    ("(?P<PARAGRAPH_TOKEN>+)", tk.paragraph_token().repeat(1), f"(?:{P})+"),
    ("(?P<PARAGRAPH_TOKEN>{2,3})", tk.paragraph_token().repeat(2, 3), f"(?:{P}){{2,3}}"),
    ("a(?P<TEXT_TOKEN>)b", lit("a") + tk.text_token() + lit("b"), letters("a") + T + letters("b")),
    ("(?P<TEXT_TOKEN>)b", tk.text_token() + lit("b"), T + letters("b")),
    ("(?P<TEXT_TOKEN>*)ab", tk.text_token().repeat() + lit("ab"), f"(?:{T})*" + letters("ab")),
    ("a|(?P<TEXT_TOKEN>)b", lit("a") | tk.text_token() + lit("b"), f"{letters('a')}|{T}{letters('b')}"),
    ("(?:(?P<TEXT_TOKEN>)b)*", (tk.text_token() + lit("b")).repeat(), f"(?:{T}{letters('b')})*"),
    ("é(?P<TEXT_TOKEN>)", lit("é") + tk.text_token(), letters("é") + T),
    ("(?P<TEXT_TOKEN>)é|é", tk.text_token() + lit("é") | lit("é"), f"{T}{letters('é')}|{letters('é')}"),
    (
        "(?P<PARAGRAPH_TOKEN>+)\n(?P<PARAGRAPH_TOKEN>+)",
        tk.paragraph_token().repeat(1) + lit("\n") + tk.paragraph_token().repeat(1),
        f"(?:{P})+{letters(chr(10))}(?:{P})+",
    ),
    (
        "(?:b(?P<PARAGRAPH_TOKEN>*)\n){1,2}",
        (lit("b") + tk.paragraph_token().repeat() + lit("\n")).repeat(1, 2),
        f"(?:{letters('b')}(?:{P})*{letters(chr(10))}){{1,2}}",
    ),
    (
        "(?P<PARAGRAPH_TOKEN>)a|(?P<TEXT_TOKEN>)b",
        tk.paragraph_token() + lit("a") | tk.text_token() + lit("b"),
        f"{P}{letters('a')}|{T}{letters('b')}",
    ),
    (
        r"(?=a*b+\Z)(?P<TEXT_TOKEN>{2})",
        tk.text_token().repeat(2, 2) & tk.regex("a*b+"),
        rf"(?=(?:{letters('a')})*(?:{letters('b')})+\|?$){T}{T}",
    ),
    ("(?P<CONTROL_TOKEN><img>)", tk.control_token("<img>"), control(IMG)),
    ("(?P<CONTROL_TOKEN>8)", tk.control_token(IMG), control(IMG)),
    ("(?P<CONTROL_TOKEN>a)", tk.control_token("a"), control(END)),
    (
        "a(?P<CONTROL_TOKEN><img>)+b?",
        lit("a") + tk.control_token(8).repeat(1) + lit("b").optional(),
        f"{letters('a')}(?:{control(IMG)})+(?:{letters('b')})?",
    ),
    (
        "(?P<CONTROL_TOKEN>a)a|a(?P<CONTROL_TOKEN>a)",
        tk.control_token("a") + lit("a") | lit("a") + tk.control_token("a"),
        f"{control(END)}{letters('a')}|{letters('a')}{control(END)}",
    ),
    (
        "(?P<TEXT_TOKEN>)(?P<CONTROL_TOKEN><img>)(?P<PARAGRAPH_TOKEN>)",
        tk.text_token() + tk.control_token(IMG) + tk.paragraph_token(),
        T + control(IMG) + P,
    ),
]


@pytest.mark.parametrize(("pattern", "function", "judge"), TOKEN_CASES, ids=[case[0] for case in TOKEN_CASES])
def test_tokens_in_patterns(pattern: str, function: tk.Constraint, judge: str) -> None:
    compiled = re.compile(rf"(?:{judge})\|?")
    judged = {tokens for tokens, written in sequences(4).items() if compiled.fullmatch(written)}
    alive = {tokens[:size] for tokens in judged for size in range(len(tokens) + 1)}
    assert alive
    for constraint in (tk.regex(pattern), function):
        matcher = constraint.compile(SMALL).matcher()
        accepted, refused = set(), 0
        for tokens in walk(matcher, 4):
            if matcher.is_accepting:
                accepted.add(tokens)
            bits = allowed(matcher)
            assert (STOP in bits) == matcher.is_accepting
            if len(tokens) == 4:
                continue
            proved = {token for token in range(STOP) if (*tokens, token) in alive}
            assert proved <= bits, tokens
            for token in bits - proved - {STOP}:  # those that need more than four tokens
                assert matcher.advance(token)
                whole = [*matcher.tokens, *matcher.shortest_completion()]
                assert len(whole) > 4
                assert is_text(whole)
                assert compiled.fullmatch(spelled(whole)), whole
                matcher.rollback(1)
            refused += STOP - len(bits)
        assert accepted == judged
        assert refused


def test_the_spelling_of_token_sequences() -> None:
    assert spelled([2, 8, 1]) == "|ab|Ĉ|b|"
    assert re.fullmatch(T + letters("b") + r"\|?", "|ab|b|")
    assert not re.fullmatch(T + letters("b") + r"\|?", "|ab|")
    assert re.fullmatch(letters("abb") + r"\|?", "|ab|b|")
    assert not re.fullmatch(T, "|Ĉ|")
    assert [is_text(tokens) for tokens in ([6, 7], [6, 8, 7], [0, 10], [7], [8, 8])] == [1, 0, 0, 0, 1]


# ---- control tokens ---------------------------------------------------------------------------


def test_control_tokens_are_not_the_text_of_their_names() -> None:
    tokens: list[bytes | None] = [b"<img>", b"<", b"img", b">", b"i", b"m", b"g", None, None]
    vocabulary = tk.Vocabulary(TokenTable(tokens, {7: "<img>", 8: "<stop>"}, (8,)))
    as_token = [
        tk.regex("(?P<CONTROL_TOKEN><img>)"), tk.regex("(?P<CONTROL_TOKEN>7)"),
        tk.control_token("<img>"), tk.control_token(7),
    ]  # fmt: skip
    as_text = tk.literal("<img>")
    for constraint in as_token:
        matcher = constraint.compile(vocabulary).matcher()
        assert allowed(matcher) == {7}
        assert matcher.advance(7)
        assert allowed(matcher) == {8}
        assert matcher.text == b""
        assert allowed((constraint | as_text).compile(vocabulary).matcher()) == {0, 1, 7}
    assert allowed(as_text.compile(vocabulary).matcher()) == {0, 1}
    assert allowed(tk.regex("(?s:.*)").compile(vocabulary).matcher()) == {0, 1, 2, 3, 4, 5, 6, 8}


def test_a_control_token_by_name_and_by_id_is_one_token() -> None:
    name, number = tk.control_token("<img>"), tk.control_token(IMG)
    both = (name + lit("a") | lit("a") + number).compile(SMALL).matcher()
    assert takes(both, [IMG, 0])
    assert takes(both, [0, IMG])
    assert takes((name + number).compile(SMALL).matcher(), [IMG, IMG])
    assert takes((name & number).compile(SMALL).matcher(), [IMG])
    with pytest.raises(tk.EmptyConstraintError):
        (name - number).compile(SMALL)


def test_names_with_parentheses_and_digits() -> None:
    names = {1: "(a|b)", 2: "7", 3: "漢]", 4: "\\"}
    vocabulary = tk.Vocabulary(TokenTable([b"a", None, None, None, None, None], names, (5,)))
    for token, name in names.items():
        assert allowed(tk.control_token(name).compile(vocabulary).matcher()) == {token}
        assert allowed(tk.control_token(token).compile(vocabulary).matcher()) == {token}
        group = f"(?P<CONTROL_TOKEN>{re.escape(name)})"
        if token != 2:  # in a group digits are an id
            assert allowed(tk.regex(group).compile(vocabulary).matcher()) == {token}
    with pytest.raises(tk.UnknownTokenError, match="no control token '7': the vocabulary has the ids 0 to 5"):
        tk.regex("(?P<CONTROL_TOKEN>7)").compile(vocabulary)


def test_unknown_control_tokens() -> None:
    for wanted, reason in {
        "<imgs>": "the vocabulary has 3 other names; did you mean <img>",
        "b": "token 1 is text, b'b'; write that text instead",
        "<stop>": "it is a stop token, which ends the text and cannot stand in it",
        0: "token 0 is text, b'a'",
        EMPTY: "token 10 is text, b''",
        STOP: "it is a stop token",
        13: "the vocabulary has the ids 0 to 12",
        999_999_999: "the vocabulary has the ids 0 to 12",
    }.items():
        for constraint in (tk.control_token(wanted), tk.regex(f"(?P<CONTROL_TOKEN>{wanted})")):
            with pytest.raises(tk.UnknownTokenError, match=re.escape(reason)) as error:
                (tk.literal("a") | constraint).compile(SMALL)
            assert error.value.name == str(wanted)
    with pytest.raises(KeyError, match="no control token ''"):
        tk.control_token("").compile(SMALL)


# ---- IMAGE ------------------------------------------------------------------------------------

FAMILIES = {
    "gemma": ("<start_of_image>", "<image_soft_token>", "<end_of_image>"),
    "qwen": ("<|vision_start|>", "<|image_pad|>", "<|vision_end|>"),
    "llama": ("<|image_start|>", "<|patch|>", "<|image_end|>"),
}


@pytest.mark.parametrize("family", FAMILIES)
def test_image(family: str) -> None:
    begin, content, end = names = FAMILIES[family]
    other = FAMILIES["gemma" if family != "gemma" else "llama"][:2]  # a family that is not all there
    known = dict(enumerate([*other, *reversed(names), "<stop>"], 1))
    vocabulary = tk.Vocabulary(TokenTable([b"a", *[None] * 6], known, (6,)))
    spelled_as = {known[token]: token for token in known}
    judge = re.compile(f"{spelled_as[begin]}{spelled_as[content]}+{spelled_as[end]}")
    everything = ["".join(digits) for size in range(6) for digits in itertools.product("012345", repeat=size)]
    for constraint in (tk.regex("(?P<IMAGE>)"), tk.image()):
        matcher = constraint.compile(vocabulary).matcher()
        accepted = {tokens for tokens in everything if takes(matcher, map(int, tokens))}
        assert accepted == {tokens for tokens in everything if judge.fullmatch(tokens)}
        assert len(accepted) == 3
    two = tk.regex("a(?P<IMAGE>)?a").compile(vocabulary).matcher()
    assert takes(two, [0, 0])
    assert takes(two, [0, *(spelled_as[name] for name in names), 0])


def test_an_image_of_no_family() -> None:
    parts = [FAMILIES["gemma"][0], FAMILIES["qwen"][1], FAMILIES["llama"][2]]
    vocabulary = tk.Vocabulary(TokenTable([b"a", None, None, None], dict(enumerate(parts, 1)), ()))
    for constraint in (tk.regex("a|(?P<IMAGE>)"), tk.image()):
        with pytest.raises(tk.UnknownTokenError, match="the image tokens of no family known; name them with"):
            constraint.compile(vocabulary)


# ---- errors -----------------------------------------------------------------------------------

WRONG_GROUPS = {
    "QUOTED_TEXT>x": "QUOTED_TEXT takes no argument",
    "UNQUOTED_TEXT> ": "UNQUOTED_TEXT takes no argument",
    "IMAGE><image>": "IMAGE takes no argument",
    "CONTROL_TOKEN>": "CONTROL_TOKEN needs an argument",
    "TEXT_UNTIL>": "TEXT_UNTIL needs an argument",
    "SUBSTRING_OF>": "SUBSTRING_OF needs an argument",
    "DELIMITED_LIST>": "DELIMITED_LIST needs an argument",
    "DELIMITED_LIST>,": "DELIMITED_LIST needs a delimiter and an item",
    "DELIMITED_LIST>(,|a)": "DELIMITED_LIST needs a delimiter and an item",
    "DELIMITED_SUBSEQUENCE_OF>": "DELIMITED_SUBSEQUENCE_OF needs an argument",
    "DELIMITED_SUBSEQUENCE_OF>,": "DELIMITED_SUBSEQUENCE_OF needs a delimiter and an item",
    "DELIMITED_SUBSEQUENCE_OF>,|" + "|".join(["a"] * 1001): "DELIMITED_SUBSEQUENCE_OF has 1,001 items",
    "TEXT_TOKEN>a": "TEXT_TOKEN takes a quantifier alone",
    "TEXT_TOKEN>++": "TEXT_TOKEN takes a quantifier alone",
    "PARAGRAPH_TOKEN>{,3}": "PARAGRAPH_TOKEN takes a quantifier alone",
    "PARAGRAPH_TOKEN>{3,2}": "PARAGRAPH_TOKEN has a minimum above its maximum",
}


@pytest.mark.parametrize("group", WRONG_GROUPS, ids=lambda group: group[:30])
def test_wrong_arguments_of_groups(group: str) -> None:
    for dialect in ("python", "ecma"):
        with pytest.raises(tk.PatternSyntaxError) as error:
            tk.regex(f"ab(?P<{group})", dialect=dialect)  # type: ignore[arg-type]
        assert error.value.reason == WRONG_GROUPS[group]
        assert error.value.position == 2
        assert error.value.hint


def test_errors_inside_of_arguments_have_their_places() -> None:
    for pattern, position, reason in (
        ("a(?P<DELIMITED_LIST>,|b|c**)", 26, "multiple repeat"),
        ("a(?P<DELIMITED_SUBSEQUENCE_OF>[z-a]|b)", 31, "bad character range z-a"),
        (r"a(?P<TEXT_UNTIL>bc\d)", 18, r"bad escape \d"),
        (r"(?P<SUBSTRING_OF>\ud800)", 17, "lone surrogate U+D800"),
        ("a(?P<SUBSTRING_OF>(b)", 1, "missing ), unterminated extension"),
        ("(?P<DELIMITED_LIST>,|(?P<TEXT_TOKEN>x))", 21, "TEXT_TOKEN takes a quantifier alone"),
    ):
        with pytest.raises(tk.PatternSyntaxError) as error:
            tk.regex(pattern)
        assert (error.value.position, error.value.reason) == (position, reason), pattern


def test_unknown_names_list_the_known() -> None:
    for name in ("QUOTED_TXT", "SUBSTRING", "TEXT_TOKENS"):
        for dialect in ("python", "ecma"):
            with pytest.raises(tk.PatternSyntaxError, match=f"unknown extension '{name}'") as error:
                tk.regex(f"a(?P<{name}>)", dialect=dialect)  # type: ignore[arg-type]
            assert error.value.position == 1
            assert error.value.hint == f"the extensions are {NAMES}"
            assert NAMES in str(error.value)
    assert taken(tk.regex("(?P<SUBSTRING>abc)"), ["abc", "ab", ""]) == {"abc"}  # a group like any other


A = tk.literal("a")
WRONG_CALLS: list[tuple[Callable[[], object], type[Exception], str]] = [
    (lambda: tk.text_until(""), ValueError, "at least one character"),
    (lambda: tk.text_until("a\ud800"), ValueError, "surrogate, U\\+D800, at position 1"),
    (lambda: tk.text_until(b"a"), TypeError, "must be a str, not bytes"),  # type: ignore[arg-type]
    (lambda: tk.text_until(), TypeError, "phrase"),  # type: ignore[call-arg]
    (lambda: tk.substring_of("\udfff"), ValueError, "surrogate"),
    (lambda: tk.substring_of(None), TypeError, "must be a str, not NoneType"),  # type: ignore[arg-type]
    (lambda: tk.substring_of(), TypeError, "text"),  # type: ignore[call-arg]
    (lambda: tk.control_token("\ud800"), ValueError, "surrogate"),
    (lambda: tk.control_token(-1), ValueError, "from 0 to below 2\\^31"),
    (lambda: tk.control_token(1 << 31), ValueError, "from 0 to below 2\\^31"),
    (lambda: tk.control_token(1.0), TypeError, "float"),  # type: ignore[arg-type]
    (lambda: tk.control_token(None), TypeError, "NoneType"),  # type: ignore[arg-type]
    (lambda: tk.delimited_list("a", A), TypeError, r"not str; write tokamata\.literal"),  # type: ignore[arg-type]
    (lambda: tk.delimited_list(A, ","), TypeError, r"not str; write tokamata\.literal"),  # type: ignore[arg-type]
    (lambda: tk.delimited_list(A, 5), TypeError, "takes constraints, not int"),  # type: ignore[arg-type]
    (lambda: tk.delimited_list(A, A, 3, 2), ValueError, "bounds"),
    (lambda: tk.delimited_list(A, A, -1), ValueError, "bounds"),
    (lambda: tk.delimited_list(A, A, 1.5), ValueError, "whole numbers"),  # type: ignore[arg-type]
    (lambda: tk.delimited_subsequence_of([], A), ValueError, "takes 1 to 1,000 items, not 0"),
    (lambda: tk.delimited_subsequence_of([A] * 1001, A), ValueError, "takes 1 to 1,000 items, not 1,001"),
    (lambda: tk.delimited_subsequence_of(["a"], A), TypeError, "takes constraints, not str"),  # type: ignore[list-item]
    (lambda: tk.delimited_subsequence_of([A], ","), TypeError, "takes constraints, not str"),  # type: ignore[arg-type]
    (lambda: tk.delimited_subsequence_of("ab", A), TypeError, "takes constraints, not str"),  # type: ignore[arg-type]
]


@pytest.mark.parametrize(("call", "error", "message"), WRONG_CALLS)
def test_wrong_arguments_of_functions(
    call: Callable[[], object], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        call()


def test_every_extension_is_a_group_and_a_function() -> None:
    assert ", ".join(sorted(expressions.EXTENSIONS)) == NAMES
    assert {name.lower() for name in NAMES.split(", ")} == set(tk.extensions.__all__)


@pytest.mark.parametrize("name", ["TEXT_TOKEN", "PARAGRAPH_TOKEN"])
@pytest.mark.parametrize("look", ["?=", "?!", "?<=", "?<!"])
def test_a_lookaround_knows_no_tokens(name: str, look: str) -> None:
    with pytest.raises(tk.UnsupportedPatternError, match="cut into tokens") as caught:
        tk.regex(f"ab({look}x(?P<{name}>))c")
    assert caught.value.position == 2
    with pytest.raises(tk.UnsupportedPatternError) as caught:
        tk.regex(f"(?P<DELIMITED_LIST>,|a({look}x(?P<{name}>))|b)")
    assert caught.value.position == 22
    tk.regex(f"(?P<{name}>)({look}x)a*")
