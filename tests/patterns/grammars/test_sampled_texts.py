"""Some of the texts that ``make exactness`` samples from the masks of grammars."""

from __future__ import annotations

import pytest

from fuzz import grammar_exactness


@pytest.mark.slow
def test_sampled_texts_are_texts_of_their_grammar(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grammar_exactness, "VOCABULARIES", {})
    found = grammar_exactness.run(texts=100, seed=7, seconds=120)
    assert found.failures == []
    assert found.texts.total() == 100
