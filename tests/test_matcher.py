"""The public spine, rule by rule."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest

import tokamata as tk
from tests.support.masks import allowed, bits
from tests.support.vocabularies import BYTES, bytes_and
from tokamata.vocabulary.token_table import TokenTable


def test_the_example_of_the_readme(byte_vocabulary: tk.Vocabulary) -> None:
    compiled = tk.regex(r"\d{4}-\d{2}-\d{2}").compile(byte_vocabulary)
    matcher = compiled.matcher()
    for piece in (b"2024", b"-0", b"3", b"-", b"2"):
        token = byte_vocabulary.tokens.index(piece)
        assert token in allowed(matcher)
        assert matcher.advance(token)
    assert matcher.text == b"2024-03-2"
    assert not matcher.is_accepting
    assert matcher.advance(ord("9"))
    assert matcher.is_accepting
    assert matcher.is_finished
    assert allowed(matcher) == set(byte_vocabulary.stop)


def test_tokens_may_begin_and_end_inside_a_code_point(byte_vocabulary: tk.Vocabulary) -> None:
    matcher = tk.regex("漢a|字").compile(byte_vocabulary).matcher()
    half, rest = byte_vocabulary.tokens.index(b"\xe6\xbc"), byte_vocabulary.tokens.index(b"\xa2a")
    assert allowed(matcher) == {0xE6, 0xE5, half}
    assert matcher.advance(half)
    assert allowed(matcher) == {0xA2, rest}
    assert matcher.advance(rest)
    assert matcher.text.decode() == "漢a"


def test_two_ids_with_the_same_bytes_are_both_allowed(byte_vocabulary: tk.Vocabulary) -> None:
    first = byte_vocabulary.tokens.index(b"ab")
    second = byte_vocabulary.tokens.index(b"ab", first + 1)
    matcher = tk.regex("ab").compile(byte_vocabulary).matcher()
    assert allowed(matcher) == {ord("a"), first, second}
    assert matcher.advance(second)
    assert matcher.tokens == [second]


def test_control_empty_and_padding_tokens_are_refused_and_outside_raises(
    byte_vocabulary: tk.Vocabulary,
) -> None:
    matcher = tk.regex("(?s:.*)").compile(byte_vocabulary).matcher()
    control, empty = byte_vocabulary.tokens.index(None), byte_vocabulary.tokens.index(b"")
    padding = byte_vocabulary.width - 1
    for token, rule in ((control, "not text"), (empty, "not text"), (padding, "padding")):
        assert not matcher.advance(token)
        assert token not in allowed(matcher)
        assert matcher.explain(token).rule == rule
    for token in (-1, byte_vocabulary.width, 2**40):
        with pytest.raises(tk.TokenIdError, match=str(token)):
            matcher.advance(token)
        with pytest.raises(tk.TokenIdError):
            matcher.explain(token)
    assert matcher.tokens == []


def test_stop_tokens_are_allowed_exactly_where_the_text_is_accepted(
    byte_vocabulary: tk.Vocabulary,
) -> None:
    matcher = tk.regex("a+").compile(byte_vocabulary).matcher()
    one, other = byte_vocabulary.stop
    assert not matcher.advance(one)
    assert matcher.explain(one).rule == "stop too soon"
    assert matcher.advance(ord("a"))
    assert {one, other} < allowed(matcher)
    assert not matcher.is_finished
    assert matcher.advance(other)
    assert matcher.is_finished
    assert matcher.is_accepting
    assert allowed(matcher) == {one, other}
    assert not matcher.advance(ord("a"))
    assert matcher.explain(ord("a")).rule == "after stop"
    assert matcher.advance(one)  # past the end they go on counting
    assert matcher.tokens == [ord("a"), other, one]
    assert matcher.text == b"a"
    matcher.rollback(2)
    assert matcher.advance(ord("a"))
    assert matcher.text == b"aa"


def test_a_stop_token_is_not_text_even_where_it_has_bytes() -> None:
    vocabulary = tk.Vocabulary.load([b"a", b"b"], stop=1)
    matcher = tk.regex("[ab]*").compile(vocabulary).matcher()
    assert allowed(matcher) == {0, 1}
    assert matcher.advance(1)
    assert matcher.is_finished
    assert matcher.text == b""


def test_without_stop_tokens_the_mask_at_the_end_is_all_zero() -> None:
    vocabulary = tk.Vocabulary.load([b"a", b"b"])
    assert vocabulary.stop == ()
    matcher = tk.regex("ab").compile(vocabulary).matcher()
    assert matcher.advance(0)
    assert matcher.advance(1)
    assert matcher.is_finished
    assert not matcher.mask.any()


def test_rollback_restores_the_bits_and_refuses_to_pass_the_start(
    byte_vocabulary: tk.Vocabulary,
) -> None:
    matcher = tk.regex('[^"]{2,7}"?').compile(byte_vocabulary).matcher()
    masks = []
    for byte in b"hello":
        masks.append(matcher.mask)
        assert matcher.advance(byte)
    for mask in reversed(masks):
        matcher.rollback(1)
        assert np.array_equal(matcher.mask, mask)
    with pytest.raises(tk.RollbackError, match="0 were advanced"):
        matcher.rollback(1)
    with pytest.raises(tk.RollbackError):
        matcher.rollback(-1)
    matcher.rollback(0)


def test_forks_share_nothing_that_can_be_seen(byte_vocabulary: tk.Vocabulary) -> None:
    matcher = tk.regex("(ab|ac)*").compile(byte_vocabulary).matcher()
    assert matcher.advance(ord("a"))
    fork = matcher.fork()
    assert type(fork) is tk.Matcher
    assert fork.advance(ord("c"))
    assert matcher.advance(ord("b"))
    assert (matcher.text, fork.text) == (b"ab", b"ac")
    fork.rollback(2)
    assert matcher.text == b"ab"


def test_forced_text_and_tokens(byte_vocabulary: tk.Vocabulary) -> None:
    matcher = tk.regex(r'\{"name": "[a-z]+"\}').compile(byte_vocabulary).matcher()
    assert matcher.forced_text() == b'{"name": "'
    assert matcher.forced_tokens() == []  # `{` and `{"` both begin it
    assert matcher.advance(ord("{"))
    assert matcher.forced_tokens() == list(b'"name": "')
    finished = tk.regex("z").compile(byte_vocabulary).matcher()
    assert finished.forced_tokens() == [ord("z")]  # the stop token that must follow is left out
    assert tk.regex("(a|é)?").compile(byte_vocabulary).matcher().forced_text() == b""


def test_forced_text_knows_what_the_vocabulary_cannot_spell() -> None:
    vocabulary = tk.Vocabulary.load([b"ab", b"c", b"a"], stop=[])
    assert tk.regex("ab|ad").compile(vocabulary).matcher().forced_text() == b"ab"


def test_explain_names_the_byte_and_what_was_expected(byte_vocabulary: tk.Vocabulary) -> None:
    matcher = tk.regex(r"20\d\d").compile(byte_vocabulary).matcher()
    explanation = matcher.explain(byte_vocabulary.tokens.index(b"24-"))
    assert not explanation.allowed
    assert (explanation.rule, explanation.offset, explanation.text) == ("byte", 1, b"24-")
    assert explanation.expected == (ord("0"),)
    assert "byte 1 (b'4')" in str(explanation)
    assert "expected '0'" in str(explanation)
    assert matcher.explain(byte_vocabulary.tokens.index(b"2024")).allowed


def test_explain_says_what_is_expected_instead_of_the_end(byte_vocabulary: tk.Vocabulary) -> None:
    matcher = tk.regex("[0-9a-c]x").compile(byte_vocabulary).matcher()
    explanation = matcher.explain(byte_vocabulary.stop[0])
    assert (explanation.rule, explanation.offset) == ("stop too soon", 0)
    assert explanation.expected == tuple(b"0123456789abc")
    assert str(explanation).endswith("which is not complete; expected '0'–'9', 'a'–'c'")
    assert matcher.advance(ord("a"))
    assert matcher.explain(byte_vocabulary.stop[1]).expected == (ord("x"),)


def test_explain_names_the_control_tokens_that_could_come() -> None:
    tokens = [b"a", b"b", *BYTES, None, None]
    table = TokenTable(tokens, {258: "<call>", 259: "</s>"}, (259,))
    vocabulary = tk.Vocabulary(table)
    constraint = tk.regex("a") + (tk.control_token("<call>") | tk.literal("b")) + tk.control_token("<call>")
    matcher = constraint.compile(vocabulary).matcher()
    assert matcher.explain(259).expected_tokens == ()
    assert matcher.advance(0)
    for token in (259, 0):
        explanation = matcher.explain(token)
        assert (explanation.expected, explanation.expected_tokens) == ((ord("b"),), ("<call>",))
        assert str(explanation).endswith("expected 'b', or the control token <call>")
    assert matcher.advance(1)
    assert str(matcher.explain(259)).endswith("which is not complete; expected <call>")


def test_explain_tells_a_dead_end_from_a_wrong_byte() -> None:
    vocabulary = tk.Vocabulary.load([b"a", b"b", b"cd", b"c"], stop=[])
    matcher = tk.regex("cd|ab|ad").compile(vocabulary).matcher()
    assert allowed(matcher) == {0, 2}
    explanation = matcher.explain(3)
    assert explanation.rule == "unspellable"
    assert explanation.expected == (ord("d"),)


def test_masks_keep_their_bits_whatever_happens_afterwards(byte_vocabulary: tk.Vocabulary) -> None:
    limits = tk.Limits(memory_bytes=200_000)
    compiled = tk.regex("[a-c]{0,400}").compile(byte_vocabulary, limits=limits)
    matcher = compiled.matcher()
    view = matcher.mask
    before = view.copy()
    with pytest.raises(ValueError, match="read-only"):
        view[0] = 1
    for _ in range(399):
        assert matcher.advance(ord("a"))
        assert matcher.mask is not None
    del matcher, compiled
    gc.collect()
    assert np.array_equal(view, before)


def test_what_one_does_to_a_view_nobody_else_sees(byte_vocabulary: tk.Vocabulary) -> None:
    compiled = tk.regex("[a-c]*x").compile(byte_vocabulary)
    kept = compiled.matcher().mask
    other = compiled.matcher().mask
    other.shape = (-1, 1)
    other.dtype = np.uint8  # type: ignore[misc]
    assert kept.ndim == 1
    assert kept.dtype == np.int32
    assert np.array_equal(compiled.matcher().mask, kept)


def test_fill_mask_copies_and_refuses_other_rows(byte_vocabulary: tk.Vocabulary) -> None:
    compiled = tk.regex("a|b").compile(byte_vocabulary)
    matcher = compiled.matcher()
    mask = compiled.allocate_mask(batch=3)
    assert mask.shape == (3, (byte_vocabulary.width + 31) // 32)
    assert mask.dtype == np.int32
    matcher.fill_mask(mask[1])
    assert bits(mask[1]) == {ord("a"), ord("b")}
    assert not mask[0].any()
    assert not mask[2].any()
    words = mask.shape[1]
    read_only = np.zeros(words, np.int32)
    read_only.flags.writeable = False
    wrong = [
        np.zeros(words, np.int64),
        np.zeros(words, np.uint32),
        np.zeros(words, np.float32),
        np.zeros(words - 1, np.int32),
        np.zeros(words + 1, np.int32),
        np.zeros((1, words), np.int32),
        np.zeros(2 * words, np.int32)[::2],
        np.zeros(words, ">i4"),
        read_only,
        [0] * words,
        None,
        b"\0" * 4 * words,
    ]
    for row in wrong:
        with pytest.raises(tk.MaskError, match=str(words)):
            matcher.fill_mask(row)


def test_fill_mask_takes_torch_rows(byte_vocabulary: tk.Vocabulary) -> None:
    torch = pytest.importorskip("torch", reason="torch is an extra")
    compiled = tk.regex("a|b").compile(byte_vocabulary)
    mask = torch.zeros((2, compiled.allocate_mask().shape[1]), dtype=torch.int32)
    compiled.matcher().fill_mask(mask[1])
    assert bits(mask[1].numpy()) == {ord("a"), ord("b")}
    with pytest.raises(tk.MaskError):
        compiled.matcher().fill_mask(mask.to(torch.int64)[0])


def test_patterns_that_match_nothing_or_cannot_be_spelled_are_errors(
    byte_vocabulary: tk.Vocabulary,
) -> None:
    with pytest.raises(tk.EmptyConstraintError, match="matches no text"):
        tk.regex(r"a[^\s\S]").compile(byte_vocabulary)
    vocabulary = tk.Vocabulary.load([b"a", b"ab"], stop=[])
    with pytest.raises(tk.UnspellableError, match="b'b'"):
        tk.regex("abb").compile(vocabulary)
    with pytest.raises(tk.UnspellableError, match="b'b'"):
        tk.regex("b+").compile(vocabulary)
    assert allowed(tk.regex("(ab)*b?").compile(vocabulary).matcher()) == {1}
    assert tk.regex("").compile(vocabulary).matcher().is_finished


def test_the_start_of_a_text_follows_the_decoder() -> None:
    llama = {
        "model": {
            "type": "BPE",
            "byte_fallback": True,
            "merges": [],
            "vocab": {"▁a": 0, "a": 1, "▁": 2, "▁▁a": 3},
        },
        "decoder": {
            "type": "Sequence",
            "decoders": [
                {"type": "Replace", "pattern": {"String": "▁"}, "content": " "},
                {"type": "ByteFallback"},
                {"type": "Fuse"},
                {"type": "Strip", "content": " ", "start": 1, "stop": 0},
            ],
        },
        "added_tokens": [],
    }
    import json

    import tokenizers

    tokenizer = tokenizers.Tokenizer.from_str(json.dumps(llama))
    vocabulary = tk.Vocabulary.load(tokenizer)
    inside = tk.regex("(a| )*").compile(vocabulary).matcher()
    at_start = tk.regex("(a| )*").compile(vocabulary, start_of_text=True).matcher()
    assert allowed(inside) == {0, 1, 2, 3}
    assert allowed(at_start) == {0, 1, 3}  # ▁ alone would be empty there
    assert at_start.advance(0)
    assert at_start.advance(0)
    assert at_start.text == b"a a"
    assert at_start.text.decode() == tokenizer.decode([0, 0])
    assert allowed(at_start) == {0, 1, 2, 3}
    only = tk.regex(" a").compile(vocabulary, start_of_text=True).matcher()
    assert allowed(only) == {3}


def test_compiled_constraints_say_what_they_hold(byte_vocabulary: tk.Vocabulary) -> None:
    compiled = tk.regex("[a-z]*").compile(byte_vocabulary)
    assert compiled.pattern == "[a-z]*"
    assert compiled.states >= 1
    assert compiled.memory_bytes > 0
    assert "[a-z]*" in repr(compiled)
    assert "[a-z]*" in repr(compiled.matcher())
    assert compiled.matcher().compiled is compiled


def test_rows_of_masks_with_few_tokens_are_not_kept() -> None:
    """The memo keeps a few words of such a mask; its row would take memory that no limit counts."""
    words = [bytes([first, second]) for first in range(97, 123) for second in range(97, 123)]
    vocabulary = bytes_and(*words)
    matcher = tk.regex("1234").compile(vocabulary).matcher()
    rows = []
    for byte in b"1234":
        view = matcher.mask
        assert matcher.mask.base is view.base
        rows.append(weakref.ref(view.base))
        del view
        assert matcher.advance(byte)
    assert matcher.mask.any()
    assert [row() for row in rows] == [None] * 4
