"""Members between tags, as the engine writes them: masks, languages, budgets, options of structural tags."""

from __future__ import annotations

import json
import random
import re
from typing import Any

import jsonschema
import jsonschema_rs
import numpy as np
import pytest

import tokamata as tk
from tests.support.masks import allowed, bits
from tests.support.matchers import step
from tests.support.tags.tagged_texts import (
    SCHEMAS,
    drawn,
    is_value_writable,
    written,
)
from tests.support.tags.walks import walked
from tests.support.tokenizers.canonical_tokenizers import SOURCES
from tests.support.vocabularies import BYTE_VOCABULARY, BYTES
from tokamata.patterns.tagged import STYLES, TagStyle

MORE: list[dict[str, Any]] = [
    *SCHEMAS,
    {"type": "object"},
    {"type": "object", "properties": {"a": {}}, "additionalProperties": {"type": "number"}},
    {
        "type": "object",
        "patternProperties": {"^[a-c]$": {"type": "integer"}},
        "additionalProperties": False,
        "minProperties": 2,
    },
    {
        "type": "object",
        "properties": {"kind": {"enum": ["x", "y"]}, "value": {"type": ["string", "integer"]}},
        "required": ["kind", "value"],
        "if": {"properties": {"kind": {"const": "x"}}},
        "then": {"properties": {"value": {"type": "integer"}}},
        "else": {"properties": {"value": {"type": "string"}}},
    },
    {
        "$defs": {
            "tree": {
                "type": "object",
                "properties": {
                    "value": {"type": "string"},
                    "next": {"anyOf": [{"$ref": "#/$defs/tree"}, {"type": "null"}]},
                },
                "required": ["value", "next"],
                "additionalProperties": False,
            }
        },
        "$ref": "#/$defs/tree",
    },
    {  # names that begin alike, the required one first
        "type": "object",
        "properties": {"temp": {"type": "integer"}, "tag": {"type": "string"}, "tact": {"type": "boolean"}},
        "required": ["temp"],
    },
]
STYLE_NAMES = [name for name in STYLES if name not in ("mimo_xml", "glm_4_5_xml")]  # as qwen_xml, glm_xml


def schemas_of(style: str) -> list[dict[str, Any]]:
    """Those whose texts can be ended within a budget.

    In ``minimax_m3_xml`` a closing repeats the name: near the end of a budget, undeclared names take long.
    """
    if style != "minimax_m3_xml":
        return MORE
    return [one for one in MORE if one.get("additionalProperties") is False and "properties" in one]


def form_of(schema: Any, style: str, **options: Any) -> tk.Constraint[Any]:
    given, of_format = {}, {}
    for name, option in options.items():
        (given if name in ("whitespace", "spelling") else of_format)[name] = option
    form = {"type": "json_schema", "json_schema": schema, "style": style, **of_format}
    return tk.structural_tag({"type": "structural_tag", "format": form}, **given)


def member(style: str, name: str, value: str, kind: str = "string") -> str:
    tags: TagStyle = STYLES[style]
    attributes = tags.attributes[kind].replace("{blanks}", "")
    return tags.opening + name + attributes + value + tags.closing.replace("{name}", name)


@pytest.mark.parametrize("style", STYLE_NAMES)
def test_what_a_template_writes_is_accepted_and_what_breaks_the_schema_is_not(style: str) -> None:
    rng = random.Random(f"written {style}")
    for schema in SCHEMAS:
        constraint = form_of(schema, style)
        properties = schema["properties"]
        for _ in range(12):
            members = {
                name: one
                for name, one in drawn(schema, rng).items()
                if name in schema["required"] or is_value_writable(one, properties[name], STYLES[style])
            }
            writable = all(
                is_value_writable(one, properties[name], STYLES[style]) for name, one in members.items()
            )
            if writable and jsonschema_rs.is_valid(schema, members):  # `$` is the end of the text alone
                text = written(members, style, rng)
                assert constraint.accepts(text), text
                assert constraint.parse(text) == members
            broken = dict(members)
            del broken[rng.choice(schema["required"])]
            assert not constraint.accepts(written(broken, style, rng))


