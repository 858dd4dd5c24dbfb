"""The grammar of one request of vLLM, driven as vLLM's scheduler drives it."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest
import torch

import tokamata as tk
from tests.support.masks import allowed, bits
from tests.support.matchers import write
from tests.support.vllm_host import Scheduler
from tests.support.vocabularies import cut
from tokamata.integrations.vllm.grammar import TokamataGrammar


@pytest.fixture
def begin(byte_vocabulary: tk.Vocabulary) -> Callable[..., Scheduler]:
    """A request for a constraint, and its scheduler."""

    def make(constraint: tk.Constraint[Any], **options: Any) -> Scheduler:
        compiled = constraint.compile(byte_vocabulary, **options)
        bitmask = torch.full((16, (byte_vocabulary.width + 31) // 32), -1, dtype=torch.int32)
        return Scheduler(TokamataGrammar(compiled, byte_vocabulary.stop), bitmask)

    return make


def tokens_of(text: str) -> list[int]:
    return list(text.encode())  # the first 256 ids are the bytes


SCHEMA = {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"enum": ["x", "ab", None]}}}
CONSTRAINTS = [
    tk.regex(r"[a-z]{3}-(?:20|2024)"),
    tk.json_schema(SCHEMA),
    tk.choice(["ab", "abc", "é漢字"]),
    tk.grammar('root ::= "(" root ")" | [0-9]+', syntax="gbnf"),
]


@pytest.mark.parametrize("constraint", CONSTRAINTS, ids=str)
@pytest.mark.parametrize("seed", range(8))
def test_a_whole_request(
    begin: Callable[..., Scheduler], byte_vocabulary: tk.Vocabulary, constraint: Any, seed: int
) -> None:
    """Drafts, partly wrong, with placeholders; steps without drafts; preemption.  Rows equal a matcher's."""
    host = begin(constraint)
    grammar, stop = host.grammar, byte_vocabulary.stop[0]
    reference = constraint.compile(byte_vocabulary).matcher()
    draw = random.Random(seed)
    written: list[int] = []
    while not grammar.is_terminated():
        if written and draw.random() < 0.1:  # preempted: the request is computed again from its start
            grammar.reset()
            assert grammar.accept_tokens("r", written)
        ahead = likely(reference, draw) if len(written) < 40 else ending(reference, stop)
        drafts = ahead[: draw.randint(0, 6)]
        for place in range(len(drafts)):
            if draw.random() < 0.15:
                drafts[place] = draw.choice([-1, 7, stop, byte_vocabulary.width, byte_vocabulary.width - 1])
        rows = host.rows(list(drafts))
        right = next((i for i, token in enumerate(drafts) if token != ahead[i]), len(drafts))
        new = ahead[: draw.randint(0, right) + 1]  # drafts that the model confirms, and a token of its own
        for row, token in zip(rows, new, strict=False):
            assert row == allowed(reference)
            assert reference.advance(token)
        assert grammar.accept_tokens("r", new)
        written += new
        assert len(written) < 500
    assert not host.errors
    assert written[-1] in byte_vocabulary.stop


def likely(matcher: tk.Matcher, draw: random.Random) -> list[int]:
    """Tokens that the constraint allows one after another, up to a stop token."""
    ahead: list[int] = []
    fork = matcher.fork()
    while len(ahead) < 8 and not (ahead and ahead[-1] in matcher.compiled.vocabulary.stop):
        ahead.append(draw.choice(sorted(allowed(fork))))
        assert fork.advance(ahead[-1])
    return ahead


def ending(matcher: tk.Matcher, stop: int) -> list[int]:
    """The fewest tokens to the end, and a stop token."""
    return [*matcher.shortest_completion(), stop]


def test_terminated_means_a_stop_token(
    begin: Callable[..., Scheduler], byte_vocabulary: tk.Vocabulary
) -> None:
    host = begin(tk.literal("ab"))
    assert host.grammar.accept_tokens("r", tokens_of("ab"))
    assert not host.grammar.is_terminated()  # though only a stop token can follow
    assert host.rows([]) == [set(byte_vocabulary.stop)]
    for stop in byte_vocabulary.stop:
        assert host.grammar.accept_tokens("r", [stop])
        assert host.grammar.is_terminated()
        host.grammar.rollback(1)
        assert not host.grammar.is_terminated()


