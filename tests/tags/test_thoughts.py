"""How much of a budget reasoning takes: ``most_tokens``, and the reserve for the answer.

The model of these tests goes on thinking as long as it may.
"""

from __future__ import annotations

import pickle
import random
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import pytest

import tokamata as tk
from tests.support.masks import allowed, bits
from tests.support.models.fakes import byte_level, preferring
from tests.support.vocabularies import BYTES
from tokamata.constraints.typical_texts import MOST_CHARACTERS, typical_text

WORDS = [b"Klee", b" was", b" born", b"</", b"think", b'{"', b"name", b'":', b' "', b'",', b'"}', b"\n\n"]
CROSSING = [b'>{"', b">{", b"k>1", b">\n", b'x</think>{"', b"</think>[", b">12", b'>{"name":']


def vocabulary_of(pieces: Sequence[bytes]) -> tk.Vocabulary:
    """Every byte, some pieces, the control token ``<end>`` and a stop token."""
    tokens = [*BYTES, *pieces, None, None]
    return tk.Vocabulary.load(tokens, stop=len(tokens) - 1, control_tokens={"<end>": len(tokens) - 2})


VOCABULARY = vocabulary_of(WORDS)
SPELLED = {text: token for token, text in enumerate(VOCABULARY.tokens) if text}


@dataclass
class Painter:
    name: str
    born: int


def masked(matcher: tk.Matcher, left: int | None) -> set[int]:
    row = matcher.compiled.allocate_mask()[0]
    matcher.fill_mask(row, left)
    return bits(row) - set(matcher.compiled.vocabulary.stop)


class Writing:
    """A text that is being written by a model that thinks as long as it may.

    Attributes:
        ended: how many tokens it had when the end tag was complete; ``None`` before.
    """

    def __init__(
        self, matcher: tk.Matcher, budget: int | None, is_over: Callable[[tk.Matcher], bool]
    ) -> None:
        self.matcher, self.budget, self._is_over = matcher, budget, is_over
        self.ended: int | None = None

    @property
    def left(self) -> int | None:
        return None if self.budget is None else self.budget - len(self.matcher.tokens)

    def think(self, draw: random.Random, answer: int = 0) -> None:
        """Writes all of the thought, then ``answer`` tokens and the shortest rest."""
        more = answer
        while not self.matcher.is_accepting:
            choices = masked(self.matcher, self.left)
            assert choices, (self.matcher.text, self.left)
            open_ended = [token for token in choices if not self._ends(token)] if self.ended is None else []
            token = draw.choice(sorted(open_ended or choices))
            if self.ended is not None and (more := more - 1) < 0:
                token = self.matcher.shortest_completion()[0]
                assert self.left is None or len(self.matcher.shortest_completion()) <= self.left
            assert self.matcher.advance(token)
            if self.ended is None and self._is_over(self.matcher):
                self.ended = len(self.matcher.tokens)

    def _ends(self, token: int) -> bool:
        fork = self.matcher.fork()
        assert fork.advance(token)
        return self._is_over(fork)


def has(end: bytes) -> Callable[[tk.Matcher], bool]:
    return lambda matcher: end in matcher.text


# ---- what users see ---------------------------------------------------------------------------


@pytest.mark.parametrize("budget", range(20, 61, 5))
def test_a_name_is_left_to_the_answer(budget: int) -> None:
    """Within the budget, this model gave ``{"name":"","born":1}``, whatever it was."""
    order = [SPELLED[b" was"], *(SPELLED[piece] for piece in WORDS[5:]), *b'Klee1879{"}', SPELLED[b"</"]]
    model = preferring(VOCABULARY.width, *order)
    answer = tk.think_first(tk.type(Painter)).compile(VOCABULARY)
    result = tk.generate(model, None, [65], answer, max_new_tokens=budget)
    reasoning, painter = result.parse()
    assert result.finish_reason in ("complete", "stop")
    assert painter.name != ""
    assert " was" in reasoning


