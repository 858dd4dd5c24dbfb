"""A bit of a mask is set if and only if ``advance`` takes the token, at every place of some texts.

The tokens reach over the ends of names, values and elements: a name that was written before may begin, and
end, within one.
"""

from __future__ import annotations

from typing import Any

import pytest

import tokamata as tk
from tests.support.masks import allowed
from tests.support.vocabularies import BYTES

PIECES = [
    b'"a"', b'"a": ', b'a": ', b'"b":', b'","', b'", "', b'":', b'": ', b'{"', b'{"a', b'"]', b"1,",
    b"},", b'", "a', b'":1,"', b'":1, "', b'":1}', b'":1,"a":',
    b'":1,"b":', b'": 1, "a": ', b'": 1, "b": ', b'":1 ', b'":1\n',
    b'b"', b'b"}', b'b"],["', b'"b",', b"\\u00", b"\\u0061", b'61"', b'\\u0062"',
    b"2]", b"12", b".0", b"e0", b"],[",
]  # fmt: skip
TOKENS: list[bytes | None] = [*BYTES, *PIECES, None]
VOCABULARY = tk.Vocabulary.load(TOKENS, stop=[len(TOKENS) - 1])
STYLES = [
    {"property_order": order, "whitespace": whitespace, "spelling": spelling}
    for order in ("any", "schema")
    for whitespace in ("compact", "natural", "any")
    for spelling in ("plain", "any")
]
NO_NAMES_OR_ALL: Any = {"if": {"propertyNames": {"enum": []}}, "else": {"oneOf": [{"required": ["c"]}, {}]}}


def members(strings: dict[str, Any]) -> Any:
    member = {"type": "string", **strings}
    return {"type": "object", "properties": {"a": member}, "required": ["a"], "additionalProperties": False}


CASES: list[tuple[str, Any, bytes]] = [
    ("names written before", {}, b'{"a":1,"b":{"a":2,"":""},"ab":[]}'),
    ("declared names", {"properties": {"a": {}, "b": {}}}, b'{"a":1,"b":2,"c":3}'),
    ("names of a pattern", {"patternProperties": {"^a": {"type": "number"}}}, b'{"ab":1,"a":2,"b":"a"}'),
    (
        "names that are few",
        {"patternProperties": {"^[ab]$": {"type": "number"}}, "additionalProperties": False},
        b'{"a":1,"b":2}',
    ),
    ("elements that differ", {"items": {"uniqueItems": True}}, b'[[{"a":1,"b":2},{"b":2,"a":2}],["a","b"]]'),
    (
        "conditions in them",
        {"uniqueItems": True, "items": NO_NAMES_OR_ALL},
        b'[{"a":1,",":[]},{"a":2,"b":",a"},{}]',
    ),
    (
        "elements that differ within such",
        {"uniqueItems": True, "items": {"properties": {"a": {"uniqueItems": True}}}},
        b'[{"a":[{"a":"1,"},"a"]},{"a":[{"a":"1,"},"a"],"b":1},{"a":[{"a":1},{"a":""}]}]',
    ),
    (
        "elements within such, of few strings",
        {"uniqueItems": True, "items": {"uniqueItems": True, "items": {"pattern": "^[ab]?$"}, "maxItems": 2}},
        b'[["a","b"],["a",""],["b"],["a"],[]]',
    ),
    (
        "members of few strings",
        {"uniqueItems": True, "items": members({"pattern": "^[ab]?$"})},
        b'[{"a":"a"},{"a":""},{"a":"b"}]',
    ),
    (
        "members of long strings",
        {"uniqueItems": True, "items": members({"minLength": 2})},
        b'[{"a":"a:"},{"a":"a:,"},{"a":"a,"}]',
    ),
    (
        "members of strings with a bound",
        {"uniqueItems": True, "items": members({"pattern": "^[ab]*$", "maxLength": 2})},
        b'[{"a":"a"},{"a":"aa"},{"a":"ab"},{"a":""},{"a":"b"},{"a":"ba"},{"a":"bb"}]',
    ),
    (
        "members of dates",
        {"uniqueItems": True, "items": members({"pattern": "^1[ab]+-[0-2]$"})},
        b'[{"a":"1ab-1"},{"a":"1ab-2"},{"a":"1abb-1"}]',
    ),
    (
        "strings with a bound",
        {"uniqueItems": True, "items": {"type": "string", "maxLength": 2}},
        b'["a","ab","","b","ba"]',
    ),
    ("strings that differ", {"uniqueItems": True, "items": {"type": "string"}}, b'["a","ab","","b/a"]'),
    ("numbers that differ", {"uniqueItems": True, "items": {"type": "number"}}, b"[1,12,0,0.5,-1,10,0.52]"),
    (
        "few numbers",
        {"uniqueItems": True, "items": {"type": "integer", "minimum": 0, "maximum": 12}, "maxItems": 5},
        b"[1,12,0,2]",
    ),
    (
        "arrays of numbers",
        {"uniqueItems": True, "items": {"items": {"type": "integer"}}},
        b"[[1],[1,2],[],[12],[1,22]]",
    ),
    (
        "members of members",
        {"uniqueItems": True, "items": {"items": members({}), "minItems": 1}},
        b'[[{"a":"a"}],[{"a":"ab"},{"a":"a"}],[{"a":"ab"},{"a":"b"}]]',
    ),
    ("members like those seen", {"uniqueItems": True}, b'[{"a":1},{"a":"1"},{"ab":1},{"a":[1]},{"a":[]}]'),
    (
        "members of names of a pattern",
        {
            "uniqueItems": True,
            "items": {
                "patternProperties": {"^a": {"enum": [1]}},
                "additionalProperties": False,
                "maxProperties": 1,
            },
        },
        b'[{"a":1},{"ab":1},{"a:":1},{}]',
    ),
    (
        "members of any name",
        {"uniqueItems": True, "items": {"additionalProperties": {"enum": [1]}, "maxProperties": 1}},
        b'[{"a":1},{"ab":1},{"a:":1},{}]',
    ),
    (
        "members of few names",
        {
            "uniqueItems": True,
            "items": {"patternProperties": {"^[ab]$": {"enum": [1]}}, "additionalProperties": False},
        },
        b'[{"a":1},{"b":1},{"a":1,"b":1},{}]',
    ),
]


@pytest.mark.parametrize("style", STYLES, ids=lambda style: "-".join(style.values()))
@pytest.mark.parametrize(("schema", "text"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_bits_are_what_advance_takes(schema: Any, text: bytes, style: dict[str, Any]) -> None:
    matcher = tk.json_schema(schema, **style).compile(VOCABULARY).matcher()
    for byte in text:
        live = allowed(matcher)
        for token, spelled in enumerate(TOKENS):
            if spelled is not None:
                taken = matcher.fork().advance(token)
                assert taken == (token in live), (matcher.text, spelled, taken)
        assert matcher.advance(byte), matcher.text
    assert matcher.is_accepting
