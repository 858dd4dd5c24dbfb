"""The programs for the tables of paper 004: what they count is what happens, and a wrong proof is counted."""

from __future__ import annotations

import random
import unicodedata
from dataclasses import replace
from typing import Any

import pytest

from benchmarks.guard import boundary_table, unicode_table
from benchmarks.guard.attacks import Attacker
from benchmarks.guard.boundary_table import NEVER, UNSETTLED, UNWRITTEN, Detectors, rejects
from benchmarks.guard.observations import Program, damage
from benchmarks.guard.subjects import AS_IT_IS, Subject
from benchmarks.guard.unicode_table import variants
from tests.support.models.small_models import small_tokenizer
from tokamata import guard
from tokamata.guard.normalization import Normalization


@pytest.fixture(scope="module")
def subject() -> Subject:
    """Every byte is a token; further tokens are 12, 34, 1234, ab, abc, th, the, on, one, tw, two."""
    return Subject("small", AS_IT_IS, small_tokenizer().backend_tokenizer)


@pytest.fixture(scope="module")
def detectors(subject: Subject) -> Detectors:
    return Detectors(subject)


@pytest.mark.parametrize(
    ("text", "pieces", "kinds"),
    [
        ("xab", ["xa", "b"], {"crossed"}),
        ("abx", ["a", "bx"], {"crossed"}),
        ("xabx", ["x", "a", "b", "x"], set()),
        ("abab", ["ab", "ab"], set()),
        ("abab", ["ab", "xb"], {"destroyed"}),
        ("xab", ["xa", "b", "ab"], {"crossed"}),
        ("x", ["ab"], {"made"}),
        ("x", ["xa", "b"], {"made", "crossed"}),
        ("x", [], set()),
        ("ab", [], {"destroyed"}),
    ],
)
def test_damage(text: str, pieces: list[str], kinds: set[str]) -> None:
    spelled = [piece.encode() for piece in pieces]
    assert damage(b"ab", text.encode(), spelled) == kinds
    assert damage(b"ab", text.encode(), spelled, has_unknown=True) == {
        "unknown" if kind == "destroyed" else kind for kind in kinds
    }


def test_damage_of_overlapping_occurrences() -> None:
    assert damage(b"aa", b"aaa", [b"aaa"]) == {"crossed"}
    assert damage(b"aa", b"aaa", [b"aa", b"a"]) == {"crossed"}
    assert damage(b"aa", b"aaa", [b"aa"]) == {"destroyed"}


def test_the_program_is_asked_in_both_readings(subject: Subject) -> None:
    text, read = (Program(subject.source, subject.vocabulary, reading) for reading in ("text", "read"))
    assert read.pieces("a<eos>") == ([b"a", b"<eos>"], False)
    assert text.pieces("a<eos>") == ([bytes([byte]) for byte in b"a<eos>"], False)
    assert text.damage(b"b", "ab") == {"crossed"}
    assert read.reproduces("a<eos>\u0338")
    assert text.damage(b"::=", "::=\u0338", unicodedata.normalize("NFC", "::=\u0338")) == {"destroyed"}
    assert text.damage(b"::=", "\u2a74", unicodedata.normalize("NFKC", "\u2a74")) == {"made"}


def test_variants_have_the_boundary_or_become_it() -> None:
    boundary = "<|im_end|>"
    texts = list(variants(boundary))
    assert len(texts) > 1_000
    middle = len(boundary) // 2
    for text, entry in texts:
        assert entry.text is not None
        assert entry.text in text
        is_within = text == boundary[:middle] + entry.text + boundary[middle:]
        assert boundary in text or is_within or boundary in unicodedata.normalize("NFKC", text), ascii(text)
    assert "<|im_end|\ufe65" in [text for text, _ in texts]


def test_attacks_find_what_crosses(subject: Subject) -> None:
    program = Program(subject.source, subject.vocabulary, "read")
    attacker = Attacker(subject.vocabulary, random.Random(5))
    for boundary, is_crossed in (("b", True), ("2", True), ("wo", True), ("<eos>", False), ("z", False)):
        texts = list(attacker.texts(boundary, 200))
        assert all(boundary in text for text in texts)
        crossed = ["crossed" in program.damage(boundary.encode(), text) for text in texts]
        assert any(crossed) == is_crossed, boundary


def test_detectors(detectors: Detectors) -> None:
    found = {text: detectors.least(text) for text in ("b", "bc", "a", "z", "abc", "hello")}
    assert found == {"b": 1, "bc": 1, "a": 1, "z": NEVER, "abc": NEVER, "hello": 4}  # the l l o
    assert [rejects(3, horizon) for horizon in (2, 3, 4)] == [False, True, True]
    assert [rejects(each, 5) for each in (NEVER, UNSETTLED, UNWRITTEN)] == [False, None, None]


