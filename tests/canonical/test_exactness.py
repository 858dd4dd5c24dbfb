"""A tenth of ``exactness.py``, with fixed seeds: every tokenizer, complete and sound."""

from __future__ import annotations

import os

import pytest

from fuzz.canonical_exactness import completeness, soundness
from tests.support.tokenizers.canonical_tokenizers import SOURCES, Source

_SHARE = float(os.environ.get("TOKAMATA_SHARE", "0.1"))


@pytest.mark.slow
@pytest.mark.parametrize("source", SOURCES, ids=str)
def test_complete_and_sound(source: Source) -> None:
    judged = source.judged()
    complete = completeness(judged, int(_SHARE * 1_000_000 / len(SOURCES)), seed=1)
    assert not complete.failures, complete.failures[:3]
    # What the tokenizer changes is left out: a few texts, but half of them where it lowers their case.
    assert complete.changed < 0.7 * complete.texts
    sound = soundness(judged, int(_SHARE * 100_000 / len(SOURCES)), seed=1)
    assert not sound.failures, sound.failures[:3]
    assert sound.probes > sound.walks / 4
