"""Masks of JSON with control tokens, free text or complements around or beside it: exact, and of few states.

Such a mask is made of the parts of its constraint.  A walk of the vocabulary with all parts at once would
make a state for each beginning of a JSON text.  So these tests count states and bytes, not time.
"""

from __future__ import annotations

import random

import pytest

import tokamata as tk
from tests.support.masks import allowed, bits, taken
from tests.support.vocabularies import BYTES, cut

SCHEMA = {
    "type": "object",
    "properties": {
        "city": {"type": "string"},
        "days": {"type": "integer", "minimum": 0, "maximum": 14},
        "unit": {"enum": ["celsius", "fahrenheit"]},
        "tags": {"type": "array", "items": {"type": "string"}},
    },
    "required": ["city"],
}
JSON = tk.json_schema(SCHEMA)
ARGUMENTS = '{"city": "Bern", "days": 3, "unit": "celsius", "tags": ["a b", "é"], "x": {"a": [1, "b"]}}'
OPEN, CLOSE = tk.control_token("<open>"), tk.control_token("<close>")
TEXT = f"a < b, so {{x}}: ```json\n{ARGUMENTS}\n``` END foo <<n>{ARGUMENTS}</n> <call>{ARGUMENTS}</call>"


def vocabulary_of(pieces: int, seed: int) -> tk.Vocabulary:
    """Every byte, pieces of texts and others of the same characters, control tokens, a stop token."""
    draw = random.Random(seed)
    data = TEXT.encode()
    found: dict[bytes, None] = {}
    while len(found) < pieces:
        at, length = draw.randrange(len(data)), draw.randint(2, 8)
        slice_ = data[at : at + length]
        other = bytes(draw.choices(data, k=length)) if draw.random() < 0.7 else slice_
        if len(other) > 1:
            found[other] = None
    size = 256 + pieces
    return tk.Vocabulary.load(
        [*BYTES, *found, None, None, None],
        stop=size + 2,
        control_tokens={"<open>": size, "<close>": size + 1},
    )


VOCABULARY = vocabulary_of(600, 1)
CASES: dict[str, tuple[tk.Constraint, list[str]]] = {
    "think first": (tk.think_first(JSON, end=OPEN), ["a < b", "<open>", "\n\n" + ARGUMENTS]),
    "tags of control tokens": (
        tk.triggered([tk.tag(OPEN, JSON, CLOSE)]),
        ["a", "<open>", ARGUMENTS, "<close>", " b", "<open>", ARGUMENTS, "<close>"],
    ),
    "an optional control token": (JSON + OPEN.optional() + JSON, [ARGUMENTS, "<open>", ARGUMENTS]),
    "a control token or text": ((OPEN | tk.literal(" and ")) + JSON, ["<open>", ARGUMENTS]),
    "numbers and control tokens": (
        (tk.json_schema({"type": "integer"}) + OPEN).repeat() + tk.json_schema({"type": "number"}),
        ["12", "<open>", "3", "<open>", "1.5"],
    ),
    "tags": (tk.triggered([tk.tag("<call>", JSON, "</call>")]), [f"a < b <call>{ARGUMENTS}</call> <c"]),
    "a fence": (tk.triggered([tk.tag("```json\n", JSON, "\n```")]), [f"a ``b\n```json\n{ARGUMENTS}\n``` `"]),
    "triggers that overlap": (
        tk.triggered([tk.tag("<<n>", JSON, "</n>"), tk.tag("<<m<>", JSON, "</m>")]),
        [f"a<b <<n>{ARGUMENTS}</n> <<m<>{ARGUMENTS}</m> <"],
    ),
    "excluded phrases": (
        tk.triggered([tk.tag("<call>", JSON, "</call>")], excludes=["foo", "END"]),
        [f"a fo <call>{ARGUMENTS}</call> EN"],
    ),
    "JSON, then no phrase": (JSON + tk.text_without(["foo", "oo b"]), [ARGUMENTS + " fo END"]),
    "no phrase, or JSON": (tk.text_without(["foo", "Bern"]) | JSON, [ARGUMENTS]),
    "no phrase and more, or JSON": (
        (tk.text_without(["foo", "a b"]) + tk.literal("foo")) | JSON,
        [ARGUMENTS],
    ),
    "a complement, or JSON": (~tk.regex('(?s:.*)(Bern|days": 3)(?s:.*)') | JSON, [ARGUMENTS]),
    "an intersection, or JSON": (
        (tk.regex('[{}":, a-z]*') & tk.regex(r"(?s:.*)(city|Bern)(?s:.*)")) | JSON,
        [ARGUMENTS],
    ),
    "a lookahead, or JSON": (tk.regex(r'\{(?!"city": "Be)[^x]*') | JSON, [ARGUMENTS]),
    "within": (
        tk.literal("a") + (tk.text_without(["foo", "Bern"]) | JSON) + tk.literal(" END"),
        [f"a{ARGUMENTS} END"],
    ),
    "nothing beside": ((tk.text_without(["a"]) & tk.literal("a")) | JSON, [ARGUMENTS]),
}


def tokens_of(parts: list[str], draw: random.Random) -> list[int]:
    """The tokens of parts, each a text or the name of a control token."""
    names = ("<open>", "<close>")
    tokens: list[int] = []
    for part in parts:
        if part in names:
            tokens.append(VOCABULARY.width - 3 + names.index(part))
        else:
            tokens += cut(VOCABULARY, part.encode(), draw)
    return tokens


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("name", CASES)
def test_a_mask_has_the_tokens_that_the_matcher_takes(name: str, seed: int) -> None:
    constraint, parts = CASES[name]
    matcher = constraint.compile(VOCABULARY).matcher()
    stop = VOCABULARY.width - 1
    for token in [*tokens_of(parts, random.Random(seed)), None]:
        assert allowed(matcher) - {stop} == taken(matcher, VOCABULARY)
        assert (stop in allowed(matcher)) == matcher.is_accepting
        if token is not None:
            assert matcher.advance(token)


@pytest.mark.parametrize("name", CASES)
def test_masks_along_a_text_make_few_states(name: str) -> None:
    """Each mask of the JSON within made thousands."""
    constraint, parts = CASES[name]
    compiled = constraint.compile(VOCABULARY)
    matcher = compiled.matcher()
    tokens = tokens_of(parts, random.Random(5))
    for token in tokens:
        assert allowed(matcher)
        assert matcher.advance(token)
    assert allowed(matcher)
    written = sum(len(VOCABULARY[token] or b"") for token in tokens)
    assert compiled.states < 8 * written + 200


def test_a_mask_of_free_text_opens_what_follows_where_it_may_begin() -> None:
    """What follows was opened after each byte of each token, which took nine megabytes."""
    vocabulary = vocabulary_of(20_000, 3)
    compiled = tk.triggered([tk.tag("<call>", JSON, "</call>")]).compile(vocabulary)
    before = compiled.memory_bytes
    assert len(allowed(compiled.matcher())) > 15_000
    assert compiled.memory_bytes - before < 3_000_000


@pytest.mark.parametrize("left", [40, 60, 90])
def test_a_budget_after_a_control_token(left: int) -> None:
    """Each mask within it leaves room for the end of the text."""
    draw = random.Random(left)
    matcher = tk.think_first(JSON, end=OPEN).compile(VOCABULARY).matcher()
    row = matcher.compiled.allocate_mask()[0]
    for rest in range(left, 0, -1):
        matcher.fill_mask(row, rest)
        some = sorted(bits(row) - {VOCABULARY.width - 1})
        if not some:
            break
        assert matcher.advance(draw.choice(some))
    assert matcher.is_accepting