@pytest.mark.parametrize("style", STYLE_NAMES)
def test_what_masks_write_is_read_back_as_an_object_of_the_schema(style: str) -> None:
    rng = random.Random(f"walks {style}")
    for schema in schemas_of(style):
        judge = jsonschema.Draft202012Validator(schema, format_checker=jsonschema.FormatChecker())
        constraint = form_of(schema, style, whitespace=rng.choice(["natural", "any"]))
        compiled = constraint.compile(BYTE_VOCABULARY)
        for _ in range(4):
            matcher = walked(compiled, rng, rng.choice([300, 400]))
            assert constraint.accepts(matcher.text), matcher.text
            assert judge.is_valid(constraint.parse(matcher.text)), matcher.text


@pytest.mark.parametrize("style", STYLE_NAMES)
def test_tokens_of_several_bytes_are_allowed_as_their_bytes_are(style: str) -> None:
    """The bytes of a token, one after the other, judge it: every byte is a token too."""
    rng = random.Random(f"tokens {style}")
    for schema in rng.sample(schemas_of(style), 3):
        constraint = form_of(schema, style, any_order=rng.random() < 0.5)
        by_bytes = constraint.compile(BYTE_VOCABULARY)
        texts = [walked(by_bytes, rng, 350).text for _ in range(4)]
        pieces = {text[at : at + rng.randrange(2, 9)] for text in texts for at in range(0, len(text), 3)}
        pieces |= {rng.choice(texts)[-4:] + rng.choice(texts)[:3] for _ in range(20)}
        tokens = [*BYTES, *sorted(one for one in pieces if len(one) > 1)]
        vocabulary = tk.Vocabulary.load([*tokens, None], stop=len(tokens))
        matcher, exact = constraint.compile(vocabulary).matcher(), by_bytes.matcher()
        for byte in rng.choice(texts)[:120]:
            expected = {
                token
                for token, text in enumerate(tokens)
                if text and all(map((fork := exact.fork()).advance, text)) and fork
            }
            if exact.is_accepting:
                expected.add(len(tokens))
            assert allowed(matcher) == expected, matcher.text
            assert matcher.advance(byte)
            assert exact.advance(byte)


def test_a_regular_expression_by_hand() -> None:
    """Masks over bytes, on walks, are those of the same texts as a regular expression."""
    schema = {
        "type": "object",
        "properties": {
            "a": {"type": "string", "maxLength": 3},
            "b": {"enum": ["x", True]},
            "c": {"type": "null"},
        },
        "required": ["a", "b"],
        "additionalProperties": False,
    }
    ours = form_of(schema, "minimax_xml", whitespace="compact", spelling="plain").compile(BYTE_VOCABULARY)
    character = r"(?s:(?!(?i:null)</p)(?!</parameter>).)"  # of three characters, no more can end a value
    text = rf"(?!\s*(?i:null)\s*</){character}{{0,3}}"

    def one(name: str, value: str) -> str:
        return f'<parameter name="{name}">{value}</parameter>'

    options = [one("a", text), one("b", "(?:x|true)"), one("c", "null")]
    by_hand = tk.regex("{}{}(?:{})?".format(*options)).compile(BYTE_VOCABULARY)
    rng = random.Random(3)
    for _ in range(25):
        one_matcher, other = ours.matcher(), by_hand.matcher()
        for left in range(170, 0, -1):
            assert allowed(one_matcher) == allowed(other), one_matcher.text
            row = ours.allocate_mask()[0]
            one_matcher.fill_mask(row, left)
            tokens = sorted(bits(row) - {256})
            if not tokens:
                break
            byte = rng.choice(tokens)
            assert one_matcher.advance(byte)
            assert other.advance(byte)
        assert one_matcher.is_accepting
        assert other.is_accepting


# ---- values -----------------------------------------------------------------------------------


@pytest.mark.parametrize("style", STYLE_NAMES)
def test_no_string_holds_what_ends_it(style: str) -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}
    closing = STYLES[style].closing.replace("{name}", "a")
    text = member(style, "a", "x" + closing + "y")
    constraint = form_of(schema | {"additionalProperties": False}, style)
    assert not constraint.accepts(text)
    assert constraint.accepts(member(style, "a", "x" + closing[:-2] + "y")) == (
        not re.search("|".join(STYLES[style].ends), closing[:-2])
    )