def test_a_least_number_of_tokens(
    begin: Callable[..., Scheduler], byte_vocabulary: tk.Vocabulary, caplog: pytest.LogCaptureFixture
) -> None:
    stops = set(byte_vocabulary.stop)
    host = begin(tk.regex("xy|x{4,}"))
    host.grammar.set_least(3)
    assert host.grammar.accept_tokens("r", tokens_of("x"))
    assert host.rows([]) == [{ord("x")}]  # and not y, after which nothing but a stop token could follow
    host.grammar.reset()
    assert host.rows(tokens_of("xxxx")) == [{ord("x")}] * 4 + [{ord("x"), *stops}]
    short = begin(tk.regex("xy"))
    short.grammar.set_least(3)
    assert "min_tokens has no effect" in caplog.text
    assert short.rows(tokens_of("xy")) == [{ord("x")}, {ord("y")}, stops]


def test_tokens_after_the_stop_token_count_for_rollback(
    begin: Callable[..., Scheduler], byte_vocabulary: tk.Vocabulary
) -> None:
    host, stop = begin(tk.literal("ab")), byte_vocabulary.stop[0]
    grammar = host.grammar
    assert grammar.accept_tokens("r", [*tokens_of("ab"), stop, 7, 9])
    assert grammar.accept_tokens("r", [11])
    assert grammar.is_terminated()
    grammar.rollback(3)
    assert grammar.is_terminated()
    grammar.rollback(2)
    assert not grammar.is_terminated()
    assert host.rows([]) == [{ord("b")}]
    with pytest.raises(tk.RollbackError):
        grammar.rollback(2)
    assert host.rows([]) == [{ord("b")}]


def test_accepting_is_all_or_nothing(begin: Callable[..., Scheduler], byte_vocabulary: tk.Vocabulary) -> None:
    host, stop = begin(tk.regex("abc+")), byte_vocabulary.stop[0]
    grammar = host.grammar
    before = host.rows([])
    for refused in ([*tokens_of("ab"), 7], [*tokens_of("ab"), -1], [stop], [byte_vocabulary.width]):
        assert not grammar.accept_tokens("r", refused)
        assert host.rows([]) == before
    # The same within a draft, whose beginning is known.
    assert grammar.validate_tokens([*tokens_of("abc"), 7]) == tokens_of("abc")
    assert grammar.accept_tokens("r", tokens_of("a"))
    assert not grammar.accept_tokens("r", [*tokens_of("bc"), 7])
    assert grammar.accept_tokens("r", tokens_of("bcc"))
    grammar.rollback(4)
    assert host.rows([]) == before


def test_validate_changes_nothing(begin: Callable[..., Scheduler], byte_vocabulary: tk.Vocabulary) -> None:
    host, stop = begin(tk.regex("ab+")), byte_vocabulary.stop[0]
    grammar = host.grammar
    before = host.rows([])
    assert grammar.validate_tokens([*tokens_of("abb"), stop, stop]) == [*tokens_of("abb"), stop]
    assert grammar.validate_tokens([7]) == []
    assert grammar.validate_tokens([-1, -1]) == []
    assert grammar.validate_tokens([]) == []
    assert not grammar.is_terminated()
    assert host.rows([]) == before
    assert grammar.accept_tokens("r", [*tokens_of("ab"), stop])
    assert grammar.validate_tokens([stop]) == []


@pytest.mark.parametrize("constraint", CONSTRAINTS, ids=str)
@pytest.mark.parametrize("seed", range(6))
def test_no_text_is_cut_off(
    begin: Callable[..., Scheduler], byte_vocabulary: tk.Vocabulary, constraint: Any, seed: int
) -> None:
    """Whatever the model prefers, with drafts and without, the stop token is the last that fits."""
    draw = random.Random(seed)
    fewest = len(constraint.compile(byte_vocabulary).matcher().shortest_completion()) + 1
    most = fewest + draw.randint(0, 5)
    host = begin(constraint)
    written: list[int] = []
    host.grammar.left = lambda: most - len(written)
    reference = constraint.compile(byte_vocabulary).matcher()
    while not host.grammar.is_terminated():
        drafts = [draw.choice(sorted(allowed(reference)))] if draw.random() < 0.5 else []
        rows = host.rows(list(drafts))
        expected = reference.compiled.allocate_mask()
        reference.fill_mask(expected[0], most - len(written), count_stop=True)
        assert rows[0] == bits(expected[0])
        token = draw.choice(sorted(rows[0]))
        assert host.grammar.accept_tokens("r", [token])
        assert reference.advance(token)
        written.append(token)
    assert len(written) <= most


