"""What repairs lose, invent and change: cases, and laws against sets of words that no edit is asked about."""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from typing import Any

import pytest

import tokamata as tk
from tokamata.repair.json_losses import content_changes

PAINTER = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "born": {"type": "integer"},
        "style": {"enum": ["cubism", "expressionism", "impressionism"]},
    },
    "required": ["name", "born", "style"],
    "additionalProperties": False,
}
NUMBER = {
    "type": "object",
    "properties": {"y": {"type": "integer"}},
    "required": ["y"],
    "additionalProperties": False,
}

Change = tuple[str, bytes, bytes, Any]


def shown(repair: tk.Repair[Any]) -> list[Change]:
    """Kind, bytes before and after, and path of all that is not as it was."""
    changes = sorted([*repair.lost, *repair.invented, *repair.changed])
    return [(one.kind, one.removed, one.written, one.path) for one in changes]


# ---- edits that are given: what a repair would have to do is not asked -----------------------------


def given(broken: str, *edits: tuple[str, str]) -> tuple[str, list[Change]]:
    """The text after edits, each at the first place after the last one, and what they lose and invent."""
    position, text, bare = 0, "", []
    for removed, written in edits:
        begin = broken.index(removed, position)
        text += broken[position:begin] + written
        position = begin + len(removed)
        bare.append((len(broken[:begin].encode()), removed.encode(), written.encode()))
    text += broken[position:]
    changes = content_changes(broken.encode(), text.encode(), bare, True)
    in_order = sorted(sum(changes, ()), key=lambda one: one.begin)
    return text, [(one.kind, one.removed, one.written, one.path) for one in in_order]


@pytest.mark.parametrize(
    ("broken", "edits", "expected"),
    [
        # Structure and spelling are no content.
        ("{'a': 0x1F,}", [("'a'", '"a"'), ("0x1F", "31"), (",", "")], []),
        ("[1_000, +5, 07]", [("1_000", "1000"), ("+", ""), ("07", "7")], []),
        ("[True, None, nil]", [("True", "true"), ("None", "null"), ("nil", "null")], []),
        ("[1.234,56]", [("1.234,56", "1234.56")], []),
        ("[３, −4]", [("３", "3"), ("−4", "-4")], []),
        ("[1.50, 1.]", [("1.50", "1.5"), ("1.", "1.0")], []),
        (r'["caf\xe9", "it\'s"]', [(r"caf\xe9", "café"), (r"\'", "'")], []),
        (r'["C:\new\table"]', [("\\", "\\\\"), ("\\", "\\\\")], []),
        (r'{\"a\": \"b\n\"}', [("\\", ""), ("\\", ""), ("\\", ""), ('\\"', '"')], []),
        ("```json\n[1]\n```", [("```json\n", ""), ("\n```", "")], [("prose", b"json", b"", None)]),
        # Content moves: into a longer text, into a name, within one edit.
        ('["say" 1]', [('" 1', ' 1"')], []),
        ("f(x=1, y='two')", [("f(x=1, y='two')", '{"x":1,"y":"two"}')], [("text", b"f", b"", ())]),
        ("x: one\ny: two", [("x: one\ny: two", '{"x": "one", "y": "two"}')], []),
        # Prose, drafts, members.
        ("Sure, here: [1] ok?", [("Sure, here: ", ""), (" ok?", "")],
         [("prose", b"Sure, here", b"", None), ("prose", b"ok", b"", None)]),
        ('Or {"k": 1}? {"k": 2}', [('Or {"k": 1}? ', "")],
         [("prose", b"Or", b"", None), ("member", b'"k": 1', b"", None)]),
        ('{"a": 1, "a": 2}', [('"a": 1, ', "")], [("member", b'"a": 1', b"", ())]),
        ('{"a": [7, 7]}', [(", 7", "")], [("number", b"7", b"", ("a",))]),
        ('{"a": {"b": 1, "c": {"d": 2}}}', [(', "c": {"d": 2}', "")],
         [("member", b'"c": {"d": 2', b"", ("a",))]),
        ("[1, // the first\n 2]", [("// the first\n", "")], [("text", b"the first", b"", ())]),
        ('["one two"]', [("one ", "")], [("text", b"one", b"", (0,))]),
        ("[5kg]", [("kg", "")], [("text", b"kg", b"", ())]),
        ("[5 €]", [(" €", "")], [("text", "€".encode(), b"", ())]),
        # Invented.
        ('{"a": 1', [("1", '1, "b": {"c": []}}')], [("member", b"", b'"b": {"c": []}', ("b",))]),
        ('{"a": }', [(": ", ": null")], [("literal", b"", b"null", ("a",))]),
        ('{"a": }', [(": ", ': ""')], [("empty", b"", b'""', ("a",))]),
        ("[1", [("1", "1, [0, true]]")],
         [("number", b"", b"0", (1, 0)), ("literal", b"", b"true", (1, 1))]),
        ('["expr', [("expr", 'expressionism"]')], [("text", b"", b"essionism", (0,))]),
        # Changed.
        ('{"y": 99.95}', [("99.95", "100")], [("number", b"99.95", b"100", ("y",))]),
        ("[1 2]", [(" ", "")], [("number", b"1 2", b"12", (0,))]),
        ('["expresionism"]', [("expres", "express")], [("text", b"expresionism", b"expressionism", (0,))]),
        ('{"nme": 1}', [("nme", "name")], [("name", b"nme", b"name", ("name",))]),
        ("[-3]", [("-", "")], [("number", b"-3", b"3", (0,))]),
        ("[NaN]", [("NaN", "null")], [("literal", b"NaN", b"null", (0,))]),
        ('["a b c d"]', [("a", "x"), ("d", "y")], [("text", b"a", b"x", (0,)), ("text", b"d", b"y", (0,))]),
    ],
)  # fmt: skip
def test_cases(broken: str, edits: list[tuple[str, str]], expected: list[Change]) -> None:
    text, found = given(broken, *edits)
    json.loads(text)
    assert found == expected, text


