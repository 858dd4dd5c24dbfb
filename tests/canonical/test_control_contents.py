"""JSON whose texts may hold what a control token looks like: where one is forced, nothing is canonical.

A tokenizer never writes the text of a control token as ordinary tokens.  A constraint that forces such a
text is refused; one that merely allows it is decided without a search to the end of the text.  Escapes
keep such a text apart, so that only strings without escapes can force one.
"""

from __future__ import annotations

import json
from typing import Any, Literal

import pytest

import tokamata as tk
from tests.support.masks import has
from tests.support.matchers import takes
from tests.support.tokenizers.canonical_tokenizers import SOURCES, Judged

CONTROL = "<|eot_id|>"


def _llama() -> Judged:
    return next(source for source in SOURCES if source.name == "llama-3.1").judged()


def _compile(
    schema: dict[str, Any],
    order: Literal["schema", "any"] = "schema",
    spelling: Literal["plain", "natural"] = "natural",
) -> tk.CompiledConstraint[Any]:
    constraint = tk.json_schema(json.dumps(schema), property_order=order, spelling=spelling)
    return constraint.compile(_llama().vocabulary, tokenization="canonical")


def _patterns(*patterns: str) -> dict[str, Any]:
    return {"allOf": [{"type": "string", "pattern": pattern} for pattern in patterns]}


FORCED = [
    {"const": CONTROL},
    {"properties": {CONTROL: {"type": "null"}}, "required": [CONTROL], "type": "object"},
    _patterns(r"^<\|eot_id\|>$"),
    _patterns(r"^[<][|]eot_id[|][>]a*$"),
    # Each leaves a byte free, and both together none.
    _patterns(r"^<.eot_id.>$", r"^.\|......\|.$"),
    # The only texts beside the control token's are excluded one by one.
    {
        **_patterns(r"^<.eot_id.>$", r"^.[|}]eot_id[|}].$"),
        "not": {"enum": ["<}eot_id|>", "<|eot_id}>", "<}eot_id}>"]},
    },
    {
        "type": "object",
        "patternProperties": {r"^<\|eot_id\|>$": {"type": "null"}},
        "additionalProperties": False,
        "minProperties": 1,
    },
]


@pytest.mark.parametrize("schema", FORCED, ids=lambda schema: json.dumps(schema)[:60])
def test_forced(schema: dict[str, Any]) -> None:
    with pytest.raises(tk.NoncanonicalError):
        _compile(schema, spelling="plain")


@pytest.mark.parametrize("schema", FORCED, ids=lambda schema: json.dumps(schema)[:60])
def test_an_escape_keeps_it_apart(schema: dict[str, Any]) -> None:
    """With escapes the same values are written, and never as what a control token looks like."""
    matcher = _compile(schema).matcher()
    value = {CONTROL: None} if schema.get("type") == "object" else CONTROL
    for character, escape in ("<", "\\u003c"), (">", "\\u003E"), ("_", "\\u005f"):
        assert takes(matcher, _llama().encode(json.dumps(value).replace(character, escape)))
    assert all(map(matcher.advance, matcher.shortest_completion()))
    assert matcher.is_accepting
    assert json.loads(matcher.text) == value
    assert CONTROL.encode() not in matcher.text


@pytest.mark.parametrize(
    ("schema", "text"),
    [
        ({"enum": [CONTROL, "a"]}, '"a"'),
        (_patterns(r"^<\|eot_i[dx]\|>$"), '"<|eot_ix|>"'),
        (_patterns("^[^<>]*$"), '"a|b"'),
        ({"properties": {"<|": {"type": "null"}, "a": {}}, "required": ["<|", "a"], "type": "object"},
         '{"<|": null, "a": 1}'),
    ],
    ids=lambda value: json.dumps(value)[:60],
)  # fmt: skip
def test_avoidable(schema: dict[str, Any], text: str) -> None:
    compiled = _compile(schema)
    matcher = compiled.matcher()
    for token in _llama().encode(text):
        assert has(matcher.mask, token)
        assert matcher.advance(token)
    assert matcher.is_accepting


def _states(pattern: str) -> int:
    """Held after the first tokens of an object with many required names and a string of the pattern."""
    names = [f"name_{number}" for number in range(40)]
    schema = {
        "type": "object",
        "properties": {name: {"type": "string", "pattern": pattern} for name in names},
        "required": names,
    }
    compiled = _compile(schema, "any")
    matcher = compiled.matcher()
    for token in _llama().encode('{"name_3": "a'):
        assert matcher.mask.any()
        assert matcher.advance(token)
    return compiled.states


def test_a_pattern_that_tells_one_byte_of_it_apart_costs_no_search_to_the_end() -> None:
    assert _states("^[^<>]*$") < 2 * _states("^[^#~]*$")


def _states_of_grammar(words: str) -> int:
    """Held within 300 open blocks of a grammar with some words of two bytes."""
    grammar = f"""
        start: "{{" item* "}}"
        item: NAME "=" VALUE ";" | start
        VALUE: NAME | {" | ".join(f'"%{word}"' for word in words)}
        NAME: /[a-z]+/
        %ignore " "
    """
    compiled = tk.grammar(grammar).compile(_llama().vocabulary, tokenization="canonical")
    matcher = compiled.matcher()
    for token in _llama().encode("{" * 300 + "other = %"):
        assert matcher.mask.any()
        assert matcher.advance(token)
    return compiled.states


def test_a_grammar_that_tells_all_its_bytes_apart_costs_no_search_to_the_end() -> None:
    assert _states_of_grammar("abcdefghijklmnopqrstuvwxyz_<|>") < 1.05 * _states_of_grammar("ab")