def test_reserves_of_the_caller() -> None:
    for answer_tokens in (1, 15, 30):
        compiled = tk.think_first(tk.type(Painter), answer_tokens=answer_tokens).compile(VOCABULARY)
        least = len(compiled.matcher().shortest_completion())
        for budget in range(least, 60):
            writing = Writing(compiled.matcher(), budget, has(b"</think>"))
            writing.think(random.Random(budget))
            assert writing.ended is not None
            tags = 3  # "</", "think", ">"
            assert budget - writing.ended >= min(answer_tokens, budget - tags)
            assert budget - writing.ended <= max(answer_tokens, least)  # the rest is for thinking


def test_three_quarters_of_a_budget_are_reserved_at_most() -> None:
    many = tk.json_schema({"properties": {f"p{number}": {"type": "string"} for number in range(99)}})
    writing = Writing(tk.think_first(many).compile(VOCABULARY).matcher(), 400, has(b"</think>"))
    writing.think(random.Random(1))
    assert writing.ended == 100


def test_other_answers_have_twice_their_shortest() -> None:
    for answer, reserved in ((tk.regex("x{20}"), 40), (tk.regex("yes|no"), 2 + 8)):
        writing = Writing(tk.think_first(answer).compile(VOCABULARY).matcher(), 99, has(b"</think>"))
        writing.think(random.Random(1))
        assert writing.ended == 99 - reserved


@pytest.mark.parametrize("most", [3, 4, 7, 20])
def test_reasoning_has_its_own_bound(most: int) -> None:
    for budget in (None, 200, 1000):
        compiled = tk.think_first(tk.type(Painter), most_tokens=most).compile(VOCABULARY)
        writing = Writing(compiled.matcher(), budget, has(b"</think>"))
        writing.think(random.Random(most))
        assert writing.ended == most


def test_a_bound_below_the_tags_leaves_the_tags() -> None:
    constraint = tk.think_first(tk.type(Painter), begin="<think>", most_tokens=1)
    writing = Writing(constraint.compile(VOCABULARY).matcher(), None, has(b"</think>"))
    writing.think(random.Random(1))
    assert writing.matcher.text.startswith(b"<think></think>")


def test_a_refusal_is_explained() -> None:
    matcher = tk.think_first(tk.type(Painter), most_tokens=3).compile(VOCABULARY).matcher()
    assert not matcher.advance(ord("a"))
    assert matcher.explain(ord("a")).rule == "too much thought"
    assert "could not end in time" in str(matcher.explain(ord("a")))
    assert matcher.explain(SPELLED[b"</"]).allowed


# ---- laws -------------------------------------------------------------------------------------

ANSWERS: list[Callable[[], tk.Constraint[Any]]] = [
    lambda: tk.type(Painter),
    lambda: tk.json_schema({"type": "integer"}),
    lambda: tk.json_schema({"type": "array", "items": {"enum": [1, 12, "a"]}, "uniqueItems": True}),
    tk.json,
    lambda: tk.regex("[a-z]{2,5}|12*"),
    lambda: tk.literal("{x}"),
    lambda: tk.think_first(tk.type(int)),
]


@pytest.mark.parametrize("seed", range(30))
def test_laws(seed: int) -> None:
    """The answer fits, the bound holds, and forks, drafts, roll-backs and batches have the same masks."""
    draw = random.Random(seed)
    vocabulary = vocabulary_of([*WORDS, *draw.sample(CROSSING, draw.randrange(5))])
    end: Any = draw.choice(["</think>", "</think>", "<end>", tk.control_token("<end>")])
    text = end if isinstance(end, str) else None
    most = draw.choice([None, 9, 15, 25])
    constraint: tk.Constraint[Any] = tk.think_first(
        draw.choice(ANSWERS)(),
        begin=draw.choice([None, "<t>"]),
        end=end,
        most_characters=draw.choice([None, None, 30]),
        most_tokens=most,
        answer_tokens=draw.choice([None, 5, 20]),
    )
    if draw.randrange(3) == 0:
        constraint = tk.literal("Hm") + constraint
    compiled = constraint.compile(vocabulary)
    control = vocabulary.control_token("<end>")

    def is_over(matcher: tk.Matcher) -> bool:
        return control in matcher.tokens or (text is not None and text.encode() in matcher.text)

    needed = len(compiled.matcher().shortest_completion())
    budget = draw.choice([None] * (most is not None) + [needed, needed + 3, needed + 20, needed + 60])
    writing = Writing(compiled.matcher(), budget, is_over)
    writing.think(draw, draw.randrange(6))
    assert budget is None or len(writing.matcher.tokens) <= budget
    assert writing.ended is not None
    assert most is None or most < 15 or writing.ended <= most  # 9 tokens may be fewer than the tags have
    check_walk(pickle.loads(pickle.dumps(compiled)), writing.matcher.tokens, budget, draw)