# ---- repairs --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("schema", "broken", "expected"),
    [
        (PAINTER, '{"name": "Paul Klee", "born": 1879', [("member", b"", b'"style":"cubism"', ("style",))]),
        (
            PAINTER,
            'It is: {"name": "Klee", "born": "1879", "style": "expresionism",',
            [("prose", b"It is", b"", None), ("text", b"expresionism", b"expressionism", ("style",))],
        ),
        (NUMBER, '{"y": 5kg}', [("text", b"kg", b"", ())]),
        (NUMBER, '{"y": "7"}', []),
        (NUMBER, "{y: 7,}", []),
        (NUMBER, "", [("member", b"", b'"y":0', ("y",))]),
        (True, "{'a': True, 'b': None} bye!", [("prose", b"bye", b"", None)]),
        (True, '[1, 2 3, "a\nb"]', []),
    ],
)
def test_repairs(schema: Any, broken: str, expected: list[Change]) -> None:
    repair = tk.json_schema(schema).repair(broken)
    assert shown(repair) == expected, repair.text


def test_an_accepted_text_has_lost_nothing() -> None:
    repair = tk.json().repair('{"a": [1, "b"]}')
    assert (repair.lost, repair.invented, repair.changed) == ((), (), ())


def test_places_are_bytes_of_the_broken_text() -> None:
    broken = 'Größe: {"a": "né", "b": 12} – fertig'
    repair = tk.json().repair(broken)
    before, after = repair.lost
    assert (before.begin, before.end, before.removed) == (0, 7, "Größe".encode())
    assert after.removed == b"fertig"
    assert broken.encode()[after.begin : after.end] == b"fertig"
    assert (before.size, before.kind, before.written) == (1, "prose", b"")


def test_types_have_paths_and_other_syntaxes_have_characters() -> None:
    json_type = tk.type(dict[str, int]).repair("{'a': 1, 'b': 2} ok")
    assert [(one.kind, one.removed) for one in json_type.lost] == [("prose", b"ok")]
    python = tk.type(list[int], syntax="python").repair("[1, 2, 3")
    assert [(one.written, one.path) for one in python.invented] == [(b"]", None)]


# ---- other constraints than JSON ------------------------------------------------------------------


