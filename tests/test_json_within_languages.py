"""JSON that is also in a regular language: which states live, and masks token by token."""

from __future__ import annotations

import json
import random
import re
from typing import Any

import pytest

import tokamata as tk
from tests.support.masks import allowed
from tests.support.vocabularies import BYTE_VOCABULARY, bytes_and

NAME = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}
SCHEMAS: dict[str, Any] = {
    "any": True,
    "open": NAME,
    "closed": NAME | {"additionalProperties": False},
    "two names": {"type": "object", "properties": {"é": {}, "b": {}}, "required": ["b"]},
    "required é": {"type": "object", "properties": {"é": {"type": "integer"}}, "required": ["é"]},
    "one of é": {"enum": ["aé", "a", "é", ["é"], {"b": 1, "é": 2}, {"b": 1}]},
    "é later": {
        "type": "object",
        "properties": {"a": {"enum": ["x", "xé"]}, "b": {"anyOf": [{"const": "é"}, {"type": "integer"}]}},
        "required": ["a", "b"],
        "additionalProperties": False,
    },
    "unique": {"type": "array", "items": {"enum": ["a", "é", "b", 1]}, "uniqueItems": True, "minItems": 2},
    "pattern": {"type": "string", "pattern": "^(é|[a-b]{2,})$"},
    "nested": {"type": "array", "items": {"type": "array", "items": {"pattern": "b"}}},
}
LANGUAGES = {
    "ASCII": r"[\x00-\x7f]*",
    "one line": ".*",
    "no a": "[^a]*",
    "letters": '[a-zé\\x20-\\x40{}:,\\[\\]"]*',
    "has b": "(?s:.*b.*)",
    "begins": r"[\[{\"].*",
}
DENIED = {"no é": "(?s:.*)é(?s:.*)", "no line break": "(?s:.*)\n(?s:.*)"}
VALUES: list[Any] = [
    {"a": "é"},
    {"a": "b\n", "é": [1, {}]},
    {"b": 1},
    {"é": 1},
    {"b": 1, "é": 2},
    "aé",
    "a",
    "é",
    "ab",
    ["a", "b"],
    ["b", "é", 1],
    [["b"], ["ab", 2]],
    {"a": "x", "b": 7},
    {"a": "xé", "b": "é"},
    [],
    [[]],
    12,
    {"a": "a", "x": {"a": None}},
]
TEXTS = [
    text for value in VALUES for text in (json.dumps(value, ensure_ascii=False), json.dumps(value, indent=1))
]
PIECES = [
    *(
        piece.encode()
        for piece in ('{"', '":', '"}', 'é"', '"é', "aé", "ab", '","', '":"', '"]', '["', "\n ", 'a"', "é1")
    ),
    b"\xc3\xa9\xc3",
    b"x\xc3",
]
VOCABULARY = bytes_and(*PIECES)


def constraints() -> list[tuple[str, str, str, bool]]:
    return [
        (schema, spelling, language, language in DENIED)
        for number, schema in enumerate(SCHEMAS)
        for turn, language in enumerate([*LANGUAGES, *DENIED])
        for spelling in ("plain", "any")
        if (number + turn) % 2 == (spelling == "any" and schema != "unique")
        if schema != "required é" or spelling == "any"  # nothing is left, and to say why takes long
        if language != "has b"
        or schema in ("closed", "one of é", "pattern")  # elsewhere a search may take long
    ]


def texts_of(language: str, is_denied: bool) -> list[str]:
    pattern = re.compile((DENIED if is_denied else LANGUAGES)[language])
    return [text for text in TEXTS if bool(pattern.fullmatch(text)) != is_denied]


@pytest.mark.parametrize(("schema", "spelling", "language", "is_denied"), constraints())
def test_masks_and_states(schema: str, spelling: Any, language: str, is_denied: bool) -> None:
    options: dict[str, Any] = {"spelling": spelling, "whitespace": "any", "property_order": "any"}
    of_json = tk.json_schema(SCHEMAS[schema], **options)
    regex = tk.regex((DENIED if is_denied else LANGUAGES)[language])
    constraint = of_json - regex if is_denied else of_json & regex
    texts = [text for text in texts_of(language, is_denied) if of_json.accepts(text)]
    try:
        by_bytes = constraint.compile(BYTE_VOCABULARY)
    except tk.EmptyConstraintError:
        assert not texts
        assert spelling == "plain"
        return
    in_pieces = constraint.compile(VOCABULARY)
    draw = random.Random(f"{schema} {language}")
    for text in draw.sample(texts, min(1, len(texts))):
        data = text.encode()
        for end in sorted(draw.sample(range(len(data) + 1), min(4, len(data) + 1))):
            matcher, bytes_alone = in_pieces.matcher(), by_bytes.matcher()
            assert matcher.advance_all(list(data[:end])), (text, end)
            assert bytes_alone.advance_all(list(data[:end]))
            live = allowed(matcher)
            for token, piece in enumerate([bytes([value]) for value in range(256)] + PIECES):
                takes = bytes_alone.fork().advance_all(list(piece))
                assert (token in live) == takes, (data[:end], piece)
            assert live or matcher.is_accepting


def test_a_required_name_that_cannot_be_written() -> None:
    schema = {"type": "object", "properties": {"é": {}}, "required": ["é"]}
    with pytest.raises(tk.EmptyConstraintError):
        (tk.json_schema(schema, spelling="plain") & tk.regex(r"[\x00-\x7f]*")).compile(BYTE_VOCABULARY)
    matcher = (
        (tk.json_schema(schema, spelling="any") & tk.regex(r"[\x00-\x7f]*"))
        .compile(BYTE_VOCABULARY)
        .matcher()
    )
    assert matcher.advance_all(list(b'{"\\u00e9":1}'))


def test_states_of_undeclared_names_are_few() -> None:
    """One mask for each token of a vocabulary would be a state for each of its bytes."""
    constraint = tk.json_schema(NAME) & tk.regex(r"[\x20-\x7e]*")
    words = [
        f"{first}{second}{third}".encode()
        for first in "abcdefgh"
        for second in "abcdefgh"
        for third in "abcdefgh"
    ]
    compiled = constraint.compile(bytes_and(*words), limits=tk.Limits(states=2000))
    matcher = compiled.matcher()
    for byte in b'{"a": "aa", "bbb": 1, "bbc":':
        assert byte in allowed(matcher)
        assert matcher.advance(byte)
