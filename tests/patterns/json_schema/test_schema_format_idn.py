"""Names of hosts beyond ASCII, against the module ``idna``; and how long they become in Punycode."""

from __future__ import annotations

import random
import re
import sys
import unicodedata

import idna
import pytest

from tests.support.patterns.engine import Engine
from tokamata.patterns.json_schema.formats import format_language
from tokamata.patterns.json_schema.formats.punycode_prices import (
    ANYWHERE,
    BUDGET,
    IN_WINDOW,
    LONGEST,
    PRICE_OF_ASCII,
    WINDOWS,
    affordable,
)
from tokamata.patterns.unicode import named_set
from tokamata.patterns.unicode.idna import composing_sets, idna_set, idna_sets
from tools import punycode_lengths

BLOCKS = [
    (0x61, 0x7A), (0x30, 0x39), (0xDF, 0x17F), (0x3B0, 0x3FF), (0x430, 0x45F), (0x5D0, 0x5F4), (0x5B0, 0x5C7),
    (0x620, 0x66F), (0x6F0, 0x6FF), (0x780, 0x7B1), (0x900, 0x97F), (0x980, 0x9FF), (0xB80, 0xBFF),
    (0xD00, 0xD7F),
    (0xD80, 0xDFF), (0xE00, 0xE7F), (0x1000, 0x109F), (0x1F00, 0x1FFF), (0x3040, 0x30FF), (0x4E00, 0x4E40),
    (0xAC00, 0xAC40), (0x300, 0x345), (0x1E00, 0x1EFF), (0x10A00, 0x10A40),
]  # fmt: skip
SPECIAL = "\u200c\u200d\xb7l\u0375\u30fb-\u094d."


@pytest.fixture(scope="module")
def names() -> Engine:
    expression = format_language("idn-hostname")
    assert expression is not None
    return Engine(expression)


def is_valid(text: str) -> bool:
    """As IDNA 2008 has it, without a stop at the end."""
    labels = re.split("[.。．｡]", text)
    try:
        if any(unicodedata.bidirectional(letter) in ("R", "AL", "AN") for letter in text):
            for label in filter(None, labels):  # the module looks at one label at a time
                idna.check_bidi(label, check_ltr=True)
        return len(idna.encode(text)) <= 253 and labels[-1] != ""
    except (idna.IDNAError, UnicodeError):
        return False


def points(ranges: object) -> set[int]:
    assert isinstance(ranges, tuple)
    return {point for start, end in ranges for point in range(start, end + 1)}


@pytest.mark.parametrize("seed", range(4))
def test_nothing_invalid_and_little_left_out(names: Engine, seed: int) -> None:
    generator = random.Random(seed)
    valid = left_out = 0
    for _ in range(800):
        alphabets = [generator.choice(BLOCKS) for _ in range(generator.choice([1, 1, 2, 3]))]
        letters = [
            chr(generator.randint(*generator.choice(alphabets))) for _ in range(generator.randint(1, 10))
        ]
        for _ in range(generator.choice([0, 0, 1, 2])):
            letters.insert(generator.randrange(len(letters) + 1), generator.choice(SPECIAL))
        text = "".join(letters)
        if generator.random() < 0.3:
            text = unicodedata.normalize("NFC", text)
        if any(unicodedata.category(letter) == "Cn" for letter in text):
            continue  # idna asks the interpreter's tables for directions
        expected, found = is_valid(text), names.accepts(text)
        assert expected or not found, ascii(text)
        valid += expected
        left_out += expected and not found
    assert valid > 100
    assert left_out < valid / 20


@pytest.mark.parametrize(
    "text",
    [
        "straße.example", "bücher", "παράδειγμα.δοκιμή", "испытание", "пример.рф", "परीक्षा.भारत", "क़लम",
        "தமிழ்",
        "বাংলাদেশ", "മലയാളം", "ไทย", "ශ්රී", "क्\u200dष", "مثال.إختبار", "نامه\u200cای", "דוגמה.טעסט",
        "א'ב".replace("'", "׳"),
        "例え。テスト", "한국.kr", "l·l", "͵α", "ヴ・ア", "www.a-ü.b-1.de", "ދިވެހި", "aé.b", "1é", "é1",
        "ب٣", "ب۳",
        "ABC.é", "a--b.é", "x.y.z.é",
    ],
)  # fmt: skip
def test_names_of_the_world(names: Engine, text: str) -> None:
    assert is_valid(text)
    assert names.accepts(text)


@pytest.mark.parametrize(
    "text",
    [
        "Straße", "é-", "-é", "e\u0301", "é.", ".é", "é..a", "٣ب", "0a.ب", "ب٣۳", "·l", "α͵", "a・b",
        "ب\u200c",
        "क\u200d", "\u093eक", "ａ", "é_", "é é", "\u1e9e", "ẛ̣", "ﬁ", "①", "ー・\u3000",
    ],
)  # fmt: skip
def test_no_names(names: Engine, text: str) -> None:
    assert not is_valid(text)
    assert not names.accepts(text)


