"""What users of other engines have suffered from, by their reports; here each is a case that has to hold.

The names are those of the reports: xg = mlc-ai/xgrammar, gd = guidance-ai/guidance, llg =
guidance-ai/llguidance, lmfe = noamgat/lm-format-enforcer, ol = dottxt-ai/outlines, vl = vllm-project/vllm,
lc = ggml-org/llama.cpp.
"""

from __future__ import annotations

import json
from typing import Any, Literal

import pytest

import tokamata as tk
from tests.support.masks import allowed
from tests.support.vocabularies import BYTES

LONG = [b"abcd", b'"abc', b'abcd"', b"aaaa", b'": "', b'"}', b'{"', "😀".encode(), b"\xf0\x9f"]
STOP = [len(BYTES) + len(LONG), len(BYTES) + len(LONG) + 1]
VOCABULARY = tk.Vocabulary.load([*BYTES, *LONG, None, None], stop=STOP, width=STOP[-1] + 9)
LIMITS = tk.Limits(seconds=20.0)  # so that what explodes elsewhere fails here, and does not hang


def matcher(schema: Any, **style: Any) -> tk.Matcher:
    return tk.json_schema(schema, **style).compile(VOCABULARY, limits=LIMITS).matcher()


def accepts(schema: Any, text: str | bytes, **style: Any) -> bool:
    """Whether the text is accepted, byte by byte; on the way no mask may be empty."""
    return leads(matcher(schema, **style), text) == "accepted"


def leads(at: tk.Matcher, text: str | bytes) -> str:
    for byte in text.encode() if isinstance(text, str) else text:
        assert allowed(at)
        if not at.advance(byte):
            return "refused"
    return "accepted" if at.is_accepting else "unfinished"