@pytest.mark.parametrize("style", [one for one in STYLE_NAMES if STYLES[one].items is None])
def test_strings_within_json_are_spelled_without_what_ends_the_value(style: str) -> None:
    schema = {"type": "object", "properties": {"a": {"type": "array", "items": {"type": "string"}}}}
    constraint = form_of(schema, style)
    closing = STYLES[style].closing
    assert not constraint.accepts(member(style, "a", json.dumps([closing], ensure_ascii=False), "array"))
    escaped = json.dumps([closing], ensure_ascii=False).replace("<", "\\u003c")
    assert constraint.accepts(member(style, "a", escaped, "array"))
    assert constraint.parse(member(style, "a", escaped, "array")) == {"a": [closing]}


def test_one_line_feed_at_either_end_is_no_part_of_a_string() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string", "maxLength": 2}}}
    constraint = form_of(schema, "qwen_xml")
    for value, expected in {
        "xy": True,
        "\nxy\n": True,
        "\nxy": True,
        "xyz": False,
        "\n\nxy\n": False,
        "\n\nx\n": True,
        "\n\n\n\n": True,
        "\n\n\n\n\n": False,
        "\n": True,
    }.items():
        assert constraint.accepts(member("qwen_xml", "a", value)) == expected, value


def test_a_pattern_is_one_of_the_value() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string", "pattern": '^["\\\\<]+$'}}}
    constraint = form_of(schema, "qwen_xml")
    assert constraint.accepts(member("qwen_xml", "a", '"\\<'))
    assert not constraint.accepts(member("qwen_xml", "a", '\\"x'))


def test_unions_of_strings_and_other_values() -> None:
    schema = {"type": "object", "properties": {"a": {"type": ["string", "integer"]}}}
    qwen, deepseek = form_of(schema, "qwen_xml"), form_of(schema, "deepseek_xml")
    for value in ("5", "x", "5x", "-7", "[1]"):
        assert qwen.accepts(member("qwen_xml", "a", value)), value
    for value in ("+5", "5.5", " 5", "٥", "null", "Null"):
        assert not qwen.accepts(member("qwen_xml", "a", value)), value
    assert deepseek.accepts(member("deepseek_xml", "a", "5", "number"))
    assert not deepseek.accepts(member("deepseek_xml", "a", "x", "number"))
    assert deepseek.accepts(member("deepseek_xml", "a", "x"))


# ---- names ------------------------------------------------------------------------------------


def test_names_that_are_not_declared_differ() -> None:
    schema = {"type": "object", "properties": {"abc": {}}, "additionalProperties": {"type": "integer"}}
    for style in STYLE_NAMES:
        compiled = form_of(schema, style).compile(BYTE_VOCABULARY)
        begun = member(style, "ab", "1", "number") + STYLES[style].opening + "ab"
        matcher = compiled.matcher()
        assert all(map(matcher.advance, begun.encode())), style
        end = STYLES[style].attributes["number"].encode()[0]
        assert end not in allowed(matcher)
        assert ord("c") in allowed(matcher)
        assert ord("d") in allowed(matcher)
        assert matcher.advance(ord("c"))
        assert end in allowed(matcher)


def test_order() -> None:
    schema = {
        "type": "object",
        "properties": {"a": {"type": "null"}, "b": {"type": "null"}, "c": {"type": "null"}},
        "required": ["a", "b"],
        "additionalProperties": False,
    }
    in_order, in_any = (form_of(schema, "qwen_xml", any_order=one) for one in (False, True))
    for names, schema_order, any_order in [
        ("ab", True, True), ("abc", True, True), ("acb", False, True), ("ba", False, True),
        ("a", False, False), ("aab", False, False), ("cab", False, True), ("abcc", False, False),
    ]:  # fmt: skip
        text = "".join(member("qwen_xml", name, "null") for name in names)
        assert in_order.accepts(text) == schema_order, names
        assert in_any.accepts(text) == any_order, names


