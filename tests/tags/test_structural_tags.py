"""Structural tags against their definition, on all short texts."""

from __future__ import annotations

import json
import random
from itertools import product
from typing import Any

import pytest

import tokamata as tk
from tests.support import tag_oracle
from tests.support.masks import allowed
from tests.support.texts import all_texts
from tests.support.vocabularies import BYTE_VOCABULARY, BYTES, bytes_and

TEXTS = all_texts("abX", 6)
KINDS = (
    *("const_string", "any_text", "regex", "sequence", "or", "optional", "plus", "star", "repeat"),
    *("tag", "triggered_tags", "tags_with_separator", "dispatch"),
)


def word(draw: random.Random, least: int = 1, most: int = 3) -> str:
    return "".join(draw.choice("ab") for _ in range(draw.randint(least, most)))


def words(draw: random.Random, *counts: int) -> list[str]:
    return [word(draw) for _ in range(draw.choice(counts))]


def some_tag(draw: random.Random, depth: int, begin: str) -> dict[str, Any]:
    end = word(draw) if draw.random() < 0.8 else words(draw, 2)
    return {"type": "tag", "begin": begin, "content": some_format(draw, depth - 1), "end": end}


def repeated(draw: random.Random, depth: int) -> dict[str, Any]:
    """A format that does not end with free text: the phrase that ends it might begin in an earlier round."""
    if depth > 0 and draw.random() < 0.5:
        return some_tag(draw, depth, word(draw))
    return {"type": "regex", "pattern": draw.choice(["a+", "b?a", "[ab]X"])}


def some_format(draw: random.Random, depth: int) -> dict[str, Any]:
    kind = draw.choice(KINDS if depth > 0 else KINDS[:3])
    form: dict[str, Any] = {"type": kind}
    if kind == "const_string":
        form["value"] = word(draw)
    elif kind == "any_text":
        form["excludes"] = words(draw, 0, 1, 2)
        if draw.random() < 0.2:
            form["max_chars"] = draw.randint(0, 3)
    elif kind == "regex":
        form["pattern"] = draw.choice(["a+", "(ab)*", "b?a", "[ab]X"])
    elif kind in ("sequence", "or"):
        form["elements"] = [some_format(draw, depth - 1) for _ in range(draw.randint(1, 2))]
    elif kind in ("optional", "plus", "star"):
        form["content"] = repeated(draw, depth - 1)
    elif kind == "repeat":
        low = draw.randint(0, 2)
        form.update(min=low, max=draw.choice([-1, low, low + 1]), content=repeated(draw, depth - 1))
    elif kind == "tag":
        return some_tag(draw, depth, word(draw))
    elif kind == "triggered_tags":
        triggers = sorted({word(draw, 1, 2) for _ in range(draw.randint(1, 2))})
        form["triggers"] = triggers
        form["tags"] = [some_tag(draw, depth, trigger + word(draw, 0, 1)) for trigger in triggers]
        form["excludes"] = words(draw, 0, 0, 1)
    elif kind == "dispatch":
        rules = [[word(draw), some_format(draw, depth - 1)] for _ in range(draw.randint(1, 2))]
        form.update(rules=rules, loop=draw.random() < 0.5, excludes=words(draw, 0, 0, 1))
    else:
        form["tags"] = [some_tag(draw, depth, word(draw)) for _ in range(draw.randint(1, 2))]
        form["separator"] = draw.choice(["", "X", "b"])
    if kind in ("triggered_tags", "tags_with_separator"):
        form["at_least_one"] = draw.random() < 0.3
        form["stop_after_first"] = draw.random() < 0.3
    return form


def accepted_texts(constraint: tk.Constraint[Any], longest: int) -> set[str]:
    """The texts over three letters that a matcher accepts; the masks are followed, all else is refused."""
    try:
        waiting = [constraint.compile(BYTE_VOCABULARY).matcher()]
    except tk.EmptyConstraintError:
        return set()
    found = set()
    while waiting:
        matcher = waiting.pop()
        if matcher.is_accepting:
            found.add(matcher.text.decode())
        if len(matcher.text) < longest:
            for byte in allowed(matcher) & set(b"abX"):
                fork = matcher.fork()
                assert fork.advance(byte)
                waiting.append(fork)
    return found


