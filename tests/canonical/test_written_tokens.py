"""Matchers that begin after tokens which are written already, in any tokenization.

The judge is the matcher that has followed other tokens of the same text, and for canonical tokenization the
tokenizer itself.
"""

from __future__ import annotations

import random
from typing import Any

import pytest

import tokamata as tk
from tests.support.models.fakes import byte_level
from tests.support.tokenizers.real_tokenizers import REAL

WORDS = byte_level(["t h", "th e", "o n", "on e", "Ġ the", "a b", "ab c"])
CONSTRAINTS = [
    tk.regex("(the|one)( the| one|abc){2,5}!"),
    tk.json_schema({"type": "object", "properties": {"the": {"type": "string"}}, "required": ["the"]}),
    tk.grammar('start: "(" start ")" | "the" | "abc"'),
]


@pytest.fixture(scope="module")
def vocabulary() -> tk.Vocabulary:
    return tk.Vocabulary.load(WORDS, stop=[0])


def split(text: bytes, vocabulary: tk.Vocabulary, random_: random.Random) -> list[int]:
    """The text in tokens that are drawn at random."""
    tokens: list[int] = []
    while text:
        fitting = [t for t, data in enumerate(vocabulary.tokens) if data and text.startswith(data)]
        tokens.append(random_.choice(fitting))
        text = text[len(vocabulary[tokens[-1]] or b"") :]
    return tokens