def test_a_required_name_that_cannot_be_written_is_an_error() -> None:
    schema = {"type": "object", "properties": {"a>b": {}}, "required": ["a>b"]}
    with pytest.raises(tk.UnsupportedSchemaError, match="qwen_xml cannot write the name 'a>b'"):
        form_of(schema, "qwen_xml")
    optional = form_of(
        {"type": "object", "properties": {"a>b": {}}, "additionalProperties": False}, "qwen_xml"
    )
    assert optional.accepts("")
    assert not optional.accepts(member("qwen_xml", "a>b", "x"))
    kimi = form_of({"type": "object", "properties": {'a"&b': {"type": "null"}}}, "kimi_k3_xml")
    assert kimi.accepts(member("kimi_k3_xml", "a&quot;&amp;b", "null", "null"))


def test_a_name_that_ends_the_value_around_it_is_an_error() -> None:
    inner = {"type": "object", "properties": {"</parameter>": {"type": "null"}}}
    with pytest.raises(tk.UnsupportedSchemaError, match="ends the value around it"):
        form_of({"type": "object", "properties": {"a": inner}}, "qwen_xml")
    assert form_of({"type": "object", "properties": {"a": inner}}, "glm_xml").accepts("")


@pytest.mark.parametrize("style", STYLE_NAMES)
def test_elements_that_must_differ(style: str) -> None:
    """An error where elements stand between tags, and enforced in JSON."""
    elements = {"type": "array", "items": {"type": "integer"}, "uniqueItems": True}
    schema = {"type": "object", "properties": {"a/b": elements}, "required": ["a/b"]}
    if STYLES[style].items is not None:
        with pytest.raises(tk.UnsupportedSchemaError, match="elements stand between tags") as error:
            form_of(schema, style)
        assert error.value.pointer.endswith("/properties/a~1b")
        return
    form = form_of(schema, style)
    assert form.accepts(written({"a/b": [1, 2]}, style, random.Random(1)))
    assert not form.accepts(written({"a/b": [1, 1]}, style, random.Random(1)))


# ---- options of structural tags ----------------------------------------------------------------


@pytest.mark.parametrize("style", ["json", "qwen_xml"])
@pytest.mark.parametrize("whitespace", ["natural", "any"])
@pytest.mark.parametrize("most", [0, 1, 3])
def test_blanks_have_a_bound(style: str, whitespace: str, most: int) -> None:
    schema = {
        "type": "object",
        "properties": {"a": {"type": "array", "items": {"type": "integer"}}},
        "required": ["a"],
    }
    schema["additionalProperties"] = False  # type: ignore[assignment]
    free = form_of(schema, style, whitespace=whitespace)
    bounded = form_of(schema, style, whitespace=whitespace, max_whitespace_cnt=most)
    too_many = re.compile(rb"[ \t\n\r]{%d}" % (most + 1))
    rng = random.Random(most)
    for constraint in (free, bounded):
        compiled = constraint.compile(BYTE_VOCABULARY)
        for _ in range(6):
            text = walked(compiled, rng, 90).text
            assert bounded.accepts(text) == (not too_many.search(text)), text
            assert free.accepts(text)


@pytest.mark.parametrize("style", ["json", "qwen_xml", "kimi_k3_xml"])
def test_strings_and_names_have_none_of_the_excluded_texts(style: str) -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string"}, "xbad": {"type": "string"}}}
    constraint = form_of(schema, style, excludes=["bad", "<|"])
    for value, expected in (
        ("good", True),
        ("a bad one", False),
        ("ba", True),
        ("bad", False),
        ("<|x", False),
    ):
        text = json.dumps({"a": value}) if style == "json" else member(style, "a", value)
        assert constraint.accepts(text) == expected, value
    undeclared = json.dumps({"is bad": "x"}) if style == "json" else member(style, "is bad", "x")
    assert not constraint.accepts(undeclared)
    json_in_tags = form_of(
        {"type": "object", "properties": {"a": {"type": "array"}}}, "qwen_xml", excludes=["bad"]
    )
    assert json_in_tags.accepts(member("qwen_xml", "a", '["ba d"]'))
    assert not json_in_tags.accepts(member("qwen_xml", "a", '["bad"]'))


def test_the_older_name_of_a_style() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "integer"}}, "additionalProperties": False}
    old = tk.structural_tag({"format": {"type": "qwen_xml_parameter", "json_schema": schema}})
    assert old.accepts(member("qwen_xml", "a", "5"))
    with pytest.raises(tk.SchemaError, match='"qwen_xml" or'):
        form_of(schema, "unknown_xml")


