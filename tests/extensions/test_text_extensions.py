"""The extensions of paper 002, section 2.5, whose texts are one piece, as groups and as functions.

Their judges are Python's ``str``, a loop over characters, and PyYAML.
"""

from __future__ import annotations

import itertools
import json
import random
import re
from collections.abc import Callable
from typing import Any

import pytest
import yaml

import tokamata as tk
from tests.support.automata.explicit import substrings
from tests.support.matchers import takes
from tests.support.patterns.extension_probes import (
    VOCABULARY,
    VOCABULARY_OF_LETTERS,
    assert_taken,
    taken,
)
from tests.support.texts import all_texts
from tests.support.vocabularies import BYTES
from tokamata.automata import minimize

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
    probes = all_texts('"\\a\n', 6) + all_texts('"\\é\r', 4)
    probes += [f'"{text}"' for text in all_texts('"\\a\nn', 5)]
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
    probes = all_texts(INDICATORS, 3)
    judged = {probe for probe in probes if is_plain(probe)}
    assert len(judged) > 2000
    for constraint in UNQUOTED:
        assert taken(constraint, probes) == judged


def test_unquoted_text_of_four_characters() -> None:
    probes = all_texts(INDICATORS, 4, shortest=4)
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
    accepted = sorted(taken(tk.unquoted_text(), all_texts(INDICATORS, 2)))
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
    phrases = [*all_texts("ab", 3)[1:], "é", "aé", "éa", "\n", "a\n", "aabaa", "abab"]
    probes = all_texts("abé\n", 5) + all_texts("ab", 9)
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
    probes = all_texts("abx", 5)
    judged = {probe for probe in probes if probe.endswith("b") and ends_first("ab")(probe[:-1])}
    judged |= {probe for probe in probes if probe.startswith("x") and ends_first("a")(probe[1:])}
    assert taken(constraint, probes) == judged


# ---- SUBSTRING_OF -----------------------------------------------------------------------------


def substring(text: str) -> list[tk.Constraint]:
    return [tk.regex(f"(?P<SUBSTRING_OF>{re.escape(text)})"), tk.substring_of(text)]


def test_substring_of() -> None:
    probes = all_texts("abé", 5)
    for text in [*all_texts("abé", 4)[1:], "aabéab", "ababababab", "ééaéé"]:
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