@pytest.mark.parametrize("seed", range(8))
def test_random_forms_are_what_they_denote(seed: int) -> None:
    draw = random.Random(seed)
    tried, refused = 0, set()
    while tried < 12:
        form = some_format(draw, draw.randint(1, 2))
        try:
            constraint = tk.structural_tag({"type": "structural_tag", "format": form})
        except tk.SchemaError as error:
            refused.add(error.keyword)
            continue
        tried += 1
        expected = {text for text in TEXTS if tag_oracle.is_text_of(form, text)}
        assert accepted_texts(constraint, 6) == expected, form
        for text in draw.sample(sorted(expected), min(4, len(expected))):
            constraint.parse(text)
    assert refused <= {"triggers", "rules", "begin"}  # a trigger that cannot appear, or several of one tag


NAMES = ("ab", "aba", "bb")  # of the control tokens 257 to 259
NAMED = tk.Vocabulary.load(
    [*BYTES, *[None] * 4], stop=256, control_tokens=dict(zip(NAMES, range(257, 260), strict=True))
)
PIECES = {ord("a"): "a", ord("b"): "b", ord("X"): "X", 257: "ab", 258: "aba", 259: "bb"}
SEQUENCES = [tuple(chosen) for size in range(5) for chosen in product(PIECES, repeat=size)]


def accepted_tokens(compiled: tk.CompiledConstraint[Any], most: int) -> set[tuple[int, ...]]:
    """The sequences of so many tokens that a matcher accepts; each mask is what the matcher takes."""
    waiting, found = [compiled.matcher()], set()
    while waiting:
        matcher = waiting.pop()
        if matcher.is_accepting:
            found.add(tuple(matcher.tokens))
        some = allowed(matcher) & set(PIECES)
        assert some == {token for token in PIECES if matcher.fork().advance(token)}
        if len(matcher.tokens) < most:
            for token in some:
                fork = matcher.fork()
                assert fork.advance(token)
                waiting.append(fork)
    return found


@pytest.mark.parametrize("seed", range(4))
def test_control_tokens_stand_for_their_names(seed: int) -> None:
    draw = random.Random(50 + seed)
    tried = 0
    while tried < 5:
        form = some_format(draw, draw.randint(1, 2))
        if not any(name in json.dumps(form) for name in NAMES):
            continue
        try:
            compiled = tk.structural_tag({"format": form}).compile(NAMED)
        except (tk.SchemaError, tk.EmptyConstraintError):
            continue
        expected = {
            tokens
            for tokens in SEQUENCES
            if tag_oracle.is_text_of(form, tag_oracle.Written([PIECES[one] for one in tokens], NAMES))
        }
        assert accepted_tokens(compiled, 4) == expected, form
        for tokens in draw.sample(sorted(expected), min(4, len(expected))):
            matcher = compiled.matcher()
            assert all(map(matcher.advance, tokens))
            matcher.parse()
        tried += any(max(tokens, default=0) > 256 for tokens in expected)


@pytest.mark.parametrize("seed", range(4))
def test_masks_are_exact_for_tokens_of_several_bytes(seed: int) -> None:
    """A token is allowed if and only if an accepted text continues with it; texts of up to six letters."""
    draw = random.Random(100 + seed)
    vocabulary = bytes_and(b"ab", b"ba", b"aab", b"Xa", b"bX", b"abX")
    tried = 0
    while tried < 6:
        form = some_format(draw, 1)
        if form["type"] not in ("triggered_tags", "dispatch", "tag"):
            continue
        try:
            compiled = tk.structural_tag({"format": form}).compile(vocabulary)
        except (tk.SchemaError, tk.EmptyConstraintError):
            continue
        tried += 1
        waiting = [compiled.matcher()]
        while waiting:
            matcher = waiting.pop()
            before = matcher.text
            for token in range(256, 262):
                text = vocabulary[token]
                assert text is not None
                by_bytes = matcher.fork()
                assert matcher.fork().advance(token) == all(map(by_bytes.advance, text)), (form, before, text)
                assert (token in allowed(matcher)) == matcher.fork().advance(token)
            for byte in b"abX":
                fork = matcher.fork()
                if len(before) < 4 and fork.advance(byte):
                    waiting.append(fork)


