"""Audits of engines of which it is known what is wrong, and of engines that are right.

Most run in this process; those that crash or hang in one of their own, as in the command.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import jsonschema
import pytest

import tokamata as tk
from tests.audit import wrong_engines
from tests.audit.here import Here
from tests.support.vocabularies import BYTE_VOCABULARY, bytes_and
from tokamata.audit.apart import Apart, Crashed, Raised
from tokamata.audit.auditing import Auditor, Instance
from tokamata.audit.engines import Tokamata, TokamataInAnyStyle
from tokamata.audit.findings import Audit, Kind
from tokamata.audit.judging import Judge
from tokamata.audit.sides import Bounds, Side
from tokamata.audit.walks import Walker

VOCABULARY = bytes_and(b"true", b"tr", b'{"', b'":', b'"}', b"}]", b", ", b"12")
BOUNDS = Bounds(seconds=60.0, compile_seconds=30.0, call_seconds=10.0, enough=3, rounds=3)
MORE = Bounds(seconds=60.0, rounds=12)
FLAGS = {"type": "array", "items": {"type": "boolean"}}
SMALL = {"type": "integer", "minimum": 0, "maximum": 120}
RECORD = {
    "type": "object",
    "properties": {"b": {"type": "number"}, "a": {"type": "string"}, "c": {"enum": [1, "x", None]}},
    "required": ["a"],
    "additionalProperties": False,
}


def audited(
    make: Any,
    schema: Any,
    *instances: Instance,
    bounds: Bounds = BOUNDS,
    seed: int = 1,
    vocabulary: tk.Vocabulary = VOCABULARY,
) -> Audit:
    """The audit of an engine beside tokamata in any style, in this process."""
    candidate, reference = (
        Side(name, Here(Walker, one, vocabulary), vocabulary)
        for name, one in (("candidate", make), ("reference", TokamataInAnyStyle))
    )
    auditor = Auditor(candidate, reference, Here(Judge), vocabulary, seed)
    return auditor.audit(json.dumps(schema), bounds, instances)


def kinds(audit: Audit) -> set[Kind]:
    return {one.kind for one in audit.findings}


def is_valid(schema: Any, text: bytes) -> bool:
    """By another validator than the judge of the audit."""
    return bool(jsonschema.Draft202012Validator(schema).is_valid(json.loads(text)))


@pytest.mark.parametrize("make", [Tokamata, TokamataInAnyStyle, wrong_engines.IsCompact])
@pytest.mark.parametrize("schema", [FLAGS, SMALL, RECORD], ids=["flags", "small", "record"])
def test_a_right_engine_has_no_findings(make: Any, schema: Any) -> None:
    audit = audited(make, schema)
    assert not audit.findings
    assert not audit.reference_findings
    assert audit.masks > 10
    assert audit.judged > 3
    assert make is not TokamataInAnyStyle or (audit.refused_bits == 0 and not audit.differences)


def test_restrictions_of_style_are_differences() -> None:
    value = {"c": 1, "a": "\u00e9", "b": 2}
    audit = audited(wrong_engines.IsCompact, RECORD, Instance(value, True), Instance({"a": 1}, False))
    assert not audit.findings
    assert any("white space" in reason for reason in audit.differences)
    assert any("property order" in reason for reason in audit.differences)
    assert any("spelling" in reason for reason in audit.differences)
    assert audit.refused_bits > 100


def test_a_forbidden_valid_token_is_found() -> None:
    audit = audited(wrong_engines.ForbidsTrue, FLAGS, vocabulary=BYTE_VOCABULARY)
    assert kinds(audit) == {Kind.TOO_STRICT}
    for one in audit.findings:
        assert is_valid(FLAGS, one.witness)
        assert b"true" in one.witness
        assert one.token == wrong_engines.TRUE
        assert one.witness.startswith(one.prefix + one.token_text)
    assert audit.refused_bits > 0


def test_a_forbidden_tokenization_is_a_difference() -> None:
    """Where `true` is a token, texts with it are still taken."""
    audit = audited(wrong_engines.ForbidsTrue, FLAGS)
    assert not audit.findings
    assert audit.differences["tokenization"] > 0


def test_an_allowed_invalid_token_is_found() -> None:
    audit = audited(wrong_engines.IgnoresMaximum, SMALL)
    assert kinds(audit) == {Kind.TOO_LOOSE}
    for one in audit.findings:
        assert not is_valid(SMALL, one.witness)
        assert "maximum" in one.reason
    assert audit.allowed_bits > 0


def test_instances_are_checked_both_ways() -> None:
    none = Bounds(seconds=60.0, rounds=0)
    audit = audited(wrong_engines.IgnoresMaximum, SMALL, Instance(500, False), bounds=none)
    assert [one.witness for one in audit.findings] == [b"500"]
    audit = audited(wrong_engines.IgnoresMaximum, SMALL, Instance(-5, False), bounds=none)
    assert not audit.findings
    audit = audited(wrong_engines.IgnoresMaximum, SMALL, Instance(5, True), bounds=none)
    # The bits after it, by which it writes 512.
    assert b"12" in {one.token_text for one in audit.findings}
    narrow = {"type": "array", "items": {"type": "boolean"}, "maxItems": 0}

    class Narrow(Tokamata):
        def compile(self, schema: str) -> Any:
            return super().compile(json.dumps(narrow))

    audit = audited(Narrow, FLAGS, Instance([False], True), bounds=none)
    assert kinds(audit) == {Kind.TOO_STRICT}
    assert (b"[", b"f", b"[false]") in {(one.prefix, one.token_text, one.witness) for one in audit.findings}


def test_an_instance_that_the_judge_sees_otherwise_blames_nobody() -> None:
    audit = audited(Tokamata, SMALL, Instance(500, True), Instance(5, False), bounds=Bounds(rounds=0))
    assert not audit.findings
    assert sum(audit.unjudged.values()) == 2


def test_formats_as_annotations_are_a_difference() -> None:
    schema = {"type": "string", "format": "date"}
    audit = audited(wrong_engines.IgnoresFormats, schema)
    assert not audit.findings
    assert audit.differences["format"] > 0


def test_a_dead_end_is_found() -> None:
    audit = audited(wrong_engines.DeadEnd, FLAGS)
    assert Kind.DEAD_END in kinds(audit)
    [one] = [one for one in audit.findings if one.kind is Kind.DEAD_END][:1]
    assert one.witness.endswith(b"[")


def test_text_that_is_not_json_is_found() -> None:
    audit = audited(wrong_engines.TrailingComma, FLAGS, bounds=MORE)
    assert b"[true,]" in {one.witness for one in audit.findings if one.kind is Kind.NOT_JSON}


def test_a_mask_that_advance_contradicts_is_found() -> None:
    audit = audited(wrong_engines.Contradicts, FLAGS, bounds=MORE, vocabulary=BYTE_VOCABULARY)
    assert Kind.CONTRADICTION in kinds(audit)
    assert all(one.token == wrong_engines.TRUE for one in audit.findings if one.kind is Kind.CONTRADICTION)


def test_a_refused_schema_is_no_error() -> None:
    audit = audited(wrong_engines.Refuses, FLAGS)
    assert audit.refused == "no such keyword"
    assert not audit.findings


def test_an_error_of_the_reference_is_found_too() -> None:
    candidate = Side("candidate", Here(Walker, Tokamata, BYTE_VOCABULARY), BYTE_VOCABULARY)
    for make, kind in (
        (wrong_engines.ForbidsTrue, Kind.TOO_STRICT),
        (wrong_engines.IgnoresMaximum, Kind.TOO_LOOSE),
    ):
        reference = Side("reference", Here(Walker, make, BYTE_VOCABULARY), BYTE_VOCABULARY)
        schema = FLAGS if kind is Kind.TOO_STRICT else SMALL
        auditor = Auditor(candidate, reference, Here(Judge), BYTE_VOCABULARY, 1)
        audit = auditor.audit(json.dumps(schema), BOUNDS)
        assert not audit.findings
        assert {one.kind for one in audit.reference_findings} == {kind}


def test_a_seed_repeats_an_audit() -> None:
    first, second = (audited(wrong_engines.ForbidsTrue, FLAGS, seed=5).as_json() for _ in range(2))
    for one in (first, second):
        del one["seconds"], one["compile_seconds"]
    assert first == second


def test_hostile_schemas() -> None:
    """Too deep, no JSON, not a schema, patterns that no engine of regular languages has."""
    deep: Any = {}
    for _ in range(400):
        deep = {"items": deep}
    for schema in (deep, {"type": "nothing"}, {"$ref": "https://example.com/none"}, {"pattern": r"(a)\1"}):
        audit = audited(Tokamata, schema, bounds=Bounds(rounds=1))
        assert not audit.findings


# ---- in processes of their own ----------------------------------------------------------------


@pytest.fixture(scope="module")
def reference() -> Iterator[Side]:
    side = Side.apart("reference", TokamataInAnyStyle, VOCABULARY)
    yield side
    side.process.close()


@pytest.mark.parametrize(
    ("make", "kind", "said"),
    [
        (wrong_engines.Crashes, Kind.CRASH, "ended by SIGSEGV: the last words, reading"),
        (wrong_engines.Hangs, Kind.HANG, "no answer within 0.5 s, reading"),
        (wrong_engines.Waits, Kind.HANG, "no answer within 0.2 s, compiling"),
        (wrong_engines.Raises, Kind.ERROR, "KeyError: 'a defect', reading"),
    ],
)
def test_an_engine_that_breaks_is_found(make: Any, kind: Kind, said: str, reference: Side) -> None:
    """The audit ends with the finding, and the next one has a new process."""
    candidate = Side.apart("candidate", make, VOCABULARY)
    compile_seconds = 0.2 if make is wrong_engines.Waits else 30.0
    bounds = Bounds(60.0, compile_seconds, call_seconds=0.5)
    auditor = Auditor(candidate, reference, Here(Judge), VOCABULARY, 1)
    try:
        audit = auditor.audit(json.dumps(FLAGS), bounds, [Instance([True], True)])
    finally:
        candidate.process.close()
    [one] = audit.findings
    assert one.kind is kind
    assert said in one.reason
    assert not audit.reference_findings


def test_an_engine_that_cannot_be_made_is_found() -> None:
    candidate = Side.apart("candidate", wrong_engines.CannotBeMade, VOCABULARY)
    reference = Side("reference", Here(Walker, Tokamata, VOCABULARY), VOCABULARY)
    audit = Auditor(candidate, reference, Here(Judge), VOCABULARY).audit(json.dumps(FLAGS), BOUNDS)
    [one] = audit.findings
    assert (one.kind, one.reason) == (Kind.ERROR, "RuntimeError: no such vocabulary, starting")


def test_a_process_is_started_again() -> None:
    """After a crash, with the same arguments; an engine that cannot be made says why."""
    with Apart(Walker, wrong_engines.Crashes, VOCABULARY) as process:
        for _ in range(2):
            assert process.call("compile", 30.0, json.dumps(FLAGS)) == ""
            with pytest.raises(Crashed):
                process.call("follow", 30.0, list(b"[true]"), False)
            assert not process.is_running
    with Apart(Walker, None, VOCABULARY) as process, pytest.raises(Raised, match="TypeError"):
        process.start()
