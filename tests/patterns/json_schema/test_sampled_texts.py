"""What ``sampled_texts.py`` does to ten thousand schemas, done to few, in a small vocabulary."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import numpy as np
import pytest

import tokamata as tk
from fuzz.sampled_texts import Drawn, Source, names_written, sample, sources, summary
from fuzz.schema_exactness import SHARED
from tests.support.schemas.schema_judges import KNOWN_DIFFERENCES, Judges, JudgesDiffer, NoVerdict, asked
from tests.support.schemas.small_vocabulary import TOKENS

SCHEMAS, SEED = 150, 5
OURS = 400  # about as many are not random


@pytest.fixture(scope="module")
def drawn() -> Drawn:
    return Drawn(tk.Vocabulary.load([*TOKENS, None], stop=[len(TOKENS)]))


def few() -> list[Source]:
    """None of MaskBench, which is not everywhere."""
    return sources(2 * OURS, SEED, SHARED / "none")[:SCHEMAS]


def test_texts_of_the_masks_parse_and_are_valid(drawn: Drawn) -> None:
    outcomes = [
        sample(source, "small", drawn, order, texts=2, seed=SEED)
        for source, order in zip(few(), ["schema", "any"] * SCHEMAS, strict=False)
    ]
    assert [(one.name, one.failures) for one in outcomes if one.failures] == []
    assert sum(one.texts for one in outcomes) > SCHEMAS
    left_out = Counter(one.left_out[0] for one in outcomes if one.left_out)
    assert left_out.pop("unfinished", 0) <= SCHEMAS // 20  # the search for an end is only a search
    # SchemaError: it refers to documents that are not given here.
    assert left_out.keys() <= {"EmptyConstraintError", "SchemaError", "UnsupportedSchemaError"}
    assert f"| schemas | {SCHEMAS} |" in summary(outcomes, SCHEMAS)


def test_a_seed_draws_the_same_schemas_again() -> None:
    assert [one.name for one in few()] == [one.name for one in few()]
    assert len({one.name for one in few()}) == SCHEMAS


def test_what_is_wrong_is_found(drawn: Drawn, monkeypatch: pytest.MonkeyPatch) -> None:
    """The masks of one schema, judged as texts of another."""
    masks: Any = tk.json_schema

    def relaxed(schema: Any, **options: Any) -> Any:
        return masks({"type": ["integer", "string"]}, **options)

    monkeypatch.setattr(tk, "json_schema", relaxed)
    found = sample(Source("a lie", {"type": "integer"}), "small", drawn, "any", texts=20, seed=SEED)
    assert {kind for kind, _ in found.failures} == {"invalid by_table", "invalid by_validators"}


def test_formats_are_judged_by_whom_they_are_known() -> None:
    schema = {"anyOf": [{"format": "ipv4"}, {"format": "uri", "type": "number"}]}
    assert Judges(schema, formats=False).by_validators("1.2.3")
    assert not Judges(schema, formats=True).by_validators("1.2.3")
    assert Judges(schema, formats=True).by_validators("1.2.3.4")
    # `jsonschema` knows no URI, and Python no year 0.
    assert not Judges({"format": "uri"}, formats=True).by_validators("no URI")
    assert Judges({"format": "date"}, formats=True).by_validators("0000-05-06")
    assert not Judges({"format": "date"}, formats=True).by_validators("2001-02-29")


@pytest.mark.parametrize(("schema", "verdict"), [({"minimum": 0}, True), ({"maximum": 0}, False)])
def test_numbers_too_long_to_be_written_are_judged(schema: Any, verdict: bool) -> None:
    assert Judges(schema, formats=False).by_validators(10**5000) is verdict
    assert Judges({"items": schema}, formats=False).by_validators([10**5000]) is verdict


def test_no_verdict_where_a_format_is_nobodys() -> None:
    one_of = Judges({"oneOf": [{"format": "hostname"}, {"maxLength": 3}]}, formats=True)
    with pytest.raises(NoVerdict):  # both take it, if the format is an annotation
        one_of.by_validators("a..")
    assert one_of.by_validators("a..b")


@pytest.mark.parametrize(
    ("schema", "value", "kind"),
    [
        ({"dependencies": {"a": ["b"]}}, {"a": 1}, "dependencies"),
        ({"format": "email"}, "a..b@example.com", "format"),
    ],
)
def test_no_verdict_where_the_validators_differ(schema: Any, value: Any, kind: str) -> None:
    """If they agree one day, the kind can leave ``KNOWN_DIFFERENCES``."""
    judges = Judges(schema, formats=True)
    with pytest.raises(JudgesDiffer) as caught:
        judges.by_validators(value)
    assert caught.value.kind == kind
    unsaid: Counter[str] = Counter()
    if kind in KNOWN_DIFFERENCES:
        assert asked(judges.by_validators, value, unsaid) is None
        assert unsaid == {f"the validators differ: {kind}": 1}
    else:
        with pytest.raises(AssertionError, match=kind):
            asked(judges.by_validators, value, unsaid)


def test_tokens_are_chosen_among_those_of_the_mask(drawn: Drawn) -> None:
    row = np.zeros(-(-drawn.vocabulary.width // 32), np.int32)
    chooser = random.Random(SEED)
    assert drawn.choose(row, chooser, signs=False) is None
    live = {ord("a"), ord("b"), ord("{"), ord("]")}
    for token in live:
        row[token // 32] |= 1 << token % 32
    assert {drawn.choose(row, chooser, signs=False) for _ in range(100)} == live
    assert {drawn.choose(row, chooser, signs=True) for _ in range(100)} == {ord("{"), ord("]")}


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("", None),
        ("{", set()),
        ('{"', set()),
        ('{"a"', None),
        ('{"a": "b', None),
        ('{"a": "}{", ', {'"a"'}),
        ('{"a": {"b": 1}, "c', {'"a"'}),
        ('{"a": {"b": [{}, ', None),
        ('[{"\\"": 1,', {'"\\""'}),
        ('[{"a": 1}, ', None),
        ('{"a": "}}, ', None),
        ('{"a": 1, "}}, ', {'"a"'}),
    ],
)
def test_names_of_the_object_in_which_a_text_ends(text: str, names: set[str] | None) -> None:
    assert names_written(text.encode()) == (None if names is None else {name.encode() for name in names})
