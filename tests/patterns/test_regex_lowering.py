"""How a pattern is lowered: few expressions, linear work, the promised speed."""

from __future__ import annotations

import pytest

from tests.support.patterns.naive_core import lowered
from tokamata.errors import LimitExceeded, PatternError, UnsupportedPatternError
from tokamata.patterns.regex import MAX_RANGES, to_expression
from tokamata.patterns.regex.classes import named_class
from tokamata.patterns.regex.parser import parse
from tokamata.patterns.regex.syntax import Concat, Literal, Repeat


def test_single_code_points_become_one_class() -> None:
    everything = ("code_points", ((0, 0xD7FF), (0xE000, 0x10FFFF)))
    assert lowered("(.|\n)*") == ("repeat", everything, 0, None, 0)
    assert lowered("a|b|[x-z]|\\d", 256) == lowered("[abx-z0-9]")
    assert lowered("a|bc|d") == ("union", ("literal", "bc"), ("code_points", ((97, 97), (100, 100))))


def test_adjacent_texts_become_one() -> None:
    assert lowered("ab\\.c(?:d)(e(f))\\x41") == ("literal", "ab.cdefA")
    assert lowered("^a(b[c]d)e$") == (
        "concat",
        ("literal", "ab"),
        ("code_points", ((99, 99),)),
        ("literal", "de"),
    )
    assert lowered("a{1}b") == ("concat", ("literal", "a"), ("literal", "b"))
    assert lowered("") == lowered("()") == lowered("a{0}") == ("epsilon",)


def test_repeats_know_their_position() -> None:
    assert lowered("ab(cd){2}")[2] == ("repeat", ("literal", "cd"), 2, 2, 2)
    assert lowered("ab*")[2] == ("repeat", ("literal", "b"), 0, None, 1)
    assert lowered("x(?:(a)+|b)*")[2][4] == 1


def test_positions_of_the_tree() -> None:
    root = parse("ab(?#c)[x]c*").root
    assert isinstance(root, Concat)
    assert [item.position for item in root.items] == [0, 1, 7, 10]
    assert isinstance(root.items[0], Literal)
    assert isinstance(root.items[3], Repeat)


def test_surrogates_are_no_text() -> None:
    assert lowered("\\ud800") == lowered("[\\ud800-\\udfff]") == ("empty",)
    assert lowered("[\\ud7ff-\\ue000]") == ("code_points", ((0xD7FF, 0xD7FF), (0xE000, 0xE000)))
    assert lowered("\\p{Cs}") == ("empty",)