def test_characters() -> None:
    date = tk.regex(r"\d{4}-\d\d é+")
    repair = date.repair("x2026_11 éa")
    assert all(one.path is None and one.kind == "text" for one in [*repair.lost, *repair.invented])
    changes = sorted([*repair.lost, *repair.invented, *repair.changed])
    assert [(one.removed, one.written, one.size) for one in changes] == [
        (b"x", b"", 1),
        (b"_", b"-", 1),
        (b"a", b"", 1),
    ]


def test_characters_are_whole() -> None:
    """An edit of one byte of a character changes the character."""
    broken, text = "aéb".encode(), "aèb".encode()
    (change,) = content_changes(broken, text, [(2, b"\xa9", b"\xa8")], False).changed
    assert (change.begin, change.removed, change.written) == (1, "é".encode(), "è".encode())


def test_changes_of_characters_are_the_edits() -> None:
    draw, judged = random.Random(3), 0
    for _ in range(300):
        text = "".join(draw.choices("abé1", k=draw.randrange(9)))
        repair = tk.regex(draw.choice(["[ab]*1", "(aé)+", "(a|b1)*é?", "b{3}|é1"])).repair(text)
        made, position = b"", 0
        for one in sorted([*repair.lost, *repair.invented, *repair.changed]):
            assert repair.certificate.broken[one.begin : one.end] == one.removed
            made += repair.certificate.broken[position : one.begin] + one.written
            position = one.end
        assert made + repair.certificate.broken[position:] == repair.text.encode()
        judged += bool(repair.lost or repair.invented or repair.changed)
    assert judged > 150


# ---- the law of words -----------------------------------------------------------------------------

WORD = re.compile(rb"[A-Za-z]+")
NAMES = [
    "alpha",
    "beta",
    "gamma",
    "delta",
    "epsilon",
    "zeta",
    "eta",
    "theta",
    "iota",
    "kappa",
    "lambda",
    "omega",
]
STRUCTURE = "\"',:{}[] \n"


def random_value(draw: random.Random, depth: int = 0) -> Any:
    word = "".join(draw.choices("abcdefgh", k=draw.randrange(3, 8)))
    which = draw.random()
    if depth < 3 and which < 0.4:
        return {name: random_value(draw, depth + 1) for name in draw.sample(NAMES, draw.randrange(1, 4))}
    if depth < 3 and which < 0.6:
        return [random_value(draw, depth + 1) for _ in range(draw.randrange(4))]
    return " ".join([word, draw.choice(NAMES)][: draw.randrange(1, 3)])


def mutated(draw: random.Random, text: str) -> str:
    for _ in range(draw.randrange(1, 4)):
        at = draw.randrange(len(text) + 1)
        kind = draw.randrange(4)
        if kind == 0:
            text = text[:at] + text[at + 1 :]
        elif kind == 1:
            text = text[:at] + draw.choice([*STRUCTURE, "word ", "x", "// say\n"]) + text[at:]
        elif kind == 2:
            text = text[: max(at, 1)]
        else:
            text = draw.choice(["Look: ", "", "so "]) + text + draw.choice([" well", "", " {mu: nu}"])
    return text


def words(data: bytes) -> Counter[bytes]:
    return Counter(WORD.findall(data))


def words_of(value: Any) -> Counter[bytes]:
    found: Counter[bytes] = Counter()
    if isinstance(value, dict):
        for name, one in value.items():
            found += words(name.encode()) + words_of(one)
    elif isinstance(value, list):
        for one in value:
            found += words_of(one)
    elif isinstance(value, str):
        found += words(value.encode())
    elif value is None or isinstance(value, bool):
        found += words(json.dumps(value).encode())
    return found


def net(repair: tk.Repair[Any]) -> Counter[bytes]:
    """Words that were lost, less those that were invented, by what is reported."""
    found: Counter[bytes] = Counter()
    gone = {at for one in [*repair.lost, *repair.changed] for at in range(one.begin, one.end)}
    for one in [*repair.lost, *repair.invented, *repair.changed]:
        removed, written = one.removed, re.sub(rb"\\u00(\w\w)", _character, one.written)
        if not removed and one.kind in ("text", "name") and one.begin - 1 not in gone:
            # What continues a word of the text stands for the whole word.
            (beginning,) = re.findall(rb"[A-Za-z]*\Z", repair.certificate.broken[: one.begin])[:1]
            removed, written = beginning, beginning + written
        found.update(words(removed))
        found.subtract(words(written))
    return found


