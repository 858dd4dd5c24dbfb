"""JSON within rules that refer to themselves.

The judges are the same rules written out to a depth that no text here reaches, and the tokens that a matcher
takes.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from string import ascii_letters
from typing import Any, NamedTuple

import pytest

import tokamata as tk
from tests.support.masks import allowed, taken
from tests.support.matchers import is_text_of, write
from tests.support.tokenizers.random_tokenizers import with_every_byte
from tests.support.vocabularies import BYTE_VOCABULARY, bytes_and
from tests.test_rule_budgets import check_needed, walk_within

Body = Callable[[Any, tk.Constraint, tk.Constraint], Any]

DEPTH = 16
SCHEMAS: dict[str, Any] = {
    "unique": {
        "type": "array",
        "items": {"type": "integer", "minimum": 0, "maximum": 20},
        "uniqueItems": True,
    },
    "open": {
        "type": "object",
        "properties": {"a": {"type": "boolean"}, "b": {"type": "null"}},
        "required": ["a"],
    },
    "closed": {
        "type": "object",
        "properties": {"a": {"type": "boolean"}, "ab": {"type": "null"}},
        "additionalProperties": False,
    },
    "patterns": {
        "type": "object",
        "patternProperties": {"^x": {"type": "integer"}},
        "additionalProperties": {"type": "boolean"},
        "maxProperties": 3,
    },
    "tree": {
        "$defs": {"t": {"type": "array", "items": {"$ref": "#/$defs/t"}, "maxItems": 2}},
        "$ref": "#/$defs/t",
    },
    "values": {"enum": [1, 12, "a", "ab", {"k": [1, 2]}]},
    "unique objects": {
        "type": "array",
        "uniqueItems": True,
        "items": {"type": "object", "maxProperties": 1},
    },
    "text": {"type": "string", "pattern": "^[ab;()]*$"},
    "anything": True,
}


class Shape(NamedTuple):
    """A rule that refers to itself.

    Attributes:
        body: from the rule and two constraints.
        opens: a byte that each reference to the rule comes with; ``None`` if that may be any.
    """

    body: Body
    opens: bytes | None


def text(literal: str) -> tk.Constraint:
    return tk.literal(literal)


SHAPES = {
    "in brackets": Shape(lambda v, j, k: j | text("(") + v + (text(";") + v).repeat() + text(")"), b"("),
    "before another": Shape(lambda v, j, k: j | text("<") + v + text(">") + k, b"<"),
    "at the start": Shape(lambda v, j, k: j + text("!") | j + v + k, None),
    "two ways in": Shape(lambda v, j, k: k | text("[") + v + text("]") | text("[") + j + text("]"), b"["),
    "optional": Shape(lambda v, j, k: j | text("(") + v + v.repeat(0, 2) + text(")") + k.repeat(0, 1), b"("),
    "repeated": Shape(lambda v, j, k: (j + text(";")).repeat(0, 2) + text("(") + v + text(")") | k, b"("),
    "on both sides": Shape(lambda v, j, k: j + text(" ") + v + text(" ") + j | k, b" "),
}


def random_json(draw: random.Random) -> tk.Constraint:
    return tk.json_schema(
        SCHEMAS[draw.choice(list(SCHEMAS))],
        whitespace=draw.choice(["compact", "natural", "any"]),
        property_order=draw.choice(["schema", "any"]),
        spelling=draw.choice(["plain", "plain", "any"]),
    )


def pair(shape: Shape, draw: random.Random) -> tuple[tk.Constraint, tk.Constraint]:
    """A grammar, and its rule written out."""
    first, second = random_json(draw), random_json(draw)
    rule = tk.rule("v")
    written: Any = text("\0")
    for _ in range(DEPTH):
        written = shape.body(written, first, second)
    return tk.grammar(rule.define(shape.body(rule, first, second))), written


def likely(tokens: set[int], vocabulary: tk.Vocabulary, draw: random.Random) -> int:
    """One of some tokens, as a rule one of structure."""
    some = [token for token in tokens if (vocabulary[token] or b"")[:1] in b'(;)<>[]{}",:01 ax!']
    return draw.choice(sorted(some if some and draw.random() < 0.9 else tokens))


def random_vocabulary(constraint: tk.Constraint, draw: random.Random) -> tk.Vocabulary:
    """All bytes, and parts of texts."""
    pieces = {b"((", b"))", b");(", b'},"', b'"]', b"]]", b">>", b"1]", b",1", b'{"', b'":'}
    compiled = constraint.compile(BYTE_VOCABULARY)
    for _ in range(6):
        matcher = compiled.matcher()
        for _ in range(draw.randint(5, 40)):
            if not (tokens := allowed(matcher) - set(BYTE_VOCABULARY.stop)):
                break
            assert matcher.advance(likely(tokens, BYTE_VOCABULARY, draw))
        written = matcher.text
        for _ in range(12):
            begin = draw.randrange(len(written) + 1)
            pieces.add(written[begin : begin + draw.randint(2, 7)])
    return bytes_and(*sorted(piece for piece in pieces if len(piece) > 1))


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("name", SHAPES)
def test_masks_are_those_of_rules_written_out(name: str, seed: int) -> None:
    draw = random.Random(f"{name} {seed}")
    shape = SHAPES[name]
    constraint, written = pair(shape, draw)
    vocabulary = random_vocabulary(constraint, draw)
    compiled, judge = (each.compile(vocabulary) for each in (constraint, written))
    for _ in range(10):
        first, second = compiled.matcher(), judge.matcher()
        for turn in range(draw.randint(10, 45)):
            opened = first.text.count(shape.opens) if shape.opens else len(first.text)
            if opened > DEPTH - 9:  # the longest token has seven bytes
                break
            found = allowed(first)
            assert found == allowed(second), first.text
            if turn % 4 == 0:
                for token in range(vocabulary.width - 1):
                    assert first.fork().advance(token) == (token in found), (first.text, vocabulary[token])
            if not (tokens := found - set(vocabulary.stop)):
                break
            token = likely(tokens, vocabulary, draw)
            assert first.advance(token)
            assert second.advance(token)


@pytest.mark.parametrize("name", SHAPES)
def test_budgets_end_with_a_text(name: str) -> None:
    draw = random.Random(name)
    constraint, written = pair(SHAPES[name], draw)
    vocabulary = random_vocabulary(constraint, draw)
    compiled, judge = (each.compile(vocabulary) for each in (constraint, written))
    for _ in range(6):
        first, second = compiled.matcher(), judge.matcher()
        for _ in range(draw.randrange(DEPTH - 9)):
            if not (tokens := allowed(first) & allowed(second) - set(vocabulary.stop)):
                break
            token = likely(tokens, vocabulary, draw)
            assert first.advance(token)
            assert second.advance(token)
        needed = check_needed(first)
        assert needed == len(second.shortest_completion())
        for slack in (0, 1, 3, 8):
            walk_within(first, needed + slack, draw)


def nested(constraint: Any) -> tk.Constraint:
    rule = tk.rule("v")
    return tk.grammar(rule.define(constraint | "(" + rule + (";" + rule).repeat() + ")"))


def test_what_is_prepared_and_what_is_forgotten_changes_no_mask() -> None:
    draw = random.Random(7)
    constraint = nested(tk.json_schema(SCHEMAS["open"]))
    vocabulary = random_vocabulary(constraint, draw)
    plain = constraint.compile(vocabulary)
    small = constraint.compile(vocabulary, limits=tk.Limits(memory_bytes=3_000_000))
    prepared = constraint.compile(vocabulary)
    prepared.prepare()
    for _ in range(20):
        matchers = [compiled.matcher() for compiled in (plain, small, prepared)]
        for _ in range(60):
            found = allowed(matchers[0])
            assert all(allowed(matcher) == found for matcher in matchers)
            if not (tokens := found - set(vocabulary.stop)):
                break
            token = likely(tokens, vocabulary, draw)
            assert all(matcher.advance(token) for matcher in matchers)


def test_each_value_chooses_its_own_layout() -> None:
    value = tk.json_schema({"type": "array", "items": {"type": "integer"}, "minItems": 2, "maxItems": 2})
    layouts = ["[1,2]", "[1, 2]", "[\n  1,\n  2\n]", "[\n\t1,\n\t2\n]"]
    constraint = nested(value)
    for first in layouts:
        for second in layouts:
            assert is_text_of(constraint, f"(({first});{second})")
    assert not is_text_of(constraint, "([\n  1,\n\t2\n])")


@pytest.mark.parametrize("lexer", ["dynamic", "characters", "longest", "basic"])
def test_files(lexer: tk.Lexer) -> None:
    source = """
        start: value
        value: "(" value (";" value)* ")" | NAME "=" %json {
            "type": "array", "uniqueItems": true, "items": {"type": "integer"}
        } | @object
        NAME: /[a-z]+/
        %ignore " "
    """
    constraint = tk.grammar(source, lexer=lexer, constraints={"object": tk.json_schema(SCHEMAS["open"])})
    for accepted in ('( x=[1, 2] ; {"a": true, "c": 1} )', " (y= [3] )", '(( {"a":false} );z=[])'):
        assert is_text_of(constraint, accepted), accepted
    for refused in ("((x=[1,1]))", '({"a":true,"c":1,"c":1})', "(y)", "(x=[1)]"):
        assert not is_text_of(constraint, refused), refused
    tree = constraint.parse("((x= [1]); y=[])")
    values = [str(token) for token in tree.scan_values(lambda token: token.type == "%json")]
    assert values == ["[1]", "[]"]


def test_values_are_captured() -> None:
    constraint = nested(tk.json_schema(SCHEMAS["open"]).captured("object"))
    found = constraint.parse('({"a":true};({"a":false,"c":[1]}))')
    assert found == {"object": [{"a": True}, {"a": False, "c": [1]}]}


def test_texts_are_repaired_as_those_of_rules_written_out() -> None:
    draw = random.Random(11)
    value = tk.json_schema(SCHEMAS["unique"], whitespace="compact")
    constraint, written = nested(value), text("\0")
    for _ in range(6):
        written = value | text("(") + written + (text(";") + written).repeat() + text(")")
    for _ in range(25):
        wrong = "".join(draw.choice("(;)[],12") for _ in range(draw.randint(1, 7)))
        found, expected = constraint.repair(wrong), written.repair(wrong)
        assert found.optimal
        assert expected.optimal
        assert found.cost == expected.cost, wrong
        assert is_text_of(constraint, found.text)


def test_grammars_that_may_be_empty_stand_in_rules() -> None:
    pairs = tk.rule("pairs")
    pairs.define("a" + pairs + "b" | "")
    inner = tk.rule("inner")
    inner.define(
        text("<") + tk.grammar(pairs) + inner.optional() + tk.json_schema(SCHEMAS["tree"]).repeat() + ">"
    )
    constraint = tk.grammar(inner)
    for accepted in ("<>", "<ab>", "<aabb<>>", "<<ab[]>[[]][]>"):
        assert is_text_of(constraint, accepted), accepted
    for refused in ("<aab>", "<ba>", "<[>", "<ab[],>"):
        assert not is_text_of(constraint, refused), refused


@pytest.mark.parametrize("seed", range(4))
def test_canonical_tokens_are_those_of_rules_written_out(seed: int) -> None:
    draw = random.Random(seed)
    _, vocabulary = with_every_byte(draw)
    constraint, written = pair(SHAPES["in brackets"], draw)
    compiled, judge = (each.compile(vocabulary, tokenization="canonical") for each in (constraint, written))
    for _ in range(6):
        first, second = compiled.matcher(), judge.matcher()
        while first.text.count(b"(") < DEPTH - 9 and len(first.text) < 30:
            found = allowed(first)
            assert found == allowed(second), first.text
            if not (tokens := sorted(found - set(vocabulary.stop))):
                break
            token = draw.choice(tokens)
            assert first.advance(token)
            assert second.advance(token)


def test_long_texts_cost_in_proportion() -> None:
    """By what a matcher holds: values one after another hold nothing, brackets a few bytes each."""
    constraint = nested(tk.json_schema(SCHEMAS["open"]))
    held = {}
    for count in (10, 100, 1000, 10_000):
        compiled = constraint.compile(BYTE_VOCABULARY)
        matcher = compiled.matcher()
        write(matcher, "(" + ";".join(['{"a":true, "c":1}'] * count) + ";" + "(" * count)
        held[count] = compiled.memory_bytes
        write(matcher, '{"a":true}' + ")" * (count + 1))
        assert matcher.is_accepting
    assert held[10_000] <= 12 * held[1000]


@pytest.mark.parametrize("spelling", ["plain", "any"])
def test_names_that_many_tokens_begin(spelling: Any) -> None:
    """A name in any spelling is read byte by byte: as a segment, it would begin with itself without end."""
    names = [f"n{number:02}" for number in range(60)]
    schema = {
        "type": "object",
        "properties": {name: {"type": "null"} for name in names},
        "additionalProperties": False,
    }
    rule = tk.rule("v")
    member = tk.json_schema(schema, whitespace="compact", spelling=spelling, property_order="any")
    grammar = tk.grammar(rule.define(member | text("(") + rule + text(")")))
    vocabulary = bytes_and(*(f'"{name}'.encode() for name in names), *(name[:2].encode() for name in names))
    matcher = grammar.compile(vocabulary).matcher()
    for token in b'(({"n07":null,"n3':
        found = allowed(matcher)
        for other in range(vocabulary.width - 1):
            assert matcher.fork().advance(other) == (other in found), (matcher.text, vocabulary[other])
        assert matcher.advance(token)


def json_of(schema: str) -> Any:
    return tk.json_schema(SCHEMAS[schema], whitespace="natural")


def repeated(constraint: Any) -> tk.Constraint:
    rule = tk.rule("v")
    return tk.grammar(rule.define(constraint | text("(") + rule + rule.repeat(0, 2) + text(")")))


def test_names_of_rules_that_are_repeated_within_a_token() -> None:
    """What a token has passed is an over-approximation, also in a repetition."""
    constraint = repeated(json_of("patterns"))
    begun = [b'({}{"' + letter.encode() for letter in ascii_letters]
    vocabulary = bytes_and(*begun, *(b"(" + token for token in begun), b'({}{"', b"({}{}")
    compiled = constraint.compile(vocabulary)
    for written in ("", "(", "(("):
        matcher = compiled.matcher()
        write(matcher, written)
        assert allowed(matcher) == taken(matcher, vocabulary), written


@pytest.mark.parametrize("separator", ["", ";"])
def test_values_that_choose_a_layout_end_within_a_token(separator: str) -> None:
    """The choice holds for all that follows, beyond the end of the part whose segment is made."""
    rule = tk.rule("v")
    value = tk.json_schema({"type": "array", "items": {"type": "integer"}}, whitespace="natural")
    more = (value + text(";")).repeat() if separator else value.repeat(0, 2)
    constraint = tk.grammar(rule.define(value | text("(") + more + rule + text(")")))
    values = [b"[]", b"[1]", b"[1, 2]", b"[\n  1\n]"]
    end = separator.encode()
    vocabulary = bytes_and(
        *(first + end + second for first in values for second in values),
        *(b"(" + first + end + second + b")" for first in values for second in values),
        *(first + end + after for first in values for after in (b"(", b")", b"([")),
    )
    compiled = constraint.compile(vocabulary)
    for written in ("", "(", "((", f"([]{separator}", f"([\n  1\n]{separator}", f"([\n  1\n]{separator}("):
        matcher = compiled.matcher()
        write(matcher, written)
        assert allowed(matcher) == taken(matcher, vocabulary), written


def test_a_walk_goes_on_into_another_value() -> None:
    """From a name that is read by bytes, over a repetition, into the name of an over-approximation."""
    value = json_of("patterns")
    constraint = tk.grammar(tk.rule("v").define(text("(") + (value + text(";")).repeat() + value + text(")")))
    members = [b"{}", b'{"x":1}', b'{"y":true}']
    vocabulary = bytes_and(
        *(one + b";" + two + end for one in members for two in members for end in (b")", b";"))
    )
    compiled = constraint.compile(vocabulary)
    for written in ("(", "({};", '({"x":1};'):
        matcher = compiled.matcher()
        write(matcher, written)
        assert allowed(matcher) == taken(matcher, vocabulary), written