# ---- tokens -----------------------------------------------------------------------------------


def test_control_tokens_stand_for_their_names() -> None:
    names = ("<|open|>", "<|close|>", "<|sep|>")
    ids = {name: 300 + number for number, name in enumerate(names)}
    vocabulary = tk.Vocabulary.load([*BYTES, *[None] * 50], stop=305, control_tokens=ids)
    schema = {
        "type": "object",
        "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
        "required": ["city", "days"],
    }
    constraint = form_of(schema, "kimi_k3_xml")

    def tokens(text: str) -> list[int]:
        pieces = re.split(r"(<\|\w+\|>)", text)
        return [token for one in pieces for token in ([ids[one]] if one in ids else one.encode())]

    text = member("kimi_k3_xml", "city", "Bern") + member("kimi_k3_xml", "days", "5", "number")
    for spelled in (tokens(text), list(text.encode())):
        matcher = constraint.compile(vocabulary).matcher()
        for token in spelled:
            expected = {one for one in (*range(256), *ids.values()) if matcher.fork().advance(one)}
            assert allowed(matcher) - {305} == expected
            assert matcher.advance(token)
        assert matcher.is_accepting
        assert matcher.parse() == {"city": "Bern", "days": 5}
    row = constraint.compile(vocabulary).allocate_mask()[0]
    for budget in (120, 200):
        matcher = constraint.compile(vocabulary).matcher()
        rng = random.Random(budget)
        for left in range(budget, 0, -1):
            matcher.fill_mask(row, left)
            some = sorted(bits(row) - {305})
            if not some:
                break
            assert matcher.advance(rng.choice(some))
        assert matcher.is_accepting


def test_repair() -> None:
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
        "required": ["city", "days"],
    }
    cut_off = "<parameter=city>Bern</parameter><parameter=days>5</parameter"
    for more in (False, True):
        constraint = form_of({**schema, "additionalProperties": more}, "qwen_xml")
        assert constraint.repair(cut_off).text == f"{cut_off}>"
        assert isinstance(constraint.parse(constraint.repair(cut_off.replace("5", "five")).text)["days"], int)


def test_canonical_tokenization() -> None:
    llama = next(source for source in SOURCES if source.name == "llama-3.1").judged()
    schema = {
        "type": "object",
        "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
        "required": ["city", "days"],
        "additionalProperties": {"type": "integer"},
    }
    constraint = form_of(schema, "qwen_xml")
    compiled = constraint.compile(llama.vocabulary, tokenization="canonical")
    for seed in range(2):
        matcher, chooser = compiled.matcher(), random.Random(seed)
        while len(matcher.tokens) < 20 and step(matcher, chooser):
            pass
        assert all(map(matcher.advance, matcher.shortest_completion()))
        assert llama.is_canonical(matcher.tokens)
        constraint.parse(matcher.text)


def test_texts_in_other_white_space_and_order_are_read() -> None:
    schema = {
        "type": "object",
        "properties": {"a": {"type": "integer"}, "b": {"type": "null"}},
        "required": ["a", "b"],
    }
    constraint = form_of(schema, "minimax_xml", whitespace="compact")
    text = " " + member("minimax_xml", "b", " null") + "\n\n" + member("minimax_xml", "a", "5")
    assert not constraint.accepts(text)
    assert constraint.parse(text) == {"a": 5, "b": None}


def test_states_go_when_memory_is_short() -> None:
    """Rules are made a second time after what no matcher stands on was freed."""
    schema = {"type": "object", "additionalProperties": {"type": "string", "maxLength": 30}}
    constraint = form_of(schema, "minimax_xml")
    compiled = constraint.compile(BYTE_VOCABULARY, limits=tk.Limits(memory_bytes=6 << 20))
    rng = random.Random(9)
    matcher, text = compiled.matcher(), b""
    row: np.ndarray = compiled.allocate_mask()[0]
    for number in range(60):
        for byte in member("minimax_xml", f"name_{number}", f"value {rng.random()}").encode():
            matcher.fill_mask(row)
            assert byte in bits(row)
            assert matcher.advance(byte)
            text += bytes([byte])
    assert matcher.is_accepting
    assert constraint.accepts(text)