def _character(match: re.Match[bytes]) -> bytes:
    return bytes((int(match[1], 16),))


def resolved(value: Any, path: tuple[str | int, ...]) -> Any:
    for step in path:
        value = value[step]
    return value


def letters(words: Counter[str]) -> dict[str, int]:
    """Of words, each as often as it counts; a word that a repair completes is two words of its letters."""
    found = Counter[str]()
    for word, count in words.items():
        for letter in word:
            found[letter] += count
    return {letter: count for letter, count in found.items() if count}


@pytest.mark.parametrize(
    ("constraint", "count"), [(tk.json(), 200), (tk.json_schema(PAINTER), 40)], ids=["any", "painter"]
)
def test_words_of_the_text_and_of_the_value(constraint: tk.Constraint[Any], count: int) -> None:
    """Letters of the text, less those of the value, are those lost less those invented."""
    draw, judged = random.Random(5), 0
    for _ in range(count):
        broken = mutated(draw, json.dumps(random_value(draw)))
        repair = constraint.repair(broken, deadline_seconds=0.1)  # of any answer the law holds
        expected = words(broken.encode())
        expected.subtract(words_of(repair.value))
        found = net(repair)
        assert letters(found) == letters(expected), broken
        for one in [*repair.lost, *repair.invented, *repair.changed]:
            assert broken.encode()[one.begin : one.end] == one.removed
            assert one.written in repair.text.encode()
            assert one.size >= 1
            if one.path is not None:
                resolved(repair.value, one.path)
        assert all(one.removed and not one.written for one in repair.lost)
        assert all(one.written and not one.removed for one in repair.invented)
        assert all(one.written and one.removed for one in repair.changed)
        judged += bool(repair.lost or repair.invented or repair.changed)
    assert judged > count / 3


def test_deep_and_long_texts() -> None:
    """Paths of deep values are cut, and the work is linear."""
    deep = "[" * 3000 + "x 1" + "]" * 3000
    edits = [(3000, b"x", b"")]
    (lost,) = content_changes(deep.encode(), deep.replace("x", "").encode(), edits, True).lost
    assert lost.path == (0,) * 100
    number = 5_000
    text = b"[" + b"1," * number + b"1]"
    digits = [(3 * i + 2, b"2", b"") for i in range(number)]
    changes = content_changes(b"[" + b"12," * number + b"1]", text, digits, True)
    assert len(changes.changed) == number
    every = [(i, b"a" if i % 2 == 0 else b" ", b"") for i in range(2 * number)]
    given_up = content_changes(b"a " * number, b"[]", [*every, (2 * number, b"", b"[]")], True)
    assert [one.size for one in given_up.lost] == [number]


# ---- strict ---------------------------------------------------------------------------------------


def test_strict() -> None:
    painter = tk.json_schema(PAINTER)
    broken = "So: {'name': 'Klee', 'born': 1879, 'style': 'cubism'}"
    assert painter.repair(broken, strict=tk.RepairBounds()).value["name"] == "Klee"
    with pytest.raises(tk.RepairRefusedError) as prose:
        painter.repair(broken, strict=tk.RepairBounds(prose=0))
    assert prose.value.exceeded == {"prose": (1, 0)}
    cut_off = '{"name": "Klee", "born": 1879'
    with pytest.raises(tk.NoRepairError) as invented:
        painter.repair(cut_off, strict=tk.RepairBounds())
    assert isinstance(invented.value, tk.RepairRefusedError)
    assert invented.value.exceeded == {"invented": (2, 0)}
    assert invented.value.repair.text == painter.repair(cut_off).text
    assert invented.value.lower_bound == invented.value.repair.lower_bound
    for enough in (tk.RepairBounds(invented=2), tk.RepairBounds(invented=None)):
        assert painter.repair(cut_off, strict=enough).invented == invented.value.repair.invented


def test_strict_with_at_most_and_characters() -> None:
    letters = tk.regex("(ab)*")
    kept = letters.repair("aab", at_most={"remove": 0}, strict=tk.RepairBounds(invented=1))
    assert kept.text == "abab"
    with pytest.raises(tk.RepairRefusedError, match=r"lost 3 \(at most 2\)"):
        letters.repair("xyabz", strict=tk.RepairBounds(lost=2))
