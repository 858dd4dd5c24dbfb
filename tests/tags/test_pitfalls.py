"""What corrupts output elsewhere, as far as a constraint or a matcher is concerned; tests name the reports.

A draft window is a run of tokens that a smaller model proposes.  A host asks for a mask before each of them,
takes some, and takes back the rest: here with ``fork``, ``advance`` and ``rollback``.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest

import tokamata as tk
from tests.support.masks import allowed
from tests.support.matchers import write
from tests.support.vocabularies import BYTE_VOCABULARY

STOP, OPEN, CLOSE = 256, 257, 258
VOCABULARY = tk.Vocabulary.load(
    [*(bytes([byte]) for byte in range(256)), None, None, None, b"k>1", b"</th"],
    stop=STOP,
    control_tokens={"<think>": OPEN, "</think>": CLOSE},
)
POINT = tk.json_schema(
    {
        "type": "object",
        "properties": {"x": {"type": "integer"}},
        "required": ["x"],
        "additionalProperties": False,
    },
    whitespace="compact",
)


def window(matcher: tk.Matcher, drafts: Sequence[int]) -> tuple[list[set[int]], int]:
    """The masks of a draft window, and how many drafts are legal; the matcher stays where it is."""
    masks, taken = [allowed(matcher)], 0
    for token in drafts:
        if not matcher.advance(token):
            break
        taken += 1
        masks.append(allowed(matcher))
    matcher.rollback(taken)
    return masks, taken


def fresh(compiled: tk.CompiledConstraint[object], tokens: Sequence[int]) -> tk.Matcher:
    matcher = compiled.matcher()
    assert all(map(matcher.advance, tokens))
    return matcher


@pytest.mark.parametrize("end", [[CLOSE], [*b"</think>"], [260, *b"in", *b"k>"]])
def test_reasoning_that_ends_inside_a_draft_window(end: list[int]) -> None:
    """vllm#44993: the structure is enforced from the token after the end of the reasoning on."""
    compiled = tk.think_first(POINT).compile(VOCABULARY)
    matcher = fresh(compiled, [*b"hm"])
    before = allowed(matcher)
    masks, taken = window(matcher, [*b" ok", *end, *b'{"y"'])
    assert taken == 3 + len(end) + 2  # the y is refused
    assert masks[3 + len(end)] == {ord("{"), ord("\n")}
    assert masks[-1] == {ord("x")}
    assert allowed(matcher) == before
    assert matcher.tokens == [*b"hm"]


def test_a_token_that_ends_the_reasoning_and_begins_the_answer() -> None:
    """The same for one token with the end of the tag and the first digit: ``k>1``."""
    matcher = fresh(tk.think_first(tk.json_schema({"type": "integer"})).compile(VOCABULARY), [*b"a</thin"])
    assert 259 in allowed(matcher)
    assert matcher.advance(259)
    assert matcher.parse() == ("a", 1)
    strict = fresh(tk.think_first(POINT).compile(VOCABULARY), [*b"a</thin"])
    assert 259 not in allowed(strict)


def test_no_state_of_the_structure_allows_blanks_without_end() -> None:
    """vllm#55313: a model that always prefers blanks still reaches the end."""
    constraint = tk.think_first(tk.json_schema({"type": "array", "items": {"type": "integer"}}))
    matcher = fresh(constraint.compile(VOCABULARY), [CLOSE])
    for _ in range(200):
        some = allowed(matcher) - {STOP}
        if matcher.is_accepting or not some:
            break
        blanks = some & {*b" \t\r\n"}
        assert matcher.advance(min(blanks or some & {*b"]"} or some))
    assert matcher.is_accepting
    assert len(matcher.tokens) < 40


def test_a_refused_token_does_not_desynchronize() -> None:
    """vllm#55313, xgrammar#613: after a refusal the matcher is where it was, at each position."""
    compiled = tk.think_first(POINT).compile(VOCABULARY)
    tokens = [*b"a", CLOSE, *b'{"x":12}']
    matcher = compiled.matcher()
    for token in tokens:
        before = allowed(matcher)
        for wrong in set(range(261)) - before:
            assert not matcher.advance(wrong)
        assert allowed(matcher) == before
        assert matcher.advance(token)
    assert matcher.parse().answer == {"x": 12}


@pytest.mark.parametrize("seed", range(5))
def test_rollback_over_stop_and_control_tokens(seed: int) -> None:
    """llguidance#364, vllm#25905: rollback counts tokens, not bytes."""
    draw = random.Random(seed)
    compiled = tk.think_first(POINT, begin=tk.control_token("<think>")).compile(VOCABULARY)
    tokens = [OPEN, *b"so", CLOSE, *b'{"x":7}', STOP]
    matcher = fresh(compiled, tokens)
    for _ in range(60):
        count = draw.randint(0, len(matcher.tokens))
        matcher.rollback(count)
        kept = len(matcher.tokens)
        assert matcher.tokens == tokens[:kept]
        assert allowed(matcher) == allowed(fresh(compiled, tokens[:kept]))
        assert matcher.is_finished == fresh(compiled, tokens[:kept]).is_finished
        for token in tokens[kept : kept + draw.randint(0, 12)]:
            assert matcher.advance(token)