def test_a_text_that_does_not_fit(begin: Callable[..., Scheduler]) -> None:
    """vLLM cuts it off, as with any mask; the rows are those of the constraint."""
    host = begin(tk.literal("abcdef"))
    host.grammar.left = lambda: 2
    assert host.rows([]) == [{ord("a"), *host.rows([])[0]}]
    drafts = tokens_of("abc")
    assert host.grammar.validate_tokens(drafts) == drafts
    assert ord("d") in host.rows(drafts)[3]


def test_a_row_of_a_draft_is_computed_once(
    begin: Callable[..., Scheduler], monkeypatch: pytest.MonkeyPatch
) -> None:
    """At `validate`; the manager's rows come from there."""
    host = begin(tk.regex("[a-c]+"))
    assert host.grammar.validate_tokens(tokens_of("abc")) == tokens_of("abc")

    def refuse(*_: Any) -> None:
        raise AssertionError("a mask was computed")

    monkeypatch.setattr(tk.Matcher, "fill_mask", refuse)
    monkeypatch.setattr(tk.Matcher, "fill_draft_masks", refuse)
    for _ in range(2):  # a step that is given up, and repeated
        for token in tokens_of("abc"):
            host.grammar.fill_bitmask(host.bitmask, 0)
            assert host.grammar.accept_tokens("r", [token])
        host.grammar.fill_bitmask(host.bitmask, 0)
        host.grammar.rollback(3)


def test_a_limit_ends_the_request_alone(
    begin: Callable[..., Scheduler], byte_vocabulary: tk.Vocabulary, caplog: pytest.LogCaptureFixture
) -> None:
    """vLLM's engine would end if a row raised.  The stop tokens alone make the sampler choose one of them."""
    cancel = tk.CancelToken()
    host = begin(tk.regex("(?:[ab]{3}c)*"), cancel=cancel)
    cancel.cancel()
    assert host.rows([]) == [set(byte_vocabulary.stop)]
    assert "cancel" in caplog.text
    assert not host.grammar.accept_tokens("r", [byte_vocabulary.stop[0]])
    assert host.grammar.validate_tokens(tokens_of("a")) == []
    host.grammar.rollback(1)
    assert host.rows(tokens_of("ab"))[0] == set(byte_vocabulary.stop)


def test_drafts_under_a_limit(begin: Callable[..., Scheduler], caplog: pytest.LogCaptureFixture) -> None:
    cancel = tk.CancelToken()
    host = begin(tk.regex("(?:[ab]{3}c)*"), cancel=cancel)
    cancel.cancel()
    assert host.grammar.validate_tokens(tokens_of("ab")) == []
    assert not host.grammar.accept_tokens("r", tokens_of("a"))
    assert "a mask could not be computed" in caplog.text


def test_tokens_are_cut_in_any_way(begin: Callable[..., Scheduler], byte_vocabulary: tk.Vocabulary) -> None:
    draw = random.Random(3)
    for _ in range(20):
        host = begin(tk.json_schema(SCHEMA))
        tokens = cut(byte_vocabulary, b'{"a": 2024, "b": "ab"}', draw)
        reference = host.grammar._compiled.matcher()
        write(reference, '{"a": 2024, "b": "ab"}')
        assert host.grammar.validate_tokens(tokens) == tokens
        assert host.grammar.accept_tokens("r", tokens)
        assert host.rows([]) == [allowed(reference)]


@pytest.mark.parametrize("seconds", [0.0, 1e-4])
@pytest.mark.parametrize("constraint", CONSTRAINTS, ids=str)
def test_rows_by_a_deadline(byte_vocabulary: tk.Vocabulary, constraint: Any, seconds: float) -> None:
    """Rows are parts of the masks, never empty, and texts are complete."""
    grammar = TokamataGrammar(constraint.compile(byte_vocabulary), byte_vocabulary.stop, seconds)
    grammar.left = lambda: 40 - len(written)
    reference = constraint.compile(byte_vocabulary).matcher()
    bitmask = torch.full((1, (byte_vocabulary.width + 31) // 32), -1, dtype=torch.int32)
    draw = random.Random(3)
    written: list[int] = []
    while not grammar.is_terminated():
        assert set(grammar.validate_tokens([*b'{"a": 1'])) <= {*b'{"a": 1'}
        grammar.fill_bitmask(bitmask, 0)
        row = bits(bitmask[0].numpy())
        assert row
        assert row <= allowed(reference)
        token = draw.choice(sorted(row))
        assert grammar.accept_tokens("r", [token])
        assert reference.advance(token)
        written.append(token)
    assert reference.is_finished
