"""Reports of masks: which makers they name, and that what single masks took is what all took."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

import tokamata as tk
from tests.support.paths import DATA
from tests.support.vocabularies import BYTE_VOCABULARY, bytes_and
from tokamata.matching.mask_reports import MaskReport

GRAMMAR = DATA / "grammars" / "syncode" / "json.lark"
WORDS = bytes_and(b"ab", b"abc", b"the", b" the", b'":', b'{"', b"12")
SCHEMA = {"type": "object", "properties": {"a": {"type": "string", "maxLength": 9}, "b": {"type": "integer"}}}
CONSTRAINTS: dict[str, tuple[Any, bytes]] = {
    "segments": (lambda: tk.json_schema(SCHEMA), b'{"a": "the", "b": 12}'),
    "factors": (lambda: tk.regex("[a-z ]{0,300}(ab|12)"), b"abc the 12"),
    "walk": (lambda: tk.regex("(ab|ba)?c"), b"abc"),
    "union": (lambda: tk.grammar(Path(GRAMMAR)), b'{"the": [12, "abc"]}'),
    "language": (lambda: tk.json() & tk.regex("[ -~]*"), b'{"the": [12, "abc"]}'),
}


def reports(compiled: tk.CompiledConstraint[Any], text: bytes) -> list[MaskReport]:
    """One before each byte of a text, and one at its end."""
    matcher, found = compiled.matcher(), []
    for byte in text:
        found.append(matcher.mask_report())
        assert matcher.advance(byte)
    return [*found, matcher.mask_report()]


@pytest.mark.parametrize("maker", ["segments", "factors", "walk", "language"])
def test_makers_are_named(maker: str) -> None:
    make, text = CONSTRAINTS[maker]
    found = reports(make().compile(WORDS), text)
    assert any(maker in report.masks for report in found)
    assert all(report.seconds > 0 for report in found if not report.is_known)


@pytest.mark.parametrize("maker", CONSTRAINTS)
def test_single_masks_are_all_masks(maker: str) -> None:
    """No other call makes masks here, so that the counts add up."""
    tk.forget_constraints()
    make, text = CONSTRAINTS[maker]
    compiled = make().compile(WORDS)
    before = compiled.mask_report()
    found = reports(compiled, text)
    after = compiled.mask_report()
    for field in fields(MaskReport):
        if field.type != "int" or field.name == "states":  # states are made by steps, too
            continue
        total = sum(getattr(report, field.name) for report in found)
        assert getattr(after, field.name) - getattr(before, field.name) == total, field.name
    for name in after.masks:
        made = sum(report.masks.get(name, 0) for report in found)
        assert after.masks[name] - before.masks.get(name, 0) == made
    assert after.seconds - before.seconds == pytest.approx(sum(report.seconds for report in found))


def test_a_known_mask_takes_nothing() -> None:
    matcher = tk.json_schema(SCHEMA).compile(BYTE_VOCABULARY).matcher()
    first = matcher.mask
    report = matcher.mask_report()
    assert report.is_known
    assert report.known == 1
    assert (report.masks, report.nodes, report.segments_made, report.seconds) == ({}, 0, 0, 0.0)
    assert (matcher.mask == first).all()
    assert matcher.tokens == []
    assert str(report).split("\n") == ["masks           none made", "known           1"]


def test_unverified_tokens_are_counted() -> None:
    """Elements must differ from those that were written."""
    compiled = tk.json_schema({"type": "array", "uniqueItems": True, "items": {"type": "integer"}}).compile(
        WORDS
    )
    assert sum(report.unverified for report in reports(compiled, b"[12, 1, 3]")) > 0


def test_limits_hold() -> None:
    matcher = tk.grammar(Path(GRAMMAR)).compile(WORDS).matcher()
    with pytest.raises(tk.LimitExceeded):
        matcher.mask_report(deadline_seconds=1e-9)
    assert matcher.mask_report().masks