def written(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


# ---- strings ----------------------------------------------------------------------------------


def test_pattern_and_max_length_hold_together_also_inside_one_token() -> None:
    """xg#895."""
    schema = {"type": "string", "pattern": "^[a-z]+$", "maxLength": 3}
    assert accepts(schema, '"abc"')
    assert not accepts(schema, '"abcd"')
    assert not accepts(schema, '""')
    at = matcher(schema)
    assert at.advance(ord('"'))
    live = allowed(at)
    for text in (b"abcd", b'abcd"', b"aaaa"):
        assert len(BYTES) + LONG.index(text) not in live
    assert len(BYTES) + LONG.index(b'"abc') in allowed(matcher(schema))


def test_strings_stay_bounded_where_no_type_is_asked_for() -> None:
    """vl#57550."""
    schema = {
        "type": "object",
        "properties": {"a": {"pattern": "^[a-z]+$", "maxLength": 3}},
        "required": ["a"],
    }
    assert accepts(schema, '{"a": "abc"}')
    assert not accepts(schema, '{"a": "abcd"}')
    assert accepts(schema, '{"a": null}')


@pytest.mark.parametrize("bound", [128, 129])
def test_a_negated_class_with_a_bound(bound: int) -> None:
    """xg#863: 129 ended in a segmentation fault."""
    schema = {"type": "string", "pattern": f"^[^\\n\\r]{{1,{bound}}}$"}
    assert accepts(schema, written("é" * bound))
    assert not accepts(schema, written("é" * (bound + 1)))
    assert not accepts(schema, '"a\\nb"')


def test_escapes_are_reachable_in_long_strings() -> None:
    """xg#800."""
    schema = {"type": "string", "maxLength": 8000}
    for text in (r'"\n"', r'"\""', r'"\\"', r'"\u0001"'):
        assert accepts(schema, text)
    for text in (r'"\u00e9"', r'"\ud83d\ude00"', r'"\/"', '"\\u000A"'):
        assert accepts(schema, text, spelling="any")
    assert accepts(schema, '"' + "\\n" * 8000 + '"')
    assert not accepts(schema, '"' + "\\n" * 8001 + '"')


@pytest.mark.parametrize("spelling", ["plain", "any"])
def test_what_json_forbids_in_strings_is_refused(spelling: str) -> None:
    """xg#286: a tab as it is; lmfe#41: an escape that JSON does not have."""
    for text in ('"\t"', '"\n"', r'"\'"', r'"\x41"', '"\x7f\x01"'):
        assert not accepts({"type": "string"}, text, spelling=spelling)


# ---- objects ----------------------------------------------------------------------------------


@pytest.mark.parametrize("order", ["schema", "any"])
def test_required_names(order: str) -> None:
    """xg#104."""
    schema = {"type": "object", "required": ["a"]}
    assert accepts(schema, '{"a":1}', property_order=order)
    assert accepts(schema, '{"a": 1, "b": [2]}', property_order=order)
    assert not accepts(schema, "{}", property_order=order)
    assert not accepts(schema, '{"b": 1}', property_order=order)


@pytest.mark.parametrize("spelling", ["plain", "any"])
def test_a_declared_name_is_not_written_as_another_to_escape_its_schema(spelling: str) -> None:
    """gd#1039; xg#831: no place may leave an escape as the only way on from a declared name."""
    schema = {
        "type": "object",
        "properties": {"a": {"const": "foo"}, "b": {"const": "bar"}},
        "required": ["b"],
    }
    assert accepts(schema, '{"a": "foo", "b": "bar"}', spelling=spelling)
    for order in ("schema", "any"):
        for text in ('{"b":"bar","a":"BAD"}', '{"b": "bar", "\\u0061": "BAD"}', '{"a": "BAD", "b": "bar"}'):
            assert not accepts(schema, text, property_order=order, spelling=spelling)
        text = b'{"b": "bar", "a": "foo"}' if order == "any" else b'{"a": "foo", "b": "bar"}'
        at = matcher(schema, property_order=order, spelling=spelling)
        for byte in text:
            assert {one for one in allowed(at) if one < 256} - {ord("\\")}, at.text
            assert at.advance(byte)


def test_any_of_beside_additional_properties() -> None:
    """xg#858."""
    schema = {
        "type": "object",
        "properties": {"modifier": {"type": "string"}, "other": {"type": "null"}},
        "additionalProperties": False,
        "anyOf": [{"required": ["modifier"]}],
    }
    assert accepts(schema, '{"modifier": "x"}')
    assert accepts(schema, '{"modifier": "x", "other": null}')
    for text in ("{}", '{"other": null}', '{"modifier": "x", "third": 1}'):
        assert not accepts(schema, text)


def test_an_empty_enum() -> None:
    """xg#639: refused at compiling where it is required; where it is not, the name never stands there."""
    schema = {"type": "object", "properties": {"a": {"type": "string", "enum": []}}}
    with pytest.raises(tk.EmptyConstraintError):
        matcher({**schema, "required": ["a"]})
    assert accepts(schema, '{"b": 1}')
    assert leads(matcher({**schema, "additionalProperties": False}), '{"') == "refused"


def test_additional_items_beside_prefix_items_by_draft() -> None:
    """xg#840: each keyword means something in its own drafts only."""
    schema: dict[str, Any] = {"prefixItems": [{"type": "string"}], "additionalItems": True}
    seven = "http://json-schema.org/draft-07/schema#"
    assert not accepts(schema, "[1, 2]")  # 2020-12 knows prefixItems
    assert accepts(schema, '["a", 2]')
    assert not accepts({**schema, "items": False}, '["a", 2]')
    assert accepts({**schema, "$schema": seven}, "[1, 2]")  # and draft 7 does not
    assert not accepts({"items": [{}], "additionalItems": False, "$schema": seven}, "[1, 2]")
    assert accepts({"prefixItems": [{}], "additionalItems": False}, "[1, 2]")


@pytest.mark.parametrize(
    ("schema", "good", "bad"),
    [
        ({"exclusiveMinimum": 0}, ["0.1", "1e-9", "7"], ["0", "-1", "0.0", "-0", "0e5"]),
        ({"minimum": 1, "maximum": 5}, ["1", "5", "5.0", "4.99"], ["5.7", "5.0001", "0.9", "6", "50"]),
        ({"type": "integer", "minimum": -5}, ["-5", "-1", "0", "12"], ["-6", "-50", "0.5"]),
        ({"minimum": 2}, ["2", "2.0", "10", "1e1"], ["1", "1.9", "-2", "1e0"]),
        ({"multipleOf": 0.01}, ["0.07", "19.99", "3"], ["0.001", "19.999"]),
        ({"minimum": 12345678901234567890}, ["12345678901234567890"], ["12345678901234567889"]),
    ],
)
def test_bounds_of_numbers(schema: dict[str, Any], good: list[str], bad: list[str]) -> None:
    """xg#661, gd#1023."""
    schema = {"type": "number", **schema}
    for text in good:
        assert accepts(schema, text, spelling="any"), text
    for text in bad:
        assert not accepts(schema, text, spelling="any"), text
        assert not accepts(schema, text), text
        assert not accepts({"type": "array", "items": schema}, f"[{text}]"), text


# ---- size -------------------------------------------------------------------------------------


def test_bounded_strings_in_bounded_arrays() -> None:
    """ol#658: 1600 s and out of memory; vl#19732: under three tokens a second."""
    names = {"type": "array", "items": {"type": "string", "maxLength": 100}, "maxItems": 5}
    schema = {
        "type": "object",
        "properties": {
            "a": {"type": "string", "maxLength": 60},
            "b": {"type": "string", "maxLength": 200},
            "c": names,
        },
        "required": ["a", "b", "c"],
    }
    good = {"a": "x" * 60, "b": "y" * 200, "c": ["z" * 100] * 5}
    assert accepts(schema, written(good))
    for bad in ({"a": "x" * 61}, {"b": "y" * 201}, {"c": ["z" * 100] * 6}, {"c": ["z" * 101]}):
        assert not accepts(schema, written({**good, **bad}))
    inner = {"type": "array", "items": {"type": "string"}, "minItems": 5, "maxItems": 10}
    outer = {"type": "array", "items": inner, "minItems": 5, "maxItems": 10}
    assert accepts(outer, written([["a"] * 10] * 10))
    assert accepts(outer, written([["a"] * 5] * 5))
    for value in ([["a"] * 5] * 4, [["a"] * 4] * 5, [["a"] * 11] * 5, [["a"] * 5] * 11):
        assert not accepts(outer, written(value))


@pytest.mark.parametrize("order", ["schema", "any"])
@pytest.mark.parametrize("is_open", [False, True], ids=["closed", "open"])
@pytest.mark.parametrize("depth", [8, 16, 32])
def test_one_of_in_one_of(depth: int, is_open: bool, order: Literal["schema", "any"]) -> None:
    """vl#54003: 1.3 s, 30 s and 160 s.  An open object may hold the other name too: readings double."""
    definitions: dict[str, Any] = {"0": {"type": "boolean"}}
    for level in range(1, depth + 1):
        below = {"$ref": f"#/$defs/{level - 1}"}
        definitions[str(level)] = {
            "oneOf": [
                {
                    "type": "object",
                    "properties": {name: below},
                    "required": [name],
                    "additionalProperties": is_open,
                }
                for name in ("left", "right")
            ]
        }
    schema = {"$ref": f"#/$defs/{depth}", "$defs": definitions}
    compiled = tk.json_schema(schema, property_order=order).compile(VOCABULARY, limits=LIMITS)

    def valid(value: Any, level: int) -> bool:
        if level == 0:
            return isinstance(value, bool)
        assert isinstance(value, dict)
        return sum(name in value and valid(value[name], level - 1) for name in ("left", "right")) == 1

    for leaf in (True, None):
        for other in (None, True, "other"):
            value: Any = leaf
            for level in range(depth):
                value = {("left", "right")[level % 2]: value}
                if is_open and other is not None and (order == "any" or level % 2 == 0):
                    value["right" if level % 2 == 0 else "left"] = {} if level else other
            assert (leads(compiled.matcher(), written(value)) == "accepted") == valid(value, depth)
    assert compiled.states < 400 * depth


@pytest.mark.parametrize("levels", [1, 12, 24])
def test_a_token_with_many_readings(levels: int) -> None:
    """Each member is the only one that counts, or the other one is: 2^24 readings of one token."""
    either: dict[str, Any] = {
        "oneOf": [
            {"type": "object", "properties": {name: {"$ref": "#"}}, "required": [name]}
            for name in ("left", "right")
        ]
        + [{"type": "integer"}]
    }
    long = b'{"left":' * levels
    vocabulary = tk.Vocabulary.load([*BYTES, long, b"}" * levels, None], stop=[len(BYTES) + 2])
    at = tk.json_schema(either).compile(vocabulary, limits=LIMITS).matcher()
    assert len(BYTES) in allowed(at)
    assert at.advance(len(BYTES))
    assert leads(at, "1") == "unfinished"
    assert len(BYTES) + 1 in allowed(at)
    assert at.advance(len(BYTES) + 1)
    assert at.is_accepting


def test_large_bounds() -> None:
    """lc#25746: maxLength of 2,000, nested; firecrawl#4512: characters {0,10000}."""
    schema = {
        "type": "array",
        "items": {"type": "object", "properties": {"a": {"type": "string", "maxLength": 2000}}},
        "maxItems": 2000,
    }
    assert accepts(schema, written([{"a": "x" * 2000}, {"a": ""}]))
    assert not accepts(schema, written([{"a": "x" * 2001}]))
    wide = {"type": "string", "pattern": "^[ -~]{0,10000}$"}
    assert accepts(wide, written("a" * 10_000))
    assert not accepts(wide, written("a" * 10_001))


def test_many_tools() -> None:
    """lc#25895: 58 tools of about 100 kB."""
    tools = [
        {
            "type": "object",
            "properties": {
                "name": {"const": f"tool_{number}"},
                "arguments": {
                    "type": "object",
                    "properties": {
                        f"argument_{number}_{index}": {"type": "string", "description": "d" * 150}
                        for index in range(8)
                    },
                    "required": [f"argument_{number}_0"],
                    "additionalProperties": False,
                },
            },
            "required": ["name", "arguments"],
            "additionalProperties": False,
        }
        for number in range(58)
    ]
    schema = {"anyOf": tools}
    assert len(json.dumps(schema)) > 90_000
    call = {"name": "tool_41", "arguments": {"argument_41_0": "x", "argument_41_7": "y"}}
    assert accepts(schema, written(call))
    assert not accepts(schema, written({**call, "name": "tool_42"}))


@pytest.mark.parametrize("count", [2_001, 100_000])
def test_one_of_many_options(count: int) -> None:
    """gd#1320: 2,001 options fail."""
    options = [f"option {number * 7919}" for number in range(count)]
    chosen = tk.choice(options).compile(VOCABULARY)
    assert leads(chosen.matcher(), options[-1]) == "accepted"
    assert leads(chosen.matcher(), "option 1") in ("refused", "unfinished")
    if count == 2_001:
        schema = {"enum": options}
        assert accepts(schema, written(options[2_000]))
        assert not accepts(schema, '"option 1"')


def test_a_part_of_a_long_text() -> None:
    """xg#652: a grammar of 40,000 rules."""
    words = [f"w{number * 7919 % 40_009}" for number in range(40_000)]
    compiled = tk.substring_of(" ".join(words)).compile(VOCABULARY)
    assert leads(compiled.matcher(), " ".join(words[20_000:20_010])) == "accepted"
    assert leads(compiled.matcher(), f"{words[5]} {words[3]}") == "refused"


# ---- tokens -----------------------------------------------------------------------------------


def test_classes_of_emoji() -> None:
    """ol#725: over bytes, and with a token that is a part of one."""
    for pattern in ("[😨]+", "[😀-🙏]+"):
        compiled = tk.regex(pattern).compile(VOCABULARY)
        assert leads(compiled.matcher(), "😨😨") == "accepted"
        assert leads(compiled.matcher(), "a") == "refused"
        assert len(BYTES) + LONG.index(b"\xf0\x9f") in allowed(compiled.matcher())
    assert len(BYTES) + LONG.index("😀".encode()) in allowed(
        tk.regex("[😀-🙏]+").compile(VOCABULARY).matcher()
    )


def test_a_quote_that_ends_a_string_inside_a_token() -> None:
    """xg#737: ``{"queries":["hello","]}``; llg#268: a token that goes on behind the quote."""
    schema = {
        "type": "object",
        "properties": {"queries": {"type": "array", "items": {"type": "string"}}},
        "required": ["queries"],
    }
    assert leads(matcher(schema), '{"queries":["hello","]}') == "unfinished"
    vocabulary = tk.Vocabulary.load([*BYTES, b'"a>', b'","]}', None], stop=[258])
    at = tk.json_schema(schema).compile(vocabulary).matcher()
    assert leads(at, '{"queries":["hello') == "unfinished"
    assert 256 not in allowed(at)  # "a> behind hello: what ends the string cannot be followed by a
    assert at.advance(257)  # ","]} : a comma, and a string that goes on with ]}
    assert not at.is_accepting


def test_logits_wider_than_the_tokenizer_and_several_stop_tokens() -> None:
    """mlx-vlm#1805: padding is never allowed; vl#52146: stop tokens are not, inside of a name."""
    at = matcher({"type": "object", "required": ["a"]})
    for byte in b'{"a':
        live = allowed(at)
        assert not live & set(STOP)
        assert max(live) < STOP[0]
        assert at.advance(byte)
    assert leads(at, '": 1}') == "accepted"
    assert allowed(at) == set(STOP)


def test_past_the_end() -> None:
    """airo#1739: a grammar of ``{}`` sampled one step past its end."""
    at = tk.literal("{}").compile(VOCABULARY).matcher()
    assert leads(at, "{}") == "accepted"
    assert at.is_finished
    assert allowed(at) == set(STOP)
    assert at.advance(STOP[1])
    assert allowed(at) == set(STOP)


def test_a_bound_on_white_space() -> None:
    """llg#240."""
    compiled = tk.regex("a[ ]{1,2}b").compile(VOCABULARY)
    assert leads(compiled.matcher(), "a  b") == "accepted"
    assert leads(compiled.matcher(), "a   b") == "refused"