def test_the_ranges_of_all_classes_are_bounded() -> None:
    """Few characters can ask for many ranges, which take time and memory before any limit holds."""
    different = [f"[\\w{chr(0x20000 + i)}]" for i in range(15_000)]
    with pytest.raises(UnsupportedPatternError, match="more than 500,000 ranges") as caught:
        to_expression("".join(different))
    assert caught.value.position == 5 * (MAX_RANGES // len(named_class("w")))
    to_expression("".join(different[:600] * 20))  # what is the same counts once
    to_expression("|".join(different[:600] * 20))
    to_expression("\\w\\p{L}[^\\W_]" * 5000)
    with pytest.raises(UnsupportedPatternError, match="ranges"):
        to_expression("".join(f"[\\p{{L}}{chr(0x20000 + i)}]" for i in range(15_000)), dialect="ecma")


SIZE = 60_000
LARGE = {
    "text": "a" * SIZE,
    "repeats": "a*" * (SIZE // 2),
    "open": "(" * SIZE,
    "groups": "()" * (SIZE // 2),
    "brackets": "[" * SIZE,
    "classes": "[]" * (SIZE // 2),
    "braces": "{1" * (SIZE // 2),
    "digits": "a{" + "1" * SIZE,
    "comments": "(?#" * (SIZE // 3),
    "names": "(?P<a" * (SIZE // 5),
    "references": "(?P=a" * (SIZE // 5),
    "flags": "(?" + "i" * SIZE,
    "minus": "(?i-" * (SIZE // 4),
    "N": "\\N{" * (SIZE // 3),
    "bars": "a|" * (SIZE // 2),
    "options": "(?:ab|bc)" * (SIZE // 9),
    "word classes": "[\\w-]" * (SIZE // 6),
    "long class": "[" + "".join(chr(0x100 + 2 * i % 0x8000) for i in range(SIZE)) + "]",
    "escapes in class": "[" + "\\-" * (SIZE // 2) + "]",
    "bad escape in class": "[" + "\\-" * (SIZE // 2) + "\\q]",
    "ignoring case": "(?i)" + "k" * SIZE,
    "verbose": "(?x)" + " #a\n" * (SIZE // 4),
    "verbose groups": "(?x:a)b" * (SIZE // 7),
    "anchors": "^" * SIZE,
    "undecided anchors": "a?" + "^" * SIZE,
    "nested anchors": "(?:a|^" * 400 + ")" * 400,
    "right": "(a" * 499 + "b" * SIZE + ")" * 499,
    "left": "(" * 499 + "b" * SIZE + "[c]" + ")a" * 499,
    "backslashes": "\\" * (SIZE + 1),
    "properties": "\\p{Greek}" * (SIZE // 9),
    "unknown property": "\\p{" + "x" * SIZE + "}",
    "boundaries": "\\b" * (SIZE // 2),
    "undecided boundaries": "[a-]?\\b" * (SIZE // 7),
    "lookaheads": "(?=a|b$)" * (SIZE // 8),
    "open lookaheads": "(?=" * SIZE,
    "nested lookaheads": "(?=a|" * 499 + "b?" * SIZE + ")" * 499,
    "nested lookbehinds": "(?<!" * 499 + "b?" * SIZE + ")" * 499,
    "sets of sets": "[" + "\\w" * (SIZE // 2) + "]",
    "alternatives that are sets": "|".join(f"\\w|{chr(0x20000 + i)}" for i in range(SIZE // 5)),
    "unions of sets": "".join(f"(?:\\w|{chr(0x20000 + i)})" for i in range(SIZE // 8)),
}


LARGE_IN_ECMA = {
    "bars": "^a|b$|" * (SIZE // 6),
    "edges": "(?:" * 499 + "^aa|" + "a|b$)" * 499,
    "edges in lookaheads": "(?=(?:" * 249 + "a$|b))" * 249,
    "what may be empty": "(?:a?)*" * (SIZE // 7),
    "names": "(?<a" * (SIZE // 4),
    "many names": "".join(f"(?<n{i}>a)" for i in range(SIZE // 10)),
    "references": "\\k<a" * (SIZE // 4),
    "a reference": "(a)" * (SIZE // 3) + "\\99999",
    "braces": "\\u{" * (SIZE // 3),
    "digits": "\\u{" + "0" * SIZE + "41}",
    "brackets": "[" * SIZE,
    "open groups": "(?<" * (SIZE // 3),
    "properties": "\\p{L}\\P{Lu}" * (SIZE // 11),
}
CASES = [(name, "python") for name in LARGE] + [(name, "ecma") for name in LARGE_IN_ECMA]


@pytest.mark.timeout(60)  # a quadratic step takes minutes
@pytest.mark.parametrize(("name", "dialect"), CASES)
def test_work_is_linear(name: str, dialect: str) -> None:
    message = ""
    try:
        lowered((LARGE_IN_ECMA if dialect == "ecma" else LARGE)[name], dialect=dialect)
    except (PatternError, LimitExceeded) as error:
        message = str(error)
    assert len(message) < 1000


def test_the_engine_takes_it() -> None:
    """With the real engine, when it is there."""
    for pattern in ("", "a(b|[0-9])*?", "(.|\n)*", r"\w+@\w+\.(com|org)", "[^\\s\\S]", "a{0,1000000}"):
        assert to_expression(pattern) is not None