def test_form_c(names: Engine) -> None:
    """Labels of bases and marks that compose with some of them."""
    generator = random.Random("form C")
    sets = [(sorted(points(bases)), sorted(points(marks))) for bases, marks in composing_sets()]
    marks = sorted(points(idna_set("bidi=Nonspacing_Mark")))
    letters = sorted(points(idna_set("bidi=Right_To_Left")))
    accepted = 0
    for _ in range(3000):
        bases, composing = generator.choice(sets)
        pools = [bases, composing, bases, composing, marks, letters, [0x6C, 0xB7, 0x94D]]
        text = "".join(chr(generator.choice(generator.choice(pools))) for _ in range(generator.randint(2, 5)))
        if names.accepts(text):
            accepted += 1
            assert unicodedata.normalize("NFC", text) == text, ascii(text)
    assert accepted > 100
    assert not names.accepts(
        "\U00010c3f\u0c46\u0c56"
    )  # two vowel signs that compose, behind a letter of others


# What docs/formats.md says is left out.
@pytest.mark.parametrize(
    "text",
    ["xn--tda", "n̈a", "ẹ́kọ́", "a--é", "v.w.x.y.é", "漢" * 13, "ж" * 19, "ア漢a・b", "é.ب"],
)
def test_left_out(names: Engine, text: str) -> None:
    assert is_valid(text)
    assert not names.accepts(text)


# ---- the table --------------------------------------------------------------------------------


def test_pvalid_as_idna_has_it() -> None:
    from idna import idnadata

    theirs = {
        point
        for packed in idnadata.codepoint_classes["PVALID"]
        for point in range(packed >> 32, packed & 0xFFFFFFFF)
    }
    newer = points(named_set("General_Category=Unassigned"))
    assert points(idna_set("pvalid")) == theirs - newer


def test_marks_as_the_library_has_them() -> None:
    found = [name for name in idna_sets() if name.startswith("order=")]
    classes = []
    for name in found:
        known = {unicodedata.combining(chr(point)) for point in points(idna_set(name))} - {0}
        assert len(known) <= 1
        classes += sorted(known)
    assert classes == sorted(set(classes))
    assert 9 in classes


def test_pairs_that_compose() -> None:
    known = {point for point in range(sys.maxunicode + 1) if unicodedata.category(chr(point)) != "Cn"}
    for bases, marks in composing_sets():
        for base in points(bases) & known:
            composed = [chr(base) + chr(mark) for mark in points(marks) & known]
            assert any(unicodedata.normalize("NFC", pair) != pair for pair in composed) or not composed


# ---- Punycode ---------------------------------------------------------------------------------


def cost(text: str) -> int:
    """The least price of a label."""
    beyond = [ord(letter) for letter in text if letter > "\x7f"]
    together = any(all(low <= point <= high for point in beyond) for low, high in WINDOWS)
    return PRICE_OF_ASCII * (len(text) - len(beyond)) + (IN_WINDOW if together else ANYWHERE) * len(beyond)


def drawn(generator: random.Random) -> str:
    low, high = generator.choice([*WINDOWS, (0x80, 0x3347F), (0x4E00, 0x9FFF)])
    label = ""
    while True:
        longer = label + chr(
            generator.choice([0x61, generator.randint(low, high), generator.choice([low, high])])
        )
        if cost(longer) > BUDGET:
            return label
        label = longer


def test_labels_are_short_in_punycode() -> None:
    generator = random.Random("punycode")
    for _ in range(3000):
        label = drawn(generator)
        if any("\ud800" <= letter <= "\udfff" for letter in label):
            continue
        assert len(b"xn--" + label.encode("punycode")) <= LONGEST


def test_prices() -> None:
    generator = random.Random("prices")
    engine = Engine(affordable())
    for _ in range(300):
        label = drawn(generator)
        if any("\ud800" <= letter <= "\udfff" for letter in label):
            continue
        assert engine.accepts(label)
        longer = label + generator.choice("aé漢")
        assert engine.accepts(longer) == (cost(longer) <= BUDGET)


def test_the_search_for_long_labels() -> None:
    """It tells as many digits as Python's encoder writes for the worst that were drawn, or more."""
    assert punycode_lengths.digits(0, 0) == 1
    generator = random.Random("search")
    window = (0x400, 0x4FF)
    for length, plain in ((3, 0), (6, 2), (10, 1)):
        found = punycode_lengths.longest(window, length, [plain])[plain]
        worst = 0
        for _ in range(400):
            letters = [chr(generator.randint(*window)) for _ in range(length - plain)] + ["a"] * plain
            generator.shuffle(letters)
            written = "".join(letters).encode("punycode")
            worst = max(worst, len(written) - plain - bool(plain))
        assert worst <= found <= worst + 4
    assert punycode_lengths.octets(WINDOWS[0], IN_WINDOW, [17, 18]) <= LONGEST