def test_a_finished_matcher_has_a_mask() -> None:
    """sglang#15050: after the stop token, the mask has the stop tokens; nothing raises."""
    compiled = tk.think_first(POINT).compile(VOCABULARY)
    matcher = fresh(compiled, [CLOSE, *b'{"x":7}', STOP])
    assert matcher.is_finished
    assert allowed(matcher) == {STOP}
    row = compiled.allocate_mask()
    tk.fill_masks([matcher], row)
    matcher.fill_mask(row[0], 1)
    assert matcher.forced_tokens() == []
    assert matcher.shortest_completion() == []
    matcher.rollback(1)
    assert not matcher.advance(ord("}"))
    assert matcher.advance(STOP)


def test_a_token_is_taken_once() -> None:
    """sglang#29110: the same token again is judged by the state after it."""
    matcher = fresh(tk.think_first(POINT).compile(VOCABULARY), [*b"a"])
    assert matcher.advance(CLOSE)
    assert not matcher.advance(CLOSE)
    assert matcher.advance(ord("{"))
    assert not matcher.advance(ord("{"))
    assert matcher.tokens == [ord("a"), CLOSE, ord("{")]


def test_stale_drafts_after_preemption() -> None:
    """vllm#30916: drafts that were proposed for a later position are refused or legal by the state alone."""
    compiled = tk.think_first(POINT).compile(VOCABULARY)
    written = [*b"a", CLOSE, *b'{"x":']
    drafts = [*b"12}"]
    assert window(fresh(compiled, written), drafts)[1] == 3
    preempted = fresh(compiled, written[:2])  # the request is written again from its tokens
    masks, taken = window(preempted, drafts)
    assert taken == 0
    assert len(masks) == 1
    for token in written[2:]:
        assert preempted.advance(token)
    assert window(preempted, drafts)[1] == 3


@pytest.mark.parametrize("begin", [None, "<think>"])
def test_the_end_of_reasoning_is_never_forbidden(begin: str | None) -> None:
    """llama.cpp#22537: at every position of the reasoning, spelled or as a control token."""
    matcher = tk.think_first(POINT, begin=begin).compile(VOCABULARY).matcher()
    if begin is not None:
        assert matcher.advance(OPEN)
    for byte in b"x <think> </thi </ < {}\n":
        assert {CLOSE, ord("<")} <= allowed(matcher)
        assert matcher.advance(byte)
    write(matcher, "</think>")
    assert allowed(matcher) == {ord("{"), ord("\n")}


def test_strict_tools_are_enforced() -> None:
    """vllm#53745: no other key can be written, whatever ``"strict"`` says."""
    parameters = {
        "type": "object",
        "properties": {"objective": {"type": "string"}},
        "required": ["objective"],
        "additionalProperties": False,
    }
    for flag in ({}, {"strict": False}, {"strict": True}):
        tool = {"type": "function", "function": {"name": "plan", "parameters": parameters, **flag}}
        matcher = tk.tool_calls([tool]).compile(BYTE_VOCABULARY).matcher()
        write(matcher, 'Well. <tool_call>\n{"name": "plan", "arguments": {"obj')
        assert allowed(matcher) == {ord("e")}
        write(matcher, "ectiv")
        assert allowed(matcher) == {ord("e")}
        write(matcher, 'e": "go"}')
        assert allowed(matcher) == {ord("}")}


def test_placeholders_are_refused() -> None:
    """vllm#52461: a placeholder of -1 is an error, and changes nothing."""
    matcher = fresh(tk.think_first(POINT).compile(VOCABULARY), [*b"a"])
    before = allowed(matcher)
    for wrong in (-1, VOCABULARY.width, 1 << 40):
        with pytest.raises((tk.TokenIdError, TypeError, OverflowError)):
            matcher.advance(wrong)
    assert allowed(matcher) == before
    assert matcher.tokens == [ord("a")]


def test_rows_after_a_rejected_draft_are_not_open() -> None:
    """xgrammar#613: each legal draft has a mask, and no other draft; they change no state."""
    compiled = tk.think_first(POINT).compile(VOCABULARY)
    matcher = fresh(compiled, [CLOSE])
    masks, taken = window(matcher, [*b'{"', *b"yyy"])
    assert (taken, len(masks)) == (2, 3)
    assert all(len(mask) < 4 for mask in masks)
    assert allowed(matcher) == masks[0]


def test_a_least_length_where_only_the_end_is_left() -> None:
    """Hosts that forbid stop tokens up to a least length meet masks of stop tokens alone.

    The length is to be a part of the constraint: then some other token is allowed before it is reached.
    """
    bare = fresh(POINT.compile(VOCABULARY), [*b'{"x":7}'])
    assert allowed(bare) == {STOP}
    least = tk.regex(r"(?s:.{10,})")
    matcher = fresh((POINT & least).compile(VOCABULARY), [*b'{"x":7'])
    while len(matcher.text) < 10:
        some = allowed(matcher)
        assert some
        assert STOP not in some
        assert matcher.advance(min(some))
    with pytest.raises(tk.EmptyConstraintError):
        (tk.literal("short") & least).compile(VOCABULARY)
