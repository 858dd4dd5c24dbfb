"""Validators against their packages, and what texts from strangers may not do."""

from __future__ import annotations

from typing import Any

import pytest

import tokamata as tk
from tokamata import validators
from tokamata.validators.validator import checked_validators, first_refusal

pydantic = pytest.importorskip("pydantic", reason="an extra")


class Stay(pydantic.BaseModel):
    begin: int
    end: int

    @pydantic.model_validator(mode="after")
    def in_order(self) -> Stay:
        if self.end < self.begin:
            raise ValueError("end before begin")
        return self


def test_pydantic() -> None:
    judge = validators.pydantic(Stay)
    assert judge.refusal('{"begin": 1, "end": 2}', None) is None
    assert "end before begin" in (judge.refusal('{"begin": 2, "end": 1}', None) or "")
    assert judge.refusal("{", None) is not None
    assert validators.pydantic(list[int]).refusal("[1, 2]", None) is None
    with pytest.raises(tk.ArgumentError):
        validators.pydantic(object())


def test_json_schema() -> None:
    judge = validators.json_schema({"type": "array", "uniqueItems": True, "items": {"format": "date"}})
    assert judge.refusal('["2020-01-01"]', None) is None
    assert "non-unique" in (judge.refusal('["2020-01-01", "2020-01-01"]', None) or "")
    assert judge.refusal('["2020-13-01"]', None) is not None
    assert validators.json_schema({"format": "date"}, formats=False).refusal('"x"', None) is None
    assert judge.refusal("[", None) is not None
    assert validators.json_schema(False).refusal("1", None) is not None
    for schema in ({"type": 5}, {"$ref": "https://example.com/schema.json"}):
        with pytest.raises(tk.ArgumentError):
            validators.json_schema(schema)
    with pytest.raises(tk.ArgumentError):
        validators.json_schema("{}")  # type: ignore[arg-type]


def test_marshmallow() -> None:
    marshmallow = pytest.importorskip("marshmallow", reason="an extra")

    class Count(marshmallow.Schema):  # type: ignore[misc, name-defined]
        n = marshmallow.fields.Int(required=True, validate=marshmallow.validate.Range(min=3))

    judge = validators.marshmallow(Count())
    assert judge.refusal('{"n": 4}', None) is None
    assert "'n'" in (judge.refusal('{"n": 1}', None) or "")
    assert judge.refusal("{", None) is not None
    with pytest.raises(tk.ArgumentError, match="instance of the class"):
        validators.marshmallow(Count)


SHAPES = """
@prefix sh: <http://www.w3.org/ns/shacl#> .
@prefix ex: <http://example.org/> .
ex:PersonShape a sh:NodeShape ;
    sh:targetClass ex:Person ;
    sh:property [ sh:path ex:age ; sh:minCount 1 ; sh:maxInclusive 120 ] .
"""


def test_shacl() -> None:
    pytest.importorskip("pyshacl", reason="an extra")
    judge = validators.shacl(SHAPES, context={"@vocab": "http://example.org/"})
    assert judge.refusal('{"@type": "Person", "age": 13}', None) is None
    assert "MaxInclusive" in (judge.refusal('{"@type": "Person", "age": 130}', None) or "")
    assert judge.refusal('{"@type": "Person"}', None) is not None
    turtle = validators.shacl(SHAPES, text_format="turtle")
    text = "@prefix ex: <http://example.org/> . ex:a a ex:Person ; ex:age {} ."
    assert turtle.refusal(text.format(13), None) is None
    assert turtle.refusal(text.format(130), None) is not None
    assert "no graph" in (turtle.refusal("<", None) or "")
    with pytest.raises(tk.ArgumentError):
        validators.shacl("<")
    with pytest.raises(tk.ArgumentError):
        validators.shacl(SHAPES, text_format="turtle", context={})


def test_a_text_cannot_make_shacl_fetch_anything(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pyshacl", reason="an extra")
    import socket

    def refused(*_: Any, **__: Any) -> Any:
        raise AssertionError("a connection was opened")

    monkeypatch.setattr(socket, "create_connection", refused)
    monkeypatch.setattr(socket.socket, "connect", refused)
    judge = validators.shacl(SHAPES)
    for text in (
        '{"@context": "http://example.org/c.json", "@type": "x"}',
        '[{"a": {"@context": ["http://example.org/c.json"]}}]',
        '{"@import": "http://example.org/c.json"}',
        "[" * 5000 + "]" * 5000,
    ):
        assert judge.refusal(text, None) is not None
    imports = "<http://a/> <http://www.w3.org/2002/07/owl#imports> <http://example.org/o.ttl> ."
    assert validators.shacl(SHAPES, text_format="turtle").refusal(imports, None) is None


def test_functions() -> None:
    def refuses(value: Any) -> None:
        raise ValueError

    def asserts(value: Any) -> None:
        assert value > 3, "too\nsmall"

    given = checked_validators([asserts, lambda value: value < 9])
    assert first_refusal(given, "", 5) is None
    assert first_refusal(given, "", 1) == "too small" or "assert" in (first_refusal(given, "", 1) or "")
    assert "False" in (first_refusal(given, "", 10) or "")
    assert first_refusal(checked_validators([refuses]), "", 1) == "ValueError"
    assert first_refusal(checked_validators([lambda value: None, lambda value: 0]), "", 1) is None
    with pytest.raises(tk.ArgumentError, match=r"validators\.pydantic"):
        checked_validators([Stay])


def test_what_is_no_type_for_pydantic() -> None:
    class Model(pydantic.BaseModel):
        a: int

    with pytest.raises(tk.ArgumentError, match=r"validators\.json_schema takes a schema"):
        validators.pydantic({"type": "object"})
    with pytest.raises(tk.ArgumentError, match="pass the class Model"):
        validators.pydantic(Model(a=1))