BOUNDARIES = ["b", "bc", "z", "abc", "<eos>", "::="]


def rows_of(subject: Subject, detectors: Detectors) -> dict[str, dict[str, Any]]:
    found = boundary_table.measure(subject, detectors, BOUNDARIES, 150, seed=3)
    assert [row["boundary"] for row in found["own"]] == ["<pad>", "<eos>", "<bos>", "<end_of_turn>"]
    assert all(row["attacks"] == 150 and not row["refuted"] for row in found["own"])
    return {row["boundary"]: row for row in found["rows"]}


def test_table_1(subject: Subject, detectors: Detectors) -> None:
    rows = rows_of(subject, detectors)
    assert {text: (row["left"], row["right"]) for text, row in rows.items()} == {
        "b": ("witness", "witness"),
        "bc": ("witness", "proved"),
        "z": ("proved", "proved"),
        "abc": ("proved", "proved"),
        "<eos>": ("proved", "proved"),
        "::=": ("proved", "proved"),
    }
    assert all(row["confirmed"] and not row["refuted"] for row in rows.values())
    assert {row["attacks"] for row in rows.values()} == {0, 150}


def test_a_wrong_proof_is_counted_in_table_1(
    subject: Subject, detectors: Detectors, monkeypatch: pytest.MonkeyPatch
) -> None:
    of = guard.boundary

    def forged(source: object, text: str, **settings: Any) -> guard.Boundary:
        proved = of(source, "z", **settings)
        return replace(of(source, text, **settings), crossed_left=proved.crossed_left)

    monkeypatch.setattr(boundary_table.guard, "boundary", forged)
    rows = rows_of(subject, detectors)
    assert {text for text, row in rows.items() if row["refuted"]} == {"b", "bc"}
    assert "ab" in rows["b"]["refutation"]


def total_of(found: dict[str, Any], name: str) -> int:
    return sum(counts.get(name, 0) for counts in found["counts"].values())


def test_table_2(subject: Subject, detectors: Detectors, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unicode_table, "BOUNDARIES", ("::=", "b"))
    found = unicode_table.measure(subject, detectors, quick=True)
    assert found["wrong"] == []
    assert total_of(found, "unsafe") == 0
    assert 0 < total_of(found, "proved") < total_of(found, "texts")
    assert total_of(found, "claims proved") > total_of(found, "texts")
    for kind in ("crossed", "destroyed", "made", "Det_3 unsafe"):
        assert total_of(found, kind) > 0, kind
    assert total_of(found, "fallback right") == total_of(found, "fallback texts") > 0
    by_form = {
        form: sum(each.get("destroyed", 0) for key, each in found["counts"].items() if f"|{form}|" in key)
        for form in unicode_table.FORMS
    }
    assert by_form["none"] == by_form["NFD"] == by_form["NFKD"] == 0
    assert by_form["NFC"] == by_form["NFKC"] > 0


def test_a_wrong_proof_is_counted_in_table_2(
    subject: Subject, detectors: Detectors, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unicode_table, "BOUNDARIES", ("::=",))
    proved = guard.Verdict("it is kept, and not made", "proved")

    def forged(boundary: str, rewriting: object) -> Normalization:
        return Normalization(proved, proved)

    monkeypatch.setattr(unicode_table.guard, "normalization", forged)
    found = unicode_table.measure(subject, detectors, quick=True)
    unsafe = {key for key, counts in found["counts"].items() if counts.get("unsafe")}
    assert {key.split("|")[1] for key in unsafe} == {"NFC", "NFKC", "NFKD"}
    assert {key.split("|")[2] for key in unsafe} == {"marks after ASCII", "structure by decomposition"}
    assert any(one["text"] == ascii("::=\u0338") for one in found["wrong"])


def test_what_contradicts_a_proof(subject: Subject) -> None:
    found = guard.boundary(subject.source, "::=", control_tokens="text")
    safe, composed = unicode_table.Claims(found, "::=", "none"), unicode_table.Claims(found, "::=", "NFC")
    assert (safe.outcome, safe.proved) == ("proved", 3)
    assert (composed.outcome, composed.proved) == ("witness", 2)
    for kind in ("crossed", "destroyed", "made"):
        assert safe.refuted(frozenset([kind]), is_reproduced=False)
        assert composed.refuted(frozenset([kind]), is_reproduced=True) == (kind != "destroyed")
    assert not composed.refuted(frozenset(["crossed"]), is_reproduced=False)
    assert not safe.refuted(frozenset(), is_reproduced=True)
