"""What the tests of extensions share: a vocabulary, texts, and what the engine accepts of them."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable

import tokamata as tk
from tests.support.matchers import takes
from tests.support.vocabularies import bytes_and, cut

PIECES = [*rb"""\" ", ab - : # END""".split(), b"a, ", b" #", "éa".encode(), b"\xbc\xa2", b"\n\n"]
VOCABULARY_OF_LETTERS = tk.Vocabulary.load([b"a", b"b", b"c", None], stop=3)
VOCABULARY = bytes_and(*PIECES)
NAMES = (
    "CONTROL_TOKEN, DELIMITED_LIST, DELIMITED_SUBSEQUENCE_OF, IMAGE, PARAGRAPH_TOKEN, QUOTED_TEXT, "
    "SUBSTRING_OF, TEXT_TOKEN, TEXT_UNTIL, UNQUOTED_TEXT"
)


def taken(constraint: tk.Constraint, probes: Iterable[str]) -> set[str]:
    """The probes that the engine accepts, byte by byte."""
    matcher = constraint.compile(VOCABULARY).matcher()
    return {probe for probe in probes if takes(matcher, probe.encode())}


def assert_taken(constraint: tk.Constraint, probes: Iterable[str], holds: Callable[[str], bool]) -> None:
    """Random texts, cut at random: the engine accepts those that the judge does."""
    matcher, draw = constraint.compile(VOCABULARY).matcher(), random.Random(0)
    answers = set()
    for probe in probes:
        answer = holds(probe)
        assert takes(matcher, cut(VOCABULARY, probe.encode(), draw)) == answer, probe
        answers.add(answer)
    assert answers == {True, False}
