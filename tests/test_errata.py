"""The counterexamples of docs/errata.md."""

from __future__ import annotations

import re

from support import allowed

import tokamata as tk

PRINTED = r'" *(?:[^\s"\\]|\\["n\\])?(?: [^\s"\\]|\\["n\\])*"'
MEANT = r'" *(?:[^\s"\\]|\\["n\\])(?: *(?:[^\s"\\]|\\["n\\]))*"'


def test_002_the_printed_regex_refuses_the_papers_example(byte_vocabulary: tk.Vocabulary) -> None:
    assert not re.fullmatch(PRINTED, '"foo"')
    assert re.fullmatch(MEANT, '"foo"')
    for pattern, accepted in ((PRINTED, False), (MEANT, True)):
        matcher = tk.regex(pattern).compile(byte_vocabulary).matcher()
        assert all(matcher.advance(byte) for byte in b'"foo"') == accepted


def test_002_an_edge_without_a_way_to_acceptance_is_not_allowed() -> None:
    vocabulary = tk.Vocabulary.load([b"a", b"b", b"ab", b"c"], stop=[])
    assert allowed(tk.regex("abd|c").compile(vocabulary).matcher()) == {3}


def test_002_stop_tokens_are_allowed_in_accepting_states_alone(byte_vocabulary: tk.Vocabulary) -> None:
    matcher = tk.regex("a?").compile(byte_vocabulary).matcher()
    assert set(byte_vocabulary.stop) < allowed(matcher)
    assert not set(byte_vocabulary.stop) & allowed(tk.regex("a").compile(byte_vocabulary).matcher())


def test_002_empty_tokens_are_never_allowed(byte_vocabulary: tk.Vocabulary) -> None:
    empty = byte_vocabulary.tokens.index(b"")
    assert empty not in allowed(tk.regex("(?s:.*)").compile(byte_vocabulary).matcher())