def check_walk(
    compiled: tk.CompiledConstraint[Any], tokens: Sequence[int], budget: int | None, draw: random.Random
) -> None:
    """The masks along a text, made in several manners."""
    rows = compiled.allocate_mask(len(tokens) + 1)
    legal = compiled.matcher().fill_draft_masks(rows, tokens, budget=budget)
    assert all(legal)
    constraint = compiled.constraint
    assert isinstance(constraint, tk.Constraint)
    matcher, other = compiled.matcher(), constraint.compile(compiled.vocabulary).matcher()
    stop = set(compiled.vocabulary.stop)
    for place, token in enumerate(tokens):
        left = None if budget is None else budget - place
        mask = masked(matcher, left)
        assert mask == bits(rows[place]) - stop == masked(other, left), (matcher.text, left)
        assert mask <= allowed(matcher)
        batch = compiled.allocate_mask(2)
        tk.fill_masks([matcher, matcher.fork()], batch, budgets=[left, None])
        assert bits(batch[0]) - stop == mask
        assert bits(batch[1]) == allowed(matcher)
        if place % 4 == 0:  # what advances is what the mask has
            some = draw.sample(range(compiled.vocabulary.width - 1), 20)
            free = allowed(matcher)
            assert [matcher.fork().advance(one) for one in some] == [one in free for one in some]
            assert [matcher.validate([one]) == 1 for one in some] == [one in free for one in some]
        steps = draw.randrange(min(4, len(tokens) - place))
        assert matcher.advance_all(tokens[place : place + 1 + steps])
        matcher.rollback(1 + steps)
        assert matcher.advance(token)
        assert other.advance(token)


def test_a_bound_is_no_part_of_the_pattern() -> None:
    constraint = tk.think_first(tk.type(int), most_tokens=3, answer_tokens=2)
    assert constraint.accepts("a long thought</think>1")
    assert (constraint | tk.literal("x")).compile(VOCABULARY).matcher().advance_all([*b"a long thought"])
    captured = constraint.captured("all").compile(VOCABULARY).matcher()
    assert not captured.advance(ord("a"))


@pytest.mark.parametrize("most", [1, 2, 3, 5])
def test_a_budget_with_no_room_for_the_reserve_keeps_the_bound(most: int) -> None:
    """What a mask within a budget allows may follow; the tokenizer's own tokens need more than is known."""
    tokenizer = byte_level(["a b", "Ã ©"])
    vocabulary = tk.Vocabulary.load(tokenizer)
    constraint = tk.think_first(tk.regex("[ab]{2}"), end="é", most_tokens=most)
    compiled = constraint.compile(vocabulary, tokenization="canonical")
    for seed in range(12):
        draw = random.Random(seed)
        matcher = compiled.matcher(min_tokens=draw.choice([0, 4]))
        while len(matcher.tokens) < 8 and not matcher.is_finished:
            free = allowed(matcher)
            for budget in range(1, 8):
                with suppress(tk.BudgetError):
                    assert masked(matcher, budget) <= free
            assert matcher.advance(draw.choice(sorted(free - set(vocabulary.stop))))


def test_canonical_tokens() -> None:
    tokenizer = pytest.importorskip("tokenizers")
    from tokenizers import decoders, models, pre_tokenizers, trainers

    made = tokenizer.Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=400, initial_alphabet=alphabet, special_tokens=["<stop>"], show_progress=False
    )
    made.train_from_iterator(['Klee was born.</think>{"name": "Klee", "born": 1879}'] * 9, trainer)
    vocabulary = tk.Vocabulary.load(made, stop="<stop>")
    for most, budget in ((20, None), (None, 40), (20, 60)):
        constraint = tk.think_first(tk.type(Painter), most_tokens=most, answer_tokens=20)
        compiled = constraint.compile(vocabulary, tokenization="canonical")
        writing = Writing(compiled.matcher(), budget, has(b"</think>"))
        writing.think(random.Random(3))
        assert writing.ended is not None
        assert writing.ended <= (most or 40)
        assert budget is None or writing.ended <= budget - 20 + 1  # its last token begins the answer