def walked(compiled: tk.CompiledConstraint[Any], random_: random.Random, most: int) -> tk.Matcher:
    matcher = compiled.matcher()
    for _ in range(random_.randrange(most)):
        if matcher.is_finished:
            break
        row = matcher.mask
        allowed = [t for t in range(1, 32 * len(row)) if row[t // 32] >> t % 32 & 1]
        if not allowed or not matcher.advance(random_.choice(allowed)):
            break
    return matcher


@pytest.mark.parametrize("constraint", CONSTRAINTS, ids=range(3))
def test_any_tokens_lead_to_the_same_state(constraint: tk.Constraint[Any], vocabulary: tk.Vocabulary) -> None:
    compiled, random_ = constraint.compile(vocabulary), random.Random(1)
    for _ in range(40):
        reference = walked(compiled, random_, 9)
        tokens = split(reference.text, vocabulary, random_)
        matcher = compiled.matcher(written=tokens)
        assert (matcher.tokens, matcher.text) == (tokens, reference.text)
        assert (matcher.mask == reference.mask).all()
        assert matcher.shortest_completion() == reference.shortest_completion()
        assert matcher.is_accepting == reference.is_accepting
        with pytest.raises(tk.RollbackError, match="0 were advanced"):
            matcher.rollback(1)
        for token in matcher.shortest_completion():
            assert matcher.advance(token)
        assert matcher.is_accepting
        assert constraint.accepts(matcher.text)
        assert matcher.parse() == constraint.parse(matcher.text)
        matcher.rollback(len(matcher.tokens) - len(tokens))
        assert (matcher.fork().mask == reference.mask).all()


def test_canonical_tokens_begin_afresh_at_a_border(vocabulary: tk.Vocabulary) -> None:
    """After any tokens of a text, what follows is what the tokenizer writes after the text."""
    constraint = tk.regex("(the|one)( the| one|abc){2,5}!")
    compiled, random_ = constraint.compile(vocabulary, tokenization="canonical"), random.Random(2)
    begun = refused = 0
    for _ in range(150):
        text = walked(constraint.compile(vocabulary), random_, 9).text
        tokens = split(text, vocabulary, random_)
        own = WORDS(text.decode(), add_special_tokens=False)["input_ids"]
        # By the tokenizer: the text goes on canonically if some continuation keeps its tokens.
        goes_on = any(
            constraint.accepts(text.decode() + rest)
            and WORDS(text.decode() + rest, add_special_tokens=False)["input_ids"][: len(own)] == own
            for rest in continuations(constraint, text.decode())
        )
        try:
            matcher = compiled.matcher(written=tokens, canonical=own)
        except tk.NoncanonicalError:
            assert not goes_on, text
            refused += 1
            continue
        assert goes_on, text
        begun += 1
        rest = matcher.shortest_completion()
        whole = text + b"".join(vocabulary[token] or b"" for token in rest)
        assert WORDS(whole.decode(), add_special_tokens=False)["input_ids"] == own + rest
        assert (matcher.mask == compiled.matcher(written=own).mask).all()
    assert begun > 30
    assert refused > 5


def continuations(constraint: tk.Constraint[Any], text: str) -> list[str]:
    """Texts of up to 5 words that may follow."""
    found, last = [""], [""]
    for _ in range(5):
        last = [
            one + part
            for one in last
            for part in ("the", "one", " the", " one", "abc", "!", "he", "e", "ne", "c", "bc")
        ]
        last = [one for one in last if len(one) < 14]
        found += last
        last = last[:400]
    return found


def test_what_is_not_allowed_is_refused(vocabulary: tk.Vocabulary) -> None:
    compiled = tk.regex("the one").compile(vocabulary)
    canonical = tk.regex("the one").compile(vocabulary, tokenization="canonical")
    the, space = vocabulary.tokens.index(b"the"), vocabulary.tokens.index(b" ")
    for written in ([space], [the, the], [the, 0], ["a"], 5):
        with pytest.raises(tk.ArgumentError):
            compiled.matcher(written=written)  # type: ignore[arg-type]
    with pytest.raises(tk.TokenIdError):
        compiled.matcher(written=[1 << 20])
    with pytest.raises(tk.ArgumentError, match="canonical"):
        canonical.matcher(written=[the], canonical=[the, space])
    with pytest.raises(tk.ContextError):
        canonical.matcher(
            written=split(b"the", vocabulary, random.Random(0)),
            canonical=list(vocabulary_of(b"the", vocabulary)),
        )


def vocabulary_of(text: bytes, vocabulary: tk.Vocabulary) -> list[int]:
    """The single bytes of a text."""
    return [vocabulary.tokens.index(bytes([byte])) for byte in text]


def test_least_lengths_thoughts_and_limits_count_what_is_written(vocabulary: tk.Vocabulary) -> None:
    compiled = tk.regex("[ab]*").compile(vocabulary)
    written = vocabulary_of(b"abab", vocabulary)
    matcher = compiled.matcher(written=written, min_tokens=6)
    assert not matcher.is_accepting
    assert matcher.advance_all(vocabulary_of(b"ab", vocabulary))
    assert matcher.is_accepting
    thinking = tk.think_first(tk.regex("one"), begin="<think>", most_tokens=30).compile(vocabulary)
    begin = vocabulary_of(b"<think>aa", vocabulary)
    after, plain = thinking.matcher(written=begin), thinking.matcher()
    assert plain.advance_all(begin)
    assert (after.mask == plain.mask).all()
    row, other = compiled.allocate_mask(), compiled.allocate_mask()
    for budget in (24, 30, 60):
        after.fill_mask(row[0], budget)
        plain.fill_mask(other[0], budget)
        assert (row == other).all()


@pytest.mark.shared_states
def test_a_matcher_moves_to_states_of_its_own_with_what_is_written(vocabulary: tk.Vocabulary) -> None:
    """Others have made more states than its limits allow."""
    constraint = tk.regex("((the|one|abc|th|on) ){6,40}!(a|the)*")
    large = constraint.compile(vocabulary)
    busy = large.matcher()
    for _ in range(30):
        assert busy.advance_all(vocabulary_of(b"abc ", vocabulary))
    small = constraint.compile(vocabulary, limits=tk.Limits(states=120))
    assert large.states > 120
    written = vocabulary_of(b"the one ", vocabulary)
    matcher = small.matcher(written=written)
    for word in (b"on ", b"th ", b"the ", b"one "):
        assert matcher.advance_all(vocabulary_of(word, vocabulary))
    assert small.states <= 120 < large.states
    reference = large.matcher()
    assert reference.advance_all(matcher.tokens)
    assert (matcher.mask == reference.mask).all()
    assert matcher.text == b"the one on th the one "
    matcher.rollback(len(matcher.tokens) - len(written))
    with pytest.raises(tk.RollbackError):
        matcher.rollback(1)


@pytest.mark.parametrize("real", [one for one in REAL if one.name in ("llama-3.1", "gemma-3")], ids=str)
def test_real_tokenizers(real: Any) -> None:
    vocabulary = tk.Vocabulary.load(real.path(), stop=())
    text = '{"name": "Klee", '
    constraint = tk.json_schema(
        {
            "properties": {"name": {"type": "string"}, "born": {"type": "integer"}},
            "required": ["name", "born"],
        }
    )
    compiled = constraint.compile(vocabulary, tokenization="canonical")
    own = tk.literal(text).compile(vocabulary, tokenization="canonical").matcher().shortest_completion()
    loose = vocabulary_of(text.encode(), vocabulary)
    with pytest.raises(tk.NoncanonicalError):  # the blank belongs to the token that follows
        compiled.matcher(written=loose, canonical=own)
    text = '{"name": "Klee",'
    own = tk.literal(text).compile(vocabulary, tokenization="canonical").matcher().shortest_completion()
    matcher = compiled.matcher(written=vocabulary_of(text.encode(), vocabulary), canonical=own)
    assert (matcher.mask == compiled.matcher(written=own).mask).all()
