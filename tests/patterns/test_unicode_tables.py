"""The tables against Python's own ``unicodedata`` and ``re``, and against the module ``regex``.

Python's version of Unicode is not tokamata's, so they are compared on code points that Python knows,
and the few that changed their properties since are named here.
"""

from __future__ import annotations

import json
import random
import re
import subprocess
import sys
import unicodedata
from itertools import pairwise

import pytest

from tests.support.paths import DATA
from tests.support.patterns.naive_core import lowered
from tokamata.patterns.regex.classes import complement, equal_case, named_class, normalize
from tokamata.patterns.unicode import UNICODE_VERSION, Ranges, case_orbits, named_set, property_ranges
from tokamata.patterns.unicode import _names as names

SCALARS = [point for point in range(0x110000) if not 0xD800 <= point <= 0xDFFF]
KNOWN = [point for point in SCALARS if unicodedata.category(chr(point)) != "Cn"]
KNOWN_TEXT = "".join(map(chr, KNOWN))
KNOWN_SET = frozenset(KNOWN)

# Letters that were given another case after Unicode 14: U+A7DC and U+A7CB in Unicode 16.
NEW_CAPITALS = {0x19B, 0x264}

pytestmark = pytest.mark.filterwarnings("ignore::FutureWarning")


def members(ranges: Ranges) -> set[int]:
    return {point for low, high in ranges for point in range(low, high + 1)}


def found(pattern: str, flags: int = 0) -> set[int]:
    """The letters that a pattern of one letter finds; as runs, which are few."""
    return set(map(ord, "".join(re.findall(f"(?:{pattern})+", KNOWN_TEXT, flags))))


def test_named_classes_are_those_of_re() -> None:
    for letter in "dwsDWS":
        assert members(named_class(letter)) & KNOWN_SET == found("\\" + letter), letter
        assert members(named_class("a" + letter)) & KNOWN_SET == found("\\" + letter, re.A), letter
    for name in ("d", "w", "s", "ad", "aw", "as"):
        assert complement(named_class(name)) == named_class(name[:-1] + name[-1].upper())


def test_general_categories_are_those_of_python() -> None:
    changed = 0 if unicodedata.unidata_version == UNICODE_VERSION else 10  # moved to another one since
    wrong = 0
    his: dict[str, set[int]] = {}
    for point in KNOWN:
        his.setdefault(unicodedata.category(chr(point)), set()).add(point)
    for category, points in his.items():
        wrong += len(points ^ (members(property_ranges(category)) & KNOWN_SET))
    assert wrong <= 2 * changed


def test_single_letters_ignore_case_as_re_does() -> None:
    orbits = case_orbits()
    cased = [point for point in KNOWN if point in orbits or chr(point).swapcase() != chr(point)]
    text = "".join(map(chr, cased))
    for point in cased[:: 7 if len(cased) > 1000 else 1]:
        his = {ord(letter) for letter in re.findall(re.escape(chr(point)), text, re.I)}
        assert his == set(orbits.get(point, (point,))) & KNOWN_SET, hex(point)


MEMBERS = json.loads((DATA / "regex_pieces.json").read_text("utf-8"))["class_members"]


def test_random_classes_are_those_of_re() -> None:
    """Over all code points.  Ranges past U+FFFF are left out under ``ai``: there re forgets the ``a``."""
    generator = random.Random(7)
    for _ in range(50):
        flags = generator.choice([0, re.I, re.I, re.A, re.I | re.A])
        parts = generator.sample(MEMBERS, generator.randint(1, 4))
        if flags == re.I | re.A:
            parts = [part for part in parts if "\\U" not in part] or ["a"]
        pattern = f"[{generator.choice(['', '^'])}{''.join(parts)}]"
        try:
            his = found(pattern, flags)
        except re.error:
            continue
        expression = lowered(pattern, flags)
        ranges = expression[1] if expression[0] == "code_points" else ()
        assert (members(ranges) & KNOWN_SET) ^ his <= NEW_CAPITALS, (pattern, flags)


def test_re_forgets_flag_a_past_the_bmp() -> None:
    """A documented difference: here only ASCII letters have two cases under ``ai``, as re says."""
    if sys.version_info < (3, 14):  # which mended it
        assert re.fullmatch("[\U00010400-\U00010401]", "\U00010428", re.A | re.I)
    assert lowered("[\U00010400-\U00010401]", re.A | re.I) == ("code_points", ((0x10400, 0x10401),))


@pytest.mark.slow
def test_properties_are_those_of_the_regex_module() -> None:
    regex = pytest.importorskip("regex", reason="regex comes with the group test")
    assigned = members(property_ranges("Assigned")) - set(range(0xD800, 0xE000)) - set(range(0xE000, 0xF900))
    points = assigned - set(range(0xF0000, 0x110000))
    text = "".join(map(chr, sorted(points)))
    wrong: dict[str, int] = {}
    for name in spelled_out():
        try:
            his = set(map(ord, "".join(regex.findall(f"\\p{{{name}}}+", text))))
        except regex.error:
            assert name in NOT_IN_REGEX
            continue
        different = len(his ^ (members(property_ranges(name)) & points))
        if different:
            wrong[name] = different
    assert len(wrong) <= 20, wrong  # what changed between its version of Unicode and ours
    assert all(different <= 10 for different in wrong.values()), wrong