def tagged(begin: str, content: Any, end: Any) -> dict[str, Any]:
    return {"type": "tag", "begin": begin, "content": content, "end": end}


CALL = tagged("<f=a>", {"type": "json_schema", "json_schema": {"type": "integer"}}, "</f>")


def test_values_come_back_typed() -> None:
    form = {"type": "triggered_tags", "triggers": ["<f="], "tags": [CALL]}
    constraint = tk.structural_tag({"type": "structural_tag", "format": form})
    value = constraint.parse("so <f=a>12</f><f=a>3</f>.")
    assert value == ["so ", tk.Tag("<f=a>", 12, "</f>"), tk.Tag("<f=a>", 3, "</f>"), "."]


def test_the_older_form() -> None:
    structures = [
        {"begin": "<f=a>", "schema": '{"type": "integer"}', "end": "</f>"},
        {"begin": "<f=b>", "schema": {"type": "null"}, "end": "</f>"},
    ]
    legacy = {"type": "structural_tag", "structures": structures, "triggers": ["<f="]}
    tags = [CALL, tagged("<f=b>", {"type": "json_schema", "json_schema": {"type": "null"}}, "</f>")]
    form = {"type": "triggered_tags", "triggers": ["<f="], "tags": tags}
    assert tk.structural_tag(legacy).is_equivalent_to(tk.structural_tag({"format": form}))


@pytest.mark.parametrize(
    ("form", "pointer", "keyword"),
    [
        ({"type": "any_text", "exclude": ["a"]}, "/format", "exclude"),
        ({"type": "text"}, "/format", "type"),
        ({"type": "sequence", "elements": [{"type": "star"}]}, "/format/elements/0", "content"),
        ({"type": "or", "elements": []}, "/format", "elements"),
        ({"type": "regex", "pattern": "("}, "/format", "pattern"),
        ({"type": "regex", "pattern": r"(a)\1"}, "/format", "pattern"),
        ({"type": "grammar", "grammar": "root ::= x"}, "/format", "grammar"),
        ({"type": "json_schema", "json_schema": {"type": 5}}, "/format/json_schema", "type"),
        ({"type": "json_schema", "json_schema": {}, "style": "xml"}, "/format", "style"),
        ({"type": "json_schema", "json_schema": {}, "excludes": [""]}, "/format", "excludes"),
        (
            {"type": "json_schema", "json_schema": {}, "max_whitespace_cnt": -1},
            "/format",
            "max_whitespace_cnt",
        ),
        ({"type": "triggered_tags", "triggers": ["<g"], "tags": [CALL]}, "/format/tags/0", "begin"),
        ({"type": "triggered_tags", "triggers": ["<f", "<"], "tags": [CALL]}, "/format/tags/0", "begin"),
        ({"type": "dispatch", "rules": [["a", CALL], ["ab", CALL]]}, "/format", "rules"),
        (
            {"type": "token_triggered_tags", "trigger_tokens": ["a"], "tags": [CALL]},
            "/format/tags/0",
            "begin",
        ),
        ({"type": "repeat", "min": 2, "max": 1, "content": CALL}, "/format", "max"),
        (tagged("<", {"type": "any_text"}, [1]), "/format", "end"),
        (tagged("<", {"type": "any_text"}, {"type": "token"}), "/format/end", "token"),
    ],
)
def test_what_is_wrong_has_a_pointer(form: dict[str, Any], pointer: str, keyword: str) -> None:
    with pytest.raises((tk.SchemaError, tk.UnsupportedSchemaError)) as caught:
        tk.structural_tag({"type": "structural_tag", "format": form})
    assert (caught.value.pointer, caught.value.keyword) == (pointer, keyword)