# ---- typical texts ----------------------------------------------------------------------------


def test_typical_texts() -> None:
    words = "the quick brown fox jumps over"
    assert tk.type(Painter)._typical_text() == f'{{"name": "{words}", "born": 1234}}'
    cases: list[tuple[Any, str | None]] = [
        ({"const": [1, "a"]}, '[1, "a"]'),
        ({"enum": ["a", "blue", 3]}, '"blue"'),
        ({"type": "string", "examples": ["red"], "maxLength": 50}, '"red"'),
        ({"type": "string", "default": "a" * 40}, f'"{"a" * 40}"'),
        ({"type": "string", "maxLength": 5}, '"the q"'),
        ({"type": "string", "minLength": 100}, None),
        ({"type": "string", "format": "date"}, '"2024-11-26"'),
        ({"type": "integer", "minimum": 0, "maximum": 99999}, "99999"),
        ({"type": "number"}, "1234.25"),
        ({"type": ["null", "boolean"]}, "false"),
        ({"type": "array", "items": {"type": "integer"}}, "[1234, 1234, 1234]"),
        ({"type": "array", "items": {"type": "integer"}, "maxItems": 1}, "[1234]"),
        ({"prefixItems": [{"const": 1}], "items": False}, "[1]"),
        ({"anyOf": [{"const": 1}, {"$ref": "#/$defs/a"}], "$defs": {"a": {"const": 12}}}, "12"),
        ({"required": ["a"], "properties": {"b": {"const": 1}}}, f'{{"b": 1, "a": "{words}"}}'),
        ({"type": "object", "additionalProperties": False}, "{}"),
        (True, f'"{words}"'),
        ('{"const": 5}', "5"),
    ]
    for schema, expected in cases:
        text = typical_text(schema)
        assert text == expected if expected is not None else len(text) == 102, schema


def test_typical_texts_end() -> None:
    nested: dict[str, Any] = {"$ref": "#/$defs/node", "$defs": {}}
    branches = [{"type": "array", "items": {"$ref": "#/$defs/node"}, "minItems": 9}] * 9
    nested["$defs"]["node"] = {"anyOf": branches, "properties": {"next": {"$ref": "#/$defs/node"}}}
    for schema in (nested, {"type": "array", "items": {"type": "string"}, "minItems": 10**9}):
        assert len(typical_text(schema)) < 3 * MOST_CHARACTERS


# ---- completions ------------------------------------------------------------------------------

PARTS = [b"\xe2\x82", b"a\xe2", b"\xacx", b"\x80<", b"\xc3", b"\xa9<", "é<".encode(), b"\x82\xac</think>1"]


@pytest.mark.parametrize("seed", range(24))
def test_the_shortest_completion_keeps_to_the_bound(seed: int) -> None:
    """At each place its tokens may follow, also within code points, and where there is a deadline."""
    draw = random.Random(seed)
    vocabulary = vocabulary_of([*WORDS, *draw.sample(CROSSING, draw.randrange(5)), *(PARTS * (seed % 2))])
    constraint: tk.Constraint[Any] = tk.think_first(
        draw.choice(ANSWERS)(),
        begin=draw.choice([None, "<t>"]),
        end=draw.choice(["</think>", "<end>", tk.control_token("<end>")]),
        most_tokens=draw.choice([2, 4, 6, 7, 12]),
    )
    compiled = constraint.compile(vocabulary)
    matcher = compiled.matcher(min_tokens=draw.choice([0, 0, 6, 12]))
    while not matcher.is_finished and len(matcher.tokens) < 30:
        assert matcher.fork().advance_all(matcher.shortest_completion())
        with suppress(tk.LimitExceeded):  # without a deadline there is one
            assert matcher.fork().advance_all(matcher.shortest_completion(deadline_seconds=1e-9))
        choices = sorted(allowed(matcher) - set(vocabulary.stop))
        open_ended = [token for token in choices if (vocabulary[token] or b"a")[-1] >= 0x80]
        assert matcher.advance(draw.choice(open_ended if open_ended and draw.randrange(5) < 3 else choices))