NOT_IN_REGEX = {
    "Changes_When_NFKC_Casefolded", "Composition_Exclusion", "Expands_On_NFC", "Expands_On_NFD",
    "Expands_On_NFKC", "Expands_On_NFKD", "Full_Composition_Exclusion",
}  # fmt: skip


def spelled_out() -> list[str]:
    """Every category and binary property, and some scripts and blocks."""
    table = names()
    categories = [f"General_Category={value}" for value in sorted(set(table["General_Category"].values()))]
    scripts = [f"Script={value}" for value in sorted(set(table["Script"].values())) if value != "Unknown"]
    extensions = [name.replace("Script=", "Script_Extensions=") for name in scripts]
    blocks = [f"Block={value}" for value in sorted(set(table["Block"].values()))]
    binary = sorted(value for value in set(table[""].values()) if value not in {*table, "Script_Extensions"})
    return categories + scripts[::2] + extensions[::4] + blocks[::20] + binary


@pytest.mark.parametrize(
    "same",
    [
        "Lu Uppercase_Letter gc=Lu General_Category=Lu general-category:uppercaseletter IsLu lu",
        "L Letter gc=L IsLetter",
        "L& LC Cased_Letter gc=LC",
        "Greek grek Script=Greek sc=Grek script:GREEK IsGreek",
        "scx=Grek Script_Extensions=Greek",
        "InBasicLatin Block=Basic_Latin blk=ASCII",
        "Alphabetic Alpha alpha=yes Alphabetic=T IsAlphabetic",
        "^Alphabetic Alphabetic=No alpha=F",
        "White_Space space WSpace whitespace",
        "punct P Punctuation",
        "Nd digit Decimal_Number",
        "Cyrillic Cyrl",
    ],
)
def test_aliases(same: str) -> None:
    first, *others = same.split()
    assert property_ranges(first)
    for other in others:
        assert property_ranges(other) == property_ranges(first), other


def test_special_names() -> None:
    scripts = set(names()["Script"].values())
    assert len(scripts) > 150
    assert sum(len(members(property_ranges(f"Script={script}"))) for script in scripts) == 0x110000
    assert property_ranges("Any") == ((0, 0x10FFFF),)
    assert property_ranges("ASCII") == ((0, 0x7F),)
    assert members(property_ranges("Assigned")) == set(range(0x110000)) - members(property_ranges("Cn"))
    assert property_ranges("^Any") == ()
    for wrong in (
        "",
        "Foo",
        "Script=Foo",
        "Foo=Bar",
        "Alphabetic=Perhaps",
        "^",
        "=",
        "Lu=",
        "InFoo",
        "Script",
    ):
        with pytest.raises(KeyError):
            property_ranges(wrong)


def test_properties_in_patterns() -> None:
    lu = normalize(property_ranges("Lu"))
    assert lowered("\\p{Lu}") == ("code_points", lu)
    assert (
        lowered("\\P{Lu}") == lowered("\\p{^Lu}") == lowered("[^\\p{Lu}]") == ("code_points", complement(lu))
    )
    assert lowered("\\P{^Lu}") == ("code_points", lu)
    assert lowered("\\pL") == lowered("\\p{L}")
    assert lowered("[\\p{Lu}a]") == ("code_points", normalize((*lu, (97, 97))))
    assert lowered("\\p{Lu}", re.I) == ("code_points", equal_case(lu))
    assert lowered("\\P{Lu}", re.I) == ("code_points", complement(equal_case(lu)))
    assert lowered("[^\\P{Lu}]", re.I) == ("code_points", equal_case(lu))


def test_algebra_of_ranges() -> None:
    generator = random.Random(3)
    for _ in range(300):
        low = [generator.choice([0, 5, 90, 0xD7F0, 0xE000, 0x10FFF0]) for _ in range(4)]
        pairs = [(at := start + generator.randint(0, 9), at + generator.randint(0, 6)) for start in low]
        pairs = [(start, min(end, 0x10FFFF)) for start, end in pairs]
        ranges = normalize(pairs)
        expected = {point for start, end in pairs for point in range(start, end + 1)} - set(
            range(0xD800, 0xE000)
        )
        assert members(ranges) == expected
        assert all(a[1] + 1 < b[0] or b[0] == 0xE000 for a, b in pairwise(ranges))
        near = {point + step for pair in (*ranges, *pairs) for point in pair for step in (-1, 0, 1)}
        near = {point for point in near if 0 <= point <= 0x10FFFF and not 0xD800 <= point <= 0xDFFF}
        others = complement(ranges)
        assert {
            point for point in near if any(low <= point <= high for low, high in others)
        } == near - expected
        assert complement(complement(ranges)) == ranges


def test_tables_are_lazy() -> None:
    code = (
        "import tokamata\n"
        "from tokamata.patterns import unicode\n"
        "print(unicode._table.cache_info().currsize)\n"
        "tokamata.regex('[a-z]*')\n"
        "print(unicode._table.cache_info().currsize)\n"
        "tokamata.regex(r'\\d')\n"
        "print(unicode._table.cache_info().currsize)\n"
    )
    assert subprocess.check_output([sys.executable, "-c", code]).split() == [b"0", b"0", b"1"]


def test_case_orbits_are_disjoint_and_small() -> None:
    orbits = case_orbits()
    assert orbits[ord("i")] == tuple(map(ord, "Iiİı"))
    assert max(map(len, orbits.values())) == 4
    assert all(orbits[other] is orbit for orbit in orbits.values() for other in orbit)
    assert named_set("python=d")[0] == (48, 57)
